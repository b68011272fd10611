//! Known deviations as executable claims.
//!
//! Each entry says how the language of an implementation differs from the specification's: a changed rule, or a crash
//! where a predicate on the evaluation holds. An entry explains a difference only if it predicts exactly what was
//! observed, and only in the releases that it lists. No entry changes what is expected. An entry that a listed release no
//! longer shows is reported as well ([`crate::gone`]).

mod addresses;
mod declarations;
mod entry;
mod expressions;
mod initializers;
mod names;
mod operands;

use std::sync::LazyLock;

use ptxsmith_oracle::Rules;

pub use self::entry::{Effect, End, Known};
pub use crate::maker::{Maker, Releases};

/// Every known deviation, file by file: so documents show them, and of two that explain the same the first is named.
pub static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    [
        expressions::LISTED,
        initializers::LISTED,
        declarations::LISTED,
        addresses::LISTED,
        operands::LISTED,
        names::LISTED,
    ]
    .concat()
});

/// The deviations that are listed for an implementation.
pub fn listed_for(maker: Maker<'_>) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.is_of(maker))
}

/// These rules with all that is known of an implementation.
pub fn with_known(base: &Rules, maker: Maker<'_>) -> Rules {
    base.with(|rules| listed_for(maker).filter_map(Known::change).for_each(|change| change(rules)))
}
