//! Simplifies expressions: an operand instead of an operation, a constant instead of either, or another
//! operator.

use std::rc::Rc;

use ptxsmith_syntax::{
    BinaryOp, Cast, Expr, NodeId, NodeKind, ScalarType, Specifier, UnaryOp, parse_expr, precedence,
};

use super::literals;
use super::tree::{change_declaration, exprs, initial_values, replace_expr};
use super::{Edit, edit};
use crate::program::Program;

/// Constants that may replace any expression, smallest first: zero, one, minus one, small integers, the shift
/// counts at which behaviour changes, the smallest signed integer in its shortest spellings, and
/// floating-point numbers, one of them subnormal.
const CONSTANTS: [&str; 21] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "0U",
    "1U",
    "31",
    "32",
    "63",
    "64",
    "0.",
    "1.",
    "1e99",
    "1e-308",
    "-1",
    "1 << 63",
    "(.s64)0x8000000000000000",
    "0f00000000",
];

/// Replaces each expression by one of its parts, smallest first; then each operation by one of its operands,
/// outermost first.
pub(super) fn operands(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, expr) in exprs_of(program) {
        let mut parts: Vec<NodeId> = (0..expr.root()).collect();
        parts.sort_by_key(|&id| (id - expr.first(id), id));
        edits.extend(parts.into_iter().map(|id| {
            let expr = expr.clone();
            edit(move |module| replace_expr(module, number, &expr.part(id)))
        }));
        for id in (0..=expr.root()).rev() {
            for operand in operands_of(expr.kind(id)) {
                let expr = expr.clone();
                edits.push(edit(move |module| {
                    replace_expr(module, number, &substituted(&expr, id, &expr.part(operand)))
                }));
            }
        }
    }
    edits
}

/// Replaces each part by a constant, or each name by the name of a declared variable; outermost parts first.
pub(super) fn constants(program: &Program) -> Vec<Edit> {
    let mut constants: Vec<Expr> = CONSTANTS.iter().filter_map(|text| parse_expr(text).ok()).collect();
    constants.sort_by_key(|constant| constant.nodes().len());
    let names = program.module().map(super::renaming::declared).unwrap_or_default();
    let mut edits = Vec::new();
    for (number, expr) in exprs_of(program) {
        for id in (0..=expr.root()).rev() {
            let names: Vec<Expr> = match expr.kind(id) {
                NodeKind::Name(_) => names.iter().take(4).map(|name| Expr::name(name.clone())).collect(),
                _ => Vec::new(),
            };
            for constant in constants.iter().chain(&names) {
                let (expr, constant) = (expr.clone(), constant.clone());
                edits.push(edit(move |module| {
                    replace_expr(module, number, &substituted(&expr, id, &constant))
                }));
            }
        }
    }
    edits
}

/// Replaces an initial value by one of its parts that needs a wider type: numbers that are not integers, and
/// addresses.
pub(super) fn wider_operands(program: &Program) -> Vec<Edit> {
    const WIDER: [ScalarType; 3] = [ScalarType::B32, ScalarType::B64, ScalarType::U64];
    let mut edits = Vec::new();
    for (number, expr, declaration) in program.module().map(initial_values).unwrap_or_default() {
        let expr = Rc::new(expr);
        for id in 0..expr.root() {
            for wider in WIDER {
                let expr = expr.clone();
                edits.push(edit(move |module| {
                    replace_expr(module, number, &expr.part(id))?;
                    change_declaration(module, declaration, |declaration| {
                        let mut specifiers = declaration.specifiers.iter_mut();
                        let ty = specifiers.find(|specifier| matches!(specifier, Specifier::Type(_)))?;
                        *ty = Specifier::Type(wider);
                        Some(())
                    })
                }));
            }
        }
    }
    edits
}

/// Replaces each operator by the others of its kind, also with a simple right operand; exchanges the operands
/// of infix operators; and moves unary operators into the arms of `?:`.
pub(super) fn operators(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, expr) in exprs_of(program) {
        for id in (0..=expr.root()).rev() {
            for other in others(&expr, id) {
                let expr = expr.clone();
                edits.push(edit(move |module| replace_expr(module, number, &substituted(&expr, id, &other))));
            }
        }
    }
    edits
}

/// Replaces each literal by a simpler one of the same type.
pub(super) fn literals(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, expr) in exprs_of(program) {
        for id in 0..=expr.root() {
            let (NodeKind::Number(text) | NodeKind::Mask(text, _)) = expr.kind(id) else { continue };
            for simpler in literals::simpler(text) {
                let with = match expr.kind(id) {
                    NodeKind::Mask(_, operand) => mask(&simpler, &expr.part(*operand)),
                    _ => Some(Expr::number(simpler)),
                };
                let (expr, Some(with)) = (expr.clone(), with) else { continue };
                edits.push(edit(move |module| replace_expr(module, number, &substituted(&expr, id, &with))));
            }
        }
    }
    edits
}

fn mask(mask: &str, operand: &Expr) -> Option<Expr> {
    parse_expr(&format!("{mask}({operand})")).ok()
}

fn exprs_of(program: &Program) -> impl Iterator<Item = (usize, Rc<Expr>)> {
    program.module().map(exprs).unwrap_or_default().into_iter().map(Rc::new).enumerate()
}

fn operands_of(kind: &NodeKind) -> Vec<NodeId> {
    match *kind {
        NodeKind::Number(_) | NodeKind::WarpSize | NodeKind::Name(_) => Vec::new(),
        NodeKind::Paren(a)
        | NodeKind::Unary(_, a)
        | NodeKind::Cast(_, a)
        | NodeKind::Generic(a)
        | NodeKind::Mask(_, a) => vec![a],
        NodeKind::Binary(_, a, b) => vec![a, b],
        NodeKind::Ternary(a, b, c) => vec![a, b, c],
    }
}

/// Returns the operation at this position with other operators, and with its operands exchanged.
fn others(expr: &Expr, id: NodeId) -> Vec<Expr> {
    let texts = match *expr.kind(id) {
        NodeKind::Unary(op, operand) => other_unary(expr, op, operand),
        NodeKind::Cast(cast, operand) => {
            let operand = bound(&expr.part(operand), precedence::UNARY);
            let casts = Cast::ALL.into_iter().filter(|other| *other != cast);
            casts.map(|other| format!("{} {operand}", other.symbol())).collect()
        }
        NodeKind::Binary(op, left, right) => other_binary(expr, op, left, right),
        NodeKind::Ternary(condition, then, otherwise) => {
            let condition = bound(&expr.part(condition), precedence::BINARY_LOWEST);
            let then = bound(&expr.part(then), 0);
            let otherwise = bound(&expr.part(otherwise), precedence::TERNARY);
            // Exchanges the arms, also with a constant condition that selects either of them.
            [condition.as_str(), "0", "1"]
                .map(|condition| format!("{condition} ? {otherwise} : {then}"))
                .into()
        }
        _ => Vec::new(),
    };
    texts.iter().filter_map(|text| parse_expr(text).ok()).collect()
}

/// Returns a unary operation with the other operators, and then with its operator moved into the arms of
/// `?:`.
fn other_unary(expr: &Expr, op: UnaryOp, operand: NodeId) -> Vec<String> {
    let operand_text = bound(&expr.part(operand), precedence::UNARY);
    let mut texts = Vec::new();
    for other in UnaryOp::ALL.into_iter().filter(|other| *other != op) {
        texts.push(format!("{} {operand_text}", other.symbol()));
    }
    texts.extend(into_arms(expr, op, operand));
    texts
}

/// Returns an infix operation with the other operators, then with its operands exchanged, and then with the
/// other operators and a simple right operand.
fn other_binary(expr: &Expr, op: BinaryOp, left: NodeId, right: NodeId) -> Vec<String> {
    let mut others: Vec<BinaryOp> = BinaryOp::ALL.into_iter().filter(|other| *other != op).collect();
    others.sort_by_key(|other| (other.symbol().len(), other.symbol()));
    let mut texts: Vec<String> = others.iter().map(|other| infix(expr, *other, left, right)).collect();
    texts.push(infix(expr, op, right, left));
    for other in others {
        let left = bound(&expr.part(left), other.precedence());
        texts.extend(["0", "1", "2"].map(|right| format!("{left} {} {right}", other.symbol())));
    }
    texts
}

fn infix(expr: &Expr, op: BinaryOp, left: NodeId, right: NodeId) -> String {
    let least = op.precedence();
    let left = bound(&expr.part(left), least);
    let right = bound(&expr.part(right), least + 1);
    format!("{left} {} {right}", op.symbol())
}

/// Returns `-(c ? a : b)` as `(c ? a : -b)` and as `(c ? -a : b)`.
fn into_arms(expr: &Expr, op: UnaryOp, operand: NodeId) -> Vec<String> {
    let NodeKind::Paren(inner) = *expr.kind(operand) else { return Vec::new() };
    let NodeKind::Ternary(condition, then, otherwise) = *expr.kind(inner) else { return Vec::new() };
    let condition = expr.part(condition);
    let (then, otherwise) = (expr.part(then), expr.part(otherwise));
    vec![
        format!("({condition} ? {then} : {}{})", op.symbol(), bound(&otherwise, precedence::UNARY)),
        format!("({condition} ? {}{} : {otherwise})", op.symbol(), bound(&then, precedence::UNARY)),
    ]
}

/// Returns the text of an expression, in parentheses if its precedence is less than `least`.
fn bound(expr: &Expr, least: u8) -> String {
    if expr.kind(expr.root()).precedence() >= least { expr.to_string() } else { format!("({expr})") }
}

/// Returns the expression with the part at `id` replaced. Adds parentheses around the new part if its
/// position needs them.
fn substituted(expr: &Expr, id: NodeId, with: &Expr) -> Expr {
    if with.kind(with.root()).precedence() >= needed_at(expr, id) {
        return expr.replaced(id, with);
    }
    match parse_expr(&format!("({with})")) {
        Ok(with) => expr.replaced(id, &with),
        // The result would be nested too deeply, so there is no candidate.
        Err(_) => expr.clone(),
    }
}

/// Returns the precedence that a part needs at this position to do without parentheses.
fn needed_at(expr: &Expr, id: NodeId) -> u8 {
    for above in id + 1..=expr.root() {
        match *expr.kind(above) {
            NodeKind::Unary(_, a) | NodeKind::Cast(_, a) if a == id => return precedence::UNARY,
            NodeKind::Binary(op, left, _) if left == id => return op.precedence(),
            NodeKind::Binary(op, _, right) if right == id => return op.precedence() + 1,
            NodeKind::Ternary(condition, ..) if condition == id => return precedence::BINARY_LOWEST,
            NodeKind::Ternary(.., otherwise) if otherwise == id => return precedence::TERNARY,
            _ => {}
        }
        if operands_of(expr.kind(above)).contains(&id) {
            return 0;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_are_added_where_they_are_needed_and_only_there() {
        let expr = parse_expr("(1 + 2) * 3").unwrap();
        let with = |id: NodeId, with: &str| substituted(&expr, id, &parse_expr(with).unwrap()).to_string();
        assert_eq!(with(3, "4"), "4 * 3");
        assert_eq!(with(3, "1 + 2"), "(1 + 2) * 3");
        assert_eq!(with(0, "4 - 5"), "(4 - 5 + 2) * 3");
        assert_eq!(with(1, "4 - 5"), "(1 + (4 - 5)) * 3");
        assert_eq!(with(4, "-4"), "(1 + 2) * -4");
        assert_eq!(with(4, "4 * 5"), "(1 + 2) * (4 * 5)");
        assert_eq!(with(5, "1 ? 2 : 3"), "1 ? 2 : 3");
    }

    #[test]
    fn other_operators_keep_the_operands() {
        let expr = parse_expr("(1 + 2) * -3").unwrap();
        let others = |id: NodeId| others(&expr, id).iter().map(Expr::to_string).collect::<Vec<_>>();
        assert_eq!(others(expr.root() - 1), ["+3", "!3", "~3"]);
        let infix = others(expr.root());
        assert!(
            infix.contains(&"(1 + 2) << -3".to_owned()) && infix.contains(&"-3 * (1 + 2)".to_owned()),
            "{infix:?}"
        );
        assert!(infix.contains(&"(1 + 2) / 2".to_owned()), "{infix:?}");
        assert_eq!(infix.len(), BinaryOp::ALL.len() + 3 * (BinaryOp::ALL.len() - 1));
    }

    #[test]
    fn the_arms_of_a_choice_are_exchanged_and_take_operators_in() {
        let texts = |text_of: &str| {
            let expr = parse_expr(text_of).unwrap();
            others(&expr, expr.root()).iter().map(Expr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts("1 ? -1 : 0U"), ["1 ? 0U : -1", "0 ? 0U : -1", "1 ? 0U : -1"]);
        let moved = texts("-(0 ? 0U : 1)");
        assert!(moved.contains(&"(0 ? 0U : -1)".to_owned()), "{moved:?}");
        assert!(moved.contains(&"(0 ? -0U : 1)".to_owned()), "{moved:?}");
    }
}
