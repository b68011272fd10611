//! Each subject's result for each program, for campaigns of programs with names.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_diff::{NotCompared, Verdict};
use ptxsmith_report::CaseStandings;
use ptxsmith_report::matrix::Standing;

use super::{Campaign, Source};
use crate::pool::lock_of;
use crate::subjects::Tested;

/// The results so far, by program name.
pub(super) type ByCase = BTreeMap<String, Noted>;

/// The results of one program.
pub(super) struct Noted {
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
    tested: &Tested,
    source: &Source,
    verdicts: impl IntoIterator<Item = &'v Verdict>,
) {
    let Some(cases) = &campaign.by_case else { return };
    let id = tested.subject.id();
    let Some(column) = campaign.subjects.iter().position(|tested| tested.subject.id() == id) else { return };
    let mut cases = lock_of(cases);
    let noted = cases.entry(source.path.clone()).or_insert_with(|| Noted {
        program: source.text.clone(),
        standings: vec![Standing::NotReached; campaign.subjects.len()],
        known: BTreeSet::new(),
    });
    for verdict in verdicts {
        noted.standings[column] = noted.standings[column].max(standing(verdict));
        if let Verdict::Deviates(difference) = verdict {
            let listed = difference.explanation.iter().flat_map(|explanation| explanation.deviations());
            noted.known.extend(listed.map(|known| known.id));
        }
    }
}

/// Returns the results, sorted by program name.
pub(super) fn cases(campaign: &Campaign<'_>) -> Vec<CaseStandings> {
    let Some(cases) = &campaign.by_case else { return Vec::new() };
    let case = |(name, noted): (&String, &Noted)| CaseStandings {
        name: name.clone(),
        program: noted.program.clone(),
        standings: noted.standings.iter().map(|standing| standing.letter()).collect(),
        known: noted.known.iter().map(|&id| id.to_owned()).collect(),
    };
    lock_of(cases).iter().map(case).collect()
}
