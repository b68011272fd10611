//! Known deviations as executable claims.
//!
//! Each entry says how the language of an implementation differs from the specification's: a changed rule, or a crash
//! where a predicate on the evaluation holds. An entry explains a difference only if it predicts exactly what was
//! observed, and only in the releases that it lists. No entry changes what is expected. An entry that a listed release no
//! longer shows is reported as well ([`crate::gone`]).

use ptxsmith_oracle::{
    AddressValue, COMPUTED_NAN, Clause, Integer, Named, Question, RefusalClass, Ruled, Rules, Slot, Step,
    Stop, Stored, Trace, Value, Version,
    rules::{AddressOf, Dimension, ElementNamed, Mask, Number, Numbered, SlotOf, Store, Ternary},
};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{BinaryOp, Expr, Module, Opcode, ScalarType, StateSpace};

pub use crate::maker::{Maker, Releases};
use crate::shapes;

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
        /// Whether a module meets it of which nothing is evaluated, since the text does not decide all of it.
        of: fn(&Module) -> bool,
    },
    /// The subject dies of modules of a shape, whatever the text says of them: an implementation may refuse what it does not
    /// understand, but not die of it.
    Death {
        /// How it ends.
        end: End,
        /// Whether a module has the shape.
        of: fn(&Module) -> bool,
    },
    /// The subject takes modules of a shape, which the text refuses by one of the clauses.
    Taken(fn(&Module) -> bool),
    /// The subject refuses modules of a shape, which the text takes.
    Refused(fn(&Module) -> bool),
}

/// How a subject ends that dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Killed by this signal.
    Signal(i32),
    /// Killed by this signal, or it notices and tells of an error of its own.
    Noticed(i32),
    /// It gives no answer in time.
    Hang,
    /// It leaves what cannot be read.
    Broken,
    /// It has no memory left, or gives no answer before.
    Exhausted,
}

impl End {
    /// Whether a subject ended so.
    pub fn is_of(self, observation: &Observation) -> bool {
        match self {
            End::Signal(signal) => observation.signal == Some(signal),
            End::Noticed(signal) => End::Signal(signal).is_of(observation) || End::Broken.is_of(observation),
            End::Hang => observation.outcome == Outcome::TimedOut,
            End::Broken => observation.outcome == Outcome::Crashed && observation.signal.is_none(),
            End::Exhausted => End::Hang.is_of(observation) || End::Broken.is_of(observation),
        }
    }
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
    /// The releases of them that show it.
    pub releases: Releases,
    /// What it does.
    pub effect: Effect,
    /// The least program that shows it, taken by every listed release. A case of the corpus or the specification's
    /// tables, worked out by hand.
    pub example: &'static str,
    /// The day on which it was first seen by this project, `2026-11-21`.
    pub first_seen: &'static str,
}

impl Known {
    /// Whether it is listed for this implementation.
    pub fn is_of(&self, maker: Maker<'_>) -> bool {
        maker.lineage == Some(self.lineage) && self.releases.contain(maker.version)
    }

    /// The other rule that it follows; `None` where it is known by the shape of modules, or is killed.
    pub fn change(&self) -> Option<fn(&mut Rules)> {
        match self.effect {
            Effect::Rule(change) | Effect::Refusal(change) => Some(change),
            Effect::Crash { .. } | Effect::Death { .. } | Effect::Taken(_) | Effect::Refused(_) => None,
        }
    }

    /// The shape of modules by which it is known, where no rule of the specification predicts it.
    pub fn shape(&self) -> Option<fn(&Module) -> bool> {
        match self.effect {
            Effect::Death { of, .. } | Effect::Taken(of) | Effect::Refused(of) => Some(of),
            Effect::Rule(_) | Effect::Refusal(_) | Effect::Crash { .. } => None,
        }
    }

    /// Whether what it does is to kill the subject.
    pub fn kills(&self) -> bool {
        matches!(self.effect, Effect::Crash { .. } | Effect::Death { .. })
    }

    /// Whether to see it takes as much time or memory as a subject may have.
    pub fn exhausts(&self) -> bool {
        matches!(self.effect, Effect::Death { end: End::Hang | End::Exhausted, .. })
    }

    /// Whether an evaluation that rests on this used a clause that the deviation breaks.
    pub fn touches(&self, trace: &Trace) -> bool {
        self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

/// The deviations that are listed for an implementation.
pub fn listed_for(maker: Maker<'_>) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.is_of(maker))
}

/// These rules with all that is known of an implementation.
pub fn with_known(base: &Rules, maker: Maker<'_>) -> Rules {
    base.with(|rules| listed_for(maker).filter_map(Known::change).for_each(|change| change(rules)))
}

/// A program in the oldest version that has what it needs, so that every listed release takes it.
macro_rules! example {
    ($version:literal, $text:literal) => {
        concat!(".version ", $version, "\n.target sm_80\n.address_size 64\n", $text, "\n")
    };
}

macro_rules! ten_times {
    ($text:expr) => {
        concat!($text, $text, $text, $text, $text, $text, $text, $text, $text, $text)
    };
}

macro_rules! thousand_times {
    ($text:literal) => {
        ten_times!(ten_times!(ten_times!($text)))
    };
}

/// Every known deviation.
pub const KNOWN: &[Known] = &[
    Known {
        id: "quotient-overflow-crash",
        title: "INT64_MIN / -1 kills the compiler (SIGFPE)",
        clauses: &[Clause::Division, Clause::FullyDefined],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Crash {
            signal: 8,
            when: |trace| trace.questions.contains(Question::QuotientOverflow),
            of: |_| false,
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
            of: |_| false,
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
            of: |_| false,
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
        id: "incomplete-rows-packed",
        title: "the values of incomplete inner rows are packed to the front of the array",
        clauses: &[Clause::IncompleteInner],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.place.change(|_, at| at.written)),
        example: example!("7.7", ".global .s32 x[2][2] = {{1}, {3}};"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "single-bits-raw-in-f64",
        title: "a single-precision bit pattern is stored unconverted in a double-precision variable",
        clauses: &[Clause::FloatSingleBits, Clause::FloatNarrowing],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.store.change(single_bits_raw)),
        example: example!("7.7", ".global .f64 x = 0f3f800000;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "float-in-small-bits",
        title: "a bit-size type that is smaller than any float takes the low bytes of one",
        clauses: &[Clause::ValueKind],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.store.change(float_in_small_bits)),
        example: example!("7.7", ".global .b16 x = 0d400921FB54442D18;"),
        first_seen: "2026-11-21",
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
        title: "a decimal floating-point literal other than zero but below the least normal double is refused as an overflow",
        clauses: &[Clause::FloatTiny],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.expressions.number.change(tiny_decimal_refused)),
        example: example!("7.7", ".global .f64 x = 1e-310;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "dimension-expression-refused",
        title: "a dimension that is more than one literal is refused, though it may be any constant expression",
        clauses: &[Clause::Dimension],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.layout.dimension.change(dimension_expression_refused)),
        example: example!("7.7", ".global .u8 x[1 + 1];"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "address-always-8-bytes",
        title: "an address is written as 8 bytes also where the variable that holds it has 4, so it reaches beyond it",
        clauses: &[Clause::AddressType],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.slot_of.change(always_8_bytes)),
        example: example!("7.7", ".global .u32 g;\n.global .u32 x = g;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "mask-of-function-accepted",
        title: "mask() takes a byte of the address of a function, though it is for variables",
        clauses: &[Clause::MaskOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.address_of.change(mask_of_function_accepted)),
        example: example!("7.7", ".visible .func f() { ret; }\n.global .u8 x = 0xFF(f);"),
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
    Known {
        id: "function-in-sum-accepted",
        title: "the name of a function is taken as an operand of arithmetic, logic, conversions, comparisons and st",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            let operand = &mut rules.operands.function_operand;
            operand.change(|next, opcode, place| {
                let taken = place > 0 && opcode != Opcode::Ld;
                taken || opcode == Opcode::St || next.apply(opcode, place)
            });
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .u64 p; add.u64 p, f, 4; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "negative-index-unsigned",
        title: "the offset of a constant index is unsigned and of 32 bits, so that a negative or a large one is another",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.element_offset.change(|next, index, step| {
                let offset = next.apply(index, step)?;
                Some(i64::from(offset as u32))
            });
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k(.param .u64 out) { .reg .u64 p, o; mov.u64 p, a[-2]; ld.param.u64 o, [out]; st.global.u64 [o], p; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "wide-offset-accepted",
        title: "an offset of more than 32 bits is taken",
        clauses: &[Clause::OperandOffsetWidth, Clause::OperandAbsolute],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.operands.offset_fits.change(|_, _, _| true)),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, [a + 2147483648]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "missing-element-accepted",
        title: "an element that the vector lacks is taken",
        clauses: &[Clause::VectorElementExists],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.operands.element_named.change(first_for_missing)),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .v2 .u32 v; .reg .u32 r, s; mov.u32 r, 1; mov.v2.u32 v, {r, r}; mov.u32 s, v.z; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        // Whether such an element is taken or kills depends on what the optimizer knows of the vector: one that was never
        // set kills every release, one that was set before kills from 12.3 on, and one whose value is not used is taken.
        id: "missing-element-crash",
        title: "an element that the vector lacks kills the compiler (SIGSEGV)",
        clauses: &[Clause::VectorElementExists],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Crash {
            signal: 11,
            when: |trace| trace.clauses.contains(Clause::VectorElementExists),
            of: shapes::missing_element,
        },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .v2 .u32 v; .reg .u32 c; mov.u32 c, v.z; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "vector-register-address-crash",
        title: "a vector register as an address or an index kills the compiler (SIGSEGV)",
        clauses: &[Clause::OperandRegister],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.9"),
        // A register that may hold an address is asked for its width next.
        effect: Effect::Crash {
            signal: 11,
            when: |trace| {
                trace.clauses.contains(Clause::OperandRegister)
                    && !trace.clauses.contains(Clause::AddressWidth)
            },
            of: shapes::vector_index,
        },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .v2 .u32 v; .reg .u32 r; ld.global.u32 r, [v]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        // The address is followed in 64 bits, but constants in 32 with their sign: after `add p, v, 0x80000006` and an
        // offset of -0x80000000 it is taken for v + 6 - 2^32, which no other access meets, so that a store there is dropped
        // and a load has nothing to load. With -O0 and -O1 both are there.
        id: "local-address-in-32-bits",
        title: "a .local variable is missed by way of an address 2^31 bytes and more behind it",
        clauses: &[Clause::ByteAddresses],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.moved.change(|next, space, bytes| {
                let bytes = if space == StateSpace::Local { i64::from(bytes as i32) } else { bytes };
                next.apply(space, bytes)
            });
            let outside = &mut rules.operands.outside;
            outside.change(|next, space| if space == StateSpace::Local { Ok(()) } else { next.apply(space) });
        }),
        example: example!(
            "7.7",
            ".visible .entry k(.param .u64 out) { .local .u16 v[4]; .reg .u64 o, p; .reg .u16 h; ld.param.u64 o, [out]; mov.u64 p, v; add.u64 p, p, 2147483654; st.local.u16 [p + -2147483648], 7; ld.local.u16 h, [v + 6]; st.global.u16 [o], h; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "subtracted-index-refused",
        title: "an index of a register minus a constant is refused",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| {
            rules.operands.index_operator.change(|next, op| op != BinaryOp::Sub && next.apply(op));
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k() { .reg .u32 r, i; mov.u32 i, 1; ld.global.u32 r, a[i - 1]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "numbered-prefix-refused",
        title: "the names that PREFIX<N> declares are not found where the prefix ends in a digit",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.layout.numbered.change(digit_free_prefix)),
        example: example!("7.7", ".global .u32 a1<2>;\n.global .u64 x = a10;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "padded-number-accepted",
        title: "a name that PREFIX<N> declares is found with zeros in front of its number, and its symbol has them",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.numbered.change(without_zeros)),
        example: example!("7.7", ".global .u32 a<2>;\n.global .u64 x = a01;"),
        first_seen: "2026-11-22",
    },
    Known {
        id: "scalar-for-array-crash",
        title: "a single value for an array whose first dimension is left out or zero kills the compiler (SIGSEGV)",
        clauses: &[Clause::NestingMatches],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::scalar_for_array },
        example: example!("7.7", ".global .u32 x[] = 1;"),
        first_seen: "2026-11-23",
    },
    Known {
        id: "special-register-address-crash",
        title: "a special register as an address kills the compiler (SIGSEGV)",
        clauses: &[Clause::OperandRegister],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::special_register_address },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; st.global.u32 [%laneid], r; ret; }"),
        first_seen: "2026-11-23",
    },
    Known {
        id: "converted-function-crash",
        title: "the name of a function or kernel as the operand of cvt kills the compiler (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::converted_function },
        example: example!(
            "7.7",
            ".func f() { ret; }\n.visible .entry k() { .reg .u64 d; cvt.u64.u32 d, f; ret; }"
        ),
        first_seen: "2026-11-23",
    },
    Known {
        id: "opaque-address-crash",
        title: "a texture or surface as the address of atom, red or prefetch kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::opaque_address },
        example: example!("7.7", ".global .texref t;\n.visible .entry k() { prefetch.global.L1 [t]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "local-atomic-crash",
        title: "a .local variable as the address of a generic atom kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::local_atomic },
        example: example!(
            "7.7",
            ".visible .entry k() { .local .b32 x; .reg .u32 r; atom.add.u32 r, [x], r; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "float-register-sum-crash",
        title: "a floating-point register plus a constant as an operand kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::float_register_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .f64 f; .reg .b32 a, b; mov.b64 {a, b}, f + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "parameter-sum-crash",
        title: "a .param variable of a body plus a constant as an operand kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::parameter_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .param .u32 p; .reg .u32 r; mov.u32 r, p + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "own-parameter-load-crash",
        title: "an ld of a .param variable of the body outside of a call kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "13.3"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::own_parameter_load },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r; .param .u32 x; ld.param.u32 r, [x]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "address-in-list-crash",
        title: "a .local or .param variable in a list of values kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::address_in_list },
        example: example!(
            "7.7",
            ".visible .entry k() { .local .u32 x; .reg .v2 .u32 v; mov.v2.u32 v, {x, x}; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "integer-list-for-f64-crash",
        title: "a list of integer constants as a vector of .f64 kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::integer_list_for_f64 },
        example: example!("7.7", ".visible .entry k() { .reg .v2 .f64 v; mov.v2.f64 v, {1, 1}; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "stored-function-crash",
        title: "the name of a function as the value of an st of a bit-size type, or of a mov of four elements, kills the compiler (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("13.1"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::stored_function },
        example: example!(
            "7.7",
            ".global .u64 g;\n.func f() { ret; }\n.visible .entry k() { st.global.b64 [g], f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "surface-load-list-crash",
        title: "a list as the result of an suld of one value kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::surface_load_list },
        example: example!(
            "7.7",
            ".global .surfref s;\n.visible .entry k() { .reg .b32 r, i; suld.b.1d.b32.trap {r, r}, [s, {i}]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-address-crash",
        title: "_ in place of the address of red kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_address },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; red.global.add.u32 _, r; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-matrix-crash",
        title: "_ as the result of ldmatrix, mma or wmma kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_matrix },
        example: example!(
            "7.7",
            ".shared .align 16 .b8 s[64];\n.visible .entry k() { ldmatrix.sync.aligned.m8n8.x1.shared.b16 _, [s]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-load-crash",
        title: "_ as the result of ld, mov or tex kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.4"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_load },
        example: example!("7.7", ".global .u32 g;\n.visible .entry k() { ld.global.u32 _, [g]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "scalar-coordinate-crash",
        title: "a scalar as the coordinates of tex.a1d kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::scalar_coordinate },
        example: example!(
            "7.7",
            ".global .texref t;\n.visible .entry k() { .reg .u32 r; .reg .v4 .f32 v; tex.a1d.v4.f32.s32 v, [t, r]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "texture-constant-list-crash",
        title: "a list of an integer register and a constant in a texture access kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::mixed_texture_list },
        example: example!(
            "7.7",
            ".global .texref t;\n.visible .entry k() { .reg .u32 r; .reg .v4 .f32 v; tld4.r.2d.v4.f32.f32 v, [t, {r, 1}]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "float-function-crash",
        title: "a function as a floating-point operand kills the compiler where the module has another kernel (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::float_function },
        example: example!(
            "7.7",
            ".func f() { ret; }\n.visible .entry a() { ret; }\n.visible .entry k() { .reg .f32 x; div.rn.f32 x, x, f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "variable-and-function-crash",
        title: "a function that others see, under the name of a variable, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::variable_and_function },
        example: example!("7.7", ".visible .global .u32 x;\n.visible .func x() { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "ntid-overflow-crash",
        title: "a .maxntid or .reqntid of 2^32 - 1 kills the compiler (SIGFPE)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(8), of: shapes::ntid_overflow },
        example: example!("7.7", ".visible .entry k() .maxntid 4294967295 { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "huge-alignment-hang",
        title: "an alignment of 2^28 or more can leave the compiler without an end",
        clauses: &[Clause::AlignPowerOfTwo],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Hang, of: shapes::huge_alignment },
        example: example!("7.7", ".global .align 2147483648 .u8 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "local-alignment-crash",
        title: "a .local variable with a very large alignment (2^26 and more) kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::local_alignment },
        example: example!("7.7", ".visible .entry k() { .local .align 134217728 .u8 x; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "predicate-sum-hang",
        title: "a predicate plus a constant takes all time and memory",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::predicate_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r; .reg .pred p; bar.red.popc.u32 r, 0, p + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "prototype-name-crash",
        title: "a prototype or a list of call targets under the name of a register, a variable or a parameter kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::prototype_name },
        example: example!("7.7", ".visible .entry k() { .reg .u32 x; x: .callprototype _ (); ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "nested-function-crash",
        title: "a function in the body of another, under the name of a register, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::nested_function },
        example: example!("7.7", ".func f() { .reg .u32 x<3>; .func x1() { ret; } ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "unified-absolute-crash",
        title: "an absolute address marked .unified kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::unified_absolute },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [16].unified; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "special-register-name-crash",
        title: "a function or kernel that others see, under the name of a special register, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::special_register_name },
        example: example!("7.7", ".visible .entry %clock() { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "constant-result-crash",
        title: "a number in place of the register for the result of a call kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::constant_result },
        example: example!(
            "7.7",
            ".func (.reg .u32 r) f() { mov.u32 r, 1; ret; }\n.visible .entry k() { call (1), f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "size-in-32-bits",
        title: "the size of a variable of 2^31 bytes or more, and of a row in bits, is kept in 32 bits, so that the cubin is malformed",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Broken, of: shapes::size_of_32_bits },
        example: example!("7.7", ".global .u64 x[2147483648];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "huge-constant-memory",
        title: "a .const or initialized variable of 2^30 bytes or more takes all memory or time",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::huge_constant },
        example: example!("7.7", ".const .u8 x[4294967295];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "numbered-names-memory",
        title: "millions of numbered names take all memory or time",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::too_many_names },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r<2147483647>; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "many-dimensions-hang",
        title: "the time that thousands of dimensions take grows with their cube",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Hang, of: shapes::many_dimensions },
        example: concat!(
            ".version 7.7\n.target sm_80\n.address_size 64\n.global .u32 x",
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            ";\n"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "absolute-address-refused",
        title: "an absolute address is refused in all state spaces but .local",
        clauses: &[Clause::OperandAbsolute],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refused(shapes::absolute_address),
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [16]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "narrow-address-refused",
        title: "a register of 32 bits is refused as an address where addresses have 64",
        clauses: &[Clause::AddressWidth],
        lineage: "nvidia",
        releases: Releases::from("12.1"),
        effect: Effect::Refused(shapes::narrow_address),
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r, p; mov.u32 p, 16; ld.global.u32 r, [p]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "extern-function-relocation",
        title: "the address of an .extern function in a variable of a body is a relocation to no symbol",
        clauses: &[Clause::FunctionAddress],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Broken, of: shapes::extern_function_in_body },
        example: example!("7.7", ".extern .func f();\n.visible .entry k() { .global .u64 x = f; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "opaque-list-crash",
        title: "a list in a list for a texture, sampler or surface kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::opaque_list },
        example: example!("7.7", ".global .texref x = {{}};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "packed-name-crash",
        title: "a name in a list for a .f16x2 variable kills the compiler (SIGSEGV), or is an internal error of it",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Noticed(11), of: shapes::name_in_packed_list },
        example: example!("7.7", ".global .f16x2 x = {x, x};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "packed-list-accepted",
        title: "a list is taken for a .f16x2 variable, a type that takes no initial value",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::packed_list),
        example: example!("7.7", ".global .f16x2 x = {1, 2};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-first-accepted",
        title: ".align is taken before the state space",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::alignment_first),
        example: example!("7.7", ".align 8 .global .u32 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "nameless-declaration-accepted",
        title: "a declaration is taken that names no variable",
        clauses: &[Clause::Named],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::nameless),
        example: example!("7.7", ".global .u32;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-twice-accepted",
        title: "a second .align is taken in one declaration",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::alignment_twice),
        example: example!("7.7", ".global .align 4 .align 16 .u32 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-last-accepted",
        title: ".align is taken behind the type of a kernel's parameter",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("12.9"),
        effect: Effect::Taken(shapes::alignment_last),
        example: example!("7.7", ".visible .entry k(.param .u32 .align 8 x) { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "empty-half-list-accepted",
        title: "a list without values is taken for an array of .f16, a type that takes no initial value",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::empty_list_of_halves),
        example: example!("7.7", ".global .f16 x[2] = {};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "zero-dimension-accepted",
        title: "a first dimension of zero is taken where an initial value stands",
        clauses: &[Clause::Dimension, Clause::LiteralRange],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::zero_dimension_with_value),
        example: example!("7.7", ".global .u8 x[0] = {1};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "padded-number-refused",
        title: "a name of its own is refused that differs by zeros before its number from one of PREFIX<N>",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refused(shapes::padded_number_declared),
        example: example!("7.7", ".visible .entry k() { .reg .u32 x<2>; .reg .u32 x01; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "repeated-number-crash",
        title: "a variable in memory under a name that PREFIX<N> declared before kills the compiler (SIGSEGV)",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.6"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::numbered_declared_again },
        example: example!("7.7", ".global .u32 x<2>;\n.global .u32 x1;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "variable-index-accepted",
        title: "a variable is taken as the index of an array",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::variable_index),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, a[a]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "offset-expression-accepted",
        title: "behind NAME + all of an expression is taken for the offset, operators that bind less included",
        clauses: &[Clause::AddressOffset],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::offset_expression),
        example: example!("7.7", ".global .u32 g;\n.global .u64 x = g + 4 == 4;"),
        first_seen: "2026-11-24",
    },
];

fn divides_by_zero(trace: &Trace, operator: Clause) -> bool {
    trace.questions.contains(Question::DivisionByZero) && trace.clauses.contains(operator)
}

/// From sm_90 on the addend is read from eight bytes too: what stands in the upper half of it is the next element, or
/// whatever the compiler had in its memory there, which differs from run to run.
fn always_8_bytes(next: &SlotOf, size: u64, byte: Option<u8>, architecture: Option<u32>) -> Slot {
    if byte.is_some() || size >= 8 {
        return next.apply(size, byte, architecture);
    }
    Slot { width: 8, addend_bits: if architecture.is_some_and(|sm| sm >= 90) { 32 } else { 64 } }
}

fn mask_of_function_accepted(
    next: &AddressOf,
    step: &mut Step<'_>,
    version: Version,
    named: Named,
    address: AddressValue,
    byte: Option<u8>,
) -> Ruled<bool> {
    let byte = if matches!(named, Named::Function(_)) { None } else { byte };
    next.apply(step, version, named, address, byte)
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

fn digit_free_prefix(next: &Numbered, prefix: &str, number: &str) -> bool {
    next.apply(prefix, number) && !prefix.ends_with(|c: char| c.is_ascii_digit())
}

fn without_zeros(next: &Numbered, prefix: &str, number: &str) -> bool {
    match number.trim_start_matches('0') {
        "" => next.apply(prefix, "0"),
        plain => next.apply(prefix, plain),
    }
}

fn first_for_missing(next: &ElementNamed, letter: &str, count: usize) -> Option<usize> {
    next.apply(letter, count).map(|element| if element < count { element } else { 0 })
}

fn single_bits_raw(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    match value {
        Value::Single(bits) if matches!(ty, ScalarType::F64 | ScalarType::B64) => {
            Ok(Stored::Bits(bits.into()))
        }
        other => next.apply(step, other, ty),
    }
}

fn float_in_small_bits(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    let small = matches!(ty, ScalarType::B8 | ScalarType::B16);
    match value {
        Value::Float(float) if small => Ok(Stored::Bits(float.to_bits())),
        Value::Single(bits) if small => Ok(Stored::Bits(bits.into())),
        Value::ComputedNan if small => Err(Stop::Unmodelled(COMPUTED_NAN)),
        value => next.apply(step, value, ty),
    }
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
    Ok(value)
}

fn dimension_expression_refused(
    next: &Dimension,
    step: &mut Step<'_>,
    dimension: &Expr,
    value: Integer,
) -> Ruled<Integer> {
    if dimension.nodes().len() > 1 {
        return Err(Stop::refused(RefusalClass::Dimension, Clause::Dimension, step.span));
    }
    next.apply(step, dimension, value)
}
