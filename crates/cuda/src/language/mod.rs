//! The language of the cases, a small part of C++: declarations, uses and places as data, their printing as C++ text, and
//! the evaluation of initializers as constant expressions.

mod case;
pub mod constant;
mod declaration;
mod expression;
mod form;
mod place;
mod print;
mod types;

pub use case::{Case, Standard};
pub use declaration::{Access, Annotation, Auxiliary, Declaration, Order, Qualifier, Site, Spelling};
pub use expression::{Expression, Operator, Value};
pub use form::{FORMS, Form, Needs, Step, Yield};
pub use place::Place;
pub use print::{Printed, print};
pub use types::{Category, Type};
