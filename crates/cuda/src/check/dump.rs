//! Runs clang and reads the dump of its syntax tree while clang writes it.
//!
//! With the headers of the standard library, a dump is hundreds of megabytes, nearly all of it declarations
//! that do not matter here. clang prints the declarations of a translation unit one after the other, all at
//! the same indentation. So the reader skips declarations in system headers line by line, and parses only the
//! others, and those variables of system headers whose names the user's code has.
//!
//! clang prints the line of a place only if it differs from the line of the place before. The reader adds the
//! missing lines.

use std::borrow::Cow;
use std::collections::HashSet;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};

use super::ast::AstNode;
use super::bodies::Bodies;
use super::source::{FileOrigin, PreprocessedText, errors};

/// The largest depth of nested nodes. clang prints more white space the deeper a tree is, so it would exceed
/// its time limit on a tree that is much deeper.
pub const DEEPEST: usize = 20_000;

/// The largest number of bytes that are kept of a dump, without blanks and system headers.
const LARGEST: usize = 256 << 20;

/// The result of a run of clang.
#[derive(Debug, Default)]
pub struct Dump {
    /// The declarations of the translation unit that are not in system headers, in order.
    pub declarations: Vec<AstNode>,
    /// The number of declarations before the first one that is left out; `None` if all are there.
    pub whole: Option<usize>,
    /// clang's errors, as it printed them.
    pub errors: Vec<String>,
    /// The reason why the dump is incomplete, if it is.
    pub incomplete: Option<String>,
}

/// Runs clang on a preprocessed file.
pub fn run(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    source: &PreprocessedText,
) -> Result<Dump, process::ProcessError> {
    let mut reader = DumpReader::new(source);
    let finished = process::run_reading(clang, limits, cancel, |bytes| reader.read(bytes))?;
    let incomplete = match finished.end {
        ProcessEnd::TimedOut => Some(format!("clang did not end within {:?}", limits.time)),
        ProcessEnd::Signalled(signal) => Some(format!("clang died of signal {signal}")),
        ProcessEnd::Exited(_) if reader.is_inside => Some("clang's dump ends in the middle".to_owned()),
        ProcessEnd::Exited(_) => reader
            .left_out
            .or_else(|| reader.broken.map(|error| format!("clang's dump cannot be read: {error}"))),
    };
    let errors = errors(&finished.stderr.text()).map(str::to_owned).collect();
    Ok(Dump { declarations: reader.declarations, whole: reader.whole, errors, incomplete })
}

/// Reads a dump line by line.
struct DumpReader<'a> {
    source: &'a PreprocessedText,
    /// The words of the project's code.
    words: HashSet<&'a str>,
    declarations: Vec<AstNode>,
    /// The number of declarations before the first one that is left out.
    whole: Option<usize>,
    /// A description of the first limit that was exceeded.
    left_out: Option<String>,
    /// The number of bytes that were kept.
    kept: usize,
    /// The error of the first declaration that is invalid JSON.
    broken: Option<serde_json::Error>,
    /// The beginning of a line that is not complete yet.
    pending: Vec<u8>,
    /// Whether the reader is inside a declaration of the translation unit.
    is_inside: bool,
    /// The line number of the last place.
    line: String,
    /// Whether to skip the current declaration; `None` until its place is known.
    skip: Option<bool>,
    /// The column of the current template of a library.
    template: Option<usize>,
    /// The position within the current declaration of a library.
    nested: Nested,
    /// The text of the current declaration or variable, as far as it was kept.
    text: String,
    /// Whether clang printed the line number of the current place.
    is_line_printed: bool,
    /// The bodies of functions; most are dropped.
    bodies: Bodies,
}

impl<'a> DumpReader<'a> {
    fn new(source: &'a PreprocessedText) -> Self {
        DumpReader {
            source,
            words: source.project_words(),
            declarations: Vec::new(),
            whole: None,
            left_out: None,
            kept: 0,
            broken: None,
            pending: Vec::new(),
            is_inside: false,
            line: String::new(),
            skip: None,
            template: None,
            nested: Nested::Outside,
            text: String::new(),
            is_line_printed: false,
            bodies: Bodies::default(),
        }
    }

    /// Reads the next bytes of clang's output.
    fn read(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            if self.pending.is_empty() {
                self.read_line(line);
            } else {
                let mut whole = std::mem::take(&mut self.pending);
                whole.extend_from_slice(line);
                self.read_line(&whole);
                whole.clear();
                self.pending = whole;
            }
            bytes = rest;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn read_line(&mut self, line: &[u8]) {
        match (line, self.is_inside) {
            (b"    {\n", false) => {
                self.is_inside = true;
                self.skip = None;
                self.nested = Nested::Outside;
                self.bodies.begin();
                self.text.clear();
                self.text.push_str("{\n");
            }
            (b"    }\n" | b"    },\n", true) => {
                self.is_inside = false;
                if self.skip == Some(false) || matches!(self.nested, Nested::Variable { .. }) {
                    self.text.push('}');
                    self.parse();
                }
            }
            (_, true) => self.read_inner_line(line),
            _ => {}
        }
    }

    /// Leaves out the current declaration if it exceeds a limit. Each level of nesting is indented by four
    /// more columns.
    fn leave_out_beyond_limits(&mut self, column: usize) {
        let hit = if column / 4 > DEEPEST {
            format!("statements or expressions are nested more than {DEEPEST} deep")
        } else if self.kept + self.text.len() > LARGEST {
            format!("the syntax tree is larger than {} MiB", LARGEST >> 20)
        } else {
            return;
        };
        let (file, line) = self.source.line(self.line.parse().unwrap_or_default());
        self.whole.get_or_insert(self.declarations.len());
        self.left_out.get_or_insert_with(|| format!("{file}:{line}: {hit}; the declaration is left out"));
        self.skip = Some(true);
        self.nested = Nested::Outside;
        self.text = String::new();
    }

    fn parse(&mut self) {
        self.kept += self.text.len();
        match parse_node(&self.text) {
            Ok(node) => self.declarations.push(node),
            Err(error) => {
                self.whole.get_or_insert(self.declarations.len());
                self.broken.get_or_insert(error);
            }
        }
    }

    /// Reads a line within a declaration of the translation unit.
    fn read_inner_line(&mut self, line: &[u8]) {
        let column = line.iter().position(|&byte| byte != b' ').unwrap_or(line.len());
        let rest = &line[column..];
        if self.skip == Some(true) {
            self.follow_library(column, rest);
        }
        // In a skipped declaration only places matter. Their keys begin with these letters.
        let is_key = matches!(rest, [b'"', b'o' | b'l' | b'c' | b'r', ..]);
        let is_kept = self.skip != Some(true) || self.nested.is_kept();
        if !is_key && !is_kept {
            return;
        }
        if rest.starts_with(b"\"offset\": ") {
            self.is_line_printed = false;
        } else if let Some(number) = value_of_key(rest, b"\"line\": ") {
            self.line.clear();
            self.line.push_str(&String::from_utf8_lossy(number));
            self.is_line_printed = true;
        } else if rest.starts_with(b"\"col\": ") {
            if is_kept && !self.is_line_printed {
                self.text.push_str("\"line\": ");
                self.text.push_str(&self.line);
                self.text.push_str(",\n");
            }
        } else if self.skip.is_none() && column == 6 && rest.starts_with(b"\"range\": ") {
            // The place of the name comes before the range, so it is known now.
            self.decide_skip();
        }
        if is_kept {
            // The common case is much faster than a lossy conversion.
            let rest =
                std::str::from_utf8(rest).map_or_else(|_| String::from_utf8_lossy(rest), Cow::Borrowed);
            self.bodies.read(column, &rest, &mut self.text, self.source.written());
            self.text.push_str(&rest);
            self.leave_out_beyond_limits(column);
        }
    }

    /// Decides by the origin of the current declaration whether to skip it.
    fn decide_skip(&mut self) {
        let origin = self.source.origin(self.line.parse().unwrap_or_default());
        self.skip = Some(origin != FileOrigin::Project);
        self.template = TEMPLATES.iter().any(|template| self.text.contains(template)).then_some(4);
        self.nested = match origin {
            FileOrigin::Library if VARIABLES.iter().any(|variable| self.text.contains(variable)) => {
                Nested::Variable { column: 4 }
            }
            FileOrigin::Library if SCOPES.iter().any(|scope| self.text.contains(scope)) => Nested::Scope,
            _ => Nested::Outside,
        };
    }

    /// Finds the variables in namespaces and classes of a library. `column` and `rest` are a line of its
    /// declaration.
    fn follow_library(&mut self, column: usize, rest: &[u8]) {
        match self.nested {
            Nested::Scope if rest == b"{\n" => {
                self.text.clear();
                if self.template.is_some_and(|template| column <= template) {
                    self.template = None;
                }
                self.nested = Nested::Begun { column };
            }
            Nested::Begun { column: node } => self.follow_begun(node, &String::from_utf8_lossy(rest)),
            Nested::Variable { column: node } if column == node && rest.starts_with(b"}") => {
                self.text.push('}');
                self.parse();
                self.nested = Nested::Scope;
            }
            Nested::Variable { column: node } if column == node + 2 && !self.is_named_in_project(rest) => {
                self.nested = Nested::Other { column: node };
            }
            Nested::Other { column: node } if column == node && rest.starts_with(b"}") => {
                self.nested = Nested::Scope;
            }
            Nested::Outside | Nested::Scope | Nested::Variable { .. } | Nested::Other { .. } => {}
        }
    }

    /// Whether the project's code has the name that this line of a variable's declaration gives it, if any.
    fn is_named_in_project(&self, line: &[u8]) -> bool {
        let Some(name) = value_of_key(line, b"\"name\": ") else { return true };
        std::str::from_utf8(name).is_ok_and(|name| self.words.contains(name.trim_matches('"')))
    }

    /// Looks in a line for the kind of the declaration that has begun at the column `node`.
    fn follow_begun(&mut self, node: usize, line: &str) {
        let is_pattern = self.template.is_some_and(|template| template + 4 == node)
            && PATTERNS.iter().any(|pattern| line.starts_with(pattern));
        if TEMPLATES.iter().any(|template| line.starts_with(template)) {
            self.template = Some(node);
        }
        if is_pattern {
            self.nested = Nested::Other { column: node };
        } else if VARIABLES.iter().any(|variable| line.starts_with(variable)) {
            self.nested = Nested::Variable { column: node };
        } else if SCOPES.iter().any(|scope| line.starts_with(scope)) {
            self.nested = Nested::Scope;
        } else if line.starts_with("\"kind\": ") {
            self.nested = Nested::Other { column: node };
        }
    }
}

/// Returns the value in a line of the dump that begins with this key, without the comma and the line break.
fn value_of_key<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(key)?;
    let value = value.strip_suffix(b"\n").unwrap_or(value);
    Some(value.strip_suffix(b",").unwrap_or(value))
}

/// The position of the reader within a declaration of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nested {
    /// In a declaration that cannot contain variables of interest.
    Outside,
    /// In a namespace or a class.
    Scope,
    /// In a declaration that began at this column and whose kind is not known yet.
    Begun { column: usize },
    /// In a variable, which is kept.
    Variable { column: usize },
    /// In another declaration, which is skipped.
    Other { column: usize },
}

impl Nested {
    fn is_kept(self) -> bool {
        matches!(self, Nested::Begun { .. } | Nested::Variable { .. })
    }
}

/// The lines of the kinds of variables.
const VARIABLES: [&str; 2] = ["\"kind\": \"VarDecl\"", "\"kind\": \"VarTemplateSpecializationDecl\""];
/// The lines of the kinds of declarations that may contain variables of namespace scope or static members.
const SCOPES: [&str; 6] = [
    "\"kind\": \"NamespaceDecl\"",
    "\"kind\": \"LinkageSpecDecl\"",
    "\"kind\": \"CXXRecordDecl\"",
    "\"kind\": \"ClassTemplateSpecializationDecl\"",
    TEMPLATES[0],
    TEMPLATES[1],
];
/// The lines of the kinds of templates whose instances may contain variables of interest.
const TEMPLATES: [&str; 2] = ["\"kind\": \"ClassTemplateDecl\"", "\"kind\": \"VarTemplateDecl\""];
/// The lines of the kinds of such templates' own declarations, which are skipped.
const PATTERNS: [&str; 2] = ["\"kind\": \"CXXRecordDecl\"", "\"kind\": \"VarDecl\""];

/// Parses a declaration. Some of clang's nodes have the same key twice, which is an error for a typed value,
/// but not for an untyped one.
pub fn parse_node(text: &str) -> serde_json::Result<AstNode> {
    deserialize(text).or_else(|_| serde_json::from_value(deserialize(text)?))
}

fn deserialize<'a, T: serde::Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    T::deserialize(&mut deserializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_the_same_key_twice_has_the_last_value() {
        let read = parse_node(r#"{"kind": "A", "kind": "B", "inner": [{"kind": "C"}]}"#).unwrap();
        assert_eq!((&*read.kind, &*read.inner[0].kind), ("B", "C"));
    }

    #[test]
    fn variables_in_namespaces_and_classes_of_a_library_that_the_project_names_are_kept() {
        let place = |column: usize, line: u32| {
            let blank = " ".repeat(column);
            format!(
                "{blank}\"loc\": {{\n{blank}  \"offset\": 9,\n{blank}  \"line\": {line},\n{blank}  \"col\": 5\n{blank}}},\n"
            )
        };
        let variable = |column: usize, name: &str, line: u32| {
            let (brace, field) = (" ".repeat(column), " ".repeat(column + 2));
            format!(
                "{brace}{{\n{field}\"id\": \"{name}\",\n{field}\"kind\": \"VarDecl\",\n{}{field}\"name\": \"{name}\"\n{brace}}},\n",
                place(column + 2, line)
            )
        };
        let scope = |column: usize, kind: &str, inner: &str| {
            let (brace, field) = (" ".repeat(column), " ".repeat(column + 2));
            format!(
                "{brace}{{\n{field}\"kind\": \"{kind}\",\n{field}\"inner\": [\n{inner}{field}]\n{brace}}},\n"
            )
        };
        let function = scope(8, "FunctionDecl", &variable(12, "local", 4));
        let template = scope(8, "ClassTemplateDecl", &scope(12, "CXXRecordDecl", &variable(16, "open", 7)));
        let class = scope(8, "CXXRecordDecl", &variable(12, "member", 8));
        let namespace = format!(
            "    {{\n      \"id\": \"n\",\n      \"kind\": \"NamespaceDecl\",\n{}      \"range\": {{}},\n      \"inner\": [\n{}{function}{}{}{template}{class}      ]\n    }},\n",
            place(6, 2),
            variable(8, "limit", 3),
            variable(8, "unused", 5),
            variable(8, "late", 6)
        );
        let read = |origin: FileOrigin| {
            let text = format!(
                "# 1 \"sys/lib.h\"\n{}# 1 \"a.cu\" 1\nlimit local late open member outer\n",
                "\n".repeat(8)
            );
            let source = PreprocessedText::read(&text, &|file| {
                if file == "a.cu" { FileOrigin::Project } else { origin }
            });
            let mut reader = DumpReader::new(&source);
            reader.read(namespace.as_bytes());
            reader.read(
                variable(4, "outer", 9).replace("\"name\"", "\"range\": {},\n      \"name\"").as_bytes(),
            );
            assert!(reader.broken.is_none(), "{:?}", reader.broken);
            reader.declarations.iter().map(|node| (node.name.clone(), node.loc.line)).collect::<Vec<_>>()
        };
        let kept = [
            ("limit".to_owned(), 3),
            ("late".to_owned(), 6),
            ("member".to_owned(), 8),
            ("outer".to_owned(), 9),
        ];
        assert_eq!(read(FileOrigin::Library), kept);
        assert_eq!(read(FileOrigin::Compiler), []);
    }

    #[test]
    fn a_declaration_that_is_nested_too_deep_is_left_out_with_its_place_and_the_rest_is_read() {
        let declaration = |column: usize| {
            let blank = " ".repeat(column);
            format!(
                "    {{\n      \"kind\": \"VarDecl\",\n      \"loc\": {{\n        \"offset\": 1,\n        \
                 \"line\": 8,\n        \"col\": 1\n      }},\n      \"range\": {{}}\n{blank}\n    }},\n"
            )
        };
        let source = PreprocessedText::read("# 1 \"a.cu\"\n", &|_| FileOrigin::Project);
        let mut reader = DumpReader::new(&source);
        for column in [6, 4 * DEEPEST + 4, 4 * DEEPEST] {
            reader.read(declaration(column).as_bytes());
        }
        assert_eq!((reader.declarations.len(), reader.whole, reader.broken.is_none()), (2, Some(1), true));
        let expected =
            "a.cu:7: statements or expressions are nested more than 20000 deep; the declaration is left out";
        assert_eq!(reader.left_out.as_deref(), Some(expected));
    }
}
