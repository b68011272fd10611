//! Computes what the specification requires a program to contain, clause by clause, under a chosen interpretation.
//!
//! [`hold`] answers for one variable of a module. [`expect`] is a pure function from a module and a table of [`Rules`]
//! to an [`Expectation`] of its data; [`predict`] adds the output of its kernels. The oracle learns only from the
//! specification: sections 4.5 and 5.4 of the PTX ISA. Every rule records the [`Clause`] that it rests on and the open
//! [`Question`]s that it met. Three outcomes are kept apart: the specification rejects the module ([`Refusal`], an
//! answer), the oracle has no rule ([`Stop::Unmodelled`], a gap of ours), and a failure (a panic here is a bug; there
//! is no error type).
//!
//! ```
//! use ptxsmith_oracle::{Expectation, Rules, expect};
//! let module = ptxsmith_syntax::parse(".version 7.8\n.target sm_80\n.global .s32 x[3][2] = {{1,2},{3}};\n").unwrap();
//! let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
//! assert_eq!(variables[0].bytes, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
//! ```

/// The examples of the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct OracleReadme;

mod address;
mod by_name;
mod clause;
mod comments;
mod declaration;
mod evaluate;
mod execution;
mod expectation;
mod grouping;
mod hold;
mod layout;
pub mod linking;
mod predict;
mod reading;
mod refusal;
pub mod rules;
mod since;
mod step;
mod undecided;
mod validity;
mod value;

pub use address::{AddressSlot, Addressing, SymbolKind, Version};
pub use clause::{Clause, ClauseSet, Observed};
pub use comments::verify_comments;
pub use declaration::declares_no_name;
pub use evaluate::Evaluator;
pub use execution::accesses::{KernelAccesses, accesses, accesses_anywhere};
pub use execution::computed::{INPUTS, KernelResults, are_independent_of_place, predict_results};
pub use execution::instructions::integer_result;
pub use execution::setting::{AccessKind, MemoryAccess, MemoryEffects, Setting, VariablePlacement, WINDOWS};
pub use execution::{Kernel, KernelOutcome, Output, WrittenScalar, execute};
pub use expectation::{Address, Expectation, Variable, hex};
pub use hold::{NoAnswer, VariableContents, hold};
pub use layout::{MAX_BYTES, expect};
pub use predict::{Prediction, predict, predict_contents, predict_over};
pub use reading::*;
pub use refusal::{Refusal, RefusalClass, Stop};
pub use rules::Rules;
pub use step::{Placement, Ruled, Step, Stored, Trace};
pub use undecided::{COMPUTED_NAN, Undecided, Validity};
pub use validity::special_register;
pub use value::{AddressValue, Integer, Value, narrow};
