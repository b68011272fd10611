//! What the documents say is so: commands run as written, links lead somewhere, pages come from the command line.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is a folder of the workspace")
        .to_owned()
}

/// Every document of the project.
fn documents() -> Vec<PathBuf> {
    // The files of a suite lie beside others once it is written.
    let skipped = ["target", ".git", "node_modules", "files"];
    let walk = walkdir::WalkDir::new(root()).sort_by_file_name().into_iter();
    let entries = walk.filter_entry(|entry| !skipped.iter().any(|name| entry.file_name() == *name));
    let paths = entries.map(|entry| entry.expect("the project can be read").into_path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The text without code, in which brackets and parentheses mean other things.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let plain = line.split('`').step_by(2);
            prose.push_str(&plain.collect::<Vec<_>>().join("_"));
            prose.push('\n');
        }
    }
    prose
}

/// The names that headings have as places of a page.
fn places(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_place_that_are_there() {
    let (mut links, mut broken) = (0, Vec::new());
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document is text");
        for part in prose(&text).split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("");
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                path.clone()
            } else {
                path.parent().expect("it lies somewhere").join(file)
            };
            let there = match place {
                "" => file.exists(),
                place => fs::read_to_string(&file).is_ok_and(|text| places(&text).contains(place)),
            };
            if !there {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(links > 60, "{links}");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The commands of the console blocks of a document that anybody can run who has the program.
fn recipes(text: &str) -> Vec<String> {
    let blocks = text.split("```console\n").skip(1).filter_map(|block| block.split("```").next());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ "));
    lines
        .filter(|line| !line.starts_with("cargo ") && !line.starts_with("scripts/check"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_recipes_of_the_readme_run_as_written() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let recipes = recipes(&readme);
    assert!(recipes.len() >= 6, "{recipes:?}");
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    // A place of its own that looks like the checkout, so that what the recipes write goes nowhere else.
    let directory = tempfile::tempdir().unwrap();
    for name in ["corpus", "docs", "scripts"] {
        std::os::unix::fs::symlink(root().join(name), directory.path().join(name)).unwrap();
    }
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    for recipe in recipes {
        let named = ["12.0", "13.5"].into_iter().filter(|release| recipe.contains(release));
        let missing = |release: &str| {
            let asked = Command::new(program).args(["toolchain", "path", release]).output().unwrap();
            !asked.status.success()
        };
        if let Some(release) = named.into_iter().find(|release| missing(release)) {
            eprintln!("NOT TESTED: {recipe}: ptxas {release} is not installed");
            continue;
        }
        let mut shell = Command::new("bash");
        shell.args(["-c", &recipe]).current_dir(directory.path()).env("PTXSMITH", program);
        let output = shell.env("PATH", path.as_ref().unwrap()).output().unwrap();
        // A deviation is a result; bad usage, nothing compared and a failure are none.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{recipe}: {output:?}");
        assert!(!output.stdout.is_empty(), "{recipe}");
    }
}

#[test]
fn the_commands_of_the_readme_are_those_of_the_program() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let help = stdout(&ptxsmith().arg("--help").output().unwrap());
    let listed = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let commands = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 12);
    for command in commands.into_iter().filter(|&command| command != "help") {
        let told = [format!("ptxsmith {command}"), format!("`{command} "), format!(" `{command}")];
        assert!(told.iter().any(|told| readme.contains(told.as_str())), "{command}");
    }
}

#[test]
fn every_command_has_a_manual_page_and_completes() {
    let directory = tempfile::tempdir().unwrap();
    let output = ptxsmith().arg("manual").arg("--out").arg(directory.path()).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let page = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(page("ptxsmith.1").contains("ptxsmith\\-run"));
    let run = page("ptxsmith-run.1");
    for part in
        ["\\-\\-focus", "\\fISUBJECT\\fR", ".SH ENVIRONMENT", ".SH FILES", ".SH EXIT STATUS", ".SH SEE ALSO"]
    {
        assert!(run.contains(part), "{part}");
    }
    assert!(run.contains("ptxsmith\\-run \\- Generate programs"), "{run}");
    for shell in ["bash", "zsh", "fish"] {
        let output = ptxsmith().args(["completions", shell]).output().unwrap();
        assert_eq!(status(&output), 0);
        let script = stdout(&output);
        for value in ["drift", "nvjitlink@13.5", "shift-count=modulo", "incomplete-rows-packed"] {
            assert!(script.contains(value), "{shell}: {value}");
        }
        assert!(!script.contains("worker"), "{shell}");
    }
}
