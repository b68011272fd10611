//! Reduces programs with several modules: removes modules, then reduces each module with the passes for
//! single programs.

use std::time::{Duration, Instant};

use ptxsmith_diff::linking::LinkPlan;
use ptxsmith_reduce::{Answer, Program, Question, ReduceOptions, reduce};

use super::{DeviatingLink, Key, key, verdict};
use crate::failure::Failure;
use crate::session::Session;
use crate::subjects::TestSubject;

/// The most programs to try for one finding.
const MOST: u64 = 600;

/// The time and the programs available for reductions.
pub(super) struct LinkReductionBudget<'s> {
    session: &'s Session,
    until: Option<Instant>,
}

impl LinkReductionBudget<'_> {
    pub(super) fn new(session: &Session, limit: Option<Duration>) -> LinkReductionBudget<'_> {
        let of_session = session.limit.map(|limit| limit.reduction_ends());
        let of_option = limit.map(|limit| Instant::now() + limit);
        LinkReductionBudget { session, until: of_option.into_iter().chain(of_session).min() }
    }

    fn is_over(&self) -> bool {
        self.session.cancel.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Returns the smallest program that shows the same as an example, within the budget. Returns the example
/// itself if it does not reproduce.
pub(super) fn reduce_example(
    tested: &TestSubject,
    example: &DeviatingLink,
    budget: &LinkReductionBudget<'_>,
) -> Result<DeviatingLink, Failure> {
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
            if difference_with(tested, symptom, &fewer)?.is_some() {
                texts = fewer;
            }
        }
        for place in 0..texts.len() {
            let Ok(program) = Program::parse(&texts[place]) else { continue };
            let most = MOST.saturating_sub(asked);
            let mut question =
                ModuleQuestion { tested, symptom, texts: &texts, place, budget, failure: None };
            let options = ReduceOptions { most, ..ReduceOptions::default() };
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
    let Some((difference, way)) = difference_with(tested, symptom, &texts)? else {
        return Ok(example.clone());
    };
    let texts: Vec<String> = way.order.iter().map(|&place| texts[place].clone()).collect();
    let bytes = texts.iter().map(String::len).sum();
    Ok(DeviatingLink { bytes, difference, texts, stage: way.stage, ..example.clone() })
}

type ShownDifference = (ptxsmith_diff::linking::LinkDifference, LinkPlan);

/// Returns the difference with this symptom in a program, and the way of linking that shows it.
fn difference_with(
    tested: &TestSubject,
    symptom: &Key,
    texts: &[String],
) -> Result<Option<ShownDifference>, Failure> {
    let Some(verdict) = verdict(tested, texts, symptom.1.needs_a_stage)? else { return Ok(None) };
    Ok(verdict.differences.into_iter().find(|(difference, _)| key(difference) == *symptom))
}

/// Asks whether a program still shows the symptom with this module replaced.
struct ModuleQuestion<'q, 's> {
    tested: &'q TestSubject,
    symptom: &'q Key,
    texts: &'q [String],
    place: usize,
    budget: &'q LinkReductionBudget<'s>,
    failure: Option<Failure>,
}

impl Question for ModuleQuestion<'_, '_> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for program in programs {
            if self.is_over() {
                answers.push(Answer::CannotTell("there is no more time".to_owned()));
                break;
            }
            let mut texts = self.texts.to_vec();
            texts[self.place] = program.text().to_owned();
            match difference_with(self.tested, self.symptom, &texts) {
                Ok(difference) => answers.push(difference.is_some().into()),
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
