//! Compares what the specification expects with what an implementation did.
//!
//! Many small [`Trial`]s are shown to a [`Subject`](ptxsmith_subject::Subject) in one module and judged one by one
//! ([`Judge::batch`]); a module that is refused, crashes or hangs is split until each failing trial stands alone. A
//! difference is explained, where that is possible, by another reading of the specification (then it is none) or by a
//! known deviation ([`known`]), which must predict the exact wrong answer. What is not explained is new.
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
pub mod options;
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
