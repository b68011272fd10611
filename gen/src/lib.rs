//! Generates PTX test programs from bytes, driven by a grammar table.
//!
//! [`grammar::GRAMMAR`] lists every form that the generator can produce. A [`Generator`] applies the table under a
//! [`Config`]: it turns bytes into expressions and declarations, and a seed and an index into a [`Case`]. Its programs are
//! valid by construction, as far as this can be decided without evaluating expressions. The generator does not predict
//! values; that is the task of the oracle.
//!
//! ```
//! use ptxsmith_gen::{Coverage, Focus, Generator, Header};
//!
//! let generator = Generator::default();
//! let mut coverage = Coverage::new();
//! let case = generator.case(Focus::Expressions, 1, 42, &mut coverage);
//! let text = ptxsmith_syntax::print(&case.module(&Header::default()));
//! assert_eq!(ptxsmith_syntax::parse(&text).unwrap(), case.module(&Header::default()));
//! ```

mod address;
pub mod arithmetic;
pub mod boundary;
mod case;
mod choice;
mod config;
mod contexts;
mod coverage;
mod covered;
mod declare;
mod document;
mod draft;
pub mod enumerate;
mod generator;
pub mod grammar;
pub mod linking;
pub mod negative;
mod nonterminal;
mod number;
mod operands;
pub mod places;
mod presets;
mod raw;
mod sampler;
mod scope;
mod shares;
pub mod stream;
mod weights;
mod written;

pub use case::{Body, Case, CaseId, Focus, case};
pub use config::{Config, Odds};
pub use coverage::Coverage;
pub use covered::feasible_pairs;
pub use enumerate::Enumeration;
pub use generator::Generator;
pub use grammar::{Nonterminal, Production, ProductionId};
pub use negative::{Edit, Negative};
pub use places::{Cell, Places};
pub use ptxsmith_syntax::Header;
pub use raw::RawEdits;
pub use weights::{UnknownProduction, Weights};
