//! `llc` as a compiler under test: compiles many globals at once, and judges what it prints for NVPTX.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_cuda::subjects::{CompilerDescription, Cut, cut_short};
use ptxsmith_model::Class;
use ptxsmith_subject::process::{self, Cancel, Finished, Invocation, Limits};

use super::Global;
use super::layout::{Layout, Widest};
use super::print::PRELUDE;
use super::variants::variants;
use crate::Error;
use crate::ask::Outcome;
use crate::host::{Held, read as read_object};
use crate::judge::{Difference, Verdict};
use crate::judged::{Judged, Tester, of_failure};
use crate::source::Source;
use crate::witness::{Testimony, read};

impl Source for Global {
    fn number(&self) -> u64 {
        self.number
    }

    fn numbered(&self, number: u64) -> Global {
        Global { number, ..self.clone() }
    }

    fn text(&self) -> String {
        self.line()
    }

    fn shape(&self) -> String {
        Global::shape(self)
    }

    fn variants(&self) -> Vec<Global> {
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
    /// What is known of it.
    pub description: CompilerDescription,
    limits: Limits,
    cancel: Cancel,
}

/// The versions of llc to look for as the host's, from the newest.
const NEWEST: u32 = 40;
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
        let said = process::run_trusted(&program, &["--version"], directory.path(), timeout, cancel)
            .map_err(|error| error.to_string())?;
        let said = said.stdout.text().into_owned();
        let version = said.split_once("LLVM version ").map(|(_, rest)| rest);
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

    fn run(&self, program: &PathBuf, options: &[&str], ir: &str) -> Result<(Finished, Vec<u8>), Error> {
        let directory = process::scratch(1 << 28).map_err(Error::Directory)?;
        let at = directory.path();
        fs::write(at.join("unit.ll"), ir).map_err(Error::Directory)?;
        let version = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let is_old = *program == self.program && version.is_some_and(|major| major < 15);
        let pointers: &[&str] = if is_old { &["-opaque-pointers"] } else { &[] };
        let common = ["-disable-symbolication", "-o", "unit.out", "unit.ll"];
        let invocation = Invocation {
            program: program.clone(),
            args: [pointers, options, &common].concat().iter().map(Into::into).collect(),
            directory: Some(at.to_owned()),
            temporary: at.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let made = fs::read(at.join("unit.out")).unwrap_or_default();
        Ok((finished, made))
    }

    /// Compiles a module for NVPTX: the PTX, or why there is none.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn ptx(&self, ir: &str) -> Result<Result<String, Outcome>, Error> {
        let options = ["-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_80", "-mattr=+ptx71"];
        let (finished, made) = self.run(&self.program, &options, ir)?;
        let said = finished.stderr.text();
        Ok(match cut_short(&finished, &said) {
            None => Ok(String::from_utf8_lossy(&made).into_owned()),
            Some(Cut::TimedOut) => Err(Outcome::TimedOut),
            Some(Cut::Crashed(_)) if refusal(&said).is_some() => {
                Err(Outcome::Refused(refusal(&said).unwrap_or_default()))
            }
            Some(Cut::Crashed(why)) => Err(Outcome::Crashed(cause(&said, why))),
        })
    }

    /// Compiles a module for x86-64 and returns the contents of these variables.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn of_host(&self, ir: &str, names: &[String]) -> Result<BTreeMap<String, Held>, Error> {
        let Some(host) = &self.host else { return Ok(BTreeMap::new()) };
        let options = ["-mtriple=x86_64-unknown-linux-gnu", "-relocation-model=static", "-filetype=obj"];
        let (_, object) = self.run(host, &options, ir)?;
        let held = |name: &String| Some((name.clone(), read_object(&object, name)?));
        Ok(names.iter().filter_map(held).collect())
    }

    fn outcomes(&self, globals: &[&Global]) -> Result<BTreeMap<u64, Outcome>, Error> {
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
fn refusal(said: &str) -> Option<String> {
    let line = said.lines().find(|line| line.contains("error: ") || line.contains("LLVM ERROR: "))?;
    let is_stated = line.contains("nsupported") || line.contains(".ll:");
    is_stated.then(|| line.to_owned())
}

/// Returns the cause of a failure: of one by a signal, the last step that the stack dump names.
fn cause(said: &str, why: String) -> String {
    if !why.contains("PLEASE submit") && !why.starts_with("signal") {
        return why;
    }
    let step = said.lines().rev().find(|line| {
        let number = line.trim_end().split_once(".\t").map_or("", |(number, _)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let step = step.and_then(|line| line.split_once('\t')).map(|(_, step)| step.trim());
    match step {
        Some(step) if step.starts_with("Running pass") => format!("signal in {step}"),
        _ => "signal while it prints the global".to_owned(),
    }
}

fn module(globals: &[&Global]) -> String {
    let mut ir = PRELUDE.to_owned();
    for global in globals {
        let _ = writeln!(ir, "{}", global.line());
    }
    ir
}

/// Reads each global with the lines of the PTX that belong to no global.
fn testimonies(ptx: &str, globals: &[&Global]) -> BTreeMap<u64, Outcome> {
    let mut own: BTreeMap<u64, &str> = BTreeMap::new();
    let mut shared = String::new();
    for line in ptx.lines() {
        match declared(line) {
            Some(number) => {
                own.insert(number, line);
            }
            None => {
                let _ = writeln!(shared, "{line}");
            }
        }
    }
    let testimony = |number: u64| match own.get(&number) {
        Some(line) => read(&format!("{shared}{line}\n"), [number].into_iter())
            .remove(&number)
            .unwrap_or_else(|| Testimony::Silent("the PTX has no such variable".to_owned())),
        None => Testimony::Silent("the PTX has no such variable".to_owned()),
    };
    globals.iter().map(|global| (global.number, Outcome::Printed(testimony(global.number)))).collect()
}

/// Returns the number of the global that a line of PTX declares.
fn declared(line: &str) -> Option<u64> {
    let before = line.split('=').next()?;
    let is_variable = before.contains(".global") || before.contains(".const");
    let name = before.trim_end().trim_end_matches(';').split(' ').next_back()?;
    let name = name.split('[').next()?;
    is_variable.then(|| name.strip_prefix('g')?.parse().ok())?
}

impl Tester for Llc {
    type Source = Global;

    fn description(&self) -> &CompilerDescription {
        &self.description
    }

    fn judge(&self, globals: &[&Global], _: Option<&Difference>) -> Result<BTreeMap<u64, Judged>, Error> {
        let outcomes = self.outcomes(globals)?;
        let names: Vec<String> = globals.iter().map(|global| format!("g{}", global.number)).collect();
        let held = self.of_host(&module(globals), &names)?;
        let judged = globals.iter().zip(&names).filter_map(|(global, name)| {
            let outcome = outcomes.get(&global.number)?;
            Some((global.number, self.judged(global, outcome, held.get(name))))
        });
        Ok(judged.collect())
    }
}

/// The largest alignment of an integer on x86-64.
const OF_HOST: Widest = Widest(16);

impl Llc {
    fn judged(&self, global: &Global, outcome: &Outcome, host: Option<&Held>) -> Judged {
        let major = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let layout = Widest(16).layout(global);
        match major {
            Some(20 | 21) | None if layout != Widest(32).layout(global) => Judged::NotCompared(
                "the alignment of integers of 256 bits in this release is not known".to_owned(),
            ),
            Some(22..) => judged(global, outcome, host, &Widest(32).layout(global)),
            _ => judged(global, outcome, host, &layout),
        }
    }
}

fn judged(global: &Global, outcome: &Outcome, host: Option<&Held>, layout: &Layout) -> Judged {
    let testimony = match outcome {
        Outcome::Printed(testimony) => testimony,
        failure => return of_failure(global.number, failure),
    };
    // The host confirms our rules with its own alignment.
    let of_host = OF_HOST.layout(global);
    match host {
        None => return Judged::NotCompared("there is no llc 18 or later for x86-64, or it fails".to_owned()),
        Some(host) if host.bytes.len() as u64 != of_host.size || of_host.difference(host).is_some() => {
            return Judged::NotCompared("our layout and that of llc for x86-64 differ".to_owned());
        }
        Some(_) => {}
    }
    let difference = match testimony {
        Testimony::Silent(why) => return Judged::NotCompared(format!("oracle: {why}")),
        Testimony::Refused(why) => Some(Difference {
            class: Class::WrongValue,
            symptom: format!("the specification refuses the PTX: {why}"),
            kind: "",
            place: format!("g{}", global.number),
            expected: "PTX that the specification accepts".to_owned(),
            actual: why.clone(),
        }),
        Testimony::Read(read) => difference(global, layout, &read.held, read.align),
    };
    Judged::Compared(Verdict { difference, is_judged: true, ..Verdict::default() })
}

fn difference(global: &Global, layout: &Layout, held: &Held, align: u64) -> Option<Difference> {
    let place = format!("g{}", global.number);
    let of_layout = |symptom: &str, expected: u64, actual: u64| Difference {
        class: Class::WrongLayout,
        symptom: symptom.to_owned(),
        kind: "",
        place: place.clone(),
        expected: format!("{expected} bytes"),
        actual: format!("{actual} bytes"),
    };
    if let Some((leaf, actual)) = layout.difference(held) {
        let is_address = matches!(leaf.value, super::layout::Value::Address(..));
        return Some(Difference {
            class: if is_address { Class::WrongAddress } else { Class::WrongValue },
            symptom: "another value is printed".to_owned(),
            kind: leaf.kind,
            place: format!("{place}+{}", leaf.offset),
            expected: leaf.value.shown(),
            actual,
        });
    }
    let size = held.bytes.len() as u64;
    if size < layout.size {
        return Some(of_layout("the variable is smaller than its type", layout.size, size));
    }
    (align < layout.align)
        .then(|| of_layout("the variable is less aligned than its type", layout.align, align))
}

/// Returns a global as a test of LLVM: what to run, and what the PTX must hold.
pub fn source(global: &Global) -> String {
    let global = global.numbered(0);
    let layout = Widest(16).layout(&global);
    let mut text =
        "; RUN: llc < %s -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 -mattr=+ptx71 | FileCheck %s\n".to_owned();
    for leaf in &layout.leaves {
        let _ = writeln!(
            text,
            "; bytes {} to {} hold {}",
            leaf.offset,
            leaf.offset + leaf.size - 1,
            leaf.value.shown()
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
        assert_eq!(declared(".visible .global .align 4 .u32 g12 = 5;"), Some(12));
        assert_eq!(declared(".const .align 16 .b8 g7[12] = {1, 2};"), Some(7));
        assert_eq!(declared(".visible .global .align 4 .b8 targets[32] = {1};"), None);
        assert_eq!(declared("\tret;"), None);
    }

    #[test]
    fn an_llc_is_named_by_version_or_path() {
        assert_eq!(parse_spec("llc@19").unwrap().program, PathBuf::from("llc-19"));
        assert_eq!(parse_spec("llc:/opt/llc").unwrap().program, PathBuf::from("/opt/llc"));
        assert!(parse_spec("llcx").is_none() && parse_spec("clang").is_none() && parse_spec("llc").is_some());
    }
}
