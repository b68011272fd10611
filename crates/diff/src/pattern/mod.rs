//! Patterns that match the constructs a known deviation concerns, where no rule of the specification predicts
//! the deviation.
//!
//! A pattern is a test of one statement. It is data in a deviation's file, so that anyone can add one.
//! `docs/guide/known-deviations.md` describes the language, `language` parses it, and `tree` builds the nodes
//! (`node`) that it tests.

mod constants;
mod facts;
mod language;
mod matching;
mod node;
mod tree;

use ptxsmith_syntax::{Module, Span, Text, print};

use self::language::{PatternParser, Test};
use self::node::PatternKind;
use self::tree::Walk;

/// A test of the statements of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    test: Test,
    /// The kinds of statements that may match, as a bit set.
    kinds: u32,
}

/// A place in a module that matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedPlace {
    /// The operand, declarator or word that the pattern leads to.
    pub span: Span,
    /// The statement that contains it.
    pub statement: Span,
    /// The names that the statement declares; in a body, the name of the enclosing function.
    pub names: Vec<Text>,
    /// Whether it is in the body of a function.
    pub in_body: bool,
    /// Whether the parser does not understand the statement.
    pub is_unread: bool,
    /// Whether the place is the module as a whole.
    pub is_module: bool,
}

impl MatchedPlace {
    /// Returns true if the statement declares a variable of this name, or is in the body of a kernel of this
    /// name.
    pub fn holds(&self, name: &str) -> bool {
        // A declared name may be the prefix of a numbered name.
        let mut names = self.names.iter();
        names
            .any(|declared| if self.in_body { declared == name } else { name.starts_with(declared.as_str()) })
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// ```
    /// use ptxsmith_diff::pattern::Pattern;
    /// let pattern = Pattern::parse("instruction(\"ld\" first(sink))").unwrap();
    /// let module = ptxsmith_syntax::parse(".entry k() { ld.global.u32 _, [g]; }").unwrap();
    /// assert_eq!(pattern.places(&module).len(), 1);
    /// assert!(Pattern::parse("instruction(frob)").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns a message with the position of the syntax error. Also fails if the pattern names neither a
    /// kind of statement nor `any`.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let test = PatternParser::pattern(text)?;
        // This ensures that a statement that the parser does not understand matches only patterns that ask
        // for one.
        let kinds = kinds(&test).ok_or("a pattern names a kind of statement, or `any`")?;
        Ok(Pattern { test, kinds })
    }

    /// Creates a pattern that matches exactly one program, whatever its header.
    pub fn program(module: &Module) -> Pattern {
        let text = print(&module.without_header());
        Pattern { test: Test::Program(text), kinds: 1 << PatternKind::Module as u32 }
    }

    /// Returns the matching places of a module, in source order.
    pub fn places(&self, module: &Module) -> Vec<MatchedPlace> {
        matches_of(module, &[self]).places.pop().unwrap_or_default()
    }

    /// Returns true if any place of a module matches.
    pub fn is_in(&self, module: &Module) -> bool {
        !self.places(module).is_empty()
    }
}

/// The matches of patterns in a module.
pub struct Matches {
    /// For each pattern, the matching places in source order.
    pub places: Vec<Vec<MatchedPlace>>,
    /// The first statement that the parser does not understand.
    pub first_unread: Option<Span>,
}

/// Finds the matches of all patterns in one pass.
pub fn matches_of(module: &Module, patterns: &[&Pattern]) -> Matches {
    let mut found = vec![Vec::new(); patterns.len()];
    let mut first_unread = None;
    Walk::over(module, |statement, facts| {
        let Some(kind) = statement.kind else { return };
        if kind == PatternKind::Unread {
            first_unread.get_or_insert(statement.span);
        }
        for (pattern, found) in patterns.iter().zip(&mut found) {
            if pattern.kinds & 1 << kind as u32 == 0 || !pattern.test.holds(statement, facts) {
                continue;
            }
            let mut spans = Vec::new();
            pattern.test.places(statement, facts, &mut spans);
            // Several alternatives may lead to one place.
            spans.sort_by_key(|span: &Span| (span.start, span.end));
            spans.dedup_by_key(|span| (span.start, span.end));
            let names: Vec<Text> = if statement.in_body {
                vec![facts.function.clone()]
            } else {
                let parts = statement.parts.iter();
                let declarators = parts.filter(|part| part.kind == Some(PatternKind::Declarator));
                declarators.map(|part| part.text.clone()).collect()
            };
            found.extend(spans.into_iter().map(|span| MatchedPlace {
                span,
                statement: statement.span,
                names: names.clone(),
                in_body: statement.in_body,
                is_unread: kind == PatternKind::Unread,
                is_module: kind == PatternKind::Module,
            }));
        }
    });
    Matches { places: found, first_unread }
}

/// Returns the kinds of statements that can pass a test, as a bit set; `None` if the test names no kind.
fn kinds(test: &Test) -> Option<u32> {
    match test {
        Test::All(tests) => tests.iter().filter_map(kinds).reduce(|all, own| all & own),
        Test::Any(tests) => tests.iter().map(kinds).try_fold(0, |all, own| Some(all | own?)),
        Test::Kind(kind) => Some(1 << *kind as u32),
        Test::Is("function") => Some(1 << PatternKind::Function as u32),
        Test::Is("any") => Some(u32::MAX),
        _ => None,
    }
}
