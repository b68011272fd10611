//! Judges the results of kernels: compares the bytes that the generated code stores, over many inputs, with the PTX manual.
//!
//! [`ptxsmith_oracle::computed`] gives the expected results. The observed results come from the code that the subject shows, or from a
//! device that runs it, with the same parameters and memory ([`Subject::compute`]). A kernel is not judged if either half cannot be
//! followed.

use std::fmt::Write as _;

use ptxsmith_oracle::{
    Computed, Expectation, Reached, Rules, Trace, Way, are_anywhere, computed, expect, predict,
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
    kernels: Vec<Computed>,
    /// Index of the kernel, number of the input, and the run itself, for each pair of kernel and input whose result is defined.
    runs: Vec<(usize, u64, Tracing)>,
}

/// The observation of a subject, and the verdict on each kernel by name. There are no verdicts if the subject does not accept the module.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// How the subject treated the module.
    pub observation: Observation,
    /// The verdicts, each with the name of its kernel.
    pub kernels: Vec<(String, KernelVerdict)>,
    /// The memory after each run, or the reason why it is not known.
    left: Vec<Result<Memory, String>>,
}

impl Calculations {
    /// Computes the expected results of a module's kernels over `inputs` inputs. `None` unless the specification accepts the module.
    pub fn new(module: Module, rules: &Rules, inputs: u64) -> Option<Calculations> {
        let Expectation::Accepted { variables, .. } = expect(&module, rules) else { return None };
        let kernels = computed(&module, &variables, rules, inputs);
        let mut runs = Vec::new();
        for (kernel, computed) in kernels.iter().enumerate() {
            let of_kernel = computed.runs.iter().flatten().enumerate();
            for (input, reached) in of_kernel.filter_map(|(input, run)| Some((input as u64, run.as_ref()?))) {
                // Uninitialized registers hold other junk in each run.
                let junk = Some(input + 1);
                let tracing = Tracing { junk, ..tracing_of(&computed.name, &reached.setting) };
                runs.push((kernel, input, tracing));
            }
        }
        Some(Calculations { module, rules: *rules, inputs, kernels, runs })
    }

    /// Returns the verdicts for an implementation that shows neither code nor results.
    pub(crate) fn unseen(&self) -> Judgement {
        let unseen = |kernel: &Computed| match unjudged(kernel) {
            KernelVerdict::NotFollowed(why) => KernelVerdict::NotFollowed(why),
            _ => KernelVerdict::NotFollowed(NOT_SHOWN.to_owned()),
        };
        let kernels = self.kernels.iter().map(|kernel| (kernel.name.to_string(), unseen(kernel)));
        Judgement { kernels: kernels.collect(), ..Judgement::default() }
    }

    /// Whether no kernel has a result that can be compared.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Runs the kernels on a subject and compares the results. `ptx` is the text of the module for this target.
    ///
    /// # Errors
    /// Returns an error if this machine or our own code fails.
    pub fn judge(&self, subject: &dyn Subject, ptx: &str, target: &str) -> Result<Judgement, Error> {
        let trace: Vec<Tracing> = self.runs.iter().map(|(.., run)| run.clone()).collect();
        let answer = subject.compute(&Request { trace: &trace, ..Request::new(ptx, target) })?;
        if answer.observation.outcome != Outcome::Accepted {
            return Ok(Judgement { observation: answer.observation, ..Judgement::default() });
        }
        let unseen = || KernelVerdict::NotFollowed(NOT_SHOWN.to_owned());
        let mut verdicts: Vec<KernelVerdict> = self.kernels.iter().map(unjudged).collect();
        if !subject.shows_code() {
            for (verdict, is_anywhere) in verdicts.iter_mut().zip(self.are_anywhere()) {
                if !is_anywhere && *verdict == KernelVerdict::Agrees {
                    *verdict = KernelVerdict::NotFollowed(ON_A_DEVICE.to_owned());
                }
            }
        }
        for (nth, (kernel, input, _)) in self.runs.iter().enumerate() {
            let verdict = &mut verdicts[*kernel];
            if *verdict != KernelVerdict::Agrees {
                continue;
            }
            let expected =
                self.kernels[*kernel].runs.as_ref().ok().and_then(|runs| runs[*input as usize].as_ref());
            *verdict = match (answer.left.get(nth), expected) {
                (Some(Ok(left)), Some(expected)) => match wrong_result(expected, left, *input) {
                    Some(wrong) => KernelVerdict::Differs(wrong),
                    None => KernelVerdict::Agrees,
                },
                (Some(Err(why)), _) => KernelVerdict::NotFollowed(why.clone()),
                _ => unseen(),
            };
        }
        let names = self.kernels.iter().map(|kernel| kernel.name.to_string());
        let kernels = names.zip(verdicts).collect();
        Ok(Judgement { observation: answer.observation, kernels, left: answer.left })
    }

    /// Returns for each kernel whether a device, where memory has other addresses, leaves the same results.
    fn are_anywhere(&self) -> Vec<bool> {
        match expect(&self.module, &self.rules) {
            Expectation::Accepted { variables, .. } => {
                are_anywhere(&self.kernels, &self.module, &variables, &self.rules)
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether these rules predict every result that was seen of a kernel, and the trace of the module under them.
    pub(crate) fn predicts(&self, rules: &Rules, kernel: &str, judged: &Judgement) -> (bool, Trace) {
        let prediction = predict(&self.module, rules);
        let trace = prediction.trace();
        let Expectation::Accepted { variables, .. } = prediction.data else { return (false, trace) };
        let others = computed(&self.module, &variables, rules, self.inputs);
        let Some(at) = self.kernels.iter().position(|own| own.name == kernel) else { return (false, trace) };
        let Some(Ok(others)) = others.get(at).map(|other| &other.runs) else { return (false, trace) };
        let mut own = self.runs.iter().zip(&judged.left).filter(|((kernel, ..), _)| *kernel == at);
        let agrees = |((_, input, run), left): (&(usize, u64, Tracing), &Result<Memory, String>)| {
            let (Some(Some(other)), Ok(left)) = (others.get(*input as usize), left) else { return false };
            // With other initial memory the results cannot be compared: the subject was not run with it.
            tracing_of(kernel, &other.setting).memory == run.memory
                && wrong_result(other, left, *input).is_none()
        };
        (own.all(agrees), trace)
    }
}

const NOT_SHOWN: &str = "the implementation shows neither code nor results";
/// The reason why a kernel is not judged on a device: the results depend on the thread, or on the addresses of memory, which the device
/// chooses.
const ON_A_DEVICE: &str =
    "a kernel that leaves something else on another thread or where memory lies elsewhere";

/// Returns the verdict on a kernel before any run of it is compared.
fn unjudged(kernel: &Computed) -> KernelVerdict {
    let leaves = |run: &Reached| {
        run.written.iter().any(|((space, _), byte)| *space == StateSpace::Global && byte.is_some())
    };
    match &kernel.runs {
        Err(why) => KernelVerdict::NotFollowed((*why).to_owned()),
        Ok(runs) if runs.iter().all(Option::is_none) => {
            KernelVerdict::NotFollowed("a kernel that does what is undefined".to_owned())
        }
        Ok(runs) if !runs.iter().flatten().any(leaves) => {
            KernelVerdict::NotFollowed("a kernel that leaves nothing that is known".to_owned())
        }
        Ok(_) => KernelVerdict::Agrees,
    }
}

/// Shortens the reason why a kernel is not followed: removes registers and numbers, so that equal causes compare equal.
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

/// Returns the first wrong result of a run: a byte with the wrong value, or a byte that should not have been written.
fn wrong_result(expected: &Reached, left: &Memory, input: u64) -> Option<WrongResult> {
    let expected_bytes = expected.written.iter().filter(|((space, _), _)| *space == StateSpace::Global);
    let wrong = |(&(_, at), byte): (&(StateSpace, u64), &Option<u8>)| {
        byte.is_some_and(|byte| left.get(&(Space::Global, at)) != Some(&byte)).then_some(at)
    };
    // A byte with its initial value counts as not written: a store of the same value cannot be seen.
    let unasked = |(&(space, at), byte): (&(Space, u64), &u8)| {
        let place = (StateSpace::Global, at);
        let is_kept = expected.setting.memory.get(&place) == Some(byte);
        (space == Space::Global && !expected.written.contains_key(&place) && !is_kept).then_some(at)
    };
    let at = expected_bytes.filter_map(|(place, byte)| wrong((place, byte))).next();
    let at = at.or_else(|| left.iter().filter_map(unasked).next())?;
    // Report the whole scalar if a single expected store covers this byte.
    let stores = expected.accesses.iter().rev().filter(|access| access.way != Way::Read);
    let (start, width, lane) = stores
        .filter_map(|access| Some((access.place.ok()?.1, access.width, access.lane)))
        .find(|(start, width, _)| (*start..start + width).contains(&at))
        .unwrap_or((at, 1, 0));
    let number = |byte: &dyn Fn(u64) -> Option<u8>| -> String {
        let bytes: Vec<Option<u8>> = (start..start + width).rev().map(byte).collect();
        if bytes.iter().all(Option::is_none) {
            return "nothing".to_owned();
        }
        let digits = bytes.iter().map(|byte| byte.map_or("..".to_owned(), |byte| format!("{byte:02x}")));
        format!("0x{}", digits.collect::<String>())
    };
    Some(WrongResult {
        input,
        inputs: inputs(expected, lane),
        expected: number(&|at| expected.written.get(&(StateSpace::Global, at)).copied().flatten()),
        stored: number(&|at| left.get(&(Space::Global, at)).copied()),
    })
}

/// Renders the inputs of a lane: the scalar parameters, then each word of memory that it reads, in the order of the accesses.
fn inputs(reached: &Reached, lane: u32) -> String {
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
    let reads = reached.accesses.iter().filter(|access| access.way == Way::Read && access.lane == lane);
    for access in reads {
        let Ok((space, at)) = access.place else { continue };
        let byte = |at| {
            reached.setting.memory.get(&(space, at)).map_or("..".to_owned(), |byte| format!("{byte:02x}"))
        };
        let digits: String = (at..at + access.width).rev().map(byte).collect();
        let _ = write!(text, "[...{:x}] = 0x{digits}, ", at & 0xff);
    }
    text.trim_end_matches(", ").to_owned()
}
