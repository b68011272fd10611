//! Known deviations as executable claims.
//!
//! Each entry says how the language of an implementation differs from the specification's: a changed rule, or a crash
//! where a predicate on the evaluation holds. An entry explains a difference only if it predicts exactly what was
//! observed. No entry changes what is expected.

use ptxsmith_oracle::{
    AddressValue, Clause, Integer, Named, Placement, Question, Readings, RefusalClass, Ruled, Rules, Slot,
    Step, Stop, Stored, Trace, Value, Version,
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
    /// Whether it is listed for subjects of this lineage.
    pub fn is_of(&self, lineage: Option<&str>) -> bool {
        lineage == Some(self.lineage)
    }

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
    Known {
        id: "address-always-8-bytes",
        title: "an address is written as 8 bytes also where the variable that holds it has 4, so it reaches beyond it",
        clauses: &[Clause::AddressType],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.address_slot = always_8_bytes),
    },
    Known {
        id: "mask-of-function-accepted",
        title: "mask() takes a byte of the address of a function, though it is for variables",
        clauses: &[Clause::MaskOperand],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.named = mask_of_function_accepted),
    },
    Known {
        id: "mask-of-constant-before-7.3",
        title: "mask() takes a constant already before .version 7.3",
        clauses: &[Clause::MaskConstantNeeds73],
        lineage: "nvidia",
        effect: Effect::Rule(|rules| rules.mask = mask_of_constant_before_7_3),
    },
    Known {
        id: "numbered-prefix-refused",
        title: "the names that PREFIX<N> declares are not found where the prefix ends in a digit",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        effect: Effect::Refusal(|rules| rules.numbered = digit_free_prefix),
    },
];

/// From sm_90 on the addend is read from eight bytes too: what stands in the upper half of it is the next element, or
/// whatever the compiler had in its memory there, which differs from run to run.
fn always_8_bytes(size: u64, byte: Option<u8>, architecture: Option<u32>) -> Slot {
    let own = (Rules::specification(Readings::default()).address_slot)(size, byte, architecture);
    if byte.is_some() || size >= 8 {
        return own;
    }
    Slot { width: 8, addend_bits: if architecture.is_some_and(|sm| sm >= 90) { 32 } else { 64 } }
}

fn mask_of_function_accepted(
    step: &mut Step<'_>,
    version: Version,
    named: Named,
    address: AddressValue,
    byte: Option<u8>,
) -> Ruled<bool> {
    let byte = if matches!(named, Named::Function(_)) { None } else { byte };
    (Rules::specification(step.readings).named)(step, version, named, address, byte)
}

fn mask_of_constant_before_7_3(
    step: &mut Step<'_>,
    version: Version,
    mask: &str,
    operand: Value,
) -> Ruled<Value> {
    let version = if version >= (7, 1) { version.max((7, 3)) } else { version };
    (Rules::specification(step.readings).mask)(step, version, mask, operand)
}

fn digit_free_prefix(prefix: &str, number: &str) -> bool {
    let is_one = Rules::specification(Readings::default()).numbered;
    is_one(prefix, number) && !prefix.ends_with(|c: char| c.is_ascii_digit())
}

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
pub(crate) fn refusals(
    trace: &Trace,
    lineage: Option<&str>,
) -> impl Iterator<Item = (&'static Known, fn(&mut Rules))> {
    KNOWN.iter().filter_map(move |known| match known.effect {
        Effect::Refusal(change) if known.is_of(lineage) && known.touches(trace) => Some((known, change)),
        _ => None,
    })
}
