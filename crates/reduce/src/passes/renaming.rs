//! Reduces the number of names, and shortens names.

use std::collections::BTreeMap;

use ptxsmith_syntax::{Expr, Item, Module, NodeKind, Role, Text, VisitMut, rename};

use super::tree::exprs_mut;
use super::{Edit, edit};
use crate::program::Program;

/// Renames all names at module scope to `a`, `b` and so on, in the order of their declarations; then renames
/// each alone to each of the shortest unused names.
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

/// Removes the declaration of each name and replaces the name by another one, or by zero.
pub(super) fn symbols(program: &Program) -> Vec<Edit> {
    // If there are many names, most declarations can be removed by other passes.
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
    // The base of an index and the vector of an element are names, not expressions, so they are replaced
    // separately.
    if let NodeKind::Name(other) = with.kind(with.root()) {
        module.items.iter_mut().for_each(|item| replace_name(item, name, other));
    }
    Some(())
}

/// Replaces a name by another one in all declarations and uses.
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

/// Returns the names declared at module scope, in order, without duplicates.
pub(super) fn declared(module: &Module) -> Vec<Text> {
    let mut names: Vec<Text> = Vec::new();
    for (name, _) in module.items.iter().take(MOST).flat_map(Item::declared) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The maximum number of statements in which names are shortened. For larger programs, shorter names do not
/// help.
const MOST: usize = 1000;

/// Returns `a` to `z`, `aa` to `zz`, and then `a0`, `a1` and so on.
pub(super) fn short_names() -> impl Iterator<Item = Text> {
    let single = ('a'..='z').map(String::from);
    let pairs = ('a'..='z').flat_map(|first| ('a'..='z').map(move |second| format!("{first}{second}")));
    let numbered = (0..).map(|number| format!("a{number}"));
    single.chain(pairs).chain(numbered).map(Text::from)
}
