//! The search for the smallest program that the passes can reach.

use std::collections::BTreeSet;

use crate::names::ModuleNames;
use crate::passes::{self, Pass};
use crate::program::Program;
use crate::question::{Answer, Question};

/// The options of a search.
#[derive(Clone, Debug)]
pub struct ReduceOptions {
    /// Whether to skip candidates that use a name without its declaration. Such candidates are not valid PTX,
    /// but a lenient question might accept them. Set this to false only if validity itself is in question.
    /// Default: true.
    pub keep_names_declared: bool,
    /// The maximum number of programs to ask about; then the best program so far is the result. Unlike a time
    /// limit, this gives the same result on every machine. Default: no limit.
    pub most: u64,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions { keep_names_declared: true, most: u64::MAX }
    }
}

/// The reason why a program cannot be reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReducible {
    /// The original program answers no.
    NotInteresting,
    /// The original program answers first yes and then no, so the answer does not depend on the program
    /// alone.
    NotReproducible,
    /// The answer for the original program is unknown.
    CannotTell(String),
}

/// An event during a search.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The question was answered for this number of additional programs.
    Asked(usize),
    /// A smaller program than the best so far answers yes. The string is the name of the pass that found it.
    Better(&'a Program, &'static str),
}

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// No neighbour of the result answers yes.
    Least,
    /// The question ran out of time, or [the limit](ReduceOptions::most) was reached.
    Stopped,
    /// The smallest program answered no when it was asked a last time. The result is the last program that
    /// answered yes twice.
    NotReproducible,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The smallest program that answered yes.
    pub program: Program,
    /// The number of programs for which the question was answered.
    pub asked: u64,
    /// The number of times that a smaller program was found.
    pub steps: u64,
    /// The number of programs with unknown answers, which were not used.
    pub could_not_tell: u64,
    /// The reason for the first unknown answer.
    pub doubt: Option<String>,
    /// The reason why the search ended.
    pub ended: SearchEnd,
}

/// Asks about a program twice, to check that it can be reduced.
///
/// # Errors
/// If the program does not answer yes both times.
pub fn check(program: &Program, question: &mut dyn Question) -> Result<(), NotReducible> {
    match ask_once(program, question) {
        Answer::Yes => {}
        Answer::No => return Err(NotReducible::NotInteresting),
        Answer::CannotTell(reason) => return Err(NotReducible::CannotTell(reason)),
    }
    match ask_once(program, question) {
        Answer::Yes => Ok(()),
        Answer::No => Err(NotReducible::NotReproducible),
        Answer::CannotTell(reason) => Err(NotReducible::CannotTell(reason)),
    }
}

fn ask_once(program: &Program, question: &mut dyn Question) -> Answer {
    let answer = question.ask(std::slice::from_ref(program)).into_iter().next();
    answer.unwrap_or_else(|| Answer::CannotTell("there is no answer".to_owned()))
}

/// Searches for the smallest program that answers yes, starting from one that does.
///
/// Each pass is repeated as long as it finds smaller programs, with its largest cuts first; all passes are
/// repeated until none finds one. The search always continues with the first program in the order of the pass
/// that answers yes. So the result depends only on the answers, not on how they are computed in parallel.
///
/// # Errors
/// If the program does not answer yes twice; see [`check`].
pub fn reduce(
    program: Program,
    question: &mut dyn Question,
    options: &ReduceOptions,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<SearchResult, NotReducible> {
    check(&program, question)?;
    on_event(Event::Asked(2));
    let tried = BTreeSet::from([program.text().to_owned()]);
    let smaller = vec![program];
    let mut search =
        Search { question, options, on_event, smaller, tried, asked: 2, could_not_tell: 0, doubt: None };
    let mut ended = search.run();
    if ended == SearchEnd::Least && search.smaller.len() > 1 {
        // A subject that answers at random is detected here at the latest.
        while let [.., _, last] = &search.smaller[..]
            && ask_once(last, search.question) == Answer::No
        {
            search.smaller.pop();
            ended = SearchEnd::NotReproducible;
        }
    }
    let steps = search.smaller.len() as u64 - 1;
    let Search { asked, could_not_tell, doubt, mut smaller, .. } = search;
    let program = smaller.pop().expect("the first program stays");
    Ok(SearchResult { program, asked, steps, could_not_tell, doubt, ended })
}

struct Search<'s> {
    question: &'s mut dyn Question,
    options: &'s ReduceOptions,
    on_event: &'s mut dyn FnMut(Event<'_>),
    /// The best programs so far, in order; never empty.
    smaller: Vec<Program>,
    /// The texts for which the question was already answered.
    tried: BTreeSet<String>,
    asked: u64,
    could_not_tell: u64,
    doubt: Option<String>,
}

/// The number of bytes of candidates to ask about in one call, at first and at most. Candidates of a large
/// program take time to create, and the first ones are the most likely to be accepted. Candidates of a small
/// program cost nothing.
const BYTES_AT_FIRST: usize = 64 << 10;
const BYTES_AT_MOST: usize = 4 << 20;

/// The number of edits at the start of a pass that count as its largest cuts.
const BIGGEST: usize = 16;

/// The maximum length in bytes of a text that is remembered as tried.
const REMEMBERED: usize = 16 << 10;

impl Search<'_> {
    fn best(&self) -> &Program {
        self.smaller.last().expect("the first program stays")
    }

    fn run(&mut self) -> SearchEnd {
        loop {
            let before = self.smaller.len();
            for pass in passes::passes_for(self.best()) {
                if self.follow(pass) == SearchEnd::Stopped {
                    return SearchEnd::Stopped;
                }
            }
            if self.smaller.len() == before {
                return SearchEnd::Least;
            }
        }
    }

    /// Follows one pass to smaller programs until no candidate answers yes. After a success, goes on at the
    /// place of the successful edit and around the list; at the front if it was one of the [`BIGGEST`] cuts.
    fn follow(&mut self, pass: &'static Pass) -> SearchEnd {
        // The next success is most likely where the last one was, because all earlier candidates have just
        // answered no. But the largest cuts, which come first, deserve another try.
        let mut from = 0;
        'smaller: loop {
            let best = self.best().clone();
            let names = best.module().map(ModuleNames::from_module);
            let edits = (pass.edits)(&best);
            let start = from.min(edits.len());
            let mut order = (start..edits.len()).chain(0..start).peekable();
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
                // The candidates in one call may depend on the number of jobs, but the total number of
                // questions must not.
                let allowed = self.options.most.saturating_sub(self.asked);
                candidates.truncate(usize::try_from(allowed).unwrap_or(usize::MAX));
                if candidates.is_empty() || self.question.is_over() {
                    return SearchEnd::Stopped;
                }
                if let Some(index) = self.first_yes(&candidates) {
                    from = if places[index] < BIGGEST { 0 } else { places[index] };
                    let better = candidates.swap_remove(index);
                    (self.on_event)(Event::Better(&better, pass.name));
                    self.smaller.push(better);
                    continue 'smaller;
                }
                bytes_at_once = BYTES_AT_MOST.min(bytes_at_once * 4);
            }
            return if self.question.is_over() { SearchEnd::Stopped } else { SearchEnd::Least };
        }
    }

    fn is_worth_asking(&mut self, candidate: &Program, best: &Program, names: Option<&ModuleNames>) -> bool {
        if !candidate.is_smaller_than(best) {
            return false;
        }
        if self.options.keep_names_declared
            && let (Some(names), Some(module)) = (names, candidate.module())
            && names.loses_declaration_in(&ModuleNames::from_module(module))
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
                // A later attempt may get an answer.
                self.tried.remove(candidate.text());
            }
        }
        // Candidates after the first yes may have no answer.
        for candidate in candidates.iter().skip(answers.len()) {
            self.tried.remove(candidate.text());
        }
        first
    }
}
