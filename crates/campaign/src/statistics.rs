//! Statistics about generated modules: grammar coverage, and the results of our own parser and the oracle.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use indicatif::HumanCount;
use ptxsmith_gen::{Body, Case, Coverage, Generator, Header};
use ptxsmith_oracle::{Clause, ClauseSet, Expectation, RefusalClass, Rules, expect};

/// Counts over generated modules.
#[derive(Default)]
pub struct Statistics {
    /// The grammar productions generated.
    pub coverage: Coverage,
    modules: u64,
    bytes: u64,
    /// Modules that do not parse back to the same tree.
    misread: u64,
    negatives: u64,
    /// Valid programs that the oracle accepts.
    accepted: u64,
    /// Addresses in the variables of accepted programs.
    addresses: u64,
    /// Programs that are invalid under the default interpretation of an open question.
    open: u64,
    /// Programs that the oracle rejects although they meet no open question: the generator or the oracle is
    /// wrong.
    refused: u64,
    unmodelled: u64,
    /// Invalid programs that the oracle does not reject for the reason that their edit states.
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
                Expectation::Refused { refusal, .. }
                    if RefusalClass::from_name(negative.edit.label) == Some(refusal.class) =>
                {
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

    /// Formats the counts for people.
    pub fn text(&self, generator: &Generator) -> String {
        let mut out = String::new();
        let mut say = |key: &str, value: String| {
            let _ = writeln!(out, "{key:<28} {value}");
        };
        say("modules", format!("{}, {} bytes", grouped(self.modules), grouped(self.bytes)));
        say("read back otherwise", grouped(self.misread));
        say("positive, accepted", grouped(self.accepted));
        say("  addresses in them", grouped(self.addresses));
        say("  refused by the default answer to an open question", grouped(self.open));
        say("  a value that is not said", grouped(self.unmodelled));
        say("  refused without a question", grouped(self.refused));
        say("negative", grouped(self.negatives));
        say("  not refused for the reason stated", grouped(self.not_refused));
        let classes: Vec<String> =
            self.classes.iter().map(|(class, n)| format!("{} {n}", class.name())).collect();
        if !classes.is_empty() {
            say("  refused", classes.join(", "));
        }
        say("productions", share(self.coverage.productions(generator)));
        let missing: Vec<&str> = self.coverage.missing(generator).map(|production| production.name).collect();
        if !missing.is_empty() {
            say("  never made", missing.join(" "));
        }
        say("pairs of productions", share(self.coverage.pairs(generator)));
        let pairs: Vec<String> = (self.coverage.missing_pairs(generator))
            .map(|(above, below)| format!("{} > {}", above.name, below.name))
            .collect();
        for pair in &pairs {
            say("  never made", pair.clone());
        }
        let testable: Vec<Clause> =
            Clause::ALL.iter().copied().filter(|clause| clause.observed().by_data()).collect();
        let reached = testable.iter().filter(|&&clause| self.clauses.contains(clause)).count();
        say("clauses that data can show", share((reached, testable.len())));
        for clause in testable.iter().filter(|&&clause| !self.clauses.contains(clause)) {
            say("  never reached", format!("{} ({})", clause.id(), clause.summary()));
        }
        out
    }
}

/// Formats a count with separators.
fn grouped(count: u64) -> String {
    HumanCount(count).to_string()
}

/// Formats a part of a total, with its percentage.
fn share((reached, total): (usize, usize)) -> String {
    format!("{reached} of {total} ({})", percent(reached, total))
}

fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use ptxsmith_gen::{CaseId, Focus, Negative};
    use ptxsmith_syntax::{Item, Spacing};

    use super::*;

    fn items(text: &str) -> Vec<Item> {
        ptxsmith_syntax::parse(text).unwrap().items
    }

    fn case(body: Body) -> Case {
        Case { id: CaseId { seed: 0, index: 0 }, body, spacing: Spacing::Canonical }
    }

    /// Returns the counts with this label.
    fn said<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
        let key = format!("{key:<28} ");
        text.lines().filter_map(|line| line.strip_prefix(&*key)).collect()
    }

    #[test]
    fn programs_are_counted_by_what_the_oracle_says_of_them() {
        let header = Header::default();
        let generator = Generator::default();
        let mut statistics = Statistics::default();
        let mut bytes = 0;
        for text in [
            ".global .u32 a = 7;",
            ".global .u32 b; .global .u64 c[3] = {b, b, 1};",
            ".global .u32 b; .global .u64 c = b;",
            // It is an open question whether an offset may be subtracted.
            ".global .u32 b; .global .u64 a = b - 4;",
            ".global .u32 b; .global .u64 a = b - 8;",
            // A remainder of floats is invalid under every interpretation.
            ".global .f64 a = 1.5 % 2.0;",
            ".global .f64 a = 1.5 % 2.5;",
            ".global .f64 a = 1.5 % 3.5;",
            // The specification does not say which bits an arithmetic NaN has.
            ".global .f64 a = 0d7FF8000000000000 + 1.0;",
        ] {
            let case = case(Body::Items(items(text)));
            bytes += ptxsmith_syntax::print(&case.module(&header)).len();
            statistics.enter(&case, &header);
        }
        // A name that begins with a digit is parsed as something else.
        let mut misread = items(".global .u32 a = 7;");
        let Item::Variables(declaration) = &mut misread[0] else { panic!("a declaration") };
        declaration.declarators[0].name.text = "7a".into();
        let misread = case(Body::Items(misread));
        bytes += ptxsmith_syntax::print(&misread.module(&header)).len();
        statistics.enter(&misread, &header);

        let text = statistics.text(&generator);
        assert_eq!(said(&text, "modules"), [format!("10, {bytes} bytes")]);
        for (key, count) in [
            ("read back otherwise", "1"),
            ("positive, accepted", "4"),
            ("  addresses in them", "3"),
            ("  refused by the default answer to an open question", "2"),
            ("  a value that is not said", "1"),
            ("  refused without a question", "3"),
            ("negative", "0"),
            ("  not refused for the reason stated", "0"),
        ] {
            assert_eq!(said(&text, key), [count], "{key}");
        }
        // No class is reported if there are no invalid programs.
        assert_eq!(said(&text, "  refused"), [""; 0]);
        let productions = statistics.coverage.productions(&generator).1;
        assert_eq!(said(&text, "productions"), [format!("0 of {productions} (0.0 %)")]);
    }

    #[test]
    fn negatives_are_counted_by_the_reason_for_which_they_are_refused() {
        let header = Header::default();
        let generator = Generator::default();
        let mut statistics = Statistics::default();
        let drawn = |index| generator.case(Focus::Negatives, 0, index, &mut Coverage::new());
        let Body::Negative(one) = drawn(0).body else { panic!("a negative") };
        let class = one.edit.label;
        statistics.enter(&case(Body::Negative(one.clone())), &header);
        statistics.enter(&drawn(1), &header);
        // One program that is not rejected, and one that is rejected for a reason other than its edit.
        let valid = Negative {
            broken: one.counterpart.clone(),
            header: one.counterpart_header.clone(),
            ..(*one).clone()
        };
        statistics.enter(&case(Body::Negative(Box::new(valid))), &header);
        let other = (0..).step_by(8).map(drawn).find_map(|drawn| match drawn.body {
            Body::Negative(other) if other.edit.label != class && other.header.is_none() => Some(other),
            _ => None,
        });
        let other = Negative { broken: other.unwrap().broken, header: None, ..(*one).clone() };
        statistics.enter(&case(Body::Negative(Box::new(other))), &header);

        let text = statistics.text(&generator);
        assert!(said(&text, "modules")[0].starts_with("4, "));
        assert_eq!([said(&text, "negative"), said(&text, "positive, accepted")], [["4"], ["0"]]);
        assert_eq!(said(&text, "  not refused for the reason stated"), ["2"]);
        assert_eq!(said(&text, "  refused"), [format!("{class} 2")]);
    }

    #[test]
    fn what_was_made_and_reached_is_told_of_all_that_there_is() {
        let header = Header::default();
        let generator = Generator::default();
        let mut statistics = Statistics::default();
        statistics.enter(&case(Body::Items(items(".global .u32 a = WARP_SZ;"))), &header);
        let mut coverage = Coverage::new();
        for index in 0..20 {
            generator.case(Focus::Expressions, 0, index, &mut coverage);
        }
        let (made, of) = coverage.productions(&generator);
        let missing: Vec<&str> = coverage.missing(&generator).map(|production| production.name).collect();
        assert!(made > 10 && made + missing.len() == of);
        statistics.coverage = coverage;
        let text = statistics.text(&generator);
        let share = format!("{made} of {of} ({:.1} %)", 100.0 * made as f64 / of as f64);
        assert_eq!(said(&text, "productions"), [share]);
        assert_eq!(said(&text, "  never made")[0], missing.join(" "));
        let never = said(&text, "  never reached");
        let of_warp_size = format!("{} ({})", Clause::WarpSize.id(), Clause::WarpSize.summary());
        let of_octal = format!("{} ({})", Clause::LiteralOctal.id(), Clause::LiteralOctal.summary());
        assert!(!never.contains(&&*of_warp_size) && never.contains(&&*of_octal), "{never:?}");
    }

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!([percent(1, 3), percent(3, 3), percent(0, 0)], ["33.3 %", "100.0 %", "0.0 %"]);
    }
}
