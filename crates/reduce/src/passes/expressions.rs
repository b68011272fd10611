//! Simplifies expressions: an operand instead of an operation, a constant instead of either, or another operator.

use std::rc::Rc;

use ptxsmith_syntax::{
    BinaryOp, Cast, Expr, NodeId, NodeKind, ScalarType, Specifier, UnaryOp, parse_expr, precedence,
};

use super::literals;
use super::tree::{change_declaration, exprs, initial_values, replace_expr};
use super::{Edit, edit};
use crate::program::Program;

/// Constants that may replace any expression, smallest first: zero, one, minus one, small integers, the shift counts at which behaviour
/// changes, the smallest signed integer in its shortest spellings, and floating-point numbers, one of them subnormal.
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

/// Replaces each expression by one of its parts, smallest first; then each operation by one of its operands, outermost first.
pub(super) fn operands(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, expr) in exprs_of(program) {
        let length = |id: NodeId| id - expr.first(id);
        let mut parts: Vec<NodeId> = (0..expr.root()).collect();
        parts.sort_by_key(|&id| (length(id), id));
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

/// Replaces an initial value by one of its parts that needs a wider type: numbers that are not integers, and addresses.
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
                        let of_type = |specifier: &&mut Specifier| matches!(specifier, Specifier::Type(_));
                        *declaration.specifiers.iter_mut().find(of_type)? = Specifier::Type(wider);
                        Some(())
                    })
                }));
            }
        }
    }
    edits
}

/// Replaces each operator by the others of its kind, also with a simple right operand; exchanges the operands of infix operators; and moves
/// unary operators into the arms of `?:`.
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
    let part = |operand: NodeId, least: u8| bound(&expr.part(operand), least);
    let read = |text: String| parse_expr(&text).ok();
    match *expr.kind(id) {
        NodeKind::Unary(own, operand) => {
            let ops = UnaryOp::ALL.into_iter().filter(|op| *op != own);
            let moved = into_arms(expr, own, operand).into_iter().filter_map(read);
            ops.filter_map(|op| read(format!("{} {}", op.symbol(), part(operand, precedence::UNARY))))
                .chain(moved)
                .collect()
        }
        NodeKind::Cast(own, operand) => {
            let casts = Cast::ALL.into_iter().filter(|cast| *cast != own);
            let read = |cast: Cast| read(format!("{} {}", cast.symbol(), part(operand, precedence::UNARY)));
            casts.filter_map(read).collect()
        }
        NodeKind::Binary(own, left, right) => {
            let infix = |op: BinaryOp, left, right| {
                let least = op.precedence();
                read(format!("{} {} {}", part(left, least), op.symbol(), part(right, least + 1)))
            };
            let mut ops: Vec<BinaryOp> = BinaryOp::ALL.into_iter().filter(|op| *op != own).collect();
            ops.sort_by_key(|op| (op.symbol().len(), op.symbol()));
            let exchanged = infix(own, right, left);
            let with_simple = |op: BinaryOp| {
                let left = part(left, op.precedence());
                ["0", "1", "2"]
                    .map(|right| read(format!("{left} {} {right}", op.symbol())))
                    .into_iter()
                    .flatten()
            };
            let simple: Vec<Expr> = ops.iter().copied().flat_map(with_simple).collect();
            ops.into_iter().filter_map(|op| infix(op, left, right)).chain(exchanged).chain(simple).collect()
        }
        NodeKind::Ternary(condition, then, otherwise) => {
            let (condition, then, otherwise) = (
                part(condition, precedence::BINARY_LOWEST),
                part(then, 0),
                part(otherwise, precedence::TERNARY),
            );
            // Exchanges the arms, also with a constant condition that selects either of them.
            let conditions = [condition.as_str(), "0", "1"];
            let exchanged = |condition: &str| read(format!("{condition} ? {otherwise} : {then}"));
            conditions.into_iter().filter_map(exchanged).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns `-(c ? a : b)` as `(c ? a : -b)` and as `(c ? -a : b)`.
fn into_arms(expr: &Expr, op: UnaryOp, operand: NodeId) -> Vec<String> {
    let NodeKind::Paren(inner) = *expr.kind(operand) else { return Vec::new() };
    let NodeKind::Ternary(condition, then, otherwise) = *expr.kind(inner) else { return Vec::new() };
    let part = |id: NodeId| expr.part(id).to_string();
    let unary = |id: NodeId| format!("{}{}", op.symbol(), bound(&expr.part(id), precedence::UNARY));
    vec![
        format!("({} ? {} : {})", part(condition), part(then), unary(otherwise)),
        format!("({} ? {} : {})", part(condition), unary(then), part(otherwise)),
    ]
}

/// Returns the text of an expression, in parentheses if its precedence is less than `least`.
fn bound(expr: &Expr, least: u8) -> String {
    match expr.kind(expr.root()).precedence() >= least {
        true => expr.to_string(),
        false => format!("({expr})"),
    }
}

/// Returns the expression with the part at `id` replaced. Adds parentheses around the new part if its position needs them.
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
