//! Hypotheses about differences that no listed deviation explains.
//!
//! A lead is one wrong rule: either a plausible one that no implementation is known to follow ([`suspects`]), or a
//! known deviation of another implementation or release. A lead that predicts a new difference byte for byte names
//! its root cause, so that a thousand programs with the same fault become one finding.

use ptxsmith_oracle::{Clause, Expectation, Rules, Trace};
use ptxsmith_subject::Observation;

use crate::{
    explain::{Hypothesis, alone, combined, differs, explain, hypotheses, ways_to_accept},
    explanation::Alternatives,
    known::{Effect, KNOWN, Known},
    maker::Maker,
    suspects,
};

/// The maximum number of combinations of one lead with two known causes that are tried.
const MOST_COMBINATIONS: usize = 20_000;

/// A wrong rule that may cause a difference.
#[derive(Clone, Copy)]
pub struct Lead {
    /// The stable id of the suspect or of the known deviation.
    pub id: &'static str,
    clauses: &'static [Clause],
    change: fn(&mut Rules),
}

impl Lead {
    /// Returns the lead with this id. Known crashes are not leads.
    pub(crate) fn from_id(id: &str) -> Option<Lead> {
        // An implementation without a lineage has no listed deviations, so all of them are among its leads.
        leads(Maker::default()).find(|lead| lead.id == id)
    }

    /// Returns `base` with the wrong rule.
    pub(crate) fn rules(&self, base: &Rules) -> Rules {
        base.with(self.change)
    }

    /// Returns true if an evaluation with this trace used a clause that the wrong rule breaks.
    pub(crate) fn touches(&self, trace: &Trace) -> bool {
        self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

/// Returns the known deviations that are not listed for this implementation and release.
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

/// Returns the title and the clauses of a lead; `None` if the id is unknown.
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

/// Returns the `'static` form of a lead's id that was read from a file.
pub fn id_of(id: &str) -> Option<&'static str> {
    let known = KNOWN.iter().map(|known| known.id);
    known.chain(suspects::all().map(|suspect| suspect.id)).find(|own| *own == id)
}

/// Finds the leads that predict a difference. Tries, in this order, each lead alone, with one known cause, with
/// another lead, and with two known causes. Returns all successes of the first kind that has any.
///
/// `predicts` is as in [`explain`](crate::explain::explain).
pub(crate) fn alternatives(
    trace: &Trace,
    base: &Rules,
    maker: Maker<'_>,
    mut predicts: impl FnMut(&Rules) -> (bool, Trace),
) -> Alternatives {
    // Each lead with the rules it yields and the trace of an evaluation under them.
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

/// Finds the leads that predict each differing variable of an accepted program that no listed rule explains. The
/// result of a variable is empty if no lead predicts it. Returns `None` if the program is invalid under all listed
/// rules.
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

/// Returns the known crashes of other implementations or releases that predict this crash.
pub(crate) fn crash_alternatives(trace: &Trace, maker: Maker<'_>, observation: &Observation) -> Alternatives {
    let predicts = |known: &&'static Known| match known.effect {
        Effect::Crash { signal, when, .. } => observation.signal == Some(signal) && when(trace),
        _ => false,
    };
    unlisted(maker).filter(predicts).map(|known| vec![known.id]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: Maker<'static> = Maker { lineage: Some("nvidia"), version: Some("13.5.37") };

    /// Returns the leads that predict these bytes of the only variable of a program.
    fn found(statement: &str, seen: &[u8], maker: Maker<'_>) -> Alternatives {
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{statement}\n");
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let predicts = |rules: &Rules| {
            let expectation = ptxsmith_oracle::expect(&module, rules);
            let trace = expectation.trace();
            let holds = match expectation {
                Expectation::Accepted { variables, .. } => variables[0].bytes == seen,
                _ => false,
            };
            (holds, trace)
        };
        let (holds, trace) = predicts(&Rules::default());
        assert!(!holds, "{statement} holds {seen:?} by the text");
        alternatives(&trace, &Rules::default(), maker, predicts)
    }

    #[test]
    fn a_wrong_rule_alone_is_a_lead() {
        // `010` is 8, or 10 if the implementation takes it for a decimal number.
        assert_eq!(found(".const .b8 a = 010;", &[10], NVIDIA), [["octal-as-decimal"]]);
        assert_eq!(found(".const .b8 a = 010;", &[99], NVIDIA), Alternatives::new());
    }

    #[test]
    fn what_is_listed_is_a_lead_only_for_those_that_it_is_not_listed_for() {
        // The single value of the second row is followed directly by the value of the third.
        let (rows, packed) = (".global .u8 a[3][2] = {{1, 2}, {3}, {4}};", [1, 2, 3, 4, 0, 0]);
        let with_rows = |maker| {
            let found = found(rows, &packed, maker);
            found.iter().any(|leads| leads == &["incomplete-rows-packed"])
        };
        assert!(with_rows(Maker::default()));
        assert!(!with_rows(NVIDIA));
    }

    #[test]
    fn a_wrong_rule_with_a_listed_deviation_and_two_wrong_rules_are_leads() {
        // Combines incomplete rows with an octal number. If the rows are listed for the implementation, they are no
        // lead.
        let (rows, both) = (".global .u8 a[3][2] = {{1, 2}, {3}, {010}};", [1, 2, 3, 10, 0, 0]);
        assert_eq!(found(rows, &both, NVIDIA), [["octal-as-decimal"]]);
        let two = found(rows, &both, Maker::default());
        assert!(two.contains(&vec!["incomplete-rows-packed", "octal-as-decimal"]), "{two:?}");
        assert!(two.iter().all(|leads| leads.len() == 2), "{two:?}");
    }

    #[test]
    fn a_wrong_rule_with_two_listed_deviations_is_a_lead() {
        // The last value is 8 + 1. With the octal number taken for 10 and an unsigned remainder, which is not greater
        // than -1, it is 10 + 0.
        let (rows, all) = (".global .u8 a[3][2] = {{1, 2}, {3}, {010 + (1 % 2 > -1)}};", [1, 2, 3, 10, 0, 0]);
        assert_eq!(found(rows, &all, NVIDIA), [["octal-as-decimal"]]);
    }

    #[test]
    fn an_id_is_found_among_deviations_and_wrong_rules() {
        assert_eq!(id_of("incomplete-rows-packed"), Some("incomplete-rows-packed"));
        assert_eq!(id_of("octal-as-decimal"), Some("octal-as-decimal"));
        assert_eq!(id_of("octal"), None);
        let lead = Lead::from_id("octal-as-decimal").unwrap();
        let of = |text| {
            let module = ptxsmith_syntax::parse(text).unwrap();
            let expectation = ptxsmith_oracle::expect(&module, &lead.rules(&Rules::default()));
            let Expectation::Accepted { variables, .. } = expectation else { panic!("{expectation:?}") };
            variables[0].bytes.clone()
        };
        assert_eq!(of(".version 7.8\n.target sm_80\n.global .u8 a = 010;"), [10]);
    }

    #[test]
    fn a_lead_is_described_by_its_own_title_and_clauses() {
        for known in KNOWN.iter() {
            let (title, clauses) = described(known.id).unwrap();
            assert!(title.starts_with(&format!("{}: listed for nvidia, ", known.title)), "{title}");
            assert_eq!((clauses, id_of(known.id)), (known.clauses, Some(known.id)));
        }
        for suspect in suspects::all() {
            let (title, clauses) = described(suspect.id).unwrap();
            assert_eq!(title, format!("a wrong rule: {}", suspect.title));
            assert_eq!((clauses, id_of(suspect.id)), (&[suspect.clause][..], Some(suspect.id)));
        }
        assert!(described("no-such-rule").is_none() && id_of("no-such-rule").is_none());
    }

    #[test]
    fn a_crash_is_put_down_to_what_kills_others_with_the_same_signal() {
        let dying = |statement: &str, signal, maker| {
            let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{statement}\n");
            let module = ptxsmith_syntax::parse(&text).unwrap();
            let trace = ptxsmith_oracle::expect(&module, &Rules::default()).trace();
            let observation = Observation { signal, ..Observation::new(ptxsmith_subject::Outcome::Crashed) };
            crash_alternatives(&trace, maker, &observation)
        };
        let overflow = ".global .s64 a = (-9223372036854775807 - 1) / -1;";
        let others = Maker::default();
        assert_eq!(dying(overflow, Some(8), others), [["quotient-overflow-crash"]]);
        assert_eq!(dying(overflow, Some(11), others), Alternatives::new());
        assert_eq!(dying(overflow, None, others), Alternatives::new());
        assert_eq!(dying(overflow, Some(8), NVIDIA), Alternatives::new(), "it is listed");
        assert_eq!(dying(".global .s64 a = 6 / 2;", Some(8), others), Alternatives::new());
    }
}
