//! `planted`: plants the faults of crates/testing/examples/faulty, one at a time, into an implementation that otherwise
//! follows the specification, and evaluates the findings of `ptxsmith run`. The exit status is 1 if the median is above
//! one finding per fault, a fault has more than three findings, or a finding has a false cause or a wrong validity.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tools::{self, command, json, list, text};

/// Which faults, and how many cases.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only each N-th fault
    #[arg(long, default_value = "1")]
    every: usize,
    /// Leave as many faults out at the beginning
    #[arg(long, default_value = "0")]
    first: usize,
    /// Only faults whose name holds this
    #[arg(long, default_value = "")]
    only: String,
    /// How many cases of each campaign
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

pub fn run(arguments: &Arguments) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(true)?;
    let faulty =
        tools::built(true, &["-p", "ptxsmith-testing", "--example", "faulty"])?.join("examples/faulty");
    let mut faults = Vec::new();
    for line in
        tools::said(&mut command(&faulty, [""; 0]))?.lines().filter(|line| line.contains(&arguments.only))
    {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().with_context(|| format!("no fault: {line}"));
        faults.push(Fault { class: next()?, focus: next()?, name: next()? });
    }
    let faults: Vec<Fault> = faults.into_iter().skip(arguments.first).step_by(arguments.every).collect();
    let reports = tools::on_all_cores(&faults, |fault| judged(&ptxsmith, &faulty, fault, arguments.cases));
    let (mut counts, mut bad) = (Vec::new(), Vec::new());
    for (fault, report) in faults.iter().zip(reports) {
        let Some(report) = report? else {
            bad.push(format!("{}: the campaign failed", fault.name));
            continue;
        };
        let found: Vec<&Value> =
            list(&report["findings"]).iter().filter(|finding| text(finding, "status") == "new").collect();
        if fault.class == "everything" {
            let subject = &report["subjects"][0];
            if !found.is_empty() || !subject["refuses_everything"].is_string() || subject["conform"] != 0 {
                bad.push(format!(
                    "{}: {} findings about one that refuses everything",
                    fault.name,
                    found.len()
                ));
            }
            continue;
        }
        counts.push(found.len());
        bad.extend(found.iter().filter_map(|finding| wrong(fault, finding)));
        if arguments.verbose || found.len() != 1 {
            println!("{}: {} findings", fault.name, found.len());
            found.iter().for_each(|finding| show(finding));
        }
    }
    counts.sort_unstable();
    let shown: Vec<usize> = counts.iter().copied().filter(|count| *count > 0).collect();
    let (missed, most) = (counts.len() - shown.len(), counts.last().copied().unwrap_or_default());
    let middle = |at: usize| shown.get(at).copied().unwrap_or_default() as f64;
    let median = (middle(shown.len().saturating_sub(1) / 2) + middle(shown.len() / 2)) / 2.0;
    println!(
        "{} faults, {missed} not found; findings a fault that was: median {median}, most {most}; false causes, classes and \
         validities: {}",
        counts.len(),
        bad.len()
    );
    bad.iter().for_each(|line| println!("    {line}"));
    Ok(u8::from(!bad.is_empty() || median > 1.0 || most > 3))
}

/// Returns the report of a campaign over one fault, or `None` if the campaign failed.
fn judged(ptxsmith: &Path, faulty: &Path, fault: &Fault, cases: u64) -> Result<Option<Value>> {
    let out = tempfile::tempdir()?;
    let mut run = command(
        ptxsmith,
        ["run", "--quiet", "--jobs", "1", "--cases", &cases.to_string(), "--focus", &fault.focus],
    );
    let timeout: &[&str] = if fault.class == "hang" { &["--timeout", "1s"] } else { &[] };
    let subject = format!("serve:{} '{}'", faulty.display(), fault.name);
    let output = tools::answer(run.args(timeout).args(["--subject", &subject, "--out"]).arg(out.path()))?;
    let expected: &[i32] = if fault.class == "everything" { &[3] } else { &[0, 1] };
    if !expected.contains(&tools::status(&output)) {
        return Ok(None);
    }
    json(&out.path().join("report.json")).map(Some)
}

/// Describes an error in a finding about a fault, or returns `None` if it is correct.
fn wrong(fault: &Fault, finding: &Value) -> Option<String> {
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

fn show(finding: &Value) {
    let of = if finding["reduced"].is_object() { &finding["reduced"] } else { finding };
    let program = text(of, "program").splitn(4, '\n').last().unwrap_or_default().trim().replace('\n', " ");
    let id: String = text(finding, "id").chars().take(60).collect();
    println!("    {:6} {id}: {}", finding["count"], program.chars().take(100).collect::<String>());
}
