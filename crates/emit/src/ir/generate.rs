//! Generates globals of LLVM's IR. The same seed and number always give the same global.

use num_bigint::BigUint;
use ptxsmith_gen::stream::Draw;

use super::{Float, LlvmGlobal, LlvmLinkage, LlvmPointer, LlvmType, TypelessValue};

/// The nesting limit.
const DEEPEST: u32 = 3;
const LINKAGES: &[(LlvmLinkage, u64)] = &[
    (LlvmLinkage::External, 88),
    (LlvmLinkage::Internal, 4),
    (LlvmLinkage::Weak, 4),
    (LlvmLinkage::Linkonce, 4),
];
const POINTERS: &[(LlvmPointer, u64)] = &[
    (LlvmPointer::Null, 2),
    (LlvmPointer::Global, 8),
    (LlvmPointer::Generic, 6),
    (LlvmPointer::Constant, 2),
    (LlvmPointer::Function, 3),
];
const FLOATS: &[(Float, u64)] =
    &[(Float::Half, 3), (Float::Bfloat, 3), (Float::Single, 6), (Float::Double, 5), (Float::Quad, 2)];

#[derive(Clone, Copy)]
enum LlvmProduction {
    Integer,
    Float,
    Pointer,
    Address,
    Vector,
    Array,
    Struct,
    Whole,
}

const TYPES: &[(LlvmProduction, u64)] = &[
    (LlvmProduction::Integer, 30),
    (LlvmProduction::Float, 12),
    (LlvmProduction::Pointer, 14),
    (LlvmProduction::Address, 5),
    (LlvmProduction::Vector, 9),
    (LlvmProduction::Array, 12),
    (LlvmProduction::Struct, 24),
    (LlvmProduction::Whole, 4),
];

/// Returns the global of a seed with this number.
pub fn global(seed: u64, number: u64) -> LlvmGlobal {
    let mut draw = Draw::new(seed, number);
    let ty = ty(&mut draw, 0);
    let space = if draw.chance(15) { 4 } else { 1 };
    let align = draw.chance(15).then(|| 1 << draw.below(7));
    LlvmGlobal { number, space, linkage: draw.weighted(LINKAGES), align, ty }
}

fn ty(draw: &mut Draw, depth: u32) -> LlvmType {
    match draw.weighted(TYPES) {
        LlvmProduction::Float => float(draw),
        LlvmProduction::Pointer => {
            let (pointer, offset) = pointer(draw);
            LlvmType::Pointer(pointer, offset)
        }
        LlvmProduction::Address => {
            let (pointer, offset) = pointer(draw);
            LlvmType::Address(
                if pointer == LlvmPointer::Null { LlvmPointer::Global } else { pointer },
                offset,
            )
        }
        LlvmProduction::Vector => vector(draw, depth),
        LlvmProduction::Array if depth < DEEPEST => {
            let length = 1 + draw.below(4) as u32;
            LlvmType::Array(Box::new(ty(draw, depth + 1)), length)
        }
        LlvmProduction::Struct if depth < DEEPEST => {
            let count = draw.weighted(&[(0, 3), (1, 15), (2, 35), (3, 25), (4, 15), (6, 7)]);
            LlvmType::Struct {
                is_packed: draw.chance(25),
                members: (0..count).map(|_| ty(draw, depth + 1)).collect(),
            }
        }
        LlvmProduction::Whole if depth > 0 => {
            let whole = *draw.pick(&TypelessValue::ALL);
            match ty(draw, depth + 1) {
                scalar @ (LlvmType::Float(..)
                | LlvmType::Pointer(..)
                | LlvmType::Address(..)
                | LlvmType::Whole(..)) => scalar,
                other => LlvmType::Whole(whole, Box::new(other)),
            }
        }
        _ => integer(draw),
    }
}

fn integer(draw: &mut Draw) -> LlvmType {
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
    LlvmType::Integer(width, bits % (BigUint::from(1u8) << width))
}

fn float(draw: &mut Draw) -> LlvmType {
    let float = draw.weighted(FLOATS);
    let bits = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
    let width = 8 * float.size() as u32;
    let mut bits = bits >> (128 - width);
    // A signalling number of single precision cannot be written.
    if float == Float::Single && f32::from_bits(bits as u32).is_nan() {
        bits |= 1 << 22;
    }
    LlvmType::Float(float, bits)
}

fn pointer(draw: &mut Draw) -> (LlvmPointer, i64) {
    let pointer = draw.weighted(POINTERS);
    let offset = match pointer {
        LlvmPointer::Null | LlvmPointer::Function => 0,
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

fn vector(draw: &mut Draw, depth: u32) -> LlvmType {
    let length = 1 + draw.below(8) as u32;
    // Releases of LLVM differ about the alignment of vectors of bits.
    if depth == 0 && draw.chance(25) {
        return LlvmType::Vector(Box::new(LlvmType::Integer(1, draw.below(2).into())), length);
    }
    let element = match float(draw) {
        LlvmType::Float(Float::Quad, _) => LlvmType::Float(Float::Single, 0x3f80_0000),
        float if draw.chance(40) => float,
        _ => {
            let width = 8 << draw.below(4);
            LlvmType::Integer(width, draw.bits().into())
        }
    };
    match element {
        LlvmType::Integer(width, bits) => {
            LlvmType::Vector(Box::new(LlvmType::Integer(width, bits % (BigUint::from(1u8) << width))), length)
        }
        other => LlvmType::Vector(Box::new(other), length),
    }
}
