//! What code computes is what the PTX manual says, on every target and with and without optimization: of
//! single instructions, of exchanges between threads, and of kernels in the shape of real code.
//!
//! This establishes the tables of both machines: a form of generated code that were executed wrongly would
//! differ here. The forms are listed in `docs/reference/instructions.md`; `PTXSMITH_BLESS=1` compiles for
//! every target with every subject and writes that page.

#[path = "arithmetic/exchanges.rs"]
mod exchanges;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict};
use ptxsmith_diff::known::{Implementation, KNOWN};
use ptxsmith_gen::arithmetic::{TARGETS, directed, forms};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::{Tool, ToolKind, Toolchains};
use ptxsmith_subject::{Cancel, Description, Limits, OpenOptions, Ptxas, Subject, open, parse_spec};
use ptxsmith_syntax::parse;
use ptxsmith_testing::rendered;

/// Each with its letter on the page, and the targets that every run of the test compiles for.
const SUBJECTS: [(char, &str, &[usize]); 4] = [
    ('a', "ptxas@13.5", &[0, 4]),
    ('b', "ptxas@13.5 -O0", &[2]),
    ('c', "ptxas@12.9", &[]),
    ('d', "ptxas@12.9 -O0", &[]),
];
/// The index of the first target with arithmetic of packed halves.
const FIRST_PACKED: usize = 2;
/// How many kernels in a hundred may be left alone: without optimization, those with a stack ask for its limit.
const MOST_LEFT: usize = 4;
/// Over how many inputs each kernel is run.
const INPUTS: u64 = 9;
const PAGE: &str = "docs/reference/instructions.md";
const REAL: &str = include_str!("kernels/common.ptx");
/// Kernels of packed halves, for targets that have them.
const PACKED: &str = include_str!("kernels/packed.ptx");

/// The subjects, by letter, in whose code a form stands, by form and target.
type Forms = BTreeMap<(String, String), BTreeSet<char>>;

/// A kernel of a module.
fn shown(text: &str, kernel: &str) -> String {
    let from = text.find(&format!(".entry {kernel}(")).unwrap();
    text[from..].split_inclusive("}\n").next().unwrap().to_owned()
}

/// Opens a subject whose listings are left in a file as well.
fn opened(name: &str, folder: &Path) -> Option<Ptxas> {
    let toolchains = Toolchains::for_user().ok();
    let lists = toolchains.as_ref().and_then(|all| all.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
    let found = open(&parse_spec(name).unwrap(), &OpenOptions::default()).unwrap_or_default();
    let (Some(lists), Some(found)) = (lists, found.first()) else {
        eprintln!("NOT TESTED: {name} and nvdisasm are not installed");
        return None;
    };
    let (program, listing) = (folder.join("lists"), folder.join("listing"));
    let (lists, listing) = (lists.display(), listing.display());
    fs::write(&program, format!("#!/bin/sh\n'{lists}' \"$@\" > '{listing}' || exit 1\ncat '{listing}'\n"))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let description = found.description();
    let limits = Limits { time: Duration::from_secs(300), ..Limits::default() };
    let path = description.path.clone().expect("ptxas is a file");
    let ptxas = Ptxas::open(name.split(' ').next().unwrap(), path, limits, Cancel::new()).unwrap();
    let disassembler = Disassembler::new(program, Cancel::new());
    Some(ptxas.disassembling(Some(disassembler)).giving(&description.options).unwrap())
}

/// The opcodes in the code of each kernel of a listing, with their modifiers.
fn opcodes(listing: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut kernel = None;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix(".section\t") {
            kernel = section.strip_prefix(".text.").and_then(|name| name.split(',').next());
        }
        let (Some(kernel), Some((_, code))) =
            (kernel, line.strip_prefix("/*").and_then(|line| line.split_once("*/")))
        else {
            continue;
        };
        let code = code.trim();
        let code = if code.starts_with('@') {
            code.split_once(' ').map_or("", |(_, code)| code.trim())
        } else {
            code
        };
        let opcode = code.split([' ', ';']).next().unwrap_or_default();
        if opcode.starts_with(|c: char| c.is_ascii_uppercase()) {
            found.entry(kernel).or_default().insert(opcode);
        }
    }
    found
}

/// Whether a deviation of an implementation is listed for a kernel of a module.
fn is_listed(description: &Description, text: &str, kernel: &str) -> bool {
    let header = text.split(".visible").next().unwrap_or_default();
    let module = parse(&format!("{header}.visible {}", shown(text, kernel))).unwrap();
    KNOWN.iter().any(|known| {
        known.is_listed_for(Implementation::from_description(description)) && known.matches(&module)
    })
}

/// Compares what the kernels of a module compute. Returns the forms in the code of those that agree.
fn followed(subject: &Ptxas, folder: &Path, text: &str, target: &str) -> BTreeSet<String> {
    let calculations = Calculations::new(parse(text).unwrap(), &Rules::default(), INPUTS).unwrap();
    let judged = calculations.judge(subject, text, target).unwrap();
    assert!(!judged.kernels.is_empty(), "{} {target}: {:?}", subject.id(), judged.observation.diagnostics);
    let listing = fs::read_to_string(folder.join("listing")).unwrap();
    let opcodes = opcodes(&listing);
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = String::new();
    let mut forms = BTreeSet::new();
    for (kernel, verdict) in &judged.kernels {
        match verdict {
            KernelVerdict::Agrees => {
                forms.extend(opcodes.get(&**kernel).into_iter().flatten().map(|&opcode| opcode.to_owned()));
            }
            KernelVerdict::Differs(_) if is_listed(subject.description(), text, kernel) => {}
            KernelVerdict::Differs(result) => {
                let _ = writeln!(wrong, "{result:?}\n{}", shown(text, kernel));
            }
            KernelVerdict::NotFollowed(why) => *left.entry(why).or_default() += 1,
        }
    }
    assert!(wrong.is_empty(), "{} {target}:\n{wrong}", subject.id());
    let count: usize = left.values().sum();
    assert!(100 * count < MOST_LEFT * judged.kernels.len(), "{} {target}: {left:#?}", subject.id());
    forms
}

/// Reads the table of the page.
fn listed(page: &str) -> Forms {
    let mut forms = Forms::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let mut cells = row.trim_end_matches(" |").split(" | ");
        let form = cells.next().unwrap_or_default().trim_end_matches('`');
        for (cell, (target, _)) in cells.zip(TARGETS) {
            let letters: BTreeSet<char> = cell.chars().filter(char::is_ascii_lowercase).collect();
            forms.insert((form.to_owned(), target.to_owned()), letters);
        }
    }
    forms
}

fn page(forms: &Forms) -> String {
    let mut text = "# Instructions of generated code that are followed\n\n\
        This page is for people who ask why a kernel was not compared: ptxsmith follows only these instructions and modifiers\n\
        of generated code. Each stands in the code of a directed kernel that leaves what the PTX manual says\n\
        (`crates/diff/tests/arithmetic.rs`, which writes this page with `PTXSMITH_BLESS=1`).\n\n<!-- measured -->\n\n"
        .to_owned();
    for (letter, subject, _) in SUBJECTS {
        let _ = writeln!(text, "- `{letter}`: {subject}");
    }
    let _ = writeln!(text, "\n| | {} |", TARGETS.map(|(target, _)| target).join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(TARGETS.len()));
    let names: BTreeSet<&str> =
        forms.iter().filter(|(_, letters)| !letters.is_empty()).map(|((form, _), _)| &**form).collect();
    for form in names {
        let cell = |(target, _): (&str, &str)| {
            let letters = forms.get(&(form.to_owned(), target.to_owned()));
            letters.map_or_else(String::new, |letters| letters.iter().collect())
        };
        let _ = writeln!(text, "| `{form}` | {} |", TARGETS.map(cell).join(" | "));
    }
    text
}

#[test]
fn generated_code_computes_what_the_manual_says() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<usize> = (0..TARGETS.len()).collect();
    let is_blessed = std::env::var_os("PTXSMITH_BLESS").is_some();
    let own = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE))
        .unwrap_or_default();
    let mut forms = listed(&own);
    for (letter, name, targets) in SUBJECTS {
        let Some(subject) = opened(name, folder.path()) else { return };
        for &target in if is_blessed { &all } else { targets } {
            let (name, version) = TARGETS[target];
            for (_, letters) in forms.iter_mut().filter(|((_, own), _)| own == name) {
                letters.remove(&letter);
            }
            let real = REAL.replace("sm_75", name).replace(".version 7.0", &format!(".version {version}"));
            let mut texts =
                vec![directed(0..self::forms(target), target), exchanges::module(name, version), real];
            if target >= FIRST_PACKED {
                let packed =
                    PACKED.replace("sm_90", name).replace(".version 8.0", &format!(".version {version}"));
                texts.push(packed);
            }
            for form in texts.iter().flat_map(|text| followed(&subject, folder.path(), text, name)) {
                forms.entry((form, name.to_owned())).or_default().insert(letter);
            }
            rendered(PAGE, &page(&forms));
        }
    }
}
