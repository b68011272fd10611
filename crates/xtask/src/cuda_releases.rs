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

/// Where the page goes, and how many uses there are.
#[derive(clap::Args)]
pub struct Arguments {
    /// Write docs/reference/cuda-releases.md instead of printing it
    #[arg(long)]
    write: bool,
    /// How many uses each compiler is shown
    #[arg(long, default_value = "66000")]
    cases: u64,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(true)?;
    let mut subjects: Vec<(String, String)> =
        CICCS.map(|release| (format!("cicc {release}"), format!("cicc@{release}"))).to_vec();
    for version in CLANGS {
        match which::which(format!("clang-{version}")) {
            Ok(path) => subjects.push((format!("clang {version}"), format!("clang:{}", path.display()))),
            Err(_) => eprintln!("clang-{version} is not in PATH"),
        }
    }
    let (mut verdicts, mut new) = (Vec::new(), 0);
    let mut deviations = BTreeMap::<(String, String), BTreeMap<String, String>>::new();
    let mut readings = BTreeMap::<String, BTreeMap<String, String>>::new();
    for (name, subject) in &subjects {
        let report = of(&ptxsmith, subject, arguments.cases)?;
        let told = &report["subjects"][0];
        let share = |counts: &Value| format!("{} of {}", counts["refused"], counts["uses"]);
        let mut cells = vec![format!("{name} ({})", text(told, "version")), share(&told["allowed"])];
        cells.extend(KEYS.map(|(key, _)| share(&told["forbidden"][key]["under_every_reading"])));
        verdicts.push(cells);
        for finding in list(&report["findings"]) {
            new += u32::from(text(finding, "status") == "new");
            let clauses = list(&finding["departs_from"]).iter().filter_map(Value::as_str);
            let clauses: Vec<_> = clauses.map(|clause| clause.split('/').nth(1).unwrap_or(clause)).collect();
            let title = format!("`{}`: {}", text(finding, "id"), text(finding, "title"));
            let row = deviations.entry((title, clauses.join(", "))).or_default();
            row.insert(name.clone(), finding["count"].to_string());
        }
        let answers = report["readings"][text(told, "id")].as_object();
        for (question, counts) in answers.into_iter().flatten() {
            let counts = || {
                counts
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, count)| (count.as_u64().unwrap_or(0), name))
            };
            // If two answers are equally frequent, choose the first.
            let Some((most, answer)) = counts().rev().max() else { continue };
            if most > 0 {
                let split = if counts().all(|(count, _)| count > 0) { " (not always)" } else { "" };
                readings
                    .entry(question.clone())
                    .or_default()
                    .insert(name.clone(), format!("{answer}{split}"));
            }
        }
    }
    let names: Vec<&str> = subjects.iter().map(|(name, _)| name.as_str()).collect();
    let cells = |of: &BTreeMap<String, String>| {
        names.iter().map(|name| of.get(*name).cloned().unwrap_or_default()).collect()
    };
    let row = |first: Vec<String>, of| [first, cells(of)].concat();
    let deviations =
        deviations.iter().map(|((title, clauses), of)| row(vec![title.clone(), clauses.clone()], of));
    let readings = readings.iter().map(|(question, of)| row(vec![format!("`{question}`")], of));
    let page = page(
        arguments.cases,
        &tools::table(&[&["compiler", "allowed"][..], &KEYS.map(|(_, name)| name)].concat(), &verdicts),
        &tools::table(&[&["deviation", "clause"][..], &names].concat(), &deviations.collect::<Vec<_>>()),
        &tools::table(&[&["question"][..], &names].concat(), &readings.collect::<Vec<_>>()),
    );
    if arguments.write {
        fs::write(PAGE, page)?;
    } else {
        println!("{page}");
    }
    Ok(u8::from(new > 0))
}

fn of(ptxsmith: &Path, subject: &str, cases: u64) -> Result<Value> {
    let out = tempfile::tempdir()?;
    let mut run =
        command(ptxsmith, ["cuda", "run", "--subject", subject, "--cases", &cases.to_string(), "--out"]);
    let output = tools::answer(run.arg(out.path()))?;
    if !matches!(tools::status(&output), 0 | 1) {
        bail!("{subject}: {}", String::from_utf8_lossy(&output.stderr));
    }
    json(&out.path().join("report.json"))
}

fn page(cases: u64, refused: &str, deviations: &str, questions: &str) -> String {
    format!(
        "# The rule on host `const` variables, by compiler release

This page is for users of CUDA C++ compilers. `cargo xtask cuda-releases` renders it. [cuda.md](../guide/cuda.md) says what is compared
and what a compiler's answer does not show. `cicc` of other releases of CUDA 12 is in no package of PyPI or Debian.

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
