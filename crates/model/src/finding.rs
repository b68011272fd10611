//! A finding: what deviates, the smallest program that shows it, and who shows it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Class, Expected, Kind, Observation, ReleaseVerdict, Status};

/// One distinct deviation, in all subjects that show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The stable name.
    pub id: String,
    /// New, gone or known.
    pub status: Status,
    /// What it is about.
    #[serde(default)]
    pub kind: Kind,
    /// What kind of deviation it is.
    pub class: Class,
    /// The subjects that show it; the first one is that of the example.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// The clauses that it breaks.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// What the specification says of the program: `valid`, `refused` or `undecided`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub validity: String,
    /// What happens, in a line.
    pub title: String,
    /// How many verdicts show it.
    #[serde(default)]
    pub count: u64,
    /// The shortest program that shows it.
    #[serde(default)]
    pub program: String,
    /// What a program of several modules has beside its first one, [`Finding::program`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<LinkedProgram>,
    /// What is said of a source, [`Finding::program`], that a compiler prints as PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted: Option<EmittedProgram>,
    /// What was expected and seen, where `expected` and `observed` do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Where it stands in files of the user's: the first [`Place::MOST`] places, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// The variable that shows it, where one does.
    #[serde(default)]
    pub variable: Option<String>,
    /// What the specification says, as `ptxsmith.module/1`.
    #[serde(default)]
    pub expected: Expected,
    /// What the subject did.
    #[serde(default)]
    pub observed: Observation,
    /// The command that shows it again.
    #[serde(default)]
    pub repeat: String,
    /// A shell command that shows it without ptxsmith; `None` where a shell cannot run the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// Why it is expected, where a file of expected failures has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_failure: Option<ExpectedFailure>,
    /// The file of the program, relative to the folder of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The verdict of every release, computed after reduction; empty where it was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<ReleaseVerdict>,
    /// When it was first seen: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// The program after reduction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Reduced>,
    /// The nearest program to the smallest one that conforms: one word of it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<String>,
    /// The findings that were joined with it, in the order in which they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Joined>,
    /// Where it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Of one that is gone: how to narrow or remove its entry in the list of known deviations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
}

/// A place in a file of the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The path, as it was given.
    pub file: String,
    /// The line, from 1; 0 where only the file is known.
    pub line: u32,
    /// The column in characters, from 1; 0 where only the line is known.
    pub column: u32,
}

impl Place {
    /// The most places that a finding keeps.
    pub const MOST: usize = 100;
}

impl std::fmt::Display for Place {
    /// `file:line:column`, as far as it is known.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        let known = [self.line, self.column].into_iter().take_while(|&number| number > 0);
        known.into_iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// What was expected and what was seen, in words: of a finding that no expectation and observation of one module show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// What the specification or the source says.
    pub expected: String,
    /// What was seen.
    pub actual: String,
    /// The seed and the number that make the program again; empty where nothing made it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub found_by: String,
}

/// The modules that a linker links with the program of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkedProgram {
    /// The modules behind the first one, in the order in which they are linked.
    pub modules: Vec<String>,
    /// The modules by number, those in `-r()` linked to a relocatable object first: `1 -r(2)`. Empty where all are linked at once.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub way: String,
}

/// What a finding of a front end is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmittedProgram {
    /// The declarations that matter, in a line.
    pub declaration: String,
}

/// A finding that was joined with another one, which has the same cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The id that it had.
    pub id: String,
    /// The title that it had.
    #[serde(default)]
    pub title: String,
    /// How many verdicts showed it.
    #[serde(default)]
    pub count: u64,
    /// Why it is taken for the same.
    pub because: String,
}

/// Why a finding is expected: what a file of expected failures says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedFailure {
    /// Why.
    pub reason: String,
    /// Where that is followed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// A failure that was expected of a subject which does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedPass {
    /// The finding.
    pub id: String,
    /// The subject, as `--subject` names it.
    pub subject: String,
    /// Why it was expected.
    pub reason: String,
}

impl Finding {
    /// Whether it makes the exit status of a campaign 1: it is new or gone, and not expected.
    pub const fn needs_attention(&self) -> bool {
        self.status.needs_attention() && self.expected_failure.is_none()
    }

    /// Whether it would make that status 1, and is expected.
    pub const fn is_expected(&self) -> bool {
        self.status.needs_attention() && self.expected_failure.is_some()
    }

    /// Its status, as people read it: `new`, `known`, `gone`, or `expected`.
    pub fn label(&self) -> &'static str {
        if self.is_expected() { "expected" } else { self.status.name() }
    }

    /// Whether it is listed, and was seen.
    pub fn is_known(&self) -> bool {
        self.status == Status::Known && !self.is_expected()
    }

    /// The minimized reproducer of which both answers are known.
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

    /// Another program that shows it, with what it is to the [example](Finding::example): `reduced to`, where only the
    /// program is known of the reduced one, or `reduced from`.
    pub fn other_program(&self) -> Option<(&'static str, &str)> {
        let reduced = self.reduced.as_ref()?;
        let (relation, other) = match reduced.answers {
            Some(_) => ("reduced from", &self.program),
            None => ("reduced to", &reduced.program),
        };
        (!other.is_empty() && other != self.example().program).then_some((relation, other))
    }

    /// The command that shows it again, from any directory where that of the report is known.
    pub fn repeat_in(&self, report: Option<&Path>) -> String {
        let (Some(report), Some(file)) = (report, &self.file) else { return self.repeat.clone() };
        let path = report.join(file).to_string_lossy().into_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
        let quoted =
            if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) };
        self.repeat.replacen(file, &quoted, 1)
    }

    /// The minimized reproducer that is known to show it.
    pub fn least_program(&self) -> &str {
        self.reduced.as_ref().map_or(&self.program, |reduced| &reduced.program)
    }
}

/// A program that the reducer made least.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// Its text.
    pub program: String,
    /// Its size in tokens.
    #[serde(default)]
    pub tokens: u64,
    /// What holds of it and what the subject does with it, where that was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// Both answers for one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The variable that shows the deviation, where one does.
    #[serde(default)]
    pub variable: Option<String>,
    /// What the specification says, as `ptxsmith.module/1`.
    pub expected: Expected,
    /// What the subject does.
    pub observed: Observation,
}

/// A program with both answers: what a rendering shows of a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    /// The program.
    pub program: &'a str,
    /// The variable that shows the deviation, where one does.
    pub variable: Option<&'a str>,
    /// What the specification says.
    pub expected: &'a Expected,
    /// What the subject does.
    pub observed: &'a Observation,
}
