//! Properties of every generated negative program.

use ptxsmith_gen::{
    Config, Coverage, Generator, Header, Negative,
    negative::{EDITS, TURN},
};
use ptxsmith_syntax::{Item, Module, parse, print};

fn negatives(count: u64) -> Vec<Negative> {
    let generator = Generator::new(Config::calm());
    let mut coverage = Coverage::new();
    (0..count).map(|index| generator.negative(1, index, &mut coverage)).collect()
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
    for (negative, edit) in negatives(TURN * EDITS.len() as u64).iter().step_by(TURN as usize).zip(EDITS) {
        assert_eq!(negative.edit.name, edit.name);
    }
}

fn module(items: &[Item], header: &Option<Header>) -> Module {
    header.clone().unwrap_or_default().module(items.to_vec())
}

#[test]
fn every_counterpart_prints_and_parses_back_and_differs_from_the_broken_program() {
    for negative in negatives(4_000) {
        let module_of_counterpart = module(&negative.counterpart, &negative.counterpart_header);
        let counterpart = print(&module_of_counterpart);
        assert_eq!(parse(&counterpart).as_ref(), Ok(&module_of_counterpart), "{}", negative.edit.name);
        assert_ne!(counterpart, print(&module(&negative.broken, &negative.header)), "{}", negative.edit.name);
        assert_eq!(negative.counterpart.len(), negative.broken.len());
    }
}

#[test]
fn an_edit_changes_one_statement_or_the_header() {
    for negative in negatives(4_000) {
        let statements = negative.counterpart.iter().zip(&negative.broken).filter(|(a, b)| a != b).count();
        let headers = usize::from(negative.counterpart_header != negative.header);
        assert_eq!(statements + headers, 1, "{}", negative.edit.name);
    }
}

#[test]
fn an_edit_of_a_declaration_changes_one_part_of_it() {
    for negative in negatives(4_000) {
        let changed = negative.counterpart.iter().zip(&negative.broken).find(|(a, b)| a != b);
        let Some((Item::Variables(counterpart), Item::Variables(broken))) = changed else { continue };
        let (a, b) = (&counterpart.declarators[0], &broken.declarators[0]);
        let changes = [
            counterpart.specifiers != broken.specifiers,
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
        let module = module(&negative.broken, &negative.header);
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
        assert_eq!(again, *negative);
    }
}
