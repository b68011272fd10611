//! The edits: functions that generate a valid declaration and its broken version.

use ptxsmith_syntax::{Declarator, Initializer, ScalarType, TypeKind, precedence};

use super::pair::ProgramPair;
use crate::{boundary, draft::Draft, nonterminal::Nonterminal, written::items_or_unread};

// Pieces of declarations

const INTEGER_KINDS: &[TypeKind] = &[TypeKind::Signed, TypeKind::Unsigned];
pub(super) const INTEGERS: &[&str] =
    &keywords(ScalarType::with_values::<{ ScalarType::count(INTEGER_KINDS) }>(INTEGER_KINDS));
const FLOAT_KINDS: &[TypeKind] = &[TypeKind::Float];
pub(super) const FLOATS: &[&str] =
    &keywords(ScalarType::with_values::<{ ScalarType::count(FLOAT_KINDS) }>(FLOAT_KINDS));

const fn keywords<const N: usize>(types: [ScalarType; N]) -> [&'static str; N] {
    let (mut words, mut at) = ([""; N], 0);
    while at < N {
        words[at] = types[at].keyword();
        at += 1;
    }
    words
}

pub(super) fn integer_type(d: &mut Draft<'_, '_>) -> &'static str {
    d.pick(INTEGERS)
}

pub(super) fn space(d: &mut Draft<'_, '_>) -> &'static str {
    d.pick(&[".global", ".global", ".const"])
}

/// Creates a scalar with different values in the valid counterpart and the broken program, after other statements.
pub(super) fn behind(
    d: &mut Draft<'_, '_>,
    before: &str,
    ty: &str,
    counterpart: &str,
    broken: &str,
) -> ProgramPair {
    ProgramPair::around(&format!("{before} {} {ty} v0 = @;", space(d)), counterpart, broken)
}

/// Like `behind`, without other statements.
fn values(d: &mut Draft<'_, '_>, ty: &str, counterpart: &str, broken: &str) -> ProgramPair {
    behind(d, "", ty, counterpart, broken)
}

/// Spells a full array of literals.
fn array(d: &mut Draft<'_, '_>, extents: &[u64]) -> String {
    fn list(d: &mut Draft<'_, '_>, extents: &[u64]) -> String {
        match extents {
            [] => literal(d),
            [extent, inner @ ..] => braced((0..*extent).map(|_| list(d, inner))),
        }
    }
    let ty = integer_type(d);
    let dimensions: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
    let list = list(d, extents);
    format!("{} {ty} v0{dimensions} = {list};", space(d))
}

fn braced(entries: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn extents<const N: usize>(d: &mut Draft<'_, '_>) -> [u64; N] {
    std::array::from_fn(|_| d.pick(&[2, 1, 3]))
}

fn items(v: &mut Declarator) -> &mut Vec<Initializer> {
    v.initializer.as_mut().map(inner_items).expect("the counterpart of this edit has a list")
}

fn inner_items(entry: &mut Initializer) -> &mut Vec<Initializer> {
    match entry {
        Initializer::List(list) => &mut list.items,
        _ => unreachable!("the counterpart of this edit has a list of lists"),
    }
}

fn repeat_first(items: &mut Vec<Initializer>) {
    items.push(items[0].clone());
}

fn in_braces(entry: &mut Initializer) {
    *entry = Initializer::list(vec![entry.clone()]);
}

// Pieces of expressions

pub(super) fn made(d: &mut Draft<'_, '_>, of: Nonterminal, room: u32) -> String {
    d.expression(|d| d.make(of, room)).to_string()
}

pub(super) fn literal(d: &mut Draft<'_, '_>) -> String {
    made(d, Nonterminal::Literal, 1)
}

/// Spells a float that can be an operand of any operator.
fn float(d: &mut Draft<'_, '_>) -> String {
    operand(d, Nonterminal::Float)
}

fn integer(d: &mut Draft<'_, '_>) -> String {
    operand(d, Nonterminal::Integer)
}

fn operand(d: &mut Draft<'_, '_>, of: Nonterminal) -> String {
    let room = 1 + d.below(3) as u32;
    d.expression(|d| {
        d.make(of, room);
        d.bind(precedence::PRIMARY);
    })
    .to_string()
}

fn single_bits(d: &mut Draft<'_, '_>) -> String {
    made(d, Nonterminal::SingleBits, 1)
}

fn arithmetic(d: &mut Draft<'_, '_>) -> &'static str {
    d.pick(&["+", "-", "*"])
}

// The edits, in the order of the table

pub(super) fn malformed(d: &mut Draft<'_, '_>, spellings: &[&str]) -> ProgramPair {
    let text = d.pick(spellings);
    let (ty, counterpart) = (integer_type(d), literal(d));
    if d.byte() < 128 {
        return values(d, ty, &counterpart, text);
    }
    let left = integer(d);
    values(d, ty, &format!("{left} + {counterpart}"), &format!("{left} + {text}"))
}

/// Creates a variable initialized with a valid literal, and in the broken program with one of these spellings.
pub(super) fn other_literal(
    d: &mut Draft<'_, '_>,
    types: &[&str],
    of: Nonterminal,
    spellings: &[&str],
) -> ProgramPair {
    let text = d.pick(spellings);
    let (ty, counterpart) = (d.pick(types), made(d, of, 1));
    values(d, ty, &counterpart, text)
}

pub(super) fn integer_only_infix(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (left, right, ty) = (float(d), float(d), d.pick(FLOATS));
    let good = arithmetic(d);
    let bad = d.pick(&["%", "<<", ">>", "&", "|", "^", "&&", "||"]);
    values(d, ty, &format!("{left} {good} {right}"), &format!("{left} {bad} {right}"))
}

pub(super) fn integer_only_prefix(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (operand, ty) = (float(d), d.pick(FLOATS));
    let bad = d.pick(&["!", "~"]);
    values(d, ty, &format!("-{operand}"), &format!("{bad}{operand}"))
}

/// Applies an integer operator to floats in an integer variable. The variable accepts the kind of the result.
pub(super) fn integer_only_infix_in_integer(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (good, left, right, ty) = (integer(d), float(d), float(d), integer_type(d));
    let op = d.pick(&["&&", "||", "%", "<<", ">>", "&", "|", "^"]);
    // No divisor of the valid counterpart is zero.
    values(d, ty, &format!("{good} {op} 1"), &format!("{left} {op} {right}"))
}

pub(super) fn integer_only_prefix_in_integer(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (good, bad, ty, op) = (integer(d), float(d), integer_type(d), d.pick(&["!", "~"]));
    values(d, ty, &format!("{op}{good}"), &format!("{op}{bad}"))
}

pub(super) fn mixed_infix(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (left, right, other, op) = (float(d), float(d), integer(d), arithmetic(d));
    let ty = d.pick(FLOATS);
    let broken =
        if d.byte() < 128 { format!("{left} {op} {other}") } else { format!("{other} {op} {right}") };
    values(d, ty, &format!("{left} {op} {right}"), &broken)
}

pub(super) fn mixed_comparison(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (left, right, other) = (float(d), float(d), integer(d));
    let op = d.pick(&["<", ">", "<=", ">=", "==", "!="]);
    let ty = integer_type(d);
    values(d, ty, &format!("{left} {op} {right}"), &format!("{left} {op} {other}"))
}

pub(super) fn mixed_ternary(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (condition, then, otherwise, other) = (integer(d), integer(d), integer(d), float(d));
    let ty = integer_type(d);
    let [valid, broken] = [otherwise, other].map(|otherwise| format!("{condition} ? {then} : {otherwise}"));
    values(d, ty, &valid, &broken)
}

pub(super) fn single_infix(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (left, right, bits, op) = (float(d), float(d), single_bits(d), arithmetic(d));
    let ty = d.pick(FLOATS);
    values(d, ty, &format!("{left} {op} {right}"), &format!("{left} {op} {bits}"))
}

/// The valid counterpart has the same bits without the operator, in the only type that certainly accepts them.
pub(super) fn single_in(d: &mut Draft<'_, '_>, any: &[&str]) -> ProgramPair {
    let bits = single_bits(d);
    let broken = d.pick(any).replace('#', &bits);
    values(d, ".f32", &bits, &broken)
}

pub(super) fn float_condition(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (condition, then, otherwise, other) = (integer(d), integer(d), integer(d), float(d));
    let ty = integer_type(d);
    let [valid, broken] = [condition, other].map(|condition| format!("{condition} ? {then} : {otherwise}"));
    values(d, ty, &valid, &broken)
}

/// Creates a variable of a type from a list, initialized with a valid kind of value, and in the broken program with
/// another kind.
pub(super) fn value_kind(
    d: &mut Draft<'_, '_>,
    good: Nonterminal,
    bad: Nonterminal,
    types: &[&str],
) -> ProgramPair {
    let (good, bad, ty) = (operand(d, good), operand(d, bad), d.pick(types));
    values(d, ty, &good, &bad)
}

pub(super) fn half_initialized(d: &mut Draft<'_, '_>) -> ProgramPair {
    let ty = d.pick(FLOATS);
    let half = d.pick(&[".f16", ".f16x2"]);
    let value = made(d, Nonterminal::FloatLiteral, 1);
    ProgramPair::around(&format!("{} @ v0 = {value};", space(d)), ty, half)
}

pub(super) fn other_space(d: &mut Draft<'_, '_>) -> ProgramPair {
    let ty = integer_type(d);
    let other = d.pick(&[".shared", ".local"]);
    let value = literal(d);
    ProgramPair::around(&format!("@ {ty} v0 = {value};"), space(d), other)
}

pub(super) fn extern_initialized(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value) = (integer_type(d), literal(d));
    ProgramPair::around(&format!("@ {} {ty} v0 = {value};", space(d)), "", ".extern")
}

pub(super) fn too_many(d: &mut Draft<'_, '_>, inner: usize) -> ProgramPair {
    let outer = extents::<2>(d);
    let counterpart = array(d, &outer[..=inner]);
    let row = d.below(outer[0] as usize);
    ProgramPair::changed(&counterpart, |v| {
        let items = items(v);
        repeat_first(if inner == 1 { inner_items(&mut items[row]) } else { items });
    })
}

pub(super) fn value_for_row(d: &mut Draft<'_, '_>) -> ProgramPair {
    let extents = extents::<2>(d);
    let counterpart = array(d, &extents);
    let row = d.below(extents[0] as usize);
    ProgramPair::changed(&counterpart, |v| {
        let items = items(v);
        items[row] = inner_items(&mut items[row]).swap_remove(0);
    })
}

pub(super) fn value_for_array(d: &mut Draft<'_, '_>) -> ProgramPair {
    let extents = extents::<1>(d);
    ProgramPair::changed(&array(d, &extents), value_for_list)
}

fn value_for_list(v: &mut Declarator) {
    v.initializer = Some(items(v).swap_remove(0));
}

pub(super) fn list_for_scalar(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value) = (integer_type(d), literal(d));
    values(d, ty, &value, &format!("{{{value}}}"))
}

pub(super) fn list_for_element(d: &mut Draft<'_, '_>) -> ProgramPair {
    let extents = extents::<1>(d);
    let counterpart = array(d, &extents);
    let at = d.below(extents[0] as usize);
    ProgramPair::changed(&counterpart, |v| in_braces(&mut items(v)[at]))
}

pub(super) fn inner_omitted(d: &mut Draft<'_, '_>) -> ProgramPair {
    let extents = extents::<3>(d);
    let rank = 2 + d.below(2);
    let counterpart = array(d, &extents[..rank]);
    let at = 1 + d.below(rank - 1);
    ProgramPair::changed(&counterpart, |v| v.dimensions[at] = None)
}

/// Creates an array without an initializer. The broken program has another dimension, in which `#` is the original extent.
pub(super) fn dimension(d: &mut Draft<'_, '_>, any: &[&str]) -> ProgramPair {
    let ty = integer_type(d);
    let extent = extents::<1>(d)[0].to_string();
    let broken = d.pick(any).replace('#', &extent);
    ProgramPair::around(&format!("{} {ty} v0[@];", space(d)), &extent, &broken)
}

/// Chooses the state space, a valid length and one of these types for a vector without an initializer.
fn vector(d: &mut Draft<'_, '_>, types: &[&'static str]) -> (&'static str, &'static str, &'static str) {
    let ty = d.pick(types);
    let length = if ty.ends_with("64") { ".v2" } else { d.pick(&[".v2", ".v4"]) };
    (space(d), length, ty)
}

pub(super) fn other_length(d: &mut Draft<'_, '_>) -> ProgramPair {
    // Use short elements, so that only the length is invalid.
    let (space, length, ty) = vector(d, &[".s8", ".u8", ".b8", ".u16", ".b16"]);
    ProgramPair::around(&format!("{space} @ {ty} v0;"), length, d.pick(&[".v3", ".v8"]))
}

pub(super) fn two_spaces(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, space, other) = (integer_type(d), space(d), space(d));
    ProgramPair::around(&format!("{space} @ {ty} v0 = {};", literal(d)), "", other)
}

pub(super) fn two_types(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, other) = (integer_type(d), integer_type(d));
    ProgramPair::around(&format!("{} {ty} @ v0 = {};", space(d), literal(d)), "", other)
}

pub(super) fn no_name(d: &mut Draft<'_, '_>) -> ProgramPair {
    let words = format!("{} {}", space(d), integer_type(d));
    ProgramPair {
        broken: items_or_unread(&format!("{words};")),
        ..ProgramPair::around(&format!("{words} v0;"), "", "")
    }
}

pub(super) fn align_behind(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, align) = (integer_type(d), format!(".align {}", 1 << d.below(6)));
    ProgramPair::around(
        &format!("{} @ v0 = {};", space(d), literal(d)),
        &format!("{align} {ty}"),
        &format!("{ty} {align}"),
    )
}

pub(super) fn vector_behind(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (space, length, ty) = vector(d, INTEGERS);
    ProgramPair::around(&format!("{space} @ v0;"), &format!("{length} {ty}"), &format!("{ty} {length}"))
}

pub(super) fn too_long(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (space, length, ty) = vector(d, &[".f64", ".s64", ".u64", ".b64"]);
    ProgramPair::around(&format!("{space} @ {ty} v0;"), length, ".v4")
}

pub(super) fn predicate_vector(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (space, length, ty) = vector(d, INTEGERS);
    ProgramPair::around(&format!("{space} {length} @ v0;"), ty, ".pred")
}

pub(super) fn no_power(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value, space) = (integer_type(d), literal(d), space(d));
    let good = 1 << d.below(6);
    let bad = d.pick(&["3", "5", "6", "7", "9", "12", "24", "48", "100", "0"]);
    ProgramPair::around(&format!("{space} .align @ {ty} v0 = {value};"), &good.to_string(), bad)
}

pub(super) fn predicate_data(d: &mut Draft<'_, '_>) -> ProgramPair {
    let ty = integer_type(d);
    ProgramPair::around(&format!("{} @ v0;", space(d)), ty, ".pred")
}

pub(super) fn managed_const(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value) = (integer_type(d), literal(d));
    ProgramPair::around(&format!("@ .attribute(.managed) {ty} v0 = {value};"), ".global", ".const")
}

pub(super) fn unified_const(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value) = (integer_type(d), literal(d));
    ProgramPair::around(&format!("@ .attribute(.unified(19, 95)) {ty} v0 = {value};"), ".global", ".const")
}

fn parameterized(d: &mut Draft<'_, '_>, more: &str) -> ProgramPair {
    let (ty, space) = (integer_type(d), space(d));
    ProgramPair::around(&format!("{space} {ty} v0<{}>@;", extents::<1>(d)[0]), "", more)
}

pub(super) fn parameterized_initializer(d: &mut Draft<'_, '_>) -> ProgramPair {
    let value = literal(d);
    parameterized(d, &format!(" = {value}"))
}

pub(super) fn parameterized_array(d: &mut Draft<'_, '_>) -> ProgramPair {
    let extent = extents::<1>(d)[0];
    parameterized(d, &format!("[{extent}]"))
}

pub(super) fn huge_literal(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, counterpart) = (integer_type(d), literal(d));
    let huge = d.pick(&boundary::HUGE);
    values(d, ty, &counterpart, huge)
}

pub(super) fn zero_divisor(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (left, ty) = (integer(d), integer_type(d));
    let op = d.pick(&["/", "%"]);
    values(d, ty, &format!("{left} {op} 1"), &format!("{left} {op} 0"))
}

pub(super) fn cast_of_float(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (good, bad, ty) = (integer(d), float(d), integer_type(d));
    let cast = d.pick(&["(.s64)", "(.u64)"]);
    values(d, ty, &format!("{cast}{good}"), &format!("{cast}{bad}"))
}

pub(super) fn too_many_lanes(d: &mut Draft<'_, '_>) -> ProgramPair {
    full_vector(d, |v| repeat_first(items(v)))
}

pub(super) fn too_few_lanes(d: &mut Draft<'_, '_>) -> ProgramPair {
    full_vector(d, |v| drop(items(v).pop()))
}

pub(super) fn value_for_vector(d: &mut Draft<'_, '_>) -> ProgramPair {
    full_vector(d, value_for_list)
}

pub(super) fn list_for_lane(d: &mut Draft<'_, '_>) -> ProgramPair {
    let at = d.below(2);
    full_vector(d, |v| in_braces(&mut items(v)[at]))
}

/// Creates a vector with a value for each element. The broken program has the change applied.
fn full_vector(d: &mut Draft<'_, '_>, change: impl FnOnce(&mut Declarator)) -> ProgramPair {
    let (space, length, ty) = vector(d, INTEGERS);
    let lanes = if length == ".v2" { 2 } else { 4 };
    let list = braced((0..lanes).map(|_| literal(d)));
    ProgramPair::changed(&format!("{space} {length} {ty} v0 = {list};"), change)
}

pub(super) fn trailing_comma(d: &mut Draft<'_, '_>) -> ProgramPair {
    let outer = extents::<2>(d);
    let rank = 1 + d.below(2);
    let counterpart = array(d, &outer[..rank]);
    let row = d.below(outer[0] as usize);
    ProgramPair::changed(&counterpart, |v| {
        let Some(Initializer::List(list)) = &mut v.initializer else { return };
        match &mut list.items[row] {
            Initializer::List(inner) => inner.trailing_comma = true,
            _ => list.trailing_comma = true,
        }
    })
}

pub(super) fn opaque_vector(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (_, length, ty) = vector(d, INTEGERS);
    ProgramPair::around(&format!(".global {length} @ v0;"), ty, ".texref")
}

pub(super) fn predicate_initialized(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, value) = (integer_type(d), literal(d));
    ProgramPair::around(&format!("{} @ v0 = {value};", space(d)), ty, ".pred")
}
