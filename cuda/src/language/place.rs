//! The code that a use stands in.

/// The code that a use stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A `__device__` function.
    Device,
    /// A kernel.
    Global,
    /// A `__host__ __device__` function.
    HostDevice,
    /// A lambda in a `__device__` function.
    Lambda,
    /// A `__device__` member function.
    Member,
    /// A static `__device__` member function.
    StaticMember,
    /// A `__device__` function of the class that the variable is a member of, after the variable.
    OwnMember,
    /// The same, before the variable.
    OwnMemberBefore,
    /// A `__device__` function template, instantiated.
    Template,
    /// A `__device__` function template that nobody instantiates.
    Uninstantiated,
    /// A `__device__` function with internal linkage that nobody calls.
    Uncalled,
    /// A default argument of a `__device__` function that device code calls with it.
    DefaultArgument,
    /// A default member initializer of a class that device code makes an object of.
    MemberInitializer,
    /// The initializer of a `__device__` variable.
    VariableInitializer,
    /// A statement that `if constexpr` discards, outside of templates.
    Discarded,
    /// A statement that `if constexpr` discards in an instantiation.
    DiscardedInTemplate,
    /// A branch that is never taken.
    DeadBranch,
    /// A host function.
    Host,
    /// A lambda in a host function.
    HostLambda,
    /// A function template without annotation, called by the host.
    HostTemplate,
    /// A member function without annotation.
    HostMember,
}

impl Place {
    /// Every place.
    pub const ALL: [Place; 21] = [
        Place::Device,
        Place::Global,
        Place::HostDevice,
        Place::Lambda,
        Place::Member,
        Place::StaticMember,
        Place::OwnMember,
        Place::OwnMemberBefore,
        Place::Template,
        Place::Uninstantiated,
        Place::Uncalled,
        Place::DefaultArgument,
        Place::MemberInitializer,
        Place::VariableInitializer,
        Place::Discarded,
        Place::DiscardedInTemplate,
        Place::DeadBranch,
        Place::Host,
        Place::HostLambda,
        Place::HostTemplate,
        Place::HostMember,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Device => "device",
            Place::Global => "global",
            Place::HostDevice => "host-device",
            Place::Lambda => "lambda",
            Place::Member => "member",
            Place::StaticMember => "static-member",
            Place::OwnMember => "own-member",
            Place::OwnMemberBefore => "own-member-before",
            Place::Template => "template",
            Place::Uninstantiated => "uninstantiated",
            Place::Uncalled => "uncalled",
            Place::DefaultArgument => "default-argument",
            Place::MemberInitializer => "member-initializer",
            Place::VariableInitializer => "variable-initializer",
            Place::Discarded => "discarded",
            Place::DiscardedInTemplate => "discarded-in-template",
            Place::DeadBranch => "dead-branch",
            Place::Host => "host",
            Place::HostLambda => "host-lambda",
            Place::HostTemplate => "host-template",
            Place::HostMember => "host-member",
        }
    }

    /// Whether it is code for the host alone.
    pub const fn is_host(self) -> bool {
        matches!(self, Place::Host | Place::HostLambda | Place::HostTemplate | Place::HostMember)
    }

    /// Whether only an expression fits, no statement.
    pub const fn takes_expression_only(self) -> bool {
        matches!(self, Place::DefaultArgument | Place::MemberInitializer | Place::VariableInitializer)
    }
}
