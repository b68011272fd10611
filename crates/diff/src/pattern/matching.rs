//! Matching: whether a node passes a test, and the places that the test leads to.

use ptxsmith_oracle::{Evaluator, Rules, Stored, Trace, special_register};
use ptxsmith_syntax::{Item, Number, ScalarType, Span, StateSpace, Text, print, read_number};

use super::facts::Facts;
use super::language::{Comparison, Test, version};
use super::tree::{Kind, Node, Thing};

impl Test {
    /// Whether a node passes the test.
    pub fn holds(&self, node: &Node<'_>, facts: &Facts<'_>) -> bool {
        match self {
            Test::All(tests) => tests.iter().all(|test| test.holds(node, facts)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(node, facts)),
            Test::Not(test) => !test.holds(node, facts),
            Test::Kind(kind) => node.kind == Some(*kind),
            Test::Word(word) => words(node).iter().any(|own| is_like(own, word, facts)),
            Test::Text(text) => is_like(&node.text, text, facts),
            Test::Is(property) => is(property, node, facts),
            Test::Compare(quantity, comparison) => compares(quantity, *comparison, node, facts),
            Test::Program(text) => print(&facts.module.without_header()) == *text,
            Test::Target(target) => facts.module.targets().any(|own| is_like(own, target, facts)),
            Test::Step("each", test) => node.parts.iter().all(|part| test.holds(part, facts)),
            Test::Step(step, test) => {
                let mut found = false;
                step_to(step, node, &mut |other| found = found || test.holds(other, facts));
                found
            }
            Test::Behind(..) => !self.behind(node, facts).is_empty(),
            Test::Count(comparison, test) => {
                comparison.holds(node.parts.iter().filter(|part| test.holds(part, facts)).count() as i128)
            }
        }
    }

    /// Returns the parts of a node that pass the second test of a [`Test::Behind`] and follow a part that passes the first.
    fn behind<'n, 'm>(&self, node: &'n Node<'m>, facts: &Facts<'_>) -> Vec<&'n Node<'m>> {
        let Test::Behind(is_next, first, second) = self else { return Vec::new() };
        let mut is_behind = false;
        let mut found = Vec::new();
        for part in &node.parts {
            if is_behind && second.holds(part, facts) {
                found.push(part);
            }
            let is_first = first.holds(part, facts);
            is_behind = is_first || is_behind && !is_next;
        }
        found
    }

    /// Whether the test has a step from the node to other nodes.
    fn leads(&self, node: &Node<'_>, facts: &Facts<'_>) -> bool {
        match self {
            Test::All(tests) => tests.iter().any(|test| test.leads(node, facts)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(node, facts) && test.leads(node, facts)),
            Test::Step("each", _) => false,
            Test::Step(..) | Test::Behind(..) => true,
            _ => false,
        }
    }

    /// Appends to `found` the places where the last step of the test leads; the node itself if the test has no step. The node must pass the
    /// test.
    pub fn places(&self, node: &Node<'_>, facts: &Facts<'_>, found: &mut Vec<Span>) {
        match self {
            Test::All(tests) => match tests.iter().rfind(|test| test.leads(node, facts)) {
                Some(last) => last.places(node, facts, found),
                None => found.push(node.span),
            },
            Test::Any(tests) => {
                let holding = tests.iter().filter(|test| test.holds(node, facts));
                holding.for_each(|test| test.places(node, facts, found));
            }
            Test::Step(step, test) if *step != "each" => step_to(step, node, &mut |other| {
                if test.holds(other, facts) {
                    test.places(other, facts, found);
                }
            }),
            Test::Behind(_, _, test) => {
                self.behind(node, facts).iter().for_each(|other| test.places(other, facts, found));
            }
            _ => found.push(node.span),
        }
    }
}

/// Calls `show` for each node that a step leads to.
fn step_to<'n, 'm>(step: &str, node: &'n Node<'m>, show: &mut dyn FnMut(&Node<'m>)) {
    match step {
        "has" => {
            show(node);
            node.parts.iter().for_each(|part| step_to(step, part, show));
        }
        "child" => node.parts.iter().for_each(&mut *show),
        "first" => node.parts.iter().take(1).for_each(&mut *show),
        "last" => node.parts.iter().next_back().into_iter().for_each(&mut *show),
        "second" => node.parts.iter().skip(1).take(1).for_each(&mut *show),
        // Follow the left end of a sum or an address. Vectors and parentheses stop the descent: their contents are something else.
        "begins" => {
            let mut leftmost = node;
            while let (Some(Kind::Operator | Kind::Address | Kind::Element), Some(first)) =
                (leftmost.kind, leftmost.parts.first())
            {
                leftmost = first;
            }
            show(leftmost);
        }
        "bare" => {
            let mut inner = node;
            while let (Some(Kind::Parens), Some(first)) = (inner.kind, inner.parts.first()) {
                inner = first;
            }
            show(inner);
        }
        "from" => node.setter.iter().for_each(|setter| show(setter)),
        // The step `of`: from a component to its name.
        _ => show(&Node {
            kind: Some(Kind::Name),
            text: node.text.clone(),
            span: node.span,
            thing: node.thing.clone(),
            ..Node::default()
        }),
    }
}

/// Returns the dotted words of a node, or of the declaration that a name refers to.
fn words<'n>(node: &'n Node<'_>) -> &'n [Text] {
    match (node.kind, &node.thing) {
        (Some(Kind::Word | Kind::Align), _) => std::slice::from_ref(&node.text),
        (Some(Kind::Name), Some(thing)) => &thing.words,
        _ => &node.words,
    }
}

/// Whether a text matches a pattern with wildcards: `*` for any characters, `#` for one or more digits, `{body}` for the name of a variable
/// that a body declares, `{function}` for the name of a function or of another kernel.
fn is_like(text: &str, like: &str, facts: &Facts<'_>) -> bool {
    let Some(at) = like.find(['*', '#', '{']) else { return text == like };
    let Some(text) = text.strip_prefix(&like[..at]) else { return false };
    let (length, fits): (usize, fn(&str, &Facts<'_>) -> bool) = match &like[at..] {
        rest if rest.starts_with("{body}") => (6, |name, facts| facts.inner.contains(name)),
        rest if rest.starts_with("{function}") => (10, |name, facts| facts.is_function(name)),
        rest if rest.starts_with('#') => {
            (1, |part, _| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        }
        _ => (1, |_, _| true),
    };
    let ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
    let mut ends = ends.filter(|end| fits(&text[..*end], facts));
    ends.any(|end| is_like(&text[end..], &like[at + length..], facts))
}

fn is(property: &str, node: &Node<'_>, facts: &Facts<'_>) -> bool {
    let thing = node.thing.as_deref().filter(|_| node.kind == Some(Kind::Name));
    let what = thing.map_or("", |thing| thing.what);
    let of_thing = |holds: fn(&Thing) -> bool| node.thing.as_deref().is_some_and(holds);
    let of_words = |holds: fn(&str) -> bool| words(node).iter().any(|word| holds(word));
    match property {
        "any" => true,
        "function" => node.kind == Some(Kind::Function) || what == "function",
        "label" => node.kind == Some(Kind::Label) || matches!(what, "label" | "prototype"),
        "opaque" => what == "variable" && of_thing(|thing| thing.is_opaque),
        "special" => node.kind == Some(Kind::Name) && special_register(&node.text),
        "undeclared" => node.kind == Some(Kind::Name) && thing.is_none() && !special_register(&node.text),
        "body" => node.in_body || of_thing(|thing| thing.in_body || thing.is_parameter),
        "parameter" => node.in_parameters || of_thing(|thing| thing.is_parameter),
        "passed" => of_thing(|thing| thing.is_passed),
        "set" => of_thing(|thing| thing.is_set),
        "used" => of_thing(|thing| thing.is_used),
        "hidden" => node.hidden,
        "numbered" => node.repeats == Some(true),
        "respelled" => node.repeats == Some(false),
        "constant" => is_constant(node),
        "integer" => matches!(number(node), Some(Number::Integer { .. })) || node.text == "WARP_SZ",
        "unsigned" => matches!(number(node), Some(Number::Integer { unsigned: true, .. })),
        "single" => matches!(number(node), Some(Number::SingleBits(_))),
        "beyond" => matches!(number(node), Some(Number::Integer { value: None, .. })),
        "power" => value(node, facts).is_some_and(|value| value > 0 && value & (value - 1) == 0),
        "type" => of_words(|word| ScalarType::from_keyword(word).is_some()),
        "space" => of_words(|word| StateSpace::from_keyword(word).is_some()),
        "ascii" => node.text.is_ascii() && words(node).iter().all(|word| word.is_ascii()),
        "missing" => lane(words(node)).is_some_and(|lane| {
            node.thing.as_deref().is_some_and(|thing| thing.lanes > 1 && lane >= thing.lanes)
        }),
        "header" => matches!(facts.module.items.first(), Some(Item::Version(_) | Item::Target(_))),
        _ => what == property,
    }
}

/// Returns the index of the vector element that a suffix names.
fn lane(words: &[Text]) -> Option<u64> {
    let suffix = words.first()?;
    let place = [[".x", ".r"], [".y", ".g"], [".z", ".b"], [".w", ".a"]];
    place.iter().zip(0..).find(|(names, _)| names.contains(&suffix.as_str())).map(|(_, lane)| lane)
}

fn compares(quantity: &str, comparison: Comparison, node: &Node<'_>, facts: &Facts<'_>) -> bool {
    let (size, total) = node.bytes;
    let bytes = |bytes: u128| i128::try_from(bytes).unwrap_or(i128::MAX);
    let value = match quantity {
        "size" => Some(bytes(size)),
        // Only the declarator with which the sum first satisfies the comparison matches.
        "total" => {
            return comparison.holds(bytes(total)) && !comparison.holds(bytes(total - size.min(total)));
        }
        "bytes" => {
            let scalar = node.thing.as_deref().and_then(|thing| thing.scalar);
            scalar.map(|scalar| i128::from(scalar.bytes()))
        }
        "kernels" => Some(facts.kernels as i128),
        "version" => Some(version(facts.version)),
        "address_size" => facts.module.address_size().map(i128::from),
        "low32" => value(node, facts).map(|value| value & 0xffff_ffff),
        // Compared modulo 2^64, as subjects compute.
        _ if comparison.operator == "=" => {
            return value(node, facts).is_some_and(|value| value as u64 == comparison.number as u64);
        }
        _ => value(node, facts),
    };
    value.is_some_and(|value| comparison.holds(value))
}

fn number(node: &Node<'_>) -> Option<Number> {
    read_number(&*node.text).filter(|_| node.kind == Some(Kind::Number))
}

fn is_constant(node: &Node<'_>) -> bool {
    match node.kind {
        Some(Kind::Number) => true,
        Some(Kind::Operator | Kind::Parens) => node.parts.iter().all(is_constant),
        _ => false,
    }
}

/// Returns the value of a constant: an integer, or 0 for a floating-point zero.
fn value(node: &Node<'_>, facts: &Facts<'_>) -> Option<i128> {
    match number(node) {
        Some(Number::Integer { wrapped, .. }) => return Some(wrapped.into()),
        Some(Number::Float(value)) => return (value.to_bits() == 0).then_some(0),
        Some(_) => return None,
        None if node.kind == Some(Kind::Number) => {
            // In unparsed text, a number such as `.0` may have lost the digit before its point.
            let word = format!("0{}", node.text);
            return matches!(read_number(&word), Some(Number::Float(0.0))).then_some(0);
        }
        None => {}
    }
    let (expr, id) = node.expr.filter(|_| is_constant(node))?;
    let part = expr.part(id);
    let rules = Rules::default();
    let stored = |ty| Evaluator::new(&rules, facts.version).store(&part, ty, &mut Trace::default());
    match (stored(ScalarType::S64), stored(ScalarType::F64)) {
        (Ok(Stored::Bits(bits)), _) => Some((bits as i64).into()),
        (_, Ok(Stored::Bits(0))) => Some(0),
        _ => None,
    }
}
