//! Asks clang what its tree does not show: whether a constant expression initializes a variable, and where a variable is
//! named at all, array bounds, template arguments and pragmas included.
//!
//! Attributes are written behind the variables' names, in a copy of the preprocessed text:
//! `require_constant_initialization`, which is an error where the language says no, and `deprecated` with a number,
//! which is a warning wherever the variable is named. No tree is dumped, so this is the lesser part of the time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use super::ast::Place;
use super::source::Source;

/// A variable of which something is asked.
#[derive(Debug)]
pub struct Question<'a> {
    /// Its identity in the dump.
    pub id: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Where its declarations name it.
    pub places: Vec<&'a Place>,
}

/// What clang says.
#[derive(Debug, Default)]
pub struct Answers {
    /// Whether a constant expression initializes a variable; absent where clang could not be asked.
    pub constant: HashMap<String, bool>,
    /// Where a variable is named: its identity, and a place without an offset.
    pub mentions: Vec<(String, Place)>,
}

/// Text that is written behind a name.
struct Edit {
    offset: usize,
    line: u32,
    col: u32,
    text: String,
}

/// Asks. The arguments are those of a run that only checks the syntax of `file`, which is ours to write; `--` and the file come last.
pub fn ask(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    questions: &[Question<'_>],
    source: &Source,
    file: &Path,
) -> Result<Answers, super::Error> {
    let text = source.written();
    let mut edits: BTreeMap<usize, Edit> = BTreeMap::new();
    let mut asked: HashMap<(u32, u32), Vec<&str>> = HashMap::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut unasked: HashSet<&str> = HashSet::new();
    for (number, question) in questions.iter().enumerate() {
        for &place in &question.places {
            let Some(offset) = behind(text.as_bytes(), place, question.name) else {
                unasked.insert(question.id);
                continue;
            };
            asked.entry((place.line, place.col)).or_default().push(question.id);
            known.insert(question.id);
            edits.entry(offset).or_insert_with(|| Edit {
                offset,
                line: place.line,
                col: place.col + (offset - place.offset as usize) as u32,
                text: format!(" [[clang::require_constant_initialization, deprecated(\"{MARK}{number}\")]]"),
            });
        }
    }
    let edits: Vec<Edit> = edits.into_values().collect();
    if edits.is_empty() {
        return Ok(Answers::default());
    }
    fs::write(file, edited(text, &edits))
        .map_err(|source| super::Error::Machine { doing: "write a file for clang", source })?;

    let mut clang = clang.clone();
    let file = clang.args.split_off(clang.args.len().saturating_sub(2));
    let ours = ["-Wdeprecated-declarations", "-Wno-error"];
    clang.args.extend(ours.iter().map(OsString::from));
    clang.args.extend(file);
    let finished = process::run_reading(&clang, limits, cancel, |_| ())?;
    let mut answers = Answers::default();
    if !matches!(finished.end, End::Exited(_)) || finished.stderr.dropped > 0 {
        return Ok(answers);
    }
    let said = finished.stderr.text();
    let mut refused: HashSet<&str> = HashSet::new();
    for line in said.lines() {
        let Some((place, message)) = message(line) else { continue };
        let col = original(&edits, place.line, place.col);
        if message.contains("variable does not have a constant initializer") {
            refused.extend(asked.get(&(place.line, col)).into_iter().flatten());
        } else if let Some((_, number)) = message.split_once(MARK)
            && let Some(question) =
                number.split(' ').next().and_then(|number| questions.get(number.parse::<usize>().ok()?))
        {
            answers.mentions.push((question.id.to_owned(), Place { col, ..place }));
        }
    }
    for id in known.difference(&unasked) {
        answers.constant.insert((*id).to_owned(), !refused.contains(id));
    }
    Ok(answers)
}

/// What our warnings say.
const MARK: &str = "ptxsmith-variable-";

/// The text with its edits, which are in order.
fn edited(text: &str, edits: &[Edit]) -> String {
    let mut changed = String::with_capacity(text.len() + 100 * edits.len());
    let mut from = 0;
    for edit in edits {
        changed += &text[from..edit.offset];
        changed += &edit.text;
        from = edit.offset;
    }
    changed + &text[from..]
}

/// The offset behind a name, and behind the template arguments that follow it.
fn behind(text: &[u8], place: &Place, name: &str) -> Option<usize> {
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

/// The place and the text of a message of clang.
pub fn message(line: &str) -> Option<(Place, &str)> {
    let (place, message) = line.split_once(": warning: ").or_else(|| line.split_once(": error: "))?;
    let mut parts = place.rsplit(':');
    let (col, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((Place { line, col, offset: 0 }, message))
}

/// The column that text had before the edits of its line.
fn original(edits: &[Edit], line: u32, col: u32) -> u32 {
    let mut shift = 0;
    for edit in edits.iter().filter(|edit| edit.line == line) {
        if col >= edit.col + shift + edit.text.len() as u32 {
            shift += edit.text.len() as u32;
        }
    }
    col - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_goes_behind_the_name_and_its_template_arguments() {
        let at = |text: &str, offset| behind(text.as_bytes(), &Place { offset, ..Place::default() }, "k");
        assert_eq!(at("int k = 3;", 4), Some(5));
        assert_eq!(at("int k<X<int>> = 3;", 4), Some(13));
        assert_eq!(at("int M(k);", 4), None);
        assert_eq!(at("int k", 40), None);
    }

    #[test]
    fn a_column_behind_attributes_is_where_it_was() {
        let edit = |col| Edit { offset: 0, line: 2, col, text: "1234".to_owned() };
        let edits = [edit(5), edit(10)];
        let columns = [3, 5 + 4, 9 + 4, 10 + 8, 12 + 8].map(|col| original(&edits, 2, col));
        assert_eq!(columns, [3, 5, 9, 10, 12]);
        assert_eq!(original(&edits, 3, 20), 20);
        let (place, text) = message("a b:c.cu:3:4: warning: 'k' is deprecated: x").unwrap();
        assert_eq!((place.line, place.col, text), (3, 4, "'k' is deprecated: x"));
    }
}
