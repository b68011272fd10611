//! Resolves the names of a module and of a function (5.4, 5.4.6).

use std::collections::BTreeSet;
use std::rc::Rc;

use ptxsmith_syntax::{
    Declaration, Declarator, Function, Item, Module, Name, NameLookup, Names, Role, Statement, Text,
};

use crate::address::{Addressing, SymbolKind};
use crate::clause::Clause;
use crate::declaration::DeclarationContext;
use crate::evaluate::Evaluator;
use crate::refusal::RefusalClass;
use crate::rules::Rules;
use crate::step::Trace;

/// The place of a declarator: the index of the item in the module; the number of the declaration within a function,
/// from 1 (0 at module scope); and the index of the declarator.
pub(super) type DeclaratorPlace = (usize, usize, usize);

/// A declared symbol, and its first declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclaredSymbol {
    pub(super) symbol: SymbolKind,
    pub(super) at: DeclaratorPlace,
}

/// The properties of a module that a single declaration depends on.
#[derive(Clone)]
pub(crate) struct DeclarationScope {
    pub(super) names: Rc<Names<DeclaredSymbol>>,
    /// The names that module scope declares more than once.
    pub(super) repeated: Rc<BTreeSet<Text>>,
    pub(super) version: (u32, u32),
    pub(crate) addressing: Addressing,
    /// Whether a statement that does not parse may declare more names.
    pub(super) unread: bool,
    /// Names that a function declares several times, or in an inner block. A use of such a name is not resolved.
    pub(super) several: Rc<BTreeSet<Text>>,
    /// Names that a function declares and the module declares too.
    pub(super) hiding: Rc<BTreeSet<Text>>,
    /// The names declared by `.alias`.
    pub(super) aliases: Rc<BTreeSet<Text>>,
}

/// One declarator and its context.
pub(super) struct DeclaratorSite<'m> {
    pub(super) declaration: &'m Declaration,
    pub(super) declarator: &'m Declarator,
    pub(super) context: DeclarationContext,
    pub(super) role: Role,
    /// Whether its scope declares the name more than once.
    pub(super) repeated: bool,
    /// Whether it is in a nested block of a function body.
    is_inner: bool,
    /// The number of its declaration in the function, from 1; 0 at module scope.
    pub(super) statement: usize,
}

impl<'m> DeclaratorSite<'m> {
    pub(super) fn at_module_scope(
        declaration: &'m Declaration,
        declarator: &'m Declarator,
        scope: &DeclarationScope,
    ) -> DeclaratorSite<'m> {
        let repeated = scope.repeated.contains(&declarator.name.text);
        DeclaratorSite {
            declaration,
            declarator,
            context: DeclarationContext::Module,
            role: declarator.role(),
            repeated,
            is_inner: false,
            statement: 0,
        }
    }
}

/// The declarations of a function.
#[derive(Default)]
pub(super) struct FunctionDeclarations<'m> {
    /// Results, parameters and the variables of the body, including nested blocks, in source order.
    pub(super) sites: Vec<DeclaratorSite<'m>>,
    labels: Vec<&'m Name>,
    /// Labels with a name that the block has declared before.
    pub(super) repeated: Vec<&'m Name>,
    /// Whether a statement does not parse, and may declare names.
    pub(super) unread: bool,
}

impl<'m> FunctionDeclarations<'m> {
    fn add(
        &mut self,
        declaration: &'m Declaration,
        (context, is_inner): (DeclarationContext, bool),
        names: &mut Names<()>,
        role: &impl Fn(&Declarator) -> Role,
    ) {
        let statement = self.sites.last().map_or(0, |last| last.statement) + 1;
        for declarator in &declaration.declarators {
            let (name, role) = (&declarator.name.text, role(declarator));
            // A parameter of a prototype may be unnamed.
            let repeated = names.declares(name, role) && name != "_";
            names.declare_by_role(name, role, ());
            self.sites.push(DeclaratorSite {
                declaration,
                declarator,
                context,
                role,
                repeated,
                is_inner,
                statement,
            });
        }
    }
}

pub(super) fn sites<'m>(
    function: &'m Function,
    role: &impl Fn(&Declarator) -> Role,
) -> FunctionDeclarations<'m> {
    let mut found = FunctionDeclarations::default();
    let mut names = Names::default();
    for declaration in function.results.iter().chain(&function.parameters).flatten() {
        found.add(declaration, (DeclarationContext::Parameter, false), &mut names, role);
    }
    let mut open = vec![(function.body.as_deref().unwrap_or_default().iter(), names)];
    loop {
        let is_inner = open.len() > 1;
        let Some((statements, names)) = open.last_mut() else { return found };
        match statements.next() {
            None => drop(open.pop()),
            Some(Statement::Block(inner)) => open.push((inner.iter(), Names::default())),
            Some(Statement::Variables(declaration)) => {
                found.add(declaration, (DeclarationContext::Body, is_inner), names, role);
            }
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
}

impl DeclarationScope {
    /// Returns this scope extended with the declarations of the function at `index`.
    pub(super) fn within(&self, index: usize, found: &FunctionDeclarations<'_>) -> DeclarationScope {
        let mut names = Names::within(self.names.clone());
        let (mut several, mut hiding) = (BTreeSet::new(), BTreeSet::new());
        for label in &found.labels {
            // The position of the label is not kept, and before the label its name may refer to a declaration of the
            // module.
            if self.names.declares(&label.text, Role::Label) {
                several.insert(label.text.clone());
            }
            // A reference to a label is refused at any position, so the position does not matter.
            names.declare(label.text.clone(), DeclaredSymbol { symbol: SymbolKind::Label, at: (0, 0, 0) });
        }
        for (nth, site) in found.sites.iter().enumerate() {
            let name = &site.declarator.name.text;
            if site.is_inner || names.declares(name, site.role) {
                several.insert(name.clone());
            }
            if self.names.declares(name, site.role) {
                hiding.insert(name.clone());
            }
            let declared = DeclaredSymbol {
                symbol: SymbolKind::Variable(site.declaration.space()),
                at: (index, site.statement, nth),
            };
            names.declare_by_role(name, site.role, declared);
        }
        DeclarationScope {
            names: Rc::new(names),
            unread: self.unread || found.unread,
            several: Rc::new(several),
            hiding: Rc::new(hiding),
            ..self.clone()
        }
    }

    /// Collects the declarations at module scope.
    pub fn new(module: &Module, rules: &Rules) -> DeclarationScope {
        let architecture = module.targets().find_map(|target| {
            let digits: String =
                target.strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        let version = module.version().unwrap_or((u32::MAX, 0));
        let mut scope = DeclarationScope {
            names: Rc::default(),
            repeated: Rc::default(),
            version,
            addressing: Addressing { architecture, is_32_bit: module.address_size() == Some(32) },
            unread: false,
            several: Rc::default(),
            hiding: Rc::default(),
            aliases: Rc::new(aliases(module).cloned().collect()),
        };
        let mut names = Names::default();
        let mut defined = BTreeSet::new();
        let mut repeated = BTreeSet::new();
        for (index, item) in module.items.iter().enumerate() {
            match item {
                Item::Variables(declaration) => {
                    for (nth, declarator) in declaration.declarators.iter().enumerate() {
                        let (name, role) = (&declarator.name.text, scope.role(declarator, rules));
                        // The first of several declarations counts.
                        if names.declares(name, role) {
                            repeated.insert(name.clone());
                        } else {
                            let symbol = SymbolKind::Variable(declaration.space());
                            names.declare_by_role(name, role, DeclaredSymbol { symbol, at: (index, 0, nth) });
                        }
                    }
                }
                Item::Function(function) => {
                    let name = &function.name.text;
                    let before = names.find(name, |_, digits| ptxsmith_syntax::numbered(digits)).declared();
                    let is_function =
                        before.is_none_or(|declared| matches!(declared.symbol, SymbolKind::Function(_)));
                    // Prototypes may be repeated.
                    if !is_function || (function.body.is_some() && !defined.insert(name)) {
                        repeated.insert(name.clone());
                    }
                    let declared =
                        DeclaredSymbol { symbol: SymbolKind::Function(function.kind), at: (index, 0, 0) };
                    names.declare_new(name.clone(), declared);
                }
                Item::Unread(_) => scope.unread = true,
                Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) => {}
            }
        }
        DeclarationScope { names: Rc::new(names), repeated: Rc::new(repeated), ..scope }
    }

    /// Returns the role of a declarator, with its count evaluated. An invalid count yields 0 here; it is refused when
    /// the declaration is judged.
    pub(super) fn role(&self, declarator: &Declarator, rules: &Rules) -> Role {
        let Some(count) = &declarator.count else { return Role::Variable };
        let rule = (RefusalClass::Parameterized, Clause::ParameterizedNames);
        let count = Evaluator::new(rules, self.version).integer(count, rule, &mut Trace::default());
        Role::Prefix(count.map_or(0, |count| count.bits))
    }
}

/// Iterates over the names that `.alias` declares.
pub(crate) fn aliases(module: &Module) -> impl Iterator<Item = &Text> {
    module.items.iter().filter_map(|item| match item {
        Item::Other(tokens) => match &tokens[..] {
            [directive, alias, ..] if directive.text == ".alias" => Some(&alias.text),
            _ => None,
        },
        _ => None,
    })
}

/// Looks up a name under these rules, which define parameterized names (5.4.6).
pub(crate) fn find<'n, T>(names: &'n Names<T>, name: &str, rules: &Rules) -> NameLookup<'n, T> {
    names.find(name, |prefix, number| rules.layout.numbered.apply(prefix, number))
}
