//! Converts the statements of a module to trees of nodes of one type, which patterns are matched against.
//!
//! [`Names`] resolves names in source order: a name that is declared later is not yet visible. Instructions
//! that the parser keeps as tokens are converted to the same nodes as the others.

mod registers;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Initializer, Item, MAX_NESTING, Module, Name,
    NameLookup, Names, NodeKind, Operand, ScalarType, Span, Specifier, StateSpace, Statement, Text, Token,
    numbered,
};

use super::constants::known_result;
use super::facts::{ModuleFacts, declare, has_name, operand_names};
use super::node::{PatternKind, PatternNode, Referent, node};
use registers::sets_first;

/// Visits the statements of a module in source order: the header, declarations, functions without their
/// bodies, and the statements of the bodies.
pub(super) struct Walk<'m, F> {
    names: Rc<Names<Rc<Referent>>>,
    facts: ModuleFacts<'m>,
    visit: F,
    in_body: bool,
    passed: BTreeSet<&'m str>,
    set: BTreeSet<&'m str>,
    used: BTreeSet<&'m str>,
    /// The registers that only one instruction of the function sets.
    set_once: BTreeSet<&'m str>,
    labels: Vec<PatternNode<'m>>,
    /// The instruction that set each register last, and the number of labels before it.
    setters: BTreeMap<Text, (usize, usize)>,
    /// The instruction that sets each register first, in the order of the text.
    first_setters: BTreeMap<Text, usize>,
    /// The number of labels so far.
    labels_before: usize,
    /// The registers that a branch has found equal to a constant, behind the last label, not set since.
    equated: BTreeSet<Text>,
    /// The same behind each label to which only such a branch leads.
    equated_at: BTreeMap<&'m str, Text>,
    /// The number of branches that name each label.
    branches_to: BTreeMap<&'m str, u32>,
    /// Whether the last instruction always jumps.
    has_jumped: bool,
    local: u128,
    others: u128,
}

impl<'m, F: FnMut(&PatternNode<'m>, &ModuleFacts<'m>)> Walk<'m, F> {
    pub fn over(module: &'m Module, visit: F) {
        let facts = ModuleFacts::new(module);
        let mut walk = Walk {
            names: Rc::default(),
            facts,
            visit,
            in_body: false,
            passed: BTreeSet::new(),
            set: BTreeSet::new(),
            used: BTreeSet::new(),
            set_once: BTreeSet::new(),
            labels: Vec::new(),
            setters: BTreeMap::new(),
            first_setters: BTreeMap::new(),
            labels_before: 0,
            equated: BTreeSet::new(),
            equated_at: BTreeMap::new(),
            branches_to: BTreeMap::new(),
            has_jumped: false,
            local: 0,
            others: 0,
        };
        let span = module.items.first().map_or(Span::NONE, Item::span);
        walk.show(node(PatternKind::Module, "", span, Vec::new()));
        module.items.iter().for_each(|item| walk.item(item));
    }

    /// Shows a statement to the visitor.
    fn show(&mut self, node: PatternNode<'m>) {
        let mut node = PatternNode { in_body: self.in_body, ..node };
        let is_list = node.parts.first().is_some_and(|first| first.kind == Some(PatternKind::List));
        let sets = node.kind == Some(PatternKind::Instruction)
            && sets_first(&node.text, is_list && node.parts.len() > 1);
        if let Some(destination) = node.parts.first_mut().filter(|_| sets) {
            // The instruction does not read what it held before.
            destination.each_mut(&mut |part| (part.setter, part.known, part.equated) = Default::default());
        }
        (self.visit)(&node, &self.facts);
        if sets {
            self.sets(node);
        }
    }

    fn declare(&mut self, name: &Text, count: Option<&Expr>, referent: Rc<Referent>) {
        declare(Rc::make_mut(&mut self.names), name, count, referent);
    }

    fn item(&mut self, item: &'m Item) {
        match item {
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
            Item::Variables(declaration) => self.declaration(declaration, false),
            Item::Function(function) => self.function(function),
            Item::Other(tokens) => self.directive(tokens, item.span()),
            Item::Unread(unread) => self.unread(&unread.tokens, unread.span()),
        }
    }

    fn function(&mut self, function: &'m Function) {
        let head = match function.kind {
            FunctionKind::Entry => ".entry",
            FunctionKind::Func => ".func",
        };
        let specifiers = function.before.iter().chain(&function.after).map(word_of);
        let words: Rc<[Text]> = specifiers.chain([Text::const_new(head)]).collect();
        let mut parts = vec![self.declared_name(&function.name)];
        for token in &function.directives {
            let leaf = self.leaf(token);
            match (leaf.kind, parts.last_mut()) {
                (Some(PatternKind::Word), _) => {
                    parts.push(PatternNode { kind: Some(PatternKind::Directive), ..leaf })
                }
                (_, Some(directive)) => directive.parts.push(leaf),
                _ => {}
            }
        }
        let name = &function.name;
        let referent = Referent { what: "function", words: words.clone(), ..Referent::default() };
        self.declare(&name.text, None, Rc::new(referent));
        self.show(PatternNode {
            words,
            ..node(PatternKind::Function, name.text.clone(), function.span, parts)
        });
        let outer = self.names.clone();
        self.names = Rc::new(Names::within(outer.clone()));
        self.local = 0;
        self.facts.function = function.name.text.clone();
        self.facts.instructions.clear();
        self.record_uses(function);
        let passed = function.results.iter().chain(&function.parameters).flatten();
        passed.for_each(|declaration| self.declaration(declaration, true));
        self.in_body = true;
        self.block(function.body.as_deref().unwrap_or_default());
        self.in_body = false;
        self.names = outer;
    }

    fn block(&mut self, statements: &'m [Statement]) {
        // A label is visible before its own position, so declare all labels of the block first.
        for (at, statement) in statements.iter().enumerate() {
            if let Statement::Label(name) = statement {
                let words = match statements.get(at + 1) {
                    Some(Statement::Tokens(tokens)) if tokens[0].text.starts_with('.') => dotted(tokens),
                    _ => Rc::default(),
                };
                let is_prototype = words.first().is_some_and(|word| word == ".callprototype");
                let what = if is_prototype { "prototype" } else { "label" };
                let referent = Rc::new(Referent { what, words, ..Referent::default() });
                Rc::make_mut(&mut self.names).declare_new(name.text.clone(), referent);
            }
        }
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => self.declaration(declaration, false),
                Statement::Label(name) => {
                    let own = self.name(&name.text, name.span);
                    self.reach_label(&name.text);
                    self.labels.push(node(PatternKind::Label, name.text.clone(), name.span, vec![own]));
                    continue;
                }
                Statement::Block(inner) => {
                    let outer = self.names.clone();
                    self.names = Rc::new(Names::within(outer.clone()));
                    self.block(inner);
                    self.names = outer;
                }
                Statement::Instruction(own) => {
                    let parts = own.operands.iter().map(|operand| self.operand(operand)).collect();
                    let words = own.modifiers.iter().map(|word| word.text.clone()).collect();
                    let instruction = node(PatternKind::Instruction, own.opcode.keyword(), own.span, parts);
                    let known = known_result(own, &instruction.parts, &self.facts);
                    let guarded = own.guard.is_some();
                    self.show(PatternNode { words, known, guarded, ..instruction });
                    self.record_branch(own);
                }
                Statement::BranchTargets(_) => {}
                Statement::Tokens(tokens) => {
                    let span = tokens[0].span.to(tokens[tokens.len() - 1].span);
                    if tokens[0].text.starts_with('.') {
                        self.directive(tokens, span);
                    } else {
                        let instruction = self.instruction(tokens, span);
                        self.show(instruction);
                    }
                }
                Statement::Unread(unread) => self.unread(&unread.tokens, unread.span()),
            }
            self.labels.clear();
        }
    }

    fn directive(&mut self, tokens: &'m [Token], span: Span) {
        let mut parts = std::mem::take(&mut self.labels);
        parts.extend(tokens.iter().skip(1).map(|token| self.leaf(token)));
        let text = tokens.first().map_or(Text::default(), |first| first.text.clone());
        self.show(PatternNode { words: dotted(tokens), ..node(PatternKind::Directive, text, span, parts) });
    }

    fn unread(&mut self, tokens: &'m [Token], span: Span) {
        let parts = tokens.iter().map(|token| self.leaf(token)).collect();
        self.show(PatternNode { words: dotted(tokens), ..node(PatternKind::Unread, "", span, parts) });
    }

    fn declaration(&mut self, declaration: &'m Declaration, in_parameters: bool) {
        let words: Rc<[Text]> = declaration.variable_specifiers().map(word_of).collect();
        let mut parts: Vec<PatternNode<'m>> = Vec::new();
        for specifier in declaration.variable_specifiers() {
            parts.push(match specifier {
                Specifier::Align(count) => {
                    let count = self.expr(count);
                    node(PatternKind::Align, ".align", count.span, vec![count])
                }
                other => node(PatternKind::Word, word_of(other), declaration.span, Vec::new()),
            });
        }
        for declarator in &declaration.declarators {
            let declarator = self.declarator(declarator, declaration, &words, in_parameters);
            parts.push(declarator);
        }
        self.show(PatternNode {
            words,
            in_parameters,
            ..node(PatternKind::Declaration, "", declaration.span, parts)
        });
    }

    /// Creates the node of a declarator and declares its name.
    fn declarator(
        &mut self,
        declarator: &'m Declarator,
        declaration: &'m Declaration,
        words: &Rc<[Text]>,
        in_parameters: bool,
    ) -> PatternNode<'m> {
        let space = declaration.space();
        let mut inner = vec![self.declared_name(&declarator.name)];
        let referent = Referent {
            what: if space == Some(StateSpace::Reg) { "register" } else { "variable" },
            words: words.clone(),
            scalar: declaration.scalar_type(),
            is_opaque: declaration.variable_specifiers().any(|word| matches!(word, Specifier::Opaque(_))),
            in_body: self.in_body,
            is_parameter: in_parameters,
            is_passed: has_name(&self.passed, declarator),
            is_set: has_name(&self.set, declarator),
            is_used: has_name(&self.used, declarator),
            lanes: declaration.vector().map_or(1, |length| length.count()),
        };
        let size = size_of(declarator, &referent);
        let referent = Rc::new(referent);
        self.declare(&declarator.name.text, declarator.count.as_ref(), referent.clone());
        let total = match space {
            Some(StateSpace::Local) => &mut self.local,
            _ => &mut self.others,
        };
        if let Some(StateSpace::Local | StateSpace::Global) = space {
            *total = total.saturating_add(size);
        }
        let bytes = (size, *total);
        if let Some(count) = &declarator.count {
            let count = self.expr(count);
            inner.push(node(PatternKind::Prefix, "", count.span, vec![count]));
        }
        for count in &declarator.dimensions {
            let count: Vec<PatternNode<'m>> = count.iter().map(|count| self.expr(count)).collect();
            let span = count.first().map_or(declarator.name.span, |count| count.span);
            inner.push(node(PatternKind::Dimension, "", span, count));
        }
        if let Some(value) = &declarator.initializer {
            let value = self.initializer(value);
            inner.push(node(PatternKind::Initializer, "", value.span, vec![value]));
        }
        let hidden = !self.in_body && !in_parameters && self.facts.hides(declarator);
        let name = &declarator.name;
        PatternNode {
            words: words.clone(),
            bytes,
            hidden,
            referent: Some(referent),
            ..node(PatternKind::Declarator, name.text.clone(), name.span, inner)
        }
    }

    fn initializer(&self, value: &'m Initializer) -> PatternNode<'m> {
        match value {
            Initializer::Value(expr) => self.expr(expr),
            Initializer::List(list) => {
                let parts = list.items.iter().map(|value| self.initializer(value)).collect();
                node(PatternKind::List, "", list.span, parts)
            }
            Initializer::Property(property) => {
                let parts = vec![self.expr(&property.value)];
                node(PatternKind::Property, property.name.text.clone(), value.span(), parts)
            }
        }
    }

    fn name(&self, text: &Text, span: Span) -> PatternNode<'m> {
        if text == "_" {
            return node(PatternKind::Sink, "_", span, Vec::new());
        }
        let found = self.names.find(text, |_, digits| numbered(digits));
        let repeats = matches!(found, NameLookup::Numbered(..)).then_some(true);
        let referent = found.declared().cloned();
        let setter = self.setter(text);
        let known = setter.and_then(|setter| self.facts.instructions[setter].known);
        let equated = self.equated.contains(text);
        PatternNode {
            referent,
            repeats,
            setter,
            first_setter: self.first_setters.get(text).copied(),
            known,
            equated,
            ..node(PatternKind::Name, text.clone(), span, Vec::new())
        }
    }

    /// Creates the node of a declared name, with the earlier declaration of the same scope that has this name
    /// or, for a `PREFIX<N>`, declares a name with the same number.
    fn declared_name(&self, name: &Name) -> PatternNode<'m> {
        let mut referent = None;
        let mut repeats = None;
        for candidate in self.names.candidates(&name.text) {
            let digits = &name.text[candidate.written..];
            // Read modulo 2^32 and with leading zeros, the digits may be the number of another name.
            let lenient = digits
                .bytes()
                .fold(0_u32, |number, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
            match candidate.count {
                None => referent = Some(candidate.declared.clone()),
                Some(count) if u64::from(lenient) < count => {
                    let is_same = numbered(digits).is_some_and(|number| number < count);
                    repeats = Some(repeats.unwrap_or(false) || is_same);
                }
                Some(_) => {}
            }
        }
        PatternNode { referent, repeats, ..node(PatternKind::Name, name.text.clone(), name.span, Vec::new()) }
    }

    fn leaf(&self, token: &'m Token) -> PatternNode<'m> {
        let (text, span) = (token.text.clone(), token.span);
        let second = text.as_bytes().get(1);
        let kind = match text.as_bytes().first() {
            Some(b'"') => PatternKind::Text,
            Some(b'0'..=b'9') => PatternKind::Number,
            Some(b'.') if second.is_some_and(u8::is_ascii_digit) => PatternKind::Number,
            Some(b'.') => PatternKind::Word,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => return self.name(&text, span),
            Some(b'%') if second.is_some() => return self.name(&text, span),
            _ => PatternKind::Mark,
        };
        node(kind, text, span, Vec::new())
    }

    fn operand(&self, operand: &'m Operand) -> PatternNode<'m> {
        match operand {
            Operand::Value(expr) => self.expr(expr),
            Operand::Address(expr) => around(PatternKind::Address, vec![self.expr(expr)]),
            Operand::Element(name, index) => {
                around(PatternKind::Element, vec![self.name(&name.text, name.span), self.expr(index)])
            }
            Operand::Component(name, suffix) => {
                self.component(self.name(&name.text, name.span), &suffix.text)
            }
            Operand::Vector(parts) => around(PatternKind::Vector, self.nodes_of(parts)),
            Operand::List(parts) => around(PatternKind::List, self.nodes_of(parts)),
        }
    }

    fn nodes_of(&self, operands: &'m [Operand]) -> Vec<PatternNode<'m>> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn component(&self, name: PatternNode<'m>, suffix: &Text) -> PatternNode<'m> {
        PatternNode { kind: Some(PatternKind::Component), words: [suffix.clone()].into(), ..name }
    }

    /// Creates the node of an expression. Parts that nest deeper than the parser's limit become an empty node
    /// with a span.
    fn expr(&self, expr: &'m Expr) -> PatternNode<'m> {
        let mut created = CreatedNodes(Vec::with_capacity(expr.nodes().len()));
        for (id, expr_node) in (0..).zip(expr.nodes()) {
            let (kind, text, operands): (_, &str, Vec<u32>) = match &expr_node.kind {
                NodeKind::Number(text) => (PatternKind::Number, text, vec![]),
                NodeKind::WarpSize => (PatternKind::Number, "WARP_SZ", vec![]),
                NodeKind::Name(text) => (PatternKind::Name, text, vec![]),
                NodeKind::Paren(a) => (PatternKind::Parens, "", vec![*a]),
                NodeKind::Unary(op, a) => (PatternKind::Operator, op.symbol(), vec![*a]),
                NodeKind::Cast(op, a) => (PatternKind::Operator, op.symbol(), vec![*a]),
                NodeKind::Generic(a) => (PatternKind::Operator, "generic", vec![*a]),
                NodeKind::Mask(mask, a) => (PatternKind::Operator, mask, vec![*a]),
                NodeKind::Binary(op, a, b) => (PatternKind::Operator, op.symbol(), vec![*a, *b]),
                NodeKind::Ternary(a, b, c) => (PatternKind::Operator, "?", vec![*a, *b, *c]),
            };
            let (operands, depth) = created.take(&operands);
            let pattern_node = match kind {
                PatternKind::Name => self.name(&text.into(), expr_node.span),
                _ if depth > MAX_NESTING => node(PatternKind::Mark, "", expr_node.span, Vec::new()),
                _ => node(kind, text, expr_node.span, operands),
            };
            let pattern_node = PatternNode { expr: Some((expr, id)), ..pattern_node };
            created.0.push(Some((pattern_node, depth.min(MAX_NESTING))));
        }
        created.0.pop().flatten().map(|(root, _)| root).unwrap_or_default()
    }
}

/// The nodes of an expression created so far, by id, with their depth. A node that has become an operand is
/// taken out.
struct CreatedNodes<'m>(Vec<Option<(PatternNode<'m>, usize)>>);

impl<'m> CreatedNodes<'m> {
    /// Takes these operands and returns them with the depth of the node above them.
    fn take(&mut self, operands: &[u32]) -> (Vec<PatternNode<'m>>, usize) {
        let mut parts = Vec::with_capacity(operands.len());
        let mut depth = 0;
        for &id in operands {
            if let Some((part, below)) = self.0[id as usize].take() {
                depth = depth.max(below + 1);
                parts.push(part);
            }
        }
        (parts, depth)
    }
}

/// Creates a node that spans all of its parts.
fn around<'m>(kind: PatternKind, parts: Vec<PatternNode<'m>>) -> PatternNode<'m> {
    let span = match (parts.first(), parts.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::NONE,
    };
    node(kind, "", span, parts)
}

/// Returns the words among these tokens that begin with a dot.
fn dotted(tokens: &[Token]) -> Rc<[Text]> {
    tokens.iter().filter(|token| token.text.starts_with('.')).map(|token| token.text.clone()).collect()
}

fn word_of(specifier: &Specifier) -> Text {
    match specifier {
        Specifier::Linkage(linkage) => Text::const_new(linkage.keyword()),
        Specifier::Space(space, _) => Text::const_new(space.keyword()),
        Specifier::Align(_) => Text::const_new(".align"),
        Specifier::Attributes(_) => Text::const_new(".attribute"),
        Specifier::Vector(length) => Text::const_new(length.keyword()),
        Specifier::Type(ty) => Text::const_new(ty.keyword()),
        Specifier::Opaque(ty) => Text::const_new(ty.keyword()),
        Specifier::Ptr => Text::const_new(".ptr"),
        Specifier::Word(name) => name.text.clone(),
    }
}

/// Returns the size of a variable in bytes. Dimensions that are not plain numbers count as 1.
fn size_of(declarator: &Declarator, referent: &Referent) -> u128 {
    let element = u128::from(referent.scalar.map_or(0, ScalarType::bytes) * referent.lanes);
    let counts = declarator.dimensions.iter().flatten().map(|count| count.as_integer().unwrap_or(1));
    counts.fold(element, |size, count| size.saturating_mul(count.into()))
}
