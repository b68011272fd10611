//! Findings of a running campaign.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ptxsmith_diff::{Class, Difference, Header, Trial};
use ptxsmith_model::{FilePlace, Finding, FindingKind, Joined, Status};
use ptxsmith_oracle::Interpretation;
use serde::{Deserialize, Serialize};

use super::name::{FindingName, effect, slug};
use crate::features::ProgramFeatures;

/// A finding with the origin of its example, which is the shortest one so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PendingFinding {
    /// The finding as reported, except for the parts determined at the end of the campaign.
    pub finding: Finding,
    /// The number of the trial used as the example.
    pub trial: u64,
    /// For a rejection that an interpretation would explain, although other verdicts exclude it: that
    /// interpretation.
    #[serde(skip)]
    pub follows: Option<Interpretation>,
    /// The file from which the program came, if the user supplied it.
    #[serde(skip)]
    pub origin: Option<String>,
    /// The number of repeated runs of the example with the same result.
    #[serde(skip)]
    pub reproduced: u32,
    /// The number of repeated runs of the example.
    #[serde(skip)]
    pub runs: u32,
    /// Whether the example shows the deviation only as written: reprinted, with other white space and without
    /// comments, it does not.
    #[serde(skip)]
    pub only_as_written: bool,
    /// Whether the budget of reductions did not suffice for the finding, or an interruption came first.
    #[serde(skip)]
    pub left_unreduced: bool,
    /// The length of the example, with a penalty if it also shows other deviations.
    weight: usize,
}

impl PendingFinding {
    /// Creates a finding with one example.
    pub fn new(
        name: FindingName,
        difference: &Difference,
        program: String,
        trial: u64,
        weight: usize,
    ) -> PendingFinding {
        let finding = Finding {
            class: difference.class,
            count: 1,
            program,
            variable: difference.variable.clone(),
            expected: difference.expected.clone(),
            observed: difference.observed.clone(),
            ..Finding::default()
        };
        PendingFinding { finding, trial, weight, ..PendingFinding::default() }.named(name)
    }

    /// Returns the finding under another name.
    pub fn named(mut self, name: FindingName) -> PendingFinding {
        let finding = &mut self.finding;
        finding.id = name.id;
        finding.status = name.kind.status();
        finding.title = name.title;
        finding.kind = name.kind;
        finding.clauses = name.clauses.iter().map(|clause| clause.id().to_owned()).collect();
        self
    }

    /// Attaches the subject that shows the finding. For a user's program, whose example has only the
    /// declarations, `source` supplies the path and the complete program.
    pub fn shown_by(mut self, subject: &str, source: Option<(String, String)>) -> PendingFinding {
        self.finding.subjects = vec![subject.to_owned()];
        if let Some((path, text)) = source {
            self.origin = Some(path);
            self.finding.program = text;
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

    /// Reclassifies the finding as one with varying results: the example's result reproduced in some of these
    /// runs.
    pub fn make_inconsistent(&mut self, reproduced: u32, runs: u32) {
        self.finding.class = Class::Inconsistent;
        self.reproduced = reproduced;
        self.runs = runs;
    }

    /// Returns true if it is about an ambiguity that no single interpretation explains.
    pub fn is_mixed(&self) -> bool {
        self.is_inconsistent() && matches!(self.finding.kind, FindingKind::Interpretation(_))
    }

    /// Returns true if the program always deviates beside the same other declarations but conforms alone.
    pub fn needs_neighbours(&self) -> bool {
        self.is_inconsistent() && self.finding.expected.company == Some(true) && self.reproduced == 0
    }

    /// Returns true if it is about results that vary from run to run or with other declarations. Varying
    /// results of forks, entry points and interpretations have names of their own and do not count.
    pub fn is_about_runs(&self) -> bool {
        let is_about_other = matches!(
            self.finding.kind,
            FindingKind::Forks | FindingKind::EntryPoints | FindingKind::Interpretation(_)
        );
        self.is_new() && self.origin.is_none() && self.is_inconsistent() && !is_about_other
    }

    /// Returns the sort key of examples: the shortest first, then the earliest.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial)
    }

    fn add_places(&mut self, more: Vec<FilePlace>) {
        let places = &mut self.finding.places;
        if more.is_empty() {
            return;
        }
        places.extend(more);
        places.sort_unstable();
        places.dedup();
        places.truncate(FilePlace::MOST);
    }

    /// Merges another finding that has the same cause. The report lists it with the reason `because`.
    pub fn join(&mut self, other: PendingFinding, because: impl Into<String>) {
        self.finding.count += other.finding.count;
        self.add_places(other.finding.places);
        let Finding { id, title, count, joined, .. } = other.finding;
        self.finding.joined.extend(joined.into_iter().map(|earlier| Joined {
            because: format!("it was joined with {id} before, because {}", earlier.because),
            ..earlier
        }));
        self.finding.joined.push(Joined { id, title, count, because: because.into() });
        for subject in other.finding.subjects {
            if !self.finding.subjects.contains(&subject) {
                self.finding.subjects.push(subject);
            }
        }
    }

    /// Removes the wrong rule that was its hypothesis.
    pub fn remove_rule(&mut self) {
        let finding = &mut self.finding;
        finding.title = effect(finding.class, !finding.observed.kernels.is_empty()).to_owned();
        finding.id = finding.class.name().to_owned();
        finding.kind = FindingKind::Unexplained;
    }

    /// Names the finding after the features of its minimized reproducer.
    pub fn name_by_features(&mut self, features: &ProgramFeatures) {
        let finding = &mut self.finding;
        finding.id = slug(&format!("{} {}", finding.class, features.id()));
        if !features.is_plain() {
            finding.title = format!("{features}: {}", finding.title);
        }
    }

    /// Returns the finding with its counts, but as an example only if there is no other.
    pub fn as_last_example(self) -> PendingFinding {
        PendingFinding { weight: usize::MAX, ..self }
    }

    /// Returns true if its example is shorter, or equally long and earlier.
    pub fn is_shorter_than(&self, other: &PendingFinding) -> bool {
        self.order() < other.order()
    }
}

/// Adds a finding to the map, or merges it with the one of the same key. The shorter example stays, and the
/// subject that shows it comes first.
pub fn gather<K: Ord>(all: &mut BTreeMap<K, PendingFinding>, key: K, mut found: PendingFinding) {
    match all.entry(key) {
        Entry::Vacant(vacant) => drop(vacant.insert(found)),
        Entry::Occupied(mut occupied) => {
            let earlier = occupied.get_mut();
            let count = earlier.finding.count + found.finding.count;
            if found.is_shorter_than(earlier) {
                std::mem::swap(earlier, &mut found);
            }
            earlier.finding.subjects.append(&mut found.finding.subjects);
            earlier.finding.count = count;
            earlier.add_places(found.finding.places);
        }
    }
}

/// A trial that shows a difference.
#[derive(Clone, Copy)]
pub(super) struct DeviatingTrial<'t> {
    pub trial: &'t Trial,
    pub header: &'t Header,
    pub difference: &'t Difference,
    pub place: Option<&'t FilePlace>,
    pub weight: usize,
}

impl<'t> DeviatingTrial<'t> {
    /// Creates a trial without a penalty for further deviations.
    pub fn new(
        trial: &'t Trial,
        header: &'t Header,
        difference: &'t Difference,
        place: Option<&'t FilePlace>,
    ) -> DeviatingTrial<'t> {
        DeviatingTrial { trial, header, difference, place, weight: trial.weight() }
    }
    /// Returns the sort key of examples: the shortest first, then the earliest.
    pub fn order(&self) -> (usize, u64) {
        (self.weight, self.trial.id)
    }
}

/// Counts a trial under a key. Returns the finding if it is new or now has a shorter example; only then are
/// the name and the program built.
pub(super) fn offer<K: Ord>(
    all: &mut BTreeMap<K, PendingFinding>,
    key: K,
    deviating: &DeviatingTrial<'_>,
    name: impl FnOnce() -> FindingName,
) -> Option<PendingFinding> {
    let DeviatingTrial { trial, header, difference, place, weight } = *deviating;
    let places: Vec<FilePlace> = place.cloned().into_iter().collect();
    let mut found = match all.entry(key) {
        Entry::Vacant(vacant) => {
            let text = trial.text(header);
            let mut found = PendingFinding::new(name(), difference, text, trial.id, weight);
            found.finding.places = places;
            return Some(vacant.insert(found).clone());
        }
        Entry::Occupied(occupied) => occupied,
    };
    let earlier = found.get_mut();
    earlier.finding.count += 1;
    earlier.add_places(places);
    if deviating.order() >= earlier.order() {
        return None;
    }
    let mut shorter = PendingFinding::new(name(), difference, trial.text(header), trial.id, weight);
    shorter.finding.count = earlier.finding.count;
    shorter.finding.places = std::mem::take(&mut earlier.finding.places);
    *earlier = shorter;
    Some(earlier.clone())
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::{Observation, Outcome, Output};

    use super::*;

    /// Creates a finding with this class, status and name.
    fn found(id: &str, class: Class, status: Status) -> PendingFinding {
        let finding = Finding { id: id.to_owned(), class, status, ..Finding::default() };
        PendingFinding { finding, ..PendingFinding::default() }
    }

    #[test]
    fn what_a_finding_is_about_follows_from_its_class_kind_and_status() {
        use Class::{Inconsistent, RefusesValid, WrongValue};
        // Whether it is new, a rejection, inconsistent, about an ambiguity, about runs.
        let mixed = || FindingKind::Interpretation("shift-count".to_owned());
        for (kind, class, status, is) in [
            (FindingKind::Unexplained, WrongValue, Status::New, [true, false, false, false, false]),
            (FindingKind::Unexplained, RefusesValid, Status::Known, [false, true, false, false, false]),
            (mixed(), RefusesValid, Status::New, [true, true, false, false, false]),
            (FindingKind::Unexplained, Inconsistent, Status::New, [true, false, true, false, true]),
            (FindingKind::Unexplained, Inconsistent, Status::Known, [false, false, true, false, false]),
            (mixed(), Inconsistent, Status::New, [true, false, true, true, false]),
            (FindingKind::Forks, Inconsistent, Status::New, [true, false, true, false, false]),
            (FindingKind::EntryPoints, Inconsistent, Status::New, [true, false, true, false, false]),
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
        for (class, company, reproduced, expected) in [
            (Class::Inconsistent, true, 0, true),
            (Class::Inconsistent, true, 1, false),
            (Class::Inconsistent, false, 0, false),
            (Class::WrongValue, true, 0, false),
        ] {
            let mut one = PendingFinding { reproduced, runs: 3, ..found("a", class, Status::New) };
            one.finding.expected.company = Some(company);
            assert_eq!(one.needs_neighbours(), expected, "{class:?} {company} {reproduced}");
        }
        let mut one = found("a", Class::WrongValue, Status::New);
        one.make_inconsistent(2, 5);
        assert!(one.is_inconsistent() && (one.reproduced, one.runs) == (2, 5));
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
            let mut one = PendingFinding { weight, trial, ..found("a", Class::WrongValue, Status::New) };
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
            one.remove_rule();
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
