//! Expressions assembled by a sink are equal to those generated as trees.

use std::{collections::BTreeSet, ops::Range};

use ptxsmith_gen::{Body, Case, CaseId, Config, Coverage, Focus, Generator};
use ptxsmith_syntax::{NodeKind, Spacing, TreeBuilder};

#[test]
fn a_case_is_the_same_made_and_assembled() {
    let bulk = Config { shared_numbers: 50, ..Config::bulk() };
    let generators = [Config::default(), bulk].map(Generator::new);
    for (generator, index) in
        generators.iter().flat_map(|generator| (0..10_000).map(move |index| (generator, index)))
    {
        let id = CaseId { seed: 3, index };
        let mut counted = [Coverage::new(), Coverage::new()];
        let case = generator.case(Focus::Expressions, id.seed, index, &mut counted[0]);
        if case.spacing != Spacing::Canonical {
            continue;
        }
        let Body::Expression { ty, space, expr } = case.body else { panic!("an expression is asked for") };
        let mut tree = TreeBuilder::default();
        let in_context = generator.assemble_case(id, &mut counted[1], &mut tree);
        assert_eq!((in_context, tree.take()), (Some((ty, space)), expr.clone()));

        assert_eq!(counted[0], counted[1]);
    }
}

/// Returns the numbers in a case, as spelled.
fn numbers(case: &Case) -> Vec<String> {
    let Body::Expression { expr, .. } = &case.body else { panic!("an expression is asked for") };
    let number =
        |kind: &NodeKind| if let NodeKind::Number(text) = kind { Some(text.to_string()) } else { None };
    expr.nodes().iter().filter_map(|node| number(&node.kind)).collect()
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
    // With sharing, about as many numbers are drawn, but far fewer are distinct.
    assert!((drawn as f64 / shared as f64 - 1.0).abs() < 0.1, "{drawn} {shared}");
    assert!(2 * first.len() < own.len(), "{} {}", first.len(), own.len());
    assert!(first.len() > 500 && 2 * first.intersection(&second).count() < first.len());
}
