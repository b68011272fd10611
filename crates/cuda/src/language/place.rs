//! The kinds of code that can contain a use.

use ptxsmith_syntax::every;

every! {
    /// The code that contains the use of a case.
    pub enum UsePlace {
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
        /// A static `__device__` member function of the variable's own class, after the variable.
        OwnMember = "own-member",
        /// A static `__device__` member function of the variable's own class, before the variable.
        OwnMemberBefore = "own-member-before",
        /// A `__device__` function template, instantiated.
        Template = "template",
        /// An instantiated `__device__` function template that names the variable through its parameter:
        /// `X::v`.
        Dependent = "dependent",
        /// As `Dependent`, but the class that declares the variable comes after the template.
        DependentBefore = "dependent-before",
        /// A `__device__` function template that is never instantiated.
        Uninstantiated = "uninstantiated",
        /// A `__device__` function with internal linkage and no caller.
        Uncalled = "uncalled",
        /// A default argument of a `__device__` function. Device code calls the function without that
        /// argument.
        DefaultArgument = "default-argument",
        /// A default member initializer of a class. Device code creates an object of the class.
        MemberInitializer = "member-initializer",
        /// The initializer of a `__device__` variable.
        VariableInitializer = "variable-initializer",
        /// A statement that `if constexpr` discards, outside of templates.
        Discarded = "discarded",
        /// A statement that `if constexpr` discards in the instantiation of a template.
        DiscardedInTemplate = "discarded-in-template",
        /// A branch that is never taken.
        DeadBranch = "dead-branch",
        /// A host function.
        Host = "host",
        /// A lambda in a host function.
        HostLambda = "host-lambda",
        /// A function template without an execution-space annotation, called by host code.
        HostTemplate = "host-template",
        /// A member function without an execution-space annotation.
        HostMember = "host-member",
    }
}

impl UsePlace {
    /// Whether the place is host code and not also device code.
    pub const fn is_host(self) -> bool {
        matches!(self, UsePlace::Host | UsePlace::HostLambda | UsePlace::HostTemplate | UsePlace::HostMember)
    }

    /// Whether the place can contain an expression but no statements.
    pub const fn takes_expression_only(self) -> bool {
        matches!(
            self,
            UsePlace::DefaultArgument | UsePlace::MemberInitializer | UsePlace::VariableInitializer
        )
    }
}
