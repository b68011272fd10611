//! The text of an expression, written while its nodes are generated.

use ptxsmith_syntax::{Assemble, BinaryOp, Cast, UnaryOp};

use super::pool::LONGEST;

/// The number of bytes that are moved at once.
const STRIDE: usize = 64;

/// The text of an expression, written while its nodes are generated. It has the canonical form that
/// [`ptxsmith_syntax::print_expr`] gives for the tree.
///
/// A prefix is put before an operand by moving the operand. Expressions are short, so this is far cheaper
/// than a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct ExprText {
    /// The text, followed by unused space so that whole strides can be moved.
    buffer: Vec<u8>,
    end: usize,
    /// The start of each operand that is not yet part of a larger expression.
    starts: Vec<u32>,
}

/// A prefix to insert: eight bytes, and the length of the prefix in them, which is less than eight.
type Front = ([u8; 8], usize);

/// Returns an operator with a space on either side.
const fn spaced(symbol: &str) -> Front {
    match *symbol.as_bytes() {
        [one] => ([b' ', one, b' ', 0, 0, 0, 0, 0], 3),
        [one, two] => ([b' ', one, two, b' ', 0, 0, 0, 0], 4),
        _ => panic!("operators have one character or two"),
    }
}

/// The text of each infix operator between its operands.
static JOINTS: [Front; BinaryOp::ALL.len()] = {
    let mut joints = [([0; 8], 0); BinaryOp::ALL.len()];
    let mut op = 0;
    while op < joints.len() {
        joints[op] = spaced(BinaryOp::ALL[op].symbol());
        op += 1;
    }
    joints
};

impl ExprText {
    /// Appends the text to a longer one, in strides of constant length.
    #[inline]
    pub fn append_to(&self, longer: &mut Vec<u8>) {
        let end = longer.len() + self.end;
        for stride in self.buffer[..self.end.next_multiple_of(STRIDE)].as_chunks::<STRIDE>().0 {
            longer.extend_from_slice(stride);
        }
        longer.truncate(end);
    }

    /// Clears the text. Must be called between expressions.
    pub fn clear(&mut self) {
        self.end = 0;
        self.starts.clear();
    }

    /// Appends a number of `length` characters at the start of `room`.
    #[inline]
    pub fn short_number(&mut self, room: &[u8; LONGEST], length: usize) {
        let start = self.begin(room.len());
        *self.buffer[start..].first_chunk_mut().expect("there is room behind the end") = *room;
        self.end = start + length;
    }

    /// Starts an operand of at most `most` bytes and returns its position.
    #[inline]
    fn begin(&mut self, most: usize) -> usize {
        self.starts.push(self.end as u32);
        self.room(most);
        self.end
    }

    /// Reserves space for this many bytes and for moving whole strides.
    #[inline]
    fn room(&mut self, length: usize) {
        let needed = self.end + length + 2 * STRIDE;
        if self.buffer.len() < needed {
            self.buffer.resize(2 * needed, 0);
        }
    }

    fn leaf(&mut self, text: &[u8]) {
        let start = self.begin(text.len());
        self.end = start + text.len();
        self.buffer[start..self.end].copy_from_slice(text);
    }

    /// Returns the start of the last complete operand.
    #[inline]
    fn start(&self) -> usize {
        *self.starts.last().expect("an operand comes before what joins it") as usize
    }

    /// Inserts a prefix at this position.
    #[inline]
    fn put(&mut self, start: usize, (text, length): Front) {
        debug_assert!(length < text.len());
        self.room(text.len());
        let first =
            u64::from_le_bytes(*self.buffer[start..].first_chunk().expect("there is room behind the end"));
        // Starts with the last stride, so that no stride is overwritten before it was moved.
        for stride in (0..=(self.end - start) / STRIDE).rev() {
            self.shift(start + stride * STRIDE, length);
        }
        // Writes eight bytes, because a write of constant length is cheaper: the prefix and the bytes that
        // follow it.
        let kept = u64::from_le_bytes(text) & ((1 << (8 * length)) - 1);
        let front = kept | first << (8 * length);
        *self.buffer[start..].first_chunk_mut().expect("there is room behind the end") = front.to_le_bytes();
        self.end += length;
    }

    /// Moves a stride back by `by` bytes.
    #[inline]
    fn shift(&mut self, from: usize, by: usize) {
        let moved: [u8; STRIDE] = *self.buffer[from..].first_chunk().expect("there is room behind the end");
        *self.buffer[from + by..].first_chunk_mut().expect("there is room behind the end") = moved;
    }

    /// Joins the last two operands with this operator.
    #[inline]
    fn join(&mut self, joint: Front) {
        let start = self.start();
        self.starts.pop();
        self.put(start, joint);
    }

    /// Puts the last operand in parentheses.
    #[inline]
    fn enclose(&mut self) {
        let start = self.start();
        self.put(start, (*b"(       ", 1));
        // There is space: `put` reserved more than it used.
        self.buffer[self.end] = b')';
        self.end += 1;
    }

    fn call(&mut self, word: &str) {
        self.enclose();
        let start = self.start();
        self.room(word.len());
        self.buffer.copy_within(start..self.end, start + word.len());
        self.buffer[start..start + word.len()].copy_from_slice(word.as_bytes());
        self.end += word.len();
    }
}

impl Assemble for ExprText {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.leaf(text);
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
        let start = self.start();
        // A space keeps two adjacent signs apart.
        let signs = matches!(op, UnaryOp::Plus | UnaryOp::Minus) & matches!(self.buffer[start], b'+' | b'-');
        let symbol = op.symbol().as_bytes()[0];
        self.put(start, ([symbol, b' ', 0, 0, 0, 0, 0, 0], 1 + usize::from(signs)));
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        let start = self.start();
        let &[a, b, c, d, e, f] = cast.symbol().as_bytes().first_chunk().expect("casts have six characters");
        self.put(start, ([a, b, c, d, e, f, 0, 0], 6));
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
    use ptxsmith_gen::{Body, Coverage, Focus, Generator};
    use ptxsmith_syntax::{Canonical, Expr, NodeKind, parse_expr, print_expr};

    use super::*;

    #[test]
    fn a_short_number_is_written_as_any_other() {
        for length in 1..=32 {
            let number = [b'7'; 32];
            let mut text = ExprText::default();
            text.short_number(&number, length);
            text.unary(UnaryOp::Minus);
            assert_eq!(written(&text), [b"-", &number[..length]].concat());
        }
    }

    #[test]
    fn operands_of_any_length_are_moved_whole() {
        for length in 1..=5 * STRIDE {
            let number: Vec<u8> = (0..length).map(|at| b'0' + (at % 10) as u8).collect();
            let mut text = ExprText::default();
            text.number(b"1");
            text.number(&number);
            text.paren();
            text.unary(UnaryOp::Minus);
            text.unary(UnaryOp::Minus);
            text.cast(Cast::U64);
            text.binary(BinaryOp::Shl);
            text.mask("0xFF");
            let expected = format!("0xFF(1 << (.u64)- -({}))", String::from_utf8(number).unwrap());
            assert_eq!(String::from_utf8_lossy(&written(&text)), expected);
        }
    }

    fn written(text: &ExprText) -> Vec<u8> {
        let mut longer = b"before ".to_vec();
        text.append_to(&mut longer);
        longer.split_off(7)
    }

    fn assembled(expr: &Expr) -> Vec<u8> {
        let mut text = ExprText::default();
        for node in expr.nodes() {
            match &node.kind {
                NodeKind::Number(number) => text.number(number.as_bytes()),
                NodeKind::WarpSize => text.warp_size(),
                NodeKind::Name(name) => text.name(name),
                NodeKind::Paren(_) => text.paren(),
                NodeKind::Unary(op, _) => text.unary(*op),
                NodeKind::Cast(cast, _) => text.cast(*cast),
                NodeKind::Binary(op, ..) => text.binary(*op),
                NodeKind::Ternary(..) => text.ternary(),
                NodeKind::Generic(_) => text.generic(),
                NodeKind::Mask(mask, _) => text.mask(mask),
            }
        }
        written(&text)
    }

    #[test]
    fn the_text_of_an_expression_equals_that_of_the_printer() {
        let generator = Generator::default();
        let joints = BinaryOp::ALL.map(|op| format!("- - 1 {} + +(.s64)~!2", op.symbol()));
        let joints = joints.iter().map(|text| parse_expr(text).expect("it is an expression"));
        let made = (0..5_000).filter_map(|case| {
            match generator.case(Focus::Expressions, 3, case, &mut Coverage::new()).body {
                Body::Expression { expr, .. } => Some(expr),
                _ => None,
            }
        });
        for expr in joints.chain(made) {
            let mut printed = Canonical::default();
            print_expr(&expr, &mut printed);
            assert_eq!(String::from_utf8_lossy(&assembled(&expr)), printed.0);
        }
    }
}
