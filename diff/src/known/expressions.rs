//! Known deviations of constant expressions: operators, literals, conversions and `mask()`.

use ptxsmith_oracle::{
    Clause, Integer, Question, RefusalClass, Ruled, Step, Stop, Trace, Value, Version,
    rules::{Mask, Number, Ternary},
};
use ptxsmith_syntax::BinaryOp;

use super::entry::{Effect, Known, example};
use crate::maker::Releases;
use crate::shapes::expressions as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "quotient-overflow-crash",
        title: "INT64_MIN / -1 kills the compiler (SIGFPE)",
        clauses: &[Clause::Division, Clause::FullyDefined],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Crash {
            signal: 8,
            when: |trace| trace.questions.contains(Question::QuotientOverflow),
            of: shapes::quotient_overflows,
        },
        example: example!("7.7", ".global .s64 x = (-9223372036854775807 - 1) / -1;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "division-by-zero-crash",
        title: "an integer division by zero kills the compiler (SIGFPE)",
        clauses: &[Clause::Division, Clause::FullyDefined],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.6"),
        effect: Effect::Crash {
            signal: 8,
            when: |trace| divides_by_zero(trace, Clause::Division),
            of: |module| shapes::divides_by_zero(module, BinaryOp::Div),
        },
        example: example!("7.7", ".global .s64 x = 1 / 0;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "remainder-by-zero-crash",
        title: "a remainder by zero kills the compiler (SIGFPE)",
        clauses: &[Clause::RemUnsigned, Clause::FullyDefined],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.8"),
        effect: Effect::Crash {
            signal: 8,
            when: |trace| divides_by_zero(trace, Clause::RemUnsigned),
            of: |module| shapes::divides_by_zero(module, BinaryOp::Rem),
        },
        example: example!("7.7", ".global .s64 x = 1 % 0;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "remainder-unsigned",
        title: "the result of % is unsigned, though its type is .s64",
        clauses: &[Clause::RemResult],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.expressions.infix[BinaryOp::Rem as usize].change(|next, step, left, right| {
                Ok(match next.apply(step, left, right)? {
                    Value::Integer(remainder) => Value::Integer(Integer { signed: false, ..remainder }),
                    other => other,
                })
            });
        }),
        example: example!("7.7", ".global .s64 x = (-7 % -3) / 2;"),
        first_seen: "2026-11-23",
    },
    Known {
        id: "ternary-not-converted",
        title: "the second and third operands of ?: are not brought to a common type",
        clauses: &[Clause::TernaryConversions],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.ternary.change(ternary_not_converted)),
        example: example!("7.7", ".global .s64 x = (1 ? -1 : 0U) < 0;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "float-ternary-refused",
        title: "?: with floating-point second and third operands is refused",
        clauses: &[Clause::FloatTernary, Clause::TernarySameKind],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.expressions.ternary.change(float_ternary_refused)),
        example: example!("7.7", ".global .f32 x = 1 ? 1.0 : 2.0;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "tiny-decimal-refused",
        title: "a decimal literal below the least normal double is refused as an overflow",
        clauses: &[Clause::FloatTiny, Clause::FloatDecimal],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.expressions.number.change(tiny_decimal_refused)),
        example: example!("7.7", ".global .f64 x = 1e-310;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "mask-of-constant-before-7.3",
        title: "mask() takes a constant already before .version 7.3",
        clauses: &[Clause::MaskConstantNeeds73],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.mask.change(mask_of_constant_before_7_3)),
        example: example!("7.2", ".global .u8 x = 0xFF(1);"),
        first_seen: "2026-11-21",
    },
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
    // No other number of an expression rests on this.
    if step.trace.clauses.contains(Clause::FloatTiny) {
        return step.refuse(RefusalClass::LiteralOutOfRange, Clause::FloatTiny);
    }
    // Twice the number is not tiny, so that it is rounded as the number would be if exponents had no end.
    let is_least = matches!(value, Value::Float(value) if value == f64::MIN_POSITIVE);
    if is_least && doubled(text).is_some_and(|twice| twice < 2.0 * f64::MIN_POSITIVE) {
        return step.refuse(RefusalClass::LiteralOutOfRange, Clause::FloatDecimal);
    }
    Ok(value)
}

/// The double that is nearest to twice a decimal number; `None` for exact bits.
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
        // The common type is .u64, of which the right shift brings in zeros; -1 by itself is of .s64.
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
