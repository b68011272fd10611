//! Generates globals of LLVM's IR. The same seed and number always give the same global.

use num_bigint::BigUint;
use ptxsmith_gen::stream::Draw;

use super::{Float, Global, Linkage, Pointer, Type, Whole};

/// The nesting limit.
const DEEPEST: u32 = 3;
const LINKAGES: &[(Linkage, u64)] =
    &[(Linkage::External, 88), (Linkage::Internal, 4), (Linkage::Weak, 4), (Linkage::Linkonce, 4)];
const POINTERS: &[(Pointer, u64)] = &[
    (Pointer::Null, 2),
    (Pointer::Global, 8),
    (Pointer::Generic, 6),
    (Pointer::Constant, 2),
    (Pointer::Function, 3),
];
const FLOATS: &[(Float, u64)] =
    &[(Float::Half, 3), (Float::Bfloat, 3), (Float::Single, 6), (Float::Double, 5), (Float::Quad, 2)];

#[derive(Clone, Copy)]
enum Production {
    Integer,
    Float,
    Pointer,
    Address,
    Vector,
    Array,
    Struct,
    Whole,
}

const TYPES: &[(Production, u64)] = &[
    (Production::Integer, 30),
    (Production::Float, 12),
    (Production::Pointer, 14),
    (Production::Address, 5),
    (Production::Vector, 9),
    (Production::Array, 12),
    (Production::Struct, 24),
    (Production::Whole, 4),
];

/// Returns the global of a seed with this number.
pub fn global(seed: u64, number: u64) -> Global {
    let mut draw = Draw::new(seed, number);
    let ty = ty(&mut draw, 0);
    let space = if draw.chance(15) { 4 } else { 1 };
    let align = draw.chance(15).then(|| 1 << draw.below(7));
    Global { number, space, linkage: draw.weighted(LINKAGES), align, ty }
}

fn ty(draw: &mut Draw, depth: u32) -> Type {
    match draw.weighted(TYPES) {
        Production::Float => float(draw),
        Production::Pointer => {
            let (pointer, offset) = pointer(draw);
            Type::Pointer(pointer, offset)
        }
        Production::Address => {
            let (pointer, offset) = pointer(draw);
            Type::Address(if pointer == Pointer::Null { Pointer::Global } else { pointer }, offset)
        }
        Production::Vector => vector(draw, depth),
        Production::Array if depth < DEEPEST => {
            let length = 1 + draw.below(4) as u32;
            Type::Array(Box::new(ty(draw, depth + 1)), length)
        }
        Production::Struct if depth < DEEPEST => {
            let count = draw.weighted(&[(0, 3), (1, 15), (2, 35), (3, 25), (4, 15), (6, 7)]);
            Type::Struct {
                is_packed: draw.chance(25),
                members: (0..count).map(|_| ty(draw, depth + 1)).collect(),
            }
        }
        Production::Whole if depth > 0 => {
            let whole = *draw.of(&Whole::ALL);
            match ty(draw, depth + 1) {
                scalar @ (Type::Float(..) | Type::Pointer(..) | Type::Address(..) | Type::Whole(..)) => {
                    scalar
                }
                other => Type::Whole(whole, Box::new(other)),
            }
        }
        _ => integer(draw),
    }
}

fn integer(draw: &mut Draw) -> Type {
    let width = match draw.below(10) {
        0 => 1,
        1 => 2 + draw.below(62) as u32,
        2 => 65 + draw.below(192) as u32,
        3 => 128,
        _ => 8 << draw.below(4),
    };
    let words: Vec<u32> = (0..8).map(|_| draw.bits() as u32).collect();
    let bits = match draw.below(6) {
        0 => BigUint::from(5u8),
        1 => (BigUint::from(1u8) << 256u32) - 1u8,
        2 => BigUint::from(1u8) << (width - 1),
        _ => BigUint::new(words),
    };
    Type::Integer(width, bits % (BigUint::from(1u8) << width))
}

fn float(draw: &mut Draw) -> Type {
    let float = draw.weighted(FLOATS);
    let bits = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
    let width = 8 * float.size() as u32;
    let mut bits = bits >> (128 - width);
    // A signalling number of single precision cannot be written.
    if float == Float::Single && f32::from_bits(bits as u32).is_nan() {
        bits |= 1 << 22;
    }
    Type::Float(float, bits)
}

fn pointer(draw: &mut Draw) -> (Pointer, i64) {
    let pointer = draw.weighted(POINTERS);
    let offset = match pointer {
        Pointer::Null | Pointer::Function => 0,
        _ => draw.weighted(&[
            (0, 50),
            (4, 10),
            (7, 10),
            (32, 10),
            (-4, 8),
            (4096, 5),
            (1 << 33, 3),
            (-(1 << 31), 2),
        ]),
    };
    (pointer, offset)
}

fn vector(draw: &mut Draw, depth: u32) -> Type {
    let length = 1 + draw.below(8) as u32;
    // Releases of LLVM differ about the alignment of vectors of bits.
    if depth == 0 && draw.chance(25) {
        return Type::Vector(Box::new(Type::Integer(1, draw.below(2).into())), length);
    }
    let element = match float(draw) {
        Type::Float(Float::Quad, _) => Type::Float(Float::Single, 0x3f80_0000),
        float if draw.chance(40) => float,
        _ => {
            let width = 8 << draw.below(4);
            Type::Integer(width, draw.bits().into())
        }
    };
    match element {
        Type::Integer(width, bits) => {
            Type::Vector(Box::new(Type::Integer(width, bits % (BigUint::from(1u8) << width))), length)
        }
        other => Type::Vector(Box::new(other), length),
    }
}
