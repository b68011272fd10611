//! Compares the memory that kernels access with the memory that the generated code accesses.
//!
//! The oracle and the code run over the same numbers ([`Setting`]). A compiler may change the width and the
//! order of accesses, remove those without effect and merge neighbouring ones. So the comparison is by byte,
//! not by instruction: every byte that the code accesses must be accessed in the same way by the PTX source,
//! and the code must write every `.global` byte that the source writes, with the same value.

mod misplaced;

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{
    AccessKind, KernelAccesses, MemoryAccess, MemoryEffects, Setting, VariablePlacement, WINDOWS,
};
use ptxsmith_subject::{self as subject, FUNCTIONS, Observation, Outcome, Places, Space, Tracing};
use ptxsmith_syntax::{Role, Span, StateSpace};

use crate::verdict::{Class, CodeCounts};

use self::misplaced::misplaced;

/// A place where the code of a kernel accesses memory differently from its PTX source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessFault {
    /// The name of the kernel.
    pub kernel: String,
    /// The kind of difference.
    pub class: Class,
    /// The access in the PTX source, in words.
    pub expected: String,
    /// The access of the code instead, in words.
    pub seen: String,
    /// The PTX instruction that should have made the access, if it is known.
    pub span: Option<Span>,
}

/// Returns true if the observation agrees with the kernels under some other rules. Rules that leave unknown a
/// place or value that differs under the `usual` rules do not agree: the unknown part could be anything.
pub(crate) fn agree(kernels: &[KernelAccesses], usual: &[KernelAccesses], observed: &Observation) -> bool {
    kernels.len() == usual.len()
        && kernels.iter().zip(usual).all(|(kernel, usual)| kernel_agrees(kernel, usual, observed))
        && misplaced(kernels, observed).is_empty()
}

/// Returns true if the observation agrees with one kernel under some other rules: see [`agree`].
fn kernel_agrees(kernel: &KernelAccesses, usual: &KernelAccesses, observed: &Observation) -> bool {
    let Some(seen) = observed.reached.get(kernel.name.as_str()) else { return true };
    let (expected, usual) = match (&kernel.reached, &usual.reached) {
        (Ok(expected), Ok(usual)) => (expected, usual),
        (expected, usual) => return expected.is_err() && usual.is_err(),
    };
    let faults = AccessComparison::new(usual, seen).faults(&kernel.name);
    let by_value = faults.iter().any(|fault| fault.class == Class::WrongValue);
    known_places(expected) >= known_places(usual)
        && (!by_value || known_values(expected) >= known_values(usual))
        && AccessComparison::new(expected, seen).faults(&kernel.name).is_empty()
}

/// Returns the number of accesses with a known place.
fn known_places(reached: &MemoryEffects) -> usize {
    reached.accesses.iter().filter(|access| access.place.is_ok()).count()
}

/// Returns the number of written bytes with a known value.
fn known_values(reached: &MemoryEffects) -> usize {
    reached.written.values().flatten().count()
}

/// Returns the runs for the kernels that have known accesses.
pub(crate) fn tracings(kernels: &[KernelAccesses]) -> Vec<Tracing> {
    let mut tracings = Vec::new();
    for kernel in kernels {
        if let Ok(reached) = &kernel.reached
            && !reached.accesses.is_empty()
        {
            tracings.push(tracing_of(&kernel.name, &reached.setting));
        }
    }
    tracings
}

/// Returns the run of a kernel over the same numbers that the oracle used.
pub(crate) fn tracing_of(kernel: &str, setting: &Setting) -> Tracing {
    let Setting { parameters, variables, specials, lanes, memory } = setting;
    let mut initial: BTreeMap<(Space, u64), Vec<Option<u8>>> = BTreeMap::new();
    for (&(space, address), &byte) in memory {
        let Some(space) = space_of(space) else { continue };
        match initial.last_entry() {
            Some(mut run) if (space, address) == (run.key().0, run.key().1 + run.get().len() as u64) => {
                run.get_mut().push(Some(byte));
            }
            _ => {
                initial.insert((space, address), vec![Some(byte)]);
            }
        }
    }
    Tracing {
        kernel: kernel.to_owned(),
        parameters: parameters.clone(),
        module: places_of(variables, false),
        own: places_of(variables, true),
        windows: WINDOWS.iter().filter_map(|&(space, start)| Some((space_of(space)?, start))).collect(),
        specials: named(specials),
        lanes: lanes.iter().map(named).collect(),
        memory: initial,
        junk: None,
    }
}

/// Returns the places of the kernel's own variables or of those of the module.
fn places_of(variables: &[VariablePlacement], own: bool) -> Places {
    let mut places = Places::default();
    for variable in variables.iter().filter(|variable| variable.own == own) {
        let (count, apart) = variable.several.unwrap_or_default();
        let role = variable.several.map_or(Role::Variable, |_| Role::Prefix(count));
        places.declare_by_role(&variable.name, role, (variable.start, apart));
    }
    places
}

fn named(specials: &BTreeMap<&'static str, u32>) -> BTreeMap<String, u32> {
    specials.iter().map(|(&name, &value)| (name.to_owned(), value)).collect()
}

fn space_of(space: StateSpace) -> Option<Space> {
    Some(match space {
        StateSpace::Global => Space::Global,
        StateSpace::Const => Space::Const,
        StateSpace::Shared => Space::Shared,
        StateSpace::Local => Space::Local,
        _ => return None,
    })
}

/// Compares the accesses of kernels with the observed ones. Returns counts of the memory operands and the
/// differences.
pub(crate) fn compare(kernels: &[KernelAccesses], observed: &Observation) -> (CodeCounts, Vec<AccessFault>) {
    let mut operands = CodeCounts::default();
    let mut faults = Vec::new();
    for kernel in kernels {
        match (&kernel.reached, observed.reached.get(kernel.name.as_str())) {
            (Err(reason), _) => operands.leave(*reason, kernel.operands),
            (Ok(reached), None) => {
                let reason = match observed.outcome {
                    Outcome::Unavailable => "the implementation does not show its code",
                    Outcome::Accepted => "the implementation shows no code of the kernel",
                    _ => "the implementation does not accept the module as relocatable output",
                };
                operands.leave(reason, reached.accesses.len());
            }
            (Ok(reached), Some(seen)) => {
                // Under another answer the kernel may access other places, or any place: no access would be a
                // difference.
                if !kernel.trace.questions.is_empty() {
                    operands.leave("an open question decides what is reached", reached.accesses.len());
                    continue;
                }
                let comparison = AccessComparison::new(reached, seen);
                comparison.count(&mut operands);
                faults.extend(comparison.faults(&kernel.name));
            }
        }
    }
    faults.extend(misplaced(kernels, observed));
    (operands, faults)
}

type ByteSet = BTreeSet<(Space, u64)>;

/// The PTX source and the code of a kernel, with the bytes that each accesses.
struct AccessComparison<'a> {
    text: &'a MemoryEffects,
    code: &'a subject::Reached,
    read: ByteSet,
    written: ByteSet,
    code_read: ByteSet,
    code_written: ByteSet,
    /// The bytes of the code's accesses that the PTX source must make too (see [`is_held`]).
    held_read: ByteSet,
    held_written: ByteSet,
    /// Whether the PTX or the code may read or write further bytes, which are not known.
    text_reads_more: bool,
    text_writes_more: bool,
    code_reads_more: bool,
    code_writes_more: bool,
}

fn bytes_of(place: Option<(Space, u64)>, width: u64) -> impl Iterator<Item = (Space, u64)> {
    place.into_iter().flat_map(move |(space, at)| (0..width).map(move |nth| (space, at.wrapping_add(nth))))
}

fn place_of(access: &MemoryAccess) -> Option<(Space, u64)> {
    let (space, at) = access.place.ok()?;
    Some((space_of(space)?, at))
}

/// Returns the bytes of the source's accesses that are made in one of these ways.
fn bytes_of_accesses(text: &MemoryEffects, ways: [AccessKind; 2]) -> ByteSet {
    text.accesses
        .iter()
        .filter(|access| ways.contains(&access.way))
        .flat_map(|access| bytes_of(place_of(access), access.width))
        .collect()
}

/// Returns true if the source makes an access in one of these ways at an unknown place.
fn has_unknown_place(text: &MemoryEffects, ways: [AccessKind; 2]) -> bool {
    text.accesses.iter().any(|access| ways.contains(&access.way) && place_of(access).is_none())
}

/// Returns the bytes of the code's accesses that are selected.
fn bytes_of_reaches(code: &subject::Reached, selects: impl Fn(&subject::Reach) -> bool) -> ByteSet {
    code.reaches
        .iter()
        .filter(|reach| selects(reach))
        .flat_map(|reach| bytes_of(reach.place, reach.width))
        .collect()
}

impl<'a> AccessComparison<'a> {
    fn new(text: &'a MemoryEffects, code: &'a subject::Reached) -> AccessComparison<'a> {
        const READS: [AccessKind; 2] = [AccessKind::Read, AccessKind::Both];
        const WRITES: [AccessKind; 2] = [AccessKind::Write, AccessKind::Both];
        let text_reads_more = has_unknown_place(text, READS);
        let text_writes_more = has_unknown_place(text, WRITES);
        let is_lost = code.lost.is_some();
        AccessComparison {
            text,
            code,
            read: bytes_of_accesses(text, READS),
            written: bytes_of_accesses(text, WRITES),
            code_read: bytes_of_reaches(code, |reach| reach.reads),
            code_written: bytes_of_reaches(code, |reach| reach.writes),
            held_read: bytes_of_reaches(code, |reach| {
                reach.reads && !reach.writes && is_held(reach, text_reads_more)
            }),
            held_written: bytes_of_reaches(code, |reach| reach.writes && is_held(reach, text_writes_more)),
            text_reads_more,
            text_writes_more,
            code_reads_more: is_lost || code.reaches.iter().any(|reach| reach.reads && reach.place.is_none()),
            code_writes_more: is_lost
                || code.reaches.iter().any(|reach| reach.writes && reach.place.is_none()),
        }
    }

    /// Returns true if the code accesses any byte of this access.
    fn is_met(&self, access: &MemoryAccess) -> bool {
        let seen = if access.way == AccessKind::Read { &self.code_read } else { &self.code_written };
        bytes_of(place_of(access), access.width).any(|byte| seen.contains(&byte))
    }

    /// Returns true if the code must make this access, or makes it and may not access any other place
    /// instead.
    fn is_compared(&self, access: &MemoryAccess) -> bool {
        let held = if access.way == AccessKind::Read { &self.held_read } else { &self.held_written };
        self.must_be_written(access)
            || bytes_of(place_of(access), access.width).any(|byte| held.contains(&byte))
    }

    /// Returns true if the code has to write all bytes of this access.
    fn must_be_written(&self, access: &MemoryAccess) -> bool {
        access.way == AccessKind::Write
            && !access.idle
            && !self.code_writes_more
            && matches!(access.place, Ok((StateSpace::Global, _)))
    }

    /// Returns true if the code has to write the bytes of this access and leaves some out.
    fn is_missed(&self, access: &MemoryAccess) -> bool {
        self.must_be_written(access)
            && bytes_of(place_of(access), access.width).any(|byte| !self.code_written.contains(&byte))
    }

    fn count(&self, operands: &mut CodeCounts) {
        let unseen = match &self.code.lost {
            Some(lost) => format!("the code is not followed: {lost}"),
            None => "the code reaches places that are not known".to_owned(),
        };
        for access in &self.text.accesses {
            let more =
                if access.way == AccessKind::Read { self.code_reads_more } else { self.code_writes_more };
            match access.place {
                Err(reason) => operands.leave(reason, 1),
                Ok((StateSpace::Local, _)) if self.code.reaches.iter().any(is_local) => {
                    operands.leave("a variable in .local, which the implementation lays out", 1);
                }
                Ok(_) if self.is_compared(access) => operands.compared += 1,
                Ok((StateSpace::Local, _)) => operands.removed += 1,
                Ok(_) if self.is_met(access) => {
                    operands.leave("the text or the code may reach further places, which are not known", 1);
                }
                Ok(_) if more => operands.leave(unseen.as_str(), 1),
                Ok(_) => operands.removed += 1,
            }
        }
    }

    /// Returns the differences between the source and the code. `kernel` is the name for the report.
    fn faults(&self, kernel: &str) -> Vec<AccessFault> {
        let missed = self.text.accesses.iter().filter(|access| self.is_missed(access));
        let stray = self.code.reaches.iter().filter(|reach| self.is_stray(reach));
        let mut faults: Vec<AccessFault> = missed.map(|access| self.missed_fault(kernel, access)).collect();
        faults.extend(stray.map(|reach| self.stray_fault(kernel, reach)));
        let mut wrong_values = Vec::new();
        for (&place, &value) in &self.text.written {
            if self.is_other(place, value) {
                wrong_values.push(self.value_fault(kernel, place));
            }
        }
        wrong_values.dedup();
        faults.extend(wrong_values);
        faults
    }

    /// Describes an access of the source that the code does not make.
    fn missed_fault(&self, kernel: &str, access: &MemoryAccess) -> AccessFault {
        AccessFault {
            kernel: kernel.to_owned(),
            class: Class::WrongAddress,
            expected: format!("writes {}", self.place_in_words(place_of(access), access.width)),
            seen: "writes nothing there".to_owned(),
            span: Some(access.span),
        }
    }

    /// Describes an access of the code that the source does not make.
    fn stray_fault(&self, kernel: &str, reach: &subject::Reach) -> AccessFault {
        let verb = if reach.writes { "writes" } else { "reads" };
        let place = self.place_in_words(reach.place, reach.width);
        let seen = format!("{} {verb} {place}", reach.instruction);
        // If the code omits exactly one such access, that access is probably the misplaced one.
        let mut omitted = self.text.accesses.iter().filter(|access| {
            (access.way == AccessKind::Read) != reach.writes
                && access.width == reach.width
                && !self.is_met(access)
        });
        let (span, expected) = match (omitted.next(), omitted.next()) {
            (Some(access), None) => {
                let place = self.place_in_words(place_of(access), access.width);
                (Some(access.span), format!("{verb} {place}"))
            }
            _ => (None, format!("{verb} nothing there")),
        };
        AccessFault { kernel: kernel.to_owned(), class: Class::WrongAddress, expected, seen, span }
    }

    /// Describes a wrong value in this byte, with the whole scalar that the last write to it stores.
    fn value_fault(&self, kernel: &str, (space, address): (StateSpace, u64)) -> AccessFault {
        let writer = self.text.accesses.iter().rev().find(|access| {
            let Ok((written_space, start)) = access.place else { return false };
            access.way != AccessKind::Read
                && written_space == space
                && (start..start + access.width).contains(&address)
        });
        let (start, width) = match writer {
            Some(MemoryAccess { place: Ok((_, start)), width: width @ ..=8, .. }) => (*start, *width),
            _ => (address, 1),
        };
        let place = self.place_in_words(space_of(space).map(|space| (space, start)), width);
        let expected = self
            .number_in_words(width, |nth| self.text.written.get(&(space, start + nth)).copied().flatten());
        let seen = self.number_in_words(width, |nth| {
            self.code.written.get(&(space_of(space)?, start + nth)).copied().flatten()
        });
        AccessFault {
            kernel: kernel.to_owned(),
            class: Class::WrongValue,
            expected: format!("sets {place} to {expected}"),
            seen: format!("sets {place} to {seen}"),
            span: writer.map(|access| access.span),
        }
    }

    /// Returns true if the code leaves another value in a byte that the source writes.
    fn is_other(&self, (space, at): (StateSpace, u64), value: Option<u8>) -> bool {
        let seen = self.code.written.get(&(Space::Global, at)).copied().flatten();
        let more = self.text_writes_more || self.code_writes_more;
        space == StateSpace::Global && !more && seen.is_some_and(|seen| value.is_some_and(|own| own != seen))
    }

    /// Describes a number of `width` bytes, with the variable that it points to or near if there is exactly
    /// one.
    fn number_in_words(&self, width: u64, byte: impl Fn(u64) -> Option<u8>) -> String {
        let mut bytes = (0..width).rev().map(byte);
        let Some(number) = bytes.try_fold(0, |sum, byte| Some(sum << 8 | u64::from(byte?))) else {
            return "another number".to_owned();
        };
        if FUNCTIONS.contains(&number) {
            return format!("{number:#x} (the address of a function)");
        }
        let spaces = [Space::Global, Space::Const, Space::Shared];
        let mut near = spaces.into_iter().filter_map(|space| self.near(space, number));
        match (near.next(), near.next()) {
            (Some(near), None) if width >= 4 => format!("{number:#x} ({near})"),
            _ => format!("{number:#x}"),
        }
    }

    /// Describes a place in words, relative to a nearby variable if there is one and else by its address.
    fn place_in_words(&self, place: Option<(Space, u64)>, width: u64) -> String {
        let Some((space, at)) = place else { return "a place that is not known".to_owned() };
        let bytes = if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
        match self.near(space, at) {
            Some(near) => format!("{bytes} at {near}"),
            None => format!("{bytes} at {at:#x} of {space:?}").to_lowercase(),
        }
    }

    /// Describes a place as an offset from a variable or from the target of a pointer parameter, if it is
    /// near one.
    fn near(&self, space: Space, at: u64) -> Option<String> {
        /// The greatest distance in bytes that counts as near.
        const NEAR: u64 = 1 << 16;
        let setting = &self.text.setting;
        for variable in setting.variables.iter().filter(|variable| space_of(variable.space) == Some(space)) {
            // The variables of a parameterized name lie so far apart that a place is near at most one of
            // them.
            let (count, apart) = variable.several.unwrap_or((1, u64::MAX));
            let Some(last) = count.checked_sub(1) else { continue };
            let nth = (at.saturating_sub(variable.start) / apart).min(last);
            let Some(start) = variable.nth(nth) else { continue };
            let end = start.saturating_add(variable.size.unwrap_or(NEAR));
            if (start.saturating_sub(NEAR)..end.saturating_add(NEAR)).contains(&at) {
                let name = variable.name_of(nth);
                let owner = if variable.own && self.is_hidden(&name) { "the kernel's " } else { "" };
                return Some(with_offset(format!("{owner}{name}"), at.wrapping_sub(start)));
            }
        }
        if space != Space::Global {
            return None;
        }
        for (nth, (_, bytes)) in setting.parameters.iter().enumerate() {
            let Ok(bytes) = bytes.as_slice().try_into() else { continue };
            let start = u64::from_le_bytes(bytes);
            if (start.saturating_sub(NEAR)..start.saturating_add(NEAR)).contains(&at) {
                return Some(with_offset(format!("the pointer in parameter {nth}"), at.wrapping_sub(start)));
            }
        }
        None
    }

    /// Returns true if the module declares this name too.
    fn is_hidden(&self, name: &str) -> bool {
        let mut of_module = self.text.setting.variables.iter().filter(|variable| !variable.own);
        of_module.any(|variable| match variable.several {
            None => variable.name == name,
            Some((count, _)) => name
                .strip_prefix(variable.name.as_str())
                .and_then(ptxsmith_syntax::numbered)
                .is_some_and(|nth| nth < count),
        })
    }

    /// Returns true if the source does not make this access of the code.
    fn is_stray(&self, reach: &subject::Reach) -> bool {
        let (expected, more) = if reach.writes {
            (&self.written, self.text_writes_more)
        } else {
            (&self.read, self.text_reads_more)
        };
        is_held(reach, more) && bytes_of(reach.place, reach.width).any(|byte| !expected.contains(&byte))
    }
}

fn with_offset(name: String, offset: u64) -> String {
    match offset as i64 {
        0 => name,
        offset => format!("{name} {offset:+}"),
    }
}

/// Returns true if this access of the code must also be one of the source. `more` says that the source may
/// access further, unknown places.
fn is_held(reach: &subject::Reach, more: bool) -> bool {
    let Some((space, address)) = reach.place else { return false };
    // The low addresses of state spaces other than `.global` hold data of the implementation.
    let is_of_implementation = space == Space::Local || space != Space::Global && address < 1 << 20;
    reach.certain && !more && !is_of_implementation
}

fn is_local(reach: &subject::Reach) -> bool {
    matches!(reach.place, Some((Space::Local, _)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, Rules, accesses, expect};
    use ptxsmith_subject::Reach;

    /// Compares a kernel that stores 5 through its parameter with code that makes these accesses, given as
    /// offsets from the parameter.
    fn compared(code: &[(bool, i64, u64)], value: u8) -> (CodeCounts, Vec<AccessFault>) {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
            .reg .u32 %r<4>;\n.reg .u64 %p;\nld.param.u64 %p, [p];\nld.global.u32 %r1, [%p+4];\n\
            ld.global.u32 %r2, [%p];\nst.global.u8 [%p+8], 5;\nret;\n}\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        let kernels = accesses(&module, &variables, &Rules::default());
        let [tracing] = <[Tracing; 1]>::try_from(tracings(&kernels)).unwrap();
        let base = u64::from_le_bytes(tracing.parameters[0].1.clone().try_into().unwrap());
        let mut seen = subject::Reached::default();
        for &(writes, offset, width) in code {
            let place = Some((Space::Global, base.wrapping_add_signed(offset)));
            let instruction = "LDG".to_owned();
            seen.reaches.push(Reach { instruction, reads: !writes, writes, width, place, certain: true });
            if writes {
                seen.written.extend(bytes_of(place, width).map(|byte| (byte, Some(value))));
            }
        }
        let mut observed = Observation::new(Outcome::Accepted);
        observed.reached.insert("k".to_owned(), seen);
        compare(&kernels, &observed)
    }

    #[test]
    fn joined_and_removed_accesses_agree_and_others_go_astray() {
        let (counts, astray) = compared(&[(false, 0, 8), (true, 8, 1)], 5);
        assert_eq!((counts.compared, counts.removed, astray), (3, 0, vec![]));
        let (counts, astray) = compared(&[(true, 8, 1)], 5);
        assert_eq!((counts.compared, counts.removed, astray), (1, 2, vec![]));
        let classes = |code: &[_], value| -> Vec<Class> {
            compared(code, value).1.iter().map(|astray| astray.class).collect()
        };
        assert_eq!(classes(&[(true, 8, 1)], 6), [Class::WrongValue]);
        assert_eq!(classes(&[], 5), [Class::WrongAddress], "nothing is written");
        assert_eq!(classes(&[(true, 9, 1)], 5), [Class::WrongAddress; 2], "missed, and elsewhere instead");
        assert_eq!(classes(&[(false, -4, 4), (true, 8, 1)], 5), [Class::WrongAddress]);
        let told = |code: &[_], value| {
            let AccessFault { expected, seen, .. } = compared(code, value).1.remove(0);
            (expected, seen)
        };
        let told_value = told(&[(true, 8, 1)], 6);
        let place = "sets 1 byte at the pointer in parameter 0 +8 to";
        assert_eq!(told_value, (format!("{place} 0x5"), format!("{place} 0x6")));
        let told_place = told(&[(false, 4, 4), (false, 1 << 20, 4), (true, 8, 1)], 5);
        assert_eq!(told_place.0, "reads 4 bytes at the pointer in parameter 0");
        assert!(told_place.1.starts_with("LDG reads 4 bytes at 0x7d"), "{told_place:?}");
    }

    #[test]
    fn accesses_that_an_open_question_decides_are_not_compared() {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 m[2][3];\n.visible .entry k()\n{\n\
            .reg .u32 %r;\nld.global.u32 %r, m[1];\nst.global.u32 [m], %r;\nret;\n}\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        let kernels = accesses(&module, &variables, &Rules::default());
        let [tracing] = <[Tracing; 1]>::try_from(tracings(&kernels)).unwrap();
        let base = *tracing.module.find("m", |_, _| None).declared().unwrap();
        // By the default answer the elements are rows, so that this is another place.
        let place = Some((Space::Global, base.0 + 4));
        let instruction = "LDG".to_owned();
        let mut seen = subject::Reached::default();
        seen.reaches.push(Reach { instruction, reads: true, writes: false, width: 4, place, certain: true });
        let mut observed = Observation::new(Outcome::Accepted);
        observed.reached.insert("k".to_owned(), seen);
        let (operands, astray) = compare(&kernels, &observed);
        assert_eq!((operands.compared, astray), (0, vec![]));
    }

    /// Code proves nothing about effects that rules leave unknown: it agrees only with rules that leave
    /// unknown the same kernels.
    #[test]
    fn rules_that_say_nothing_of_a_kernel_agree_where_the_usual_ones_say_nothing_either() {
        let told = |body: &str| {
            let text = format!(
                ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
                 .reg .u64 %p;\n.reg .pred %q;\nld.param.u64 %p, [p];\n{body}\nret;\n}}\n"
            );
            let module = ptxsmith_syntax::parse(&text).unwrap();
            let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
                panic!()
            };
            accesses(&module, &variables, &Rules::default())
        };
        let (told, untold) = (told("st.global.u8 [%p], 5;"), told("L: @%q bra L;"));
        assert!(told[0].reached.is_ok() && untold[0].reached.is_err());
        let mut observed = Observation::new(Outcome::Accepted);
        observed.reached.insert("k".to_owned(), subject::Reached::default());
        assert!(agree(&untold, &untold, &observed));
        assert!(!agree(&untold, &told, &observed) && !agree(&told, &untold, &observed));
        assert!(agree(&untold, &told, &Observation::new(Outcome::Accepted)), "nothing is seen of it");
    }
}
