//! Compares the oracle with the naive evaluator on every small program and on generated ones. `examples/agree.rs` compares many
//! more.

use ptxsmith_fuzz::agreement;
use ptxsmith_gen::{Body, Case, Coverage, Enumeration, Focus, Generator};
use ptxsmith_oracle::{Evaluator, Question, Readings, Rules, Stop, Stored, Trace};
use ptxsmith_syntax::ScalarType;

/// Returns the number of compared answers of a case. Expressions are compared under every interpretation that they meet.
fn compared(case: &Case) -> u32 {
    let Body::Expression { ty, expr, .. } = &case.body else { return 0 };
    agreement(expr, *ty, (7, 8)).unwrap_or_else(|failure| panic!("case {}: {failure}", case.id))
}

#[test]
fn every_operator_and_every_pair_of_boundary_operands_is_agreed_on() {
    let all = Enumeration::new(1);
    let cases =
        (0..all.count()).filter_map(|index| all.case(index)).filter(|case| compared(case) > 0).count();
    // 18 operators on 25 operands, 10 on 12 floats, and the literals of every type.
    assert!(cases > 18 * 25 * 25 + 10 * 12 * 12, "{cases}");
}

#[test]
fn generated_expressions_are_agreed_on() {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let (mut cases, mut answers) = (0, 0);
    for index in 0..60_000 {
        let compared = compared(&generator.case(Focus::Expressions, 1, index, &mut coverage));
        cases += u32::from(compared > 0);
        answers += compared;
    }
    assert!(cases == 60_000 && answers > 80_000, "{cases} cases, {answers} answers");
}

/// Found by the target `eval`. The oracle had no rule for such a NaN, because its bits are not specified. But a float can
/// initialize a bit-size type only if the type has the size of a float type (5.4.4), whatever its bits are.
#[test]
fn a_nan_that_arithmetic_made_is_refused_where_any_float_is() {
    let expr = ptxsmith_syntax::parse_expr("0.0 / 0.0").unwrap();
    for ty in [ScalarType::B8, ScalarType::B16, ScalarType::S32] {
        let stored = Evaluator::new(&Rules::default(), (7, 8)).store(&expr, ty, &mut Trace::default());
        assert!(matches!(stored, Err(Stop::Refused(_))), "{ty:?}: {stored:?}");
        assert!(agreement(&expr, ty, (7, 8)).unwrap() >= 2, "{ty:?}");
    }
}

/// Found by `examples/agree.rs`. An operand that is not evaluated still has a type (4.5.5). The oracle used the type of the
/// operand of its last operator, but `~` gives an unsigned value, and `!` and comparisons a signed one.
#[test]
fn skipped_operands_have_the_type_of_their_operator() {
    let skipped = Readings::default().with(Question::SkippedOperand, 1).unwrap();
    let skipped = Rules::specification(skipped);
    let stored = |text: &str| {
        let expr = ptxsmith_syntax::parse_expr(text).unwrap();
        assert!(agreement(&expr, ScalarType::S8, (7, 8)).unwrap() >= 2, "{text}");
        Evaluator::new(&skipped, (7, 8)).store(&expr, ScalarType::S8, &mut Trace::default())
    };
    // As `.u64`, -8 is above 5; as `.s64` it is below.
    for (text, less) in [
        ("5 < (1 ? -8 : ~(4 / 0))", 1),
        ("5 < (1 ? -8 : 4 / 0)", 0),
        ("5 < (1 ? -8 : !(4U / 0U))", 0),
        ("5 < (1 ? -8 : (4U / 0U) < 3)", 0),
        ("5 < (1 ? -8 : 4U + 4 / 0)", 1),
        ("5 < (1 ? -8 : 4 / 0 + 4U)", 1),
        ("5 < (1 ? -8 : 4 / 0 << 4U)", 0),
        ("5 < (1 ? -8 : (.u64) (4 / 0))", 1),
        ("5 < (1 ? -8 : 4 / 0 ? 4 : 4U)", 1),
    ] {
        assert_eq!(stored(text), Ok(Stored::Bits(less)), "{text}");
    }
    // An expression without a valid type is rejected even if it is not evaluated.
    for text in ["1 ? 5 : (4 / 0) + 1.0", "1 ? 5 : (4 / 0 ? 1.0 : 2.0)", "1 ? 5 : ~(4 / 0 ? 1.0 : 2.0)"] {
        assert!(matches!(stored(text), Err(Stop::Refused(_))), "{text}");
    }
}

/// Found by the target `eval`, under `float-division-by-zero=refused`. The specification does not cover a mask as an operand, and
/// the other operand or the argument of the mask may be rejected first.
#[test]
fn beside_a_mask_that_is_an_operand_either_may_be_met_first() {
    for text in ["(0.0 / 0.0) <= 128U(0)", "0(0e0 / (-0e0)) != (-0e0)", "0xFF(1) + 1"] {
        let expr = ptxsmith_syntax::parse_expr(text).unwrap();
        agreement(&expr, ScalarType::U8, (7, 8)).unwrap_or_else(|failure| panic!("{failure}"));
    }
}
