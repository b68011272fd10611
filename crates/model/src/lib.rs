//! Plain data types shared by the other packages: the expected result of a module ([`Expected`]), the
//! observed result of an implementation ([`Observation`]), and a campaign's report on a deviation
//! ([`Finding`]).
//!
//! This package does not run implementations, judge results or render reports. The JSON forms, all derived,
//! are `ptxsmith.module/1` and the findings of `ptxsmith.report/1`.

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
    AccessDifference, Basis, Expected, ExpectedAnswer, ExpectedRefusal, ModuleAnswer, Ruling, UndecidedPart,
    UnmodelledPart,
};
pub use finding::{
    Answers, ComparedResults, EmittedProgram, Example, ExpectedFailure, FilePlace, Finding, Joined,
    LinkedProgram, Reduced, UnexpectedPass,
};
pub use form::OutputForm;
pub use kind::FindingKind;
pub use observation::{
    Address, Diagnostic, INTERNAL_ERROR, LinkedVariable, OUT_OF_MEMORY, Observation, Outcome, Output, SCHEMA,
    Severity, Variable, Variables,
};
pub use reached::{FUNCTIONS, Places, Reach, Reached, Space, Tracing};
pub use release::{ProgramVerdict, ReleaseVerdict, family};
pub use status::Status;
