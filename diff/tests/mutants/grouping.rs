//! Wrong grouping of operators: the same tokens, read with another table of precedence.

use ptxsmith_syntax::{BinaryOp, Builder, Expr, NodeId, NodeKind, Span};

/// How tightly an infix operator binds, and whether equal ones group from the right.
pub type Table = fn(BinaryOp) -> (u8, bool);

/// A name that says what is wrong, and the table.
pub type Mutant = (&'static str, Table);

fn right(op: BinaryOp) -> (u8, bool) {
    (op.precedence(), false)
}

/// The table with one operator as tight as another.
macro_rules! as_tight {
    ($name:literal, $($op:ident)|+ as $other:ident) => {
        ($name, |op| if matches!(op, $(BinaryOp::$op)|+) { right(BinaryOp::$other) } else { right(op) })
    };
}

pub const MUTANTS: &[Mutant] = &[
    as_tight!("* binds as + does", Mul as Add),
    as_tight!("% binds as + does", Rem as Add),
    as_tight!("+ binds as << does", Add as Shl),
    as_tight!("<< binds as < does", Shl as Lt),
    as_tight!("< binds as == does", Lt as Eq),
    as_tight!("& binds as == does", And as Eq),
    as_tight!("^ binds as & does", Xor as And),
    as_tight!("| binds as ^ does", Or as Xor),
    as_tight!("&& binds as | does", LogicalAnd as Or),
    as_tight!("|| binds as && does", LogicalOr as LogicalAnd),
    ("- groups from the right", |op| (right(op).0, matches!(op, BinaryOp::Add | BinaryOp::Sub))),
    ("/ groups from the right", |op| {
        (right(op).0, matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem))
    }),
    (">> groups from the right", |op| (right(op).0, matches!(op, BinaryOp::Shl | BinaryOp::Shr))),
];

/// The expression that the same tokens are under another table. Only chains of infix operators are read anew: what
/// stands in parentheses, behind a prefix operator or in `?:` is an operand.
pub fn regrouped(expr: &Expr, table: Table) -> Expr {
    let mut builder = Builder::new();
    rebuild(expr, expr.root(), table, &mut builder);
    builder.finish()
}

fn rebuild(expr: &Expr, id: NodeId, table: Table, into: &mut Builder) -> NodeId {
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
    into.push(kind, Span::NONE)
}

/// The operands and operators of a chain, in the order written.
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
    table: Table,
    into: &mut Builder,
) -> NodeId {
    let mut left = rebuild(expr, operands[*at], table, into);
    while let Some(&op) = ops.get(*at) {
        let (tightness, from_right) = table(op);
        if tightness < least {
            break;
        }
        *at += 1;
        let least = if from_right { tightness } else { tightness + 1 };
        let right = climb(expr, operands, ops, at, least, table, into);
        left = into.push(NodeKind::Binary(op, left, right), Span::NONE);
    }
    left
}
