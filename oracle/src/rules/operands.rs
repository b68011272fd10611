//! The rules of operands (6.4).

use ptxsmith_syntax::{BinaryOp, Opcode, ScalarType, StateSpace};

use super::{
    entry::entries,
    specification::{element_named, fits, function_operand, indexed_offset, outside},
};
use crate::{step::Ruled, value::extended};

entries! {
    /// Whether the operand at this place of an instruction may be the name of a function (6.4.4), besides the callee of `call`.
    FunctionOperand(opcode: Opcode, place: usize) -> bool;
    /// Whether a constant may be an offset or an address of this type (6.4.1).
    OffsetFits(value: i128, ty: ScalarType) -> bool;
    /// How many bytes an offset behind a name or a register is (6.4.1).
    Offset(offset: i64) -> i64;
    /// Whether this operator may join the register of an index and a constant (6.4.2).
    IndexOperator(op: BinaryOp) -> bool;
    /// How many steps a register of this type that holds these bits is as an index (6.4.2).
    Index(ty: ScalarType, bits: u64) -> i64;
    /// How many bytes an element lies behind the array: of a constant index, and of one step of it. `None` past 64 bits.
    ElementOffset(index: i64, step: i64) -> Option<i64>;
    /// How many bytes one step of an index is in an array whose size is known, or not, where an element has this many.
    ElementStep(is_sized: bool, bytes: i64) -> i64;
    /// How many bytes an element lies behind the array: of an index in a register of this type, a constant that is added to it,
    /// and bytes of one step. `None` where that is undecided: the text does not say in how many bits an index is scaled.
    IndexedOffset(ty: ScalarType, index: i64, constant: i64, step: i64) -> Option<i64>;
    /// Which element of a vector of so many a suffix names, by its letter (6.4.3); one that the vector lacks is refused.
    ElementNamed(letter: &str, count: usize) -> Option<usize>;
    /// Which part of a scalar, from the lowest, an element of a list in braces is: of its place, and of how many (6.4.3).
    PartOfScalar(place: usize, count: usize) -> usize;
    /// Whether a constant of these bits is true as an operand of this instruction (4.5.3).
    Predicate(opcode: Opcode, bits: u64) -> bool;
    /// How far a constant that is added to the address of a variable in this state space moves it.
    Moved(space: StateSpace, bytes: i64) -> i64;
    /// Whether an access outside of a variable in this state space does nothing, and loads what is unknown; or has no rule.
    Outside(space: StateSpace) -> Ruled<()>;
}

/// The rules of operands.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct Operands {
    pub function_operand: FunctionOperand,
    pub offset_fits: OffsetFits,
    pub offset: Offset,
    pub index_operator: IndexOperator,
    pub index: Index,
    pub element_offset: ElementOffset,
    pub element_step: ElementStep,
    pub indexed_offset: IndexedOffset,
    pub element_named: ElementNamed,
    pub part_of_scalar: PartOfScalar,
    pub predicate: Predicate,
    pub moved: Moved,
    pub outside: Outside,
}

impl Operands {
    pub(super) const SPECIFICATION: Operands = Operands {
        function_operand: FunctionOperand::new(function_operand),
        offset_fits: OffsetFits::new(fits),
        offset: Offset::new(|offset| offset),
        index_operator: IndexOperator::new(|op| matches!(op, BinaryOp::Add | BinaryOp::Sub)),
        index: Index::new(|ty, bits| extended(ty, bits) as i64),
        element_offset: ElementOffset::new(i64::checked_mul),
        element_step: ElementStep::new(|_, bytes| bytes),
        indexed_offset: IndexedOffset::new(indexed_offset),
        element_named: ElementNamed::new(element_named),
        part_of_scalar: PartOfScalar::new(|place, _| place),
        predicate: Predicate::new(|_, bits| bits != 0),
        moved: Moved::new(|_, bytes| bytes),
        outside: Outside::new(outside),
    };
}
