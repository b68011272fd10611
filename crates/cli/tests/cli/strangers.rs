//! Programs contributed by others, and their expectations. `eval`, `lint` and `check` must give the same
//! results for a program and for ten equivalent variants.
//!
//! The correct results were derived from the specification by hand. Where it is silent nothing is compared,
//! and the subject's own messages are shown.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;
use ptxsmith_oracle::{Expectation, KernelOutcome, Rules, Undecided, Validity, predict};
use ptxsmith_subject::{OpenOptions, open, parse_spec};
use ptxsmith_testing::is_whole;
use regex_lite::{Captures, Regex};
use serde_json::Value;

/// A program and its correct results.
#[derive(Clone, Copy)]
struct Row {
    /// The file in `tests/strangers`, without extension.
    file: &'static str,
    /// The names that variants rename, separated by blanks; `s<` is the prefix of numbered names.
    names: &'static str,
    /// The validity of the module according to the specification.
    validity: Option<Validity>,
    /// Whether `--expect accepted` is not confirmed.
    is_open: bool,
    /// The class of the rejection.
    refused: &'static str,
    /// Variables with their bytes.
    holds: &'static [(&'static str, &'static str)],
    /// The start of the kernel's output buffer; empty if the kernel is not evaluated.
    leaves: Option<&'static str>,
    /// At least one of these words occurs in the reasons for undecided parts.
    because: &'static [&'static str],
    /// No warning or note of `lint` contains any of these words.
    lint_never: &'static [&'static str],
    /// The output of `lint` contains these words.
    lint_says: &'static [&'static str],
    /// The result of `check`.
    check: Option<Check>,
}

/// The result of `check` for a program and all its variants.
#[derive(Clone, Copy)]
struct Check {
    subject: &'static str,
    /// The class of the finding; `no` for no finding, `any` for a finding of any class.
    finding: &'static str,
    /// Strings that occur in the line of each file. `@N` stands for the line number of the program's Nth
    /// line.
    says: &'static [&'static str],
    /// Strings that do not occur in the line of any file.
    never: &'static [&'static str],
}

const SILENT: Check = Check { subject: "ptxas@13.5", finding: "no", says: &[], never: &[] };

const fn check(finding: &'static str, says: &'static [&'static str]) -> Option<Check> {
    Some(Check { finding, says, ..SILENT })
}

/// A row without expectations.
const ROW: Row = Row {
    file: "",
    names: "",
    validity: None,
    is_open: false,
    refused: "",
    holds: &[],
    leaves: None,
    because: &[],
    lint_never: &[],
    lint_says: &[],
    check: None,
};

const UNDECIDED: Option<Validity> = Some(Validity::Undecided);
const REFUSED: Option<Validity> = Some(Validity::Refused);
const VALID: Option<Validity> = Some(Validity::Valid);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // The specification does not describe .alias; the two names have the same address.
    Row { file: "alias-in-kernel", names: "fq gq k", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "alias-data-none", names: "base a1 t k", is_open: true, validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "alias-kernel", names: "example_foo foo", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    // The specification does not cover limits or anything outside the file.
    Row { file: "extern-unresolved", names: "counter pc pf k", check: check("no", &["Cannot take address of function"]), ..ROW },
    Row { file: "shared-init-hidden", names: "dead live k", check: check("no", &["uses too much shared data"]), ..ROW },
    Row { file: "const-over", names: "c1 c2 k", check: check("no", &["too much global constant data"]), ..ROW },
    // 0.1 is 0x3dcccccd as .f32 and 0x9999999a as the lower half of an .f64.
    Row { file: "number-for-bits-formal", names: "fq k", check: check("wrong-value", &[]), ..ROW },
    // 5.4.6: a body's s0, s1, s2 hide the module's s1 within it.
    Row { file: "numbered-beside-module", names: "rd k", check: check("wrong-value", &[]), ..ROW },
    Row { file: "numbered-of-other-size", names: "k1 k2", check: check("any", &[]), ..ROW },
    Row { file: "numbered-beside-kernel", check: check("any", &[]), ..ROW },
    Row { file: "bodies-on-one-line", names: "k1 k2 v", check: check("any", &[]), ..ROW },
    // 6.4.1.1: .const is a window of generic addressing; a[1] is 2.
    Row { file: "generic-name-of-const", names: "a k", validity: VALID, leaves: Some("02000000"), ..ROW },
    // 6.4.3: neither is a vector operand of registers.
    Row { file: "vector-of-one-number", names: "k V", validity: REFUSED, ..ROW },
    Row { file: "vector-with-a-variable", names: "a k", validity: REFUSED, ..ROW },
    // As for setp, 2^32 is true; the buffer is zero, and 0 is not 5.
    Row { file: "set-with-a-large-constant", names: "k", validity: VALID, leaves: Some("00000000"), ..ROW },
    // The count has 32 bits, whatever the type; one beyond the width shifts every bit out (9.7.8).
    Row { file: "shift-count-wider", names: "k", validity: VALID, leaves: Some("0000"), ..ROW },
    Row { file: "target-gone", names: "t k", holds: &[("t", "0100000002000000")], check: check("no", &["sm_70"]), ..ROW },
    Row { file: "many-registers", names: "k P", validity: VALID, leaves: Some("05000000"), lint_never: &["nothing declares", "undeclared"], ..ROW },
    Row { file: "managed", holds: &[("mptr", "0000000000000000"), ("mdata", "030000000400000005000000")], names: "mptr mdata", check: check("no", &["variables compared"]), ..ROW },
    Row { file: "managed-const", names: "mptr mdata mc", validity: REFUSED, refused: "attribute", ..ROW },
    Row { file: "sink-vector", names: "sh k", lint_never: &["nothing declares"], ..ROW },
    Row { file: "dwarf-dotted-symbol", names: "k", check: Some(Check { says: &["line @15", "Parsing error near '.'"], never: &["header"], ..SILENT }), ..ROW },
    // 16-bit registers are not valid operands of add.s32.
    Row { file: "mod-add-u8", names: "k p", leaves: Some(""), check: check("no", &["Arguments mismatch"]), ..ROW },
    Row { file: "nir-mov-float-int", names: "k p", validity: REFUSED, refused: "value-kind", ..ROW },
    Row { file: "int-in-float", names: "a b k", validity: REFUSED, refused: "value-kind", ..ROW },
    Row { file: "cutlass-xorsign", names: "k p", check: check("no", &["line @10"]), ..ROW },
    Row { file: "call-param-count", names: "oom k", check: check("no", &["line @12"]), ..ROW },
    // Names contain no point, and no specifier follows.
    Row { file: "extern-shared-illegal-name", names: "k", validity: UNDECIDED, because: &["`.`", "'.'", "point", "`.llvm`"], ..ROW },
    Row { file: "ucn-name", validity: UNDECIDED, ..ROW },
    Row { file: "gpu-used-before", names: "gpu_used", check: check("no", &["refused: line @4: Invalid initial value symbol"]), ..ROW },
    Row { file: "stack-align", names: "loc sh k", because: &["aligned"], check: check("no", &["aligned"]), ..ROW },
    // NaN < 1 is false, so !p is true.
    Row { file: "selp-negated", names: "k", validity: VALID, leaves: Some("00000080"), ..ROW },
    // The specification does not say which features a target or version has.
    Row { file: "f16x2g", names: "x", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "f16x2-on-sm-50", names: "f", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "b128-on-sm-60", names: "x", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "kernel-address-on-sm-30", names: "t k", validity: UNDECIDED, check: check("no", &[]), ..ROW },
    Row { file: "a32-header", check: check("no", &["32-Bit ABI"]), ..ROW },
    Row { file: "a32", names: "g x y", holds: &[("x", "0000000007000000"), ("y", "09000000")], check: Some(Check { subject: "ptxas@12.0", ..SILENT }), ..ROW },
    // The specification does not say whether a name may be declared twice.
    Row { file: "extern-shared-two-alignments", names: "smem k p", validity: UNDECIDED, check: Some(Check { subject: "ptxas@12.0", says: &["refused: line @5", "declares more than once"], ..SILENT }), ..ROW },
    Row { file: "later-version", names: "t k p", holds: &[("t", "0100000002000000")], check: Some(Check { subject: "ptxas@12.0", finding: "crash", ..SILENT }), ..ROW },
    // A comment may contain anything. The specification does not cover other non-ASCII characters.
    Row { file: "non-ascii-file-name", names: "t k", lint_says: &["12.3 to 12.6", "12.8 and later refuse"], check: check("no", &["refused: Unexpected non-ASCII character encountered on line @5"]), ..ROW },
    // Not a PTX statement: every release just rejects it.
    Row { file: "if-statement", names: "k n a", validity: UNDECIDED, lint_never: &["SIGSEGV", "kills", "crash"], check: check("no", &["refused: line @7"]), ..ROW },
    // These words are not names, and .common is not allowed in .const.
    Row { file: "underscore-as-name", is_open: true, validity: UNDECIDED, ..ROW },
    Row { file: "constant-as-name", is_open: true, validity: UNDECIDED, ..ROW },
    Row { file: "common-in-const", names: "c", is_open: true, validity: UNDECIDED, ..ROW },
];

/// Returns the folder of the programs.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strangers")
}

/// A variant of a program with the same meaning.
struct Variant {
    text: String,
    /// The number of lines before the program's own.
    before: usize,
    /// Whether the names are changed.
    is_renamed: bool,
}

impl Row {
    fn text(&self) -> String {
        fs::read_to_string(programs().join(self.file).with_extension("ptx")).expect("a program can be read")
    }

    /// Returns the new name for a renamed name.
    fn other_name(name: &str) -> String {
        format!("of_others_{name}")
    }

    fn renamed(&self, text: &str) -> String {
        let names: Vec<&str> = self.names.split_whitespace().collect();
        let word = Regex::new(r"[A-Za-z_$%.][A-Za-z0-9_$.]*").unwrap();
        let other = |found: &Captures<'_>| match &found[0] {
            name if names.contains(&name) => Row::other_name(name),
            name => name.to_owned(),
        };
        word.replace_all(text, other).into_owned()
    }

    /// Swaps the first two declarations on lines of their own that do not name each other.
    fn reordered(&self, text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        let is_variable = |line: &str| {
            line.ends_with(';')
                && line.matches(';').count() == 1
                && [".global", ".const", ".shared", ".visible .global"]
                    .iter()
                    .any(|word| line.starts_with(word))
        };
        let declared = |line: &str| -> Vec<String> {
            let names = self
                .names
                .split_whitespace()
                .filter(|name| Regex::new(&format!(r"(^|[^\w.]){name}($|[^\w])")).unwrap().is_match(line));
            names.map(str::to_owned).collect()
        };
        let pair = lines.windows(2).position(|pair| {
            let [one, other] = [declared(pair[0]), declared(pair[1])];
            pair.iter().all(|line| is_variable(line)) && one.iter().all(|name| !other.contains(name))
        });
        if let Some(at) = pair {
            lines.swap(at, at + 1);
        }
        lines.join("\n") + "\n"
    }

    /// Returns the program itself and ten variants.
    fn variants(&self) -> Vec<Variant> {
        let text = self.text();
        let same = |text: String| Variant { text, before: 0, is_renamed: false };
        let spaced = |text: &str| {
            let blank = Regex::new(r"([,;{}\]]) ").unwrap();
            blank.replace_all(text, "$1 \t ").replace(" [", "   [")
        };
        let commented = |text: &str| {
            text.replace("; ", "; /* as before */ ").replace(".address_size", "/**/ .address_size")
        };
        // 8.0 supports everything that these versions support, and every tested release accepts it.
        let versioned = |text: &str| {
            Regex::new(r"^\.version 7\.[5-8]").unwrap().replace(text, ".version 8.0").into_owned()
        };
        let led = |text: &str| format!("// A program of somebody else.\n\n{text}");
        let with_variable = |text: &str| format!("{}\n.global .u32 neighbour_of_all = 3;\n", text.trim_end());
        let with_kernel =
            |text: &str| format!("{}\n.visible .entry neighbour_kernel() {{ ret; }}\n", text.trim_end());
        vec![
            same(text.clone()),
            Variant { is_renamed: true, ..same(self.renamed(&text)) },
            same(spaced(&text)),
            same(commented(&text)),
            Variant { before: 2, ..same(led(&text)) },
            same(self.reordered(&text)),
            same(with_variable(&text)),
            same(with_kernel(&text)),
            same(versioned(&with_kernel(&with_variable(&self.reordered(&text))))),
            Variant { is_renamed: true, before: 2, ..same(led(&spaced(&self.renamed(&text)))) },
            Variant {
                is_renamed: true,
                before: 2,
                ..same(led(&with_variable(&commented(&spaced(&self.renamed(&self.reordered(&text)))))))
            },
        ]
    }
}

/// Returns the errors in the oracle's result for a program.
fn faults_of_eval(row: &Row, variant: &Variant) -> Vec<String> {
    let mut faults = Vec::new();
    let Ok(module) = ptxsmith_syntax::parse(&variant.text) else {
        return vec!["it is not split into statements".to_owned()];
    };
    let prediction = predict(&module, &Rules::default());
    let reasons = || prediction.undecided.iter().map(Undecided::explained).collect::<Vec<_>>().join("; ");
    if let Some(validity) = row.validity.filter(|&validity| validity != prediction.validity()) {
        faults.push(format!("eval: {:?} and not {validity:?}: {}", prediction.validity(), reasons()));
    }
    if row.is_open
        && matches!(&prediction.data, Expectation::Accepted { unmodelled, .. } if unmodelled.is_empty())
    {
        faults.push(format!("eval: --expect accepted is answered with yes: {}", reasons()));
    }
    if !row.refused.is_empty() {
        let class = match &prediction.data {
            Expectation::Refused { refusal, .. } => refusal.class.name(),
            _ => "not refused",
        };
        if class != row.refused {
            faults.push(format!("eval: {class} and not {}", row.refused));
        }
    }
    for (name, bytes) in row.holds {
        let name = if variant.is_renamed { Row::other_name(name) } else { (*name).to_owned() };
        let Expectation::Accepted { variables, .. } = &prediction.data else {
            faults.push(format!("eval: nothing of {name}: {}", reasons()));
            continue;
        };
        let held = variables.iter().find(|variable| variable.name.as_str() == name);
        let held = held.map(|variable| ptxsmith_oracle::hex(&variable.bytes));
        if held.as_deref() != Some(bytes) {
            faults.push(format!("eval: {name} holds {held:?} and not {bytes}: {}", reasons()));
        }
    }
    if let Some(bytes) = row.leaves {
        let left: Vec<String> = (prediction.kernels.iter())
            .filter_map(|kernel| match &kernel.outcome {
                KernelOutcome::Output(output) if !output.bytes.is_empty() => {
                    Some(ptxsmith_oracle::hex(&output.bytes))
                }
                _ => None,
            })
            .collect();
        let is_right = match bytes {
            "" => left.is_empty(),
            bytes => left.iter().any(|left| left.starts_with(bytes)),
        };
        if !is_right {
            faults.push(format!("eval: kernels leave {left:?} and not {bytes:?}: {}", reasons()));
        }
    }
    if !row.because.is_empty() && !row.because.iter().any(|word| reasons().contains(word)) {
        faults.push(format!("eval: no word of {:?}: {}", row.because, reasons()));
    }
    faults
}

/// Adds the errors of a row. An error that occurs in several variants is added once.
fn add_faults(all: &mut Vec<String>, row: &Row, faults_of: impl Fn(&Variant) -> Vec<String>) {
    let mut by_fault: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (nth, variant) in row.variants().iter().enumerate() {
        for fault in faults_of(variant) {
            by_fault.entry(fault.replace(&Row::other_name(""), "")).or_default().push(nth);
        }
    }
    all.extend(by_fault.into_iter().map(|(fault, variants)| format!("{} {variants:?}: {fault}", row.file)));
}

/// Panics if there are errors.
fn none_of(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_table_has_every_program_and_no_other() {
    let mut named: Vec<String> = ROWS.iter().map(|row| format!("{}.ptx", row.file)).collect();
    named.extend(["byte-of-function.ptx", "dump.ptx", "link-a.ptx", "link-b.ptx"].map(str::to_owned));
    named.sort();
    let there = fs::read_dir(programs()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut there: Vec<String> = there.map(|name| name.into_string().unwrap()).collect();
    there.sort();
    assert_eq!(named, there);
}

#[test]
fn the_variants_are_ten_other_texts_of_which_each_kind_changes_some() {
    let mut changed = [0; 11];
    for row in ROWS {
        let variants = row.variants();
        assert_eq!(variants.len(), 11);
        for (count, variant) in changed.iter_mut().zip(&variants) {
            *count += usize::from(variant.text != variants[0].text);
        }
    }
    assert_eq!(changed[0], 0);
    // Few programs have declarations that can be swapped.
    assert!(changed[1..].iter().all(|&count| count >= 3), "{changed:?}");
}

#[test]
fn eval_says_what_is_right_of_each_program_and_of_its_variants() {
    let mut faults = Vec::new();
    for row in ROWS {
        add_faults(&mut faults, row, |variant| faults_of_eval(row, variant));
    }
    none_of(faults);
}

/// 5.4.4 states both that an element of a byte array may be the masked address of a variable or function, and
/// that variables hold addresses.
#[test]
fn the_byte_of_a_function_is_an_open_question() {
    let text = fs::read_to_string(programs().join("byte-of-function.ptx")).unwrap();
    let prediction = predict(&ptxsmith_syntax::parse(&text).unwrap(), &Rules::default());
    let asked: Vec<_> = prediction.trace().questions.iter().collect();
    assert!(!asked.is_empty(), "no question is met: {:?}", prediction.validity());
}

#[test]
fn a_dump_of_cuobjdump_is_called_one() {
    let output = ptxsmith().arg("eval").arg(programs().join("dump.ptx")).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert!(said.contains("cuobjdump"), "{said}");
}

#[test]
fn lint_says_what_is_right_of_a_program() {
    let directory = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    for row in ROWS.iter().filter(|row| !row.lint_never.is_empty() || !row.lint_says.is_empty()) {
        add_faults(&mut faults, row, |variant| {
            let path = file(directory.path(), "program.ptx", &variant.text);
            let output = ptxsmith().args(["lint", "--deny", "uncompared"]).arg(path).output().unwrap();
            let said = stdout(&output);
            let wrong = row.lint_never.iter().filter(|words| said.contains(**words));
            let missing = row.lint_says.iter().filter(|words| !said.contains(**words));
            let wrong = wrong.map(|words| format!("lint: {words:?} in {said}"));
            wrong.chain(missing.map(|words| format!("lint: no {words:?} in {said}"))).collect()
        });
    }
    none_of(faults);
}

/// Returns true if a subject is available.
fn is_here(subject: &str) -> bool {
    let opened = open(&parse_spec(subject).expect("it is a subject"), &OpenOptions::default());
    opened.inspect_err(|error| eprintln!("NOT TESTED: {subject}: {error}")).is_ok()
}

/// Checks files with a subject. Returns the report and all output.
fn checked(directory: &Path, subject: &str, files: &[PathBuf]) -> (Value, String) {
    // Use the releases of the user, which tests otherwise hide.
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"));
    command
        .args(["check", "--subject", subject, "--replace", "--out"])
        .arg(directory.join("out"))
        .args(files);
    let output = command.output().unwrap();
    let report = fs::read(directory.join("out/report.json")).expect("check writes a report");
    (serde_json::from_slice(&report).unwrap(), stdout(&output) + &stderr(&output))
}

/// The variants that subjects get but in a whole run: the original, and all changes but the version.
const SHOWN: [usize; 2] = [0, 10];

fn faults_of_check(row: &Row, expected: &Check) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let mut variants = row.variants();
    if !is_whole() {
        let mut nth = 0..;
        variants.retain(|_| SHOWN.contains(&nth.next().expect("there is another number")));
    }
    let write = |(nth, variant): (usize, &Variant)| {
        file(directory.path(), &format!("{}-{nth:02}.ptx", row.file), &variant.text)
    };
    let files: Vec<PathBuf> = variants.iter().enumerate().map(write).collect();
    let (report, said) = checked(directory.path(), expected.subject, &files);
    let mut faults = Vec::new();
    let findings = report["findings"].as_array().expect("a report has findings");
    let classes: Vec<&str> = findings.iter().filter_map(|finding| finding["class"].as_str()).collect();
    let is_right = match expected.finding {
        "no" => classes.is_empty(),
        "any" => !classes.is_empty(),
        class => classes.contains(&class),
    };
    if !is_right {
        faults.push(format!("check: finds {classes:?}; {:?} is right", expected.finding));
    }
    if expected.finding != "no" {
        let shown: u64 = findings.iter().filter_map(|finding| finding["count"].as_u64()).sum();
        if shown < variants.len() as u64 {
            faults.push(format!("check: {shown} of {} programs show it", variants.len()));
        }
    }
    for (path, variant) in files.iter().zip(&variants) {
        let name = path.file_name().unwrap().to_string_lossy();
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&*name)).collect();
        let own = lines.join("\n");
        let place = Regex::new(r"@(\d+)").unwrap();
        for words in expected.says {
            let moved =
                |found: &Captures<'_>| (found[1].parse::<usize>().unwrap() + variant.before).to_string();
            let words = place.replace_all(words, moved);
            if !own.contains(&*words) {
                faults.push(format!("check: {name}: no {words:?}: {own}"));
            }
        }
        for words in expected.never.iter().filter(|words| own.contains(**words)) {
            faults.push(format!("check: {name}: {words:?}: {own}"));
        }
    }
    faults
}

#[test]
fn check_says_what_is_right_of_each_program_and_of_its_variants() {
    let mut faults = Vec::new();
    for subject in ["ptxas@13.5", "ptxas@12.0"] {
        if !is_here(subject) {
            continue;
        }
        for (row, check) in
            ROWS.iter().filter_map(|row| Some((row, row.check.filter(|own| own.subject == subject)?)))
        {
            let own = faults_of_check(row, &check).into_iter();
            faults.extend(own.map(|fault| format!("{}: {fault}", row.file)));
        }
    }
    none_of(faults);
}

/// Modules are checked separately unless they are linked; definitions in both are reported.
#[test]
fn what_two_files_define_both_is_said() {
    if !is_here("ptxas@13.5") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let files = ["link-a.ptx", "link-b.ptx"].map(|name| programs().join(name));
    let (_, said) = checked(directory.path(), "ptxas@13.5", &files);
    assert!(said.contains("duppi") && said.contains("alone"), "{said}");
}
