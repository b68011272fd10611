//! Describes why parts of a program were not compared.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ptxsmith_oracle::{Kernel, KernelOutcome, Undecided};
use ptxsmith_subject::{Diagnostic, Observation, Severity};
use ptxsmith_syntax::{Function, FunctionKind, Item, Name, Span, StateSpace, Statement, Text};

use super::{PartVerdict, ProgramUnderTest};
use crate::compare::shows_no_values;
use crate::verdict::{NotCompared, WhyNotCompared};

/// The undecided parts by name; the key `None` has all of them.
pub(super) type UndecidedByName<'u> = BTreeMap<Option<&'u str>, Vec<&'u Undecided>>;

const IN_BODY: &str = "a variable of a body, under a name that the implementation makes up";

impl ProgramUnderTest<'_> {
    pub(super) fn undecided_by_name(&self) -> UndecidedByName<'_> {
        let mut by_name: UndecidedByName<'_> = BTreeMap::new();
        for part in &self.prediction.undecided {
            by_name.entry(Some(&part.part)).or_default().push(part);
            by_name.entry(None).or_default().push(part);
        }
        by_name
    }

    /// Returns the reason why a variable, or the program as a whole, was not compared.
    pub(super) fn why_not_compared(
        &self,
        reason: NotCompared,
        variable: Option<&str>,
        undecided: &UndecidedByName<'_>,
        observed: &Observation,
    ) -> Option<WhyNotCompared> {
        let diagnostic = errors(observed).next();
        let part = variable.map_or("module".to_owned(), variable_or_statement);
        match reason {
            NotCompared::Unmodelled => {
                let parts = undecided.get(&variable)?;
                let blamed = match (parts.as_slice(), diagnostic.and_then(|diagnostic| diagnostic.line)) {
                    ([_, _, ..], Some(line)) => self.undecided_on_line(parts, line),
                    _ => None,
                };
                let why = self.why_undecided(part, blamed.or(parts.first().copied())?);
                let said = diagnostic.map(with_line).or(observed.reason.clone());
                Some(WhyNotCompared { said: said.filter(|_| variable.is_none()), ..why })
            }
            NotCompared::Unobserved => {
                let seen = variable.and_then(|name| observed.variables.get(name));
                let reason = seen.and_then(|seen| seen.reason.clone());
                let reason = reason.unwrap_or_else(|| "the subject does not show it".to_owned());
                Some(WhyNotCompared::new(part, reason))
            }
            _ => {
                let message = diagnostic.map(|diagnostic| diagnostic.message.clone());
                let reason = message
                    .or(observed.reason.clone())
                    .unwrap_or_else(|| "the subject does not say why".to_owned());
                let line = diagnostic.and_then(|diagnostic| diagnostic.line);
                Some(WhyNotCompared { line, ..WhyNotCompared::new(part, reason) })
            }
        }
    }

    /// Returns the first undecided part on a line. The line that the subject reports shows which of several
    /// parts it refuses.
    fn undecided_on_line<'u>(&self, parts: &[&'u Undecided], line: u32) -> Option<&'u Undecided> {
        let known: Vec<&'u Undecided> = parts.iter().copied().filter(|part| part.span.is_known()).collect();
        let begins_here = known.iter().find(|part| *self.lines_of(part.span).start() == line);
        let first_here =
            begins_here.or_else(|| known.iter().find(|part| self.lines_of(part.span).contains(&line)));
        if let Some(part) = first_here {
            return Some(part);
        }
        // In a directive or an instruction, the first word is marked as undecided, and the subject may report
        // a later line of the statement.
        let statements = self.statements_on_line(line);
        known
            .into_iter()
            .find(|part| statements.iter().any(|statement| contains_start(*statement, part.span)))
    }

    fn lines_of(&self, span: Span) -> RangeInclusive<u32> {
        self.lines.line(span.start)..=self.lines.line(span.end.saturating_sub(1))
    }

    /// Returns the spans of the statements that lie on this line.
    fn statements_on_line(&self, line: u32) -> Vec<Span> {
        let mut spans = Vec::new();
        for item in &self.module.items {
            match item {
                Item::Function(function) => spans.extend(function.statements().filter_map(span_of_tokens)),
                item => spans.push(item.span()),
            }
        }
        spans.retain(|span| span.is_known() && self.lines_of(*span).contains(&line));
        spans
    }

    /// Returns the reason for a part that the specification does not decide.
    pub(super) fn why_undecided(&self, part: String, undecided: &Undecided) -> WhyNotCompared {
        let place = undecided.place();
        WhyNotCompared {
            part: if part == "module" { undecided.part.clone() } else { part },
            line: place.is_known().then(|| self.lines.line(place.start)),
            reason: undecided.reason.to_owned(),
            detail: undecided.error.as_ref().map(|error| error.to_string()),
            said: None,
        }
    }

    /// Returns the parts that are not compared: function bodies that the specification does not decide, with
    /// the reason, and variables of bodies with an initial value. The latter are not shown, because each
    /// implementation chooses names for them.
    pub(super) fn uncompared_bodies(&self, observed: &Observation) -> Vec<PartVerdict> {
        let mut undecided: Vec<&Undecided> = self.prediction.undecided.iter().collect();
        undecided.sort_by_key(|part| part.span.start);
        let kernels: BTreeMap<&Text, &Kernel> =
            self.prediction.kernels.iter().map(|kernel| (&kernel.name, kernel)).collect();
        let shows_no_values = shows_no_values(self.subject, observed);
        let mut parts = Vec::new();
        for function in self.module.functions().filter(|function| function.body.is_some()) {
            let begins = undecided.partition_point(|part| part.span.start <= function.span.start);
            let first = undecided.get(begins).filter(|part| part.span.start < function.span.end);
            let kernel = kernels.get(&function.name.text).copied();
            if let Some(why) = self.why_body_undecided(function, kernel, first.copied()) {
                parts.push(PartVerdict::not_compared(NotCompared::Unmodelled, Some(why)));
            }
            if !shows_no_values {
                parts.extend(initialized_variables(function).map(|variable| {
                    let part = format!("variable {} of {}", variable.text, function.name.text);
                    let line = Some(self.lines.line(variable.span.start));
                    let why = WhyNotCompared { line, ..WhyNotCompared::new(part, IN_BODY) };
                    PartVerdict::not_compared(NotCompared::Unobserved, Some(why))
                }));
            }
        }
        parts
    }

    /// Returns the reason why a body is not compared, if it is not. `undecided` is its first undecided part.
    fn why_body_undecided(
        &self,
        function: &Function,
        kernel: Option<&Kernel>,
        undecided: Option<&Undecided>,
    ) -> Option<WhyNotCompared> {
        let name = &function.name;
        match (kernel.map(|kernel| &kernel.outcome), undecided) {
            (Some(KernelOutcome::Output(_)), _) | (None, None) => None,
            (_, Some(undecided)) => {
                let kind = if function.kind == FunctionKind::Entry { "kernel" } else { "function" };
                Some(self.why_undecided(format!("{kind} {}", name.text), undecided))
            }
            (Some(KernelOutcome::Unmodelled(reason)), None) => {
                let line = Some(self.lines.line(name.span.start));
                Some(WhyNotCompared { line, ..WhyNotCompared::new(format!("kernel {}", name.text), *reason) })
            }
        }
    }
}

/// Describes a part by its name: a variable, or a statement without one.
fn variable_or_statement(name: &str) -> String {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric() || "_$%".contains(c));
    if is_name { format!("variable {name}") } else { format!("statement {name}") }
}

/// Returns the error messages of the subject.
pub(super) fn errors(observed: &Observation) -> impl Iterator<Item = &Diagnostic> {
    observed.diagnostics.iter().filter(|diagnostic| diagnostic.severity >= Severity::Error)
}

/// Formats a message of a subject, with its line if it has one.
pub(super) fn with_line(diagnostic: &Diagnostic) -> String {
    match diagnostic.line {
        Some(line) => format!("line {line}: {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Returns true if a part begins within this span.
pub(super) fn contains_start(span: Span, part: Span) -> bool {
    span.start <= part.start && part.start < span.end
}

/// Returns the variables with an initial value that a body declares.
fn initialized_variables(function: &Function) -> impl Iterator<Item = &Name> {
    function
        .statements()
        .filter_map(|statement| match statement {
            Statement::Variables(declaration) if declaration.space() != Some(StateSpace::Reg) => {
                Some(&declaration.declarators)
            }
            _ => None,
        })
        .flatten()
        .filter(|declarator| declarator.initializer.is_some())
        .map(|declarator| &declarator.name)
}

/// Returns the span of a statement that is kept as tokens, from its first to its last word.
fn span_of_tokens(statement: &Statement) -> Option<Span> {
    let Statement::Tokens(tokens) = statement else { return None };
    Some(Span { end: tokens.last()?.span.end, ..tokens.first()?.span })
}
