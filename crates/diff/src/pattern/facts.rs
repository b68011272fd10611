//! Facts about a whole module that patterns test.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Module, Names, Operand, StateSpace, Statement,
    Text, numbered,
};

/// Facts about a whole module, and about the function that is being visited.
pub(super) struct Facts<'m> {
    pub module: &'m Module,
    pub version: (u32, u32),
    pub kernels: usize,
    /// The function whose body contains the current statement.
    pub function: Text,
    /// The names of the variables that bodies declare.
    pub inner: BTreeSet<&'m str>,
    /// The variables in memory that bodies declare as `PREFIX<N>` or in `.param`, and use. A compiler may confuse them with variables of
    /// the module.
    hiding: Option<Names<()>>,
    /// The functions and kernels, by name.
    functions: BTreeMap<&'m str, FunctionKind>,
}

/// The maximum number of names of a module's `PREFIX<N>` that are looked for in bodies.
const MOST_HIDDEN: u64 = 4_096;

impl<'m> Facts<'m> {
    pub fn of(module: &'m Module) -> Facts<'m> {
        let inner = inner_declarations(module).filter(|own| own.space() != Some(StateSpace::Param));
        Facts {
            module,
            version: module.version().unwrap_or_default(),
            function: Text::default(),
            kernels: module.functions().filter(|function| function.kind == FunctionKind::Entry).count(),
            inner: inner.flat_map(|own| &own.declarators).map(|own| own.name.text.as_str()).collect(),
            hiding: hiding(module),
            functions: module
                .functions()
                .map(|function| (function.name.text.as_str(), function.kind))
                .collect(),
        }
    }

    /// Whether a body declares a variable in memory, as `PREFIX<N>` or in `.param`, under a name that this declarator of the module
    /// declares, and uses it.
    pub fn hides(&self, declarator: &Declarator) -> bool {
        let Some(hiding) = &self.hiding else { return false };
        let is_hidden = |name: &str| hiding.find(name, |_, digits| numbered(digits)).declared().is_some();
        let name = &declarator.name.text;
        match &declarator.count {
            None => is_hidden(name),
            Some(count) => (0..count.as_integer().unwrap_or(u64::MAX).min(MOST_HIDDEN))
                .any(|number| is_hidden(&format!("{name}{number}"))),
        }
    }

    /// Whether this is the name of a function, or of a kernel other than the current one.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|kind| *kind == FunctionKind::Func || self.function != name)
    }
}

fn hiding(module: &Module) -> Option<Names<()>> {
    let mut hiding = None;
    for function in module.functions() {
        let used: BTreeSet<&str> = function.statements().flat_map(statement_names).collect();
        let declarations = function.statements().filter_map(|statement| match statement {
            Statement::Variables(declaration) => Some(declaration),
            _ => None,
        });
        for declaration in declarations.filter(|own| own.space() != Some(StateSpace::Reg)) {
            let is_parameter = declaration.space() == Some(StateSpace::Param);
            let hides = |own: &&Declarator| (own.count.is_some() || is_parameter) && has_name(&used, own);
            for own in declaration.declarators.iter().filter(hides) {
                declare(hiding.get_or_insert_default(), &own.name.text, own.count.as_ref(), ());
            }
        }
    }
    hiding
}

/// Returns the names that an instruction uses.
fn statement_names(statement: &Statement) -> Vec<&str> {
    match statement {
        Statement::Instruction(own) => own.operands.iter().flat_map(operand_names).collect(),
        Statement::Tokens(tokens) => tokens.iter().map(|token| token.text.as_str()).collect(),
        _ => Vec::new(),
    }
}

fn inner_declarations(module: &Module) -> impl Iterator<Item = &Declaration> {
    module.functions().flat_map(Function::statements).filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    })
}

pub(super) fn declare<T>(names: &mut Names<T>, name: &Text, count: Option<&Expr>, thing: T) {
    match count {
        Some(count) => names.declare_numbered(name.clone(), thing, count.as_integer().unwrap_or(u64::MAX)),
        None => names.declare(name.clone(), thing),
    }
}

/// Whether the declarator declares one of these names.
pub(super) fn has_name(names: &BTreeSet<&str>, declarator: &Declarator) -> bool {
    let mut declared = Names::default();
    declare(&mut declared, &declarator.name.text, declarator.count.as_ref(), ());
    let is_declared = |name: &&str| declared.find(name, |_, digits| numbered(digits)).declared().is_some();
    match declarator.count {
        Some(_) => names.iter().any(is_declared),
        None => names.contains(declarator.name.text.as_str()),
    }
}

pub(super) fn operand_names(operand: &Operand) -> Vec<&str> {
    match operand {
        Operand::Value(expr) | Operand::Address(expr) => expr.names().map(|name| name.as_str()).collect(),
        Operand::Element(name, _) | Operand::Component(name, _) => vec![&name.text],
        Operand::Vector(parts) | Operand::List(parts) => parts.iter().flat_map(operand_names).collect(),
    }
}
