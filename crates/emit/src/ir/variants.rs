//! Derives smaller globals of IR by removing or simplifying one part.

use super::{Global, Linkage, Pointer, Type};

/// Returns every global that is one step smaller or simpler.
pub fn variants(global: &Global) -> Vec<Global> {
    let mut all = Vec::new();
    if global.linkage != Linkage::External {
        all.push(Global { linkage: Linkage::External, ..global.clone() });
    }
    if global.space != 1 {
        all.push(Global { space: 1, ..global.clone() });
    }
    if global.align.is_some() {
        all.push(Global { align: None, ..global.clone() });
    }
    all.extend(of_type(&global.ty).into_iter().map(|ty| Global { ty, ..global.clone() }));
    all
}

fn of_type(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Integer(width, value) => {
            let plain = Type::Integer(8, 5u8.into());
            let small = Type::Integer(*width, 5u8.into());
            let is_small = *width < 3 || *value == 5u8.into();
            [(*ty != plain).then_some(plain), (!is_small).then_some(small)].into_iter().flatten().collect()
        }
        Type::Float(..) => vec![Type::Integer(8, 5u8.into())],
        Type::Pointer(pointer, offset) => of_pointer(*pointer, *offset, Type::Pointer),
        Type::Address(pointer, offset) => {
            let mut all = of_pointer(*pointer, *offset, Type::Address);
            all.push(Type::Pointer(*pointer, *offset));
            all
        }
        Type::Vector(element, length) => {
            let mut all = vec![(**element).clone()];
            all.extend((1..*length).map(|length| Type::Vector(element.clone(), length)));
            let is_bit = matches!(**element, Type::Integer(1, _));
            if !is_bit && **element != Type::Integer(8, 5u8.into()) {
                all.push(Type::Vector(Box::new(Type::Integer(8, 5u8.into())), *length));
            }
            all
        }
        Type::Array(element, length) => {
            let mut all = vec![(**element).clone()];
            if *length > 1 {
                all.push(Type::Array(element.clone(), length - 1));
            }
            all.extend(of_type(element).into_iter().map(|element| Type::Array(Box::new(element), *length)));
            all
        }
        Type::Struct { is_packed, members } => of_struct(*is_packed, members),
        Type::Whole(whole, inner) => {
            let mut all = vec![(**inner).clone()];
            all.extend(of_type(inner).into_iter().map(|inner| Type::Whole(*whole, Box::new(inner))));
            all
        }
    }
}

fn of_pointer(pointer: Pointer, offset: i64, make: fn(Pointer, i64) -> Type) -> Vec<Type> {
    let mut all = vec![Type::Integer(8, 5u8.into())];
    if offset != 0 {
        all.push(make(pointer, 0));
        all.push(make(pointer, 4 * offset.signum()));
    }
    if pointer != Pointer::Global && pointer != Pointer::Null {
        all.push(make(Pointer::Global, offset));
    }
    all.retain(|other| *other != make(pointer, offset));
    all
}

fn of_struct(is_packed: bool, members: &[Type]) -> Vec<Type> {
    let mut all = members.to_vec();
    let mut push = |is_packed, members| all.push(Type::Struct { is_packed, members });
    for from in 0..members.len() {
        for to in from + 1..=members.len() {
            let mut fewer = members.to_vec();
            fewer.drain(from..to);
            push(is_packed, fewer);
        }
    }
    if is_packed {
        push(false, members.to_vec());
    }
    for (place, member) in members.iter().enumerate() {
        for smaller in of_type(member) {
            let mut with = members.to_vec();
            with[place] = smaller;
            push(is_packed, with);
        }
    }
    all
}
