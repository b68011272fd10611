//! Cases: what is tried, one at a time.

use std::{fmt, str::FromStr};

use arbitrary::Unstructured;
use ptxsmith_syntax::{
    Assemble, Declaration, Expr, Header, Item, Module, ScalarType, Spacing, StateSpace, Statement,
};

use crate::{
    config::Config, coverage::Coverage, draft::Draft, generator::Generator, negative::Negative,
    stream::case_bytes,
};

ptxsmith_syntax::every! {
    /// What the cases of a run are about. `Operands` is for a generator whose [`Config::operands`] is set.
    pub enum Focus {
        Expressions = "expressions", "Scalars with constant expressions";
        Initializers = "initializers", "Arrays and vectors with nested initializers";
        Addresses = "addresses", "Addresses of variables and functions in initializers";
        Contexts = "seats", "One constant in every place where it may stand";
        Negatives = "negatives", "Programs that must be refused, each with a valid counterpart";
        Operands = "operands", "Kernels whose operands show in an output buffer, read from the generated code, or from a device";
        Mixed = "mixed", "Mostly expressions, and some of the others but kernels";
    }
}

/// The mixture: of so many cases, these are about something else than expressions.
const MIXTURE: u64 = 132;
const MIXED: [(u64, Focus); 17] = [
    (5, Focus::Addresses),
    (10, Focus::Initializers),
    (21, Focus::Initializers),
    (27, Focus::Negatives),
    (32, Focus::Initializers),
    (43, Focus::Initializers),
    (49, Focus::Addresses),
    (54, Focus::Initializers),
    (65, Focus::Initializers),
    (71, Focus::Contexts),
    (76, Focus::Initializers),
    (87, Focus::Initializers),
    (98, Focus::Initializers),
    (109, Focus::Initializers),
    (115, Focus::Contexts),
    (120, Focus::Initializers),
    (131, Focus::Initializers),
];

impl Focus {
    /// What the case of this index is about: never [`Focus::Mixed`].
    pub fn of(self, index: u64) -> Focus {
        match self {
            Focus::Mixed => {
                let place = index % MIXTURE;
                let other = MIXED.iter().find(|(at, _)| *at == place);
                other.map_or(Focus::Expressions, |&(_, focus)| focus)
            }
            focus => focus,
        }
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
    /// How its text is spaced.
    pub spacing: Spacing,
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
    /// Statements at module scope. No name is declared twice.
    Items(Vec<Item>),
    /// Declarations that all hold one constant: in the last scalar of each variable, or, of eight bytes, in all.
    Contexts(Vec<Item>),
    /// A kernel `k0` and what it uses. It has one parameter, the address of an output buffer.
    Kernel(Vec<Item>),
    /// Statements that the specification refuses, and their valid counterpart.
    Negative(Box<Negative>),
}

impl Case {
    /// The statements of the case: of a negative one, those that are refused. An expression is the value of `v0`.
    pub fn items(&self) -> Vec<Item> {
        match &self.body {
            Body::Expression { ty, space, expr } => {
                vec![Item::Variables(Declaration::scalar(*space, *ty, "v0", expr.clone()))]
            }
            Body::Items(items) | Body::Contexts(items) | Body::Kernel(items) => items.clone(),
            Body::Negative(negative) => negative.broken.clone(),
        }
    }

    /// The header that the case needs, where it is not the one that all others have.
    pub fn header(&self) -> Option<&Header> {
        match &self.body {
            Body::Negative(negative) => negative.header.as_ref(),
            Body::Expression { .. } | Body::Items(_) | Body::Contexts(_) | Body::Kernel(_) => None,
        }
    }

    /// The case as a module of its own, under this header unless it needs another.
    pub fn module(&self, header: &Header) -> Module {
        self.header().unwrap_or(header).module(self.items())
    }
}

/// Bytes for one expression: more than all but the largest take.
const EXPRESSION_BYTES: usize = 128;
/// Bytes for one declaration, or one group. Where they run out, the elements that are left are zeros.
const DECLARATION_BYTES: usize = 1024;

impl Generator {
    /// The case of this seed and index. The cases before it need not be made.
    pub fn case(&self, focus: Focus, seed: u64, index: u64, coverage: &mut Coverage) -> Case {
        let id = CaseId { seed, index };
        // In a mixture every negative is of another edit than the one before, since there are few of them.
        let turn = if focus == Focus::Mixed { crate::negative::in_turn(index / MIXTURE) } else { index };
        let focus = focus.of(index);
        if focus == Focus::Negatives {
            let negative = self.negative(seed, turn, coverage);
            return Case { id, body: Body::Negative(Box::new(negative)), spacing: Spacing::Canonical };
        }
        if matches!(focus, Focus::Expressions | Focus::Contexts) {
            self.made_of::<EXPRESSION_BYTES>(focus, id, coverage)
        } else {
            self.made_of::<DECLARATION_BYTES>(focus, id, coverage)
        }
    }

    /// The nodes of the case of this seed and index under [`Focus::Expressions`], with its type and its state space. A
    /// case that is not spaced canonically has more to it than its nodes: of it nothing is made or recorded.
    pub fn assemble_case(
        &self,
        CaseId { seed, index }: CaseId,
        coverage: &mut Coverage,
        into: &mut dyn Assemble,
    ) -> Option<(ScalarType, StateSpace)> {
        let mut bytes = [0; EXPRESSION_BYTES];
        case_bytes(seed, index, &mut bytes);
        let mut draft = Draft::new(self.tables(), &bytes, coverage);
        if draft.spacing() != Spacing::Canonical {
            return None;
        }
        draft.pool = self.pool(seed, index);
        Some(draft.assemble_in_context(into))
    }

    /// The seed and the number of the pool that an expression takes its numbers from, if others take theirs there too.
    fn pool(&self, seed: u64, index: u64) -> Option<(u64, u64)> {
        Some((seed, index.checked_div(self.config().shared_numbers)?))
    }

    /// The case of this seed and index, of no more than so many bytes.
    fn made_of<const N: usize>(&self, focus: Focus, id: CaseId, coverage: &mut Coverage) -> Case {
        let mut bytes = [0; N];
        case_bytes(id.seed, id.index, &mut bytes);
        let mut u = Unstructured::new(&bytes);
        let spacing = self.drafted(&mut u, coverage, |draft| draft.spacing());
        let body = match focus {
            Focus::Initializers => Body::Items(vec![Item::Variables(self.declaration(&mut u, coverage))]),
            Focus::Addresses => Body::Items(self.addresses(&mut u, coverage)),
            Focus::Contexts => Body::Contexts(self.contexts(&mut u, coverage)),
            Focus::Operands => Body::Kernel(self.kernel(&mut u, coverage)),
            Focus::Expressions | Focus::Negatives | Focus::Mixed => {
                let (ty, space, expr) = self.in_context(&mut u, self.pool(id.seed, id.index), coverage);
                Body::Expression { ty, space, expr }
            }
        };
        // What stays tokens keeps the gaps between them, whatever the spacing.
        let spacing = if keeps_tokens(&body) { Spacing::Canonical } else { spacing };
        Case { id, body, spacing }
    }
}

/// Whether a kernel has statements that are kept as tokens.
fn keeps_tokens(body: &Body) -> bool {
    let Body::Kernel(items) = body else { return false };
    items.iter().any(|item| match item {
        Item::Function(function) => {
            function.body.iter().flatten().any(|statement| matches!(statement, Statement::Tokens(_)))
        }
        _ => false,
    })
}

/// The case of this seed and index under a configuration.
///
/// For many cases under one configuration make a [`Generator`] once.
pub fn case(config: &Config, focus: Focus, seed: u64, index: u64) -> Case {
    Generator::new(config.clone()).case(focus, seed, index, &mut Coverage::new())
}
