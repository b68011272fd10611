use super::*;
use ptxsmith_model::Variable;

fn variables() -> Variables {
    let variable = |space: &str, bytes: Option<Vec<u8>>, size| Variable {
        space: Some(space.into()),
        size: Some(size),
        bytes,
        addresses: Some(Vec::new()),
        ..Variable::default()
    };
    let a = variable("global", Some(vec![1, 0, 0, 0, 2, 0, 0, 0]), 8);
    let c = variable("const", Some(vec![9, 0, 0, 0]), 4);
    let s = variable("shared", None, 16);
    [("a", a), ("c", c), ("s", s)].map(|(name, variable)| (name.into(), variable)).into()
}

/// The listing of a kernel of these instructions with one parameter, and the sizes of its sections.
fn listed(code: &str) -> (String, BTreeMap<String, u64>) {
    let mut text = "\t.section\t.text.k,\"ax\",@progbits\nk:\n".to_owned();
    let mut size = 0;
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.ends_with(':') {
            true => text.push_str(line),
            false => {
                text.push_str(&format!("/*{size:04x}*/ {line} ;"));
                size += 16;
            }
        }
        text.push('\n');
    }
    text.push_str("\t.section\t.nv.constant0.k,\"a\"\n\t.zero\t\t360\n");
    (text, [(".text.k".to_owned(), size)].into())
}

/// What a kernel of these instructions leaves in 32 bytes.
fn seen(code: &str) -> Result<Output, String> {
    let (text, sizes) = listed(code);
    execute(&CodeListing::read(&text, &sizes), &Launch { kernel: "k".into(), out: 32 })
}

fn execute(listing: &CodeListing, launch: &Launch) -> Result<Output, String> {
    layouts::observe(&mut AddressLayout::create_all(listing, &variables()), launch)
}

fn traced(listing: &CodeListing, tracing: &Tracing) -> Reached {
    SassMachine::new(listing, &variables(), tracing, FixedAddresses::default()).unwrap().run().0
}

fn places(of: &[(&str, u64)]) -> ptxsmith_model::Places {
    let mut places = ptxsmith_model::Places::default();
    of.iter().for_each(|&(name, at)| places.declare(name.into(), (at, 0)));
    places
}

const OUT: &str = "MOV R4, c[0x0][0x160]\nMOV R5, c[0x0][0x164]\n";

#[test]
fn numbers_are_seen_wherever_they_come_from() {
    let output = seen(&format!(
        "{OUT}
        IMAD.MOV.U32 R0, RZ, RZ, -0x5
        HFMA2.MMA R1, -RZ, RZ, 0, 4.589557647705078125e-06
        UMOV UR4, 32@lo(a)
        UMOV UR5, 32@hi(a)
        IMAD.U32 R2, RZ, RZ, UR4
        MOV R3, UR5
        LDG.E R6, [R2.64+0x4]
        LDC R7, c[`(c)]
        STG.E [R4.64], R0
        STG.E.64 desc[UR6][R4.64+0x8], R0
        STG.E [R4.64+0x4], R6
        STG.E.U8 [R4.64+0x10], R7
        EXIT"
    ))
    .unwrap();
    let expected = "fbffffff02000000fbffffff4d00000009";
    assert_eq!(hex::encode(output.bytes.unwrap()), format!("{expected:0<64}"));
    assert_eq!(output.seen, Some(vec![0xff; 32]));
    assert_eq!(output.addresses, []);
}

#[test]
fn halves_are_added_apart_and_floats_are_selected_as_floats() {
    let output = seen(&format!(
        "{OUT}
        MOV R0, 0x7fffffff
        MOV R1, 0xffff
        VIADDMNMX.S16x2 R2, R0, R1, R1, !PT
        FSEL R3, RZ, -1.5, !PT
        FSEL R6, 1, R0, PT
        FSEL R7, -R6, 1, PT
        MOV R8, 0x7fc00000
        FSEL R8, -R8, 1, PT
        STG.E.128 [R4.64], R0
        STG.E.64 [R4.64+0x10], R6
        STG.E [R4.64+0x18], R8
        EXIT"
    ))
    .unwrap();
    // 0x7fff + 0 and 0xffff + 0xffff, each at least 0 and -1.
    let expected = "ffffff7fffff0000ffffff7f0000c0bf0000803f000080bf";
    assert_eq!(hex::encode(output.bytes.unwrap()), format!("{expected:0<64}"));
    assert_eq!(output.seen.unwrap()[24..28], [0; 4], "the sign of NaN is not known");
}

#[test]
fn how_a_negated_sum_of_halves_is_added_is_not_known() {
    let code = |sum: &str| format!("{OUT}\nMOV R0, 0x10001\n{sum}\nSTG.E [R4.64], R1\nEXIT");
    assert!(seen(&code("VIADD.16x2 R1, R0, R0")).is_ok());
    assert!(seen(&code("VIADD.16x2 R1, R0, -R0")).is_err());
}

#[test]
fn addresses_are_seen_where_both_halves_are_there() {
    let output = seen(&format!(
        "{OUT}
        UMOV UR4, 32@lo(a)
        UIADD3 UR4, UP0, UR4, 0x4, URZ
        UMOV UR5, 32@hi(a)
        UIADD3.X UR5, URZ, UR5, URZ, UP0, !UPT
        IMAD.U32 R2, RZ, RZ, UR4
        IMAD.U32 R3, RZ, RZ, UR5
        STG.E.64 [R4.64], R2
        STG.E [R4.64+0x8], R2
        MOV R6, `((s + 0x8))
        STG.E [R4.64+0x10], R6
        EXIT"
    ))
    .unwrap();
    let told: Vec<_> = output
        .addresses
        .iter()
        .map(|a| (a.offset, a.width, a.symbol.as_str(), a.addend, a.generic))
        .collect();
    assert_eq!(told, [(0, 8, "a", 4, None), (16, 4, "s", 8, Some(false))]);
    // The lower half of `a` alone is no address, and no number.
    let seen = output.seen.unwrap();
    assert_eq!(seen[8..12], [0; 4]);
    assert_eq!(seen.iter().filter(|&&byte| byte == 0).count(), 4);
}

/// Each moves in its own way from layout to layout.
#[test]
fn functions_and_variables_are_told_apart_where_they_lie_side_by_side() {
    let output = seen(&format!(
        "{OUT}
        UMOV UR6, 32@lo(fun@fdesc(f))
        UMOV UR7, 32@hi(fun@fdesc(f))
        UMOV UR8, 32@lo((c + 0x4))
        MOV R2, UR6
        MOV R3, UR7
        STG.E.64 [R4.64], R2
        MOV R6, `((s + 0x4))
        MOV R7, `((c + -0x4))
        STG.E.64 [R4.64+0x8], R6
        IADD3 R8, R6, R7, RZ
        STG.E [R4.64+0x10], R8
        EXIT
        f:
        EXIT
        g:
        EXIT"
    ))
    .unwrap();
    let named: Vec<_> = output.addresses.iter().map(|a| (a.offset, a.symbol.as_str(), a.addend)).collect();
    assert_eq!(named, [(0, "f", 0), (8, "s", 4), (12, "c", -4)]);
    assert_eq!(output.seen.unwrap()[16..20], [0; 4], "a sum of two addresses is neither");
}

#[test]
fn what_is_not_understood_is_not_seen() {
    let why = |code: &str| seen(&format!("{OUT}{code}\nEXIT")).unwrap_err();
    assert_eq!(why("FROB R1, R2"), "FROB R1, R2 is not understood");
    assert_eq!(
        why("S2R R0, SR_TID.X\nSTG.E [R0.64], R1"),
        "STG.E at 0x30 stores to a place that is not known"
    );
    assert_eq!(why("@P0 BRA `(k)"), "BRA at 0x20 depends on a predicate that is not known");
    assert_eq!(
        why("STG.E [R4.64+0x20], RZ"),
        "STG.E [R4.64+0x20], RZ stores outside of its buffer and of variables"
    );
    assert_eq!(
        why("STS [`((s + 0x10))], RZ"),
        "STS [`((s + 0x10))], RZ stores outside of its buffer and of variables"
    );
    assert_eq!(why("BRA `(k)"), "more instructions than are executed");
    // A value that is not known hides its own bytes only.
    let output =
        seen(&format!("{OUT}S2R R0, SR_TID.X\nSTG.E [R4.64], R0\nSTG.E [R4.64+0x4], R4\nEXIT")).unwrap();
    assert_eq!(output.seen.unwrap()[..12], [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
}

#[test]
fn predicates_branches_and_calls_are_followed() {
    let output = seen(&format!(
        "{OUT}
        MOV R0, 0x7
        ISETP.GT.AND P0, PT, R0, 0x3, PT
        SEL R1, R0, 0x9, !P0
        @P0 BRA `(.L_1)
        STG.E [R4.64], R0
        .L_1:
        CALL.ABS.NOINC `(f)
        STG.E [R4.64+0x4], R1
        EXIT
        f:
        IADD3 R1, R1, 0x1, RZ
        RET.ABS.NODEC R20 0x0"
    ))
    .unwrap();
    assert_eq!(output.bytes.unwrap()[..8], [0, 0, 0, 0, 10, 0, 0, 0]);
}

#[test]
fn jumps_and_exits_depend_on_their_operands_too() {
    let left = |code: &str| {
        let set = "MOV R0, 0x7\nISETP.NE.AND P0, PT, RZ, RZ, PT\nISETP.EQ.AND P1, PT, RZ, RZ, PT";
        seen(&format!("{OUT}{set}\n{code}\nSTG.E [R4.64], R0\nEXIT\nk2:\nEXIT"))
            .map(|output| output.bytes.unwrap()[0])
    };
    let (ends, goes_on) = (0, 7);
    // P0 does not hold, P1 does.
    for (code, expected) in [
        ("EXIT", ends),
        ("@!P0 EXIT", ends),
        ("@P0 EXIT", goes_on),
        ("@!P0 EXIT P1", ends),
        ("@!P0 EXIT !P1", goes_on),
        ("@P1 EXIT P0", goes_on),
        ("@!P0 BRA P1, `(k2)", ends),
        ("@!P0 BRA P0, `(k2)", goes_on),
    ] {
        assert_eq!(left(code), Ok(expected), "{code}");
    }
    let why = |code: &str| left(code).unwrap_err();
    assert_eq!(why("EXIT P2"), "EXIT at 0x50 depends on more than its guard");
    assert_eq!(why("EXIT R2"), "EXIT at 0x50 depends on more than its guard");
    assert_eq!(why("CALL.REL.NOINC P1, `(k2)"), "CALL.REL.NOINC at 0x50 depends on more than its guard");
}

#[test]
fn what_a_kernel_reaches_over_numbers_is_seen_and_what_is_not_understood_ends_nothing() {
    use ptxsmith_model::Space;
    let code = "MOV R1, c[0x0][0x28]
        ULDC.64 UR4, c[0x0][0x160]
        S2R R0, SR_TID.X
        IMAD.WIDE R2, R0, 0x4, c[0x0][0x160]
        LDG.E R4, [R2.64+0x8]
        FROB R8, R4
        STG.E [UR4+0x10], R4
        STS [R0.X4+`((s + 0x4))], R8
        @P3 RED.E.ADD.STRONG.GPU [R2.64], R4
        LDG.E R6, [R8.64]
        EXIT";
    let (text, sizes) = listed(code);
    let listing = CodeListing::read(&text, &sizes);
    let tracing = Tracing {
        kernel: "k".into(),
        parameters: vec![(8, 0x7d00_0000_1000u64.to_le_bytes().to_vec())],
        module: places(&[("s", 0x10_0000)]),
        specials: [("tid.x".to_owned(), 3)].into(),
        memory: [((Space::Global, 0x7d00_0000_1014), vec![Some(1), Some(2), Some(3), Some(4)])].into(),
        ..Tracing::default()
    };
    let reached = traced(&listing, &tracing);
    assert_eq!(reached.lost, None);
    let told: Vec<_> =
        reached.reaches.iter().map(|r| (r.reads, r.writes, r.width, r.place, r.certain)).collect();
    assert_eq!(
        told,
        [
            (true, false, 4, Some((Space::Global, 0x7d00_0000_1014)), true),
            (false, true, 4, Some((Space::Global, 0x7d00_0000_1010)), true),
            (false, true, 4, Some((Space::Shared, 0x10_0010)), true),
            (true, true, 4, Some((Space::Global, 0x7d00_0000_100c)), false),
            (true, false, 4, None, true),
        ]
    );
    assert_eq!(reached.written[&(Space::Global, 0x7d00_0000_1011)], Some(2));
    assert_eq!(reached.written[&(Space::Shared, 0x10_0010)], None);
}

#[test]
fn a_variable_of_another_module_lies_where_it_is_said_to() {
    use ptxsmith_model::Space;
    let code = "MOV R0, `(e)
        ULDC.64 UR4, c[0x0][0x160]
        IADD3 R0, R0, 0x2, RZ
        UMOV UR6, 32@lo((f + 0x4))
        UMOV UR7, 32@hi((f + 0x4))
        STG.E [UR4], R0
        LDG.E R2, [UR6]
        EXIT";
    let (text, sizes) = listed(code);
    let listing = CodeListing::read(&text, &sizes);
    let tracing = Tracing {
        kernel: "k".into(),
        parameters: vec![(8, 0x7d00_0000_1000u64.to_le_bytes().to_vec())],
        module: places(&[("e", 0x10_0000), ("f", 0x7f00_0000_0100)]),
        ..Tracing::default()
    };
    let reached = traced(&listing, &tracing);
    let read = reached.reaches.iter().find(|reach| reach.reads).unwrap();
    assert_eq!(read.place, Some((Space::Global, 0x7f00_0000_0104)));
    let stored = (0..4).map(|nth| reached.written[&(Space::Global, 0x7d00_0000_1000 + nth)]);
    assert_eq!(stored.collect::<Vec<_>>(), [Some(2), Some(0), Some(0x10), Some(0)]);
}

#[test]
fn names_in_code_are_of_the_module_or_of_the_function_and_addresses_of_functions_are_numbers() {
    use ptxsmith_model::{FUNCTIONS, Space};
    let mut own = places(&[("x", 0x7f00_0030_0000), ("a", 0x7f00_0040_0000)]);
    own.declare_numbered("r".into(), (0x7f00_0050_0000, 0x10_0000), 70_000);
    let tracing = Tracing {
        kernel: "k".into(),
        parameters: vec![(8, 0x7d00_0000_1000u64.to_le_bytes().to_vec())],
        module: places(&[("a", 0x7f00_0010_0000)]),
        own,
        ..Tracing::default()
    };
    for (symbol, place) in [
        ("a", Some(0x7f00_0010_0000)),
        ("$__a__7", Some(0x7f00_0040_0000)),
        ("$__x__7$1", Some(0x7f00_0030_0000)),
        ("r2", Some(0x7f00_0070_0000)),
        ("r69999", Some(0x7f00_0050_0000 + 69_999 * 0x10_0000)),
        ("r70000", None),
        ("other", None),
    ] {
        assert_eq!(tracing.place_of(symbol), place, "{symbol}");
    }
    let code = "ULDC.64 UR4, c[0x0][0x160]
        UMOV UR6, 32@lo(fun@fdesc(k))
        UMOV UR7, 32@hi(fun@fdesc(k))
        MOV R2, UR6
        MOV R3, UR7
        STG.E.64 [UR4], R2
        UMOV UR8, 32@lo(a)
        UMOV UR9, 32@hi(a)
        LDG.E R4, [UR8]
        EXIT";
    let (text, sizes) = listed(code);
    let listing = CodeListing::read(&text, &sizes);
    let reached = traced(&listing, &tracing);
    let stored = (0..8).rev().map(|nth| reached.written[&(Space::Global, 0x7d00_0000_1000 + nth)]);
    let address = stored.fold(0, |sum, byte| sum << 8 | u64::from(byte.unwrap()));
    assert!(FUNCTIONS.contains(&address), "{address:#x}");
    assert_eq!(reached.symbols, [("a".to_owned(), 0x7f00_0010_0000)].into());
}

/// Whatever line is missing, nothing is said of the kernel: what it set would else be what it was before.
#[test]
fn a_kernel_whose_listing_has_a_hole_is_not_executed() {
    let code = "MOV R4, c[0x0][0x160]
        MOV R5, c[0x0][0x164]
        MOV R0, 0x7
        IADD3 R0, R0, 0x2, RZ
        STG.E [R4.64], R0
        EXIT
        BRA `(k)";
    let (text, sizes) = listed(code);
    let launch = Launch { kernel: "k".into(), out: 8 };
    let tracing = Tracing {
        kernel: "k".into(),
        parameters: vec![(8, 0x7d00_0000_1000u64.to_le_bytes().to_vec())],
        ..Tracing::default()
    };
    let both = |text: &str, sizes: &BTreeMap<String, u64>| {
        let listing = CodeListing::read(text, sizes);
        let traced = traced(&listing, &tracing);
        (execute(&listing, &launch), traced)
    };
    let (left, traced) = both(&text, &sizes);
    assert_eq!(left.unwrap().bytes.unwrap()[..4], [9, 0, 0, 0]);
    assert_eq!((traced.lost, traced.reaches.len()), (None, 1));
    for offset in (0..7).map(|nth| 16 * nth) {
        let own = format!("/*{offset:04x}*/");
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains(&own)).collect();
        let why = format!("the listing of .text.k lacks what stands at {offset:#x}");
        let (left, traced) = both(&(kept.join("\n") + "\n"), &sizes);
        assert_eq!((left, traced.lost), (Err(why.clone()), Some(why)));
        assert_eq!((traced.reaches, traced.written), (vec![], BTreeMap::new()));
    }
    // A listing that cannot be held against the file is none.
    assert!(both(&text, &BTreeMap::new()).1.lost.is_some());
}

#[test]
fn a_target_is_listed_by_a_release_that_knows_it_or_not_at_all() {
    assert_eq!(targets("--binary <SMxy>\n  'SM75','SM90a',\n  'SMxy','other'"), ["sm_75", "sm_90a"]);
    let release = |targets: &[&str]| {
        let known = OnceLock::from(targets.iter().map(|&target| target.to_owned()).collect::<Vec<_>>());
        let lister = Lister::new("/nonexistent/nvdisasm".into(), "-ndf", Cancel::new());
        DisassemblerRelease { lister, targets: Arc::new(known), recent: Arc::default() }
    };
    let disassembler = Disassembler(vec![release(&["sm_75"]), release(&["sm_50", "sm_75"])]);
    let launch = Launch { kernel: "k".to_owned(), out: 8 };
    let seen =
        disassembler.observe(b"cubin", "sm_20", &Variables::new(), std::slice::from_ref(&launch)).unwrap();
    assert_eq!(seen["k"].reason.as_deref(), Some("no nvdisasm that is here knows sm_20"));
    let narrow = disassembler.observe(b"\x7fELF\x01", "sm_75", &Variables::new(), &[launch]).unwrap();
    assert_eq!(narrow["k"].reason.as_deref(), Some("how code holds addresses of 32 bits is not modelled"));
    // The first that knows it is run, and is not there.
    assert!(disassembler.observe(b"cubin", "sm_50", &Variables::new(), &[]).is_err());
}
