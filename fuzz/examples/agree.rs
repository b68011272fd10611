//! `agree --seeds A..B --cases N`: compares the oracle with the naive evaluator on N generated expressions per seed and on every
//! small program, and counts the compared answers. Stops at the first difference.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use ptxsmith_fuzz::agreement;
use ptxsmith_gen::{Body, Case, Coverage, Enumeration, Focus, Generator};

const USAGE: &str = "usage: agree --seeds A..B --cases N [--jobs J]";

struct Arguments {
    seeds: std::ops::Range<u64>,
    cases: u64,
    jobs: u64,
}

fn arguments() -> Option<Arguments> {
    let mut arguments = Arguments { seeds: 0..1, cases: 1_000_000, jobs: 1 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--seeds" => {
                let (from, to) = value.split_once("..")?;
                arguments.seeds = from.parse().ok()?..to.parse().ok()?;
            }
            "--cases" => arguments.cases = value.parse().ok()?,
            "--jobs" => arguments.jobs = value.parse().ok().filter(|&jobs| jobs > 0)?,
            _ => return None,
        }
    }
    Some(arguments)
}

/// Returns the number of compared answers. If two differ, prints the difference and returns `None`.
fn compared(case: &Case) -> Option<u64> {
    let Body::Expression { ty, expr, .. } = &case.body else { return Some(0) };
    match agreement(expr, *ty, (7, 8)) {
        Ok(compared) => Some(compared.into()),
        Err(failure) => {
            println!("case {}: {failure}", case.id);
            None
        }
    }
}

fn main() -> ExitCode {
    let Some(Arguments { seeds, cases, jobs }) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let (differs, expressions, answers) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let count = |case: &Case| match compared(case) {
        Some(compared) => {
            expressions.fetch_add(u64::from(compared > 0), Ordering::Relaxed);
            answers.fetch_add(compared, Ordering::Relaxed);
        }
        None => differs.store(true, Ordering::Relaxed),
    };
    let tell = |what: &str, started: Instant| {
        let (expressions, answers) =
            (expressions.swap(0, Ordering::Relaxed), answers.swap(0, Ordering::Relaxed));
        println!(
            "{what}: {expressions} expressions, {answers} answers compared, {:.1} s",
            started.elapsed().as_secs_f64()
        );
    };
    let started = Instant::now();
    let all = Enumeration::new(2);
    (0..all.count()).filter_map(|index| all.case(index)).for_each(|case| count(&case));
    tell("every small program", started);
    let generator = Generator::default();
    for seed in seeds {
        if differs.load(Ordering::Relaxed) {
            break;
        }
        let started = Instant::now();
        std::thread::scope(|scope| {
            for job in 0..jobs {
                let (generator, count, differs) = (&generator, &count, &differs);
                scope.spawn(move || {
                    let mut coverage = Coverage::new();
                    for index in (job..cases).step_by(jobs as usize) {
                        if differs.load(Ordering::Relaxed) {
                            break;
                        }
                        count(&generator.case(Focus::Expressions, seed, index, &mut coverage));
                    }
                });
            }
        });
        tell(&format!("seed {seed}"), started);
    }
    ExitCode::from(u8::from(differs.into_inner()))
}
