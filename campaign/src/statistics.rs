//! What generated modules reach, and how they fare with our own parser and the oracle.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use indicatif::HumanCount;
use ptxsmith_gen::{Body, Case, Coverage, Generator, Header};
use ptxsmith_oracle::{Clause, ClauseSet, Expectation, RefusalClass, Rules, expect};

/// Counts over generated modules.
#[derive(Default)]
pub struct Statistics {
    /// What was made of the grammar.
    pub coverage: Coverage,
    modules: u64,
    bytes: u64,
    /// Modules whose text does not give the same tree again.
    misread: u64,
    negatives: u64,
    /// Positive programs by what the oracle says of them.
    accepted: u64,
    /// Addresses that variables of accepted programs hold.
    addresses: u64,
    /// Refused by the default answer to an open question.
    open: u64,
    /// Refused although no open question is met: the generator, or the oracle, is wrong.
    refused: u64,
    unmodelled: u64,
    /// Negative programs that the oracle does not refuse for the reason that the edit states.
    not_refused: u64,
    classes: BTreeMap<RefusalClass, u64>,
    clauses: ClauseSet,
}

impl Statistics {
    /// Adds a case.
    pub fn enter(&mut self, case: &Case, header: &Header) {
        let module = case.module(header);
        let text = case.spacing.print(&module);
        self.modules += 1;
        self.bytes += text.len() as u64;
        let expectation = expect(&module, &Rules::default());
        let trace = expectation.trace();
        self.clauses = self.clauses.union(trace.clauses);
        let same = ptxsmith_syntax::parse(&text).is_ok_and(|parsed| parsed == module);
        if let Body::Negative(negative) = &case.body {
            self.negatives += 1;
            let header = negative.counterpart_header.as_ref().unwrap_or(header);
            let counterpart = expect(&header.module(negative.counterpart.clone()), &Rules::default());
            self.clauses = self.clauses.union(counterpart.trace().clauses);
            match expectation {
                Expectation::Refused { refusal, .. } if refusal.class.name() == negative.edit.label => {
                    *self.classes.entry(refusal.class).or_default() += 1;
                }
                _ => self.not_refused += 1,
            }
            return;
        }
        self.misread += u64::from(!same);
        match expectation {
            Expectation::Accepted { variables, .. } => {
                self.accepted += 1;
                self.addresses += variables.iter().map(|v| v.addresses.len() as u64).sum::<u64>();
            }
            Expectation::Refused { .. } if trace.questions.is_empty() => self.refused += 1,
            Expectation::Refused { .. } => self.open += 1,
            Expectation::Unmodelled { .. } => self.unmodelled += 1,
        }
    }

    /// The counts as text.
    pub fn text(&self, generator: &Generator) -> String {
        let mut out = String::new();
        let mut say = |key: &str, value: String| {
            let _ = writeln!(out, "{key:<28} {value}");
        };
        let count = |count: u64| HumanCount(count).to_string();
        let of = |(reached, all): (usize, usize)| format!("{reached} of {all} ({})", percent(reached, all));
        say("modules", format!("{}, {} bytes", count(self.modules), count(self.bytes)));
        say("read back otherwise", count(self.misread));
        say("positive, accepted", count(self.accepted));
        say("  addresses in them", count(self.addresses));
        say("  refused by the default answer to an open question", count(self.open));
        say("  a value that is not said", count(self.unmodelled));
        say("  refused without a question", count(self.refused));
        say("negative", count(self.negatives));
        say("  not refused for the reason stated", count(self.not_refused));
        let classes: Vec<String> =
            self.classes.iter().map(|(class, n)| format!("{} {n}", class.name())).collect();
        if !classes.is_empty() {
            say("  refused", classes.join(", "));
        }
        say("productions", of(self.coverage.productions(generator)));
        let missing: Vec<&str> = self.coverage.missing(generator).map(|production| production.name).collect();
        if !missing.is_empty() {
            say("  never made", missing.join(" "));
        }
        say("pairs of productions", of(self.coverage.pairs(generator)));
        let pairs: Vec<String> = (self.coverage.missing_pairs(generator))
            .map(|(above, below)| format!("{} > {}", above.name, below.name))
            .collect();
        for pair in &pairs {
            say("  never made", pair.clone());
        }
        let testable: Vec<Clause> =
            Clause::ALL.iter().copied().filter(|clause| clause.observed().by_data()).collect();
        let reached = testable.iter().filter(|&&clause| self.clauses.contains(clause)).count();
        say("clauses that data can show", of((reached, testable.len())));
        for clause in testable.iter().filter(|&&clause| !self.clauses.contains(clause)) {
            say("  never reached", format!("{} ({})", clause.id(), clause.summary()));
        }
        out
    }
}

fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}
