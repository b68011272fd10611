//! `cuda-releases`: runs `ptxsmith cuda run` with every installable cicc and every Debian clang in PATH.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::tools::{self, command, json, list, text};

const PAGE: &str = "docs/reference/cuda-releases.md";
const CICCS: [&str; 8] = ["11.8", "12.4", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5"];
const CLANGS: [u32; 5] = [14, 15, 16, 19, 22];
const KEYS: [(&str, &str); 4] = [
    ("const_host_var_not_initialized_before_use", "not initialized"),
    ("device_uses_volatile_const_host_var", "volatile"),
    ("device_uses_const_host_var_of_invalid_type", "type"),
    ("address_of_host_var_in_device_code", "address"),
];

/// The number of uses, and whether the page is written.
#[derive(clap::Args)]
pub struct CudaReleasesArguments {
    /// Write docs/reference/cuda-releases.md instead of printing it
    #[arg(long)]
    write: bool,
    /// The number of uses for each compiler
    #[arg(long, default_value = "66000")]
    cases: u64,
}

pub fn run(arguments: &CudaReleasesArguments) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(true)?;
    let mut subjects: Vec<(String, String)> =
        CICCS.map(|release| (format!("cicc {release}"), format!("cicc@{release}"))).to_vec();
    for version in CLANGS {
        match which::which(format!("clang-{version}")) {
            Ok(path) => subjects.push((format!("clang {version}"), format!("clang:{}", path.display()))),
            Err(_) => eprintln!("clang-{version} is not in PATH"),
        }
    }
    let mut tables = ReleaseTables::default();
    for (name, subject) in &subjects {
        tables.add(name, &campaign_report(&ptxsmith, subject, arguments.cases)?);
    }
    let names: Vec<&str> = subjects.iter().map(|(name, _)| name.as_str()).collect();
    let page = tables.page(&names, arguments.cases);
    if arguments.write {
        fs::write(PAGE, page)?;
    } else {
        println!("{page}");
    }
    Ok(u8::from(tables.new > 0))
}

/// The cells of a table, by row and then by compiler.
type CellsByRow<R> = BTreeMap<R, BTreeMap<String, String>>;

/// The data of the page's tables.
#[derive(Default)]
struct ReleaseTables {
    verdicts: Vec<Vec<String>>,
    /// By title and clauses of the deviation.
    deviations: CellsByRow<(String, String)>,
    /// By question.
    readings: CellsByRow<String>,
    /// The number of new findings.
    new: u32,
}

impl ReleaseTables {
    /// Adds the results of a compiler.
    fn add(&mut self, name: &str, report: &Value) {
        let subject = &report["subjects"][0];
        let mut cells =
            vec![format!("{name} ({})", text(subject, "version")), refused_share(&subject["allowed"])];
        cells.extend(KEYS.map(|(key, _)| refused_share(&subject["forbidden"][key]["under_every_reading"])));
        self.verdicts.push(cells);
        for finding in list(&report["findings"]) {
            self.new += u32::from(text(finding, "status") == "new");
            let clauses = list(&finding["departs_from"]).iter().filter_map(Value::as_str);
            let clauses: Vec<_> = clauses.map(|clause| clause.split('/').nth(1).unwrap_or(clause)).collect();
            let title = format!("`{}`: {}", text(finding, "id"), text(finding, "title"));
            let row = self.deviations.entry((title, clauses.join(", "))).or_default();
            row.insert(name.to_owned(), finding["count"].to_string());
        }
        let answers = report["readings"][text(subject, "id")].as_object();
        for (question, counts) in answers.into_iter().flatten() {
            if let Some(answer) = most_frequent_answer(counts) {
                self.readings.entry(question.clone()).or_default().insert(name.to_owned(), answer);
            }
        }
    }

    /// Renders the page. `names` are the compilers, in the order of the columns.
    fn page(&self, names: &[&str], cases: u64) -> String {
        let mut deviations = Vec::new();
        for ((title, clauses), cells) in &self.deviations {
            deviations.push([vec![title.clone(), clauses.clone()], row_cells(names, cells)].concat());
        }
        let mut readings = Vec::new();
        for (question, cells) in &self.readings {
            readings.push([vec![format!("`{question}`")], row_cells(names, cells)].concat());
        }
        page(
            cases,
            &tools::table(
                &[&["compiler", "allowed"][..], &KEYS.map(|(_, name)| name)].concat(),
                &self.verdicts,
            ),
            &tools::table(&[&["deviation", "clause"][..], names].concat(), &deviations),
            &tools::table(&[&["question"][..], names].concat(), &readings),
        )
    }
}

fn row_cells(names: &[&str], cells: &BTreeMap<String, String>) -> Vec<String> {
    names.iter().map(|name| cells.get(*name).cloned().unwrap_or_default()).collect()
}

fn refused_share(counts: &Value) -> String {
    format!("{} of {}", counts["refused"], counts["uses"])
}

/// Returns the most frequent answer to a question, the last one by name if several are equally frequent.
/// `None` if there is no answer.
fn most_frequent_answer(counts: &Value) -> Option<String> {
    let counts = counts.as_object()?.iter().map(|(answer, count)| (count.as_u64().unwrap_or(0), answer));
    let counts: Vec<(u64, &String)> = counts.collect();
    let (most, answer) = counts.iter().max()?;
    let is_split = counts.iter().all(|(count, _)| *count > 0);
    let note = if is_split { " (not always)" } else { "" };
    (*most > 0).then(|| format!("{answer}{note}"))
}

/// Runs a campaign with a compiler, and returns its report.
fn campaign_report(ptxsmith: &Path, subject: &str, cases: u64) -> Result<Value> {
    let out = tempfile::tempdir()?;
    let mut run =
        command(ptxsmith, ["cuda", "run", "--subject", subject, "--cases", &cases.to_string(), "--out"]);
    let output = tools::output_of(run.arg(out.path()))?;
    if !matches!(tools::exit_status(&output), 0 | 1) {
        bail!("{subject}: {}", String::from_utf8_lossy(&output.stderr));
    }
    json(&out.path().join("report.json"))
}

fn page(cases: u64, refused: &str, deviations: &str, questions: &str) -> String {
    format!(
        "# The rule on host `const` variables, by compiler release

This page is for users of CUDA C++ compilers: it says which uses of host `const` variables each release refuses or
accepts otherwise than the rule in [cuda.md](../guide/cuda.md). `cargo xtask cuda-releases` renders it. No package of
PyPI or Debian has `cicc` of other releases of CUDA 12.

<!-- measured -->
{}: {cases} uses of `ptxsmith cuda gen --seed 0`, the whole table and some draws.
`cicc` 11.8 does not know C++20, which some need.

## Refused

Of the uses that the rule allows, and of those that it forbids under every interpretation, by the primary message: how many the
compiler refuses.

{refused}
## Deviations

Uses that differ from the rule, by the entry of `crates/cuda/src/known.rs`, with the clauses that it departs from (`crates/cuda/src/rule.rs`); an empty cell is
none.

{deviations}
## Open questions

Which answer fits the compiler, where uses tell; both do in part where it says \"not always\".

{questions}<!-- end -->
",
        tools::today()
    )
}
