//! Which instructions are judged: those of a form that the table has, with operands of types that everybody takes there.

use ptxsmith_syntax::{
    Expr, FunctionKind, Instruction, Name, Node, NodeKind, Number, Opcode, Operand, ScalarType, StateSpace,
    TypeKind, read_number,
};

use super::{
    form::Form,
    instructions::{Row, row},
    names::{Body, Meaning, Names, Program, Register},
    operand::{Address, Base, Reader},
};
use crate::{
    clause::Clause,
    evaluate::Evaluator,
    refusal::RefusalClass,
    rules::Rules,
    step::Trace,
    undecided::{ALIAS, UNDECLARED},
    validity::special_register,
};

const FORM: &str = "an instruction in a form that is not modelled";
const OPERAND: &str = "an instruction with operands of types that are not modelled";
const SPECIAL: &str = "a special register, of which the texts do not speak";
const BEYOND: &str = "an access beyond its variable";

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Why an instruction that nothing refuses is not judged; `None` where it is.
pub(super) fn undecided(
    instruction: &Instruction,
    names: &Names,
    program: &Program<'_>,
    body: &Body<'_>,
    rules: &Rules,
) -> Option<&'static str> {
    let form = Form::of(instruction);
    let check = Check { names, program, body, rules };
    let guard =
        instruction.guard.iter().try_for_each(|guard| check.register(&guard.predicate, ScalarType::Pred));
    guard.and_then(|()| check.instruction(&form)).err()
}

struct Check<'a, 'm> {
    names: &'a Names,
    program: &'a Program<'m>,
    body: &'a Body<'m>,
    rules: &'a Rules,
}

type Judged = Result<(), &'static str>;

fn holds(condition: bool, otherwise: &'static str) -> Judged {
    if condition { Ok(()) } else { Err(otherwise) }
}

impl Check<'_, '_> {
    fn instruction(&self, form: &Form<'_>) -> Judged {
        let Row { types, others, spaces, operands: count, .. } = row(form.opcode);
        let takes = match form.ty {
            Some(ty) => has(types, ty.keyword()),
            None => types.is_empty(),
        };
        let spaced = match form.space {
            Some(space) => has(spaces, space.keyword()),
            None => spaces.is_empty() || !self.program.lacks_generic,
        };
        let known = form.others.iter().all(|word| has(others, word));
        let vector = form
            .lanes
            .is_none_or(|lanes| matches!(form.opcode, Opcode::Ld | Opcode::St) && self.fits(form, lanes));
        holds(takes && spaced && known && vector, FORM)?;
        holds(count == usize::MAX || form.operands.len() == count, FORM)?;
        let needed = match form.opcode {
            Opcode::Mul | Opcode::Mad | Opcode::Setp | Opcode::Cvt => form.others.len() == 1,
            Opcode::Cvta => form.space.is_some() && form.others.len() < 2,
            _ => true,
        };
        holds(needed, FORM)?;
        self.operands(form)
    }

    /// Whether a vector access has at most 128 bits.
    fn fits(&self, form: &Form<'_>, lanes: usize) -> bool {
        lanes <= 4 && form.ty.and_then(ScalarType::size).is_some_and(|size| size * lanes as u64 <= 16)
    }

    fn operands(&self, form: &Form<'_>) -> Judged {
        let Some(ty) = form.ty else { return self.control(form) };
        let named = |operand: &Operand| matches!(operand, Operand::Value(expr) if expr.as_name().is_some());
        let writes = match form.operands {
            _ if form.opcode == Opcode::St => true,
            [Operand::Vector(parts), ..] => parts.iter().all(named),
            operands => operands.first().is_some_and(named),
        };
        holds(writes, OPERAND)?;
        match (form.opcode, form.operands) {
            (Opcode::Ld, [to, from]) => {
                self.values(to, ty, form.lanes, true)?;
                self.place(from, form)
            }
            (Opcode::St, [to, from]) => {
                self.place(to, form)?;
                self.values(from, ty, form.lanes, true)
            }
            (Opcode::Mov, [to, from]) => {
                self.exact(to, ty)?;
                match from {
                    Operand::Value(expr) => match expr.as_name().map(|name| self.meaning(&name)) {
                        Some(Some(meaning @ (Meaning::Variable(_) | Meaning::Function(_)))) => {
                            let of_parameter =
                                matches!(&meaning, Meaning::Variable(v) if v.space == StateSpace::Param);
                            let whole = ty.size() == Some(8) && ty.kind() != TypeKind::Float;
                            holds(whole && !of_parameter, OPERAND)
                        }
                        _ => self.exact(from, ty),
                    },
                    _ => self.exact(from, ty),
                }
            }
            (Opcode::Cvta, [to, from]) => {
                self.exact(to, ty)?;
                self.exact(from, ty)
            }
            (Opcode::Cvt, [to, from]) => {
                let source =
                    form.others.first().and_then(|word| ScalarType::from_keyword(word)).ok_or(FORM)?;
                // The last modifier is the source's type.
                let (to_ty, from_ty) = (source, ty);
                let whole = |ty: ScalarType| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
                holds(whole(to_ty) && whole(from_ty), FORM)?;
                self.values(to, to_ty, None, true)?;
                self.values(from, from_ty, None, true)
            }
            (Opcode::Shl | Opcode::Shr, [to, from, by]) => {
                self.exact(to, ty)?;
                self.exact(from, ty)?;
                self.exact(by, ScalarType::U32)
            }
            (Opcode::Setp, [to, left, right]) => {
                let ordered = !matches!(form.others[..], [".eq" | ".ne"]);
                holds(!ordered || ty.kind() != TypeKind::Bits, FORM)?;
                self.exact(to, ScalarType::Pred)?;
                self.exact(left, ty)?;
                self.exact(right, ty)
            }
            (Opcode::Selp, [to, left, right, by]) => {
                [to, left, right].into_iter().try_for_each(|operand| self.exact(operand, ty))?;
                self.exact(by, ScalarType::Pred)
            }
            (_, operands) => operands.iter().try_for_each(|operand| self.exact(operand, ty)),
        }
    }

    fn control(&self, form: &Form<'_>) -> Judged {
        let name = |operand: &Operand| match operand {
            Operand::Value(expr) => expr.as_name(),
            _ => None,
        };
        match (form.opcode, form.operands) {
            (Opcode::Bra, [label]) => {
                let label = name(label).ok_or(FORM)?;
                // The label of another block is not in scope.
                let in_scope = matches!(self.meaning(&label), Some(Meaning::Label));
                holds(in_scope && self.body.labels.contains_key(label.text.as_str()), UNDECLARED)
            }
            (Opcode::Ret | Opcode::Exit, []) => Ok(()),
            (Opcode::Call, [callee]) => {
                // One that takes and gives nothing.
                let callee = name(callee).ok_or(FORM)?;
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

    /// A register of exactly this type, up to sign; bits fit every type of their size.
    fn register(&self, name: &Name, ty: ScalarType) -> Judged {
        match self.meaning(name) {
            Some(Meaning::Register(register)) => holds(alike(register, ty, false), OPERAND),
            Some(_) => Err(OPERAND),
            None => Err(undeclared(name)),
        }
    }

    /// A register of exactly this type, or a constant where no register has to be.
    fn exact(&self, operand: &Operand, ty: ScalarType) -> Judged {
        self.values(operand, ty, None, false)
    }

    /// One value, or a list of as many as there are lanes. A register may be `wider` where the instruction moves bits.
    fn values(&self, operand: &Operand, ty: ScalarType, lanes: Option<usize>, wider: bool) -> Judged {
        match (operand, lanes) {
            (Operand::Vector(parts), Some(lanes)) if parts.len() == lanes => {
                parts.iter().try_for_each(|part| self.values(part, ty, None, wider))?;
                let size = |part: &Operand| match part {
                    Operand::Value(expr) => match self.meaning(&expr.as_name()?) {
                        Some(Meaning::Register(register)) => register.ty.size(),
                        _ => None,
                    },
                    _ => None,
                };
                let mut sizes = parts.iter().filter_map(size);
                let first = sizes.next();
                holds(sizes.all(|size| Some(size) == first), OPERAND)
            }
            (Operand::Value(expr), None) => match expr.as_name() {
                Some(name) => match self.meaning(&name) {
                    Some(Meaning::Register(register)) => holds(alike(register, ty, wider), OPERAND),
                    Some(Meaning::Alias) => Err(ALIAS),
                    Some(_) => Err(OPERAND),
                    None => Err(undeclared(&name)),
                },
                None => {
                    let number = ty.kind() != TypeKind::Float && ty != ScalarType::Pred;
                    holds(number && self.is_constant(expr), OPERAND)
                }
            },
            (Operand::Component(name, _), None) if self.meaning(name).is_none() => Err(undeclared(name)),
            _ => Err(OPERAND),
        }
    }

    /// Whether an expression is a number without any doubt.
    fn is_constant(&self, expr: &Expr) -> bool {
        let known = |kind: &NodeKind| match kind {
            NodeKind::Number(text) => matches!(read_number(text), Some(Number::Integer { .. })),
            NodeKind::Name(_) | NodeKind::Mask(..) | NodeKind::Generic(_) => false,
            _ => true,
        };
        let (mut trace, rule) = (Trace::default(), (RefusalClass::NonConstant, Clause::ConstantOperands));
        let version = self.program.version;
        expr.nodes().iter().all(|node| known(&node.kind))
            && Evaluator::new(self.rules, version).integer(expr, rule, &mut trace).is_ok()
            && trace.questions.is_empty()
    }

    /// A place in memory whose base is a register or a variable of the state space that is named.
    fn place(&self, operand: &Operand, form: &Form<'_>) -> Judged {
        let mut reader = Reader { rules: self.rules, version: self.program.version, trace: Trace::default() };
        let address = match operand {
            Operand::Address(expr) if !expr.has_names() => reader.address(expr, self.names),
            Operand::Address(expr) => {
                holds(!parenthesizes_a_name(expr), OPERAND)?;
                let named = expr.nodes().iter().find_map(|node| match &node.kind {
                    NodeKind::Name(text) => Some(Name { text: text.clone(), span: node.span }),
                    _ => None,
                });
                self.meaning(&named.ok_or(OPERAND)?).ok_or(UNDECLARED)?;
                reader.address(expr, self.names)
            }
            Operand::Element(name, index) => {
                match self.meaning(name).ok_or(UNDECLARED)? {
                    Meaning::Variable(variable) => holds(!variable.shape.extents.is_empty(), OPERAND)?,
                    _ => return Err(OPERAND),
                }
                reader.element(name, index, self.names)
            }
            _ => return Err(OPERAND),
        };
        // How implementations answer an open question here is not asked.
        let Address { base, offset, index } = address.map_err(|_| OPERAND)?;
        let accessed = form.ty.map_or(1, |ty| ty.bytes().max(1)) * form.lanes.unwrap_or(1) as u64;
        match base {
            Base::Register(register) => {
                let number =
                    matches!(register.ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
                // 6.4.1: an address of 32 bits is extended to 64.
                let wide = matches!(register.ty.size(), Some(4 | 8));
                holds(number && register.lanes == 1 && wide, OPERAND)?;
                holds(form.space != Some(StateSpace::Param), OPERAND)
            }
            Base::Variable(variable) => {
                // What is passed in the parameters of a call is for the instruction to say.
                let is_own = |meaning: &Meaning| matches!(meaning, Meaning::Variable(own) if own.name == variable.name);
                let in_param = variable.space == StateSpace::Param;
                holds(!in_param || self.body.parameters.iter().any(is_own), OPERAND)?;
                holds(Some(variable.space) == form.space, OPERAND)?;
                let Some(size) = variable.size.filter(|_| index.is_none()) else { return Ok(()) };
                let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(accessed));
                holds(end.is_some_and(|end| end <= size), BEYOND)
            }
            // 6.4.1: an absolute address is a form of its own, in every space; it has to be aligned.
            Base::Absolute => {
                let own = form.space != Some(StateSpace::Param);
                holds(own && u64::try_from(offset).is_ok_and(|offset| offset % accessed == 0), OPERAND)
            }
        }
    }
}

/// Why a name that nothing declares is not judged.
fn undeclared(name: &Name) -> &'static str {
    if special_register(&name.text) { SPECIAL } else { UNDECLARED }
}

/// Whether the name of an address expression stands in parentheses.
fn parenthesizes_a_name(expr: &Expr) -> bool {
    let nodes = expr.nodes();
    let is_name = |node: &Node| matches!(node.kind, NodeKind::Name(_));
    nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, NodeKind::Paren(_))).any(|(at, _)| {
        // What is in the parentheses stands right before them, from its first operand on.
        let mut first = at;
        while let Some(operand) = nodes[first].kind.leftmost_operand() {
            first = operand as usize;
        }
        nodes[first..at].iter().any(is_name)
    })
}

fn alike(register: Register, ty: ScalarType, wider: bool) -> bool {
    let class = |ty: ScalarType| match ty.kind() {
        // Two numbers in one are neither of them.
        _ if ty.keyword().ends_with("x2") => Some(3),
        TypeKind::Signed | TypeKind::Unsigned => Some(0),
        TypeKind::Float => Some(1),
        TypeKind::Predicate => Some(2),
        TypeKind::Bits => None,
    };
    let kinds = match (class(register.ty), class(ty)) {
        (Some(own), Some(wanted)) => own == wanted,
        (Some(one), None) | (None, Some(one)) => one != 2,
        (None, None) => true,
    };
    let sizes = match wider && class(ty) != Some(1) {
        true => register.ty.size() >= ty.size() && register.ty.size().is_some(),
        false => register.ty.size() == ty.size(),
    };
    register.lanes == 1 && kinds && sizes
}
