//! A program while it is being made.

use arbitrary::Unstructured;
use ptxsmith_syntax::{BinaryOp, Builder, Expr, NodeKind, Span, precedence};

use crate::{
    config::Config,
    coverage::Coverage,
    declare::Sketch,
    generator::Generator,
    grammar::{Nonterminal, ProductionId},
    number::Numeral,
    wheel::Step,
};

/// What the makers of productions work on: where the bytes come from, and what has been made so far.
///
/// Nothing here fails. When the bytes run out, zeros follow, and zeros choose the smallest forms.
pub(crate) struct Draft<'g, 'd> {
    generator: &'g Generator,
    /// The bytes that are left. A slice of our own, because [`Unstructured`] gives single bytes at the price of a call.
    bytes: &'d [u8],
    coverage: &'g mut Coverage,
    parent: ProductionId,
    depth: u32,
    /// The expression at hand.
    builder: Builder,
    /// How tightly the node that was added last binds.
    tightness: u8,
    /// The literal at hand.
    pub numeral: Numeral,
    /// The declaration at hand.
    pub sketch: Sketch,
}

impl<'g, 'd> Draft<'g, 'd> {
    /// A draft that takes the bytes that are left; [`Draft::give_back`] returns those that it did not use.
    pub fn new(generator: &'g Generator, u: &Unstructured<'d>, coverage: &'g mut Coverage) -> Self {
        Draft {
            generator,
            bytes: u.peek_bytes(u.len()).unwrap_or(&[]),
            coverage,
            parent: ProductionId::NONE,
            depth: 0,
            builder: Builder::new(),
            tightness: precedence::PRIMARY,
            numeral: Numeral::default(),
            sketch: Sketch::default(),
        }
    }

    pub fn config(&self) -> &'g Config {
        self.generator.config()
    }

    /// Takes from `u`, which this draft began with, the bytes that were used.
    pub fn give_back(&self, u: &mut Unstructured<'d>) {
        let used = u.len() - self.bytes.len();
        u.bytes(used).expect("no more bytes were used than there were");
    }

    /// The next byte; zero when there is none.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&byte, rest)) => {
                self.bytes = rest;
                byte
            }
            None => 0,
        }
    }

    /// The next eight bytes as a number, lowest first; zeros for those that there are not.
    #[inline]
    pub fn word(&mut self) -> u64 {
        match self.bytes.split_first_chunk() {
            Some((&bytes, rest)) => {
                self.bytes = rest;
                u64::from_le_bytes(bytes)
            }
            None => (0..8).fold(0, |word, i| word | u64::from(self.byte()) << (8 * i)),
        }
    }

    /// A number below `bound`, which is at most 256, from one byte; none is taken where there is no choice.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!((1..=256).contains(&bound));
        if bound == 1 { 0 } else { (self.byte() as usize * bound) >> 8 }
    }

    /// One of at most 256 values.
    #[inline]
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Adds a number or another node without operands.
    #[inline]
    pub fn leaf(&mut self, kind: NodeKind) {
        self.push(kind, precedence::PRIMARY);
    }

    /// Adds a prefix operator or a cast.
    #[inline]
    pub fn prefix(&mut self, kind: NodeKind) {
        self.push(kind, precedence::UNARY);
    }

    /// Adds an infix operator.
    #[inline]
    pub fn infix(&mut self, op: BinaryOp, left: u32, right: u32) {
        self.push(NodeKind::Binary(op, left, right), op.precedence());
    }

    /// Adds a conditional expression.
    #[inline]
    pub fn ternary(&mut self, condition: u32, then: u32, otherwise: u32) {
        self.push(NodeKind::Ternary(condition, then, otherwise), precedence::TERNARY);
    }

    /// Every caller knows how tightly its node binds, so nobody has to look at the node to find out.
    #[inline]
    fn push(&mut self, kind: NodeKind, tightness: u8) {
        debug_assert_eq!(kind.precedence(), tightness);
        self.builder.push(kind, Span::NONE);
        self.tightness = tightness;
    }

    /// The place of the node that was added last.
    #[inline]
    pub fn top(&self) -> u32 {
        self.builder.len() as u32 - 1
    }

    /// Puts parentheses around what was added last if it binds less tightly than `least`.
    #[inline]
    pub fn bind(&mut self, least: u8) -> u32 {
        if self.tightness < least {
            self.leaf(NodeKind::Paren(self.top()));
        }
        self.top()
    }

    /// Makes an expression of its own, beside the one at hand.
    pub fn expression(&mut self, make: impl FnOnce(&mut Self)) -> Expr {
        // Most expressions are small; room for them at once costs less than growing into it. What is kept has the memory
        // that it needs: there are hundreds of thousands at a time.
        let around = std::mem::replace(&mut self.builder, Builder::with_capacity(24));
        make(self);
        std::mem::replace(&mut self.builder, around).take()
    }

    /// Makes an operand that stands in parentheses of its own, whatever they belong to.
    pub fn operand_alone(&mut self, of: Nonterminal, room: u32) -> u32 {
        self.operand(of, room, 0)
    }

    #[inline]
    fn choose_production(&mut self, of: Nonterminal, room: u32) -> ProductionId {
        let generator = self.generator;
        let chosen = generator.wheels().choose(of, room, || self.byte());
        self.coverage.record(self.parent, chosen);
        chosen
    }

    /// Chooses among the productions of a nonterminal that are mere choices: what the table states for the chosen one.
    #[inline]
    pub fn choose(&mut self, of: Nonterminal) -> u8 {
        let chosen = self.choose_production(of, 1);
        match *self.generator.wheels().step(chosen) {
            Step::Choice(choice) => choice,
            _ => 0,
        }
    }

    /// Makes something of this nonterminal, with at most `room` nodes unless even the least form takes more.
    pub fn make(&mut self, of: Nonterminal, room: u32) {
        let chosen = self.choose_production(of, room);
        let around = std::mem::replace(&mut self.parent, chosen);
        match *self.generator.wheels().step(chosen) {
            Step::Same(part) => self.make(part, room),
            Step::Paren(part) => {
                let operand = self.operand(part, room.saturating_sub(1), 0);
                self.leaf(NodeKind::Paren(operand));
            }
            Step::Prefix(op, part) => {
                let operand = self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.prefix(NodeKind::Unary(op, operand));
            }
            Step::Cast(cast, part) => {
                let operand = self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.prefix(NodeKind::Cast(cast, operand));
            }
            Step::Infix(op, left, right) => {
                let [left_room, right_room] = self.split(room.saturating_sub(1), [left, right]);
                let left = self.operand(left, left_room, op.precedence());
                let right = self.operand(right, right_room, op.precedence() + 1);
                self.infix(op, left, right);
            }
            Step::Ternary(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                let rooms = self.split(room.saturating_sub(1), parts);
                let condition = self.operand(condition, rooms[0], precedence::BINARY_LOWEST);
                let then = self.operand(then, rooms[1], precedence::TERNARY);
                let otherwise = self.operand(otherwise, rooms[2], precedence::TERNARY);
                self.ternary(condition, then, otherwise);
            }
            Step::Made(maker) => maker(self, room),
            Step::Choice(_) => debug_assert!(false, "{} is chosen, not made", of.name()),
        }
        self.parent = around;
    }

    /// Makes an operand that binds at least as tightly as `least`.
    #[inline]
    fn operand(&mut self, of: Nonterminal, room: u32, least: u8) -> u32 {
        self.depth += 1;
        let room = if self.depth >= self.config().max_depth { 0 } else { room };
        self.make(of, room);
        self.depth -= 1;
        self.bind(least)
    }

    /// Divides room among operands: each has what it needs at least, and the rest is dealt out at random.
    #[inline]
    fn split<const N: usize>(&mut self, room: u32, among: [Nonterminal; N]) -> [u32; N] {
        let mut rooms = among.map(|of| self.generator.wheels().least(of));
        let mut spare = room.saturating_sub(rooms.iter().sum());
        for own in &mut rooms[..N - 1] {
            if spare == 0 {
                break;
            }
            let more = (u32::from(self.byte()) * (spare + 1)) >> 8;
            *own += more;
            spare -= more;
        }
        rooms[N - 1] += spare;
        rooms
    }
}
