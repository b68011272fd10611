use ptxsmith_oracle::{Expectation, expect};

use super::*;

/// Returns the bits of `x`, a variable of this type and initial value, under these rules.
fn bits(rules: &Rules, ty: &str, value: &str) -> u64 {
    let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n.global .{ty} x = {value};\n");
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let Expectation::Accepted { variables, .. } = expect(&module, rules) else { panic!("{value}") };
    variables[0].bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Values worked out by hand: first the specification's, then the value under the wrong rule.
#[test]
fn a_wrong_rule_evaluates_a_constant_as_its_title_says() {
    let table: &[(&str, &str, i64, i64)] = &[
        ("not-unsigned", "!0 > -1", 1, 0),
        ("division-signed", "0xfffffffffffffffeU / 2", i64::MAX, -1),
        ("division-unsigned", "-6 / 3", -2, 6_148_914_691_236_517_203),
        ("division-rounds-down", "-7 / 2", -3, -4),
        ("division-rounds-down", "7 / -2", -3, -4),
        ("division-rounds-down", "-7 / -2", 3, 3),
        ("division-rounds-down", "7 / 2", 3, 3),
        ("division-rounds-down", "-8 / 2", -4, -4),
        ("less-signed", "0xffffffffffffffffU < 1", 0, 1),
        ("greater-unsigned", "-1 > 1", 0, 1),
        ("greater-equal-unsigned", "(1 >= 1) > -1", 1, 0),
        ("equal-32-bits", "4294967296 == 0", 0, 1),
        ("equal-32-bits", "4294967297 == 4294967298", 0, 0),
        ("logical-or-32-bits", "4294967296 || 0", 1, 0),
        ("logical-or-unsigned", "(1 || 0) > -1", 1, 0),
        ("ternary-condition-32-bits", "4294967296 ? 5 : 6", 5, 6),
        ("ternary-condition-32-bits", "4294967297 ? 5 : 6", 5, 5),
        ("binary-loses-first-bit", "0b101", 5, 1),
        ("binary-loses-first-bit", "0b0", 0, 0),
        ("binary-loses-first-bit", "5", 5, 5),
        ("shift-right-converted", "(-8 >> 1U) / 2", -2, 9_223_372_036_854_775_806),
        ("shift-right-converted", "(-8 >> 1) / 2", -2, -2),
        ("shift-left-converted", "(-8 << 1U) / 2", -8, 9_223_372_036_854_775_800),
        ("shift-left-converted", "(-8 << 1) / 2", -8, -8),
        ("shift-right-logical", "-8 >> 1", -4, 0x7fff_ffff_ffff_fffc),
        ("shift-right-arithmetic", "0x8000000000000000U >> 1", 1 << 62, -(1 << 62)),
    ];
    for &(id, value, right, wrong) in table {
        let rule = HYPOTHETICAL_RULES.iter().find(|rule| rule.id == id).expect("it is in the list");
        assert_eq!(bits(&Rules::default(), "s64", value) as i64, right, "{value}");
        assert_eq!(bits(&Rules::default().with(rule.change), "s64", value) as i64, wrong, "{id}: {value}");
    }
}

/// The nearest single is above 0.1 and below 0.7; 0.5 is exact.
#[test]
fn a_float_that_is_cut_is_the_single_on_the_side_of_zero() {
    let rule = HYPOTHETICAL_RULES.iter().find(|rule| rule.id == "narrowing-cuts-floats").unwrap();
    let cuts = Rules::default().with(rule.change);
    for (value, nearest, cut) in [
        ("0.1", 0x3dcc_cccd, 0x3dcc_cccc),
        ("-0.1", 0xbdcc_cccd, 0xbdcc_cccc),
        ("0.7", 0x3f33_3333, 0x3f33_3333),
        ("0.5", 0x3f00_0000, 0x3f00_0000),
    ] {
        assert_eq!(
            (bits(&Rules::default(), "f32", value), bits(&cuts, "f32", value)),
            (nearest, cut),
            "{value}"
        );
    }
}
