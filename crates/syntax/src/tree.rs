//! A PTX module as a tree that keeps every spelling.

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
    /// `.version MAJOR.MINOR`, the number as it is written.
    Version(Name),
    /// `.target NAME, ...`
    Target(Vec<Name>),
    /// `.address_size 32|64`, the number as it is written.
    AddressSize(Name),
    /// A declaration of variables.
    Variables(Declaration),
    /// A kernel or a function, with or without a body.
    Function(Box<Function>),
    /// Another directive that is known, kept as its tokens: `.file`, `.section`, `.pragma`, `.alias` ...
    Other(Tokens),
    /// A statement that is not understood.
    Unread(Box<Unread>),
}

/// One declaration statement: what is said once, and the variables that it is said of (5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// What stands before the first name, in the order written.
    pub specifiers: Vec<Specifier>,
    /// The variables, in the order written.
    pub declarators: Vec<Declarator>,
    /// Where the statement stood.
    pub span: Span,
}

/// A word before the names of a declaration. Their order is kept; whether it is one the text allows is not asked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specifier {
    /// `.extern`, `.visible`, `.weak` or `.common`.
    Linkage(Linkage),
    /// A state space; `.const[N]` of old versions keeps its bank.
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
    /// `.ptr`, which in a kernel's parameter list says that the parameter is a pointer.
    Ptr,
    /// Any other dotted word, such as a type that variables cannot have.
    Word(Box<Name>),
}

/// One entry of an `.attribute(...)` list (5.4.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The attribute with its dot: `.managed`, `.unified` ...
    pub name: Name,
    /// What stands in parentheses behind it, if anything does.
    pub arguments: Vec<Expr>,
}

/// One variable of a declaration statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// Its name, or the common prefix of a parameterized name.
    pub name: Name,
    /// The count of a parameterized name, `NAME<COUNT>` (5.4.6).
    pub count: Option<Expr>,
    /// The dimensions of an array, outermost first; `None` for one that is left out (5.4.3).
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
    /// `NAME = value`, an entry in the list of an opaque variable, such as `filter_mode = linear` (5.3).
    Property(Box<Property>),
}

/// One property in the initial value of an opaque variable (5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// What is set.
    pub name: Name,
    /// What it is set to.
    pub value: Expr,
}

/// A list of initial values in braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitializerList {
    /// The entries.
    pub items: Vec<Initializer>,
    /// Whether a comma stands behind the last entry, as C allows.
    pub trailing_comma: bool,
    /// Where the list stood, braces included.
    pub span: Span,
}

impl Initializer {
    /// Where it stood.
    pub fn span(&self) -> Span {
        match self {
            Initializer::Value(expr) => expr.span(),
            Initializer::List(list) => list.span,
            Initializer::Property(property) => property.name.span.to(property.value.span()),
        }
    }

    /// A list of these entries.
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
    /// Attributes behind `.entry` or `.func`.
    pub after: Vec<Specifier>,
    /// The return parameters, where a list is written.
    pub results: Option<Vec<Declaration>>,
    /// Its name.
    pub name: Name,
    /// The parameters, where a list is written.
    pub parameters: Option<Vec<Declaration>>,
    /// Performance and other directives between the parameters and the body.
    pub directives: Tokens,
    /// The statements; `None` for a prototype.
    pub body: Option<Vec<Statement>>,
    /// Whether a semicolon ends a prototype. Compilers of PTX 1 and 2 leave it out.
    pub semicolon: bool,
    /// Where it stood.
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
    /// An instruction of the common form.
    Instruction(Box<Instruction>),
    /// The table of a `brx.idx`.
    BranchTargets(BranchTargets),
    /// Another instruction or directive, kept as its tokens, the closing semicolon included where there is one.
    Tokens(Tokens),
    /// A statement that is not understood.
    Unread(Box<Unread>),
}

/// A statement that no grammar here describes, kept as it is written. What it means, what it declares included, is not known.
#[derive(Clone, Debug, Eq)]
pub struct Unread {
    /// Its tokens, the closing semicolon included where there is one.
    pub tokens: Tokens,
    /// What the grammar lacked first.
    pub error: ParseError,
}

/// The same tokens are the same statement: how the error is worded depends on the spacing.
impl PartialEq for Unread {
    fn eq(&self, other: &Unread) -> bool {
        self.tokens == other.tokens
    }
}

impl Unread {
    /// Where it stood.
    pub fn span(&self) -> Span {
        match &self.tokens[..] {
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
            [] => self.error.span,
        }
    }
}

/// Tokens kept as they are written.
///
/// What stands before the first is not kept: the parser makes its gap [`Gap::Line`], and the printer does not ask.
pub type Tokens = Vec<Token>;

/// One token that is kept as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What stands before it.
    pub gap: Gap,
    /// Its characters.
    pub text: Text,
    /// Where it stood.
    pub span: Span,
}

/// What stands between a kept token and the one before it.
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
    /// A scalar variable with this initial value.
    pub fn scalar(space: StateSpace, ty: ScalarType, name: impl Into<Text>, value: Expr) -> Declaration {
        let (count, dimensions, initializer) = (None, Vec::new(), Some(Initializer::Value(value)));
        Declaration {
            specifiers: vec![Specifier::Space(space, None), Specifier::Type(ty)],
            declarators: vec![Declarator { name: Name::new(name), count, dimensions, initializer }],
            span: Span::NONE,
        }
    }

    /// The last state space named, which is the one that the variables reside in.
    ///
    /// In a parameter such as `.param .u64 .ptr .global p`, what follows `.ptr` speaks of what the pointer points to
    /// and is not considered.
    pub fn space(&self) -> Option<StateSpace> {
        self.own().find_map(|s| if let Specifier::Space(space, _) = s { Some(*space) } else { None })
    }

    /// The fundamental type named.
    pub fn scalar_type(&self) -> Option<ScalarType> {
        self.own().find_map(|s| if let Specifier::Type(ty) = s { Some(*ty) } else { None })
    }

    /// The length of the vector type named.
    pub fn vector(&self) -> Option<VectorLength> {
        self.own().find_map(|s| if let Specifier::Vector(length) = s { Some(*length) } else { None })
    }

    /// The byte count behind `.align`.
    pub fn align(&self) -> Option<&Expr> {
        self.own().find_map(|s| if let Specifier::Align(count) = s { Some(count) } else { None })
    }

    /// The linking directives, in order.
    pub fn linkage(&self) -> impl Iterator<Item = Linkage> {
        self.own().filter_map(|s| if let Specifier::Linkage(linkage) = s { Some(*linkage) } else { None })
    }

    /// The attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.own().flat_map(|s| if let Specifier::Attributes(list) = s { list.as_slice() } else { &[] })
    }

    /// What stands before the names and speaks of the variable itself.
    pub fn own(&self) -> impl Iterator<Item = &Specifier> {
        self.specifiers.iter().take_while(|s| !matches!(s, Specifier::Ptr))
    }
}

impl Item {
    /// Where it stood.
    pub fn span(&self) -> Span {
        let of = |tokens: &[Token]| match tokens {
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
            [] => Span::NONE,
        };
        match self {
            Item::Version(name) | Item::AddressSize(name) => name.span,
            Item::Target(names) => names.first().map_or(Span::NONE, |name| name.span),
            Item::Variables(declaration) => declaration.span,
            Item::Function(function) => function.span,
            Item::Other(tokens) => of(tokens),
            Item::Unread(unread) => unread.span(),
        }
    }

    /// Whether it belongs to the header: `.version`, `.target` or `.address_size`.
    pub fn is_header(&self) -> bool {
        matches!(self, Item::Version(_) | Item::Target(_) | Item::AddressSize(_))
    }
}

impl Module {
    /// The header alone.
    pub fn header(&self) -> Module {
        Module { items: self.items.iter().filter(|item| item.is_header()).cloned().collect() }
    }

    /// The module without its header.
    pub fn without_header(&self) -> Module {
        Module { items: self.items.iter().filter(|item| !item.is_header()).cloned().collect() }
    }

    /// The declarations at module scope, in order.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.items.iter().filter_map(|item| if let Item::Variables(d) = item { Some(d) } else { None })
    }

    /// The variables declared at module scope, in order.
    pub fn declarators(&self) -> impl Iterator<Item = &Declarator> {
        self.declarations().flat_map(|declaration| &declaration.declarators)
    }

    /// The statements that are not understood, those in functions included, in order.
    pub fn unread(&self) -> impl Iterator<Item = &Unread> {
        self.items.iter().flat_map(|item| {
            let at_module_scope = if let Item::Unread(unread) = item { Some(&**unread) } else { None };
            let function = if let Item::Function(f) = item { Some(&**f) } else { None };
            at_module_scope.into_iter().chain(function.into_iter().flat_map(Function::unread))
        })
    }

    /// The functions and kernels, in order.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| if let Item::Function(f) = item { Some(&**f) } else { None })
    }

    /// The version that the module declares, as (major, minor).
    pub fn version(&self) -> Option<(u32, u32)> {
        self.items.iter().find_map(|item| {
            let Item::Version(number) = item else { return None };
            let (major, minor) = number.text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        })
    }

    /// The targets that the module names, such as `sm_80`.
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
