//! The subject `driver`: the CUDA driver on a real device, values read back from its memory.
//!
//! `driver` passes the source text of a module to the driver's own compiler; `driver:ptxas@R` assembles with
//! a release of ptxas first and has the driver load the cubin. Both run in worker processes (`work`): a
//! crash, a hang or a kernel that loses the context costs one process and is an observation. The driver's
//! compiler prints the same messages as ptxas.
//!
//! The driver shows memory: the bytes of each `.global` and `.const` variable with its address
//! ([`Variable::base`](crate::Variable::base)), addresses as numbers ([`solve`](crate::solve)), the output
//! buffers of kernels, and the results of kernels over given parameters and memory (`driver/runs.rs`). A
//! write past a variable is detected if it changes a fence (`driver/module.rs`) or padding. A cubin is also
//! read as a file and compared with the memory that the loader produced (`driver/loaded.rs`).

mod loaded;
mod memory;
mod module;
mod runs;
mod work;

use std::time::Duration;

pub(crate) use runs::{KernelRun, WrittenMemory};
pub use work::{describe, work};

use work::DriverReport;

use crate::cubin;
use crate::open::{OpenOptions, Unavailable, UnavailableKind};
use crate::process::{self, Cancel, Invocation, Limits, ProcessEnd};
use crate::ptxas::{self, Ptxas};
use crate::serve::Serve;
use crate::subject::{Calculation, Description, Error, Request, Subject};
use crate::worker::Workers;
use ptxsmith_model::{Observation, Outcome};

const NAME: &str = "driver";

/// Maximum number of modules for one process.
const QUESTIONS: u32 = 5000;

/// Extra time for finding the devices and creating a context, in addition to the time for a module.
const START: Duration = Duration::from_secs(60);

/// The driver of this machine, on its first device.
#[derive(Debug)]
pub struct Driver {
    workers: Serve,
    /// The assembler of the cubins and its target; `None` if the driver compiles.
    assembler: Option<(Ptxas, String)>,
    limits: Limits,
}

impl Driver {
    /// Asks a worker about the driver library and its device, and creates the subject `id`.
    ///
    /// # Errors
    /// If there is no library or no device, or if the assembler supports no target that the device runs.
    pub fn open(
        id: &str,
        assembler: Option<Ptxas>,
        options: &OpenOptions<'_>,
    ) -> Result<Driver, Unavailable> {
        let workers = options.workers()?;
        let path = match &options.libcuda {
            None => None,
            Some(path) => Some(path.to_str().map(str::to_owned).ok_or_else(|| {
                Unavailable::new(UnavailableKind::CannotRun, "the library's path is not UTF-8")
            })?),
        };
        let library = path.as_ref().map(|path| format!("--libcuda={path}"));
        let args = workers.args(NAME, library);
        // The driver reserves address space for the memory of all devices, so any limit on address space
        // would be exceeded.
        let limits = Limits { memory: u64::MAX, time: options.limits.time + START, ..options.limits.clone() };
        let described = ask(workers, &args, &limits, &options.cancel)?;
        let mut description = Description { id: id.to_owned(), path, ..described };
        let mut with_target = None;
        if let Some(ptxas) = assembler {
            let target = native_target(&description, ptxas.description())?;
            description = combined_description(description, ptxas.description());
            with_target = Some((ptxas, target));
        }
        let (program, cancel) = (workers.program.clone(), options.cancel.clone());
        let workers = Serve::own_worker(program, args, limits.clone(), cancel, description, QUESTIONS);
        Ok(Driver { workers, assembler: with_target, limits })
    }
}

/// Starts a worker to get the description of the driver.
fn ask(
    workers: &Workers,
    args: &[String],
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Description, Unavailable> {
    let directory =
        process::scratch(0).map_err(|error| Unavailable::new(UnavailableKind::Machine, error.to_string()))?;
    let invocation = Invocation {
        program: workers.program.clone(),
        args: args.iter().map(Into::into).chain(["--describe".into()]).collect(),
        directory: None,
        temporary: directory.path().to_owned(),
    };
    let finished = process::run(&invocation, limits, cancel).map_err(|error| {
        let kind = match error {
            process::ProcessError::Cancelled(_) => UnavailableKind::Cancelled,
            _ => UnavailableKind::CannotRun,
        };
        Unavailable::new(kind, error.to_string())
    })?;
    match serde_json::from_slice(&finished.stdout.bytes) {
        Ok(DriverReport::Available(description)) => Ok(*description),
        Ok(DriverReport::Unavailable(unavailable)) => Err(unavailable),
        Err(_) => {
            let how = match finished.end {
                ProcessEnd::Exited(status) => format!("exit status {status}"),
                ProcessEnd::Signalled(signal) => format!("signal {signal}"),
                ProcessEnd::TimedOut => format!("nothing for {:?}", limits.time),
            };
            let stderr = finished.stderr.text();
            let last_line = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            let reason = format!("the driver takes its process along: {how} {last_line}");
            Err(Unavailable::new(UnavailableKind::CannotRun, reason))
        }
    }
}

/// Returns the assembler's best target with code that runs on the device: the device's own, or an earlier one
/// of the same generation.
fn native_target(device: &Description, assembler: &Description) -> Result<String, Unavailable> {
    let capability = device.targets.iter().filter_map(|target| target_number(target)).max().unwrap_or(0);
    let runnable = assembler
        .targets
        .iter()
        .filter(|target| target_number(target).is_some_and(|n| n <= capability && n / 10 == capability / 10));
    let best = runnable.max_by_key(|target| target_number(target));
    best.cloned().ok_or_else(|| {
        let reason =
            format!("{} makes no code for sm_{capability}, the device of this machine", assembler.id);
        Unavailable::new(UnavailableKind::CannotRun, reason)
    })
}

/// Returns 90 for `sm_90`, and nothing for targets such as `sm_90a`.
fn target_number(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.parse().ok()
}

/// Returns the description of a driver that loads the output of an assembler.
fn combined_description(driver: Description, assembler: &Description) -> Description {
    let mut machine = driver.machine;
    machine.insert("driver".to_owned(), driver.version.unwrap_or_default());
    let mut targets = driver.targets;
    targets.retain(|target| assembler.targets.contains(target));
    Description {
        version: assembler.version.clone(),
        max_ptx: assembler.max_ptx.clone(),
        targets,
        path: assembler.path.clone(),
        sha256: assembler.sha256.clone(),
        machine,
        ..driver
    }
}

impl Subject for Driver {
    fn description(&self) -> &Description {
        self.workers.description()
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let Some((ptxas, target)) = &self.assembler else { return self.workers.observe(request) };
        let (text, _) = module::insert_fences(request.ptx);
        let (finished, cubin) = ptxas.assemble(&Request::new(&text, target))?;
        let limits = self.limits.for_text(request.ptx.len());
        let assembled = ptxas::judge(&finished, cubin.as_deref(), request.ptx, &limits);
        match (assembled.outcome, cubin) {
            (Outcome::Accepted, Some(cubin)) => {
                let mut observation = self.workers.ask_worker(request, Some(&cubin), &[])?.observation;
                observation.diagnostics.splice(..0, assembled.diagnostics);
                let in_cubin = cubin::read(&cubin).unwrap_or_default();
                let different = loaded::different_variables(&in_cubin, &observation.variables);
                if !different.is_empty() && !module::has_narrow_address(request.ptx) {
                    let names = different.join("`, `");
                    observation.outcome = Outcome::Crashed;
                    observation.reason = Some(format!("memory is not what the cubin says: `{names}`"));
                }
                Ok(observation)
            }
            _ if work::asks_for_an_object(&assembled.diagnostics) => {
                Ok(Observation { outcome: Outcome::Unavailable, ..assembled })
            }
            _ => Ok(assembled),
        }
    }

    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let runs: Vec<Result<KernelRun, String>> = request.trace.iter().map(runs::run).collect();
        let possible: Vec<KernelRun> = runs.iter().flatten().cloned().collect();
        let request = Request { trace: &[], ..*request };
        let result = match &self.assembler {
            None => self.workers.ask_worker(&request, None, &possible)?,
            Some((ptxas, target)) => {
                let (finished, cubin) = ptxas.assemble(&Request::new(request.ptx, target))?;
                let limits = self.limits.for_text(request.ptx.len());
                let assembled = ptxas::judge(&finished, cubin.as_deref(), request.ptx, &limits);
                match cubin.filter(|_| assembled.outcome == Outcome::Accepted) {
                    Some(cubin) => self.workers.ask_worker(&request, Some(&cubin), &possible)?,
                    None => assembled.into(),
                }
            }
        };
        let mut memories = result.left.into_iter();
        let left = runs.into_iter().map(|run| {
            run?;
            let memory = memories.next();
            runs::memory(memory.unwrap_or_else(|| Err("the device says nothing of it".to_owned())))
        });
        Ok(Calculation { left: left.collect(), observation: result.observation })
    }

    fn computes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_targets(targets: &[&str]) -> Description {
        Description { targets: targets.iter().map(|&t| t.to_owned()).collect(), ..Description::default() }
    }

    #[test]
    fn a_cubin_is_made_for_the_device_or_one_of_its_generation() {
        let device = with_targets(&["sm_75", "sm_80", "sm_86", "sm_89"]);
        let target = |targets: &[&str]| {
            native_target(&device, &with_targets(targets)).map_err(|unavailable| unavailable.reason)
        };
        assert_eq!(target(&["sm_80", "sm_89", "sm_90", "sm_90a"]).as_deref(), Ok("sm_89"));
        assert_eq!(target(&["sm_80", "sm_86"]).as_deref(), Ok("sm_86"));
        assert_eq!(
            target(&["sm_75", "sm_90"]).unwrap_err(),
            " makes no code for sm_89, the device of this machine"
        );
    }
}
