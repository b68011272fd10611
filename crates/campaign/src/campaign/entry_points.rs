//! Compares releases of one compiler through different entry points: the program, the library, the driver.
//!
//! The entry point must not change the meaning of a program: if ptxas rejects a module, nvJitLink of the same release
//! should too. At the end of a campaign that tests a release through two entry points, both receive the program of each
//! finding, in relocatable form if possible. A different result is a finding (`inconsistent`), unless the first finding
//! already shows only through one of them. Results that an entry point cannot show are not compared, and neither are
//! [known differences](LISTED). `docs/guide/suite.md` describes these; nothing else differs in the published suite.

use ptxsmith_diff::{Class, Difference};
use ptxsmith_model::{Expected, Kind, Status};
use ptxsmith_oracle::Clause;
use ptxsmith_subject::version::Version;
use ptxsmith_subject::{Description, OutputForm, Request};
use ptxsmith_syntax::parse;

use super::Campaign;
use crate::alike::{Differs, differs};
use crate::failure::{Failure, of_subject};
use crate::judges::trial_of;
use crate::ledger::{Found, Name};
use crate::pool;
use crate::subjects::{Tested, target_for};

/// The most findings whose programs are run.
const MOST: usize = 200;

/// A known difference between entry points.
struct Listed {
    /// The entry point that differs from ptxas.
    name: &'static str,
    /// The last major release that differs.
    last: u64,
    /// The text that a program must contain.
    holds: &'static str,
}

/// Up to 12.9 nvJitLink cannot link programs with the attribute `.unified`, and 12.0 crashes. ptxas accepts them.
const LISTED: [Listed; 1] = [Listed { name: "nvjitlink", last: 12, holds: ".attribute(.unified(" }];

/// Runs the programs of the findings through each pair of entry points, and records differences.
pub(super) fn compare_entry_points(campaign: &Campaign<'_>) -> Result<(), Failure> {
    let pairs: Vec<(&Tested, &Tested)> = (0..campaign.subjects.len())
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .map(|(a, b)| (&campaign.subjects[a], &campaign.subjects[b]))
        .filter(|(a, b)| are_entry_points(a.subject.description(), b.subject.description()))
        .collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let findings = campaign.findings();
    let shown: Vec<(&Found, &Tested, &Tested)> = (findings.iter().take(MOST))
        .flat_map(|found| pairs.iter().map(move |&(one, other)| (found, one, other)))
        .filter(|(found, one, other)| {
            let [shows, also_shows] =
                [one, other].map(|tested| found.finding.subjects.iter().any(|id| id == tested.subject.id()));
            // A new finding that only one entry point shows is reported already. A listed crash may not show through an
            // entry point that compiles many modules in one process: a compiler that reads out of bounds sees the memory
            // of earlier modules there.
            match found.finding.status {
                Status::New => shows == also_shows,
                _ => found.finding.class != Class::Crash,
            }
        })
        .filter(|(found, one, other)| {
            [one, other].iter().all(|tested| !is_listed(tested.subject.description(), &found.finding.program))
        })
        .collect();
    let differences = pool::map(campaign.session, &shown, |&(found, one, other)| {
        let Ok(module) = parse(&found.finding.program) else { return Ok(None) };
        if !(one.takes_version_of(&module) && other.takes_version_of(&module)) {
            return Ok(None);
        }
        let observe = |tested: &Tested| {
            let target = target_for(&module, tested.subject.description());
            let request = Request::new(&found.finding.program, &target).in_form(OutputForm::Relocatable);
            tested.subject.observe(&request).map_err(of_subject)
        };
        let (seen, also) = (observe(one)?, observe(other)?);
        Ok(differs(&seen, &also).map(|what| (module, what, seen, also)))
    })?;
    for ((found, one, other), difference) in shown.into_iter().zip(differences) {
        let Some((module, what, seen, also)) = difference.flatten() else { continue };
        let trial = trial_of(found.trial, &module);
        let variable = match what {
            Differs::Outcome => None,
            Differs::Variable(name) => Some(name),
        };
        let expected = Expected::same_as(seen);
        let difference = Difference { variable, ..Difference::of(Class::Inconsistent, expected, also) };
        let [one_id, other_id] = [one, other].map(|tested| tested.subject.id());
        let name = Name {
            id: format!("doors-{}", found.finding.id),
            kind: Kind::EntryPoints,
            title: format!("{one_id} and {other_id} answer differently, one release of one compiler"),
            clauses: found.finding.clauses.iter().filter_map(|id| Clause::from_id(id)).collect(),
        };
        let program = trial.text(&other.header);
        other.ledger().put(Found::new(name, &difference, program, trial.id, trial.weight()));
    }
    Ok(())
}

/// Returns true if two subjects are different entry points of one release of a compiler.
fn are_entry_points(a: &Description, b: &Description) -> bool {
    let release = |description: &Description| release_of(description)?.minor();
    a.lineage.is_some()
        && a.lineage == b.lineage
        && a.name != b.name
        && release(a).is_some()
        && release(a) == release(b)
}

fn release_of(description: &Description) -> Option<Version> {
    Version::find(description.version.as_deref()?)
}

/// Returns true if the entry point is known to differ on such a program.
fn is_listed(entry: &Description, program: &str) -> bool {
    LISTED.iter().any(|listed| {
        entry.name == listed.name
            && release_of(entry).is_some_and(|release| release.major() <= listed.last)
            && program.contains(listed.holds)
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
            let differing: Vec<Found> = campaign.findings();
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
