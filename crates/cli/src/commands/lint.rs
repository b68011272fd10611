//! `ptxsmith lint`: warns about PTX that listed releases handle differently from the specification. No
//! release needs to be installed.

use std::fmt::Write as _;
use std::path::Path;

use ptxsmith_campaign::input::{self, InputProgram};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_diff::lint::risks;
use ptxsmith_oracle::{Expectation, Rules, predict};
use ptxsmith_report::{deviations, sarif};
use ptxsmith_subject::toolchain::{RELEASES, Release};
use ptxsmith_syntax::Lines;
use serde::Serialize;
use serde_json::{Value, json};

use super::CommandContext;
use crate::args::{self, LintFormat};
use crate::console::{BAD, BOLD, NOTE, line};
use crate::exit::{Exit, Failure};
use crate::values::{DeniedResult, did_you_mean};

/// One warning.
#[derive(Clone, Serialize)]
pub struct Warning {
    file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    /// `error` if the specification rejects the program, `note` if the specification leaves it undecided,
    /// otherwise `warning`.
    pub(super) level: &'static str,
    /// The id of the listed deviation, the class of the rejection, or `undecided`.
    pub(super) id: &'static str,
    pub(super) message: String,
    /// The affected releases of ptxas.
    pub(super) releases: Option<String>,
    /// How to avoid the deviation.
    pub(super) work_around: Option<String>,
    /// The address of the detailed description.
    pub(super) link: Option<String>,
}

/// Prints the warnings for every file.
pub fn run(context: &CommandContext, args: &args::LintArgs) -> Result<Exit, Failure> {
    if let Some(id) = args.allow.iter().find(|id| !is_listed(id)) {
        let listed = KNOWN.iter().map(|known| known.id);
        return Err(Failure::BadInput(format!(
            "--allow: no listed deviation `{}`{}",
            line(id),
            did_you_mean(id, listed)
        )));
    }
    let mut warnings = Vec::new();
    let mut left_out = false;
    for path in input::files(&args.paths)? {
        match InputProgram::read(&path) {
            Ok(program) => {
                let file = file_of(&path);
                let undecided = args.deny.contains(&DeniedResult::Uncompared);
                let mut found = of_program(&program, &file, &args.releases, undecided);
                found.retain(|warning| !args.allow.iter().any(|id| is_called(warning.id, id)));
                warnings.append(&mut found);
            }
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
    if left_out {
        return Ok(Exit::BadInput);
    }
    let has_errors = warnings.iter().any(|warning| warning.is_error(&args.deny));
    Ok(if has_errors { Exit::Deviation } else { Exit::Success })
}

impl Warning {
    /// Creates a warning without details about releases.
    fn new(
        file: &str,
        (line, column): (u32, u32),
        level: &'static str,
        id: &'static str,
        message: String,
    ) -> Warning {
        let file = file.to_owned();
        Warning { file, line, column, level, id, message, releases: None, work_around: None, link: None }
    }

    /// Returns true if the warning sets the exit status.
    fn is_error(&self, denied: &[DeniedResult]) -> bool {
        match self.level {
            "warning" => denied.contains(&DeniedResult::Known),
            "note" => denied.contains(&DeniedResult::Uncompared),
            _ => true,
        }
    }
}

/// Returns the name of a file for messages: `<stdin>` instead of `-`.
fn file_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.to_string_lossy().into_owned() }
}

/// Returns all warnings for a program: rejections by the specification, listed deviations of the given
/// releases, and statements that are not understood (with `undecided`, everything that is undecided). If no
/// releases are given, all releases that support the program's `.version` count.
pub(super) fn of_program(
    program: &InputProgram,
    file: &str,
    releases: &[&'static Release],
    undecided: bool,
) -> Vec<Warning> {
    let lines = Lines::new(&program.text);
    let prediction = predict(&program.module, &Rules::default());
    let mut warnings = Vec::new();
    if let Expectation::Refused { refusal, .. } = &prediction.data {
        let message = format!("{} ({})", refusal.class.summary(), refusal.clause);
        let place = lines.place(refusal.span.start);
        warnings.push(Warning::new(file, place, "error", refusal.class.name(), message));
    }
    for part in prediction.undecided.iter().filter(|part| undecided || part.is_suspicious()) {
        let message = format!("{} is not judged: {}", part.part, part.explained());
        let place = lines.place(part.place().start);
        warnings.push(Warning::new(file, place, "note", "undecided", message));
    }
    let version = program.module.version();
    // Skip releases that are too old for the program's `.version`, unless the user named them.
    let mut relevant: Vec<&Release> = releases.to_vec();
    if releases.is_empty() {
        relevant = RELEASES
            .iter()
            .filter(|release| version.is_none_or(|version| release.accepts(version)))
            .collect();
    }
    for risk in risks(&program.module) {
        let known = risk.known;
        // Releases of ptxas only apply to deviations of ptxas.
        let is_of_ptxas = known.lineage == "nvidia";
        if is_of_ptxas && !relevant.iter().any(|release| known.releases.contains(Some(release.version))) {
            continue;
        }
        warnings.push(Warning {
            releases: Some(if is_of_ptxas {
                format!("ptxas {}", known.releases)
            } else {
                format!("{} {}", known.lineage, known.releases)
            }),
            work_around: Some(first_paragraph(known.work_around)).filter(|text| !text.is_empty()),
            link: deviations::link(known.id),
            ..Warning::new(file, lines.place(risk.span.start), "warning", known.id, known.title.to_owned())
        });
    }
    let allowed = allowed_in(&program.text);
    warnings.retain(|warning| warning.level != "warning" || !is_allowed(warning, &allowed));
    for &(line_of_comment, id) in allowed.iter().filter(|(_, id)| !is_listed(id)) {
        let hint = did_you_mean(id, KNOWN.iter().map(|known| known.id));
        let message = format!("no listed deviation `{}` to allow{hint}", line(id));
        warnings.push(Warning::new(file, (line_of_comment, 1), "note", "allow", message));
    }
    warnings.sort_by_key(|warning| (warning.line, warning.column));
    warnings
}

/// Returns true if a comment on the line of a warning or on the line before allows it.
fn is_allowed(warning: &Warning, allowed: &[(u32, &str)]) -> bool {
    allowed
        .iter()
        .any(|&(line, id)| (line == warning.line || line + 1 == warning.line) && is_called(warning.id, id))
}

/// The start of a comment that allows deviations on its own line and the next one.
const ALLOW: &str = "// ptxsmith: allow ";

/// Returns the ids that comments allow, each with the line of the comment.
fn allowed_in(text: &str) -> Vec<(u32, &str)> {
    if !text.contains(ALLOW) {
        return Vec::new();
    }
    let comments = (1..)
        .zip(text.lines())
        .filter_map(|(line_number, line)| Some((line_number, line.split_once(ALLOW)?.1)));
    comments
        .flat_map(|(line_number, ids)| {
            ids.split([',', ' ']).filter(|id| !id.is_empty()).map(move |id| (line_number, id))
        })
        .collect()
}

/// Returns true if a listed deviation has this id or had it earlier.
fn is_listed(id: &str) -> bool {
    KNOWN.iter().any(|known| known.is_called(id))
}

/// Returns true if `id` is the current or an earlier id of the listed deviation `listed`.
fn is_called(listed: &str, id: &str) -> bool {
    listed == id || KNOWN.iter().any(|known| known.id == listed && known.is_called(id))
}

fn first_paragraph(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats the warnings as editors and CI expect them: `file:line:column: warning: ... [id]`.
fn text(warnings: &[Warning]) -> String {
    let mut out = String::new();
    for warning in warnings {
        let place = format!("{}:{}:{}", line(&warning.file), warning.line, warning.column);
        let style = if warning.level == "error" { BAD } else { NOTE };
        let releases = warning.releases.iter().map(|releases| format!(" ({releases})")).collect::<String>();
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
    let results = warnings.iter().map(|warning| {
        let index = ids.iter().position(|other| other.id == warning.id).unwrap_or_default();
        let region = json!({ "startLine": warning.line, "startColumn": warning.column });
        let place = sarif::place(json!({ "uri": sarif::uri(&warning.file) }), Some(region));
        let releases = warning.releases.iter().map(|releases| format!(" ({releases})")).collect::<String>();
        sarif::result(warning.id, index, warning.level, &format!("{}{releases}", warning.message), place)
    });
    let rules = ids.iter().map(|warning| sarif_rule(warning)).collect();
    let invocation = json!({ "executionSuccessful": true });
    sarif::log("ptxsmith lint", env!("CARGO_PKG_VERSION"), rules, invocation, results.collect())
}

/// Returns the rule of SARIF that a warning is about.
fn sarif_rule(warning: &Warning) -> Value {
    let about = match warning.level {
        "note" => "a part that the specification at hand does not decide",
        _ => &*warning.message,
    };
    let mut rule = sarif::rule(warning.id, about);
    if let Some(link) = &warning.link {
        rule["helpUri"] = link.as_str().into();
    }
    if let Some(work_around) = &warning.work_around {
        rule["help"] = json!({ "text": work_around });
    }
    rule
}
