//! The rule CUDASafety-1.5 as names: its four messages and its clauses. What they mean is in [`crate::oracle`].

use ptxsmith_syntax::every;

every! {
    /// One message of the rule. The names are the document's keys. Where several apply, the first in this order is the
    /// primary one: the order of the rule's text.
    pub enum Key {
        /// The value is used where no constant expression has initialized the variable yet.
        NotInitialized = "const_host_var_not_initialized_before_use",
        /// The value of a volatile-qualified variable is used.
        Volatile = "device_uses_volatile_const_host_var",
        /// The value of a variable of another type than the built-in integral and floating-point ones is used.
        InvalidType = "device_uses_const_host_var_of_invalid_type",
        /// Device code refers to the variable or takes its address.
        Address = "address_of_host_var_in_device_code",
    }
}

impl Key {
    /// What it says, without the name of the variable.
    pub const fn message(self) -> &'static str {
        match self {
            Key::NotInitialized => {
                "device code uses a const host variable that no constant expression has initialized at this point"
            }
            Key::Volatile => "device code uses a volatile-qualified host variable",
            Key::InvalidType => {
                "device code uses a const host variable whose type is neither built-in integral nor floating-point"
            }
            Key::Address => "device code refers to a host variable or takes its address",
        }
    }

    /// The clause that a use with this message breaks.
    pub const fn clause(self) -> Clause {
        match self {
            Key::NotInitialized => Clause::Initialized,
            Key::Volatile => Clause::NotVolatile,
            Key::InvalidType => Clause::Type,
            Key::Address => Clause::NoReference,
        }
    }
}

every! {
    /// One clause of the rule.
    pub enum Clause {
        /// Which variables the rule is about: namespace-scope and static member variables of const-qualified type without
        /// an execution-space annotation.
        HostVariable = "cuda-safety-1.5/host-variable",
        /// It is about device code only.
        Scope = "cuda-safety-1.5/device-code",
        /// First condition of a value's use: a constant expression has initialized the variable before.
        Initialized = "cuda-safety-1.5/initialized-before-use",
        /// Second condition: the type is not volatile-qualified.
        NotVolatile = "cuda-safety-1.5/not-volatile",
        /// Third condition: a built-in integral or floating-point type.
        Type = "cuda-safety-1.5/type",
        /// The exception to the third: no floating-point type where the host compiler is Microsoft's.
        TypeMicrosoft = "cuda-safety-1.5/type-microsoft",
        /// No reference to the variable, and no address of it.
        NoReference = "cuda-safety-1.5/no-reference",
    }
}
