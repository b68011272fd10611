//! Generates globals of LLVM's IR. The same seed and number always give the same global.

use num_bigint::BigUint;
use ptxsmith_gen::stream::Draw;

use super::address::{AddressForm, AddressInteger, IntegerForm, LlvmAddress, LlvmPointer};
use super::names::OddName;
use super::{Float, LlvmGlobal, LlvmLinkage, LlvmType, TypelessValue, is_of_bits};

/// The nesting limit.
const DEEPEST: u32 = 3;
const LINKAGES: &[(LlvmLinkage, u64)] = &[
    (LlvmLinkage::External, 85),
    (LlvmLinkage::Internal, 4),
    (LlvmLinkage::Private, 2),
    (LlvmLinkage::Weak, 2),
    (LlvmLinkage::WeakOdr, 2),
    (LlvmLinkage::Linkonce, 1),
    (LlvmLinkage::LinkonceOdr, 2),
    (LlvmLinkage::Common, 2),
];
const SPACES: &[(u32, u64)] = &[(1, 75), (4, 15), (0, 10)];
const POINTERS: &[(LlvmPointer, u64)] = &[
    (LlvmPointer::Null, 30),
    (LlvmPointer::Global, 70),
    (LlvmPointer::Generic, 50),
    (LlvmPointer::Plain, 15),
    (LlvmPointer::Constant, 15),
    (LlvmPointer::GenericConstant, 15),
    (LlvmPointer::Function, 25),
    (LlvmPointer::Alias, 1),
    (LlvmPointer::Outside, 10),
    (LlvmPointer::Weak, 5),
    (LlvmPointer::Shared, 2),
    (LlvmPointer::Named, 10),
];
const FORMS: &[(AddressForm, u64)] = &[
    (AddressForm::Bytes, 40),
    (AddressForm::Inbounds, 15),
    (AddressForm::Elements, 15),
    (AddressForm::Nested, 10),
    (AddressForm::Sum, 10),
    (AddressForm::CastOutside, 10),
];
const INTEGERS: &[(IntegerForm, u64)] = &[
    (IntegerForm::Plain, 50),
    (IntegerForm::Truncated, 12),
    (IntegerForm::Sum, 18),
    (IntegerForm::Within, 15),
    (IntegerForm::Apart, 5),
];
/// The weights of floating-point types. Releases that end at some of them are slow to test.
const FLOATS: &[(Float, u64)] = &[
    (Float::Half, 20),
    (Float::Bfloat, 2),
    (Float::Single, 40),
    (Float::Double, 36),
    (Float::Quad, 1),
    (Float::Extended, 1),
];

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
    Holed,
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
    (LlvmProduction::Holed, 4),
];

/// Returns the global of a seed with this number.
pub fn global(seed: u64, number: u64) -> LlvmGlobal {
    let mut draw = Draw::new(seed, number);
    let mut ty = ty(&mut draw, 0);
    let mut space = draw.weighted(SPACES);
    let align = draw.chance(15).then(|| 1 << draw.below(9));
    let linkage = draw.weighted(LINKAGES);
    if linkage == LlvmLinkage::Common {
        // The value of a common variable is zero, and it is no constant.
        ty = LlvmType::Whole(TypelessValue::Zero, Box::new(ty));
        space = space.min(1);
    }
    LlvmGlobal { number, space, linkage, align, name: *draw.pick(&OddName::ALL), ty }
}

fn ty(draw: &mut Draw, depth: u32) -> LlvmType {
    match draw.weighted(TYPES) {
        LlvmProduction::Float => float(draw),
        LlvmProduction::Pointer => LlvmType::Pointer(address(draw)),
        LlvmProduction::Address => address_integer(draw),
        LlvmProduction::Vector => vector(draw),
        LlvmProduction::Array if depth < DEEPEST => {
            let length = draw.weighted(&[(1, 24), (2, 24), (3, 24), (4, 24), (0, 4)]);
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
            LlvmType::Whole(whole, Box::new(ty(draw, depth + 1)))
        }
        LlvmProduction::Holed if depth < DEEPEST => holed(draw, depth),
        _ => integer(draw),
    }
}

/// The widths that are neither bytes nor words, beside others.
const WIDTHS: [u32; 14] = [2, 3, 4, 7, 9, 17, 24, 33, 40, 48, 56, 63, 65, 127];

fn width(draw: &mut Draw) -> u32 {
    match draw.below(12) {
        0 => 1,
        1 => *draw.pick(&WIDTHS),
        2 => 2 + draw.below(62) as u32,
        3 => 65 + draw.below(192) as u32,
        4 => 128,
        _ => 8 << draw.below(4),
    }
}

fn integer(draw: &mut Draw) -> LlvmType {
    let width = width(draw);
    integer_of(draw, width)
}

fn integer_of(draw: &mut Draw, width: u32) -> LlvmType {
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
    if float == Float::Extended {
        // The leading bit is explicit; without it, few bits are numbers.
        bits |= 1 << 63;
    }
    // A signalling number of single precision cannot be written.
    if float == Float::Single && f32::from_bits(bits as u32).is_nan() {
        bits |= 1 << 22;
    }
    LlvmType::Float(float, bits)
}

fn address(draw: &mut Draw) -> LlvmAddress {
    let object = draw.weighted(POINTERS);
    let offset = match object {
        LlvmPointer::Function | LlvmPointer::Alias => 0,
        _ => draw.weighted(&[
            (0, 50),
            (4, 10),
            (7, 10),
            (32, 8),
            (1, 2),
            (-4, 8),
            (4096, 5),
            (1 << 33, 3),
            (-(1 << 31), 2),
        ]),
    };
    let form = match draw.weighted(FORMS) {
        // Inbounds beyond the object would be no value.
        AddressForm::Inbounds if !(0..=8).contains(&offset) || object == LlvmPointer::Null => {
            AddressForm::Bytes
        }
        form => form,
    };
    LlvmAddress { object, offset, form }
}

fn address_integer(draw: &mut Draw) -> LlvmType {
    let mut address = address(draw);
    if address.object == LlvmPointer::Null {
        address.object = LlvmPointer::Global;
    }
    let form = draw.weighted(INTEGERS);
    if form == IntegerForm::Apart {
        // A difference to the function.
        address.object = LlvmPointer::Global;
    }
    let width = match form {
        IntegerForm::Plain => draw.weighted(&[(64, 75), (8, 3), (16, 4), (32, 13), (128, 5)]),
        IntegerForm::Truncated => draw.weighted(&[(8, 25), (16, 25), (32, 50)]),
        IntegerForm::Sum => draw.weighted(&[(64, 90), (32, 5), (128, 5)]),
        _ => 64,
    };
    LlvmType::Address(address, AddressInteger { form, width })
}

fn vector(draw: &mut Draw) -> LlvmType {
    let length = 1 + draw.below(8) as u32;
    let element = match draw.below(60) {
        0 => integer_of(draw, 1),
        1..4 => {
            let width = width(draw);
            integer_of(draw, width)
        }
        4..30 => float(draw),
        30..40 => LlvmType::Pointer(address(draw)),
        _ => {
            let width = 8 << draw.below(4);
            integer_of(draw, width)
        }
    };
    LlvmType::Vector(Box::new(element), length)
}

/// Draws an array or a vector with a word as one element.
fn holed(draw: &mut Draw, depth: u32) -> LlvmType {
    let inner = if draw.chance(50) {
        let length = 2 + draw.below(3) as u32;
        LlvmType::Array(Box::new(ty(draw, depth + 1)), length)
    } else {
        vector(draw)
    };
    let (LlvmType::Array(_, length) | LlvmType::Vector(_, length)) = inner else { return inner };
    let hole = *draw.pick(&TypelessValue::ALL);
    let index = draw.below(u64::from(length)) as u32;
    // Bits without a value beside bits that have one would need a mask.
    let is_packed = matches!(&inner, LlvmType::Vector(element, _) if is_of_bits(element));
    if is_packed { inner } else { LlvmType::Holed(Box::new(inner), index, hole) }
}
