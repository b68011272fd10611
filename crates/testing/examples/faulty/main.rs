//! An implementation of PTX that follows the specification except for one planted fault. `cargo xtask
//! planted` uses it to evaluate findings.
//!
//! `faulty` without arguments lists its faults: the class of the findings, the focus of the cases that show
//! the fault, and the name. `faulty NAME` answers requests on standard input in the protocol of `serve:`;
//! NAME may also be the id of a wrong rule. No listed fault is among the wrong rules that triage has as
//! hypotheses. The plain faults combine a form of declaration with an effect; the others are in [`harsher`]
//! and [`whole`].

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
    change: AnswerChange,
}

/// Changes the correct answer to a request, and returns the response of the process.
type AnswerChange = Box<dyn Fn(&FaultRequest<'_>, &mut Value) -> Response>;

/// A request.
struct FaultRequest<'a> {
    text: &'a str,
    module: &'a Module,
    /// The number of earlier requests.
    number: u64,
}

/// The response of the process.
#[derive(Clone, Copy)]
enum Response {
    /// It sends the answer.
    Answer,
    /// It crashes with a signal.
    Crash,
    /// It exits with status 3.
    Exit,
    /// It prints something other than an answer.
    Garbage,
    /// It sends no answer.
    Hang,
}

impl Fault {
    fn new(
        class: &'static str,
        name: impl Into<String>,
        change: impl Fn(&FaultRequest<'_>, &mut Value) -> Response + 'static,
    ) -> Fault {
        Fault { class, focus: "mixed", name: name.into(), change: Box::new(change) }
    }
}

impl<'a> FaultRequest<'a> {
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
            faults.push(Fault::new(class, format!("{word} {name}"), move |request, answer| {
                apply_plain(request, answer, &form, effect)
            }));
        }
    }
    faults.extend(harsher::faults());
    faults.extend(whole::faults());
    faults
}

/// Creates the fault of a wrong rule.
fn by_rule(id: &str) -> Fault {
    let rules = Rules::default().with(wrong::rule(id).change);
    Fault::new("wrong-value", id, move |request, answer| {
        *answer = expect(request.module, &rules).to_json(request.text, &rules.readings);
        Response::Answer
    })
}

fn is_number(kind: &NodeKind, is: impl Fn(&str) -> bool) -> bool {
    matches!(kind, NodeKind::Number(text) if is(text))
}

/// Returns true if an initializer of the declaration has at least `least` such nodes nested within each
/// other.
fn with_depth(declaration: &Declaration, is: impl Fn(&NodeKind) -> bool, least: usize) -> bool {
    let mut values = declaration.declarators.iter().flat_map(Declarator::values);
    values.any(|value| nesting_depth(value, &is) >= least)
}

/// Returns the maximum number of such nodes that are nested within each other.
fn nesting_depth(value: &Expr, is: impl Fn(&NodeKind) -> bool) -> usize {
    let mut depths: Vec<usize> = Vec::new();
    for node in value.nodes() {
        let operands = match node.kind {
            NodeKind::Paren(a) | NodeKind::Unary(_, a) | NodeKind::Cast(_, a) => vec![a],
            NodeKind::Generic(a) | NodeKind::Mask(_, a) => vec![a],
            NodeKind::Binary(_, a, b) => vec![a, b],
            NodeKind::Ternary(a, b, c) => vec![a, b, c],
            _ => Vec::new(),
        };
        let deepest = operands.into_iter().map(|operand| depths[operand as usize]).max().unwrap_or(0);
        depths.push(deepest + usize::from(is(&node.kind)));
    }
    depths.into_iter().max().unwrap_or(0)
}

fn nodes(declaration: &Declaration) -> impl Iterator<Item = &NodeKind> {
    let values = declaration.declarators.iter().flat_map(Declarator::values);
    values.flat_map(Expr::nodes).map(|node| &node.kind)
}

/// The declarations with such a node in an initializer.
fn with_node(is: impl Fn(&NodeKind) -> bool + 'static) -> Form {
    Box::new(move |declaration| nodes(declaration).any(&is))
}

/// The declarations with such a number in an initializer.
fn with_number(is: impl Fn(&str) -> bool + 'static) -> Form {
    with_node(move |kind| is_number(kind, &is))
}

/// The declarations with such a declarator.
fn with_declarator(is: impl Fn(&Declarator) -> bool + 'static) -> Form {
    Box::new(move |declaration| declaration.declarators.iter().any(&is))
}

/// The declarations with such a list, which is given with its nesting depth.
fn with_list(is: impl Fn(&[Initializer], usize) -> bool + 'static) -> Form {
    fn within(initializer: &Initializer, depth: usize, is: &dyn Fn(&[Initializer], usize) -> bool) -> bool {
        let Initializer::List(list) = initializer else { return false };
        is(&list.items, depth) || list.items.iter().any(|item| within(item, depth + 1, is))
    }
    with_declarator(move |declarator| {
        declarator.initializer.as_ref().is_some_and(|value| within(value, 0, &is))
    })
}

/// Returns every form with its name.
fn forms() -> Vec<(String, Form)> {
    let mut forms = tabulated_forms();
    for (name, form) in value_forms().into_iter().chain(declaration_forms()) {
        forms.push((name.to_owned(), form));
    }
    forms
}

/// Returns the forms of every operator, type, state space, vector length and linkage.
fn tabulated_forms() -> Vec<(String, Form)> {
    let mut forms: Vec<(String, Form)> = Vec::new();
    for &op in UnaryOp::ALL.iter() {
        let form = with_node(move |kind| matches!(kind, NodeKind::Unary(other, _) if *other == op));
        forms.push((format!("unary {}", op.symbol()), form));
    }
    for &op in BinaryOp::ALL.iter() {
        let form = with_node(move |kind| matches!(kind, NodeKind::Binary(other, ..) if *other == op));
        forms.push((op.symbol().to_owned(), form));
    }
    for ty in ScalarType::ALL {
        let form: Form = Box::new(move |declaration| declaration.scalar_type() == Some(ty));
        forms.push((ty.keyword().to_owned(), form));
    }
    for space in [StateSpace::Global, StateSpace::Const, StateSpace::Shared] {
        let form: Form = Box::new(move |declaration| declaration.space() == Some(space));
        forms.push((format!(".{}", space.name()), form));
    }
    for (name, length) in [(".v2", VectorLength::V2), (".v4", VectorLength::V4)] {
        forms.push((name.to_owned(), Box::new(move |declaration| declaration.vector() == Some(length))));
    }
    for (name, linkage) in
        [(".visible", Linkage::Visible), (".weak", Linkage::Weak), (".extern", Linkage::Extern)]
    {
        let form: Form = Box::new(move |declaration| declaration.linkage().any(|other| other == linkage));
        forms.push((name.to_owned(), form));
    }
    forms
}

/// Returns the forms of values.
fn value_forms() -> Vec<(&'static str, Form)> {
    vec![
        ("ternary", with_node(|kind| matches!(kind, NodeKind::Ternary(..)))),
        ("cast", with_node(|kind| matches!(kind, NodeKind::Cast(..)))),
        ("parentheses", with_node(|kind| matches!(kind, NodeKind::Paren(_)))),
        ("WARP_SZ", with_node(|kind| *kind == NodeKind::WarpSize)),
        ("generic", with_node(|kind| matches!(kind, NodeKind::Generic(_)))),
        ("mask", with_node(|kind| matches!(kind, NodeKind::Mask(..)))),
        ("name", with_node(|kind| matches!(kind, NodeKind::Name(_)))),
        ("0X", with_number(|text| text.starts_with("0X"))),
        ("0x", with_number(|text| text.starts_with("0x"))),
        ("0b", with_number(|text| text.starts_with("0b"))),
        ("0B", with_number(|text| text.starts_with("0B"))),
        (
            "octal",
            with_number(|text| {
                text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
            }),
        ),
        ("zero", with_number(|text| text == "0")),
        ("U", with_number(|text| text.ends_with('U'))),
        ("0f", with_number(|text| text.starts_with("0f"))),
        ("0F", with_number(|text| text.starts_with("0F"))),
        ("0d", with_number(|text| text.starts_with("0d"))),
        ("0D", with_number(|text| text.starts_with("0D"))),
        ("point", with_number(|text| text.contains('.'))),
        ("point last", with_number(|text| text.ends_with('.'))),
        (
            "exponent",
            with_number(|text| {
                !text.starts_with("0x") && !text.starts_with("0d") && text.contains('.') && text.contains('e')
            }),
        ),
        (
            "twenty digits",
            with_number(|text| text.len() >= 20 && text.bytes().all(|byte| byte.is_ascii_digit())),
        ),
        ("a hundred", with_number(|text| text.parse::<u64>().is_ok_and(|value| value == 100))),
        (
            "over 32 bits",
            with_number(|text| text.parse::<u64>().is_ok_and(|value| value > u64::from(u32::MAX))),
        ),
    ]
}

/// Returns the forms of declarations, names and lists.
fn declaration_forms() -> Vec<(&'static str, Form)> {
    vec![
        (".align", Box::new(|declaration| declaration.align().is_some())),
        ("attribute", Box::new(|declaration| declaration.attributes().next().is_some())),
        ("two names", Box::new(|declaration| declaration.declarators.len() > 1)),
        ("numbered name", with_declarator(|declarator| declarator.count.is_some())),
        ("name with $", with_declarator(|declarator| declarator.name.text.contains('$'))),
        ("name with %", with_declarator(|declarator| declarator.name.text.contains('%'))),
        ("no value", with_declarator(|declarator| declarator.initializer.is_none())),
        ("1 dimensions", with_declarator(|declarator| declarator.dimensions.len() == 1)),
        ("2 dimensions", with_declarator(|declarator| declarator.dimensions.len() == 2)),
        ("3 dimensions", with_declarator(|declarator| declarator.dimensions.len() == 3)),
        ("dimension left out", with_declarator(|declarator| declarator.dimensions.first() == Some(&None))),
        (
            "dimension of 1",
            with_declarator(|declarator| {
                declarator.dimensions.iter().flatten().any(|dimension| dimension.as_integer() == Some(1))
            }),
        ),
        ("empty list", with_list(|items, _| items.is_empty())),
        ("list of one", with_list(|items, _| items.len() == 1)),
        ("list in a list", with_list(|_, depth| depth == 1)),
        (
            "lists of two lengths",
            with_list(|items, _| {
                let lengths = items.iter().filter_map(|item| match item {
                    Initializer::List(list) => Some(list.items.len()),
                    _ => None,
                });
                lengths.clone().min() != lengths.max()
            }),
        ),
    ]
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
    for (number, line) in (0..).zip(std::io::stdin().lock().lines().map_while(Result::ok)) {
        let request: Value = serde_json::from_str(&line).expect("a question");
        let text = request["ptx"].as_str().unwrap_or_default();
        let (observation, response) = observe(text, number, &fault);
        match response {
            Response::Answer => println!("{}", json!({"id": request["id"], "observation": observation})),
            Response::Crash => std::process::abort(),
            Response::Exit => return ExitCode::from(3),
            Response::Garbage => println!("assertion failed"),
            Response::Hang => loop {
                std::thread::park();
            },
        }
        std::io::stdout().flush().expect("somebody reads");
    }
    ExitCode::SUCCESS
}

/// Returns the answer after the fault has changed it, and the response of the process.
fn observe(text: &str, number: u64, fault: &Fault) -> (Value, Response) {
    let Ok(module) = parse(text) else { return (refusal(vec![(1, "syntax error")]), Response::Answer) };
    let rules = Rules::default();
    let mut answer = expect(&module, &rules).to_json(text, &rules.readings);
    if answer["outcome"] == "unmodelled" {
        return (json!({"schema": "ptxsmith.module/1", "outcome": "unsupported"}), Response::Answer);
    }
    let response = (fault.change)(&FaultRequest { text, module: &module, number }, &mut answer);
    (answer, response)
}

/// Applies a plain fault to the declarations of its form.
fn apply_plain(request: &FaultRequest<'_>, answer: &mut Value, form: &Form, effect: Effect) -> Response {
    let failing: Vec<&Declaration> = request.declarations().filter(|declaration| form(declaration)).collect();
    if failing.is_empty() {
        return Response::Answer;
    }
    match effect {
        Effect::Crash => return Response::Crash,
        Effect::Refuse => {
            let lines =
                failing.iter().map(|declaration| (line_of(request.text, declaration), "not understood"));
            *answer = refusal(lines.collect());
        }
        Effect::Wrong => {
            for declaration in failing {
                for declarator in &declaration.declarators {
                    if let Some(variable) = answer["variables"].get_mut(&*declarator.name.text) {
                        harsher::bytes(variable, |bytes| {
                            for offset in changed_offsets(declaration, declarator, form, bytes.len()) {
                                bytes[offset] ^= 1;
                            }
                        });
                    }
                }
            }
        }
    }
    Response::Answer
}

/// Returns the line on which a declaration begins.
fn line_of(text: &str, declaration: &Declaration) -> usize {
    1 + text[..declaration.span.start as usize].matches('\n').count()
}

/// Returns the offsets of the bytes to change: the first byte of each list entry that has the form by itself,
/// because the entries may be unrelated test cases. If there is none, returns the first byte of the variable.
fn changed_offsets(
    declaration: &Declaration,
    declarator: &Declarator,
    form: &Form,
    size: usize,
) -> Vec<usize> {
    let first_byte = if size > 0 { vec![0] } else { Vec::new() };
    let (Some(Initializer::List(list)), Some(length)) =
        (&declarator.initializer, declaration.scalar_type().and_then(ScalarType::size))
    else {
        return first_byte;
    };
    let has_lists = list.items.iter().any(|item| !matches!(item, Initializer::Value(_)));
    if declarator.dimensions.len() != 1 || declaration.vector().is_some() || has_lists {
        return first_byte;
    }
    let entries = (0..).step_by(length as usize).zip(&list.items);
    let with_form = entries.filter(|(_, item)| form(&scalar_declaration(declaration, declarator, item)));
    let offsets: Vec<usize> = with_form.map(|(offset, _)| offset).collect();
    if offsets.is_empty() { first_byte } else { offsets }
}

/// Returns the declaration of a scalar with this value, and otherwise like a declarator.
fn scalar_declaration(
    declaration: &Declaration,
    declarator: &Declarator,
    value: &Initializer,
) -> Declaration {
    let mut scalar = declarator.clone();
    scalar.initializer = Some(value.clone());
    scalar.dimensions = Vec::new();
    Declaration { declarators: vec![scalar], ..declaration.clone() }
}

fn declarations(module: &Module) -> impl Iterator<Item = &Declaration> {
    module.items.iter().filter_map(|item| match item {
        Item::Variables(declaration) => Some(declaration),
        _ => None,
    })
}

fn refusal(lines: Vec<(usize, &str)>) -> Value {
    let diagnostics = lines.into_iter();
    let diagnostics: Vec<Value> = diagnostics
        .map(|(line, message)| json!({"severity": "error", "line": line, "message": message}))
        .collect();
    json!({"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": diagnostics})
}
