//! Enumerates the scalars of a global, each with the value from its initializer (C++ [dcl.init.aggr],
//! [dcl.init.list]).

use super::vector::COMPONENTS;
use super::{CxxClass, CxxGlobal, CxxLiteral, CxxPointer, CxxType, Scalar, pointed_text};

/// A scalar of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxLeaf {
    /// The expression that names it.
    pub path: String,
    /// The member path within the type, for `offsetof`; `None` for a bit field, and for a global that is not
    /// a class.
    pub member: Option<String>,
    /// The type for reading it.
    pub ty: &'static str,
    /// The kind of scalar, for reports.
    pub kind: &'static str,
    /// The value.
    pub content: Content,
}

impl CxxLeaf {
    fn new(path: String, ty: &'static str, kind: &'static str, content: Content) -> CxxLeaf {
        CxxLeaf { path, member: None, ty, kind, content }
    }
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes in memory order.
    Bytes(Vec<u8>),
    /// The address of a symbol plus an offset.
    Address(&'static str, i64),
    /// The address of a function, and what is added to the address of the object: a pointer to a member
    /// function (Itanium C++ ABI, 2.3).
    Method(&'static str, u64),
    /// The address of a string literal.
    String(String),
}

impl Content {
    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            Content::Address(..) | Content::String(_) => 8,
            Content::Method(..) => 16,
        }
    }
}

/// Returns the scalars of a global in declaration order.
pub fn leaves(global: &CxxGlobal) -> Vec<CxxLeaf> {
    let mut leaves = Vec::new();
    let place = PartPosition { path: format!("g{}", global.number), is_zero: false, step: 0 };
    add(&global.ty, &place, &mut leaves);
    let name = format!("g{}.", global.number);
    for leaf in &mut leaves {
        let is_field = leaf.kind == FIELD;
        leaf.member = leaf.path.strip_prefix(&name).filter(|_| !is_field).map(str::to_owned);
    }
    leaves
}

/// The kind of bit fields, for reports.
const FIELD: &str = "bit field";

/// The position of a part of the global.
struct PartPosition {
    path: String,
    /// Whether it has no initializer.
    is_zero: bool,
    /// The amount added to its integers.
    step: u128,
}

fn add(ty: &CxxType, place: &PartPosition, leaves: &mut Vec<CxxLeaf>) {
    match ty {
        CxxType::Scalar(scalar, value) => {
            let bytes = if place.is_zero { vec![0; scalar.size()] } else { value.bytes(*scalar, place.step) };
            let kind = kind_of(*scalar, value);
            let ty = scalar.plain().name();
            leaves.push(CxxLeaf::new(place.path.clone(), ty, kind, Content::Bytes(bytes)));
        }
        CxxType::Pointer(CxxPointer::Reference) => {
            let (kind, content) = pointer_content(CxxPointer::Object, place);
            leaves.push(CxxLeaf::new(format!("&{}", place.path), "const int *", kind, content));
        }
        CxxType::Pointer(pointer) => {
            let (kind, content) = pointer_content(*pointer, place);
            leaves.push(CxxLeaf::new(place.path.clone(), pointer.type_name(), kind, content));
        }
        CxxType::Text(text) => {
            let units = text.units(place.step);
            for index in 0..text.length {
                let unit = units.get(index as usize).copied().filter(|_| !place.is_zero).unwrap_or(0);
                let bytes = unit.to_le_bytes()[..text.scalar.size()].to_vec();
                let path = format!("{}[{index}]", place.path);
                leaves.push(CxxLeaf::new(path, text.scalar.name(), "character", Content::Bytes(bytes)));
            }
        }
        CxxType::Array(array) => {
            for index in 0..array.length {
                let element = PartPosition {
                    path: format!("{}[{index}]", place.path),
                    is_zero: place.is_zero || index >= array.given,
                    step: place.step + u128::from(index),
                };
                add(&array.element, &element, leaves);
            }
        }
        CxxType::Vector(vector) => {
            for (index, component) in COMPONENTS[..vector.length as usize].iter().enumerate() {
                let step = place.step + index as u128;
                let size = vector.element.size();
                let bytes =
                    if place.is_zero { vec![0; size] } else { vector.value.bytes(vector.element, step) };
                let path = format!("{}.{component}", place.path);
                let kind = kind_of(vector.element, &vector.value);
                leaves.push(CxxLeaf::new(path, vector.element.name(), kind, Content::Bytes(bytes)));
            }
        }
        CxxType::Class(class) => add_class(class, place, leaves),
    }
}

fn add_class(class: &CxxClass, place: &PartPosition, leaves: &mut Vec<CxxLeaf>) {
    // The class sets its values even if the enclosing initializer omits it.
    let is_zero = place.is_zero && !class.sets_values();
    let step = if class.sets_values() { 0 } else { place.step };
    for base in &class.bases {
        // Default member initializers say nothing about bases.
        let is_zero = is_zero || class.has_defaults;
        add_class(base, &PartPosition { path: place.path.clone(), is_zero, step }, leaves);
    }
    for (index, member) in class.members.iter().enumerate() {
        let is_read = !member.is_padding() && (!class.is_union || index == active(class, is_zero));
        if !is_read {
            continue;
        }
        let path =
            if member.is_unnamed { place.path.clone() } else { format!("{}.m{}", place.path, member.id) };
        let part = PartPosition { path, is_zero: is_zero || !class.is_given(index), step };
        match (&member.ty, member.width) {
            (CxxType::Scalar(scalar, value), Some(width)) => {
                leaves.push(field(*scalar, value, width, &part));
            }
            (ty, _) => add(ty, &part, leaves),
        }
    }
}

/// Returns the index of the initialized member of a union.
fn active(class: &CxxClass, is_zero: bool) -> usize {
    if is_zero || class.given == 0 { 0 } else { class.active }
}

fn field(scalar: Scalar, value: &CxxLiteral, width: u32, place: &PartPosition) -> CxxLeaf {
    let bytes = if place.is_zero { vec![0; scalar.size()] } else { value.field_bytes(scalar, width) };
    CxxLeaf::new(place.path.clone(), scalar.name(), FIELD, Content::Bytes(bytes))
}

fn kind_of(scalar: Scalar, value: &CxxLiteral) -> &'static str {
    match (scalar.plain(), value.manner(scalar)) {
        (Scalar::Int128 | Scalar::UnsignedInt128, "") => "integer of 128 bits",
        (scalar, "") if scalar.is_floating() => "floating-point number",
        (_, "") => "integer",
        (_, manner) => manner,
    }
}

fn pointer_content(pointer: CxxPointer, place: &PartPosition) -> (&'static str, Content) {
    let is_zero = place.is_zero;
    match pointer {
        CxxPointer::DataMember | CxxPointer::DerivedMember | CxxPointer::NullDataMember => {
            let value = if is_zero { CxxPointer::NullDataMember } else { pointer };
            ("pointer to a member", Content::Bytes(value.number().to_le_bytes().to_vec()))
        }
        CxxPointer::Text if !is_zero => ("address of a string", Content::String(pointed_text(place.step))),
        CxxPointer::Method
        | CxxPointer::DerivedMethod
        | CxxPointer::VirtualMethod
        | CxxPointer::NullMethod => {
            ("pointer to a member function", method(if is_zero { CxxPointer::NullMethod } else { pointer }))
        }
        _ => match pointer.address().filter(|_| !is_zero) {
            Some((symbol, addend)) => ("address", Content::Address(symbol, addend)),
            None => ("null pointer", Content::Bytes(vec![0; 8])),
        },
    }
}

/// Returns a pointer to a member function: the address of the function, or for a virtual one its offset in
/// the table plus 1; then what is added to the object (Itanium C++ ABI, 2.3).
fn method(pointer: CxxPointer) -> Content {
    match pointer {
        CxxPointer::Method => Content::Method("_ZN6Record6methodEv", 0),
        CxxPointer::DerivedMethod => Content::Method("_ZN6Second5otherEv", 12),
        CxxPointer::VirtualMethod => Content::Bytes(9u128.to_le_bytes().to_vec()),
        _ => Content::Bytes(vec![0; 16]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CxxString, GlobalSpecifier, Initialization, MemorySpace};
    use super::*;

    #[test]
    fn a_character_beyond_the_first_plane_has_two_units_of_sixteen_bits_and_one_of_thirty_two() {
        let units = |scalar| {
            let text = CxxString { scalar, text: "\u{1f600}a".to_owned(), length: 4 };
            let global = CxxGlobal {
                number: 0,
                space: MemorySpace::Device,
                form: GlobalSpecifier::Plain,
                initialization: Initialization::Listed,
                ty: CxxType::Text(text),
            };
            let content = leaves(&global).into_iter().map(|leaf| match leaf.content {
                Content::Bytes(bytes) => {
                    bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte))
                }
                _ => 0,
            });
            content.collect::<Vec<_>>()
        };
        assert_eq!(units(Scalar::Char16), [0xd83d, 0xde00, 0x61, 0]);
        assert_eq!(units(Scalar::Char32), [0x1f600, 0x61, 0, 0]);
    }
}
