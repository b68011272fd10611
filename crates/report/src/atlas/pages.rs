//! The pages of an atlas: the data for their templates, and the same data as JSON.

use askama::Template;
use ptxsmith_subject::parse_spec;
use serde_json::{Map, Value, json};

use super::forms::{Counts, Form, worst};
use super::gathered::{Campaign, Gathered};
use super::letters;
use super::names::{Group, anchor, groups, listed, pieces, program, short, slug};
use crate::cases::Case;
use crate::matrix::{Cell, Matrix, Row, Standing};
use crate::{Finding, Report, Status, Subject, clauses, describe, deviations, reproduce, severity};

/// The parts that all pages share.
pub struct Frame<'a> {
    /// The relative path from the page to the root of the atlas.
    pub root: &'static str,
    /// The dates and versions of the campaigns, in one line.
    pub origin: String,
    campaigns: &'a [Campaign],
}

impl<'a> Frame<'a> {
    fn at(root: &'static str, gathered: &'a Gathered) -> Frame<'a> {
        let days = gathered.campaigns.iter().filter_map(|campaign| campaign.started.get(..10));
        let mut days: Vec<&str> = days.collect();
        days.sort_unstable();
        let of = match (days.first(), days.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (Some(day), _) => (*day).to_owned(),
            _ => "undated".to_owned(),
        };
        let mut builds: Vec<&str> = gathered.campaigns.iter().map(|campaign| &*campaign.ptxsmith).collect();
        builds.sort_unstable();
        builds.dedup();
        Frame {
            root,
            origin: short(&format!("{of} · ptxsmith {}", builds.join(", "))),
            campaigns: &gathered.campaigns,
        }
    }

    /// Creates the frame of a page in a subfolder.
    pub fn below(gathered: &'a Gathered) -> Frame<'a> {
        Frame::at("../", gathered)
    }
}

/// A link to a page.
pub struct Link {
    pub href: String,
    pub name: String,
}

fn to_clause(root: &str, id: &str) -> Link {
    Link { href: format!("{root}clauses/{}.html", slug(id)), name: short(id) }
}

fn to_deviation(root: &str, id: &str) -> Link {
    Link { href: format!("{root}deviations/{}.html", slug(id)), name: short(id) }
}

/// A cell of a board.
pub struct Square {
    pub standing: Standing,
    pub title: String,
    /// The address of the details.
    pub href: String,
}

/// A row of a board.
pub struct Line {
    pub link: Link,
    pub note: String,
    pub squares: Vec<Square>,
}

/// The start page: both boards, and all deviations.
#[derive(Template)]
#[template(path = "atlas/index.html")]
pub struct Index<'a> {
    frame: Frame<'a>,
    report: &'a Report,
    subjects: &'a [&'a Subject],
    lineages: Vec<(String, usize)>,
    clauses: Vec<Line>,
    forms: Vec<Line>,
    cells: u64,
}

fn lineages(subjects: &[&Subject]) -> Vec<(String, usize)> {
    let groups = subjects.chunk_by(|a, b| a.lineage.is_some() && a.lineage == b.lineage);
    groups.map(|group| (short(group[0].lineage.as_deref().unwrap_or("")), group.len())).collect()
}

/// Returns the indices of the report's subjects in the order of the matrix.
fn columns(report: &Report, matrix: &Matrix<'_>) -> Vec<usize> {
    let of = |subject: &&Subject| report.subjects.iter().position(|other| other.id == subject.id);
    matrix.subjects.iter().filter_map(of).collect()
}

fn told(counts: &Counts) -> String {
    let told = counts.iter().filter(|(_, count)| **count > 0);
    told.map(|(standing, count)| format!("{count} {}", standing.name())).collect::<Vec<_>>().join(", ")
}

impl<'a> Index<'a> {
    pub fn of(gathered: &'a Gathered, matrix: &'a Matrix<'a>, forms: &'a [Form<'a>]) -> Index<'a> {
        let report = &gathered.report;
        let columns = columns(report, matrix);
        let clause = |row: &Row<'_>| {
            let link = to_clause("", row.clause);
            let square = |(cell, subject): (&Cell<'_>, &&Subject)| Square {
                standing: cell.standing,
                title: format!("{}: {}", subject.label(), cell.standing.name()),
                href: format!("{}#{}", link.href, anchor(subject)),
            };
            let squares = row.cells.iter().zip(&matrix.subjects).map(square).collect();
            Line { note: clauses::summary(row.clause).unwrap_or("").to_owned(), squares, link }
        };
        let form = |form: &Form<'_>| {
            let href = format!("forms/{}.html", slug(&form.name));
            let square = |&column: &usize| {
                let (counts, subject) = (&form.counts[column], &report.subjects[column]);
                Square {
                    standing: worst(counts),
                    title: format!("{}: {}", subject.label(), told(counts)),
                    href: format!("{href}#{}", anchor(subject)),
                }
            };
            let squares = columns.iter().map(square).collect();
            let note = format!("{} programs", form.cells.len() as u64 + form.left_out);
            Line { link: Link { href, name: short(&form.name) }, note, squares }
        };
        Index {
            frame: Frame::at("", gathered),
            report,
            subjects: &matrix.subjects,
            lineages: lineages(&matrix.subjects),
            clauses: matrix.rows.iter().map(clause).collect(),
            forms: forms.iter().map(form).collect(),
            cells: report.cases.len() as u64,
        }
    }

    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            json!({
                "name": line.link.name, "page": line.link.href,
                "standings": line.squares.iter().map(|square| square.standing.letter()).collect::<String>(),
            })
        };
        let subject = |subject: &&Subject| {
            json!({
                "id": subject.id, "name": subject.label(), "version": subject.version, "lineage": subject.lineage,
                "anchor": anchor(subject), "compared": subject.compared, "conform": subject.conform,
            })
        };
        let finding = |finding: &Finding| {
            json!({
                "id": finding.id, "page": to_deviation("", &finding.id).href, "class": finding.class,
                "status": finding.status, "title": finding.title, "subjects": finding.subjects,
            })
        };
        json!({
            "letters": letters(),
            "campaigns": self.frame.campaigns,
            "subjects": self.subjects.iter().map(subject).collect::<Vec<_>>(),
            "clauses": self.clauses.iter().map(line).collect::<Vec<_>>(),
            "forms": self.forms.iter().map(line).collect::<Vec<_>>(),
            "deviations": self.report.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

/// The standing of a subject with respect to a clause.
pub struct Stands<'a> {
    subject: &'a Subject,
    anchor: String,
    cell: &'a Cell<'a>,
    note: String,
    findings: Vec<Link>,
    /// The index of the program that shows it, among the programs of the page.
    program: Option<usize>,
}

/// A program that demonstrates the standings of some subjects.
pub struct Shown {
    program: String,
    who: Vec<usize>,
    standing: Standing,
    command: String,
}

/// The page of a clause.
#[derive(Template)]
#[template(path = "atlas/clause.html")]
pub struct ClausePage<'a> {
    frame: Frame<'a>,
    id: &'a str,
    summary: &'static str,
    section: &'a str,
    manual: Option<String>,
    subjects: &'a [&'a Subject],
    stands: Vec<Stands<'a>>,
    programs: Vec<Shown>,
    cases: Vec<Link>,
}

/// The file name under which the commands on a page expect the program.
const SAVED: &str = "x.ptx";

/// Returns the command that tests a subject with a program. A subject that `--subject` cannot name, such as a compiler that emits PTX,
/// cannot be tested this way; the command then evaluates the program instead.
fn check(subject: &str) -> String {
    match parse_spec(subject) {
        Ok(_) => format!("ptxsmith check {SAVED} --subject {}", shell_words::quote(subject)),
        Err(_) => format!("ptxsmith eval {SAVED}"),
    }
}

/// Returns the command that reproduces a finding with the program saved as [`SAVED`].
fn repeat(finding: &Finding) -> String {
    match (&finding.file, &finding.subjects[..]) {
        (Some(file), _) => finding.repeat.replacen(file, SAVED, 1),
        (None, [subject, ..]) if finding.repeat.is_empty() => check(subject),
        _ => finding.repeat.clone(),
    }
}

/// Returns the program of a finding, with the other modules of a linked one behind it, each under its file name.
fn modules(finding: &Finding) -> String {
    let others = finding.linked.iter().flat_map(|linked| &linked.modules);
    let named: Vec<(String, &String)> = (2..).map(|number| format!("x.{number}.ptx")).zip(others).collect();
    let links = named.iter().map(|(name, _)| format!("// link: {name}\n"));
    let others = named.iter().map(|(name, text)| format!("\n// {name}\n{text}"));
    links.chain([finding.example().program.to_owned()]).chain(others).collect()
}

/// Removes the comments that name a program's clauses, for display. There can be twenty, and the JSON contains them.
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
    pub fn of(
        frame: Frame<'a>,
        matrix: &'a Matrix<'a>,
        row: &'a Row<'a>,
        forms: &[Form<'_>],
    ) -> ClausePage<'a> {
        let mut programs: Vec<Shown> = Vec::new();
        let mut stands = Vec::new();
        for (nth, (cell, subject)) in row.cells.iter().zip(&matrix.subjects).enumerate() {
            let tells = |finding: &&&Finding| {
                finding.status != Status::Gone && Standing::of_class(finding.class) == cell.standing
            };
            let telling: Vec<&&Finding> = cell.findings.iter().filter(tells).collect();
            let found = telling.first().map(|finding| finding.example().program);
            let own = cell.least.into_iter().chain(found).min_by_key(|program| program.len());
            let place = own.map(|own| {
                let own = program(own);
                let known =
                    programs.iter().position(|shown| shown.program == own && shown.standing == cell.standing);
                known.unwrap_or_else(|| {
                    let command = check(&subject.id);
                    programs.push(Shown { program: own, who: Vec::new(), standing: cell.standing, command });
                    programs.len() - 1
                })
            });
            if let Some(place) = place {
                programs[place].who.push(nth);
            }
            let counts = cell.counts.unwrap_or_default();
            stands.push(Stands {
                subject,
                anchor: anchor(subject),
                cell,
                note: match cell.counts {
                    Some(_) => format!("{} of {} conform", counts.conform, counts.compared),
                    None => String::new(),
                },
                findings: telling.iter().take(4).map(|finding| to_deviation("../", &finding.id)).collect(),
                program: place,
            });
        }
        let link = |form: &Form<'_>, cell: &str| Link {
            href: format!("../forms/{}.html#{}", slug(&form.name), slug(cell)),
            name: short(&format!("{}/{cell}", form.name)),
        };
        let of_it = |case: &Case| named_clauses(&case.program).any(|id| id == row.clause);
        let of_form = |form: &'_ Form<'_>| {
            let cells = form.cells.iter().filter(|(_, case)| of_it(case));
            cells.map(|(cell, _)| link(form, cell)).collect::<Vec<_>>()
        };
        // Handwritten cases name only the clauses that they test. The other cases name all clauses on which their expected result is based.
        let is_of_the_manual = |form: &&Form<'_>| form.name.starts_with(|c: char| c.is_ascii_digit());
        ClausePage {
            frame,
            id: row.clause,
            summary: clauses::summary(row.clause).unwrap_or(""),
            section: clauses::section(row.clause),
            manual: clauses::link(clauses::section(row.clause)),
            subjects: &matrix.subjects,
            stands,
            programs,
            cases: forms.iter().filter(is_of_the_manual).flat_map(of_form).collect(),
        }
    }

    pub fn path(&self) -> String {
        format!("clauses/{}", slug(self.id))
    }

    fn who(&self, shown: &Shown) -> String {
        listed(self.subjects, |nth| shown.who.contains(&nth))
    }

    pub fn json(&self) -> Value {
        let cell = |stands: &Stands<'_>| {
            let findings = stands.cell.findings.iter().map(|finding| &finding.id);
            let cell = json!({
                "standing": stands.cell.standing.name(), "counts": stands.cell.counts, "anchor": stands.anchor,
                "deviations": findings.collect::<Vec<_>>(), "program": stands.program,
            });
            (stands.subject.id.clone(), cell)
        };
        json!({
            "clause": self.id, "summary": self.summary, "manual": self.manual,
            "subjects": self.stands.iter().map(cell).collect::<Map<_, _>>(),
            "programs": self.programs.iter().map(|shown| &shown.program).collect::<Vec<_>>(),
        })
    }
}

/// A program of a form.
pub struct Program {
    name: String,
    anchor: String,
    groups: Vec<Group>,
    known: Vec<Link>,
    text: String,
    command: String,
}

/// The page of a form.
#[derive(Template)]
#[template(path = "atlas/form.html")]
pub struct FormPage<'a> {
    frame: Frame<'a>,
    form: &'a Form<'a>,
    report: &'a Report,
    counts: Vec<(&'a Subject, String, &'a Counts)>,
    programs: Vec<Program>,
}

/// Returns the subject for the command of a program: the last of those with the worst standing. Prefers subjects that are named after an
/// installed release, so that the command works for other people.
fn shown_to<'a>(report: &'a Report, columns: &[usize], case: &Case) -> &'a str {
    let is_named = |column: &&usize| {
        parse_spec(&report.subjects[**column].id).is_ok_and(|of| !of.is_of_users_choosing())
    };
    let worst = |among: Vec<&usize>| among.into_iter().max_by_key(|&&column| case.standing(column)).copied();
    let shows = |&column: &usize| !is_plain(&case.standing(column));
    let named = worst(columns.iter().filter(is_named).collect());
    let chosen = match named {
        Some(column) if shows(&column) => Some(column),
        _ => worst(columns.iter().collect()).filter(shows).or(named),
    };
    chosen.or(columns.last().copied()).map_or("ptxas", |column| &report.subjects[column].id)
}

impl<'a> FormPage<'a> {
    pub fn of(frame: Frame<'a>, report: &'a Report, matrix: &Matrix<'a>, form: &'a Form<'a>) -> FormPage<'a> {
        let columns = columns(report, matrix);
        let of_program = |(name, case): &(String, &Case)| {
            let mut groups = groups(&matrix.subjects, |nth| case.standing(columns[nth]));
            // Most programs were not tested with all subjects; the page states this once.
            groups.retain(|group| group.standing != Standing::NotReached);
            // Subjects that are not named conform.
            if let (true, Some(first)) = (groups.len() > 1, groups.first_mut())
                && first.standing == Standing::Conforms
            {
                first.who = "all others".to_owned();
            } else if let [only] = &mut groups[..] {
                only.who = "all".to_owned();
            }
            let subject = shown_to(report, &columns, case);
            Program {
                name: short(name),
                anchor: slug(name),
                groups,
                known: case.known.iter().map(|id| to_deviation("../", id)).collect(),
                text: program(&without_clauses(&case.program)),
                command: match case.name.strip_prefix("cell ") {
                    Some(cell) => format!(
                        "ptxsmith run --cell {} --subject {}",
                        shell_words::quote(cell),
                        shell_words::quote(subject)
                    ),
                    None => check(subject),
                },
            }
        };
        FormPage {
            frame,
            form,
            report,
            counts: columns
                .iter()
                .map(|&column| {
                    let subject = &report.subjects[column];
                    (subject, anchor(subject), &form.counts[column])
                })
                .collect(),
            programs: form.cells.iter().map(of_program).collect(),
        }
    }

    pub fn path(&self) -> String {
        format!("forms/{}", slug(&self.form.name))
    }

    pub fn json(&self) -> Value {
        let counts = |(subject, _, counts): &(&Subject, String, &Counts)| {
            let by_name: Map<_, _> =
                counts.iter().map(|(standing, count)| (standing.name().to_owned(), json!(count))).collect();
            (subject.id.clone(), Value::Object(by_name))
        };
        let cell = |(name, case): &(String, &Case)| {
            let mut cell = json!({
                "name": name, "standings": case.standings, "program": case.program,
            });
            if !case.known.is_empty() {
                cell["deviations"] = json!(case.known);
            }
            if slug(name) != *name {
                cell["anchor"] = json!(slug(name));
            }
            cell
        };
        json!({
            "form": self.form.name, "letters": letters(),
            "columns": self.report.subjects.iter().map(|subject| &subject.id).collect::<Vec<_>>(),
            "counts": self.counts.iter().map(counts).collect::<Map<_, _>>(),
            "not_listed": self.form.left_out,
            "cells": self.form.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    }
}

/// The page of a deviation.
#[derive(Template)]
#[template(path = "atlas/deviation.html")]
pub struct DeviationPage<'a> {
    frame: Frame<'a>,
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
    pub fn of(frame: Frame<'a>, report: &'a Report, finding: &'a Finding) -> DeviationPage<'a> {
        DeviationPage {
            frame,
            report,
            finding,
            clauses: clauses::telling(&finding.clauses)
                .0
                .into_iter()
                .take(12)
                .map(|id| to_clause("../", id))
                .collect(),
            program: program(&modules(finding)),
            expected: program(&describe::expected(finding).join("\n")),
            observed: program(&describe::observed(finding).join("\n")),
            reproduce: program(&reproduce::commands(finding, "x").unwrap_or_default().join("\n")),
            repeat: program(&repeat(finding)),
            work_around: deviations::work_around(&finding.id),
            meaning: deviations::meaning(&finding.id),
            page: deviations::link(&finding.id),
        }
    }

    pub fn path(&self) -> String {
        format!("deviations/{}", slug(&self.finding.id))
    }

    /// Returns the subjects that show the deviation: according to the verdicts of all releases if they are known, or else according to the
    /// campaigns.
    fn shown_by(&self) -> String {
        match self.finding.releases.is_empty() {
            false => short(&self.report.release_map(self.finding)),
            true => {
                let all: Vec<&Subject> = self.report.subjects.iter().collect();
                listed(&all, |nth| self.finding.subjects.contains(&all[nth].id))
            }
        }
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

/// Whether a cell of a board has no details to which it could link.
fn is_plain(standing: &Standing) -> bool {
    matches!(standing, Standing::Conforms | Standing::NotReached | Standing::Unsupported)
}
