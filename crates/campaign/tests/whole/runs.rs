//! Whole campaigns of generated cases: what they count.

use crate::common::{implementation, run_cases};
use ptxsmith_gen::Focus;
use ptxsmith_testing::right;

#[test]
fn of_a_conforming_implementation_everything_is_counted_and_nothing_found() {
    let out = tempfile::tempdir().unwrap();
    let (outcome, told) = run_cases(7, &[implementation("right", right)], Focus::Mixed, 2_000, out.path());
    let report = outcome.report;
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert!(report.complete && outcome.resumable && !outcome.interrupted && !outcome.left_out);
    assert_eq!(report.conform, report.compared);
    let not_compared: u64 = report.not_compared.values().sum();
    assert_eq!(report.compared + not_compared, 2_000);
    assert!(report.compared > 1_900, "{}", report.compared);
    assert_eq!(told.begun, [("cases".to_owned(), Some(2_000))]);
    assert_eq!((told.done, &*told.said), (2_000, "0 deviate, 0 new"));
}
