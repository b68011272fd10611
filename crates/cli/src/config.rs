//! `--config FILE`: names for subjects, and default options for each command.
//!
//! The options of the file are inserted into the command line, behind the command, before clap parses it. An
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

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap::error::ErrorKind;
use serde::Deserialize;

use crate::args::Cli;

/// The contents of a `--config` file.
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

/// Returns the command line with the options of the `--config` file added, or unchanged if there is no
/// `--config`.
pub fn completed(args: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let Some(path) = path_of(&args) else { return Ok(args) };
    let completed = read_config(&path).and_then(|config| complete(args, &config));
    completed.map_err(|message| {
        let message = format!("--config {}: {message}", path.to_string_lossy());
        Cli::command().error(ErrorKind::ValueValidation, message)
    })
}

/// Reads a `--config` file. Only a regular file is accepted: reading a pipe may block, and a device may have
/// no end.
fn read_config(path: &OsStr) -> Result<ConfigFile, String> {
    // Reject pipes and devices: reading a pipe may block, and a device may have no end.
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
    let command = args.iter().position(|arg| arg.to_str().is_some_and(|arg| commands.contains(&arg)));
    let mut completed = args.clone();
    if let Some(index) = command
        && let Some(options) = args[index].to_str().and_then(|name| config.commands.get(name))
    {
        let added = options.iter().filter(|(name, _)| !is_written(&args, name)).flat_map(written);
        completed.splice(index + 1..=index, added.map(OsString::from).collect::<Vec<_>>());
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
        assert!(with("p run", "[rnu]\nseed = 1\n").unwrap_err().contains("`rnu` is no command"));
        assert!(with("p run", "[run]\nseed = {a = 1}\n").is_err());
    }

    #[test]
    fn the_file_is_named_in_either_form() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(path_of(&args("p run --config a.toml")), Some("a.toml".into()));
        assert_eq!(path_of(&args("p --config=a.toml run")), Some("a.toml".into()));
        assert_eq!(path_of(&args("p run")), None);
    }
}
