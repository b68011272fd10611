//! The report of a campaign as a data type, its renderings for people and for tools, and the history of many
//! campaigns.
//!
//! This package does not judge programs. A campaign writes a [`Report`], and readers of the report need
//! neither the subject nor the campaign. Strings in a report come from subjects and from other people's
//! programs. They are untrusted data: every rendering escapes them for its output format ([`harmless`]).

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

pub use cases::CaseStandings;
pub use formats::{FORMATS, RenderInput, ReportFormat, html, junit, markdown, sarif, text};
pub use model::{
    Answers, Class, ClauseCounts, ComparedResults, Confusion, CoverageCount, CoverageSummary, EmittedProgram,
    Example, ExpectedFailure, Finding, FindingKind, KernelCounts, OperandCounts, OutcomeCounts, Reduced,
    Report, SCHEMA, Status, SubjectResults, UnexpectedPass,
};
