//! Expected failures: a file that lists them, so that a campaign passes until something changes.

use std::collections::BTreeMap;
use std::path::Path;

use ptxsmith_diff::known::{KNOWN, Releases};
use ptxsmith_report::expected::{self, ListedFailure};
use ptxsmith_report::harmless::line;
use ptxsmith_report::releases::family;
use ptxsmith_report::{ExpectedFailure, Finding, Report, Status, SubjectResults, UnexpectedPass};

use crate::failure::Failure;
use crate::files::write_whole;

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
    /// The reason why it is expected, with the address of an issue at the end if there is one.
    reason: String,
}

impl ExpectedFinding {
    fn read(line: ListedFailure) -> Result<ExpectedFinding, String> {
        let ListedFailure { id, words, reason } = line;
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
        Ok(ExpectedFinding { releases, id, subject, reason })
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
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let expected = text.and_then(|text| ExpectedFailures::parse(&text));
        expected.map_err(|why| Failure::BadInput(format!("{}: {why}", line(&path.to_string_lossy()))))
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

/// Returns one line for each compiler that shows the finding, with its releases.
fn lines_of(report: &Report, finding: &Finding) -> Vec<ListedFailure> {
    let mut families: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in &finding.subjects {
        let subject = report.subjects.iter().find(|subject| subject.id == *id);
        // A command is a subject under its full name.
        let family = if id.contains(':') { id } else { family(id) };
        families.entry(family).or_default().extend(subject.and_then(|subject| subject.version.as_deref()));
    }
    let (reason, link) = match finding.expected_failure.clone() {
        Some(ExpectedFailure { reason, link }) => (reason, link),
        None => (format!("{}: {}", finding.class, finding.title), finding.link.clone()),
    };
    let reason = [Some(reason), link].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for (subject, releases) in families {
        let mut words = Vec::new();
        // Omit a command that was the only subject, because its path may differ on another machine.
        if report.subjects.len() > 1 || !subject.contains(':') {
            words.push(subject.to_owned());
        }
        if !releases.is_empty() && releases.iter().all(|release| Releases::parse(release).is_some()) {
            words.push(releases.join(","));
        }
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
        assert!(text.contains("old ptxas 12.6.85  # crash: t"), "{text}");
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
