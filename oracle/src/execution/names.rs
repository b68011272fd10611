//! Resolves the names in a function.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use ptxsmith_syntax::{
    self as syntax, Declaration, Function, FunctionKind, Instruction, Item, Module, NameLookup, NodeKind,
    Operand, ScalarType, StateSpace, Statement, Text, Token,
};
use smallvec::SmallVec;

use super::form::InstructionForm;

use crate::{
    address::Version,
    expectation,
    layout::{
        DeclarationScope, DeclaratorLayout, FunctionVariables, MAX_BYTES, VariableShape, aliases, find, inner,
    },
    rules::Rules,
};

/// The index of a declarator, and the number of the name among those it declares. A short declaration can declare any
/// number of names (5.4.6).
pub(super) type DeclaratorId = (usize, u64);

/// A register variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterVariable {
    /// The register within its function.
    pub id: DeclaratorId,
    pub ty: ScalarType,
    /// The number of elements of a vector; 1 for a scalar.
    pub lanes: u8,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub(super) struct MemoryVariable {
    /// Its name; for a parameterized name, the common prefix.
    pub name: Text,
    pub space: StateSpace,
    pub shape: VariableShape,
    pub align: u64,
    /// The size in bytes; `None` for `.extern` variables of unknown size, and for sizes beyond the limit.
    pub size: Option<u64>,
    /// The number of variables of a parameterized name.
    pub count: Option<u64>,
    /// The variable within its module or function. For a parameterized name, its first variable.
    pub place: VariableId,
    /// The initial contents, if a function declares it in `.global` or `.const` and they are decided (5.4.4).
    pub initial: Option<Rc<expectation::Variable>>,
}

impl MemoryVariable {
    /// Returns the variable with this number of a parameterized name.
    fn numbered(&self, number: u64) -> MemoryVariable {
        let name = format!("{}{number}", self.name).into();
        let place = match self.place {
            VariableId::Module((first, _)) => VariableId::Module((first, number)),
            VariableId::Function((first, _)) => VariableId::Function((first, number)),
        };
        MemoryVariable { name, place, count: None, ..self.clone() }
    }
}

/// The scope of a variable, which determines how many instances exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableId {
    /// At module scope: the variable within the module.
    Module(DeclaratorId),
    /// In a function: the variable within the function.
    Function(DeclaratorId),
}

/// The number of elements of the longest vectors (5.4.2).
const MOST_LANES: usize = 4;

/// The contents of the registers of a function, element by element. Registers that were never set use no memory.
pub(super) struct RegisterFile<T> {
    unset: Vec<T>,
    set: BTreeMap<DeclaratorId, SmallVec<[T; 1]>>,
}

impl<T: Clone> RegisterFile<T> {
    /// Creates registers with this value in every element.
    pub fn new(unset: T) -> RegisterFile<T> {
        RegisterFile { unset: vec![unset; MOST_LANES], set: BTreeMap::new() }
    }

    /// Returns the elements of a register.
    pub fn get(&self, register: RegisterVariable) -> &[T] {
        let lanes = usize::from(register.lanes);
        self.set.get(&register.id).map_or(&self.unset[..lanes], |elements| elements)
    }

    pub fn get_mut(&mut self, register: RegisterVariable) -> &mut [T] {
        let unset = &self.unset[..usize::from(register.lanes)];
        self.set.entry(register.id).or_insert_with(|| unset.into())
    }

    /// Sets all elements of a register.
    pub fn set(&mut self, register: RegisterVariable, elements: Vec<T>) {
        self.set.insert(register.id, elements.into());
    }
}

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Register(RegisterVariable),
    Variable(Rc<MemoryVariable>),
    Function(FunctionKind),
    Label,
    /// A name declared by `.alias`, which the specification at hand does not describe.
    Alias,
}

impl Meaning {
    /// Whether the name is a scalar variable of eight bytes, which can hold an address.
    pub fn is_pointer(&self) -> bool {
        match self {
            Meaning::Variable(variable) => variable.size == Some(8) && variable.shape.extents.is_empty(),
            _ => false,
        }
    }
}

/// The meanings of names at one place. A parameterized name maps to the meaning of its first variable.
#[derive(Clone, Debug)]
pub(super) struct VisibleNames {
    scope: Rc<syntax::Names<Meaning>>,
    /// The meanings of the names in an instruction, looked up once because many inputs execute it.
    found: Vec<(Text, Option<Meaning>)>,
}

impl VisibleNames {
    fn new(scope: Rc<syntax::Names<Meaning>>) -> VisibleNames {
        VisibleNames { scope, found: Vec::new() }
    }

    /// Returns the same names, with those in an instruction looked up under the rules of the module.
    fn for_instruction(&self, instruction: &Instruction, rules: &Rules) -> VisibleNames {
        let mut names = VisibleNames::new(self.scope.clone());
        for name in written_names(instruction) {
            if !names.found.iter().any(|(known, _)| *known == name) {
                let meaning = self.look_up(&name, rules);
                names.found.push((name, meaning));
            }
        }
        names
    }

    /// Returns the meaning of a name; `None` if it is not declared.
    pub fn find(&self, name: &str, rules: &Rules) -> Option<Meaning> {
        match self.found.iter().find(|(known, _)| known == name) {
            Some((_, meaning)) => meaning.clone(),
            None => self.look_up(name, rules),
        }
    }

    fn look_up(&self, name: &str, rules: &Rules) -> Option<Meaning> {
        match find(&self.scope, name, rules) {
            NameLookup::Numbered(Meaning::Register(first), number) => {
                Some(Meaning::Register(RegisterVariable { id: (first.id.0, number), ..*first }))
            }
            NameLookup::Numbered(Meaning::Variable(first), number) => {
                Some(Meaning::Variable(Rc::new(first.numbered(number))))
            }
            found => found.declared().cloned(),
        }
    }

    /// Whether a name is a common prefix with a number, but not a declared name (5.4.6).
    pub fn lack_number(&self, name: &str, rules: &Rules) -> bool {
        matches!(find(&self.scope, name, rules), NameLookup::OtherNumber)
    }
}

/// Returns the names in the operands and the guard of an instruction.
fn written_names(instruction: &Instruction) -> Vec<Text> {
    let mut names: Vec<Text> = instruction.guard.iter().map(|guard| guard.predicate.text.clone()).collect();
    instruction.operands.iter().for_each(|operand| add_names(operand, &mut names));
    names
}

fn add_names(operand: &Operand, names: &mut Vec<Text>) {
    match operand {
        Operand::Value(expr) | Operand::Address(expr) => {
            names.extend(expr.nodes().iter().filter_map(|node| match &node.kind {
                NodeKind::Name(name) => Some(name.clone()),
                _ => None,
            }));
        }
        Operand::Element(name, _) | Operand::Component(name, _) => names.push(name.text.clone()),
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| add_names(part, names));
        }
    }
}

/// One instruction, with the names in scope.
pub(super) struct ScopedInstruction<'m> {
    pub instruction: &'m Instruction,
    pub form: InstructionForm<'m>,
    pub names: VisibleNames,
}

/// An instruction kept as tokens, with the names in scope.
pub(super) struct ScopedTokens<'m> {
    pub tokens: &'m [Token],
    pub names: VisibleNames,
}

/// A function prepared for execution.
pub(super) struct ResolvedFunction<'m> {
    pub name: &'m str,
    pub kind: FunctionKind,
    pub lines: Vec<ScopedInstruction<'m>>,
    /// Unparsed instructions, by the index of the line that they precede.
    pub kept: BTreeMap<usize, Vec<ScopedTokens<'m>>>,
    /// The directives between the parameters and the body.
    pub directives: &'m [Token],
    /// The line after each label. Labels of tables and prototypes are not included.
    pub labels: BTreeMap<&'m str, usize>,
    /// The labels that follow unparsed instructions before their line.
    pub behind: BTreeSet<&'m str>,
    /// Whether such a label also precedes unparsed instructions before its line.
    pub is_mixed: bool,
    /// The targets of each `.branchtargets` table, by its label.
    pub tables: BTreeMap<&'m str, &'m [ptxsmith_syntax::Name]>,
    /// Its variables; a parameterized name is represented by its first variable.
    pub variables: Vec<Rc<MemoryVariable>>,
    pub results: Vec<Meaning>,
    pub parameters: Vec<Meaning>,
    /// Whether some of its statements do not parse.
    pub unread: bool,
    /// Why no rule covers the function, if none does; matters only if the function is executed.
    pub unmodelled: Option<&'static str>,
}

/// A module prepared for execution: its variables, and its functions by name.
pub(super) struct ResolvedModule<'m> {
    /// Its `.version`.
    pub version: Version,
    /// Whether its target may lack generic addresses. `sm_1x` has none; the specification at hand does not say which
    /// target introduced them.
    pub lacks_generic: bool,
    /// Its variables; a parameterized name is represented by its first variable.
    pub variables: Vec<Rc<MemoryVariable>>,
    /// The names at module scope.
    pub names: VisibleNames,
    pub functions: BTreeMap<&'m str, ResolvedFunction<'m>>,
}

impl ResolvedModule<'_> {
    /// Whether a function of the module can name a variable in `.local`.
    pub fn has_local(&self, function: &ResolvedFunction<'_>) -> bool {
        let mut variables = self.variables.iter().chain(&function.variables);
        variables.any(|variable| variable.space == StateSpace::Local)
    }
}

/// Prepares a module for running its functions.
pub(super) fn read<'m>(module: &'m Module, rules: &Rules) -> ResolvedModule<'m> {
    read_with(module, rules, inner(module, rules))
}

/// Prepares a module without the initial contents of the variables of functions. Invalid declarations are skipped;
/// other checks report them.
pub(super) fn read_without_contents<'m>(module: &'m Module, rules: &Rules) -> ResolvedModule<'m> {
    read_with(module, rules, FunctionVariables::default())
}

fn read_with<'m>(module: &'m Module, rules: &Rules, inner: FunctionVariables) -> ResolvedModule<'m> {
    let scope = DeclarationScope::new(module, rules);
    let mut names = syntax::Names::default();
    let none = FunctionVariables::default();
    let mut storage = Storage::new(rules, &scope, &none, VariableId::Module);
    // Aliases are declared in addition to other meanings, so that names of aliases are left undecided.
    aliases(module).for_each(|alias| names.declare(alias.clone(), Meaning::Alias));
    for item in &module.items {
        match item {
            Item::Variables(declaration) if declaration.space() != Some(StateSpace::Reg) => {
                for (name, meaning, count) in storage.declare(declaration) {
                    match count {
                        Some(count) => names.declare_numbered(name, meaning, count),
                        // The first of several declarations counts.
                        None => names.declare_new(name, meaning),
                    }
                }
            }
            Item::Function(function) => {
                names.declare_new(function.name.text.clone(), Meaning::Function(function.kind));
            }
            _ => {}
        }
    }
    let names = Rc::new(names);
    let mut functions = BTreeMap::new();
    for item in &module.items {
        if let Item::Function(function) = item
            && let Some(statements) = &function.body
        {
            let reader = BodyReader::new(function, Storage::new(rules, &scope, &inner, VariableId::Function));
            let names = syntax::Names::within(names.clone());
            functions.insert(function.name.text.as_str(), reader.body(function, statements, names));
        }
    }
    let version = module.version().unwrap_or((u32::MAX, 0));
    let lacks_generic = scope.addressing.architecture.is_some_and(|have| have < 20);
    ResolvedModule {
        version,
        lacks_generic,
        variables: storage.variables,
        names: VisibleNames::new(names),
        functions,
    }
}

/// Collects the variables and registers of declarations.
struct Storage<'r> {
    rules: &'r Rules,
    scope: &'r DeclarationScope,
    inner: &'r FunctionVariables,
    place: fn(DeclaratorId) -> VariableId,
    variables: Vec<Rc<MemoryVariable>>,
    /// The number of register declarators so far.
    registers: usize,
}

impl<'r> Storage<'r> {
    fn new(
        rules: &'r Rules,
        scope: &'r DeclarationScope,
        inner: &'r FunctionVariables,
        place: fn(DeclaratorId) -> VariableId,
    ) -> Storage<'r> {
        Storage { rules, scope, inner, place, variables: Vec::new(), registers: 0 }
    }

    /// Allocates what a declaration declares. Returns the names, their meanings, and the counts of parameterized names.
    fn declare(&mut self, declaration: &Declaration) -> Vec<(Text, Meaning, Option<u64>)> {
        let mut declared = Vec::new();
        for declarator in &declaration.declarators {
            let Ok(layout) = DeclaratorLayout::new(declaration, declarator, self.scope, self.rules) else {
                continue;
            };
            let DeclaratorLayout { space, is_extern, shape, align, count } = layout;
            let name = declarator.name.text.clone();
            let meaning = if space == StateSpace::Reg {
                let lanes = shape.vector.unwrap_or(1) as u8;
                let first = RegisterVariable { id: (self.registers, 0), ty: shape.scalar, lanes };
                self.registers += 1;
                Meaning::Register(first)
            } else {
                let is_open = is_extern && declarator.dimensions.contains(&None);
                let size = Some(shape.size(self.rules)).filter(|&size| size <= MAX_BYTES && !is_open);
                let place = (self.place)((self.variables.len(), 0));
                let initial = self.inner.get(&declarator.name.span.start).cloned();
                let name = name.clone();
                let first =
                    Rc::new(MemoryVariable { name, space, shape, align, size, count, place, initial });
                self.variables.push(first.clone());
                Meaning::Variable(first)
            };
            declared.push((name, meaning, count));
        }
        declared
    }
}

/// Reads the body of a function.
struct BodyReader<'m, 'r> {
    storage: Storage<'r>,
    body: ResolvedFunction<'m>,
    /// The labels so far, in all blocks.
    labels: BTreeSet<&'m str>,
}

impl<'m, 'r> BodyReader<'m, 'r> {
    fn new(function: &'m Function, storage: Storage<'r>) -> BodyReader<'m, 'r> {
        let body = ResolvedFunction {
            name: &function.name.text,
            kind: function.kind,
            lines: Vec::new(),
            kept: BTreeMap::new(),
            directives: &[],
            labels: BTreeMap::new(),
            behind: BTreeSet::new(),
            is_mixed: false,
            tables: BTreeMap::new(),
            variables: Vec::new(),
            results: Vec::new(),
            parameters: Vec::new(),
            unread: false,
            unmodelled: None,
        };
        BodyReader { storage, body, labels: BTreeSet::new() }
    }

    fn body(
        mut self,
        function: &'m Function,
        statements: &'m [Statement],
        mut names: syntax::Names<Meaning>,
    ) -> ResolvedFunction<'m> {
        for declaration in function.results.iter().flatten() {
            let declared = self.declare(declaration, &mut names);
            self.body.results.extend(declared);
        }
        for declaration in function.parameters.iter().flatten() {
            let declared = self.declare(declaration, &mut names);
            self.body.parameters.extend(declared);
        }
        self.body.directives = &function.directives;
        self.block(statements, names);
        ResolvedFunction { variables: self.storage.variables, ..self.body }
    }

    fn block(&mut self, statements: &'m [Statement], mut names: syntax::Names<Meaning>) {
        // Names are declared before they are used, so all names of the block can be known from its start.
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => {
                    self.declare(declaration, &mut names);
                }
                Statement::Label(name) => {
                    names.declare(name.text.clone(), Meaning::Label);
                }
                _ => {}
            }
        }
        let names = VisibleNames::new(Rc::new(names));
        let mut label = None;
        for statement in statements {
            match statement {
                Statement::Variables(_) => {}
                Statement::Label(name) => {
                    // The specification at hand does not say whether a block hides the labels around it.
                    if !self.labels.insert(&name.text) {
                        self.body.unmodelled = Some("two labels of one name in a function");
                    }
                    self.body.labels.insert(&name.text, self.body.lines.len());
                    if self.body.kept.contains_key(&self.body.lines.len()) {
                        self.body.behind.insert(&name.text);
                    }
                    label = Some(name.text.as_str());
                    continue;
                }
                Statement::Block(inner) => self.block(inner, syntax::Names::within(names.scope.clone())),
                Statement::Instruction(instruction) => {
                    self.body.lines.push(ScopedInstruction {
                        instruction,
                        form: InstructionForm::decode(instruction),
                        names: names.for_instruction(instruction, self.storage.rules),
                    });
                }
                Statement::BranchTargets(table) => {
                    if let Some(label) = label {
                        self.body.tables.insert(label, &table.targets);
                        self.body.labels.remove(label);
                    }
                }
                Statement::Unread(_) => {
                    self.body.unmodelled = Some(crate::undecided::UNREAD);
                    self.body.unread = true;
                }
                Statement::Tokens(tokens) => {
                    let first = tokens.first().map_or(";", |token| token.text.as_str());
                    if let Some(label) = label.filter(|_| [".callprototype", ".calltargets"].contains(&first))
                    {
                        self.body.labels.remove(label);
                    }
                    // These have no effect. The effect of any other unparsed instruction is unknown.
                    let idle = [";", ".loc", ".pragma", ".callprototype", ".calltargets"].contains(&first);
                    if !idle {
                        let at = self.body.lines.len();
                        self.body.is_mixed |=
                            self.body.behind.iter().any(|label| self.body.labels.get(label) == Some(&at));
                        let kept = self.body.kept.entry(at).or_default();
                        kept.push(ScopedTokens { tokens, names: names.clone() });
                        self.body.unmodelled = Some(super::NOT_MODELLED);
                    }
                }
            }
            label = None;
        }
    }

    /// Adds a declaration to the names. Returns the meanings added.
    fn declare(&mut self, declaration: &Declaration, names: &mut syntax::Names<Meaning>) -> Vec<Meaning> {
        let mut added = Vec::new();
        for (name, meaning, count) in self.storage.declare(declaration) {
            added.push(meaning.clone());
            match count {
                Some(count) => names.declare_numbered(name, meaning, count),
                None => names.declare(name, meaning),
            }
        }
        added
    }
}
