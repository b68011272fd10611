//! What becomes of a campaign: its report as a data type, rendered for people and for tools, and the history of many.
//!
//! Nothing here judges. A campaign writes a [`Report`]; a reader of it needs neither the subject
//! nor the campaign again. Texts in a report come from subjects and from other people's programs: they are data, and
//! every rendering keeps them from acting on what shows them ([`harmless`]).

pub mod against;
pub mod atlas;
pub mod bundle;
mod cases;
pub mod clauses;
pub mod describe;
pub mod deviations;
pub mod expected;
pub mod explain;
pub mod folder;
mod formats;
pub mod harmless;
pub mod history;
pub mod interpretations;
pub mod manifest;
pub mod matrix;
mod model;
pub mod releases;
pub mod reproduce;
pub mod severity;
pub mod values;

pub use cases::Case;
pub use formats::{FORMATS, Format, Shown, html, junit, markdown, sarif, text};
pub use model::{
    Answers, Class, ClauseCounts, CodeCounts, Comparison, Confusion, Coverage, EmittedProgram, Example,
    ExpectedFailure, Fates, Finding, Kind, Operands, Reached, Reduced, Report, SCHEMA, Status, Subject,
    UnexpectedPass,
};
