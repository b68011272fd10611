//! Whole campaigns of the library, each part of them told from outside. One program, since each that is
//! linked takes room and time.

mod common;

mod annotated;
mod bundles;
mod by_case;
mod causes;
mod checking;
mod drifting;
mod findings;
mod kinds;
mod linking;
mod made_texts;
mod questions;
mod reducing;
mod resuming;
mod runs;
mod shards;
