//! What the names in a function stand for.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use ptxsmith_syntax::{
    self as syntax, Declaration, Found, Function, FunctionKind, Instruction, Item, Module, ScalarType,
    StateSpace, Statement, Text, Token,
};

use crate::{
    address::Version,
    expectation,
    layout::{Inner, Layout, MAX_BYTES, Scope, Shape, aliases, find, inner},
    rules::Rules,
};

/// Which declarator it is, and which of the names that it declares: a few letters declare any number of them (5.4.6).
pub(super) type Which = (usize, u64);

/// A register variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// Which of the registers of its function it is.
    pub id: Which,
    pub ty: ScalarType,
    /// The elements of a vector; one of a scalar.
    pub lanes: u8,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Its name; of a parameterized one the common prefix.
    pub name: Text,
    pub space: StateSpace,
    pub shape: Shape,
    pub align: u64,
    /// Whether the size is known: it is not of `.extern` variables without one.
    pub size: Option<u64>,
    /// How many there are of a parameterized one.
    pub count: Option<u64>,
    /// Which variable it is: of a module, or of a function. Of a parameterized one, the first.
    pub place: Place,
    /// What it holds at first, of one that a function declares in `.global` or `.const` (5.4.4).
    pub initial: Option<Rc<expectation::Variable>>,
}

impl Variable {
    /// The variable of this number of a parameterized one.
    fn numbered(&self, number: u64) -> Variable {
        let name = format!("{}{number}", self.name).into();
        let place = match self.place {
            Place::Module((first, _)) => Place::Module((first, number)),
            Place::Function((first, _)) => Place::Function((first, number)),
        };
        Variable { name, place, count: None, ..self.clone() }
    }
}

/// Where a variable is declared, which is how often it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At module scope: which of the variables of the module.
    Module(Which),
    /// In a function: which of its variables.
    Function(Which),
}

/// The elements of the longest vectors (5.4.2).
const MOST_LANES: usize = 4;

/// What the registers of a function hold, in as many elements as each has. Those that were never set take no place.
pub(super) struct Registers<T> {
    unset: Vec<T>,
    set: BTreeMap<Which, Vec<T>>,
}

impl<T: Clone> Registers<T> {
    /// Registers of which every element is this.
    pub fn new(unset: T) -> Registers<T> {
        Registers { unset: vec![unset; MOST_LANES], set: BTreeMap::new() }
    }

    pub fn of(&self, register: Register) -> &[T] {
        let lanes = usize::from(register.lanes);
        self.set.get(&register.id).map_or(&self.unset[..lanes], |held| held)
    }

    pub fn of_mut(&mut self, register: Register) -> &mut [T] {
        let unset = &self.unset[..usize::from(register.lanes)];
        self.set.entry(register.id).or_insert_with(|| unset.to_vec())
    }

    /// Sets all elements.
    pub fn set(&mut self, register: Register, held: Vec<T>) {
        self.set.insert(register.id, held);
    }
}

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Register(Register),
    Variable(Rc<Variable>),
    Function(FunctionKind),
    Label,
    /// What `.alias` gives another name, of which the texts do not speak.
    Alias,
}

/// What names mean at one place; of a parameterized name, the meaning of the first.
#[derive(Clone, Debug)]
pub(super) struct Names(Rc<syntax::Names<Meaning>>);

impl Names {
    /// What a name stands for; `None` where nothing declares it.
    pub fn find(&self, name: &str, rules: &Rules) -> Option<Meaning> {
        match find(&self.0, name, rules) {
            Found::Numbered(Meaning::Register(first), number) => {
                Some(Meaning::Register(Register { id: (first.id.0, number), ..*first }))
            }
            Found::Numbered(Meaning::Variable(first), number) => {
                Some(Meaning::Variable(Rc::new(first.numbered(number))))
            }
            found => found.declared().cloned(),
        }
    }

    /// Whether a name is a common prefix and a number, but none of the names declared (5.4.6).
    pub fn lack_number(&self, name: &str, rules: &Rules) -> bool {
        matches!(find(&self.0, name, rules), Found::OtherNumber)
    }
}

/// One instruction, with what names mean where it stands.
pub(super) struct Line<'m> {
    pub instruction: &'m Instruction,
    pub names: Names,
}

/// What is kept as its tokens, with what names mean where it stands.
pub(super) struct Kept<'m> {
    pub tokens: &'m [Token],
    pub names: Names,
}

/// A function made ready for execution.
pub(super) struct Body<'m> {
    pub name: &'m str,
    pub kind: FunctionKind,
    pub lines: Vec<Line<'m>>,
    /// What stands before a line and is none, by its number.
    pub kept: BTreeMap<usize, Vec<Kept<'m>>>,
    /// What stands between its parameters and its body.
    pub directives: &'m [Token],
    /// The line that each label stands before; those of tables and prototypes are none.
    pub labels: BTreeMap<&'m str, usize>,
    /// The labels of each `.branchtargets`, by the label of the table.
    pub tables: BTreeMap<&'m str, &'m [ptxsmith_syntax::Name]>,
    /// Its variables; of a parameterized one the first.
    pub variables: Vec<Rc<Variable>>,
    pub results: Vec<Meaning>,
    pub parameters: Vec<Meaning>,
    /// Whether it has statements that are not understood.
    pub unread: bool,
    /// What in it there is no rule for; it matters only if the function is executed.
    pub unmodelled: Option<&'static str>,
}

/// A module made ready: its variables, and its functions by name.
pub(super) struct Program<'m> {
    /// Its `.version`.
    pub version: Version,
    /// Whether its target may be without generic addresses: what has them, the chapters at hand do not say, and `sm_1x` has not.
    pub lacks_generic: bool,
    /// Its variables; of a parameterized one the first.
    pub variables: Vec<Rc<Variable>>,
    /// What the names at module scope stand for.
    pub names: Names,
    pub functions: BTreeMap<&'m str, Body<'m>>,
}

/// Reads a module to run its functions.
pub(super) fn read<'m>(module: &'m Module, rules: &Rules) -> Program<'m> {
    read_with(module, rules, inner(module, rules))
}

/// Reads a module without what the variables of functions hold. Whatever is wrong with its declarations is for others to say: they are
/// left out here.
pub(super) fn read_text<'m>(module: &'m Module, rules: &Rules) -> Program<'m> {
    read_with(module, rules, Inner::default())
}

fn read_with<'m>(module: &'m Module, rules: &Rules, inner: Inner) -> Program<'m> {
    let scope = Scope::of(module, rules);
    let mut names = syntax::Names::default();
    let none = Inner::default();
    let mut storage = Storage::new(rules, &scope, &none, Place::Module);
    // Beside what else they may be, so that nothing is said of what names one.
    aliases(module).for_each(|alias| names.declare(alias.clone(), Meaning::Alias));
    for item in &module.items {
        match item {
            Item::Variables(declaration) if declaration.space() != Some(StateSpace::Reg) => {
                for (name, meaning, count) in storage.declare(declaration) {
                    match count {
                        Some(count) => names.declare_numbered(name, meaning, count),
                        // The first declaration of several is what counts.
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
            let reader = Reader::new(function, Storage::new(rules, &scope, &inner, Place::Function));
            let names = syntax::Names::within(names.clone());
            functions.insert(function.name.text.as_str(), reader.body(function, statements, names));
        }
    }
    let version = module.version().unwrap_or((u32::MAX, 0));
    let lacks_generic = scope.architecture.is_some_and(|have| have < 20);
    Program { version, lacks_generic, variables: storage.variables, names: Names(names), functions }
}

/// The variables and registers that declarations declare.
struct Storage<'r> {
    rules: &'r Rules,
    scope: &'r Scope,
    inner: &'r Inner,
    place: fn(Which) -> Place,
    variables: Vec<Rc<Variable>>,
    /// How many declarators of registers there are.
    registers: usize,
}

impl<'r> Storage<'r> {
    fn new(rules: &'r Rules, scope: &'r Scope, inner: &'r Inner, place: fn(Which) -> Place) -> Storage<'r> {
        Storage { rules, scope, inner, place, variables: Vec::new(), registers: 0 }
    }

    /// Makes room for what a declaration declares: the names, what each means, and the count of a parameterized one.
    fn declare(&mut self, declaration: &Declaration) -> Vec<(Text, Meaning, Option<u64>)> {
        let mut declared = Vec::new();
        for declarator in &declaration.declarators {
            let Ok(layout) = Layout::of(declaration, declarator, self.scope, self.rules) else { continue };
            let Layout { space, is_extern, shape, align, count } = layout;
            let name = declarator.name.text.clone();
            let meaning = if space == StateSpace::Reg {
                let lanes = shape.vector.unwrap_or(1) as u8;
                let first = Register { id: (self.registers, 0), ty: shape.scalar, lanes };
                self.registers += 1;
                Meaning::Register(first)
            } else {
                let is_open = is_extern && declarator.dimensions.contains(&None);
                let size = Some(shape.size(self.rules)).filter(|&size| size <= MAX_BYTES && !is_open);
                let place = (self.place)((self.variables.len(), 0));
                let initial = self.inner.get(&declarator.name.span.start).cloned();
                let name = name.clone();
                let first = Rc::new(Variable { name, space, shape, align, size, count, place, initial });
                self.variables.push(first.clone());
                Meaning::Variable(first)
            };
            declared.push((name, meaning, count));
        }
        declared
    }
}

/// Reads the body of a function.
struct Reader<'m, 'r> {
    storage: Storage<'r>,
    body: Body<'m>,
    /// The labels so far, of all blocks.
    labels: BTreeSet<&'m str>,
}

impl<'m, 'r> Reader<'m, 'r> {
    fn new(function: &'m Function, storage: Storage<'r>) -> Reader<'m, 'r> {
        let body = Body {
            name: &function.name.text,
            kind: function.kind,
            lines: Vec::new(),
            kept: BTreeMap::new(),
            directives: &[],
            labels: BTreeMap::new(),
            tables: BTreeMap::new(),
            variables: Vec::new(),
            results: Vec::new(),
            parameters: Vec::new(),
            unread: false,
            unmodelled: None,
        };
        Reader { storage, body, labels: BTreeSet::new() }
    }

    fn body(
        mut self,
        function: &'m Function,
        statements: &'m [Statement],
        mut names: syntax::Names<Meaning>,
    ) -> Body<'m> {
        let mut passed = |list: &Option<Vec<Declaration>>| -> Vec<Meaning> {
            list.iter().flatten().flat_map(|declaration| self.declare(declaration, &mut names)).collect()
        };
        (self.body.results, self.body.parameters) = (passed(&function.results), passed(&function.parameters));
        self.body.directives = &function.directives;
        self.block(statements, names);
        Body { variables: self.storage.variables, ..self.body }
    }

    fn block(&mut self, statements: &'m [Statement], mut names: syntax::Names<Meaning>) {
        // A name is declared before it is used, so all of the block's names can be known from its start.
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
        let names = Names(Rc::new(names));
        let mut label = None;
        for statement in statements {
            match statement {
                Statement::Variables(_) => {}
                Statement::Label(name) => {
                    // Whether a block hides the labels around it, the texts at hand do not say.
                    if !self.labels.insert(&name.text) {
                        self.body.unmodelled = Some("two labels of one name in a function");
                    }
                    self.body.labels.insert(&name.text, self.body.lines.len());
                    label = Some(name.text.as_str());
                    continue;
                }
                Statement::Block(inner) => self.block(inner, syntax::Names::within(names.0.clone())),
                Statement::Instruction(instruction) => {
                    self.body.lines.push(Line { instruction, names: names.clone() });
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
                    // What an instruction does that is not modelled is not known; these do nothing.
                    let idle = [";", ".loc", ".pragma", ".callprototype", ".calltargets"].contains(&first);
                    if !idle {
                        let kept = self.body.kept.entry(self.body.lines.len()).or_default();
                        kept.push(Kept { tokens, names: names.clone() });
                        self.body.unmodelled = Some(super::NOT_MODELLED);
                    }
                }
            }
            label = None;
        }
    }

    /// Adds what a declaration declares to the names, and says what it is.
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
