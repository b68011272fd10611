//! Shapes of modules that known deviations are about where no rule of the specification is, or where it says only that they are
//! refused: what stands in their tokens, so that a statement that is not understood has its shape too.

pub mod addresses;
pub mod declarations;
pub mod expressions;
pub mod initializers;
pub mod names;
pub mod operands;
mod words;

pub use self::words::Shaped;

#[cfg(test)]
fn module(text: &str) -> Shaped<'static> {
    ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap().into()
}
