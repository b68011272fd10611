//! `same-reports`: compares two builds of ptxsmith on the same work: `gen` and `run` with every focus, `run
//! --exhaustive 1`, `check corpus`, `drift` and `suite`. Generated programs and the suite are compared byte for byte;
//! findings, verdicts and reports field by field, after fields are renamed according to crates/xtask/same-reports.toml.
//! Explained differences are counted. All others are printed and set the exit status to 1. Status 3: a part could not
//! be run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use regex_lite::Regex;
use serde_json::Value;

use crate::tools::{self, NOT_TESTED, command};

const FOCUSES: [&str; 7] =
    ["expressions", "initializers", "addresses", "seats", "negatives", "operands", "mixed"];
/// The maximum number of differences that are printed for a part.
const SHOWN: usize = 5;

/// The two programs, and the work.
#[derive(clap::Args)]
pub struct Arguments {
    /// The older program
    #[arg(value_parser = tools::path)]
    old: PathBuf,
    /// The newer program
    #[arg(value_parser = tools::path)]
    new: PathBuf,
    /// An implementation to test; may be repeated
    #[arg(long = "subject", value_name = "SUBJECT", default_values = ["ptxas@12.0", "ptxas@13.5"])]
    subjects: Vec<String>,
    /// How many cases of each focus
    #[arg(long, default_value = "3000")]
    cases: u64,
    /// Chooses the programs
    #[arg(long, default_value = "0")]
    seed: String,
    /// Only the parts whose name begins so; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Options of run, check and drift for the older program
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    old_args: String,
    /// Options of run, check and drift for the newer program
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    new_args: String,
    /// The programs for check and drift
    #[arg(long, default_value = "corpus")]
    corpus: String,
    /// Compare nothing; count how often each program starts ptxas, and for what
    #[arg(long)]
    starts: bool,
}

/// A part of the work: its name, its arguments, and whether it runs an implementation.
struct Part {
    name: String,
    words: Vec<String>,
    shows: bool,
}

impl Arguments {
    fn parts(&self, subjects: &[String]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut add = |name: String, words: &[&str], shows: bool| {
            let of = subjects.iter().flat_map(|subject| ["--subject".to_owned(), subject.clone()]);
            let own = words.iter().map(|word| (*word).to_owned());
            parts.push(Part {
                name,
                words: own.chain(of.filter(|_| shows && words[0] != "drift")).collect(),
                shows,
            });
        };
        for focus in FOCUSES {
            // `gen` writes one file per case, and a tenth of the cases is enough to compare generators. A kernel takes
            // as long as twenty other cases.
            let count = (self.cases / 10).max(100).to_string();
            let cases = if focus == "operands" { (self.cases / 20).max(100) } else { self.cases }.to_string();
            if !self.starts {
                add(
                    format!("gen {focus}"),
                    &["gen", "--focus", focus, "--count", &count, "--seed", &self.seed],
                    false,
                );
            }
            add(
                format!("run {focus}"),
                &["run", "--focus", focus, "--cases", &cases, "--seed", &self.seed],
                true,
            );
        }
        add("exhaustive 1".to_owned(), &["run", "--exhaustive", "1"], true);
        add("check corpus".to_owned(), &["check", &self.corpus], true);
        let releases: Vec<&str> =
            subjects.iter().filter_map(|subject| subject.strip_prefix("ptxas@")).collect();
        if let (false, [first, .., last]) = (self.starts, &releases[..]) {
            let cases = self.cases.to_string();
            let words = [
                "drift",
                "--from",
                first,
                "--to",
                last,
                "--corpus",
                &self.corpus,
                "--cases",
                &cases,
                "--seed",
                &self.seed,
            ];
            add("drift".to_owned(), &words, true);
        }
        if !self.starts {
            add("suite".to_owned(), &["suite"], false);
        }
        parts.retain(|part| self.only.is_empty() || self.only.iter().any(|only| part.name.starts_with(only)));
        parts
    }
}

/// An intended difference.
struct Explained {
    part: Regex,
    place: Regex,
}

/// The known differences between two builds.
struct Known {
    renamed: BTreeMap<String, String>,
    explained: Vec<Explained>,
}

impl Known {
    fn read() -> Result<Known> {
        let table: toml::Table = include_str!("../same-reports.toml").parse()?;
        let renamed = table.get("renamed").and_then(toml::Value::as_table).into_iter().flatten();
        let renamed =
            renamed.filter_map(|(old, new)| Some((old.clone(), new.as_str()?.to_owned()))).collect();
        let mut explained = Vec::new();
        for entry in table.get("explained").and_then(toml::Value::as_array).into_iter().flatten() {
            let regex = |key: &str, around: &str| {
                let text =
                    entry.get(key).and_then(toml::Value::as_str).with_context(|| format!("no {key}"))?;
                Ok::<_, anyhow::Error>(Regex::new(&around.replace('#', text))?)
            };
            explained.push(Explained { part: regex("part", "^(?:#)$")?, place: regex("place", "#")? });
        }
        Ok(Known { renamed, explained })
    }

    fn explains(&self, part: &str, place: &str) -> bool {
        self.explained.iter().any(|entry| entry.part.is_match(part) && entry.place.is_match(place))
    }

    /// Returns the value with its fields renamed.
    fn renamed(&self, value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let renamed =
                    |(key, value)| (self.renamed.get(&key).cloned().unwrap_or(key), self.renamed(value));
                Value::Object(fields.into_iter().map(renamed).collect())
            }
            Value::Array(entries) => entries.into_iter().map(|entry| self.renamed(entry)).collect(),
            value => value,
        }
    }
}

pub fn run(arguments: Arguments) -> Result<u8> {
    let known = Known::read()?;
    let temporary = tempfile::Builder::new().prefix("same-reports.").tempdir()?;
    let folder = temporary.path();
    let extra = [shell_words::split(&arguments.old_args)?, shell_words::split(&arguments.new_args)?];
    let programs = [&arguments.old, &arguments.new];
    if arguments.starts {
        return count_starts(&arguments, programs, &extra, folder);
    }
    let mut status = 0;
    for part in arguments.parts(&arguments.subjects) {
        let began = Instant::now();
        let folders = [folder.join("old"), folder.join("new")];
        let mut wrong = Vec::new();
        for ((program, extra), into) in programs.iter().zip(&extra).zip(&folders) {
            let extra = if part.shows { &extra[..] } else { &[] };
            wrong.extend(work(program, &part, extra, into).err().map(|error| format!("{error:#}")));
        }
        let took = began.elapsed().as_secs();
        if !wrong.is_empty() {
            println!("{}: NOT COMPARED ({took} s): {}", part.name, wrong.join("; "));
            status = if status == 0 { NOT_TESTED } else { status };
        } else {
            let all = compare(&part.name, &folders, &known)?;
            let (meant, new): (Vec<_>, Vec<_>) =
                all.iter().partition(|(place, ..)| known.explains(&part.name, place));
            let summary =
                if new.is_empty() { "the same".to_owned() } else { format!("{} differences", new.len()) };
            let files = files(&folders[1]).len();
            println!("{}: {summary} in {files} files, {} explained ({took} s)", part.name, meant.len());
            for (place, old, new) in new.iter().take(SHOWN) {
                println!("    {place}\n        old {}\n        new {}", short(old), short(new));
            }
            status = if new.is_empty() { status } else { 1 };
        }
        for folder in folders {
            let _ = fs::remove_dir_all(folder);
        }
    }
    Ok(status)
}

/// Runs a program into a folder. The path is the same for both programs, because reports contain it.
fn work(program: &Path, part: &Part, extra: &[String], into: &Path) -> Result<()> {
    let at = into.with_file_name("out");
    let output =
        tools::answer(command(program, &part.words).arg("--out").arg(&at).args(extra).arg("--quiet"))?;
    if at.exists() {
        fs::rename(&at, into)?;
    }
    if !matches!(tools::status(&output), 0 | 1) || !into.exists() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{} {:?}: status {}: {}", program.display(), part.words, tools::status(&output), said.trim());
    }
    Ok(())
}

/// Returns the files of a folder by relative path, without files about time, machine and state.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let has_report = folder.join("report.json").exists();
    let all = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let named = all.filter_map(|entry| {
        let path = entry.into_path();
        Some((path.strip_prefix(folder).ok()?.to_string_lossy().into_owned(), path))
    });
    named
        .filter(|(_, path)| {
            !(has_report && (path.ends_with("manifest.json") || path.ends_with("state.json")))
        })
        .collect()
}

/// A difference between two folders: its location and both values.
type Difference = (String, Value, Value);

fn compare(part: &str, folders: &[PathBuf; 2], known: &Known) -> Result<Vec<Difference>> {
    let by_bytes = part.starts_with("gen ") || part == "suite";
    let [olds, news] = [files(&folders[0]), files(&folders[1])];
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        match (olds.get(name), news.get(name)) {
            (Some(old), Some(new)) => {
                let (old, new) = (content(old, by_bytes)?, content(new, by_bytes)?);
                let old = if by_bytes { old } else { known.renamed(old) };
                let mut places = Vec::new();
                differences(&old, &new, String::new(), &mut places);
                let named =
                    |path: String| if path.is_empty() { name.clone() } else { format!("{name}: {path}") };
                found.extend(places.into_iter().map(|(path, old, new)| (named(path), old, new)));
            }
            (old, new) => found.push((name.clone(), old.is_some().into(), new.is_some().into())),
        }
    }
    Ok(found)
}

/// Reads a file in the form in which it is compared.
fn content(path: &Path, by_bytes: bool) -> Result<Value> {
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let extension = path.extension().unwrap_or_default();
    Ok(if by_bytes {
        text.into()
    } else if extension == "json" {
        serde_json::from_str(&text)?
    } else if extension == "jsonl" {
        text.lines().map(serde_json::from_str).collect::<std::result::Result<Vec<Value>, _>>()?.into()
    } else {
        text.into()
    })
}

fn differences(old: &Value, new: &Value, path: String, found: &mut Vec<Difference>) {
    let pairs =
        |olds: BTreeMap<String, &Value>, news: BTreeMap<String, &Value>| -> Vec<(String, Value, Value)> {
            let keys: BTreeSet<String> = olds.keys().chain(news.keys()).cloned().collect();
            let value = |of: &BTreeMap<String, &Value>, key: &String| {
                of.get(key).map_or_else(|| "(none)".into(), |v| (*v).clone())
            };
            keys.into_iter().map(|key| (key.clone(), value(&olds, &key), value(&news, &key))).collect()
        };
    match (old, new) {
        _ if old == new => {}
        (Value::Object(olds), Value::Object(news)) => {
            let all = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            let of = |of| -> BTreeMap<String, &Value> {
                all(of).into_iter().map(|key| (key.clone(), &of[&key])).collect()
            };
            for (key, old, new) in pairs(of(olds), of(news)) {
                let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
                differences(&old, &new, inner, found);
            }
        }
        (Value::Array(olds), Value::Array(news)) => {
            for (key, old, new) in pairs(labelled(olds), labelled(news)) {
                differences(&old, &new, format!("{path}[{key}]"), found);
            }
        }
        _ => found.push((path, old.clone(), new.clone())),
    }
}

/// Returns the entries of a list by `id` or `name`, or by index if they have neither.
fn labelled(entries: &[Value]) -> BTreeMap<String, &Value> {
    let label = |(at, entry): (usize, &'_ Value)| {
        let name = ["id", "name"].into_iter().find_map(|key| entry.get(key)?.as_str());
        name.filter(|name| !name.is_empty()).map_or_else(|| at.to_string(), str::to_owned)
    };
    entries.iter().enumerate().map(|(at, entry)| (label((at, entry)), entry)).collect()
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() <= 160 { text } else { text.chars().take(157).collect::<String>() + "..." }
}

/// Counts starts of ptxas with a wrapper script. Fork servers are not used meanwhile, so every run is counted.
fn count_starts(
    arguments: &Arguments,
    programs: [&PathBuf; 2],
    extra: &[Vec<String>; 2],
    folder: &Path,
) -> Result<u8> {
    use std::os::unix::fs::PermissionsExt;
    let release = arguments.subjects[0].trim_start_matches("ptxas@");
    let ptxas = tools::said(&mut command(programs[1], ["toolchain", "path", release]))?;
    let (script, log) = (folder.join("ptxas"), folder.join("starts"));
    let (real, lines) = (shell_words::quote(ptxas.trim()), log.to_string_lossy());
    // Log for each start: the number of lines of the module (or `several` for several modules), and the status.
    let text = format!(
        "#!/bin/sh\n[ -f in.ptx ] || exec {real} \"$@\"\nlines=$(wc -l < in.ptx)\n[ -f 1.ptx ] && lines=several\n\
         {real} \"$@\"\nstatus=$?\necho \"$lines $status\" >> {}\nexit $status\n",
        shell_words::quote(&lines)
    );
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let subjects = [format!("ptxas:{}", script.display())];
    println!("| part | starts of the old build | of the new |\n| --- | ---: | ---: |");
    for part in arguments.parts(&subjects) {
        let mut cells = Vec::new();
        for (program, extra) in programs.iter().zip(extra) {
            fs::write(&log, "")?;
            let out = folder.join("counted");
            let spawned = [&extra[..], &["--start".to_owned(), "spawn".to_owned()]].concat();
            let done = work(program, &part, &spawned, &out);
            cells.push(done.map_or_else(|error| Ok(format!("{error:#}")), |()| causes(&log))?);
            let _ = fs::remove_dir_all(out);
        }
        println!("| {} | {} | {} |", part.name, cells[0], cells[1]);
    }
    Ok(0)
}

/// Summarizes the starts in a log.
fn causes(log: &Path) -> Result<String> {
    let text = fs::read_to_string(log)?;
    let starts: Vec<(&str, i32)> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(lines, status)| Some((lines, status.parse().ok()?)))
        .collect();
    let several = starts.iter().filter(|(lines, _)| *lines == "several").count();
    // The header takes three lines.
    let few =
        starts.iter().filter(|(lines, _)| lines.parse::<u32>().is_ok_and(|lines| lines < 3 + 8)).count();
    let died = starts.iter().filter(|(_, status)| *status > 128 && *status != 255).count();
    Ok(format!(
        "{}: {several} of several modules, {few} of fewer than eight lines; {died} died",
        starts.len()
    ))
}
