//! What may stand before the names of a declaration, and what is declared twice (5.4).

use crate::common::answer;
use ptxsmith_oracle::{AttributeOrder, Clause, Expectation, Question, Readings, Rules, expect};

/// What the specification says of declarations: the clause that refuses them, why they are undecided, or that they are valid.
fn said(text: &str) -> Result<&'static str, Clause> {
    match answer(Readings::default(), text) {
        Expectation::Accepted { unmodelled, .. } => Ok(unmodelled.first().map_or("valid", |one| one.reason)),
        Expectation::Unmodelled { reason, .. } => Ok(reason),
        Expectation::Refused { refusal, .. } => Err(refusal.clause),
    }
}

#[test]
fn each_refusal_of_specifiers_has_a_valid_counterpart() {
    let pairs = [
        (".global .u32 v = 14;", ".global.global .u32 v = 14;", Clause::OneStateSpace),
        (".const .u32 v[6];", ".local.const .u32 v[6];", Clause::OneStateSpace),
        (".visible .global .u32 v;", ".visible .u32 v;", Clause::OneStateSpace),
        (".global .s8 v = -1;", ".global .u32 .s8 v = -1;", Clause::OneType),
        (".global .u32 v = 1;", ".global .u32 .u32 v = 1;", Clause::OneType),
        (".global .u32 v;", ".global v;", Clause::OneType),
        (".global .v2 .u64 v = {1,2};", ".global .v2 .v2 .u64 v = {1,2};", Clause::VectorFundamentalType),
        (".global .v2 .b32 x = {1,2};", ".global .b32 .v2 x = {1,2};", Clause::VectorPrefix),
        (".global .v2 .b32 x = {1,2};", ".v2 .global .b32 x = {1,2};", Clause::VectorPrefix),
        (".global .align 8 .u32 v;", ".global .u32 .align 8 v;", Clause::AlignPlace),
        (".global .align 8 .u32 v;", ".align 8 .global .u32 v;", Clause::AlignPlace),
        (".global .align 8 .v2 .b8 v;", ".global .v2 .align 8 .b8 v;", Clause::VectorPrefix),
        (".global .align 8 .u32 v;", ".global .align 8 .align 8 .u32 v;", Clause::AlignPlace),
        (
            ".global .attribute(.managed) .s16 v = 1;",
            ".global .attribute() .s16 v = 1;",
            Clause::AttributeList,
        ),
    ];
    for (valid, refused, clause) in pairs {
        assert_eq!(said(valid), Ok("valid"), "{valid}");
        assert_eq!(said(refused), Err(clause), "{refused}");
    }
}

#[test]
fn the_same_holds_in_functions_and_of_parameters() {
    for around in [(".entry k() {", "ret; }"), (".func f() { {", "} ret; }")] {
        let inside = |text: &str| said(&format!("{} {text} {}", around.0, around.1));
        assert_eq!(
            inside(".shared .align 8 .v2 .u32 v[4]; .local .b8 l[3][2]; .reg .v4 .f32 r<3>;"),
            Ok("valid")
        );
        assert_eq!(inside(".shared .u32 .align 8 v;"), Err(Clause::AlignPlace));
        assert_eq!(inside(".shared .align 3 .u32 v;"), Err(Clause::AlignPowerOfTwo));
        assert_eq!(inside(".reg .v4 .f64 v;"), Err(Clause::VectorSizeLimit));
        assert_eq!(inside(".local .u32 v[-1];"), Err(Clause::Dimension));
        assert_eq!(inside(".shared .u32 v = 4;"), Err(Clause::OnlyGlobalConst));
        assert_eq!(inside(".param .u32 v<2>[2];"), Err(Clause::ParameterizedNoArray));
    }
    let parameter = |text: &str| said(&format!(".func (.reg .u32 r) f({text}) {{ ret; }}"));
    for valid in [
        ".param .align 8 .b8 p[16]",
        ".reg .v2 .u32 p",
        ".param .u64 .ptr .global .align 4 p",
        ".param .u32 _, .param .u32 _",
    ] {
        assert_eq!(parameter(valid), Ok("valid"), "{valid}");
    }
    assert_eq!(parameter(".param .align 3 .b8 p[16]"), Err(Clause::AlignPowerOfTwo));
    assert_eq!(parameter(".param .pred p"), Err(Clause::PredicateOnlyInRegisters));
    assert_eq!(parameter(".param .u32 p = 4"), Err(Clause::OnlyGlobalConst));
    assert_eq!(parameter(".u32 p"), Err(Clause::OneStateSpace));
    for undecided in
        [".param .u32 p[]", ".param .u32 p[2][3]", ".param .u32 p<2>", ".global .u32 p", ".param .u32 r"]
    {
        assert!(parameter(undecided).is_ok_and(|said| said != "valid"), "{undecided}");
    }
}

#[test]
fn declarations_without_a_rule_are_undecided() {
    for text in [
        ".weak .weak .const .s64 v;",
        ".global .visible .u16 v = 1;",
        ".u32 .global v;",
        ".global [0].align 4 .f32 v;",
        ".global .attribute(.managed) .align 4 .attribute(.managed) .s32 v;",
        ".global .s32 .attribute(.managed) v;",
        ".global .attribute(.managed) .attribute(.managed) .s32 v;",
        ".attribute(.managed) .global .s32 v;",
        ".v25 .s64 v0[.global] 0f3f80000 {1,2};",
        ".global .v25 .s64 v;",
        ".frob 1;",
        ".local .u32 v;",
        ".entry k() { .extern .shared .b8 v[]; ret; }",
        ".entry k() { .reg .u32 v[2]; ret; }",
    ] {
        assert!(said(text).is_ok_and(|said| said != "valid"), "{text}: {:?}", said(text));
    }
    // What is refused goes before what is undecided.
    assert_eq!(said(".local .u32 v = 4;"), Err(Clause::OnlyGlobalConst));
    assert_eq!(said(".u32 .global v = 1.5;"), Err(Clause::ValueKind));
    assert_eq!(said(".frob 1; .global .u32 v = 1.5;"), Err(Clause::ValueKind));
}

/// 5.4.5 has .align right behind the state space, the examples of 5.4.8 have .attribute there.
#[test]
fn the_order_of_alignment_and_attribute_is_an_open_question() {
    let under = |order: AttributeOrder, text: &str| {
        let readings = Readings { attribute_order: order, ..Readings::default() };
        match answer(readings, text) {
            Expectation::Accepted { variables, trace, .. } => {
                let met = trace.questions.contains(Question::AttributeOrder);
                Ok((met, variables.len(), variables[0].align))
            }
            Expectation::Refused { refusal, .. } => Err(refusal.clause),
            other => panic!("{other:?}"),
        }
    };
    let attribute_first = ".global .attribute(.managed) .align 16 .u32 v;";
    let align_first = ".global .align 16 .attribute(.managed) .u32 v;";
    let refused = Err(Clause::AlignPlace);
    for (order, first, second) in [
        (AttributeOrder::Either, Ok((true, 1, 16)), Ok((true, 1, 16))),
        (AttributeOrder::AttributeFirst, Ok((true, 1, 16)), refused),
        (AttributeOrder::AlignFirst, refused, Ok((true, 1, 16))),
    ] {
        assert_eq!(under(order, attribute_first), first, "{order:?}");
        assert_eq!(under(order, align_first), second, "{order:?}");
        // One of the two alone asks nothing.
        assert_eq!(under(order, ".global .attribute(.managed) .u32 v;"), Ok((false, 1, 4)));
        assert_eq!(under(order, ".global .align 16 .u32 v;"), Ok((false, 1, 16)));
    }
    // 5.4.6: each of the names has what stands before them.
    let either = AttributeOrder::Either;
    assert_eq!(under(either, ".global .attribute(.managed) .align 8 .u32 v<3>;"), Ok((true, 3, 8)));
    assert_eq!(under(either, ".global .attribute(.managed) .u32 v<3>;"), Ok((false, 3, 4)));
    assert_eq!(
        under(either, ".const .attribute(.managed) .align 8 .u32 v<3>;"),
        Err(Clause::ManagedOnlyGlobal)
    );
    assert_eq!(under(either, ".global .attribute(.managed) .align 8 .align 8 .u32 v;"), refused);
    assert_eq!(under(either, ".global .attribute(.managed) .u32 .align 8 v;"), refused);
}

#[test]
fn repeated_declarations_in_a_scope_are_undecided() {
    const TWICE: Result<&str, Clause> = Ok("a name that its scope declares more than once");
    for text in [
        ".global .u32 a = 5; .global .u32 a = 6;",
        ".extern .global .u32 a; .global .u32 a = 6;",
        ".global .u32 a; .func a() { ret; }",
        ".func a() { ret; } .global .u32 a;",
        ".func a() { ret; } .func a() { ret; } .global .u32 b;",
        ".global .u32 a<3>; .global .u32 a1;",
        ".global .u32 a1; .global .u32 a<1+2>;",
        ".global .u32 a<12>; .global .u32 a1<3>;",
        ".entry k() { .reg .b32 a1<3>; .reg .b32 a<12>; ret; }",
        ".entry k() { .reg .u32 a; .reg .u32 a; ret; }",
        ".entry k() { .reg .u32 a; { .reg .u32 b; .reg .u64 b; } ret; }",
        ".entry k() { a: .reg .u32 a; ret; }",
        ".entry k() { a: a: ret; }",
        ".entry k(.param .u32 a) { .reg .u32 a; ret; }",
    ] {
        assert_eq!(said(text), TWICE, "{text}");
    }
    for text in [
        ".func a(); .func a() { ret; } .func a(); .global .u64 b = a;",
        ".global .u32 a<3>; .global .u32 a3, a01;",
        ".global .u32 a<10>; .global .u32 a1<3>;",
        ".global .u32 a; .entry k() { .reg .u32 a; { .reg .u64 a; } { .reg .u64 a; } ret; }",
        ".entry k() { .reg .u32 a; ret; } .entry l() { .reg .u32 a; ret; }",
    ] {
        assert_eq!(said(text), Ok("valid"), "{text}");
    }
    // It is not known whose address it is.
    let named = answer(
        Readings::default(),
        ".global .u32 a; .global .u32 a; .global .u64 b = a; .global .u32 c = 7;",
    );
    let Expectation::Accepted { variables, unmodelled, .. } = named else { panic!("{named:?}") };
    assert_eq!((variables.len(), unmodelled.len()), (1, 3));
}

#[test]
fn whose_address_a_name_is_that_scopes_around_it_declare_in_turn_is_undecided() {
    const SEVERAL: Result<&str, Clause> = Ok("a name of which several are declared in scopes around it");
    for text in [
        ".extern .global .u32 a; .entry k() { .global .u64 b = a, a; ret; }",
        ".func a() { ret; } .entry k() { .global .u64 b = a; .shared .u32 a; ret; }",
        ".entry k() { { .shared .u32 a; } .global .u64 b = a; ret; }",
        ".entry a() { .global .u64 b = a; a: ret; }",
        ".entry k() { .global .u32 a; { .shared .u32 a; } .global .u64 b = a; ret; }",
    ] {
        assert_eq!(said(text), SEVERAL, "{text}");
    }
    for text in [
        ".extern .global .u32 a; .entry k() { .global .u64 b = a; ret; }",
        ".global .u32 a; .entry k() { .global .u32 a; .global .u64 b = a; ret; }",
        ".entry k() { .global .u32 a; { .global .u64 b = a; } ret; }",
    ] {
        assert_eq!(said(text), Ok("valid"), "{text}");
    }
}

#[test]
fn a_name_is_unknown_only_where_all_is_understood() {
    assert_eq!(said(".global .u64 a = b;"), Err(Clause::VariableAddress));
    assert_eq!(
        said(".global .u64 a = b; .frob b;"),
        Ok("a name that a statement which is not understood may declare")
    );
    assert!(said(".entry k() { .global .u64 a = b; .frob b; ret; }").is_ok());
    assert_eq!(
        said(".entry k() { .frob b; } .entry l() { .global .u64 a = b; ret; }"),
        Err(Clause::VariableAddress)
    );
}

/// A type of 128 bits holds the 64 bits of the constant; a negative constant has two interpretations.
#[test]
fn an_integer_constant_fills_128_bits() {
    let held = |readings: Readings, values: &str| {
        let text = format!(".version 8.3\n.target sm_80\n.global .b128 x[2] = {{{values}}};");
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let answer = expect(&module, &Rules::specification(readings));
        let asks = answer.trace().questions.contains(Question::UpperHalf);
        let Expectation::Accepted { variables, .. } = answer else { panic!("{answer:?}") };
        let words = variables[0].bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        (words.collect::<Vec<_>>(), asks)
    };
    let (converted, zero) = (Readings::default(), Readings::default().with(Question::UpperHalf, 1).unwrap());
    for readings in [converted, zero] {
        assert_eq!(held(readings, "5, 0x8000000000000000"), (vec![5, 0, 1 << 63, 0], false));
        assert_eq!(held(readings, "-1U, 7 - 9U"), (vec![u64::MAX, 0, u64::MAX - 1, 0], false));
    }
    assert_eq!(held(converted, "-2, 3"), (vec![u64::MAX - 1, u64::MAX, 3, 0], true));
    assert_eq!(held(zero, "-2, 3"), (vec![u64::MAX - 1, 0, 3, 0], true));
}
