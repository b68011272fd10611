//! What the opcodes of generated code ask for, with their modifiers, decoded once.

use ptxsmith_model::Space;

/// What an instruction does, as far as it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Exit,
    Branch,
    BranchByRegister,
    Call,
    Return,
    /// A barrier or a hint: nothing of one thread's values depends on it.
    Nothing,
    /// Copies a word, and with `pair` to the register behind it too.
    Move {
        pair: bool,
    },
    /// Copies two words.
    MovePair,
    MultiplyAdd,
    /// Multiplies to 64 bits.
    MultiplyAddWide {
        signed: bool,
    },
    Add,
    /// Adds values of 64 bits.
    AddPairs,
    /// Shifts and adds.
    ShiftAdd(Part),
    FunnelShift(Funnel),
    ExtendSign {
        signed: bool,
    },
    ShiftLeft,
    ShiftRight {
        signed: bool,
    },
    /// Combines three words bit by bit, by a table.
    Logic,
    PermuteBytes,
    Compare(Comparison),
    Select,
    /// How the assembler writes a constant: two halves as floats, added to a product that is zero.
    ConstantHalves,
    LoadConstant(Width),
    Load(Access, Width),
    Store(Access, Width),
    /// Writes something that is not modelled to the first operand.
    Opaque,
    /// The same, to two predicates.
    OpaquePredicates,
    /// Nothing that is known.
    Unknown,
}

/// Which part of the shifted value [`Operation::ShiftAdd`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Low,
    High,
    /// The high part of a word whose sign is extended.
    HighOfSigned,
}

/// A shift of two words, of which one is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Funnel {
    pub left: bool,
    /// Whether both words take part, so that up to 63 bits are shifted.
    pub wide: bool,
    pub signed: bool,
    /// Whether the upper word is kept.
    pub upper: bool,
}

/// `ISETP`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub order: Order,
    pub signed: bool,
    pub with: Option<Combination>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
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

/// What an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Generic,
    Global,
    /// A state space of 32-bit addresses.
    Small(Space),
}

/// Bytes that an access moves, and whether a smaller one than a word extends the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width {
    pub bytes: usize,
    pub signed: bool,
}

/// Decodes an opcode with its modifiers: `IMAD.WIDE.U32`. Modifiers that no operation here depends on are ignored.
pub(super) fn decode(text: &str) -> Operation {
    let words: Vec<&str> = text.split('.').collect();
    let (name, modifiers) = (words[0], &words[1..]);
    control(name)
        .or_else(|| integer(name, modifiers))
        .or_else(|| memory(name, modifiers))
        .unwrap_or(Operation::Unknown)
}

fn control(name: &str) -> Option<Operation> {
    Some(match name {
        "EXIT" => Operation::Exit,
        "BRA" | "JMP" => Operation::Branch,
        "BRX" => Operation::BranchByRegister,
        "CALL" => Operation::Call,
        "RET" => Operation::Return,
        "NOP" | "CGAERRBAR" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC"
        | "YIELD" | "DEPBAR" | "MEMBAR" | "ERRBAR" | "CCTL" | "BMOV" | "BAR" => Operation::Nothing,
        _ => return None,
    })
}

/// The modifiers with which sums, products and shifts are known; with others, such as those that saturate, they do something else.
fn are_known(name: &str, modifiers: &[&str]) -> bool {
    let known: &[&str] = match name.strip_prefix('U').unwrap_or(name) {
        "IADD3" | "IADD" | "IADD2" => &["64", "X"],
        "VIADD" => &["S32", "U32"],
        "IMAD" => &["HI", "IADD", "MMA", "MOV", "S32", "SHL", "U32", "WIDE", "X"],
        "LEA" => &["HI", "SX32", "X"],
        "SGXT" | "SHL" | "SHR" => &["S32", "U32", "W"],
        _ => return true,
    };
    modifiers.iter().all(|modifier| known.contains(modifier))
}

/// Integers and predicates; the opcodes of uniform registers (`U...`) do the same as the others.
fn integer(name: &str, modifiers: &[&str]) -> Option<Operation> {
    if !are_known(name, modifiers) {
        return None;
    }
    let has = |modifier| modifiers.contains(&modifier);
    let signed = !has("U32");
    if has("64") && name != "CS2R" {
        return match name {
            "MOV" | "UMOV" => Some(Operation::MovePair),
            "IADD" | "UIADD" | "IADD3" | "UIADD3" if modifiers.len() == 1 => Some(Operation::AddPairs),
            _ => None,
        };
    }
    Some(match name {
        "IMAD" | "UIMAD" if has("WIDE") && has("X") => return None,
        "HFMA2" if modifiers.iter().any(|modifier| modifier.starts_with("BF16")) => return None,
        "ISETP" | "UISETP" if has("S64") || has("U64") => Operation::OpaquePredicates,
        "MOV" | "UMOV" | "R2UR" | "UR2UR" | "S2R" | "S2UR" => Operation::Move { pair: false },
        "CS2R" => Operation::Move { pair: !has("32") },
        "IMAD" | "UIMAD" if modifiers.first() == Some(&"WIDE") => Operation::MultiplyAddWide { signed },
        "IMAD" | "UIMAD" if has("HI") => Operation::Opaque,
        "IMAD" | "UIMAD" => Operation::MultiplyAdd,
        "IADD3" | "UIADD3" | "VIADD" | "IADD" | "UIADD" | "UVIADD" | "IADD2" => Operation::Add,
        "LEA" | "ULEA" => Operation::ShiftAdd(match (has("HI"), has("SX32")) {
            (false, _) => Part::Low,
            (true, false) => Part::High,
            (true, true) => Part::HighOfSigned,
        }),
        "SHF" | "USHF" => funnel(modifiers)?,
        "SGXT" | "USGXT" => Operation::ExtendSign { signed },
        "SHL" | "USHL" => Operation::ShiftLeft,
        "SHR" | "USHR" => Operation::ShiftRight { signed },
        "LOP3" | "ULOP3" => Operation::Logic,
        "PRMT" | "UPRMT" if modifiers.is_empty() => Operation::PermuteBytes,
        "ISETP" | "UISETP" if has("EX") => Operation::OpaquePredicates,
        "ISETP" | "UISETP" => comparison(modifiers, signed)?,
        "PLOP3" | "UPLOP3" => Operation::OpaquePredicates,
        "SEL" | "USEL" | "FSEL" => Operation::Select,
        "HFMA2" => Operation::ConstantHalves,
        _ => return None,
    })
}

/// `SHF.L.U32`, `SHF.R.S32.HI`, `SHF.L.U64.HI`, `SHF.R.U64`
fn funnel(modifiers: &[&str]) -> Option<Operation> {
    let [direction, kind, rest @ ..] = modifiers else { return None };
    let upper = rest.contains(&"HI");
    let (left, wide, signed) = match (*direction, *kind) {
        ("L", "U32" | "S32") if !upper => (true, false, false),
        ("R", "U32") if upper => (false, false, false),
        ("R", "S32") if upper => (false, false, true),
        ("L", "U64" | "S64") => (true, true, false),
        ("R", "U64") => (false, true, false),
        ("R", "S64") => (false, true, true),
        _ => return Some(Operation::Opaque),
    };
    Some(Operation::FunnelShift(Funnel { left, wide, signed, upper }))
}

/// `ISETP.LT.U32.AND`
fn comparison(modifiers: &[&str], signed: bool) -> Option<Operation> {
    let order = match *modifiers.first()? {
        "EQ" => Order::Equal,
        "NE" => Order::NotEqual,
        "LT" => Order::Less,
        "LE" => Order::LessOrEqual,
        "GT" => Order::Greater,
        "GE" => Order::GreaterOrEqual,
        _ => return None,
    };
    let with = match *modifiers.last()? {
        "AND" => Some(Combination::And),
        "OR" => Some(Combination::Or),
        "XOR" => Some(Combination::Xor),
        _ => None,
    };
    Some(Operation::Compare(Comparison { order, signed, with }))
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
    fn modifiers_say_what_is_done() {
        let funnel = |left, wide, signed, upper| Operation::FunnelShift(Funnel { left, wide, signed, upper });
        let less = |signed, with| Operation::Compare(Comparison { order: Order::Less, signed, with });
        for (text, expected) in [
            ("IMAD.WIDE.U32", Operation::MultiplyAddWide { signed: false }),
            ("IMAD.MOV.U32", Operation::MultiplyAdd),
            ("UIMAD.HI", Operation::Opaque),
            ("LEA.HI.X.SX32", Operation::ShiftAdd(Part::HighOfSigned)),
            ("SHF.R.S32.HI", funnel(false, false, true, true)),
            ("SHF.L.U64.HI", funnel(true, true, false, true)),
            ("SHF.L.W.U32", Operation::Opaque),
            ("SHF.L", Operation::Unknown),
            ("VIADD", Operation::Add),
            ("VIADD.S32.ISAT", Operation::Unknown),
            ("IADD3.X", Operation::Add),
            ("IADD3.SAT", Operation::Unknown),
            ("UIADD3.64", Operation::AddPairs),
            ("IMAD.SHL.U32", Operation::MultiplyAdd),
            ("UIMAD.16x2", Operation::Unknown),
            ("ISETP.LT.U32.AND", less(false, Some(Combination::And))),
            ("ISETP.LT", less(true, None)),
            ("ISETP.LT.AND.EX", Operation::OpaquePredicates),
            ("ISETP.T.AND", Operation::Unknown),
            ("LDG.E.S8.CONSTANT", Operation::Load(Access::Global, Width { bytes: 1, signed: true })),
            ("STL.128", Operation::Store(Access::Small(Space::Local), Width { bytes: 16, signed: false })),
            ("ULDC.64", Operation::LoadConstant(Width { bytes: 8, signed: false })),
            ("PRMT", Operation::PermuteBytes),
            ("PRMT.F4E", Operation::Unknown),
            ("LDGSTS", Operation::Unknown),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
