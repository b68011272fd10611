//! One linked program beside what its modules say.

use ptxsmith_oracle::linking::{Declared, Program};
use ptxsmith_oracle::{Address, Clause, Variable, hex};
use ptxsmith_subject::LinkedVariable;
use ptxsmith_syntax::StateSpace;

use super::{Compared, LinkDifference};
use crate::verdict::Class;

/// Compares a linked program with what its modules say.
pub fn compare(program: &Program, linked: &[LinkedVariable]) -> Compared {
    let mut compared = Compared::default();
    for (name, declared) in &program.shared {
        if declared.iter().any(Declared::is_definition) {
            shared(name, declared, program, linked, &mut compared);
        }
    }
    for (name, declared) in &program.local {
        local(name, declared, program, linked, &mut compared);
    }
    overlaps(linked, &mut compared);
    compared
}

impl Compared {
    fn differs(&mut self, class: Class, name: &str, clause: Clause, expected: String, actual: String) {
        let (name, clause) = (name.to_owned(), Some(clause));
        self.differences.push(LinkDifference { class, name, clause, expected, actual });
    }

    pub(super) fn leave(&mut self, reason: &str) {
        *self.not_compared.entry(reason.to_owned()).or_default() += 1;
    }
}

/// A variable that modules share.
fn shared(
    name: &str,
    declared: &[Declared],
    program: &Program,
    linked: &[LinkedVariable],
    compared: &mut Compared,
) {
    let mut found = linked.iter().filter(|variable| !variable.is_local && variable.name == name);
    let Some(seen) = found.next() else {
        return compared.leave("a variable that the linked program does not have");
    };
    if found.next().is_some() {
        let actual = "two variables of this name".to_owned();
        compared.differs(Class::WrongLayout, name, Clause::StateSpace, "one variable".to_owned(), actual);
        return;
    }
    layout(name, declared, seen, compared);
    let definitions = || declared.iter().filter_map(|one| Some((one.module, one.content.as_ref()?)));
    let mut closest: Option<Vec<Mismatch>> = None;
    for (module, content) in definitions() {
        match mismatches(content, seen, program, linked) {
            Err(reason) => return compared.leave(reason),
            Ok(wrong) if wrong.is_empty() => {
                compared.compared += 1;
                if definitions().any(|(_, other)| other != content) {
                    compared.chosen.insert(name.to_owned(), module);
                }
                return;
            }
            Ok(wrong) if closest.as_ref().is_none_or(|closest| wrong.len() < closest.len()) => {
                closest = Some(wrong);
            }
            Ok(_) => {}
        }
    }
    if let Some(wrong) = closest {
        compared.compared += 1;
        report(name, wrong, compared);
    }
}

/// A variable that only its module sees. Others may have its name: each has its own.
fn local(
    name: &str,
    declared: &Declared,
    program: &Program,
    linked: &[LinkedVariable],
    compared: &mut Compared,
) {
    let Some(content) = &declared.content else { return };
    let found: Vec<_> = linked.iter().filter(|variable| variable.is_local && variable.name == name).collect();
    let namesakes = program.local.iter().filter(|(other, _)| other == name).count();
    match found[..] {
        [] => compared.leave("a variable that the linked program does not have"),
        [seen] if namesakes == 1 => {
            layout(name, std::slice::from_ref(declared), seen, compared);
            match mismatches(content, seen, program, linked) {
                Err(reason) => compared.leave(reason),
                Ok(wrong) => {
                    compared.compared += 1;
                    report(name, wrong, compared);
                }
            }
        }
        _ => {
            let fits = |seen: &&LinkedVariable| {
                mismatches(content, seen, program, linked).is_ok_and(|wrong| wrong.is_empty())
            };
            compared.compared += 1;
            if !found.iter().any(fits) {
                let wrong = vec![Mismatch::Bytes {
                    expected: hex(&content.bytes),
                    actual: "no variable of this name holds it".to_owned(),
                }];
                report(name, wrong, compared);
            }
        }
    }
}

/// Alignment and size.
fn layout(name: &str, declared: &[Declared], seen: &LinkedVariable, compared: &mut Compared) {
    let asked = declared.iter().map(|declared| declared.align).max().unwrap_or(1);
    let shown = seen.variable.align.unwrap_or(u64::MAX);
    if shown < asked {
        let expected = format!("at a multiple of {asked}");
        let actual = format!("at {:#x} of {}, which is aligned to {shown}", seen.place, seen.section);
        compared.differs(Class::WrongLayout, name, Clause::Align, expected, actual);
    }
    let mut sizes = declared.iter().map(|declared| declared.size).filter(|&size| size != 0);
    let first = sizes.next();
    // Which of several sizes counts is not said.
    if let (Some(size), true) = (first, sizes.all(|size| Some(size) == first))
        && seen.variable.size.is_some_and(|seen| seen != size)
    {
        let actual = format!("{} bytes", seen.variable.size.unwrap_or_default());
        compared.differs(Class::WrongLayout, name, Clause::Scalar, format!("{size} bytes"), actual);
    }
}

/// No two variables of a program share a byte.
fn overlaps(linked: &[LinkedVariable], compared: &mut Compared) {
    for pair in linked.windows(2) {
        let [first, second] = pair else { continue };
        let end = first.place.saturating_add(first.variable.size.unwrap_or(0));
        if first.section == second.section && end > second.place && second.variable.size != Some(0) {
            let expected = "bytes of its own".to_owned();
            let actual = format!(
                "at {:#x} of {}, where `{}` has {} bytes at {:#x}",
                second.place,
                second.section,
                first.name,
                end - first.place,
                first.place
            );
            compared.differs(Class::WrongLayout, &second.name, Clause::StateSpace, expected, actual);
        }
    }
}

/// One thing that a variable holds otherwise.
enum Mismatch {
    Bytes { expected: String, actual: String },
    Address { clause: Clause, expected: String, actual: String },
}

fn report(name: &str, wrong: Vec<Mismatch>, compared: &mut Compared) {
    for mismatch in wrong {
        match mismatch {
            Mismatch::Bytes { expected, actual } => {
                compared.differs(Class::WrongValue, name, Clause::DefaultZero, expected, actual);
            }
            Mismatch::Address { clause, expected, actual } => {
                compared.differs(Class::WrongAddress, name, clause, expected, actual);
            }
        }
    }
}

/// How a variable of the program differs from a definition; `Err` where it cannot be compared, with the reason.
fn mismatches(
    content: &Variable,
    seen: &LinkedVariable,
    program: &Program,
    linked: &[LinkedVariable],
) -> Result<Vec<Mismatch>, &'static str> {
    let Some(bytes) = &seen.variable.bytes else {
        return Err("a variable that the reader of cubins does not read");
    };
    let addresses = seen.variable.addresses.as_deref().unwrap_or_default();
    let mut wrong = Vec::new();
    let mut is_address = vec![false; bytes.len()];
    for expected in &content.addresses {
        let slot =
            expected.offset as usize..bytes.len().min((expected.offset + u64::from(expected.width)) as usize);
        is_address[slot.clone()].fill(true);
        let observed = addresses.iter().find(|observed| observed.offset == expected.offset);
        let holds = match observed {
            Some(observed) if observed.width != expected.width && expected.byte.is_none() => {
                return Err("an address in fewer bytes than it has");
            }
            Some(observed) => {
                (observed.symbol == expected.symbol.as_str())
                    && observed.addend == expected.addend
                    && observed.byte == expected.byte
                    && observed.generic.is_none_or(|generic| generic == expected.generic)
            }
            None => match resolved(expected, program, linked) {
                Resolved::Number(number) => number_in(&bytes[slot.clone()]) == masked(number, expected),
                Resolved::Relocation => false,
                Resolved::Unknown(reason) => return Err(reason),
            },
        };
        if !holds {
            let actual = match observed {
                Some(observed) => format!("{} + {}", observed.symbol, observed.addend),
                None => format!("{} without a relocation", hex(&bytes[slot])),
            };
            wrong.push(Mismatch::Address { clause: clause_of(expected), expected: shown(expected), actual });
        }
    }
    for observed in addresses {
        if content.addresses.iter().all(|expected| expected.offset != observed.offset) {
            let actual = format!("{} + {} at byte {}", observed.symbol, observed.addend, observed.offset);
            let expected = "no address".to_owned();
            wrong.push(Mismatch::Address { clause: Clause::VariableAddress, expected, actual });
        }
    }
    let differs = |place: usize| content.bytes.get(place).copied().unwrap_or(0) != bytes[place];
    if (0..bytes.len()).any(|place| !is_address[place] && differs(place)) {
        wrong.push(Mismatch::Bytes { expected: hex(&content.bytes), actual: hex(bytes) });
    }
    Ok(wrong)
}

/// What a linked program has in the place of an address.
enum Resolved {
    Number(u64),
    Relocation,
    Unknown(&'static str),
}

/// The address of a constant without `generic()` is its place in the bank; others are left to the loader.
fn resolved(expected: &Address, program: &Program, linked: &[LinkedVariable]) -> Resolved {
    let name = expected.symbol.as_str();
    let space = program.shared.get(name).map(|declared| declared[0].space).or_else(|| {
        program.local.iter().find(|(local, _)| local == name).map(|(_, declared)| declared.space)
    });
    match space {
        None => Resolved::Unknown("the address of a function, which the linked program has as a number"),
        Some(StateSpace::Const) if !expected.generic => {
            let mut targets = linked.iter().filter(|variable| variable.name == name);
            match (targets.next(), targets.next()) {
                (Some(target), None) => Resolved::Number(target.place.wrapping_add_signed(expected.addend)),
                _ => Resolved::Unknown("the address of one of several variables of one name"),
            }
        }
        Some(StateSpace::Shared) => Resolved::Unknown("the address of a variable in .shared"),
        Some(_) => Resolved::Relocation,
    }
}

fn number_in(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The part of an address that a slot holds.
fn masked(number: u64, expected: &Address) -> u64 {
    match (expected.byte, expected.width) {
        (Some(byte), _) => number >> (8 * byte) & 0xff,
        (None, 8) => number,
        (None, width) => number & ((1 << (8 * width)) - 1),
    }
}

fn clause_of(expected: &Address) -> Clause {
    match expected {
        Address { byte: Some(_), .. } => Clause::Mask,
        Address { generic: true, .. } => Clause::Generic,
        Address { addend: 0, .. } => Clause::VariableAddress,
        _ => Clause::AddressOffset,
    }
}

fn shown(expected: &Address) -> String {
    let plain = match expected.addend {
        0 => expected.symbol.to_string(),
        addend => format!("{} + {addend}", expected.symbol),
    };
    let generic = if expected.generic { format!("generic({plain})") } else { plain };
    match expected.byte {
        Some(byte) => format!("byte {byte} of {generic}"),
        None => generic,
    }
}
