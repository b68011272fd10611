//! Known deviations of constant expressions: operators, literals, conversions and `mask()`.

use ptxsmith_oracle::{
    Clause, Integer, Question, RefusalClass, Ruled, Step, Stop, Trace, Value, Version,
    rules::{Mask, Number, Ternary},
};
use ptxsmith_syntax::BinaryOp;

use super::entry::RuleChange;

/// The rules that listed deviations follow, and the crashes that rules predict, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    (
        "quotient-overflow-crash",
        RuleChange::Crash(|trace| trace.questions.contains(Question::QuotientOverflow)),
    ),
    ("division-by-zero-crash", RuleChange::Crash(|trace| divides_by_zero(trace, Clause::Division))),
    ("remainder-by-zero-crash", RuleChange::Crash(|trace| divides_by_zero(trace, Clause::RemUnsigned))),
    (
        "remainder-unsigned",
        RuleChange::Rule(|rules| {
            rules.expressions.infix[BinaryOp::Rem as usize].change(|next, step, left, right| {
                Ok(match next.apply(step, left, right)? {
                    Value::Integer(remainder) => Value::Integer(Integer { signed: false, ..remainder }),
                    other => other,
                })
            });
        }),
    ),
    (
        "ternary-not-converted",
        RuleChange::Rule(|rules| rules.expressions.ternary.change(ternary_not_converted)),
    ),
    (
        "float-ternary-refused",
        RuleChange::Rule(|rules| rules.expressions.ternary.change(float_ternary_refused)),
    ),
    ("tiny-decimal-refused", RuleChange::Rule(|rules| rules.expressions.number.change(tiny_decimal_refused))),
    (
        "mask-of-constant-before-7.3",
        RuleChange::Rule(|rules| rules.expressions.mask.change(mask_of_constant_before_7_3)),
    ),
];

fn divides_by_zero(trace: &Trace, operator: Clause) -> bool {
    trace.questions.contains(Question::DivisionByZero) && trace.clauses.contains(operator)
}

fn mask_of_constant_before_7_3(
    next: &Mask,
    step: &mut Step<'_>,
    version: Version,
    mask: &str,
    operand: Value,
) -> Ruled<Value> {
    let version = if version >= (7, 1) { version.max((7, 3)) } else { version };
    next.apply(step, version, mask, operand)
}

fn ternary_not_converted(
    next: &Ternary,
    step: &mut Step<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Ruled<Value> {
    let converted = next.apply(step, condition, then, otherwise)?;
    Ok(match (converted, condition) {
        (Value::Integer(_), Value::Integer(condition)) if condition.bits != 0 => then,
        (Value::Integer(_), Value::Integer(_)) => otherwise,
        _ => converted,
    })
}

fn float_ternary_refused(
    next: &Ternary,
    step: &mut Step<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Ruled<Value> {
    if let (Value::Float(_), Value::Float(_)) = (then.numeric(), otherwise.numeric()) {
        return Err(Stop::refused(RefusalClass::IntegerOnlyOperator, Clause::FloatTernary, step.span));
    }
    next.apply(step, condition, then, otherwise)
}

fn tiny_decimal_refused(next: &Number, step: &mut Step<'_>, text: &[u8]) -> Ruled<Value> {
    let value = next.apply(step, text)?;
    // The clause comes from this literal: a tiny literal before it in the expression would have been refused.
    if step.trace.clauses.contains(Clause::FloatTiny) {
        return step.refuse(RefusalClass::LiteralOutOfRange, Clause::FloatTiny);
    }
    // Whether the number is tiny is decided before rounding. Its double is not tiny, so it is rounded as the
    // number itself would be if exponents had no lower limit.
    let is_least = matches!(value, Value::Float(value) if value == f64::MIN_POSITIVE);
    if is_least && doubled(text).is_some_and(|twice| twice < 2.0 * f64::MIN_POSITIVE) {
        return step.refuse(RefusalClass::LiteralOutOfRange, Clause::FloatDecimal);
    }
    Ok(value)
}

/// Returns the double that is nearest to twice a decimal number; `None` for the exact bits of a float
/// (`0d...`).
fn doubled(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let exponent = text.find(['e', 'E']).unwrap_or(text.len());
    let mut digits = text.as_bytes()[..exponent].to_vec();
    let mut carry = 0;
    for digit in digits.iter_mut().rev().filter(|byte| **byte != b'.') {
        let twice = 2 * digit.checked_sub(b'0').filter(|digit| *digit < 10)? + carry;
        (*digit, carry) = (b'0' + twice % 10, twice / 10);
    }
    format!("{carry}{}{}", String::from_utf8(digits).ok()?, &text[exponent..]).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, Rules, expect};

    #[test]
    fn what_a_condition_chooses_keeps_its_own_type_whichever_it_is() {
        let mut rules = Rules::default();
        rules.expressions.ternary.change(ternary_not_converted);
        let value = |value: &str, rules: &Rules| {
            let text = format!(".version 7.8\n.target sm_80\n.global .u64 x = {value};\n");
            let Expectation::Accepted { variables, .. } =
                expect(&ptxsmith_syntax::parse(&text).unwrap(), rules)
            else {
                panic!("{value}")
            };
            u64::from_le_bytes(variables[0].bytes[..].try_into().unwrap())
        };
        // The common type is .u64, whose right shift brings in zeros; -1 by itself is of type .s64.
        for text in ["(0 ? 1U : -1) >> 63", "(1 ? -1 : 1U) >> 63"] {
            assert_eq!((value(text, &Rules::default()), value(text, &rules)), (1, u64::MAX), "{text}");
        }
    }

    #[test]
    fn what_rounds_to_the_least_normal_double_from_below_is_refused_where_more_exponents_would_keep_it_below()
    {
        let mut rules = Rules::default();
        rules.expressions.number.change(tiny_decimal_refused);
        let is_refused = |number: &str| {
            let text = format!(".version 7.8\n.target sm_80\n.global .f64 x = {number};\n");
            matches!(expect(&ptxsmith_syntax::parse(&text).unwrap(), &rules), Expectation::Refused { .. })
        };
        for number in ["2.2250738585072012e-308", "22250738585072012.0e-324", "1e-310", "1e-400"] {
            assert!(is_refused(number), "{number}");
        }
        for number in
            ["2.2250738585072013e-308", "2.2250738585072014e-308", "0d0010000000000000", "0.0", "5.0e-308"]
        {
            assert!(!is_refused(number), "{number}");
        }
        assert_eq!((doubled(b"9.75e1"), doubled(b"0.5"), doubled(b"0d12")), (Some(195.0), Some(1.0), None));
    }
}
