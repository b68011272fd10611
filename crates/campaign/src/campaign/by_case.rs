//! Each subject's result for each program, for campaigns of programs with names.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_diff::{NotCompared, Verdict};
use ptxsmith_report::CaseStandings;
use ptxsmith_report::matrix::Standing;

use super::{Campaign, ProgramSource};
use crate::pool::lock_of;
use crate::subjects::TestSubject;

/// The results so far, by program name.
pub(super) type ByCase = BTreeMap<String, CaseResults>;

/// The results of all subjects for a program.
pub(super) struct CaseResults {
    program: String,
    /// The result of each subject.
    standings: Vec<Standing>,
    known: BTreeSet<&'static str>,
}

fn standing(verdict: &Verdict) -> Standing {
    match verdict {
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_) => Standing::Conforms,
        Verdict::Deviates(difference) => Standing::of_class(difference.class),
        Verdict::NotCompared(NotCompared::Unsupported) => Standing::Unsupported,
        Verdict::NotCompared(_) => Standing::NotReached,
    }
}

/// Notes the verdicts on the parts of a program, if the report lists results by case.
pub(super) fn note<'v>(
    campaign: &Campaign<'_>,
    tested: &TestSubject,
    source: &ProgramSource,
    verdicts: impl IntoIterator<Item = &'v Verdict>,
) {
    let Some(cases) = &campaign.by_case else { return };
    let id = tested.subject.id();
    let Some(column) = campaign.subjects.iter().position(|tested| tested.subject.id() == id) else { return };
    let mut cases = lock_of(cases);
    let results = cases.entry(source.path.clone()).or_insert_with(|| CaseResults {
        program: source.text.clone(),
        standings: vec![Standing::NotReached; campaign.subjects.len()],
        known: BTreeSet::new(),
    });
    for verdict in verdicts {
        results.standings[column] = results.standings[column].max(standing(verdict));
        if let Verdict::Deviates(difference) = verdict {
            let listed = difference.explanation.iter().flat_map(|explanation| explanation.deviations());
            results.known.extend(listed.map(|known| known.id));
        }
    }
}

/// Returns the results, sorted by program name.
pub(super) fn cases(campaign: &Campaign<'_>) -> Vec<CaseStandings> {
    let Some(cases) = &campaign.by_case else { return Vec::new() };
    lock_of(cases).iter().map(|(name, results)| results.standings_of(name)).collect()
}

impl CaseResults {
    fn standings_of(&self, name: &str) -> CaseStandings {
        CaseStandings {
            name: name.to_owned(),
            program: self.program.clone(),
            standings: self.standings.iter().map(|standing| standing.letter()).collect(),
            known: self.known.iter().map(|&id| id.to_owned()).collect(),
        }
    }
}
