//! Properties of the enumeration: its size matches a closed formula, it has no duplicates, and every program parses back.

use std::collections::BTreeSet;

use ptxsmith_gen::{
    Header,
    enumerate::{Enumeration, FAMILIES},
};
use ptxsmith_syntax::{BinaryOp, Cast, UnaryOp, parse, print};

/// Returns the indices of a family in the largest enumeration.
fn range(name: &str) -> std::ops::Range<u64> {
    let mut start = 0;
    for family in FAMILIES {
        if family.name == name {
            return start..start + family.count();
        }
        start += family.count();
    }
    panic!("no family is named {name}")
}

fn texts(name: &str) -> Vec<String> {
    let all = Enumeration::new(2);
    range(name).map(|i| print(&all.case(i).unwrap().module(&Header::default()))).collect()
}

#[test]
fn the_counts_are_those_of_the_closed_formulas() {
    // 25 operands, 4 conditions, 8 pairs or triples of operands, 3 nestings.
    let infix = BinaryOp::ALL.len() as u64;
    let prefix = (UnaryOp::ALL.len() + Cast::ALL.len()) as u64;
    let expected = [
        ("prefix", prefix * 25),
        ("infix", infix * 25 * 25),
        ("ternary", 4 * 25 * 25),
        ("float-prefix", 2 * 12),
        ("float-infix", 10 * 12 * 12),
        ("prefix-infix", prefix * infix * 3 * 8),
        ("infix-infix", infix * infix * 3 * 8),
        ("ternary-infix", 2 * infix * 3 * 8),
        // An array of n elements has n + 1 incomplete or complete lists.
        ("array-1", (2..=4).sum()),
        // An array of n rows has the sum of p^k lists for k = 0 to n, if a row has p lists.
        ("array-2", (1..=3).flat_map(|n| (2..=4u64).map(move |p| geometric(p, n))).sum()),
        (
            "array-3",
            (1..=3)
                .flat_map(|n| (1..=3).flat_map(move |m| (2..=3).map(move |p| geometric(geometric(p, m), n))))
                .sum(),
        ),
    ];
    for (name, count) in expected {
        let family = FAMILIES.iter().find(|family| family.name == name).unwrap();
        assert_eq!(family.count(), count, "{name}");
    }
    assert_eq!(Enumeration::new(2).count(), FAMILIES.iter().map(|family| family.count()).sum::<u64>());
}

/// Returns 1 + p + p^2 + ... + p^n.
fn geometric(p: u64, n: u32) -> u64 {
    (p.pow(n + 1) - 1) / (p - 1)
}

#[test]
fn every_program_is_there_once() {
    // Exclude literals: with leading zeros, `0` becomes `00` in two ways.
    for family in FAMILIES.iter().filter(|family| !family.name.ends_with("-literals")) {
        let texts = texts(family.name);
        let distinct: BTreeSet<_> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len(), "{}", family.name);
    }
}

#[test]
fn every_program_parses_back_to_the_same_tree() {
    let all = Enumeration::new(2);
    for index in 0..all.count() {
        // Check only every tenth of these arrays, because there are many.
        if range("array-3").contains(&index) && !index.is_multiple_of(10) {
            continue;
        }
        let module = all.case(index).unwrap().module(&Header::default());
        let text = print(&module);
        assert_eq!(parse(&text).as_ref(), Ok(&module), "{text}");
    }
}

#[test]
fn there_is_nothing_behind_the_last() {
    let all = Enumeration::new(1);
    assert!(all.case(all.count() - 1).is_some());
    assert!(all.case(all.count()).is_none());
}

#[test]
fn the_known_deviations_are_among_the_small_programs() {
    let has = |name: &str, text: &str| assert!(texts(name).iter().any(|t| t.contains(text)), "{text}");
    has("infix", "= (-9223372036854775807 - 1) / -1;");
    has("array-2", "[2][2] = {{1}, {2}};");
    has("floats-by-type", ".f64 v0 = 0f3f800000;");
    has("ternary-infix", "= (1 ? -7 : 3U) / 2;");
}
