//! What mere choices of the grammar stand for.

use ptxsmith_syntax::{Linkage, Radix, StateSpace, VectorLength};

/// A choice that the maker around it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// The base of an integer literal.
    Radix(Radix),
    /// Whether an integer literal has the suffix `U`.
    Unsigned(bool),
    /// Which byte a mask takes.
    Byte(u8),
    /// Who sees a variable.
    Linkage(Option<Linkage>),
    /// The length of a vector, where a type is one.
    Vector(Option<VectorLength>),
    /// How many dimensions an array has.
    Rank(usize),
    /// The state space of a variable that a kernel uses.
    Storage(StateSpace),
    Place(Place),
    Access(Access),
}

/// The form of an address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Variable,
    Register,
    RegisterOffset,
    VariableOffset,
    Element,
    ElementRegister,
    ElementRegisterOffset,
    ElementSubtracted,
    Absolute,
}

/// What an access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Scalar,
    Braces,
    Register,
}
