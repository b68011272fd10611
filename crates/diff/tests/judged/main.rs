//! Judging, by topic. The files are one program, because each program takes seconds to link.

mod asking;
mod blame;
mod bulk;
mod calculations;
mod complete;
mod computing;
mod excerpts;
mod explaining;
mod forms;
mod generated;
mod gone;
mod holes;
mod judging;
mod kernels;
mod listing;
mod mutated;
mod patterns;
mod programs;
mod reaching;
mod renaming;
mod ruled_out;
