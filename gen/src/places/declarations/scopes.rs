//! Two variables with the same name in different scopes, and the values of both. The name is plain or belongs to a parameterized
//! name (5.4.6). Words that begin with `q` are auxiliary names.

use super::module;
use crate::places::{PlaceFamily, lines};

/// Ways to declare a variable `X`, to store `N` in it, and to load it into `R`, separated by `|`. Uses refer to it as `U`.
const KEPT: &str = "
global := .global .u32 X; | st.global.u32 [U], N; | ld.global.u32 R, [U];
initial := .global .u32 X = N; | | ld.global.u32 R, [U];
wide := .global .u64 X; | mov.u64 qw, N; st.global.u64 [U], qw; | ld.global.u64 qw, [U]; cvt.u32.u64 R, qw;
wide-initial := .global .u64 X = N; | | ld.global.u64 qw, [U]; cvt.u32.u64 R, qw;
byte := .global .u8 X; | st.global.u8 [U], N; | ld.global.u8 R, [U];
array := .global .u32 X[4]; | st.global.u32 [U+8], N; | ld.global.u32 R, [U+8];
address := .global .u32 X; | mov.u64 qw, U; st.global.u32 [qw], N; | ld.global.u32 R, [U];
const := .const .u32 X = N; | | ld.const.u32 R, [U];
shared := .shared .u32 X; | st.shared.u32 [U], N; | ld.shared.u32 R, [U];
wide-shared := .shared .u64 X; | mov.u64 qw, N; st.shared.u64 [U], qw; | ld.shared.u64 qw, [U]; cvt.u32.u64 R, qw;
local := .local .u32 X; | st.local.u32 [U], N; | ld.local.u32 R, [U];
register := .reg .u32 X; | mov.u32 U, N; | mov.u32 R, U;
predicate := .reg .pred X; | setp.eq.u32 U, qn, qn; | selp.u32 R, N, 0, U;
param := .param .u32 X; | st.param.u32 [U], N; | ld.param.u32 R, [U];
label := | mov.u32 R, N; bra U; mov.u32 R, 9; X: |
function := .func (.reg .u32 qo) X() { mov.u32 qo, N; ret; } | | call (R), U;
kernel := .entry X() { ret; } | | mov.u32 R, N;
";

/// The names: the outer variable's in its declaration and in uses, then the inner variable's likewise.
const NAMES: &str = "
plain := s1 s1 s1 s1
numbered-plain := s<3> s1 s1 s1
plain-numbered := s1 s1 s<3> s1
numbered := s<3> s1 s<3> s1
other-count := s<3> s2 s<2> s1
behind-count := s<3> s2 s3 s3
through := s<3> s2 s<2> s2
two-prefixes := s<20> s11 s1<3> s11
zero-in-front := s<3> s1 s01 s01
large := s<65537> s65536 s65536 s65536
";

/// The scopes. `OD`, `OS` and `OR` declare, set and load the outer variable (into `qr`); `ID`, `IS` and `IR` the inner one (into
/// `qt`). A compiler may derive internal names from line numbers, so two functions on one line are a separate case.
const SCOPES: &str = "
module-body := OD|.func qs() { Q OS ret; }|F qg() { Q OR mov.u32 qo, qr; ret; }|K { Q ID call qs; IS IR call (qr), qg; E }
module-block := OD|.func qs() { Q OS ret; }|F qg() { Q OR mov.u32 qo, qr; ret; }|K { Q call qs; { ID IS IR } call (qr), qg; E }
module-function := OD|F qf() { Q ID IS IR mov.u32 qo, qt; ret; }|K { Q OS call (qt), qf; OR E }
body-block := K { Q OD OS { ID IS IR } OR E }
body-inner-block := K { Q OD OS { { ID IS IR } } OR E }
blocks := K { Q { OD OS OR } { ID IS IR } E }
functions := F qf() { Q OD OS OR mov.u32 qo, qr; ret; }|F qg() { Q ID IS IR mov.u32 qo, qt; ret; }|K { Q call (qr), qf; call (qt), qg; E }
function-kernel := F qf() { Q OD OS OR mov.u32 qo, qr; ret; }|K { Q ID IS call (qr), qf; IR E }
function-kernel-on-one-line := F qf() { Q OD OS OR mov.u32 qo, qr; ret; } K { Q ID IS call (qr), qf; IR E }
kernels := K { Q OD OS OR E }|.visible .entry qq(.param .u64 qi) { Q ID IS IR E }
kernels-on-one-line := K { Q OD OS OR E } .visible .entry qq(.param .u64 qi) { Q ID IS IR E }
";

/// Scopes for a variable that has the same name as the enclosing function or its parameter (`OU`).
const OWN: &str = "
kernel := .visible .entry OU(.param .u64 qi) { Q ID IS IR E }
function := F OU() { Q ID IS IR mov.u32 qo, qt; ret; }|K { Q call (qt), OU; E }
register-parameter := F qf(.reg .u32 OU) { Q mov.u32 qr, OU; ID IS IR add.u32 qo, qr, qt; ret; }|K { Q call (qt), qf, (5); E }
register-parameter-block := F qf(.reg .u32 OU) { Q { ID IS IR } mov.u32 qr, OU; add.u32 qo, qr, qt; ret; }|K { Q call (qt), qf, (5); E }
parameter := F qf(.param .u32 OU) { Q ld.param.u32 qr, [OU]; ID IS IR add.u32 qo, qr, qt; ret; }|K { Q call (qt), qf, (5); E }
parameter-block := F qf(.param .u32 OU) { Q { ID IS IR } ld.param.u32 qr, [OU]; add.u32 qo, qr, qt; ret; }|K { Q call (qt), qf, (5); E }
kernel-parameter := .visible .entry qk(.param .u64 OU) { Q { ID IS IR } ld.param.u64 qa, [OU]; st.global.v2.u32 [qa], {qr, qt}; ret; }
";

const PARTS: [(&str, &str); 4] = [
    ("Q", ".reg .u64 qa, qw; .reg .u32 qn, qr, qt; mov.u32 qn, 1; mov.u32 qr, 0; mov.u32 qt, 0;"),
    ("F", ".func (.reg .u32 qo)"),
    ("K", ".visible .entry qk(.param .u64 qi)"),
    ("E", "ld.param.u64 qa, [qi]; st.global.v2.u32 [qa], {qr, qt}; ret;"),
];

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![
        PlaceFamily::new("equal-names", vec![lines(SCOPES), lines(NAMES), lines(KEPT), lines(KEPT)], |c| {
            program(c[0], c[1], c[2], c[3])
        }),
        PlaceFamily::new("own-names", vec![lines(OWN), lines(NAMES), lines(KEPT)], |c| {
            program(c[0], c[1], "||", c[2])
        }),
    ]
}

fn program(scopes: &str, names: &str, outer: &str, inner: &str) -> String {
    let names: Vec<&str> = names.split(' ').collect();
    let outer = storage_parts(outer, [("X", names[0]), ("U", names[1]), ("N", "5"), ("R", "qr")]);
    let inner = storage_parts(inner, [("X", names[2]), ("U", names[3]), ("N", "7"), ("R", "qt")]);
    let words = [
        ("OD", &*outer[0]),
        ("OS", &outer[1]),
        ("OR", &outer[2]),
        ("ID", &inner[0]),
        ("IS", &inner[1]),
        ("IR", &inner[2]),
        ("OU", names[1]),
    ];
    module(&written(&scopes.replace('|', "\n"), &[&words[..], &PARTS].concat()))
}

/// Splits a storage form into the declaration of a variable, the statements that set it, and the statements that read it.
fn storage_parts(form: &str, words: [(&str, &str); 4]) -> Vec<String> {
    form.split('|').map(|part| written(part.trim(), &words)).collect()
}

/// Replaces whole words in a source text.
fn written(text: &str, words: &[(&str, &str)]) -> String {
    let mut rest = text;
    let mut written = String::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
        written += words.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| to);
        rest = behind;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_a_name_in_two_scopes_set_and_read_each_variable() {
        let families = families();
        let text = |family: usize, names: &str| {
            let family = &families[family];
            family.cell(family.find(names).unwrap()).text
        };
        let of_both = text(0, "module-body/plain-numbered/initial/global");
        let wanted = [
            "\n.global .u32 s1 = 5;\n.func qs() {",
            "qg() { .reg",
            "ld.global.u32 qr, [s1]; mov.u32 qo, qr; ret; }",
            ".global .u32 s<3>; call qs; st.global.u32 [s1], 7; ld.global.u32 qt, [s1]; call (qr), qg;",
        ];
        wanted.iter().for_each(|part| assert!(of_both.contains(part), "{part}: {of_both}"));
        let own = text(1, "kernel/plain-numbered/wide");
        assert!(
            own.contains(".visible .entry s1(.param .u64 qi) {") && own.contains(".global .u64 s<3>;"),
            "{own}"
        );
    }
}
