//! Compares the expected content of variables with the observed content.

use ptxsmith_oracle as oracle;
use ptxsmith_subject as subject;
use ptxsmith_subject::solve::{self, HeldAddress};

use ptxsmith_subject::{Observation, Outcome, Subject};
use ptxsmith_syntax::{Item, StateSpace, Statement, declared, numbered};

use crate::verdict::{Class, NotCompared, Verdict};

/// The first difference between an expectation and an observation, or the reason why they could not be
/// compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The named variable differs in this way.
    Differs(Class, String),
    /// The subject shows nothing of the named variable that could be compared.
    Unobserved(String),
}

/// Compares each expected variable with the observed variable of the same name and returns the first
/// mismatch.
///
/// Skips fields, bytes and variables that the subject does not report. If no variable could be compared, the
/// result is [`Mismatch::Unobserved`]. A variable that is missing from a complete observation has no storage,
/// which is a wrong layout.
pub fn compare(expected: &[oracle::Variable], observed: &Observation) -> Option<Mismatch> {
    let mut unobserved = None;
    let mut compared = false;
    for variable in expected {
        let seen = observed.variables.get(variable.name.as_str());
        match seen.map(|seen| compare_variable(variable, seen, observed)) {
            Some(None) => compared = true,
            Some(Some(differs @ Mismatch::Differs(..))) => return Some(differs),
            None if observed.complete => {
                return Some(Mismatch::Differs(Class::WrongLayout, variable.name.to_string()));
            }
            None | Some(Some(Mismatch::Unobserved(_))) => {
                unobserved.get_or_insert_with(|| variable.name.to_string());
            }
        }
    }
    unobserved.filter(|_| !compared).map(Mismatch::Unobserved)
}

/// Returns the verdict for a valid program that the subject accepts without showing anything. If the subject
/// shows no values of any program, accepting the program is all that can be compared, and it conforms.
pub(crate) fn unobserved(subject: &dyn Subject, observed: &Observation) -> Verdict {
    if shows_no_values(subject, observed) {
        Verdict::ConformsByOutcome
    } else {
        Verdict::NotCompared(NotCompared::Unobserved)
    }
}

/// Returns true if the subject only accepts or rejects programs. If its description does not say whether it
/// shows values, this holds when it accepts a program and shows no variable.
pub(crate) fn shows_no_values(subject: &dyn Subject, observed: &Observation) -> bool {
    let silent = observed.outcome == Outcome::Accepted && observed.variables.is_empty();
    silent && !subject.description().values.unwrap_or(false)
}

/// Returns the first observed variable that no statement declares in any scope (5.4.1, 5.4.6). If the
/// observation may be incomplete, it may include variables of the implementation's own, so only an ill-formed
/// name counts. Returns `None` if a function body declares variables with storage, because an implementation
/// may name those as it likes.
pub(crate) fn undeclared(items: &[Item], observed: &Observation) -> Option<String> {
    if items.iter().any(may_hide_declarations) {
        return None;
    }
    let declared = declared(items);
    observed
        .variables
        .keys()
        .filter(|name| observed.complete || !is_well_formed(name))
        .find(|name| declared.find(name, |_, digits| numbered(digits)).declared().is_none())
        .map(|name| name.to_string())
}

/// Returns true if all characters may occur in a name.
fn is_well_formed(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "_$%.".contains(c))
}

/// Returns true if a statement is not understood, or is a function that declares variables with storage.
fn may_hide_declarations(item: &Item) -> bool {
    match item {
        Item::Function(function) => function.statements().any(|statement| match statement {
            Statement::Variables(declaration) => declaration.space() != Some(StateSpace::Reg),
            Statement::Unread(_) => true,
            _ => false,
        }),
        Item::Other(_) | Item::Unread(_) => true,
        Item::Variables(_) | Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => false,
    }
}

/// Returns the number of expected variables that the subject shows nothing comparable about.
pub(crate) fn unseen(expected: &[oracle::Variable], observed: &Observation) -> u32 {
    let mut count = 0;
    for variable in expected {
        let seen = observed.variables.get(variable.name.as_str());
        let mismatch = seen.map(|seen| compare_variable(variable, seen, observed));
        count += u32::from(matches!(mismatch, None | Some(Some(Mismatch::Unobserved(_)))));
    }
    count
}

/// Compares one variable with its observation: space, size and alignment before content. A greater alignment
/// than required agrees. `None` if everything that is observed of it agrees.
pub(crate) fn compare_variable(
    expected: &oracle::Variable,
    seen: &subject::Variable,
    observed: &Observation,
) -> Option<Mismatch> {
    let name = expected.name.to_string();
    let other_space = seen.space.as_deref().is_some_and(|space| space != expected.space.name());
    let other_size = seen.size.is_some_and(|size| size != expected.size);
    let misaligned = seen.align.is_some_and(|align| align < expected.align);
    if other_space || other_size || misaligned {
        return Some(Mismatch::Differs(Class::WrongLayout, name));
    }
    if !expected.has_content() {
        // Only the size of such a variable can be compared.
        return seen.size.is_none().then_some(Mismatch::Unobserved(name));
    }
    let Some(bytes) = &seen.bytes else {
        // A variable without bytes is fully compared by its size.
        let is_empty = expected.size == 0 && seen.size == Some(0);
        return (!is_empty).then_some(Mismatch::Unobserved(name));
    };
    match &seen.addresses {
        Some(addresses) if !same_addresses(&expected.addresses, addresses, observed) => {
            return Some(Mismatch::Differs(Class::WrongAddress, name));
        }
        None if !expected.addresses.is_empty() && seen.base.is_some() => {
            return compare_memory(expected, bytes, observed);
        }
        None if !expected.addresses.is_empty() => return Some(Mismatch::Unobserved(name)),
        _ => {}
    }
    (*bytes != expected.bytes).then_some(Mismatch::Differs(Class::WrongValue, name))
}

/// Compares the bytes of a variable that holds addresses, as read from memory. Addresses are resolved with
/// the observed places of the other variables.
fn compare_memory(expected: &oracle::Variable, bytes: &[u8], observed: &Observation) -> Option<Mismatch> {
    let slots = expected.addresses.iter().map(slot);
    let memory = solve::memory(&expected.bytes, slots, |symbol| global_base(symbol, observed));
    let name = expected.name.to_string();
    let differing = memory.iter().zip(bytes).position(|(held, seen)| held.is_some_and(|held| held != *seen));
    if let Some(offset) = differing {
        let is_address = expected.addresses.iter().any(|address| {
            (address.offset..address.offset + u64::from(address.width)).contains(&(offset as u64))
        });
        let class = if is_address { Class::WrongAddress } else { Class::WrongValue };
        return Some(Mismatch::Differs(class, name));
    }
    if bytes.len() != memory.len() {
        return Some(Mismatch::Differs(Class::WrongLayout, name));
    }
    memory.contains(&None).then_some(Mismatch::Unobserved(name))
}

/// Returns the place of a variable in memory. Subjects do not report memory addresses of functions, nor of
/// constants, which lie in a bank of their own.
pub(crate) fn global_base(symbol: &str, observed: &Observation) -> Option<u64> {
    let variable = observed.variables.get(symbol)?;
    variable.base.filter(|_| variable.space.as_deref() == Some("global"))
}

/// Converts an expected address for the comparison with memory.
pub(crate) fn slot(address: &oracle::Address) -> HeldAddress<'_> {
    HeldAddress {
        offset: address.offset,
        width: address.width,
        symbol: &address.symbol,
        addend: address.addend,
        bits: address.addend_bits,
        byte: address.byte,
    }
}

fn same_addend(expected: &oracle::Address, seen: i64) -> bool {
    let differing = (expected.addend ^ seen) as u64;
    differing << (64 - expected.addend_bits.clamp(1, 64)) == 0
}

/// Returns true if the observed address fills a slot of the expected width. Below sm_75 the addresses of code
/// and of the constant bank have 32 bits; such an address may fill the lower half of an 8-byte slot, because
/// the bytes of the upper half are compared with zero.
fn is_as_wide(expected: u8, seen: &subject::Address) -> bool {
    seen.width == expected || (expected, seen.width, seen.byte) == (8, 4, None) && seen.generic != Some(true)
}

fn same_addresses(expected: &[oracle::Address], seen: &[subject::Address], observed: &Observation) -> bool {
    expected.len() == seen.len()
        && expected.iter().zip(seen).all(|(expected, seen)| {
            expected.offset == seen.offset
                && is_as_wide(expected.width, seen)
                && observed.is_one_place(&expected.symbol, &seen.symbol)
                && same_addend(expected, seen.addend)
                && expected.byte == seen.byte
                && seen.generic.is_none_or(|generic| generic == expected.generic)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_places_that_are_not_generic_may_fill_half_a_slot() {
        let seen = |width, generic| subject::Address {
            offset: 0,
            width,
            symbol: "f".to_owned(),
            addend: 0,
            generic,
            byte: None,
        };
        assert!(is_as_wide(8, &seen(8, Some(true))));
        assert!(is_as_wide(8, &seen(4, None)));
        assert!(is_as_wide(8, &seen(4, Some(false))));
        assert!(!is_as_wide(8, &seen(4, Some(true))));
        assert!(!is_as_wide(4, &seen(8, None)));
    }

    /// Compares the initializer of `p`, the only variable with addresses, with its bytes in memory. `g` lies
    /// at 0x7f0000000100, `c` is a constant and `f` a function.
    fn shown(initializer: &str, memory: &[u8]) -> Option<Mismatch> {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.const .u32 c;\n\
             .visible .func f() {{ ret; }}\n.global .u64 p[] = {{{initializer}}};\n"
        );
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let expectation = oracle::expect(&module, &oracle::Rules::default());
        let oracle::Expectation::Accepted { variables, .. } = expectation else { panic!("{expectation:?}") };
        let expected: Vec<_> = variables.into_iter().filter(|variable| variable.name == "p").collect();
        assert_eq!(expected.len(), 1);
        let variable = |space: &str, base, bytes: &[u8]| subject::Variable {
            space: Some(space.into()),
            size: Some(bytes.len() as u64),
            bytes: Some(bytes.to_vec()),
            base: Some(base),
            ..subject::Variable::default()
        };
        let variables = BTreeMap::from([
            ("g".into(), variable("global", 0x7f00_0000_0100, &[0; 16])),
            ("c".into(), variable("const", 0x7f00_0000_1000, &[0; 4])),
            ("p".into(), variable("global", 0x7f00_0000_0200, memory)),
        ]);
        compare(&expected, &Observation { variables, ..Observation::new(Outcome::Accepted) })
    }

    #[test]
    fn an_address_in_memory_is_that_of_its_symbol_and_nothing_else() {
        let differs = |class| Some(Mismatch::Differs(class, "p".to_owned()));
        let g4 = 0x7f00_0000_0104u64.to_le_bytes();
        let and = |first: [u8; 8], second: u64| [first, second.to_le_bytes()].concat();
        assert_eq!(shown("g+4, 5", &and(g4, 5)), None);
        // One past the end of `g`: another variable may begin there.
        assert_eq!(shown("g+16", &0x7f00_0000_0110u64.to_le_bytes()), None);
        assert_eq!(shown("g+4, 5", &and(0x7f00_0000_0105u64.to_le_bytes(), 5)), differs(Class::WrongAddress));
        assert_eq!(shown("g+4, 5", &and(g4, 6)), differs(Class::WrongValue));
        assert_eq!(shown("g+4, 5", &g4), differs(Class::WrongLayout));
    }

    #[test]
    fn the_place_of_a_function_or_constant_is_not_observed_in_memory() {
        let unobserved = Some(Mismatch::Unobserved("p".to_owned()));
        assert_eq!(shown("f", &[9; 8]), unobserved);
        assert_eq!(shown("c", &[9; 8]), unobserved);
        assert_eq!(shown("f, 5", &[9; 16]), Some(Mismatch::Differs(Class::WrongValue, "p".to_owned())));
    }

    /// Returns the expected variables `a`, aligned to 8 bytes, and `p`, which holds its address, with a
    /// conforming observation.
    fn two() -> (Vec<oracle::Variable>, subject::Variables) {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .align 8 .u32 a = 1;\n.global .u64 p = a;\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let expectation = oracle::expect(&module, &oracle::Rules::default());
        let oracle::Expectation::Accepted { variables, .. } = expectation else { panic!("{expectation:?}") };
        let variable = |size, align, bytes: &[u8], addresses| subject::Variable {
            space: Some("global".into()),
            size: Some(size),
            align: Some(align),
            bytes: Some(bytes.to_vec()),
            addresses: Some(addresses),
            ..subject::Variable::default()
        };
        let a = subject::Address {
            offset: 0,
            width: 8,
            symbol: "a".to_owned(),
            addend: 0,
            generic: None,
            byte: None,
        };
        let shown = [
            ("a".into(), variable(4, 8, &[1, 0, 0, 0], Vec::new())),
            ("p".into(), variable(8, 8, &[0; 8], vec![a])),
        ];
        (variables, shown.into())
    }

    /// Compares the two variables after one of the observed ones has been changed.
    fn changed(name: &str, change: impl Fn(&mut subject::Variable)) -> Option<Mismatch> {
        let (expected, mut variables) = two();
        change(variables.get_mut(name).unwrap());
        compare(&expected, &Observation { variables, ..Observation::new(Outcome::Accepted) })
    }

    #[test]
    fn space_size_and_alignment_are_compared_before_bytes_and_a_greater_alignment_is_one() {
        let differs = |class| Some(Mismatch::Differs(class, "a".to_owned()));
        assert_eq!(changed("a", |_| ()), None);
        for align in [8, 16, 256] {
            assert_eq!(changed("a", |a| a.align = Some(align)), None, "{align}");
        }
        for align in [0, 1, 4] {
            assert_eq!(changed("a", |a| a.align = Some(align)), differs(Class::WrongLayout), "{align}");
        }
        for size in [3, 5] {
            assert_eq!(changed("a", |a| a.size = Some(size)), differs(Class::WrongLayout), "{size}");
        }
        assert_eq!(changed("a", |a| a.space = Some("const".into())), differs(Class::WrongLayout));
        assert_eq!(changed("a", |a| (a.size, a.align, a.space) = (None, None, None)), None);
        assert_eq!(changed("a", |a| a.bytes = Some(vec![2, 0, 0, 0])), differs(Class::WrongValue));
    }

    #[test]
    fn an_unobserved_field_is_skipped_if_anything_else_is_compared() {
        let unobserved = |name: &str| Some(Mismatch::Unobserved(name.to_owned()));
        assert_eq!(changed("a", |a| a.bytes = None), None, "p is compared");
        assert_eq!(changed("p", |p| p.addresses = None), None, "a is compared");
        let (expected, variables) = two();
        let of = |expected: &[oracle::Variable], variables: &subject::Variables, complete| {
            let variables = variables.clone();
            compare(expected, &Observation { variables, complete, ..Observation::new(Outcome::Accepted) })
        };
        let mut silent = variables.clone();
        silent.values_mut().for_each(|variable| variable.bytes = None);
        assert_eq!(of(&expected, &silent, false), unobserved("a"));
        let mut without = variables;
        without.remove("a");
        assert_eq!(of(&expected, &without, false), None, "p is compared");
        assert_eq!(
            of(&expected, &without, true),
            Some(Mismatch::Differs(Class::WrongLayout, "a".to_owned())),
            "one that says it shows all has no storage for it"
        );
        // The bytes of `p` cannot be compared without its addresses and without the places of other variables
        // in memory.
        without.get_mut("p").unwrap().addresses = None;
        assert_eq!(of(&expected[1..], &without, false), unobserved("p"));
        // Nor with the place of another variable: these bytes were not read from memory.
        let mut elsewhere = two().1;
        elsewhere.get_mut("a").unwrap().base = Some(0x1000);
        elsewhere.get_mut("p").unwrap().addresses = None;
        assert_eq!(of(&expected[1..], &elsewhere, false), unobserved("p"));
        // Bytes of a variable without addresses are compared directly, in memory too.
        let longer = |a: &mut subject::Variable| {
            (a.base, a.addresses, a.size, a.bytes) = (Some(0x1000), None, None, Some(vec![1, 0, 0, 0, 0]));
        };
        assert_eq!(changed("a", longer), Some(Mismatch::Differs(Class::WrongValue, "a".to_owned())));
    }

    #[test]
    fn two_symbols_at_one_place_are_one_address() {
        let (expected, mut variables) = two();
        let addresses = variables.get_mut("p").and_then(|p| p.addresses.as_mut()).unwrap();
        addresses[0].symbol = "alias".to_owned();
        let mut observed = Observation { variables, ..Observation::new(Outcome::Accepted) };
        let differs = Some(Mismatch::Differs(Class::WrongAddress, "p".to_owned()));
        assert_eq!(compare(&expected, &observed), differs);
        let places = ["a", "alias"].map(|name| (name.to_owned(), "a".to_owned()));
        observed.one_place = places.into();
        assert_eq!(compare(&expected, &observed), None);
        observed.one_place.insert("a".to_owned(), "other".to_owned());
        assert_eq!(compare(&expected, &observed), differs);
    }

    #[test]
    fn a_variable_of_no_bytes_is_compared_by_its_size() {
        let (expected, variables) = two();
        let none = oracle::Variable { size: 0, bytes: Vec::new(), ..expected[0].clone() };
        let shown = |size| {
            let a = subject::Variable { size, bytes: None, ..variables["a"].clone() };
            compare_variable(&none, &a, &Observation::new(Outcome::Accepted))
        };
        assert_eq!(shown(Some(0)), None);
        assert_eq!(shown(None), Some(Mismatch::Unobserved("a".to_owned())));
        assert_eq!(shown(Some(4)), Some(Mismatch::Differs(Class::WrongLayout, "a".to_owned())));
        // The same holds for a variable that is too large for its bytes to be computed.
        let large = oracle::Variable { size: 1 << 40, ..none.clone() };
        let shown = |size| {
            compare_variable(
                &large,
                &subject::Variable { size, ..variables["a"].clone() },
                &Observation::default(),
            )
        };
        assert_eq!(shown(Some(1 << 40)), None);
        assert_eq!(shown(None), Some(Mismatch::Unobserved("a".to_owned())));
    }
}
