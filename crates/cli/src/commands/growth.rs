//! Tests that the cost of `eval` and `lint` grows linearly with the size of the program, whichever construct
//! is repeated.

use ptxsmith_campaign::input::InputProgram;
use ptxsmith_oracle::{Rules, predict};

use super::{eval, lint};

/// Constructs that are repeated at module scope; `#` stands for the number of the repetition.
const AT_MODULE_SCOPE: &[&str] = &[
    ".file # \"a.cu\"",
    ".pragma \"p\";",
    ".alias a#, f;",
    ".section .debug_# { .b8 1 }",
    ".extern .func e#(.param .b32 x);",
    ".entry k#() { ret; }",
    ".func g#() { mov.u32 r, nosuch; }",
    ".global .u32 v# = #;",
    ".global .u32 s# = #;\n.entry h#(.param .u64 p) { .reg .u64 a; .reg .u32 r; ld.param.u64 a, [p]; \
     ld.global.u32 r, [s#]; st.global.u32 [s#], r; st.global.u32 [a], r; ret; }",
    ".global .u64 p# = generic(v);",
    ".global .u64 q# = generic(w#);\n.global .u32 w#;",
    ".global .u32 n#_<2>;",
    ".global .u32 same;",
    ".global .texref t#;",
    ".common .const .u32 c#;",
    ".global .u32 a.#;",
    ".global .attribute(.managed) .align 8 .u32 m# = 3;",
    ".global .u32 i#[2][2] = {{1}, {3}};",
    ".global .u32 j# = 1; ",
    "// é\n.global .u32 l# = 1 << 65;",
];

/// Constructs that are repeated in a function body.
const IN_FUNCTIONS: &[&str] = &[
    ".loc 1 # 0",
    ".pragma \"p\";",
    "p#: .callprototype _ (.param .b32 _);",
    "call.uni f, (r);",
    "call (r), nosuch#, (r), p;",
    "cvta.to.global.u64 a, a;",
    "cvta.u64 a, nosuch#;",
    "mov.u32 r, nosuch#;",
    "mov.u32 r, %tid.x;",
    "ld.global.v2.u32 {r, _}, [a];",
    "atom.add.u32 r, [a], 1;",
    "L#: bra L#;",
    "{ .reg .u32 x; mov.u32 x, 1; }",
    ".reg .u32 r#;",
    ".reg .u32 s#_<4>;",
    "st.global.u32 [a+4], r;",
    ".frob #;",
    "ld.shared.u32 r, [v.b];",
    "\"s\";",
];

fn program(at_module_scope: bool, repeated: &str, count: usize) -> String {
    let separator = if repeated.ends_with(' ') { "" } else { "\n" };
    let all: String = (0..count).map(|nth| repeated.replace('#', &nth.to_string()) + separator).collect();
    let (outside, inside) = if at_module_scope { (&*all, "") } else { ("", &*all) };
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 v;\n{outside}\n.func f() {{ ret; }}\n\
         .entry k(.param .u64 o) {{\n.reg .u32 r;\n.reg .u64 a;\nld.param.u64 a, [o];\n{inside}\nret;\n}}\n"
    )
}

/// Returns the number of allocations and of allocated bytes of `eval`, `eval --json` and `lint` together.
fn costs(text: &str) -> [u64; 2] {
    let info = allocation_counter::measure(|| {
        let program = InputProgram::parse("f".to_owned(), text.to_owned()).unwrap();
        let rules = Rules::default();
        let prediction = predict(&program.module, &rules);
        for json in [false, true] {
            eval::text(&program, &prediction, &rules, json, true).unwrap();
        }
        eval::not_decided(&program, &prediction);
        lint::of_program(&program, "f", &[], true);
    });
    [info.count_total, info.bytes_total]
}

/// Doubling a program must add about twice the cost that the previous doubling added. A factor of four would
/// be quadratic.
#[test]
fn costs_grow_in_proportion_to_the_program() {
    let shapes = AT_MODULE_SCOPE.iter().map(|shape| (true, shape));
    let shapes: Vec<_> = shapes.chain(IN_FUNCTIONS.iter().map(|shape| (false, shape))).collect();
    assert!(shapes.len() >= 25);
    let mut steep = Vec::new();
    // Warm up: data that is read only once, such as the list of known deviations, must not count.
    costs(&program(true, AT_MODULE_SCOPE[0], 1));
    for (at_module_scope, shape) in shapes {
        let [small, middle, large] =
            [100, 200, 400].map(|count| costs(&program(at_module_scope, shape, count)));
        for (kind, name) in ["allocations", "bytes"].into_iter().enumerate() {
            let first = middle[kind] - small[kind];
            let second = large[kind] - middle[kind];
            if second as f64 > 2.7 * first as f64 {
                steep.push(format!("{shape}: {name} {first}, then {second}"));
            }
        }
    }
    assert!(steep.is_empty(), "{}", steep.join("\n"));
}
