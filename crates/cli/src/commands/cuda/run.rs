//! `ptxsmith cuda run`: generate, predict, run compilers, compare, report.

use std::sync::Mutex;
use std::time::Instant;

use ptxsmith_campaign::Session;
use ptxsmith_campaign::files::make_directory;
use ptxsmith_campaign::pool::{Budget, Completion, each, lock_of};
use ptxsmith_cuda::compare::{RuleCoverage, RuleLedger, batch};
use ptxsmith_cuda::generate::CaseGenerator;
use ptxsmith_cuda::language::CudaCase;
use ptxsmith_cuda::reading::RuleInterpretations;
use ptxsmith_cuda::subjects::{
    Compiler, CompilerError, CompilerSpec, OpenError, SubjectOptions, open, parse_spec,
};
use ptxsmith_subject::toolchain::Toolchains;

use super::args::CudaRunArgs;
use super::report::{CompilerResults, CudaCampaign};
use crate::commands::{CommandContext, worker};
use crate::exit::{Exit, Failure};

/// The number of uses per compiler run. Starting a compiler costs as much as compiling several hundred uses.
const UNIT: u64 = 2_500;

/// The default number of uses, if neither a number nor a time is given.
const CASES: u64 = 25_000;

/// Runs a campaign and prints its result.
pub fn run(context: &CommandContext, args: &CudaRunArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    make_directory(&args.out)?;
    let session = context.session_for(args.time);
    let compilers = open_all(context, args)?;
    let ledgers: Vec<Mutex<RuleLedger>> = compilers.iter().map(|_| Mutex::default()).collect();
    let coverage = Mutex::default();
    let ended = show_all(&session, args, &compilers, &ledgers, &coverage);
    let tested = compilers.into_iter().zip(&ledgers);
    let campaign = CudaCampaign {
        out: &args.out,
        seed: context.seed,
        complete: matches!(ended, Ok(Completion::All)),
        tested: tested
            .map(|(compiler, ledger)| CompilerResults {
                compiler,
                ledger: std::mem::take(&mut lock_of(ledger)),
            })
            .collect(),
        coverage: std::mem::take(&mut lock_of(&coverage)),
    };
    campaign.save()?;
    context.console.print(&campaign.summary(started.elapsed())?)?;
    let ended = ended?;
    let compared: u64 = campaign.tested.iter().map(|tested| tested.ledger.compared).sum();
    Ok(match (compared, campaign.news()) {
        (0, _) if ended == Completion::Interrupted => return Err(Failure::Interrupted),
        (0, _) => Exit::NothingCompared,
        (_, 0) => Exit::Success,
        _ => Exit::Deviation,
    })
}

/// Opens every subject and installs missing releases. An unavailable subject stops the campaign before it
/// begins.
fn open_all(context: &CommandContext, args: &CudaRunArgs) -> Result<Vec<Box<dyn Compiler>>, Failure> {
    let defaults = ["cicc@13.0", "cicc@13.5", "clang"];
    let specs: Vec<CompilerSpec> = if args.subjects.is_empty() {
        defaults.iter().filter_map(|text| parse_spec(text).ok()).collect()
    } else {
        args.subjects.clone()
    };
    let toolchains = Toolchains::for_user()?;

    let options = SubjectOptions {
        toolchains: &toolchains,
        install: true,
        timeout: args.timeout,
        cancel: &context.cancel,
        workers: worker::workers(),
        progress: &|message: &str| context.console.note(message),
    };
    let mut compilers: Vec<Box<dyn Compiler>> = Vec::new();
    for spec in &specs {
        let opened = open(spec, &options).map_err(|error| match (spec, error) {
            _ if context.cancel.is_cancelled() => Failure::Interrupted,
            (CompilerSpec::Clang(Some(_)), error) => Failure::BadInput(error.to_string()),
            (_, error @ (OpenError::Install(_) | OpenError::Missing(_))) => {
                Failure::NoSubject(error.to_string())
            }
        })?;
        for compiler in opened {
            if !compilers.iter().any(|known| known.description().id == compiler.description().id) {
                compilers.push(compiler);
            }
        }
    }
    Ok(compilers)
}

/// Runs every compiler on one unit after another, until the budget is spent.
fn show_all(
    session: &Session,
    args: &CudaRunArgs,
    compilers: &[Box<dyn Compiler>],
    ledgers: &[Mutex<RuleLedger>],
    coverage: &Mutex<RuleCoverage>,
) -> Result<Completion, Failure> {
    let subjects = compilers.len() as u64;
    let cases = match (args.cases, args.time) {
        (None, Some(_)) => None,
        (cases, _) => Some(cases.map_or(CASES, |cases| cases.get())),
    };
    let end = args.first.saturating_add(cases.unwrap_or(u64::MAX));
    // A task is one unit compiled by one compiler.
    let budget = Budget {
        tasks: cases.map(|cases| cases.div_ceil(UNIT).saturating_mul(subjects)),
        together: subjects,
        units: cases.map(|cases| cases.saturating_mul(subjects)),
    };
    let generator = CaseGenerator::new(session.seed);
    each(session, budget, "uses shown", |task, progress| {
        let unit = task / subjects;
        let subject = (task % subjects) as usize;
        let first = args.first.saturating_add(unit.saturating_mul(UNIT));
        let last = first.saturating_add(UNIT).min(end);
        let cases: Vec<CudaCase> = (first..last).map(|id| generator.case(id)).collect();
        if subject == 0 {
            let mut coverage = lock_of(coverage);
            cases.iter().for_each(|case| coverage.note(case, RuleInterpretations::default()));
        }
        let ledger =
            batch(&*compilers[subject], &cases, RuleInterpretations::default()).map_err(of_compiler)?;
        lock_of(&ledgers[subject]).merge(ledger);
        progress.done(last - first);
        Ok(())
    })
}

fn of_compiler(error: CompilerError) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}
