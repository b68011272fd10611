//! The results of a campaign for one subject: counts, and one entry for each distinct deviation.

mod name;
mod pending;
mod state;
mod triage;

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use ptxsmith_diff::{
    Alternatives, BulkVerdicts, Class, Difference, Header, NotCompared, Requirement, Trial, TrialOutcome,
    TrialVerdict, Verdict,
};
use ptxsmith_model::FindingKind;
use ptxsmith_oracle::{Clause, ClauseSet, Interpretation, Question};
use ptxsmith_report::{ClauseCounts, Confusion, KernelCounts, OperandCounts, Status};
use serde::{Deserialize, Serialize};

use pending::{DeviatingTrial, offer};

pub use name::{FindingName, quote, quoteless, slug};
pub use pending::{PendingFinding, gather};
pub use triage::Triage;

/// The weight added to an example for each further deviation that it shows, so that an example with a single
/// deviation is preferred.
const ALONE_SHOWS_BETTER: usize = 10_000;
/// The most distinct reasons kept for results not compared; a subject may report any number.
const MOST_REASONS: usize = 200;
const OTHER: &str = "other reasons";

/// The counts and findings of a campaign against one subject. Serialized as JSON, it can be resumed after an
/// interruption or merged with other ledgers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The number of trials compared.
    pub compared: u64,
    /// The number of compared trials that conform.
    pub conform: u64,
    /// The number of verdicts that excluded each interpretation.
    pub excluded: BTreeMap<Interpretation, u64>,
    /// The shortest program that excludes each interpretation, among those accepted or rejected as the
    /// specification requires.
    #[serde(default)]
    against: BTreeMap<Interpretation, ShortestProgram>,
    /// The interpretations other than the default that the subject followed, each with the shortest trial.
    pub followed: BTreeMap<Interpretation, PendingFinding>,
    /// The number of trials that conform only under interpretations other than the default ones, by these
    /// interpretations.
    #[serde(default, with = "state::by_answers")]
    by_answers: BTreeMap<Vec<Interpretation>, u64>,
    /// The number of programs that confirm the default interpretation of each question: invalid only under
    /// the default interpretation, rejected, and with a valid counterpart that is accepted.
    pub confirmed: BTreeMap<Question, u64>,
    /// The number of trials not compared, by reason.
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// The details of why trials were not compared, if known: counts by reason and message.
    #[serde(default)]
    pub why: BTreeMap<NotCompared, BTreeMap<String, u64>>,
    /// The clauses on which some compared trial depends.
    pub reached: ClauseSet,
    /// The number of variables that the subject did not show, in trials that were compared by other
    /// variables.
    pub unseen: u64,
    /// The observed results of operands in trials with kernels.
    pub operands: OperandCounts,
    /// The number of memory operands of kernels compared in files.
    #[serde(default)]
    pub memory_operands: KernelCounts,
    /// The number of kernels in files with computed results that were compared.
    #[serde(default)]
    pub computed_kernels: KernelCounts,
    /// The number of conforming trials judged only by being accepted, because the subject shows no values.
    pub by_outcome: u64,
    /// The counts of accepted and rejected programs among all that were compared.
    pub confusion: Confusion,
    /// The counts for each clause. A conforming program counts for every clause on which it depends; a
    /// deviating one only for the clauses that it violates, if they are known.
    pub clauses: BTreeMap<Clause, ClauseCounts>,
    /// The shortest program that shows each clause violated, by class of deviation. A finding has one program
    /// for all its clauses and subjects; here each clause has its own, for this subject.
    pub least: BTreeMap<Clause, BTreeMap<Class, ShortestProgram>>,
    /// The number of new differences that were not analysed, because their batch had too many.
    pub unsorted: u64,
    #[serde(deserialize_with = "state::findings")]
    findings: BTreeMap<String, PendingFinding>,
    /// The number of conforming programs that contradict each wrong rule used as a hypothesis.
    #[serde(deserialize_with = "state::contradicted")]
    contradicted: BTreeMap<&'static str, u64>,
    /// Differences that wrong rules predict, by alternatives: each set of rules in the key predicts the
    /// difference.
    #[serde(with = "state::suspected")]
    suspected: BTreeMap<Alternatives, PendingFinding>,
    /// The same for valid programs that are rejected. Many wrong rules reject many programs, so these
    /// differences are no evidence for a cause, but they may share a cause with others.
    #[serde(with = "state::suspected")]
    refused: BTreeMap<Alternatives, PendingFinding>,
}

/// The shortest program of its kind: one that violates a clause in one way, or that excludes an
/// interpretation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShortestProgram {
    weight: usize,
    /// The number of the trial.
    pub trial: u64,
    /// The program.
    pub program: String,
}

impl ShortestProgram {
    /// Keeps a trial if it is the shortest of its kind so far. Prints the program only in that case.
    fn offer<K: Ord>(
        all: &mut BTreeMap<K, ShortestProgram>,
        kind: K,
        weight: usize,
        trial: &Trial,
        header: &Header,
    ) {
        if all.get(&kind).is_none_or(|known| (weight, trial.id) < (known.weight, known.trial)) {
            all.insert(kind, ShortestProgram { weight, trial: trial.id, program: trial.text(header) });
        }
    }

    /// Merges this program into another ledger's; the shorter one stays.
    fn join<K: Ord>(self, all: &mut BTreeMap<K, ShortestProgram>, kind: K) {
        match all.entry(kind) {
            Entry::Vacant(place) => drop(place.insert(self)),
            Entry::Occupied(mut occupied) if self < *occupied.get() => drop(occupied.insert(self)),
            Entry::Occupied(_) => {}
        }
    }
}

impl Ledger {
    /// Records a verdict. Returns the finding if it is new or now has a shorter example, so that the caller
    /// can save it.
    pub fn enter(&mut self, trial: &Trial, judged: TrialVerdict, header: &Header) -> Option<PendingFinding> {
        if let (Some(requirement), Some(fate)) = (judged.requirement, judged.outcome()) {
            self.meets(requirement, fate, 1);
        }
        if let Some(question) = judged.confirms {
            *self.confirmed.entry(question).or_default() += 1;
        }
        self.operands += OperandCounts { seen: judged.operands.seen, total: judged.operands.total };
        for (counts, total) in [
            (&judged.memory_operands, &mut self.memory_operands),
            (&judged.computed_kernels, &mut self.computed_kernels),
        ] {
            if let Some(counts) = counts {
                let ptxsmith_diff::CodeCounts { compared, removed, not_compared } = (**counts).clone();
                total.add(&KernelCounts { compared, removed, not_compared });
            }
        }
        if !matches!(judged.verdict, Verdict::NotCompared(_)) {
            self.unseen += u64::from(judged.unseen);
        }
        match &judged.verdict {
            Verdict::NotCompared(reason) => {
                if *reason == NotCompared::Unsupported {
                    let clauses = judged.trace.clauses.iter();
                    clauses.for_each(|clause| self.counts(clause).unsupported += 1);
                }
                *self.not_compared.entry(*reason).or_default() += 1;
                if let Some(why) = &judged.why {
                    let known = self.why.entry(*reason).or_default();
                    let few = known.len() < MOST_REASONS || known.contains_key(&why.reason);
                    *known.entry(if few { why.reason.clone() } else { OTHER.into() }).or_default() += 1;
                }
                None
            }
            Verdict::Conforms | Verdict::ConformsByOutcome => {
                self.by_outcome += u64::from(judged.verdict == Verdict::ConformsByOutcome);
                self.conforms(&judged, trial, header);
                None
            }
            Verdict::Reads(difference) => {
                self.conforms(&judged, trial, header);
                let readings = difference.explanation.iter().flat_map(|explanation| &explanation.readings);
                let answers: Vec<_> =
                    readings.map(|&(question, answer)| Interpretation(question, answer)).collect();
                let deviating = DeviatingTrial::new(trial, header, difference, judged.place.as_deref());
                for &answer in &answers {
                    offer(&mut self.followed, answer, &deviating, FindingName::default);
                }
                *self.by_answers.entry(answers).or_default() += 1;
                None
            }
            Verdict::Deviates(difference) => {
                self.compared += 1;
                self.reached = self.reached.union(judged.trace.clauses);
                let deviating = DeviatingTrial::new(trial, header, difference, judged.place.as_deref());
                self.deviation(deviating, judged.trace.clauses)
            }
        }
    }

    /// Returns the wrong rules that may cause a difference.
    pub fn suspected_rules(&self) -> BTreeSet<&'static str> {
        self.suspected.keys().flatten().flatten().copied().collect()
    }

    /// Records that a program of a user conforms although this wrong rule predicts otherwise. It outweighs all
    /// differences that the rule predicts: users write few programs, in which hardly any deviation hides
    /// another.
    pub fn contradict(&mut self, id: &'static str) {
        let suspected = self
            .suspected
            .iter()
            .filter(|(alternatives, _)| alternatives.iter().flatten().any(|&rule| rule == id));
        let supporting: u64 = suspected.map(|(_, found)| found.finding.count).sum();
        *self.contradicted.entry(id).or_default() += supporting.max(1);
    }

    /// Returns the number of differences that no listed deviation explains.
    pub fn unexplained(&self) -> u64 {
        let named = self.findings.values().filter(|found| found.is_new());
        let put_down = self.suspected.values().chain(self.refused.values());
        self.unsorted + self.ruled_out() + named.chain(put_down).map(|found| found.finding.count).sum::<u64>()
    }

    /// Records the cases that were only counted. Call it after the verdicts recorded one by one, because
    /// those include the examples for these counts.
    pub fn enter_bulk(&mut self, bulk: &BulkVerdicts) {
        if bulk.unmodelled > 0 {
            *self.not_compared.entry(NotCompared::Unmodelled).or_default() += bulk.unmodelled;
        }
        self.compared += bulk.conform;
        self.conform += bulk.conform;
        self.meets(Requirement::Accept, TrialOutcome::Accepted, bulk.conform);
        for (&clause, &count) in Clause::ALL.iter().zip(&bulk.clauses).filter(|&(_, &count)| count > 0) {
            self.reached.insert(clause);
            let counts = self.counts(clause);
            counts.compared += count;
            counts.conform += count;
        }
        for (&(question, answer), &count) in &bulk.read {
            let answer = Interpretation(question, answer);
            let followed = self.followed.get_mut(&answer);
            followed.expect("an example of what is counted was left").finding.count += count;
            *self.by_answers.entry(vec![answer]).or_default() += count;
        }
        self.reached = self.reached.union(bulk.deviating);
        for (&id, &count) in &bulk.deviate {
            self.compared += count;
            self.meets(Requirement::Accept, TrialOutcome::Accepted, count);
            let found = self.findings.get_mut(id).expect("an example of what is counted was left");
            found.finding.count += count;
            let clauses: Vec<Clause> =
                found.finding.clauses.iter().filter_map(|id| Clause::from_id(id)).collect();
            clauses.into_iter().for_each(|clause| self.breaks(clause, Class::WrongValue, count));
        }
    }

    fn meets(&mut self, requirement: Requirement, fate: TrialOutcome, count: u64) {
        let fates = match requirement {
            Requirement::Accept => &mut self.confusion.must_accept,
            Requirement::Refuse => &mut self.confusion.must_refuse,
        };
        *match fate {
            TrialOutcome::Accepted => &mut fates.accepted,
            TrialOutcome::Refused => &mut fates.refused,
            TrialOutcome::Crashed => &mut fates.crashed,
        } += count;
    }

    fn counts(&mut self, clause: Clause) -> &mut ClauseCounts {
        self.clauses.entry(clause).or_default()
    }

    fn conforms(&mut self, judged: &TrialVerdict, trial: &Trial, header: &Header) {
        self.compared += 1;
        self.conform += 1;
        self.reached = self.reached.union(judged.trace.clauses);
        for clause in judged.trace.clauses.iter() {
            let counts = self.counts(clause);
            counts.compared += 1;
            counts.conform += 1;
        }
        for &(question, answer) in &judged.excluded {
            let answer = Interpretation(question, answer);
            *self.excluded.entry(answer).or_default() += 1;
            ShortestProgram::offer(&mut self.against, answer, trial.weight(), trial, header);
        }
        for &id in &judged.contradicts {
            *self.contradicted.entry(id).or_default() += 1;
        }
    }

    fn breaks(&mut self, clause: Clause, class: Class, count: u64) {
        let counts = self.counts(clause);
        counts.compared += count;
        *match class {
            Class::Crash | Class::Hang => &mut counts.crashed,
            Class::RefusesValid => &mut counts.refuses_valid,
            Class::AcceptsInvalid => &mut counts.accepts_invalid,
            _ => &mut counts.deviates,
        } += count;
    }

    /// Counts a trial for the clauses that it violates, and keeps its program if it is the shortest so far.
    fn enter_violations(&mut self, clauses: &[Clause], deviating: &DeviatingTrial<'_>) {
        let class = deviating.difference.class;
        for &clause in clauses {
            self.breaks(clause, class, 1);
            let least = self.least.entry(clause).or_default();
            ShortestProgram::offer(least, class, deviating.weight, deviating.trial, deviating.header);
        }
    }

    fn deviation(&mut self, mut deviating: DeviatingTrial<'_>, clauses: ClauseSet) -> Option<PendingFinding> {
        let difference = deviating.difference;
        let listed = difference.explanation.as_ref().filter(|explanation| !explanation.is_reading());
        if let Some(explanation) = listed {
            // Each known deviation in the trial gets its own finding. Penalize trials with several
            // deviations, because a deviation is easier to see alone.
            let names: Vec<FindingName> = explanation.deviations().map(FindingName::known).collect();
            deviating.weight += ALONE_SHOWS_BETTER * (names.len() - 1);
            return names
                .into_iter()
                .fold(None, |shorter, name| self.enter_named(&deviating, name).or(shorter));
        }
        let Some(suspected) = &difference.suspected else {
            self.unsorted += 1;
            return None;
        };
        let suspected: BTreeSet<&Alternatives> = suspected.iter().collect();
        let mut shorter = None;
        if suspected.is_empty() || suspected.contains(&Vec::new()) {
            shorter = self.enter_named(&deviating, FindingName::unexplained(difference, clauses));
        }
        if suspected.len() > 1 {
            deviating.weight += ALONE_SHOWS_BETTER;
        }
        for alternatives in suspected.into_iter().filter(|alternatives| !alternatives.is_empty()) {
            for id in &alternatives[0] {
                self.enter_violations(&FindingName::lead(id).clauses, &deviating);
            }
            let findings = match difference.class {
                Class::RefusesValid => &mut self.refused,
                _ => &mut self.suspected,
            };
            // The name applies if conforming programs contradict all of the rules.
            let found = offer(findings, alternatives.clone(), &deviating, || {
                FindingName::unexplained(difference, clauses)
            });
            shorter = found.or(shorter);
        }
        shorter
    }

    /// Records a difference under a name. Returns the finding if it is new or now has a shorter example.
    fn enter_named(&mut self, deviating: &DeviatingTrial<'_>, name: FindingName) -> Option<PendingFinding> {
        self.enter_violations(&name.clauses, deviating);
        offer(&mut self.findings, name.id.clone(), deviating, || name)
    }

    /// Adds a finding about the list of known deviations rather than about a case, replacing one with the
    /// same id.
    pub fn put(&mut self, found: PendingFinding) {
        self.findings.insert(found.finding.id.clone(), found);
    }

    /// Returns the findings, new ones first, then by name. `triage` holds the causes of new differences,
    /// determined from this ledger and all others in the same report.
    pub fn findings(&self, triage: &Triage) -> Vec<PendingFinding> {
        let mut findings: Vec<PendingFinding> = Vec::new();
        for (id, found) in &self.findings {
            findings.extend(named_after(triage.finding(id), found));
        }
        for (alternatives, found) in &self.suspected {
            findings.extend(named_after(triage.group(alternatives), found));
        }
        for (alternatives, found) in &self.refused {
            findings.extend(named_after(triage.refusal(alternatives), found));
        }
        for (&answer, found) in self.mixed() {
            match triage.followed(answer) {
                [] => findings.push(self.finding_of_mixed(answer, found)),
                causes => {
                    let named = named_after(causes, found).into_iter();
                    findings.extend(named.map(PendingFinding::as_last_example));
                }
            }
        }
        let mut gathered: BTreeMap<String, PendingFinding> = BTreeMap::new();
        for found in findings {
            gather(&mut gathered, found.finding.id.clone(), found);
        }
        let mut gathered: Vec<PendingFinding> = gathered.into_values().collect();
        gathered.sort_by_key(|found| found.finding.status);
        gathered
    }

    /// Returns the interpretations other than the default that the subject follows. For each question this is
    /// the one that no verdict excludes and that explains the most trials, with their number.
    pub fn readings(&self) -> impl Iterator<Item = (Interpretation, u64)> {
        Question::ALL.iter().filter_map(|&question| {
            let answers = self.followed.iter().filter(|(answer, _)| answer.0 == question);
            let possible = answers.filter(|(answer, _)| self.against(**answer) == 0);
            // On a tie take the first, so that the result depends on the counts only.
            let (&answer, found) = possible.rev().max_by_key(|(_, found)| found.finding.count)?;
            Some((answer, found.finding.count.max(self.against(Interpretation(question, 0)))))
        })
    }

    /// Returns the number of verdicts that conform under an interpretation that the subject follows
    /// throughout. If the subject accepts nothing, no rejection counts as conforming; correct ones are
    /// [counted apart](Ledger::refused_apart).
    pub fn conforming(&self) -> u64 {
        self.conform.saturating_sub(self.ruled_out()).saturating_sub(self.refused_apart())
    }

    /// Returns the number of verdicts that conform only under an interpretation that the subject does not
    /// follow throughout.
    fn ruled_out(&self) -> u64 {
        let refuses_everything = self.confusion.refuses_everything();
        let ruled_out: BTreeSet<&Interpretation> = self.mixed().map(|(answer, _)| answer).collect();
        let counts = self.by_answers.iter().filter(|(answers, _)| {
            answers.iter().any(|answer| refuses_everything || ruled_out.contains(answer))
        });
        counts.map(|(_, count)| count).sum()
    }

    /// Returns the number of invalid programs rejected by a subject that rejects everything, otherwise 0.
    pub fn refused_apart(&self) -> u64 {
        if self.confusion.refuses_everything() { self.confusion.must_refuse.refused } else { 0 }
    }

    fn against(&self, answer: Interpretation) -> u64 {
        self.excluded.get(&answer).copied().unwrap_or(0)
    }

    /// Returns the interpretations of questions for which every answer is excluded by some trial: whatever
    /// the specification means, the subject deviates somewhere.
    fn mixed(&self) -> impl Iterator<Item = (&Interpretation, &PendingFinding)> {
        self.followed.iter().filter(|(Interpretation(question, _), _)| {
            (0..question.answers().len()).all(|answer| self.against(Interpretation(*question, answer)) > 0)
        })
    }

    /// Builds the finding for an interpretation that some trials follow and others exclude. A rejection does
    /// not reveal its reason, so it is reported as the rejection of a valid program.
    fn finding_of_mixed(&self, answer: Interpretation, followed: &PendingFinding) -> PendingFinding {
        let Interpretation(question, followed_answer) = answer;
        if followed.is_refusal() {
            let PendingFinding { finding, .. } = followed;
            let clauses = question.clauses().iter().filter_map(|id| Clause::from_id(id)).collect();
            let difference =
                Difference::new(finding.class, finding.expected.clone(), finding.observed.clone());
            let mut found = followed.clone().named(FindingName::unexplained(&difference, clauses));
            found.follows = Some(answer);
            return found;
        }
        let names = question.answers();
        let mut counts = Vec::new();
        for (index, name) in names.iter().enumerate() {
            counts.push(format!("{name} ({})", self.against(Interpretation(question, index))));
        }
        let title = format!(
            "no one interpretation of {} is followed: ruled out are {}",
            question.name(),
            counts.join(", ")
        );
        let name = FindingName {
            id: format!("mixed-{}-{}", question.name(), names[followed_answer]),
            kind: FindingKind::Interpretation(question.name().to_owned()),
            title,
            clauses: question.clauses().iter().filter_map(|id| Clause::from_id(id)).collect(),
        };
        let mut found = followed.clone().named(name);
        found.finding.class = Class::Inconsistent;
        found.finding.neighbour = self.against.get(&answer).map(|least| least.program.clone());
        found
    }

    /// Adds the contents of another ledger. The result does not depend on the order of merging.
    pub fn merge(&mut self, other: Ledger) {
        fn add<K: Ord>(mine: &mut BTreeMap<K, u64>, theirs: BTreeMap<K, u64>) {
            theirs.into_iter().for_each(|(key, count)| *mine.entry(key).or_default() += count);
        }
        fn join<K: Ord>(mine: &mut BTreeMap<K, PendingFinding>, theirs: BTreeMap<K, PendingFinding>) {
            theirs.into_iter().for_each(|(key, found)| gather(mine, key, found));
        }
        self.compared += other.compared;
        self.conform += other.conform;
        self.unseen += other.unseen;
        self.by_outcome += other.by_outcome;
        self.unsorted += other.unsorted;
        self.operands += other.operands;
        self.memory_operands.add(&other.memory_operands);
        self.computed_kernels.add(&other.computed_kernels);
        self.confusion += other.confusion;
        self.reached = self.reached.union(other.reached);
        add(&mut self.excluded, other.excluded);
        other.against.into_iter().for_each(|(answer, theirs)| theirs.join(&mut self.against, answer));
        add(&mut self.confirmed, other.confirmed);
        add(&mut self.not_compared, other.not_compared);
        for (reason, whys) in other.why {
            add(self.why.entry(reason).or_default(), whys);
        }
        add(&mut self.contradicted, other.contradicted);
        for (clause, counts) in other.clauses {
            *self.counts(clause) += counts;
        }
        for (clause, classes) in other.least {
            let mine = self.least.entry(clause).or_default();
            classes.into_iter().for_each(|(class, theirs)| theirs.join(mine, class));
        }
        add(&mut self.by_answers, other.by_answers);
        join(&mut self.followed, other.followed);
        join(&mut self.suspected, other.suspected);
        join(&mut self.refused, other.refused);
        // A deviation that no longer reproduces is one fact, even if several shards establish it.
        let mut findings = other.findings;
        findings.retain(|id, found| found.finding.status != Status::Gone || !self.findings.contains_key(id));
        join(&mut self.findings, findings);
    }
}

/// Returns a finding under the name of each of its causes; as it is if it has none.
fn named_after(causes: &[&'static str], found: &PendingFinding) -> Vec<PendingFinding> {
    if causes.is_empty() {
        return vec![found.clone()];
    }
    causes.iter().map(|cause| found.clone().named(FindingName::lead(cause))).collect()
}

#[cfg(test)]
mod tests;
