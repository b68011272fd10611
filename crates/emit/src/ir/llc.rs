//! `llc` as a compiler under test: compiles many globals at once, and judges what it prints for NVPTX.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_cuda::subjects::{CompilerDescription, Cut, cut_short};
use ptxsmith_model::Class;
use ptxsmith_subject::process::{self, Cancel, Finished, Invocation, Limits};

use super::LlvmGlobal;
use super::layout::{LargestAlignment, LlvmLayout};
use super::print::PRELUDE;
use super::variants::variants;
use crate::EmitError;
use crate::ask::CompilationOutcome;
use crate::host::{VariableContents, read as read_object};
use crate::judge::{GlobalVerdict, SourceDifference};
use crate::judged::{GlobalResult, Tester, failure_result};
use crate::source::TestGlobal;
use crate::witness::{Testimony, read};

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
        let limits = Limits { time: timeout, output: 64 << 20, memory: 8 << 30, ..Limits::default() };
        Ok(Llc { program, host, description, limits, cancel: cancel.clone() })
    }

    fn run(&self, program: &PathBuf, options: &[&str], ir: &str) -> Result<(Finished, Vec<u8>), EmitError> {
        let directory = process::scratch(1 << 28).map_err(EmitError::Directory)?;
        let path = directory.path();
        fs::write(path.join("unit.ll"), ir).map_err(EmitError::Directory)?;
        let version = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let is_old = *program == self.program && version.is_some_and(|major| major < 15);
        let pointers: &[&str] = if is_old { &["-opaque-pointers"] } else { &[] };
        let common = ["-disable-symbolication", "-o", "unit.out", "unit.ll"];
        let invocation = Invocation {
            program: program.clone(),
            args: [pointers, options, &common].concat().iter().map(Into::into).collect(),
            directory: Some(path.to_owned()),
            temporary: path.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let output = fs::read(path.join("unit.out")).unwrap_or_default();
        Ok((finished, output))
    }

    /// Compiles a module for NVPTX: the PTX, or why there is none.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn ptx(&self, ir: &str) -> Result<Result<String, CompilationOutcome>, EmitError> {
        let options = ["-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_80", "-mattr=+ptx71"];
        let (finished, output) = self.run(&self.program, &options, ir)?;
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

    fn outcomes(&self, globals: &[&LlvmGlobal]) -> Result<BTreeMap<u64, CompilationOutcome>, EmitError> {
        let mut outcomes = BTreeMap::new();
        let mut waiting = vec![globals.to_vec()];
        while let Some(part) = waiting.pop() {
            match (self.ptx(&module(&part))?, &part[..]) {
                (_, []) => {}
                (Ok(ptx), _) => outcomes.extend(testimonies(&ptx, &part)),
                (Err(outcome), [only]) => {
                    outcomes.insert(only.number, outcome);
                }
                (Err(_), _) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        Ok(outcomes)
    }
}

/// Returns the words of a back end that states what it does not support.
fn refusal(messages: &str) -> Option<String> {
    let line = messages.lines().find(|line| line.contains("error: ") || line.contains("LLVM ERROR: "))?;
    let is_stated = line.contains("nsupported") || line.contains(".ll:");
    is_stated.then(|| line.to_owned())
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

fn module(globals: &[&LlvmGlobal]) -> String {
    let mut ir = PRELUDE.to_owned();
    for global in globals {
        let _ = writeln!(ir, "{}", global.line());
    }
    ir
}

/// Reads each global with the lines of the PTX that belong to no global.
fn testimonies(ptx: &str, globals: &[&LlvmGlobal]) -> BTreeMap<u64, CompilationOutcome> {
    let mut lines: BTreeMap<u64, &str> = BTreeMap::new();
    let mut shared = String::new();
    for line in ptx.lines() {
        match declared_global(line) {
            Some(number) => {
                lines.insert(number, line);
            }
            None => {
                let _ = writeln!(shared, "{line}");
            }
        }
    }
    let mut outcomes = BTreeMap::new();
    for global in globals {
        let number = global.number;
        let line = lines.get(&number);
        let testimony =
            line.and_then(|line| read(&format!("{shared}{line}\n"), [number].into_iter()).remove(&number));
        let testimony =
            testimony.unwrap_or_else(|| Testimony::Silent("the PTX has no such variable".to_owned()));
        outcomes.insert(number, CompilationOutcome::Printed(testimony));
    }
    outcomes
}

/// Returns the number of the global that a line of PTX declares.
fn declared_global(line: &str) -> Option<u64> {
    let before = line.split('=').next()?;
    let is_variable = before.contains(".global") || before.contains(".const");
    let name = before.trim_end().trim_end_matches(';').split(' ').next_back()?;
    let name = name.split('[').next()?;
    is_variable.then(|| name.strip_prefix('g')?.parse().ok())?
}

impl Tester for Llc {
    type Global = LlvmGlobal;

    fn description(&self) -> &CompilerDescription {
        &self.description
    }

    fn judge(
        &self,
        globals: &[&LlvmGlobal],
        _: Option<&SourceDifference>,
    ) -> Result<BTreeMap<u64, GlobalResult>, EmitError> {
        let outcomes = self.outcomes(globals)?;
        let names: Vec<String> = globals.iter().map(|global| format!("g{}", global.number)).collect();
        let held = self.host_variables(&module(globals), &names)?;
        let judged = globals.iter().zip(&names).filter_map(|(global, name)| {
            let outcome = outcomes.get(&global.number)?;
            Some((global.number, self.judge_outcome(global, outcome, held.get(name))))
        });
        Ok(judged.collect())
    }
}

/// The largest alignment of an integer on x86-64.
const HOST_ALIGNMENT: LargestAlignment = LargestAlignment(16);

impl Llc {
    /// Judges one global under the alignment of 256-bit integers in this release: 16 up to 19, 32 from 22 on.
    /// In 20 and 21 it is not known, so a global whose layout depends on it is not compared.
    fn judge_outcome(
        &self,
        global: &LlvmGlobal,
        outcome: &CompilationOutcome,
        host: Option<&VariableContents>,
    ) -> GlobalResult {
        let major = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let layout = LargestAlignment(16).layout(global);
        match major {
            Some(20 | 21) | None if layout != LargestAlignment(32).layout(global) => {
                GlobalResult::NotCompared(
                    "the alignment of integers of 256 bits in this release is not known".to_owned(),
                )
            }
            Some(22..) => judge_outcome(global, outcome, host, &LargestAlignment(32).layout(global)),
            _ => judge_outcome(global, outcome, host, &layout),
        }
    }
}

fn judge_outcome(
    global: &LlvmGlobal,
    outcome: &CompilationOutcome,
    host: Option<&VariableContents>,
    layout: &LlvmLayout,
) -> GlobalResult {
    let testimony = match outcome {
        CompilationOutcome::Printed(testimony) => testimony,
        failure => return failure_result(global.number, failure),
    };
    // The host confirms our rules with its own alignment.
    let host_layout = HOST_ALIGNMENT.layout(global);
    match host {
        None => {
            return GlobalResult::NotCompared(
                "there is no llc 18 or later for x86-64, or it fails".to_owned(),
            );
        }
        Some(host)
            if host.bytes.len() as u64 != host_layout.size || host_layout.difference(host).is_some() =>
        {
            return GlobalResult::NotCompared("our layout and that of llc for x86-64 differ".to_owned());
        }
        Some(_) => {}
    }
    let difference = match testimony {
        Testimony::Silent(why) => return GlobalResult::NotCompared(format!("oracle: {why}")),
        Testimony::Refused(why) => Some(SourceDifference {
            class: Class::WrongValue,
            symptom: format!("the specification refuses the PTX: {why}"),
            kind: "",
            place: format!("g{}", global.number),
            expected: "PTX that the specification accepts".to_owned(),
            actual: why.clone(),
        }),
        Testimony::Read(read) => difference(global, layout, &read.contents, read.align),
    };
    GlobalResult::Compared(GlobalVerdict { difference, is_judged: true, ..GlobalVerdict::default() })
}

fn difference(
    global: &LlvmGlobal,
    layout: &LlvmLayout,
    held: &VariableContents,
    align: u64,
) -> Option<SourceDifference> {
    let place = format!("g{}", global.number);
    if let Some((leaf, actual)) = layout.difference(held) {
        let is_address = matches!(leaf.value, super::layout::LeafValue::Address(..));
        return Some(SourceDifference {
            class: if is_address { Class::WrongAddress } else { Class::WrongValue },
            symptom: "another value is printed".to_owned(),
            kind: leaf.kind,
            place: format!("{place}+{}", leaf.offset),
            expected: leaf.value.to_text(),
            actual,
        });
    }
    let size = held.bytes.len() as u64;
    let (symptom, expected, actual) = if size < layout.size {
        ("the variable is smaller than its type", layout.size, size)
    } else if align < layout.align {
        ("the variable is less aligned than its type", layout.align, align)
    } else {
        return None;
    };
    Some(SourceDifference {
        class: Class::WrongLayout,
        symptom: symptom.to_owned(),
        kind: "",
        place,
        expected: format!("{expected} bytes"),
        actual: format!("{actual} bytes"),
    })
}

/// Returns a global as a test of LLVM: what to run, and what the PTX must hold.
pub fn source(global: &LlvmGlobal) -> String {
    let global = global.numbered(0);
    let layout = LargestAlignment(16).layout(&global);
    let mut text =
        "; RUN: llc < %s -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 -mattr=+ptx71 | FileCheck %s\n".to_owned();
    for leaf in &layout.leaves {
        let _ = writeln!(
            text,
            "; bytes {} to {} hold {}",
            leaf.offset,
            leaf.offset + leaf.size - 1,
            leaf.value.to_text()
        );
    }
    let _ = writeln!(text, "; CHECK: {}", layout.printed());
    let line = global.line();
    for declaration in PRELUDE.lines() {
        let name =
            declaration.split(['@', ' ', '(']).find(|word| ["targets", "table", "function"].contains(word));
        if name.is_some_and(|name| line.contains(&format!("@{name}"))) {
            let _ = writeln!(text, "{declaration}");
        }
    }
    text + &line + "\n"
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
    fn an_llc_is_named_by_version_or_path() {
        assert_eq!(parse_spec("llc@19").unwrap().program, PathBuf::from("llc-19"));
        assert_eq!(parse_spec("llc:/opt/llc").unwrap().program, PathBuf::from("/opt/llc"));
        assert!(parse_spec("llcx").is_none() && parse_spec("clang").is_none() && parse_spec("llc").is_some());
    }
}
