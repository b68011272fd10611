//! Finds the behaviours in which linkers differ.

use std::sync::Mutex;

use ptxsmith_diff::linking::{LINKER_DEVIATIONS, LinkVerdict};
use ptxsmith_gen::linking::modules;
use ptxsmith_oracle::ClauseSet;
use ptxsmith_subject::{Description, Outcome};
use ptxsmith_syntax::print;

use super::{LinkedCase, TOGETHER, id_of, is_staged, link_each, listed};
use crate::drift::{Facts, KNOWN, TriedProgram};
use crate::failure::Failure;
use crate::pool::{Budget, Completion, each, lock_of};
use crate::session::Session;
use crate::subjects::TestSubject;

/// Separates the modules of a program.
const BETWEEN: &str = "\n// linked with\n";

/// Shows linkers the reproducers of their listed deviations and `cases` programs generated from the session's
/// seed.
///
/// # Errors
/// If the work is interrupted, or this machine or our code fails.
pub(crate) fn linked(
    session: &Session,
    cases: u64,
    linkers: &[TestSubject],
) -> Result<Vec<TriedProgram>, Failure> {
    let mut reproducers = Vec::new();
    for listed in LINKER_DEVIATIONS.iter() {
        let texts = listed.modules.iter().map(|(text, _)| (*text).to_owned()).collect();
        reproducers.extend(LinkedCase::parse(texts, true));
    }
    let mut tried = on_all(linkers, &reproducers)?;
    let more = Mutex::new(Vec::new());
    let budget = Budget { tasks: Some(cases.div_ceil(TOGETHER)), units: Some(cases), ..Budget::default() };
    let ended = each(session, budget, "programs", |task, work| {
        let numbers = task * TOGETHER..((task + 1) * TOGETHER).min(cases);
        work.done(numbers.end - numbers.start);
        let made = numbers.map(|number| LinkedCase::parse(modules(session.seed, number), is_staged(number)));
        let programs: Vec<LinkedCase> = made.flatten().collect();
        lock_of(&more).push((task, on_all(linkers, &programs)?));
        Ok(())
    })?;
    if ended == Completion::Interrupted {
        return Err(Failure::Interrupted);
    }
    let mut more = more.into_inner().expect("a panic ends the program");
    more.sort_by_key(|(task, _)| *task);
    tried.extend(more.into_iter().flat_map(|(_, tried)| tried));
    Ok(tried)
}

/// Links programs with every linker.
fn on_all(linkers: &[TestSubject], programs: &[LinkedCase]) -> Result<Vec<TriedProgram>, Failure> {
    let mut tried: Vec<TriedProgram> = programs.iter().map(untried).collect();
    for tested in linkers {
        let verdicts = link_each(tested, programs)?;
        for (program, verdict) in tried.iter_mut().zip(&verdicts) {
            let Some(verdict) = verdict else {
                program.facts.push(None);
                continue;
            };
            for (difference, _) in &verdict.differences {
                program.clauses = program.clauses.union(difference.clauses.iter().copied().collect());
            }
            program.facts.push(facts(verdict, tested.subject.description()));
        }
    }
    Ok(tried)
}

/// Returns a program without any facts.
fn untried(program: &LinkedCase) -> TriedProgram {
    let modules: Vec<String> = program.modules.iter().map(|module| print(&module.without_header())).collect();
    TriedProgram {
        program: program.texts.join(BETWEEN),
        shown: modules.join(BETWEEN),
        clauses: ClauseSet::EMPTY,
        facts: Vec::new(),
    }
}

/// Returns the facts about a linker that a verdict shows; `None` if nothing was compared.
fn facts(verdict: &LinkVerdict, linker: &Description) -> Option<Facts> {
    let mut facts: Facts = verdict
        .differences
        .iter()
        .map(|(difference, _)| match listed(difference, linker) {
            Some(place) => format!("{KNOWN}{}", LINKER_DEVIATIONS[place].id),
            None => id_of(difference.class, &difference.symptom),
        })
        .collect();
    let is_linked = verdict.outcomes.iter().any(|(_, outcome)| *outcome == Outcome::Accepted);
    if !is_linked {
        facts.insert("refused in every order, which is not specified".to_owned());
    }
    if facts.is_empty() && verdict.compared > 0 {
        facts.insert("conforms".to_owned());
    }
    (!facts.is_empty()).then_some(facts)
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::Class;
    use ptxsmith_diff::linking::{LinkDifference, LinkPlan, Symptom};

    use super::*;

    fn linker(version: &str) -> Description {
        Description {
            id: format!("nvlink@{version}"),
            version: Some(version.to_owned()),
            lineage: Some("nvidia".to_owned()),
            ..Description::default()
        }
    }

    fn verdict(differences: &[&str], outcome: Outcome) -> LinkVerdict {
        let difference = |what: &&str| {
            let symptom = Symptom { what: (*what).to_owned(), ..Symptom::default() };
            let difference = LinkDifference {
                class: Class::WrongLayout,
                name: "x".to_owned(),
                clauses: Vec::new(),
                expected: String::new(),
                actual: String::new(),
                symptom,
            };
            (difference, LinkPlan::default())
        };
        LinkVerdict {
            differences: differences.iter().map(difference).collect(),
            compared: 1,
            outcomes: vec![(LinkPlan::default(), outcome)],
            ..LinkVerdict::default()
        }
    }

    #[test]
    fn a_fact_of_a_linker_is_a_listed_deviation_of_its_release_or_a_symptom() {
        let of = |differences: &[&str], outcome, version| {
            facts(&verdict(differences, outcome), &linker(version)).map(|facts| facts.into_iter().collect())
        };
        let one = |fact: &str| Some(vec![fact.to_owned()]);
        let id = "linking-wrong-layout-alignment-of-common";
        assert_eq!(
            of(&["alignment of common"], Outcome::Accepted, "13.5.37"),
            one(&format!("deviation {id}"))
        );
        // It is not listed for a release that was not tried.
        assert_eq!(of(&["alignment of common"], Outcome::Accepted, "1.0.0"), one(id));
        assert_eq!(of(&[], Outcome::Accepted, "13.5.37"), one("conforms"));
        assert_eq!(
            of(&[], Outcome::Refused, "13.5.37"),
            one("refused in every order, which is not specified")
        );
        let nothing = LinkVerdict { compared: 0, ..verdict(&[], Outcome::Accepted) };
        assert_eq!(facts(&nothing, &linker("13.5.37")), None);
    }
}
