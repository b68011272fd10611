//! Decodes the forms of operands that the specification lists (6.4), and refuses others.

use std::rc::Rc;

use ptxsmith_syntax::{
    BinaryOp, Expr, FunctionKind, Instruction, Name, NodeKind, Opcode, Operand, ScalarType, TypeKind,
};

use super::form::InstructionForm;
use super::instructions::{has_judged_form, operand_type};
use super::names::{Meaning, MemoryVariable, RegisterVariable, ScopedInstruction, VisibleNames};
use crate::{
    address::Version,
    clause::Clause,
    evaluate::Evaluator,
    reading::{AddressSubtraction, ElementUnit, OffsetFirst, Question},
    refusal::{RefusalClass, Stop},
    rules::Rules,
    step::{Ruled, Trace},
    undecided::{ALIAS, UNDECLARED},
    value::extended,
};

/// The base of an address.
#[derive(Clone, Debug)]
pub(super) enum AddressBase {
    Register(RegisterVariable),
    Variable(Rc<MemoryVariable>),
    /// Zero: the offset is the whole address.
    Absolute,
}

/// An address operand.
#[derive(Clone, Debug)]
pub(super) struct OperandAddress {
    pub base: AddressBase,
    /// The offset in bytes.
    pub offset: i64,
    pub index: Option<Index>,
}

/// An index in a register, and a constant added to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub register: RegisterVariable,
    pub constant: i64,
    /// The number of bytes that the address moves when the index grows by 1.
    pub step: i64,
}

impl Index {
    /// Returns the byte offset of the index if the register holds these bits.
    pub fn bytes(&self, bits: u64, rules: &Rules) -> Ruled<i64> {
        let Index { register, constant, step } = *self;
        let index = rules.operands.index.apply(register.ty, bits);
        // 6.4.2 does not say in how many bits a constant is added to a register.
        let sum = index.checked_add(constant);
        if sum.is_none_or(|sum| extended(register.ty, sum as u64) as i64 != sum) {
            return Err(Stop::Unmodelled("an index that the type of its register does not hold"));
        }
        let bytes = rules.operands.indexed_offset.apply(register.ty, index, constant, step);
        bytes.ok_or(Stop::Unmodelled("an index of more than 32 bits"))
    }
}

/// Decodes operands under these rules, and records the clauses and questions used.
#[derive(Clone)]
pub(super) struct OperandReader<'r> {
    pub rules: &'r Rules,
    pub version: Version,
    pub trace: Trace,
}

impl<'r> OperandReader<'r> {
    pub fn new(rules: &'r Rules, version: Version) -> OperandReader<'r> {
        OperandReader { rules, version, trace: Trace::default() }
    }

    pub fn uses(&mut self, clause: Clause) {
        self.trace.clauses.insert(clause);
    }

    fn refuse<T>(&mut self, class: RefusalClass, clause: Clause, span: ptxsmith_syntax::Span) -> Ruled<T> {
        self.uses(clause);
        Err(Stop::refused(class, clause, span))
    }

    fn integer(&mut self, expr: &Expr, rule: (RefusalClass, Clause)) -> Ruled<i64> {
        self.uses(Clause::ConstantAsOperand);
        let value = Evaluator::new(self.rules, self.version).integer(expr, rule, &mut self.trace)?;
        if !value.signed && value.bits > i64::MAX as u64 {
            // No offset is wide enough for the value, whether it is signed or not.
            self.uses(Clause::OperandOffsetWidth);
            if !self.rules.operands.offset_fits.apply(value.bits.into(), ScalarType::S32) {
                return self.refuse(RefusalClass::OffsetWidth, Clause::OperandOffsetWidth, expr.span());
            }
        }
        Ok(value.bits as i64)
    }

    /// Decodes `[...]` (6.4.1).
    pub fn address(&mut self, expr: &Expr, names: &VisibleNames) -> Ruled<OperandAddress> {
        if let Some(name) = expr.as_name() {
            let base = self.base(&name, names)?;
            self.uses(match &base {
                AddressBase::Register(_) => Clause::OperandRegister,
                _ => Clause::OperandVariable,
            });
            return Ok(OperandAddress { base, offset: 0, index: None });
        }
        if !expr.has_names() {
            return self.absolute(expr);
        }
        let Some((name, offset, subtracted)) = self.sum(expr)? else {
            return Err(Stop::Unmodelled("an address in a form that the text does not list"));
        };
        let base = self.base(&name, names)?;
        let (clause, question) = match &base {
            AddressBase::Register(_) => (Clause::OperandRegisterOffset, Question::AddressSubtraction),
            _ => (Clause::OperandVariableOffset, Question::AddressSubtraction),
        };
        self.uses(clause);
        if subtracted {
            self.trace.questions.insert(question);
            if self.rules.readings.address_subtraction == AddressSubtraction::Refused {
                return self.refuse(RefusalClass::AddressArithmetic, clause, expr.span());
            }
        }
        let bytes = self.integer(&offset, (RefusalClass::OffsetType, clause))?;
        let bytes = if subtracted { bytes.wrapping_neg() } else { bytes };
        self.uses(Clause::OperandOffsetWidth);
        if !self.rules.operands.offset_fits.apply(bytes.into(), ScalarType::S32) {
            return self.refuse(RefusalClass::OffsetWidth, Clause::OperandOffsetWidth, offset.span());
        }
        Ok(OperandAddress { base, offset: self.rules.operands.offset.apply(bytes), index: None })
    }

    /// Splits `name + offset` into name and offset, and returns whether the offset is subtracted. Everything after the
    /// sign is the offset, whatever the precedence of its operators: in `x + 4 << 1` the offset is `4 << 1`. `None` for
    /// another form.
    fn sum(&mut self, expr: &Expr) -> Ruled<Option<(Name, Expr, bool)>> {
        let first = expr.first(expr.root());
        let NodeKind::Name(text) = expr.kind(first) else {
            return Ok(match *expr.kind(expr.root()) {
                NodeKind::Binary(BinaryOp::Add, left, right) => match expr.part(right).as_name() {
                    Some(name) => {
                        self.trace.questions.insert(Question::OffsetFirst);
                        if self.rules.readings.offset_first == OffsetFirst::Refused {
                            let clause = Clause::OperandVariableOffset;
                            return self.refuse(RefusalClass::AddressArithmetic, clause, expr.span());
                        }
                        Some((name, expr.part(left), false))
                    }
                    None => None,
                },
                _ => None,
            });
        };
        let name = Name { text: text.clone(), span: expr.nodes()[first as usize].span };
        let mut at = expr.root();
        let (op, right) = loop {
            match *expr.kind(at) {
                NodeKind::Binary(op, left, right) if left == first => break (op, right),
                NodeKind::Binary(_, left, _) | NodeKind::Ternary(left, ..) => at = left,
                // The name is in parentheses, or no operator follows it.
                _ => return Ok(None),
            }
        };
        let offset = expr.replaced(at, &expr.part(right));
        Ok(match op {
            BinaryOp::Add => Some((name, offset, false)),
            BinaryOp::Sub if at == expr.root() => Some((name, offset, true)),
            _ => None,
        })
    }

    /// Decodes `[immAddr]`: unsigned, 32 bits.
    fn absolute(&mut self, expr: &Expr) -> Ruled<OperandAddress> {
        let rule = (RefusalClass::OffsetType, Clause::OperandAbsolute);
        let address = self.integer(expr, rule)?;
        self.uses(Clause::OperandAbsolute);
        if !self.rules.operands.offset_fits.apply(address.into(), ScalarType::U32) {
            return self.refuse(RefusalClass::OffsetWidth, Clause::OperandAbsolute, expr.span());
        }
        Ok(OperandAddress { base: AddressBase::Absolute, offset: address, index: None })
    }

    /// Returns the meaning of a name; `None` if it is not declared. Refuses a name that differs from a parameterized
    /// name only in a number that is out of range (5.4.6).
    fn meaning(&mut self, name: &Name, names: &VisibleNames) -> Ruled<Option<Meaning>> {
        if names.lack_number(&name.text, self.rules) {
            return self.refuse(RefusalClass::UnknownName, Clause::ParameterizedNames, name.span);
        }
        Ok(names.find(&name.text, self.rules))
    }

    fn base(&mut self, name: &Name, names: &VisibleNames) -> Ruled<AddressBase> {
        match self.meaning(name, names)? {
            None => Err(Stop::Unmodelled(UNDECLARED)),
            Some(Meaning::Variable(variable)) => Ok(AddressBase::Variable(variable)),
            Some(Meaning::Register(register)) => {
                let numbers =
                    matches!(register.ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
                if register.lanes > 1 || !numbers {
                    let clause = Clause::OperandRegister;
                    return self.refuse(RefusalClass::AddressRegister, clause, name.span);
                }
                self.uses(Clause::AddressWidth);
                match register.ty.size() {
                    Some(4 | 8) => Ok(AddressBase::Register(register)),
                    Some(16) => self.refuse(RefusalClass::AddressRegister, Clause::AddressWidth, name.span),
                    _ => Err(Stop::Unmodelled(
                        "a register of less than 32 bits as an address, which has 32 or 64",
                    )),
                }
            }
            Some(Meaning::Alias) => Err(Stop::Unmodelled(ALIAS)),
            Some(Meaning::Function(_)) => {
                self.refuse(RefusalClass::FunctionOperand, Clause::FunctionOperand, name.span)
            }
            Some(Meaning::Label) => self.refuse(RefusalClass::LabelOperand, Clause::LabelOperand, name.span),
        }
    }

    /// Decodes `NAME[index]` (6.4.2).
    pub fn element(&mut self, name: &Name, index: &Expr, names: &VisibleNames) -> Ruled<OperandAddress> {
        let variable = match self.base(name, names)? {
            AddressBase::Variable(variable) if !variable.shape.extents.is_empty() => variable,
            _ => return Err(Stop::Unmodelled("an element of what is no array")),
        };
        self.uses(Clause::OperandElement);
        self.uses(Clause::ArrayIndex);
        let scalar = variable.shape.scalar.bytes().max(1) as i64;
        let inner: u64 =
            variable.shape.extents[1..].iter().product::<u64>() * variable.shape.vector.unwrap_or(1);
        let unit = if inner == 1 {
            scalar
        } else {
            self.trace.questions.insert(Question::ElementUnit);
            match self.rules.readings.element_unit {
                ElementUnit::Declared => scalar * inner as i64,
                ElementUnit::Scalar => scalar,
            }
        };
        let unit = self.rules.operands.element_step.apply(variable.size.is_some(), unit);
        let base = AddressBase::Variable(variable);
        let rule = (RefusalClass::ArrayIndex, Clause::ArrayIndex);
        if !index.has_names() {
            let index = self.integer(index, rule)?;
            let offset = self.rules.operands.element_offset.apply(index, unit);
            let offset = offset.ok_or(Stop::Unmodelled("an index of more than 64 bits"))?;
            return Ok(OperandAddress { base, offset, index: None });
        }
        let (register, constant) = match *index.kind(index.root()) {
            NodeKind::Name(_) => (index.clone(), 0),
            NodeKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let right = index.part(right);
                if right.has_names() {
                    return self.refuse(rule.0, rule.1, index.span());
                }
                let offset = self.integer(&right, rule)?;
                if !self.rules.operands.index_operator.apply(op) {
                    return self.refuse(rule.0, rule.1, index.span());
                }
                (index.part(left), if op == BinaryOp::Sub { offset.wrapping_neg() } else { offset })
            }
            _ => return self.refuse(rule.0, rule.1, index.span()),
        };
        if let NodeKind::Binary(BinaryOp::Add | BinaryOp::Sub, _, right) = *register.kind(register.root())
            && !register.part(right).has_names()
        {
            return Err(Stop::Unmodelled("a sum of constants behind a register, without parentheses"));
        }
        let Some(name) = register.as_name() else { return self.refuse(rule.0, rule.1, index.span()) };
        let register = match self.meaning(&name, names)? {
            Some(Meaning::Register(register)) => register,
            Some(Meaning::Alias) => return Err(Stop::Unmodelled(ALIAS)),
            None => return Err(Stop::Unmodelled(UNDECLARED)),
            Some(_) => return self.refuse(rule.0, rule.1, name.span),
        };
        let numbers = matches!(register.ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
        if register.lanes > 1 || !numbers {
            return self.refuse(rule.0, rule.1, name.span);
        }
        Ok(OperandAddress { base, offset: 0, index: Some(Index { register, constant, step: unit }) })
    }

    /// Returns the element of a vector that a suffix names (6.4.3).
    pub fn lane(&mut self, register: RegisterVariable, suffix: &Name) -> Ruled<usize> {
        let lanes = usize::from(register.lanes);
        let lane = self.rules.operands.element_named.apply(suffix.text.trim_start_matches('.'), lanes);
        self.uses(Clause::VectorSuffix);
        match lane {
            Some(lane) if lanes > 1 && lane < lanes => Ok(lane),
            Some(_) if lanes > 1 => {
                self.refuse(RefusalClass::VectorElement, Clause::VectorElementExists, suffix.span)
            }
            // 6.4.3 covers vectors only; other chapters define parts of scalars, such as `.b0` and `.h1`.
            None if lanes == 1 => Err(Stop::Unmodelled("a suffix of a scalar")),
            _ => self.refuse(RefusalClass::VectorElement, Clause::VectorSuffix, suffix.span),
        }
    }

    /// Checks one instruction for refusals, whether it is executed or not.
    pub fn check(&mut self, line: &ScopedInstruction<'_>) -> Ruled<()> {
        let ScopedInstruction { instruction, form, names } = line;
        if let Some(guard) = &instruction.guard {
            self.meaning(&guard.predicate, names)?;
        }
        let InstructionForm { opcode, lanes, operands, .. } = *form;
        let mut callee_seen = false;
        for (nth, operand) in operands.iter().enumerate() {
            let jumps = matches!((opcode, nth), (Opcode::Bra, 0) | (Opcode::Brx, 1));
            let called = opcode == Opcode::Call && !matches!(operand, Operand::List(_));
            let first_called = called && !callee_seen;
            callee_seen |= called;
            match operand {
                Operand::Value(_) if jumps || called && !first_called => {
                    self.named(operand, names, Allowed { label: true, function: false })?;
                }
                Operand::Value(_) if first_called => {
                    self.named(operand, names, Allowed { label: false, function: true })?;
                }
                operand => {
                    let function = self.rules.operands.function_operand.apply(opcode, nth);
                    self.named(operand, names, Allowed { label: false, function })?;
                }
            }
        }
        let is_known = has_judged_form(form);
        for (nth, operand) in operands.iter().enumerate() {
            if let Some(ty) = operand_type(form, nth) {
                // The elements of a list that packs a scalar have other types than the scalar.
                let is_whole = lanes.is_some() || !matches!(operand, Operand::Vector(_));
                self.immediate(operand, ty, is_known && is_whole)?;
                if let (Opcode::Ld | Opcode::St | Opcode::Mov, Some(lanes)) = (opcode, lanes) {
                    self.vector(operand, lanes, names, instruction)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses an operand that is neither a vector register of `lanes` elements nor a list of `lanes` scalars (6.4.3).
    fn vector(
        &mut self,
        operand: &Operand,
        lanes: usize,
        names: &VisibleNames,
        instruction: &Instruction,
    ) -> Ruled<()> {
        let is_invalid = match operand {
            Operand::Vector(parts) => {
                parts.len() != lanes || parts.iter().any(|part| self.is_place(part, names))
            }
            Operand::Value(expr) if !expr.has_names() => true,
            operand => self.is_place(operand, names),
        };
        if is_invalid {
            return self.refuse(RefusalClass::VectorList, Clause::VectorAccess, instruction.span);
        }
        Ok(())
    }

    /// Whether an operand denotes a place in memory or in the code, and not a register or a constant.
    fn is_place(&self, operand: &Operand, names: &VisibleNames) -> bool {
        match operand {
            Operand::Value(expr) => match expr.as_name() {
                None => expr.has_names(),
                Some(name) => matches!(
                    names.find(&name.text, self.rules),
                    Some(Meaning::Variable(_) | Meaning::Function(_) | Meaning::Label)
                ),
            },
            Operand::Element(..) | Operand::Address(_) => true,
            _ => false,
        }
    }

    /// Refuses an immediate that is no constant expression. If the instruction is known to have a form in which the
    /// operand has type `ty` (`is_known`), also refuses a constant of a kind that `ty` does not accept. The open
    /// question about floats for bit-size types concerns initial values only.
    fn immediate(&mut self, operand: &Operand, ty: ScalarType, is_known: bool) -> Ruled<()> {
        match operand {
            Operand::Value(expr) if !expr.has_names() => {
                let mut evaluator = Evaluator::new(self.rules, self.version);
                let mut trace = Trace::default();
                // 4.5.3: a predicate operand is an integer.
                let of_value = if ty == ScalarType::Pred { ScalarType::U64 } else { ty };
                match evaluator.store(expr, of_value, &mut trace) {
                    Err(Stop::Refused(refusal)) => {
                        let is_kind = refusal.class == RefusalClass::ValueKind;
                        let is_asked = is_known && ty.kind() != TypeKind::Bits;
                        if refusal.class == RefusalClass::TypeWithoutInitializer || is_kind && !is_asked {
                            return Ok(());
                        }
                        self.trace = self.trace.union(trace);
                        Err(Stop::Refused(refusal))
                    }
                    _ => Ok(()),
                }
            }
            Operand::Vector(parts) => parts.iter().try_for_each(|part| self.immediate(part, ty, is_known)),
            _ => Ok(()),
        }
    }

    /// Refuses a name that may not stand in this operand.
    fn name(&mut self, name: &Name, names: &VisibleNames, allowed: Allowed) -> Ruled<()> {
        match self.meaning(name, names)? {
            Some(Meaning::Label) if !allowed.label => {
                self.refuse(RefusalClass::LabelOperand, Clause::LabelOperand, name.span)
            }
            Some(Meaning::Function(_)) if !allowed.function => {
                self.refuse(RefusalClass::FunctionOperand, Clause::FunctionOperand, name.span)
            }
            Some(Meaning::Function(FunctionKind::Entry)) if self.version < (3, 1) => {
                self.refuse(RefusalClass::KernelVersion, Clause::MoveKernelAddress, name.span)
            }
            _ => Ok(()),
        }
    }

    /// Refuses names that may not stand in an operand, and addresses in a form that the specification refuses.
    fn named(&mut self, operand: &Operand, names: &VisibleNames, allowed: Allowed) -> Ruled<()> {
        match operand {
            Operand::Value(expr) => {
                for node in expr.nodes() {
                    if let NodeKind::Name(text) = &node.kind {
                        self.name(&Name { text: text.clone(), span: node.span }, names, allowed)?;
                    }
                }
                // A variable plus an offset has the same form as inside brackets.
                let first = expr.kind(expr.first(expr.root()));
                match first {
                    NodeKind::Name(name)
                        if expr.nodes().len() > 1
                            && matches!(names.find(name, self.rules), Some(Meaning::Variable(_))) =>
                    {
                        self.address(expr, names).map(|_| ()).or_else(refusal_only)
                    }
                    _ => Ok(()),
                }
            }
            Operand::Address(expr) => self.address(expr, names).map(|_| ()).or_else(refusal_only),
            Operand::Element(name, index) => {
                self.element(name, index, names).map(|_| ()).or_else(refusal_only)
            }
            Operand::Component(name, suffix) => match self.meaning(name, names)? {
                Some(Meaning::Register(register)) => self.lane(register, suffix).map(|_| ()),
                _ => Ok(()),
            },
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().try_for_each(|part| self.named(part, names, allowed))
            }
        }
    }
}

/// Passes refusals on, and ignores operands that no rule covers.
fn refusal_only(stop: Stop) -> Ruled<()> {
    match stop {
        Stop::Refused(_) => Err(stop),
        Stop::Unmodelled(_) => Ok(()),
    }
}

/// The names that may stand in an operand, beside those of variables and registers.
#[derive(Clone, Copy)]
struct Allowed {
    label: bool,
    function: bool,
}
