//! Translates places of preprocessed text into places of the user's files.

use std::collections::HashMap;

use super::ast::Position;
use super::source::{NAME, PreprocessedText};
use super::tokens::{CppToken, tokens};

/// A place in a file of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPlace {
    /// The file, as clang opened it.
    pub file: String,
    /// The number of the line in the file, from 1. If the file has no such line, the number that compilers
    /// report because of a `#line` directive.
    pub line: u32,
    /// The column in bytes, from 1. If a macro produces the token, the column of the macro.
    pub col: u32,
    /// The length of the token at this place.
    pub length: u32,
    /// Whether the file has the token itself at this place.
    pub is_exact: bool,
    /// The offset in the file, if the whole statement is written there as it is preprocessed.
    pub offset: Option<usize>,
}

/// Translates places, and reads each file of the user once.
pub struct SourceMap<'a> {
    text_of: &'a dyn Fn(&str) -> String,
    files: HashMap<String, WrittenFile>,
}

impl<'a> SourceMap<'a> {
    /// Creates a map that reads files with `text_of`.
    pub fn new(text_of: &'a dyn Fn(&str) -> String) -> Self {
        SourceMap { text_of, files: HashMap::new() }
    }

    fn file(&mut self, name: &str) -> &WrittenFile {
        let text_of = self.text_of;
        self.files.entry(name.to_owned()).or_insert_with(|| WrittenFile::read(name, text_of(name)))
    }

    /// Translates the place of a token.
    pub fn place(&mut self, source: &PreprocessedText, place: &Position) -> WrittenPlace {
        let real = source.real_file(place.line);
        let file = self.file(real);
        let (reported_file, reported_line) = source.line(place.line);
        let (name, line) = match file.written_line(source, place.line) {
            Some(line) => (real, line),
            None => (reported_file, reported_line),
        };
        let unaligned = WrittenPlace {
            file: name.to_owned(),
            line,
            col: place.col,
            length: 1,
            is_exact: true,
            offset: None,
        };
        let Some(written) = file.lines.get(&line).filter(|_| name == real) else { return unaligned };
        let preprocessed = tokens(source.line_text(place.line));
        let token = preprocessed.iter().rposition(|token| token.offset < place.col as usize);
        let Some(token) = token else { return unaligned };
        let matches = align(&preprocessed, written);
        let index = matches[token].unwrap_or_else(|| {
            // A macro produces the token. It is written behind the last token that is not from a macro.
            let before = matches[..token].iter().rev().find_map(|index| *index);
            before.map_or(0, |index| index + 1).min(written.len() - 1)
        });
        let WrittenToken { offset, col, ref text } = written[index];
        let is_unchanged = is_statement_unchanged(&preprocessed, &matches, token, index);
        WrittenPlace {
            col,
            length: text.len() as u32,
            is_exact: matches[token].is_some(),
            offset: is_unchanged.then_some(offset),
            ..unaligned
        }
    }

    /// Returns a line of a file of the user.
    pub fn text(&mut self, file: &str, line: u32) -> String {
        let number = line.saturating_sub(1) as usize;
        self.file(file).text.lines().nth(number).unwrap_or_default().to_owned()
    }

    /// Translates the place in a message of clang about the preprocessed text.
    pub fn message(&mut self, source: &PreprocessedText, message: &str) -> String {
        let mut parts = message.strip_prefix(NAME).unwrap_or_default().splitn(4, ':').skip(1);
        let line = parts.next().and_then(|line| line.parse().ok());
        let col = parts.next().and_then(|col| col.parse().ok());
        let (Some(line), Some(col), Some(text)) = (line, col, parts.next()) else {
            return message.to_owned();
        };
        let place = self.place(source, &Position { line, col, offset: 0 });
        format!("{}:{}:{}:{text}", place.file, place.line, place.col)
    }
}

/// Whether the statement around a token is written as it is preprocessed: the tokens of the statement follow
/// each other in the file. `index` is the number of the token in the file's line.
fn is_statement_unchanged(
    preprocessed: &[CppToken<'_>],
    matches: &[Option<usize>],
    token: usize,
    index: usize,
) -> bool {
    let begin = preprocessed[..=token].iter().rposition(ends_statement).map_or(0, |end| end + 1);
    let end = preprocessed[token..].iter().position(ends_statement);
    let end = end.map_or(preprocessed.len(), |end| token + end);
    (begin..end).all(|other| matches[other].is_some_and(|written| written + token == index + other))
}

fn ends_statement(token: &CppToken<'_>) -> bool {
    matches!(token.text, ";" | "{" | "}")
}

/// Matches the tokens of a preprocessed line with those of the written line: as many as possible in the same
/// order. Returns the number of the written token for each preprocessed one.
fn align(preprocessed: &[CppToken<'_>], written: &[WrittenToken]) -> Vec<Option<usize>> {
    let begin = preprocessed.iter().zip(written).take_while(|(one, other)| is_same(one, other)).count();
    let shorter = preprocessed.len().min(written.len());
    let from_end = preprocessed.iter().rev().zip(written.iter().rev()).take(shorter - begin);
    let end = from_end.take_while(|(one, other)| is_same(one, other)).count();
    let mut matches = vec![None; preprocessed.len()];
    for (index, matched) in matches.iter_mut().enumerate().take(begin) {
        *matched = Some(index);
    }
    for back in 1..=end {
        matches[preprocessed.len() - back] = Some(written.len() - back);
    }
    let middle = &preprocessed[begin..preprocessed.len() - end];
    for (row, column) in common_subsequence(middle, &written[begin..written.len() - end]) {
        matches[begin + row] = Some(begin + column);
    }
    matches
}

/// Returns the pairs of indices of a longest common subsequence; none if the table for it would be too large.
fn common_subsequence(preprocessed: &[CppToken<'_>], written: &[WrittenToken]) -> Vec<(usize, usize)> {
    let rows = preprocessed.len();
    let columns = written.len();
    if rows.saturating_mul(columns) > LARGEST_TABLE {
        return Vec::new();
    }
    // The length of the longest common subsequence of the tokens from `row` and `column` on.
    let width = columns + 1;
    let mut longest = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            longest[row * width + column] = if is_same(&preprocessed[row], &written[column]) {
                longest[(row + 1) * width + column + 1] + 1
            } else {
                longest[(row + 1) * width + column].max(longest[row * width + column + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let mut row = 0;
    let mut column = 0;
    while row < rows && column < columns {
        if is_same(&preprocessed[row], &written[column]) {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if longest[row * width + column + 1] >= longest[(row + 1) * width + column] {
            column += 1;
        } else {
            row += 1;
        }
    }
    pairs
}

fn is_same(preprocessed: &CppToken<'_>, written: &WrittenToken) -> bool {
    preprocessed.text == written.text
}

/// The largest number of entries of the table for the alignment of a line.
const LARGEST_TABLE: usize = 1 << 20;

/// A token of a file of the user.
struct WrittenToken {
    offset: usize,
    col: u32,
    text: String,
}

/// A file of the user.
struct WrittenFile {
    text: String,
    /// The tokens by line.
    lines: HashMap<u32, Vec<WrittenToken>>,
    /// The parts between `#line` directives.
    parts: Vec<NumberedLines>,
}

/// Consecutive lines of a file, and their numbers in the messages of compilers.
struct NumberedLines {
    /// The number of the first line in the file.
    first: u32,
    /// The file that compilers report for these lines.
    reported_file: String,
    /// The number that compilers report for the first line.
    reported_line: u32,
}

impl WrittenFile {
    fn read(name: &str, text: String) -> WrittenFile {
        let mut lines: HashMap<u32, Vec<WrittenToken>> = HashMap::new();
        for token in tokens(&text) {
            let start = text[..token.offset].rfind('\n').map_or(0, |newline| newline + 1);
            let col = (token.offset - start) as u32 + 1;
            let written = WrittenToken { offset: token.offset, col, text: token.text.to_owned() };
            lines.entry(token.line).or_default().push(written);
        }
        let mut file_name = name.to_owned();
        let mut parts = vec![NumberedLines { first: 1, reported_file: file_name.clone(), reported_line: 1 }];
        for (line, number) in text.lines().zip(1..) {
            let Some((reported_line, named)) = line_directive(line) else { continue };
            if let Some(named) = named {
                file_name = named.to_owned();
            }
            parts.push(NumberedLines { first: number + 1, reported_file: file_name.clone(), reported_line });
        }
        WrittenFile { text, lines, parts }
    }

    /// Returns the number in the file of a line of the preprocessed text. Compilers may report the same number
    /// for several lines, so the parts before decide.
    fn written_line(&self, source: &PreprocessedText, line: u32) -> Option<u32> {
        let mut next = 1;
        let mut found = None;
        for (file, reported, length) in source.parts_until(line) {
            let mut candidates = self.lines_reported_as(file, reported);
            let begin = candidates.clone().find(|&begin| begin >= next).or_else(|| candidates.next());
            found = begin.map(|begin| begin + length);
            next = found.unwrap_or(next);
        }
        found
    }

    /// Returns the numbers in the file of the lines for which compilers report this file and number.
    fn lines_reported_as(&self, file: &str, line: u32) -> impl Iterator<Item = u32> + Clone {
        let ends = self.parts.iter().skip(1).map(|part| part.first - 1).chain([u32::MAX]);
        self.parts.iter().zip(ends).filter_map(move |(part, end)| {
            let written = part.first + line.checked_sub(part.reported_line)?;
            (part.reported_file == file && written < end).then_some(written)
        })
    }
}

/// Reads `#line NUMBER "FILE"` or `# NUMBER "FILE"`; the file may be absent.
fn line_directive(line: &str) -> Option<(u32, Option<&str>)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let directive = directive.strip_prefix("line").unwrap_or(directive).trim();
    let (number, file) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    Some((number.parse().ok()?, file.trim().split('"').nth(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::source::FileOrigin;

    const TEXT: &str = "\
# 1 \"a.cu\"
# 1 \"<built-in>\" 3
# 1 \"sys/lib.h\" 1 3
const int late;
# 2 \"a.cu\" 2
int a[arr[1]]; f(\"k (\", k);
# 100 \"g.y\"
g(k);
";

    fn source() -> PreprocessedText {
        PreprocessedText::read(TEXT, &|file| {
            if file.starts_with("sys") { FileOrigin::Library } else { FileOrigin::Project }
        })
    }

    #[test]
    fn a_column_is_that_of_the_written_token_or_of_the_macro_that_produces_it() {
        let source = source();
        let text = "\n  INT a[BAD];   f(\"k (\",  k); // k\n#line 100 \"g.y\"\n g( k);\n";
        let text_of = |file: &str| if file == "a.cu" { text.to_owned() } else { String::new() };
        let mut map = SourceMap::new(&text_of);
        let mut col = |line: u32, col: u32| {
            let place = map.place(&source, &Position { line, col, offset: 0 });
            (place.file, place.line, place.col, place.offset)
        };
        assert_eq!(col(6, 1), ("a.cu".to_owned(), 2, 3, None));
        assert_eq!(col(6, 5), ("a.cu".to_owned(), 2, 7, None));
        assert_eq!(col(6, 7), ("a.cu".to_owned(), 2, 9, None));
        assert_eq!(col(6, 25), ("a.cu".to_owned(), 2, 27, Some(27)));
        assert_eq!(col(8, 3), ("a.cu".to_owned(), 4, 5, Some(56)));
        assert_eq!(map.message(&source, "preprocessed:6:25: error: no"), "a.cu:2:27: error: no");
        assert_eq!(map.message(&source, "clang: error: no"), "clang: error: no");
    }

    #[test]
    fn a_number_that_a_line_directive_gives_again_is_that_of_the_later_line() {
        let text = "a(k);\n#line 1\na(k);\n\nb(k);\n#line 1\na(k);\n";
        let preprocessed =
            "# 1 \"a.cu\"\na(k);\n# 1 \"a.cu\"\na(k);\n# 3 \"a.cu\"\nb(k);\n# 1 \"a.cu\"\na(k);\n";
        let source = PreprocessedText::read(preprocessed, &|_| FileOrigin::Project);
        let text_of = |_: &str| text.to_owned();
        let mut map = SourceMap::new(&text_of);
        let lines = [2, 4, 6, 8].map(|line| map.place(&source, &Position { line, col: 3, offset: 0 }).line);
        assert_eq!(lines, [1, 3, 5, 7]);
    }
}
