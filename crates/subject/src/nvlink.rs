//! The subject `nvlink`: ptxas assembles each module, nvlink links them, and the linked program is read from the cubin.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cubin;
use crate::open::{OpenOptions, Unavailable, UnavailableKind};
use crate::process::{self, Cancel, End, Finished, Invocation, Limits};
use crate::ptxas::{self, Ptxas, messages};
use crate::subject::{Description, Error, Request, Subject};
use crate::toolchain::{Release, Tool};
use ptxsmith_model::OutputForm;
use ptxsmith_model::{Diagnostic, INTERNAL_ERROR, Observation, Outcome, Severity};

const OUTPUT: &str = "out.cubin";
/// Objects that are kept: all orders of the modules of a program are linked one after the other.
const MOST_OBJECTS: usize = 64;

/// One release of ptxas and nvlink.
#[derive(Debug)]
pub struct Nvlink {
    ptxas: Ptxas,
    program: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
    /// What ptxas made of modules, by target and text. It depends on nothing else.
    objects: Mutex<HashMap<(String, String), Arc<Object>>>,
}

/// What ptxas made of a module: an object, or what it did instead.
#[derive(Debug)]
enum Object {
    Bytes(Vec<u8>),
    None(Observation),
}

impl Nvlink {
    /// A release that is installed by name, with ptxas of the same release.
    pub(crate) fn installed(
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
        let ptxas = Ptxas::release(release, options)?;
        Nvlink::new(id, ptxas, &program, tool.version, options)
    }

    fn new(
        id: &str,
        ptxas: Ptxas,
        program: &Path,
        version: &str,
        options: &OpenOptions<'_>,
    ) -> Result<Nvlink, Unavailable> {
        let sha256 = ptxas::sha256(program).map_err(|error| Unavailable::of_file(program, &error))?;
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
            objects: Mutex::default(),
        })
    }

    /// What ptxas makes of a module, made once.
    fn object(&self, ptx: &str, target: &str) -> Result<Arc<Object>, Error> {
        let key = (target.to_owned(), ptx.to_owned());
        let kept = |objects: &Mutex<HashMap<_, Arc<Object>>>| {
            objects.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
        };
        if let Some(object) = kept(&self.objects) {
            return Ok(object);
        }
        let request = Request::new(ptx, target).in_form(OutputForm::Relocatable);
        let (finished, cubin) = self.ptxas.assemble(&request)?;
        let seen = ptxas::judge(&finished, cubin.as_deref(), ptx, &self.limits);
        let object = match (seen.outcome, cubin) {
            (Outcome::Accepted, Some(bytes)) => Object::Bytes(bytes),
            _ => Object::None(seen),
        };
        let object = Arc::new(object);
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.len() >= MOST_OBJECTS {
            objects.clear();
        }
        objects.insert(key, Arc::clone(&object));
        Ok(object)
    }

    fn link(&self, objects: &[Arc<Object>], target: &str) -> Result<(Finished, Option<Vec<u8>>), Error> {
        let failed =
            |doing: &'static str| move |source| Error::File { doing: format!("{doing} for nvlink"), source };
        let directory = process::scratch(self.limits.file).map_err(failed("make a directory"))?;
        let mut args = vec![format!("-arch={target}").into()];
        for (place, object) in objects.iter().enumerate() {
            let Object::Bytes(bytes) = &**object else { continue };
            let name = format!("{place}.o");
            fs::write(directory.path().join(&name), bytes).map_err(failed("write an object"))?;
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
        let cubin = fs::read(directory.path().join(OUTPUT)).ok();
        Ok((finished, cubin))
    }
}

impl Subject for Nvlink {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut objects = Vec::with_capacity(1 + request.with.len());
        for (place, ptx) in std::iter::once(&request.ptx).chain(request.with).enumerate() {
            let object = self.object(ptx, request.target)?;
            if let Object::None(seen) = &*object {
                // What the assembler does with a module alone is not the linker's.
                let message = seen.diagnostics.first().map(|diagnostic| diagnostic.message.as_str());
                let why = message.or(seen.reason.as_deref()).unwrap_or("it does not say why");
                let reason = format!("ptxas does not assemble module {}: {why}", place + 1);
                return Ok(Observation::because(Outcome::Unsupported, reason));
            }
            objects.push(object);
        }
        let (finished, cubin) = self.link(&objects, request.target)?;
        Ok(judge(&finished, cubin.as_deref(), &self.limits))
    }

    fn links(&self) -> bool {
        true
    }
}

/// What a finished run of nvlink amounts to.
fn judge(finished: &Finished, cubin: Option<&[u8]>, limits: &Limits) -> Observation {
    let printed = format!("{}{}", finished.stderr.text(), finished.stdout.text());
    let diagnostics: Vec<Diagnostic> = printed.lines().filter_map(diagnostic).collect();
    let crashed =
        |signal, reason: Option<String>| Observation { signal, reason, ..Observation::new(Outcome::Crashed) };
    let is_internal = |diagnostic: &Diagnostic| {
        messages::own_failure(&diagnostic.message).is_some()
            || diagnostic.message.to_ascii_lowercase().contains("internal error")
    };
    let observation = match finished.end {
        End::TimedOut => Observation::because(Outcome::TimedOut, format!("no end after {:?}", limits.time)),
        End::Signalled(signal) => crashed(Some(signal), None),
        End::Exited(0) => match cubin.map(cubin::read_linked) {
            Some(Ok(linked)) => Observation { linked, ..Observation::new(Outcome::Accepted) },
            Some(Err(error)) => crashed(None, Some(format!("exit status 0, but {error}"))),
            None => crashed(None, Some("exit status 0, but no cubin".to_owned())),
        },
        End::Exited(status) => match ptxas::status_as_signal(status) {
            Some(signal) => crashed(Some(signal), Some(format!("exit status {status}"))),
            None if diagnostics.iter().any(is_internal) => crashed(None, Some(INTERNAL_ERROR.to_owned())),
            None if diagnostics.iter().any(|diagnostic| diagnostic.severity >= Severity::Error) => {
                Observation::new(Outcome::Refused)
            }
            None => crashed(None, Some(format!("exit status {status} without a diagnostic"))),
        },
    };
    Observation { diagnostics, ..observation }
}

/// A message of nvlink: `nvlink error   : Undefined reference to 'x' in '1.o'`.
fn diagnostic(line: &str) -> Option<Diagnostic> {
    let (severity, message) = messages::severity_and_message(line.strip_prefix("nvlink ")?.trim_start())?;
    Some(Diagnostic { severity, line: None, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_severity() {
        let said =
            diagnostic("nvlink error   : Undefined reference to 'x' in '1.o' (target: sm_80)").unwrap();
        assert_eq!(said.severity, Severity::Error);
        assert_eq!(said.message, "Undefined reference to 'x' in '1.o' (target: sm_80)");
        assert_eq!(diagnostic("0.o: note"), None);
    }
}
