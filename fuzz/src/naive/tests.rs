//! Examples and tables of the specification, computed by hand.

use ptxsmith_oracle::Question;
use ptxsmith_syntax::parse_expr;

use super::*;

fn under(text: &str, ty: ScalarType, question: Question, answer: usize) -> NaiveAnswer {
    let readings = Readings::default().with(question, answer).unwrap();
    store(&parse_expr(text).unwrap(), ty, (7, 8), &readings)
}

fn held(text: &str, ty: ScalarType) -> NaiveAnswer {
    store(&parse_expr(text).unwrap(), ty, (7, 8), &Readings::default())
}

fn bits(text: &str) -> u64 {
    match held(text, ScalarType::S64) {
        NaiveAnswer::Bits(bits) => bits,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn integers_follow_their_types() {
    for (text, value) in [
        ("-1 / 2", 0),
        ("-7 / 2", -3),
        ("-1U / 2", i64::MAX),
        // The remainder interprets both operands as unsigned: 2^64 - 7 is 1 modulo 2.
        ("-7 % 2", 1),
        ("(-7 % 2) < 0", 0),
        ("-1 >> 63", -1),
        ("-1U >> 63", 1),
        ("1 << 64", 0),
        ("1 << -1", 0),
        ("-1 >> 64", -1),
        ("~0 < 0", 0),
        ("!5 - 1 < 0", 1),
        ("-1 < 0U", 0),
        ("(.s64) 0xffffffffffffffff < 0", 1),
        ("(.u64) -1 < 0", 0),
        ("0x8000000000000000 / -1", 0),
        ("(1 ? -1 : 0U) < 0", 0),
        ("(1 ? -1 : 0) < 0", 1),
        ("0 && 2 || 3", 1),
        ("2 + 3 * 4 - 10 / 5", 12),
        ("6 & 3 ^ 5 | 8", 15),
        ("WARP_SZ", 32),
        ("1.5 < 1.6", 1),
        ("0d7ff8000000000000 != 0d7ff8000000000000", 1),
    ] {
        assert_eq!(bits(text), value as u64, "{text}");
    }
}

#[test]
fn conversion_keeps_the_low_bits_of_integers_and_rounds_floats() {
    assert_eq!(held("0x1ff", ScalarType::U8), NaiveAnswer::Bits(0xff));
    assert_eq!(held("-1", ScalarType::S16), NaiveAnswer::Bits(0xffff));
    assert_eq!(held("0.1", ScalarType::F32), NaiveAnswer::Bits(0x3dcc_cccd));
    assert_eq!(held("0.1 + 0.2", ScalarType::F64), NaiveAnswer::Bits(0x3fd3_3333_3333_3334));
    assert_eq!(held("0f3f800000", ScalarType::F64), NaiveAnswer::Bits(0x3ff0_0000_0000_0000));
    assert_eq!(held("1.0", ScalarType::B32), NaiveAnswer::Bits(0x3f80_0000));
    assert_eq!(held("0xff00(0x1234)", ScalarType::U8), NaiveAnswer::Bits(0x12));
    assert_eq!(held("-(0.0)", ScalarType::F64), NaiveAnswer::Bits(1 << 63));
    assert_eq!(held("0d7ff0000000000001", ScalarType::F32), NaiveAnswer::Bits(0x7fc0_0000));
}

#[test]
fn type_errors_are_refused_for_any_values() {
    for (text, ty) in [
        ("1 + 1.0", ScalarType::S64),
        ("0 ? 1 : 1.0", ScalarType::S64),
        ("1.0 ? 1 : 2", ScalarType::S64),
        ("!1.0", ScalarType::S64),
        ("(.s64) 1.0", ScalarType::S64),
        ("-0f3f800000", ScalarType::F32),
        ("(0f3f800000)", ScalarType::F32),
        ("1.0", ScalarType::S32),
        ("1", ScalarType::F32),
        ("1.0", ScalarType::B16),
        ("0", ScalarType::Pred),
        ("08", ScalarType::S32),
        ("1 / 0", ScalarType::S32),
        ("1 || 1 / 0", ScalarType::S32),
        ("18446744073709551616", ScalarType::U64),
        ("0xfe(1)", ScalarType::U8),
    ] {
        assert_eq!(held(text, ty), NaiveAnswer::Refused, "{text} in {ty:?}");
    }
    assert_eq!(held("0.0 / 0.0", ScalarType::F64), NaiveAnswer::Open);
    assert_eq!(held("1", ScalarType::B128), NaiveAnswer::Open);
    assert_eq!(held("1.0", ScalarType::B128), NaiveAnswer::Open);
    assert_eq!(under("1.0", ScalarType::B128, Question::BitsFromFloat, 1), NaiveAnswer::Refused);
    assert_eq!(held("x + 1", ScalarType::U64), NaiveAnswer::Unknown);
}

#[test]
fn each_interpretation_changes_its_expressions() {
    for (question, answer, text, expected) in [
        (Question::ShiftCount, 1, "1 << 65", NaiveAnswer::Bits(2)),
        (Question::DivisionByZero, 2, "1 / 0 == -1", NaiveAnswer::Bits(1)),
        (Question::QuotientOverflow, 1, "(-9223372036854775807 - 1) / -1", NaiveAnswer::Refused),
        (Question::SignedOverflow, 1, "9223372036854775807 + 1", NaiveAnswer::Refused),
        (Question::SkippedOperand, 1, "1 || 1 / 0", NaiveAnswer::Bits(1)),
        (Question::BitwiseType, 1, "(-1 & -1) < 0", NaiveAnswer::Bits(0)),
        (Question::WarpSizeType, 1, "WARP_SZ - 33 < 0", NaiveAnswer::Bits(0)),
        (Question::LiteralRange, 3, "18446744073709551616 == 18446744073709551615", NaiveAnswer::Bits(1)),
    ] {
        assert_ne!(held(text, ScalarType::S64), expected, "{text}");
        assert_eq!(under(text, ScalarType::S64, question, answer), expected, "{text}");
    }
}
