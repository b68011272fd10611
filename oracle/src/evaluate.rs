//! Evaluates constant expressions with a stack machine that receives operands before operators.

use ptxsmith_syntax::{
    Assemble, BinaryOp, Cast, Expr, NodeId, NodeKind, ScalarType, Span, UnaryOp, precedence,
};

use crate::{
    address,
    clause::Clause,
    grouping::regrouped,
    reading::{ParenthesizedAddress, ParenthesizedSingle, Question},
    refusal::{RefusalClass, Stop},
    rules::Rules,
    step::{Ruled, Step, Stored, Trace},
    value::{AddressValue, Integer, Value},
};

/// Evaluates expressions under a table of rules. Accepts trees, or nodes as they are assembled ([`Assemble`]). Reuses
/// its working memory from one expression to the next.
///
/// Nodes that arrive without a tree keep the grouping in which they arrive: [`Grouping`](crate::rules::Grouping)
/// applies to trees only.
pub struct Evaluator<'a> {
    rules: &'a Rules,
    version: (u32, u32),
    /// The operands that no operator has consumed yet.
    operands: Vec<StackOperand>,
    /// The number of nodes of the current expression so far.
    nodes: NodeId,
    /// The position of the current node.
    span: Span,
    trace: Trace,
    pending: Option<Stop>,
    /// Why the expression has no value. Once this is set, later nodes are ignored.
    stopped: Option<Stop>,
}

/// An operand on the stack, until an operator consumes it.
#[derive(Clone, Copy)]
struct StackOperand {
    value: Value,
    /// The precedence of its outermost operator.
    precedence: u8,
    /// The precedence of the expression inside the parentheses, if it is parenthesized.
    within: u8,
    is_name: bool,
}

impl StackOperand {
    fn new(value: Value, precedence: u8) -> StackOperand {
        StackOperand { value, precedence, within: precedence::PRIMARY, is_name: false }
    }
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator for modules of this `.version`, which decides whether `mask()` exists.
    pub fn new(rules: &'a Rules, version: (u32, u32)) -> Evaluator<'a> {
        Evaluator {
            rules,
            version,
            operands: Vec::new(),
            nodes: 0,
            span: Span::NONE,
            trace: Trace::default(),
            pending: None,
            stopped: None,
        }
    }

    /// Uses other rules from the next expression on.
    pub fn follow(&mut self, rules: &'a Rules) {
        self.rules = rules;
        self.begin();
    }

    /// Returns the value of the expression converted to `ty`, as in an initializer.
    ///
    /// # Errors
    /// [`Stop::Refused`] if the specification rejects the value, [`Stop::Unmodelled`] if there is no rule.
    pub fn store(&mut self, expr: &Expr, ty: ScalarType, trace: &mut Trace) -> Ruled<Stored> {
        self.read(expr);
        let (stored, expression_trace) = self.stored(ty);
        *trace = trace.union(expression_trace);
        stored
    }

    /// Returns the number of nodes assembled since the last expression. Meaningful only if the expression has a value.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Converts the value of the nodes assembled since the last expression to `ty`, and returns the trace with it.
    ///
    /// # Errors
    /// As [`Evaluator::store`].
    #[inline]
    pub fn stored(&mut self, ty: ScalarType) -> (Ruled<Stored>, Trace) {
        let rules = self.rules;
        let stored = self.value().and_then(|value| {
            let mut step = self.step();
            step.uses(Clause::ConstantInInitializer);
            rules.expressions.store.apply(&mut step, value, ty)
        });
        let trace = self.trace;
        self.begin();
        (stored, trace)
    }

    /// Returns the expression as an integer constant, as in a dimension or an alignment.
    ///
    /// # Errors
    /// As [`Evaluator::store`]; a value of another kind is refused with the given class and clause.
    pub fn integer(
        &mut self,
        expr: &Expr,
        (class, clause): (RefusalClass, Clause),
        trace: &mut Trace,
    ) -> Ruled<Integer> {
        self.read(expr);
        let value = self.value();
        *trace = trace.union(self.trace);
        match value? {
            Value::Integer(integer) => Ok(integer),
            Value::Undefined(_) => Err(self.pending.take().expect("an undefined value has a reason")),
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

    fn begin(&mut self) {
        self.operands.clear();
        self.nodes = 0;
        self.span = Span::NONE;
        self.trace = Trace::default();
        self.pending = None;
        self.stopped = None;
    }

    fn step(&mut self) -> Step<'_> {
        Step {
            readings: &self.rules.readings,
            trace: &mut self.trace,
            span: self.span,
            pending: &mut self.pending,
        }
    }

    fn value(&mut self) -> Ruled<Value> {
        match self.stopped.take() {
            Some(stop) => Err(stop),
            None => Ok(self.operands.last().expect("an expression has a node").value),
        }
    }

    /// Evaluates the nodes of a tree, regrouped if the rules change the grouping.
    fn read(&mut self, expr: &Expr) {
        self.begin();
        let grouping = &self.rules.expressions.grouping;
        // An address refers to its variable by the index of a node, and regrouping changes the indices.
        if grouping.is_changed() && !expr.has_names() {
            self.take(&regrouped(expr, grouping));
        } else {
            self.take(expr);
        }
        self.span = expr.span();
    }

    fn take(&mut self, expr: &Expr) {
        for node in expr.nodes() {
            self.span = node.span;
            match node.kind {
                NodeKind::Number(ref text) => self.number(text.as_bytes()),
                NodeKind::WarpSize => self.warp_size(),
                NodeKind::Name(ref name) => self.name(name),
                NodeKind::Paren(_) => self.paren(),
                NodeKind::Unary(op, _) => self.unary(op),
                NodeKind::Cast(cast, _) => self.cast(cast),
                NodeKind::Binary(op, ..) => self.binary(op),
                NodeKind::Ternary(..) => self.ternary(),
                NodeKind::Generic(_) => self.generic(),
                NodeKind::Mask(ref mask, _) => {
                    let stop = match expr.nodes().get(self.nodes as usize + 1).map(|next| &next.kind) {
                        None => None,
                        Some(NodeKind::Mask(..)) => Some(true),
                        Some(_) => Some(false),
                    };
                    self.masked(mask, stop);
                }
            }
            if self.stopped.is_some() {
                return;
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, operand: StackOperand) {
        self.nodes += 1;
        self.operands.push(operand);
    }

    /// Replaces the last `N` operands with the result of a rule, which has this precedence.
    #[inline]
    fn join<const N: usize>(
        &mut self,
        precedence: u8,
        rule: impl FnOnce(&Rules, &mut Step<'_>, [&Value; N]) -> Ruled<Value>,
    ) {
        self.nodes += 1;
        if self.stopped.is_some() {
            return;
        }
        let Evaluator { rules, operands, span, trace, pending, .. } = self;
        let mut step = Step { readings: &rules.readings, trace, span: *span, pending };
        let joined: &[StackOperand; N] = operands.last_chunk().expect("operands come before what joins them");
        if precedence < precedence::PRIMARY {
            grouping(&mut step, precedence, joined);
        }
        match rule(rules, &mut step, joined.each_ref().map(|operand| &operand.value)) {
            Ok(value) => {
                operands.truncate(operands.len() + 1 - N);
                *operands.last_mut().expect("one is left") = StackOperand::new(value, precedence);
            }
            Err(stop) => self.stopped = Some(stop),
        }
    }

    /// Pushes the result of a rule that consumes no operands.
    fn leaf(&mut self, rule: impl FnOnce(&Rules, &mut Step<'_>) -> Ruled<Value>) {
        if self.stopped.is_some() {
            return;
        }
        let rules = self.rules;
        match rule(rules, &mut self.step()) {
            Ok(value) => self.push(StackOperand::new(value, precedence::PRIMARY)),
            Err(stop) => self.stopped = Some(stop),
        }
    }

    /// Pushes an operand that was evaluated earlier, and adds its trace.
    #[inline]
    pub fn evaluated(&mut self, value: Value, trace: Trace) {
        if self.stopped.is_none() {
            self.trace = self.trace.union(trace);
            self.push(StackOperand::new(value, precedence::PRIMARY));
        }
    }

    /// Applies `mask()` to the last operand. `joined` is `None` for a mask that is the whole expression; otherwise it
    /// tells whether the mask is the operand of another mask.
    fn masked(&mut self, mask: &str, joined: Option<bool>) {
        let version = self.version;
        self.join(precedence::PRIMARY, |rules, step, [operand]| match joined {
            Some(true) => refuse(step, RefusalClass::MaskOperand, Clause::MaskOperand),
            Some(false) => Err(Stop::Unmodelled("mask() as an operand")),
            None => rules.expressions.mask.apply(step, version, mask, *operand),
        });
    }
}

impl Assemble for Evaluator<'_> {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.leaf(|rules, step| rules.expressions.number.apply(step, text));
    }

    fn warp_size(&mut self) {
        self.leaf(|rules, step| rules.expressions.warp_size.apply(step));
    }

    fn name(&mut self, _: &str) {
        let value =
            Value::Address(AddressValue { name: self.nodes, addend: 0, generic: false, moved: false });
        self.push(StackOperand { is_name: true, ..StackOperand::new(value, precedence::PRIMARY) });
    }

    #[inline]
    fn paren(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        self.nodes += 1;
        let mut operand = self.operands.pop().expect("parentheses have something in them");
        match paren(&mut self.step(), operand.value) {
            Ok(value) => {
                operand = StackOperand {
                    within: operand.precedence,
                    ..StackOperand::new(value, precedence::PRIMARY)
                };
                self.operands.push(operand);
            }
            Err(stop) => self.stopped = Some(stop),
        }
    }

    #[inline]
    fn unary(&mut self, op: UnaryOp) {
        self.join(precedence::UNARY, |rules, step, [operand]| {
            typed(step, [operand], |step, [operand]| {
                rules.expressions.prefix[op as usize].apply(step, *operand)
            })
        });
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        self.join(precedence::UNARY, |rules, step, [operand]| {
            typed(step, [operand], |step, [operand]| {
                rules.expressions.cast[cast as usize].apply(step, *operand)
            })
        });
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) {
        self.join(op.precedence(), |rules, step, operands| {
            let rule = |step: &mut Step<'_>, [left, right]: [&Value; 2]| {
                rules.expressions.infix[op as usize].apply(step, *left, *right)
            };
            match op {
                // These operators may ignore the value of their second operand.
                BinaryOp::LogicalAnd | BinaryOp::LogicalOr => rule(step, operands),
                _ => typed(step, operands, rule),
            }
        });
    }

    #[inline]
    fn ternary(&mut self) {
        self.join(precedence::TERNARY, |rules, step, [condition, then, otherwise]| {
            rules.expressions.ternary.apply(step, *condition, *then, *otherwise)
        });
    }

    fn generic(&mut self) {
        let is_name = self.operands.last().is_some_and(|operand| operand.is_name);
        self.join(precedence::PRIMARY, |_, step, [operand]| address::generic(step, *operand, is_name));
    }

    fn mask(&mut self, mask: &str) {
        self.masked(mask, None);
    }
}

/// Applies a rule to its operands. If an operand is undefined, the result is undefined too, with the type it has for
/// defined operands.
#[inline]
fn typed<const N: usize>(
    step: &mut Step<'_>,
    operands: [&Value; N],
    rule: impl FnOnce(&mut Step<'_>, [&Value; N]) -> Ruled<Value>,
) -> Ruled<Value> {
    if operands.iter().any(|operand| matches!(operand, Value::Undefined(_))) {
        let defined = operands.map(|operand| operand.or_one());
        return rule(step, defined.each_ref()).map(Value::undefined);
    }
    rule(step, operands)
}

fn paren(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
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

fn refuse<T>(step: &mut Step<'_>, class: RefusalClass, clause: Clause) -> Ruled<T> {
    step.uses(clause);
    Err(Stop::refused(class, clause, step.span))
}

/// Records whether the grouping of operators mattered, with parentheses or without (4.5.4, Table 4).
#[inline]
fn grouping(step: &mut Step<'_>, precedence: u8, operands: &[StackOperand]) {
    let (mut decided, mut associated) = (false, false);
    for operand in operands {
        let alike = operand.within >= precedence && operand.precedence == precedence;
        associated |= alike;
        decided |= !alike && (operand.within < precedence || operand.precedence < precedence::PRIMARY);
    }
    step.uses_if(decided, Clause::Precedence);
    step.uses_if(associated, Clause::Associativity);
}
