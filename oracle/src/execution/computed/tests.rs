use ptxsmith_syntax::{StateSpace, parse};

use super::*;
use crate::{Expectation, expect};

/// Returns the first words that a kernel with this body leaves, over the first inputs.
fn left(body: &str) -> Result<Vec<Option<Vec<Option<u8>>>>, &'static str> {
    let text = format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{{\n\
         .reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\n\
         ld.param.u32 %r1, [n];\n{body}\nret;\n}}\n"
    );
    let module = parse(&text).unwrap();
    let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
        panic!("{text}")
    };
    let kernel = predict_results(&module, &variables, &Rules::default(), 5).remove(0);
    let bytes = |run: Option<MemoryEffects>| {
        let MemoryEffects { setting, written, .. } = run?;
        let out = u64::from_le_bytes(setting.parameters[0].1.clone().try_into().unwrap());
        Some((0..4).map(|nth| written.get(&(StateSpace::Global, out + nth)).copied().flatten()).collect())
    };
    Ok(kernel.runs?.into_iter().map(bytes).collect())
}

/// Like `left`, for kernels that leave a number over every input.
fn words(body: &str) -> Vec<u32> {
    let word = |bytes: Option<Vec<Option<u8>>>| {
        let bytes: Option<Vec<u8>> = bytes.unwrap().into_iter().collect();
        u32::from_le_bytes(bytes.unwrap().try_into().unwrap())
    };
    left(body).unwrap().into_iter().map(word).collect()
}

#[test]
fn inputs_begin_with_corners_and_predicates_and_branches_are_followed() {
    assert_eq!(words("st.global.u32 [%rd1], %r1;"), [0, u32::MAX, 1, 0x8000_0000, 0x7fff_ffff]);
    let guarded = "setp.lt.s32 %p1, %r1, 0;\nmov.u32 %r2, 5;\n@%p1 mov.u32 %r2, 6;\n@!%p1 bra DONE;\n\
                   add.s32 %r2, %r2, 1;\nDONE:\nst.global.u32 [%rd1], %r2;";
    assert_eq!(words(guarded), [5, 7, 5, 7, 5]);
    let saturated = "add.s32 %r2, %r1, 5;\nadd.sat.s32 %r2, %r2, 7;\nst.global.u32 [%rd1], %r2;";
    assert_eq!(words(saturated), [12, 11, 13, 0x8000_000c, 0x8000_000b]);
}

#[test]
fn logic_on_predicates_is_followed() {
    let chosen = |logic: &str| {
        words(&format!(
            "setp.lt.s32 %p1, %r1, 0;\nsetp.gt.u32 %p2, %r1, 1;\n{logic}\nselp.u32 %r2, 7, 9, %p3;\n\
             st.global.u32 [%rd1], %r2;"
        ))
    };
    // The inputs are 0, -1, 1, and the least and the greatest signed number.
    assert_eq!(chosen("and.pred %p3, %p1, %p2;"), [9, 7, 9, 7, 9]);
    assert_eq!(chosen("or.pred %p3, %p1, %p2;"), [9, 7, 9, 7, 7]);
    assert_eq!(chosen("xor.pred %p3, %p1, %p2;"), [9, 9, 9, 9, 7]);
    assert_eq!(chosen("not.pred %p3, %p2;"), [7, 9, 7, 9, 9]);
    assert!(left("cnot.pred %p1, %p2;\nst.global.u32 [%rd1], 1;").is_err());
    // A predicate that was never set.
    let unknown = "not.pred %p3, %p4;\nselp.u32 %r2, 7, 9, %p3;\nst.global.u32 [%rd1], %r2;";
    assert!(!matches!(left(unknown).as_deref(), Ok([Some(bytes), ..]) if bytes[0].is_some()));
}

#[test]
fn carries_pass_from_one_instruction_to_the_next() {
    let sum = "add.cc.u32 %r2, %r1, 1;\naddc.u32 %r3, 0, 0;\nst.global.u32 [%rd1], %r3;";
    assert_eq!(words(sum), [0, 1, 0, 0, 0]);
    let difference = "sub.cc.u32 %r2, %r1, 1;\nsubc.u32 %r3, 0, 0;\nst.global.u32 [%rd1], %r3;";
    assert_eq!(words(difference), [u32::MAX, 0, 0, 0, 0]);
    let product = "mad.lo.cc.u32 %r2, %r1, 2, 1;\nmadc.hi.u32 %r3, %r1, 2, 0;\nst.global.u32 [%rd1], %r3;";
    assert_eq!(words(product), [0, 1, 0, 1, 0]);
    let nothing = left("sub.cc.u32 %r2, %r1, 1;\naddc.u32 %r3, 0, 0;\nst.global.u32 [%rd1], %r3;").unwrap();
    assert_eq!(nothing[0], Some(vec![None; 4]), "how a difference leaves a carry for a sum is not said");
}

#[test]
fn undefined_results_are_unknown_and_unmodelled_forms_end_the_kernel() {
    let quotient = left("div.u32 %r2, 8, %r1;\nst.global.u32 [%rd1], %r2;").unwrap();
    assert_eq!(quotient[0], Some(vec![None; 4]));
    assert_eq!(quotient[2], Some(vec![Some(8), Some(0), Some(0), Some(0)]));
    let chosen = "div.u32 %r2, 8, %r1;\nsetp.eq.u32 %p1, %r2, 8;\n@%p1 st.global.u32 [%rd1], %r2;";
    assert_eq!(left(chosen).unwrap()[0], None);
    assert!(left("frob.u32 %r2, %r1, %r1;\nst.global.u32 [%rd1], %r2;").is_err());
    assert!(left("add.frob.u32 %r2, %r1, %r1;\nst.global.u32 [%rd1], %r2;").is_err());
}

#[test]
fn conversions_saturate_and_logic_gives_predicates() {
    assert_eq!(words("cvt.sat.u8.s32 %r2, %r1;\nst.global.u32 [%rd1], %r2;"), [0, 0, 1, 0, 255]);
    assert_eq!(words("cvt.s8.s32 %r2, %r1;\nst.global.u32 [%rd1], %r2;"), [0, u32::MAX, 1, 0, u32::MAX]);
    let logic = "setp.ne.u32 %p1, 0, 0;\nlop3.or.b32 %r2|%p2, %r1, 1, 0, 0xc0, %p1;\nselp.u32 %r2, 7, 9, %p2;\n\
                 st.global.u32 [%rd1], %r2;";
    assert_eq!(words(logic), [9, 7, 7, 9, 7]);
}

#[test]
fn results_that_depend_on_places_or_the_thread_differ_when_displaced() {
    let elsewhere = |body: &str| {
        let text = format!(
            ".version 8.3\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.visible .entry k(.param .u64 out, .param .u64 in)\n{{\n\
             .reg .pred %p;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\n\
             ld.param.u64 %rd2, [in];\n{body}\nret;\n}}\n"
        );
        let (module, rules) = (parse(&text).unwrap(), Rules::default());
        let Expectation::Accepted { variables, .. } = expect(&module, &rules) else { panic!("{text}") };
        let kernels = predict_results(&module, &variables, &rules, 6);
        assert!(kernels[0].runs.is_ok(), "{:?}", kernels[0].runs);
        are_independent_of_place(&kernels, &module, &variables, &rules)[0]
    };
    assert!(elsewhere("ld.global.u32 %r1, [%rd2+4];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd1+8], %r1;"));
    assert!(elsewhere("and.b64 %rd3, %rd2, 255;\nst.global.u64 [%rd1], %rd3;"), "both are aligned");
    assert!(!elsewhere("st.global.u64 [%rd1], %rd2;"), "a place");
    assert!(!elsewhere("shr.u64 %rd3, %rd2, 40;\nst.global.u64 [%rd1], %rd3;"), "its upper half");
    assert!(!elsewhere("sub.u64 %rd3, %rd2, %rd1;\nst.global.u64 [%rd1], %rd3;"), "a distance");
    assert!(!elsewhere("mov.u64 %rd3, g;\nst.global.u64 [%rd1], %rd3;"), "a variable");
    assert!(!elsewhere("mov.u32 %r1, %tid.x;\nst.global.u32 [%rd1], %r1;"), "the thread");
    let branch =
        "mov.u32 %r1, %ctaid.x;\nand.b32 %r1, %r1, 1;\nsetp.eq.u32 %p, %r1, 0;\n@%p st.global.u32 [%rd1], 5;";
    assert!(!elsewhere(branch), "the way that it takes");
}

#[test]
fn atomic_instructions_change_memory_and_return_the_old_value() {
    let text =
        |instruction: &str| format!("st.global.u32 [%rd1], 5;\n{instruction}\nst.global.u32 [%rd1+4], %r1;");
    assert_eq!(words(&text("red.global.add.u32 [%rd1], %r1;")), [5, 4, 6, 0x8000_0005, 0x8000_0004]);
    assert_eq!(words(&text("red.global.max.s32 [%rd1], %r1;")), [5, 5, 5, 5, 0x7fff_ffff]);
    assert_eq!(words(&text("red.global.inc.u32 [%rd1], %r1;")), [0, 6, 0, 6, 6]);
    assert_eq!(words(&text("red.global.dec.u32 [%rd1], %r1;")), [0, 4, 1, 4, 4]);
    let swap = "st.global.u32 [%rd1], 1;\natom.relaxed.gpu.global.cas.b32 %r2, [%rd1], %r1, 9;";
    assert_eq!(words(swap), [1, 1, 9, 1, 1]);
    assert_eq!(words(&format!("{swap}\nst.global.u32 [%rd1], %r2;")), [1; 5]);
    assert!(left("atom.global.add.f32 %r2, [%rd1], 1;").is_err());
}

#[test]
fn lanes_that_meet_get_values_of_each_other() {
    // Every lane stores to a place of its own; the first lane's word is compared.
    let first = |body: &str| {
        let stores = "mov.u32 %r2, %tid.x;\nadd.u32 %r2, %r2, 3;\nmov.u32 %r4, %tid.x;\nmul.wide.u32 %rd2, %r4, 8;\n\
                      add.u64 %rd2, %rd1, %rd2;";
        words(&format!("{stores}\n{body}\nst.global.u32 [%rd2], %r3;"))[0]
    };
    assert_eq!(first("shfl.sync.down.b32 %r3, %r2, 2, 31, -1;"), 5);
    assert_eq!(first("shfl.sync.up.b32 %r3|%p1, %r2, 2, 0, -1;\n@%p1 mov.u32 %r3, 0;"), 3);
    assert_eq!(first("shfl.sync.idx.b32 %r3, %r2, 9, 0x181f, -1;"), 4, "segments of eight lanes");
    assert_eq!(first("setp.lt.u32 %p1, %r2, 6;\nvote.sync.ballot.b32 %r3, %p1, -1;"), 7);
    assert_eq!(
        first("setp.lt.u32 %p1, %r2, 6;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r3, 1, 0, %p2;"),
        0
    );
    assert_eq!(first("and.b32 %r2, %r2, 1;\nmatch.any.sync.b32 %r3, %r2, -1;"), 0x5555_5555);
    assert_eq!(first("match.all.sync.b32 %r3|%p1, %r2, -1;"), 0);
    assert_eq!(first("redux.sync.min.s32 %r3, %r2, -1;"), 3);
    assert_eq!(first("redux.sync.add.u32 %r3, %r2, -1;"), 31 * 16 + 3 * 32);
    // Which lanes take part must be known, and all must come.
    assert!(left("shfl.sync.idx.b32 %r3, %r1, 0, 31, 1;\nst.global.u32 [%rd1], %r3;").is_err());
    let some = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 vote.sync.any.pred %p2, %p1, -1;";
    assert!(left(&format!("{some}\nst.global.u32 [%rd1], 1;")).is_err());
}

#[test]
fn non_coherent_loads_after_a_store_are_unknown() {
    let read = |how: &str| {
        left(&format!(
            "st.global.u32 [%rd1], 7;\nld.global{how}.u32 %r2, [%rd1];\nst.global.u32 [%rd1], %r2;"
        ))
    };
    assert_eq!(read(".nc").unwrap()[0], Some(vec![None; 4]));
    assert_eq!(read("").unwrap()[0], Some(vec![Some(7), Some(0), Some(0), Some(0)]));
}
