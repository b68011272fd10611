//! Runs a campaign of generated cases: generate, predict, observe, judge, report.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ptxsmith_diff::Header;
use ptxsmith_gen::Focus;
use ptxsmith_subject::SubjectSpec;

use crate::campaign::{Campaign, CampaignOutcome};
use crate::cases::{
    ANSWERS_OPTION, CASES_OPTION, Cases, WEIGHTS_OPTION, weights, wide_header, written_answers,
};
use crate::failure::Failure;
use crate::pool::{Budget, each, lock_of};
use crate::session::{Progress, Session};
use crate::store::{CampaignState, ExistingCampaign, Identity, PartialTask, Shard};
use crate::subjects::{TestSubject, ensure_disassembler, open_subjects};
use crate::task::{TaskCases, TaskVerdicts};

/// The options of a campaign of generated cases.
pub struct RunOptions {
    /// The implementations under test; empty for the default one.
    pub subjects: Vec<SubjectSpec>,
    /// The time limit of a subject for one module.
    pub timeout: Option<Duration>,
    /// The kind of programs to generate.
    pub focus: Focus,
    /// Instead of random programs, generate every program up to this depth.
    pub exhaustive: Option<u32>,
    /// A file with weights of the grammar's productions.
    pub weights: Option<PathBuf>,
    /// The number of cases. Without it, and without `unlimited`, a default applies.
    pub cases: Option<u64>,
    /// Whether to generate cases until the session's time is over.
    pub unlimited: bool,
    /// The time to reduce all new findings together; `None` for no limit.
    pub reduce: Option<Duration>,
    /// The output directory.
    pub out: PathBuf,
    /// Whether to resume the campaign in `out`, if there is one.
    pub resume: bool,
    /// Whether to remove the campaign in `out`, if there is one.
    pub replace: bool,
    /// The part of the campaign to run.
    pub shard: Shard,
}

/// The number of cases if neither a number nor a time is given. With the default focus it yields more than
/// 200,000 expressions and 20,000 aggregates, not counting the ones that the specification leaves open.
const CASES: u64 = 250_000;

/// Divides cases into tasks. The first tasks are short, so that results appear soon even for a subject that
/// is slow or deviates everywhere.
#[derive(Clone, Copy)]
struct Tasks {
    /// The number of tasks at the start that each have twice as many cases as the one before: 250, 500, 1000
    /// ...
    doubled: u32,
    /// The number of cases in each later task.
    most: u64,
}

impl Tasks {
    const FIRST: u64 = 250;

    /// Returns the division into tasks for this focus.
    ///
    /// Starting ptxas costs as much as some thousand expressions. The cost per array value falls with their
    /// number, up to some hundred thousand, but if all of them must be judged one by one, each uses more than
    /// 1 kB of memory. Declarations cost more, so their tasks are smaller.
    fn for_focus(focus: Focus) -> Tasks {
        match focus {
            Focus::Expressions => Tasks { doubled: 8, most: 64_000 },
            _ => Tasks { doubled: 5, most: 5_000 },
        }
    }

    fn start(self, task: u64) -> u64 {
        let doubled = u64::from(self.doubled);
        Self::FIRST * ((1 << task.min(doubled)) - 1) + task.saturating_sub(doubled) * self.most
    }

    /// Returns the cases of a task.
    fn cases(self, task: u64) -> Range<u64> {
        self.start(task)..self.start(task + 1)
    }

    /// Returns the number of tasks for this number of cases.
    fn count(self, cases: u64) -> u64 {
        let doubled = u64::from(self.doubled);
        let few = (0..doubled).find(|&task| self.start(task + 1) >= cases).map(|last| last + 1);
        few.unwrap_or_else(|| doubled + (cases - self.start(doubled)).div_ceil(self.most))
    }

    /// Adapts a saved state to this campaign if this one differs only in having more cases. A last task that
    /// was cut is continued at its first missing case. Otherwise returns false and changes nothing.
    fn raise(self, identity: &Identity, state: &mut CampaignState) -> bool {
        let mut saved = state.identity.clone();
        let Some(old) = cases_of(&saved) else { return false };
        match identity.options.get(CASES_OPTION) {
            Some(more) => drop(saved.options.insert(CASES_OPTION.to_owned(), more.clone())),
            None => drop(saved.options.remove(CASES_OPTION)),
        }
        let is_raised = old > 0 && cases_of(identity).is_none_or(|new| new > old);
        if !is_raised || identity.difference(&saved).is_some() {
            return false;
        }
        let last = self.count(old) - 1;
        if state.done.contains(last) && old < self.cases(last).end {
            state.done.remove_last(last);
            state.rest = Some(PartialTask { task: last, from: old });
        }
        true
    }
}

/// Returns the number of cases in the settings of a campaign; `None` if unlimited.
fn cases_of(identity: &Identity) -> Option<u64> {
    identity.options.get(CASES_OPTION)?.parse().ok()
}

/// A task that has not been run on all subjects yet.
struct OpenTask<'c> {
    /// Whether the task belongs to this shard and is not done yet.
    to_do: bool,
    cases: TaskCases<'c>,
    /// The verdicts by index of the subject; `None` if the task was skipped.
    judged: Mutex<BTreeMap<usize, Option<TaskVerdicts>>>,
}

/// One task in this many uses features of a later PTX version and target, if all subjects accept them.
const WIDE_EVERY: u64 = 8;

/// Runs a campaign.
///
/// # Errors
/// If an option or input of the user is wrong, no subject can be opened, or this machine or our code fails.
pub fn run(session: &Session, options: &RunOptions) -> Result<CampaignOutcome, Failure> {
    let mut identity = BTreeMap::from([("focus".to_owned(), options.focus.name().to_owned())]);
    let generator = cases_for(session, options, &mut identity)?;
    if options.focus == Focus::Operands {
        ensure_disassembler(session, &options.subjects)?;
    }
    let subjects = open_subjects(session, &options.subjects, options.timeout)?;
    let earlier = match (options.resume, options.replace) {
        (true, _) => ExistingCampaign::Resume,
        (_, true) => ExistingCampaign::Replace,
        _ => ExistingCampaign::Refuse,
    };
    let out = Some(options.out.clone());
    let mut campaign = Campaign::new(session, "run", "cases", subjects, out, earlier)?;
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let cases = match generator.count() {
        Some(all) if options.cases.is_none() => Some(all),
        Some(all) => cases.map(|cases| cases.min(all)),
        None => cases,
    };
    if !session.answers.is_empty() {
        identity.insert(ANSWERS_OPTION.to_owned(), written_answers(&session.answers));
    }
    if let Some(cases) = cases {
        identity.insert(CASES_OPTION.to_owned(), cases.to_string());
    }
    let supports_wide = campaign.subjects.iter().all(|tested| tested.supports(&wide_header()));
    let tasks = Tasks::for_focus(options.focus);
    // A campaign too short for a wide task must not count the productions of wide tasks as missing coverage.
    let is_long_enough = cases.is_none_or(|cases| tasks.count(cases) >= WIDE_EVERY);
    campaign.reduce_for = options.reduce;
    campaign.generator = generator.generator(supports_wide && is_long_enough);
    campaign.keep(
        identity_of(session, identity, &campaign.subjects),
        options.shard,
        supports_wide && is_long_enough,
        options.resume,
        |identity, state| tasks.raise(identity, state),
    )?;
    // Interleave the subjects: running them one after the other would leave threads idle at the end of each.
    let together = campaign.subjects.len() as u64;
    let number_of_tasks = cases.map(|cases| tasks.count(cases) * together);
    let budget = Budget { tasks: number_of_tasks, together, units: cases };
    let running = RunningTasks {
        campaign: &campaign,
        generator: &generator,
        tasks,
        end: cases.unwrap_or(u64::MAX),
        supports_wide,
        open: Mutex::default(),
    };
    let ended = each(session, budget, campaign.unit, |number, work| {
        running.run_on_subject(number / together, (number % together) as usize, work)
    });
    campaign.end(ended)
}

/// Returns the cases that the options ask for, and adds those options to the identity of the campaign.
fn cases_for(
    session: &Session,
    options: &RunOptions,
    identity: &mut BTreeMap<String, String>,
) -> Result<Cases, Failure> {
    if let Some(depth) = options.exhaustive {
        identity.insert("exhaustive".to_owned(), depth.to_string());
        return Ok(Cases::listed(depth));
    }
    let Some(path) = &options.weights else { return Ok(Cases::drawn(session.seed, options.focus, None)) };
    let (weights, text) = weights(path)?;
    identity.insert(WEIGHTS_OPTION.to_owned(), text);
    Ok(Cases::drawn(session.seed, options.focus, Some(weights)))
}

/// The tasks of a campaign while it runs.
struct RunningTasks<'c> {
    campaign: &'c Campaign<'c>,
    generator: &'c Cases,
    tasks: Tasks,
    /// The number of the first case that is not part of the campaign.
    end: u64,
    /// Whether all subjects accept the header of wide tasks.
    supports_wide: bool,
    /// The tasks that were started on some subject but not finished on all.
    open: Mutex<BTreeMap<u64, Arc<OpenTask<'c>>>>,
}

impl<'c> RunningTasks<'c> {
    /// Judges a task for one subject. Records the results after the last subject.
    fn run_on_subject(&self, task: u64, subject: usize, work: &dyn Progress) -> Result<(), Failure> {
        let open_task = Arc::clone(lock_of(&self.open).entry(task).or_insert_with(|| self.begin(task)));
        let verdicts = if open_task.to_do {
            Some(open_task.cases.judge(subject, &self.campaign.subjects[subject])?)
        } else {
            None
        };
        let verdicts = {
            let mut judged = lock_of(&open_task.judged);
            judged.insert(subject, verdicts);
            if judged.len() < self.campaign.subjects.len() {
                return Ok(());
            }
            std::mem::take(&mut *judged)
        };
        lock_of(&self.open).remove(&task);
        if open_task.to_do {
            let mut judgements = Vec::new();
            for ((subject, verdicts), tested) in verdicts.into_iter().zip(&self.campaign.subjects) {
                if let Some(verdicts) = verdicts {
                    judgements.push(open_task.cases.judgements(subject, tested, verdicts));
                }
            }
            self.campaign.commit(task, judgements, &open_task.cases.coverage())?;
            work.say(self.campaign.so_far());
        }
        work.done(open_task.cases.count());
        Ok(())
    }

    fn begin(&self, task: u64) -> Arc<OpenTask<'c>> {
        let subjects = &self.campaign.subjects;
        let Range { start, end } = self.tasks.cases(task);
        let range = self.campaign.first_case_of(task).unwrap_or(start)..end.min(self.end);
        let wide = self.supports_wide && task % WIDE_EVERY == WIDE_EVERY - 1;
        let headers: Vec<Header> = if wide {
            vec![wide_header(); subjects.len()]
        } else {
            subjects.iter().map(|tested| tested.header.clone()).collect()
        };
        let cases = TaskCases::new(self.generator, range, wide, subjects, headers);
        Arc::new(OpenTask { to_do: self.campaign.is_to_do(task), cases, judged: Mutex::default() })
    }
}

/// Returns the settings that two runs must share for their results to belong together.
fn identity_of(session: &Session, options: BTreeMap<String, String>, subjects: &[TestSubject]) -> Identity {
    let mut subject_names = Vec::new();
    for tested in subjects {
        let description = tested.subject.description();
        let build = description.sha256.as_deref().or(description.version.as_deref());
        subject_names.push(format!("{} {}", description.id, build.unwrap_or("-")));
    }
    Identity {
        ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
        build: env!("PTXSMITH_BUILD").to_owned(),
        command: "run".to_owned(),
        seed: session.seed,
        options,
        subjects: subject_names,
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_gen::Coverage;

    use super::*;

    #[test]
    fn a_budget_is_raised_and_what_the_last_task_lacked_is_done() {
        let identity = |seed, cases: Option<u64>| Identity {
            seed,
            options: cases.map(|cases| (CASES_OPTION.to_owned(), cases.to_string())).into_iter().collect(),
            ..Identity::default()
        };
        let tasks = Tasks::for_focus(Focus::Mixed);
        let mut state = CampaignState::new(identity(1, Some(1000)), Shard::ALL, &Coverage::new());
        // 250, 500, and 250 of the 1000 cases of the third.
        (0..3).for_each(|task| state.done.insert(task, Shard::ALL));
        for other in [identity(2, Some(2000)), identity(1, Some(900)), identity(1, Some(1000))] {
            assert!(!tasks.raise(&other, &mut state), "{other:?}");
        }
        assert!(state.done.contains(2));
        assert!(tasks.raise(&identity(1, None), &mut state));
        assert_eq!(state.rest, Some(PartialTask { task: 2, from: 1000 }));
        assert!(state.done.contains(1) && !state.done.contains(2));
        // A complete task stays done.
        let mut state = CampaignState::new(identity(1, Some(750)), Shard::ALL, &Coverage::new());
        (0..2).for_each(|task| state.done.insert(task, Shard::ALL));
        assert!(tasks.raise(&identity(1, Some(2000)), &mut state));
        assert!(state.done.contains(1) && state.rest.is_none());
    }

    #[test]
    fn the_tasks_cover_every_case_once() {
        for tasks in [Tasks::for_focus(Focus::Mixed), Tasks::for_focus(Focus::Expressions)] {
            let mut next = 0;
            for task in 0..20 {
                let cases = tasks.cases(task);
                assert!(
                    cases.start == next && (1..=tasks.most * 2).contains(&(cases.end - cases.start)),
                    "{task}: {cases:?}"
                );
                next = cases.end;
                assert_eq!([tasks.count(next), tasks.count(next + 1)], [task + 1, task + 2]);
            }
        }
        // 250, 500 ... 32,000, and 64,000 from there on.
        let expressions = Tasks::for_focus(Focus::Expressions);
        assert_eq!(
            [7, 8, 9].map(|task| expressions.cases(task)),
            [31_750..63_750, 63_750..127_750, 127_750..191_750]
        );
        let mixed = Tasks::for_focus(Focus::Mixed);
        for (cases, tasks) in [(1, 1), (250, 1), (251, 2), (7_750, 5), (7_751, 6), (12_750, 6), (12_751, 7)] {
            assert_eq!(mixed.count(cases), tasks, "{cases}");
        }
        assert_eq!(mixed.count(u64::MAX), (u64::MAX - 12_750).div_ceil(5_000) + 6);
    }
}
