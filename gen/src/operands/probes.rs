//! Probes of all operands except plain memory accesses.

use ptxsmith_syntax::{ScalarType, StateSpace};

use ScalarType as T;

use super::{
    KernelText,
    memory::{KernelVariable, show_elements, variable},
    put::{offset, put},
    value::{braces, random, spelled},
};
use crate::{draft::Draft, nonterminal::Nonterminal};

/// Writes the address that `mov` yields for an operand to the output buffer.
fn show_address(kernel: &mut KernelText, from: &str) {
    kernel.show_value(T::U64, from);
}

/// Declares a variable with an address that can be checked from outside the kernel.
fn target(d: &mut Draft<'_, '_>, kernel: &mut KernelText) -> KernelVariable {
    let space = d.storage();
    // The address of a local variable is not observable.
    let space = if space == StateSpace::Local { StateSpace::Shared } else { space };
    variable(d, kernel, space, T::U32)
}

/// Shows `mov p, var` or `mov p, var + offset`.
pub(crate) fn move_variable(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let target = target(d, kernel);
    let small = target.space != StateSpace::Global;
    let offset = match d.byte() {
        0..=99 => return show_address(kernel, &target.name),
        // The address is not accessed, so any offset is valid, except a negative one in a 32-bit state space.
        100..=159 => i64::from(d.byte()),
        160..=199 if !small => -i64::from(d.byte()),
        200..=219 if !small => i64::from(i32::MAX) - i64::from(d.byte()),
        220..=239 if !small => i64::from(i32::MIN) + i64::from(d.byte()),
        _ => i64::from(d.word() as u16),
    };
    let from = format!("{} + {}", target.name, spelled(d, offset));
    show_address(kernel, &from);
}

/// Shows `mov p, var[index]`.
pub(crate) fn move_element(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let target = target(d, kernel);
    let index = match d.byte() {
        // The address is not accessed, so an index past the end is valid.
        0..=199 => d.below((target.scalars / target.step) as usize + 1) as i64,
        200..=231 => i64::from(d.word() as u16),
        _ if target.space == StateSpace::Global => -1 - d.below(8) as i64,
        _ => 0,
    };
    let from = format!("{}[{}]", target.name, spelled(d, index));
    show_address(kernel, &from);
}

/// Declares a function with these results, parameters and instructions.
fn function(kernel: &mut KernelText, result: &str, parameter: &str, body: &str) -> String {
    let name = kernel.named("f");
    kernel.items += &format!(".func ({result}) {name}({parameter}) {{ {body} ret; }}");
    name
}

/// Declares a function that adds a random number to its argument.
fn adder(d: &mut Draft<'_, '_>, kernel: &mut KernelText) -> String {
    let body = format!("add.u32 b, a, {};", random(d, T::U16));
    function(kernel, ".reg .u32 b", ".reg .u32 a", &body)
}

pub(crate) fn move_function(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let function = adder(d, kernel);
    show_address(kernel, &function);
}

pub(crate) fn move_kernel(_d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    // The kernel takes its own address; its name is declared before its body.
    show_address(kernel, "k0");
}

/// Shows an immediate of any value, converted to the type of the instruction.
pub(crate) fn immediate(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let types = [T::U32, T::U64, T::S32, T::S64, T::U16, T::S16, T::B32, T::B64, T::B16, T::F64, T::F32];
    let ty = d.pick(&types);
    let floats = matches!(ty, T::F32 | T::F64);
    let of = match Nonterminal::value_of(ty) {
        Some(of) if floats && d.config().floats => of,
        _ => Nonterminal::Integer,
    };
    let ty = if floats && of == Nonterminal::Integer { T::U32 } else { ty };
    let value = d.expression(|d| d.make(of, 7));
    kernel.show_value(ty, value);
}

/// Uses a constant in place of a predicate.
pub(crate) fn predicate_constant(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    // Zero, the only false constant, half of the time.
    let truth = match d.byte() {
        0..=127 => 0,
        128..=191 => 1,
        byte => i64::from(byte) - 224,
    };
    let constant = spelled(d, truth);
    let (a, b) = (random(d, T::U32), random(d, T::U32));
    let register = kernel.register(T::U32);
    let condition = match d.byte() {
        0..=99 => constant,
        100..=179 => kernel.held(T::Pred, constant),
        _ => {
            let p = kernel.register(T::Pred);
            let operator = d.pick(&["and", "or", "xor"]);
            let compare = d.pick(&["eq", "ne", "lt"]);
            let three = kernel.held(T::U32, 3);
            put!(kernel, "setp.{compare}.{operator}.u32 {p}, {three}, 3, {constant};");
            p
        }
    };
    put!(kernel, "selp.u32 {register}, {a}, {b}, {condition};");
    kernel.show(T::U32, &register);
}

/// Moves a list of registers into a vector register, and back: `mov.v4 V, {a, b, c, d}`.
pub(crate) fn vector_move(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let ty = d.pick(&[T::U32, T::F32, T::B32, T::S32]);
    let lanes = d.pick(&[4, 2]);
    let parts = some_held(d, kernel, ty, lanes);
    let vector = kernel.vector(ty, lanes);
    put!(kernel, "mov.v{lanes}{ty} {vector}, {};", braces(&parts));
    match d.byte() {
        0..=99 => show_elements(d, kernel, ty, &vector, lanes),
        100..=199 => {
            let again: Vec<String> = (0..lanes).map(|_| kernel.register(ty)).collect();
            put!(kernel, "mov.v{lanes}{ty} {}, {vector};", braces(&again));
            kernel.show_all(ty, &again);
        }
        _ => {
            let other = kernel.vector(ty, lanes);
            put!(kernel, "mov.v{lanes}{ty} {other}, {vector}; mov{ty} {other}.y, {};", random(d, ty));
            show_elements(d, kernel, ty, &other, lanes);
        }
    }
}

/// Returns `count` registers that hold random values.
fn some_held(d: &mut Draft<'_, '_>, kernel: &mut KernelText, ty: ScalarType, count: u64) -> Vec<String> {
    let mut registers = Vec::new();
    for _ in 0..count {
        let value = random(d, ty);
        registers.push(kernel.held(ty, value));
    }
    registers
}

/// Splits a scalar into a list in braces, or builds one from such a list.
pub(crate) fn pack(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let (whole, part, count) = d.pick(&[(T::B64, T::B32, 2), (T::B32, T::B16, 2), (T::B64, T::B16, 4)]);
    if d.byte() < 128 {
        let parts: Vec<String> = (0..count).map(|_| kernel.register(part)).collect();
        let value = random(d, whole);
        let from = kernel.held(whole, value);
        put!(kernel, "mov{whole} {}, {from};", braces(&parts));
        kernel.show_all(part, &parts);
    } else {
        let parts = some_held(d, kernel, part, count);
        kernel.show_value(whole, braces(&parts));
    }
}

/// Accesses a variable through its generic address and through its state space.
pub(crate) fn generic(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let space = d.storage();
    let KernelVariable { name, scalars, .. } = variable(d, kernel, space, T::U32);
    let at = 4 * d.below(scalars as usize) as u64;
    let pointer = kernel.register(T::U64);
    if d.byte() < 128 {
        put!(kernel, "cvta{space}.u64 {pointer}, {name};");
    } else {
        put!(kernel, "mov.u64 {pointer}, {name}; cvta{space}.u64 {pointer}, {pointer};");
    }
    let through = format!("[{pointer} + {}]", spelled(d, at as i64));
    let by_name = offset(&name, at);
    let register = kernel.register(T::U32);
    let value = random(d, T::U32);
    match (space, d.byte()) {
        (StateSpace::Global | StateSpace::Const, chosen) => {
            put!(kernel, "ld.u32 {register}, {through};");
            if chosen < 128 {
                kernel.show(T::U64, &pointer);
            }
        }
        (_, 0..=127) => put!(kernel, "st.u32 {through}, {value}; ld{space}.u32 {register}, {by_name};"),
        _ => put!(kernel, "st{space}.u32 {by_name}, {value}; ld.u32 {register}, {through};"),
    }
    kernel.show(T::U32, &register);
}

/// Returns a register with a value that no assembler can fold: it is loaded from writable global memory.
fn loaded(kernel: &mut KernelText, value: u64) -> String {
    let variable = kernel.named("v");
    kernel.items += &format!(".global .u32 {variable} = {value};");
    let register = kernel.register(T::U32);
    put!(kernel, "ld.global.u32 {register}, [{variable}];");
    register
}

/// Branches over a `mov`, depending on a comparison at run time.
pub(crate) fn branch(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let value = u64::from(d.byte());
    let tested = loaded(kernel, value);
    let limit = d.byte();
    let (first, second) = (random(d, T::U32), random(d, T::U32));
    let result = kernel.held(T::U32, first);
    let p = kernel.register(T::Pred);
    let compare = d.pick(&["lt", "ge", "eq", "ne", "hi"]);
    let not = if d.byte() < 128 { "!" } else { "" };
    let over = kernel.named("L");
    put!(
        kernel,
        "setp.{compare}.u32 {p}, {tested}, {limit}; @{not}{p} bra {over}; mov.u32 {result}, {second}; {over}:"
    );
    kernel.show(T::U32, &result);
}

/// Branches to one of several labels by index (`brx.idx`).
pub(crate) fn branch_table(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let count = 2 + d.below(3);
    let index = d.below(count) as u64;
    let index = loaded(kernel, index);
    let result = kernel.register(T::U32);
    let (table, end) = (kernel.named("L"), kernel.named("L"));
    let targets: Vec<String> = (0..count).map(|_| kernel.named("L")).collect();
    // A table may contain a label more than once.
    let named: Vec<&str> = (0..count).map(|at| &*targets[if d.byte() >= 230 { 0 } else { at }]).collect();
    put!(kernel, "{table}: .branchtargets {}; brx.idx {index}, {table};", named.join(", "));
    for target in &targets {
        put!(kernel, "{target}: mov.u32 {result}, {}; bra {end};", random(d, T::U32));
    }
    put!(kernel, "{end}:");
    kernel.show(T::U32, &result);
}

/// Calls a function by name. The argument is a register, an immediate or a `.param` variable.
pub(crate) fn call(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    if d.byte() >= 160 {
        return call_with_parameters(d, kernel);
    }
    let function = adder(d, kernel);
    let result = kernel.register(T::U32);
    let argument = if d.byte() < 128 {
        random(d, T::U32)
    } else {
        let value = d.word() & 0xffff;
        loaded(kernel, value)
    };
    put!(kernel, "call ({result}), {function}, ({argument});");
    kernel.show(T::U32, &result);
}

/// Passes arguments in `.param` variables, which are addressed with offsets like other variables.
fn call_with_parameters(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let at = 4 * d.below(4) as i64;
    let body = format!(".reg .u32 t; ld.param.u32 t, [a + {}]; st.param.u32 [b + 4], t;", spelled(d, at));
    let function = function(kernel, ".param .align 8 .b8 b[8]", ".param .align 8 .b8 a[16]", &body);
    let [a, b] = ["pa", "pb"].map(|name| function.replace('f', name));
    put!(kernel, ".param .align 8 .b8 {a}[16]; .param .align 8 .b8 {b}[8];");
    for at in [0, 4, 8, 12] {
        put!(kernel, "st.param.u32 [{a} + {at}], {};", random(d, T::U32));
    }
    let result = kernel.register(T::U32);
    put!(kernel, "call ({b}), {function}, ({a}); ld.param.u32 {result}, [{b} + 4];");
    kernel.show(T::U32, &result);
}

/// Calls a function through a register that holds its address.
pub(crate) fn call_indirect(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let function = adder(d, kernel);
    let pointer = kernel.held(T::U64, function);
    let prototype = kernel.named("L");
    let result = kernel.register(T::U32);
    let argument = random(d, T::U32);
    put!(kernel, "{prototype}: .callprototype (.reg .u32 _) _ (.reg .u32 _);");
    put!(kernel, "call ({result}), {pointer}, ({argument}), {prototype};");
    kernel.show(T::U32, &result);
}

/// Passes a vector register to a function.
pub(crate) fn call_vector(d: &mut Draft<'_, '_>, kernel: &mut KernelText) {
    let element = d.pick(&["x", "y", "z", "w"]);
    let body = format!("mov.u32 b, a.{element};");
    let function = function(kernel, ".reg .u32 b", ".reg .v4 .u32 a", &body);
    let vector = kernel.vector(T::U32, 4);
    for element in ["x", "y", "z", "w"] {
        put!(kernel, "mov.u32 {vector}.{element}, {};", random(d, T::U32));
    }
    let register = kernel.register(T::U32);
    put!(kernel, "call ({register}), {function}, ({vector});");
    kernel.show(T::U32, &register);
}
