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
/// is left out, and so is a variable that it does not show or of which it tells no bytes; where it shows none, nothing
/// was observed.
pub fn compare(
    expected: &[oracle::Variable],
    observed: &BTreeMap<String, subject::Variable>,
) -> Option<Mismatch> {
    let mut unobserved = None;
    let mut compared = 0;
    for variable in expected {
        let seen = observed.get(variable.name.as_str());
        match seen.map(|seen| compare_variable(variable, seen)) {
            Some(None) => compared += 1,
            Some(Some(differs @ Mismatch::Differs(..))) => return Some(differs),
            None | Some(Some(Mismatch::Unobserved(_))) => {
                unobserved.get_or_insert_with(|| variable.name.to_string());
            }
        }
    }
    unobserved.filter(|_| compared == 0).map(Mismatch::Unobserved)
}

/// How many of the variables expected are not shown.
pub(crate) fn unseen(expected: &[oracle::Variable], observed: &BTreeMap<String, subject::Variable>) -> u32 {
    let shown = |variable: &oracle::Variable| {
        observed.get(variable.name.as_str()).is_some_and(|seen| seen.bytes.is_some())
    };
    expected.iter().filter(|variable| !shown(variable)).count() as u32
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

fn same_addend(expected: &oracle::Address, seen: i64) -> bool {
    let differing = (expected.addend ^ seen) as u64;
    differing << (64 - expected.addend_bits.clamp(1, 64)) == 0
}

fn same_addresses(expected: &[oracle::Address], seen: &[subject::Address]) -> bool {
    expected.len() == seen.len()
        && expected.iter().zip(seen).all(|(e, s)| {
            e.offset == s.offset
                && e.width == s.width
                && e.symbol == s.symbol
                && same_addend(e, s.addend)
                && e.byte == s.byte
                && s.generic.is_none_or(|generic| generic == e.generic)
        })
}
