//! What is made besides expressions: each kind by functions of one signature, which return it.

use ptxsmith_syntax::{Declaration, Declarator, Expr, Initializer, Item, Text};

use crate::{
    declare::{Element, Specifiers},
    draft::{Draft, Form},
    nonterminal::Nonterminal,
    operands::Kernel,
};

/// For each kind: its nonterminal, what is given to the functions that make it, and what they return.
macro_rules! pieces {
    ($($kind:ident: $name:ident($($given:ident: $type:ty),*) -> $made:ty;)+) => {
        /// A function that makes something of one kind.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Piece {
            $($kind(fn(&mut Draft<'_, '_>, $($type),*) -> $made),)+
        }

        impl Draft<'_, '_> {
            $(
                #[doc = concat!("What the production of `Nonterminal::", stringify!($kind), "` that is chosen makes.")]
                pub fn $name(&mut self, $($given: $type),*) -> $made {
                    let (chosen, form) = self.choose_form(Nonterminal::$kind);
                    match form {
                        Form::Piece(_, Piece::$kind(make)) => self.within(chosen, |draft| make(draft, $($given),*)),
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
    // Its nodes are added to the expression at hand.
    Extent: extent(extent: u64) -> ();
    List: list(element: Element, extents: &[u64]) -> Initializer;
    CountedList: counted_list(element: Element, extents: &[u64]) -> Initializer;
    Lanes: lanes(element: Element) -> Initializer;
    Group: group() -> Vec<Item>;
    Target: target() -> Vec<Item>;
    Holder: holder() -> Item;
    Kernel: kernel() -> Vec<Item>;
    Probe: probe(kernel: &mut Kernel) -> ();
}

#[cfg(test)]
mod tests {
    use std::mem::{Discriminant, discriminant};

    use super::*;
    use crate::{choice::Choice, grammar::productions};

    type Kind = (Discriminant<Form>, Option<Discriminant<Piece>>, Option<Discriminant<Choice>>);

    /// What a form makes; nothing for an expression.
    fn kind(form: &Form) -> Option<Kind> {
        match form {
            Form::Piece(_, piece) => Some((discriminant(form), Some(discriminant(piece)), None)),
            Form::Choice(choice) => Some((discriminant(form), None, Some(discriminant(choice)))),
            Form::Type(_) | Form::Space(_) => Some((discriminant(form), None, None)),
            _ => None,
        }
    }

    #[test]
    fn all_productions_of_a_nonterminal_make_one_kind() {
        for of in Nonterminal::ALL {
            let own = productions().filter(|id| id.get().of == of).map(|id| &id.get().form);
            let mut own = own.filter(|form| !matches!(form, Form::Same(_)));
            let first = own.next().map(kind);
            assert!(own.all(|form| Some(kind(form)) == first), "{}", of.name());
        }
    }
}
