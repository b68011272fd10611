//! Runs clang and reads its dump while it is being written.
//!
//! With the headers of the standard library a dump is hundreds of megabytes, nearly all of it declarations of no
//! interest here. clang prints the dump with one declaration of the translation unit after the other at the same
//! indentation, so declarations in system headers are passed over line by line, and only the others are parsed. Of headers that the
//! user's own flags call system headers the variables are parsed, too: the user's code may name them. Of a place clang prints the line
//! only where it differs from that of the place before; it is completed on the way.

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use super::ast::Node;
use super::source::{Origin, Source, errors};

/// How deep nodes may be nested in each other. clang prints a tree with more white space the deeper it is, so one that is much
/// deeper takes it longer than it has.
pub const DEEPEST: usize = 20_000;

/// How many bytes of a dump are kept, blanks and system headers aside.
const LARGEST: usize = 256 << 20;

/// What came of a run of clang.
#[derive(Debug, Default)]
pub struct Dump {
    /// The declarations of the translation unit that are not in system headers, in order.
    pub declarations: Vec<Node>,
    /// How many of them stand before the first that is left out, if one is.
    pub whole: Option<usize>,
    /// Its errors, as it printed them.
    pub errors: Vec<String>,
    /// Why the dump is not whole, if so.
    pub incomplete: Option<String>,
}

/// Runs clang on a preprocessed file.
pub fn run(
    clang: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    source: &Source,
) -> Result<Dump, process::Error> {
    let mut reader = Reader::new(source);
    let finished = process::run_reading(clang, limits, cancel, |bytes| reader.read(bytes))?;
    let incomplete = match finished.end {
        End::TimedOut => Some(format!("clang did not end within {:?}", limits.time)),
        End::Signalled(signal) => Some(format!("clang died of signal {signal}")),
        End::Exited(_) if reader.inside => Some("clang's dump ends in the middle".to_owned()),
        End::Exited(_) => reader
            .left_out
            .or_else(|| reader.broken.map(|error| format!("clang's dump cannot be read: {error}"))),
    };
    let errors = errors(&finished.stderr.text()).map(str::to_owned).collect();
    Ok(Dump { declarations: reader.declarations, whole: reader.whole, errors, incomplete })
}

/// Where the reader is in the translation unit.
struct Reader<'a> {
    source: &'a Source,
    declarations: Vec<Node>,
    /// How many stand before the first that is left out.
    whole: Option<usize>,
    /// Which limit was the first that was hit; what was beyond it is left out.
    left_out: Option<String>,
    /// The bytes that were kept.
    kept: usize,
    /// The first declaration that is no JSON.
    broken: Option<serde_json::Error>,
    /// The beginning of a line of which the rest was not read yet.
    pending: Vec<u8>,
    /// Whether a declaration has begun.
    inside: bool,
    line: String,
    /// Whether the place of the declaration being read is known yet, and the declaration is passed over.
    skip: Option<bool>,
    /// The column of the template of a library that is being read.
    template: Option<usize>,
    /// The variable within a declaration of a library that is being read.
    nested: Nested,
    text: String,
    /// Whether clang has printed the line of the place being read.
    printed_line: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source) -> Self {
        Reader {
            source,
            declarations: Vec::new(),
            whole: None,
            left_out: None,
            kept: 0,
            broken: None,
            pending: Vec::new(),
            inside: false,
            line: String::new(),
            skip: None,
            template: None,
            nested: Nested::Outside,
            text: String::new(),
            printed_line: false,
        }
    }

    /// Takes what clang printed next.
    fn read(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            if self.pending.is_empty() {
                self.whole_line(line);
            } else {
                let mut whole = std::mem::take(&mut self.pending);
                whole.extend_from_slice(line);
                self.whole_line(&whole);
                whole.clear();
                self.pending = whole;
            }
            bytes = rest;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn whole_line(&mut self, line: &[u8]) {
        match (line, self.inside) {
            (b"    {\n", false) => {
                self.inside = true;
                self.skip = None;
                self.text.clear();
                self.text.push_str("{\n");
            }
            (b"    }\n" | b"    },\n", true) => {
                self.inside = false;
                if self.skip == Some(false) {
                    self.text.push('}');
                    self.parse();
                }
            }
            (_, true) => self.line(line),
            _ => {}
        }
    }

    /// Leaves out the declaration being read where a limit is hit. Each level of nesting is printed four columns further right.
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
        self.text = String::new();
    }

    fn parse(&mut self) {
        self.kept += self.text.len();
        match node(&self.text) {
            Ok(node) => self.declarations.push(node),
            Err(error) => {
                self.whole.get_or_insert(self.declarations.len());
                self.broken.get_or_insert(error);
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let start = line.iter().position(|&byte| byte != b' ').unwrap_or(line.len());
        let rest = &line[start..];
        if self.skip == Some(true) {
            self.follow_library(start, rest);
        }
        // Of what is passed over only places matter, and these are keys.
        let is_key = matches!(rest, [b'"', b'o' | b'l' | b'c' | b'r', ..]);
        let is_kept = self.skip != Some(true) || self.nested.is_kept();
        if !is_key && !is_kept {
            return;
        }
        let value = |key: &[u8]| {
            let value = rest.strip_prefix(key)?;
            let value = value.strip_suffix(b"\n").unwrap_or(value);
            Some(value.strip_suffix(b",").unwrap_or(value))
        };
        if rest.starts_with(b"\"offset\": ") {
            self.printed_line = false;
        } else if rest.starts_with(b"\"line\": ") {
            if let Some(line) = value(b"\"line\": ") {
                self.line.clear();
                self.line.push_str(&String::from_utf8_lossy(line));
                self.printed_line = true;
            }
        } else if rest.starts_with(b"\"col\": ") {
            if is_kept && !self.printed_line {
                self.text.push_str("\"line\": ");
                self.text.push_str(&self.line);
                self.text.push_str(",\n");
            }
        } else if self.skip.is_none() && start == 6 && rest.starts_with(b"\"range\": ") {
            // Before it comes the place of the name.
            let origin = self.source.origin(self.line.parse().unwrap_or_default());
            self.skip = Some(match origin {
                Origin::Project => false,
                Origin::System => true,
                Origin::Library => !VARIABLES.iter().any(|variable| self.text.contains(variable)),
            });
            self.template = TEMPLATES.iter().any(|template| self.text.contains(template)).then_some(4);
            self.nested = match origin {
                Origin::Library if SCOPES.iter().any(|scope| self.text.contains(scope)) => Nested::Scope,
                _ => Nested::Outside,
            };
        }
        if is_kept {
            self.text.push_str(&String::from_utf8_lossy(rest));
            self.leave_out_beyond_limits(start);
        }
    }

    /// Finds the variables in namespaces and classes of a library. `column` and `rest` are a line of its declaration.
    fn follow_library(&mut self, column: usize, rest: &[u8]) {
        let begins = rest == b"{\n";
        let ends = |node: usize| column == node && rest.starts_with(b"}");
        match self.nested {
            Nested::Outside => {}
            Nested::Scope if begins => {
                self.text.clear();
                self.nested = Nested::Begun { column };
            }
            Nested::Scope => {}
            Nested::Begun { column: node } => {
                let line = String::from_utf8_lossy(rest);
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
            Nested::Variable { column: node } if ends(node) => {
                self.text.push('}');
                self.parse();
                self.nested = Nested::Scope;
            }
            Nested::Other { column: node } if ends(node) => self.nested = Nested::Scope,
            Nested::Variable { .. } | Nested::Other { .. } => {}
        }
    }
}

/// Where the reader is in a declaration of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nested {
    /// Nothing in it is looked at.
    Outside,
    /// In a namespace or a class.
    Scope,
    /// A declaration has begun at this column, and its kind is not known yet.
    Begun { column: usize },
    /// In a variable, which is kept.
    Variable { column: usize },
    /// In another declaration, which is passed over.
    Other { column: usize },
}

impl Nested {
    fn is_kept(self) -> bool {
        matches!(self, Nested::Begun { .. } | Nested::Variable { .. })
    }
}

/// How clang prints the kinds of variables.
const VARIABLES: [&str; 2] = ["\"kind\": \"VarDecl\"", "\"kind\": \"VarTemplateSpecializationDecl\""];
/// How clang prints the kinds of what may hold variables of namespace scope, and static members.
const SCOPES: [&str; 6] = [
    "\"kind\": \"NamespaceDecl\"",
    "\"kind\": \"LinkageSpecDecl\"",
    "\"kind\": \"CXXRecordDecl\"",
    "\"kind\": \"ClassTemplateSpecializationDecl\"",
    TEMPLATES[0],
    TEMPLATES[1],
];
/// How clang prints the kinds of templates that hold variables in their instances. Their own declaration says nothing of those.
const TEMPLATES: [&str; 2] = ["\"kind\": \"ClassTemplateDecl\"", "\"kind\": \"VarTemplateDecl\""];
/// How clang prints the kinds of such own declarations.
const PATTERNS: [&str; 2] = ["\"kind\": \"CXXRecordDecl\"", "\"kind\": \"VarDecl\""];

/// Reads a declaration. Some nodes of clang have a key twice, which only a value without a type lets pass.
pub fn node(text: &str) -> serde_json::Result<Node> {
    fn read<'a, T: serde::Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.disable_recursion_limit();
        T::deserialize(&mut deserializer)
    }
    read(text).or_else(|_| serde_json::from_value(read(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_there_twice_does_no_harm() {
        let read = node(r#"{"kind": "A", "kind": "B", "inner": [{"kind": "C"}]}"#).unwrap();
        assert_eq!((&*read.kind, &*read.inner[0].kind), ("B", "C"));
    }

    #[test]
    fn of_a_library_the_variables_in_namespaces_and_classes_are_kept() {
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
        let function = format!(
            "        {{\n          \"kind\": \"FunctionDecl\",\n          \"inner\": [\n{}          ]\n        }},\n",
            variable(12, "local", 4)
        );
        let namespace = format!(
            "    {{\n      \"id\": \"n\",\n      \"kind\": \"NamespaceDecl\",\n      \"loc\": {{\n        \"offset\": 1,\n        \
             \"line\": 2,\n        \"col\": 1\n      }},\n      \"range\": {{}},\n      \"inner\": [\n{}{function}{}      ]\n    }},\n",
            variable(8, "limit", 3),
            variable(8, "late", 6)
        );
        let read = |origin: Origin| {
            let source = Source::read("# 1 \"sys/lib.h\"\n", &|_| origin);
            let mut reader = Reader::new(&source);
            reader.read(namespace.as_bytes());
            assert!(reader.broken.is_none(), "{:?}", reader.broken);
            reader.declarations.iter().map(|node| (node.name.clone(), node.loc.line)).collect::<Vec<_>>()
        };
        let kept = [("limit".to_owned(), 3), ("late".to_owned(), 6)];
        assert_eq!(read(Origin::Library), kept);
        assert_eq!(read(Origin::System), []);
    }

    #[test]
    fn what_is_nested_too_deep_is_left_out_with_its_place_and_the_rest_is_read() {
        let declaration = |column: usize| {
            let blank = " ".repeat(column);
            format!(
                "    {{\n      \"kind\": \"VarDecl\",\n      \"loc\": {{\n        \"offset\": 1,\n        \
                 \"line\": 8,\n        \"col\": 1\n      }},\n      \"range\": {{}}\n{blank}\n    }},\n"
            )
        };
        let source = Source::read("# 1 \"a.cu\"\n", &|_| Origin::Project);
        let mut reader = Reader::new(&source);
        for column in [6, 4 * DEEPEST + 4, 4 * DEEPEST] {
            reader.read(declaration(column).as_bytes());
        }
        assert_eq!((reader.declarations.len(), reader.whole, reader.broken.is_none()), (2, Some(1), true));
        let expected =
            "a.cu:7: statements or expressions are nested more than 20000 deep; the declaration is left out";
        assert_eq!(reader.left_out.as_deref(), Some(expected));
    }
}
