//! Parses constant expressions by operator precedence (4.5.4), with an explicit stack.

use super::{Parser, Result};
use crate::{
    Text,
    expr::{Expr, NodeId, NodeKind},
    lexer::LexemeKind,
    ops::{BinaryOp, Cast, UnaryOp, precedence},
    span::Span,
};

/// The beginning of an expression that waits for an operand. A span is that of its first token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pending {
    Paren(Span),
    Generic(Span),
    Mask(Span),
    Unary(UnaryOp, Span),
    Cast(Cast, Span),
    Binary(BinaryOp, NodeId),
    /// `condition ?`
    Then(NodeId),
    /// `condition ? then :`
    Otherwise(NodeId, NodeId),
}

impl Parser<'_> {
    /// Parses a constant expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.expression_above(precedence::TERNARY)
    }

    /// Parses a constant expression. Outside parentheses it ends before an operator with a precedence below `lowest`.
    pub(super) fn expression_above(&mut self, lowest: u8) -> Result<Expr> {
        // The number of pending beginnings that wait for a closing token. Before it, every operator is allowed.
        let mut open = 0u32;
        'operand: loop {
            let start = self.current.span;
            match self.current.kind {
                LexemeKind::Number => {
                    self.advance();
                    if self.current.kind == LexemeKind::OpenParen {
                        self.wait(Pending::Mask(start))?;
                        open += 1;
                        continue 'operand;
                    }
                    self.builder.push(NodeKind::Number(Text::new(self.lexer.slice(start))), start);
                }
                LexemeKind::Name => {
                    let text = self.text();
                    self.advance();
                    if text == "generic" && self.current.kind == LexemeKind::OpenParen {
                        self.wait(Pending::Generic(start))?;
                        open += 1;
                        continue 'operand;
                    }
                    let kind =
                        if text == "WARP_SZ" { NodeKind::WarpSize } else { NodeKind::Name(Text::new(text)) };
                    self.builder.push(kind, start);
                }
                LexemeKind::OpenParen => {
                    self.wait(Pending::Paren(start))?;
                    if self.current.kind == LexemeKind::Dotted {
                        let cast = match self.text() {
                            ".s64" => Cast::S64,
                            ".u64" => Cast::U64,
                            _ => return Err(self.expected("`.s64` or `.u64`")),
                        };
                        self.advance();
                        self.expect(LexemeKind::CloseParen, "`)`")?;
                        self.pending.pop();
                        self.pending.push(Pending::Cast(cast, start));
                    } else {
                        open += 1;
                    }
                    continue 'operand;
                }
                kind => {
                    let Some(op) = unary(kind) else { return Err(self.expected("an expression")) };
                    self.wait(Pending::Unary(op, start))?;
                    continue 'operand;
                }
            }

            // An operand is complete: join it with the pending beginnings, until one of them waits for another operand.
            loop {
                self.join_while(|pending| matches!(pending, Pending::Unary(..) | Pending::Cast(..)));
                let lowest = if open > 0 { 0 } else { lowest };
                if let LexemeKind::Infix(op) = self.current.kind
                    && op.precedence() >= lowest
                {
                    self.join_while(|pending| {
                        matches!(pending, Pending::Binary(other, _) if other.precedence() >= op.precedence())
                    });
                    self.pending.push(Pending::Binary(op, self.top()));
                    self.advance();
                    continue 'operand;
                }
                self.join_while(|pending| matches!(pending, Pending::Binary(..)));
                if self.current.kind == LexemeKind::Question && precedence::TERNARY >= lowest {
                    self.wait(Pending::Then(self.top()))?;
                    open += 1;
                    continue 'operand;
                }
                self.join_while(|pending| matches!(pending, Pending::Otherwise(..)));
                match self.pending.last() {
                    None => {
                        return Ok(self.builder.take());
                    }
                    Some(&Pending::Then(condition)) => {
                        self.expect(LexemeKind::Colon, "`:`")?;
                        let then = self.top();
                        self.pending.pop();
                        self.pending.push(Pending::Otherwise(condition, then));
                        open -= 1;
                        continue 'operand;
                    }
                    Some(_) => {
                        self.expect(LexemeKind::CloseParen, "`)`")?;
                        self.join();
                        open -= 1;
                    }
                }
            }
        }
    }

    /// Takes the current token, which opens a level that ends when `pending` gets its operand.
    fn wait(&mut self, pending: Pending) -> Result<()> {
        self.enter()?;
        self.pending.push(pending);
        self.advance();
        Ok(())
    }

    fn top(&self) -> NodeId {
        self.builder.len() as NodeId - 1
    }

    #[inline]
    fn join_while(&mut self, which: impl Fn(&Pending) -> bool) {
        while self.pending.last().is_some_and(&which) {
            self.join();
        }
    }

    /// Joins what waits innermost with its last operand, which is the node that was added last.
    fn join(&mut self) {
        let Some(pending) = self.pending.pop() else { return };
        let operand = self.top();
        if !matches!(pending, Pending::Binary(..)) {
            self.leave();
        }
        let (kind, start) = match pending {
            Pending::Paren(start) => (NodeKind::Paren(operand), start),
            Pending::Generic(start) => (NodeKind::Generic(operand), start),
            Pending::Mask(start) => (NodeKind::Mask(Text::new(self.lexer.slice(start)), operand), start),
            Pending::Unary(op, start) => (NodeKind::Unary(op, operand), start),
            Pending::Cast(cast, start) => (NodeKind::Cast(cast, operand), start),
            Pending::Binary(op, left) => (NodeKind::Binary(op, left, operand), self.builder.span(left)),
            Pending::Then(condition) => unreachable!("`:` was expected behind {condition} and its operand"),
            Pending::Otherwise(condition, then) => {
                (NodeKind::Ternary(condition, then, operand), self.builder.span(condition))
            }
        };
        let span = self.span_from(start);
        self.builder.push(kind, span);
    }
}

/// Returns the prefix operator of a token.
fn unary(kind: LexemeKind) -> Option<UnaryOp> {
    match kind {
        LexemeKind::Prefix(op) => Some(op),
        LexemeKind::Infix(infix) => UnaryOp::ALL.into_iter().find(|op| op.symbol() == infix.symbol()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_declaration, parse_expr, tree::Specifier};

    /// The expression with a pair of brackets around every node that joins others.
    fn grouped(text: &str) -> String {
        let expr = parse_expr(text).unwrap_or_else(|error| panic!("{}", error.render("", text)));
        let mut shown: Vec<String> = Vec::new();
        for node in expr.nodes() {
            let at = |id: NodeId| &shown[id as usize];
            shown.push(match &node.kind {
                NodeKind::Number(text) | NodeKind::Name(text) => text.to_string(),
                NodeKind::WarpSize => "WARP_SZ".to_owned(),
                &NodeKind::Paren(a) => format!("({})", at(a)),
                &NodeKind::Unary(op, a) => format!("[{}{}]", op.symbol(), at(a)),
                &NodeKind::Cast(cast, a) => format!("[{}{}]", cast.symbol(), at(a)),
                &NodeKind::Binary(op, a, b) => format!("[{}{}{}]", at(a), op.symbol(), at(b)),
                &NodeKind::Ternary(a, b, c) => format!("[{}?{}:{}]", at(a), at(b), at(c)),
                &NodeKind::Generic(a) => format!("generic({})", at(a)),
                NodeKind::Mask(mask, a) => format!("{mask}({})", at(*a)),
            });
        }
        shown.pop().unwrap()
    }

    #[test]
    fn every_pair_of_infix_operators_groups_as_table_4_says() {
        for first in BinaryOp::ALL {
            for second in BinaryOp::ALL {
                let (a, b) = (first.symbol(), second.symbol());
                let expected = if second.precedence() > first.precedence() {
                    format!("[1{a}[2{b}3]]")
                } else {
                    format!("[[1{a}2]{b}3]")
                };
                assert_eq!(grouped(&format!("1 {a} 2 {b} 3")), expected);
            }
        }
    }

    #[test]
    fn prefix_operators_and_casts_bind_tightest_and_to_the_right() {
        for op in BinaryOp::ALL {
            for prefix in UnaryOp::ALL {
                let (op, prefix) = (op.symbol(), prefix.symbol());
                assert_eq!(
                    grouped(&format!("{prefix} 1 {op} {prefix} 2")),
                    format!("[[{prefix}1]{op}[{prefix}2]]")
                );
            }
        }
        assert_eq!(grouped("-(.s64)~(.u64)!+1*2"), "[[-[(.s64)[~[(.u64)[![+1]]]]]]*2]");
        assert_eq!(grouped("- a ? - b : - c"), "[[-a]?[-b]:[-c]]");
    }

    #[test]
    fn the_conditional_binds_loosest_and_to_the_right() {
        assert_eq!(grouped("a ? b : c ? d : e"), "[a?b:[c?d:e]]");
        assert_eq!(grouped("a ? b ? c : d : e"), "[a?[b?c:d]:e]");
        assert_eq!(grouped("a || b ? c || d : e || f"), "[[a||b]?[c||d]:[e||f]]");
        assert_eq!(grouped("(a ? b : c) ? d : e"), "[([a?b:c])?d:e]");
    }

    #[test]
    fn address_operators_are_primary_and_their_names_are_names_elsewhere() {
        assert_eq!(grouped("generic(a)+4"), "[generic(a)+4]");
        assert_eq!(grouped("0xff00(generic(a + 1) - 2)"), "0xff00([generic([a+1])-2])");
        assert_eq!(grouped("-0xff (1) * generic"), "[[-0xff(1)]*generic]");
        assert_eq!(grouped("WARP_SZ % %r1"), "[WARP_SZ%%r1]");
    }

    #[test]
    fn malformed_expressions_are_errors() {
        for text in
            ["", "1 2", "a(1)", "()", "(1", "1)", "1 +", "* 1", "1 ? 2", "1 : 2", "(.s32)1", "{1}", "(.s64)"]
        {
            assert!(parse_expr(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_node_knows_where_it_stood() {
        let text = " ( 1 + -x ) * 0xff( y ) /**/ ? (.s64) 3 : generic(z) ";
        let expr = parse_expr(text).unwrap();
        let spans: Vec<_> =
            expr.nodes().iter().map(|n| &text[n.span.start as usize..n.span.end as usize]).collect();
        assert_eq!(
            spans,
            [
                "1",
                "x",
                "-x",
                "1 + -x",
                "( 1 + -x )",
                "y",
                "0xff( y )",
                "( 1 + -x ) * 0xff( y )",
                "3",
                "(.s64) 3",
                "z",
                "generic(z)",
                text.trim(),
            ]
        );
    }

    #[test]
    fn a_count_ends_at_the_first_comparison_outside_parentheses() {
        let count = |text: &str| {
            let declaration = parse_declaration(&format!(".reg .b32 %r<{text}>;"))?;
            assert_eq!(declaration.specifiers.len(), 2);
            assert!(matches!(declaration.specifiers[0], Specifier::Space(..)));
            Ok::<_, crate::ParseError>(declaration.declarators[0].count.clone().unwrap())
        };
        for text in ["100", "1 + 2", "1 << 2", "(1 > 2)", "(1 ? 2 : 3)", "0xff(1 > 2)"] {
            assert_eq!(count(text), parse_expr(text), "{text}");
        }
        for text in ["1 > 2", "1 ? 2 : 3", "1 && 2", ""] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
