//! The plain types that travel: what an implementation did with a module ([`Observation`]), and what a campaign makes of it
//! ([`Finding`]).
//!
//! Nothing here observes, judges or renders. The JSON forms are those of `ptxsmith.module/1` and of the findings of
//! `ptxsmith.report/1`, by derive.

mod class;
mod finding;
mod kind;
mod observation;
mod reached;
mod release;
mod status;

pub use class::Class;
pub use finding::{Answers, Example, ExpectedFailure, Finding, LinkedProgram, Reduced, UnexpectedPass};
pub use kind::Kind;
pub use observation::{
    Address, Diagnostic, INTERNAL_ERROR, LinkedVariable, OUT_OF_MEMORY, Observation, Outcome, Output, SCHEMA,
    Severity, Variable, Variables,
};
pub use reached::{FUNCTIONS, Places, Reach, Reached, Space, Tracing};
pub use release::{ReleaseVerdict, family};
pub use status::Status;
