//! The syntax tree of a PTX module. It keeps every spelling.

use crate::{
    Text,
    error::ParseError,
    expr::Expr,
    instruction::{BranchTargets, Instruction},
    span::{Name, Span},
    types::{Linkage, OpaqueType, ScalarType, StateSpace, VectorLength},
};

/// A whole PTX module: its statements in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The statements at module scope.
    pub items: Vec<Item>,
}

/// A statement at module scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `.version MAJOR.MINOR`, with the number as written.
    Version(Name),
    /// `.target NAME, ...`
    Target(Vec<Name>),
    /// `.address_size 32|64`, with the number as written.
    AddressSize(Name),
    /// A declaration of variables.
    Variables(Declaration),
    /// A kernel or a function, with or without a body.
    Function(Box<Function>),
    /// Another known directive, kept as tokens: `.file`, `.section`, `.pragma`, `.alias` ...
    Other(Tokens),
    /// A statement that the parser does not understand.
    Unread(Box<Unread>),
}

/// A declaration statement: specifiers, and the variables that share them (5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The specifiers before the first name, in source order.
    pub specifiers: Vec<Specifier>,
    /// The variables, in source order.
    pub declarators: Vec<Declarator>,
    /// The source span of the statement.
    pub span: Span,
}

/// A word before the names of a declaration. The tree keeps the order of specifiers and does not check that it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specifier {
    /// `.extern`, `.visible`, `.weak` or `.common`.
    Linkage(Linkage),
    /// A state space, with the bank number of `.const[N]` from old PTX versions.
    Space(StateSpace, Option<Box<Expr>>),
    /// `.align COUNT`
    Align(Expr),
    /// `.attribute(...)`
    Attributes(Vec<Attribute>),
    /// `.v2`, `.v4` ...
    Vector(VectorLength),
    /// A fundamental type.
    Type(ScalarType),
    /// `.texref`, `.samplerref`, `.surfref`
    Opaque(OpaqueType),
    /// `.ptr`, which marks a kernel parameter as a pointer.
    Ptr,
    /// Any other dotted word, such as a type that is invalid for variables.
    Word(Box<Name>),
}

/// One entry of an `.attribute(...)` list (5.4.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The attribute name with its dot: `.managed`, `.unified` ...
    pub name: Name,
    /// The arguments in parentheses; empty if there are none.
    pub arguments: Vec<Expr>,
}

/// One variable of a declaration statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// The variable's name, or the prefix of a parameterized name.
    pub name: Name,
    /// The count of a parameterized name, `NAME<COUNT>` (5.4.6).
    pub count: Option<Expr>,
    /// The array dimensions, outermost first; `None` for an omitted size, as in `x[]` (5.4.3).
    pub dimensions: Vec<Option<Expr>>,
    /// The initial value (5.4.4).
    pub initializer: Option<Initializer>,
}

/// An initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initializer {
    /// A single value.
    Value(Expr),
    /// `{ ..., ... }`
    List(InitializerList),
    /// `NAME = value`, a property in the initializer of an opaque variable, such as `filter_mode = linear` (5.3).
    Property(Box<Property>),
}

/// A property in the initializer of an opaque variable (5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The property, such as `filter_mode`.
    pub name: Name,
    /// The value of the property.
    pub value: Expr,
}

/// A list of initial values in braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitializerList {
    /// The entries.
    pub items: Vec<Initializer>,
    /// Whether a comma follows the last entry, as C allows.
    pub trailing_comma: bool,
    /// The source span of the list, including the braces.
    pub span: Span,
}

impl Initializer {
    /// The source span.
    pub fn span(&self) -> Span {
        match self {
            Initializer::Value(expr) => expr.span(),
            Initializer::List(list) => list.span,
            Initializer::Property(property) => property.name.span.to(property.value.span()),
        }
    }

    /// Creates a braced list from its entries.
    pub fn list(items: Vec<Initializer>) -> Initializer {
        Initializer::List(InitializerList { items, ..InitializerList::default() })
    }
}

/// Whether a function is a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Linking directives and attributes before `.entry` or `.func`.
    pub before: Vec<Specifier>,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Attributes after `.entry` or `.func`.
    pub after: Vec<Specifier>,
    /// The return parameters; `None` if there is no list.
    pub results: Option<Vec<Declaration>>,
    /// The name of the function.
    pub name: Name,
    /// The parameters; `None` if there is no list.
    pub parameters: Option<Vec<Declaration>>,
    /// Performance and other directives between the parameters and the body.
    pub directives: Tokens,
    /// The statements; `None` for a prototype.
    pub body: Option<Vec<Statement>>,
    /// Whether a semicolon ends a prototype. Compilers that emit PTX 1 and 2 omit it.
    pub semicolon: bool,
    /// The source span.
    pub span: Span,
}

/// A statement in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A declaration of variables.
    Variables(Declaration),
    /// `NAME:`
    Label(Name),
    /// `{ ... }`
    Block(Vec<Statement>),
    /// An instruction that [`Instruction`] can represent.
    Instruction(Box<Instruction>),
    /// The table of a `brx.idx`.
    BranchTargets(BranchTargets),
    /// Another instruction or directive, kept as tokens, including the closing semicolon if there is one.
    Tokens(Tokens),
    /// A statement that the parser does not understand.
    Unread(Box<Unread>),
}

/// A statement outside the supported grammar, kept as tokens. Its meaning is unknown, and so are the names it declares.
#[derive(Clone, Debug, Eq)]
pub struct Unread {
    /// The tokens, including the closing semicolon if there is one.
    pub tokens: Tokens,
    /// The first parse error in the statement.
    pub error: ParseError,
}

/// Compares tokens only, because the wording of the error depends on the spacing.
impl PartialEq for Unread {
    fn eq(&self, other: &Unread) -> bool {
        self.tokens == other.tokens
    }
}

impl Unread {
    /// The source span.
    pub fn span(&self) -> Span {
        match &self.tokens[..] {
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
            [] => self.error.span,
        }
    }
}

/// Tokens kept as written.
///
/// The gap before the first token carries no information: the parser sets it to [`Gap::Line`] and the printer ignores it.
pub type Tokens = Vec<Token>;

/// A token kept as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The gap between this token and the previous one.
    pub gap: Gap,
    /// The characters of the token.
    pub text: Text,
    /// The source span.
    pub span: Span,
}

/// The gap between a kept token and the previous token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gap {
    /// Nothing.
    Joined,
    /// White space or comments on one line.
    Space,
    /// A line break.
    Line,
}

impl Declaration {
    /// Creates the declaration of a scalar variable with an initializer.
    pub fn scalar(space: StateSpace, ty: ScalarType, name: impl Into<Text>, value: Expr) -> Declaration {
        let (count, dimensions, initializer) = (None, Vec::new(), Some(Initializer::Value(value)));
        Declaration {
            specifiers: vec![Specifier::Space(space, None), Specifier::Type(ty)],
            declarators: vec![Declarator { name: Name::new(name), count, dimensions, initializer }],
            span: Span::NONE,
        }
    }

    /// Returns the state space of the variables: the first one written.
    ///
    /// Ignores specifiers after `.ptr`, because they describe the pointee: `.param .u64 .ptr .global p` is in `.param`.
    pub fn space(&self) -> Option<StateSpace> {
        self.variable_specifiers()
            .find_map(|s| if let Specifier::Space(space, _) = s { Some(*space) } else { None })
    }

    /// Returns the fundamental type, if one is written.
    pub fn scalar_type(&self) -> Option<ScalarType> {
        self.variable_specifiers().find_map(|s| if let Specifier::Type(ty) = s { Some(*ty) } else { None })
    }

    /// Returns the length of the vector type, if one is written.
    pub fn vector(&self) -> Option<VectorLength> {
        self.variable_specifiers()
            .find_map(|s| if let Specifier::Vector(length) = s { Some(*length) } else { None })
    }

    /// Returns the byte count of `.align`, if there is one.
    pub fn align(&self) -> Option<&Expr> {
        self.variable_specifiers()
            .find_map(|s| if let Specifier::Align(count) = s { Some(count) } else { None })
    }

    /// The linking directives, in order.
    pub fn linkage(&self) -> impl Iterator<Item = Linkage> {
        self.variable_specifiers()
            .filter_map(|s| if let Specifier::Linkage(linkage) = s { Some(*linkage) } else { None })
    }

    /// The attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.variable_specifiers()
            .flat_map(|s| if let Specifier::Attributes(list) = s { list.as_slice() } else { &[] })
    }

    /// Returns the specifiers that describe the variable itself: all before `.ptr`.
    pub fn variable_specifiers(&self) -> impl Iterator<Item = &Specifier> {
        self.specifiers.iter().take_while(|s| !matches!(s, Specifier::Ptr))
    }
}

impl Item {
    /// The source span.
    pub fn span(&self) -> Span {
        match self {
            Item::Version(name) | Item::AddressSize(name) => name.span,
            Item::Target(names) => names.first().map_or(Span::NONE, |name| name.span),
            Item::Variables(declaration) => declaration.span,
            Item::Function(function) => function.span,
            Item::Other(tokens) => match (tokens.first(), tokens.last()) {
                (Some(first), Some(last)) => first.span.to(last.span),
                _ => Span::NONE,
            },
            Item::Unread(unread) => unread.span(),
        }
    }

    /// Returns true for a header directive: `.version`, `.target` or `.address_size`.
    pub fn is_header(&self) -> bool {
        matches!(self, Item::Version(_) | Item::Target(_) | Item::AddressSize(_))
    }
}

impl Module {
    /// Returns a module with only the header directives.
    pub fn header(&self) -> Module {
        Module { items: self.items.iter().filter(|item| item.is_header()).cloned().collect() }
    }

    /// Returns a module without the header directives.
    pub fn without_header(&self) -> Module {
        Module { items: self.items.iter().filter(|item| !item.is_header()).cloned().collect() }
    }

    /// Returns the declarations at module scope, in source order.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.items.iter().filter_map(|item| if let Item::Variables(d) = item { Some(d) } else { None })
    }

    /// Returns the variables declared at module scope, in source order.
    pub fn declarators(&self) -> impl Iterator<Item = &Declarator> {
        self.declarations().flat_map(|declaration| &declaration.declarators)
    }

    /// Returns the statements that the parser did not understand, at module scope and in functions, in source order.
    pub fn unread(&self) -> impl Iterator<Item = &Unread> {
        self.items.iter().flat_map(|item| {
            let at_module_scope = if let Item::Unread(unread) = item { Some(&**unread) } else { None };
            let function = if let Item::Function(f) = item { Some(&**f) } else { None };
            at_module_scope.into_iter().chain(function.into_iter().flat_map(Function::unread))
        })
    }

    /// Returns the functions and kernels, in source order.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| if let Item::Function(f) = item { Some(&**f) } else { None })
    }

    /// Returns the declared PTX version as (major, minor); `None` if it is absent or malformed.
    pub fn version(&self) -> Option<(u32, u32)> {
        self.items.iter().find_map(|item| {
            let Item::Version(number) = item else { return None };
            let (major, minor) = number.text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        })
    }

    /// Returns the names in `.target` directives, such as `sm_80`.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|item| {
            let names = if let Item::Target(names) = item { names.as_slice() } else { &[] };
            names.iter().map(|name| name.text.as_str())
        })
    }

    /// The bits of an address: what `.address_size` says, else `None`.
    pub fn address_size(&self) -> Option<u32> {
        self.items.iter().find_map(|item| match item {
            Item::AddressSize(number) => number.text.parse().ok(),
            _ => None,
        })
    }
}
