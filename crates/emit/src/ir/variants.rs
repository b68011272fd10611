//! Derives smaller globals of IR by removing or simplifying one part.

use super::{LlvmGlobal, LlvmLinkage, LlvmPointer, LlvmType};

/// Returns every global that is one step smaller or simpler.
pub fn variants(global: &LlvmGlobal) -> Vec<LlvmGlobal> {
    let mut variants = Vec::new();
    if global.linkage != LlvmLinkage::External {
        variants.push(LlvmGlobal { linkage: LlvmLinkage::External, ..global.clone() });
    }
    if global.space != 1 {
        variants.push(LlvmGlobal { space: 1, ..global.clone() });
    }
    if global.align.is_some() {
        variants.push(LlvmGlobal { align: None, ..global.clone() });
    }
    variants.extend(type_variants(&global.ty).into_iter().map(|ty| LlvmGlobal { ty, ..global.clone() }));
    variants
}

fn type_variants(ty: &LlvmType) -> Vec<LlvmType> {
    match ty {
        LlvmType::Integer(width, value) => {
            let plain = LlvmType::Integer(8, 5u8.into());
            let small = LlvmType::Integer(*width, 5u8.into());
            let is_small = *width < 3 || *value == 5u8.into();
            [(*ty != plain).then_some(plain), (!is_small).then_some(small)].into_iter().flatten().collect()
        }
        LlvmType::Float(..) => vec![LlvmType::Integer(8, 5u8.into())],
        LlvmType::Pointer(pointer, offset) => pointer_variants(*pointer, *offset, LlvmType::Pointer),
        LlvmType::Address(pointer, offset) => {
            let mut variants = pointer_variants(*pointer, *offset, LlvmType::Address);
            variants.push(LlvmType::Pointer(*pointer, *offset));
            variants
        }
        LlvmType::Vector(element, length) => {
            let mut variants = vec![(**element).clone()];
            variants.extend((1..*length).map(|length| LlvmType::Vector(element.clone(), length)));
            let is_bit = matches!(**element, LlvmType::Integer(1, _));
            if !is_bit && **element != LlvmType::Integer(8, 5u8.into()) {
                variants.push(LlvmType::Vector(Box::new(LlvmType::Integer(8, 5u8.into())), *length));
            }
            variants
        }
        LlvmType::Array(element, length) => {
            let mut variants = vec![(**element).clone()];
            if *length > 1 {
                variants.push(LlvmType::Array(element.clone(), length - 1));
            }
            variants.extend(
                type_variants(element).into_iter().map(|element| LlvmType::Array(Box::new(element), *length)),
            );
            variants
        }
        LlvmType::Struct { is_packed, members } => struct_variants(*is_packed, members),
        LlvmType::Whole(whole, inner) => {
            let mut variants = vec![(**inner).clone()];
            variants.extend(
                type_variants(inner).into_iter().map(|inner| LlvmType::Whole(*whole, Box::new(inner))),
            );
            variants
        }
    }
}

fn pointer_variants(
    pointer: LlvmPointer,
    offset: i64,
    make: fn(LlvmPointer, i64) -> LlvmType,
) -> Vec<LlvmType> {
    let mut variants = vec![LlvmType::Integer(8, 5u8.into())];
    if offset != 0 {
        variants.push(make(pointer, 0));
        variants.push(make(pointer, 4 * offset.signum()));
    }
    if pointer != LlvmPointer::Global && pointer != LlvmPointer::Null {
        variants.push(make(LlvmPointer::Global, offset));
    }
    variants.retain(|other| *other != make(pointer, offset));
    variants
}

fn struct_variants(is_packed: bool, members: &[LlvmType]) -> Vec<LlvmType> {
    let mut variants = members.to_vec();
    for from in 0..members.len() {
        for to in from + 1..=members.len() {
            let mut fewer = members.to_vec();
            fewer.drain(from..to);
            variants.push(LlvmType::Struct { is_packed, members: fewer });
        }
    }
    if is_packed {
        variants.push(LlvmType::Struct { is_packed: false, members: members.to_vec() });
    }
    for (index, member) in members.iter().enumerate() {
        for smaller in type_variants(member) {
            let mut members = members.to_vec();
            members[index] = smaller;
            variants.push(LlvmType::Struct { is_packed, members });
        }
    }
    variants
}
