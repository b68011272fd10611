//! Asks clang about variables for facts that its tree does not have: whether a constant expression
//! initializes the variable, and all places that name it, also in array bounds, template arguments and
//! pragmas.
//!
//! Writes attributes behind the variables' names in a copy of the preprocessed text, and reads clang's
//! messages about the copy. `require_constant_initialization` causes an error if the initializer is no
//! constant expression. `deprecated` causes a warning, with the number of the query in its text, wherever the
//! variable is named. This run is cheap because clang dumps no tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};

use super::ast::Position;
use super::source::PreprocessedText;

/// A variable that clang is asked about.
#[derive(Debug)]
pub struct VariableQuery<'a> {
    /// The identity of the variable in the dump.
    pub id: &'a str,
    /// The name of the variable.
    pub name: &'a str,
    /// The places of the name in the variable's declarations.
    pub places: Vec<&'a Position>,
}

/// clang's answers to all queries of a file.
#[derive(Debug, Default)]
pub struct QueryAnswers {
    /// Whether a constant expression initializes a variable, by its identity. Lacks variables without a place
    /// for the attribute.
    pub constant: HashMap<String, bool>,
    /// The places that name a variable, with its identity. The positions have no offset.
    pub mentions: Vec<(String, Position)>,
}

/// An attribute behind a name.
struct Insertion {
    offset: usize,
    line: u32,
    col: u32,
    text: String,
}

/// The attributes for all queries, and the variables that they belong to.
#[derive(Default)]
struct Insertions<'a> {
    /// The attributes, by offset.
    by_offset: BTreeMap<usize, Insertion>,
    /// The identities of the variables that are declared at a line and column.
    declared_at: HashMap<(u32, u32), Vec<&'a str>>,
    /// The variables that got an attribute at some declaration.
    asked: HashSet<&'a str>,
    /// The variables that have no place for an attribute at some declaration.
    unasked: HashSet<&'a str>,
}

impl<'a> Insertions<'a> {
    fn new(queries: &'a [VariableQuery<'_>], text: &str) -> Self {
        let mut insertions = Insertions::default();
        for (number, query) in queries.iter().enumerate() {
            for &place in &query.places {
                insertions.add(number, query, place, text);
            }
        }
        insertions
    }

    fn add(&mut self, number: usize, query: &'a VariableQuery<'_>, place: &Position, text: &str) {
        let Some(offset) = offset_behind(text.as_bytes(), place, query.name) else {
            self.unasked.insert(query.id);
            return;
        };
        self.declared_at.entry((place.line, place.col)).or_default().push(query.id);
        self.asked.insert(query.id);
        self.by_offset.entry(offset).or_insert_with(|| Insertion {
            offset,
            line: place.line,
            col: place.col + (offset - place.offset as usize) as u32,
            text: format!(" [[clang::require_constant_initialization, deprecated(\"{MARK}{number}\")]]"),
        });
    }
}

/// Runs clang on a copy of the text and returns its answers. There are none if the run does not end by
/// itself, or prints more than is read.
///
/// `clang` checks the syntax of `file`, which is overwritten; its last two arguments are `--` and that file.
pub fn ask(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    queries: &[VariableQuery<'_>],
    source: &PreprocessedText,
    file: &Path,
) -> Result<QueryAnswers, super::CheckError> {
    let text = source.written();
    let insertions = Insertions::new(queries, text);
    if insertions.by_offset.is_empty() {
        return Ok(QueryAnswers::default());
    }
    let Insertions { by_offset, declared_at, asked, unasked } = insertions;
    let attributes: Vec<Insertion> = by_offset.into_values().collect();
    fs::write(file, with_insertions(text, &attributes))
        .map_err(super::CheckError::while_doing("write a file for clang"))?;

    let mut clang = clang.clone();
    let file_arguments = clang.args.split_off(clang.args.len().saturating_sub(2));
    clang.args.extend(["-Wdeprecated-declarations", "-Wno-error"].map(OsString::from));
    clang.args.extend(file_arguments);
    let finished = process::run_reading(&clang, limits, cancel, |_| ())?;
    let mut answers = QueryAnswers::default();
    if !matches!(finished.end, ProcessEnd::Exited(_)) || finished.stderr.dropped > 0 {
        return Ok(answers);
    }
    let stderr = finished.stderr.text();
    let mut not_constant: HashSet<&str> = HashSet::new();
    for line in stderr.lines() {
        let Some((place, message)) = message(line) else { continue };
        let col = original_column(&attributes, place.line, place.col);
        if message.contains("variable does not have a constant initializer") {
            not_constant.extend(declared_at.get(&(place.line, col)).into_iter().flatten());
        } else if let Some(query) = query_of_warning(message, queries) {
            answers.mentions.push((query.id.to_owned(), Position { col, ..place }));
        }
    }
    for id in asked.difference(&unasked) {
        answers.constant.insert((*id).to_owned(), !not_constant.contains(id));
    }
    Ok(answers)
}

/// Returns the query whose number is in the text of a warning.
fn query_of_warning<'q, 'a>(
    message: &str,
    queries: &'q [VariableQuery<'a>],
) -> Option<&'q VariableQuery<'a>> {
    let (_, number) = message.split_once(MARK)?;
    queries.get(number.split(' ').next()?.parse::<usize>().ok()?)
}

/// The text of our warnings, before the number of the query.
const MARK: &str = "ptxsmith-variable-";

/// Returns the text with these insertions, which are in the order of their offsets.
fn with_insertions(text: &str, insertions: &[Insertion]) -> String {
    let mut changed = String::with_capacity(text.len() + 100 * insertions.len());
    let mut from = 0;
    for insertion in insertions {
        changed += &text[from..insertion.offset];
        changed += &insertion.text;
        from = insertion.offset;
    }
    changed + &text[from..]
}

/// Returns the offset behind a name and the template arguments that follow it. `None` if the text has another
/// name there, as where a macro declares the variable.
fn offset_behind(text: &[u8], place: &Position, name: &str) -> Option<usize> {
    let start = place.offset as usize;
    let end = start + name.len();
    if name.is_empty() || text.get(start..end)? != name.as_bytes() {
        return None;
    }
    let next = end + text[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    if text[next] != b'<' {
        return Some(end);
    }
    let mut depth = 0;
    for (index, byte) in text.iter().enumerate().skip(next) {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b';' | b'{' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Splits a message of clang into its place and its text.
pub fn message(line: &str) -> Option<(Position, &str)> {
    let (place, message) = line.split_once(": warning: ").or_else(|| line.split_once(": error: "))?;
    let mut parts = place.rsplit(':');
    let (col, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((Position { line, col, offset: 0 }, message))
}

/// Returns the column that a place had before the insertions in its line.
fn original_column(insertions: &[Insertion], line: u32, col: u32) -> u32 {
    let mut shift = 0;
    for insertion in insertions.iter().filter(|insertion| insertion.line == line) {
        if col >= insertion.col + shift + insertion.text.len() as u32 {
            shift += insertion.text.len() as u32;
        }
    }
    col - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_goes_behind_the_name_and_its_template_arguments() {
        let behind = |text: &str, offset| {
            offset_behind(text.as_bytes(), &Position { offset, ..Position::default() }, "k")
        };
        assert_eq!(behind("int k = 3;", 4), Some(5));
        assert_eq!(behind("int k<X<int>> = 3;", 4), Some(13));
        assert_eq!(behind("int M(k);", 4), None);
        assert_eq!(behind("int k", 40), None);
    }

    #[test]
    fn a_column_behind_attributes_is_where_it_was() {
        let insertion = |col| Insertion { offset: 0, line: 2, col, text: "1234".to_owned() };
        let insertions = [insertion(5), insertion(10)];
        let columns = [3, 5 + 4, 9 + 4, 10 + 8, 12 + 8].map(|col| original_column(&insertions, 2, col));
        assert_eq!(columns, [3, 5, 9, 10, 12]);
        assert_eq!(original_column(&insertions, 3, 20), 20);
        let (place, text) = message("a b:c.cu:3:4: warning: 'k' is deprecated: x").unwrap();
        assert_eq!((place.line, place.col, text), (3, 4, "'k' is deprecated: x"));
    }
}
