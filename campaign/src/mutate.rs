//! Raw edits of programs that exist: whatever the text, a subject must not die of it, hang or eat memory. What is accepted
//! and parsed is judged like any other program.

use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_diff::{Class, Header, Part, Verdict};
use ptxsmith_gen::RawEdits;
use ptxsmith_subject::SubjectSpec;

use crate::campaign::{Campaign, Outcome, Source};
use crate::failure::{Failure, of_subject};
use crate::input::read_text;
use crate::judges::{Entry, judge, trial_of};
use crate::pool::{Budget, each};
use crate::session::Session;
use crate::subjects::{ensure_disassembler, open_subjects};

/// How many programs are made where neither a number nor a time is given.
const CASES: u64 = 20_000;

/// What is edited, who is shown it, and how long.
pub struct Options {
    /// The programs that are edited.
    pub files: Vec<PathBuf>,
    /// The implementations; none for the default one.
    pub subjects: Vec<SubjectSpec>,
    /// How long one may take for one program.
    pub timeout: Option<Duration>,
    /// So many programs.
    pub cases: Option<u64>,
    /// After this time no further program is begun.
    pub time: Option<Duration>,
    /// Where report and findings go.
    pub out: PathBuf,
}

/// Shows edited programs to the subjects. What cannot be read, or split into tokens, is told and left out.
///
/// # Errors
/// If there is nothing to edit, no subject can be opened, or this machine or our code fails.
pub fn mutate(session: &Session, options: Options) -> Result<Outcome, Failure> {
    let mut texts = Vec::new();
    for file in &options.files {
        let text = read_text(file).and_then(|(name, text)| match ptxsmith_syntax::tokens(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(Failure::Rendered(error.render(&name, &text))),
        });
        match text {
            Ok(text) => texts.push(text),
            Err(failure) => session.events.left_out(&failure),
        }
    }
    let left_out = texts.len() < options.files.len();
    let edits = RawEdits::new(texts.iter().map(|text| &**text)).ok().filter(|edits| !edits.is_empty());
    let edits = edits.ok_or_else(|| Failure::BadInput("--mutate: no program there to edit".into()))?;
    ensure_disassembler(session)?;
    let subjects = open_subjects(session, &options.subjects, options.timeout)?;
    let campaign = Campaign::new(session, "mutate", "programs", subjects, Some(options.out))?;
    let cases = options.cases.or(options.time.is_none().then_some(CASES));
    let budget = Budget { tasks: cases, time: options.time, units: cases, ..Budget::default() };
    let ended = each(session, budget, campaign.unit, |index, work| {
        judge_edited(&campaign, index, edits.case(session.seed, index))?;
        work.done(1);
        work.say(format!("{} deviate", campaign.deviations()));
        Ok(())
    });
    let outcome = campaign.end(ended)?;
    Ok(Outcome { left_out, ..outcome })
}

fn judge_edited(campaign: &Campaign<'_>, index: u64, text: String) -> Result<(), Failure> {
    let parsed = ptxsmith_syntax::parse(&text);
    let is_read = parsed.is_ok();
    let module = parsed.unwrap_or_default();
    let (trial, header) = (trial_of(index, &module), Header::of(&module));
    let path = format!("--mutate, seed {}, edit {index}", campaign.seed);
    let source = Source { path, text };
    for tested in &campaign.subjects {
        let parts = judge(&*tested.subject, &module, &source.text).map_err(of_subject)?.parts();
        // Of a text that is no sequence of statements nothing can be said but that nobody may die of it. What was derived from an
        // edited program says nothing that the campaigns of whole programs do not say.
        let counts = |part: &Part| part.derived.is_none() && (is_read || died(part));
        let entries = parts.into_iter().filter(counts);
        let entry = |part: Part| Entry { trial: &trial, header: &header, judged: part.judged(index) };
        campaign.enter(tested, entries.map(entry), Some(&source))?;
    }
    Ok(())
}

fn died(part: &Part) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if matches!(difference.class, Class::Crash | Class::Hang))
}
