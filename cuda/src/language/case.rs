//! A case: a variable, a use of it, and the place where that stands.

use super::{Declaration, Form, Place};

/// One use of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its number under the seed that it was made with; names in its text hold it.
    pub id: u64,
    /// The variable.
    pub declaration: Declaration,
    /// The use.
    pub form: &'static Form,
    /// The code that the use stands in.
    pub place: Place,
}
