//! What clang's preprocessor makes of a file, with the files and lines that it comes from.
//!
//! The checker looks at preprocessed text alone, so that neither macros nor comments come between the tree and the text. Only what
//! is reported is translated back to where it is written.

use std::collections::HashMap;
use std::sync::Arc;

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use super::ast::Place;
use super::files::LONGEST;
use super::tokens::{Token, tokens};
use super::traits;

/// Whose a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The user's own: all of it counts.
    #[default]
    Project,
    /// A system header by the user's own flags: its variables count, its code does not.
    Library,
    /// A header of the system or of ours: nothing of it counts.
    System,
}

/// A preprocessed file.
#[derive(Debug, Default)]
pub struct Source {
    /// The text for clang: each marker says that what follows stands in this text itself, so that clang's places are those.
    written: String,
    /// The same, byte for byte, with blanks for the markers and for what stands in quotes in the project's own code.
    code: String,
    /// Where each line of the text begins.
    starts: Vec<usize>,
    parts: Vec<Part>,
}

/// Lines that follow each other in the text and where they come from.
#[derive(Debug)]
struct Part {
    /// The first of them, from 1.
    first: u32,
    /// The file and the line that a compiler says for the first of them.
    file: Arc<str>,
    line: u32,
    /// The file that it stands in, whatever `#line` says.
    real: Arc<str>,
    origin: Origin,
}

/// What came of a run of the preprocessor.
#[derive(Debug, Default)]
pub struct Preprocessed {
    /// The text.
    pub source: Source,
    /// Its errors, as it printed them.
    pub errors: Vec<String>,
    /// Why the text is not whole, if so.
    pub incomplete: Option<String>,
}

/// Runs clang's preprocessor. `origin_of` says whose a file is.
pub fn preprocess(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    origin_of: &dyn Fn(&str) -> Origin,
) -> Result<Preprocessed, process::Error> {
    let mut text = Vec::new();
    let mut is_long = false;
    let finished = process::run_reading(clang, limits, cancel, |bytes| {
        is_long |= text.len() + bytes.len() > LONGEST as usize;
        if !is_long {
            text.extend_from_slice(bytes);
        }
    })?;
    let incomplete = match finished.end {
        _ if is_long => Some(format!("the preprocessed text is larger than {} MiB", LONGEST >> 20)),
        End::TimedOut => Some(format!("clang did not end within {:?}", limits.time)),
        End::Signalled(signal) => Some(format!("clang died of signal {signal}")),
        End::Exited(_) => None,
    };
    let errors = errors(&finished.stderr.text()).map(str::to_owned).collect();
    let source = Source::read(&String::from_utf8_lossy(&text), origin_of);
    Ok(Preprocessed { source, errors, incomplete })
}

/// The lines of what clang printed that are errors.
pub fn errors(said: &str) -> impl Iterator<Item = &str> {
    said.lines().filter(|line| line.contains("error: "))
}

/// The name of the text, for clang's messages.
const NAME: &str = "preprocessed";

impl Source {
    /// Reads preprocessed text.
    pub fn read(text: &str, origin_of: &dyn Fn(&str) -> Origin) -> Self {
        let mut source = Source::default();
        let mut origins: HashMap<Arc<str>, Origin> = HashMap::new();
        let mut opened: Vec<Arc<str>> = Vec::new();
        let mut markers: Vec<(usize, usize)> = Vec::new();
        for (line, number) in text.split_inclusive('\n').zip(1..) {
            let begin = source.written.len();
            source.starts.push(begin);
            let Some(marker) = Marker::read(line) else {
                source.written.push_str(line);
                continue;
            };
            let file: Arc<str> = match source.parts.last() {
                Some(part) if *part.file == *marker.file => part.file.clone(),
                _ => marker.file.as_str().into(),
            };
            match marker.step {
                Step::Enter => opened.push(file.clone()),
                Step::Leave => drop(opened.pop()),
                Step::Stay => {}
            }
            if opened.is_empty() {
                opened.push(file.clone());
            }
            let real = opened.last().unwrap_or(&file).clone();
            let origin = *origins.entry(real.clone()).or_insert_with(|| origin_of(&real));
            let system = if marker.is_system && origin != Origin::Project { " 3" } else { "" };
            source.written.push_str(&format!("# {} \"{NAME}\"{system}\n", number + 1));
            markers.push((begin, source.written.len() - 1));
            source.parts.push(Part { first: number + 1, file, line: marker.line, real, origin });
        }
        source.blank(&markers);
        source
    }

    fn blank(&mut self, markers: &[(usize, usize)]) {
        let mut code = std::mem::take(&mut self.written).into_bytes();
        self.written = String::from_utf8_lossy(&code).into_owned();
        let blank = |code: &mut [u8]| {
            code.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        };
        for &(begin, end) in markers {
            blank(&mut code[begin..end]);
        }
        let ends = self.parts.iter().skip(1).map(|part| part.first).chain([u32::MAX]);
        let mut written = std::mem::take(&mut self.written).into_bytes();
        for (part, end) in self.parts.iter().zip(ends).filter(|(part, _)| part.origin == Origin::Project) {
            let start = |line: u32| self.starts.get(line as usize - 1).copied().unwrap_or(written.len());
            let (begin, end) = (start(part.first), start(end));
            let text = String::from_utf8_lossy(&code[begin..end]).into_owned();
            let tokens = tokens(&text);
            for token in tokens.iter().filter(|token| token.is_quoted()) {
                let quoted = begin + token.offset;
                blank(&mut code[quoted + 1..quoted + token.text.len() - 1]);
            }
            for offset in split_launches(&tokens) {
                for text in [&mut code, &mut written] {
                    let at = begin + offset;
                    let last = (at..).find(|&at| text[at + 2] != b' ').unwrap_or(at) + 2;
                    text.swap(at + 2, last);
                }
            }
        }
        self.rename_traits(&mut written);
        self.written = String::from_utf8(written).unwrap_or_default();
        self.code = String::from_utf8(code).unwrap_or_default();
    }

    /// Renames classes of system headers whose names are words of clang's, too.
    fn rename_traits(&self, written: &mut [u8]) {
        let mut texts: Vec<&mut [u8]> = Vec::new();
        let (mut rest, mut from) = (written, 0);
        for (part, next) in self.parts.iter().zip(self.parts.iter().skip(1).map(Some).chain([None])) {
            let start = |part: &Part| self.starts.get(part.first as usize - 1).copied();
            let begin = start(part).unwrap_or(from + rest.len());
            let end = next.and_then(start).unwrap_or(from + rest.len());
            let (text, behind) = std::mem::take(&mut rest).split_at_mut(end - from);
            if part.origin == Origin::System {
                texts.push(&mut text[begin - from..]);
            }
            (rest, from) = (behind, end);
        }
        traits::rename_declared(&mut texts);
    }

    /// The text for clang.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The code, without what stands in quotes.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The offset of a line and a column.
    pub fn offset(&self, line: u32, col: u32) -> Option<usize> {
        let offset = self.starts.get(line.checked_sub(1)? as usize)? + col.checked_sub(1)? as usize;
        self.code.is_char_boundary(offset).then_some(offset)
    }

    fn part(&self, line: u32) -> Option<&Part> {
        let next = self.parts.partition_point(|part| part.first <= line);
        self.parts.get(next.checked_sub(1)?)
    }

    /// Whose code a line is.
    pub fn origin(&self, line: u32) -> Origin {
        self.part(line).map(|part| part.origin).unwrap_or_default()
    }

    /// The file that a line stands in, whatever `#line` says.
    pub fn real_file(&self, line: u32) -> &str {
        self.part(line).map_or("", |part| &part.real)
    }

    /// The file and the line that a compiler says for a line.
    pub fn line(&self, line: u32) -> (&str, u32) {
        self.part(line).map_or(("", line), |part| (&part.file, part.line + (line - part.first)))
    }

    /// A line of the text.
    fn text_of(&self, line: u32) -> &str {
        let start = |line: u32| {
            self.starts.get((line as usize).wrapping_sub(1)).copied().unwrap_or(self.written.len())
        };
        &self.written[start(line)..start(line + 1)]
    }

    /// A message of clang about this text, with the place as it is written.
    pub fn message(&self, said: &str, readers: &mut Readers<'_>) -> String {
        let mut parts = said.strip_prefix(NAME).unwrap_or_default().splitn(4, ':').skip(1);
        let numbers =
            (parts.next().and_then(|line| line.parse().ok()), parts.next().and_then(|col| col.parse().ok()));
        match (numbers, parts.next()) {
            ((Some(line), Some(col)), Some(message)) => {
                let place = readers.place(self, &Place { line, col, offset: 0 });
                format!("{}:{}:{}:{message}", place.file, place.line, place.col)
            }
            _ => said.to_owned(),
        }
    }
}

/// The places of `<< <` and `>> >`, as some programs write the brackets of a kernel's launch; clang wants them in one.
fn split_launches(tokens: &[Token<'_>]) -> Vec<usize> {
    let is = |at: usize, text: &str| {
        let [one, two, three] = [at, at + 1, at + 2].map(|at| tokens.get(at));
        let (Some(one), Some(two), Some(three)) = (one, two, three) else { return false };
        [one, two, three].iter().all(|token| token.text == text)
            && one.offset + 1 == two.offset
            && two.offset + 1 < three.offset
            && one.line == three.line
    };
    let mut found = Vec::new();
    let mut is_open = false;
    for (at, token) in tokens.iter().enumerate() {
        if is(at, "<") || is_open && is(at, ">") {
            found.push(token.offset);
            is_open = token.text == "<";
        } else if token.text == ";" {
            is_open = false;
        }
    }
    found
}

/// What a marker of the preprocessor says of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Enter,
    Leave,
    Stay,
}

/// `# LINE "FILE" FLAGS`
struct Marker {
    line: u32,
    file: String,
    step: Step,
    is_system: bool,
}

impl Marker {
    fn read(line: &str) -> Option<Marker> {
        let (number, rest) = line.strip_prefix("# ")?.split_once(" \"")?;
        let (name, flags) = rest.rsplit_once('"')?;
        let mut file = String::with_capacity(name.len());
        let mut characters = name.chars();
        while let Some(c) = characters.next() {
            file.push(if c == '\\' { characters.next()? } else { c });
        }
        let has = |flag: &str| flags.split_whitespace().any(|found| found == flag);
        let step = match (has("1"), has("2")) {
            (true, _) => Step::Enter,
            (_, true) => Step::Leave,
            _ => Step::Stay,
        };
        Some(Marker { line: number.parse().ok()?, file, step, is_system: has("3") })
    }
}

/// Where something is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadersPlace {
    /// The file, as clang opened it.
    pub file: String,
    /// The line, from 1: where `#line` has no say, or only that, if no such line of the file is found.
    pub line: u32,
    /// The column in bytes, from 1; where a macro brings the text, that of the macro.
    pub col: u32,
    /// How long the token there is.
    pub length: u32,
    /// Whether the token itself is written there.
    pub is_exact: bool,
    /// The offset in the file, if the statement stands there as it is.
    pub offset: Option<usize>,
}

/// Translates places of the preprocessed text into those where it is written.
pub struct Readers<'a> {
    text_of: &'a dyn Fn(&str) -> String,
    files: HashMap<String, File>,
}

impl<'a> Readers<'a> {
    /// `text_of` is what stands in a file.
    pub fn new(text_of: &'a dyn Fn(&str) -> String) -> Self {
        Readers { text_of, files: HashMap::new() }
    }

    /// The place of a token.
    pub fn place(&mut self, source: &Source, place: &Place) -> ReadersPlace {
        let real = source.real_file(place.line);
        let text_of = self.text_of;
        let read = self.files.entry(real.to_owned()).or_insert_with(|| File::read(real, text_of(real)));
        let (file, line) = source.line(place.line);
        let (file, line) = read.written(file, line).map_or((file, line), |line| (real, line));
        let found = ReadersPlace {
            file: file.to_owned(),
            line,
            col: place.col,
            length: 1,
            is_exact: true,
            offset: None,
        };
        let Some(read) = read.lines.get(&line).filter(|_| file == real) else { return found };
        let text = source.text_of(place.line);
        let made = tokens(text);
        let Some(at) = made.iter().rposition(|token| token.offset < place.col as usize) else { return found };
        let matches = align(&made, read);
        let index = matches[at].unwrap_or_else(|| {
            // What a macro brings is where the macro stands: behind what stands before it.
            let before = matches[..at].iter().rev().find_map(|index| *index);
            before.map_or(0, |index| index + 1).min(read.len() - 1)
        });
        let Read { offset, col, ref text } = read[index];
        let is_end = |index: &usize| matches!(made[*index].text, ";" | "{" | "}");
        let is_as_written = |other: &usize| matches[*other].is_some_and(|read| read + at == index + other);
        let is_plain = (0..=at).rev().take_while(|index| !is_end(index)).all(|index| is_as_written(&index))
            && (at..made.len()).take_while(|index| !is_end(index)).all(|index| is_as_written(&index));
        let length = text.len() as u32;
        let is_exact = matches[at].is_some();
        ReadersPlace { col, length, is_exact, offset: is_plain.then_some(offset), ..found }
    }
}

impl Readers<'_> {
    /// A line of a file, as it is written.
    pub fn text(&mut self, file: &str, line: u32) -> String {
        let text_of = self.text_of;
        let read = self.files.entry(file.to_owned()).or_insert_with(|| File::read(file, text_of(file)));
        read.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().to_owned()
    }
}

/// Which token as it is written each token of the preprocessed line is, if any: as many as possible in the same order.
fn align(made: &[Token<'_>], read: &[Read]) -> Vec<Option<usize>> {
    let is_same = |one: usize, other: usize| made[one].text == read[other].text;
    let shorter = made.len().min(read.len());
    let begin = (0..shorter).take_while(|&index| is_same(index, index)).count();
    let (made_end, read_end) = (made.len(), read.len());
    let same_end = |back: &usize| is_same(made_end - 1 - back, read_end - 1 - back);
    let end = (0..shorter - begin).take_while(same_end).count();
    let mut matches = vec![None; made_end];
    for (index, found) in matches.iter_mut().enumerate() {
        if index < begin {
            *found = Some(index);
        } else if index >= made_end - end {
            *found = Some(index + read_end - made_end);
        }
    }
    let (rows, columns) = (made_end - end - begin, read_end - end - begin);
    if rows.saturating_mul(columns) > LARGEST_TABLE {
        return matches;
    }
    let width = columns + 1;
    let mut longest = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            longest[row * width + column] = match is_same(begin + row, begin + column) {
                true => longest[(row + 1) * width + column + 1] + 1,
                false => longest[(row + 1) * width + column].max(longest[row * width + column + 1]),
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        if is_same(begin + row, begin + column) {
            matches[begin + row] = Some(begin + column);
            (row, column) = (row + 1, column + 1);
        } else if longest[row * width + column + 1] >= longest[(row + 1) * width + column] {
            column += 1;
        } else {
            row += 1;
        }
    }
    matches
}

/// The largest table for the alignment of a line.
const LARGEST_TABLE: usize = 1 << 20;

/// A token as it is written in a file.
struct Read {
    offset: usize,
    col: u32,
    text: String,
}

/// A file as it is written.
struct File {
    text: String,
    /// Its tokens by their lines.
    lines: HashMap<u32, Vec<Read>>,
    /// The lines that follow each other in what a compiler says: the first one, and the file and the line that it says of it.
    parts: Vec<(u32, String, u32)>,
}

impl File {
    fn read(name: &str, text: String) -> File {
        let mut lines: HashMap<u32, Vec<Read>> = HashMap::new();
        for token in tokens(&text) {
            let start = text[..token.offset].rfind('\n').map_or(0, |newline| newline + 1);
            let col = (token.offset - start) as u32 + 1;
            let read = Read { offset: token.offset, col, text: token.text.to_owned() };
            lines.entry(token.line).or_default().push(read);
        }
        let mut parts = vec![(1, name.to_owned(), 1)];
        for (line, number) in text.lines().zip(1..) {
            let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
            let directive = directive.strip_prefix("line").unwrap_or(directive).trim();
            let (says, named) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
            let Ok(says) = says.parse() else { continue };
            let named = named.trim().split('"').nth(1);
            let named = named.map_or_else(|| parts[parts.len() - 1].1.clone(), str::to_owned);
            parts.push((number + 1, named, says));
        }
        File { text, lines, parts }
    }

    /// The line of which a compiler says this.
    fn written(&self, file: &str, line: u32) -> Option<u32> {
        let ends = self.parts.iter().skip(1).map(|(first, ..)| first - 1).chain([u32::MAX]);
        self.parts.iter().zip(ends).find_map(|((first, named, says), end)| {
            let written = first + line.checked_sub(*says)?;
            (named == file && written < end).then_some(written)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn source() -> Source {
        Source::read(TEXT, &|file| if file.starts_with("sys") { Origin::Library } else { Origin::Project })
    }

    #[test]
    fn a_line_is_where_the_markers_say_and_stands_in_the_file_that_was_opened() {
        let source = source();
        assert_eq!((source.line(4), source.origin(4)), (("sys/lib.h", 1), Origin::Library));
        assert_eq!((source.line(6), source.origin(6)), (("a.cu", 2), Origin::Project));
        assert_eq!((source.line(8), source.real_file(8)), (("g.y", 100), "a.cu"));
        assert_eq!(source.written().len(), source.code().len());
        assert!(
            source
                .written()
                .starts_with("# 2 \"preprocessed\"\n# 3 \"preprocessed\"\n# 4 \"preprocessed\" 3\n")
        );
        let offset = source.offset(6, 1).unwrap();
        assert!(source.code()[offset..].starts_with("int a[arr[1]]; f(\"   \", k);\n"));
    }

    #[test]
    fn brackets_of_a_launch_are_put_together() {
        let source = Source::read(
            "# 1 \"a.cu\"\nk<V<int> > <<  <1, 2>> >(3); V<V<int>> a; V<V<V<int>> > b;\n",
            &|_| Origin::Project,
        );
        let text = "k<V<int> > <<<  1, 2>>> (3); V<V<int>> a; V<V<V<int>> > b;\n";
        assert!(source.written().ends_with(text) && source.code().ends_with(text), "{}", source.written());
    }

    #[test]
    fn a_column_is_that_of_the_text_as_it_is_written_and_of_a_macro_where_that_stands() {
        let source = source();
        let text = "\n  INT a[BAD];   f(\"k (\",  k); // k\n#line 100 \"g.y\"\n g( k);\n";
        let text_of = |file: &str| if file == "a.cu" { text.to_owned() } else { String::new() };
        let mut readers = Readers::new(&text_of);
        let mut col = |line: u32, col: u32| {
            let place = readers.place(&source, &Place { line, col, offset: 0 });
            (place.file, place.line, place.col, place.offset)
        };
        assert_eq!(col(6, 1), ("a.cu".to_owned(), 2, 3, None));
        assert_eq!(col(6, 5), ("a.cu".to_owned(), 2, 7, None));
        assert_eq!(col(6, 7), ("a.cu".to_owned(), 2, 9, None));
        assert_eq!(col(6, 25), ("a.cu".to_owned(), 2, 27, Some(27)));
        assert_eq!(col(8, 3), ("a.cu".to_owned(), 4, 5, Some(56)));
        assert_eq!(source.message("preprocessed:6:25: error: no", &mut readers), "a.cu:2:27: error: no");
        assert_eq!(source.message("clang: error: no", &mut readers), "clang: error: no");
    }
}
