//! Constant expressions as flat trees.

use crate::{
    Text,
    literal::{Number, read_number},
    ops::{BinaryOp, Cast, UnaryOp, precedence},
    span::{Name, Span},
};

/// The index of a node in its [`Expr`].
pub type NodeId = u32;

/// The kind of an expression node. Operands are node indices, always smaller than the index of the node itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A number as written; see [`crate::read_number`].
    Number(Text),
    /// The predefined constant `WARP_SZ` (4.5.1).
    WarpSize,
    /// The name of a variable or function, standing for its address (5.4.4).
    Name(Text),
    /// `( operand )`
    Paren(NodeId),
    /// A prefix operator.
    Unary(UnaryOp, NodeId),
    /// A cast.
    Cast(Cast, NodeId),
    /// An infix operator.
    Binary(BinaryOp, NodeId, NodeId),
    /// `condition ? then : otherwise`
    Ternary(NodeId, NodeId, NodeId),
    /// `generic( operand )` (5.4.4).
    Generic(NodeId),
    /// `mask( operand )`, with the mask as written (5.4.4).
    Mask(Text, NodeId),
}

/// A node and its source span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kind of the node.
    pub kind: NodeKind,
    /// The source span.
    pub span: Span,
}

/// A constant expression.
///
/// The nodes are in one vector in post-order: operands before operators, root last. Evaluation is therefore a single
/// forward pass without recursion at any depth, and a copy costs one allocation. The order is canonical: equal
/// expressions have equal vectors.
///
/// Parentheses are nodes. Code that builds an expression must add them where [`precedence`] requires; the printer adds
/// none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub(crate) nodes: Vec<Node>,
}

impl Expr {
    /// Creates an expression that is a single number.
    pub fn number(text: impl Into<Text>) -> Expr {
        Builder::new().leaf(NodeKind::Number(text.into()), Span::NONE).finish()
    }

    /// Creates an expression that is a single name.
    pub fn name(text: impl Into<Text>) -> Expr {
        Builder::new().leaf(NodeKind::Name(text.into()), Span::NONE).finish()
    }

    /// Returns the nodes in post-order: operands before operators.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the kind of a node.
    pub fn kind(&self, id: NodeId) -> &NodeKind {
        &self.nodes[id as usize].kind
    }

    /// Returns the index of the outermost node.
    pub fn root(&self) -> NodeId {
        self.nodes.len() as NodeId - 1
    }

    /// Returns the names of variables and functions, in source order.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.nodes
            .iter()
            .filter_map(|node| if let NodeKind::Name(name) = &node.kind { Some(name) } else { None })
    }

    /// Returns true if the expression contains a name. Without names it is a constant.
    pub fn has_names(&self) -> bool {
        self.names().next().is_some()
    }

    /// Returns the name if the expression is a single name.
    pub fn as_name(&self) -> Option<Name> {
        match self.nodes.as_slice() {
            [Node { kind: NodeKind::Name(text), span }] => Some(Name { text: text.clone(), span: *span }),
            _ => None,
        }
    }

    /// Returns the value if the expression is a single integer.
    pub fn as_integer(&self) -> Option<u64> {
        let [Node { kind: NodeKind::Number(text), .. }] = self.nodes.as_slice() else { return None };
        match read_number(text)? {
            Number::Integer { value, .. } => value,
            Number::Float(_) | Number::SingleBits(_) | Number::DoubleBits(_) => None,
        }
    }

    /// Returns the source span of the whole expression.
    pub fn span(&self) -> Span {
        self.nodes[self.nodes.len() - 1].span
    }

    /// Returns the index of the first node of the part with root `id`; the part is `first..=id`.
    pub fn first(&self, mut id: NodeId) -> NodeId {
        while let Some(left) = self.kind(id).leftmost_operand() {
            id = left;
        }
        id
    }

    /// Returns the part with root `id` as an expression of its own.
    pub fn part(&self, id: NodeId) -> Expr {
        let first = self.first(id);
        let nodes = self.nodes[first as usize..=id as usize].iter().cloned();
        Expr { nodes: nodes.map(|node| node.moved(|operand| operand - first)).collect() }
    }

    /// Returns the expression with another part in place of the part with root `id`. The caller adds parentheses if needed.
    pub fn replaced(&self, id: NodeId, with: &Expr) -> Expr {
        let first = self.first(id);
        let grown = with.nodes.len() as i64 - i64::from(id - first + 1);
        let mut nodes = Vec::with_capacity((self.nodes.len() as i64 + grown) as usize);
        nodes.extend_from_slice(&self.nodes[..first as usize]);
        nodes.extend(with.nodes.iter().cloned().map(|node| node.moved(|operand| operand + first)));
        nodes.extend(self.nodes[id as usize + 1..].iter().cloned().map(|node| {
            node.moved(
                |operand| if operand < first { operand } else { (i64::from(operand) + grown) as NodeId },
            )
        }));
        Expr { nodes }
    }
}

impl NodeKind {
    /// Returns the operand that comes first in the source, if there is one.
    pub fn leftmost_operand(&self) -> Option<NodeId> {
        match *self {
            NodeKind::Number(_) | NodeKind::WarpSize | NodeKind::Name(_) => None,
            NodeKind::Paren(operand)
            | NodeKind::Unary(_, operand)
            | NodeKind::Cast(_, operand)
            | NodeKind::Binary(_, operand, _)
            | NodeKind::Ternary(operand, ..)
            | NodeKind::Generic(operand)
            | NodeKind::Mask(_, operand) => Some(operand),
        }
    }

    /// Returns the precedence of the node as an operand; see [`precedence`].
    pub fn precedence(&self) -> u8 {
        match self {
            NodeKind::Number(_)
            | NodeKind::WarpSize
            | NodeKind::Name(_)
            | NodeKind::Paren(_)
            | NodeKind::Generic(_)
            | NodeKind::Mask(..) => precedence::PRIMARY,
            NodeKind::Unary(..) | NodeKind::Cast(..) => precedence::UNARY,
            NodeKind::Binary(op, ..) => op.precedence(),
            NodeKind::Ternary(..) => precedence::TERNARY,
        }
    }
}

impl Node {
    fn moved(mut self, to: impl Fn(NodeId) -> NodeId) -> Node {
        match &mut self.kind {
            NodeKind::Number(_) | NodeKind::WarpSize | NodeKind::Name(_) => {}
            NodeKind::Paren(a)
            | NodeKind::Unary(_, a)
            | NodeKind::Cast(_, a)
            | NodeKind::Generic(a)
            | NodeKind::Mask(_, a) => *a = to(*a),
            NodeKind::Binary(_, a, b) => (*a, *b) = (to(*a), to(*b)),
            NodeKind::Ternary(a, b, c) => (*a, *b, *c) = (to(*a), to(*b), to(*c)),
        }
        self
    }
}

/// Builds an [`Expr`] in postfix order: operands first, then the operator.
///
/// A node refers to its operands by the indices that [`Builder::push`] returns. Each node is the operand
/// of exactly one other node, except the root, and operands are joined in the order in which they were added.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    /// Creates an empty builder.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Creates an empty builder with capacity for this many nodes.
    pub fn with_capacity(nodes: usize) -> Builder {
        Builder { nodes: Vec::with_capacity(nodes) }
    }

    /// Adds a node after its operands.
    #[inline]
    pub fn push(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span });
        self.nodes.len() as NodeId - 1
    }

    /// Adds a node of another expression. `to` maps the indices of its operands to their indices here.
    pub(crate) fn push_moved(&mut self, node: &Node, to: impl Fn(NodeId) -> NodeId) {
        self.nodes.push(node.clone().moved(to));
    }

    /// Returns the last node added.
    ///
    /// # Panics
    /// If nothing was added.
    pub fn top(&self) -> &Node {
        self.nodes.last().expect("a builder is asked for a node after one was added")
    }

    /// Returns the source span of a node that was added before.
    pub(crate) fn span(&self, id: NodeId) -> Span {
        self.nodes[id as usize].span
    }

    /// Returns the expression; its root is the last node added. The builder is empty afterwards and keeps its memory.
    ///
    /// # Panics
    /// If nothing was added.
    pub fn take(&mut self) -> Expr {
        assert!(!self.nodes.is_empty(), "an expression has at least one node");
        // Small expressions are many, and each gets exactly the memory that it needs; a large one is not worth a copy.
        const LARGE: usize = 1024;
        let large = self.nodes.len() > LARGE;
        Expr { nodes: if large { std::mem::take(&mut self.nodes) } else { self.nodes.drain(..).collect() } }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the builder is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn leaf(mut self, kind: NodeKind, span: Span) -> Builder {
        self.push(kind, span);
        self
    }

    /// Returns the expression; its root is the last node added.
    ///
    /// # Panics
    /// If nothing was added.
    pub fn finish(self) -> Expr {
        assert!(!self.nodes.is_empty(), "an expression has at least one node");
        Expr { nodes: self.nodes }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_expr;

    #[test]
    fn a_part_can_be_cut_out_and_put_back() {
        let whole = parse_expr("1 + (2 ? 3 : -4) * 5").unwrap();
        for id in 0..=whole.root() {
            let part = whole.part(id);
            assert_eq!(whole.replaced(id, &part), whole);
        }
    }

    #[test]
    fn replacing_a_node_renumbers_the_following_operands() {
        let whole = parse_expr("1 + 2 * 3").unwrap();
        let replaced = whole.replaced(1, &parse_expr("(7 - 8)").unwrap());
        assert_eq!(replaced, parse_expr("1 + (7 - 8) * 3").unwrap());
    }
}
