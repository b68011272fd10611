//! Declarations of the variable that a case is about.

use super::expression::Expression;
use super::types::Type;
use ptxsmith_syntax::every;

every! {
    /// Where the variable is declared.
    pub enum Site {
        /// In the case's own namespace.
        Namespace,
        /// In a namespace in it.
        Nested,
        /// In an unnamed namespace in it.
        Anonymous,
        /// In an inline namespace in it.
        Inline,
        /// In a linkage specification with braces.
        Linkage,
        /// A static member, initialized in the class.
        Member,
        /// A static member declared `inline`.
        InlineMember,
        /// A static member of a class in a class.
        NestedMember,
        /// A static member that is defined outside its class.
        OutOfClass,
        /// A static member, initialized in the class and also defined outside.
        InClassAndDefined,
        /// A static member of a class template.
        TemplateMember,
        /// A static member of a class template, defined outside.
        TemplateOutOfClass,
        /// A variable template.
        VariableTemplate,
        /// In a function: no variable that the rule is about.
        Local,
    }
}

impl Site {
    /// Whether it is in a class.
    pub const fn is_member(self) -> bool {
        matches!(
            self,
            Site::Member
                | Site::InlineMember
                | Site::NestedMember
                | Site::OutOfClass
                | Site::InClassAndDefined
                | Site::TemplateMember
                | Site::TemplateOutOfClass
        )
    }

    /// Whether its declaration can come apart from its initializer.
    pub const fn can_be_declared_before(self) -> bool {
        matches!(
            self,
            Site::Namespace | Site::Nested | Site::Linkage | Site::OutOfClass | Site::TemplateOutOfClass
        )
    }
}

/// What is written before the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Qualifier {
    Const,
    ConstVolatile,
    Constexpr,
    None,
}

/// An execution-space annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Annotation {
    None,
    Device,
    Constant,
}

every! {
    /// Where the initializer is.
    pub enum Order {
        /// At the first declaration, before the use.
        AtDeclaration,
        /// After the first declaration, before the use.
        DefinedBefore,
        /// After the use.
        DefinedAfter,
        /// In another translation unit.
        Elsewhere,
        /// After the template that holds the use, before its instantiation.
        BeforeInstantiation,
    }
}

every! {
    /// How the initializer is written, and the type.
    pub enum Spelling {
        /// `const int v = 1;`
        Equals,
        /// `const int v(1);`
        Parentheses,
        /// `const int v{1};`
        Braces,
        /// `int const v = 1;`
        QualifierLast,
        /// The type by an alias that holds the qualifier.
        Alias,
        /// `const auto v = (int)1;`
        Auto,
        /// `static const int v = 1;`
        Static,
        /// `inline const int v = 1;`
        InlineVariable,
        /// `constinit const int v = 1;`
        Constinit,
    }
}

every! {
    /// How the use names the variable.
    pub enum Access {
        /// As short as can be.
        Plain,
        /// From the global namespace on.
        Qualified,
        /// A member through an object of its class.
        ThroughObject,
        /// A member through a derived class.
        ThroughDerived,
        /// Made known by a using-declaration.
        Using,
    }
}

/// The variable of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Where it is.
    pub site: Site,
    /// Its type.
    pub ty: Type,
    /// Its qualifiers.
    pub qualifier: Qualifier,
    /// Its annotation.
    pub annotation: Annotation,
    /// Where its initializer is.
    pub order: Order,
    /// How it is written.
    pub spelling: Spelling,
    /// How it is named.
    pub access: Access,
    /// The short name of the way in which it is initialized.
    pub kind: &'static str,
    /// Its initializer.
    pub initializer: Expression,
    /// What the initializer names.
    pub auxiliaries: Vec<Auxiliary>,
}

/// Something that an initializer names, declared before the variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Auxiliary {
    /// A variable.
    Variable {
        /// Its name.
        name: &'static str,
        /// Its type.
        ty: Type,
        /// `const`, `constexpr`, `const volatile`, or nothing.
        qualifier: Qualifier,
        /// Its initializer; where there is none, it is declared `extern` and defined elsewhere.
        initializer: Option<Expression>,
    },
    /// A function of one parameter `a` of type `int`.
    Function {
        /// Its name.
        name: &'static str,
        /// What it returns.
        result: Type,
        /// Whether it is `constexpr`.
        constexpr: bool,
        /// What it returns; where there is nothing, it is declared and defined elsewhere.
        body: Option<Expression>,
    },
    /// An unscoped enumeration with one enumerator.
    Enumerator(&'static str, i128),
}

impl Auxiliary {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match *self {
            Auxiliary::Variable { name, .. }
            | Auxiliary::Function { name, .. }
            | Auxiliary::Enumerator(name, _) => name,
        }
    }
}
