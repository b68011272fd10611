//! `ptxsmith cuda check`: users' own sources.

use std::path::{Path, PathBuf};

use askama::Template;
use ptxsmith_campaign::pool;
use ptxsmith_cuda::check::{
    CompileCommands, Error, Options, Report, ResponseFile, check, clang_version, sarif,
};
use ptxsmith_subject::process;
use serde_json::{Value, json};

use super::args::{Check, Format};
use crate::commands::Context;
use crate::console::{BAD, BOLD, END, NOTE, line};
use crate::exit::{Exit, Failure};

/// Checks every file. Files that cannot be read are told; the others are checked.
pub fn run(context: &Context, args: &Check) -> Result<Exit, Failure> {
    let clang = find_clang(context, args)?;
    let commands = args.compile_commands.as_deref().map(CompileCommands::read).transpose();
    let commands = commands.map_err(|error| Failure::BadInput(error.to_string()))?;
    let files = match &commands {
        Some(commands) if args.files.is_empty() => commands.files(),
        _ => args.files.clone(),
    };
    if files.is_empty() {
        return Err(Failure::NoSubject("the compilation database names no .cu file".to_owned()));
    }
    if let Some(flag) = args.flags.iter().find(|flag| flag.as_encoded_bytes().starts_with(b"@")) {
        return Err(Failure::BadInput(ResponseFile(flag.to_string_lossy().into_owned()).to_string()));
    }
    let mut works = Vec::new();
    for file in &files {
        match work(context, args, &clang, commands.as_ref(), file) {
            Ok(work) => works.push(work),
            Err(error) => context.console.error(&format!("{}: {error}", file.display())),
        }
    }
    let bad_input = works.len() < files.len();
    let reports = check_all(context, &works)?;

    let text = match args.format {
        Format::Text => text(&reports)?,
        Format::Json => serde_json::to_string_pretty(&json_of(args, &reports))? + "\n",
        Format::Sarif => serde_json::to_string_pretty(&sarif(&reports))? + "\n",
    };
    context.console.print(&text)?;
    let found = reports.iter().any(|(_, report)| !report.findings.is_empty());
    let analysed = reports.iter().filter(|(_, report)| report.is_analysed).count();
    let partly = reports.iter().any(|(_, report)| report.is_incomplete);
    Ok(match (found, bad_input || partly, analysed) {
        (true, ..) => Exit::Deviation,
        (false, true, _) => Exit::BadInput,
        (false, false, 0) => Exit::NothingCompared,
        _ => Exit::Success,
    })
}

fn find_clang(context: &Context, args: &Check) -> Result<PathBuf, Failure> {
    let (program, named) = match &args.clang {
        Some(path) => (path.clone(), true),
        None => (PathBuf::from("clang"), false),
    };
    match clang_version(&program, &context.cancel) {
        Ok(_) if named => Ok(std::path::absolute(program)?),
        Ok(_) => Ok(program),
        Err(reason) if named => Err(Failure::BadInput(format!("--clang {}: {reason}", program.display()))),
        Err(reason) => Err(Failure::NoSubject(format!(
            "clang is needed to check sources ({reason}); install it, or name one with --clang"
        ))),
    }
}

/// A file, its path for clang, and how it is checked.
struct Work {
    name: String,
    path: PathBuf,
    options: Options,
}

/// What is to be done with a file; an error, if it cannot be read or its command line cannot be used.
fn work(
    context: &Context,
    args: &Check,
    clang: &Path,
    commands: Option<&CompileCommands>,
    file: &Path,
) -> anyhow::Result<Work> {
    if !std::fs::metadata(file)?.is_file() {
        anyhow::bail!("it is no regular file");
    }
    std::fs::File::open(file)?;
    let mut options = Options::new(clang.to_owned());
    options.microsoft = args.microsoft;
    options.timeout = args.timeout;
    options.cancel = context.cancel.clone();
    let mut path = file.to_owned();
    if let Some(commands) = commands
        && let Some((directory, flags)) = commands.flags(file)?
    {
        // Its flags are relative to its directory; the file is not.
        path = std::path::absolute(file).unwrap_or(path);
        options.directory = directory;
        options.flags = flags;
    }
    options.flags.extend(args.flags.iter().cloned());
    Ok(Work { name: file.to_string_lossy().into_owned(), path, options })
}

fn check_all(context: &Context, works: &[Work]) -> Result<Vec<(String, Report)>, Failure> {
    let checked = pool::map(&context.session(), works, |work| {
        let report = check(&work.path, &work.options).map_err(|error| match error {
            Error::Clang(process::Error::Cancelled(_)) => Failure::Interrupted,
            error => error.into(),
        })?;
        Ok((work.name.clone(), report))
    })?;
    checked.into_iter().collect::<Option<_>>().ok_or(Failure::Interrupted)
}

#[derive(Template)]
#[template(path = "cuda-check.txt")]
struct Text<'a> {
    reports: &'a [(String, Report)],
    findings: usize,
    incomplete: usize,
}

fn text(reports: &[(String, Report)]) -> Result<String, askama::Error> {
    let findings = reports.iter().map(|(_, report)| report.findings.len()).sum();
    let incomplete = reports.iter().filter(|(_, report)| !report.not_analysed.is_empty()).count();
    Text { reports, findings, incomplete }.render()
}

fn json_of(args: &Check, reports: &[(String, Report)]) -> Value {
    let files: Vec<Value> = reports
        .iter()
        .map(|(file, report)| {
            let findings: Vec<Value> = report
                .findings
                .iter()
                .map(|finding| {
                    json!({
                        "file": finding.file,
                        "line": finding.line,
                        "column": finding.column,
                        "variable": finding.variable,
                        "key": finding.keys[0].name(),
                        "keys": finding.keys.iter().map(|key| key.name()).collect::<Vec<_>>(),
                        "message": finding.keys[0].message(),
                        "clause": finding.keys[0].clause().name(),
                    })
                })
                .collect();
            json!({
                "file": file,
                "analysed": report.is_analysed,
                "findings": findings,
                "not_analysed": report.not_analysed,
            })
        })
        .collect();
    json!({
        "schema": "ptxsmith.cuda-check/1",
        "ptxsmith": env!("CARGO_PKG_VERSION"),
        "rule": "CUDASafety-1.5",
        "host_compiler": if args.microsoft { "microsoft" } else { "other" },
        "files": files,
    })
}

#[cfg(test)]
mod tests {
    use ptxsmith_cuda::{check::Finding, rule::Key};

    use super::*;

    #[test]
    fn a_finding_is_a_line_with_its_place_and_its_messages() {
        let finding = Finding {
            file: "b.h".to_owned(),
            line: 2,
            column: 9,
            variable: "v".to_owned(),
            keys: vec![Key::Volatile, Key::Address],
        };
        let report =
            Report { findings: vec![finding], not_analysed: vec!["no end".to_owned()], ..Report::default() };
        let text = text(&[("a.cu".to_owned(), report)]).unwrap();
        let keys = "device_uses_volatile_const_host_var, address_of_host_var_in_device_code";
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            format!("b.h:2:9: error: {}: `v` [{keys}]\n", Key::Volatile.message())
                + "a.cu: not analysed: no end\n1 files, 1 violations, 1 files not wholly analysed\n"
        );
    }
}
