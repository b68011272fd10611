//! The subject `ptxas`: NVIDIA's assembler, one process for each module, its output read from the cubin.

pub(crate) mod messages;
mod named;
mod opened;
mod several;

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use self::opened::OpenedFile;
use crate::cubin;
use crate::open::{Unavailable, UnavailableKind};
use crate::process::{self, Cancel, Finished, Invocation, Limits, ProcessEnd, Start};
use crate::regular;
use crate::sass::Disassembler;
use crate::subject::{Calculation, Description, Error, Inconsistency, Request, Subject};
use crate::toolchain::max_ptx;
use ptxsmith_model::OutputForm;
use ptxsmith_model::{Diagnostic, Observation, Outcome, Severity};

/// The lineage of all implementations built by NVIDIA.
pub const LINEAGE: &str = "nvidia";

/// One release of ptxas.
#[derive(Clone, Debug)]
pub struct Ptxas {
    program: PathBuf,
    opened: OpenedFile,
    limits: Limits,
    cancel: Cancel,
    disassembler: Option<Disassembler>,
    start: Start,
    inconsistent: Arc<Mutex<Vec<Inconsistency>>>,
    description: Description,
    /// Whether it supports 32-bit modules, which need an option.
    has_32_bits: bool,
}

impl Ptxas {
    /// Queries the version and capabilities of a program and creates the subject called `id`.
    pub fn open(
        id: impl Into<String>,
        program: impl Into<PathBuf>,
        limits: Limits,
        cancel: Cancel,
    ) -> Result<Self, Unavailable> {
        let given_path = program.into();
        // Later runs use a private directory, where a relative path would name another file.
        let program =
            std::path::absolute(&given_path).map_err(|error| Unavailable::for_file(&given_path, &error))?;
        let opened = OpenedFile::of(&program);
        // Hashing takes as long as several runs of the program itself, so do both at once.
        let (sha256, asked) = std::thread::scope(|scope| {
            let hash = scope.spawn(|| sha256(&program));
            let version = ask(&program, "--version", &cancel);
            let asked = version.and_then(|version| Ok((version, ask(&program, "--help", &cancel)?)));
            (hash.join(), asked)
        });
        let (version_text, help) = asked?;
        let opened = opened.map_err(|error| Unavailable::for_file(&given_path, &error))?;
        let sha256 = sha256
            .unwrap_or_else(|_| Err(io::Error::other("hashing panicked")))
            .map_err(|error| Unavailable::for_file(&given_path, &error))?;
        let Some(version) = parse_version(&version_text) else {
            let answer = format!("{:?}", version_text.lines().next().unwrap_or_default());
            return Err(not_ptxas(&program, &answer));
        };
        // A release newer than the list reports the version that it supports, with an option that older
        // releases lack.
        let listed = max_ptx(&version).map(str::to_owned);
        let max_ptx = listed.or_else(|| greatest_version(&ask(&program, "--list-version", &cancel).ok()?));
        let description = Description {
            id: id.into(),
            name: "ptxas".to_owned(),
            max_ptx,
            version: Some(version),
            lineage: Some(LINEAGE.to_owned()),
            targets: parse_targets(&help),
            relocations: Some(true),
            values: Some(true),
            lists: Some(true),
            path: Some(program.display().to_string()),
            sha256: Some(sha256),
            ..Description::default()
        };
        Ok(Ptxas {
            program,
            opened,
            limits,
            cancel,
            disassembler: None,
            start: Start::Spawn,
            inconsistent: Arc::default(),
            description,
            has_32_bits: has_32_bits(&help),
        })
    }

    /// Returns the subject with a disassembler, which reads the output of kernels from relocatable output
    /// ([`crate::sass`]). Without one, kernels are not observed.
    pub fn disassembling(self, disassembler: Option<Disassembler>) -> Self {
        Ptxas { disassembler, ..self }
    }

    /// Returns the subject with another way to start the program for each module. One in [`SAMPLE`] modules
    /// shown to a fork is also shown to a newly started program, whose answer counts. If the two results
    /// differ (time-outs and bits that change from run to run aside), the difference is recorded
    /// ([`Subject::inconsistencies`]), and from then on every run starts the program anew.
    pub fn starting(self, start: Start) -> Self {
        let disassembler = self.disassembler.map(|disassembler| disassembler.starting(start.clone()));
        Ptxas { start, disassembler, ..self }
    }

    /// Returns the subject with the user's options added, which makes it another subject.
    ///
    /// # Errors
    /// If it then rejects a module without statements: an option is unknown, or does not work with any
    /// module.
    pub fn giving(self, options: &[String]) -> Result<Self, Unavailable> {
        if options.is_empty() {
            return Ok(self);
        }
        let mut ptxas = self;
        ptxas.description.options = options.to_vec();
        ptxas.description.id = format!("{} {}", ptxas.description.id, shell_words::join(options));
        let observation = ptxas.observe_empty(64)?;
        if observation.outcome == Outcome::Accepted
            || ptxas.has_32_bits && ptxas.observe_empty(32)?.outcome == Outcome::Accepted
        {
            return Ok(ptxas);
        }
        let message = observation.diagnostics.into_iter().map(|diagnostic| diagnostic.message).next();
        let message = message.or(observation.reason).unwrap_or_else(|| "it does not say why".to_owned());
        let reason = format!("it takes no module with these options: {message}");
        Err(Unavailable::new(UnavailableKind::NotTheSubject, reason))
    }

    /// Observes a module without statements, with addresses of this size.
    fn observe_empty(&self, bits: u32) -> Result<Observation, Unavailable> {
        let targets = &self.description.targets;
        let target = targets.iter().find(|target| *target == "sm_80").or(targets.last());
        let target = target.map_or("sm_80", String::as_str);
        let version = self.description.max_ptx.as_deref().unwrap_or("6.0");
        let text = format!(".version {version}\n.target {target}\n.address_size {bits}\n");
        self.observe(&Request::new(&text, target))
            .map_err(|error| Unavailable::new(UnavailableKind::Machine, error.to_string()))
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Assembles a module. Returns how the run ended, and the cubin if there is one. For callers that need
    /// the cubin itself rather than the [`Observation`] that [`observe`](Subject::observe) builds from it.
    pub fn assemble(&self, request: &Request<'_>) -> Result<(Finished, Option<Vec<u8>>), Error> {
        let (finished, cubin, _) = self.assemble_by(&self.start, &[*request], 1)?;
        Ok((finished, cubin))
    }

    /// Assembles several modules for the same target and form, one file each, as
    /// [`assemble`](Ptxas::assemble) does. The command line always names `named` files; the last ones may not
    /// exist. The boolean in the result says whether the run was a fork.
    fn assemble_by(
        &self,
        start: &Start,
        requests: &[Request<'_>],
        named: usize,
    ) -> Result<(Finished, Option<Vec<u8>>, bool), Error> {
        let text: u64 = requests.iter().map(|request| request.ptx.len() as u64).sum();
        let directory = process::scratch(self.limits.file.saturating_add(text));
        let directory = directory.map_err(file_error("make a directory"))?;
        for (index, request) in requests.iter().enumerate() {
            fs::write(directory.path().join(file_name(index)), request.ptx)
                .map_err(file_error("write a module"))?;
        }
        let request = requests[0];
        let mut args: Vec<OsString> = vec![format!("-arch={}", request.target).into()];
        args.extend(self.description.options.iter().map(OsString::from));
        if self.has_32_bits && is_32_bit(request.ptx) && !self.is_given(&MACHINE) {
            args.push("-m32".into());
        }
        args.extend((0..named).map(|index| file_name(index).into()));
        args.extend(["-o".into(), OUTPUT.into()]);
        if request.form == OutputForm::Relocatable && !self.is_given(&COMPILE_ONLY) {
            args.push("--compile-only".into());
        }
        let invocation = Invocation {
            program: self.program.clone(),
            args,
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let limits = self.limits.for_text(usize::try_from(text).unwrap_or(usize::MAX));
        self.opened.is_still_at(&self.program).map_err(file_error("run the program"))?;
        let (finished, forked) = start.run(&invocation, INPUT, &limits, &self.cancel)?;
        let cubin = regular::read_output(&directory.path().join(OUTPUT), limits.file)
            .map_err(file_error("read the cubin"))?;
        Ok((finished, cubin, forked))
    }

    /// Whether the user's options include one of these.
    fn is_given(&self, options: &[&str]) -> bool {
        self.description.options.iter().any(|given| {
            let name = given.split_once('=').map_or(&**given, |(name, _)| name);
            options.contains(&name)
        })
    }

    /// Observes a module with the given way to start the program. The boolean in the result says whether the
    /// run was a fork.
    fn observe_by(&self, start: &Start, request: &Request<'_>) -> Result<(Observation, bool), Error> {
        let (finished, cubin, forked) = self.assemble_by(start, &[*request], 1)?;
        let limits = self.limits.for_text(request.ptx.len());
        let mut observation = judge(&finished, cubin.as_deref(), request.ptx, &limits);
        if let (Some(cubin), Some(disassembler)) = (cubin, &self.disassembler)
            && observation.outcome == Outcome::Accepted
            && request.form == OutputForm::Relocatable
        {
            let (variables, target) = (&observation.variables, request.target);
            if !request.launch.is_empty() {
                observation.kernels = disassembler.observe(&cubin, target, variables, request.launch)?;
            }
            if !request.trace.is_empty() {
                observation.reached = disassembler.trace(&cubin, target, variables, request.trace)?;
            }
        }
        Ok((observation, forked))
    }
}

impl Subject for Ptxas {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let (forked, was_forked) = self.observe_by(&self.start, request)?;
        if !was_forked || !is_sampled(request.ptx) {
            return Ok(forked);
        }
        let (started, _) = self.observe_by(&Start::Spawn, request)?;
        // A time-out also depends on the load of the machine.
        let is_late = forked.outcome == Outcome::TimedOut || started.outcome == Outcome::TimedOut;
        if !is_late && reproducible_part(&forked) != reproducible_part(&started) {
            self.start
                .give_up(&self.program, "a fork answered otherwise than a program that was started anew");
            let inconsistent = Inconsistency {
                ptx: request.ptx.to_owned(),
                target: request.target.to_owned(),
                forked,
                started: started.clone(),
            };
            self.inconsistent.lock().unwrap_or_else(PoisonError::into_inner).push(inconsistent);
        }
        Ok(started)
    }

    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        let mut observations = Vec::with_capacity(requests.len());
        for group in requests.chunk_by(can_share_run) {
            for run in group.chunks(several::MOST) {
                observations.extend(self.observe_several(run)?);
            }
        }
        Ok(observations)
    }

    fn inconsistencies(&self) -> Vec<Inconsistency> {
        self.inconsistent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let request = request.in_form(OutputForm::Relocatable);
        let (finished, cubin, _) = self.assemble_by(&self.start, &[request], 1)?;
        let limits = self.limits.for_text(request.ptx.len());
        let observation = judge(&finished, cubin.as_deref(), request.ptx, &limits);
        let left = match (cubin, &self.disassembler) {
            (Some(cubin), Some(disassembler)) if observation.outcome == Outcome::Accepted => {
                disassembler.compute(&cubin, request.target, &observation.variables, request.trace)?
            }
            _ => Vec::new(),
        };
        Ok(Calculation { observation, left })
    }

    fn shows_code(&self) -> bool {
        self.disassembler.is_some()
    }

    fn has_both_forms(&self) -> bool {
        !self.is_given(&COMPILE_ONLY)
    }

    fn note(&self) -> Option<String> {
        let why = self.start.why_not(&self.program)?;
        Some(format!("{} is started anew for each module: {why}", self.description.id))
    }
}

/// Whether one run can assemble the modules of both requests.
fn can_share_run(first: &Request<'_>, second: &Request<'_>) -> bool {
    (first.target, first.form) == (second.target, second.form)
        && is_32_bit(first.ptx) == is_32_bit(second.ptx)
}

/// Removes from an observation the bits that ptxas reads from beyond its own buffer: the part of an address
/// that lies past the end of its variable (docs/reference/relocations.md).
fn reproducible_part(observation: &Observation) -> Observation {
    let mut reproducible_part = observation.clone();
    for variable in reproducible_part.variables.values_mut() {
        let Some(size) = variable.size else { continue };
        for address in variable.addresses.iter_mut().flatten() {
            let inside = size.saturating_sub(address.offset);
            if inside < u64::from(address.width.min(8)) {
                address.addend &= (1_i64 << (8 * inside)) - 1;
            }
        }
    }
    reproducible_part
}

/// One in this many modules shown to a fork is also shown to a newly started program.
pub const SAMPLE: u64 = 64;

/// Whether the module is in the sample. Depends on the text only, so that it does not vary with jobs and
/// shards.
fn is_sampled(ptx: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    hasher.write(ptx.as_bytes());
    hasher.finish().is_multiple_of(SAMPLE)
}

const INPUT: &str = "in.ptx";
/// The options that set the size of addresses.
const MACHINE: [&str; 4] = ["-m", "-m32", "-m64", "--machine"];
/// The options that request relocatable output.
const COMPILE_ONLY: [&str; 2] = ["-c", "--compile-only"];

/// Whether ptxas treats the module as 32-bit: it does so if the module has no `.address_size`.
fn is_32_bit(ptx: &str) -> bool {
    match ptx.split_once(".address_size") {
        Some((_, behind)) => behind.trim_start().starts_with("32"),
        None => ptx.contains(".version"),
    }
}

/// Returns the file name of the module at this index in a run.
fn file_name(index: usize) -> String {
    if index == 0 { INPUT.to_owned() } else { format!("{index}.ptx") }
}

/// Creates the error for a file operation that failed.
fn file_error(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::File { doing: format!("{doing} for ptxas"), source }
}

const OUTPUT: &str = "out.cubin";

/// Returns the observation of a finished run of ptxas. A crash signal, also as an exit status, or a failure
/// that ptxas calls its own is a crash. Otherwise an error is a rejection, or "unsupported" if it is about
/// the header; a nonzero status without an error is a crash.
pub(crate) fn judge(finished: &Finished, cubin: Option<&[u8]>, ptx: &str, limits: &Limits) -> Observation {
    let stderr = finished.stderr.text();
    let stdout = finished.stdout.text();
    let (mut diagnostics, mut other) = messages::parse(&stderr);
    let (more, others) = messages::parse(&stdout);
    diagnostics.extend(more);
    other.extend(others);

    let own_failure = (diagnostics.iter().map(|diagnostic| &*diagnostic.message))
        .chain(other.iter().copied())
        .find_map(messages::own_failure)
        .map(str::to_owned);
    let mut observation = match finished.end {
        ProcessEnd::TimedOut => {
            Observation::because(Outcome::TimedOut, format!("no end after {:?}", limits.time))
        }
        // The limit on the size of the output is ours, and ptxas may have to write that much.
        ProcessEnd::Signalled(XFSZ) => {
            let reason = format!("wrote a file of more than {} bytes", limits.file);
            Observation::because(Outcome::Unavailable, reason)
        }
        ProcessEnd::Signalled(signal) => crashed(Some(signal), own_failure.or_else(|| about_signal(signal))),
        ProcessEnd::Exited(0) => match cubin.map(cubin::read) {
            Some(Ok(variables)) => {
                let one_place = cubin.map(cubin::one_place).unwrap_or_default();
                Observation { variables, one_place, ..Observation::new(Outcome::Accepted) }
            }
            Some(Err(error)) => crashed(None, Some(format!("exit status 0, but {error}"))),
            None => crashed(None, Some("exit status 0, but no cubin".to_owned())),
        },
        ProcessEnd::Exited(status) => match status_as_signal(status) {
            Some(signal) => crashed(Some(signal), Some(format!("exit status {status}"))),
            None if own_failure.is_some() => crashed(None, own_failure),
            None => match refusal(&diagnostics, ptx) {
                Some(outcome) => Observation::new(outcome),
                None => crashed(None, Some(silent_failure(status, &other))),
            },
        },
    };
    if observation.outcome == Outcome::Unsupported {
        observation.reason = diagnostics
            .iter()
            .find(|diagnostic| messages::is_unsupported(&diagnostic.message, ptx))
            .map(|diagnostic| diagnostic.message.clone());
    }
    observation.diagnostics = diagnostics;
    observation
}

fn crashed(signal: Option<i32>, reason: Option<String>) -> Observation {
    Observation { signal, reason, ..Observation::new(Outcome::Crashed) }
}

/// SIGXFSZ: a file became larger than its limit. The limit is ours, so the outcome is "unavailable", not a
/// crash.
const XFSZ: i32 = 25;

/// Returns the outcome of a rejection (unsupported or refused); `None` if no diagnostic is an error.
pub(crate) fn refusal(diagnostics: &[Diagnostic], ptx: &str) -> Option<Outcome> {
    let mut bad = diagnostics.iter().filter(|diagnostic| diagnostic.severity >= Severity::Error).peekable();
    bad.peek()?;
    let unsupported = bad.any(|diagnostic| messages::is_unsupported(&diagnostic.message, ptx));
    Some(if unsupported { Outcome::Unsupported } else { Outcome::Refused })
}

/// Returns the signal encoded in an exit status above 128, which a shell or a program that caught the signal
/// reports. Only signals that mean a crash count: ptxas itself exits with 255 when it rejects.
pub(crate) fn status_as_signal(status: i32) -> Option<i32> {
    // SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGXCPU, SIGXFSZ
    const CRASHES: [i32; 9] = [4, 5, 6, 7, 8, 9, 11, 24, 25];
    CRASHES.contains(&(status - 128)).then_some(status - 128)
}

/// Explains a signal further, where the number alone is not enough.
fn about_signal(signal: i32) -> Option<String> {
    match signal {
        9 => Some("killed from outside, perhaps for want of memory".to_owned()),
        _ => None,
    }
}

/// Returns the reason for a failure without a diagnostic.
fn silent_failure(status: i32, other: &[&str]) -> String {
    match other.last() {
        Some(line) => format!("exit status {status} without a diagnostic; it printed {line:?}"),
        None => format!("exit status {status} without a diagnostic"),
    }
}

/// Runs the program with one option and returns its output.
pub(crate) fn ask(program: &Path, option: &str, cancel: &Cancel) -> Result<String, Unavailable> {
    let directory = process::scratch(0).map_err(|error| Unavailable::for_file(program, &error))?;
    let invocation = Invocation {
        program: program.to_owned(),
        args: vec![option.into()],
        directory: Some(directory.path().to_owned()),
        temporary: directory.path().to_owned(),
    };
    // More time than for a module, because the first run of a large program reads it from disk.
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let finished = process::run(&invocation, &limits, cancel)?;
    let text = finished.stdout.text();
    if finished.end != ProcessEnd::Exited(0) || text.trim().is_empty() {
        let answer = match finished.end {
            ProcessEnd::Exited(status) => format!("exit status {status}"),
            ProcessEnd::Signalled(signal) => format!("signal {signal}"),
            ProcessEnd::TimedOut => format!("nothing for {:?}", limits.time),
        };
        return Err(not_ptxas(program, &answer));
    }
    Ok(text.into_owned())
}

/// Creates the error for a program that runs but does not answer as ptxas does.
fn not_ptxas(program: &Path, answer: &str) -> Unavailable {
    let reason = format!("{}: `--version` answers with {answer}: not a ptxas", program.display());
    Unavailable::new(UnavailableKind::NotTheSubject, reason)
}

/// `13.5.37` from `Cuda compilation tools, release 13.5, V13.5.37`.
pub(crate) fn parse_version(text: &str) -> Option<String> {
    text.contains("ptxas").then(|| banner_version(text)).flatten()
}

/// Extracts `13.5.37` from the version banner of any NVIDIA program.
pub(crate) fn banner_version(text: &str) -> Option<String> {
    text.split_whitespace().find_map(|word| {
        let version = word.strip_prefix('V')?;
        let parts: Vec<_> = version.split('.').collect();
        let numbers =
            parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        (parts.len() >= 2 && numbers).then(|| version.to_owned())
    })
}

/// Whether `--help` lists 32 bits for `--machine`.
fn has_32_bits(help: &str) -> bool {
    let Some((_, after)) = help.split_once("--machine <") else { return false };
    let section = after.split_once("\n--").map_or(after, |(section, _)| section);
    let listed = section.lines().filter_map(|line| line.split_once("Allowed values for this option:"));
    listed.flat_map(|(_, values)| values.split(',')).any(|value| value.trim() == "32")
}

/// The real targets (`sm_`...) among the quoted values that `--help` lists for `--gpu-name`.
fn parse_targets(help: &str) -> Vec<String> {
    let Some((_, after)) = help.split_once("--gpu-name") else { return Vec::new() };
    // The list ends before the next option.
    let section = after.split_once("\n--").map_or(after, |(section, _)| section);
    let mut targets: Vec<String> = section
        .split('\'')
        .filter(|value| value.starts_with("sm_") && !value.contains(char::is_whitespace))
        .map(str::to_owned)
        .collect();
    targets.sort_by(|a, b| target_number(a).cmp(&target_number(b)).then_with(|| a.cmp(b)));
    targets.dedup();
    targets
}

/// Returns 90 for `sm_90a`.
fn target_number(target: &str) -> u32 {
    target.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(u32::MAX)
}

/// Returns the highest PTX version that `--list-version` lists.
fn greatest_version(list: &str) -> Option<String> {
    let versions = list.split_whitespace().filter_map(|word| {
        let (major, minor) = word.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

/// Returns the SHA-256 of a file, in hex.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex::encode(hash.finalize())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
