//! Mutates programs as syntax trees, so that coverage guides the search over programs rather than bytes.
//!
//! An input is the source of a program. [`mutate`] parses it, applies one to four [moves](MOVES) and prints it. Inputs that
//! do not parse go to libFuzzer's own mutator with the [dictionary]. So does one in sixteen of the others, to exercise the
//! parser too. If there is nothing to change, a program is generated.

pub mod dictionary;
mod places;

use ptxsmith_gen::{Coverage, Generator, stream::SplitMix64};
use ptxsmith_syntax::{
    BinaryOp, Builder, Cast, Declaration, Expr, Initializer, Item, Module, NodeId, NodeKind, ScalarType,
    Span, Specifier, StateSpace, UnaryOp, VectorLength, parse, precedence, print,
};

use arbitrary::Unstructured;
use places::{declarations, expressions, lists};
use std::sync::LazyLock;

static GENERATOR: LazyLock<Generator> = LazyLock::new(Generator::default);

/// Random numbers for a mutation, determined by the seed.
pub struct Random(SplitMix64);

impl Random {
    /// Creates the numbers for a seed.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Returns a number below a nonzero bound.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns bytes for a generator.
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes);
        bytes
    }
}

/// A change to a program. Returns false if there was nothing to change.
type Move = fn(&mut Module, &mut Random) -> bool;

/// All moves: description, weight and function.
pub static MOVES: [(&str, usize, Move); 16] = [
    ("replace a part of an expression by a number", 12, number),
    ("replace a part of an expression by a generated one", 8, generated_part),
    ("put a part of one expression in place of another", 8, transplant),
    ("exchange an operator", 10, operator),
    ("put an operator around a part of an expression", 10, wrap),
    ("put a part of an expression in place of the whole", 4, hoist),
    ("change the type of a declaration", 8, scalar_type),
    ("change its state space or vector length", 4, specifier),
    ("remove a declaration", 3, remove),
    ("repeat a declaration under another name", 3, repeat),
    ("add generated declarations", 6, add),
    ("remove an entry of a list", 4, shorten),
    ("repeat an entry of a list", 4, lengthen),
    ("put an entry of a list in braces, or take them away", 3, nest),
    ("exchange two entries of a list", 2, exchange),
    ("add or remove a dimension", 4, dimension),
];

/// Returns a mutated program of at most `most` bytes, or `None` if `text` does not parse.
pub fn mutate(text: &str, seed: u64, most: usize) -> Option<String> {
    let mut module = parse(text).ok()?;
    let mut random = Random::new(seed);
    for _ in 0..1 + random.below(4) {
        step(&mut module, &mut random);
    }
    let mut printed = print(&module);
    while printed.len() > most {
        module.items.pop()?;
        printed = print(&module);
    }
    Some(printed)
}

/// The mutator of libFuzzer for targets whose inputs are programs: changes `data[..size]` in place and returns its new
/// size, which is at most `most`. `bytes` is libFuzzer's own mutator.
pub fn mutated(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    bytes: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    if seed.is_multiple_of(16) {
        return bytes(data, size, most);
    }
    let text = std::str::from_utf8(&data[..size]).ok();
    // Keep the question line of target `reduce` at the front.
    let (head, program) = match text.and_then(|text| text.strip_prefix("// question ")?.split_once('\n')) {
        Some((_, program)) if seed % 16 == 1 => (format!("// question {}\n", (seed >> 4) % 100), program),
        Some((question, program)) => (format!("// question {question}\n"), program),
        None => (String::new(), text.unwrap_or_default()),
    };
    match mutate(program, seed.into(), most.saturating_sub(head.len())) {
        Some(changed) if text.is_some() => {
            let changed = head + &changed;
            data[..changed.len()].copy_from_slice(changed.as_bytes());
            changed.len()
        }
        _ => bytes(data, size, most),
    }
}

/// Applies one applicable move. An empty program gets new content.
fn step(module: &mut Module, random: &mut Random) {
    let total: usize = MOVES.iter().map(|(_, weight, _)| weight).sum();
    for _ in 0..4 {
        let mut drawn = random.below(total);
        for (_, weight, make) in MOVES {
            if drawn < weight {
                if make(module, random) {
                    return;
                }
                break;
            }
            drawn -= weight;
        }
    }
    add(module, random);
}

/// Chooses an expression at module scope and a node in it. Returns `None` if there is no expression.
fn part<'m>(module: &'m mut Module, random: &mut Random) -> Option<(&'m mut Expr, NodeId)> {
    let mut all = expressions(module);
    if all.is_empty() {
        return None;
    }
    let expr = all.swap_remove(random.below(all.len()));
    let id = random.below(expr.nodes().len()) as NodeId;
    Some((expr, id))
}

/// Replaces a part of an expression by another expression, in parentheses unless it is primary.
fn put(expr: &mut Expr, id: NodeId, with: &Expr) {
    let binds = with.kind(with.root()).precedence() == precedence::PRIMARY;
    let whole = id == expr.root();
    *expr = if binds || whole {
        expr.replaced(id, with)
    } else {
        expr.replaced(id, &joined(with, NodeKind::Paren))
    };
}

/// Applies an operator to an expression.
fn joined(inner: &Expr, operator: impl Fn(NodeId) -> NodeKind) -> Expr {
    let mut builder = Builder::new();
    let operand = builder.push(NodeKind::Number("0".into()), Span::NONE);
    builder.push(operator(operand), Span::NONE);
    builder.finish().replaced(operand, inner)
}

fn a_number(random: &mut Random) -> Expr {
    Expr::number(dictionary::NUMBERS[random.below(dictionary::NUMBERS.len())].as_str())
}

fn number(module: &mut Module, random: &mut Random) -> bool {
    let Some((expr, id)) = part(module, random) else { return false };
    *expr = expr.replaced(id, &a_number(random));
    true
}

fn generated_part(module: &mut Module, random: &mut Random) -> bool {
    let Some((expr, id)) = part(module, random) else { return false };
    let bytes: [u8; 64] = random.bytes();
    let (mut u, mut coverage) = (Unstructured::new(&bytes), Coverage::new());
    let floats = random.below(4) == 0;
    let made = if floats {
        GENERATOR.float(&mut u, &mut coverage)
    } else {
        GENERATOR.integer(&mut u, &mut coverage)
    };
    put(expr, id, &made);
    true
}

fn transplant(module: &mut Module, random: &mut Random) -> bool {
    let Some((from, id)) = part(module, random) else { return false };
    let piece = from.part(id);
    let Some((expr, id)) = part(module, random) else { return false };
    // Limit the size, since repeated transplants of a whole expression into its part would double it each time.
    if piece.nodes().len() + expr.nodes().len() > 400 {
        return false;
    }
    put(expr, id, &piece);
    true
}

fn operator(module: &mut Module, random: &mut Random) -> bool {
    let Some((expr, id)) = part(module, random) else { return false };
    let operators =
        |kind: &NodeKind| matches!(kind, NodeKind::Unary(..) | NodeKind::Cast(..) | NodeKind::Binary(..));
    let places: Vec<NodeId> = (0..=expr.root()).filter(|&id| operators(expr.kind(id))).collect();
    // Use the drawn part if it is an operator, otherwise any operator.
    let id = match places.as_slice() {
        [] => return false,
        _ if operators(expr.kind(id)) => id,
        places => random.pick(places),
    };
    let whole = expr.part(id);
    let made = match *whole.kind(whole.root()) {
        NodeKind::Unary(_, operand) | NodeKind::Cast(_, operand) => prefixed(&whole.part(operand), random),
        NodeKind::Binary(_, left, right) => infixed(&whole.part(left), &whole.part(right), random),
        _ => return false,
    };
    put(expr, id, &made);
    true
}

/// Adds parentheses, unless the expression is primary.
fn operand(expr: &Expr) -> Expr {
    let single = expr.kind(expr.root()).precedence() == precedence::PRIMARY;
    if single { expr.clone() } else { joined(expr, NodeKind::Paren) }
}

fn prefixed(inner: &Expr, random: &mut Random) -> Expr {
    let inner = operand(inner);
    match random.below(6) {
        nth @ 0..4 => joined(&inner, |operand| NodeKind::Unary(UnaryOp::ALL[nth], operand)),
        nth => joined(&inner, |operand| NodeKind::Cast(Cast::ALL[nth - 4], operand)),
    }
}

fn infixed(left: &Expr, right: &Expr, random: &mut Random) -> Expr {
    let op = random.pick(&BinaryOp::ALL);
    let mut builder = Builder::new();
    let a = push_zero(&mut builder);
    let b = push_zero(&mut builder);
    builder.push(NodeKind::Binary(op, a, b), Span::NONE);
    // Replace the second part first, because a replacement moves the nodes after it.
    builder.finish().replaced(b, &operand(right)).replaced(a, &operand(left))
}

/// Adds a number that will be replaced.
fn push_zero(builder: &mut Builder) -> NodeId {
    builder.push(NodeKind::Number("0".into()), Span::NONE)
}

fn wrap(module: &mut Module, random: &mut Random) -> bool {
    let Some((expr, id)) = part(module, random) else { return false };
    let inner = expr.part(id);
    let other = a_number(random);
    let made = match random.below(8) {
        0 => joined(&inner, NodeKind::Paren),
        1 | 2 => prefixed(&inner, random),
        3 | 4 => infixed(&inner, &other, random),
        5 | 6 => infixed(&other, &inner, random),
        _ => {
            let mut builder = Builder::new();
            let a = push_zero(&mut builder);
            let b = push_zero(&mut builder);
            let c = push_zero(&mut builder);
            builder.push(NodeKind::Ternary(a, b, c), Span::NONE);
            let ternary = builder.finish();
            match random.below(3) {
                0 => ternary.replaced(c, &other).replaced(b, &other).replaced(a, &operand(&inner)),
                1 => ternary.replaced(c, &other).replaced(b, &operand(&inner)),
                _ => ternary.replaced(c, &operand(&inner)).replaced(b, &other),
            }
        }
    };
    put(expr, id, &made);
    true
}

fn hoist(module: &mut Module, random: &mut Random) -> bool {
    let Some((expr, id)) = part(module, random) else { return false };
    *expr = expr.part(id);
    true
}

fn a_declaration<'m>(module: &'m mut Module, random: &mut Random) -> Option<&'m mut Declaration> {
    let mut all = declarations(module);
    if all.is_empty() { None } else { Some(all.swap_remove(random.below(all.len()))) }
}

fn scalar_type(module: &mut Module, random: &mut Random) -> bool {
    let Some(declaration) = a_declaration(module, random) else { return false };
    let ty = random.pick(&ScalarType::ALL);
    let types = declaration.specifiers.iter_mut().filter(|s| matches!(s, Specifier::Type(_)));
    types.for_each(|specifier| *specifier = Specifier::Type(ty));
    true
}

fn specifier(module: &mut Module, random: &mut Random) -> bool {
    let Some(declaration) = a_declaration(module, random) else { return false };
    let vector = declaration.specifiers.iter().position(|s| matches!(s, Specifier::Vector(_)));
    match (random.below(3), vector) {
        (0, _) => {
            let space =
                random.pick(&[StateSpace::Global, StateSpace::Const, StateSpace::Shared, StateSpace::Local]);
            let spaces = declaration.specifiers.iter_mut().filter(|s| matches!(s, Specifier::Space(..)));
            spaces.for_each(|specifier| *specifier = Specifier::Space(space, None));
        }
        (_, Some(at)) => drop(declaration.specifiers.remove(at)),
        (_, None) => {
            let at = declaration.specifiers.iter().position(|s| matches!(s, Specifier::Type(_)));
            let length = random.pick(&VectorLength::ALL);
            declaration.specifiers.insert(at.unwrap_or(0), Specifier::Vector(length));
        }
    }
    true
}

fn remove(module: &mut Module, random: &mut Random) -> bool {
    let places: Vec<usize> = (0..module.items.len())
        .filter(|&at| matches!(module.items[at], Item::Variables(_) | Item::Function(_)))
        .collect();
    if places.len() < 2 {
        return false;
    }
    module.items.remove(random.pick(&places));
    true
}

fn repeat(module: &mut Module, random: &mut Random) -> bool {
    let number = module.items.len();
    let Some(declaration) = a_declaration(module, random) else { return false };
    let mut again = declaration.clone();
    for (nth, declarator) in again.declarators.iter_mut().enumerate() {
        declarator.name.text = format!("r{number}_{nth}").into();
    }
    module.items.push(Item::Variables(again));
    true
}

fn add(module: &mut Module, random: &mut Random) -> bool {
    if module.items.is_empty() {
        module.items = ptxsmith_gen::Header::default().module([]).items;
    }
    let bytes: [u8; 256] = random.bytes();
    let (mut u, mut coverage) = (Unstructured::new(&bytes), Coverage::new());
    let made = match random.below(3) {
        0 => GENERATOR.addresses(&mut u, &mut coverage),
        _ => vec![Item::Variables(GENERATOR.declaration(&mut u, &mut coverage))],
    };
    module.items.extend(made);
    true
}

/// Chooses an initializer list and the index of an entry.
fn entry<'m>(module: &'m mut Module, random: &mut Random) -> Option<(&'m mut Vec<Initializer>, usize)> {
    let mut all = lists(module);
    all.retain(|list| !list.is_empty());
    if all.is_empty() {
        return None;
    }
    let list = all.swap_remove(random.below(all.len()));
    let at = random.below(list.len());
    Some((list, at))
}

fn shorten(module: &mut Module, random: &mut Random) -> bool {
    let Some((list, at)) = entry(module, random) else { return false };
    list.remove(at);
    true
}

fn lengthen(module: &mut Module, random: &mut Random) -> bool {
    let Some((list, at)) = entry(module, random) else { return false };
    let again = list[at].clone();
    list.insert(at, again);
    true
}

fn nest(module: &mut Module, random: &mut Random) -> bool {
    let Some((list, at)) = entry(module, random) else { return false };
    let old = std::mem::replace(&mut list[at], Initializer::list(Vec::new()));
    list[at] = match old {
        Initializer::List(mut inner) if inner.items.len() == 1 => inner.items.remove(0),
        other => Initializer::list(vec![other]),
    };
    true
}

fn exchange(module: &mut Module, random: &mut Random) -> bool {
    let Some((list, at)) = entry(module, random) else { return false };
    let other = random.below(list.len());
    list.swap(at, other);
    true
}

fn dimension(module: &mut Module, random: &mut Random) -> bool {
    let Some(declaration) = a_declaration(module, random) else { return false };
    let nth = random.below(declaration.declarators.len().max(1));
    let Some(declarator) = declaration.declarators.get_mut(nth) else { return false };
    let at = random.below(declarator.dimensions.len() + 1);
    match random.below(3) {
        0 if at < declarator.dimensions.len() => drop(declarator.dimensions.remove(at)),
        1 if at < declarator.dimensions.len() => {
            declarator.dimensions[at] = Some(Expr::number(random.below(5).to_string()));
        }
        _ => {
            let extent = random.below(4);
            let extent = (extent > 0).then(|| Expr::number(extent.to_string()));
            declarator.dimensions.insert(at, extent);
            // Wrap the old value or list in a new list.
            if let Some(old) = declarator.initializer.take() {
                declarator.initializer = Some(Initializer::list(vec![old]));
            }
        }
    }
    true
}
