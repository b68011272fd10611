//! Tests of the command line program, a file for each command or topic. They are one program, because thirty take
//! minutes to link.

mod atlas;
mod bundle;
mod check;
mod common;
#[cfg(feature = "cuda")]
mod cuda;
mod documents;
mod drift;
mod driver;
mod emitters;
mod entry_points;
mod eval;
mod generation;
mod help;
mod hostile_subjects;
mod input;
mod link;
mod lint;
mod lsp;
mod probe;
mod real_ptxas;
mod reduce;
#[cfg(all(feature = "html", feature = "sqlite"))]
mod report;
mod robust;
mod run;
mod serve;
mod shards;
mod starts;
mod strangers;
mod suite;
mod time;
