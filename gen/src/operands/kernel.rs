//! A kernel while it is being made.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Assemble, Declaration, Declarator, Expr, Function, FunctionKind, Initializer, Instruction, Item, Linkage,
    Name, Operand, ScalarType, Span, Specifier, StateSpace, Statement, Text, TreeBuilder, TypeKind, UnaryOp,
    VectorLength,
};

use crate::{draft::Draft, grammar::Nonterminal, number::add_signed};

/// The most probes of a kernel.
const MOST_PROBES: usize = 5;

/// What was made of a kernel so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    /// Statements at module scope that stand in front of the kernel.
    pub items: Vec<Item>,
    /// Variables that the body declares.
    pub locals: Vec<Declaration>,
    pub body: Vec<Statement>,
    registers: BTreeMap<&'static str, (ScalarType, usize)>,
    vectors: Vec<(ScalarType, VectorLength, Text)>,
    /// What stands in front of the names of registers.
    sigil: &'static str,
    /// The end of what was written to the output buffer.
    out: u64,
    named: usize,
}

/// The prefix of the registers of a type: each type its own, so that each can be one parameterized name.
fn prefix(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::U64 => "q",
        ScalarType::S64 => "qs",
        ScalarType::B64 => "qb",
        ScalarType::U32 => "r",
        ScalarType::S32 => "rs",
        ScalarType::B32 => "rb",
        ScalarType::U16 => "h",
        ScalarType::S16 => "hs",
        ScalarType::B16 => "hb",
        ScalarType::F32 => "fl",
        ScalarType::F64 => "fd",
        ScalarType::Pred => "p",
        _ => "x",
    }
}

impl Kernel {
    /// A new register of a type; what is smaller than 16 bits lives in one of 16.
    pub fn register(&mut self, ty: ScalarType) -> Text {
        let ty = held_in(ty);
        let (_, count) = self.registers.entry(prefix(ty)).or_insert((ty, 0));
        *count += 1;
        Text::from(format!("{}{}{}", self.sigil, prefix(ty), *count - 1))
    }

    /// A new vector of registers.
    pub fn vector(&mut self, ty: ScalarType, length: VectorLength) -> Text {
        let name = Text::from(format!("{}w{}", self.sigil, self.vectors.len()));
        self.vectors.push((ty, length, name.clone()));
        name
    }

    /// A number that no name of this kernel has yet.
    pub fn number(&mut self) -> usize {
        self.named += 1;
        self.named - 1
    }

    pub fn add(&mut self, opcode: &str, operands: Vec<Operand>) {
        self.push(Instruction::new(opcode, operands));
    }

    pub fn push(&mut self, instruction: Instruction) {
        self.body.push(Statement::Instruction(Box::new(instruction)));
    }

    /// Writes a register of this type to the output buffer.
    pub fn show(&mut self, ty: ScalarType, value: Operand) {
        let ty = held_in(ty);
        let size = ty.size().unwrap_or(4);
        let at = self.out.next_multiple_of(size);
        self.out = at + size;
        let to = match at {
            0 => Operand::Address(Expr::name(self.pointer())),
            _ => Operand::Address(plus(&self.pointer(), number(at))),
        };
        self.add(&format!("st.global{}", ty.keyword()), vec![to, value]);
    }

    /// Writes several, one after the other.
    pub fn show_all(&mut self, ty: ScalarType, values: Vec<Operand>) {
        values.into_iter().for_each(|value| self.show(ty, value));
    }

    /// The register that points to the output buffer.
    fn pointer(&self) -> Text {
        Text::from(format!("{}o", self.sigil))
    }
}

/// The type of the registers that hold values of a type.
pub(crate) fn held_in(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::U8 => ScalarType::U16,
        ScalarType::S8 => ScalarType::S16,
        ScalarType::B8 => ScalarType::B16,
        ty => ty,
    }
}

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
        kind: FunctionKind::Entry,
        after: Vec::new(),
        results: None,
        name: Name::new("k0"),
        parameters: Some(parameters),
        directives: Vec::new(),
        body: Some(body),
        span: Span::NONE,
    })));
}

fn registers(ty: ScalarType, declarator: Declarator) -> Statement {
    Statement::Variables(plain(StateSpace::Reg, ty, declarator))
}

/// A declaration of one variable without further ado.
pub(crate) fn plain(space: StateSpace, ty: ScalarType, declarator: Declarator) -> Declaration {
    let specifiers = vec![Specifier::Space(space, None), Specifier::Type(ty)];
    Declaration { specifiers, declarators: vec![declarator], span: Span::NONE }
}

pub(crate) fn declarator(name: &str, count: Option<Expr>) -> Declarator {
    Declarator { name: Name::new(name), count, dimensions: Vec::new(), initializer: None }
}

/// A plain decimal literal.
pub(crate) fn number(value: u64) -> Expr {
    Expr::number(value.to_string())
}

/// `name + offset`
pub(crate) fn plus(name: &str, offset: Expr) -> Expr {
    joined(name, ptxsmith_syntax::BinaryOp::Add, offset)
}

/// `name op offset`
pub(crate) fn joined(name: &str, op: ptxsmith_syntax::BinaryOp, offset: Expr) -> Expr {
    let mut tree = TreeBuilder::default();
    tree.name(name);
    tree.graft(&offset);
    if offset.kind(offset.root()).precedence() <= op.precedence() {
        tree.paren();
    }
    tree.binary(op);
    tree.take()
}

/// A constant expression of this value: a literal in some base, or a little arithmetic around one.
pub(crate) fn spelled(d: &mut Draft<'_, '_>, value: i64) -> Expr {
    use ptxsmith_syntax::BinaryOp;
    let form = d.byte();
    d.expression(|d| {
        let magnitude = value.unsigned_abs();
        match form {
            // `(a + b)`, `(a - b)`: in parentheses, since what stands around them binds as it likes.
            200..=219 if (0..1 << 30).contains(&value) => {
                let part = d.below(1 + magnitude.min(200) as usize) as u64;
                add_signed(d, magnitude - part);
                add_signed(d, part);
                d.infix(BinaryOp::Add);
                d.paren();
            }
            220..=239 if value.abs() < 1 << 30 => {
                let more = u64::from(d.byte());
                add_signed(d, magnitude + more);
                add_signed(d, more);
                d.infix(BinaryOp::Sub);
                d.paren();
                if value < 0 {
                    d.unary(UnaryOp::Minus);
                }
            }
            240.. if value > 0 && magnitude.is_power_of_two() => {
                add_signed(d, 1);
                add_signed(d, u64::from(magnitude.ilog2()));
                d.infix(BinaryOp::Shl);
                d.paren();
            }
            _ => {
                add_signed(d, magnitude);
                if value < 0 {
                    d.unary(UnaryOp::Minus);
                }
            }
        }
    })
}

/// A random value of a type, as a literal, and for floats as bits.
pub(crate) fn random(d: &mut Draft<'_, '_>, ty: ScalarType) -> Expr {
    let bits = d.word();
    match ty {
        ScalarType::F32 => Expr::number(format!("0f{:08x}", bits as u32)),
        ScalarType::F64 => Expr::number(format!("0d{bits:016x}")),
        _ => {
            let size = 8 * ty.size().unwrap_or(8) as u32;
            let bits = bits >> (64 - size);
            let negative = ty.kind() == TypeKind::Signed && bits >> (size - 1) & 1 == 1;
            let magnitude = if negative { bits.wrapping_neg() & (u64::MAX >> (64 - size)) } else { bits };
            d.expression(|d| {
                add_signed(d, magnitude);
                if negative {
                    d.unary(UnaryOp::Minus);
                }
            })
        }
    }
}

/// A list of random values, of so many rows where there are rows.
pub(crate) fn list(d: &mut Draft<'_, '_>, ty: ScalarType, extents: &[u64]) -> Initializer {
    match extents {
        [] => Initializer::Value(random(d, ty)),
        [extent, inner @ ..] => Initializer::list((0..*extent).map(|_| list(d, ty, inner)).collect()),
    }
}
