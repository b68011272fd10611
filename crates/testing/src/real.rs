//! Real implementations, for tests that run where they are installed.

use std::time::Duration;

use ptxsmith_subject::{Limits, OpenOptions, Subject, open, parse_spec};

/// Opens a subject with generated code that can be listed. Prints NOT TESTED if the subject or nvdisasm is
/// not installed.
///
/// # Panics
/// If the name is no subject.
pub fn showing_code(name: &str) -> Option<Box<dyn Subject>> {
    // Modules of tests are large, and other tests run beside them.
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let opened = open(&parse_spec(name).expect("it is a subject"), &options).unwrap_or_default();
    let subject = opened.into_iter().next().filter(|subject| subject.shows_code());
    if subject.is_none() {
        eprintln!("NOT TESTED: {name} and nvdisasm are not installed");
    }
    subject
}
