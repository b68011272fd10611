//! What may be said of a module as a whole: which of its parts the texts at hand do not decide.
//!
//! A part is *judged* where every rule that decides it is modelled, *refused* where a rule says no, and *undecided*
//! otherwise. The texts give declarations, constants, initializers and operands. So a statement, directive or instruction
//! that they do not describe is undecided, and so is a name that is declared twice. Whether an implementation takes the
//! header is for it to say.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Declaration, Function, FunctionKind, Item, Linkage, Module, Name, ScalarType, Span, Specifier,
    StateSpace, Statement,
};

use crate::{
    execution,
    expectation::{Expectation, Variable},
    rules::Rules,
    undecided::Undecided,
};

const DIRECTIVE: &str = "a directive that the texts do not describe";
const SPECIFIER: &str = "a specifier that the texts do not describe";
const HEADER: &str = "a header of another form than .version, .target with one architecture, .address_size";

/// Before this version generic addresses are missing, and addresses of functions.
const INSTRUCTIONS_SINCE: Option<(u32, u32)> = Some((2, 1));
const NAME: &str = "a name that the texts do not speak of";
const PROTOTYPES: &str = "a function whose declarations the texts do not speak of";
const EXPRESSION: &str = "an expression where the texts show a number";
const SIZE: &str = "a size that implementations need not have";
/// The bytes of constants, and of others, that everybody has.
const CONSTANT: u64 = 1 << 16;
const LARGE: u64 = 1 << 31;
/// What names of special registers begin with.
const SPECIAL: [&str; 22] = [
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "clock",
    "lanemask",
    "globaltimer",
    "pm0",
    "pm1",
    "pm2",
    "pm3",
    "envreg",
    "cluster",
    "total_smem",
    "dynamic_smem",
    "is_explicit",
];
const EARLIER: &str = "instructions of a version before 2.1";

/// The parts of a module that are not decided, in the order in which they stand. `data` is what these rules expect of it.
pub(crate) fn undecided(module: &Module, rules: &Rules, data: &Expectation) -> Vec<Undecided> {
    let mut found = Found(Vec::new());
    found.header(module);
    found.names(module);
    found.prototypes(module);
    found.counts(module);
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
    if let Expectation::Accepted { variables, .. } = data {
        found.sizes(variables);
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

    /// Which names there are the texts at hand do not say, but that names are declared: those that everybody takes begin with a letter,
    /// or have more than one character, and are none of a special register.
    fn names(&mut self, module: &Module) {
        let is_odd = |name: &Name| {
            let text: &str = &name.text;
            text == "WARP_SZ"
                || text.len() < 2 && text.starts_with(['_', '$', '%'])
                || text
                    .strip_prefix('%')
                    .is_some_and(|rest| SPECIAL.iter().any(|special| rest.starts_with(special)))
        };
        let variables = module.declarators().map(|declarator| &declarator.name);
        for name in
            variables.chain(module.functions().map(|function| &function.name)).filter(|name| is_odd(name))
        {
            self.push(name.text.to_string(), NAME, name.span);
        }
    }

    /// How often a function may be declared, what its declarations must have in common, and whether one that is not `.extern` has to be
    /// defined, the texts do not say. Prototypes before their definition everybody takes.
    fn prototypes(&mut self, module: &Module) {
        let mut of_name: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in module.functions() {
            of_name.entry(&function.name.text).or_default().push(function);
        }
        for (name, functions) in of_name {
            let (Some(last), Some(first)) = (functions.last(), functions.first()) else { continue };
            let lists = |function: &Function| {
                let length = |list: &Option<Vec<Declaration>>| list.as_ref().map_or(0, Vec::len);
                (function.kind, length(&function.parameters), length(&function.results))
            };
            let is_extern = |function: &Function| {
                let linkage = |word: &Specifier| *word == Specifier::Linkage(Linkage::Extern);
                function.before.iter().any(linkage)
            };
            let defined = last.body.is_some() && !functions.iter().any(|function| is_extern(function));
            let external = functions.len() == 1 && is_extern(last) && last.kind == FunctionKind::Func;
            let alike = functions.iter().all(|function| lists(function) == lists(first))
                && functions[..functions.len() - 1].iter().all(|function| function.body.is_none());
            if !(alike && (defined || external)) {
                self.push(name.to_owned(), PROTOTYPES, last.span);
            }
        }
    }

    /// How much an implementation has to hold the texts do not say.
    fn sizes(&mut self, variables: &[Variable]) {
        let constant = variables.iter().filter(|variable| variable.space == StateSpace::Const);
        let constant = constant.fold(0_u64, |sum, variable| sum.saturating_add(variable.size));
        if constant > CONSTANT {
            self.push(".const".into(), SIZE, Span::NONE);
        }
        for variable in variables.iter().filter(|variable| variable.size >= LARGE) {
            self.push(variable.name.to_string(), SIZE, Span::NONE);
        }
    }

    /// A count of names and an alignment are numbers where the texts show them; whether they may be expressions they do not say.
    fn counts(&mut self, module: &Module) {
        let statements = module.functions().flat_map(Function::statements);
        let inner = statements.filter_map(|statement| match statement {
            Statement::Variables(declaration) => Some(declaration),
            _ => None,
        });
        for declaration in module.declarations().chain(inner) {
            if declaration.specifiers.contains(&Specifier::Ptr) {
                self.push(".ptr".into(), SPECIFIER, declaration.span);
            }
            for count in declaration.declarators.iter().filter_map(|declarator| declarator.count.as_ref()) {
                match count.as_integer() {
                    None => self.push("<...>".into(), EXPRESSION, count.span()),
                    Some(count) if count >= LARGE => self.push("<...>".into(), SIZE, declaration.span),
                    Some(_) => {}
                }
            }
            if declaration.align().is_some_and(|align| align.as_integer().is_none()) {
                self.push(".align".into(), EXPRESSION, declaration.span);
            }
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
