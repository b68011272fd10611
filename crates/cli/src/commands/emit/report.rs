//! The report of `ptxsmith emit run`, and the sources of its findings.

use std::collections::BTreeMap;
use std::path::Path;

use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_cuda::subjects::Compiler;
use ptxsmith_emit::check::comments;
use ptxsmith_emit::ledger::{Found, Ledger};
use ptxsmith_emit::listed::{Listed, find};
use ptxsmith_emit::source::Global;
use ptxsmith_emit::source::print::{declaration, source};
use ptxsmith_report::{
    Comparison, Coverage, EmittedProgram, Finding, Kind, Report, SCHEMA, Status, Subject, folder, harmless,
    severity,
};
use ptxsmith_subject::{Observation, Outcome};

use crate::exit::Failure;

/// A compiler and its results.
pub struct Tested<'a> {
    pub compiler: &'a dyn Compiler,
    /// The results of all globals shown to the compiler.
    pub ledger: Ledger,
    /// The findings from `ledger`.
    pub found: Vec<Found>,
}

/// Writes the report and a source for each finding.
pub fn write(out: &Path, seed: u64, complete: bool, tested: &[Tested<'_>]) -> Result<Report, Failure> {
    let subjects: Vec<Subject> = tested.iter().map(subject).collect();
    let mut findings: BTreeMap<String, Finding> = BTreeMap::new();
    for Tested { compiler, found, .. } in tested {
        for found in found {
            let listed = find(&found.symptom, &found.shape, compiler.description());
            let id = listed.map_or_else(|| found.id(), |listed| listed.id.to_owned());
            let finding = findings.entry(id).or_insert_with(|| finding(found, listed));
            finding.count += found.count;
            let id = &compiler.description().id;
            if !finding.subjects.contains(id) {
                finding.subjects.push(id.clone());
            }
        }
    }
    let directory = out.join(folder::FINDINGS);
    make_directory(&directory)?;
    let mut findings: Vec<Finding> = findings.into_values().collect();
    for finding in &mut findings {
        let file = format!("{}/{}.cu", folder::FINDINGS, finding.id);
        let comments = format!("// note: {}: {}\n", finding.class.name(), harmless::line(&finding.title));
        write_whole(&out.join(&file), (comments + &finding.program).as_bytes())?;
        let subjects = finding.subjects.iter().map(|id| format!(" --subject {}", shell_words::quote(id)));
        finding.repeat = format!("ptxsmith emit check {file}{}", subjects.collect::<String>());
        finding.file = Some(file);
    }
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
        findings,
        unexpected_passes: Vec::new(),
        cases: Vec::new(),
        coverage: Coverage::default(),
        subjects,
    };
    let text = harmless::json(serde_json::to_string_pretty(&report)?) + "\n";
    write_whole(&out.join(folder::REPORT), text.as_bytes())?;
    Ok(report)
}

/// The reason for globals that were not compared, and for witnesses that gave no result.
const UNOBSERVED: &str = "unobserved";

fn subject(Tested { compiler, ledger, .. }: &Tested<'_>) -> Subject {
    let description = compiler.description();
    let left: u64 = ledger.not_compared.values().sum();
    let mut subject = Subject {
        id: description.id.clone(),
        version: Some(description.version.clone()),
        lineage: Some(description.lineage.to_owned()),
        available: true,
        compared: ledger.compared,
        conform: ledger.conform,
        ..Subject::default()
    };
    if left > 0 {
        subject.not_compared.insert(UNOBSERVED.to_owned(), left);
        subject.not_compared_because.insert(UNOBSERVED.to_owned(), ledger.not_compared.clone());
    }
    subject
}

fn finding(found: &Found, listed: Option<&Listed>) -> Finding {
    let Found { symptom, shape, global, difference, .. } = found;
    let declaration = declaration(&Global { number: 0, ..global.clone() });
    // Use the name of the global in the written source.
    let number = global.number.to_string();
    let place =
        difference.place.replacen(&format!("g{number}"), "g0", 1).replacen(&format!("k{number}"), "k0", 1);
    let (id, title) = match listed {
        Some(listed) => (listed.id.to_owned(), listed.title.to_owned()),
        None => (found.id(), format!("{}: {shape}", symptom.what)),
    };
    Finding {
        status: if listed.is_some() { Status::Known } else { Status::New },
        kind: listed.map_or(Kind::Unexplained, |listed| Kind::Known(listed.id.to_owned())),
        link: listed.and_then(|listed| listed.link).map(str::to_owned),
        id,
        class: symptom.class,
        title,
        program: comments(global) + &source(global),
        variable: Some("g0".to_owned()),
        observed: Observation::new(Outcome::Accepted),
        emitted: Some(EmittedProgram { declaration }),
        comparison: Some(Comparison {
            expected: format!("{place}: {}", difference.expected),
            actual: format!("{place}: {}", difference.actual),
            ..Comparison::default()
        }),
        ..Finding::default()
    }
}
