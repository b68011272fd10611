//! Describes reduced globals without names and values. Reduced globals with the same cause have the same
//! shape.

use crate::source::{
    CxxClass, CxxGlobal, CxxLiteral, CxxPointer, CxxType, GlobalSpecifier, Initialization, Member,
    MemorySpace, Scalar,
};

/// Returns the shape of a global: `struct { int : N; int }`.
pub fn shape(global: &CxxGlobal) -> String {
    let mut before = String::new();
    if global.space != MemorySpace::Device {
        before += &format!("{} ", global.space.name());
    }
    if global.form != GlobalSpecifier::Plain {
        before += &format!("{} ", global.form.name());
    }
    if global.initialization != Initialization::Listed {
        before += &format!("{} ", global.initialization.name());
    }
    before + &type_shape(&global.ty)
}

/// Converts a shape to a part of an id.
pub fn slug(shape: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in shape.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
            '*' => word.push_str("pointer"),
            _ => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.join("-")
}

fn type_shape(ty: &CxxType) -> String {
    match ty {
        CxxType::Scalar(scalar, value) => valued_shape(*scalar, value),
        CxxType::Pointer(CxxPointer::DataMember | CxxPointer::DerivedMember | CxxPointer::NullDataMember) => {
            "member pointer".to_owned()
        }
        CxxType::Pointer(
            CxxPointer::Method
            | CxxPointer::DerivedMethod
            | CxxPointer::VirtualMethod
            | CxxPointer::NullMethod,
        ) => "member function pointer".to_owned(),
        CxxType::Pointer(CxxPointer::Text) => "string *".to_owned(),
        CxxType::Pointer(CxxPointer::Function) => "function *".to_owned(),
        CxxType::Pointer(CxxPointer::Null) => "null *".to_owned(),
        CxxType::Pointer(_) => "*".to_owned(),
        CxxType::Array(array) if array.given < array.length => {
            format!("{}[{} of {}]", type_shape(&array.element), array.given.min(1), array.length.min(2))
        }
        CxxType::Array(array) => format!("{}[{}]", type_shape(&array.element), array.length.min(2)),
        CxxType::Text(text) => format!("{} string", text.scalar.name()),
        CxxType::Vector(vector) => format!("{} vector", valued_shape(vector.element, &vector.value)),
        CxxType::Class(class) => class_shape(class),
    }
}

fn valued_shape(scalar: Scalar, value: &CxxLiteral) -> String {
    match value.manner(scalar) {
        "" => scalar_shape(scalar).to_owned(),
        manner => format!("{} {manner}", scalar_shape(scalar)),
    }
}

fn scalar_shape(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Unsigned => "int",
        Scalar::UnsignedShort => "short",
        Scalar::SignedChar | Scalar::UnsignedChar => "char",
        Scalar::UnsignedLongLong => "long",
        Scalar::UnsignedInt128 => "__int128",
        realigned if realigned.is_over_aligned() => "over-aligned",
        realigned if realigned.is_realigned() => "under-aligned",
        other => other.name(),
    }
}

fn class_shape(class: &CxxClass) -> String {
    let mut text = String::new();
    if class.is_packed {
        text += "packed ";
    }
    if class.pack.is_some() {
        text += "pragma pack ";
    }
    if class.align.is_some() {
        text += "aligned ";
    }
    if class.has_constructor {
        text += "constructed ";
    }
    if class.has_defaults {
        text += "defaulted ";
    }
    if class.is_designated {
        text += "designated ";
    }
    if class.has_virtual {
        text += "virtual ";
    }
    text += if class.is_union { "union" } else { "struct" };
    let bases: Vec<String> = class.bases.iter().map(class_shape).collect();
    if !bases.is_empty() {
        text += &format!(" : {}", bases.join(", "));
    }
    let mut members: Vec<String> = class.members.iter().map(member).collect();
    if class.is_union && class.active > 0 {
        members[class.active] += " = active";
    }
    let omitted = (class.given..class.members.len()).next().filter(|_| !class.is_union);
    for index in omitted.into_iter().chain(class.skipped) {
        members[index] += " omitted";
    }
    format!("{text} {{ {} }}", members.join("; "))
}

fn member(member: &Member) -> String {
    let mut text = String::new();
    if member.may_overlap {
        text += "overlapping ";
    }
    if member.align.is_some() {
        text += "aligned ";
    }
    if member.is_packed {
        text += "packed ";
    }
    if member.is_unnamed {
        text += "unnamed ";
    }
    text += &type_shape(&member.ty);
    text + match member.width {
        Some(0) => " : 0",
        Some(_) if member.excess_width().is_some() => " : N + N",
        Some(_) => " : N",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_the_words_of_a_shape() {
        assert_eq!(slug("struct { *; __int128 }"), "struct-pointer-int128");
        assert_eq!(slug("packed struct { int : N }"), "packed-struct-int-n");
    }
}
