//! Judges the results of kernels: compares the bytes that the generated code stores, over many inputs, with
//! the PTX manual.
//!
//! [`ptxsmith_oracle::predict_results`] gives the expected results. The observed results come from the code that the
//! subject shows, or from a device that runs it, with the same parameters and memory ([`Subject::compute`]).
//! A kernel is not judged if either half cannot be followed.

use std::fmt::Write as _;
use std::ops::Range;

use ptxsmith_oracle::{
    AccessKind, Expectation, KernelResults, MemoryEffects, Rules, Trace, are_independent_of_place, expect,
    predict, predict_results,
};
use ptxsmith_subject::{Error, Memory, Observation, Outcome, Request, Space, Subject, Tracing};
use ptxsmith_syntax::{Module, StateSpace};

use crate::accesses::tracing_of;

/// A wrong result of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongResult {
    /// The number of the input.
    pub input: u64,
    /// The parameters and the words of memory that the kernel reads, as text.
    pub inputs: String,
    /// The value that the kernel should store, as a number.
    pub expected: String,
    /// The value that it stores, as a number.
    pub stored: String,
}

/// The verdict on one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelVerdict {
    /// Every byte with a defined value has that value.
    Agrees,
    /// Some byte has another value.
    Differs(WrongResult),
    /// The kernel is not judged, for this reason.
    NotFollowed(String),
}

/// The kernels of a module, with the results that they should have.
pub struct Calculations {
    module: Module,
    rules: Rules,
    inputs: u64,
    kernels: Vec<KernelResults>,
    /// The runs with a defined result.
    runs: Vec<KernelRun>,
    /// What a subject needs for each of these runs.
    tracings: Vec<Tracing>,
}

/// A run of a kernel over an input.
struct KernelRun {
    /// The index of the kernel.
    kernel: usize,
    /// The number of the input.
    input: u64,
}

/// The observation of a subject, and the verdict on each kernel by name. There are no verdicts if the subject
/// does not accept the module.
#[derive(Clone, Debug, Default)]
pub struct ArithmeticVerdicts {
    /// How the subject treated the module.
    pub observation: Observation,
    /// The verdicts, each with the name of its kernel.
    pub kernels: Vec<(String, KernelVerdict)>,
    /// The memory after each run, or the reason why it is not known.
    left: Vec<Result<Memory, String>>,
}

impl Calculations {
    /// Computes the expected results of a module's kernels over `inputs` inputs. `None` unless the
    /// specification accepts the module.
    pub fn new(module: Module, rules: &Rules, inputs: u64) -> Option<Calculations> {
        let Expectation::Accepted { variables, .. } = expect(&module, rules) else { return None };
        let kernels = predict_results(&module, &variables, rules, inputs);
        let (mut runs, mut tracings) = (Vec::new(), Vec::new());
        for (kernel, computed) in kernels.iter().enumerate() {
            for (input, reached) in (0..).zip(computed.runs.iter().flatten()) {
                let Some(reached) = reached else { continue };
                // Uninitialized registers hold other junk in each run.
                let junk = Some(input + 1);
                tracings.push(Tracing { junk, ..tracing_of(&computed.name, &reached.setting) });
                runs.push(KernelRun { kernel, input });
            }
        }
        Some(Calculations { module, rules: *rules, inputs, kernels, runs, tracings })
    }

    /// Returns the verdicts for an implementation that shows neither code nor results.
    pub(crate) fn unseen(&self) -> ArithmeticVerdicts {
        let mut kernels = Vec::new();
        for kernel in &self.kernels {
            let verdict = match verdict_before_runs(kernel) {
                KernelVerdict::NotFollowed(why) => KernelVerdict::NotFollowed(why),
                _ => KernelVerdict::NotFollowed(NOT_SHOWN.to_owned()),
            };
            kernels.push((kernel.name.to_string(), verdict));
        }
        ArithmeticVerdicts { kernels, ..ArithmeticVerdicts::default() }
    }

    /// Returns true if no kernel has a result that can be compared.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Runs the kernels on a subject and compares the results. `ptx` is the text of the module for this
    /// target.
    ///
    /// # Errors
    /// Returns an error if this machine or our own code fails.
    pub fn judge(&self, subject: &dyn Subject, ptx: &str, target: &str) -> Result<ArithmeticVerdicts, Error> {
        let answer = subject.compute(&Request { trace: &self.tracings, ..Request::new(ptx, target) })?;
        if answer.observation.outcome != Outcome::Accepted {
            return Ok(ArithmeticVerdicts {
                observation: answer.observation,
                ..ArithmeticVerdicts::default()
            });
        }
        let mut verdicts: Vec<KernelVerdict> = self.kernels.iter().map(verdict_before_runs).collect();
        if !subject.shows_code() {
            for (verdict, is_anywhere) in verdicts.iter_mut().zip(self.are_anywhere()) {
                if !is_anywhere && *verdict == KernelVerdict::Agrees {
                    *verdict = KernelVerdict::NotFollowed(ON_A_DEVICE.to_owned());
                }
            }
        }
        for (index, run) in self.runs.iter().enumerate() {
            let verdict = &mut verdicts[run.kernel];
            if *verdict == KernelVerdict::Agrees {
                *verdict = self.verdict_on(run, answer.left.get(index));
            }
        }
        let names = self.kernels.iter().map(|kernel| kernel.name.to_string());
        let kernels = names.zip(verdicts).collect();
        Ok(ArithmeticVerdicts { observation: answer.observation, kernels, left: answer.left })
    }

    /// Compares one run with the memory that it leaves, if that is known.
    fn verdict_on(&self, run: &KernelRun, left: Option<&Result<Memory, String>>) -> KernelVerdict {
        let runs = self.kernels[run.kernel].runs.as_ref().ok();
        let expected = runs.and_then(|runs| runs[run.input as usize].as_ref());
        match (left, expected) {
            (Some(Ok(left)), Some(expected)) => match wrong_result(expected, left, run.input) {
                Some(wrong) => KernelVerdict::Differs(wrong),
                None => KernelVerdict::Agrees,
            },
            (Some(Err(why)), _) => KernelVerdict::NotFollowed(why.clone()),
            _ => KernelVerdict::NotFollowed(NOT_SHOWN.to_owned()),
        }
    }

    /// Returns for each kernel whether a device, where memory has other addresses, leaves the same results.
    fn are_anywhere(&self) -> Vec<bool> {
        match expect(&self.module, &self.rules) {
            Expectation::Accepted { variables, .. } => {
                are_independent_of_place(&self.kernels, &self.module, &variables, &self.rules)
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether these rules predict every observed result of a kernel, and the trace of the module
    /// under them.
    pub(crate) fn predicts(&self, rules: &Rules, kernel: &str, judged: &ArithmeticVerdicts) -> (bool, Trace) {
        let prediction = predict(&self.module, rules);
        let trace = prediction.trace();
        let Expectation::Accepted { variables, .. } = prediction.data else { return (false, trace) };
        let Some(index) = self.kernels.iter().position(|computed| computed.name == kernel) else {
            return (false, trace);
        };
        let others = predict_results(&self.module, &variables, rules, self.inputs);
        let Some(Ok(others)) = others.get(index).map(|other| &other.runs) else { return (false, trace) };
        let agrees = (self.runs.iter().zip(&self.tracings).zip(&judged.left))
            .filter(|((run, _), _)| run.kernel == index)
            .all(|((run, tracing), left)| {
                let Some(Some(other)) = others.get(run.input as usize) else { return false };
                let Ok(left) = left else { return false };
                // With other initial memory the results cannot be compared: the subject was not run with it.
                tracing_of(kernel, &other.setting).memory == tracing.memory
                    && wrong_result(other, left, run.input).is_none()
            });
        (agrees, trace)
    }
}

const NOT_SHOWN: &str = "the implementation shows neither code nor results";
/// The reason why a kernel is not judged on a device: the results depend on the thread, or on the addresses
/// of memory, which the device chooses.
const ON_A_DEVICE: &str =
    "a kernel that leaves something else on another thread or where memory lies elsewhere";

/// Returns the verdict on a kernel before any run of it is compared.
fn verdict_before_runs(kernel: &KernelResults) -> KernelVerdict {
    let reason = match &kernel.runs {
        Err(why) => *why,
        Ok(runs) if runs.iter().all(Option::is_none) => "a kernel that does what is undefined",
        Ok(runs) if !runs.iter().flatten().any(writes_known_byte) => {
            "a kernel that leaves nothing that is known"
        }
        Ok(_) => return KernelVerdict::Agrees,
    };
    KernelVerdict::NotFollowed(reason.to_owned())
}

/// Returns true if the run writes a known value to `.global`.
fn writes_known_byte(run: &MemoryEffects) -> bool {
    run.written.iter().any(|((space, _), byte)| *space == StateSpace::Global && byte.is_some())
}

/// Shortens the reason why a kernel is not followed: removes registers and numbers, so that equal causes
/// compare equal.
pub fn cause(why: &str) -> String {
    match why.split_once(' ') {
        Some((opcode, _)) if why.ends_with("is not understood") => format!("{opcode} is not understood"),
        _ => match why.split_once(" at 0x") {
            // Drop the address of the instruction.
            Some((opcode, rest)) => format!("{opcode} {}", rest.split_once(' ').map_or("", |(_, rest)| rest))
                .trim_end()
                .to_owned(),
            None => why.to_owned(),
        },
    }
}

/// Returns the first wrong result of a run: a byte with the wrong value, or a byte that should not have been
/// written.
fn wrong_result(expected: &MemoryEffects, left: &Memory, input: u64) -> Option<WrongResult> {
    let address = wrong_byte(expected, left).or_else(|| unexpected_byte(expected, left))?;
    // Report the whole scalar if a single expected store covers this byte.
    let covering = expected
        .accesses
        .iter()
        .rev()
        .filter(|access| access.way != AccessKind::Read)
        .filter_map(|access| Some((access.place.ok()?.1, access.width, access.lane)))
        .find(|(start, width, _)| (*start..start + width).contains(&address));
    let (start, width, lane) = covering.unwrap_or((address, 1, 0));
    let scalar = start..start + width;
    Some(WrongResult {
        input,
        inputs: inputs(expected, lane),
        expected: number(scalar.clone(), |at| {
            expected.written.get(&(StateSpace::Global, at)).copied().flatten()
        }),
        stored: number(scalar, |at| left.get(&(Space::Global, at)).copied()),
    })
}

/// Returns the address of the first byte that has not the expected value. A byte that is not written has its
/// initial value: code may leave out a store that changes nothing.
fn wrong_byte(expected: &MemoryEffects, left: &Memory) -> Option<u64> {
    for (&(space, address), byte) in &expected.written {
        if let Some(byte) = byte
            && space == StateSpace::Global
        {
            let initial = expected.setting.memory.get(&(space, address));
            if left.get(&(Space::Global, address)).or(initial) != Some(byte) {
                return Some(address);
            }
        }
    }
    None
}

/// Returns the address of the first byte that should not have been written. A byte with its initial value
/// counts as not written: a store of the same value cannot be seen.
fn unexpected_byte(expected: &MemoryEffects, left: &Memory) -> Option<u64> {
    for (&(space, address), byte) in left {
        let place = (StateSpace::Global, address);
        if space == Space::Global
            && !expected.written.contains_key(&place)
            && expected.setting.memory.get(&place) != Some(byte)
        {
            return Some(address);
        }
    }
    None
}

/// Renders the number at these addresses in hexadecimal, with `..` for an unknown byte.
fn number(addresses: Range<u64>, byte: impl Fn(u64) -> Option<u8>) -> String {
    let bytes: Vec<Option<u8>> = addresses.rev().map(byte).collect();
    if bytes.iter().all(Option::is_none) {
        return "nothing".to_owned();
    }
    let digits: String = bytes.into_iter().map(digits_or_dots).collect();
    format!("0x{digits}")
}

fn digits_or_dots(byte: Option<u8>) -> String {
    byte.map_or("..".to_owned(), |byte| format!("{byte:02x}"))
}

/// Renders the inputs of a lane: the scalar parameters, then each word of memory that it reads, in the order
/// of the accesses.
fn inputs(reached: &MemoryEffects, lane: u32) -> String {
    let mut text = String::new();
    if !reached.setting.lanes.is_empty() {
        let _ = write!(text, "lane {lane} of {}, ", reached.setting.lanes.len());
    }
    for (nth, (_, bytes)) in reached.setting.parameters.iter().enumerate() {
        // A parameter of eight bytes is a pointer; its value is not shown.
        if bytes.len() < 8 {
            let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(text, "parameter {nth} = 0x{digits}, ");
        }
    }
    let reads =
        reached.accesses.iter().filter(|access| access.way == AccessKind::Read && access.lane == lane);
    for access in reads {
        let Ok((space, start)) = access.place else { continue };
        let digits: String = (start..start + access.width)
            .rev()
            .map(|address| digits_or_dots(reached.setting.memory.get(&(space, address)).copied()))
            .collect();
        let _ = write!(text, "[...{:x}] = 0x{digits}, ", start & 0xff);
    }
    text.trim_end_matches(", ").to_owned()
}
