//! A module as its words, which shapes are predicates of.

use std::collections::BTreeMap;

use ptxsmith_syntax::{Module, Number, ScalarType, Text, print, read_number, tokens};

/// A module as statements of words, with what the names in it are.
pub(super) struct Words {
    pub(super) statements: Vec<Vec<Text>>,
    /// Of each statement, whether it stands in a body.
    pub(super) in_body: Vec<bool>,
    pub(super) names: BTreeMap<Text, Vec<Name>>,
}

/// What a name is declared as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Function,
    /// With its type and the elements of a vector, or one.
    Register(Text, usize),
    /// With its state space; in a body or not.
    Variable(Text, bool),
    /// A texture, sampler or surface.
    Opaque,
}

pub(super) const SPACES: [&str; 8] =
    [".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"];
pub(super) const OPAQUE: [&str; 3] = [".texref", ".samplerref", ".surfref"];
/// With these words begins what declares a function.
pub(super) const HEADS: [&str; 2] = [".entry", ".func"];

impl Words {
    pub(super) fn of(module: &Module) -> Words {
        let text = print(module);
        let mut words = Words { statements: Vec::new(), in_body: Vec::new(), names: BTreeMap::new() };
        let (mut statement, mut lists, mut depth): (Vec<Text>, usize, usize) = (Vec::new(), 0, 0);
        let mut is_head = false;
        for token in tokens(&text).unwrap_or_default() {
            let word = token.text;
            match &*word {
                // Braces in a statement are a list, but behind the head of a function.
                "{" if lists > 0 || !statement.is_empty() && !is_head => lists += 1,
                "}" if lists > 0 => lists -= 1,
                "{" | "}" | ";" => {
                    words.add(std::mem::take(&mut statement), depth > 0);
                    depth = match &*word {
                        "{" => depth + 1,
                        "}" => depth.saturating_sub(1),
                        _ => depth,
                    };
                    (lists, is_head) = (0, false);
                    continue;
                }
                _ => {}
            }
            is_head |= HEADS.contains(&&*word);
            statement.push(word);
        }
        words.add(statement, depth > 0);
        words
    }

    fn add(&mut self, statement: Vec<Text>, in_body: bool) {
        // What is passed is declared in parentheses, one by one.
        let heads = statement.iter().any(|word| HEADS.contains(&&**word));
        for part in statement.split(|word| heads && ["(", ")", ","].contains(&&**word)) {
            self.declare(part, in_body || heads, heads);
        }
        if !statement.is_empty() {
            self.statements.push(statement);
            self.in_body.push(in_body);
        }
    }

    fn declare(&mut self, words: &[Text], in_body: bool, heads: bool) {
        let is_name = |word: &Text| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
        let mut dotted = words.iter().take_while(|word| !is_name(word));
        let space = words.iter().find(|word| SPACES.contains(&&***word));
        let is_opaque = words.iter().any(|word| OPAQUE.contains(&&**word));
        let own = match (space, heads && dotted.any(|word| HEADS.contains(&&**word))) {
            (_, true) => Name::Function,
            (Some(_), _) if is_opaque => Name::Opaque,
            (Some(space), _) if *space == ".reg" => {
                let lanes = words.iter().find_map(|word| word.strip_prefix(".v")?.parse().ok());
                let ty = words.iter().find(|word| ScalarType::from_keyword(word).is_some());
                Name::Register(ty.cloned().unwrap_or_default(), lanes.unwrap_or(1))
            }
            (Some(space), _) => Name::Variable(space.clone(), in_body),
            (None, false) if heads && words.iter().any(is_name) => Name::Function,
            _ => return,
        };
        let names = match words.iter().position(|word| word.starts_with('.')) {
            Some(0) => words,
            _ if heads => words,
            _ => return,
        };
        // A value or a dimension may name others, but not at the depth of the declared names.
        let (mut depth, mut before) = (0_usize, None);
        for word in names {
            match &**word {
                "[" | "{" | "(" | "<" => depth += 1,
                "]" | "}" | ")" | ">" => depth = depth.saturating_sub(1),
                _ if depth == 0 && is_name(word) && before != Some("=") => {
                    self.names.entry(word.clone()).or_default().push(own.clone());
                }
                _ => {}
            }
            before = Some(&**word);
        }
    }

    /// Whether a name, or the common prefix of which it is one (5.4.6), is declared as something for which this holds.
    pub(super) fn is(&self, name: &str, is: impl Fn(&Name) -> bool) -> bool {
        let mut declared = written(name).filter(|written| self.is_one_of(name, written));
        declared.any(|written| self.names.get(written).is_some_and(|declared| declared.iter().any(&is)))
    }

    /// Whether a name is this one that a declaration writes, or one of those that it numbers (5.4.6).
    pub(super) fn is_one_of(&self, name: &str, declared: &str) -> bool {
        let numbers = || self.has(|[before, open]| before == declared && open == "<");
        name == declared || written(name).any(|prefix| prefix == declared) && numbers()
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.is(name, |declared| *declared == Name::Function)
    }

    /// The instructions of these opcodes, without labels and predicates.
    pub(super) fn instructions<'w>(&'w self, opcodes: &[&str]) -> impl Iterator<Item = &'w [Text]> {
        self.statements.iter().filter_map(move |words| {
            let at = words.iter().position(|word| opcodes.contains(&&**word))?;
            let guard = words[..at].iter().all(|word| word != "[" && word != ",");
            guard.then_some(&words[at..])
        })
    }

    /// Whether two or more words stand side by side for which this holds.
    pub(super) fn has<const N: usize>(&self, is: impl Fn([&str; N]) -> bool) -> bool {
        let holds = |run: &[Text]| is(std::array::from_fn(|at| &*run[at]));
        self.statements.iter().any(|words| words.windows(N).any(holds))
    }
}

/// A name, and each prefix of it behind which only digits follow.
fn written(name: &str) -> impl Iterator<Item = &str> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (name.len() - digits..=name.len()).rev().map(|written| &name[..written])
}

pub(super) fn integer(word: &str) -> Option<u64> {
    match read_number(word)? {
        Number::Integer { value, .. } => value,
        _ => None,
    }
}

/// What stands in each list of a statement, as far as the next brace.
pub(super) fn lists(own: &[Text]) -> impl Iterator<Item = &[Text]> {
    let behind = own.split(|word| word == "{").skip(1);
    behind.map(|rest| rest.split(|word| word == "}").next().unwrap_or_default())
}
