//! Simpler instructions, and fewer and shorter names in functions.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{Declarator, Function, Item, Module, NodeKind, Operand, Statement, Text};

use super::renaming::{rename, short_names};
use super::tree::{each_declaration, each_expr, each_instruction};
use super::{Edit, edit};
use crate::names::Names;
use crate::program::Program;

/// The most names of one function that are put in each other's place.
const FEW: usize = 12;

/// For each instruction: no predicate, fewer modifiers, neighbouring operands exchanged, fewer operands and elements of
/// them.
pub(super) fn parts(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut number = 0;
    let mut module = program.module().cloned().unwrap_or_default();
    each_instruction(&mut module, &mut |instruction| {
        let at = number;
        number += 1;
        if instruction.guard.is_some() {
            edits.push(change(at, |instruction| instruction.guard.take().map(drop)));
        }
        for nth in 0..instruction.modifiers.len() {
            edits.push(change(at, move |instruction| {
                instruction.modifiers.remove(nth);
                Some(())
            }));
        }
        for nth in 1..instruction.operands.len() {
            edits.push(change(at, move |instruction| {
                instruction.operands.swap(nth - 1, nth);
                Some(())
            }));
        }
        for (nth, operand) in instruction.operands.iter().enumerate() {
            edits.push(change(at, move |instruction| {
                instruction.operands.remove(nth);
                Some(())
            }));
            let (Operand::Vector(elements) | Operand::List(elements)) = operand else { continue };
            for element in 0..elements.len() {
                edits.push(change(at, move |instruction| {
                    match &mut instruction.operands[nth] {
                        Operand::Vector(elements) | Operand::List(elements) => {
                            elements.remove(element);
                        }
                        _ => return None,
                    }
                    Some(())
                }));
            }
        }
    });
    edits
}

/// An edit of the instruction of this number.
fn change(number: usize, change: impl Fn(&mut ptxsmith_syntax::Instruction) -> Option<()> + 'static) -> Edit {
    edit(move |module| {
        let mut at = 0;
        let mut changed = None;
        each_instruction(module, &mut |instruction| {
            if at == number {
                changed = change(instruction);
            }
            at += 1;
        });
        changed
    })
}

/// For the names that each function declares: those of a parameterized one that are used in its place, one in the place
/// of another, and shorter ones.
pub(super) fn names(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let mut edits = Vec::new();
    let used = Names::of(module);
    for (at, item) in module.items.iter().enumerate() {
        let Item::Function(function) = item else { continue };
        edits.push(edit(move |module| in_function(module, at, spell_out)));
        let declared = declared(function);
        if declared.len() <= FEW {
            for (nth, name) in declared.iter().enumerate() {
                for other in &declared[..nth] {
                    let (name, other) = (name.clone(), other.clone());
                    edits.push(edit(move |module| {
                        in_function(module, at, |function| {
                            remove(function, &name);
                            rename_all(function, &name, &other);
                            Some(())
                        })
                    }));
                }
            }
        }
        for name in &declared {
            // One that is not shorter may still be the lesser text; the second is for where that is in use.
            for short in short_names().filter(|short| !used.knows(short)).take(2) {
                let name = name.clone();
                edits.push(edit(move |module| {
                    in_function(module, at, |function| {
                        rename_all(function, &name, &short);
                        Some(())
                    })
                }));
            }
        }
    }
    edits
}

fn in_function(module: &mut Module, at: usize, change: impl Fn(&mut Function) -> Option<()>) -> Option<()> {
    match module.items.get_mut(at)? {
        Item::Function(function) => change(function),
        _ => None,
    }
}

/// The function as a module, for what walks through modules.
fn as_module<R>(function: &mut Function, walk: impl FnOnce(&mut Module) -> R) -> R {
    let mut module = Module { items: vec![Item::Function(Box::new(function.clone()))] };
    let result = walk(&mut module);
    if let Some(Item::Function(changed)) = module.items.pop() {
        *function = *changed;
    }
    result
}

/// The names of variables, parameters and labels that a function declares, parameterized ones left out, in order.
fn declared(function: &Function) -> Vec<Text> {
    let mut names = Vec::new();
    as_module(&mut function.clone(), |module| {
        each_declaration(module, &mut |declaration| {
            let plain = declaration.declarators.iter().filter(|declarator| declarator.count.is_none());
            names.extend(plain.map(|declarator| declarator.name.text.clone()));
        });
    });
    each_label(&mut function.clone(), &mut |label| names.push(label.clone()));
    names
}

fn each_label(function: &mut Function, each: &mut dyn FnMut(&mut Text)) {
    fn visit(statements: &mut [Statement], each: &mut dyn FnMut(&mut Text)) {
        for statement in statements {
            match statement {
                Statement::Label(name) => each(&mut name.text),
                Statement::Block(inner) => visit(inner, each),
                _ => {}
            }
        }
    }
    visit(function.body.as_deref_mut().unwrap_or(&mut []), each);
}

/// Replaces a name wherever it stands in a function.
fn rename_all(function: &mut Function, name: &Text, with: &Text) {
    let new = |text: &mut Text| {
        if text == name {
            *text = with.clone();
        }
    };
    each_label(function, &mut { new });
    as_module(function, |module| {
        each_declaration(module, &mut |declaration| {
            declaration.declarators.iter_mut().for_each(|declarator| new(&mut declarator.name.text));
        });
        rename(module, &BTreeMap::from([(name.clone(), with.clone())]));
    });
}

/// Leaves out the declaration of a name in the body of a function.
fn remove(function: &mut Function, name: &Text) {
    fn visit(statements: &mut Vec<Statement>, name: &Text) {
        statements.retain_mut(|statement| match statement {
            Statement::Variables(declaration) => {
                declaration.declarators.retain(|declarator| declarator.name.text != *name);
                !declaration.declarators.is_empty()
            }
            Statement::Block(inner) => {
                visit(inner, name);
                true
            }
            _ => true,
        });
    }
    function.body.iter_mut().for_each(|body| visit(body, name));
}

/// In place of each parameterized name, those of its names that are used.
fn spell_out(function: &mut Function) -> Option<()> {
    let mut mentioned = BTreeSet::new();
    let mut found = None;
    as_module(function, |module| {
        each_instruction(module, &mut |instruction| {
            mentioned.extend(instruction.names().into_iter().cloned());
        });
        each_expr(module, &mut |expr| {
            mentioned.extend(expr.nodes().iter().filter_map(|node| match &node.kind {
                NodeKind::Name(name) => Some(name.clone()),
                _ => None,
            }));
        });
        each_declaration(module, &mut |declaration| {
            let declarators = std::mem::take(&mut declaration.declarators);
            for declarator in declarators {
                if declarator.count.is_none() {
                    declaration.declarators.push(declarator);
                    continue;
                }
                found = Some(());
                let of_it = |name: &&Text| {
                    let number = name.strip_prefix(declarator.name.text.as_str());
                    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
                };
                declaration.declarators.extend(mentioned.iter().filter(of_it).map(|name| {
                    let mut one = Declarator { count: None, ..declarator.clone() };
                    one.name.text = name.clone();
                    one
                }));
            }
        });
    });
    // A statement of which nothing is left would be none.
    if let Some(body) = &mut function.body {
        body.retain(|statement| {
            !matches!(statement, Statement::Variables(declaration) if declaration.declarators.is_empty())
        });
    }
    found
}
