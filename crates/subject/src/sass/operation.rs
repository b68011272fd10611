//! Decodes the opcodes of generated code with their modifiers.
//!
//! Every supported modifier is either part of the operation or has no effect here; an opcode with any other modifier is
//! [`Operation::Unknown`].

use ptxsmith_model::Space;

use super::exchange::{Atomic, Exchange, atomic, exchange};
use super::modifiers::{Access, Modifiers};

/// The operation of an instruction, as far as it is executed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
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
    /// Adds 64-bit values.
    AddPairs,
    MultiplyAdd {
        extended: bool,
    },
    /// Multiplies to 64 bits and adds two words.
    MultiplyAddWide(Product),
    /// The upper word of [`MultiplyAddWide`](Operation::MultiplyAddWide).
    MultiplyAddHigh(Product),
    /// Shifts and adds.
    ShiftAdd {
        part: Part,
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
    /// Combines three words bit by bit with a lookup table; its predicate result is combined with another predicate.
    Logic {
        all: bool,
    },
    /// Combines three predicates with two lookup tables.
    PredicateLogic,
    /// Selects four of eight bytes: by selectors, or by a table of selectors that the mode has for each number below
    /// four.
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
    PredicatesToRegister,
    RegisterToPredicates,
    Compare(Comparison),
    Select,
    SelectPair,
    /// How the assembler loads a constant: two half-precision floats, added to a product that is zero.
    ConstantHalves,
    LoadConstant(Width),
    Load(Access, Width),
    Store(Access, Width),
    /// Changes memory, and returns what was there.
    Atomic(Access, Atomic),
    /// Compares and swaps two words in `.shared`; returns whether they were swapped.
    CompareAndStore,
    /// Whether a generic address lies in `.shared`.
    IsShared,
    /// Combines values of the lanes that execute it.
    Exchange(Exchange),
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

/// The part of the shifted value that [`Operation::ShiftAdd`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
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
pub(super) struct Comparison {
    pub order: Order,
    pub signed: bool,
    pub size: Size,
    pub with: Option<Combination>,
}

/// The type of values that a comparison compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Word,
    /// The upper words of longer values; a predicate holds the result for the lower words.
    UpperWord,
    Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
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
    pub lanes: Lanes,
    pub signed: bool,
    /// Whether a negative result becomes zero.
    pub positive: bool,
    /// Whether the first two operands are added.
    pub adds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
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
pub(super) fn decode(text: &str) -> Operation {
    let words: Vec<&str> = text.split('.').collect();
    let (name, modifiers) = (words[0], &words[1..]);
    control(name)
        .or_else(|| atomic(name, modifiers).map(|(access, atomic)| Operation::Atomic(access, atomic)))
        .or_else(|| exchange(name, modifiers).map(Operation::Exchange))
        .or_else(|| memory(name, modifiers))
        .or_else(|| integer(name, modifiers))
        .unwrap_or(Operation::Unknown)
}

fn control(name: &str) -> Option<Operation> {
    Some(match name {
        "EXIT" => Operation::Exit,
        "BRA" | "JMP" => Operation::Branch,
        "BRX" => Operation::BranchByRegister,
        "CALL" => Operation::Call,
        "RET" => Operation::Return,
        "NOP" | "CGAERRBAR" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "YIELD" | "DEPBAR" | "MEMBAR" | "ERRBAR"
        | "CCTL" | "ENDCOLLECTIVE" => Operation::Nothing,
        "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC" | "BMOV" | "BAR" => Operation::Converge,
        _ => return None,
    })
}

/// Opcodes for uniform registers that behave like the opcode without the `U`.
const UNIFORM: &[&str] = &[
    "UBMSK", "UBREV", "UFLO", "UIABS", "UIADD", "UIADD3", "UIMAD", "UIMNMX", "UISETP", "ULEA", "ULOP3",
    "UMOV", "UPLOP3", "UPOPC", "UPRMT", "USEL", "USGXT", "USHF", "USHL", "USHR", "UVIADD", "UVIMNMX",
    "UVIMNMX3", "UP2UR",
];

/// Decodes integer and predicate operations.
fn integer(name: &str, modifiers: &[&str]) -> Option<Operation> {
    let name = if UNIFORM.contains(&name) { &name[1..] } else { name };
    let mut words = Modifiers(modifiers.to_vec());
    let operation = match name {
        "MOV" if words.take("64") => Operation::MovePair,
        "MOV" | "R2UR" | "UR2UR" | "S2R" | "S2UR" => Operation::Move { pair: false },
        "CS2R" | "CS2UR" => {
            words.ignore(&["64"]);
            Operation::Move { pair: !words.take("32") }
        }
        "IADD3" | "IADD" | "IADD2" if words.take("64") => Operation::AddPairs,
        "IADD3" | "IADD" | "IADD2" => Operation::Add { extended: words.take("X") },
        "VIADD" if words.take("16x2") => Operation::AddHalves,
        "VIADD" if words.take("U8x4") => Operation::AddBytes,
        "VIADD" if words.take("ISAT") => {
            // Words are signed by default.
            words.ignore(&["S32"]);
            Operation::AddSaturated
        }
        "VIADD" => {
            words.ignore(&["S32", "U32"]);
            Operation::Add { extended: false }
        }
        "IMAD" => multiply_add(&mut words),
        "LEA" => {
            let part = match (words.take("HI"), words.take("SX32")) {
                (false, false) => Part::Low,
                (true, false) => Part::High,
                (true, true) => Part::HighOfSigned,
                (false, true) => return None,
            };
            Operation::ShiftAdd { part, extended: words.take("X") }
        }
        "SHF" => return funnel(modifiers),
        "SGXT" => Operation::ExtendSign { signed: !words.take("U32"), wraps: words.take("W") },
        "SHL" => {
            words.ignore(&["U32", "S32"]);
            Operation::ShiftLeft { wraps: words.take("W") }
        }
        "SHR" => {
            words.ignore(&["S32"]);
            Operation::ShiftRight { signed: !words.take("U32"), wraps: words.take("W") }
        }
        "LOP3" => {
            words.ignore(&["LUT", "POR"]);
            Operation::Logic { all: words.take("PAND") }
        }
        "PLOP3" => {
            words.ignore(&["LUT"]);
            Operation::PredicateLogic
        }
        "PRMT" => return permutation(modifiers),
        "BMSK" => Operation::MaskBits { wraps: words.take("W") },
        "BREV" => Operation::ReverseBits,
        "POPC" => Operation::CountOnes,
        "FLO" => Operation::FindHighest { signed: !words.take("U32"), shift: words.take("SH") },
        "IABS" => Operation::AbsoluteValue,
        "VABSDIFF" => Operation::AbsoluteDifference { signed: !words.take("U32") },
        "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" => extreme(name, &mut words),
        "VABSDIFF4" if words.take("U8") => Operation::ByteDifferences { adds: words.take("ACC") },
        "IDP" => return dot_product(modifiers),
        "QSPC" if modifiers == ["E", "S"] => return Some(Operation::IsShared),
        "ATOMS" if modifiers == ["CAST", "SPIN", "64"] => return Some(Operation::CompareAndStore),
        "I2I" => return saturate(modifiers),
        "P2R" | "P2UR" => Operation::PredicatesToRegister,
        "R2P" => Operation::RegisterToPredicates,
        "ISETP" => return comparison(modifiers),
        "SEL" if words.take("64") => Operation::SelectPair,
        "SEL" | "FSEL" => Operation::Select,
        "HFMA2" => {
            words.ignore(&["MMA"]);
            Operation::ConstantHalves
        }
        _ => return None,
    };
    words.0.is_empty().then_some(operation)
}

/// `IMAD.MOV.U32`, `IMAD.WIDE.U32.X`, `IMAD.HI`
fn multiply_add(words: &mut Modifiers<'_>) -> Operation {
    let signed = !words.take("U32");
    let extended = words.take("X");
    words.ignore(&["S32"]);
    if words.take("WIDE") {
        return Operation::MultiplyAddWide(Product { signed, extended });
    }
    if words.take("HI") {
        return Operation::MultiplyAddHigh(Product { signed, extended });
    }
    words.ignore(&["IADD", "MMA", "MOV", "SHL"]);
    Operation::MultiplyAdd { extended }
}

fn extreme(name: &str, words: &mut Modifiers<'_>) -> Operation {
    let (mut lanes, mut signed) = (Lanes::Word, true);
    for (word, of, is_signed) in [
        ("U32", Lanes::Word, false),
        ("S32", Lanes::Word, true),
        ("U16x2", Lanes::Halves, false),
        ("S16x2", Lanes::Halves, true),
        ("U8x4", Lanes::Bytes, false),
        ("U64", Lanes::Pair, false),
        ("S64", Lanes::Pair, true),
    ] {
        if words.take(word) {
            (lanes, signed) = (of, is_signed);
        }
    }
    if words.take("64") {
        lanes = Lanes::Pair;
    }
    Operation::Extreme(Extreme { lanes, signed, positive: words.take("RELU"), adds: name == "VIADDMNMX" })
}

/// `SHF.L.U32`, `SHF.R.S32.HI`, `SHF.L.W.U32.HI`, `SHF.R.U64`
fn funnel(modifiers: &[&str]) -> Option<Operation> {
    let mut words = Modifiers(modifiers.to_vec());
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
    words.0.is_empty().then_some(Operation::FunnelShift(funnel))
}

/// `PRMT`, `PRMT.F4E`
fn permutation(modifiers: &[&str]) -> Option<Operation> {
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
    Some(Operation::PermuteBytes(mode))
}

/// `IDP.4A.S8.U8`, `IDP.2A.LO.S16.U8`
fn dot_product(modifiers: &[&str]) -> Option<Operation> {
    let signed = |word: &str| match word {
        "S8" | "S16" => Some(true),
        "U8" | "U16" => Some(false),
        _ => None,
    };
    let (halves, a, b) = match *modifiers {
        ["4A", a, b] => (None, a, b),
        ["2A", "LO", a, b] => (Some(false), a, b),
        ["2A", "HI", a, b] => (Some(true), a, b),
        _ => return None,
    };
    let signed = [signed(a)?, signed(b)?];
    let sizes = a.ends_with("16") == halves.is_some() && b.ends_with('8');
    sizes.then_some(Operation::DotProduct(DotProduct { signed, halves }))
}

/// `I2I.U8.S32.SAT`
fn saturate(modifiers: &[&str]) -> Option<Operation> {
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
    Some(Operation::Saturate { bits, signed, from_signed })
}

/// `ISETP.LT.U32.AND.EX`
fn comparison(modifiers: &[&str]) -> Option<Operation> {
    let mut words = Modifiers(modifiers.to_vec());
    let order = match *modifiers.first()? {
        "F" => Order::Never,
        "T" => Order::Always,
        "EQ" => Order::Equal,
        "NE" => Order::NotEqual,
        "LT" => Order::Less,
        "LE" => Order::LessOrEqual,
        "GT" => Order::Greater,
        "GE" => Order::GreaterOrEqual,
        _ => return None,
    };
    words.0.remove(0);
    let (mut size, mut signed) = (Size::Word, true);
    for (word, of, is_signed) in [
        ("U32", Size::Word, false),
        ("U64", Size::Pair, false),
        ("S64", Size::Pair, true),
        ("64", Size::Pair, true),
    ] {
        if words.take(word) {
            (size, signed) = (of, is_signed);
        }
    }
    if words.take("EX") {
        if size == Size::Pair {
            return None;
        }
        size = Size::UpperWord;
    }
    let mut with = None;
    for (word, combination) in [("AND", Combination::And), ("OR", Combination::Or), ("XOR", Combination::Xor)]
    {
        if words.take(word) {
            with = Some(combination);
        }
    }
    words.0.is_empty().then_some(Operation::Compare(Comparison { order, signed, size, with }))
}

fn memory(name: &str, modifiers: &[&str]) -> Option<Operation> {
    let width = width(modifiers);
    let access = match name {
        "LDC" | "ULDC" | "LDCU" => return Some(Operation::LoadConstant(width)),
        "LD" | "ST" => Access::Generic,
        "LDG" | "STG" => Access::Global,
        "LDS" | "STS" => Access::Small(Space::Shared),
        "LDL" | "STL" => Access::Small(Space::Local),
        _ => return None,
    };
    Some(if name.starts_with('L') { Operation::Load(access, width) } else { Operation::Store(access, width) })
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
mod tests {
    use super::*;

    #[test]
    fn modifiers_say_what_is_done_and_one_that_is_not_known_makes_the_opcode_unknown() {
        let funnel = |left, wide, signed, wraps, upper| {
            Operation::FunnelShift(Funnel { left, wide, signed, wraps, upper })
        };
        let less =
            |signed, size, with| Operation::Compare(Comparison { order: Order::Less, signed, size, with });
        let product = |signed, extended| Product { signed, extended };
        for (text, expected) in [
            ("IMAD.WIDE.U32", Operation::MultiplyAddWide(product(false, false))),
            ("IMAD.WIDE.U32.X", Operation::MultiplyAddWide(product(false, true))),
            ("IMAD.MOV.U32", Operation::MultiplyAdd { extended: false }),
            ("UIMAD.HI", Operation::MultiplyAddHigh(product(true, false))),
            ("LEA.HI.X.SX32", Operation::ShiftAdd { part: Part::HighOfSigned, extended: true }),
            ("SHF.R.S32.HI", funnel(false, false, true, false, true)),
            ("SHF.L.U64.HI", funnel(true, true, false, false, true)),
            ("SHF.L.W.U32.HI", funnel(true, false, false, true, true)),
            ("SHF.L", Operation::Unknown),
            ("VIADD", Operation::Add { extended: false }),
            ("VIADD.S32.ISAT", Operation::AddSaturated),
            ("IADD3.X", Operation::Add { extended: true }),
            ("IADD3.SAT", Operation::Unknown),
            ("UIADD3.64", Operation::AddPairs),
            ("IMAD.SHL.U32", Operation::MultiplyAdd { extended: false }),
            ("UIMAD.16x2", Operation::Unknown),
            ("ISETP.LT.U32.AND", less(false, Size::Word, Some(Combination::And))),
            ("ISETP.LT", less(true, Size::Word, None)),
            ("ISETP.LT.AND.EX", less(true, Size::UpperWord, Some(Combination::And))),
            ("ISETP.LT.U64.OR", less(false, Size::Pair, Some(Combination::Or))),
            ("ISETP.LTU.AND", Operation::Unknown),
            (
                "IDP.2A.LO.S16.U8",
                Operation::DotProduct(DotProduct { signed: [true, false], halves: Some(false) }),
            ),
            ("IDP.4A.S16.U8", Operation::Unknown),
            ("I2I.U8.S32.SAT", Operation::Saturate { bits: 8, signed: false, from_signed: true }),
            ("I2I.U8.S32", Operation::Unknown),
            ("LDG.E.S8.CONSTANT", Operation::Load(Access::Global, Width { bytes: 1, signed: true })),
            ("STL.128", Operation::Store(Access::Small(Space::Local), Width { bytes: 16, signed: false })),
            ("ULDC.64", Operation::LoadConstant(Width { bytes: 8, signed: false })),
            ("PRMT", Operation::PermuteBytes(None)),
            ("PRMT.RC8", Operation::PermuteBytes(Some([0x0000, 0x1111, 0x2222, 0x3333]))),
            ("PRMT.F8E", Operation::Unknown),
            ("LDGSTS", Operation::Unknown),
            ("UFSEL", Operation::Unknown),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
