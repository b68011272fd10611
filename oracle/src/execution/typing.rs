//! The types of operands: which one an instruction gives to each, and which registers have it.

use ptxsmith_syntax::{Opcode, ScalarType, TypeKind};

use super::form::Form;
use super::instructions::{result_type, source_type};
use super::names::Register;

/// Why an instruction is not judged, and not executed, whose registers have other types than it.
pub(super) const TYPES: &str = "an instruction with operands of types that are not modelled";

/// The type that an instruction gives to an operand.
#[derive(Clone, Copy)]
pub(super) struct Typed {
    pub ty: ScalarType,
    /// Whether a register may be wider: where bits are moved from or to memory, or converted.
    pub wider: bool,
}

/// The type that an instruction of this form gives to the operand at this place; `None` of an address, a label, a callee.
pub(super) fn typed(form: &Form<'_>, nth: usize) -> Option<Typed> {
    let ty = form.ty?;
    let named = || form.others.last().and_then(|word| ScalarType::from_keyword(word));
    let of = match (form.opcode, nth) {
        (Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit, _) => return None,
        (Opcode::Ld, 1) | (Opcode::St, 0) => return None,
        (Opcode::Setp, 0) | (Opcode::Setp | Opcode::Set | Opcode::Selp, 3) => ScalarType::Pred,
        // The last modifier is the type of the sources.
        (Opcode::Set | Opcode::Cvt, 0) => named()?,
        (Opcode::Mul | Opcode::Mad, 0) => result_type(form, ty)?,
        (_, 0) => ty,
        (_, nth) => source_type(form, ty, nth - 1)?,
    };
    Some(Typed { ty: of, wider: moves(form.opcode) })
}

/// Whether an instruction moves bits between registers and memory, or converts: then a register may be wider than its type.
pub(super) fn moves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Ld | Opcode::St | Opcode::Cvt)
}

/// Whether a scalar register has exactly this type, up to sign, or is `wider`; bits fit every type of their size.
pub(super) fn alike(register: Register, ty: ScalarType, wider: bool) -> bool {
    let class = |ty: ScalarType| match ty.kind() {
        // Two numbers in one are neither of them.
        _ if ty.keyword().ends_with("x2") => Some(3),
        TypeKind::Signed | TypeKind::Unsigned => Some(0),
        TypeKind::Float => Some(1),
        TypeKind::Predicate => Some(2),
        TypeKind::Bits => None,
    };
    let kinds = match (class(register.ty), class(ty)) {
        (Some(own), Some(wanted)) => own == wanted,
        (Some(one), None) | (None, Some(one)) => one != 2,
        (None, None) => true,
    };
    let sizes = match wider && matches!(class(ty), Some(0 | 3) | None) {
        true => register.ty.size() >= ty.size() && register.ty.size().is_some(),
        false => register.ty.size() == ty.size(),
    };
    register.lanes == 1 && kinds && sizes
}
