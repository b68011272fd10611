//! Files of options: the one of `--config FILE`, with names for subjects and default options for each command,
//! and `ptxsmith.toml` of a project.
//!
//! The options of a file are inserted into the command line, behind the command, before clap parses it. An
//! option that the user wrote is left out. The options are therefore validated, and errors reported, as if
//! the user had typed them.
//!
//! ```toml
//! [subjects]
//! mine = "serve:./my-assembler --serve"
//!
//! [run]
//! subject = ["mine", "ptxas@13.5"]
//! time = "10m"
//! ```
//!
//! A project's file is found without being named, in the working directory or a folder above it. It comes with
//! the sources of others, so it may set only a few harmless options, and a note says which it adds.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::regular;
use serde::Deserialize;

use crate::args::Cli;

/// The name of a project's file.
const PROJECT_FILE: &str = "ptxsmith.toml";

/// The options that a project's file may set: answers, allowed deviations and formats, but no program, no
/// subject and no path.
const PROJECT_OPTIONS: [&str; 3] = ["allow", "format", "interpretation"];

/// The size in bytes up to which a project's file is read.
const MOST_OF_PROJECT: u64 = 1 << 20;

/// The contents of a file of options.
#[derive(Debug, Default, Deserialize)]
struct ConfigFile {
    /// Subject specifications by name.
    #[serde(default)]
    subjects: BTreeMap<String, String>,
    /// The options of each command, by their long names.
    #[serde(flatten)]
    commands: BTreeMap<String, BTreeMap<String, OptionValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OptionValue {
    Flag(bool),
    Number(i64),
    Text(String),
    Several(Vec<String>),
}

/// Returns the command line with the options of the `--config` file, if there is one.
pub fn completed(args: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let Some(path) = path_of(&args) else { return Ok(args) };
    let completed = read_config(&path).and_then(|config| complete(args, &config));
    completed.map_err(|message| error_in(&format!("--config {}", path.to_string_lossy()), &message))
}

/// Returns the command line with the options of the project's file for its command, and a note that says
/// which these are. The result is unchanged, without a note, if there is none or the user asks for help.
pub fn completed_by_project(args: Vec<OsString>) -> Result<(Vec<OsString>, Option<String>), clap::Error> {
    let asks_for_help = args.iter().any(|arg| arg == "--help" || arg == "-h");
    let folder = std::env::current_dir().unwrap_or_default();
    let Some(path) = project_file(&folder).filter(|_| !asks_for_help) else { return Ok((args, None)) };
    let path_text = path.to_string_lossy();
    let name = line(&path_text);
    let file = read_project(&path).map_err(|message| error_in(&name, &message))?;
    let added = added_options(&args, &file).map(|(_, options)| options.join(&OsString::from(" ")));
    let completed = complete(args, &file).map_err(|message| error_in(&name, &message))?;
    let added = added.filter(|options| !options.is_empty());
    Ok((completed, added.map(|options| format!("{name} adds {}", line(&options.to_string_lossy())))))
}

fn error_in(file: &str, message: &str) -> clap::Error {
    Cli::command().error(ErrorKind::ValueValidation, format!("{file}: {message}"))
}

/// Returns the path of the project's file, which is in this folder or the nearest one above it that has one.
fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|path| path.symlink_metadata().is_ok())
}

/// Reads a project's file, which must not be a link and must not set more than it may.
fn read_project(path: &Path) -> Result<ConfigFile, String> {
    let bytes = regular::read(path, MOST_OF_PROJECT).map_err(|error| error.to_string())?;
    let file: ConfigFile = toml::from_slice(&bytes).map_err(|error| error.to_string())?;
    let options = file.commands.values().flat_map(BTreeMap::keys).map(String::as_str);
    let forbidden = options.chain((!file.subjects.is_empty()).then_some("subjects"));
    match forbidden.into_iter().find(|option| !PROJECT_OPTIONS.contains(option)) {
        None => Ok(file),
        Some(option) => Err(format!(
            "a project's file cannot set `{option}`, only {}; put it in a file for --config",
            PROJECT_OPTIONS.join(", ")
        )),
    }
}

/// Reads a `--config` file. Only a regular file is accepted: reading a pipe may block, and a device may have
/// no end.
fn read_config(path: &OsStr) -> Result<ConfigFile, String> {
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| error.to_string())
}

fn path_of(args: &[OsString]) -> Option<OsString> {
    args.iter().enumerate().find_map(|(nth, arg)| match arg.to_str()? {
        "--config" => args.get(nth + 1).cloned(),
        text => text.strip_prefix("--config=").map(OsString::from),
    })
}

fn complete(args: Vec<OsString>, config: &ConfigFile) -> Result<Vec<OsString>, String> {
    let program = Cli::command();
    let commands: Vec<&str> = program.get_subcommands().map(|command| command.get_name()).collect();
    if let Some(name) = config.commands.keys().find(|name| !commands.contains(&name.as_str())) {
        return Err(format!("unknown section [{name}]; use [subjects] or commands like [run]"));
    }
    let mut completed = args.clone();
    if let Some((index, options)) = added_options(&args, config) {
        completed.splice(index + 1..=index, options);
    }
    // Replace the names of subjects by the specifications in the file.
    let names = ["--subject", "--same-on"];
    for nth in 1..completed.len() {
        let Some(text) = completed[nth].to_str() else { continue };
        let is_value = completed[nth - 1].to_str().is_some_and(|before| names.contains(&before));
        let (flag, name) = match text.split_once('=') {
            Some((flag, name)) if names.contains(&flag) => (Some(flag), name),
            _ if is_value => (None, text),
            _ => continue,
        };
        if let Some(subject) = config.subjects.get(name) {
            completed[nth] = flag.map_or_else(|| subject.clone(), |flag| format!("{flag}={subject}")).into();
        }
    }
    Ok(completed)
}

/// Returns the options of a file for the command of a command line that the user did not write, and the
/// index of the command, behind which they belong.
fn added_options(args: &[OsString], config: &ConfigFile) -> Option<(usize, Vec<OsString>)> {
    let program = Cli::command();
    let is_command =
        |arg: &OsString| program.get_subcommands().any(|command| arg.to_str() == Some(command.get_name()));
    let index = args.iter().position(is_command)?;
    let options = config.commands.get(args[index].to_str()?)?;
    let added = options.iter().filter(|(name, _)| !is_written(args, name)).flat_map(written);
    Some((index, added.map(OsString::from).collect()))
}

/// Returns true if the user wrote the option `--name`.
fn is_written(args: &[OsString], name: &str) -> bool {
    let flag = format!("--{name}");
    args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
        arg.strip_prefix(flag.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

fn written((name, value): (&String, &OptionValue)) -> Vec<String> {
    let flag = format!("--{name}");
    match value {
        OptionValue::Flag(false) => Vec::new(),
        OptionValue::Flag(true) => vec![flag],
        OptionValue::Number(number) => vec![flag, number.to_string()],
        OptionValue::Text(text) => vec![flag, text.clone()],
        OptionValue::Several(texts) => texts.iter().flat_map(|text| [flag.clone(), text.clone()]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
[subjects]
mine = 'serve:./tool --serve'
[run]
subject = ['mine', 'ptxas@13.5']
time = '10m'
seed = 7
quiet = true
";

    fn with(line: &str, file: &str) -> Result<String, String> {
        let args = line.split(' ').map(OsString::from).collect();
        let config = toml::from_str(file).map_err(|error| error.to_string())?;
        let completed = complete(args, &config)?;
        Ok(completed.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_of_the_command_are_added_where_the_user_wrote_none() {
        assert_eq!(
            with("p run --time 1m", FILE).unwrap(),
            "p run --quiet --seed 7 --subject serve:./tool --serve --subject ptxas@13.5 --time 1m"
        );
        assert_eq!(with("p check a.ptx", FILE).unwrap(), "p check a.ptx");
    }

    #[test]
    fn a_named_subject_stands_for_what_the_file_says() {
        assert_eq!(
            with("p check run --subject mine", FILE).unwrap(),
            "p check run --subject serve:./tool --serve"
        );
        assert_eq!(
            with("p check a --subject=mine", FILE).unwrap(),
            "p check a --subject=serve:./tool --serve"
        );
        assert_eq!(with("p check mine --subject ptxas", FILE).unwrap(), "p check mine --subject ptxas");
    }

    #[test]
    fn a_section_that_is_no_command_is_an_error() {
        assert!(with("p run", "[rnu]\nseed = 1\n").unwrap_err().contains("unknown section [rnu]"));
        assert!(with("p run", "[run]\nseed = {a = 1}\n").is_err());
    }

    #[test]
    fn a_project_sets_only_answers_allowed_deviations_and_formats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PROJECT_FILE);
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_project(&path).map(|_| ())
        };
        assert_eq!(
            read("[lint]\nallow = ['a']\nformat = 'json'\n[eval]\ninterpretation = 'shift-count=modulo'\n"),
            Ok(())
        );
        for (text, option) in [
            ("[run]\nsubject = 'exec:sh'\n", "subject"),
            ("[subjects]\na = 'exec:sh'\n", "subjects"),
            ("[check]\nout = '/etc'\n", "out"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(&format!("cannot set `{option}`")), "{error}");
        }
        assert!(read(&"[".repeat(50_000)).is_err());
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(project_file(&below), Some(path.clone()));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(read_project(&path).unwrap_err().contains("a link"));
    }

    #[test]
    fn the_file_is_named_in_either_form() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(path_of(&args("p run --config a.toml")), Some("a.toml".into()));
        assert_eq!(path_of(&args("p --config=a.toml run")), Some("a.toml".into()));
        assert_eq!(path_of(&args("p run")), None);
    }
}
