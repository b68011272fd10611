//! What is shown to a subject: one trial alone, or many in one module.

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, Item, Module, Name, NodeKind, ScalarType, Specifier,
    StateSpace, Text, print,
};

/// The lines that begin a module.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Declarations, whose names no other trial sees.
    Declarations(Vec<Declaration>),
}

/// One question to a subject, small enough to be reported as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its number in the campaign; trials are reported in this order.
    pub id: u64,
    /// What is tried.
    pub body: Body,
}

/// The name of the variable that an expression initializes when it stands alone.
pub(crate) const ALONE: &str = "x";

impl Trial {
    /// The trial as a module of its own.
    pub fn module(&self, header: &Header) -> Module {
        let mut items = header.items();
        match &self.body {
            Body::Expression { ty, space, expr } => {
                items.push(Item::Variables(scalar(*space, *ty, expr.clone())));
            }
            Body::Declarations(declarations) => {
                items.extend(declarations.iter().cloned().map(Item::Variables));
            }
        }
        Module { items }
    }

    /// The trial as PTX text of its own.
    pub fn text(&self, header: &Header) -> String {
        print(&self.module(header))
    }

    /// How long the trial is: the measure by which the shortest example of a finding is chosen.
    pub fn weight(&self) -> usize {
        match &self.body {
            Body::Expression { expr, .. } => 3 + expr.nodes().len(),
            Body::Declarations(declarations) => declarations.iter().map(declaration_weight).sum(),
        }
    }
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

/// The declarations with `prefix` before every name that they declare, wherever it is used in them.
pub(crate) fn prefixed(declarations: &[Declaration], prefix: &str) -> Vec<Declaration> {
    let declared: Vec<Text> =
        declarations.iter().flat_map(|d| d.declarators.iter().map(|d| d.name.text.clone())).collect();
    let mut renamed = declarations.to_vec();
    for declarator in renamed.iter_mut().flat_map(|d| &mut d.declarators) {
        declarator.name.text = format!("{prefix}{}", declarator.name.text).into();
        if let Some(initializer) = &mut declarator.initializer {
            rename_uses(initializer, &declared, prefix);
        }
    }
    renamed
}

fn rename_uses(initializer: &mut Initializer, declared: &[Text], prefix: &str) {
    match initializer {
        Initializer::Value(expr) => {
            let uses: Vec<(u32, Text)> = (0..=expr.root())
                .filter_map(|id| match expr.kind(id) {
                    NodeKind::Name(name) if declared.contains(name) => Some((id, name.clone())),
                    _ => None,
                })
                .collect();
            for (id, name) in uses {
                *expr = expr.replaced(id, &Expr::name(format!("{prefix}{name}")));
            }
        }
        Initializer::List(list) => {
            list.items.iter_mut().for_each(|item| rename_uses(item, declared, prefix));
        }
        Initializer::Property(_) => {}
    }
}
