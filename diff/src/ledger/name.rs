//! What a finding is called: the same tomorrow, in another shard, and in another order.

use ptxsmith_oracle::{Clause, ClauseSet};
use ptxsmith_subject::Outcome;

use super::{Finding, Status};
use crate::{
    known::Known,
    lead,
    verdict::{Class, Difference},
};

/// Name and description of a finding.
pub struct Name {
    pub id: String,
    pub status: Status,
    pub title: String,
    pub clauses: Vec<Clause>,
}

impl Name {
    pub fn known(known: &Known) -> Name {
        Name {
            id: known.id.to_owned(),
            status: Status::Known,
            title: known.title.to_owned(),
            clauses: known.clauses.to_vec(),
        }
    }

    /// The wrong rule that predicts a difference.
    pub fn lead(id: &str) -> Name {
        let (title, clauses) = lead::described(id).unwrap_or_default();
        let unlisted = crate::known::KNOWN.iter().any(|known| known.id == id);
        let id = if unlisted { format!("unlisted-{id}") } else { id.to_owned() };
        Name { id, status: Status::New, title, clauses: clauses.to_vec() }
    }

    /// A finding under this name.
    pub fn of(self, finding: &Finding) -> Finding {
        let Name { id, status, title, clauses } = self;
        Finding { id, status, title, clauses, ..finding.clone() }
    }

    /// Without an explanation, what the trial rested on is all there is to group by.
    pub fn unexplained(difference: &Difference, clauses: ClauseSet) -> Name {
        let class = difference.class;
        let title = match (class, &difference.observed) {
            (Class::Crash, seen) => match seen.signal {
                Some(signal) => format!("the subject is killed by signal {signal}"),
                None => format!("the subject dies: {}", seen.reason.as_deref().unwrap_or("no reason given")),
            },
            (Class::Hang, _) => "the subject gives no answer in time".to_owned(),
            (Class::RefusesValid, seen) => format!("a valid program is refused: {}", first_error(seen)),
            (Class::AcceptsInvalid, _) => {
                let class = difference.expected["refusal"]["class"].as_str().unwrap_or("invalid");
                format!("an invalid program is accepted: {class}")
            }
            (Class::WrongValue, _) => "a variable holds other bytes".to_owned(),
            (Class::WrongAddress, _) => "a variable holds another address".to_owned(),
            (Class::WrongLayout, _) => "a variable has another size, alignment or space".to_owned(),
            (Class::Inconsistent, _) => "the answer depends on the company of the program".to_owned(),
        };
        let key = match class {
            Class::RefusesValid | Class::Crash | Class::AcceptsInvalid => slug(&title),
            _ => slug(&clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(" ")),
        };
        let refused = difference.expected["refusal"]["clauses"][0].as_str().and_then(Clause::from_id);
        let clauses = match refused {
            Some(clause) => vec![clause],
            None => clauses.iter().collect(),
        };
        Name { id: format!("{}-{key}", class.name()), status: Status::New, title, clauses }
    }
}

/// The first complaint of a refusal, without what names the program at hand.
fn first_error(observation: &ptxsmith_subject::Observation) -> String {
    debug_assert_eq!(observation.outcome, Outcome::Refused);
    quoteless(observation.diagnostics.first().map_or("no message", |d| d.message.as_str()))
}

/// A message without what it quotes of the program.
pub fn quoteless(message: &str) -> String {
    let mut quoted = false;
    message
        .chars()
        .filter(|&c| {
            let keep = !quoted || c == '\'';
            quoted ^= c == '\'';
            keep
        })
        .collect()
}

/// Lower-case words joined by hyphens; a long text is cut and told apart by a hash that is the same everywhere.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.len() <= 60 {
        return slug.to_owned();
    }
    // FNV-1a: the name must not change from build to build, which the standard hasher does not promise.
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    format!("{}-{:08x}", &slug[..40].trim_end_matches('-'), hash as u32)
}
