//! The examples of findings, shown once more, each alone.
//!
//! An example was judged among thousands of other cases, and what the subject said of it there carries traces of them:
//! where it was placed, which complaint came behind. Which others those were depends on the number of threads. What is
//! reported is what the command that repeats the finding shows.

use std::cmp::Ordering;

use ptxsmith_diff::{Class, Difference, NotCompared, Part, Verdict};
use ptxsmith_report::{Finding, Status};
use ptxsmith_subject::Observation;

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::{Found, Name, quote};
use crate::pool;
use crate::subjects::Tested;

/// The most findings that are shown again: a subject that is wrong about everything has one for each case.
const MOST: usize = 1_000;
/// How often one that is new is shown until it comes again.
const REPEATED: usize = 3;

/// What a subject did with an example that it was shown again.
enum Again {
    Same(Box<Observation>),
    Otherwise,
    NotAsked,
}

impl Campaign<'_> {
    /// Replaces what was observed of generated examples by what is observed of them alone, where that is the same
    /// deviation; new ones that do not come again are one finding. Stops where Ctrl-C was pressed.
    pub(super) fn observe_again(&self, findings: &mut Vec<Found>) -> Result<(), Failure> {
        // These two are about company and placement themselves.
        let by_chance = [Class::Inconsistent, Class::WrongLayout].map(Class::name);
        // What kernels leave is not asked for here.
        let generated = |Found { finding, origin, .. }: &Found| {
            origin.is_none() && !by_chance.contains(&&*finding.class) && finding.observed.kernels.is_empty()
        };
        let examples: Vec<(usize, &Tested, &str)> = (findings.iter().enumerate())
            .filter(|(_, found)| generated(found))
            .filter_map(|(nth, found)| {
                Some((nth, self.tested(&found.finding.subjects[0])?, &*found.finding.program))
            })
            .take(MOST)
            .collect();
        let alone = pool::map(self.session, &examples, |&(nth, tested, program)| {
            let finding = &findings[nth].finding;
            let module = ptxsmith_syntax::parse(program).unwrap_or_default();
            // What is listed is known to come again.
            let times = if findings[nth].is_new() { REPEATED } else { 1 };
            for _ in 0..times {
                let parts = judge(&*tested.subject, &module, program).map_err(of_subject)?.parts();
                // Where shards are merged it may not be here.
                let absent = |part: &Part| part.verdict == Verdict::NotCompared(NotCompared::Unavailable);
                if parts.iter().any(absent) {
                    return Ok(Again::NotAsked);
                }
                let shown = parts.into_iter().find_map(|part| match part.verdict {
                    Verdict::Deviates(difference) => {
                        is_same_as(&difference, finding).then_some(difference.observed)
                    }
                    _ => None,
                });
                if let Some(shown) = shown {
                    return Ok(Again::Same(Box::new(shown)));
                }
            }
            Ok(Again::Otherwise)
        })?;
        let of: Vec<usize> = examples.iter().map(|(nth, ..)| *nth).collect();
        for (nth, alone) in of.into_iter().zip(alone) {
            let found = &mut findings[nth];
            match alone {
                Some(Again::Same(alone)) => found.finding.observed = *alone,
                Some(Again::Otherwise) if found.is_new() => {
                    found.finding.class = Class::Inconsistent.name().to_owned()
                }
                // Neither was asked, or the listed deviation needs company.
                _ => {}
            }
        }
        self.join_inconsistent(findings);
        Ok(())
    }

    /// Makes one finding of all programs whose answers do not come again when each is shown alone: what they hold is not
    /// the cause.
    fn join_inconsistent(&self, findings: &mut Vec<Found>) {
        let is_one = |found: &Found| {
            // What forks, entry points and interpretations answer has names of its own.
            let named = ["forked-", "doors-", "mixed-"].iter().any(|name| found.finding.id.starts_with(name));
            found.is_new() && found.origin.is_none() && found.is_inconsistent() && !named
        };
        let (mut joined, rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(is_one);
        *findings = rest;
        let count: u64 = joined.iter().map(|found| found.finding.count).sum();
        let programs = joined.len();
        joined.sort_by(|a, b| if a.is_shorter_than(b) { Ordering::Less } else { Ordering::Greater });
        let Some(shortest) = joined.into_iter().reduce(|mut all, found| {
            for subject in found.finding.subjects {
                if !all.finding.subjects.contains(&subject) {
                    all.finding.subjects.push(subject);
                }
            }
            all
        }) else {
            return;
        };
        let name = Name {
            id: Class::Inconsistent.name().to_owned(),
            status: Status::New,
            title: format!(
                "answers change from run to run: {programs} of {} were wrong",
                programs * (1 + REPEATED)
            ),
            clauses: Vec::new(),
        };
        let mut found = shortest.named(name);
        found.finding.count = count;
        findings.insert(0, found);
    }

    /// Puts what subjects say of the programs that are shown into the titles of refusals.
    pub(super) fn quote_examples(&self, findings: &mut [Found]) {
        for Found { finding, .. } in findings {
            let observed = finding.example().observed.clone();
            quote(&mut finding.title, &observed);
        }
    }
}

/// Whether a difference is that of a finding. Where a variable is placed differs with the company.
fn is_same_as(alone: &Difference, finding: &Finding) -> bool {
    let shown = |observation: &Observation| {
        let variable = observation.variables.get(finding.variable.as_deref()?)?;
        Some((variable.space.clone(), variable.size, variable.bytes.clone(), variable.addresses.clone()))
    };
    let (seen, before) = (&alone.observed, &finding.observed);
    alone.class.name() == finding.class
        && (seen.outcome, seen.signal) == (before.outcome, before.signal)
        && shown(seen) == shown(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::{Outcome, Variable};

    #[test]
    fn another_placement_is_the_same_deviation_and_other_bytes_are_not() {
        let observed = |align, byte| {
            let mut observation = Observation::new(Outcome::Accepted);
            let variable = Variable { align: Some(align), bytes: Some(vec![byte]), ..Variable::default() };
            observation.variables.insert("x".to_owned(), variable);
            observation
        };
        let is_same = |class, seen, before| {
            let (expected, explanation, suspected) = (serde_json::Value::Null, None, None);
            let variable = Some("x".to_owned());
            let alone = Difference { class, variable, expected, observed: seen, explanation, suspected };
            let finding = Finding {
                class: Class::WrongValue.name().to_owned(),
                variable: Some("x".to_owned()),
                observed: before,
                ..Finding::default()
            };
            is_same_as(&alone, &finding)
        };
        let wrong = Class::WrongValue;
        assert!(is_same(wrong, observed(4, 1), observed(256, 1)));
        assert!(!is_same(wrong, observed(4, 1), observed(4, 2)));
        assert!(!is_same(Class::Crash, Observation::new(Outcome::Crashed), observed(4, 1)));
        assert!(!is_same(Class::WrongLayout, observed(4, 1), observed(4, 1)));
    }
}
