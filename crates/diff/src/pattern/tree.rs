//! Converts the statements of a module to trees of nodes of one type, which patterns are matched against.
//!
//! [`Names`] resolves names in source order: a name that is declared later is not yet visible. Instructions that the parser keeps as tokens
//! are converted to the same nodes as the others.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Found, Function, FunctionKind, Gap, Initializer, Item, MAX_NESTING,
    Module, Name, Names, NodeKind, Opcode, Operand, ScalarType, Span, Specifier, StateSpace, Statement, Text,
    Token, numbered,
};

use super::facts::{Facts, declare, has_name, operand_names};

ptxsmith_syntax::every! {
    /// The kind of a node.
    pub enum Kind {
        Module = "module", Declaration = "declaration", Declarator = "declarator", Word = "word", Align = "align",
        Prefix = "prefix", Dimension = "dimension", Initializer = "initializer", Property = "property",
        Function = "function", Directive = "directive", Unread = "unread", Instruction = "instruction",
        Label = "label", Name = "name", Sink = "sink", Number = "number", Text = "string", Operator = "operator",
        Parens = "parens", Address = "address", Element = "element", Component = "component", Vector = "vector",
        List = "list", Mark = "mark",
    }
}

/// The declaration that a name refers to.
#[derive(Debug, Default)]
pub(super) struct Thing {
    /// `register`, `variable`, `function`, `label` or `prototype`.
    pub what: &'static str,
    /// The dotted words of the declaration.
    pub words: Rc<[Text]>,
    pub scalar: Option<ScalarType>,
    pub is_opaque: bool,
    pub in_body: bool,
    pub is_parameter: bool,
    /// Whether a call in the function passes it, or returns a value in it.
    pub is_passed: bool,
    /// Whether an instruction of the function other than a load, store or call sets it, or an element of it.
    pub is_set: bool,
    /// Whether an instruction of the function uses it.
    pub is_used: bool,
    pub lanes: u64,
}

/// A statement or a part of one.
#[derive(Default)]
pub(super) struct Node<'m> {
    pub kind: Option<Kind>,
    pub text: Text,
    pub words: Rc<[Text]>,
    pub span: Span,
    pub parts: Vec<Node<'m>>,
    pub thing: Option<Rc<Thing>>,
    /// Of a name that refers to a `PREFIX<N>`, or of a declared name that repeats one: true if it is spelled as the `PREFIX<N>` spells it,
    /// false if its number is written in another way. `None` for all other names.
    pub repeats: Option<bool>,
    /// Whether a body declares a variable that the compiler may confuse with this declarator of the module.
    pub hidden: bool,
    /// The bytes of a declarator, and the total of its state space up to and including it: within its function for `.local`, within the
    /// module for `.global`.
    pub bytes: (u128, u128),
    pub expr: Option<(&'m Expr, u32)>,
    pub in_body: bool,
    pub in_parameters: bool,
    /// For the name of a register, the instruction that set it last, if no label stands in between.
    pub setter: Option<Rc<Node<'m>>>,
    /// The length of the longest chain of such instructions that leads to this node.
    pub chain: usize,
}

/// The maximum length of a chain from an instruction to the instructions that set its operands.
const LONGEST_CHAIN: usize = 8;

/// Visits the statements of a module in source order: the header, declarations, functions without their bodies, and the statements of the
/// bodies.
pub(super) struct Walk<'m, F> {
    names: Rc<Names<Rc<Thing>>>,
    facts: Facts<'m>,
    visit: F,
    in_body: bool,
    passed: BTreeSet<&'m str>,
    set: BTreeSet<&'m str>,
    used: BTreeSet<&'m str>,
    labels: Vec<Node<'m>>,
    setters: BTreeMap<Text, Rc<Node<'m>>>,
    local: u128,
    others: u128,
}

fn node<'m>(kind: Kind, text: impl Into<Text>, span: Span, parts: Vec<Node<'m>>) -> Node<'m> {
    Node { kind: Some(kind), text: text.into(), span, parts, ..Node::default() }
}

impl<'m> Node<'m> {
    /// Returns the length of the longest chain that leads to a part of the node.
    fn deepest_chain(&self) -> Option<usize> {
        let own = self.setter.iter().map(|setter| setter.chain);
        own.chain(self.parts.iter().filter_map(Node::deepest_chain)).max()
    }

    /// Calls `show` for each name in the node.
    fn each_name(&self, show: &mut dyn FnMut(&Text)) {
        if self.kind == Some(Kind::Name) {
            show(&self.text);
        }
        self.parts.iter().for_each(|part| part.each_name(show));
    }
}

impl<'m, F: FnMut(&Node<'m>, &Facts<'m>)> Walk<'m, F> {
    pub fn over(module: &'m Module, visit: F) {
        let facts = Facts::of(module);
        let names = Rc::default();
        let (passed, set, used, labels, setters) = Default::default();
        let (local, others) = (0, 0);
        let mut walk =
            Walk { names, facts, visit, in_body: false, passed, set, used, labels, setters, local, others };
        let span = module.items.first().map_or(Span::NONE, Item::span);
        walk.give(node(Kind::Module, "", span, Vec::new()));
        module.items.iter().for_each(|item| walk.item(item));
    }

    fn give(&mut self, node: Node<'m>) {
        let node = Node { in_body: self.in_body, ..node };
        (self.visit)(&node, &self.facts);
        if node.kind == Some(Kind::Instruction) && !["st", "red", "bra", "call"].contains(&&*node.text) {
            self.sets(node);
        }
    }

    /// Records the registers that an instruction sets: those in its first operand.
    fn sets(&mut self, node: Node<'m>) {
        let setters = node.parts.iter().filter_map(|part| Some(part.deepest_chain()? + 1));
        let node = Rc::new(Node { chain: setters.max().unwrap_or(0), ..node });
        let Some(first) = node.parts.first() else { return };
        first.each_name(&mut |name| drop(self.setters.insert(name.clone(), node.clone())));
    }

    fn declare(&mut self, name: &Text, count: Option<&Expr>, thing: Rc<Thing>) {
        declare(Rc::make_mut(&mut self.names), name, count, thing);
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
                (Some(Kind::Word), _) => parts.push(Node { kind: Some(Kind::Directive), ..leaf }),
                (_, Some(directive)) => directive.parts.push(leaf),
                _ => {}
            }
        }
        let name = &function.name;
        let thing = Thing { what: "function", words: words.clone(), ..Thing::default() };
        self.declare(&name.text, None, Rc::new(thing));
        self.give(Node { words, ..node(Kind::Function, name.text.clone(), function.span, parts) });
        let outer = self.names.clone();
        self.names = Rc::new(Names::within(outer.clone()));
        self.local = 0;
        self.facts.function = function.name.text.clone();
        (self.passed, self.set, self.used, self.setters) = Default::default();
        for statement in function.statements() {
            if let Statement::Tokens(tokens) = statement {
                self.used.extend(tokens.iter().map(|token| token.text.as_str()));
            }
            let Statement::Instruction(own) = statement else { continue };
            self.used.extend(own.operands.iter().flat_map(operand_names));
            match own.opcode {
                Opcode::Call => self.passed.extend(own.operands.iter().flat_map(operand_names)),
                Opcode::Ld | Opcode::St => {}
                _ => self.set.extend(own.operands.iter().take(1).flat_map(operand_names)),
            }
        }
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
                let thing = Rc::new(Thing { what, words, ..Thing::default() });
                Rc::make_mut(&mut self.names).declare_new(name.text.clone(), thing);
            }
        }
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => self.declaration(declaration, false),
                Statement::Label(name) => {
                    let own = self.name(&name.text, name.span);
                    self.setters.clear();
                    self.labels.push(node(Kind::Label, name.text.clone(), name.span, vec![own]));
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
                    let instruction = node(Kind::Instruction, own.opcode.keyword(), own.span, parts);
                    self.give(Node { words, ..instruction });
                }
                Statement::BranchTargets(_) => {}
                Statement::Tokens(tokens) => {
                    let span = tokens[0].span.to(tokens[tokens.len() - 1].span);
                    match tokens[0].text.starts_with('.') {
                        true => self.directive(tokens, span),
                        false => {
                            let instruction = self.instruction(tokens, span);
                            self.give(instruction);
                        }
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
        self.give(Node { words: dotted(tokens), ..node(Kind::Directive, text, span, parts) });
    }

    fn unread(&mut self, tokens: &'m [Token], span: Span) {
        let parts = tokens.iter().map(|token| self.leaf(token)).collect();
        self.give(Node { words: dotted(tokens), ..node(Kind::Unread, "", span, parts) });
    }

    fn declaration(&mut self, declaration: &'m Declaration, in_parameters: bool) {
        let words: Rc<[Text]> = declaration.own().map(word_of).collect();
        let mut parts: Vec<Node<'m>> = Vec::new();
        for specifier in declaration.own() {
            let own = match specifier {
                Specifier::Align(count) => {
                    let count = self.expr(count);
                    node(Kind::Align, ".align", count.span, vec![count])
                }
                other => node(Kind::Word, word_of(other), declaration.span, Vec::new()),
            };
            parts.push(own);
        }
        let space = declaration.space();
        for own in &declaration.declarators {
            let mut inner = vec![self.declared_name(&own.name)];
            let thing = Thing {
                what: if space == Some(StateSpace::Reg) { "register" } else { "variable" },
                words: words.clone(),
                scalar: declaration.scalar_type(),
                is_opaque: declaration.own().any(|word| matches!(word, Specifier::Opaque(_))),
                in_body: self.in_body,
                is_parameter: in_parameters,
                is_passed: has_name(&self.passed, own),
                is_set: has_name(&self.set, own),
                is_used: has_name(&self.used, own),
                lanes: declaration.vector().map_or(1, |length| length.count()),
            };
            let size = size_of(own, &thing);
            let thing = Rc::new(thing);
            self.declare(&own.name.text, own.count.as_ref(), thing.clone());
            let all = match space {
                Some(StateSpace::Local) => &mut self.local,
                _ => &mut self.others,
            };
            if let Some(StateSpace::Local | StateSpace::Global) = space {
                *all = all.saturating_add(size);
            }
            let bytes = (size, *all);
            if let Some(count) = &own.count {
                let count = self.expr(count);
                inner.push(node(Kind::Prefix, "", count.span, vec![count]));
            }
            for count in &own.dimensions {
                let count: Vec<Node<'m>> = count.iter().map(|count| self.expr(count)).collect();
                let span = count.first().map_or(own.name.span, |count| count.span);
                inner.push(node(Kind::Dimension, "", span, count));
            }
            if let Some(value) = &own.initializer {
                let value = self.initializer(value);
                inner.push(node(Kind::Initializer, "", value.span, vec![value]));
            }
            let hidden = !self.in_body && !in_parameters && self.facts.hides(own);
            let declarator = node(Kind::Declarator, own.name.text.clone(), own.name.span, inner);
            parts.push(Node { words: words.clone(), bytes, hidden, thing: Some(thing), ..declarator });
        }
        self.give(Node { words, in_parameters, ..node(Kind::Declaration, "", declaration.span, parts) });
    }

    fn initializer(&self, value: &'m Initializer) -> Node<'m> {
        match value {
            Initializer::Value(expr) => self.expr(expr),
            Initializer::List(list) => {
                let parts = list.items.iter().map(|value| self.initializer(value)).collect();
                node(Kind::List, "", list.span, parts)
            }
            Initializer::Property(own) => {
                let parts = vec![self.expr(&own.value)];
                node(Kind::Property, own.name.text.clone(), value.span(), parts)
            }
        }
    }

    fn name(&self, text: &Text, span: Span) -> Node<'m> {
        if text == "_" {
            return node(Kind::Sink, "_", span, Vec::new());
        }
        let found = self.names.find(text, |_, digits| numbered(digits));
        let repeats = matches!(found, Found::Numbered(..)).then_some(true);
        let thing = found.declared().cloned();
        let setter = self.setters.get(text).filter(|setter| setter.chain < LONGEST_CHAIN).cloned();
        Node { thing, repeats, setter, ..node(Kind::Name, text.clone(), span, Vec::new()) }
    }

    /// Creates the node of a declared name, with the earlier declaration of the same scope that has this name or, for a `PREFIX<N>`,
    /// declares a name with the same number.
    fn declared_name(&self, name: &Name) -> Node<'m> {
        let (mut thing, mut repeats) = (None, None);
        for one in self.names.candidates(&name.text) {
            let digits = &name.text[one.written..];
            // Read modulo 2^32 and with leading zeros, the digits may be the number of another name.
            let lenient = digits
                .bytes()
                .fold(0_u32, |number, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
            match one.count {
                None => thing = Some(one.declared.clone()),
                Some(count) if u64::from(lenient) < count => {
                    let is_same = numbered(digits).is_some_and(|number| number < count);
                    repeats = Some(repeats.unwrap_or(false) || is_same);
                }
                Some(_) => {}
            }
        }
        Node { thing, repeats, ..node(Kind::Name, name.text.clone(), name.span, Vec::new()) }
    }

    fn leaf(&self, token: &'m Token) -> Node<'m> {
        let (text, span) = (token.text.clone(), token.span);
        let second = text.as_bytes().get(1);
        let kind = match text.as_bytes().first() {
            Some(b'"') => Kind::Text,
            Some(b'0'..=b'9') => Kind::Number,
            Some(b'.') if second.is_some_and(u8::is_ascii_digit) => Kind::Number,
            Some(b'.') => Kind::Word,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => return self.name(&text, span),
            Some(b'%') if second.is_some() => return self.name(&text, span),
            _ => Kind::Mark,
        };
        node(kind, text, span, Vec::new())
    }

    fn operand(&self, operand: &'m Operand) -> Node<'m> {
        let all =
            |parts: &'m [Operand]| -> Vec<Node<'m>> { parts.iter().map(|part| self.operand(part)).collect() };
        let around = |kind, parts: Vec<Node<'m>>| {
            let ends = parts.first().zip(parts.last()).map(|(first, last)| first.span.to(last.span));
            node(kind, "", ends.unwrap_or(Span::NONE), parts)
        };
        match operand {
            Operand::Value(expr) => self.expr(expr),
            Operand::Address(expr) => around(Kind::Address, vec![self.expr(expr)]),
            Operand::Element(name, index) => {
                around(Kind::Element, vec![self.name(&name.text, name.span), self.expr(index)])
            }
            Operand::Component(name, suffix) => {
                self.component(self.name(&name.text, name.span), &suffix.text)
            }
            Operand::Vector(parts) => around(Kind::Vector, all(parts)),
            Operand::List(parts) => around(Kind::List, all(parts)),
        }
    }

    fn component(&self, name: Node<'m>, suffix: &Text) -> Node<'m> {
        Node { kind: Some(Kind::Component), words: [suffix.clone()].into(), ..name }
    }

    /// Creates the node of an expression. Parts that nest deeper than the parser's limit become an empty node with a span.
    fn expr(&self, expr: &'m Expr) -> Node<'m> {
        let mut made: Vec<Option<(Node<'m>, usize)>> = Vec::with_capacity(expr.nodes().len());
        for (id, one) in (0..).zip(expr.nodes()) {
            let mut depth = 0;
            let mut take = |id: &u32| {
                let (part, below) = made[*id as usize].take()?;
                depth = depth.max(below + 1);
                Some(part)
            };
            let (kind, text, operands): (_, &str, Vec<Option<Node<'m>>>) = match &one.kind {
                NodeKind::Number(text) => (Kind::Number, text, vec![]),
                NodeKind::WarpSize => (Kind::Number, "WARP_SZ", vec![]),
                NodeKind::Name(text) => (Kind::Name, text, vec![]),
                NodeKind::Paren(a) => (Kind::Parens, "", vec![take(a)]),
                NodeKind::Unary(op, a) => (Kind::Operator, op.symbol(), vec![take(a)]),
                NodeKind::Cast(op, a) => (Kind::Operator, op.symbol(), vec![take(a)]),
                NodeKind::Generic(a) => (Kind::Operator, "generic", vec![take(a)]),
                NodeKind::Mask(mask, a) => (Kind::Operator, mask, vec![take(a)]),
                NodeKind::Binary(op, a, b) => (Kind::Operator, op.symbol(), vec![take(a), take(b)]),
                NodeKind::Ternary(a, b, c) => (Kind::Operator, "?", vec![take(a), take(b), take(c)]),
            };
            let own = match kind {
                Kind::Name => self.name(&text.into(), one.span),
                _ if depth > MAX_NESTING => node(Kind::Mark, "", one.span, Vec::new()),
                _ => node(kind, text, one.span, operands.into_iter().flatten().collect()),
            };
            let depth = if depth > MAX_NESTING { MAX_NESTING } else { depth };
            made.push(Some((Node { expr: Some((expr, id)), ..own }, depth)));
        }
        made.pop().flatten().map(|(root, _)| root).unwrap_or_default()
    }

    /// Creates the node of an instruction that the parser keeps as tokens.
    fn instruction(&self, tokens: &'m [Token], span: Span) -> Node<'m> {
        let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
        let opcode = if is(0, "@") { 2 + usize::from(is(1, "!")) } else { 0 };
        let (mut words, mut at): (Vec<Text>, usize) = (Vec::new(), opcode + 1);
        while let Some(token) = tokens.get(at).filter(|token| token.gap == Gap::Joined) {
            match words.last_mut() {
                Some(last) if token.text == "::" || last.ends_with("::") => last.push_str(&token.text),
                _ if token.text.starts_with('.') => {
                    words.extend(token.text[1..].split('.').map(|word| Text::from(format!(".{word}"))));
                }
                _ => break,
            }
            at += 1;
        }
        // A statement whose operands are not separated by commas is not an instruction.
        let Some(parts) = self.operands(tokens, &mut at, ";", 0) else {
            let parts = tokens.iter().map(|token| self.leaf(token)).collect();
            return node(Kind::Unread, "", span, parts);
        };
        let text = tokens.get(opcode).map_or(Text::default(), |token| token.text.clone());
        Node { words: words.into(), ..node(Kind::Instruction, text, span, parts) }
    }

    /// Parses operands separated by commas, up to and including the closing token. `None` if the tokens are something else.
    fn operands(
        &self,
        tokens: &'m [Token],
        at: &mut usize,
        close: &str,
        depth: usize,
    ) -> Option<Vec<Node<'m>>> {
        let mut parts = Vec::new();
        if tokens.get(*at)?.text == close && close == ";" {
            *at += 1;
            return Some(parts);
        }
        loop {
            let mut part = self.atom(tokens, at, depth)?;
            let mut joints = 0;
            while let Some(joint) = tokens.get(*at).filter(|next| is_infix(&next.text)) {
                *at += 1;
                let right = self.atom(tokens, at, depth)?;
                let span = part.span.to(right.span);
                part = node(Kind::Operator, joint.text.clone(), span, vec![part, right]);
                joints += 1;
                if joints > MAX_NESTING {
                    return None;
                }
            }
            parts.push(part);
            *at += 1;
            match tokens.get(*at - 1)?.text.as_str() {
                "," => {}
                text => return (text == close).then_some(parts),
            }
        }
    }

    fn atom(&self, tokens: &'m [Token], at: &mut usize, depth: usize) -> Option<Node<'m>> {
        let token = tokens.get(*at).filter(|_| depth < MAX_NESTING)?;
        *at += 1;
        let next = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
        let kinds = [("[", "]", Kind::Address), ("{", "}", Kind::Vector), ("(", ")", Kind::Parens)];
        if let Some(&(_, close, kind)) = kinds.iter().find(|(open, ..)| token.text == *open) {
            let parts = self.operands(tokens, at, close, depth + 1)?;
            let end = tokens[*at - 1].span;
            let words = suffix(tokens, at);
            let kind = if kind == Kind::Parens && parts.len() != 1 { Kind::List } else { kind };
            let own = node(kind, "", token.span.to(end), parts);
            return Some(Node { words, ..own });
        }
        if ["!", "-", "~", "+"].contains(&token.text.as_str()) {
            let part = self.atom(tokens, at, depth + 1)?;
            return Some(node(Kind::Operator, token.text.clone(), token.span.to(part.span), vec![part]));
        }
        let own = self.leaf(token);
        match own.kind {
            Some(Kind::Name) if next(*at) == "[" => {
                let mut parts = vec![own];
                while next(*at) == "[" {
                    *at += 1;
                    parts.extend(self.operands(tokens, at, "]", depth + 1)?);
                }
                let words = suffix(tokens, at);
                Some(Node { words, ..node(Kind::Element, "", token.span, parts) })
            }
            Some(Kind::Name) if next(*at).starts_with('.') && tokens[*at].gap == Gap::Joined => {
                *at += 1;
                Some(self.component(own, &tokens[*at - 1].text))
            }
            Some(Kind::Mark | Kind::Word) => None,
            _ => Some(own),
        }
    }
}

/// Returns the dotted words that directly follow a token, without a space, and moves past them.
fn suffix(tokens: &[Token], at: &mut usize) -> Rc<[Text]> {
    let first = *at;
    while tokens.get(*at).is_some_and(|word| word.gap == Gap::Joined && word.text.starts_with('.')) {
        *at += 1;
    }
    dotted(&tokens[first..*at])
}

fn is_infix(text: &str) -> bool {
    ptxsmith_syntax::BinaryOp::ALL.iter().any(|op| op.symbol() == text)
}

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
fn size_of(declarator: &Declarator, thing: &Thing) -> u128 {
    let element = u128::from(thing.scalar.map_or(0, ScalarType::bytes) * thing.lanes);
    let counts = declarator.dimensions.iter().flatten().map(|count| count.as_integer().unwrap_or(1));
    counts.fold(element, |size, count| size.saturating_mul(count.into()))
}
