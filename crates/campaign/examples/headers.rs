//! Runs declarations of every kind with every version, target and address size on subjects, and counts
//! rejections of valid ones. The specification does not say which features a version or a target has, so a
//! rejection with an earlier one must not count.
//!
//! ```text
//! cargo run -p ptxsmith-campaign --example headers -- ptxas@13.5 ptxas@12.0
//! ```
//!
//! Exits with 1 if a subject rejects a valid program, or if we cannot parse one.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ptxsmith_campaign::judges::judge;
use ptxsmith_diff::{Class, Verdict};
use ptxsmith_oracle::{Rules, Validity, predict};
use ptxsmith_subject::process::Start;
use ptxsmith_subject::{OpenOptions, Subject, open, parse_spec};
use ptxsmith_syntax::parse;

/// The declarations, one for each program. The specification allows each of them for some version and target.
const DECLARATIONS: [&str; 46] = [
    ".global .u32 a = 1;",
    ".global .u8 a[3] = {1, 2, 3};",
    ".global .f64 a = 1.5;",
    ".global .f16 a;",
    ".global .f16x2 a;",
    ".global .b128 a;",
    ".global .v4 .f32 a = {1.0, 2.0, 3.0, 4.0};",
    ".const .u32 a = 3;",
    ".shared .u32 a[4];",
    ".global .u32 a<3>;",
    ".global .u32 a = WARP_SZ;",
    ".weak .global .u32 a = 1;",
    ".common .global .u32 a;",
    ".visible .global .u32 a = 1;",
    ".extern .global .u32 a;",
    ".global .attribute(.managed) .u32 a = 1;",
    ".global .attribute(.unified(1, 2)) .u32 a = 1;",
    ".global .texref a;",
    ".global .u32 g;\n.global .u64 a = g;",
    ".global .u32 g;\n.global .u32 a[2] = {g, 5};",
    ".global .u32 g;\n.global .u64 a = generic(g);",
    ".const .u32 c = 1;\n.global .u64 a = c;",
    ".const .u32 c = 1;\n.global .u64 a = generic(c);",
    ".global .u32 g;\n.global .u8 a[2] = {0xff(g), 0xff00(g)};",
    ".global .u8 a = 0xff(0x1234);",
    ".entry k() { ret; }\n.global .u64 a = k;",
    ".func f() { ret; }\n.global .u64 a = f;",
    ".func (.param .u32 r) f(.param .u32 p) { ret; }",
    ".func (.reg .u32 r) f(.reg .u32 p) { mov.u32 r, p; ret; }",
    ".func f(.reg .f16 p) { ret; }",
    ".func f(.reg .f16x2 p) { ret; }",
    ".func f(.reg .b128 p) { ret; }",
    ".func f(.param .b128 p) { ret; }",
    ".extern .func (.param .u32 r) f(.param .u64 p);",
    ".weak .func f() { ret; }",
    ".entry k(.param .u64 p, .param .f32 q, .param .align 8 .b8 r[24]) { ret; }",
    ".entry k() { .local .u32 a[4]; ret; }",
    ".entry k() { .global .u32 a = 1; ret; }",
    ".entry k() { .reg .f16 a; .reg .f64 d; ret; }",
    ".entry k() { .reg .b128 b; .reg .f16x2 c; ret; }",
    ".func f() { .shared .u32 a; ret; }",
    ".global .u32 g[4];\n.entry k() { .reg .u32 r; ld.global.u32 r, [g+4]; st.global.u32 [g], r; ret; }",
    ".global .u32 g[4];\n.entry k() { .reg .u64 r; mov.u64 r, g; ret; }",
    ".entry j() { ret; }\n.entry k() { .reg .u64 r; mov.u64 r, j; ret; }",
    ".func f() { ret; }\n.entry k() { call f; ret; }",
    ".func f() { ret; }\n.entry k() { .reg .u64 r; mov.u64 r, f; ret; }",
];
const VERSIONS: [&str; 11] = ["1.4", "2.0", "2.3", "3.1", "4.2", "5.0", "6.5", "7.1", "8.0", "8.3", "9.5"];
const TARGETS: [&str; 8] = ["sm_10", "sm_20", "sm_30", "sm_50", "sm_53", "sm_70", "sm_80", "sm_90"];
/// The versions to run with 32-bit addresses too.
const OF_32_BITS: [&str; 3] = ["2.3", "5.0", "8.0"];

fn main() -> ExitCode {
    let mut accused = 0;
    for name in std::env::args().skip(1) {
        let options = OpenOptions { start: Start::fork(), ..OpenOptions::default() };
        match parse_spec(&name)
            .map_err(|error| error.to_string())
            .and_then(|spec| open(&spec, &options).map_err(|unavailable| unavailable.to_string()))
        {
            Ok(subjects) => accused += subjects.iter().map(|subject| sweep(&**subject)).sum::<u64>(),
            Err(reason) => {
                eprintln!("{name}: {reason}");
                return ExitCode::FAILURE;
            }
        }
    }
    if accused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs all programs on one subject and returns the number of rejections of valid ones.
fn sweep(subject: &dyn Subject) -> u64 {
    let (mut counts, mut accused) = (BTreeMap::new(), 0);
    for (version, target, size, declaration) in programs() {
        let text = format!(".version {version}\n.target {target}\n{size}{declaration}\n");
        let Ok(module) = parse(&text) else {
            println!("not read:\n{text}");
            accused += 1;
            continue;
        };
        let validity = predict(&module, &Rules::default()).validity();
        // A rejection of any other program does not count.
        if validity != Validity::Valid {
            *counts.entry(format!("{validity:?}").to_lowercase()).or_insert(0_u64) += 1;
            continue;
        }
        let parts = match judge(subject, &Rules::default(), &module, &text) {
            Ok(verdicts) => verdicts.parts(),
            Err(error) => {
                println!("{error}");
                return 1;
            }
        };
        let refused = parts.iter().find_map(|part| match &part.verdict {
            Verdict::Deviates(found) if found.class == Class::RefusesValid => Some(&found.observed),
            _ => None,
        });
        if let Some(observed) = refused {
            accused += 1;
            let said = observed.diagnostics.iter().map(|diagnostic| &*diagnostic.message).next();
            println!("{}: {}\n{text}", subject.id(), said.unwrap_or_default());
        }
        let compared = parts.iter().any(|part| !matches!(part.verdict, Verdict::NotCompared(_)));
        let told = if compared { "valid, compared" } else { "valid, not compared" };
        *counts.entry(told.to_owned()).or_insert(0) += 1;
    }
    println!("{}: {accused} accused; {counts:?}", subject.id());
    accused
}

/// Returns every combination of version, target, address size and declaration.
fn programs() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    VERSIONS.into_iter().flat_map(|version| {
        TARGETS.into_iter().flat_map(move |target| {
            let narrow = OF_32_BITS.contains(&version).then_some(".address_size 32\n");
            // The directive `.address_size` exists since version 2.3.
            let usual = if ["1.4", "2.0"].contains(&version) { "" } else { ".address_size 64\n" };
            [usual].into_iter().chain(narrow).flat_map(move |size| {
                DECLARATIONS.into_iter().map(move |declaration| (version, target, size, declaration))
            })
        })
    })
}
