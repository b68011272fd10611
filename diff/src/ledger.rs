//! What a campaign found so far: counts, and one entry for each distinct deviation.

use std::collections::BTreeMap;

use ptxsmith_oracle::{Clause, ClauseSet, Expectation, Question, Readings, Rules, expect};
use ptxsmith_subject::Outcome;
use serde::Serialize;

use crate::{
    known::Known,
    trial::{Header, Trial},
    verdict::{Class, Difference, Fate, Judged, Must, NotCompared, Verdict},
};

/// How much longer an example may be that shows one deviation alone.
const ALONE_SHOWS_BETTER: usize = 10_000;

/// Whether a finding was listed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing listed explains it.
    New,
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

    fn is_shorter_than(&self, other: &Example) -> bool {
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
            *self.counts.entry((must, fate)).or_default() += 1;
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
    /// What was accepted and what refused, of all that was compared.
    pub confusion: Confusion,
    findings: BTreeMap<String, Finding>,
}

impl Ledger {
    /// Enters a verdict. Returns the finding if it is one that was not there before, or that now has a shorter
    /// example, so that a caller can save it.
    pub fn enter(&mut self, trial: &Trial, judged: Judged, header: &Header) -> Option<&Finding> {
        self.confusion.enter(&judged);
        if !matches!(judged.verdict, Verdict::NotCompared(_)) {
            self.unseen += u64::from(judged.unseen);
        }
        match judged.verdict {
            Verdict::NotCompared(reason) => {
                *self.not_compared.entry(reason).or_default() += 1;
                None
            }
            Verdict::Conforms => {
                self.conforms(&judged);
                None
            }
            Verdict::Reads(ref difference) => {
                self.conforms(&judged);
                let example = Example::new(trial, (**difference).clone(), header);
                for &answer in example.difference.explanation.iter().flat_map(|e| &e.readings) {
                    let followed =
                        self.followed.entry(answer).or_insert_with(|| Followed::new(example.clone()));
                    followed.count += 1;
                    followed.offer(example.clone());
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

    fn conforms(&mut self, judged: &Judged) {
        self.compared += 1;
        self.conform += 1;
        self.clauses = self.clauses.union(judged.trace.clauses);
        for &answer in &judged.excluded {
            *self.excluded.entry(answer).or_default() += 1;
        }
    }

    fn deviation(
        &mut self,
        trial: &Trial,
        difference: Difference,
        clauses: ClauseSet,
        header: &Header,
    ) -> Option<&Finding> {
        let names = Name::of(&difference, clauses);
        // Alone a deviation shows better than among others.
        let weight = trial.weight() + ALONE_SHOWS_BETTER * (names.len() - 1);
        let mut shorter = None;
        for name in names {
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
            self.findings.insert(id.clone(), finding);
            shorter = Some(id);
        }
        self.findings.get(&shorter?)
    }

    /// Enters that a program whose valid twin is taken was refused. Where the program met one open question, of which
    /// another answer would have had it accepted, that shows the default answer.
    pub fn confirm(&mut self, trial: &Trial, judged: &Judged, header: &Header) {
        let mut questions = judged.trace.questions.iter();
        if let (Some(question), None, Verdict::Conforms, Some(Must::Refuse)) =
            (questions.next(), questions.next(), &judged.verdict, judged.must)
        {
            let module = trial.module(header);
            let accepts = |answer| {
                let readings = Readings::default().with(question, answer);
                let expected = readings.map(|readings| expect(&module, &Rules::specification(readings)));
                matches!(expected, Some(Expectation::Accepted { .. }))
            };
            if (1..question.answers().len()).any(accepts) {
                *self.confirmed.entry(question).or_default() += 1;
            }
        }
    }

    /// The findings: new ones first, then by class and name.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.findings.values().cloned().chain(self.mixed()).collect();
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

    /// Questions of which every answer is ruled out by some trial: whatever the text means, some are judged wrongly.
    fn mixed(&self) -> impl Iterator<Item = Finding> {
        self.followed.iter().filter_map(|(&(question, answer), followed)| {
            let names = question.answers();
            let against: Vec<u64> = (0..names.len()).map(|answer| self.against(question, answer)).collect();
            if against.contains(&0) {
                return None;
            }
            let counts: Vec<String> =
                names.iter().zip(&against).map(|(name, count)| format!("{name} {count} times")).collect();
            Some(Finding {
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
            })
        })
    }

    /// Adds what another ledger holds. The result does not depend on the order of merging.
    pub fn merge(&mut self, other: Ledger) {
        self.compared += other.compared;
        self.conform += other.conform;
        self.unseen += other.unseen;
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
        for (kind, count) in other.confusion.counts {
            *self.confusion.counts.entry(kind).or_default() += count;
        }
        for (question, count) in other.confirmed {
            *self.confirmed.entry(question).or_default() += count;
        }
        for (reason, count) in other.not_compared {
            *self.not_compared.entry(reason).or_default() += count;
        }
        for (id, finding) in other.findings {
            match self.findings.get_mut(&id) {
                None => {
                    self.findings.insert(id, finding);
                }
                Some(mine) => {
                    mine.count += finding.count;
                    if finding.example.is_shorter_than(&mine.example) {
                        mine.class = finding.class;
                        mine.clauses = finding.clauses;
                        mine.example = finding.example;
                    }
                }
            }
        }
    }
}

struct Name {
    id: String,
    status: Status,
    title: String,
    clauses: Vec<Clause>,
}

impl Name {
    /// One name for each deviation that shows: of several known ones that meet, each has its own.
    fn of(difference: &Difference, clauses: ClauseSet) -> Vec<Name> {
        match &difference.explanation {
            Some(explanation) if !explanation.is_reading() => {
                explanation.deviations().map(Name::known).collect()
            }
            _ => vec![Name::new(difference, clauses)],
        }
    }

    fn known(known: &Known) -> Name {
        Name {
            id: known.id.to_owned(),
            status: Status::Known,
            title: known.title.to_owned(),
            clauses: known.clauses.to_vec(),
        }
    }

    /// Without an explanation, what the trial rested on is all there is to group by.
    fn new(difference: &Difference, clauses: ClauseSet) -> Name {
        let class = difference.class;
        let title = match (class, &difference.observed) {
            (Class::Crash, seen) => match seen.signal {
                Some(signal) => format!("the subject is killed by signal {signal}"),
                None => format!("the subject dies: {}", seen.reason.as_deref().unwrap_or("no reason given")),
            },
            (Class::Hang, _) => "the subject gives no answer in time".to_owned(),
            (Class::RefusesValid, seen) => format!("a valid program is refused: {}", first_error(seen)),
            (Class::AcceptsInvalid, _) => {
                let class = difference.expected["refusal"]["class"].as_str().unwrap_or("invalid");
                format!("an invalid program is accepted: {class}")
            }
            (Class::WrongValue, _) => "a variable holds other bytes".to_owned(),
            (Class::WrongAddress, _) => "a variable holds another address".to_owned(),
            (Class::WrongLayout, _) => "a variable has another size, alignment or space".to_owned(),
            (Class::Inconsistent, _) => "the answer depends on the company of the program".to_owned(),
        };
        let key = match class {
            Class::RefusesValid | Class::Crash | Class::AcceptsInvalid => slug(&title),
            _ => slug(&clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(" ")),
        };
        let refused = difference.expected["refusal"]["clauses"][0].as_str().and_then(Clause::from_id);
        let clauses = match refused {
            Some(clause) => vec![clause],
            None => clauses.iter().collect(),
        };
        Name { id: format!("{}-{key}", class.name()), status: Status::New, title, clauses }
    }
}

/// The first complaint of a refusal, without what names the program at hand.
fn first_error(observation: &ptxsmith_subject::Observation) -> String {
    debug_assert_eq!(observation.outcome, Outcome::Refused);
    quoteless(observation.diagnostics.first().map_or("no message", |d| d.message.as_str()))
}

/// A message without what it quotes of the program.
pub(crate) fn quoteless(message: &str) -> String {
    let mut quoted = false;
    message
        .chars()
        .filter(|&c| {
            let keep = !quoted || c == '\'';
            quoted ^= c == '\'';
            keep
        })
        .collect()
}

/// Lower-case words joined by hyphens; a long text is cut and told apart by a hash that is the same everywhere.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.len() <= 60 {
        return slug.to_owned();
    }
    // FNV-1a: the name must not change from build to build, which the standard hasher does not promise.
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    format!("{}-{:08x}", &slug[..40].trim_end_matches('-'), hash as u32)
}
