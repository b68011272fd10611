//! Characters that PTX does not use, in every part of a source text.

use crate::places::{AxisChoice, PlaceFamily, lines};

use super::module;

/// Source texts with `@@` in place of the character.
const PARTS: &str = "
between := .global .u32 a = 1; @@ .global .u32 b;
first := @@ .global .u32 a = 1;
last := .global .u32 a = 1; @@
in-name := .global .u32 a@@b = 1;
in-number := .global .u32 a = 1@@2;
in-word := .global .u@@32 a = 1;
behind-dot := .global .@@ a = 1;
in-list := .global .u32 a[2] = {1, @@ 2};
in-dimension := .global .u32 a[@@2];
in-line-comment := .global .u32 a = 1; // @@
in-comment := .global .u32 a = 1; /* @@ */
in-string := .file 1 \"@@\" .global .u32 a = 1;
in-pragma := .pragma \"@@\"; .global .u32 a = 1;
in-section := .section .debug_str { .b8 1, @@ 2 }
in-body := .entry k() { @@ ret; }
in-operand := .entry k() { .reg .u32 r; mov.u32 r, @@; ret; }
in-label := .entry k() { a@@b: ret; }
in-parameter := .entry k(.param .u32 a@@b) { ret; }
";

pub(super) fn families() -> Vec<PlaceFamily> {
    let ascii = (1..=0x7f_u8).filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b'\n').map(char::from);
    let wider = ['\u{80}', '\u{a0}', 'é', '\u{ff}', '€', '\u{2028}', '\u{feff}', '\u{fffd}', '😀'];
    let single = ascii.chain(wider).map(|one| AxisChoice::named(format!("u{:04x}", u32::from(one)), one));
    let several = [
        ("escaped-line", "\\\n"),
        ("open-comment", "/*"),
        ("closed-comment", "*/"),
        ("line-comment", "//"),
        ("hash-line", "\n# 1 \"x\"\n"),
        ("hash-define", "\n#define x\n"),
        ("trigraph", "??/"),
        ("quotes", "\"\""),
    ];
    let several = several.map(|(name, text)| AxisChoice::named(name, text));
    vec![PlaceFamily::new("characters", vec![lines(PARTS), single.chain(several).collect()], |c| {
        module(&c[0].replace("@@", c[1]))
    })]
}
