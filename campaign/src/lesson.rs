//! Judges that have seen the first cases of a campaign.
//!
//! What judges have seen of a subject decides which programs they show together. Tasks fall to threads, shards and second
//! tries as it comes; so that no task is judged in another way by whoever had others before, each gets judges of its own
//! that have seen the same.

use std::ops::Range;
use std::sync::Mutex;

use crate::cases::Cases;
use crate::failure::Failure;
use crate::judges::Judges;
use crate::pool::lock_of;
use crate::sifting::TaskCases;
use crate::subjects::Tested;

/// What there is to learn of the subjects of a campaign before most of its tasks.
pub struct Lesson<'c> {
    source: &'c Cases,
    /// So many of the first cases are seen.
    cases: u64,
    subjects: &'c [Tested],
    /// Who has seen them, by subject, once anybody needs them.
    taught: Vec<Mutex<Option<Judges<'c>>>>,
}

impl<'c> Lesson<'c> {
    /// The first `cases` of these.
    pub fn new(source: &'c Cases, cases: u64, subjects: &'c [Tested]) -> Lesson<'c> {
        Lesson { source, cases, subjects, taught: subjects.iter().map(|_| Mutex::default()).collect() }
    }

    /// Judges of the subject of this number for a task: new ones for cases of the lesson itself; for all others, ones
    /// that have seen the lesson.
    ///
    /// # Errors
    /// As of judging the cases of the lesson, which whoever comes first does.
    pub fn judges(&self, subject: usize, task: &Range<u64>) -> Result<Judges<'c>, Failure> {
        let new = || Judges::of(&self.subjects[subject]);
        if task.start < self.cases {
            return Ok(new());
        }
        let mut taught = lock_of(&self.taught[subject]);
        if taught.is_none() {
            let mut judges = new();
            let headers = self.subjects.iter().map(|tested| tested.header.clone()).collect();
            let lesson = TaskCases::new(self.source, 0..self.cases, false, self.subjects, headers);
            lesson.judge(subject, &mut judges)?;
            *taught = Some(judges);
        }
        Ok(taught.clone().expect("they are there by now"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ptxsmith_gen::Focus;
    use ptxsmith_subject::{FnSubject, Observation, Outcome, Request};

    use super::*;

    const TASK: Range<u64> = 1_000..1_500;
    const OTHER: Range<u64> = 500..1_000;

    #[test]
    fn what_is_shown_of_a_task_does_not_depend_on_what_was_judged_before() {
        let modules: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&modules);
        let subject = FnSubject::new("without shifts", move |request: &Request<'_>| {
            lock_of(&log).push(request.ptx.to_owned());
            let refuses = request.ptx.contains("<<") || request.ptx.contains(">>");
            Observation::new(if refuses { Outcome::Refused } else { Outcome::Accepted })
        });
        let cases = Cases::drawn(1, Focus::Mixed, None);
        let subjects = [Tested::new(Box::new(subject))];
        let shown = |judges: &mut Judges<'_>, task: Range<u64>| {
            lock_of(&modules).clear();
            let headers = vec![subjects[0].header.clone()];
            let task = TaskCases::new(&cases, task, false, &subjects, headers);
            task.judge(0, judges).expect("nothing of ours fails");
            std::mem::take(&mut *lock_of(&modules))
        };

        let lesson = Lesson::new(&cases, 250, &subjects);
        let by_lesson = |task: Range<u64>| {
            let mut judges = lesson.judges(0, &task).expect("nothing of ours fails");
            shown(&mut judges, task)
        };
        let first = by_lesson(TASK);
        assert_ne!(by_lesson(OTHER), first);
        assert_eq!(by_lesson(TASK), first);

        // It would depend on it: judges of this subject do learn.
        let [mut new, mut seasoned] = [(); 2].map(|()| Judges::of(&subjects[0]));
        shown(&mut seasoned, OTHER);
        assert_ne!(shown(&mut seasoned, TASK), shown(&mut new, TASK));
    }
}
