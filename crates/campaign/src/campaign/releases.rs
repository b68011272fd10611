//! What every release does with the program of a finding.

use ptxsmith_diff::{Part, Verdict};
use ptxsmith_report::Finding;
use ptxsmith_report::releases::{ProgramVerdict, ReleaseVerdict};
use ptxsmith_syntax::{Item, Module, Name, parse, print};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::Found;
use crate::pool;
use crate::subjects::Tested;

/// The most findings of which a map is made.
const MOST: usize = 200;

impl Campaign<'_> {
    /// Shows the program of each finding to every subject, where there are several.
    pub(super) fn map_releases(&self, findings: &mut [Found]) -> Result<(), Failure> {
        if self.subjects.len() < 2 {
            return Ok(());
        }
        let programs: Vec<(&Tested, &Finding)> = (findings.iter().take(MOST))
            .flat_map(|found| self.subjects.iter().map(move |tested| (tested, &found.finding)))
            .collect();
        let verdicts = pool::map(self.session, &programs, |(tested, finding)| mapped(tested, finding))?;
        for (found, verdicts) in findings.iter_mut().zip(verdicts.chunks(self.subjects.len())) {
            found.finding.releases = verdicts.iter().flatten().cloned().collect();
        }
        Ok(())
    }
}

/// What a subject does with the program of a finding. One that shows the finding may do so because of the version.
fn mapped(tested: &Tested, finding: &Finding) -> Result<ReleaseVerdict, Failure> {
    let program = finding.least_program();
    let own = match finding.subjects.contains(&tested.subject.description().id) {
        true => judged_as_it_is(tested, program)?.0,
        false => ReleaseVerdict::default(),
    };
    if own.verdict == ProgramVerdict::Deviates(finding.class) { Ok(own) } else { verdict(tested, program) }
}

/// What a subject does with a program, in a word: the class of a deviation, `conform`, or why nothing was compared. A
/// program in a later version than the subject takes is shown in the latest that it does.
fn verdict(tested: &Tested, program: &str) -> Result<ReleaseVerdict, Failure> {
    Ok(judged(tested, program)?.0)
}

/// The same, and what it rests on.
pub(crate) fn judged(tested: &Tested, program: &str) -> Result<(ReleaseVerdict, Vec<Part>), Failure> {
    match parse(program) {
        Ok(mut module) if !tested.takes_version_of(&module) => {
            judged_as_it_is(tested, &in_version(&mut module, &tested.header.version))
        }
        _ => judged_as_it_is(tested, program),
    }
}

/// The same of a program in the version that it has.
fn judged_as_it_is(tested: &Tested, program: &str) -> Result<(ReleaseVerdict, Vec<Part>), Failure> {
    let description = tested.subject.description();
    let told = |verdict| ReleaseVerdict {
        subject: description.id.clone(),
        version: description.version.clone().unwrap_or_default(),
        verdict,
    };
    let not_compared = |reason: &str| ProgramVerdict::NotCompared(reason.to_owned());
    let Ok(module) = parse(program) else { return Ok((told(not_compared("not-parsed")), Vec::new())) };
    let parts = judge(&*tested.subject, &module, program).map_err(of_subject)?.parts();
    let deviation = parts.iter().find_map(|part| match &part.verdict {
        Verdict::Deviates(difference) => Some(difference.class),
        _ => None,
    });
    let conforms = |verdict: &Verdict| {
        matches!(verdict, Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_))
    };
    let untold = parts.iter().find_map(|part| match &part.verdict {
        Verdict::NotCompared(reason) => Some(reason.name()),
        _ => None,
    });
    let verdict = told(match deviation {
        Some(class) => ProgramVerdict::Deviates(class),
        None if parts.iter().any(|part| conforms(&part.verdict)) => ProgramVerdict::Conforms,
        None => not_compared(untold.unwrap_or("unobserved")),
    });
    Ok((verdict, parts))
}

/// The program in another version.
fn in_version(module: &mut Module, version: &str) -> String {
    for item in &mut module.items {
        if let Item::Version(own) = item {
            *own = Name::new(version);
        }
    }
    print(module)
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::known::KNOWN;
    use ptxsmith_subject::{Address, FnSubject, Observation, Outcome, Output, Request, Variable};

    use super::*;

    /// Takes every program, and leaves in the output buffer of each kernel an address this far behind `a`.
    fn leaves(addend: i64) -> Tested {
        Tested::new(Box::new(FnSubject::new("fake", move |request: &Request<'_>| {
            let mut seen = Observation::new(Outcome::Accepted);
            let space = Some("global".into());
            let a = Variable {
                space,
                size: Some(16),
                align: Some(4),
                bytes: Some(vec![0; 16]),
                ..Variable::default()
            };
            seen.variables.insert("a".into(), a);
            for launch in request.launch {
                let address = Address {
                    offset: 0,
                    width: 8,
                    symbol: "a".to_owned(),
                    addend,
                    generic: None,
                    byte: None,
                };
                let output = Output {
                    size: 8,
                    bytes: Some(vec![0; 8]),
                    addresses: vec![address],
                    ..Output::default()
                };
                seen.kernels.insert(launch.kernel.clone(), output);
            }
            seen
        })))
    }

    #[test]
    fn the_map_says_what_releases_do_with_kernels_too() {
        let known = KNOWN.iter().find(|known| known.id == "negative-index-unsigned").unwrap();
        let said = |addend| verdict(&leaves(addend), known.example).unwrap().verdict.to_string();
        assert_eq!(said(-8), "conform");
        assert_eq!(said((1 << 32) - 8), "wrong-address");
    }

    #[test]
    fn a_release_is_shown_a_program_in_the_latest_version_that_it_takes() {
        use ptxsmith_testing::right;

        use crate::campaign::fake::{described, program};
        use ptxsmith_subject::Description;

        let max_ptx = Some("7.5".to_owned());
        let old = Description { id: "old".to_owned(), max_ptx, ..Description::default() };
        let tested =
            described(old, |request| match request.ptx.starts_with(".version 7.5\n.target sm_80\n") {
                true => right(request),
                false => Observation::new(Outcome::Refused),
            });
        let said = |declarations: &str| verdict(&tested, &program(declarations)).unwrap().verdict.to_string();
        assert_eq!(said(".global .s32 a = 7;"), "conform");
    }

    /// A crash because of the version is one in the map too; a subject that does not show the finding is shown an earlier version.
    #[test]
    fn a_release_that_shows_a_finding_is_shown_it_as_it_is() {
        use crate::campaign::fake::{described, program};
        use ptxsmith_subject::Description;
        use ptxsmith_testing::right;

        let of = |id: &str| {
            let max_ptx = Some("7.5".to_owned());
            let old = Description { id: id.to_owned(), max_ptx, ..Description::default() };
            described(old, |request| match request.ptx.starts_with(".version 7.5\n") {
                true => right(request),
                false => Observation::new(Outcome::Crashed),
            })
        };
        let finding = Finding {
            class: ptxsmith_model::Class::Crash,
            subjects: vec!["old".to_owned()],
            program: program(".global .s32 a = 7;"),
            ..Finding::default()
        };
        assert_eq!(mapped(&of("old"), &finding).unwrap().verdict.to_string(), "crash");
        assert_eq!(mapped(&of("other"), &finding).unwrap().verdict.to_string(), "conform");
    }
}
