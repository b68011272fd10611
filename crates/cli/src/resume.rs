//! `run --resume`: the arguments of a campaign that its folder keeps.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use ptxsmith_report::folder;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::SubjectSpec;

use crate::args::{Cli, Command, Run};
use crate::exit::Failure;

/// The arguments that a command runs with, and the command line that has them all. Those of `run --resume` that were not given
/// are those of the campaign that is gone on with.
///
/// # Errors
/// If the folder keeps no arguments that can be used.
pub fn completed(cli: Cli, matches: &ArgMatches, args: &[OsString]) -> Result<(Cli, Vec<String>), Failure> {
    let given: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    match (&cli.command, matches.subcommand()) {
        (Command::Run(run), Some((_, own))) if run.resume => {
            let manifest = folder::read_manifest(&run.out);
            let manifest = manifest.map_err(|error| Failure::BadInput(error.to_string()))?;
            match manifest {
                Some(manifest) => gone_on_with(&manifest.command_line, cli, own),
                None => Ok((cli, given)),
            }
        }
        _ => Ok((cli, given)),
    }
}

/// These arguments of `run`, but for those that were given now.
fn gone_on_with(earlier: &[String], now: Cli, given: &ArgMatches) -> Result<(Cli, Vec<String>), Failure> {
    let is_given =
        |id: &str| given.value_source(id).is_some_and(|source| source != ValueSource::DefaultValue);
    let Command::Run(own) = now.command else { unreachable!("only run is gone on with") };
    let name = line(&own.out.join(folder::MANIFEST).to_string_lossy()).into_owned();
    let matches = Cli::command().try_get_matches_from(earlier);
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let (mut cli, run) = match parsed.map(|cli| (cli.global, cli.command)) {
        Ok((global, Command::Run(run))) => (global, run),
        _ => {
            return Err(Failure::BadInput(format!(
                "{name} keeps no arguments of `ptxsmith run` that this version takes; give them all"
            )));
        }
    };
    // What is of this machine and this time, and of no campaign.
    let seed = if is_given("seed") { now.global.seed } else { cli.seed };
    let libcuda = now.global.libcuda.clone().or(cli.libcuda);
    let start = if is_given("start") { now.global.start } else { cli.start };
    cli = crate::args::Global { seed, libcuda, start, ..now.global };

    let mut campaign = run.campaign;
    let is_raised = own.campaign.cases.is_some() || own.campaign.time.is_some();
    if is_raised {
        (campaign.cases, campaign.time) = (own.campaign.cases, own.campaign.time);
    }
    campaign.timeout = own.campaign.timeout.or(campaign.timeout);
    campaign.expect_failures = own.campaign.expect_failures.or(campaign.expect_failures);
    campaign.write_expected = own.campaign.write_expected;
    if !own.campaign.known.is_empty() {
        campaign.known = own.campaign.known;
    }
    if !own.campaign.deny.is_empty() {
        campaign.deny = own.campaign.deny;
    }
    if !own.campaign.subjects.is_empty() {
        campaign.subjects = own.campaign.subjects;
    } else if campaign.subjects.iter().any(SubjectSpec::is_of_users_choosing) {
        only_ours(&own.out, &name)?;
    }
    let resumed = Run {
        campaign,
        focus: if is_given("focus") { own.focus } else { run.focus },
        by_case: run.by_case,
        cells: if own.cells.is_empty() { run.cells } else { own.cells },
        exhaustive: own.exhaustive.or(run.exhaustive),
        weights: own.weights.or(run.weights),
        mutate: run.mutate,
        reduce: own.reduce.or(run.reduce),
        shard: own.shard.or(run.shard),
        out: own.out,
        resume: true,
        replace: false,
    };
    if !resumed.mutate.is_empty() {
        return Err(Failure::BadInput(format!("{name} is of a campaign that cannot be gone on with")));
    }
    let budget = ["cases", "time"].into_iter().filter_map(|id| {
        let value = given.get_raw(id).filter(|_| is_given(id))?.next()?;
        Some([format!("--{id}"), value.to_string_lossy().into_owned()])
    });
    let command_line = match is_raised {
        true => without_budget(earlier).into_iter().chain(budget.flatten()).collect(),
        false => earlier.to_vec(),
    };
    Ok((Cli { global: cli, command: Command::Run(resumed) }, command_line))
}

/// A command line without the arguments that say how long a campaign goes on.
fn without_budget(command_line: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut args = command_line.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--cases" | "--time" => drop(args.next()),
            joined if joined.starts_with("--cases=") || joined.starts_with("--time=") => {}
            _ => kept.push(arg.clone()),
        }
    }
    kept
}

/// Fails where others may have written the file that names programs to run.
fn only_ours(out: &Path, name: &str) -> Result<(), Failure> {
    let own = std::fs::metadata("/proc/self").map(|own| own.uid());
    let file = std::fs::metadata(out.join(folder::MANIFEST));
    match (own, file) {
        (Ok(own), Ok(file)) if file.uid() == own && file.mode() & 0o022 == 0 => Ok(()),
        _ => Err(Failure::BadInput(format!(
            "{name} names programs to run, and others may write to it; name them with --subject"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_campaign::store::Shard;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn resumed(earlier: &str, now: &str) -> (Cli, Vec<String>) {
        let matches = Cli::command().try_get_matches_from(words(now)).unwrap();
        let cli = Cli::from_arg_matches(&matches).unwrap();
        let own = matches.subcommand_matches("run").unwrap();
        gone_on_with(&words(earlier), cli, own).unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    #[test]
    fn what_is_not_given_is_that_of_the_campaign() {
        let earlier =
            "ptxsmith run --seed 3 --cases 70 --focus operands --subject ptxas@13.5 --out o --shard 1/2";
        let (cli, line) = resumed(earlier, "ptxsmith run --resume --out moved --jobs 7");
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!((cli.global.seed, cli.global.jobs.unwrap().get()), (3, 7));
        assert_eq!((run.campaign.cases.unwrap().get(), run.campaign.subjects.len()), (70, 1));
        assert_eq!((run.focus.drawn().name(), run.shard), ("operands", Some(Shard { number: 1, of: 2 })));
        assert_eq!((run.out.to_str(), line), (Some("moved"), words(earlier)));
    }

    #[test]
    fn a_budget_replaces_that_of_the_campaign_and_is_kept() {
        let (cli, line) = resumed("ptxsmith run --cases=70 --seed 3", "ptxsmith run --resume --time 2m");
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!((run.campaign.cases, run.campaign.time.unwrap().as_secs()), (None, 120));
        assert_eq!(line, words("ptxsmith run --seed 3 --time 2m"));
    }

    #[test]
    fn what_is_given_is_taken() {
        let (cli, _) = resumed("ptxsmith run --seed 3", "ptxsmith run --resume --seed 5");
        assert_eq!(cli.global.seed, 5);
    }
}
