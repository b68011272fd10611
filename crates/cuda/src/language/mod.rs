//! The language of the cases, a small part of C++: declarations, uses and places as data, their printing as
//! C++ text, and the evaluation of initializers as constant expressions.

mod case;
pub mod constant;
mod declaration;
mod expression;
mod form;
mod place;
mod print;
mod types;

pub use case::{CudaCase, Standard};
pub use declaration::{
    Annotation, Auxiliary, DeclarationSite, InitializerPosition, Naming, Qualifier, Spelling,
    VariableDeclaration,
};
pub use expression::{ConstantValue, Expression, Operator};
pub use form::{FORMS, TypeRequirement, UseForm, UseStep, Yield};
pub use place::UsePlace;
pub use print::{PrintedCase, print};
pub use types::{Category, VariableType};
