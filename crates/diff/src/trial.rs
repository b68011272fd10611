//! A program fragment that is shown to a subject, alone or with many others in one module.

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Header, Initializer, Item, Module, ScalarType, Spacing, StateSpace,
    Statement, prefixed, print,
};

/// The content of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialBody {
    /// One value of a type in a state space. Alone it is a scalar variable `x`; in a batch, an element of an
    /// array.
    Expression {
        /// The type to which the value is converted.
        ty: ScalarType,
        /// The state space, `.global` or `.const`.
        space: StateSpace,
        /// The constant expression.
        expr: Expr,
    },
    /// Statements at module scope: declarations, and functions that the declarations take the address of.
    /// Other trials of the same module cannot refer to their names.
    Items(Vec<Item>),
    /// Declarations that put one constant in many places: it is the last scalar of each variable or, if it
    /// has eight bytes and the variable is a byte array, all of the variable. Two different values are a
    /// contradiction even if no rule decides which is right.
    Contexts(Vec<Item>),
}

impl TrialBody {
    /// Returns the statements; `None` for an expression.
    pub fn items(&self) -> Option<&[Item]> {
        match self {
            TrialBody::Expression { .. } => None,
            TrialBody::Items(items) | TrialBody::Contexts(items) => Some(items),
        }
    }
}

/// A test case, small enough to be reported unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The number in the campaign; trials are reported in this order.
    pub id: u64,
    /// The content.
    pub body: TrialBody,
    /// The spacing of the printed text.
    pub spacing: Spacing,
}

/// The name of the variable that an expression initializes in a module of its own.
pub(crate) const ALONE: &str = "x";

impl Trial {
    /// Creates a trial with canonical spacing.
    pub fn new(id: u64, body: TrialBody) -> Trial {
        Trial { id, body, spacing: Spacing::Canonical }
    }

    /// Creates a trial from the declarations and functions of a module, to test the output of its kernels.
    pub(crate) fn of_kernels(id: u64, module: &Module) -> Trial {
        let items = module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
        Trial::new(id, TrialBody::Items(items.cloned().collect()))
    }

    /// Returns the trial as a module of its own.
    pub fn module(&self, header: &Header) -> Module {
        header.module(self.items())
    }

    /// Returns the statements of the trial's own module, without the header.
    pub(crate) fn items(&self) -> Vec<Item> {
        match &self.body {
            TrialBody::Expression { ty, space, expr } => {
                vec![Item::Variables(Declaration::scalar(*space, *ty, ALONE, expr.clone()))]
            }
            TrialBody::Items(items) | TrialBody::Contexts(items) => items.clone(),
        }
    }

    /// Prints the trial as a module of its own. The header has canonical spacing, so that simple parsers find
    /// it.
    pub fn text(&self, header: &Header) -> String {
        self.text_of(header, self.items())
    }

    /// Does the same as [`Trial::text`], with a prefix on all declared names.
    pub(crate) fn prefixed_text(&self, header: &Header, prefix: &str) -> String {
        self.text_of(header, prefixed(&self.items(), prefix))
    }

    fn text_of(&self, header: &Header, items: Vec<Item>) -> String {
        let text = print(&header.module([])) + &self.spacing.print(&Module { items });
        if self.ends_in_comment() { text + "//" } else { text }
    }

    /// Returns true if the printed text ends in a comment without a line break.
    pub(crate) fn ends_in_comment(&self) -> bool {
        matches!(self.spacing, Spacing::Odd(number) if number.is_multiple_of(4))
    }

    /// Returns the size of the trial. The smallest trial becomes the example of a finding.
    pub fn weight(&self) -> usize {
        let odd = usize::from(self.spacing != Spacing::Canonical);
        odd + match &self.body {
            TrialBody::Expression { expr, .. } => 3 + expr.nodes().len(),
            TrialBody::Items(items) | TrialBody::Contexts(items) => items.iter().map(item_weight).sum(),
        }
    }
}

fn item_weight(item: &Item) -> usize {
    match item {
        Item::Variables(declaration) => declaration_weight(declaration),
        Item::Function(function) => 6 + function.statements().map(statement_weight).sum::<usize>(),
        Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) | Item::Unread(_) => 2,
    }
}

/// Returns the weight of a statement, not counting nested statements.
fn statement_weight(statement: &Statement) -> usize {
    match statement {
        Statement::Variables(declaration) => declaration_weight(declaration),
        Statement::Block(_) => 1,
        Statement::Instruction(instruction) => 1 + instruction.operands.len(),
        Statement::Label(_) | Statement::BranchTargets(_) => 2,
        Statement::Tokens(tokens) => tokens.len(),
        Statement::Unread(unread) => unread.tokens.len(),
    }
}

fn declaration_weight(declaration: &Declaration) -> usize {
    declaration.specifiers.len() + declaration.declarators.iter().map(declarator_weight).sum::<usize>()
}

fn declarator_weight(declarator: &Declarator) -> usize {
    let dimensions = &declarator.dimensions;
    1 + 2 * dimensions.len()
        + dimensions.iter().flatten().map(|expr| expr.nodes().len()).sum::<usize>()
        + declarator.initializer.as_ref().map_or(0, initializer_weight)
}

fn initializer_weight(initializer: &Initializer) -> usize {
    match initializer {
        Initializer::Value(expr) => expr.nodes().len(),
        Initializer::List(list) => 2 + list.items.iter().map(initializer_weight).sum::<usize>(),
        Initializer::Property(_) => 3,
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::{parse, parse_expr};

    use super::*;

    fn weight(text: &str) -> usize {
        let module = parse(text).expect("it is PTX");
        Trial::new(0, TrialBody::Items(module.items)).weight()
    }

    fn expression(spacing: Spacing) -> Trial {
        let expr = parse_expr("1 + 2").expect("it is an expression");
        Trial {
            spacing,
            ..Trial::new(0, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
        }
    }

    #[test]
    fn a_weight_counts_what_a_person_reads() {
        // Two specifiers and a name; then with a value; then with a dimension and a list of two.
        assert_eq!(weight(".global .u32 x;"), 3);
        assert_eq!(weight(".global .u32 x = 1;"), 4);
        assert_eq!(weight(".global .u32 x[2] = {1, 2};"), 3 + (2 + 1) + (2 + 2));
        assert_eq!(weight(".global .u32 x, y;"), 4);
        // 6 for a function, 4 for an instruction with three operands, 1 for one without, and 3 for a
        // declaration.
        assert_eq!(weight(".func f() { .reg .u32 r; add.u32 r, r, r; ret; }"), 6 + 3 + 4 + 1);
        assert_eq!(weight(".func f() { { ret; } }"), 6 + 1 + 1);
        assert_eq!(weight(".version 7.8\n"), 2);
        // Three nodes and 3 for their declaration; odd spacing adds 1.
        assert_eq!(expression(Spacing::Canonical).weight(), 3 + 3);
        assert_eq!(expression(Spacing::Odd(1)).weight(), 3 + 3 + 1);
    }

    #[test]
    fn of_oddly_spaced_texts_one_in_four_ends_in_a_comment() {
        let ends = |spacing| expression(spacing).text(&Header::default()).ends_with("//");
        let odd = (0..8).map(|number| ends(Spacing::Odd(number)));
        assert!(odd.eq([true, false, false, false, true, false, false, false]));
        assert!(!ends(Spacing::Canonical));
    }

    #[test]
    fn only_an_expression_has_no_statements() {
        assert_eq!(expression(Spacing::Canonical).body.items(), None);
        let items = parse(".global .u32 x;").expect("it is PTX").items;
        for body in [TrialBody::Items(items.clone()), TrialBody::Contexts(items.clone())] {
            assert_eq!(body.items(), Some(&items[..]));
        }
    }
}
