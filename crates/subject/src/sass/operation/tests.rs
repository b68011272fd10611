use super::*;

#[test]
fn modifiers_say_what_is_done_and_one_that_is_not_known_makes_the_opcode_unknown() {
    let funnel = |left, wide, signed, wraps, upper| {
        SassOperation::FunnelShift(Funnel { left, wide, signed, wraps, upper })
    };
    let less = |signed, size, with| {
        SassOperation::Compare(IntegerComparison { order: ComparisonOrder::Less, signed, size, with })
    };
    let product = |signed, extended| Product { signed, extended };
    for (text, expected) in [
        ("IMAD.WIDE.U32", SassOperation::MultiplyAddWide(product(false, false))),
        ("IMAD.WIDE.U32.X", SassOperation::MultiplyAddWide(product(false, true))),
        ("IMAD.MOV.U32", SassOperation::MultiplyAdd { extended: false }),
        ("UIMAD.HI", SassOperation::MultiplyAddHigh(product(true, false))),
        ("LEA.HI.X.SX32", SassOperation::ShiftAdd { part: ShiftedPart::HighOfSigned, extended: true }),
        ("SHF.R.S32.HI", funnel(false, false, true, false, true)),
        ("SHF.L.U64.HI", funnel(true, true, false, false, true)),
        ("SHF.L.W.U32.HI", funnel(true, false, false, true, true)),
        ("SHF.L", SassOperation::Unknown),
        ("VIADD", SassOperation::Add { extended: false }),
        ("VIADD.S32.ISAT", SassOperation::AddSaturated),
        ("IADD3.X", SassOperation::Add { extended: true }),
        ("IADD3.SAT", SassOperation::Unknown),
        ("UIADD3.64", SassOperation::AddPairs { extended: false }),
        ("IADD.64.X", SassOperation::AddPairs { extended: true }),
        ("UI2F.U32.RP", SassOperation::ToFloatUpwards { signed: false, pair: false }),
        ("I2F.U64.RP", SassOperation::ToFloatUpwards { signed: false, pair: true }),
        ("I2F.U32", SassOperation::Unknown),
        ("MUFU.RCP", SassOperation::Reciprocal),
        ("MUFU.RSQ", SassOperation::Unknown),
        ("F2I.FTZ.U32.TRUNC.NTZ", SassOperation::ToInteger { pair: false }),
        ("F2I.TRUNC.NTZ", SassOperation::Unknown),
        ("IMAD.SHL.U32", SassOperation::MultiplyAdd { extended: false }),
        ("UIMAD.16x2", SassOperation::Unknown),
        ("ISETP.LT.U32.AND", less(false, ComparedSize::Word, Some(Combination::And))),
        ("ISETP.LT", less(true, ComparedSize::Word, None)),
        ("ISETP.LT.AND.EX", less(true, ComparedSize::UpperWord, Some(Combination::And))),
        ("ISETP.LT.U64.OR", less(false, ComparedSize::Pair, Some(Combination::Or))),
        ("ISETP.LTU.AND", SassOperation::Unknown),
        (
            "IDP.2A.LO.S16.U8",
            SassOperation::DotProduct(DotProduct { signed: [true, false], halves: Some(false) }),
        ),
        ("IDP.4A.S16.U8", SassOperation::Unknown),
        ("I2I.U8.S32.SAT", SassOperation::Saturate { bits: 8, signed: false, from_signed: true }),
        ("I2I.U8.S32", SassOperation::Unknown),
        ("LDG.E.S8.CONSTANT", SassOperation::Load(AccessedMemory::Global, Width { bytes: 1, signed: true })),
        (
            "STL.128",
            SassOperation::Store(AccessedMemory::Small(Space::Local), Width { bytes: 16, signed: false }),
        ),
        ("ULDC.64", SassOperation::LoadConstant(Width { bytes: 8, signed: false })),
        ("PRMT", SassOperation::PermuteBytes(None)),
        ("PRMT.RC8", SassOperation::PermuteBytes(Some([0x0000, 0x1111, 0x2222, 0x3333]))),
        ("PRMT.F8E", SassOperation::Unknown),
        ("LDGSTS", SassOperation::Unknown),
        ("UFSEL", SassOperation::Unknown),
    ] {
        assert_eq!(decode(text), expected, "{text}");
    }
}
