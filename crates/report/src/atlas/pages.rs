//! The pages of an atlas: the data for their templates, and the same data as JSON.

use askama::Template;
use ptxsmith_subject::parse_spec;
use serde_json::{Map, Value, json};

use super::forms::{Counts, ProgramForm, worst};
use super::letters;
use super::merged::{MergedReport, Provenance};
use super::names::{StandingGroup, anchor, groups, list_subjects, program, short, slug};
use crate::cases::CaseStandings;
use crate::matrix::{Matrix, MatrixCell, MatrixRow, Standing};
use crate::{Finding, Report, Status, SubjectResults, clauses, describe, deviations, reproduce, severity};

/// The maximum number of findings to which a cell of a clause's page links.
const MOST_FINDINGS: usize = 4;
/// The maximum number of clauses that the page of a deviation names.
const MOST_CLAUSES: usize = 12;

/// The parts that all pages share.
pub struct PageFrame<'a> {
    /// The relative path from the page to the root of the atlas.
    pub root: &'static str,
    /// The dates and versions of the campaigns, in one line.
    pub origin: String,
    campaigns: &'a [Provenance],
}

impl<'a> PageFrame<'a> {
    /// Creates the frame of the start page.
    fn in_root(merged: &'a MergedReport) -> PageFrame<'a> {
        PageFrame { root: "", origin: origin(&merged.campaigns), campaigns: &merged.campaigns }
    }

    /// Creates the frame of a page in a subfolder.
    fn in_folder(merged: &'a MergedReport) -> PageFrame<'a> {
        PageFrame { root: "../", ..PageFrame::in_root(merged) }
    }
}

fn origin(campaigns: &[Provenance]) -> String {
    let mut days: Vec<&str> = campaigns.iter().filter_map(|campaign| campaign.started.get(..10)).collect();
    days.sort_unstable();
    let days = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(day), _) => (*day).to_owned(),
        _ => "undated".to_owned(),
    };
    let mut builds: Vec<&str> = campaigns.iter().map(|campaign| &*campaign.ptxsmith).collect();
    builds.sort_unstable();
    builds.dedup();
    short(&format!("{days} · ptxsmith {}", builds.join(", ")))
}

/// A link to a page.
pub struct Link {
    pub href: String,
    pub name: String,
}

fn clause_link(root: &str, id: &str) -> Link {
    Link { href: format!("{root}clauses/{}.html", slug(id)), name: short(id) }
}

fn deviation_link(root: &str, id: &str) -> Link {
    Link { href: format!("{root}deviations/{}.html", slug(id)), name: short(id) }
}

/// A cell of a board.
pub struct BoardCell {
    pub standing: Standing,
    /// The CSS classes.
    pub style: String,
    pub title: String,
    /// The address of the details.
    pub href: String,
}

/// A row of a board.
pub struct BoardRow {
    pub link: Link,
    pub note: String,
    pub cells: Vec<BoardCell>,
}

impl BoardRow {
    fn of_clause(row: &MatrixRow<'_>, subjects: &[&SubjectResults]) -> BoardRow {
        let link = clause_link("", row.clause);
        let cells = row.cells.iter().zip(subjects).map(|(cell, subject)| BoardCell {
            standing: cell.standing,
            style: cell.style(),
            title: format!("{}: {}", subject.label(), cell.label()),
            href: format!("{}#{}", link.href, anchor(subject)),
        });
        let cells = cells.collect();
        BoardRow { note: clauses::summary(row.clause).unwrap_or("").to_owned(), cells, link }
    }

    fn of_form(form: &ProgramForm<'_>, report: &Report, columns: &[usize]) -> BoardRow {
        let href = format!("forms/{}.html", slug(&form.name));
        let cells = columns.iter().map(|&column| {
            let counts = &form.counts[column];
            let subject = &report.subjects[column];
            BoardCell {
                standing: worst(counts),
                style: worst(counts).style().to_owned(),
                title: format!("{}: {}", subject.label(), counts_in_words(counts)),
                href: format!("{href}#{}", anchor(subject)),
            }
        });
        let cells = cells.collect();
        let note = format!("{} programs", form.cells.len() as u64 + form.left_out);
        BoardRow { link: Link { href, name: short(&form.name) }, note, cells }
    }

    fn json(&self) -> Value {
        let standings: String = self.cells.iter().map(|cell| cell.standing.letter()).collect();
        json!({ "name": self.link.name, "page": self.link.href, "standings": standings })
    }
}

/// The start page: both boards, and all deviations.
#[derive(Template)]
#[template(path = "atlas/index.html")]
pub struct IndexPage<'a> {
    frame: PageFrame<'a>,
    report: &'a Report,
    subjects: &'a [&'a SubjectResults],
    lineages: Vec<(String, usize)>,
    clauses: Vec<BoardRow>,
    forms: Vec<BoardRow>,
    cells: u64,
}

/// Returns the lineages of the subjects, each with the number of its subjects.
fn lineages(subjects: &[&SubjectResults]) -> Vec<(String, usize)> {
    let groups = subjects.chunk_by(|a, b| a.lineage.is_some() && a.lineage == b.lineage);
    groups.map(|group| (short(group[0].lineage.as_deref().unwrap_or("")), group.len())).collect()
}

/// Returns the indices of the report's subjects in the order of the matrix.
fn columns(report: &Report, matrix: &Matrix<'_>) -> Vec<usize> {
    let indices =
        matrix.subjects.iter().map(|subject| report.subjects.iter().position(|s| s.id == subject.id));
    indices.flatten().collect()
}

fn counts_in_words(counts: &Counts) -> String {
    let counts = counts.iter().filter(|(_, count)| **count > 0);
    let texts: Vec<String> = counts.map(|(standing, count)| format!("{count} {}", standing.name())).collect();
    texts.join(", ")
}

impl<'a> IndexPage<'a> {
    pub fn new(merged: &'a MergedReport, matrix: &'a Matrix<'a>, forms: &[ProgramForm<'_>]) -> IndexPage<'a> {
        let report = &merged.report;
        let columns = columns(report, matrix);
        IndexPage {
            frame: PageFrame::in_root(merged),
            report,
            subjects: &matrix.subjects,
            lineages: lineages(&matrix.subjects),
            clauses: matrix.rows.iter().map(|row| BoardRow::of_clause(row, &matrix.subjects)).collect(),
            forms: forms.iter().map(|form| BoardRow::of_form(form, report, &columns)).collect(),
            cells: report.cases.len() as u64,
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "letters": letters(),
            "campaigns": self.frame.campaigns,
            "subjects": self.subjects.iter().map(|subject| subject_json(subject)).collect::<Vec<_>>(),
            "clauses": self.clauses.iter().map(BoardRow::json).collect::<Vec<_>>(),
            "forms": self.forms.iter().map(BoardRow::json).collect::<Vec<_>>(),
            "deviations": self.report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        })
    }
}

fn subject_json(subject: &SubjectResults) -> Value {
    json!({
        "id": subject.id, "name": subject.label(), "version": subject.version, "lineage": subject.lineage,
        "anchor": anchor(subject), "compared": subject.compared, "conform": subject.conform,
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "id": finding.id, "page": deviation_link("", &finding.id).href, "class": finding.class,
        "status": finding.status, "title": finding.title, "subjects": finding.subjects,
    })
}

/// The standing of a subject with respect to a clause.
pub struct ClauseStanding<'a> {
    subject: &'a SubjectResults,
    anchor: String,
    cell: &'a MatrixCell<'a>,
    note: String,
    findings: Vec<Link>,
    /// The index of the program that shows it, among the programs of the page.
    program: Option<usize>,
}

/// A program that demonstrates the standings of some subjects.
pub struct ClauseProgram {
    text: String,
    /// The indices of the subjects.
    subjects: Vec<usize>,
    standing: Standing,
    command: String,
}

/// The page of a clause.
#[derive(Template)]
#[template(path = "atlas/clause.html")]
pub struct ClausePage<'a> {
    frame: PageFrame<'a>,
    id: &'a str,
    summary: &'static str,
    section: &'a str,
    manual: Option<String>,
    subjects: &'a [&'a SubjectResults],
    standings: Vec<ClauseStanding<'a>>,
    programs: Vec<ClauseProgram>,
    cases: Vec<Link>,
}

/// The file name under which the commands on a page expect the program.
const SAVED: &str = "x.ptx";

/// Returns the command that tests a subject with a program. A subject that `--subject` cannot name, such as a
/// compiler that emits PTX, cannot be tested this way; the command then evaluates the program instead.
fn check_command(subject: &str) -> String {
    match parse_spec(subject) {
        Ok(_) => format!("ptxsmith check {SAVED} --subject {}", shell_words::quote(subject)),
        Err(_) => format!("ptxsmith eval {SAVED}"),
    }
}

/// Returns the command that reproduces a finding with the program saved as [`SAVED`].
fn reproduce_command(finding: &Finding) -> String {
    match (&finding.file, &finding.subjects[..]) {
        (Some(file), _) => finding.repeat.replacen(file, SAVED, 1),
        (None, [subject, ..]) if finding.repeat.is_empty() => check_command(subject),
        _ => finding.repeat.clone(),
    }
}

/// Returns the program of a finding, with the other modules of a linked one behind it, each under its file
/// name.
fn modules(finding: &Finding) -> String {
    let others = finding.linked.iter().flat_map(|linked| &linked.modules);
    let named: Vec<(String, &String)> = (2..).map(|number| format!("x.{number}.ptx")).zip(others).collect();
    let links = named.iter().map(|(name, _)| format!("// link: {name}\n"));
    let others = named.iter().map(|(name, text)| format!("\n// {name}\n{text}"));
    links.chain([finding.example().program.to_owned()]).chain(others).collect()
}

/// Removes the comments that name a program's clauses, for display. There can be twenty, and the JSON
/// contains them.
fn without_clauses(program: &str) -> String {
    let lines = program.lines().filter(|line| !line.starts_with("// clause: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the clauses that a program's leading comments name, as they do in the cases of the suite.
fn named_clauses(program: &str) -> impl Iterator<Item = &str> {
    let comments = program.lines().map_while(|line| line.strip_prefix("// "));
    comments.filter_map(|line| line.strip_prefix("clause: ")).flat_map(|ids| ids.split(", "))
}

impl<'a> ClausePage<'a> {
    pub fn new(
        merged: &'a MergedReport,
        matrix: &'a Matrix<'a>,
        row: &'a MatrixRow<'a>,
        forms: &[ProgramForm<'_>],
    ) -> ClausePage<'a> {
        let mut programs: Vec<ClauseProgram> = Vec::new();
        let mut standings = Vec::new();
        for (index, (cell, subject)) in row.cells.iter().zip(&matrix.subjects).enumerate() {
            let findings: Vec<&Finding> = cell.explaining_findings().collect();
            let example = findings.first().map(|finding| finding.example().program);
            let shortest = cell.reproducer.into_iter().chain(example).min_by_key(|program| program.len());
            let program = shortest.map(|text| program_index(&mut programs, text, cell.standing, &subject.id));
            if let Some(program) = program {
                programs[program].subjects.push(index);
            }
            let links = findings.iter().take(MOST_FINDINGS).map(|finding| deviation_link("../", &finding.id));
            standings.push(ClauseStanding {
                subject,
                anchor: anchor(subject),
                cell,
                note: match cell.counts {
                    Some(counts) => format!("{} of {} conform", counts.conform, counts.compared),
                    None => String::new(),
                },
                findings: links.collect(),
                program,
            });
        }
        ClausePage {
            frame: PageFrame::in_folder(merged),
            id: row.clause,
            summary: clauses::summary(row.clause).unwrap_or(""),
            section: clauses::section(row.clause),
            manual: clauses::link(clauses::section(row.clause)),
            subjects: &matrix.subjects,
            standings,
            programs,
            cases: case_links(row.clause, forms),
        }
    }

    pub fn path(&self) -> String {
        format!("clauses/{}", slug(self.id))
    }

    /// Lists the subjects that a program demonstrates.
    fn subjects_of(&self, program: &ClauseProgram) -> String {
        list_subjects(self.subjects, |index| program.subjects.contains(&index))
    }

    pub fn json(&self) -> Value {
        let subjects = self.standings.iter().map(|standing| (standing.subject.id.clone(), standing.json()));
        json!({
            "clause": self.id, "summary": self.summary, "manual": self.manual,
            "subjects": subjects.collect::<Map<_, _>>(),
            "programs": self.programs.iter().map(|program| &program.text).collect::<Vec<_>>(),
        })
    }
}

impl ClauseStanding<'_> {
    fn json(&self) -> Value {
        let findings: Vec<&String> = self.cell.findings.iter().map(|finding| &finding.id).collect();
        json!({
            "standing": self.cell.standing.name(), "counts": self.cell.counts, "anchor": self.anchor,
            "deviations": findings, "program": self.program,
        })
    }
}

/// Returns the index of a program that demonstrates a standing. Adds the program, with the command for this
/// subject, if it is new.
fn program_index(programs: &mut Vec<ClauseProgram>, text: &str, standing: Standing, subject: &str) -> usize {
    let text = program(text);
    let known = programs.iter().position(|known| known.text == text && known.standing == standing);
    known.unwrap_or_else(|| {
        let command = check_command(subject);
        programs.push(ClauseProgram { text, subjects: Vec::new(), standing, command });
        programs.len() - 1
    })
}

/// Returns links to the handwritten cases of a clause, which name only the clauses that they test. Other
/// cases name all clauses on which their expected result is based.
fn case_links(clause: &str, forms: &[ProgramForm<'_>]) -> Vec<Link> {
    let mut links = Vec::new();
    for form in forms.iter().filter(|form| form.name.starts_with(|c: char| c.is_ascii_digit())) {
        let cells = form.cells.iter().filter(|(_, case)| named_clauses(&case.program).any(|id| id == clause));
        links.extend(cells.map(|(cell, _)| Link {
            href: format!("../forms/{}.html#{}", slug(&form.name), slug(cell)),
            name: short(&format!("{}/{cell}", form.name)),
        }));
    }
    links
}

/// A program of a form.
pub struct FormProgram {
    name: String,
    anchor: String,
    groups: Vec<StandingGroup>,
    known: Vec<Link>,
    text: String,
    command: String,
}

impl FormProgram {
    fn new(
        name: &str,
        case: &CaseStandings,
        report: &Report,
        subjects: &[&SubjectResults],
        columns: &[usize],
    ) -> FormProgram {
        let mut groups = groups(subjects, |index| case.standing(columns[index]));
        // Most programs were not tested with all subjects; the page states this once.
        groups.retain(|group| group.standing != Standing::NotReached);
        // Subjects that are not named conform.
        if let [first, _, ..] = &mut groups[..]
            && first.standing == Standing::Conforms
        {
            first.subjects = "all others".to_owned();
        } else if let [only] = &mut groups[..] {
            only.subjects = "all".to_owned();
        }
        let subject = subject_for_command(report, columns, case);
        FormProgram {
            name: short(name),
            anchor: slug(name),
            groups,
            known: case.known.iter().map(|id| deviation_link("../", id)).collect(),
            text: program(&without_clauses(&case.program)),
            command: match case.name.strip_prefix("cell ") {
                Some(cell) => format!(
                    "ptxsmith run --cell {} --subject {}",
                    shell_words::quote(cell),
                    shell_words::quote(subject)
                ),
                None => check_command(subject),
            },
        }
    }
}

/// The page of a form.
#[derive(Template)]
#[template(path = "atlas/form.html")]
pub struct FormPage<'a> {
    frame: PageFrame<'a>,
    form: &'a ProgramForm<'a>,
    report: &'a Report,
    counts: Vec<(&'a SubjectResults, String, &'a Counts)>,
    programs: Vec<FormProgram>,
}

/// Returns the subject for the command of a program: the last of those with the worst standing. Prefers
/// subjects that are named after an installed release, so that the command works for other people.
fn subject_for_command<'a>(report: &'a Report, columns: &[usize], case: &CaseStandings) -> &'a str {
    let releases: Vec<usize> =
        columns.iter().copied().filter(|&column| is_release(&report.subjects[column].id)).collect();
    let worst_release = worst_column(&releases, case);
    let differing_release = worst_release.filter(|&column| case.standing(column).differs());
    let differing = worst_column(columns, case).filter(|&column| case.standing(column).differs());
    let chosen = differing_release.or(differing).or(worst_release).or(columns.last().copied());
    chosen.map_or("ptxas", |column| &report.subjects[column].id)
}

/// Whether a subject is named after an installed release, and not by a path or a command.
fn is_release(subject: &str) -> bool {
    parse_spec(subject).is_ok_and(|spec| !spec.is_chosen_by_user())
}

/// Returns the last of the columns with the worst standing.
fn worst_column(columns: &[usize], case: &CaseStandings) -> Option<usize> {
    columns.iter().copied().max_by_key(|&column| case.standing(column))
}

impl<'a> FormPage<'a> {
    pub fn new(merged: &'a MergedReport, matrix: &Matrix<'a>, form: &'a ProgramForm<'a>) -> FormPage<'a> {
        let report = &merged.report;
        let columns = columns(report, matrix);
        let counts = columns.iter().map(|&column| {
            let subject = &report.subjects[column];
            (subject, anchor(subject), &form.counts[column])
        });
        let cells = form.cells.iter();
        FormPage {
            frame: PageFrame::in_folder(merged),
            form,
            report,
            counts: counts.collect(),
            programs: cells
                .map(|(name, case)| FormProgram::new(name, case, report, &matrix.subjects, &columns))
                .collect(),
        }
    }

    pub fn path(&self) -> String {
        format!("forms/{}", slug(&self.form.name))
    }

    pub fn json(&self) -> Value {
        let counts = self.counts.iter().map(|(subject, _, counts)| (subject.id.clone(), counts_json(counts)));
        json!({
            "form": self.form.name, "letters": letters(),
            "columns": self.report.subjects.iter().map(|subject| &subject.id).collect::<Vec<_>>(),
            "counts": counts.collect::<Map<_, _>>(),
            "not_listed": self.form.left_out,
            "cells": self.form.cells.iter().map(|(name, case)| cell_json(name, case)).collect::<Vec<_>>(),
        })
    }
}

fn counts_json(counts: &Counts) -> Value {
    let counts = counts.iter().map(|(standing, count)| (standing.name().to_owned(), json!(count)));
    Value::Object(counts.collect())
}

fn cell_json(name: &str, case: &CaseStandings) -> Value {
    let mut cell = json!({ "name": name, "standings": case.standings, "program": case.program });
    if !case.known.is_empty() {
        cell["deviations"] = json!(case.known);
    }
    if slug(name) != *name {
        cell["anchor"] = json!(slug(name));
    }
    cell
}

/// The page of a deviation.
#[derive(Template)]
#[template(path = "atlas/deviation.html")]
pub struct DeviationPage<'a> {
    frame: PageFrame<'a>,
    report: &'a Report,
    finding: &'a Finding,
    clauses: Vec<Link>,
    program: String,
    expected: String,
    observed: String,
    reproduce: String,
    repeat: String,
    work_around: Option<String>,
    meaning: Option<String>,
    page: Option<String>,
}

impl<'a> DeviationPage<'a> {
    pub fn new(merged: &'a MergedReport, finding: &'a Finding) -> DeviationPage<'a> {
        let (clauses, _) = clauses::informative_first(&finding.clauses);
        DeviationPage {
            frame: PageFrame::in_folder(merged),
            report: &merged.report,
            finding,
            clauses: clauses.into_iter().take(MOST_CLAUSES).map(|id| clause_link("../", id)).collect(),
            program: program(&modules(finding)),
            expected: program(&describe::expected(finding).join("\n")),
            observed: program(&describe::observed(finding).join("\n")),
            reproduce: program(&reproduce::commands(finding, "x").unwrap_or_default().join("\n")),
            repeat: program(&reproduce_command(finding)),
            work_around: deviations::work_around(&finding.id),
            meaning: deviations::meaning(&finding.id),
            page: deviations::link(&finding.id),
        }
    }

    pub fn path(&self) -> String {
        format!("deviations/{}", slug(&self.finding.id))
    }

    /// Returns the subjects that show the deviation: according to the verdicts of all releases if they are
    /// known, or else according to the campaigns.
    fn deviating_subjects(&self) -> String {
        if !self.finding.releases.is_empty() {
            return short(&self.report.release_map(self.finding));
        }
        let subjects: Vec<&SubjectResults> = self.report.subjects.iter().collect();
        list_subjects(&subjects, |index| self.finding.subjects.contains(&subjects[index].id))
    }

    pub fn json(&self) -> Value {
        let Finding { id, status, class, title, subjects, clauses, validity, count, releases, .. } =
            self.finding;
        let example = self.finding.example();
        json!({
            "id": id, "status": status, "class": class, "title": title, "subjects": subjects, "clauses": clauses,
            "validity": validity, "count": count, "releases": releases, "program": example.program,
            "variable": example.variable, "expected": example.expected, "observed": example.observed,
            "command": self.repeat, "reproduce": self.reproduce, "work_around": self.work_around, "page": self.page,
        })
    }
}
