//! Probes of everything but plain accesses to memory.

use ptxsmith_syntax::{
    BranchTargets, Declaration, Expr, Function, FunctionKind, Gap, Instruction, Item, Name, Operand,
    ScalarType, Span, Specifier, StateSpace, Statement, Text, Token, VectorLength,
};

use super::{
    kernel::{declarator, number, plain, plus},
    memory::{by_name, show_elements, variable},
    value::{random, spelled},
};
use crate::{draft::Draft, nonterminal::Nonterminal};

fn name(text: &str) -> Operand {
    Operand::name(text)
}

fn mov(d: &mut Draft<'_, '_>, ty: ScalarType, to: &str, from: Operand) {
    d.sketch.kernel.add(&format!("mov{}", ty.keyword()), vec![name(to), from]);
}

/// Shows the address that an operand of `mov` is.
fn show_address(d: &mut Draft<'_, '_>, from: Operand) {
    let register = d.sketch.kernel.register(ScalarType::U64);
    mov(d, ScalarType::U64, &register, from);
    d.sketch.kernel.show(ScalarType::U64, name(&register));
}

/// A variable whose address has a name outside of the kernel.
fn target(d: &mut Draft<'_, '_>) -> super::memory::Variable {
    let space = d.storage();
    // Where a local variable lies shows nowhere.
    let space = if space == StateSpace::Local { StateSpace::Shared } else { space };
    variable(d, space, ScalarType::U32)
}

/// `mov p, var` and `mov p, var + offset`.
pub(crate) fn move_variable(d: &mut Draft<'_, '_>, _: u32) {
    let target = target(d);
    let from = match d.byte() {
        0..=99 => name(&target.name),
        chosen => {
            let small = target.space != StateSpace::Global;
            let offset = match chosen {
                // No access is made, so the address may be anywhere; a 32-bit one does not go below zero.
                100..=159 => i64::from(d.byte()),
                160..=199 if !small => -i64::from(d.byte()),
                200..=219 if !small => i64::from(i32::MAX) - i64::from(d.byte()),
                220..=239 if !small => i64::from(i32::MIN) + i64::from(d.byte()),
                _ => i64::from(d.word() as u16),
            };
            let offset = spelled(d, offset);
            Operand::Value(plus(&target.name, offset))
        }
    };
    show_address(d, from);
}

/// `mov p, var[index]`
pub(crate) fn move_element(d: &mut Draft<'_, '_>, _: u32) {
    let target = target(d);
    let index = match d.byte() {
        // One behind the last has an address too, and so have others.
        0..=199 => d.below((target.scalars / target.step) as usize + 1) as i64,
        200..=231 => i64::from(d.word() as u16),
        _ if target.space == StateSpace::Global => -1 - d.below(8) as i64,
        _ => 0,
    };
    let index = spelled(d, index);
    show_address(d, Operand::Element(Name::new(target.name), index));
}

/// A function that adds a number to its argument.
fn adder(d: &mut Draft<'_, '_>) -> Text {
    let function = Text::from(format!("f{}", d.sketch.kernel.number()));
    let register = |text: &str| plain(StateSpace::Reg, ScalarType::U32, declarator(text, None));
    let more = random(d, ScalarType::U16);
    let sum = Instruction::new("add.u32", vec![name("b"), name("a"), Operand::Value(more)]);
    let body = vec![sum, Instruction::new("ret", Vec::new())];
    declare(d, &function, vec![register("b")], vec![register("a")], body);
    function
}

fn declare(
    d: &mut Draft<'_, '_>,
    function: &Text,
    results: Vec<Declaration>,
    parameters: Vec<Declaration>,
    body: Vec<Instruction>,
) {
    let body = body.into_iter().map(|i| Statement::Instruction(Box::new(i))).collect();
    d.sketch.kernel.items.push(Item::Function(Box::new(Function {
        results: (!results.is_empty()).then_some(results),
        ..Function::new(FunctionKind::Func, function.clone(), parameters, body)
    })));
}

pub(crate) fn move_function(d: &mut Draft<'_, '_>, _: u32) {
    let function = adder(d);
    show_address(d, name(&function));
}

pub(crate) fn move_kernel(d: &mut Draft<'_, '_>, _: u32) {
    // Its own name is there already, and declared before its body.
    show_address(d, name("k0"));
}

/// An immediate of any value, converted to the type of the instruction.
pub(crate) fn immediate(d: &mut Draft<'_, '_>, _: u32) {
    let ty = d.pick(&[
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::S32,
        ScalarType::S64,
        ScalarType::U16,
        ScalarType::S16,
        ScalarType::B32,
        ScalarType::B64,
        ScalarType::B16,
        ScalarType::F64,
        ScalarType::F32,
    ]);
    let floats = matches!(ty, ScalarType::F32 | ScalarType::F64);
    let of = match Nonterminal::value_of(ty) {
        Some(of) if floats && d.config().floats => of,
        _ => Nonterminal::Integer,
    };
    let ty = if floats && of == Nonterminal::Integer { ScalarType::U32 } else { ty };
    let value = d.expression(|d| d.make(of, 7));
    let register = d.sketch.kernel.register(ty);
    mov(d, ty, &register, Operand::Value(value));
    d.sketch.kernel.show(ty, name(&register));
}

/// A constant where a predicate belongs.
pub(crate) fn predicate_constant(d: &mut Draft<'_, '_>, _: u32) {
    let truth = truth(d.byte());
    let value = spelled(d, truth);
    let constant = Operand::Value(value);
    let (a, b) = (random(d, ScalarType::U32), random(d, ScalarType::U32));
    let choice = |condition| vec![Operand::Value(a.clone()), Operand::Value(b.clone()), condition];
    let register = d.sketch.kernel.register(ScalarType::U32);
    let condition = match d.byte() {
        0..=99 => constant,
        100..=179 => {
            let p = d.sketch.kernel.register(ScalarType::Pred);
            mov(d, ScalarType::Pred, &p, constant);
            name(&p)
        }
        _ => {
            let p = d.sketch.kernel.register(ScalarType::Pred);
            let three = || Operand::Value(number(3));
            let operator = d.pick(&["and", "or", "xor"]);
            let compare = d.pick(&["eq", "ne", "lt"]);
            let opcode = format!("setp.{compare}.{operator}.u32");
            let r = d.sketch.kernel.register(ScalarType::U32);
            mov(d, ScalarType::U32, &r, three());
            d.sketch.kernel.add(&opcode, vec![name(&p), name(&r), three(), constant]);
            name(&p)
        }
    };
    let operands = [vec![name(&register)], choice(condition)].concat();
    d.sketch.kernel.add("selp.u32", operands);
    d.sketch.kernel.show(ScalarType::U32, name(&register));
}

/// Zero half of the time: the one constant that is false.
fn truth(byte: u8) -> i64 {
    match byte {
        0..=127 => 0,
        128..=191 => 1,
        byte => i64::from(byte) - 224,
    }
}

/// `mov.v4 {a, b, c, d}, V` and back.
pub(crate) fn vector_move(d: &mut Draft<'_, '_>, _: u32) {
    let ty = d.pick(&[ScalarType::U32, ScalarType::F32, ScalarType::B32, ScalarType::S32]);
    let (lanes, length, suffix) = d.pick(&[(4, VectorLength::V4, ".v4"), (2, VectorLength::V2, ".v2")]);
    let opcode = format!("mov{suffix}{}", ty.keyword());
    let parts: Vec<Text> = (0..lanes).map(|_| d.sketch.kernel.register(ty)).collect();
    for part in &parts {
        let value = Operand::Value(random(d, ty));
        mov(d, ty, part, value);
    }
    let vector = d.sketch.kernel.vector(ty, length);
    let list = Operand::Vector(parts.iter().map(|part| name(part)).collect());
    d.sketch.kernel.add(&opcode, vec![name(&vector), list]);
    match d.byte() {
        0..=99 => show_elements(d, ty, &vector, lanes),
        100..=199 => {
            let again: Vec<Text> = (0..lanes).map(|_| d.sketch.kernel.register(ty)).collect();
            let list: Vec<Operand> = again.iter().map(|part| name(part)).collect();
            d.sketch.kernel.add(&opcode, vec![Operand::Vector(list.clone()), name(&vector)]);
            d.sketch.kernel.show_all(ty, list);
        }
        _ => {
            let other = d.sketch.kernel.vector(ty, length);
            d.sketch.kernel.add(&opcode, vec![name(&other), name(&vector)]);
            let value = Operand::Value(random(d, ty));
            let element = Operand::Component(Name::new(other.clone()), Name::new(".y"));
            d.sketch.kernel.add(&format!("mov{}", ty.keyword()), vec![element, value]);
            show_elements(d, ty, &other, lanes);
        }
    }
}

/// A scalar taken apart, or put together, by a list in braces.
pub(crate) fn pack(d: &mut Draft<'_, '_>, _: u32) {
    let (whole, part, count) = d.pick(&[
        (ScalarType::B64, ScalarType::B32, 2),
        (ScalarType::B32, ScalarType::B16, 2),
        (ScalarType::B64, ScalarType::B16, 4),
    ]);
    let parts: Vec<Text> = (0..count).map(|_| d.sketch.kernel.register(part)).collect();
    let list: Vec<Operand> = parts.iter().map(|part| name(part)).collect();
    let register = d.sketch.kernel.register(whole);
    if d.byte() < 128 {
        let value = Operand::Value(random(d, whole));
        mov(d, whole, &register, value);
        d.sketch
            .kernel
            .add(&format!("mov{}", whole.keyword()), vec![Operand::Vector(list.clone()), name(&register)]);
        d.sketch.kernel.show_all(part, list);
    } else {
        for one in &parts {
            let value = Operand::Value(random(d, part));
            mov(d, part, one, value);
        }
        mov(d, whole, &register, Operand::Vector(list));
        d.sketch.kernel.show(whole, name(&register));
    }
}

/// A variable reached by its generic address as well as in its state space.
pub(crate) fn generic(d: &mut Draft<'_, '_>, _: u32) {
    let space = d.storage();
    let target = variable(d, space, ScalarType::U32);
    let at = 4 * d.below(target.scalars as usize) as i64;
    let pointer = d.sketch.kernel.register(ScalarType::U64);
    let cvta = format!("cvta{}.u64", space.keyword());
    if d.byte() < 128 {
        d.sketch.kernel.add(&cvta, vec![name(&pointer), name(&target.name)]);
    } else {
        mov(d, ScalarType::U64, &pointer, name(&target.name));
        d.sketch.kernel.add(&cvta, vec![name(&pointer), name(&pointer)]);
    }
    let through = {
        let offset = spelled(d, at);
        Operand::Address(plus(&pointer, offset))
    };
    let register = d.sketch.kernel.register(ScalarType::U32);
    let value = Operand::Value(random(d, ScalarType::U32));
    match (space, d.byte()) {
        (StateSpace::Global | StateSpace::Const, chosen) => {
            d.sketch.kernel.add("ld.u32", vec![name(&register), through]);
            if chosen < 128 {
                d.sketch.kernel.show(ScalarType::U64, name(&pointer));
            }
        }
        (_, 0..=127) => {
            d.sketch.kernel.add("st.u32", vec![through, value]);
            let load = format!("ld{}.u32", space.keyword());
            d.sketch.kernel.add(&load, vec![name(&register), by_name(&target, at)]);
        }
        _ => {
            let store = format!("st{}.u32", space.keyword());
            d.sketch.kernel.add(&store, vec![by_name(&target, at), value]);
            d.sketch.kernel.add("ld.u32", vec![name(&register), through]);
        }
    }
    d.sketch.kernel.show(ScalarType::U32, name(&register));
}

/// A value that no assembler knows before the kernel runs: it is loaded from memory that may change.
fn loaded(d: &mut Draft<'_, '_>, value: u64) -> Text {
    let variable = Text::from(format!("v{}", d.sketch.kernel.number()));
    let mut one = declarator(&variable, None);
    one.initializer = Some(ptxsmith_syntax::Initializer::Value(number(value)));
    d.sketch.kernel.items.push(Item::Variables(plain(StateSpace::Global, ScalarType::U32, one)));
    let register = d.sketch.kernel.register(ScalarType::U32);
    let from = Operand::Address(Expr::name(variable));
    d.sketch.kernel.add("ld.global.u32", vec![name(&register), from]);
    register
}

fn label(d: &mut Draft<'_, '_>) -> Text {
    Text::from(format!("L{}", d.sketch.kernel.number()))
}

fn mark(d: &mut Draft<'_, '_>, label: &Text) {
    d.sketch.kernel.body.push(Statement::Label(Name::new(label.clone())));
}

/// A branch over a `mov`, taken or not.
pub(crate) fn branch(d: &mut Draft<'_, '_>, _: u32) {
    let value = u64::from(d.byte());
    let tested = loaded(d, value);
    let limit = Operand::Value(number(u64::from(d.byte())));
    let result = d.sketch.kernel.register(ScalarType::U32);
    let (first, second) = (random(d, ScalarType::U32), random(d, ScalarType::U32));
    mov(d, ScalarType::U32, &result, Operand::Value(first));
    let p = d.sketch.kernel.register(ScalarType::Pred);
    let compare = d.pick(&["lt", "ge", "eq", "ne", "hi"]);
    d.sketch.kernel.add(&format!("setp.{compare}.u32"), vec![name(&p), name(&tested), limit]);
    let negated = d.byte() < 128;
    let over = label(d);
    d.sketch.kernel.push(Instruction::new("bra", vec![name(&over)]).guarded(&p, negated));
    mov(d, ScalarType::U32, &result, Operand::Value(second));
    mark(d, &over);
    d.sketch.kernel.show(ScalarType::U32, name(&result));
}

/// One of several labels by index.
pub(crate) fn branch_table(d: &mut Draft<'_, '_>, _: u32) {
    let count = 2 + d.below(3);
    let index = d.below(count) as u64;
    let index = loaded(d, index);
    let result = d.sketch.kernel.register(ScalarType::U32);
    let (table, end) = (label(d), label(d));
    let targets: Vec<Text> = (0..count).map(|_| label(d)).collect();
    // A table may name a label more than once.
    let named: Vec<Name> = (0..count)
        .map(|at| if d.byte() >= 230 { 0 } else { at })
        .map(|at| Name::new(targets[at].clone()))
        .collect();
    mark(d, &table);
    let table_of = BranchTargets { targets: named, span: Span::NONE };
    d.sketch.kernel.body.push(Statement::BranchTargets(table_of));
    d.sketch.kernel.add("brx.idx", vec![name(&index), name(&table)]);
    for target in &targets {
        mark(d, target);
        let value = Operand::Value(random(d, ScalarType::U32));
        mov(d, ScalarType::U32, &result, value);
        d.sketch.kernel.add("bra", vec![name(&end)]);
    }
    mark(d, &end);
    d.sketch.kernel.show(ScalarType::U32, name(&result));
}

/// A call by name, with a register or an immediate, or through parameters in memory.
pub(crate) fn call(d: &mut Draft<'_, '_>, _: u32) {
    if d.byte() >= 160 {
        return call_with_parameters(d);
    }
    let function = adder(d);
    let result = d.sketch.kernel.register(ScalarType::U32);
    let argument = if d.byte() < 128 {
        Operand::Value(random(d, ScalarType::U32))
    } else {
        let value = d.word() & 0xffff;
        name(&loaded(d, value))
    };
    let lists = (Operand::List(vec![name(&result)]), Operand::List(vec![argument]));
    d.sketch.kernel.add("call", vec![lists.0, name(&function), lists.1]);
    d.sketch.kernel.show(ScalarType::U32, name(&result));
}

/// Arguments in `.param` variables: named with offsets as other variables are.
fn call_with_parameters(d: &mut Draft<'_, '_>) {
    let id = d.sketch.kernel.number();
    let function = Text::from(format!("f{id}"));
    let bytes = |text: &str, count: u64| {
        let specifiers = vec![
            Specifier::Space(StateSpace::Param, None),
            Specifier::Align(number(8)),
            Specifier::Type(ScalarType::B8),
        ];
        let mut one = declarator(text, None);
        one.dimensions = vec![Some(number(count))];
        Declaration { specifiers, declarators: vec![one], span: Span::NONE }
    };
    let at = 4 * d.below(4) as u64;
    let offset = spelled(d, at as i64);
    let place = |text: &str, offset: Expr| Operand::Address(plus(text, offset));
    let body = vec![
        Instruction::new("ld.param.u32", vec![name("t"), place("a", offset)]),
        Instruction::new("st.param.u32", vec![place("b", number(4)), name("t")]),
        Instruction::new("ret", Vec::new()),
    ];
    declare(d, &function, vec![bytes("b", 8)], vec![bytes("a", 16)], body);
    if let Some(Item::Function(made)) = d.sketch.kernel.items.last_mut() {
        let register = plain(StateSpace::Reg, ScalarType::U32, declarator("t", None));
        made.body.get_or_insert_default().insert(0, Statement::Variables(register));
    }
    let (a, b) = (format!("pa{id}"), format!("pb{id}"));
    let statements: Vec<Statement> = [bytes(&a, 16), bytes(&b, 8)].map(Statement::Variables).into();
    d.sketch.kernel.body.extend(statements);
    for nth in 0..4 {
        let value = Operand::Value(random(d, ScalarType::U32));
        d.sketch.kernel.add("st.param.u32", vec![place(&a, number(4 * nth)), value]);
    }
    let lists = (Operand::List(vec![name(&b)]), Operand::List(vec![name(&a)]));
    d.sketch.kernel.add("call", vec![lists.0, name(&function), lists.1]);
    let result = d.sketch.kernel.register(ScalarType::U32);
    d.sketch.kernel.add("ld.param.u32", vec![name(&result), place(&b, number(4))]);
    d.sketch.kernel.show(ScalarType::U32, name(&result));
}

/// A call through a register that `mov` put the function's address into.
pub(crate) fn call_indirect(d: &mut Draft<'_, '_>, _: u32) {
    let function = adder(d);
    let pointer = d.sketch.kernel.register(ScalarType::U64);
    mov(d, ScalarType::U64, &pointer, name(&function));
    let prototype = label(d);
    mark(d, &prototype);
    let words =
        [".callprototype", " (", ".reg", " .u32", " _", ")", " _", " (", ".reg", " .u32", " _", ")", ";"];
    let token = |(nth, word): (usize, &&str)| Token {
        gap: match word.strip_prefix(' ') {
            _ if nth == 0 => Gap::Line,
            Some(_) => Gap::Space,
            None => Gap::Joined,
        },
        text: word.trim().into(),
        span: Span::NONE,
    };
    d.sketch.kernel.body.push(Statement::Tokens(words.iter().enumerate().map(token).collect()));
    let result = d.sketch.kernel.register(ScalarType::U32);
    let argument = Operand::Value(random(d, ScalarType::U32));
    let lists = (Operand::List(vec![name(&result)]), Operand::List(vec![argument]));
    d.sketch.kernel.add("call", vec![lists.0, name(&pointer), lists.1, name(&prototype)]);
    d.sketch.kernel.show(ScalarType::U32, name(&result));
}

/// A vector passed to a function.
pub(crate) fn call_vector(d: &mut Draft<'_, '_>, _: u32) {
    let function = Text::from(format!("f{}", d.sketch.kernel.number()));
    let vector_parameter = {
        let specifiers = vec![
            Specifier::Space(StateSpace::Reg, None),
            Specifier::Vector(VectorLength::V4),
            Specifier::Type(ScalarType::U32),
        ];
        Declaration { specifiers, declarators: vec![declarator("a", None)], span: Span::NONE }
    };
    let result = plain(StateSpace::Reg, ScalarType::U32, declarator("b", None));
    let suffix = d.pick(&[".x", ".y", ".z", ".w"]);
    let element = Operand::Component(Name::new("a"), Name::new(suffix));
    let body =
        vec![Instruction::new("mov.u32", vec![name("b"), element]), Instruction::new("ret", Vec::new())];
    declare(d, &function, vec![result], vec![vector_parameter], body);
    let vector = d.sketch.kernel.vector(ScalarType::U32, VectorLength::V4);
    for letter in [".x", ".y", ".z", ".w"] {
        let value = Operand::Value(random(d, ScalarType::U32));
        let element = Operand::Component(Name::new(vector.clone()), Name::new(letter));
        d.sketch.kernel.add("mov.u32", vec![element, value]);
    }
    let register = d.sketch.kernel.register(ScalarType::U32);
    let lists = (Operand::List(vec![name(&register)]), Operand::List(vec![name(&vector)]));
    d.sketch.kernel.add("call", vec![lists.0, name(&function), lists.1]);
    d.sketch.kernel.show(ScalarType::U32, name(&register));
}
