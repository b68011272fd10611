//! Finds the bodies of functions in a dump that use no variable from outside, so that they need not be kept.
//!
//! Most functions of a large file name none of its host variables. A body is dropped only if both the tree and
//! the text say so: the tree shows variables that the text does not name, such as in default arguments, and
//! leaves out expressions that the text has, such as the bounds of arrays.

use std::collections::HashSet;

/// A body that is being read.
#[derive(Debug)]
struct Body {
    /// The column of its node.
    column: usize,
    /// The length of the kept text before its statements, once they begin.
    statements: Option<usize>,
    /// The offsets of its first and its last token.
    offsets: Vec<usize>,
    /// The variables that it declares.
    declared: HashSet<String>,
    /// Whether it uses or declares a variable that must be judged.
    is_needed: bool,
}

/// Follows the lines of a dump.
#[derive(Debug, Default)]
pub struct Bodies {
    /// The names of variables outside of functions so far.
    names: HashSet<String>,
    body: Option<Body>,
    /// The column and the place in the text of the node that began last.
    node: (usize, usize),
    /// The column of the outermost class that is being read. Its functions may name members that are declared
    /// later, so all of them are kept.
    class: Option<usize>,
    /// The identity of the last node.
    id: String,
    /// Whether the last line said that a node is a variable.
    is_variable: bool,
    /// The column of the fields of the last variable outside of functions.
    variable: usize,
}

impl Bodies {
    /// Begins a declaration of the translation unit. The end of one that is skipped is not read.
    pub fn begin(&mut self) {
        (self.class, self.body) = (None, None);
    }

    /// Reads a line before it is added to the `text` of its declaration. `source` is the file that clang reads.
    pub fn read(&mut self, column: usize, line: &str, text: &mut String, source: &str) {
        let is_variable = std::mem::take(&mut self.is_variable);
        match line.as_bytes().first() {
            Some(b'{') => self.node = (column, text.len()),
            Some(b'}') => self.end(column, text, source),
            Some(b'"') => self.read_field(column, line, text.len(), is_variable),
            _ => {}
        }
    }

    fn read_field(&mut self, column: usize, line: &str, length: usize, is_variable: bool) {
        // Most lines have none of these fields: `id`, `inner`, `kind`, `loc`, `name`, `offset`, `storageClass`.
        if !is_variable && !matches!(line.as_bytes(), [b'"', b'i' | b'k' | b'n' | b'o' | b's', ..]) {
            return;
        }
        if let Some(id) = line.strip_prefix("\"id\": ") {
            id.trim_end().clone_into(&mut self.id);
        } else if let Some(kind) = line.strip_prefix("\"kind\": \"") {
            self.read_kind(column, kind);
        } else if let Some(body) = &mut self.body {
            if is_variable {
                // Only a declaration has a place; other nodes refer to one.
                if line.starts_with("\"loc\": ") {
                    body.declared.insert(self.id.clone());
                } else {
                    body.is_needed |= !body.declared.contains(&self.id);
                }
            }
            if body.statements.is_none() && column == body.column + 2 && line.starts_with("\"inner\": ") {
                body.statements = Some(length);
            } else if let Some(offset) = line.strip_prefix("\"offset\": ")
                && body.offsets.len() < 2
            {
                body.offsets.extend(offset.trim_end().trim_end_matches(',').parse::<usize>().ok());
            } else if line.starts_with("\"storageClass\": ") {
                body.is_needed = true;
            }
        } else if column == self.variable
            && let Some(name) = line.strip_prefix("\"name\": \"")
        {
            self.names.insert(name.split('"').next().unwrap_or_default().to_owned());
        }
    }

    fn read_kind(&mut self, column: usize, kind: &str) {
        let kind = kind.split('"').next().unwrap_or_default();
        self.is_variable = kind.starts_with("Var");
        match (&self.body, kind) {
            (None, "CompoundStmt") if self.class.is_none() && self.node.0 + 2 == column => {
                self.body = Some(Body {
                    column: self.node.0,
                    statements: None,
                    offsets: Vec::new(),
                    declared: HashSet::new(),
                    is_needed: false,
                });
            }
            (None, _) if self.is_variable => self.variable = column,
            // What a template names is known in its instances, and may be declared behind it.
            (Some(_), "DependentScopeDeclRefExpr" | "CXXDependentScopeMemberExpr") => {
                if let Some(body) = &mut self.body {
                    body.is_needed = true;
                }
            }
            (
                None,
                "CXXRecordDecl"
                | "ClassTemplateDecl"
                | "ClassTemplateSpecializationDecl"
                | "ClassTemplatePartialSpecializationDecl",
            ) => {
                self.class.get_or_insert(column - 2);
            }
            _ => {}
        }
    }

    /// Ends a node. Drops the statements of a body that uses nothing from outside.
    fn end(&mut self, column: usize, text: &mut String, source: &str) {
        if self.class == Some(column) {
            self.class = None;
        }
        let Some(body) = self.body.take_if(|body| body.column == column) else { return };
        if let Some(statements) = body.statements
            && let [begin, end] = body.offsets[..]
            && let Some(written) = source.get(begin..=end)
            && !body.is_needed
            && !self.are_named_in(written)
        {
            text.truncate(statements);
            text.push_str("\"inner\": []\n");
        }
    }

    fn are_named_in(&self, text: &str) -> bool {
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.filter(|word| !word.is_empty()).any(|word| self.names.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is kept of a function with this body, behind a variable `limit`. `nodes` are the lines of
    /// the dump in the body.
    fn kept(body: &str, nodes: &str) -> String {
        let (mut bodies, mut text) = (Bodies::default(), String::new());
        let header = "const int limit = 5;\nvoid f() ";
        let source = format!("{header}{body}\n");
        let end = header.len() + body.len() - 1;
        let dump = format!(
            "    {{\n      \"id\": \"0x1\",\n      \"kind\": \"VarDecl\",\n      \"loc\": {{}},\n      \"name\": \"limit\"\n    }},\n    \
             {{\n      \"id\": \"0x2\",\n      \"kind\": \"FunctionDecl\",\n      \"inner\": [\n        {{\n          \"id\": \"0x3\",\n          \
             \"kind\": \"CompoundStmt\",\n          \"offset\": {},\n          \"offset\": {end},\n          \"inner\": [\n{nodes}          \
             ]\n        }}\n      ]\n    }}\n",
            header.len()
        );
        for line in dump.split_inclusive('\n') {
            let column = line.find(|c| c != ' ').unwrap_or(line.len());
            bodies.read(column, &line[column..], &mut text, &source);
            text.push_str(&line[column..]);
        }
        text
    }

    const LOCAL: &str = "            {\n              \"id\": \"0x9\",\n              \"kind\": \"VarDecl\",\n              \"loc\": {},\n              \
                         \"name\": \"x\"\n            },\n";

    fn reference(id: &str) -> String {
        format!(
            "            {{\n              \"kind\": \"DeclRefExpr\",\n              \"referencedDecl\": {{\n                \"id\": \"{id}\",\n                \
             \"kind\": \"VarDecl\",\n                \"name\": \"x\"\n              }}\n            }}\n"
        )
    }

    #[test]
    fn a_body_that_uses_its_own_variables_alone_is_dropped_and_the_function_stays() {
        let text = kept("{ int x; x; }", &format!("{LOCAL}{}", reference("0x9")));
        assert!(text.contains("CompoundStmt") && text.contains("FunctionDecl"), "{text}");
        assert!(text.contains("\"inner\": []\n}") && !text.contains("DeclRefExpr"), "{text}");
        let function = &text[text.find("{\n\"id\": \"0x2\"").unwrap()..];
        let node = super::super::dump::parse_node(function).unwrap();
        assert_eq!(node.inner[0].kind, "CompoundStmt");
    }

    #[test]
    fn a_body_that_names_a_variable_of_the_file_or_refers_to_one_is_kept() {
        let all = [
            // The bound of an array is not in the tree.
            ("{ int x[limit]; }", LOCAL.to_owned()),
            // A default argument is not in the text.
            ("{ f(); }", reference("0x1")),
            // The name in a template may be declared behind it.
            ("{ T::n; }", reference("0x9").replace("DeclRefExpr", "DependentScopeDeclRefExpr")),
            (
                "{ static int x; }",
                LOCAL
                    .replace("\"loc\": {},\n", "\"loc\": {},\n              \"storageClass\": \"static\",\n"),
            ),
        ];
        for (body, nodes) in all {
            assert!(kept(body, &nodes).contains(&nodes.replace("  ", "")), "{body}: {}", kept(body, &nodes));
        }
    }
}
