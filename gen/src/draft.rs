//! A program while it is being made.

mod piece;

use ptxsmith_syntax::{
    Assemble, BinaryOp, Cast, Expr, Linkage, PoolConstant, Radix, ScalarType, Spacing, StateSpace,
    TreeBuilder, UnaryOp, VectorLength, precedence,
};

use crate::{
    choice::{Access, Choice, Place},
    config::{Config, Odds},
    coverage::Coverage,
    nonterminal::{Nonterminal, ProductionId},
    sampler::Sampler,
    scope::Scope,
    stream::number_stream,
};

pub(crate) use self::piece::Piece;

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

/// Fills in one form. `u32` is how many nodes an expression may take.
pub(crate) type Maker = fn(&mut Draft<'_, '_>, u32);

/// Spells one number.
pub(crate) type Speller = fn(&mut Draft<'_, '_>) -> String;

/// What a production is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Same(Nonterminal),
    Paren(Nonterminal),
    Prefix(UnaryOp, Nonterminal),
    Cast(Cast, Nonterminal),
    Infix(BinaryOp, Nonterminal, Nonterminal),
    Ternary(Nonterminal, Nonterminal, Nonterminal),
    /// A number: the choices that are made of it, and the function that spells it.
    Number(&'static [Nonterminal], Speller),
    /// Anything else: how many nodes it takes at least, besides its parts; the parts; the function that makes it.
    Made(u32, &'static [Nonterminal], Maker),
    /// What is no expression: the choices that are made of it, and the function that returns it.
    Piece(&'static [Nonterminal], Piece),
    /// A type.
    Type(ScalarType),
    /// A state space.
    Space(StateSpace),
    /// Nothing by itself: a choice that the maker around it reads.
    Choice(Choice),
}

/// Makes the choices of the nonterminals that are mere choices.
macro_rules! choices {
    ($($of:ident, $choice:ident: $name:ident -> $type:ty;)+) => {
        impl Draft<'_, '_> {
            $(
                #[doc = concat!("What the table states for the production of `Nonterminal::", stringify!($of), "` that is chosen.")]
                pub fn $name(&mut self) -> $type {
                    match self.choose_form(Nonterminal::$of).1 {
                        Form::Choice(Choice::$choice(choice)) => choice,
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
    Place, Place: place -> Place;
    Access, Access: access -> Access;
}

/// How many numbers of each production a pool has: few enough that those of the common productions can be kept close at
/// hand, and enough that hardly any wrong rule is told later for it.
const POOL: u16 = 64;

/// What drafts are made by: a configuration, and what follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub config: Config,
    pub sampler: Sampler,
    /// The fewest nodes that an expression of each nonterminal has.
    pub least: [u32; Nonterminal::ALL.len()],
    /// What each production is made of, and how many productions of numbers there are before it.
    pub forms: Vec<(Form, u8)>,
}

/// What the makers of productions work on: where the bytes come from, and what has been made so far.
///
/// Nothing here fails. When the bytes run out, zeros follow, and zeros choose the smallest forms.
pub(crate) struct Draft<'g, 'd> {
    tables: &'g Tables,
    /// The bytes that are left.
    pub bytes: &'d [u8],
    coverage: &'g mut Coverage,
    parent: ProductionId,
    /// The seed and the number of the pool that numbers are taken from, if they are.
    pub pool: Option<(u64, u64)>,
    /// How many operators may still nest.
    depth: u32,
    /// The expression at hand.
    tree: TreeBuilder,
    /// What takes its nodes instead, where no tree is wanted.
    instead: Option<&'g mut dyn Assemble>,
    /// How tightly the node that was added last binds.
    tightness: u8,
    /// The names that were made so far.
    pub scope: Scope,
}

impl<'g, 'd> Draft<'g, 'd> {
    /// A draft that takes these bytes.
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

    /// Makes an expression of any size, whose nodes go to `into` from now on.
    pub fn assemble(&mut self, of: Nonterminal, into: &'g mut dyn Assemble) {
        self.instead = Some(into);
        let room = self.room();
        self.make(of, room);
    }

    /// Makes a type, a state space, and a value of that type, whose nodes go to `into`.
    pub fn assemble_in_context(&mut self, into: &'g mut dyn Assemble) -> (ScalarType, StateSpace) {
        let (ty, space) = self.context();
        self.assemble(Nonterminal::value_of(ty).expect("the type takes an initial value"), into);
        (ty, space)
    }

    /// Whether something happens that has these odds. It does not where the bytes have run out.
    pub fn happens(&mut self, odds: Odds) -> bool {
        let drawn = u16::from_be_bytes([self.byte(), self.byte()]);
        drawn > 0 && f64::from(drawn) >= 65_536.0 * (1.0 - odds.share())
    }

    /// How a case is spaced: canonically, or, as often as the knob says, oddly.
    pub fn spacing(&mut self) -> Spacing {
        if self.happens(self.config().odd_spacing) { Spacing::Odd(self.word()) } else { Spacing::Canonical }
    }

    /// A type and a state space.
    pub fn context(&mut self) -> (ScalarType, StateSpace) {
        (self.ty(Nonterminal::Type), self.space())
    }

    /// How many nodes an expression may have, from one byte.
    pub fn room(&mut self) -> u32 {
        // Not one byte below the last size: the sizes are as likely as each other, up to 256.
        let most = self.config().max_nodes.clamp(1, 256);
        1 + self.below(most as usize) as u32
    }

    pub fn config(&self) -> &'g Config {
        &self.tables.config
    }

    /// The next byte; zero when there is none.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        byte
    }

    /// The next eight bytes as a number, lowest first; zeros for those that there are not.
    #[inline]
    pub fn word(&mut self) -> u64 {
        if let Some((&word, rest)) = self.bytes.split_first_chunk() {
            self.bytes = rest;
            return u64::from_le_bytes(word);
        }
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
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
    pub fn number(&mut self, text: &str) {
        add!(self, precedence::PRIMARY, number(text.as_bytes()));
    }

    /// Adds the number of a production, which is the one of this number among those of numbers: one of the pool, if there is
    /// one, or one of its own.
    #[inline]
    fn number_of(&mut self, production: u8, speller: Speller) {
        let Some(pool) = self.pool else {
            let number = speller(self);
            return self.number(&number);
        };
        let place = u16::from(production) * POOL + u16::from(self.byte()) % POOL;
        let Draft { tables, coverage, parent, instead, tree, .. } = self;
        let mut spell = || {
            // More than any number takes.
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
        let tables = self.tables;
        let chosen = tables.sampler.choose(of, room, || self.byte());
        self.coverage.record(self.parent, chosen);
        chosen
    }

    /// The production that is chosen of what is no expression, and its form.
    #[inline]
    pub fn choose_form(&mut self, of: Nonterminal) -> (ProductionId, Form) {
        let around = self.parent;
        let mut chosen = self.choose_production(of, 1);
        let tables = self.tables;
        while let Form::Same(part) = tables.forms[chosen.index()].0 {
            self.parent = chosen;
            chosen = self.choose_production(part, 1);
        }
        self.parent = around;
        (chosen, tables.forms[chosen.index()].0)
    }

    /// What is made within this production.
    #[inline]
    pub fn within<T>(&mut self, production: ProductionId, make: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.parent, production);
        let made = make(self);
        self.parent = around;
        made
    }

    /// A type of this nonterminal.
    pub fn ty(&mut self, of: Nonterminal) -> ScalarType {
        match self.choose_form(of).1 {
            Form::Type(ty) => ty,
            other => unreachable!("{other:?} is no type"),
        }
    }

    /// A state space.
    pub fn space(&mut self) -> StateSpace {
        match self.choose_form(Nonterminal::Space).1 {
            Form::Space(space) => space,
            other => unreachable!("{other:?} is no state space"),
        }
    }

    /// Makes an expression of this nonterminal, with at most `room` nodes unless even the least form takes more.
    pub fn make(&mut self, of: Nonterminal, room: u32) {
        let chosen = self.choose_production(of, room);
        let around = std::mem::replace(&mut self.parent, chosen);
        match self.tables.forms[chosen.index()].0 {
            Form::Same(part) => self.make(part, room),
            Form::Paren(part) => {
                self.operand(part, room.saturating_sub(1), 0);
                self.paren();
            }
            Form::Prefix(op, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.unary(op);
            }
            Form::Cast(cast, part) => {
                self.operand(part, room.saturating_sub(1), precedence::UNARY);
                self.cast(cast);
            }
            Form::Infix(op, left, right) => {
                let [left_room, right_room] = self.split(room.saturating_sub(1), [left, right]);
                self.operand(left, left_room, op.precedence());
                self.operand(right, right_room, op.precedence() + 1);
                self.infix(op);
            }
            Form::Ternary(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                let rooms = self.split(room.saturating_sub(1), parts);
                self.operand(condition, rooms[0], precedence::BINARY_LOWEST);
                self.operand(then, rooms[1], precedence::TERNARY);
                self.operand(otherwise, rooms[2], precedence::TERNARY);
                self.ternary();
            }
            Form::Number(_, speller) => self.number_of(self.tables.forms[chosen.index()].1, speller),
            Form::Made(_, _, maker) => maker(self, room),
            Form::Piece(..) | Form::Type(_) | Form::Space(_) | Form::Choice(_) => {
                unreachable!("{} is no expression", of.name())
            }
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
