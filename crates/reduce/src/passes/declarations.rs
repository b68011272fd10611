//! Removes variables from statements and words from declarations, and simplifies types.

use ptxsmith_syntax::{Attribute, ScalarType, Specifier, StateSpace, VectorLength};

use super::initializers::{each_at_depth, unwrap};
use super::tree::{change_declaration, change_declarator, declarations};
use super::{Edit, edit};
use crate::cuts::cuts;
use crate::program::{Program, rank_of_type};

/// Removes runs of variables from each statement.
pub(super) fn declarators(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, declaration) in declarations_of(program) {
        let count = declaration.declarators.len();
        for run in cuts(count).into_iter().filter(|run| run.len() < count) {
            edits.push(edit(move |module| {
                change_declaration(module, number, |declaration| {
                    declaration.declarators.drain(run.clone());
                    Some(())
                })
            }));
        }
    }
    edits
}

/// Removes words before the names. Also removes a vector type together with its braces, and the count of a
/// parameterized name.
pub(super) fn specifiers(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, declaration) in declarations_of(program) {
        for (nth, specifier) in declaration.specifiers.iter().enumerate() {
            // Every declaration needs a state space and a type.
            let kind = std::mem::discriminant(specifier);
            let alone =
                declaration.specifiers.iter().filter(|s| std::mem::discriminant(*s) == kind).count() == 1;
            let needed =
                matches!(specifier, Specifier::Space(..) | Specifier::Type(_) | Specifier::Opaque(_));
            if !(needed && alone) {
                edits.push(edit(move |module| {
                    change_declaration(module, number, |declaration| {
                        declaration.specifiers.remove(nth);
                        Some(())
                    })
                }));
            }
            match specifier {
                Specifier::Vector(_) => {
                    edits.extend([false, true].map(|last| remove_vector((number, nth), last)));
                }
                Specifier::Attributes(attributes) => {
                    for (index, attribute) in attributes.iter().enumerate() {
                        if attributes.len() > 1 {
                            edits.push(change_attributes((number, nth), move |attributes| {
                                attributes.remove(index);
                                Some(())
                            }));
                        }
                        if !attribute.arguments.is_empty() {
                            edits.push(change_attributes((number, nth), move |attributes| {
                                attributes[index].arguments.pop().map(drop)
                            }));
                        }
                    }
                }
                Specifier::Space(_, Some(_)) => edits.push(edit(move |module| {
                    change_declaration(module, number, |declaration| {
                        match declaration.specifiers.get_mut(nth) {
                            Some(Specifier::Space(_, bank)) => bank.take().map(drop),
                            _ => None,
                        }
                    })
                })),
                _ => {}
            }
        }
        for declarator in 0..declaration.declarators.len() {
            edits.push(edit(move |module| {
                change_declarator(module, (number, declarator), |declarator| {
                    declarator.count.take().map(drop)
                })
            }));
        }
    }
    edits
}

/// Replaces types, vector lengths and state spaces, the plainest and then the shortest first.
pub(super) fn types(program: &Program) -> Vec<Edit> {
    let mut types = ScalarType::ALL.to_vec();
    types.sort_by_key(|&ty| (rank_of_type(ty), ty.keyword().len(), ty.keyword()));
    let mut edits = Vec::new();
    for (number, declaration) in declarations_of(program) {
        for (nth, specifier) in declaration.specifiers.iter().enumerate() {
            for other in other_specifiers(specifier, &types) {
                edits.push(edit(move |module| {
                    change_declaration(module, number, |declaration| {
                        *declaration.specifiers.get_mut(nth)? = other.clone();
                        Some(())
                    })
                }));
            }
        }
        // Replaces a vector by a shorter one and shortens its lists to fit.
        let Some(place) =
            declaration.specifiers.iter().position(|s| *s == Specifier::Vector(VectorLength::V4))
        else {
            continue;
        };
        for from in [0, 2] {
            edits.push(edit(move |module| {
                change_declaration(module, number, |declaration| {
                    declaration.specifiers[place] = Specifier::Vector(VectorLength::V2);
                    for declarator in &mut declaration.declarators {
                        let depth = declarator.dimensions.len();
                        if let Some(initializer) = &mut declarator.initializer {
                            // Keeps two entries, starting at `from`.
                            each_at_depth(initializer, depth, &|list| {
                                list.truncate(from + 2);
                                list.drain(..from.min(list.len()));
                                None
                            });
                        }
                    }
                    Some(())
                })
            }));
        }
    }
    edits
}

/// Creates an edit that removes a vector type and replaces the lists of its elements by their first or last element.
fn remove_vector((number, nth): (usize, usize), last: bool) -> Edit {
    edit(move |module| {
        change_declaration(module, number, |declaration| {
            declaration.specifiers.remove(nth);
            for declarator in &mut declaration.declarators {
                let depth = declarator.dimensions.len();
                if let Some(initializer) = &mut declarator.initializer {
                    unwrap(initializer, depth, last);
                }
            }
            Some(())
        })
    })
}

/// Creates an edit of the attributes in a specifier, which is given by the numbers of its declaration and of
/// itself.
fn change_attributes(
    (number, nth): (usize, usize),
    change: impl Fn(&mut Vec<Attribute>) -> Option<()> + 'static,
) -> Edit {
    edit(move |module| {
        change_declaration(module, number, |declaration| match declaration.specifiers.get_mut(nth) {
            Some(Specifier::Attributes(attributes)) => change(attributes),
            _ => None,
        })
    })
}

/// Returns the types, vector lengths or state spaces that may replace a specifier. `types` are all types in
/// the order in which they are tried.
fn other_specifiers(specifier: &Specifier, types: &[ScalarType]) -> Vec<Specifier> {
    match specifier {
        Specifier::Type(ty) => {
            types.iter().filter(|other| *other != ty).map(|other| Specifier::Type(*other)).collect()
        }
        Specifier::Vector(length) => {
            let others = VectorLength::ALL.iter().filter(|other| *other != length);
            others.map(|other| Specifier::Vector(*other)).collect()
        }
        Specifier::Space(space, bank) => {
            let others = [StateSpace::Global, StateSpace::Const].into_iter().filter(|other| other != space);
            others.map(|other| Specifier::Space(other, bank.clone())).collect()
        }
        _ => Vec::new(),
    }
}

fn declarations_of(program: &Program) -> impl Iterator<Item = (usize, ptxsmith_syntax::Declaration)> {
    program.module().map(declarations).unwrap_or_default().into_iter().enumerate()
}
