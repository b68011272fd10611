//! Findings of a running campaign.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ptxsmith_diff::{Class, Difference, Header, Trial};
use ptxsmith_model::{Finding, Joined, Kind, Place, Status};
use ptxsmith_oracle::Interpretation;
use serde::{Deserialize, Serialize};

use super::name::{Name, effect, slug};
use crate::form::Form;

/// A finding with the origin of its example, which is the shortest one so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The finding as reported, except for the parts determined at the end of the campaign.
    pub finding: Finding,
    /// The number of the trial used as the example.
    pub trial: u64,
    /// For a rejection that an interpretation would explain, although other verdicts exclude it: that interpretation.
    #[serde(skip)]
    pub follows: Option<Interpretation>,
    /// The file from which the program came, if the user supplied it.
    #[serde(skip)]
    pub origin: Option<String>,
    /// How many times the example's result reproduced, and how many times it was repeated.
    #[serde(skip)]
    pub came_again: (u32, u32),
    /// Whether the example shows the deviation only as written: reprinted, with other white space and without comments,
    /// it does not.
    #[serde(skip)]
    pub only_as_written: bool,
    /// The length of the example, with a penalty if it also shows other deviations.
    weight: usize,
}

impl Found {
    /// Creates a finding with one example.
    pub fn new(name: Name, difference: &Difference, program: String, trial: u64, weight: usize) -> Found {
        let finding = Finding {
            class: difference.class,
            count: 1,
            program,
            variable: difference.variable.clone(),
            expected: difference.expected.clone(),
            observed: difference.observed.clone(),
            ..Finding::default()
        };
        Found { finding, trial, weight, ..Found::default() }.named(name)
    }

    /// Returns the finding under another name.
    pub fn named(mut self, name: Name) -> Found {
        let finding = &mut self.finding;
        (finding.id, finding.status, finding.title) = (name.id, name.kind.status(), name.title);
        finding.kind = name.kind;
        finding.clauses = name.clauses.iter().map(|clause| clause.id().to_owned()).collect();
        self
    }

    /// Attaches the subject that shows the finding. For a user's program, whose example has only the declarations,
    /// `source` supplies the path and the complete program.
    pub fn shown_by(mut self, subject: &str, source: Option<(String, String)>) -> Found {
        self.finding.subjects = vec![subject.to_owned()];
        if let Some((path, text)) = source {
            (self.origin, self.finding.program) = (Some(path), text);
        }
        self.weight = self.finding.program.len();
        self
    }

    /// Returns true if no listed deviation explains it.
    pub fn is_new(&self) -> bool {
        self.finding.status == Status::New
    }

    /// Returns true if a valid program was rejected.
    pub fn is_refusal(&self) -> bool {
        self.finding.class == Class::RefusesValid
    }

    /// Returns true if the finding is that results vary, rather than one wrong result.
    pub fn is_inconsistent(&self) -> bool {
        self.finding.class == Class::Inconsistent
    }

    /// Reclassifies the finding as one with varying results: the example's result reproduced `came` of `shown` times.
    pub fn changes_its_answer(&mut self, came: u32, shown: u32) {
        self.finding.class = Class::Inconsistent;
        self.came_again = (came, shown);
    }

    /// Returns true if it is about an ambiguity that no single interpretation explains.
    pub fn is_mixed(&self) -> bool {
        self.is_inconsistent() && matches!(self.finding.kind, Kind::Interpretation(_))
    }

    /// Returns true if the program always deviates beside the same other declarations but conforms alone.
    pub fn is_of_company(&self) -> bool {
        self.is_inconsistent() && self.finding.expected.company == Some(true) && self.came_again.0 == 0
    }

    /// Returns true if it is about results that vary from run to run or with other declarations. Varying results of
    /// forks, entry points and interpretations have names of their own and do not count.
    pub fn is_about_runs(&self) -> bool {
        let is_about_other =
            matches!(self.finding.kind, Kind::Forks | Kind::EntryPoints | Kind::Interpretation(_));
        self.is_new() && self.origin.is_none() && self.is_inconsistent() && !is_about_other
    }

    /// Returns the sort key of examples: the shortest first, then the earliest.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial)
    }

    fn add_places(&mut self, more: Vec<Place>) {
        let places = &mut self.finding.places;
        if more.is_empty() {
            return;
        }
        places.extend(more);
        places.sort_unstable();
        places.dedup();
        places.truncate(Place::MOST);
    }

    /// Merges another finding that has the same cause. The report lists it with the reason `because`.
    pub fn join(&mut self, other: Found, because: impl Into<String>) {
        self.finding.count += other.finding.count;
        self.add_places(other.finding.places);
        let Finding { id, title, count, .. } = other.finding;
        self.finding.joined.push(Joined { id, title, count, because: because.into() });
        self.finding.joined.extend(other.finding.joined);
        for subject in other.finding.subjects {
            if !self.finding.subjects.contains(&subject) {
                self.finding.subjects.push(subject);
            }
        }
    }

    /// Removes the wrong rule that was its hypothesis.
    pub fn put_down_to_no_rule(&mut self) {
        let finding = &mut self.finding;
        finding.title = effect(finding.class, !finding.observed.kernels.is_empty()).to_owned();
        (finding.id, finding.kind) = (finding.class.name().to_owned(), Kind::Unexplained);
    }

    /// Names the finding after the features of its minimized reproducer.
    pub fn name_by_form(&mut self, form: &Form) {
        let finding = &mut self.finding;
        finding.id = slug(&format!("{} {}", finding.class, form.id()));
        if !form.is_plain() {
            finding.title = format!("{form}: {}", finding.title);
        }
    }

    /// Returns the finding with its counts, but as an example only if there is no other.
    pub fn counted(self) -> Found {
        Found { weight: usize::MAX, ..self }
    }

    /// Returns true if its example is shorter, or equally long and earlier.
    pub fn is_shorter_than(&self, other: &Found) -> bool {
        self.order() < other.order()
    }
}

/// Adds a finding to the map, or merges it with the one of the same key. The shorter example stays, and the subject that
/// shows it comes first.
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
            own.add_places(found.finding.places);
        }
    }
}

/// A trial that shows a difference.
#[derive(Clone, Copy)]
pub(super) struct Shown<'t> {
    pub trial: &'t Trial,
    pub header: &'t Header,
    pub difference: &'t Difference,
    pub place: Option<&'t Place>,
    pub weight: usize,
}

impl Shown<'_> {
    /// Returns the sort key of examples: the shortest first, then the earliest.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial.id)
    }
}

/// Counts a trial under a key. Returns the finding if it is new or now has a shorter example; only then are the name and
/// the program built.
pub(super) fn offer<K: Ord>(
    all: &mut BTreeMap<K, Found>,
    key: K,
    shown: &Shown<'_>,
    name: impl FnOnce() -> Name,
) -> Option<Found> {
    let Shown { trial, header, difference, place, weight } = *shown;
    let found = || Found::new(name(), difference, trial.text(header), trial.id, weight);
    let places = place.cloned().into_iter();
    match all.entry(key) {
        Entry::Vacant(vacant) => {
            let own = vacant.insert(found());
            own.finding.places.extend(places);
            Some(own.clone())
        }
        Entry::Occupied(mut own) => {
            let own = own.get_mut();
            own.finding.count += 1;
            own.add_places(places.collect());
            if shown.order() >= (own.weight, own.trial) {
                return None;
            }
            let (count, places) = (own.finding.count, std::mem::take(&mut own.finding.places));
            *own = found();
            (own.finding.count, own.finding.places) = (count, places);
            Some(own.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::{Observation, Outcome, Output};

    use super::*;

    /// Creates a finding with this class, status and name.
    fn found(id: &str, class: Class, status: Status) -> Found {
        let finding = Finding { id: id.to_owned(), class, status, ..Finding::default() };
        Found { finding, ..Found::default() }
    }

    #[test]
    fn findings_are_told_apart_by_class_name_and_status() {
        use Class::{Inconsistent, RefusesValid, WrongValue};
        // Whether it is new, a rejection, inconsistent, about an ambiguity, about runs.
        let mixed = || Kind::Interpretation("shift-count".to_owned());
        for (kind, class, status, is) in [
            (Kind::Unexplained, WrongValue, Status::New, [true, false, false, false, false]),
            (Kind::Unexplained, RefusesValid, Status::Known, [false, true, false, false, false]),
            (mixed(), RefusesValid, Status::New, [true, true, false, false, false]),
            (Kind::Unexplained, Inconsistent, Status::New, [true, false, true, false, true]),
            (Kind::Unexplained, Inconsistent, Status::Known, [false, false, true, false, false]),
            (mixed(), Inconsistent, Status::New, [true, false, true, true, false]),
            (Kind::Forks, Inconsistent, Status::New, [true, false, true, false, false]),
            (Kind::EntryPoints, Inconsistent, Status::New, [true, false, true, false, false]),
        ] {
            let mut one = found("a", class, status);
            one.finding.kind = kind;
            let all =
                [one.is_new(), one.is_refusal(), one.is_inconsistent(), one.is_mixed(), one.is_about_runs()];
            assert_eq!(all, is, "{:?} {class:?} {status:?}", one.finding.kind);
        }
        // A program of the user is shown unchanged.
        let shown =
            found("a", Inconsistent, Status::New).shown_by("s", Some(("p.ptx".into(), "text".into())));
        assert!(!shown.is_about_runs());
        assert_eq!((shown.order(), &*shown.finding.program), ((4, 0), "text"));
    }

    #[test]
    fn company_is_what_makes_a_program_wrong_each_time() {
        for (class, company, came_again, is) in [
            (Class::Inconsistent, true, (0, 3), true),
            (Class::Inconsistent, true, (1, 3), false),
            (Class::Inconsistent, false, (0, 3), false),
            (Class::WrongValue, true, (0, 3), false),
        ] {
            let mut one = Found { came_again, ..found("a", class, Status::New) };
            one.finding.expected.company = Some(company);
            assert_eq!(one.is_of_company(), is, "{class:?} {company} {came_again:?}");
        }
        let mut one = found("a", Class::WrongValue, Status::New);
        one.changes_its_answer(2, 5);
        assert!(one.is_inconsistent() && one.came_again == (2, 5));
    }

    #[test]
    fn what_joins_is_counted_and_each_subject_named_once() {
        let of = |subjects: &[&str], count| {
            let mut one = found("a", Class::WrongValue, Status::New);
            one.finding.count = count;
            one.finding.subjects = subjects.iter().map(|&subject| subject.to_owned()).collect();
            one
        };
        let mut one = of(&["s", "t"], 2);
        one.join(of(&["t", "u"], 3), "a reason");
        assert_eq!((one.finding.count, one.finding.subjects), (5, vec!["s".into(), "t".into(), "u".into()]));
        let [joined] = &one.finding.joined[..] else { panic!() };
        assert_eq!((&*joined.id, joined.count, &*joined.because), ("a", 3, "a reason"));
    }

    #[test]
    fn the_shorter_example_stays_and_of_equals_the_earlier() {
        let of = |weight, trial, subject: &str| {
            let mut one = Found { weight, trial, ..found("a", Class::WrongValue, Status::New) };
            (one.finding.count, one.finding.subjects) = (1, vec![subject.to_owned()]);
            one
        };
        let kept = of(5, 7, "kept");
        for (other, is_shorter) in
            [((4, 9), true), ((5, 6), true), ((5, 7), false), ((5, 8), false), ((6, 1), false)]
        {
            let other = of(other.0, other.1, "other");
            assert_eq!(other.is_shorter_than(&kept), is_shorter, "{:?}", other.order());
            let mut all = BTreeMap::from([("a", kept.clone())]);
            gather(&mut all, "a", other.clone());
            let (first, second) = if is_shorter { (&other, &kept) } else { (&kept, &other) };
            assert_eq!((all["a"].order(), all["a"].finding.count), (first.order(), 2));
            let subjects = [first, second].map(|of| of.finding.subjects[0].clone());
            assert_eq!(all["a"].finding.subjects, subjects);
        }
    }

    #[test]
    fn a_difference_that_no_rule_is_behind_is_called_by_what_happens() {
        let of = |class: Class, of_kernel: bool| {
            let mut one = found("some-rule", class, Status::New);
            one.finding.observed = Observation::new(Outcome::Accepted);
            if of_kernel {
                let output = Output { size: 4, bytes: None, seen: None, addresses: Vec::new(), reason: None };
                one.finding.observed.kernels.insert("k".to_owned(), output);
            }
            one.put_down_to_no_rule();
            (one.finding.id, one.finding.title)
        };
        for (class, of_kernel, title) in [
            (Class::WrongValue, false, "a variable holds other bytes"),
            (Class::WrongValue, true, "a kernel leaves other bytes"),
            (Class::WrongAddress, false, "a variable holds another address"),
            (Class::WrongAddress, true, "a kernel leaves another address"),
            (Class::AcceptsInvalid, true, "an invalid program is accepted"),
        ] {
            assert_eq!(of(class, of_kernel), (class.name().to_owned(), title.to_owned()));
        }
    }
}
