//! What instructions make of integers (9.7.1, 9.7.8 of the public manual), held against the code that a real
//! ptxas makes of them.
//!
//! Values are compared where the code is followed: it is not through high halves of products (`IMAD.HI`) and
//! saturated sums.

use ptxsmith_diff::{PartVerdict, Verdict, judge_operands};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::{OpenOptions, open, parse_spec};

const SUBJECT: &str = "ptxas@13.5";

/// Instructions that set `%r`, or `%w` of 64 bits, from `%a` and `%b`, which are read from memory.
const NARROW: [&str; 16] = [
    "add.u32 %r, %a, %b",
    "sub.u32 %r, %a, %b",
    "add.sat.s32 %r, %a, 0x7fffffff",
    "sub.sat.s32 %r, %a, 0x80000000",
    "add.sat.s32 %r, %a, %b",
    "mul.lo.u32 %r, %a, %b",
    "mul.hi.u32 %r, %a, 0x87654321",
    "mul.hi.s32 %r, %a, 0x87654321",
    "mad.hi.u32 %r, %a, 0x87654321, %b",
    "mad.lo.u32 %r, %a, %b, 77",
    "min.s32 %r, %a, %b",
    "max.u32 %r, %a, %b",
    "neg.s32 %r, %a",
    "not.b32 %r, %a",
    "shr.s32 %r, %a, 3",
    "xor.b32 %r, %a, %b",
];
const WIDE: [&str; 4] = [
    "mul.wide.u32 %w, %a, 0x87654321",
    "mul.wide.s32 %w, %a, 0x87654321",
    "mul.hi.u64 %w, %v, 0x8765432187654321",
    "mad.wide.u32 %w, %a, %b, %v",
];

#[test]
fn code_of_calculations_stores_the_results_of_the_instruction_table() {
    let options = OpenOptions::default();
    let toolchains = Toolchains::for_user().ok();
    let subject = open(&parse_spec(SUBJECT).unwrap(), &options);
    let (Ok(mut subjects), Some(_)) = (subject, Disassembler::find(toolchains.as_ref(), &options.cancel))
    else {
        eprintln!("NOT TESTED: the calculations on {SUBJECT}: it or nvdisasm is not installed");
        return;
    };
    let subject = subjects.remove(0);
    let stores = |instructions: &[&str], register: &str, bits: u32, from: usize| -> String {
        let store = |(nth, instruction): (usize, &&str)| {
            format!("{instruction};\nst.global.b{bits} [%p+{}], {register};\n", from + 8 * nth)
        };
        instructions.iter().enumerate().map(store).collect()
    };
    for target in ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"] {
        let text = format!(
            ".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 P)\n{{\n\
             .reg .u64 %p, %v, %w;\n.reg .b32 %a, %b, %r;\nld.param.u64 %p, [P];\nld.global.u64 %v, [%p];\n\
             ld.global.u32 %a, [%p+8];\nld.global.u32 %b, [%p+12];\n{}{}ret;\n}}\n",
            stores(&NARROW, "%r", 32, 16),
            stores(&WIDE, "%w", 64, 256)
        );
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let (operands, part) = judge_operands(&*subject, &Rules::default(), &module, &text, target).unwrap();
        assert!(matches!(part, Some(PartVerdict { verdict: Verdict::Conforms, .. })), "{target}: {part:?}");
        assert!(operands.compared >= 20, "{target}: {operands:?}");
    }
}
