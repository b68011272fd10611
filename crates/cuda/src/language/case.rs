//! A case: a variable, a use of it, and the place of the use.

use ptxsmith_syntax::every;

use super::{Spelling, UseForm, UsePlace, VariableDeclaration, VariableType};

/// One use of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct CudaCase {
    /// The number of the case under its seed. The names in its text contain the number, so they are unique.
    pub id: u64,
    /// The declaration of the variable.
    pub declaration: VariableDeclaration,
    /// The form of the use.
    pub form: &'static UseForm,
    /// The code that contains the use.
    pub place: UsePlace,
}

every! {
    /// A version of C++.
    pub enum Standard {
        /// C++17.
        Cxx17 = "c++17",
        /// C++20.
        Cxx20 = "c++20",
    }
}

impl CudaCase {
    /// The first version of C++ that supports everything in the case.
    pub fn standard(&self) -> Standard {
        let d = &self.declaration;
        if self.form.cxx20 || d.ty == VariableType::Char8 || d.spelling == Spelling::Constinit {
            Standard::Cxx20
        } else {
            Standard::Cxx17
        }
    }
}
