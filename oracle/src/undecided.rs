//! The parts of a module that the specification at hand does not decide, and the validity that follows for the module.

use ptxsmith_model::UndecidedPart;
use ptxsmith_syntax::{Lines, Name, ParseError, Span, Unread, every};

/// Reason: a statement does not parse.
pub(crate) const UNREAD: &str = "a statement that is not understood";

/// Reason: a declaration contains an unknown word.
pub(crate) const WORD: &str = "a word in the declaration that the specification at hand does not describe";

/// Reason: an operand names nothing that is declared.
pub(crate) const UNDECLARED: &str = "a name that nothing declares";

/// Reason: an operand names an alias.
pub(crate) const ALIAS: &str = "a name that .alias gives, which the specification does not mention";
/// Reason: an access reaches beyond its variable.
pub(crate) const OUTSIDE: &str = "an access outside of the variable";

/// Reason: a variable holds a NaN computed by arithmetic.
pub const COMPUTED_NAN: &str = "a NaN that arithmetic made: its sign and payload are not said";

/// A part of a module that the specification at hand does not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The part, as messages call it: `variable a`, `kernel k`, `.pragma`.
    pub part: String,
    /// Why it is not decided.
    pub reason: &'static str,
    /// Its position in the source.
    pub span: Span,
    /// For a statement that does not parse, the error where parsing stopped.
    pub error: Option<Box<ParseError>>,
}

impl Undecided {
    pub(crate) fn new(part: String, reason: &'static str, span: Span) -> Undecided {
        Undecided { part, reason, span, error: None }
    }

    pub(crate) fn at_name(name: &Name, reason: &'static str) -> Undecided {
        Undecided::new(name.text.to_string(), reason, name.span)
    }

    pub(crate) fn unread(unread: &Unread) -> Undecided {
        let first = unread.tokens.first().map_or_else(String::new, |token| token.text.to_string());
        let error = Some(Box::new(unread.error.clone()));
        Undecided { error, ..Undecided::new(first, UNREAD, unread.span()) }
    }

    /// Returns the position to show: the parse error if it lies inside the statement, otherwise the part itself. A
    /// missing semicolon is noticed only in the next statement, which is outside.
    pub fn place(&self) -> Span {
        match &self.error {
            Some(error) if (self.span.start..self.span.end).contains(&error.span.start) => error.span,
            _ => self.span,
        }
    }

    /// Returns the reason as shown to people, with the parse error if there is one.
    pub fn explained(&self) -> String {
        match &self.error {
            Some(error) => format!("{}: {error}", self.reason),
            None => self.reason.to_owned(),
        }
    }

    /// Whether the program itself may be wrong, and not only the specification incomplete: a statement that does not
    /// parse, an unknown word in a declaration, or an undeclared name.
    pub fn is_suspicious(&self) -> bool {
        [UNREAD, WORD, UNDECLARED].contains(&self.reason)
    }
}

every! {
    /// The validity of a module. A refusal takes precedence over undecided parts.
    pub enum Validity {
        /// Every part is judged.
        Valid = "valid",
        /// A clause forbids some part.
        Refused = "refused",
        /// No part is refused, and at least one is undecided.
        Undecided = "undecided",
    }
}

/// Converts these parts for reports, each with its line if the position is known.
pub(crate) fn answer(undecided: &[Undecided], text: &str) -> Vec<UndecidedPart> {
    let lines = Lines::new(text);
    let parts = undecided.iter().map(|part| UndecidedPart {
        part: part.part.clone(),
        reason: part.reason.to_owned(),
        line: Some(part.place()).filter(|place| place.is_known()).map(|place| lines.line(place.start)),
        error: part.error.as_ref().map(ToString::to_string),
    });
    parts.collect()
}
