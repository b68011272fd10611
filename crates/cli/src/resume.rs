//! `run --resume`: restores the arguments of a campaign from its folder.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches};
use ptxsmith_report::folder;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::SubjectSpec;

use crate::args::{Cli, Command};
use crate::exit::Failure;

/// Completes the arguments of `run --resume` with the arguments of the stored campaign, and returns them with
/// the complete command line. Arguments given now take precedence. Other commands are returned unchanged.
///
/// # Errors
/// If the folder contains no usable arguments.
pub fn completed(cli: Cli, matches: &ArgMatches, args: &[OsString]) -> Result<(Cli, Vec<String>), Failure> {
    let given: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    match (&cli.command, matches.subcommand()) {
        (Command::Run(run), Some((_, run_matches))) if run.resume => {
            let manifest = folder::read_manifest(&run.out);
            let manifest = manifest.map_err(|error| Failure::BadInput(error.to_string()))?;
            match manifest {
                Some(manifest) => merged_arguments(&manifest.command_line, cli, run_matches),
                None => Ok((cli, given)),
            }
        }
        _ => Ok((cli, given)),
    }
}

/// Options that apply to this invocation and are never restored from the campaign.
const OF_NOW: [&str; 8] = ["jobs", "quiet", "color", "config", "out", "resume", "replace", "write_expected"];

/// The options that limit a campaign. If either is given, neither is restored.
const BUDGET: [&str; 2] = ["cases", "time"];

/// Merges the arguments of an earlier `run` with the arguments that were given now.
fn merged_arguments(earlier: &[String], now: Cli, given: &ArgMatches) -> Result<(Cli, Vec<String>), Failure> {
    let Command::Run(run_now) = now.command else { unreachable!("only run is resumed") };
    let name = line(&run_now.out.join(folder::MANIFEST).to_string_lossy()).into_owned();
    let kept = Cli::command().try_get_matches_from(earlier).map_err(|_| unusable(&name))?;
    let kept = kept.subcommand_matches("run").ok_or_else(|| unusable(&name))?;
    let is_raised = BUDGET.iter().any(|id| is_given(given, id));
    if is_given(kept, "mutate") {
        return Err(Failure::BadInput(format!("{name} is of a campaign that cannot be resumed")));
    }
    let mut program = Cli::command();
    program.build();
    let mut merged: Vec<OsString> = vec!["ptxsmith".into(), "run".into()];
    for arg in run_arguments(&program) {
        let id = arg.get_id().as_str();
        let from = if is_kept(id, kept, given) { kept } else { given };
        if is_given(from, id) {
            merged.extend(written(arg, from));
        }
    }
    let matches = Cli::command().try_get_matches_from(merged).map_err(|_| unusable(&name))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|_| unusable(&name))?;
    let Command::Run(run) = &cli.command else { return Err(unusable(&name)) };
    if is_kept("subjects", kept, given) && run.campaign.subjects.iter().any(SubjectSpec::is_chosen_by_user) {
        only_ours(&run_now.out, &name)?;
    }
    let mut command_line = earlier.to_vec();
    if is_raised {
        let budget = run_arguments(&program).filter(|arg| BUDGET.contains(&arg.get_id().as_str()));
        let budget =
            budget.filter(|arg| is_given(given, arg.get_id().as_str())).flat_map(|arg| written(arg, given));
        command_line = without_budget(earlier);
        command_line.extend(budget.map(|word| word.to_string_lossy().into_owned()));
    }
    Ok((cli, command_line))
}

fn unusable(name: &str) -> Failure {
    Failure::BadInput(format!(
        "{name} keeps no arguments of `ptxsmith run` that this version takes; give them all"
    ))
}

/// Returns true if an option is restored from the campaign.
fn is_kept(id: &str, kept: &ArgMatches, given: &ArgMatches) -> bool {
    if OF_NOW.contains(&id) || is_given(given, id) {
        return false;
    }
    let is_raised = BUDGET.contains(&id) && BUDGET.iter().any(|id| is_given(given, id));
    !is_raised && is_given(kept, id)
}

fn run_arguments(program: &clap::Command) -> impl Iterator<Item = &Arg> {
    program.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments)
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.try_contains_id(id).unwrap_or(false)
        && matches.value_source(id).is_some_and(|source| source == ValueSource::CommandLine)
}

/// Returns an option as command line arguments, repeated for each value.
fn written(arg: &Arg, matches: &ArgMatches) -> Vec<OsString> {
    let flag = OsString::from(format!("--{}", arg.get_long().expect("run has options alone")));
    if !arg.get_action().takes_values() {
        return vec![flag];
    }
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    values.flat_map(|value| [flag.clone(), value.to_owned()]).collect()
}

/// Returns a command line without `--cases` and `--time`.
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

/// Fails if other users may have written the manifest, because it names programs to run.
fn only_ours(out: &Path, name: &str) -> Result<(), Failure> {
    let uid = std::fs::metadata("/proc/self").map(|metadata| metadata.uid());
    let file = std::fs::metadata(out.join(folder::MANIFEST));
    match (uid, file) {
        (Ok(uid), Ok(file)) if file.uid() == uid && file.mode() & 0o022 == 0 => Ok(()),
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
        merged_arguments(&words(earlier), cli, own).unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    #[test]
    fn what_is_not_given_is_that_of_the_campaign() {
        let earlier =
            "ptxsmith run --seed 3 --cases 70 --focus operands --subject ptxas@13.5 --out o --shard 1/2";
        let (cli, line) = resumed(earlier, "ptxsmith run --resume --out moved --jobs 7");
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!((run.campaign.work.seed, run.campaign.work.jobs.unwrap().get()), (3, 7));
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
        assert_eq!(cli.command.work().unwrap().seed, 5);
    }
}
