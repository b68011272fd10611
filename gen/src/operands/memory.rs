//! Probes of memory: variables in every state space, named and reached in every form.

use ptxsmith_syntax::{
    BinaryOp, Declaration, Expr, Item, Name, Operand, ScalarType, Span, Specifier, StateSpace, Text,
    TypeKind, VectorLength,
};

use super::{
    kernel::{declarator, held_in, joined, number, plus},
    value::{list, random, spelled},
};
use crate::{
    choice::{Access, Place},
    draft::Draft,
};

/// The types that variables and accesses have.
const TYPES: [ScalarType; 14] = [
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::S32,
    ScalarType::B32,
    ScalarType::U16,
    ScalarType::U8,
    ScalarType::F32,
    ScalarType::S64,
    ScalarType::B64,
    ScalarType::F64,
    ScalarType::S16,
    ScalarType::B16,
    ScalarType::S8,
    ScalarType::B8,
];

/// A variable that a probe uses.
pub(super) struct Variable {
    pub name: Text,
    pub space: StateSpace,
    pub ty: ScalarType,
    /// Scalars in one step of the first dimension: more than one where the elements are rows or vectors.
    pub step: u64,
    /// All scalars.
    pub scalars: u64,
}

/// Declares a variable of so many scalars at least, aligned so that every wide access can be.
pub(super) fn variable(d: &mut Draft<'_, '_>, space: StateSpace, ty: ScalarType) -> Variable {
    let name = Text::from(format!("v{}", d.sketch.kernel.number()));
    let size = ty.size().unwrap_or(4);
    let shape = d.byte();
    let length = 4 * (1 + d.below(3) as u64);
    // Rows and vectors as elements are rare: what an index means there is an open question.
    let (extents, vector): (Vec<u64>, Option<VectorLength>) = match shape {
        240..=247 => (vec![2, length / 2], None),
        248.. if size <= 4 => (vec![length / 4], Some(VectorLength::V4)),
        _ => (vec![length], None),
    };
    let mut specifiers = vec![Specifier::Space(space, None)];
    specifiers.push(Specifier::Align(Expr::number(if d.byte() < 128 { "16" } else { "32" })));
    specifiers.extend(vector.map(Specifier::Vector));
    specifiers.push(Specifier::Type(ty));
    let mut one = declarator(&name, None);
    one.dimensions = extents.iter().map(|&extent| Some(number(extent))).collect();
    let lanes = vector.map(|vector| vector.count());
    if matches!(space, StateSpace::Global | StateSpace::Const) {
        let all: Vec<u64> = extents.iter().copied().chain(lanes).collect();
        one.initializer = Some(list(d, ty, &all));
    }
    let declaration = Declaration { specifiers, declarators: vec![one], span: Span::NONE };
    match space {
        StateSpace::Local => d.sketch.kernel.locals.push(declaration),
        _ => d.sketch.kernel.items.push(Item::Variables(declaration)),
    }
    let step = extents[1..].iter().product::<u64>() * lanes.unwrap_or(1);
    let scalars = extents.iter().product::<u64>() * lanes.unwrap_or(1);
    Variable { name, space, ty, step, scalars }
}

/// A variable is read, and in spaces without initial values written before, through one form of address.
pub(crate) fn memory(d: &mut Draft<'_, '_>, _: u32) {
    let form = d.place();
    if form == Place::Absolute {
        return absolute(d);
    }
    let space = d.storage();
    let kind = d.access();
    let ty = d.pick(&TYPES);
    let size = ty.size().unwrap_or(4);
    let lanes = match kind {
        Access::Scalar => 1,
        // At most 128 bits move at once.
        _ if size == 8 => 2,
        _ => d.pick(&[4, 2]),
    };
    let variable = variable(d, space, ty);
    let by_element = matches!(
        form,
        Place::Element | Place::ElementRegister | Place::ElementRegisterOffset | Place::ElementSubtracted
    );
    // The first scalar, so that the access is aligned and inside; of an index, a whole number of steps.
    let unit = if by_element { variable.step.max(lanes) } else { lanes };
    let first = match form {
        Place::Variable | Place::Register => 0,
        _ => d.below((variable.scalars / unit) as usize) as u64 * unit,
    };
    let byte = (first * size) as i64;
    let written = !matches!(space, StateSpace::Global | StateSpace::Const);
    // Which of store and load is by the form that is tried: the other is by name.
    let through_store = written && d.byte() < 128;
    let suffix = format!("{}{}{}", space.keyword(), vector(lanes), ty.keyword());
    if written {
        let to = if through_store { address(d, form, &variable, first) } else { by_name(&variable, byte) };
        let values = (0..lanes).map(|_| Operand::Value(random(d, ty))).collect();
        let value = together(d, ty, values);
        d.sketch.kernel.add(&format!("st{suffix}"), vec![to, value]);
    }
    let from = if through_store { by_name(&variable, byte) } else { address(d, form, &variable, first) };
    let opcode = format!("ld{suffix}");
    match kind {
        Access::Register => {
            let length = if lanes == 2 { VectorLength::V2 } else { VectorLength::V4 };
            let held = held_in(ty);
            let vector = d.sketch.kernel.vector(held, length);
            d.sketch.kernel.add(&opcode, vec![Operand::name(&vector), from]);
            show_elements(d, ty, &vector, lanes);
        }
        _ => {
            let registers: Vec<Text> = (0..lanes).map(|_| d.sketch.kernel.register(ty)).collect();
            let names: Vec<Operand> = registers.iter().map(|name| Operand::name(name)).collect();
            let mut to = names.clone();
            // An element that nobody wants.
            let dropped = (lanes > 1 && d.byte() >= 224).then(|| d.below(lanes as usize));
            if let Some(at) = dropped {
                to[at] = Operand::name("_");
            }
            let to = if lanes == 1 { to.remove(0) } else { Operand::Vector(to) };
            d.sketch.kernel.add(&opcode, vec![to, from]);
            let shown = names.into_iter().enumerate().filter(|(at, _)| dropped != Some(*at));
            d.sketch.kernel.show_all(ty, shown.map(|(_, name)| name).collect());
        }
    }
}

/// `.v2`, `.v4`, or nothing.
fn vector(lanes: u64) -> &'static str {
    match lanes {
        1 => "",
        2 => ".v2",
        _ => ".v4",
    }
}

/// Source operands of one store: immediates, or registers that hold them.
fn together(d: &mut Draft<'_, '_>, ty: ScalarType, values: Vec<Operand>) -> Operand {
    let in_registers = d.byte() < 160;
    let mut values: Vec<Operand> = values
        .into_iter()
        .map(|value| {
            // A register of 16 bits takes what an immediate of 8 is as a number of its own type.
            if !in_registers {
                return value;
            }
            let register = d.sketch.kernel.register(ty);
            let held = held_in(ty);
            d.sketch.kernel.add(&format!("mov{}", held.keyword()), vec![Operand::name(&register), value]);
            Operand::name(&register)
        })
        .collect();
    if values.len() == 1 { values.remove(0) } else { Operand::Vector(values) }
}

/// Shows the elements of a vector register by their suffixes, in an order that the bytes choose.
pub(super) fn show_elements(d: &mut Draft<'_, '_>, ty: ScalarType, vector: &str, lanes: u64) {
    let letters: [&str; 4] = d.pick(&[[".x", ".y", ".z", ".w"], [".r", ".g", ".b", ".a"]]);
    let turn = d.below(lanes as usize);
    for nth in 0..lanes as usize {
        let suffix = letters[(nth + turn) % lanes as usize];
        let register = d.sketch.kernel.register(ty);
        let element = Operand::Component(Name::new(vector), Name::new(suffix));
        let held = held_in(ty);
        d.sketch.kernel.add(&format!("mov{}", held.keyword()), vec![Operand::name(&register), element]);
        d.sketch.kernel.show(ty, Operand::name(&register));
    }
}

/// The plainest address of a place in a variable.
pub(super) fn by_name(variable: &Variable, byte: i64) -> Operand {
    match byte {
        0 => Operand::Address(Expr::name(variable.name.clone())),
        _ => Operand::Address(plus(&variable.name, number(byte as u64))),
    }
}

/// An address in this form of the scalar `first` of a variable.
fn address(d: &mut Draft<'_, '_>, form: Place, variable: &Variable, first: u64) -> Operand {
    let byte = (first * variable.ty.size().unwrap_or(4)) as i64;
    let index = (first / variable.step) as i64;
    let name = &variable.name;
    match form {
        Place::Register => {
            let pointer = pointer(d, variable, 0);
            Operand::Address(Expr::name(pointer))
        }
        Place::RegisterOffset => {
            let offset = offset(d);
            let pointer = pointer(d, variable, byte - offset);
            let offset = spelled(d, offset);
            Operand::Address(plus(&pointer, offset))
        }
        Place::VariableOffset => {
            let offset = spelled(d, byte);
            Operand::Address(plus(name, offset))
        }
        Place::Element => {
            let index = spelled(d, index);
            Operand::Element(Name::new(name.clone()), index)
        }
        Place::ElementRegister => {
            let register = index_register(d, index);
            Operand::Element(Name::new(name.clone()), Expr::name(register))
        }
        Place::ElementRegisterOffset => {
            // A constant of more than the index makes the register negative.
            let part = d.below(index as usize + 4) as i64;
            let register = index_register(d, index - part);
            let part = spelled(d, part);
            Operand::Element(Name::new(name.clone()), plus(&register, part))
        }
        Place::ElementSubtracted => {
            let part = d.below(16) as i64;
            let register = index_register(d, index + part);
            let part = spelled(d, part);
            Operand::Element(Name::new(name.clone()), joined(&register, BinaryOp::Sub, part))
        }
        _ => by_name(variable, byte),
    }
}

/// A byte offset from a register: small, or as far as an offset reaches.
fn offset(d: &mut Draft<'_, '_>) -> i64 {
    match d.byte() {
        0..=127 => 4 * d.below(32) as i64,
        128..=207 => -4 * d.below(32) as i64,
        208..=223 => i64::from(i32::MAX) - d.below(8) as i64,
        224..=239 => i64::from(i32::MIN) + d.below(8) as i64,
        _ => i64::from(d.word() as i32),
    }
}

/// A register that points so many bytes behind the start of a variable.
fn pointer(d: &mut Draft<'_, '_>, variable: &Variable, byte: i64) -> Text {
    // Where addresses have 32 bits, 32 bits can hold them.
    let small = variable.space == StateSpace::Shared && d.byte() >= 200;
    let types: &[ScalarType] = if small {
        &[ScalarType::U32, ScalarType::B32]
    } else {
        &[ScalarType::U64, ScalarType::B64, ScalarType::S64]
    };
    let ty = d.pick(types);
    let register = d.sketch.kernel.register(ty);
    let to = Operand::name(&register);
    let from = Operand::name(&variable.name);
    d.sketch.kernel.add(&format!("mov{}", ty.keyword()), vec![to.clone(), from]);
    if byte != 0 {
        // Of a bit-size type there is no sum.
        let sum = match (ty.kind(), small) {
            (TypeKind::Bits, true) => ScalarType::U32,
            (TypeKind::Bits, false) => ScalarType::U64,
            _ => ty,
        };
        let byte = spelled(d, byte);
        d.sketch.kernel.add(&format!("add{}", sum.keyword()), vec![to.clone(), to, Operand::Value(byte)]);
    }
    register
}

/// A register that holds this index.
fn index_register(d: &mut Draft<'_, '_>, index: i64) -> Text {
    let types = [ScalarType::S32, ScalarType::S64, ScalarType::U32, ScalarType::B32, ScalarType::U64];
    let ty = d.pick(if index < 0 { &types[..2] } else { &types });
    let register = d.sketch.kernel.register(ty);
    let value = Operand::Value(spelled(d, index));
    d.sketch.kernel.add(&format!("mov{}", ty.keyword()), vec![Operand::name(&register), value]);
    register
}

/// What is stored at a number in `.local` space is there when it is loaded.
fn absolute(d: &mut Draft<'_, '_>) {
    let at = 8 * d.below(16) as i64;
    let value = random(d, ScalarType::U32);
    let register = d.sketch.kernel.register(ScalarType::U32);
    let (to, from) = (spelled(d, at), spelled(d, at));
    d.sketch.kernel.add("st.local.u32", vec![Operand::Address(to), Operand::Value(value)]);
    d.sketch.kernel.add("ld.local.u32", vec![Operand::name(&register), Operand::Address(from)]);
    d.sketch.kernel.show(ScalarType::U32, Operand::name(&register));
}
