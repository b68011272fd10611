//! What may be said of a module as a whole.

use ptxsmith_oracle::{Rules, Validity, predict};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn validity(text: &str) -> (Validity, Vec<String>) {
    let module = ptxsmith_syntax::parse(text).unwrap();
    let prediction = predict(&module, &Rules::default());
    let parts = prediction.undecided.iter().map(|part| format!("{}: {}", part.part, part.reason)).collect();
    (prediction.validity(), parts)
}

fn of(declarations: &str) -> (Validity, Vec<String>) {
    validity(&format!("{HEADER}{declarations}"))
}

#[test]
fn a_module_is_valid_only_if_every_part_is_judged() {
    for text in [
        ".global .u32 a = 5;",
        ".global .u32 a; .const .u64 p[2] = {a, a + 4};",
        ".func f() { ret; }",
        ".func f(); .func f() { ret; } .extern .func g();",
        ".const .u8 v[32768]; .entry k() { .const .u8 w[32768]; ret; }",
        ".global .u32 _a, $1, %r; .const .u8 v[65536] = {1}; .shared .align 16 .u64 w<4>;",
        ".entry k() { .reg .u32 %tid_r, %clocks, %pmx_64; mov.u32 %tid_r, 5; }",
        ".entry k(.param .u64 p) { .reg .u64 %d<2>; .reg .f32 %f<2>; ld.param.u64 %d1,[p]; ld.global.f32 %f1,[%d1]; \
         st.global.f32 [%d1],%f1; ret; }",
        ".entry k() { .reg .u32 %r<9>; .reg .pred %p<2>; mov.u32 %r1, 5; setp.lt.u32 %p1, %r1, 7; @%p1 bra L; \
         add.u32 %r2, %r1, 8; L: exit; }",
        ".entry k() { .reg .pred p; setp.lt.u32 p, 1, 2; @p trap; @!p brkpt; trap; }",
        // A comparison may be combined with a predicate or its opposite, and may set its own opposite too.
        ".entry k() { .reg .pred p, q, s; .reg .u32 r; setp.lt.and.u32 p, 1, 2, s; setp.eq.or.b32 p|q, 1, 2, !s; \
         setp.ne.xor.f32 p|q, 1.0, 2.0, 1; set.gt.and.u32.s32 r, 1, 2, !p; selp.u32 r, 1, 2, !p; }",
    ] {
        assert_eq!(of(text), (Validity::Valid, vec![]), "{text}");
    }
}

#[test]
fn undescribed_parts_are_undecided() {
    for (text, part) in [
        (".global .u32 a = 5; .global .u32 a = 6;", ": a name that its scope declares more than once"),
        (".func f() { ret; } .func f() { ret; }", ": a name that its scope declares more than once"),
        (".entry k() { .reg .u32 %r<4>; .reg .u32 %r2; }", ": a name that its scope declares more than once"),
        (".entry k() { .reg .u32 %r<4>; add.foo %r1, 1, 2; }", "kernel k, add: "),
        (
            ".entry k() { .reg .u32 %r<4>; add.u32 %r1, %x7, 2; }",
            "kernel k, add: a name that nothing declares",
        ),
        (".entry k() { .reg .f32 %f<4>; add.f16 %f1, %f2, %f3; }", "kernel k, add: "),
        (".entry k() { .reg .u32 %r<4>; foo.u32 %r1, %r2; }", "foo"),
        (".global .u32 g; .entry k() { ld.global.u32 5, [g]; }", "kernel k, ld: "),
        (".global .u32 g; .entry k() { .reg .u32 r; ld.global.u32 r, g; }", "kernel k, ld: "),
        (".entry k() { .reg .u64 p; .reg .u32 r; ld.global.u32 r, p; }", "kernel k, ld: "),
        (".entry k() { .reg .u64 p; st.global.u32 p, 5; }", "kernel k, st: "),
        (".entry k() { .reg .u32 %r<4>; .reg .f32 %f; add.u32 %r1, %r2, %f; }", "kernel k, add: "),
        (".entry k() { .reg .b32 %r<4>; .reg .pred %p; setp.lt.b32 %p, %r1, %r2; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p, q; setp.lt.and.b32 p, 1, 2, q; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p; setp.lt.and.u32 p, 1, 2; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p, q; setp.lt.u32 p, 1, 2, q; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p, q; setp.lt.nand.u32 p, 1, 2, q; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p; .reg .u32 r; setp.lt.and.u32 p, 1, 2, r; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p, q; setp.lt.u32 p|q|p, 1, 2; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p; .reg .u32 r; setp.lt.u32 p|r, 1, 2; }", "kernel k, setp: "),
        (".entry k() { .reg .pred p; .reg .u32 r; set.lt.and.u32.u32 r, 1, 2; }", "kernel k, set: "),
        (".entry k() { .reg .pred p; .reg .u32 r; set.lt.u32.u32 r, 1, 2, p; }", "kernel k, set: "),
        (".entry k() { .reg .pred p; .reg .u32 r; selp.u32 r, 1, 2, !r; }", "kernel k, selp: "),
        (".entry k(.param .u32 q) { .reg .u32 %r<4>; st.param.u32 [q], %r1; }", "kernel k, st: "),
        (".entry k() { .reg .u32 %r<4>; cvta.global.u32 %r1, %r2; }", "kernel k, cvta: "),
        (".global .b128 z;", ".b128: "),
        (".global .b128 z = 0f00000000;", "z: a floating-point constant"),
        (".entry k() .maxntid 5 { ret; }", ".maxntid: "),
        (".pragma \"nounroll\";", ".pragma: "),
        (".entry k() { .branchtargets L; L: ret; }", ".branchtargets: "),
        (".visible .visible .func f() { ret; }", "f: a linking directive"),
        (".extern .visible .entry k();", "k: a linking directive"),
        (".extern .func f() { ret; }", "f: a linking directive"),
        (".global .u32 _;", "_: a name that the specification does not mention"),
        (".func %tid() { ret; }", "%tid: a name"),
        (".global .u32 %pm3_64;", "%pm3_64: a name"),
        (".entry k() { .reg .u32 %r; mov.u32 %r, %tid.x; }", "kernel k, mov: a special register"),
        (".entry k() { .reg .u32 %r; add.u32 %r, %r, %laneid; }", "kernel k, add: a special register"),
        (".global .u32 WARP_SZ;", "WARP_SZ: a name"),
        (".func x();", "x: a function whose declarations"),
        (".entry x();", "x: a function whose declarations"),
        (".func x() { ret; } .func x();", "x: a function whose declarations"),
        (".func x(); .func (.reg .u32 r) x() { ret; }", "x: a function whose declarations"),
        (".func x(); .extern .entry x();", "x: a function whose declarations"),
        (".func x(.param .b32 a); .func x(.param .b64 a) { ret; }", "x: a function whose declarations"),
        (".common .const .u32 a;", "a: a linking directive .common outside .global"),
        (".const .u8 v[65536][2] = {{1}};", ".const: a size"),
        (".const .u8 v[40000]; .entry k() { .const .u8 w[40000]; ret; }", "w: a size"),
        (".entry k() { .const .u8 v[65537]; ret; }", "v: a size"),
        (".shared .u64 v<0x100000001>;", "<...>: a size"),
        (".entry k() { .shared .u64 v<1 + 1>; ret; }", "<...>: an expression"),
        (".global .align 4 + 4 .u32 v;", ".align: an expression"),
    ] {
        let (validity, parts) = of(text);
        assert_eq!(validity, Validity::Undecided, "{text}");
        assert!(parts.iter().any(|one| one.contains(part)), "{text}: {parts:?}");
    }
}

#[test]
fn the_numbers_of_unified_are_constants_and_the_same_in_all_declarations() {
    const HEADER: &str = ".version 8.3\n.target sm_90\n.address_size 64\n";
    let function = |first, then| {
        format!(".func .attribute(.unified({first})) f(); .func .attribute(.unified({then})) f() {{ ret; }}")
    };
    let variable = |numbers| format!(".global .attribute(.unified({numbers})) .f32 f;");
    for (text, expected) in [
        (function("0xAB, 0xCD", "0xAB, 0xCE"), Validity::Undecided),
        (function("0xAB, 0xCD", "0xAB, 0xCD"), Validity::Valid),
        (function("1 + 1, 2", "1 + 1, 2"), Validity::Undecided),
        (variable("-1, 0xffffffffffffffff"), Validity::Undecided),
        (variable("1 + 1, 2"), Validity::Undecided),
        (variable("1, 0xffffffffffffffff"), Validity::Valid),
        (".func .attribute(.nosuch) f() { ret; }".to_owned(), Validity::Undecided),
    ] {
        assert_eq!(validity(&format!("{HEADER}{text}")).0, expected, "{text}");
    }
}

#[test]
fn attributes_of_functions_are_unified_ones_of_device_functions() {
    let of = |target: &str, function: &str| {
        validity(&format!(".version 8.3\n.target {target}\n.address_size 64\n{function}")).0
    };
    for (target, function, expected) in [
        ("sm_90", ".func .attribute(.unified(1, 2)) f() { ret; }", Validity::Valid),
        ("sm_90", ".entry .attribute(.unified(1, 2)) k() { ret; }", Validity::Refused),
        ("sm_90", ".func .attribute(.managed) f() { ret; }", Validity::Refused),
        ("sm_90", ".func .attribute(.unified(1)) f() { ret; }", Validity::Refused),
        ("sm_80", ".func .attribute(.unified(1, 2)) f() { ret; }", Validity::Refused),
    ] {
        assert_eq!(of(target, function), expected, "{target} {function}");
    }
}

#[test]
fn a_header_of_another_form_is_undecided() {
    for text in [
        "",
        ".global .s32 a = 1;",
        ".version 7.8\n.global .s32 a = 1;",
        ".version 7.8\n.target sm_80, debug\n.address_size 64\n.global .s32 a = 1;",
        ".version 7.8\n.version 7.8\n.target sm_80\n",
        ".version 7.8\n.target sm_80\n.address_size 16\n.global .s32 a = 1;",
        ".version 7.8\n.target sm_80\n.address_size 643.surfref",
    ] {
        assert_eq!(validity(text).0, Validity::Undecided, "{text}");
    }
    assert_eq!(validity(".version 1.4\n.target sm_10\n.global .s32 a = 1;").0, Validity::Valid);
}

#[test]
fn instructions_of_early_versions_are_undecided() {
    let load = ".target sm_20\n.entry k() { .reg .u64 %d; .reg .u32 %r; ld.u32 %r, [%d]; }";
    for (version, expected) in [("1.4", Validity::Undecided), ("2.1", Validity::Valid)] {
        assert_eq!(validity(&format!(".version {version}\n{load}")).0, expected, "{version}");
    }
}

#[test]
fn refused_beats_undecided() {
    assert_eq!(of(".pragma \"x\"; .global .u32 a[1] = {1, 2};").0, Validity::Refused);
}

#[test]
fn parts_of_scalars_are_undecided_and_their_elements_refused() {
    let module = |source: &str| {
        format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.func f() {{ .reg .u32 r, s; .reg .v2 .u32 v; mov.u32 r, {source}; ret; }}"
        )
    };
    for (source, expected) in [
        ("s.b0", Validity::Undecided),
        ("s.h1", Validity::Undecided),
        ("s.x", Validity::Refused),
        ("v.nosuch", Validity::Refused),
    ] {
        assert_eq!(validity(&module(source)).0, expected, "{source}");
    }
}

#[test]
fn instructions_of_targets_before_sm_20_are_undecided() {
    let module = |target: &str, load: &str| {
        format!(".version 7.7\n.target {target}\n.entry k() {{ .reg .u32 r; {load} r, [r]; ret; }}")
    };
    let of = |target, load| validity(&module(target, load)).0;
    assert_eq!(of("sm_10", "ld.u32"), Validity::Undecided);
    assert_eq!(of("sm_20", "ld.u32"), Validity::Valid);
    assert_eq!(of("sm_10", "ld.global.u32"), Validity::Undecided);
}

/// 5.4.6 says no greatest count. What is in memory and too much to work out is undecided once, where it is declared.
#[test]
fn a_count_may_be_any_number_and_its_names_are_declared() {
    let uses = |count: u64, used: u64| {
        of(&format!(
            ".entry k() {{ .reg .b32 %r<{count}>; .reg .b32 q; mov.b32 %r{used}, 7; mov.b32 q, %r0; }}"
        ))
    };
    for count in [65_535, 65_536, 65_537, 108_752, 2_000_000_000] {
        assert_eq!(uses(count, count - 1), (Validity::Valid, vec![]), "{count}");
        assert_eq!(uses(count, count).0, Validity::Refused, "{count}");
    }
    let (_, parts) = uses(u64::MAX, u64::MAX - 1);
    assert_eq!(parts, ["<...>: a size that implementations need not have"]);
    let memory = of(".global .u32 s<65537>; .entry k() { .reg .u32 r; ld.global.u32 r, [s65536]; }");
    assert_eq!(memory.1, ["s: more than 2^16 parameterized names"]);
}

/// The texts do not give `.alias`, and so do not say what its name is.
#[test]
fn only_aliases_and_their_uses_are_undecided() {
    let module = ".func base() { ret; } .extern .func a1(); .alias a1, base; .global .u64 t = a1; .global .u64 u = base; \
        .entry k() { .reg .u64 d; mov.u64 d, a1; } .entry j() { .reg .u64 d; mov.u64 d, base; call base; } .entry l() { call a1; }";
    let reason = "a name that .alias gives, which the specification does not mention";
    let alias = ".alias: a directive that the specification does not describe".to_owned();
    let names = ["t", "kernel k, mov", "kernel l, call"].map(|part| format!("{part}: {reason}"));
    assert_eq!(of(module), (Validity::Undecided, [vec![alias], names.to_vec()].concat()));
    // Nor is its name one that nothing declares, without a prototype.
    let without = of(".func base() { ret; } .alias a1, base; .global .u64 t = a1;");
    assert_eq!(without.1[1], format!("t: {reason}"));
}

/// Whether a label hides a name of a scope around it in front of where it stands, the specification does not say.
#[test]
fn a_branch_to_a_label_below_that_has_the_name_of_something_else_is_undecided() {
    let several = "a: a name of which several are declared in scopes around it".to_owned();
    for (text, parts) in [
        (".entry a() { bra a; a: ret; }", vec![several.clone()]),
        (".global .u32 a; .entry k() { bra a; a: ret; }", vec![several.clone()]),
        (".entry k() { .reg .u32 a; { bra a; a: ret; } }", vec![several]),
        (".entry a() { a: bra a; }", vec![]),
        (".entry k() { bra a; a: ret; }", vec![]),
    ] {
        assert_eq!(of(text).1, parts, "{text}");
    }
}
