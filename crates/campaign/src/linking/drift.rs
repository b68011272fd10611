//! Finds the behaviours in which linkers differ.

use std::sync::Mutex;

use ptxsmith_diff::linking::{LISTED, LinkVerdict};
use ptxsmith_gen::linking::modules;
use ptxsmith_oracle::ClauseSet;
use ptxsmith_subject::{Description, Outcome};
use ptxsmith_syntax::print;

use super::{LinkedCase, TOGETHER, id_of, is_staged, link_each, listed};
use crate::drift::{Facts, KNOWN, Tried};
use crate::failure::Failure;
use crate::pool::{Budget, Ended, each, lock_of};
use crate::session::Session;
use crate::subjects::Tested;

/// What stands between the modules of a program.
const BETWEEN: &str = "\n// linked with\n";

/// Shows linkers the reproducers of their listed deviations and `cases` programs generated from the session's seed.
///
/// # Errors
/// If the work is interrupted, or this machine or our code fails.
pub(crate) fn linked(session: &Session, cases: u64, linkers: &[Tested]) -> Result<Vec<Tried>, Failure> {
    let listed =
        LISTED.iter().map(|listed| listed.modules.iter().map(|(text, _)| (*text).to_owned()).collect());
    let listed: Vec<LinkedCase> = listed.filter_map(|texts| LinkedCase::of(texts, true)).collect();
    let mut tried = on_all(linkers, &listed)?;
    let more = Mutex::new(Vec::new());
    let budget = Budget { tasks: Some(cases.div_ceil(TOGETHER)), units: Some(cases), ..Budget::default() };
    let ended = each(session, budget, "programs", |task, work| {
        let numbers = task * TOGETHER..((task + 1) * TOGETHER).min(cases);
        work.done(numbers.end - numbers.start);
        let made = numbers.map(|number| LinkedCase::of(modules(session.seed, number), is_staged(number)));
        let programs: Vec<LinkedCase> = made.flatten().collect();
        lock_of(&more).push((task, on_all(linkers, &programs)?));
        Ok(())
    })?;
    if ended == Ended::Interrupted {
        return Err(Failure::Interrupted);
    }
    let mut more = more.into_inner().expect("a panic ends the program");
    more.sort_by_key(|(task, _)| *task);
    tried.extend(more.into_iter().flat_map(|(_, tried)| tried));
    Ok(tried)
}

/// Links programs with every linker.
fn on_all(linkers: &[Tested], programs: &[LinkedCase]) -> Result<Vec<Tried>, Failure> {
    let verdicts: Vec<Vec<Option<LinkVerdict>>> =
        linkers.iter().map(|tested| link_each(tested, programs)).collect::<Result<_, _>>()?;
    let tried = |place: usize| {
        let of_linker = |(tested, verdicts): (&Tested, &Vec<Option<LinkVerdict>>)| {
            facts(verdicts[place].as_ref()?, tested.subject.description())
        };
        let mut clauses = ClauseSet::EMPTY;
        let of_all = verdicts.iter().filter_map(|verdicts| verdicts[place].as_ref());
        for clause in of_all.flat_map(|verdict| &verdict.differences).flat_map(|(one, _)| &one.clauses) {
            clauses.insert(*clause);
        }
        let LinkedCase { texts, modules, .. } = &programs[place];
        let shown: Vec<String> = modules.iter().map(|module| print(&module.without_header())).collect();
        Tried {
            program: texts.join(BETWEEN),
            shown: shown.join(BETWEEN),
            clauses,
            facts: linkers.iter().zip(&verdicts).map(of_linker).collect(),
        }
    };
    Ok((0..programs.len()).map(tried).collect())
}

/// Returns the facts about a linker that a verdict shows; `None` if nothing was compared.
fn facts(verdict: &LinkVerdict, linker: &Description) -> Option<Facts> {
    let mut facts: Facts = verdict
        .differences
        .iter()
        .map(|(difference, _)| match listed(difference, linker) {
            Some(place) => format!("{KNOWN}{}", LISTED[place].id),
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
    use ptxsmith_diff::linking::{LinkDifference, Symptom, Way};

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
            (difference, Way::default())
        };
        LinkVerdict {
            differences: differences.iter().map(difference).collect(),
            compared: 1,
            outcomes: vec![(Way::default(), outcome)],
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
