//! An implementation of PTX that follows the specification except for one planted fault. `cargo xtask planted` uses it
//! to evaluate findings.
//!
//! `faulty` without arguments lists its faults: the class of the findings, the focus of the cases that show the fault,
//! and the name. `faulty NAME` answers requests on standard input in the protocol of `serve:`; NAME may also be the id
//! of a wrong rule. No listed fault is among the wrong rules that triage has as hypotheses. The plain faults combine a
//! form of declaration with an effect; the others are in [`harsher`] and [`whole`].

mod harsher;
mod whole;

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use ptxsmith_oracle::{Rules, expect};
use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Initializer, Item, Linkage, Module, NodeKind, ScalarType,
    StateSpace, UnaryOp, VectorLength, parse,
};
use ptxsmith_testing::wrong;
use serde_json::{Value, json};

/// Tests whether a declaration has a form.
type Form = Box<dyn Fn(&Declaration) -> bool>;

/// The effect of a plain fault on declarations of its form.
#[derive(Clone, Copy)]
enum Effect {
    /// The declarations are rejected.
    Refuse,
    /// The process crashes.
    Crash,
    /// One bit in the first byte of their variables is inverted.
    Wrong,
}

/// A planted fault.
struct Fault {
    /// The class of its findings.
    class: &'static str,
    /// The focus of the cases that show the fault.
    focus: &'static str,
    name: String,
    act: Act,
}

/// Changes the correct answer to a request, and says how the process responds.
type Act = Box<dyn Fn(&Asked<'_>, &mut Value) -> Deed>;

/// A request.
struct Asked<'a> {
    text: &'a str,
    module: &'a Module,
    /// The number of earlier requests.
    nth: u64,
}

/// The response of the process.
#[derive(Clone, Copy)]
enum Deed {
    /// It sends the answer.
    Answers,
    /// It crashes with a signal.
    Dies,
    /// It exits with status 3.
    Ends,
    /// It prints something other than an answer.
    Prattles,
    /// It sends no answer.
    Hangs,
}

impl Fault {
    fn new(
        class: &'static str,
        name: impl Into<String>,
        act: impl Fn(&Asked<'_>, &mut Value) -> Deed + 'static,
    ) -> Fault {
        Fault { class, focus: "mixed", name: name.into(), act: Box::new(act) }
    }
}

impl<'a> Asked<'a> {
    fn declarations(&self) -> impl Iterator<Item = &'a Declaration> + use<'a> {
        declarations(self.module)
    }
}

/// Returns every fault.
fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, form) in forms() {
        let form = std::rc::Rc::new(form);
        for (class, word, effect) in [
            ("refuses-valid", "refuse", Effect::Refuse),
            ("crash", "crash", Effect::Crash),
            ("wrong-value", "wrong", Effect::Wrong),
        ] {
            let form = form.clone();
            let act = move |asked: &Asked<'_>, right: &mut Value| plain(asked, right, &form, effect);
            faults.push(Fault::new(class, format!("{word} {name}"), act));
        }
    }
    faults.extend(harsher::faults());
    faults.extend(whole::faults());
    faults
}

/// Creates the fault of a wrong rule.
fn by_rule(id: &str) -> Fault {
    let rules = Rules::default().with(wrong::rule(id).change);
    Fault::new("wrong-value", id, move |asked, seen| {
        *seen = expect(asked.module, &rules).to_json(asked.text, &rules.readings);
        Deed::Answers
    })
}

fn number(kind: &NodeKind, is: impl Fn(&str) -> bool) -> bool {
    matches!(kind, NodeKind::Number(text) if is(text))
}

/// Returns true if an initializer of the declaration has at least `least` such nodes nested within each other.
fn with_depth(declaration: &Declaration, is: impl Fn(&NodeKind) -> bool, least: usize) -> bool {
    let deep = |value: &Expr| {
        let mut depths: Vec<usize> = Vec::new();
        for node in value.nodes() {
            let operands = match node.kind {
                NodeKind::Paren(a) | NodeKind::Unary(_, a) | NodeKind::Cast(_, a) => vec![a],
                NodeKind::Generic(a) | NodeKind::Mask(_, a) => vec![a],
                NodeKind::Binary(_, a, b) => vec![a, b],
                NodeKind::Ternary(a, b, c) => vec![a, b, c],
                _ => Vec::new(),
            };
            let most = operands.into_iter().map(|at| depths[at as usize]).max().unwrap_or(0);
            depths.push(most + usize::from(is(&node.kind)));
        }
        depths.into_iter().max() >= Some(least)
    };
    declaration.declarators.iter().flat_map(Declarator::values).any(deep)
}

fn nodes(declaration: &Declaration) -> impl Iterator<Item = &NodeKind> {
    let values = declaration.declarators.iter().flat_map(Declarator::values);
    values.flat_map(Expr::nodes).map(|node| &node.kind)
}

fn holds(is: impl Fn(&NodeKind) -> bool + 'static) -> Form {
    Box::new(move |declaration| nodes(declaration).any(&is))
}

fn spelling(is: impl Fn(&str) -> bool + 'static) -> Form {
    holds(move |kind| number(kind, &is))
}

fn any(is: impl Fn(&Declarator) -> bool + 'static) -> Form {
    Box::new(move |declaration| declaration.declarators.iter().any(&is))
}

fn list(is: impl Fn(&[Initializer], usize) -> bool + 'static) -> Form {
    fn within(initializer: &Initializer, depth: usize, is: &dyn Fn(&[Initializer], usize) -> bool) -> bool {
        let Initializer::List(list) = initializer else { return false };
        is(&list.items, depth) || list.items.iter().any(|item| within(item, depth + 1, is))
    }
    any(move |declarator| declarator.initializer.as_ref().is_some_and(|value| within(value, 0, &is)))
}

/// Returns every form with its name.
fn forms() -> Vec<(String, Form)> {
    let mut forms: Vec<(String, Form)> = Vec::new();
    let mut add = |name: &str, form: Form| forms.push((name.to_owned(), form));
    for &op in UnaryOp::ALL.iter() {
        add(
            &format!("unary {}", op.symbol()),
            holds(move |kind| matches!(kind, NodeKind::Unary(own, _) if *own == op)),
        );
    }
    for &op in BinaryOp::ALL.iter() {
        add(op.symbol(), holds(move |kind| matches!(kind, NodeKind::Binary(own, ..) if *own == op)));
    }
    for ty in ScalarType::ALL {
        add(ty.keyword(), Box::new(move |declaration| declaration.scalar_type() == Some(ty)));
    }
    for (name, space) in
        [(".global", StateSpace::Global), (".const", StateSpace::Const), (".shared", StateSpace::Shared)]
    {
        add(name, Box::new(move |declaration| declaration.space() == Some(space)));
    }
    for (name, length) in [(".v2", VectorLength::V2), (".v4", VectorLength::V4)] {
        add(name, Box::new(move |declaration| declaration.vector() == Some(length)));
    }
    for (name, linkage) in
        [(".visible", Linkage::Visible), (".weak", Linkage::Weak), (".extern", Linkage::Extern)]
    {
        add(name, Box::new(move |declaration| declaration.linkage().any(|own| own == linkage)));
    }
    add("ternary", holds(|kind| matches!(kind, NodeKind::Ternary(..))));
    add("cast", holds(|kind| matches!(kind, NodeKind::Cast(..))));
    add("parentheses", holds(|kind| matches!(kind, NodeKind::Paren(_))));
    add("WARP_SZ", holds(|kind| *kind == NodeKind::WarpSize));
    add("generic", holds(|kind| matches!(kind, NodeKind::Generic(_))));
    add("mask", holds(|kind| matches!(kind, NodeKind::Mask(..))));
    add("name", holds(|kind| matches!(kind, NodeKind::Name(_))));
    add("0X", spelling(|text| text.starts_with("0X")));
    add("0x", spelling(|text| text.starts_with("0x")));
    add("0b", spelling(|text| text.starts_with("0b")));
    add("0B", spelling(|text| text.starts_with("0B")));
    add(
        "octal",
        spelling(|text| {
            text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
        }),
    );
    add("zero", spelling(|text| text == "0"));
    add("U", spelling(|text| text.ends_with('U')));
    add("0f", spelling(|text| text.starts_with("0f")));
    add("0F", spelling(|text| text.starts_with("0F")));
    add("0d", spelling(|text| text.starts_with("0d")));
    add("0D", spelling(|text| text.starts_with("0D")));
    add("point", spelling(|text| text.contains('.')));
    add("point last", spelling(|text| text.ends_with('.')));
    add(
        "exponent",
        spelling(|text| {
            !text.starts_with("0x") && !text.starts_with("0d") && text.contains('.') && text.contains('e')
        }),
    );
    add("twenty digits", spelling(|text| text.len() >= 20 && text.bytes().all(|byte| byte.is_ascii_digit())));
    add("a hundred", spelling(|text| text.parse::<u64>().is_ok_and(|value| value == 100)));
    add("over 32 bits", spelling(|text| text.parse::<u64>().is_ok_and(|value| value > u64::from(u32::MAX))));
    add(".align", Box::new(|declaration| declaration.align().is_some()));
    add("attribute", Box::new(|declaration| declaration.attributes().next().is_some()));
    add("two names", Box::new(|declaration| declaration.declarators.len() > 1));
    add("numbered name", any(|declarator| declarator.count.is_some()));
    add("name with $", any(|declarator| declarator.name.text.contains('$')));
    add("name with %", any(|declarator| declarator.name.text.contains('%')));
    add("no value", any(|declarator| declarator.initializer.is_none()));
    for depth in 1..=3 {
        add(&format!("{depth} dimensions"), any(move |declarator| declarator.dimensions.len() == depth));
    }
    add("dimension left out", any(|declarator| declarator.dimensions.first() == Some(&None)));
    add(
        "dimension of 1",
        any(|declarator| {
            declarator.dimensions.iter().flatten().any(|dimension| dimension.as_integer() == Some(1))
        }),
    );
    add("empty list", list(|items, _| items.is_empty()));
    add("list of one", list(|items, _| items.len() == 1));
    add("list in a list", list(|_, depth| depth == 1));
    add(
        "lists of two lengths",
        list(|items, _| {
            let lengths: Vec<usize> = (items.iter())
                .filter_map(
                    |item| if let Initializer::List(list) = item { Some(list.items.len()) } else { None },
                )
                .collect();
            lengths.windows(2).any(|pair| pair[0] != pair[1])
        }),
    );
    forms
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for Fault { class, focus, name, .. } in faults() {
            println!("{class}\t{focus}\t{name}");
        }
        return ExitCode::SUCCESS;
    };
    if arguments.any(|argument| argument == "--describe") {
        println!(
            "{}",
            json!({"schema": "ptxsmith.subject/1", "name": "faulty", "version": "1", "lists": true})
        );
        return ExitCode::SUCCESS;
    }
    let fault = faults().into_iter().find(|fault| fault.name == name).unwrap_or_else(|| by_rule(&name));
    for (nth, line) in (0..).zip(std::io::stdin().lock().lines().map_while(Result::ok)) {
        let request: Value = serde_json::from_str(&line).expect("a question");
        let text = request["ptx"].as_str().unwrap_or_default();
        let (observation, deed) = observe(text, nth, &fault);
        match deed {
            Deed::Answers => println!("{}", json!({"id": request["id"], "observation": observation})),
            Deed::Dies => std::process::abort(),
            Deed::Ends => return ExitCode::from(3),
            Deed::Prattles => println!("assertion failed"),
            Deed::Hangs => loop {
                std::thread::park();
            },
        }
        std::io::stdout().flush().expect("somebody reads");
    }
    ExitCode::SUCCESS
}

/// Returns the answer after the fault has changed it, and the response of the process.
fn observe(text: &str, nth: u64, fault: &Fault) -> (Value, Deed) {
    let Ok(module) = parse(text) else { return (refusal(vec![(1, "syntax error")]), Deed::Answers) };
    let rules = Rules::default();
    let mut seen = expect(&module, &rules).to_json(text, &rules.readings);
    if seen["outcome"] == "unmodelled" {
        return (json!({"schema": "ptxsmith.module/1", "outcome": "unsupported"}), Deed::Answers);
    }
    let deed = (fault.act)(&Asked { text, module: &module, nth }, &mut seen);
    (seen, deed)
}

/// Applies a plain fault to the declarations of its form.
fn plain(asked: &Asked<'_>, seen: &mut Value, form: &Form, effect: Effect) -> Deed {
    let text = asked.text;
    let failing: Vec<&Declaration> = asked.declarations().filter(|declaration| form(declaration)).collect();
    match effect {
        _ if failing.is_empty() => {}
        Effect::Crash => return Deed::Dies,
        Effect::Refuse => {
            let line = |declaration: &&Declaration| {
                (1 + text[..declaration.span.start as usize].matches('\n').count(), "not understood")
            };
            *seen = refusal(failing.iter().map(line).collect());
        }
        Effect::Wrong => {
            for declaration in failing {
                for declarator in &declaration.declarators {
                    let Some(variable) = seen["variables"].get_mut(&*declarator.name.text) else { continue };
                    let Some(bytes) = variable["bytes"].as_str().map(str::to_owned) else { continue };
                    let mut bytes: Vec<String> = bytes
                        .as_bytes()
                        .chunks(2)
                        .map(|byte| String::from_utf8_lossy(byte).into_owned())
                        .collect();
                    for at in places(declaration, declarator, form, bytes.len()) {
                        let byte = u8::from_str_radix(&bytes[at], 16).unwrap_or_default() ^ 1;
                        bytes[at] = format!("{byte:02x}");
                    }
                    variable["bytes"] = bytes.concat().into();
                }
            }
        }
    }
    Deed::Answers
}

/// Returns the offsets of the bytes to change: the first byte of each list entry that has the form by itself, because
/// the entries may be unrelated test cases. If there is none, returns the first byte of the variable.
fn places(declaration: &Declaration, declarator: &Declarator, form: &Form, size: usize) -> Vec<usize> {
    let whole = if size > 0 { vec![0] } else { Vec::new() };
    let (Some(Initializer::List(list)), Some(length)) =
        (&declarator.initializer, declaration.scalar_type().and_then(ScalarType::size))
    else {
        return whole;
    };
    let has_form = |value: &Initializer| {
        let mut alone = declarator.clone();
        (alone.initializer, alone.dimensions) = (Some(value.clone()), Vec::new());
        form(&Declaration { declarators: vec![alone], ..declaration.clone() })
    };
    let plain = |item: &Initializer| matches!(item, Initializer::Value(_));
    if declarator.dimensions.len() != 1 || declaration.vector().is_some() || !list.items.iter().all(plain) {
        return whole;
    }
    let entries = (0..).step_by(length as usize).zip(&list.items);
    let entries: Vec<usize> = entries.filter(|(_, item)| has_form(item)).map(|(at, _)| at).collect();
    if entries.is_empty() { whole } else { entries }
}

fn declarations(module: &Module) -> impl Iterator<Item = &Declaration> {
    module.items.iter().filter_map(|item| if let Item::Variables(own) = item { Some(own) } else { None })
}

fn refusal(lines: Vec<(usize, &str)>) -> Value {
    let say = |(line, message)| json!({"severity": "error", "line": line, "message": message});
    let diagnostics: Vec<Value> = lines.into_iter().map(say).collect();
    json!({"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": diagnostics})
}
