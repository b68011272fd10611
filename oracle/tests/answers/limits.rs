//! What a few letters declare does not take all memory.

use ptxsmith_oracle::{Expectation, MAX_BYTES, Rules, expect};

/// How many variables are worked out, the bytes that they take, and why others are not.
fn worked_out(declarations: &str) -> (usize, u64, Vec<&'static str>) {
    let text = format!(".version 7.0\n.target sm_80\n.address_size 64\n{declarations}");
    let module = ptxsmith_syntax::parse(&text).unwrap();
    let Expectation::Accepted { variables, unmodelled, .. } = expect(&module, &Rules::default()) else {
        panic!("{declarations} is not accepted")
    };
    let bytes = variables.iter().map(|variable| variable.bytes.len() as u64).sum();
    (variables.len(), bytes, unmodelled.into_iter().map(|one| one.reason).collect())
}

#[test]
fn the_arrays_of_a_module_are_worked_out_up_to_a_limit_for_all_of_them() {
    let arrays: String = (0..100).map(|n| format!(".global .b8 a{n}[100000000];\n")).collect();
    let (variables, bytes, left_out) = worked_out(&format!("{arrays}.global .s32 x = 1;"));
    assert_eq!((variables, bytes), (3, 200_000_004));
    assert_eq!(left_out, ["the content of variables of more than 2^28 bytes"; 98]);
    assert_eq!(worked_out(&format!(".const .b8 a[{MAX_BYTES}];")).1, MAX_BYTES);
}

#[test]
fn so_are_parameterized_names_but_for_those_that_hold_nothing_at_module_scope() {
    let names = ".global .b8 a<60000>, b<5536>;\n.global .s32 c<1>;\n.global .s32 x = 1;";
    assert_eq!(worked_out(names), (65_537, 65_540, vec!["more than 2^16 parameterized names"]));
    let registers: String = (0..30).map(|n| format!(".reg .b32 r{n}_<1000000>;\n")).collect();
    let kernel = format!(".global .s32 x = 1;\n.entry k() {{\n{registers}ret;\n}}");
    assert_eq!(worked_out(&kernel), (1, 4, vec![]));
}

/// 2^62 + 1 words take 2^64 + 4 bytes, for which the largest number stands.
#[test]
fn of_a_larger_array_the_layout_alone_is_worked_out() {
    let sizes = |declarations: &str| {
        let module = ptxsmith_syntax::parse(&format!(".version 7.0\n.target sm_80\n{declarations}")).unwrap();
        let Expectation::Accepted { variables, unmodelled, .. } = expect(&module, &Rules::default()) else {
            panic!("{declarations} is not accepted")
        };
        let layouts = variables.iter().map(|own| (own.size, own.align, own.has_content()));
        (layouts.collect::<Vec<_>>(), unmodelled.len())
    };
    let small = ".global .u8 x;";
    assert_eq!(
        sizes(&format!("{small} .global .u32 a[65536][65536];")),
        (vec![(1, 1, true), (1 << 34, 4, false)], 1)
    );
    assert_eq!(
        sizes(&format!("{small} .const .v2 .u64 a[1 << 60];")),
        (vec![(1, 1, true), (u64::MAX, 16, false)], 1)
    );
    assert_eq!(sizes(".global .u32 a[4611686018427387905];"), (vec![(u64::MAX, 4, false)], 1));
    assert_eq!(
        sizes(&format!("{small} .global .u8 a[1 << 40] = {{1}};")),
        (vec![(1, 1, true), (1 << 40, 1, false)], 1)
    );
}
