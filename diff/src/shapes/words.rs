//! A module as its words, which shapes are predicates of.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use ptxsmith_syntax::{Gap, Module, Number, ScalarType, Text, print, read_number, tokens};

/// A module as statements of words, with what the names in it are.
#[derive(Default)]
pub(super) struct Words {
    pub(super) statements: Vec<Vec<Text>>,
    /// Of each statement, whether it stands in a body.
    pub(super) in_body: Vec<bool>,
    pub(super) names: BTreeMap<Text, Vec<Name>>,
    /// The names that are the common prefix of many (5.4.6).
    numbered: BTreeSet<Text>,
    /// The names around a function.
    outer: Option<Rc<Words>>,
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

impl Name {
    pub(super) fn is_vector(&self) -> bool {
        matches!(self, Name::Register(_, lanes) if *lanes > 1)
    }
}

pub(super) const SPACES: [&str; 8] =
    [".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"];
pub(super) const OPAQUE: [&str; 3] = [".texref", ".samplerref", ".surfref"];
/// With these words begins what declares a function.
pub(super) const HEADS: [&str; 2] = [".entry", ".func"];

impl Words {
    /// All of a module, whichever function a name is declared in.
    pub(super) fn of(module: &Module) -> Words {
        let mut words = Words::default();
        each_statement(module, |statement, in_body, _| words.add(statement, in_body));
        words
    }

    /// Whether this holds of what stands at module scope, or of a function with the names that are known in it.
    pub(super) fn any(module: &Module, shape: impl Fn(&Words) -> bool) -> bool {
        let (mut outer, mut functions) = (Words::default(), Vec::<Words>::new());
        each_statement(module, |statement, in_body, function| {
            let is_head = !in_body && function.is_some();
            if is_head {
                outer.declare_functions(&statement);
            }
            match function {
                None => outer.add(statement, in_body),
                Some(function) => {
                    functions.resize_with(functions.len().max(function + 1), Words::default);
                    functions[function].add(statement, in_body);
                }
            }
        });
        let outer = Rc::new(outer);
        shape(&outer) || functions.into_iter().any(|own| shape(&Words { outer: Some(outer.clone()), ..own }))
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

    /// Declares the function of a head, and none of what is passed.
    fn declare_functions(&mut self, head: &[Text]) {
        let mut own = Words::default();
        for part in head.split(|word| ["(", ")", ","].contains(&&**word)) {
            own.declare(part, true, true);
        }
        own.names.retain(|_, declared| declared.contains(&Name::Function));
        for (name, declared) in own.names {
            self.names.entry(name).or_default().extend(declared);
        }
    }

    fn declare(&mut self, words: &[Text], in_body: bool, heads: bool) {
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
            (None, false) if heads && words.iter().any(|word| is_name(word)) => Name::Function,
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
            if word == "<"
                && depth == 0
                && let Some((prefix, _)) = before.and_then(|before: &str| self.names.get_key_value(before))
            {
                self.numbered.insert(prefix.clone());
            }
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

    /// What a name, and the common prefixes of which it is one (5.4.6), are declared as.
    fn declared<'w>(&'w self, name: &'w str) -> Vec<&'w Name> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let prefixes = (name.len() - digits..name.len()).map(|written| &name[..written]);
        let prefixes = prefixes.filter(|prefix| self.numbered.contains(*prefix));
        let own = [name].into_iter().chain(prefixes).filter_map(|name| self.names.get(name));
        let own: Vec<&Name> = own.flatten().collect();
        match &self.outer {
            Some(outer) if own.is_empty() => outer.declared(name),
            _ => own,
        }
    }

    /// Whether a name, or a common prefix of which it is one, is declared as something for which this holds.
    pub(super) fn is(&self, name: &str, is: impl Fn(&Name) -> bool) -> bool {
        self.declared(name).into_iter().any(is)
    }

    /// Whether anything declares a name.
    pub(super) fn declares(&self, name: &str) -> bool {
        !self.declared(name).is_empty()
    }

    /// Whether a name is declared itself, and not as one of a common prefix.
    pub(super) fn is_plain(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Whether a name is the common prefix of many that are declared here.
    pub(super) fn is_prefix(&self, name: &str) -> bool {
        self.numbered.contains(name)
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

/// Each statement of a module as its words, with whether it stands in a body, and the number of the function to which it belongs.
fn each_statement(module: &Module, mut take: impl FnMut(Vec<Text>, bool, Option<usize>)) {
    let text = print(module);
    let (mut statement, mut lists, mut depth): (Vec<Text>, usize, usize) = (Vec::new(), 0, 0);
    let (mut functions, mut is_head, mut of_a_line) = (0, false, false);
    for token in tokens(&text).unwrap_or_default() {
        // These end with their line, and may have labels.
        if of_a_line && token.gap == Gap::Line {
            (of_a_line, is_head) = (false, false);
            statement.clear();
        }
        let word = token.text;
        let begins = statement.last().is_none_or(|last| last == ":");
        of_a_line |= begins && [".loc", ".file"].contains(&&*word);
        match &*word {
            // Braces in a statement are a list, but behind the head of a function, or a label.
            "{" if lists > 0 || !is_head && statement.last().is_some_and(|last| last != ":") => lists += 1,
            "}" if lists > 0 => lists -= 1,
            "{" | "}" | ";" => {
                functions += usize::from(depth == 0 && is_head);
                let function = (depth > 0 || is_head).then(|| functions.saturating_sub(1));
                take(std::mem::take(&mut statement), depth > 0, function);
                depth = match &*word {
                    "{" => depth + 1,
                    "}" => depth.saturating_sub(1),
                    _ => depth,
                };
                (lists, is_head, of_a_line) = (0, false, false);
                continue;
            }
            _ => {}
        }
        is_head |= HEADS.contains(&&*word);
        statement.push(word);
    }
    let function = (depth > 0).then(|| functions.saturating_sub(1));
    take(statement, depth > 0, function);
}

/// The operands of an instruction: what stands behind the words of its opcode, of which some have a `::`.
pub(super) fn operands(own: &[Text]) -> &[Text] {
    let is_word =
        |at: usize| own[at].starts_with('.') || own[at].starts_with(':') || own[at - 1].ends_with(':');
    let first = (1..own.len()).find(|&at| !is_word(at));
    first.map_or(&[], |at| &own[at..])
}

/// Whether the result of an instruction, or what stands first in it, is `_`.
pub(super) fn sinks(own: &[Text]) -> bool {
    operands(own).first().is_some_and(|word| word == "_")
}

/// Whether a word is a name, by its first character (4.4).
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c))
}

pub(super) fn integer(word: &str) -> Option<u64> {
    match read_number(word)? {
        Number::Integer { value, .. } => value,
        _ => None,
    }
}

/// An integer modulo 2^64, as ptxas counts.
pub(super) fn wrapped(word: &str) -> Option<u64> {
    match read_number(word)? {
        Number::Integer { wrapped, .. } => Some(wrapped),
        _ => None,
    }
}

/// Whether a word is an integer as it is written, of whatever size.
pub(super) fn is_integer(word: &str) -> bool {
    matches!(read_number(word), Some(Number::Integer { .. }))
}

/// What stands in each list of a statement, as far as the next brace.
pub(super) fn lists(own: &[Text]) -> impl Iterator<Item = &[Text]> {
    let behind = own.split(|word| word == "{").skip(1);
    behind.map(|rest| rest.split(|word| word == "}").next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn a_block_behind_a_label_or_a_line_that_ends_without_a_semicolon_is_no_list() {
        let text = ".entry k() { .loc 1 5 0\n{ .param .u32 p; call f, (p); }\nL: O:\n.loc 1 6 0\n\
                    { .param .u32 q; call f, (q); } M: { .param .u32 r; } }";
        let statements = Words::of(&module(text)).statements;
        let inner = |own: &&Vec<Text>| own[0] == ".param";
        assert_eq!(statements.iter().filter(inner).count(), 3, "{statements:?}");
    }
}
