//! `attack`: treats ptxsmith as a hostile user, project, folder or implementation would, and counts the
//! results: hostile PTX, modules to link, editors, edited campaign files, misbehaving implementations and
//! compilers, mutated cubins, interruptions, full disks, hostile CUDA projects. Nothing leaves this machine.
//! The exit status is 1 after a panic, an abort, a hang, memory use above 2 GB, a lost finding, a file written
//! outside the folder, or executed code.

mod campaigns;
mod programs;
mod subjects;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::tools::{self, command};

const MOST_TIME: Duration = Duration::from_secs(60);
const MOST_MEMORY: u64 = 2 << 20; // KiB
/// Longer than the promised two seconds, because the machine may be busy.
const TIME_TO_STOP: Duration = Duration::from_secs(5);
/// A part of the attack.
type AttackPart = fn(&mut Attack) -> Result<()>;

const PARTS: [(&str, AttackPart); 10] = [
    ("ptx", programs::ptx),
    ("links", programs::links),
    ("editor", programs::editor),
    ("files", campaigns::files),
    ("subjects", subjects::subjects),
    ("compilers", subjects::compilers),
    ("cubins", subjects::cubins),
    ("stops", campaigns::stops),
    ("disks", campaigns::disks),
    ("cuda", programs::cuda),
];

/// The parts of the attack and their size.
#[derive(clap::Args)]
pub struct AttackArguments {
    /// Some of ptx, links, editor, files, subjects, compilers, cubins, stops, disks, cuda [default: all]
    parts: Vec<String>,
    /// The share of each part that is run
    #[arg(long, default_value = "1")]
    share: f64,
    /// The seed of the random choices
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The state of an attack.
struct Attack {
    program: PathBuf,
    share: f64,
    random: fastrand::Rng,
    /// The folder for all generated files.
    work: PathBuf,
    /// A file that exists only if hostile code was executed or a file was written outside the folder.
    canary: PathBuf,
    /// The directory in which ptxsmith is started.
    elsewhere: PathBuf,
    counts: BTreeMap<&'static str, BTreeMap<i32, u32>>,
    bad: Vec<String>,
    notes: Vec<String>,
}

/// A run of ptxsmith.
struct AttackRun<'a> {
    words: &'a [String],
    allowed: &'a [i32],
    what: &'a str,
    /// A signal, and the delay before it is sent.
    stop: Option<(Signal, Duration)>,
    /// Shell commands that are executed first.
    before: &'a str,
    directory: Option<&'a Path>,
    environment: Option<(&'a str, &'a str)>,
}

impl<'a> AttackRun<'a> {
    fn new(words: &'a [String], allowed: &'a [i32], what: &'a str) -> AttackRun<'a> {
        AttackRun { words, allowed, what, stop: None, before: "", directory: None, environment: None }
    }
}

pub fn run(arguments: &AttackArguments) -> Result<u8> {
    if let Some(unknown) = arguments.parts.iter().find(|part| !PARTS.iter().any(|(name, _)| name == part)) {
        bail!("no part `{unknown}`; there are {}", PARTS.map(|(name, _)| name).join(", "));
    }
    let folder = tempfile::Builder::new().prefix("ptxsmith-attack-").tempdir()?;
    let work = folder.path().to_owned();
    let mut attack = Attack {
        program: tools::ptxsmith(true)?,
        share: arguments.share,
        random: fastrand::Rng::with_seed(arguments.seed),
        canary: work.join("canary"),
        elsewhere: work.join("elsewhere"),
        work,
        counts: BTreeMap::new(),
        bad: Vec::new(),
        notes: Vec::new(),
    };
    fs::create_dir(&attack.elsewhere)?;
    for (name, part) in PARTS {
        if arguments.parts.is_empty() || arguments.parts.iter().any(|wanted| wanted == name) {
            let began = Instant::now();
            part(&mut attack)?;
            println!("{name}: {} s", began.elapsed().as_secs());
        }
    }
    let mut runs = 0;
    for (part, counts) in &attack.counts {
        let total: u32 = counts.values().sum();
        let by_status = counts.iter().map(|(status, count)| format!("{count} with status {status}"));
        println!("{part}: {total} runs: {}", by_status.collect::<Vec<_>>().join(", "));
        runs += total;
    }
    attack.notes.iter().for_each(|note| println!("{note}"));
    attack.bad.iter().take(50).for_each(|bad| println!("MUST NOT HAPPEN: {bad}"));
    println!("{runs} runs, {} bad", attack.bad.len());
    Ok(u8::from(!attack.bad.is_empty()))
}

/// Converts the words of a command line.
fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Attack {
    fn times(&self, whole: u32) -> u32 {
        ((f64::from(whole) * self.share).round() as u32).max(1)
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.random.usize(..values.len())]
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.random.usize(..=most);
        (0..count).map(|_| self.random.u8(..)).collect()
    }

    fn note(&mut self, part: &str, text: &str) {
        self.notes.push(format!("{part}: {text}"));
    }

    fn fail(&mut self, part: &str, what: &str, text: &str) {
        let text: String = text.chars().take(400).collect();
        let line = format!("{part}: {what}: {text}");
        self.bad.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    /// Writes a subject's script. It fails on `--describe` and otherwise executes `body`.
    fn script(&self, name: &str, body: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        fs::write(&path, format!("[ \"$1\" = --describe ] && exit 1\n{body}\n"))?;
        Ok(path)
    }

    /// Returns the program under test, quoted for a shell.
    fn quoted(&self) -> String {
        shell_words::quote(&path_text(&self.program)).into_owned()
    }

    /// Runs ptxsmith and records forbidden results. Returns the exit status and all output.
    fn run(&mut self, part: &'static str, run: &AttackRun<'_>) -> Result<(i32, String)> {
        let mut files = [tempfile::tempfile()?, tempfile::tempfile()?];
        let mut command = if run.before.is_empty() {
            command(&self.program, run.words)
        } else {
            let script = format!("{}; exec \"$@\"", run.before);
            let mut shell = command("sh", ["-c", &script, "sh"]);
            shell.arg(&self.program).args(run.words);
            shell
        };
        // Start ptxsmith elsewhere, so that a misbehaving implementation cannot damage the user's directory.
        command.current_dir(run.directory.unwrap_or(&self.elsewhere)).envs(run.environment);
        command.stdin(Stdio::null()).stdout(files[0].try_clone()?).stderr(files[1].try_clone()?);
        let mut child = command.spawn()?;
        let (status, memory, late) = self.watch(part, run, &mut child)?;
        let [out, err] = &mut files;
        let out = beginning(out)?;
        let err = beginning(err)?;
        *self.counts.entry(part).or_default().entry(status).or_default() += 1;
        if memory > MOST_MEMORY {
            self.fail(part, run.what, &format!("{} MB of memory", memory >> 10));
        }
        if err.contains("panicked") || err.contains("internal error") {
            self.fail(part, run.what, &err);
        } else if !run.allowed.contains(&status) {
            self.fail(part, run.what, &format!("status {status}: {err}{out}"));
        }
        if let Some(late) = late.filter(|late| *late > TIME_TO_STOP) {
            self.fail(part, run.what, &format!("it took {:.1} s to stop", late.as_secs_f64()));
        }
        if self.canary.exists() {
            self.fail(part, run.what, "code was run, or a file was written elsewhere");
            fs::remove_file(&self.canary)?;
        }
        Ok((status, out + &err))
    }

    /// Waits for a program. Returns its exit status (negative for a signal), its peak memory in KiB, and the
    /// time between signal and end.
    fn watch(
        &mut self,
        part: &str,
        run: &AttackRun<'_>,
        child: &mut Child,
    ) -> Result<(i32, u64, Option<Duration>)> {
        let began = Instant::now();
        let mut sent: Option<Instant> = None;
        let mut memory = 0;
        loop {
            memory = memory.max(peak(child.id()));
            if let Some(ended) = child.try_wait()? {
                let signal = ended.signal().map_or(-1, |signal| -signal);
                return Ok((ended.code().unwrap_or(signal), memory, sent.map(|sent| sent.elapsed())));
            }
            if let (Some((signal, after)), None) = (run.stop, sent)
                && began.elapsed() >= after
            {
                kill_process(Pid::from_child(child), signal)?;
                sent = Some(Instant::now());
            }
            if began.elapsed() > MOST_TIME
                || sent.is_some_and(|sent| sent.elapsed() > Duration::from_secs(20))
            {
                child.kill()?;
                child.wait()?;
                self.fail(part, run.what, "it does not end");
                return Ok((-9, memory, None));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads the first 4 MiB of a file.
fn beginning(file: &mut fs::File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(4 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the peak memory of a process in KiB.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
