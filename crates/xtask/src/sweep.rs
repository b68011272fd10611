//! `cuda-sweep`: runs `cuda check` on every CUDA source below given folders, and counts which were analysed
//! whole, and why others were not. Sources of others stay where they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::tools::{self, command, list};

/// The folders with sources, and flags for clang.
#[derive(clap::Args)]
pub struct SweepArguments {
    /// Folders with `.cu` files
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Flags for clang, such as `--cuda-path=DIR`
    #[arg(last = true)]
    flags: Vec<String>,
}

pub fn run(arguments: &SweepArguments) -> Result<u8> {
    let mut files = Vec::new();
    for folder in &arguments.folders {
        sources_below(folder, &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        bail!("there is no .cu file in these folders");
    }
    let ptxsmith = tools::ptxsmith(true)?;
    let (mut whole, mut reports) = (0, 0);
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    let mut times = Vec::new();
    for file in &files {
        let mut check = command(&ptxsmith, ["cuda", "check", "--timeout", "5m", "--format", "json"]);
        check.arg(file).arg("--").args(&arguments.flags);
        let before = tools::child_processor_seconds()?;
        let output = tools::output_of(&mut check)?;
        times.push(tools::child_processor_seconds()? - before);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let report = &report["files"][0];
        reports += list(&report["findings"]).len();
        match list(&report["not_analysed"]) {
            [] if report["analysed"] == true => whole += 1,
            lines => *reasons.entry(reason(lines)).or_default() += 1,
        }
    }
    times.sort_by(f64::total_cmp);
    let share = 100.0 * f64::from(whole) / files.len() as f64;
    println!("{} files, {whole} analysed whole ({share:.0} %), {reports} reports", files.len());
    println!("median {:.1} s of processor time", times[times.len() / 2]);
    let mut reasons: Vec<(String, u32)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    reasons.iter().for_each(|(reason, count)| println!("{count:>5}  {reason}"));
    Ok(0)
}

/// Adds the CUDA sources below a folder, without following links.
fn sources_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sources_below(&entry.path(), files)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "cu") {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Returns the first reason why a file was not analysed whole, without its place and the names in it.
fn reason(lines: &[Value]) -> String {
    let lines = lines.iter().filter_map(Value::as_str);
    let Some(first) = lines.clone().find(|line| !line.starts_with("clang reports ")).or(lines.clone().next())
    else {
        return "no declaration".to_owned();
    };
    let message = first.split_once("error: ").map_or(first, |(_, message)| message);
    let kept = message.split('\'').enumerate().map(|(index, part)| if index % 2 == 1 { "..." } else { part });
    kept.collect::<Vec<_>>().join("'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_place_and_names_are_one() {
        let of = |line: &str| reason(&["clang reports 2 errors, and more".into(), line.into()]);
        let expected = "use of undeclared identifier '...'";
        assert_eq!(of("a.cu:1:30: error: use of undeclared identifier 'nope'"), expected);
        assert_eq!(of("b.cu:7:3: error: use of undeclared identifier 'f'"), expected);
        assert_eq!(reason(&[]), "no declaration");
    }
}
