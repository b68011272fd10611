//! Expressions that go to a sink are those that are made as trees.

use std::{collections::BTreeSet, ops::Range};

use arbitrary::Unstructured;
use ptxsmith_gen::{Body, Case, CaseId, Config, Coverage, Focus, Generator, Stock, stream};
use ptxsmith_syntax::{Canonical, Infix, NodeKind, ScalarType, TreeBuilder, print_expr};

const TYPES: [Option<ScalarType>; 8] = [
    None,
    Some(ScalarType::S64),
    Some(ScalarType::U8),
    Some(ScalarType::B16),
    Some(ScalarType::B32),
    Some(ScalarType::B64),
    Some(ScalarType::F32),
    Some(ScalarType::F64),
];

#[test]
fn the_same_bytes_give_the_same_expression_as_tree_and_as_text() {
    let generator = Generator::default();
    let (mut with_parens, mut with_two_signs, mut with_ternary) = (0, 0, 0);
    for case in 0..20_000 {
        let mut bytes = [0; 128];
        stream::case_bytes(3, case, &mut bytes);
        let ty = TYPES[case as usize % TYPES.len()];
        let mut counted = [Coverage::new(), Coverage::new(), Coverage::new()];
        let mut left = [0; 3];

        let mut u = Unstructured::new(&bytes);
        let expr = match ty {
            Some(ty) => generator.expression(ty, &mut u, &mut counted[0]),
            None => generator.integer(&mut u, &mut counted[0]),
        };
        let expr = expr.unwrap();
        left[0] = u.len();

        let mut u = Unstructured::new(&bytes);
        let mut tree = TreeBuilder::default();
        generator.assemble(ty, &mut u, &mut counted[1], &mut tree);
        left[1] = u.len();
        assert_eq!(tree.take(), expr);

        let mut u = Unstructured::new(&bytes);
        let mut infix = Infix::default();
        generator.assemble(ty, &mut u, &mut counted[2], &mut infix);
        left[2] = u.len();
        let mut printed = Canonical::default();
        print_expr(&expr, &mut printed);
        assert_eq!(infix.text(), printed.0.as_bytes());
        let mut longer = b"before ".to_vec();
        infix.append_to(&mut longer);
        assert_eq!(longer, format!("before {}", printed.0).as_bytes());

        assert!(left.iter().all(|&other| other == left[0]));
        assert!(counted.iter().all(|other| *other == counted[0]));
        with_parens += u32::from(printed.0.contains('('));
        with_two_signs +=
            u32::from(["- -", "+ +", "- +", "+ -"].iter().any(|signs| printed.0.contains(signs)));
        with_ternary += u32::from(printed.0.contains('?'));
    }
    assert!(
        with_parens > 5_000 && with_two_signs > 50 && with_ternary > 500,
        "{with_parens} {with_two_signs} {with_ternary}"
    );
}

#[test]
fn the_least_expression_is_the_same_with_no_bytes() {
    let generator = Generator::new(Config::default());
    let mut infix = Infix::default();
    generator.assemble(None, &mut Unstructured::new(&[]), &mut Coverage::new(), &mut infix);
    assert_eq!(infix.text(), b"0");
}

/// The numbers of a case, as they are written.
fn numbers(case: &Case) -> Vec<String> {
    let Body::Expression { expr, .. } = &case.body else { panic!("an expression is asked for") };
    let number =
        |kind: &NodeKind| if let NodeKind::Number(text) = kind { Some(text.to_string()) } else { None };
    expr.nodes().iter().filter_map(|node| number(&node.kind)).collect()
}

#[test]
fn a_case_with_shared_numbers_is_the_same_made_alone_and_from_a_stock_in_any_order() {
    let generator = Generator::new(Config { shared_numbers: 50, ..Config::bulk() });
    let mut stock = Stock::default();
    let mut assembled = 0;
    // 577 is prime to 4,000: neighbours are of different groups and seeds, and all come up.
    for (seed, index) in (0..4_000).map(|n| (1 + n % 2, n * 577 % 4_000)) {
        let mut tree = TreeBuilder::default();
        let id = CaseId { seed, index };
        let seated = generator.assemble_case(id, &mut stock, &mut Coverage::new(), &mut tree);
        let case = generator.case(Focus::Expressions, seed, index, &mut Coverage::new());
        let Body::Expression { ty, space, expr } = case.body else { panic!("an expression is asked for") };
        if let Some(seated) = seated {
            assert_eq!((seated, tree.take()), ((ty, space), expr), "{id}");
            assembled += 1;
        }
    }
    assert!(assembled > 3_900, "{assembled}");
}

#[test]
fn cases_of_a_group_share_their_numbers_and_the_next_group_has_others() {
    let made = |shared_numbers| {
        let generator = Generator::new(Config { shared_numbers, ..Config::bulk() });
        let case = |index| generator.case(Focus::Expressions, 1, index, &mut Coverage::new());
        [0..2_000, 2_000..4_000].map(|group: Range<u64>| {
            let all: Vec<String> = group.flat_map(|index| numbers(&case(index))).collect();
            (all.len(), all.into_iter().collect::<BTreeSet<_>>())
        })
    };
    let [(drawn, own), _] = made(0);
    let [(shared, first), (_, second)] = made(2_000);
    // As many are drawn, and far fewer are different.
    assert!((drawn as f64 / shared as f64 - 1.0).abs() < 0.1, "{drawn} {shared}");
    assert!(2 * first.len() < own.len(), "{} {}", first.len(), own.len());
    assert!(first.len() > 500 && 2 * first.intersection(&second).count() < first.len());
}
