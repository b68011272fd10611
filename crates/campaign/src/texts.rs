//! Runs campaigns of programs that are made as source text, by number. Whatever the program, a subject must not crash,
//! hang or exhaust memory. Parts that the specification decides are judged like those of any other program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use ptxsmith_diff::{Class, Header, Judged, Part, ToJudge, Trial, Verdict, judge_modules};
use ptxsmith_oracle::{Kernel, Rules, Validity, predict};
use ptxsmith_subject::SubjectSpec;
use ptxsmith_syntax::Module;

use crate::campaign::{Campaign, Outcome, Source};
use crate::failure::{Failure, of_subject};
use crate::judges::{self, Entry, trial_of};
use crate::pool::{Budget, each, lock_of};
use crate::session::Session;
use crate::store::Earlier;
use crate::subjects::{Tested, ensure_disassembler, open_subjects, target_for};

/// The number of programs to run together. Most are rejected, and those need no separate start of the subject. Kernels
/// with the same header share a module, because disassembling it costs as much as ten starts.
const TOGETHER: u64 = 512;

/// The subjects and limits of a campaign.
pub struct Options {
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
pub struct Texts<'m> {
    /// The name of the campaign in its report.
    pub command: &'static str,
    /// The unit of work in the plural.
    pub unit: &'static str,
    /// The number of programs; `None` if unlimited.
    pub count: Option<u64>,
    /// Returns the program with a number, with its name.
    pub make: &'m (dyn Fn(u64) -> Source + Sync),
}

/// The number of programs by the specification's verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
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
    options: &Options,
    texts: &Texts<'_>,
) -> Result<(Outcome, Tally), Failure> {
    ensure_disassembler(session, &options.subjects)?;
    let subjects = open_subjects(session, &options.subjects, options.timeout)?;
    let earlier = if options.replace { Earlier::Replace } else { Earlier::Refuse };
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
    let tally = Mutex::new(Tally::default());
    let ended = each(session, budget, campaign.unit, |task, work| {
        let last = cases.unwrap_or(u64::MAX).min((task + 1) * TOGETHER);
        let numbers: Vec<u64> = (task * TOGETHER..last).collect();
        let own = judge_some(&campaign, &numbers, texts.make)?;
        let mut tally = lock_of(&tally);
        tally.valid += own.valid;
        tally.refused += own.refused;
        tally.undecided += own.undecided;
        tally.compared += own.compared;
        work.done(numbers.len() as u64);
        work.say(campaign.so_far());
        Ok(())
    });
    let outcome = campaign.end(ended)?;
    Ok((outcome, *lock_of(&tally)))
}

/// A program ready to be run.
struct Made {
    number: u64,
    source: Source,
    module: Module,
    /// Whether it is a sequence of statements.
    is_read: bool,
    validity: Validity,
    /// Whether the result of each kernel is known at least in part.
    is_run: bool,
}

impl Made {
    fn of(number: u64, source: Source) -> Made {
        let parsed = ptxsmith_syntax::parse(&source.text);
        let is_read = parsed.is_ok();
        let module = parsed.unwrap_or_default();
        let prediction = predict(&module, &Rules::default());
        let validity = if is_read { prediction.validity() } else { Validity::Undecided };
        let is_run = !prediction.kernels.is_empty() && prediction.kernels.iter().all(Kernel::leaves_output);
        Made { number, source, module, is_read, validity, is_run }
    }
}

fn judge_some(
    campaign: &Campaign<'_>,
    numbers: &[u64],
    make: &(dyn Fn(u64) -> Source + Sync),
) -> Result<Tally, Failure> {
    let programs: Vec<Made> = numbers.iter().map(|&number| Made::of(number, make(number))).collect();
    let mut tally = Tally::default();
    for Made { validity, .. } in &programs {
        match validity {
            Validity::Valid => tally.valid += 1,
            Validity::Refused => tally.refused += 1,
            Validity::Undecided => tally.undecided += 1,
        }
    }
    let mut compared = vec![false; programs.len()];
    for tested in &campaign.subjects {
        let together = together(tested, &programs)?;
        for (&at, verdicts) in &together {
            let (made, header) = (&programs[at], Header::of(&programs[at].module));
            let trial = trial_of(made.number, &made.module);
            let entry = |judged: &Judged| Entry { trial: &trial, header: &header, judged: judged.clone() };
            compared[at] |= verdicts.iter().any(|judged| !matches!(judged.verdict, Verdict::NotCompared(_)));
            campaign.note_case(tested, &made.source, verdicts.iter().map(|judged| &judged.verdict));
            campaign.enter(tested, verdicts.iter().map(entry), Some(&made.source))?;
        }
        let (places, programs): (Vec<usize>, Vec<&Made>) =
            programs.iter().enumerate().filter(|(at, _)| !together.contains_key(at)).unzip();
        let targets: Vec<String> =
            programs.iter().map(|made| target_for(&made.module, tested.subject.description())).collect();
        let shown = |(made, target)| {
            let (Made { module, source, .. }, target): (&&Made, &String) = (made, target);
            ToJudge { module, text: &source.text, target }
        };
        let shown: Vec<ToJudge<'_>> = programs.iter().zip(&targets).map(shown).collect();
        let judged = judge_modules(&*tested.subject, &Rules::default(), &shown).map_err(of_subject)?;
        for ((made, verdicts), at) in programs.iter().zip(judged).zip(places) {
            let (trial, header) = (trial_of(made.number, &made.module), Header::of(&made.module));
            // If the program is not a sequence of statements, the only requirement is that no subject crashes. Ignore
            // derived programs, because campaigns of whole programs cover them.
            let counts = |part: &Part| part.derived.is_none() && (made.is_read || died(part));
            let parts: Vec<Part> = verdicts.parts().into_iter().filter(counts).collect();
            campaign.note_case(tested, &made.source, parts.iter().map(|part| &part.verdict));
            compared[at] |= parts.iter().any(|part| !matches!(part.verdict, Verdict::NotCompared(_)));
            let entry =
                |part: Part| Entry { trial: &trial, header: &header, judged: part.judged(made.number) };
            campaign.enter(tested, parts.into_iter().map(entry), Some(&made.source))?;
        }
    }
    tally.compared = compared.into_iter().filter(|&compared| compared).count() as u64;
    Ok(tally)
}

/// Judges programs that are accepted when many with the same header are combined into one module. Returns the verdicts by
/// index. Tries only programs whose kernel results are known in part. The others, and those that are rejected or differ,
/// must be judged one by one.
fn together(tested: &Tested, programs: &[Made]) -> Result<BTreeMap<usize, [Judged; 2]>, Failure> {
    let mut groups: BTreeMap<Header, Vec<usize>> = BTreeMap::new();
    for (at, made) in programs.iter().enumerate() {
        if made.is_run && made.validity != Validity::Refused {
            groups.entry(Header::of(&made.module)).or_default().push(at);
        }
    }
    let mut all = BTreeMap::new();
    for (header, places) in groups.into_iter().filter(|(_, places)| places.len() > 1) {
        let trials = |at: &usize| trial_of(programs[*at].number, &programs[*at].module);
        let trials: Vec<Trial> = places.iter().map(trials).collect();
        let verdicts = judges::together(tested, &header, &trials.iter().collect::<Vec<_>>())?;
        all.extend(verdicts.into_iter().map(|(nth, mut verdicts)| {
            if programs[places[nth]].validity != Validity::Valid {
                verdicts.iter_mut().for_each(|judged| judged.must = None);
            }
            (places[nth], verdicts)
        }));
    }
    Ok(all)
}

fn died(part: &Part) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if matches!(difference.class, Class::Crash | Class::Hang))
}
