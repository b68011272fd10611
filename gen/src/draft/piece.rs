//! Pieces: everything that the makers generate besides expressions. All functions for one kind of piece have the same
//! signature.

use ptxsmith_syntax::{Declaration, Declarator, Expr, Initializer, Item, Text};

use crate::{
    declare::{ElementContent, Specifiers},
    draft::{Draft, Expansion},
    nonterminal::Nonterminal,
    operands::KernelText,
};

/// Defines the kinds of pieces. Each entry gives the nonterminal and the signature of the functions that generate the piece.
macro_rules! pieces {
    ($($kind:ident: $name:ident($($given:ident: $type:ty),*) -> $made:ty;)+) => {
        /// A function that generates a piece, for each kind.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum PieceMaker {
            $($kind(fn(&mut Draft<'_, '_>, $($type),*) -> $made),)+
        }

        impl Draft<'_, '_> {
            $(
                #[doc = concat!("Generates a piece by a chosen production of `Nonterminal::", stringify!($kind), "`.")]
                pub fn $name(&mut self, $($given: $type),*) -> $made {
                    let (chosen, form) = self.choose_form(Nonterminal::$kind);
                    match form {
                        Expansion::Piece(_, PieceMaker::$kind(make)) => {
                            self.within(chosen, |draft| make(draft, $($given),*))
                        }
                        other => unreachable!("{other:?} makes another kind"),
                    }
                }
            )+
        }
    };
}

pieces! {
    Magnitude: magnitude() -> u64;
    Align: align() -> Option<Expr>;
    Name: new_name() -> Text;
    Declaration: declaration() -> Declaration;
    Variable: variable(specifiers: &Specifiers, values: Nonterminal) -> Declarator;
    // Returns nothing: adds its nodes to the current expression.
    Extent: extent(extent: u64) -> ();
    List: list(element: ElementContent, extents: &[u64]) -> Initializer;
    CountedList: counted_list(element: ElementContent, extents: &[u64]) -> Initializer;
    Lanes: lanes(element: ElementContent) -> Initializer;
    Group: group() -> Vec<Item>;
    Target: target() -> Vec<Item>;
    Holder: holder() -> Item;
    Kernel: kernel() -> Vec<Item>;
    Probe: probe(kernel: &mut KernelText) -> ();
}

#[cfg(test)]
mod tests {
    use std::mem::{Discriminant, discriminant};

    use super::*;
    use crate::{choice::ChosenValue, grammar::productions};

    type Kind =
        (Discriminant<Expansion>, Option<Discriminant<PieceMaker>>, Option<Discriminant<ChosenValue>>);

    /// Returns the kind of piece that a form generates, or `None` for an expression.
    fn kind(form: &Expansion) -> Option<Kind> {
        match form {
            Expansion::Piece(_, piece) => Some((discriminant(form), Some(discriminant(piece)), None)),
            Expansion::Choice(choice) => Some((discriminant(form), None, Some(discriminant(choice)))),
            Expansion::Type(_) | Expansion::Space(_) => Some((discriminant(form), None, None)),
            _ => None,
        }
    }

    #[test]
    fn all_productions_of_a_nonterminal_make_one_kind() {
        for of in Nonterminal::ALL {
            let own = productions().filter(|id| id.get().of == of).map(|id| &id.get().form);
            let mut own = own.filter(|form| !matches!(form, Expansion::Same(_)));
            let first = own.next().map(kind);
            assert!(own.all(|form| Some(kind(form)) == first), "{}", of.name());
        }
    }
}
