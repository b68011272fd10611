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
/// How often one that is new is shown again.
pub(super) const REPEATED: u32 = 5;

/// What a subject did with an example that it was shown again.
pub(super) struct Again {
    /// The answer that is the same deviation.
    pub same: Option<Observation>,
    /// How often it came ...
    pub came: u32,
    /// ... of how often the example was shown.
    pub shown: u32,
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
            // What is listed is known to come again.
            let times = if findings[nth].is_new() { REPEATED } else { 1 };
            shown_again(tested, &findings[nth].finding, program, times)
        })?;
        let of: Vec<usize> = examples.iter().map(|(nth, ..)| *nth).collect();
        for (nth, alone) in of.into_iter().zip(alone) {
            let (found, Some(Again { same, came, shown })) = (&mut findings[nth], alone) else { continue };
            if came < shown && found.is_new() {
                found.changes_its_answer(came, shown);
            } else if let Some(same) = same {
                found.finding.observed = same;
            }
            // Neither was asked, or the listed deviation needs company.
        }
        self.join_inconsistent(findings);
        Ok(())
    }

    /// Makes one finding of all programs whose answers do not come again when each is shown alone: what they hold is not
    /// the cause.
    pub(super) fn join_inconsistent(&self, findings: &mut Vec<Found>) {
        let is_one = |found: &Found| {
            // What forks, entry points and interpretations answer has names of its own.
            let named = ["forked-", "doors-", "mixed-"].iter().any(|name| found.finding.id.starts_with(name));
            found.is_new() && found.origin.is_none() && found.is_inconsistent() && !named
        };
        let (mut joined, rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(is_one);
        *findings = rest;
        let count: u64 = joined.iter().map(|found| found.finding.count).sum();
        // Each was wrong when it was found, too.
        let sum = |of: fn(&Found) -> u32| joined.iter().map(|found| 1 + u64::from(of(found))).sum::<u64>();
        let (wrong, shown) = (sum(|found| found.came_again.0), sum(|found| found.came_again.1));
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
                "answers change from run to run: {wrong} of {shown} to the same programs were wrong"
            ),
            clauses: Vec::new(),
        };
        let mut found = shortest.named(name);
        found.finding.count = count;
        found.came_again = ((wrong - 1) as u32, (shown - 1) as u32);
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

/// Shows a program of a finding a few times, alone.
pub(super) fn shown_again(
    tested: &Tested,
    finding: &Finding,
    program: &str,
    times: u32,
) -> Result<Again, Failure> {
    let module = ptxsmith_syntax::parse(program).unwrap_or_default();
    let mut again = Again { same: None, came: 0, shown: 0 };
    for _ in 0..times {
        let parts = judge(&*tested.subject, &module, program).map_err(of_subject)?.parts();
        // Where shards are merged it may not be here.
        let absent = |part: &Part| part.verdict == Verdict::NotCompared(NotCompared::Unavailable);
        if parts.iter().any(absent) {
            break;
        }
        // One that is slow for once says nothing.
        if finding.class != Class::Hang.name() && parts.iter().any(|part| is_of(part, Class::Hang)) {
            continue;
        }
        again.shown += 1;
        let shown = parts.into_iter().find_map(|part| match part.verdict {
            Verdict::Deviates(difference) => is_same_as(&difference, finding).then_some(difference.observed),
            _ => None,
        });
        again.came += u32::from(shown.is_some());
        again.same = again.same.or(shown);
    }
    Ok(again)
}

fn is_of(part: &Part, class: Class) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if difference.class == class)
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
