//! `llc` as a compiler under test: compiles many globals at once, and judges what it prints for NVPTX.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_cuda::subjects::{CompilerDescription, Cut, cut_short};
use ptxsmith_subject::process::{self, Cancel, Finished, Invocation, Limits};
use ptxsmith_subject::regular;

use super::LlvmGlobal;
use super::address::NAMED;
use super::names::marked;
use super::print::{host_module, module};
use super::variants::variants;
use crate::EmitError;
use crate::ask::CompilationOutcome;
use crate::host::{VariableContents, read as read_object};
use crate::listed::may_crash;
use crate::source::TestGlobal;
use crate::witness::{Testimony, read};

/// The options for NVPTX. Before PTX 7.1 packed structures hold no addresses.
pub(super) const NVPTX: [&str; 3] = ["-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_80", "-mattr=+ptx71"];

impl TestGlobal for LlvmGlobal {
    fn number(&self) -> u64 {
        self.number
    }

    fn numbered(&self, number: u64) -> LlvmGlobal {
        LlvmGlobal { number, ..self.clone() }
    }

    fn text(&self) -> String {
        self.line()
    }

    fn shape(&self) -> String {
        LlvmGlobal::shape(self)
    }

    fn variants(&self) -> Vec<LlvmGlobal> {
        variants(self)
    }
}

/// An llc as the user names it: `llc`, `llc@19`, `llc:/PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// As it was written.
    id: String,
    program: PathBuf,
}

/// Parses the name of an llc; `None` if it names another subject.
pub fn parse_spec(text: &str) -> Option<Spec> {
    let rest = text.strip_prefix("llc")?;
    let program = match rest.split_at_checked(1) {
        None => "llc".into(),
        Some((":", path)) => path.into(),
        Some(("@", version)) if version.parse::<u32>().is_ok() => format!("llc-{version}").into(),
        Some(_) => return None,
    };
    Some(Spec { id: text.to_owned(), program })
}

/// An llc, with one for x86-64 beside it.
#[derive(Debug)]
pub struct Llc {
    program: PathBuf,
    host: Option<PathBuf>,
    /// The description of the compiler, for reports.
    pub description: CompilerDescription,
    limits: Limits,
    cancel: Cancel,
}

/// The versions of llc to look for as the host's, from the newest.
const NEWEST: u32 = 40;
/// The oldest llc that serves as the host's: before 18, x86-64 aligned integers of 128 bits otherwise.
const OLDEST: u32 = 18;

impl Llc {
    /// Finds a named llc on this machine.
    ///
    /// # Errors
    /// If it is missing or does not state its version.
    pub fn open(spec: &Spec, timeout: Duration, cancel: &Cancel) -> Result<Llc, String> {
        let program =
            which::which(&spec.program).map_err(|error| format!("{}: {error}", spec.program.display()))?;
        // Before version 18, x86-64 aligned integers of 128 bits otherwise.
        let named = (OLDEST..=NEWEST).rev().map(|version| format!("llc-{version}"));
        let host = named.into_iter().find_map(|name| which::which(name).ok());
        let directory = process::scratch(0).map_err(|error| error.to_string())?;
        let finished = process::run_trusted(&program, &["--version"], directory.path(), timeout, cancel)
            .map_err(|error| error.to_string())?;
        let banner = finished.stdout.text().into_owned();
        let version = banner.split_once("LLVM version ").map(|(_, rest)| rest);
        let version = version
            .and_then(|rest| rest.split_whitespace().next())
            .ok_or_else(|| format!("{}: `--version` does not answer as llc does", spec.program.display()))?;
        let description = CompilerDescription {
            id: spec.id.clone(),
            name: "llc",
            version: version.to_owned(),
            lineage: "llvm",
        };
        let limits = Limits { time: timeout, output: 16 << 20, memory: 8 << 30, ..Limits::default() };
        Ok(Llc { program, host, description, limits, cancel: cancel.clone() })
    }

    fn run(&self, program: &PathBuf, options: &[&str], ir: &str) -> Result<(Finished, Vec<u8>), EmitError> {
        let directory = process::scratch(1 << 28).map_err(EmitError::Directory)?;
        let path = directory.path();
        fs::write(path.join("unit.ll"), ir).map_err(EmitError::Directory)?;
        let pointers = if *program == self.program { self.pointers() } else { &[] };
        let common = ["-disable-symbolication", "-o", "unit.out", "unit.ll"];
        let invocation = Invocation {
            program: program.clone(),
            args: [pointers, options, &common].concat().iter().map(Into::into).collect(),
            directory: Some(path.to_owned()),
            temporary: path.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let output = regular::read_output(&path.join("unit.out"), self.limits.file);
        let output = output.map_err(EmitError::Directory)?.unwrap_or_default();
        Ok((finished, output))
    }

    /// Returns the option for opaque pointers before LLVM 15, which has no others.
    fn pointers(&self) -> &'static [&'static str] {
        let version = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if version.is_some_and(|major| major < 15) { &["-opaque-pointers"] } else { &[] }
    }

    /// Returns the command of a shell that prints the PTX of a module; `{source}` stands for its file.
    pub fn ptx_command(&self) -> String {
        let options = [&NVPTX[..], self.pointers()].concat().join(" ");
        format!("\"${{LLC:-llc}}\" {options} -o - {{source}}")
    }

    /// Compiles a module for NVPTX: the PTX, or why there is none.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn ptx(&self, ir: &str) -> Result<Result<String, CompilationOutcome>, EmitError> {
        let (finished, output) = self.run(&self.program, &NVPTX, ir)?;
        let messages = finished.stderr.text();
        Ok(match cut_short(&finished, &messages) {
            None => Ok(String::from_utf8_lossy(&output).into_owned()),
            Some(Cut::TimedOut) => Err(CompilationOutcome::TimedOut),
            Some(Cut::Crashed(_)) if refusal(&messages).is_some() => {
                Err(CompilationOutcome::Refused(refusal(&messages).unwrap_or_default()))
            }
            Some(Cut::Crashed(why)) => Err(CompilationOutcome::Crashed(cause(&messages, why))),
        })
    }

    /// Compiles a module for x86-64 and returns the contents of these variables.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn host_variables(
        &self,
        ir: &str,
        names: &[String],
    ) -> Result<BTreeMap<String, VariableContents>, EmitError> {
        let Some(host) = &self.host else { return Ok(BTreeMap::new()) };
        let options = ["-mtriple=x86_64-unknown-linux-gnu", "-relocation-model=static", "-filetype=obj"];
        let (_, object) = self.run(host, &options, ir)?;
        let mut variables = BTreeMap::new();
        for name in names {
            if let Some(contents) = read_object(&object, name) {
                variables.insert(name.clone(), contents);
            }
        }
        Ok(variables)
    }

    /// Compiles these globals for NVPTX. Those that may end the compiler go in small groups.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn outcomes(&self, globals: &[&LlvmGlobal]) -> Result<BTreeMap<u64, LlcOutcome>, EmitError> {
        let mut outcomes = BTreeMap::new();
        let is_risky = |global: &&&LlvmGlobal| may_crash(&global.shape(), &self.description);
        let (risky, others): (Vec<&LlvmGlobal>, Vec<&LlvmGlobal>) = globals.iter().partition(is_risky);
        let mut waiting: Vec<Vec<&LlvmGlobal>> = risky.chunks(RISKY).map(<[_]>::to_vec).collect();
        waiting.push(others);
        while let Some(part) = waiting.pop() {
            match (self.ptx(&module(&part))?, &part[..]) {
                (_, []) => {}
                (Ok(ptx), _) => outcomes.extend(testimonies(&ptx, &part)),
                (Err(outcome), [only]) => {
                    outcomes.insert(only.number, LlcOutcome { outcome, declaration: String::new() });
                }
                (Err(_), _) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        Ok(outcomes)
    }

    /// Compiles these globals for x86-64.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn host_contents(
        &self,
        globals: &[&LlvmGlobal],
    ) -> Result<BTreeMap<u64, VariableContents>, EmitError> {
        let names: Vec<String> = globals.iter().map(|global| format!("g{}", global.number)).collect();
        let mut held = self.host_variables(&host_module(globals), &names)?;
        if held.is_empty() && globals.len() > 1 && self.host.is_some() {
            let (first, second) = globals.split_at(globals.len() / 2);
            let mut all = self.host_contents(first)?;
            all.extend(self.host_contents(second)?);
            return Ok(all);
        }
        let numbered = globals.iter().zip(&names);
        Ok(numbered.filter_map(|(global, name)| Some((global.number, held.remove(name)?))).collect())
    }
}

/// The number of globals that may end the compiler in one run: few of them do.
const RISKY: usize = 6;

/// The words with which a back end states that it does not support something.
const STATED: [&str; 4] = ["nsupported", "does not support", "NVPTX aliasee must be", ".ll:"];

/// Returns the words of a back end that states what it does not support.
fn refusal(messages: &str) -> Option<String> {
    let line = messages.lines().find(|line| line.contains("error: ") || line.contains("LLVM ERROR: "))?;
    let is_stated = STATED.iter().any(|words| line.contains(words));
    // What follows names the expression.
    let end = line.find(" in static initializer").unwrap_or(line.len());
    is_stated.then(|| line[..end].to_owned())
}

/// Returns the cause of a failure. For a signal it is the last step that the stack dump names.
fn cause(messages: &str, why: String) -> String {
    if !why.contains("PLEASE submit") && !why.starts_with("signal") {
        return why;
    }
    let step = messages.lines().rev().find(|line| {
        let number = line.trim_end().split_once(".\t").map_or("", |(number, _)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let step = step.and_then(|line| line.split_once('\t')).map(|(_, step)| step.trim());
    match step {
        Some(step) if step.starts_with("Running pass") => format!("signal in {step}"),
        _ => "signal while it prints the global".to_owned(),
    }
}

/// What llc made of a global.
#[derive(Clone, Debug)]
pub struct LlcOutcome {
    /// The outcome.
    pub outcome: CompilationOutcome,
    /// Its declaration in PTX, as `g0`; empty if there is none.
    pub declaration: String,
}

/// Reads each global with the lines of the PTX that belong to no global.
fn testimonies(ptx: &str, globals: &[&LlvmGlobal]) -> BTreeMap<u64, LlcOutcome> {
    let mut lines: BTreeMap<u64, String> = BTreeMap::new();
    let mut renamed: BTreeMap<u64, &str> = BTreeMap::new();
    let mut shared = String::new();
    for line in ptx.lines() {
        let marked = marked(line);
        if let Some((number, Some(name))) = marked {
            renamed.insert(number, name);
        }
        let text = match marked.map(|(number, _)| number).or_else(|| declared_global(line)) {
            Some(number) => lines.entry(number).or_default(),
            None => &mut shared,
        };
        let _ = writeln!(text, "{line}");
    }
    let mut outcomes = BTreeMap::new();
    for global in globals {
        let number = global.number;
        let lines = lines.get(&number);
        let mut testimony = match lines {
            None => Testimony::Silent("the PTX has no such variable".to_owned()),
            Some(lines) => testimony(&shared, lines, number),
        };
        if let (Testimony::Read(read), Some(name)) = (&mut testimony, renamed.get(&number)) {
            for address in read.addresses.iter_mut().filter(|address| &*address.symbol == *name) {
                address.symbol = NAMED[1..].into();
            }
        }
        let outcome = CompilationOutcome::Printed(testimony);
        let declared = lines.and_then(|lines| lines.lines().find(|line| declared_global(line).is_some()));
        let declaration = declared.unwrap_or_default().replacen(&format!(" g{number}"), " g0", 1);
        outcomes.insert(number, LlcOutcome { outcome, declaration });
    }
    outcomes
}

/// Reads a global from its lines, which must have types and names of PTX.
fn testimony(shared: &str, lines: &str, number: u64) -> Testimony {
    for line in lines.lines() {
        let words = line.split(['=', ';']).next().unwrap_or_default().split_whitespace();
        for word in words.clone() {
            let width = word.strip_prefix(".u").and_then(|width| width.parse::<u32>().ok());
            if width.is_some_and(|width| ![8, 16, 32, 64].contains(&width)) {
                return Testimony::Refused("a type that PTX does not have".to_owned());
            }
        }
        let name = words.last().and_then(|name| name.split('[').next());
        if !name.is_some_and(is_identifier) {
            return Testimony::Refused("the name of a variable is no identifier".to_owned());
        }
    }
    let read = read(&format!("{shared}{lines}"), [number].into_iter()).remove(&number);
    read.unwrap_or_else(|| Testimony::Silent("the PTX has no such variable".to_owned()))
}

/// Returns true if a name is an identifier of PTX (4.4).
fn is_identifier(name: &str) -> bool {
    let is_following = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    match name.strip_prefix(['_', '$', '%']) {
        Some(rest) => !rest.is_empty() && rest.chars().all(is_following),
        None => name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_following),
    }
}

/// Returns the number of the global that a line of PTX declares, or its use, `u12`.
fn declared_global(line: &str) -> Option<u64> {
    let before = line.split('=').next()?;
    let is_variable = before.contains(".global") || before.contains(".const");
    let name = before.trim_end().trim_end_matches(';').split(' ').next_back()?;
    let name = name.split('[').next()?;
    is_variable.then(|| name.strip_prefix(['g', 'u'])?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_global_is_known_by_its_name() {
        assert_eq!(declared_global(".visible .global .align 4 .u32 g12 = 5;"), Some(12));
        assert_eq!(declared_global(".const .align 16 .b8 g7[12] = {1, 2};"), Some(7));
        assert_eq!(declared_global(".visible .global .align 4 .b8 targets[32] = {1};"), None);
        assert_eq!(declared_global("\tret;"), None);
    }

    #[test]
    fn a_type_or_a_name_that_ptx_does_not_have_is_refused() {
        let refused = |line: &str| matches!(testimony("", line, 1), Testimony::Refused(_));
        assert!(refused(".visible .global .align 4 .u24 g1 = 70000;\n"));
        assert!(refused(".global .align 8 .u64 9_x = 7;\n"));
        assert!(is_identifier("%n1") && is_identifier("n_$_x") && !is_identifier("_") && !is_identifier("1"));
    }

    #[test]
    fn an_llc_is_named_by_version_or_path() {
        assert_eq!(parse_spec("llc@19").unwrap().program, PathBuf::from("llc-19"));
        assert_eq!(parse_spec("llc:/opt/llc").unwrap().program, PathBuf::from("/opt/llc"));
        assert!(parse_spec("llcx").is_none() && parse_spec("clang").is_none() && parse_spec("llc").is_some());
    }
}
