//! The checker and the compilers that it is compared with, by topic. The files are one program, because each
//! program takes seconds to link.

mod builds;
mod clang;
mod compilers;
mod corpus;
mod documents;
mod forms;
mod generated;
mod programs;
