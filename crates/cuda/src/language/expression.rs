//! Syntax trees of initializers.

use super::types::VariableType;

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    /// The operator as written in C++.
    pub const fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }
}

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstantValue {
    /// A value of an integral type or an enumeration.
    Integer(i128),
    /// A value of a floating-point type. All values in cases are small fractions, exact in `float`.
    Floating(f64),
    /// A value of another type, known only to be constant.
    Other,
}

/// The initializer of a variable, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal of an integral type, with its suffix.
    Integer(i128, &'static str),
    /// A literal of a floating-point type, with its suffix.
    Floating(f64, &'static str),
    /// `true` or `false`.
    Boolean(bool),
    /// The name of an auxiliary variable, of an enumerator, or of `a`, the parameter of an auxiliary
    /// function.
    Name(&'static str),
    /// A call of an auxiliary function.
    Call(&'static str, Vec<Expression>),
    /// `-a`.
    Negated(Box<Expression>),
    /// An operation on two operands. Printed in parentheses.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a ? b : c`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `sizeof(TYPE)`.
    SizeOf(VariableType),
    /// A conversion to the type, written as a cast: `(TYPE)(a)`.
    Cast(VariableType, Box<Expression>),
    /// A list in braces. For a scalar, it is empty or has one element.
    Braces(Vec<Expression>),
    /// `nullptr`.
    Null,
    /// The address of an auxiliary variable or function, or of a member.
    AddressOf(&'static str),
    /// A string literal of three characters.
    Text(&'static str),
}
