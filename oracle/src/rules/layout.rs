//! The rules of declarations and initializers (5.4).

use ptxsmith_syntax::{Expr, Text, numbered};

use super::{
    entry::entries,
    specification::{dimension, place, size},
};
use crate::{
    address::{self, Named, Slot, Version},
    step::{Placement, Ruled, Step},
    value::{Address, Integer},
};

entries! {
    /// What a dimension that evaluates to this integer means.
    Dimension(step: &mut Step<'_>, dimension: &Expr, value: Integer) -> Ruled<Integer>;
    /// Bytes of an array of these extents, none for a scalar, whose elements have so many bytes; the largest number of 64 bits for
    /// every size that none of them is.
    Size(extents: &[u64], element: u64) -> u64;
    /// Where the entries of a list go: in scalars from the start of the variable.
    Place(at: Placement) -> u64;
    /// Which number a common prefix and digits are, which makes a parameterized name where it is below the count.
    Numbered(prefix: &str, digits: &str) -> Option<u64>;
    /// The name that a common prefix with a count of zero declares, if any.
    NoNames(prefix: &str) -> Option<Text>;
    /// Whose address may be taken, or a byte of it, in modules of this `.version`; whether it is generic in the end.
    AddressOf(step: &mut Step<'_>, version: Version, named: Named, address: Address, byte: Option<u8>) -> Ruled<bool>;
    /// What an address, or the byte that a mask takes of it, fills of a scalar of so many bytes, in modules for this compute
    /// capability, such as 80.
    SlotOf(size: u64, byte: Option<u8>, architecture: Option<u32>) -> Slot;
}

/// The rules of declarations and initializers.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct Layout {
    pub dimension: Dimension,
    pub size: Size,
    pub place: Place,
    pub numbered: Numbered,
    pub no_names: NoNames,
    pub address_of: AddressOf,
    pub slot_of: SlotOf,
}

impl Layout {
    pub(super) const SPECIFICATION: Layout = Layout {
        dimension: Dimension::new(dimension),
        size: Size::new(size),
        place: Place::new(place),
        numbered: Numbered::new(|_, digits| numbered(digits)),
        no_names: NoNames::new(|_| None),
        address_of: AddressOf::new(address::named),
        slot_of: SlotOf::new(address::slot),
    };
}
