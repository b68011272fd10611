//! The parts common to all campaigns: opens subjects, tracks tasks, stores findings and reports them.

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

use ptxsmith_diff::{BulkVerdicts, Implementation, NotCompared, Verdict};
use ptxsmith_gen::{Coverage, Generator};
use ptxsmith_oracle::Question;
use ptxsmith_report::harmless::line as harmless;
use ptxsmith_report::{Report, severity};
use ptxsmith_subject::Outcome as Seen;

use crate::failure::Failure;
use crate::judges::JudgedTrial;
use crate::ledger::{PendingFinding, Triage, gather};
use crate::pool::{Completion, lock_of};
use crate::session::Session;
use crate::store::{self, CampaignState, ExistingCampaign, Identity, Shard};
use crate::subjects::TestSubject;

use kept::{ResumeData, Store, TaskProgress};

pub use file::{with_comments, without_leading_comments};
pub(crate) use releases::judged as judged_release;
pub(crate) use report::validity;

/// The shortest interval between two saves while the campaign runs.
const SAVE_EVERY: Duration = Duration::from_millis(500);
/// Saving may use at most one part in this many of the time.
const SAVE_SHARE: u32 = 20;
/// The most new cases of a task that `verdicts.jsonl` lists one by one.
const MOST_NEW: usize = 100;

/// One campaign: its subjects, their findings so far, and the place where they are stored.
pub struct Campaign<'a> {
    /// The settings common to all commands.
    pub session: &'a Session,
    /// The implementations under test, each with its ledger.
    pub subjects: Vec<TestSubject>,
    /// The output directory and the saved progress.
    store: Store,
    /// The command: `run` or `check`.
    pub command: &'static str,
    /// The unit of work in the plural: `cases`, `variables`.
    pub unit: &'static str,
    /// The generator. Its productions are counted for coverage.
    pub generator: Generator,
    /// The grammar productions generated so far.
    coverage: Mutex<Coverage>,
    /// The sources of user programs by trial number. They are needed because an example in a ledger keeps
    /// only the declarations.
    texts: Mutex<BTreeMap<u64, ProgramSource>>,
    /// Each subject's result for each program, if the report is to include it.
    by_case: Option<Mutex<by_case::ByCase>>,
    /// Whether all parts that the campaign does not run itself are present, such as the other shards of a
    /// merge.
    complete: bool,
    /// The seed that chose the cases.
    pub seed: u64,
    /// The answers to open questions that the user gave.
    pub answers: Vec<(Question, usize)>,
    /// The time to reduce all new findings together; `None` for no limit.
    pub reduce_for: Option<Duration>,
}

/// The verdicts on the cases of a task for one subject.
pub struct Judgements<'t> {
    /// The subject.
    pub tested: &'t TestSubject,
    /// The verdicts that are recorded one by one.
    pub entries: Vec<JudgedTrial<'t>>,
    /// Cases that are only counted, without an example.
    pub bulk: BulkVerdicts,
}

/// A program supplied by the user.
#[derive(Clone)]
pub struct ProgramSource {
    /// The file as the user named it; `-` for standard input.
    pub path: String,
    /// The PTX source.
    pub text: String,
}

/// The result of a campaign.
pub struct CampaignOutcome {
    /// The report with all findings.
    pub report: Report,
    /// The number of programs in the findings directory left by earlier campaigns.
    pub earlier: usize,
    /// Whether it stopped before its end.
    pub interrupted: bool,
    /// Whether `--resume` can continue it.
    pub resumable: bool,
    /// Whether files were skipped because they cannot be read or are not PTX.
    pub left_out: bool,
}

impl<'a> Campaign<'a> {
    /// Creates a campaign that has not started. Creates the output directory and locks it against other
    /// campaigns. `earlier` decides the fate of a campaign that the directory already holds.
    ///
    /// # Errors
    /// If the directory cannot be created or written to, if another campaign is writing there, or if
    /// `earlier` forbids touching the campaign it holds.
    pub fn new(
        session: &'a Session,
        command: &'static str,
        unit: &'static str,
        subjects: Vec<TestSubject>,
        out: Option<PathBuf>,
        earlier: ExistingCampaign,
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
            answers: session.answers.clone(),
            reduce_for: Some(Duration::ZERO),
        })
    }

    /// Makes the campaign resumable by saving its state. With `resume`, continues the campaign in the
    /// directory, if there is one; `raise` may adapt the saved state to a larger budget.
    ///
    /// # Errors
    /// If the directory holds a different campaign, or the saved state cannot be read.
    pub fn keep(
        &mut self,
        identity: Identity,
        shard: Shard,
        wide: bool,
        resume: bool,
        raise: impl Fn(&Identity, &mut CampaignState) -> bool,
    ) -> Result<(), Failure> {
        let Some(out) = self.store.out.clone() else { return Ok(()) };
        let name = harmless(&out.to_string_lossy()).into_owned();
        let state = if resume { CampaignState::read(&out)? } else { None };
        if resume && state.is_none() {
            self.session.events.note(&format!("{name} holds no campaign: a new one starts"));
        }
        let mut done = store::FinishedTasks::default();
        let mut rest = None;
        if let Some(mut state) = state {
            let raised = raise(&identity, &mut state);
            let mut differs = identity.difference(&state.identity).filter(|_| !raised);
            if differs.is_none() && shard != state.shard {
                differs = Some(("shard".into(), shard.to_string(), state.shard.to_string()));
            }
            if let Some((setting, ours, theirs)) = differs {
                return Err(Failure::BadInput(format!(
                    "{name} holds another campaign ({setting} `{}`, here `{}`); --resume without other arguments \
                     goes on with it, --replace removes it",
                    with_short_hashes(&theirs),
                    with_short_hashes(&ours)
                )));
            }
            for saved in &state.subjects {
                if let Some(tested) = self.tested(&saved.description.id) {
                    *tested.ledger() = saved.ledger.clone();
                    tested.know(saved.profile.clone());
                }
            }
            *lock_of(&self.coverage) = state.coverage()?;
            done = state.done;
            rest = state.rest;
            self.store.written_before = file::ids_in(&out);
            self.store.started = manifest::StartTime::read(&out).unwrap_or_else(manifest::StartTime::now);
        }
        let verdicts = store::Verdicts::open(&out, &done)?;
        let progress = Mutex::new(TaskProgress { done, verdicts });
        self.store.kept = Some(ResumeData { identity, shard, wide, progress, rest });
        manifest::save_manifest(self, false)
    }

    /// Merges the ledgers and coverage of the shards, in the order given.
    ///
    /// # Errors
    /// If a shard was written by another build.
    pub fn adopt(&mut self, shards: &[CampaignState], complete: bool) -> Result<(), Failure> {
        for shard in shards {
            for saved in &shard.subjects {
                if let Some(tested) = self.tested(&saved.description.id) {
                    tested.ledger().merge(saved.ledger.clone());
                    tested.know(saved.profile.clone());
                }
            }
            lock_of(&self.coverage).merge(&shard.coverage()?);
        }
        self.complete = complete;
        Ok(())
    }

    /// Returns true if this shard includes the task and it is not done yet.
    pub fn is_to_do(&self, task: u64) -> bool {
        self.store.is_to_do(task)
    }

    /// Returns the first case still to be done if part of the task is done already, otherwise `None`.
    pub fn first_case_of(&self, task: u64) -> Option<u64> {
        self.store.first_case_of(task)
    }

    /// Records the verdicts and coverage of a whole task, and saves each finding that is new or now has a
    /// shorter example.
    ///
    /// # Errors
    /// If a file cannot be written.
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

    /// Records verdicts, and saves each finding that is new or now has a shorter example.
    ///
    /// # Errors
    /// If a finding cannot be written.
    pub fn enter<'t>(
        &self,
        tested: &TestSubject,
        entries: impl IntoIterator<Item = JudgedTrial<'t>>,
        source: Option<&ProgramSource>,
    ) -> Result<(), Failure> {
        for found in self.note(tested, entries, source) {
            self.save_finding(&found)?;
        }
        self.save_now_and_then()
    }

    /// Records verdicts. Returns the findings that are new or now have a shorter example.
    fn note<'t>(
        &self,
        tested: &TestSubject,
        entries: impl IntoIterator<Item = JudgedTrial<'t>>,
        source: Option<&ProgramSource>,
    ) -> Vec<PendingFinding> {
        let mut better = BTreeMap::new();
        let mut ledger = tested.ledger();
        for JudgedTrial { trial, header, judged } in entries {
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

    fn shown_by(&self, tested: &TestSubject, found: PendingFinding) -> PendingFinding {
        let source = lock_of(&self.texts).get(&found.trial).cloned();
        found.shown_by(tested.subject.id(), source.map(|source| (source.path, source.text)))
    }

    /// Includes the verdicts [noted](Campaign::note_case) from now on in the report.
    pub fn report_by_case(&mut self) {
        self.by_case = Some(Mutex::default());
    }

    /// Notes the verdicts on the parts of a program, if the report lists results by case.
    pub fn note_case<'v>(
        &self,
        tested: &TestSubject,
        source: &ProgramSource,
        verdicts: impl IntoIterator<Item = &'v Verdict>,
    ) {
        by_case::note(self, tested, source, verdicts);
    }

    /// Returns the findings of all subjects together, sorted by [`severity::order`].
    pub fn findings(&self) -> Vec<PendingFinding> {
        let mut all: BTreeMap<String, PendingFinding> = BTreeMap::new();
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
        // `severity::order` compares the name last, so the order is deterministic.
        let mut all: Vec<PendingFinding> = all.into_values().collect();
        all.sort_by_key(|found| severity::order(&found.finding));
        all
    }

    /// Returns the subject with this id.
    fn tested(&self, id: &str) -> Option<&TestSubject> {
        self.subjects.iter().find(|tested| tested.subject.id() == id)
    }

    /// Explains the new differences of all subjects together.
    fn triage(&self) -> Triage {
        let ledgers: Vec<_> = self.subjects.iter().map(|t| (t.ledger(), t.subject.description())).collect();
        Triage::new(
            ledgers
                .iter()
                .map(|(ledger, description)| (&**ledger, Implementation::from_description(description))),
        )
    }

    /// Ends the campaign and returns its outcome. If it failed, saves the state and the findings so far and
    /// returns the failure.
    pub fn end(&self, ended: Result<Completion, Failure>) -> Result<CampaignOutcome, Failure> {
        match ended {
            Ok(ended) => self.finish(ended),
            Err(failure) => {
                self.save_state(false)?;
                self.save_report(&self.findings(), false)?;
                Err(failure)
            }
        }
    }

    /// Rechecks the findings and writes the report. If interrupted meanwhile, reports the results known at
    /// that point.
    pub fn finish(&self, ended: Completion) -> Result<CampaignOutcome, Failure> {
        let rechecked = self.recheck(ended);
        let cancel = &self.session.cancel;
        // An interruption during the recheck counts as one before it: the same steps are skipped.
        let (ended, findings) = match rechecked {
            Ok(findings)
                if ended == Completion::Interrupted || !cancel.is_cancelled() || cancel.is_late() =>
            {
                (ended, findings)
            }
            Err(Failure::Interrupted) if cancel.is_late() => {
                self.note_late();
                (ended, self.recheck(Completion::Interrupted)?)
            }
            Ok(_) | Err(Failure::Interrupted) => {
                (Completion::Interrupted, self.recheck(Completion::Interrupted)?)
            }
            Err(failure) => return Err(failure),
        };
        self.store.remove_stale(&findings);
        let mut report = self.report(&findings, ended == Completion::All && self.complete);
        let whole = self.store.kept.as_ref().is_none_or(|kept| kept.shard == Shard::ALL);
        if report.complete && whole {
            self.session.expected.look_for_passes(&mut report);
            for mismatch in self.session.expected.mismatches(&report) {
                self.session.events.note(&harmless(&mismatch));
            }
        }
        self.write_report(&report)?;
        self.save_state(ended == Completion::All)?;
        manifest::save_manifest(self, ended == Completion::All)?;
        if let (Some(out), Some(_)) = (&self.store.out, &self.store.kept) {
            store::sort_verdicts(out)?;
        }
        let earlier = self.store.earlier_findings(&findings);
        let interrupted = ended == Completion::Interrupted;
        let resumable = self.store.kept.is_some();
        Ok(CampaignOutcome { report, earlier, interrupted, resumable, left_out: false })
    }

    /// Rechecks the findings and writes each to its file.
    fn recheck(&self, ended: Completion) -> Result<Vec<PendingFinding>, Failure> {
        let findings = finish::finish(self, ended)?;
        // Save all findings again: while the campaign ran, a longer example may have overwritten a shorter
        // one, and some findings only appear in the totals.
        for found in &findings {
            self.save_finding(found)?;
        }
        Ok(findings)
    }

    /// Returns the number of deviations and of those without a known explanation, for a progress line.
    pub fn so_far(&self) -> String {
        let mut deviate = 0;
        let mut new = 0;
        for tested in &self.subjects {
            let ledger = tested.ledger();
            deviate += ledger.compared - ledger.refused_apart() - ledger.conforming();
            new += ledger.unexplained();
        }
        format!("{deviate} deviate, {new} new")
    }

    fn note_late(&self) {
        self.session.events.note(
            "--time was over before the end of the report: new findings may not be reduced, and listed \
             deviations may not have been looked for",
        );
    }

    fn save_now_and_then(&self) -> Result<(), Failure> {
        let began = Instant::now();
        {
            let mut save_at = lock_of(&self.store.save_at);
            if began < *save_at {
                return Ok(());
            }
            // Keep other threads from saving at the same time.
            *save_at = began + SAVE_EVERY * SAVE_SHARE;
        }
        self.save_state(false)?;
        self.save_report(&self.findings(), false)?;
        *lock_of(&self.store.save_at) = Instant::now() + SAVE_EVERY.max(began.elapsed() * SAVE_SHARE);
        Ok(())
    }

    /// Saves all results, together with the list of tasks that they cover.
    fn save_state(&self, complete: bool) -> Result<(), Failure> {
        let (Some(out), Some(kept)) = (&self.store.out, &self.store.kept) else { return Ok(()) };
        let state = {
            let progress = lock_of(&kept.progress);
            let coverage = lock_of(&self.coverage);
            let mut state = CampaignState::new(kept.identity.clone(), kept.shard, &coverage);
            (state.complete, state.done, state.wide) = (complete, progress.done.clone(), kept.wide);
            state.rest = kept.rest;
            state.subjects = self.subjects.iter().map(kept_of).collect();
            state
        };
        state.write(out)
    }
}

/// Summarizes a subject's results for one task as a line of `verdicts.jsonl`.
fn line(task: u64, subject: &str, entries: &[JudgedTrial<'_>], bulk: &BulkVerdicts) -> store::VerdictLine {
    let mut line = store::VerdictLine { task, subject: subject.to_owned(), ..store::VerdictLine::default() };
    line.compared += bulk.conform;
    line.conform += bulk.conform;
    for (&known, &count) in &bulk.deviate {
        line.compared += count;
        line.known.insert(known.to_owned(), count);
    }
    if bulk.unmodelled > 0 {
        line.not_compared.insert(NotCompared::Unmodelled, bulk.unmodelled);
    }
    for JudgedTrial { judged, .. } in entries {
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

fn kept_of(tested: &TestSubject) -> store::SubjectState {
    store::SubjectState {
        description: tested.subject.description().clone(),
        profile: tested.known_profile(),
        ledger: tested.ledger().clone(),
    }
}

/// Shortens SHA-256 hashes in a message to eight digits, enough for a reader to identify a subject.
fn with_short_hashes(text: &str) -> String {
    let words = text.split(' ').map(|word| if is_sha256(word) { &word[..8] } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn is_sha256(word: &str) -> bool {
    word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
