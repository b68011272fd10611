//! Compares one linked program with its modules.

use std::ops::Range;
use std::slice;

use ptxsmith_oracle::linking::{CombinedDeclarations, ModuleDeclaration};
use ptxsmith_oracle::{self as oracle, Clause, Observed, hex};
use ptxsmith_subject::{self as subject, LinkedVariable, Observation};
use ptxsmith_syntax::StateSpace;

use super::{LinkComparison, LinkDifference, reads, symptom};
use crate::compare::{Mismatch, compare_variable};
use crate::verdict::Class;

/// The size of an address in bytes, in the modules that linkers are given.
const ADDRESS_BYTES: u8 = 8;

/// Compares the variables of a linked program, and the constants that its kernels read, with the expected
/// ones.
pub fn compare(program: &CombinedDeclarations, seen: &Observation) -> LinkComparison {
    let mut comparer = VariableComparer { program, seen, result: LinkComparison::default() };
    if let Some(contradiction) = program.contradiction() {
        comparer.result.leave(contradiction);
        return comparer.result;
    }
    for (name, declared) in &program.shared {
        if declared.iter().any(ModuleDeclaration::is_definition) {
            comparer.compare_shared(name, declared);
        }
    }
    for (name, declared) in &program.local {
        comparer.compare_local(name, declared);
    }
    comparer.report_overlaps();
    comparer.result.differences.extend(reads::differences(program, seen));
    comparer.result
}

/// Compares the variables of a program and collects the result.
struct VariableComparer<'a> {
    program: &'a CombinedDeclarations,
    seen: &'a Observation,
    result: LinkComparison,
}

impl VariableComparer<'_> {
    /// Adds a difference of a variable.
    fn report(&mut self, class: Class, name: &str, clauses: Vec<Clause>, expected: String, actual: String) {
        let symptom = symptom::of_variable(self.program, &expected, name);
        let name = name.to_owned();
        self.result.differences.push(LinkDifference { class, name, clauses, expected, actual, symptom });
    }

    /// Returns the variables of the linked program with this name.
    fn named(&self, name: &str, is_local: bool) -> Vec<&LinkedVariable> {
        self.seen
            .linked
            .iter()
            .filter(|variable| variable.is_local == is_local && variable.name == name)
            .collect()
    }

    /// Compares a variable that modules share.
    fn compare_shared(&mut self, name: &str, declared: &[ModuleDeclaration]) {
        let variable = match self.named(name, false)[..] {
            [] => return self.result.leave("a variable that the linked program does not have"),
            [variable] => variable.clone(),
            _ => {
                let actual = "two variables of this name".to_owned();
                return self.report(Class::WrongLayout, name, Vec::new(), "one variable".to_owned(), actual);
            }
        };
        if declared.iter().any(|declaration| declaration.size != 0 && declaration.size != largest(declared)) {
            return self.result.leave("a variable of which modules declare different sizes");
        }
        let definitions: Vec<(usize, &oracle::Variable)> = declared
            .iter()
            .filter_map(|declaration| Some((declaration.module, declaration.content.as_ref()?)))
            .collect();
        let align = declared.iter().map(|declared| declared.align).max().unwrap_or(1);
        let mut first = None;
        for &(module, content) in &definitions {
            match self.compared((module, content), declared, align, &variable) {
                Err(reason) => return self.result.leave(reason),
                Ok(None) => {
                    self.result.compared += 1;
                    if definitions
                        .iter()
                        .any(|(_, other)| bytes_and_addresses(other) != bytes_and_addresses(content))
                    {
                        self.result.chosen.insert(name.to_owned(), module);
                    }
                    return;
                }
                Ok(Some(difference)) => drop(first.get_or_insert(difference)),
            }
        }
        if let Some(difference) = first {
            self.result.compared += 1;
            self.result.differences.push(difference);
        }
    }

    /// Compares a variable that is local to its module. Other modules may have local variables of the same
    /// name.
    fn compare_local(&mut self, name: &str, declared: &ModuleDeclaration) {
        let Some(content) = &declared.content else { return };
        let linked: Vec<LinkedVariable> = self.named(name, true).into_iter().cloned().collect();
        let namesakes = self.program.local.iter().filter(|(other, _)| other == name).count();
        if linked.len() != namesakes {
            return self.result.leave("a variable that the linked program does not have");
        }
        let definition = (declared.module, content);
        let compared: Result<Vec<_>, _> = linked
            .iter()
            .map(|variable| self.compared(definition, slice::from_ref(declared), declared.align, variable))
            .collect();
        match compared {
            Err(reason) => self.result.leave(reason),
            Ok(differences) => {
                self.result.compared += 1;
                if differences.iter().all(Option::is_some) {
                    // Report the difference from the most similar variable with that name: an aligned one, if
                    // there is one.
                    let most_similar = differences
                        .into_iter()
                        .flatten()
                        .min_by_key(|difference| difference.clauses == [Clause::Align]);
                    self.result.differences.extend(most_similar);
                }
            }
        }
    }

    /// Compares a variable of the program with the definition of one module. `Err` with the reason if they
    /// cannot be compared.
    fn compared(
        &self,
        (module, content): (usize, &oracle::Variable),
        declared: &[ModuleDeclaration],
        align: u64,
        seen: &LinkedVariable,
    ) -> Result<Option<LinkDifference>, &'static str> {
        let mut expected = oracle::Variable { align, ..content.clone() };
        let resolved = self.resolve(&mut expected, &seen.variable)?;
        let class = match compare_variable(&expected, &seen.variable, self.seen) {
            None => return Ok(None),
            Some(Mismatch::Unobserved(_)) => {
                return Err("a variable that the reader of cubins does not read");
            }
            Some(Mismatch::Differs(class, _)) => class,
        };
        let wrong_place = resolved.iter().find(|place| place.differs(&expected, &seen.variable));
        let class =
            if class == Class::WrongValue && wrong_place.is_some() { Class::WrongAddress } else { class };
        let is_misaligned = seen.variable.align.is_some_and(|shown| shown < align);
        let symptom = match class {
            Class::WrongLayout if is_misaligned => {
                symptom::of_alignment(declared, seen.variable.align.unwrap_or_default())
            }
            Class::WrongAddress if let Some(place) = wrong_place => {
                symptom::of_place(self.program, module, place.symptom(&seen.variable), &place.symbol)
            }
            Class::WrongAddress => symptom::of_addresses(self.program, module, &expected, &seen.variable),
            Class::WrongLayout => symptom::of_variable(self.program, "size or state space", &content.name),
            _ => symptom::of_variable(self.program, "initial value", &content.name),
        };
        let (clauses, expected, actual) = match class {
            Class::WrongLayout if is_misaligned => {
                let shown = seen.variable.align.unwrap_or_default();
                let actual = format!("at {:#x} of {}, which is aligned to {shown}", seen.place, seen.section);
                (vec![Clause::Align], format!("at a multiple of {align}"), actual)
            }
            Class::WrongLayout => {
                let shown = &seen.variable;
                let actual =
                    size_and_space(shown.size.unwrap_or_default(), shown.space.as_deref().unwrap_or("?"));
                let expected = size_and_space(expected.size, expected.space.name());
                (clauses_of(class, content), expected, actual)
            }
            _ => (clauses_of(class, content), expected_content(&expected), seen_content(&seen.variable)),
        };
        Ok(Some(LinkDifference { class, name: content.name.to_string(), clauses, expected, actual, symptom }))
    }

    /// Replaces the expected addresses that linking resolves to numbers: the address of a constant without
    /// `generic()` becomes its place in the bank. The loader resolves all others. Returns the slots of the
    /// numbers.
    fn resolve(
        &self,
        expected: &mut oracle::Variable,
        seen: &subject::Variable,
    ) -> Result<Vec<ResolvedAddress>, &'static str> {
        let mut resolved = Vec::new();
        let relocated = seen.addresses.as_deref().unwrap_or_default();
        let addresses = std::mem::take(&mut expected.addresses);
        for address in addresses {
            if address.byte.is_none() && address.width < ADDRESS_BYTES {
                return Err("an address in a slot that is too narrow for it");
            }
            let is_relocated = relocated.iter().any(|seen| seen.offset == address.offset);
            match self.program.space_of(&address.symbol) {
                None if !is_relocated => return Err("the address of a function, which may be a number"),
                Some(StateSpace::Shared) => return Err("the address of a variable in .shared"),
                Some(StateSpace::Const) if !address.generic && !is_relocated => {
                    let place = self.place_of_constant(&address.symbol)?;
                    let number = place.wrapping_add_signed(address.addend);
                    let number = number >> (8 * u32::from(address.byte.unwrap_or(0)));
                    let slot = address.offset as usize..(address.offset + u64::from(address.width)) as usize;
                    if let Some(bytes) = expected.bytes.get_mut(slot.clone()) {
                        let width = bytes.len();
                        bytes.copy_from_slice(&number.to_le_bytes()[..width]);
                        let symbol = address.symbol.to_string();
                        resolved.push(ResolvedAddress { slot, symbol, place, addend: address.addend });
                    }
                }
                _ => expected.addresses.push(address),
            }
        }
        Ok(resolved)
    }

    fn place_of_constant(&self, name: &str) -> Result<u64, &'static str> {
        let mut found = self.seen.linked.iter().filter(|variable| variable.name == name);
        match (found.next(), found.next()) {
            (Some(variable), None) => Ok(variable.place),
            _ => Err("the address of one of several variables of one name"),
        }
    }

    /// Reports variables that share bytes.
    fn report_overlaps(&mut self) {
        let seen = self.seen;
        for pair in seen.linked.windows(2) {
            let [first, second] = pair else { continue };
            let end = first.place.saturating_add(first.variable.size.unwrap_or(0));
            if first.section == second.section && end > second.place {
                let expected = "bytes of its own".to_owned();
                let actual = format!(
                    "at {:#x} of {}, where `{}` ends at {end:#x}",
                    second.place, second.section, first.name
                );
                self.report(Class::WrongLayout, &second.name, Vec::new(), expected, actual);
            }
        }
    }
}

/// A slot of a variable that contains the place of a constant in the bank.
struct ResolvedAddress {
    slot: Range<usize>,
    symbol: String,
    place: u64,
    addend: i64,
}

impl ResolvedAddress {
    fn differs(&self, expected: &oracle::Variable, seen: &subject::Variable) -> bool {
        expected.bytes.get(self.slot.clone()) != self.seen(seen)
    }

    /// Describes a wrong number in the slot.
    fn symptom(&self, seen: &subject::Variable) -> &'static str {
        let mut number = [0; 8];
        let bytes = self.seen(seen).unwrap_or_default();
        let width = bytes.len().min(number.len());
        number[..width].copy_from_slice(&bytes[..width]);
        match u64::from_le_bytes(number) {
            0 if self.place == 0 && self.addend != 0 => symptom::NO_ADDRESS_OR_OFFSET,
            0 => symptom::NO_ADDRESS,
            seen if seen == self.place && self.addend != 0 => symptom::ANOTHER_OFFSET,
            _ => "another place",
        }
    }

    fn seen<'s>(&self, seen: &'s subject::Variable) -> Option<&'s [u8]> {
        seen.bytes.as_deref()?.get(self.slot.clone())
    }
}

fn bytes_and_addresses(content: &oracle::Variable) -> (&[u8], &[oracle::Address]) {
    (&content.bytes, &content.addresses)
}

fn largest(declared: &[ModuleDeclaration]) -> u64 {
    declared.iter().map(|declared| declared.size).max().unwrap_or(0)
}

/// Returns the clauses that a difference of this class violates, among those on which the definition rests.
fn clauses_of(class: Class, content: &oracle::Variable) -> Vec<Clause> {
    let observed = match class {
        Class::WrongAddress => Observed::Address,
        Class::WrongValue => Observed::Value,
        _ => Observed::Layout,
    };
    content.trace.clauses.iter().filter(|clause| clause.observed() == observed).collect()
}

fn size_and_space(size: u64, space: &str) -> String {
    format!("{size} bytes in .{space}")
}

/// Renders the bytes and the addresses of an expected variable.
fn expected_content(expected: &oracle::Variable) -> String {
    let mut text = hex(&expected.bytes);
    for address in &expected.addresses {
        let place = with_addend(&address.symbol, address.addend);
        let address_text = if address.generic { format!("generic({place})") } else { place };
        text += &at_offset(address.offset, address.byte, &address_text);
    }
    text
}

/// Renders the bytes and the addresses of a linked variable.
fn seen_content(variable: &subject::Variable) -> String {
    let mut text = hex(variable.bytes.as_deref().unwrap_or_default());
    for address in variable.addresses.iter().flatten() {
        let place = with_addend(&address.symbol, address.addend);
        text += &at_offset(address.offset, address.byte, &place);
    }
    text
}

fn with_addend(symbol: &str, addend: i64) -> String {
    if addend == 0 { symbol.to_owned() } else { format!("{symbol}{addend:+}") }
}

fn at_offset(offset: u64, byte: Option<u8>, address: &str) -> String {
    let byte = byte.map(|byte| format!("byte {byte} of ")).unwrap_or_default();
    format!(", at {offset} {byte}{address}")
}
