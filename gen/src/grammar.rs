//! The grammar table: every form that the generator can produce.
//!
//! The generator, the coverage of productions and of their pairs, and the printed grammar all use [`GRAMMAR`]. A new form
//! is one entry. The smallest production of each nonterminal comes first, because the generator chooses it when the bytes
//! have run out.

use ptxsmith_syntax::{
    BinaryOp::{self, *},
    Cast, Linkage, Radix, ScalarType, StateSpace, UnaryOp, VectorLength,
};

pub use crate::nonterminal::{Nonterminal, ProductionId};
use crate::{
    address as a, boundary,
    choice::{AddressForm, ChosenValue::*, DataForm},
    config::{Config, Odds},
    declare as d,
    draft::{Expansion, PieceMaker::*},
    number as n, operands as o,
};

/// How often a production is chosen.
#[derive(Clone, Copy, Debug)]
pub enum Weight {
    /// Relative to the other productions of the nonterminal.
    Of(u16),
    /// With the odds of a configuration knob, independent of the weights of other productions.
    Odds(fn(&Config) -> Odds),
}

/// One form of a nonterminal.
#[derive(Debug)]
pub struct Production {
    /// The full name: nonterminal, slash, form, such as `integer/literal`.
    pub name: &'static str,
    /// The nonterminal that the production expands.
    pub of: Nonterminal,
    /// The main clause of the specification that it exercises.
    pub clause: &'static str,
    /// How often the generator chooses it.
    pub weight: Weight,
    /// Whether a configuration enables the production.
    pub allowed: fn(&Config) -> bool,
    pub(crate) form: Expansion,
}

impl ProductionId {
    /// Returns the production.
    pub fn get(self) -> &'static Production {
        &GRAMMAR[self.index()]
    }

    /// Returns true for the first and smallest production of a nonterminal.
    pub fn is_first(self) -> bool {
        self.0 == 0 || GRAMMAR[self.index() - 1].of != self.get().of
    }
}

impl Production {
    /// Looks up a production by its full name.
    pub fn by_name(name: &str) -> Option<ProductionId> {
        productions().find(|id| id.get().name == name)
    }

    /// Returns the nonterminals on the right-hand side, in order.
    pub fn parts(&self) -> impl Iterator<Item = Nonterminal> {
        let (fixed, more): ([Option<Nonterminal>; 3], &[Nonterminal]) = match self.form {
            Same(a) | Paren(a) | Prefix(_, a) | Expansion::Cast(_, a) => ([Some(a), None, None], &[]),
            Infix(_, a, b) => ([Some(a), Some(b), None], &[]),
            Ternary(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
            Made(_, parts, _) | Number(parts, _) | Piece(parts, _) => ([None; 3], parts),
            Expansion::Type(_) | Expansion::Space(_) | Expansion::Choice(_) => ([None; 3], &[]),
        };
        fixed.into_iter().flatten().chain(more.iter().copied())
    }

    /// Returns the number of nodes that the production adds to the nodes of its parts. For [`Made`], the minimum number of all its
    /// nodes.
    pub(crate) fn own_nodes(&self) -> u32 {
        match self.form {
            Same(_) | Piece(..) | Expansion::Type(_) | Expansion::Space(_) | Expansion::Choice(_) => 0,
            Paren(_) | Prefix(..) | Expansion::Cast(..) | Infix(..) | Ternary(..) | Number(..) => 1,
            Made(nodes, ..) => nodes,
        }
    }
}

const _: () = assert!(GRAMMAR.len() <= ProductionId::NONE.index(), "the last place is that of no production");

/// Returns all productions in table order.
pub fn productions() -> impl Iterator<Item = ProductionId> {
    (0..GRAMMAR.len()).map(|i| ProductionId(i as u16))
}

const fn row(
    name: &'static str,
    of: Nonterminal,
    clause: &'static str,
    weight: u16,
    allowed: fn(&Config) -> bool,
    form: Expansion,
) -> Production {
    Production { name, of, clause, weight: Weight::Of(weight), allowed, form }
}

const fn odd(
    name: &'static str,
    of: Nonterminal,
    clause: &'static str,
    odds: fn(&Config) -> Odds,
    allowed: fn(&Config) -> bool,
    form: Expansion,
) -> Production {
    Production { name, of, clause, weight: Weight::Odds(odds), allowed, form }
}

const fn always(_: &Config) -> bool {
    true
}
const fn bitwise(c: &Config) -> bool {
    c.integer_operators
}
const fn casts(c: &Config) -> bool {
    c.casts
}
const fn ternaries(c: &Config) -> bool {
    c.ternaries
}
const fn floats(c: &Config) -> bool {
    c.floats
}
const fn narrow(c: &Config) -> bool {
    c.narrow_types
}
const fn floats_in_bits(c: &Config) -> bool {
    c.floats && c.floats_in_bits
}
const fn single_bits_elsewhere(c: &Config) -> bool {
    c.floats && c.single_bits_elsewhere
}
const fn suffix(c: &Config) -> bool {
    c.unsigned_suffix
}
const fn radixes(c: &Config) -> bool {
    c.radixes
}
const fn odd_names(c: &Config) -> bool {
    c.odd_names
}
const fn masks(c: &Config) -> bool {
    c.masks
}
const fn operands(c: &Config) -> bool {
    c.operands
}
const fn vectors(c: &Config) -> bool {
    c.vectors
}

use Expansion::{Infix, Made, Number, Paren, Piece, Prefix, Same, Ternary};
use Nonterminal as N;

/// Checks that there is a production for every operator and for every type that can have an initializer.
const _: () = {
    let (mut prefix, mut cast) = ([false; UnaryOp::ALL.len()], [false; Cast::ALL.len()]);
    let mut infix = [false; BinaryOp::ALL.len()];
    let mut types = [false; ScalarType::ALL.len()];
    let mut at = 0;
    while at < GRAMMAR.len() {
        match GRAMMAR[at].form {
            Prefix(op, _) => prefix[op as usize] = true,
            Expansion::Cast(op, _) => cast[op as usize] = true,
            Infix(op, ..) => infix[op as usize] = true,
            Expansion::Type(ty) => types[ty as usize] = true,
            _ => {}
        }
        at += 1;
    }
    at = 0;
    while at < types.len() {
        assert!(types[at] || !ScalarType::ALL[at].takes_value(), "a type without a production");
        at += 1;
    }
    assert!(all(&prefix) && all(&cast) && all(&infix), "an operator without a production");
};

const fn all(seen: &[bool]) -> bool {
    match seen {
        [] => true,
        [first, rest @ ..] => *first && all(rest),
    }
}

/// The table.
#[rustfmt::skip]
pub static GRAMMAR: &[Production] = &[
    // Integer expressions (4.5.1, 4.5.4, 4.5.5)
    row("integer/literal", N::Integer, "4.5.1/literal-signed", 40, always, Number(&[N::Magnitude, N::Spelling, N::Suffix], n::literal)),
    row("integer/negative", N::Integer, "4.5.1/literal-non-negative", 24, always, Prefix(UnaryOp::Minus, N::Literal)),
    row("integer/warp-size", N::Integer, "4.5.1/warp-size", 3, |c| c.warp_size, Made(1, &[], n::warp_size)),
    row("integer/least", N::Integer, "4.5.5/fully-defined", 1, casts, Same(N::Least)),
    odd("integer/huge", N::Integer, "4.5.1/literal-range", |c| c.huge_literal, always, Number(&[], n::huge)),
    row("integer/plus", N::Integer, "4.5.4/unary-plus", 3, always, Prefix(UnaryOp::Plus, N::Integer)),
    row("integer/minus", N::Integer, "4.5.4/unary-minus", 5, always, Prefix(UnaryOp::Minus, N::Integer)),
    row("integer/not", N::Integer, "4.5.5/not-signed", 4, bitwise, Prefix(UnaryOp::Not, N::Integer)),
    row("integer/complement", N::Integer, "4.5.5/complement-unsigned", 6, bitwise, Prefix(UnaryOp::Complement, N::Integer)),
    row("integer/cast-s64", N::Integer, "4.5.5/cast-s64", 5, casts, Expansion::Cast(Cast::S64, N::Integer)),
    row("integer/cast-u64", N::Integer, "4.5.5/cast-u64", 4, casts, Expansion::Cast(Cast::U64, N::Integer)),
    odd("integer/parentheses", N::Integer, "4.5.4/parentheses", |c| c.redundant_parentheses, always, Paren(N::Integer)),
    row("integer/multiply", N::Integer, "4.5.5/multiplication", 6, always, Infix(Mul, N::Integer, N::Integer)),
    row("integer/divide", N::Integer, "4.5.5/division", 8, always, Infix(Div, N::Integer, N::Divisor)),
    row("integer/remainder", N::Integer, "4.5.5/rem-unsigned", 7, bitwise, Infix(Rem, N::Integer, N::Divisor)),
    odd("integer/overflow", N::Integer, "4.5.5/division", |c| c.quotient_overflow, casts, Same(N::Overflow)),
    row("integer/add", N::Integer, "4.5.5/addition", 7, always, Infix(Add, N::Integer, N::Integer)),
    row("integer/subtract", N::Integer, "4.5.5/subtraction", 7, always, Infix(Sub, N::Integer, N::Integer)),
    row("integer/shift-right", N::Integer, "4.5.5/shift-right-arithmetic", 8, bitwise, Infix(Shr, N::Integer, N::ShiftCount)),
    row("integer/shift-left", N::Integer, "4.5.5/shift-left", 6, bitwise, Infix(Shl, N::Integer, N::ShiftCount)),
    row("integer/less", N::Integer, "4.5.5/less", 3, bitwise, Infix(Lt, N::Integer, N::Integer)),
    row("integer/greater", N::Integer, "4.5.5/greater", 3, bitwise, Infix(Gt, N::Integer, N::Integer)),
    row("integer/less-equal", N::Integer, "4.5.5/less-equal", 3, bitwise, Infix(Le, N::Integer, N::Integer)),
    row("integer/greater-equal", N::Integer, "4.5.5/greater-equal", 3, bitwise, Infix(Ge, N::Integer, N::Integer)),
    row("integer/equal", N::Integer, "4.5.5/equal", 3, bitwise, Infix(Eq, N::Integer, N::Integer)),
    row("integer/not-equal", N::Integer, "4.5.5/not-equal", 3, bitwise, Infix(Ne, N::Integer, N::Integer)),
    row("integer/and", N::Integer, "4.5.5/bitwise-and", 5, bitwise, Infix(And, N::Integer, N::Integer)),
    row("integer/xor", N::Integer, "4.5.5/bitwise-xor", 5, bitwise, Infix(Xor, N::Integer, N::Integer)),
    row("integer/or", N::Integer, "4.5.5/bitwise-or", 5, bitwise, Infix(Or, N::Integer, N::Integer)),
    row("integer/logical-and", N::Integer, "4.5.5/logical-and", 3, bitwise, Infix(LogicalAnd, N::Truth, N::Truth)),
    row("integer/logical-or", N::Integer, "4.5.5/logical-or", 3, bitwise, Infix(LogicalOr, N::Truth, N::Truth)),
    row("integer/ternary", N::Integer, "4.5.5/ternary-selection", 6, ternaries, Ternary(N::Truth, N::Integer, N::Integer)),
    row("integer/ternary-signed-unsigned", N::Integer, "4.5.5/ternary-conversions", 3, ternaries, Ternary(N::Truth, N::Signed, N::Unsigned)),
    row("integer/ternary-unsigned-signed", N::Integer, "4.5.5/ternary-conversions", 3, ternaries, Ternary(N::Truth, N::Unsigned, N::Signed)),
    row("integer/float-less", N::Integer, "4.5.6/float-comparison", 1, floats, Infix(Lt, N::Float, N::Float)),
    row("integer/float-greater", N::Integer, "4.5.6/float-comparison", 1, floats, Infix(Gt, N::Float, N::Float)),
    row("integer/float-less-equal", N::Integer, "4.5.6/float-comparison", 1, floats, Infix(Le, N::Float, N::Float)),
    row("integer/float-greater-equal", N::Integer, "4.5.6/float-comparison", 1, floats, Infix(Ge, N::Float, N::Float)),
    row("integer/float-equal", N::Integer, "4.5.6/float-equality", 1, floats, Infix(Eq, N::Float, N::Float)),
    row("integer/float-not-equal", N::Integer, "4.5.6/float-equality", 1, floats, Infix(Ne, N::Float, N::Float)),

    // Integer constants and their spelling (4.5.1)
    row("literal/plain", N::Literal, "4.5.1/integer-width", 1, always, Number(&[N::Magnitude, N::Spelling, N::Suffix], n::literal)),
    row("magnitude/small", N::Magnitude, "4.5.1/literal-signed", 5, always, Piece(&[], Magnitude(|d| d.pick(&boundary::SMALL)))),
    row("magnitude/boundary", N::Magnitude, "4.5.1/literal-unsigned-by-magnitude", 6, always, Piece(&[], Magnitude(|d| d.pick(&boundary::INTEGERS)))),
    row("magnitude/type-limit", N::Magnitude, "4.5.1/narrowing", 3, always, Piece(&[], Magnitude(|d| d.pick(&boundary::TYPE_LIMITS)))),
    row("magnitude/some-bits", N::Magnitude, "4.5.1/integer-width", 3, always, Piece(&[], Magnitude(n::some_bits))),
    row("magnitude/all-bits", N::Magnitude, "4.5.1/integer-width", 1, always, Piece(&[], Magnitude(n::all_bits))),
    row("spelling/decimal", N::Spelling, "4.5.1/literal-decimal", 12, always, Expansion::Choice(Radix(Radix::Decimal))),
    row("spelling/hexadecimal", N::Spelling, "4.5.1/literal-hexadecimal", 8, radixes, Expansion::Choice(Radix(Radix::Hexadecimal))),
    row("spelling/octal", N::Spelling, "4.5.1/literal-octal", 2, radixes, Expansion::Choice(Radix(Radix::Octal))),
    row("spelling/binary", N::Spelling, "4.5.1/literal-binary", 2, radixes, Expansion::Choice(Radix(Radix::Binary))),
    row("suffix/none", N::Suffix, "4.5.1/literal-signed", 3, always, Expansion::Choice(Unsigned(false))),
    row("suffix/unsigned", N::Suffix, "4.5.1/literal-unsigned-by-suffix", 1, suffix, Expansion::Choice(Unsigned(true))),
    row("signed/negative", N::Signed, "4.5.5/plus-minus-keep-type", 4, always, Made(2, &[N::Magnitude, N::Spelling], n::negative)),
    row("signed/least", N::Signed, "4.5.5/fully-defined", 1, casts, Same(N::Least)),
    row("unsigned/suffixed", N::Unsigned, "4.5.1/literal-unsigned-by-suffix", 4, always, Number(&[N::Magnitude, N::Spelling], n::unsigned)),
    row("unsigned/cast", N::Unsigned, "4.5.5/cast-u64", 1, casts, Expansion::Cast(Cast::U64, N::Literal)),
    row("unsigned/complement", N::Unsigned, "4.5.5/complement-unsigned", 1, bitwise, Prefix(UnaryOp::Complement, N::Literal)),
    row("one/literal", N::One, "4.5.1/literal-signed", 1, always, Number(&[N::Spelling, N::Suffix], n::one)),
    row("low-bits/literal", N::LowBits, "4.5.1/narrowing", 1, always, Number(&[N::Spelling], n::low_bits)),

    // Where division and shifting need care (4.5.5)
    row("truth/bit", N::Truth, "4.5.5/ternary-condition", 2, always, Number(&[N::Spelling], n::bit)),
    row("truth/any", N::Truth, "4.5.5/ternary-condition", 4, always, Same(N::Integer)),
    row("truth/and", N::Truth, "4.5.5/logical-and", 1, bitwise, Infix(LogicalAnd, N::Truth, N::Truth)),
    row("truth/or", N::Truth, "4.5.5/logical-or", 1, bitwise, Infix(LogicalOr, N::Truth, N::Truth)),
    row("overflow/quotient", N::Overflow, "4.5.5/division", 1, casts, Infix(Div, N::Least, N::MinusOne)),
    row("overflow/remainder", N::Overflow, "4.5.5/rem-unsigned", 1, casts, Infix(Rem, N::Least, N::MinusOne)),
    row("divisor/literal", N::Divisor, "4.5.5/division", 6, always, Number(&[N::Magnitude, N::Spelling, N::Suffix], n::nonzero)),
    row("divisor/negative", N::Divisor, "4.5.5/division", 4, always, Made(2, &[N::Magnitude, N::Spelling, N::Suffix], n::negative_nonzero)),
    row("divisor/odd", N::Divisor, "4.5.5/division", 4, bitwise, Infix(Or, N::Integer, N::One)),
    odd("divisor/any", N::Divisor, "4.5.5/division", |c| c.unguarded_divisor, always, Same(N::Integer)),
    odd("divisor/zero", N::Divisor, "4.5.5/division", |c| c.division_by_zero, always, Number(&[N::Spelling, N::Suffix], n::zero)),
    row("shift-count/within", N::ShiftCount, "4.5.5/shift-count-unsigned", 1, always, Number(&[N::Spelling, N::Suffix], n::shift_count)),
    odd("shift-count/wide", N::ShiftCount, "4.5.5/shift-count-unsigned", |c| c.wide_shift, always, Number(&[N::Spelling, N::Suffix], n::wide_shift_count)),
    odd("shift-count/minus-one", N::ShiftCount, "4.5.5/shift-count-unsigned", |c| Odds::new(c.wide_shift.hits, c.wide_shift.of.saturating_mul(4)), always, Prefix(UnaryOp::Minus, N::One)),
    odd("shift-count/any", N::ShiftCount, "4.5.5/shift-count-unsigned", |c| c.unguarded_shift, always, Same(N::Integer)),
    row("least/cast", N::Least, "4.5.5/cast-s64", 2, casts, Made(2, &[N::Spelling], n::least_cast)),
    row("least/shift", N::Least, "4.5.5/shift-left", 2, bitwise, Made(3, &[N::Spelling], n::least_shift)),
    row("least/difference", N::Least, "4.5.5/subtraction", 3, always, Made(4, &[N::Spelling], n::least_difference)),
    row("minus-one/minus", N::MinusOne, "4.5.4/unary-minus", 3, always, Made(2, &[N::Spelling], n::minus_one)),
    row("minus-one/difference", N::MinusOne, "4.5.5/subtraction", 1, always, Made(3, &[N::Spelling], n::minus_one_difference)),
    row("minus-one/cast", N::MinusOne, "4.5.5/cast-s64", 1, casts, Made(2, &[N::Spelling], n::minus_one_cast)),

    // Float expressions (4.5.2, 4.5.6)
    row("float/literal", N::Float, "4.5.2/float-decimal", 20, always, Same(N::FloatLiteral)),
    row("float/negative", N::Float, "4.5.6/float-unary", 8, always, Prefix(UnaryOp::Minus, N::FloatLiteral)),
    odd("float/out-of-range", N::Float, "4.5.2/float-decimal", |c| c.float_out_of_range, always, Number(&[], n::decimal_out_of_range)),
    odd("float/denormal-decimal", N::Float, "4.5.2/float-tiny", |c| c.denormal_decimal, always, Number(&[], n::denormal_decimal)),
    row("float/plus", N::Float, "4.5.6/float-unary", 2, always, Prefix(UnaryOp::Plus, N::Float)),
    row("float/minus", N::Float, "4.5.6/float-unary", 4, always, Prefix(UnaryOp::Minus, N::Float)),
    odd("float/parentheses", N::Float, "4.5.4/parentheses", |c| c.redundant_parentheses, always, Paren(N::Float)),
    row("float/multiply", N::Float, "4.5.6/float-arithmetic", 7, always, Infix(Mul, N::Float, N::Float)),
    row("float/divide", N::Float, "4.5.6/float-arithmetic", 7, always, Infix(Div, N::Float, N::FloatDivisor)),
    row("float/add", N::Float, "4.5.6/float-arithmetic", 8, always, Infix(Add, N::Float, N::Float)),
    row("float/subtract", N::Float, "4.5.6/float-arithmetic", 8, always, Infix(Sub, N::Float, N::Float)),
    odd("float/ternary", N::Float, "4.5.6/float-ternary", |c| c.float_ternary, ternaries, Ternary(N::Truth, N::Float, N::Float)),
    row("float-literal/boundary-decimal", N::FloatLiteral, "4.5.2/float-decimal", 5, always, Number(&[], n::boundary_decimal)),
    row("float-literal/decimal", N::FloatLiteral, "4.5.2/float-exponent", 6, always, Number(&[], n::decimal)),
    row("float-literal/boundary-double", N::FloatLiteral, "4.5.2/float-double-bits", 3, always, Number(&[], n::boundary_double)),
    row("float-literal/double", N::FloatLiteral, "4.5.2/float-double-bits", 2, always, Number(&[], n::double)),
    row("float-literal/near-halfway", N::FloatLiteral, "4.5.2/float-narrowing", 3, always, Number(&[], n::near_halfway)),
    row("float-literal/not-a-number", N::FloatLiteral, "4.5.2/float-double-bits", 1, |c| c.nans, Number(&[], n::double_nan)),
    row("float-divisor/decimal", N::FloatDivisor, "4.5.6/float-arithmetic", 4, always, Number(&[], n::nonzero_decimal)),
    row("float-divisor/negative", N::FloatDivisor, "4.5.6/float-arithmetic", 1, always, Made(2, &[], n::negative_decimal)),
    odd("float-divisor/any", N::FloatDivisor, "4.5.6/float-arithmetic", |c| c.unguarded_divisor, always, Same(N::Float)),
    odd("float-divisor/zero", N::FloatDivisor, "4.5.6/float-arithmetic", |c| c.division_by_zero, always, Number(&[], n::float_zero)),
    row("single-bits/boundary", N::SingleBits, "4.5.2/float-single-bits", 3, always, Number(&[], n::boundary_single)),
    row("single-bits/any", N::SingleBits, "4.5.2/float-single-bits", 2, always, Number(&[], n::single)),

    // Valid values for each type (4.5, 5.4.4)
    row("wide-value/integer", N::WideValue, "4.5.1/integer-width", 1, always, Same(N::Integer)),
    row("narrow-value/low", N::NarrowValue, "4.5.1/narrowing", 1, always, Same(N::LowBits)),
    row("narrow-value/in-range", N::NarrowValue, "4.5.1/narrowing", 4, always, Infix(And, N::LowBits, N::Integer)),
    odd("narrow-value/any", N::NarrowValue, "4.5.1/narrowing", |c| c.narrowing, always, Same(N::Integer)),
    row("b32-value/integer", N::B32Value, "4.5/bit-size-type", 16, always, Same(N::NarrowValue)),
    row("b32-value/single-bits", N::B32Value, "4.5.2/float-single-bits", 3, single_bits_elsewhere, Same(N::SingleBits)),
    row("b32-value/float", N::B32Value, "4.5/bit-size-type", 1, floats_in_bits, Same(N::Float)),
    row("b64-value/integer", N::B64Value, "4.5/bit-size-type", 16, always, Same(N::Integer)),
    row("b64-value/float", N::B64Value, "4.5/bit-size-type", 2, floats_in_bits, Same(N::Float)),
    row("b64-value/single-bits", N::B64Value, "4.5.2/float-single-bits", 1, single_bits_elsewhere, Same(N::SingleBits)),
    row("f32-value/float", N::F32Value, "4.5.2/float-narrowing", 4, always, Same(N::Float)),
    row("f32-value/single-bits", N::F32Value, "4.5.2/float-single-bits", 1, always, Same(N::SingleBits)),
    row("f64-value/float", N::F64Value, "4.5.2/float-double-evaluation", 12, always, Same(N::Float)),
    row("f64-value/single-bits", N::F64Value, "4.5.2/float-single-bits", 1, single_bits_elsewhere, Same(N::SingleBits)),

    // Declarations (5.4.1, 5.4.2, 5.4.5)
    row("declaration/defined", N::Declaration, "5.4.1/scalar", 24, always, Piece(&[N::Linkage, N::Space, N::Align, N::Type, N::ShortVector, N::LongVector, N::Variable], Declaration(d::defined))),
    row("declaration/zero", N::Declaration, "5.4.4/default-zero", 2, |c| c.half_types, Piece(&[N::Linkage, N::Space, N::Align, N::AnyType, N::ShortVector, N::LongVector, N::Name, N::Rank, N::Extent], Declaration(d::zero))),
    row("declaration/external", N::Declaration, "5.4.4/no-extern-initializer", 1, |c| c.linkage, Piece(&[N::Space, N::Align, N::AnyType, N::ShortVector, N::LongVector, N::Name, N::Rank, N::Extent], Declaration(d::external))),
    row("declaration/parameterized", N::Declaration, "5.4.6/names", 1, |c| c.parameterized_names, Piece(&[N::Space, N::Align, N::AnyType, N::Name, N::Spelling], Declaration(d::parameterized))),
    row("declaration/managed", N::Declaration, "5.4.8/managed", 1, |c| c.attributes, Piece(&[N::Linkage, N::Align, N::Type, N::ShortVector, N::LongVector, N::Variable], Declaration(d::managed))),
    row("declaration/unified", N::Declaration, "5.4.8/unified", 2, |c| c.attributes && c.unified, Piece(&[N::Literal, N::Linkage, N::Align, N::Type, N::ShortVector, N::LongVector, N::Variable], Declaration(d::unified))),
    row("declaration/shared", N::Declaration, "5.4.1/state-space", 1, always, Piece(&[N::Align, N::AnyType, N::ShortVector, N::LongVector, N::Name, N::Rank, N::Extent], Declaration(d::shared))),
    row("linkage/none", N::Linkage, "5.4.1/state-space", 20, always, Expansion::Choice(Linkage(None))),
    row("linkage/visible", N::Linkage, "5.4.1/state-space", 3, |c| c.linkage, Expansion::Choice(Linkage(Some(Linkage::Visible)))),
    row("linkage/weak", N::Linkage, "5.4.1/state-space", 2, |c| c.linkage, Expansion::Choice(Linkage(Some(Linkage::Weak)))),
    row("space/global", N::Space, "5.4.1/state-space", 3, always, Expansion::Space(StateSpace::Global)),
    row("space/const", N::Space, "5.4.1/state-space", 1, |c| c.const_space, Expansion::Space(StateSpace::Const)),
    row("align/none", N::Align, "5.4.5/default-scalar", 12, always, Piece(&[], Align(|_| None))),
    row("align/decimal", N::Align, "5.4.5/align", 4, |c| c.alignment, Piece(&[], Align(d::align_decimal))),
    row("align/spelled", N::Align, "5.4.5/align", 1, |c| c.alignment, Piece(&[N::Spelling], Align(d::align_spelled))),
    row("type/s64", N::Type, "4.5.1/integer-width", 18, always, Expansion::Type(ScalarType::S64)),
    row("type/u64", N::Type, "4.5.1/integer-width", 10, always, Expansion::Type(ScalarType::U64)),
    row("type/b64", N::Type, "4.5/bit-size-type", 8, always, Expansion::Type(ScalarType::B64)),
    row("type/s32", N::Type, "4.5.1/narrowing", 8, narrow, Expansion::Type(ScalarType::S32)),
    row("type/u32", N::Type, "4.5.1/narrowing", 6, narrow, Expansion::Type(ScalarType::U32)),
    row("type/b32", N::Type, "4.5/bit-size-type", 6, narrow, Expansion::Type(ScalarType::B32)),
    row("type/s16", N::Type, "4.5.1/narrowing", 3, narrow, Expansion::Type(ScalarType::S16)),
    row("type/u16", N::Type, "4.5.1/narrowing", 3, narrow, Expansion::Type(ScalarType::U16)),
    row("type/b16", N::Type, "4.5/bit-size-type", 3, narrow, Expansion::Type(ScalarType::B16)),
    row("type/s8", N::Type, "4.5.1/narrowing", 3, narrow, Expansion::Type(ScalarType::S8)),
    row("type/u8", N::Type, "4.5.1/narrowing", 3, narrow, Expansion::Type(ScalarType::U8)),
    row("type/b8", N::Type, "4.5/bit-size-type", 3, narrow, Expansion::Type(ScalarType::B8)),
    row("type/f32", N::Type, "4.5.2/float-narrowing", 10, floats, Expansion::Type(ScalarType::F32)),
    row("type/f64", N::Type, "4.5.2/float-double-evaluation", 10, floats, Expansion::Type(ScalarType::F64)),
    row("type/b128", N::Type, "4.5.1/integer-width", 2, |c| c.b128, Expansion::Type(ScalarType::B128)),
    row("half-type/f16", N::HalfType, "5.4.4/type-allows-initializer", 1, always, Expansion::Type(ScalarType::F16)),
    row("half-type/f16x2", N::HalfType, "5.4.4/type-allows-initializer", 1, always, Expansion::Type(ScalarType::F16x2)),
    row("half-type/b128", N::HalfType, "5.4.1/scalar", 1, |c| c.b128, Expansion::Type(ScalarType::B128)),
    row("any-type/initialized", N::AnyType, "5.4.4/type-allows-initializer", 2, always, Same(N::Type)),
    row("any-type/half", N::AnyType, "5.4.4/type-allows-initializer", 1, |c| c.half_types, Same(N::HalfType)),
    row("short-vector/none", N::ShortVector, "5.4.1/scalar", 5, always, Expansion::Choice(Vector(None))),
    row("short-vector/v2", N::ShortVector, "5.4.2/vector-length", 1, vectors, Expansion::Choice(Vector(Some(VectorLength::V2)))),
    row("short-vector/v4", N::ShortVector, "5.4.2/vector-length", 1, vectors, Expansion::Choice(Vector(Some(VectorLength::V4)))),
    row("long-vector/none", N::LongVector, "5.4.1/scalar", 5, always, Expansion::Choice(Vector(None))),
    row("long-vector/v2", N::LongVector, "5.4.2/vector-size-limit", 1, vectors, Expansion::Choice(Vector(Some(VectorLength::V2)))),

    // Variables and their initial values (5.4.3, 5.4.4)
    row("variable/zero", N::Variable, "5.4.4/default-zero", 1, always, Piece(&[N::Name, N::Rank, N::Extent], Variable(|d, specifiers, _| d::variable_zero(d, specifiers)))),
    row("variable/single", N::Variable, "5.4.4/scalar-single-value", 4, always, Piece(SINGLE, Variable(d::variable_single))),
    row("variable/array", N::Variable, "5.4.4/nesting-matches", 12, |c| c.max_dimensions > 0, Piece(&[N::Name, N::Rank, N::Extent, N::List], Variable(d::variable_array))),
    row("variable/first-omitted", N::Variable, "5.4.3/first-dimension-omitted", 3, |c| c.omitted_dimension && c.max_dimensions > 0, Piece(&[N::Name, N::Rank, N::Extent, N::CountedList], Variable(d::variable_first_omitted))),
    row("rank/1", N::Rank, "5.4.3/array-size", 5, always, Expansion::Choice(Rank(1))),
    row("rank/2", N::Rank, "5.4.3/array-size", 6, |c| c.max_dimensions >= 2, Expansion::Choice(Rank(2))),
    row("rank/3", N::Rank, "5.4.3/array-size", 3, |c| c.max_dimensions >= 3, Expansion::Choice(Rank(3))),
    row("rank/4", N::Rank, "5.4.3/array-size", 1, |c| c.max_dimensions >= 4, Expansion::Choice(Rank(4))),
    row("extent/literal", N::Extent, "5.4.3/dimension", 1, always, Piece(&[N::Spelling, N::Suffix], Extent(d::extent_literal))),
    odd("extent/expression", N::Extent, "5.4.3/dimension", |c| c.dimension_expression, always, Same(N::ExtentExpression)),
    row("extent-expression/sum", N::ExtentExpression, "5.4.3/dimension", 3, always, Piece(&[N::Spelling], Extent(d::extent_sum))),
    row("extent-expression/difference", N::ExtentExpression, "5.4.3/dimension", 2, always, Piece(&[N::Spelling], Extent(d::extent_difference))),
    row("extent-expression/warp-size", N::ExtentExpression, "5.4.3/dimension", 2, |c| c.warp_size, Piece(&[N::Spelling], Extent(d::extent_warp_size))),
    row("extent-expression/ternary", N::ExtentExpression, "5.4.3/dimension", 2, ternaries, Piece(&[N::Spelling], Extent(d::extent_ternary))),
    row("list/full", N::List, "5.4.4/nesting-matches", 8, always, Piece(ENTRIES, List(d::list_full))),
    row("list/short", N::List, "5.4.4/incomplete-inner", 7, |c| c.incomplete_lists, Piece(ENTRIES, List(d::list_short))),
    odd("list/empty", N::List, "5.4.4/empty-list", |c| c.empty_list, |c| c.incomplete_lists, Piece(&[], List(d::list_empty))),
    row("counted-list/some", N::CountedList, "5.4.3/first-dimension-omitted", 1, always, Piece(ENTRIES, CountedList(d::list_full))),
    row("lanes/full", N::Lanes, "5.4.4/vector-list", 1, always, Piece(VALUES, Lanes(d::lanes_full))),
    odd("lanes/short", N::Lanes, "5.4.4/vector-list", |c| c.incomplete_vector, always, Piece(VALUES, Lanes(d::lanes_short))),
    row("name/plain", N::Name, "5.4.1/scalar", 40, always, Piece(&[], Name(a::name_plain))),
    row("name/underscore", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(|d| a::name_sigil(d, "_")))),
    row("name/dollar", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(|d| a::name_sigil(d, "$")))),
    row("name/percent", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(|d| a::name_sigil(d, "%")))),
    row("name/symbols", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(a::name_symbols))),
    row("name/like-a-word", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(a::name_like_a_word))),
    row("name/long", N::Name, "5.4.1/scalar", 1, odd_names, Piece(&[], Name(a::name_long))),

    // Addresses (5.4.4)
    row("group/addresses", N::Group, "5.4.4/variable-address", 1, always, Piece(&[N::Target, N::Holder], Group(a::group))),
    odd("group/forward", N::Group, "5.4.4/variable-address", |c| c.forward_reference, always, Piece(&[N::Target, N::Holder], Group(a::group_forward))),
    row("target/declared", N::Target, "5.4.4/variable-address", 5, always, Piece(&[N::Declaration], Target(a::target_declared))),
    row("target/function", N::Target, "5.4.4/function-address", 1, |c| c.functions, Piece(&[N::Name], Target(|d| a::target_function(d, ".func")))),
    row("target/kernel", N::Target, "5.4.4/kernel-address", 1, |c| c.functions, Piece(&[N::Name], Target(|d| a::target_function(d, ".entry")))),
    row("holder/word-64", N::Holder, "5.4.4/address-type", 10, always, Piece(&[N::Linkage, N::Space, N::Align, N::LongVector, N::Variable], Holder(a::holder_word_64))),
    odd("holder/word-32", N::Holder, "5.4.4/address-type", |c| c.address_in_word, always, Piece(&[N::Linkage, N::Space, N::Align, N::ShortVector, N::Variable], Holder(a::holder_word_32))),
    row("holder/byte", N::Holder, "5.4.4/byte-needs-mask", 5, masks, Piece(&[N::Linkage, N::Space, N::Align, N::ShortVector, N::Variable], Holder(a::holder_byte))),
    row("address-value/address", N::AddressValue, "5.4.4/variable-address", 16, always, Same(N::Address)),
    row("address-value/function", N::AddressValue, "5.4.4/function-address", 4, |c| c.functions, Made(1, &[], a::function)),
    row("address-value/integer", N::AddressValue, "4.5.1/integer-width", 2, always, Same(N::Integer)),
    odd("address-value/masked", N::AddressValue, "5.4.4/mask", |c| c.masked_word, masks, Same(N::MaskedValue)),
    odd("address-value/own-name", N::AddressValue, "5.4.4/variable-address", |c| c.self_reference, always, Made(1, &[], a::own_name)),
    odd("address-value/odd", N::AddressValue, "5.4.4/address-offset", |c| c.odd_address, always, Same(N::OddAddress)),
    row("odd-address/parenthesized", N::OddAddress, "5.4.4/variable-address", 1, always, Made(2, &[], a::parenthesized)),
    row("odd-address/subtracted", N::OddAddress, "5.4.4/address-offset", 1, always, Made(3, &[N::Literal], a::subtracted)),
    row("odd-address/offset-first", N::OddAddress, "5.4.4/address-offset", 1, always, Made(3, &[N::Literal], a::offset_first)),
    row("odd-address/offset-in-generic", N::OddAddress, "5.4.4/generic", 1, always, Made(4, &[N::Offset], a::offset_in_generic)),
    row("odd-address/function-offset", N::OddAddress, "5.4.4/function-address", 1, |c| c.functions, Made(3, &[N::Offset], a::function_offset)),
    row("odd-address/generic-function", N::OddAddress, "5.4.4/generic", 1, |c| c.functions, Made(2, &[], a::generic_function)),
    row("address/name", N::Address, "5.4.4/state-space-address", 3, always, Made(1, &[], a::name)),
    row("address/offset", N::Address, "5.4.4/address-offset", 3, always, Made(3, &[N::Offset], a::offset)),
    row("address/offset-twice", N::Address, "5.4.4/address-offset", 1, always, Made(5, &[N::Offset], a::offset_twice)),
    row("address/generic", N::Address, "5.4.4/generic", 3, always, Made(2, &[], a::generic)),
    row("address/generic-offset", N::Address, "5.4.4/generic", 3, always, Made(4, &[N::Offset], a::generic_offset)),
    row("offset/literal", N::Offset, "5.4.4/address-offset", 3, always, Same(N::Literal)),
    row("offset/negative", N::Offset, "5.4.4/address-offset", 2, always, Made(2, &[N::Literal], a::offset_negative)),
    row("offset/expression", N::Offset, "5.4.4/address-offset", 2, always, Made(2, &[N::Integer], a::offset_expression)),
    row("masked-value/plain", N::MaskedValue, "4.5.1/narrowing", 1, always, Same(N::NarrowValue)),
    row("masked-value/address", N::MaskedValue, "5.4.4/mask", 6, masks, Made(2, &[N::MaskValue, N::Spelling, N::Address, N::Literal], a::masked_address)),
    row("masked-value/constant", N::MaskedValue, "5.4.4/mask-constant", 2, masks, Made(2, &[N::MaskValue, N::Spelling, N::Integer], a::masked_constant)),
    row("mask-value/byte-0", N::MaskValue, "5.4.4/mask-value", 2, always, Expansion::Choice(Byte(0))),
    row("mask-value/byte-1", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(1))),
    row("mask-value/byte-2", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(2))),
    row("mask-value/byte-3", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(3))),
    row("mask-value/byte-4", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(4))),
    row("mask-value/byte-5", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(5))),
    row("mask-value/byte-6", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(6))),
    row("mask-value/byte-7", N::MaskValue, "5.4.4/mask-value", 1, always, Expansion::Choice(Byte(7))),

    // Operands (6.4)
    row("kernel/probes", N::Kernel, "6.4.1/register-offset", 1, operands, Piece(&[N::Probe], Kernel(o::kernel))),
    row("probe/memory", N::Probe, "6.4.1/access-size", 12, operands, Piece(&[N::Place, N::Storage, N::Access, N::Spelling], Probe(o::memory))),
    row("probe/move-variable", N::Probe, "6.4.1/move-address", 2, operands, Piece(&[N::Storage, N::Spelling], Probe(o::move_variable))),
    row("probe/move-element", N::Probe, "6.4.2/array-name", 2, operands, Piece(&[N::Storage, N::Spelling], Probe(o::move_element))),
    row("probe/move-function", N::Probe, "6.4.4/function-name", 1, operands, Piece(&[N::Spelling], Probe(o::move_function))),
    row("probe/move-kernel", N::Probe, "6.4.4/move-kernel-address", 1, operands, Piece(&[], Probe(o::move_kernel))),
    row("probe/immediate", N::Probe, "4.5/operand", 3, operands, Piece(&[N::Integer, N::F32Value, N::F64Value], Probe(o::immediate))),
    row("probe/predicate-constant", N::Probe, "4.5.3/predicate-constant", 2, operands, Piece(&[N::Spelling], Probe(o::predicate_constant))),
    row("probe/vector-move", N::Probe, "6.4.3/vector-operand", 2, operands, Piece(&[N::Spelling], Probe(o::vector_move))),
    row("probe/pack", N::Probe, "6.4.3/braces", 2, operands, Piece(&[N::Spelling], Probe(o::pack))),
    row("probe/generic", N::Probe, "6.4.1.1/generic-by-default", 3, operands, Piece(&[N::Storage, N::Spelling], Probe(o::generic))),
    row("probe/branch", N::Probe, "6.4.4/label", 1, operands, Piece(&[N::Spelling], Probe(o::branch))),
    row("probe/branch-table", N::Probe, "6.4.4/label", 1, operands, Piece(&[N::Spelling], Probe(o::branch_table))),
    row("probe/call", N::Probe, "6.4.4/function-name", 1, operands, Piece(&[N::Spelling], Probe(o::call))),
    row("probe/call-indirect", N::Probe, "6.4.4/function-name", 1, operands, Piece(&[N::Spelling], Probe(o::call_indirect))),
    row("probe/call-vector", N::Probe, "6.4.3/vector-operand", 1, operands, Piece(&[N::Spelling], Probe(o::call_vector))),
    row("storage/global", N::Storage, "6.4.1/variable", 4, operands, Expansion::Choice(Storage(StateSpace::Global))),
    row("storage/const", N::Storage, "6.4.1/variable", 3, operands, Expansion::Choice(Storage(StateSpace::Const))),
    row("storage/shared", N::Storage, "6.4.1/variable", 3, operands, Expansion::Choice(Storage(StateSpace::Shared))),
    row("storage/local", N::Storage, "6.4.1/variable", 3, operands, Expansion::Choice(Storage(StateSpace::Local))),
    row("place/variable", N::Place, "6.4.1/variable", 2, operands, Expansion::Choice(Place(AddressForm::Variable))),
    row("place/register", N::Place, "6.4.1/register", 3, operands, Expansion::Choice(Place(AddressForm::Register))),
    row("place/register-offset", N::Place, "6.4.1/register-offset", 4, operands, Expansion::Choice(Place(AddressForm::RegisterOffset))),
    row("place/variable-offset", N::Place, "6.4.1/variable-offset", 4, operands, Expansion::Choice(Place(AddressForm::VariableOffset))),
    row("place/element", N::Place, "6.4.1/array-element", 3, operands, Expansion::Choice(Place(AddressForm::Element))),
    row("place/element-register", N::Place, "6.4.2/array-index", 3, operands, Expansion::Choice(Place(AddressForm::ElementRegister))),
    row("place/element-register-offset", N::Place, "6.4.2/array-index", 3, operands, Expansion::Choice(Place(AddressForm::ElementRegisterOffset))),
    odd("place/element-subtracted", N::Place, "6.4.2/array-index", |c| c.subtracted_index, operands, Expansion::Choice(Place(AddressForm::ElementSubtracted))),
    odd("place/absolute", N::Place, "6.4.1/absolute-address", |c| c.absolute_address, operands, Expansion::Choice(Place(AddressForm::Absolute))),
    row("access/scalar", N::Access, "6.4.1/access-size", 3, operands, Expansion::Choice(Access(DataForm::Scalar))),
    row("access/braces", N::Access, "6.4.3/vector-access", 2, operands, Expansion::Choice(Access(DataForm::Braces))),
    row("access/vector", N::Access, "6.4.3/element-suffix", 2, operands, Expansion::Choice(Access(DataForm::Register))),
];

/// The nonterminals for the value of an element, one for each kind of type.
const VALUES: &[N] = &[
    N::WideValue,
    N::NarrowValue,
    N::B32Value,
    N::B64Value,
    N::F32Value,
    N::F64Value,
    N::AddressValue,
    N::MaskedValue,
];
/// The parts of a variable that is not an array: its name and its value.
const SINGLE: &[N] = &[
    N::Name,
    N::Lanes,
    N::WideValue,
    N::NarrowValue,
    N::B32Value,
    N::B64Value,
    N::F32Value,
    N::F64Value,
    N::AddressValue,
    N::MaskedValue,
];
/// The nonterminals for the entries of an array's list.
const ENTRIES: &[N] = &[
    N::List,
    N::Lanes,
    N::WideValue,
    N::NarrowValue,
    N::B32Value,
    N::B64Value,
    N::F32Value,
    N::F64Value,
    N::AddressValue,
    N::MaskedValue,
];
