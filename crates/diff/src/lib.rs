//! Compares what the specification expects with what an implementation did.
//!
//! The [`Judge`] shows many small [`Trial`]s to a [`Subject`](ptxsmith_subject::Subject) in one module and
//! judges each of them ([`Judge::batch`]). When the subject rejects the module, crashes or hangs, the batch
//! is split until each failing trial stands alone. A difference is explained either by another interpretation
//! of the specification, and is then no deviation, or by a known deviation ([`known`]), which must predict
//! the exact wrong answer. A difference without an explanation is new.
//!
//! Nothing here generates programs or prints reports.

mod accesses;
pub mod arithmetic;
mod bulk;
mod compare;
mod explain;
mod explanation;
pub mod gone;
pub mod hypothesis;
pub mod hypothetical_rules;
mod implementation;
mod judge;
mod kernel;
pub mod known;
pub mod linking;
pub mod lint;
pub mod pattern;
mod predicts;
mod profile;
mod program;
mod question_quota;
mod reason;
mod requested;
mod slots;
mod trial;
mod verdict;

pub use bulk::{BulkVerdicts, Generation, judge_in_bulk};
pub use compare::{Mismatch, compare};
pub use explanation::{Alternatives, Explanation};
pub use hypothesis::{Hypothesis, id_of};
pub use implementation::{Implementation, Releases};
pub use judge::{Judge, JudgeOptions};
pub use predicts::predicts;
pub use profile::Profile;
pub use program::{
    ModuleVerdicts, ParsedProgram, PartVerdict, Rejection, judge_data, judge_module, judge_modules,
    judge_operands, observe,
};
pub use ptxsmith_syntax::Header;
pub use trial::{Trial, TrialBody};
pub use verdict::{
    Class, CodeCounts, DerivedModule, Difference, NotCompared, Requirement, ShownOperands, TrialOutcome,
    TrialVerdict, Verdict, WhyNotCompared,
};
