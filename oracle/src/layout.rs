//! Declarations at module scope: size, alignment and initial contents (5.4).

use std::{collections::BTreeSet, rc::Rc};

use ptxsmith_syntax::{
    Attribute, Declaration, Declarator, Expr, Found, Function, Initializer, Item, Linkage, Module, Name,
    Names, NodeKind, Role, ScalarType, Specifier, StateSpace, Statement, Text, TypeKind, VectorLength,
};

use crate::{
    address::Named,
    clause::Clause,
    declaration::{Context, Specified, declares_no_name, specified},
    evaluate::Evaluator,
    expectation::{Address, Expectation, Variable},
    reading::{
        EmptyList, ForwardReference, IncompleteVector, Question, SelfReference, TrailingComma, ZeroDimension,
    },
    refusal::{Refusal, RefusalClass, Stop},
    rules::Rules,
    step::{Placement, Ruled, Step, Stored, Trace},
    undecided::Undecided,
    value,
};

/// The bytes that are worked out for the variables of a module together; those that are more are unmodelled, so that no module
/// can ask for all memory.
pub const MAX_BYTES: u64 = 1 << 28;
/// The same for parameterized names (5.4.6), of which a few letters declare any number.
pub(crate) const MAX_NAMES: u64 = 1 << 16;

const PROPERTY: &str = "a property, which initial values of opaque types have";
const REPEATED: &str = "a name that its scope declares more than once";

/// Where something is declared: which statement of the module, and which declarator of that.
type Place = (usize, usize);

/// A name, and where it is declared first.
#[derive(Clone, Copy, Debug)]
struct Declared {
    symbol: Named,
    at: Place,
}

/// What the module says that a single declaration depends on.
#[derive(Clone)]
pub(crate) struct Scope {
    names: Rc<Names<Declared>>,
    /// The names at module scope that are declared more than once.
    repeated: Rc<BTreeSet<Text>>,
    version: (u32, u32),
    /// The compute capability of the first target, as in `sm_80`; `None` where it is not of that form.
    architecture: Option<u32>,
    /// Whether something may be declared by a statement that is not understood.
    unread: bool,
}

/// What the specification says that a module holds, under these rules.
pub fn expect(module: &Module, rules: &Rules) -> Expectation {
    let scope = Scope::of(module, rules);
    let mut variables = Vec::new();
    let mut unmodelled = Vec::new();
    let mut trace = Trace::default();
    let mut evaluator = Evaluator::new(rules, scope.version);
    let mut left = Left { bytes: MAX_BYTES, names: MAX_NAMES };
    for (index, item) in module.items.iter().enumerate() {
        let mut inner = None;
        let sites = match item {
            Item::Variables(declaration) => {
                let site = |declarator| Site::at_module_scope(declaration, declarator, &scope);
                declaration.declarators.iter().map(site).collect()
            }
            Item::Function(function) => {
                if let Some((refusal, trace)) = function_attributes(function, &scope) {
                    return Expectation::Refused { refusal, trace };
                }
                let found = sites(function, &|declarator| scope.role(declarator, rules));
                unmodelled.extend(found.repeated.iter().map(|name| Undecided::of(name, REPEATED)));
                if function.body.is_some() && scope.repeated.contains(&function.name.text) {
                    unmodelled.push(Undecided::of(&function.name, REPEATED));
                }
                inner = Some(scope.within(index, &found));
                found.sites
            }
            Item::Unread(unread) => {
                if declares_no_name(unread) {
                    trace.clauses.insert(Clause::Named);
                    let (class, clause) = (RefusalClass::Specifiers, Clause::Named);
                    let refusal = Refusal { class, clause, span: unread.span() };
                    return Expectation::Refused { refusal, trace };
                }
                unmodelled.push(Undecided::unread(unread));
                continue;
            }
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => continue,
        };
        let scope = inner.as_ref().unwrap_or(&scope);
        for (nth, site) in sites.into_iter().enumerate() {
            let here = (index, nth);
            let mut work = Work::new(rules, scope, here, site.context, &mut evaluator, &mut left);
            work.leave(!site.repeated, REPEATED);
            let found = work.declarator(site.declaration, site.declarator);
            trace = trace.union(work.trace);
            match found {
                // What is declared in a function is checked; no name at module scope stands for it.
                Ok(found) if site.context == Context::Module => variables.extend(found),
                Ok(_) => {}
                Err(Stop::Refused(refusal)) => {
                    return Expectation::Refused { refusal, trace: work.trace };
                }
                Err(Stop::Unmodelled(reason)) => {
                    unmodelled.push(Undecided::of(&site.declarator.name, reason));
                }
            }
        }
    }
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

/// 5.4.8: attributes of functions exist since version 8.0.
fn function_attributes(function: &Function, scope: &Scope) -> Option<(Refusal, Trace)> {
    let attributes = function.before.iter().chain(&function.after);
    let attribute = attributes.into_iter().find_map(|specifier| match specifier {
        Specifier::Attributes(list) => list.first(),
        _ => None,
    })?;
    if scope.version >= (8, 0) {
        return None;
    }
    let (class, clause) = (RefusalClass::Attribute, Clause::FunctionAttributeNeeds80);
    let mut trace = Trace::default();
    trace.clauses.insert(clause);
    Some((Refusal { class, clause, span: attribute.name.span }, trace))
}

/// One variable that is declared, and where.
struct Site<'m> {
    declaration: &'m Declaration,
    declarator: &'m Declarator,
    context: Context,
    role: Role,
    /// Whether its scope declares the name more than once.
    repeated: bool,
}

impl<'m> Site<'m> {
    fn at_module_scope(declaration: &'m Declaration, declarator: &'m Declarator, scope: &Scope) -> Site<'m> {
        let repeated = scope.repeated.contains(&declarator.name.text);
        Site { declaration, declarator, context: Context::Module, role: declarator.role(), repeated }
    }
}

/// What a function declares.
#[derive(Default)]
struct Sites<'m> {
    /// Results, parameters, and the variables of the body, those in blocks included, in the order written.
    sites: Vec<Site<'m>>,
    labels: Vec<&'m Name>,
    /// The labels that their block declares in another way too.
    repeated: Vec<&'m Name>,
    /// Whether a statement is not understood, which may declare something.
    unread: bool,
}

impl<'m> Sites<'m> {
    fn add(
        &mut self,
        declaration: &'m Declaration,
        context: Context,
        names: &mut Names<()>,
        role: &impl Fn(&Declarator) -> Role,
    ) {
        for declarator in &declaration.declarators {
            let (name, role) = (&declarator.name.text, role(declarator));
            // A parameter of a prototype may go without a name.
            let repeated = names.declares(name, role) && name != "_";
            names.declare_by_role(name, role, ());
            self.sites.push(Site { declaration, declarator, context, role, repeated });
        }
    }
}

fn sites<'m>(function: &'m Function, role: &impl Fn(&Declarator) -> Role) -> Sites<'m> {
    let mut found = Sites::default();
    let mut names = Names::default();
    for declaration in function.results.iter().chain(&function.parameters).flatten() {
        found.add(declaration, Context::Parameter, &mut names, role);
    }
    let mut open = vec![(function.body.as_deref().unwrap_or_default().iter(), names)];
    while let Some((statements, names)) = open.last_mut() {
        match statements.next() {
            None => drop(open.pop()),
            Some(Statement::Block(inner)) => open.push((inner.iter(), Names::default())),
            Some(Statement::Variables(declaration)) => found.add(declaration, Context::Body, names, role),
            Some(Statement::Label(label)) => {
                if names.declares(&label.text, Role::Label) {
                    found.repeated.push(label);
                }
                names.declare(label.text.clone(), ());
                found.labels.push(label);
            }
            Some(Statement::Unread(_)) => found.unread = true,
            Some(Statement::Instruction(_) | Statement::BranchTargets(_) | Statement::Tokens(_)) => {}
        }
    }
    found
}

impl Scope {
    /// The scope with what the function at `index` declares.
    fn within(&self, index: usize, found: &Sites<'_>) -> Scope {
        let mut names = Names::within(self.names.clone());
        for label in &found.labels {
            // A label is refused wherever it stands, so it may as well stand in front.
            names.declare(label.text.clone(), Declared { symbol: Named::Label, at: (0, 0) });
        }
        for (nth, site) in found.sites.iter().enumerate() {
            let declared = Declared { symbol: Named::Variable(site.declaration.space()), at: (index, nth) };
            names.declare_by_role(&site.declarator.name.text, site.role, declared);
        }
        Scope { names: Rc::new(names), unread: self.unread || found.unread, ..self.clone() }
    }

    pub fn of(module: &Module, rules: &Rules) -> Scope {
        let architecture = module.targets().find_map(|target| {
            let digits: String =
                target.strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        let version = module.version().unwrap_or((u32::MAX, 0));
        let mut scope =
            Scope { names: Rc::default(), repeated: Rc::default(), version, architecture, unread: false };
        let mut names = Names::default();
        let mut defined = BTreeSet::new();
        let mut repeated = BTreeSet::new();
        for (index, item) in module.items.iter().enumerate() {
            match item {
                Item::Variables(declaration) => {
                    for (nth, declarator) in declaration.declarators.iter().enumerate() {
                        let (name, role) = (&declarator.name.text, scope.role(declarator, rules));
                        // The first declaration of several is what counts.
                        if names.declares(name, role) {
                            repeated.insert(name.clone());
                        } else {
                            let symbol = Named::Variable(declaration.space());
                            names.declare_by_role(name, role, Declared { symbol, at: (index, nth) });
                        }
                    }
                }
                Item::Function(function) => {
                    let name = &function.name.text;
                    let before = names.find(name, |_, number| ptxsmith_syntax::is_number(number)).declared();
                    let is_function =
                        before.is_none_or(|declared| matches!(declared.symbol, Named::Function(_)));
                    // Prototypes may be repeated.
                    if !is_function || (function.body.is_some() && !defined.insert(name)) {
                        repeated.insert(name.clone());
                    }
                    let declared = Declared { symbol: Named::Function(function.kind), at: (index, 0) };
                    names.declare_new(name.clone(), declared);
                }
                Item::Unread(_) => scope.unread = true,
                Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => {}
            }
        }
        Scope { names: Rc::new(names), repeated: Rc::new(repeated), ..scope }
    }

    /// What the name of a declarator does, its count evaluated. A count that is none is refused where the declaration is judged.
    fn role(&self, declarator: &Declarator, rules: &Rules) -> Role {
        let Some(count) = &declarator.count else { return Role::Variable };
        let rule = (RefusalClass::Parameterized, Clause::ParameterizedNames);
        let count = Evaluator::new(rules, self.version).integer(count, rule, &mut Trace::default());
        Role::Prefix(count.map_or(0, |count| count.bits))
    }
}

/// Looks a name up under these rules, which say what a parameterized name is (5.4.6).
pub(crate) fn find<'n, T>(names: &'n Names<T>, name: &str, rules: &Rules) -> Found<'n, T> {
    names.find(name, |prefix, number| rules.layout.numbered.apply(prefix, number))
}

/// The type of a variable: its scalars and how they are grouped.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub scalar: ScalarType,
    scalar_size: u64,
    /// Scalars in a vector, where the type is one.
    pub vector: Option<u64>,
    /// The extents of the array, outermost first.
    pub extents: Vec<u64>,
}

impl Shape {
    /// The extents of all levels of braces: the dimensions, then the vector.
    fn levels(&self) -> usize {
        self.extents.len() + usize::from(self.vector.is_some())
    }

    fn extent(&self, level: usize) -> u64 {
        self.extents.get(level).copied().or(self.vector).unwrap_or(1)
    }

    fn is_vector_level(&self, level: usize) -> bool {
        level == self.extents.len()
    }

    /// Scalars below an entry of this level; `None` past 2^64.
    fn stride(&self, level: usize) -> Option<u64> {
        let inner = self.extents.get(level + 1..).unwrap_or(&[]);
        let vector = if level < self.extents.len() { self.vector.unwrap_or(1) } else { 1 };
        inner.iter().try_fold(vector, |product, &extent| product.checked_mul(extent))
    }

    fn scalars(&self) -> Option<u64> {
        self.extents.iter().try_fold(self.vector.unwrap_or(1), |product, &extent| product.checked_mul(extent))
    }

    /// Bytes of the variable; `None` past 2^64.
    pub fn size(&self) -> Option<u64> {
        self.scalars()?.checked_mul(self.scalar_size)
    }
}

/// What a declarator says of each variable that it declares, whatever its initial value.
pub(crate) struct Layout {
    pub space: StateSpace,
    pub is_extern: bool,
    pub shape: Shape,
    pub align: u64,
    /// How many names it declares, where they are parameterized.
    pub count: Option<u64>,
}

impl Layout {
    /// The layout of a declarator of a module whose scope this is.
    pub fn of(
        declaration: &Declaration,
        declarator: &Declarator,
        scope: &Scope,
        rules: &Rules,
    ) -> Ruled<Layout> {
        let evaluator = &mut Evaluator::new(rules, scope.version);
        let left = &mut Left { bytes: 0, names: 0 };
        // What is refused does not depend on where it stands, nor does what is left undecided matter here.
        Work::new(rules, scope, (0, 0), Context::Body, evaluator, left).layout(declaration, declarator)
    }
}

/// What the variables of a module may still take.
struct Left {
    bytes: u64,
    names: u64,
}

/// One declarator at work.
struct Work<'a, 'r> {
    rules: &'r Rules,
    scope: &'a Scope,
    /// Which declarator it is.
    here: Place,
    context: Context,
    evaluator: &'a mut Evaluator<'r>,
    left: &'a mut Left,
    trace: Trace,
    /// Scalars written so far.
    written: u64,
    /// What of it the text at hand does not decide.
    undecided: Option<&'static str>,
}

impl<'a, 'r> Work<'a, 'r> {
    fn new(
        rules: &'r Rules,
        scope: &'a Scope,
        here: Place,
        context: Context,
        evaluator: &'a mut Evaluator<'r>,
        left: &'a mut Left,
    ) -> Work<'a, 'r> {
        let trace = Trace::default();
        Work { rules, scope, here, context, evaluator, left, trace, written: 0, undecided: None }
    }

    /// Leaves the declarator undecided where this does not hold.
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

    fn layout(&mut self, declaration: &Declaration, declarator: &Declarator) -> Ruled<Layout> {
        let specified = specified(declaration, self.context);
        if let Err(Stop::Refused(refusal)) = &specified {
            self.uses(refusal.clause);
        }
        let Specified { space, scalar, vector, undecided } = specified?;
        self.leave(undecided.is_none(), undecided.unwrap_or_default());
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
        if self.context == Context::Parameter {
            self.leave(declarator.dimensions.len() < 2, "a parameter of more than one dimension");
            self.leave(declarator.count.is_none(), "a parameterized name as a parameter");
        }
        self.attributes(declaration, space)?;
        self.initializer_allowed(declarator, scalar, space, is_extern)?;
        let count = self.count(declarator)?;
        let extents = self.extents(declarator, is_extern)?;
        let align = self.alignment(declaration, declarator, scalar, vector)?;
        let shape = Shape { scalar, scalar_size: scalar.size().unwrap_or(0), vector, extents };
        Ok(Layout { space, is_extern, shape, align, count })
    }

    fn declarator(&mut self, declaration: &Declaration, declarator: &Declarator) -> Ruled<Vec<Variable>> {
        let Layout { space, is_extern, shape, align, count } = self.layout(declaration, declarator)?;
        if is_extern || !matches!(space, StateSpace::Global | StateSpace::Const) {
            return self.decided(Vec::new());
        }
        let mut names = self.names(&declarator.name.text, count)?;
        let size = shape.size();
        let all = size.and_then(|size| size.checked_mul(names.len() as u64));
        let left = all.and_then(|all| self.left.bytes.checked_sub(all));
        let (Some(size), Some(left)) = (size, left) else {
            return Err(Stop::Unmodelled("variables of more than 2^28 bytes"));
        };
        self.left.bytes = left;
        self.uses(if shape.levels() == 0 { Clause::Scalar } else { Clause::ArraySize });
        let mut bytes = vec![0; size as usize];
        let mut addresses = Vec::new();
        match &declarator.initializer {
            Some(initializer) => {
                let mut memory = Memory { bytes: &mut bytes, addresses: &mut addresses };
                self.fill(&shape, 0, 0, initializer, &mut memory)?;
                if self.written * shape.scalar_size < size {
                    self.uses(Clause::DefaultZero);
                }
            }
            None => self.uses(Clause::DefaultZero),
        }
        addresses.sort();
        let trace = self.trace;
        let variable =
            |name, bytes, addresses| Variable { name, space, size, align, bytes, addresses, trace };
        let last = names.pop();
        let mut found: Vec<Variable> =
            names.into_iter().map(|name| variable(name, bytes.clone(), addresses.clone())).collect();
        found.extend(last.map(|name| variable(name, bytes, addresses)));
        self.decided(found)
    }

    /// The result, unless something is undecided: a refusal goes before that.
    fn decided<T>(&self, result: T) -> Ruled<T> {
        self.undecided.map_or(Ok(result), |reason| Err(Stop::Unmodelled(reason)))
    }

    /// 5.4.2: the length of the vector, if the type is one.
    fn vector(
        &mut self,
        length: Option<VectorLength>,
        declaration: &Declaration,
        scalar: ScalarType,
    ) -> Ruled<Option<u64>> {
        let Some(length) = length else { return Ok(None) };
        let count = length.count();
        if !matches!(count, 2 | 4) {
            return self.refuse(RefusalClass::VectorLength, Clause::VectorOtherLength, declaration.span);
        }
        self.uses(Clause::VectorLength);
        let Some(size) = scalar.size() else {
            return self.refuse(RefusalClass::VectorType, Clause::VectorNoPredicate, declaration.span);
        };
        if count * size > 16 {
            return self.refuse(RefusalClass::VectorSize, Clause::VectorSizeLimit, declaration.span);
        }
        Ok(Some(count))
    }

    /// 5.4.4: whether there may be an initializer at all.
    fn initializer_allowed(
        &mut self,
        declarator: &Declarator,
        scalar: ScalarType,
        space: StateSpace,
        is_extern: bool,
    ) -> Ruled<()> {
        let Some(initializer) = &declarator.initializer else { return Ok(()) };
        let span = initializer.span();
        if is_extern {
            return self.refuse(RefusalClass::ExternInitializer, Clause::NoExternInitializer, span);
        }
        if !matches!(space, StateSpace::Global | StateSpace::Const) {
            return self.refuse(RefusalClass::InitializerSpace, Clause::OnlyGlobalConst, span);
        }
        if matches!(scalar, ScalarType::F16 | ScalarType::F16x2) || scalar.kind() == TypeKind::Predicate {
            return self.refuse(RefusalClass::TypeWithoutInitializer, Clause::TypeAllowsInitializer, span);
        }
        self.uses(Clause::OnlyGlobalConst);
        Ok(())
    }

    /// 5.4.6: the names that a declarator declares.
    fn count(&mut self, declarator: &Declarator) -> Ruled<Option<u64>> {
        let Some(count) = &declarator.count else { return Ok(None) };
        self.uses(Clause::ParameterizedNames);
        if !declarator.dimensions.is_empty() {
            return self.refuse(
                RefusalClass::Parameterized,
                Clause::ParameterizedNoArray,
                declarator.name.span,
            );
        }
        if let Some(initializer) = &declarator.initializer {
            let span = initializer.span();
            return self.refuse(RefusalClass::Parameterized, Clause::ParameterizedNoInitializer, span);
        }
        let rule = (RefusalClass::Parameterized, Clause::ParameterizedNames);
        Ok(Some(self.evaluator.integer(count, rule, &mut self.trace)?.bits))
    }

    /// The names that a declarator stands for, once it is known that so many are left.
    fn names(&mut self, name: &Text, count: Option<u64>) -> Ruled<Vec<Text>> {
        let Some(count) = count else { return Ok(vec![name.clone()]) };
        let Some(left) = self.left.names.checked_sub(count) else {
            return Err(Stop::Unmodelled("more than 2^16 parameterized names"));
        };
        self.left.names = left;
        Ok((0..count).map(|index| format!("{name}{index}").into()).collect())
    }

    /// 5.4.3: the extents of an array.
    fn extents(&mut self, declarator: &Declarator, is_extern: bool) -> Ruled<Vec<u64>> {
        let mut extents = Vec::with_capacity(declarator.dimensions.len());
        for (level, dimension) in declarator.dimensions.iter().enumerate() {
            let extent = match dimension {
                Some(dimension) => self.extent(dimension)?,
                None if level > 0 => {
                    let span = declarator.name.span;
                    return self.refuse(RefusalClass::OmittedDimension, Clause::OnlyFirstOmitted, span);
                }
                None => self.omitted_extent(declarator, is_extern)?,
            };
            extents.push(extent);
        }
        Ok(extents)
    }

    fn extent(&mut self, dimension: &Expr) -> Ruled<u64> {
        let rule = (RefusalClass::Dimension, Clause::Dimension);
        let extent = self.evaluator.integer(dimension, rule, &mut self.trace)?;
        let readings = &self.rules.readings;
        let mut step = Step { readings, trace: &mut self.trace, span: dimension.span(), pending: &mut None };
        let extent = self.rules.layout.dimension.apply(&mut step, dimension, extent)?;
        if extent.signed && (extent.bits as i64) < 0 {
            return self.refuse(RefusalClass::Dimension, Clause::Dimension, dimension.span());
        }
        if extent.bits == 0 {
            self.trace.questions.insert(Question::ZeroDimension);
            if self.rules.readings.zero_dimension == ZeroDimension::Refused {
                return self.refuse(RefusalClass::Dimension, Clause::Dimension, dimension.span());
            }
        }
        Ok(extent.bits)
    }

    fn omitted_extent(&mut self, declarator: &Declarator, is_extern: bool) -> Ruled<u64> {
        match &declarator.initializer {
            Some(Initializer::List(list)) if list.items.is_empty() => {
                self.trace.questions.insert(Question::ZeroDimension);
                if self.rules.readings.zero_dimension == ZeroDimension::Refused {
                    return self.refuse(
                        RefusalClass::OmittedDimension,
                        Clause::FirstDimensionOmitted,
                        list.span,
                    );
                }
                Ok(0)
            }
            Some(Initializer::List(list)) => {
                self.uses(Clause::FirstDimensionOmitted);
                Ok(list.items.len() as u64)
            }
            Some(Initializer::Value(value)) => {
                self.refuse(RefusalClass::Nesting, Clause::NestingMatches, value.span())
            }
            Some(Initializer::Property(_)) => Err(Stop::Unmodelled(PROPERTY)),
            None if is_extern => Ok(0),
            None if self.context == Context::Parameter => {
                self.leave(false, "a parameter without its first dimension");
                Ok(0)
            }
            None => self.refuse(
                RefusalClass::OmittedDimension,
                Clause::OmittedNeedsInitializer,
                declarator.name.span,
            ),
        }
    }

    /// 5.4.5: the alignment that the declaration guarantees.
    fn alignment(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        scalar: ScalarType,
        vector: Option<u64>,
    ) -> Ruled<u64> {
        if let Some(count) = declaration.align() {
            let rule = (RefusalClass::Alignment, Clause::AlignPowerOfTwo);
            let align = self.evaluator.integer(count, rule, &mut self.trace)?.bits;
            if !align.is_power_of_two() {
                return self.refuse(RefusalClass::Alignment, Clause::AlignPowerOfTwo, count.span());
            }
            self.uses(Clause::Align);
            if declarator.count.is_some() {
                self.uses(Clause::ParameterizedAlign);
            }
            if !declarator.dimensions.is_empty() {
                self.uses(Clause::AlignArrayStart);
            }
            return Ok(align);
        }
        let size = scalar.size().unwrap_or(1);
        match vector {
            Some(length) => {
                self.uses(Clause::DefaultVector);
                self.uses(Clause::VectorAlignment);
                Ok(size * length)
            }
            None => {
                self.uses(Clause::DefaultScalar);
                Ok(size)
            }
        }
    }

    /// 5.4.7, 5.4.8: attributes and where they may stand.
    fn attributes(&mut self, declaration: &Declaration, space: StateSpace) -> Ruled<()> {
        for Attribute { name, arguments } in declaration.attributes() {
            self.uses(Clause::AttributeList);
            if self.scope.version < (4, 0) {
                return self.refuse(RefusalClass::Attribute, Clause::AttributeNeeds40, name.span);
            }
            let below = |least| self.scope.architecture.is_some_and(|have| have < least);
            let rules = match name.text.as_str() {
                ".managed" => [
                    (arguments.is_empty(), Clause::Managed),
                    (!below(30), Clause::ManagedNeedsSm30),
                    (space == StateSpace::Global, Clause::ManagedOnlyGlobal),
                ],
                ".unified" => [
                    (arguments.len() == 2, Clause::Unified),
                    (!below(90), Clause::UnifiedNeedsSm90),
                    (space == StateSpace::Global, Clause::UnifiedOnlyGlobal),
                ],
                _ => return Err(Stop::Unmodelled("an attribute that the specification does not list")),
            };
            for argument in arguments {
                let rule = (RefusalClass::Attribute, Clause::Unified);
                self.evaluator.integer(argument, rule, &mut self.trace)?;
            }
            for (holds, clause) in rules {
                self.uses(clause);
                if !holds {
                    return self.refuse(RefusalClass::Attribute, clause, name.span);
                }
            }
        }
        Ok(())
    }

    /// 5.4.4: places the values of an initializer, level by level of braces. Recursion is as deep as the braces, whose
    /// nesting the parser limits.
    fn fill(
        &mut self,
        shape: &Shape,
        level: usize,
        start: u64,
        initializer: &Initializer,
        memory: &mut Memory<'_>,
    ) -> Ruled<()> {
        match initializer {
            Initializer::Property(_) => Err(Stop::Unmodelled(PROPERTY)),
            Initializer::Value(value) if level == shape.levels() => self.scalar(shape, start, value, memory),
            Initializer::Value(value) => {
                self.refuse(RefusalClass::Nesting, Clause::NestingMatches, value.span())
            }
            Initializer::List(list) if level == shape.levels() => {
                self.refuse(RefusalClass::ScalarList, Clause::ScalarSingleValue, list.span)
            }
            Initializer::List(list) => {
                let extent = shape.extent(level);
                let count = list.items.len() as u64;
                if count > extent {
                    return self.refuse(
                        RefusalClass::TooManyElements,
                        Clause::TooManyElements,
                        list.items[extent as usize].span(),
                    );
                }
                if list.trailing_comma {
                    self.trace.questions.insert(Question::TrailingComma);
                    if self.rules.readings.trailing_comma == TrailingComma::Refused {
                        return self.refuse(RefusalClass::TrailingComma, Clause::NestingMatches, list.span);
                    }
                }
                self.incomplete(shape, level, count, list.span)?;
                let stride = shape.stride(level).unwrap_or(0);
                for (index, item) in list.items.iter().enumerate() {
                    let at = Placement { start, stride, index: index as u64, written: self.written };
                    self.fill(shape, level + 1, self.rules.layout.place.apply(at), item, memory)?;
                }
                Ok(())
            }
        }
    }

    /// Records and checks what fewer values than elements mean at this level.
    fn incomplete(
        &mut self,
        shape: &Shape,
        level: usize,
        count: u64,
        span: ptxsmith_syntax::Span,
    ) -> Ruled<()> {
        self.uses(Clause::NestingMatches);
        if shape.is_vector_level(level) {
            self.uses(Clause::VectorList);
        }
        if count == shape.extent(level) {
            return Ok(());
        }
        if shape.is_vector_level(level) {
            self.trace.questions.insert(Question::IncompleteVector);
            if self.rules.readings.incomplete_vector == IncompleteVector::Refused {
                return self.refuse(RefusalClass::TooFewElements, Clause::VectorList, span);
            }
        }
        if count == 0 {
            self.uses(Clause::EmptyList);
            self.trace.questions.insert(Question::EmptyList);
            if self.rules.readings.empty_list == EmptyList::Refused {
                return self.refuse(RefusalClass::EmptyList, Clause::EmptyList, span);
            }
        }
        self.uses(if level == 0 { Clause::IncompleteOuter } else { Clause::IncompleteInner });
        Ok(())
    }

    fn scalar(&mut self, shape: &Shape, position: u64, value: &Expr, memory: &mut Memory<'_>) -> Ruled<()> {
        let stored = self.evaluator.store(value, shape.scalar, &mut self.trace)?;
        let (offset, width) = ((position * shape.scalar_size) as usize, shape.scalar_size as usize);
        self.written += 1;
        if offset + width > memory.bytes.len() {
            // Only under another rule than the specification's.
            return Err(Stop::Unmodelled("a value placed outside its variable"));
        }
        match stored {
            Stored::Bits(bits) => {
                memory.bytes[offset..offset + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            }
            Stored::Address(address, byte) => {
                let NodeKind::Name(name) = value.kind(address.name) else {
                    return Err(Stop::Unmodelled("an address without a name"));
                };
                let generic = self.symbol(name, address, byte, value)?;
                let slot = self.rules.layout.slot_of.apply(width as u64, byte, self.scope.architecture);
                memory.addresses.push(Address {
                    offset: offset as u64,
                    width: slot.width as u8,
                    addend_bits: slot.addend_bits,
                    symbol: name.clone(),
                    addend: address.addend,
                    generic,
                    byte,
                });
            }
        }
        Ok(())
    }

    /// 5.4.4: whose address may be taken; whether it is generic in the end.
    fn symbol(
        &mut self,
        name: &Text,
        address: value::Address,
        byte: Option<u8>,
        value: &Expr,
    ) -> Ruled<bool> {
        let span = value.span();
        let found = find(&self.scope.names, name, self.rules);
        if let Found::Numbered(..) | Found::OtherNumber = found {
            self.uses(Clause::ParameterizedNames);
        }
        let Some(&Declared { symbol, at }) = found.declared() else {
            if self.scope.unread {
                return Err(Stop::Unmodelled("a name that a statement which is not understood may declare"));
            }
            return self.refuse(RefusalClass::UnknownName, Clause::VariableAddress, span);
        };
        if self.scope.repeated.contains(name) {
            return Err(Stop::Unmodelled(REPEATED));
        }
        self.declared(at, span)?;
        let readings = &self.rules.readings;
        let mut step = Step { readings, trace: &mut self.trace, span, pending: &mut None };
        self.rules.layout.address_of.apply(&mut step, self.scope.version, symbol, address, byte)
    }

    /// Whether what is declared there may be named here.
    fn declared(&mut self, at: Place, span: ptxsmith_syntax::Span) -> Ruled<()> {
        let readings = self.rules.readings;
        let (question, refused) = if at.0 < self.here.0 {
            return Ok(());
        } else if at <= self.here {
            (Question::SelfReference, readings.self_reference == SelfReference::Refused)
        } else {
            (Question::ForwardReference, readings.forward_reference == ForwardReference::Refused)
        };
        self.trace.questions.insert(question);
        if refused {
            return self.refuse(RefusalClass::UnknownName, Clause::VariableAddress, span);
        }
        Ok(())
    }
}

struct Memory<'a> {
    bytes: &'a mut [u8],
    addresses: &'a mut Vec<Address>,
}
