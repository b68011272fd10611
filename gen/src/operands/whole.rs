//! A kernel as a whole.

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Instruction, Item, Linkage, Operand, ScalarType,
    Span, Specifier, StateSpace, Statement,
};

use super::kernel::{declarator, number, plain};
use crate::{draft::Draft, nonterminal::Nonterminal};

/// The most probes of a kernel.
const MOST_PROBES: usize = 5;

/// A kernel of a few probes.
pub(crate) fn kernel(d: &mut Draft<'_, '_>, _: u32) {
    d.sketch.kernel.sigil = d.pick(&["", "%"]);
    let pointer = d.sketch.kernel.pointer();
    let probes = 1 + d.below(MOST_PROBES);
    for _ in 0..probes {
        d.make(Nonterminal::Probe, 1);
    }
    let made = std::mem::take(&mut **d.sketch.kernel);
    let mut body: Vec<Statement> = Vec::new();
    body.push(registers(ScalarType::U64, declarator(&pointer, None)));
    for (prefix, (ty, count)) in &made.registers {
        let name = format!("{}{prefix}", made.sigil);
        body.push(registers(*ty, declarator(&name, Some(number(*count as u64)))));
    }
    for (ty, length, name) in &made.vectors {
        let specifiers =
            vec![Specifier::Space(StateSpace::Reg, None), Specifier::Vector(*length), Specifier::Type(*ty)];
        let declarators = vec![declarator(name, None)];
        body.push(Statement::Variables(Declaration { specifiers, declarators, span: Span::NONE }));
    }
    body.extend(made.locals.into_iter().map(Statement::Variables));
    let parameter = Operand::Address(Expr::name("out"));
    let load = Instruction::new("ld.param.u64", vec![Operand::name(&pointer), parameter]);
    body.push(Statement::Instruction(Box::new(load)));
    body.extend(made.body);
    body.push(Statement::Instruction(Box::new(Instruction::new("ret", Vec::new()))));
    let parameters = vec![plain(StateSpace::Param, ScalarType::U64, declarator("out", None))];
    d.sketch.items.extend(made.items);
    d.sketch.items.push(Item::Function(Box::new(Function {
        before: vec![Specifier::Linkage(Linkage::Visible)],
        ..Function::new(FunctionKind::Entry, "k0", parameters, body)
    })));
}

fn registers(ty: ScalarType, declarator: Declarator) -> Statement {
    Statement::Variables(plain(StateSpace::Reg, ty, declarator))
}
