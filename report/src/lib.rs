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
pub mod folder;
pub mod harmless;
pub mod history;
#[cfg(feature = "html")]
pub mod html;
#[cfg(not(feature = "html"))]
pub mod html {
    //! What stands in for the page in a build without the feature `html`.

    /// # Errors
    /// Always.
    pub fn page(_: &crate::folder::Folder, _: &[crate::history::Run]) -> Result<String, askama::Error> {
        Err(askama::Error::custom("this ptxsmith was built without its feature `html`, and so has no page"))
    }
}
pub mod interpretations;
pub mod junit;
pub mod manifest;
pub mod markdown;
pub mod matrix;
mod model;
pub mod releases;
pub mod reproduce;
pub mod sarif;
pub mod severity;
pub mod text;
pub mod values;

pub use cases::Case;
pub use model::{
    Answers, ClauseCounts, Confusion, Coverage, Example, ExpectedFailure, Fates, Finding, MemoryOperands,
    Operands, Reached, Reduced, Report, SCHEMA, Status, Subject, UnexpectedPass,
};
