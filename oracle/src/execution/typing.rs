//! Decides which registers match the type that an instruction gives to an operand.

use ptxsmith_syntax::{Opcode, ScalarType, TypeKind};

use super::names::Register;

/// Reason: the types of an instruction's registers do not match its own.
pub(super) const TYPES: &str = "an instruction with operands of types that are not modelled";

/// Whether an instruction moves bits between registers and memory, or converts. Its registers may be wider than its
/// type.
pub(super) fn moves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Ld | Opcode::St | Opcode::Cvt)
}

/// Whether a scalar register has exactly this type, up to sign, or a larger one if `wider`; bit-size types fit every
/// type of their size.
pub(super) fn alike(register: Register, ty: ScalarType, wider: bool) -> bool {
    let class = |ty: ScalarType| match ty.kind() {
        // Packed pairs such as `.f16x2` match no scalar type.
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
