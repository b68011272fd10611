//! Probes of memory: variables in every state space, named and reached in every form.

use ptxsmith_syntax::{ScalarType, StateSpace, TypeKind};

use super::{
    Kernel,
    put::{offset, put},
    value::{braces, list, random, spelled},
};
use crate::{
    choice::{Access, Place},
    draft::Draft,
};

/// The types that tell most, in this order.
const FIRST: [ScalarType; 14] = [
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

/// The types that variables and accesses have: all that take an initial value, the most telling first.
const TYPES: [ScalarType; ScalarType::count(TypeKind::OF_VALUES)] = {
    let all: [ScalarType; ScalarType::count(TypeKind::OF_VALUES)] =
        ScalarType::with_values(TypeKind::OF_VALUES);
    let (mut types, mut count, mut at) = (all, 0, 0);
    while count < FIRST.len() {
        types[count] = FIRST[count];
        count += 1;
    }
    while at < all.len() {
        let mut first = 0;
        while first < FIRST.len() && FIRST[first] as u8 != all[at] as u8 {
            first += 1;
        }
        if first == FIRST.len() {
            types[count] = all[at];
            count += 1;
        }
        at += 1;
    }
    types
};

/// A variable that a probe uses.
pub(super) struct Variable {
    pub name: String,
    pub space: StateSpace,
    pub ty: ScalarType,
    /// Scalars in one step of the first dimension: more than one where the elements are rows or vectors.
    pub step: u64,
    /// All scalars.
    pub scalars: u64,
}

/// Declares a variable of so many scalars at least, aligned so that every wide access can be.
pub(super) fn variable(
    d: &mut Draft<'_, '_>,
    kernel: &mut Kernel,
    space: StateSpace,
    ty: ScalarType,
) -> Variable {
    let name = kernel.named("v");
    let size = ty.bytes();
    let shape = d.byte();
    let length = 4 * (1 + d.below(3) as u64);
    // Rows and vectors as elements are rare: what an index means there is an open question.
    let (extents, vector) = match shape {
        240..=247 => (vec![2, length / 2], ""),
        248.. if size <= 4 => (vec![length / 4, 4], ".v4"),
        _ => (vec![length], ""),
    };
    let align = if d.byte() < 128 { 16 } else { 32 };
    let dimensions = &extents[..if vector.is_empty() { extents.len() } else { 1 }];
    let dimensions: String = dimensions.iter().map(|extent| format!("[{extent}]")).collect();
    let mut text = format!("{space} .align {align} {vector} {ty} {name}{dimensions}");
    if matches!(space, StateSpace::Global | StateSpace::Const) {
        text += &format!(" = {}", list(d, ty, &extents));
    }
    let to = if space == StateSpace::Local { &mut kernel.locals } else { &mut kernel.items };
    *to += &(text + ";");
    Variable { name, space, ty, step: extents[1..].iter().product(), scalars: extents.iter().product() }
}

/// A variable is read, and in spaces without initial values written before, through one form of address.
pub(crate) fn memory(d: &mut Draft<'_, '_>, kernel: &mut Kernel) {
    let form = d.place();
    if form == Place::Absolute {
        return absolute(d, kernel);
    }
    let space = d.storage();
    let kind = d.access();
    let ty = d.pick(&TYPES);
    let size = ty.bytes();
    let (lanes, vector) = match kind {
        Access::Scalar => (1, ""),
        // At most 128 bits move at once.
        _ if size == 8 => (2, ".v2"),
        _ => d.pick(&[(4, ".v4"), (2, ".v2")]),
    };
    let variable = variable(d, kernel, space, ty);
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
    let by_name = offset(&variable.name, first * size);
    let written = !matches!(space, StateSpace::Global | StateSpace::Const);
    // Which of store and load is by the form that is tried: the other is by name.
    let through_store = written && d.byte() < 128;
    if written {
        let to = if through_store { address(d, kernel, form, &variable, first) } else { by_name.clone() };
        let values: Vec<String> = (0..lanes).map(|_| random(d, ty)).collect();
        // Immediates, or registers that hold them.
        let in_registers = d.byte() < 160;
        let held = |value| if in_registers { kernel.held(ty, value) } else { value };
        let value = one_or_more(&values.into_iter().map(held).collect::<Vec<_>>());
        put!(kernel, "st{space}{vector}{ty} {to}, {value};");
    }
    let from = if through_store { by_name } else { address(d, kernel, form, &variable, first) };
    if kind == Access::Register {
        let register = kernel.vector(ty, lanes);
        put!(kernel, "ld{space}{vector}{ty} {register}, {from};");
        return show_elements(d, kernel, ty, &register, lanes);
    }
    let mut registers: Vec<String> = (0..lanes).map(|_| kernel.register(ty)).collect();
    let mut to = registers.clone();
    // An element that is not used.
    if lanes > 1 && d.byte() >= 224 {
        let at = d.below(lanes as usize);
        to[at] = "_".to_owned();
        registers.remove(at);
    }
    put!(kernel, "ld{space}{vector}{ty} {}, {from};", one_or_more(&to));
    kernel.show_all(ty, &registers);
}

fn one_or_more(operands: &[String]) -> String {
    if let [one] = operands { one.clone() } else { braces(operands) }
}

/// Shows the elements of a vector register by their suffixes, in an order that the bytes choose.
pub(super) fn show_elements(
    d: &mut Draft<'_, '_>,
    kernel: &mut Kernel,
    ty: ScalarType,
    vector: &str,
    lanes: u64,
) {
    let letters = d.pick(&[["x", "y", "z", "w"], ["r", "g", "b", "a"]]);
    let turn = d.below(lanes as usize);
    for nth in 0..lanes as usize {
        kernel.show_value(ty, format_args!("{vector}.{}", letters[(nth + turn) % lanes as usize]));
    }
}

/// An address in this form of the scalar `first` of a variable.
fn address(
    d: &mut Draft<'_, '_>,
    kernel: &mut Kernel,
    form: Place,
    variable: &Variable,
    first: u64,
) -> String {
    let bytes = first * variable.ty.bytes();
    let index = (first / variable.step) as i64;
    let name = &variable.name;
    match form {
        Place::Register => format!("[{}]", pointer(d, kernel, variable, 0)),
        Place::RegisterOffset => {
            let offset = any_offset(d);
            format!("[{} + {}]", pointer(d, kernel, variable, bytes as i64 - offset), spelled(d, offset))
        }
        Place::VariableOffset => format!("[{name} + {}]", spelled(d, bytes as i64)),
        Place::Element => format!("{name}[{}]", spelled(d, index)),
        Place::ElementRegister => format!("{name}[{}]", index_register(d, kernel, index)),
        Place::ElementRegisterOffset => {
            // A constant of more than the index makes the register negative.
            let part = d.below(index as usize + 4) as i64;
            format!("{name}[{} + {}]", index_register(d, kernel, index - part), spelled(d, part))
        }
        Place::ElementSubtracted => {
            let part = d.below(16) as i64;
            format!("{name}[{} - {}]", index_register(d, kernel, index + part), spelled(d, part))
        }
        _ => offset(name, bytes),
    }
}

/// A byte offset from a register: small, or as far as an offset reaches.
fn any_offset(d: &mut Draft<'_, '_>) -> i64 {
    match d.byte() {
        0..=127 => 4 * d.below(32) as i64,
        128..=207 => -4 * d.below(32) as i64,
        208..=223 => i64::from(i32::MAX) - d.below(8) as i64,
        224..=239 => i64::from(i32::MIN) + d.below(8) as i64,
        _ => i64::from(d.word() as i32),
    }
}

/// A register that points so many bytes behind the start of a variable.
fn pointer(d: &mut Draft<'_, '_>, kernel: &mut Kernel, variable: &Variable, bytes: i64) -> String {
    // Where addresses have 32 bits, 32 bits can hold them.
    let small = variable.space == StateSpace::Shared && d.byte() >= 200;
    let types: &[ScalarType] = if small {
        &[ScalarType::U32, ScalarType::B32]
    } else {
        &[ScalarType::U64, ScalarType::B64, ScalarType::S64]
    };
    let ty = d.pick(types);
    let register = kernel.held(ty, &variable.name);
    if bytes != 0 {
        // Of a bit-size type there is no sum.
        let sum = match (ty.kind(), small) {
            (TypeKind::Bits, true) => ScalarType::U32,
            (TypeKind::Bits, false) => ScalarType::U64,
            _ => ty,
        };
        put!(kernel, "add{sum} {register}, {register}, {};", spelled(d, bytes));
    }
    register
}

/// A register that holds this index.
fn index_register(d: &mut Draft<'_, '_>, kernel: &mut Kernel, index: i64) -> String {
    let types = [ScalarType::S32, ScalarType::S64, ScalarType::U32, ScalarType::B32, ScalarType::U64];
    let ty = d.pick(if index < 0 { &types[..2] } else { &types });
    let value = spelled(d, index);
    kernel.held(ty, value)
}

/// What is stored at a number in `.local` space is there when it is loaded.
fn absolute(d: &mut Draft<'_, '_>, kernel: &mut Kernel) {
    let at = 8 * d.below(16) as i64;
    let value = random(d, ScalarType::U32);
    let register = kernel.register(ScalarType::U32);
    put!(kernel, "st.local.u32 [{}], {value};", spelled(d, at));
    put!(kernel, "ld.local.u32 {register}, [{}];", spelled(d, at));
    kernel.show(ScalarType::U32, &register);
}
