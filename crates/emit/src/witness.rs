//! Extracts the three descriptions of a global in the PTX: its printed bytes, its layout as numbers, and a kernel that
//! reads its scalars.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{
    Address, Expectation, Left, MaskedFunction, Output, Readings, Rules, Variable, predict,
};
use ptxsmith_syntax::{Item, Module, parse};

use crate::host::Held;

/// The descriptions of one global in the PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Testimony {
    /// The oracle evaluated the PTX.
    Read(Box<Read>),
    /// The PTX is invalid, for this reason.
    Refused(String),
    /// The oracle has no rule for it, or the global is missing, for this reason.
    Silent(String),
}

/// A global as evaluated by the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The bytes and addresses.
    pub held: Held,
    /// The addresses with all details in the PTX.
    pub addresses: Vec<Address>,
    /// The guaranteed alignment.
    pub align: u64,
    /// The size, the alignment and the offsets of scalars, as the PTX prints them.
    pub layout: Option<Vec<u64>>,
    /// The output of the kernel, or the reason why it is unknown.
    pub output: Result<Output, String>,
}

/// Extracts the descriptions of these globals from the PTX.
pub fn read(ptx: &str, numbers: impl Iterator<Item = u64>) -> BTreeMap<u64, Testimony> {
    let Ok(module) = parse(ptx) else {
        return numbers.map(|number| (number, Testimony::Refused("it is no PTX".to_owned()))).collect();
    };
    let mut parts = split(module);
    let shared = std::mem::take(&mut parts.shared);
    numbers
        .map(|number| {
            let own = parts.own.remove(&number).unwrap_or_default();
            let words: BTreeSet<&str> = own.iter().flat_map(|item| words(&ptx[range(item)])).collect();
            let needed =
                shared.iter().filter(|(name, _)| name.as_deref().is_none_or(|name| words.contains(name)));
            let items = needed.map(|(_, item)| item.clone()).chain(own.iter().cloned()).collect();
            (number, testimony(&Module { items }, number))
        })
        .collect()
}

/// The items of a module, sorted by global.
struct Parts {
    /// The items that belong to no global, with their names.
    shared: Vec<(Option<String>, Item)>,
    own: BTreeMap<u64, Vec<Item>>,
}

fn split(module: Module) -> Parts {
    let mut parts = Parts { shared: Vec::new(), own: BTreeMap::new() };
    for item in module.items {
        let name = match &item {
            Item::Variables(declaration) => {
                declaration.declarators.first().map(|declarator| &declarator.name.text)
            }
            Item::Function(function) => Some(&function.name.text),
            _ => None,
        };
        let name = name.map(ToString::to_string);
        match name.as_deref().and_then(owner) {
            Some(number) => parts.own.entry(number).or_default().push(item),
            None => parts.shared.push((name, item)),
        }
    }
    parts
}

/// Returns the number of the global to which a name belongs: `g12`, `w12`, `k12`, or the mangled form of such a name with
/// internal linkage (`_ZL3g12`, `_ZN3n123g12E`, `__internal_3g12`).
pub fn owner(name: &str) -> Option<u64> {
    let name = name.strip_suffix('E').unwrap_or(name);
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[before.len()..].parse().ok()?;
    let is_plain = matches!(before, "g" | "w" | "k");
    (is_plain || (before.starts_with('_') && before.ends_with(['g', 'w', 'k']))).then_some(number)
}

fn range(item: &Item) -> std::ops::Range<usize> {
    let span = item.span();
    span.start as usize..span.end as usize
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c))).filter(|word| !word.is_empty())
}

/// Returns the rules for evaluating PTX. For open questions they use the interpretation that compilers rely on.
pub fn rules() -> Rules {
    Rules::specification(Readings { masked_function: MaskedFunction::Accepted, ..Readings::default() })
}

fn testimony(module: &Module, number: u64) -> Testimony {
    let prediction = predict(module, &rules());
    let variables = match &prediction.data {
        Expectation::Accepted { variables, .. } => variables,
        Expectation::Refused { refusal, .. } => {
            return Testimony::Refused(refusal.class.summary().to_owned());
        }
        Expectation::Unmodelled { reason, .. } => return Testimony::Silent((*reason).to_owned()),
    };
    let of = |letter: char| {
        let plain = format!("{letter}{number}");
        let is_it = |variable: &&Variable| variable.name.trim_end_matches('E').ends_with(&plain);
        variables.iter().find(is_it)
    };
    let Some(variable) = of('g').filter(|variable| variable.has_content()) else {
        return Testimony::Silent("the PTX has no such variable that the oracle judges".to_owned());
    };
    let kernel = prediction.kernels.iter().find(|kernel| kernel.name == format!("k{number}"));
    let output = match kernel.map(|kernel| &kernel.left) {
        Some(Left::Output(output)) => Ok(output.clone()),
        Some(Left::Unmodelled(reason)) => Err((*reason).to_owned()),
        None => Err("there is no kernel".to_owned()),
    };
    Testimony::Read(Box::new(Read {
        held: held(variable),
        addresses: whole_addresses(variable),
        align: variable.align,
        layout: of('w').filter(|layout| layout.has_content()).map(numbers),
        output,
    }))
}

/// Returns the contents of a variable.
pub fn held(variable: &Variable) -> Held {
    let addresses = whole_addresses(variable);
    Held {
        bytes: variable.bytes.clone(),
        addresses: addresses.iter().map(|one| (one.offset, one.symbol.to_string(), one.addend)).collect(),
    }
}

/// Returns the addresses of a variable. Eight adjacent masks that together cover all bytes of an address count as that
/// address.
fn whole_addresses(variable: &Variable) -> Vec<Address> {
    let mut whole = Vec::new();
    let mut left = &variable.addresses[..];
    while let [first, rest @ ..] = left {
        let is_next = |(place, one): (usize, &Address)| {
            let place = place as u64;
            one.byte == Some(place as u8)
                && one.offset == first.offset + place
                && (&one.symbol, one.addend, one.generic) == (&first.symbol, first.addend, first.generic)
        };
        match left.get(..8).filter(|bytes| bytes.iter().enumerate().all(is_next)) {
            Some(_) => {
                whole.push(Address { width: 8, byte: None, ..first.clone() });
                left = &left[8..];
            }
            None => {
                whole.push(first.clone());
                left = rest;
            }
        }
    }
    whole
}

/// Returns the 64-bit numbers in a variable.
fn numbers(variable: &Variable) -> Vec<u64> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    variable.bytes.chunks_exact(8).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_to_globals() {
        assert_eq!(owner("g12"), Some(12));
        assert_eq!(owner("_ZN34_INTERNAL_9dc6_unit_cu_3n123g12E"), Some(12));
        assert_eq!(owner("_ZL3g12"), Some(12));
        assert_eq!(owner("target"), None);
        assert_eq!(owner("string12"), None);
    }
}
