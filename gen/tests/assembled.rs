//! Expressions that go to a sink are those that are made as trees.

use arbitrary::Unstructured;
use ptxsmith_gen::{Config, Coverage, Generator, stream};
use ptxsmith_syntax::{Canonical, Infix, ScalarType, Tree, print_expr};

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
        let mut tree = Tree::default();
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
