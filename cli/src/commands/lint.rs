//! `ptxsmith lint`: warnings about what listed releases take otherwise than the specification says, without any of them.

use std::fmt::Write as _;
use std::path::Path;

use ptxsmith_campaign::input::{self, Program};
use ptxsmith_diff::lint::risks;
use ptxsmith_oracle::{Expectation, Rules, expect};
use ptxsmith_report::{deviations, sarif};
use ptxsmith_subject::toolchain::Release;
use ptxsmith_syntax::line_column;
use serde::Serialize;
use serde_json::{Value, json};

use super::Context;
use crate::args::{self, LintFormat};
use crate::console::{BAD, BOLD, NOTE, line};
use crate::exit::{Exit, Failure};
use crate::values::Deny;

/// One line of the result.
#[derive(Serialize)]
pub struct Warning {
    file: String,
    line: u32,
    column: u32,
    /// `error` where the specification refuses the program, else `warning`.
    level: &'static str,
    /// The listed deviation, or the class of the refusal.
    id: &'static str,
    message: String,
    /// The releases of ptxas that show it.
    releases: Option<String>,
    /// What avoids it.
    work_around: Option<String>,
    /// Where more is said.
    link: Option<String>,
}

/// Warns of every file.
pub fn run(context: &Context, args: &args::Lint) -> Result<Exit, Failure> {
    let mut warnings = Vec::new();
    let mut left_out = false;
    for path in input::files(&args.paths)? {
        match Program::read(&path) {
            Ok(program) => warnings.extend(of_program(&program, &file_of(&path), &args.releases)),
            Err(failure @ (Failure::BadInput(_) | Failure::Rendered(_))) => {
                context.console.failure(&failure);
                left_out = true;
            }
            Err(failure) => return Err(failure),
        }
    }
    let text = match args.format {
        LintFormat::Text => text(&warnings),
        LintFormat::Json => {
            let json = json!({ "schema": "ptxsmith.lint/1", "warnings": warnings });
            serde_json::to_string_pretty(&json)? + "\n"
        }
        LintFormat::Sarif => serde_json::to_string_pretty(&log(&warnings))? + "\n",
    };
    context.console.print(&text)?;
    let is_error = |warning: &Warning| warning.level == "error" || args.deny.contains(&Deny::Known);
    Ok(match () {
        () if left_out => Exit::BadInput,
        () if warnings.iter().any(is_error) => Exit::Deviation,
        () => Exit::Success,
    })
}

/// A file as messages call it: `-` is no place to go to.
fn file_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.to_string_lossy().into_owned() }
}

/// What there is to say of a program; of listed deviations those of these releases, or of any.
pub fn of_program(program: &Program, file: &str, releases: &[&'static Release]) -> Vec<Warning> {
    let at = |start: u32| line_column(&program.text, start);
    let mut warnings = Vec::new();
    if let Expectation::Refused { refusal, .. } = expect(&program.module, &Rules::default()) {
        let (line, column) = at(refusal.span.start);
        warnings.push(Warning {
            file: file.to_owned(),
            line,
            column,
            level: "error",
            id: refusal.class.name(),
            message: format!("{} ({})", refusal.class.summary(), refusal.clause),
            releases: None,
            work_around: None,
            link: None,
        });
    }
    for risk in risks(&program.module) {
        let known = risk.known;
        let shows = |release: &&Release| known.releases.contain(Some(release.version));
        if !releases.is_empty() && !releases.iter().any(shows) {
            continue;
        }
        let (line, column) = at(risk.span.start);
        warnings.push(Warning {
            file: file.to_owned(),
            line,
            column,
            level: "warning",
            id: known.id,
            message: known.title.to_owned(),
            releases: Some(known.releases.to_string()),
            work_around: deviations::work_around(known.id).map(|text| first_paragraph(&text)),
            link: deviations::link(known.id),
        });
    }
    warnings
}

fn first_paragraph(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The warnings in the form that editors and CI read: `file:line:column: warning: ... [id]`.
pub fn text(warnings: &[Warning]) -> String {
    let mut out = String::new();
    for warning in warnings {
        let place = format!("{}:{}:{}", line(&warning.file), warning.line, warning.column);
        let style = if warning.level == "error" { BAD } else { NOTE };
        let releases =
            warning.releases.iter().map(|releases| format!(" (ptxas {releases})")).collect::<String>();
        let _ = writeln!(
            out,
            "{BOLD}{place}:{BOLD:#} {style}{}:{style:#} {}{releases} [{}]",
            warning.level,
            line(&warning.message),
            warning.id
        );
        if let Some(work_around) = &warning.work_around {
            let _ = writeln!(out, "{place}: note: {}", line(work_around));
        }
    }
    out
}

fn log(warnings: &[Warning]) -> Value {
    let mut ids: Vec<&Warning> = warnings.iter().collect();
    ids.sort_by_key(|warning| warning.id);
    ids.dedup_by_key(|warning| warning.id);
    let rule = |warning: &&Warning| {
        let mut rule = sarif::rule(warning.id, &warning.message);
        if let Some(link) = &warning.link {
            rule["helpUri"] = link.as_str().into();
        }
        if let Some(work_around) = &warning.work_around {
            rule["help"] = json!({ "text": work_around });
        }
        rule
    };
    let results = warnings.iter().map(|warning| {
        let index = ids.iter().position(|other| other.id == warning.id).unwrap_or_default();
        let region = json!({ "startLine": warning.line, "startColumn": warning.column });
        let place = sarif::place(json!({ "uri": sarif::uri(&warning.file) }), Some(region));
        let releases =
            warning.releases.iter().map(|releases| format!(" (ptxas {releases})")).collect::<String>();
        sarif::result(warning.id, index, warning.level, &format!("{}{releases}", warning.message), place)
    });
    let rules = ids.iter().map(rule).collect();
    let invocation = json!({ "executionSuccessful": true });
    sarif::log("ptxsmith lint", env!("CARGO_PKG_VERSION"), rules, invocation, results.collect())
}
