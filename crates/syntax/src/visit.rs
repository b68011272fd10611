//! Visitors that walk a tree in source order.
//!
//! [`Visit`] reads a tree and [`VisitMut`] changes it. Override the methods for the nodes that you need; the default
//! methods visit the children. [`MAX_NESTING`](crate::MAX_NESTING) limits the nesting, so a walk cannot overflow the stack.
//!
//! ```
//! use ptxsmith_syntax::{Role, Text, Visit, parse};
//!
//! struct Labels<'m>(Vec<&'m str>);
//!
//! impl<'m> Visit<'m> for Labels<'m> {
//!     fn name(&mut self, name: &'m Text, role: Role) {
//!         if role == Role::Label {
//!             self.0.push(name);
//!         }
//!     }
//! }
//!
//! let module = parse(".func f() { a: { b: bra a; } }").unwrap();
//! let mut labels = Labels(Vec::new());
//! labels.module(&module);
//! assert_eq!(labels.0, ["a", "b"]);
//! ```

use std::{iter, slice};

use crate::{
    Text,
    expr::{Expr, NodeKind},
    instruction::{Instruction, Operand},
    tree::{
        Declaration, Declarator, Function, Initializer, Item, Module, Specifier, Statement, Token, Tokens,
        Unread,
    },
};

/// The role of a name at one place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name declares a variable.
    Variable,
    /// The name is the prefix of this many variables (5.4.6); `u64::MAX` if the count is not a single integer.
    Prefix(u64),
    /// The name declares a function or a kernel.
    Function,
    /// The name declares a label.
    Label,
    /// The name refers to a declaration elsewhere. In kept tokens, every word except the opcode counts as a use.
    Use,
}

macro_rules! visitor {
    ($(#[$doc:meta])* $Visit:ident $($mutable:ident)?) => {
        $(#[$doc])*
        pub trait $Visit<'m> {
            /// A whole module.
            fn module(&mut self, module: &'m $($mutable)? Module) {
                for item in & $($mutable)? module.items {
                    self.item(item);
                }
            }

            /// A statement at module scope.
            fn item(&mut self, item: &'m $($mutable)? Item) {
                match item {
                    Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
                    Item::Variables(declaration) => self.declaration(declaration),
                    Item::Function(function) => self.function(function),
                    Item::Other(tokens) => self.tokens(tokens),
                    Item::Unread(unread) => self.tokens(& $($mutable)? unread.tokens),
                }
            }

            /// A function.
            fn function(&mut self, function: &'m $($mutable)? Function) {
                for specifier in & $($mutable)? function.before {
                    self.specifier(specifier);
                }
                for specifier in & $($mutable)? function.after {
                    self.specifier(specifier);
                }
                for result in (& $($mutable)? function.results).into_iter().flatten() {
                    self.declaration(result);
                }
                self.name(& $($mutable)? function.name.text, Role::Function);
                for parameter in (& $($mutable)? function.parameters).into_iter().flatten() {
                    self.declaration(parameter);
                }
                self.tokens(& $($mutable)? function.directives);
                for statement in (& $($mutable)? function.body).into_iter().flatten() {
                    self.statement(statement);
                }
            }

            /// A declaration: at module scope, in a function, of a parameter or of a result.
            fn declaration(&mut self, declaration: &'m $($mutable)? Declaration) {
                for specifier in & $($mutable)? declaration.specifiers {
                    self.specifier(specifier);
                }
                for declarator in & $($mutable)? declaration.declarators {
                    self.declarator(declarator);
                }
            }

            /// A word before the names of a declaration, or beside `.entry` or `.func`.
            fn specifier(&mut self, specifier: &'m $($mutable)? Specifier) {
                match specifier {
                    Specifier::Space(_, Some(bank)) => self.expr(bank),
                    Specifier::Align(expr) => self.expr(expr),
                    Specifier::Attributes(attributes) => {
                        for attribute in attributes {
                            for argument in & $($mutable)? attribute.arguments {
                                self.expr(argument);
                            }
                        }
                    }
                    Specifier::Space(_, None)
                    | Specifier::Linkage(_)
                    | Specifier::Vector(_)
                    | Specifier::Type(_)
                    | Specifier::Opaque(_)
                    | Specifier::Ptr
                    | Specifier::Word(_) => {}
                }
            }

            /// One variable of a declaration.
            fn declarator(&mut self, declarator: &'m $($mutable)? Declarator) {
                let role = declarator.role();
                self.name(& $($mutable)? declarator.name.text, role);
                if let Some(count) = & $($mutable)? declarator.count {
                    self.expr(count);
                }
                for dimension in (& $($mutable)? declarator.dimensions).into_iter().flatten() {
                    self.expr(dimension);
                }
                if let Some(initializer) = & $($mutable)? declarator.initializer {
                    self.initializer(initializer);
                }
            }

            /// Visits an initial value or its part.
            fn initializer(&mut self, initializer: &'m $($mutable)? Initializer) {
                match initializer {
                    Initializer::Value(expr) => self.expr(expr),
                    Initializer::List(list) => {
                        for item in & $($mutable)? list.items {
                            self.initializer(item);
                        }
                    }
                    Initializer::Property(property) => self.expr(& $($mutable)? property.value),
                }
            }

            /// A statement in a function.
            fn statement(&mut self, statement: &'m $($mutable)? Statement) {
                match statement {
                    Statement::Variables(declaration) => self.declaration(declaration),
                    Statement::Label(name) => self.name(& $($mutable)? name.text, Role::Label),
                    Statement::Block(inner) => {
                        for statement in inner {
                            self.statement(statement);
                        }
                    }
                    Statement::Instruction(instruction) => self.instruction(instruction),
                    Statement::BranchTargets(table) => {
                        for target in & $($mutable)? table.targets {
                            self.name(& $($mutable)? target.text, Role::Use);
                        }
                    }
                    Statement::Tokens(tokens) => self.tokens(tokens),
                    Statement::Unread(unread) => self.tokens(& $($mutable)? unread.tokens),
                }
            }

            /// An instruction that [`Instruction`] can represent.
            fn instruction(&mut self, instruction: &'m $($mutable)? Instruction) {
                if let Some(guard) = & $($mutable)? instruction.guard {
                    self.name(& $($mutable)? guard.predicate.text, Role::Use);
                }
                for operand in & $($mutable)? instruction.operands {
                    self.operand(operand);
                }
            }

            /// Visits an operand or its element.
            fn operand(&mut self, operand: &'m $($mutable)? Operand) {
                match operand {
                    Operand::Value(expr) | Operand::Address(expr) => self.expr(expr),
                    Operand::Element(name, index) => {
                        self.name(& $($mutable)? name.text, Role::Use);
                        self.expr(index);
                    }
                    Operand::Component(name, _) => self.name(& $($mutable)? name.text, Role::Use),
                    Operand::Vector(parts) | Operand::List(parts) => {
                        for part in parts {
                            self.operand(part);
                        }
                    }
                }
            }

            /// An expression, wherever it stands.
            fn expr(&mut self, expr: &'m $($mutable)? Expr) {
                for node in & $($mutable)? expr.nodes {
                    if let NodeKind::Name(name) = & $($mutable)? node.kind {
                        self.name(name, Role::Use);
                    }
                }
            }

            /// The tokens of a directive, of an instruction in another form, or of a statement that the parser does not understand.
            fn tokens(&mut self, tokens: &'m $($mutable)? Tokens) {
                let opcode = opcode(tokens);
                for (at, token) in tokens.into_iter().enumerate() {
                    if Some(at) != opcode && is_name(&token.text) {
                        self.name(& $($mutable)? token.text, Role::Use);
                    }
                }
            }

            /// A name and its role.
            fn name(&mut self, _name: &'m $($mutable)? Text, _role: Role) {}
        }
    };
}

visitor! {
    /// Reads a tree in source order.
    Visit
}

visitor! {
    /// Changes a tree in source order.
    VisitMut mut
}

/// Returns the index of the opcode in kept tokens, after the guard if there is one.
fn opcode(tokens: &[Token]) -> Option<usize> {
    let mut texts = tokens.iter().map(|token| token.text.as_str());
    let at = match (texts.next(), texts.next()) {
        (Some("@"), Some("!")) => 3,
        (Some("@"), _) => 2,
        _ => 0,
    };
    tokens.get(at).filter(|token| is_name(&token.text)).map(|_| at)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '%'))
        && text != "%"
}

impl Declarator {
    /// Returns the role of the declared name.
    pub fn role(&self) -> Role {
        match &self.count {
            Some(count) => Role::Prefix(count.as_integer().unwrap_or(u64::MAX)),
            None => Role::Variable,
        }
    }

    /// Returns the scalar values of the initializer, in source order.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        self.initializer.iter().flat_map(Initializer::values)
    }
}

impl Item {
    /// Returns the names that the statement declares at module scope, in source order.
    pub fn declared(&self) -> impl Iterator<Item = (&Text, Role)> {
        let (declarators, function) = match self {
            Item::Variables(declaration) => (declaration.declarators.as_slice(), None),
            Item::Function(function) => (Default::default(), Some((&function.name.text, Role::Function))),
            Item::Version(_) | Item::Target(_) | Item::AddressSize(_) | Item::Other(_) | Item::Unread(_) => {
                Default::default()
            }
        };
        let variables = declarators.iter().map(|declarator| (&declarator.name.text, declarator.role()));
        variables.chain(function)
    }
}

impl Initializer {
    /// Returns the scalar values of the initializer, nested lists and properties included, in source order.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let mut open = vec![slice::from_ref(self).iter()];
        iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    None => drop(open.pop()),
                    Some(Initializer::List(list)) => open.push(list.items.iter()),
                    Some(Initializer::Value(expr)) => return Some(expr),
                    Some(Initializer::Property(property)) => return Some(&property.value),
                }
            }
        })
    }
}

impl Function {
    /// Returns the statements of the body that the parser did not understand.
    pub fn unread(&self) -> impl Iterator<Item = &Unread> {
        self.statements()
            .filter_map(|s| if let Statement::Unread(unread) = s { Some(&**unread) } else { None })
    }

    /// Returns the statements of the body, each block before the statements inside it. A prototype has none.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let mut open = vec![self.body.as_deref().unwrap_or_default().iter()];
        iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    None => drop(open.pop()),
                    Some(statement) => {
                        if let Statement::Block(inner) = statement {
                            open.push(inner.iter());
                        }
                        return Some(statement);
                    }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// Has a name in every place that can hold one; `uN` uses, the others declare.
    const ALL: &str = ".func (.param .b32 v0) l0 (.param .align u0 .b32 v1[u1]) .noreturn { \
        .reg .b32 v2<u2>, v3; l1: @!u3 mov.u32 u4, u5 + 1; { l2: ld.v2.u32 {u6, u7}, [u8+4]; } \
        mov.b32 u9[u10 - 1], u11.x; call (u12), u13, (u14); .branchtargets u15, u16; @u17 fma.rn.f32 u18, u19; } \
        .const[u20] .attribute(.unified(u21, u22)) .u64 v4[u23][2] = {{u24, 0xFF(generic(u25)) + 1}, {(u26)}}; \
        .global .samplerref v5 = { filter_mode = u27 }; .alias u28, u29;";

    #[derive(Default)]
    struct Names(Vec<String>);

    impl Visit<'_> for Names {
        fn name(&mut self, name: &Text, role: Role) {
            self.0.push(format!("{name} {role:?}"));
        }
    }

    impl VisitMut<'_> for Names {
        fn name(&mut self, name: &mut Text, role: Role) {
            self.0.push(format!("{name} {role:?}"));
        }
    }

    #[test]
    fn every_name_is_visited_once_in_the_order_written() {
        let mut module = parse(ALL).unwrap();
        let mut names = Names::default();
        Visit::module(&mut names, &module);
        let (uses, declared): (Vec<String>, Vec<String>) =
            names.0.iter().cloned().partition(|name| name.ends_with("Use"));
        assert_eq!(uses, (0..30).map(|nth| format!("u{nth} Use")).collect::<Vec<_>>());
        let expected = "v0 Variable,l0 Function,v1 Variable,v2 Prefix(18446744073709551615),v3 Variable,l1 Label,l2 Label,v4 Variable,v5 Variable";
        assert_eq!(declared.join(","), expected);
        let mut changing = Names::default();
        VisitMut::module(&mut changing, &mut module);
        assert_eq!(changing.0, names.0);
    }

    #[test]
    fn values_and_statements_come_in_the_order_written() {
        let module =
            parse(".global .b8 a[2][2] = {{1, 2}, {}, {3}, 4}; .func f() { { ret; { a: } } exit; }").unwrap();
        let Some(Item::Function(function)) = module.items.get(1) else { panic!() };
        let initializer = module.declarations().find_map(|d| d.declarators[0].initializer.as_ref()).unwrap();
        let values: Vec<_> = initializer.values().map(|value| format!("{:?}", value.kind(0))).collect();
        assert_eq!(values, ["1", "2", "3", "4"].map(|text| format!("Number({text:?})")));
        let kinds = function.statements().map(|statement| match statement {
            Statement::Block(_) => 'b',
            Statement::Instruction(_) => 'i',
            _ => 'l',
        });
        assert_eq!(kinds.collect::<String>(), "bibli");
    }
}
