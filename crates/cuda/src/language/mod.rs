//! As much of C++ as the cases need: declarations, uses and places as data, how they are written, and which
//! initializers are constant expressions.

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
