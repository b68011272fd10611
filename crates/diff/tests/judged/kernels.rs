//! Kernels in the shape of real code are followed on a warp, with loops, divergent branches and memory that
//! the lanes share.

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict};
use ptxsmith_oracle::{Expectation, Rules, expect, predict_results};
use ptxsmith_syntax::parse;
use ptxsmith_testing::showing_code;

/// Of these a quarter runs on a warp.
const INPUTS: u64 = 16;
const COMMON: &str = include_str!("../kernels/common.ptx");

#[test]
fn kernels_as_people_write_them_are_followed_and_agree() {
    let mut astray = Vec::new();
    for target in ["sm_75", "sm_90"] {
        let text = COMMON.replace("sm_75", target).replace(".version 7.0", ".version 7.8");
        let calculations = Calculations::new(parse(&text).unwrap(), &Rules::default(), INPUTS).unwrap();
        for name in ["ptxas@13.5", "ptxas@13.5 -O0", "ptxas@12.9", "ptxas@12.9 -O0"] {
            let Some(subject) = showing_code(name) else { return };
            let judged = calculations.judge(&*subject, &text, target).unwrap();
            assert!(judged.kernels.len() >= 30, "{name} {target}: {:?}", judged.observation.diagnostics);
            // Code of -O0 compares its stack with a limit that only the driver knows.
            let is_unseen = |kernel: &str| kernel == "own_memory" && name.ends_with("-O0");
            let others = judged.kernels.iter().filter(|(_, verdict)| *verdict != KernelVerdict::Agrees);
            let others = others.filter(|(kernel, _)| !is_unseen(kernel));
            astray.extend(others.map(|(kernel, verdict)| format!("{name} {target} {kernel}: {verdict:?}")));
        }
    }
    assert!(astray.is_empty(), "{astray:#?}");
}

#[test]
fn the_runs_of_these_kernels_have_lanes() {
    let Expectation::Accepted { variables, .. } = expect(&parse(COMMON).unwrap(), &Rules::default()) else {
        panic!("the kernels are not accepted")
    };
    for kernel in predict_results(&parse(COMMON).unwrap(), &variables, &Rules::default(), INPUTS) {
        let runs = kernel.runs.unwrap();
        let on_warps = runs.iter().flatten().filter(|run| run.setting.lanes.len() == 32).count();
        assert!(on_warps >= 2, "{}", kernel.name);
    }
}

/// The sum `x + 5` wraps before 7 is added with saturation; ptxas makes one saturating sum of both.
const WRONG: &str = "add.s32 %r6, %r5, 5;\n add.sat.s32 %r10, %r6, 7;";

/// A kernel `out[tid] = f(in[tid])`.
fn dressed(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_75\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r4, %tid.x;
  mul.wide.u32 %d5, %r4, 4;
  add.s64 %d6, %d3, %d5;
  add.s64 %d7, %d4, %d5;
  ld.global.u32 %r5, [%d6];
  {body}
  st.global.u32 [%d7], %r10;
  ret;
}}
"
    )
}

#[test]
fn wrong_code_is_found_in_the_dress_of_real_code() {
    let behind_a_branch =
        format!("mov.u32 %r10, %r4;\n setp.lt.u32 %p1, %r4, 9;\n @%p1 bra L;\n {WRONG}\n L:");
    let in_a_loop = format!(
        "mov.u32 %r8, 0;\n M: {WRONG}\n xor.b32 %r5, %r10, %r8;\n add.s32 %r8, %r8, 1;
  setp.lt.u32 %p1, %r8, %r4;\n @%p1 bra M;"
    );
    let Some(subject) = showing_code("ptxas@13.5") else { return };
    for (body, is_right) in [
        (WRONG.to_owned(), false),
        (behind_a_branch, false),
        (in_a_loop, false),
        ("add.sat.s32 %r10, %r5, 12;".to_owned(), true),
    ] {
        let text = dressed(&body);
        let calculations = Calculations::new(parse(&text).unwrap(), &Rules::default(), INPUTS).unwrap();
        let judged = calculations.judge(&*subject, &text, "sm_75").unwrap();
        let verdict = &judged.kernels[0].1;
        match is_right {
            true => assert_eq!(*verdict, KernelVerdict::Agrees, "{text}"),
            false => assert!(matches!(verdict, KernelVerdict::Differs(_)), "{text}{verdict:?}"),
        }
    }
}
