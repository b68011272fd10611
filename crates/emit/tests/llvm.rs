//! Verdicts on what llc prints, on machines that have it, and known faults of it that are listed.

use std::time::Duration;

use ptxsmith_emit::ir::address::{AddressForm, AddressInteger, IntegerForm, LlvmAddress, LlvmPointer};
use ptxsmith_emit::ir::filecheck::test;
use ptxsmith_emit::ir::llc::{Llc, parse_spec};
use ptxsmith_emit::ir::names::OddName;
use ptxsmith_emit::ir::{Float, LlvmGlobal, LlvmLinkage, LlvmType, TypelessValue};
use ptxsmith_emit::judge::DifferenceSymptom;
use ptxsmith_emit::judged::Tester as _;
use ptxsmith_emit::listed::find;
use ptxsmith_model::Class;
use ptxsmith_subject::Cancel;

fn integer(width: u32, value: u32) -> LlvmType {
    LlvmType::Integer(width, value.into())
}

fn global(number: u64, ty: LlvmType) -> LlvmGlobal {
    LlvmGlobal { number, space: 1, linkage: LlvmLinkage::External, align: None, name: OddName::Plain, ty }
}

fn llc_19() -> Option<Llc> {
    let llc = Llc::open(&parse_spec("llc@19")?, Duration::from_secs(60), &Cancel::new());
    if llc.is_err() {
        eprintln!("NOT TESTED: llc@19 is missing");
    }
    llc.ok()
}

fn pointer(object: LlvmPointer, offset: i64) -> LlvmType {
    LlvmType::Pointer(LlvmAddress { object, offset, form: AddressForm::Bytes })
}

/// What is listed for each of these types, printed by this llc; `None` if it conforms.
fn listed(llc: &Llc, types: Vec<LlvmType>) -> Vec<Option<&'static str>> {
    let globals: Vec<LlvmGlobal> = (0..).zip(types).map(|(number, ty)| global(number, ty)).collect();
    let judged = llc.judge(&globals.iter().collect::<Vec<_>>(), None).unwrap();
    let id = |global: &LlvmGlobal| {
        let difference = judged[&global.number].difference()?;
        let symptom: DifferenceSymptom = difference.symptom();
        assert_ne!(symptom.class, Class::Hang, "{difference:?}");
        Some(find(&symptom, &global.shape(), &llc.description).map_or("not listed", |listed| listed.id))
    };
    globals.iter().map(id).collect()
}

#[test]
fn llc_prints_some_types_right_and_others_as_is_listed() {
    for version in ["llc@19", "llc@22"] {
        let Ok(llc) = Llc::open(&parse_spec(version).unwrap(), Duration::from_secs(60), &Cancel::new())
        else {
            eprintln!("NOT TESTED: {version} is missing");
            continue;
        };
        let packed = LlvmType::Struct {
            is_packed: true,
            members: vec![
                integer(8, 5),
                pointer(LlvmPointer::Generic, 7),
                LlvmType::Float(Float::Half, 0x3c00),
            ],
        };
        let padded = LlvmType::Struct {
            is_packed: false,
            members: vec![pointer(LlvmPointer::Global, 0), integer(128, 5)],
        };
        let three = LlvmType::Vector(Box::new(integer(8, 5)), 3);
        let types = vec![
            packed,
            integer(64, 7),
            LlvmType::Array(Box::new(integer(1, 1)), 3),
            integer(1, 1),
            padded,
            LlvmType::Array(Box::new(three), 2),
            pointer(LlvmPointer::Global, -4),
            LlvmType::Float(Float::Half, 0x3c00),
        ];
        let expected = [
            None,
            None,
            None,
            Some("ir-bit-is-minus-one"),
            Some("ir-lost-padding"),
            Some("ir-vector-without-tail"),
            Some("ir-negative-offset"),
            Some("ir-half-as-double"),
        ];
        assert_eq!(listed(&llc, types), expected, "{version}");
    }
}

#[test]
fn llc_does_what_is_listed_of_addresses_names_and_bits() {
    let Some(llc) = llc_19() else { return };
    let made = |form, width| {
        let address = LlvmAddress { object: LlvmPointer::Global, offset: 4, form: AddressForm::Bytes };
        LlvmType::Address(address, AddressInteger { form, width })
    };
    let array = |ty| LlvmType::Array(Box::new(ty), 2);
    let types = vec![
        made(IntegerForm::Plain, 64),
        array(made(IntegerForm::Plain, 64)),
        made(IntegerForm::Sum, 64),
        array(made(IntegerForm::Sum, 64)),
        array(made(IntegerForm::Within, 64)),
        array(made(IntegerForm::Plain, 32)),
        made(IntegerForm::Truncated, 16),
        array(pointer(LlvmPointer::GenericConstant, 7)),
        pointer(LlvmPointer::Plain, 7),
        pointer(LlvmPointer::Named, 0),
        integer(24, 70_000),
        LlvmType::Vector(Box::new(integer(4, 1)), 4),
        LlvmType::Holed(Box::new(array(integer(32, 7))), 1, TypelessValue::Poison),
        pointer(LlvmPointer::Shared, 0),
    ];
    let expected = [
        None,
        None,
        None,
        Some("ir-sum-in-aggregate"),
        None,
        Some("ir-narrow-address-in-aggregate"),
        Some("ir-narrow-address-alone"),
        None,
        None,
        None,
        Some("ir-odd-integer-type"),
        Some("ir-vector-of-bits"),
        None,
        Some("ir-shared-address"),
    ];
    assert_eq!(listed(&llc, types), expected);
}

#[test]
fn the_test_of_a_global_fails_if_llc_is_wrong_and_passes_if_not() {
    let (Some(llc), Ok(filecheck)) = (llc_19(), which::which("FileCheck-19")) else {
        eprintln!("NOT TESTED: llc-19 and FileCheck-19 are not both here");
        return;
    };
    let packed = |members| LlvmType::Struct { is_packed: true, members };
    let types = [
        (integer(16, 0xfffe), true),
        (pointer(LlvmPointer::Generic, 4), true),
        (LlvmType::Array(Box::new(pointer(LlvmPointer::Global, 4)), 2), true),
        (packed(vec![integer(8, 5), pointer(LlvmPointer::Generic, 4)]), true),
        (pointer(LlvmPointer::Named, 0), true),
        (LlvmType::Array(Box::new(integer(46, 5)), 2), false),
        (integer(1, 1), false),
    ];
    for (ty, is_right) in types {
        let global = global(0, ty);
        let test = test(&global);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("test.ll");
        std::fs::write(&file, &test).unwrap();
        let ptx = llc.ptx(&test).unwrap().unwrap();
        std::fs::write(directory.path().join("test.ptx"), ptx).unwrap();
        let input = directory.path().join("test.ptx");
        let status = std::process::Command::new(&filecheck)
            .args([&file, &std::path::PathBuf::from("--input-file"), &input])
            .output()
            .unwrap()
            .status;
        assert_eq!(status.success(), is_right, "{test}");
    }
}
