//! Converts instructions that the parser keeps as tokens to nodes.

use std::rc::Rc;

use ptxsmith_syntax::{BinaryOp, Gap, MAX_NESTING, Span, Text, Token};

use super::{ModuleFacts, PatternKind, PatternNode, Walk, dotted, node};

/// The tokens of an instruction and the position of the next one.
struct TokenCursor<'m> {
    tokens: &'m [Token],
    position: usize,
}

impl<'m> TokenCursor<'m> {
    fn peek(&self) -> Option<&'m Token> {
        self.tokens.get(self.position)
    }

    /// Returns the text of the next token; empty at the end.
    fn peek_text(&self) -> &'m str {
        self.peek().map_or("", |token| token.text.as_str())
    }

    fn next(&mut self) -> Option<&'m Token> {
        let token = self.peek()?;
        self.position += 1;
        Some(token)
    }

    /// Returns the dotted words that directly follow the last token, without a space, and moves past them.
    fn suffix(&mut self) -> Rc<[Text]> {
        let first = self.position;
        while self.peek().is_some_and(|token| token.gap == Gap::Joined && token.text.starts_with('.')) {
            self.position += 1;
        }
        dotted(&self.tokens[first..self.position])
    }

    /// Returns the modifiers of an opcode, split at their dots, and moves past them.
    fn modifiers(&mut self) -> Vec<Text> {
        let mut words: Vec<Text> = Vec::new();
        while let Some(token) = self.peek().filter(|token| token.gap == Gap::Joined) {
            match words.last_mut() {
                Some(last) if token.text == "::" || last.ends_with("::") => last.push_str(&token.text),
                _ if token.text.starts_with('.') => {
                    words.extend(token.text[1..].split('.').map(|word| Text::from(format!(".{word}"))));
                }
                _ => break,
            }
            self.position += 1;
        }
        words
    }
}

impl<'m, F: FnMut(&PatternNode<'m>, &ModuleFacts<'m>)> Walk<'m, F> {
    /// Creates the node of an instruction that the parser keeps as tokens.
    pub(super) fn instruction(&self, tokens: &'m [Token], span: Span) -> PatternNode<'m> {
        let opcode = match (tokens.first(), tokens.get(1)) {
            (Some(at), Some(not)) if at.text == "@" && not.text == "!" => 3,
            (Some(at), _) if at.text == "@" => 2,
            _ => 0,
        };
        let mut cursor = TokenCursor { tokens, position: opcode + 1 };
        let words = cursor.modifiers();
        // A statement whose operands are not separated by commas is not an instruction.
        let Some(parts) = self.operands(&mut cursor, ";", 0) else {
            let parts = tokens.iter().map(|token| self.leaf(token)).collect();
            return node(PatternKind::Unread, "", span, parts);
        };
        let text = tokens.get(opcode).map_or(Text::default(), |token| token.text.clone());
        PatternNode { words: words.into(), ..node(PatternKind::Instruction, text, span, parts) }
    }

    /// Parses operands separated by commas, up to and including the closing token. `None` if the tokens are
    /// something else.
    fn operands(
        &self,
        cursor: &mut TokenCursor<'m>,
        close: &str,
        depth: usize,
    ) -> Option<Vec<PatternNode<'m>>> {
        let mut parts = Vec::new();
        if cursor.peek()?.text == close && close == ";" {
            cursor.next();
            return Some(parts);
        }
        loop {
            parts.push(self.infix_operand(cursor, depth)?);
            match cursor.next()?.text.as_str() {
                "," => {}
                text => return (text == close).then_some(parts),
            }
        }
    }

    /// Parses an operand, or several that infix operators join.
    fn infix_operand(&self, cursor: &mut TokenCursor<'m>, depth: usize) -> Option<PatternNode<'m>> {
        let mut part = self.atom(cursor, depth)?;
        let mut joints = 0;
        while let Some(joint) = cursor.peek().filter(|next| is_infix(&next.text)) {
            cursor.next();
            let right = self.atom(cursor, depth)?;
            let span = part.span.to(right.span);
            part = node(PatternKind::Operator, joint.text.clone(), span, vec![part, right]);
            joints += 1;
            if joints > MAX_NESTING {
                return None;
            }
        }
        Some(part)
    }

    /// Parses an operand without infix operators.
    fn atom(&self, cursor: &mut TokenCursor<'m>, depth: usize) -> Option<PatternNode<'m>> {
        if depth >= MAX_NESTING {
            return None;
        }
        let token = cursor.next()?;
        let kinds = [
            ("[", "]", PatternKind::Address),
            ("{", "}", PatternKind::Vector),
            ("(", ")", PatternKind::Parens),
        ];
        if let Some(&(_, close, kind)) = kinds.iter().find(|(open, ..)| token.text == *open) {
            let parts = self.operands(cursor, close, depth + 1)?;
            let end = cursor.tokens[cursor.position - 1].span;
            let words = cursor.suffix();
            let kind = if kind == PatternKind::Parens && parts.len() != 1 { PatternKind::List } else { kind };
            return Some(PatternNode { words, ..node(kind, "", token.span.to(end), parts) });
        }
        if ["!", "-", "~", "+"].contains(&token.text.as_str()) {
            let part = self.atom(cursor, depth + 1)?;
            let span = token.span.to(part.span);
            return Some(node(PatternKind::Operator, token.text.clone(), span, vec![part]));
        }
        let leaf = self.leaf(token);
        match leaf.kind {
            Some(PatternKind::Name) if cursor.peek_text() == "[" => {
                let mut parts = vec![leaf];
                while cursor.peek_text() == "[" {
                    cursor.next();
                    parts.extend(self.operands(cursor, "]", depth + 1)?);
                }
                let words = cursor.suffix();
                Some(PatternNode { words, ..node(PatternKind::Element, "", token.span, parts) })
            }
            Some(PatternKind::Name) => match cursor.peek() {
                Some(suffix) if suffix.text.starts_with('.') && suffix.gap == Gap::Joined => {
                    cursor.next();
                    Some(self.component(leaf, &suffix.text))
                }
                _ => Some(leaf),
            },
            Some(PatternKind::Mark | PatternKind::Word) => None,
            _ => Some(leaf),
        }
    }
}

fn is_infix(text: &str) -> bool {
    BinaryOp::ALL.iter().any(|op| op.symbol() == text)
}
