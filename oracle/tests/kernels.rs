//! What kernels leave in their output buffers, and what that rests on; every value is worked out by hand.

mod common;

use common::{HEADER, answer, described, kernel, leaves, run};
use ptxsmith_oracle::{Clause, Expectation, Left, Question, Readings, RefusalClass, Rules, expect};
use ptxsmith_syntax::{BinaryOp, Opcode};

/// The readings with one question answered otherwise.
fn reading(question: Question, answer: &str) -> Readings {
    let at = question.answers().iter().position(|&known| known == answer).expect("an answer of the question");
    Readings::default().with(question, at).unwrap()
}

#[test]
fn pointers_in_memory_lead_to_their_targets_at_their_places() {
    let items = ".global .u32 a = 1; .global .u32 g[2] = {7, 9}; .global .u64 x[2] = {3, g + 4};
        .global .u64 y = a;";
    let body =
        "ld.global.u64 p0, [x + 8]; ld.global.u32 r0, [p0]; ld.global.u64 p1, [y]; ld.global.u32 r1, [p1];
        ld.global.u64 p2, [x]; st.global.u32 [o], r0; st.global.u32 [o + 4], r1; st.global.u64 [o + 8], p2;
        st.global.u64 [o + 16], p0; ret;";
    let expected = "0900000001000000030000000000000000000000000000 00; 8 at 16: g+4 generic";
    assert_eq!(leaves(items, body).unwrap(), expected.replace(" 00;", "00;"));
}

#[test]
fn a_byte_of_an_address_in_memory_is_no_number() {
    let items = ".global .u32 g; .global .u8 m = 0xFF00(g); .global .u8 n = 5;";
    let body =
        "ld.global.u8 r0, [m]; ld.global.u8 r1, [n]; st.global.u8 [o], r0; st.global.u8 [o + 1], r1; ret;";
    assert_eq!(leaves(items, body).unwrap(), "..05");
}

#[test]
fn an_address_that_others_have_no_name_for_is_not_known() {
    let body = ".local .u32 l; mov.u64 p0, l; st.global.u64 [o], p0; st.global.u8 [o + 8], 1; ret;";
    assert_eq!(leaves("", body).unwrap(), "................01");
    let body = ".local .u32 l; cvta.local.u64 p0, l; st.global.u64 [o], p0; st.global.u32 [o + 8], 1; ret;";
    assert_eq!(leaves(".global .u32 g;", body).unwrap(), "................01000000");
}

#[test]
fn what_128_bits_hold_is_not_known() {
    let body = ".reg .b128 q; ld.global.b128 q, [g]; st.global.b128 [o], q; st.global.u8 [o + 16], 1; ret;";
    assert_eq!(leaves(".global .align 16 .u32 g[4] = {1, 2, 3, 4};", body).unwrap(), "..".repeat(16) + "01");
}

#[test]
fn addresses_of_constants_are_generic_only_where_they_were_made_so() {
    let items = ".const .u32 c; .global .u32 g; .visible .func t() { ret; }";
    let body = "mov.u64 p0, c; cvta.const.u64 p1, c; mov.u64 p2, t; st.global.u64 [o], p0;
        st.global.u64 [o + 8], p1; st.global.u64 [o + 16], p2; ret;";
    let zeros = "0".repeat(48);
    assert_eq!(
        leaves(items, body).unwrap(),
        format!("{zeros}; 8 at 0: c+0; 8 at 8: c+0 generic; 8 at 16: t+0")
    );
}

#[test]
fn what_is_written_over_an_address_leaves_the_rest_of_it_unknown() {
    let body = "mov.u64 p0, g; st.global.u64 [o], p0; st.global.u8 [o], 1; st.global.u64 [o + 8], p0;
        st.global.u8 [o + 15], 2; ret;";
    let expected = format!("01{}{}02; 7 at 8: g+0 generic", "..".repeat(7), "00".repeat(7));
    assert_eq!(leaves(".global .u32 g;", body).unwrap(), expected);
}

#[test]
fn a_part_of_an_address_may_end_the_output() {
    let body = "mov.u32 r0, g; st.global.u32 [o + 4], r0; ret;";
    assert_eq!(leaves(".global .u32 g;", body).unwrap(), format!("{}; 4 at 4: g+0 generic", "00".repeat(8)));
}

#[test]
fn the_scalars_written_are_told_once_in_order() {
    let text = kernel(
        "st.global.u32 [o + 8], 1; st.global.u32 [o], 2; st.global.u32 [o + 8], 3; st.global.v2.u16 [o + 4], {r0, r1};
         ret;",
    );
    let output = run(Readings::default(), &text).unwrap();
    let slots: Vec<(usize, usize)> = output.slots.iter().map(|slot| (slot.offset, slot.width)).collect();
    assert_eq!(slots, [(0, 4), (4, 2), (6, 2), (8, 4)]);
    assert_eq!(described(&output), "02000000........03000000");
}

#[test]
fn a_kernel_has_one_parameter_of_eight_bytes() {
    let other = Err("a kernel with other parameters than an output buffer");
    for parameters in ["", ".param .u32 out", ".param .u64 out[1]", ".param .u64 out, .param .u64 more"] {
        let text = format!(".visible .entry k({parameters}) {{ ret; }}");
        assert_eq!(run(Readings::default(), &text).map(|_| ()), other, "{parameters}");
    }
    assert!(run(Readings::default(), ".visible .entry k(.param .u64 out) { ret; }").is_ok());
}

#[test]
fn the_end_of_a_kernel_returns_too() {
    assert_eq!(leaves("", "st.global.u8 [o], 5;").unwrap(), "05");
}

/// A function that calls itself as often as its argument says, and adds 1 each time.
const DEEP: &str = ".visible .func (.reg .u32 result) f(.reg .u32 n) {
    .reg .pred q; .reg .u32 m;
    mov.u32 result, 0;
    setp.eq.u32 q, n, 0; @q ret;
    sub.u32 m, n, 1; call (result), f, (m); add.u32 result, result, 1; ret; }";

#[test]
fn which_of_two_labels_of_one_name_is_meant_is_not_said() {
    let body = "mov.u32 r0, 0; {bra L; L: add.u32 r0, r0, 5;} L: st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", body), Err("two labels of one name in a function"));
    let own = "mov.u32 r0, 0; {bra L; L: add.u32 r0, r0, 5;} st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", own).unwrap(), "05000000");
}

#[test]
fn thirty_two_calls_may_be_open_and_no_more() {
    let body = |calls| format!("mov.u32 r0, {calls}; call (r1), f, (r0); st.global.u32 [o], r1; ret;");
    // The kernel is one of them, and so is the call that finds 0.
    assert_eq!(leaves(DEEP, &body(30)).unwrap(), "1e000000");
    assert_eq!(leaves(DEEP, &body(31)), Err("more calls at once than are modelled"));
}

#[test]
fn calls_that_returned_are_not_open() {
    let body = "mov.u32 r0, 1; mov.u32 r2, 0;
        L: call (r1), f, (r0); add.u32 r2, r2, r1; setp.lt.u32 q, r2, 100; @q bra L;
        st.global.u32 [o], r2; ret;";
    assert_eq!(leaves(DEEP, body).unwrap(), "64000000");
}

#[test]
fn twenty_thousand_instructions_are_executed_and_no_more() {
    // The load of `o`, this one, three in each of 6665 rounds, the store and the return: 19,999.
    let body = |more| {
        format!(
            "{more} mov.u32 r0, 0; L: add.u32 r0, r0, 1; setp.lt.u32 q, r0, 6665; @q bra L;
             st.global.u32 [o], r0; ret;"
        )
    };
    assert_eq!(leaves("", &body("mov.u32 r1, 0;")).unwrap(), "091a0000");
    let many = Err("more instructions than are executed here");
    assert_eq!(leaves("", &body("mov.u32 r1, 0; mov.u32 r1, 0;")), many);
    assert_eq!(leaves("", "L: bra L;"), many);
}

#[test]
fn a_guard_decides_whether_an_instruction_is_executed() {
    let body = "mov.u32 r0, 1; mov.u32 r1, 1; setp.eq.u32 q, 1, 1; @q mov.u32 r0, 2; @!q mov.u32 r1, 2;
        st.global.v2.u32 [o], {r0, r1}; ret;";
    assert_eq!(leaves("", body).unwrap(), "0200000001000000");
    let unknown = Err("what happens depends on a value that is not known");
    assert_eq!(leaves("", "@q mov.u32 r0, 2; ret;"), unknown);
    let types = Err("an instruction with operands of types that are not modelled");
    assert_eq!(leaves("", "@r0 mov.u32 r0, 2; ret;"), types, "no predicate");
}

#[test]
fn exit_ends_the_thread_also_in_a_function() {
    let function = ".visible .func f() { exit; }";
    let body = "st.global.u8 [o], 1; call f; st.global.u8 [o + 1], 2; ret;";
    assert_eq!(leaves(function, body).unwrap(), "01");
    assert_eq!(leaves("", "st.global.u8 [o], 1; exit; st.global.u8 [o], 2; ret;").unwrap(), "01");
}

#[test]
fn conversions_keep_the_value_that_fits() {
    let body = "mov.u32 r0, 0xfffe; cvt.u64.u16 p0, r0; cvt.s64.s16 p1, r0; st.global.u64 [o], p0;
        st.global.u64 [o + 8], p1; ret;";
    assert_eq!(leaves("", body).unwrap(), "feff000000000000feffffffffffffff");
}

#[test]
fn arguments_are_registers_vectors_numbers_and_parameters() {
    let function = ".visible .func (.param .u32 sum) f(.param .u32 a, .reg .u32 b, .reg .v2 .u32 c) {
        .reg .u32 x, y; ld.param.u32 x, [a]; add.u32 x, x, b; mov.v2.u32 {y, _}, c; add.u32 x, x, y;
        st.param.u32 [sum], x; ret; }";
    let body = ".param .u32 p, s; st.param.u32 [p], 7; mov.v2.u32 v, {100, 0}; call (s), f, (p, 10, v);
        ld.param.u32 r0, [s]; st.global.u32 [o], r0; ret;";
    assert_eq!(leaves(function, body).unwrap(), "75000000");
    let form = Err("an instruction in a form that is not modelled");
    assert_eq!(leaves(function, ".param .u32 s; call (s), f, (1, 2); ret;"), form);
    assert_eq!(leaves(function, ".param .u32 s; call (s), f, (1, 2, 3, 4); ret;"), form);
    assert_eq!(leaves(function, "call f, (1, 2, v); ret;"), form);
    assert_eq!(leaves(function, "call k, (o); ret;"), form);
}

#[test]
fn a_vector_that_is_an_argument_is_a_vector_operand() {
    let function = |ty: &str| format!(".visible .func f(.reg {ty} a) {{ ret; }}");
    let rests = |function: &str, argument: &str| {
        let text =
            format!("{function}\n{}", kernel(&format!("call f, ({argument}); st.global.u8 [o], 1; ret;")));
        run(Readings::default(), &text).unwrap().slots[0].trace.clauses.contains(Clause::VectorOperand)
    };
    assert!(rests(&function(".v2 .u32"), "v"));
    assert!(!rests(&function(".u32"), "r0"));
}

#[test]
fn parameters_of_4096_bytes_are_passed_and_no_larger_ones() {
    let text = |size: u32| {
        (
            format!(".visible .func f(.param .b8 a[{size}]) {{ ret; }}"),
            format!(".param .b8 a[{size}]; call f, (a); st.global.u8 [o], 1; ret;"),
        )
    };
    let (function, body) = text(4096);
    assert_eq!(leaves(&function, &body).unwrap(), "01");
    let (function, body) = text(4097);
    assert_eq!(leaves(&function, &body), Err("a parameter of more than 2^12 bytes"));
}

#[test]
fn every_register_and_variable_has_a_place_of_its_own() {
    let first = ".visible .func (.reg .u32 r) f() { .reg .u32 n<2>; mov.u32 n0, 1; mov.u32 n1, 2; sub.u32 r, n1, n0; ret; }";
    assert_eq!(leaves(first, "call (r0), f; st.global.u32 [o], r0; ret;").unwrap(), "01000000");
    let items = ".global .u32 g<3>; .const .u32 c = 5, e = 6; .global .u16 t[] = {1, 2, 3};";
    let body = ".reg .u32 n<3>, m; .local .u32 l, k, j[2]; .shared .u16 y<2>;
        mov.u32 n0, 1; mov.u32 n1, 2; mov.u32 n2, 3; mov.u32 m, 4;
        st.local.u32 [l], n0; st.local.u32 [k], n1; st.local.u32 [j + 4], n2;
        st.shared.u16 [y0], 8; st.shared.u16 [y1], 9;
        st.global.u32 [g0], 20; st.global.u32 [g2], 22;
        ld.local.u32 r0, [l]; ld.local.u32 r1, [k]; ld.local.u32 r2, [j + 4]; ld.const.u32 r3, [e];
        ld.global.u32 r4, [g0]; ld.global.u32 r5, [g2]; ld.global.u16 r6, [t + 4]; ld.shared.u16 r7, [y0];
        st.global.u32 [o], r0; st.global.u32 [o + 4], r1; st.global.u32 [o + 8], r2; st.global.u32 [o + 12], m;
        st.global.u32 [o + 16], r3; st.global.u32 [o + 20], r4; st.global.u32 [o + 24], r5;
        st.global.u32 [o + 28], r6; st.global.u32 [o + 32], r7; ret;";
    let expected = "010000000200000003000000040000000600000014000000160000000300000008000000";
    assert_eq!(leaves(items, body).unwrap(), expected);
}

#[test]
fn a_variable_ends_where_its_type_and_extents_say() {
    let outside = Err("an access outside of the variable");
    for (declaration, last) in [
        (".shared .u16 x", 0),
        (".shared .v2 .u16 x", 2),
        (".shared .u16 x[3][2]", 10),
        (".shared .align 4 .v2 .u16 x[3]", 10),
    ] {
        let body = |at| format!("{declaration}; st.shared.u16 [x + {at}], 1; st.global.u8 [o], 1; ret;");
        assert_eq!(leaves("", &body(last)).unwrap(), "01", "{declaration}");
        assert_eq!(leaves("", &body(last + 2)), outside, "{declaration}");
        assert_eq!(leaves("", &body(-2)), outside, "{declaration}");
    }
    let body = |at| format!(".local .v4 .u16 x<2>; st.local.u16 [x1 + {at}], 1; st.global.u8 [o], 1; ret;");
    assert_eq!(leaves("", &body(6)).unwrap(), "01");
    assert_eq!(leaves("", &body(8)), outside);
}

#[test]
fn offsets_have_31_bits_and_a_sign() {
    let outside = Err("an access outside of the variable");
    let width = Err(RefusalClass::OffsetWidth.name());
    let body = |offset: &str| format!(".shared .u8 x; ld.shared.u8 r0, [x + {offset}]; ret;");
    assert_eq!(leaves("", &body("2147483647")), outside);
    assert_eq!(leaves("", &body("2147483648")), width);
    assert_eq!(leaves("", &body("9223372036854775807U")), width);
    assert_eq!(leaves("", &body("9223372036854775808U")), width);
    assert_eq!(leaves("", &body("0xffffffffffffffff")), width);
    assert_eq!(leaves("", &body("0U")).map(|_| ()), Ok(()));
    let wide = Rules::default().with(|rules| rules.operands.offset_fits.change(|_, _, _| true));
    for offset in ["2147483648", "9223372036854775808U"] {
        let module = ptxsmith_syntax::parse(&format!("{HEADER}{}", kernel(&body(offset)))).unwrap();
        assert!(matches!(expect(&module, &wide), Expectation::Accepted { .. }), "{offset}");
    }
}

#[test]
fn an_offset_may_be_subtracted_or_come_first_under_a_reading() {
    let items = ".global .u32 g[4] = {1, 2, 3, 4};";
    let refused = Err(RefusalClass::AddressArithmetic.name());
    let text = |address: &str| {
        format!(
            "{items}\n{}",
            kernel(&format!("mov.u64 p0, g; ld.global.u32 r0, [{address}]; st.global.u32 [o], r0; ret;"))
        )
    };
    let shown = |readings, address: &str| run(readings, &text(address)).map(|output| described(&output));
    let subtracted = |answer| reading(Question::AddressSubtraction, answer);
    let [refuses, takes] = [Question::AddressSubtraction, Question::OffsetFirst].map(|question| {
        let answers = question.answers();
        (
            answers.iter().find(|a| **a == "refused").unwrap(),
            answers.iter().find(|a| **a != "refused").unwrap(),
        )
    });
    let first = |answer| reading(Question::OffsetFirst, answer);
    assert_eq!(shown(subtracted(refuses.0), "p0 - -8"), refused);
    assert_eq!(shown(subtracted(refuses.1), "p0 - -8").unwrap(), "03000000");
    assert_eq!(shown(subtracted(refuses.0), "g - -4"), refused);
    assert_eq!(shown(subtracted(refuses.1), "g - -4").unwrap(), "02000000");
    assert_eq!(shown(first(takes.0), "4 + g"), refused);
    assert_eq!(shown(first(takes.1), "4 + g").unwrap(), "02000000");
    // All that follows the sign is the offset: g + (4 + 8), and g + (1 << 2).
    assert_eq!(shown(Readings::default(), "g + 4 + 8").unwrap(), "04000000");
    assert_eq!(shown(Readings::default(), "g + 1 << 2").unwrap(), "02000000");
    assert!(shown(Readings::default(), "g * 4").is_err());
    assert!(shown(Readings::default(), "4 * g").is_err());
}

#[test]
fn an_address_is_a_scalar_of_32_or_64_bits() {
    let register = Err(RefusalClass::AddressRegister.name());
    let body = |name: &str| format!("ld.global.u32 r0, [{name}]; ret;");
    assert_eq!(leaves("", &body("w")), register, "a vector");
    assert_eq!(leaves("", &body("real")), register, "a float");
    assert_eq!(leaves("", &body("b")), register, "128 bits");
    assert_eq!(
        leaves("", &body("h")),
        Err("a register of less than 32 bits as an address, which has 32 or 64")
    );
    assert_eq!(leaves("", &body("r0")), Err("what happens depends on a value that is not known"));
}

#[test]
fn an_index_is_a_number_or_a_scalar_register_with_its_sign() {
    let items = ".global .u32 g[4] = {1, 2, 3, 4}; .global .u32 t[2][3] = {{1, 2, 3}, {4, 5, 6}};
        .global .v2 .u32 pairs[2] = {{1, 2}, {3, 4}};";
    let shows = |index: &str| {
        leaves(
            items,
            &format!(
                "mov.u32 r1, 3; mov.s32 s0, -1; mov.s16 h, 2; ld.global.u32 r0, {index}; st.global.u32 [o], r0; ret;"
            ),
        )
    };
    assert_eq!(shows("g[2]").unwrap(), "03000000");
    assert_eq!(shows("g[r1]").unwrap(), "04000000");
    assert_eq!(shows("g[r1 - 1]").unwrap(), "03000000");
    assert_eq!(shows("g[s0 + 2]").unwrap(), "02000000");
    assert_eq!(shows("g[h + 1]").unwrap(), "04000000");
    // In how many bits a constant is added, the text does not say.
    let not_held = Err("an index that the type of its register does not hold");
    for index in ["g[h + 32766]", "g[h - 32771]", "g[r1 - 4]", "g[r1 + 4294967295]", "g[s0 + 2147483649]"] {
        assert_eq!(shows(index), not_held, "{index}");
    }
    assert_eq!(shows("g[h + 32765]"), Err("an access outside of the variable"));
    let refused = Err(RefusalClass::ArrayIndex.name());
    for index in ["g[v]", "g[real]", "g[g]", "g[1 + r1]", "g[r1 + r1]", "g[r1 * 2]"] {
        assert_eq!(shows(index), refused, "{index}");
    }
    assert_eq!(shows("r1[2]"), Err("an element of what is no array"));
    assert_eq!(
        leaves(".global .u32 c;", "ld.global.u32 r0, c[0]; ret;"),
        Err("an element of what is no array")
    );
    let omitted =
        leaves(".global .u16 t[] = {1, 2, 3};", "ld.global.u16 h, t[2]; st.global.u16 [o], h; ret;");
    assert_eq!(omitted.unwrap(), "0300");
    // The largest index that has a sign is one; of a larger one no rule says how it would be counted.
    let bytes = |index: &str| leaves(".global .u8 b8[4];", &format!("ld.global.u8 r0, b8[{index}]; ret;"));
    assert_eq!(bytes("9223372036854775807U"), Err("an access outside of the variable"));
    assert_eq!(bytes("9223372036854775808U"), Err(RefusalClass::OffsetWidth.name()));
    let no_difference =
        Rules::default().with(|rules| rules.operands.index_operator.change(|_, op| op == BinaryOp::Add));
    for (index, is_taken) in [("r1 + 1", true), ("r1 - 1", false), ("r1", true)] {
        let text = format!("{HEADER}{items}\n{}", kernel(&format!("ld.global.u32 r0, g[{index}]; ret;")));
        let answer = expect(&ptxsmith_syntax::parse(&text).unwrap(), &no_difference);
        assert_eq!(matches!(answer, Expectation::Accepted { .. }), is_taken, "{index}");
    }
    let unit = |answer, index: &str| {
        let body = format!("mov.u32 r1, 1; ld.global.u32 r0, {index}; st.global.u32 [o], r0; ret;");
        let text = format!("{items}\n{}", kernel(&body));
        run(reading(Question::ElementUnit, answer), &text).map(|output| described(&output))
    };
    assert_eq!(unit("declared", "t[r1]").unwrap(), "04000000");
    assert_eq!(unit("scalar", "t[r1]").unwrap(), "02000000");
    assert_eq!(unit("declared", "pairs[r1]").unwrap(), "03000000");
    assert_eq!(unit("scalar", "pairs[r1]").unwrap(), "02000000");
}

#[test]
fn a_suffix_names_an_element_that_the_vector_has() {
    let body =
        |source: &str| format!("mov.v2.u32 v, {{5, 6}}; mov.u32 r0, {source}; st.global.u32 [o], r0; ret;");
    assert_eq!(leaves("", &body("v.y")).unwrap(), "06000000");
    assert_eq!(leaves("", &body("v.g")).unwrap(), "06000000");
    let refused = Err(RefusalClass::VectorElement.name());
    for source in ["v.z", "v.a", "r1.x", "r1.y"] {
        assert_eq!(leaves("", &body(source)), refused, "{source}");
    }
    let clause = |source: &str| match answer(Readings::default(), &kernel(&body(source))) {
        Expectation::Refused { refusal, .. } => refusal.clause,
        other => panic!("{other:?}"),
    };
    assert_eq!(clause("v.z"), Clause::VectorElementExists);
    assert_eq!(clause("r1.x"), Clause::VectorSuffix);
    let missing = Rules::default().with(|rules| {
        rules.operands.element_named.change(|next, letter, count| next.apply(letter, count).map(|_| 0));
    });
    let accepted = |source: &str| {
        let module = ptxsmith_syntax::parse(&format!("{HEADER}{}", kernel(&body(source)))).unwrap();
        matches!(expect(&module, &missing), Expectation::Accepted { .. })
    };
    assert!(accepted("v.z"));
    assert!(!accepted("r1.x"));
}

#[test]
fn a_scalar_rests_on_what_was_executed_since_the_one_before() {
    let items = ".global .u32 g[4] = {1, 2, 3, 4};";
    let body = "ld.global.u32 r0, [g + 4]; st.global.u32 [o], r0; mov.v2.u32 v, {1, 2}; mov.u32 r1, v.y;
        st.global.u32 [o + 4], r1; st.global.u32 [o + 8], 3; st.global.v2.u32 [o + 16], {1, 2}; ret;";
    let output = run(Readings::default(), &format!("{items}\n{}", kernel(body))).unwrap();
    let slots: Vec<(usize, bool, bool, bool)> = (output.slots.iter())
        .map(|slot| {
            let rests = |clause| slot.trace.clauses.contains(clause);
            let offset = Clause::OperandVariableOffset;
            (slot.offset, rests(offset), rests(Clause::VectorSuffix), rests(Clause::VectorBraces))
        })
        .collect();
    let expected = [
        (0, true, false, false),
        (4, false, true, true),
        // Nothing was done since: it was made together with the one before.
        (8, false, true, true),
        (16, false, true, true),
        (20, false, true, true),
    ];
    assert_eq!(slots, expected);
    // The parameter that every kernel loads first is no part of what it shows.
    let output = run(Readings::default(), &kernel("st.global.u32 [o], 1; ret;")).unwrap();
    assert!(!output.slots[0].trace.clauses.contains(Clause::OperandVariable));
    // A parameter that is loaded later is.
    let body = "st.global.u32 [o], 1; ld.param.u64 p0, [out]; st.global.u64 [p0 + 8], 2; ret;";
    let output = run(Readings::default(), &kernel(body)).unwrap();
    assert!(output.slots[1].trace.clauses.contains(Clause::OperandVariable));
}

#[test]
fn the_first_instruction_of_the_text_that_is_refused_is_told() {
    let refused = |text: &str| match answer(Readings::default(), text) {
        Expectation::Refused { refusal, .. } => refusal.class,
        other => panic!("{other:?}"),
    };
    let lane = "mov.u32 r0, v.z;";
    let offset = "ld.global.u32 r0, [p0 + 4294967296];";
    assert_eq!(refused(&kernel(&format!("{lane} {offset} ret;"))), RefusalClass::VectorElement);
    assert_eq!(refused(&kernel(&format!("{offset} {lane} ret;"))), RefusalClass::OffsetWidth);
    // Functions are kept by name, and `a` comes last in the text.
    let wrong = ".visible .func a() { .reg .v2 .u32 v; .reg .u32 r0; mov.u32 r0, v.z; ret; }";
    assert_eq!(refused(&format!("{}\n{wrong}", kernel(offset))), RefusalClass::OffsetWidth);
    assert_eq!(refused(&format!("{wrong}\n{}", kernel(offset))), RefusalClass::VectorElement);
}

#[test]
fn a_module_rests_on_what_only_its_instructions_show_and_its_data() {
    let clauses =
        |items: &str, body: &str| match answer(Readings::default(), &format!("{items}\n{}", kernel(body))) {
            Expectation::Accepted { trace, .. } => trace.clauses,
            other => panic!("{other:?}"),
        };
    let body = "ld.global.u32 r0, [o + 0x10]; mov.u32 r0, v.y; ret;";
    let without = clauses("", body);
    assert!(without.contains(Clause::VectorSuffix));
    assert!(!without.contains(Clause::LiteralHexadecimal));
    assert!(clauses(".global .u32 g = 0x10;", body).contains(Clause::LiteralHexadecimal));
}

#[test]
fn a_function_is_named_where_it_may_be() {
    let function = RefusalClass::FunctionOperand;
    let class = |rules: &Rules, body: &str| {
        let text = format!("{HEADER}.visible .func t() {{ ret; }}\n{}", kernel(body));
        match expect(&ptxsmith_syntax::parse(&text).unwrap(), rules) {
            Expectation::Refused { refusal, .. } => Some(refusal.class),
            Expectation::Accepted { .. } => None,
            Expectation::Unmodelled { reason, .. } => panic!("{reason}"),
        }
    };
    let rules = Rules::default();
    assert_eq!(class(&rules, "mov.u64 p0, t; ret;"), None);
    assert_eq!(class(&rules, "call t; ret;"), None);
    for body in
        ["mov.u64 t, p0;", "add.u64 p0, t, 4;", "sub.u64 p0, t, 4;", "call p0, (t);", "ld.u32 r0, [t];"]
    {
        assert_eq!(class(&rules, body), Some(function), "{body}");
    }
    let in_sum = rules.with(|rules| {
        let operand = &mut rules.operands.function_operand;
        operand.change(|next, opcode, place| opcode == Opcode::Add || next.apply(opcode, place));
    });
    assert_eq!(class(&in_sum, "add.u64 p0, t, 4;"), None);
    assert_eq!(class(&in_sum, "mov.u64 p0, t;"), None);
    for body in ["mov.u64 t, p0;", "sub.u64 p0, t, 4;"] {
        assert_eq!(class(&in_sum, body), Some(function), "{body}");
    }
}

#[test]
fn immediates_are_constant_expressions_also_in_braces() {
    let class = |body: &str| leaves("", &format!("{body} ret;")).map(|_| ());
    let by_zero = Err(RefusalClass::DivisionByZero.name());
    assert_eq!(class("mov.u32 r0, 1 / 0;"), by_zero);
    assert_eq!(class("st.global.u32 [o], 1 / 0;"), by_zero);
    assert_eq!(class("mov.v2.u32 v, {1, 1 / 0};"), by_zero);
    assert_eq!(class("mov.u32 r0, 08;"), Err(RefusalClass::MalformedLiteral.name()));
    assert_eq!(class("add.u32 r0, r1, 1 / 0;"), by_zero);
    assert_eq!(class("mov.u32 r0, 1;"), Ok(()));
}

#[test]
fn an_immediate_is_of_the_kind_of_its_type() {
    let registers = ".reg .f32 f; .reg .v2 .f32 e;";
    let class = |body: &str| leaves("", &format!("{registers} {body} ret;")).map(|_| ());
    for refused in [
        "mov.f32 f, 10;",
        "mov.f32 f, 0x14;",
        "mov.u32 r0, 1.0;",
        "mov.u32 r0, 0f3f800000;",
        "add.f32 f, f, 1;",
        "add.u32 r0, r1, 1.0;",
        "setp.eq.f64 q, real, 1;",
        "selp.f32 f, 1.0, 2, q;",
        "selp.u32 r0, 1, 2, 1.0;",
        "mov.pred q, 1.0;",
        "set.lt.u32.f32 r0, f, 1;",
        "shl.b32 r0, r1, 1.0;",
        "st.global.f32 [o], 1;",
        "st.global.v2.f32 [o], {f, 1};",
        "st.global.u32 [o], 1.0;",
    ] {
        assert_eq!(class(refused), Err(RefusalClass::ValueKind.name()), "{refused}");
    }
    for taken in [
        "mov.f32 f, 10.0;",
        "mov.f32 f, 0F41200000;",
        "mov.f32 f, 0d4024000000000000;",
        "mov.u32 r0, 1;",
        "setp.eq.f64 q, 2.0, 1.0;",
        "selp.f32 f, 1.0, 2.0, 1;",
        "st.global.v2.f32 [o], {f, 1.0};",
        // What bits take of floats is asked of initial values; a form that is not known has types that are not known.
        "mov.b32 r0, 0f3f800000;",
    ] {
        assert_eq!(class(taken), Ok(()), "{taken}");
    }
    assert_eq!(class("mul.hi.f32 f, f, 1;"), Err("an instruction in a form that is not modelled"));
    let text = kernel(&format!("{registers} mov.f32 f, 10.0; st.global.f32 [o], f; ret;"));
    assert_eq!(described(&run(Readings::default(), &text).unwrap()), "00002041");
}

#[test]
fn a_vector_operand_is_a_vector_of_registers_or_a_list_of_scalars() {
    let items = ".global .u32 a; .global .u32 t[2]; .visible .func fn() { ret; }";
    let class = |body: &str| leaves(items, &format!("{body} ret;")).map(|_| ());
    for refused in [
        "mov.v2.u32 v, 5;",
        "mov.v2.u32 v, a;",
        "st.global.v2.u32 [o], 5;",
        "st.global.v2.u32 [o], {a, 1};",
        "st.global.v2.u32 [o], {1, a + 4};",
        "st.global.v2.u32 [o], {1, t[1]};",
        "st.global.v2.u32 [o], {1, 2, 3};",
    ] {
        assert_eq!(class(refused), Err(RefusalClass::VectorList.name()), "{refused}");
    }
    assert_eq!(class("st.global.v2.u32 [o], {fn, 1};"), Err(RefusalClass::FunctionOperand.name()));
    for taken in [
        "mov.v2.u32 v, {5, 6};",
        "mov.v2.u32 v, {r0, 6};",
        "st.global.v2.u32 [o], {r0, 1};",
        "st.global.v2.u32 [o], {v.x, v.y};",
        "ld.global.v2.u32 v, [o];",
        "ld.global.v2.u32 {r0, _}, [o];",
    ] {
        assert_eq!(class(taken), Ok(()), "{taken}");
    }
}

#[test]
fn a_kernel_may_have_an_input_and_an_output() {
    let text = "{HEADER}.visible .entry k(.param .u64 input, .param .u64 output) {
        .reg .u64 in_addr, out_addr; .reg .u64 temp, temp2;
        ld.param.u64 in_addr, [input]; ld.param.u64 out_addr, [output];
        ld.u64 temp, [in_addr]; add.u64 temp2, temp, 1; st.u64 [out_addr], temp2; ret; }"
        .replace("{HEADER}", HEADER);
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let left = |input: Option<&[u8]>| {
        ptxsmith_oracle::predict_over(&module, &Rules::default(), input).kernels.remove(0).left
    };
    let shown = |input: &[u8]| match left(Some(input)) {
        Left::Output(output) => described(&output),
        Left::Unmodelled(reason) => reason.to_owned(),
    };
    // 1 + 1, and 2^64 - 1 + 1.
    assert_eq!(shown(&[1, 0, 0, 0, 0, 0, 0, 0]), "0200000000000000");
    assert_eq!(shown(&[0xff; 8]), "0000000000000000");
    assert_eq!(shown(&[1, 0, 0, 0]), "an access outside of the variable");
    assert_eq!(left(None), Left::Unmodelled("a kernel with other parameters than an output buffer"));
}

#[test]
fn the_address_of_a_kernel_is_taken_since_3_1() {
    let class = |version: &str| {
        let text = format!(
            ".version {version}\n.target sm_20\n.address_size 64\n.visible .entry k() {{
                .reg .u64 p; mov.u64 p, k; ret; }}"
        );
        match expect(&ptxsmith_syntax::parse(&text).unwrap(), &Rules::default()) {
            Expectation::Refused { refusal, .. } => Some(refusal.class),
            Expectation::Accepted { .. } => None,
            Expectation::Unmodelled { reason, .. } => panic!("{reason}"),
        }
    };
    assert_eq!(class("3.0"), Some(RefusalClass::KernelVersion));
    assert_eq!(class("3.1"), None);
    assert_eq!(class("8.0"), None);
}

#[test]
fn parameterized_names_are_found_up_to_the_limit_of_declarations() {
    let body = "mov.u64 p0, a4999; st.global.u64 [o], p0; ret;";
    let expected = format!("{}; 8 at 0: a4999+0 generic", "00".repeat(8));
    assert_eq!(leaves(".global .u32 a<5000>;", body).unwrap(), expected);
    let body = ".reg .u32 q1<3>; mov.u32 q12, 5; st.global.u32 [o], q12; ret;";
    assert_eq!(leaves("", body).unwrap(), "05000000");
    // The names of an inner scope hide those of an outer one.
    assert_eq!(leaves(".global .u32 q12;", body).unwrap(), "05000000");
}

#[test]
fn a_number_that_a_parameterized_name_does_not_declare_is_refused_in_kernels_too() {
    let refused = |body: &str, rules: &Rules| {
        let module = ptxsmith_syntax::parse(&kernel(body)).unwrap();
        match expect(&module, rules) {
            Expectation::Refused { refusal, .. } => Some(refusal.class),
            _ => None,
        }
    };
    let rules = Rules::default();
    assert_eq!(refused(".reg .u32 q1<3>; mov.u32 q12, 5; ret;", &rules), None);
    for number in ["q13", "q102", "q1"] {
        let body = format!(".reg .u32 q1<3>, q<1>; mov.u32 {number}, 5; ret;");
        assert_eq!(refused(&body, &rules), Some(RefusalClass::UnknownName), "{number}");
    }
    assert_eq!(refused(".reg .pred q<3>; @q3 ret;", &rules), Some(RefusalClass::UnknownName));
    // Rules with another answer to 5.4.6 hold in kernels as at module scope.
    let rules = rules.with(|rules| {
        rules
            .layout
            .numbered
            .change(|_, prefix, digits| digits.parse().ok().filter(|_| !prefix.ends_with('1')))
    });
    let class = refused(".reg .u32 q1<3>; mov.u32 q12, 5; ret;", &rules);
    assert_eq!(class, Some(RefusalClass::UnknownName));
}

/// 5.4.4: what has no initializer is zero. In a second call of a function what the first one wrote may be there or not.
#[test]
fn variables_that_functions_declare_in_global_and_const_hold_their_initial_values() {
    let body = ".global .u32 y = 5; .const .u16 c[2] = {3}; .global .u32 t<3>; .shared .u32 n;
        { .global .u32 y = 9; ld.global.u32 r0, [y]; }
        ld.global.u32 r1, [y]; ld.const.u32 r2, [c]; ld.global.u32 r3, [t2]; ld.shared.u32 r4, [n];
        st.global.u32 [o], r0; st.global.u32 [o + 4], r1; st.global.u32 [o + 8], r2; st.global.u32 [o + 12], r3;
        st.global.u32 [o + 16], r4; ret;";
    assert_eq!(
        leaves(".global .u32 y = 1;", &body.replace("c[2] = {3}", "c[2] = {3, 4}")).unwrap_err(),
        "an access that may be misaligned"
    );
    let body = body.replace(".const .u16 c[2] = {3}", ".const .align 4 .u16 c[2] = {3}");
    assert_eq!(leaves(".global .u32 y = 1;", &body).unwrap(), "09000000050000000300000000000000........");
    let counts = ".func (.reg .u32 n) next() { .global .u32 c = 7; .reg .u32 m; ld.global.u32 n, [c];
        add.u32 m, n, 1; st.global.u32 [c], m; ret; }
        .func (.reg .u32 n) same() { .global .u32 c = 7; ld.global.u32 n, [c]; ret; }";
    let body = "call (r0), next; call (r1), same; call (r2), same; call (r3), next; st.global.v4.u32 [o], {r0, r1, r2, r3}; ret;";
    assert_eq!(leaves(counts, body).unwrap(), "070000000700000007000000........");
}

/// 5.4.6: the names of a body hide those of the module, whatever declares them.
#[test]
fn numbered_names_of_a_body_are_other_variables_than_those_of_the_module() {
    let items = ".global .u32 t1 = 7; .func (.reg .u32 n) rd() { ld.global.u32 n, [t1]; ret; }";
    let body = ".global .u32 t<3>; st.global.u32 [t1], 5; call (r0), rd; ld.global.u32 r1, [t1];
        st.global.v2.u32 [o], {r0, r1}; ret;";
    assert_eq!(leaves(items, body).unwrap(), "0700000005000000");
    let body =
        ".global .u64 t<70000>; .reg .u32 z<100000>; mov.u32 z99999, 5; st.global.u32 [t69999], z99999;
        ld.global.u32 r0, [t69999]; st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", body).unwrap(), "05000000");
}
