//! Decodes the opcodes of generated code with their modifiers.
//!
//! Every supported modifier is either part of the operation or has no effect here; an opcode with any other
//! modifier is [`SassOperation::Unknown`].

use ptxsmith_model::Space;

use super::exchange::{AtomicOperation, LaneExchange, atomic, exchange};
use super::modifiers::{AccessedMemory, OpcodeModifiers};

/// The operation of an instruction, as far as it is executed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SassOperation {
    Exit,
    Branch,
    BranchByRegister,
    Call,
    Return,
    /// A hint, or an instruction that orders accesses.
    Nothing,
    /// An instruction about the barriers at which lanes wait.
    Converge,
    /// Copies a word; with `pair` also to the next register.
    Move {
        pair: bool,
    },
    /// Copies two words.
    MovePair,
    /// Adds words; `extended` adds carries.
    Add {
        extended: bool,
    },
    /// Adds signed words with saturation.
    AddSaturated,
    /// Adds the halves of words.
    AddHalves,
    /// Adds the bytes of words.
    AddBytes,
    /// Adds 64-bit values; `extended` adds carries.
    AddPairs {
        extended: bool,
    },
    MultiplyAdd {
        extended: bool,
    },
    /// Multiplies to 64 bits and adds two words.
    MultiplyAddWide(Product),
    /// The upper word of [`MultiplyAddWide`](SassOperation::MultiplyAddWide).
    MultiplyAddHigh(Product),
    /// Shifts and adds.
    ShiftAdd {
        part: ShiftedPart,
        extended: bool,
    },
    FunnelShift(Funnel),
    ExtendSign {
        signed: bool,
        wraps: bool,
    },
    ShiftLeft {
        wraps: bool,
    },
    ShiftRight {
        signed: bool,
        wraps: bool,
    },
    /// Combines three words bit by bit with a lookup table; its predicate result is combined with another
    /// predicate.
    Logic {
        all: bool,
    },
    /// Combines three predicates with two lookup tables.
    PredicateLogic,
    /// Selects four of eight bytes: by selectors, or by a table of selectors that the mode has for each
    /// number below four.
    PermuteBytes(Option<[u16; 4]>),
    MaskBits {
        wraps: bool,
    },
    ReverseBits,
    CountOnes,
    /// Finds the position of the highest bit that differs from the sign.
    FindHighest {
        signed: bool,
        shift: bool,
    },
    AbsoluteValue,
    /// Adds the absolute difference of two words to a third.
    AbsoluteDifference {
        signed: bool,
    },
    /// Minimum or maximum of words.
    Extreme(Extreme),
    DotProduct(DotProduct),
    /// Clamps a word to the range of a narrower type.
    Saturate {
        bits: u32,
        signed: bool,
        from_signed: bool,
    },
    /// Converts an integer to a float, rounded upwards. This and the next two stand in quotients.
    ToFloatUpwards {
        signed: bool,
        pair: bool,
    },
    /// The reciprocal of a float, which hardware approximates.
    Reciprocal,
    /// Converts a float to an unsigned integer, rounded towards zero.
    ToInteger {
        pair: bool,
    },
    PredicatesToRegister,
    RegisterToPredicates,
    Compare(IntegerComparison),
    Select,
    /// Like `Select`, of single-precision floats.
    SelectSingle,
    SelectPair,
    /// How the assembler loads a constant: two half-precision floats, added to a product that is zero.
    ConstantHalves,
    LoadConstant(Width),
    Load(AccessedMemory, Width),
    Store(AccessedMemory, Width),
    /// Changes memory, and returns what was there.
    Atomic(AccessedMemory, AtomicOperation),
    /// Compares and swaps two words in `.shared`; returns whether they were swapped.
    CompareAndStore,
    /// Whether a generic address lies in `.shared`.
    IsShared,
    /// Combines values of the lanes that execute it.
    Exchange(LaneExchange),
    /// The absolute differences of four bytes, each in its place, or added to a word.
    ByteDifferences {
        adds: bool,
    },
    /// An unknown operation.
    Unknown,
}

/// Extension of the factors of a product, and whether a carry is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Product {
    pub signed: bool,
    pub extended: bool,
}

/// The part of the shifted value that [`SassOperation::ShiftAdd`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShiftedPart {
    Low,
    High,
    /// The high part of a sign-extended word.
    HighOfSigned,
}

/// A shift of two words that returns one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Funnel {
    pub left: bool,
    /// Whether up to 63 bits are shifted, instead of up to 31.
    pub wide: bool,
    pub signed: bool,
    /// Whether only the low bits of the count are used.
    pub wraps: bool,
    /// Whether the upper word is returned.
    pub upper: bool,
}

/// `ISETP`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntegerComparison {
    pub order: ComparisonOrder,
    pub signed: bool,
    pub size: ComparedSize,
    pub with: Option<Combination>,
}

/// The type of values that a comparison compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedSize {
    Word,
    /// The upper words of longer values; a predicate holds the result for the lower words.
    UpperWord,
    Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOrder {
    Never,
    Always,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How the result of a comparison is combined with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    And,
    Or,
    Xor,
}

/// `VIMNMX.U32`, `VIADDMNMX`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extreme {
    pub granularity: Granularity,
    pub signed: bool,
    /// Whether a negative result becomes zero.
    pub positive: bool,
    /// Whether the first two operands are added.
    pub adds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Granularity {
    Word,
    Halves,
    Bytes,
    Pair,
}

/// `IDP.4A.S8.U8`, `IDP.2A.LO.S16.U8`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DotProduct {
    pub signed: [bool; 2],
    /// For products of a half and a byte: whether the upper bytes are used.
    pub halves: Option<bool>,
}

/// Number of bytes that an access moves, and whether a value smaller than a word is sign-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width {
    pub bytes: usize,
    pub signed: bool,
}

/// Decodes an opcode with its modifiers: `IMAD.WIDE.U32`.
pub(super) fn decode(text: &str) -> SassOperation {
    let words: Vec<&str> = text.split('.').collect();
    let (name, modifiers) = (words[0], &words[1..]);
    control(name)
        .or_else(|| atomic(name, modifiers).map(|(access, atomic)| SassOperation::Atomic(access, atomic)))
        .or_else(|| exchange(name, modifiers).map(SassOperation::Exchange))
        .or_else(|| memory(name, modifiers))
        .or_else(|| integer(name, modifiers))
        .unwrap_or(SassOperation::Unknown)
}

fn control(name: &str) -> Option<SassOperation> {
    Some(match name {
        "EXIT" => SassOperation::Exit,
        "BRA" | "JMP" => SassOperation::Branch,
        "BRX" => SassOperation::BranchByRegister,
        "CALL" => SassOperation::Call,
        "RET" => SassOperation::Return,
        "NOP" | "CGAERRBAR" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "YIELD" | "DEPBAR" | "MEMBAR" | "ERRBAR"
        | "CCTL" | "ENDCOLLECTIVE" => SassOperation::Nothing,
        "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC" | "BMOV" | "BAR" => SassOperation::Converge,
        _ => return None,
    })
}

/// Opcodes for uniform registers that behave like the opcode without the `U`.
const UNIFORM: &[&str] = &[
    "UBMSK", "UBREV", "UFLO", "UI2F", "UIABS", "UIADD", "UIADD3", "UIMAD", "UIMNMX", "UISETP", "ULEA",
    "ULOP3", "UMOV", "UPLOP3", "UPOPC", "UPRMT", "USEL", "USGXT", "USHF", "USHL", "USHR", "UVIADD",
    "UVIMNMX", "UVIMNMX3", "UP2UR",
];

/// Decodes integer and predicate operations.
fn integer(name: &str, modifiers: &[&str]) -> Option<SassOperation> {
    let name = if UNIFORM.contains(&name) { &name[1..] } else { name };
    let mut words = OpcodeModifiers(modifiers.to_vec());
    let operation = match name {
        "MOV" if words.take("64") => SassOperation::MovePair,
        "MOV" | "R2UR" | "UR2UR" | "S2R" | "S2UR" => SassOperation::Move { pair: false },
        "CS2R" | "CS2UR" => {
            words.ignore(&["64"]);
            SassOperation::Move { pair: !words.take("32") }
        }
        "IADD3" | "IADD" | "IADD2" if words.take("64") => {
            SassOperation::AddPairs { extended: words.take("X") }
        }
        "IADD3" | "IADD" | "IADD2" => SassOperation::Add { extended: words.take("X") },
        "VIADD" if words.take("16x2") => SassOperation::AddHalves,
        "VIADD" if words.take("U8x4") => SassOperation::AddBytes,
        "VIADD" if words.take("ISAT") => {
            // Words are signed by default.
            words.ignore(&["S32"]);
            SassOperation::AddSaturated
        }
        "VIADD" => {
            words.ignore(&["S32", "U32"]);
            SassOperation::Add { extended: false }
        }
        "IMAD" => multiply_add(&mut words),
        "LEA" => {
            let part = match (words.take("HI"), words.take("SX32")) {
                (false, false) => ShiftedPart::Low,
                (true, false) => ShiftedPart::High,
                (true, true) => ShiftedPart::HighOfSigned,
                (false, true) => return None,
            };
            SassOperation::ShiftAdd { part, extended: words.take("X") }
        }
        "SHF" => return funnel(modifiers),
        "SGXT" => SassOperation::ExtendSign { signed: !words.take("U32"), wraps: words.take("W") },
        "SHL" => {
            words.ignore(&["U32", "S32"]);
            SassOperation::ShiftLeft { wraps: words.take("W") }
        }
        "SHR" => {
            words.ignore(&["S32"]);
            SassOperation::ShiftRight { signed: !words.take("U32"), wraps: words.take("W") }
        }
        "LOP3" => {
            words.ignore(&["LUT", "POR"]);
            SassOperation::Logic { all: words.take("PAND") }
        }
        "PLOP3" => {
            words.ignore(&["LUT"]);
            SassOperation::PredicateLogic
        }
        "PRMT" => return permutation(modifiers),
        "BMSK" => SassOperation::MaskBits { wraps: words.take("W") },
        "BREV" => SassOperation::ReverseBits,
        "POPC" => SassOperation::CountOnes,
        "FLO" => SassOperation::FindHighest { signed: !words.take("U32"), shift: words.take("SH") },
        "IABS" => SassOperation::AbsoluteValue,
        "VABSDIFF" => SassOperation::AbsoluteDifference { signed: !words.take("U32") },
        "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" => extreme(name, &mut words),
        "VABSDIFF4" if words.take("U8") => SassOperation::ByteDifferences { adds: words.take("ACC") },
        "IDP" => return dot_product(modifiers),
        "QSPC" if modifiers == ["E", "S"] => return Some(SassOperation::IsShared),
        "ATOMS" if modifiers == ["CAST", "SPIN", "64"] => return Some(SassOperation::CompareAndStore),
        "I2I" => return saturate(modifiers),
        "I2F" if words.take("RP") => {
            let pair = words.take("U64");
            SassOperation::ToFloatUpwards { signed: !words.take("U32") && !pair, pair }
        }
        "MUFU" if words.take("RCP") => SassOperation::Reciprocal,
        "F2I" if words.take("TRUNC") => {
            words.ignore(&["FTZ", "NTZ"]);
            match (words.take("U32"), words.take("U64")) {
                (false, false) => return None,
                (_, pair) => SassOperation::ToInteger { pair },
            }
        }
        "P2R" | "P2UR" => SassOperation::PredicatesToRegister,
        "R2P" => SassOperation::RegisterToPredicates,
        "ISETP" => return comparison(modifiers),
        "SEL" if words.take("64") => SassOperation::SelectPair,
        "SEL" => SassOperation::Select,
        "FSEL" => SassOperation::SelectSingle,
        "HFMA2" => {
            words.ignore(&["MMA"]);
            SassOperation::ConstantHalves
        }
        _ => return None,
    };
    words.0.is_empty().then_some(operation)
}

/// `IMAD.MOV.U32`, `IMAD.WIDE.U32.X`, `IMAD.HI`
fn multiply_add(words: &mut OpcodeModifiers<'_>) -> SassOperation {
    let signed = !words.take("U32");
    let extended = words.take("X");
    words.ignore(&["S32"]);
    if words.take("WIDE") {
        return SassOperation::MultiplyAddWide(Product { signed, extended });
    }
    if words.take("HI") {
        return SassOperation::MultiplyAddHigh(Product { signed, extended });
    }
    words.ignore(&["IADD", "MMA", "MOV", "SHL"]);
    SassOperation::MultiplyAdd { extended }
}

fn extreme(name: &str, words: &mut OpcodeModifiers<'_>) -> SassOperation {
    let (mut granularity, mut signed) = (Granularity::Word, true);
    for (word, word_granularity, is_signed) in [
        ("U32", Granularity::Word, false),
        ("S32", Granularity::Word, true),
        ("U16x2", Granularity::Halves, false),
        ("S16x2", Granularity::Halves, true),
        ("U8x4", Granularity::Bytes, false),
        ("U64", Granularity::Pair, false),
        ("S64", Granularity::Pair, true),
    ] {
        if words.take(word) {
            (granularity, signed) = (word_granularity, is_signed);
        }
    }
    if words.take("64") {
        granularity = Granularity::Pair;
    }
    SassOperation::Extreme(Extreme {
        granularity,
        signed,
        positive: words.take("RELU"),
        adds: name == "VIADDMNMX",
    })
}

/// `SHF.L.U32`, `SHF.R.S32.HI`, `SHF.L.W.U32.HI`, `SHF.R.U64`
fn funnel(modifiers: &[&str]) -> Option<SassOperation> {
    let mut words = OpcodeModifiers(modifiers.to_vec());
    let left = words.take("L");
    if left == words.take("R") {
        return None;
    }
    let (wide, signed) = match (words.take("U32"), words.take("S32"), words.take("U64"), words.take("S64")) {
        (true, false, false, false) => (false, false),
        (false, true, false, false) => (false, true),
        (false, false, true, false) => (true, false),
        (false, false, false, true) => (true, true),
        _ => return None,
    };
    let funnel = Funnel { left, wide, signed, wraps: words.take("W"), upper: words.take("HI") };
    words.0.is_empty().then_some(SassOperation::FunnelShift(funnel))
}

/// `PRMT`, `PRMT.F4E`
fn permutation(modifiers: &[&str]) -> Option<SassOperation> {
    let mode = match modifiers {
        [] => None,
        ["F4E"] => Some([0x3210, 0x4321, 0x5432, 0x6543]),
        ["B4E"] => Some([0x5670, 0x6701, 0x7012, 0x0123]),
        ["RC8"] => Some([0x0000, 0x1111, 0x2222, 0x3333]),
        ["ECL"] => Some([0x3210, 0x3211, 0x3222, 0x3333]),
        ["ECR"] => Some([0x0000, 0x1110, 0x2210, 0x3210]),
        ["RC16"] => Some([0x1010, 0x3232, 0x1010, 0x3232]),
        _ => return None,
    };
    Some(SassOperation::PermuteBytes(mode))
}

/// `IDP.4A.S8.U8`, `IDP.2A.LO.S16.U8`
fn dot_product(modifiers: &[&str]) -> Option<SassOperation> {
    let (halves, a, b) = match *modifiers {
        ["4A", a, b] => (None, a, b),
        ["2A", "LO", a, b] => (Some(false), a, b),
        ["2A", "HI", a, b] => (Some(true), a, b),
        _ => return None,
    };
    let signed = [is_signed(a)?, is_signed(b)?];
    let sizes_fit = a.ends_with("16") == halves.is_some() && b.ends_with('8');
    sizes_fit.then_some(SassOperation::DotProduct(DotProduct { signed, halves }))
}

/// Whether a factor of a dot product is signed.
fn is_signed(modifier: &str) -> Option<bool> {
    match modifier {
        "S8" | "S16" => Some(true),
        "U8" | "U16" => Some(false),
        _ => None,
    }
}

/// `I2I.U8.S32.SAT`
fn saturate(modifiers: &[&str]) -> Option<SassOperation> {
    let [to, from, "SAT"] = *modifiers else { return None };
    let (bits, signed) = match to {
        "U8" => (8, false),
        "S8" => (8, true),
        "U16" => (16, false),
        "S16" => (16, true),
        _ => return None,
    };
    let from_signed = match from {
        "S32" => true,
        "U32" => false,
        _ => return None,
    };
    Some(SassOperation::Saturate { bits, signed, from_signed })
}

/// `ISETP.LT.U32.AND.EX`
fn comparison(modifiers: &[&str]) -> Option<SassOperation> {
    let mut words = OpcodeModifiers(modifiers.to_vec());
    let order = match *modifiers.first()? {
        "F" => ComparisonOrder::Never,
        "T" => ComparisonOrder::Always,
        "EQ" => ComparisonOrder::Equal,
        "NE" => ComparisonOrder::NotEqual,
        "LT" => ComparisonOrder::Less,
        "LE" => ComparisonOrder::LessOrEqual,
        "GT" => ComparisonOrder::Greater,
        "GE" => ComparisonOrder::GreaterOrEqual,
        _ => return None,
    };
    words.0.remove(0);
    let (mut size, mut signed) = (ComparedSize::Word, true);
    for (word, of, is_signed) in [
        ("U32", ComparedSize::Word, false),
        ("U64", ComparedSize::Pair, false),
        ("S64", ComparedSize::Pair, true),
        ("64", ComparedSize::Pair, true),
    ] {
        if words.take(word) {
            (size, signed) = (of, is_signed);
        }
    }
    if words.take("EX") {
        if size == ComparedSize::Pair {
            return None;
        }
        size = ComparedSize::UpperWord;
    }
    let mut with = None;
    for (word, combination) in [("AND", Combination::And), ("OR", Combination::Or), ("XOR", Combination::Xor)]
    {
        if words.take(word) {
            with = Some(combination);
        }
    }
    words.0.is_empty().then_some(SassOperation::Compare(IntegerComparison { order, signed, size, with }))
}

fn memory(name: &str, modifiers: &[&str]) -> Option<SassOperation> {
    let width = width(modifiers);
    let access = match name {
        "LDC" | "ULDC" | "LDCU" => return Some(SassOperation::LoadConstant(width)),
        "LD" | "ST" => AccessedMemory::Generic,
        "LDG" | "STG" => AccessedMemory::Global,
        "LDS" | "STS" => AccessedMemory::Small(Space::Shared),
        "LDL" | "STL" => AccessedMemory::Small(Space::Local),
        _ => return None,
    };
    Some(if name.starts_with('L') {
        SassOperation::Load(access, width)
    } else {
        SassOperation::Store(access, width)
    })
}

fn width(modifiers: &[&str]) -> Width {
    let known = modifiers.iter().find_map(|modifier| {
        Some(match *modifier {
            "U8" => (1, false),
            "S8" => (1, true),
            "U16" => (2, false),
            "S16" => (2, true),
            "64" => (8, false),
            "128" => (16, false),
            _ => return None,
        })
    });
    let (bytes, signed) = known.unwrap_or((4, false));
    Width { bytes, signed }
}

#[cfg(test)]
mod tests;
