//! What every release does with the program of a finding.

use ptxsmith_diff::{Verdict, judge_program};
use ptxsmith_oracle::Rules;
use ptxsmith_report::releases::ReleaseVerdict;
use ptxsmith_syntax::{Item, Module, Name, parse, print};

use super::{Campaign, Found};
use crate::failure::Failure;
use crate::judges::of_subject;
use crate::pool;
use crate::subjects::{Tested, target_for};

/// The most findings of which a map is made.
const MOST: usize = 200;

impl Campaign<'_> {
    /// Shows the program of each finding to every subject, where there are several.
    pub(super) fn map_releases(&self, findings: &mut [Found]) -> Result<(), Failure> {
        if self.subjects.len() < 2 {
            return Ok(());
        }
        let programs: Vec<(&Tested, &str)> = (findings.iter().take(MOST))
            .map(|found| found.reduced.as_ref().map_or(&*found.program, |reduced| &*reduced.program))
            .flat_map(|program| self.subjects.iter().map(move |tested| (tested, program)))
            .collect();
        let verdicts = pool::map(self.session, &programs, |(tested, program)| verdict(tested, program))?;
        for (found, verdicts) in findings.iter_mut().zip(verdicts.chunks(self.subjects.len())) {
            found.releases = verdicts.iter().flatten().cloned().collect();
        }
        Ok(())
    }
}

/// What a subject does with a program, in a word: the class of a deviation, `conform`, or why nothing was compared. A
/// program in a later version than the subject takes is shown in the latest that it does.
fn verdict(tested: &Tested, program: &str) -> Result<ReleaseVerdict, Failure> {
    let description = tested.subject.description();
    let told = |verdict: &str| ReleaseVerdict {
        subject: description.id.clone(),
        version: description.version.clone().unwrap_or_default(),
        verdict: verdict.to_owned(),
    };
    let Ok(mut module) = parse(program) else { return Ok(told("not-parsed")) };
    let mut text = program.to_owned();
    if !tested.takes_version_of(&module) {
        text = in_version(&mut module, &tested.header.version);
    }
    let target = target_for(&module, description);
    let parts = judge_program(tested.subject_for(&module), &Rules::default(), &module, &text, &target);
    let parts = parts.map_err(of_subject)?;
    let deviation = parts.iter().find_map(|part| match &part.verdict {
        Verdict::Deviates(difference) => Some(difference.class.name()),
        _ => None,
    });
    let conforms = |verdict: &Verdict| {
        matches!(verdict, Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_))
    };
    let untold = parts.iter().find_map(|part| match &part.verdict {
        Verdict::NotCompared(reason) => Some(reason.name()),
        _ => None,
    });
    Ok(told(match deviation {
        Some(class) => class,
        None if parts.iter().any(|part| conforms(&part.verdict)) => "conform",
        None => untold.unwrap_or("unobserved"),
    }))
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
