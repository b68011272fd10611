//! Decides which instructions are judged: those in a form of the table, with operands of types that every
//! implementation accepts.

use ptxsmith_syntax::{
    BinaryOp, Expr, FunctionKind, Name, NodeKind, Number, Opcode, Operand, ScalarType, StateSpace, TypeKind,
    UnaryOp, read_number,
};

use super::{
    form::InstructionForm,
    instructions::{has_judged_form, operand_type, row},
    names::{Meaning, MemoryVariable, ResolvedFunction, ResolvedModule, ScopedInstruction, VisibleNames},
    operand::{AddressBase, OperandAddress, OperandReader},
    typing::{TYPES, has_type, moves},
};
use crate::{
    clause::Clause,
    evaluate::Evaluator,
    refusal::RefusalClass,
    rules::Rules,
    step::Trace,
    undecided::{ALIAS, OUTSIDE, UNDECLARED},
    validity::special_register,
};

pub(super) const FORM: &str = "an instruction in a form that is not modelled";
pub(super) const OPERAND: &str = "an operand in a form that is not modelled";
pub(super) const MISALIGNED: &str = "an access that is not aligned, which is undefined";
pub(super) const MAY_BE_MISALIGNED: &str = "an access that may be misaligned";
const SPECIAL: &str = "a special register that the specification does not mention";
const SINK: &str = "the sink _, which the specification does not mention";

/// Returns why an instruction that is not refused is undecided; `None` if it is judged.
pub(super) fn undecided(
    ScopedInstruction { instruction, form, names }: &ScopedInstruction<'_>,
    program: &ResolvedModule<'_>,
    body: &ResolvedFunction<'_>,
    rules: &Rules,
) -> Option<&'static str> {
    let check = InstructionCheck { names, program, body, rules };
    let guard =
        instruction.guard.iter().try_for_each(|guard| check.register(&guard.predicate, ScalarType::Pred));
    guard.and_then(|()| check.instruction(form)).err()
}

struct InstructionCheck<'a, 'm> {
    names: &'a VisibleNames,
    program: &'a ResolvedModule<'m>,
    body: &'a ResolvedFunction<'m>,
    rules: &'a Rules,
}

/// `Err` with the reason if an instruction is undecided.
type Judged = Result<(), &'static str>;

fn holds(condition: bool, otherwise: &'static str) -> Judged {
    if condition { Ok(()) } else { Err(otherwise) }
}

impl InstructionCheck<'_, '_> {
    fn instruction(&self, form: &InstructionForm<'_>) -> Judged {
        let spaced =
            form.space.is_some() || row(form.opcode).spaces.is_empty() || !self.program.lacks_generic;
        holds(has_judged_form(form) && spaced, FORM)?;
        self.operands(form)
    }

    fn operands(&self, form: &InstructionForm<'_>) -> Judged {
        if form.ty.is_none() {
            return self.control(form);
        }
        let has_destination = match form.operands {
            _ if form.opcode == Opcode::St => true,
            [Operand::Vector(parts), ..] => parts.iter().all(|part| as_name(part).is_some()),
            [Operand::Value(to), ..] if form.opcode == Opcode::Setp => {
                destinations(to).iter().all(|to| to.as_name().is_some())
            }
            operands => operands.first().and_then(as_name).is_some(),
        };
        holds(has_destination, OPERAND)?;
        for (nth, operand) in form.operands.iter().enumerate() {
            match operand_type(form, nth) {
                None => self.place(operand, form)?,
                Some(ty) if nth == 0 && form.opcode == Opcode::Setp => {
                    let Operand::Value(to) = operand else { return Err(OPERAND) };
                    destinations(to)
                        .into_iter()
                        .try_for_each(|to| self.values(&Operand::Value(to), ty, None, false))?;
                }
                Some(ty) if nth == 1 && form.opcode == Opcode::Mov => self.moved(operand, ty)?,
                Some(ty) => self.values(operand, ty, form.lanes, moves(form.opcode))?,
            }
        }
        Ok(())
    }

    /// Checks the source of a `mov`, which may also be the address of a variable, of an element or of a function.
    fn moved(&self, operand: &Operand, ty: ScalarType) -> Judged {
        let whole = ty.size() == Some(8) && ty.kind() != TypeKind::Float;
        match operand {
            Operand::Value(expr) => match expr.as_name().map(|name| self.meaning(&name)) {
                Some(Some(Meaning::Variable(variable))) => {
                    holds(whole && variable.space != StateSpace::Param, OPERAND)
                }
                Some(Some(Meaning::Function(_))) => holds(whole, OPERAND),
                None if expr.has_names() && ty != ScalarType::Pred => {
                    self.declared(expr)?;
                    holds(whole && matches!(self.address(operand)?.base, AddressBase::Variable(_)), OPERAND)
                }
                _ => self.values(operand, ty, None, false),
            },
            Operand::Element(..) => {
                let AddressBase::Variable(variable) = self.address(operand)?.base else {
                    return Err(OPERAND);
                };
                holds(whole && variable.space != StateSpace::Param, OPERAND)
            }
            _ => self.values(operand, ty, None, false),
        }
    }

    fn control(&self, form: &InstructionForm<'_>) -> Judged {
        match (form.opcode, form.operands) {
            (Opcode::Bra, [label]) => {
                let label = as_name(label).ok_or(FORM)?;
                // The label of another block is not in scope.
                let in_scope = matches!(self.meaning(&label), Some(Meaning::Label));
                holds(in_scope && self.body.labels.contains_key(label.text.as_str()), UNDECLARED)
            }
            (Opcode::Ret | Opcode::Exit | Opcode::Trap | Opcode::Brkpt, []) => Ok(()),
            (Opcode::Call, [callee]) => {
                // Only calls without arguments and results are judged.
                let callee = as_name(callee).ok_or(FORM)?;
                holds(!matches!(self.meaning(&callee), Some(Meaning::Alias)), ALIAS)?;
                let body = self.program.functions.get(callee.text.as_str()).ok_or(UNDECLARED)?;
                let is_plain =
                    body.kind == FunctionKind::Func && body.parameters.is_empty() && body.results.is_empty();
                holds(is_plain, FORM)
            }
            _ => Err(FORM),
        }
    }

    fn meaning(&self, name: &Name) -> Option<Meaning> {
        self.names.find(&name.text, self.rules)
    }

    /// Checks that a name is a register of exactly this type, up to sign; bit-size types fit every type of their size.
    fn register(&self, name: &Name, ty: ScalarType) -> Judged {
        match self.meaning(name) {
            Some(Meaning::Register(register)) => holds(has_type(register, ty, false), TYPES),
            Some(_) => Err(OPERAND),
            None => Err(undeclared(name)),
        }
    }

    /// Returns the size of the register that an operand names.
    fn register_size(&self, operand: &Operand) -> Option<u64> {
        match self.meaning(&as_name(operand)?) {
            Some(Meaning::Register(register)) => register.ty.size(),
            _ => None,
        }
    }

    /// Checks a value, or a list with a value per lane. A register may be `wider` if the instruction moves bits.
    fn values(&self, operand: &Operand, ty: ScalarType, lanes: Option<usize>, wider: bool) -> Judged {
        match (operand, lanes) {
            (Operand::Vector(parts), Some(lanes)) if parts.len() == lanes => {
                parts.iter().try_for_each(|part| self.values(part, ty, None, wider))?;
                let mut sizes = parts.iter().filter_map(|part| self.register_size(part));
                let first = sizes.next();
                holds(sizes.all(|size| Some(size) == first), TYPES)
            }
            (Operand::Value(expr), None) => match (expr.as_name(), expr.kind(expr.root())) {
                (Some(name), _) => match self.meaning(&name) {
                    Some(Meaning::Register(register)) => holds(has_type(register, ty, wider), TYPES),
                    Some(Meaning::Alias) => Err(ALIAS),
                    Some(_) => Err(OPERAND),
                    None => Err(undeclared(&name)),
                },
                // A predicate may be negated, as in a guard.
                (None, NodeKind::Unary(UnaryOp::Not, inner))
                    if ty == ScalarType::Pred && expr.has_names() =>
                {
                    self.register(&expr.part(*inner).as_name().ok_or(OPERAND)?, ty)
                }
                (None, _) => {
                    self.declared(expr)?;
                    holds(self.is_constant(expr, ty), OPERAND)
                }
            },
            (Operand::Component(name, _), None) if self.meaning(name).is_none() => Err(undeclared(name)),
            _ => Err(OPERAND),
        }
    }

    /// Checks that every name of an expression is declared.
    fn declared(&self, expr: &Expr) -> Judged {
        expr.nodes().iter().try_for_each(|node| match &node.kind {
            NodeKind::Name(text) => {
                let name = Name { text: text.clone(), span: node.span };
                self.meaning(&name).map(|_| ()).ok_or_else(|| undeclared(&name))
            }
            _ => Ok(()),
        })
    }

    /// Whether an expression is certainly a constant of a kind that the type accepts, under every interpretation.
    fn is_constant(&self, expr: &Expr, ty: ScalarType) -> bool {
        if ty.kind() != TypeKind::Float {
            return self.number(expr).is_some();
        }
        let mut trace = Trace::default();
        let stored = Evaluator::new(self.rules, self.program.version).store(expr, ty, &mut trace);
        !expr.has_names() && stored.is_ok() && trace.questions.is_empty()
    }

    /// Returns the value of an integer constant expression, if it does not depend on open questions.
    fn number(&self, expr: &Expr) -> Option<u64> {
        let is_integer = expr.nodes().iter().all(|node| match &node.kind {
            NodeKind::Number(text) => matches!(read_number(text), Some(Number::Integer { .. })),
            NodeKind::Name(_) | NodeKind::Mask(..) | NodeKind::Generic(_) => false,
            _ => true,
        });
        if !is_integer {
            return None;
        }
        let mut trace = Trace::default();
        let rule = (RefusalClass::NonConstant, Clause::ConstantOperands);
        let value = Evaluator::new(self.rules, self.program.version).integer(expr, rule, &mut trace).ok()?;
        trace.questions.is_empty().then_some(value.bits)
    }

    /// Decodes an address; its names must be declared.
    fn address(&self, operand: &Operand) -> Result<OperandAddress, &'static str> {
        let mut reader = OperandReader::new(self.rules, self.program.version);
        let address = match operand {
            Operand::Address(expr) if !expr.has_names() => reader.address(expr, self.names),
            Operand::Address(expr) | Operand::Value(expr) => {
                holds(!parenthesizes_a_name(expr), OPERAND)?;
                let named = expr.nodes().iter().find_map(|node| match &node.kind {
                    NodeKind::Name(text) => Some(Name { text: text.clone(), span: node.span }),
                    _ => None,
                });
                let named = named.ok_or(OPERAND)?;
                self.meaning(&named).ok_or_else(|| undeclared(&named))?;
                reader.address(expr, self.names)
            }
            Operand::Element(name, index) => {
                match self.meaning(name).ok_or_else(|| undeclared(name))? {
                    Meaning::Variable(variable) => holds(!variable.shape.extents.is_empty(), OPERAND)?,
                    _ => return Err(OPERAND),
                }
                reader.element(name, index, self.names)
            }
            _ => return Err(OPERAND),
        };
        // Answers to open questions are not explored here: a refused address is undecided.
        address.map_err(|_| OPERAND)
    }

    /// Whether a variable is a parameter of the function. The parameters of a call are up to the call instruction.
    fn is_parameter(&self, variable: &MemoryVariable) -> bool {
        self.body.parameters.iter().any(|parameter| match parameter {
            Meaning::Variable(parameter) => parameter.name == variable.name,
            _ => false,
        })
    }

    /// Checks a place in memory: its base is a register, or a variable of the instruction's state space.
    fn place(&self, operand: &Operand, form: &InstructionForm<'_>) -> Judged {
        // 6.4.1: a place in memory is an address in brackets, or an element of an array.
        holds(matches!(operand, Operand::Address(_) | Operand::Element(..)), OPERAND)?;
        let OperandAddress { base, offset, index } = self.address(operand)?;
        let accessed = form.ty.map_or(1, |ty| ty.bytes().max(1)) * form.lanes.unwrap_or(1) as u64;
        match base {
            AddressBase::Register(register) => {
                let number =
                    matches!(register.ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
                // 6.4.1: a 32-bit address is extended to 64 bits.
                let wide = matches!(register.ty.size(), Some(4 | 8));
                holds(number && register.lanes == 1 && wide, OPERAND)?;
                holds(form.space != Some(StateSpace::Param), OPERAND)
            }
            AddressBase::Variable(variable) => {
                let in_param = variable.space == StateSpace::Param;
                holds(!in_param || self.is_parameter(&variable), OPERAND)?;
                // 6.4.1.1: an access without a state space reaches a variable through the window of the variable's own
                // space.
                let windowed = form.space.is_none()
                    && !in_param
                    && !(form.opcode == Opcode::St && variable.space == StateSpace::Const);
                holds(Some(variable.space) == form.space || windowed, OPERAND)?;
                if index.is_some() {
                    return Ok(());
                }
                if let Some(size) = variable.size {
                    let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(accessed));
                    holds(end.is_some_and(|end| end <= size), OUTSIDE)?;
                }
                holds(offset.rem_euclid(accessed as i64) == 0, MISALIGNED)?;
                holds(in_param || variable.align >= accessed, MAY_BE_MISALIGNED)
            }
            // 6.4.1: an absolute address is a form of its own in every space; it must be aligned.
            AddressBase::Absolute => {
                let is_aligned = u64::try_from(offset).is_ok_and(|offset| offset % accessed == 0);
                holds(form.space != Some(StateSpace::Param) && is_aligned, OPERAND)
            }
        }
    }
}

/// Returns the predicates that a comparison sets: `p`, or `p` and `q` for `p|q`, where `q` is the opposite.
pub(super) fn destinations(to: &Expr) -> Vec<Expr> {
    match *to.kind(to.root()) {
        NodeKind::Binary(BinaryOp::Or, p, opposite) => vec![to.part(p), to.part(opposite)],
        _ => vec![to.clone()],
    }
}

/// Returns why an undeclared name is undecided.
fn undeclared(name: &Name) -> &'static str {
    match &*name.text {
        "_" => SINK,
        text if special_register(text) => SPECIAL,
        _ => UNDECLARED,
    }
}

/// Whether the name in an address expression is inside parentheses.
fn parenthesizes_a_name(expr: &Expr) -> bool {
    let nodes = expr.nodes();
    let mut parentheses =
        nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, NodeKind::Paren(_)));
    parentheses.any(|(at, _)| {
        // The nodes inside the parentheses directly precede them, starting with the leftmost operand.
        let mut first = at;
        while let Some(operand) = nodes[first].kind.leftmost_operand() {
            first = operand as usize;
        }
        nodes[first..at].iter().any(|node| matches!(node.kind, NodeKind::Name(_)))
    })
}

/// Returns the name that an operand consists of.
fn as_name(operand: &Operand) -> Option<Name> {
    match operand {
        Operand::Value(expr) => expr.as_name(),
        _ => None,
    }
}
