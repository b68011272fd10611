//! Faults of the answer as a whole: wrong rejections and acceptances, crashes, faults that vary between
//! requests, and faults that affect everything.

use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Initializer, Item, Linkage, NodeKind, UnaryOp, VectorLength,
};
use ptxsmith_testing::wrong;
use serde_json::{Value, json};

use super::harsher::{self, bytes, declarator, depth, flip_first, has, in_const, is_addition, over};
use super::{Fault, FaultRequest, Response, is_number, line_of, with_depth};

/// Whether a fault applies to a variable: its request, its declaration, and its index in the declaration.
type Applies = fn(&FaultRequest<'_>, &Declaration, usize) -> bool;

/// Returns the message about a declaration with this text, or `None` if the subject prints nothing.
type Message = fn(&str) -> Option<String>;

/// Changes the answer to a request. The number is random, but the same for the same request.
type RandomChange = fn(&mut Value, u64) -> Response;

/// Returns all faults of this module.
pub fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(REFUSALS.iter().map(|&(name, applies, message)| refusal(name, applies, message)));
    for &(class, name, response, applies) in CRASHES {
        faults.push(Fault::new(class, name, move |request, _| {
            let applies = request.declarations().any(|declaration| {
                (0..declaration.declarators.len()).any(|index| applies(declaration, index))
            });
            if applies { response } else { Response::Answer }
        }));
    }
    faults.extend(wrong::refusals().map(|class| acceptance(class.name())));
    for &(name, salt, change) in VARYING {
        faults.push(Fault::new("inconsistent", name, move |request, answer| {
            change(answer, random(request, salt))
        }));
    }
    faults.push(varying_shift());
    faults.extend(universal());
    faults
}

/// Creates a fault that accepts the invalid programs of a class.
fn acceptance(class: &'static str) -> Fault {
    let fault = Fault::new("accepts-invalid", format!("accept {class}"), move |_, answer| {
        if answer["refusal"]["class"] == class {
            *answer = json!({"schema": "ptxsmith.module/1", "outcome": "accepted"});
        }
        Response::Answer
    });
    Fault { focus: "negatives", ..fault }
}

/// Creates a fault that rejects the programs with a declaration to which it applies.
fn refusal(name: &str, applies: Applies, message: Message) -> Fault {
    Fault::new("refuses-valid", format!("refuse {name}"), move |request, answer| {
        let mut declarations = request.declarations();
        let failing = declarations.find(|declaration| {
            (0..declaration.declarators.len()).any(|index| applies(request, declaration, index))
        });
        if let Some(declaration) = failing {
            let text = &request.text[declaration.span.start as usize..declaration.span.end as usize];
            let line = line_of(request.text, declaration);
            let diagnostics = match message(text) {
                Some(message) => json!([{"severity": "error", "line": line, "message": message}]),
                None => json!([]),
            };
            *answer =
                json!({"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": diagnostics});
        }
        Response::Answer
    })
}

fn syntax_error(_: &str) -> Option<String> {
    Some("syntax error".to_owned())
}

fn quote(text: &str) -> Option<String> {
    Some(format!("internal error near '{text}' at offset {}", text.len()))
}

fn no_message(_: &str) -> Option<String> {
    None
}

/// Faults that reject valid programs: by form, by context, and with various messages.
const REFUSALS: &[(&str, Applies, Message)] = &[
    (
        "arrays of more than 50 entries",
        |_, d, index| d.declarators[index].values().count() > 50,
        syntax_error,
    ),
    ("comments", |request, _, _| request.text.contains("/*"), syntax_error),
    ("tabs", |request, _, _| request.text.contains('\t'), syntax_error),
    ("names of more than 15 characters", |_, d, index| declarator(d, index).name.text.len() > 15, quote),
    (
        "capital letters in names",
        |_, d, index| declarator(d, index).name.text.chars().any(char::is_uppercase),
        quote,
    ),
    (
        "three parentheses within each other",
        |_, d, _| with_depth(d, |kind| matches!(kind, NodeKind::Paren(_)), 3),
        quote,
    ),
    (
        "% with messages that quote",
        |_, d, _| has(d, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Rem, ..))),
        quote,
    ),
    ("?: without a word", |_, d, _| has(d, |kind| matches!(kind, NodeKind::Ternary(..))), no_message),
    ("+ in .const", |_, d, _| in_const(d) && has(d, is_addition), syntax_error),
    (
        ".v4 in two dimensions",
        |_, d, index| d.vector() == Some(VectorLength::V4) && depth(d, index) == 2,
        syntax_error,
    ),
    (
        "- of parentheses",
        |_, d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| matches!(kind, NodeKind::Paren(_)),
            )
        },
        syntax_error,
    ),
    ("second names", |_, _, index| index == 1, quote),
    (
        "0X with U",
        |_, d, _| has(d, |kind| is_number(kind, |n| n.starts_with("0X") && n.ends_with('U'))),
        syntax_error,
    ),
    (
        "values of .weak",
        |_, d, index| {
            d.linkage().any(|linkage| linkage == Linkage::Weak) && declarator(d, index).initializer.is_some()
        },
        syntax_error,
    ),
    (
        "variables beside a function",
        |request, _, _| request.module.items.iter().any(|item| matches!(item, Item::Function(_))),
        syntax_error,
    ),
    (
        "a list shorter than its array",
        |_, d, index| {
            let declarator = declarator(d, index);
            let length = declarator.dimensions.first().and_then(|length| length.as_ref()?.as_integer());
            matches!((&declarator.initializer, length), (Some(Initializer::List(list)), Some(length)) if (list.items.len() as u64) < length)
        },
        quote,
    ),
    (
        "an empty list behind .align 0b",
        |request, d, index| {
            let text = &request.text[d.span.start as usize..d.span.end as usize];
            text.contains(".align 0b")
                && matches!(&declarator(d, index).initializer, Some(Initializer::List(list)) if list.items.is_empty())
        },
        syntax_error,
    ),
];

/// Crashes and missing answers: the class of the findings, the name, the response, and the variables to which
/// the fault applies.
const CRASHES: &[(&str, &str, Response, harsher::Applies)] = &[
    ("crash", "dies of seven operators in one expression", Response::Crash, |d, _| {
        d.declarators.iter().flat_map(Declarator::values).any(|value| count_operators(value) >= 7)
    }),
    ("crash", "dies of --", Response::Crash, |d, _| {
        over(
            d,
            |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
            |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
        )
    }),
    ("crash", "ends with status 3 at 0b with U", Response::Exit, |d, _| {
        has(d, |kind| is_number(kind, |n| n.starts_with("0b") && n.ends_with('U')))
    }),
    ("crash", "prints what is no answer at ?:", Response::Garbage, |d, _| {
        has(d, |kind| matches!(kind, NodeKind::Ternary(..)))
    }),
    ("crash", "dies of an empty list in three dimensions", Response::Crash, |d, index| {
        depth(d, index) == 3 && declarator(d, index).initializer.as_ref().is_some_and(has_empty)
    }),
    ("crash", "dies of .v2 in two dimensions", Response::Crash, |d, index| {
        d.vector() == Some(VectorLength::V2) && depth(d, index) == 2
    }),
    ("crash", "dies of a negative offset", Response::Crash, |d, _| {
        has(d, |kind| matches!(kind, NodeKind::Name(_)))
            && has(d, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Sub, ..)))
    }),
    ("hang", "hangs at 0B in .const", Response::Hang, |d, _| {
        in_const(d) && has(d, |kind| is_number(kind, |n| n.starts_with("0B")))
    }),
];

fn count_operators(value: &Expr) -> usize {
    let kinds = value.nodes().iter().map(|node| &node.kind);
    kinds.filter(|kind| matches!(kind, NodeKind::Unary(..) | NodeKind::Binary(..))).count()
}

fn has_empty(initializer: &Initializer) -> bool {
    let Initializer::List(list) = initializer else { return false };
    list.items.is_empty() || list.items.iter().any(has_empty)
}

/// Returns a random number that depends on the number of the request.
fn random(request: &FaultRequest<'_>, salt: u64) -> u64 {
    let mut x = (request.number ^ salt << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20
}

fn variables(answer: &mut Value) -> impl Iterator<Item = &mut Value> {
    answer["variables"].as_object_mut().into_iter().flatten().map(|(_, variable)| variable)
}

fn unexplained_refusal() -> Value {
    json!({
        "schema": "ptxsmith.module/1", "outcome": "refused",
        "diagnostics": [{"severity": "error", "line": 4, "message": "out of luck"}],
    })
}

/// Faults that vary between requests: the name, the salt of the random number, and the change.
const VARYING: &[(&str, u64, RandomChange)] = &[
    ("one variable of 1,000 is wrong", 1, |answer, random| {
        for (index, variable) in (0_u64..).zip(variables(answer)) {
            let mixed = (random ^ index.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x2545_f491_4f6c_dd1d);
            if mixed >> 32 & 0xffff_ffff < 4_294_967 {
                flip_first(variable);
            }
        }
        Response::Answer
    }),
    ("one answer of 300 is wrong", 1, |answer, random| {
        if random.is_multiple_of(300) {
            variables(answer).for_each(flip_first);
        }
        Response::Answer
    }),
    ("one answer of 300 is missing", 1, |_, random| {
        if random.is_multiple_of(300) { Response::Crash } else { Response::Answer }
    }),
    ("one answer of 300 is a refusal", 2, |answer, random| {
        if random.is_multiple_of(300) {
            *answer = unexplained_refusal();
        }
        Response::Answer
    }),
];

fn varying_shift() -> Fault {
    Fault::new("inconsistent", "each third << is wrong", |request, answer| {
        if !random(request, 3).is_multiple_of(3) {
            return Response::Answer;
        }
        for declaration in request.declarations() {
            if !has(declaration, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Shl, ..))) {
                continue;
            }
            for declarator in &declaration.declarators {
                if let Some(variable) = answer["variables"].get_mut(&*declarator.name.text) {
                    flip_first(variable);
                }
            }
        }
        Response::Answer
    })
}

/// Returns the faults that affect every request.
fn universal() -> Vec<Fault> {
    vec![
        Fault::new("everything", "refuses everything", |_, answer| {
            *answer = unexplained_refusal();
            Response::Answer
        }),
        Fault::new("accepts-invalid", "accepts everything", |_, answer| {
            if answer["outcome"] == "refused" {
                *answer = json!({"schema": "ptxsmith.module/1", "outcome": "accepted"});
            }
            Response::Answer
        }),
        Fault::new("crash", "dies of everything", |_, _| Response::Crash),
        Fault::new("wrong-value", "every byte is wrong", |_, answer| {
            for variable in variables(answer) {
                bytes(variable, |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0xff));
            }
            Response::Answer
        }),
    ]
}
