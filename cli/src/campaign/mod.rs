//! What every campaign does, whatever it judges: opens subjects, shares out work, keeps what was found, reports.

mod again;
mod describe;
mod file;
mod pool;
mod report;
mod subjects;
mod summary;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ptxsmith_diff::{Finding, Header, Judged, Ledger, Status, Trial, Verdict};
use ptxsmith_gen::{Coverage, Generator};

use crate::commands::{self, Context};
use crate::exit::{Exit, Failure};

pub use file::{expectation, without_leading_comments};
pub use pool::{Budget, Ended, each};
pub use subjects::{Tested, open_subjects, target_for};

/// How often an unfinished report is written while the campaign goes on.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// One campaign: its subjects, what was found so far, and where it is kept.
pub struct Campaign<'a> {
    /// What every command has at hand.
    pub context: &'a Context,
    /// The implementations under test, each with what was found.
    pub subjects: Vec<Tested>,
    /// The directory of report and findings; `None` keeps nothing.
    pub out: Option<PathBuf>,
    /// What is judged: `run` or `check`.
    pub command: &'static str,
    /// What is judged, in the plural: `cases`, `variables`.
    pub unit: &'static str,
    /// The generator whose productions coverage is counted in.
    pub generator: Generator,
    /// What was generated of the grammar.
    coverage: Mutex<Coverage>,
    /// The texts of programs that are not ours, by the number of their trial: an example in a ledger keeps only the
    /// declarations.
    texts: Mutex<BTreeMap<u64, Source>>,
    saved: Mutex<Instant>,
}

/// A verdict on a trial, and the header under which it was shown.
pub struct Entry<'t> {
    /// The trial.
    pub trial: &'t Trial,
    /// Its header.
    pub header: &'t Header,
    /// The verdict.
    pub judged: Judged,
}

/// A program of the user's.
#[derive(Clone)]
pub struct Source {
    /// Its file, as the user named it; `-` for standard input.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One distinct deviation in all subjects that show it.
pub struct Found {
    /// The finding, with the count of all subjects and the shortest example of any.
    pub finding: Finding,
    /// The subjects that show it; the first one is that of the example.
    pub subjects: Vec<String>,
    /// The shortest program.
    pub program: String,
    /// The file that the program came from, if it is not ours.
    pub origin: Option<String>,
}

impl<'a> Campaign<'a> {
    /// A campaign that has not begun. Makes the output directory.
    pub fn new(
        context: &'a Context,
        command: &'static str,
        unit: &'static str,
        subjects: Vec<Tested>,
        out: Option<PathBuf>,
    ) -> Result<Campaign<'a>, Failure> {
        if let Some(out) = &out {
            commands::make_directory(&out.join(file::FOLDER))?;
        }
        let (coverage, texts, saved) = (Mutex::default(), Mutex::default(), Mutex::new(Instant::now()));
        let generator = Generator::default();
        Ok(Campaign { context, subjects, out, command, unit, generator, coverage, texts, saved })
    }

    /// Enters verdicts, and saves the findings that are new or have a shorter example now.
    ///
    /// # Errors
    /// If a finding cannot be written.
    pub fn enter<'t>(
        &self,
        tested: &Tested,
        entries: impl IntoIterator<Item = Entry<'t>>,
        source: Option<&Source>,
    ) -> Result<(), Failure> {
        let mut better = BTreeMap::new();
        {
            let mut ledger = tested.ledger();
            for Entry { trial, header, judged } in entries {
                if let (Some(source), Verdict::Deviates(_) | Verdict::Reads(_)) = (source, &judged.verdict) {
                    lock(&self.texts).entry(judged.id).or_insert_with(|| source.clone());
                }
                if let Some(finding) = ledger.enter(trial, judged, header) {
                    better.insert(finding.id.clone(), finding.clone());
                }
            }
        }
        for finding in better.into_values() {
            self.save_finding(&self.found(finding, tested.subject.id()))?;
        }
        self.save_now_and_then()
    }

    fn found(&self, finding: Finding, subject: &str) -> Found {
        let source = lock(&self.texts).get(&finding.example.trial).cloned();
        let (program, origin) = match source {
            Some(source) => (source.text, Some(source.path)),
            None => (finding.example.program.clone(), None),
        };
        Found { finding, subjects: vec![subject.to_owned()], program, origin }
    }

    /// The findings in all subjects: new ones first, and of those what shows most often.
    pub fn findings(&self) -> Vec<Found> {
        let mut all: BTreeMap<String, Found> = BTreeMap::new();
        for tested in &self.subjects {
            for finding in tested.ledger().findings() {
                let found = self.found(finding, tested.subject.id());
                match all.get_mut(&found.finding.id) {
                    None => {
                        all.insert(found.finding.id.clone(), found);
                    }
                    Some(known) => known.join(found),
                }
            }
        }
        let mut all: Vec<Found> = all.into_values().collect();
        all.sort_by(|a, b| a.key().cmp(&b.key()));
        all
    }

    /// Writes what was found, says it, and gives the exit status that it amounts to.
    pub fn finish(&self, ended: Ended, started: Instant) -> Result<Exit, Failure> {
        let mut findings = self.findings();
        self.observe_again(&mut findings)?;
        // A last time: while the campaign went on, a longer example may have overtaken a shorter one on its way to
        // the disk, and some findings show only in the sum.
        for found in &findings {
            self.save_finding(found)?;
        }
        self.save_report(&findings, ended == Ended::All)?;
        let summary =
            summary::Summary { campaign: self, findings: &findings, ended, took: started.elapsed() };
        self.context.console.print(&summary.text())?;
        let compared: u64 = self.subjects.iter().map(|tested| tested.ledger().compared).sum();
        Ok(match compared {
            0 => Exit::NothingCompared,
            _ if findings.iter().any(Found::is_new) => Exit::Deviation,
            _ => Exit::Success,
        })
    }

    /// Writes what was found before something of ours failed.
    pub fn give_up(&self) -> Result<(), Failure> {
        self.save_report(&self.findings(), false)
    }

    /// Adds what was generated for programs that are judged now.
    pub fn covered(&self, coverage: &Coverage) {
        lock(&self.coverage).merge(coverage);
    }

    /// How many verdicts are deviations.
    pub fn deviations(&self) -> u64 {
        let deviations = |tested: &Tested| {
            let ledger = tested.ledger();
            ledger.compared - ledger.conform
        };
        self.subjects.iter().map(deviations).sum()
    }

    fn save_now_and_then(&self) -> Result<(), Failure> {
        let mut saved = lock(&self.saved);
        if saved.elapsed() >= SAVE_EVERY {
            self.save_report(&self.findings(), false)?;
            *saved = Instant::now();
        }
        Ok(())
    }
}

impl Found {
    fn join(&mut self, other: Found) {
        let of = |found: &Found| (found.program.len(), found.finding.example.trial);
        let count = self.finding.count + other.finding.count;
        if of(&other) < of(self) {
            let mine = std::mem::replace(self, other);
            self.subjects.extend(mine.subjects);
        } else {
            self.subjects.extend(other.subjects);
        }
        self.finding.count = count;
    }

    /// New ones first, and of those what shows most often; the name decides, so that the order is always the same.
    fn key(&self) -> (Status, Reverse<u64>, &str) {
        (self.finding.status, Reverse(self.finding.count), &self.finding.id)
    }

    /// Whether nothing that is listed explains it.
    pub fn is_new(&self) -> bool {
        self.finding.status == Status::New
    }
}

impl Tested {
    /// What was found so far.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }
}

/// A panic ends the program, so no lock is ever poisoned.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a panic ends the program")
}
