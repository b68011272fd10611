//! The edits: functions that make a valid declaration and the broken one beside it.

use ptxsmith_syntax::{
    Attribute, BinaryOp, Cast, Declaration, Declarator, Expr, Initializer, Linkage, Name, NodeKind,
    OpaqueType, ScalarType, Span, Specifier, StateSpace, UnaryOp, VectorLength, precedence,
};

use super::pair::{Pair, changed, respecified};
use crate::{boundary, draft::Draft, nonterminal::Nonterminal};

// Pieces of declarations

const INTEGERS: [ScalarType; 8] = [
    ScalarType::S64,
    ScalarType::U64,
    ScalarType::S32,
    ScalarType::U32,
    ScalarType::S16,
    ScalarType::U16,
    ScalarType::S8,
    ScalarType::U8,
];
const FLOATS: [ScalarType; 2] = [ScalarType::F64, ScalarType::F32];

pub(super) fn integer_type(d: &mut Draft<'_, '_>) -> ScalarType {
    d.pick(&INTEGERS)
}

fn float_type(d: &mut Draft<'_, '_>) -> ScalarType {
    d.pick(&FLOATS)
}

pub(super) fn space(d: &mut Draft<'_, '_>) -> StateSpace {
    d.pick(&[StateSpace::Global, StateSpace::Global, StateSpace::Const])
}

pub(super) fn variable(dimensions: Vec<Option<Expr>>, initializer: Option<Initializer>) -> Declarator {
    Declarator { name: Name::new("v0"), count: None, dimensions, initializer }
}

pub(super) fn declaration(space: StateSpace, ty: ScalarType, declarator: Declarator) -> Declaration {
    let specifiers = vec![Specifier::Space(space, None), Specifier::Type(ty)];
    Declaration { specifiers, declarators: vec![declarator], span: Span::NONE }
}

pub(super) fn set_type(specifiers: &mut [Specifier], to: ScalarType) {
    for specifier in specifiers {
        if let Specifier::Type(ty) = specifier {
            *ty = to;
        }
    }
}

/// A scalar whose value is one expression in the twin and another in the broken one.
fn values(d: &mut Draft<'_, '_>, ty: ScalarType, twin: Expr, broken: Expr) -> Pair {
    let twin = declaration(space(d), ty, variable(Vec::new(), Some(Initializer::Value(twin))));
    changed(twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

fn scalar(d: &mut Draft<'_, '_>, ty: ScalarType) -> Declaration {
    let of = if FLOATS.contains(&ty) { Nonterminal::FloatLiteral } else { Nonterminal::Literal };
    let value = d.expression(|d| d.make(of, 1));
    declaration(space(d), ty, variable(Vec::new(), Some(Initializer::Value(value))))
}

pub(super) fn number(value: u64) -> Expr {
    Expr::number(value.to_string())
}

/// A full array of literals.
fn array(d: &mut Draft<'_, '_>, extents: &[u64]) -> Declaration {
    fn list(d: &mut Draft<'_, '_>, extents: &[u64]) -> Initializer {
        match extents {
            [] => Initializer::Value(d.expression(|d| d.make(Nonterminal::Literal, 1))),
            [extent, inner @ ..] => Initializer::list((0..*extent).map(|_| list(d, inner)).collect()),
        }
    }
    let ty = integer_type(d);
    let dimensions = extents.iter().map(|&extent| Some(number(extent))).collect();
    let initializer = list(d, extents);
    declaration(space(d), ty, variable(dimensions, Some(initializer)))
}

fn extents<const N: usize>(d: &mut Draft<'_, '_>) -> [u64; N] {
    std::array::from_fn(|_| d.pick(&[2, 1, 3]))
}

fn items(initializer: &mut Option<Initializer>) -> &mut Vec<Initializer> {
    match initializer {
        Some(Initializer::List(list)) => &mut list.items,
        _ => unreachable!("the twin of this edit has a list"),
    }
}

fn inner_items(entry: &mut Initializer) -> &mut Vec<Initializer> {
    match entry {
        Initializer::List(list) => &mut list.items,
        _ => unreachable!("the twin of this edit has a list of lists"),
    }
}

// Pieces of expressions

/// A float that may stand as an operand of anything.
fn float(d: &mut Draft<'_, '_>) -> Expr {
    operand(d, Nonterminal::Float)
}

fn integer(d: &mut Draft<'_, '_>) -> Expr {
    operand(d, Nonterminal::Integer)
}

fn operand(d: &mut Draft<'_, '_>, of: Nonterminal) -> Expr {
    let room = 1 + d.below(3) as u32;
    d.expression(|d| {
        d.make(of, room);
        d.bind(precedence::PRIMARY);
    })
}

/// An operator between two operands that bind tightly.
pub(super) fn infix(op: BinaryOp, left: &Expr, right: &Expr) -> Expr {
    values_of(&[left, right], |places| NodeKind::Binary(op, places[0], places[1]))
}

pub(super) fn prefix(op: UnaryOp, operand: &Expr) -> Expr {
    values_of(&[operand], |places| NodeKind::Unary(op, places[0]))
}

pub(super) fn ternary(condition: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
    values_of(&[condition, then, otherwise], |places| NodeKind::Ternary(places[0], places[1], places[2]))
}

/// Joins operands that bind tightly by a node that takes their places.
pub(super) fn values_of(operands: &[&Expr], kind: impl FnOnce(&[u32]) -> NodeKind) -> Expr {
    let mut builder = ptxsmith_syntax::Builder::new();
    let mut places = Vec::new();
    for _ in operands {
        places.push(builder.push(NodeKind::Number("0".into()), Span::NONE));
    }
    builder.push(kind(&places), Span::NONE);
    let mut expr = builder.finish();
    // From the right, so that the places of those on the left stay what they are.
    for (place, operand) in places.iter().zip(operands).rev() {
        expr = expr.replaced(*place, operand);
    }
    expr
}

fn single_bits(d: &mut Draft<'_, '_>) -> Expr {
    d.expression(|d| d.make(Nonterminal::SingleBits, 1))
}

fn arithmetic(d: &mut Draft<'_, '_>) -> BinaryOp {
    d.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul])
}

// The edits, in the order of the table

pub(super) fn malformed(d: &mut Draft<'_, '_>, spellings: &[&'static str]) -> Pair {
    let text = d.pick(spellings);
    let ty = integer_type(d);
    let twin = d.expression(|d| d.make(Nonterminal::Literal, 1));
    let other = d.byte();
    if other < 128 {
        return values(d, ty, twin, Expr::number(text));
    }
    let left = integer(d);
    let broken = infix(BinaryOp::Add, &left, &Expr::number(text));
    values(d, ty, infix(BinaryOp::Add, &left, &twin), broken)
}

pub(super) fn malformed_float(d: &mut Draft<'_, '_>, spellings: &[&'static str]) -> Pair {
    let text = d.pick(spellings);
    let ty = float_type(d);
    let twin = d.expression(|d| d.make(Nonterminal::FloatLiteral, 1));
    values(d, ty, twin, Expr::number(text))
}

pub(super) fn integer_only_infix(d: &mut Draft<'_, '_>) -> Pair {
    let (left, right, ty) = (float(d), float(d), float_type(d));
    let good = arithmetic(d);
    let bad = d.pick(&[
        BinaryOp::Rem,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::LogicalAnd,
        BinaryOp::LogicalOr,
    ]);
    values(d, ty, infix(good, &left, &right), infix(bad, &left, &right))
}

pub(super) fn integer_only_prefix(d: &mut Draft<'_, '_>) -> Pair {
    let (operand, ty) = (float(d), float_type(d));
    let bad = d.pick(&[UnaryOp::Not, UnaryOp::Complement]);
    values(d, ty, prefix(UnaryOp::Minus, &operand), prefix(bad, &operand))
}

pub(super) fn mixed_infix(d: &mut Draft<'_, '_>) -> Pair {
    let (left, right, other, op) = (float(d), float(d), integer(d), arithmetic(d));
    let ty = float_type(d);
    let broken = if d.byte() < 128 { infix(op, &left, &other) } else { infix(op, &other, &right) };
    values(d, ty, infix(op, &left, &right), broken)
}

pub(super) fn mixed_comparison(d: &mut Draft<'_, '_>) -> Pair {
    let (left, right, other) = (float(d), float(d), integer(d));
    let op = d.pick(&[BinaryOp::Lt, BinaryOp::Gt, BinaryOp::Le, BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne]);
    let ty = integer_type(d);
    values(d, ty, infix(op, &left, &right), infix(op, &left, &other))
}

pub(super) fn mixed_ternary(d: &mut Draft<'_, '_>) -> Pair {
    let (condition, then, otherwise, other) = (integer(d), integer(d), integer(d), float(d));
    let ty = integer_type(d);
    values(d, ty, ternary(&condition, &then, &otherwise), ternary(&condition, &then, &other))
}

pub(super) fn single_infix(d: &mut Draft<'_, '_>) -> Pair {
    let (left, right, bits, op) = (float(d), float(d), single_bits(d), arithmetic(d));
    let ty = float_type(d);
    values(d, ty, infix(op, &left, &right), infix(op, &left, &bits))
}

pub(super) fn single_prefix(d: &mut Draft<'_, '_>) -> Pair {
    let bits = single_bits(d);
    let op = d.pick(&[UnaryOp::Minus, UnaryOp::Plus]);
    // The twin is the same bits without the operator, so in the one type that takes them beyond doubt.
    values(d, ScalarType::F32, bits.clone(), prefix(op, &bits))
}

pub(super) fn float_condition(d: &mut Draft<'_, '_>) -> Pair {
    let (condition, then, otherwise, other) = (integer(d), integer(d), integer(d), float(d));
    let ty = integer_type(d);
    values(d, ty, ternary(&condition, &then, &otherwise), ternary(&other, &then, &otherwise))
}

pub(super) fn float_in_integer(d: &mut Draft<'_, '_>) -> Pair {
    let (good, bad, ty) = (integer(d), float(d), integer_type(d));
    values(d, ty, good, bad)
}

pub(super) fn float_in_small_bits(d: &mut Draft<'_, '_>) -> Pair {
    let (good, bad, ty) = (integer(d), float(d), d.pick(&[ScalarType::B8, ScalarType::B16]));
    values(d, ty, good, bad)
}

pub(super) fn integer_in_float(d: &mut Draft<'_, '_>) -> Pair {
    let (good, bad, ty) = (float(d), integer(d), float_type(d));
    values(d, ty, good, bad)
}

pub(super) fn half_initialized(d: &mut Draft<'_, '_>) -> Pair {
    let ty = float_type(d);
    let half = d.pick(&[ScalarType::F16, ScalarType::F16x2]);
    respecified(scalar(d, ty), |specifiers| set_type(specifiers, half))
}

pub(super) fn other_space(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let other = d.pick(&[StateSpace::Shared, StateSpace::Local]);
    respecified(scalar(d, ty), |specifiers| specifiers[0] = Specifier::Space(other, None))
}

pub(super) fn extern_initialized(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    respecified(scalar(d, ty), |specifiers| specifiers.insert(0, Specifier::Linkage(Linkage::Extern)))
}

pub(super) fn too_many(d: &mut Draft<'_, '_>, inner: usize) -> Pair {
    let outer = extents::<2>(d);
    let twin = array(d, &outer[..=inner]);
    let row = d.below(outer[0] as usize);
    changed(twin, |v| {
        let items = items(&mut v.initializer);
        let items = if inner == 1 { inner_items(&mut items[row]) } else { items };
        items.push(items[0].clone());
    })
}

pub(super) fn too_many_lanes(d: &mut Draft<'_, '_>) -> Pair {
    full_vector(d, |v| {
        let items = items(&mut v.initializer);
        items.push(items[0].clone());
    })
}

pub(super) fn value_for_row(d: &mut Draft<'_, '_>) -> Pair {
    let extents = extents::<2>(d);
    let twin = array(d, &extents);
    let row = d.below(extents[0] as usize);
    changed(twin, |v| {
        let items = items(&mut v.initializer);
        items[row] = inner_items(&mut items[row]).swap_remove(0);
    })
}

pub(super) fn value_for_array(d: &mut Draft<'_, '_>) -> Pair {
    let extents = extents::<1>(d);
    let twin = array(d, &extents);
    changed(twin, |v| v.initializer = Some(items(&mut v.initializer).swap_remove(0)))
}

pub(super) fn list_for_scalar(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    changed(scalar(d, ty), |v| {
        v.initializer = Some(Initializer::list(v.initializer.take().into_iter().collect()))
    })
}

pub(super) fn list_for_element(d: &mut Draft<'_, '_>) -> Pair {
    let extents = extents::<1>(d);
    let twin = array(d, &extents);
    let at = d.below(extents[0] as usize);
    changed(twin, |v| {
        let items = items(&mut v.initializer);
        items[at] = Initializer::list(vec![items[at].clone()]);
    })
}

pub(super) fn inner_omitted(d: &mut Draft<'_, '_>) -> Pair {
    let extents = extents::<3>(d);
    let rank = 2 + d.below(2);
    let twin = array(d, &extents[..rank]);
    let at = 1 + d.below(rank - 1);
    changed(twin, |v| v.dimensions[at] = None)
}

pub(super) fn undetermined(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let dimension = number(extents::<1>(d)[0]);
    changed(declaration(space(d), ty, variable(vec![Some(dimension)], None)), |v| v.dimensions[0] = None)
}

pub(super) fn negative_dimension(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let dimension = number(extents::<1>(d)[0]);
    let negative = prefix(UnaryOp::Minus, &dimension);
    changed(declaration(space(d), ty, variable(vec![Some(dimension)], None)), |v| {
        v.dimensions[0] = Some(negative)
    })
}

pub(super) fn float_dimension(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let extent = extents::<1>(d)[0];
    let float = Expr::number(format!("{extent}{}", d.pick(&[".0", ".", "e0", ".5"])));
    let twin = declaration(space(d), ty, variable(vec![Some(number(extent))], None));
    changed(twin, |v| v.dimensions[0] = Some(float))
}

/// A vector without an initial value, of one of these types, of a length that is allowed.
pub(super) fn vector(d: &mut Draft<'_, '_>, types: &[ScalarType]) -> Declaration {
    let ty = d.pick(types);
    let long = ty.size().is_some_and(|size| size > 4);
    let length = if long { VectorLength::V2 } else { d.pick(&[VectorLength::V2, VectorLength::V4]) };
    let mut declaration = declaration(space(d), ty, variable(Vec::new(), None));
    declaration.specifiers.insert(1, Specifier::Vector(length));
    declaration
}

pub(super) fn other_length(d: &mut Draft<'_, '_>) -> Pair {
    // Short elements, so that the length is all that is wrong.
    let twin = vector(d, &[ScalarType::S8, ScalarType::U8, ScalarType::B8, ScalarType::U16, ScalarType::B16]);
    let other = d.pick(&[VectorLength::V3, VectorLength::V8]);
    respecified(twin, |specifiers| specifiers[1] = Specifier::Vector(other))
}

pub(super) fn too_long(d: &mut Draft<'_, '_>) -> Pair {
    let twin = vector(d, &[ScalarType::F64, ScalarType::S64, ScalarType::U64, ScalarType::B64]);
    respecified(twin, |specifiers| specifiers[1] = Specifier::Vector(VectorLength::V4))
}

pub(super) fn predicate_vector(d: &mut Draft<'_, '_>) -> Pair {
    respecified(vector(d, &INTEGERS), |specifiers| set_type(specifiers, ScalarType::Pred))
}

pub(super) fn no_power(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = scalar(d, ty);
    let good = 1 << d.below(6);
    let bad = d.pick(&[3, 5, 6, 7, 9, 12, 24, 48, 100, 0]);
    twin.specifiers.insert(1, Specifier::Align(number(good)));
    respecified(twin, |specifiers| specifiers[1] = Specifier::Align(number(bad)))
}

pub(super) fn predicate_data(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let twin = declaration(space(d), ty, variable(Vec::new(), None));
    respecified(twin, |specifiers| set_type(specifiers, ScalarType::Pred))
}

pub(super) fn managed_const(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = scalar(d, ty);
    twin.specifiers[0] = Specifier::Space(StateSpace::Global, None);
    let managed = Attribute { name: Name::new(".managed"), arguments: Vec::new() };
    twin.specifiers.insert(1, Specifier::Attributes(vec![managed]));
    respecified(twin, |specifiers| specifiers[0] = Specifier::Space(StateSpace::Const, None))
}

pub(super) fn parameterized(d: &mut Draft<'_, '_>) -> Declaration {
    let ty = integer_type(d);
    let mut twin = declaration(space(d), ty, variable(Vec::new(), None));
    twin.declarators[0].count = Some(number(extents::<1>(d)[0]));
    twin
}

pub(super) fn parameterized_initializer(d: &mut Draft<'_, '_>) -> Pair {
    let value = d.expression(|d| d.make(Nonterminal::Literal, 1));
    changed(parameterized(d), |v| v.initializer = Some(Initializer::Value(value)))
}

pub(super) fn parameterized_array(d: &mut Draft<'_, '_>) -> Pair {
    let extent = extents::<1>(d)[0];
    changed(parameterized(d), |v| v.dimensions.push(Some(number(extent))))
}

pub(super) fn huge_literal(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let twin = d.expression(|d| d.make(Nonterminal::Literal, 1));
    let huge = Expr::number(d.pick(&boundary::HUGE));
    values(d, ty, twin, huge)
}

pub(super) fn zero_divisor(d: &mut Draft<'_, '_>) -> Pair {
    let (left, ty) = (integer(d), integer_type(d));
    let op = d.pick(&[BinaryOp::Div, BinaryOp::Rem]);
    values(d, ty, infix(op, &left, &number(1)), infix(op, &left, &number(0)))
}

pub(super) fn single_parenthesized(d: &mut Draft<'_, '_>) -> Pair {
    let bits = single_bits(d);
    let broken = values_of(&[&bits], |places| NodeKind::Paren(places[0]));
    values(d, ScalarType::F32, bits, broken)
}

pub(super) fn cast_of_float(d: &mut Draft<'_, '_>) -> Pair {
    let (good, bad, ty) = (integer(d), float(d), integer_type(d));
    let cast = d.pick(&[Cast::S64, Cast::U64]);
    let cast = |operand: &Expr| values_of(&[operand], |places| NodeKind::Cast(cast, places[0]));
    values(d, ty, cast(&good), cast(&bad))
}

pub(super) fn too_few_lanes(d: &mut Draft<'_, '_>) -> Pair {
    full_vector(d, |v| {
        items(&mut v.initializer).pop();
    })
}

pub(super) fn value_for_vector(d: &mut Draft<'_, '_>) -> Pair {
    full_vector(d, |v| v.initializer = Some(items(&mut v.initializer).swap_remove(0)))
}

pub(super) fn list_for_lane(d: &mut Draft<'_, '_>) -> Pair {
    let at = d.below(2);
    full_vector(d, |v| {
        let items = items(&mut v.initializer);
        items[at] = Initializer::list(vec![items[at].clone()]);
    })
}

/// A vector with a value for each element, changed.
fn full_vector(d: &mut Draft<'_, '_>, change: impl FnOnce(&mut Declarator)) -> Pair {
    let mut twin = vector(d, &INTEGERS);
    let count = twin.vector().map_or(0, VectorLength::count);
    let lane = |d: &mut Draft<'_, '_>| Initializer::Value(d.expression(|d| d.make(Nonterminal::Literal, 1)));
    twin.declarators[0].initializer = Some(Initializer::list((0..count).map(|_| lane(d)).collect()));
    changed(twin, change)
}

pub(super) fn trailing_comma(d: &mut Draft<'_, '_>) -> Pair {
    let outer = extents::<2>(d);
    let rank = 1 + d.below(2);
    let twin = array(d, &outer[..rank]);
    let row = d.below(outer[0] as usize);
    changed(twin, |v| {
        let Some(Initializer::List(list)) = &mut v.initializer else { return };
        match &mut list.items[row] {
            Initializer::List(inner) => inner.trailing_comma = true,
            _ => list.trailing_comma = true,
        }
    })
}

pub(super) fn zero_dimension(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let dimension = number(extents::<1>(d)[0]);
    changed(declaration(space(d), ty, variable(vec![Some(dimension)], None)), |v| {
        v.dimensions[0] = Some(number(0));
    })
}

pub(super) fn opaque_vector(d: &mut Draft<'_, '_>) -> Pair {
    let mut twin = vector(d, &INTEGERS);
    twin.specifiers[0] = Specifier::Space(StateSpace::Global, None);
    respecified(twin, |specifiers| {
        for specifier in specifiers {
            if let Specifier::Type(_) = specifier {
                *specifier = Specifier::Opaque(OpaqueType::Texref);
            }
        }
    })
}

pub(super) fn predicate_initialized(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    respecified(scalar(d, ty), |specifiers| set_type(specifiers, ScalarType::Pred))
}
