//! Classifies uses in operands of constants in declarations: array bounds and template arguments.
//!
//! clang's tree has the value of such a constant, but not the expression. So we insert variables into a copy
//! of the preprocessed text, before the statement: witnesses, which the same expression initializes. clang
//! dumps the trees of the witnesses alone. The text does not tell with certainty which brackets delimit the
//! constant. Each pair of brackets around the operand gets a witness, and the outermost expression that clang
//! understands decides.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};

use super::ast::AstNode;
use super::dump;
use super::source::PreprocessedText;
use super::tokens::{CppToken, tokens};
use super::use_kind::{UseKind, use_kind};

/// A variable's name in a constant.
#[derive(Clone, Debug)]
pub struct ConstantOperand<'a> {
    /// The offset of the name.
    pub offset: usize,
    /// The name.
    pub name: &'a str,
    /// The range of text to examine: the declaration around, and [`BEFORE`] bytes before it.
    pub around: (usize, usize),
}

/// The number of bytes before a declaration in which its beginning is looked for. clang's range begins behind
/// `template <...>`.
pub const BEFORE: usize = 2_000;

/// The largest number of pairs of brackets that are tried for an operand.
const MOST_LEVELS: usize = 8;

/// The largest number of bytes that are read of clang's answer.
const LONGEST_ANSWER: usize = 64 << 20;

/// The names of witnesses, before their numbers.
const NAME: &str = "ptxsmith_witness_";

/// An expression that may be the whole constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CandidateExpression {
    begin: usize,
    end: usize,
    /// Whether the constant is an array bound.
    is_bound: bool,
}

/// A witness in the copy of the text.
struct Witness {
    /// The index of the operand.
    operand: usize,
    /// The offset of the operand's name in the copy.
    offset: usize,
}

/// Runs clang on a copy of the text with witnesses. Returns the kinds of use of the operands, by the offset
/// of the name. Lacks operands for which clang understands none of the expressions.
///
/// `clang` checks the syntax of `file`, which is overwritten; its last two arguments are `--` and that file.
pub fn ask(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    operands: &[ConstantOperand<'_>],
    source: &PreprocessedText,
    file: &Path,
) -> Result<HashMap<usize, UseKind>, super::CheckError> {
    let (text, witnesses) = copy_with_witnesses(operands, source);
    if witnesses.is_empty() {
        return Ok(HashMap::new());
    }
    fs::write(file, text).map_err(super::CheckError::while_doing("write a file for clang"))?;
    let mut clang = clang.clone();
    let filter = format!("-ast-dump-filter={NAME}");
    let dumping = ["-Xclang", "-ast-dump=json", "-Xclang", &filter].map(OsString::from);
    clang.args.splice(0..0, dumping);
    let mut answer = Vec::new();
    let finished = process::run_reading(&clang, limits, cancel, |bytes| {
        if answer.len() + bytes.len() <= LONGEST_ANSWER {
            answer.extend_from_slice(bytes);
        }
    })?;
    if !matches!(finished.end, ProcessEnd::Exited(_)) {
        return Ok(HashMap::new());
    }
    Ok(read_kinds(&String::from_utf8_lossy(&answer), operands, &witnesses))
}

fn copy_with_witnesses(
    operands: &[ConstantOperand<'_>],
    source: &PreprocessedText,
) -> (String, Vec<Witness>) {
    let (written, code) = (source.written(), source.code());
    let mut places: Vec<(usize, usize, CandidateExpression)> = Vec::new();
    for (number, operand) in operands.iter().enumerate() {
        let Some((statement, candidates)) = candidates(code, operand) else { continue };
        places.extend(candidates.into_iter().map(|candidate| (statement, number, candidate)));
    }
    places.sort_by_key(|&(statement, number, candidate)| (statement, number, candidate.begin));
    let mut copy = String::new();
    let mut witnesses = Vec::new();
    let mut from = 0;
    for (statement, operand, CandidateExpression { begin, end, is_bound }) in places {
        copy += &written[from..statement];
        from = statement;
        let ty = if is_bound { "unsigned long long" } else { "auto" };
        copy += &format!(" constexpr {ty} {NAME}{} = ", witnesses.len());
        witnesses.push(Witness { operand, offset: copy.len() + operands[operand].offset - begin });
        // An expression of several lines may contain line markers, which are blank in `code`.
        let expression = if written[begin..end].contains('\n') { code } else { written };
        copy += &expression[begin..end].replace('\n', " ");
        copy += "; ";
    }
    copy += &written[from..];
    (copy, witnesses)
}

/// Reads clang's dump of the witnesses. The braces of each witness are in the first column.
fn read_kinds(
    answer: &str,
    operands: &[ConstantOperand<'_>],
    witnesses: &[Witness],
) -> HashMap<usize, UseKind> {
    let mut kinds: HashMap<usize, UseKind> = HashMap::new();
    let mut lines = answer.split_inclusive('\n');
    while let Some(first) = lines.by_ref().find(|line| line.trim_end() == "{") {
        let rest = lines.by_ref().take_while(|line| line.trim_end() != "}");
        let text: String = std::iter::once(first).chain(rest).chain(std::iter::once("}")).collect();
        let Ok(variable) = dump::parse_node(&text) else { continue };
        let number = variable.name.strip_prefix(NAME).and_then(|number| number.parse::<usize>().ok());
        let Some(witness) = number.and_then(|number| witnesses.get(number)) else { continue };
        let operand = &operands[witness.operand];
        let wanted = (witness.offset as u32, operand.name);
        if let Some(kind) = find_kind(&variable, wanted, &mut Vec::new()) {
            // The candidates of an operand are sorted by their beginnings, so the first one is the outermost.
            kinds.entry(operand.offset).or_insert(kind);
        }
    }
    kinds
}

/// Classifies the use of the variable with this offset and name; `None` if the tree does not have it, or
/// clang does not understand the expression.
fn find_kind<'a>(node: &'a AstNode, wanted: (u32, &str), path: &mut Vec<&'a AstNode>) -> Option<UseKind> {
    let (offset, name) = wanted;
    let is_named = match &node.referenced_decl {
        Some(declaration) => declaration.name == name,
        None => node.kind == "MemberExpr" && node.name == name,
    };
    if is_named && node.range.end.offset == offset {
        let kind = use_kind(node, path, false, &|_| false);
        return (!matches!(kind, UseKind::Unknown | UseKind::Misread | UseKind::Argument)).then_some(kind);
    }
    path.push(node);
    let found = node.inner.iter().find_map(|child| find_kind(child, wanted, path));
    path.pop();
    found
}

/// Returns the beginning of the statement around an operand, and the expressions that may be the constant,
/// the innermost one first.
fn candidates(code: &str, operand: &ConstantOperand<'_>) -> Option<(usize, Vec<CandidateExpression>)> {
    let (begin, end) = operand.around;
    let tokens = tokens(code.get(begin..end)?);
    let name = tokens.iter().position(|token| token.offset + begin == operand.offset)?;
    let brackets = Brackets::read(&tokens);
    let mut candidates = Vec::new();
    let mut inner = (name, name);
    for _ in 0..MOST_LEVELS {
        let around = brackets.around[inner.0];
        while let Some(angles) = brackets.angles_around(inner) {
            candidates.extend(brackets.candidate(angles, inner, begin));
            inner = angles;
        }
        let Some(open) = around.filter(|&open| !brackets.is_block[open]) else { break };
        let Some(close) = brackets.partner[open] else { break };
        candidates.extend(brackets.candidate((open, close), inner, begin));
        inner = (open, close);
    }
    let statement = brackets.statement_begin(inner.0);
    Some((begin + tokens.get(statement)?.offset, candidates))
}

/// The round, square and curly brackets of a text. Brackets and other tokens are known by their indices.
struct Brackets<'a> {
    tokens: &'a [CppToken<'a>],
    /// The innermost opening bracket around each token.
    around: Vec<Option<usize>>,
    /// The closing bracket of each opening one, and the opening bracket of each closing one.
    partner: Vec<Option<usize>>,
    /// Whether each opening bracket is that of a block of statements or members.
    is_block: Vec<bool>,
}

impl<'a> Brackets<'a> {
    fn read(tokens: &'a [CppToken<'a>]) -> Brackets<'a> {
        let mut around = vec![None; tokens.len()];
        let mut partner = vec![None; tokens.len()];
        let mut is_block = vec![false; tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if matches!(token.text, ")" | "]" | "}")
                && let Some(begin) = open.pop()
            {
                partner[begin] = Some(index);
                partner[index] = Some(begin);
            }
            around[index] = open.last().copied();
            match token.text {
                "(" | "[" | "{" => {
                    let before = index.checked_sub(1).map_or("", |before| tokens[before].text);
                    is_block[index] = token.text == "{" && before == ")";
                    open.push(index);
                }
                ";" => {
                    if let Some(&begin) = open.last().filter(|&&begin| tokens[begin].text == "{") {
                        is_block[begin] = true;
                    }
                }
                _ => {}
            }
        }
        Brackets { tokens, around, partner, is_block }
    }

    /// Returns the part between commas that contains the tokens `inner`, within a pair of brackets. `begin`
    /// is the offset of the text.
    fn candidate(
        &self,
        (open, close): (usize, usize),
        inner: (usize, usize),
        begin: usize,
    ) -> Option<CandidateExpression> {
        let (left, right) = inner;
        let level = self.around[left];
        let is_comma = |&index: &usize| self.tokens[index].text == "," && self.around[index] == level;
        let first = (open + 1..left).rev().find(is_comma).map_or(open + 1, |comma| comma + 1);
        let last = (right + 1..close).find(is_comma).unwrap_or(close).checked_sub(1)?;
        if first > last {
            return None;
        }
        let end = self.tokens.get(last)?;
        Some(CandidateExpression {
            begin: begin + self.tokens.get(first)?.offset,
            end: begin + end.offset + end.text.len(),
            is_bound: self.tokens[open].text == "[",
        })
    }

    /// Returns the nearest angle brackets of template arguments around these tokens, within the same other
    /// brackets.
    fn angles_around(&self, (left, right): (usize, usize)) -> Option<(usize, usize)> {
        let level = self.around[left];
        let open = self.opening_angle(left, level)?;
        Some((open, self.closing_angle(right, level)?))
    }

    fn opening_angle(&self, left: usize, level: Option<usize>) -> Option<usize> {
        let mut depth = 0_usize;
        for index in (0..left).rev().filter(|&index| self.around[index] == level) {
            if self.ends_statement(index) {
                return None;
            }
            if self.closes_arguments(index) {
                depth += 1;
            } else if self.opens_arguments(index) {
                if depth == 0 {
                    return Some(index);
                }
                depth -= 1;
            }
        }
        None
    }

    fn closing_angle(&self, right: usize, level: Option<usize>) -> Option<usize> {
        let mut depth = 0_usize;
        for index in (right + 1..self.tokens.len()).filter(|&index| self.around[index] == level) {
            if self.ends_statement(index) {
                return None;
            }
            if self.opens_arguments(index) {
                depth += 1;
            } else if self.closes_arguments(index) {
                if depth == 0 {
                    return Some(index);
                }
                depth -= 1;
            }
        }
        None
    }

    fn ends_statement(&self, index: usize) -> bool {
        matches!(self.tokens[index].text, ";" | "{" | "}")
    }

    /// Whether the token is a `<` behind a name, and not a part of another operator.
    fn opens_arguments(&self, index: usize) -> bool {
        self.tokens[index].text == "<"
            && index.checked_sub(1).is_some_and(|before| self.tokens[before].is_word())
            && !self.is_adjacent(index, index + 1, "<")
            && !self.is_adjacent(index, index + 1, "=")
    }

    /// Whether the token is a `>`, and not a part of `->`.
    fn closes_arguments(&self, index: usize) -> bool {
        self.tokens[index].text == ">"
            && index.checked_sub(1).is_some_and(|before| !self.is_adjacent(index, before, "-"))
    }

    /// Whether the token `other` has this text and is directly beside the token `index`.
    fn is_adjacent(&self, index: usize, other: usize, text: &str) -> bool {
        self.tokens
            .get(other)
            .is_some_and(|token| token.text == text && self.tokens[index].offset.abs_diff(token.offset) == 1)
    }

    /// Returns the first token of the statement or declaration that contains a token.
    fn statement_begin(&self, token: usize) -> usize {
        let level = self.around[token];
        let end = (0..token).rev().find(|&index| self.ends_before_statement(index, level));
        end.map_or(0, |end| end + 1)
    }

    /// Whether a statement of this level may begin behind the token.
    fn ends_before_statement(&self, index: usize, level: Option<usize>) -> bool {
        match self.tokens[index].text {
            ";" => self.around[index] == level,
            "}" => self.around[index] == level && self.partner[index].is_none_or(|open| self.is_block[open]),
            _ => Some(index) == level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> (&str, Vec<&str>) {
        let operand = ConstantOperand { offset: code.find("k").unwrap(), name: "k", around: (0, code.len()) };
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
    fn a_comparison_is_not_a_template_and_a_block_before_is_not_part_of_the_statement() {
        assert_eq!(found("{ if (x) { y(); } int a[1 < k]; }"), ("int a[1 < k]; }", vec!["1 < k"]));
        assert_eq!(found("{ int b[2] = {1, 2}; int a[c < k]; }").1, ["c < k"]);
        assert_eq!(
            found("void f() {} int g(int (&a)[s(k)]) { return 1; }").0,
            "int g(int (&a)[s(k)]) { return 1; }"
        );
    }
}
