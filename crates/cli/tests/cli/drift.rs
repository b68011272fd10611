//! `drift`: the comparison, and the message if there is nothing to compare.

use crate::common::*;
use ptxsmith_subject::{OpenOptions, open, parse_spec};
use ptxsmith_testing::is_whole;

#[test]
fn one_release_is_not_compared_with_itself() {
    let output = ptxsmith().args(["drift", "--from", "13.5", "--to", "13.5"]).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("the same release, 13.5"), "{}", stderr(&output));
}

#[test]
fn a_corpus_of_which_nothing_can_be_read_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let drift = ["drift", "--from", "12.0", "--to", "13.5", "--corpus", "nowhere"];
    let missing = ptxsmith().args(drift).current_dir(directory.path()).output().unwrap();
    assert_eq!(status(&missing), 2);
    assert!(stderr(&missing).contains("nowhere: no such file"), "{}", stderr(&missing));
}

#[test]
fn the_corpus_is_built_in() {
    // Two releases on the whole corpus and on all that is listed take minutes; `drift` of implementations
    // made here is in crates/campaign/tests/whole/drifting.rs.
    if !is_whole() {
        eprintln!("NOT TESTED: drift of two releases, without `cargo xtask test --whole`");
        return;
    }
    for release in ["12.0", "13.5"] {
        let spec = parse_spec(&format!("ptxas@{release}")).unwrap();
        if let Err(unavailable) = open(&spec, &OpenOptions::default()) {
            eprintln!("NOT TESTED: drift: {unavailable}");
            return;
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let drift = ["drift", "-q", "--from", "12.0", "--to", "13.5", "--cases", "1"];
    let own = ptxsmith().args(drift).current_dir(directory.path()).output().unwrap();
    assert!(status(&own) == 0 && stdout(&own).contains("remainder-by-zero-crash"), "{}", stderr(&own));
    // Deviations that are listed for one of the two releases and occur in no program of the corpus.
    for id in ["sink-load-crash", "opaque-type-as-part-crash"] {
        assert!(stdout(&own).contains(&format!("deviation {id}")), "{id}: {}", stdout(&own));
    }
}
