//! `--deny`: sets exit status 1 for results that are not new deviations.

use ptxsmith_report::{Report, Status};

use crate::exit::Exit;
use crate::values::Deny;

/// Returns the denied kinds of results that occur in a report.
pub fn shown(report: &Report, denied: &[Deny]) -> Vec<Deny> {
    let shows = |deny: &Deny| match deny {
        Deny::Known => report.findings.iter().any(|found| found.status == Status::Known),
        // Programs compared by outcome only count as uncompared, because none of their values was compared.
        Deny::Uncompared => {
            report.not_compared.values().any(|&count| count > 0)
                || report.subjects.iter().any(|subject| subject.compared_by_outcome > 0)
        }
    };
    denied.iter().copied().filter(shows).collect()
}

/// Returns the exit status of a command if these denied results occurred. A denied result takes precedence over
/// "nothing was compared"; bad input and failures take precedence over a denied result.
pub fn status(exit: Exit, shown: &[Deny]) -> Exit {
    match exit {
        Exit::Success | Exit::NothingCompared if !shown.is_empty() => Exit::Deviation,
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_report::{Finding, SubjectResults};

    use super::*;

    #[test]
    fn what_is_denied_is_status_1_where_it_shows_and_nowhere_else() {
        let known = || vec![Finding { status: Status::Known, ..Finding::default() }];
        let report = |findings, count: u64, compared_by_outcome| {
            let text = r#"{"schema": "ptxsmith.report/1", "subjects": [], "compared": 0, "conform": 0, "not_compared": {}, "findings": []}"#;
            let mut report: Report = serde_json::from_str(text).unwrap();
            report.findings = findings;
            report.not_compared.insert("unobserved".to_owned(), count);
            report.subjects.push(SubjectResults { compared_by_outcome, ..SubjectResults::default() });
            report
        };
        let both = [Deny::Known, Deny::Uncompared];
        assert_eq!(shown(&report(vec![], 0, 0), &both), []);
        assert_eq!(shown(&report(known(), 0, 0), &both), [Deny::Known]);
        assert_eq!(shown(&report(known(), 2, 0), &[]), []);
        assert_eq!(shown(&report(known(), 2, 0), &[Deny::Uncompared]), [Deny::Uncompared]);
        assert_eq!(shown(&report(vec![], 0, 1), &both), [Deny::Uncompared]);
        assert_eq!(status(Exit::Success, &[Deny::Known]), Exit::Deviation);
        assert_eq!(status(Exit::NothingCompared, &[Deny::Uncompared]), Exit::Deviation);
        assert_eq!(status(Exit::BadInput, &[Deny::Known]), Exit::BadInput);
        assert_eq!(status(Exit::NothingCompared, &[]), Exit::NothingCompared);
    }
}
