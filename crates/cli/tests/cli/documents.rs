//! Checks of the documents: commands run as written, links have targets, and generated pages match the
//! command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

use crate::common::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in a folder of the workspace")
        .to_owned()
}

/// Runs git in the project. `None` without git or outside a checkout, as in an archive of the sources.
fn git(arguments: &[&str]) -> Option<Output> {
    Command::new("git").args(arguments).current_dir(root()).output().ok()
}

/// Returns the files of the project in order. Uncommitted files are excluded, since a recipe of a document
/// may write some.
fn files() -> Vec<PathBuf> {
    let listed = git(&["ls-files", "-z"]).filter(|output| output.status.success());
    let paths: Vec<PathBuf> = match listed {
        Some(output) => stdout(&output).split_terminator('\0').map(|name| root().join(name)).collect(),
        None => {
            let walk = walkdir::WalkDir::new(root()).sort_by_file_name().into_iter();
            let entries =
                walk.filter_entry(|entry| entry.file_name() != "target" && entry.file_name() != ".git");
            entries.map(|entry| entry.expect("the project can be read").into_path()).collect()
        }
    };
    paths.into_iter().filter(|path| path.is_file()).collect()
}

/// Returns every document of the project.
fn documents() -> Vec<PathBuf> {
    // The files of a suite link to files that exist only in a written suite.
    let of_suites = root().join("crates/suite/files");
    let is_document = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    files().into_iter().filter(|path| is_document(path) && !path.starts_with(&of_suites)).collect()
}

/// Returns the absolute paths of the project's files and folders.
fn known_paths() -> BTreeSet<PathBuf> {
    files().iter().flat_map(|path| path.ancestors()).map(Path::to_owned).collect()
}

/// Removes `.` and `..` from a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Returns a document's text without code, because brackets and parentheses are not links there.
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

/// Returns the anchors of the headings.
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
    let known = known_paths();
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
                "" => known.contains(&plain(&file)),
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

/// A block of commands in a document.
struct Block {
    /// The reason why no test runs it, from the comment before it: `<!-- not run: REASON -->`.
    reason: Option<String>,
    commands: Vec<String>,
}

/// Returns the console blocks of a document. A backslash at the end of a line continues the command.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut reason, mut open, mut continued) = (None, false, false);
    for line in text.lines().map(str::trim_start) {
        if let Some(comment) = line.strip_prefix("<!-- not run:") {
            reason = Some(comment.trim_end_matches("-->").trim().to_owned());
        } else if line == "```console" {
            blocks.push(Block { reason: reason.take(), commands: Vec::new() });
            (open, continued) = (true, false);
        } else if line.starts_with("```") {
            open = false;
        } else if open {
            let commands = &mut blocks.last_mut().expect("a block is open").commands;
            if continued {
                let command = commands.last_mut().expect("it began before");
                *command = format!("{} {line}", command.trim_end_matches('\\').trim_end());
            } else if let Some(command) = line.strip_prefix("$ ") {
                commands.push(command.to_owned());
            } else {
                continue;
            }
            continued = line.ends_with('\\');
        } else {
            assert!(reason.is_none() || line.is_empty(), "a reason without a block: {line}");
        }
    }
    blocks
}

/// Returns a requirement of a command that is missing: a release or a third-party tool.
fn lacks(command: &str) -> Option<String> {
    let tools = [("cuda check", "clang"), ("sqlite3 ", "sqlite3"), ("python3 ", "python3")];
    let in_path = |tool: &str| {
        let dirs = std::env::var_os("PATH").unwrap_or_default();
        let found = |dir: PathBuf| {
            let names = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
            names.into_iter().any(|name| {
                let name = name.to_string_lossy();
                name == tool || name.strip_prefix(tool).is_some_and(|rest| rest.starts_with('-'))
            })
        };
        std::env::split_paths(&dirs).any(found)
    };
    if let Some((_, tool)) = tools.iter().find(|(part, tool)| command.contains(part) && !in_path(tool)) {
        return Some((*tool).to_owned());
    }
    let mut releases: Vec<&str> =
        ["12.0", "13.5"].into_iter().filter(|release| command.contains(release)).collect();
    if command.contains("--focus operands") {
        releases.push("nvdisasm");
    }
    // Use the releases of the user, which tests otherwise hide.
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let listed = stdout(&Command::new(program).args(["toolchain", "list"]).output().unwrap());
    let installed = |release: &&str| {
        let named = |line: &&str| line.split([' ', '@']).next() == Some(*release);
        listed.lines().find(named).is_some_and(|line| line.contains('/'))
    };
    releases.into_iter().find(|release| !installed(release)).map(str::to_owned)
}

/// Runs the commands of a document in order, and returns their number, including skipped ones. Commands that
/// start cargo are excluded, because cargo runs this test.
fn run(document: &Path) -> usize {
    let text = fs::read_to_string(document).expect("a document is text");
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    // Run in a temporary copy of the checkout, so that the commands write nowhere else.
    let directory = tempfile::tempdir().unwrap();
    for name in ["corpus", "docs", "scripts"] {
        std::os::unix::fs::symlink(root().join(name), directory.path().join(name)).unwrap();
    }
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let run = blocks(&text).into_iter().filter(|block| block.reason.is_none());
    // Cargo has already built the program.
    let built = |command: String| command.replacen("cargo run --release -- ", "ptxsmith ", 1);
    let commands = run.flat_map(|block| block.commands).map(built).filter(|command| !by_cargo(command));
    let (mut seen, mut lacking) = (0, None);
    for command in commands {
        seen += 1;
        // Later commands may depend on a skipped one, so skip them too.
        lacking = lacking.or_else(|| lacks(&command));
        if let Some(lacking) = &lacking {
            eprintln!("NOT TESTED: {}: {command}: {lacking} is not installed", document.display());
            continue;
        }
        let mut shell = Command::new("bash");
        shell.args(["-c", &command]).current_dir(directory.path()).env("PTXSMITH", program);
        let output = shell.env("PATH", &path).output().unwrap();
        // A deviation is a valid result; bad usage, an empty comparison and a failure are not.
        let place = document.display();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{place}: {command}: {output:?}");
        let words: Vec<&str> = command.split_whitespace().collect();
        let file = words.windows(2).find(|pair| ["--out", ">"].contains(&pair[0])).map(|pair| pair[1]);
        let shows = !output.stdout.is_empty() || !output.stderr.is_empty();
        assert!(file.map_or(shows, |file| directory.path().join(file).exists()), "{place}: {command}");
    }
    seen
}

/// Returns true for commands that build or test the project: `cargo` and the scripts that call it.
fn by_cargo(command: &str) -> bool {
    ["cargo ", "scripts/check", "bash .ci/run"].iter().any(|prefix| command.starts_with(prefix))
}

#[test]
fn the_commands_of_the_readme_run_as_written() {
    let readme = root().join("README.md");
    let text = fs::read_to_string(&readme).expect("it is there");
    let of_readers = blocks(&text).into_iter().flat_map(|block| block.commands);
    assert!(of_readers.filter(|command| !by_cargo(command)).count() >= 6);
    assert!(run(&readme) >= 6);
}

#[test]
fn the_commands_of_every_other_document_run_as_written() {
    let others = documents().into_iter().filter(|path| *path != root().join("README.md"));
    let texts = others.map(|path| (fs::read_to_string(&path).expect("a document is text"), path));
    let with_commands: Vec<PathBuf> =
        texts.filter(|(text, _)| !blocks(text).is_empty()).map(|(_, path)| path).collect();
    assert!(with_commands.len() >= 12, "{with_commands:?}");
    let seen: usize = with_commands.iter().map(|path| run(path)).sum();
    assert!(seen >= 30, "{seen} commands");
}

/// After trying a recipe, a checkout must still be clean and its tests must still pass.
#[test]
fn what_the_commands_of_a_document_write_in_a_checkout_is_ignored_by_git() {
    let known = known_paths();
    let (mut written, mut wrong) = (BTreeSet::new(), Vec::new());
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document is text");
        for command in blocks(&text).into_iter().flat_map(|block| block.commands) {
            let words: Vec<&str> = command.split_whitespace().collect();
            for pair in words.windows(2).filter(|pair| WRITES.contains(&pair[0])) {
                let file = pair[1].trim_matches('\'');
                if !file.starts_with(|c: char| c.is_ascii_lowercase()) {
                    continue;
                }
                written.insert(file.to_owned());
                if known.contains(&plain(&root().join(file))) {
                    wrong.push(format!("{}: {file} is part of the project: {command}", path.display()));
                }
            }
        }
    }
    assert!(written.len() > 20, "{written:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    for file in written {
        // Status 1 means that the file is not ignored, 128 that this is not a checkout.
        let ignored = git(&["check-ignore", "--quiet", &file]).and_then(|output| output.status.code());
        assert_ne!(ignored, Some(1), "{file} is not in .gitignore");
    }
}

/// Words that precede the name of an output file in a command.
const WRITES: [&str; 5] = ["--out", "--history", "--write-expected", "--report", ">"];

/// A check takes half an hour, and a reader of its output begins at the end.
#[test]
fn a_stage_of_the_checks_that_fails_says_in_the_last_line_how_to_run_it_alone() {
    let directory = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = directory.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let (scripts, tools) = (folder("scripts"), folder("tools"));
    fs::copy(root().join("scripts/check"), scripts.join("check")).unwrap();
    let program = |path: PathBuf, script: &str| {
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let built = folder("target").join("debug");
    fs::create_dir(&built).unwrap();
    // `cargo` fails if its first argument is `fails`, and `xtask` if `fails` is its name. The text `formats`
    // replaces the script check-report-formats.
    let last_line = |fails: &str, formats: &str| {
        program(tools.join("cargo"), &format!("echo \"$1 says much\" >&2; test \"$1\" != {fails}"));
        program(built.join("xtask"), &format!("test xtask != {fails}"));
        program(built.join("ptxsmith"), "exit 0");
        program(scripts.join("check-report-formats"), formats);
        for tool in ["typos", "cargo-deny"] {
            program(tools.join(tool), "exit 0");
        }
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell.args(["-c", "exec bash \"$0\" 2>&1"]).arg(scripts.join("check"));
        let output = shell.env("PATH", path).env_remove("CARGO_TARGET_DIR").output().unwrap();
        (output.status.code(), stdout(&output).lines().last().unwrap_or_default().to_owned())
    };
    let alone = |name: &str, command: &str| format!("scripts/check: {name} fails; run it alone: {command}");
    assert_eq!(last_line("xtask", "exit 0"), (Some(1), alone("tests", "target/debug/xtask test")));
    assert_eq!(last_line("fmt", "exit 0"), (Some(1), alone("format", "cargo fmt --all --check")));
    let formats = alone("scripts/check-report-formats", "scripts/check-report-formats");
    assert_eq!(last_line("nothing", "echo a guard >&2; exit 1"), (Some(1), formats));
    let (status, line) = last_line("nothing", "exit 0");
    assert_eq!(status, Some(0), "{line}");
    assert!(line.starts_with("scripts/check: passes: "), "{line}");
}

#[test]
fn a_command_that_no_test_runs_has_a_reason_and_few_have_one() {
    let (mut all, mut left_out) = (0, 0);
    for path in documents() {
        for block in blocks(&fs::read_to_string(&path).expect("a document is text")) {
            all += block.commands.len();
            if let Some(reason) = block.reason {
                left_out += block.commands.len();
                assert!(reason.len() > 10, "{}: {reason}", path.display());
            }
        }
    }
    assert!(all >= 80 && left_out * 2 < all, "{left_out} of {all}");
}

/// Returns the commands of a document, in blocks and inline, without arguments for other programs.
fn spelled(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = blocks(text).into_iter().flat_map(|block| block.commands).collect();
    let joined = text.replace('\n', " ");
    // A code fence contains three backquotes, so inside and outside are swapped twice and remain correct.
    commands.extend(joined.split('`').filter(|part| !part.is_empty()).map(str::to_owned));
    commands.iter().map(|command| command.split(" -- ").next().unwrap_or("").replace('\\', "")).collect()
}

/// Returns the words after `name` in a command, or `None` if it is another command.
fn words<'a>(command: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let command = command.trim().trim_start_matches("$ ").split(" #").next().unwrap_or("");
    let words: Vec<&str> = command.split_whitespace().collect();
    (words.first() == Some(&name)).then(|| words[1..].to_vec())
}

#[test]
fn every_command_and_option_that_a_document_names_is_one_of_the_program() {
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    let mut of = |command: &[&str]| {
        let entry = help.entry(command.join(" "));
        let asked = || stdout(&ptxsmith().args(command).arg("--help").output().unwrap());
        entry.or_insert_with(asked).clone()
    };
    let is_word = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
    let (mut options, mut wrong) = (0, Vec::new());
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&path).expect("a document is text");
        for command in spelled(&text) {
            let Some(words) = words(&command, "ptxsmith") else { continue };
            let Some(name) = words.first().filter(is_word) else { continue };
            let mut called = vec![*name];
            if ["toolchain", "cuda", "emit"].contains(name) {
                called.extend(words.get(1).filter(is_word));
            }
            let known = of(&called);
            if !known.contains("Usage: ptxsmith") {
                wrong.push(format!("{}: no command {called:?}: {command}", path.display()));
            }
            for word in words.iter().map(|word| word.trim_matches(['[', ']', ',', ';'])) {
                let option = word.split(['=', '|']).next().unwrap_or("");
                if option.starts_with("--") && option.len() > 2 {
                    options += 1;
                    let there = known.split_whitespace().any(|one| one.trim_matches(',') == option);
                    if !there {
                        wrong.push(format!("{}: no option {option}: {command}", path.display()));
                    }
                }
            }
        }
    }
    assert!(options > 80, "{options}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_index_of_documents_has_every_document() {
    let index = fs::read_to_string(root().join("docs/README.md")).expect("it is there");
    let mut names = Vec::new();
    for folder in ["guide", "reference"] {
        let pages = fs::read_dir(root().join("docs").join(folder)).expect("it is there").flatten();
        names.extend(pages.map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())));
    }
    names.retain(|name| name.ends_with(".md"));
    let missing: Vec<&String> = names.iter().filter(|name| !index.contains(&format!("({name})"))).collect();
    assert!(names.len() >= 20 && missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_has_at_most_700_words() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let words = readme.split_whitespace().count();
    assert!((300..=700).contains(&words), "{words}");
}

/// Documents name a Rust module without `.rs`, whether it is a file or a folder.
#[test]
fn every_file_of_the_project_that_a_document_names_is_there() {
    let known = known_paths();
    let folders: BTreeSet<String> = known
        .iter()
        .filter(|path| path.parent() == Some(&root()) && path.is_dir())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_-.".contains(c);
    let (mut named, mut missing) = (0, Vec::new());
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&path).expect("a document is text");
        for name in text.split('`').skip(1).step_by(2).filter(|name| name.chars().all(is_name)) {
            if !name.split_once('/').is_some_and(|(folder, _)| folders.contains(folder)) {
                continue;
            }
            named += 1;
            let beside = path.parent().expect("it lies somewhere").join(name);
            let is_there = [root().join(name), root().join(format!("{name}.rs")), beside];
            // The output of fuzzers is not committed.
            let is_written = name.starts_with("fuzz/corpus") || name.starts_with("fuzz/artifacts");
            if !is_written && !is_there.iter().any(|file| known.contains(&plain(file))) {
                missing.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(named > 100, "{named}");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Counts the words that people have to read. Excluded are the pages of deviations except their index, and
/// generated text: everything after a comment such as `<!-- measured -->`, up to a comment with the word
/// `end` or the end of the file.
#[test]
fn the_documents_have_at_most_14000_words() {
    const MOST_WORDS: usize = 14_000;
    let docs = root().join("docs");
    let pages = walkdir::WalkDir::new(&docs).into_iter().flatten().map(walkdir::DirEntry::into_path);
    let is_written = |path: &PathBuf| {
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        is_page && (!path.starts_with(docs.join("deviations")) || path.ends_with("README.md"))
    };
    let mut words = 0;
    for page in pages.filter(is_written) {
        let mut rendered = false;
        for line in fs::read_to_string(&page).expect("a document is text").lines() {
            let comment = line.trim().strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
            match comment.filter(|comment| !comment.starts_with("not run:")) {
                Some(comment) => {
                    rendered = !comment.split(|c: char| !c.is_alphanumeric()).any(|word| word == "end")
                }
                None if comment.is_none() && !rendered => words += line.split_whitespace().count(),
                None => {}
            }
        }
    }
    assert!((8_000..=MOST_WORDS).contains(&words), "{words} words: write less, or render tables");
}

#[test]
fn every_package_test_and_script_that_a_document_names_is_there() {
    let packages: BTreeMap<String, PathBuf> = files()
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?;
            Some((name.trim_end_matches('"').to_owned(), path.parent()?.to_owned()))
        })
        .collect();
    let tasks = fs::read_to_string(root().join("crates/xtask/src/main.rs")).expect("it is there");
    let (mut named, mut wrong) = (0, Vec::new());
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&path).expect("a document is text");
        for command in spelled(&text) {
            let place = path.display();
            let script = command.split_whitespace().find(|word| word.starts_with("scripts/"));
            if let Some(script) = script.filter(|script| script.len() > "scripts/".len()) {
                named += 1;
                if !root().join(script.trim_end_matches([',', ';', ':', '.'])).exists() {
                    wrong.push(format!("{place}: no {script}"));
                }
            }
            let Some(words) = words(&command, "cargo") else { continue };
            if let [first, task, ..] = words[..]
                && first == "xtask"
            {
                named += 1;
                let of_words = task.split('-').map(|word| word[..1].to_uppercase() + &word[1..]);
                if !tasks.contains(&format!("    {}", of_words.collect::<String>())) {
                    wrong.push(format!("{place}: no task {task}"));
                }
            }
            let values = |option: &str| -> Vec<&str> {
                words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1]).collect()
            };
            let there: Vec<&PathBuf> = values("-p").iter().filter_map(|name| packages.get(*name)).collect();
            named += there.len();
            if there.len() < values("-p").len() {
                wrong.push(format!("{place}: no such package: {command}"));
            }
            let targets = [("--test", "tests"), ("--bench", "benches"), ("--example", "examples")];
            for (option, folder) in targets {
                for name in values(option) {
                    named += 1;
                    let files = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
                    let has = |package: &&PathBuf| files.iter().any(|file| package.join(file).exists());
                    if !there.iter().any(has) {
                        wrong.push(format!("{place}: no {option} {name}: {command}"));
                    }
                }
            }
        }
    }
    assert!(named > 80, "{named}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_index_of_documents_renders_the_commands_of_the_program() {
    let help = stdout(&ptxsmith().arg("--help").output().unwrap());
    let listed = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let commands = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!((10..=20).contains(&commands.len()), "{commands:?}");
    let row = |command: &&str| {
        let help = stdout(&ptxsmith().arg(command).arg("--help").output().unwrap());
        let purpose = help.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        format!("| `ptxsmith {command}` | {purpose} |\n")
    };
    let rows: String = commands.iter().filter(|command| **command != "help").map(row).collect();
    let rendered = format!("| command | purpose |\n| --- | --- |\n{rows}");
    ptxsmith_testing::rendered_between("docs/README.md", "commands", &rendered);
}

#[test]
fn every_shell_completes_commands_and_values() {
    for shell in ["bash", "zsh", "fish"] {
        let output = ptxsmith().args(["completions", shell]).output().unwrap();
        assert_eq!(status(&output), 0);
        let script = stdout(&output);
        for value in ["drift", "nvjitlink@13.5", "shift-count=modulo", "incomplete-rows-packed", "prototypes"]
        {
            assert!(script.contains(value), "{shell}: {value}");
        }
        assert!(!script.contains("worker"), "{shell}");
    }
}
