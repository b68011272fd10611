//! What of a stored ledger is looked at before it is believed: another build may have written it, or somebody else.

use std::collections::BTreeMap;

use ptxsmith_diff::id_of;
use serde::{Deserialize, Deserializer, de::Error};

use super::{Found, Ledger};

impl Ledger {
    /// The largest of its counts.
    pub fn largest_count(&self) -> u64 {
        let fates = [self.confusion.must_accept, self.confusion.must_refuse];
        let fates = fates.iter().flat_map(|fates| [fates.accepted, fates.refused, fates.died]);
        let single = [self.compared, self.conform, self.unseen, self.by_outcome, self.unsorted];
        let operands = [self.operands.seen, self.operands.total];
        let memory = [self.memory_operands.compared, self.memory_operands.removed];
        let clauses = self.clauses.values().flat_map(|of| {
            let died = [of.crashed, of.unsupported];
            [of.compared, of.conform, of.deviates, of.refuses_valid, of.accepts_invalid]
                .into_iter()
                .chain(died)
        });
        let by_name = (self.excluded.values().chain(self.confirmed.values()))
            .chain(self.not_compared.values())
            .chain(self.why.values().flat_map(BTreeMap::values))
            .chain(self.memory_operands.not_compared.values())
            .chain(self.contradicted.values());
        let found = (self.followed.values().chain(self.findings.values()))
            .chain(self.suspected.values())
            .chain(self.refused.values());
        let all = fates.chain(single).chain(operands).chain(memory).chain(clauses).chain(by_name.copied());
        all.chain(found.map(|found| found.finding.count)).max().unwrap_or(0)
    }
}

/// The findings, by names that a finding may have.
pub fn findings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Found>, D::Error> {
    let findings = BTreeMap::<String, Found>::deserialize(deserializer)?;
    match findings.iter().find(|(id, found)| !is_plain(id) || **id != found.finding.id) {
        Some((id, _)) => Err(D::Error::custom(format_args!("there is no finding `{id}`"))),
        None => Ok(findings),
    }
}

/// Whether a finding is called what one may be called: its program is kept in a file of that name, and the writer of the
/// state must not choose where.
fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=');
    !id.is_empty() && id.len() <= 200 && !id.starts_with('.') && id.bytes().all(plain)
}

/// Counts by wrong rule.
pub fn contradicted<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<&'static str, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
    counts.into_iter().map(|(id, count)| Ok((rule(&id)?, count))).collect()
}

/// The wrong rule of this name.
fn rule<E: Error>(id: &str) -> Result<&'static str, E> {
    id_of(id).ok_or_else(|| E::custom(format_args!("there is no wrong rule `{id}`")))
}

/// What was found by alternatives, as a list: keys in JSON are texts.
pub mod suspected {
    use ptxsmith_diff::Alternatives;
    use serde::Serializer;

    use super::{BTreeMap, Deserialize, Deserializer, Found, rule};

    pub fn serialize<S: Serializer>(
        all: &BTreeMap<Alternatives, Found>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Alternatives, Found>, D::Error> {
        let all = Vec::<(Vec<Vec<String>>, Found)>::deserialize(deserializer)?;
        let known = |sets: Vec<Vec<String>>| -> Result<Alternatives, D::Error> {
            sets.iter().map(|set| set.iter().map(|id| rule(id)).collect()).collect()
        };
        all.into_iter().map(|(sets, found)| Ok((known(sets)?, found))).collect()
    }
}
