//! Prints globals as IR.

use num_bigint::BigUint;

use super::{Float, LlvmGlobal, LlvmLinkage, LlvmPointer, LlvmType, TypelessValue};

/// The declarations that globals may refer to.
pub const PRELUDE: &str = "\
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@table = addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 4
define void @function() { ret void }
";

impl LlvmGlobal {
    /// Prints the global in one line.
    pub fn line(&self) -> String {
        let linkage = match self.linkage {
            LlvmLinkage::External => String::new(),
            linkage => format!("{} ", linkage.name()),
        };
        let word = if self.space == 4 { "constant" } else { "global" };
        let align = self.align.map(|align| format!(", align {align}")).unwrap_or_default();
        format!(
            "@g{} = {linkage}addrspace({}) {word} {} {}{align}",
            self.number,
            self.space,
            self.ty.name(),
            self.ty.value(0)
        )
    }
}

impl LlvmType {
    /// Prints the type.
    fn name(&self) -> String {
        match self {
            LlvmType::Integer(width, _) => format!("i{width}"),
            LlvmType::Float(float, _) => float.name().to_owned(),
            LlvmType::Pointer(pointer, _) => pointer_type(*pointer).to_owned(),
            LlvmType::Address(..) => "i64".to_owned(),
            LlvmType::Vector(element, length) => format!("<{length} x {}>", element.name()),
            LlvmType::Array(element, length) => format!("[{length} x {}]", element.name()),
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members.iter().map(LlvmType::name).collect();
                structure(*is_packed, &members.join(", "))
            }
            LlvmType::Whole(_, ty) => ty.name(),
        }
    }

    /// Prints the value, with `step` added to its integers.
    fn value(&self, step: u32) -> String {
        match self {
            LlvmType::Integer(1, bits) => {
                if stepped(bits, 1, step).bits() == 1 { "true" } else { "false" }.to_owned()
            }
            LlvmType::Integer(width, bits) => stepped(bits, *width, step).to_string(),
            LlvmType::Float(float, bits) => float_value(*float, *bits),
            LlvmType::Pointer(pointer, offset) => address(*pointer, *offset),
            LlvmType::Address(pointer, offset) => {
                format!("ptrtoint ({} {} to i64)", pointer_type(*pointer), address(*pointer, *offset))
            }
            LlvmType::Vector(element, length) => format!("<{}>", elements(element, *length, step)),
            LlvmType::Array(element, length) => format!("[{}]", elements(element, *length, step)),
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members
                    .iter()
                    .map(|member| format!("{} {}", member.name(), member.value(step)))
                    .collect();
                structure(*is_packed, &members.join(", "))
            }
            LlvmType::Whole(TypelessValue::Zero, ty) if matches!(**ty, LlvmType::Integer(..)) => {
                "0".to_owned()
            }
            LlvmType::Whole(whole, _) => whole.name().to_owned(),
        }
    }
}

/// Prints the elements of an array or a vector; the index of each is added to its integers.
fn elements(element: &LlvmType, length: u32, step: u32) -> String {
    let name = element.name();
    let elements: Vec<String> =
        (0..length).map(|index| format!("{name} {}", element.value(step + index))).collect();
    elements.join(", ")
}

/// Returns the integer with `step` added, modulo two to its width.
pub fn stepped(bits: &BigUint, width: u32, step: u32) -> BigUint {
    (bits + step) % (BigUint::from(1u8) << width)
}

fn structure(is_packed: bool, members: &str) -> String {
    if is_packed { format!("<{{ {members} }}>") } else { format!("{{ {members} }}") }
}

fn float_value(float: Float, bits: u128) -> String {
    match float {
        Float::Half => format!("0xH{bits:04X}"),
        Float::Bfloat => format!("0xR{bits:04X}"),
        // Written as the double of the same value.
        Float::Single => format!("0x{:016X}", f64::from(f32::from_bits(bits as u32)).to_bits()),
        Float::Double => format!("0x{bits:016X}"),
        Float::Quad => format!("0xL{:016X}{:016X}", bits as u64, (bits >> 64) as u64),
    }
}

fn pointer_type(pointer: LlvmPointer) -> &'static str {
    match pointer {
        LlvmPointer::Global => "ptr addrspace(1)",
        LlvmPointer::Constant => "ptr addrspace(4)",
        LlvmPointer::Null | LlvmPointer::Generic | LlvmPointer::Function => "ptr",
    }
}

fn address(pointer: LlvmPointer, offset: i64) -> String {
    let base = match pointer {
        LlvmPointer::Null => return "null".to_owned(),
        LlvmPointer::Global => "@targets",
        LlvmPointer::Generic => "addrspacecast (ptr addrspace(1) @targets to ptr)",
        LlvmPointer::Constant => "@table",
        LlvmPointer::Function => return "@function".to_owned(),
    };
    match offset {
        0 => base.to_owned(),
        _ => format!("getelementptr (i8, {} {base}, i64 {offset})", pointer_type(pointer)),
    }
}
