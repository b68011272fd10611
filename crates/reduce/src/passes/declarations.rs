//! Removes variables from statements and words from declarations, and simplifies types.

use ptxsmith_syntax::{Attribute, ScalarType, Specifier, StateSpace, VectorLength};

use super::initializers::{each_at_depth, unwrap};
use super::tree::{change_declaration, change_declarator, declarations};
use super::{Edit, edit};
use crate::cuts::cuts;
use crate::program::{PLAINEST, Program};

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

/// Removes words before the names. Also removes a vector type together with its braces, and the count of a parameterized name.
pub(super) fn specifiers(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, declaration) in declarations_of(program) {
        for (nth, specifier) in declaration.specifiers.iter().enumerate() {
            let drop_it = move |declaration: &mut ptxsmith_syntax::Declaration| {
                declaration.specifiers.remove(nth);
                Some(())
            };
            // Every declaration needs a state space and a type.
            let kind = std::mem::discriminant(specifier);
            let alone =
                declaration.specifiers.iter().filter(|s| std::mem::discriminant(*s) == kind).count() == 1;
            let needed =
                matches!(specifier, Specifier::Space(..) | Specifier::Type(_) | Specifier::Opaque(_));
            if !(needed && alone) {
                edits.push(edit(move |module| change_declaration(module, number, drop_it)));
            }
            match specifier {
                Specifier::Vector(_) => {
                    for last in [false, true] {
                        edits.push(edit(move |module| {
                            change_declaration(module, number, |declaration| {
                                drop_it(declaration)?;
                                for declarator in &mut declaration.declarators {
                                    let depth = declarator.dimensions.len();
                                    if let Some(initializer) = &mut declarator.initializer {
                                        unwrap(initializer, depth, last);
                                    }
                                }
                                Some(())
                            })
                        }));
                    }
                }
                Specifier::Attributes(attributes) => {
                    for (at, attribute) in attributes.iter().enumerate() {
                        let mut add = |change: fn(&mut Vec<Attribute>, usize) -> Option<()>| {
                            edits.push(edit(move |module| {
                                change_declaration(module, number, |declaration| {
                                    match declaration.specifiers.get_mut(nth) {
                                        Some(Specifier::Attributes(attributes)) => change(attributes, at),
                                        _ => None,
                                    }
                                })
                            }));
                        };
                        if attributes.len() > 1 {
                            add(|attributes, at| {
                                attributes.remove(at);
                                Some(())
                            });
                        }
                        if !attribute.arguments.is_empty() {
                            add(|attributes, at| attributes[at].arguments.pop().map(drop));
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
    let place = |ty: &ScalarType| PLAINEST.iter().position(|plain| plain == ty).unwrap_or(PLAINEST.len());
    types.sort_by_key(|ty| (place(ty), ty.keyword().len(), ty.keyword()));
    let mut edits = Vec::new();
    for (number, declaration) in declarations_of(program) {
        for (nth, specifier) in declaration.specifiers.iter().enumerate() {
            let mut add = |other: Specifier| {
                edits.push(edit(move |module| {
                    change_declaration(module, number, |declaration| {
                        *declaration.specifiers.get_mut(nth)? = other.clone();
                        Some(())
                    })
                }));
            };
            match specifier {
                Specifier::Type(own) => {
                    types.iter().filter(|ty| *ty != own).for_each(|ty| add(Specifier::Type(*ty)));
                }
                Specifier::Vector(own) => {
                    let others = VectorLength::ALL.iter().filter(|length| *length != own);
                    others.for_each(|length| add(Specifier::Vector(*length)));
                }
                Specifier::Space(own, bank) => {
                    for space in [StateSpace::Global, StateSpace::Const].into_iter().filter(|s| s != own) {
                        add(Specifier::Space(space, bank.clone()));
                    }
                }
                _ => {}
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

fn declarations_of(program: &Program) -> impl Iterator<Item = (usize, ptxsmith_syntax::Declaration)> {
    program.module().map(declarations).unwrap_or_default().into_iter().enumerate()
}
