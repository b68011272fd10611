//! Compares a release of a compiler through different entry points: the program, the library, the driver.
//!
//! The entry point must not change the meaning of a program: if ptxas rejects a module, nvJitLink of the same
//! release should too. At the end of a campaign that tests a release through two entry points, both receive
//! the program of each finding, in relocatable form if possible. A different result is a finding
//! (`inconsistent`), unless the first finding already shows only through one of them. Results that an entry
//! point cannot show are not compared, and neither are [known differences](LISTED). `docs/guide/suite.md`
//! describes these; nothing else differs in the published suite.

use ptxsmith_diff::{Class, Difference};
use ptxsmith_model::{Expected, FindingKind, Status};
use ptxsmith_oracle::Clause;
use ptxsmith_subject::version::Version;
use ptxsmith_subject::{Description, Observation, OutputForm, Request};
use ptxsmith_syntax::{Module, parse};

use super::Campaign;
use crate::alike::{ResultMismatch, differs};
use crate::failure::{Failure, of_subject};
use crate::judges::trial_of;
use crate::ledger::{FindingName, PendingFinding};
use crate::pool;
use crate::subjects::{TestSubject, target_for};

/// The most findings to compare.
const MOST: usize = 200;

/// A known difference between entry points.
struct EntryPointDifference {
    /// The entry point that differs from ptxas.
    name: &'static str,
    /// The last major release that differs.
    last: u64,
    /// The text in each program that differs.
    text: &'static str,
}

/// Up to 12.9 nvJitLink cannot link programs with the attribute `.unified`, and 12.0 crashes. ptxas accepts
/// them.
const LISTED: [EntryPointDifference; 1] =
    [EntryPointDifference { name: "nvjitlink", last: 12, text: ".attribute(.unified(" }];

/// Runs the programs of the findings through each pair of entry points, and records differences.
pub(super) fn compare_entry_points(campaign: &Campaign<'_>) -> Result<(), Failure> {
    let pairs = pairs(campaign);
    if pairs.is_empty() {
        return Ok(());
    }
    let findings = campaign.findings();
    let programs: Vec<(&PendingFinding, &TestSubject, &TestSubject)> = (findings.iter().take(MOST))
        .flat_map(|found| pairs.iter().map(move |&(one, other)| (found, one, other)))
        .filter(|(found, one, other)| {
            let [shows, also_shows] =
                [one, other].map(|tested| found.finding.subjects.iter().any(|id| id == tested.subject.id()));
            // A new finding that only one entry point shows is reported already. A listed crash may not show
            // through an entry point that compiles many modules in one process: a compiler that reads out of
            // bounds sees the memory of earlier modules there.
            match found.finding.status {
                Status::New => shows == also_shows,
                _ => found.finding.class != Class::Crash,
            }
        })
        .filter(|(found, one, other)| {
            [one, other].iter().all(|tested| !is_listed(tested.subject.description(), &found.finding.program))
        })
        .collect();
    let differences = pool::map(campaign.session, &programs, |&(found, one, other)| {
        let Ok(module) = parse(&found.finding.program) else { return Ok(None) };
        if !(one.supports_version_of(&module) && other.supports_version_of(&module)) {
            return Ok(None);
        }
        let observed_by_one = observe(one, &module, &found.finding.program)?;
        let observed_by_other = observe(other, &module, &found.finding.program)?;
        let mismatch = differs(&observed_by_one, &observed_by_other);
        Ok(mismatch.map(|mismatch| (module, mismatch, observed_by_one, observed_by_other)))
    })?;
    for ((found, one, other), difference) in programs.into_iter().zip(differences) {
        let Some((module, mismatch, observed_by_one, observed_by_other)) = difference.flatten() else {
            continue;
        };
        let trial = trial_of(found.trial, &module);
        let variable = match mismatch {
            ResultMismatch::Outcome => None,
            ResultMismatch::Variable(name) => Some(name),
        };
        let expected = Expected::same_as(observed_by_one);
        let difference = Difference::new(Class::Inconsistent, expected, observed_by_other);
        let difference = Difference { variable, ..difference };
        let [one_id, other_id] = [one, other].map(|tested| tested.subject.id());
        let name = FindingName {
            id: format!("doors-{}", found.finding.id),
            kind: FindingKind::EntryPoints,
            title: format!("{one_id} and {other_id} answer differently, one release of one compiler"),
            clauses: found.finding.clauses.iter().filter_map(|id| Clause::from_id(id)).collect(),
        };
        let program = trial.text(&other.header);
        other.ledger().put(PendingFinding::new(name, &difference, program, trial.id, trial.weight()));
    }
    Ok(())
}

/// Returns the pairs of subjects that are entry points of the same release.
fn pairs<'c>(campaign: &'c Campaign<'_>) -> Vec<(&'c TestSubject, &'c TestSubject)> {
    let mut pairs: Vec<(&TestSubject, &TestSubject)> = Vec::new();
    for (index, other) in campaign.subjects.iter().enumerate() {
        for one in &campaign.subjects[..index] {
            if are_entry_points(one.subject.description(), other.subject.description()) {
                pairs.push((one, other));
            }
        }
    }
    pairs
}

/// Runs a program in relocatable form.
fn observe(tested: &TestSubject, module: &Module, program: &str) -> Result<Observation, Failure> {
    let target = target_for(module, tested.subject.description());
    let request = Request::new(program, &target).in_form(OutputForm::Relocatable);
    tested.subject.observe(&request).map_err(of_subject)
}

/// Returns true if two subjects are different entry points of the same release of a compiler.
fn are_entry_points(a: &Description, b: &Description) -> bool {
    let release = release_of(a).and_then(|release| release.minor());
    a.lineage.is_some()
        && a.lineage == b.lineage
        && a.name != b.name
        && release.is_some()
        && release == release_of(b).and_then(|release| release.minor())
}

fn release_of(description: &Description) -> Option<Version> {
    Version::find(description.version.as_deref()?)
}

/// Returns true if the entry point is known to differ on such a program.
fn is_listed(entry: &Description, program: &str) -> bool {
    LISTED.iter().any(|listed| {
        entry.name == listed.name
            && release_of(entry).is_some_and(|release| release.major() <= listed.last)
            && program.contains(listed.text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str, version: &str) -> Description {
        let (lineage, version) = (Some("nvidia".to_owned()), Some(version.to_owned()));
        Description { name: name.to_owned(), lineage, version, ..Description::default() }
    }

    #[test]
    fn entry_points_are_other_programs_of_one_release_and_lineage() {
        let ptxas = described("ptxas", "13.5.37");
        assert!(are_entry_points(&ptxas, &described("nvjitlink", "13.5")));
        assert!(!are_entry_points(&ptxas, &described("nvjitlink", "12.9")));
        assert!(!are_entry_points(&ptxas, &described("ptxas", "13.5.37")));
        let stranger = Description { lineage: Some("mine".into()), ..described("mine", "13.5") };
        assert!(!are_entry_points(&ptxas, &stranger));
        assert!(
            !are_entry_points(&described("a", "?"), &described("b", "?")),
            "no release is no common release"
        );
    }

    #[test]
    fn what_is_listed_is_of_one_entry_point_up_to_a_release_and_of_programs_that_hold_it() {
        let program = ".func .attribute(.unified(0xAB, 0xCD)) bar() { ret; }";
        assert!(is_listed(&described("nvjitlink", "12.9.86"), program));
        assert!(!is_listed(&described("nvjitlink", "13.5.37"), program));
        assert!(!is_listed(&described("ptxas", "12.9.86"), program));
        assert!(!is_listed(&described("nvjitlink", "12.9.86"), ".func bar() { ret; }"));
    }

    #[test]
    fn what_is_listed_is_compared_between_entry_points_unless_it_is_a_crash() {
        use ptxsmith_testing::right;

        use crate::campaign::fake::{self, campaign, program, session};
        use ptxsmith_subject::{Observation, Outcome};

        let entry = |name: &str, refuses: bool| {
            let description = Description { id: name.to_owned(), ..described(name, "2.1") };
            fake::described(description, move |request| {
                match refuses && request.form == OutputForm::Relocatable {
                    true => Observation::new(Outcome::Refused),
                    false => right(request),
                }
            })
        };
        let session = session();
        for (class, differ) in [(Class::WrongValue, true), (Class::Crash, false)] {
            let campaign = campaign(&session, vec![entry("program", false), entry("library", true)]);
            let mut found =
                fake::found("listed", class, ".global .s32 a = 1;", Some("a"), Observation::default());
            found.finding.status = Status::Known;
            campaign.subjects[0].ledger().put(found);
            compare_entry_points(&campaign).unwrap();
            let differing: Vec<PendingFinding> = campaign.findings();
            let entry_point = differing.iter().find(|found| found.finding.id == "doors-listed");
            assert_eq!(entry_point.is_some(), differ, "{class:?}");
            let Some(entry_point) = entry_point else { continue };
            assert_eq!(entry_point.finding.subjects, ["library"]);
            assert_eq!(
                (entry_point.finding.class.name(), entry_point.finding.status),
                ("inconsistent", Status::New)
            );
            assert_eq!(entry_point.finding.program, program(".global .s32 a = 1;"));
            assert_eq!(entry_point.finding.observed.outcome, Outcome::Refused);
            assert_eq!(entry_point.finding.expected.outcome(), Some("accepted"));
        }
    }
}
