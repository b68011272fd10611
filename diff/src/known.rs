//! Known deviations as executable claims.
//!
//! Each entry says how the language of an implementation differs from the specification's: a changed rule, or a crash
//! where a predicate on the evaluation holds. An entry explains a difference only if it predicts exactly what was
//! observed. No entry changes what is expected.

use ptxsmith_oracle::{
    Clause, Integer, Placement, Question, RefusalClass, Ruled, Rules, Step, Stop, Stored, Trace, Value,
};
use ptxsmith_syntax::{Expr, Number, ScalarType, read_number};

/// What a deviation does.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Another rule is followed, which gives another value.
    Rule(fn(&mut Rules)),
    /// Another rule is followed, which refuses what the specification takes.
    Refusal(fn(&mut Rules)),
    /// The subject is killed by this signal where the predicate holds.
    Crash {
        /// The signal.
        signal: i32,
        /// Whether an evaluation that rests on this meets it.
        when: fn(&Trace) -> bool,
    },
}

/// A deviation that was reported before.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its stable name.
    pub id: &'static str,
    /// What happens, in a line.
    pub title: &'static str,
    /// The clauses that it breaks.
    pub clauses: &'static [Clause],
    /// The implementations that show it: lineage.
    pub lineage: &'static str,
    /// What it does.
    pub effect: Effect,
}

impl Known {
    /// Whether an evaluation that rests on this used a clause that the deviation breaks.
    pub fn touches(&self, trace: &Trace) -> bool {
        self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

/// Every known deviation.
pub const KNOWN: &[Known] = &[
    Known {
        id: "quotient-overflow-crash",
        title: "INT64_MIN / -1 kills the compiler (SIGFPE)",
        clauses: &[Clause::Division, Clause::FullyDefined],
        lineage: "nvidia",
        effect: Effect::Crash {
            signal: 8,
            when: |trace| trace.questions.contains(Question::QuotientOverflow),
        },
    },
    Known {
        id: "incomplete-rows-packed",
        title: "the values of incomplete inner rows are packed to the front of the array",
        clauses: &[Clause::IncompleteInner],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.place = packed),
    },
    Known {
        id: "single-bits-raw-in-f64",
        title: "a single-precision bit pattern is stored unconverted in a double-precision variable",
        clauses: &[Clause::FloatSingleBits, Clause::FloatNarrowing],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.store = single_bits_raw),
    },
    Known {
        id: "ternary-not-converted",
        title: "the second and third operands of ?: are not brought to a common type",
        clauses: &[Clause::TernaryConversions],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.ternary = ternary_not_converted),
    },
    Known {
        id: "float-ternary-refused",
        title: "?: with floating-point second and third operands is refused",
        clauses: &[Clause::FloatTernary, Clause::TernarySameKind],
        lineage: "nvidia",
        effect: Effect::Refusal(|rules| rules.ternary = float_ternary_refused),
    },
    Known {
        id: "tiny-decimal-refused",
        title: "a decimal floating-point literal other than zero but below the least normal double is refused as an overflow",
        clauses: &[Clause::FloatDecimal],
        lineage: "nvidia",
        effect: Effect::Refusal(|rules| rules.number = tiny_decimal_refused),
    },
    Known {
        id: "dimension-expression-refused",
        title: "a dimension that is more than one literal is refused, though it may be any constant expression",
        clauses: &[Clause::Dimension],
        lineage: "nvidia",
        effect: Effect::Refusal(|rules| rules.dimension = dimension_expression_refused),
    },
];

fn packed(at: Placement) -> u64 {
    at.written
}

fn single_bits_raw(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    match value {
        Value::Single(bits) if matches!(ty, ScalarType::F64 | ScalarType::B64) => {
            Ok(Stored::Bits(bits.into()))
        }
        other => (Rules::specification(step.readings).store)(step, other, ty),
    }
}

fn ternary_not_converted(
    step: &mut Step<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Ruled<Value> {
    let converted = (Rules::specification(step.readings).ternary)(step, condition, then, otherwise)?;
    Ok(match (converted, condition) {
        (Value::Integer(_), Value::Integer(condition)) if condition.bits != 0 => then,
        (Value::Integer(_), Value::Integer(_)) => otherwise,
        _ => converted,
    })
}

fn float_ternary_refused(
    step: &mut Step<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Ruled<Value> {
    if let (Value::Float(_), Value::Float(_)) = (then.numeric(), otherwise.numeric()) {
        return Err(Stop::refused(RefusalClass::IntegerOnlyOperator, Clause::FloatTernary, step.span));
    }
    (Rules::specification(step.readings).ternary)(step, condition, then, otherwise)
}

fn tiny_decimal_refused(step: &mut Step<'_>, text: &str) -> Ruled<Value> {
    if let Some(Number::Float(value)) = read_number(text)
        && (value.is_subnormal() || value == 0.0 && text.split(['e', 'E']).next().is_some_and(nonzero))
    {
        return Err(Stop::refused(RefusalClass::LiteralOutOfRange, Clause::FloatDecimal, step.span));
    }
    (Rules::specification(step.readings).number)(step, text)
}

/// Whether any digit of a decimal number is not zero.
fn nonzero(digits: &str) -> bool {
    digits.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
}

fn dimension_expression_refused(step: &mut Step<'_>, dimension: &Expr, value: Integer) -> Ruled<Integer> {
    if dimension.nodes().len() > 1 {
        return Err(Stop::refused(RefusalClass::Dimension, Clause::Dimension, step.span));
    }
    (Rules::specification(step.readings).dimension)(step, dimension, value)
}

/// The known deviations that refuse something which an evaluation resting on this met.
pub(crate) fn refusals(trace: &Trace) -> impl Iterator<Item = (&'static Known, fn(&mut Rules))> {
    KNOWN.iter().filter_map(|known| match known.effect {
        Effect::Refusal(change) if known.touches(trace) => Some((known, change)),
        _ => None,
    })
}
