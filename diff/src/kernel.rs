//! Judging kernels by what they leave in their output buffers.
//!
//! Many kernels are shown in one module, each with what it uses, and the subject is asked what each leaves
//! ([`Launch`]). What it does not show is not compared, and is counted ([`Share`]); a kernel of which nothing is shown is
//! unobserved. A module that is refused or kills the subject is split until the guilty kernel stands alone.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_oracle::{Expectation, Kernel, Left, Rules, Trace, execute, expect};
use ptxsmith_subject::solve::{self, Slot};
use ptxsmith_subject::{Error, Launch, Observation, Outcome, Output, Request, Severity, Subject};
use ptxsmith_syntax::{Canonical, FunctionKind, Item, Module, print};

use crate::{
    explain::{explain, explain_crash},
    judge::Options,
    maker::Maker,
    trial::{Header, Trial, prefixed, with_prefix, without_prefix},
    verdict::{Class, Difference, Judged, Must, NotCompared, Share, Verdict},
};

/// The most kernels in one module: listing the code of one costs as much as that of a hundred, and more would only
/// delay what a refused one makes necessary.
const TOGETHER: usize = 100;

/// Shows kernels to one subject and judges them. The counterpart of [`Judge`](crate::Judge), which judges data.
pub struct KernelJudge<'a> {
    subject: &'a dyn Subject,
    rules: Rules,
    options: Options,
    /// Of the batch at hand, what was seen of each trial, by number.
    shares: BTreeMap<u64, Share>,
}

/// What the specification says of a trial.
struct Predicted<'t> {
    trial: &'t Trial,
    answer: Answer,
    trace: Trace,
}

enum Answer {
    Kernels(Vec<Kernel>),
    Refused,
    Unmodelled,
}

/// How a kernel compares with what was seen of it.
struct Compared {
    share: Share,
    differs: Option<Class>,
}

impl<'a> KernelJudge<'a> {
    /// A judge of one subject under the specification's rules.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: Options) -> KernelJudge<'a> {
        KernelJudge { subject, rules, options, shares: BTreeMap::new() }
    }

    /// Judges trials of statements that hold kernels; the verdicts come in the order of the trials.
    ///
    /// # Errors
    /// Only where our machine or code fails; whatever the subject does is a verdict.
    pub fn batch<T: Borrow<Trial>>(&mut self, trials: &[T]) -> Result<Vec<Judged>, Error> {
        self.shares.clear();
        let predicted: Vec<Predicted<'_>> = trials
            .iter()
            .map(|trial| {
                let trial = trial.borrow();
                let (answer, trace) = answer(trial, &self.options.header, &self.rules);
                Predicted { trial, answer, trace }
            })
            .collect();
        let mut verdicts: Vec<Option<Verdict>> = trials.iter().map(|_| None).collect();
        let (apart, together): (Vec<usize>, Vec<usize>) =
            (0..predicted.len()).partition(|&at| matches!(predicted[at].answer, Answer::Refused));
        for at in apart {
            verdicts[at] = Some(self.alone(&predicted[at])?);
        }
        for group in together.chunks(TOGETHER) {
            self.settle(&predicted, group, &mut verdicts)?;
        }
        for (at, p) in predicted.iter().enumerate() {
            let chosen =
                self.options.recheck_every > 0 && p.trial.id.is_multiple_of(self.options.recheck_every);
            if let (true, Some(verdict)) = (chosen, &mut verdicts[at]) {
                self.recheck(p, verdict)?;
            }
        }
        let judged = predicted.iter().zip(verdicts).map(|(p, verdict)| Judged {
            id: p.trial.id,
            verdict: verdict.unwrap_or(Verdict::NotCompared(NotCompared::Unobserved)),
            must: match p.answer {
                Answer::Kernels(_) => Some(Must::Accept),
                Answer::Refused => Some(Must::Refuse),
                Answer::Unmodelled => None,
            },
            trace: p.trace,
            excluded: Vec::new(),
            contradicts: Vec::new(),
            unseen: 0,
            operands: self.shares.get(&p.trial.id).copied().unwrap_or_default(),
        });
        Ok(judged.collect())
    }

    /// Gives every trial of a group its verdict; whether one was found that spoils its company.
    fn settle(
        &mut self,
        predicted: &[Predicted<'_>],
        group: &[usize],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<bool, Error> {
        match *group {
            [] => return Ok(false),
            [at] => {
                let verdict = self.alone(&predicted[at])?;
                let conforms = matches!(verdict, Verdict::Conforms | Verdict::NotCompared(_));
                verdicts[at] = Some(verdict);
                return Ok(!conforms);
            }
            _ => {}
        }
        let batch = compose(predicted, group, &self.options.header);
        let observation = self.observe(&batch.text, &batch.launches)?;
        if observation.outcome == Outcome::Accepted {
            for (&at, prefix) in group.iter().zip(&batch.prefixes) {
                verdicts[at] = Some(self.verdict(&predicted[at], own(&observation, prefix)));
            }
            return Ok(false);
        }
        let blamed = blamed(&batch, &observation);
        let (guilty, rest): (Vec<usize>, Vec<usize>) =
            (0..group.len()).partition(|place| blamed.contains(place));
        let mut found = false;
        for place in guilty {
            found |= self.settle(predicted, &group[place..=place], verdicts)?;
        }
        let rest: Vec<usize> = rest.into_iter().map(|place| group[place]).collect();
        // What stands behind an error that ended the reading was not read. Where nobody was blamed, halves find out.
        let parts = if found { rest.len() } else { rest.len().div_ceil(2) };
        for part in rest.chunks(parts.max(1)) {
            found |= self.settle(predicted, part, verdicts)?;
        }
        if !found && observation.outcome != Outcome::TimedOut {
            let difference = self.difference(&predicted[group[0]], Class::Inconsistent, observation, None);
            verdicts[group[0]] = Some(Verdict::Deviates(difference));
            return Ok(true);
        }
        Ok(found)
    }

    fn observe(&self, text: &str, launches: &[Launch]) -> Result<Observation, Error> {
        let request = Request::new(text, &self.options.header.target).launching(launches);
        self.subject.observe(&request)
    }

    fn alone(&mut self, p: &Predicted<'_>) -> Result<Verdict, Error> {
        let observation = self.observe(&p.trial.text(&self.options.header), &launches(p, ""))?;
        Ok(self.verdict(p, observation))
    }

    /// A verdict must not depend on company.
    fn recheck(&mut self, p: &Predicted<'_>, verdict: &mut Verdict) -> Result<(), Error> {
        let again = self.alone(p)?;
        if std::mem::discriminant(&again) != std::mem::discriminant(verdict) {
            let observed = match again {
                Verdict::Reads(difference) | Verdict::Deviates(difference) => difference.observed,
                _ => Observation::new(Outcome::Accepted),
            };
            *verdict = Verdict::Deviates(self.difference(p, Class::Inconsistent, observed, None));
        }
        Ok(())
    }

    /// The verdict on a trial of which this was observed as if it had stood alone.
    fn verdict(&mut self, p: &Predicted<'_>, observation: Observation) -> Verdict {
        let maker = Maker::of(self.subject.description());
        let rests_on = |rules: &Rules| answer(p.trial, &self.options.header, rules).1;
        let class = match (observation.outcome, &p.answer) {
            (Outcome::Unsupported, _) => return Verdict::NotCompared(NotCompared::Unsupported),
            (Outcome::Unavailable, _) => return Verdict::NotCompared(NotCompared::Unavailable),
            (Outcome::Crashed | Outcome::TimedOut, _) => {
                let hangs = observation.outcome == Outcome::TimedOut;
                let class = if hangs { Class::Hang } else { Class::Crash };
                let explanation = explain_crash(&p.trace, &self.rules, maker, &observation, rests_on);
                let difference = self.difference(p, class, observation, explanation);
                return Verdict::Deviates(difference);
            }
            (_, Answer::Unmodelled) => return Verdict::NotCompared(NotCompared::Unmodelled),
            (Outcome::Refused, Answer::Refused) => return Verdict::Conforms,
            (Outcome::Accepted, Answer::Refused) => Class::AcceptsInvalid,
            (Outcome::Refused, Answer::Kernels(_)) => Class::RefusesValid,
            (Outcome::Accepted, Answer::Kernels(kernels)) => {
                let compared = compare(kernels, &observation);
                self.shares.insert(p.trial.id, compared.share);
                let modelled = kernels.iter().any(|kernel| matches!(kernel.left, Left::Output(_)));
                match compared.differs {
                    Some(class) => class,
                    None if !modelled => return Verdict::NotCompared(NotCompared::Unmodelled),
                    None if compared.share.seen == 0 => {
                        return Verdict::NotCompared(NotCompared::Unobserved);
                    }
                    None => return Verdict::Conforms,
                }
            }
        };
        let explanation = explain(&p.trace, &self.rules, maker, |rules| {
            let (answer, trace) = answer(p.trial, &self.options.header, rules);
            let agrees = match (&answer, observation.outcome) {
                (Answer::Kernels(kernels), Outcome::Accepted) => {
                    compare(kernels, &observation).differs.is_none()
                }
                (Answer::Refused, Outcome::Refused) => true,
                _ => false,
            };
            (agrees, trace)
        });
        let difference = self.difference(p, class, observation, explanation);
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }

    fn difference(
        &self,
        p: &Predicted<'_>,
        class: Class,
        observed: Observation,
        explanation: Option<crate::Explanation>,
    ) -> Box<Difference> {
        let expected = self.expected_json(p.trial);
        Box::new(Difference {
            class,
            variable: None,
            expected,
            observed,
            explanation,
            suspected: Some(Vec::new()),
        })
    }

    fn expected_json(&self, trial: &Trial) -> serde_json::Value {
        let text = trial.text(&self.options.header);
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        let expectation = expect(&module, &self.rules);
        let mut json = expectation.to_json(&text, &self.rules.readings);
        if let Expectation::Accepted { variables, .. } = &expectation {
            let kernels = execute(&module, variables, &self.rules);
            let entry = |kernel: &Kernel| (kernel.name.to_string(), kernel.to_json(&self.rules.readings));
            json["kernels"] = kernels.iter().map(entry).collect::<serde_json::Map<_, _>>().into();
        }
        json
    }
}

/// What these rules say of a trial as a module of its own.
fn answer(trial: &Trial, header: &Header, rules: &Rules) -> (Answer, Trace) {
    let module = trial.module(header);
    match expect(&module, rules) {
        Expectation::Accepted { variables, trace, .. } => {
            let kernels = execute(&module, &variables, rules);
            let trace = kernels.iter().fold(trace, |trace, kernel| trace.union(kernel.trace));
            (Answer::Kernels(kernels), trace)
        }
        Expectation::Refused { trace, .. } => (Answer::Refused, trace),
        Expectation::Unmodelled { .. } => (Answer::Unmodelled, Trace::default()),
    }
}

/// The kernels of a trial to run, with buffers as large as what they write.
fn launches(p: &Predicted<'_>, prefix: &str) -> Vec<Launch> {
    let Answer::Kernels(kernels) = &p.answer else { return Vec::new() };
    let launch = |kernel: &Kernel| match &kernel.left {
        Left::Output(output) => Some(Launch {
            kernel: with_prefix(&kernel.name, prefix).to_string(),
            out: output.bytes.len() as u64,
        }),
        Left::Unmodelled(_) => None,
    };
    kernels.iter().filter_map(launch).filter(|launch| launch.out > 0).collect()
}

struct Batch {
    text: String,
    prefixes: Vec<String>,
    /// The 1-based line on which each trial starts, ascending.
    lines: Vec<u32>,
    launches: Vec<Launch>,
}

fn compose(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = Canonical(print(&Module { items: header.items() }));
    let (mut prefixes, mut lines, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (place, &at) in group.iter().enumerate() {
        let prefix = format!("t{place}_");
        lines.push(1 + text.0.bytes().filter(|&b| b == b'\n').count() as u32);
        let items = prefixed(&predicted[at].trial.items(), &prefix);
        let _ = write!(text.0, "{}", predicted[at].trial.spacing.print(&Module { items }));
        all.extend(launches(&predicted[at], &prefix));
        prefixes.push(prefix);
    }
    Batch { text: text.0, prefixes, lines, launches: all }
}

/// The places of the trials on whose lines the subject complains.
fn blamed(batch: &Batch, observation: &Observation) -> Vec<usize> {
    let errors = observation.diagnostics.iter().filter(|d| d.severity >= Severity::Error);
    let lines = errors.filter_map(|d| d.line);
    lines.filter_map(|line| batch.lines.partition_point(|&start| start <= line).checked_sub(1)).collect()
}

/// What belongs to one trial of a batch, as if it had stood alone.
fn own(observation: &Observation, prefix: &str) -> Observation {
    let mut alone = Observation::new(observation.outcome);
    for (name, output) in &observation.kernels {
        let Some(name) = without_prefix(name, prefix) else { continue };
        let mut output = output.clone();
        for address in &mut output.addresses {
            if let Some(symbol) = without_prefix(&address.symbol, prefix) {
                address.symbol = symbol.to_string();
            }
        }
        alone.kernels.insert(name.to_string(), output);
    }
    let variables = observation.variables.iter();
    let own = variables.filter_map(|(name, variable)| Some((without_prefix(name, prefix)?, variable)));
    alone.variables = own.map(|(name, variable)| (name.to_string(), variable.clone())).collect();
    alone
}

fn compare(kernels: &[Kernel], observation: &Observation) -> Compared {
    let mut compared = Compared { share: Share::default(), differs: None };
    // Of what is read from memory, only addresses of variables whose place is known can be told from numbers.
    let from_memory = observation.variables.values().any(|variable| variable.base.is_some());
    let base_of = |symbol: &str| {
        let variable = observation.variables.get(symbol)?;
        variable.base.filter(|_| variable.space.as_deref() == Some("global"))
    };
    for kernel in kernels {
        let Left::Output(expected) = &kernel.left else { continue };
        let one = match observation.kernels.get(kernel.name.as_str()) {
            Some(seen) => {
                let memory = from_memory
                    .then(|| solve::memory(&expected.bytes, expected.addresses.iter().map(slot), base_of));
                compare_output(expected, seen, memory.as_deref())
            }
            None => Compared {
                share: Share { seen: 0, total: predicted_slots(expected).count() as u64 },
                differs: None,
            },
        };
        compared.share = compared.share.plus(one.share);
        compared.differs = compared.differs.or(one.differs);
    }
    compared
}

/// An address expected in a buffer, for comparison with memory.
fn slot(address: &ptxsmith_oracle::Address) -> Slot<'_> {
    Slot {
        offset: address.offset,
        width: address.width,
        symbol: &address.symbol,
        addend: address.addend,
        bits: address.addend_bits,
        byte: address.byte,
    }
}

/// The scalars that the specification says something about.
fn predicted_slots(expected: &ptxsmith_oracle::Output) -> impl Iterator<Item = (usize, usize)> {
    let known = |&(at, width): &(usize, usize)| expected.known[at..at + width].iter().all(|&known| known);
    expected.slots.iter().copied().filter(known)
}

fn compare_output(
    expected: &ptxsmith_oracle::Output,
    output: &Output,
    memory: Option<&[Option<u8>]>,
) -> Compared {
    let mut compared = Compared { share: Share::default(), differs: None };
    let nothing = Vec::new();
    let bytes = output.bytes.as_ref().unwrap_or(&nothing);
    let is_seen =
        |at: usize| at < bytes.len() && output.seen.as_ref().is_none_or(|seen| seen.get(at) == Some(&0xff));
    for (at, width) in predicted_slots(expected) {
        compared.share.total += 1;
        if !(at..at + width).all(is_seen) {
            continue;
        }
        if let Some(memory) = memory {
            let Some(held) = memory[at..at + width].iter().copied().collect::<Option<Vec<u8>>>() else {
                continue;
            };
            let slots = at as u64..(at + width) as u64;
            let is_address = expected.addresses.iter().any(|address| slots.contains(&address.offset));
            let class = if is_address { Class::WrongAddress } else { Class::WrongValue };
            compared.share.seen += 1;
            compared.differs = compared.differs.or((held != bytes[at..at + width]).then_some(class));
            continue;
        }
        let inside = |offset: u64| (at as u64..(at + width) as u64).contains(&offset);
        let address = expected.addresses.iter().find(|address| inside(address.offset));
        let mut seen = output.addresses.iter().filter(|address| inside(address.offset));
        let (found, more) = (seen.next(), seen.next());
        let wrong = match (address, found) {
            (Some(address), Some(found)) => {
                // An address of 32 bits may be told as such, with zeros behind it.
                let zeros = |from: usize| bytes[from..at + width].iter().all(|&byte| byte == 0);
                let small = found.width == 4
                    && found.generic == Some(false)
                    && !address.generic
                    && zeros(at + 4)
                    && more.is_none();
                let moved = (address.addend ^ found.addend) as u64;
                let same_addend = if found.width == 8 { moved == 0 } else { moved as u32 == 0 };
                let same = found.offset == address.offset
                    && (found.width == address.width || small)
                    && found.symbol == address.symbol.as_str()
                    && same_addend
                    && found.generic.is_none_or(|generic| generic == address.generic);
                (!same).then_some(Class::WrongAddress)
            }
            (Some(_), None) | (None, Some(_)) => Some(Class::WrongAddress),
            (None, None) => {
                (bytes[at..at + width] != expected.bytes[at..at + width]).then_some(Class::WrongValue)
            }
        };
        compared.share.seen += 1;
        compared.differs = compared.differs.or(wrong);
    }
    // Between what was written the buffer stays zero.
    let written =
        |at: usize| expected.slots.iter().any(|&(start, width)| (start..start + width).contains(&at));
    let spoiled = (0..expected.bytes.len()).any(|at| is_seen(at) && bytes[at] != 0 && !written(at));
    compared.differs = compared.differs.or(spoiled.then_some(Class::WrongValue));
    compared
}

/// Whether statements hold a kernel that [`KernelJudge`] can say something about.
pub fn holds_kernels(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Function(function) => {
            function.kind == FunctionKind::Entry
                && function.parameters.as_ref().is_some_and(|parameters| parameters.len() == 1)
                && function.body.is_some()
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::Variable;

    /// How a kernel that leaves `g+4` and 5 compares where a device left these numbers, with `g` at this place or unseen.
    fn left(address: u64, number: u64, base: Option<u64>) -> Compared {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.global .u32 other;\n\
            .visible .entry k(.param .u64 out)\n{\n.reg .u64 %o;\n.reg .u64 %a;\nld.param.u64 %o, [out];\n\
            mov.u64 %a, g+4;\nst.global.u64 [%o], %a;\nmov.u64 %a, 5;\nst.global.u64 [%o+8], %a;\nret;\n}\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        let kernels = execute(&module, &variables, &Rules::default());
        assert!(matches!(kernels[0].left, Left::Output(_)), "{:?}", kernels[0]);
        let variable = |base| Variable { space: Some("global".into()), base, ..Variable::default() };
        let mut observation = Observation::new(Outcome::Accepted);
        observation.variables.insert("g".into(), variable(base));
        observation.variables.insert("other".into(), variable(Some(0x7f00)));
        let bytes = [address.to_le_bytes(), number.to_le_bytes()].concat();
        observation.kernels.insert("k".into(), Output { size: 16, bytes: Some(bytes), ..Output::default() });
        compare(&kernels, &observation)
    }

    #[test]
    fn an_address_that_a_device_leaves_is_that_of_its_variable() {
        let same = left(0x8004, 5, Some(0x8000));
        assert_eq!((same.share.seen, same.share.total, same.differs), (2, 2, None));
        assert_eq!(left(0x8005, 5, Some(0x8000)).differs, Some(Class::WrongAddress));
        assert_eq!(left(0x8004, 6, Some(0x8000)).differs, Some(Class::WrongValue));
        // Where the variable is not seen, nothing can be said of its address.
        let unseen = left(0x9999, 5, None);
        assert_eq!((unseen.share.seen, unseen.share.total, unseen.differs), (1, 2, None));
    }
}
