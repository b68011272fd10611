//! Reduces the programs of findings: the question to ask a subject, and the order in which candidates are tried.

mod annotated;
mod cause;
mod counted;
mod question;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ptxsmith_diff::Class;
use ptxsmith_reduce::passes::TREE;
use ptxsmith_reduce::{Event, Objection, Options, Program, Reduced, reduce, slice};
use ptxsmith_subject::Error;
use ptxsmith_syntax::header_lines;

use crate::session::Session;
use crate::subjects::Tested;

pub use annotated::{Origin, annotated};
pub use cause::{Cause, Expected};
use question::Kept;
pub use question::{Bounds, SameCause};
pub use script::Script;

/// The properties that a smaller program must keep.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The deviation to preserve, if the program may show several.
    pub expected: Option<&'a Expected>,
    /// Other releases and implementations whose results must stay the same: deviating or not.
    pub same_on: &'a [Tested],
    /// Whether a program that we cannot parse should keep its header lines, if it shows the deviation with them too.
    pub headed: bool,
}

/// The budget of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// When this time is over, the best program so far is the result.
    pub time: Option<Duration>,
    /// The same after running this many programs on the subject.
    pub programs: Option<u64>,
}

/// A finding with its minimized reproducer.
pub struct Shrunk {
    /// The result of the search.
    pub reduced: Reduced,
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
pub enum Reluctance {
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

/// Reduces a program to the smallest one that shows the same deviation with the same cause on the same subject.
///
/// `text` is the program as it was found. It is reduced as PTX, or, if `as_text`, as tokens and characters. `on_better`
/// receives each smaller program at once, with the number of processes so far. The result does not depend on the number
/// of jobs.
///
/// A campaign calls this for each new finding, with a budget.
///
/// # Errors
/// The reason why there is no result; see [`Reluctance`].
pub fn reduce_finding(
    session: &Session,
    tested: &Tested,
    text: &str,
    as_text: bool,
    wanted: Wanted<'_>,
    budget: Budget,
    on_better: &mut dyn FnMut(&Program, u64),
) -> Result<Shrunk, Reluctance> {
    let processes = AtomicU64::new(0);
    let until = budget.time.map(|time| Instant::now() + time);
    let program = match as_text {
        true => Program::from_text(text),
        false => Program::parse(text).map_err(|_| Reluctance::OnlyAsText)?,
    };
    let limits = Bounds { jobs: session.jobs.get(), until, cancel: &session.cancel };
    let Kept { cause, variable: failing, besides } =
        question::cause_of(tested, text, wanted.expected, &processes)?;
    let mut question = SameCause::new(tested, &cause, limits, &processes);
    question.keep_on(wanted.same_on, &program)?;
    let mut start = program.clone();
    if let (Some(name), Some(module)) = (failing, program.module()) {
        let slice = slice(module, &[&name]).and_then(|slice| Program::of(&slice));
        start = slice.filter(|slice| slice.is_smaller_than(&program) && question.yes(slice)).unwrap_or(start);
    }
    if cause.predicts() && start.module().is_some() {
        start = led_by_prediction(start, &mut question);
    }
    if start != program {
        on_better(&start, processes.load(Ordering::Relaxed));
    }
    let options = Options {
        keep_names_declared: cause.class() != Class::AcceptsInvalid,
        most: budget.programs.unwrap_or(u64::MAX),
    };
    let mut on_event = |event: Event<'_>| {
        if let Event::Better(better, _) = event {
            on_better(better, processes.load(Ordering::Relaxed));
        }
    };
    let reduced = match reduce(start, &mut question, &options, &mut on_event) {
        Ok(reduced) => reduced,
        Err(_) if session.cancel.is_cancelled() => return Err(Reluctance::Interrupted),
        Err(Objection::CannotTell(reason)) => return Err(Reluctance::CannotTell(reason)),
        // Either the original text still shows the finding but the reprinted one does not, or neither does.
        Err(Objection::NotInteresting | Objection::NotReproducible) => {
            return Err(match question.yes(&Program::from_text(text)) {
                true if !as_text => Reluctance::OnlyAsText,
                _ => Reluctance::NotReproducible,
            });
        }
    };
    let mut reduced = reduced;
    if as_text && wanted.headed {
        let headed = Program::from_text(header_lines(text) + reduced.program.text().trim_start());
        let lacks_header = header_lines(reduced.program.text()).is_empty();
        if lacks_header && question.yes(&headed) {
            reduced.program = headed;
        }
    }
    let mut others = std::mem::take(&mut question.others);
    let mut cause = cause.clone();
    if let Some(narrowed) = cause.narrowed() {
        let mut question = SameCause::new(tested, &narrowed, limits, &processes);
        question.keep_on(wanted.same_on, &program)?;
        let mut is_alone = reduced.program.module().is_some() && question.yes(&reduced.program);
        if !is_alone
            && let Some(again) = shown_alone(&reduced.program, &mut question, &options, &mut on_event)
        {
            reduced =
                Reduced { steps: reduced.steps + again.steps, asked: reduced.asked + again.asked, ..again };
            others.append(&mut question.others);
            is_alone = true;
        }
        drop(question);
        if is_alone {
            cause = narrowed;
        }
    }
    let processes = processes.load(Ordering::Relaxed);
    Ok(Shrunk { reduced, cause, processes, others, besides })
}

/// Returns the minimized reproducer that shows one cause alone, if the program shows it together with others. Separating
/// them may need another type that is not a smaller one.
fn shown_alone(
    program: &Program,
    question: &mut SameCause<'_>,
    options: &Options,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Option<Reduced> {
    program.module()?;
    let types = TREE.iter().find(|pass| pass.name == "types")?;
    let mut candidates = (types.edits)(program).into_iter().filter_map(|edit| edit(program));
    let start = candidates.find(|candidate| question.yes(candidate))?;
    reduce(start, question, options, on_event).ok()
}

/// Reduces by prediction first: finds the smallest program for which the explanation, or a hypothesis, still predicts the
/// same, and returns it if the subject confirms it. Otherwise returns the smallest confirmed program on the way to it.
/// Prediction needs no subject process.
fn led_by_prediction(start: Program, question: &mut SameCause<'_>) -> Program {
    let mut way = vec![start.clone()];
    let mut on_event = |event: Event<'_>| {
        if let Event::Better(better, _) = event {
            way.push(better.clone());
        }
    };
    let mut predicted = question.prediction(&start);
    if reduce(start, &mut predicted, &Options::default(), &mut on_event).is_err() {
        return way.swap_remove(0);
    }
    // The subject nearly always confirms the last program. If not, some step added or removed a feature that the
    // explanation does not cover, so bisect to the last confirmed program.
    let (mut yes, mut no) = (0, way.len());
    let mut at = way.len() - 1;
    while at > yes {
        match question.yes(&way[at]) {
            true => yes = at,
            false => no = at,
        }
        at = yes + (no - yes) / 2;
    }
    way.swap_remove(yes)
}
