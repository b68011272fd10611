//! The rules of 4.5 and of value placement, one function a rule, in a table whose entries can be exchanged.
//!
//! [`Rules::specification`] is what the text says. Another table, with one entry exchanged, is another language: a
//! mutant that tests must tell from the original, or the exact claim that a known deviation makes.

mod specification;

use ptxsmith_syntax::{BinaryOp, Cast, Expr, ScalarType, Span, UnaryOp, is_number};

use crate::{
    address::{self, Named, Slot, Version},
    clause::{Clause, ClauseSet},
    execution,
    grouping::Grouping,
    reading::{Question, QuestionSet, Readings},
    refusal::{RefusalClass, Stop},
    value::{Address, Integer, Kind, Value},
};
use specification::{
    add, and, cast_s64, cast_u64, complement, dimension, divide, equal, greater, greater_equal, less,
    less_equal, logical_and, logical_or, minus, multiply, not, not_equal, number, or, place, plus, remainder,
    shift_left, shift_right, store, subtract, ternary, warp_size, xor,
};

/// What an evaluation rested on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The clauses used.
    pub clauses: ClauseSet,
    /// The open questions met.
    pub questions: QuestionSet,
}

impl Trace {
    /// What either evaluation rested on.
    pub fn union(self, other: Trace) -> Trace {
        Trace { clauses: self.clauses.union(other.clauses), questions: self.questions.union(other.questions) }
    }
}

/// What a rule may look at besides its operands: the reading and the place, and the trace that it writes to.
pub struct Step<'a> {
    /// The answers to the open questions.
    pub readings: &'a Readings,
    /// What is recorded.
    pub trace: &'a mut Trace,
    /// The place of the operation.
    pub span: Span,
    /// The first refusal that an [`Value::Undefined`] stands for.
    pub pending: &'a mut Option<Stop>,
}

impl Step<'_> {
    /// Records that the clause was used.
    pub fn uses(&mut self, clause: Clause) {
        self.trace.clauses.insert(clause);
    }

    /// Records that the clause was used if it was; which of the two nobody foresees, so that no jump depends on it.
    pub(crate) fn uses_if(&mut self, used: bool, clause: Clause) {
        self.trace.clauses.insert_if(used, clause);
    }

    /// Records that the open question was met.
    pub fn meets(&mut self, question: Question) {
        self.trace.questions.insert(question);
    }

    /// Refuses the operation at hand under this clause.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T>(&mut self, class: RefusalClass, clause: Clause) -> Result<T, Stop> {
        self.uses(clause);
        Err(Stop::refused(class, clause, self.span))
    }

    /// A value that is refused if it matters.
    fn undefined(&mut self, class: RefusalClass, clause: Clause, signed: bool) -> Value {
        self.uses(clause);
        self.pending.get_or_insert(Stop::refused(class, clause, self.span));
        Value::Undefined(Kind::integer(signed))
    }
}

/// Where a list of initializers stands when its next entry is placed. Counted in elements of the level below.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Where the list starts, in scalars from the start of the variable.
    pub start: u64,
    /// How many scalars one entry of the list holds.
    pub stride: u64,
    /// Which entry of the list this is.
    pub index: u64,
    /// How many scalars were written before, in the whole variable.
    pub written: u64,
}

/// A scalar as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// These bits, of which the type's low bytes count.
    Bits(u64),
    /// An address, or one byte of it.
    Address(Address, Option<u8>),
}

/// The result of a rule.
pub type Ruled<T> = Result<T, Stop>;

/// A rule of a prefix operator or a cast.
pub type UnaryRule = fn(&mut Step<'_>, Value) -> Ruled<Value>;

/// A rule of an infix operator.
pub type BinaryRule = fn(&mut Step<'_>, Value, Value) -> Ruled<Value>;

/// A table of rules. Every entry is a rule of the specification or a stand-in for one.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The answers to the open questions.
    pub readings: Readings,
    /// What a number as it is written means, in ASCII.
    pub number: fn(&mut Step<'_>, &[u8]) -> Ruled<Value>,
    /// What `WARP_SZ` means.
    pub warp_size: fn(&mut Step<'_>) -> Ruled<Value>,
    /// The prefix operators, in the order of [`UnaryOp::ALL`].
    pub unary: [UnaryRule; UnaryOp::ALL.len()],
    /// The casts, in the order of [`Cast::ALL`].
    pub cast: [UnaryRule; Cast::ALL.len()],
    /// The infix operators, in the order of [`BinaryOp::ALL`].
    pub binary: [BinaryRule; BinaryOp::ALL.len()],
    /// `?:`
    pub ternary: fn(&mut Step<'_>, Value, Value, Value) -> Ruled<Value>,
    /// How infix operators are grouped (4.5.4); `None` as the specification says, which is how they were parsed.
    pub grouping: Option<Grouping>,
    /// Conversion of a value to the type of the variable.
    pub store: fn(&mut Step<'_>, Value, ScalarType) -> Ruled<Stored>,
    /// What a dimension that evaluates to this integer means.
    pub dimension: fn(&mut Step<'_>, &Expr, Integer) -> Ruled<Integer>,
    /// Where the entries of a list go: in scalars from the start of the variable.
    pub place: fn(Placement) -> u64,
    /// What a mask makes of its operand, for modules of this `.version`.
    pub mask: fn(&mut Step<'_>, Version, &str, Value) -> Ruled<Value>,
    /// Whether a common prefix and a number make a parameterized name, if the number is below the count.
    pub numbered: fn(&str, &str) -> bool,
    /// Whether zeros in front of that number mean nothing.
    pub padded_number: bool,
    /// Whose address may be taken, or a byte of it, in modules of this `.version`; whether it is generic in the end.
    pub named: fn(&mut Step<'_>, Version, Named, Address, Option<u8>) -> Ruled<bool>,
    /// What an address, or the byte that a mask takes of it, fills of a scalar of so many bytes, in modules for this
    /// compute capability, such as 80.
    pub address_slot: fn(u64, Option<u8>, Option<u32>) -> Slot,
    /// Whether a constant may be subtracted from the register of an index (6.4.2).
    pub subtracted_index: bool,
    /// Whether a function's name stands in a sum too (6.4.4).
    pub function_in_sum: bool,
    /// Whether an offset in an address may have more than 32 bits (6.4.1).
    pub wide_offset: bool,
    /// Whether a suffix may name an element that the vector lacks (6.4.3).
    pub missing_element: bool,
    /// How many bytes an element lies behind the array: of a constant index, and of one step of it. `None` past 64 bits.
    pub element_offset: fn(i64, i64) -> Option<i64>,
    /// How many steps a register of this type that holds these bits is as an index (6.4.2).
    pub index: fn(ScalarType, u64) -> i64,
    /// How many bytes an offset behind a name or a register is (6.4.1).
    pub operand_offset: fn(i64) -> i64,
    /// Which element a suffix names, by its letter (6.4.3).
    pub element_named: fn(&str) -> Option<usize>,
    /// Which part of a scalar, from the lowest, an element of a list in braces is: of its place, and of how many (6.4.3).
    pub part_of_scalar: fn(usize, usize) -> usize,
    /// Whether a constant of these bits is true (4.5.3).
    pub predicate: fn(u64) -> bool,
    /// How far a constant that is added to the address of a `.local` variable moves it, where that is not what it says; an
    /// access that then misses the variable does nothing, and nobody knows what it loads.
    pub local_moved: Option<fn(i64) -> i64>,
}

impl Rules {
    /// The rules as the specification gives them, under a reading.
    pub const fn specification(readings: Readings) -> Rules {
        Rules {
            readings,
            number,
            warp_size,
            unary: [plus, minus, not, complement],
            cast: [cast_s64, cast_u64],
            binary: [
                multiply,
                divide,
                remainder,
                add,
                subtract,
                shift_right,
                shift_left,
                less,
                greater,
                less_equal,
                greater_equal,
                equal,
                not_equal,
                and,
                xor,
                or,
                logical_and,
                logical_or,
            ],
            ternary,
            grouping: None,
            store,
            dimension,
            place,
            mask: address::mask,
            numbered: |_, number| is_number(number),
            padded_number: false,
            named: address::named,
            address_slot: address::slot,
            subtracted_index: true,
            function_in_sum: false,
            wide_offset: false,
            missing_element: false,
            element_offset: i64::checked_mul,
            index: execution::extended_index,
            operand_offset: std::convert::identity,
            element_named: execution::element_named,
            part_of_scalar: |place, _| place,
            predicate: |bits| bits != 0,
            local_moved: None,
        }
    }
}

impl Rules {
    /// These rules with a change.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut Rules)) -> Rules {
        let mut changed = *self;
        change(&mut changed);
        changed
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::specification(Readings::default())
    }
}
