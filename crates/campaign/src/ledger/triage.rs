//! Finds a small set of wrong rules that explains the new differences.
//!
//! Several wrong rules may predict the same difference, but few predict many of them. The causes are the smallest set of
//! rules that explains all differences, found greedily. Once a cause is known, it also explains the differences that it
//! predicts together with other known causes. The result depends only on counts, names and the shortest examples, not on
//! the order of the differences.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_diff::{Alternatives, Maker, predicts};
use ptxsmith_oracle::Interpretation;

use super::{Found, Ledger};

/// The most examples to evaluate again to check whether a candidate predicts them.
const MOST_EVALUATED: u32 = 2_000;

/// The most causes to try in pairs.
const MOST_TOGETHER: usize = 8;

/// A wrong rule is contradicted if more than one case conforms against it for this many differences that it predicts.
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
struct Open<'l> {
    what: What<'l>,
    count: u64,
    example: &'l Found,
    maker: Maker<'l>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What<'l> {
    /// Differences that any of these sets of rules predicts.
    Group(&'l Alternatives),
    /// Rejections that any of these sets of rules predicts; they are evidence for none of them.
    Refusal(&'l Alternatives),
    /// Differences that no single wrong rule predicts.
    Finding(&'l str),
    /// An interpretation that some trials follow and others exclude.
    Followed(Interpretation),
}

impl Triage {
    /// Finds the causes of the new differences in ledgers reported together, each with the implementation that it belongs
    /// to.
    pub fn of<'l>(ledgers: impl IntoIterator<Item = (&'l Ledger, Maker<'l>)>) -> Triage {
        let mut open: BTreeMap<What<'l>, Open<'l>> = BTreeMap::new();
        // For each wrong rule: the number of differences that it may cause, and the number of cases that conform although
        // it predicts otherwise.
        let mut evidence: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
        let mut add = |what, example: &'l Found, maker| {
            let entry = open.entry(what).or_insert(Open { what, count: 0, example, maker });
            entry.count += example.finding.count;
            if example.is_shorter_than(entry.example) {
                (entry.example, entry.maker) = (example, maker);
            }
        };
        for (ledger, maker) in ledgers {
            for (alternatives, found) in &ledger.suspected {
                add(What::Group(alternatives), found, maker);
                for id in alternatives.iter().flatten().collect::<BTreeSet<_>>() {
                    evidence.entry(id).or_default().0 += found.finding.count;
                }
            }
            for (alternatives, found) in &ledger.refused {
                add(What::Refusal(alternatives), found, maker);
            }
            for (id, count) in &ledger.contradicted {
                evidence.entry(id).or_default().1 += count;
            }
            // No wrong rule predicts two different results of one implementation for one program.
            let has_cause = |found: &Found| found.is_new() && !found.is_inconsistent() && !found.is_refusal();
            for (id, found) in ledger.findings.iter().filter(|(_, found)| has_cause(found)) {
                add(What::Finding(id), found, maker);
            }
            for (&answer, found) in ledger.mixed() {
                add(What::Followed(answer), found, maker);
            }
        }
        // A deviation may hide another in the same program, so a few conforming cases among many differences are no
        // contradiction.
        let ruled_out = |(id, (for_it, against)): (_, (u64, u64))| (against * HIDDEN > for_it).then_some(id);
        Triage::of_open(open, &evidence.into_iter().filter_map(ruled_out).collect())
    }

    /// Finds the causes. Rules in `ruled_out` are never a cause.
    fn of_open<'l>(open: BTreeMap<What<'l>, Open<'l>>, ruled_out: &BTreeSet<&'static str>) -> Triage {
        let open: Vec<Open<'l>> = open.into_values().collect();
        let candidates = candidates(&open, ruled_out);
        let mut evaluated = 0;
        // The differences that each candidate predicts alone or with the listed deviations.
        let predicted: Vec<Vec<&'static str>> = open
            .iter()
            .map(|open| {
                let predicts = |id: &&'static str| {
                    let listed = matches!(open.what, What::Group(group) | What::Refusal(group) if group.contains(&vec![*id]));
                    evaluated += u32::from(!listed);
                    listed || evaluated <= MOST_EVALUATED && open.is_predicted_by(&[*id])
                };
                candidates.iter().copied().filter(predicts).collect()
            })
            .collect();
        let mut triage = Triage::default();
        let mut left: Vec<(&Open<'l>, Vec<&'static str>)> = open.iter().zip(predicted).collect();
        loop {
            let mut explains: BTreeMap<&'static str, u64> = BTreeMap::new();
            for (open, predicted) in left.iter().filter(|(open, _)| !matches!(open.what, What::Refusal(_))) {
                predicted.iter().for_each(|id| *explains.entry(id).or_default() += open.count);
            }
            let best = explains.iter().max_by_key(|&(&id, &count)| (count, Reverse(id)));
            let Some((&cause, _)) = best else { break };
            triage.causes.push(cause);
            left.retain(|(open, predicted)| {
                let causes = match predicted.contains(&cause) {
                    true => Some(vec![cause]),
                    // Differences that this cause and an earlier one predict only together need no further cause.
                    false => triage.several(open),
                };
                causes.map(|causes| triage.put_down(open, causes)).is_none()
            });
        }
        while let Some(cause) = next_cause(left.iter().map(|(open, _)| *open), &triage.causes, ruled_out) {
            triage.causes.extend(cause);
            left.retain(|(open, _)| {
                let set = triage.several(open);
                set.map(|set| triage.put_down(open, set)).is_none()
            });
        }
        triage
    }

    fn put_down(&mut self, open: &Open<'_>, causes: Vec<&'static str>) {
        match open.what {
            What::Group(group) => drop(self.groups.insert(group.clone(), causes)),
            What::Refusal(group) => drop(self.refusals.insert(group.clone(), causes)),
            What::Finding(id) => drop(self.findings.insert(id.to_owned(), causes)),
            What::Followed(answer) => drop(self.followed.insert(answer, causes)),
        }
    }

    /// Returns causes found so far that together predict the differences, including the latest cause.
    fn several(&self, open: &Open<'_>) -> Option<Vec<&'static str>> {
        if let What::Group(group) | What::Refusal(group) = open.what {
            let known = |set: &&Vec<&'static str>| set.iter().all(|id| self.causes.contains(id));
            if let Some(set) = group.iter().find(known) {
                return Some(set.clone());
            }
        }
        let causes = &self.causes[..self.causes.len().min(MOST_TOGETHER)];
        let mut pairs = causes
            .iter()
            .enumerate()
            .flat_map(|(at, &one)| causes[..at].iter().map(move |&other| vec![other, one]));
        pairs.find(|pair| open.is_predicted_by(pair))
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

    /// Returns the wrong rules that make the subject appear to follow an interpretation in some trials only; empty if
    /// none do.
    pub(super) fn followed(&self, answer: Interpretation) -> &[&'static str] {
        self.followed.get(&answer).map_or(&[], Vec::as_slice)
    }
}

impl Open<'_> {
    fn is_predicted_by(&self, leads: &[&'static str]) -> bool {
        let example = &self.example.finding;
        predicts(leads, self.maker, &example.program, &example.observed)
    }
}

/// Returns wrong rules that may be causes: enough of them to predict every difference that any single rule predicts.
fn candidates(open: &[Open<'_>], ruled_out: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let mut left: Vec<&Open<'_>> = open.iter().collect();
    let mut candidates = Vec::new();
    while let Some(cause) = next_cause(left.iter().copied(), &[], ruled_out) {
        let [cause] = cause[..] else { break };
        candidates.push(cause);
        left.retain(|open| match open.what {
            What::Group(group) => !group.contains(&vec![cause]),
            _ => true,
        });
    }
    candidates
}

/// Returns the wrong rule that explains the most remaining differences, or several if they explain something only
/// together.
fn next_cause<'o>(
    open: impl Iterator<Item = &'o Open<'o>> + Clone,
    causes: &[&'static str],
    ruled_out: &BTreeSet<&'static str>,
) -> Option<Vec<&'static str>> {
    let groups = open.filter_map(|open| match open.what {
        What::Group(group) => Some((group, open.count)),
        _ => None,
    });
    // The number of differences that each rule explains, given the causes already found.
    let mut explains: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut sets: BTreeMap<&[&'static str], u64> = BTreeMap::new();
    for (group, count) in groups {
        for set in group.iter().filter(|set| !set.iter().any(|id| ruled_out.contains(id))) {
            let missing: Vec<&'static str> = set.iter().filter(|id| !causes.contains(id)).copied().collect();
            if let [one] = missing[..] {
                *explains.entry(one).or_default() += count;
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
        let example = Found::default();
        let ruled_out = ruled_out.iter().copied().collect();
        let open = |&(group, count)| {
            (
                What::Group(group),
                Open { what: What::Group(group), count, example: &example, maker: Maker::default() },
            )
        };
        let triage = Triage::of_open(groups.iter().map(open).collect(), &ruled_out);
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
