//! A program while it is being made.

use std::cell::LazyCell;

use ptxsmith_syntax::{
    Assemble, BinaryOp, Cast, Expr, Numeral, ScalarType, StateSpace, TreeBuilder, UnaryOp, precedence,
};

use crate::{
    bytes::Bytes,
    config::Config,
    coverage::Coverage,
    declare::Sketch,
    generator::{Generator, values_of},
    grammar::{Nonterminal, ProductionId, Speller},
    stock::Shared,
    wheel::Step,
};

/// Adds a node, whose operands are those that were completed last, and notes how tightly it binds.
macro_rules! add {
    ($self:ident, $tightness:expr, $node:ident($($part:expr)?)) => {
        match &mut $self.instead {
            Some(instead) => instead.$node($($part)?),
            None => $self.tree.$node($($part)?),
        }
        $self.tightness = $tightness;
    };
}

/// What the makers of productions work on: where the bytes come from, and what has been made so far.
///
/// Nothing here fails. When the bytes run out, zeros follow, and zeros choose the smallest forms.
pub(crate) struct Draft<'g, 'd> {
    generator: &'g Generator,
    /// The bytes that are left.
    pub bytes: Bytes<'d>,
    coverage: &'g mut Coverage,
    parent: ProductionId,
    /// Where numbers come from that other cases have too.
    pub shared: Option<Shared<'g>>,
    /// How many operators may still nest.
    depth: u32,
    /// The expression at hand.
    tree: TreeBuilder,
    /// What takes its nodes instead, where no tree is wanted.
    instead: Option<&'g mut dyn Assemble>,
    /// How tightly the node that was added last binds.
    tightness: u8,
    /// The value of the literal at hand.
    pub value: u64,
    /// The type at hand.
    pub ty: ScalarType,
    /// The state space at hand.
    pub space: StateSpace,
    /// The declaration at hand. Most drafts have none, and there are millions.
    pub sketch: LazyCell<Box<Sketch>>,
}

impl<'g, 'd> Draft<'g, 'd> {
    /// A draft that takes these bytes.
    pub fn new(generator: &'g Generator, bytes: Bytes<'d>, coverage: &'g mut Coverage) -> Self {
        Draft {
            generator,
            bytes,
            coverage,
            parent: ProductionId::NONE,
            shared: None,
            depth: generator.config().max_depth,
            tree: TreeBuilder::default(),
            instead: None,
            tightness: precedence::PRIMARY,
            value: 0,
            ty: ScalarType::S64,
            space: StateSpace::Global,
            sketch: LazyCell::new(Box::default),
        }
    }

    /// Makes an expression of any size, whose nodes go to `into` from now on.
    pub fn assemble(&mut self, of: Nonterminal, into: &'g mut dyn Assemble) {
        self.instead = Some(into);
        let room = self.room();
        self.make(of, room);
    }

    /// Makes a type, a state space, and a value of that type, whose nodes go to `into`.
    pub fn assemble_seated(&mut self, into: &'g mut dyn Assemble) -> (ScalarType, StateSpace) {
        let (ty, space) = self.seat();
        self.assemble(values_of(ty), into);
        (ty, space)
    }

    /// A type and a state space.
    pub fn seat(&mut self) -> (ScalarType, StateSpace) {
        self.make(Nonterminal::Type, 1);
        self.make(Nonterminal::Space, 1);
        (self.ty, self.space)
    }

    /// How many nodes an expression may have, from one byte.
    pub fn room(&mut self) -> u32 {
        // Not one byte below the last size: the sizes are as likely as each other, up to 256.
        let most = self.config().max_nodes.clamp(1, 256);
        1 + self.below(most as usize) as u32
    }

    pub fn config(&self) -> &'g Config {
        self.generator.config()
    }

    /// The next byte; zero when there is none.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        self.bytes.byte()
    }

    /// The next eight bytes as a number, lowest first; zeros for those that there are not.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.bytes.word()
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

    /// Adds a number, spelled in ASCII.
    #[inline]
    pub fn number(&mut self, text: &[u8]) {
        add!(self, precedence::PRIMARY, number(text));
    }

    /// Adds a number of this kind: one that other cases have too, where there are such, or one of its own.
    #[inline]
    fn number_of(&mut self, kind: u8, speller: Speller) {
        let Draft { bytes, shared: Some(shared), tree, instead, .. } = self else {
            return self.spell(speller);
        };
        let place = Shared::place(kind, bytes.byte());
        let Some(numeral) = shared.get(place) else { return self.spell_shared(place, speller) };
        match instead {
            Some(instead) => instead.numeral(numeral),
            None => tree.numeral(numeral),
        }
        self.tightness = precedence::PRIMARY;
    }

    // Neither is a part of its caller, which is entered for every node and has less to set up without them.

    #[inline(never)]
    fn spell(&mut self, speller: Speller) {
        let number = speller(self);
        self.number(number.text());
    }

    /// Makes the number of this place, which other cases have too.
    #[inline(never)]
    fn spell_shared(&mut self, place: u16, speller: Speller) {
        let Some(shared) = &self.shared else { return self.spell(speller) };
        let own = std::mem::replace(&mut self.bytes, shared.bytes(place));
        let number = speller(self);
        self.bytes = own;
        let Some(numeral) = Numeral::new(number.text(), place) else { return self.number(number.text()) };
        add!(self, precedence::PRIMARY, numeral(&numeral));
        if let Some(shared) = &mut self.shared {
            shared.put(numeral);
        }
    }

    /// Adds `WARP_SZ`.
    pub fn warp_size(&mut self) {
        add!(self, precedence::PRIMARY, warp_size());
    }

    /// Adds the name of a variable or function.
    pub fn name(&mut self, text: &str) {
        add!(self, precedence::PRIMARY, name(text));
    }

    /// Puts parentheses around what was added last.
    #[inline]
    pub fn paren(&mut self) {
        add!(self, precedence::PRIMARY, paren());
    }

    /// Puts a prefix operator before what was added last.
    #[inline]
    pub fn unary(&mut self, op: UnaryOp) {
        add!(self, precedence::UNARY, unary(op));
    }

    /// Puts a cast before what was added last.
    #[inline]
    pub fn cast(&mut self, cast: Cast) {
        add!(self, precedence::UNARY, cast(cast));
    }

    /// Joins the last two operands.
    #[inline]
    pub fn infix(&mut self, op: BinaryOp) {
        add!(self, op.precedence(), binary(op));
    }

    /// Joins the last three operands.
    #[inline]
    pub fn ternary(&mut self) {
        add!(self, precedence::TERNARY, ternary());
    }

    /// Puts what was added last into `generic()`.
    pub fn generic(&mut self) {
        add!(self, precedence::PRIMARY, generic());
    }

    /// Puts what was added last into a mask.
    pub fn mask(&mut self, mask: &str) {
        add!(self, precedence::PRIMARY, mask(mask));
    }

    /// Puts parentheses around what was added last if it binds less tightly than `least`.
    #[inline]
    pub fn bind(&mut self, least: u8) {
        if self.tightness < least {
            self.paren();
        }
    }

    /// Makes an expression of its own, beside the one at hand.
    pub fn expression(&mut self, make: impl FnOnce(&mut Self)) -> Expr {
        // Most expressions are small; room for them at once costs less than growing into it. What is kept has the memory
        // that it needs: there are hundreds of thousands at a time.
        let around = std::mem::replace(&mut self.tree, TreeBuilder::with_capacity(24));
        let instead = self.instead.take();
        make(self);
        self.instead = instead;
        std::mem::replace(&mut self.tree, around).take()
    }

    /// Makes an operand that stands in parentheses of its own, whatever they belong to.
    pub fn operand_alone(&mut self, of: Nonterminal, room: u32) {
        self.operand(of, room, 0);
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

    /// Chooses the value of a literal.
    #[inline]
    pub fn magnitude(&mut self) -> u64 {
        let chosen = self.choose_production(Nonterminal::Magnitude, 1);
        match *self.generator.wheels().step(chosen) {
            Step::OneOf(values) => self.pick(values),
            Step::Made(maker) => {
                maker(self, 1);
                self.value
            }
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
                self.operand(part, room.saturating_sub(1), 0);
                self.paren();
            }
            Step::Prefix(op, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.unary(op);
            }
            Step::Cast(cast, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.cast(cast);
            }
            Step::Infix(op, left, right) => {
                let [left_room, right_room] = self.split(room.saturating_sub(1), [left, right]);
                self.operand(left, left_room, op.precedence());
                self.operand(right, right_room, op.precedence() + 1);
                self.infix(op);
            }
            Step::Ternary(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                let rooms = self.split(room.saturating_sub(1), parts);
                self.operand(condition, rooms[0], precedence::BINARY_LOWEST);
                self.operand(then, rooms[1], precedence::TERNARY);
                self.operand(otherwise, rooms[2], precedence::TERNARY);
                self.ternary();
            }
            Step::Number(kind, speller) => self.number_of(kind, speller),
            Step::Made(maker) => maker(self, room),
            Step::OneOf(values) => self.value = self.pick(values),
            Step::Type(ty) => self.ty = ty,
            Step::Space(space) => self.space = space,
            Step::Choice(_) => debug_assert!(false, "{} is chosen, not made", of.name()),
        }
        self.parent = around;
    }

    /// Makes an operand that binds at least as tightly as `least`.
    #[inline]
    fn operand(&mut self, of: Nonterminal, room: u32, least: u8) {
        let around = self.depth;
        self.depth = around.saturating_sub(1);
        self.make(of, if self.depth == 0 { 0 } else { room });
        self.depth = around;
        self.bind(least);
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
