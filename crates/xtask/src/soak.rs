//! `soak`: checks that a program that compiles many modules does not grow and leaves nothing behind. Every ten seconds
//! it prints the program's memory, its descriptors, its descendants and the zombies among them. The exit status is 1 if
//! the program fails, if memory or descriptors grow after the first tenth of the samples, if zombies persist, or if a
//! process or an unused scratch directory is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use crate::tools::{self, command};

const EVERY: Duration = Duration::from_secs(10);
/// The measures, each with the maximum growth.
const MEASURES: [(&str, u64); 4] =
    [("memory, MB", 16), ("descriptors", 8), ("descendants", 8), ("zombies", 0)];

pub fn run(given: &[String]) -> Result<u8> {
    let mut words = given.to_vec();
    if words.is_empty() {
        let rate =
            tools::built(true, &["-p", "ptxsmith-subject", "--example", "rate"])?.join("examples/rate");
        let jobs = tools::cores().to_string();
        words = [&*rate.to_string_lossy(), "ptxas", "1000000", &jobs].map(str::to_owned).to_vec();
    }
    let (began, clock) = (SystemTime::now(), Instant::now());
    let mut child = command(&words[0], &words[1..]).spawn()?;
    let (mut samples, mut seen) = (Vec::<[u64; 4]>::new(), BTreeSet::new());
    let (mut zombies, mut lasting) = (BTreeSet::new(), BTreeSet::new());
    let ended = loop {
        sleep(EVERY);
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let (family, now, mut sample) = sample(child.id());
        seen.extend(family);
        // A zombie counts only if it is in two consecutive samples: otherwise it was about to be reaped.
        lasting.extend(zombies.intersection(&now).copied());
        zombies = now;
        sample[3] = lasting.len() as u64;
        let shown = MEASURES.iter().zip(sample).map(|((name, _), value)| format!("{name} {value}"));
        println!("{} s: {}", clock.elapsed().as_secs(), shown.collect::<Vec<_>>().join(", "));
        samples.push(sample);
    };
    let (end, took) = (SystemTime::now(), clock.elapsed().as_secs());
    // Scratch directories of other programs are still written to within the time limit of a module, so wait longer than
    // that.
    sleep(Duration::from_secs(15));
    let mut wrong = Vec::new();
    if !ended.success() {
        wrong.push(ended.to_string());
    }
    let settled = &samples[samples.len() / 10..];
    for (at, (name, most)) in MEASURES.into_iter().enumerate() {
        // Use the minimum of three samples, since a sample may be taken at any stage of the work.
        let least = |of: &[[u64; 4]]| of.iter().map(|sample| sample[at]).min().unwrap_or_default();
        let (first, last) =
            (least(&settled[..settled.len().min(3)]), least(&settled[settled.len().saturating_sub(3)..]));
        if last > first + most {
            wrong.push(format!("{name}: {} more", last - first));
        }
    }
    let is_there = |pid: &&u32| Path::new("/proc").join(pid.to_string()).exists();
    wrong.extend(seen.iter().filter(is_there).map(|pid| format!("process {pid} is left")));
    wrong.extend(scratch(began, end).iter().map(|path| format!("{} is left", path.display())));
    match wrong.is_empty() {
        true => println!("nothing grew and nothing is left after {took} s"),
        false => println!("{}", wrong.join("\n")),
    }
    Ok(u8::from(!wrong.is_empty()))
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
    let mut family = BTreeSet::from([pid]);
    loop {
        let is_new =
            |(child, (_, parent)): (&u32, &(bool, u32))| family.contains(parent) && !family.contains(child);
        let found: Vec<u32> = states.iter().filter(|entry| is_new(*entry)).map(|(child, _)| *child).collect();
        if found.is_empty() {
            break;
        }
        family.extend(found);
    }
    family.remove(&pid);
    let zombies = family.iter().copied().filter(|child| states[child].0).collect();
    let own = Path::new("/proc").join(pid.to_string());
    let pages = fs::read_to_string(own.join("statm")).unwrap_or_default();
    let pages: u64 = pages.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or_default();
    let descriptors = fs::read_dir(own.join("fd")).into_iter().flatten().count() as u64;
    let memory = (pages * rustix::param::page_size() as u64) >> 20;
    let count = family.len() as u64;
    (family, zombies, [memory, descriptors, count, 0])
}

/// Returns scratch directories that were last changed during the run.
fn scratch(began: SystemTime, ended: SystemTime) -> Vec<PathBuf> {
    let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let entries = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let is_own = |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        entry.file_name().to_string_lossy().starts_with("ptxsmith-")
            && changed.is_ok_and(|changed| (began..ended).contains(&changed))
    };
    entries.filter(is_own).map(|entry| entry.path()).collect()
}
