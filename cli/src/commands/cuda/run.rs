//! `ptxsmith cuda run`: generate, predict, ask compilers, compare, report.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ptxsmith_campaign::files::make_directory;
use ptxsmith_cuda::compare::{Coverage, Ledger, batch};
use ptxsmith_cuda::generate::Generator;
use ptxsmith_cuda::language::Case;
use ptxsmith_cuda::reading::Readings;
use ptxsmith_cuda::subjects::{Compiler, Error, OpenError, Options, Spec, open, parse_spec};
use ptxsmith_subject::toolchain::Toolchains;

use super::args::Run;
use super::report;
use crate::commands::Context;
use crate::exit::{Exit, Failure};

/// How many uses are shown at once. Starting a compiler costs as much as some hundreds of them.
const UNIT: u64 = 2_500;

/// How many uses are shown where neither a number nor a time is given.
const CASES: u64 = 25_000;

/// A compiler with what was found of it.
pub struct Tested {
    /// The compiler.
    pub compiler: Box<dyn Compiler>,
    /// What was found.
    pub ledger: Mutex<Ledger>,
}

/// Runs a campaign.
pub fn run(context: &Context, args: &Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    make_directory(&args.out)?;
    let tested = open_all(context, args)?;
    let campaign = Campaign { context, args, tested: &tested, coverage: Mutex::default() };
    let ended = campaign.work();
    let complete = ended.is_ok() && !context.cancel.is_cancelled();
    let exit = campaign.report(complete, started.elapsed())?;
    match ended {
        Err(failure @ Failure::Harness(_)) => Err(failure),
        _ => Ok(exit),
    }
}

/// Opens every subject, installing what is missing. One that is not there stops the campaign before it begins.
fn open_all(context: &Context, args: &Run) -> Result<Vec<Tested>, Failure> {
    let defaults = ["cicc@13.0", "cicc@13.5", "clang"];
    let specs: Vec<Spec> = if args.subjects.is_empty() {
        defaults.iter().filter_map(|text| parse_spec(text).ok()).collect()
    } else {
        args.subjects.clone()
    };
    let toolchains = Toolchains::of_user()?;
    let progress = |message: &str| context.console.note(message);
    let options = Options {
        toolchains: &toolchains,
        install: true,
        timeout: args.timeout,
        cancel: &context.cancel,
        progress: &progress,
    };
    let mut tested: Vec<Tested> = Vec::new();
    for spec in &specs {
        let opened = open(spec, &options).map_err(|error| match (spec, error) {
            _ if context.cancel.is_cancelled() => Failure::Interrupted,
            (Spec::Clang(Some(_)), error) => Failure::BadInput(error.to_string()),
            (_, error @ (OpenError::Install(_) | OpenError::Missing(_))) => {
                Failure::NoSubject(error.to_string())
            }
        })?;
        for compiler in opened {
            if !tested.iter().any(|known| known.compiler.description().id == compiler.description().id) {
                tested.push(Tested { compiler, ledger: Mutex::default() });
            }
        }
    }
    Ok(tested)
}

/// A campaign under way.
pub struct Campaign<'a> {
    /// The context.
    pub context: &'a Context,
    /// What was asked for.
    pub args: &'a Run,
    /// The compilers.
    pub tested: &'a [Tested],
    /// What the cases touched.
    pub coverage: Mutex<Coverage>,
}

impl Campaign<'_> {
    /// Shows unit after unit to every compiler, until the budget is spent.
    fn work(&self) -> Result<(), Failure> {
        let end = match (self.args.cases, self.args.time) {
            (Some(cases), _) => self.args.first.saturating_add(cases.get()),
            (None, Some(_)) => u64::MAX,
            (None, None) => self.args.first.saturating_add(CASES),
        };
        let deadline = self.args.time.map(|time| Instant::now() + time);
        let generator = Generator::new(self.context.seed);
        let bar = self.bar(end);
        let next = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let subjects = self.tested.len() as u64;
        // A task is one unit shown to one compiler.
        let work = || {
            loop {
                let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                if late || stop.load(Ordering::Relaxed) || self.context.cancel.is_cancelled() {
                    return;
                }
                let task = next.fetch_add(1, Ordering::Relaxed);
                let (unit, subject) = (task / subjects, task % subjects);
                let first = self.args.first.saturating_add(unit.saturating_mul(UNIT));
                if first >= end {
                    return;
                }
                let last = first.saturating_add(UNIT).min(end);
                let cases: Vec<Case> = (first..last).map(|id| generator.case(id)).collect();
                if subject == 0 {
                    let mut coverage = Coverage::default();
                    cases.iter().for_each(|case| coverage.note(case, Readings::default()));
                    let mut all = lock(&self.coverage);
                    all.clauses.extend(coverage.clauses);
                    all.productions.extend(coverage.productions);
                }
                let tested = &self.tested[subject as usize];
                match batch(&*tested.compiler, &cases, Readings::default()) {
                    Ok(ledger) => lock(&tested.ledger).merge(ledger),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        lock(&failure).get_or_insert(of_compiler(error));
                    }
                }
                bar.inc(last - first);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.context.jobs.get() {
                scope.spawn(work);
            }
        });
        bar.finish_and_clear();
        match failure.into_inner() {
            Ok(Some(failure)) => Err(failure),
            _ => Ok(()),
        }
    }

    fn bar(&self, end: u64) -> ProgressBar {
        if self.context.console.quiet {
            return ProgressBar::hidden();
        }
        let bar = if end == u64::MAX {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::new((end - self.args.first) * self.tested.len() as u64)
        };
        let style = ProgressStyle::with_template("{elapsed_precise} {bar:30} {human_pos} uses shown {msg}");
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    /// Writes the report and says what was found.
    fn report(&self, complete: bool, wall: Duration) -> Result<Exit, Failure> {
        report::save(self, complete)?;
        self.context.console.print(&report::summary(self, wall))?;
        let ledgers = self.tested.iter().map(|tested| lock(&tested.ledger));
        let (compared, news) = ledgers
            .fold((0, 0), |(compared, news), ledger| (compared + ledger.compared, news + ledger.news()));
        Ok(match (compared, news) {
            (0, _) if self.context.cancel.is_cancelled() => return Err(Failure::Interrupted),
            (0, _) => Exit::NothingCompared,
            (_, 0) => Exit::Success,
            _ => Exit::Deviation,
        })
    }

    /// Where a finding's program goes.
    pub fn file_of(&self, name: &str) -> std::path::PathBuf {
        Path::new(&self.args.out).join("findings").join(name)
    }
}

/// A lock that no panic can hold: a panic ends the program.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("a panic ends the program")
}

fn of_compiler(error: Error) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}
