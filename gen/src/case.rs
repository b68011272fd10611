//! Test cases: the unit of a run.

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
    /// The subject of the cases of a run. `Operands` requires a generator with [`Config::operands`] set.
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

/// The period of [`Focus::Mixed`]: the index modulo this is the place in the mixture. `MIXED` lists the
/// places with another focus than expressions; kernels (`Operands`) are in none.
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
    /// Returns the focus of the case with this index. Resolves [`Focus::Mixed`], so it never returns it.
    pub fn for_case(self, index: u64) -> Focus {
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

/// Identifies a case; written `seed:index`. With the focus, the configuration and the build it reproduces the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId {
    /// The seed of the run.
    pub seed: u64,
    /// The index of the case in the run.
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

/// A test case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The seed and index.
    pub id: CaseId,
    /// The statements under test.
    pub body: Body,
    /// The spacing of the printed module. Always canonical for a negative case, and for a kernel with
    /// statements kept as tokens, which retain their gaps under any spacing.
    pub spacing: Spacing,
}

/// The content of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// An expression of this type. It becomes a scalar variable, or one element of an array that holds many cases.
    Expression {
        /// The type of the variable.
        ty: ScalarType,
        /// The state space of the variable.
        space: StateSpace,
        /// The value of the variable.
        expr: Expr,
    },
    /// Statements at module scope. No name is declared twice.
    Items(Vec<Item>),
    /// Declarations that use the same constant: as the last scalar of each variable, or byte by byte through masks.
    Contexts(Vec<Item>),
    /// A kernel `k0` and the declarations it uses. It has one parameter, the address of an output buffer.
    Kernel(Vec<Item>),
    /// Statements that the specification rejects, and their valid counterpart.
    Negative(Box<Negative>),
}

impl Case {
    /// Returns the statements of the case: for a negative case the invalid ones, for an expression a variable `v0`.
    pub fn items(&self) -> Vec<Item> {
        match &self.body {
            Body::Expression { ty, space, expr } => {
                vec![Item::Variables(Declaration::scalar(*space, *ty, "v0", expr.clone()))]
            }
            Body::Items(items) | Body::Contexts(items) | Body::Kernel(items) => items.clone(),
            Body::Negative(negative) => negative.broken.clone(),
        }
    }

    /// Returns the header that the case requires, if the common header does not fit.
    pub fn header(&self) -> Option<&Header> {
        match &self.body {
            Body::Negative(negative) => negative.header.as_ref(),
            Body::Expression { .. } | Body::Items(_) | Body::Contexts(_) | Body::Kernel(_) => None,
        }
    }

    /// Returns the case as a module, with this header unless the case requires another.
    pub fn module(&self, header: &Header) -> Module {
        self.header().unwrap_or(header).module(self.items())
    }
}

/// The bytes for an expression: enough for all but the largest.
const EXPRESSION_BYTES: usize = 128;
/// The bytes for a declaration or a group. If they run out, the remaining elements are zeros.
const DECLARATION_BYTES: usize = 1024;

impl Generator {
    /// Generates the case with this seed and index, independently of other cases.
    pub fn case(&self, focus: Focus, seed: u64, index: u64, coverage: &mut Coverage) -> Case {
        let id = CaseId { seed, index };
        // In a mixture, cycle through the edits of negative cases, since a mixture has few of these cases.
        let turn = if focus == Focus::Mixed { crate::negative::in_turn(index / MIXTURE) } else { index };
        let focus = focus.for_case(index);
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

    /// Generates only the nodes, type and state space of a case under [`Focus::Expressions`]. If the case is not spaced
    /// canonically, its nodes do not describe it completely, so nothing is generated or recorded.
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

    /// Returns the seed and index of the pool of shared numbers for this case; `None` if numbers are not shared.
    fn pool(&self, seed: u64, index: u64) -> Option<(u64, u64)> {
        Some((seed, index.checked_div(self.config().shared_numbers)?))
    }

    /// Generates a case from at most `N` bytes.
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
        // Kept tokens retain their gaps under any spacing, so use canonical spacing.
        let spacing = if keeps_tokens(&body) { Spacing::Canonical } else { spacing };
        Case { id, body, spacing }
    }
}

/// Returns true if a kernel has statements that are kept as tokens.
fn keeps_tokens(body: &Body) -> bool {
    let Body::Kernel(items) = body else { return false };
    items.iter().any(|item| match item {
        Item::Function(function) => {
            function.body.iter().flatten().any(|statement| matches!(statement, Statement::Tokens(_)))
        }
        _ => false,
    })
}

/// Generates the case with this seed and index under a configuration.
///
/// To generate many cases under one configuration, create a [`Generator`] and reuse it.
pub fn case(config: &Config, focus: Focus, seed: u64, index: u64) -> Case {
    Generator::new(config.clone()).case(focus, seed, index, &mut Coverage::new())
}
