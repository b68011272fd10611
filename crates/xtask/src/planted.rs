//! `planted`: plants the faults of crates/testing/examples/faulty, one at a time, into an implementation that
//! otherwise follows the specification, and evaluates the findings of `ptxsmith run`. The exit status is 1 if
//! the median is above one finding per fault that was found, a fault has more than three findings, a finding
//! has a false cause, class or validity, or a campaign fails. Faults that are not found are only counted. A fault that refuses everything must give no new finding:
//! nothing conforms, and the report says so.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::tools::{self, command, json, list, text};

/// The faults and the number of cases.
#[derive(clap::Args)]
pub struct PlantedArguments {
    /// Only each N-th fault
    #[arg(long, default_value = "1")]
    every: usize,
    /// The number of faults to skip at the beginning
    #[arg(long, default_value = "0")]
    first: usize,
    /// Only faults with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The number of cases of each campaign
    #[arg(long, default_value = "5000")]
    cases: u64,
    /// Print every finding
    #[arg(long)]
    verbose: bool,
}

/// A fault: the class of its findings, the focus that shows it, and its name.
struct Fault {
    class: String,
    focus: String,
    name: String,
}

impl Fault {
    /// Parses a line of the list that the implementation prints.
    fn parse(line: &str) -> Result<Fault> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [class, focus, name, ..] = fields[..] else { bail!("no fault: {line}") };
        Ok(Fault { class: class.to_owned(), focus: focus.to_owned(), name: name.to_owned() })
    }
}

pub fn run(arguments: &PlantedArguments) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(true)?;
    let faulty =
        tools::build(true, &["-p", "ptxsmith-testing", "--example", "faulty"])?.join("examples/faulty");
    let listed = tools::stdout_of(&mut command(&faulty, [""; 0]))?;
    let faults = listed.lines().filter(|line| line.contains(&arguments.only)).map(Fault::parse);
    let faults: Vec<Fault> = faults.collect::<Result<_>>()?;
    let faults: Vec<Fault> = faults.into_iter().skip(arguments.first).step_by(arguments.every).collect();
    let reports =
        tools::on_all_cores(&faults, |fault| test_fault(&ptxsmith, &faulty, fault, arguments.cases));
    let mut counts = Vec::new();
    let mut bad = Vec::new();
    for (fault, report) in faults.iter().zip(reports) {
        let Some(report) = report? else {
            bad.push(format!("{}: the campaign failed", fault.name));
            continue;
        };
        let findings = list(&report["findings"]).iter();
        let new: Vec<&Value> = findings.filter(|finding| text(finding, "status") == "new").collect();
        if fault.class == "everything" {
            let subject = &report["subjects"][0];
            if !new.is_empty() || !subject["refuses_everything"].is_string() || subject["conform"] != 0 {
                bad.push(format!("{}: {} findings about one that refuses everything", fault.name, new.len()));
            }
            continue;
        }
        counts.push(new.len());
        bad.extend(new.iter().filter_map(|finding| error_in(fault, finding)));
        if arguments.verbose || new.len() != 1 {
            println!("{}: {} findings", fault.name, new.len());
            new.iter().for_each(|finding| print_finding(finding));
        }
    }
    counts.sort_unstable();
    let missed = counts.iter().filter(|count| **count == 0).count();
    let most = counts.last().copied().unwrap_or_default();
    let median = median(&counts[missed..]);
    println!(
        "{} faults, {missed} not found; findings a fault that was: median {median}, most {most}; false causes, classes and \
         validities: {}",
        counts.len(),
        bad.len()
    );
    bad.iter().for_each(|line| println!("    {line}"));
    Ok(u8::from(!bad.is_empty() || median > 1.0 || most > 3))
}

/// Returns the median of sorted counts, or 0 if there are none.
fn median(counts: &[usize]) -> f64 {
    if counts.is_empty() {
        return 0.0;
    }
    (counts[(counts.len() - 1) / 2] + counts[counts.len() / 2]) as f64 / 2.0
}

/// Returns the report of a campaign over one fault, or `None` if the campaign failed. The report is empty if
/// the campaign ends before its first case because of the fault.
fn test_fault(ptxsmith: &Path, faulty: &Path, fault: &Fault, cases: u64) -> Result<Option<Value>> {
    let out = tempfile::tempdir()?;
    let mut run = command(
        ptxsmith,
        ["run", "--quiet", "--jobs", "1", "--cases", &cases.to_string(), "--focus", &fault.focus],
    );
    let timeout: &[&str] = if fault.class == "hang" { &["--timeout", "1s"] } else { &[] };
    let subject = format!("serve:{} '{}'", faulty.display(), fault.name);
    let output = tools::output_of(run.args(timeout).args(["--subject", &subject, "--out"]).arg(out.path()))?;
    // If the first program already shows the fault, the campaign ends with a message and without findings.
    if String::from_utf8_lossy(&output.stderr).contains("no valid answer to a first program") {
        return Ok(Some(serde_json::json!({ "findings": [] })));
    }
    let expected: &[i32] = if fault.class == "everything" { &[3] } else { &[0, 1] };
    if !expected.contains(&tools::exit_status(&output)) {
        return Ok(None);
    }
    json(&out.path().join("report.json")).map(Some)
}

/// Describes an error in a finding about a fault, or returns `None` if it is correct.
fn error_in(fault: &Fault, finding: &Value) -> Option<String> {
    let (title, class, validity) =
        (text(finding, "title"), text(finding, "class"), text(finding, "validity"));
    let expected = match &*fault.class {
        "accepts-invalid" => "refused",
        "refuses-valid" => "valid",
        _ => validity,
    };
    if title.starts_with("a wrong rule: ") || title.contains(": listed for ") {
        Some(format!("{}: {} is no cause of it", fault.name, text(finding, "id")))
    } else if class != fault.class || validity != expected {
        Some(format!("{}: {class} of a program that is {validity}", fault.name))
    } else {
        None
    }
}

fn print_finding(finding: &Value) {
    let example = if finding["reduced"].is_object() { &finding["reduced"] } else { finding };
    let program =
        text(example, "program").splitn(4, '\n').last().unwrap_or_default().trim().replace('\n', " ");
    let id: String = text(finding, "id").chars().take(60).collect();
    println!("    {:6} {id}: {}", finding["count"], program.chars().take(100).collect::<String>());
}
