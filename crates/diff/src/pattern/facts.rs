//! Facts about a whole module that patterns test.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Module, Names, Operand, StateSpace, Statement,
    Text, numbered,
};

use super::node::PatternNode;

/// Facts about a whole module, and about the function that is being visited.
pub(super) struct ModuleFacts<'m> {
    pub module: &'m Module,
    pub version: (u32, u32),
    pub kernels: usize,
    /// The function whose body contains the current statement.
    pub function: Text,
    /// The instructions of that function so far that set registers.
    pub instructions: Vec<PatternNode<'m>>,
    /// The names of the variables that bodies declare.
    pub inner: BTreeSet<&'m str>,
    /// The variables in memory that bodies declare as `PREFIX<N>` or in `.param`, and use. A compiler may
    /// confuse them with variables of the module.
    hiding: Option<Names<()>>,
    /// The functions and kernels, by name.
    functions: BTreeMap<&'m str, FunctionKind>,
}

/// The maximum number of names of a module's `PREFIX<N>` that are looked for in bodies.
const MOST_HIDDEN: u64 = 4_096;

impl<'m> ModuleFacts<'m> {
    pub fn new(module: &'m Module) -> ModuleFacts<'m> {
        let mut inner = BTreeSet::new();
        let mut functions = BTreeMap::new();
        for function in module.functions() {
            functions.insert(function.name.text.as_str(), function.kind);
            for declaration in declarations(function) {
                if declaration.space() != Some(StateSpace::Param) {
                    inner.extend(
                        declaration.declarators.iter().map(|declarator| declarator.name.text.as_str()),
                    );
                }
            }
        }
        ModuleFacts {
            module,
            version: module.version().unwrap_or_default(),
            function: Text::default(),
            instructions: Vec::new(),
            kernels: module.functions().filter(|function| function.kind == FunctionKind::Entry).count(),
            inner,
            hiding: hiding_names(module),
            functions,
        }
    }

    /// Returns true if a body declares and uses a variable in memory, as `PREFIX<N>` or in `.param`, under a
    /// name that this declarator of the module declares.
    pub fn hides(&self, declarator: &Declarator) -> bool {
        let Some(hiding) = &self.hiding else { return false };
        let name = &declarator.name.text;
        match &declarator.count {
            None => is_declared(hiding, name),
            Some(count) => (0..count.as_integer().unwrap_or(u64::MAX).min(MOST_HIDDEN))
                .any(|number| is_declared(hiding, &format!("{name}{number}"))),
        }
    }

    /// Returns true if this is the name of a function, or of a kernel other than the current one.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|kind| *kind == FunctionKind::Func || self.function != name)
    }
}

/// Returns the variables in memory that bodies declare as `PREFIX<N>` or in `.param`, and use.
fn hiding_names(module: &Module) -> Option<Names<()>> {
    let mut hiding = None;
    for function in module.functions() {
        let used: BTreeSet<&str> = function.statements().flat_map(statement_names).collect();
        for declaration in declarations(function) {
            if declaration.space() == Some(StateSpace::Reg) {
                continue;
            }
            let is_parameter = declaration.space() == Some(StateSpace::Param);
            for declarator in &declaration.declarators {
                if (declarator.count.is_some() || is_parameter) && has_name(&used, declarator) {
                    let names = hiding.get_or_insert_default();
                    declare(names, &declarator.name.text, declarator.count.as_ref(), ());
                }
            }
        }
    }
    hiding
}

/// Returns the names that an instruction uses.
fn statement_names(statement: &Statement) -> Vec<&str> {
    match statement {
        Statement::Instruction(instruction) => instruction.operands.iter().flat_map(operand_names).collect(),
        Statement::Tokens(tokens) => tokens.iter().map(|token| token.text.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the declarations of variables in a body.
fn declarations(function: &Function) -> impl Iterator<Item = &Declaration> {
    function.statements().filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    })
}

fn is_declared<T>(names: &Names<T>, name: &str) -> bool {
    names.find(name, |_, digits| numbered(digits)).declared().is_some()
}

pub(super) fn declare<T>(names: &mut Names<T>, name: &Text, count: Option<&Expr>, value: T) {
    match count {
        Some(count) => names.declare_numbered(name.clone(), value, count.as_integer().unwrap_or(u64::MAX)),
        None => names.declare(name.clone(), value),
    }
}

/// Returns true if the declarator declares one of these names.
pub(super) fn has_name(names: &BTreeSet<&str>, declarator: &Declarator) -> bool {
    if declarator.count.is_none() {
        return names.contains(declarator.name.text.as_str());
    }
    let mut declared = Names::default();
    declare(&mut declared, &declarator.name.text, declarator.count.as_ref(), ());
    names.iter().any(|name| is_declared(&declared, name))
}

pub(super) fn operand_names(operand: &Operand) -> Vec<&str> {
    match operand {
        Operand::Value(expr) | Operand::Address(expr) => expr.names().map(|name| name.as_str()).collect(),
        Operand::Element(name, _) | Operand::Component(name, _) => vec![&name.text],
        Operand::Vector(parts) | Operand::List(parts) => parts.iter().flat_map(operand_names).collect(),
    }
}
