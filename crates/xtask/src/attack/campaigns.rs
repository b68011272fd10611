//! Attacks with edited campaign files, interruptions and full disks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::Mode;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Attack, AttackRun, path_text, words};

fn campaign(out: &Path, subject: &str, more: &[&str]) -> Vec<String> {
    let first = words([
        "run",
        "-q",
        "--cases",
        "1000",
        "--reduce",
        "0s",
        "--subject",
        subject,
        "--out",
        &path_text(out),
    ]);
    first.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
}

fn all_below(folder: &Path) -> BTreeSet<PathBuf> {
    walkdir::WalkDir::new(folder).into_iter().flatten().map(walkdir::DirEntry::into_path).collect()
}

pub fn files(attack: &mut Attack) -> Result<()> {
    const PART: &str = "edited files of campaigns";
    let wrong = format!("{} eval --json \"$1\" | sed 's/\\(\"bytes\": \"\\)01/\\102/'", attack.quoted());
    let subject = format!("exec:sh {}", path_text(&attack.script("wrong.sh", &wrong)?));
    let whole = attack.work.join("whole");
    let arguments = campaign(&whole, &subject, &["--shard", "1/1"]);
    attack.run(PART, &AttackRun::new(&arguments, &[0, 1], "the campaign that is edited"))?;
    for number in 0..attack.times(500) {
        let place = attack.work.join(format!("edited-{number}"));
        let folder = place.join("in");
        crate::tools::stdout_of(crate::tools::command("mkdir", ["-p"]).arg(&place))?;
        crate::tools::stdout_of(crate::tools::command("cp", ["-r"]).args([&whole, &folder]))?;
        let name = *attack.pick(&["state.json", "manifest.json", "report.json", "verdicts.jsonl"]);
        let what = edit(attack, &folder.join(name), number)?;
        let before = all_below(&attack.work);
        let format = *attack.pick(&["text", "json", "junit", "html", "markdown", "sarif"]);
        let folder = path_text(&folder);
        let [out, history] = ["out", "history.db"].map(|name| path_text(&place.join(name)));
        let arguments = match number % 5 {
            0 => words(["merge", "-q", &folder, "--out", &out]),
            1 => words(["merge", "-q", "--partial", &folder, "--out", &out]),
            2 => words(["report", &folder, "--format", format]),
            3 => words(["history", &history, "--add", &folder]),
            _ => words(["run", "-q", "--resume", "--out", &folder]),
        };
        let run = format!("{} of {what}", arguments[0]);
        attack.run(PART, &AttackRun::new(&arguments, &[0, 1, 2, 3], &run))?;
        let new = all_below(&attack.work)
            .into_iter()
            .find(|path| !before.contains(path) && !path.starts_with(&place));
        if let Some(new) = new {
            attack.fail(PART, &what, &format!("a file elsewhere: {}", new.display()));
        }
        fs::remove_dir_all(place)?;
    }
    Ok(())
}

/// Edits a file, and describes the edit.
fn edit(attack: &mut Attack, path: &Path, number: u32) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if number.is_multiple_of(25) {
        fs::remove_file(path)?;
        let kind = *attack.pick(&["zero", "fifo", "directory"]);
        match kind {
            "zero" => std::os::unix::fs::symlink("/dev/zero", path)?,
            "fifo" => rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR)?,
            _ => fs::create_dir(path)?,
        }
        return Ok(format!("{name} as {kind}"));
    }
    let mut text = fs::read(path)?;
    if number.is_multiple_of(3) {
        for _ in 0..attack.random.usize(1..=5) {
            let start = attack.random.usize(..text.len());
            let end = (start + attack.random.usize(..=9)).min(text.len());
            let noise = attack.bytes(5);
            text.splice(start..end, noise);
        }
        fs::write(path, text)?;
        return Ok(format!("{name} with other bytes"));
    }
    let text = String::from_utf8(text)?;
    let mut lines: Vec<String> = if path.extension().is_some_and(|extension| extension == "jsonl") {
        text.lines().map(str::to_owned).collect()
    } else {
        vec![text]
    };
    let line = attack.random.usize(..lines.len());
    let mut value: Value = serde_json::from_str(&lines[line])?;
    let values = hostile_values(attack, &name);
    spoil(attack, &mut value, &values);
    lines[line] = value.to_string();
    fs::write(path, lines.join("\n") + "\n")?;
    Ok(format!("{name} with another value"))
}

/// Returns invalid and hostile values for a field.
fn hostile_values(attack: &Attack, name: &str) -> Vec<Value> {
    let canary = path_text(&attack.canary);
    let mut values = vec![
        json!(0),
        json!(-1),
        json!(1),
        json!(1_u64 << 31),
        json!(1_u64 << 53),
        json!(1_u64 << 63),
        json!(u64::MAX),
        json!(1e308),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!(""),
        json!("../../canary"),
        json!(canary),
        json!(format!("ptxas:{canary}")),
        json!("\u{202e}\u{0}\u{1b}[2J"),
        json!("9".repeat(400)),
        json!("x".repeat(100_000)),
    ];
    // Skip the manifest: it belongs to the user and is trusted, so the programs that it names may be run.
    if name != "manifest.json" {
        values.extend(["exec", "serve"].map(|kind| json!(format!("{kind}:touch {canary}"))));
    }
    values
}

/// Replaces or removes a nested value.
fn spoil(attack: &mut Attack, value: &mut Value, hostile: &[Value]) {
    let replacement = attack.pick(hostile).clone();
    let descend = attack.random.u32(..10) < 8;
    let remove = attack.random.u32(..10) < 2;
    match value {
        Value::Object(map) if !map.is_empty() => {
            let index = attack.random.usize(..map.len());
            let key = map.keys().nth(index).cloned().unwrap_or_default();
            if descend && has_entries(&map[&key]) {
                spoil(attack, &mut map[&key], hostile);
            } else if remove {
                map.remove(&key);
            } else {
                map.insert(key, replacement);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let index = attack.random.usize(..list.len());
            if descend && has_entries(&list[index]) {
                spoil(attack, &mut list[index], hostile);
            } else {
                list[index] = replacement;
            }
        }
        other => *other = replacement,
    }
}

fn has_entries(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    }
}

/// Returns the report and the findings of a campaign.
fn outcome(out: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(out.join("findings"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    paths.push(out.join("report.json"));
    let files = paths.into_iter().map(|path| {
        let bytes = fs::read(&path)?;
        Ok((path.strip_prefix(out)?.to_owned(), bytes))
    });
    files.collect()
}

pub fn stops(attack: &mut Attack) -> Result<()> {
    const PART: &str = "interruptions";
    const OTHER: &str = "another report than that of the undisturbed campaign";
    let signals = [
        (Signal::INT, 130, "SIGINT"),
        (Signal::TERM, 143, "SIGTERM"),
        (Signal::HUP, 129, "SIGHUP"),
        (Signal::KILL, -9, "SIGKILL"),
    ];
    let body = format!("{} eval --json --reading shift-count=modulo \"$1\"", attack.quoted());
    let subject = format!("exec:sh {}", path_text(&attack.script("oracle.sh", &body)?));
    let [whole, killed, stopped] = ["undisturbed", "killed", "stopped"].map(|name| attack.work.join(name));
    let began = Instant::now();
    let arguments = campaign(&whole, &subject, &[]);
    attack.run(PART, &AttackRun::new(&arguments, &[0, 1], "the undisturbed campaign"))?;
    let took = began.elapsed().as_secs_f64();
    let undisturbed = outcome(&whole)?;
    for nth in 0..attack.times(100) {
        let (signal, status, name) = *attack.pick(&signals);
        let out = if status == -9 { &killed } else { &stopped };
        let arguments = if nth % 2 == 0 || !out.join("manifest.json").exists() {
            campaign(out, &subject, &["--resume"])
        } else {
            words(["run", "-q", "--resume", "--out", &path_text(out)])
        };
        let after = Duration::from_secs_f64(0.02 + attack.random.f64() * took * 1.1);
        let allowed = [0, 1, status];
        let run = AttackRun { stop: Some((signal, after)), ..AttackRun::new(&arguments, &allowed, name) };
        let (ended_with, output) = attack.run(PART, &run)?;
        if ended_with == status && status != -9 && !output.contains("stopped by") {
            attack.fail(PART, name, &format!("it does not say that it was stopped: {output}"));
        }
        if matches!(ended_with, 0 | 1) {
            if outcome(out)? != undisturbed {
                attack.fail(PART, name, OTHER);
            }
            fs::remove_dir_all(out)?;
        }
    }
    for out in [killed, stopped] {
        let arguments = campaign(&out, &subject, &["--resume"]);
        attack.run(PART, &AttackRun::new(&arguments, &[0, 1], "resumed to the end"))?;
        if outcome(&out)? != undisturbed {
            attack.fail(PART, &path_text(&out), OTHER);
        }
    }
    Ok(())
}

pub fn disks(attack: &mut Attack) -> Result<()> {
    const PART: &str = "full disks";
    let subject = format!("exec:{} eval --json --reading shift-count=modulo", attack.quoted());
    let whole = attack.work.join("for-disks");
    let arguments = campaign(&whole, &subject, &[]);
    attack.run(PART, &AttackRun::new(&arguments, &[0, 1], "the campaign"))?;
    let whole = path_text(&whole);
    for nth in 0..attack.times(20) {
        let blocks = *attack.pick(&[0, 1, 2, 4, 8, 16, 32, 64]);
        let place = attack.work.join(format!("full-{nth}"));
        let out = path_text(&place);
        let arguments = match nth % 5 {
            0 => campaign(&place, &subject, &[]),
            1 => words(["merge", "-q", &whole, "--out", &out]),
            2 => words(["report", &whole, "--format", "html", "--out", &out]),
            3 => words(["history", &out, "--add", &whole]),
            _ => words(["gen", "--count", "50", "--out", &out]),
        };
        let what = format!("{} with {blocks} blocks", arguments[0]);
        let before = format!("trap '' XFSZ; ulimit -f {blocks}");
        attack.run(PART, &AttackRun { before: &before, ..AttackRun::new(&arguments, &[0, 1, 4], &what) })?;
        for path in all_below(&place) {
            let name = path.file_name().context("a path without a name")?.to_string_lossy().into_owned();
            let is_half =
                name.ends_with(".json") && serde_json::from_slice::<Value>(&fs::read(&path)?).is_err();
            if is_half || name.starts_with(".writing-") {
                attack.fail(PART, &what, &format!("half of {name}, or a file that was to be renamed"));
            }
        }
    }
    Ok(())
}
