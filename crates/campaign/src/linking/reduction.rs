//! Reduces programs with several modules: removes modules, then reduces each module with the passes for single programs.

use std::time::{Duration, Instant};

use ptxsmith_diff::linking::Way;
use ptxsmith_reduce::{Answer, Options, Program, Question, reduce};

use super::{Example, Key, key, verdict};
use crate::failure::Failure;
use crate::session::Session;
use crate::subjects::Tested;

/// The most programs to try for one finding.
const MOST: u64 = 600;

/// The time and the programs available for reductions.
pub(super) struct Budget<'s> {
    session: &'s Session,
    until: Option<Instant>,
}

impl Budget<'_> {
    pub(super) fn new(session: &Session, limit: Option<Duration>) -> Budget<'_> {
        let of_session = session.limit.map(|limit| limit.reduction_ends());
        let own = limit.map(|limit| Instant::now() + limit);
        Budget { session, until: own.into_iter().chain(of_session).min() }
    }

    fn is_over(&self) -> bool {
        self.session.cancel.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Returns the smallest program that shows the same as an example, within the budget. Returns the example itself if it
/// does not reproduce.
pub(super) fn reduce_example(
    tested: &Tested,
    example: &Example,
    budget: &Budget<'_>,
) -> Result<Example, Failure> {
    let symptom = &key(&example.difference);
    let mut texts = example.texts.clone();
    let mut asked = 0;
    loop {
        let before = texts.clone();
        for place in (0..texts.len()).rev() {
            if texts.len() == 2 || budget.is_over() {
                break;
            }
            let mut fewer = texts.clone();
            fewer.remove(place);
            if shown(tested, symptom, &fewer)?.is_some() {
                texts = fewer;
            }
        }
        for place in 0..texts.len() {
            let Ok(program) = Program::parse(&texts[place]) else { continue };
            let most = MOST.saturating_sub(asked);
            let mut question = OneModule { tested, symptom, texts: &texts, place, budget, failure: None };
            let options = Options { most, ..Options::default() };
            let reduced = reduce(program, &mut question, &options, &mut |_| ());
            if let Some(failure) = question.failure {
                return Err(failure);
            }
            if let Ok(reduced) = reduced {
                asked += reduced.asked;
                texts[place] = reduced.program.text().to_owned();
            }
        }
        if texts == before || budget.is_over() || asked >= MOST {
            break;
        }
    }
    let Some((difference, way)) = shown(tested, symptom, &texts)? else { return Ok(example.clone()) };
    let texts: Vec<String> = way.order.iter().map(|&place| texts[place].clone()).collect();
    let bytes = texts.iter().map(String::len).sum();
    Ok(Example { bytes, difference, texts, stage: way.stage, ..example.clone() })
}

type Shown = (ptxsmith_diff::linking::LinkDifference, Way);

/// Returns the difference with this symptom in a program, and the way of linking that shows it.
fn shown(tested: &Tested, symptom: &Key, texts: &[String]) -> Result<Option<Shown>, Failure> {
    let Some(verdict) = verdict(tested, texts, symptom.1.needs_a_stage)? else { return Ok(None) };
    Ok(verdict.differences.into_iter().find(|(difference, _)| key(difference) == *symptom))
}

/// Asks whether a program still shows the symptom with this module replaced.
struct OneModule<'q, 's> {
    tested: &'q Tested,
    symptom: &'q Key,
    texts: &'q [String],
    place: usize,
    budget: &'q Budget<'s>,
    failure: Option<Failure>,
}

impl Question for OneModule<'_, '_> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for program in programs {
            if self.is_over() {
                answers.push(Answer::CannotTell("there is no more time".to_owned()));
                break;
            }
            let mut texts = self.texts.to_vec();
            texts[self.place] = program.text().to_owned();
            match shown(self.tested, self.symptom, &texts) {
                Ok(shown) => answers.push(shown.is_some().into()),
                Err(failure) => {
                    self.failure = Some(failure);
                    answers.push(Answer::CannotTell("the linker could not be asked".to_owned()));
                }
            }
            if matches!(answers.last(), Some(Answer::Yes | Answer::CannotTell(_))) {
                break;
            }
        }
        answers
    }

    fn at_once(&self) -> usize {
        1
    }

    fn is_over(&self) -> bool {
        self.failure.is_some() || self.budget.is_over()
    }
}
