//! Decides which parts of a module the specification at hand leaves undecided.
//!
//! A part is *judged* if every rule that decides it is modelled, *refused* if a rule forbids it, and *undecided*
//! otherwise. The specification at hand describes declarations, constants, initializers and operands. Any other
//! statement, directive or instruction is undecided, and so is a name that is declared twice. Whether an implementation
//! accepts the version and target in the header is left to the implementation.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Function, FunctionKind, Instruction, Item, Linkage, Module, Name, Names,
    Opcode, Operand, Role, Span, Specifier, StateSpace, Statement, Text, TypeKind, Visit,
};

use crate::{
    declaration::{LINKAGE, declares_no_name},
    execution,
    expectation::{Expectation, Variable},
    rules::Rules,
    since::{inner_declarations, later_than},
    undecided::Undecided,
};

const DIRECTIVE: &str = "a directive that the specification does not describe";
const SPECIFIER: &str = "a specifier that the specification does not describe";
const HEADER: &str = "a header of another form than .version, .target with one architecture, .address_size";

pub(crate) const NAME: &str = "a name that the specification does not mention";
const PROTOTYPES: &str = "a function whose declarations the specification does not mention";
const RESULTS: &str = "results that the specification does not mention: of a kernel, or several";
const EXPRESSION: &str = "an expression where the specification shows a number";
pub(crate) const SIZE: &str = "a size that implementations need not have";
const SPACE: &str =
    "a state space that the specification does not give to a variable of this type in this place";
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
    let Some(name) = name.strip_prefix('%') else { return false };
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    // For `%pm3_64`, `pm3_` remains: the counter number is inside the name.
    let counter = name.strip_prefix("pm").and_then(|rest| rest.strip_suffix('_'));
    SPECIAL.contains(&name)
        || counter.is_some_and(|number| number.bytes().all(|letter| letter.is_ascii_digit()))
}

/// Whether the specification at hand does not make this a name: the sink `_`, the constant `WARP_SZ`, and special
/// registers.
pub(crate) fn is_odd_name(name: &str) -> bool {
    name == "WARP_SZ" || name.len() < 2 && name.starts_with(['_', '$', '%']) || special_register(name)
}

/// Returns the undecided parts of a module in source order. `data` is the expectation of the module under the same
/// rules.
pub(crate) fn undecided(module: &Module, rules: &Rules, data: &Expectation) -> Vec<Undecided> {
    let mut found = UndecidedParts(Vec::new());
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
    let UndecidedParts(mut parts) = found;
    parts.sort_by(|one, other| (one.span.start, &one.part).cmp(&(other.span.start, &other.part)));
    parts.dedup_by(|one, other| one.span.start == other.span.start && one == other);
    parts
}

/// Collects the names that functions use before their declaration, in source order.
#[derive(Default)]
struct EarlyUses {
    declared: Names<()>,
    early: BTreeMap<Text, Span>,
    /// The position of the current instruction.
    at: Span,
}

impl<'m> Visit<'m> for EarlyUses {
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
struct NameDeclarations(Vec<Name>);

impl NameDeclarations {
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

/// Whether a module begins with the header that every implementation reads: `.version`, `.target` with one
/// architecture, and perhaps `.address_size`.
fn has_usual_header(module: &Module) -> bool {
    let [Item::Version(_), Item::Target(targets), rest @ ..] = &module.items[..] else { return false };
    let [target] = &targets[..] else { return false };
    let rest = match rest {
        [Item::AddressSize(bits), rest @ ..] if ["32", "64"].contains(&&*bits.text) => rest,
        rest => rest,
    };
    is_architecture(&target.text) && module.version().is_some() && !rest.iter().any(Item::is_header)
}

/// Whether a target is an architecture: `sm_90`, `sm_90a`.
fn is_architecture(target: &str) -> bool {
    let Some(number) = target.strip_prefix("sm_") else { return false };
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// The parts of a function's declaration that its other declarations must repeat: all except the names of parameters.
#[derive(PartialEq)]
struct Signature<'m> {
    kind: FunctionKind,
    linkage: Option<Linkage>,
    parameters: Vec<UnnamedDeclaration<'m>>,
    results: Vec<UnnamedDeclaration<'m>>,
    /// The attributes in source order.
    attributes: Vec<&'m Specifier>,
}

impl<'m> Signature<'m> {
    fn new(function: &'m Function) -> Signature<'m> {
        let words = function.before.iter().chain(&function.after);
        Signature {
            kind: function.kind,
            linkage: linkage(function),
            parameters: function.parameters.iter().flatten().map(unnamed).collect(),
            results: function.results.iter().flatten().map(unnamed).collect(),
            attributes: words.filter(|word| matches!(word, Specifier::Attributes(_))).collect(),
        }
    }
}

/// The specifiers of a declaration, and the dimensions of each declarator.
type UnnamedDeclaration<'m> = (&'m [Specifier], Vec<&'m [Option<Expr>]>);

fn unnamed(declaration: &Declaration) -> UnnamedDeclaration<'_> {
    let dimensions = declaration.declarators.iter().map(|declarator| &declarator.dimensions[..]);
    (&declaration.specifiers, dimensions.collect())
}

/// Returns the linking directive of a function.
fn linkage(function: &Function) -> Option<Linkage> {
    function.before.iter().find_map(|word| match word {
        Specifier::Linkage(linkage) => Some(*linkage),
        _ => None,
    })
}

/// Whether a word of a function's declaration is a linking directive, or a list of known attributes.
fn is_plain_word(word: &Specifier) -> bool {
    match word {
        Specifier::Linkage(_) => true,
        Specifier::Attributes(list) => {
            let mut names = list.iter().map(|attribute| attribute.name.text.as_str());
            !list.is_empty() && names.all(|name| [".managed", ".unified"].contains(&name))
        }
        _ => false,
    }
}

/// Whether a parameter in `.param` is a vector, or of a type that is unusual there.
fn is_odd_parameter(declaration: &Declaration) -> bool {
    let is_vector = declaration.specifiers.iter().any(|word| matches!(word, Specifier::Vector(_)));
    is_vector
        || declaration
            .scalar_type()
            .is_none_or(|ty| ty.kind() == TypeKind::Predicate || ty.keyword().contains("f16"))
}

/// Whether an expression is not a plain number up to this limit.
fn exceeds(expr: &Expr, most: u64) -> bool {
    expr.as_integer().is_none_or(|number| number > most)
}

struct UndecidedParts(Vec<Undecided>);

impl UndecidedParts {
    fn push(&mut self, part: String, reason: &'static str, span: Span) {
        self.0.push(Undecided::new(part, reason, span));
    }

    fn header(&mut self, module: &Module) {
        if !has_usual_header(module) {
            self.push("header".into(), HEADER, Span::NONE);
        }
        self.0.extend(later_than(module));
    }

    /// Reports unusual names. The specification at hand does not define identifiers. We accept what every
    /// implementation accepts: names that begin with a letter or have more than one character, and are not special
    /// registers.
    fn names(&mut self, module: &Module) {
        let mut declared = NameDeclarations::default();
        declared.module(module);
        for name in declared.0.iter().filter(|name| is_odd_name(&name.text)) {
            self.push(name.text.to_string(), NAME, name.span);
        }
    }

    /// Reports functions with declarations that the specification at hand does not cover. It does not say how often a
    /// function may be declared, what its declarations must share, and whether a function that is not `.extern` needs a
    /// definition. Prototypes before their definition are accepted by every implementation.
    fn prototypes(&mut self, module: &Module) {
        let mut by_name: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in module.functions() {
            by_name.entry(&function.name.text).or_default().push(function);
        }
        for (name, functions) in by_name {
            let Some((&last, prototypes)) = functions.split_last() else { continue };
            let are_alike = prototypes.iter().all(|prototype| {
                prototype.body.is_none() && Signature::new(prototype) == Signature::new(last)
            });
            let is_extern = linkage(last) == Some(Linkage::Extern);
            let is_defined = last.body.is_some() && !is_extern;
            let is_external = prototypes.is_empty() && is_extern && last.kind == FunctionKind::Func;
            if !are_alike || !is_defined && !is_external {
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
            let mut dimensions = declaration.declarators.iter().flat_map(|d| d.dimensions.iter().flatten());
            if dimensions.any(|dimension| exceeds(dimension, PARAMETERS))
                || declaration.align().is_some_and(|align| exceeds(align, PARAMETER_ALIGN))
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
        let is_odd = match declaration.space() {
            Some(StateSpace::Sreg | StateSpace::Tex) => true,
            Some(StateSpace::Param) => is_odd_parameter(declaration),
            _ => false,
        };
        if is_odd {
            self.push("declaration".into(), SPACE, declaration.span);
        }
    }

    /// Reports names that a function uses before their declaration; the specification at hand does not say whether that
    /// is allowed. Labels may be used ahead.
    fn order(&mut self, module: &Module) {
        let mut uses = EarlyUses::default();
        uses.module(module);
        for (name, span) in std::mem::take(&mut uses.early) {
            if uses.declared.candidates(&name).next().is_some() {
                self.push(name.to_string(), ORDER, span);
            }
        }
    }

    /// Reports the parts of a function that the specification at hand does not describe.
    fn function(&mut self, function: &Function, scope: &Names<()>) {
        let mut words = function.before.iter().chain(&function.after);
        if !words.all(is_plain_word) {
            self.push(function.name.text.to_string(), SPECIFIER, function.span);
        }
        let mut behind_first = function.before.iter().skip(1).chain(&function.after);
        let is_extern = function.before.contains(&Specifier::Linkage(Linkage::Extern));
        if function.body.is_some() && is_extern
            || behind_first.any(|word| matches!(word, Specifier::Linkage(_)))
        {
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
            let mut declarators = declaration.declarators.iter();
            if let Some(unnamed) = declarators.find(|declarator| declarator.name.text == "_") {
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
        self.statements(function, scope);
    }

    /// Reports statements that the specification at hand does not describe, and uses of labels that another declaration may
    /// hide.
    fn statements(&mut self, function: &Function, scope: &Names<()>) {
        let labels: BTreeSet<&Text> = function
            .statements()
            .filter_map(|statement| match statement {
                Statement::Label(label) => Some(&label.text),
                _ => None,
            })
            .collect();
        let mut is_labelled = false;
        let mut ahead = labels.clone();
        let mut local = Names::default();
        let passed = function.results.iter().chain(&function.parameters).flatten();
        let declared = function.statements().filter_map(|statement| match statement {
            Statement::Variables(declaration) => Some(declaration),
            _ => None,
        });
        for declarator in passed.chain(declared).flat_map(|declaration| &declaration.declarators) {
            local.declare_by_role(&declarator.name.text, declarator.role(), ());
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
                    let Some(target) = target.filter(|name| ahead.contains(&name.text)) else { continue };
                    let mut others = scope.candidates(&target.text).chain(local.candidates(&target.text));
                    if others.next().is_some() {
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
