//! What the default run makes: forms that are seldom written, and feature sets that change from block to
//! block.

use std::collections::BTreeMap;

use ptxsmith_campaign::cases::{BLOCK, Cases};
use ptxsmith_diff::{Header, TrialBody};
use ptxsmith_gen::{Coverage, Focus};
use ptxsmith_syntax::{NodeKind, Number, Radix, ScalarType, read_number};

/// How many cases of the default run have each of these forms: in all, and of those that are wrong on
/// purpose among more.
fn counted(cases: u64, with_negatives: u64) -> BTreeMap<&'static str, u64> {
    let all = Cases::drawn(1, Focus::Mixed, None);
    let mut counts = BTreeMap::new();
    let is_counted = |&index: &u64| index < cases || Focus::Mixed.for_case(index) == Focus::Negatives;
    for index in (0..with_negatives).filter(is_counted) {
        let made = all.made(index, false, &mut Coverage::new());
        let header = made.header.clone().unwrap_or_default();
        let text = made.trial.text(&header);
        let module = made.trial.module(&header);
        let mut count = |form, is_there: bool| *counts.entry(form).or_default() += u64::from(is_there);
        let numbers = |expr: &ptxsmith_syntax::Expr, is: &dyn Fn(&str, Number) -> bool| {
            expr.nodes().iter().any(|node| match &node.kind {
                NodeKind::Number(text) => read_number(text).is_some_and(|number| is(text, number)),
                _ => false,
            })
        };
        let mut of_dimension = false;
        let (mut in_b64, mut long, mut logic) = (false, false, false);
        for declaration in module.declarations() {
            let ty = declaration.scalar_type();
            for declarator in &declaration.declarators {
                of_dimension |= declarator.dimensions.iter().flatten().any(|dimension| {
                    numbers(dimension, &|_, number| {
                        matches!(number, Number::Integer { value: Some(8..), radix: Radix::Octal, .. })
                    })
                });
                for value in declarator.values() {
                    in_b64 |= ty == Some(ScalarType::B64)
                        && numbers(value, &|_, number| matches!(number, Number::SingleBits(_)));
                    long |= numbers(value, &|text, number| {
                        let digits = text.bytes().filter(u8::is_ascii_digit).count();
                        matches!(number, Number::Float(_)) && digits > 40 && text.starts_with("1.")
                    });
                    let is_integer = ty.is_some_and(|ty| {
                        matches!(
                            ty.kind(),
                            ptxsmith_syntax::TypeKind::Signed | ptxsmith_syntax::TypeKind::Unsigned
                        )
                    });
                    logic |= is_integer && is_refused_logic(value);
                }
            }
        }
        count("octal dimension of 8 and more", of_dimension);
        count("0f in .b64", in_b64);
        count("decimal that 19 digits do not decide", long);
        count("integer operator on floats in an integer variable", logic);
        count("bits of single precision behind ?", text.contains("? 0f") || text.contains("? 0F"));
        let unified = text.contains(".const .attribute(.unified");
        count(".unified outside of .global", unified);
        count("comment without a line break at the end", text.ends_with("//"));
        let version: f64 = header.version.parse().unwrap();
        let of_counterpart = made.counterpart.as_ref().and_then(|counterpart| counterpart.1.clone());
        let old = of_counterpart.is_some_and(|header: Header| header.version.parse::<f64>().unwrap() < 3.1);
        count("module before .version 3.1", version < 3.1 || old);
        count("expression", matches!(made.trial.body, TrialBody::Expression { .. }));
    }
    counts
}

/// `!1.0`, `1.0 && 2.0`: an operator of integers whose operands have no integer.
fn is_refused_logic(value: &ptxsmith_syntax::Expr) -> bool {
    use ptxsmith_syntax::{BinaryOp, UnaryOp};
    let is_float = |id| {
        value.part(id).nodes().iter().all(|node| match &node.kind {
            NodeKind::Number(text) => !matches!(read_number(text), Some(Number::Integer { .. })),
            NodeKind::WarpSize => false,
            _ => true,
        })
    };
    match value.kind(value.root()) {
        NodeKind::Unary(UnaryOp::Not, operand) => is_float(*operand),
        NodeKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, left, right) => {
            is_float(*left) && is_float(*right)
        }
        _ => false,
    }
}

#[test]
fn the_default_run_makes_forms_that_are_seldom_written() {
    let counts = counted(40_000, 160_000);
    for (form, count) in counts {
        assert!(count >= 2, "{form}: {count} cases");
    }
}

#[test]
fn feature_sets_change_from_block_to_block_and_every_second_block_has_all() {
    let all = Cases::drawn(1, Focus::Initializers, None);
    let features = [".const ", ".f32", ".v2", "0x", ".align", "U,", ".visible", "WARP_SZ", "(.s64)", "[]"];
    let (mut lacking, mut having) = ([0_u32; 10], [0_u32; 10]);
    for block in 0..40 {
        let mut text = String::new();
        for index in block * BLOCK..block * BLOCK + BLOCK / 2 {
            text += &all.made(index, false, &mut Coverage::new()).trial.text(&Header::default());
        }
        for (nth, feature) in features.iter().enumerate() {
            let has = text.contains(feature);
            assert!(has || block % 2 == 1, "block {block} has no {feature}");
            *if has { &mut having[nth] } else { &mut lacking[nth] } += (block % 2) as u32;
        }
    }
    for (nth, feature) in features.iter().enumerate() {
        assert!(lacking[nth] >= 2 && having[nth] >= 2, "{feature}: {} of 20 blocks lack it", lacking[nth]);
    }
}

#[test]
fn a_case_is_the_same_whichever_cases_were_made_before_it() {
    let all = Cases::drawn(7, Focus::Mixed, None);
    let text = |index| all.made(index, false, &mut Coverage::new()).trial.text(&Header::default());
    let asked: Vec<u64> = (0..60).map(|nth| nth * 397).collect();
    let forwards: Vec<String> = asked.iter().map(|&index| text(index)).collect();
    let backwards: Vec<String> = asked.iter().rev().map(|&index| text(index)).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
}
