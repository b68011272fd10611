//! The plain types that travel: what is expected of a module ([`Expected`]), what an implementation did with it ([`Observation`]),
//! and what a campaign makes of it ([`Finding`]).
//!
//! Nothing here observes, judges or renders. The JSON forms are those of `ptxsmith.module/1` and of the findings of
//! `ptxsmith.report/1`, by derive.

mod class;
mod expected;
mod finding;
mod form;
mod kind;
mod observation;
mod reached;
mod release;
mod status;

pub use class::Class;
pub use expected::{
    AccessDifference, Basis, Expected, ExpectedAnswer, ModuleAnswer, Refusal, Ruling, UndecidedPart,
    UnmodelledPart,
};
pub use finding::{
    Answers, Comparison, EmittedProgram, Example, ExpectedFailure, Finding, Joined, LinkedProgram, Place,
    Reduced, UnexpectedPass,
};
pub use form::OutputForm;
pub use kind::Kind;
pub use observation::{
    Address, Diagnostic, INTERNAL_ERROR, LinkedVariable, OUT_OF_MEMORY, Observation, Outcome, Output, SCHEMA,
    Severity, Variable, Variables,
};
pub use reached::{FUNCTIONS, Places, Reach, Reached, Space, Tracing};
pub use release::{ProgramVerdict, ReleaseVerdict, family};
pub use status::Status;
