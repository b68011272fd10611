//! What a campaign found so far: counts, and one entry for each distinct deviation.

mod least;
mod name;
mod state;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Clause, ClauseSet, Question};
use ptxsmith_syntax::Header;
use serde::{Deserialize, Serialize};

use crate::{
    bulk::Sifted,
    lead::Alternatives,
    triage::Triage,
    trial::Trial,
    verdict::{Class, Difference, Fate, Judged, Must, NotCompared, Share, Verdict},
};
use name::Name;

pub use least::{Least, LeastPrograms};
pub use state::{BadState, LedgerState};
pub use tally::{Tallies, Tally};

/// How much longer an example may be that shows one deviation alone.
const ALONE_SHOWS_BETTER: usize = 10_000;

/// Whether a finding was listed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing listed explains it.
    New,
    /// It is listed for a release that does not show it.
    Gone,
    /// A listed deviation predicts it exactly.
    Known,
}

/// The shortest program that shows a finding.
#[derive(Clone, Debug)]
pub struct Example {
    /// The trial's number.
    pub trial: u64,
    /// The program.
    pub program: String,
    /// What was expected and seen.
    pub difference: Difference,
    weight: usize,
}

impl Example {
    fn new(trial: &Trial, difference: Difference, header: &Header) -> Example {
        Example { trial: trial.id, program: trial.text(header), difference, weight: trial.weight() }
    }

    /// The least program of a listed deviation.
    pub(crate) fn listed(program: &str, difference: Difference) -> Example {
        Example { trial: 0, program: program.to_owned(), difference, weight: program.len() }
    }

    /// An example of nothing, for tests of what looks at the rest.
    #[cfg(test)]
    pub(crate) fn of_nothing() -> Example {
        let difference = Difference {
            class: Class::WrongValue,
            variable: None,
            expected: serde_json::Value::Null,
            observed: ptxsmith_subject::Observation::new(ptxsmith_subject::Outcome::Accepted),
            explanation: None,
            suspected: None,
        };
        Example { trial: 0, program: String::new(), difference, weight: 0 }
    }

    pub(crate) fn is_shorter_than(&self, other: &Example) -> bool {
        (self.weight, self.trial) < (other.weight, other.trial)
    }
}

/// An answer to an open question, other than the default, that a subject follows.
#[derive(Clone, Debug)]
pub struct Followed {
    /// In how many trials.
    pub count: u64,
    /// The shortest of them.
    pub example: Example,
}

impl Followed {
    fn new(example: Example) -> Followed {
        Followed { count: 0, example }
    }

    fn offer(&mut self, example: Example) {
        if example.is_shorter_than(&self.example) {
            self.example = example;
        }
    }
}

/// One distinct deviation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The stable name: of the known deviation, or made from class and clauses.
    pub id: String,
    /// New or known.
    pub status: Status,
    /// What kind of deviation it is.
    pub class: Class,
    /// What happens, in a line.
    pub title: String,
    /// The clauses that it breaks.
    pub clauses: Vec<Clause>,
    /// How many trials showed it.
    pub count: u64,
    /// The shortest of them.
    pub example: Example,
}

/// How often programs that must be accepted, and programs that must be refused, met which fate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    counts: BTreeMap<(Must, Fate), u64>,
}

impl Confusion {
    /// How many programs of this kind met this fate.
    pub fn count(&self, must: Must, fate: Fate) -> u64 {
        self.counts.get(&(must, fate)).copied().unwrap_or(0)
    }

    fn enter(&mut self, judged: &Judged) {
        if let (Some(must), Some(fate)) = (judged.must, judged.fate()) {
            self.enter_many(must, fate, 1);
        }
    }

    fn enter_many(&mut self, must: Must, fate: Fate, count: u64) {
        if count > 0 {
            *self.counts.entry((must, fate)).or_default() += count;
        }
    }
}

/// Counts and findings of one campaign against one subject.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Trials that were compared.
    pub compared: u64,
    /// Those that conform.
    pub conform: u64,
    /// How often each answer to an open question was ruled out.
    pub excluded: BTreeMap<(Question, usize), u64>,
    /// The other answers that were followed.
    pub followed: BTreeMap<(Question, usize), Followed>,
    /// The default answers that were shown to be followed: of programs that are refused for nothing but that answer,
    /// while their valid twins are taken.
    pub confirmed: BTreeMap<Question, u64>,
    /// Trials that were not compared, by reason.
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// The clauses that anything compared rested on.
    pub clauses: ClauseSet,
    /// Variables that were not shown, of trials that were compared for others.
    pub unseen: u64,
    /// What was seen of the results of operands, of trials with kernels.
    pub operands: Share,
    /// Those that conform of which the subject shows no values: it takes what the specification takes.
    pub by_outcome: u64,
    /// What was accepted and what refused, of all that was compared.
    pub confusion: Confusion,
    /// What was seen of each clause.
    pub tallies: Tallies,
    /// The least program that shows each clause broken.
    pub least: LeastPrograms,
    /// Differences that nothing listed explains, and whose cause was not looked for, since the batch had very many.
    pub unsorted: u64,
    pub(crate) findings: BTreeMap<String, Finding>,
    /// How many programs rule out each of the wrong rules that others are put down to.
    pub(crate) contradicted: BTreeMap<&'static str, u64>,
    /// Differences that plausible wrong rules predict, by the sets of rules of which each does.
    pub(crate) suspected: BTreeMap<Alternatives, Group>,
}

/// Differences that the same wrong rules predict.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub count: u64,
    class: Class,
    pub example: Example,
}

impl Ledger {
    /// Enters a verdict. Returns the finding if it is one that was not there before, or that now has a shorter
    /// example, so that a caller can save it.
    pub fn enter(&mut self, trial: &Trial, judged: Judged, header: &Header) -> Option<Finding> {
        self.confusion.enter(&judged);
        if let Some(question) = judged.confirms {
            *self.confirmed.entry(question).or_default() += 1;
        }
        self.operands = self.operands.plus(judged.operands);
        if !matches!(judged.verdict, Verdict::NotCompared(_)) {
            self.unseen += u64::from(judged.unseen);
        }
        match judged.verdict {
            Verdict::NotCompared(reason) => {
                if reason == NotCompared::Unsupported {
                    self.tallies.unsupported(judged.trace.clauses);
                }
                *self.not_compared.entry(reason).or_default() += 1;
                None
            }
            Verdict::Conforms | Verdict::ConformsByOutcome => {
                self.by_outcome += u64::from(judged.verdict == Verdict::ConformsByOutcome);
                self.conforms(&judged);
                None
            }
            Verdict::Reads(ref difference) => {
                self.conforms(&judged);
                for &answer in difference.explanation.iter().flat_map(|e| &e.readings) {
                    let example = || Example::new(trial, (**difference).clone(), header);
                    let followed = self.followed.entry(answer).or_insert_with(|| Followed::new(example()));
                    followed.count += 1;
                    if (trial.weight(), trial.id) < (followed.example.weight, followed.example.trial) {
                        followed.example = example();
                    }
                }
                None
            }
            Verdict::Deviates(difference) => {
                self.compared += 1;
                self.clauses = self.clauses.union(judged.trace.clauses);
                self.deviation(trial, *difference, judged.trace.clauses, header)
            }
        }
    }

    /// Enters the cases that were sifted out, after the verdicts on those that were left: among them are the examples of
    /// what is only counted.
    pub fn enter_sifted(&mut self, sifted: &Sifted) {
        if sifted.unmodelled > 0 {
            *self.not_compared.entry(NotCompared::Unmodelled).or_default() += sifted.unmodelled;
        }
        self.compared += sifted.conform;
        self.conform += sifted.conform;
        self.confusion.enter_many(Must::Accept, Fate::Accepted, sifted.conform);
        for (&clause, &count) in Clause::ALL.iter().zip(&sifted.clauses).filter(|&(_, &count)| count > 0) {
            self.clauses.insert(clause);
            self.tallies.conform_many(clause, count);
        }
        for (answer, &count) in &sifted.read {
            let followed = self.followed.get_mut(answer).expect("an example of what is counted was left");
            followed.count += count;
        }
        self.clauses = self.clauses.union(sifted.deviating);
        for (&id, &count) in &sifted.deviate {
            self.compared += count;
            self.confusion.enter_many(Must::Accept, Fate::Accepted, count);
            let finding = self.findings.get_mut(id).expect("an example of what is counted was left");
            finding.count += count;
            let clauses = finding.clauses.iter();
            clauses.for_each(|&clause| self.tallies.deviate_many(clause, Class::WrongValue, count));
        }
    }

    fn conforms(&mut self, judged: &Judged) {
        self.compared += 1;
        self.conform += 1;
        self.clauses = self.clauses.union(judged.trace.clauses);
        self.tallies.conforms(judged.trace.clauses);
        for &answer in &judged.excluded {
            *self.excluded.entry(answer).or_default() += 1;
        }
        for &id in &judged.contradicts {
            *self.contradicted.entry(id).or_default() += 1;
        }
    }

    fn deviation(
        &mut self,
        trial: &Trial,
        difference: Difference,
        clauses: ClauseSet,
        header: &Header,
    ) -> Option<Finding> {
        let listed = difference.explanation.as_ref().filter(|explanation| !explanation.is_reading());
        if let Some(explanation) = listed {
            // One finding for each deviation that shows: of several known ones that meet, each has its own.
            let names: Vec<Name> = explanation.deviations().map(Name::known).collect();
            return self.enter_named(trial, names, difference, header);
        }
        let suspected: BTreeSet<Alternatives> = match &difference.suspected {
            Some(suspected) => suspected.iter().cloned().collect(),
            None => {
                self.unsorted += 1;
                return None;
            }
        };
        let mut shorter = None;
        let alone = suspected.len() <= 1;
        if suspected.is_empty() || suspected.contains(&Vec::new()) {
            let names = vec![Name::unexplained(&difference, clauses)];
            shorter = self.enter_named(trial, names, difference.clone(), header);
        }
        for alternatives in suspected.into_iter().filter(|alternatives| !alternatives.is_empty()) {
            let weight = trial.weight() + if alone { 0 } else { ALONE_SHOWS_BETTER };
            for clause in alternatives[0].iter().flat_map(|id| Name::lead(id).clauses) {
                self.tallies.deviate_many(clause, difference.class, 1);
                self.least.offer((clause, difference.class), trial, header, weight);
            }
            let group = self.suspected.get_mut(&alternatives);
            if let Some(group) = group {
                group.count += 1;
                if (weight, trial.id) >= (group.example.weight, group.example.trial) {
                    continue;
                }
            }
            let example = Example { weight, ..Example::new(trial, difference.clone(), header) };
            let group = self.suspected.entry(alternatives.clone()).or_insert_with(|| Group {
                count: 1,
                class: difference.class,
                example: example.clone(),
            });
            (group.class, group.example) = (difference.class, example);
            let name = Name::lead(alternatives[0][0]);
            shorter = Some(finding(name, group));
        }
        shorter
    }

    /// Enters a difference under each of these names. Returns the last of the findings that is new or has a shorter
    /// example now.
    fn enter_named(
        &mut self,
        trial: &Trial,
        names: Vec<Name>,
        difference: Difference,
        header: &Header,
    ) -> Option<Finding> {
        // Alone a deviation shows better than among others.
        let weight = trial.weight() + ALONE_SHOWS_BETTER * (names.len() - 1);
        let mut shorter = None;
        for name in names {
            for &clause in &name.clauses {
                self.tallies.deviate_many(clause, difference.class, 1);
                self.least.offer((clause, difference.class), trial, header, weight);
            }
            let finding = self.findings.get_mut(&name.id);
            let is_shorter =
                finding.as_ref().is_none_or(|f| (weight, trial.id) < (f.example.weight, f.example.trial));
            let count = finding.as_ref().map_or(1, |finding| finding.count + 1);
            if let (Some(finding), false) = (finding, is_shorter) {
                finding.count = count;
                continue;
            }
            let class = difference.class;
            let example = Example { weight, ..Example::new(trial, difference.clone(), header) };
            let Name { id, status, title, clauses } = name;
            let finding = Finding { id: id.clone(), status, class, title, clauses, count, example };
            self.findings.insert(id, finding.clone());
            shorter = Some(finding);
        }
        shorter
    }

    /// Puts a finding in that is about the list and not about a case, in place of one of the same name.
    pub fn put(&mut self, finding: Finding) {
        self.findings.insert(finding.id.clone(), finding);
    }

    /// The findings: new ones first, then by class and name. `triage` says what new differences are put down to: made of
    /// this ledger and all that are reported together with it.
    pub fn findings(&self, triage: &Triage) -> Vec<Finding> {
        let mut findings: BTreeMap<String, Finding> = BTreeMap::new();
        let mut add = |own: Finding| match findings.get_mut(&own.id) {
            None => drop(findings.insert(own.id.clone(), own)),
            Some(known) => known.join(own),
        };
        for (id, own) in &self.findings {
            match triage.finding(id) {
                [] => add(own.clone()),
                causes => causes.iter().for_each(|cause| add(Name::lead(cause).of(own))),
            }
        }
        for (alternatives, group) in &self.suspected {
            triage.group(alternatives).iter().for_each(|cause| add(finding(Name::lead(cause), group)));
        }
        let mixed = self.mixed().filter(|(answer, _)| !triage.explains(**answer));
        let mixed = mixed.map(|(&answer, followed)| self.mixes(answer, followed));
        let mut findings: Vec<Finding> = findings.into_values().chain(mixed).collect();
        findings.sort_by(|a, b| (a.status, a.class, &a.id).cmp(&(b.status, b.class, &b.id)));
        findings
    }

    /// The answers other than the default that the subject follows: for each question the answer that nothing rules
    /// out and that explains the most, with the number of trials that it explains.
    pub fn readings(&self) -> impl Iterator<Item = (Question, usize, u64)> {
        Question::ALL.iter().filter_map(|&question| {
            let answers = self.followed.iter().filter(|((of, _), _)| *of == question);
            let possible = answers.filter(|&(&(_, answer), _)| self.against(question, answer) == 0);
            // Of equals the first, so that the answer does not depend on more than the counts.
            let (&(_, answer), followed) = possible.rev().max_by_key(|(_, followed)| followed.count)?;
            Some((question, answer, followed.count.max(self.against(question, 0))))
        })
    }

    fn against(&self, question: Question, answer: usize) -> u64 {
        self.excluded.get(&(question, answer)).copied().unwrap_or(0)
    }

    /// Answers to questions of which every answer is ruled out by some trial: whatever the text means, some are judged
    /// wrongly.
    pub(crate) fn mixed(&self) -> impl Iterator<Item = (&(Question, usize), &Followed)> {
        self.followed.iter().filter(|&(&(question, _), _)| {
            (0..question.answers().len()).all(|answer| self.against(question, answer) > 0)
        })
    }

    fn mixes(&self, (question, answer): (Question, usize), followed: &Followed) -> Finding {
        let names = question.answers();
        let counts = names.iter().enumerate();
        let counts: Vec<String> =
            counts.map(|(answer, name)| format!("{name} {} times", self.against(question, answer))).collect();
        Finding {
            id: format!("mixed-{}-{}", question.name(), names[answer]),
            status: Status::New,
            class: Class::Inconsistent,
            title: format!(
                "no one reading of {} is followed: ruled out are {}",
                question.name(),
                counts.join(", ")
            ),
            clauses: question.clauses().iter().filter_map(|id| Clause::from_id(id)).collect(),
            count: followed.count,
            example: followed.example.clone(),
        }
    }

    /// Adds what another ledger holds. The result does not depend on the order of merging.
    pub fn merge(&mut self, other: Ledger) {
        self.compared += other.compared;
        self.conform += other.conform;
        self.unseen += other.unseen;
        self.operands = self.operands.plus(other.operands);
        self.by_outcome += other.by_outcome;
        self.clauses = self.clauses.union(other.clauses);
        for (answer, count) in other.excluded {
            *self.excluded.entry(answer).or_default() += count;
        }
        for (answer, theirs) in other.followed {
            match self.followed.get_mut(&answer) {
                None => {
                    self.followed.insert(answer, theirs);
                }
                Some(mine) => {
                    mine.count += theirs.count;
                    mine.offer(theirs.example);
                }
            }
        }
        for (id, count) in other.contradicted {
            *self.contradicted.entry(id).or_default() += count;
        }
        for (kind, count) in other.confusion.counts {
            *self.confusion.counts.entry(kind).or_default() += count;
        }
        for (question, count) in other.confirmed {
            *self.confirmed.entry(question).or_default() += count;
        }
        for (reason, count) in other.not_compared {
            *self.not_compared.entry(reason).or_default() += count;
        }
        self.tallies.merge(&other.tallies);
        self.least.merge(other.least);
        self.unsorted += other.unsorted;
        for (id, finding) in other.findings {
            match self.findings.get_mut(&id) {
                None => {
                    self.findings.insert(id, finding);
                }
                Some(mine) => mine.join(finding),
            }
        }
        for (alternatives, theirs) in other.suspected {
            match self.suspected.get_mut(&alternatives) {
                None => {
                    self.suspected.insert(alternatives, theirs);
                }
                Some(mine) => {
                    mine.count += theirs.count;
                    if theirs.example.is_shorter_than(&mine.example) {
                        (mine.class, mine.example) = (theirs.class, theirs.example);
                    }
                }
            }
        }
    }
}

impl Finding {
    /// Adds what was found elsewhere under the same name.
    fn join(&mut self, other: Finding) {
        // That something is gone is one fact, however many parts of a campaign establish it.
        self.count = if self.status == Status::Gone { 1 } else { self.count + other.count };
        if other.example.is_shorter_than(&self.example) {
            self.class = other.class;
            self.clauses = other.clauses;
            self.example = other.example;
        }
    }
}

fn finding(name: Name, group: &Group) -> Finding {
    let Name { id, status, title, clauses } = name;
    Finding {
        id,
        status,
        class: group.class,
        title,
        clauses,
        count: group.count,
        example: group.example.clone(),
    }
}
