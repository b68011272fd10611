//! Declarations at module scope: size, alignment and initial contents (5.4).

mod declarator;
mod fill;
mod scope;
mod shape;

use std::collections::BTreeMap;
use std::rc::Rc;

use ptxsmith_syntax::{
    Attribute, Declaration, Declarator, Function, FunctionKind, Item, Linkage, Module, Role, ScalarType,
    Specifier, StateSpace,
};

use crate::clause::Clause;
use crate::declaration::{DeclarationContext, Specified, declares_no_name, specified};
use crate::evaluate::Evaluator;
use crate::expectation::{Expectation, Variable};
use crate::reading::{AttributeOrder, Question};
use crate::refusal::{Refusal, RefusalClass, Stop};
use crate::rules::Rules;
use crate::since::inner_declarations;
use crate::step::{Ruled, Trace};
use crate::undecided::Undecided;
use crate::validity::{CONSTANT, NAME, SIZE, is_odd_name};

use self::fill::VariableImage;
use self::scope::{DeclaratorPlace, DeclaratorSite, sites};

pub(crate) use self::{
    scope::{DeclarationScope, aliases, find},
    shape::VariableShape,
};

/// The most bytes computed for all variables of a module together. The contents of further variables are unmodelled, so
/// that a module cannot exhaust memory.
pub const MAX_BYTES: u64 = 1 << 28;
/// The same limit for parameterized names (5.4.6): a short declaration can declare any number of them.
const MAX_NAMES: u64 = 1 << 16;

const PROPERTY: &str = "a property, which initial values of opaque types have";
const REPEATED: &str = "a name that its scope declares more than once";

/// Initial contents of variables that functions declare, by the source offset of the variable's name. For a
/// parameterized name, the entry is its first variable.
pub(crate) type FunctionVariables = BTreeMap<u32, Rc<Variable>>;

/// Computes the initial contents of the variables that functions declare in `.global` and `.const` (5.4.4), except
/// undecided ones.
pub(crate) fn inner(module: &Module, rules: &Rules) -> FunctionVariables {
    let mut declarations = inner_declarations(module);
    if !declarations.any(|inner| matches!(inner.space(), Some(StateSpace::Global | StateSpace::Const))) {
        return FunctionVariables::new();
    }
    contents(module, rules).map_or_else(|_| FunctionVariables::new(), |contents| contents.inner)
}

/// The result of laying out all declarations of a module.
struct ModuleContents {
    variables: Vec<Variable>,
    inner: FunctionVariables,
    unmodelled: Vec<Undecided>,
    trace: Trace,
}

/// Returns what the specification requires a module to contain under these rules.
pub fn expect(module: &Module, rules: &Rules) -> Expectation {
    let ModuleContents { variables, unmodelled, mut trace, .. } = match contents(module, rules) {
        Ok(contents) => contents,
        Err((refusal, trace)) => return Expectation::Refused { refusal, trace },
    };
    let (refusal, checked) = crate::execution::checked(module, rules);
    if let Some(refusal) = refusal {
        return Expectation::Refused { refusal, trace: checked };
    }
    trace = trace.union(checked);
    match unmodelled.first() {
        Some(first) if variables.is_empty() => {
            Expectation::Unmodelled { reason: first.reason, parts: unmodelled }
        }
        _ => Expectation::Accepted { variables, unmodelled, trace },
    }
}

/// Lays out all declarations; `Err` at the first one that the specification rejects.
fn contents(module: &Module, rules: &Rules) -> Result<ModuleContents, (Refusal, Trace)> {
    let mut inner_contents = FunctionVariables::new();
    let scope = DeclarationScope::new(module, rules);
    let mut variables = Vec::new();
    let mut unmodelled = Vec::new();
    let mut trace = Trace::default();
    let mut evaluator = Evaluator::new(rules, scope.version);
    let mut budget = ModuleBudget { bytes: MAX_BYTES, names: MAX_NAMES };
    // The bytes of `.const` variables in function bodies, and the name of the last such variable.
    let mut constant_bytes = 0_u64;
    let mut last = None;
    for (index, item) in module.items.iter().enumerate() {
        let mut inner = None;
        let sites = match item {
            Item::Variables(declaration) => {
                let declarators = declaration.declarators.iter();
                declarators
                    .map(|declarator| DeclaratorSite::at_module_scope(declaration, declarator, &scope))
                    .collect()
            }
            Item::Function(function) => {
                if let Some((refusal, trace)) = function_attributes(function, &scope) {
                    return Err((refusal, trace));
                }
                let found = sites(function, &|declarator| scope.role(declarator, rules));
                unmodelled.extend(found.repeated.iter().map(|name| Undecided::at_name(name, REPEATED)));
                if function.body.is_some() && scope.repeated.contains(&function.name.text) {
                    unmodelled.push(Undecided::at_name(&function.name, REPEATED));
                }
                inner = Some(scope.within(index, &found));
                found.sites
            }
            Item::Unread(unread) => {
                if declares_no_name(unread) {
                    trace.clauses.insert(Clause::Named);
                    let (class, clause) = (RefusalClass::Specifiers, Clause::Named);
                    let refusal = Refusal { class, clause, span: unread.span() };
                    return Err((refusal, trace));
                }
                unmodelled.push(Undecided::unread(unread));
                continue;
            }
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => continue,
        };
        let scope = inner.as_ref().unwrap_or(&scope);
        for (nth, site) in sites.into_iter().enumerate() {
            let place = (index, site.statement, nth);
            let mut work =
                DeclaratorWork::new(rules, scope, place, site.context, &mut evaluator, &mut budget);
            work.leave(!site.repeated, REPEATED);
            let is_global = site.context == DeclarationContext::Module;
            work.leave(!is_global || !is_odd_name(&site.declarator.name.text), NAME);
            let found = work.declarator(site.declaration, site.declarator);
            trace = trace.union(work.trace);
            variables.extend(work.large.take().filter(|_| site.context == DeclarationContext::Module));
            match found {
                // Declarations in functions are only checked: no name at module scope refers to them.
                Ok(found) if site.context == DeclarationContext::Module => variables.extend(found),
                Ok(found) => {
                    for variable in found.iter().filter(|variable| variable.space == StateSpace::Const) {
                        let count = if let Role::Prefix(count) = site.role { count } else { 1 };
                        constant_bytes = constant_bytes.saturating_add(variable.size.saturating_mul(count));
                        last = Some(&site.declarator.name);
                    }
                    let name = site.declarator.name.span;
                    let first = found.into_iter().next().filter(|_| name.is_known());
                    inner_contents.extend(first.map(|first| (name.start, Rc::new(first))));
                }
                Err(Stop::Refused(refusal)) => {
                    return Err((refusal, work.trace));
                }
                Err(Stop::Unmodelled(reason)) => {
                    unmodelled.push(Undecided::at_name(&site.declarator.name, reason));
                }
            }
        }
    }
    for variable in variables.iter().filter(|variable| variable.space == StateSpace::Const) {
        constant_bytes = constant_bytes.saturating_add(variable.size);
    }
    if let Some(name) = last.filter(|_| constant_bytes > CONSTANT) {
        unmodelled.push(Undecided::at_name(name, SIZE));
    }
    Ok(ModuleContents { variables, inner: inner_contents, unmodelled, trace })
}

/// Checks the attributes of a function (5.4.8): they exist since version 8.0; `.unified` is allowed on device functions
/// only.
fn function_attributes(function: &Function, scope: &DeclarationScope) -> Option<(Refusal, Trace)> {
    let mut trace = Trace::default();
    for specifier in function.before.iter().chain(&function.after) {
        let Specifier::Attributes(list) = specifier else { continue };
        for Attribute { name, arguments } in list {
            let too_old = scope.addressing.architecture.is_some_and(|have| have < 90);
            let mut rules = vec![(scope.version >= (8, 0), Clause::FunctionAttributeNeeds80)];
            match name.text.as_str() {
                ".managed" => rules.push((false, Clause::ManagedOnlyGlobal)),
                ".unified" => rules.extend([
                    (arguments.len() == 2, Clause::Unified),
                    (!too_old, Clause::UnifiedNeedsSm90),
                    (function.kind == FunctionKind::Func, Clause::UnifiedOnlyGlobal),
                ]),
                _ => {}
            }
            for (holds, clause) in rules {
                trace.clauses.insert(clause);
                if !holds {
                    let (class, span) = (RefusalClass::Attribute, name.span);
                    return Some((Refusal { class, clause, span }, trace));
                }
            }
        }
    }
    None
}

/// The properties shared by all variables of a declarator, apart from the initial value.
pub(crate) struct DeclaratorLayout {
    pub space: StateSpace,
    pub is_extern: bool,
    pub shape: VariableShape,
    pub align: u64,
    /// The number of names declared, if the name is parameterized.
    pub count: Option<u64>,
}

impl DeclaratorLayout {
    /// Computes the layout of a declarator in a module with this scope.
    pub fn new(
        declaration: &Declaration,
        declarator: &Declarator,
        scope: &DeclarationScope,
        rules: &Rules,
    ) -> Ruled<DeclaratorLayout> {
        let evaluator = &mut Evaluator::new(rules, scope.version);
        let budget = &mut ModuleBudget { bytes: 0, names: 0 };
        // The place only affects references in initializers, and undecided properties do not matter here.
        DeclaratorWork::new(rules, scope, (0, 0, 0), DeclarationContext::Body, evaluator, budget)
            .layout(declaration, declarator)
    }
}

/// The budget that remains for the variables of a module.
struct ModuleBudget {
    bytes: u64,
    names: u64,
}

/// The state of processing one declarator.
struct DeclaratorWork<'a, 'r> {
    rules: &'r Rules,
    scope: &'a DeclarationScope,
    /// The place of the declarator in the module.
    place: DeclaratorPlace,
    context: DeclarationContext,
    evaluator: &'a mut Evaluator<'r>,
    budget: &'a mut ModuleBudget,
    trace: Trace,
    /// Scalars written so far.
    written: u64,
    /// Why the declarator is undecided, if it is.
    undecided: Option<&'static str>,
    /// The layout of a variable that is too large to compute its contents.
    large: Option<Variable>,
}

impl<'a, 'r> DeclaratorWork<'a, 'r> {
    fn new(
        rules: &'r Rules,
        scope: &'a DeclarationScope,
        place: DeclaratorPlace,
        context: DeclarationContext,
        evaluator: &'a mut Evaluator<'r>,
        budget: &'a mut ModuleBudget,
    ) -> DeclaratorWork<'a, 'r> {
        DeclaratorWork {
            rules,
            scope,
            place,
            context,
            evaluator,
            budget,
            trace: Trace::default(),
            written: 0,
            undecided: None,
            large: None,
        }
    }

    /// Marks the declarator as undecided if a condition does not hold. The first reason is kept.
    fn leave(&mut self, holds: bool, reason: &'static str) {
        if !holds {
            self.undecided.get_or_insert(reason);
        }
    }

    fn uses(&mut self, clause: Clause) {
        self.trace.clauses.insert(clause);
    }

    fn refuse<T>(&mut self, class: RefusalClass, clause: Clause, span: ptxsmith_syntax::Span) -> Ruled<T> {
        self.uses(clause);
        Err(Stop::refused(class, clause, span))
    }

    fn layout(&mut self, declaration: &Declaration, declarator: &Declarator) -> Ruled<DeclaratorLayout> {
        let specified = specified(declaration, self.context);
        if let Err(Stop::Refused(refusal)) = &specified {
            self.uses(refusal.clause);
        }
        let Specified { space, scalar, vector, order, undecided } = specified?;
        self.leave(undecided.is_none(), undecided.unwrap_or_default());
        if let Some(order) = order {
            self.trace.questions.insert(Question::AttributeOrder);
            if ![AttributeOrder::Either, order].contains(&self.rules.readings.attribute_order) {
                let (class, clause) = (RefusalClass::Specifiers, Clause::AlignPlace);
                return self.refuse(class, clause, declaration.span);
            }
        }
        self.uses(Clause::StateSpace);
        let is_extern = declaration.linkage().any(|linkage| linkage == Linkage::Extern);
        let vector = self.vector(vector, declaration, scalar)?;
        if scalar == ScalarType::Pred && space != StateSpace::Reg {
            return self.refuse(
                RefusalClass::PredicateSpace,
                Clause::PredicateOnlyInRegisters,
                declaration.span,
            );
        }
        let is_array = !declarator.dimensions.is_empty();
        self.leave(!is_array || space != StateSpace::Reg, "an array of registers");
        if self.context == DeclarationContext::Parameter {
            self.leave(declarator.dimensions.len() < 2, "a parameter of more than one dimension");
            self.leave(declarator.count.is_none(), "a parameterized name as a parameter");
        }
        self.attributes(declaration, space)?;
        self.initializer_allowed(declarator, scalar, space, is_extern)?;
        let count = self.count(declarator)?;
        let extents = self.extents(declarator, is_extern)?;
        let align = self.alignment(declaration, declarator, scalar, vector)?;
        let shape = VariableShape { scalar, scalar_size: scalar.bytes(), vector, extents };
        Ok(DeclaratorLayout { space, is_extern, shape, align, count })
    }

    fn declarator(&mut self, declaration: &Declaration, declarator: &Declarator) -> Ruled<Vec<Variable>> {
        let DeclaratorLayout { space, is_extern, shape, align, count } =
            self.layout(declaration, declarator)?;
        if is_extern || !matches!(space, StateSpace::Global | StateSpace::Const) {
            return self.decided(Vec::new());
        }
        // No name at module scope refers to variables of a function, so one name represents all of them.
        let mut names = match self.context {
            DeclarationContext::Module => self.names(&declarator.name.text, count)?,
            DeclarationContext::Parameter | DeclarationContext::Body => vec![declarator.name.text.clone()],
        };
        self.uses(if shape.levels() == 0 { Clause::Scalar } else { Clause::ArraySize });
        let size = shape.size(self.rules);
        let total = size.checked_mul(names.len() as u64);
        let Some(remaining) = total.and_then(|total| self.budget.bytes.checked_sub(total)) else {
            if size > MAX_BYTES && count.is_none() && self.undecided.is_none() {
                self.large = Some(Variable {
                    name: declarator.name.text.clone(),
                    space,
                    size,
                    align,
                    bytes: Vec::new(),
                    addresses: Vec::new(),
                    trace: self.trace,
                });
            }
            return Err(Stop::Unmodelled("the content of variables of more than 2^28 bytes"));
        };
        self.budget.bytes = remaining;
        let mut bytes = vec![0; size as usize];
        let mut addresses = Vec::new();
        match &declarator.initializer {
            Some(initializer) => {
                let mut memory = VariableImage { bytes: &mut bytes, addresses: &mut addresses };
                self.fill(&shape, 0, 0, initializer, &mut memory)?;
                if self.written * shape.scalar_size < size {
                    self.uses(Clause::DefaultZero);
                }
            }
            None => self.uses(Clause::DefaultZero),
        }
        addresses.sort();
        let trace = self.trace;
        let Some(last) = names.pop() else { return self.decided(Vec::new()) };
        let last = Variable { name: last, space, size, align, bytes, addresses, trace };
        let mut variables: Vec<Variable> =
            names.into_iter().map(|name| Variable { name, ..last.clone() }).collect();
        variables.push(last);
        self.decided(variables)
    }

    /// Returns the result unless something is undecided. Called after all checks, because a refusal takes precedence.
    fn decided<T>(&self, result: T) -> Ruled<T> {
        self.undecided.map_or(Ok(result), |reason| Err(Stop::Unmodelled(reason)))
    }
}
