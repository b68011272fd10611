//! Writes the bundle of a finding with several modules: the modules, and a script that calls the assembler and the linker.

use askama::Template;
use ptxsmith_model::LinkedProgram;
use ptxsmith_syntax::parse;

use super::{File, kind_of, name_of, title};
use crate::Finding;
use crate::folder::Folder;
use crate::harmless::line;
use crate::manifest::Manifest;
use crate::markdown::{block, manual, span, text};
use crate::reproduce::word;

struct Module<'a> {
    name: String,
    text: &'a str,
}

#[derive(Template)]
#[template(path = "linked-report.md")]
struct Report<'a> {
    manifest: Option<&'a Manifest>,
    finding: &'a Finding,
    title: &'a str,
    severity: &'static str,
    modules: &'a [Module<'a>],
    commands: &'a [String],
}

#[derive(Template)]
#[template(path = "link.sh", escape = "none")]
struct Script<'a> {
    title: &'a str,
    commands: &'a [String],
}

/// Builds the files of the bundle.
pub(super) fn files(
    folder: &Folder,
    finding: &Finding,
    linked: &LinkedProgram,
) -> Result<Vec<File>, askama::Error> {
    let base = name_of(finding);
    let texts = [finding.example().program].into_iter().chain(linked.modules.iter().map(String::as_str));
    let modules: Vec<Module<'_>> = (1..)
        .zip(texts)
        .map(|(number, text)| {
            let name = if number == 1 { format!("{base}.ptx") } else { format!("{base}.{number}.ptx") };
            Module { name, text }
        })
        .collect();
    let (title, commands) = (title(&folder.report, finding), commands(&modules, &linked.way));
    let report = Report {
        manifest: folder.manifest.as_ref(),
        finding,
        title: &title,
        severity: kind_of(finding).1,
        modules: &modules,
        commands: &commands,
    }
    .render()?;
    let script = Script { title: &line(&title), commands: &commands }.render()?;
    let plain = |name: &str, text: &str| File {
        name: name.to_owned(),
        text: text.trim_end().to_owned() + "\n",
        executable: false,
    };
    let mut files = vec![plain("report.md", &report)];
    files.extend(modules.iter().map(|module| plain(&module.name, module.text)));
    files.push(File { executable: true, ..plain("reproduce.sh", &script) });
    Ok(files)
}

/// Returns the commands that assemble and link the modules in this order (`1 -r(2 3)`; empty to link all at once).
fn commands(modules: &[Module<'_>], way: &str) -> Vec<String> {
    let target = modules
        .iter()
        .find_map(|module| parse(module.text).ok()?.targets().next().map(str::to_owned))
        .unwrap_or_else(|| "sm_80".to_owned());
    let target = word(&target);
    let mut commands: Vec<String> = (1..)
        .zip(modules)
        .map(|(number, module)| format!("\"$PTXAS\" -c -arch {target} {} -o {number}.o", word(&module.name)))
        .collect();
    let objects = |numbers: &str| {
        numbers.split_whitespace().map(|number| format!("{number}.o")).collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> = (1..=modules.len()).map(|number| number.to_string()).collect();
    let inputs = match way.split_once("-r(").and_then(|(before, rest)| Some((before, rest.split_once(')')?)))
    {
        None => objects(&all.join(" ")),
        Some((before, (joined, after))) => {
            commands.push(format!("\"$NVLINK\" -r -arch={target} {} -o joined.o", objects(joined)));
            [objects(before), "joined.o".to_owned(), objects(after)].join(" ").trim().to_owned()
        }
    };
    commands.push(format!("\"$NVLINK\" -arch={target} {inputs} -o linked.cubin"));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_a_command_of_its_own() {
        let text = ".version 7.7\n.target sm_90\n.address_size 64\n";
        let modules = ["a.ptx", "a.2.ptx", "a.3.ptx"].map(|name| Module { name: name.to_owned(), text });
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
