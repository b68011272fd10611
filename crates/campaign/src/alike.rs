//! Compares two results for equivalent programs. Ignores anything that one of the two does not show.

use ptxsmith_subject::{Address, Observation, Outcome, Variable};

/// A difference between two results.
#[derive(Debug, PartialEq, Eq)]
pub enum ResultMismatch {
    /// One implementation accepts the program, or crashes, and the other does not.
    Outcome,
    /// The contents of this variable differ.
    Variable(String),
}

/// Returns the first difference, if any. Ignores anything that one of the two does not show, and parts of the
/// language that one of them declares as unsupported.
pub fn differs(a: &Observation, b: &Observation) -> Option<ResultMismatch> {
    if is_silent(a) || is_silent(b) {
        return None;
    }
    if a.outcome != b.outcome {
        return Some(ResultMismatch::Outcome);
    }
    for (name, variable) in &a.variables {
        // A variable of a function body, under a name that the assembler invented; it does not belong to the
        // module.
        if name.starts_with("$__") {
            continue;
        }
        let Some(other) = b.variables.get(name) else { continue };
        if !may_be_same(variable, other) {
            return Some(ResultMismatch::Variable(name.to_string()));
        }
    }
    None
}

/// Returns true if the implementation gave no result.
fn is_silent(observation: &Observation) -> bool {
    matches!(observation.outcome, Outcome::Unsupported | Outcome::Unavailable)
}

/// Returns true if two observations of a variable do not contradict each other.
fn may_be_same(a: &Variable, b: &Variable) -> bool {
    if !agree(&a.space, &b.space) || !agree(&a.size, &b.size) {
        return false;
    }
    // An observer that reads memory has addresses already written into the bytes, so compare only variables
    // without addresses.
    let in_memory = a.base.is_some() || b.base.is_some();
    if in_memory && (holds_addresses(a) || holds_addresses(b)) {
        return true;
    }
    let same_addresses = match (&a.addresses, &b.addresses) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be_same_address(a, b)),
        _ => true,
    };
    same_addresses && agree(&a.bytes, &b.bytes)
}

fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
    a.is_none() || b.is_none() || a == b
}

fn holds_addresses(variable: &Variable) -> bool {
    variable.addresses.as_ref().is_some_and(|addresses| !addresses.is_empty())
}

fn may_be_same_address(a: &Address, b: &Address) -> bool {
    (a.offset, a.width, &a.symbol, a.addend, a.byte) == (b.offset, b.width, &b.symbol, b.addend, b.byte)
        && agree(&a.generic, &b.generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(bytes: Option<&[u8]>) -> Observation {
        let variable = Variable { size: Some(2), bytes: bytes.map(<[u8]>::to_vec), ..Variable::default() };
        let mut seen = Observation::new(Outcome::Accepted);
        seen.variables.insert("a".into(), variable);
        seen
    }

    #[test]
    fn what_both_tell_is_compared_and_nothing_else() {
        let refused = Observation::new(Outcome::Refused);
        assert_eq!(differs(&holding(Some(&[1, 2])), &holding(Some(&[1, 2]))), None);
        assert_eq!(
            differs(&holding(Some(&[1, 2])), &holding(Some(&[1, 3]))),
            Some(ResultMismatch::Variable("a".into()))
        );
        assert_eq!(differs(&holding(Some(&[1, 2])), &holding(None)), None);
        assert_eq!(differs(&holding(Some(&[1, 2])), &refused), Some(ResultMismatch::Outcome));
        assert_eq!(differs(&Observation::new(Outcome::Unsupported), &refused), None);
    }

    #[test]
    fn bytes_in_memory_are_compared_where_they_hold_no_address() {
        let address = |offset: u64| Address {
            offset,
            width: 8,
            symbol: "g".to_owned(),
            addend: 0,
            generic: Some(false),
            byte: None,
        };
        let variable = |base: Option<u64>, byte: u8, offsets: &[u64]| Variable {
            size: Some(16),
            bytes: Some(vec![byte; 16]),
            addresses: Some(offsets.iter().map(|&offset| address(offset)).collect()),
            base,
            ..Variable::default()
        };
        for (one, other, same) in [
            (variable(Some(64), 1, &[]), variable(None, 1, &[]), true),
            (variable(Some(64), 1, &[]), variable(None, 2, &[]), false),
            // An observer that reads memory has the address among the bytes.
            (variable(Some(64), 1, &[0]), variable(None, 2, &[0]), true),
            (variable(None, 1, &[0]), variable(Some(64), 2, &[0]), true),
            (variable(None, 1, &[0]), variable(None, 2, &[0]), false),
            (variable(None, 1, &[0]), variable(None, 1, &[0]), true),
            (variable(None, 1, &[0]), variable(None, 1, &[8]), false),
            (variable(None, 1, &[0]), variable(None, 1, &[0, 8]), false),
        ] {
            assert_eq!(may_be_same(&one, &other), same, "{one:?} and {other:?}");
        }
        let larger = Variable { size: Some(24), ..variable(Some(64), 1, &[0]) };
        assert!(!may_be_same(&larger, &variable(None, 1, &[0])));
    }
}
