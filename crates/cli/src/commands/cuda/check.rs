//! `ptxsmith cuda check`: checks the user's own sources.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use askama::Template;
use ptxsmith_campaign::pool;
use ptxsmith_cuda::check::{
    Baseline, CheckError, CheckOptions, CompilationDatabase, CompileCommand, FileReport, FixedFile,
    ReportFilter, Violation, check, clang_version, fixed_files, patch, sarif, user_flags,
};
use ptxsmith_cuda::reading::{RuleInterpretations, RuleQuestion};
use ptxsmith_subject::process;
use serde_json::{Value, json};

use super::args::{CudaCheckArgs, CudaCheckFormat};
use crate::commands::CommandContext;
use crate::console::{BAD, BOLD, END, NOTE, line};
use crate::exit::{Exit, Failure};
use ptxsmith_report::harmless;

/// Checks every file. A file that cannot be read is reported, and the others are checked.
pub fn run(context: &CommandContext, args: &CudaCheckArgs) -> Result<Exit, Failure> {
    let clang = find_clang(context, args)?;
    let commands = args.compile_commands.as_deref().map(CompilationDatabase::read).transpose();
    let commands = commands.map_err(|error| Failure::BadInput(error.to_string()))?;
    let files = match &commands {
        Some(commands) if args.files.is_empty() => commands.files(),
        _ => args.files.clone(),
    };
    if files.is_empty() {
        return Err(Failure::NoSubject("the compilation database names no .cu file".to_owned()));
    }
    let flags = user_flags(&args.flags).map_err(|error| Failure::BadInput(error.to_string()))?;
    let mut works = Vec::new();
    let mut bad_input = false;
    for file in &files {
        match work(context, args, (&clang, &flags), commands.as_ref(), file) {
            Ok(ways) => works.extend(ways),
            Err(error) => {
                bad_input = true;
                context.console.error(&format!("{}: {error}", file.display()));
            }
        }
    }
    let dropped: BTreeSet<&str> = works.iter().flat_map(|work| &work.dropped).map(String::as_str).collect();
    if !dropped.is_empty() {
        let dropped: Vec<&str> = dropped.into_iter().collect();
        context.console.note(&format!("left out of command lines: {}", dropped.join(" ")));
    }
    let baseline = args.expect_failures.as_deref();
    let baseline =
        baseline.map(|file| Baseline::read(file).map_err(|error| bad_file(file, &error))).transpose()?;
    let arrivals = Mutex::new(OrderedReports::new(context, args.format, &works, baseline));
    check_all(context, &works, &arrivals)?;
    let mut arrivals = arrivals.into_inner().expect("a panic ends the program");
    if let Some(unused) = arrivals.baseline.as_ref().map(Baseline::count).filter(|&unused| unused > 0) {
        let (violations, occur) = if unused == 1 { ("violation", "occurs") } else { ("violations", "occur") };
        context.console.note(&format!("{unused} expected {violations} {occur} no more"));
    }
    if let Some(file) = &args.write_expected {
        arrivals.write_baseline(file).map_err(|error| bad_file(file, &error))?;
    }
    if let Some(file) = &args.fix_patch {
        std::fs::write(file, patch(&arrivals.fixed())).map_err(|error| bad_file(file, &error))?;
    }
    if args.fix {
        for FixedFile { path, fixed, .. } in arrivals.fixed() {
            std::fs::write(&path, fixed).map_err(|error| bad_file(&path, &error))?;
            context.console.note(&format!("changed {}", path.display()));
        }
    }

    let reports = &arrivals.reports;
    match args.format {
        CudaCheckFormat::Text => context.console.print(&summary(reports))?,
        CudaCheckFormat::Json => {
            let json = harmless::json(serde_json::to_string_pretty(&json_of(args, reports))?);
            context.console.print(&(json + "\n"))?
        }
        CudaCheckFormat::Sarif => {
            let json = harmless::json(serde_json::to_string_pretty(&sarif(reports))?);
            context.console.print(&(json + "\n"))?;
        }
    }
    let found = reports.iter().any(|(_, report)| !report.findings.is_empty());
    let analysed = reports.iter().filter(|(_, report)| report.is_analysed).count();
    let partly = reports.iter().any(|(_, report)| report.is_incomplete || !report.compiler_errors.is_empty());
    Ok(match (found, bad_input || partly, analysed) {
        (true, ..) => Exit::Deviation,
        (false, true, _) => Exit::BadInput,
        (false, false, 0) => Exit::NothingCompared,
        _ => Exit::Success,
    })
}

fn bad_file(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::BadInput(format!("{}: {error}", file.display()))
}

fn find_clang(context: &CommandContext, args: &CudaCheckArgs) -> Result<PathBuf, Failure> {
    let Some(named) = &args.clang else {
        let program = ptxsmith_cuda::check::find_clang().map_err(|error| no_clang(&error))?;
        return match clang_version(&program, &context.cancel) {
            Ok(_) => Ok(program),
            Err(reason) => Err(no_clang(&reason)),
        };
    };
    // Look up a name without a directory in PATH, as a shell does.
    let is_name = named.components().count() == 1 && !named.exists();
    let program = if is_name { named.clone() } else { std::path::absolute(named)? };
    match clang_version(&program, &context.cancel) {
        Ok(_) => Ok(program),
        Err(reason) => Err(Failure::BadInput(format!("--clang {}: {reason}", named.display()))),
    }
}

fn no_clang(reason: &dyn std::fmt::Display) -> Failure {
    Failure::NoSubject(format!(
        "clang is needed to check sources ({reason}); install it, or name one with --clang"
    ))
}

/// A check of a file: its name, its path for clang, and the options.
struct CompilationCheck {
    name: String,
    path: PathBuf,
    options: CheckOptions,
    /// Compiler flags that were left out although they might affect the result.
    dropped: Vec<String>,
}

/// Returns the checks of a file, one for each command that compiles it. Fails if the file cannot be read or
/// one of its commands cannot be used.
fn work(
    context: &CommandContext,
    args: &CudaCheckArgs,
    (clang, flags_of_user): (&Path, &[OsString]),
    commands: Option<&CompilationDatabase>,
    file: &Path,
) -> anyhow::Result<Vec<CompilationCheck>> {
    if !std::fs::metadata(file)?.is_file() {
        anyhow::bail!("it is no regular file");
    }
    std::fs::File::open(file)?;
    let mut options = CheckOptions::new(clang.to_owned());
    if let Some(regex) = &args.header_filter {
        options.filter =
            ReportFilter::matching(regex).map_err(|error| anyhow::anyhow!("--header-filter: {error}"))?;
    }
    options.interpretations = readings(args);
    options.timeout = args.timeout;
    options.cancel = context.cancel.clone();
    let name = file.to_string_lossy().into_owned();
    let commands = commands.map(|commands| commands.commands(file)).transpose()?.unwrap_or_default();
    if commands.is_empty() {
        options.flags.extend(flags_of_user.iter().cloned());
        return Ok(vec![CompilationCheck { name, path: file.to_owned(), options, dropped: Vec::new() }]);
    }
    // Flags are relative to the directory of their command, but the path of the file is not.
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut checks = Vec::new();
    for command in commands {
        let CompileCommand { directory, mut flags, dropped, microsoft } = command;
        flags.extend(flags_of_user.iter().cloned());
        let mut options = CheckOptions { directory, flags, ..options.clone() };
        if microsoft {
            options.interpretations = options.interpretations.with(RuleQuestion::HostCompiler);
        }
        checks.push(CompilationCheck { name: name.clone(), path: path.clone(), options, dropped });
    }
    Ok(checks)
}

/// Returns the interpretations given by the options. If a question is answered several times, the last answer
/// counts.
fn readings(args: &CudaCheckArgs) -> RuleInterpretations {
    let answers: BTreeMap<RuleQuestion, bool> = args.interpretations.iter().copied().collect();
    let departures = answers.into_iter().filter(|(_, departs)| *departs).map(|(question, _)| question);
    departures.fold(super::readings(args.microsoft), RuleInterpretations::with)
}

fn check_all(
    context: &CommandContext,
    works: &[CompilationCheck],
    arrivals: &Mutex<OrderedReports<'_>>,
) -> Result<(), Failure> {
    let numbered: Vec<(usize, &CompilationCheck)> = works.iter().enumerate().collect();
    let checked = pool::map(&context.session(), &numbered, |(number, work)| {
        let report = check(&work.path, &work.options).map_err(|error| match error {
            CheckError::Clang(process::ProcessError::Cancelled(_)) => Failure::Interrupted,
            error => error.into(),
        })?;
        let mut arrivals = arrivals.lock().map_err(|_| Failure::Interrupted)?;
        arrivals.take(*number, report)
    })?;
    checked.into_iter().collect::<Option<()>>().ok_or(Failure::Interrupted)
}

/// Collects reports in any order, and shows each one when all reports before it have arrived.
struct OrderedReports<'a> {
    context: &'a CommandContext,
    format: CudaCheckFormat,
    works: &'a [CompilationCheck],
    baseline: Option<Baseline>,
    early: BTreeMap<usize, FileReport>,
    reports: Vec<(String, FileReport)>,
    /// The findings already reported, because several files may include the same header.
    seen: HashSet<(PathBuf, u32, u32, String)>,
}

impl<'a> OrderedReports<'a> {
    fn new(
        context: &'a CommandContext,
        format: CudaCheckFormat,
        works: &'a [CompilationCheck],
        baseline: Option<Baseline>,
    ) -> Self {
        let early = BTreeMap::new();
        let reports = Vec::new();
        let seen = HashSet::new();
        OrderedReports { context, format, works, baseline, early, reports, seen }
    }

    fn take(&mut self, number: usize, report: FileReport) -> Result<(), Failure> {
        self.early.insert(number, report);
        while let Some(report) = self.early.remove(&self.reports.len()) {
            self.next(report)?;
        }
        Ok(())
    }

    fn next(&mut self, mut report: FileReport) -> Result<(), Failure> {
        let work = &self.works[self.reports.len()];
        report.findings.retain(|finding| {
            let path = work.options.path_of(&finding.file);
            let path = std::fs::canonicalize(&path).unwrap_or(path);
            self.seen.insert((path, finding.line, finding.column, finding.variable.clone()))
        });
        let found = report.findings.len();
        if let Some(baseline) = &mut self.baseline {
            report.findings.retain(|finding| {
                let path = work.options.path_of(&finding.file);
                !baseline.remove(finding, &path)
            });
        }
        report.ignored += found - report.findings.len();
        if self.format == CudaCheckFormat::Text {
            self.context.console.print(&text(&work.name, &report)?)?;
        }
        self.reports.push((work.name.clone(), report));
        Ok(())
    }

    /// Returns every finding with the check of its file.
    fn findings(&self) -> impl Iterator<Item = (&'a CompilationCheck, &Violation)> {
        let reports = self.works.iter().zip(&self.reports);
        reports.flat_map(|(work, (_, report))| report.findings.iter().map(move |finding| (work, finding)))
    }

    /// Writes the current findings as the new baseline.
    fn write_baseline(&mut self, file: &Path) -> std::io::Result<()> {
        let mut baseline = Baseline::empty(file);
        for (work, finding) in self.findings() {
            baseline.add(finding, &work.options.path_of(&finding.file));
        }
        baseline.write(file)
    }

    fn fixed(&self) -> Vec<FixedFile> {
        let current = std::env::current_dir().unwrap_or_default();
        let fixes = self.findings().filter_map(|(work, finding)| {
            let path = work.options.path_of(&finding.file);
            Some((relative_to(&current, path), finding.fix.clone()?))
        });
        fixed_files(fixes, &|path| std::fs::read_to_string(path).unwrap_or_default())
    }
}

/// Returns a path relative to a directory, if it is in there.
fn relative_to(directory: &Path, path: PathBuf) -> PathBuf {
    let path = std::path::absolute(&path).unwrap_or(path);
    path.strip_prefix(directory).map(Path::to_owned).unwrap_or(path)
}

#[derive(Template)]
#[template(path = "cuda-check.txt")]
struct CudaCheckText<'a> {
    file: &'a str,
    report: &'a FileReport,
}

fn text(file: &str, report: &FileReport) -> Result<String, askama::Error> {
    CudaCheckText { file, report }.render()
}

fn summary(reports: &[(String, FileReport)]) -> String {
    let found: Vec<&Violation> = reports.iter().flat_map(|(_, report)| &report.findings).collect();
    let accepted = found.iter().filter(|finding| finding.is_accepted).count();
    let suppressed: usize = reports.iter().map(|(_, report)| report.ignored).sum();
    let filtered: usize = reports.iter().map(|(_, report)| report.filtered).sum();
    let partly = reports.iter().filter(|(_, report)| !report.not_analysed.is_empty()).count();
    let errors: usize = reports.iter().map(|(_, report)| report.compiler_errors.len()).sum();
    // A file that is compiled in several ways has several reports.
    let files: HashSet<&str> = reports.iter().map(|(file, _)| file.as_str()).collect();
    let mut summary = format!("{}, {}", counted(files.len(), "file"), counted(found.len(), "violation"));
    for (count, meaning) in [
        (accepted, "of the letter only, which nvcc accepts"),
        (suppressed, "suppressed"),
        (filtered, "in other headers (--header-filter shows them)"),
    ] {
        if count > 0 {
            summary += &format!(", {count} {meaning}");
        }
    }
    if partly > 0 {
        summary += &format!(", {} not wholly analysed", counted(partly, "file"));
    }
    if errors > 0 {
        summary += &format!("; clang reports {} of its own", counted(errors, "error"));
    }
    summary + "\n"
}

/// Returns a count with its unit, in the plural if needed.
fn counted(count: usize, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn json_of(args: &CudaCheckArgs, reports: &[(String, FileReport)]) -> Value {
    let files: Vec<Value> = reports
        .iter()
        .map(|(file, report)| {
            let findings: Vec<Value> = report
                .findings
                .iter()
                .map(|finding| {
                    json!({
                        "file": finding.file,
                        "line": finding.line,
                        "column": finding.column,
                        "end_column": finding.end_column,
                        "variable": finding.variable,
                        "key": finding.keys[0].name(),
                        "keys": finding.keys.iter().map(|key| key.name()).collect::<Vec<_>>(),
                        "message": finding.keys[0].message(),
                        "clause": finding.keys[0].clause().name(),
                        "severity": if finding.is_accepted { "warning" } else { "error" },
                        "declared": finding.declared.as_ref().map(|(file, line, column)| {
                            json!({ "file": file, "line": line, "column": column })
                        }),
                        "remedy": finding.remedy(),
                        "fix": finding.fix.as_ref().map(|fix| {
                            json!({ "begin": fix.begin, "end": fix.end, "text": fix.text })
                        }),
                    })
                })
                .collect();
            json!({
                "file": file,
                "analysed": report.is_analysed,
                "findings": findings,
                "not_analysed": report.not_analysed,
                "compiler_errors": report.compiler_errors,
                "notes": report.notes,
                "suppressed": report.ignored,
                "in_other_headers": report.filtered,
            })
        })
        .collect();
    let interpretations = readings(args);
    let is_microsoft = interpretations.departs(RuleQuestion::HostCompiler);
    json!({
        "schema": "ptxsmith.cuda-check/1",
        "ptxsmith": env!("CARGO_PKG_VERSION"),
        "rule": "CUDASafety-1.5",
        "host_compiler": if is_microsoft { "microsoft" } else { "other" },
        "interpretation": interpretations.to_string(),
        "files": files,
    })
}

#[cfg(test)]
mod tests {
    use ptxsmith_cuda::rule::Key;

    use super::*;

    #[test]
    fn a_finding_is_a_line_with_its_place_and_its_messages() {
        let finding = Violation {
            file: "b.h".to_owned(),
            line: 2,
            column: 9,
            variable: "v".to_owned(),
            keys: vec![Key::Volatile, Key::Address],
            declared: Some(("b.h".to_owned(), 1, 5)),
            ..Violation::default()
        };
        let note = format!("b.h:1:5: note: `v` is declared here; {}\n", finding.remedy());
        let report = FileReport {
            findings: vec![finding],
            not_analysed: vec!["no end".to_owned()],
            ..FileReport::default()
        };
        let text = text("a.cu", &report).unwrap() + &summary(&[("a.cu".to_owned(), report)]);
        let keys = "device_uses_volatile_const_host_var, address_of_host_var_in_device_code";
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            format!("b.h:2:9: error: {}: `v` [{keys}]\n", Key::Volatile.message())
                + &note
                + "a.cu: not analysed: no end\n1 file, 1 violation, 1 file not wholly analysed\n"
        );
    }
}
