//! The least programs of new findings.

use std::time::{Duration, Instant};

use ptxsmith_report::Reduced;

use super::{Campaign, Found};
use crate::exit::Failure;
use crate::reducing::{Budget, Reluctance, reduce_finding};

/// How long one is.
const TIME_OF_ONE: Duration = Duration::from_secs(10);

impl Campaign<'_> {
    /// Reduces the new findings, those that show most often first, while there is time.
    pub(super) fn reduce_new(&self, findings: &mut [Found]) -> Result<(), Failure> {
        let until = Instant::now() + self.reduce_for;
        for found in findings.iter_mut().filter(|found| found.is_new()) {
            let left = until.saturating_duration_since(Instant::now());
            let Some(tested) = self.subjects.iter().find(|tested| tested.subject.id() == found.subjects[0])
            else {
                continue;
            };
            if left.is_zero() {
                break;
            }
            let budget = Budget { time: Some(left.min(TIME_OF_ONE)) };
            let shrunk =
                reduce_finding(self.context, tested, &found.program, false, None, budget, &mut |_, _| {});
            match shrunk {
                Ok(shrunk) => {
                    let program = shrunk.reduced.program;
                    found.reduced = Some(Reduced {
                        program: program.text().to_owned(),
                        tokens: program.size().tokens as u64,
                        answers: None,
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
