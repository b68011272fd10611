//! Judges the cases of a task one by one, or on the fast path first if there are many and all are
//! expressions.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use ptxsmith_diff::{BulkVerdicts, Generation, Header};
use ptxsmith_gen::Coverage;

use crate::campaign::Judgements;
use crate::cases::{Cases, GeneratedCase};
use crate::failure::Failure;
use crate::judges::{CaseVerdict, bulk, verdicts};
use crate::pool::lock_of;
use crate::subjects::TestSubject;

/// Tasks with fewer cases are judged one by one, because the fast path would cost more than it saves.
const WORTH_BULK: u64 = 2_000;

/// The cases of a task. Several threads may judge them at once, each for a different subject.
pub struct TaskCases<'c> {
    source: &'c Cases,
    cases: Range<u64>,
    wide: bool,
    /// The usual header for each subject.
    headers: Vec<Header>,
    /// Whether to use the fast path first.
    is_bulk: bool,
    /// The coverage. Each case counts once, even if it is generated several times.
    coverage: Mutex<Coverage>,
    /// All cases, generated when first needed.
    all: OnceLock<Vec<GeneratedCase>>,
    /// The cases that the fast path did not settle, for each subject.
    left: Vec<OnceLock<Vec<GeneratedCase>>>,
}

/// The results of a subject for the cases of a task.
pub struct TaskVerdicts {
    placed: Vec<CaseVerdict>,
    /// The counts of the fast path. The verdicts then cover only the remaining cases.
    bulk: Option<BulkVerdicts>,
}

impl<'c> TaskCases<'c> {
    /// Prepares the cases with these numbers for these subjects, each with its header. `wide` allows features
    /// of a later PTX version.
    pub fn new(
        source: &'c Cases,
        cases: Range<u64>,
        wide: bool,
        subjects: &[TestSubject],
        headers: Vec<Header>,
    ) -> TaskCases<'c> {
        let is_bulk = source.are_expressions()
            && cases.end - cases.start >= WORTH_BULK
            && subjects.iter().zip(&headers).all(|(tested, header)| tested.supports(header));
        let left = headers.iter().map(|_| OnceLock::new()).collect();
        let coverage = Mutex::default();
        TaskCases { source, cases, wide, headers, is_bulk, coverage, all: OnceLock::new(), left }
    }

    /// Returns the number of cases.
    pub fn count(&self) -> u64 {
        self.cases.end - self.cases.start
    }

    /// Returns the coverage. It is complete once the cases were judged for all subjects.
    pub fn coverage(&self) -> Coverage {
        lock_of(&self.coverage).clone()
    }

    /// Judges the cases for `tested`, which must be the subject with this index.
    pub fn judge(&self, subject: usize, tested: &TestSubject) -> Result<TaskVerdicts, Failure> {
        let header = &self.headers[subject];
        if self.is_bulk {
            let (bulk, left) = self.judge_in_bulk(subject, tested)?;
            let placed = verdicts(tested, &left, header)?;
            if bulk.is_confirmed_by(placed.iter().map(CaseVerdict::judged)) {
                self.left[subject].get_or_init(|| left);
                return Ok(TaskVerdicts { placed, bulk: Some(bulk) });
            }
        }
        let all = self.all.get_or_init(|| {
            let mut coverage = Coverage::new();
            let cases =
                self.cases.clone().map(|case| self.source.made(case, self.wide, &mut coverage)).collect();
            if !self.is_bulk {
                self.add_coverage(&coverage);
            }
            cases
        });
        Ok(TaskVerdicts { placed: verdicts(tested, all, header)?, bulk: None })
    }

    /// Returns the verdicts for the subject with this index.
    pub fn judgements<'t>(
        &'t self,
        subject: usize,
        tested: &'t TestSubject,
        judged: TaskVerdicts,
    ) -> Judgements<'t> {
        let made = if judged.bulk.is_some() { &self.left[subject] } else { &self.all };
        let made = made.get().map_or(&[][..], Vec::as_slice);
        let entries = judged.placed.into_iter().map(|placed| placed.entry(made, &self.headers[subject]));
        Judgements { tested, entries: entries.collect(), bulk: judged.bulk.unwrap_or_default() }
    }

    /// Judges the cases on the fast path for the subject with this index, and generates the remaining ones in
    /// full.
    fn judge_in_bulk(
        &self,
        subject: usize,
        tested: &TestSubject,
    ) -> Result<(BulkVerdicts, Vec<GeneratedCase>), Failure> {
        // Generating a case again must not count it again.
        let mut coverage = Coverage::new();
        let mut repeated = Coverage::new();
        let mut skipped = Vec::new();
        let header = &self.headers[subject];
        let bulk = bulk(tested, header, self.cases.clone(), |case, again, into| {
            let coverage = if again == Generation::Repeated { &mut repeated } else { &mut coverage };
            let made = self.source.assemble(case, self.wide, coverage, into);
            skipped.extend(made.is_none().then_some(case));
            made
        })?;
        let mut left = Vec::with_capacity(bulk.left.len());
        for &case in &bulk.left {
            let is_first_time = skipped.binary_search(&case).is_ok();
            let coverage = if is_first_time { &mut coverage } else { &mut repeated };
            left.push(self.source.made(case, self.wide, coverage));
        }
        // The fast path generates each case once per subject; count the coverage for the first subject only.
        if subject == 0 {
            self.add_coverage(&coverage);
        }
        Ok((bulk, left))
    }

    fn add_coverage(&self, coverage: &Coverage) {
        lock_of(&self.coverage).merge(coverage);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ptxsmith_gen::Focus;
    use ptxsmith_subject::{FnSubject, Observation, Outcome, Request};

    use super::*;

    #[test]
    fn two_tasks_in_either_order_are_shown_alike() {
        let modules: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&modules);
        let subject = FnSubject::new("without shifts", move |request: &Request<'_>| {
            lock_of(&log).push(request.ptx.to_owned());
            let refuses = request.ptx.contains("<<") || request.ptx.contains(">>");
            Observation::new(if refuses { Outcome::Refused } else { Outcome::Accepted })
        });
        let cases = Cases::drawn(1, Focus::Mixed, None);
        let subjects = [TestSubject::new(Box::new(subject))];
        subjects[0].profile().expect("nothing of ours fails");
        let shown = |task: Range<u64>| {
            lock_of(&modules).clear();
            let headers = vec![subjects[0].header.clone()];
            let task = TaskCases::new(&cases, task, false, &subjects, headers);
            task.judge(0, &subjects[0]).expect("nothing of ours fails");
            std::mem::take(&mut *lock_of(&modules))
        };
        let (one, other) = (0..250, 250..750);
        let first = [shown(one.clone()), shown(other.clone())];
        let then = [shown(other), shown(one)];
        assert_eq!(first, [then[1].clone(), then[0].clone()]);
        assert_ne!(first[0], first[1]);
    }
}
