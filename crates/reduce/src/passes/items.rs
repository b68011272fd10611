//! Removes statements at module scope.

use std::collections::BTreeSet;
use std::rc::Rc;

use ptxsmith_syntax::Module;

use super::{Edit, edit};
use crate::cuts::cuts;
use crate::names::Dependencies;
use crate::program::Program;

/// Tries only the header; then each half with its dependencies; then the module without a run and everything
/// that depends on it, largest runs first. Finally exchanges neighbours, so that two results do not differ
/// only in the order of statements.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let needs = Rc::new(Dependencies::new(module));
    let places: Vec<usize> = (0..module.items.len()).filter(|&at| !module.items[at].is_header()).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let mut edits = vec![edit(|module| keep(module, &BTreeSet::new()))];
    if places.len() > 2 {
        let (first, second) = places.split_at(places.len() / 2);
        for half in [first, second] {
            let (needs, half) = (needs.clone(), half.to_vec());
            edits.push(edit(move |module| keep(module, &needs.with_dependencies(half.iter().copied()))));
        }
    }
    for run in cuts(places.len()) {
        let (needs, run) = (needs.clone(), places[run].to_vec());
        edits.push(edit(move |module| {
            let gone = needs.with_dependents(run.iter().copied());
            let kept = (0..module.items.len()).filter(|at| !gone.contains(at)).collect();
            keep(module, &kept)
        }));
    }
    // With many statements, exchanges would dominate the running time, and the program will still shrink in
    // other ways.
    const FEW: usize = 16;
    if places.len() <= FEW {
        edits.extend(places.windows(2).map(|pair| {
            let (first, second) = (pair[0], pair[1]);
            edit(move |module| {
                module.items.swap(first, second);
                Some(())
            })
        }));
    }
    edits
}

/// Keeps only these statements and the header.
fn keep(module: &mut Module, kept: &BTreeSet<usize>) -> Option<()> {
    let before = module.items.len();
    let mut at = 0;
    module.items.retain(|item| {
        let keep = item.is_header() || kept.contains(&at);
        at += 1;
        keep
    });
    (module.items.len() < before).then_some(())
}
