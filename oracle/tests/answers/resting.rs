//! What answers rest on, and what depends on where something is declared; every value is worked out by hand.

use ptxsmith_oracle::{Clause, Expectation, Question, Readings, RefusalClass, Rules, Trace, expect};
use serde_json::json;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn answer(readings: Readings, text: &str) -> Expectation {
    let module = ptxsmith_syntax::parse(&format!("{HEADER}{text}")).unwrap();
    expect(&module, &Rules::specification(readings))
}

/// The bytes of the last variable and what it rests on; otherwise the class of the refusal.
fn last(readings: Readings, text: &str) -> Result<(Vec<u8>, Trace), RefusalClass> {
    match answer(readings, text) {
        Expectation::Accepted { mut variables, .. } => {
            let last = variables.pop().expect("a variable is declared");
            Ok((last.bytes, last.trace))
        }
        Expectation::Refused { refusal, .. } => Err(refusal.class),
        Expectation::Unmodelled { reason, .. } => panic!("{reason}"),
    }
}

fn rests(text: &str, clause: Clause) -> bool {
    last(Readings::default(), text).unwrap().1.clauses.contains(clause)
}

/// The readings with these questions answered by the names of the answers.
fn reading(answers: &[(Question, &str)]) -> Readings {
    answers.iter().fold(Readings::default(), |readings, &(question, answer)| {
        let at = question.answers().iter().position(|&known| known == answer);
        readings.with(question, at.expect("an answer of the question")).unwrap()
    })
}

#[test]
fn only_omitted_values_rest_on_the_default_of_zero() {
    for whole in
        [".global .u16 x = 1;", ".global .u16 x[2] = {1, 2};", ".global .u32 x[2][2] = {{1, 2}, {3, 4}};"]
    {
        assert!(!rests(whole, Clause::DefaultZero), "{whole}");
    }
    for part in [".global .u16 x;", ".global .u16 x[3] = {1, 2};", ".global .u32 x[2][2] = {{1, 2}, {3}};"] {
        assert!(rests(part, Clause::DefaultZero), "{part}");
    }
}

#[test]
fn references_to_the_declarator_itself_and_to_later_ones_are_distinguished() {
    let forward = reading(&[(Question::ForwardReference, "refused")]);
    let itself = reading(&[(Question::SelfReference, "refused")]);
    let refused = Err(RefusalClass::UnknownName);
    let class = |readings, text: &str| last(readings, text).map(|_| ());
    // The second names itself.
    assert_eq!(class(forward, ".global .u64 a = 0, b = b;"), Ok(()));
    assert_eq!(class(itself, ".global .u64 a = 0, b = b;"), refused);
    // The first names the second.
    assert_eq!(class(forward, ".global .u64 a = b, b = 0;"), refused);
    assert_eq!(class(itself, ".global .u64 a = b, b = 0;"), Ok(()));
    // The third names the second.
    assert_eq!(class(forward, ".global .u64 a = 0, b = 0, c = b;"), Ok(()));
    // A statement earlier: neither.
    for readings in [forward, itself] {
        assert_eq!(class(readings, ".global .u64 a = 0; .global .u64 b = 0, c = a;"), Ok(()));
    }
    // The same in a body.
    let body = |inner: &str| format!(".entry k() {{ {inner} ret; }} .global .u32 z;");
    assert_eq!(class(itself, &body(".global .u64 a; .global .u64 b = a;")), Ok(()));
    assert_eq!(class(itself, &body(".global .u64 b = b;")), refused);
    assert_eq!(class(forward, &body(".global .u64 b = c; .global .u64 c;")), refused);
}

#[test]
fn a_module_of_which_nothing_is_modelled_is_not_modelled() {
    let none = answer(Readings::default(), ".global .b128 x = 1.0;");
    assert!(matches!(none, Expectation::Unmodelled { .. }), "{none:?}");
    let one = answer(Readings::default(), ".global .b128 x = 1.0; .global .u32 y = 1;");
    let Expectation::Accepted { variables, unmodelled, .. } = one else { panic!("{one:?}") };
    assert_eq!((variables.len(), unmodelled.len()), (1, 1));
    assert!(matches!(answer(Readings::default(), ""), Expectation::Accepted { .. }));
}

#[test]
fn types_without_initializers_take_no_empty_list_either() {
    let class = |text: &str| last(Readings::default(), text).map(|_| ());
    assert_eq!(class(".global .u16 x[2] = {};"), Ok(()));
    assert_eq!(class(".global .f16 x[2] = {};"), Err(RefusalClass::TypeWithoutInitializer));
    assert_eq!(class(".global .f16x2 x[2] = {};"), Err(RefusalClass::TypeWithoutInitializer));
}

#[test]
fn an_omitted_dimension_is_as_long_as_the_list() {
    let zero = |answer| reading(&[(Question::ZeroDimension, answer)]);
    let [takes, refuses] = ["allowed", "refused"];
    let size = |readings, text: &str| last(readings, text).map(|(bytes, _)| bytes.len());
    let omitted = Err(RefusalClass::OmittedDimension);
    assert_eq!(size(zero(refuses), ".global .u32 x[] = {1, 2};"), Ok(8));
    assert_eq!(size(zero(takes), ".global .u32 x[] = {};"), Ok(0));
    assert_eq!(size(zero(refuses), ".global .u32 x[] = {};"), omitted);
    assert_eq!(size(zero(takes), ".global .u32 x[];"), omitted);
    assert!(matches!(
        answer(zero(refuses), ".extern .global .u32 x[]; .global .u32 y;"),
        Expectation::Accepted { variables, .. } if variables.len() == 1
    ));
}

#[test]
fn an_operand_that_is_not_evaluated_has_its_type_all_the_same() {
    let skipped = reading(&[(Question::SkippedOperand, "skipped")]);
    let value = |text: &str| last(skipped, &format!(".global .s64 x = {text};")).map(|(bytes, _)| bytes[0]);
    // -1 is greater than 0 as .u64, which it is beside an operand of that type, and less as .s64.
    assert_eq!(value("(1 ? -1 : 5 / 0) < 0"), Ok(1));
    assert_eq!(value("(1 ? -1 : 5U / 0U) < 0"), Ok(0));
    assert_eq!(value("(1 ? -1 : 5 / 0 + 1) < 0"), Ok(1));
    assert_eq!(value("(1 ? -1 : 5U / 0U + 1) < 0"), Ok(0));
    assert_eq!(value("(1 ? -1 : 5U / 0U / 0) < 0"), Ok(0));
    assert_eq!(value("(1 ? -1 : (5U / 0U + 1) * 2) < 0"), Ok(0));
    let float = |text: &str| last(skipped, &format!(".global .f64 x = {text};")).map(|(bytes, _)| bytes);
    let two = 2.0f64.to_le_bytes().to_vec();
    assert_eq!(float("1 ? 2.0 : (5 / 0 ? 1.0 : 2.0)"), Ok(two.clone()));
    assert_eq!(float("1 ? 2.0 : (5 / 0 ? 1.0 : 2.0) * 2.0"), Ok(two));
    assert_eq!(float("1 ? 2.0 : 5 / 0"), Err(RefusalClass::IntFloatMix));
    let dimension = last(skipped, ".global .u8 x[5 / 0];").map(|_| ());
    assert_eq!(dimension, Err(RefusalClass::DivisionByZero));
}

#[test]
fn an_expression_rests_on_the_grouping_that_mattered() {
    let grouped = |text: &str| {
        let text = format!(".global .s32 x = {text};");
        (rests(&text, Clause::Precedence), rests(&text, Clause::Associativity))
    };
    assert_eq!(grouped("1"), (false, false));
    assert_eq!(grouped("1 + 2"), (false, false));
    assert_eq!(grouped("(1) + 2"), (false, false));
    assert_eq!(grouped("1 + 2 * 3"), (true, false));
    assert_eq!(grouped("(1 + 2) * 3"), (true, false));
    assert_eq!(grouped("1 + 2 + 3"), (false, true));
    assert_eq!(grouped("1 + (2 + 3)"), (false, false));
    assert_eq!(grouped("(1 * 2) + 3"), (false, false));
    assert_eq!(grouped("-1 + 2"), (true, false));
    assert_eq!(grouped("- -1"), (false, true));
    assert_eq!(grouped("1 < 2 + 3 + 4"), (true, true));
    // In the parentheses of a mask there is nothing to group with.
    assert_eq!(grouped("0xFF(1 + 2)"), (false, false));
    assert_eq!(grouped("0xFF((1 + 2))"), (false, false));
}

#[test]
fn the_json_answer_has_the_contents_and_the_basis_of_each_variable() {
    let text =
        format!("{HEADER}.const .align 8 .u16 x[2] = {{0x1f}}; .global .b128 y = 1.0;\n.global .u64 z = x;");
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let rules = Rules::default();
    let answer = expect(&module, &rules).to_json(&text, &rules.readings);
    assert_eq!(answer["schema"], "ptxsmith.module/1");
    assert_eq!(answer["outcome"], "accepted");
    let x = &answer["variables"]["x"];
    assert_eq!((&x["space"], &x["size"], &x["align"]), (&json!("const"), &json!(4), &json!(8)));
    assert_eq!((&x["bytes"], &x["addresses"]), (&json!("1f000000"), &json!([])));
    let clauses = x["clauses"].as_array().unwrap();
    assert!(clauses.contains(&json!("4.5.1/literal-hexadecimal")), "{clauses:?}");
    let z = &answer["variables"]["z"]["addresses"][0];
    assert_eq!((&z["symbol"], &z["offset"], &z["width"]), (&json!("x"), &json!(0), &json!(8)));
    assert_eq!(answer["unmodelled"][0]["variable"], "y");
    assert_eq!(answer["variables"].as_object().unwrap().len(), 2);

    let whole = format!("{HEADER}.global .u32 x = 1;");
    let module = ptxsmith_syntax::parse(&whole).unwrap();
    assert_eq!(expect(&module, &rules).to_json(&whole, &rules.readings).get("unmodelled"), None);
}

#[test]
fn the_answer_as_json_says_why_and_where_a_program_is_refused_and_under_which_reading() {
    let text = format!("{HEADER}.global .u32 y;\n.global .u32 x[2] = {{1, 2, }};");
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let rules = Rules::default();
    let answer = expect(&module, &rules).to_json(&text, &rules.readings);
    assert_eq!(answer["outcome"], "refused");
    let refusal = &answer["refusal"];
    assert_eq!((&refusal["class"], &refusal["line"]), (&json!("trailing-comma"), &json!(5)));
    assert_eq!(refusal["readings"], json!({ "trailing-comma": "refused" }));

    let text = format!("{HEADER}.global .b128 y = 1.0;");
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let answer = expect(&module, &rules).to_json(&text, &rules.readings);
    assert_eq!(answer["outcome"], "unmodelled");
    assert!(answer["reason"].is_string());
}

#[test]
fn the_json_answer_has_the_output_of_kernels() {
    let text = format!(
        "{HEADER}.global .u32 g;
        .entry k(.param .u64 out) {{ .reg .u64 o, p; .reg .u32 r; ld.param.u64 o, [out];
            mov.u64 p, g; st.global.u64 [o], p; st.global.u16 [o + 10], 3; st.global.u32 [o + 12], r; ret; }}
        .entry other() {{ ret; }} .entry another() {{ ret; }}"
    );
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let rules = Rules::default();
    let answer = ptxsmith_oracle::predict(&module, &rules).to_json(&text, &rules.readings);
    let k = &answer["kernels"]["k"];
    assert_eq!(k["size"], 16);
    assert_eq!(k["bytes"], "00000000000000000000030000000000");
    assert_eq!(k["seen"], "ffffffffffffffffffffffff00000000");
    assert_eq!(k["addresses"][0]["symbol"], "g");
    assert!(k["clauses"].as_array().unwrap().contains(&json!(Clause::MoveAddress.id())));
    let reason = "a kernel with other parameters than an output buffer";
    let unmodelled =
        json!([{ "kernel": "another", "reason": reason }, { "kernel": "other", "reason": reason }]);
    assert_eq!(answer["unmodelled"], unmodelled);
    assert_eq!(answer["kernels"].as_object().unwrap().len(), 1);
}

/// The questions that the value of a scalar met, by name.
fn met(ty: &str, value: &str) -> Vec<&'static str> {
    let (_, trace) = last(Readings::default(), &format!(".global {ty} x = {value};")).unwrap();
    trace.questions.iter().map(Question::name).collect()
}

#[test]
fn a_signed_result_beyond_64_bits_is_a_question_and_an_unsigned_one_is_none() {
    let least = "(-9223372036854775807 - 1)";
    let question = [Question::SignedOverflow.name()];
    for value in
        [&format!("-{least}"), "9223372036854775807 + 1", &format!("{least} - 1"), "4611686018427387904 * 2"]
    {
        assert_eq!(met(".s64", value), question, "{value}");
    }
    for value in [
        least,
        "-5",
        "- 0x8000000000000000",
        "- 9223372036854775808",
        "9223372036854775807U + 1",
        "0U - 1",
        "4611686018427387904U * 4",
        "9223372036854775806 + 1",
        "5 * 7",
    ] {
        assert_eq!(met(".s64", value), [""; 0], "{value}");
    }
}

#[test]
fn floating_point_questions_are_met_where_the_value_depends_on_them() {
    let (zero, nan) = ([Question::FloatDivisionByZero.name()], [Question::NanNarrowing.name()]);
    assert_eq!(met(".f64", "1.0 / 0.0"), zero);
    assert_eq!(met(".f64", "1.0 / -0.0"), zero);
    assert_eq!(met(".f64", "1.0 / 2.0"), [""; 0]);
    assert_eq!(met(".f32", "0d7ff8000000000001"), nan);
    assert_eq!(met(".f64", "0f7fc00001"), nan);
    for (ty, value) in [
        (".f64", "0d7ff8000000000001"),
        (".f32", "0f7fc00001"),
        (".f64", "0f3f800000"),
        (".f32", "0d3ff0000000000000"),
        (".f32", "1.0"),
    ] {
        assert_eq!(met(ty, value), [""; 0], "{ty} {value}");
    }
}

#[test]
fn decimal_literals_below_the_least_normal_double_are_tiny_but_zero_is_not() {
    let tiny = |value: &str| rests(&format!(".global .f64 x = {value};"), Clause::FloatTiny);
    for value in ["1e-310", "2.2250738585072009e-308", "5e-324", "1e-400", "0.001e-400", "9.0E-320"] {
        assert!(tiny(value), "{value}");
    }
    for value in ["0.0", "0.0e5", "0.000E-9", "2.2250738585072014e-308", "1.0", "1e300", "1e-300"] {
        assert!(!tiny(value), "{value}");
    }
}

#[test]
fn misspelled_literals_are_refused_by_the_clause_that_they_break() {
    let clause = |value: &str| match answer(Readings::default(), &format!(".global .f64 x = {value};")) {
        Expectation::Refused { refusal, .. } => refusal.clause,
        other => panic!("{value}: {other:?}"),
    };
    assert_eq!(clause("0f3f8"), Clause::FloatBitsMalformed);
    assert_eq!(clause("0d3f8"), Clause::FloatBitsMalformed);
    assert_eq!(clause("0x1.8"), Clause::FloatDecimal);
    assert_eq!(clause("0x"), Clause::LiteralMalformed);
    assert_eq!(clause("0xe"), Clause::ValueKind, "an integer");
    assert_eq!(clause("0xge"), Clause::LiteralMalformed);
    assert_eq!(clause("1e"), Clause::FloatExponent);
    assert_eq!(clause("1.5f"), Clause::FloatNoSuffix);
    assert_eq!(clause("08"), Clause::LiteralMalformed);
}

#[test]
fn under_a_rule_that_skips_zeros_a_padded_number_is_the_number_and_keeps_its_spelling() {
    let padded = Rules::default().with(|rules| {
        rules.layout.numbered.change(|next, prefix, number| match number.trim_start_matches('0') {
            "" => next.apply(prefix, "0"),
            plain => next.apply(prefix, plain),
        });
    });
    let named = |rules: &Rules, name: &str| {
        let text = format!("{HEADER}.global .u32 a<12>; .global .u64 x = {name};");
        match expect(&ptxsmith_syntax::parse(&text).unwrap(), rules) {
            Expectation::Accepted { variables, .. } => {
                Some(variables.last()?.addresses.first()?.symbol.to_string())
            }
            _ => None,
        }
    };
    for (name, plain) in
        [("a1", true), ("a11", true), ("a0", true), ("a01", false), ("a00", false), ("a011", false)]
    {
        assert_eq!(named(&padded, name).as_deref(), Some(name));
        assert_eq!(named(&Rules::default(), name).is_some(), plain, "{name}");
    }
    for name in ["a12", "a012", "a"] {
        assert_eq!(named(&padded, name), None, "{name}");
    }
}
