//! The end of a campaign, for a person with ten seconds.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use indicatif::HumanCount;
use ptxsmith_diff::{Fate, Must};
use ptxsmith_oracle::{Clause, ClauseSet, Expectation, Rules, expect};
use ptxsmith_syntax::{Item, Module, print};

use super::{Campaign, Ended, Found, describe, file, report};
use crate::console::{BAD, BOLD, GOOD, NOTE, line, lines};

/// The most new findings that are shown; the report has all. Known ones are few by nature.
const MOST_NEW: usize = 10;
/// The most clauses of a finding that are shown.
const MOST_CLAUSES: usize = 4;
/// The most lines of a program that are shown.
const MOST_LINES: usize = 6;
/// The most characters of a line.
const MOST_CHARACTERS: usize = 160;

/// What the summary is made of.
pub struct Summary<'a> {
    /// The campaign.
    pub campaign: &'a Campaign<'a>,
    /// What it found, in the order of the report.
    pub findings: &'a [Found],
    /// Why it is over.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

impl Summary<'_> {
    /// The summary as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let new = self.findings.iter().filter(|found| found.is_new()).count();
        let mut number = 0;
        for (nth, found) in self.findings.iter().enumerate() {
            // New ones stand first.
            if (MOST_NEW..new).contains(&nth) {
                continue;
            }
            number += 1;
            self.finding(&mut out, number, found);
            if number == MOST_NEW && new > MOST_NEW {
                let _ = writeln!(out, "    ... and {} more new ones, which the report has\n", new - MOST_NEW);
            }
        }
        self.totals(&mut out);
        out
    }

    fn finding(&self, out: &mut String, number: usize, found: &Found) {
        let finding = &found.finding;
        let (style, status) = if found.is_new() { (BAD, "new") } else { (NOTE, "known") };
        let _ = writeln!(
            out,
            "{number:>2}. {style}{status} {}{style:#}: {BOLD}{}{BOLD:#} ({} {})",
            finding.class.name(),
            line(&finding.title),
            HumanCount(finding.count),
            if finding.count == 1 { "time" } else { "times" },
        );
        let mut say = |key: &str, value: &str| {
            let _ = writeln!(out, "    {key:<9} {}", cut(value));
        };
        let (telling, others) = telling(&finding.clauses);
        for clause in &telling {
            say("clause", &format!("{} ({})", clause.id(), clause.summary()));
        }
        if others > 0 {
            say("", &format!("and {others} more, which the report has"));
        }
        for (nth, text) in shown_program(found).iter().enumerate() {
            say(if nth == 0 { "program" } else { "" }, text);
        }
        for (nth, text) in describe::expected(found).iter().enumerate() {
            say(if nth == 0 { "expected" } else { "" }, text);
        }
        for (nth, text) in describe::observed(found).iter().enumerate() {
            say(if nth == 0 { "actual" } else { "" }, text);
        }
        // Not cut: it is there to be copied.
        let _ = writeln!(out, "    repeat    {}\n", line(&self.campaign.repeat(found)));
    }

    /// The share of the grammar that was made, where anything was.
    fn productions(&self) -> String {
        let (reached, total) = report::production_coverage(self.campaign);
        let (pairs, all_pairs) = report::pair_coverage(self.campaign);
        match reached {
            0 => String::new(),
            _ => format!(", {reached} of {total} productions, {pairs} of {all_pairs} pairs"),
        }
    }

    /// What was accepted and what refused, where anything was that must be refused.
    fn confusion(&self, out: &mut String) {
        for tested in &self.campaign.subjects {
            let ledger = tested.ledger();
            let count = |must, fate| ledger.confusion.count(must, fate);
            let fates = [Fate::Accepted, Fate::Refused, Fate::Died];
            if fates.iter().all(|&fate| count(Must::Refuse, fate) == 0) {
                continue;
            }
            let _ = writeln!(
                out,
                "{:<24} {:>10} {:>10} {:>10}",
                line(tested.subject.id()),
                "accepted",
                "refused",
                "died"
            );
            for (name, must) in [("  must be accepted", Must::Accept), ("  must be refused", Must::Refuse)] {
                let [accepted, refused, died] = fates.map(|fate| HumanCount(count(must, fate)).to_string());
                let _ = writeln!(out, "{name:<24} {accepted:>10} {refused:>10} {died:>10}");
            }
        }
    }

    fn totals(&self, out: &mut String) {
        for tested in &self.campaign.subjects {
            let ledger = tested.ledger();
            let deviate = ledger.compared - ledger.conform;
            let _ = writeln!(
                out,
                "{BOLD}{}{BOLD:#}: {} {} compared, {GOOD}{} conform{GOOD:#}, {} deviate",
                line(&self.campaign.named(tested.subject.id())),
                HumanCount(ledger.compared),
                self.campaign.unit,
                HumanCount(ledger.conform),
                HumanCount(deviate),
            );
            for (reason, count) in &ledger.not_compared {
                let _ = writeln!(out, "  not compared, {}: {}", reason.name(), HumanCount(*count));
            }
            if ledger.unseen > 0 {
                let unseen = HumanCount(ledger.unseen);
                let _ = writeln!(out, "  not compared, variables not shown beside others that are: {unseen}");
            }
            let followed: Vec<String> = (ledger.readings())
                .map(|(question, answer, count)| {
                    let answer = question.answers()[answer];
                    format!("{}={answer} ({})", question.name(), HumanCount(count))
                })
                .collect();
            if !followed.is_empty() {
                let _ = writeln!(out, "  follows other readings of open questions: {}", followed.join(", "));
            }
        }
        for tested in &self.campaign.subjects {
            let confirmed: Vec<String> = (tested.ledger().confirmed.iter())
                .map(|(question, count)| {
                    format!("{}={} ({})", question.name(), question.answers()[0], HumanCount(*count))
                })
                .collect();
            if !confirmed.is_empty() {
                let id = line(tested.subject.id()).into_owned();
                let _ = writeln!(out, "{id} refuses, as the default reading does: {}", confirmed.join(", "));
            }
        }
        self.confusion(out);
        let new = self.findings.iter().filter(|found| found.is_new()).count();
        let deviations = if self.findings.len() == 1 { "deviation" } else { "deviations" };
        let (reached, total) = report::clause_coverage(self.campaign);
        let style = if new > 0 { BAD } else { GOOD };
        let _ = writeln!(
            out,
            "{} distinct {deviations}, {style}{new} new{style:#}; {reached} of {total} clauses reached{}; {:.1} s",
            self.findings.len(),
            self.productions(),
            self.took.as_secs_f64(),
        );
        if self.ended == Ended::Interrupted {
            let _ = writeln!(out, "{NOTE}stopped by Ctrl-C{NOTE:#}: this is what was found until then");
        }
        if let Some(directory) = &self.campaign.out {
            let _ = writeln!(
                out,
                "report: {}, findings: {}",
                line(&directory.join(report::FILE).to_string_lossy()),
                line(&directory.join(file::FOLDER).to_string_lossy()),
            );
            match self.campaign.earlier_findings(self.findings) {
                0 => {}
                earlier => {
                    let _ = writeln!(out, "{earlier} of the files there are of earlier campaigns");
                }
            }
        }
    }
}

/// The clauses that say most about a finding, and how many others there are.
///
/// A difference that nothing explains breaks one of the clauses that its expectation rests on, and nobody knows
/// which. But some every initialized variable rests on: they are named last.
fn telling(clauses: &[Clause]) -> (Vec<Clause>, usize) {
    static COMMON: LazyLock<ClauseSet> = LazyLock::new(|| {
        let text = ".version 7.8\n.target sm_80\n.global .s32 x = 1;\n.global .s32 y[1] = {1};\n";
        let module = ptxsmith_syntax::parse(text).unwrap_or_default();
        match expect(&module, &Rules::default()) {
            Expectation::Accepted { variables, .. } => {
                variables.iter().fold(ClauseSet::EMPTY, |set, variable| set.union(variable.trace.clauses))
            }
            _ => ClauseSet::EMPTY,
        }
    });
    let (common, telling): (Vec<Clause>, Vec<Clause>) =
        clauses.iter().partition(|&&clause| COMMON.contains(clause));
    let shown: Vec<Clause> = telling.into_iter().chain(common).take(MOST_CLAUSES).collect();
    let others = clauses.len() - shown.len();
    (shown, others)
}

/// The declaration at fault, or the program without its header.
fn shown_program(found: &Found) -> Vec<String> {
    let mut module = ptxsmith_syntax::parse(&found.program).unwrap_or_default();
    module.items.retain(|item| !matches!(item, Item::Version(_) | Item::Target(_) | Item::AddressSize(_)));
    if let (Some(_), Some(guilty)) = (&found.origin, &found.finding.example.difference.variable) {
        let declares = |item: &Item| match item {
            Item::Variables(declaration) => declaration.declarators.iter().any(|d| d.name.text == *guilty),
            _ => false,
        };
        if module.items.iter().any(declares) {
            module.items.retain(declares);
        }
    }
    // Printing all of a large program for six lines of it would take longer than judging it.
    module.items.truncate(MOST_LINES);
    let text = print(&Module { items: module.items });
    let mut shown: Vec<String> = lines(&text).lines().take(MOST_LINES).map(str::to_owned).collect();
    if text.lines().count() > MOST_LINES {
        shown.push("...".to_owned());
    }
    shown
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
