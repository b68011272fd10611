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
    let mut regrouper = Regrouper { expr, table, builder: Builder::new() };
    regrouper.rebuild(expr.root());
    regrouper.builder.finish()
}

struct Regrouper<'a> {
    expr: &'a Expr,
    table: &'a Grouping,
    builder: Builder,
}

impl Regrouper<'_> {
    fn rebuild(&mut self, id: NodeId) -> NodeId {
        let kind = match self.expr.kind(id).clone() {
            NodeKind::Binary(..) => {
                let mut chain = Chain::default();
                chain.collect(self.expr, id);
                return self.climb(&mut chain, 0);
            }
            NodeKind::Paren(a) => NodeKind::Paren(self.rebuild(a)),
            NodeKind::Unary(op, a) => NodeKind::Unary(op, self.rebuild(a)),
            NodeKind::Cast(cast, a) => NodeKind::Cast(cast, self.rebuild(a)),
            NodeKind::Generic(a) => NodeKind::Generic(self.rebuild(a)),
            NodeKind::Mask(mask, a) => NodeKind::Mask(mask, self.rebuild(a)),
            NodeKind::Ternary(a, b, c) => {
                NodeKind::Ternary(self.rebuild(a), self.rebuild(b), self.rebuild(c))
            }
            leaf => leaf,
        };
        self.builder.push(kind, self.expr.nodes()[id as usize].span)
    }

    /// Rebuilds a chain from its current operand on, up to an operator that binds less tightly than `least`
    /// (precedence climbing).
    fn climb(&mut self, chain: &mut Chain, least: u8) -> NodeId {
        let mut left = self.rebuild(chain.operands[chain.at]);
        while let Some(&op) = chain.operators.get(chain.at) {
            let (tightness, from_right) = self.table.apply(op);
            if tightness < least {
                break;
            }
            chain.at += 1;
            let least = if from_right { tightness } else { tightness + 1 };
            let right = self.climb(chain, least);
            left = self.builder.push(NodeKind::Binary(op, left, right), self.expr.span());
        }
        left
    }
}

/// A chain of infix operators.
#[derive(Default)]
struct Chain {
    /// The operands in source order, one more than the operators between them.
    operands: Vec<NodeId>,
    operators: Vec<BinaryOp>,
    /// The index of the current operand.
    at: usize,
}

impl Chain {
    fn collect(&mut self, expr: &Expr, id: NodeId) {
        if let NodeKind::Binary(op, left, right) = *expr.kind(id) {
            self.collect(expr, left);
            self.operators.push(op);
            self.collect(expr, right);
        } else {
            self.operands.push(id);
        }
    }
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
