//! The declaration of a case's variable.

use super::expression::Expression;
use super::types::VariableType;
use ptxsmith_syntax::every;

every! {
    /// Where the variable is declared.
    pub enum DeclarationSite {
        /// In the case's own namespace.
        Namespace,
        /// In a namespace nested in the case's namespace.
        Nested,
        /// In an unnamed namespace nested in the case's namespace.
        Anonymous,
        /// In an inline namespace nested in the case's namespace.
        Inline,
        /// In a linkage specification with braces: `extern "C++" { ... }`.
        Linkage,
        /// A static member, initialized in the class.
        Member,
        /// A static member declared `inline`, initialized in the class.
        InlineMember,
        /// A static member of a nested class, initialized in the class.
        NestedMember,
        /// A static member, initialized in its definition outside the class.
        OutOfClass,
        /// A static member, initialized in the class and also defined outside.
        InClassAndDefined,
        /// A static member of a class template, initialized in the class.
        TemplateMember,
        /// A static member of a class template, initialized in its definition outside the class.
        TemplateOutOfClass,
        /// A variable template.
        VariableTemplate,
        /// In a function. The rule does not cover such variables.
        Local,
    }
}

impl DeclarationSite {
    /// Whether the variable is a static member.
    pub const fn is_member(self) -> bool {
        matches!(
            self,
            DeclarationSite::Member
                | DeclarationSite::InlineMember
                | DeclarationSite::NestedMember
                | DeclarationSite::OutOfClass
                | DeclarationSite::InClassAndDefined
                | DeclarationSite::TemplateMember
                | DeclarationSite::TemplateOutOfClass
        )
    }

    /// Whether the variable can be declared first and initialized in a later definition.
    pub const fn can_be_declared_before(self) -> bool {
        matches!(
            self,
            DeclarationSite::Namespace
                | DeclarationSite::Nested
                | DeclarationSite::Linkage
                | DeclarationSite::OutOfClass
                | DeclarationSite::TemplateOutOfClass
        )
    }
}

/// The qualifier, or `constexpr`, in the declaration of a variable.
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
    /// The position of the initializer relative to the first declaration and the use.
    pub enum InitializerPosition {
        /// At the first declaration, before the use.
        AtDeclaration,
        /// After the first declaration, before the use.
        DefinedBefore,
        /// After the use.
        DefinedAfter,
        /// In another translation unit, so never visible.
        Elsewhere,
        /// After the template that contains the use, before its instantiation.
        BeforeInstantiation,
    }
}

every! {
    /// The syntax in which the declaration and its initializer are written.
    pub enum Spelling {
        /// `const int v = 1;`
        Equals,
        /// `const int v(1);`
        Parentheses,
        /// `const int v{1};`
        Braces,
        /// `int const v = 1;`
        QualifierLast,
        /// `using Q = const int; Q v = 1;`
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
    /// The way in which the use names the variable.
    pub enum Naming {
        /// With the shortest name that works: `v`, `n::v`, `S::v`.
        Plain,
        /// With a name qualified from the global namespace: `::u7::v`.
        Qualified,
        /// As a member of an object of its class: `S().v`.
        ThroughObject,
        /// As a member of a derived class: `D::v`.
        ThroughDerived,
        /// With an unqualified name that a using-declaration introduces.
        Using,
    }
}

/// The declaration of a case's variable, and the way in which the use names it.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDeclaration {
    /// The scope of the variable.
    pub site: DeclarationSite,
    /// The type, without qualifiers.
    pub ty: VariableType,
    /// The qualifier, or `constexpr`.
    pub qualifier: Qualifier,
    /// The execution-space annotation.
    pub annotation: Annotation,
    /// The position of the initializer.
    pub order: InitializerPosition,
    /// The syntax of the declaration.
    pub spelling: Spelling,
    /// The way in which the use names the variable.
    pub access: Naming,
    /// The short name of the kind of initializer, such as `literal` or `constexpr-call`.
    pub kind: &'static str,
    /// The initializer, without the `=`, parentheses or braces of `spelling`.
    pub initializer: Expression,
    /// The variables, functions and enumerators that the initializer names.
    pub auxiliaries: Vec<Auxiliary>,
}

/// A declaration that an initializer refers to. It is printed before the variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Auxiliary {
    /// A variable.
    Variable {
        /// The variable's name.
        name: &'static str,
        /// The type, without qualifiers.
        ty: VariableType,
        /// `const`, `constexpr`, `const volatile`, or nothing.
        qualifier: Qualifier,
        /// The initializer. Without one, the variable is declared `extern` and defined in another translation
        /// unit.
        initializer: Option<Expression>,
    },
    /// A function of one parameter `a` of type `int`.
    Function {
        /// The function's name.
        name: &'static str,
        /// The return type.
        result: VariableType,
        /// Whether the function is `constexpr`.
        constexpr: bool,
        /// The expression that it returns. Without one, the function is only declared and is defined in
        /// another translation unit.
        body: Option<Expression>,
    },
    /// An unscoped enumeration with one enumerator.
    Enumerator(&'static str, i128),
}

impl Auxiliary {
    /// The name of the variable, function or enumerator.
    pub fn name(&self) -> &'static str {
        match *self {
            Auxiliary::Variable { name, .. }
            | Auxiliary::Function { name, .. }
            | Auxiliary::Enumerator(name, _) => name,
        }
    }
}
