//! Parser for the language of patterns. `docs/guide/known-deviations.md` describes the language.

use super::node::PatternKind;

/// A pattern or a part of one: a condition on a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Kind(PatternKind),
    /// The node has this dotted word, or is a name whose declaration has it.
    Word(String),
    /// The text of the node, which may contain wildcards.
    Text(String),
    /// One of [`PROPERTIES`].
    Is(&'static str),
    /// Compares a quantity with a number; the value of the node if the quantity is empty.
    Compare(&'static str, NumericComparison),
    /// The module is this program; headers are ignored.
    Program(String),
    /// The module names this target.
    Target(String),
    /// A node that one of [`STEPS`] leads to passes the test.
    Step(&'static str, Box<Test>),
    /// A part that passes the second test follows one that passes the first: immediately if the flag is set,
    /// else anywhere later.
    Behind(bool, Box<Test>, Box<Test>),
    Count(NumericComparison, Box<Test>),
}

/// A comparison operator (`>=`, `<=`, `>`, `<` or `=`) and a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumericComparison {
    pub operator: &'static str,
    pub number: i128,
}

impl NumericComparison {
    pub fn holds(self, value: i128) -> bool {
        match self.operator {
            ">=" => value >= self.number,
            "<=" => value <= self.number,
            ">" => value > self.number,
            "<" => value < self.number,
            _ => value == self.number,
        }
    }
}

/// Properties of nodes.
const PROPERTIES: [&str; 32] = [
    "any",
    "register",
    "variable",
    "opaque",
    "prototype",
    "special",
    "undeclared",
    "body",
    "parameter",
    "passed",
    "set",
    "used",
    "hidden",
    "numbered",
    "respelled",
    "constant",
    "integer",
    "unsigned",
    "single",
    "beyond",
    "power",
    "type",
    "space",
    "ascii",
    "missing",
    "header",
    "function",
    "label",
    "equated",
    "repeated",
    "accumulating",
    "shared",
];
/// Steps from a node to other nodes.
const STEPS: [&str; 12] =
    ["has", "child", "each", "first", "second", "last", "begins", "bare", "of", "from", "initially", "known"];
/// Quantities that can be compared with a number.
const QUANTITIES: [&str; 6] = ["size", "total", "bytes", "kernels", "version", "address_size"];
/// The operators of comparisons, longest first, so that `>=` is not parsed as `>`.
const OPERATORS: [&str; 5] = [">=", "<=", ">", "<", "="];
/// The maximum nesting depth of patterns.
const DEEPEST: usize = 64;

fn listed(list: &[&'static str], word: &str) -> Option<&'static str> {
    list.iter().copied().find(|listed| *listed == word)
}

/// A recursive-descent parser for patterns.
pub(super) struct PatternParser<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

impl<'t> PatternParser<'t> {
    pub fn pattern(text: &'t str) -> Parsed<Test> {
        let mut parser = PatternParser { text, position: 0, depth: 0 };
        let test = parser.conjunction()?;
        if !parser.rest().is_empty() {
            return Err(parser.expected("the end of the pattern"));
        }
        Ok(test)
    }

    fn rest(&mut self) -> &'t str {
        self.position = self.text.len() - self.text[self.position..].trim_start().len();
        &self.text[self.position..]
    }

    fn expected(&mut self, what: &str) -> String {
        let found: String = self.rest().chars().take(12).collect();
        format!("expected {what} at character {} of the pattern, found `{found}`", self.position + 1)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let eaten = self.rest().starts_with(mark);
        self.position += if eaten { mark.len() } else { 0 };
        eaten
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn conjunction(&mut self) -> Parsed<Test> {
        let mut tests = vec![self.alternatives()?];
        while !self.rest().is_empty() && !self.rest().starts_with([')', ',']) {
            tests.push(self.alternatives()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::All(tests) })
    }

    fn alternatives(&mut self) -> Parsed<Test> {
        let mut tests = vec![self.nested_unit()?];
        while self.eat("|") {
            tests.push(self.nested_unit()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) })
    }

    fn nested_unit(&mut self) -> Parsed<Test> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("a pattern nests at most {DEEPEST} deep"));
        }
        let test = self.unit();
        self.depth -= 1;
        test
    }

    fn unit(&mut self) -> Parsed<Test> {
        if self.eat("!") {
            return Ok(Test::Not(Box::new(self.nested_unit()?)));
        }
        if self.eat("(") {
            return self.closed();
        }
        if self.eat("\"") {
            return self.quoted().map(Test::Text);
        }
        if let Some(comparison) = self.comparison()? {
            return Ok(Test::Compare("", comparison));
        }
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._:*".contains(c))).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.len() > 1 && word.starts_with('.') {
            self.position += end;
            return Ok(Test::Word(word.to_owned()));
        }
        let start = self.position;
        self.position += end;
        self.named(word).map_err(|error| match error {
            Some(error) => error,
            None => {
                self.position = start;
                self.expected("a test")
            }
        })
    }

    /// Parses the test that begins with this name. The error is `None` if no test has this name.
    fn named(&mut self, word: &str) -> Result<Test, Option<String>> {
        if word == "target" {
            self.expect("(\"")?;
            let target = Test::Target(self.quoted()?);
            self.expect(")")?;
            return Ok(target);
        }
        if word == "low32" || QUANTITIES.contains(&word) {
            let name = listed(&QUANTITIES, word).unwrap_or("low32");
            let parens = self.eat("(");
            let comparison = self.comparison()?.ok_or_else(|| self.expected("a comparison"))?;
            if parens {
                self.expect(")")?;
            }
            return Ok(Test::Compare(name, comparison));
        }
        if word == "count" {
            self.expect("(")?;
            let comparison = self.comparison()?.ok_or_else(|| self.expected("a comparison"))?;
            self.expect(",")?;
            return Ok(Test::Count(comparison, Box::new(self.closed()?)));
        }
        if let Some(is_next) = match word {
            "next" => Some(true),
            "after" => Some(false),
            _ => None,
        } {
            self.expect("(")?;
            let first = self.conjunction()?;
            self.expect(",")?;
            return Ok(Test::Behind(is_next, Box::new(first), Box::new(self.closed()?)));
        }
        if let Some(step) = listed(&STEPS, word) {
            self.expect("(")?;
            return Ok(Test::Step(step, Box::new(self.closed()?)));
        }
        let kind_or_property = match (listed(&PROPERTIES, word), PatternKind::from_name(word)) {
            (Some(property), _) => Test::Is(property),
            (None, Some(kind)) => Test::Kind(kind),
            (None, None) => return Err(None),
        };
        if self.eat("(") {
            return Ok(Test::All(vec![kind_or_property, self.closed()?]));
        }
        Ok(kind_or_property)
    }

    fn closed(&mut self) -> Parsed<Test> {
        let inner = self.conjunction()?;
        self.expect(")")?;
        Ok(inner)
    }

    fn quoted(&mut self) -> Parsed<String> {
        let rest = &self.text[self.position..];
        let end = rest.find('"').ok_or("a `\"` of the pattern is not closed")?;
        self.position += end + 1;
        Ok(rest[..end].to_owned())
    }

    fn comparison(&mut self) -> Parsed<Option<NumericComparison>> {
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.eat(operator)) else {
            return Ok(None);
        };
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || "-.".contains(c))).unwrap_or(rest.len());
        let number = match rest[..end].split_once('.') {
            None => rest[..end].parse().ok(),
            Some((major, minor)) => major.parse().ok().zip(minor.parse().ok()).map(version),
        };
        let number = number.ok_or_else(|| self.expected("a number"))?;
        self.position += end;
        Ok(Some(NumericComparison { operator, number }))
    }
}

/// Converts a version to a number with the same order.
pub(super) fn version((major, minor): (u32, u32)) -> i128 {
    i128::from(major) * 1000 + i128::from(minor)
}
