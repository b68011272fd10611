//! What may be behind a difference that nothing listed explains.
//!
//! A lead is one wrong rule: a plausible one that no implementation is known to follow ([`suspects`]), or a known deviation
//! of another implementation or release. A lead that predicts a new difference to the byte names its root cause, so that a
//! thousand programs that show one fault become one finding.

use ptxsmith_oracle::{Clause, Expectation, Rules, Trace};
use ptxsmith_subject::Observation;

use crate::{
    explain::{Hypothesis, alone, combined, differs, explain, hypotheses, ways_to_accept},
    explanation::Alternatives,
    known::{Effect, KNOWN, Known},
    maker::Maker,
    suspects,
};

/// The most combinations of one lead with two known causes that are tried.
const MOST_COMBINATIONS: usize = 20_000;

/// One wrong rule that may be behind a difference.
#[derive(Clone, Copy)]
pub struct Lead {
    /// Its stable name: of the suspect, or of the known deviation.
    pub id: &'static str,
    clauses: &'static [Clause],
    change: fn(&mut Rules),
}

impl Lead {
    /// The lead of this id, unless it is one that kills.
    pub(crate) fn from_id(id: &str) -> Option<Lead> {
        // Whose deviation it is plays no part: no implementation has none of them listed.
        leads(Maker::default()).find(|lead| lead.id == id)
    }

    /// These rules with the wrong one.
    pub(crate) fn rules(&self, base: &Rules) -> Rules {
        base.with(self.change)
    }

    /// Whether an evaluation that rests on this used a clause that the wrong rule breaks.
    pub(crate) fn touches(&self, trace: &Trace) -> bool {
        self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

/// A known deviation in an implementation or release that it is not listed for.
fn unlisted(maker: Maker<'_>) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| !known.is_of(maker))
}

fn leads(maker: Maker<'_>) -> impl Iterator<Item = Lead> {
    let known = unlisted(maker)
        .filter_map(|known| Some(Lead { id: known.id, clauses: known.clauses, change: known.change()? }));
    let suspects = suspects::all().map(|suspect| Lead {
        id: suspect.id,
        clauses: std::slice::from_ref(&suspect.clause),
        change: suspect.change,
    });
    known.chain(suspects)
}

/// What a lead says, for a person: title and clauses. `None` for an id of none.
pub fn described(id: &str) -> Option<(String, &'static [Clause])> {
    if let Some(known) = KNOWN.iter().find(|known| known.id == id) {
        let (title, releases) = (known.title, known.releases);
        return Some((
            format!("{title}: listed for {}, {releases}, and shown by another", known.lineage),
            known.clauses,
        ));
    }
    let suspect = suspects::all().find(|suspect| suspect.id == id)?;
    Some((format!("a wrong rule: {}", suspect.title), std::slice::from_ref(&suspect.clause)))
}

/// The `'static` form of a lead's id, for what was read from a file.
pub fn id_of(id: &str) -> Option<&'static str> {
    let known = KNOWN.iter().map(|known| known.id);
    known.chain(suspects::all().map(|suspect| suspect.id)).find(|own| *own == id)
}

/// Looks for the leads that predict a difference: alone, with one known cause, two together, or with two known causes,
/// in this order; of the first kind that predicts it all that do.
///
/// `predicts` is as in [`explain`](crate::explain::explain).
pub(crate) fn alternatives(
    trace: &Trace,
    base: &Rules,
    maker: Maker<'_>,
    mut predicts: impl FnMut(&Rules) -> (bool, Trace),
) -> Alternatives {
    // Each lead with the rules that it changes, and with what an evaluation under them rests on.
    let mut tried: Vec<(Lead, Rules, Trace)> = Vec::new();
    let mut found: Alternatives = Vec::new();
    for lead in leads(maker).filter(|lead| lead.touches(trace)) {
        let rules = lead.rules(base);
        let (agrees, trace) = predicts(&rules);
        if agrees {
            found.push(vec![lead.id]);
        }
        tried.push((lead, rules, trace));
    }
    if !found.is_empty() {
        return found;
    }
    let causes: Vec<Vec<Hypothesis>> =
        tried.iter().map(|(_, _, met)| hypotheses(&trace.union(*met), maker)).collect();
    for (lead, rules, causes) in with_causes(&tried, &causes) {
        let one = |&cause: &Hypothesis| combined(rules, &[cause]);
        if causes.iter().filter_map(one).any(|rules| predicts(&rules).0) {
            found.push(vec![lead.id]);
        }
    }
    if !found.is_empty() {
        return found;
    }
    for (at, (one, rules, _)) in tried.iter().enumerate() {
        for (other, ..) in &tried[..at] {
            if predicts(&other.rules(rules)).0 {
                let mut both = vec![one.id, other.id];
                both.sort_unstable();
                found.push(both);
            }
        }
    }
    if !found.is_empty() {
        found.sort_unstable();
        return found;
    }
    for (lead, rules, causes) in with_causes(&tried, &causes) {
        if causes.len() * causes.len() * tried.len() > MOST_COMBINATIONS {
            continue;
        }
        let pairs = causes.iter().enumerate().flat_map(|(at, &one)| {
            causes[..at].iter().filter_map(move |&other| combined(rules, &[one, other]))
        });
        if pairs.into_iter().any(|rules| predicts(&rules).0) {
            found.push(vec![lead.id]);
        }
    }
    found
}

fn with_causes<'t>(
    tried: &'t [(Lead, Rules, Trace)],
    causes: &'t [Vec<Hypothesis>],
) -> impl Iterator<Item = (&'t Lead, &'t Rules, &'t [Hypothesis])> {
    tried.iter().zip(causes).map(|((lead, rules, _), causes)| (lead, rules, causes.as_slice()))
}

/// The wrong rules that predict what nothing listed does, for each variable of an accepted program that differs; empty
/// alternatives for one that nothing predicts. `None` where the program is not accepted under any listed rules.
pub(crate) fn suspect_variables(
    base: &Rules,
    maker: Maker<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
) -> Option<Vec<Alternatives>> {
    let way = ways_to_accept(base, maker, &predict).into_iter().next()?;
    let rules = way.rules(base);
    let Expectation::Accepted { variables, .. } = predict(&rules) else { return None };
    let mut suspected = Vec::new();
    for variable in variables.iter().filter(|variable| differs(variable, observed)) {
        let own = |rules: &Rules| alone(&predict, observed, variable, rules);
        if explain(&variable.trace, &rules, maker, own).is_none() {
            suspected.push(alternatives(&variable.trace, &rules, maker, own));
        }
    }
    Some(suspected)
}

/// The known deviations of others that predict a crash.
pub(crate) fn crash_alternatives(trace: &Trace, maker: Maker<'_>, observation: &Observation) -> Alternatives {
    let predicts = |known: &&'static Known| match known.effect {
        Effect::Crash { signal, when, .. } => observation.signal == Some(signal) && when(trace),
        _ => false,
    };
    unlisted(maker).filter(predicts).map(|known| vec![known.id]).collect()
}
