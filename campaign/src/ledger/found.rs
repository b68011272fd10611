//! A finding while a campaign goes on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ptxsmith_diff::{COMPANY, Class, Difference, Header, Trial};
use ptxsmith_report::{Finding, Status};
use serde::{Deserialize, Serialize};

use super::name::{Name, effect, slug};
use crate::form::Form;

/// A finding, and where its example comes from, which is the shortest of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// As the report has it, but for what is known only at the end of a campaign.
    pub finding: Finding,
    /// The number of the trial that is the example.
    pub trial: u64,
    /// The file that the program came from, if it is not ours.
    #[serde(skip)]
    pub origin: Option<String>,
    /// How often the example's answer came again, of how often it was shown again.
    #[serde(skip)]
    pub came_again: (u32, u32),
    /// Whether the example shows it only as it is written: printed anew, with other white space and without comments, it does not.
    #[serde(skip)]
    pub only_as_written: bool,
    /// How long the example is, and longer where it shows other deviations beside this one.
    weight: usize,
}

impl Found {
    /// A finding with one example.
    pub fn new(name: Name, difference: &Difference, program: String, trial: u64, weight: usize) -> Found {
        let finding = Finding {
            class: difference.class.name().to_owned(),
            count: 1,
            program,
            variable: difference.variable.clone(),
            expected: difference.expected.clone(),
            observed: difference.observed.clone(),
            ..Finding::default()
        };
        Found { finding, trial, weight, ..Found::default() }.named(name)
    }

    /// The same under another name.
    pub fn named(mut self, name: Name) -> Found {
        let finding = &mut self.finding;
        (finding.id, finding.status, finding.title) = (name.id, name.status, name.title);
        finding.clauses = name.clauses.iter().map(|clause| clause.id().to_owned()).collect();
        self
    }

    /// The finding as a subject shows it. A program of the user's, of which the example has only the declarations, is
    /// shown as a whole: its path and its text.
    pub fn shown_by(mut self, subject: &str, source: Option<(String, String)>) -> Found {
        self.finding.subjects = vec![subject.to_owned()];
        if let Some((path, text)) = source {
            (self.origin, self.finding.program) = (Some(path), text);
        }
        self.weight = self.finding.program.len();
        self
    }

    /// Whether nothing that is listed explains it.
    pub fn is_new(&self) -> bool {
        self.finding.status == Status::New
    }

    /// Whether something valid is refused.
    pub fn is_refusal(&self) -> bool {
        self.finding.class == Class::RefusesValid.name()
    }

    /// Whether it is about answers that change, and not about one answer.
    pub fn is_inconsistent(&self) -> bool {
        self.finding.class == Class::Inconsistent.name()
    }

    /// Its example's answer changes from run to run: it came again so often, of so many times.
    pub fn changes_its_answer(&mut self, came: u32, shown: u32) {
        self.finding.class = Class::Inconsistent.name().to_owned();
        self.came_again = (came, shown);
    }

    /// Whether it is about an ambiguity that no one interpretation explains.
    pub fn is_mixed(&self) -> bool {
        self.is_inconsistent() && self.finding.id.starts_with("mixed-")
    }

    /// Whether its program is wrong each time beside the same other declarations, and right alone.
    pub fn is_of_company(&self) -> bool {
        self.is_inconsistent() && self.finding.expected[COMPANY] == true && self.came_again.0 == 0
    }

    /// Whether it is about answers to programs that are other ones from run to run, or beside other declarations: what forks,
    /// entry points and interpretations answer has names of its own.
    pub fn is_about_runs(&self) -> bool {
        let is_named = ["forked-", "doors-", "mixed-"].iter().any(|name| self.finding.id.starts_with(name));
        self.is_new() && self.origin.is_none() && self.is_inconsistent() && !is_named
    }

    /// What orders examples: the shortest first, and of these the earliest.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial)
    }

    /// Takes in another finding, which has the same cause.
    pub fn join(&mut self, other: Found) {
        self.finding.count += other.finding.count;
        for subject in other.finding.subjects {
            if !self.finding.subjects.contains(&subject) {
                self.finding.subjects.push(subject);
            }
        }
    }

    /// Takes the rule that it was put down to from it.
    pub fn put_down_to_no_rule(&mut self) {
        let class = Class::ALL.iter().find(|class| class.name() == self.finding.class);
        let title = class.map_or("", |class| effect(*class, !self.finding.observed.kernels.is_empty()));
        (self.finding.id, self.finding.title) = (self.finding.class.clone(), title.to_owned());
    }

    /// Calls it by what its smallest program has beyond the plainest.
    pub fn name_by_form(&mut self, form: &Form) {
        let finding = &mut self.finding;
        finding.id = slug(&format!("{} {}", finding.class, form.id()));
        if !form.is_plain() {
            finding.title = format!("{form}: {}", finding.title);
        }
    }

    /// Whether its example is the shorter one, or as short and earlier.
    pub fn is_shorter_than(&self, other: &Found) -> bool {
        self.order() < other.order()
    }
}

/// Puts a finding beside others, or together with what is there of the same key: the shorter example stays, and the
/// subject that shows it comes first.
pub fn gather<K: Ord>(all: &mut BTreeMap<K, Found>, key: K, mut found: Found) {
    match all.entry(key) {
        Entry::Vacant(place) => drop(place.insert(found)),
        Entry::Occupied(mut own) => {
            let own = own.get_mut();
            let count = own.finding.count + found.finding.count;
            if found.is_shorter_than(own) {
                std::mem::swap(own, &mut found);
            }
            own.finding.subjects.append(&mut found.finding.subjects);
            own.finding.count = count;
        }
    }
}

/// A trial that shows a difference.
#[derive(Clone, Copy)]
pub(super) struct Shown<'t> {
    pub trial: &'t Trial,
    pub header: &'t Header,
    pub difference: &'t Difference,
    pub weight: usize,
}

impl Shown<'_> {
    /// What orders examples: of equally long ones the first.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial.id)
    }
}

/// Counts a trial under a key. Returns what is found there if it is new or has a shorter example now: only then name and
/// text are made.
pub(super) fn offer<K: Ord>(
    all: &mut BTreeMap<K, Found>,
    key: K,
    shown: &Shown<'_>,
    name: impl FnOnce() -> Name,
) -> Option<Found> {
    let Shown { trial, header, difference, weight } = *shown;
    let found = || Found::new(name(), difference, trial.text(header), trial.id, weight);
    match all.entry(key) {
        Entry::Vacant(place) => Some(place.insert(found()).clone()),
        Entry::Occupied(mut own) => {
            let own = own.get_mut();
            own.finding.count += 1;
            if shown.order() >= (own.weight, own.trial) {
                return None;
            }
            let count = own.finding.count;
            *own = found();
            own.finding.count = count;
            Some(own.clone())
        }
    }
}
