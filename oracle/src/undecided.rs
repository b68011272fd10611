//! The parts of a module that the texts at hand do not decide, and what may be said of the module then.

use ptxsmith_syntax::{Name, Span, Unread, every, line_column};

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
}

impl Undecided {
    pub(crate) fn of(name: &Name, reason: &'static str) -> Undecided {
        Undecided { part: name.text.to_string(), reason, span: name.span }
    }

    pub(crate) fn unread(unread: &Unread) -> Undecided {
        let first = unread.tokens.first().map_or_else(String::new, |token| token.text.to_string());
        Undecided { part: first, reason: UNREAD, span: unread.span() }
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

/// These parts as `"undecided"` in `ptxsmith.module/1`: part, reason and, where it is known, line.
pub(crate) fn to_json(undecided: &[Undecided], text: &str) -> serde_json::Value {
    let one = |part: &Undecided| {
        let mut json = serde_json::json!({ "part": part.part, "reason": part.reason });
        if part.span.is_known() {
            json["line"] = line_column(text, part.span.start).0.into();
        }
        json
    };
    undecided.iter().map(one).collect()
}
