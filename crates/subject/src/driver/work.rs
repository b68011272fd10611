//! The worker's side of `driver`: loads a module and reads its variables back from the device.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::Path;

use ptxsmith_driver::{CallError, Device, DriverContext, DriverLibrary, LIBRARY, LoadedModule};
use serde::{Deserialize, Serialize};

use super::memory::{self, MemoryPlace, PlaceContents};
use super::module::{self, SearchedVariable};
use super::runs;
use crate::open::{Unavailable, UnavailableKind};
use crate::ptxas::{self, messages};
use crate::solve;
use crate::subject::{Description, Launch};
use crate::toolchain::max_ptx;
use crate::worker::{self, QuestionResult, WorkError, WorkerQuestion, WorkerState};
use ptxsmith_model::{Address, Diagnostic, Observation, Outcome, Output, Severity, Variable};

/// Driver errors that are handled specially here (`CUresult`).
const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;
const INVALID_IMAGE: i32 = 200;
const NO_BINARY_FOR_GPU: i32 = 209;
const INVALID_PTX: i32 = 218;
const JIT_COMPILER_NOT_FOUND: i32 = 221;
const UNSUPPORTED_PTX_VERSION: i32 = 222;
const JIT_COMPILATION_DISABLED: i32 = 223;

/// A worker's report on the driver: its description, or why there is none.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DriverReport {
    /// The driver and a device are available.
    Available(Box<Description>),
    /// Why they are not.
    Unavailable(Unavailable),
}

/// Prints the description of the driver library at this path; without a path, of the library that the
/// system's loader finds.
pub fn describe(library: Option<&Path>, mut to: impl Write) -> Result<(), WorkError> {
    serde_json::to_writer(&mut to, &report(library)).map_err(io::Error::from)?;
    Ok(writeln!(to)?)
}

fn report(library: Option<&Path>) -> DriverReport {
    let described = load(library).and_then(|driver| {
        let device = driver
            .device(0)
            .map_err(|error| Unavailable::new(UnavailableKind::CannotRun, error.to_string()))?;
        Ok(description(&driver, &device))
    });
    described
        .map_or_else(DriverReport::Unavailable, |description| DriverReport::Available(Box::new(description)))
}

/// Loads the library and looks for a device.
fn load(library: Option<&Path>) -> Result<DriverLibrary, Unavailable> {
    let name = library.map_or_else(|| LIBRARY.to_owned(), |path| path.display().to_string());
    let driver = DriverLibrary::load(library).map_err(|error| {
        let kind = match error {
            ptxsmith_driver::DriverLoadError::Lacks(_) => UnavailableKind::NotTheSubject,
            _ if library.is_some_and(Path::exists) => UnavailableKind::CannotRun,
            _ => UnavailableKind::NotFound,
        };
        Unavailable::new(kind, format!("{name} cannot be loaded: {error}"))
    })?;
    driver.init().map_err(not_started)?;
    match driver.devices().map_err(not_started)? {
        0 => Err(Unavailable::new(UnavailableKind::NoDevice, "the driver finds no device")),
        _ => Ok(driver),
    }
}

/// Explains why the driver does not start.
fn not_started(error: CallError) -> Unavailable {
    match error.code {
        NO_DEVICE => {
            Unavailable::new(UnavailableKind::NoDevice, format!("the driver finds no device ({error})"))
        }
        _ => Unavailable::new(UnavailableKind::CannotRun, format!("the driver does not start ({error})")),
    }
}

fn description(driver: &DriverLibrary, device: &Device) -> Description {
    let version = driver.version().map(|(major, minor)| format!("{major}.{minor}"));
    let (major, minor) = device.capability;
    let mut machine = BTreeMap::from([
        ("device".to_owned(), device.name.clone()),
        ("compute capability".to_owned(), format!("{major}.{minor}")),
    ]);
    let numbers = [
        ("multiprocessors", device.multiprocessors, ""),
        ("highest clock of the multiprocessors", device.clock_khz, " kHz"),
        ("highest clock of the memory", device.memory_clock_khz, " kHz"),
    ];
    for (name, value, unit) in numbers {
        if let Some(value) = value {
            machine.insert(name.to_owned(), format!("{value}{unit}"));
        }
    }
    Description {
        name: super::NAME.to_owned(),
        max_ptx: version.as_deref().and_then(max_ptx).map(str::to_owned),
        version,
        lineage: Some(ptxas::LINEAGE.to_owned()),
        targets: targets(major, minor),
        relocations: Some(false),
        values: Some(true),
        // The driver looks up a variable by name only, so the request must name the variables.
        lists: Some(false),
        machine,
        ..Description::default()
    }
}

/// Returns the targets that a device of this compute capability can run: all up to its own.
fn targets(major: u32, minor: u32) -> Vec<String> {
    const KNOWN: [u32; 20] =
        [30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 120];
    let native = major * 10 + minor;
    let mut targets: Vec<u32> = KNOWN.into_iter().filter(|target| *target < native).collect();
    targets.push(native);
    targets.into_iter().map(|target| format!("sm_{target}")).collect()
}

/// Runs a worker: creates one context and answers questions until there are no more or the context is lost.
pub fn work(library: Option<&Path>, from: impl BufRead, to: impl Write) -> Result<(), WorkError> {
    let driver = load(library);
    let driver = driver.as_ref().map_err(|unavailable| unavailable.reason.clone());
    let context = driver.and_then(|driver| driver.context(0).map_err(|error| error.to_string()));
    worker::answer(from, to, |question| match &context {
        Ok(context) => observe(context, question),
        Err(reason) => {
            (Ok(Observation::because(Outcome::Unavailable, reason.clone()).into()), WorkerState::Ready)
        }
    })
}

/// Observes one module. The error reports something that our reader does not support.
fn observe(
    context: &DriverContext<'_>,
    question: &WorkerQuestion,
) -> (Result<QuestionResult, String>, WorkerState) {
    let image = match &question.image {
        Some(hex) => match hex::decode(hex) {
            Ok(bytes) => bytes,
            Err(error) => return (Err(format!("the cubin is no hex: {error}")), WorkerState::Ready),
        },
        // The memory that kernels leave is judged without fences.
        None if !question.runs.is_empty() => question.ptx.clone().into_bytes(),
        None => module::insert_fences(&question.ptx).0.into_bytes(),
    };
    let (module, log) = match context.load(&image) {
        Ok(loaded) => loaded,
        Err(refused) => return failure_observation(&refused.error, &refused.log, question),
    };
    let observed = match &question.runs[..] {
        [] => read_back(context, &module, question).map(QuestionResult::from),
        runs => runs::run_all(context, &module, runs)
            .map(|left| QuestionResult { observation: Observation::new(Outcome::Accepted), left }),
    };
    // Unloading waits for kernels that still run.
    let observed = observed.and_then(|answered| module.unload().map(|()| answered));
    match observed {
        Ok(mut answered) => {
            let (diagnostics, _) = messages::parse(&log);
            answered.observation.diagnostics = diagnostics;
            (Ok(answered), WorkerState::Ready)
        }
        Err(error) => failure_observation(&error, &log, question),
    }
}

/// Converts a failed driver call to an observation of the module.
fn failure_observation(
    error: &CallError,
    log: &str,
    question: &WorkerQuestion,
) -> (Result<QuestionResult, String>, WorkerState) {
    let (mut diagnostics, other) = messages::parse(log);
    let reason = error.to_string();
    let outcome = match error.code {
        // The header asks for more than this driver or device supports: the module is not at fault.
        UNSUPPORTED_PTX_VERSION
        | NO_BINARY_FOR_GPU
        | JIT_COMPILER_NOT_FOUND
        | JIT_COMPILATION_DISABLED
        | OUT_OF_MEMORY => Outcome::Unavailable,
        INVALID_PTX => match ptxas::refusal(&diagnostics, &question.ptx) {
            _ if asks_for_an_object(&diagnostics) => Outcome::Unavailable,
            Some(outcome) => outcome,
            None => {
                let message = other.last().map_or_else(|| reason.clone(), |line| (*line).to_owned());
                diagnostics.push(Diagnostic { severity: Severity::Error, line: None, message });
                Outcome::Refused
            }
        },
        // The loader rejects a cubin that it cannot read.
        INVALID_IMAGE if question.image.is_some() => {
            diagnostics.push(Diagnostic { severity: Severity::Error, line: None, message: reason.clone() });
            Outcome::Refused
        }
        _ => Outcome::Crashed,
    };
    let next = if error.is_sticky() { WorkerState::Spent } else { WorkerState::Ready };
    (Ok(Observation { diagnostics, ..Observation::because(outcome, reason) }.into()), next)
}

/// Whether a module is rejected because it can only be compiled to an object, which must be linked before it
/// is loaded.
pub(super) fn asks_for_an_object(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.message.contains("requires command line option '--compile-only'"))
}

/// Reads the variables, then runs the kernels.
fn read_back(
    context: &DriverContext<'_>,
    module: &LoadedModule<'_>,
    question: &WorkerQuestion,
) -> Result<Observation, CallError> {
    let wanted = module::searched_variables(&question.ptx, &question.read);
    let mut places = Vec::with_capacity(wanted.len());
    for name in wanted.keys() {
        places.extend(place(module, name.clone(), false)?);
    }
    for index in 0.. {
        match place(module, module::fence(index), true)? {
            Some(fence) => places.push(fence),
            None => break,
        }
    }
    let read = memory::read(places, module::FENCE_BYTE, |address, length| context.read(address, length))?;
    let mut observation = Observation::new(Outcome::Accepted);
    // A narrow address overwrites what follows it; that is judged where the whole module is known.
    let has_narrow = module::has_narrow_address(&question.ptx);
    for contents in read.iter().filter(|contents| !contents.place.is_fence) {
        let Some(wanted) = wanted.get(&contents.place.name) else { continue };
        if !contents.beyond.is_empty() && !has_narrow && past_its_end(contents, &read).is_none() {
            let PlaceContents { place, beyond, .. } = contents;
            let reason =
                format!("memory behind variable `{}` was overwritten: {}", place.name, hex::encode(beyond));
            return Ok(Observation::because(Outcome::Crashed, reason));
        }
        observation.variables.insert(contents.place.name.as_str().into(), variable(contents, wanted, &read));
    }
    for launch in &question.launch {
        match run(module, launch)? {
            Ok(Some(output)) => drop(observation.kernels.insert(launch.kernel.clone(), output)),
            Ok(None) => {}
            Err(reason) => return Ok(Observation::because(Outcome::Crashed, reason)),
        }
    }
    Ok(observation)
}

/// Returns the location of a variable or a fence; `None` if the module exports none of this name.
fn place(module: &LoadedModule<'_>, name: String, is_fence: bool) -> Result<Option<MemoryPlace>, CallError> {
    let global = module.global(&name)?;
    Ok(global.map(|(base, size)| MemoryPlace { name, base, size: size as u64, is_fence }))
}

fn variable(contents: &PlaceContents, wanted: &SearchedVariable, all: &[PlaceContents]) -> Variable {
    let PlaceContents { place, bytes, .. } = contents;
    let mut bytes = bytes.clone();
    let addresses = match past_its_end(contents, all) {
        Some(address) => {
            bytes[address.offset as usize..].fill(0);
            Some(vec![address])
        }
        None => wanted.plain.then(Vec::new),
    };
    // Alignment beyond a page cannot be inferred from an address.
    let align = 1 << place.base.trailing_zeros().min(12);
    Variable {
        space: Some(wanted.space.as_str().into()),
        size: Some(place.size),
        align: Some(align),
        bytes: Some(bytes),
        addresses,
        base: Some(place.base),
        ..Variable::default()
    }
}

/// Finds an eight-byte address that begins in a variable and ends past it, if that explains the overwritten
/// bytes there.
fn past_its_end(contents: &PlaceContents, all: &[PlaceContents]) -> Option<Address> {
    let PlaceContents { bytes, beyond, .. } = contents;
    if beyond.is_empty() {
        return None;
    }
    let length = bytes.len() + beyond.len();
    let offset = length.checked_sub(8).filter(|offset| *offset < bytes.len());
    // The upper bytes of an address are zero, so the last byte that changed need not be the last byte
    // written.
    let candidates = offset.unwrap_or(0)..bytes.len();
    let variables = all.iter().map(|other| &other.place).filter(|place| !place.is_fence);
    let owners = variables.map(|place| (place.name.as_str(), place.base, place.size));
    candidates.into_iter().find_map(|offset| {
        let mut value = [0; 8];
        let known = bytes[offset..].iter().chain(beyond).take(8);
        let count = known.clone().count();
        for (to, from) in value.iter_mut().zip(known) {
            *to = *from;
        }
        let (symbol, addend) = solve::owner(u64::from_le_bytes(value), owners.clone())?;
        (offset + count > bytes.len()).then(|| Address {
            offset: offset as u64,
            width: 8,
            symbol: symbol.to_owned(),
            addend,
            generic: None,
            byte: None,
        })
    })
}

/// Runs a kernel; the inner error describes illegal behavior of the kernel.
fn run(module: &LoadedModule<'_>, launch: &Launch) -> Result<Result<Option<Output>, String>, CallError> {
    let Some(ran) = module.run(&launch.kernel, launch.out as usize)? else { return Ok(Ok(None)) };
    if ran.wrote_outside {
        return Ok(Err(format!("kernel `{}` wrote outside of its output buffer", launch.kernel)));
    }
    Ok(Ok(Some(Output { size: launch.out, bytes: Some(ran.bytes), ..Output::default() })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_runs_programs_for_all_earlier_ones() {
        assert_eq!(targets(9, 0).last().map(String::as_str), Some("sm_90"));
        assert!(targets(9, 0).contains(&"sm_80".to_owned()) && !targets(9, 0).contains(&"sm_100".to_owned()));
        assert_eq!(targets(12, 1).last().map(String::as_str), Some("sm_121"));
    }

    #[test]
    fn an_address_that_ends_behind_a_variable_is_told_from_other_writes() {
        let contents = |name: &str, base: u64, bytes: &[u8], beyond: &[u8]| PlaceContents {
            place: MemoryPlace { name: name.to_owned(), base, size: bytes.len() as u64, is_fence: false },
            bytes: bytes.to_vec(),
            beyond: beyond.to_vec(),
        };
        let target = contents("x", 0x7f01_0203_0400, &[0; 16], &[]);
        let value = (target.place.base + 4).to_le_bytes();
        // Six bytes tell a device address; the two above are zero and may be what was there before.
        let holder = contents("p", 0x1000, &value[..4], &value[4..6]);
        let address = past_its_end(&holder, &[target.clone(), holder.clone()]).unwrap();
        assert_eq!((address.offset, address.width, address.symbol.as_str(), address.addend), (0, 8, "x", 4));
        let other = contents("p", 0x1000, &[1, 2, 3, 4], &[9]);
        assert_eq!(past_its_end(&other, &[target, other.clone()]), None);
    }
}
