//! Reduces the programs of findings: the question that is put to a subject, and the order in which it is put.

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

/// What a smaller program has to show.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Which deviation, where the program may show several.
    pub expected: Option<&'a Expected>,
    /// Other releases and implementations that go on showing it, or not showing it.
    pub same_on: &'a [Tested],
    /// Whether a text that is no module keeps the lines of its header, where it shows the deviation with them too.
    pub headed: bool,
}

/// What reducing may cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// After this time the best program so far is the result.
    pub time: Option<Duration>,
    /// After this many programs the subject was asked about, too.
    pub programs: Option<u64>,
}

/// A finding with its minimized reproducer.
pub struct Shrunk {
    /// What the search found.
    pub reduced: Reduced,
    /// What the program shows.
    pub cause: Cause,
    /// How many processes of the subject it took.
    pub processes: u64,
    /// Other deviations that were met, each with the smallest program that showed it.
    pub others: BTreeMap<String, Program>,
    /// The names of the other deviations that the program showed as it was.
    pub besides: BTreeSet<String>,
}

/// Why there is nothing to reduce.
#[derive(Debug)]
pub enum Reluctance {
    /// The subject shows no deviation, or not the one that was expected.
    NothingShown,
    /// The subject is at odds with itself about the program, or about its company.
    NotReproducible,
    /// The program cannot be reduced as a tree: printed anew, it shows the finding no longer.
    OnlyAsText,
    /// It could not be told whether the program shows a deviation.
    CannotTell(String),
    /// This machine or our code failed.
    Failed(Error),
    /// Ctrl-C, before anything was found.
    Interrupted,
}

/// Reduces a program to the smallest one that shows the same deviation on the same subject for the same cause.
///
/// `text` is the program as it was found; it is reduced as PTX, or, if `as_text`, as tokens and characters. Each
/// smaller program that shows it is given to `on_better` at once, with the number of processes so far. The result does not depend on the number of jobs.
///
/// This is what a campaign calls for each new finding, with a budget.
///
/// # Errors
/// Says why there is no result; see [`Reluctance`].
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
        // Either the text as it was found shows it still, and the printed one does not, or nothing does.
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

/// The minimized reproducer that shows one cause alone, where a program shows it together with others: another type, which need
/// not be a lesser one, may be enough to part them.
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

/// The minimized reproducer of which the explanation, or what is suspected, predicts the same, if the subject bears it out; else
/// the smallest on the way to it that the subject does bear out. All the rest is prediction, and takes no process.
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
    // The last one is nearly always borne out. If not, something on the way was left out, or put in, that the
    // explanation does not know of, and the search goes on from before that.
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
