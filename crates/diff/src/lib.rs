//! Compares what the specification expects with what an implementation did.
//!
//! The [`Judge`] shows many small [`Trial`]s to a [`Subject`](ptxsmith_subject::Subject) in one module and judges
//! each of them ([`Judge::batch`]). When the subject rejects the module, crashes or hangs, the batch is split until
//! each failing trial stands alone. A difference is explained either by another interpretation of the specification,
//! and is then no deviation, or by a known deviation ([`known`]), which must predict the exact wrong answer. A
//! difference without an explanation is new.
//!
//! Nothing here generates programs or prints reports.

mod accesses;
pub mod arithmetic;
mod asked;
mod bulk;
mod compare;
mod explain;
mod explanation;
pub mod gone;
mod judge;
mod kernel;
pub mod known;
pub mod lead;
pub mod linking;
pub mod lint;
mod maker;
pub mod pattern;
mod predicts;
mod profile;
mod program;
mod read;
mod reason;
mod slots;
pub mod suspects;
mod trial;
mod verdict;

pub use bulk::{Again, BulkVerdicts};
pub use compare::{Mismatch, compare};
pub use explanation::{Alternatives, Explanation};
pub use judge::{Judge, Options};
pub use lead::{Lead, id_of};
pub use maker::{Maker, Releases};
pub use predicts::predicts;
pub use profile::Profile;
pub use program::{
    ModuleVerdicts, Part, Refusal, ToJudge, judge_data, judge_module, judge_modules, judge_operands, observe,
};
pub use ptxsmith_syntax::Header;
pub use trial::{Body, Trial};
pub use verdict::{
    Class, CodeCounts, Derived, Difference, Fate, Judged, Must, NotCompared, Share, Verdict, Why,
};
