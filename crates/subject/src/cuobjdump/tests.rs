//! What cuobjdump prints is NVIDIA's: the text here is written by hand in its form. That the form is the one
//! printed today is tested where a cuobjdump is installed (`tests/cubins.rs`), and by
//! `cargo xtask compare-readers` on thousands.

use super::*;
use ptxsmith_model::{Address, Variable};

/// Two initialized globals, a zero one, two constants, a kernel, and addresses of every sort.
const SAMPLE: &str = "
64-bit ELF: type=ET_EXEC, ABI=8, sm=80, toolkit=13.5, flags=0x6005004
Sections:
Index Offset   Size ES Align                      Type    Flags Link     Info Name
    1     40     ff  0  1                       STRTAB        0    0        0 .shstrtab
    2    260    180 18  8                       SYMTAB        0    2        b .symtab
    3    5e8      c  0  4                 UNKNOWN: 130        2    0        0 .nv.novel
    4    5e8      4  0  4                     PROGBITS        2    0        0 .nv.constant3
    5    880     1e  0 10                     PROGBITS        3    0        0 .nv.global.init
    6    8b4     18  0  8                       NOBITS        3    0        0 .nv.global
    7    8b4     10  0 80                     PROGBITS        6    3        0 .text.kern

.section .strtab

.section .symtab
   Num            Value             Size  Type          Bind    Vis        Other     Ndx  Name
     0                0                0  NOTYPE        LOCAL   DEFAULT    -           0  (null)
   0x1                0                0  SECTION       LOCAL   DEFAULT    -         0x5  .nv.global.init
   0x2             0x18              0x4  OBJECT        LOCAL   DEFAULT    -         0x5  g
   0x3                0             0x18  OBJECT        GLOBAL  DEFAULT    -         0x5  p
   0x4             0x1c              0x2  OBJECT        GLOBAL  DEFAULT    -         0x5  m
   0x5              0x8             0x10  OBJECT        GLOBAL  DEFAULT    -         0x6  z
   0x6                0              0x4  OBJECT        GLOBAL  DEFAULT    -         0x4  c
   0x7                0              0x4  OBJECT        WEAK    DEFAULT    -           0  .nv.reservedSmem.offset0
   0x8                0             0x10  FUNC          GLOBAL  DEFAULT    ENTRY     0x7  kern

.nv.constant3
0x00000007 

.nv.global.init
0x00000000 0x00000000 0x00000000 0x00000000
0x00000000 0x00000000 0x00000005 0x00 0x00 

.section .rel.nv.global.init\tREL
0x10    kern    R_CUDA_FUNC_DESC_64
0x1d    g    R_CUDA_G8_8

.section .rela.nv.global.init\tRELA
0x8    c    R_CUDA_G64    0x4
0x0    g    R_CUDA_G64    0xfffffffffffffff8
0x1c    kern    R_CUDA_FUNC_DESC_8_0    0x0

.section .rel.debug_frame\tREL
0x10    kern    R_CUDA_NOVEL

.nv.info
\t<0x1>
\tAttribute:\tEIATTR_REGCOUNT
";

fn address(
    offset: u64,
    width: u8,
    symbol: &str,
    addend: i64,
    generic: Option<bool>,
    byte: Option<u8>,
) -> Address {
    Address { offset, width, symbol: symbol.into(), addend, generic, byte }
}

#[test]
fn variables_have_their_space_size_alignment_and_bytes() {
    let variables = read(SAMPLE).unwrap();
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["c", "g", "m", "p", "z"]);
    let plain = |space: &str, align, bytes: &[u8]| Variable {
        space: Some(space.into()),
        size: Some(bytes.len() as u64),
        align: Some(align),
        bytes: Some(bytes.into()),
        addresses: Some(Vec::new()),
        ..Variable::default()
    };
    assert_eq!(variables["c"], plain("const", 4, &[7, 0, 0, 0]));
    assert_eq!(variables["g"], plain("global", 8, &[5, 0, 0, 0]));
    assert_eq!(variables["z"], plain("global", 8, &[0; 16]));
    assert_eq!((variables["p"].align, variables["m"].align), (Some(16), Some(4)));
}

#[test]
fn addresses_are_sorted_and_complete() {
    let variables = read(SAMPLE).unwrap();
    assert_eq!(
        variables["p"].addresses.as_deref().unwrap(),
        [
            address(0, 8, "g", -8, None, None),
            address(8, 8, "c", 4, Some(true), None),
            address(16, 8, "kern", 0, None, None),
        ]
    );
    assert_eq!(
        variables["m"].addresses.as_deref().unwrap(),
        [address(0, 1, "kern", 0, None, Some(0)), address(1, 1, "g", 0, None, Some(1))]
    );
}

#[test]
fn what_the_linker_will_place_tells_its_alignment() {
    let text = SAMPLE.replace(
        "0x8             0x10  OBJECT        GLOBAL  DEFAULT    -         0x6  z",
        "0x20            0x10  CUDA_OBJECT   GLOBAL  DEFAULT    GLOBAL 0xfff2  z",
    );
    let z = &read(&text).unwrap()["z"];
    assert_eq!((z.align, z.size, z.space.as_deref()), (Some(32), Some(16), Some("global")));
    assert_eq!(z.bytes.as_deref(), Some(&[0; 16][..]));
    let text = text.replace("GLOBAL 0xfff2", "GLOBAL   0x6").replace("NOBITS", "CUDA_SHARED");
    assert!(read(&text).is_err(), "a shared section with a variable that says that it is global");
    let text = text.replace("DEFAULT    GLOBAL   0x6", "DEFAULT    SHARED   0x6");
    let z = &read(&text).unwrap()["z"];
    assert_eq!((z.align, z.space.as_deref(), z.bytes.as_deref()), (Some(32), Some("shared"), None));
}

#[test]
fn every_family_of_relocations_is_known_by_name() {
    let with = |name: &str| {
        let text = SAMPLE.replace("R_CUDA_FUNC_DESC_64", name);
        read(&text).map(|mut variables| variables.remove("p").unwrap().addresses.unwrap().pop().unwrap())
    };
    for (name, width, byte) in [
        ("R_CUDA_32", 4, None),
        ("R_CUDA_64", 8, None),
        ("R_CUDA_UNIFIED", 8, None),
        ("R_CUDA_8_56", 1, Some(7)),
        ("R_CUDA_G8_0", 1, Some(0)),
        ("R_CUDA_UNIFIED_8_16", 1, Some(2)),
    ] {
        let address = with(name).unwrap();
        assert_eq!((address.width, address.byte), (width, byte), "{name}");
    }
    for name in ["R_CUDA_8_4", "R_CUDA_8_64", "R_CUDA_NONE", "R_CUDA_FUNC_DESC_32_LO", "R_CUDA_8_", "x"] {
        assert!(matches!(with(name), Err(TextError::UnknownRelocation { .. })), "{name}");
    }
}

#[test]
fn what_cannot_be_is_an_error_that_says_why() {
    let broken = |from: &str, to: &str| {
        assert!(SAMPLE.contains(from), "{from}");
        read(&SAMPLE.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(broken("Sections:", "sections:"), "the text lists 0 cubins, not one");
    assert!(broken("\n.section .strtab", "\nSections:\n").contains("2 cubins"));
    assert!(broken("0x00000005 ", "").contains("0x1e bytes, 0x1a are shown"));
    assert!(broken("0x00000005 ", "0x005 ").contains("is not as expected: \"0x00000000 0x00000000 0x005"));
    assert!(broken("0x1d    g ", "0x1e    g ").contains(".nv.global.init+0x1e: in no variable"));
    assert!(broken("0x1d    g ", "0x1d    h ").contains("of no symbol"));
    assert!(broken("0x1d    g ", "0x1c    g ").contains("two relocations at byte 0 of `m`"));
    assert!(broken("0x5  g", "0x9  g").contains("symbol `g`: no section 0x9"));
    assert!(broken("0x5  g", "0x3  g").contains("section .nv.novel (UNKNOWN:), which is not known"));
    assert!(broken("0x6  z", "0x6  g").contains("two variables are named `g`"));
    assert!(broken("1e  0 10 ", "1e  0 16 ").contains("aligned to 22, no power of two"));
    assert!(broken("0x10  OBJECT", "0x11  OBJECT").contains("does not fit into section .nv.global"));
    assert!(broken("0x10  OBJECT", "0xffffffffffffffff  OBJECT").contains("does not fit"));
}

#[test]
fn no_truncation_and_no_changed_byte_panics() {
    for end in 0..SAMPLE.len() {
        let _ = read(&SAMPLE[..end]);
    }
    let mut accepted = 0;
    for index in 0..SAMPLE.len() {
        for value in *b"0f \n.x" {
            let mut changed = SAMPLE.as_bytes().to_vec();
            changed[index] = value;
            accepted += usize::from(read(std::str::from_utf8(&changed).unwrap()).is_ok());
        }
    }
    assert!(accepted > SAMPLE.len(), "only {accepted} changed texts were read");
}
