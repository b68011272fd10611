//! Compares the expected output of kernels with the observed output.

use std::ops::Range;

use ptxsmith_oracle::{Expectation, Kernel, KernelOutcome, Rules, Trace, WrittenScalar, predict_contents};
use ptxsmith_subject::solve;
use ptxsmith_subject::{Observation, Outcome, Output};
use ptxsmith_syntax::Module;

use crate::compare::{global_base, slot};
use crate::verdict::{Class, ShownOperands};

/// The result of comparing kernels with their observation.
#[derive(Clone, Copy, Default)]
pub(crate) struct OutputComparison {
    pub share: ShownOperands,
    pub differs: Option<OutputDifference>,
}

/// The first scalar that differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutputDifference {
    pub class: Class,
    /// The clauses and questions that the scalar rests on; `None` if the difference lies between the scalars
    /// that were written.
    pub trace: Option<Trace>,
}

impl OutputComparison {
    fn plus(self, other: OutputComparison) -> OutputComparison {
        OutputComparison { share: self.share.plus(other.share), differs: self.differs.or(other.differs) }
    }
}

/// Returns whether the observation agrees with these rules, and the clauses and questions used. Every
/// observed kernel must be predicted: a kernel without a rule does not agree.
pub(crate) fn agrees(module: &Module, rules: &Rules, observation: &Observation) -> (bool, Trace) {
    let prediction = predict_contents(module, rules);
    let agrees = match prediction.data {
        Expectation::Accepted { .. } => all_agree(&prediction.kernels, observation),
        Expectation::Refused { .. } => observation.outcome == Outcome::Refused,
        Expectation::Unmodelled { .. } => false,
    };
    (agrees, prediction.trace())
}

/// Returns whether the observation of the kernels contradicts none of these rules, and the clauses and
/// questions used. Kernels without a rule are ignored.
pub(crate) fn may_leave(module: &Module, rules: &Rules, observation: &Observation) -> (bool, Trace) {
    let prediction = predict_contents(module, rules);
    let is_accepted = matches!(prediction.data, Expectation::Accepted { .. });
    let agrees = is_accepted && compare(&prediction.kernels, observation).differs.is_none();
    (agrees, prediction.trace())
}

fn all_agree(kernels: &[Kernel], observation: &Observation) -> bool {
    let mut seen = observation.kernels.iter().filter(|(_, output)| output.bytes.is_some());
    observation.outcome == Outcome::Accepted
        && seen.all(|(name, _)| {
            kernels
                .iter()
                .any(|kernel| kernel.name == *name && matches!(kernel.outcome, KernelOutcome::Output(_)))
        })
        && compare(kernels, observation).differs.is_none()
}

/// Compares the expected output of kernels with the observed output.
pub(crate) fn compare(kernels: &[Kernel], observation: &Observation) -> OutputComparison {
    let mut comparison = OutputComparison::default();
    // In memory, addresses are numbers. They can be compared only if the place of the variable is known.
    let from_memory =
        observation.from_memory || observation.variables.values().any(|variable| variable.base.is_some());
    for kernel in kernels {
        let KernelOutcome::Output(expected) = &kernel.outcome else { continue };
        let Some(seen) = observation.kernels.get(kernel.name.as_str()) else {
            let total = predicted_slots(expected).count() as u64;
            comparison.share = comparison.share.plus(ShownOperands { seen: 0, total });
            continue;
        };
        let memory = from_memory.then(|| {
            let slots = expected.addresses.iter().map(slot);
            solve::memory(&expected.bytes, slots, |symbol| global_base(symbol, observation))
        });
        comparison = comparison.plus(compare_output(expected, seen, memory.as_deref(), observation));
    }
    comparison
}

/// Returns the scalars that the specification determines completely.
fn predicted_slots(expected: &ptxsmith_oracle::Output) -> impl Iterator<Item = &WrittenScalar> {
    expected.slots.iter().filter(|slot| expected.known[range(slot)].iter().all(|&known| known))
}

fn range(slot: &WrittenScalar) -> Range<usize> {
    slot.offset..slot.offset + slot.width
}

fn compare_output(
    expected: &ptxsmith_oracle::Output,
    output: &Output,
    memory: Option<&[Option<u8>]>,
    observation: &Observation,
) -> OutputComparison {
    let mut comparison = OutputComparison::default();
    let bytes = output.bytes.as_deref().unwrap_or_default();
    for slot in predicted_slots(expected) {
        comparison.share.total += 1;
        if !range(slot).all(|offset| is_seen(output, offset)) {
            continue;
        }
        let wrong = match memory {
            Some(memory) => {
                let held: Option<Vec<u8>> = memory[range(slot)].iter().copied().collect();
                // The place of the variable is unknown.
                let Some(held) = held else { continue };
                wrong_in_memory(expected, slot, &held, bytes)
            }
            None => wrong_by_name(expected, slot, (output, bytes), observation),
        };
        comparison.share.seen += 1;
        let difference = wrong.map(|class| OutputDifference { class, trace: Some(slot.trace) });
        comparison.differs = comparison.differs.or(difference);
    }
    // Bytes between the written scalars must stay zero.
    let is_spoiled = (0..expected.bytes.len()).any(|offset| {
        is_seen(output, offset)
            && bytes[offset] != 0
            && !expected.slots.iter().any(|slot| range(slot).contains(&offset))
    });
    if is_spoiled {
        let difference = OutputDifference { class: Class::WrongValue, trace: None };
        comparison.differs = comparison.differs.or(Some(difference));
    }
    comparison
}

/// Returns true if the subject shows the byte at this offset.
fn is_seen(output: &Output, offset: usize) -> bool {
    let length = output.bytes.as_ref().map_or(0, Vec::len);
    offset < length && output.seen.as_ref().is_none_or(|seen| seen.get(offset) == Some(&0xff))
}

/// Compares a scalar with its expected bytes in memory, where addresses are numbers.
fn wrong_in_memory(
    expected: &ptxsmith_oracle::Output,
    slot: &WrittenScalar,
    held: &[u8],
    bytes: &[u8],
) -> Option<Class> {
    let is_address = expected.addresses.iter().any(|a| range(slot).contains(&(a.offset as usize)));
    let class = if is_address { Class::WrongAddress } else { Class::WrongValue };
    (*held != bytes[range(slot)]).then_some(class)
}

/// Compares a scalar if the subject reports addresses by name.
fn wrong_by_name(
    expected: &ptxsmith_oracle::Output,
    slot: &WrittenScalar,
    (output, bytes): (&Output, &[u8]),
    observation: &Observation,
) -> Option<Class> {
    let range = range(slot);
    let address = expected.addresses.iter().find(|address| range.contains(&(address.offset as usize)));
    let mut seen = output.addresses.iter().filter(|address| range.contains(&(address.offset as usize)));
    let (found, more) = (seen.next(), seen.next());
    match (address, found) {
        (Some(address), Some(found)) => {
            // A 32-bit address may be reported as such, followed by zeros.
            let behind = bytes.get(range.start + 4..range.end);
            let small = found.width == 4
                && found.generic == Some(false)
                && !address.generic
                && behind.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
                && more.is_none();
            let moved = (address.addend ^ found.addend) as u64;
            let same_addend =
                if found.width == 8 && address.width == 8 { moved == 0 } else { moved as u32 == 0 };
            // If both halves of an address lie side by side, the lower one is reported as part of the whole
            // address.
            let half = found.width == 8 && address.width == 4;
            let same = found.offset == address.offset
                && (found.width == address.width || small || half)
                && observation.is_one_place(&address.symbol, &found.symbol)
                && same_addend
                && found.generic.is_none_or(|generic| generic == address.generic);
            (!same).then_some(Class::WrongAddress)
        }
        (Some(_), None) | (None, Some(_)) => Some(Class::WrongAddress),
        (None, None) => (bytes[range.clone()] != expected.bytes[range.clone()]).then_some(Class::WrongValue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::Variable;

    /// Compares a kernel that stores `g+4` and 5 with the output of a device, where `g` lies at `base` or is
    /// not observed.
    fn left(address: u64, number: u64, base: Option<u64>) -> OutputComparison {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.global .u32 other;\n\
            .visible .entry k(.param .u64 out)\n{\n.reg .u64 %o;\n.reg .u64 %a;\nld.param.u64 %o, [out];\n\
            mov.u64 %a, g+4;\nst.global.u64 [%o], %a;\nmov.u64 %a, 5;\nst.global.u64 [%o+8], %a;\nret;\n}\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let kernels = predict_contents(&module, &Rules::default()).kernels;
        assert!(matches!(kernels[0].outcome, KernelOutcome::Output(_)), "{:?}", kernels[0]);
        let variable = |base| Variable { space: Some("global".into()), base, ..Variable::default() };
        let mut observation = Observation::new(Outcome::Accepted);
        observation.variables.insert("g".into(), variable(base));
        observation.variables.insert("other".into(), variable(Some(0x7f00)));
        let bytes = [address.to_le_bytes(), number.to_le_bytes()].concat();
        observation.kernels.insert("k".into(), Output { size: 16, bytes: Some(bytes), ..Output::default() });
        compare(&kernels, &observation)
    }

    fn class(compared: OutputComparison) -> Option<Class> {
        compared.differs.map(|differs| differs.class)
    }

    #[test]
    fn an_address_that_a_device_leaves_is_that_of_its_variable() {
        let same = left(0x8004, 5, Some(0x8000));
        assert_eq!((same.share.seen, same.share.total, class(same)), (2, 2, None));
        assert_eq!(class(left(0x8005, 5, Some(0x8000))), Some(Class::WrongAddress));
        assert_eq!(class(left(0x8004, 6, Some(0x8000))), Some(Class::WrongValue));
        // An address cannot be compared if its variable is not observed.
        let unseen = left(0x9999, 5, None);
        assert_eq!((unseen.share.seen, unseen.share.total, class(unseen)), (1, 2, None));
    }

    /// Compares a kernel that stores 5 times 2^32 + 1 and then `s+4`, in `.shared`, after a change of its
    /// named output.
    fn named(change: impl Fn(&mut Output)) -> Option<Class> {
        named_in(64, change)
    }

    /// Does the same as [`named`] with the address in a register of `bits` bits.
    fn named_in(bits: u32, change: impl Fn(&mut Output)) -> Option<Class> {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.shared .u32 s[4];\n\
             .visible .entry k(.param .u64 out)\n{{\n.reg .u64 %o;\n.reg .u64 %a;\n.reg .u{bits} %b;\n\
             ld.param.u64 %o, [out];\nmov.u64 %a, 0x500000005;\nst.global.u64 [%o], %a;\n\
             mov.u{bits} %b, s+4;\nst.global.u{bits} [%o+8], %b;\nret;\n}}\n"
        );
        let module = ptxsmith_syntax::parse(&text).unwrap();
        // A place in `.shared`, not a generic address.
        let address = ptxsmith_subject::Address {
            offset: 8,
            width: 8,
            symbol: "s".to_owned(),
            addend: 4,
            generic: Some(false),
            byte: None,
        };
        let bytes = [0x5_0000_0005u64, 0].map(u64::to_le_bytes).concat();
        let mut output =
            Output { size: 16, bytes: Some(bytes), addresses: vec![address], ..Output::default() };
        change(&mut output);
        let mut observation = Observation::new(Outcome::Accepted);
        observation.kernels.insert("k".into(), output);
        class(compare(&predict_contents(&module, &Rules::default()).kernels, &observation))
    }

    #[test]
    fn an_address_by_name_must_match_and_a_small_one_is_followed_by_zeros() {
        let small = |output: &mut Output| output.addresses[0].width = 4;
        let byte = |output: &mut Output, at: usize| output.bytes.as_mut().unwrap()[at] = 9;
        assert_eq!(named(|_| ()), None);
        assert_eq!(named(small), None, "what lies before it is no part of it");
        for at in [12, 15] {
            assert_eq!(
                named(|output| (small(output), byte(output, at)).1),
                Some(Class::WrongAddress),
                "{at}"
            );
        }
        assert_eq!(named(|output| byte(output, 0)), Some(Class::WrongValue));
        assert_eq!(named(|output| output.addresses[0].offset = 12), Some(Class::WrongAddress));
        assert_eq!(named(|output| output.addresses[0].addend = 8), Some(Class::WrongAddress));
        assert_eq!(named(|output| output.addresses[0].addend = 4 + (1 << 32)), Some(Class::WrongAddress));
        assert_eq!(named(|output| output.addresses[0].symbol = "h".to_owned()), Some(Class::WrongAddress));
        assert_eq!(named(|output| output.addresses[0].generic = Some(true)), Some(Class::WrongAddress));
        assert_eq!(named(|output| output.addresses[0].generic = None), None);
        assert_eq!(named(|output| output.addresses.clear()), Some(Class::WrongAddress));
        // The upper half of the address follows the lower one, so the lower one is reported as a part of it.
        let cut = |output: &mut Output| {
            output.size = 12;
            output.bytes.as_mut().unwrap().truncate(12);
        };
        assert_eq!(named_in(32, cut), None);
        assert_eq!(named_in(32, |output| (cut(output), small(output)).1), None);
        assert_eq!(
            named_in(32, |output| (cut(output), output.addresses[0].width = 2).1),
            Some(Class::WrongAddress)
        );
        assert_eq!(named(|output| output.addresses[0].width = 2), Some(Class::WrongAddress));
    }
}
