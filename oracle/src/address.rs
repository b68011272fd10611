//! The rules of addresses in initializers (5.4.4): which addresses may be taken, the effect of `mask()` and
//! `generic()`, and the types that can store them.

use ptxsmith_syntax::{FunctionKind, Number, ScalarType, StateSpace, TypeKind, read_number};

use crate::{
    clause::Clause,
    reading::{FunctionOffset, GenericFunction, MaskedFunction, MaskedType, OffsetInGeneric, Question},
    refusal::RefusalClass,
    step::{Ruled, Step, Stored},
    value::{AddressValue, Integer, Value, ValueKind},
};

/// The kind of entity that a name at module scope refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A variable in a state space; `None` if its declaration names no space.
    Variable(Option<StateSpace>),
    /// A function or a kernel.
    Function(FunctionKind),
    /// A label in a function.
    Label,
}

/// A `.version` as (major, minor).
pub type Version = (u32, u32);

/// Applies `mask()`, which extracts one byte of a constant or of an address.
pub(crate) fn mask(step: &mut Step<'_>, version: Version, mask: &str, operand: Value) -> Ruled<Value> {
    step.uses(Clause::Mask);
    if version < (7, 1) {
        return step.refuse(RefusalClass::MaskVersion, Clause::MaskNeeds71);
    }
    let byte = match read_number(mask) {
        Some(Number::Integer { value: Some(value), .. }) => (0..8u8).find(|byte| value == 0xff << (8 * byte)),
        _ => None,
    };
    let Some(byte) = byte else {
        return step.refuse(RefusalClass::MaskValue, Clause::MaskValue);
    };
    step.uses(Clause::MaskValue);
    match operand {
        Value::Integer(integer) => {
            step.uses(Clause::MaskConstant);
            if version < (7, 3) {
                return step.refuse(RefusalClass::MaskVersion, Clause::MaskConstantNeeds73);
            }
            Ok(Value::Integer(Integer::unsigned(integer.bits >> (8 * byte) & 0xff)))
        }
        Value::Address(address) => Ok(Value::AddressByte(address, byte)),
        Value::Undefined(ValueKind::Signed | ValueKind::Unsigned) => {
            Ok(Value::Undefined(ValueKind::Unsigned))
        }
        Value::Float(_)
        | Value::ComputedNan
        | Value::Undefined(ValueKind::Float)
        | Value::Single(_)
        | Value::AddressByte(..) => step.refuse(RefusalClass::MaskOperand, Clause::MaskOperand),
    }
}

/// Applies `generic()`. `is_name` tells whether the operand is a bare name.
pub(crate) fn generic(step: &mut Step<'_>, operand: Value, is_name: bool) -> Ruled<Value> {
    step.uses(Clause::Generic);
    match operand {
        Value::Address(address) if is_name => Ok(Value::Address(AddressValue { generic: true, ..address })),
        Value::Address(address) if !address.generic => {
            step.meets(Question::OffsetInGeneric);
            match step.readings.offset_in_generic {
                OffsetInGeneric::Refused => step.refuse(RefusalClass::AddressArithmetic, Clause::Generic),
                OffsetInGeneric::Accepted => Ok(Value::Address(AddressValue { generic: true, ..address })),
            }
        }
        _ => step.refuse(RefusalClass::AddressArithmetic, Clause::Generic),
    }
}

/// Checks whether the address of `named` may be taken, or one `byte` of it. Returns whether the stored address is
/// generic.
pub(crate) fn named(
    step: &mut Step<'_>,
    version: Version,
    named: SymbolKind,
    address: AddressValue,
    byte: Option<u8>,
) -> Ruled<bool> {
    match named {
        SymbolKind::Variable(Some(space @ (StateSpace::Global | StateSpace::Const))) => {
            step.uses(Clause::VariableAddress);
            if address.generic {
                return Ok(true);
            }
            step.uses(Clause::StateSpaceAddress);
            // The note: before version 3.1 the name of a global variable means its generic address.
            let legacy = space == StateSpace::Global && version < (3, 1);
            if legacy {
                step.uses(Clause::LegacyGeneric);
            }
            Ok(legacy)
        }
        SymbolKind::Variable(_) => step.refuse(RefusalClass::AddressSpace, Clause::AddressSpace),
        SymbolKind::Label => step.refuse(RefusalClass::LabelAddress, Clause::NoLabels),
        SymbolKind::Function(kind) => {
            if byte.is_some() {
                step.meets(Question::MaskedFunction);
                if step.readings.masked_function == MaskedFunction::Refused {
                    return step.refuse(RefusalClass::MaskOperand, Clause::MaskOperand);
                }
            }
            step.uses(match kind {
                FunctionKind::Entry => Clause::KernelAddress,
                FunctionKind::Func => Clause::FunctionAddress,
            });
            if kind == FunctionKind::Entry && version < (3, 1) {
                return step.refuse(RefusalClass::KernelVersion, Clause::KernelAddress);
            }
            if address.generic {
                step.meets(Question::GenericFunction);
                if step.readings.generic_function == GenericFunction::Refused {
                    return step.refuse(RefusalClass::AddressArithmetic, Clause::Generic);
                }
            }
            if address.moved {
                step.meets(Question::FunctionOffset);
                if step.readings.function_offset == FunctionOffset::Refused {
                    return step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset);
                }
            }
            Ok(false)
        }
    }
}

/// Stores a whole address in a variable of this type.
pub(crate) fn store(step: &mut Step<'_>, address: AddressValue, ty: ScalarType) -> Ruled<Stored> {
    match ty {
        ScalarType::U32 | ScalarType::U64 => {
            step.uses(Clause::AddressType);
            Ok(Stored::Address(address, None))
        }
        ScalarType::U8 => step.refuse(RefusalClass::ByteWithoutMask, Clause::ByteNeedsMask),
        _ => step.refuse(RefusalClass::AddressType, Clause::AddressType),
    }
}

/// Stores one byte of an address in a variable of this type.
pub(crate) fn store_byte(
    step: &mut Step<'_>,
    address: AddressValue,
    byte: u8,
    ty: ScalarType,
) -> Ruled<Stored> {
    step.uses(Clause::Mask);
    let holds = match ty {
        ScalarType::U8 => true,
        _ => {
            step.meets(Question::MaskedType);
            match step.readings.masked_type {
                MaskedType::Listed => matches!(ty, ScalarType::U32 | ScalarType::U64),
                MaskedType::ByteOnly => false,
                MaskedType::Integers => {
                    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits)
                }
            }
        }
    };
    if !holds {
        return step.refuse(RefusalClass::AddressType, Clause::AddressType);
    }
    Ok(Stored::Address(address, Some(byte)))
}

/// The part of a scalar that a stored address occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSlot {
    /// The width in bytes.
    pub width: u64,
    /// The number of low bits of the addend that are predicted: 64, unless a deviation leaves the higher ones open.
    pub addend_bits: u32,
}

/// The parts of a module's header that may decide how an implementation stores addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addressing {
    /// The compute capability of the first `sm_` target (80 for `sm_80`); `None` if there is none.
    pub architecture: Option<u32>,
    /// Whether the module declares addresses of 32 bits.
    pub is_32_bit: bool,
}

/// Returns the slot of an address: the whole variable, or its lowest byte if `mask()` selected one byte.
pub(crate) fn slot(size: u64, byte: Option<u8>, _addressing: Addressing) -> AddressSlot {
    AddressSlot { width: if byte.is_some() { 1 } else { size }, addend_bits: 64 }
}
