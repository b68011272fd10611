//! `same-reports`: compares two builds of ptxsmith on the same work: `gen` and `run` with every focus, `run
//! --exhaustive 1`, `check corpus`, `drift` and `suite`. Generated programs and the suite are compared byte
//! for byte; findings, verdicts and reports field by field, after fields are renamed according to
//! crates/xtask/same-reports.toml. Intended differences are counted. All others are printed and set
//! the exit status to 1. Status 3: a part could not be run.

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
const MOST_DIFFERENCES: usize = 5;

/// The two programs, and the work.
#[derive(clap::Args)]
pub struct SameReportsArguments {
    /// The older program
    #[arg(value_parser = tools::path)]
    old: PathBuf,
    /// The newer program
    #[arg(value_parser = tools::path)]
    new: PathBuf,
    /// An implementation to test; may be repeated
    #[arg(long = "subject", value_name = "SUBJECT", default_values = ["ptxas@12.0", "ptxas@13.5"])]
    subjects: Vec<String>,
    /// The number of cases of each focus
    #[arg(long, default_value = "3000")]
    cases: u64,
    /// The seed of the programs
    #[arg(long, default_value = "0")]
    seed: String,
    /// Only the parts with names that begin with this; may be repeated
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
    /// Compare nothing; count the starts of ptxas by each program, and their causes
    #[arg(long)]
    starts: bool,
}

/// A part of the work: its name, its arguments, and whether it runs an implementation.
struct WorkPart {
    name: String,
    words: Vec<String>,
    runs_subject: bool,
}

impl WorkPart {
    fn new(name: impl Into<String>, words: &[&str]) -> WorkPart {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        WorkPart { name: name.into(), words, runs_subject: false }
    }

    /// Creates a part that runs these subjects.
    fn with_subjects(name: impl Into<String>, words: &[&str], subjects: &[String]) -> WorkPart {
        let mut part = WorkPart { runs_subject: true, ..WorkPart::new(name, words) };
        part.words.extend(subjects.iter().flat_map(|subject| ["--subject".to_owned(), subject.clone()]));
        part
    }
}

impl SameReportsArguments {
    fn parts(&self, subjects: &[String]) -> Vec<WorkPart> {
        let mut parts = Vec::new();
        for focus in FOCUSES {
            // `gen` writes one file per case, and a tenth of the cases is enough to compare generators. A
            // kernel takes as long as twenty other cases.
            let count = (self.cases / 10).max(100).to_string();
            let cases = if focus == "operands" { (self.cases / 20).max(100) } else { self.cases }.to_string();
            if !self.starts {
                let words = ["gen", "--focus", focus, "--count", &count, "--seed", &self.seed];
                parts.push(WorkPart::new(format!("gen {focus}"), &words));
            }
            let words = ["run", "--focus", focus, "--cases", &cases, "--seed", &self.seed];
            parts.push(WorkPart::with_subjects(format!("run {focus}"), &words, subjects));
        }
        parts.push(WorkPart::with_subjects("exhaustive 1", &["run", "--exhaustive", "1"], subjects));
        parts.push(WorkPart::with_subjects("check corpus", &["check", &self.corpus], subjects));
        let releases: Vec<&str> =
            subjects.iter().filter_map(|subject| subject.strip_prefix("ptxas@")).collect();
        if let [first, .., last] = releases[..]
            && !self.starts
        {
            let cases = self.cases.to_string();
            let programs = ["--corpus", &self.corpus, "--cases", &cases, "--seed", &self.seed];
            let words = [&["drift", "--from", first, "--to", last][..], &programs].concat();
            parts.push(WorkPart { runs_subject: true, ..WorkPart::new("drift", &words) });
        }
        if !self.starts {
            parts.push(WorkPart::new("suite", &["suite"]));
        }
        parts.retain(|part| self.only.is_empty() || self.only.iter().any(|only| part.name.starts_with(only)));
        parts
    }
}

/// An intended difference.
struct IntendedDifference {
    part: Regex,
    place: Regex,
}

/// The intended differences between two builds.
struct IntendedDifferences {
    renamed: BTreeMap<String, String>,
    explained: Vec<IntendedDifference>,
}

impl IntendedDifferences {
    fn read() -> Result<IntendedDifferences> {
        let table: toml::Table = include_str!("../same-reports.toml").parse()?;
        let renamed = table.get("renamed").and_then(toml::Value::as_table).into_iter().flatten();
        let renamed =
            renamed.filter_map(|(old, new)| Some((old.clone(), new.as_str()?.to_owned()))).collect();
        let mut explained = Vec::new();
        for entry in table.get("explained").and_then(toml::Value::as_array).into_iter().flatten() {
            let part = format!("^(?:{})$", string_at(entry, "part")?);
            let place = string_at(entry, "place")?;
            explained.push(IntendedDifference { part: Regex::new(&part)?, place: Regex::new(place)? });
        }
        Ok(IntendedDifferences { renamed, explained })
    }

    fn explains(&self, part: &str, place: &str) -> bool {
        self.explained.iter().any(|entry| entry.part.is_match(part) && entry.place.is_match(place))
    }

    /// Returns the value with its fields renamed.
    fn rename_fields(&self, value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut renamed = serde_json::Map::new();
                for (key, value) in fields {
                    let key = self.renamed.get(&key).cloned().unwrap_or(key);
                    renamed.insert(key, self.rename_fields(value));
                }
                Value::Object(renamed)
            }
            Value::Array(entries) => entries.into_iter().map(|entry| self.rename_fields(entry)).collect(),
            value => value,
        }
    }
}

fn string_at<'t>(entry: &'t toml::Value, key: &str) -> Result<&'t str> {
    entry.get(key).and_then(toml::Value::as_str).with_context(|| format!("no {key}"))
}

pub fn run(arguments: SameReportsArguments) -> Result<u8> {
    let intended = IntendedDifferences::read()?;
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
        let mut errors = Vec::new();
        for ((program, extra), into) in programs.iter().zip(&extra).zip(&folders) {
            let extra = if part.runs_subject { &extra[..] } else { &[] };
            errors.extend(work(program, &part, extra, into).err().map(|error| format!("{error:#}")));
        }
        let took = began.elapsed().as_secs();
        if !errors.is_empty() {
            println!("{}: NOT COMPARED ({took} s): {}", part.name, errors.join("; "));
            status = if status == 0 { NOT_TESTED } else { status };
        } else {
            let differences = compare(&part.name, &folders, &intended)?;
            let (explained, new): (Vec<_>, Vec<_>) =
                differences.iter().partition(|(place, ..)| intended.explains(&part.name, place));
            let summary =
                if new.is_empty() { "the same".to_owned() } else { format!("{} differences", new.len()) };
            let files = files(&folders[1]).len();
            println!("{}: {summary} in {files} files, {} explained ({took} s)", part.name, explained.len());
            for (place, old, new) in new.iter().take(MOST_DIFFERENCES) {
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
fn work(program: &Path, part: &WorkPart, extra: &[String], into: &Path) -> Result<()> {
    let out = into.with_file_name("out");
    let mut run = command(program, &part.words);
    let output = tools::output_of(run.arg("--out").arg(&out).args(extra).arg("--quiet"))?;
    if out.exists() {
        fs::rename(&out, into)?;
    }
    if !matches!(tools::exit_status(&output), 0 | 1) || !into.exists() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = tools::exit_status(&output);
        bail!("{} {:?}: status {status}: {}", program.display(), part.words, messages.trim());
    }
    Ok(())
}

/// Returns the files of a folder by relative path, without files about time, machine and state.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let has_report = folder.join("report.json").exists();
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
        let is_left_out =
            has_report && matches!(entry.file_name().to_str(), Some("manifest.json" | "state.json"));
        if entry.file_type().is_file() && !is_left_out {
            let path = entry.into_path();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, path);
        }
    }
    files
}

/// A difference between two folders: its location and both values.
type Difference = (String, Value, Value);

fn compare(part: &str, folders: &[PathBuf; 2], intended: &IntendedDifferences) -> Result<Vec<Difference>> {
    let by_bytes = part.starts_with("gen ") || part == "suite";
    let [old_files, new_files] = [files(&folders[0]), files(&folders[1])];
    let names: BTreeSet<&String> = old_files.keys().chain(new_files.keys()).collect();
    let mut differences = Vec::new();
    for name in names {
        match (old_files.get(name), new_files.get(name)) {
            (Some(old), Some(new)) => {
                let old = content(old, by_bytes)?;
                let new = content(new, by_bytes)?;
                let old = if by_bytes { old } else { intended.rename_fields(old) };
                let mut in_file = Vec::new();
                collect_differences(&old, &new, String::new(), &mut in_file);
                for (path, old, new) in in_file {
                    let place = if path.is_empty() { name.clone() } else { format!("{name}: {path}") };
                    differences.push((place, old, new));
                }
            }
            (old, new) => differences.push((name.clone(), old.is_some().into(), new.is_some().into())),
        }
    }
    Ok(differences)
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

/// Collects the differences between two values at a path.
fn collect_differences(old: &Value, new: &Value, path: String, differences: &mut Vec<Difference>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, old, new) in pair_by_key(&by_key(old), &by_key(new)) {
                let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
                collect_differences(&old, &new, inner, differences);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for (label, old, new) in pair_by_key(&by_label(old), &by_label(new)) {
                collect_differences(&old, &new, format!("{path}[{label}]"), differences);
            }
        }
        _ => differences.push((path, old.clone(), new.clone())),
    }
}

/// Pairs the values with the same key. A value that only one side has is paired with `(none)`.
fn pair_by_key(
    old: &BTreeMap<String, &Value>,
    new: &BTreeMap<String, &Value>,
) -> Vec<(String, Value, Value)> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let pairs = keys.into_iter().map(|key| (key.clone(), value_or_none(old, key), value_or_none(new, key)));
    pairs.collect()
}

fn value_or_none(values: &BTreeMap<String, &Value>, key: &str) -> Value {
    values.get(key).map_or_else(|| "(none)".into(), |&value| value.clone())
}

fn by_key(fields: &serde_json::Map<String, Value>) -> BTreeMap<String, &Value> {
    fields.iter().map(|(key, value)| (key.clone(), value)).collect()
}

/// Returns the entries of a list by `id` or `name`, or by index if they have neither.
fn by_label(entries: &[Value]) -> BTreeMap<String, &Value> {
    entries.iter().enumerate().map(|(index, entry)| (label(index, entry), entry)).collect()
}

fn label(index: usize, entry: &Value) -> String {
    match ["id", "name"].into_iter().find_map(|key| entry.get(key)?.as_str()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => index.to_string(),
    }
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() <= 160 { text } else { text.chars().take(157).collect::<String>() + "..." }
}

/// Counts starts of ptxas with a wrapper script. Fork servers are not used meanwhile, so every run is
/// counted.
fn count_starts(
    arguments: &SameReportsArguments,
    programs: [&PathBuf; 2],
    extra: &[Vec<String>; 2],
    folder: &Path,
) -> Result<u8> {
    use std::os::unix::fs::PermissionsExt;
    let release = arguments.subjects[0].trim_start_matches("ptxas@");
    let ptxas = tools::stdout_of(&mut command(programs[1], ["toolchain", "path", release]))?;
    let script = folder.join("ptxas");
    let log = folder.join("starts");
    let real = shell_words::quote(ptxas.trim());
    let lines = log.to_string_lossy();
    // Log for each start: the number of lines of the module (or `several` for several modules), and the
    // status.
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
            cells.push(match work(program, &part, &spawned, &out) {
                Ok(()) => summarize_starts(&log)?,
                Err(error) => format!("{error:#}"),
            });
            let _ = fs::remove_dir_all(out);
        }
        println!("| {} | {} | {} |", part.name, cells[0], cells[1]);
    }
    Ok(0)
}

/// Summarizes the starts in a log.
fn summarize_starts(log: &Path) -> Result<String> {
    let text = fs::read_to_string(log)?;
    let fields = text.lines().filter_map(|line| line.split_once(' '));
    let starts: Vec<(&str, i32)> =
        fields.filter_map(|(lines, status)| Some((lines, status.parse().ok()?))).collect();
    let several = starts.iter().filter(|(lines, _)| *lines == "several").count();
    // The header takes three lines.
    let few =
        starts.iter().filter(|(lines, _)| lines.parse::<u32>().is_ok_and(|lines| lines < 3 + 8)).count();
    let crashed = starts.iter().filter(|(_, status)| *status > 128 && *status != 255).count();
    Ok(format!(
        "{}: {several} of several modules, {few} of fewer than eight lines; {crashed} died",
        starts.len()
    ))
}
