//! Expressions in the order in which a stack machine takes them: operands first, then what joins them.
//!
//! Whoever makes expressions says what comes next, and need not know what becomes of it: a tree, text at once, a value,
//! or several of these. So millions of expressions can be printed and evaluated of which no tree is ever made.

use smallvec::SmallVec;

use crate::{
    Text,
    expr::{Builder, Expr, NodeId, NodeKind},
    ops::{BinaryOp, Cast, UnaryOp},
    span::Span,
};

/// Takes the nodes of an expression, operands before operators. What joins operands takes those that were completed
/// last. Parentheses are nodes; whoever makes an expression puts them where [`crate::precedence`] needs them.
pub trait Assemble {
    /// A number as it is written, in ASCII: numbers are most of a text, and looking at their characters once more to find
    /// that they are some would take longer than all else.
    fn number(&mut self, text: &[u8]);
    /// As [`Assemble::number`], of one that comes again and again.
    fn numeral(&mut self, numeral: &Numeral) {
        self.number(numeral.text());
    }
    /// `WARP_SZ`
    fn warp_size(&mut self);
    /// The name of a variable or function.
    fn name(&mut self, text: &str);
    /// `( operand )`
    fn paren(&mut self);
    /// A prefix operator.
    fn unary(&mut self, op: UnaryOp);
    /// A cast.
    fn cast(&mut self, cast: Cast);
    /// An infix operator between the last two operands.
    fn binary(&mut self, op: BinaryOp);
    /// `condition ? then : otherwise` of the last three operands.
    fn ternary(&mut self);
    /// `generic( operand )`
    fn generic(&mut self);
    /// `mask( operand )` with the mask as it is written.
    fn mask(&mut self, mask: &str);
}

/// How many bytes are moved at once.
const STRIDE: usize = 64;

/// A number that is added again and again, spelled in ASCII.
///
/// It stands in a room of fixed length, which is moved without asking how long the number is. What it stands for need not be
/// found anew each time: whoever keeps that may keep it at the numeral's place. Others may have the same place, so what is
/// kept is told by the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numeral {
    /// Zeros stand behind the number.
    text: [u8; Numeral::LONGEST],
    length: u8,
    place: u16,
}

impl Numeral {
    /// How many characters a numeral has at most: enough for all but the longest binary numbers. Those are rare, and all that
    /// is kept by the million should be small.
    pub const LONGEST: usize = 32;

    /// A numeral; `None` if it has more than [`Numeral::LONGEST`] characters.
    pub fn new(number: &[u8], place: u16) -> Option<Numeral> {
        let mut text = [0; Numeral::LONGEST];
        text.get_mut(..number.len())?.copy_from_slice(number);
        Some(Numeral { text, length: number.len() as u8, place })
    }

    /// The number.
    #[inline]
    pub fn text(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }

    /// Where to keep what it stands for: a small number.
    #[inline]
    pub fn place(&self) -> usize {
        usize::from(self.place)
    }
}

/// Operands that wait at a time; of most expressions no more than these.
type Waiting = SmallVec<[u32; 8]>;

/// Makes a tree.
#[derive(Debug, Default)]
pub struct Tree {
    builder: Builder,
    /// The places of the operands that nothing has joined yet.
    operands: Waiting,
}

impl Tree {
    /// A tree with room for this many nodes.
    pub fn with_capacity(nodes: usize) -> Tree {
        Tree { builder: Builder::with_capacity(nodes), operands: Waiting::new() }
    }

    /// Adds nodes that are an expression by themselves as the next operand.
    pub fn graft(&mut self, expr: &Expr) {
        let by = self.builder.len() as NodeId;
        for node in expr.nodes() {
            self.builder.push_moved(node, |operand| operand + by);
        }
        self.operands.push(self.builder.len() as NodeId - 1);
    }

    /// The expression. Nothing is left of it here.
    ///
    /// # Panics
    /// When nothing was added.
    pub fn take(&mut self) -> Expr {
        debug_assert_eq!(self.operands.len(), 1, "everything was joined");
        self.operands.clear();
        self.builder.take()
    }

    #[inline]
    fn push(&mut self, kind: NodeKind) {
        let place = self.builder.push(kind, Span::NONE);
        self.operands.push(place);
    }

    #[inline]
    fn operand(&mut self) -> NodeId {
        self.operands.pop().expect("an operand comes before what joins it")
    }
}

impl Assemble for Tree {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.push(NodeKind::Number(Text::from_utf8(text).expect("numbers are spelled in ASCII")));
    }

    #[inline]
    fn warp_size(&mut self) {
        self.push(NodeKind::WarpSize);
    }

    #[inline]
    fn name(&mut self, text: &str) {
        self.push(NodeKind::Name(text.into()));
    }

    #[inline]
    fn paren(&mut self) {
        let operand = self.operand();
        self.push(NodeKind::Paren(operand));
    }

    #[inline]
    fn unary(&mut self, op: UnaryOp) {
        let operand = self.operand();
        self.push(NodeKind::Unary(op, operand));
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        let operand = self.operand();
        self.push(NodeKind::Cast(cast, operand));
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) {
        let right = self.operand();
        let left = self.operand();
        self.push(NodeKind::Binary(op, left, right));
    }

    #[inline]
    fn ternary(&mut self) {
        let otherwise = self.operand();
        let then = self.operand();
        let condition = self.operand();
        self.push(NodeKind::Ternary(condition, then, otherwise));
    }

    #[inline]
    fn generic(&mut self) {
        let operand = self.operand();
        self.push(NodeKind::Generic(operand));
    }

    #[inline]
    fn mask(&mut self, mask: &str) {
        let operand = self.operand();
        self.push(NodeKind::Mask(mask.into(), operand));
    }
}

/// Writes canonical text behind what a buffer holds: that which [`crate::print_expr`] gives for the tree.
///
/// What stands in front of an operand that is written already is put there by moving the operand: expressions are
/// short, and that is far cheaper than a tree.
#[derive(Clone, Debug, Default)]
pub struct Infix {
    /// The text, which is UTF-8 if what was added is.
    pub text: Vec<u8>,
    /// Where the operands begin that nothing has joined yet.
    starts: Vec<u32>,
}

impl Infix {
    /// Forgets which operands wait; the text stays. To be called between expressions.
    pub fn end(&mut self) {
        self.starts.clear();
    }

    #[inline]
    fn leaf(&mut self, text: &[u8]) {
        self.starts.push(self.text.len() as u32);
        self.text.extend_from_slice(text);
    }

    /// Where the operand begins that was completed last.
    #[inline]
    fn start(&self) -> usize {
        *self.starts.last().expect("an operand comes before what joins it") as usize
    }

    /// Puts the first characters of a text in front of what begins there.
    #[inline]
    fn put(&mut self, at: usize, text: [u8; 8], length: usize) {
        debug_assert!(length <= text.len());
        let end = self.text.len();
        self.text.extend_from_slice(&[0; STRIDE + 8]);
        // From the last stride on, so that none is written over before it was moved.
        for stride in (1..=(end - at) / STRIDE).rev() {
            self.shift(at + stride * STRIDE, length);
        }
        let first: [u8; STRIDE] = *self.text[at..].first_chunk().expect("there is room behind the end");
        *self.text[at..].first_chunk_mut().expect("there is room behind the end") = text;
        *self.text[at + length..].first_chunk_mut().expect("there is room behind the end") = first;
        self.text.truncate(end + length);
    }

    /// Moves a stride this far to the back.
    #[inline]
    fn shift(&mut self, from: usize, by: usize) {
        let moved: [u8; STRIDE] = *self.text[from..].first_chunk().expect("there is room behind the end");
        *self.text[from + by..].first_chunk_mut().expect("there is room behind the end") = moved;
    }

    /// Puts an operator, with a space on either side, between the last two operands, which become one.
    #[inline]
    fn join(&mut self, symbol: &str) {
        let at = self.start();
        self.starts.pop();
        let (text, length) = match *symbol.as_bytes() {
            [one] => ([b' ', one, b' ', 0, 0, 0, 0, 0], 3),
            [one, two] => ([b' ', one, two, b' ', 0, 0, 0, 0], 4),
            _ => unreachable!("operators have one character or two"),
        };
        self.put(at, text, length);
    }

    fn enclosed(&mut self, word: &str) {
        let at = self.start();
        self.put(at, *b"(       ", 1);
        self.text.splice(at..at, word.bytes());
        self.text.push(b')');
    }
}

impl Assemble for Infix {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.leaf(text);
    }

    #[inline]
    fn numeral(&mut self, numeral: &Numeral) {
        self.starts.push(self.text.len() as u32);
        let end = self.text.len() + usize::from(numeral.length);
        self.text.extend_from_slice(&numeral.text);
        self.text.truncate(end);
    }

    #[inline]
    fn warp_size(&mut self) {
        self.leaf(b"WARP_SZ");
    }

    #[inline]
    fn name(&mut self, text: &str) {
        self.leaf(text.as_bytes());
    }

    #[inline]
    fn paren(&mut self) {
        let at = self.start();
        self.put(at, *b"(       ", 1);
        self.text.push(b')');
    }

    #[inline]
    fn unary(&mut self, op: UnaryOp) {
        let at = self.start();
        // Two signs side by side stay two.
        let signs = matches!(op, UnaryOp::Plus | UnaryOp::Minus) & matches!(self.text[at], b'+' | b'-');
        let symbol = op.symbol().as_bytes()[0];
        self.put(at, [symbol, b' ', 0, 0, 0, 0, 0, 0], 1 + usize::from(signs));
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        let at = self.start();
        let &[a, b, c, d, e, f] = cast.symbol().as_bytes().first_chunk().expect("casts have six characters");
        self.put(at, [a, b, c, d, e, f, 0, 0], 6);
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) {
        self.join(op.symbol());
    }

    #[inline]
    fn ternary(&mut self) {
        self.join(":");
        self.join("?");
    }

    fn generic(&mut self) {
        self.enclosed("generic");
    }

    fn mask(&mut self, mask: &str) {
        self.enclosed(mask);
    }
}
