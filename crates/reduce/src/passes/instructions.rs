//! Simplifies instructions, and reduces and shortens the names in functions.

use ptxsmith_syntax::{Declarator, Item, Module, Operand, Role, Statement, Text, Visit};

use super::renaming::{replace_name, short_names};
use super::tree::{declarations_mut, instructions_mut};
use super::{Edit, edit};
use crate::names::ModuleNames;
use crate::program::Program;

/// The maximum number of names in a function for which each name is replaced by each other name.
const FEW: usize = 12;

/// For each instruction: removes the predicate and modifiers, exchanges neighbouring operands, and removes
/// operands and their elements.
pub(super) fn parts(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut module = program.module().cloned().unwrap_or_default();
    for (at, instruction) in instructions_mut(&mut module).into_iter().enumerate() {
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
    }
    edits
}

/// Creates an edit of the instruction with this number.
fn change(number: usize, change: impl Fn(&mut ptxsmith_syntax::Instruction) -> Option<()> + 'static) -> Edit {
    edit(move |module| change(instructions_mut(module).into_iter().nth(number)?))
}

/// For the names that each function declares: replaces a parameterized name by its used names, one name by
/// another, and names by shorter ones.
pub(super) fn names(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let mut edits = Vec::new();
    let used = ModuleNames::from_module(module);
    for (at, item) in module.items.iter().enumerate() {
        let Item::Function(_) = item else { continue };
        edits.push(edit(move |module| spell_out(module.items.get_mut(at)?)));
        let declared = declared(item);
        if declared.len() <= FEW {
            for (nth, name) in declared.iter().enumerate() {
                for other in &declared[..nth] {
                    let (name, other) = (name.clone(), other.clone());
                    edits.push(edit(move |module| {
                        let function = module.items.get_mut(at)?;
                        remove(function, &|declarator| declarator.name.text == name);
                        replace_name(function, &name, &other);
                        Some(())
                    }));
                }
            }
        }
        for name in &declared {
            // A name of the same length may still be smaller in the order of texts. The second name is a
            // fallback if the first cannot be used.
            for short in short_names().filter(|short| !used.contains(short)).take(2) {
                let name = name.clone();
                edits.push(edit(move |module| {
                    replace_name(module.items.get_mut(at)?, &name, &short);
                    Some(())
                }));
            }
        }
    }
    edits
}

/// Returns the names of variables and parameters that a function declares, followed by its labels.
/// Parameterized names are not included.
fn declared(function: &Item) -> Vec<Text> {
    #[derive(Default)]
    struct DeclaredNames {
        variables: Vec<Text>,
        labels: Vec<Text>,
    }
    impl<'m> Visit<'m> for DeclaredNames {
        fn name(&mut self, name: &'m Text, role: Role) {
            match role {
                Role::Variable => self.variables.push(name.clone()),
                Role::Label => self.labels.push(name.clone()),
                Role::Prefix(_) | Role::Function | Role::Use => {}
            }
        }
    }
    let mut names = DeclaredNames::default();
    names.item(function);
    names.variables.append(&mut names.labels);
    names.variables
}

/// Removes the matching variables from the body of a function.
fn remove(function: &mut Item, is_gone: &dyn Fn(&Declarator) -> bool) {
    fn visit(statements: &mut Vec<Statement>, is_gone: &dyn Fn(&Declarator) -> bool) {
        statements.retain_mut(|statement| match statement {
            Statement::Variables(declaration) => {
                declaration.declarators.retain(|declarator| !is_gone(declarator));
                !declaration.declarators.is_empty()
            }
            Statement::Block(inner) => {
                visit(inner, is_gone);
                true
            }
            _ => true,
        });
    }
    if let Item::Function(function) = function {
        function.body.iter_mut().for_each(|body| visit(body, is_gone));
    }
}

/// Replaces each parameterized name by those of its names that are used.
fn spell_out(function: &mut Item) -> Option<()> {
    let names = ModuleNames::from_item(function);
    let mut module = Module { items: vec![function.clone()] };
    let mut found = None;
    for declaration in declarations_mut(&mut module) {
        for declarator in std::mem::take(&mut declaration.declarators) {
            if declarator.count.is_none() {
                declaration.declarators.push(declarator);
                continue;
            }
            found = Some(());
            for name in names.mentioned_with_prefix(&declarator.name.text) {
                let mut variable = Declarator { count: None, ..declarator.clone() };
                variable.name.text = name.clone();
                declaration.declarators.push(variable);
            }
        }
    }
    *function = module.items.remove(0);
    // Removes statements that have no variables left.
    remove(function, &|_| false);
    found
}
