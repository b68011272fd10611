//! `readings` and `relocations`: measure the behavior of each minor release of ptxas (some 700 MB in total).
//! Run them when a release is added.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::tools::{self, MEASURED, command, json, list, text};

/// Measures which interpretations each release follows, with the cases of the suite that depend on a single
/// question.
pub fn readings(check: bool) -> Result<u8> {
    let work = tempfile::tempdir()?;
    let ptxsmith = tools::ptxsmith(false)?;
    let releases = tools::minor_releases(&ptxsmith, &[])?;
    let suite = work.path().join("suite");
    tools::stdout_of(command(&ptxsmith, ["suite", "--out"]).arg(&suite))?;
    let manifest = reduce_suite(&suite)?;
    let mut lines = Vec::new();
    for release in &releases {
        let ptxas = tools::stdout_of(&mut command(&ptxsmith, ["toolchain", "path", release]))?;
        let verdicts = work.path().join(release);
        let mut runner = command("python3", [suite.join("run.py")]);
        let output = tools::output_of(runner.args(["--ptxas", ptxas.trim(), "--json"]).arg(&verdicts))?;
        // Status 1 means that the release deviates in some case, which is true of all releases.
        if tools::exit_status(&output) != 1 {
            bail!("the runner on {release}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = fs::read_to_string(verdicts)?;
        lines.push(
            text.lines().map(serde_json::from_str::<Value>).collect::<std::result::Result<Vec<_>, _>>()?,
        );
    }
    let page = Path::new("docs/reference/readings.md");
    let text = tools::rendered(page, MEASURED.0, MEASURED.1, &table(&manifest, &releases, &lines))?;
    tools::write_or_check(page, &text, check)
}

fn is_decided(case: &Value) -> bool {
    !list(&case["readings"]).is_empty() && list(&case["questions"]).len() == 1
}

/// Reduces a suite to the cases that depend on a single question, and their counterparts. Changes their
/// headers to a version that every release accepts; no case needs the suite's usual version.
fn reduce_suite(suite: &Path) -> Result<Value> {
    let mut manifest = json(&suite.join("manifest.json"))?;
    let cases = list(&manifest["cases"]).to_vec();
    let decided = cases.iter().filter(|case| is_decided(case));
    let counterparts: BTreeSet<String> = decided.map(|case| text(case, "twin").to_owned()).collect();
    let mut kept = cases;
    kept.retain(|case| is_decided(case) || counterparts.contains(text(case, "id")));
    for case in &kept {
        let file = suite.join(text(case, "file"));
        fs::write(&file, fs::read_to_string(&file)?.replace(".version 7.8\n", ".version 7.7\n"))?;
    }
    manifest["cases"] = kept.into();
    fs::write(suite.join("manifest.json"), manifest.to_string())?;
    Ok(manifest)
}

/// Returns the interpretations that are consistent with a verdict, or `None` if the verdict is not about the
/// question.
fn consistent(case: &Value, question: &str, answers: &[&str], line: &Value) -> Option<BTreeSet<String>> {
    let readings = list(&case["readings"]).iter();
    let expected: BTreeMap<&str, &Value> =
        readings.map(|reading| (text(&reading["answers"], question), &reading["expected"])).collect();
    match text(line, "verdict") {
        "conforms" => {
            let others = answers.iter().filter(|answer| !expected.contains_key(**answer));
            Some(others.map(|answer| (*answer).to_owned()).collect())
        }
        "reading" => {
            let followed = expected.get(text(&line["what"], question))?;
            let same = expected.iter().filter(|(_, expected)| *expected == followed);
            Some(same.map(|(answer, _)| (*answer).to_owned()).collect())
        }
        _ => None,
    }
}

/// Renders the table of questions. `lines` has the verdicts of each release.
fn table(manifest: &Value, releases: &[String], lines: &[Vec<Value>]) -> String {
    let decided = list(&manifest["cases"]).iter().filter(|case| is_decided(case));
    let cases: BTreeMap<&str, &Value> = decided.map(|case| (text(case, "id"), case)).collect();
    let questions: BTreeMap<&String, &Value> =
        manifest["questions"].as_object().into_iter().flatten().collect();
    let mut table =
        "| question | the text's answer | followed by | cases |\n| --- | --- | --- | ---: |\n".to_owned();
    for (question, description) in questions {
        let answers: Vec<&str> =
            list(&description["answers"]).iter().map(|answer| text(answer, "name")).collect();
        table += &question_row(question, &answers, &cases, releases, lines);
    }
    table
}

fn question_row(
    question: &str,
    answers: &[&str],
    cases: &BTreeMap<&str, &Value>,
    releases: &[String],
    lines: &[Vec<Value>],
) -> String {
    let mut deciding_cases: BTreeSet<&str> = BTreeSet::new();
    // The answers, each with the indices of the releases that follow it, in the order of the first release.
    let mut followed: Vec<(String, Vec<usize>)> = Vec::new();
    for (release, lines) in lines.iter().enumerate() {
        let mut remaining: Option<BTreeSet<String>> = None;
        for line in lines {
            let Some(case) = cases.get(text(line, "case")) else { continue };
            if case["questions"][0] != question {
                continue;
            }
            let Some(consistent) = consistent(case, question, answers, line) else { continue };
            deciding_cases.insert(text(case, "id"));
            remaining = Some(match remaining {
                Some(remaining) => remaining.intersection(&consistent).cloned().collect(),
                None => consistent,
            });
        }
        let Some(remaining) = remaining else { continue };
        let names = answers.iter().filter(|answer| remaining.contains(**answer));
        let names: Vec<String> = names.map(|answer| format!("`{answer}`")).collect();
        let name = if names.is_empty() { "one or another, by case".to_owned() } else { names.join(" or ") };
        match followed.iter_mut().find(|(other, _)| *other == name) {
            Some((_, followers)) => followers.push(release),
            None => followed.push((name, vec![release])),
        }
    }
    let texts = followed.iter().map(|(name, followers)| format!("{name} ({})", ranges(releases, followers)));
    let cell = texts.collect::<Vec<_>>().join("; ");
    let cell = if cell.is_empty() { "data do not show it".to_owned() } else { cell };
    format!("| `{question}` | `{}` | {cell} | {} |\n", answers[0], deciding_cases.len())
}

/// Formats release numbers as ranges of consecutive tested releases.
fn ranges(releases: &[String], followed: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &nth in followed {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == nth => *last = nth,
            _ => runs.push((nth, nth)),
        }
    }
    let mut texts = Vec::new();
    for (first, last) in runs {
        texts.push(if first == last {
            releases[first].clone()
        } else {
            format!("{} to {}", releases[first], releases[last])
        });
    }
    texts.join(", ")
}

/// Measures how each release encodes addresses.
pub fn relocations(check: bool) -> Result<u8> {
    tools::minor_releases(&tools::ptxsmith(false)?, &["cuobjdump"])?;
    let example = tools::build(true, &["-p", "ptxsmith-subject", "--example", "relocations"])?;
    let table = tools::stdout_of(&mut command(example.join("examples/relocations"), [""; 0]))?;
    let page = Path::new("docs/reference/relocations.md");
    let text = tools::rendered(page, MEASURED.0, MEASURED.1, &table)?;
    tools::write_or_check(page, &text, check)
}
