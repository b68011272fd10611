//! Runs one implementation on a PTX module and reports the result.
//!
//! A [`Subject`] is one implementation under test. Code that may crash, hang or exhaust memory runs in a
//! child process under a time and a memory limit ([`process`]). The reader of its output ([`cubin`],
//! cross-checked by [`cuobjdump`]) treats that output as untrusted. The result is an [`Observation`], also
//! for crashes and hangs. This package predicts nothing and judges nothing.
//!
//! [`open`] creates subjects from the user's notation ([`parse_spec`]): NVIDIA's assembler ([`Ptxas`],
//! installed by [`toolchain`]), the same compiler as a library ([`library`]), the driver on a device
//! ([`driver`]) or any program ([`Exec`], [`Serve`]). A library that can bring down its process runs in a
//! [`worker`].
//!
//! ```
//! use ptxsmith_subject::{OpenOptions, Outcome, Request, open, parse_spec};
//!
//! // A program that prints no answer.
//! let opened = open(&parse_spec("exec:false")?, &OpenOptions::default())?;
//! let request = Request::new(".version 7.8\n.target sm_80\n.global .s32 x = 1;\n", "sm_80");
//! let observation = opened[0].observe(&request)?;
//! assert_eq!(observation.outcome, Outcome::Crashed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The examples of the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod cubin;
pub mod cuobjdump;
pub mod driver;
pub mod exec;
pub mod library;
mod lister;
mod nvlink;
mod open;
mod probe;
pub mod process;
pub mod ptxas;
pub mod regular;
pub mod sass;
pub mod serve;
pub mod solve;
mod spec;
mod subject;
pub mod toolchain;
mod unanswered;
mod unseen;
pub mod version;
pub mod worker;

pub use exec::{CommandLine, Exec};
pub use lister::ListError;
pub use open::{OpenOptions, Opened, Unavailable, UnavailableKind};
pub use process::{Cancel, Limits};
pub use ptxas::Ptxas;
pub use ptxsmith_model::{
    Address, Diagnostic, FUNCTIONS, INTERNAL_ERROR, LinkedVariable, OUT_OF_MEMORY, Observation, Outcome,
    Output, OutputForm, Places, Reach, Reached, SCHEMA, Severity, Space, Tracing, Variable, Variables,
};
pub use serve::Serve;
pub use spec::{SpecError, SubjectNotation, SubjectSpec, open, parse_spec};
pub use subject::{
    Calculation, DESCRIPTION_SCHEMA, Description, Error, FnSubject, Inconsistency, Launch, Memory, Request,
    RequestedVariable, Stage, Subject,
};
pub use unanswered::Unanswered;
