//! What is shown to a subject: one trial alone, or many in one module.

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, Item, Module, Name, NodeKind, ScalarType, Spacing, Specifier,
    StateSpace, Statement, Text, print,
};

/// The lines that begin a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Header {
    /// The `.version`, such as `7.8`.
    pub version: String,
    /// The `.target`, such as `sm_80`.
    pub target: String,
    /// The `.address_size` in bits.
    pub address_size: u32,
}

impl Default for Header {
    /// What every release of ptxas from 11.8 on takes.
    fn default() -> Header {
        Header { version: "7.8".into(), target: "sm_80".into(), address_size: 64 }
    }
}

impl Header {
    /// The header as statements.
    pub fn items(&self) -> Vec<Item> {
        vec![
            Item::Version(Name::new(self.version.as_str())),
            Item::Target(vec![Name::new(self.target.as_str())]),
            Item::AddressSize(Name::new(self.address_size.to_string())),
        ]
    }

    /// The version as (major, minor).
    pub fn version(&self) -> (u32, u32) {
        Module { items: self.items() }.version().unwrap_or((0, 0))
    }
}

/// What is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// One value of a type in a state space. Alone it is a scalar variable `x`; in a batch, an element of an array.
    Expression {
        /// The type that the value is converted to.
        ty: ScalarType,
        /// `.global` or `.const`.
        space: StateSpace,
        /// The value.
        expr: Expr,
    },
    /// Statements at module scope: declarations, and functions whose addresses they take. No other trial sees the names
    /// that they declare.
    Items(Vec<Item>),
    /// Declarations that put one constant in many places: it is the last scalar of every variable, or, of eight bytes,
    /// all of them. A subject that gives two values contradicts itself, also where nobody knows which is right.
    Seats(Vec<Item>),
}

impl Body {
    /// The statements; `None` for an expression, which is none yet.
    pub fn items(&self) -> Option<&[Item]> {
        match self {
            Body::Expression { .. } => None,
            Body::Items(items) | Body::Seats(items) => Some(items),
        }
    }
}

/// One question to a subject, small enough to be reported as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its number in the campaign; trials are reported in this order.
    pub id: u64,
    /// What is tried.
    pub body: Body,
    /// How its text is spaced.
    pub spacing: Spacing,
}

/// The name of the variable that an expression initializes when it stands alone.
pub(crate) const ALONE: &str = "x";

impl Trial {
    /// A trial in canonical spacing.
    pub fn new(id: u64, body: Body) -> Trial {
        Trial { id, body, spacing: Spacing::Canonical }
    }

    /// The trial as a module of its own.
    pub fn module(&self, header: &Header) -> Module {
        let mut items = header.items();
        items.extend(self.items());
        Module { items }
    }

    /// What the trial adds to the header of a module of its own.
    pub(crate) fn items(&self) -> Vec<Item> {
        match &self.body {
            Body::Expression { ty, space, expr } => {
                vec![Item::Variables(scalar(*space, *ty, expr.clone()))]
            }
            Body::Items(items) | Body::Seats(items) => items.clone(),
        }
    }

    /// The trial as PTX text of its own. The header is spaced canonically, so that every reader finds it.
    pub fn text(&self, header: &Header) -> String {
        let mut text = print(&Module { items: header.items() });
        text.push_str(&self.spacing.print(&Module { items: self.items() }));
        text
    }

    /// How long the trial is: the measure by which the shortest example of a finding is chosen.
    pub fn weight(&self) -> usize {
        let odd = usize::from(self.spacing != Spacing::Canonical);
        odd + match &self.body {
            Body::Expression { expr, .. } => 3 + expr.nodes().len(),
            Body::Items(items) | Body::Seats(items) => items.iter().map(item_weight).sum(),
        }
    }
}

fn item_weight(item: &Item) -> usize {
    match item {
        Item::Variables(declaration) => declaration_weight(declaration),
        Item::Function(function) => 6 + function.body.as_deref().map_or(0, statements_weight),
        Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => 2,
    }
}

fn statements_weight(statements: &[Statement]) -> usize {
    let one = |statement: &Statement| match statement {
        Statement::Variables(declaration) => declaration_weight(declaration),
        Statement::Block(inner) => 1 + statements_weight(inner),
        Statement::Instruction(instruction) => 1 + instruction.operands.len(),
        Statement::Label(_) | Statement::BranchTargets(_) => 2,
        Statement::Tokens(tokens) => tokens.len(),
    };
    statements.iter().map(one).sum()
}

fn scalar(space: StateSpace, ty: ScalarType, expr: Expr) -> Declaration {
    Declaration {
        specifiers: vec![Specifier::Space(space, None), Specifier::Type(ty)],
        declarators: vec![Declarator {
            name: Name::new(ALONE),
            count: None,
            dimensions: Vec::new(),
            initializer: Some(Initializer::Value(expr)),
        }],
        span: ptxsmith_syntax::Span::NONE,
    }
}

fn declaration_weight(declaration: &Declaration) -> usize {
    let declarator = |d: &Declarator| {
        1 + 2 * d.dimensions.len()
            + d.dimensions.iter().flatten().map(|e| e.nodes().len()).sum::<usize>()
            + d.initializer.as_ref().map_or(0, initializer_weight)
    };
    declaration.specifiers.len() + declaration.declarators.iter().map(declarator).sum::<usize>()
}

fn initializer_weight(initializer: &Initializer) -> usize {
    match initializer {
        Initializer::Value(expr) => expr.nodes().len(),
        Initializer::List(list) => 2 + list.items.iter().map(initializer_weight).sum::<usize>(),
        Initializer::Property(_) => 3,
    }
}

/// The statements with `prefix` in every name that they declare, wherever it is used in them.
pub(crate) fn prefixed(items: &[Item], prefix: &str) -> Vec<Item> {
    let mut declared: Vec<Text> = Vec::new();
    for item in items {
        match item {
            Item::Variables(declaration) => {
                declared.extend(declaration.declarators.iter().map(|d| d.name.text.clone()));
            }
            Item::Function(function) => declared.push(function.name.text.clone()),
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => {}
        }
    }
    // Also the numbered names that a parameterized one declares.
    let is_declared = |name: &Text| {
        declared.contains(name)
            || declared.iter().any(|d| {
                let number = name.strip_prefix(d.as_str()).unwrap_or("");
                !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
            })
    };
    let mut renamed = items.to_vec();
    for item in &mut renamed {
        match item {
            Item::Variables(declaration) => {
                for declarator in &mut declaration.declarators {
                    declarator.name.text = with_prefix(&declarator.name.text, prefix);
                    if let Some(initializer) = &mut declarator.initializer {
                        rename_uses(initializer, &is_declared, prefix);
                    }
                }
            }
            Item::Function(function) => {
                function.name.text = with_prefix(&function.name.text, prefix);
                rename_in_body(function.body.as_deref_mut().unwrap_or_default(), &is_declared, prefix);
            }
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => {}
        }
    }
    renamed
}

/// Renames what initial values in a body use. What the body declares keeps its names: nobody else sees them.
fn rename_in_body(statements: &mut [Statement], is_declared: &impl Fn(&Text) -> bool, prefix: &str) {
    for statement in statements {
        match statement {
            Statement::Variables(declaration) => {
                let initializers = declaration.declarators.iter_mut().filter_map(|d| d.initializer.as_mut());
                initializers.for_each(|initializer| rename_uses(initializer, is_declared, prefix));
            }
            Statement::Block(inner) => rename_in_body(inner, is_declared, prefix),
            Statement::Instruction(instruction) => {
                instruction.expressions_mut(&mut |expr| rename_in_expr(expr, is_declared, prefix));
                instruction.names_mut(&mut |name| {
                    if is_declared(&name.text) {
                        name.text = with_prefix(&name.text, prefix);
                    }
                });
            }
            Statement::Label(_) | Statement::BranchTargets(_) | Statement::Tokens(_) => {}
        }
    }
}

/// The name with a prefix; `_`, `$` and `%`, which only begin a name, stay in front.
pub(crate) fn with_prefix(name: &str, prefix: &str) -> Text {
    let (sigil, rest) = sigil(name);
    format!("{sigil}{prefix}{rest}").into()
}

/// The name that [`with_prefix`] made this one of.
pub(crate) fn without_prefix(name: &str, prefix: &str) -> Option<Text> {
    let (sigil, rest) = sigil(name);
    rest.strip_prefix(prefix).map(|rest| format!("{sigil}{rest}").into())
}

fn sigil(name: &str) -> (&str, &str) {
    name.split_at(usize::from(name.starts_with(['_', '$', '%'])))
}

fn rename_uses(initializer: &mut Initializer, is_declared: &impl Fn(&Text) -> bool, prefix: &str) {
    match initializer {
        Initializer::Value(expr) => rename_in_expr(expr, is_declared, prefix),
        Initializer::List(list) => {
            list.items.iter_mut().for_each(|item| rename_uses(item, is_declared, prefix));
        }
        Initializer::Property(_) => {}
    }
}

fn rename_in_expr(expr: &mut Expr, is_declared: &impl Fn(&Text) -> bool, prefix: &str) {
    let uses: Vec<(u32, Text)> = (0..=expr.root())
        .filter_map(|id| match expr.kind(id) {
            NodeKind::Name(name) if is_declared(name) => Some((id, name.clone())),
            _ => None,
        })
        .collect();
    for (id, name) in uses {
        *expr = expr.replaced(id, &Expr::name(with_prefix(&name, prefix)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_prefix_is_a_name_and_can_be_told_again() {
        for name in ["a", "_a", "$1", "%r", "a$%_"] {
            let with = with_prefix(name, "t3_");
            assert_eq!(without_prefix(&with, "t3_").as_deref(), Some(name));
            assert_eq!(with.starts_with(['_', '$', '%']), name.starts_with(['_', '$', '%']));
        }
        assert_eq!(without_prefix("t31_a", "t3_"), None);
    }
}
