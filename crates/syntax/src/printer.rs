//! Prints a tree as PTX source.
//!
//! The printer determines the tokens, their order and the breaks allowed between them; a [`Sink`] chooses the white space.
//! The printer never adds a token that is not in the tree, such as parentheses.

use std::fmt;

use smallvec::SmallVec;

use crate::{
    expr::{Expr, NodeId, NodeKind},
    instruction::{Instruction, Operand},
    ops::{Cast, UnaryOp},
    tree::{
        Attribute, Declaration, Declarator, Function, FunctionKind, Gap, Initializer, Item, Module,
        Specifier, Statement, Token,
    },
};

/// The separation that a token needs from the previous token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Nothing in canonical output. White space and comments are allowed.
    Joined,
    /// Nothing. White space is not allowed, because these tokens were adjacent in the source and must stay so.
    Glued,
    /// One space in canonical output. White space is required; comments may follow it. (A comment alone is not enough:
    /// after a division, its `/` would join the operator.)
    Space,
    /// A new line, indented by this many levels. White space is required, except at the start of the output.
    Line(u8),
}

/// Receives the printed tokens in order.
pub trait Sink {
    /// Writes a token and the separation before it. Implementations must write a separation that `before` allows.
    fn token(&mut self, before: Break, text: &str);
}

/// Writes canonical output: equal trees give equal bytes.
#[derive(Clone, Debug, Default)]
pub struct Canonical(pub String);

impl Sink for Canonical {
    #[inline]
    fn token(&mut self, before: Break, text: &str) {
        match before {
            Break::Joined | Break::Glued => {}
            Break::Space => self.0.push(' '),
            Break::Line(levels) => {
                if !self.0.is_empty() {
                    self.0.push('\n');
                }
                for _ in 0..levels {
                    self.0.push_str("    ");
                }
            }
        }
        // Half of all tokens are single characters. For these, a copy of variable length costs more than everything else.
        match text.as_bytes() {
            [byte] if byte.is_ascii() => self.0.push(*byte as char),
            _ => self.0.push_str(text),
        }
    }
}

/// Prints a module canonically.
pub fn print(module: &Module) -> String {
    let mut sink = Canonical::default();
    print_to(module, &mut sink);
    if !sink.0.is_empty() {
        sink.0.push('\n');
    }
    sink.0
}

/// Prints a module to a sink, without a line break after the last token.
pub fn print_to(module: &Module, sink: &mut impl Sink) {
    let mut printer = Printer { sink, stack: Stack::new() };
    for item in &module.items {
        printer.item(item);
    }
}

/// Prints an expression to a sink. The first token has [`Break::Joined`].
pub fn print_expr(expr: &Expr, sink: &mut impl Sink) {
    Printer { sink, stack: Stack::new() }.expr(Break::Joined, expr);
}

/// Prints canonically.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sink = Canonical::default();
        print_expr(self, &mut sink);
        f.write_str(&sink.0)
    }
}

/// A node on the printer's stack, and which of its operands is being printed.
type Frame = (NodeId, Printed);

/// The stack of unfinished nodes. Most expressions fit without an allocation.
type Stack = SmallVec<[Frame; 16]>;

#[derive(Clone, Copy, Debug)]
enum Printed {
    First,
    Second,
}

struct Printer<'s, S> {
    sink: &'s mut S,
    /// The unfinished nodes of the current expression. Kept to reuse the allocation.
    stack: Stack,
}

impl<S: Sink> Printer<'_, S> {
    #[inline]
    fn token(&mut self, before: Break, text: &str) {
        self.sink.token(before, text);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Version(number) => {
                self.token(Break::Line(0), ".version");
                self.token(Break::Space, &number.text);
            }
            Item::Target(names) => {
                self.token(Break::Line(0), ".target");
                for (i, name) in names.iter().enumerate() {
                    self.comma(i);
                    self.token(Break::Space, &name.text);
                }
            }
            Item::AddressSize(bits) => {
                self.token(Break::Line(0), ".address_size");
                self.token(Break::Space, &bits.text);
            }
            Item::Variables(declaration) => self.statement(Break::Line(0), declaration),
            Item::Function(function) => self.function(function),
            Item::Other(tokens) => self.kept(0, 1, tokens),
            Item::Unread(unread) => self.kept(0, 1, &unread.tokens),
        }
    }

    /// Prints the comma before a list entry, except before the first.
    fn comma(&mut self, entry: usize) {
        if entry > 0 {
            self.token(Break::Joined, ",");
        }
    }

    fn statement(&mut self, before: Break, declaration: &Declaration) {
        self.declaration(before, declaration);
        self.token(Break::Joined, ";");
    }

    fn declaration(&mut self, before: Break, declaration: &Declaration) {
        let mut before = self.specifiers(before, &declaration.specifiers);
        for (i, declarator) in declaration.declarators.iter().enumerate() {
            self.comma(i);
            self.declarator(before, declarator);
            before = Break::Space;
        }
    }

    /// Prints specifiers and returns the break for the next token.
    fn specifiers(&mut self, mut before: Break, specifiers: &[Specifier]) -> Break {
        for specifier in specifiers {
            match specifier {
                Specifier::Linkage(linkage) => self.token(before, linkage.keyword()),
                Specifier::Space(space, bank) => {
                    self.token(before, space.keyword());
                    if let Some(bank) = bank {
                        self.token(Break::Joined, "[");
                        self.expr(Break::Joined, bank);
                        self.token(Break::Joined, "]");
                    }
                }
                Specifier::Align(count) => {
                    self.token(before, ".align");
                    self.expr(Break::Space, count);
                }
                Specifier::Attributes(attributes) => {
                    self.token(before, ".attribute");
                    self.attributes(attributes);
                }
                Specifier::Vector(length) => self.token(before, length.keyword()),
                Specifier::Type(scalar) => self.token(before, scalar.keyword()),
                Specifier::Opaque(opaque) => self.token(before, opaque.keyword()),
                Specifier::Ptr => self.token(before, ".ptr"),
                Specifier::Word(word) => self.token(before, &word.text),
            }
            before = Break::Space;
        }
        before
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        self.token(Break::Joined, "(");
        for (i, attribute) in attributes.iter().enumerate() {
            self.comma(i);
            self.token(if i == 0 { Break::Joined } else { Break::Space }, &attribute.name.text);
            for (j, argument) in attribute.arguments.iter().enumerate() {
                self.token(Break::Joined, if j == 0 { "(" } else { "," });
                self.expr(if j == 0 { Break::Joined } else { Break::Space }, argument);
            }
            if !attribute.arguments.is_empty() {
                self.token(Break::Joined, ")");
            }
        }
        self.token(Break::Joined, ")");
    }

    fn declarator(&mut self, before: Break, declarator: &Declarator) {
        self.token(before, &declarator.name.text);
        if let Some(count) = &declarator.count {
            self.token(Break::Joined, "<");
            self.expr(Break::Joined, count);
            self.token(Break::Joined, ">");
        }
        for dimension in &declarator.dimensions {
            self.token(Break::Joined, "[");
            if let Some(length) = dimension {
                self.expr(Break::Joined, length);
            }
            self.token(Break::Joined, "]");
        }
        if let Some(initializer) = &declarator.initializer {
            self.token(Break::Space, "=");
            self.initializer(Break::Space, initializer);
        }
    }

    fn initializer(&mut self, before: Break, initializer: &Initializer) {
        match initializer {
            Initializer::Value(expr) => self.expr(before, expr),
            Initializer::List(list) => {
                self.token(before, "{");
                for (i, item) in list.items.iter().enumerate() {
                    self.comma(i);
                    self.initializer(if i == 0 { Break::Joined } else { Break::Space }, item);
                }
                if list.trailing_comma {
                    self.token(Break::Joined, ",");
                }
                self.token(Break::Joined, "}");
            }
            Initializer::Property(property) => {
                self.token(before, &property.name.text);
                self.token(Break::Space, "=");
                self.expr(Break::Space, &property.value);
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let before = self.specifiers(Break::Line(0), &function.before);
        self.token(
            before,
            match function.kind {
                FunctionKind::Entry => ".entry",
                FunctionKind::Func => ".func",
            },
        );
        self.specifiers(Break::Space, &function.after);
        if let Some(results) = &function.results {
            self.token(Break::Space, "(");
            self.parameters(false, results);
        }
        self.token(Break::Space, &function.name.text);
        if let Some(parameters) = &function.parameters {
            self.token(Break::Joined, "(");
            self.parameters(function.body.is_some(), parameters);
        }
        self.kept(0, 0, &function.directives);
        match &function.body {
            Some(body) => self.block(0, body),
            None if function.semicolon => self.token(Break::Joined, ";"),
            None => {}
        }
    }

    /// Prints parameters and the closing parenthesis, one parameter per line if `lines` is set.
    fn parameters(&mut self, lines: bool, parameters: &[Declaration]) {
        let lines = lines && !parameters.is_empty();
        for (i, parameter) in parameters.iter().enumerate() {
            self.comma(i);
            let before = match i {
                _ if lines => Break::Line(1),
                0 => Break::Joined,
                _ => Break::Space,
            };
            self.declaration(before, parameter);
        }
        self.token(if lines { Break::Line(0) } else { Break::Joined }, ")");
    }

    fn block(&mut self, level: u8, statements: &[Statement]) {
        self.token(Break::Line(level), "{");
        let inner = level.saturating_add(1);
        for statement in statements {
            match statement {
                Statement::Variables(declaration) => self.statement(Break::Line(inner), declaration),
                Statement::Label(name) => {
                    self.token(Break::Line(level), &name.text);
                    self.token(Break::Joined, ":");
                }
                Statement::Block(statements) => self.block(inner, statements),
                Statement::Instruction(instruction) => self.instruction(inner, instruction),
                Statement::BranchTargets(table) => {
                    self.token(Break::Line(inner), ".branchtargets");
                    for (i, target) in table.targets.iter().enumerate() {
                        self.comma(i);
                        self.token(Break::Space, &target.text);
                    }
                    self.token(Break::Joined, ";");
                }
                Statement::Tokens(tokens) => self.kept(inner, inner.saturating_add(1), tokens),
                Statement::Unread(unread) => self.kept(inner, inner.saturating_add(1), &unread.tokens),
            }
        }
        self.token(Break::Line(level), "}");
    }

    fn instruction(&mut self, level: u8, instruction: &Instruction) {
        let mut before = Break::Line(level);
        if let Some(guard) = &instruction.guard {
            self.token(before, "@");
            if guard.negated {
                self.token(Break::Joined, "!");
            }
            self.token(Break::Joined, &guard.predicate.text);
            before = Break::Space;
        }
        self.token(before, instruction.opcode.keyword());
        for modifier in &instruction.modifiers {
            self.token(Break::Glued, &modifier.text);
        }
        self.operands(Break::Space, &instruction.operands);
        self.token(Break::Joined, ";");
    }

    /// Prints operands with commas between them.
    fn operands(&mut self, mut before: Break, operands: &[Operand]) {
        for (i, operand) in operands.iter().enumerate() {
            self.comma(i);
            self.operand(before, operand);
            before = Break::Space;
        }
    }

    fn operand(&mut self, before: Break, operand: &Operand) {
        match operand {
            Operand::Value(expr) => self.expr(before, expr),
            Operand::Address(expr) => self.bracketed(before, expr),
            Operand::Element(name, index) => {
                self.token(before, &name.text);
                self.bracketed(Break::Joined, index);
            }
            Operand::Component(name, suffix) => {
                self.token(before, &name.text);
                self.token(Break::Glued, &suffix.text);
            }
            Operand::Vector(parts) => {
                self.token(before, "{");
                self.operands(Break::Joined, parts);
                self.token(Break::Joined, "}");
            }
            Operand::List(parts) => {
                self.token(before, "(");
                self.operands(Break::Joined, parts);
                self.token(Break::Joined, ")");
            }
        }
    }

    fn bracketed(&mut self, before: Break, expr: &Expr) {
        self.token(before, "[");
        self.expr(Break::Joined, expr);
        self.token(Break::Joined, "]");
    }

    /// Prints kept tokens. The first token starts a line at indentation `level`; further lines are indented by `inner`, except
    /// that braces on a new line align with the first token.
    fn kept(&mut self, level: u8, inner: u8, tokens: &[Token]) {
        for (i, token) in tokens.iter().enumerate() {
            let before = match token.gap {
                _ if i == 0 => Break::Line(level),
                Gap::Joined => Break::Glued,
                Gap::Space => Break::Space,
                Gap::Line if matches!(token.text.as_str(), "{" | "}") => Break::Line(level),
                Gap::Line => Break::Line(inner),
            };
            self.token(before, &token.text);
        }
    }

    /// Prints an expression in source order, without recursion. The stack holds only nodes that print more tokens after
    /// the current operand.
    fn expr(&mut self, mut before: Break, expr: &Expr) {
        let mut id = expr.root();
        // Whether the last token was a sign. Two signs must not be adjacent.
        let mut sign = false;
        'down: loop {
            match expr.kind(id) {
                NodeKind::Number(text) | NodeKind::Name(text) => self.token(before, text),
                NodeKind::WarpSize => self.token(before, "WARP_SZ"),
                &NodeKind::Paren(operand) => {
                    self.token(before, "(");
                    self.stack.push((id, Printed::First));
                    (id, before, sign) = (operand, Break::Joined, false);
                    continue 'down;
                }
                &NodeKind::Unary(op, operand) => {
                    let signed = matches!(op, UnaryOp::Plus | UnaryOp::Minus);
                    self.token(if sign && signed { Break::Space } else { before }, op.symbol());
                    (id, before, sign) = (operand, Break::Joined, signed);
                    continue 'down;
                }
                &NodeKind::Cast(cast, operand) => {
                    self.token(before, "(");
                    self.token(
                        Break::Joined,
                        match cast {
                            Cast::S64 => ".s64",
                            Cast::U64 => ".u64",
                        },
                    );
                    self.token(Break::Joined, ")");
                    (id, before, sign) = (operand, Break::Joined, false);
                    continue 'down;
                }
                &NodeKind::Binary(_, operand, _) | &NodeKind::Ternary(operand, ..) => {
                    self.stack.push((id, Printed::First));
                    id = operand;
                    continue 'down;
                }
                &NodeKind::Generic(operand) => {
                    self.token(before, "generic");
                    self.token(Break::Joined, "(");
                    self.stack.push((id, Printed::First));
                    (id, before, sign) = (operand, Break::Joined, false);
                    continue 'down;
                }
                NodeKind::Mask(mask, operand) => {
                    self.token(before, mask);
                    self.token(Break::Joined, "(");
                    self.stack.push((id, Printed::First));
                    (id, before, sign) = (*operand, Break::Joined, false);
                    continue 'down;
                }
            }
            // After a leaf, continue with the nodes on the stack.
            while let Some((waiting, printed)) = self.stack.pop() {
                match (expr.kind(waiting), printed) {
                    (&NodeKind::Binary(op, _, right), _) => {
                        self.token(Break::Space, op.symbol());
                        (id, before, sign) = (right, Break::Space, false);
                        continue 'down;
                    }
                    (&NodeKind::Ternary(_, then, _), Printed::First) => {
                        self.token(Break::Space, "?");
                        self.stack.push((waiting, Printed::Second));
                        (id, before, sign) = (then, Break::Space, false);
                        continue 'down;
                    }
                    (&NodeKind::Ternary(_, _, otherwise), Printed::Second) => {
                        self.token(Break::Space, ":");
                        (id, before, sign) = (otherwise, Break::Space, false);
                        continue 'down;
                    }
                    _ => self.token(Break::Joined, ")"),
                }
            }
            return;
        }
    }
}
