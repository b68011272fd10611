//! A module as its words, which shapes are predicates of.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeMap, ops::Deref, ops::Range};

use ptxsmith_syntax::{Gap, Module, Number, ScalarType, Text, each_token, print, read_number};
use smallvec::SmallVec;

/// A module that is asked for its shapes. Its words are read when the first shape asks for them, and once.
pub struct Shaped<'m> {
    module: Cow<'m, Module>,
    read: OnceCell<Read>,
}

impl<'m> From<&'m Module> for Shaped<'m> {
    fn from(module: &'m Module) -> Shaped<'m> {
        Shaped { module: Cow::Borrowed(module), read: OnceCell::new() }
    }
}

impl From<Module> for Shaped<'_> {
    fn from(module: Module) -> Self {
        Shaped { module: Cow::Owned(module), read: OnceCell::new() }
    }
}

impl Deref for Shaped<'_> {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}

impl Shaped<'_> {
    fn read(&self) -> &Read {
        self.read.get_or_init(|| Read::of(&self.module))
    }

    /// All of the module, whichever function a name is declared in.
    pub(super) fn words(&self) -> Words<'_> {
        Words { read: self.read(), of: Part::All }
    }

    /// Whether this holds of what stands at module scope, or of a function with the names that are known in it.
    pub(super) fn any(&self, shape: impl Fn(&Words<'_>) -> bool) -> bool {
        let read = self.read();
        let functions = (0..read.functions.len()).map(Part::Function);
        [Part::Outside].into_iter().chain(functions).any(|of| shape(&Words { read, of }))
    }
}

/// The words of a module, statement by statement, and what its names are.
#[derive(Default)]
struct Read {
    words: Vec<Text>,
    statements: Vec<Statement>,
    /// The statements that do not belong to a function.
    outside: Vec<usize>,
    /// The statements of each function, its head included.
    functions: Vec<Range<usize>>,
    names: BTreeMap<Text, Declared>,
    inner: BTreeMap<Text, Vec<(usize, Entry)>>,
}

struct Statement {
    words: Range<usize>,
    in_body: bool,
}

/// What a name is declared as at module scope: most once.
type Declared = SmallVec<[Entry; 1]>;

/// A declaration of a name.
struct Entry {
    name: Name,
    /// Whether the name is the common prefix of many (5.4.6).
    is_prefix: bool,
}

/// What of a module is looked at.
#[derive(Clone, Copy)]
enum Part {
    All,
    Outside,
    Function(usize),
}

/// Statements of a module as words, with what the names in them are.
#[derive(Clone, Copy)]
pub(super) struct Words<'r> {
    read: &'r Read,
    of: Part,
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

impl Read {
    fn of(module: &Module) -> Read {
        let mut read = Read::default();
        let text = print(module);
        let (mut first, mut lists, mut depth) = (0, 0_usize, 0_usize);
        let (mut functions, mut is_head, mut of_a_line) = (0_usize, false, false);
        // A text that is printed from a tree has tokens throughout.
        for token in each_token(&text).map_while(Result::ok) {
            // These end with their line, and may have labels.
            if of_a_line && token.gap == Gap::Line {
                (of_a_line, is_head) = (false, false);
                read.words.truncate(first);
            }
            let word = token.text;
            let last = read.words[first..].last();
            let begins = last.is_none_or(|last| last == ":");
            of_a_line |= begins && [".loc", ".file"].contains(&&*word);
            match &*word {
                // Braces in a statement are a list, but behind the head of a function, or a label.
                "{" if lists > 0 || !is_head && last.is_some_and(|last| last != ":") => lists += 1,
                "}" if lists > 0 => lists -= 1,
                "{" | "}" | ";" => {
                    functions += usize::from(depth == 0 && is_head);
                    let function = (depth > 0 || is_head).then(|| functions.saturating_sub(1));
                    read.add(first, depth > 0, function);
                    first = read.words.len();
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
            match word.strip_prefix('.') {
                // Behind the digit of `.2d` the words of an opcode are one token.
                Some(several) if several.contains('.') => {
                    read.words.extend(several.split('.').map(|one| Text::from(format!(".{one}"))));
                }
                _ => read.words.push(word),
            }
        }
        let function = (depth > 0).then(|| functions.saturating_sub(1));
        read.add(first, depth > 0, function);
        read
    }

    /// Adds the words from this one on as a statement.
    fn add(&mut self, first: usize, in_body: bool, function: Option<usize>) {
        let words = std::mem::take(&mut self.words);
        let statement = &words[first..];
        // What is passed is declared in parentheses, one by one.
        let heads = statement.iter().any(|word| HEADS.contains(&&**word));
        if !in_body && function.is_some() {
            let head = statement.split(|word| ["(", ")", ","].contains(&&**word));
            head.for_each(|part| self.declare(part, (true, true), None, |name| *name == Name::Function));
        }
        let parts = statement.split(|word| heads && ["(", ")", ","].contains(&&**word));
        parts.for_each(|part| self.declare(part, (in_body || heads, heads), function, |_| true));
        if let Some(function) = function {
            let next = self.statements.len();
            self.functions.resize_with(self.functions.len().max(function + 1), || next..next);
        }
        if !statement.is_empty() {
            self.statements.push(Statement { words: first..words.len(), in_body });
            let at = self.statements.len() - 1;
            match function {
                Some(function) => self.functions[function].end = at + 1,
                None => self.outside.push(at),
            }
        }
        self.words = words;
    }

    /// Notes what a part of a statement declares, where it is something for which this holds.
    fn declare(
        &mut self,
        words: &[Text],
        (in_body, heads): (bool, bool),
        function: Option<usize>,
        counts: impl Fn(&Name) -> bool,
    ) {
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
        if !counts(&own) {
            return;
        }
        // A value or a dimension may name others, but not at the depth of the declared names.
        let (mut depth, mut before) = (0_usize, None);
        for (at, word) in names.iter().enumerate() {
            match &**word {
                "[" | "{" | "(" | "<" => depth += 1,
                "]" | "}" | ")" | ">" => depth = depth.saturating_sub(1),
                _ if depth == 0 && is_name(word) && before != Some("=") => {
                    let is_prefix = names.get(at + 1).is_some_and(|next| next == "<");
                    let entry = Entry { name: own.clone(), is_prefix };
                    match function {
                        Some(function) => self.inner.entry(word.clone()).or_default().push((function, entry)),
                        None => self.names.entry(word.clone()).or_default().push(entry),
                    }
                }
                _ => {}
            }
            before = Some(&**word);
        }
    }
}

impl<'r> Words<'r> {
    /// The statements, in order.
    pub(super) fn statements(self) -> impl Iterator<Item = &'r [Text]> + Clone {
        self.placed().map(|(statement, _)| statement)
    }

    /// The statements, in order, with whether each stands in a body.
    pub(super) fn placed(self) -> impl Iterator<Item = (&'r [Text], bool)> + Clone {
        let Read { words, statements, outside, functions, .. } = self.read;
        let (some, range) = match self.of {
            Part::All => (&[][..], 0..statements.len()),
            Part::Outside => (&outside[..], 0..0),
            Part::Function(function) => (&[][..], functions[function].clone()),
        };
        let all = some.iter().copied().chain(range);
        all.map(|at| (&words[statements[at].words.clone()], statements[at].in_body))
    }

    /// The names that are declared here.
    pub(super) fn names(self) -> impl Iterator<Item = &'r Text> {
        let outside = self.read.names.keys().filter(move |_| !matches!(self.of, Part::Function(_)));
        let inner = self.read.inner.keys().filter(move |name| self.inner(name).next().is_some());
        outside.chain(inner)
    }

    /// What functions declare under a name, of those that are looked at.
    fn inner(self, name: &str) -> impl Iterator<Item = &'r Entry> {
        let of_all = self.read.inner.get(name).map_or(&[][..], |all| all);
        let of = match self.of {
            Part::All => of_all,
            Part::Outside => &[],
            Part::Function(function) => {
                let first = of_all.partition_point(|(of, _)| *of < function);
                &of_all[first..of_all.partition_point(|(of, _)| *of <= function)]
            }
        };
        of.iter().map(|(_, entry)| entry)
    }

    /// What is declared under a name here, and not around it.
    fn own(self, name: &str) -> impl Iterator<Item = &'r Entry> {
        let outside = match self.of {
            Part::Function(_) => None,
            Part::All | Part::Outside => self.read.names.get(name),
        };
        outside.into_iter().flatten().chain(self.inner(name))
    }

    /// What a name, and the common prefixes of which it is one (5.4.6), are declared as.
    fn declared(self, name: &str) -> Vec<&'r Name> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let prefixes = (name.len() - digits..name.len()).map(|written| &name[..written]);
        let prefixes = prefixes.filter(|prefix| self.is_prefix(prefix));
        let own = [name].into_iter().chain(prefixes).flat_map(|name| self.own(name));
        let own: Vec<&Name> = own.map(|entry| &entry.name).collect();
        match self.of {
            Part::Function(_) if own.is_empty() => Words { of: Part::Outside, ..self }.declared(name),
            _ => own,
        }
    }

    /// Whether a name, or a common prefix of which it is one, is declared as something for which this holds.
    pub(super) fn is(self, name: &str, is: impl Fn(&Name) -> bool) -> bool {
        self.declared(name).into_iter().any(is)
    }

    /// Whether a name is declared as a function itself, and not as one of a common prefix.
    pub(super) fn is_function_itself(self, name: &str) -> bool {
        self.own(name).any(|entry| entry.name == Name::Function)
    }

    /// Whether anything declares a name.
    pub(super) fn declares(self, name: &str) -> bool {
        !self.declared(name).is_empty()
    }

    /// Whether a name is declared itself here, and not as one of a common prefix.
    pub(super) fn is_plain(self, name: &str) -> bool {
        self.own(name).next().is_some()
    }

    /// Whether a name is the common prefix of many that are declared here.
    pub(super) fn is_prefix(self, name: &str) -> bool {
        self.own(name).any(|entry| entry.is_prefix)
    }

    pub(super) fn is_function(self, name: &str) -> bool {
        self.is(name, |declared| *declared == Name::Function)
    }

    /// The instructions of these opcodes, without labels and predicates.
    pub(super) fn instructions(self, opcodes: &[&str]) -> impl Iterator<Item = &'r [Text]> {
        self.statements().filter_map(move |words| {
            let at = words.iter().position(|word| opcodes.contains(&&**word))?;
            let guard = words[..at].iter().all(|word| word != "[" && word != ",");
            guard.then_some(&words[at..])
        })
    }

    /// Whether two or more words stand side by side for which this holds.
    pub(super) fn has<const N: usize>(self, is: impl Fn([&str; N]) -> bool) -> bool {
        let holds = |run: &[Text]| is(std::array::from_fn(|at| &*run[at]));
        self.statements().any(|words| words.windows(N).any(holds))
    }
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

    #[test]
    fn a_block_behind_a_label_or_a_line_that_ends_without_a_semicolon_is_no_list() {
        let text = ".entry k() { .loc 1 5 0\n{ .param .u32 p; call f, (p); }\nL: O:\n.loc 1 6 0\n\
                    { .param .u32 q; call f, (q); } M: { .param .u32 r; } }";
        let module = module(text);
        let statements: Vec<_> = module.words().statements().collect();
        let inner = statements.iter().filter(|own| own[0] == ".param");
        assert_eq!(inner.count(), 3, "{statements:?}");
    }

    #[test]
    fn an_instruction_begins_behind_its_labels_and_its_predicate() {
        let module = module(".entry k() { L: @!p add.u32 a, b, c; add.s32 d, e, f; mov.u32 r, [add]; }");
        let words = module.words();
        let found: Vec<&str> = words.instructions(&["add"]).map(|own| &*own[1]).collect();
        assert_eq!(found, [".u32", ".s32"]);
    }

    #[test]
    fn an_operand_declares_nothing() {
        let module = module(".func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, no; call f; ret; }");
        let words = module.words();
        assert!(words.is_function("f") && words.declares("r"));
        assert!(!words.declares("no") && !words.is_function("no"));
    }

    #[test]
    fn what_is_passed_is_no_function_though_its_head_has_one() {
        let module = module(".visible .func (.param .u32 r) f(.param .u64 p) { ret; }\n.global .u32 v = f;");
        let words = module.words();
        assert!(words.is_function("f") && !words.is_function("p") && !words.is_function("r"));
        assert!(!words.is_function("v"));
    }
}
