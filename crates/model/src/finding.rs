//! A finding: a deviation, the smallest program that shows it, and the subjects that show it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Class, Expected, FindingKind, Observation, ReleaseVerdict, Status};

/// One distinct deviation, in all subjects that show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The stable id, printed in reports.
    pub id: String,
    /// New, gone or known.
    pub status: Status,
    /// The kind of the finding: which rule explains it, if any.
    #[serde(default)]
    pub kind: FindingKind,
    /// The class of the deviation.
    pub class: Class,
    /// The subjects that show it. The first one made the observation of the example.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// The clauses of the specification that the subjects violate.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// Whether the specification accepts the program: `valid`, `refused` or `undecided`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub validity: String,
    /// A description of the deviation in one line.
    pub title: String,
    /// The number of verdicts that show it.
    #[serde(default)]
    pub count: u64,
    /// The shortest program that shows it.
    #[serde(default)]
    pub program: String,
    /// For a program of several modules: the modules after the first one, which is [`Finding::program`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<LinkedProgram>,
    /// For a finding of a compiler that prints PTX: a description of its source, which is
    /// [`Finding::program`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted: Option<EmittedProgram>,
    /// The expected and the actual result in words, if `expected` and `observed` do not contain them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ComparedResults>,
    /// The places in the user's files that show it: the first [`FilePlace::MOST`] places, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<FilePlace>,
    /// The variable that shows it, if it concerns one.
    #[serde(default)]
    pub variable: Option<String>,
    /// The answer of the specification, as `ptxsmith.module/1`.
    #[serde(default)]
    pub expected: Expected,
    /// The result of the subject.
    #[serde(default)]
    pub observed: Observation,
    /// The ptxsmith command that reproduces it.
    #[serde(default)]
    pub repeat: String,
    /// A shell command that reproduces it without ptxsmith; `None` if a shell cannot run the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// The reason why it is expected, if a file of expected failures lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_failure: Option<ExpectedFailure>,
    /// The file of the program, relative to the report's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The verdict of every release, computed after reduction; empty if it was not requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<ReleaseVerdict>,
    /// The time at which it was first seen: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// The program after reduction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Reduced>,
    /// The smallest program with one word replaced so that it conforms; it shows how little makes the
    /// difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<String>,
    /// The findings that were merged into it, in the order in which they were merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Joined>,
    /// A link to the bug report about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// For a finding that is gone: how to narrow or remove its entry in the list of known deviations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
}

/// A place in a file of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FilePlace {
    /// The path as the user gave it.
    pub file: String,
    /// The line, from 1; 0 if only the file is known.
    pub line: u32,
    /// The column in characters, from 1; 0 if only the line is known.
    pub column: u32,
}

impl FilePlace {
    /// The maximum number of places that a finding keeps.
    pub const MOST: usize = 100;
}

impl std::fmt::Display for FilePlace {
    /// Writes `file:line:column`, or as much of it as is known.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        let known = [self.line, self.column].into_iter().take_while(|&number| number > 0);
        known.into_iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// The expected and the actual result in words, for a finding that involves more than a single module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComparedResults {
    /// The result that the specification or the source requires.
    pub expected: String,
    /// The actual result.
    pub actual: String,
    /// The seed and the case number from which the program was generated; empty if it was not generated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub found_by: String,
}

/// The modules that a linker links with the program of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkedProgram {
    /// The modules after the first one, in the order in which they are linked.
    pub modules: Vec<String>,
    /// The order of linking, with modules by number and relocatable links in `-r()`: `1 -r(2)`. Empty if all
    /// modules are linked at once.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub way: String,
}

/// The part of a finding that concerns a compiler which prints PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmittedProgram {
    /// The relevant declarations, in one line.
    pub declaration: String,
    /// The lines of the PTX that name the global: its declaration, and the loads of its kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// The command of a shell that prints the PTX; `{source}` stands for the file of the program.
    pub command: String,
}

/// A finding that was merged into another one because both have the same cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The id before the merge.
    pub id: String,
    /// The title before the merge.
    #[serde(default)]
    pub title: String,
    /// The number of verdicts that showed it.
    #[serde(default)]
    pub count: u64,
    /// The reason for the assumption that the causes are the same.
    pub because: String,
}

/// An entry of a file of expected failures that covers a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedFailure {
    /// The reason why the failure is expected.
    pub reason: String,
    /// A link to the place where the failure is tracked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// An expected failure that did not occur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedPass {
    /// The id of the finding.
    pub id: String,
    /// The subject, as `--subject` names it.
    pub subject: String,
    /// The reason why the failure was expected.
    pub reason: String,
}

impl Finding {
    /// Returns true if the finding sets the exit status of a campaign to 1: it is new or gone, and not
    /// expected.
    pub const fn needs_attention(&self) -> bool {
        self.status.needs_attention() && self.expected_failure.is_none()
    }

    /// Returns true if the finding would set the exit status to 1 but is expected.
    pub const fn is_expected(&self) -> bool {
        self.status.needs_attention() && self.expected_failure.is_some()
    }

    /// Returns the status that reports display: `new`, `known`, `gone`, or `expected`.
    pub fn label(&self) -> &'static str {
        if self.is_expected() { "expected" } else { self.status.name() }
    }

    /// Returns true if the deviation is listed and was observed.
    pub fn is_known(&self) -> bool {
        self.status == Status::Known && !self.is_expected()
    }

    /// Returns the smallest program for which both the expected and the actual result are known.
    pub fn example(&self) -> Example<'_> {
        match &self.reduced {
            Some(Reduced { program, answers: Some(answers), .. }) => Example {
                program,
                variable: answers.variable.as_deref(),
                expected: &answers.expected,
                observed: &answers.observed,
            },
            _ => Example {
                program: &self.program,
                variable: self.variable.as_deref(),
                expected: &self.expected,
                observed: &self.observed,
            },
        }
    }

    /// Returns a second program that shows the finding, and its relation to the [example](Finding::example):
    /// `reduced from`, or `reduced to` if the results for the reduced program are unknown.
    pub fn other_program(&self) -> Option<(&'static str, &str)> {
        let reduced = self.reduced.as_ref()?;
        let (relation, other) = match reduced.answers {
            Some(_) => ("reduced from", &self.program),
            None => ("reduced to", &reduced.program),
        };
        (!other.is_empty() && other != self.example().program).then_some((relation, other))
    }

    /// Returns the command that reproduces the finding. If the report's directory is given, the command works
    /// from any directory.
    pub fn repeat_in(&self, report: Option<&Path>) -> String {
        let (Some(report), Some(file)) = (report, &self.file) else { return self.repeat.clone() };
        let path = report.join(file).to_string_lossy().into_owned();
        let needs_quotes = path.contains(|c: char| !c.is_ascii_alphanumeric() && !"/._-+=".contains(c));
        let quoted = if needs_quotes { format!("'{}'", path.replace('\'', r"'\''")) } else { path };
        self.repeat.replacen(file, &quoted, 1)
    }

    /// Returns the smallest program that is known to show the finding.
    pub fn least_program(&self) -> &str {
        self.reduced.as_ref().map_or(&self.program, |reduced| &reduced.program)
    }
}

/// A program that the reducer minimized.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// The text of the program.
    pub program: String,
    /// The size in tokens.
    #[serde(default)]
    pub tokens: u64,
    /// The expected and the actual result, if they were computed again for this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// The expected and the actual result for one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The variable that shows the deviation, if it concerns one.
    #[serde(default)]
    pub variable: Option<String>,
    /// The answer of the specification, as `ptxsmith.module/1`.
    pub expected: Expected,
    /// The result of the subject.
    pub observed: Observation,
}

/// A program with its expected and actual result, for display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    /// The program.
    pub program: &'a str,
    /// The variable that shows the deviation, if it concerns one.
    pub variable: Option<&'a str>,
    /// The expected result.
    pub expected: &'a Expected,
    /// The actual result.
    pub observed: &'a Observation,
}
