//! The nodes that patterns are matched against.

use std::rc::Rc;

use ptxsmith_syntax::{Expr, ScalarType, Span, Text};

ptxsmith_syntax::every! {
    /// The kind of a node.
    pub enum PatternKind {
        Module = "module",
        Declaration = "declaration",
        Declarator = "declarator",
        Word = "word",
        Align = "align",
        Prefix = "prefix",
        Dimension = "dimension",
        Initializer = "initializer",
        Property = "property",
        Function = "function",
        Directive = "directive",
        Unread = "unread",
        Instruction = "instruction",
        Label = "label",
        Name = "name",
        Sink = "sink",
        Number = "number",
        Text = "string",
        Operator = "operator",
        Parens = "parens",
        Address = "address",
        Element = "element",
        Component = "component",
        Vector = "vector",
        List = "list",
        Mark = "mark",
    }
}

/// The declaration that a name refers to.
#[derive(Debug, Default)]
pub(super) struct Referent {
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
pub(super) struct PatternNode<'m> {
    pub kind: Option<PatternKind>,
    pub text: Text,
    pub words: Rc<[Text]>,
    pub span: Span,
    pub parts: Vec<PatternNode<'m>>,
    pub referent: Option<Rc<Referent>>,
    /// Of a name that refers to a `PREFIX<N>`, or of a declared name that repeats one: true if it is spelled
    /// as the `PREFIX<N>` spells it, false if its number is written in another way. `None` for all other
    /// names.
    pub repeats: Option<bool>,
    /// Whether a body declares a variable that the compiler may confuse with this declarator of the module.
    pub hidden: bool,
    /// The bytes of a declarator, and the total of its state space up to and including it: within its
    /// function for `.local`, within the module for `.global`.
    pub bytes: (u128, u128),
    pub expr: Option<(&'m Expr, u32)>,
    pub in_body: bool,
    pub in_parameters: bool,
    /// For the name of a register, the instruction that set it last, if no label stands in between or no other
    /// sets it: its index in the facts about the function.
    pub setter: Option<usize>,
    /// For the name of a register, the first instruction in the text that sets it: the value with which a loop
    /// begins.
    pub first_setter: Option<usize>,
    /// What an instruction computes, and what the name of a register stands for, if constants alone decide it.
    pub known: Option<u64>,
    /// Whether a predicate guards the instruction.
    pub guarded: bool,
    /// Whether a branch has found this register equal to a constant.
    pub equated: bool,
}

/// Creates a node without the facts about a name or a declarator.
pub(super) fn node<'m>(
    kind: PatternKind,
    text: impl Into<Text>,
    span: Span,
    parts: Vec<PatternNode<'m>>,
) -> PatternNode<'m> {
    PatternNode { kind: Some(kind), text: text.into(), span, parts, ..PatternNode::default() }
}

impl<'m> PatternNode<'m> {
    /// Returns true if the node refers to a declaration with this property.
    pub fn refers_to(&self, has_property: impl Fn(&Referent) -> bool) -> bool {
        self.referent.as_deref().is_some_and(has_property)
    }

    /// Calls `change` for the node and everything in it.
    pub fn each_mut(&mut self, change: &mut dyn FnMut(&mut PatternNode<'m>)) {
        change(self);
        self.parts.iter_mut().for_each(|part| part.each_mut(change));
    }

    /// Calls `show` for each name in the node.
    pub fn each_name(&self, show: &mut dyn FnMut(&Text)) {
        if self.kind == Some(PatternKind::Name) {
            show(&self.text);
        }
        self.parts.iter().for_each(|part| part.each_name(show));
    }
}

/// Returns true if two of these operands are the same register.
pub(super) fn repeats(operands: &[PatternNode<'_>]) -> bool {
    let mut places = operands.iter().enumerate();
    places.any(|(place, operand)| operands[..place].iter().any(|other| is_same_register(operand, other)))
}

/// Returns true if two operands are the same register.
pub(super) fn is_same_register(one: &PatternNode<'_>, other: &PatternNode<'_>) -> bool {
    one.kind == Some(PatternKind::Name) && other.kind == one.kind && other.text == one.text
}
