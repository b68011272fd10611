//! How many modules a second an implementation answers: `rate SUBJECT [MODULES [JOBS]]`.
//!
//! Each module is another one, of one variable. Each job (one, unless more are asked for) asks for its
//! modules one after the other, as the jobs of a campaign do, and ptxas is forked as it is there.
//! `cargo xtask soak` watches it. Like ptxsmith, it starts itself again as the worker that loads a library.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Instant;

use ptxsmith_subject::process::Start;
use ptxsmith_subject::worker::Workers;
use ptxsmith_subject::{OpenOptions, Outcome, Request, Subject, library, open, parse_spec};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["worker", kind, path, ref describe @ ..] => work(kind, Path::new(path), !describe.is_empty()),
        [spec] => measure(spec, 2_000, 1),
        [spec, count] => measure(spec, count.parse()?, 1),
        [spec, count, jobs] => measure(spec, count.parse()?, jobs.parse()?),
        _ => Err("write SUBJECT [MODULES [JOBS]]".into()),
    }
}

fn work(kind: &str, path: &Path, describe: bool) -> Result<(), Box<dyn Error>> {
    let kind = match kind {
        "nvjitlink" => library::LibraryKind::NvJitLink,
        "ptxjit" => library::LibraryKind::PtxCompiler,
        _ => return Err(format!("no worker of kind {kind}").into()),
    };
    match describe {
        true => library::describe(kind, path, io::stdout().lock())?,
        false => library::work(kind, path, io::stdin().lock(), io::stdout().lock())?,
    }
    Ok(())
}

fn measure(spec: &str, count: u32, jobs: u32) -> Result<(), Box<dyn Error>> {
    let workers = Workers { program: std::env::current_exe()?, args: vec!["worker".to_owned()] };
    let options = OpenOptions { workers: Some(workers), start: Start::fork(), ..OpenOptions::default() };
    for subject in open(&parse_spec(spec)?, &options)? {
        let ask =
            |indices: std::ops::Range<u32>| indices.into_iter().try_for_each(|index| ask(&*subject, index));
        // The first ones start the processes.
        at_once(jobs, |job| ask(job..job + 1))?;
        let started = Instant::now();
        at_once(jobs, |job| ask(count / jobs * job..count / jobs * (job + 1)))?;
        let (seconds, asked) = (started.elapsed().as_secs_f64(), count / jobs * jobs);
        println!(
            "{}: {asked} modules, {jobs} at once, in {seconds:.2} s: {:.0} a second",
            subject.id(),
            f64::from(asked) / seconds
        );
        if let Some(note) = subject.note() {
            println!("{note}");
        }
    }
    Ok(())
}

/// Does something in as many threads as there are jobs.
fn at_once(jobs: u32, work: impl Fn(u32) -> Result<(), String> + Sync) -> Result<(), String> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs)
            .map(|job| {
                scope.spawn({
                    let work = &work;
                    move || work(job)
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a job panicked")?)
    })
}

fn ask(subject: &dyn Subject, index: u32) -> Result<(), String> {
    let text = format!(".version 7.4\n.target sm_80\n.address_size 64\n.global .u32 x{index} = {index};\n");
    let observation = subject.observe(&Request::new(&text, "sm_80")).map_err(|error| error.to_string())?;
    let bytes =
        observation.variables.get(format!("x{index}").as_str()).and_then(|variable| variable.bytes.clone());
    match observation.outcome == Outcome::Accepted && bytes == Some(index.to_le_bytes().to_vec()) {
        true => Ok(()),
        false => Err(format!("module {index}: {observation:?}")),
    }
}
