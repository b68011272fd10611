//! Tests that the listed deviations of one release are compatible: any two have the same effect in either
//! order, neither hides the other, and a program that shows both is explained by both.

use std::fs;
use std::path::Path;

use ptxsmith_gen::{Body, Coverage, Focus, Generator, Header};
use ptxsmith_oracle::{Prediction, predict};
use ptxsmith_subject::toolchain::RELEASES;
use ptxsmith_syntax::{Module, parse, prefixed};

use super::*;
use crate::hypothetical_rules;
use crate::known::{listed_for, with_known};

/// Returns every pair of deviations of one release, with that release.
fn pairs() -> Vec<([&'static KnownDeviation; 2], Implementation<'static>)> {
    let mut pairs: Vec<([&KnownDeviation; 2], Implementation<'_>)> = Vec::new();
    for release in RELEASES {
        let implementation = Implementation { lineage: Some("nvidia"), version: Some(release.name()) };
        let known: Vec<_> = listed_for(implementation).filter(|known| known.change().is_some()).collect();
        for (nth, one) in known.iter().enumerate() {
            for other in &known[..nth] {
                if !pairs.iter().any(|([a, b], _)| (a.id, b.id) == (one.id, other.id)) {
                    pairs.push(([one, other], implementation));
                }
            }
        }
    }
    pairs
}

fn rules(known: &[&KnownDeviation]) -> Rules {
    let changes = known.iter().filter_map(|known| known.change());
    Rules::default().with(|rules| changes.for_each(|change| change(rules)))
}

/// Combines the reproducers of two deviations into one program of the older PTX version.
fn together(pair: [&KnownDeviation; 2]) -> Module {
    let [mut one, mut other] = pair.map(|known| parse(known.example).expect("the example parses"));
    if other.version() < one.version() {
        std::mem::swap(&mut one, &mut other);
    }
    let mut whole = one.header();
    whole.items.extend(prefixed(&one.without_header().items, "a_"));
    whole.items.extend(prefixed(&other.without_header().items, "b_"));
    whole
}

/// Returns the programs of the corpus and some generated ones.
fn programs() -> Vec<Module> {
    let mut programs = Vec::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let files = |folder: &Path| -> Vec<_> {
        let mut paths: Vec<_> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        paths.sort();
        paths
    };
    for folder in files(&corpus) {
        for file in files(&folder) {
            programs.extend(fs::read_to_string(file).ok().and_then(|text| parse(&text).ok()));
        }
    }
    let generator = Generator::default();
    for (focus, count) in [(Focus::Mixed, 300), (Focus::Operands, 50)] {
        for case in 0..count {
            match generator.case(focus, 0, case, &mut Coverage::new()).body {
                Body::Items(items) | Body::Contexts(items) => programs.push(Header::default().module(items)),
                Body::Kernel(items) => programs.push(Header::default().module(items)),
                Body::Expression { .. } | Body::Negative(_) => {}
            }
        }
    }
    programs
}

fn differ(one: &Prediction, other: &Prediction) -> bool {
    one.differs_from(other) || other.differs_from(one)
}

#[test]
fn two_deviations_of_one_release_say_the_same_in_either_order() {
    let programs = programs();
    let rests_on = |rules: &Rules| programs.iter().map(|p| predict(p, rules).trace()).collect::<Vec<_>>();
    let plain = rests_on(&Rules::default());
    let mut shown = 0;
    for ([one, other], _) in pairs() {
        let [first, second] = [rules(&[one, other]), rules(&[other, one])];
        let of_both = together([one, other]);
        let touched = programs.iter().zip(&plain).filter(|(_, t)| one.touches(t) && other.touches(t));
        for program in touched.map(|(program, _)| program).chain([&of_both]) {
            shown += 1;
            let same = !differ(&predict(program, &first), &predict(program, &second));
            assert!(same, "{} and {}: {}", one.id, other.id, ptxsmith_syntax::print(program));
        }
    }
    assert!(shown > 1_000, "{shown}");
}

#[test]
fn a_program_that_shows_two_deviations_is_explained_by_both() {
    let mut explained = 0;
    for (pair, implementation) in pairs() {
        // The first reason to reject a program hides the second.
        if pair.iter().any(|known| matches!(known.effect, Effect::RefusalRule(_))) {
            continue;
        }
        let program = together(pair);
        let seen = predict(&program, &rules(&pair));
        for alone in pair {
            let hidden = !differ(&seen, &predict(&program, &rules(&[alone])));
            assert!(!hidden, "{} and {}: only {} shows", pair[0].id, pair[1].id, alone.id);
        }
        let trace = predict(&program, &Rules::default()).trace();
        let found = explain(&trace, &Rules::default(), implementation, |rules| {
            let predicted = predict(&program, rules);
            (!differ(&predicted, &seen), predicted.trace())
        });
        let mut ids = pair.map(|known| known.id);
        ids.sort_unstable();
        assert_eq!(found.map(|found| found.known), Some(ids.to_vec()));
        explained += 1;
    }
    assert!(explained > 50, "{explained}");
}

/// The rules of a search may already include the known deviations of an implementation.
#[test]
fn a_deviation_that_is_there_already_changes_nothing() {
    for known in KNOWN.iter().filter(|known| known.change().is_some()) {
        let program = parse(known.example).expect("the example parses");
        let [once, twice] = [&[known][..], &[known, known]].map(|known| predict(&program, &rules(known)));
        assert!(!differ(&once, &twice), "{}", known.id);
    }
}

#[test]
fn an_entry_takes_all_that_explanations_combine() {
    for implementation in RELEASES
        .iter()
        .map(|release| Implementation { lineage: Some("nvidia"), version: Some(release.name()) })
    {
        let known = with_known(&with_known(&Rules::default(), implementation), implementation);
        for rule in hypothetical_rules::all() {
            let _ = known.with(rule.change).with(rule.change);
        }
    }
}

#[test]
fn a_program_accepted_under_another_answer_is_explained_by_that_answer_and_a_listed_deviation() {
    let implementation = Implementation { lineage: Some("nvidia"), version: Some("13.5.37") };
    let explained = |text: &str, outcome| {
        let module = parse(&format!(".version 7.8\n.target sm_80\n.address_size 64\n{text}\n")).unwrap();
        let trace = |rules: &Rules| ptxsmith_oracle::expect(&module, rules).trace();
        let rules = Rules::default();
        explain_accepted_invalid(
            &module,
            &trace(&rules),
            implementation,
            &Observation::new(outcome),
            (&rules, trace),
            None,
        )
    };
    // The dimension is counted modulo 2^64, and the second declaration has no name.
    let text = ".global .u32 t[18446744073709551617];\n.global .s16;";
    let found = explained(text, Outcome::Accepted).expect("an explanation");
    assert_eq!(found.known, ["nameless-declaration-accepted"]);
    assert!(found.readings.iter().any(|(question, _)| question.name() == "literal-range"), "{found:?}");
    assert!(explained(text, Outcome::Refused).is_none());
    assert!(explained(".global .u32 t[18446744073709551617];", Outcome::Accepted).is_none());
}
