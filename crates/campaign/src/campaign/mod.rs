//! What every campaign does, whatever it judges: opens subjects, shares out work, keeps what was found, reports.

mod again;
mod by_case;
mod entry_points;
mod file;
mod finish;
mod gone;
mod joined;
mod kept;
mod manifest;
mod minimized;
mod releases;
mod report;
mod starts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ptxsmith_diff::{BulkVerdicts, Maker, NotCompared, Verdict};
use ptxsmith_gen::{Coverage, Generator};
use ptxsmith_report::harmless::line as harmless;
use ptxsmith_report::{Report, severity};
use ptxsmith_subject::Outcome as Seen;

use crate::failure::Failure;
use crate::judges::Entry;
use crate::ledger::{Found, Triage, gather};
use crate::pool::{Ended, lock_of};
use crate::session::Session;
use crate::store::{self, Earlier, Identity, Shard, State};
use crate::subjects::Tested;

use kept::{Kept, Progress, Store};

pub use file::{with_comments, without_leading_comments};
pub(crate) use releases::judged as judged_release;
pub(crate) use report::validity;

/// How often what was found is saved while the campaign goes on.
const SAVE_EVERY: Duration = Duration::from_millis(500);
/// Saving may take this share of the time.
const SAVE_SHARE: u32 = 20;
/// The most new cases of a task that are listed one by one.
const MOST_NEW: usize = 100;

/// One campaign: its subjects, what was found so far, and where it is kept.
pub struct Campaign<'a> {
    /// What every command has at hand.
    pub session: &'a Session,
    /// The implementations under test, each with what was found.
    pub subjects: Vec<Tested>,
    /// Where it is kept.
    store: Store,
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
    /// What each subject makes of each program, where that is to be reported.
    by_case: Option<Mutex<by_case::ByCase>>,
    /// Whether nothing is missing, as far as the campaign does not do it itself.
    complete: bool,
    /// What chose the cases.
    pub seed: u64,
    /// How long all new findings together are reduced for, where there is a limit in time.
    pub reduce_for: Option<Duration>,
}

/// The verdicts on the cases of a task for one subject.
pub struct Judgements<'t> {
    /// The subject.
    pub tested: &'t Tested,
    /// The verdicts.
    pub entries: Vec<Entry<'t>>,
    /// The cases that conform and of which nothing else is known.
    pub bulk: BulkVerdicts,
}

/// A program of the user's.
#[derive(Clone)]
pub struct Source {
    /// Its file, as the user named it; `-` for standard input.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What a campaign came to.
pub struct Outcome {
    /// What was found.
    pub report: Report,
    /// How many programs lie with the findings that are of earlier campaigns.
    pub earlier: usize,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether it can be gone on with.
    pub resumable: bool,
    /// Whether files were left out that cannot be read or are no PTX.
    pub left_out: bool,
}

impl<'a> Campaign<'a> {
    /// A campaign that has not begun. Makes the output directory, and keeps others out of it. `earlier` is done with what it
    /// holds.
    ///
    /// # Errors
    /// If there is no such directory to write to, another campaign is writing there, or one is there that is not to be touched.
    pub fn new(
        session: &'a Session,
        command: &'static str,
        unit: &'static str,
        subjects: Vec<Tested>,
        out: Option<PathBuf>,
        earlier: Earlier,
    ) -> Result<Campaign<'a>, Failure> {
        Ok(Campaign {
            session,
            subjects,
            store: Store::open(out, earlier)?,
            command,
            unit,
            generator: Generator::default(),
            coverage: Mutex::default(),
            texts: Mutex::default(),
            by_case: None,
            complete: true,
            seed: session.seed,
            reduce_for: Some(Duration::ZERO),
        })
    }

    /// Makes the campaign one that can go on after it was stopped. `resume` goes on with what the directory holds, if it
    /// holds anything, with a larger budget where that can be
    /// raised to this one's.
    ///
    /// # Errors
    /// If another campaign is writing there, or what is there is of another campaign.
    pub fn keep(
        &mut self,
        identity: Identity,
        shard: Shard,
        wide: bool,
        resume: bool,
        raise: impl Fn(&Identity, &mut State) -> bool,
    ) -> Result<(), Failure> {
        let Some(out) = self.store.out.clone() else { return Ok(()) };
        let name = || harmless(&out.to_string_lossy()).into_owned();
        let state = if resume { State::read(&out)? } else { None };
        if resume && state.is_none() {
            self.session.events.note(&format!("{} holds no campaign: a new one starts", name()));
        }
        let (mut done, mut rest) = (store::Done::default(), None);
        if let Some(mut state) = state {
            let raised = raise(&identity, &mut state);
            let mut differs = identity.difference(&state.identity).filter(|_| !raised);
            if differs.is_none() && shard != state.shard {
                differs = Some(("shard".into(), shard.to_string(), state.shard.to_string()));
            }
            if let Some((what, ours, theirs)) = differs {
                return Err(Failure::BadInput(format!(
                    "{} holds another campaign ({what} `{}`, here `{}`); --resume without other arguments goes on with \
                     it, --replace removes it",
                    name(),
                    with_short_hashes(&theirs),
                    with_short_hashes(&ours)
                )));
            }
            for kept in &state.subjects {
                let tested = self.subjects.iter().find(|tested| tested.subject.id() == kept.description.id);
                if let Some(tested) = tested {
                    *tested.ledger() = kept.ledger.clone();
                    tested.know(kept.profile.clone());
                }
            }
            *lock_of(&self.coverage) = state.coverage()?;
            (done, rest) = (state.done, state.rest);
            self.store.written_before = file::ids_in(&out);
            self.store.started = manifest::Started::read(&out).unwrap_or_else(manifest::Started::now);
        }
        let verdicts = store::Verdicts::open(&out, &done)?;
        let progress = Mutex::new(Progress { done, verdicts });
        self.store.kept = Some(Kept { identity, shard, wide, progress, rest });
        manifest::save_manifest(self, false)
    }

    /// Takes what the shards of a campaign found, in the order of the shards.
    ///
    /// # Errors
    /// If a shard was written by another build.
    pub fn adopt(&mut self, shards: &[State], complete: bool) -> Result<(), Failure> {
        for shard in shards {
            for kept in &shard.subjects {
                let tested = self.subjects.iter().find(|tested| tested.subject.id() == kept.description.id);
                if let Some(tested) = tested {
                    tested.ledger().merge(kept.ledger.clone());
                    tested.know(kept.profile.clone());
                }
            }
            lock_of(&self.coverage).merge(&shard.coverage()?);
        }
        self.complete = complete;
        Ok(())
    }

    /// Whether a task is to be done: it falls to this shard, and was not done before.
    pub fn is_to_do(&self, task: u64) -> bool {
        self.store.is_to_do(task)
    }

    /// The first case of a task that is to be done, where it is not the task's first.
    pub fn first_case_of(&self, task: u64) -> Option<u64> {
        self.store.first_case_of(task)
    }

    /// Enters the verdicts of a whole task, with what was generated for it, and saves the findings that are new or have
    /// a shorter example now.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn commit(
        &self,
        task: u64,
        judgements: Vec<Judgements<'_>>,
        coverage: &Coverage,
    ) -> Result<(), Failure> {
        let mut better = Vec::new();
        {
            let mut progress = self.store.kept.as_ref().map(|kept| (kept.shard, lock_of(&kept.progress)));
            let mut lines = Vec::new();
            for Judgements { tested, entries, bulk } in judgements {
                lines.push(line(task, tested.subject.id(), &entries, &bulk));
                better.extend(self.note(tested, entries, None));
                tested.ledger().enter_bulk(&bulk);
            }
            lock_of(&self.coverage).merge(coverage);
            if let Some((shard, progress)) = &mut progress {
                progress.verdicts.add(&lines)?;
                progress.done.insert(task, *shard);
            }
        }
        for found in better {
            self.save_finding(&found)?;
        }
        self.save_now_and_then()
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
        for found in self.note(tested, entries, source) {
            self.save_finding(&found)?;
        }
        self.save_now_and_then()
    }

    /// Enters verdicts. Returns the findings that are new or have a shorter example now.
    fn note<'t>(
        &self,
        tested: &Tested,
        entries: impl IntoIterator<Item = Entry<'t>>,
        source: Option<&Source>,
    ) -> Vec<Found> {
        let mut better = BTreeMap::new();
        let mut ledger = tested.ledger();
        for Entry { trial, header, judged } in entries {
            if let (Some(source), Verdict::Deviates(_) | Verdict::Reads(_)) = (source, &judged.verdict) {
                lock_of(&self.texts).entry(judged.id).or_insert_with(|| source.clone());
            }
            if let Some(found) = ledger.enter(trial, judged, header) {
                better.insert(found.finding.id.clone(), found);
            }
        }
        drop(ledger);
        better.into_values().map(|found| self.shown_by(tested, found)).collect()
    }

    fn shown_by(&self, tested: &Tested, found: Found) -> Found {
        let source = lock_of(&self.texts).get(&found.trial).cloned();
        found.shown_by(tested.subject.id(), source.map(|source| (source.path, source.text)))
    }

    /// From now on what is [noted](Campaign::note_case) stands in the report.
    pub fn report_by_case(&mut self) {
        self.by_case = Some(Mutex::default());
    }

    /// Notes the verdicts on the parts of a program, where the report is to have them.
    pub fn note_case<'v>(
        &self,
        tested: &Tested,
        source: &Source,
        verdicts: impl IntoIterator<Item = &'v Verdict>,
    ) {
        by_case::note(self, tested, source, verdicts);
    }

    /// The findings in all subjects, in the order of [`severity::order`].
    pub fn findings(&self) -> Vec<Found> {
        let mut all: BTreeMap<String, Found> = BTreeMap::new();
        let triage = self.triage();
        for tested in &self.subjects {
            let (found, confusion) = {
                let ledger = tested.ledger();
                (ledger.findings(&triage), ledger.confusion)
            };
            for found in found {
                let is_refusal =
                    found.is_refusal() || found.is_mixed() && found.finding.observed.outcome == Seen::Refused;
                if confusion.refuses_everything() && found.is_new() && is_refusal {
                    continue;
                }
                gather(&mut all, found.finding.id.clone(), self.shown_by(tested, found));
            }
        }
        // The name decides last, so that the order is always the same.
        let mut all: Vec<Found> = all.into_values().collect();
        all.sort_by_key(|found| severity::order(&found.finding));
        all
    }

    /// The subject of this name.
    fn tested(&self, id: &str) -> Option<&Tested> {
        self.subjects.iter().find(|tested| tested.subject.id() == id)
    }

    /// What the new differences of all subjects together are put down to.
    fn triage(&self) -> Triage {
        let ledgers: Vec<_> = self.subjects.iter().map(|t| (t.ledger(), t.subject.description())).collect();
        Triage::of(ledgers.iter().map(|(ledger, description)| (&**ledger, Maker::of(description))))
    }

    /// The end: its result, or, where something of ours failed, that, with what was found before on disk.
    pub fn end(&self, ended: Result<Ended, Failure>) -> Result<Outcome, Failure> {
        match ended {
            Ok(ended) => self.finish(ended),
            Err(failure) => {
                self.save_state(false)?;
                self.save_report(&self.findings(), false)?;
                Err(failure)
            }
        }
    }

    /// Looks once more at what was found, and writes it. Stopped while it does, it reports what is known until then.
    pub fn finish(&self, ended: Ended) -> Result<Outcome, Failure> {
        let looked = self.look_once_more(ended);
        let cancel = &self.session.cancel;
        // What was left out then is the same as if the campaign had been stopped before.
        let (ended, findings) = match looked {
            Ok(findings) if ended == Ended::Interrupted || !cancel.is_cancelled() || cancel.is_late() => {
                (ended, findings)
            }
            Err(Failure::Interrupted) if cancel.is_late() => {
                self.note_late();
                (ended, self.look_once_more(Ended::Interrupted)?)
            }
            Ok(_) | Err(Failure::Interrupted) => {
                (Ended::Interrupted, self.look_once_more(Ended::Interrupted)?)
            }
            Err(failure) => return Err(failure),
        };
        self.store.remove_stale(&findings);
        let mut report = self.report(&findings, ended == Ended::All && self.complete);
        let whole = self.store.kept.as_ref().is_none_or(|kept| kept.shard == Shard::ALL);
        if report.complete && whole {
            self.session.expected.look_for_passes(&mut report);
        }
        self.write_report(&report)?;
        self.save_state(ended == Ended::All)?;
        manifest::save_manifest(self, ended == Ended::All)?;
        if let (Some(out), Some(_)) = (&self.store.out, &self.store.kept) {
            store::sort_verdicts(out)?;
        }
        let earlier = self.store.earlier_findings(&findings);
        let (interrupted, resumable) = (ended == Ended::Interrupted, self.store.kept.is_some());
        Ok(Outcome { report, earlier, interrupted, resumable, left_out: false })
    }

    /// The findings at the end, each written to its file.
    fn look_once_more(&self, ended: Ended) -> Result<Vec<Found>, Failure> {
        let findings = finish::finish(self, ended)?;
        // A last time: while the campaign went on, a longer example may have overtaken a shorter one on its way to
        // the disk, and some findings show only in the sum.
        for found in &findings {
            self.save_finding(found)?;
        }
        Ok(findings)
    }

    /// How many verdicts are deviations, and how many of them nothing listed explains, for a line of progress.
    pub fn so_far(&self) -> String {
        let (mut deviate, mut new) = (0, 0);
        for tested in &self.subjects {
            let ledger = tested.ledger();
            deviate += ledger.compared - ledger.refused_apart() - ledger.conforming();
            new += ledger.unexplained();
        }
        format!("{deviate} deviate, {new} new")
    }

    fn note_late(&self) {
        self.session.events.note(
            "--time was over before the end of the report: new findings may not be reduced, and listed deviations \
             may not have been looked for",
        );
    }

    fn save_now_and_then(&self) -> Result<(), Failure> {
        let began = Instant::now();
        {
            let mut save_at = lock_of(&self.store.save_at);
            if began < *save_at {
                return Ok(());
            }
            // No other campaign begins meanwhile.
            *save_at = began + SAVE_EVERY * SAVE_SHARE;
        }
        self.save_state(false)?;
        self.save_report(&self.findings(), false)?;
        *lock_of(&self.store.save_at) = Instant::now() + SAVE_EVERY.max(began.elapsed() * SAVE_SHARE);
        Ok(())
    }

    /// Saves everything that was found, with the tasks that it is of.
    fn save_state(&self, complete: bool) -> Result<(), Failure> {
        let (Some(out), Some(kept)) = (&self.store.out, &self.store.kept) else { return Ok(()) };
        let state = {
            let progress = lock_of(&kept.progress);
            let coverage = lock_of(&self.coverage);
            let mut state = State::new(kept.identity.clone(), kept.shard, &coverage);
            (state.complete, state.done, state.wide) = (complete, progress.done.clone(), kept.wide);
            state.rest = kept.rest;
            state.subjects = self.subjects.iter().map(kept_of).collect();
            state
        };
        state.write(out)
    }
}

/// What a subject did with the cases of a task, as a line of `verdicts.jsonl`.
fn line(task: u64, subject: &str, entries: &[Entry<'_>], bulk: &BulkVerdicts) -> store::Line {
    let mut line = store::Line { task, subject: subject.to_owned(), ..store::Line::default() };
    line.compared += bulk.conform;
    line.conform += bulk.conform;
    for (&known, &count) in &bulk.deviate {
        line.compared += count;
        line.known.insert(known.to_owned(), count);
    }
    if bulk.unmodelled > 0 {
        line.not_compared.insert(NotCompared::Unmodelled, bulk.unmodelled);
    }
    for Entry { judged, .. } in entries {
        match &judged.verdict {
            Verdict::NotCompared(reason) => {
                *line.not_compared.entry(*reason).or_default() += 1;
                continue;
            }
            Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_) => line.conform += 1,
            Verdict::Deviates(difference) => match &difference.explanation {
                Some(explanation) => {
                    for known in explanation.deviations() {
                        *line.known.entry(known.id.to_owned()).or_default() += 1;
                    }
                }
                None if line.new.len() < MOST_NEW => {
                    line.new.push(store::NewCase { case: judged.id, class: difference.class });
                }
                None => line.more_new += 1,
            },
        }
        line.compared += 1;
    }
    line
}

fn kept_of(tested: &Tested) -> store::Kept {
    store::Kept {
        description: tested.subject.description().clone(),
        profile: tested.known_profile(),
        ledger: tested.ledger().clone(),
    }
}

/// A text for people: subjects are identified by their hashes, of which the beginning is enough.
fn with_short_hashes(text: &str) -> String {
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split(' ').map(|word| if is_hash(word) { &word[..8] } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
