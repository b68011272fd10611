//! `readings` and `relocations`: measure the behavior of each minor release of ptxas (some 700 MB in total). Run them
//! when a release is added.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::tools::{self, MEASURED, command, json, list, text};

/// Measures which interpretations each release follows, with the cases of the suite that depend on a single question.
pub fn readings(check: bool) -> Result<u8> {
    let work = tempfile::tempdir()?;
    let ptxsmith = tools::ptxsmith(false)?;
    let releases = tools::minor_releases(&ptxsmith, &[])?;
    let suite = work.path().join("suite");
    tools::said(command(&ptxsmith, ["suite", "--out"]).arg(&suite))?;
    let manifest = chosen(&suite)?;
    let mut lines = Vec::new();
    for release in &releases {
        let ptxas = tools::said(&mut command(&ptxsmith, ["toolchain", "path", release]))?;
        let verdicts = work.path().join(release);
        let mut runner = command("python3", [suite.join("run.py")]);
        let output = tools::answer(runner.args(["--ptxas", ptxas.trim(), "--json"]).arg(&verdicts))?;
        // Status 1 means that the release deviates in some case, which is true of all releases.
        if tools::status(&output) != 1 {
            bail!("the runner on {release}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = fs::read_to_string(verdicts)?;
        lines.push(
            text.lines().map(serde_json::from_str::<Value>).collect::<std::result::Result<Vec<_>, _>>()?,
        );
    }
    let page = Path::new("docs/reference/readings.md");
    let now = tools::rendered(page, MEASURED.0, MEASURED.1, &table(&manifest, &releases, &lines))?;
    tools::write_or_check(page, &now, check)
}

fn is_decided(case: &Value) -> bool {
    !list(&case["readings"]).is_empty() && list(&case["questions"]).len() == 1
}

/// Reduces a suite to the cases that depend on a single question, and their counterparts. Changes their headers to a
/// version that every release accepts; no case needs the suite's usual version.
fn chosen(suite: &Path) -> Result<Value> {
    let mut manifest = json(&suite.join("manifest.json"))?;
    let cases = list(&manifest["cases"]).to_vec();
    let named: BTreeSet<String> =
        cases.iter().filter(|case| is_decided(case)).map(|case| text(case, "twin").to_owned()).collect();
    let is_kept = |case: &Value| is_decided(case) || named.contains(text(case, "id"));
    let kept: Vec<Value> = cases.into_iter().filter(is_kept).collect();
    for case in &kept {
        let file = suite.join(text(case, "file"));
        fs::write(&file, fs::read_to_string(&file)?.replace(".version 7.8\n", ".version 7.7\n"))?;
    }
    manifest["cases"] = kept.into();
    fs::write(suite.join("manifest.json"), manifest.to_string())?;
    Ok(manifest)
}

/// Returns the interpretations that are consistent with a verdict, or `None` if the verdict is not about the question.
fn consistent(case: &Value, question: &str, answers: &[&str], line: &Value) -> Option<BTreeSet<String>> {
    let told: BTreeMap<&str, &Value> = list(&case["readings"])
        .iter()
        .map(|reading| (text(&reading["answers"], question), &reading["expected"]))
        .collect();
    match text(line, "verdict") {
        "conforms" => {
            let others = answers.iter().filter(|answer| !told.contains_key(**answer));
            Some(others.map(|answer| (*answer).to_owned()).collect())
        }
        "reading" => {
            let own = told.get(text(&line["what"], question))?;
            let same = told.iter().filter(|(_, expected)| *expected == own);
            Some(same.map(|(answer, _)| (*answer).to_owned()).collect())
        }
        _ => None,
    }
}

fn table(manifest: &Value, releases: &[String], lines: &[Vec<Value>]) -> String {
    let cases: BTreeMap<&str, &Value> = list(&manifest["cases"])
        .iter()
        .filter(|case| is_decided(case))
        .map(|case| (text(case, "id"), case))
        .collect();
    let mut rows = Vec::new();
    let questions: BTreeMap<&String, &Value> =
        manifest["questions"].as_object().into_iter().flatten().collect();
    for (question, told) in questions {
        let answers: Vec<&str> = list(&told["answers"]).iter().map(|answer| text(answer, "name")).collect();
        let (mut asked, mut followed) = (BTreeSet::new(), Vec::<(String, Vec<usize>)>::new());
        for (nth, lines) in lines.iter().enumerate() {
            let mut both: Option<BTreeSet<String>> = None;
            for line in lines {
                let case =
                    cases.get(text(line, "case")).filter(|case| case["questions"][0] == question.as_str());
                let Some(case) = case else { continue };
                let Some(found) = consistent(case, question, &answers, line) else { continue };
                asked.insert(text(case, "id"));
                both = Some(
                    both.map_or_else(|| found.clone(), |both| both.intersection(&found).cloned().collect()),
                );
            }
            let Some(both) = both else { continue };
            let names =
                answers.iter().filter(|answer| both.contains(**answer)).map(|answer| format!("`{answer}`"));
            let name = names.collect::<Vec<_>>().join(" or ");
            let name = if name.is_empty() { "one or another, by case".to_owned() } else { name };
            match followed.iter_mut().find(|(own, _)| *own == name) {
                Some((_, own)) => own.push(nth),
                None => followed.push((name, vec![nth])),
            }
        }
        let cell = followed.iter().map(|(name, own)| format!("{name} ({})", ranges(releases, own)));
        let cell = cell.collect::<Vec<_>>().join("; ");
        let cell = if cell.is_empty() { "data do not show it".to_owned() } else { cell };
        rows.push(format!("| `{question}` | `{}` | {cell} | {} |\n", answers[0], asked.len()));
    }
    format!(
        "| question | the text's answer | followed by | cases |\n| --- | --- | --- | ---: |\n{}",
        rows.concat()
    )
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
    let shown = |&(first, last): &(usize, usize)| match first == last {
        true => releases[first].clone(),
        false => format!("{} to {}", releases[first], releases[last]),
    };
    runs.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Measures how each release encodes addresses.
pub fn relocations(check: bool) -> Result<u8> {
    tools::minor_releases(&tools::ptxsmith(false)?, &["cuobjdump"])?;
    let example = tools::built(true, &["-p", "ptxsmith-subject", "--example", "relocations"])?;
    let table = tools::said(&mut command(example.join("examples/relocations"), [""; 0]))?;
    let page = Path::new("docs/reference/relocations.md");
    let now = tools::rendered(page, MEASURED.0, MEASURED.1, &table)?;
    tools::write_or_check(page, &now, check)
}
