//! The report of `ptxsmith emit run`, and the sources of its findings.

use std::collections::BTreeMap;
use std::path::Path;

use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_cuda::subjects::CompilerDescription;
use ptxsmith_emit::check::comments;
use ptxsmith_emit::ir;
use ptxsmith_emit::judged::Tester;
use ptxsmith_emit::ledger::{EmitFinding, ResultLedger};
use ptxsmith_emit::listed::{CompilerDeviation, find};
use ptxsmith_emit::source::print::source;
use ptxsmith_emit::source::{CxxGlobal, TestGlobal};
use ptxsmith_report::{
    ComparedResults, CoverageSummary, EmittedProgram, Finding, FindingKind, Report, SCHEMA, Status,
    SubjectResults, folder, harmless, severity,
};
use ptxsmith_subject::{Observation, Outcome};

use super::of_compiler;
use crate::exit::Failure;

/// A compiler and its findings.
pub struct EmitterResults {
    subject: SubjectResults,
    file: (&'static str, &'static str),
    findings: Vec<Finding>,
}

/// A language of globals, as its findings are written.
pub trait SourceFormat: TestGlobal {
    /// The extension of its files, and what a comment there begins with.
    const FILE: (&'static str, &'static str);
    /// Returns a complete source.
    fn program(&self) -> String;
}

impl SourceFormat for CxxGlobal {
    const FILE: (&'static str, &'static str) = ("cu", "//");

    fn program(&self) -> String {
        comments(self) + &source(self)
    }
}

impl SourceFormat for ir::LlvmGlobal {
    const FILE: (&'static str, &'static str) = ("ll", ";");

    fn program(&self) -> String {
        ir::filecheck::test(self)
    }
}

/// Describes the results of a compiler.
pub fn tested<T: Tester>(
    tester: &T,
    ledger: &ResultLedger<T::Global>,
    found: &[EmitFinding<T::Global>],
) -> Result<EmitterResults, Failure>
where
    T::Global: SourceFormat,
{
    let description = tester.description();
    let mut findings = Vec::new();
    for found in found {
        let listed = find(&found.symptom, &found.shape, description);
        let mut finding = finding(found, listed, &description.id);
        let printed = match tester.printed_lines(&found.global) {
            // The finding counts without its lines of PTX if there is no time for them.
            Err(error) if error.is_cancelled() => Vec::new(),
            printed => printed.map_err(of_compiler)?,
        };
        let emitted = finding.emitted.get_or_insert_default();
        (emitted.printed, emitted.command) = (printed, tester.ptx_command());
        findings.push(finding);
    }
    Ok(EmitterResults { subject: subject(description, ledger), file: T::Global::FILE, findings })
}

/// Writes the report and a source for each finding.
pub fn write(out: &Path, seed: u64, complete: bool, tested: Vec<EmitterResults>) -> Result<Report, Failure> {
    let mut subjects = Vec::new();
    let mut findings: BTreeMap<String, (Finding, (&'static str, &'static str))> = BTreeMap::new();
    for EmitterResults { subject, file, findings: of_subject } in tested {
        for found in of_subject {
            match findings.get_mut(&found.id) {
                Some((finding, _)) => {
                    finding.count += found.count;
                    finding.subjects.extend(found.subjects);
                    finding.subjects.dedup();
                }
                None => {
                    findings.insert(found.id.clone(), (found, file));
                }
            }
        }
        subjects.push(subject);
    }
    let directory = out.join(folder::FINDINGS);
    make_directory(&directory)?;
    let mut all = Vec::new();
    for (mut finding, (extension, mark)) in findings.into_values() {
        let file = format!("{}/{}.{extension}", folder::FINDINGS, finding.id);
        let mut comments =
            format!("{mark} note: {}: {}\n", finding.class.name(), harmless::line(&finding.title));
        if let Some(ComparedResults { expected, actual, .. }) = &finding.comparison {
            comments += &format!("{mark} expected: {}\n", harmless::line(expected));
            comments += &format!("{mark} seen:     {}\n", harmless::line(actual));
        }
        write_whole(&out.join(&file), (comments + &finding.program).as_bytes())?;
        let subjects = finding.subjects.iter().map(|id| format!(" --subject {}", shell_words::quote(id)));
        finding.repeat = format!("ptxsmith emit check {file}{}", subjects.collect::<String>());
        finding.file = Some(file);
        all.push(finding);
    }
    let mut findings = all;
    findings.sort_by_key(severity::order);
    let mut not_compared: BTreeMap<String, u64> = BTreeMap::new();
    for (reason, count) in subjects.iter().flat_map(|subject| &subject.not_compared) {
        *not_compared.entry(reason.clone()).or_default() += count;
    }
    let report = Report {
        schema: SCHEMA.to_owned(),
        ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
        command: "emit run".to_owned(),
        seed,
        complete,
        compared: subjects.iter().map(|subject| subject.compared).sum(),
        conform: subjects.iter().map(|subject| subject.conform).sum(),
        not_compared,
        readings: BTreeMap::new(),
        default_readings: BTreeMap::new(),
        given_answers: Vec::new(),
        findings,
        unexpected_passes: Vec::new(),
        cases: Vec::new(),
        coverage: CoverageSummary::default(),
        subjects,
    };
    let text = harmless::json(serde_json::to_string_pretty(&report)?) + "\n";
    write_whole(&out.join(folder::REPORT), text.as_bytes())?;
    Ok(report)
}

/// The reason for globals that were not compared, and for witnesses that gave no result.
const UNOBSERVED: &str = "unobserved";

fn subject<S: TestGlobal>(description: &CompilerDescription, ledger: &ResultLedger<S>) -> SubjectResults {
    let skipped: u64 = ledger.not_compared.values().sum();
    let mut subject = SubjectResults {
        id: description.id.clone(),
        version: Some(description.version.clone()),
        lineage: Some(description.lineage.to_owned()),
        available: true,
        compared: ledger.compared,
        conform: ledger.conform,
        ..SubjectResults::default()
    };
    if skipped > 0 {
        subject.not_compared.insert(UNOBSERVED.to_owned(), skipped);
        subject.not_compared_because.insert(UNOBSERVED.to_owned(), ledger.not_compared.clone());
    }
    subject
}

fn finding<S: SourceFormat>(
    found: &EmitFinding<S>,
    listed: Option<&CompilerDeviation>,
    subject: &str,
) -> Finding {
    let EmitFinding { symptom, shape, global, difference, .. } = found;
    let declaration = global.numbered(0).text();
    // Use the name of the global in the written source.
    let number = global.number().to_string();
    let place =
        difference.place.replacen(&format!("g{number}"), "g0", 1).replacen(&format!("k{number}"), "k0", 1);
    let (id, title) = match listed {
        Some(listed) => (listed.id.to_owned(), listed.title.to_owned()),
        None => (found.id(), format!("{}: {shape}", symptom.what)),
    };
    Finding {
        status: if listed.is_some() { Status::Known } else { Status::New },
        kind: listed.map_or(FindingKind::Unexplained, |listed| FindingKind::Known(listed.id.to_owned())),
        link: listed.and_then(|listed| listed.link).map(str::to_owned),
        id,
        class: symptom.class,
        title,
        count: found.count,
        subjects: vec![subject.to_owned()],
        program: global.program(),
        variable: Some("g0".to_owned()),
        observed: Observation::new(Outcome::Accepted),
        emitted: Some(EmittedProgram { declaration, ..EmittedProgram::default() }),
        comparison: Some(ComparedResults {
            expected: format!("{place}: {}", difference.expected),
            actual: format!("{place}: {}", difference.actual),
            ..ComparedResults::default()
        }),
        ..Finding::default()
    }
}
