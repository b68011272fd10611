//! Conforming variables of a user's files contradict wrong rules that would explain differences elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptxsmith_diff::{Implementation, PartVerdict, Verdict, hypothesis};

use crate::pool::lock_of;
use crate::subjects::TestSubject;

/// The most files that are kept.
const MOST_FILES: u64 = 500;
/// The maximum size in bytes of a file that is kept. Each suspected rule evaluates all of it.
const MOST_BYTES: usize = 16 << 10;

/// The small files of a check with the variables that conform, by number of the file and index of the subject.
#[derive(Default)]
pub struct ConformingFiles(Mutex<BTreeMap<(u64, usize), ConformingFile>>);

struct ConformingFile {
    text: String,
    variables: Vec<String>,
}

impl ConformingFiles {
    /// Keeps a file if any of its variables conforms. Which files are kept does not depend on their order.
    pub fn keep(&self, number: u64, subject: usize, text: &str, parts: &[PartVerdict]) {
        let conforming =
            parts.iter().filter(|part| part.verdict == Verdict::Conforms && part.derived.is_none());
        let variables: Vec<String> =
            conforming.filter_map(|part| part.variable.as_ref().map(ToString::to_string)).collect();
        if number < MOST_FILES && text.len() <= MOST_BYTES && !variables.is_empty() {
            let file = ConformingFile { text: text.to_owned(), variables };
            lock_of(&self.0).insert((number, subject), file);
        }
    }

    /// Records in the ledgers which suspected rules the conforming variables contradict.
    pub fn contradict(self, subjects: &[TestSubject]) {
        for (index, tested) in subjects.iter().enumerate() {
            let mut ledger = tested.ledger();
            let suspected = ledger.suspected_rules();
            if suspected.is_empty() {
                continue;
            }
            let implementation = Implementation::from_description(tested.subject.description());
            let files = lock_of(&self.0);
            for (_, file) in files.iter().filter(|((_, subject), _)| *subject == index) {
                let Ok(module) = ptxsmith_syntax::parse(&file.text) else { continue };
                let rules = (&tested.rules, implementation);
                for id in hypothesis::contradicted(&module, &file.variables, &suspected, rules) {
                    ledger.contradict(id);
                }
            }
        }
    }
}
