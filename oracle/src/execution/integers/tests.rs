use ptxsmith_syntax::{Item, Module, Statement, parse};

use super::super::form::InstructionForm;
use super::super::instructions::calculated;

/// Returns the result of an instruction for these sources.
fn of(instruction: &str, values: &[u64]) -> Option<u64> {
    let names = ["%a", "%b", "%c", "%d", "%e"];
    let sources: Vec<&str> = names[..values.len()].to_vec();
    let text = format!(".func f() {{ {instruction} %r, {}; }}", sources.join(", "));
    let module: Module = parse(&text).unwrap();
    let Item::Function(function) = &module.items[0] else { panic!("{text}") };
    let Statement::Instruction(instruction) = &function.body.as_ref().unwrap()[0] else { panic!("{text}") };
    calculated(&InstructionForm::decode(instruction), values)
        .unwrap_or_else(|| panic!("{text} is not modelled"))
}

const LEAST: u64 = 0x8000_0000;
const ONES: u64 = 0xffff_ffff;

#[test]
fn sums_products_and_quotients_are_those_of_their_types() {
    assert_eq!(of("add.sat.s32", &[0x7fff_fffe, 5]), Some(0x7fff_ffff));
    assert_eq!(of("sub.sat.s32", &[LEAST, 1]), Some(LEAST));
    assert_eq!(of("add.s32", &[0x7fff_fffe, 5]), Some(0x8000_0003));
    assert_eq!(of("mul.hi.s32", &[ONES, 2]), Some(ONES));
    assert_eq!(of("mul.hi.u32", &[ONES, 2]), Some(1));
    assert_eq!(of("mul.wide.s16", &[0xffff, 2]), Some(0xffff_fffe));
    assert_eq!(of("mad.lo.u16", &[0x100, 0x100, 3]), Some(3));
    assert_eq!(of("mad.hi.sat.s32", &[LEAST, LEAST, 0x7fff_ffff]), Some(0x7fff_ffff));
    assert_eq!(of("mul24.hi.s32", &[0xff80_0000, 0x7f_ffff]), Some(0xc000_0080));
    assert_eq!(of("mul24.lo.u32", &[0x100_0000, 1]), None, "more than 24 bits");
    assert_eq!(of("sad.s32", &[ONES, 2, 10]), Some(13));
    assert_eq!(of("sad.u32", &[ONES, 2, 10]), Some(7));
    assert_eq!(of("div.s32", &[-7i32 as u32 as u64, 2]), Some(-3i32 as u32 as u64));
    assert_eq!(of("div.u32", &[7, 0]), None);
    assert_eq!(of("div.s32", &[LEAST, ONES]), None);
    assert_eq!((of("rem.s32", &[7, 3]), of("rem.s32", &[-7i32 as u32 as u64, 3])), (Some(1), None));
    assert_eq!((of("abs.s32", &[-7i32 as u32 as u64]), of("abs.s32", &[LEAST])), (Some(7), None));
    assert_eq!((of("min.s32", &[ONES, 1]), of("min.u32", &[ONES, 1])), (Some(ONES), Some(1)));
    assert_eq!((of("max.s64", &[u64::MAX, 1]), of("max.relu.s32", &[ONES, LEAST])), (Some(1), Some(0)));
}

#[test]
fn packed_halves_are_computed_each_alone() {
    let values = [0xffff_7fff, 0x0001_0002];
    assert_eq!(of("add.u16x2", &values), Some(0x0000_8001));
    assert_eq!((of("min.s16x2", &values), of("min.u16x2", &values)), (Some(0xffff_0002), Some(0x0001_0002)));
    assert_eq!(
        (of("max.relu.s16x2", &values), of("min.relu.s16x2", &values)),
        (Some(0x0001_7fff), Some(0x0000_0002))
    );
}

#[test]
fn bits_are_counted_from_the_lowest() {
    assert_eq!(
        (of("clz.b32", &[1]), of("clz.b64", &[1]), of("clz.b32", &[0])),
        (Some(31), Some(63), Some(32))
    );
    assert_eq!(of("popc.b64", &[u64::MAX]), Some(64));
    assert_eq!((of("brev.b32", &[1]), of("brev.b64", &[1])), (Some(LEAST), Some(1 << 63)));
    assert_eq!((of("bfind.u32", &[0]), of("bfind.s32", &[ONES])), (Some(ONES), Some(ONES)));
    assert_eq!((of("bfind.s64", &[!4]), of("bfind.shiftamt.u32", &[1])), (Some(2), Some(31)));
    assert_eq!(of("fns.b32", &[0xaaaa_aaaa, 3, 1]), Some(3));
    assert_eq!(of("fns.b32", &[0xaaaa_aaaa, 2, 1]), Some(3));
    assert_eq!(of("fns.b32", &[0xaaaa_aaaa, 2, ONES]), Some(1));
    assert_eq!(of("fns.b32", &[1, 32, 1]), None);
    assert_eq!((of("not.b32", &[1]), of("cnot.b32", &[0])), (Some(0xffff_fffe), Some(1)));
}

#[test]
fn the_least_number_has_no_negative() {
    assert_eq!((of("neg.s32", &[5]), of("neg.s32", &[LEAST])), (Some(5u32.wrapping_neg().into()), None));
    assert_eq!((of("abs.s32", &[ONES]), of("abs.s32", &[LEAST])), (Some(1), None));
}

#[test]
fn fields_end_at_the_width_of_their_type() {
    assert_eq!(of("bfe.s32", &[0xf0, 4, 4]), Some(ONES));
    assert_eq!(of("bfe.u32", &[0xf0, 4, 4]), Some(0xf));
    assert_eq!(of("bfe.s32", &[LEAST, 40, 4]), Some(ONES), "behind the highest bit its sign is repeated");
    assert_eq!(of("bfe.s32", &[LEAST, 31, 0]), Some(0));
    assert_eq!(of("bfe.u32", &[ONES, 0x104, 8]), None, "a place has 8 bits");
    assert_eq!(of("bfe.s64", &[1 << 63, 60, 40]), Some(-8i64 as u64));
    assert_eq!(of("bfi.b32", &[0xff, 0, 28, 8]), Some(0xf000_0000));
    assert_eq!(of("bfi.b32", &[0xff, 5, 32, 8]), Some(5));
    assert_eq!(of("bfi.b64", &[u64::MAX, 0, 0, 64]), Some(u64::MAX));
    assert_eq!(
        (of("bmsk.clamp.b32", &[4, 40]), of("bmsk.clamp.b32", &[32, 1])),
        (Some(0xffff_fff0), Some(0))
    );
    assert_eq!((of("bmsk.wrap.b32", &[33, 2]), of("bmsk.wrap.b32", &[30, 3])), (Some(6), Some(0xc000_0000)));
    assert_eq!(
        (of("szext.clamp.s32", &[0x80, 8]), of("szext.wrap.u32", &[ONES, 32])),
        (Some(0xffff_ff80), Some(0))
    );
    assert_eq!(of("szext.clamp.s32", &[LEAST, 50]), Some(LEAST));
}

#[test]
fn shifts_clamp_or_wrap_their_count() {
    assert_eq!((of("shl.b32", &[1, 32]), of("shl.b16", &[1, 15])), (Some(0), Some(0x8000)));
    assert_eq!((of("shr.s16", &[0x8000, 99]), of("shr.u64", &[1 << 63, 63])), (Some(0xffff), Some(1)));
    assert_eq!(of("shf.l.wrap.b32", &[0x8000_0000, 1, 33]), Some(3));
    assert_eq!(of("shf.l.clamp.b32", &[7, 1, 40]), Some(7));
    assert_eq!(of("shf.r.clamp.b32", &[7, 9, 32]), Some(9));
    assert_eq!(of("shf.r.wrap.b32", &[0x10, 1, 4]), Some(0x1000_0001));
}

#[test]
fn bytes_are_chosen_by_selectors_and_modes() {
    let (a, b) = (0x3322_1100, 0x7766_55c4);
    assert_eq!(of("prmt.b32", &[a, b, 0x7654]), Some(b));
    assert_eq!(of("prmt.b32", &[a, b, 0xc0c0]), Some(0xff00_ff00));
    assert_eq!(of("prmt.b32.f4e", &[a, b, 1]), Some(0xc433_2211));
    assert_eq!(of("prmt.b32.b4e", &[a, b, 4]), Some(0x5566_7700));
    assert_eq!(of("prmt.b32.rc8", &[a, b, 2]), Some(0x2222_2222));
    assert_eq!(of("prmt.b32.ecl", &[a, b, 1]), Some(0x3322_1111));
    assert_eq!(of("prmt.b32.ecr", &[a, b, 1]), Some(0x1111_1100));
    assert_eq!(of("prmt.b32.rc16", &[a, b, 3]), Some(0x3322_3322));
    assert_eq!(of("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x96]), Some(0x96));
    assert_eq!(of("dp4a.s32.u32", &[0xff02_0000, 0x0380_0000, 1]), Some(254));
    assert_eq!(of("dp2a.hi.s32.s32", &[0xffff_0003, 0x02ff_0000, 0]), Some(-5i32 as u32 as u64));
    assert_eq!(of("slct.u32.s32", &[1, 2, LEAST]), Some(2));
}
