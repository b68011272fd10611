//! `ptxsmith emit run`: generate globals, compile, compare, reduce, report.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use ptxsmith_campaign::CampaignOutcome;
use ptxsmith_campaign::files::make_directory;
use ptxsmith_campaign::pool::{Budget, Completion, each, lock_of, map};
use ptxsmith_campaign::session::{Limit, Session};
use ptxsmith_emit::generate::GlobalGenerator;
use ptxsmith_emit::ir;
use ptxsmith_emit::judged::{GlobalResult, TestedCompiler, Tester};
use ptxsmith_emit::ledger::ResultLedger;
use ptxsmith_emit::source::TestGlobal as _;

use super::args::EmitRunArgs;
use super::assembler::{PtxSample, worse};
use super::report::{EmitterResults, SourceFormat, tested, write};
use super::{OpenedCompilers, host, of_compiler, open_all};
use crate::commands::{CommandContext, run::summed_up};
use crate::exit::{Exit, Failure};

/// The number of globals per compiler run.
const UNIT: u64 = 500;

/// The default number of globals, if neither a number nor a time is given.
const CASES: u64 = 5_000;

/// Runs a campaign and prints its result.
pub fn run(context: &CommandContext, args: &EmitRunArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    make_directory(&args.out)?;
    let mut session = context.session_for(args.time);
    // Each compiler has causes of its own, and nothing is reduced before the end.
    session.limit = session.limit.map(Limit::with_long_end);
    let OpenedCompilers { compilers, llcs } = open_all(context, &args.subjects, args.timeout)?;
    let host = if compilers.is_empty() { None } else { host(context, &session) };
    let pairs: Vec<TestedCompiler<'_>> = compilers
        .iter()
        .map(|compiler| TestedCompiler { compiler: &**compiler, host: host.as_ref() })
        .collect();
    let pairs = TesterGroup::new(&pairs, |seed, number| GlobalGenerator::new(seed).global(number));
    let llcs = TesterGroup::new(&llcs, ir::generate::global);
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
    let sample = PtxSample::new(args)?;
    // A task is one unit compiled by one compiler.
    let ended = each(&session, budget, "globals", |task, progress| {
        let unit = task / subjects;
        let subject = (task % subjects) as usize;
        let first = unit * UNIT;
        let numbers = first..(first + UNIT).min(cases.unwrap_or(u64::MAX));
        let count = numbers.end - numbers.start;
        let sample = sample.as_ref().filter(|sample| sample.has(unit)).map(|sample| (sample, unit));
        let symptoms = match subject.checked_sub(pairs.testers.len()) {
            None => pairs.show(subject, session.seed, numbers, sample),
            Some(subject) => llcs.show(subject, session.seed, numbers, sample),
        };
        progress.say(format!("{} symptoms", symptoms?));
        progress.done(count);
        Ok(())
    })?;
    let until = session.limit.map(|limit| limit.reduction_ends());
    let cancel = session.cancel.clone();
    let is_over = || cancel.is_cancelled() || until.is_some_and(|until| Instant::now() >= until);
    let is_whole = ended == Completion::All;
    // Each compiler gets its turn; `is_over` ends what it has no time for.
    let limit = session.limit.take();
    let mut all = pairs.tested(&session, is_whole, &is_over)?;
    all.extend(llcs.tested(&session, is_whole, &is_over)?);
    session.limit = limit;
    let report = write(&args.out, session.seed, is_whole, all)?;
    let outcome =
        CampaignOutcome { report, earlier: 0, interrupted: !is_whole, resumable: false, left_out: false };
    let exit = summed_up(context, &outcome, Some(&args.out), started, &args.presentation)?;
    match sample {
        Some(sample) if is_whole => Ok(worse(exit, sample.check(context, &session, args)?)),
        _ => Ok(exit),
    }
}

/// The compilers of a language, with the results of each.
struct TesterGroup<'a, T: Tester> {
    testers: &'a [T],
    ledgers: Vec<Mutex<ResultLedger<T::Global>>>,
    generate: fn(u64, u64) -> T::Global,
}

impl<'a, T: Tester> TesterGroup<'a, T>
where
    T::Global: SourceFormat,
{
    fn new(testers: &'a [T], generate: fn(u64, u64) -> T::Global) -> Self {
        TesterGroup { testers, ledgers: testers.iter().map(|_| Mutex::default()).collect(), generate }
    }

    /// Shows the globals with these numbers to one compiler. Returns the number of symptoms seen. Adds the PTX of
    /// those that are right to the sample.
    fn show(
        &self,
        subject: usize,
        seed: u64,
        numbers: Range<u64>,
        sample: Option<(&PtxSample, u64)>,
    ) -> Result<usize, Failure> {
        let tester = &self.testers[subject];
        let generated = numbers.map(|number| (self.generate)(seed, number));
        let globals: Vec<T::Global> = generated.map(|global| tester.fitted(global)).collect();
        let globals: Vec<&T::Global> = globals.iter().collect();
        let judged = tester.judge(&globals, None).map_err(of_compiler)?;
        if let Some((sample, unit)) = sample {
            let is_right = |global: &&&T::Global| match judged.get(&global.number()) {
                Some(GlobalResult::Compared(verdict)) => verdict.difference.is_none(),
                _ => false,
            };
            let right: Vec<&T::Global> = globals.iter().filter(is_right).copied().collect();
            if let Some(ptx) = tester.ptx(&right).map_err(of_compiler)? {
                sample.add(&tester.description().id, unit, &ptx)?;
            }
        }
        let mut ledger = lock_of(&self.ledgers[subject]);
        for global in globals {
            if let Some(judged) = judged.get(&global.number()) {
                ledger.enter(global, judged, tester.description());
            }
        }
        Ok(ledger.symptoms())
    }

    /// Reduces what each compiler has shown, if the run is whole.
    fn tested(
        self,
        session: &Session,
        is_whole: bool,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<EmitterResults>, Failure> {
        let ledgers = self.ledgers.into_iter();
        let ledgers = ledgers.map(|ledger| ledger.into_inner().expect("a panic ends the program"));
        let pairs: Vec<(&T, ResultLedger<T::Global>)> = self.testers.iter().zip(ledgers).collect();
        let reduced = map(session, &pairs, |(tester, ledger)| {
            let found = is_whole.then(|| ledger.findings(*tester, is_over));
            found.unwrap_or(Ok(Vec::new())).map_err(of_compiler)
        })?;
        let mut all = Vec::new();
        for ((tester, ledger), found) in pairs.iter().zip(reduced) {
            let found = match found {
                Some(found) => found,
                // What there was no time to reduce is reported as it is.
                None if is_whole => ledger.findings(*tester, &|| true).map_err(of_compiler)?,
                None => Vec::new(),
            };
            all.push(tested(*tester, ledger, &found)?);
        }
        Ok(all)
    }
}
