//! Writes a finding as a file that an assembler accepts, with expectations in leading comments as in the
//! corpus.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ptxsmith_model::{Expected, ExpectedAnswer};
use ptxsmith_oracle::{Interpretation, hex};
use ptxsmith_report::harmless::line;
use ptxsmith_report::{Finding, Status, describe, folder};
use ptxsmith_subject::Address;

use super::Campaign;
use crate::failure::Failure;
use crate::files::{self, FOUND_BY, findings_in};
use crate::ledger::PendingFinding;
use crate::pool::lock_of;

pub use folder::FINDINGS as FOLDER;

/// Returns the files of a finding in the output directory: the minimized reproducer, and the original program
/// if it is a different one.
pub fn paths_of(directory: &Path, id: &str) -> [PathBuf; 2] {
    ["", ".found"].map(|kind| directory.join(FOLDER).join(format!("{id}{kind}.ptx")))
}

/// The largest program in bytes to include in a command.
const MOST_GIVEN: usize = 4_000;

/// Escapes a program as a format of the shell's `printf`, in one line.
fn printed(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('%', "%%")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
        .replace('\r', "\\r")
}

/// Returns the ids of the findings whose files are in the output directory.
pub fn ids_in(directory: &Path) -> BTreeSet<String> {
    findings_in(directory).iter().filter_map(|path| id_of_file(path)).collect()
}

/// Returns the id of the finding that a file belongs to.
fn id_of_file(path: &Path) -> Option<String> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".ptx")?;
    Some(stem.strip_suffix(".found").unwrap_or(stem).to_owned())
}

impl Campaign<'_> {
    /// Returns the file of a finding, relative to the output directory.
    pub fn file_of(&self, found: &PendingFinding) -> PathBuf {
        let [path, _] = paths_of(Path::new(""), &found.finding.id);
        path
    }

    /// Returns the command that reproduces a finding. It runs in the output directory if there is one, so
    /// that the report does not depend on the location of this directory.
    pub fn repeat(&self, found: &PendingFinding) -> String {
        let path = match (&self.store.out, &found.origin) {
            (None, Some(origin)) if origin == "-" => return self.repeat_of_text(found),
            (None, Some(origin)) => origin.clone(),
            _ => self.file_of(found).to_string_lossy().into_owned(),
        };
        format!("ptxsmith check {}{}", shell_words::quote(&path), self.options(found))
    }

    fn options(&self, found: &PendingFinding) -> String {
        let mut options = String::new();
        for subject in &found.finding.subjects {
            let _ = write!(options, " --subject {}", shell_words::quote(subject));
        }
        for path in &self.session.known {
            let _ = write!(options, " --known {}", shell_words::quote(&path.to_string_lossy()));
        }
        for &(question, answer) in &self.answers {
            let _ = write!(options, " --interpretation {}", Interpretation(question, answer));
        }
        options
    }

    /// Returns the command for a program from standard input. There is no file of it, so the command contains
    /// the program if it is small.
    fn repeat_of_text(&self, found: &PendingFinding) -> String {
        let text = &found.finding.program;
        let given = match text.len() {
            ..=MOST_GIVEN => format!("printf {} | ", shell_words::quote(&printed(text))),
            _ => String::new(),
        };
        format!("{given}ptxsmith check -{}", self.options(found))
    }

    /// Writes the minimized reproducer of a finding with its expected and observed results, and beside it the
    /// original program with its own.
    pub(super) fn save_finding(&self, found: &PendingFinding) -> Result<(), Failure> {
        let Some(out) = &self.store.out else { return Ok(()) };
        let [path, path_of_found] = paths_of(out, &found.finding.id);
        files::write_whole(&path, self.annotated(found).as_bytes())?;
        if found.finding.example().program != found.finding.program {
            let mut as_found = found.clone();
            as_found.finding.reduced = None;
            files::write_whole(&path_of_found, self.annotated(&as_found).as_bytes())?;
        } else {
            // Remove the file of an earlier campaign.
            let _ = std::fs::remove_file(&path_of_found);
        }
        if lock_of(&self.store.written).insert(found.finding.id.clone()) {
            self.session.events.found(&found.finding);
        }
        Ok(())
    }

    fn annotated(&self, found: &PendingFinding) -> String {
        let finding = &found.finding;
        let named = self.named(&finding.subjects[0]);
        let origin = match &found.origin {
            Some(origin) => format!("from {origin}"),
            None => format!("seed {}, case {}", self.seed, found.trial),
        };
        let smaller = finding.example().program != finding.program;
        let found_by = match (smaller, finding.status) {
            (true, Status::Known) => "the listed program of what was ",
            (true, _) => "reduced from what was ",
            (false, _) => "",
        };
        with_comments(finding, |finding| {
            let mut notes = vec![format!("{}: {}", finding.class, finding.title)];
            notes.extend(describe::observed(finding).into_iter().map(|seen| format!("{named}: {seen}")));
            notes.push(format!("repeat: {}", self.repeat(found)));
            notes.push(format!("{found_by}{FOUND_BY}{}, {origin}", env!("CARGO_PKG_VERSION")));
            notes
        })
    }

    /// Returns a subject with its version: `ptxas@13.5 (13.5.37)`.
    pub(super) fn named(&self, id: &str) -> String {
        let known = self.subjects.iter().find(|tested| tested.subject.id() == id);
        match known.and_then(|tested| tested.subject.description().version.as_deref()) {
            Some(version) => format!("{id} ({version})"),
            None => id.to_owned(),
        }
    }
}

/// Returns the program after comments with the expected result, the observed result and the origin. Line
/// numbers in the notes refer to the returned text.
pub fn with_comments(finding: &Finding, notes: impl Fn(&Finding) -> Vec<String>) -> String {
    let example = finding.example();
    // The expectation of a program without storage, such as one `.extern` variable, depends on no clause.
    let clauses = clauses_of(finding);
    let clauses = (!clauses.is_empty()).then(|| ("clause", clauses.join(", ")));
    let mut comments: Vec<(&str, String)> =
        clauses.into_iter().chain(expectation(example.expected)).collect();
    let body = without_leading_comments(example.program);
    let before = &example.program[..example.program.len() - body.len()];
    let after = comments.len() + notes(finding).len();
    let moved = with_lines_moved(finding, after as i64 - before.lines().count() as i64);
    comments.extend(notes(&moved).into_iter().map(|note| ("note", note)));
    let comments = comments.iter().map(|(key, value)| format!("// {key}: {}\n", line(value)));
    comments.collect::<String>() + body
}

/// Returns the finding with its line numbers increased by `by`.
fn with_lines_moved(finding: &Finding, by: i64) -> Finding {
    let mut finding = finding.clone();
    let answers = finding.reduced.as_mut().and_then(|reduced| reduced.answers.as_mut());
    let (expected, observed) = match answers {
        Some(answers) => (&mut answers.expected, &mut answers.observed),
        None => (&mut finding.expected, &mut finding.observed),
    };
    for line in observed.diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.line.as_mut()) {
        *line = line.saturating_add_signed(by as i32);
    }
    if let ExpectedAnswer::Accesses(accesses) = &mut expected.answer {
        for line in accesses.iter_mut().filter_map(|access| access.line.as_mut()) {
            *line = line.saturating_add_signed(by as i32);
        }
    }
    finding
}

/// Returns the clauses of a finding on which the result of its example depends. A minimized reproducer
/// depends on fewer clauses than the original program. Results of kernels depend on more clauses than
/// variables show.
pub fn clauses_of(finding: &Finding) -> Vec<String> {
    let example = finding.example();
    let of_example = example.expected.clauses();
    let is_known = !of_example.is_empty() && example.observed.kernels.is_empty();
    let clauses = finding.clauses.iter().filter(|clause| !is_known || of_example.contains(clause.as_str()));
    clauses.cloned().collect()
}

/// Removes the leading comments. A program of the corpus already has expectations there, and a finding adds
/// its own.
pub fn without_leading_comments(program: &str) -> &str {
    let comments = program.split_inclusive('\n').take_while(|line| line.starts_with("//"));
    &program[comments.map(str::len).sum()..]
}

/// Returns the expected result as keys and values, in the order of the corpus.
fn expectation(expected: &Expected) -> Vec<(&'static str, String)> {
    let mut outcome = expected.outcome().unwrap_or("null").to_owned();
    if let Some(refusal) = expected.refusal() {
        let _ = write!(outcome, " {}", refusal.class);
    }
    let mut lines = vec![("expect", outcome)];
    let readings = expected.readings().into_iter();
    lines.extend(readings.map(|(question, answer)| ("reading", format!("{question}={answer}"))));
    let mut addresses = Vec::new();
    for (name, variable) in expected.variables() {
        let size = or_null(variable.size);
        let align = or_null(variable.align);
        let bytes = variable.bytes.as_ref().map_or_else(|| "null".to_owned(), hex);
        lines.push(("variable", format!("{name} size={size} align={align} bytes={bytes}")));
        for Address { offset, width, symbol, addend, generic, byte } in variable.addresses.iter().flatten() {
            let mut line = format!("{name} offset={offset} width={width} symbol={symbol} addend={addend}");
            if let Some(generic) = generic {
                let _ = write!(line, " generic={generic}");
            }
            if let Some(byte) = byte {
                let _ = write!(line, " byte={byte}");
            }
            addresses.push(("address", line));
        }
    }
    lines.extend(addresses);
    lines
}

fn or_null(number: Option<u64>) -> String {
    number.map_or_else(|| "null".to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Rules, expect};
    use ptxsmith_subject::{Diagnostic, Observation, Outcome, Severity};

    fn lines(text: &str) -> Vec<(&'static str, String)> {
        let module = ptxsmith_syntax::parse(text).unwrap();
        let rules = Rules::default();
        expectation(&Expected::of_module(expect(&module, &rules).answer(text, &rules.readings)))
    }

    #[test]
    fn an_expectation_is_written_as_in_the_corpus() {
        let lines =
            lines(".version 7.8\n.target sm_80\n.global .u32 t[4];\n.global .u64 x[2] = {1 << 64, t + 4};\n");
        let expected = [
            ("expect", "accepted"),
            ("reading", "shift-count=saturate"),
            ("variable", "t size=16 align=4 bytes=00000000000000000000000000000000"),
            ("variable", "x size=16 align=8 bytes=00000000000000000000000000000000"),
            ("address", "x offset=8 width=8 symbol=t addend=4 generic=false"),
        ];
        assert_eq!(lines, expected.map(|(key, value)| (key, value.to_owned())));
    }

    #[test]
    fn a_refusal_names_its_class() {
        let lines = lines(".version 7.8\n.target sm_80\n.global .u64 x = 18446744073709551616;\n");
        assert_eq!(lines[0], ("expect", "refused literal-out-of-range".to_owned()));
        assert_eq!(lines[1], ("reading", "literal-range=refused".to_owned()));
    }

    #[test]
    fn the_lines_of_a_note_are_those_of_the_file() {
        let message = Diagnostic { severity: Severity::Error, line: Some(3), message: "no".to_owned() };
        let observed = Observation { diagnostics: vec![message], ..Observation::new(Outcome::Refused) };
        let program = "// of the user\n.version 7.8\n.global .u8 x[1 + 1];\n".to_owned();
        let finding = Finding { program, observed, ..Finding::default() };
        let text = with_comments(&finding, describe::observed);
        let said = text.lines().find_map(|line| line.strip_prefix("// note: line ")).unwrap();
        let (number, _) = said.split_once(':').unwrap();
        assert_eq!(text.lines().nth(number.parse::<usize>().unwrap() - 1), Some(".global .u8 x[1 + 1];"));
    }

    #[test]
    fn only_comments_before_the_program_are_left_out() {
        assert_eq!(without_leading_comments("// a: b\n// c\n.version 7.8\n// d\n"), ".version 7.8\n// d\n");
        assert_eq!(without_leading_comments("// a"), "");
    }

    #[test]
    fn the_lines_of_a_note_are_right_below_any_number_of_comments() {
        for comments in ["", "// one\n", "// one\n// two\n// three\n"] {
            let program = format!("{comments}.version 7.8\n.global .u8 x[1 + 1];\n");
            let line = Some(program.lines().count() as _);
            let message = Diagnostic { severity: Severity::Error, line, message: "no".to_owned() };
            let observed = Observation { diagnostics: vec![message], ..Observation::new(Outcome::Refused) };
            let finding = Finding { program, observed, ..Finding::default() };
            let text = with_comments(&finding, describe::observed);
            let said = format!("// note: line {}:", text.lines().count());
            assert!(text.contains(&said), "{text}");
        }
    }

    #[test]
    fn a_finding_rests_on_the_clauses_that_its_example_met() {
        let json = |text: &str| serde_json::from_str::<Expected>(text).unwrap();
        let clauses =
            ["4.5.1/literal-octal", "4.5.1/narrowing", "5.4.4/value-kind"].map(str::to_owned).to_vec();
        let own = |expected: Expected| {
            clauses_of(&Finding { clauses: clauses.clone(), expected, ..Finding::default() })
        };
        let of_variable = json(r#"{"variables": {"a": {"clauses": ["4.5.1/narrowing", "5.4.1/scalar"]}}}"#);
        assert_eq!(own(of_variable), ["4.5.1/narrowing"]);
        assert_eq!(own(json(r#"{"refusal": {"clauses": ["5.4.4/value-kind"]}}"#)), ["5.4.4/value-kind"]);
        assert_eq!(own(Expected::default()), clauses);
    }

    #[test]
    fn the_files_of_a_directory_name_its_findings() {
        let directory = tempfile::tempdir().unwrap();
        assert!(ids_in(directory.path()).is_empty());
        std::fs::create_dir(directory.path().join(FOLDER)).unwrap();
        for name in ["a.ptx", "a.found.ptx", "b.found.ptx", "c.txt"] {
            std::fs::write(directory.path().join(FOLDER).join(name), files::provenance("seed 1")).unwrap();
        }
        // A program of the user.
        std::fs::write(directory.path().join(FOLDER).join("mine.ptx"), ".version 7.8").unwrap();
        assert_eq!(ids_in(directory.path()), BTreeSet::from(["a", "b"].map(str::to_owned)));
    }

    #[test]
    fn a_program_is_shown_again_from_where_it_came() {
        use crate::campaign::fake::{campaign, found, session};
        use crate::session::Session;
        use ptxsmith_diff::Class;
        use ptxsmith_oracle::Question;

        let answers = vec![(Question::ShiftCount, 1)];
        let session = Session { known: vec!["own list".into()], answers, ..session() };
        let campaign = campaign(&session, Vec::new());
        let shown = |origin: Option<&str>, text: &str| {
            let seen = Observation::default();
            let mut found = found("an-id", Class::Crash, "", None, seen);
            found.finding.subjects = vec!["a".to_owned(), "b c".to_owned()];
            (found.origin, found.finding.program) = (origin.map(str::to_owned), text.to_owned());
            campaign.repeat(&found)
        };
        let to = " --subject a --subject 'b c' --known 'own list' --interpretation shift-count=modulo";
        assert_eq!(shown(None, "x"), format!("ptxsmith check findings/an-id.ptx{to}"));
        assert_eq!(shown(Some("x y.ptx"), "x"), format!("ptxsmith check 'x y.ptx'{to}"));
        // There is no file of a program from standard input.
        assert_eq!(shown(Some("-"), "x\t%\n"), format!(r"printf 'x\t%%\n' | ptxsmith check -{to}"));
        let longest = "x".repeat(MOST_GIVEN);
        assert_eq!(shown(Some("-"), &longest), format!("printf {longest} | ptxsmith check -{to}"));
        assert_eq!(shown(Some("-"), &(longest + "x")), format!("ptxsmith check -{to}"));
    }
}
