//! Enumerates every small program once, without randomness.
//!
//! An [`Enumeration`] is a sequence of families. A family knows its number of programs and generates each from its index, so
//! an enumeration can be split into shards and its size is known in advance.

mod arrays;
mod literals;
mod operators;
mod post;

use ptxsmith_syntax::{ScalarType, Spacing, TypeKind};

use crate::case::{Body, Case, CaseId};

/// A set of programs of the same form.
#[derive(Debug)]
pub struct Family {
    /// The name of the form, such as `integer-literals`.
    pub name: &'static str,
    /// The smallest depth of an enumeration that contains the family.
    pub depth: u32,
    count: fn() -> u64,
    make: fn(u64) -> Body,
}

impl Family {
    /// Returns the number of programs.
    pub fn count(&self) -> u64 {
        (self.count)()
    }
}

/// All families, in the order of the enumeration.
pub static FAMILIES: &[Family] = &[
    Family { name: "integer-literals", depth: 0, count: literals::literals, make: literals::literal },
    Family {
        name: "float-literals",
        depth: 0,
        count: literals::float_literals,
        make: literals::float_literal,
    },
    Family {
        name: "integers-by-type",
        depth: 0,
        count: literals::integers_by_type,
        make: literals::integer_by_type,
    },
    Family {
        name: "floats-by-type",
        depth: 0,
        count: literals::floats_by_type,
        make: literals::float_by_type,
    },
    Family { name: "prefix", depth: 1, count: operators::prefixes, make: operators::prefix },
    Family { name: "infix", depth: 1, count: operators::infixes, make: operators::infix },
    Family { name: "ternary", depth: 1, count: operators::ternaries, make: operators::ternary },
    Family {
        name: "float-prefix",
        depth: 1,
        count: operators::float_prefixes,
        make: operators::float_prefix,
    },
    Family { name: "float-infix", depth: 1, count: operators::float_infixes, make: operators::float_infix },
    Family { name: "array-1", depth: 1, count: || arrays::shapes::<1>(), make: arrays::shape::<1> },
    Family { name: "array-2", depth: 1, count: || arrays::shapes::<2>(), make: arrays::shape::<2> },
    Family {
        name: "prefix-infix",
        depth: 2,
        count: operators::prefix_infixes,
        make: operators::prefix_infix,
    },
    Family { name: "infix-infix", depth: 2, count: operators::infix_infixes, make: operators::infix_infix },
    Family {
        name: "ternary-infix",
        depth: 2,
        count: operators::ternary_infixes,
        make: operators::ternary_infix,
    },
    Family { name: "array-3", depth: 2, count: || arrays::shapes::<3>(), make: arrays::shape::<3> },
];

/// All programs of the families up to a depth: 0 for literals, 1 also for one operator and arrays of two dimensions, 2 also for
/// two operators and arrays of three dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    depth: u32,
}

impl Enumeration {
    /// Creates the enumeration up to this depth. Depths above 2 add nothing.
    pub fn new(depth: u32) -> Enumeration {
        Enumeration { depth }
    }

    /// Returns the families of the enumeration, in order.
    pub fn families(&self) -> impl Iterator<Item = &'static Family> {
        let depth = self.depth;
        FAMILIES.iter().filter(move |family| family.depth <= depth)
    }

    /// Returns the number of programs.
    pub fn count(&self) -> u64 {
        self.families().map(Family::count).sum()
    }

    /// Returns the program with this index, or `None` if the index is out of range. The seed in its id is the depth.
    pub fn case(&self, index: u64) -> Option<Case> {
        let mut rest = index;
        for family in self.families() {
            let count = family.count();
            if rest < count {
                let id = CaseId { seed: self.depth.into(), index };
                return Some(Case { id, body: (family.make)(rest), spacing: Spacing::Canonical });
            }
            rest -= count;
        }
        None
    }
}

// The index of a program is a number in mixed bases. Each choice consumes one digit and leaves the quotient.

fn take<T: Copy>(index: &mut u64, of: &[T]) -> T {
    of[digit(index, of.len())]
}

fn digit(index: &mut u64, base: usize) -> usize {
    let digit = *index % base as u64;
    *index /= base as u64;
    digit as usize
}

/// The integer types, ordered by kind and, within a kind, from the widest to the narrowest.
const INTEGER_TYPES: [ScalarType; ScalarType::count(INTEGER_KINDS)] = {
    let all: [ScalarType; ScalarType::count(INTEGER_KINDS)] = ScalarType::with_values(INTEGER_KINDS);
    let (mut types, mut count, mut kind) = (all, 0, 0);
    while kind < INTEGER_KINDS.len() {
        let mut at = 0;
        while at < all.len() {
            if all[at].kind() as u8 == INTEGER_KINDS[kind] as u8 {
                types[count] = all[at];
                count += 1;
            }
            at += 1;
        }
        kind += 1;
    }
    types
};

const INTEGER_KINDS: &[TypeKind] = &[TypeKind::Signed, TypeKind::Unsigned, TypeKind::Bits];
