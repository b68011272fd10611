use super::*;
use ptxsmith_syntax::{NodeKind, Number, parse, read_number};

const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n\
    .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
    .global .align 8 .u64 a = 18446744073709551615, b = 7U;\n.global .u64 c = 0x20;\n\
    .const .f32 f[4] = {1.5, 0f40200000, 0.0};\n.global .s32 m[3][2] = {{1, 2}, {3, 0}};\n\
    .global .u64 p[2] = {generic(c), f + 4};\n.global .v2 .u16 v[] = {{1, 2}, {0, 0}};\n\
    .visible .entry k(.param .u64 o) { .reg .b32 %r<3>; .reg .b32 x, y; mov.u32 %r1, 0x10; L: bra L; ret; }\n";

fn variants() -> Variants {
    Variants::new(parse(TEXT).unwrap())
}

/// Every text that so many ways of one kind alone make.
fn made(kind: Kind) -> BTreeSet<String> {
    let variants = variants();
    let places = variants.places[&kind];
    let edits = (0..places).flat_map(|place| (0..40).map(move |way| Edit { kind, place, way }));
    edits.map(|edit| variants.make(&[edit]).text).collect()
}

fn holds(kind: Kind, texts: &[&str]) {
    let made = made(kind);
    for text in texts {
        assert!(made.iter().any(|made| made.contains(text)), "{kind} makes no `{text}`: {made:#?}");
    }
}

#[test]
fn every_kind_of_edit_makes_other_texts_of_the_same_meaning() {
    holds(
        Kind::Integers,
        &["0x7U", "007U", "0B0000", "a = 0xffffffffffffffffU", "c = 040;", "%r1, 16;", "m[0b11][2]"],
    );
    holds(Kind::Floats, &["{0f3fc00000, 0f4", "{1.5, 2.5e0, 0.0}", "0d3FF8000000000000", "1.5E+0", "01.5"]);
    holds(Kind::Parentheses, &["c = (0x20);", "{(1.5), 0f40200000"]);
    holds(
        Kind::Lists,
        &["{{1, 2}, {3}}", "{{1, 2}, {3, 0}, {0}}", "0.0, 0.0}", "{1.5, 0f40200000}", "{{1, 2}, {0, 0}}"],
    );
    holds(Kind::FirstDimension, &["v[2] = {{1, 2}"]);
    holds(Kind::Statements, &[".global .align 8 .u64 b = 7U;", ".reg .b32 y;"]);
    holds(Kind::Order, &[".global .s32 m[3][2] = {{1, 2}, {3, 0}};\n.const .f32 f[4]"]);
    holds(Kind::Contexts, &[".const .u64 q0_c2 = 0x20;", ".global .b8 q0_c2[0x20];"]);
    holds(Kind::Names, &["generic(q0_c)", ".entry q0_k", "%q0_r<3>", "bra q0_L", ") vprintf("]);
    assert!(made(Kind::Spacing).len() > 30);
}

#[test]
fn a_list_is_never_left_empty_and_no_address_moves_before_what_it_names() {
    for text in Kind::ALL.into_iter().flat_map(made) {
        assert!(!text.contains("{}"), "{text}");
        let at = |name: &str| text.find(name);
        if let (Some(c), Some(p)) = (at(".u64 c"), at("generic(c)")) {
            assert!(c < p, "{text}");
        }
    }
}

#[test]
fn a_variant_is_made_from_seed_and_index_alone_and_its_text_is_its_module() {
    let variants = variants();
    let mut texts = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for index in 0..300 {
        let edits = variants.draw(3, index);
        assert_eq!(edits, variants.draw(3, index));
        kinds.extend(edits.iter().map(|edit| edit.kind));
        let variant = variants.make(&edits);
        assert_eq!(parse(&variant.text).unwrap(), variant.module, "{}", variant.text);
        texts.insert(variant.text);
    }
    assert!(texts.len() > 290, "{}", texts.len());
    assert_eq!(kinds.len(), Kind::ALL.len());
}

#[test]
fn another_spelling_is_the_same_number_of_the_same_type() {
    let spell = |text: &str| {
        let number = read_number(text).unwrap();
        let module = parse(&format!(".global .u64 x = {text};\n")).unwrap();
        let variants = Variants::new(module);
        let of = |kind| (0..64).map(move |way| Edit { kind, place: 0, way });
        let kind = if matches!(number, Number::Integer { .. }) { Kind::Integers } else { Kind::Floats };
        let mut all = BTreeSet::new();
        for edit in of(kind) {
            let made = variants.make(&[edit]).module;
            let NodeKind::Number(other) = made.declarators().next().unwrap().values().next().unwrap().kind(0)
            else {
                panic!()
            };
            let same = match (number, read_number(other).unwrap()) {
                (
                    Number::Integer { value: Some(value), unsigned, .. },
                    Number::Integer { value: Some(same), unsigned: also, .. },
                ) => value == same && (unsigned == also || value > i64::MAX as u64),
                (Number::Float(value), Number::Float(same)) => value.to_bits() == same.to_bits(),
                (Number::Float(value), Number::DoubleBits(same)) => value.to_bits() == same,
                (Number::DoubleBits(value), Number::Float(same)) => value == same.to_bits(),
                (value, same) => value == same,
            };
            assert!(same, "{text} and {other}");
            all.insert(other.clone());
        }
        all.len()
    };
    for text in ["0", "1U", "9223372036854775807", "9223372036854775808", "0xfU"] {
        assert!(spell(text) >= 8, "{text}");
    }
    for text in ["0.1", "1e-300", "0d3ff8000000000000", "3.", "1e22"] {
        assert!(spell(text) >= 6, "{text}");
    }
    for text in ["0f7fc00001", "0dfff8000000000001", "0d8000000000000000"] {
        assert!(spell(text) >= 1, "{text}");
    }
}

#[test]
fn names_of_a_variant_lead_back_to_the_other_program() {
    let variant = variants().make(&[Edit { kind: Kind::Names, place: 0, way: 1 }]);
    assert_eq!(variant.original("q0_xa"), "a");
    assert_eq!(variant.original("%q0_xr1"), "%r1");
    assert_eq!(variant.original("vprintf"), "vprintf");
}
