//! Decides which registers match the type that an instruction gives to an operand.

use ptxsmith_syntax::{Opcode, ScalarType, TypeKind};

use super::names::RegisterVariable;

/// Reason: the types of an instruction's registers do not match its own.
pub(super) const TYPES: &str = "an instruction with operands of types that are not modelled";

/// Whether an instruction moves bits between registers and memory, or converts. Its registers may be wider than its
/// type.
pub(super) fn moves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Ld | Opcode::St | Opcode::Cvt)
}

/// Whether a scalar register has exactly this type, up to sign, or a larger one if `wider`; bit-size types fit every
/// type of their size.
pub(super) fn has_type(register: RegisterVariable, ty: ScalarType, wider: bool) -> bool {
    let have_like_kinds = match (type_class(register.ty), type_class(ty)) {
        (TypeClass::Bits, other) | (other, TypeClass::Bits) => other != TypeClass::Predicate,
        (class, wanted) => class == wanted,
    };
    let may_be_wider = wider && !matches!(type_class(ty), TypeClass::Float | TypeClass::Predicate);
    let have_like_sizes = if may_be_wider {
        register.ty.size() >= ty.size() && register.ty.size().is_some()
    } else {
        register.ty.size() == ty.size()
    };
    register.lanes == 1 && have_like_kinds && have_like_sizes
}

/// The types that can stand for each other. Bit-size types can stand for all but predicates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeClass {
    Integer,
    Float,
    Predicate,
    /// Packed pairs such as `.f16x2`, which match no scalar type.
    Packed,
    Bits,
}

fn type_class(ty: ScalarType) -> TypeClass {
    match ty.kind() {
        _ if ty.keyword().ends_with("x2") => TypeClass::Packed,
        TypeKind::Signed | TypeKind::Unsigned => TypeClass::Integer,
        TypeKind::Float => TypeClass::Float,
        TypeKind::Predicate => TypeClass::Predicate,
        TypeKind::Bits => TypeClass::Bits,
    }
}
