//! Writes the bundle of a finding with several modules: the modules, and a script that calls the assembler
//! and the linker.

use askama::Template;
use ptxsmith_model::LinkedProgram;
use ptxsmith_syntax::parse;

use super::{BundleFile, folder_name, kind_of, title};
use crate::Finding;
use crate::folder::Folder;
use crate::harmless::line;
use crate::manifest::Manifest;
use crate::markdown::{block, manual, span, text};
use crate::reproduce::word;

struct LinkedModule<'a> {
    name: String,
    text: &'a str,
}

#[derive(Template)]
#[template(path = "linked-report.md")]
struct LinkedBugReport<'a> {
    manifest: Option<&'a Manifest>,
    finding: &'a Finding,
    title: &'a str,
    severity: &'static str,
    modules: &'a [LinkedModule<'a>],
    commands: &'a [String],
}

#[derive(Template)]
#[template(path = "link.sh", escape = "none")]
struct LinkScript<'a> {
    title: &'a str,
    commands: &'a [String],
}

/// Builds the files of the bundle.
pub(super) fn files(
    folder: &Folder,
    finding: &Finding,
    linked: &LinkedProgram,
) -> Result<Vec<BundleFile>, askama::Error> {
    let base = folder_name(finding);
    let mut modules = vec![LinkedModule { name: format!("{base}.ptx"), text: finding.example().program }];
    for (number, text) in (2..).zip(&linked.modules) {
        modules.push(LinkedModule { name: format!("{base}.{number}.ptx"), text });
    }
    let title = title(&folder.report, finding);
    let commands = commands(&modules, &linked.way);
    let report = LinkedBugReport {
        manifest: folder.manifest.as_ref(),
        finding,
        title: &title,
        severity: kind_of(finding).1,
        modules: &modules,
        commands: &commands,
    }
    .render()?;
    let script = LinkScript { title: &line(&title), commands: &commands }.render()?;
    let mut files = vec![BundleFile::ended("report.md", &report)];
    files.extend(modules.iter().map(|module| BundleFile::ended(&module.name, module.text)));
    files.push(BundleFile { executable: true, ..BundleFile::ended("reproduce.sh", &script) });
    Ok(files)
}

/// Returns the commands that assemble and link the modules in this order (`1 -r(2 3)`; empty to link all at
/// once).
fn commands(modules: &[LinkedModule<'_>], way: &str) -> Vec<String> {
    let target =
        modules.iter().find_map(|module| parse(module.text).ok()?.targets().next().map(str::to_owned));
    let target = word(target.as_deref().unwrap_or("sm_80"));
    let mut commands = Vec::new();
    let mut objects = Vec::new();
    for (number, module) in (1..).zip(modules) {
        let name = word(&module.name);
        commands.push(format!("\"$PTXAS\" -c -arch {target} {name} -o {number}.o"));
        objects.push(format!("{number}.o"));
    }
    let mut inputs = objects.join(" ");
    if let Some((before, joined, after)) = split_stage(way) {
        commands.push(format!("\"$NVLINK\" -r -arch={target} {} -o joined.o", object_names(joined)));
        inputs = [&object_names(before), "joined.o", &object_names(after)].join(" ").trim().to_owned();
    }
    commands.push(format!("\"$NVLINK\" -arch={target} {inputs} -o linked.cubin"));
    commands
}

/// Splits an order of linking into the modules before, in and after its stage `-r(..)`; `None` if it has no
/// stage.
fn split_stage(way: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = way.split_once("-r(")?;
    let (joined, after) = rest.split_once(')')?;
    Some((before, joined, after))
}

/// Returns the names of the object files of modules: `1.o 2.o` for `1 2`.
fn object_names(numbers: &str) -> String {
    let names: Vec<String> = numbers.split_whitespace().map(|number| format!("{number}.o")).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_its_own_command() {
        let text = ".version 7.7\n.target sm_90\n.address_size 64\n";
        let modules =
            ["a.ptx", "a.2.ptx", "a.3.ptx"].map(|name| LinkedModule { name: name.to_owned(), text });
        let assemble = |name: &str, number: u32| format!("\"$PTXAS\" -c -arch sm_90 {name} -o {number}.o");
        let assembled = [assemble("a.ptx", 1), assemble("a.2.ptx", 2), assemble("a.3.ptx", 3)];
        let once = commands(&modules, "");
        assert_eq!(once[..3], assembled);
        assert_eq!(once[3..], ["\"$NVLINK\" -arch=sm_90 1.o 2.o 3.o -o linked.cubin"]);
        assert_eq!(
            commands(&modules, "1 -r(2 3)")[3..],
            [
                "\"$NVLINK\" -r -arch=sm_90 2.o 3.o -o joined.o",
                "\"$NVLINK\" -arch=sm_90 1.o joined.o -o linked.cubin"
            ]
        );
    }
}
