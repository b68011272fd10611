//! Comparison of one variable's expectation with its observation.

use std::collections::BTreeMap;

use ptxsmith_oracle as oracle;
use ptxsmith_subject as subject;

use crate::verdict::Class;

/// The first way in which an observation differs from an expectation, or what kept them from being compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// They differ in this.
    Differs(Class, String),
    /// The subject shows nothing of this variable that could be compared.
    Unobserved(String),
}

/// Compares every variable expected with what was observed, under the same names. A field that the subject cannot tell
/// is left out; a variable of which it tells no bytes is unobserved.
pub fn compare(
    expected: &[oracle::Variable],
    observed: &BTreeMap<String, subject::Variable>,
) -> Option<Mismatch> {
    let mut unobserved = None;
    for variable in expected {
        match observed.get(variable.name.as_str()) {
            Some(seen) => match compare_variable(variable, seen) {
                Some(Mismatch::Unobserved(name)) => unobserved = Some(name),
                Some(differs) => return Some(differs),
                None => {}
            },
            None => unobserved = Some(variable.name.to_string()),
        }
    }
    unobserved.map(Mismatch::Unobserved)
}

fn compare_variable(expected: &oracle::Variable, seen: &subject::Variable) -> Option<Mismatch> {
    let differs = |class| Some(Mismatch::Differs(class, expected.name.to_string()));
    let other_space = seen.space.as_deref().is_some_and(|space| space != expected.space.name());
    let other_size = seen.size.is_some_and(|size| size != expected.size);
    let misaligned = seen.align.is_some_and(|align| align < expected.align);
    if other_space || other_size || misaligned {
        return differs(Class::WrongLayout);
    }
    let Some(bytes) = &seen.bytes else {
        return Some(Mismatch::Unobserved(expected.name.to_string()));
    };
    match &seen.addresses {
        Some(addresses) if !same_addresses(&expected.addresses, addresses) => {
            return differs(Class::WrongAddress);
        }
        None if !expected.addresses.is_empty() => {
            return Some(Mismatch::Unobserved(expected.name.to_string()));
        }
        _ => {}
    }
    if *bytes != expected.bytes {
        return differs(Class::WrongValue);
    }
    None
}

fn same_addresses(expected: &[oracle::Address], seen: &[subject::Address]) -> bool {
    expected.len() == seen.len()
        && expected.iter().zip(seen).all(|(e, s)| {
            e.offset == s.offset
                && e.width == s.width
                && e.symbol == s.symbol
                && e.addend == s.addend
                && e.byte == s.byte
                && s.generic.is_none_or(|generic| generic == e.generic)
        })
}
