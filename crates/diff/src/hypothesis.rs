//! Hypotheses about differences that no listed deviation explains.
//!
//! A hypothesis is one wrong rule: either a plausible one that no implementation is known to follow
//! ([`hypothetical_rules`]), or a known deviation of another implementation or release. A hypothesis that
//! predicts a new difference byte for byte names its root cause, so that a thousand programs with the same
//! fault become one finding.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Clause, Expectation, Rules, Trace, Variable, expect};
use ptxsmith_subject::Observation;
use ptxsmith_syntax::Module;

use crate::{
    explain::{KnownCause, combined, differs, explain, known_causes, variable_agrees, ways_to_accept},
    explanation::Alternatives,
    hypothetical_rules,
    implementation::Implementation,
    known::{Effect, KNOWN, KnownDeviation, with_known},
};

/// The limit of combinations of a hypothesis with two known causes. A hypothesis with more is not combined.
const MOST_COMBINATIONS: usize = 20_000;

/// A wrong rule that may cause a difference.
#[derive(Clone, Copy)]
pub struct Hypothesis {
    /// The stable id of the hypothetical rule or of the known deviation.
    pub id: &'static str,
    clauses: &'static [Clause],
    change: fn(&mut Rules),
}

impl Hypothesis {
    /// Returns the hypothesis with this id. Known crashes are not hypotheses.
    pub(crate) fn from_id(id: &str) -> Option<Hypothesis> {
        // An implementation without a lineage has no listed deviations, so all of them are hypotheses about
        // it.
        hypotheses(Implementation::default()).find(|hypothesis| hypothesis.id == id)
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
fn unlisted(implementation: Implementation<'_>) -> impl Iterator<Item = &'static KnownDeviation> {
    KNOWN.iter().filter(move |known| !known.is_listed_for(implementation))
}

/// Returns all hypotheses about an implementation: first the deviations that are not listed for it.
fn hypotheses(implementation: Implementation<'_>) -> impl Iterator<Item = Hypothesis> {
    let unlisted = unlisted(implementation).filter_map(|known| {
        Some(Hypothesis { id: known.id, clauses: known.clauses, change: known.change()? })
    });
    let hypothetical = hypothetical_rules::all().map(|rule| Hypothesis {
        id: rule.id,
        clauses: std::slice::from_ref(&rule.clause),
        change: rule.change,
    });
    unlisted.chain(hypothetical)
}

/// Returns the title and the clauses of a hypothesis; `None` if the id is unknown.
pub fn description_of(id: &str) -> Option<(String, &'static [Clause])> {
    if let Some(known) = KNOWN.iter().find(|known| known.id == id) {
        let KnownDeviation { title, lineage, releases, .. } = known;
        let title = format!("{title}: listed for {lineage}, {releases}, and shown by another");
        return Some((title, known.clauses));
    }
    let rule = hypothetical_rules::all().find(|rule| rule.id == id)?;
    Some((format!("a wrong rule: {}", rule.title), std::slice::from_ref(&rule.clause)))
}

/// Returns the `'static` form of a hypothesis id that was read from a file.
pub fn id_of(id: &str) -> Option<&'static str> {
    let listed = KNOWN.iter().map(|known| known.id);
    let hypothetical = hypothetical_rules::all().map(|rule| rule.id);
    listed.chain(hypothetical).find(|known| *known == id)
}

/// Returns those of the wrong rules `ids` under which one of these variables, which conform, would have other
/// contents, alone and together with the deviations that are listed for the implementation.
pub fn contradicted(
    module: &Module,
    conforming: &[String],
    ids: &BTreeSet<&'static str>,
    (base, implementation): (&Rules, Implementation<'_>),
) -> Vec<&'static str> {
    let listed = with_known(base, implementation);
    let usual = expect(module, base);
    let Expectation::Accepted { variables: usual, .. } = &usual else { return Vec::new() };
    let usual: Vec<&Variable> =
        usual.iter().filter(|variable| conforming.iter().any(|name| *name == *variable.name)).collect();
    let differs_under = |rules: &Rules| match expect(module, rules) {
        Expectation::Accepted { variables, .. } => usual.iter().any(|usual| {
            let other = variables.iter().find(|other| other.name == usual.name);
            other.is_some_and(|other| !other.has_same_contents(usual))
        }),
        _ => false,
    };
    let suspected = hypotheses(implementation).filter(|hypothesis| ids.contains(hypothesis.id));
    let touching =
        suspected.filter(|hypothesis| usual.iter().any(|variable| hypothesis.touches(&variable.trace)));
    let contradicted = touching.filter(|hypothesis| {
        [base, &listed].into_iter().all(|rules| differs_under(&hypothesis.rules(rules)))
    });
    contradicted.map(|hypothesis| hypothesis.id).collect()
}

/// A hypothesis that has been tried.
struct TriedHypothesis {
    hypothesis: Hypothesis,
    /// The rules with the hypothesis.
    rules: Rules,
    /// The known causes that may explain the rest of a difference under these rules.
    causes: Vec<KnownCause>,
}

/// Finds the hypotheses that predict a difference. Tries, in this order, each hypothesis alone, with one
/// known cause, with another hypothesis, and with two known causes. Returns all successes of the first kind
/// that has any.
///
/// `predicts` is as in [`explain`](crate::explain::explain).
pub(crate) fn alternatives(
    trace: &Trace,
    base: &Rules,
    implementation: Implementation<'_>,
    mut predicts: impl FnMut(&Rules) -> (bool, Trace),
) -> Alternatives {
    let mut tried: Vec<TriedHypothesis> = Vec::new();
    let mut found: Alternatives = Vec::new();
    for hypothesis in hypotheses(implementation).filter(|hypothesis| hypothesis.touches(trace)) {
        let rules = hypothesis.rules(base);
        let (agrees, trace_under) = predicts(&rules);
        if agrees {
            found.push(vec![hypothesis.id]);
        }
        let causes = known_causes(base, &trace.union(trace_under), implementation);
        tried.push(TriedHypothesis { hypothesis, rules, causes });
    }
    if !found.is_empty() {
        return found;
    }
    let mut agrees = |rules: &Rules| predicts(rules).0;
    found = with_one_cause(&tried, &mut agrees);
    if found.is_empty() {
        found = pairs(&tried, &mut agrees);
    }
    if found.is_empty() {
        found = with_two_causes(&tried, &mut agrees);
    }
    found
}

/// Returns the hypotheses that predict a difference together with one known cause.
fn with_one_cause(tried: &[TriedHypothesis], agrees: &mut impl FnMut(&Rules) -> bool) -> Alternatives {
    let mut found = Vec::new();
    for TriedHypothesis { hypothesis, rules, causes } in tried {
        let mut changed = causes.iter().filter_map(|&cause| combined(rules, &[cause]));
        if changed.any(|rules| agrees(&rules)) {
            found.push(vec![hypothesis.id]);
        }
    }
    found
}

/// Returns the pairs of hypotheses that together predict a difference, sorted.
fn pairs(tried: &[TriedHypothesis], agrees: &mut impl FnMut(&Rules) -> bool) -> Alternatives {
    let mut found = Vec::new();
    for (index, TriedHypothesis { hypothesis, rules, .. }) in tried.iter().enumerate() {
        for other in &tried[..index] {
            if agrees(&other.hypothesis.rules(rules)) {
                let mut pair = vec![hypothesis.id, other.hypothesis.id];
                pair.sort_unstable();
                found.push(pair);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Returns the hypotheses that predict a difference together with two known causes.
fn with_two_causes(tried: &[TriedHypothesis], agrees: &mut impl FnMut(&Rules) -> bool) -> Alternatives {
    let mut found = Vec::new();
    for TriedHypothesis { hypothesis, rules, causes } in tried {
        if causes.len() * causes.len() * tried.len() > MOST_COMBINATIONS {
            continue;
        }
        let mut changed = causes.iter().enumerate().flat_map(|(index, &cause)| {
            causes[..index].iter().filter_map(move |&other| combined(rules, &[cause, other]))
        });
        if changed.any(|rules| agrees(&rules)) {
            found.push(vec![hypothesis.id]);
        }
    }
    found
}

/// Finds the hypotheses that predict each differing variable of an accepted program that no listed rule
/// explains. The result of a variable is empty if no hypothesis predicts it. Returns `None` if the program is
/// invalid under all listed rules.
pub(crate) fn variable_alternatives(
    base: &Rules,
    implementation: Implementation<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
) -> Option<Vec<Alternatives>> {
    let way = ways_to_accept(base, implementation, &predict).into_iter().next()?;
    let rules = way.rules(base);
    let Expectation::Accepted { variables, .. } = predict(&rules) else { return None };
    let mut suspected = Vec::new();
    for variable in variables.iter().filter(|variable| differs(variable, observed)) {
        let agrees = |rules: &Rules| variable_agrees(&predict, observed, variable, rules);
        if explain(&variable.trace, &rules, implementation, agrees).is_none() {
            suspected.push(alternatives(&variable.trace, &rules, implementation, agrees));
        }
    }
    Some(suspected)
}

/// Returns the known crashes of other implementations or releases that predict this crash.
pub(crate) fn crash_alternatives(
    trace: &Trace,
    implementation: Implementation<'_>,
    observation: &Observation,
) -> Alternatives {
    let mut found = Vec::new();
    for known in unlisted(implementation) {
        if let Effect::CrashRule { signal, when } = known.effect
            && observation.signal == Some(signal)
            && when(trace)
        {
            found.push(vec![known.id]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: Implementation<'static> =
        Implementation { lineage: Some("nvidia"), version: Some("13.5.37") };

    /// Returns the hypotheses that predict these bytes of the only variable of a program.
    fn found(statement: &str, seen: &[u8], implementation: Implementation<'_>) -> Alternatives {
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{statement}\n");
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let predicts = |rules: &Rules| {
            let expectation = expect(&module, rules);
            let trace = expectation.trace();
            let holds = match expectation {
                Expectation::Accepted { variables, .. } => variables[0].bytes == seen,
                _ => false,
            };
            (holds, trace)
        };
        let (holds, trace) = predicts(&Rules::default());
        assert!(!holds, "{statement} holds {seen:?} by the text");
        alternatives(&trace, &Rules::default(), implementation, predicts)
    }

    #[test]
    fn a_wrong_rule_alone_is_a_hypothesis() {
        // `010` is 8, or 10 if the implementation takes it for a decimal number.
        assert_eq!(found(".const .b8 a = 010;", &[10], NVIDIA), [["octal-as-decimal"]]);
        assert_eq!(found(".const .b8 a = 010;", &[99], NVIDIA), Alternatives::new());
    }

    #[test]
    fn a_listed_deviation_is_a_hypothesis_only_about_other_implementations() {
        // The single value of the second row is followed directly by the value of the third.
        let (rows, packed) = (".global .u8 a[3][2] = {{1, 2}, {3}, {4}};", [1, 2, 3, 4, 0, 0]);
        let with_rows = |implementation| {
            let found = found(rows, &packed, implementation);
            found.iter().any(|ids| ids == &["incomplete-rows-packed"])
        };
        assert!(with_rows(Implementation::default()));
        assert!(!with_rows(NVIDIA));
    }

    #[test]
    fn a_wrong_rule_with_a_listed_deviation_and_two_wrong_rules_are_hypotheses() {
        // Combines incomplete rows with an octal number. If the rows are listed for the implementation, they
        // are no hypothesis.
        let (rows, both) = (".global .u8 a[3][2] = {{1, 2}, {3}, {010}};", [1, 2, 3, 10, 0, 0]);
        assert_eq!(found(rows, &both, NVIDIA), [["octal-as-decimal"]]);
        let two = found(rows, &both, Implementation::default());
        assert!(two.contains(&vec!["incomplete-rows-packed", "octal-as-decimal"]), "{two:?}");
        assert!(two.iter().all(|ids| ids.len() == 2), "{two:?}");
    }

    #[test]
    fn a_wrong_rule_with_two_listed_deviations_is_a_hypothesis() {
        // The last value is 8 + 1. With the octal number taken for 10 and an unsigned remainder, which is not
        // greater than -1, it is 10 + 0.
        let (rows, all) = (".global .u8 a[3][2] = {{1, 2}, {3}, {010 + (1 % 2 > -1)}};", [1, 2, 3, 10, 0, 0]);
        assert_eq!(found(rows, &all, NVIDIA), [["octal-as-decimal"]]);
    }

    #[test]
    fn an_id_is_found_among_deviations_and_wrong_rules() {
        assert_eq!(id_of("incomplete-rows-packed"), Some("incomplete-rows-packed"));
        assert_eq!(id_of("octal-as-decimal"), Some("octal-as-decimal"));
        assert_eq!(id_of("octal"), None);
        let hypothesis = Hypothesis::from_id("octal-as-decimal").unwrap();
        let of = |text| {
            let module = ptxsmith_syntax::parse(text).unwrap();
            let expectation = expect(&module, &hypothesis.rules(&Rules::default()));
            let Expectation::Accepted { variables, .. } = expectation else { panic!("{expectation:?}") };
            variables[0].bytes.clone()
        };
        assert_eq!(of(".version 7.8\n.target sm_80\n.global .u8 a = 010;"), [10]);
    }

    #[test]
    fn a_hypothesis_is_described_by_its_own_title_and_clauses() {
        for known in KNOWN.iter() {
            let (title, clauses) = description_of(known.id).unwrap();
            assert!(title.starts_with(&format!("{}: listed for nvidia, ", known.title)), "{title}");
            assert_eq!((clauses, id_of(known.id)), (known.clauses, Some(known.id)));
        }
        for rule in hypothetical_rules::all() {
            let (title, clauses) = description_of(rule.id).unwrap();
            assert_eq!(title, format!("a wrong rule: {}", rule.title));
            assert_eq!((clauses, id_of(rule.id)), (&[rule.clause][..], Some(rule.id)));
        }
        assert!(description_of("no-such-rule").is_none() && id_of("no-such-rule").is_none());
    }

    #[test]
    fn a_crash_is_attributed_to_deviations_of_others_with_the_same_signal() {
        let dying = |statement: &str, signal, implementation| {
            let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{statement}\n");
            let module = ptxsmith_syntax::parse(&text).unwrap();
            let trace = expect(&module, &Rules::default()).trace();
            let observation = Observation { signal, ..Observation::new(ptxsmith_subject::Outcome::Crashed) };
            crash_alternatives(&trace, implementation, &observation)
        };
        let overflow = ".global .s64 a = (-9223372036854775807 - 1) / -1;";
        let others = Implementation::default();
        assert_eq!(dying(overflow, Some(8), others), [["quotient-overflow-crash"]]);
        assert_eq!(dying(overflow, Some(11), others), Alternatives::new());
        assert_eq!(dying(overflow, None, others), Alternatives::new());
        assert_eq!(dying(overflow, Some(8), NVIDIA), Alternatives::new(), "it is listed");
        assert_eq!(dying(".global .s64 a = 6 / 2;", Some(8), others), Alternatives::new());
    }
}
