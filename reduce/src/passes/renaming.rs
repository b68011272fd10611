//! Fewer and shorter names.

use std::collections::BTreeMap;

use ptxsmith_syntax::{Expr, Item, Module, NodeKind, Statement, Text};

use super::tree::{each_expr, each_instruction};
use super::{Edit, edit};
use crate::program::Program;

/// All names at module scope as `a`, `b` and so on, in the order of their declarations; then each alone by each of the
/// shortest that are free.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let declared = declared(module);
    let all: BTreeMap<Text, Text> = declared.iter().cloned().zip(short_names()).collect();
    let mut edits = vec![edit(move |module| {
        rename(module, &all);
        Some(())
    })];
    for name in declared.iter().take(26) {
        let free = short_names().take(declared.len() + 1).filter(|short| !declared.contains(short));
        edits.extend(free.map(|short| {
            let one = BTreeMap::from([(name.clone(), short)]);
            edit(move |module| {
                rename(module, &one);
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
    each_expr(module, &mut |expr| {
        for id in (0..=expr.root()).rev() {
            if matches!(expr.kind(id), NodeKind::Name(mentioned) if mentioned == name) {
                *expr = expr.replaced(id, with);
            }
        }
    });
    // What is indexed, and what an element is taken of, is a name and no expression.
    if let NodeKind::Name(other) = with.kind(with.root()) {
        each_instruction(module, &mut |instruction| {
            instruction.names_mut(&mut |used| {
                if used.text == *name {
                    used.text = other.clone();
                }
            });
        });
    }
    Some(())
}

/// The names that are declared at module scope, in order, each once.
pub(crate) fn declared(module: &Module) -> Vec<Text> {
    let mut names: Vec<Text> = Vec::new();
    let mut add = |name: &Text| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    };
    for item in module.items.iter().take(MOST) {
        match item {
            Item::Variables(declaration) => declaration.declarators.iter().for_each(|d| add(&d.name.text)),
            Item::Function(function) => add(&function.name.text),
            _ => {}
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

pub(crate) fn rename(module: &mut Module, names: &BTreeMap<Text, Text>) {
    let new = |name: &mut Text| {
        if let Some(new) = names.get(name) {
            *name = new.clone();
        }
    };
    let in_expr = |expr: &mut Expr| {
        for id in 0..=expr.root() {
            if let NodeKind::Name(name) = expr.kind(id)
                && let Some(new) = names.get(name)
            {
                *expr = expr.replaced(id, &Expr::name(new.clone()));
            }
        }
    };
    each_expr(module, &mut |expr| in_expr(expr));
    for item in &mut module.items {
        match item {
            Item::Variables(declaration) => {
                declaration.declarators.iter_mut().for_each(|d| new(&mut d.name.text))
            }
            Item::Function(function) => {
                new(&mut function.name.text);
                function.body.iter_mut().for_each(|body| in_statements(body, &mut |text| new(text)));
            }
            Item::Other(tokens) => tokens.iter_mut().for_each(|token| new(&mut token.text)),
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
        }
    }
}

/// Labels keep their names, as what is declared in a body does; their uses are among the names all the same.
fn in_statements(statements: &mut [Statement], name: &mut dyn FnMut(&mut Text)) {
    for statement in statements {
        match statement {
            Statement::Block(inner) => in_statements(inner, name),
            Statement::Tokens(tokens) => tokens.iter_mut().for_each(|token| name(&mut token.text)),
            Statement::Instruction(instruction) => instruction.names_mut(&mut |used| name(&mut used.text)),
            Statement::BranchTargets(table) => table.targets.iter_mut().for_each(|used| name(&mut used.text)),
            Statement::Variables(_) | Statement::Label(_) => {}
        }
    }
}
