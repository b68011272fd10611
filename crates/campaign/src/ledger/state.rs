//! Validates a stored ledger, which may come from another build or an untrusted source.

use std::collections::BTreeMap;

use ptxsmith_diff::id_of;
use serde::{Deserialize, Deserializer, de::Error};

use super::{Ledger, PendingFinding};

impl Ledger {
    /// Returns the largest count in the ledger.
    pub fn largest_count(&self) -> u64 {
        let fates = [self.confusion.must_accept, self.confusion.must_refuse];
        let fates = fates.iter().flat_map(|fates| [fates.accepted, fates.refused, fates.crashed]);
        let single = [self.compared, self.conform, self.unseen, self.by_outcome, self.unsorted];
        let operands = [self.operands.seen, self.operands.total];
        let of_code = [&self.memory_operands, &self.computed_kernels];
        let memory = of_code.into_iter().flat_map(|counts| [counts.compared, counts.removed]);
        let clauses = self.clauses.values().flat_map(|counts| {
            let deviations = [counts.deviates, counts.refuses_valid, counts.accepts_invalid, counts.crashed];
            [counts.compared, counts.conform, counts.unsupported].into_iter().chain(deviations)
        });
        let by_name = (self.excluded.values().chain(self.confirmed.values()))
            .chain(self.not_compared.values())
            .chain(self.why.values().flat_map(BTreeMap::values))
            .chain(of_code.into_iter().flat_map(|counts| counts.not_compared.values()))
            .chain(self.contradicted.values());
        let found = (self.followed.values().chain(self.findings.values()))
            .chain(self.suspected.values())
            .chain(self.refused.values());
        let all = fates.chain(single).chain(operands).chain(memory).chain(clauses).chain(by_name.copied());
        all.chain(found.map(|found| found.finding.count)).max().unwrap_or(0)
    }
}

/// Deserializes findings and checks their names.
pub fn findings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, PendingFinding>, D::Error> {
    let findings = BTreeMap::<String, PendingFinding>::deserialize(deserializer)?;
    match findings.iter().find(|(id, found)| !is_plain(id) || **id != found.finding.id) {
        Some((id, _)) => Err(D::Error::custom(format_args!("there is no finding `{id}`"))),
        None => Ok(findings),
    }
}

/// Returns true if a finding's name is safe as a file name. Its program is stored under this name, and the
/// writer of the state must not be able to choose another directory.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && !id.starts_with('.')
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte))
}

/// Deserializes counts by wrong rule.
pub fn contradicted<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<&'static str, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
    counts.into_iter().map(|(id, count)| Ok((rule(&id)?, count))).collect()
}

/// Returns the wrong rule with this name.
fn rule<E: Error>(id: &str) -> Result<&'static str, E> {
    id_of(id).ok_or_else(|| E::custom(format_args!("there is no wrong rule `{id}`")))
}

/// Serializes findings by alternatives as a list, because keys in JSON are strings.
pub mod suspected {
    use ptxsmith_diff::Alternatives;
    use serde::Serializer;

    use super::{BTreeMap, Deserialize, Deserializer, PendingFinding, rule};

    pub fn serialize<S: Serializer>(
        all: &BTreeMap<Alternatives, PendingFinding>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Alternatives, PendingFinding>, D::Error> {
        let all = Vec::<(Vec<Vec<String>>, PendingFinding)>::deserialize(deserializer)?;
        let mut findings = BTreeMap::new();
        for (sets, found) in all {
            let alternatives: Result<Alternatives, D::Error> =
                sets.iter().map(|set| set.iter().map(|id| rule(id)).collect()).collect();
            findings.insert(alternatives?, found);
        }
        Ok(findings)
    }
}

/// Serializes counts by interpretations as a list.
pub mod by_answers {
    use ptxsmith_oracle::Interpretation;
    use serde::Serializer;

    use super::{BTreeMap, Deserialize, Deserializer};

    pub fn serialize<S: Serializer>(
        all: &BTreeMap<Vec<Interpretation>, u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Vec<Interpretation>, u64>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::NotCompared;
    use ptxsmith_oracle::{Clause, Interpretation, Question};
    use ptxsmith_report::OutcomeCounts;

    use super::*;
    use crate::ledger::FindingName;

    fn found(id: &str, count: u64) -> PendingFinding {
        let mut found =
            PendingFinding::default().named(FindingName { id: id.to_owned(), ..FindingName::default() });
        found.finding.count = count;
        found
    }

    #[test]
    fn the_largest_count_is_found_wherever_it_is() {
        const MOST: u64 = 1_000;
        let answer = Interpretation(Question::ShiftCount, 1);
        let places: [fn(&mut Ledger); 26] = [
            |of| of.compared = MOST,
            |of| of.conform = MOST,
            |of| of.unseen = MOST,
            |of| of.by_outcome = MOST,
            |of| of.unsorted = MOST,
            |of| of.operands.seen = MOST,
            |of| of.operands.total = MOST,
            |of| of.memory_operands.compared = MOST,
            |of| of.memory_operands.removed = MOST,
            |of| of.computed_kernels.compared = MOST,
            |of| of.confusion.must_accept = OutcomeCounts { accepted: MOST, ..OutcomeCounts::default() },
            |of| of.confusion.must_refuse.crashed = MOST,
            |of| of.clauses.entry(Clause::WarpSize).or_default().compared = MOST,
            |of| of.clauses.entry(Clause::WarpSize).or_default().conform = MOST,
            |of| of.clauses.entry(Clause::WarpSize).or_default().deviates = MOST,
            |of| of.clauses.entry(Clause::WarpSize).or_default().crashed = MOST,
            |of| of.clauses.entry(Clause::WarpSize).or_default().unsupported = MOST,
            |of| *of.excluded.entry(Interpretation(Question::ShiftCount, 0)).or_default() = MOST,
            |of| *of.confirmed.entry(Question::ShiftCount).or_default() = MOST,
            |of| *of.not_compared.entry(NotCompared::Unmodelled).or_default() = MOST,
            |of| *of.contradicted.entry("warp-size-64").or_default() = MOST,
            |of| drop(of.why.insert(NotCompared::Unobserved, [("why".to_owned(), MOST)].into())),
            |of| drop(of.followed.insert(Interpretation(Question::ShiftCount, 1), found("b", MOST))),
            |of| drop(of.findings.insert("a".to_owned(), found("a", MOST))),
            |of| drop(of.suspected.insert(vec![vec!["warp-size-64"]], found("c", MOST))),
            |of| drop(of.refused.insert(vec![vec!["warp-size-64"]], found("d", MOST))),
        ];
        assert_eq!(Ledger::default().largest_count(), 0);
        for (nth, put) in places.into_iter().enumerate() {
            let mut ledger = Ledger { compared: 3, conform: 2, ..Ledger::default() };
            ledger.followed.insert(answer, found("e", 4));
            assert_eq!(ledger.largest_count(), 4);
            put(&mut ledger);
            assert_eq!(ledger.largest_count(), MOST, "place {nth}");
        }
    }

    #[test]
    fn a_ledger_is_read_again_with_its_findings_and_what_they_are_put_down_to() {
        let mut ledger = Ledger::default();
        ledger.put(found("wrong-value-a_b.c=d", 2));
        ledger.contradicted.insert("warp-size-64", 3);
        ledger.suspected.insert(vec![vec!["warp-size-64", "octal-as-decimal"]], found("c", 4));
        let text = serde_json::to_string(&ledger).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
        assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap().contradicted["warp-size-64"], 3);
    }

    #[test]
    fn a_finding_is_not_called_what_would_lead_out_of_its_folder() {
        let longest = "x".repeat(200);
        for id in ["wrong-value-4-5-5", "a_b.c=d", "A9", &longest] {
            assert!(is_plain(id), "{id}");
        }
        let too_long = "x".repeat(201);
        for id in ["", ".hidden", "..", "../a", "a/b", "a b", "a\\b", "ä", "a\n", &too_long] {
            assert!(!is_plain(id), "{id}");
            let mut ledger = Ledger::default();
            ledger.put(found(id, 1));
            let text = serde_json::to_string(&ledger).unwrap();
            let error = serde_json::from_str::<Ledger>(&text).unwrap_err().to_string();
            assert!(error.contains("there is no finding"), "{error}");
        }
        // A finding must be stored under its own name.
        let mut ledger = Ledger::default();
        ledger.findings.insert("a".to_owned(), found("b", 1));
        let text = serde_json::to_string(&ledger).unwrap();
        let error = serde_json::from_str::<Ledger>(&text).unwrap_err().to_string();
        assert!(error.contains("there is no finding `a`"), "{error}");
    }
}
