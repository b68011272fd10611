//! The output of kernels, and the trace of each output. Every value is worked out by hand.

use crate::common::{HEADER, answer, described, kernel, leaves, run};
use ptxsmith_oracle::{Clause, Expectation, KernelOutcome, Readings, Rules};

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
fn addresses_of_local_variables_are_unknown() {
    let body = ".local .u32 l; mov.u64 p0, l; st.global.u64 [o], p0; st.global.u8 [o + 8], 1; ret;";
    assert_eq!(leaves("", body).unwrap(), "................01");
    let body = ".local .u32 l; cvta.local.u64 p0, l; st.global.u64 [o], p0; st.global.u32 [o + 8], 1; ret;";
    assert_eq!(leaves(".global .u32 g;", body).unwrap(), "................01000000");
}

#[test]
fn registers_of_128_bits_have_unknown_contents() {
    let body = ".reg .b128 q; ld.global.b128 q, [g]; st.global.b128 [o], q; st.global.u8 [o + 16], 1; ret;";
    assert_eq!(leaves(".global .align 16 .u32 g[4] = {1, 2, 3, 4};", body).unwrap(), "..".repeat(16) + "01");
}

#[test]
fn addresses_of_constants_are_generic_only_after_a_conversion() {
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
fn overwriting_a_part_of_an_address_makes_the_rest_unknown() {
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
fn written_scalars_are_listed_once_and_in_order() {
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
fn two_labels_of_the_same_name_are_unmodelled() {
    let body = "mov.u32 r0, 0; {bra L; L: add.u32 r0, r0, 5;} L: st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", body), Err("two labels of one name in a function"));
    let own = "mov.u32 r0, 0; {bra L; L: add.u32 r0, r0, 5;} st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", own).unwrap(), "05000000");
}

#[test]
fn at_most_32_calls_are_nested() {
    let body = |calls| format!("mov.u32 r0, {calls}; call (r1), f, (r0); st.global.u32 [o], r1; ret;");
    // The kernel is one of them, and so is the call that finds 0.
    assert_eq!(leaves(DEEP, &body(30)).unwrap(), "1e000000");
    assert_eq!(leaves(DEEP, &body(31)), Err("more calls at once than are modelled"));
}

#[test]
fn calls_that_returned_do_not_count_as_nested() {
    let body = "mov.u32 r0, 1; mov.u32 r2, 0;
        L: call (r1), f, (r0); add.u32 r2, r2, r1; setp.lt.u32 q, r2, 100; @q bra L;
        st.global.u32 [o], r2; ret;";
    assert_eq!(leaves(DEEP, body).unwrap(), "64000000");
}

#[test]
fn at_most_20000_instructions_are_executed() {
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
fn nothing_is_known_of_an_aborted_kernel_and_a_trap_whose_guard_does_not_hold_is_passed() {
    let aborted = Err("a kernel that is aborted");
    assert_eq!(leaves("", "st.global.u8 [o], 1; trap;"), aborted);
    assert_eq!(leaves("", "st.global.u8 [o], 1; brkpt; ret;"), aborted);
    let body = "setp.eq.u32 q, 1, 2; @q trap; @q brkpt; st.global.u8 [o], 1; ret;";
    assert_eq!(leaves("", body).unwrap(), "01");
}

#[test]
fn conversions_keep_values_in_range() {
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
fn a_vector_as_an_argument_is_a_vector_operand() {
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
fn the_trace_of_a_scalar_covers_the_instructions_since_the_previous_one() {
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
fn the_trace_of_a_module_covers_its_instructions_and_its_data() {
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
fn a_kernel_may_have_an_input_and_an_output() {
    let text = "{HEADER}.visible .entry k(.param .u64 input, .param .u64 output) {
        .reg .u64 in_addr, out_addr; .reg .u64 temp, temp2;
        ld.param.u64 in_addr, [input]; ld.param.u64 out_addr, [output];
        ld.u64 temp, [in_addr]; add.u64 temp2, temp, 1; st.u64 [out_addr], temp2; ret; }"
        .replace("{HEADER}", HEADER);
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let left = |input: Option<&[u8]>| {
        ptxsmith_oracle::predict_over(&module, &Rules::default(), input).kernels.remove(0).outcome
    };
    let shown = |input: &[u8]| match left(Some(input)) {
        KernelOutcome::Output(output) => described(&output),
        KernelOutcome::Unmodelled(reason) => reason.to_owned(),
    };
    // 1 + 1, and 2^64 - 1 + 1.
    assert_eq!(shown(&[1, 0, 0, 0, 0, 0, 0, 0]), "0200000000000000");
    assert_eq!(shown(&[0xff; 8]), "0000000000000000");
    assert_eq!(shown(&[1, 0, 0, 0]), "an access outside of the variable");
    assert_eq!(left(None), KernelOutcome::Unmodelled("a kernel with other parameters than an output buffer"));
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

/// 5.4.4: a variable without an initializer is zero. A second call of a function may find the values that the first one wrote
/// or not.
#[test]
fn function_variables_in_global_and_const_have_their_initial_values() {
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
fn numbered_names_in_a_body_hide_those_of_the_module() {
    let items = ".global .u32 t1 = 7; .func (.reg .u32 n) rd() { ld.global.u32 n, [t1]; ret; }";
    let body = ".global .u32 t<3>; st.global.u32 [t1], 5; call (r0), rd; ld.global.u32 r1, [t1];
        st.global.v2.u32 [o], {r0, r1}; ret;";
    assert_eq!(leaves(items, body).unwrap(), "0700000005000000");
    let body =
        ".global .u64 t<70000>; .reg .u32 z<100000>; mov.u32 z99999, 5; st.global.u32 [t69999], z99999;
        ld.global.u32 r0, [t69999]; st.global.u32 [o], r0; ret;";
    assert_eq!(leaves("", body).unwrap(), "05000000");
}
