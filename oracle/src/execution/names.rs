//! What the names in a function stand for.

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{
    Declaration, Function, FunctionKind, Instruction, Item, Module, ScalarType, StateSpace, Statement, Text,
};

use crate::{
    address::numbered,
    clause::Clause,
    evaluate::Evaluator,
    families::{Families, Sought},
    layout::MAX_BYTES,
    refusal::{RefusalClass, Stop},
    rules::{Ruled, Rules, Trace},
};

/// A register variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// Its place among the registers of its function.
    pub id: usize,
    pub ty: ScalarType,
    /// The elements of a vector; one of a scalar.
    pub lanes: u8,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: Text,
    pub space: StateSpace,
    pub ty: ScalarType,
    /// The elements of a vector; one of a scalar.
    pub lanes: u64,
    pub extents: Vec<u64>,
    pub align: u64,
    /// Whether the size is known: it is not of `.extern` variables without one.
    pub size: Option<u64>,
    /// Which variable it is: of a module, or of a function.
    pub place: Place,
}

/// Where a variable is declared, which is how often it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At module scope: the place among the variables of the module.
    Module(usize),
    /// In a function: once in every call.
    Function(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Register(Register),
    Variable(Rc<Variable>),
    Function(FunctionKind),
    Label,
}

/// What names mean at one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    single: BTreeMap<Text, Meaning>,
    /// The first of the registers of each.
    families: Families<Register>,
}

impl Names {
    /// What a name stands for; `None` where nothing declares it.
    pub fn find(&self, name: &str) -> Option<Meaning> {
        if let Some(meaning) = self.single.get(name) {
            return Some(meaning.clone());
        }
        match self.families.find(name, numbered) {
            Sought::Found(register, number) => {
                Some(Meaning::Register(Register { id: register.id + number as usize, ..*register }))
            }
            Sought::OtherNumber | Sought::Nothing => None,
        }
    }
}

/// One instruction, with what names mean where it stands.
pub(super) struct Line<'m> {
    pub instruction: &'m Instruction,
    pub names: Rc<Names>,
}

/// A function made ready for execution.
pub(super) struct Body<'m> {
    pub kind: FunctionKind,
    pub lines: Vec<Line<'m>>,
    /// The line that each label stands before.
    pub labels: BTreeMap<&'m str, usize>,
    /// The labels of each `.branchtargets`, by the label of the table.
    pub tables: BTreeMap<&'m str, &'m [ptxsmith_syntax::Name]>,
    /// The types of all registers.
    pub registers: Vec<Register>,
    /// The variables that every call has of its own.
    pub variables: Vec<Rc<Variable>>,
    pub results: Vec<Meaning>,
    pub parameters: Vec<Meaning>,
    /// What in it there is no rule for; it matters only if the function is executed.
    pub unmodelled: Option<&'static str>,
}

/// A module made ready: its variables, and its functions by name.
pub(super) struct Program<'m> {
    pub variables: Vec<Rc<Variable>>,
    pub functions: BTreeMap<&'m str, Body<'m>>,
}

/// Reads a module. Whatever is wrong with its declarations is for others to say: they are left out here.
pub(super) fn read<'m>(module: &'m Module, rules: &Rules) -> Program<'m> {
    let version = module.version().unwrap_or((u32::MAX, 0));
    let mut names = Names::default();
    let mut variables = Vec::new();
    for item in &module.items {
        match item {
            Item::Variables(declaration) => {
                let made = declared(declaration, rules, version, &mut |_| Place::Module(0));
                for variable in made.into_iter().flatten() {
                    let variable = Rc::new(Variable { place: Place::Module(variables.len()), ..variable });
                    let name = variable.name.clone();
                    names.single.entry(name).or_insert(Meaning::Variable(variable.clone()));
                    variables.push(variable);
                }
            }
            Item::Function(function) => {
                let meaning = Meaning::Function(function.kind);
                names.single.entry(function.name.text.clone()).or_insert(meaning);
            }
            _ => {}
        }
    }
    let mut functions = BTreeMap::new();
    for item in &module.items {
        if let Item::Function(function) = item
            && let Some(statements) = &function.body
        {
            let body = body(function, statements, &names, rules, version);
            functions.insert(function.name.text.as_str(), body);
        }
    }
    Program { variables, functions }
}

struct Reader<'m, 'r> {
    rules: &'r Rules,
    version: (u32, u32),
    body: Body<'m>,
}

fn body<'m>(
    function: &'m Function,
    statements: &'m [Statement],
    outer: &Names,
    rules: &Rules,
    version: (u32, u32),
) -> Body<'m> {
    let body = Body {
        kind: function.kind,
        lines: Vec::new(),
        labels: BTreeMap::new(),
        tables: BTreeMap::new(),
        registers: Vec::new(),
        variables: Vec::new(),
        results: Vec::new(),
        parameters: Vec::new(),
        unmodelled: None,
    };
    let mut reader = Reader { rules, version, body };
    let mut names = outer.clone();
    let mut passed = |reader: &mut Reader<'m, '_>, list: &Option<Vec<Declaration>>| -> Vec<Meaning> {
        let declarations = list.iter().flatten();
        declarations.flat_map(|declaration| reader.declare(declaration, &mut names)).collect()
    };
    reader.body.results = passed(&mut reader, &function.results);
    reader.body.parameters = passed(&mut reader, &function.parameters);
    reader.block(statements, names);
    reader.body
}

impl<'m> Reader<'m, '_> {
    fn block(&mut self, statements: &'m [Statement], mut names: Names) {
        // A name is declared before it is used, so all of the block's names can be known from its start.
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => {
                    self.declare(declaration, &mut names);
                }
                Statement::Label(name) => {
                    names.single.insert(name.text.clone(), Meaning::Label);
                }
                _ => {}
            }
        }
        let names = Rc::new(names);
        let mut label = None;
        for statement in statements {
            match statement {
                Statement::Variables(_) => {}
                Statement::Label(name) => {
                    self.body.labels.insert(&name.text, self.body.lines.len());
                    label = Some(name.text.as_str());
                    continue;
                }
                Statement::Block(inner) => self.block(inner, (*names).clone()),
                Statement::Instruction(instruction) => {
                    self.body.lines.push(Line { instruction, names: names.clone() });
                }
                Statement::BranchTargets(table) => {
                    if let Some(label) = label {
                        self.body.tables.insert(label, &table.targets);
                    }
                }
                Statement::Tokens(tokens) => {
                    let first = tokens.first().map_or(";", |token| token.text.as_str());
                    // What an instruction does nobody knows who does not model it; these do nothing.
                    let idle = [";", ".loc", ".pragma", ".callprototype", ".calltargets"].contains(&first);
                    if !idle {
                        self.body.unmodelled = Some("an instruction that is not modelled");
                    }
                }
            }
            label = None;
        }
    }

    /// Adds what a declaration declares to the names.
    fn declare(&mut self, declaration: &Declaration, names: &mut Names) -> Vec<Meaning> {
        let mut added = Vec::new();
        if declaration.space() == Some(StateSpace::Reg) {
            let Some(ty) = declaration.scalar_type() else { return added };
            let lanes = declaration.vector().map_or(1, |length| length.count() as u8);
            for declarator in &declaration.declarators {
                let register = Register { id: self.body.registers.len(), ty, lanes };
                let name = declarator.name.text.clone();
                match &declarator.count {
                    None => {
                        self.body.registers.push(register);
                        names.single.insert(name, Meaning::Register(register));
                        added.push(Meaning::Register(register));
                    }
                    Some(count) => {
                        let count = integer(count, self.rules, self.version).unwrap_or(0).min(1 << 16);
                        self.body.registers.extend(std::iter::repeat_n(register, count as usize));
                        names.families.insert(name, register, count);
                    }
                }
            }
            return added;
        }
        let first = self.body.variables.len();
        let made = declared(declaration, self.rules, self.version, &mut |nth| Place::Function(first + nth));
        for variable in made.into_iter().flatten() {
            let variable = Rc::new(variable);
            self.body.variables.push(variable.clone());
            names.single.insert(variable.name.clone(), Meaning::Variable(variable.clone()));
            added.push(Meaning::Variable(variable));
        }
        added
    }
}

fn integer(expr: &ptxsmith_syntax::Expr, rules: &Rules, version: (u32, u32)) -> Ruled<u64> {
    let rule = (RefusalClass::Dimension, Clause::Dimension);
    Ok(Evaluator::new(rules, version).integer(expr, rule, &mut Trace::default())?.bits)
}

/// The variables in memory that a declaration declares.
fn declared(
    declaration: &Declaration,
    rules: &Rules,
    version: (u32, u32),
    place: &mut dyn FnMut(usize) -> Place,
) -> Ruled<Vec<Variable>> {
    let missing = Stop::Unmodelled("a declaration without a state space or a fundamental type");
    let (Some(space), Some(ty)) = (declaration.space(), declaration.scalar_type()) else {
        return Err(missing);
    };
    let scalar = ty.size().ok_or(missing)?;
    let lanes = declaration.vector().map_or(1, |length| length.count());
    let align = match declaration.align() {
        Some(count) => integer(count, rules, version)?,
        None => scalar * lanes,
    };
    let mut variables = Vec::new();
    for declarator in &declaration.declarators {
        let mut variable = Variable {
            name: declarator.name.text.clone(),
            space,
            ty,
            lanes,
            extents: Vec::new(),
            align,
            size: None,
            place: Place::Module(0),
        };
        if let Some(count) = &declarator.count {
            for number in 0..integer(count, rules, version)?.min(1 << 12) {
                let name = format!("{}{number}", declarator.name.text).into();
                let (size, place) = (Some(scalar * lanes), place(variables.len()));
                variables.push(Variable { name, size, place, ..variable.clone() });
            }
            continue;
        }
        let omitted = match &declarator.initializer {
            Some(ptxsmith_syntax::Initializer::List(list)) => Some(list.items.len() as u64),
            _ => None,
        };
        let extents: Option<Vec<u64>> = declarator
            .dimensions
            .iter()
            .map(|dimension| match dimension {
                Some(dimension) => integer(dimension, rules, version).ok(),
                None => omitted,
            })
            .collect();
        let size = extents.as_ref().and_then(|extents| {
            extents.iter().try_fold(scalar * lanes, |size, &extent| size.checked_mul(extent))
        });
        variable.size = size.filter(|&size| size <= MAX_BYTES);
        variable.extents = extents.unwrap_or_default();
        variable.place = place(variables.len());
        variables.push(variable);
    }
    Ok(variables)
}
