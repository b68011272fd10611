//! A disassembler that leaves out instructions, in front of a real ptxas: whatever is missing, nothing is
//! found.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ptxsmith_diff::{PartVerdict, Verdict, judge_module, judge_operands};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::{Tool, ToolKind, Toolchains};
use ptxsmith_subject::{Cancel, OpenOptions, Ptxas, open, parse_spec};
use ptxsmith_syntax::parse;

const SUBJECT: &str = "ptxas@13.5";

/// One kernel whose output is compared, and one whose results depend on the thread, so that only its places
/// are.
const PROGRAM: &str = ".version 7.8\n.target sm_80\n.address_size 64\n\
    .global .u32 g[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n\
    .shared .u32 s[4];\n\
    .visible .entry leaves(.param .u64 P)\n{\n.reg .u64 %p, %q;\n.reg .u32 %r;\nld.param.u64 %p, [P];\n\
    mov.u64 %q, g+8;\nst.global.u64 [%p], %q;\nld.global.u32 %r, [%q+4];\nadd.u32 %r, %r, 5;\n\
    st.global.u32 [%p+8], %r;\nst.shared.u32 [s+4], 7;\nld.shared.u32 %r, [s+4];\nst.global.u32 [%p+12], %r;\n\
    ret;\n}\n\
    .visible .entry reaches(.param .u64 P, .param .u32 N)\n{\n.reg .u64 %p, %q;\n.reg .u32 %r, %t;\n\
    ld.param.u64 %p, [P];\nld.param.u32 %r, [N];\nmov.u32 %t, %tid.x;\nadd.u32 %r, %r, %t;\nand.b32 %r, %r, 7;\n\
    mul.wide.u32 %q, %r, 4;\nadd.u64 %p, %p, %q;\nst.global.u32 [%p+16], %r;\nld.global.u32 %t, [%p+32];\n\
    add.u32 %t, %t, 3;\nst.global.u32 [%p], %t;\nret;\n}\n";

/// A program that lists what another lists, without the lines of an opcode.
fn filter(folder: &Path, lists: &Path, without: &str) -> Disassembler {
    let listing = folder.join("listing");
    let pattern = format!(r"\*/ +(@[^ ]+ +)?{without}([. ;]|$)");
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" > '{listing}' || exit 1\ngrep -vE '{pattern}' '{listing}'\nexit 0\n",
        lists.display(),
        listing = listing.display()
    );
    let path = folder.join("filter");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Disassembler::new(path, Cancel::new())
}

/// The opcodes of a listing.
fn opcodes(listing: &str) -> BTreeSet<String> {
    let opcode = |line: &str| {
        let rest = line.trim().strip_prefix("/*")?.split_once("*/")?.1.trim();
        let rest = if rest.starts_with('@') { rest.split_once(' ')?.1.trim() } else { rest };
        let word = rest.split(['.', ' ', ';']).next()?;
        word.starts_with(|c: char| c.is_ascii_uppercase()).then(|| word.to_owned())
    };
    listing.lines().filter_map(opcode).collect()
}

#[test]
fn a_disassembler_that_leaves_out_an_opcode_makes_no_finding() {
    let options = OpenOptions::default();
    let toolchains = Toolchains::for_user().ok();
    let found = toolchains.as_ref().and_then(|all| all.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
    let opened = open(&parse_spec(SUBJECT).unwrap(), &options);
    let (Some(lists), Ok(opened)) = (found, opened) else {
        eprintln!("NOT TESTED: holes in listings of {SUBJECT}: ptxsmith toolchain install 13.5 nvdisasm");
        return;
    };
    let path = opened[0].description().path.clone().expect("ptxas is a file");
    let folder = tempfile::tempdir().unwrap();
    let module = parse(PROGRAM).unwrap();
    let judged = |without: &str| {
        let ptxas = Ptxas::open("filtered", &path, Default::default(), Cancel::new()).unwrap();
        let subject = ptxas.disassembling(Some(filter(folder.path(), &lists, without)));
        let rules = Rules::default();
        let parts = judge_module(&subject, &rules, &module, PROGRAM, "sm_80").unwrap().parts();
        let (operands, reached) = judge_operands(&subject, &rules, &module, PROGRAM, "sm_80").unwrap();
        (parts, operands, reached)
    };
    let of_kernels =
        |parts: &[PartVerdict]| parts.iter().find(|part| part.operands.total > 0).cloned().unwrap();
    let (parts, operands, reached) = judged("NOTHING");
    let whole = of_kernels(&parts);
    assert_eq!((whole.verdict, whole.operands.seen), (Verdict::Conforms, 3), "{:?}", whole.why);
    assert_eq!(reached.map(|part| part.verdict), Some(Verdict::Conforms), "{operands:?}");
    assert!(operands.compared >= 6, "{operands:?}");
    let listing = fs::read_to_string(folder.path().join("listing")).unwrap();
    let opcodes = opcodes(&listing);
    assert!(opcodes.len() > 8 && opcodes.contains("STG") && opcodes.contains("EXIT"), "{opcodes:?}");
    for opcode in &opcodes {
        let (parts, operands, reached) = judged(opcode);
        let told = format!("without {opcode}: {parts:?}, {operands:?}, {reached:?}");
        let deviates = |part: &PartVerdict| matches!(part.verdict, Verdict::Deviates(_) | Verdict::Reads(_));
        assert!(!parts.iter().chain(&reached).any(deviates), "{told}");
        // Of the kernels that have it nothing counts.
        let of = |kernel: &str| {
            let own = listing.split(&format!(".section\t.text.{kernel},")).nth(1);
            own.is_some_and(|own| self::opcodes(own.split("\t.section\t").next().unwrap()).contains(opcode))
        };
        assert!(of("leaves") || of("reaches"), "{opcode}");
        let kernels = of_kernels(&parts);
        assert_eq!(kernels.operands.seen, if of("leaves") { 0 } else { 3 }, "{told}");
        let lost: Vec<&String> =
            operands.not_compared.keys().filter(|why| why.contains("lacks what stands")).collect();
        assert!(!lost.is_empty(), "{told}");
        if of("leaves") && of("reaches") {
            assert_eq!((operands.compared, reached), (0, None), "{told}");
        }
    }
}
