//! Variants: programs that mean what another one means, and are written otherwise.
//!
//! Numbers are spelled otherwise (4.5.1, 4.5.2), lists of initial values leave out what is zero or name it (5.4.4), statements
//! are divided, joined and exchanged, names are others. Whatever an implementation makes of a program, it has to make the same
//! of each variant, also where no rule says what is right. An edit is only made where both programs mean the same
//! whatever the open questions are answered.

mod contexts;
mod lists;
mod numbers;
mod statements;

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Gap, Item, Linkage, Module, Spacing, Specifier, Statement, Text, Token, print, rename, with_prefix,
};

pub use contexts::Same;

use crate::stream::{Draw, case_stream};

ptxsmith_syntax::every! {
    /// What is written otherwise.
    pub enum Kind {
        Integers = "integer-spelling", "an integer in another base, with zeros in front, in other letters";
        Floats = "float-spelling", "a floating-point number in another notation, or with more digits";
        Parentheses = "parentheses", "a constant expression in parentheses";
        Lists = "incomplete-lists", "zeros at the end of a list written or left out";
        FirstDimension = "first-dimension", "the first dimension of an array written or left out";
        Statements = "divided-statements", "a declaration statement divided, or joined with the one before it";
        Order = "order", "statements that do not depend on each other exchanged";
        Contexts = "contexts", "a constant in another variable too, or as a dimension";
        Names = "names", "other names";
        Spacing = "spacing", "white space and comments";
    }
}

/// One edit: what is changed, where, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// What is changed. Edits are made in this order.
    pub kind: Kind,
    /// Which of the places that there are for it.
    pub place: u32,
    /// Which of the ways.
    pub way: u64,
}

/// A program of which variants are made.
pub struct Variants {
    module: Module,
    /// A beginning of names that the program does not have.
    fresh: String,
    /// The names that stay: something outside of the program has them.
    outer: BTreeSet<Text>,
    /// How many places there are for each kind.
    places: BTreeMap<Kind, u32>,
}

/// A program that means the same.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The program.
    pub module: Module,
    /// Its text.
    pub text: String,
    /// What its variables hold of what the other program's hold, beside what they hold under the same names.
    pub same: Vec<Same>,
    /// What stands in front of each name that both declare.
    prefix: Option<String>,
}

impl Variant {
    /// The name in the other program of what has this one here.
    pub fn original(&self, name: &str) -> Text {
        let original = |prefix: &String| ptxsmith_syntax::without_prefix(name, prefix);
        self.prefix.as_ref().and_then(original).unwrap_or_else(|| name.into())
    }

    /// The same with another module, which has some of its statements.
    pub fn with(&self, module: Module) -> Variant {
        Variant { text: print(&module), module, same: self.same.clone(), prefix: self.prefix.clone() }
    }
}

/// The most edits of one kind.
const MOST: u64 = 200;

impl Variants {
    /// What makes variants of a program.
    pub fn new(module: Module) -> Variants {
        let text = print(&module);
        let fresh = (0..).map(|n: u64| format!("q{n}_")).find(|name| !text.contains(name.as_str()));
        let outer = outer_names(&module);
        let mut variants = Variants {
            fresh: fresh.expect("a text has no more than so many names"),
            outer,
            places: BTreeMap::new(),
            module,
        };
        for kind in Kind::ALL {
            let mut module = variants.module.clone();
            let mut same = Vec::new();
            let count = variants.edit(kind, &BTreeMap::new(), &mut module, &mut same);
            variants.places.insert(kind, count);
        }
        variants
    }

    /// The program itself.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The edits of one case: a feature set of kinds, and of each few or many.
    pub fn draw(&self, seed: u64, index: u64) -> Vec<Edit> {
        let mut draw = Draw(case_stream(seed, index));
        let possible: Vec<(Kind, u32)> = self
            .places
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(&kind, &count)| (kind, count))
            .collect();
        let mut chosen: Vec<(Kind, u32)> = possible.iter().copied().filter(|_| draw.below(2) == 0).collect();
        if let ([], [_, ..]) = (&chosen[..], &possible[..]) {
            chosen.push(*draw.of(&possible));
        }
        let mut edits = Vec::new();
        for (kind, count) in chosen {
            let places = u64::from(count);
            let wanted = match draw.below(3) {
                0 => 1,
                1 => 1 + draw.below(4),
                _ => 1 + draw.below(places.min(MOST)),
            };
            let of_places: BTreeSet<u64> = (0..wanted).map(|_| draw.below(places)).collect();
            let edit = |place| Edit { kind, place: place as u32, way: draw.0.next_u64() };
            edits.extend(of_places.into_iter().map(edit));
        }
        edits
    }

    /// The program with these edits. One whose place an earlier edit has changed, so that it would change the meaning there, is
    /// left out.
    pub fn make(&self, edits: &[Edit]) -> Variant {
        let mut module = self.module.clone();
        let mut same = Vec::new();
        let (mut prefix, mut spacing) = (None, Spacing::Canonical);
        for kind in Kind::ALL {
            let ways: BTreeMap<u32, u64> =
                edits.iter().filter(|edit| edit.kind == kind).map(|edit| (edit.place, edit.way)).collect();
            let Some(&way) = ways.values().next() else { continue };
            match kind {
                Kind::Names => {
                    let own = self.fresh.clone()
                        + ["", "x", "Zz_9", "_", "abcdefghijklmnopqrstuvwxyz0123456789"][way as usize % 5];
                    rename(&mut module.items, |name| {
                        (!self.outer.contains(name)).then(|| with_prefix(name, &own))
                    });
                    prefix = Some(own);
                }
                Kind::Spacing => spacing = Spacing::Odd(way),
                _ => drop(self.edit(kind, &ways, &mut module, &mut same)),
            }
        }
        if let Some(prefix) = &prefix {
            same.iter_mut().for_each(|same| same.variable = with_prefix(&same.variable, prefix));
        }
        // The header is spaced canonically, so that every reader finds it.
        let begins = module.items.iter().take_while(|item| item.is_header()).count();
        let (header, rest) = module.items.split_at(begins);
        let [header, rest] = [header, rest].map(|items| Module { items: items.to_vec() });
        let text = match spacing {
            Spacing::Canonical => print(&module),
            Spacing::Odd(_) => print(&header) + &spacing.print(&rest),
        };
        Variant { text, module, same, prefix }
    }

    /// Makes the edits of one kind, and tells how many places there are.
    fn edit(&self, kind: Kind, ways: &BTreeMap<u32, u64>, module: &mut Module, same: &mut Vec<Same>) -> u32 {
        let declares = |module: &Module| module.items.iter().any(|item| item.declared().next().is_some());
        match kind {
            Kind::Integers | Kind::Floats => numbers::respell(module, kind == Kind::Floats, ways),
            Kind::Parentheses => numbers::parenthesize(module, ways),
            Kind::Lists => lists::fill(module, ways),
            Kind::FirstDimension => lists::first_dimension(module, ways),
            Kind::Statements => statements::divide(module, ways),
            Kind::Order => statements::exchange(module, ways),
            Kind::Contexts => contexts::add(module, &self.fresh, ways, same),
            // Where a declaration of the program is not understood, what it declares is not known.
            Kind::Names => u32::from(declares(module) && module.unread().next().is_none()),
            Kind::Spacing => u32::from(may_be_spaced(module)),
        }
    }
}

/// The names of what another module declares or replaces.
fn outer_names(module: &Module) -> BTreeSet<Text> {
    let is_outer = |specifier: &Specifier| {
        matches!(specifier, Specifier::Linkage(Linkage::Extern | Linkage::Common | Linkage::Weak))
    };
    let outer = module.items.iter().filter(|item| match item {
        Item::Variables(declaration) => declaration.specifiers.iter().any(is_outer),
        Item::Function(function) => function.before.iter().any(is_outer),
        _ => false,
    });
    outer.flat_map(|item| item.declared().map(|(name, _)| name.clone())).collect()
}

/// Whether nothing of a program ends with its line.
fn may_be_spaced(module: &Module) -> bool {
    let has_lines = |tokens: &[Token]| tokens.iter().skip(1).any(|token| token.gap == Gap::Line);
    let is_free = |statement: &Statement| match statement {
        Statement::Tokens(tokens) => tokens.last().is_some_and(|last| last.text == ";") && !has_lines(tokens),
        Statement::Unread(_) => false,
        _ => true,
    };
    module.items.iter().all(|item| match item {
        Item::Other(_) | Item::Unread(_) => false,
        Item::Function(function) => !has_lines(&function.directives) && function.statements().all(is_free),
        _ => true,
    })
}

#[cfg(test)]
mod tests;
