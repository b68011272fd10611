//! `ptxsmith toolchain`: NVIDIA's releases, installed by name.

use std::fmt::Write as _;
use std::path::PathBuf;

use ptxsmith_subject::{
    process,
    toolchain::{DEFAULT, InstallError, Installable, Release, TOOLS, Tool, Toolchains},
};

use super::Context;
use crate::args;
use crate::console::{BOLD, GOOD, line};
use crate::exit::{Exit, Failure};
use crate::progress::spinner;

/// Lists, installs or locates releases.
pub fn run(context: &Context, args: &args::Toolchain) -> Result<Exit, Failure> {
    let toolchains = Toolchains::of_user()?;
    match args {
        args::Toolchain::List { json } => list(context, &toolchains, *json)?,
        args::Toolchain::Install { releases } => {
            for release in releases {
                let path = install(context, &toolchains, *release)?;
                context.console.print(&format!("{release}  {}\n", line(&path)))?;
            }
        }
        args::Toolchain::Path { release } => match toolchains.path(release) {
            // For scripts, so as it is: a path is not escaped.
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

fn list(context: &Context, toolchains: &Toolchains, json: bool) -> Result<(), Failure> {
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
                    "path": listed.path.as_ref().map(|path| path.to_string_lossy()),
                })
            })
            .collect();
        let tool = |(tool, path): &(&Tool, Option<PathBuf>)| {
            serde_json::json!({
                "name": tool.to_string(),
                "version": tool.version,
                "path": path.as_ref().map(|path| path.to_string_lossy()),
            })
        };
        let tools: Vec<_> = tools.iter().map(tool).collect();
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

/// Installs something, telling on a terminal what happens meanwhile. Gives the path of its program or library.
fn install(context: &Context, toolchains: &Toolchains, what: Installable) -> Result<String, Failure> {
    let bar = spinner(&context.console);
    let progress = |message: &str| {
        bar.set_message(line(message).into_owned());
        if bar.is_hidden() {
            context.console.note(message);
        }
    };
    let installed = match what {
        Installable::Release(release) => toolchains.install(release, &context.cancel, &progress),
        Installable::Tool(tool) => toolchains.install_tool(tool, &context.cancel, &progress),
    };
    bar.finish_and_clear();
    match installed {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(InstallError::Process(process::Error::Cancelled(_))) => Err(Failure::Interrupted),
        Err(error) => Err(error.into()),
    }
}
