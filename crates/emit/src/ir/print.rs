//! Prints globals as IR.

use num_bigint::BigUint;

use super::address::NAMED;
use super::{Float, LlvmGlobal, LlvmLinkage, LlvmType, TypelessValue};

/// The declarations that globals may refer to.
const PRELUDE: &str = "\
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@table = addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 4
@plain = global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@outside = external addrspace(1) global [8 x i32]
@missing = extern_weak addrspace(1) global [8 x i32]
@shared = addrspace(3) global [8 x i32] undef
define void @function() { ret void }
@alias = alias void (), ptr @function
";

/// Prints these globals as a module, with the declarations that they need.
pub fn module(globals: &[&LlvmGlobal]) -> String {
    let lines: String = globals.iter().map(|global| global.line() + "\n" + &global.helpers()).collect();
    with_declarations(&lines)
}

/// Prints globals as a module for a compiler of the host.
pub fn host_module(globals: &[&LlvmGlobal]) -> String {
    let declaration = format!("{NAMED} = addrspace(1) global i64 0\n");
    let lines = globals.iter().map(|global| global.for_host().line_with(NAMED) + "\n");
    with_declarations(&lines.fold(declaration, |text, line| text + &line))
}

/// Puts the declarations before these lines that they refer to.
fn with_declarations(lines: &str) -> String {
    let mut text = String::new();
    for declaration in PRELUDE.lines().rev() {
        let name = declaration.split('@').nth(1).and_then(|name| name.split([' ', '(']).next());
        if name.is_some_and(|name| {
            lines.contains(&format!("@{name}")) || text.contains(&format!("ptr @{name}\n"))
        }) {
            text = format!("{declaration}\n{text}");
        }
    }
    text + lines
}

impl LlvmGlobal {
    /// Prints the global in one line.
    pub fn line(&self) -> String {
        self.line_with(&self.name.quoted(self.number))
    }

    /// Prints the global in one line, with this name for the variable that may have an odd one.
    fn line_with(&self, named: &str) -> String {
        let linkage = match self.linkage {
            LlvmLinkage::External => String::new(),
            linkage => format!("{} ", linkage.name()),
        };
        let space = if self.space == 0 { String::new() } else { format!("addrspace({}) ", self.space) };
        let word = if self.space == 4 { "constant" } else { "global" };
        let align = self.align.map(|align| format!(", align {align}")).unwrap_or_default();
        let value = self.ty.value(0).replace(NAMED, named);
        format!("@g{} = {linkage}{space}{word} {} {value}{align}", self.number, self.ty.name())
    }

    /// Prints the lines that belong to the global alone: the variable with an odd name, and a use, without
    /// which a private variable is not printed.
    pub fn helpers(&self) -> String {
        let mut text = String::new();
        if self.ty.value(0).contains(NAMED) {
            text += &self.name.declarations(self.number);
        }
        if self.linkage == LlvmLinkage::Private {
            let space = if self.space == 0 { String::new() } else { format!(" addrspace({})", self.space) };
            text += &format!("@u{} = addrspace(1) global ptr{space} @g{}\n", self.number, self.number);
        }
        text
    }
}

impl LlvmType {
    /// Prints the type.
    fn name(&self) -> String {
        match self {
            LlvmType::Integer(width, _) => format!("i{width}"),
            LlvmType::Float(float, _) => float.name().to_owned(),
            LlvmType::Pointer(address) => address.object.ty().to_owned(),
            LlvmType::Address(_, made) => format!("i{}", made.width),
            LlvmType::Vector(element, length) => format!("<{length} x {}>", element.name()),
            LlvmType::Array(element, length) => format!("[{length} x {}]", element.name()),
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members.iter().map(LlvmType::name).collect();
                structure(*is_packed, &members.join(", "))
            }
            LlvmType::Whole(_, ty) | LlvmType::Holed(ty, ..) => ty.name(),
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
            LlvmType::Pointer(address) => address.expression(),
            LlvmType::Address(address, made) => address.integer(*made),
            LlvmType::Vector(element, length) => format!("<{}>", elements(element, *length, step, None)),
            LlvmType::Array(element, length) => format!("[{}]", elements(element, *length, step, None)),
            LlvmType::Holed(ty, index, hole) => match &**ty {
                LlvmType::Vector(element, length) => {
                    format!("<{}>", elements(element, *length, step, Some((*index, *hole))))
                }
                LlvmType::Array(element, length) => {
                    format!("[{}]", elements(element, *length, step, Some((*index, *hole))))
                }
                other => other.value(step),
            },
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members
                    .iter()
                    .map(|member| format!("{} {}", member.name(), member.value(step)))
                    .collect();
                structure(*is_packed, &members.join(", "))
            }
            LlvmType::Whole(whole, ty) => ty.word(*whole),
        }
    }

    /// Prints a value of this type that is one word.
    fn word(&self, word: TypelessValue) -> String {
        match self {
            LlvmType::Integer(..) | LlvmType::Address(..) if word == TypelessValue::Zero => "0".to_owned(),
            LlvmType::Pointer(_) if word == TypelessValue::Zero => "null".to_owned(),
            LlvmType::Whole(_, ty) => ty.word(word),
            _ => word.name().to_owned(),
        }
    }
}

/// Prints the elements of an array or a vector; the index of each is added to its integers. One may be
/// written as a word.
fn elements(element: &LlvmType, length: u32, step: u32, hole: Option<(u32, TypelessValue)>) -> String {
    let name = element.name();
    let value = |index| match hole {
        Some((at, word)) if at == index => element.word(word),
        _ => element.value(step + index),
    };
    let elements: Vec<String> = (0..length).map(|index| format!("{name} {}", value(index))).collect();
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
        Float::Extended => format!("0xK{bits:020X}"),
        Float::Quad => format!("0xL{:016X}{:016X}", bits as u64, (bits >> 64) as u64),
    }
}
