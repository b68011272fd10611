//! The output of clang's preprocessor for a file, with the files and lines that it comes from.
//!
//! The checker examines only preprocessed text, so the tree and the text agree: no macro and no comment is
//! between them. [`SourceMap`](super::source_map::SourceMap) translates places that are reported into places
//! of the user's files.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};

use super::files::LONGEST;
use super::tokens::{CppToken, tokens};
use super::traits;

/// The owner of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileOrigin {
    /// The user's own file: both its code and its variables are examined.
    #[default]
    Project,
    /// A header of the system, or one that the user's flags call a system header: only its variables are
    /// examined.
    Library,
    /// A header of clang, of a toolkit or of this checker: nothing in it is examined.
    Compiler,
}

/// A preprocessed file.
#[derive(Debug, Default)]
pub struct PreprocessedText {
    /// The text for clang. Its line markers refer to the text itself, so that clang's places are places in
    /// this text.
    written: String,
    /// The text for clang with blanks in place of the headers that a precompiled header has.
    shown: Option<String>,
    /// The same text with blanks in place of the line markers and, in the project's code, of the contents of
    /// literals. All offsets are the same.
    code: String,
    /// The offset of each line.
    starts: Vec<usize>,
    parts: Vec<LineRange>,
}

/// Consecutive lines of the text that come from consecutive lines of one file.
#[derive(Debug)]
struct LineRange {
    /// The number of the first line in the text, from 1.
    first: u32,
    /// The file of the first line, as compilers report it.
    file: Arc<str>,
    /// The number of the first line, as compilers report it.
    line: u32,
    /// The file that contains the lines. Differs from `file` after a `#line` directive.
    real: Arc<str>,
    origin: FileOrigin,
}

/// The result of a run of the preprocessor.
#[derive(Debug, Default)]
pub struct PreprocessorOutput {
    /// The preprocessed text.
    pub source: PreprocessedText,
    /// The errors, as clang printed them.
    pub errors: Vec<String>,
    /// The reason why the text is incomplete, if it is.
    pub incomplete: Option<String>,
}

/// Runs clang's preprocessor. `origin_of` returns the origin of a file.
pub fn preprocess(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    origin_of: &dyn Fn(&str) -> FileOrigin,
) -> Result<PreprocessorOutput, process::ProcessError> {
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
        ProcessEnd::TimedOut => Some(format!("clang did not end within {:?}", limits.time)),
        ProcessEnd::Signalled(signal) => Some(format!("clang died of signal {signal}")),
        ProcessEnd::Exited(_) => None,
    };
    let errors = errors(&finished.stderr.text()).map(str::to_owned).collect();
    let source = PreprocessedText::read(&String::from_utf8_lossy(&text), origin_of);
    Ok(PreprocessorOutput { source, errors, incomplete })
}

/// Returns the lines of clang's messages that are errors.
pub fn errors(messages: &str) -> impl Iterator<Item = &str> {
    messages.lines().filter(|line| line.contains("error: "))
}

/// The name of the text in clang's messages.
pub const NAME: &str = "preprocessed";

impl PreprocessedText {
    /// Reads the output of the preprocessor. `origin_of` returns the origin of a file.
    pub fn read(text: &str, origin_of: &dyn Fn(&str) -> FileOrigin) -> Self {
        let mut source = PreprocessedText::default();
        let mut origins: HashMap<Arc<str>, FileOrigin> = HashMap::new();
        let mut opened: Vec<Arc<str>> = Vec::new();
        let mut markers: Vec<Range<usize>> = Vec::new();
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
                IncludeStep::Enter => opened.push(file.clone()),
                IncludeStep::Leave => drop(opened.pop()),
                IncludeStep::Stay => {}
            }
            if opened.is_empty() {
                opened.push(file.clone());
            }
            let real = opened.last().unwrap_or(&file).clone();
            let origin = *origins.entry(real.clone()).or_insert_with(|| origin_of(&real));
            let system = if marker.is_system && origin != FileOrigin::Project { " 3" } else { "" };
            source.written.push_str(&format!("# {} \"{NAME}\"{system}\n", number + 1));
            markers.push(begin..source.written.len() - 1);
            source.parts.push(LineRange { first: number + 1, file, line: marker.line, real, origin });
        }
        source.set_code(markers);
        source
    }

    /// Sets `code`, and makes the changes in `written` without which clang rejects some programs that nvcc
    /// accepts.
    fn set_code(&mut self, markers: Vec<Range<usize>>) {
        let mut written = std::mem::take(&mut self.written).into_bytes();
        let mut code = written.clone();
        for marker in markers {
            blank(&mut code[marker]);
        }
        for (part, range) in self.parts.iter().zip(self.part_offsets(written.len())) {
            if part.origin != FileOrigin::Project {
                continue;
            }
            let text = String::from_utf8_lossy(&code[range.clone()]).into_owned();
            let tokens = tokens(&text);
            for token in tokens.iter().filter(|token| token.is_quoted()) {
                let quoted = range.start + token.offset;
                blank(&mut code[quoted + 1..quoted + token.text.len() - 1]);
            }
            for offset in bare_percents(&tokens) {
                written[range.start + offset] = b'_';
            }
            for offset in split_launches(&tokens) {
                join_launch(&mut code, range.start + offset);
                join_launch(&mut written, range.start + offset);
            }
        }
        self.rename_traits(&mut written);
        self.written = String::from_utf8(written).unwrap_or_default();
        self.code = String::from_utf8(code).unwrap_or_default();
    }

    /// Renames classes of system headers that have the same name as a keyword of clang.
    fn rename_traits(&self, written: &mut [u8]) {
        let ranges = self.part_offsets(written.len());
        let mut texts: Vec<&mut [u8]> = Vec::new();
        let mut rest = written;
        let mut offset = 0;
        for (part, range) in self.parts.iter().zip(ranges) {
            let (text, behind) = std::mem::take(&mut rest).split_at_mut(range.end - offset);
            if part.origin != FileOrigin::Project {
                texts.push(&mut text[range.start - offset..]);
            }
            rest = behind;
            offset = range.end;
        }
        traits::rename_declared(&mut texts);
    }

    /// Returns the offsets of each part of a text of this length.
    fn part_offsets(&self, length: usize) -> Vec<Range<usize>> {
        let mut begins: Vec<usize> =
            self.parts.iter().map(|part| self.line_offset(part.first).unwrap_or(length)).collect();
        begins.push(length);
        begins.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// Returns the offset of a line; `None` if it is beyond the last one.
    fn line_offset(&self, line: u32) -> Option<usize> {
        self.starts.get((line as usize).wrapping_sub(1)).copied()
    }

    /// The text for clang.
    pub fn written(&self) -> &str {
        self.shown.as_ref().unwrap_or(&self.written)
    }

    /// Returns the offset behind the headers before the project's first line of code; 0 if it has none.
    pub fn end_of_headers(&self) -> usize {
        let has_code = |range: &Range<usize>| !self.code[range.clone()].trim_ascii().is_empty();
        let mut parts = self.parts.iter().zip(self.part_offsets(self.code.len()));
        let first = parts.find(|(part, range)| part.origin == FileOrigin::Project && has_code(range));
        // The line before a part is its marker.
        first.and_then(|(part, _)| self.line_offset(part.first - 1)).unwrap_or(0)
    }

    /// Leaves out the text before this offset in the text for clang. All places stay as they are.
    pub fn hide_before(&mut self, offset: usize) {
        let mut shown = self.written.clone().into_bytes();
        blank(&mut shown[..offset]);
        self.shown = String::from_utf8(shown).ok();
    }

    /// Undoes [`PreprocessedText::hide_before`].
    pub fn show_all(&mut self) {
        self.shown = None;
    }

    /// Whether a part of the text for clang is left out.
    pub fn hides_headers(&self) -> bool {
        self.shown.is_some()
    }

    /// Whether a header of a library has this word.
    pub fn is_word_of_libraries(&self, word: &str) -> bool {
        let is_part =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let libraries = self.parts.iter().zip(self.part_offsets(self.code.len()));
        libraries.filter(|(part, _)| part.origin == FileOrigin::Library).any(|(_, range)| {
            let text = self.code[range].as_bytes();
            let found = memchr::memmem::find_iter(text, word);
            found.into_iter().any(|at| {
                let before = at.checked_sub(1).and_then(|before| text.get(before));
                !is_part(before) && !is_part(text.get(at + word.len()))
            })
        })
    }

    /// The code, with blanks in place of the contents of literals.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the offset of a line and a column; `None` if they are not in the text.
    pub fn offset(&self, line: u32, col: u32) -> Option<usize> {
        let offset = self.starts.get(line.checked_sub(1)? as usize)? + col.checked_sub(1)? as usize;
        self.code.is_char_boundary(offset).then_some(offset)
    }

    fn part(&self, line: u32) -> Option<&LineRange> {
        let next = self.parts.partition_point(|part| part.first <= line);
        self.parts.get(next.checked_sub(1)?)
    }

    /// Returns the origin of a line.
    pub fn origin(&self, line: u32) -> FileOrigin {
        self.part(line).map(|part| part.origin).unwrap_or_default()
    }

    /// Returns the file that contains a line, regardless of `#line` directives.
    pub fn real_file(&self, line: u32) -> &str {
        self.part(line).map_or("", |part| &part.real)
    }

    /// Returns the file and the number that compilers report for a line.
    pub fn line(&self, line: u32) -> (&str, u32) {
        self.part(line).map_or(("", line), |part| (&part.file, part.line + (line - part.first)))
    }

    /// Returns the words of the project's code.
    pub fn project_words(&self) -> HashSet<&str> {
        let ranges = self.part_offsets(self.code.len());
        let project = self.parts.iter().zip(ranges).filter(|(part, _)| part.origin == FileOrigin::Project);
        let tokens = project.flat_map(|(_, range)| tokens(&self.code[range]));
        tokens.filter(CppToken::is_word).map(|token| token.text).collect()
    }

    /// Returns the parts of a line's file up to this line: the file and the number that compilers report for
    /// the first line, and the number of lines before the next part or before this line.
    pub fn parts_until(&self, line: u32) -> impl Iterator<Item = (&str, u32, u32)> {
        let real = self.part(line).map(|part| &part.real);
        let count = self.parts.partition_point(|part| part.first <= line);
        (0..count).filter(move |&index| real == Some(&self.parts[index].real)).map(move |index| {
            let part = &self.parts[index];
            // The line before a part is its marker.
            let end = self.parts[..count].get(index + 1).map_or(line, |next| next.first - 1);
            (&*part.file, part.line, end - part.first)
        })
    }

    /// Returns a line of the text.
    pub fn line_text(&self, line: u32) -> &str {
        let length = self.written.len();
        let begin = self.line_offset(line).unwrap_or(length);
        &self.written[begin..self.line_offset(line + 1).unwrap_or(length)]
    }
}

fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Returns the offsets of `<< <` and `>> >`. Some programs write the brackets of a kernel launch in this way,
/// but clang accepts only `<<<` and `>>>`.
fn split_launches(tokens: &[CppToken<'_>]) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut is_open = false;
    for (index, token) in tokens.iter().enumerate() {
        let rest = &tokens[index..];
        if is_split_bracket(rest, "<") || is_open && is_split_bracket(rest, ">") {
            offsets.push(token.offset);
            is_open = token.text == "<";
        } else if token.text == ";" {
            is_open = false;
        }
    }
    offsets
}

/// Returns the offsets of each `%` in the text of inline assembly that stands before a name, such as that of a
/// special register. nvcc accepts one where clang asks for two.
fn bare_percents(tokens: &[CppToken<'_>]) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut rest = tokens.iter();
    while rest.any(|token| matches!(token.text, "asm" | "__asm__" | "__asm")) {
        let mut inside = rest.clone().skip_while(|token| token.is_word());
        if inside.next().is_none_or(|token| token.text != "(") {
            continue;
        }
        for token in inside.take_while(|token| token.text.ends_with('"')) {
            let text = token.text.as_bytes();
            let mut index = 0;
            while index + 1 < text.len() {
                let is_name = text[index + 1].is_ascii_alphabetic()
                    && !text.get(index + 2).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'[');
                if text[index] == b'%' && is_name {
                    offsets.push(token.offset + index);
                }
                index += if text[index] == b'%' { 2 } else { 1 };
            }
        }
    }
    offsets
}

/// Whether tokens begin with three of these brackets in one line, the first two without and the last with a
/// space before.
fn is_split_bracket(tokens: &[CppToken<'_>], bracket: &str) -> bool {
    let [first, second, third, ..] = tokens else { return false };
    [first, second, third].iter().all(|token| token.text == bracket)
        && first.offset + 1 == second.offset
        && second.offset + 1 < third.offset
        && first.line == third.line
}

/// Moves the third bracket of a kernel launch, which begins at this offset, to the second one.
fn join_launch(text: &mut [u8], offset: usize) {
    let target = offset + 2;
    let third = (target..).find(|&index| text[index] != b' ').unwrap_or(target);
    text.swap(target, third);
}

/// The change of files at a line marker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IncludeStep {
    /// An included file begins.
    Enter,
    /// An included file has ended.
    Leave,
    /// The file is the same.
    Stay,
}

/// A line marker of the preprocessor: `# LINE "FILE" FLAGS`.
struct Marker {
    line: u32,
    file: String,
    step: IncludeStep,
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
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let step = if flags.contains(&"1") {
            IncludeStep::Enter
        } else if flags.contains(&"2") {
            IncludeStep::Leave
        } else {
            IncludeStep::Stay
        };
        Some(Marker { line: number.parse().ok()?, file, step, is_system: flags.contains(&"3") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_before_a_name_is_found_in_inline_assembly_alone() {
        let text = "printf(\"%smid\"); asm volatile (\"a %smid %0 %%tid %[x] %=\" \"b %clock64\" : \"%r\"(x)); asm(\"%w1\");";
        let found: Vec<&str> =
            bare_percents(&tokens(text)).into_iter().map(|offset| &text[offset..offset + 6]).collect();
        assert_eq!(found, ["%smid ", "%clock"]);
    }

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
    fn a_line_has_the_place_of_its_marker_and_the_file_that_was_opened() {
        let source = source();
        assert_eq!((source.line(4), source.origin(4)), (("sys/lib.h", 1), FileOrigin::Library));
        assert_eq!((source.line(6), source.origin(6)), (("a.cu", 2), FileOrigin::Project));
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
    fn split_brackets_of_a_launch_are_joined() {
        let source = PreprocessedText::read(
            "# 1 \"a.cu\"\nk<V<int> > <<  <1, 2>> >(3); V<V<int>> a; V<V<V<int>> > b;\n",
            &|_| FileOrigin::Project,
        );
        let text = "k<V<int> > <<<  1, 2>>> (3); V<V<int>> a; V<V<V<int>> > b;\n";
        assert!(source.written().ends_with(text) && source.code().ends_with(text), "{}", source.written());
    }
}
