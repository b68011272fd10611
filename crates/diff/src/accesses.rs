//! Compares the memory that kernels access with the memory that the generated code accesses.
//!
//! The oracle and the code run over the same numbers ([`Setting`]). A compiler may change the width and the order of
//! accesses, remove those without effect and merge neighbouring ones. So the comparison is by byte, not by
//! instruction: every byte that the code accesses must be accessed in the same way by the PTX source, and the code must
//! write every `.global` byte that the source writes, with the same value.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Access, Placed, Reached, Setting, Traced, WINDOWS, Way};
use ptxsmith_subject::{self as subject, FUNCTIONS, Observation, Outcome, Places, Space, Tracing};
use ptxsmith_syntax::{Role, Span, StateSpace};

use crate::compare::{Mismatch, compare_variable};
use crate::verdict::{Class, CodeCounts};

/// A place where the code of a kernel accesses memory differently from its PTX source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Astray {
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

/// Returns true if the observation agrees with the kernels under some other rules. Rules that leave unknown a place
/// or value that differs under the `usual` rules do not agree: the unknown part could be anything.
pub(crate) fn agree(kernels: &[Traced], usual: &[Traced], observed: &Observation) -> bool {
    let places = |reached: &Reached| reached.accesses.iter().filter(|access| access.place.is_ok()).count();
    let values = |reached: &Reached| reached.written.values().flatten().count();
    let agrees = |(kernel, usual): (&Traced, &Traced)| {
        let Some(seen) = observed.reached.get(kernel.name.as_str()) else { return true };
        let (own, usual) = match (&kernel.reached, &usual.reached) {
            (Ok(own), Ok(usual)) => (own, usual),
            (own, usual) => return own.is_err() && usual.is_err(),
        };
        let differs = Compared::new(usual, seen).astray(&kernel.name);
        let by_value = differs.iter().any(|astray| astray.class == Class::WrongValue);
        places(own) >= places(usual)
            && (!by_value || values(own) >= values(usual))
            && Compared::new(own, seen).astray(&kernel.name).is_empty()
    };
    kernels.len() == usual.len()
        && kernels.iter().zip(usual).all(agrees)
        && misplaced(kernels, observed).is_empty()
}

/// Returns the runs for the kernels that have known accesses.
pub(crate) fn tracings(kernels: &[Traced]) -> Vec<Tracing> {
    let shown = |kernel: &Traced| {
        let reached = kernel.reached.as_ref().ok().filter(|reached| !reached.accesses.is_empty())?;
        Some(tracing_of(&kernel.name, &reached.setting))
    };
    kernels.iter().filter_map(shown).collect()
}

/// Returns the run of a kernel over the same numbers that the oracle used.
pub(crate) fn tracing_of(kernel: &str, setting: &Setting) -> Tracing {
    let Setting { parameters, variables, specials, lanes, memory } = setting;
    let places = |own: bool| {
        let mut places = Places::default();
        for one in variables.iter().filter(|variable| variable.own == own) {
            let (count, apart) = one.several.unwrap_or_default();
            let role = one.several.map_or(Role::Variable, |_| Role::Prefix(count));
            places.declare_by_role(&one.name, role, (one.start, apart));
        }
        places
    };
    let memory =
        memory.iter().filter_map(|(&(space, at), &byte)| Some(((space_of(space)?, at), vec![Some(byte)])));
    Tracing {
        kernel: kernel.to_owned(),
        parameters: parameters.clone(),
        module: places(false),
        own: places(true),
        windows: WINDOWS.iter().filter_map(|&(space, start)| Some((space_of(space)?, start))).collect(),
        specials: named(specials),
        lanes: lanes.iter().map(named).collect(),
        memory: memory.collect(),
        junk: None,
    }
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
pub(crate) fn compare(kernels: &[Traced], observed: &Observation) -> (CodeCounts, Vec<Astray>) {
    let (mut operands, mut astray) = (CodeCounts::default(), Vec::new());
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
                let compared = Compared::new(reached, seen);
                compared.count(&mut operands);
                astray.extend(compared.astray(&kernel.name));
            }
        }
    }
    astray.extend(misplaced(kernels, observed));
    (operands, astray)
}

/// Returns the kernel variables that the code gives another size or content, or that share a symbol with a variable
/// of another kernel.
fn misplaced(kernels: &[Traced], observed: &Observation) -> Vec<Astray> {
    let mut found = Vec::new();
    // The kernel that first used each symbol for a variable.
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for kernel in kernels {
        let (Ok(reached), Some(seen)) = (&kernel.reached, observed.reached.get(kernel.name.as_str())) else {
            continue;
        };
        for (symbol, place) in &seen.symbols {
            let Some(shown) = observed.variables.get(symbol.as_str()) else { continue };
            let is_there = |variable: &&Placed| {
                variable.own && shown.space.as_deref().is_some_and(|space| space == variable.space.name())
            };
            let own = reached.setting.variables.iter().filter(is_there);
            let own = own.filter_map(|variable| Some((variable, variable.holds(*place)?.0))).next();
            let Some((variable, nth)) = own else { continue };
            let name = variable.name_of(nth);
            let one = |class, expected, seen| Astray {
                kernel: kernel.name.to_string(),
                class,
                expected,
                seen,
                span: None,
            };
            if let (Some(size), Some(seen)) = (variable.size, shown.size)
                && size != seen
            {
                let seen = format!("{symbol} of {seen} bytes");
                found.push(one(Class::WrongLayout, format!("has a variable {name} of {size} bytes"), seen));
            } else if let Some(initial) = &variable.initial
                && let Some(Mismatch::Differs(class, _)) = compare_variable(initial, shown, observed)
            {
                let told = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                let seen = shown.bytes.as_deref().map_or_else(String::new, told);
                let expected = format!("has a variable {name} that holds {} at first", told(&initial.bytes));
                found.push(one(class, expected, format!("{symbol} holds {seen}")));
            }
            // Sharing matters only in `.global`, where one kernel sees the writes of another.
            let first = match variable.space {
                StateSpace::Global => *taken.entry(symbol).or_insert(&kernel.name),
                _ => &kernel.name,
            };
            if first != kernel.name.as_str() {
                let seen = format!("{symbol}, which is {name} of {first} as well");
                found.push(one(Class::WrongLayout, format!("has a variable {name} of its own"), seen));
            }
        }
    }
    found
}

type Bytes = BTreeSet<(Space, u64)>;

/// The PTX source and the code of a kernel, with the bytes that each accesses.
struct Compared<'a> {
    text: &'a Reached,
    code: &'a subject::Reached,
    read: Bytes,
    written: Bytes,
    code_read: Bytes,
    code_written: Bytes,
    /// The bytes of the code's accesses that the PTX source must make too (see [`is_held`]).
    held_read: Bytes,
    held_written: Bytes,
    /// Whether the PTX or the code may read or write further bytes, which are not known.
    text_reads_more: bool,
    text_writes_more: bool,
    code_reads_more: bool,
    code_writes_more: bool,
}

fn bytes_of(place: Option<(Space, u64)>, width: u64) -> impl Iterator<Item = (Space, u64)> {
    place.into_iter().flat_map(move |(space, at)| (0..width).map(move |nth| (space, at.wrapping_add(nth))))
}

fn place_of(access: &Access) -> Option<(Space, u64)> {
    let (space, at) = access.place.ok()?;
    Some((space_of(space)?, at))
}

impl<'a> Compared<'a> {
    fn new(text: &'a Reached, code: &'a subject::Reached) -> Compared<'a> {
        let of_text = |ways: [Way; 2]| {
            let accesses = text.accesses.iter().filter(move |access| ways.contains(&access.way));
            accesses.flat_map(|access| bytes_of(place_of(access), access.width)).collect::<Bytes>()
        };
        let more = |ways: [Way; 2]| {
            text.accesses.iter().any(|access| ways.contains(&access.way) && place_of(access).is_none())
        };
        let of_code = |does: fn(&subject::Reach) -> bool| {
            let reaches = code.reaches.iter().filter(move |reach| does(reach));
            reaches.flat_map(|reach| bytes_of(reach.place, reach.width)).collect::<Bytes>()
        };
        let more_code = |does: fn(&subject::Reach) -> bool| {
            code.lost.is_some() || code.reaches.iter().any(|reach| does(reach) && reach.place.is_none())
        };
        let [text_reads_more, text_writes_more] =
            [more([Way::Read, Way::Both]), more([Way::Write, Way::Both])];
        let of_held = |does: fn(&subject::Reach) -> bool, more: bool| {
            let reaches = code.reaches.iter().filter(move |reach| does(reach) && is_held(reach, more));
            reaches.flat_map(|reach| bytes_of(reach.place, reach.width)).collect::<Bytes>()
        };
        Compared {
            text,
            code,
            read: of_text([Way::Read, Way::Both]),
            written: of_text([Way::Write, Way::Both]),
            code_read: of_code(|reach| reach.reads),
            code_written: of_code(|reach| reach.writes),
            held_read: of_held(|reach| reach.reads && !reach.writes, text_reads_more),
            held_written: of_held(|reach| reach.writes, text_writes_more),
            text_reads_more,
            text_writes_more,
            code_reads_more: more_code(|reach| reach.reads),
            code_writes_more: more_code(|reach| reach.writes),
        }
    }

    /// Returns true if the code accesses any byte of this access.
    fn is_met(&self, access: &Access) -> bool {
        let seen = if access.way == Way::Read { &self.code_read } else { &self.code_written };
        bytes_of(place_of(access), access.width).any(|byte| seen.contains(&byte))
    }

    /// Returns true if the code must make this access, or makes it and may not access any other place instead.
    fn is_compared(&self, access: &Access) -> bool {
        let held = if access.way == Way::Read { &self.held_read } else { &self.held_written };
        self.must_be_written(access)
            || bytes_of(place_of(access), access.width).any(|byte| held.contains(&byte))
    }

    /// Returns true if the code has to write all bytes of this access.
    fn must_be_written(&self, access: &Access) -> bool {
        access.way == Way::Write
            && !access.idle
            && !self.code_writes_more
            && matches!(access.place, Ok((StateSpace::Global, _)))
    }

    /// Returns true if the code has to write the bytes of this access and leaves some out.
    fn is_missed(&self, access: &Access) -> bool {
        self.must_be_written(access)
            && bytes_of(place_of(access), access.width).any(|byte| !self.code_written.contains(&byte))
    }

    fn count(&self, operands: &mut CodeCounts) {
        let unseen = match &self.code.lost {
            Some(lost) => format!("the code is not followed: {lost}"),
            None => "the code reaches places that are not known".to_owned(),
        };
        for access in &self.text.accesses {
            let more = if access.way == Way::Read { self.code_reads_more } else { self.code_writes_more };
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
    fn astray(&self, kernel: &str) -> Vec<Astray> {
        let one =
            |class, span, expected, seen| Astray { kernel: kernel.to_owned(), class, expected, seen, span };
        let missed = self.text.accesses.iter().filter(|access| self.is_missed(access)).map(|access| {
            let expected = format!("writes {}", self.told(place_of(access), access.width));
            one(Class::WrongAddress, Some(access.span), expected, "writes nothing there".to_owned())
        });
        let strays = self.code.reaches.iter().filter(|reach| self.is_stray(reach)).map(|reach| {
            let does = if reach.writes { "writes" } else { "reads" };
            let seen = format!("{} {does} {}", reach.instruction, self.told(reach.place, reach.width));
            // If the code omits exactly one such access, that access is probably the misplaced one.
            let mut left = self.text.accesses.iter().filter(|access| {
                (access.way == Way::Read) != reach.writes
                    && access.width == reach.width
                    && !self.is_met(access)
            });
            let (span, expected) = match (left.next(), left.next()) {
                (Some(access), None) => {
                    let place = self.told(place_of(access), access.width);
                    (Some(access.span), format!("{does} {place}"))
                }
                _ => (None, format!("{does} nothing there")),
            };
            one(Class::WrongAddress, span, expected, seen)
        });
        let values = self.text.written.iter().filter(|(place, value)| self.is_other(**place, **value));
        let values = values.map(|(&(space, at), _)| {
            let covers = |access: &&Access| {
                let start = access.place.ok().filter(|place| place.0 == space).map(|place| place.1);
                access.way != Way::Read
                    && start.is_some_and(|start| (start..start + access.width).contains(&at))
            };
            let by = self.text.accesses.iter().rev().find(covers);
            let (start, width) = match by {
                Some(Access { place: Ok((_, start)), width: width @ ..=8, .. }) => (*start, *width),
                _ => (at, 1),
            };
            let own = |nth: u64| self.text.written.get(&(space, start + nth)).copied().flatten();
            let seen = |nth: u64| self.code.written.get(&(space_of(space)?, start + nth)).copied().flatten();
            let told = self.told(space_of(space).map(|space| (space, start)), width);
            let [value, seen] = [self.told_number(width, &own), self.told_number(width, &seen)]
                .map(|number| format!("sets {told} to {number}"));
            one(Class::WrongValue, by.map(|access| access.span), value, seen)
        });
        let mut values: Vec<Astray> = values.collect();
        values.dedup();
        missed.chain(strays).chain(values).collect()
    }

    /// Returns true if the code leaves another value in a byte that the source writes.
    fn is_other(&self, (space, at): (StateSpace, u64), value: Option<u8>) -> bool {
        let seen = self.code.written.get(&(Space::Global, at)).copied().flatten();
        let more = self.text_writes_more || self.code_writes_more;
        space == StateSpace::Global && !more && seen.is_some_and(|seen| value.is_some_and(|own| own != seen))
    }

    /// Describes a number of `width` bytes, with the variable that it points to or near if there is exactly one.
    fn told_number(&self, width: u64, byte: &dyn Fn(u64) -> Option<u8>) -> String {
        let bytes = (0..width).rev().map(byte);
        let Some(number) = bytes.into_iter().try_fold(0, |sum, byte| Some(sum << 8 | u64::from(byte?)))
        else {
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
    fn told(&self, place: Option<(Space, u64)>, width: u64) -> String {
        let Some((space, at)) = place else { return "a place that is not known".to_owned() };
        let bytes = if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
        match self.near(space, at) {
            Some(near) => format!("{bytes} at {near}"),
            None => format!("{bytes} at {at:#x} of {space:?}").to_lowercase(),
        }
    }

    /// Describes a place as an offset from a variable or from the target of a pointer parameter, if it is near one.
    fn near(&self, space: Space, at: u64) -> Option<String> {
        /// The greatest distance in bytes that counts as near.
        const NEAR: u64 = 1 << 16;
        let setting = &self.text.setting;
        let variables = setting.variables.iter().filter(|variable| space_of(variable.space) == Some(space));
        let variables = variables.filter_map(|variable| {
            // The variables of a parameterized name lie so far apart that a place is near at most one of them.
            let (count, apart) = variable.several.unwrap_or((1, u64::MAX));
            let nth = (at.saturating_sub(variable.start) / apart).min(count.checked_sub(1)?);
            let start = variable.nth(nth)?;
            let of =
                if variable.own && self.is_hidden(&variable.name_of(nth)) { "the kernel's " } else { "" };
            let end = start.saturating_add(variable.size.unwrap_or(NEAR));
            Some((format!("{of}{}", variable.name_of(nth)), start, end))
        });
        let pointers = setting.parameters.iter().enumerate().filter_map(|(nth, (_, bytes))| {
            let start = u64::from_le_bytes(bytes.as_slice().try_into().ok()?);
            (space == Space::Global).then(|| (format!("the pointer in parameter {nth}"), start, start))
        });
        variables.chain(pointers).find_map(|(name, start, end)| {
            let is_near = (start.saturating_sub(NEAR)..end.saturating_add(NEAR)).contains(&at);
            is_near.then(|| match at.wrapping_sub(start) as i64 {
                0 => name,
                offset => format!("{name} {offset:+}"),
            })
        })
    }

    /// Returns true if the module declares this name too.
    fn is_hidden(&self, name: &str) -> bool {
        let mut places = self.text.setting.variables.iter().filter(|variable| !variable.own);
        places.any(|variable| {
            let digits = || ptxsmith_syntax::numbered(name.strip_prefix(variable.name.as_str())?);
            match variable.several {
                None => variable.name == name,
                Some((count, _)) => digits().is_some_and(|nth| nth < count),
            }
        })
    }

    /// Returns true if the source does not make this access of the code.
    fn is_stray(&self, reach: &subject::Reach) -> bool {
        let (own, more) = match reach.writes {
            true => (&self.written, self.text_writes_more),
            false => (&self.read, self.text_reads_more),
        };
        is_held(reach, more) && bytes_of(reach.place, reach.width).any(|byte| !own.contains(&byte))
    }
}

/// Returns true if this access of the code must also be one of the source. `more` says that the source may access
/// further, unknown places.
fn is_held(reach: &subject::Reach, more: bool) -> bool {
    // The low addresses of these state spaces hold data of the implementation.
    let has_own = |(space, at): (Space, u64)| space == Space::Local || space != Space::Global && at < 1 << 20;
    reach.certain && !more && reach.place.is_some_and(|place| !has_own(place))
}

fn is_local(reach: &subject::Reach) -> bool {
    matches!(reach.place, Some((Space::Local, _)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, Rules, accesses, expect};
    use ptxsmith_subject::Reach;

    /// Compares a kernel that stores 5 through its parameter with code that makes these accesses, given as offsets
    /// from the parameter.
    fn compared(code: &[(bool, i64, u64)], value: u8) -> (CodeCounts, Vec<Astray>) {
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
            let Astray { expected, seen, .. } = compared(code, value).1.remove(0);
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
    fn what_an_open_question_decides_is_not_compared() {
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

    /// Code proves nothing about effects that rules leave unknown: it agrees only with rules that leave unknown the
    /// same kernels.
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
