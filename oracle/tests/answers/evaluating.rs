//! The evaluator by itself: a tree and the same nodes one by one give the same, and rules may change in between.

use ptxsmith_oracle::{
    Clause, Evaluator, Question, Readings, RefusalClass, Rules, Step, Stop, Stored, Trace,
};
use ptxsmith_syntax::{Assemble, BinaryOp, Expr, NodeKind, ScalarType, Span, parse_expr};

const VERSION: (u32, u32) = (8, 0);

fn assemble(expr: &Expr, into: &mut impl Assemble) {
    assemble_with(expr, into, |into, text| into.number(text.as_bytes()));
}

/// With numbers that were read before, where they have a value.
fn assemble_evaluated(expr: &Expr, rules: &Rules, into: &mut Evaluator<'_>) {
    assemble_with(expr, into, |into, text| {
        let (mut trace, mut pending) = (Trace::default(), None);
        let readings = &rules.readings;
        let mut step = Step { readings, trace: &mut trace, span: Span::NONE, pending: &mut pending };
        match rules.expressions.number.apply(&mut step, text.as_bytes()) {
            Ok(value) if pending.is_none() => into.evaluated(value, trace),
            _ => into.number(text.as_bytes()),
        }
    });
}

fn assemble_with<A: Assemble>(expr: &Expr, into: &mut A, number: impl Fn(&mut A, &str)) {
    for node in expr.nodes() {
        match &node.kind {
            NodeKind::Number(text) => number(into, text),
            NodeKind::WarpSize => into.warp_size(),
            NodeKind::Name(name) => into.name(name),
            NodeKind::Paren(_) => into.paren(),
            NodeKind::Unary(op, _) => into.unary(*op),
            NodeKind::Cast(cast, _) => into.cast(*cast),
            NodeKind::Binary(op, ..) => into.binary(*op),
            NodeKind::Ternary(..) => into.ternary(),
            NodeKind::Generic(_) => into.generic(),
            NodeKind::Mask(mask, _) => into.mask(mask),
        }
    }
}

/// What an expression is to a type, without the place of a refusal, which only text has.
fn plain(stored: Result<Stored, Stop>) -> Result<Stored, String> {
    stored.map_err(|stop| match stop {
        Stop::Refused(refusal) => format!("{} by {}", refusal.class.name(), refusal.clause.id()),
        Stop::Unmodelled(reason) => reason.to_owned(),
    })
}

fn bits(rules: &Rules, text: &str) -> Result<u64, String> {
    let expr = parse_expr(text).unwrap();
    match plain(Evaluator::new(rules, VERSION).store(&expr, ScalarType::S64, &mut Trace::default())) {
        Ok(Stored::Bits(bits)) => Ok(bits),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn assembled_nodes_evaluate_like_their_tree() {
    let rules = Rules::default();
    // One evaluator takes all of them, one after the other, so that nothing of one may be left for the next.
    let mut evaluator = Evaluator::new(&rules, VERSION);
    for text in [
        "1",
        "0x10 + 2 * 3",
        "(1 + 2) * -3",
        "((1)) + ~2",
        "1 ? 2 : 3",
        "WARP_SZ - 1U",
        "(.s64) 5U < 0",
        "1 / 0",
        "1 / 0 + 2",
        "1.5",
        "(0f3f800000)",
        "1 + 2.0",
        "08 + 1",
        "(08)",
        "x",
        "x + 4",
        "generic(x) + 8",
        "generic(x + 8)",
        "(x)",
        "x + (4)",
        "(1 + 2) + generic(x)",
        "0xFF(x + 4)",
        "0xFF00(0x1234)",
        "0xFF(08)",
        "- x",
    ] {
        let expr = parse_expr(text).unwrap();
        for ty in [ScalarType::S64, ScalarType::U8, ScalarType::F32, ScalarType::U64] {
            let mut trace = Trace::default();
            let of_tree = Evaluator::new(&rules, VERSION).store(&expr, ty, &mut trace);
            assemble(&expr, &mut evaluator);
            let (of_nodes, own) = evaluator.stored(ty);
            let of_tree = plain(of_tree);
            assert_eq!(plain(of_nodes), of_tree, "{text} in {}", ty.keyword());
            assert_eq!(own, trace, "{text} in {}", ty.keyword());
            assemble_evaluated(&expr, &rules, &mut evaluator);
            let (of_values, own) = evaluator.stored(ty);
            assert_eq!(plain(of_values), of_tree, "{text} of values in {}", ty.keyword());
            assert_eq!(own, trace, "{text} of values in {}", ty.keyword());
        }
    }
}

#[test]
fn an_address_names_its_variable_by_a_node_of_the_expression() {
    let takes = Question::OffsetFirst.answers().iter().position(|&answer| answer != "refused").unwrap();
    let rules = Rules::specification(Readings::default().with(Question::OffsetFirst, takes).unwrap());
    for text in [
        "x",
        "(x)",
        "generic(x)",
        "x + (1 + 2)",
        "(1 + 2) + x",
        "1 + (x)",
        "(+1 ? 2 : (3)) + x",
        "0xFF((4) + x)",
    ] {
        let expr = parse_expr(text).unwrap();
        let (ty, mut trace) = (ScalarType::U64, Trace::default());
        let Ok(Stored::Address(address, _)) = Evaluator::new(&rules, VERSION).store(&expr, ty, &mut trace)
        else {
            panic!("{text} is an address")
        };
        assert!(matches!(expr.kind(address.name), NodeKind::Name(name) if name == "x"), "{text}");
    }
}

#[test]
fn an_evaluator_follows_other_rules_from_the_next_expression_on() {
    let rules = Rules::default();
    let other = rules.with(|rules| {
        let product = &mut rules.expressions.infix[BinaryOp::Mul as usize];
        product.change(|_, _, _, _| Err(Stop::Unmodelled("another rule")));
    });
    let product = parse_expr("6 * 7").unwrap();
    let mut evaluator = Evaluator::new(&rules, VERSION);
    assemble(&product, &mut evaluator);
    evaluator.follow(&other);
    assemble(&product, &mut evaluator);
    assert_eq!(plain(evaluator.stored(ScalarType::S64).0), Err("another rule".to_owned()));
    evaluator.follow(&rules);
    assemble(&product, &mut evaluator);
    assert_eq!(plain(evaluator.stored(ScalarType::S64).0), Ok(Stored::Bits(42)));
}

#[test]
fn operators_are_grouped_as_a_table_says_except_where_an_address_is_named() {
    let binds_alike = Rules::default().with(|rules| rules.expressions.grouping.change(|_, _| (5, false)));
    assert_eq!(bits(&Rules::default(), "1 + 2 * 3"), Ok(7));
    assert_eq!(bits(&binds_alike, "1 + 2 * 3"), Ok(9));
    assert_eq!(bits(&binds_alike, "1 + (2 * 3)"), Ok(7));
    let address = parse_expr("x + 1 + 2 * 3").unwrap();
    let stored =
        |rules| Evaluator::new(rules, VERSION).store(&address, ScalarType::U64, &mut Trace::default());
    let Ok(Stored::Address(address, None)) = stored(&binds_alike) else { panic!("it is an address") };
    assert_eq!(address.addend, 7);
}

#[test]
fn types_that_take_no_constant_refuse_every_kind_of_it() {
    let rules = Rules::default();
    let stored = |text: &str, ty| {
        let expr = parse_expr(text).unwrap();
        match Evaluator::new(&rules, VERSION).store(&expr, ty, &mut Trace::default()) {
            Ok(_) => None,
            Err(Stop::Refused(refusal)) => Some(refusal.class),
            Err(Stop::Unmodelled(reason)) => panic!("{reason}"),
        }
    };
    for ty in [ScalarType::F16, ScalarType::F16x2, ScalarType::Pred] {
        for text in ["1", "1.0", "0f3f800000", "x"] {
            assert_eq!(
                stored(text, ty),
                Some(RefusalClass::TypeWithoutInitializer),
                "{text} in {}",
                ty.keyword()
            );
        }
    }
    for ty in [ScalarType::F32, ScalarType::F64] {
        assert_eq!(stored("1.0", ty), None);
        assert_eq!(stored("1", ty), Some(RefusalClass::ValueKind));
    }
}

#[test]
fn an_integer_is_wanted_where_a_number_counts() {
    let rules = Rules::default();
    let rule = (RefusalClass::Dimension, Clause::Dimension);
    let refused = |text: &str| {
        let expr = parse_expr(text).unwrap();
        let mut trace = Trace::default();
        match Evaluator::new(&rules, VERSION).integer(&expr, rule, &mut trace) {
            Ok(integer) => Ok(integer.bits),
            Err(Stop::Refused(refusal)) => {
                assert!(trace.clauses.contains(refusal.clause), "{text}: what refuses it is recorded");
                Err((refusal.class, refusal.clause))
            }
            Err(Stop::Unmodelled(reason)) => panic!("{reason}"),
        }
    };
    assert_eq!(refused("6 * 7"), Ok(42));
    assert_eq!(refused("1.0"), Err(rule));
    assert_eq!(refused("x"), Err((RefusalClass::NonConstant, Clause::ConstantOperands)));
    assert_eq!(refused("0xFF(x)"), Err((RefusalClass::NonConstant, Clause::ConstantOperands)));
    assert_eq!(refused("1 / 0"), Err((RefusalClass::DivisionByZero, Clause::Division)));
    assert_eq!(refused("1 % 0 + 1"), Err((RefusalClass::DivisionByZero, Clause::RemUnsigned)));
}
