//! The code that a use stands in.

use ptxsmith_syntax::every;

every! {
    /// The code that a use stands in.
    pub enum Place {
        /// A `__device__` function.
        Device = "device",
        /// A kernel.
        Global = "global",
        /// A `__host__ __device__` function.
        HostDevice = "host-device",
        /// A lambda in a `__device__` function.
        Lambda = "lambda",
        /// A `__device__` member function.
        Member = "member",
        /// A static `__device__` member function.
        StaticMember = "static-member",
        /// A `__device__` function of the class that the variable is a member of, after the variable.
        OwnMember = "own-member",
        /// The same, before the variable.
        OwnMemberBefore = "own-member-before",
        /// A `__device__` function template, instantiated.
        Template = "template",
        /// The same, where the variable is named by the template's parameter: a member of a policy.
        Dependent = "dependent",
        /// The same, where the class that the parameter stands for comes after the template.
        DependentBefore = "dependent-before",
        /// A `__device__` function template without an instance.
        Uninstantiated = "uninstantiated",
        /// A `__device__` function with internal linkage without a caller.
        Uncalled = "uncalled",
        /// A default argument of a `__device__` function that device code calls with it.
        DefaultArgument = "default-argument",
        /// A default member initializer of a class that device code makes an object of.
        MemberInitializer = "member-initializer",
        /// The initializer of a `__device__` variable.
        VariableInitializer = "variable-initializer",
        /// A statement that `if constexpr` discards, outside of templates.
        Discarded = "discarded",
        /// A statement that `if constexpr` discards in an instantiation.
        DiscardedInTemplate = "discarded-in-template",
        /// A branch that is never taken.
        DeadBranch = "dead-branch",
        /// A host function.
        Host = "host",
        /// A lambda in a host function.
        HostLambda = "host-lambda",
        /// A function template without annotation, called by the host.
        HostTemplate = "host-template",
        /// A member function without annotation.
        HostMember = "host-member",
    }
}

impl Place {
    /// Whether it is code for the host alone.
    pub const fn is_host(self) -> bool {
        matches!(self, Place::Host | Place::HostLambda | Place::HostTemplate | Place::HostMember)
    }

    /// Whether only an expression fits, no statement.
    pub const fn takes_expression_only(self) -> bool {
        matches!(self, Place::DefaultArgument | Place::MemberInitializer | Place::VariableInitializer)
    }
}
