//! Edits of programs with addresses, masks, attributes and function bodies.

use ptxsmith_syntax::{
    Attribute, BinaryOp, Cast, Declaration, Expr, Function, FunctionKind, Initializer, Instruction, Item,
    Name, NodeKind, ScalarType, Specifier, StateSpace, Statement, UnaryOp,
};

use super::{
    edits::{
        declaration, infix, integer_type, number, prefix, set_type, space, ternary, values_of, variable,
    },
    pair::{Pair, changed_behind, respecified, respecified_behind},
};
use crate::{draft::Draft, nonterminal::Nonterminal};

// Pieces

/// A variable `v1` whose address is taken.
fn target(d: &mut Draft<'_, '_>) -> Declaration {
    let ty = integer_type(d);
    let mut target = declaration(space(d), ty, variable(Vec::new(), None));
    target.declarators[0].name = Name::new("v1");
    target
}

fn context(d: &mut Draft<'_, '_>) -> Vec<Item> {
    vec![Item::Variables(target(d))]
}

fn v1() -> Expr {
    Expr::name("v1")
}

/// `v0` of this type with this value.
fn holder(d: &mut Draft<'_, '_>, ty: ScalarType, value: Expr) -> Declaration {
    declaration(space(d), ty, variable(Vec::new(), Some(Initializer::Value(value))))
}

/// A word that holds an address in the twin, and something else in the broken program.
fn word(d: &mut Draft<'_, '_>, broken: Expr) -> Pair {
    let context = context(d);
    let twin = holder(d, ScalarType::U64, v1());
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

fn masked(mask: &str, operand: &Expr) -> Expr {
    values_of(&[operand], |places| NodeKind::Mask(mask.into(), places[0]))
}

fn mask(d: &mut Draft<'_, '_>) -> String {
    format!("{:#x}", 0xff_u64 << (8 * d.below(8)))
}

/// A byte that holds one of an address in the twin, and something else in the broken program.
fn byte(d: &mut Draft<'_, '_>, context: Vec<Item>, broken: Expr) -> Pair {
    let mask = mask(d);
    let twin = holder(d, ScalarType::U8, masked(&mask, &v1()));
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

fn function(kind: FunctionKind, name: &str, after: Vec<Specifier>, mut body: Vec<Statement>) -> Item {
    body.push(Statement::Instruction(Box::new(Instruction::new("ret", Vec::new()))));
    Item::Function(Box::new(Function { after, ..Function::new(kind, name, Vec::new(), body) }))
}

fn attribute(name: &str, arguments: &[u64]) -> Specifier {
    let arguments = arguments.iter().map(|&argument| number(argument)).collect();
    Specifier::Attributes(vec![Attribute { name: Name::new(name), arguments }])
}

// The edits, in the order of the table

pub(super) fn name_in_dimension(d: &mut Draft<'_, '_>) -> Pair {
    let context = context(d);
    let ty = integer_type(d);
    let twin = declaration(space(d), ty, variable(vec![Some(number(2))], None));
    changed_behind(context, twin, |v| v.dimensions[0] = Some(v1()))
}

pub(super) fn name_in_align(d: &mut Draft<'_, '_>) -> Pair {
    let context = context(d);
    let ty = integer_type(d);
    let mut twin = declaration(space(d), ty, variable(Vec::new(), None));
    twin.specifiers.insert(1, Specifier::Align(number(8)));
    respecified_behind(context, twin, |specifiers| specifiers[1] = Specifier::Align(v1()))
}

pub(super) fn other_space(d: &mut Draft<'_, '_>) -> Pair {
    let target = target(d);
    let mut shared = target.clone();
    shared.specifiers[0] = Specifier::Space(StateSpace::Shared, None);
    let generic = values_of(&[&v1()], |places| NodeKind::Generic(places[0]));
    let value = if d.byte() < 128 { v1() } else { generic };
    let holder = holder(d, ScalarType::U64, value);
    let with = |target| vec![Item::Variables(target), Item::Variables(holder.clone())];
    Pair::new(with(target), with(shared))
}

pub(super) fn other_type(d: &mut Draft<'_, '_>) -> Pair {
    let context = context(d);
    let twin = holder(d, ScalarType::U64, v1());
    let other = d.pick(&[
        ScalarType::S64,
        ScalarType::B64,
        ScalarType::F64,
        ScalarType::S32,
        ScalarType::B32,
        ScalarType::F32,
        ScalarType::U16,
        ScalarType::S16,
        ScalarType::B16,
        ScalarType::S8,
        ScalarType::B8,
    ]);
    respecified_behind(context, twin, |specifiers| set_type(specifiers, other))
}

/// The same where names of variables stand for their generic addresses.
pub(super) fn other_type_before_3_1(d: &mut Draft<'_, '_>) -> Pair {
    let pair = other_type(d);
    Pair { headers: Pair::since(Vec::new(), "sm_20", ("3.0", "3.0")).headers, ..pair }
}

pub(super) fn kernel_before_3_1(d: &mut Draft<'_, '_>) -> Pair {
    let kernel = function(FunctionKind::Entry, "v1", Vec::new(), Vec::new());
    let holder = holder(d, ScalarType::U64, v1());
    // The targets of 3.0 end below the one from which implementations have kernels that start kernels.
    let Pair { twin, broken, headers } =
        Pair::since(vec![kernel, Item::Variables(holder)], "sm_35", ("3.1", "3.0"));
    let headers = headers.map(|mut headers| {
        headers.broken.target = "sm_30".to_owned();
        headers
    });
    Pair { twin, broken, headers }
}

pub(super) fn byte_without_mask(d: &mut Draft<'_, '_>) -> Pair {
    let context = context(d);
    byte(d, context, v1())
}

/// `var + -4` and `var - 4`.
pub(super) fn subtracted(d: &mut Draft<'_, '_>) -> Pair {
    let offset = number(1 + d.below(64) as u64);
    let context = context(d);
    let negative = prefix(UnaryOp::Minus, &offset);
    let twin = holder(d, ScalarType::U64, infix(BinaryOp::Add, &v1(), &negative));
    let broken = infix(BinaryOp::Sub, &v1(), &offset);
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

/// `var + 4` and `4 + var`.
pub(super) fn offset_first(d: &mut Draft<'_, '_>) -> Pair {
    let offset = number(1 + d.below(64) as u64);
    let context = context(d);
    let twin = holder(d, ScalarType::U64, infix(BinaryOp::Add, &v1(), &offset));
    let broken = infix(BinaryOp::Add, &offset, &v1());
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

/// `generic(var) + 4` and `generic(var + 4)`.
pub(super) fn offset_in_generic(d: &mut Draft<'_, '_>) -> Pair {
    let offset = number(1 + d.below(64) as u64);
    let context = context(d);
    let generic = |operand: &Expr| values_of(&[operand], |places| NodeKind::Generic(places[0]));
    let twin = holder(d, ScalarType::U64, infix(BinaryOp::Add, &generic(&v1()), &offset));
    let broken = generic(&infix(BinaryOp::Add, &v1(), &offset));
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

/// `function`, and `function + 4` or `generic(function)`.
pub(super) fn more_than_a_function(d: &mut Draft<'_, '_>) -> Pair {
    let kind = d.pick(&[FunctionKind::Func, FunctionKind::Entry]);
    let context = vec![function(kind, "v1", Vec::new(), Vec::new())];
    let twin = holder(d, ScalarType::U64, v1());
    let broken = match d.byte() {
        0..128 => infix(BinaryOp::Add, &v1(), &number(8)),
        _ => values_of(&[&v1()], |places| NodeKind::Generic(places[0])),
    };
    changed_behind(context, twin, |v| v.initializer = Some(Initializer::Value(broken)))
}

pub(super) fn prefix_of_address(d: &mut Draft<'_, '_>) -> Pair {
    let op = d.pick(&[UnaryOp::Minus, UnaryOp::Complement, UnaryOp::Not, UnaryOp::Plus]);
    word(d, prefix(op, &v1()))
}

pub(super) fn cast_of_address(d: &mut Draft<'_, '_>) -> Pair {
    let cast = d.pick(&[Cast::S64, Cast::U64]);
    word(d, values_of(&[&v1()], |places| NodeKind::Cast(cast, places[0])))
}

pub(super) fn infix_of_address(d: &mut Draft<'_, '_>) -> Pair {
    let op = d.pick(&[
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Lt,
        BinaryOp::Eq,
        BinaryOp::LogicalAnd,
    ]);
    let two = number(1 + d.below(8) as u64);
    word(d, infix(op, &v1(), &two))
}

pub(super) fn two_addresses(d: &mut Draft<'_, '_>) -> Pair {
    let op = d.pick(&[BinaryOp::Sub, BinaryOp::Add, BinaryOp::Eq]);
    word(d, infix(op, &v1(), &v1()))
}

pub(super) fn float_offset(d: &mut Draft<'_, '_>) -> Pair {
    word(d, infix(BinaryOp::Add, &v1(), &Expr::number("4.0")))
}

pub(super) fn ternary_of_addresses(d: &mut Draft<'_, '_>) -> Pair {
    word(d, ternary(&number(1), &v1(), &v1()))
}

pub(super) fn generic_of_constant(d: &mut Draft<'_, '_>) -> Pair {
    let eight = number(8);
    word(d, values_of(&[&eight], |places| NodeKind::Generic(places[0])))
}

pub(super) fn generic_twice(d: &mut Draft<'_, '_>) -> Pair {
    let once = values_of(&[&v1()], |places| NodeKind::Generic(places[0]));
    word(d, values_of(&[&once], |places| NodeKind::Generic(places[0])))
}

pub(super) fn other_mask(d: &mut Draft<'_, '_>) -> Pair {
    let mask = d.pick(&[
        "0",
        "0x0",
        "1",
        "0x7f",
        "0xf",
        "0xff0",
        "0xffff",
        "0x1ff",
        "0xff00ff",
        "0xffffffffffffffff",
        "256",
        "0x1fe",
    ]);
    let context = context(d);
    let operand = if d.byte() < 192 { v1() } else { number(1000) };
    byte(d, context, masked(mask, &operand))
}

pub(super) fn mask_of_float(d: &mut Draft<'_, '_>) -> Pair {
    let mask = mask(d);
    let float = Expr::number(d.pick(&["1.0", "0d3ff0000000000000", "0f3f800000", "2e3"]));
    let context = context(d);
    byte(d, context, masked(&mask, &float))
}

pub(super) fn mask_of_function(d: &mut Draft<'_, '_>) -> Pair {
    let kind = d.pick(&[FunctionKind::Func, FunctionKind::Entry]);
    let mask = mask(d);
    let mut context = context(d);
    context.push(function(kind, "v2", Vec::new(), Vec::new()));
    byte(d, context, masked(&mask, &Expr::name("v2")))
}

pub(super) fn mask_of_mask(d: &mut Draft<'_, '_>) -> Pair {
    let (outer, inner) = (mask(d), mask(d));
    let context = context(d);
    byte(d, context, masked(&outer, &masked(&inner, &v1())))
}

pub(super) fn mask_before_7_1(d: &mut Draft<'_, '_>) -> Pair {
    let mut items = context(d);
    let mask = mask(d);
    items.push(Item::Variables(holder(d, ScalarType::U8, masked(&mask, &v1()))));
    Pair::since(items, "sm_80", ("7.1", "7.0"))
}

pub(super) fn mask_of_constant_before_7_3(d: &mut Draft<'_, '_>) -> Pair {
    let mask = mask(d);
    let value = d.expression(|d| d.make(Nonterminal::Literal, 1));
    let items = vec![Item::Variables(holder(d, ScalarType::U8, masked(&mask, &value)))];
    Pair::since(items, "sm_80", ("7.3", "7.2"))
}

pub(super) fn label(d: &mut Draft<'_, '_>) -> Pair {
    let mut context = context(d);
    let kind = d.pick(&[FunctionKind::Func, FunctionKind::Entry]);
    let program = |context: &[Item], value: &str| {
        let value = Some(Initializer::Value(Expr::name(value)));
        let inner = declaration(StateSpace::Global, ScalarType::U64, variable(Vec::new(), value));
        let body = vec![Statement::Variables(inner), Statement::Label(Name::new("v3"))];
        let mut items = context.to_vec();
        items.push(function(kind, "v2", Vec::new(), body));
        items
    };
    let twin = program(&context, "v1");
    let broken = program(&context, "v3");
    context.clear();
    Pair::new(twin, broken)
}

pub(super) fn unknown_name(d: &mut Draft<'_, '_>) -> Pair {
    let unknown = Expr::name(d.pick(&["v9", "V1", "v1_", "_v1", "%tid"]));
    let value = match d.below(3) {
        0 => unknown,
        1 => infix(BinaryOp::Add, &unknown, &number(4)),
        _ => values_of(&[&unknown], |places| NodeKind::Generic(places[0])),
    };
    word(d, value)
}

pub(super) fn managed_before_4_0(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = declaration(StateSpace::Global, ty, variable(Vec::new(), None));
    twin.specifiers.insert(1, attribute(".managed", &[]));
    Pair::since(vec![Item::Variables(twin)], "sm_30", ("4.0", "3.2"))
}

pub(super) fn managed_with_arguments(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = declaration(StateSpace::Global, ty, variable(Vec::new(), None));
    twin.specifiers.insert(1, attribute(".managed", &[]));
    respecified(twin, |specifiers| specifiers[1] = attribute(".managed", &[1]))
}

pub(super) fn unified_arguments(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = declaration(StateSpace::Global, ty, variable(Vec::new(), None));
    twin.specifiers.insert(1, attribute(".unified", &[19, 95]));
    let arguments = d.pick(&[&[] as &[u64], &[19], &[19, 95, 1]]);
    let pair = respecified(twin, |specifiers| specifiers[1] = attribute(".unified", arguments));
    Pair { headers: Pair::since(Vec::new(), "sm_90", ("8.0", "8.0")).headers, ..pair }
}

pub(super) fn unified_target(d: &mut Draft<'_, '_>) -> Pair {
    let ty = integer_type(d);
    let mut twin = declaration(StateSpace::Global, ty, variable(Vec::new(), None));
    twin.specifiers.insert(1, attribute(".unified", &[19, 95]));
    let mut pair = Pair::since(vec![Item::Variables(twin)], "sm_90", ("8.0", "8.0"));
    if let Some(headers) = &mut pair.headers {
        headers.broken.target = "sm_80".to_owned();
    }
    pair
}

pub(super) fn function_attribute_before_8_0(_: &mut Draft<'_, '_>) -> Pair {
    let unified = vec![attribute(".unified", &[0xab, 0xcd])];
    let items = vec![function(FunctionKind::Func, "v0", unified, Vec::new())];
    Pair::since(items, "sm_90", ("8.0", "7.8"))
}

pub(super) fn initialized_in_a_body(d: &mut Draft<'_, '_>) -> Pair {
    let value = d.expression(|d| d.make(Nonterminal::LowBits, 1));
    let space = d.pick(&[StateSpace::Reg, StateSpace::Local, StateSpace::Shared]);
    let program = |initializer: Option<Initializer>| {
        let inner = declaration(space, ScalarType::U32, variable(Vec::new(), initializer));
        vec![function(FunctionKind::Entry, "v2", Vec::new(), vec![Statement::Variables(inner)])]
    };
    Pair::new(program(None), program(Some(Initializer::Value(value))))
}
