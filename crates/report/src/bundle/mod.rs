//! Writes a finding as a folder for a bug tracker: the program, a script that reproduces the deviation with
//! only the compiler, and a report with the sections that compiler bug trackers ask for.

mod emitted;
mod linked;

use askama::Template;
use ptxsmith_model::Class;
use ptxsmith_oracle::hex;
use ptxsmith_subject::version::Version;
use ptxsmith_subject::{Address, Outcome, Severity, Variable, Variables};
use ptxsmith_syntax::{Header, parse, print};
use serde::Serialize;

use crate::folder::Folder;
use crate::harmless::line;
use crate::manifest::Manifest;
use crate::markdown::{block, manual, span, text};
use crate::releases::{ProgramVerdict, ReleaseVerdict, family};
use crate::reproduce::{
    Claim, CompileSettings, MEMORY, Runner, SECONDS, command_for, commands, serve_request, word,
};
use crate::severity::{DeviationSeverity, finding_name};
use crate::{Finding, Report, SubjectResults, describe, deviations};

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// The name in the folder.
    pub name: String,
    /// The contents.
    pub text: String,
    /// Whether the file is executable.
    pub executable: bool,
}

impl BundleFile {
    /// Creates a file that ends with exactly one line break.
    fn ended(name: &str, text: &str) -> BundleFile {
        BundleFile::new(name, &(text.trim_end().to_owned() + "\n"))
    }

    fn new(name: &str, text: &str) -> BundleFile {
        BundleFile { name: name.to_owned(), text: text.to_owned(), executable: false }
    }
}

/// Machine code of a kernel that was found to be wrong, or to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// The name of the kernel.
    pub kernel: String,
    /// The SHA-256 of the code.
    pub sha256: String,
    /// The compiler that generated the code.
    pub compiler: String,
    /// Whether the code is right, which means that the compiler does not show the deviation.
    pub right: bool,
}

/// Returns the name of a bundle's folder and files: the finding's id, with characters replaced that are
/// unsafe in file names.
pub fn folder_name(finding: &Finding) -> String {
    let id = finding.id.chars().take(80);
    let name: String =
        id.map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
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
    let kind = kind_of(finding).0;
    let title = &finding.title;
    line(&format!("{product}: {kind}: {title}")).into_owned()
}

/// Returns the kind of a finding, as a bug tracker names it, and its severity. Malformed output and exhausted
/// memory are distinguished from other crashes.
fn kind_of(finding: &Finding) -> (&str, &'static str) {
    match Claim::for_finding(finding) {
        Claim::Malformed => ("malformed output", "major: the output is malformed, and the exit status is 0"),
        Claim::ExceedsLimits if finding.class == Class::Crash => {
            (finding_name(Class::Memory), DeviationSeverity::Memory.meaning())
        }
        _ => (finding_name(finding.class), DeviationSeverity::of_class(finding.class).meaning()),
    }
}

/// Builds the files of a finding's bundle. `codes` are the machine codes of its kernels that were examined.
///
/// # Errors
/// Never in practice, because writing to memory does not fail.
pub fn files(
    folder: &Folder,
    finding: &Finding,
    codes: &[KernelCode],
) -> Result<Vec<BundleFile>, askama::Error> {
    if let Some(linked) = &finding.linked {
        return linked::files(folder, finding, linked);
    }
    if let Some(emitted) = &finding.emitted {
        return emitted::files(folder, finding, emitted);
    }
    let name = folder_name(finding);
    let title = title(&folder.report, finding);
    let script = script(&title, &name, finding, codes)?;
    let mut files = vec![
        BundleFile::new("report.md", &bug_report(folder, finding, &title, &name)?),
        BundleFile::new(&format!("{name}.ptx"), finding.example().program),
    ];
    if script.contains("show.py") {
        files.push(BundleFile::new("show.py", include_str!("../../files/show.py")));
        files.push(BundleFile::new("ptxas.py", include_str!("../../files/ptxas.py")));
    }
    files.push(BundleFile { executable: true, ..BundleFile::new("reproduce.sh", &script) });
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
    subject: Option<&'a SubjectResults>,
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
    is_crash: bool,
    /// For a result that was not seen but predicted from the list of known deviations: an explanation.
    predicted: Option<&'a str>,
}

fn bug_report(folder: &Folder, finding: &Finding, title: &str, name: &str) -> Result<String, askama::Error> {
    let report = &folder.report;
    let subject_id = finding.subjects.first().map_or("", String::as_str);
    let releases = if finding.releases.is_empty() {
        report.subjects.iter().map(|subject| verdict_in_campaign(subject, finding)).collect()
    } else {
        finding.releases.clone()
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
        is_crash: matches!(finding.example().observed.outcome, Outcome::Crashed | Outcome::TimedOut),
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
    let version =
        subject.version.as_deref().filter(|_| matches!(Runner::for_subject(id), Runner::Ptxas(_)))?;
    let (major, minor) = Version::find(version)?.minor()?;
    Some(format!("Cuda compilation tools, release {major}.{minor}, V{version}"))
}

fn verdict_in_campaign(subject: &SubjectResults, finding: &Finding) -> ReleaseVerdict {
    ReleaseVerdict {
        subject: subject.id.clone(),
        version: subject.version.clone().unwrap_or_default(),
        verdict: if finding.subjects.contains(&subject.id) {
            ProgramVerdict::Deviates(finding.class)
        } else {
            ProgramVerdict::NotCompared("did not show it in this campaign".to_owned())
        },
    }
}

/// Describes whether other entry points of the compiler agree.
fn entry_points(releases: &[ReleaseVerdict], subject: &str) -> String {
    let others = releases.iter().filter(|release| release.family() != family(subject));
    let verdicts: Vec<String> = others
        .map(|release| format!("{}: {}", text(&release.subject), text(release.verdict.to_string())))
        .collect();
    if verdicts.is_empty() {
        return "Other entry points of the compiler (nvJitLink, the driver) were not run.".to_owned();
    }
    format!("Other implementations and entry points: {}.", verdicts.join(", "))
}

#[derive(Template)]
#[template(path = "reproduce.sh", escape = "none")]
struct CompilerScript<'a> {
    title: &'a str,
    name: &'a str,
    target: String,
    options: String,
    /// The options for the form of output that shows the deviation. `forms` has the options for both forms,
    /// the more likely one first.
    form: &'static str,
    forms: &'static str,
    claim: Claim,
    python: bool,
    seconds: u32,
    /// The memory limit in KiB.
    memory: u32,
    /// A control program, which the compiler must accept. It has the header of the reproducer but another
    /// body.
    control: String,
    /// The compiler's message about the program, if the program should be accepted.
    message: String,
    expected: String,
    wrong: String,
    fields: &'static str,
    names: String,
    stores: String,
    codes: Vec<CodePattern>,
}

/// A pattern of the shell that matches known machine code of a kernel.
struct CodePattern {
    pattern: String,
    note: String,
    right: bool,
}

impl CodePattern {
    fn new(code: &KernelCode) -> CodePattern {
        let verdict = if code.right { "right" } else { "wrong" };
        CodePattern {
            pattern: format!("*{}*", word(&format!("{} {}", code.kernel, code.sha256))),
            note: word(&format!("the machine code of {}, which is {verdict}", code.compiler)),
            right: code.right,
        }
    }
}

#[derive(Template)]
#[template(path = "reproduce-command.sh", escape = "none")]
struct CommandScript<'a> {
    title: &'a str,
    name: &'a str,
    seconds: u32,
    command: String,
    expected: String,
    wrong: String,
    fields: &'static str,
    names: String,
}

/// Renders the script that reproduces a finding.
fn script(title: &str, name: &str, finding: &Finding, codes: &[KernelCode]) -> Result<String, askama::Error> {
    match Runner::for_subject(finding.subjects.first().map_or("", String::as_str)) {
        Runner::Command { line, serves: false } => {
            command_script(title, name, finding, command_for(&line, "\"$file\""))
        }
        Runner::Command { line, serves: true } => {
            let command = format!("printf '%s\\n' {} | {line}", word(&serve_request(finding)));
            command_script(title, name, finding, command)
        }
        Runner::Ptxas(options) => compiler_script(title, name, finding, codes, &options),
        Runner::Other => compiler_script(title, name, finding, codes, &[]),
    }
}

/// Renders the script for a subject that is a command.
fn command_script(
    title: &str,
    name: &str,
    finding: &Finding,
    command: String,
) -> Result<String, askama::Error> {
    let example = finding.example();
    let expected_outcome = example.expected.outcome().unwrap_or("accepted");
    let observed_outcome = match example.observed.outcome {
        Outcome::Accepted => "accepted",
        Outcome::Refused => "refused",
        Outcome::Unsupported => "unsupported",
        _ => "no answer",
    };
    CommandScript {
        title,
        name,
        seconds: SECONDS,
        command,
        expected: answer_word(expected_outcome, &expected(finding)),
        wrong: answer_word(observed_outcome, &observed(finding)),
        fields: shown_fields(finding),
        names: variable_argument(finding),
    }
    .render()
}

/// Returns an outcome and the lines of variables as one word of a shell command.
fn answer_word(outcome: &str, lines: &[String]) -> String {
    let lines = [outcome].into_iter().chain(lines.iter().map(String::as_str));
    word(&lines.collect::<Vec<_>>().join("\n"))
}

/// Renders the script for ptxas.
fn compiler_script(
    title: &str,
    name: &str,
    finding: &Finding,
    codes: &[KernelCode],
    options: &[String],
) -> Result<String, askama::Error> {
    let CompileSettings { target, relocatable, .. } = CompileSettings::for_finding(finding);
    let claim = Claim::for_finding(finding);
    CompilerScript {
        title,
        name,
        target: word(&target),
        options: options.iter().map(|option| format!(" {}", word(option))).collect(),
        form: if relocatable { " -c" } else { "" },
        forms: if relocatable { "-c \"\"" } else { "\"\" -c" },
        claim,
        python: matches!(claim, Claim::VariableContents | Claim::KernelOutput | Claim::Malformed),
        seconds: SECONDS,
        memory: MEMORY,
        control: word(&control(finding)),
        message: word(&message(finding)),
        expected: word(&expected(finding).join("\n")),
        wrong: word(&observed(finding).join("\n")),
        fields: shown_fields(finding),
        names: variable_argument(finding),
        stores: line(&describe::observed(finding).join("; ")).into_owned(),
        codes: codes.iter().map(CodePattern::new).collect(),
    }
    .render()
}

/// Returns the argument of `show.py` that selects what it prints of a variable.
fn shown_fields(finding: &Finding) -> &'static str {
    if finding.class == Class::WrongLayout { "layout" } else { "values" }
}

/// Returns the argument of `show.py` that selects the variable; empty for all variables.
fn variable_argument(finding: &Finding) -> String {
    finding.example().variable.map_or_else(String::new, |name| format!(" {}", word(name)))
}

/// Returns a program that every compiler accepts if it supports the header of the reproducer.
fn control(finding: &Finding) -> String {
    let header = parse(finding.example().program).unwrap_or_default().header();
    let is_complete = header.version().is_some() && header.targets().any(|target| target.starts_with("sm_"));
    let header = if is_complete {
        header
    } else {
        // Every release accepts this header.
        Header { version: "7.0".into(), ..Header::default() }.module([])
    };
    let header = print(&header);
    format!("{header}.visible .global .align 4 .u32 control = 1;")
}

/// Returns the first line of the first error that the compiler printed.
fn message(finding: &Finding) -> String {
    let mut diagnostics = finding.example().observed.diagnostics.iter();
    let error = diagnostics.find(|diagnostic| diagnostic.severity >= Severity::Error);
    error.and_then(|error| error.message.lines().next()).unwrap_or_default().to_owned()
}

/// The output of `show.py` for a variable.
#[derive(Serialize)]
#[serde(untagged)]
enum ShowOutput<'v> {
    Values { bytes: Option<String>, addresses: &'v [Address] },
    Layout { space: Option<&'v str>, size: Option<u64>, align: Option<u64> },
}

/// Returns the lines that `show.py` prints for the variables of a finding.
fn show_lines(finding: &Finding, variables: &Variables) -> Vec<String> {
    match finding.example().variable {
        Some(name) => vec![show_line(finding.class, name, variables.get(name))],
        None => {
            let variables = variables.iter();
            variables.map(|(name, variable)| show_line(finding.class, name, Some(variable))).collect()
        }
    }
}

fn show_line(class: Class, name: &str, variable: Option<&Variable>) -> String {
    let Some(variable) = variable else { return format!("{name} not there") };
    let output = if class == Class::WrongLayout {
        ShowOutput::Layout { space: variable.space.as_deref(), size: variable.size, align: variable.align }
    } else {
        ShowOutput::Values {
            bytes: variable.bytes.as_deref().map(hex),
            addresses: variable.addresses.as_deref().unwrap_or_default(),
        }
    };
    format!("{name} {}", serde_json::to_string(&output).unwrap_or_default())
}

fn expected(finding: &Finding) -> Vec<String> {
    let example = finding.example();
    match example.expected.outcome() {
        Some("accepted" | "unmodelled") => show_lines(finding, example.expected.variables()),
        _ => Vec::new(),
    }
}

fn observed(finding: &Finding) -> Vec<String> {
    let observed = finding.example().observed;
    match observed.outcome {
        Outcome::Accepted => show_lines(finding, &observed.variables),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::Observation;

    use super::*;

    #[test]
    fn no_name_of_a_finding_leaves_the_folder() {
        let name_for = |id: &str| folder_name(&Finding { id: id.to_owned(), ..Finding::default() });
        assert_eq!(name_for("octal-as-decimal"), "octal-as-decimal");
        assert_eq!(name_for("../../etc"), "finding..-..-etc");
        assert_eq!((name_for("a/b c"), name_for("")), ("a-b-c".to_owned(), "finding".to_owned()));
    }

    #[test]
    fn a_name_of_a_variable_is_one_quoted_word_of_the_script() {
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
