//! `ptxsmith emit check`: checks the user's own sources.

use std::fmt::Write as _;

use ptxsmith_campaign::input::read_text;
use ptxsmith_emit::check::{CheckResult, check, check_ir};
use ptxsmith_emit::judge::SourceDifference;
use ptxsmith_report::harmless::{self, line};
use ptxsmith_report::{ComparedResults, Finding, FindingKind, Status};
use ptxsmith_subject::{Observation, Outcome};

use super::args::EmitCheckArgs;
use super::{OpenedCompilers, host, of_compiler, open_all};
use crate::commands::CommandContext;
use crate::exit::{Exit, Failure};

/// Checks each source with each compiler, and prints the differences.
pub fn run(context: &CommandContext, args: &EmitCheckArgs) -> Result<Exit, Failure> {
    let session = context.session();
    let OpenedCompilers { compilers, llcs } = open_all(context, &args.subjects, args.timeout)?;
    let host = if compilers.is_empty() { None } else { host(context, &session) };
    let mut compared = 0;
    let mut differences = 0;
    let mut findings = Vec::new();
    for file in &args.files {
        let (name, source) = read_text(file)?;
        let of_cuda = compilers
            .iter()
            .map(|compiler| (&compiler.description().id, check(&**compiler, host.as_ref(), &source)));
        let of_ir = llcs.iter().map(|llc| (&llc.description.id, check_ir(llc, &source)));
        for (subject, checked) in of_cuda.chain(of_ir) {
            let checked = checked.map_err(of_compiler)?;
            compared += checked.compared;
            differences += checked.differences.len();
            if args.json {
                let all = checked.differences.iter();
                findings.extend(all.map(|difference| finding(&name, subject, &source, difference)));
            } else {
                context.console.print(&text(&name, subject, &checked))?;
            }
        }
    }
    if args.json {
        context.console.print(&(harmless::json(serde_json::to_string_pretty(&findings)?) + "\n"))?;
    }
    Ok(match (differences, compared) {
        (0, 0) => Exit::NothingCompared,
        (0, _) => Exit::Success,
        _ => Exit::Deviation,
    })
}

/// Describes a difference in a file as a finding.
fn finding(file: &str, subject: &str, source: &str, difference: &SourceDifference) -> Finding {
    let SourceDifference { class, symptom, place, expected, actual, .. } = difference;
    Finding {
        status: Status::New,
        kind: FindingKind::Unexplained,
        id: format!("emit-{}", class.name()),
        class: *class,
        title: symptom.clone(),
        count: 1,
        subjects: vec![subject.to_owned()],
        program: source.to_owned(),
        variable: Some(place.clone()),
        observed: Observation::new(Outcome::Accepted),
        comparison: Some(ComparedResults {
            expected: format!("{place}: {expected}"),
            actual: format!("{place}: {actual}"),
            ..ComparedResults::default()
        }),
        repeat: format!(
            "ptxsmith emit check {} --subject {}",
            shell_words::quote(file),
            shell_words::quote(subject)
        ),
        file: Some(file.to_owned()),
        ..Finding::default()
    }
}

fn text(name: &str, subject: &str, checked: &CheckResult) -> String {
    let mut text = String::new();
    for difference in &checked.differences {
        let _ = writeln!(text, "{}: {}: {}", line(name), difference.class.name(), difference.symptom);
        let _ = writeln!(text, "    at        {}", line(&difference.place));
        let _ = writeln!(text, "    expected  {}", line(&difference.expected));
        let _ = writeln!(text, "    actual    {}\n", line(&difference.actual));
    }
    let count = checked.differences.len();
    let deviations = if count == 1 { "1 deviation".to_owned() } else { format!("{count} deviations") };
    let _ = writeln!(text, "{}, {subject}: {} compared, {deviations}", line(name), checked.compared);
    for reason in &checked.not_compared {
        let _ = writeln!(text, "  not compared: {}", line(reason));
    }
    text
}
