//! Compares the results of all releases for the program of a finding.

use ptxsmith_diff::{NotCompared, PartVerdict, Verdict};
use ptxsmith_report::Finding;
use ptxsmith_report::releases::{ProgramVerdict, ReleaseVerdict};
use ptxsmith_syntax::parse;

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::PendingFinding;
use crate::pool;
use crate::subjects::TestSubject;

/// The most findings to compare.
const MOST: usize = 200;

/// Runs the program of each finding on every subject, if there are several.
pub(super) fn map_releases(campaign: &Campaign<'_>, findings: &mut [PendingFinding]) -> Result<(), Failure> {
    if campaign.subjects.len() < 2 {
        return Ok(());
    }
    let programs: Vec<(&TestSubject, &Finding)> = (findings.iter().take(MOST))
        .flat_map(|found| campaign.subjects.iter().map(move |tested| (tested, &found.finding)))
        .collect();
    let verdicts = pool::map(campaign.session, &programs, |(tested, finding)| {
        Ok(judged(tested, finding.least_program())?.0)
    })?;
    for (found, verdicts) in findings.iter_mut().zip(verdicts.chunks(campaign.subjects.len())) {
        found.finding.releases = verdicts.iter().flatten().cloned().collect();
    }
    Ok(())
}

/// Judges a program as it stands. Returns the verdict and its parts: the class of the first deviation, that
/// the program conforms, or the reason why nothing was compared.
pub(crate) fn judged(
    tested: &TestSubject,
    program: &str,
) -> Result<(ReleaseVerdict, Vec<PartVerdict>), Failure> {
    let description = tested.subject.description();
    let mut release = ReleaseVerdict {
        subject: description.id.clone(),
        version: description.version.clone().unwrap_or_default(),
        verdict: ProgramVerdict::NotCompared("not-parsed".to_owned()),
    };
    let Ok(module) = parse(program) else { return Ok((release, Vec::new())) };
    let parts = judge(&*tested.subject, &tested.rules, &module, program).map_err(of_subject)?.parts();
    release.verdict = program_verdict(&parts);
    Ok((release, parts))
}

fn program_verdict(parts: &[PartVerdict]) -> ProgramVerdict {
    let deviation = parts.iter().find_map(|part| match &part.verdict {
        Verdict::Deviates(difference) => Some(difference.class),
        _ => None,
    });
    if let Some(class) = deviation {
        return ProgramVerdict::Deviates(class);
    }
    if parts.iter().any(PartVerdict::is_compared) {
        return ProgramVerdict::Conforms;
    }
    let reason = parts.iter().find_map(|part| match &part.verdict {
        Verdict::NotCompared(reason) => Some(*reason),
        _ => None,
    });
    ProgramVerdict::NotCompared(reason.unwrap_or(NotCompared::Unobserved).name().to_owned())
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::known::KNOWN;
    use ptxsmith_subject::{Address, FnSubject, Observation, Outcome, Output, Request, Variable};

    use super::*;

    /// Accepts every program, and stores an address at this offset from `a` in the output buffer of each
    /// kernel.
    fn leaves(addend: i64) -> TestSubject {
        TestSubject::new(Box::new(FnSubject::new("fake", move |request: &Request<'_>| {
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
        let said = |addend| judged(&leaves(addend), known.example).unwrap().0.verdict.to_string();
        assert_eq!(said(-8), "conform");
        assert_eq!(said((1 << 32) - 8), "wrong-address");
    }

    /// A release that does not support the version rejects the program, or crashes on it, as with `check`.
    #[test]
    fn every_release_is_shown_a_program_as_it_stands() {
        use crate::campaign::fake::{described, program};
        use ptxsmith_subject::Description;

        let of = |outcome| {
            let max_ptx = Some("7.5".to_owned());
            let old = Description { id: "old".to_owned(), max_ptx, ..Description::default() };
            let tested = described(old, move |_| Observation::new(outcome));
            judged(&tested, &program(".global .s32 a = 7;")).unwrap().0.verdict.to_string()
        };
        assert_eq!(of(Outcome::Refused), "unsupported");
        assert_eq!(of(Outcome::Crashed), "crash");
    }
}
