//! A file as it was checked last, and a quick check of the part that changed since.
//!
//! To check a file of a megabyte takes a second. A change mostly concerns one statement, so the statements
//! around the change are checked alone, with the declarations that they need. The warnings of all others stay
//! until the whole file has been checked again. The declarations are found by the words of the text, which may
//! give too many: to resolve names takes the whole file parsed (`ptxsmith_reduce::slice`), some 30 ms.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use ptxsmith_campaign::input::InputProgram;
use ptxsmith_syntax::Item;

use crate::commands::lint::{Warning, of_program};
use crate::exit::Failure;

/// The most bytes of text that a quick check reads.
const MOST_TEXT: usize = 64 << 10;

/// A file with the warnings for all of it.
pub struct CheckedFile {
    text: String,
    warnings: Vec<Warning>,
    /// The statements in source order, each with whether it belongs to the header.
    statements: Vec<(Range<usize>, bool)>,
    /// The indices of the statements that declare a name.
    declaring: HashMap<String, Vec<usize>>,
}

impl CheckedFile {
    /// Checks a whole file.
    ///
    /// # Errors
    /// If it is no PTX.
    pub fn new(text: String) -> Result<CheckedFile, Failure> {
        let program = InputProgram::parse("file".to_owned(), text)?;
        let warnings = of_program(&program, "", &[], false);
        let items = &program.module.items;
        let mut declaring: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            for (name, _) in item.declared() {
                declaring.entry(name.to_string()).or_default().push(index);
            }
        }
        let statements = statements(&program.text, items);
        Ok(CheckedFile { text: program.text, warnings, statements, declaring })
    }

    /// Returns the warnings for the whole file.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the warnings for a changed text: new ones for the statements that changed, and those of the
    /// last check for all others. Returns `None` if only a check of the whole file can tell.
    pub fn recheck(&self, text: &str) -> Option<Vec<Warning>> {
        let (before, after) = self.changed(text)?;
        let (excerpt, above) = self.excerpt(&text[after.clone()], &before)?;
        let program = InputProgram::parse("file".to_owned(), excerpt).ok()?;
        let lines_between = |text: &str, range: Range<usize>| text[range].matches('\n').count() as u32;
        let first_line = lines_between(text, 0..after.start) + 1;
        let last_line = first_line + lines_between(text, after.clone());
        let old_last_line = first_line + lines_between(&self.text, before);
        let mut warnings = Vec::new();
        for mut warning in of_program(&program, "", &[], false) {
            warning.line = (warning.line + first_line).saturating_sub(above + 1);
            if (first_line..=last_line).contains(&warning.line) {
                warnings.push(warning);
            }
        }
        for warning in &self.warnings {
            let mut warning = warning.clone();
            if warning.line > old_last_line {
                warning.line = warning.line - old_last_line + last_line;
                warnings.push(warning);
            } else if warning.line < first_line {
                warnings.push(warning);
            }
        }
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        Some(warnings)
    }

    /// Returns the bytes of the lines that changed, extended to whole statements, before and after the change.
    fn changed(&self, text: &str) -> Option<(Range<usize>, Range<usize>)> {
        let is_same = |(old, new): &(u8, u8)| old == new;
        let start = self.text.bytes().zip(text.bytes()).take_while(is_same).count();
        let rest = self.text.len().min(text.len()) - start;
        let same = self.text.bytes().rev().zip(text.bytes().rev()).take(rest).take_while(is_same).count();
        let mut before = start..self.text.len() - same;
        let touches =
            |statement: &Range<usize>| statement.start <= before.end && before.start <= statement.end;
        let first = self.statements.partition_point(|(statement, _)| statement.end < before.start);
        let touched: Vec<_> =
            self.statements[first..].iter().take_while(|(range, _)| touches(range)).collect();
        if touched.iter().any(|(_, is_header)| *is_header) {
            return None;
        }
        if let (Some((first, _)), Some((last, _))) = (touched.first(), touched.last()) {
            before = before.start.min(first.start)..before.end.max(last.end);
        }
        // Warnings are kept and replaced by lines.
        before.start = self.text[..before.start].rfind('\n').map_or(0, |newline| newline + 1);
        before.end += self.text[before.end..].find('\n').unwrap_or(self.text.len() - before.end);
        let after = before.start..text.len().checked_sub(self.text.len() - before.end)?;
        (after.len() <= MOST_TEXT && text.is_char_boundary(after.start) && text.is_char_boundary(after.end))
            .then_some((before, after))
    }

    /// Returns a program of the changed text, the header and the declarations that the changed text needs, in
    /// the order of the file, and the number of lines above the changed text.
    fn excerpt(&self, changed: &str, before: &Range<usize>) -> Option<(String, u32)> {
        let is_outside = |range: &Range<usize>| range.end <= before.start || before.end <= range.start;
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut size = changed.len();
        let mut open: Vec<&str> = vec![changed];
        while let Some(text) = open.pop() {
            for index in names(text).flat_map(|name| self.declaring_statements(name)) {
                let (range, _) = &self.statements[index];
                if is_outside(range) && needed.insert(index) {
                    size += range.len();
                    open.push(&self.text[range.clone()]);
                }
            }
            if size > MOST_TEXT {
                return None;
            }
        }
        let header = (0..self.statements.len()).take_while(|&index| self.statements[index].1);
        let kept: BTreeSet<usize> = header.chain(needed).collect();
        let mut excerpt = String::new();
        let mut above = None;
        for index in kept {
            let (range, _) = &self.statements[index];
            if range.start >= before.end && above.is_none() {
                above = Some(excerpt.matches('\n').count() as u32);
                excerpt += changed;
                excerpt.push('\n');
            }
            excerpt += &self.text[range.clone()];
            excerpt.push('\n');
        }
        let above = above.unwrap_or_else(|| {
            let lines = excerpt.matches('\n').count() as u32;
            excerpt += changed;
            lines
        });
        Some((excerpt, above))
    }

    /// Returns the statements that declare a name, or a parameterized name that it may be a part of.
    fn declaring_statements(&self, name: &str) -> impl Iterator<Item = usize> {
        let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
        let exact = self.declaring.get(name).into_iter();
        let parameterized = self.declaring.get(prefix).filter(|_| prefix != name);
        exact.chain(parameterized).flatten().copied()
    }
}

/// Returns the bytes of each statement, with comments before it and its semicolon, and whether it belongs to
/// the header.
fn statements(text: &str, items: &[Item]) -> Vec<(Range<usize>, bool)> {
    let mut statements = Vec::with_capacity(items.len());
    let mut end = 0;
    for item in items {
        let start = text.len() - text[end..].trim_start().len();
        end = start.max(item.span().end as usize).min(text.len());
        let rest = text[end..].trim_start();
        if rest.starts_with(';') {
            end = text.len() - rest.len() + 1;
        }
        statements.push((start..end, item.is_header()));
    }
    statements
}

/// Returns the words of a text that may be names.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || "_$%".contains(character);
    text.split(move |character| !is_of_name(character)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 7.8
.target sm_80
.address_size 64
.global .s32 a[2][2] = {{1}, {3}};
.global .u64 b = 1;
.visible .entry k(.param .u64 p)
{
    .reg .u64 q;
    mov.u64 q, b;
    ret;
}
.global .s32 c[2][2] = {{1}, {3}};
.global .u64 d = b;
";

    fn places(warnings: &[Warning]) -> Vec<(u32, &str)> {
        warnings.iter().map(|warning| (warning.line, warning.id)).collect()
    }

    /// Each change gives quickly what a check of the whole file gives.
    #[test]
    fn a_quick_check_of_a_change_gives_what_a_check_of_the_whole_file_gives() {
        let checked = CheckedFile::new(TEXT.to_owned()).unwrap();
        assert_eq!(
            places(checked.warnings()),
            [(4, "incomplete-rows-packed"), (12, "incomplete-rows-packed")]
        );
        for (old, new) in [
            (".global .u64 b = 1;", ".global .u64 b = 2;"),
            (".global .u64 b = 1;", ".global .u64 b = 1;\n\n.global .s32 e[2][2] = {{1}, {3}};\n"),
            ("    ret;\n", "    ret;\n\n\n    ret;\n"),
            ("a[2][2] = {{1}, {3}}", "a[2][2] = {{1, 0}, {3, 0}}"),
            (".global .s32 a[2][2] = {{1}, {3}};\n", ""),
            ("c[2][2]", "cc[2][2]"),
            (
                "d = b;\n",
                "d = b;\n// ptxsmith: allow incomplete-rows-packed\n.global .s32 f[2][2] = {{1}, {3}};\n",
            ),
            (".global .u64 d = b;\n", ".global .u64 d = b, e = d;\n.global .u64 f = 5 +"),
        ] {
            let text = TEXT.replace(old, new);
            let whole = CheckedFile::new(text.clone());
            match (checked.recheck(&text), whole) {
                (Some(quick), Ok(whole)) => assert_eq!(places(&quick), places(whole.warnings()), "{new}"),
                (None, Err(_)) => {}
                (quick, whole) => panic!("{new}: {} beside {}", quick.is_some(), whole.is_ok()),
            }
        }
    }

    #[test]
    fn a_change_of_the_header_or_a_large_one_needs_a_check_of_the_whole_file() {
        let checked = CheckedFile::new(TEXT.to_owned()).unwrap();
        assert!(checked.recheck(&TEXT.replace("7.8", "8.0")).is_none());
        assert!(checked.recheck(&TEXT.replace("    ret;", &"ret;\n".repeat(MOST_TEXT))).is_none());
        assert!(checked.recheck(TEXT).is_some());
    }
}
