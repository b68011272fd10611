//! Runs campaigns of programs that are made as source text, by number. A subject must not crash, hang or
//! exhaust memory on any of them. Parts that the specification decides are judged like those of any other
//! program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use ptxsmith_diff::{Class, Header, ParsedProgram, PartVerdict, Trial, TrialVerdict, Verdict, judge_modules};
use ptxsmith_oracle::{Kernel, Rules, Validity, predict};
use ptxsmith_subject::SubjectSpec;
use ptxsmith_syntax::Module;

use crate::campaign::{Campaign, CampaignOutcome, ProgramSource};
use crate::failure::{Failure, of_subject};
use crate::judges::{self, JudgedTrial, trial_of};
use crate::pool::{Budget, each, lock_of};
use crate::session::Session;
use crate::store::ExistingCampaign;
use crate::subjects::{TestSubject, ensure_disassembler, open_subjects, target_for};

/// The number of programs to run together. Most are rejected, and those need no separate start of the
/// subject. Kernels with the same header share a module, because disassembling it costs as much as ten
/// starts.
const TOGETHER: u64 = 512;

/// The subjects and limits of a campaign.
pub struct TextOptions {
    /// The implementations under test; empty for the default one.
    pub subjects: Vec<SubjectSpec>,
    /// The time limit of a subject for one program.
    pub timeout: Option<Duration>,
    /// The number of programs.
    pub cases: Option<u64>,
    /// Whether to run until the session's time is over.
    pub unlimited: bool,
    /// The time to reduce all new findings together; `None` for no limit.
    pub reduce: Option<Duration>,
    /// Whether the report lists each subject's result for each program.
    pub by_case: bool,
    /// The directory for the report and the findings.
    pub out: PathBuf,
    /// Whether to remove the campaign in `out`, if there is one.
    pub replace: bool,
}

/// A source of numbered programs.
pub struct TextSource<'m> {
    /// The name of the campaign in its report.
    pub command: &'static str,
    /// The unit of work in the plural.
    pub unit: &'static str,
    /// The number of programs; `None` if unlimited.
    pub count: Option<u64>,
    /// Returns the program with a number, with its name.
    pub make: &'m (dyn Fn(u64) -> ProgramSource + Sync),
}

/// The number of programs by the specification's verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValidityCounts {
    /// Valid programs.
    pub valid: u64,
    /// Invalid programs.
    pub refused: u64,
    /// Programs in which the specification does not decide every part.
    pub undecided: u64,
    /// Programs that were compared at least in part, for any subject.
    pub compared: u64,
}

/// Runs programs on the subjects, and counts the specification's verdicts.
///
/// # Errors
/// If no subject can be opened, or this machine or our code fails.
pub fn judge_texts(
    session: &Session,
    options: &TextOptions,
    texts: &TextSource<'_>,
) -> Result<(CampaignOutcome, ValidityCounts), Failure> {
    ensure_disassembler(session, &options.subjects)?;
    let subjects = open_subjects(session, &options.subjects, options.timeout)?;
    let earlier = if options.replace { ExistingCampaign::Replace } else { ExistingCampaign::Refuse };
    let out = Some(options.out.clone());
    let mut campaign = Campaign::new(session, texts.command, texts.unit, subjects, out, earlier)?;
    campaign.reduce_for = options.reduce;
    if options.by_case {
        campaign.report_by_case();
    }
    let campaign = campaign;
    let cases = match (options.cases, texts.count) {
        (Some(cases), Some(count)) => Some(cases.min(count)),
        (one, other) => one.or(other),
    };
    let tasks = cases.map(|cases| cases.div_ceil(TOGETHER));
    let budget = Budget { tasks, units: cases, ..Budget::default() };
    let tally = Mutex::new(ValidityCounts::default());
    let ended = each(session, budget, campaign.unit, |task, work| {
        let last = cases.unwrap_or(u64::MAX).min((task + 1) * TOGETHER);
        let numbers: Vec<u64> = (task * TOGETHER..last).collect();
        let counts = judge_some(&campaign, &numbers, texts.make)?;
        let mut tally = lock_of(&tally);
        tally.valid += counts.valid;
        tally.refused += counts.refused;
        tally.undecided += counts.undecided;
        tally.compared += counts.compared;
        work.done(numbers.len() as u64);
        work.say(campaign.so_far());
        Ok(())
    });
    let outcome = campaign.end(ended)?;
    Ok((outcome, *lock_of(&tally)))
}

/// A program ready to be run.
struct TextCase {
    number: u64,
    source: ProgramSource,
    module: Module,
    /// Whether it is a sequence of statements.
    is_read: bool,
    validity: Validity,
    /// Whether the result of each kernel is known at least in part.
    is_run: bool,
}

impl TextCase {
    fn new(number: u64, source: ProgramSource) -> TextCase {
        let parsed = ptxsmith_syntax::parse(&source.text);
        let is_read = parsed.is_ok();
        let module = parsed.unwrap_or_default();
        let prediction = predict(&module, &Rules::default());
        let validity = if is_read { prediction.validity() } else { Validity::Undecided };
        let is_run = !prediction.kernels.is_empty() && prediction.kernels.iter().all(Kernel::leaves_output);
        TextCase { number, source, module, is_read, validity, is_run }
    }
}

fn judge_some(
    campaign: &Campaign<'_>,
    numbers: &[u64],
    make: &(dyn Fn(u64) -> ProgramSource + Sync),
) -> Result<ValidityCounts, Failure> {
    let programs: Vec<TextCase> = numbers.iter().map(|&number| TextCase::new(number, make(number))).collect();
    let mut tally = ValidityCounts::default();
    for TextCase { validity, .. } in &programs {
        match validity {
            Validity::Valid => tally.valid += 1,
            Validity::Refused => tally.refused += 1,
            Validity::Undecided => tally.undecided += 1,
        }
    }
    let mut compared = vec![false; programs.len()];
    for tested in &campaign.subjects {
        let together = together(tested, &programs)?;
        let (indices, rest): (Vec<usize>, Vec<&TextCase>) =
            programs.iter().enumerate().filter(|(index, _)| !together.contains_key(index)).unzip();
        for (index, verdicts) in together {
            compared[index] |= enter_verdicts(campaign, tested, &programs[index], verdicts.into())?;
        }
        let targets: Vec<String> =
            rest.iter().map(|case| target_for(&case.module, tested.subject.description())).collect();
        let mut modules = Vec::new();
        for (case, target) in rest.iter().zip(&targets) {
            modules.push(ParsedProgram { module: &case.module, text: &case.source.text, target });
        }
        let judged = judge_modules(&*tested.subject, &tested.rules, &modules).map_err(of_subject)?;
        for ((case, verdicts), index) in rest.into_iter().zip(judged).zip(indices) {
            // If the program is not a sequence of statements, the only requirement is that no subject
            // crashes. Ignore derived programs, because campaigns of whole programs cover them.
            let mut parts = verdicts.parts();
            parts.retain(|part| part.derived.is_none() && (case.is_read || is_crash(part)));
            let verdicts = parts.into_iter().map(|part| part.judged(case.number)).collect();
            compared[index] |= enter_verdicts(campaign, tested, case, verdicts)?;
        }
    }
    tally.compared = compared.into_iter().filter(|&compared| compared).count() as u64;
    Ok(tally)
}

/// Records the verdicts on a program. Returns true if any of them compares something.
fn enter_verdicts(
    campaign: &Campaign<'_>,
    tested: &TestSubject,
    case: &TextCase,
    verdicts: Vec<TrialVerdict>,
) -> Result<bool, Failure> {
    let trial = trial_of(case.number, &case.module);
    let header = Header::of_module(&case.module);
    let compares = verdicts.iter().any(|judged| !matches!(judged.verdict, Verdict::NotCompared(_)));
    campaign.note_case(tested, &case.source, verdicts.iter().map(|judged| &judged.verdict));
    let trials = verdicts.into_iter().map(|judged| JudgedTrial { trial: &trial, header: &header, judged });
    campaign.enter(tested, trials, Some(&case.source))?;
    Ok(compares)
}

/// Judges programs that are accepted when many with the same header are combined into one module. Returns the
/// verdicts by index. Tries only programs with kernel results that are known in part. All other programs, and
/// programs that are rejected or differ, must be judged one by one.
fn together(
    tested: &TestSubject,
    programs: &[TextCase],
) -> Result<BTreeMap<usize, [TrialVerdict; 2]>, Failure> {
    let mut groups: BTreeMap<Header, Vec<usize>> = BTreeMap::new();
    for (index, case) in programs.iter().enumerate() {
        if case.is_run && case.validity != Validity::Refused {
            groups.entry(Header::of_module(&case.module)).or_default().push(index);
        }
    }
    let mut all = BTreeMap::new();
    for (header, indices) in groups.into_iter().filter(|(_, indices)| indices.len() > 1) {
        let mut trials: Vec<Trial> = Vec::new();
        for &index in &indices {
            trials.push(trial_of(programs[index].number, &programs[index].module));
        }
        let verdicts = judges::together(tested, &header, &trials.iter().collect::<Vec<_>>())?;
        for (position, mut verdicts) in verdicts {
            let index = indices[position];
            if programs[index].validity != Validity::Valid {
                verdicts.iter_mut().for_each(|judged| judged.requirement = None);
            }
            all.insert(index, verdicts);
        }
    }
    Ok(all)
}

fn is_crash(part: &PartVerdict) -> bool {
    match &part.verdict {
        Verdict::Deviates(difference) => matches!(difference.class, Class::Crash | Class::Hang),
        _ => false,
    }
}
