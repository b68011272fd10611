//! Whether the generator tells a wrong rule from the right one, and how many cases it takes.

use std::fmt::Write as _;

use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_gen::{Body, Coverage, Focus, Generator, Header, Places};
use ptxsmith_oracle::{Evaluator, Expectation, Rules, Stop, Stored, Trace, expect, predict};
use ptxsmith_syntax::{Expr, ScalarType, parse};
use ptxsmith_testing::rendered_between;
use ptxsmith_testing::wrong::{self, RuleOrigin, WrongRule};

/// A wrong rule that takes more cases than this shows is one that a run may miss.
const MOST: u64 = 20_000;

/// Deviations of programs that only the tables of places make.
const BY_PLACES: [&str; 1] = ["count-of-zero-declares"];

/// What a case holds, without what the answer rests on.
#[derive(PartialEq)]
enum Outcome {
    Value(Result<Stored, &'static str>),
    Module(Result<Vec<Held>, &'static str>),
}

/// A variable: name, size, alignment, bytes and addresses.
type Held = (String, u64, u64, Vec<u8>, Vec<ptxsmith_oracle::Address>);

fn value(expr: &Expr, ty: ScalarType, rules: &Rules) -> Outcome {
    let stored = Evaluator::new(rules, (7, 8)).store(expr, ty, &mut Trace::default());
    let mask = |bits: u64| {
        if ty.size() == Some(8) { bits } else { bits & ((1 << (8 * ty.size().unwrap_or(0))) - 1) }
    };
    Outcome::Value(match stored {
        Ok(Stored::Bits(bits)) => Ok(Stored::Bits(mask(bits))),
        Ok(address) => Ok(address),
        Err(Stop::Refused(refusal)) => Err(refusal.class.name()),
        Err(Stop::Unmodelled(reason)) => Err(reason),
    })
}

fn outcome(body: &Body, rules: &Rules) -> Outcome {
    match body {
        Body::Expression { ty, expr, .. } => value(expr, *ty, rules),
        Body::Items(items) | Body::Contexts(items) => {
            let module = Header::default().module(items.clone());
            Outcome::Module(match expect(&module, rules) {
                Expectation::Accepted { variables, .. } => Ok(variables
                    .into_iter()
                    .map(|v| (v.name.to_string(), v.size, v.align, v.bytes, v.addresses))
                    .collect()),
                Expectation::Refused { refusal, .. } => Err(refusal.class.name()),
                Expectation::Unmodelled { reason, .. } => Err(reason),
            })
        }
        Body::Negative(_) | Body::Kernel(_) => Outcome::Module(Err("refused")),
    }
}

/// Every wrong rule: those that are only plausible, and those that real implementations are known to follow.
fn mutants() -> Vec<(&'static str, Rules)> {
    // Cases here are valid, so invalid programs that are accepted do not show. Variables of more than 2^28 bytes
    // (`size-modulo-2-64`) and `PREFIX<0>` are made by the tables of places, not by the default generator.
    let is_valid = |known: &&KnownDeviation| {
        let module = parse(known.example).expect("the example parses");
        matches!(expect(&module, &Rules::default()), Expectation::Accepted { unmodelled, .. } if unmodelled.is_empty())
    };
    let shows_in_data = |known: &&KnownDeviation| {
        known.clauses.first().is_some_and(|clause| clause.observed().by_data())
            && is_valid(known)
            && !BY_PLACES.contains(&known.id)
    };
    let counts = |wrong: &WrongRule| match wrong.origin {
        RuleOrigin::Hypothesis => true,
        RuleOrigin::Known => KNOWN.iter().filter(shows_in_data).any(|known| known.id == wrong.id),
        RuleOrigin::OperandHypothesis | RuleOrigin::Unsuspected => false,
    };
    wrong::all().filter(counts).map(|wrong| (wrong.title, Rules::default().with(wrong.change))).collect()
}

/// The number of the first case of the default generator that tells each wrong rule from the right one.
fn cases_needed() -> Vec<(&'static str, Option<u64>)> {
    let generator = Generator::default();
    let mutants = mutants();
    let mut needed: Vec<Option<u64>> = vec![None; mutants.len()];
    for index in 0..MOST {
        let body = generator.case(Focus::Mixed, 0, index, &mut Coverage::new()).body;
        let right = outcome(&body, &Rules::default());
        for (needed, (_, wrong)) in needed.iter_mut().zip(&mutants) {
            if needed.is_none() && outcome(&body, wrong) != right {
                *needed = Some(index + 1);
            }
        }
        if needed.iter().all(Option::is_some) {
            break;
        }
    }
    mutants.iter().map(|(name, _)| *name).zip(needed).collect()
}

#[test]
fn each_wrong_rule_is_distinguished_from_the_right_one_and_the_table_says_when() {
    let needed = cases_needed();
    assert!(needed.len() >= 40, "{} wrong rules are too few to prove much", needed.len());
    let missed: Vec<_> = needed.iter().filter(|(_, cases)| cases.is_none()).map(|(name, _)| name).collect();
    assert!(missed.is_empty(), "not told within {MOST} cases: {missed:#?}");

    let mut table = String::from("| wrong rule | cases |\n| --- | ---: |\n");
    for (name, cases) in &needed {
        let name = name.replace('|', "\\|");
        let _ = writeln!(table, "| {name} | {} |", cases.unwrap_or(0));
    }
    rendered_between("docs/guide/generation.md", "wrong rules", &table);
}

#[test]
fn what_the_default_generator_does_not_make_shows_among_the_numbers_of_the_places() {
    let places = Places::new();
    for id in BY_PLACES {
        let wrong = Rules::default().with(wrong::rule(id).change);
        let cells = places.find("numbers").expect("there is such a family");
        let mut modules = cells.filter_map(|cell| parse(&places.cell(cell).text).ok());
        let shows =
            modules.any(|module| predict(&module, &Rules::default()).differs_from(&predict(&module, &wrong)));
        assert!(shows, "{id}");
    }
}
