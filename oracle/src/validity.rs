//! Decides which parts of a module the specification at hand leaves undecided.
//!
//! A part is *judged* if every rule that decides it is modelled, *refused* if a rule forbids it, and *undecided*
//! otherwise. The specification at hand describes declarations, constants, initializers and operands. Any other
//! statement, directive or instruction is undecided, and so is a name that is declared twice. Whether an implementation
//! accepts the version and target in the header is left to the implementation.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Instruction, Item, Linkage, Module, Name, Names,
    Opcode, Operand, Role, ScalarType, Span, Specifier, StateSpace, Statement, Text, TypeKind, Visit,
};

use crate::{
    declaration::{LINKAGE, declares_no_name},
    execution,
    expectation::{Expectation, Variable},
    rules::Rules,
    since::{inner_declarations, later_than},
    undecided::Undecided,
};

const DIRECTIVE: &str = "a directive that the texts do not describe";
const SPECIFIER: &str = "a specifier that the texts do not describe";
const HEADER: &str = "a header of another form than .version, .target with one architecture, .address_size";

pub(crate) const NAME: &str = "a name that the texts do not speak of";
const PROTOTYPES: &str = "a function whose declarations the texts do not speak of";
const RESULTS: &str = "results that the texts do not speak of: of a kernel, or several";
const EXPRESSION: &str = "an expression where the texts show a number";
pub(crate) const SIZE: &str = "a size that implementations need not have";
const SPACE: &str = "a state space that the texts do not give to a variable of this type in this place";
const ORDER: &str = "a name that is used above its declaration";
pub(crate) const SEVERAL: &str = "a name of which several are declared in scopes around it";
/// The bytes of parameters that every implementation supports, and their largest alignment.
const PARAMETERS: u64 = 4096;
const PARAMETER_ALIGN: u64 = 128;
/// The bytes of `.const` that every implementation supports, and the size, count or alignment from which a declaration
/// is undecided.
pub(crate) const CONSTANT: u64 = 1 << 16;
const LARGE: u64 = 1 << 31;
/// The special registers of the instruction set, without `%` and without numbers at the end.
const SPECIAL: [&str; 37] = [
    "aggr_smem_size",
    "clock",
    "clock_hi",
    "cluster_ctaid",
    "cluster_ctarank",
    "cluster_nctaid",
    "cluster_nctarank",
    "clusterid",
    "ctaid",
    "current_graph_exec",
    "dynamic_smem_size",
    "envreg",
    "globaltimer",
    "globaltimer_hi",
    "globaltimer_lo",
    "gridid",
    "is_explicit_cluster",
    "laneid",
    "lanemask_eq",
    "lanemask_ge",
    "lanemask_gt",
    "lanemask_le",
    "lanemask_lt",
    "nclusterid",
    "nctaid",
    "nsmid",
    "ntid",
    "nwarpid",
    "pm",
    "reserved_smem_offset_",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_cap",
    "reserved_smem_offset_end",
    "smid",
    "tid",
    "total_smem_size",
    "warpid",
];

/// Whether a name is a special register, or differs from one only in its number.
pub fn special_register(name: &str) -> bool {
    let without_number = |name: &str| {
        let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        // For `%pm3_64`, `pm3_` is left: the counter number is inside the name.
        SPECIAL.contains(&name)
            || name.strip_prefix("pm").is_some_and(|rest| {
                rest.strip_suffix('_').is_some_and(|rest| rest.bytes().all(|letter| letter.is_ascii_digit()))
            })
    };
    name.strip_prefix('%').is_some_and(without_number)
}

/// Whether the specification at hand does not make this a name: the sink `_`, the constant `WARP_SZ`, and special
/// registers.
pub(crate) fn is_odd_name(name: &str) -> bool {
    name == "WARP_SZ" || name.len() < 2 && name.starts_with(['_', '$', '%']) || special_register(name)
}

/// Returns the undecided parts of a module in source order. `data` is the expectation of the module under the same
/// rules.
pub(crate) fn undecided(module: &Module, rules: &Rules, data: &Expectation) -> Vec<Undecided> {
    let mut found = Found(Vec::new());
    found.header(module);
    found.names(module);
    found.prototypes(module);
    found.counts(module);
    found.order(module);
    let mut scope = Names::default();
    for (name, role) in module.items.iter().flat_map(Item::declared) {
        scope.declare_by_role(name, role, ());
    }
    for item in &module.items {
        match item {
            Item::Function(function) => {
                found.function(function, &scope);
            }
            Item::Other(tokens) => {
                if let Some(first) = tokens.first() {
                    found.push(first.text.to_string(), DIRECTIVE, first.span);
                }
            }
            // Declarations without a name are refused.
            Item::Unread(unread) if declares_no_name(unread) => {}
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

/// Collects the names that functions use before their declaration, in source order.
#[derive(Default)]
struct Order {
    declared: Names<()>,
    early: BTreeMap<Text, Span>,
    /// The position of the current instruction.
    at: Span,
}

impl<'m> Visit<'m> for Order {
    // Names in initializers belong to the open question about forward references.
    fn declarator(&mut self, declarator: &'m Declarator) {
        self.name(&declarator.name.text, declarator.role());
    }

    fn instruction(&mut self, instruction: &'m Instruction) {
        self.at = instruction.span;
        if let Some(guard) = &instruction.guard {
            self.name(&guard.predicate.text, Role::Use);
        }
        instruction.operands.iter().for_each(|operand| self.operand(operand));
    }

    fn name(&mut self, name: &'m Text, role: Role) {
        match role {
            Role::Use if self.declared.candidates(name).next().is_none() => {
                self.early.entry(name.clone()).or_insert(self.at);
            }
            Role::Use | Role::Label => {}
            role => self.declared.declare_by_role(name, role, ()),
        }
    }
}

/// Collects all declared names except the parameters of prototypes, which may be unnamed.
#[derive(Default)]
struct Declared(Vec<Name>);

impl Declared {
    fn module(&mut self, module: &Module) {
        let inner = module.declarations().chain(inner_declarations(module));
        let passed = module.functions().filter(|function| function.body.is_some());
        let passed = passed.flat_map(|f| f.results.iter().chain(&f.parameters)).flatten();
        let declarators = inner.chain(passed).flat_map(|declaration| &declaration.declarators);
        self.0.extend(declarators.map(|declarator| declarator.name.clone()));
        for function in module.functions() {
            self.0.push(function.name.clone());
            self.0.extend(function.statements().filter_map(|statement| match statement {
                Statement::Label(label) => Some(label.clone()),
                _ => None,
            }));
        }
    }
}

struct Found(Vec<Undecided>);

impl Found {
    fn push(&mut self, part: String, reason: &'static str, span: Span) {
        self.0.push(Undecided::new(part, reason, span));
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
                let rest = match rest {
                    [Item::AddressSize(bits), rest @ ..] if ["32", "64"].contains(&&*bits.text) => rest,
                    rest => rest,
                };
                let one = matches!(&targets[..], [only] if architecture(&only.text));
                one && module.version().is_some() && !rest.iter().any(Item::is_header)
            }
            _ => false,
        };
        if !begins {
            self.push("header".into(), HEADER, Span::NONE);
        }
        self.0.extend(later_than(module));
    }

    /// Reports unusual names. The specification at hand does not define identifiers. We accept what every
    /// implementation accepts: names that begin with a letter or have more than one character, and are not special
    /// registers.
    fn names(&mut self, module: &Module) {
        let mut declared = Declared::default();
        declared.module(module);
        for name in declared.0.iter().filter(|name| is_odd_name(&name.text)) {
            self.push(name.text.to_string(), NAME, name.span);
        }
    }

    /// Reports functions whose declarations the specification at hand does not cover: how often a function may be
    /// declared, what its declarations must share, and whether a function that is not `.extern` needs a definition.
    /// Prototypes before their definition are accepted by every implementation.
    fn prototypes(&mut self, module: &Module) {
        let mut of_name: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in module.functions() {
            of_name.entry(&function.name.text).or_default().push(function);
        }
        for (name, functions) in of_name {
            let (Some(last), Some(first)) = (functions.last(), functions.first()) else { continue };
            // Everything declared except the names of parameters; attributes in source order.
            let lists = |function: &Function| {
                let unnamed = |list: &Option<Vec<Declaration>>| -> Vec<_> {
                    let one = |own: &Declaration| {
                        let dimensions = own.declarators.iter().map(|own| own.dimensions.clone());
                        (own.specifiers.clone(), dimensions.collect::<Vec<_>>())
                    };
                    list.iter().flatten().map(one).collect()
                };
                let words = function.before.iter().chain(&function.after);
                let attributes = words.filter(|word| matches!(word, Specifier::Attributes(_))).cloned();
                let attributes: Vec<_> = attributes.collect();
                (function.kind, unnamed(&function.parameters), unnamed(&function.results), attributes)
            };
            let linkage = |function: &Function| {
                function.before.iter().find_map(|word| match word {
                    Specifier::Linkage(linkage) => Some(*linkage),
                    _ => None,
                })
            };
            let is_extern = |function: &Function| linkage(function) == Some(Linkage::Extern);
            let defined = last.body.is_some() && !functions.iter().any(|function| is_extern(function));
            let external = functions.len() == 1 && is_extern(last) && last.kind == FunctionKind::Func;
            let alike = functions
                .iter()
                .all(|function| lists(function) == lists(first) && linkage(function) == linkage(first))
                && functions[..functions.len() - 1].iter().all(|function| function.body.is_none());
            if !(alike && (defined || external)) {
                self.push(name.to_owned(), PROTOTYPES, last.span);
            }
        }
    }

    /// Reports sizes beyond what every implementation supports; the specification at hand sets no limit.
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

    /// Reports attribute arguments other than integer constants (5.4.8). Whether they may be expressions is undecided.
    fn attributes<'m>(&mut self, words: impl IntoIterator<Item = &'m Specifier>) {
        for word in words {
            let Specifier::Attributes(list) = word else { continue };
            for argument in list.iter().flat_map(|attribute| &attribute.arguments) {
                if argument.as_integer().is_none() {
                    self.push(".attribute".into(), EXPRESSION, argument.span());
                }
            }
        }
    }

    /// Reports counts of parameterized names and alignments other than plain numbers. Whether they may be expressions
    /// is undecided.
    fn counts(&mut self, module: &Module) {
        for function in module.functions() {
            self.attributes(function.before.iter().chain(&function.after));
        }
        for declaration in module.declarations().chain(inner_declarations(module)) {
            if declaration.specifiers.contains(&Specifier::Ptr) {
                self.push(".ptr".into(), SPECIFIER, declaration.span);
            }
            self.attributes(&declaration.specifiers);
            for count in declaration.declarators.iter().filter_map(|declarator| declarator.count.as_ref()) {
                match count.as_integer() {
                    None => self.push("<...>".into(), EXPRESSION, count.span()),
                    Some(count) if count >= LARGE => self.push("<...>".into(), SIZE, declaration.span),
                    Some(_) => {}
                }
            }
            match declaration.align().map(|align| align.as_integer()) {
                Some(None) => self.push(".align".into(), EXPRESSION, declaration.span),
                Some(Some(align)) if align >= LARGE => self.push(".align".into(), SIZE, declaration.span),
                _ => {}
            }
            self.space(declaration);
        }
        for declaration in module.functions().flat_map(|f| f.results.iter().chain(&f.parameters)).flatten() {
            let too_much = |expr: &Expr, most| expr.as_integer().is_none_or(|n| n > most);
            let mut dimensions = declaration.declarators.iter().flat_map(|d| d.dimensions.iter().flatten());
            if dimensions.any(|dimension| too_much(dimension, PARAMETERS))
                || declaration.align().is_some_and(|align| too_much(align, PARAMETER_ALIGN))
            {
                self.push(".param".into(), SIZE, declaration.span);
            }
        }
        for function in module.functions().filter(|function| function.kind == FunctionKind::Entry) {
            for declaration in function.parameters.iter().flatten() {
                if declaration.space() == Some(StateSpace::Reg) {
                    self.push(".reg".into(), SPACE, declaration.span);
                }
            }
        }
    }

    /// Reports declarations in state spaces that the specification at hand does not cover: `.sreg`, which programs do
    /// not declare; `.tex`, which another chapter describes; and vectors and unusual types in `.param`.
    fn space(&mut self, declaration: &Declaration) {
        let in_param = || {
            let is_vector = declaration.specifiers.iter().any(|word| matches!(word, Specifier::Vector(_)));
            let odd = |ty: ScalarType| ty.kind() == TypeKind::Predicate || ty.keyword().contains("f16");
            is_vector || declaration.scalar_type().is_none_or(odd)
        };
        let is_odd = match declaration.space() {
            Some(StateSpace::Sreg | StateSpace::Tex) => true,
            Some(StateSpace::Param) => in_param(),
            _ => false,
        };
        if is_odd {
            self.push("declaration".into(), SPACE, declaration.span);
        }
    }

    /// Reports names that a function uses before their declaration; the specification at hand does not say whether that
    /// is allowed. Labels may be used ahead.
    fn order(&mut self, module: &Module) {
        let mut all = Order::default();
        all.module(module);
        for (name, span) in std::mem::take(&mut all.early) {
            if all.declared.candidates(&name).next().is_some() {
                self.push(name.to_string(), ORDER, span);
            }
        }
    }

    fn function(&mut self, function: &Function, scope: &Names<()>) {
        let mut words = function.before.iter().chain(&function.after);
        let is_plain = |word: &Specifier| match word {
            Specifier::Linkage(_) => true,
            Specifier::Attributes(list) => {
                let mut known = list.iter().map(|own| [".managed", ".unified"].contains(&&*own.name.text));
                !list.is_empty() && known.all(|known| known)
            }
            _ => false,
        };
        if !words.all(is_plain) {
            self.push(function.name.text.to_string(), SPECIFIER, function.span);
        }
        let mut behind_first = function.before.iter().skip(1).chain(&function.after);
        let is_elsewhere = |word: &Specifier| *word == Specifier::Linkage(Linkage::Extern);
        let has_body_elsewhere = function.body.is_some() && function.before.iter().any(is_elsewhere);
        if has_body_elsewhere || behind_first.any(|word| matches!(word, Specifier::Linkage(_))) {
            self.push(function.name.text.to_string(), LINKAGE, function.span);
        }
        if let Some(first) = function.directives.first() {
            self.push(first.text.to_string(), DIRECTIVE, first.span);
        }
        let results = function.results.as_ref().map_or(0, Vec::len);
        if results > 1 || function.kind == FunctionKind::Entry && function.results.is_some() {
            self.push(function.name.text.to_string(), RESULTS, function.span);
        }
        for declaration in function.results.iter().chain(&function.parameters).flatten() {
            if let Some(unnamed) = declaration.declarators.iter().find(|own| own.name.text == "_") {
                self.push("_".into(), NAME, unnamed.name.span);
            }
            if declaration.specifiers.contains(&Specifier::Ptr) {
                self.push(".ptr".into(), SPECIFIER, declaration.span);
            }
            self.space(declaration);
        }
        // Early compilers left out this semicolon.
        if function.body.is_none() && !function.semicolon {
            self.push(function.name.text.to_string(), PROTOTYPES, function.span);
        }
        let labels: BTreeSet<&Text> = function
            .statements()
            .filter_map(|statement| match statement {
                Statement::Label(label) => Some(&label.text),
                _ => None,
            })
            .collect();
        let mut is_labelled = false;
        let mut ahead = labels.clone();
        let mut own = Names::default();
        let passed = function.results.iter().chain(&function.parameters).flatten();
        let declared = function.statements().filter_map(|statement| match statement {
            Statement::Variables(declaration) => Some(declaration),
            _ => None,
        });
        for declarator in passed.chain(declared).flat_map(|declaration| &declaration.declarators) {
            own.declare_by_role(&declarator.name.text, declarator.role(), ());
        }
        for statement in function.statements() {
            let behind_label = std::mem::replace(&mut is_labelled, matches!(statement, Statement::Label(_)));
            match statement {
                Statement::Label(label) => drop(ahead.remove(&label.text)),
                // In front of the label, the branch may mean a variable of another scope with the same name.
                Statement::Instruction(branch) if branch.opcode == Opcode::Bra => {
                    let target = branch.operands.first().and_then(|operand| match operand {
                        Operand::Value(expr) => expr.as_name(),
                        _ => None,
                    });
                    if let Some(target) = target.filter(|name| ahead.contains(&name.text))
                        && scope.candidates(&target.text).chain(own.candidates(&target.text)).next().is_some()
                    {
                        self.push(target.text.to_string(), SEVERAL, branch.span);
                    }
                }
                // A table that no instruction can name, or with a target that is not a label.
                Statement::BranchTargets(table)
                    if !behind_label || !table.targets.iter().all(|target| labels.contains(&target.text)) =>
                {
                    self.push(".branchtargets".into(), DIRECTIVE, table.span);
                }
                Statement::Tokens(tokens) => {
                    if let Some(first) = tokens.first() {
                        let span = tokens.last().map_or(first.span, |last| first.span.to(last.span));
                        self.push(first.text.to_string(), execution::NOT_MODELLED, span);
                    }
                }
                Statement::Unread(unread) => self.0.push(Undecided::unread(unread)),
                _ => {}
            }
        }
    }
}
