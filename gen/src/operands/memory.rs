//! Probes of memory accesses: variables in every state space, accessed through every form of address.

use ptxsmith_syntax::{ScalarType, StateSpace, TypeKind};

use super::{
    KernelText,
    put::{offset, put},
    value::{braces, list, random, spelled},
};
use crate::{
    choice::{AddressForm, DataForm},
    draft::Draft,
};

/// The types that reveal most deviations, most useful first.
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

/// The types of variables and accesses: every type that can have an initial value, those of `FIRST` in front.
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

/// A variable that a probe accesses.
pub(super) struct KernelVariable {
    pub name: String,
    pub space: StateSpace,
    pub ty: ScalarType,
    /// Scalars per step of the first dimension. More than 1 if the elements are rows or vectors.
    pub step: u64,
    /// The total number of scalars.
    pub scalars: u64,
}

/// Declares an array of at least four scalars, aligned for the widest access.
pub(super) fn variable(
    d: &mut Draft<'_, '_>,
    kernel: &mut KernelText,
    space: StateSpace,
    ty: ScalarType,
) -> KernelVariable {
    let name = kernel.named("v");
    let size = ty.bytes();
    let shape = d.byte();
    let length = 4 * (1 + d.below(3) as u64);
    // Rows and vectors as elements are rare, because the meaning of an index into them is ambiguous.
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
    KernelVariable { name, space, ty, step: extents[1..].iter().product(), scalars: extents.iter().product() }
}

/// Reads a variable through one form of address. In state spaces without initial values, writes it first.
pub(crate) fn memory(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let form = d.place();
    if form == AddressForm::Absolute {
        return absolute(d, kernel);
    }
    let space = d.storage();
    let kind = d.access();
    let ty = d.pick(&TYPES);
    let size = ty.bytes();
    let (lanes, vector) = match kind {
        DataForm::Scalar => (1, ""),
        // At most 128 bits move at once.
        _ if size == 8 => (2, ".v2"),
        _ => d.pick(&[(4, ".v4"), (2, ".v2")]),
    };
    let variable = variable(d, kernel, space, ty);
    let by_element = matches!(
        form,
        AddressForm::Element
            | AddressForm::ElementRegister
            | AddressForm::ElementRegisterOffset
            | AddressForm::ElementSubtracted
    );
    // The first scalar accessed. The access stays aligned and within bounds; an index is a whole number of steps.
    let unit = if by_element { variable.step.max(lanes) } else { lanes };
    let first = match form {
        AddressForm::Variable | AddressForm::Register => 0,
        _ => d.below((variable.scalars / unit) as usize) as u64 * unit,
    };
    let by_name = offset(&variable.name, first * size);
    let written = !matches!(space, StateSpace::Global | StateSpace::Const);
    // Either the store or the load uses the chosen form of address; the other one uses the variable's name.
    let through_store = written && d.byte() < 128;
    if written {
        let to = if through_store { address(d, kernel, form, &variable, first) } else { by_name.clone() };
        let mut values: Vec<String> = (0..lanes).map(|_| random(d, ty)).collect();
        // Store either immediates or registers that hold them.
        if d.byte() < 160 {
            values = values.into_iter().map(|value| kernel.held(ty, value)).collect();
        }
        let value = one_or_more(&values);
        put!(kernel, "st{space}{vector}{ty} {to}, {value};");
    }
    let from = if through_store { by_name } else { address(d, kernel, form, &variable, first) };
    if kind == DataForm::Register {
        let register = kernel.vector(ty, lanes);
        put!(kernel, "ld{space}{vector}{ty} {register}, {from};");
        return show_elements(d, kernel, ty, &register, lanes);
    }
    let mut registers: Vec<String> = (0..lanes).map(|_| kernel.register(ty)).collect();
    let mut to = registers.clone();
    // Discard one element with `_`.
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
    kernel: &mut KernelText,
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

/// Returns the address of the scalar with index `first` of a variable, in this form.
fn address(
    d: &mut Draft<'_, '_>,
    kernel: &mut KernelText,
    form: AddressForm,
    variable: &KernelVariable,
    first: u64,
) -> String {
    let bytes = first * variable.ty.bytes();
    let index = (first / variable.step) as i64;
    let name = &variable.name;
    match form {
        AddressForm::Register => format!("[{}]", pointer(d, kernel, variable, 0)),
        AddressForm::RegisterOffset => {
            let offset = any_offset(d);
            format!("[{} + {}]", pointer(d, kernel, variable, bytes as i64 - offset), spelled(d, offset))
        }
        AddressForm::VariableOffset => format!("[{name} + {}]", spelled(d, bytes as i64)),
        AddressForm::Element => format!("{name}[{}]", spelled(d, index)),
        AddressForm::ElementRegister => format!("{name}[{}]", index_register(d, kernel, index)),
        AddressForm::ElementRegisterOffset => {
            // The register is negative if the constant exceeds the index.
            let part = d.below(index as usize + 4) as i64;
            format!("{name}[{} + {}]", index_register(d, kernel, index - part), spelled(d, part))
        }
        AddressForm::ElementSubtracted => {
            let part = d.below(16) as i64;
            format!("{name}[{} - {}]", index_register(d, kernel, index + part), spelled(d, part))
        }
        _ => offset(name, bytes),
    }
}

/// Draws a byte offset from a register: a small one, one near the limits of `i32`, or any 32-bit one.
fn any_offset(d: &mut Draft<'_, '_>) -> i64 {
    match d.byte() {
        0..=127 => 4 * d.below(32) as i64,
        128..=207 => -4 * d.below(32) as i64,
        208..=223 => i64::from(i32::MAX) - d.below(8) as i64,
        224..=239 => i64::from(i32::MIN) + d.below(8) as i64,
        _ => i64::from(d.word() as i32),
    }
}

/// Returns a register that points `bytes` bytes past the start of a variable.
fn pointer(d: &mut Draft<'_, '_>, kernel: &mut KernelText, variable: &KernelVariable, bytes: i64) -> String {
    // Addresses in `.shared` fit into 32 bits.
    let small = variable.space == StateSpace::Shared && d.byte() >= 200;
    let types: &[ScalarType] = if small {
        &[ScalarType::U32, ScalarType::B32]
    } else {
        &[ScalarType::U64, ScalarType::B64, ScalarType::S64]
    };
    let ty = d.pick(types);
    let register = kernel.held(ty, &variable.name);
    if bytes != 0 {
        // `add` does not accept bit-size types.
        let sum = match (ty.kind(), small) {
            (TypeKind::Bits, true) => ScalarType::U32,
            (TypeKind::Bits, false) => ScalarType::U64,
            _ => ty,
        };
        put!(kernel, "add{sum} {register}, {register}, {};", spelled(d, bytes));
    }
    register
}

/// Returns a register that holds this index.
fn index_register(d: &mut Draft<'_, '_>, kernel: &mut KernelText, index: i64) -> String {
    let types = [ScalarType::S32, ScalarType::S64, ScalarType::U32, ScalarType::B32, ScalarType::U64];
    let ty = d.pick(if index < 0 { &types[..2] } else { &types });
    let value = spelled(d, index);
    kernel.held(ty, value)
}

/// Stores a value at an immediate address in `.local` and loads it back.
fn absolute(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let at = 8 * d.below(16) as i64;
    let value = random(d, ScalarType::U32);
    let register = kernel.register(ScalarType::U32);
    put!(kernel, "st.local.u32 [{}], {value};", spelled(d, at));
    put!(kernel, "ld.local.u32 {register}, [{}];", spelled(d, at));
    kernel.show(ScalarType::U32, &register);
}
