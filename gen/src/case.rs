//! Cases: what is tried, one at a time.

use std::{fmt, str::FromStr};

use arbitrary::Unstructured;
use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, Item, Module, Name, ScalarType, Span, Specifier, StateSpace,
};

use crate::{config::Config, coverage::Coverage, generator::Generator, stream::case_bytes};

/// What the cases of a run are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Focus {
    /// Constant expressions, each the value of one scalar.
    Expressions,
    /// Declarations: aggregates, their initial values and their layout.
    Initializers,
    /// Ten of the first to one of the second.
    Mixed,
}

impl Focus {
    /// Every focus.
    pub const ALL: [Focus; 3] = [Focus::Expressions, Focus::Initializers, Focus::Mixed];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Focus::Expressions => "expressions",
            Focus::Initializers => "initializers",
            Focus::Mixed => "mixed",
        }
    }

    /// The focus of this name.
    pub fn from_name(name: &str) -> Option<Focus> {
        Focus::ALL.into_iter().find(|focus| focus.name() == name)
    }
}

/// Which case it is: written `seed:index`. With the focus, the configuration and the build it makes the case again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the case in the run.
    pub index: u64,
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seed, self.index)
    }
}

impl FromStr for CaseId {
    type Err = String;

    fn from_str(text: &str) -> Result<CaseId, String> {
        let parts =
            text.split_once(':').and_then(|(seed, index)| Some((seed.parse().ok()?, index.parse().ok()?)));
        let (seed, index) = parts.ok_or_else(|| format!("`{text}` is not a case: write SEED:INDEX"))?;
        Ok(CaseId { seed, index })
    }
}

/// One thing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Which case it is.
    pub id: CaseId,
    /// What is tried.
    pub body: Body,
}

/// What a case tries.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A value of this type: as a scalar of its own, or as one element of an array of many cases.
    Expression {
        /// The type of the variable.
        ty: ScalarType,
        /// Where the variable lies.
        space: StateSpace,
        /// Its value.
        expr: Expr,
    },
    /// A declaration statement. Its variables are named `v0`, `v1` ... in order.
    Declaration(Declaration),
}

impl Case {
    /// The declaration of the case, its variables named `PREFIX0`, `PREFIX1` ... in order.
    pub fn declaration(&self, prefix: &str) -> Declaration {
        match &self.body {
            Body::Expression { ty, space, expr } => {
                scalar(*ty, *space, Name::new(format!("{prefix}0")), expr.clone())
            }
            Body::Declaration(declaration) => {
                let mut declaration = declaration.clone();
                for (i, declarator) in declaration.declarators.iter_mut().enumerate() {
                    declarator.name = Name::new(format!("{prefix}{i}"));
                }
                declaration
            }
        }
    }

    /// The case as a module of its own; its variables are named `v0`, `v1` ...
    pub fn module(&self, header: &Header) -> Module {
        header.module([self.declaration("v")])
    }
}

fn scalar(ty: ScalarType, space: StateSpace, name: Name, expr: Expr) -> Declaration {
    Declaration {
        specifiers: vec![Specifier::Space(space, None), Specifier::Type(ty)],
        declarators: vec![Declarator {
            name,
            count: None,
            dimensions: Vec::new(),
            initializer: Some(Initializer::Value(expr)),
        }],
        span: Span::NONE,
    }
}

/// The directives that a module begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// `.version`. Default `7.8`.
    pub version: String,
    /// `.target`. Default `sm_80`.
    pub target: String,
    /// `.address_size`. Default `64`.
    pub address_size: String,
}

impl Default for Header {
    /// What every release of ptxas from 11.8 on takes, and any implementation of an older PTX may.
    fn default() -> Header {
        Header { version: "7.8".into(), target: "sm_80".into(), address_size: "64".into() }
    }
}

impl Header {
    /// A module of these declarations.
    pub fn module(&self, declarations: impl IntoIterator<Item = Declaration>) -> Module {
        let mut items = vec![
            Item::Version(Name::new(self.version.as_str())),
            Item::Target(vec![Name::new(self.target.as_str())]),
            Item::AddressSize(Name::new(self.address_size.as_str())),
        ];
        items.extend(declarations.into_iter().map(Item::Variables));
        Module { items }
    }
}

/// Bytes for one expression: more than all but the largest take.
const EXPRESSION_BYTES: usize = 128;
/// Bytes for one declaration. Where they run out, the elements that are left are zeros.
const DECLARATION_BYTES: usize = 1024;
/// In a mixed run, one case in this many is a declaration.
const MIXED: u64 = 11;

impl Generator {
    /// The case of this seed and index. The cases before it need not be made.
    pub fn case(&self, focus: Focus, seed: u64, index: u64, coverage: &mut Coverage) -> Case {
        let declaration = match focus {
            Focus::Expressions => false,
            Focus::Initializers => true,
            Focus::Mixed => index % MIXED == MIXED - 1,
        };
        let mut bytes = [0; DECLARATION_BYTES];
        let bytes = if declaration { &mut bytes[..] } else { &mut bytes[..EXPRESSION_BYTES] };
        case_bytes(seed, index, bytes);
        let mut u = Unstructured::new(bytes);
        let body = if declaration {
            self.declaration(&mut u, coverage).map(Body::Declaration)
        } else {
            let (ty, space) = self.seat(&mut u, coverage);
            self.expression(ty, &mut u, coverage).map(|expr| Body::Expression { ty, space, expr })
        };
        Case { id: CaseId { seed, index }, body: body.expect("the generator accepts all bytes") }
    }
}

/// The case of this seed and index under a configuration.
///
/// For many cases under one configuration make a [`Generator`] once.
pub fn case(config: &Config, focus: Focus, seed: u64, index: u64) -> Case {
    Generator::new(config.clone()).case(focus, seed, index, &mut Coverage::new())
}
