//! The forms of assembler output.

use ptxsmith_syntax::{Module, needs_relocatable_form};
use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// The form of output that an assembler produces.
    ///
    /// In an executable, ptxas writes addresses of functions and of `.const` variables as plain numbers,
    /// which only a loader can recognize as addresses. Relocatable output marks them as addresses, but lacks
    /// other information.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OutputForm {
        /// A program that is ready to load.
        #[default]
        Executable = "executable",
        /// Output with unresolved addresses, for a linker.
        Relocatable = "relocatable",
    }
}

impl OutputForm {
    /// Returns the form that shows the complete contents of the module's variables.
    pub fn showing(module: &Module) -> OutputForm {
        if needs_relocatable_form(module) { OutputForm::Relocatable } else { OutputForm::Executable }
    }
}
