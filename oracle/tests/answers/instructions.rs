//! What the instructions do that show operands; every value is worked out by hand.

use crate::common::{described, kernel, leaves, run, run_under};
use ptxsmith_oracle::{Clause, Readings, Rules};
use ptxsmith_syntax::StateSpace;

const UNKNOWN: Result<String, &str> = Err("what happens depends on a value that is not known");
const FORM: Result<String, &str> = Err("an instruction in a form that is not modelled");
const OPERAND: Result<String, &str> = Err("an operand in a form that is not modelled");
const TYPES: Result<String, &str> = Err("an instruction with operands of types that are not modelled");

/// The four bytes that an instruction leaves in `r0`, of which the others are 100, 7 and 3, `s0` to `s2` -100, 7 and -3.
fn number(instruction: &str) -> Result<u32, &'static str> {
    let body = format!(
        "mov.u32 r1, 100; mov.u32 r2, 7; mov.u32 r3, 3; mov.s32 s0, -100; mov.s32 s1, 7; mov.s32 s2, -3;
         {instruction} st.global.u32 [o], r0; ret;"
    );
    leaves("", &body).map(|text| match text.as_str() {
        "........" => panic!("{instruction}: it is not known"),
        text => u32::from_str_radix(text, 16).unwrap().swap_bytes(),
    })
}

#[test]
fn arithmetic_is_modulo_the_width_of_the_type() {
    for (instruction, expected) in [
        ("add.u32 r0, r1, r2;", 107),
        ("add.u32 r0, r1, 0xffffffff;", 99),
        ("sub.u32 r0, r1, r2;", 93),
        ("sub.u32 r0, r2, r1;", 0xffff_ffa3),
        ("mul.lo.u32 r0, r1, r2;", 700),
        ("mul.lo.u32 r0, 0x10001, 0x10000;", 0x10000),
        ("mad.lo.u32 r0, r1, r2, r3;", 703),
        ("and.b32 r0, r1, r2;", 4),
        ("or.b32 r0, r1, r2;", 103),
        ("xor.b32 r0, r1, r2;", 99),
        ("mul.hi.u32 r0, 0x80000001, 6;", 3),
        ("mul.hi.s32 r0, 0x80000000, 6;", 0xffff_fffd),
        ("mul.hi.u64 p0, 0x8000000000000000, 10; cvt.u32.u64 r0, p0;", 5),
        ("mul.hi.s16 h, 0x8000, 4; cvt.s32.s16 r0, h;", 0xffff_fffe),
        ("mad.hi.u32 r0, 0x80000001, 6, r1;", 103),
        ("mad.wide.s32 p0, s0, 2, 0x100000000; shr.u64 p0, p0, 4; cvt.u32.u64 r0, p0;", 0x0fff_fff3),
        ("add.sat.s32 r0, 0x7fffffff, 12;", 0x7fff_ffff),
        ("add.sat.s32 r0, s0, 7;", 0xffff_ffa3),
        ("sub.sat.s32 r0, 0x80000000, 1;", 0x8000_0000),
        ("not.b32 r0, r1;", 0xffff_ff9b),
        ("neg.s32 r0, s0;", 100),
        ("min.s32 r0, s0, s1;", 0xffff_ff9c),
        ("max.s32 r0, s0, s1;", 7),
        ("max.u32 r0, r1, r2;", 100),
        ("mul.wide.u32 p0, 0xffffffff, 16; shr.u64 p0, p0, 32; cvt.u32.u64 r0, p0;", 15),
        ("mul.wide.s32 p0, s0, 16; shr.s64 p0, p0, 32; cvt.u32.u64 r0, p0;", 0xffff_ffff),
        ("shl.b32 r0, r1, r3;", 800),
        ("shl.b32 r0, r1, 31;", 0),
        ("shl.b32 r0, r2, 31;", 0x8000_0000),
        ("shr.u32 r0, r1, r3;", 12),
        ("shr.u32 r0, 0x80000000, 31;", 1),
        ("shr.s32 r0, s0, 3;", 0xffff_fff3),
        ("shr.s32 r0, 0x80000000, 31;", 0xffff_ffff),
        ("shr.b32 r0, 0xffffff9c, 3;", 0x1fff_fff3),
        ("add.u16 h, 0xffff, 2; cvt.u32.u16 r0, h;", 1),
        ("add.s16 h, 0x7fff, 1; cvt.s32.s16 r0, h;", 0xffff_8000),
        ("selp.u32 r0, 5, 6, 1;", 5),
        ("selp.u32 r0, 5, 6, 0;", 6),
        ("mov.u32 r0, 0x12345678;", 0x1234_5678),
    ] {
        assert_eq!(number(instruction), Ok(expected), "{instruction}");
    }
    for instruction in [
        "mul.wide.u32 r0, r1, r2;",
        "mul.u32 r0, r1, r2;",
        "add.lo.u32 r0, r1, r2;",
        "mad.lo.sat.s32 r0, s0, s1, s2;",
        "add.f32 r0, r1, r2;",
        "div.f32 r0, r1, r2;",
        "popc.f32 r0, r1;",
    ] {
        assert!(number(instruction).is_err(), "{instruction}");
    }
}

/// PTX manual, 9.7.7.8 and 9.7.7.9.
#[test]
fn a_shift_by_more_than_the_width_is_one_by_the_width() {
    for (instruction, expected) in [
        ("shl.b32 r0, r1, 32;", "00000000"),
        ("shr.u32 r0, r1, 32;", "00000000"),
        ("shl.b32 r0, r1, 33;", "00000000"),
        ("shr.s32 r0, r1, 40;", "ffffffff"),
    ] {
        let body = format!("mov.u32 r1, 0x80000001; {instruction} st.global.u32 [o], r0; ret;");
        assert_eq!(leaves("", &body).unwrap(), expected, "{instruction}");
    }
    assert_eq!(leaves("", "shl.b64 p0, 1, 63; st.global.u64 [o], p0; ret;").unwrap(), "0000000000000080");
    // The count has 32 bits, whatever is shifted.
    let wide = "shl.b64 p0, 0x100000001, 1; st.global.u64 [o], p0; ret;";
    assert_eq!(leaves("", wide).unwrap(), "0200000002000000");
    assert_eq!(leaves("", "shl.b16 h, 1, 0x10001; st.global.u16 [o], h; ret;").unwrap(), "0000");
    assert_eq!(leaves("", "shl.b64 p0, 1, 64; st.global.u64 [o], p0; ret;").unwrap(), "0000000000000000");
}

#[test]
fn addresses_are_moved_and_their_differences_are_numbers() {
    let items = ".global .u32 g[4], other; .const .u32 c;";
    let shows = |instructions: &str| {
        leaves(items, &format!("mov.u64 p0, g; {instructions} st.global.u64 [o], p7; ret;"))
    };
    let at = |addend: i64| Ok(format!("{}; 8 at 0: g+{addend} generic", "00".repeat(8)));
    assert_eq!(shows("add.u64 p7, p0, 4;"), at(4));
    assert_eq!(shows("add.s64 p7, -4, p0;"), at(-4));
    assert_eq!(shows("sub.u64 p7, p0, 4;"), at(-4));
    assert_eq!(shows("add.u64 p1, p0, 12; sub.u64 p7, p1, p0;").unwrap(), "0c00000000000000");
    assert_eq!(shows("add.u64 p1, p0, 12; sub.u64 p7, p0, p1;").unwrap(), "f4ffffffffffffff");
    let unknown = Ok("................".to_owned());
    assert_eq!(shows("mov.u64 p1, other; sub.u64 p7, p0, p1;"), unknown);
    assert_eq!(shows("mov.u64 p1, c; cvta.const.u64 p2, c; sub.u64 p7, p1, p2;"), unknown);
    assert_eq!(shows("sub.u64 p7, 4, p0;"), unknown);
    assert_eq!(shows("add.u64 p7, p0, p0;"), unknown);
    assert_eq!(shows("and.b64 p7, p0, 7;"), unknown);
    assert_eq!(shows("mul.lo.u64 p7, p0, 1;"), unknown);
    assert_eq!(shows("add.u64 p7, p0, p6;"), unknown);
}

#[test]
fn comparisons_are_signed_where_the_type_is() {
    let truth = |comparison: &str, a: &str, b: &str| {
        number(&format!("setp.{comparison} q, {a}, {b}; selp.u32 r0, 1, 0, q;"))
    };
    for (comparison, less, equal, greater) in [
        ("eq.u32", 0, 1, 0),
        ("ne.u32", 1, 0, 1),
        ("lt.u32", 1, 0, 0),
        ("lo.u32", 1, 0, 0),
        ("le.u32", 1, 1, 0),
        ("ls.u32", 1, 1, 0),
        ("gt.u32", 0, 0, 1),
        ("hi.u32", 0, 0, 1),
        ("ge.u32", 0, 1, 1),
        ("hs.u32", 0, 1, 1),
    ] {
        assert_eq!(truth(comparison, "r2", "r1"), Ok(less), "{comparison}");
        assert_eq!(truth(comparison, "r1", "r1"), Ok(equal), "{comparison}");
        assert_eq!(truth(comparison, "r1", "r2"), Ok(greater), "{comparison}");
    }
    assert_eq!(truth("lt.s32", "s0", "s1"), Ok(1));
    assert_eq!(truth("lt.u32", "s0", "s1"), Ok(0), "a sign is no type of its own");
    assert_eq!(truth("lt.s16", "0xffff", "1"), Ok(1));
    assert_eq!(truth("equ.u32", "r1", "r1"), FORM.map(|_| 0));
    assert_eq!(truth("eq.f32", "r1", "r1"), TYPES.map(|_| 0));
    // 1.0 < 1.5 < 2.0, zeros of either sign are one number, and nothing compares with a NaN.
    for ty in ["f32", "f64"] {
        for (comparison, a, b, holds) in [
            ("lt", "1.0", "1.5", 1),
            ("lt", "1.5", "1.5", 0),
            ("le", "1.5", "1.5", 1),
            ("gt", "2.0", "1.5", 1),
            ("ge", "-2.0", "1.5", 0),
            ("eq", "0.0", "-0.0", 1),
            ("ne", "1.0", "1.5", 1),
            ("lt", "0f7fc00000", "1.5", 0),
            ("ge", "0f7fc00000", "1.5", 0),
            ("eq", "0f7fc00000", "0f7fc00000", 0),
        ] {
            assert_eq!(truth(&format!("{comparison}.{ty}"), a, b), Ok(holds), "{comparison} {a} {b}");
        }
        assert_eq!(truth(&format!("lo.{ty}"), "1.0", "1.5"), FORM.map(|_| 0));
    }
    assert_eq!(truth("eq.u32", "r4", "r1"), UNKNOWN.map(|_| 0));
}

#[test]
fn a_comparison_is_combined_with_a_predicate_and_may_set_its_opposite_too() {
    let combined = |how: &str, a: u32, c: u32| {
        number(&format!("setp.eq.u32 q, {c}, 1; setp.eq.{how}.u32 q, {a}, 1, q; selp.u32 r0, 1, 0, q;"))
            .unwrap()
    };
    for (a, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(combined("and", a, c), a & c);
        assert_eq!(combined("or", a, c), a | c);
        assert_eq!(combined("xor", a, c), a ^ c);
        // `!q` instead of `q`
        let negated =
            number(&format!("setp.eq.u32 q, {c}, 1; setp.eq.and.u32 q, {a}, 1, !q; selp.u32 r0, 1, 0, q;"));
        assert_eq!(negated, Ok(a & (1 - c)));
    }
    let both = |a: &str| {
        number(&format!(
            ".reg .pred t; setp.lt.u32 q|t, {a}, 7; selp.u32 r4, 1, 0, q; selp.u32 r5, 2, 0, t; add.u32 r0, r4, r5;"
        ))
    };
    assert_eq!(both("r3"), Ok(1));
    assert_eq!(both("r1"), Ok(2));
    let body = ".reg .pred t; setp.eq.and.u32 q, 1, 1, t; ret;";
    assert_eq!(leaves("", body), UNKNOWN);
}

#[test]
fn addresses_of_one_variable_are_compared_for_equality() {
    let items = ".global .u32 g[4], other; .const .u32 c;";
    let truth = |comparison: &str, a: &str, b: &str| {
        let body = format!(
            "mov.u64 p0, g; add.u64 p1, p0, 4; sub.u64 p2, p1, 4; mov.u64 p3, other; mov.u64 p4, c;
             cvta.const.u64 p5, c; setp.{comparison}.u64 q, {a}, {b}; selp.u32 r0, 1, 0, q; st.global.u32 [o], r0; ret;"
        );
        leaves(items, &body)
    };
    assert_eq!(truth("eq", "p0", "p2").unwrap(), "01000000");
    assert_eq!(truth("eq", "p0", "p1").unwrap(), "00000000");
    assert_eq!(truth("ne", "p0", "p1").unwrap(), "01000000");
    for (comparison, a, b) in [("lt", "p0", "p1"), ("eq", "p0", "p3"), ("eq", "p4", "p5"), ("eq", "p0", "1")]
    {
        assert_eq!(truth(comparison, a, b), UNKNOWN, "{comparison} {a} {b}");
    }
}

#[test]
fn conversions_are_between_integers() {
    for (instruction, expected) in [
        ("cvt.u32.u16 r0, 0x12345;", 0x2345),
        ("cvt.s32.s8 r0, 0x80;", 0xffff_ff80),
        ("cvt.u8.u32 r0, 0x1ff;", 0xff),
        ("cvt.u16.s8 r0, 0xff;", 0xffff),
        ("cvt.sat.u8.u32 r0, 0x1ff;", 0xff),
    ] {
        assert_eq!(number(instruction), Ok(expected), "{instruction}");
    }
    for instruction in [
        "cvt.rni.u8.u32 r0, r1;",
        "cvt.rn.f32.u32 r0, r1;",
        "cvt.u32.f32 r0, r1;",
        "cvt.f32.f32 r0, r1;",
        "cvt.u32.b32 r0, r1;",
    ] {
        assert_eq!(number(instruction), FORM.map(|_| 0), "{instruction}");
    }
    assert_eq!(leaves("", "cvt.u32.u32 r0, r1; st.global.u32 [o], r0; ret;").unwrap(), "........");
}

#[test]
fn a_scalar_is_taken_apart_and_put_together_from_the_lowest_part() {
    let body = ".reg .b16 i, j; mov.b32 {i, j}, 0x11112222; mov.b64 {r2, r3}, 0x3333333344444444; mov.b32 r4, {j, i};
        mov.b64 d, {r2, r3};
        st.global.u16 [o], i; st.global.u16 [o + 4], j; st.global.u32 [o + 8], r4; st.global.u64 [o + 16], d; ret;";
    let expected = "22220000 11110000 11112222 ........ 4444444433333333".replace(' ', "");
    // What was not written is zero.
    assert_eq!(leaves("", body).unwrap(), expected.replace("........", "00000000"));
    let four =
        ".reg .b8 i, j, k, l; mov.b32 {i, j, k, l}, 0x44332211; st.global.v4.u8 [o], {l, k, j, i}; ret;";
    assert_eq!(leaves("", four).unwrap(), "44332211");
    assert_eq!(leaves("", "mov.b32 {r0, r1}, 1; ret;"), OPERAND);
    assert_eq!(leaves("", "mov.b32 {r0, r1, r2}, 1; ret;"), OPERAND);
    assert_eq!(leaves("", "mov.b8 {r0, r1}, 1; ret;"), FORM);
}

#[test]
fn a_destination_takes_no_element_twice() {
    let undefined = Err("a destination that repeats an element, which is undefined");
    assert_eq!(leaves("", "mov.b32 {r0, r0}, 1; ret;"), undefined);
    assert_eq!(leaves("", "mov.v2.u32 v, {1, 2}; mov.v2.u32 {r0, r0}, v; ret;"), undefined);
    let idle = "mov.b64 {_, r0}, 0x0000000700000000; mov.b32 {_, _}, 1; st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", idle).unwrap(), "07000000");
}

#[test]
fn vectors_are_loaded_and_stored_element_by_element() {
    let items = ".global .v4 .u32 g = {1, 2, 3, 4}; .global .align 8 .u16 t[4] = {5, 6, 7, 8};";
    let body =
        "ld.global.v4.u32 w, [g]; ld.global.v2.u32 {r0, r1}, [g + 8]; ld.global.v4.u16 {r2, r3, r4, r5}, [t];
        st.global.v4.u32 [o], {w.w, w.z, w.y, w.x}; st.global.v2.u32 [o + 16], {r0, r1};
        st.global.v2.u32 [o + 24], {r2, r5}; st.global.v4.u32 [o + 32], w; ret;";
    let expected =
        "04000000030000000200000001000000030000000400000005000000080000000100000002000000 0300000004000000";
    assert_eq!(leaves(items, body).unwrap(), expected.replace(' ', ""));
    assert_eq!(leaves(items, "ld.global.v2.u32 w, [g]; ret;"), OPERAND);
    assert_eq!(leaves(items, "ld.global.v4.u32 v, [g]; ret;"), OPERAND);
    assert_eq!(leaves(items, "ld.global.v2.u32 r0, [g]; ret;"), OPERAND);
    assert_eq!(leaves(items, "st.global.v2.u32 [o], w; ret;"), OPERAND);
}

#[test]
fn an_access_lies_in_its_variable_aligned_and_in_its_state_space() {
    let items =
        ".global .align 8 .u8 g[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9}; .global .u8 u[16]; .const .u32 c = 5;";
    let loads = |what: &str| {
        leaves(
            items,
            &format!(
                "mov.u64 p0, g; mov.u64 p1, c; cvta.const.u64 p2, c; .shared .u32 s; mov.u64 p3, s; mov.u32 r0, 0; {what} st.global.u32 [o], r0; ret;"
            ),
        )
    };
    assert_eq!(loads("ld.global.u32 r0, [g + 4];").unwrap(), "05060708");
    assert_eq!(loads("ld.global.u32 r0, [g + 12];").unwrap(), "00000000");
    assert_eq!(loads("ld.u32 r0, [p0];").unwrap(), "01020304");
    assert_eq!(loads("ld.u32 r0, [p2];").unwrap(), "05000000");
    assert_eq!(loads("ld.const.u32 r0, [p1];").unwrap(), "05000000");
    assert_eq!(loads("ld.global.u32 r0, [g + 16];"), Err("an access outside of the variable"));
    assert_eq!(loads("ld.global.u32 r0, [g + -4];"), Err("an access outside of the variable"));
    assert_eq!(loads("ld.global.u32 r0, [g + 13];"), Err("an access outside of the variable"));
    let misaligned = Err("an access that is not aligned, which is undefined");
    assert_eq!(loads("ld.global.u32 r0, [g + 2];"), misaligned);
    assert_eq!(loads("ld.global.u16 r0, [g + 1];"), misaligned);
    assert_eq!(loads("ld.global.u32 r0, [u];"), Err("an access that may be misaligned"));
    assert_eq!(loads("ld.global.v2.u64 {p4, p5}, [g];"), Err("an access that may be misaligned"));
    let space = Err("an address of another state space");
    assert_eq!(loads("ld.const.u32 r0, [p0];"), space);
    assert_eq!(loads("ld.const.u32 r0, [p2];"), space, "a generic address");
    assert_eq!(loads("ld.global.u32 r0, [p1];"), space);
    assert_eq!(loads("ld.u32 r0, [p1];"), Err("an offset in a state space taken for a generic address"));
    assert_eq!(loads("ld.u32 r0, [p3];"), Err("an offset in a state space taken for a generic address"));
    // 6.4.1.1: a name stands for its variable, in whose window it lies.
    assert_eq!(loads("ld.u32 r0, [c];").unwrap(), "05000000");
    assert_eq!(loads("ld.u32 r0, [g + 4];").unwrap(), "05060708");
    assert_eq!(loads("st.u32 [s], 9; ld.shared.u32 r0, [s];").unwrap(), "09000000");
    let by_part = "mov.u64 p4, s; st.shared::cta.u32 [p4], 9; ld.shared.u32 r0, [p4];";
    assert_eq!(loads(by_part).unwrap(), "09000000");
    let form = Err("an instruction in a form that is not modelled");
    assert_eq!(loads("mov.u64 p4, s; ld.shared::cluster.u32 r0, [p4];"), form);
    assert_eq!(loads("st.u32 [c], 9;"), Err("a store to .const"));
    assert_eq!(loads("st.const.u32 [c], 1;"), Err("a store to .const"));
}

#[test]
fn addresses_become_generic_and_back() {
    let items = ".global .u32 g = 1; .const .u32 c = 5;";
    let shows = |what: &str| {
        leaves(items, &format!("mov.u64 p0, g; mov.u64 p1, c; {what} st.global.u32 [o], r0; ret;"))
    };
    assert_eq!(shows("cvta.const.u64 p2, p1; ld.u32 r0, [p2];").unwrap(), "05000000");
    assert_eq!(
        shows("cvta.const.u64 p2, p1; cvta.to.const.u64 p3, p2; ld.const.u32 r0, [p3];").unwrap(),
        "05000000"
    );
    assert_eq!(
        shows("cvta.to.global.u64 p2, p0; cvta.global.u64 p3, p2; ld.u32 r0, [p3];").unwrap(),
        "01000000"
    );
    let twice = Err("an address converted twice");
    assert_eq!(shows("cvta.const.u64 p2, p1; cvta.const.u64 p3, p2;"), twice);
    assert_eq!(shows("cvta.to.const.u64 p2, p1;"), twice);
    assert_eq!(shows("cvta.const.u64 p2, p0;"), Err("an address of another state space"));
    assert_eq!(shows("cvta.u64 p2, p0;"), FORM);
    assert_eq!(leaves("", "cvta.global.u64 p2, 5; st.global.u64 [o], p2; ret;").unwrap(), "................");
}

#[test]
fn branches_go_to_labels_by_name_and_by_number() {
    let body = |index: u32| {
        format!(
            "mov.u32 r1, {index}; T: .branchtargets A, B; brx.idx r1, T; A: st.global.u32 [o], 1; ret;
             B: st.global.u32 [o], 2; bra C; st.global.u32 [o], 3; C: ret;"
        )
    };
    assert_eq!(leaves("", &body(0)).unwrap(), "01000000");
    assert_eq!(leaves("", &body(1)).unwrap(), "02000000");
    assert_eq!(leaves("", &body(2)), Err("an index behind a branch table"));
    assert_eq!(leaves("", "T: .branchtargets A; A: brx.idx r1, T;"), UNKNOWN);
}

#[test]
fn functions_are_called_by_name_and_by_address() {
    let items = ".visible .func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 1; ret; }";
    let shows = |what: &str| leaves(items, &format!("{what} st.global.u32 [o], r0; ret;"));
    assert_eq!(shows("call (r0), f, (41);").unwrap(), "2a000000");
    assert_eq!(
        shows("mov.u64 p0, f; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (r0), p0, (41), P;")
            .unwrap(),
        "2a000000"
    );
    assert_eq!(shows("P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (r0), p0, (41), P;"), UNKNOWN);
    assert_eq!(shows("call (r0), o, (41);"), UNKNOWN);
}

#[test]
fn registers_hold_the_range_of_their_type() {
    let shows = |what: &str| leaves("", &format!("{what} st.global.u64 [o], p0; ret;"));
    assert_eq!(shows("mov.u64 p0, -1;").unwrap(), "ffffffffffffffff");
    // A load extends to a wider register, by its own sign.
    let items = ".global .s32 m = -1;";
    let loads =
        |ty: &str| leaves(items, &format!("ld.global.{ty} p0, [m]; st.global.u64 [o], p0; ret;")).unwrap();
    assert_eq!(loads("u32"), "ffffffff00000000");
    assert_eq!(loads("s32"), "ffffffffffffffff");
    assert_eq!(shows("mov.u32 p0, -1;"), TYPES);
    assert_eq!(shows("mov.u64 r0, 1;"), TYPES);
    assert_eq!(shows("mov.u32 v, 1;"), TYPES);
    assert_eq!(shows("mov.v2.u32 r0, {1, 2};"), FORM);
    let lanes = "mov.v2.s32 {v.x, v.y}, {-1, 5}; mov.u32 r0, v.x; mov.u32 r1, v.y; st.global.u32 [o], r0;
        st.global.u32 [o + 4], r1; ret;";
    assert_eq!(leaves("", lanes).unwrap(), "ffffffff05000000");
}

#[test]
fn a_predicate_may_be_moved_negated_and_constant() {
    let shows = |what: &str| number(&format!("setp.eq.u32 q, 1, 1; {what} selp.u32 r0, 1, 0, q;"));
    assert_eq!(shows("mov.pred q, q;"), Ok(1));
    assert_eq!(shows("mov.pred q, !q;"), Ok(0));
    assert_eq!(shows("mov.pred q, 0;"), Ok(0));
    assert_eq!(shows("mov.pred q, 256;"), Ok(1));
    assert_eq!(shows("mov.pred q, 1 > 2;"), Ok(0));
    let output =
        run(Readings::default(), &kernel("mov.pred q, 5; selp.u32 r0, 1, 2, q; st.global.u32 [o], r0; ret;"));
    assert!(output.unwrap().slots[0].trace.clauses.contains(Clause::PredicateConstant));
}

#[test]
fn a_predicate_operand_is_negated_or_constant_wherever_one_stands() {
    // (1 == 1), then the other.
    for (instruction, expected) in [
        ("setp.eq.u32 q, 1, 1; selp.u32 r0, 5, 6, q;", 5),
        ("setp.eq.u32 q, 1, 1; selp.u32 r0, 5, 6, !q;", 6),
        ("setp.eq.u32 q, 1, 2; selp.s32 r0, -2147483648, 7, !q;", 0x8000_0000),
        ("setp.lt.f32 q, 0f7fc00000, 0f3f800000; selp.s32 r0, -2147483648, 7, !q;", 0x8000_0000),
        ("setp.lt.f32 q, 0f3f000000, 0f3f800000; selp.s32 r0, -2147483648, 7, !q;", 7),
        ("set.eq.u32.u32 r0, 5, 5;", 0xffff_ffff),
        ("set.eq.s32.u16 r0, 5, 6;", 0),
        ("set.lt.u32.f64 r0, 0.5, 1.5;", 0xffff_ffff),
        // A constant that is not zero is true, whatever its low bits.
        ("set.eq.and.u32.u32 r0, 5, 5, 0x100000000;", 0xffff_ffff),
        ("set.eq.and.u32.u32 r0, 5, 5, 0;", 0),
        ("set.eq.and.u32.u32 r0, 5, 6, 1;", 0),
        ("set.eq.or.u32.u32 r0, 5, 6, 0x100000000;", 0xffff_ffff),
        ("set.eq.xor.u32.u32 r0, 5, 5, 1;", 0),
        ("setp.eq.u32 q, 1, 1; set.eq.and.u32.u32 r0, 5, 5, !q;", 0),
        (".reg .f32 f; set.eq.f32.u32 f, 5, 5; mov.b32 r0, f;", 0x3f80_0000),
        (".reg .f32 f; set.eq.f32.u32 f, 5, 6; mov.b32 r0, f;", 0),
    ] {
        assert_eq!(number(instruction), Ok(expected), "{instruction}");
    }
    for instruction in ["set.eq.u32 r0, 5, 5;", "set.eq.u64.u32 r0, 5, 5;", "set.eq.and.u32.u32 r0, 5, 5;"] {
        assert_eq!(number(instruction), FORM.map(|_| 0), "{instruction}");
    }
    assert_eq!(number("set.eq.u32.u16 r0, r1, 5;"), TYPES.map(|_| 0));
}

#[test]
fn registers_of_another_type_than_the_instruction_are_not_read_and_not_set() {
    // `h` has 16 bits, `real` is a float of 64.
    for instruction in [
        "add.s32 r0, h, h;",
        "add.s16 r0, h, h;",
        "add.s64 p0, r1, r2;",
        "mov.u32 r0, h;",
        "mov.u64 p0, real;",
        "mov.f64 p0, 1.0;",
        "add.f32 r0, r1, r2;",
        "setp.eq.u32 q, h, 1;",
        "selp.u32 r0, h, 1, 1;",
        "selp.u32 r0, 1, 2, r1;",
        "cvta.global.u64 p0, r1;",
        "shl.b64 p0, p1, h;",
        "ld.global.u64 r0, [o];",
        "st.global.u64 [o], r0;",
        "ld.global.f32 real, [o];",
        "cvt.u64.u32 r0, r1;",
    ] {
        assert_eq!(leaves("", instruction), TYPES, "{instruction}");
    }
    for instruction in [
        "add.s32 r0, s0, r1;",
        "mov.b64 real, p0;",
        "mov.u64 d, p0;",
        "ld.global.u8 h, [o];",
        "ld.global.s16 p0, [o];",
        "st.global.u8 [o], p0;",
        "cvt.u16.u32 r0, p0;",
    ] {
        assert!(leaves("", instruction).is_ok(), "{instruction}");
    }
}

#[test]
fn a_name_and_an_offset_is_an_address_without_brackets_too() {
    let items = ".global .u32 g[4] = {10, 20, 30, 40};";
    let address = |addend: i64| Ok(format!("{}; 8 at 0: g+{addend} generic", "00".repeat(8)));
    let shows = |what: &str| leaves(items, &format!("{what} st.global.u64 [o], p0; ret;"));
    assert_eq!(shows("mov.u64 p0, g + 4;"), address(4));
    assert_eq!(shows("mov.u64 p0, g + -4;"), address(-4));
    assert_eq!(shows("mov.u64 p0, g[1];"), address(4));
    assert_eq!(shows("mov.u32 r1, 3; mov.u64 p0, g[r1 + -2];"), address(4));
    assert_eq!(shows("cvta.global.u64 p0, g + 8;"), address(8));
    assert_eq!(shows("mov.u64 p1, g; mov.u64 p0, p1 + 12;"), address(12));
    assert_eq!(shows("mov.u64 p1, 7; mov.u64 p0, p1 + 12;").unwrap(), "1300000000000000");
    assert_eq!(shows("mov.u64 p1, 8; add.u64 p0, p1, g + 4;"), address(12));
    assert_eq!(leaves(items, "st.global.u64 [o], g + 4; ret;"), address(4));
    let refused = Err("address-arithmetic");
    assert_eq!(shows("mov.u64 p0, g - 4;"), refused);
    assert_eq!(shows("mov.u64 p0, 4 + g;"), OPERAND);
    assert_eq!(shows("mov.u64 p0, g + 4294967296;"), Err("offset-width"));
    let loads = |what: &str| {
        leaves(items, &format!("mov.u64 p0, g; mov.u32 r1, 3; {what} st.global.u32 [o], r0; ret;"))
    };
    assert_eq!(loads("ld.global.u32 r0, [p0 + 4];").unwrap(), "14000000");
    assert_eq!(loads("ld.global.u32 r0, [p0 + 4 + 4];").unwrap(), "1e000000");
    assert_eq!(loads("add.u64 p0, p0, 8; ld.global.u32 r0, [p0 + -4];").unwrap(), "14000000");
    assert_eq!(loads("ld.global.u32 r0, g[r1 + -2];").unwrap(), "14000000");
    assert_eq!(loads("ld.u32 r0, g[r1 + -2];").unwrap(), "14000000");
}

/// Whether the first scalar that a kernel with this body leaves rests on a clause.
fn rests(body: &str, clause: Clause) -> bool {
    let items = ".global .align 16 .u32 g[4]; .global .u32 one;";
    let output = run(Readings::default(), &format!("{items}\n{}", kernel(body))).unwrap();
    output.slots[0].trace.clauses.contains(clause)
}

#[test]
fn the_trace_of_an_output_covers_its_sources() {
    let stored = |what: &str| format!("{what} st.global.u32 [o], r0; ret;");
    assert!(rests(&stored("ld.global.v2.u32 {r0, r1}, [g];"), Clause::VectorAccess));
    assert!(!rests(&stored("ld.global.u32 r0, [g];"), Clause::VectorAccess));
    assert!(rests(&stored("st.global.v2.u32 [g], {r0, r1}; ld.global.u32 r0, [g];"), Clause::VectorAccess));
    assert!(!rests(&stored("st.global.u32 [g], r0; ld.global.u32 r0, [g];"), Clause::VectorAccess));
    assert!(rests(&stored("mov.u64 p0, g; ld.global.u32 r0, [p0];"), Clause::ArrayName));
    assert!(!rests(&stored("mov.u64 p0, one; ld.global.u32 r0, [p0];"), Clause::ArrayName));
    assert!(rests(&stored("mov.pred q, !5; selp.u32 r0, 1, 2, q;"), Clause::NotSigned));
    assert!(!rests(&stored("mov.u32 r0, 5;"), Clause::ConstantInInitializer));
    assert!(rests(&stored("mov.u32 r0, 5;"), Clause::ConstantAsOperand));
    assert!(!rests(&stored("ld.global.u32 r0, [g];"), Clause::VectorOperand));
    assert!(rests(&stored("mov.v2.u32 v, {1, 2}; mov.u32 r0, v.x;"), Clause::VectorOperand));
}

#[test]
fn a_vector_access_needs_room_for_all_of_it() {
    let body =
        |offset| format!(".shared .align 8 .u32 s[2]; st.shared.v2.u32 [s + {offset}], {{r0, r1}}; ret;");
    assert_eq!(leaves("", &body(0)).unwrap(), "");
    assert_eq!(leaves("", &body(4)), Err("an access outside of the variable"));
}

#[test]
fn vectors_are_no_scalar_operands() {
    assert_eq!(leaves("", "mov.u32 r0, v; ret;"), TYPES);
    assert_eq!(leaves(".visible .func t() { ret; }", "mov.u64 p0, t + 4; ret;"), OPERAND);
    let idle = leaves(".global .u32 g = 5;", "ld.global.u32 _, [g]; st.global.u8 [o], 1; ret;");
    assert_eq!(idle.unwrap(), "01");
}

#[test]
fn absolute_addresses_are_modelled_where_nothing_else_lies() {
    let behind = Err("an absolute address in a space where variables may lie");
    let body = "st.local.u32 [64], 7; ld.local.u32 r0, [64]; st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", body).unwrap(), "07000000");
    assert_eq!(leaves("", &format!(".local .u32 l; {body}")), behind);
    assert_eq!(leaves("", "ld.global.u32 r0, [64]; ret;"), behind);
    assert_eq!(leaves("", "ld.shared.u32 r0, [64]; ret;"), behind);
    assert_eq!(leaves("", "ld.u32 r0, [64]; ret;"), Err("an absolute generic address"));
}

#[test]
fn under_a_rule_that_misses_local_variables_only_their_addresses_move_otherwise() {
    let rules = Rules::default().with(|rules| {
        rules.operands.moved.change(|next, space, bytes| {
            let factor = if space == StateSpace::Local { 1000 } else { 1 };
            next.apply(space, bytes) * factor
        });
        let outside = &mut rules.operands.outside;
        outside.change(|next, space| if space == StateSpace::Local { Ok(()) } else { next.apply(space) });
    });
    let shows = |items: &str, body: &str| {
        run_under(&rules, &format!("{items}\n{}", kernel(body))).map(|o| described(&o))
    };
    let body =
        ".local .u32 l[4]; mov.u64 p0, l; add.u64 p1, p0, 4; st.local.u32 [p1], 5; ld.local.u32 r0, [p1];
        ld.local.u32 r1, [l + 4]; st.global.u32 [o], r0; st.global.u32 [o + 4], r1; ret;";
    assert_eq!(shows("", body).unwrap(), "................", "neither was written");
    let body =
        "mov.u64 p0, g; add.u64 p1, p0, 4; sub.u64 p2, p1, 4; ld.global.u32 r0, [p1]; ld.global.u32 r1, [p2];
        st.global.u32 [o], r0; st.global.u32 [o + 4], r1; ret;";
    assert_eq!(shows(".global .u32 g[2] = {1, 2};", body).unwrap(), "0200000001000000");
    let outside = Err("an access outside of the variable");
    assert_eq!(
        shows(".global .u32 g[2];", "mov.u64 p0, g; add.u64 p1, p0, 8; ld.global.u32 r0, [p1]; ret;"),
        outside
    );
    let local = ".local .u32 l[4]; mov.u64 p0, l; add.u64 p1, p0, 16; ld.local.u32 r0, [p1]; ret;";
    assert_eq!(leaves("", local), outside);
    assert_eq!(shows("", local).unwrap(), "");
}
