//! Productions that only choose a value for the surrounding maker.

use ptxsmith_syntax::{Linkage, Radix, StateSpace, VectorLength};

/// A value chosen for the surrounding maker.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChosenValue {
    /// The base of an integer literal.
    Radix(Radix),
    /// Whether an integer literal has the suffix `U`.
    Unsigned(bool),
    /// The index of the byte that a mask selects.
    Byte(u8),
    /// The linkage of a variable.
    Linkage(Option<Linkage>),
    /// The length of a vector, or `None` for a scalar.
    Vector(Option<VectorLength>),
    /// The number of dimensions of an array.
    Rank(usize),
    /// The state space of a variable that a kernel accesses.
    Storage(StateSpace),
    Place(AddressForm),
    Access(DataForm),
}

/// The form of an address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressForm {
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

/// The data operand of a memory access: a scalar, a list in braces or a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataForm {
    Scalar,
    Braces,
    Register,
}
