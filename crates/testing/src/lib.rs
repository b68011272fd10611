//! Support for the tests of all packages: implementations based on the oracle, wrong rules to plant into
//! them, and helpers. Only tests depend on this package, and it depends on nothing that campaigns use.

mod cores;
mod documents;
mod fakes;
mod linker;
mod real;
mod whole;
pub mod wrong;

pub use cores::on_all_cores;
pub use documents::{rendered, rendered_between};
pub use fakes::{NVIDIA, expression, fake, known_rules, observe, of_lineage, reached, right};
pub use linker::{LinkFault, ToyLinker};
pub use real::showing_code;
pub use whole::is_whole;
