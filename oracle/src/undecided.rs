//! The parts of a module that the texts at hand do not decide, and what may be said of the module then.

use ptxsmith_model::UndecidedPart;
use ptxsmith_syntax::{Lines, Name, ParseError, Span, Unread, every};

/// Why a statement that is not understood holds nothing that is known.
pub(crate) const UNREAD: &str = "a statement that is not understood";

/// Why a declaration with a word of its own is not decided.
pub(crate) const WORD: &str = "a word in the declaration that the specification at hand does not describe";

/// Why an operand is not decided that names nothing.
pub(crate) const UNDECLARED: &str = "a name that nothing declares";

/// Why what names an alias is not decided.
pub(crate) const ALIAS: &str = "a name that .alias gives, of which the texts do not speak";
/// Why an access is not decided that reaches beyond its variable.
pub(crate) const OUTSIDE: &str = "an access outside of the variable";

/// Why a variable is not decided that holds a NaN made by arithmetic.
pub const COMPUTED_NAN: &str = "a NaN that arithmetic made: its sign and payload are not said";

/// A part of a module that the texts at hand do not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The part, as messages call it: `variable a`, `kernel k`, `.pragma`.
    pub part: String,
    /// Why it is not decided.
    pub reason: &'static str,
    /// Where it stands.
    pub span: Span,
    /// What ended the understanding of a statement that is not understood.
    pub error: Option<Box<ParseError>>,
}

impl Undecided {
    pub(crate) fn new(part: String, reason: &'static str, span: Span) -> Undecided {
        Undecided { part, reason, span, error: None }
    }

    pub(crate) fn of(name: &Name, reason: &'static str) -> Undecided {
        Undecided::new(name.text.to_string(), reason, name.span)
    }

    pub(crate) fn unread(unread: &Unread) -> Undecided {
        let first = unread.tokens.first().map_or_else(String::new, |token| token.text.to_string());
        let error = Some(Box::new(unread.error.clone()));
        Undecided { error, ..Undecided::new(first, UNREAD, unread.span()) }
    }

    /// The place to look at: where in a statement the understanding ended, else where the part stands. A semicolon that is missing is
    /// noticed in another statement.
    pub fn place(&self) -> Span {
        let is_inside = |at: &Span| self.span.start <= at.start && at.start < self.span.end;
        self.error.as_ref().map(|error| error.span).filter(is_inside).unwrap_or(self.span)
    }

    /// The reason for people, with what ended the understanding of a statement.
    pub fn explained(&self) -> String {
        match &self.error {
            Some(error) => format!("{}: {error}", self.reason),
            None => self.reason.to_owned(),
        }
    }

    /// Whether the text may be at fault, and not only what the texts at hand leave out: a statement that is not understood, a
    /// word that no declaration has, or a name that nothing declares.
    pub fn is_suspicious(&self) -> bool {
        [UNREAD, WORD, UNDECLARED].contains(&self.reason)
    }
}

every! {
    /// What may be said of a module: refused beats undecided beats judged.
    pub enum Validity {
        /// Every part is judged.
        Valid = "valid",
        /// A clause says no.
        Refused = "refused",
        /// Nothing is refused, and a part is not decided.
        Undecided = "undecided",
    }
}

/// These parts as reports have them, each with its line where that is known.
pub(crate) fn answer(undecided: &[Undecided], text: &str) -> Vec<UndecidedPart> {
    let lines = Lines::new(text);
    let one = |part: &Undecided| UndecidedPart {
        part: part.part.clone(),
        reason: part.reason.to_owned(),
        line: Some(part.place()).filter(|place| place.is_known()).map(|place| lines.line(place.start)),
        error: part.error.as_ref().map(ToString::to_string),
    };
    undecided.iter().map(one).collect()
}
