//! Extracts the three descriptions of a global in the PTX: its printed bytes, its layout as numbers, and a
//! kernel that reads its scalars.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{
    Address, Expectation, KernelOutcome, MaskedFunction, Output, Prediction, Readings, Rules, Variable,
    predict,
};
use ptxsmith_syntax::{Item, Module, Text, parse};

use crate::host::{FUNCTION_TABLE, VariableContents, functions_from, string_name};

/// The descriptions of one global in the PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Testimony {
    /// The oracle evaluated the PTX.
    Read(Box<EvaluatedGlobal>),
    /// The PTX is invalid, for this reason.
    Refused(String),
    /// The oracle has no rule for it, or the global is missing, for this reason.
    Silent(String),
}

/// A global as evaluated by the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedGlobal {
    /// The bytes and addresses.
    pub contents: VariableContents,
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
            let of_global = parts.by_global.remove(&number).unwrap_or_default();
            let words = needed_names(ptx, &of_global, &shared);
            let needed =
                shared.iter().filter(|(name, _)| name.as_deref().is_none_or(|name| words.contains(name)));
            let items = needed.map(|(_, item)| item.clone()).chain(of_global.iter().cloned()).collect();
            (number, testimony(&Module { items }, number))
        })
        .collect()
}

/// The items of a module, sorted by global.
struct Parts {
    /// The items that belong to no global, with their names.
    shared: Vec<(Option<String>, Item)>,
    /// The items that belong to a global, by its number.
    by_global: BTreeMap<u64, Vec<Item>>,
}

fn split(module: Module) -> Parts {
    let mut parts = Parts { shared: Vec::new(), by_global: BTreeMap::new() };
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
            Some(number) => parts.by_global.entry(number).or_default().push(item),
            None => parts.shared.push((name, item)),
        }
    }
    parts
}

/// Returns the number of the global to which a name belongs: `g12`, `w12`, `k12`, or the mangled form of such
/// a name with internal linkage (`_ZL3g12`, `_ZN3n123g12E`, `__internal_3g12`) or of a template
/// (`_ZN3n123g12ILi0EEE`).
pub fn owner(name: &str) -> Option<u64> {
    let name = without_end(name);
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[before.len()..].parse().ok()?;
    let is_plain = matches!(before, "g" | "w" | "k");
    (is_plain || (before.starts_with('_') && before.ends_with(['g', 'w', 'k']))).then_some(number)
}

/// Returns a mangled name up to the number of a global.
fn without_end(name: &str) -> &str {
    let name = name.trim_end_matches('E');
    name.strip_suffix("ILi0").unwrap_or(name)
}

/// Returns the lines of PTX that name a global: its declaration, and the loads of its kernel.
pub fn lines_about(ptx: &str, number: u64) -> Vec<String> {
    let name = format!("g{number}");
    let lines = ptx.lines().filter(|line| words(line).any(|word| without_end(word).ends_with(&name)));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Returns the words of these items, and of the shared items that they name, and so on: a table of virtual
/// functions names functions.
fn needed_names<'p>(
    ptx: &'p str,
    of_global: &[Item],
    shared: &[(Option<String>, Item)],
) -> BTreeSet<&'p str> {
    let mut all: BTreeSet<&str> = of_global.iter().flat_map(|item| words(&ptx[range(item)])).collect();
    let mut visited = BTreeSet::new();
    loop {
        let before = visited.len();
        for (index, (name, item)) in shared.iter().enumerate() {
            if name.as_deref().is_some_and(|name| all.contains(name)) && visited.insert(index) {
                all.extend(words(&ptx[range(item)]));
            }
        }
        if visited.len() == before {
            return all;
        }
    }
}

fn range(item: &Item) -> std::ops::Range<usize> {
    let span = item.span();
    span.start as usize..span.end as usize
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c))).filter(|word| !word.is_empty())
}

/// Returns the rules for evaluating PTX. For open questions they use the interpretation that compilers rely
/// on.
fn rules() -> Rules {
    Rules::specification(Readings { masked_function: MaskedFunction::Accepted, ..Readings::default() })
}

/// Evaluates PTX. The address of a string literal, whose name each compiler chooses, gets the bytes of the
/// string for its symbol.
pub fn predict_with_strings(module: &Module) -> Prediction {
    let mut prediction = predict(module, &rules());
    let Expectation::Accepted { variables, .. } = &mut prediction.data else { return prediction };
    let strings: BTreeMap<Text, Vec<u8>> = variables
        .iter()
        // IR may give such a name to another variable, which has a larger alignment.
        .filter(|variable| variable.align == 1)
        .filter(|variable| variable.name.starts_with(['$', '.']) || variable.name.starts_with("_$_"))
        .map(|variable| (variable.name.clone(), variable.bytes.clone()))
        .collect();
    let of_variables = variables.iter_mut().map(|variable| &mut variable.addresses);
    let of_kernels = prediction.kernels.iter_mut().filter_map(|kernel| match &mut kernel.outcome {
        KernelOutcome::Output(output) => Some(&mut output.addresses),
        KernelOutcome::Unmodelled(_) => None,
    });
    for address in of_variables.chain(of_kernels).flatten() {
        let bytes = strings.get(&address.symbol).zip(usize::try_from(address.addend).ok());
        if let Some(text) = bytes.and_then(|(bytes, addend)| bytes.get(addend..)) {
            (address.symbol, address.addend) = (string_name(text).as_str().into(), 0);
        }
    }
    prediction
}

fn testimony(module: &Module, number: u64) -> Testimony {
    let prediction = predict_with_strings(module);
    let variables = match &prediction.data {
        Expectation::Accepted { variables, .. } => variables,
        Expectation::Refused { refusal, .. } => {
            return Testimony::Refused(refusal.class.summary().to_owned());
        }
        Expectation::Unmodelled { reason, .. } => return Testimony::Silent((*reason).to_owned()),
    };
    let variable = find_variable(variables, 'g', number);
    let Some(variable) = variable.filter(|variable| variable.has_content()) else {
        return Testimony::Silent("the PTX has no such variable that the oracle judges".to_owned());
    };
    let kernel = prediction.kernels.iter().find(|kernel| kernel.name == format!("k{number}"));
    let output = match kernel.map(|kernel| &kernel.outcome) {
        Some(KernelOutcome::Output(output)) => Ok(output.clone()),
        Some(KernelOutcome::Unmodelled(reason)) => Err((*reason).to_owned()),
        None => Err("there is no kernel".to_owned()),
    };
    Testimony::Read(Box::new(EvaluatedGlobal {
        contents: variable_contents(variable, variables),
        addresses: whole_addresses(variable),
        align: variable.align,
        layout: find_variable(variables, 'w', number)
            .filter(|layout| layout.has_content())
            .map(printed_numbers),
        output,
    }))
}

/// Finds the variable of a global with this letter in its name, which may be mangled.
fn find_variable(variables: &[Variable], letter: char, number: u64) -> Option<&Variable> {
    let plain = format!("{letter}{number}");
    variables.iter().find(|variable| without_end(&variable.name).ends_with(&plain))
}

/// Returns the contents of a variable of a module with these `variables`.
pub fn variable_contents(variable: &Variable, variables: &[Variable]) -> VariableContents {
    let addresses = whole_addresses(variable);
    let tables = addresses.iter().filter_map(|one| Some((one.offset, functions_of_table(one, variables)?)));
    VariableContents {
        bytes: variable.bytes.clone(),
        tables: tables.collect(),
        addresses: addresses.iter().map(|one| (one.offset, one.symbol.to_string(), one.addend)).collect(),
    }
}

/// Returns the functions in a table of virtual functions from an address on; `None` if it is no table of the module.
fn functions_of_table(address: &Address, variables: &[Variable]) -> Option<Vec<String>> {
    if !address.symbol.starts_with(FUNCTION_TABLE) {
        return None;
    }
    let table = variables.iter().find(|table| table.name == address.symbol)?;
    let functions = whole_addresses(table);
    functions_from(&functions.iter().map(|one| (one.offset, &*one.symbol)).collect(), address.addend)
}

/// Returns the addresses of a variable. Eight adjacent masks that together cover all bytes of an address
/// count as that address.
fn whole_addresses(variable: &Variable) -> Vec<Address> {
    let mut whole = Vec::new();
    let mut remaining = &variable.addresses[..];
    while let [first, rest @ ..] = remaining {
        if remaining.get(..8).is_some_and(are_bytes_of_address) {
            whole.push(Address { width: 8, byte: None, ..first.clone() });
            remaining = &remaining[8..];
        } else {
            whole.push(first.clone());
            remaining = rest;
        }
    }
    whole
}

/// Whether these masks select the bytes of one address, in order and without gaps.
fn are_bytes_of_address(masks: &[Address]) -> bool {
    let first = &masks[0];
    masks.iter().enumerate().all(|(index, mask)| {
        mask.byte == Some(index as u8)
            && mask.offset == first.offset + index as u64
            && (&mask.symbol, mask.addend, mask.generic) == (&first.symbol, first.addend, first.generic)
    })
}

/// Returns the 64-bit numbers in a variable.
fn printed_numbers(variable: &Variable) -> Vec<u64> {
    let words = variable.bytes.chunks_exact(8);
    words.map(|word| word.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_to_globals() {
        assert_eq!(owner("g12"), Some(12));
        assert_eq!(owner("_ZN34_INTERNAL_9dc6_unit_cu_3n123g12E"), Some(12));
        assert_eq!(owner("_ZL3g12"), Some(12));
        assert_eq!(owner("_ZZ3k12E3g12"), Some(12));
        assert_eq!(owner("_ZN3n123g12ILi0EEE"), Some(12));
        assert_eq!(owner("target"), None);
        assert_eq!(owner("string12"), None);
    }
}
