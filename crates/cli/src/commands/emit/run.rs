//! `ptxsmith emit run`: generate globals, compile, compare, reduce, report.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use ptxsmith_campaign::Outcome;
use ptxsmith_campaign::files::make_directory;
use ptxsmith_campaign::pool::{Budget, Ended, each, lock_of};
use ptxsmith_emit::generate::Generator;
use ptxsmith_emit::ir;
use ptxsmith_emit::judged::{Pair, Tester};
use ptxsmith_emit::ledger::Ledger;
use ptxsmith_emit::source::Source as _;

use super::args::Run;
use super::report::{Tested, Written, tested, write};
use super::{Opened, host, of_compiler, open_all};
use crate::commands::{Context, run::summed_up};
use crate::exit::{Exit, Failure};

/// The number of globals per compiler run.
const UNIT: u64 = 500;

/// The default number of globals, if neither a number nor a time is given.
const CASES: u64 = 5_000;

/// Runs a campaign and prints its result.
pub fn run(context: &Context, args: &Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    make_directory(&args.out)?;
    let session = context.session_for(args.time);
    let Opened { compilers, llcs } = open_all(context, &args.subjects, args.timeout)?;
    let host = if compilers.is_empty() { None } else { host(context, &session) };
    let pairs: Vec<Pair<'_>> =
        compilers.iter().map(|compiler| Pair { compiler: &**compiler, host: host.as_ref() }).collect();
    let pairs = Tests::new(&pairs, |seed, number| Generator::new(seed).global(number));
    let llcs = Tests::new(&llcs, ir::generate::global);
    let cases = match (args.cases, args.time) {
        (None, Some(_)) => None,
        (cases, _) => Some(cases.map_or(CASES, |cases| cases.get())),
    };
    let subjects = (pairs.testers.len() + llcs.testers.len()) as u64;
    let budget = Budget {
        tasks: cases.map(|cases| cases.div_ceil(UNIT).saturating_mul(subjects)),
        together: subjects,
        units: cases.map(|cases| cases.saturating_mul(subjects)),
    };
    // A task is one unit compiled by one compiler.
    let ended = each(&session, budget, "globals", |task, progress| {
        let (unit, subject) = (task / subjects, (task % subjects) as usize);
        let first = unit * UNIT;
        let numbers = first..(first + UNIT).min(cases.unwrap_or(u64::MAX));
        let count = numbers.end - numbers.start;
        let symptoms = match subject.checked_sub(pairs.testers.len()) {
            None => pairs.show(subject, session.seed, numbers),
            Some(subject) => llcs.show(subject, session.seed, numbers),
        };
        progress.say(format!("{} symptoms", symptoms?));
        progress.done(count);
        Ok(())
    })?;
    let until = session.limit.map(|limit| limit.end_is_cut());
    let is_over = || session.cancel.is_cancelled() || until.is_some_and(|until| Instant::now() >= until);
    let is_whole = ended == Ended::All;
    let mut all = pairs.tested(is_whole, &is_over)?;
    all.extend(llcs.tested(is_whole, &is_over)?);
    let report = write(&args.out, session.seed, is_whole, all)?;
    let outcome = Outcome { report, earlier: 0, interrupted: !is_whole, resumable: false, left_out: false };
    summed_up(context, &outcome, Some(&args.out), started, &args.presentation)
}

/// The compilers of one language, with the results of each.
struct Tests<'a, T: Tester> {
    testers: &'a [T],
    ledgers: Vec<Mutex<Ledger<T::Source>>>,
    generate: fn(u64, u64) -> T::Source,
}

impl<'a, T: Tester> Tests<'a, T>
where
    T::Source: Written,
{
    fn new(testers: &'a [T], generate: fn(u64, u64) -> T::Source) -> Self {
        Tests { testers, ledgers: testers.iter().map(|_| Mutex::default()).collect(), generate }
    }

    /// Shows the globals with these numbers to one compiler. Returns the number of symptoms seen.
    fn show(&self, subject: usize, seed: u64, numbers: Range<u64>) -> Result<usize, Failure> {
        let globals: Vec<T::Source> = numbers.map(|number| (self.generate)(seed, number)).collect();
        let globals: Vec<&T::Source> = globals.iter().collect();
        let judged = self.testers[subject].judge(&globals, None).map_err(of_compiler)?;
        let mut ledger = lock_of(&self.ledgers[subject]);
        for global in globals {
            if let Some(judged) = judged.get(&global.number()) {
                ledger.enter(global, judged);
            }
        }
        Ok(ledger.symptoms())
    }

    fn tested(self, is_whole: bool, is_over: &dyn Fn() -> bool) -> Result<Vec<Tested>, Failure> {
        let mut all = Vec::new();
        for (tester, ledger) in self.testers.iter().zip(self.ledgers) {
            let ledger = ledger.into_inner().expect("a panic ends the program");
            let found = match is_whole {
                true => ledger.findings(tester, is_over).map_err(of_compiler)?,
                false => Vec::new(),
            };
            all.push(tested(tester.description(), &ledger, &found));
        }
        Ok(all)
    }
}
