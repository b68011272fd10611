//! Writes a finding as a folder for a bug tracker: the program, a script that reproduces the deviation with only the compiler, and a report
//! with the sections that compiler bug trackers ask for.

mod linked;

use askama::Template;
use ptxsmith_model::Class;
use ptxsmith_subject::version::Version;
use ptxsmith_subject::{Address, Observation, Outcome, Severity as Told, Variable, Variables};
use ptxsmith_syntax::{Header, parse, print};
use serde::Serialize;

use crate::folder::Folder;
use crate::harmless::line;
use crate::manifest::Manifest;
use crate::markdown::{block, manual, span, text};
use crate::releases::{ProgramVerdict, ReleaseVerdict, family};
use crate::reproduce::{Claim, Compiled, MEMORY, Runner, SECONDS, command_for, commands, request_of, word};
use crate::severity::{Severity, called};
use crate::{Finding, Report, Subject, describe, deviations};

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name in the folder.
    pub name: String,
    /// The contents.
    pub text: String,
    /// Whether the file is executable.
    pub executable: bool,
}

/// Machine code of a kernel that was found to be wrong, or to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The name of the kernel.
    pub kernel: String,
    /// The SHA-256 of the code.
    pub sha256: String,
    /// The compiler that generated the code.
    pub compiler: String,
    /// Whether the code is right, which means that the compiler does not show the deviation.
    pub right: bool,
}

/// Returns the name of a bundle's folder and files: the finding's id, with characters replaced that are unsafe in file names.
pub fn name_of(finding: &Finding) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = finding.id.chars().take(80).map(safe).collect();
    if name.starts_with(['.', '-']) || name.is_empty() { format!("finding{name}") } else { name }
}

/// Returns the title of a bug report: `ptxas 13.5.37: silent wrong value: ...`.
fn title(report: &Report, finding: &Finding) -> String {
    let id = finding.subjects.first().map_or("", String::as_str);
    let product = match report.subjects.iter().find(|subject| subject.id == id) {
        Some(subject) => match (&subject.name, &subject.version) {
            (None, Some(version)) => format!("{} {version}", family(id)),
            _ => subject.label(),
        },
        None => id.to_owned(),
    };
    let (kind, title) = (kind_of(finding).0, &finding.title);
    line(&format!("{product}: {kind}: {title}")).into_owned()
}

/// Returns the kind of a finding, as a bug tracker names it, and its severity. Malformed output and exhausted memory are distinguished from
/// other crashes.
fn kind_of(finding: &Finding) -> (&str, &'static str) {
    match Claim::of(finding) {
        Claim::Malformed => ("malformed output", "major: the output is malformed, and the exit status is 0"),
        Claim::Exhausts if finding.class == Class::Crash => {
            (called(Class::Memory), Severity::Memory.meaning())
        }
        _ => (called(finding.class), Severity::of(finding.class).meaning()),
    }
}

/// Builds the files of a finding's bundle. `codes` are the machine codes of its kernels that were examined.
///
/// # Errors
/// Never in practice, because writing to memory does not fail.
pub fn files(folder: &Folder, finding: &Finding, codes: &[Code]) -> Result<Vec<File>, askama::Error> {
    if let Some(linked) = &finding.linked {
        return linked::files(folder, finding, linked);
    }
    let name = name_of(finding);
    let title = title(&folder.report, finding);
    let plain = |name: String, text: String| File { name, text, executable: false };
    let script = script(&title, &name, finding, codes)?;
    let mut files = vec![
        plain("report.md".to_owned(), bug_report(folder, finding, &title, &name)?),
        plain(format!("{name}.ptx"), finding.example().program.to_owned()),
    ];
    if script.contains("show.py") {
        files.push(plain("show.py".to_owned(), include_str!("../../files/show.py").to_owned()));
        files.push(plain("ptxas.py".to_owned(), include_str!("../../files/ptxas.py").to_owned()));
    }
    files.push(File { name: "reproduce.sh".to_owned(), text: script, executable: true });
    // Templates omit the last line break.
    for file in files.iter_mut().filter(|file| !file.text.ends_with('\n')) {
        file.text.push('\n');
    }
    Ok(files)
}

#[derive(Template)]
#[template(path = "bug-report.md")]
struct BugReport<'a> {
    report: &'a Report,
    manifest: Option<&'a Manifest>,
    finding: &'a Finding,
    title: &'a str,
    name: &'a str,
    subject_id: &'a str,
    subject: Option<&'a Subject>,
    severity: &'static str,
    validity: &'static str,
    version: Option<String>,
    meaning: Option<String>,
    work_around: Option<String>,
    page: Option<String>,
    commands: Option<Vec<String>>,
    releases: Vec<ReleaseVerdict>,
    entry_points: String,
    /// Whether the compiler gave no result at all.
    died: bool,
    /// For a result that was not seen but predicted from the list of known deviations: an explanation.
    predicted: Option<&'a str>,
}

fn bug_report(folder: &Folder, finding: &Finding, title: &str, name: &str) -> Result<String, askama::Error> {
    let report = &folder.report;
    let subject_id = finding.subjects.first().map_or("", String::as_str);
    let releases = match finding.releases.is_empty() {
        true => report.subjects.iter().map(|subject| seen_of(subject, finding)).collect(),
        false => finding.releases.clone(),
    };
    let validity = match &*finding.validity {
        "valid" => "valid",
        "refused" => "invalid: the specification refuses it",
        _ => {
            "not classified: sections 4.5, 5.4 and 6.4 of the PTX ISA, by which programs were judged, do not decide it"
        }
    };
    BugReport {
        report,
        manifest: folder.manifest.as_ref(),
        finding,
        title,
        name,
        subject_id,
        subject: report.subjects.iter().find(|subject| subject.id == subject_id),
        severity: kind_of(finding).1,
        validity,
        version: version_text(report, subject_id),
        meaning: deviations::meaning(&finding.id),
        work_around: deviations::work_around(&finding.id),
        page: deviations::link(&finding.id),
        commands: commands(finding, name),
        entry_points: entry_points(&releases, subject_id),
        died: matches!(finding.example().observed.outcome, Outcome::Crashed | Outcome::TimedOut),
        predicted: Some(finding.example().observed)
            .filter(|observed| observed.outcome == Outcome::Accepted)
            .and_then(|observed| observed.reason.as_deref()),
        releases,
    }
    .render()
}

/// Returns the output of `ptxas --version`, without the build.
fn version_text(report: &Report, id: &str) -> Option<String> {
    let subject = report.subjects.iter().find(|subject| subject.id == id)?;
    let version = subject.version.as_deref().filter(|_| matches!(Runner::of(id), Runner::Ptxas(_)))?;
    let (major, minor) = Version::find(version)?.minor()?;
    Some(format!("Cuda compilation tools, release {major}.{minor}, V{version}"))
}

fn seen_of(subject: &Subject, finding: &Finding) -> ReleaseVerdict {
    let shows = finding.subjects.contains(&subject.id);
    ReleaseVerdict {
        subject: subject.id.clone(),
        version: subject.version.clone().unwrap_or_default(),
        verdict: match shows {
            true => ProgramVerdict::Deviates(finding.class),
            false => ProgramVerdict::NotCompared("did not show it in this campaign".to_owned()),
        },
    }
}

/// Describes whether other entry points of the compiler agree.
fn entry_points(releases: &[ReleaseVerdict], subject: &str) -> String {
    let others: Vec<&ReleaseVerdict> = releases.iter().filter(|of| of.family() != family(subject)).collect();
    if others.is_empty() {
        return "Other entry points of the compiler (nvJitLink, the driver) were not run.".to_owned();
    }
    let answers: Vec<String> =
        others.iter().map(|of| format!("{}: {}", text(&of.subject), text(of.verdict.to_string()))).collect();
    format!("Other implementations and entry points: {}.", answers.join(", "))
}

#[derive(Template)]
#[template(path = "reproduce.sh", escape = "none")]
struct OfCompiler<'a> {
    title: &'a str,
    name: &'a str,
    target: String,
    options: String,
    /// The options for the form of output that shows the deviation. `forms` has the options for both forms, the more likely one first.
    form: &'static str,
    forms: &'static str,
    claim: Claim,
    python: bool,
    seconds: u32,
    /// The memory limit in KiB.
    memory: u32,
    /// A control program, which the compiler must accept. It has the header of the reproducer but another body.
    control: String,
    /// The compiler's message about the program, if the program should be accepted.
    message: String,
    expected: String,
    wrong: String,
    fields: &'static str,
    names: String,
    stores: String,
    codes: Vec<Pattern>,
}

struct Pattern {
    pattern: String,
    note: String,
    right: bool,
}

#[derive(Template)]
#[template(path = "reproduce-command.sh", escape = "none")]
struct OfCommand<'a> {
    title: &'a str,
    name: &'a str,
    seconds: u32,
    command: String,
    expected: String,
    wrong: String,
    fields: &'static str,
    names: String,
}

fn script(title: &str, name: &str, finding: &Finding, codes: &[Code]) -> Result<String, askama::Error> {
    let subject = finding.subjects.first().map_or("", String::as_str);
    let fields = if finding.class == Class::WrongLayout { "layout" } else { "values" };
    let (expected, wrong) = (expected(finding), observed(finding));
    let names = finding.example().variable.map_or_else(String::new, |name| format!(" {}", word(name)));
    let options = match Runner::of(subject) {
        Runner::Command { line, serves } => {
            let command = match serves {
                false => command_for(&line, "\"$file\""),
                true => format!("printf '%s\\n' {} | {line}", word(&request_of(finding))),
            };
            let shown = |values: &[String], outcome: &str| {
                let lines: Vec<&str> =
                    [outcome].into_iter().chain(values.iter().map(String::as_str)).collect();
                word(&lines.join("\n"))
            };
            let example = finding.example();
            let outcome = example.expected.outcome().unwrap_or("accepted");
            let said = match example.observed.outcome {
                Outcome::Accepted => "accepted",
                Outcome::Refused => "refused",
                Outcome::Unsupported => "unsupported",
                _ => "no answer",
            };
            let (expected, wrong) = (shown(&expected, outcome), shown(&wrong, said));
            return OfCommand { title, name, seconds: SECONDS, command, expected, wrong, fields, names }
                .render();
        }
        Runner::Ptxas(options) => options,
        Runner::Other => Vec::new(),
    };
    let Compiled { target, relocatable, .. } = Compiled::of(finding);
    let claim = Claim::of(finding);
    let kernels: Vec<&Code> = codes.iter().collect();
    let codes = kernels.iter().map(|code| Pattern {
        pattern: format!("*{}*", word(&format!("{} {}", code.kernel, code.sha256))),
        note: word(&format!(
            "the machine code of {}, which is {}",
            code.compiler,
            if code.right { "right" } else { "wrong" }
        )),
        right: code.right,
    });
    OfCompiler {
        title,
        name,
        target: word(&target),
        options: options.iter().map(|option| format!(" {}", word(option))).collect(),
        form: if relocatable { " -c" } else { "" },
        forms: if relocatable { "-c \"\"" } else { "\"\" -c" },
        claim,
        python: matches!(claim, Claim::Holds | Claim::Leaves | Claim::Malformed),
        seconds: SECONDS,
        memory: MEMORY,
        control: word(&control(finding)),
        message: word(&message(finding)),
        expected: word(&expected.join("\n")),
        wrong: word(&wrong.join("\n")),
        fields,
        names,
        stores: line(&describe::observed(finding).join("; ")).into_owned(),
        codes: codes.collect(),
    }
    .render()
}

/// Returns a program that every compiler accepts if it supports the header of the reproducer.
fn control(finding: &Finding) -> String {
    let header = parse(finding.example().program).unwrap_or_default().header();
    let is_whole = header.version().is_some() && header.targets().any(|target| target.starts_with("sm_"));
    // Every release accepts this header.
    let plain = || Header { version: "7.0".into(), ..Header::default() }.module([]);
    let header = print(&if is_whole { header } else { plain() });
    format!("{header}.visible .global .align 4 .u32 control = 1;")
}

/// Returns the first line of the first error that the compiler printed.
fn message(finding: &Finding) -> String {
    let mut errors =
        finding.example().observed.diagnostics.iter().filter(|said| said.severity >= Told::Error);
    errors.next().and_then(|said| said.message.lines().next()).unwrap_or_default().to_owned()
}

/// The output of `show.py` for a variable.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'v> {
    Values { bytes: Option<String>, addresses: &'v [Address] },
    Layout { space: Option<&'v str>, size: Option<u64>, align: Option<u64> },
}

fn shown(finding: &Finding, variables: &Variables) -> Vec<String> {
    let line = |name: &str, variable: Option<&Variable>| {
        let Some(variable) = variable else { return format!("{name} not there") };
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = match finding.class {
            Class::WrongLayout => {
                Shown::Layout { space: variable.space.as_deref(), size: variable.size, align: variable.align }
            }
            _ => Shown::Values {
                bytes: variable.bytes.as_ref().map(hex),
                addresses: variable.addresses.as_deref().unwrap_or_default(),
            },
        };
        format!("{name} {}", serde_json::to_string(&shown).unwrap_or_default())
    };
    match finding.example().variable {
        Some(name) => vec![line(name, variables.get(name))],
        None => variables.iter().map(|(name, variable)| line(name, Some(variable))).collect(),
    }
}

fn expected(finding: &Finding) -> Vec<String> {
    let example = finding.example();
    match example.expected.outcome() {
        Some("accepted" | "unmodelled") => shown(finding, example.expected.variables()),
        _ => Vec::new(),
    }
}

fn observed(finding: &Finding) -> Vec<String> {
    let observed: &Observation = finding.example().observed;
    if observed.outcome != Outcome::Accepted { Vec::new() } else { shown(finding, &observed.variables) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_finding_leaves_the_folder() {
        let named = |id: &str| name_of(&Finding { id: id.to_owned(), ..Finding::default() });
        assert_eq!(named("octal-as-decimal"), "octal-as-decimal");
        assert_eq!(named("../../etc"), "finding..-..-etc");
        assert_eq!((named("a/b c"), named("")), ("a-b-c".to_owned(), "finding".to_owned()));
    }

    #[test]
    fn what_a_text_holds_is_one_word_of_the_script() {
        let finding = Finding {
            class: Class::WrongValue,
            variable: Some("x'; rm -r *".to_owned()),
            subjects: vec!["ptxas@13.5".to_owned()],
            program: ".version 7.7\n.target sm_80\n".to_owned(),
            observed: Observation::new(Outcome::Accepted),
            ..Finding::default()
        };
        let script = script("a title", "a", &finding, &[]).unwrap();
        assert!(script.contains(r#"show values "$cubin" 'x'\''; rm -r *')"#), "{script}");
    }
}
