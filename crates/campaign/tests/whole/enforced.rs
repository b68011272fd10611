//! Wrong rules of operands, names, scopes, sizes and specifiers, and refusals that are not made, planted one
//! at a time: how many programs of the default run or of the places run it takes until one shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_campaign::cases::Cases;
use ptxsmith_gen::{Coverage, Focus, Places};
use ptxsmith_oracle::{Expectation, Prediction, RefusalClass, Rules, predict};
use ptxsmith_syntax::parse;
use ptxsmith_testing::rendered_between;
use ptxsmith_testing::wrong::{self, RuleOrigin};

/// A wrong rule that takes more programs than this is one that a run may miss.
const MOST: u64 = 50_000;

fn refusal(prediction: &Prediction) -> Option<RefusalClass> {
    match &prediction.data {
        Expectation::Refused { refusal, .. } => Some(refusal.class),
        _ => None,
    }
}

/// After how many negatives of the default run each refusal that is not made shows, counted in cases.
fn by_default() -> BTreeMap<&'static str, u64> {
    let cases = Cases::drawn(0, Focus::Mixed, None);
    let mut shown = BTreeMap::new();
    for index in (0..MOST).filter(|&index| Focus::Mixed.for_case(index) == Focus::Negatives) {
        let made = cases.made(index, false, &mut Coverage::new());
        let module = made.trial.module(&made.header.clone().unwrap_or_default());
        if let Some(class) = refusal(&predict(&module, &Rules::default())) {
            shown.entry(class.name()).or_insert(index + 1);
        }
    }
    shown
}

/// After how many cells each refusal that is not made, and each wrong rule, shows.
fn by_places() -> BTreeMap<&'static str, u64> {
    let places = Places::new();
    let mut wrong: Vec<_> = wrong::with_origin(RuleOrigin::Unsuspected)
        .map(|wrong| (wrong.id, Rules::default().with(wrong.change)))
        .collect();
    let mut shown = BTreeMap::new();
    for nth in 0..MOST {
        let Ok(module) = parse(&places.cell(places.nth(0, nth)).text) else { continue };
        let right = predict(&module, &Rules::default());
        if let Some(class) = refusal(&right) {
            shown.entry(class.name()).or_insert(nth + 1);
        }
        wrong.retain(|(name, rules)| {
            let differs = right.differs_from(&predict(&module, rules));
            if differs {
                shown.insert(name, nth + 1);
            }
            !differs
        });
        if wrong.is_empty() && nth >= MOST / 5 {
            break;
        }
    }
    shown
}

#[test]
fn each_refusal_that_is_not_made_and_each_wrong_rule_shows_in_the_default_run_or_among_the_places() {
    let (default, places) = (by_default(), by_places());
    let names: Vec<(String, &str)> = wrong::refusals()
        .map(|class| (format!("not refused: {}", class.summary()), class.name()))
        .chain(wrong::with_origin(RuleOrigin::Unsuspected).map(|wrong| (wrong.title.to_owned(), wrong.id)))
        .collect();
    assert!(names.len() >= 60, "{} planted faults are too few to prove much", names.len());
    let unseen = |name: &str| !default.contains_key(name) && !places.contains_key(name);
    let missed: Vec<&str> = names.iter().map(|(_, name)| *name).filter(|name| unseen(name)).collect();
    assert!(missed.is_empty(), "not shown within {MOST} programs: {missed:#?}");

    let mut table = String::from("| planted fault | default run | places |\n| --- | ---: | ---: |\n");
    let after = |shown: Option<&u64>| shown.map_or("-".to_owned(), u64::to_string);
    for (title, name) in &names {
        let _ = writeln!(table, "| {title} | {} | {} |", after(default.get(name)), after(places.get(name)));
    }
    rendered_between("docs/guide/generation.md", "planted", &table);
}
