//! Fewer and shorter names.

use std::collections::BTreeMap;

use ptxsmith_syntax::{Expr, Item, Module, NodeKind, Role, Text, VisitMut, rename};

use super::tree::exprs_mut;
use super::{Edit, edit};
use crate::program::Program;

/// All names at module scope as `a`, `b` and so on, in the order of their declarations; then each alone by each of the
/// shortest that are free.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let declared = declared(module);
    let all: BTreeMap<Text, Text> = declared.iter().cloned().zip(short_names()).collect();
    let mut edits = vec![edit(move |module| {
        rename(&mut module.items, |name| all.get(name).cloned());
        Some(())
    })];
    for name in declared.iter().take(26) {
        let free = short_names().take(declared.len() + 1).filter(|short| !declared.contains(short));
        edits.extend(free.map(|short| {
            let name = name.clone();
            edit(move |module| {
                rename(&mut module.items, |declared| (*declared == name).then(|| short.clone()));
                Some(())
            })
        }));
    }
    edits
}

/// Leaves out the declaration of each name, and puts another name in its place, or zero.
pub(super) fn symbols(program: &Program) -> Vec<Edit> {
    // Where there are many, most of them can be left out as they are.
    const FEW: usize = 8;
    let declared = program.module().map(declared).unwrap_or_default();
    if declared.len() > FEW {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for name in &declared {
        for other in declared.iter().filter(|other| *other != name) {
            let (name, other) = (name.clone(), Expr::name(other.clone()));
            edits.push(edit(move |module| inline(module, &name, &other)));
        }
        let name = name.clone();
        edits.push(edit(move |module| inline(module, &name, &Expr::number("0"))));
    }
    edits
}

fn inline(module: &mut Module, name: &Text, with: &Expr) -> Option<()> {
    let declared = module.items.iter_mut().position(|item| match item {
        Item::Variables(declaration) => {
            let before = declaration.declarators.len();
            declaration.declarators.retain(|declarator| declarator.name.text != *name);
            declaration.declarators.len() < before
        }
        Item::Function(function) => function.name.text == *name,
        _ => false,
    })?;
    if !matches!(&module.items[declared], Item::Variables(declaration) if !declaration.declarators.is_empty())
    {
        module.items.remove(declared);
    }
    for expr in exprs_mut(module) {
        for id in (0..=expr.root()).rev() {
            if matches!(expr.kind(id), NodeKind::Name(mentioned) if mentioned == name) {
                *expr = expr.replaced(id, with);
            }
        }
    }
    // What is indexed, and what an element is taken of, is a name and no expression.
    if let NodeKind::Name(other) = with.kind(with.root()) {
        module.items.iter_mut().for_each(|item| replace_name(item, name, other));
    }
    Some(())
}

/// Puts a name in the place of another, wherever it is declared or used.
pub(super) fn replace_name(item: &mut Item, name: &Text, with: &Text) {
    struct Replace<'n>(&'n Text, &'n Text);
    impl VisitMut<'_> for Replace<'_> {
        fn name(&mut self, name: &mut Text, _: Role) {
            if name == self.0 {
                *name = self.1.clone();
            }
        }
    }
    Replace(name, with).item(item);
}

/// The names that are declared at module scope, in order, each once.
pub(super) fn declared(module: &Module) -> Vec<Text> {
    let mut names: Vec<Text> = Vec::new();
    for (name, _) in module.items.iter().take(MOST).flat_map(Item::declared) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The most statements whose names are shortened: where more are left, shorter names are no help.
const MOST: usize = 1000;

/// `a` to `z`, `aa` to `zz`, and so on. Not those that C and PTX give a meaning to.
pub(super) fn short_names() -> impl Iterator<Item = Text> {
    let letters = || ('a'..='z').map(String::from);
    let two = letters().flat_map(move |first| letters().map(move |second| format!("{first}{second}")));
    let more = (0..).map(|number| format!("a{number}"));
    letters().chain(two).chain(more).map(Text::from)
}
