//! Evaluation of one constant expression: a single pass over its nodes, operands before operators.

use ptxsmith_syntax::{BinaryOp, Cast, Expr, NodeId, NodeKind, ScalarType, Span, precedence};

use crate::{
    address,
    clause::Clause,
    grouping::regrouped,
    reading::{ParenthesizedAddress, ParenthesizedSingle, Question},
    refusal::{RefusalClass, Stop},
    rules::{Ruled, Rules, Step, Stored, Trace},
    value::{Address, Integer, Value},
};

/// Evaluates expressions under a table of rules. Keeps its working memory between expressions.
pub struct Evaluator<'a> {
    rules: &'a Rules,
    version: (u32, u32),
    values: Vec<Value>,
    pending: Option<Stop>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for modules of this `.version`, which decides whether `mask()` exists.
    pub fn new(rules: &'a Rules, version: (u32, u32)) -> Evaluator<'a> {
        Evaluator { rules, version, values: Vec::new(), pending: None }
    }

    /// What the expression stands for when it is converted to a type, as in an initializer.
    ///
    /// # Errors
    /// [`Stop::Refused`] where the specification refuses the value, [`Stop::Unmodelled`] where there is no rule.
    pub fn store(&mut self, expr: &Expr, ty: ScalarType, trace: &mut Trace) -> Ruled<Stored> {
        let value = self.evaluate(expr, trace)?;
        let mut step = self.step(expr.span(), trace);
        step.uses(Clause::ConstantInInitializer);
        (self.rules.store)(&mut step, value, ty)
    }

    /// The expression as an integer constant, as in a dimension or an alignment.
    ///
    /// # Errors
    /// As [`Evaluator::store`]; a value of another kind is refused with the class and clause given.
    pub fn integer(
        &mut self,
        expr: &Expr,
        (class, clause): (RefusalClass, Clause),
        trace: &mut Trace,
    ) -> Ruled<Integer> {
        match self.evaluate(expr, trace)? {
            Value::Integer(integer) => Ok(integer),
            Value::Undefined { .. } => Err(self.pending.take().expect("an undefined value has a reason")),
            Value::Address(_) | Value::AddressByte(..) => {
                trace.clauses.insert(Clause::ConstantOperands);
                Err(Stop::refused(RefusalClass::NonConstant, Clause::ConstantOperands, expr.span()))
            }
            _ => {
                trace.clauses.insert(clause);
                Err(Stop::refused(class, clause, expr.span()))
            }
        }
    }

    fn step<'t>(&mut self, span: Span, trace: &'t mut Trace) -> Step<'t> {
        Step { readings: self.rules.readings, trace, span, pending: self.pending.take() }
    }

    fn evaluate(&mut self, expr: &Expr, trace: &mut Trace) -> Ruled<Value> {
        match self.rules.grouping {
            // An address names its variable by a node of the expression as it was parsed.
            Some(table) if !expr.nodes().iter().any(|node| matches!(node.kind, NodeKind::Name(_))) => {
                self.grouped(&regrouped(expr, table), trace)
            }
            _ => self.grouped(expr, trace),
        }
    }

    fn grouped(&mut self, expr: &Expr, trace: &mut Trace) -> Ruled<Value> {
        self.values.clear();
        self.pending = None;
        let mut step = self.step(Span::NONE, trace);
        for (id, node) in expr.nodes().iter().enumerate() {
            step.span = node.span;
            match self.node(&mut step, expr, id as NodeId, &node.kind) {
                Ok(value) => self.values.push(value),
                Err(stop) => return Err(stop),
            }
        }
        self.pending = step.pending;
        Ok(self.values[self.values.len() - 1])
    }

    fn node(&self, step: &mut Step<'_>, expr: &Expr, id: NodeId, kind: &NodeKind) -> Ruled<Value> {
        let at = |operand: NodeId| self.values[operand as usize];
        match *kind {
            NodeKind::Number(ref text) => (self.rules.number)(step, text),
            NodeKind::WarpSize => (self.rules.warp_size)(step),
            NodeKind::Name(_) => {
                Ok(Value::Address(Address { name: id, addend: 0, generic: false, moved: false }))
            }
            NodeKind::Paren(operand) => self.paren(step, at(operand)),
            NodeKind::Unary(op, operand) => {
                grouping(step, expr, kind.precedence(), &[operand]);
                match at(operand) {
                    Value::Undefined { signed } => Ok(Value::Undefined { signed }),
                    value => (self.rules.unary[op as usize])(step, value),
                }
            }
            NodeKind::Cast(cast, operand) => {
                grouping(step, expr, kind.precedence(), &[operand]);
                match at(operand) {
                    Value::Undefined { .. } => Ok(Value::Undefined { signed: cast == Cast::S64 }),
                    value => (self.rules.cast[cast as usize])(step, value),
                }
            }
            NodeKind::Binary(op, left, right) => {
                grouping(step, expr, op.precedence(), &[left, right]);
                let (left, right) = (at(left), at(right));
                let logical = matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr);
                match (left, right) {
                    (Value::Undefined { signed }, _) | (_, Value::Undefined { signed }) if !logical => {
                        Ok(Value::Undefined { signed })
                    }
                    _ => (self.rules.binary[op as usize])(step, left, right),
                }
            }
            NodeKind::Ternary(condition, then, otherwise) => {
                grouping(step, expr, kind.precedence(), &[condition, then, otherwise]);
                (self.rules.ternary)(step, at(condition), at(then), at(otherwise))
            }
            NodeKind::Generic(operand) => {
                let is_name = matches!(expr.kind(operand), NodeKind::Name(_));
                address::generic(step, at(operand), is_name)
            }
            NodeKind::Mask(ref mask, operand) => {
                match expr.nodes().get(id as usize + 1).map(|next| &next.kind) {
                    None => {}
                    Some(NodeKind::Mask(..)) => {
                        return refuse(step, RefusalClass::MaskOperand, Clause::MaskOperand);
                    }
                    Some(_) => return Err(Stop::Unmodelled("mask() as an operand")),
                }
                (self.rules.mask)(step, self.version, mask, at(operand))
            }
        }
    }

    fn paren(&self, step: &mut Step<'_>, value: Value) -> Ruled<Value> {
        step.uses(Clause::Parentheses);
        if let Value::Single(_) = value {
            step.trace.questions.insert(Question::ParenthesizedSingle);
            if step.readings.parenthesized_single == ParenthesizedSingle::Refused {
                return refuse(step, RefusalClass::SingleBitsInExpression, Clause::SingleBitsNotInExpression);
            }
        }
        if let Value::Address(_) = value {
            step.trace.questions.insert(Question::ParenthesizedAddress);
            if step.readings.parenthesized_address == ParenthesizedAddress::Refused {
                return refuse(step, RefusalClass::AddressArithmetic, Clause::VariableAddress);
            }
        }
        Ok(value)
    }
}

fn refuse<T>(step: &mut Step<'_>, class: RefusalClass, clause: Clause) -> Ruled<T> {
    step.uses(clause);
    Err(Stop::refused(class, clause, step.span))
}

/// Records whether the grouping of operators mattered, with parentheses or without (4.5.4, Table 4).
fn grouping(step: &mut Step<'_>, expr: &Expr, precedence: u8, operands: &[NodeId]) {
    for &operand in operands {
        let inner = match *expr.kind(operand) {
            NodeKind::Paren(inner) if expr.kind(inner).precedence() < precedence => {
                step.uses(Clause::Precedence);
                continue;
            }
            ref inner => inner.precedence(),
        };
        if inner == precedence {
            step.uses(Clause::Associativity);
        } else if inner < precedence::PRIMARY {
            step.uses(Clause::Precedence);
        }
    }
}
