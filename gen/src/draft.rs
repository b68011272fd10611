//! The state of a program under construction.

mod piece;

use ptxsmith_syntax::{
    Assemble, BinaryOp, Cast, Expr, Linkage, PoolConstant, Radix, ScalarType, Spacing, StateSpace,
    TreeBuilder, UnaryOp, VectorLength, precedence,
};

use crate::{
    choice::{AddressForm, ChosenValue, DataForm},
    config::{Config, Odds},
    coverage::Coverage,
    nonterminal::{Nonterminal, ProductionId},
    sampler::Sampler,
    scope::Scope,
    stream::number_stream,
};

pub(crate) use self::piece::PieceMaker;

/// Adds a node over the most recently completed operands and records its precedence.
macro_rules! add {
    ($self:ident, $tightness:expr, $node:ident($($part:expr)?)) => {
        match &mut $self.instead {
            Some(instead) => instead.$node($($part)?),
            None => $self.tree.$node($($part)?),
        }
        $self.tightness = $tightness;
    };
}

/// Generates one form. The `u32` is the node limit for an expression.
pub(crate) type Maker = fn(&mut Draft<'_, '_>, u32);

/// Spells one number.
pub(crate) type Speller = fn(&mut Draft<'_, '_>) -> String;

/// The right-hand side of a production.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expansion {
    Same(Nonterminal),
    Paren(Nonterminal),
    Prefix(UnaryOp, Nonterminal),
    Cast(Cast, Nonterminal),
    Infix(BinaryOp, Nonterminal, Nonterminal),
    Ternary(Nonterminal, Nonterminal, Nonterminal),
    /// A number: the nonterminals it chooses from, and the function that spells it.
    Number(&'static [Nonterminal], Speller),
    /// Any other expression: the minimum number of nodes, the nonterminals it chooses from, and the function that generates it.
    Made(u32, &'static [Nonterminal], Maker),
    /// A piece that is not an expression: the nonterminals it chooses from, and the function that returns it.
    Piece(&'static [Nonterminal], PieceMaker),
    /// A type.
    Type(ScalarType),
    /// Chooses a state space.
    Space(StateSpace),
    /// A choice that produces nothing itself; the surrounding maker uses it.
    Choice(ChosenValue),
}

/// Defines a method for each nonterminal that only makes a choice.
macro_rules! choices {
    ($($of:ident, $choice:ident: $name:ident -> $type:ty;)+) => {
        impl Draft<'_, '_> {
            $(
                #[doc = concat!("Chooses a production of `Nonterminal::", stringify!($of), "`, and returns its entry.")]
                pub fn $name(&mut self) -> $type {
                    match self.choose_form(Nonterminal::$of).1 {
                        Expansion::Choice(ChosenValue::$choice(choice)) => choice,
                        other => unreachable!("{other:?} is no choice of this nonterminal"),
                    }
                }
            )+
        }
    };
}

choices! {
    Spelling, Radix: radix -> Radix;
    Suffix, Unsigned: suffix -> bool;
    MaskValue, Byte: mask_byte -> u8;
    Linkage, Linkage: linkage -> Option<Linkage>;
    ShortVector, Vector: short_vector -> Option<VectorLength>;
    LongVector, Vector: long_vector -> Option<VectorLength>;
    Rank, Rank: rank -> usize;
    Storage, Storage: storage -> StateSpace;
    Place, Place: place -> AddressForm;
    Access, Access: access -> DataForm;
}

/// The number of pool numbers per production. Small enough that those of common productions stay in cache, large enough that
/// sharing them hardly delays the detection of a deviation.
const POOL: u16 = 64;

/// A configuration and the tables computed from it, shared by all drafts.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub config: Config,
    pub sampler: Sampler,
    /// The minimum number of nodes in an expression, for each nonterminal.
    pub least: [u32; Nonterminal::ALL.len()],
    /// For each production, its form and the number of number productions before it in the grammar.
    pub forms: Vec<(Expansion, u8)>,
}

/// The working state of the makers: the remaining bytes and the program so far.
///
/// No operation fails. When the bytes run out, the draft reads zeros, and zeros choose the smallest forms.
pub(crate) struct Draft<'g, 'd> {
    tables: &'g Tables,
    /// The remaining bytes.
    pub bytes: &'d [u8],
    coverage: &'g mut Coverage,
    parent: ProductionId,
    /// The seed and index of the pool of shared numbers; `None` if each expression draws its own numbers.
    pub pool: Option<(u64, u64)>,
    /// The number of nesting levels still allowed for operators.
    depth: u32,
    /// The current expression.
    tree: TreeBuilder,
    /// The receiver of the nodes if no tree is wanted.
    instead: Option<&'g mut dyn Assemble>,
    /// The precedence of the last added node.
    tightness: u8,
    /// The names declared so far.
    pub scope: Scope,
}

impl<'g, 'd> Draft<'g, 'd> {
    /// Creates a draft that consumes these bytes.
    pub fn new(tables: &'g Tables, bytes: &'d [u8], coverage: &'g mut Coverage) -> Self {
        Draft {
            tables,
            bytes,
            coverage,
            parent: ProductionId::NONE,
            pool: None,
            depth: tables.config.max_depth,
            tree: TreeBuilder::default(),
            instead: None,
            tightness: precedence::PRIMARY,
            scope: Scope::default(),
        }
    }

    /// Generates an expression of any size. From now on, nodes go to `into`.
    pub fn assemble(&mut self, of: Nonterminal, into: &'g mut dyn Assemble) {
        self.instead = Some(into);
        let room = self.room();
        self.make(of, room);
    }

    /// Generates a type, a state space, and a value with this type. The nodes of the value go to `into`.
    pub fn assemble_in_context(&mut self, into: &'g mut dyn Assemble) -> (ScalarType, StateSpace) {
        let (ty, space) = self.context();
        self.assemble(Nonterminal::value_of(ty).expect("the type takes an initial value"), into);
        (ty, space)
    }

    /// Returns true with these odds, and false if the bytes have run out.
    pub fn happens(&mut self, odds: Odds) -> bool {
        let drawn = u16::from_be_bytes([self.byte(), self.byte()]);
        drawn > 0 && f64::from(drawn) >= 65_536.0 * (1.0 - odds.share())
    }

    /// Chooses the spacing of a case: canonical, or odd with the odds `odd_spacing`.
    pub fn spacing(&mut self) -> Spacing {
        if self.happens(self.config().odd_spacing) { Spacing::Odd(self.word()) } else { Spacing::Canonical }
    }

    /// Chooses a type and a state space.
    pub fn context(&mut self) -> (ScalarType, StateSpace) {
        (self.ty(Nonterminal::Type), self.space())
    }

    /// Draws the node limit of an expression from one byte.
    pub fn room(&mut self) -> u32 {
        // All sizes are equally likely, up to 256.
        let most = self.config().max_nodes.clamp(1, 256);
        1 + self.below(most as usize) as u32
    }

    pub fn config(&self) -> &'g Config {
        &self.tables.config
    }

    /// Returns the next byte, or zero if the bytes have run out.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        byte
    }

    /// Returns the next eight bytes as a little-endian number. Missing bytes are zero.
    #[inline]
    pub fn word(&mut self) -> u64 {
        if let Some((&word, rest)) = self.bytes.split_first_chunk() {
            self.bytes = rest;
            return u64::from_le_bytes(word);
        }
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Draws a number below `bound` (at most 256) from one byte. Consumes no byte if there is no choice.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!((1..=256).contains(&bound));
        if bound == 1 { 0 } else { (self.byte() as usize * bound) >> 8 }
    }

    /// Chooses one of at most 256 values.
    #[inline]
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Adds a number, spelled in ASCII.
    #[inline]
    pub fn number(&mut self, text: &str) {
        add!(self, precedence::PRIMARY, number(text.as_bytes()));
    }

    /// Adds a number: one from the pool if there is a pool, otherwise a new one. `production` is the index among the number
    /// productions.
    #[inline]
    fn number_of(&mut self, production: u8, speller: Speller) {
        let Some(pool) = self.pool else {
            let number = speller(self);
            return self.number(&number);
        };
        let place = u16::from(production) * POOL + u16::from(self.byte()) % POOL;
        let Draft { tables, coverage, parent, instead, tree, .. } = self;
        let mut spell = || {
            // More bytes than any number consumes.
            let mut bytes = [0; 64];
            number_stream(pool, place).fill(&mut bytes);
            speller(&mut Draft { parent: *parent, ..Draft::new(tables, &bytes, coverage) })
        };
        let constant = PoolConstant { pool, place };
        match instead {
            Some(instead) => instead.constant(constant, &mut spell),
            None => tree.constant(constant, &mut spell),
        }
        self.tightness = precedence::PRIMARY;
    }

    /// Adds `WARP_SZ`.
    pub fn warp_size(&mut self) {
        add!(self, precedence::PRIMARY, warp_size());
    }

    /// Adds the name of a variable or function.
    pub fn name(&mut self, text: &str) {
        add!(self, precedence::PRIMARY, name(text));
    }

    /// Wraps the last operand in parentheses.
    #[inline]
    pub fn paren(&mut self) {
        add!(self, precedence::PRIMARY, paren());
    }

    /// Applies a prefix operator to the last operand.
    #[inline]
    pub fn unary(&mut self, op: UnaryOp) {
        add!(self, precedence::UNARY, unary(op));
    }

    /// Applies a cast to the last operand.
    #[inline]
    pub fn cast(&mut self, cast: Cast) {
        add!(self, precedence::UNARY, cast(cast));
    }

    /// Applies an infix operator to the last two operands.
    #[inline]
    pub fn infix(&mut self, op: BinaryOp) {
        add!(self, op.precedence(), binary(op));
    }

    /// Applies the conditional operator to the last three operands.
    #[inline]
    pub fn ternary(&mut self) {
        add!(self, precedence::TERNARY, ternary());
    }

    /// Wraps the last operand in `generic()`.
    pub fn generic(&mut self) {
        add!(self, precedence::PRIMARY, generic());
    }

    /// Wraps the last operand in a mask.
    pub fn mask(&mut self, mask: &str) {
        add!(self, precedence::PRIMARY, mask(mask));
    }

    /// Wraps the last operand in parentheses if its precedence is below `least`.
    #[inline]
    pub fn bind(&mut self, least: u8) {
        if self.tightness < least {
            self.paren();
        }
    }

    /// Generates a separate expression and then continues the current one.
    pub fn expression(&mut self, make: impl FnOnce(&mut Self)) -> Expr {
        // Most expressions are small, so allocating the capacity at once is cheaper than growing. The finished expression is
        // shrunk, because hundreds of thousands may be kept at a time.
        let around = std::mem::replace(&mut self.tree, TreeBuilder::with_capacity(24));
        let instead = self.instead.take();
        make(self);
        self.instead = instead;
        std::mem::replace(&mut self.tree, around).take()
    }

    /// Generates an operand inside existing parentheses, so that none have to be added.
    pub fn operand_alone(&mut self, of: Nonterminal, room: u32) {
        self.operand(of, room, 0);
    }

    #[inline]
    fn choose_production(&mut self, of: Nonterminal, room: u32) -> ProductionId {
        let tables = self.tables;
        let chosen = tables.sampler.choose(of, room, || self.byte());
        self.coverage.record(self.parent, chosen);
        chosen
    }

    /// Chooses a production of a nonterminal that is not an expression. Returns the production and its form.
    #[inline]
    pub fn choose_form(&mut self, of: Nonterminal) -> (ProductionId, Expansion) {
        let around = self.parent;
        let mut chosen = self.choose_production(of, 1);
        let tables = self.tables;
        while let Expansion::Same(part) = tables.forms[chosen.index()].0 {
            self.parent = chosen;
            chosen = self.choose_production(part, 1);
        }
        self.parent = around;
        (chosen, tables.forms[chosen.index()].0)
    }

    /// Runs `make` inside this production.
    #[inline]
    pub fn within<T>(&mut self, production: ProductionId, make: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.parent, production);
        let made = make(self);
        self.parent = around;
        made
    }

    /// Chooses a type of this nonterminal.
    pub fn ty(&mut self, of: Nonterminal) -> ScalarType {
        match self.choose_form(of).1 {
            Expansion::Type(ty) => ty,
            other => unreachable!("{other:?} is no type"),
        }
    }

    /// Chooses a state space.
    pub fn space(&mut self) -> StateSpace {
        match self.choose_form(Nonterminal::Space).1 {
            Expansion::Space(space) => space,
            other => unreachable!("{other:?} is no state space"),
        }
    }

    /// Generates an expression of this nonterminal with at most `room` nodes, or the smallest form if it needs more.
    pub fn make(&mut self, of: Nonterminal, room: u32) {
        let chosen = self.choose_production(of, room);
        let around = std::mem::replace(&mut self.parent, chosen);
        match self.tables.forms[chosen.index()].0 {
            Expansion::Same(part) => self.make(part, room),
            Expansion::Paren(part) => {
                self.operand(part, room.saturating_sub(1), 0);
                self.paren();
            }
            Expansion::Prefix(op, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.unary(op);
            }
            Expansion::Cast(cast, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.cast(cast);
            }
            Expansion::Infix(op, left, right) => {
                let [left_room, right_room] = self.split(room.saturating_sub(1), [left, right]);
                self.operand(left, left_room, op.precedence());
                self.operand(right, right_room, op.precedence() + 1);
                self.infix(op);
            }
            Expansion::Ternary(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                let rooms = self.split(room.saturating_sub(1), parts);
                self.operand(condition, rooms[0], precedence::BINARY_LOWEST);
                self.operand(then, rooms[1], precedence::TERNARY);
                self.operand(otherwise, rooms[2], precedence::TERNARY);
                self.ternary();
            }
            Expansion::Number(_, speller) => self.number_of(self.tables.forms[chosen.index()].1, speller),
            Expansion::Made(_, _, maker) => maker(self, room),
            Expansion::Piece(..) | Expansion::Type(_) | Expansion::Space(_) | Expansion::Choice(_) => {
                unreachable!("{} is no expression", of.name())
            }
        }
        self.parent = around;
    }

    /// Generates an operand with a precedence of at least `least`, adding parentheses if needed.
    #[inline]
    fn operand(&mut self, of: Nonterminal, room: u32, least: u8) {
        let around = self.depth;
        self.depth = around.saturating_sub(1);
        self.make(of, if self.depth == 0 { 0 } else { room });
        self.depth = around;
        self.bind(least);
    }

    /// Divides the node limit among operands: each gets its minimum, and the rest is distributed at random.
    #[inline]
    fn split<const N: usize>(&mut self, room: u32, among: [Nonterminal; N]) -> [u32; N] {
        let mut rooms = among.map(|of| self.tables.least[of as usize]);
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
