//! Names for the four messages and the clauses of the rule CUDASafety-1.5. [`crate::oracle`] implements their
//! meaning.

use ptxsmith_syntax::every;

every! {
    /// One message of the rule, named by its key in the document. If several apply, the first in this order,
    /// which is the order of the rule's text, is the primary message.
    pub enum Key {
        /// The value is used before a constant expression has initialized the variable.
        NotInitialized = "const_host_var_not_initialized_before_use",
        /// The value of a volatile-qualified variable is used.
        Volatile = "device_uses_volatile_const_host_var",
        /// The value is used, but the variable's type is neither a built-in integral nor a built-in
        /// floating-point type.
        InvalidType = "device_uses_const_host_var_of_invalid_type",
        /// Device code refers to the variable or takes its address.
        Address = "address_of_host_var_in_device_code",
    }
}

impl Key {
    /// The text of the message, without the name of the variable.
    pub const fn message(self) -> &'static str {
        match self {
            Key::NotInitialized => {
                "device code uses a const host variable that no constant expression has initialized at \
                 this point"
            }
            Key::Volatile => "device code uses a volatile-qualified host variable",
            Key::InvalidType => {
                "device code uses a const host variable whose type is neither built-in integral nor \
                 floating-point"
            }
            Key::Address => "device code refers to a host variable or takes its address",
        }
    }

    /// The clause that a use with this message violates.
    pub const fn clause(self) -> RuleClause {
        match self {
            Key::NotInitialized => RuleClause::Initialized,
            Key::Volatile => RuleClause::NotVolatile,
            Key::InvalidType => RuleClause::Type,
            Key::Address => RuleClause::NoReference,
        }
    }
}

every! {
    /// One clause of the rule.
    pub enum RuleClause {
        /// Defines the variables that the rule covers: namespace-scope variables and static data members of
        /// const-qualified type without an execution-space annotation.
        HostVariable = "cuda-safety-1.5/host-variable",
        /// Limits the rule to uses in device code.
        Scope = "cuda-safety-1.5/device-code",
        /// First condition on a use of the value: a constant expression has initialized the variable before
        /// the use.
        Initialized = "cuda-safety-1.5/initialized-before-use",
        /// Second condition: the type is not volatile-qualified.
        NotVolatile = "cuda-safety-1.5/not-volatile",
        /// Third condition: the type is a built-in integral or floating-point type.
        Type = "cuda-safety-1.5/type",
        /// Exception to the third condition: with Microsoft's host compiler, a floating-point type is not
        /// valid.
        TypeMicrosoft = "cuda-safety-1.5/type-microsoft",
        /// Device code may neither bind a reference to the variable nor take its address.
        NoReference = "cuda-safety-1.5/no-reference",
    }
}
