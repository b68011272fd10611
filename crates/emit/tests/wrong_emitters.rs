//! Emitters that print something else than their source says, each in one way: each is found, once, with what
//! is wrong.
//!
//! `data/right.ptx` is what cicc 13.5 prints for [`globals`], with the padding of `g0` put back that it
//! loses, and `g5.m4` in the padding of `g5.m3`, where it belongs.

use ptxsmith_emit::judge::judge;
use ptxsmith_emit::source::{
    CxxArray, CxxClass, CxxGlobal, CxxLiteral, CxxPointer, CxxString, CxxType, GlobalSpecifier,
    Initialization, Member, MemorySpace, Scalar,
};
use ptxsmith_emit::witness::read;
use ptxsmith_model::Class as Deviation;

const RIGHT: &str = include_str!("data/right.ptx");

fn class(members: Vec<CxxType>) -> CxxClass {
    CxxClass::new(0, (1..).zip(members).map(|(id, ty)| Member::new(id, ty)).collect())
}

fn number(scalar: Scalar, value: u128) -> CxxType {
    CxxType::Scalar(scalar, CxxLiteral::Integer(value))
}

fn array(element: CxxType, length: u64) -> CxxType {
    CxxType::Array(Box::new(CxxArray { element, length, given: length }))
}

/// The globals, by their numbers.
fn globals() -> Vec<CxxGlobal> {
    let padded = class(vec![CxxType::Pointer(CxxPointer::Object), number(Scalar::Int128, 5)]);
    let mut fields = class(vec![number(Scalar::Int, 6), number(Scalar::Unsigned, 0x4d)]);
    fields.members[0].width = Some(3);
    fields.members[1].width = Some(7);
    let table = array(array(number(Scalar::Short, 7), 3), 2);
    let mut packed = class(vec![number(Scalar::Char, 5), CxxType::Pointer(CxxPointer::Element)]);
    packed.is_packed = true;
    let tie = CxxType::Scalar(Scalar::Float, CxxLiteral::Floating("16777217.0".to_owned(), Scalar::Float));
    let mut inner = class(vec![number(Scalar::Int, 5), number(Scalar::Char, 6)]);
    inner.has_constructor = true;
    inner.id = 1;
    let mut overlapped = class(vec![CxxType::Class(inner), number(Scalar::Char, 7)]);
    overlapped.members[0].may_overlap = true;
    (overlapped.members[0].id, overlapped.members[1].id) = (3, 4);
    let text = CxxType::Text(CxxString { scalar: Scalar::Char16, text: "ab".to_owned(), length: 4 });
    let pointers = array(CxxType::Pointer(CxxPointer::End), 2);
    let member = class(vec![CxxType::Pointer(CxxPointer::NullDataMember), number(Scalar::Long, 0x0102)]);
    let types = [
        CxxType::Class(padded),
        CxxType::Class(fields),
        table,
        CxxType::Class(packed),
        tie,
        CxxType::Class(overlapped),
        text,
        pointers,
        CxxType::Class(member),
    ];
    (0..)
        .zip(types)
        .map(|(number, ty)| CxxGlobal {
            number,
            space: MemorySpace::Device,
            form: GlobalSpecifier::Plain,
            initialization: Initialization::Listed,
            ty,
        })
        .collect()
}

/// What is wrong with each global of a PTX.
fn wrong(ptx: &str) -> Vec<(u64, Deviation, String)> {
    let globals = globals();
    let told = read(ptx, globals.iter().map(|global| global.number));
    let verdicts = globals.iter().map(|global| (global.number, judge(global, &told[&global.number], None)));
    verdicts
        .filter_map(|(number, verdict)| {
            assert!(verdict.is_judged, "{number}: {:?}", verdict.unavailable);
            let difference = verdict.difference?;
            Some((number, difference.class, difference.symptom))
        })
        .collect()
}

#[test]
fn right_ptx_is_right() {
    assert_eq!(wrong(RIGHT), []);
}

/// An emitter that is wrong in one way: what it does, the right text and what it prints instead, and the
/// global and the difference that are found.
type Wrong = (&'static str, &'static str, &'static str, u64, Deviation, &'static str);

const READS: &str = "the kernel reads another value";

#[rustfmt::skip]
const WRONG: [Wrong; 12] = [
    ("padding is lost", "{generic(target), 0, 5, 0}", "{generic(target), 5, 0, 0}", 0, Deviation::WrongValue, READS),
    ("an alignment is lost", ".align 16 .u64 g0", ".align 8 .u64 g0", 0, Deviation::WrongLayout, "the kernel reads at a place that is not aligned for it"),
    ("bits are laid out from the other end", "{110, 2}", "{201, 160}", 1, Deviation::WrongValue, READS),
    ("a bit field loses its sign", "{110, 2}", "{106, 2}", 1, Deviation::WrongValue, READS),
    ("rows are swapped", "{7, 0, 8, 0, 9, 0, 8, 0, 9, 0, 10}", "{8, 0, 9, 0, 10, 0, 7, 0, 8, 0, 9}", 2, Deviation::WrongValue, READS),
    ("the byte of a mask is dropped", "0xFF000000(generic(targets)+12)", "0", 3, Deviation::WrongAddress, "another value is printed"),
    ("a tie is rounded up", "0f4B800000", "0f4B800001", 4, Deviation::WrongValue, READS),
    ("tail padding is not reused", "g5[8] = {5, 0, 0, 0, 6, 7}", "g5[12] = {5, 0, 0, 0, 6, 0, 0, 0, 7}", 5, Deviation::WrongValue, READS),
    ("characters are as wide as those of another type", "{97, 0, 98}", "{97, 98}", 6, Deviation::WrongValue, READS),
    ("an offset is lost", "{generic(targets)+32, generic(targets)+32}", "{generic(targets), generic(targets)+32}", 7, Deviation::WrongAddress, READS),
    ("an element is left out", "{generic(targets)+32, generic(targets)+32}", "{generic(targets)+32}", 7, Deviation::WrongAddress, READS),
    ("a null pointer to a member is zero", "{255, 255, 255, 255, 255, 255, 255, 255, 2", "{0, 0, 0, 0, 0, 0, 0, 0, 2", 8, Deviation::WrongValue, READS),
];

#[test]
fn each_wrong_emitter_is_found_once_and_for_what_it_does() {
    for (what, right, instead, number, class, symptom) in WRONG {
        assert_eq!(RIGHT.matches(right).count(), 1, "{what}");
        let found = wrong(&RIGHT.replace(right, instead));
        assert_eq!(found, [(number, class, symptom.to_owned())], "{what}");
    }
}

#[test]
fn a_global_that_no_witness_speaks_of_is_not_judged() {
    let ty = number(Scalar::Int, 7);
    let global = CxxGlobal {
        number: 0,
        space: MemorySpace::Device,
        form: GlobalSpecifier::Plain,
        initialization: Initialization::Listed,
        ty,
    };
    let ptx = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 g0 = 8;\n";
    let told = read(ptx, [0].into_iter());
    let verdict = judge(&global, &told[&0], None);
    assert!(!verdict.is_judged && verdict.difference.is_none(), "{verdict:?}");
    assert_eq!(verdict.unavailable.len(), 3, "{verdict:?}");
}
