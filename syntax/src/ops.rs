//! The operators of constant expressions, one table a kind.
//!
//! Printer, parser, generator, evaluator and coverage all iterate these tables, and match without a wildcard, so a
//! new operator is a compile error in each of them.

/// A prefix operator (4.5.4, Table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of Table 4")]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

impl UnaryOp {
    /// Every prefix operator, in the order of Table 4.
    pub const ALL: [UnaryOp; 4] = [UnaryOp::Plus, UnaryOp::Minus, UnaryOp::Not, UnaryOp::Complement];

    /// Its spelling.
    pub const fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        }
    }
}

/// The type that a cast asks for (4.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of the casts")]
pub enum Cast {
    S64,
    U64,
}

impl Cast {
    /// Every cast.
    pub const ALL: [Cast; 2] = [Cast::S64, Cast::U64];

    /// Its spelling, parentheses included.
    pub const fn symbol(self) -> &'static str {
        match self {
            Cast::S64 => "(.s64)",
            Cast::U64 => "(.u64)",
        }
    }
}

/// An infix operator (4.5.4, Table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of Table 4")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shr,
    Shl,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl BinaryOp {
    /// Every infix operator, in the order of Table 4.
    pub const ALL: [BinaryOp; 18] = [
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Shr,
        BinaryOp::Shl,
        BinaryOp::Lt,
        BinaryOp::Gt,
        BinaryOp::Le,
        BinaryOp::Ge,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::And,
        BinaryOp::Xor,
        BinaryOp::Or,
        BinaryOp::LogicalAnd,
        BinaryOp::LogicalOr,
    ];

    /// Its spelling.
    pub const fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shr => ">>",
            BinaryOp::Shl => "<<",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&",
            BinaryOp::Xor => "^",
            BinaryOp::Or => "|",
            BinaryOp::LogicalAnd => "&&",
            BinaryOp::LogicalOr => "||",
        }
    }

    /// How tightly it binds: see [`precedence`]. All infix operators associate to the left.
    pub const fn precedence(self) -> u8 {
        match self {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 11,
            BinaryOp::Add | BinaryOp::Sub => 10,
            BinaryOp::Shr | BinaryOp::Shl => 9,
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => 8,
            BinaryOp::Eq | BinaryOp::Ne => 7,
            BinaryOp::And => 6,
            BinaryOp::Xor => 5,
            BinaryOp::Or => 4,
            BinaryOp::LogicalAnd => 3,
            BinaryOp::LogicalOr => 2,
        }
    }
}

/// The lines of Table 4 as numbers: a larger number binds tighter.
pub mod precedence {
    /// `?:`, which associates to the right.
    pub const TERNARY: u8 = 1;
    /// The loosest infix operator.
    pub const BINARY_LOWEST: u8 = 2;
    /// The prefix operators and the casts.
    pub const UNARY: u8 = 12;
    /// Literals, names, parentheses and the address operators.
    pub const PRIMARY: u8 = 13;
}
