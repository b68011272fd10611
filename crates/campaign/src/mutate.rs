//! Runs programs made by editing the tokens of existing ones.

use std::path::PathBuf;

use ptxsmith_gen::RawEdits;

use crate::campaign::{CampaignOutcome, ProgramSource};
use crate::failure::Failure;
use crate::input::read_text;
use crate::session::Session;
use crate::texts::{TextOptions, TextSource, judge_texts};

/// The number of programs if neither a number nor a time is given.
const CASES: u64 = 20_000;

/// Runs edits of these files on the subjects. Reports and skips files that cannot be read or split into
/// tokens.
///
/// # Errors
/// If there is nothing to edit, no subject can be opened, or this machine or our code fails.
pub fn mutate(
    session: &Session,
    files: &[PathBuf],
    options: TextOptions,
) -> Result<CampaignOutcome, Failure> {
    let mut texts = Vec::new();
    for file in files {
        let text = read_text(file).and_then(|(name, text)| match ptxsmith_syntax::tokens(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(Failure::Rendered(error.render(&name, &text))),
        });
        match text {
            Ok(text) => texts.push(text),
            Err(failure) => session.events.left_out(&failure),
        }
    }
    let left_out = texts.len() < files.len();
    let edits = RawEdits::new(texts.iter().map(|text| &**text)).ok().filter(|edits| !edits.is_empty());
    let edits = edits.ok_or_else(|| Failure::BadInput("--mutate: no program there to edit".into()))?;
    let make = |number| ProgramSource {
        path: format!("--mutate, seed {}, edit {number}", session.seed),
        text: edits.case(session.seed, number),
    };
    let texts = TextSource { command: "mutate", unit: "programs", count: None, make: &make };
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let (outcome, _) = judge_texts(session, &TextOptions { cases, ..options }, &texts)?;
    Ok(CampaignOutcome { left_out, ..outcome })
}
