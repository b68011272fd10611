//! `ptxsmith toolchain`: installs NVIDIA's releases by name.

use std::fmt::Write as _;

use ptxsmith_subject::{
    process,
    toolchain::{DEFAULT, InstallError, Installable, RELEASES, Release, TOOLS, Tool, Toolchains, Verified},
};

use super::CommandContext;
use crate::args;
use crate::console::{BAD, BOLD, GOOD, line};
use crate::exit::{Exit, Failure};
use crate::progress::spinner;

/// Lists, installs or locates releases.
pub fn run(context: &CommandContext, args: &args::ToolchainCommand) -> Result<Exit, Failure> {
    let toolchains = Toolchains::for_user()?;
    match args {
        args::ToolchainCommand::List { json } => list(context, &toolchains, *json)?,
        args::ToolchainCommand::Verify { releases } => verify(context, &toolchains, releases)?,
        args::ToolchainCommand::Install { releases, repair } => {
            for release in releases {
                let path = install(context, &toolchains, *release, *repair)?;
                context.console.print(&format!("{release}  {}\n", line(&path)))?;
            }
        }
        args::ToolchainCommand::Path { release } => match toolchains.path(release) {
            // Do not escape the path, since scripts use it.
            Some(path) => context.console.print(&format!("{}\n", path.display()))?,
            None => {
                let name = release.name();
                return Err(Failure::BadInput(format!(
                    "release {name} is not installed; ptxsmith toolchain install {name} installs it"
                )));
            }
        },
    }
    Ok(Exit::Success)
}

fn list(context: &CommandContext, toolchains: &Toolchains, json: bool) -> Result<(), Failure> {
    let default = Release::find(DEFAULT).ok();
    let listed = toolchains.list();
    let tools: Vec<_> = TOOLS.iter().map(|tool| (tool, toolchains.tool_path(tool))).collect();
    if json {
        let releases: Vec<_> = listed
            .iter()
            .map(|listed| {
                serde_json::json!({
                    "release": listed.release.name(),
                    "version": listed.release.version,
                    "max_ptx": listed.release.max_ptx(),
                    "default": default == Some(listed.release),
                    "damaged": toolchains.usable(&Tool::from(listed.release)).is_err(),
                    "path": listed.path.as_ref().map(|path| path.to_string_lossy()),
                })
            })
            .collect();
        let tools: Vec<_> = tools
            .iter()
            .map(|(tool, path)| {
                serde_json::json!({
                    "name": tool.to_string(),
                    "version": tool.version,
                    "path": path.as_ref().map(|path| path.to_string_lossy()),
                })
            })
            .collect();
        let json =
            serde_json::json!({ "schema": "ptxsmith.toolchains/1", "releases": releases, "tools": tools });
        context.console.print(&(serde_json::to_string_pretty(&json)? + "\n"))?;
        return Ok(());
    }
    let mut out = format!("{BOLD}{:8}  {:8}  {:7}  installed{BOLD:#}\n", "release", "version", "PTX");
    for listed in &listed {
        let release = listed.release;
        let _ = write!(
            out,
            "{:8}  {:8}  {:7}  ",
            release.name(),
            release.version,
            release.max_ptx().unwrap_or("?")
        );
        if let Some(path) = &listed.path {
            let _ = write!(out, "{GOOD}{}{GOOD:#}", line(&path.to_string_lossy()));
        } else {
            out.push('-');
        }
        if toolchains.usable(&Tool::from(release)).is_err() {
            let _ = write!(out, "  {BAD}(not what was installed: install --repair){BAD:#}");
        }
        if default == Some(release) {
            out.push_str("  (default)");
        }
        out.push('\n');
    }
    let _ = write!(out, "\n{BOLD}{:20}  {:12}  installed{BOLD:#}\n", "other tools", "version");
    for (tool, path) in &tools {
        let _ = write!(out, "{:20}  {:12}  ", tool.to_string(), tool.version);
        let _ = match path {
            Some(path) => writeln!(out, "{GOOD}{}{GOOD:#}", line(&path.to_string_lossy())),
            None => writeln!(out, "-"),
        };
    }
    context.console.print(&out)?;
    Ok(())
}

fn tool_of(what: Installable) -> Tool {
    match what {
        Installable::Release(release) => Tool::from(release),
        Installable::Tool(tool) => *tool,
    }
}

/// Compares installed files with the original packages.
///
/// # Errors
/// If a file differs, has no record, or belongs to a named release that is not installed.
fn verify(context: &CommandContext, toolchains: &Toolchains, named: &[Installable]) -> Result<(), Failure> {
    let mut tools: Vec<Tool> = named.iter().map(|&what| tool_of(what)).collect();
    if named.is_empty() {
        tools = RELEASES.iter().map(Tool::from).chain(TOOLS.iter().copied()).collect();
        tools.retain(|tool| toolchains.tool_path(tool).is_some());
    }
    let mut bad = None;
    for tool in &tools {
        let name = format!("{} {}", tool.kind.name(), tool.version);
        let status = match toolchains.verified(tool) {
            None => {
                bad.get_or_insert_with(|| format!("{name} is not installed"));
                "not installed".to_owned()
            }
            Some(Verified::Same) => "as installed".to_owned(),
            Some(Verified::NoRecord) => {
                let status = format!(
                    "no record of what was installed; install --repair {} installs it anew",
                    tool.name_to_install()
                );
                bad.get_or_insert_with(|| format!("{name}: {status}"));
                status
            }
            Some(Verified::Damaged(damaged)) => {
                bad.get_or_insert_with(|| damaged.to_string());
                damaged.to_string()
            }
        };
        context.console.print(&format!("{name:20}  {}\n", line(&status)))?;
    }
    bad.map_or(Ok(()), |message| Err(Failure::BadInput(message)))
}

/// Installs a release or tool and returns the path of its program or library. Shows progress on a terminal.
fn install(
    context: &CommandContext,
    toolchains: &Toolchains,
    what: Installable,
    repair: bool,
) -> Result<String, Failure> {
    let bar = spinner(&context.console);
    let progress = |message: &str| {
        bar.set_message(line(message).into_owned());
        if bar.is_hidden() {
            context.console.note(message);
        }
    };
    let installed = toolchains.install_anew(&tool_of(what), repair, &context.cancel, &progress);
    bar.finish_and_clear();
    match installed {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(InstallError::Process(process::ProcessError::Cancelled(_))) => Err(Failure::Interrupted),
        Err(InstallError::Damaged(damaged)) => Err(Failure::BadInput(damaged.to_string())),
        Err(error) => Err(error.into()),
    }
}
