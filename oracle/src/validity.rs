//! What may be said of a module as a whole: which of its parts the texts at hand do not decide.
//!
//! A part is *judged* where every rule that decides it is modelled, *refused* where a rule says no, and *undecided*
//! otherwise. The texts give declarations, constants, initializers and operands. So a statement, directive or instruction
//! that they do not describe is undecided, and so is a name that is declared twice. Whether an implementation takes the
//! header is for it to say.

use ptxsmith_syntax::{Declaration, Function, Item, Module, ScalarType, Span, Specifier, Statement};

use crate::{execution, expectation::Expectation, rules::Rules, undecided::Undecided};

const DIRECTIVE: &str = "a directive that the texts do not describe";
const SPECIFIER: &str = "a specifier that the texts do not describe";
const HEADER: &str = "a header of another form than .version, .target with one architecture, .address_size";

/// Before this version generic addresses are missing, and addresses of functions.
const INSTRUCTIONS_SINCE: Option<(u32, u32)> = Some((2, 1));
const EARLIER: &str = "instructions of a version before 2.1";

/// The parts of a module that are not decided, in the order in which they stand. `data` is what these rules expect of it.
pub(crate) fn undecided(module: &Module, rules: &Rules, data: &Expectation) -> Vec<Undecided> {
    let mut found = Found(Vec::new());
    found.header(module);
    for item in &module.items {
        match item {
            Item::Function(function) => {
                let mut statements = function.statements();
                let instructs = statements.any(|statement| matches!(statement, Statement::Instruction(_)));
                if instructs && module.version() < INSTRUCTIONS_SINCE {
                    found.push(function.name.text.to_string(), EARLIER, function.span);
                }
                found.function(function);
            }
            Item::Other(tokens) => {
                if let Some(first) = tokens.first() {
                    found.push(first.text.to_string(), DIRECTIVE, first.span);
                }
            }
            Item::Unread(unread) => found.0.push(Undecided::unread(unread)),
            Item::Variables(_) | Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
        }
    }
    match data {
        Expectation::Accepted { unmodelled: parts, .. } | Expectation::Unmodelled { parts, .. } => {
            found.0.extend(parts.iter().cloned());
        }
        Expectation::Refused { .. } => {}
    }
    if !matches!(data, Expectation::Refused { .. }) {
        for (function, reason, span) in execution::undecided(module, rules) {
            found.push(function, reason, span);
        }
    }
    let Found(mut all) = found;
    all.sort_by(|one, other| (one.span.start, &one.part).cmp(&(other.span.start, &other.part)));
    all.dedup_by(|one, other| one.span.start == other.span.start && one == other);
    all
}

struct Found(Vec<Undecided>);

impl Found {
    fn push(&mut self, part: String, reason: &'static str, span: Span) {
        self.0.push(Undecided { part, reason, span });
    }

    fn header(&mut self, module: &Module) {
        let begins = match &module.items[..] {
            [Item::Version(_), Item::Target(targets), rest @ ..] => {
                let architecture = |name: &str| {
                    let digits =
                        name.strip_prefix("sm_").map(|rest| rest.strip_suffix(['a', 'f']).unwrap_or(rest));
                    digits.is_some_and(|digits| {
                        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
                    })
                };
                let rest = if let [Item::AddressSize(_), rest @ ..] = rest { rest } else { rest };
                let one = matches!(&targets[..], [only] if architecture(&only.text));
                one && module.version().is_some() && !rest.iter().any(Item::is_header)
            }
            _ => false,
        };
        if !begins {
            self.push("header".into(), HEADER, Span::NONE);
        }
        let least = |version, what: &str| (module.version() < Some(version)).then(|| what.to_owned());
        let of = |declaration: &Declaration| declaration.scalar_type() == Some(ScalarType::B128);
        let uses = module.declarations().find(|declaration| of(declaration));
        if let (Some(declaration), Some(part)) = (uses, least((8, 3), ".b128")) {
            self.push(part, "a type that the texts do not give to this version", declaration.span);
        }
    }

    fn function(&mut self, function: &Function) {
        let mut words = function.before.iter().chain(&function.after);
        if words.any(|word| !matches!(word, Specifier::Linkage(_) | Specifier::Attributes(_))) {
            self.push(function.name.text.to_string(), SPECIFIER, function.span);
        }
        if let Some(first) = function.directives.first() {
            self.push(first.text.to_string(), DIRECTIVE, first.span);
        }
        for declaration in function.results.iter().chain(&function.parameters).flatten() {
            if declaration.specifiers.contains(&Specifier::Ptr) {
                self.push(".ptr".into(), SPECIFIER, declaration.span);
            }
        }
        for statement in function.statements() {
            match statement {
                Statement::Tokens(tokens) => {
                    if let Some(first) = tokens.first() {
                        self.push(first.text.to_string(), execution::NOT_MODELLED, first.span);
                    }
                }
                Statement::Unread(unread) => self.0.push(Undecided::unread(unread)),
                _ => {}
            }
        }
    }
}
