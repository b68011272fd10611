//! Merges the shards of a campaign.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ptxsmith_oracle::Rules;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::{FnSubject, Observation, Request, Subject, SubjectSpec, parse_spec};

use crate::campaign::{Campaign, CampaignOutcome};
use crate::cases::{answers_of, generator_of};
use crate::failure::Failure;
use crate::pool::Completion;
use crate::session::Session;
use crate::store::{self, CampaignState, ExistingCampaign};
use crate::subjects::{TestSubject, open_subjects};

/// The options of a merge.
pub struct MergeOptions {
    /// The directories of the shards.
    pub directories: Vec<PathBuf>,
    /// The output directory.
    pub out: PathBuf,
    /// Whether to remove the campaign in `out`, if there is one.
    pub replace: bool,
    /// Whether shards may be missing or unfinished.
    pub partial: bool,
    /// The user's own programs among the subjects that may be run again.
    pub subjects: Vec<SubjectSpec>,
}

/// Merges shards. The result is identical, byte for byte, to the result of the undivided campaign.
///
/// # Errors
/// If a shard is missing, duplicated or unfinished (unless that is allowed), or belongs to another build,
/// seed or subject.
pub fn merge(session: &Session, options: &MergeOptions) -> Result<CampaignOutcome, Failure> {
    for directory in &options.directories {
        if is_same_directory(directory, &options.out) {
            return Err(Failure::BadInput(format!(
                "{} is to be merged; give another --out",
                name(directory)
            )));
        }
    }
    let (shards, first) = read_shards(&options.directories)?;
    let Some((_, identity, count)) = first else {
        return Err(Failure::BadInput("there is nothing to merge".to_owned()));
    };
    let gaps = gaps(&shards, count);
    if !gaps.is_empty() {
        let gaps = gaps.join("; ");
        if !options.partial {
            return Err(Failure::BadInput(format!(
                "not every shard is there and done; {gaps}; run them, with --resume where they were begun, \
                 or merge what there is with --partial"
            )));
        }
        session.events.note(&format!("merged without all shards; {gaps}"));
    }
    let wide = shards.values().any(|(_, state)| state.wide);
    let directories: Vec<&Path> = shards.values().map(|(directory, _)| *directory).collect();
    let states: Vec<CampaignState> = shards.into_values().map(|(_, state)| state).collect();
    let subjects =
        states[0].subjects.iter().map(|kept| tested(session, &kept.description, &options.subjects));
    let mut subjects = subjects.collect::<Result<Vec<TestSubject>, Failure>>()?;
    let answers = answers_of(&identity.options);
    subjects.iter_mut().for_each(|tested| tested.rules = Rules::answered(&answers));
    let earlier = if options.replace { ExistingCampaign::Replace } else { ExistingCampaign::RefuseResumable };
    let out = Some(options.out.clone());
    let mut campaign = Campaign::new(session, "run", "cases", subjects, out, earlier)?;
    campaign.seed = identity.seed;
    campaign.answers = answers;
    campaign.generator = generator_of(&identity.options, wide)?;
    campaign.adopt(&states, gaps.is_empty())?;
    store::merge_verdicts(&directories, &options.out)?;
    campaign.finish(Completion::All)
}

/// Returns true if both paths lead to the same existing directory.
fn is_same_directory(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Formats a path for messages.
fn name(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

/// The shards of a campaign, by number.
type Shards<'p> = BTreeMap<u64, (&'p Path, CampaignState)>;

/// The directory of the first shard, the settings of its campaign, and the number of shards.
type Whole<'p> = (&'p Path, store::Identity, u64);

/// Reads the shards in these directories. Also returns the campaign that the first one belongs to.
fn read_shards(directories: &[PathBuf]) -> Result<(Shards<'_>, Option<Whole<'_>>), Failure> {
    let mut shards = Shards::new();
    let mut first: Option<Whole<'_>> = None;
    for directory in directories {
        let state = CampaignState::read(directory)?.ok_or_else(|| {
            Failure::BadInput(format!("{} holds no campaign of `ptxsmith run`", name(directory)))
        })?;
        match &first {
            None => first = Some((directory, state.identity.clone(), state.shard.of)),
            Some((other, identity, count)) => {
                let mut difference = identity.difference(&state.identity);
                if difference.is_none() && *count != state.shard.of {
                    let setting = "number of shards".to_owned();
                    difference = Some((setting, count.to_string(), state.shard.of.to_string()));
                }
                if let Some((setting, ours, theirs)) = difference {
                    return Err(Failure::BadInput(format!(
                        "{} and {} are not of one campaign: their {setting} is `{ours}` and `{theirs}`",
                        name(other),
                        name(directory)
                    )));
                }
            }
        }
        let shard = state.shard;
        if let Some((other, _)) = shards.insert(shard.number, (directory, state)) {
            return Err(Failure::BadInput(format!(
                "{} and {} are both shard {shard}; give one of them",
                name(other),
                name(directory)
            )));
        }
    }
    Ok((shards, first))
}

/// Lists the missing and the unfinished shards of a campaign.
fn gaps(shards: &Shards<'_>, count: u64) -> Vec<String> {
    // Each shard is one of `count`, so there are few gaps between those present, however large `count` is.
    let missing = missing(shards.keys().copied(), count);
    let unfinished: Vec<String> = shards
        .values()
        .filter(|(_, state)| !state.complete)
        .map(|(directory, state)| format!("{} ({})", state.shard, name(directory)))
        .collect();
    let mut gaps = Vec::new();
    if !missing.is_empty() {
        gaps.push(format!("missing: {}", missing.join(", ")));
    }
    if !unfinished.is_empty() {
        gaps.push(format!("unfinished: {}", unfinished.join(", ")));
    }
    gaps
}

/// Returns the numbers from 1 to `count` that are not among these, in order, with consecutive ones as a
/// range.
fn missing(present: impl Iterator<Item = u64>, count: u64) -> Vec<String> {
    let mut before = 0;
    let mut missing = Vec::new();
    for number in present.map(Some).chain([None]) {
        // The missing numbers lie between two that are present.
        let end = number.map_or(count, |number| number - 1);
        match end - before {
            0 => {}
            1 => missing.push(format!("{end}/{count}")),
            _ => missing.push(format!("{}/{count} to {end}/{count}", before + 1)),
        }
        before = number.unwrap_or(count);
    }
    missing
}

/// Reopens the subject for the final checks, if its hash is the recorded one. A user's own command must also
/// be in `allowed`, because shards may come from anywhere. Otherwise returns an unavailable stand-in with the
/// recorded description: its findings stay as they are.
fn tested(
    session: &Session,
    description: &ptxsmith_subject::Description,
    allowed: &[SubjectSpec],
) -> Result<TestSubject, Failure> {
    let spec = parse_spec(&description.id);
    // Shards may come from anywhere, and may name programs that must not be run.
    if let Ok(spec) = spec
        && (!spec.is_chosen_by_user() || allowed.contains(&spec))
        && let Ok(mut opened) = open_subjects(session, &[spec], None)
        && opened.len() == 1
        && opened[0].subject.description().sha256 == description.sha256
    {
        return Ok(opened.remove(0));
    }
    session.events.note(&format!(
        "{} is not here as it was tested, or not to be run (--subject): its findings stay as the shards have \
         them",
        line(&description.id)
    ));
    let absent = FnSubject::new(description.id.clone(), |_: &Request<'_>| {
        Observation::because(ptxsmith_subject::Outcome::Unavailable, "not here while merging")
    });
    let subject: Box<dyn Subject> = Box::new(absent.described(description.clone()));
    Ok(TestSubject::new(subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_named_without_counting_to_the_last() {
        let named = |there: &[u64], of| missing(there.iter().copied(), of);
        assert_eq!(named(&[1, 2, 3], 3), Vec::<String>::new());
        assert_eq!(named(&[2], 4), ["1/4", "3/4 to 4/4"]);
        assert_eq!(named(&[1, 3], 4), ["2/4", "4/4"]);
        let most = u64::MAX;
        assert_eq!(named(&[1, most], most), [format!("2/{most} to {}/{most}", most - 1)]);
    }

    #[cfg(unix)]
    #[test]
    fn what_shards_tested_is_run_once_more_only_where_the_user_names_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("implementation");
        std::fs::write(&program, "#!/bin/sh\n[ \"$1\" = --describe ] || echo '{\"outcome\": \"refused\"}'\n")
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let spec = parse_spec(&format!("exec:{}", program.display())).unwrap();
        let (session, notes) = session();
        let opened = open_subjects(&session, std::slice::from_ref(&spec), None).unwrap();
        let description = opened[0].subject.description();
        let outcome = |description: &ptxsmith_subject::Description, allowed: &[SubjectSpec]| {
            let tested = tested(&session, description, allowed).unwrap();
            assert_eq!(tested.subject.id(), description.id);
            let seen =
                tested.subject.observe(&Request::new(".version 7.8\n.target sm_80\n", "sm_80")).unwrap();
            let noted = std::mem::take(&mut *crate::pool::lock_of(&notes));
            (seen.outcome == ptxsmith_subject::Outcome::Unavailable, noted.len())
        };
        // Whether it is missing, and the number of notes about that.
        assert_eq!(outcome(description, std::slice::from_ref(&spec)), (false, 0));
        assert_eq!(outcome(description, &[]), (true, 1));
        let other = ptxsmith_subject::Description { sha256: Some("0".repeat(64)), ..description.clone() };
        assert_eq!(outcome(&other, &[spec]), (true, 1));
    }

    /// Returns a session and the notes that it receives.
    fn session() -> (Session, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
        #[derive(Default)]
        struct Notes(std::sync::Arc<std::sync::Mutex<Vec<String>>>);
        impl crate::session::Events for Notes {
            fn note(&self, message: &str) {
                crate::pool::lock_of(&self.0).push(message.to_owned());
            }
        }
        let notes = Notes::default();
        let told = std::sync::Arc::clone(&notes.0);
        let session = Session {
            jobs: std::num::NonZeroUsize::MIN,
            seed: 0,
            command_line: Vec::new(),
            cancel: ptxsmith_subject::Cancel::new(),
            libcuda: None,
            start: ptxsmith_subject::process::Start::Spawn,
            workers: None,
            limit: None,
            events: Box::new(notes),
            expected: Default::default(),
            known: Vec::new(),
            answers: Vec::new(),
        };
        (session, told)
    }
}
