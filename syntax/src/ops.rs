//! The operators of constant expressions, one table a kind.
//!
//! Printer, parser, generator, evaluator and coverage all iterate these tables, or match without a wildcard, so a
//! new operator is in all of them or a compile error.

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

/// Makes the enum of infix operators together with its table.
macro_rules! infix {
    ($(#[$meta:meta])* { $($op:ident = $symbol:literal, $precedence:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BinaryOp { $($op),+ }

        impl BinaryOp {
            /// Every infix operator, in the order of Table 4.
            pub const ALL: [BinaryOp; [$($symbol),+].len()] = [$(BinaryOp::$op),+];

            /// Its spelling.
            #[inline]
            pub const fn symbol(self) -> &'static str {
                match self { $(BinaryOp::$op => $symbol),+ }
            }

            /// How tightly it binds: see [`precedence`]. All infix operators associate to the left.
            #[inline]
            pub const fn precedence(self) -> u8 {
                match self { $(BinaryOp::$op => $precedence),+ }
            }
        }
    };
}

infix! {
    /// An infix operator (4.5.4, Table 4).
    #[expect(missing_docs, reason = "the names are those of Table 4")]
    {
        Mul = "*", 11;
        Div = "/", 11;
        Rem = "%", 11;
        Add = "+", 10;
        Sub = "-", 10;
        Shr = ">>", 9;
        Shl = "<<", 9;
        Lt = "<", 8;
        Gt = ">", 8;
        Le = "<=", 8;
        Ge = ">=", 8;
        Eq = "==", 7;
        Ne = "!=", 7;
        And = "&", 6;
        Xor = "^", 5;
        Or = "|", 4;
        LogicalAnd = "&&", 3;
        LogicalOr = "||", 2;
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
