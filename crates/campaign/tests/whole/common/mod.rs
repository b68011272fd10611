//! Whole campaigns in one process: sessions that record what they are told, and implementations made of the
//! oracle.

pub mod bare;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ptxsmith_campaign::run::{self, run};
use ptxsmith_campaign::session::{Events, Progress, Session};
use ptxsmith_campaign::store::Shard;
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_gen::Focus;
use ptxsmith_report::Finding;
use ptxsmith_subject::{
    Cancel, Description, Diagnostic, FnSubject, Observation, Outcome as Seen, Request, Severity, SubjectSpec,
    process,
};

/// What a session was told.
#[derive(Debug, Default)]
pub struct Told {
    /// Notes to a person, of the session and of its work.
    pub notes: Vec<String>,
    /// Ids of findings, in the order in which they were kept.
    pub found: Vec<String>,
    /// Lines about programs of the user's.
    pub judged: Vec<String>,
    /// Programs that were left out, and why.
    pub left_out: Vec<String>,
    /// What began: the unit, and how many there are.
    pub begun: Vec<(String, Option<u64>)>,
    /// How many units were done, of all work together.
    pub done: u64,
    /// What was said of the work last.
    pub said: String,
}

/// Keeps what a session is told.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Told>>);

impl Recorder {
    /// What it was told up to now; it begins anew.
    pub fn take(&self) -> Told {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn note(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.0.lock().unwrap());
    }
}

impl Events for Recorder {
    fn note(&self, message: &str) {
        self.note(|told| told.notes.push(message.to_owned()));
    }

    fn found(&self, finding: &Finding) {
        self.note(|told| told.found.push(finding.id.clone()));
    }

    fn judged(&self, line: &str) {
        self.note(|told| told.judged.push(line.to_owned()));
    }

    fn left_out(&self, failure: &Failure) {
        self.note(|told| told.left_out.push(format!("{failure:?}")));
    }

    fn begin(&self, unit: &str, count: Option<u64>) -> Box<dyn Progress> {
        self.note(|told| told.begun.push((unit.to_owned(), count)));
        Box::new(self.clone())
    }

    fn wait(&self) -> Box<dyn Progress> {
        Box::new(self.clone())
    }
}

impl Progress for Recorder {
    fn done(&self, units: u64) {
        self.note(|told| told.done += units);
    }

    fn say(&self, message: String) {
        self.note(|told| told.said = message);
    }

    fn note(&self, message: &str) {
        self.note(|told| told.notes.push(message.to_owned()));
    }
}

/// A session of two jobs, and what it is told.
pub fn session(seed: u64) -> (Session, Recorder) {
    let recorder = Recorder::default();
    let session = Session {
        jobs: NonZeroUsize::new(2).unwrap(),
        seed,
        command_line: vec!["ptxsmith".to_owned(), "a test".to_owned()],
        cancel: Cancel::new(),
        libcuda: None,
        start: process::Start::Spawn,
        workers: None,
        limit: None,
        events: Box::new(recorder.clone()),
        expected: Default::default(),
        known: Vec::new(),
        answers: Vec::new(),
    };
    (session, recorder)
}

/// An implementation of no known maker, under a name, that does this.
pub fn implementation(
    name: &str,
    observe: impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + 'static,
) -> SubjectSpec {
    described(Description { id: name.to_owned(), name: name.to_owned(), ..Description::default() }, observe)
}

/// An implementation that is described so, which has an id, and does this.
pub fn described(
    description: Description,
    observe: impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + 'static,
) -> SubjectSpec {
    let name = description.id.clone();
    SubjectSpec::custom(&name, move |_| {
        let subject = FnSubject::new(description.id.clone(), observe.clone());
        Ok(vec![Box::new(subject.described(description.clone()))])
    })
}

/// A refusal of a line with this message.
pub fn refusal(line: u32, message: &str) -> Observation {
    let error = Diagnostic { severity: Severity::Error, line: Some(line as _), message: message.to_owned() };
    Observation { diagnostics: vec![error], ..Observation::new(Seen::Refused) }
}

/// A module under the header that everything takes.
pub fn module(declarations: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n")
}

/// A run of so many cases of this focus in a directory, as new as can be.
pub fn options(subjects: &[SubjectSpec], focus: Focus, cases: u64, out: &Path) -> run::RunOptions {
    run::RunOptions {
        subjects: subjects.to_vec(),
        timeout: None,
        focus,
        exhaustive: None,
        weights: None,
        cases: Some(cases),
        unlimited: false,
        reduce: None,
        out: out.to_owned(),
        resume: false,
        replace: false,
        shard: Shard::ALL,
    }
}

/// That run, and what it is told.
pub fn run_cases(
    seed: u64,
    subjects: &[SubjectSpec],
    focus: Focus,
    cases: u64,
    out: &Path,
) -> (CampaignOutcome, Told) {
    let (session, told) = session(seed);
    let outcome = run(&session, &options(subjects, focus, cases, out)).unwrap();
    (outcome, told.take())
}

/// The names and contents of all files below a directory that say what was found: nothing of time and
/// machine.
pub fn result(out: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![out.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(out).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true => open.push(path),
                false if name != "manifest.json" && name != ".lock" => {
                    files.push((name, std::fs::read_to_string(&path).unwrap()));
                }
                false => {}
            }
        }
    }
    files.sort();
    files
}
