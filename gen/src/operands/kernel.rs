//! A kernel while it is being made.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Assemble, Declaration, Declarator, Expr, Instruction, Item, Name, Operand, ScalarType, Span, Specifier,
    StateSpace, Statement, Text, TreeBuilder, VectorLength,
};

/// What was made of a kernel so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    /// Statements at module scope that stand in front of the kernel.
    pub items: Vec<Item>,
    /// Variables that the body declares.
    pub locals: Vec<Declaration>,
    pub body: Vec<Statement>,
    pub registers: BTreeMap<&'static str, (ScalarType, usize)>,
    pub vectors: Vec<(ScalarType, VectorLength, Text)>,
    /// What stands in front of the names of registers.
    pub sigil: &'static str,
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
        // What is held in a register of another type, or in none.
        ScalarType::S8 | ScalarType::U8 | ScalarType::B8 => "x",
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 => "x",
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
    pub fn pointer(&self) -> Text {
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
