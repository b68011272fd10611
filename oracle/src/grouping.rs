//! Regroups the operators of an expression.
//!
//! The parser groups operators as the specification requires, and the tree records that grouping. An implementation
//! with other precedences derives another tree from the same tokens. This module builds that tree, so that grouping is
//! a rule like any other and a deviation can replace it. For example, with right-associative subtraction `9 - 4 - 1`
//! becomes `9 - (4 - 1)`.

use ptxsmith_syntax::{BinaryOp, Builder, Expr, NodeId, NodeKind};

use crate::rules::Grouping;

/// Returns the expression that the same tokens form under another precedence table. Only chains of infix operators are
/// regrouped; expressions in parentheses, behind a prefix operator or in `?:` are single operands of the chain.
pub(crate) fn regrouped(expr: &Expr, table: &Grouping) -> Expr {
    let mut builder = Builder::new();
    rebuild(expr, expr.root(), table, &mut builder);
    builder.finish()
}

fn rebuild(expr: &Expr, id: NodeId, table: &Grouping, into: &mut Builder) -> NodeId {
    if let NodeKind::Binary(..) = expr.kind(id) {
        let (mut operands, mut ops) = (Vec::new(), Vec::new());
        chain(expr, id, &mut operands, &mut ops);
        let mut at = 0;
        return climb(expr, &operands, &ops, &mut at, 0, table, into);
    }
    let mut operand = |id| rebuild(expr, id, table, into);
    let kind = match expr.kind(id).clone() {
        NodeKind::Paren(a) => NodeKind::Paren(operand(a)),
        NodeKind::Unary(op, a) => NodeKind::Unary(op, operand(a)),
        NodeKind::Cast(cast, a) => NodeKind::Cast(cast, operand(a)),
        NodeKind::Generic(a) => NodeKind::Generic(operand(a)),
        NodeKind::Mask(mask, a) => NodeKind::Mask(mask, operand(a)),
        NodeKind::Ternary(a, b, c) => NodeKind::Ternary(operand(a), operand(b), operand(c)),
        leaf => leaf,
    };
    into.push(kind, expr.nodes()[id as usize].span)
}

/// Collects the operands and operators of a chain in source order.
fn chain(expr: &Expr, id: NodeId, operands: &mut Vec<NodeId>, ops: &mut Vec<BinaryOp>) {
    if let NodeKind::Binary(op, left, right) = *expr.kind(id) {
        chain(expr, left, operands, ops);
        ops.push(op);
        chain(expr, right, operands, ops);
    } else {
        operands.push(id);
    }
}

fn climb(
    expr: &Expr,
    operands: &[NodeId],
    ops: &[BinaryOp],
    at: &mut usize,
    least: u8,
    table: &Grouping,
    into: &mut Builder,
) -> NodeId {
    let mut left = rebuild(expr, operands[*at], table, into);
    while let Some(&op) = ops.get(*at) {
        let (tightness, from_right) = table.apply(op);
        if tightness < least {
            break;
        }
        *at += 1;
        let least = if from_right { tightness } else { tightness + 1 };
        let right = climb(expr, operands, ops, at, least, table, into);
        left = into.push(NodeKind::Binary(op, left, right), expr.span());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use ptxsmith_syntax::parse_expr;

    #[test]
    fn the_right_table_changes_nothing() {
        for text in ["1 + 2 * 3 - 4", "1 ? 2 - 3 - 4 : -(5 << 6 + 7)", "~(.u64) 1 % 2 && 3 || 4 == 5 < 6"] {
            let expr = parse_expr(text).unwrap();
            let again = regrouped(&expr, &Rules::default().expressions.grouping);
            let kinds = |expr: &Expr| expr.nodes().iter().map(|node| node.kind.clone()).collect::<Vec<_>>();
            assert_eq!(kinds(&again), kinds(&expr), "{text}");
        }
    }

    #[test]
    fn another_table_reads_another_tree_from_the_same_tokens() {
        let rules = Rules::default()
            .with(|rules| rules.expressions.grouping.change(|next, op| (next.apply(op).0, true)));
        let tree = regrouped(&parse_expr("9 - 4 - 1").unwrap(), &rules.expressions.grouping);
        let NodeKind::Binary(BinaryOp::Sub, left, right) = *tree.kind(tree.root()) else {
            panic!("{tree:?}")
        };
        assert!(matches!(tree.kind(left), NodeKind::Number(_)));
        assert!(matches!(tree.kind(right), NodeKind::Binary(BinaryOp::Sub, ..)));
    }
}
