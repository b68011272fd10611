//! A case: a variable, a use of it, and the place where that stands.

use ptxsmith_syntax::every;

use super::{Declaration, Form, Place, Spelling, Type};

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

every! {
    /// A version of the language.
    pub enum Standard {
        /// C++17.
        Cxx17 = "c++17",
        /// C++20.
        Cxx20 = "c++20",
    }
}

impl Case {
    /// The first version of the language that has all of it.
    pub fn standard(&self) -> Standard {
        let d = &self.declaration;
        if self.form.cxx20 || d.ty == Type::Char8 || d.spelling == Spelling::Constinit {
            Standard::Cxx20
        } else {
            Standard::Cxx17
        }
    }
}
