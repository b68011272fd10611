//! `--deny`: sets exit status 1 for results that are not new deviations.

use ptxsmith_report::{Report, Status};

use crate::exit::Exit;
use crate::values::DeniedResult;

/// Returns the denied kinds of results that occur in a report.
pub fn denied_results(report: &Report, denied: &[DeniedResult]) -> Vec<DeniedResult> {
    let mut results = denied.to_vec();
    results.retain(|result| match result {
        DeniedResult::Known => report.findings.iter().any(|finding| finding.status == Status::Known),
        // Programs compared by outcome only count as uncompared, because none of their values was compared.
        DeniedResult::Uncompared => {
            report.not_compared.values().any(|&count| count > 0)
                || report.subjects.iter().any(|subject| subject.compared_by_outcome > 0)
        }
    });
    results
}

/// Returns the exit status of a command if these denied results occurred. They take precedence over "nothing
/// was compared", and in a campaign over a file that could not be read; other bad input and failures take
/// precedence over them.
pub fn status(exit: Exit, results: &[DeniedResult]) -> Exit {
    match exit {
        Exit::Success | Exit::NothingCompared if !results.is_empty() => Exit::Deviation,
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
        let both = [DeniedResult::Known, DeniedResult::Uncompared];
        assert_eq!(denied_results(&report(vec![], 0, 0), &both), []);
        assert_eq!(denied_results(&report(known(), 0, 0), &both), [DeniedResult::Known]);
        assert_eq!(denied_results(&report(known(), 2, 0), &[]), []);
        assert_eq!(
            denied_results(&report(known(), 2, 0), &[DeniedResult::Uncompared]),
            [DeniedResult::Uncompared]
        );
        assert_eq!(denied_results(&report(vec![], 0, 1), &both), [DeniedResult::Uncompared]);
        assert_eq!(status(Exit::Success, &[DeniedResult::Known]), Exit::Deviation);
        assert_eq!(status(Exit::NothingCompared, &[DeniedResult::Uncompared]), Exit::Deviation);
        assert_eq!(status(Exit::BadInput, &[DeniedResult::Known]), Exit::BadInput);
        assert_eq!(status(Exit::NothingCompared, &[]), Exit::NothingCompared);
    }
}
