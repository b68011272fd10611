//! Finds a small set of wrong rules that explains the new differences.
//!
//! Several wrong rules may predict the same difference, but few predict many of them. The causes are the
//! smallest set of rules that explains all differences, found greedily. Once a cause is known, it also
//! explains the differences that it predicts together with other known causes. The result depends only on
//! counts, names and the shortest examples, not on the order of the differences.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_diff::{Alternatives, Implementation, predicts};
use ptxsmith_oracle::Interpretation;

use super::{Ledger, PendingFinding};

/// The most examples to evaluate again to check whether a candidate predicts them.
const MOST_EVALUATED: u32 = 2_000;

/// The most causes to try in pairs.
const MOST_TOGETHER: usize = 8;

/// A wrong rule is contradicted if more than one case conforms against it for this many differences that it
/// predicts.
const HIDDEN: u64 = 3;

/// The causes of the new differences of some ledgers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    causes: Vec<&'static str>,
    groups: BTreeMap<Alternatives, Vec<&'static str>>,
    refusals: BTreeMap<Alternatives, Vec<&'static str>>,
    findings: BTreeMap<String, Vec<&'static str>>,
    followed: BTreeMap<Interpretation, Vec<&'static str>>,
}

/// A set of differences that needs a cause.
struct OpenDifference<'l> {
    key: DifferenceKey<'l>,
    count: u64,
    example: &'l PendingFinding,
    maker: Implementation<'l>,
}

/// The property that the differences of a set share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DifferenceKey<'l> {
    /// Differences that any of these sets of rules predicts.
    Group(&'l Alternatives),
    /// Rejections that any of these sets of rules predicts; they are evidence for none of them.
    Refusal(&'l Alternatives),
    /// Differences that no single wrong rule predicts.
    Finding(&'l str),
    /// An interpretation that some trials follow and others exclude.
    Followed(Interpretation),
}

type OpenDifferences<'l> = BTreeMap<DifferenceKey<'l>, OpenDifference<'l>>;

/// Adds the differences of a finding to the set with this key.
fn add<'l>(
    open: &mut OpenDifferences<'l>,
    key: DifferenceKey<'l>,
    example: &'l PendingFinding,
    maker: Implementation<'l>,
) {
    let set = open.entry(key).or_insert(OpenDifference { key, count: 0, example, maker });
    set.count += example.finding.count;
    if example.is_shorter_than(set.example) {
        set.example = example;
        set.maker = maker;
    }
}

/// The evidence for and against a wrong rule.
#[derive(Clone, Copy, Default)]
struct Evidence {
    /// The number of differences that the rule may cause.
    supporting: u64,
    /// The number of cases that conform although the rule predicts otherwise.
    contradicting: u64,
}

impl Evidence {
    /// Returns true if the rule cannot be a cause. A deviation may hide another in the same program, so a few
    /// conforming cases among many differences are no contradiction.
    fn is_contradiction(self) -> bool {
        self.contradicting * HIDDEN > self.supporting
    }
}

impl Triage {
    /// Finds the causes of the new differences in ledgers reported together, each with the implementation
    /// that it belongs to.
    pub fn new<'l>(ledgers: impl IntoIterator<Item = (&'l Ledger, Implementation<'l>)>) -> Triage {
        let mut open = OpenDifferences::new();
        let mut evidence: BTreeMap<&'static str, Evidence> = BTreeMap::new();
        for (ledger, maker) in ledgers {
            for (alternatives, found) in &ledger.suspected {
                add(&mut open, DifferenceKey::Group(alternatives), found, maker);
                for id in alternatives.iter().flatten().collect::<BTreeSet<_>>() {
                    evidence.entry(id).or_default().supporting += found.finding.count;
                }
            }
            for (alternatives, found) in &ledger.refused {
                add(&mut open, DifferenceKey::Refusal(alternatives), found, maker);
            }
            for (id, count) in &ledger.contradicted {
                evidence.entry(id).or_default().contradicting += count;
            }
            for (id, found) in &ledger.findings {
                // No wrong rule predicts two different results of an implementation for the same program.
                if found.is_new() && !found.is_inconsistent() && !found.is_refusal() {
                    add(&mut open, DifferenceKey::Finding(id), found, maker);
                }
            }
            for (&answer, found) in ledger.mixed() {
                add(&mut open, DifferenceKey::Followed(answer), found, maker);
            }
        }
        let contradicted = evidence.iter().filter(|(_, evidence)| evidence.is_contradiction());
        Triage::from_open(open, &contradicted.map(|(&id, _)| id).collect())
    }

    /// Finds the causes. Rules in `ruled_out` are never a cause.
    fn from_open(open: OpenDifferences<'_>, ruled_out: &BTreeSet<&'static str>) -> Triage {
        let differences: Vec<OpenDifference<'_>> = open.into_values().collect();
        let candidates = candidates(&differences, ruled_out);
        let mut evaluated = 0;
        // The candidates that predict each difference alone or with the listed deviations.
        let mut unexplained: Vec<(&OpenDifference<'_>, Vec<&'static str>)> = Vec::new();
        for difference in &differences {
            let mut predicting = Vec::new();
            for &id in &candidates {
                let is_listed = difference.lists(id);
                evaluated += u32::from(!is_listed);
                if is_listed || evaluated <= MOST_EVALUATED && difference.is_predicted_by(&[id]) {
                    predicting.push(id);
                }
            }
            unexplained.push((difference, predicting));
        }
        let mut triage = Triage::default();
        loop {
            let mut explains: BTreeMap<&'static str, u64> = BTreeMap::new();
            for (difference, predicting) in &unexplained {
                if !matches!(difference.key, DifferenceKey::Refusal(_)) {
                    predicting.iter().for_each(|id| *explains.entry(id).or_default() += difference.count);
                }
            }
            let best = explains.iter().max_by_key(|&(&id, &count)| (count, Reverse(id)));
            let Some((&cause, _)) = best else { break };
            triage.causes.push(cause);
            unexplained.retain(|(difference, predicting)| {
                let causes = if predicting.contains(&cause) {
                    Some(vec![cause])
                } else {
                    // Differences that this cause and an earlier one predict only together need no further
                    // cause.
                    triage.joint_causes(difference)
                };
                causes.map(|causes| triage.explain(difference, causes)).is_none()
            });
        }
        while let Some(cause) =
            next_cause(unexplained.iter().map(|(open, _)| *open), &triage.causes, ruled_out)
        {
            triage.causes.extend(cause);
            unexplained.retain(|(difference, _)| {
                let causes = triage.joint_causes(difference);
                causes.map(|causes| triage.explain(difference, causes)).is_none()
            });
        }
        triage
    }

    /// Records the causes of a set of differences.
    fn explain(&mut self, open: &OpenDifference<'_>, causes: Vec<&'static str>) {
        match open.key {
            DifferenceKey::Group(group) => drop(self.groups.insert(group.clone(), causes)),
            DifferenceKey::Refusal(group) => drop(self.refusals.insert(group.clone(), causes)),
            DifferenceKey::Finding(id) => drop(self.findings.insert(id.to_owned(), causes)),
            DifferenceKey::Followed(answer) => drop(self.followed.insert(answer, causes)),
        }
    }

    /// Returns causes found so far that together predict the differences, including the latest cause.
    fn joint_causes(&self, open: &OpenDifference<'_>) -> Option<Vec<&'static str>> {
        if let DifferenceKey::Group(group) | DifferenceKey::Refusal(group) = open.key {
            let mut sets = group.iter();
            if let Some(set) = sets.find(|set| set.iter().all(|id| self.causes.contains(id))) {
                return Some(set.clone());
            }
        }
        let causes = &self.causes[..self.causes.len().min(MOST_TOGETHER)];
        for (index, &later) in causes.iter().enumerate() {
            for &earlier in &causes[..index] {
                if open.is_predicted_by(&[earlier, later]) {
                    return Some(vec![earlier, later]);
                }
            }
        }
        None
    }

    /// Returns the wrong rules that explain a group; empty if none do.
    pub(super) fn group(&self, group: &Alternatives) -> &[&'static str] {
        self.groups.get(group).map_or(&[], Vec::as_slice)
    }

    /// Returns the wrong rules that explain a group of rejections; empty if none do.
    pub(super) fn refusal(&self, group: &Alternatives) -> &[&'static str] {
        self.refusals.get(group).map_or(&[], Vec::as_slice)
    }

    /// Returns the wrong rules that explain a finding without an explanation of its own; empty if none do.
    pub(super) fn finding(&self, id: &str) -> &[&'static str] {
        self.findings.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns the wrong rules that make the subject appear to follow an interpretation in some trials only;
    /// empty if none do.
    pub(super) fn followed(&self, answer: Interpretation) -> &[&'static str] {
        self.followed.get(&answer).map_or(&[], Vec::as_slice)
    }
}

impl OpenDifference<'_> {
    /// Returns true if these wrong rules together predict the shortest example.
    fn is_predicted_by(&self, rules: &[&'static str]) -> bool {
        let example = &self.example.finding;
        predicts(rules, self.maker, &example.program, &example.observed)
    }

    /// Returns true if a wrong rule alone is known to predict all differences of the set.
    fn lists(&self, rule: &'static str) -> bool {
        match self.key {
            DifferenceKey::Group(group) | DifferenceKey::Refusal(group) => group.contains(&vec![rule]),
            DifferenceKey::Finding(_) | DifferenceKey::Followed(_) => false,
        }
    }
}

/// Returns wrong rules that may be causes: enough of them to predict every difference that any single rule
/// predicts.
fn candidates(open: &[OpenDifference<'_>], ruled_out: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let mut unexplained: Vec<&OpenDifference<'_>> = open.iter().collect();
    let mut candidates = Vec::new();
    while let Some(cause) = next_cause(unexplained.iter().copied(), &[], ruled_out) {
        let [cause] = cause[..] else { break };
        candidates.push(cause);
        unexplained.retain(|open| match open.key {
            DifferenceKey::Group(group) => !group.contains(&vec![cause]),
            _ => true,
        });
    }
    candidates
}

/// Returns the wrong rule that explains the most remaining differences, or several if they explain something
/// only together.
fn next_cause<'o>(
    open: impl Iterator<Item = &'o OpenDifference<'o>> + Clone,
    causes: &[&'static str],
    ruled_out: &BTreeSet<&'static str>,
) -> Option<Vec<&'static str>> {
    let groups = open.filter_map(|open| match open.key {
        DifferenceKey::Group(group) => Some((group, open.count)),
        _ => None,
    });
    // The number of differences that each rule explains, given the causes already found.
    let mut explains: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut sets: BTreeMap<&[&'static str], u64> = BTreeMap::new();
    for (group, count) in groups {
        for set in group.iter().filter(|set| !set.iter().any(|id| ruled_out.contains(id))) {
            let missing: Vec<&'static str> = set.iter().filter(|id| !causes.contains(id)).copied().collect();
            if let [only] = missing[..] {
                *explains.entry(only).or_default() += count;
            }
            *sets.entry(set).or_default() += count;
        }
    }
    let best = explains.iter().max_by_key(|&(&id, &count)| (count, Reverse(id)));
    best.map(|(&id, _)| vec![id]).or_else(|| {
        let (set, _) = sets.iter().max_by_key(|&(set, count)| (*count, Reverse(*set)))?;
        Some(set.iter().filter(|id| !causes.contains(id)).copied().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(groups: &[(&Alternatives, u64)], ruled_out: &[&'static str]) -> Vec<&'static str> {
        let example = PendingFinding::default();
        let ruled_out = ruled_out.iter().copied().collect();
        let open = |&(group, count)| {
            (
                DifferenceKey::Group(group),
                OpenDifference {
                    key: DifferenceKey::Group(group),
                    count,
                    example: &example,
                    maker: Implementation::default(),
                },
            )
        };
        let triage = Triage::from_open(groups.iter().map(open).collect(), &ruled_out);
        for (group, _) in groups {
            assert_eq!(triage.group(group).is_empty(), triage.causes.is_empty(), "{group:?}");
        }
        triage.causes
    }

    #[test]
    fn one_rule_that_predicts_everything_is_the_only_cause() {
        let (both, one) = (vec![vec!["a"], vec!["b"]], vec![vec!["b"]]);
        assert_eq!(causes(&[(&both, 1_000), (&one, 1)], &[]), ["b"]);
    }

    #[test]
    fn a_rule_that_a_program_rules_out_is_no_cause() {
        let (both, one) = (vec![vec!["a"], vec!["b"]], vec![vec!["a"]]);
        assert_eq!(causes(&[(&both, 9)], &["a"]), ["b"]);
        assert_eq!(causes(&[(&one, 9)], &["a"]), [] as [&str; 0]);
    }

    #[test]
    fn two_causes_are_found_where_no_one_rule_predicts_everything() {
        let (a, b, both) = (vec![vec!["a"]], vec![vec!["b"]], vec![vec!["a", "b"]]);
        assert_eq!(causes(&[(&a, 5), (&b, 2), (&both, 1)], &[]), ["a", "b"]);
    }

    #[test]
    fn rules_that_show_only_together_are_found_together() {
        let both = vec![vec!["a", "b"], vec!["c", "d"]];
        assert_eq!(causes(&[(&both, 1)], &[]), ["a", "b"]);
    }

    #[test]
    fn what_explains_most_is_found_first_and_what_covers_two_groups_before_what_covers_one() {
        let (a, b) = (vec![vec!["a"]], vec![vec!["b"]]);
        assert_eq!(causes(&[(&a, 1), (&b, 9)], &[]), ["b", "a"]);
        // The last rule in the alphabet predicts both.
        let (one, other) = (vec![vec!["a"], vec!["z"]], vec![vec!["b"], vec!["z"]]);
        assert_eq!(causes(&[(&one, 2), (&other, 2)], &[]), ["z"]);
        // On a tie, the first rule in the alphabet is the cause.
        assert_eq!(causes(&[(&a, 4), (&b, 4)], &[]), ["a", "b"]);
    }
}
