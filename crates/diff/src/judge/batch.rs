//! Composes modules of many trials and assigns the parts of an observation to the trials.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ptxsmith_oracle::{Expectation, KernelOutcome};
use ptxsmith_subject::{Launch, Observation, Outcome, Severity, Variable};
use ptxsmith_syntax::{
    Canonical, Module, ScalarType, Spacing, StateSpace, prefixed, print, with_prefix, without_prefix,
};

use super::{JudgeOptions, PredictedTrial, TrialExpectation};
use crate::trial::{ALONE, TrialBody};

/// The place of a trial in a batch.
pub(super) enum TrialSlot {
    /// An element of an array of the module: the index of the array, the offset in bytes, and the width in
    /// bytes.
    Element {
        array: usize,
        offset: u64,
        width: usize,
    },
    Names {
        prefix: String,
    },
}

/// A module of many trials.
pub(super) struct Batch {
    pub text: String,
    pub slots: Vec<TrialSlot>,
    /// The kernels to run.
    pub launches: Vec<Launch>,
    /// The names of the arrays of expressions.
    arrays: Vec<String>,
    /// The 1-based line on which each trial starts and the place of the trial in the group, in ascending
    /// order.
    lines: Vec<(u32, usize)>,
}

impl Batch {
    /// Returns the observation of each array of expressions.
    pub fn arrays<'o>(&self, observation: &'o Observation) -> Vec<Option<&'o Variable>> {
        self.arrays.iter().map(|name| observation.variables.get(name.as_str())).collect()
    }
}

/// The capacity of the constant bank in bytes. Every implementation rejects a module that declares more in
/// `.const`.
pub(crate) const CONST_BYTES: u64 = 60_000;

/// The maximum number of trials with named variables in one module: the time that ptxas needs grows faster
/// than linearly.
const NAMED_TOGETHER: usize = 250;

/// The maximum number of trials with kernels in one module. Listing the code of a single trial takes as long
/// as listing that of a hundred; a larger module would only delay the split after a rejection.
const LAUNCHED_TOGETHER: usize = 100;

/// Splits trials into groups that fit into one module each, by the size of their `.const` variables and their
/// number of names.
pub(super) fn groups(predicted: &[PredictedTrial<'_>], trials: Vec<usize>, launch: bool) -> Vec<Vec<usize>> {
    let most = if launch { LAUNCHED_TOGETHER } else { NAMED_TOGETHER };
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut used: u64 = 0;
    let mut named = 0;
    for index in trials {
        let need = const_need(&predicted[index]);
        let names = usize::from(predicted[index].trial.body.items().is_some());
        let full = used.saturating_add(need) > CONST_BYTES && need > 0 || named + names > most;
        if full && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            (used, named) = (0, 0);
        }
        used = used.saturating_add(need);
        named += names;
        group.push(index);
    }
    groups.push(group);
    groups
}

fn const_need(p: &PredictedTrial<'_>) -> u64 {
    match (&p.trial.body, &p.expectation) {
        (TrialBody::Expression { ty, space: StateSpace::Const, .. }, _) => ty.bytes(),
        (TrialBody::Items(_) | TrialBody::Contexts(_), TrialExpectation::Module(prediction)) => {
            let Expectation::Accepted { variables, .. } = &prediction.data else { return 0 };
            let in_const = variables.iter().filter(|v| v.space == StateSpace::Const);
            in_const.fold(0, |need, v| need.saturating_add(v.size).saturating_add(v.align))
        }
        _ => 0,
    }
}

/// Returns the kernels of a trial to run, with buffers as large as the expected output.
pub(super) fn launches(p: &PredictedTrial<'_>, prefix: &str) -> Vec<Launch> {
    let TrialExpectation::Module(prediction) = &p.expectation else { return Vec::new() };
    let mut launches = Vec::new();
    for kernel in &prediction.kernels {
        let KernelOutcome::Output(output) = &kernel.outcome else { continue };
        if !output.bytes.is_empty() {
            let name = with_prefix(&kernel.name, prefix).to_string();
            launches.push(Launch { kernel: name, out: output.bytes.len() as u64 });
        }
    }
    launches
}

pub(super) fn compose(predicted: &[PredictedTrial<'_>], group: &[usize], options: &JudgeOptions) -> Batch {
    let mut text = Canonical(print(&options.header.module([])));
    // The average length of an expression, so that the text is not reallocated while it grows.
    text.0.reserve(48 * group.len());
    let mut line = 1 + text.0.bytes().filter(|&b| b == b'\n').count() as u32;
    let mut slots: Vec<Option<TrialSlot>> = group.iter().map(|_| None).collect();
    let mut all_launches = Vec::new();
    let mut lines = Vec::with_capacity(group.len());
    let mut arrays: BTreeMap<(StateSpace, ScalarType), Vec<usize>> = BTreeMap::new();
    for (place, &index) in group.iter().enumerate() {
        match &predicted[index].trial.body {
            TrialBody::Expression { ty, space, .. } => arrays.entry((*space, *ty)).or_default().push(place),
            TrialBody::Items(items) | TrialBody::Contexts(items) => {
                let prefix = format!("t{place}_");
                lines.push((line, place));
                let items = prefixed(items, &prefix);
                let before = text.0.len();
                text.0.push_str(&predicted[index].trial.spacing.print(&Module { items }));
                line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                all_launches.extend(launches(&predicted[index], &prefix));
                slots[place] = Some(TrialSlot::Names { prefix });
            }
        }
    }
    let mut names = Vec::with_capacity(arrays.len());
    for ((space, ty), places) in arrays {
        let array = format!("e{}{}", space.name(), &ty.keyword()[1..]);
        let width = ty.bytes();
        let _ = writeln!(text.0, "{} {} {array}[{}] = {{", space.keyword(), ty.keyword(), places.len());
        line += 1;
        for (index, &place) in places.iter().enumerate() {
            lines.push((line, place));
            let trial = predicted[group[place]].trial;
            if let TrialBody::Expression { expr, .. } = &trial.body {
                let before = text.0.len();
                trial.spacing.print_expr(expr, &mut text);
                if trial.spacing != Spacing::Canonical {
                    line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                }
            }
            text.0.push_str(if index + 1 == places.len() { "\n" } else { ",\n" });
            line += 1;
            let offset = index as u64 * width;
            let array = names.len();
            slots[place] = Some(TrialSlot::Element { array, offset, width: width as usize });
        }
        names.push(array);
        text.0.push_str("};\n");
        line += 1;
    }
    if group.iter().any(|&index| predicted[index].trial.ends_in_comment()) {
        text.0.push_str("//");
    }
    let slots = slots.into_iter().flatten().collect();
    Batch { text: text.0, slots, launches: all_launches, arrays: names, lines }
}

/// The part of a batch's observation that concerns one trial.
pub(super) enum TrialObservation {
    Agrees,
    Unobserved,
    /// The expression has these bits instead, and contains no address.
    Holds(u64, Observation),
    /// The observation of the trial, as if it had been shown in a module of its own.
    Module(Observation),
}

/// Returns the part of a batch's observation that concerns this trial.
pub(super) fn part_of_trial(
    predicted: &PredictedTrial<'_>,
    slot: &TrialSlot,
    arrays: &[Option<&Variable>],
    observation: &Observation,
) -> TrialObservation {
    match slot {
        TrialSlot::Names { prefix } => TrialObservation::Module(with_prefix_only(prefix, observation)),
        TrialSlot::Element { array, offset, width } => {
            let expected =
                if let TrialExpectation::Bits(bits) = predicted.expectation { Some(bits) } else { None };
            match arrays[*array] {
                Some(seen) => element(expected, seen, *offset, *width),
                // The array is missing from a complete observation. The trial shown alone will confirm that.
                None if observation.complete => TrialObservation::Module(Observation {
                    complete: true,
                    ..Observation::new(Outcome::Accepted)
                }),
                None => TrialObservation::Unobserved,
            }
        }
    }
}

/// Compares one element of an array of expressions. `expected` is `None` for an expression that should have
/// been rejected.
fn element(expected: Option<u64>, seen: &Variable, offset: u64, width: usize) -> TrialObservation {
    let (from, to) = (offset as usize, offset as usize + width);
    let Some(bytes) = seen.bytes.as_ref().and_then(|bytes| bytes.get(from..to)) else {
        return TrialObservation::Unobserved;
    };
    let bits = little_endian(bytes);
    let element = offset..to as u64;
    let addressed = seen.addresses.iter().flatten().any(|address| element.contains(&address.offset));
    if expected == Some(bits) && !addressed {
        return TrialObservation::Agrees;
    }
    let variable = Variable {
        space: seen.space.clone(),
        size: Some(width as u64),
        bytes: Some(bytes.to_vec()),
        addresses: Some(Vec::new()),
        ..Variable::default()
    };
    let mut alone = Observation::new(Outcome::Accepted);
    alone.variables.insert(ALONE.into(), variable);
    if addressed { TrialObservation::Module(alone) } else { TrialObservation::Holds(bits, alone) }
}

/// Converts up to eight bytes in little-endian order to a number.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// Returns the observation of the trial with this prefix, as if it had been shown in a module of its own.
fn with_prefix_only(prefix: &str, observation: &Observation) -> Observation {
    let Observation { complete, from_memory, .. } = *observation;
    let mut of_trial = Observation { complete, from_memory, ..Observation::new(observation.outcome) };
    for (name, variable) in &observation.variables {
        let Some(name) = without_prefix(name, prefix) else { continue };
        let mut variable = variable.clone();
        for address in variable.addresses.iter_mut().flatten() {
            remove_prefix(&mut address.symbol, prefix);
        }
        of_trial.variables.insert(name, variable);
    }
    for (name, output) in &observation.kernels {
        let Some(name) = without_prefix(name, prefix) else { continue };
        let mut output = output.clone();
        for address in &mut output.addresses {
            remove_prefix(&mut address.symbol, prefix);
        }
        of_trial.kernels.insert(name.to_string(), output);
    }
    of_trial
}

/// Removes the prefix from a name if the name has it.
fn remove_prefix(name: &mut String, prefix: &str) {
    if let Some(rest) = without_prefix(name, prefix) {
        *name = rest.to_string();
    }
}

/// Returns the observation of a trial that was shown in its own module with this prefix on its names.
pub(super) fn without_prefix_in(prefix: &str, observation: Observation) -> Observation {
    if observation.outcome != Outcome::Accepted {
        return observation;
    }
    with_prefix_only(prefix, &observation)
}

/// Splits the group into the trials that error messages blame by their lines, and the others.
pub(super) fn split_blamed(
    batch: &Batch,
    group: &[usize],
    observation: &Observation,
) -> (Vec<usize>, Vec<usize>) {
    let mut blamed = BTreeSet::new();
    if observation.outcome == Outcome::Refused {
        for error in observation.diagnostics.iter().filter(|d| d.severity >= Severity::Error) {
            let Some(line) = error.line else { continue };
            let behind = batch.lines.partition_point(|&(start, _)| start <= line);
            blamed.extend(batch.lines[..behind].last().map(|&(_, place)| group[place]));
        }
    }
    group.iter().partition(|index| blamed.contains(index))
}

#[cfg(test)]
mod tests {
    use ptxsmith_oracle::{Rules, Trace, predict};
    use ptxsmith_subject::{Address, Diagnostic};
    use ptxsmith_syntax::{parse, parse_expr};

    use super::super::mask;
    use super::*;
    use crate::Header;
    use crate::trial::Trial;

    #[test]
    fn a_value_has_eight_bits_a_byte() {
        assert_eq!([1, 2, 4, 8].map(mask), [0xFF, 0xFFFF, 0xFFFF_FFFF, u64::MAX]);
    }

    fn expression(id: u64, space: StateSpace, ty: ScalarType, text: &str) -> Trial {
        let expr = parse_expr(text).expect("it is an expression");
        Trial::new(id, TrialBody::Expression { ty, space, expr })
    }

    fn items(id: u64, text: &str) -> Trial {
        Trial::new(id, TrialBody::Items(parse(text).expect("it is PTX").items))
    }

    fn predicted(trial: &Trial) -> PredictedTrial<'_> {
        let expectation = match &trial.body {
            TrialBody::Expression { .. } => TrialExpectation::Bits(0),
            _ => TrialExpectation::Module(predict(&trial.module(&Header::default()), &Rules::default())),
        };
        PredictedTrial { trial, expectation, trace: Trace::default() }
    }

    fn group_sizes(trials: &[Trial], launch: bool) -> Vec<usize> {
        let predicted: Vec<_> = trials.iter().map(predicted).collect();
        groups(&predicted, (0..trials.len()).collect(), launch).iter().map(Vec::len).collect()
    }

    #[test]
    fn a_module_has_as_many_constants_as_the_bank_holds_and_as_many_names_as_are_worth_while() {
        let constants = |count: u64| -> Vec<Trial> {
            (0..count).map(|id| expression(id, StateSpace::Const, ScalarType::U64, "1")).collect()
        };
        assert_eq!(group_sizes(&constants(7_500), false), [7_500]);
        assert_eq!(group_sizes(&constants(7_502), false), [7_500, 2]);
        // Size and alignment of each count: 29,996 and 4 bytes.
        let arrays: Vec<Trial> = (0..3).map(|id| items(id, ".const .u32 x[7499];")).collect();
        assert_eq!(group_sizes(&arrays, false), [2, 1]);
        // A trial that is too large for any module gets a module of its own.
        assert_eq!(
            group_sizes(&[items(0, ".const .u32 x[20000];"), items(1, ".const .u32 x;")], false),
            [1, 1]
        );
        let named: Vec<Trial> = (0..251).map(|id| items(id, ".global .u32 x;")).collect();
        assert_eq!(group_sizes(&named, false), [250, 1]);
        assert_eq!(group_sizes(&named, true), [100, 100, 51]);
    }

    /// Composes five trials: three become array elements and two have names of their own. Some lines between
    /// them belong to no trial.
    fn batch(trials: &[Trial]) -> Batch {
        let predicted: Vec<_> = trials.iter().map(predicted).collect();
        compose(&predicted, &(0..trials.len()).collect::<Vec<_>>(), &JudgeOptions::default())
    }

    #[test]
    fn the_line_of_a_trial_is_where_it_stands_in_the_module() {
        let trials = [
            items(0, ".global .u32 x;\n.global .u64 y = 100;"),
            expression(1, StateSpace::Global, ScalarType::U8, "101"),
            expression(2, StateSpace::Global, ScalarType::S64, "102"),
            expression(3, StateSpace::Global, ScalarType::U8, "103"),
            expression(4, StateSpace::Const, ScalarType::U8, "104"),
            items(5, ".global .u32 z = 105;"),
        ];
        let batch = batch(&trials);
        let lines: Vec<&str> = batch.text.lines().collect();
        assert_eq!(batch.lines.len(), trials.len());
        for &(line, place) in &batch.lines {
            // The first trial has two lines and starts on the first of them.
            let own = if place == 0 { ".global .u32 t0_x;".to_owned() } else { (100 + place).to_string() };
            assert!(lines[line as usize - 1].contains(&own), "{place}: {line}\n{}", batch.text);
        }
        assert_eq!(batch.arrays, ["econstu8", "eglobals64", "eglobalu8"]);
        let group: Vec<usize> = (10..16).collect();
        let complaint = |severity, line| Diagnostic { severity, line: Some(line), message: String::new() };
        let at = |place: usize| batch.lines.iter().find(|line| line.1 == place).unwrap().0;
        let mut refused = Observation::new(Outcome::Refused);
        refused.diagnostics = vec![
            complaint(Severity::Error, at(0) + 1),
            complaint(Severity::Warning, at(1)),
            complaint(Severity::Fatal, at(4)),
        ];
        assert_eq!(split_blamed(&batch, &group, &refused), (vec![10, 14], vec![11, 12, 13, 15]));
        let taken = Observation { outcome: Outcome::Accepted, ..refused };
        assert_eq!(split_blamed(&batch, &group, &taken), (vec![], group));
    }

    #[test]
    fn an_element_of_an_array_is_shown_as_the_variable_that_it_would_be() {
        let address =
            Address { offset: 8, width: 4, symbol: "s".into(), addend: 0, generic: None, byte: None };
        let seen = Variable {
            space: Some("global".into()),
            size: Some(12),
            align: Some(4),
            bytes: Some(vec![1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]),
            addresses: Some(vec![address]),
            ..Variable::default()
        };
        assert!(matches!(element(Some(1), &seen, 0, 4), TrialObservation::Agrees));
        assert!(matches!(element(Some(1), &seen, 12, 4), TrialObservation::Unobserved));
        let variable = |bytes: &[u8]| Variable {
            space: Some("global".into()),
            size: Some(4),
            align: None,
            bytes: Some(bytes.to_vec()),
            addresses: Some(Vec::new()),
            ..Variable::default()
        };
        for expected in [Some(2), None] {
            let TrialObservation::Holds(0x102, observed) = element(expected, &seen, 4, 4) else {
                panic!("{expected:?}")
            };
            assert_eq!(observed.variables[ALONE], variable(&[2, 1, 0, 0]));
        }
        // An address is not a number, even if its bytes equal the expected ones.
        let TrialObservation::Module(observed) = element(Some(0), &seen, 8, 4) else {
            panic!("it has an address")
        };
        assert_eq!(observed.variables[ALONE], variable(&[0; 4]));
    }
}
