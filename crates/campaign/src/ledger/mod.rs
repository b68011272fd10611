//! What a campaign found so far: counts, and one entry for each distinct deviation.

mod found;
mod name;
mod state;
mod triage;

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use ptxsmith_diff::{
    Alternatives, BulkVerdicts, Class, Difference, Fate, Header, Judged, Must, NotCompared, Trial, Verdict,
};
use ptxsmith_model::Kind;
use ptxsmith_oracle::{Clause, ClauseSet, Interpretation, Question};
use ptxsmith_report::{ClauseCounts, CodeCounts, Confusion, Operands, Status};
use serde::{Deserialize, Serialize};

use found::{Shown, offer};

pub use found::{Found, gather};
pub use name::{Name, quote, quoteless, slug};
pub use triage::Triage;

/// How much longer an example may be that shows one deviation alone.
const ALONE_SHOWS_BETTER: usize = 10_000;
/// How many different words are kept of why things were not compared; a subject may say any number.
const MOST_REASONS: usize = 200;
const OTHER: &str = "other reasons";

/// Counts and findings of one campaign against one subject. As JSON it goes on after an interruption, or is merged with
/// others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Trials that were compared.
    pub compared: u64,
    /// Those that conform.
    pub conform: u64,
    /// How often each answer to an open question was ruled out.
    pub excluded: BTreeMap<Interpretation, u64>,
    /// The shortest program that rules each of them out, of those that are taken or refused as the texts say.
    #[serde(default)]
    against: BTreeMap<Interpretation, Least>,
    /// The other answers that were followed, with the shortest trial that shows it.
    pub followed: BTreeMap<Interpretation, Found>,
    /// How many of those that conform do so under other answers than the default ones alone, by these answers.
    #[serde(default, with = "state::by_answers")]
    by_answers: BTreeMap<Vec<Interpretation>, u64>,
    /// The default answers that were shown to be followed: of programs that are refused for nothing but that answer,
    /// while their valid counterparts are taken.
    pub confirmed: BTreeMap<Question, u64>,
    /// Trials that were not compared, by reason.
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// Why they were not compared, as far as that is known: how often by reason and words.
    #[serde(default)]
    pub why: BTreeMap<NotCompared, BTreeMap<String, u64>>,
    /// The clauses that anything compared rested on.
    pub reached: ClauseSet,
    /// Variables that were not shown, of trials that were compared for others.
    pub unseen: u64,
    /// What was seen of the results of operands, of trials with kernels.
    pub operands: Operands,
    /// How many memory operands of kernels were compared, of files.
    #[serde(default)]
    pub memory_operands: CodeCounts,
    /// Of how many kernels of files it was compared what they compute.
    #[serde(default)]
    pub computed_kernels: CodeCounts,
    /// Those that conform of which the subject shows no values: it takes what the specification takes.
    pub by_outcome: u64,
    /// What was accepted and what refused, of all that was compared.
    pub confusion: Confusion,
    /// What was seen of each clause. A program that conforms counts for every clause that it rests on; one that deviates
    /// only for those that it breaks, as far as that is known.
    pub clauses: BTreeMap<Clause, ClauseCounts>,
    /// The shortest program that shows each clause broken, by the class of the deviation. A finding has one program for
    /// all clauses and subjects that it is about; here each clause has its own, of this subject.
    pub least: BTreeMap<Clause, BTreeMap<Class, Least>>,
    /// Differences that nothing listed explains, and whose cause was not looked for, since the batch had very many.
    pub unsorted: u64,
    #[serde(deserialize_with = "state::findings")]
    findings: BTreeMap<String, Found>,
    /// How many programs rule out each of the wrong rules that others are put down to.
    #[serde(deserialize_with = "state::contradicted")]
    contradicted: BTreeMap<&'static str, u64>,
    /// Differences that plausible wrong rules predict, by the sets of rules of which each does.
    #[serde(with = "state::suspected")]
    suspected: BTreeMap<Alternatives, Found>,
    /// The same of valid programs that are refused. Many a wrong rule refuses much, so these name no cause, but they may have one
    /// that others name.
    #[serde(with = "state::suspected")]
    refused: BTreeMap<Alternatives, Found>,
}

/// The shortest program of a kind: that breaks one clause in one way, or that rules out one answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Least {
    weight: usize,
    /// The trial's number.
    pub trial: u64,
    /// The program.
    pub program: String,
}

impl Least {
    /// Keeps a trial where it is the shortest of its kind so far: only then its text is made.
    fn offer<K: Ord>(all: &mut BTreeMap<K, Least>, kind: K, weight: usize, trial: &Trial, header: &Header) {
        if all.get(&kind).is_none_or(|known| (weight, trial.id) < (known.weight, known.trial)) {
            all.insert(kind, Least { weight, trial: trial.id, program: trial.text(header) });
        }
    }

    /// Adds it to what is kept elsewhere.
    fn join<K: Ord>(self, all: &mut BTreeMap<K, Least>, kind: K) {
        match all.entry(kind) {
            Entry::Vacant(place) => drop(place.insert(self)),
            Entry::Occupied(mut own) if self < *own.get() => drop(own.insert(self)),
            Entry::Occupied(_) => {}
        }
    }
}

impl Ledger {
    /// Enters a verdict. Returns the finding if it is one that was not there before, or that now has a shorter
    /// example, so that a caller can save it.
    pub fn enter(&mut self, trial: &Trial, judged: Judged, header: &Header) -> Option<Found> {
        if let (Some(must), Some(fate)) = (judged.must, judged.fate()) {
            self.meets(must, fate, 1);
        }
        if let Some(question) = judged.confirms {
            *self.confirmed.entry(question).or_default() += 1;
        }
        self.operands += Operands { seen: judged.operands.seen, total: judged.operands.total };
        for (own, all) in [
            (&judged.memory_operands, &mut self.memory_operands),
            (&judged.computed_kernels, &mut self.computed_kernels),
        ] {
            if let Some(own) = own {
                let ptxsmith_diff::CodeCounts { compared, removed, not_compared } = (**own).clone();
                all.add(&CodeCounts { compared, removed, not_compared });
            }
        }
        if !matches!(judged.verdict, Verdict::NotCompared(_)) {
            self.unseen += u64::from(judged.unseen);
        }
        let place = judged.place.as_deref();
        let shown = |difference| Shown { trial, header, difference, place, weight: trial.weight() };
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
                let answers = difference.explanation.iter().flat_map(|explanation| &explanation.readings);
                let answers: Vec<_> = answers.map(|&(of, answer)| Interpretation(of, answer)).collect();
                for &answer in &answers {
                    offer(&mut self.followed, answer, &shown(difference), Name::default);
                }
                *self.by_answers.entry(answers).or_default() += 1;
                None
            }
            Verdict::Deviates(difference) => {
                self.compared += 1;
                self.reached = self.reached.union(judged.trace.clauses);
                self.deviation(shown(difference), judged.trace.clauses)
            }
        }
    }

    /// How many differences nothing listed explains.
    pub fn unexplained(&self) -> u64 {
        let named = self.findings.values().filter(|found| found.is_new());
        let put_down = self.suspected.values().chain(self.refused.values());
        self.unsorted + self.ruled_out() + named.chain(put_down).map(|found| found.finding.count).sum::<u64>()
    }

    /// Enters the cases that were counted in bulk, after the verdicts on those that were left: among them are the examples of
    /// what is only counted.
    pub fn enter_bulk(&mut self, bulk: &BulkVerdicts) {
        if bulk.unmodelled > 0 {
            *self.not_compared.entry(NotCompared::Unmodelled).or_default() += bulk.unmodelled;
        }
        self.compared += bulk.conform;
        self.conform += bulk.conform;
        self.meets(Must::Accept, Fate::Accepted, bulk.conform);
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
            self.meets(Must::Accept, Fate::Accepted, count);
            let found = self.findings.get_mut(id).expect("an example of what is counted was left");
            found.finding.count += count;
            let clauses: Vec<Clause> =
                found.finding.clauses.iter().filter_map(|id| Clause::from_id(id)).collect();
            clauses.into_iter().for_each(|clause| self.breaks(clause, Class::WrongValue, count));
        }
    }

    fn meets(&mut self, must: Must, fate: Fate, count: u64) {
        let fates = match must {
            Must::Accept => &mut self.confusion.must_accept,
            Must::Refuse => &mut self.confusion.must_refuse,
        };
        *match fate {
            Fate::Accepted => &mut fates.accepted,
            Fate::Refused => &mut fates.refused,
            Fate::Died => &mut fates.died,
        } += count;
    }

    fn counts(&mut self, clause: Clause) -> &mut ClauseCounts {
        self.clauses.entry(clause).or_default()
    }

    fn conforms(&mut self, judged: &Judged, trial: &Trial, header: &Header) {
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
            Least::offer(&mut self.against, answer, trial.weight(), trial, header);
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

    /// Counts a trial for the clauses that it breaks, and keeps its text where it is the shortest so far.
    fn shows_broken(&mut self, clauses: &[Clause], shown: &Shown<'_>) {
        let class = shown.difference.class;
        for &clause in clauses {
            self.breaks(clause, class, 1);
            let least = self.least.entry(clause).or_default();
            Least::offer(least, class, shown.weight, shown.trial, shown.header);
        }
    }

    fn deviation(&mut self, mut shown: Shown<'_>, clauses: ClauseSet) -> Option<Found> {
        let difference = shown.difference;
        let listed = difference.explanation.as_ref().filter(|explanation| !explanation.is_reading());
        if let Some(explanation) = listed {
            // One finding for each deviation that shows: of several known ones that meet, each has its own. Alone a
            // deviation shows better than among others.
            let names: Vec<Name> = explanation.deviations().map(Name::known).collect();
            shown.weight += ALONE_SHOWS_BETTER * (names.len() - 1);
            return names.into_iter().fold(None, |shorter, name| self.enter_named(&shown, name).or(shorter));
        }
        let Some(suspected) = &difference.suspected else {
            self.unsorted += 1;
            return None;
        };
        let suspected: BTreeSet<&Alternatives> = suspected.iter().collect();
        let mut shorter = None;
        if suspected.is_empty() || suspected.contains(&Vec::new()) {
            shorter = self.enter_named(&shown, Name::unexplained(difference, clauses));
        }
        if suspected.len() > 1 {
            shown.weight += ALONE_SHOWS_BETTER;
        }
        for alternatives in suspected.into_iter().filter(|alternatives| !alternatives.is_empty()) {
            for id in &alternatives[0] {
                self.shows_broken(&Name::lead(id).clauses, &shown);
            }
            // What it is called where conforming programs rule all of them out.
            let name = || Name::unexplained(difference, clauses);
            let kept = match difference.class {
                Class::RefusesValid => &mut self.refused,
                _ => &mut self.suspected,
            };
            shorter = offer(kept, alternatives.clone(), &shown, name).or(shorter);
        }
        shorter
    }

    /// Enters a difference under a name. Returns the finding if it is new or has a shorter example now.
    fn enter_named(&mut self, shown: &Shown<'_>, name: Name) -> Option<Found> {
        self.shows_broken(&name.clauses, shown);
        offer(&mut self.findings, name.id.clone(), shown, || name)
    }

    /// Puts a finding in that is about the list and not about a case, in place of one of the same name.
    pub fn put(&mut self, found: Found) {
        self.findings.insert(found.finding.id.clone(), found);
    }

    /// The findings: new ones first, then by name. `triage` says what new differences are put down to: made of this ledger
    /// and all that are reported together with it.
    pub fn findings(&self, triage: &Triage) -> Vec<Found> {
        let mut all: BTreeMap<String, Found> = BTreeMap::new();
        let mut add = |found: Found| gather(&mut all, found.finding.id.clone(), found);
        for (id, found) in &self.findings {
            match triage.finding(id) {
                [] => add(found.clone()),
                causes => causes.iter().for_each(|cause| add(found.clone().named(Name::lead(cause)))),
            }
        }
        let suspected =
            self.suspected.iter().map(|(alternatives, found)| (triage.group(alternatives), found));
        let refused = self.refused.iter().map(|(alternatives, found)| (triage.refusal(alternatives), found));
        for (causes, found) in suspected.chain(refused) {
            match causes {
                [] => add(found.clone()),
                causes => causes.iter().for_each(|cause| add(found.clone().named(Name::lead(cause)))),
            }
        }
        for (&answer, found) in self.mixed() {
            match triage.followed(answer) {
                [] => add(self.mixes(answer, found)),
                causes => {
                    causes.iter().for_each(|cause| add(found.clone().named(Name::lead(cause)).counted()))
                }
            }
        }
        let mut all: Vec<Found> = all.into_values().collect();
        all.sort_by_key(|found| found.finding.status);
        all
    }

    /// The answers other than the default that the subject follows: for each question the answer that nothing rules
    /// out and that explains the most, with the number of trials that it explains.
    pub fn readings(&self) -> impl Iterator<Item = (Interpretation, u64)> {
        Question::ALL.iter().filter_map(|&question| {
            let answers = self.followed.iter().filter(|(answer, _)| answer.0 == question);
            let possible = answers.filter(|(answer, _)| self.against(**answer) == 0);
            // Of equals the first, so that the answer does not depend on more than the counts.
            let (&answer, found) = possible.rev().max_by_key(|(_, found)| found.finding.count)?;
            Some((answer, found.finding.count.max(self.against(Interpretation(question, 0)))))
        })
    }

    /// How many verdicts conform, now that all are known: under an interpretation that the subject follows throughout. Of a subject that accepts nothing
    /// no refusal conforms; those that are right are [counted apart](Ledger::refused_apart).
    pub fn conforming(&self) -> u64 {
        self.conform.saturating_sub(self.ruled_out()).saturating_sub(self.refused_apart())
    }

    /// How many verdicts conform by an interpretation alone that the subject does not follow throughout.
    fn ruled_out(&self) -> u64 {
        let refuses_everything = self.confusion.refuses_everything();
        let ruled_out: BTreeSet<&Interpretation> = self.mixed().map(|(answer, _)| answer).collect();
        let is_ruled_out = |answer: &Interpretation| refuses_everything || ruled_out.contains(answer);
        let by_answers = self.by_answers.iter().filter(|(answers, _)| answers.iter().any(is_ruled_out));
        by_answers.map(|(_, count)| count).sum()
    }

    /// How many invalid programs a subject refuses that refuses everything.
    pub fn refused_apart(&self) -> u64 {
        if self.confusion.refuses_everything() { self.confusion.must_refuse.refused } else { 0 }
    }

    fn against(&self, answer: Interpretation) -> u64 {
        self.excluded.get(&answer).copied().unwrap_or(0)
    }

    /// Answers to questions of which every answer is ruled out by some trial: whatever the text means, some are judged
    /// wrongly.
    fn mixed(&self) -> impl Iterator<Item = (&Interpretation, &Found)> {
        self.followed.iter().filter(|(Interpretation(question, _), _)| {
            (0..question.answers().len()).all(|answer| self.against(Interpretation(*question, answer)) > 0)
        })
    }

    /// The finding of an answer that is followed here and ruled out there. A refusal does not show its reason: where the answer is ruled
    /// out, it is the refusal of a valid program.
    fn mixes(&self, answer: Interpretation, followed: &Found) -> Found {
        let Interpretation(question, nth) = answer;
        if followed.is_refusal() {
            let Found { finding, .. } = followed;
            let clauses = question.clauses().iter().filter_map(|id| Clause::from_id(id)).collect();
            let difference =
                Difference::of(finding.class, finding.expected.clone(), finding.observed.clone());
            let mut found = followed.clone().named(Name::unexplained(&difference, clauses));
            found.follows = Some(answer);
            return found;
        }
        let names = question.answers();
        let count = |nth| format!("{} ({})", names[nth], self.against(Interpretation(question, nth)));
        let counts: Vec<String> = (0..names.len()).map(count).collect();
        let title = format!(
            "no one interpretation of {} is followed: ruled out are {}",
            question.name(),
            counts.join(", ")
        );
        let name = Name {
            id: format!("mixed-{}-{}", question.name(), names[nth]),
            kind: Kind::Interpretation(question.name().to_owned()),
            title,
            clauses: question.clauses().iter().filter_map(|id| Clause::from_id(id)).collect(),
        };
        let mut found = followed.clone().named(name);
        found.finding.class = Class::Inconsistent;
        found.finding.neighbour = self.against.get(&answer).map(|least| least.program.clone());
        found
    }

    /// Adds what another ledger holds. The result does not depend on the order of merging.
    pub fn merge(&mut self, other: Ledger) {
        fn add<K: Ord>(mine: &mut BTreeMap<K, u64>, theirs: BTreeMap<K, u64>) {
            theirs.into_iter().for_each(|(key, count)| *mine.entry(key).or_default() += count);
        }
        fn join<K: Ord>(mine: &mut BTreeMap<K, Found>, theirs: BTreeMap<K, Found>) {
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
        // That something is gone is one fact, however many parts of a campaign establish it.
        let is_news = |id: &String, found: &mut Found| {
            found.finding.status != Status::Gone || !self.findings.contains_key(id)
        };
        let mut findings = other.findings;
        findings.retain(is_news);
        join(&mut self.findings, findings);
    }
}

#[cfg(test)]
mod tests;
