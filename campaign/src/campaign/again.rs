//! The examples of findings, shown once more, each alone.
//!
//! An example was judged among thousands of other cases, and what the subject said of it there carries traces of them:
//! where it was placed, which complaint came behind. Which others those were depends on the number of threads. What is
//! reported is what the command that repeats the finding shows.

use ptxsmith_diff::Class;
use ptxsmith_subject::{Observation, Request};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::ledger::{Found, quote};
use crate::pool;
use crate::subjects::{Tested, target_for};

/// The most findings that are shown again: a subject that is wrong about everything has one for each case.
const MOST: usize = 1_000;

impl Campaign<'_> {
    /// Replaces what was observed of generated examples by what is observed of them alone, where that is the same
    /// deviation. Stops where Ctrl-C was pressed.
    pub(super) fn observe_again(&self, findings: &mut [Found]) -> Result<(), Failure> {
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
        let alone = pool::map(self.session, &examples, |(_, tested, program)| {
            let module = ptxsmith_syntax::parse(program).unwrap_or_default();
            let target = target_for(&module, tested.subject.description());
            tested.subject.observe(&Request::showing(&module, program, &target)).map_err(of_subject)
        })?;
        let of: Vec<usize> = examples.iter().map(|(nth, ..)| *nth).collect();
        for (nth, alone) in of.into_iter().zip(alone) {
            let finding = &mut findings[nth].finding;
            if let Some(alone) = alone
                && is_same(&alone, &finding.observed, finding.variable.as_deref())
            {
                finding.observed = alone;
                quote(&mut finding.title, &finding.observed);
            }
        }
        // What is the user's was shown as it is.
        for found in findings.iter_mut().filter(|found| found.origin.is_some()) {
            quote(&mut found.finding.title, &found.finding.observed);
        }
        Ok(())
    }
}

fn is_same(alone: &Observation, before: &Observation, variable: Option<&str>) -> bool {
    let shown = |observation: &Observation| {
        let variable = observation.variables.get(variable?)?;
        Some((variable.space.clone(), variable.size, variable.bytes.clone(), variable.addresses.clone()))
    };
    (alone.outcome, alone.signal) == (before.outcome, before.signal) && shown(alone) == shown(before)
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
        assert!(is_same(&observed(4, 1), &observed(256, 1), Some("x")));
        assert!(!is_same(&observed(4, 1), &observed(4, 2), Some("x")));
        assert!(!is_same(&Observation::new(Outcome::Crashed), &observed(4, 1), Some("x")));
        assert!(is_same(&Observation::new(Outcome::Refused), &Observation::new(Outcome::Refused), None));
    }
}
