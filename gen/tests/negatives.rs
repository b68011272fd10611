//! What holds of every program that is wrong on purpose.

use ptxsmith_gen::{Config, Coverage, Generator, Header, Negative, negative::EDITS};
use ptxsmith_syntax::{Declaration, parse, print};

fn negatives(count: u64) -> Vec<Negative> {
    let generator = Generator::new(Config::calm());
    let mut coverage = Coverage::new();
    (0..count).map(|index| generator.negative(1, index, &mut coverage)).collect()
}

fn text(declaration: &Declaration) -> String {
    print(&Header::default().module([declaration.clone()]))
}

#[test]
fn the_names_of_the_edits_begin_with_their_labels_and_are_distinct() {
    for (i, edit) in EDITS.iter().enumerate() {
        assert!(edit.name.starts_with(&format!("{}/", edit.label)), "{}", edit.name);
        assert!(EDITS[..i].iter().all(|other| other.name != edit.name), "{}", edit.name);
    }
}

#[test]
fn every_edit_takes_its_turn() {
    for (negative, edit) in negatives(EDITS.len() as u64).iter().zip(EDITS) {
        assert_eq!(negative.edit.name, edit.name);
    }
}

#[test]
fn every_twin_prints_and_parses_back_and_differs_from_the_broken_program() {
    for negative in negatives(4_000) {
        let module = Header::default().module([negative.twin.clone()]);
        let twin = print(&module);
        assert_eq!(parse(&twin).as_ref(), Ok(&module), "{}", negative.edit.name);
        assert_ne!(twin, text(&negative.broken), "{}", negative.edit.name);
        assert_eq!(negative.twin.declarators.len(), negative.broken.declarators.len());
    }
}

#[test]
fn an_edit_changes_one_part_of_the_declaration() {
    for negative in negatives(4_000) {
        let (twin, broken) = (&negative.twin, &negative.broken);
        let (a, b) = (&twin.declarators[0], &broken.declarators[0]);
        let changes = [
            twin.specifiers != broken.specifiers,
            a.dimensions != b.dimensions,
            a.initializer != b.initializer,
            a.count != b.count || a.name != b.name,
        ];
        assert_eq!(changes.iter().filter(|&&changed| changed).count(), 1, "{}", negative.edit.name);
    }
}

#[test]
fn broken_programs_that_parse_parse_back_to_the_same_tree() {
    let mut parsed = 0;
    for negative in negatives(4_000) {
        let module = Header::default().module([negative.broken.clone()]);
        if let Ok(tree) = parse(&print(&module)) {
            parsed += 1;
            assert_eq!(tree, module, "{}", negative.edit.name);
        }
    }
    assert!(parsed >= 3_000, "{parsed}");
}

#[test]
fn a_negative_is_the_same_whatever_was_made_before_it() {
    let all = negatives(100);
    let generator = Generator::new(Config::calm());
    for (i, negative) in all.iter().enumerate().rev() {
        let again = generator.negative(1, i as u64, &mut Coverage::new());
        assert_eq!((&again.twin, &again.broken), (&negative.twin, &negative.broken));
    }
}

#[test]
fn both_programs_take_the_prefix_of_the_caller() {
    for negative in negatives(100) {
        let (twin, broken) = negative.renamed("q");
        assert_eq!(
            (twin.declarators[0].name.text.as_str(), broken.declarators[0].name.text.as_str()),
            ("q0", "q0")
        );
    }
}
