//! Writes the bundle of a finding in the PTX of a compiler: the source, and a script that compiles it and prints
//! the declaration of the global and the loads of its kernel.

use askama::Template;
use ptxsmith_model::EmittedProgram;

use super::{BundleFile, folder_name, kind_of, title};
use crate::Finding;
use crate::folder::Folder;
use crate::harmless::line;
use crate::manifest::Manifest;
use crate::markdown::{block, span, text};
use crate::releases::family;

#[derive(Template)]
#[template(path = "emitted-report.md")]
struct EmittedBugReport<'a> {
    manifest: Option<&'a Manifest>,
    finding: &'a Finding,
    title: &'a str,
    severity: &'static str,
    name: &'a str,
    language: &'a str,
    command: &'a str,
    expected: &'a str,
    actual: &'a str,
    printed: &'a [String],
}

#[derive(Template)]
#[template(path = "emitted.sh", escape = "none")]
struct EmittedScript<'a> {
    title: &'a str,
    command: &'a str,
    /// Whether a script of Python calls the compiler's library.
    needs_python: bool,
}

/// Builds the files of the bundle.
pub(super) fn files(
    folder: &Folder,
    finding: &Finding,
    emitted: &EmittedProgram,
) -> Result<Vec<BundleFile>, askama::Error> {
    let subject = finding.subjects.first().map_or("", String::as_str);
    let is_ir = finding.program.lines().any(|line| line.starts_with(';'));
    let (extension, language) = if is_ir { ("ll", "llvm") } else { ("cu", "cpp") };
    let name = format!("{}.{extension}", folder_name(finding));
    let title = title(&folder.report, finding);
    let needs_python = family(subject) == "nvrtc";
    let command = emitted.command.replace("{source}", &name);
    let (expected, actual) = match &finding.comparison {
        Some(compared) => (&*compared.expected, &*compared.actual),
        None => ("", ""),
    };
    let report = EmittedBugReport {
        manifest: folder.manifest.as_ref(),
        finding,
        title: &title,
        severity: kind_of(finding).1,
        name: &name,
        language,
        command: &command,
        expected,
        actual,
        printed: &emitted.printed,
    }
    .render()?;
    let script = EmittedScript { title: &line(&title), command: &command, needs_python }.render()?;
    let mut files = vec![
        BundleFile::ended("report.md", &report),
        BundleFile::ended(&name, &finding.program),
        BundleFile { executable: true, ..BundleFile::ended("reproduce.sh", &script) },
    ];
    if needs_python {
        files.push(BundleFile::new("nvrtc.py", include_str!("../../files/nvrtc.py")));
    }
    Ok(files)
}
