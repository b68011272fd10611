//! Locates a difference in a user's file.

use std::cell::OnceCell;

use ptxsmith_diff::Difference;
use ptxsmith_diff::lint::{Risk, risks};
use ptxsmith_model::{ExpectedAnswer, FilePlace};
use ptxsmith_subject::Severity;
use ptxsmith_syntax::{Item, Lines, Module, Span};

/// A file in which differences are located. The data for a look-up is built only when the first difference
/// needs it.
pub struct Locator<'f> {
    file: &'f str,
    text: &'f str,
    module: &'f Module,
    lines: OnceCell<Lines<'f>>,
    risks: OnceCell<Vec<Risk>>,
}

impl<'f> Locator<'f> {
    /// Creates a locator for a file with this source, parsed as this module.
    pub fn new(file: &'f str, text: &'f str, module: &'f Module) -> Locator<'f> {
        Locator { file, text, module, lines: OnceCell::new(), risks: OnceCell::new() }
    }

    /// Returns the place of a difference. This is the first that is known of: the line that violates the
    /// specification, the operand that matches a listed deviation, the variable or kernel that differs, the
    /// line in the subject's diagnostic.
    pub fn place_of(&self, difference: &Difference) -> FilePlace {
        let refused = difference.expected.refusal().map(|refusal| refusal.line).filter(|&line| line > 0);
        if let Some(line) = refused {
            return self.line(line);
        }
        let span = match &difference.variable {
            Some(name) => self.declaration(name),
            None => self.operand(difference).or_else(|| self.declaration(kernel_of(difference)?)),
        };
        if let Some(span) = span {
            let (line, column) = self.lines().place(span.start);
            return FilePlace { line, column, ..self.line(0) };
        }
        let errors = difference
            .observed
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity >= Severity::Error);
        self.line(
            line_of_access(difference)
                .or_else(|| errors.filter_map(|diagnostic| diagnostic.line).next())
                .unwrap_or(0),
        )
    }

    fn line(&self, line: u32) -> FilePlace {
        FilePlace { file: self.file.to_owned(), line, column: 0 }
    }

    fn lines(&self) -> &Lines<'f> {
        self.lines.get_or_init(|| Lines::new(self.text))
    }

    /// Returns the first place that matches the listed deviation explaining the difference.
    fn operand(&self, difference: &Difference) -> Option<Span> {
        let explained = difference.explanation.as_ref()?.deviations().next()?;
        let risks = self.risks.get_or_init(|| risks(self.module));
        risks.iter().find(|risk| risk.known.id == explained.id).map(|risk| risk.span)
    }

    fn declaration(&self, name: &str) -> Option<Span> {
        let written = self.module.items.iter().flat_map(|item| match item {
            Item::Variables(declaration) => {
                declaration.declarators.iter().map(|declarator| &declarator.name).collect()
            }
            Item::Function(function) => vec![&function.name],
            _ => Vec::new(),
        });
        let mut written = written.filter(|written| written.span.is_known());
        written.find(|written| written.text == *name).map(|written| written.span)
    }
}

/// Returns the kernel whose results differ.
fn kernel_of(difference: &Difference) -> Option<&str> {
    difference.observed.kernels.keys().next().map(String::as_str)
}

/// Returns the line of the first access to a wrong address.
fn line_of_access(difference: &Difference) -> Option<u32> {
    match &difference.expected.answer {
        ExpectedAnswer::Accesses(accesses) => accesses.iter().find_map(|access| access.line),
        _ => None,
    }
}
