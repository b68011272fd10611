//! Finds the smallest PTX program that still answers yes to a question.
//!
//! [`reduce`] asks a [`Question`] about many candidate [`Program`]s at once. It searches for a program that
//! is smaller in a total order ([`ProgramSize`]) and still answers yes, until no [neighbour](neighbours)
//! does. Candidates come from [`passes`], which know only the grammar. Only the question knows the meaning of
//! a program, the tool under test and the verdict. Programs that the parser cannot read are reduced as text.
//!
//! ```
//! use ptxsmith_reduce::{Each, Program, ReduceOptions, reduce};
//!
//! let program = Program::parse(
//!     ".version 7.8\n.target sm_80\n.global .u32 a = 1;\n.visible .global .align 8 .s64 b[2] = {7, 1 + 6 / (3 - 1)};\n",
//! )?;
//! let mut divides = Each(|program: &Program| program.text().contains('/').into());
//! let reduced = reduce(program, &mut divides, &ReduceOptions::default(), &mut |_| ()).unwrap();
//! assert_eq!(reduced.program.text(), ".version 7.8\n.target sm_80\n.global .s32 a = 0 / 0;\n");
//! # Ok::<(), ptxsmith_syntax::ParseError>(())
//! ```

/// Runs the examples in the package's README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod cuts;
mod names;
pub mod passes;
mod program;
mod question;
mod search;
mod together;
mod tokens;

pub use names::slice;
pub use passes::neighbours;
pub use program::{Program, ProgramSize};
pub use question::{Answer, Each, Question};
pub use search::{Event, NotReducible, ReduceOptions, SearchEnd, SearchResult, check, reduce};
pub use together::together;
