//! From a program to the least one that the passes lead to.

use std::collections::BTreeSet;

use crate::names::Names;
use crate::passes::{self, Pass};
use crate::program::Program;
use crate::question::{Answer, Question};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether candidates that mention a name which they no longer declare are left out. They are no valid PTX, and the
    /// question may be too lenient to see it; so they are, unless validity itself is in question. Default: true.
    pub keep_names_declared: bool,
    /// After this many programs were answered for, the best so far is the result. Unlike a time, it is the same everywhere.
    /// Default: no limit.
    pub most: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { keep_names_declared: true, most: u64::MAX }
    }
}

/// Why a program cannot be reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The program itself answers no.
    NotInteresting,
    /// It answers yes to begin with, and then no: whatever is asked about does not depend on the program alone.
    NotReproducible,
    /// It could not be told.
    CannotTell(String),
}

/// What happens during a search.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// So many more programs were answered for.
    Asked(usize),
    /// This is smaller than the best program so far and answers yes; the pass that found it has this name.
    Better(&'a Program, &'static str),
}

/// Why a search came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// No neighbour of the result answers yes.
    Least,
    /// The question was over, or [the limit](Options::most) was reached.
    Stopped,
    /// The result answered no when it was asked a last time. It is the last program that answered yes twice.
    NotReproducible,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The smallest program that answered yes.
    pub program: Program,
    /// How many programs were answered for.
    pub asked: u64,
    /// How often a smaller one was found.
    pub steps: u64,
    /// How many could not be told, and were not taken.
    pub could_not_tell: u64,
    /// Why, for the first of them.
    pub doubt: Option<String>,
    /// Why the search came to its end.
    pub ended: Ended,
}

/// Asks a program twice, and says why it cannot be reduced.
///
/// # Errors
/// If it does not answer yes both times.
pub fn check(program: &Program, question: &mut dyn Question) -> Result<(), Objection> {
    match one(program, question) {
        Answer::Yes => {}
        Answer::No => return Err(Objection::NotInteresting),
        Answer::CannotTell(reason) => return Err(Objection::CannotTell(reason)),
    }
    match one(program, question) {
        Answer::Yes => Ok(()),
        Answer::No => Err(Objection::NotReproducible),
        Answer::CannotTell(reason) => Err(Objection::CannotTell(reason)),
    }
}

fn one(program: &Program, question: &mut dyn Question) -> Answer {
    let answer = question.ask(std::slice::from_ref(program)).into_iter().next();
    answer.unwrap_or_else(|| Answer::CannotTell("there is no answer".to_owned()))
}

/// Looks for the smallest program that answers yes, beginning with one that does.
///
/// Each pass is followed as long as it leads to smaller programs, the biggest cuts first, and all passes are gone
/// through until none does. A program that is taken is the first in the order of its pass that answers yes, so the
/// result depends on the answers alone, not on how they are come by.
///
/// # Errors
/// If the program does not answer yes twice; see [`check`].
pub fn reduce(
    program: Program,
    question: &mut dyn Question,
    options: &Options,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Reduced, Objection> {
    check(&program, question)?;
    on_event(Event::Asked(2));
    let tried = BTreeSet::from([program.text().to_owned()]);
    let taken = vec![program];
    let mut search =
        Search { question, options, on_event, taken, tried, asked: 2, could_not_tell: 0, doubt: None };
    let mut ended = search.run();
    if ended == Ended::Least && search.taken.len() > 1 {
        // A subject that answers by chance is noticed here at the latest.
        while let [.., _, last] = &search.taken[..]
            && one(last, search.question) == Answer::No
        {
            search.taken.pop();
            ended = Ended::NotReproducible;
        }
    }
    let steps = search.taken.len() as u64 - 1;
    let Search { asked, could_not_tell, doubt, mut taken, .. } = search;
    let program = taken.pop().expect("the first program stays");
    Ok(Reduced { program, asked, steps, could_not_tell, doubt, ended })
}

struct Search<'s> {
    question: &'s mut dyn Question,
    options: &'s Options,
    on_event: &'s mut dyn FnMut(Event<'_>),
    /// The programs that were the best, in order; never empty.
    taken: Vec<Program>,
    /// The texts that were answered for.
    tried: BTreeSet<String>,
    asked: u64,
    could_not_tell: u64,
    doubt: Option<String>,
}

/// How much text is asked about at once, to begin with and at most. Candidates of a large program take time to make, and
/// the first ones are the likeliest to be taken; those of a small one cost nothing.
const BYTES_AT_FIRST: usize = 64 << 10;
const BYTES_AT_MOST: usize = 4 << 20;

/// How many edits of a pass count as its biggest cuts.
const BIGGEST: usize = 16;

/// The longest text that is remembered as tried.
const REMEMBERED: usize = 16 << 10;

impl Search<'_> {
    fn best(&self) -> &Program {
        self.taken.last().expect("the first program stays")
    }

    fn run(&mut self) -> Ended {
        loop {
            let before = self.taken.len();
            for pass in passes::of(self.best()) {
                if self.follow(pass) == Ended::Stopped {
                    return Ended::Stopped;
                }
            }
            if self.taken.len() == before {
                return Ended::Least;
            }
        }
    }

    /// Takes smaller programs from one pass until none answers yes.
    fn follow(&mut self, pass: &'static Pass) -> Ended {
        // Where the last one was found the next one is most likely: what stands before has just answered no. But the
        // biggest cuts, which stand first, are worth another try.
        let mut from = 0;
        'smaller: loop {
            let best = self.best().clone();
            let names = best.module().map(Names::of);
            let edits = (pass.edits)(&best);
            let from_here = from.min(edits.len());
            let mut order = (from_here..edits.len()).chain(0..from_here).peekable();
            let mut bytes_at_once = BYTES_AT_FIRST;
            while order.peek().is_some() {
                let mut places = Vec::new();
                let mut candidates: Vec<Program> = Vec::new();
                let mut bytes = 0;
                while candidates.len() < self.question.at_once().max(1) && bytes < bytes_at_once {
                    let Some(place) = order.next() else { break };
                    let Some(candidate) = edits[place](&best) else { continue };
                    if self.is_worth_asking(&candidate, &best, names.as_ref()) {
                        bytes += candidate.text().len();
                        places.push(place);
                        candidates.push(candidate);
                    }
                }
                if candidates.is_empty() {
                    continue;
                }
                // Which candidates are asked about together depends on the number of jobs; how many are, must not.
                let left = self.options.most.saturating_sub(self.asked);
                candidates.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                if candidates.is_empty() || self.question.is_over() {
                    return Ended::Stopped;
                }
                if let Some(at) = self.first_yes(&candidates) {
                    from = if places[at] < BIGGEST { 0 } else { places[at] };
                    let better = candidates.swap_remove(at);
                    (self.on_event)(Event::Better(&better, pass.name));
                    self.taken.push(better);
                    continue 'smaller;
                }
                bytes_at_once = BYTES_AT_MOST.min(bytes_at_once * 4);
            }
            return if self.question.is_over() { Ended::Stopped } else { Ended::Least };
        }
    }

    fn is_worth_asking(&mut self, candidate: &Program, best: &Program, names: Option<&Names>) -> bool {
        if !candidate.is_smaller_than(best) {
            return false;
        }
        if self.options.keep_names_declared
            && let (Some(names), Some(module)) = (names, candidate.module())
            && names.break_in(&Names::of(module))
        {
            return false;
        }
        candidate.text().len() > REMEMBERED || self.tried.insert(candidate.text().to_owned())
    }

    fn first_yes(&mut self, candidates: &[Program]) -> Option<usize> {
        let answers = self.question.ask(candidates);
        let first = answers.iter().position(|answer| *answer == Answer::Yes);
        let answers = &answers[..first.map_or(answers.len(), |first| first + 1)];
        self.asked += answers.len() as u64;
        (self.on_event)(Event::Asked(answers.len()));
        for (answer, candidate) in answers.iter().zip(candidates) {
            if let Answer::CannotTell(reason) = answer {
                self.could_not_tell += 1;
                self.doubt.get_or_insert_with(|| reason.clone());
                // It may be told another time.
                self.tried.remove(candidate.text());
            }
        }
        // What was left out behind a yes was not answered for.
        for candidate in candidates.iter().skip(answers.len()) {
            self.tried.remove(candidate.text());
        }
        first
    }
}
