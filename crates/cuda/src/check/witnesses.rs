//! Operands of constants in declarations: array bounds and template arguments.
//!
//! clang's tree has the value of such a constant and not the expression. So a copy of the preprocessed text gets, before the
//! statement, a variable that the same expression initializes, and clang dumps the trees of these variables alone. Which brackets
//! delimit the constant, the text does not say with certainty: each pair around the operand gets its variable, and the outermost
//! expression that clang understands decides.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use super::acts::{Act, act};
use super::ast::Node;
use super::dump;
use super::source::Source;
use super::tokens::{Token, tokens};

/// An operand: where its name stands in the text, and the text of the declaration around.
#[derive(Clone, Debug)]
pub struct Operand<'a> {
    /// The offset of the name.
    pub offset: usize,
    /// The name.
    pub name: &'a str,
    /// Where the text that is looked at begins and ends: that of the declaration, and some before it.
    pub around: (usize, usize),
}

/// How far before a declaration its beginning is looked for: clang's range begins behind the words `template <...>`.
pub const BEFORE: usize = 2_000;

/// How many pairs of brackets around an operand are tried.
const MOST_LEVELS: usize = 8;

/// How many bytes of clang's answer are read.
const LONGEST_ANSWER: usize = 64 << 20;

/// What the variables are called.
const NAME: &str = "ptxsmith_witness_";

/// An expression that may be the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    begin: usize,
    end: usize,
    is_bound: bool,
}

/// A variable that is declared in the copy of the text.
struct Witness {
    operand: usize,
    /// Where the operand's name stands in the copy.
    offset: usize,
}

/// What the operands are used for, by the offset of the name; absent where clang does not understand any of the expressions. The
/// arguments are those of a run that checks the syntax of `file`, which is ours to write; `--` and the file come last.
pub fn ask(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    operands: &[Operand<'_>],
    source: &Source,
    file: &Path,
) -> Result<HashMap<usize, Act>, super::Error> {
    let (text, witnesses) = copy_with_witnesses(operands, source);
    if witnesses.is_empty() {
        return Ok(HashMap::new());
    }
    fs::write(file, text)
        .map_err(|source| super::Error::Machine { doing: "write a file for clang", source })?;
    let mut clang = clang.clone();
    let filter = format!("-ast-dump-filter={NAME}");
    let ours = ["-Xclang", "-ast-dump=json", "-Xclang", &filter].map(OsString::from);
    clang.args.splice(0..0, ours);
    let mut said = Vec::new();
    let finished = process::run_reading(&clang, limits, cancel, |bytes| {
        if said.len() + bytes.len() <= LONGEST_ANSWER {
            said.extend_from_slice(bytes);
        }
    })?;
    if !matches!(finished.end, End::Exited(_)) {
        return Ok(HashMap::new());
    }
    Ok(acts(&String::from_utf8_lossy(&said), operands, &witnesses))
}

fn copy_with_witnesses(operands: &[Operand<'_>], source: &Source) -> (String, Vec<Witness>) {
    let (written, code) = (source.written(), source.code());
    let mut places: Vec<(usize, usize, Candidate)> = Vec::new();
    for (number, operand) in operands.iter().enumerate() {
        let Some((statement, candidates)) = candidates(code, operand) else { continue };
        places.extend(candidates.into_iter().map(|candidate| (statement, number, candidate)));
    }
    places.sort_by_key(|&(statement, number, candidate)| (statement, number, candidate.begin));
    let (mut copy, mut witnesses, mut from) = (String::new(), Vec::new(), 0);
    for (statement, operand, Candidate { begin, end, is_bound }) in places {
        copy += &written[from..statement];
        from = statement;
        let ty = if is_bound { "unsigned long long" } else { "auto" };
        copy += &format!(" constexpr {ty} {NAME}{} = ", witnesses.len());
        witnesses.push(Witness { operand, offset: copy.len() + operands[operand].offset - begin });
        // A marker of the preprocessor must not come into a line.
        let expression = if written[begin..end].contains('\n') { code } else { written };
        copy += &expression[begin..end].replace('\n', " ");
        copy += "; ";
    }
    copy += &written[from..];
    (copy, witnesses)
}

/// Reads what clang dumped: one variable after the other, the braces of each in the first column.
fn acts(said: &str, operands: &[Operand<'_>], witnesses: &[Witness]) -> HashMap<usize, Act> {
    let mut found: HashMap<usize, Act> = HashMap::new();
    let mut lines = said.split_inclusive('\n');
    while let Some(first) = lines.by_ref().find(|line| line.trim_end() == "{") {
        let rest = lines.by_ref().take_while(|line| line.trim_end() != "}");
        let text: String = std::iter::once(first).chain(rest).chain(std::iter::once("}")).collect();
        let Ok(variable) = dump::node(&text) else { continue };
        let number = variable.name.strip_prefix(NAME).and_then(|number| number.parse::<usize>().ok());
        let Some(witness) = number.and_then(|number| witnesses.get(number)) else { continue };
        let operand = &operands[witness.operand];
        let wanted = (witness.offset as u32, operand.name);
        if let Some(act) = act_in(&variable, wanted, &mut Vec::new()) {
            // The candidates of an operand stand in the order of their beginnings: the first is the outermost.
            found.entry(operand.offset).or_insert(act);
        }
    }
    found
}

/// What the variable is used for whose name stands at this offset; `None` where it is not found, or not understood.
fn act_in<'a>(node: &'a Node, wanted: (u32, &str), path: &mut Vec<&'a Node>) -> Option<Act> {
    let (offset, name) = wanted;
    let is_named = match &node.referenced_decl {
        Some(named) => named.name == name,
        None => node.kind == "MemberExpr" && node.name == name,
    };
    if is_named && node.range.end.offset == offset {
        let act = act(node, path, false, &|_| false);
        return (!matches!(act, Act::Unknown | Act::Misread | Act::Argument)).then_some(act);
    }
    path.push(node);
    let found = node.inner.iter().find_map(|child| act_in(child, wanted, path));
    path.pop();
    found
}

/// The beginning of the statement around an operand, and the expressions that may be the constant.
fn candidates(code: &str, operand: &Operand<'_>) -> Option<(usize, Vec<Candidate>)> {
    let (begin, end) = operand.around;
    let text = code.get(begin..end)?;
    let found = tokens(text);
    let name = found.iter().position(|token| token.offset + begin == operand.offset)?;
    let brackets = Brackets::read(&found);
    let mut candidates = Vec::new();
    let mut inner = (name, name);
    let mut push = |level: Option<(usize, usize, bool)>| {
        let (first, last, is_bound) = level?;
        let last = found.get(last)?;
        candidates.push(Candidate {
            begin: begin + found.get(first)?.offset,
            end: begin + last.offset + last.text.len(),
            is_bound,
        });
        Some(())
    };
    for _ in 0..MOST_LEVELS {
        let around = brackets.around[inner.0];
        while let Some((open, close)) = angles(&found, &brackets, inner) {
            push(segment(&found, &brackets, (open, close), inner).map(|(first, last)| (first, last, false)));
            inner = (open, close);
        }
        let Some(open) = around.filter(|&open| !brackets.is_block(open)) else { break };
        let Some(close) = brackets.partner[open] else { break };
        let is_bound = found[open].text == "[";
        push(segment(&found, &brackets, (open, close), inner).map(|(first, last)| (first, last, is_bound)));
        inner = (open, close);
    }
    let statement = brackets.statement(&found, inner.0);
    Some((begin + found.get(statement)?.offset, candidates))
}

/// The part between commas, within an opening and a closing bracket, that holds tokens.
fn segment(
    found: &[Token<'_>],
    brackets: &Brackets,
    (open, close): (usize, usize),
    (left, right): (usize, usize),
) -> Option<(usize, usize)> {
    let level = brackets.around[left];
    let is_comma = |&index: &usize| found[index].text == "," && brackets.around[index] == level;
    let first = (open + 1..left).rev().find(is_comma).map_or(open + 1, |comma| comma + 1);
    let last = (right + 1..close).find(is_comma).unwrap_or(close).checked_sub(1)?;
    (first <= last).then_some((first, last))
}

/// The nearest angle brackets of template arguments around tokens, within the same other brackets.
fn angles(found: &[Token<'_>], brackets: &Brackets, (left, right): (usize, usize)) -> Option<(usize, usize)> {
    let level = brackets.around[left];
    let is_end = |index: usize| matches!(found[index].text, ";" | "{" | "}");
    let is_adjacent = |one: usize, other: usize, text: &str| {
        found.get(other).is_some_and(|token| token.text == text)
            && found[one].offset.abs_diff(found[other].offset) == 1
    };
    let opens = |index: usize| {
        found[index].text == "<"
            && index.checked_sub(1).is_some_and(|before| found[before].is_word())
            && !is_adjacent(index, index + 1, "<")
            && !is_adjacent(index, index + 1, "=")
    };
    let closes = |index: usize| {
        found[index].text == ">"
            && index.checked_sub(1).is_some_and(|before| !is_adjacent(index, before, "-"))
    };
    let (mut depth, mut open) = (0_usize, None);
    for index in (0..left).rev().filter(|&index| brackets.around[index] == level) {
        if is_end(index) {
            break;
        }
        if closes(index) {
            depth += 1;
        } else if opens(index) {
            if depth == 0 {
                open = Some(index);
                break;
            }
            depth -= 1;
        }
    }
    let open = open?;
    let mut depth = 0_usize;
    for index in (right + 1..found.len()).filter(|&index| brackets.around[index] == level) {
        if is_end(index) {
            break;
        }
        if opens(index) {
            depth += 1;
        } else if closes(index) {
            if depth == 0 {
                return Some((open, index));
            }
            depth -= 1;
        }
    }
    None
}

/// Round, square and curly brackets of a text.
struct Brackets {
    /// The innermost opening bracket around each token.
    around: Vec<Option<usize>>,
    /// The closing bracket of each opening one, and the other way round.
    partner: Vec<Option<usize>>,
    /// Whether each opening bracket is that of a block of statements or members.
    block: Vec<bool>,
}

impl Brackets {
    fn read(found: &[Token<'_>]) -> Brackets {
        let mut around = vec![None; found.len()];
        let mut partner = vec![None; found.len()];
        let mut block = vec![false; found.len()];
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in found.iter().enumerate() {
            match token.text {
                ")" | "]" | "}" => {
                    if let Some(begin) = open.pop() {
                        partner[begin] = Some(index);
                        partner[index] = Some(begin);
                    }
                    around[index] = open.last().copied();
                }
                _ => around[index] = open.last().copied(),
            }
            match token.text {
                "(" | "[" | "{" => {
                    let before = index.checked_sub(1).map_or("", |before| found[before].text);
                    block[index] = token.text == "{" && before == ")";
                    open.push(index);
                }
                ";" => {
                    if let Some(&begin) = open.last().filter(|&&begin| found[begin].text == "{") {
                        block[begin] = true;
                    }
                }
                _ => {}
            }
        }
        Brackets { around, partner, block }
    }

    fn is_block(&self, open: usize) -> bool {
        self.block[open]
    }

    /// The first token of the statement, or the declaration, that a token of a block belongs to.
    fn statement(&self, found: &[Token<'_>], token: usize) -> usize {
        let level = self.around[token];
        let ends = |&index: &usize| match found[index].text {
            ";" => self.around[index] == level,
            "}" => self.around[index] == level && self.partner[index].is_none_or(|open| self.block[open]),
            _ => Some(index) == level,
        };
        (0..token).rev().find(ends).map_or(0, |end| end + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> (&str, Vec<&str>) {
        let operand = Operand { offset: code.find("k").unwrap(), name: "k", around: (0, code.len()) };
        let (statement, candidates) = candidates(code, &operand).unwrap();
        let texts = candidates.iter().map(|candidate| &code[candidate.begin..candidate.end]).collect();
        (&code[statement..], texts)
    }

    #[test]
    fn each_pair_of_brackets_around_an_operand_may_be_that_of_the_constant() {
        assert_eq!(
            found("void g() { f(); int a[A()(k, 1)]; }"),
            ("int a[A()(k, 1)]; }", vec!["k", "A()(k, 1)"])
        );
        assert_eq!(
            found("{ h(); return B<1, same(k), 2>::n; }"),
            ("return B<1, same(k), 2>::n; }", vec!["k", "same(k)"])
        );
        assert_eq!(found("{ B<B<half(k)>::n> b; }").1, ["k", "half(k)", "B<half(k)>::n"]);
        assert_eq!(found("{ int a[R{k}.get()]; }"), ("int a[R{k}.get()]; }", vec!["k", "R{k}.get()"]));
        assert_eq!(
            found("void g() { for (int i = 0; i < B<f(k)>::n; ++i) {} }").0,
            "for (int i = 0; i < B<f(k)>::n; ++i) {} }"
        );
    }

    #[test]
    fn a_comparison_is_no_template_and_a_block_before_is_no_part_of_the_statement() {
        assert_eq!(found("{ if (x) { y(); } int a[1 < k]; }"), ("int a[1 < k]; }", vec!["1 < k"]));
        assert_eq!(found("{ int b[2] = {1, 2}; int a[c < k]; }").1, ["c < k"]);
        assert_eq!(
            found("void f() {} int g(int (&a)[s(k)]) { return 1; }").0,
            "int g(int (&a)[s(k)]) { return 1; }"
        );
    }
}
