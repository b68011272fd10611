//! Answers of the oracle, by topic. The files are one program, because each program takes seconds to link.

mod common;
mod declarations;
mod evaluating;
mod instructions;
mod kernels;
mod limits;
mod one_answer;
mod operands;
mod resting;
mod validity;
