//! Wrong rules of operands, names, scopes, sizes and specifiers, and refusals that are not made, planted one at a time: how many
//! programs of the default run or of the places run it takes until one shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ptxsmith_campaign::cases::Cases;
use ptxsmith_gen::{Coverage, Focus, Places};
use ptxsmith_oracle::{Expectation, Prediction, RefusalClass, Rules, predict};
use ptxsmith_syntax::{BinaryOp, StateSpace, parse};

/// A wrong rule that takes more programs than this is one that a run may miss.
const MOST: u64 = 50_000;

type Change = fn(&mut Rules);

/// Wrong rules that none of the hypotheses of triage is, with how a table calls them.
const WRONG: [(&str, Change); 26] = [
    ("an offset behind a name is negated", |rules| {
        rules.operands.offset.change(|next, bytes| -next.apply(bytes))
    }),
    ("an offset loses its lowest bit", |rules| {
        rules.operands.offset.change(|next, bytes| next.apply(bytes) & !1)
    }),
    ("an offset stops at 4,095", |rules| {
        rules.operands.offset.change(|next, bytes| next.apply(bytes).min(4_095))
    }),
    ("offsets have 24 bits", |rules| {
        rules.operands.offset_fits.change(|next, value, ty| next.apply(value, ty) && value < 1 << 24);
    }),
    ("offsets may not be negative", |rules| {
        rules.operands.offset_fits.change(|next, value, ty| next.apply(value, ty) && value >= 0);
    }),
    ("offsets may have 64 bits", |rules| rules.operands.offset_fits.change(|_, _, _| true)),
    ("a constant index begins with one", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index - 1, step));
    }),
    ("a negative constant index is zero", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index.max(0), step));
    }),
    ("elements lie at least 4 bytes apart", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index, step.max(4)));
    }),
    ("elements of 8 bytes lie 4 bytes apart", |rules| {
        rules
            .operands
            .element_offset
            .change(|next, index, step| next.apply(index, if step == 8 { 4 } else { step }));
    }),
    ("an index of 16 bits has no sign", |rules| {
        rules.operands.index.change(|next, ty, bits| match ty.size() {
            Some(2) => (bits & 0xffff) as i64,
            _ => next.apply(ty, bits),
        });
    }),
    ("an index of 32 bits has 16", |rules| {
        rules.operands.index.change(|next, ty, bits| match ty.size() {
            Some(4) => i64::from(bits as i16),
            _ => next.apply(ty, bits),
        });
    }),
    ("an index may not be a difference", |rules| {
        rules.operands.index_operator.change(|next, op| next.apply(op) && op == BinaryOp::Add);
    }),
    (".y names the first element", |rules| {
        rules
            .operands
            .element_named
            .change(|next, letter, count| next.apply(if letter == "y" { "x" } else { letter }, count));
    }),
    ("colours name nothing", |rules| {
        rules.operands.element_named.change(|next, letter, count| {
            next.apply(letter, count).filter(|_| !["r", "g", "b", "a"].contains(&letter))
        });
    }),
    ("a list is cut from the highest part", |rules| {
        rules.operands.part_of_scalar.change(|_, place, count| count - 1 - place);
    }),
    ("a list of four is cut as one of two", |rules| {
        rules.operands.part_of_scalar.change(|next, place, count| next.apply(place, count) % 2);
    }),
    ("a constant is true where its lowest bit is", |rules| {
        rules.operands.predicate.change(|_, _, bits| bits & 1 == 1)
    }),
    ("a constant of more than 32 bits is false", |rules| {
        rules.operands.predicate.change(|next, opcode, bits| next.apply(opcode, bits & 0xffff_ffff));
    }),
    ("constants move no address in .shared", |rules| {
        rules.operands.moved.change(|next, space, bytes| match space {
            StateSpace::Shared => 0,
            _ => next.apply(space, bytes),
        });
    }),
    ("constants move no address in .const", |rules| {
        rules.operands.moved.change(|next, space, bytes| match space {
            StateSpace::Const => 0,
            _ => next.apply(space, bytes),
        });
    }),
    ("a function may stand in any operand", |rules| rules.operands.function_operand.change(|_, _, _| true)),
    ("a function may stand in no operand", |rules| rules.operands.function_operand.change(|_, _, _| false)),
    ("sizes are rounded up to 4 bytes", |rules| {
        rules.layout.size.change(|next, extents, element| next.apply(extents, element).next_multiple_of(4));
    }),
    ("the last dimension of three counts for nothing", |rules| {
        rules
            .layout
            .size
            .change(|next, extents, element| next.apply(&extents[..extents.len().min(2)], element));
    }),
    ("a parameterized name may have a zero before its number", |rules| {
        rules
            .layout
            .numbered
            .change(|next, prefix, number| next.apply(prefix, number.trim_start_matches('0')));
    }),
];

/// Classes of which the default interpretation refuses nothing.
const NOT_BY_DEFAULT: [RefusalClass; 2] = [RefusalClass::SignedOverflow, RefusalClass::EmptyList];

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
    for index in (0..MOST).filter(|&index| Focus::Mixed.of(index) == Focus::Negatives) {
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
    let mut wrong = WRONG.map(|(name, change)| (name, Rules::default().with(change))).to_vec();
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
    let classes = RefusalClass::ALL.iter().filter(|class| !NOT_BY_DEFAULT.contains(class));
    let names: Vec<(String, &str)> = classes
        .map(|class| (format!("not refused: {}", class.summary()), class.name()))
        .chain(WRONG.iter().map(|(name, _)| ((*name).to_owned(), *name)))
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
    rendered("docs/guide/generation.md", "planted", &table);
}

/// Writes a table between its marks in a document, or asserts that it stands there.
fn rendered(document: &str, marks: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {marks}: begin -->\n"), format!("<!-- {marks}: end -->"));
    let from = text.find(&begin).expect("the document has a place for the table") + begin.len();
    let to = text.find(&end).expect("the document has a place for the table");
    if std::env::var_os("PTXSMITH_BLESS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &text[..from], &text[to..])).unwrap();
    } else {
        assert!(text[from..to] == *table, "{document} is not current: run with PTXSMITH_BLESS=1\n{table}");
    }
}
