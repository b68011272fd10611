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
pub struct TreeBuilder {
    builder: Builder,
    /// The places of the operands that nothing has joined yet.
    operands: Waiting,
}

impl TreeBuilder {
    /// A tree with room for this many nodes.
    pub fn with_capacity(nodes: usize) -> TreeBuilder {
        TreeBuilder { builder: Builder::with_capacity(nodes), operands: Waiting::new() }
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

impl Assemble for TreeBuilder {
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

/// Writes canonical text: that which [`crate::print_expr`] gives for the tree.
///
/// What stands in front of an operand that is written already is put there by moving the operand: expressions are
/// short, and that is far cheaper than a tree.
#[derive(Clone, Debug, Default)]
pub struct Infix {
    /// The text, and room for what is moved at once behind its end.
    buffer: Vec<u8>,
    end: usize,
    /// Where the operands begin that nothing has joined yet.
    starts: Vec<u32>,
}

/// Text to be put in front of something: its first so many characters, less than all eight.
type Front = ([u8; 8], usize);

/// An operator with a space on either side.
const fn spaced(symbol: &str) -> Front {
    match *symbol.as_bytes() {
        [one] => ([b' ', one, b' ', 0, 0, 0, 0, 0], 3),
        [one, two] => ([b' ', one, two, b' ', 0, 0, 0, 0], 4),
        _ => panic!("operators have one character or two"),
    }
}

/// What the infix operators are between their operands.
static JOINTS: [Front; BinaryOp::ALL.len()] = {
    let mut joints = [([0; 8], 0); BinaryOp::ALL.len()];
    let mut at = 0;
    while at < joints.len() {
        joints[at] = spaced(BinaryOp::ALL[at].symbol());
        at += 1;
    }
    joints
};

impl Infix {
    /// The text, which is UTF-8 if what was added is.
    pub fn text(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// Adds the text to a longer one, in strides of a fixed length.
    #[inline]
    pub fn append_to(&self, longer: &mut Vec<u8>) {
        let end = longer.len() + self.end;
        for stride in self.buffer[..self.end.next_multiple_of(STRIDE)].as_chunks::<STRIDE>().0 {
            longer.extend_from_slice(stride);
        }
        longer.truncate(end);
    }

    /// Forgets everything: to be called between expressions.
    pub fn clear(&mut self) {
        self.end = 0;
        self.starts.clear();
    }

    /// Begins an operand that takes this much room at most. Returns where it begins.
    #[inline]
    fn begin(&mut self, most: usize) -> usize {
        self.starts.push(self.end as u32);
        self.room(most);
        self.end
    }

    /// Makes room behind the end for this much, and for what is moved at once.
    #[inline]
    fn room(&mut self, for_: usize) {
        let needed = self.end + for_ + 2 * STRIDE;
        if self.buffer.len() < needed {
            self.buffer.resize(2 * needed, 0);
        }
    }

    fn leaf(&mut self, text: &[u8]) {
        let at = self.begin(text.len());
        self.end = at + text.len();
        self.buffer[at..self.end].copy_from_slice(text);
    }

    /// Where the operand begins that was completed last.
    #[inline]
    fn start(&self) -> usize {
        *self.starts.last().expect("an operand comes before what joins it") as usize
    }

    /// Puts a text in front of what begins there.
    #[inline]
    fn put(&mut self, at: usize, (text, length): Front) {
        debug_assert!(length < text.len());
        self.room(text.len());
        let first =
            u64::from_le_bytes(*self.buffer[at..].first_chunk().expect("there is room behind the end"));
        // From the last stride on, so that none is written over before it was moved.
        for stride in (0..=(self.end - at) / STRIDE).rev() {
            self.shift(at + stride * STRIDE, length);
        }
        // With it go the characters that are behind it now: a fixed number is written.
        let kept = u64::from_le_bytes(text) & ((1 << (8 * length)) - 1);
        let front = kept | first << (8 * length);
        *self.buffer[at..].first_chunk_mut().expect("there is room behind the end") = front.to_le_bytes();
        self.end += length;
    }

    /// Moves a stride this far to the back.
    #[inline]
    fn shift(&mut self, from: usize, by: usize) {
        let moved: [u8; STRIDE] = *self.buffer[from..].first_chunk().expect("there is room behind the end");
        *self.buffer[from + by..].first_chunk_mut().expect("there is room behind the end") = moved;
    }

    /// Joins the last two operands, with this between them.
    #[inline]
    fn join(&mut self, joint: Front) {
        let at = self.start();
        self.starts.pop();
        self.put(at, joint);
    }

    /// Puts parentheses around the last operand.
    #[inline]
    fn enclose(&mut self) {
        let at = self.start();
        self.put(at, (*b"(       ", 1));
        // There is room: what was put has less than there was room made for.
        self.buffer[self.end] = b')';
        self.end += 1;
    }

    fn call(&mut self, word: &str) {
        self.enclose();
        let at = self.start();
        self.room(word.len());
        self.buffer.copy_within(at..self.end, at + word.len());
        self.buffer[at..at + word.len()].copy_from_slice(word.as_bytes());
        self.end += word.len();
    }
}

impl Assemble for Infix {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.leaf(text);
    }

    #[inline]
    fn numeral(&mut self, numeral: &Numeral) {
        let at = self.begin(Numeral::LONGEST);
        *self.buffer[at..].first_chunk_mut().expect("there is room behind the end") = numeral.text;
        self.end = at + usize::from(numeral.length);
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
        self.enclose();
    }

    #[inline]
    fn unary(&mut self, op: UnaryOp) {
        let at = self.start();
        // Two signs side by side stay two.
        let signs = matches!(op, UnaryOp::Plus | UnaryOp::Minus) & matches!(self.buffer[at], b'+' | b'-');
        let symbol = op.symbol().as_bytes()[0];
        self.put(at, ([symbol, b' ', 0, 0, 0, 0, 0, 0], 1 + usize::from(signs)));
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        let at = self.start();
        let &[a, b, c, d, e, f] = cast.symbol().as_bytes().first_chunk().expect("casts have six characters");
        self.put(at, ([a, b, c, d, e, f, 0, 0], 6));
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) {
        self.join(JOINTS[op as usize]);
    }

    #[inline]
    fn ternary(&mut self) {
        self.join(const { spaced(":") });
        self.join(const { spaced("?") });
    }

    fn generic(&mut self) {
        self.call("generic");
    }

    fn mask(&mut self, mask: &str) {
        self.call(mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numeral_is_written_as_its_number_and_one_that_is_too_long_is_none() {
        for length in 0..=Numeral::LONGEST {
            let number = vec![b'7'; length];
            let numeral = Numeral::new(&number, 9).unwrap();
            assert_eq!((numeral.text(), numeral.place()), (&number[..], 9));
            let mut infix = Infix::default();
            infix.numeral(&numeral);
            infix.unary(UnaryOp::Minus);
            assert_eq!(infix.text(), [b"-", &number[..]].concat());
        }
        assert_eq!(Numeral::new(&[b'7'; Numeral::LONGEST + 1], 9), None);
    }

    #[test]
    fn operands_of_any_length_are_moved_whole() {
        for length in 1..=5 * STRIDE {
            let number: Vec<u8> = (0..length).map(|at| b'0' + (at % 10) as u8).collect();
            let mut infix = Infix::default();
            infix.number(b"1");
            infix.number(&number);
            infix.paren();
            infix.unary(UnaryOp::Minus);
            infix.unary(UnaryOp::Minus);
            infix.cast(Cast::U64);
            infix.binary(BinaryOp::Shl);
            infix.mask("0xFF");
            let expected = format!("0xFF(1 << (.u64)- -({}))", String::from_utf8(number).unwrap());
            assert_eq!(String::from_utf8_lossy(infix.text()), expected);
        }
    }
}
