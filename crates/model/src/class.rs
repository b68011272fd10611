//! The classes of deviations.

use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// The kind of a deviation.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// The subject crashes.
        Crash = "crash",
        /// The subject gives no answer in time.
        Hang = "hang",
        /// The bytes of a variable or output buffer differ.
        WrongValue = "wrong-value",
        /// Addresses differ.
        WrongAddress = "wrong-address",
        /// The size, alignment or state space differs.
        WrongLayout = "wrong-layout",
        /// The subject accepts a program that the specification rejects.
        AcceptsInvalid = "accepts-invalid",
        /// The subject rejects a program that the specification accepts.
        RefusesValid = "refuses-valid",
        /// The subject's result for the same text changes from run to run or with the other declarations in
        /// the module.
        Inconsistent = "inconsistent",
        /// The subject runs out of memory. No verdict of this version has this class.
        Memory = "memory",
        /// A class from a report of a later version, unknown to this one.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

impl Class {
    /// The classes that a verdict can have.
    pub const OF_VERDICTS: [Class; 8] = [
        Class::Crash,
        Class::Hang,
        Class::WrongValue,
        Class::WrongAddress,
        Class::WrongLayout,
        Class::AcceptsInvalid,
        Class::RefusesValid,
        Class::Inconsistent,
    ];

    /// Returns the class with this name, or `None` if no verdict can have it.
    pub fn of_verdict(name: &str) -> Option<Class> {
        Class::OF_VERDICTS.into_iter().find(|class| class.name() == name)
    }
}
