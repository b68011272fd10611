//! Faults of the answer as a whole: wrong rejections and acceptances, crashes, faults that vary between requests, and
//! faults that affect everything.

use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Initializer, Item, Linkage, NodeKind, UnaryOp, VectorLength,
};
use ptxsmith_testing::wrong;
use serde_json::Value;

use super::harsher::{adds, bytes, declarator, depth, flip, has, in_const, over};
use super::{Asked, Deed, Fault, number, with_depth};

/// Returns all faults of this module.
pub fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    refusals(&mut faults);
    deaths(&mut faults);
    acceptances(&mut faults);
    moods(&mut faults);
    faults
}

/// Adds faults that accept invalid programs.
fn acceptances(faults: &mut Vec<Fault>) {
    for class in wrong::refusals() {
        let accept = move |_: &Asked<'_>, right: &mut Value| {
            if right["refusal"]["class"] == class.name() {
                *right = serde_json::json!({"schema": "ptxsmith.module/1", "outcome": "accepted"});
            }
            Deed::Answers
        };
        faults.push(Fault {
            focus: "negatives",
            ..Fault::new("accepts-invalid", format!("accept {}", class.name()), accept)
        });
    }
}

/// Adds faults that reject valid programs: by form, by context, and with various messages.
fn refusals(faults: &mut Vec<Fault>) {
    let mut add = |name: &str,
                   is: fn(&Asked<'_>, &Declaration, usize) -> bool,
                   say: fn(&str) -> Option<String>| {
        faults.push(Fault::new("refuses-valid", format!("refuse {name}"), move |asked, right| {
            for declaration in asked.declarations() {
                if (0..declaration.declarators.len()).any(|nth| is(asked, declaration, nth)) {
                    let start = declaration.span.start as usize;
                    let line = 1 + asked.text[..start].matches('\n').count();
                    let text = &asked.text[start..declaration.span.end as usize];
                    let message = say(text);
                    let diagnostics = match message {
                        Some(message) => serde_json::json!([{"severity": "error", "line": line, "message": message}]),
                        None => serde_json::json!([]),
                    };
                    *right = serde_json::json!({"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": diagnostics});
                    return Deed::Answers;
                }
            }
            Deed::Answers
        }));
    };
    let plain: fn(&str) -> Option<String> = |_| Some("syntax error".to_owned());
    let quoting: fn(&str) -> Option<String> =
        |text| Some(format!("internal error near '{text}' at offset {}", text.len()));
    let silent: fn(&str) -> Option<String> = |_| None;
    add("arrays of more than 50 entries", |_, d, nth| d.declarators[nth].values().count() > 50, plain);
    add("comments", |asked, _, _| asked.text.contains("/*"), plain);
    add("tabs", |asked, _, _| asked.text.contains('\t'), plain);
    add("names of more than 15 characters", |_, d, nth| declarator(d, nth).name.text.len() > 15, quoting);
    add(
        "capital letters in names",
        |_, d, nth| declarator(d, nth).name.text.chars().any(char::is_uppercase),
        quoting,
    );
    add(
        "three parentheses within each other",
        |_, d, _| with_depth(d, |kind| matches!(kind, NodeKind::Paren(_)), 3),
        quoting,
    );
    add(
        "% with messages that quote",
        |_, d, _| has(d, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Rem, ..))),
        quoting,
    );
    add("?: without a word", |_, d, _| has(d, |kind| matches!(kind, NodeKind::Ternary(..))), silent);
    add("+ in .const", |_, d, _| in_const(d) && has(d, adds), plain);
    add(
        ".v4 in two dimensions",
        |_, d, nth| d.vector() == Some(VectorLength::V4) && depth(d, nth) == 2,
        plain,
    );
    add(
        "- of parentheses",
        |_, d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| matches!(kind, NodeKind::Paren(_)),
            )
        },
        plain,
    );
    add("second names", |_, _, nth| nth == 1, quoting);
    add(
        "0X with U",
        |_, d, _| has(d, |kind| number(kind, |n| n.starts_with("0X") && n.ends_with('U'))),
        plain,
    );
    add(
        "values of .weak",
        |_, d, nth| d.linkage().any(|own| own == Linkage::Weak) && declarator(d, nth).initializer.is_some(),
        plain,
    );
    add(
        "variables beside a function",
        |asked, _, _| asked.module.items.iter().any(|item| matches!(item, Item::Function(_))),
        plain,
    );
    add(
        "a list shorter than its array",
        |_, d, nth| {
            let own = declarator(d, nth);
            let length = own.dimensions.first().and_then(|length| length.as_ref()?.as_integer());
            matches!((&own.initializer, length), (Some(Initializer::List(list)), Some(length)) if (list.items.len() as u64) < length)
        },
        quoting,
    );
    add(
        "an empty list behind .align 0b",
        |asked, d, nth| {
            let text = &asked.text[d.span.start as usize..d.span.end as usize];
            let own = declarator(d, nth);
            text.contains(".align 0b")
                && matches!(&own.initializer, Some(Initializer::List(list)) if list.items.is_empty())
        },
        plain,
    );
}

/// Adds crashes and missing answers.
fn deaths(faults: &mut Vec<Fault>) {
    let mut add = |class, name: &str, deed: Deed, is: fn(&Declaration, usize) -> bool| {
        faults.push(Fault::new(class, name, move |asked, _| {
            let hits = |own: &Declaration| (0..own.declarators.len()).any(|nth| is(own, nth));
            if asked.declarations().any(hits) { deed } else { Deed::Answers }
        }));
    };
    add("crash", "dies of seven operators in one expression", Deed::Dies, |d, _| {
        let operators = |value: &Expr| {
            value
                .nodes()
                .iter()
                .filter(|node| matches!(node.kind, NodeKind::Unary(..) | NodeKind::Binary(..)))
                .count()
        };
        d.declarators.iter().flat_map(Declarator::values).any(|value| operators(value) >= 7)
    });
    add("crash", "dies of --", Deed::Dies, |d, _| {
        over(
            d,
            |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
            |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
        )
    });
    add("crash", "ends with status 3 at 0b with U", Deed::Ends, |d, _| {
        has(d, |kind| number(kind, |n| n.starts_with("0b") && n.ends_with('U')))
    });
    add("crash", "prints what is no answer at ?:", Deed::Prattles, |d, _| {
        has(d, |kind| matches!(kind, NodeKind::Ternary(..)))
    });
    add("crash", "dies of an empty list in three dimensions", Deed::Dies, |d, nth| {
        depth(d, nth) == 3 && declarator(d, nth).initializer.as_ref().is_some_and(has_empty)
    });
    add("crash", "dies of .v2 in two dimensions", Deed::Dies, |d, nth| {
        d.vector() == Some(VectorLength::V2) && depth(d, nth) == 2
    });
    add("crash", "dies of a negative offset", Deed::Dies, |d, _| {
        has(d, |kind| matches!(kind, NodeKind::Name(_)))
            && has(d, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Sub, ..)))
    });
    add("hang", "hangs at 0B in .const", Deed::Hangs, |d, _| {
        in_const(d) && has(d, |kind| number(kind, |n| n.starts_with("0B")))
    });
}

fn has_empty(initializer: &Initializer) -> bool {
    let Initializer::List(list) = initializer else { return false };
    list.items.is_empty() || list.items.iter().any(has_empty)
}

/// Adds faults that vary between requests, and faults that affect every request.
fn moods(faults: &mut Vec<Fault>) {
    let now = |asked: &Asked<'_>, salt: u64| {
        let mut x = (asked.nth ^ salt << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20
    };
    let refused = || serde_json::json!({"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": [{"severity": "error", "line": 4, "message": "out of luck"}]});
    let mut add = |class, name: &str, act: fn(&Asked<'_>, &mut Value, u64) -> Deed| {
        faults.push(Fault::new(class, name, move |asked, right| act(asked, right, now(asked, 1))));
    };
    add("inconsistent", "one variable of 1,000 is wrong", |_, right, dice| {
        for (nth, variable) in
            right["variables"].as_object_mut().into_iter().flatten().map(|(_, own)| own).enumerate()
        {
            if (dice ^ (nth as u64).wrapping_mul(0x9e37_79b9)).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
                & 0xffff_ffff
                < 4_294_967
            {
                flip(variable, |_| 0);
            }
        }
        Deed::Answers
    });
    add("inconsistent", "one answer of 300 is wrong", |_, right, dice| {
        if dice.is_multiple_of(300) {
            for (_, variable) in right["variables"].as_object_mut().into_iter().flatten() {
                flip(variable, |_| 0);
            }
        }
        Deed::Answers
    });
    add("inconsistent", "one answer of 300 is missing", |_, _, dice| {
        if dice.is_multiple_of(300) { Deed::Dies } else { Deed::Answers }
    });
    faults.push(Fault::new("inconsistent", "one answer of 300 is a refusal", move |asked, right| {
        if now(asked, 2).is_multiple_of(300) {
            *right = refused();
        }
        Deed::Answers
    }));
    faults.push(Fault::new("inconsistent", "each third << is wrong", move |asked, right| {
        let turn = now(asked, 3).is_multiple_of(3);
        for declaration in asked
            .declarations()
            .filter(|own| turn && has(own, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Shl, ..))))
        {
            for declarator in &declaration.declarators {
                if let Some(variable) = right["variables"].get_mut(&*declarator.name.text) {
                    flip(variable, |_| 0);
                }
            }
        }
        Deed::Answers
    }));
    faults.push(Fault::new("everything", "refuses everything", move |_, right| {
        *right = refused();
        Deed::Answers
    }));
    faults.push(Fault::new("accepts-invalid", "accepts everything", |_, right| {
        if right["outcome"] == "refused" {
            *right = serde_json::json!({"schema": "ptxsmith.module/1", "outcome": "accepted"});
        }
        Deed::Answers
    }));
    faults.push(Fault::new("crash", "dies of everything", |_, _| Deed::Dies));
    faults.push(Fault::new("wrong-value", "every byte is wrong", |_, right| {
        for (_, variable) in right["variables"].as_object_mut().into_iter().flatten() {
            bytes(variable, |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0xff));
        }
        Deed::Answers
    }));
}
