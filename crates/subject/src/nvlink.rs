//! The subject `nvlink`: ptxas assembles each module, nvlink links them, and the linked program is read from
//! the cubin.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use crate::cubin;
use crate::library::NAME_WITHOUT_DEFINITION;
use crate::open::{OpenOptions, Unavailable, UnavailableKind};
use crate::process::{self, Cancel, Finished, Invocation, Limits, ProcessEnd};
use crate::ptxas::{self, Ptxas, messages};
use crate::regular;
use crate::sass::Disassembler;
use crate::subject::{Description, Error, Request, Stage, Subject};
use crate::toolchain::{Release, Tool};
use crate::unseen;
use ptxsmith_model::OutputForm;
use ptxsmith_model::{Diagnostic, INTERNAL_ERROR, Observation, Outcome, Severity};

const OUTPUT: &str = "out.cubin";
/// Maximum number of cached objects. Callers link all orders of a program's modules in sequence, so few are
/// needed.
const MOST_OBJECTS: usize = 64;

/// One release of ptxas and nvlink.
#[derive(Debug)]
pub struct Nvlink {
    ptxas: Ptxas,
    program: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
    /// Finds the constants that kernels read, if it is installed.
    disassembler: Option<Disassembler>,
    /// Cached objects, by target and source texts. They depend on nothing else.
    objects: Mutex<HashMap<ObjectKey, Arc<BuiltObject>>>,
}

/// The target, and the source texts of the modules.
type ObjectKey = (String, Vec<String>);

/// Output of ptxas for one module, or of nvlink for several: an object, or the observation of a failure.
#[derive(Debug)]
enum BuiltObject {
    Bytes(Vec<u8>),
    Failure(Box<Observation>),
}

impl Nvlink {
    /// Opens an installed release, with ptxas of the same release.
    pub(crate) fn open_installed(
        tool: &'static Tool,
        id: &str,
        options: &OpenOptions<'_>,
    ) -> Result<Nvlink, Unavailable> {
        let toolchains = options.toolchains()?;
        let program = options.installed(
            &toolchains,
            tool,
            || format!("it is not installed: ptxsmith toolchain install {tool}"),
            || toolchains.install_tool(tool, &options.cancel, options.progress),
        )?;
        let release = Release::find(tool.minor())
            .map_err(|error| Unavailable::new(UnavailableKind::NotFound, error.to_string()))?;
        let ptxas = Ptxas::open_release(release, options)?;
        let disassembler = Disassembler::find(Some(&toolchains), &options.cancel);
        Nvlink::new(id, ptxas, &program, tool.version, disassembler, options)
    }

    fn new(
        id: &str,
        ptxas: Ptxas,
        program: &Path,
        version: &str,
        disassembler: Option<Disassembler>,
        options: &OpenOptions<'_>,
    ) -> Result<Nvlink, Unavailable> {
        let sha256 = ptxas::sha256(program).map_err(|error| Unavailable::for_file(program, &error))?;
        let description = Description {
            id: id.to_owned(),
            name: "nvlink".to_owned(),
            version: Some(version.to_owned()),
            path: Some(program.display().to_string()),
            sha256: Some(sha256),
            ..ptxas.description().clone()
        };
        Ok(Nvlink {
            ptxas,
            program: program.to_owned(),
            limits: options.limits.clone(),
            cancel: options.cancel.clone(),
            description,
            disassembler,
            objects: Mutex::default(),
        })
    }

    /// Returns the object of some modules from the cache, or creates it with `make`.
    fn cached(
        &self,
        texts: &[&str],
        target: &str,
        make: impl FnOnce() -> Result<BuiltObject, Error>,
    ) -> Result<Arc<BuiltObject>, Error> {
        let key = (target.to_owned(), texts.iter().map(|&text| text.to_owned()).collect());
        if let Some(object) = self.lock_objects().get(&key) {
            return Ok(Arc::clone(object));
        }
        let object = Arc::new(make()?);
        let mut objects = self.lock_objects();
        if objects.len() >= MOST_OBJECTS {
            objects.clear();
        }
        objects.insert(key, Arc::clone(&object));
        Ok(object)
    }

    fn lock_objects(&self) -> MutexGuard<'_, HashMap<ObjectKey, Arc<BuiltObject>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assembles a module with ptxas.
    fn assemble(&self, ptx: &str, target: &str) -> Result<BuiltObject, Error> {
        let request = Request::new(ptx, target).in_form(OutputForm::Relocatable);
        let (finished, cubin) = self.ptxas.assemble(&request)?;
        let observation = ptxas::judge(&finished, cubin.as_deref(), ptx, &self.limits);
        Ok(match (observation.outcome, cubin) {
            (Outcome::Accepted, Some(bytes)) => BuiltObject::Bytes(bytes),
            _ => BuiltObject::Failure(Box::new(observation)),
        })
    }

    /// Links objects into one relocatable object with nvlink.
    fn join(&self, objects: &[Arc<BuiltObject>], target: &str) -> Result<BuiltObject, Error> {
        let (finished, object) = self.link(objects, target, &["-r"])?;
        Ok(match (finished.end, object) {
            (ProcessEnd::Exited(0), Some(bytes)) => BuiltObject::Bytes(bytes),
            (_, object) => BuiltObject::Failure(Box::new(judge(&finished, object.as_deref(), &self.limits))),
        })
    }

    fn link(
        &self,
        objects: &[Arc<BuiltObject>],
        target: &str,
        options: &[&str],
    ) -> Result<(Finished, Option<Vec<u8>>), Error> {
        let directory = process::scratch(self.limits.file).map_err(file_error("make a directory"))?;
        let mut args: Vec<OsString> = vec![format!("-arch={target}").into()];
        args.extend(options.iter().map(OsString::from));
        for (place, object) in objects.iter().enumerate() {
            let BuiltObject::Bytes(bytes) = &**object else { continue };
            let name = format!("{place}.o");
            fs::write(directory.path().join(&name), bytes).map_err(file_error("write an object"))?;
            args.push(name.into());
        }
        args.extend(["-o".into(), OUTPUT.into()]);
        let invocation = Invocation {
            program: self.program.clone(),
            args,
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let cubin = regular::read_output(&directory.path().join(OUTPUT), self.limits.file)
            .map_err(file_error("read the linked program"))?;
        Ok((finished, cubin))
    }

    /// Links the modules of a request, and returns what came out and the linked program.
    fn observe_linked(&self, request: &Request<'_>) -> Result<(Observation, Option<Vec<u8>>), Error> {
        let texts: Vec<&str> = std::iter::once(request.ptx).chain(request.with.iter().copied()).collect();
        let mut objects = Vec::with_capacity(texts.len());
        for (place, &ptx) in texts.iter().enumerate() {
            let object = self.cached(&[ptx], request.target, || self.assemble(ptx, request.target))?;
            if let BuiltObject::Failure(observation) = &*object {
                // A failure of the assembler on one module is not the linker's.
                let message = observation.diagnostics.first().map(|diagnostic| diagnostic.message.as_str());
                let why = message.or(observation.reason.as_deref()).unwrap_or("it does not say why");
                let reason = format!("ptxas does not assemble module {}: {why}", place + 1);
                return Ok((Observation::because(Outcome::Unsupported, reason), None));
            }
            objects.push(object);
        }
        if let Some(Stage { first, count }) = request.stage {
            let joined = first..first + count;
            // A stage with a single module is another object than the module itself.
            let key: Vec<&str> = [&["-r"], &texts[joined.clone()]].concat();
            let object =
                self.cached(&key, request.target, || self.join(&objects[joined.clone()], request.target))?;
            if let BuiltObject::Failure(observation) = &*object {
                return Ok(((**observation).clone(), None));
            }
            objects.splice(joined, [object]);
        }
        let (finished, cubin) = self.link(&objects, request.target, &[])?;
        let observation = judge(&finished, cubin.as_deref(), &self.limits);
        let observation = if request.with.is_empty() {
            as_single_module(observation, cubin.as_deref(), request.ptx)
        } else {
            observation
        };
        Ok((observation, cubin))
    }
}

impl Subject for Nvlink {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut observations = self.observe_each(std::slice::from_ref(request))?;
        Ok(observations.pop().expect("there is an observation of each request"))
    }

    /// Links the modules of each request, and lists the code of all linked programs in one run.
    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        let mut observations = Vec::with_capacity(requests.len());
        // The linked programs that may read constants, by target, with the places of their requests.
        let mut reading: BTreeMap<&str, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (place, request) in requests.iter().enumerate() {
            let (observation, cubin) = self.observe_linked(request)?;
            let mut texts = std::iter::once(&request.ptx).chain(request.with);
            if let Some(cubin) = cubin
                && observation.outcome == Outcome::Accepted
                && texts.any(|text| text.contains("ld.const"))
            {
                reading.entry(request.target).or_default().push((place, cubin));
            }
            observations.push(observation);
        }
        let Some(disassembler) = &self.disassembler else { return Ok(observations) };
        for (target, programs) in reading {
            let cubins: Vec<&[u8]> = programs.iter().map(|(_, cubin)| &cubin[..]).collect();
            let reads = disassembler.constant_reads(&cubins, target)?;
            for ((place, _), reads) in programs.iter().zip(reads) {
                observations[*place].constant_reads = reads;
            }
        }
        Ok(observations)
    }

    fn links(&self) -> bool {
        true
    }

    fn links_in_stages(&self) -> bool {
        true
    }
}

/// Creates the error for a file operation that failed.
fn file_error(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::File { doing: format!("{doing} for nvlink"), source }
}

/// Converts a finished run of nvlink to an observation.
fn judge(finished: &Finished, cubin: Option<&[u8]>, limits: &Limits) -> Observation {
    let printed = format!("{}{}", finished.stderr.text(), finished.stdout.text());
    let diagnostics: Vec<Diagnostic> = printed.lines().filter_map(diagnostic).collect();
    let observation = match finished.end {
        ProcessEnd::TimedOut => {
            Observation::because(Outcome::TimedOut, format!("no end after {:?}", limits.time))
        }
        ProcessEnd::Signalled(signal) => crashed(Some(signal), None),
        ProcessEnd::Exited(0) => match cubin.map(cubin::read_linked) {
            Some(Ok(linked)) => Observation { linked, ..Observation::new(Outcome::Accepted) },
            Some(Err(error)) => crashed(None, Some(format!("exit status 0, but {error}"))),
            None => crashed(None, Some("exit status 0, but no cubin".to_owned())),
        },
        ProcessEnd::Exited(status) => match ptxas::status_as_signal(status) {
            Some(signal) => crashed(Some(signal), Some(format!("exit status {status}"))),
            None if diagnostics.iter().any(reports_internal_error) => {
                crashed(None, Some(INTERNAL_ERROR.to_owned()))
            }
            None if diagnostics.iter().any(|diagnostic| diagnostic.severity >= Severity::Error) => {
                Observation::new(Outcome::Refused)
            }
            None => crashed(None, Some(format!("exit status {status} without a diagnostic"))),
        },
    };
    Observation { diagnostics, ..observation }
}

fn crashed(signal: Option<i32>, reason: Option<String>) -> Observation {
    Observation { signal, reason, ..Observation::new(Outcome::Crashed) }
}

fn reports_internal_error(diagnostic: &Diagnostic) -> bool {
    messages::own_failure(&diagnostic.message).is_some()
        || diagnostic.message.to_ascii_lowercase().contains("internal error")
}

/// Returns the observation of one module that was linked alone: its variables, as an assembler shows them. A
/// name that only another module defines is no fault of the module.
fn as_single_module(linked: Observation, cubin: Option<&[u8]>, ptx: &str) -> Observation {
    let mut messages = linked.diagnostics.iter().map(|diagnostic| &*diagnostic.message);
    match (linked.outcome, cubin.map(cubin::read)) {
        (Outcome::Accepted, Some(Ok(mut variables))) => {
            unseen::leave_out(&mut variables, ptx, false, false);
            Observation { variables, linked: Vec::new(), ..linked }
        }
        (Outcome::Accepted, Some(Err(error))) => {
            Observation::because(Outcome::Crashed, format!("exit status 0, but {error}"))
        }
        (Outcome::Refused, _) if messages.any(|message| message.starts_with("Undefined reference")) => {
            Observation {
                reason: Some(NAME_WITHOUT_DEFINITION.to_owned()),
                outcome: Outcome::Unsupported,
                ..linked
            }
        }
        _ => linked,
    }
}

/// Parses a message of nvlink: `nvlink error   : Undefined reference to 'x' in '1.o'`.
fn diagnostic(line: &str) -> Option<Diagnostic> {
    let (severity, message) = messages::severity_and_message(line.strip_prefix("nvlink ")?.trim_start())?;
    Some(Diagnostic { severity, line: None, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_severity() {
        let parsed =
            diagnostic("nvlink error   : Undefined reference to 'x' in '1.o' (target: sm_80)").unwrap();
        assert_eq!(parsed.severity, Severity::Error);
        assert_eq!(parsed.message, "Undefined reference to 'x' in '1.o' (target: sm_80)");
        assert_eq!(diagnostic("0.o: note"), None);
    }
}
