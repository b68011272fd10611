//! Matching: whether a node passes a test, and the places that the test leads to.

use ptxsmith_oracle::{Evaluator, Rules, Stored, Trace, special_register};
use ptxsmith_syntax::{Item, Number, ScalarType, Span, StateSpace, Text, print, read_number};

use super::facts::ModuleFacts;
use super::language::{NumericComparison, Test, version};
use super::node::{PatternKind, PatternNode, is_same_register, repeats};

impl Test {
    /// Returns true if a node passes the test.
    pub fn holds(&self, node: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> bool {
        match self {
            Test::All(tests) => tests.iter().all(|test| test.holds(node, facts)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(node, facts)),
            Test::Not(test) => !test.holds(node, facts),
            Test::Kind(kind) => node.kind == Some(*kind),
            Test::Word(word) => words(node).iter().any(|other| is_like(other, word, facts)),
            Test::Text(text) => is_like(&node.text, text, facts),
            Test::Is(property) => has_property(property, node, facts),
            Test::Compare(quantity, comparison) => compares(quantity, *comparison, node, facts),
            Test::Program(text) => print(&facts.module.without_header()) == *text,
            Test::Target(target) => facts.module.targets().any(|other| is_like(other, target, facts)),
            Test::Step("each", test) => node.parts.iter().all(|part| test.holds(part, facts)),
            Test::Step(step, test) => {
                let mut found = false;
                step_to(step, node, facts, &mut |other| found = found || test.holds(other, facts));
                found
            }
            Test::Behind(..) => !self.behind(node, facts).is_empty(),
            Test::Count(comparison, test) => {
                comparison.holds(node.parts.iter().filter(|part| test.holds(part, facts)).count() as i128)
            }
        }
    }

    /// Returns the parts of a node that pass the second test of a [`Test::Behind`] and follow a part that
    /// passes the first.
    fn behind<'n, 'm>(&self, node: &'n PatternNode<'m>, facts: &ModuleFacts<'_>) -> Vec<&'n PatternNode<'m>> {
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

    /// Returns true if the test has a step from the node to other nodes.
    fn leads(&self, node: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> bool {
        match self {
            Test::All(tests) => tests.iter().any(|test| test.leads(node, facts)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(node, facts) && test.leads(node, facts)),
            Test::Step("each", _) => false,
            Test::Step(..) | Test::Behind(..) => true,
            _ => false,
        }
    }

    /// Appends to `found` the places where the last step of the test leads; the node itself if the test has
    /// no step. The node must pass the test.
    pub fn places(&self, node: &PatternNode<'_>, facts: &ModuleFacts<'_>, found: &mut Vec<Span>) {
        match self {
            Test::All(tests) => match tests.iter().rfind(|test| test.leads(node, facts)) {
                Some(last) => last.places(node, facts, found),
                None => found.push(node.span),
            },
            Test::Any(tests) => {
                let holding = tests.iter().filter(|test| test.holds(node, facts));
                holding.for_each(|test| test.places(node, facts, found));
            }
            Test::Step(step, test) if *step != "each" => step_to(step, node, facts, &mut |other| {
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
fn step_to<'m>(
    step: &str,
    node: &PatternNode<'m>,
    facts: &ModuleFacts<'m>,
    show: &mut dyn FnMut(&PatternNode<'m>),
) {
    match step {
        "has" => {
            show(node);
            node.parts.iter().for_each(|part| step_to(step, part, facts, show));
        }
        "child" => node.parts.iter().for_each(&mut *show),
        "first" => node.parts.iter().take(1).for_each(&mut *show),
        "last" => node.parts.iter().next_back().into_iter().for_each(&mut *show),
        "second" => node.parts.iter().skip(1).take(1).for_each(&mut *show),
        // Follow the left end of a sum or an address. Vectors and parentheses stop the descent: their
        // contents are something else.
        "begins" => {
            let mut leftmost = node;
            while let (
                Some(PatternKind::Operator | PatternKind::Address | PatternKind::Element),
                Some(first),
            ) = (leftmost.kind, leftmost.parts.first())
            {
                leftmost = first;
            }
            show(leftmost);
        }
        "bare" => {
            let mut inner = node;
            while let (Some(PatternKind::Parens), Some(first)) = (inner.kind, inner.parts.first()) {
                inner = first;
            }
            show(inner);
        }
        "from" | "initially" => {
            let setter = if step == "from" { node.setter } else { node.first_setter };
            setter.and_then(|setter| facts.instructions.get(setter)).into_iter().for_each(show);
        }
        "known" => match node.known {
            Some(known) if node.kind == Some(PatternKind::Name) => show(&PatternNode {
                kind: Some(PatternKind::Number),
                text: known.to_string().into(),
                span: node.span,
                ..PatternNode::default()
            }),
            _ => show(node),
        },
        // The step `of`: from a component to its name.
        _ => show(&PatternNode {
            kind: Some(PatternKind::Name),
            text: node.text.clone(),
            span: node.span,
            referent: node.referent.clone(),
            ..PatternNode::default()
        }),
    }
}

/// Returns the dotted words of a node, or of the declaration that a name refers to.
fn words<'n>(node: &'n PatternNode<'_>) -> &'n [Text] {
    match (node.kind, &node.referent) {
        (Some(PatternKind::Word | PatternKind::Align), _) => std::slice::from_ref(&node.text),
        (Some(PatternKind::Name), Some(referent)) => &referent.words,
        _ => &node.words,
    }
}

/// Returns true if a text matches a pattern with wildcards: `*` for any characters, `#` for one or more
/// digits, `{body}` for the name of a variable that a body declares, `{function}` for the name of a function
/// or of another kernel.
fn is_like(text: &str, like: &str, facts: &ModuleFacts<'_>) -> bool {
    let Some(start) = like.find(['*', '#', '{']) else { return text == like };
    let Some(text) = text.strip_prefix(&like[..start]) else { return false };
    let (length, fits): (usize, fn(&str, &ModuleFacts<'_>) -> bool) = match &like[start..] {
        rest if rest.starts_with("{body}") => (6, |name, facts| facts.inner.contains(name)),
        rest if rest.starts_with("{function}") => (10, |name, facts| facts.is_function(name)),
        rest if rest.starts_with('#') => {
            (1, |part, _| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        }
        _ => (1, |_, _| true),
    };
    (0..=text.len())
        .filter(|end| text.is_char_boundary(*end))
        .any(|end| fits(&text[..end], facts) && is_like(&text[end..], &like[start + length..], facts))
}

/// Returns true if an instruction reads a register that the one that set another of its registers reads, too.
fn is_shared(node: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> bool {
    let sources = node.parts.get(1..).unwrap_or_default();
    let setters = sources.iter().filter_map(|source| facts.instructions.get(source.setter?));
    setters.flat_map(|setter| setter.parts.iter().skip(1)).any(|before| {
        sources.iter().any(|source| is_same_register(before, source) && before.setter == source.setter)
    })
}

/// Returns true if a node has one of the properties of the language.
fn has_property(property: &str, node: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> bool {
    let named = node.referent.as_deref().filter(|_| node.kind == Some(PatternKind::Name));
    let what = named.map_or("", |referent| referent.what);
    match property {
        "any" => true,
        "function" => node.kind == Some(PatternKind::Function) || what == "function",
        "label" => node.kind == Some(PatternKind::Label) || matches!(what, "label" | "prototype"),
        "opaque" => what == "variable" && node.refers_to(|referent| referent.is_opaque),
        "special" => node.kind == Some(PatternKind::Name) && special_register(&node.text),
        "undeclared" => {
            node.kind == Some(PatternKind::Name) && named.is_none() && !special_register(&node.text)
        }
        "body" => node.in_body || node.refers_to(|referent| referent.in_body || referent.is_parameter),
        "parameter" => node.in_parameters || node.refers_to(|referent| referent.is_parameter),
        "passed" => node.refers_to(|referent| referent.is_passed),
        "set" => node.refers_to(|referent| referent.is_set),
        "used" => node.refers_to(|referent| referent.is_used),
        "hidden" => node.hidden,
        "equated" => node.equated,
        "repeated" => repeats(node.parts.get(1..).unwrap_or_default()),
        "accumulating" => node
            .parts
            .split_first()
            .is_some_and(|(to, sources)| sources.iter().any(|source| is_same_register(to, source))),
        "shared" => is_shared(node, facts),
        "numbered" => node.repeats == Some(true),
        "respelled" => node.repeats == Some(false),
        "constant" => is_constant(node),
        "integer" => matches!(number(node), Some(Number::Integer { .. })) || node.text == "WARP_SZ",
        "unsigned" => matches!(number(node), Some(Number::Integer { unsigned: true, .. })),
        "single" => matches!(number(node), Some(Number::SingleBits(_))),
        "beyond" => matches!(number(node), Some(Number::Integer { value: None, .. })),
        "power" => value(node, facts).is_some_and(|value| value > 0 && value & (value - 1) == 0),
        "type" => words(node).iter().any(|word| ScalarType::from_keyword(word).is_some()),
        "space" => words(node).iter().any(|word| StateSpace::from_keyword(word).is_some()),
        "ascii" => node.text.is_ascii() && words(node).iter().all(|word| word.is_ascii()),
        "missing" => lane(words(node)).is_some_and(|lane| {
            node.referent.as_deref().is_some_and(|referent| referent.lanes > 1 && lane >= referent.lanes)
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

fn compares(
    quantity: &str,
    comparison: NumericComparison,
    node: &PatternNode<'_>,
    facts: &ModuleFacts<'_>,
) -> bool {
    let (size, total) = node.bytes;
    let value = match quantity {
        "size" => Some(saturated(size)),
        // Only the declarator with which the sum first satisfies the comparison matches.
        "total" => {
            let before = total - size.min(total);
            return comparison.holds(saturated(total)) && !comparison.holds(saturated(before));
        }
        "bytes" => {
            let scalar = node.referent.as_deref().and_then(|referent| referent.scalar);
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

fn saturated(bytes: u128) -> i128 {
    i128::try_from(bytes).unwrap_or(i128::MAX)
}

fn number(node: &PatternNode<'_>) -> Option<Number> {
    read_number(&*node.text).filter(|_| node.kind == Some(PatternKind::Number))
}

fn is_constant(node: &PatternNode<'_>) -> bool {
    match node.kind {
        Some(PatternKind::Number) => true,
        Some(PatternKind::Operator | PatternKind::Parens) => node.parts.iter().all(is_constant),
        _ => false,
    }
}

/// Returns the value of a constant: an integer, or 0 for a floating-point zero.
pub(super) fn value(node: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> Option<i128> {
    match number(node) {
        Some(Number::Integer { wrapped, .. }) => return Some(wrapped.into()),
        Some(Number::Float(value)) => return (value.to_bits() == 0).then_some(0),
        Some(_) => return None,
        None if node.kind == Some(PatternKind::Number) => {
            // In unparsed text, a number such as `.0` may have lost the digit before its point.
            let word = format!("0{}", node.text);
            return matches!(read_number(&word), Some(Number::Float(0.0))).then_some(0);
        }
        None => {}
    }
    let (expr, id) = node.expr.filter(|_| is_constant(node))?;
    let part = expr.part(id);
    let rules = Rules::default();
    let mut evaluator = Evaluator::new(&rules, facts.version);
    if let Ok(Stored::Bits(bits)) = evaluator.store(&part, ScalarType::S64, &mut Trace::default()) {
        return Some((bits as i64).into());
    }
    let stored = evaluator.store(&part, ScalarType::F64, &mut Trace::default());
    matches!(stored, Ok(Stored::Bits(0))).then_some(0)
}
