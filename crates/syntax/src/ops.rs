//! The operators of constant expressions, with one table per kind.
//!
//! Printer, parser, generator, evaluator and coverage all iterate these tables, or match without a wildcard. A new operator
//! is therefore covered by all of them, or it is a compile error.

/// Defines an enum of operators with its table, in the order of Table 4.
macro_rules! operators {
    ($(#[$meta:meta])* $name:ident { $($op:ident = $symbol:literal;)+ }) => {
        $crate::every! {
            $(#[$meta])*
            #[expect(missing_docs, reason = "the names are those of Table 4")]
            pub enum $name { $($op),+ }
        }

        impl $name {
            /// Returns the spelling.
            #[inline]
            pub const fn symbol(self) -> &'static str {
                match self { $($name::$op => $symbol),+ }
            }
        }
    };
}

operators! {
    /// A prefix operator (4.5.4).
    UnaryOp {
        Plus = "+";
        Minus = "-";
        Not = "!";
        Complement = "~";
    }
}

operators! {
    /// The target type of a cast (4.5.5).
    Cast {
        S64 = "(.s64)";
        U64 = "(.u64)";
    }
}

operators! {
    /// An infix operator (4.5.4).
    BinaryOp {
        Mul = "*";
        Div = "/";
        Rem = "%";
        Add = "+";
        Sub = "-";
        Shr = ">>";
        Shl = "<<";
        Lt = "<";
        Gt = ">";
        Le = "<=";
        Ge = ">=";
        Eq = "==";
        Ne = "!=";
        And = "&";
        Xor = "^";
        Or = "|";
        LogicalAnd = "&&";
        LogicalOr = "||";
    }
}

impl BinaryOp {
    /// Returns the precedence; see [`precedence`]. All infix operators associate to the left.
    #[inline]
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
            BinaryOp::LogicalOr => precedence::BINARY_LOWEST,
        }
    }
}

/// Precedence levels from Table 4. A larger number binds tighter.
pub mod precedence {
    /// `?:`, which associates to the right.
    pub const TERNARY: u8 = 1;
    /// The infix operator that binds most loosely.
    pub const BINARY_LOWEST: u8 = 2;
    /// The prefix operators and the casts.
    pub const UNARY: u8 = 12;
    /// Literals, names, parentheses and the address operators.
    pub const PRIMARY: u8 = 13;
}
