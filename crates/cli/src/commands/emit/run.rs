//! `ptxsmith emit run`: generate globals, compile, compare, reduce, report.

use std::sync::Mutex;
use std::time::Instant;

use ptxsmith_campaign::Outcome;
use ptxsmith_campaign::files::make_directory;
use ptxsmith_campaign::pool::{Budget, Ended, each, lock_of};
use ptxsmith_emit::generate::Generator;
use ptxsmith_emit::judged::Pair;
use ptxsmith_emit::ledger::{Found, Ledger};
use ptxsmith_emit::source::Global;

use super::args::Run;
use super::report::{Tested, write};
use super::{host, of_compiler, open_all};
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
    let compilers = open_all(context, &args.subjects, args.timeout)?;
    let host = host(context, &session);
    let pairs: Vec<Pair<'_>> =
        compilers.iter().map(|compiler| Pair { compiler: &**compiler, host: host.as_ref() }).collect();
    let ledgers: Vec<Mutex<Ledger>> = pairs.iter().map(|_| Mutex::default()).collect();
    let cases = match (args.cases, args.time) {
        (None, Some(_)) => None,
        (cases, _) => Some(cases.map_or(CASES, |cases| cases.get())),
    };
    let subjects = pairs.len() as u64;
    let budget = Budget {
        tasks: cases.map(|cases| cases.div_ceil(UNIT).saturating_mul(subjects)),
        together: subjects,
        units: cases.map(|cases| cases.saturating_mul(subjects)),
    };
    let generator = Generator::new(session.seed);
    // A task is one unit compiled by one compiler.
    let ended = each(&session, budget, "globals", |task, progress| {
        let (unit, subject) = (task / subjects, (task % subjects) as usize);
        let first = unit * UNIT;
        let last = (first + UNIT).min(cases.unwrap_or(u64::MAX));
        let globals: Vec<Global> = (first..last).map(|number| generator.global(number)).collect();
        let globals: Vec<&Global> = globals.iter().collect();
        let judged = pairs[subject].judge(&globals).map_err(of_compiler)?;
        let mut ledger = lock_of(&ledgers[subject]);
        for global in globals {
            if let Some(judged) = judged.get(&global.number) {
                ledger.enter(global, judged);
            }
        }
        progress.done(last - first);
        progress.say(format!("{} symptoms", ledger.symptoms()));
        Ok(())
    })?;
    let until = session.limit.map(|limit| limit.end_is_cut());
    let is_over = || session.cancel.is_cancelled() || until.is_some_and(|until| Instant::now() >= until);
    let mut tested = Vec::new();
    for (pair, ledger) in pairs.iter().zip(ledgers) {
        let ledger = ledger.into_inner().expect("a panic ends the program");
        let found: Vec<Found> = match ended {
            Ended::Interrupted => Vec::new(),
            Ended::All => ledger.findings(pair, &is_over).map_err(of_compiler)?,
        };
        tested.push(Tested { compiler: pair.compiler, ledger, found });
    }
    let report = write(&args.out, session.seed, ended == Ended::All, &tested)?;
    let outcome = Outcome {
        report,
        earlier: 0,
        interrupted: ended == Ended::Interrupted,
        resumable: false,
        left_out: false,
    };
    summed_up(context, &outcome, Some(&args.out), started, &args.presentation)
}
