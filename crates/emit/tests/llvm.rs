//! Verdicts on what llc prints, on machines that have it, and known faults of it that are listed.

use std::time::Duration;

use ptxsmith_emit::ir::address::{AddressForm, LlvmAddress, LlvmPointer};
use ptxsmith_emit::ir::llc::{Llc, parse_spec};
use ptxsmith_emit::ir::names::OddName;
use ptxsmith_emit::ir::{Float, LlvmGlobal, LlvmLinkage, LlvmType};
use ptxsmith_emit::judge::DifferenceSymptom;
use ptxsmith_emit::judged::Tester as _;
use ptxsmith_emit::listed::find;
use ptxsmith_model::Class;
use ptxsmith_subject::Cancel;

fn integer(width: u32, value: u32) -> LlvmType {
    LlvmType::Integer(width, value.into())
}

fn pointer(object: LlvmPointer, offset: i64) -> LlvmType {
    LlvmType::Pointer(LlvmAddress { object, offset, form: AddressForm::Bytes })
}

/// What is listed for each of these types, printed by this llc; `None` if it conforms.
fn listed(llc: &Llc, types: Vec<LlvmType>) -> Vec<Option<&'static str>> {
    let global = |(number, ty)| LlvmGlobal {
        number,
        space: 1,
        linkage: LlvmLinkage::External,
        align: None,
        name: OddName::Plain,
        ty,
    };
    let globals: Vec<LlvmGlobal> = (0..).zip(types).map(global).collect();
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
