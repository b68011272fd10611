//! Reduces the programs of findings: the question to ask a subject, and the order in which candidates are
//! tried.

mod annotated;
mod cause;
mod counted;
mod machine;
mod question;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ptxsmith_diff::Class;
use ptxsmith_reduce::passes::TREE;
use ptxsmith_reduce::{Event, NotReducible, Program, ReduceOptions, SearchResult, reduce, slice};
use ptxsmith_subject::Error;
use ptxsmith_syntax::header_lines;

use crate::session::Session;
use crate::subjects::TestSubject;

pub use annotated::{ReductionOrigin, annotated};
pub use cause::{Cause, ExpectedDeviation};
use question::PreservedDeviation;
pub use question::{Bounds, SameCause};
pub use script::InterestingnessTest;

/// The properties that a smaller program must keep.
#[derive(Clone, Copy, Default)]
pub struct ReductionGoal<'a> {
    /// The deviation to preserve, if the program may show several.
    pub expected: Option<&'a ExpectedDeviation>,
    /// Other releases and implementations whose results must stay the same: deviating or not.
    pub same_on: &'a [TestSubject],
    /// Whether a program that we cannot parse should keep its header lines, if it shows the deviation with
    /// them too.
    pub headed: bool,
}

/// The budget of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReductionBudget {
    /// When this time is over, the best program so far is the result.
    pub time: Option<Duration>,
    /// The same after running this many programs on the subject.
    pub programs: Option<u64>,
}

/// A finding with its minimized reproducer.
pub struct ReducedFinding {
    /// The result of the search.
    pub reduced: SearchResult,
    /// The cause that the reproducer shows.
    pub cause: Cause,
    /// The number of subject processes started.
    pub processes: u64,
    /// Other deviations seen on the way, each with the smallest program that showed it.
    pub others: BTreeMap<String, Program>,
    /// The names of the other deviations that the original program showed.
    pub besides: BTreeSet<String>,
}

/// The reason why a program cannot be reduced.
#[derive(Debug)]
pub enum ReductionError {
    /// The subject shows no deviation, or not the expected one.
    NothingShown,
    /// The subject's results vary for this program, or depend on other declarations.
    NotReproducible,
    /// The program cannot be reduced as a tree, because it no longer shows the finding when reprinted.
    OnlyAsText,
    /// It is unknown whether the program shows a deviation, for this reason.
    CannotTell(String),
    /// This machine or our code failed.
    Failed(Error),
    /// The user pressed Ctrl-C before anything was found.
    Interrupted,
}

/// Reduces a program to the smallest one that shows the same deviation with the same cause on the same
/// subject.
///
/// `text` is the program as it was found. It is reduced as PTX, or, if `as_text`, as tokens and characters.
/// `on_better` receives each smaller program at once, with the number of processes so far. The result does
/// not depend on the number of jobs.
///
/// A campaign calls this for each new finding, with a budget.
///
/// # Errors
/// The reason why there is no result; see [`ReductionError`].
pub fn reduce_finding(
    session: &Session,
    tested: &TestSubject,
    text: &str,
    as_text: bool,
    wanted: ReductionGoal<'_>,
    budget: ReductionBudget,
    on_better: &mut dyn FnMut(&Program, u64),
) -> Result<ReducedFinding, ReductionError> {
    let processes = AtomicU64::new(0);
    let until = budget.time.map(|time| Instant::now() + time);
    let program = if as_text {
        Program::from_text(text)
    } else {
        Program::parse(text).map_err(|_| ReductionError::OnlyAsText)?
    };
    let limits = Bounds { jobs: session.jobs.get(), until, cancel: &session.cancel };
    let PreservedDeviation { mut cause, variable: failing, besides } =
        question::cause_of(tested, text, wanted.expected, &processes)?;
    let mut question = SameCause::new(tested, &cause, limits, &processes);
    question.keep_on(wanted.same_on, &program)?;
    let start = first_candidate(&program, failing.as_deref(), &cause, &mut question);
    if start != program {
        on_better(&start, processes.load(Ordering::Relaxed));
    }
    let options = ReduceOptions {
        keep_names_declared: cause.class() != Class::AcceptsInvalid,
        most: budget.programs.unwrap_or(u64::MAX),
    };
    let mut on_event = |event: Event<'_>| {
        if let Event::Better(better, _) = event {
            on_better(better, processes.load(Ordering::Relaxed));
        }
    };
    let mut reduced = match reduce(start, &mut question, &options, &mut on_event) {
        Ok(reduced) => reduced,
        Err(_) if session.cancel.is_cancelled() => return Err(ReductionError::Interrupted),
        Err(NotReducible::CannotTell(reason)) => return Err(ReductionError::CannotTell(reason)),
        // Either the original text still shows the finding but the reprinted one does not, or neither does.
        Err(_) if !as_text && question.yes(&Program::from_text(text)) => {
            return Err(ReductionError::OnlyAsText);
        }
        Err(_) => return Err(ReductionError::NotReproducible),
    };
    if as_text && wanted.headed {
        add_header(&mut reduced.program, &header_lines(text), &mut question);
    }
    let mut others = question.others;
    if let Some(narrowed) = cause.narrowed() {
        let mut question = SameCause::new(tested, &narrowed, limits, &processes);
        question.keep_on(wanted.same_on, &program)?;
        let shows_it_alone = shows_alone(&mut reduced, &mut question, &options, &mut on_event);
        others.append(&mut question.others);
        if shows_it_alone {
            cause = narrowed;
        }
    }
    let processes = processes.load(Ordering::Relaxed);
    Ok(ReducedFinding { reduced, cause, processes, others, besides })
}

/// Returns the program to begin with: the failing variable with the declarations that it needs, or the
/// program that the cause predicts, where they show the deviation too; otherwise the whole program.
fn first_candidate(
    program: &Program,
    failing: Option<&str>,
    cause: &Cause,
    question: &mut SameCause<'_>,
) -> Program {
    let mut start = program.clone();
    if let (Some(name), Some(module)) = (failing, program.module()) {
        let slice = slice(module, &[name]).and_then(|slice| Program::from_module(&slice));
        start = slice.filter(|slice| slice.is_smaller_than(program) && question.yes(slice)).unwrap_or(start);
    }
    if cause.predicts() && start.module().is_some() {
        start = led_by_prediction(start, question);
    }
    start
}

/// Puts the header lines before a program that has none, if it shows the deviation with them too.
fn add_header(program: &mut Program, header: &str, question: &mut SameCause<'_>) {
    if header_lines(program.text()).is_empty() {
        let headed = Program::from_text(header.to_owned() + program.text().trim_start());
        if question.yes(&headed) {
            *program = headed;
        }
    }
}

/// Whether the program, or one near it that then takes its place, shows the cause of the question alone.
fn shows_alone(
    reduced: &mut SearchResult,
    question: &mut SameCause<'_>,
    options: &ReduceOptions,
    on_event: &mut dyn FnMut(Event<'_>),
) -> bool {
    if reduced.program.module().is_some() && question.yes(&reduced.program) {
        return true;
    }
    let Some(alone) = reduced_alone(&reduced.program, question, options, on_event) else { return false };
    *reduced =
        SearchResult { steps: reduced.steps + alone.steps, asked: reduced.asked + alone.asked, ..alone };
    true
}

/// Returns the minimized reproducer that shows one cause alone, if the program shows it together with others.
/// Separating them may need another type that is not a smaller one.
fn reduced_alone(
    program: &Program,
    question: &mut SameCause<'_>,
    options: &ReduceOptions,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Option<SearchResult> {
    program.module()?;
    let types = TREE.iter().find(|pass| pass.name == "types")?;
    let mut candidates = (types.edits)(program).into_iter().filter_map(|edit| edit(program));
    let start = candidates.find(|candidate| question.yes(candidate))?;
    reduce(start, question, options, on_event).ok()
}

/// Reduces by prediction first: finds the smallest program for which the explanation, or a hypothesis, still
/// predicts the same, and returns it if the subject confirms it. Otherwise returns the smallest confirmed
/// program on the way to it. Prediction needs no subject process.
fn led_by_prediction(start: Program, question: &mut SameCause<'_>) -> Program {
    let mut steps = vec![start.clone()];
    let mut on_event = |event: Event<'_>| {
        if let Event::Better(better, _) = event {
            steps.push(better.clone());
        }
    };
    let mut predicted = question.prediction(&start);
    if reduce(start, &mut predicted, &ReduceOptions::default(), &mut on_event).is_err() {
        return steps.swap_remove(0);
    }
    // The subject nearly always confirms the last program. If not, some step added or removed a feature that
    // the explanation does not cover, so bisect to the last confirmed program.
    let mut confirmed = 0;
    let mut refuted = steps.len();
    let mut next = steps.len() - 1;
    while next > confirmed {
        if question.yes(&steps[next]) {
            confirmed = next;
        } else {
            refuted = next;
        }
        next = confirmed + (refuted - confirmed) / 2;
    }
    steps.swap_remove(confirmed)
}
