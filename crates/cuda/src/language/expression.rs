//! Initializers as trees.

use super::types::Type;

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
    /// Its sign.
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
pub enum Value {
    /// Of an integral type or an enumeration.
    Integer(i128),
    /// Of a floating-point type. All values in cases are small fractions, exact in `float`.
    Floating(f64),
    /// Of another type: known to be constant, and no more.
    Other,
}

/// The initializer of a variable, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal of an integral type, with the suffix that it is written with.
    Integer(i128, &'static str),
    /// A literal of a floating-point type.
    Floating(f64, &'static str),
    /// `true` or `false`.
    Boolean(bool),
    /// An auxiliary variable, an enumerator, or `N`, the parameter of the template around it.
    Name(&'static str),
    /// A call of an auxiliary function.
    Call(&'static str, Vec<Expression>),
    /// The negative.
    Negated(Box<Expression>),
    /// An operation.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a ? b : c`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `sizeof(TYPE)`.
    SizeOf(Type),
    /// A conversion to the variable's own type or to the one given, written as a cast.
    Cast(Type, Box<Expression>),
    /// A list in braces; of scalars empty or with one element.
    Braces(Vec<Expression>),
    /// `nullptr`.
    Null,
    /// The address of an auxiliary variable or function, or of a member.
    AddressOf(&'static str),
    /// A literal of three characters.
    Text(&'static str),
}
