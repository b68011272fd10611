//! A disassembler that lists other code than there is: of what is missing or not known nothing is found, and
//! each operand that is another is found once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::{Tool, ToolKind, Toolchains};
use ptxsmith_subject::{Cancel, OpenOptions, Ptxas, open, parse_spec};
use ptxsmith_syntax::parse;
use ptxsmith_testing::is_whole;

const SUBJECT: &str = "ptxas@13.5";
/// Enough to tell every operand from another.
const INPUTS: u64 = 8;

/// A kernel: its name, its instructions, and changes of its code: the opcode that one is in, what stands
/// there, and what is listed instead.
type Kernel = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

/// Each leaves `%r3`, made of `%r1`, `%r2` and the same as 64 bits in `%rd2`.
const KERNELS: [Kernel; 29] = [
    ("sum", "add.u32 %r3, %r1, %r2;", &[("IMAD.IADD", "0x1", "0x2"), ("STG", "[R4.64]", "[R4.64+0x4]")]),
    ("difference", "sub.u32 %r3, %r1, %r2;", &[("IMAD.IADD", "-R7", "R7")]),
    ("number", "add.u32 %r3, %r1, 1000;", &[("IADD3", "0x3e8", "0x3e9")]),
    ("product", "mul.lo.u32 %r3, %r1, %r2;", &[("IMAD", "RZ", "R4")]),
    ("upper", "mul.hi.u32 %r3, %r1, %r2;", &[("IMAD.HI", "R0, R7", "R0, R0")]),
    (
        "wide",
        "mul.wide.u32 %rd3, %r1, %r2;\nst.global.u64 [%rd1+8], %rd3;",
        &[("IMAD.WIDE", "R4, R4", "R8, R4")],
    ),
    ("mad", "mad.lo.u32 %r3, %r1, 77, %r2;", &[("IMAD", "0x4d", "0x4c")]),
    ("logic", "and.b32 %r3, %r1, 0xff00ff;", &[("LOP3", "0xff00ff", "0xff01ff")]),
    ("complement", "xor.b32 %r4, %r1, %r2;\nnot.b32 %r3, %r4;", &[("LOP3", "0x33", "0x3c")]),
    ("left", "shl.b32 %r3, %r1, 3;", &[("IMAD.SHL", "0x8", "0x4")]),
    ("right", "shr.s32 %r3, %r1, 5;", &[("SHF.R", "0x5", "0x6")]),
    ("funnel", "shf.l.wrap.b32 %r3, %r1, %r2, 7;", &[("SHF.L", "0x7", "0x8")]),
    ("least", "min.s32 %r3, %r1, %r2;", &[("IMNMX", "PT", "!PT")]),
    ("most", "max.u32 %r3, %r1, 40;", &[("IMNMX", "0x28", "0x29")]),
    (
        "choice",
        "setp.lt.s32 %p1, %r1, %r2;\nselp.u32 %r3, %r2, 9, %p1;",
        &[("ISETP", "R7, PT", "R7, !PT"), ("SEL", "!P0", "P0")],
    ),
    ("ones", "popc.b32 %r3, %r1;", &[("POPC", "R2", "~R2")]),
    ("leading", "clz.b32 %r3, %r1;", &[("IADD3", "0x1f", "0x20")]),
    ("bytes", "prmt.b32 %r3, %r1, %r2, 0x6240;", &[("PRMT", "0x6240", "0x6241")]),
    ("reverse", "brev.b32 %r3, %r1;", &[("BREV", "R2", "R4")]),
    ("dot", "dp4a.u32.u32 %r3, %r1, %r2, %r2;", &[("IDP", "R7, R7", "R7, RZ")]),
    ("mask", "bmsk.clamp.b32 %r3, %r1, %r2;", &[("BMSK", "R0, R7", "R7, R0")]),
    ("field", "bfe.s32 %r3, %r1, 4, 9;", &[("SGXT", "0x9", "0xa")]),
    (
        "guard",
        "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r3, 5;\n@%p1 add.u32 %r3, %r2, 6;",
        &[("SEL", "0x5", "0x4")],
    ),
    (
        "long",
        "add.u64 %rd3, %rd2, 4294967297;\nst.global.u64 [%rd1+8], %rd3;",
        &[("IADD3.X", "0x1", "0x2"), ("IADD3.X", "P0, !PT", "!P0, !PT")],
    ),
    ("distance", "sad.u32 %r3, %r1, %r2, 3;", &[("VABSDIFF", "0x3", "0x2")]),
    ("differences", "vabsdiff4.u32.u32.u32.add %r3, %r1, %r2, %r2;", &[]),
    // One lane is elected for all of them.
    ("elected", "atom.global.add.u32 %r3, [%rd1+64], 3;", &[]),
    ("swap", "atom.global.cas.b32 %r3, [%rd1+64], %r1, %r2;", &[]),
    ("changed", "red.global.max.s64 [%rd1+64], %rd2;", &[]),
];

fn program() -> String {
    let mut text = ".version 8.3\n.target sm_80\n.address_size 64\n".to_owned();
    for (name, body, _) in KERNELS {
        let _ = write!(
            text,
            ".visible .entry {name}(.param .u64 out, .param .u64 in)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<5>;\n\
             ld.param.u64 %rd1, [out];\nld.param.u64 %rd4, [in];\nld.global.u32 %r1, [%rd4];\nld.global.u32 %r2, [%rd4+4];\n\
             ld.global.u64 %rd2, [%rd4];\nmov.u32 %r3, 0;\n{body}\nst.global.u32 [%rd1], %r3;\nret;\n}}\n"
        );
    }
    text
}

/// Lists what another program lists, the first time, and from then on what the file has.
fn lister(folder: &Path, lists: &Path) -> Disassembler {
    let (listing, path) = (folder.join("listing"), folder.join("lister"));
    let (listing, lists) = (listing.display(), lists.display());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--help*) exec '{lists}' \"$@\";; esac\n\
         [ -f '{listing}' ] || '{lists}' \"$@\" > '{listing}' || exit 1\ncat '{listing}'\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Disassembler::new(path, Cancel::new())
}

/// The opcode of a line of code.
fn opcode(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("/*")?.split_once("*/")?.1.trim();
    let rest = if rest.starts_with('@') { rest.split_once(' ')?.1.trim() } else { rest };
    let opcode = rest.split([' ', ';']).next()?;
    opcode.starts_with(|c: char| c.is_ascii_uppercase()).then_some(opcode)
}

/// The lines of a listing, each with the kernel in whose code it stands and its opcode, where it is an
/// instruction.
fn lines(listing: &str) -> Vec<(&str, Option<(&str, &str)>)> {
    let mut kernel = None;
    let mut all = Vec::new();
    for line in listing.lines() {
        if let Some(section) = line.trim().strip_prefix(".section\t") {
            kernel = section.strip_prefix(".text.").and_then(|name| name.split(',').next());
        }
        all.push((line, kernel.zip(opcode(line))));
    }
    all
}

#[test]
fn of_other_code_than_there_is_nothing_is_found_but_each_operand_that_is_another() {
    let toolchains = Toolchains::for_user().ok();
    let found = toolchains.as_ref().and_then(|all| all.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
    let opened = open(&parse_spec(SUBJECT).unwrap(), &OpenOptions::default());
    let (Some(lists), Ok(opened)) = (found, opened) else {
        eprintln!("NOT TESTED: other listings of {SUBJECT}: ptxsmith toolchain install 13.5 nvdisasm");
        return;
    };
    let path = opened[0].description().path.clone().expect("ptxas is a file");
    let folder = tempfile::tempdir().unwrap();
    let lister = || Some(lister(folder.path(), &lists));
    // Listings are kept for a subject, so each is one of its own.
    let subject = || {
        let ptxas = Ptxas::open("listed", &path, Default::default(), Cancel::new()).unwrap();
        ptxas.disassembling(lister())
    };
    let text = program();
    let calculations = Calculations::new(parse(&text).unwrap(), &Rules::default(), INPUTS).unwrap();
    let judged = || calculations.judge(&subject(), &text, "sm_80").unwrap().kernels;
    let verdicts: BTreeMap<String, KernelVerdict> = judged().into_iter().collect();
    assert!(verdicts.values().all(|verdict| *verdict == KernelVerdict::Agrees), "{verdicts:#?}");
    let listing = fs::read_to_string(folder.path().join("listing")).unwrap();
    let lines = lines(&listing);
    let shown = |change: &dyn Fn(&str, &str, &str) -> Option<String>| {
        let changed = lines.iter().filter_map(|(text, own)| match own {
            Some((kernel, opcode)) => change(text, kernel, opcode),
            None => Some((*text).to_owned()),
        });
        fs::write(folder.path().join("listing"), changed.map(|line| line + "\n").collect::<String>())
            .unwrap();
        judged()
    };
    let opcodes: BTreeSet<&str> = lines.iter().filter_map(|(_, own)| Some(own.as_ref()?.1)).collect();
    assert!(opcodes.len() >= 25, "{opcodes:?}");
    // Every fourth of them shows how one that is missing is met.
    for opcode in opcodes.into_iter().step_by(if is_whole() { 1 } else { 4 }) {
        let has_it: BTreeSet<&str> = lines
            .iter()
            .filter_map(|(_, own)| own.filter(|(_, own)| *own == opcode))
            .map(|(kernel, _)| kernel)
            .collect();
        let dropped = shown(&|text, _, own| (own != opcode).then(|| text.to_owned()));
        let renamed = shown(&|text, _, own| {
            Some(if own == opcode {
                text.replacen(opcode, &format!("Q{opcode}"), 1)
            } else {
                text.to_owned()
            })
        });
        for (how, verdicts) in [("without", dropped), ("renamed", renamed)] {
            for (kernel, verdict) in verdicts {
                let is_followed = match verdict {
                    KernelVerdict::Agrees => true,
                    KernelVerdict::NotFollowed(_) => false,
                    KernelVerdict::Differs(wrong) => panic!("{how} {opcode}: {kernel}: {wrong:?}"),
                };
                // Instructions behind the end of a kernel are not executed under any name.
                let is_behind = how == "renamed" && ["BRA", "NOP"].contains(&opcode);
                assert_eq!(is_followed, is_behind || !has_it.contains(&*kernel), "{how} {opcode}: {kernel}");
            }
        }
    }
    let mut kinds = 0;
    for (name, _, changes) in KERNELS {
        for (opcode, from, to) in changes {
            let is_it = |text: &str, kernel: &str, own: &str| {
                kernel == name && own.starts_with(opcode) && text.contains(from)
            };
            let first = lines
                .iter()
                .position(|(text, own)| own.is_some_and(|(kernel, own)| is_it(text, kernel, own)));
            let first = first.unwrap_or_else(|| panic!("{name} has no {opcode} with {from}"));
            let changed = shown(&|text, _, _| {
                let other = || {
                    let (before, behind) = text.rsplit_once(from).unwrap();
                    format!("{before}{to}{behind}")
                };
                Some(if std::ptr::eq(text, lines[first].0) { other() } else { text.to_owned() })
            });
            let wrong: Vec<&String> = changed
                .iter()
                .filter(|(_, verdict)| matches!(verdict, KernelVerdict::Differs(_)))
                .map(|(kernel, _)| kernel)
                .collect();
            assert_eq!(
                wrong,
                [name],
                "{opcode} {from} -> {to}: {:?}",
                changed.iter().find(|(kernel, _)| kernel == name)
            );
            kinds += 1;
        }
    }
    assert!(kinds >= 20, "{kinds}");
}
