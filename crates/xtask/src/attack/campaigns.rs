//! Attacks with edited campaign files, interruptions and full disks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::Mode;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Attack, Run, shown, words};

fn campaign(out: &Path, subject: &str, more: &[&str]) -> Vec<String> {
    let first =
        words(["run", "-q", "--cases", "1000", "--reduce", "0s", "--subject", subject, "--out", &shown(out)]);
    first.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
}

fn all_below(folder: &Path) -> BTreeSet<PathBuf> {
    walkdir::WalkDir::new(folder).into_iter().flatten().map(walkdir::DirEntry::into_path).collect()
}

pub fn files(attack: &mut Attack) -> Result<()> {
    const PART: &str = "edited files of campaigns";
    let wrong = format!("{} eval --json \"$1\" | sed 's/\\(\"bytes\": \"\\)01/\\102/'", attack.quoted());
    let subject = format!("exec:sh {}", shown(&attack.script("wrong.sh", &wrong)?));
    let whole = attack.work.join("whole");
    let arguments = campaign(&whole, &subject, &["--shard", "1/1"]);
    attack.run(PART, &Run::new(&arguments, &[0, 1], "the campaign that is edited"))?;
    for number in 0..attack.times(500) {
        let place = attack.work.join(format!("edited-{number}"));
        let folder = place.join("in");
        crate::tools::said(crate::tools::command("mkdir", ["-p"]).arg(&place))?;
        crate::tools::said(crate::tools::command("cp", ["-r"]).args([&whole, &folder]))?;
        let name = *attack.pick(&["state.json", "manifest.json", "report.json", "verdicts.jsonl"]);
        let what = edit(attack, &folder.join(name), number)?;
        let before = all_below(&attack.work);
        let format = *attack.pick(&["text", "json", "junit", "html", "markdown", "sarif"]);
        let (folder, out, history) =
            (shown(&folder), shown(&place.join("out")), shown(&place.join("history.db")));
        let arguments = match number % 5 {
            0 => words(["merge", "-q", &folder, "--out", &out]),
            1 => words(["merge", "-q", "--partial", &folder, "--out", &out]),
            2 => words(["report", &folder, "--format", format]),
            3 => words(["history", &history, "--add", &folder]),
            _ => words(["run", "-q", "--resume", "--out", &folder]),
        };
        let named = format!("{} of {what}", arguments[0]);
        attack.run(PART, &Run::new(&arguments, &[0, 1, 2, 3], &named))?;
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
            let at = attack.random.usize(..text.len());
            let end = (at + attack.random.usize(..=9)).min(text.len());
            let noise = attack.bytes(5);
            text.splice(at..end, noise);
        }
        fs::write(path, text)?;
        return Ok(format!("{name} with other bytes"));
    }
    let text = String::from_utf8(text)?;
    let mut lines: Vec<String> = match path.extension().is_some_and(|extension| extension == "jsonl") {
        true => text.lines().map(str::to_owned).collect(),
        false => vec![text],
    };
    let line = attack.random.usize(..lines.len());
    let mut value: Value = serde_json::from_str(&lines[line])?;
    let evil = evil(attack, &name);
    spoil(attack, &mut value, &evil);
    lines[line] = value.to_string();
    fs::write(path, lines.join("\n") + "\n")?;
    Ok(format!("{name} with another value"))
}

/// Returns invalid and hostile values for a field.
fn evil(attack: &Attack, name: &str) -> Vec<Value> {
    let canary = shown(&attack.canary);
    let mut evil = vec![
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
        evil.extend(["exec", "serve"].map(|kind| json!(format!("{kind}:touch {canary}"))));
    }
    evil
}

/// Replaces or removes a nested value.
fn spoil(attack: &mut Attack, value: &mut Value, evil: &[Value]) {
    let bad = attack.pick(evil).clone();
    let (deeper, remove) = (attack.random.u32(..10) < 8, attack.random.u32(..10) < 2);
    let is_inner = |value: &Value| {
        value.as_object().is_some_and(|map| !map.is_empty())
            || value.as_array().is_some_and(|list| !list.is_empty())
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let at = attack.random.usize(..map.len());
            let key = map.keys().nth(at).cloned().unwrap_or_default();
            if deeper && is_inner(&map[&key]) {
                spoil(attack, &mut map[&key], evil);
            } else if remove {
                map.remove(&key);
            } else {
                map.insert(key, bad);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = attack.random.usize(..list.len());
            if deeper && is_inner(&list[at]) {
                spoil(attack, &mut list[at], evil);
            } else {
                list[at] = bad;
            }
        }
        other => *other = bad,
    }
}

/// Returns the report and the findings of a campaign.
fn outcome(out: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(out.join("findings"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    paths.push(out.join("report.json"));
    let read = |path: PathBuf| {
        let bytes = fs::read(&path)?;
        Ok((path.strip_prefix(out)?.to_owned(), bytes))
    };
    paths.into_iter().map(read).collect()
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
    let subject = format!("exec:sh {}", shown(&attack.script("oracle.sh", &body)?));
    let [whole, killed, stopped] = ["undisturbed", "killed", "stopped"].map(|name| attack.work.join(name));
    let began = Instant::now();
    let arguments = campaign(&whole, &subject, &[]);
    attack.run(PART, &Run::new(&arguments, &[0, 1], "the undisturbed campaign"))?;
    let took = began.elapsed().as_secs_f64();
    let undisturbed = outcome(&whole)?;
    for nth in 0..attack.times(100) {
        let (signal, status, name) = *attack.pick(&signals);
        let out = if status == -9 { &killed } else { &stopped };
        let arguments = match nth % 2 == 0 || !out.join("manifest.json").exists() {
            true => campaign(out, &subject, &["--resume"]),
            false => words(["run", "-q", "--resume", "--out", &shown(out)]),
        };
        let after = Duration::from_secs_f64(0.02 + attack.random.f64() * took * 1.1);
        let allowed = [0, 1, status];
        let run = Run { stop: Some((signal, after)), ..Run::new(&arguments, &allowed, name) };
        let (ended, said) = attack.run(PART, &run)?;
        if ended == status && status != -9 && !said.contains("stopped by") {
            attack.fail(PART, name, &format!("it does not say that it was stopped: {said}"));
        }
        if matches!(ended, 0 | 1) {
            if outcome(out)? != undisturbed {
                attack.fail(PART, name, OTHER);
            }
            fs::remove_dir_all(out)?;
        }
    }
    for out in [killed, stopped] {
        let arguments = campaign(&out, &subject, &["--resume"]);
        attack.run(PART, &Run::new(&arguments, &[0, 1], "resumed to the end"))?;
        if outcome(&out)? != undisturbed {
            attack.fail(PART, &shown(&out), OTHER);
        }
    }
    Ok(())
}

pub fn disks(attack: &mut Attack) -> Result<()> {
    const PART: &str = "full disks";
    let subject = format!("exec:{} eval --json --reading shift-count=modulo", attack.quoted());
    let whole = attack.work.join("for-disks");
    let arguments = campaign(&whole, &subject, &[]);
    attack.run(PART, &Run::new(&arguments, &[0, 1], "the campaign"))?;
    let whole = shown(&whole);
    for nth in 0..attack.times(20) {
        let blocks = *attack.pick(&[0, 1, 2, 4, 8, 16, 32, 64]);
        let place = attack.work.join(format!("full-{nth}"));
        let out = shown(&place);
        let arguments = match nth % 5 {
            0 => campaign(&place, &subject, &[]),
            1 => words(["merge", "-q", &whole, "--out", &out]),
            2 => words(["report", &whole, "--format", "html", "--out", &out]),
            3 => words(["history", &out, "--add", &whole]),
            _ => words(["gen", "--count", "50", "--out", &out]),
        };
        let (what, before) =
            (format!("{} with {blocks} blocks", arguments[0]), format!("trap '' XFSZ; ulimit -f {blocks}"));
        attack.run(PART, &Run { before: &before, ..Run::new(&arguments, &[0, 1, 4], &what) })?;
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
