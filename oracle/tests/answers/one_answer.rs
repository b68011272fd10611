//! What a kernel leaves and what is said of its instructions is one answer, for one reason: over programs that were reported, the
//! corpus, and the corpus with operands, types and opcodes changed. `eval`, `check` and `lint` all show it.

use std::{fs, path::Path};

use crate::common::{HEADER, described};
use ptxsmith_oracle::{Expectation, KernelOutcome, Prediction, Rules, Validity, predict};
use ptxsmith_syntax::parse;

const FORM: &str = "an instruction in a form that is not modelled";
const OPERAND: &str = "an operand in a form that is not modelled";
const TYPES: &str = "an instruction with operands of types that are not modelled";
const MISALIGNED: &str = "an access that is not aligned, which is undefined";
const MAY_BE_MISALIGNED: &str = "an access that may be misaligned";

/// The reasons that are one instruction's, whatever was executed before it.
const OF_FORM: [&str; 5] =
    [FORM, OPERAND, TYPES, "an instruction that is not modelled", "a name that nothing declares"];

/// What is said of a program: the class of its refusal, or of its first kernel what it leaves or why that is not known, and the reasons for
/// what is not decided.
fn said(text: &str) -> (String, Vec<&'static str>) {
    let prediction = predict(&parse(text).unwrap(), &Rules::default());
    let reasons = prediction.undecided.iter().map(|part| part.reason).collect();
    let said = match &prediction.data {
        Expectation::Refused { refusal, .. } => format!("{} {}", refusal.class.name(), refusal.clause),
        _ => match &prediction.kernels[0].outcome {
            KernelOutcome::Output(output) => described(output),
            KernelOutcome::Unmodelled(reason) => (*reason).to_owned(),
        },
    };
    (said, reasons)
}

#[test]
fn reported_programs_are_answered_as_the_texts_say() {
    let shapes: [(&str, &str, &str, &[&str]); 12] = [
        // 6.4.1.1: `.const` is a window, and its second element is 2.
        (
            ".const .u32 a[4] = {1,2,3,4};",
            ".reg .u32 r; ld.u32 r, [a+4]; st.global.u32 [p], r;",
            "02000000",
            &[],
        ),
        // 6.4.3: neither is a vector of registers, nor a list of scalars.
        (
            "",
            ".reg .v2 .u32 V; mov.v2.u32 V, 5; st.global.v2.u32 [p], V;",
            "vector-list 6.4.3/vector-access",
            &[],
        ),
        (".global .u32 a;", "st.global.v2.u32 [p], {a, 1};", "vector-list 6.4.3/vector-access", &[]),
        // The buffer is zero before, so that 0 == 5 decides; then 2^32, which is true (4.5.3).
        (
            "",
            ".reg .u32 r, x; ld.global.u32 x, [p]; set.eq.and.u32.u32 r, x, 5, 0x100000000; st.global.u32 [p], r;",
            "00000000",
            &[],
        ),
        (
            "",
            ".reg .u32 r, x; ld.global.u32 x, [p]; set.eq.and.u32.u32 r, x, 0, 0x100000000; st.global.u32 [p], r;",
            "ffffffff",
            &[],
        ),
        // PTX manual, 9.7.7.9: a shift by more than the width is one by the width.
        ("", ".reg .u16 h, g; ld.global.u16 g, [p]; shr.u16 h, g, 65536; st.global.u16 [p], h;", "0000", &[]),
        (
            "",
            ".reg .b16 %rs<4>; .reg .b32 %r1; ld.global.u8 %rs1, [p]; ld.global.u8 %rs2, [p+1]; \
             add.s32 %r1, %rs1, %rs2; st.global.u32 [p+4], %r1;",
            TYPES,
            &[TYPES],
        ),
        ("", ".reg .f32 %f<4>; mov.f32 %f1, 10; st.global.f32 [p], %f1;", "value-kind 5.4.4/value-kind", &[]),
        (".global .f32 a = 10;", "", "value-kind 5.4.4/value-kind", &[]),
        (
            "",
            ".local .align 4 .b8 loc[32]; .reg .f32 %f<4>; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; \
             st.local.v2.f32 [loc+4], {%f1, %f2};",
            MISALIGNED,
            &[MISALIGNED],
        ),
        (
            "",
            ".shared .align 4 .b8 sh[32]; .reg .f32 %f<4>; st.shared.v2.f32 [sh+8], {%f1, %f2};",
            MAY_BE_MISALIGNED,
            &[MAY_BE_MISALIGNED],
        ),
        // A comparison with a NaN does not hold, so that its negation does.
        (
            "",
            ".reg .b32 %r1; .reg .pred %p1; setp.lt.f32 %p1, 0f7FC00000, 0f3F800000; \
             selp.s32 %r1, -2147483648, 7, !%p1; st.global.u32 [p], %r1;",
            "00000080",
            &[],
        ),
    ];
    for (items, body, expected, reasons) in shapes {
        let text = format!(
            "{HEADER}{items}\n.visible .entry k(.param .u64 P) {{ .reg .u64 p; ld.param.u64 p, [P]; {body} ret; }}"
        );
        assert_eq!(said(&text), (expected.to_owned(), reasons.to_vec()), "{text}");
    }
}

/// What of a prediction is two answers, or one for two reasons.
fn disagreement(text: &str, prediction: &Prediction) -> Option<String> {
    if prediction.validity() == Validity::Refused {
        return (!prediction.kernels.is_empty()).then(|| "a refused program has kernels".to_owned());
    }
    // Whatever stands behind a branch, a guard or the end need not be executed.
    let is_straight = !["bra", "brx", "@", "exit", "trap", "brkpt"].iter().any(|word| text.contains(word));
    for kernel in &prediction.kernels {
        let own = |part: &str| {
            part.starts_with(&format!("kernel {},", kernel.name)) || part.starts_with("function ")
        };
        let parts = prediction.undecided.iter().filter(|part| own(&part.part));
        let reasons: Vec<&str> = parts.map(|part| part.reason).collect();
        let kept =
            prediction.undecided.iter().any(|part| part.reason == "an instruction that is not modelled");
        match &kernel.outcome {
            KernelOutcome::Output(_) if is_straight && reasons.contains(&TYPES) => {
                return Some(format!("{} leaves something: {reasons:?}", kernel.name));
            }
            KernelOutcome::Unmodelled(reason) if reason.contains("refused") => {
                return Some(format!("{}: {reason}, of what is not refused", kernel.name));
            }
            KernelOutcome::Unmodelled(reason)
                if OF_FORM.contains(reason) && !kept && !reasons.contains(reason) =>
            {
                return Some(format!("{}: {reason}, but {reasons:?}", kernel.name));
            }
            _ => {}
        }
    }
    None
}

/// What is put in the place of what, one at a time.
const CHANGES: &[(&str, &[&str])] = &[
    (".u32", &[".u16", ".u64", ".f32", ".b32", ".pred", ".b128"]),
    (".u64", &[".u32", ".s64", ".f64"]),
    (".u16", &[".u8", ".f16"]),
    (".b32", &[".b16", ".f32"]),
    (".f32", &[".f64", ".u32"]),
    (".pred", &[".u32"]),
    (".v2", &[".v4", ""]),
    (".global", &[".shared", ".const", "", ".local"]),
    (".const", &["", ".global"]),
    ("mov", &["ld", "add", "cvta"]),
    ("add", &["mov", "setp.lt", "shl", "mul.lo"]),
    ("ld", &["st"]),
    ("[", &["", "{"]),
    ("+", &["-", ","]),
    (" 1", &[" 1.0", " r0", " 4294967296", " -1", " !1"]),
    (" 4", &[" 4.0", " 3", " 0x100000000"]),
    (", ", &[", !", ", 5, ", ", x + "]),
];

#[test]
fn a_kernel_and_its_instructions_have_one_answer_for_one_reason() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")];
    let (mut programs, mut failures) = (0, Vec::new());
    let mut ask = |name: &str, text: &str| {
        let Ok(module) = parse(text) else { return };
        let prediction = predict(&module, &Rules::default());
        programs += usize::from(!prediction.kernels.is_empty());
        if let Some(failure) = disagreement(text, &prediction) {
            failures.push(format!("{failure}\n{name}\n{text}"));
        }
    };
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the corpus is there") {
            let path = entry.expect("the corpus can be listed").path();
            if path.is_dir() {
                // Programs that kill a compiler are for other tests.
                if !path.ends_with("deviations") {
                    folders.push(path);
                }
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            // The declarations are for other tests, and most cases have nothing else.
            let Some((head, body)) = text.split_once(".entry") else { continue };
            let name = path.display().to_string();
            ask(&name, &text);
            for (from, all) in CHANGES {
                for (at, _) in body.match_indices(from) {
                    for to in *all {
                        let (before, after) = (&body[..at], &body[at + from.len()..]);
                        ask(&name, &format!("{head}.entry{before}{to}{after}"));
                    }
                }
            }
        }
    }
    assert!(programs > 2_000, "only {programs} programs with kernels");
    let shown: Vec<&str> = failures.iter().map(String::as_str).take(5).collect();
    assert!(failures.is_empty(), "{} of {programs}:\n{}", failures.len(), shown.join("\n\n"));
}
