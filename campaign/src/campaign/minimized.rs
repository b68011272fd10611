//! Minimized reproducers of new findings.

use std::time::Instant;

use ptxsmith_diff::Verdict;
use ptxsmith_diff::known::{KNOWN, Known};
use ptxsmith_reduce::Program;
use ptxsmith_report::{Answers, Reduced};
use ptxsmith_syntax::parse;

use super::Campaign;
use crate::failure::Failure;
use crate::judges::judge;
use crate::ledger::Found;
use crate::pool;
use crate::reducing::{Budget, Expected, Reluctance, Wanted, reduce_finding};
use crate::subjects::Tested;

/// The most programs that the subject is asked about for one of them. A limit in time would make reports depend on the
/// machine.
const MOST_OF_ONE: u64 = 1_000;
/// The same for all of a campaign.
const MOST: u64 = 6_000;

impl Campaign<'_> {
    /// Shows known findings by the minimized reproducers that the list has of them.
    pub(super) fn show_known_minimized(&self, findings: &mut [Found]) -> Result<(), Failure> {
        let listed: Vec<(usize, &Tested, &Known)> = (findings.iter().enumerate())
            .filter_map(|(nth, found)| {
                let known = KNOWN.iter().find(|known| known.id == found.finding.id)?;
                Some((nth, self.tested(&found.finding.subjects[0])?, known))
            })
            .collect();
        let answered = pool::map(self.session, &listed, |(_, tested, known)| {
            answers(tested, known.example, Some(known.id))
        })?;
        for ((nth, _, known), answers) in listed.iter().zip(answered) {
            let Some(answers) = answers.flatten() else { continue };
            let tokens = Program::parse(known.example).map_or(0, |program| program.size().tokens as u64);
            let program = known.example.to_owned();
            findings[*nth].finding.reduced = Some(Reduced { program, tokens, answers: Some(answers) });
        }
        Ok(())
    }

    /// Reduces the new findings, those that show most often first, up to a number of programs, and to a time where the user
    /// gave one.
    pub(super) fn reduce_new(&self, findings: &mut [Found]) -> Result<(), Failure> {
        let until = self.reduce_for.map(|time| Instant::now() + time);
        let mut most = MOST;
        for found in findings.iter_mut().filter(|found| found.is_new() && !found.is_inconsistent()) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let Some(tested) = self.tested(&found.finding.subjects[0]) else { continue };
            if left.is_some_and(|left| left.is_zero()) || most == 0 {
                break;
            }
            let budget = Budget { time: left, programs: Some(most.min(MOST_OF_ONE)) };
            let reduce = |expected: Option<&Expected>| {
                let wanted = Wanted { expected, ..Wanted::default() };
                reduce_finding(
                    self.session,
                    tested,
                    &found.finding.program,
                    false,
                    wanted,
                    budget,
                    &mut |_, _| {},
                )
            };
            // What triage put it down to is kept. The program alone may not show that, where only many together did.
            let shrunk = match Expected::of_finding(&found.finding.id) {
                Some(expected) => match reduce(Some(&expected)) {
                    Err(Reluctance::NothingShown) => reduce(None),
                    shrunk => shrunk,
                },
                None => reduce(None),
            };
            match shrunk {
                Ok(shrunk) => {
                    most = most.saturating_sub(shrunk.reduced.asked);
                    let program = shrunk.reduced.program;
                    found.finding.reduced = Some(Reduced {
                        answers: answers(tested, program.text(), None)?,
                        program: program.text().to_owned(),
                        tokens: program.size().tokens as u64,
                    });
                }
                Err(Reluctance::Failed(error)) => return Err(error.into()),
                Err(Reluctance::Interrupted) => return Ok(()),
                // What cannot be made smaller is reported as it is.
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// What holds of a program that shows a deviation, and what the subject does with it. `None` where it shows none, or
/// not the known one that is asked for.
fn answers(tested: &Tested, program: &str, known: Option<&str>) -> Result<Option<Answers>, Failure> {
    let Ok(module) = parse(program) else { return Ok(None) };
    if !tested.takes_version_of(&module) {
        return Ok(None);
    }
    let parts = match judge(&*tested.subject, &module, program) {
        Ok(verdicts) => verdicts.parts(),
        Err(error) if error.is_cancelled() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let shown = parts.into_iter().find_map(|part| match part.verdict {
        Verdict::Deviates(difference) => {
            let explains = |id| difference.explanation.as_ref().is_some_and(|e| e.known.contains(&id));
            known.is_none_or(explains).then_some(difference)
        }
        _ => None,
    });
    Ok(shown.map(|difference| Answers {
        variable: difference.variable,
        expected: difference.expected,
        observed: difference.observed,
    }))
}
