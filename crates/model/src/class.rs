//! The classes of deviations.

use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// What kind of deviation it is.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// The subject crashes.
        Crash = "crash",
        /// The subject gives no answer in time.
        Hang = "hang",
        /// Bytes differ.
        WrongValue = "wrong-value",
        /// Addresses differ.
        WrongAddress = "wrong-address",
        /// Size, alignment or state space differ.
        WrongLayout = "wrong-layout",
        /// The subject accepts a program that the specification refuses.
        AcceptsInvalid = "accepts-invalid",
        /// The subject refuses a program that the specification accepts.
        RefusesValid = "refuses-valid",
        /// The subject answers differently for the same text, from run to run or beside other declarations.
        Inconsistent = "inconsistent",
        /// The subject exhausts its memory. No verdict of this version has this class.
        Memory = "memory",
        /// A class that this version does not know, in a report of a later one.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

impl Class {
    /// The classes that a verdict may have.
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

    /// The class of this name, where a verdict may have it.
    pub fn of_verdict(name: &str) -> Option<Class> {
        Class::OF_VERDICTS.into_iter().find(|class| class.name() == name)
    }
}
