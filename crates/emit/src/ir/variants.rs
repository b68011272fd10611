//! Derives smaller globals of IR by removing or simplifying one part.

use super::address::{AddressForm, AddressInteger, IntegerForm, LlvmAddress, LlvmPointer};
use super::names::OddName;
use super::{LlvmGlobal, LlvmLinkage, LlvmType, TypelessValue, is_of_bits};

/// Returns every global that is one step smaller or simpler.
pub fn variants(global: &LlvmGlobal) -> Vec<LlvmGlobal> {
    let mut variants = Vec::new();
    if global.linkage != LlvmLinkage::External {
        variants.push(LlvmGlobal { linkage: LlvmLinkage::External, ..global.clone() });
    }
    if global.space != 1 {
        variants.push(LlvmGlobal { space: 1, ..global.clone() });
    }
    if global.name != OddName::Plain {
        variants.push(LlvmGlobal { name: OddName::Plain, ..global.clone() });
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
        LlvmType::Pointer(address) => address_variants(*address, LlvmType::Pointer),
        LlvmType::Address(address, made) => {
            let mut variants = address_variants(*address, |address| LlvmType::Address(address, *made));
            variants.push(LlvmType::Pointer(*address));
            if *made != AddressInteger::WHOLE {
                variants.push(LlvmType::Address(*address, AddressInteger::WHOLE));
            }
            if made.form == IntegerForm::Truncated {
                let plain = AddressInteger { form: IntegerForm::Plain, ..*made };
                variants.push(LlvmType::Address(*address, plain));
            }
            variants
        }
        LlvmType::Holed(inner, index, hole) => holed_variants(inner, *index, *hole),
        LlvmType::Vector(element, length) => {
            let mut variants = vec![(**element).clone()];
            variants.extend((1..*length).map(|length| LlvmType::Vector(element.clone(), length)));
            if !is_of_bits(element) && **element != LlvmType::Integer(8, 5u8.into()) {
                variants.push(LlvmType::Vector(Box::new(LlvmType::Integer(8, 5u8.into())), *length));
            }
            variants
        }
        LlvmType::Array(element, length) => {
            let mut variants = vec![(**element).clone()];
            if *length > 0 {
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

fn address_variants(address: LlvmAddress, make: impl Fn(LlvmAddress) -> LlvmType) -> Vec<LlvmType> {
    let mut addresses = Vec::new();
    if address.offset != 0 {
        addresses.push(LlvmAddress::of(address.object));
        addresses.push(LlvmAddress { offset: 4 * address.offset.signum(), ..address });
        addresses.push(LlvmAddress { form: AddressForm::Bytes, ..address });
    }
    if !matches!(address.object, LlvmPointer::Global | LlvmPointer::Null) {
        addresses.push(LlvmAddress { object: LlvmPointer::Global, ..address });
    }
    if !matches!(address.object, LlvmPointer::Global | LlvmPointer::Null | LlvmPointer::Generic) {
        addresses.push(LlvmAddress { object: LlvmPointer::Generic, ..address });
    }
    addresses.retain(|other| *other != address);
    let plain = LlvmType::Integer(8, 5u8.into());
    [plain].into_iter().chain(addresses.into_iter().map(make)).collect()
}

fn holed_variants(inner: &LlvmType, index: u32, hole: TypelessValue) -> Vec<LlvmType> {
    let mut variants = vec![inner.clone()];
    for smaller in type_variants(inner) {
        if let LlvmType::Array(_, length @ 1..) | LlvmType::Vector(_, length @ 1..) = smaller {
            variants.push(LlvmType::Holed(Box::new(smaller), index.min(length - 1), hole));
        }
    }
    if hole != TypelessValue::Undef {
        variants.push(LlvmType::Holed(Box::new(inner.clone()), index, TypelessValue::Undef));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_of_one_element_with_a_hole_has_no_smaller_array() {
        let one = LlvmType::Array(Box::new(LlvmType::Integer(8, 5u8.into())), 1);
        let variants = holed_variants(&one, 0, TypelessValue::Undef);
        assert!(variants.iter().all(|variant| !matches!(variant, LlvmType::Holed(..))), "{variants:?}");
    }
}
