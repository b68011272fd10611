//! The subject `exec:`: any program that accepts a PTX file and prints one observation, one process for each
//! module.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::open::{OpenOptions, Unavailable, UnavailableKind};
use crate::probe::Probe;
use crate::process::{self, Cancel, Finished, Invocation, Limits, ProcessEnd};
use crate::ptxas::{sha256, status_as_signal};
use crate::subject::{DESCRIPTION_SCHEMA, Description, Error, Request, Subject};
use crate::unanswered::Unanswered;
use ptxsmith_model::{Observation, Outcome, SCHEMA};

/// Maximum size of an answer in bytes. An answer holds every byte of every variable as two hex digits.
pub(crate) const MAX_ANSWER: usize = 256 << 20;
/// Placeholder for the path of the module.
const PLACEHOLDER: &str = "{ptx}";
/// Placeholder for the path of a JSON file that lists the requested variables.
const READ_PLACEHOLDER: &str = "{read}";

/// A command with its arguments, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// As written.
    pub text: String,
    /// The program, as written.
    pub program: String,
    /// Arguments, after the rules of a shell were applied.
    pub args: Vec<String>,
}

/// Why a string is not a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandError {
    NoProgram,
    OpenQuote,
}

impl CommandLine {
    /// Splits a command line as a shell would; expands nothing.
    pub(crate) fn parse(text: &str) -> Result<CommandLine, CommandError> {
        let mut words = shell_words::split(text).map_err(|_| CommandError::OpenQuote)?.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or(CommandError::NoProgram)?;
        Ok(CommandLine { text: text.trim().to_owned(), program, args: words.collect() })
    }
}

/// A program that accepts a PTX file and prints one observation.
///
/// It runs in the directory in which ptxsmith was started, with a private `TMPDIR`. The module is a file that
/// is removed afterwards. Its standard error is not part of the observation, except for the last line, which
/// is kept when it crashed.
#[derive(Debug)]
pub struct Exec {
    program: PathBuf,
    args: Vec<String>,
    limits: Limits,
    /// Time limit for its first answer.
    first: Duration,
    cancel: Cancel,
    description: Description,
}

impl Exec {
    /// Finds the program and asks it to describe itself (`CMD ARGS --describe`, without the arguments that
    /// name the module). The answer is optional: without a description little is known about the program.
    pub fn open(command: &CommandLine, options: &OpenOptions<'_>) -> Result<Self, Unavailable> {
        let (limits, cancel) = (options.limits.clone(), options.cancel.clone());
        let (program, described) = find_and_describe(command, options.first, options)?;
        let description = Description { id: format!("exec:{}", command.text), ..described };
        Ok(Exec { program, args: command.args.clone(), limits, first: options.first, cancel, description })
    }

    /// Runs the program on a module. Also returns its command line.
    fn run(&self, request: &Request<'_>, limits: &Limits) -> Result<(String, Finished), Error> {
        let room = self.limits.file.saturating_add(request.ptx.len() as u64);
        let directory = process::scratch(room).map_err(self.file_error("make a directory"))?;
        let module = std::path::absolute(directory.path().join("in.ptx"))
            .map_err(self.file_error("name the module"))?;
        fs::write(&module, request.ptx).map_err(self.file_error("write the module"))?;
        // Only the part from TMPDIR may contain bytes that are not UTF-8; those cannot be substituted into an
        // argument.
        let path = module
            .to_str()
            .ok_or_else(|| io::Error::other("the temporary directory's name is not UTF-8"))
            .map_err(self.file_error("name the module"))?;
        let read = format!("{}.read.json", path.trim_end_matches(".ptx"));
        if self.args.iter().any(|arg| arg.contains(READ_PLACEHOLDER)) {
            serde_json::to_vec(request.read)
                .map_err(io::Error::other)
                .and_then(|list| fs::write(&read, list))
                .map_err(self.file_error("write the list of variables"))?;
        }
        let mut args: Vec<String> = Vec::with_capacity(self.args.len() + 1);
        for arg in &self.args {
            args.push(arg.replace(PLACEHOLDER, path).replace(READ_PLACEHOLDER, &read));
        }
        if !self.args.iter().any(|arg| arg.contains(PLACEHOLDER)) {
            args.push(path.to_owned());
        }
        let program = self.program.to_string_lossy();
        let words = std::iter::once(&*program).chain(args.iter().map(String::as_str));
        let command = shell_words::join(words);
        let invocation = Invocation {
            program: self.program.clone(),
            args: args.into_iter().map(Into::into).collect(),
            directory: None,
            temporary: directory.path().to_owned(),
        };
        let limits = limits.for_text(request.ptx.len());
        let limits = Limits { output: limits.output.max(MAX_ANSWER), ..limits };
        let finished = process::run(&invocation.limited_from_start(&limits), &limits, &self.cancel)?;
        Ok((command, finished))
    }

    /// Creates the error for a file operation that failed.
    fn file_error(&self, doing: &str) -> impl FnOnce(io::Error) -> Error {
        let doing = format!("{doing} for {}", self.description.id);
        move |source| Error::File { doing, source }
    }
}

/// Finds the program of a command and asks it for its description, within a time limit. The id in the
/// description is left empty.
pub(crate) fn find_and_describe(
    command: &CommandLine,
    time: Duration,
    options: &OpenOptions<'_>,
) -> Result<(PathBuf, Description), Unavailable> {
    let program = which::which(&command.program)
        .map_err(unavailable(command, UnavailableKind::NotFound))
        .and_then(|path| std::path::absolute(path).map_err(unavailable(command, UnavailableKind::Machine)))?;
    let mut args = command.args.clone();
    args.retain(|arg| !arg.contains(PLACEHOLDER) && !arg.contains(READ_PLACEHOLDER));
    args.push("--describe".to_owned());
    let directory = process::scratch(0).map_err(unavailable(command, UnavailableKind::Machine))?;
    let invocation = Invocation {
        program: program.clone(),
        args: args.into_iter().map(Into::into).collect(),
        directory: None,
        temporary: directory.path().to_owned(),
    };
    let limits = Limits { time, ..options.limits.clone() };
    let finished = process::run(&invocation.limited_from_start(&limits), &limits, &options.cancel)?;
    if finished.end == ProcessEnd::TimedOut {
        (options.progress)(&format!(
            "{} has not answered --describe in {time:?}; nothing is known of it \
             (--timeout gives it more time)",
            command.program
        ));
    }
    let described = describe(&finished)
        .map_err(|reason| unusable(&command.program, &reason))?
        .unwrap_or_else(|| Description { name: command.program.clone(), ..Description::default() });
    let path = Some(program.display().to_string());
    let sha256 = sha256(&program).map_err(unavailable(command, UnavailableKind::Machine))?;
    Ok((program, Description { path, sha256: Some(sha256), ..described }))
}

/// Converts an error to the reason why a command is unavailable.
fn unavailable<E: Display>(command: &CommandLine, kind: UnavailableKind) -> impl FnOnce(E) -> Unavailable {
    move |error| Unavailable::new(kind, format!("{}: {error}", command.program))
}

/// Creates the error for a program that answers `--describe` with an unusable description.
pub(crate) fn unusable(program: &str, reason: &str) -> Unavailable {
    let reason = format!("{program}: cannot use its answer to --describe: {reason}");
    Unavailable::new(UnavailableKind::NotTheSubject, reason)
}

/// Parses the description that a program printed. Returns `None` if its output is not a description.
fn describe(finished: &Finished) -> Result<Option<Description>, String> {
    if finished.end != ProcessEnd::Exited(0) {
        return Ok(None);
    }
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(&finished.stdout.bytes) else {
        return Ok(None);
    };
    match json.get("schema").and_then(serde_json::Value::as_str) {
        Some(DESCRIPTION_SCHEMA) => serde_json::from_value(json).map(Some).map_err(|error| error.to_string()),
        Some(other) if other.starts_with("ptxsmith.subject/") => {
            Err(format!("its schema is {other:?}, not {DESCRIPTION_SCHEMA:?}"))
        }
        _ => Ok(None),
    }
}

impl Subject for Exec {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let (_, finished) = self.run(request, &self.limits)?;
        let limits = self.limits.for_text(request.ptx.len());
        Ok(promised(judge(&finished, &limits), &self.description))
    }

    fn probe(&self) -> Result<Option<Unanswered>, Error> {
        let probe = Probe::new(&self.description);
        let limits = Limits { time: self.first, ..self.limits.clone() };
        let (command, finished) = self.run(&probe.request(), &limits)?;
        let printed = &finished.stdout.bytes;
        let fault = probe.fault(&judge(&finished, &limits), printed);
        Ok(fault.map(|reason| {
            let sent = format!("{command}, with the file {:?}", probe.ptx);
            probe.unanswered(reason, sent, printed, probe.expected())
        }))
    }
}

/// Adds to an observation the properties that the subject's description promises. They override the
/// observation's own.
pub(crate) fn promised(observation: Observation, description: &Description) -> Observation {
    let complete = observation.outcome == Outcome::Accepted && description.lists == Some(true);
    Observation {
        complete: complete && description.values != Some(false),
        from_memory: description.reads_memory(),
        ..observation
    }
}

/// Converts a finished run to an observation.
fn judge(finished: &Finished, limits: &Limits) -> Observation {
    match finished.end {
        ProcessEnd::TimedOut => {
            Observation::because(Outcome::TimedOut, format!("no end after {:?}", limits.time))
        }
        ProcessEnd::Signalled(signal) => {
            crashed(finished, Some(signal), format!("killed by signal {signal}"))
        }
        ProcessEnd::Exited(0) => answer(finished).unwrap_or_else(|reason| {
            crashed(finished, None, format!("its output is no observation: {reason}"))
        }),
        ProcessEnd::Exited(status) => {
            crashed(finished, status_as_signal(status), format!("exit status {status}"))
        }
    }
}

/// Builds the observation of a crash. Its reason ends with the last line that the program printed.
fn crashed(finished: &Finished, signal: Option<i32>, what: String) -> Observation {
    let stderr = finished.stderr.text();
    let reason = match stderr.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => {
            let line: String = line.trim().chars().take(300).collect();
            format!("{what}; it printed {line:?}")
        }
        None => what,
    };
    Observation { signal, ..Observation::because(Outcome::Crashed, reason) }
}

/// Parses the observation that a program printed.
fn answer(finished: &Finished) -> Result<Observation, String> {
    if finished.stdout.dropped > 0 {
        return Err(format!("more than {} bytes", finished.stdout.bytes.len()));
    }
    let mut observation: Observation =
        serde_json::from_slice(&finished.stdout.bytes).map_err(|error| error.to_string())?;
    check(&mut observation)?;
    Ok(observation)
}

/// Checks the parts of the contract that the JSON shape does not enforce, and sorts addresses.
pub(crate) fn check(observation: &mut Observation) -> Result<(), String> {
    if observation.schema != SCHEMA {
        return Err(format!("its schema is {:?}, not {SCHEMA:?}", observation.schema));
    }
    if observation.outcome != Outcome::Accepted && !observation.variables.is_empty() {
        return Err("it has variables, but the module was not accepted".to_owned());
    }
    for (name, variable) in &mut observation.variables {
        if let (Some(size), Some(bytes)) = (variable.size, &variable.bytes)
            && bytes.len() as u64 != size
        {
            return Err(format!("variable `{name}` has size {size}, but {} bytes", bytes.len()));
        }
        for address in variable.addresses.iter_mut().flatten() {
            if address.byte.is_some_and(|byte| byte > 7) || !(1..=8).contains(&address.width) {
                return Err(format!(
                    "variable `{name}` has an impossible address at byte {}",
                    address.offset
                ));
            }
        }
        if let Some(addresses) = &mut variable.addresses {
            addresses.sort_by_key(|address| address.offset);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::RequestedVariable;
    use ptxsmith_model::Severity;

    /// A subject that is a line of shell; `$1` is the module, or `--describe`.
    fn shell(script: &str, limits: Limits) -> Exec {
        open(&format!("/bin/sh -c {} sh", shell_words::quote(script)), limits).unwrap()
    }

    fn open(command: &str, limits: Limits) -> Result<Exec, Unavailable> {
        let options = OpenOptions { limits, ..OpenOptions::default() };
        Exec::open(&CommandLine::parse(command).unwrap(), &options)
    }

    fn observe(script: &str) -> Observation {
        shell(script, Limits::default()).observe(&Request::new("text", "sm_80")).unwrap()
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_but_nothing_is_expanded() {
        let command = CommandLine::parse(r#"a "b c" d\ e $F *"#).unwrap();
        assert_eq!(command.program, "a");
        assert_eq!(command.args, ["b c", "d e", "$F", "*"]);
    }

    const ACCEPTED: &str = r#"{"schema": "ptxsmith.module/1", "outcome": "accepted",
        "diagnostics": [{"severity": "warning", "line": 4, "message": "so"}],
        "variables": {"p": {"space": "global", "size": 2, "align": null, "bytes": "00ff", "extra": 1,
            "addresses": [{"offset": 1, "width": 1, "symbol": "p", "addend": -4, "generic": true, "byte": 7},
                          {"offset": 0, "width": 1, "symbol": "p", "addend": 4, "byte": 0}]}}}"#;

    #[test]
    fn an_observation_is_taken_as_printed_with_addresses_in_order() {
        let observation = observe(&format!("echo '{ACCEPTED}'"));
        assert_eq!(observation.outcome, Outcome::Accepted, "{observation:?}");
        assert_eq!(observation.diagnostics[0].severity, Severity::Warning);
        let variable = &observation.variables["p"];
        assert_eq!((variable.align, variable.bytes.as_deref()), (None, Some(&[0, 255][..])));
        let addresses = variable.addresses.as_deref().unwrap();
        assert_eq!((addresses[0].addend, addresses[0].generic), (4, None));
        assert_eq!(addresses[1].addend, -4);
    }

    #[test]
    fn the_module_is_a_file_whose_path_is_appended_or_put_in_place() {
        let refused = |message: &str| format!(r#"{{"outcome": "refused", "reason": "'"{message}"'"}}"#);
        let script = format!("echo '{}'", refused("$# $(cat $1)"));
        assert_eq!(observe(&script).reason.as_deref(), Some("1 text"));
        let text = format!(
            "/bin/sh -c {} sh a=[{{ptx}}] b",
            shell_words::quote(&format!("echo '{}'", refused("$# $1")))
        );
        let subject = open(&text, Limits::default()).unwrap();
        let reason = subject.observe(&Request::new("", "sm_80")).unwrap().reason.unwrap();
        assert!(reason.starts_with("2 a=[/") && reason.ends_with("/in.ptx]"), "{reason}");
    }

    #[test]
    fn the_variables_asked_for_are_a_file_where_the_command_wants_one() {
        let text = format!(
            "/bin/sh -c {} sh {{read}} {{ptx}}",
            shell_words::quote(
                r#"test $1 = --describe || echo "{\"outcome\": \"refused\", \"reason\": \"$(tr -d '\"' < $1)\"}""#
            )
        );
        let subject = open(&text, Limits::default()).unwrap();
        let read = [RequestedVariable { name: "a".into(), space: "global".into(), size: 4 }];
        let observation = subject.observe(&Request { read: &read, ..Request::new("", "sm_80") }).unwrap();
        assert_eq!(observation.reason.as_deref(), Some("[{name:a,space:global,size:4}]"), "{observation:?}");
    }

    #[test]
    fn everything_else_is_a_crash_with_a_reason() {
        let crash = |script: &str| {
            let observation = observe(script);
            assert_eq!(observation.outcome, Outcome::Crashed, "{script}");
            (observation.signal, observation.reason.unwrap())
        };
        assert_eq!(crash("exit 3"), (None, "exit status 3".into()));
        assert_eq!(
            crash("echo first >&2; echo last words >&2; exit 3"),
            (None, "exit status 3; it printed \"last words\"".into())
        );
        assert_eq!(crash("kill -SEGV $$"), (Some(11), "killed by signal 11".into()));
        assert_eq!(crash("exit 139"), (Some(11), "exit status 139".into()));
        for output in ["", "hello", "{}", r#"{"outcome": "unmodelled"}"#, r#"{"outcome": "refused"} {}"#] {
            let (_, reason) = crash(&format!("echo '{output}'"));
            assert!(reason.starts_with("its output is no observation: "), "{output}: {reason}");
        }
    }

    #[test]
    fn an_observation_against_the_contract_is_a_crash() {
        for (from, to, reason) in [
            ("module/1", "module/2", "its schema is \"ptxsmith.module/2\", not \"ptxsmith.module/1\""),
            ("\"size\": 2", "\"size\": 3", "variable `p` has size 3, but 2 bytes"),
            ("\"byte\": 7", "\"byte\": 8", "variable `p` has an impossible address at byte 1"),
            ("\"accepted\"", "\"refused\"", "it has variables, but the module was not accepted"),
        ] {
            let observation = observe(&format!("echo '{}'", ACCEPTED.replace(from, to)));
            assert_eq!(observation.outcome, Outcome::Crashed);
            assert_eq!(observation.reason.unwrap(), format!("its output is no observation: {reason}"));
        }
    }

    #[test]
    fn silence_is_a_time_out() {
        let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
        let subject = shell("test $1 = --describe || sleep 100", limits);
        let observation = subject.observe(&Request::new("", "sm_80")).unwrap();
        assert_eq!(observation.outcome, Outcome::TimedOut);
    }

    #[test]
    fn a_program_may_describe_itself() {
        let answer = r#"{"schema": "ptxsmith.subject/1", "name": "mine", "version": "3", "lineage": "mine",
            "max_ptx": "8.0", "targets": ["sm_80"], "relocations": false, "id": "other"}"#;
        let subject = shell(&format!("test $1 = --describe && echo '{answer}'"), Limits::default());
        let description = subject.description();
        assert_eq!((description.name.as_str(), description.version.as_deref()), ("mine", Some("3")));
        assert_eq!(
            (description.relocations, description.targets.as_slice()),
            (Some(false), &["sm_80".into()][..])
        );
        assert!(subject.id().starts_with("exec:/bin/sh -c "), "{}", subject.id());
        assert_eq!(description.path.as_deref(), Some("/bin/sh"));
    }

    #[test]
    fn a_program_need_not_describe_itself() {
        for script in ["exit 1", "echo hello", &format!("echo '{ACCEPTED}'")] {
            let subject = shell(script, Limits::default());
            assert_eq!(subject.description().name, "/bin/sh");
            assert_eq!(subject.description().version, None);
        }
    }

    #[test]
    fn a_description_that_cannot_be_used_is_an_error() {
        let message = |answer: &str| {
            let script = format!("echo '{answer}'");
            let text = format!("/bin/sh -c {} sh", shell_words::quote(&script));
            open(&text, Limits::default()).unwrap_err().to_string()
        };
        assert!(message(r#"{"schema": "ptxsmith.subject/2"}"#).contains("not \"ptxsmith.subject/1\""));
        assert!(message(r#"{"schema": "ptxsmith.subject/1", "targets": 3}"#).contains("invalid type"));
    }
}
