//! Simplifies functions.

use ptxsmith_syntax::{Function, Item, Module, Statement};

use super::{Edit, edit};
use crate::cuts::all_and_cuts;
use crate::program::Program;

/// The maximum number of statements in a body for which neighbours are exchanged.
const FEW: usize = 16;

/// A change of a function. It returns `None` if there is nothing to change.
type Change = Box<dyn Fn(&mut Function) -> Option<()>>;

/// For each function: removes the body, directives and statements; joins declarations; exchanges neighbours;
/// removes the braces of blocks; removes parameters, and words before and after `.entry` and `.func`.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let items = program.module().map_or(&[][..], |module| &module.items);
    for (at, item) in items.iter().enumerate() {
        let Item::Function(function) = item else { continue };
        let mut add = |change: Change| {
            edits.push(edit(move |module| change(function_at(module, at)?)));
        };
        add(Box::new(|function| {
            function.semicolon = true;
            function.body.take().map(drop)
        }));
        let statements = function.body.as_deref().unwrap_or(&[]);
        cut(&mut add, statements.len(), |function| function.body.as_mut());
        for nth in 1..statements.len() {
            add(Box::new(move |function| join(function.body.as_mut()?, nth)));
            // With many statements, exchanges would dominate the running time.
            if statements.len() <= FEW {
                add(Box::new(move |function| {
                    function.body.as_mut()?.swap(nth - 1, nth);
                    Some(())
                }));
            }
        }
        for (nth, statement) in statements.iter().enumerate() {
            if matches!(statement, Statement::Block(_)) {
                add(Box::new(move |function| {
                    let statements = function.body.as_mut()?;
                    let Statement::Block(inner) = statements.remove(nth) else { return None };
                    statements.splice(nth..nth, inner);
                    Some(())
                }));
            }
        }
        add(Box::new(|function| {
            function.directives.clear();
            Some(())
        }));
        add(Box::new(|function| function.results.take().map(drop)));
        let parameters = function.parameters.as_ref().map_or(0, Vec::len);
        cut(&mut add, parameters, |function| function.parameters.as_mut());
        add(Box::new(|function| function.parameters.take().map(drop)));
        cut(&mut add, function.before.len(), |function| Some(&mut function.before));
        cut(&mut add, function.after.len(), |function| Some(&mut function.after));
    }
    edits
}

/// Removes runs of a list with this length, including the whole list.
fn cut<T: 'static>(
    add: &mut dyn FnMut(Change),
    length: usize,
    list: fn(&mut Function) -> Option<&mut Vec<T>>,
) {
    for run in all_and_cuts(length) {
        add(Box::new(move |function| {
            list(function)?.drain(run.clone());
            Some(())
        }));
    }
}

/// Joins a declaration with the previous one if both have the same specifiers.
fn join(statements: &mut Vec<Statement>, nth: usize) -> Option<()> {
    let [Statement::Variables(first), Statement::Variables(second)] = &mut statements[nth - 1..=nth] else {
        return None;
    };
    (first.specifiers == second.specifiers).then(|| first.declarators.append(&mut second.declarators))?;
    statements.remove(nth);
    Some(())
}

fn function_at(module: &mut Module, at: usize) -> Option<&mut Function> {
    match module.items.get_mut(at)? {
        Item::Function(function) => Some(function),
        _ => None,
    }
}
