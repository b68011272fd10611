//! Expressions that go to a sink are those that are made as trees.

use std::{collections::BTreeSet, ops::Range};

use ptxsmith_gen::{Body, Case, CaseId, Config, Coverage, Focus, Generator, Stock};
use ptxsmith_syntax::{Canonical, Infix, NodeKind, Spacing, TreeBuilder, print_expr};

#[test]
fn a_case_is_the_same_as_tree_as_nodes_and_as_text() {
    let generator = Generator::default();
    let (mut with_parens, mut with_two_signs, mut with_ternary) = (0, 0, 0);
    for index in 0..20_000 {
        let id = CaseId { seed: 3, index };
        let mut counted = [Coverage::new(), Coverage::new(), Coverage::new()];
        let case = generator.case(Focus::Expressions, id.seed, index, &mut counted[0]);
        if case.spacing != Spacing::Canonical {
            continue;
        }
        let Body::Expression { ty, space, expr } = case.body else { panic!("an expression is asked for") };
        let mut tree = TreeBuilder::default();
        let seated = generator.assemble_case(id, &mut Stock::default(), &mut counted[1], &mut tree);
        assert_eq!((seated, tree.take()), (Some((ty, space)), expr.clone()));

        let mut infix = Infix::default();
        generator.assemble_case(id, &mut Stock::default(), &mut counted[2], &mut infix);
        let mut printed = Canonical::default();
        print_expr(&expr, &mut printed);
        assert_eq!(infix.text(), printed.0.as_bytes());
        let mut longer = b"before ".to_vec();
        infix.append_to(&mut longer);
        assert_eq!(longer, format!("before {}", printed.0).as_bytes());

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
