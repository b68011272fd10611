//! Whole campaigns of the library, each part of them told from outside. One program, since each that is
//! linked takes room and time.

mod annotated;
mod bulk;
mod bundles;
mod by_case;
mod causes;
mod checking;
mod common;
mod drifting;
mod enforced;
mod findings;
mod kinds;
mod ledger;
mod linking;
mod made_texts;
mod questions;
mod reach;
mod reducing;
mod resuming;
mod runs;
mod shards;
