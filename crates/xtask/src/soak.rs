//! `soak`: checks that a program that compiles many modules does not grow and leaves nothing behind. Every
//! ten seconds it prints the program's memory, its descriptors, its descendants and the zombies among them.
//! The exit status is 1 if the program fails, if memory or descriptors grow after the first tenth of the
//! samples, if a zombie is in two successive samples (in one only, it was about to be reaped), or if a
//! process or an unused scratch directory is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use crate::tools::{self, command};

const INTERVAL: Duration = Duration::from_secs(10);
/// The measures, each with the maximum growth.
const MEASURES: [(&str, u64); 4] =
    [("memory, MB", 16), ("descriptors", 8), ("descendants", 8), ("zombies", 0)];

pub fn run(given: &[String]) -> Result<u8> {
    let mut words = given.to_vec();
    if words.is_empty() {
        let rate =
            tools::build(true, &["-p", "ptxsmith-subject", "--example", "rate"])?.join("examples/rate");
        let jobs = tools::cores().to_string();
        words = [&*rate.to_string_lossy(), "ptxas", "1000000", &jobs].map(str::to_owned).to_vec();
    }
    let began = SystemTime::now();
    let clock = Instant::now();
    let mut child = command(&words[0], &words[1..]).spawn()?;
    let mut samples: Vec<[u64; 4]> = Vec::new();
    let mut descendants = BTreeSet::new();
    let mut zombies = BTreeSet::new();
    let mut lasting_zombies = BTreeSet::new();
    let ended = loop {
        sleep(INTERVAL);
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let (current, current_zombies, mut sample) = sample(child.id());
        descendants.extend(current);
        // A zombie counts only if it is in two consecutive samples: otherwise it was about to be reaped.
        lasting_zombies.extend(zombies.intersection(&current_zombies).copied());
        zombies = current_zombies;
        sample[3] = lasting_zombies.len() as u64;
        let measures = MEASURES.iter().zip(sample).map(|((name, _), value)| format!("{name} {value}"));
        println!("{} s: {}", clock.elapsed().as_secs(), measures.collect::<Vec<_>>().join(", "));
        samples.push(sample);
    };
    let end = SystemTime::now();
    let took = clock.elapsed().as_secs();
    // Scratch directories of other programs are still written to within the time limit of a module, so wait
    // longer than that.
    sleep(Duration::from_secs(15));
    let mut errors = Vec::new();
    if !ended.success() {
        errors.push(ended.to_string());
    }
    let settled = &samples[samples.len() / 10..];
    for (measure, (name, most)) in MEASURES.into_iter().enumerate() {
        let first = minimum(&settled[..settled.len().min(3)], measure);
        let last = minimum(&settled[settled.len().saturating_sub(3)..], measure);
        if last > first + most {
            errors.push(format!("{name}: {} more", last - first));
        }
    }
    descendants.retain(|pid| Path::new("/proc").join(pid.to_string()).exists());
    errors.extend(descendants.iter().map(|pid| format!("process {pid} is left")));
    errors.extend(scratch_directories(began, end).iter().map(|path| format!("{} is left", path.display())));
    if errors.is_empty() {
        println!("nothing grew and nothing is left after {took} s");
        return Ok(0);
    }
    println!("{}", errors.join("\n"));
    Ok(1)
}

/// Returns the minimum of a measure in some samples. A single sample may be taken at any stage of the work.
fn minimum(samples: &[[u64; 4]], measure: usize) -> u64 {
    samples.iter().map(|sample| sample[measure]).min().unwrap_or_default()
}

/// Returns the descendants of a process, the zombies among them, and the measures except zombies.
fn sample(pid: u32) -> (BTreeSet<u32>, BTreeSet<u32>, [u64; 4]) {
    let mut states = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        if let (Some(number), Some(state), Some(parent)) = (number, fields.next(), fields.next()) {
            states.insert(number, (state == "Z", parent.parse::<u32>().unwrap_or_default()));
        }
    }
    let descendants = descendants(pid, &states);
    let zombies = descendants.iter().copied().filter(|child| states[child].0).collect();
    let process = Path::new("/proc").join(pid.to_string());
    let pages = fs::read_to_string(process.join("statm")).unwrap_or_default();
    let pages: u64 = pages.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or_default();
    let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().count() as u64;
    let memory = (pages * rustix::param::page_size() as u64) >> 20;
    let count = descendants.len() as u64;
    (descendants, zombies, [memory, descriptors, count, 0])
}

/// Returns the descendants of a process. `states` has for each process whether it is a zombie, and its
/// parent.
fn descendants(pid: u32, states: &BTreeMap<u32, (bool, u32)>) -> BTreeSet<u32> {
    let mut descendants = BTreeSet::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let children = states.iter().filter(|(_, (_, other))| *other == parent).map(|(&child, _)| child);
        parents.extend(children.filter(|&child| child != pid && descendants.insert(child)));
    }
    descendants
}

/// Returns scratch directories that were last changed during the run.
fn scratch_directories(began: SystemTime, ended: SystemTime) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for folder in [PathBuf::from("/dev/shm"), std::env::temp_dir()] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            let is_recent = changed.is_ok_and(|changed| (began..ended).contains(&changed));
            if is_recent && entry.file_name().to_string_lossy().starts_with("ptxsmith-") {
                directories.push(entry.path());
            }
        }
    }
    directories
}
