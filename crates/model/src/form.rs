//! The forms of output that assemblers make.

use ptxsmith_syntax::{Module, needs_relocatable_form};
use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// What an assembler makes of a module.
    ///
    /// In an executable, ptxas writes addresses of functions and of `.const` variables as plain numbers, which only a loader
    /// could tell from others. Relocatable output shows them as addresses, but lacks other things.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OutputForm {
        /// A program that can be loaded.
        #[default]
        Executable = "executable",
        /// Output with open addresses, for a linker.
        Relocatable = "relocatable",
    }
}

impl OutputForm {
    /// The form that shows all that the variables of a module hold.
    pub fn showing(module: &Module) -> OutputForm {
        if needs_relocatable_form(module) { OutputForm::Relocatable } else { OutputForm::Executable }
    }
}
