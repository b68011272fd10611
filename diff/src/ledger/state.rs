//! A ledger as it is kept on disk, to go on with or to be merged with others.
//!
//! Everything is stored by name, so that what another build wrote is either understood or refused, never taken for
//! something else.

use std::collections::BTreeMap;

use ptxsmith_oracle::{Clause, ClauseSet, Question};
use ptxsmith_subject::Observation;
use serde::{Deserialize, Serialize};

use super::{Confusion, Example, Finding, Followed, Group, Least, Ledger, Status, Tallies, Tally};
use crate::{
    explain::Explanation,
    known::KNOWN,
    lead,
    verdict::{Class, Difference, Fate, Must, NotCompared},
};

/// A stored ledger that this build cannot read: another build wrote it, or somebody else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{name}`")]
pub struct BadState {
    /// What kind of name it is.
    pub what: &'static str,
    /// The name.
    pub name: String,
}

/// A ledger as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerState {
    compared: u64,
    conform: u64,
    unseen: u64,
    /// Seen, and all.
    #[serde(default)]
    operands: [u64; 2],
    by_outcome: u64,
    unsorted: u64,
    excluded: BTreeMap<String, u64>,
    followed: BTreeMap<String, FollowedState>,
    confirmed: BTreeMap<String, u64>,
    not_compared: BTreeMap<String, u64>,
    clauses: Vec<String>,
    /// Compared must-accept and must-refuse programs by fate.
    confusion: BTreeMap<String, u64>,
    tallies: BTreeMap<String, [u64; 6]>,
    #[serde(default)]
    least: Vec<LeastState>,
    contradicted: BTreeMap<String, u64>,
    findings: BTreeMap<String, FindingState>,
    suspected: Vec<GroupState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FollowedState {
    count: u64,
    example: ExampleState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FindingState {
    status: Status,
    class: String,
    title: String,
    clauses: Vec<String>,
    count: u64,
    example: ExampleState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LeastState {
    clause: String,
    class: String,
    trial: u64,
    weight: usize,
    program: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct GroupState {
    alternatives: Vec<Vec<String>>,
    count: u64,
    class: String,
    example: ExampleState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ExampleState {
    trial: u64,
    weight: usize,
    program: String,
    class: String,
    variable: Option<String>,
    expected: serde_json::Value,
    observed: Observation,
    #[serde(skip_serializing_if = "Option::is_none")]
    readings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspected: Option<Vec<Vec<Vec<String>>>>,
}

const MUSTS: [(&str, Must); 2] = [("must-accept", Must::Accept), ("must-refuse", Must::Refuse)];
const FATES: [(&str, Fate); 3] =
    [("accepted", Fate::Accepted), ("refused", Fate::Refused), ("died", Fate::Died)];

fn answer((question, answer): (Question, usize)) -> String {
    format!("{}={}", question.name(), question.answers()[answer])
}

fn read_answer(text: &str) -> Result<(Question, usize), BadState> {
    let read = || {
        let (name, answer) = text.split_once('=')?;
        let question = Question::from_name(name)?;
        Some((question, question.answers().iter().position(|&own| own == answer)?))
    };
    read().ok_or_else(|| bad("answer to a question", text))
}

fn bad(what: &'static str, name: &str) -> BadState {
    BadState { what, name: name.to_owned() }
}

fn ids(clauses: impl IntoIterator<Item = Clause>) -> Vec<String> {
    clauses.into_iter().map(|clause| clause.id().to_owned()).collect()
}

fn read_clause(id: &str) -> Result<Clause, BadState> {
    Clause::from_id(id).ok_or_else(|| bad("clause", id))
}

fn read_clauses(ids: &[String]) -> Result<Vec<Clause>, BadState> {
    ids.iter().map(|id| read_clause(id)).collect()
}

fn read_class(name: &str) -> Result<Class, BadState> {
    Class::ALL.into_iter().find(|class| class.name() == name).ok_or_else(|| bad("class", name))
}

fn read_question(name: &str) -> Result<Question, BadState> {
    Question::from_name(name).ok_or_else(|| bad("question", name))
}

fn read_lead(id: &str) -> Result<&'static str, BadState> {
    lead::id_of(id).ok_or_else(|| bad("wrong rule", id))
}

fn read_alternatives(sets: &[Vec<String>]) -> Result<lead::Alternatives, BadState> {
    sets.iter().map(|set| set.iter().map(|id| read_lead(id)).collect()).collect()
}

/// Whether a finding is called what one may be called: its program is kept in a file of that name, and whoever wrote the
/// state must not choose where.
fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=');
    !id.is_empty() && id.len() <= 200 && !id.starts_with('.') && id.bytes().all(plain)
}

fn owned(sets: &[Vec<&'static str>]) -> Vec<Vec<String>> {
    sets.iter().map(|set| set.iter().map(|&id| id.to_owned()).collect()).collect()
}

impl ExampleState {
    fn of(example: &Example) -> ExampleState {
        let Example { trial, program, difference, weight } = example;
        let explanation = difference.explanation.as_ref();
        ExampleState {
            trial: *trial,
            weight: *weight,
            program: program.clone(),
            class: difference.class.name().to_owned(),
            variable: difference.variable.clone(),
            expected: difference.expected.clone(),
            observed: difference.observed.clone(),
            readings: explanation.map(|e| e.readings.iter().copied().map(answer).collect()),
            known: explanation.map(|e| e.known.iter().map(|&id| id.to_owned()).collect()),
            suspected: difference.suspected.as_ref().map(|all| all.iter().map(|sets| owned(sets)).collect()),
        }
    }

    fn read(self) -> Result<Example, BadState> {
        let explanation = match (&self.readings, &self.known) {
            (None, None) => None,
            (readings, known) => {
                let known = known.iter().flatten().map(|id| {
                    let own = KNOWN.iter().find(|known| known.id == *id);
                    own.map(|known| known.id).ok_or_else(|| bad("known deviation", id))
                });
                let readings = readings.iter().flatten().map(|text| read_answer(text));
                Some(Explanation {
                    readings: readings.collect::<Result<_, _>>()?,
                    known: known.collect::<Result<_, _>>()?,
                })
            }
        };
        let suspected = self.suspected.map(|all| all.iter().map(|sets| read_alternatives(sets)).collect());
        let difference = Difference {
            class: read_class(&self.class)?,
            variable: self.variable,
            expected: self.expected,
            observed: self.observed,
            explanation,
            suspected: suspected.transpose()?,
        };
        Ok(Example { trial: self.trial, program: self.program, difference, weight: self.weight })
    }
}

impl Ledger {
    /// The ledger as data.
    pub fn to_state(&self) -> LedgerState {
        let mut confusion = BTreeMap::new();
        for (must_name, must) in MUSTS {
            for (fate_name, fate) in FATES {
                confusion.insert(format!("{must_name} {fate_name}"), self.confusion.count(must, fate));
            }
        }
        let followed = self.followed.iter().map(|(&of, followed)| {
            let example = ExampleState::of(&followed.example);
            (answer(of), FollowedState { count: followed.count, example })
        });
        let findings = self.findings.iter().map(|(id, finding)| {
            let state = FindingState {
                status: finding.status,
                class: finding.class.name().to_owned(),
                title: finding.title.clone(),
                clauses: ids(finding.clauses.iter().copied()),
                count: finding.count,
                example: ExampleState::of(&finding.example),
            };
            (id.clone(), state)
        });
        let suspected = self.suspected.iter().map(|(alternatives, group)| GroupState {
            alternatives: owned(alternatives),
            count: group.count,
            class: group.class.name().to_owned(),
            example: ExampleState::of(&group.example),
        });
        let least = self.least.iter().map(|(clause, class, least)| LeastState {
            clause: clause.id().to_owned(),
            class: class.name().to_owned(),
            trial: least.trial,
            weight: least.weight,
            program: least.program.clone(),
        });
        LedgerState {
            compared: self.compared,
            conform: self.conform,
            unseen: self.unseen,
            operands: [self.operands.seen, self.operands.total],
            by_outcome: self.by_outcome,
            unsorted: self.unsorted,
            excluded: self.excluded.iter().map(|(&of, &count)| (answer(of), count)).collect(),
            followed: followed.collect(),
            confirmed: self.confirmed.iter().map(|(of, &count)| (of.name().to_owned(), count)).collect(),
            not_compared: self.not_compared.iter().map(|(of, &n)| (of.name().to_owned(), n)).collect(),
            clauses: ids(self.clauses.iter()),
            confusion,
            tallies: self.tallies.iter().map(|(of, tally)| (of.id().to_owned(), tally.counts())).collect(),
            least: least.collect(),
            contradicted: self.contradicted.iter().map(|(&id, &n)| (id.to_owned(), n)).collect(),
            findings: findings.collect(),
            suspected: suspected.collect(),
        }
    }

    /// The ledger that was stored.
    ///
    /// # Errors
    /// [`BadState`] where it names something that this build does not know.
    pub fn from_state(state: LedgerState) -> Result<Ledger, BadState> {
        let mut ledger = Ledger {
            compared: state.compared,
            conform: state.conform,
            unseen: state.unseen,
            operands: crate::Share { seen: state.operands[0], total: state.operands[1] },
            by_outcome: state.by_outcome,
            unsorted: state.unsorted,
            clauses: read_clauses(&state.clauses)?.into_iter().collect::<ClauseSet>(),
            tallies: Tallies::default(),
            ..Ledger::default()
        };
        for (of, count) in state.excluded {
            ledger.excluded.insert(read_answer(&of)?, count);
        }
        for (of, followed) in state.followed {
            let example = followed.example.read()?;
            ledger.followed.insert(read_answer(&of)?, Followed { count: followed.count, example });
        }
        for (of, count) in state.confirmed {
            ledger.confirmed.insert(read_question(&of)?, count);
        }
        for (of, count) in state.not_compared {
            let reason = NotCompared::ALL.into_iter().find(|reason| reason.name() == of);
            ledger.not_compared.insert(reason.ok_or_else(|| bad("reason", &of))?, count);
        }
        ledger.confusion = Confusion::default();
        for (must_name, must) in MUSTS {
            for (fate_name, fate) in FATES {
                if let Some(&count) = state.confusion.get(&format!("{must_name} {fate_name}"))
                    && count > 0
                {
                    ledger.confusion.counts.insert((must, fate), count);
                }
            }
        }
        for (of, counts) in state.tallies {
            ledger.tallies.set(read_clause(&of)?, Tally::from_counts(counts));
        }
        for LeastState { clause, class, trial, weight, program } in state.least {
            ledger.least.put((read_clause(&clause)?, read_class(&class)?), Least { trial, program, weight });
        }
        for (id, count) in state.contradicted {
            ledger.contradicted.insert(read_lead(&id)?, count);
        }
        for (id, finding) in state.findings {
            if !is_plain(&id) {
                return Err(bad("finding", &id));
            }
            let finding = Finding {
                id: id.clone(),
                status: finding.status,
                class: read_class(&finding.class)?,
                title: finding.title,
                clauses: read_clauses(&finding.clauses)?,
                count: finding.count,
                example: finding.example.read()?,
            };
            ledger.findings.insert(id, finding);
        }
        for group in state.suspected {
            let alternatives = read_alternatives(&group.alternatives)?;
            let (count, class) = (group.count, read_class(&group.class)?);
            ledger.suspected.insert(alternatives, Group { count, class, example: group.example.read()? });
        }
        Ok(ledger)
    }
}
