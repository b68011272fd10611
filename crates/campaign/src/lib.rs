//! Runs conformance campaigns: many programs against many subjects. A campaign divides the work into tasks,
//! judges the results and records them in a ledger. Ledgers survive an interruption and can be merged from
//! shards. At the end it compares releases, reduces new findings by their cause and writes a report.
//!
//! Nothing here prints or parses a command line: a [`Session`] holds the settings of a campaign and receives
//! its [`Events`](session::Events).

mod alike;
pub mod arithmetic;
pub mod bundle;
pub mod campaign;
pub mod cases;
pub mod check;
mod conforming;
pub mod drift;
pub mod expected;
mod failure;
mod features;
pub mod files;
pub mod input;
pub mod judges;
pub mod ledger;
pub mod linking;
mod listed;
mod locate;
pub mod merge;
pub mod mutate;
pub mod places;
pub mod pool;
pub mod reducing;
pub mod run;
pub mod session;
pub mod statistics;
pub mod store;
pub mod subjects;
mod tally;
mod task;
pub mod texts;

pub use campaign::CampaignOutcome;
pub use failure::Failure;
pub use session::Session;
