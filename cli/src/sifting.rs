//! The cases of one task: judged one by one, or sifted first where they are many and all expressions.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use ptxsmith_diff::{Header, Sifted};
use ptxsmith_gen::Coverage;

use crate::campaign::{Judgements, Tested};
use crate::cases::{Cases, Made};
use crate::exit::Failure;
use crate::judges::Judges;

/// Fewer cases than these are judged one by one: among the first ones of a campaign there is the most to learn.
const WORTH_SIFTING: u64 = 2_000;

/// The cases of one task.
pub struct TaskCases<'c> {
    source: &'c Cases,
    cases: Range<u64>,
    wide: bool,
    /// The usual header for each subject.
    headers: Vec<Header>,
    /// What was generated. Every case counts once, however often it was made.
    coverage: RefCell<Coverage>,
    /// All cases, once anybody needs them.
    all: OnceCell<Vec<Made>>,
    /// What sifting left for each subject.
    left: Vec<OnceCell<Vec<Made>>>,
}

impl<'c> TaskCases<'c> {
    /// The cases of these numbers, to be shown to each subject under its header. `wide` is for what needs a later
    /// version.
    pub fn new(source: &'c Cases, cases: Range<u64>, wide: bool, headers: Vec<Header>) -> TaskCases<'c> {
        let left = headers.iter().map(|_| OnceCell::new()).collect();
        let coverage = RefCell::default();
        TaskCases { source, cases, wide, headers, coverage, all: OnceCell::new(), left }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.cases.end - self.cases.start
    }

    /// What was generated for them so far.
    pub fn coverage(&self) -> Coverage {
        self.coverage.borrow().clone()
    }

    /// Judges them for each subject.
    pub fn judge<'t>(
        &'t self,
        subjects: &'t [Tested],
        judges: &mut [Judges<'_>],
    ) -> Result<Vec<Judgements<'t>>, Failure> {
        let takes = || subjects.iter().zip(&self.headers).all(|(tested, header)| tested.takes(header));
        let sifts = self.source.are_expressions() && self.count() >= WORTH_SIFTING && takes();
        let mut judgements = Vec::new();
        for (at, (tested, judges)) in subjects.iter().zip(judges).enumerate() {
            let header = &self.headers[at];
            if sifts {
                let (sifted, left) = self.sift(at, judges)?;
                let entries = judges.verdicts(left, header)?;
                if !sifted.is_undone_by(entries.iter().map(|entry| &entry.judged)) {
                    judgements.push(Judgements { tested, entries, sifted });
                    continue;
                }
            }
            let all = self.all.get_or_init(|| {
                let mut again = Coverage::new();
                let coverage = &mut *self.coverage.borrow_mut();
                let coverage = if sifts { &mut again } else { coverage };
                self.cases.clone().map(|case| self.source.made(case, self.wide, coverage)).collect()
            });
            let entries = judges.verdicts(all, header)?;
            judgements.push(Judgements { tested, entries, sifted: Sifted::default() });
        }
        Ok(judgements)
    }

    /// Sifts the cases for the subject of this number. What is left is made in full.
    fn sift(&self, subject: usize, judges: &mut Judges<'_>) -> Result<(Sifted, &[Made]), Failure> {
        let mut again = Coverage::new();
        let mut counted = self.coverage.borrow_mut();
        let counts = subject == 0;
        let mut skipped = Vec::new();
        let mut next = self.cases.start;
        let sifted = judges.sift(&self.headers[subject], self.cases.clone(), |case, into| {
            let first = counts && case == next;
            next = case + 1;
            let coverage = if first { &mut counted } else { &mut again };
            let made = self.source.assemble(case, self.wide, coverage, into);
            skipped.extend(made.is_none().then_some(case));
            made
        })?;
        let left = self.left[subject].get_or_init(|| {
            let make = |&case: &u64| {
                let first = counts && skipped.binary_search(&case).is_ok();
                self.source.made(case, self.wide, if first { &mut counted } else { &mut again })
            };
            sifted.left.iter().map(make).collect()
        });
        Ok((sifted, left))
    }
}
