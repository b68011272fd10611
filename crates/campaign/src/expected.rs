//! Expected failures: a file that lists them, so that a campaign passes until something changes.

use std::collections::BTreeSet;
use std::path::Path;

use ptxsmith_diff::known::{KNOWN, Releases};
use ptxsmith_report::expected::{self, ListedFailure};
use ptxsmith_report::harmless::line;
use ptxsmith_report::releases::family;
use ptxsmith_report::{ExpectedFailure, Finding, Report, Status, SubjectResults, UnexpectedPass};

use crate::failure::Failure;
use crate::files::write_whole;
use crate::input::read_text;

/// The comment at the top of a written file.
const HEAD: &str = "\
Failures that are expected: `ptxsmith run --expect-failures FILE`, `ptxsmith check --expect-failures FILE`.
Those that do not fail any more are a failure (docs/guide/triage.md).";

/// The expected failures; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedFailures {
    entries: Vec<ExpectedFinding>,
}

/// One expected finding: `ID [SUBJECT] [RELEASES] # REASON`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExpectedFinding {
    /// The id of the finding, or a prefix of several ids followed by `*`.
    id: String,
    /// The subject as in `--subject`, or the part before its `@`; `None` for every subject.
    subject: Option<String>,
    /// The releases of the subject; empty for every release.
    releases: Vec<Releases>,
    /// The entry as written, without its reason.
    written: String,
    /// The reason why it is expected, with the address of an issue at the end if there is one.
    reason: String,
}

impl ExpectedFinding {
    fn read(line: ListedFailure) -> Result<ExpectedFinding, String> {
        let ListedFailure { id, words, reason } = line;
        let written = shell_words::join([&id].into_iter().chain(&words));
        let first = words.first().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
        let subject = first.cloned();
        let names = words[usize::from(subject.is_some())..].join(" ");
        let mut releases = Vec::new();
        for name in names.split(',').filter(|name| !name.trim().is_empty()) {
            let Some(parsed) = Releases::parse(name) else {
                return Err(format!(
                    "`{}`: `{}` names no releases; write 13.5, 11.7 to 12.6, or 13.0 and later",
                    self::line(&id),
                    self::line(name)
                ));
            };
            releases.push(parsed);
        }
        Ok(ExpectedFinding { releases, id, subject, written, reason })
    }

    /// Returns true if the entry covers a finding with this id.
    fn names(&self, id: &str) -> bool {
        match self.id.strip_suffix('*') {
            Some(first) => id.starts_with(first),
            // A listed deviation that was merged into another keeps its old name.
            None => id == self.id || KNOWN.iter().any(|known| known.id == id && known.is_called(&self.id)),
        }
    }

    /// Returns true if the entry covers a subject with this name and version.
    fn covers(&self, subject: &SubjectResults) -> bool {
        let is_named =
            self.subject.as_deref().is_none_or(|name| name == subject.id || name == family(&subject.id));
        let version = subject.version.as_deref().or_else(|| Some(subject.id.split_once('@')?.1));
        let has_release =
            version.is_some() && self.releases.iter().any(|releases| releases.contains(version));
        is_named && (self.releases.is_empty() || has_release)
    }

    fn failure(&self) -> ExpectedFailure {
        let (reason, link) = match self.reason.rsplit_once(' ') {
            Some((reason, link)) if link.starts_with("https://") => (reason, Some(link.to_owned())),
            _ => (&*self.reason, None),
        };
        ExpectedFailure { reason: reason.to_owned(), link }
    }
}

impl ExpectedFailures {
    /// Reads a file of expected failures.
    ///
    /// # Errors
    /// If the file cannot be read or parsed, or names invalid releases.
    pub fn read(path: &Path) -> Result<ExpectedFailures, Failure> {
        let (name, text) = read_text(path)?;
        ExpectedFailures::parse(&text).map_err(|why| Failure::BadInput(format!("{name}: {why}")))
    }

    fn parse(text: &str) -> Result<ExpectedFailures, String> {
        let entries =
            expected::read(text)?.into_iter().map(ExpectedFinding::read).collect::<Result<_, _>>()?;
        Ok(ExpectedFailures { entries })
    }

    /// Marks expected findings in a report. A finding in several subjects must be expected in all of them.
    pub(crate) fn mark(&self, report: &mut Report) {
        let Report { findings, subjects, .. } = report;
        for finding in findings {
            let of_subjects = finding.subjects.iter().map(|id| {
                let subject = subjects.iter().find(|subject| subject.id == *id)?;
                self.entries.iter().find(|entry| entry.names(&finding.id) && entry.covers(subject))
            });
            let entries: Option<Vec<&ExpectedFinding>> = of_subjects.collect();
            finding.expected_failure =
                entries.and_then(|entries| entries.first().copied()).map(ExpectedFinding::failure);
        }
    }

    /// Records which expected failures did not occur. Skips subjects for which nothing was compared.
    pub(crate) fn look_for_passes(&self, report: &mut Report) {
        let mut passes = Vec::new();
        for entry in &self.entries {
            for subject in report.subjects.iter().filter(|subject| entry.covers(subject)) {
                let mut findings = report.findings.iter().filter(|finding| entry.names(&finding.id));
                let is_shown = findings.any(|finding| finding.subjects.contains(&subject.id));
                if subject.compared > 0 && !is_shown {
                    passes.push(UnexpectedPass {
                        id: entry.id.clone(),
                        subject: subject.id.clone(),
                        reason: entry.reason.clone(),
                    });
                }
            }
        }
        report.unexpected_passes = passes;
    }

    /// Returns why entries do not match what a report holds: the subject or the releases that they name are not
    /// here, or a finding that they name has other subjects as well.
    pub(crate) fn mismatches(&self, report: &Report) -> Vec<String> {
        let mut mismatches = Vec::new();
        for entry in &self.entries {
            let covered: Vec<&SubjectResults> =
                report.subjects.iter().filter(|subject| entry.covers(subject)).collect();
            if covered.is_empty() {
                let here = report.subjects.iter().map(|subject| report.name_with_version(&subject.id));
                let here = here.collect::<Vec<_>>().join(", ");
                mismatches.push(format!(
                    "the expected failure `{}` concerns no subject of this run, which has {here}",
                    entry.written
                ));
                continue;
            }
            let unexpected = report.findings.iter().filter(|finding| {
                finding.status == Status::New
                    && finding.expected_failure.is_none()
                    && entry.names(&finding.id)
            });
            for finding in unexpected {
                let others = finding.subjects.iter().filter(|id| {
                    let subject = report.subjects.iter().find(|subject| subject.id == **id);
                    subject.is_none_or(|subject| {
                        !self.entries.iter().any(|entry| entry.names(&finding.id) && entry.covers(subject))
                    })
                });
                let others: Vec<String> = others.map(|id| report.name_with_version(id)).collect();
                mismatches.push(format!(
                    "the expected failure `{}` does not match {}, which {} shows as well",
                    entry.written,
                    finding.id,
                    others.join(", ")
                ));
            }
        }
        mismatches
    }

    /// Writes a file with everything in a report that would fail: new findings, and listed deviations that no
    /// longer reproduce. Failures that were expected before keep their reasons and links.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(report: &Report, path: &Path) -> Result<(), Failure> {
        write_whole(path, ExpectedFailures::text(report).as_bytes())?;
        Ok(())
    }

    fn text(report: &Report) -> String {
        let findings = report.findings.iter().filter(|finding| finding.status != Status::Known);
        let lines: Vec<ListedFailure> = findings.flat_map(|finding| lines_of(report, finding)).collect();
        expected::write(HEAD, &lines)
    }
}

/// Returns one line for each compiler that shows the finding. It names the subjects that show it if others of
/// the same compiler do not, and never a list of releases: the next update should still expect it.
fn lines_of(report: &Report, finding: &Finding) -> Vec<ListedFailure> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for id in &finding.subjects {
        // A command is a subject under its full name.
        let family = if id.contains(':') { id } else { family(id) };
        let mut same_family = report
            .subjects
            .iter()
            .filter(|subject| self::family(&subject.id) == family && subject.compared > 0);
        let all_show_it = same_family.all(|subject| finding.subjects.contains(&subject.id));
        names.insert(if all_show_it { family } else { id });
    }
    let (reason, link) = match finding.expected_failure.clone() {
        Some(ExpectedFailure { reason, link }) => (reason, link),
        None => (format!("{}: {}", finding.class, finding.title), finding.link.clone()),
    };
    let reason = [Some(reason), link].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for name in names {
        // Omit a command that was the only subject, because its path may differ on another machine.
        let is_named = report.subjects.len() > 1 || !name.contains(':');
        let words = is_named.then(|| name.to_owned()).into_iter().collect();
        lines.push(ListedFailure { id: finding.id.clone(), words, reason: reason.clone() });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let subject = |id: &str, version: &str| serde_json::json!({"id": id, "version": version, "available": true, "compared": 9, "conform": 1});
        serde_json::from_value(serde_json::json!({
            "schema": "ptxsmith.report/1", "compared": 18, "conform": 2,
            "subjects": [subject("ptxas@12.6", "12.6.85"), subject("ptxas@13.5", "13.5.37")],
            "findings": [
                {"id": "both", "status": "new", "class": "crash", "title": "t", "subjects": ["ptxas@12.6", "ptxas@13.5"]},
                {"id": "old", "status": "new", "class": "crash", "title": "t", "subjects": ["ptxas@12.6"]},
            ],
        }))
        .unwrap()
    }

    fn judged(file: &str) -> Report {
        let mut report = report();
        let expected = ExpectedFailures::parse(file).unwrap();
        expected.mark(&mut report);
        expected.look_for_passes(&mut report);
        report
    }

    const OLD: &str = "old ptxas 11.7 to 12.6 # r\n";

    #[test]
    fn what_is_expected_of_all_its_subjects_needs_no_attention() {
        let all = judged(&format!("{OLD}both # r https://l\n"));
        assert!(!all.needs_attention(), "{all:?}");
        assert_eq!(all.findings[0].expected_failure.as_ref().unwrap().link.as_deref(), Some("https://l"));
        let half = judged(&format!("{OLD}both 11.7, 13.0 and later # r\n"));
        assert!(half.findings[0].needs_attention() && !half.findings[1].needs_attention());
    }

    #[test]
    fn what_is_expected_and_does_not_fail_needs_attention() {
        let passes = |file: &str| judged(file).unexpected_passes;
        let wide = passes("old # r\n");
        assert_eq!(wide.len(), 1);
        assert_eq!((&*wide[0].id, &*wide[0].subject), ("old", "ptxas@13.5"));
        assert_eq!(passes(OLD), []);
        assert_eq!(passes("none driver # r\n"), []);
    }

    #[test]
    fn an_entry_that_does_not_match_says_why() {
        let mismatches = |file: &str| {
            let expected = ExpectedFailures::parse(file).unwrap();
            let mut report = report();
            expected.mark(&mut report);
            expected.mismatches(&report).join("\n")
        };
        assert_eq!(mismatches("old ptxas 11.7 to 12.6 # r\nboth # r\nnone # r\n"), "");
        let elsewhere = mismatches("old ptxas 11.7 # r\n");
        assert!(
            elsewhere.starts_with("the expected failure `old ptxas 11.7` concerns no subject"),
            "{elsewhere}"
        );
        assert!(elsewhere.contains("ptxas@13.5") && elsewhere.contains("12.6.85"), "{elsewhere}");
        let half = mismatches("both ptxas@13.5 # r\n");
        assert!(half.contains("does not match both, which ptxas@12.6"), "{half}");
    }

    #[test]
    fn one_entry_expects_all_findings_whose_ids_begin_so() {
        let expecting = |id: &str| judged(&format!("{id}\n"));
        assert!(!expecting("*").needs_attention());
        let some = expecting("ol*");
        assert!(some.findings[0].needs_attention() && !some.findings[1].needs_attention(), "{some:?}");
        assert_eq!(some.unexpected_passes[0].subject, "ptxas@13.5");
        assert_eq!(expecting("o").unexpected_passes.len(), 2);
    }

    #[test]
    fn what_is_written_expects_what_was_found() {
        let text = ExpectedFailures::text(&report());
        assert!(!judged(&text).needs_attention(), "{text}");
        assert!(text.contains("both ptxas  # crash: t\nold ptxas@12.6  # crash: t"), "{text}");
    }

    #[test]
    fn a_file_that_says_something_else_is_refused() {
        let message = |text: &str| ExpectedFailures::parse(text).unwrap_err();
        assert!(message("'a\n").starts_with("line 1: "));
        let releases = message("a ptxas newest\n");
        assert!(releases.contains("`newest` names no releases"), "{releases}");
    }

    #[test]
    fn a_file_is_read_and_one_that_cannot_be_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("expected.txt");
        let message = |read: Result<ExpectedFailures, Failure>| match read {
            Err(Failure::BadInput(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(message(ExpectedFailures::read(&path)).contains("expected.txt: "));
        ExpectedFailures::write(&report(), &path).unwrap();
        let expected = ExpectedFailures::read(&path).unwrap();
        assert_eq!(expected.entries.iter().map(|entry| &*entry.id).collect::<Vec<_>>(), ["both", "old"]);
        std::fs::write(&path, "a ptxas later\n").unwrap();
        assert!(message(ExpectedFailures::read(&path)).contains("`later` names no releases"));
    }

    #[test]
    fn a_command_is_named_only_beside_other_subjects() {
        let named = |ids: &[&str]| {
            let mut report = report();
            report.subjects.truncate(1);
            let subject = report.subjects.remove(0);
            report.subjects =
                ids.iter().map(|&id| SubjectResults { id: id.into(), ..subject.clone() }).collect();
            report.findings.truncate(1);
            report.findings[0].subjects = vec![ids[0].to_owned()];
            let entries = lines_of(&report, &report.findings[0]);
            entries
                .into_iter()
                .map(|line| line.words.into_iter().find(|word| !word.starts_with('1')))
                .collect::<Vec<_>>()
        };
        assert_eq!(named(&["exec:mine --flag"]), [None]);
        assert_eq!(named(&["exec:mine --flag", "ptxas@13.5"]), [Some("exec:mine --flag".to_owned())]);
        assert_eq!(named(&["ptxas@13.5"]), [Some("ptxas".to_owned())]);
        assert_eq!(named(&["ptxas@13.5", "exec:mine"]), [Some("ptxas".to_owned())]);
    }
}
