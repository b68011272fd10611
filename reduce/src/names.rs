//! Which statement declares a name and which mentions it, so that no candidate mentions a name that is gone.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Expr, Function, Initializer, Item, Module, NodeKind, Specifier, Statement, Text, Token,
};

use crate::program::is_header;

/// The names that a module declares and mentions. Names are not told apart by scope: a name that is declared in any
/// function is taken for declared. So too much may be kept, but never too little.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Every declared name; with `true`, the prefix of a parameterized one.
    declared: BTreeMap<Text, bool>,
    mentioned: BTreeSet<Text>,
}

impl Names {
    pub(crate) fn of(module: &Module) -> Names {
        let mut names = Names::default();
        module.items.iter().for_each(|item| names.item(item));
        names
    }

    fn of_item(item: &Item) -> Names {
        let mut names = Names::default();
        names.item(item);
        names
    }

    /// Whether a name that `self` declares is mentioned in `smaller`, which does not declare it.
    pub(crate) fn break_in(&self, smaller: &Names) -> bool {
        smaller.mentioned.iter().any(|name| self.declares(name) && !smaller.declares(name))
    }

    /// Whether a name stands anywhere in the module.
    pub(crate) fn knows(&self, name: &Text) -> bool {
        self.mentioned.contains(name) || self.declares(name)
    }

    fn declares(&self, name: &str) -> bool {
        self.declaring(name).is_some()
    }

    /// The declared name that a mentioned one stands for: itself, or the prefix of a parameterized name.
    fn declaring(&self, name: &str) -> Option<&str> {
        if let Some((declared, _)) = self.declared.get_key_value(name) {
            return Some(declared);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let (declared, parameterized) = self.declared.get_key_value(prefix)?;
        parameterized.then_some(declared)
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
            Item::Variables(declaration) => self.declaration(declaration),
            Item::Function(function) => self.function(function),
            Item::Other(tokens) => self.tokens(tokens),
        }
    }

    fn function(&mut self, function: &Function) {
        self.declared.insert(function.name.text.clone(), false);
        let parameters = function.results.iter().chain(&function.parameters).flatten();
        parameters.for_each(|parameter| self.declaration(parameter));
        self.specifiers(&function.before);
        self.specifiers(&function.after);
        self.tokens(&function.directives);
        self.statements(function.body.as_deref().unwrap_or(&[]));
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => self.declaration(declaration),
                Statement::Label(name) => {
                    self.declared.insert(name.text.clone(), false);
                }
                Statement::Block(inner) => self.statements(inner),
                Statement::Instruction(instruction) => {
                    self.mentioned.extend(instruction.names().into_iter().cloned());
                }
                Statement::BranchTargets(table) => {
                    self.mentioned.extend(table.targets.iter().map(|target| target.text.clone()));
                }
                Statement::Tokens(tokens) => self.tokens(tokens),
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.specifiers(&declaration.specifiers);
        for declarator in &declaration.declarators {
            self.declared.insert(declarator.name.text.clone(), declarator.count.is_some());
            declarator.count.iter().chain(declarator.dimensions.iter().flatten()).for_each(|e| self.expr(e));
            declarator.initializer.iter().for_each(|initializer| self.initializer(initializer));
        }
    }

    fn specifiers(&mut self, specifiers: &[Specifier]) {
        for specifier in specifiers {
            match specifier {
                Specifier::Space(_, Some(expr)) | Specifier::Align(expr) => self.expr(expr),
                Specifier::Attributes(attributes) => {
                    attributes.iter().flat_map(|attribute| &attribute.arguments).for_each(|e| self.expr(e));
                }
                _ => {}
            }
        }
    }

    fn initializer(&mut self, initializer: &Initializer) {
        match initializer {
            Initializer::Value(expr) => self.expr(expr),
            Initializer::List(list) => list.items.iter().for_each(|item| self.initializer(item)),
            Initializer::Property(property) => self.expr(&property.value),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.mentioned.extend(expr.nodes().iter().filter_map(|node| match &node.kind {
            NodeKind::Name(name) => Some(name.clone()),
            _ => None,
        }));
    }

    fn tokens(&mut self, tokens: &[Token]) {
        self.mentioned.extend(tokens.iter().map(|token| token.text.clone()));
    }
}

/// The names that a statement declares at module scope; with `true`, the prefix of a parameterized one.
fn outer_names(item: &Item) -> Vec<(Text, bool)> {
    match item {
        Item::Variables(declaration) => {
            let declarators = declaration.declarators.iter();
            declarators.map(|declarator| (declarator.name.text.clone(), declarator.count.is_some())).collect()
        }
        Item::Function(function) => vec![(function.name.text.clone(), false)],
        _ => Vec::new(),
    }
}

/// Which statement of a module needs which.
pub(crate) struct Needs {
    /// For each statement, those that declare what it mentions.
    needs: Vec<BTreeSet<usize>>,
    /// For each statement, those that mention what it declares.
    needed_by: Vec<BTreeSet<usize>>,
}

impl Needs {
    pub(crate) fn of(module: &Module) -> Needs {
        let names: Vec<Names> = module.items.iter().map(Names::of_item).collect();
        // What a function declares within it, no other statement can mean.
        let mut outer = Names::default();
        let mut declaring: BTreeMap<Text, Vec<usize>> = BTreeMap::new();
        for (at, item) in module.items.iter().enumerate() {
            for (name, parameterized) in outer_names(item) {
                outer.declared.insert(name.clone(), parameterized);
                declaring.entry(name).or_default().push(at);
            }
        }
        let mut needs = vec![BTreeSet::new(); names.len()];
        let mut needed_by = vec![BTreeSet::new(); names.len()];
        for (at, names) in names.iter().enumerate() {
            let foreign = names.mentioned.iter().filter(|name| !names.declares(name));
            let declared = foreign.filter_map(|name| outer.declaring(name));
            for &by in declared.filter_map(|name| declaring.get(name)).flatten() {
                needs[at].insert(by);
                needed_by[by].insert(at);
            }
        }
        Needs { needs, needed_by }
    }

    /// These statements and all that they need.
    pub(crate) fn with_needs(&self, statements: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needs, statements)
    }

    /// These statements and all that need them.
    pub(crate) fn with_dependents(&self, statements: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needed_by, statements)
    }
}

fn closure(edges: &[BTreeSet<usize>], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = from.into_iter().collect();
    while let Some(at) = open.pop() {
        if reached.insert(at) {
            open.extend(&edges[at]);
        }
    }
    reached
}

/// The part of a module that declares these names, with everything that it needs, and the header; `None` where nothing
/// declares any of them. Of a declaration of several variables all stay.
///
/// A caller who knows which variable is at fault can begin with its slice.
pub fn slice(module: &Module, names: &[&str]) -> Option<Module> {
    let declares = |item: &Item| {
        let declared =
            Names { declared: outer_names(item).into_iter().collect(), mentioned: BTreeSet::new() };
        names.iter().any(|name| declared.declares(name))
    };
    let declaring: Vec<usize> = (0..module.items.len()).filter(|&at| declares(&module.items[at])).collect();
    if declaring.is_empty() {
        return None;
    }
    let kept = Needs::of(module).with_needs(declaring);
    let items = module.items.iter().enumerate();
    let items = items.filter(|(at, item)| is_header(item) || kept.contains(at));
    Some(Module { items: items.map(|(_, item)| item.clone()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{parse, print};

    #[test]
    fn a_slice_holds_what_is_needed_and_the_header() {
        let module = parse(
            ".version 7.8 .global .b8 a; .global .b64 b = a; .global .b64 c = generic(b) + 4; .global .b8 d; \
             .func f() { ld.global.u64 %r1, [c+8]; ret; } .global .b64 e = f;",
        )
        .unwrap();
        let lines = |names: &[&str]| print(&slice(&module, names).unwrap()).lines().count();
        assert_eq!(lines(&["d"]), 2);
        assert_eq!(lines(&["c"]), 4);
        assert_eq!(print(&slice(&module, &["e"]).unwrap()).matches("ld.global.u64").count(), 1);
        assert_eq!(print(&slice(&module, &["e"]).unwrap()).matches(" .b8 d").count(), 0);
        assert_eq!(slice(&module, &["z"]), None);
    }

    #[test]
    fn functions_with_registers_of_one_name_do_not_need_each_other() {
        let module = parse(
            ".func f() { .reg .b32 %r<2>; mov.u32 %r1, 0; } .func g() { .reg .b32 %r<2>; mov.u32 %r1, 1; call f; }",
        )
        .unwrap();
        let needs = Needs::of(&module);
        assert_eq!(needs.with_needs([0]), BTreeSet::from([0]));
        assert_eq!(needs.with_needs([1]), BTreeSet::from([0, 1]));
        assert_eq!(needs.with_dependents([0]), BTreeSet::from([0, 1]));
    }

    #[test]
    fn a_parameterized_name_declares_its_numbered_ones() {
        let whole = Names::of(&parse(".global .b8 a<4>; .global .b64 b = a3;").unwrap());
        assert!(whole.break_in(&Names::of(&parse(".global .b64 b = a3;").unwrap())));
        assert!(!whole.break_in(&Names::of(&parse(".global .b8 a<4>; .global .b64 c = a3;").unwrap())));
        assert!(!whole.break_in(&Names::of(&parse(".global .b64 b = unknown;").unwrap())));
    }
}
