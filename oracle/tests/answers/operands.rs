//! Operands of instructions: the forms that are accepted, and those that are refused.

use crate::common::{HEADER, answer, described, kernel, leaves, run};
use ptxsmith_oracle::{Clause, Expectation, Question, Readings, RefusalClass, Rules, expect};
use ptxsmith_syntax::{BinaryOp, Opcode};

/// The readings with one question answered otherwise.
fn reading(question: Question, answer: &str) -> Readings {
    let at = question.answers().iter().position(|&known| known == answer).expect("an answer of the question");
    Readings::default().with(question, at).unwrap()
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
fn an_offset_may_be_subtracted_or_come_first_under_an_interpretation() {
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
fn the_first_refused_instruction_is_reported() {
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
fn functions_are_allowed_as_operands_of_call_and_mov() {
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
fn immediates_in_braces_are_constant_expressions() {
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
fn an_immediate_has_the_kind_of_the_operand_type() {
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
fn kernel_addresses_are_accepted_from_ptx_3_1() {
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
fn numbers_out_of_range_of_a_parameterized_name_are_refused_in_kernels() {
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
