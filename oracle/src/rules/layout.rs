//! The rules of declarations and initializers (5.4).

use ptxsmith_syntax::{Expr, Text, numbered};

use super::{
    entry::entries,
    specification::{dimension, place, size},
};
use crate::{
    address::{self, AddressSlot, Addressing, SymbolKind, Version},
    step::{Placement, Ruled, Step},
    value::{AddressValue, Integer},
};

entries! {
    /// Returns the extent of a dimension that evaluates to this integer.
    Dimension(step: &mut Step<'_>, dimension: &Expr, value: Integer) -> Ruled<Integer>;
    /// Returns the bytes of an array with these extents (none for a scalar) and elements of `element` bytes;
    /// `u64::MAX` for a size that 64 bits cannot hold.
    Size(extents: &[u64], element: u64) -> u64;
    /// Returns where an entry of a list is placed, in scalars from the start of the variable.
    Place(at: Placement) -> u64;
    /// Returns the number that the digits behind a common prefix denote. If it is below the count, prefix and digits
    /// are a parameterized name.
    Numbered(prefix: &str, digits: &str) -> Option<u64>;
    /// Returns the name that a common prefix with a count of zero declares, if any.
    NoNames(prefix: &str) -> Option<Text>;
    /// Checks whether the address of a name, or a `byte` of it, may be stored in modules of this `.version`. Returns
    /// whether the stored address is generic.
    AddressOf(step: &mut Step<'_>, version: Version, named: SymbolKind, address: AddressValue, byte: Option<u8>) -> Ruled<bool>;
    /// Returns the part of a scalar of `size` bytes that a stored address, or one `byte` of it, occupies, in modules
    /// with this header.
    SlotOf(size: u64, byte: Option<u8>, addressing: Addressing) -> AddressSlot;
}

/// The rules of declarations and initializers.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct LayoutRules {
    pub dimension: Dimension,
    pub size: Size,
    pub place: Place,
    pub numbered: Numbered,
    pub no_names: NoNames,
    pub address_of: AddressOf,
    pub slot_of: SlotOf,
}

impl LayoutRules {
    pub(super) const SPECIFICATION: LayoutRules = LayoutRules {
        dimension: Dimension::new(dimension),
        size: Size::new(size),
        place: Place::new(place),
        numbered: Numbered::new(|_, digits| numbered(digits)),
        no_names: NoNames::new(|_| None),
        address_of: AddressOf::new(address::named),
        slot_of: SlotOf::new(address::slot),
    };
}
