//! Shrinks arrays: fewer entries, rows, columns and dimensions.

use std::ops::Range;

use ptxsmith_syntax::{Declarator, Expr, Initializer, InitializerList, Specifier};

use super::tree::{change_declaration, change_declarator, declarations};
use super::{Edit, edit};
use crate::cuts::{all_and_cuts, cuts};
use crate::program::Program;

/// The maximum number of single values that are tried in place of a whole variable, and of rows in place of a
/// whole array. Larger ones are first shortened by removing runs.
const MOST_PICKED: usize = 64;

/// A change of a variable. It returns `None` if there is nothing to change.
type Change = Box<dyn Fn(&mut Declarator) -> Option<()>>;

/// For each variable: removes the initial value; removes rows, then columns at every depth; replaces the
/// whole by one value or one row; removes a dimension; then removes entries of single lists, and reduces
/// dimensions.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let declarations = program.module().map(declarations).unwrap_or_default();
    for (number, declaration) in declarations.iter().enumerate() {
        for (nth, declarator) in declaration.declarators.iter().enumerate() {
            declarator_edits(&mut edits, (number, nth), declarator);
        }
    }
    edits
}

fn declarator_edits(edits: &mut Vec<Edit>, place: (usize, usize), declarator: &Declarator) {
    let mut changes: Vec<Change> = Vec::new();
    if let Some(initializer) = &declarator.initializer {
        value_changes(&mut changes, initializer);
    }
    dimension_changes(&mut changes, declarator);
    if let Some(initializer) = &declarator.initializer {
        list_changes(&mut changes, initializer);
    }
    for change in changes {
        edits.push(edit(move |module| change_declarator(module, place, &change)));
    }
    // Replaces a list with a single value, such as a vector, by the value, and removes the vector type.
    if let Some(initializer @ Initializer::List(_)) = &declarator.initializer
        && declarator.dimensions.is_empty()
        && let Some(value) = initializer.values().next().cloned()
    {
        let (number, nth) = place;
        edits.push(edit(move |module| {
            change_declaration(module, number, |declaration| {
                declaration.specifiers.retain(|specifier| !matches!(specifier, Specifier::Vector(_)));
                declaration.declarators.get_mut(nth)?.initializer = Some(Initializer::Value(value.clone()));
                Some(())
            })
        }));
    }
}

/// Removes the initial value, or rows and columns of it; replaces the whole by one value or one row.
fn value_changes(changes: &mut Vec<Change>, initializer: &Initializer) {
    changes.push(Box::new(|declarator| declarator.initializer.take().map(drop)));
    let lengths = lengths(initializer);
    for (depth, &length) in lengths.iter().enumerate() {
        for run in cuts(length) {
            let cut = run.clone();
            changes.push(Box::new(move |declarator| {
                shorten(declarator.dimensions.get_mut(depth)?, cut.len())?;
                cut_at_depth(declarator.initializer.as_mut()?, depth, &cut);
                Some(())
            }));
            changes.push(Box::new(move |declarator| {
                cut_at_depth(declarator.initializer.as_mut()?, depth, &run);
                Some(())
            }));
        }
    }
    for leaf in 0..initializer.values().take(MOST_PICKED).count() {
        changes.push(Box::new(move |declarator| {
            (!declarator.dimensions.is_empty()).then(|| declarator.dimensions.clear())?;
            let value = declarator.values().nth(leaf)?.clone();
            declarator.initializer = Some(Initializer::Value(value));
            Some(())
        }));
    }
    for row in 0..lengths.first().map_or(0, |&length| length.min(MOST_PICKED)) {
        changes.push(Box::new(move |declarator| {
            (!declarator.dimensions.is_empty()).then(|| declarator.dimensions.remove(0))?;
            let Some(Initializer::List(list)) = &mut declarator.initializer else { return None };
            declarator.initializer = Some(list.items.swap_remove(row));
            Some(())
        }));
    }
}

/// Removes dimensions, and then changes their lengths.
fn dimension_changes(changes: &mut Vec<Change>, declarator: &Declarator) {
    let levels = declarator.dimensions.len();
    for level in 0..levels {
        for last in [false, true] {
            changes.push(Box::new(move |declarator| {
                declarator.dimensions.remove(level);
                if let Some(initializer) = &mut declarator.initializer {
                    unwrap(initializer, level, last);
                }
                Some(())
            }));
        }
    }
    let given_lengths = declarator.initializer.as_ref().map(lengths).unwrap_or_default();
    for level in 0..levels {
        if level == 0 {
            changes.push(Box::new(|declarator| declarator.dimensions.first_mut()?.take().map(drop)));
        }
        let current = declarator.dimensions[level].as_ref().and_then(Expr::as_integer);
        let mut lengths = vec![1, 2];
        lengths.extend(given_lengths.get(level).map(|&length| length as u64));
        lengths.extend(current.into_iter().flat_map(lesser_lengths));
        for length in lengths.into_iter().filter(|&length| length > 0 && current != Some(length)) {
            changes.push(Box::new(move |declarator| {
                declarator.dimensions[level] = Some(Expr::number(length.to_string()));
                Some(())
            }));
        }
    }
}

/// Removes entries and the trailing comma of each list, and replaces the list by one of its entries.
fn list_changes(changes: &mut Vec<Change>, initializer: &Initializer) {
    for (path, list) in lists(initializer) {
        for run in all_and_cuts(list.items.len()) {
            let path = path.clone();
            changes.push(Box::new(move |declarator| {
                list_at(declarator.initializer.as_mut()?, &path)?.items.drain(run.clone());
                Some(())
            }));
        }
        if list.trailing_comma {
            let path = path.clone();
            changes.push(Box::new(move |declarator| {
                list_at(declarator.initializer.as_mut()?, &path)?.trailing_comma = false;
                Some(())
            }));
        }
        for item in list.items.iter().take(2) {
            // Usually invalid, but the question may be about the nesting of lists.
            let (path, item) = (path.clone(), item.clone());
            changes.push(Box::new(move |declarator| {
                *initializer_at(declarator.initializer.as_mut()?, &path)? = item.clone();
                Some(())
            }));
        }
    }
}

/// Returns smaller numbers, the largest step first. With steps of 1, reducing a number with many digits would
/// never finish.
fn lesser_lengths(length: u64) -> impl Iterator<Item = u64> {
    (1..u64::BITS)
        .map(move |shift| length >> shift)
        .take_while(|&step| step > 0)
        .map(move |step| length - step)
}

/// Replaces each list at this depth by its first or last entry; an empty list becomes zero.
pub(super) fn unwrap(initializer: &mut Initializer, depth: usize, last: bool) {
    each_at_depth(initializer, depth, &|list| {
        let kept = if last { list.pop() } else { (!list.is_empty()).then(|| list.swap_remove(0)) };
        Some(kept.unwrap_or_else(|| Initializer::Value(Expr::number("0"))))
    });
}

/// Changes the entries of each list at this depth, or replaces the list by the result of `change`.
pub(super) fn each_at_depth(
    initializer: &mut Initializer,
    depth: usize,
    change: &dyn Fn(&mut Vec<Initializer>) -> Option<Initializer>,
) {
    let Initializer::List(list) = initializer else { return };
    if depth > 0 {
        list.items.iter_mut().for_each(|item| each_at_depth(item, depth - 1, change));
    } else if let Some(other) = change(&mut list.items) {
        *initializer = other;
    }
}

/// Returns the length of the longest list at each depth.
fn lengths(initializer: &Initializer) -> Vec<usize> {
    fn visit(initializer: &Initializer, depth: usize, lengths: &mut Vec<usize>) {
        let Initializer::List(list) = initializer else { return };
        lengths.resize(lengths.len().max(depth + 1), 0);
        lengths[depth] = lengths[depth].max(list.items.len());
        list.items.iter().for_each(|item| visit(item, depth + 1, lengths));
    }
    let mut lengths = Vec::new();
    visit(initializer, 0, &mut lengths);
    lengths
}

/// Removes a run of entries from every list at this depth.
fn cut_at_depth(initializer: &mut Initializer, depth: usize, run: &Range<usize>) {
    each_at_depth(initializer, depth, &|list| {
        list.drain(run.start.min(list.len())..run.end.min(list.len()));
        None
    });
}

/// Reduces a dimension by this amount. An omitted dimension follows from the list by itself.
fn shorten(dimension: &mut Option<Expr>, by: usize) -> Option<()> {
    let length = dimension.as_ref()?.as_integer()?.checked_sub(by as u64).filter(|&length| length > 0)?;
    *dimension = Some(Expr::number(length.to_string()));
    Some(())
}

/// Returns every list and the path to it, outer lists first.
fn lists(initializer: &Initializer) -> Vec<(Vec<usize>, &InitializerList)> {
    let mut found = Vec::new();
    if let Initializer::List(list) = initializer {
        found.push((Vec::new(), list));
    }
    let mut next = 0;
    while next < found.len() {
        let (path, list) = found[next].clone();
        for (nth, item) in list.items.iter().enumerate() {
            if let Initializer::List(inner) = item {
                found.push((path.iter().copied().chain([nth]).collect(), inner));
            }
        }
        next += 1;
    }
    found
}

fn initializer_at<'i>(mut initializer: &'i mut Initializer, path: &[usize]) -> Option<&'i mut Initializer> {
    for &nth in path {
        let Initializer::List(list) = initializer else { return None };
        initializer = list.items.get_mut(nth)?;
    }
    Some(initializer)
}

fn list_at<'i>(initializer: &'i mut Initializer, path: &[usize]) -> Option<&'i mut InitializerList> {
    match initializer_at(initializer, path)? {
        Initializer::List(list) => Some(list),
        _ => None,
    }
}
