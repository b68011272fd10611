//! The rules of operands (6.4).

use ptxsmith_syntax::{BinaryOp, Opcode, ScalarType, StateSpace};

use super::{
    entry::entries,
    specification::{element_named, fits, function_operand, indexed_offset, outside},
};
use crate::{step::Ruled, value::extended};

entries! {
    /// Whether the operand at this place of an instruction may name a function (6.4.4), apart from the callee of
    /// `call`.
    FunctionOperand(opcode: Opcode, place: usize) -> bool;
    /// Whether a constant is in range as an offset or an address of this type (6.4.1).
    OffsetFits(value: i128, ty: ScalarType) -> bool;
    /// Returns the bytes that an offset after a name or a register adds (6.4.1).
    Offset(offset: i64) -> i64;
    /// Whether this operator may join the register of an index and a constant (6.4.2).
    IndexOperator(op: BinaryOp) -> bool;
    /// Returns the number of steps of an index register of this type that holds these bits (6.4.2).
    Index(ty: ScalarType, bits: u64) -> i64;
    /// Returns the byte offset of an element in its array, for a constant index and the bytes per step. `None` past 64
    /// bits.
    ElementOffset(index: i64, step: i64) -> Option<i64>;
    /// Returns the bytes per step of an index, for an array of known or unknown size with elements of `bytes` bytes.
    ElementStep(is_sized: bool, bytes: i64) -> i64;
    /// Returns the byte offset of an element in its array, for an index in a register of this type, a constant added to
    /// it, and the bytes per step. `None` if undecided: the specification does not say in how many bits an index is
    /// scaled.
    IndexedOffset(ty: ScalarType, index: i64, constant: i64, step: i64) -> Option<i64>;
    /// Returns which element of a vector of `count` elements a suffix letter names (6.4.3). The instruction is refused
    /// if the vector lacks it.
    ElementNamed(letter: &str, count: usize) -> Option<usize>;
    /// Returns which part of a scalar, counted from the lowest, the element at `place` of a list of `count` in braces
    /// is (6.4.3).
    PartOfScalar(place: usize, count: usize) -> usize;
    /// Whether a constant with these bits is true as a predicate operand of this instruction (4.5.3).
    Predicate(opcode: Opcode, bits: u64) -> bool;
    /// Returns how far a constant added to the address of a variable in this state space moves it.
    Moved(space: StateSpace, bytes: i64) -> i64;
    /// `Ok` if an access outside of a variable in this state space has no effect and loads unknown bytes; `Err` if
    /// there is no rule.
    Outside(space: StateSpace) -> Ruled<()>;
}

/// The rules of operands.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct OperandRules {
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

impl OperandRules {
    pub(super) const SPECIFICATION: OperandRules = OperandRules {
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
