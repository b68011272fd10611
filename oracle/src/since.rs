//! Words and features that came with a later version or target. The specification at hand dates a few of
//! them, which are refused under an earlier header (`declaration.rs`). For the others it names no version, so
//! such a program is undecided.

use ptxsmith_syntax::{
    Declaration, Expr, Function, FunctionKind, Linkage, Module, NodeKind, Role, ScalarType, Span, Specifier,
    StateSpace, Statement, Text, Visit,
};
use std::collections::BTreeSet;

use crate::undecided::Undecided;

pub(crate) const SINCE: &str = "a word that the specification does not give to this version";
const TARGET: &str = "what the specification does not give to this target";
const EARLIER: &str = "instructions of a version before 2.1";
const ADDRESSES: &str = "an address as a value in a version before 2.1";
const LIST: &str = "parameters of a kernel in a version before 1.4";

/// The first version and the first target of a feature that came later than the rest.
#[derive(Clone, Copy)]
struct Introduction {
    version: (u32, u32),
    target: u32,
    word: &'static str,
}

/// Before this version, there are no generic addresses, and addresses of functions and variables are not values.
const ADDRESSES_SINCE: (u32, u32) = (2, 1);
/// Since this version, kernels have parameters in parentheses.
const PARAMETERS_SINCE: (u32, u32) = (1, 4);
const GENERIC: Introduction = Introduction { version: (3, 1), target: 20, word: "generic()" };
/// The first target with generic addresses, addresses of functions, and parameters passed in memory.
const CALLS: u32 = 20;
/// The first target with addresses of kernels.
const KERNELS: u32 = 35;

/// Returns when a word was introduced; `None` for words without a later date.
fn introduction(word: &Specifier) -> Option<Introduction> {
    let (version, target, word) = match word {
        Specifier::Type(ScalarType::B128) => ((8, 3), 70, ".b128"),
        Specifier::Type(ty) if ty.keyword() == ".f16x2" => ((4, 2), 53, ".f16x2"),
        Specifier::Type(ty) if ty.keyword() == ".f16" => ((4, 2), 0, ".f16"),
        Specifier::Linkage(Linkage::Common) => ((5, 0), 0, ".common"),
        Specifier::Linkage(Linkage::Weak) => ((3, 1), 0, ".weak"),
        _ => return None,
    };
    Some(Introduction { version, target, word })
}

/// Iterates over the declarations in the bodies of functions.
pub(crate) fn inner_declarations(module: &Module) -> impl Iterator<Item = &Declaration> {
    module.functions().flat_map(Function::statements).filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    })
}

/// Iterates over the declarations of parameters and results.
fn passed(module: &Module) -> impl Iterator<Item = &Declaration> {
    module.functions().flat_map(|f| f.results.iter().chain(&f.parameters)).flatten()
}

/// Returns the parts of a module that its version or its target may lack.
pub(crate) fn later_than(module: &Module) -> Vec<Undecided> {
    let header = HeaderCheck { version: module.version(), target: target(module), found: Vec::new() };
    header.check(module)
}

/// Returns the number of the target: 80 for `sm_80`.
fn target(module: &Module) -> Option<u32> {
    let digits = module.targets().find_map(|target| target.strip_prefix("sm_"))?;
    digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Collects the parts of a module that its version or its target may lack.
struct HeaderCheck {
    version: Option<(u32, u32)>,
    target: Option<u32>,
    found: Vec<Undecided>,
}

impl HeaderCheck {
    fn is_before(&self, version: (u32, u32)) -> bool {
        self.version < Some(version)
    }

    fn is_below(&self, target: u32) -> bool {
        self.target.is_some_and(|module_target| module_target < target)
    }

    fn push(&mut self, part: impl Into<String>, reason: &'static str, span: Span) {
        self.found.push(Undecided::new(part.into(), reason, span));
    }

    /// Reports a word that the version or the target of the module may lack.
    fn word(&mut self, introduced: Introduction, span: Span) {
        if self.is_before(introduced.version) {
            self.push(introduced.word, SINCE, span);
        } else if self.is_below(introduced.target) {
            self.push(introduced.word, TARGET, span);
        }
    }

    fn check(mut self, module: &Module) -> Vec<Undecided> {
        for declaration in module.declarations().chain(passed(module)).chain(inner_declarations(module)) {
            for introduced in declaration.specifiers.iter().filter_map(introduction) {
                self.word(introduced, declaration.span);
            }
        }
        for function in module.functions() {
            for introduced in function.before.iter().chain(&function.after).filter_map(introduction) {
                self.word(introduced, function.span);
            }
        }
        if self.is_before(GENERIC.version) || self.is_below(KERNELS) {
            self.values(module);
            module.functions().for_each(|function| self.function(module, function));
        }
        self.found
    }

    /// Checks the addresses in initial values.
    fn values(&mut self, module: &Module) {
        let kernels = names(module, |function| function.kind == FunctionKind::Entry);
        let functions = names(module, |_| true);
        for declaration in module.declarations().chain(inner_declarations(module)) {
            for declarator in &declaration.declarators {
                let mut nodes = declarator.values().flat_map(Expr::nodes);
                if nodes.any(|node| matches!(node.kind, NodeKind::Generic(_))) {
                    self.word(GENERIC, declaration.span);
                }
                let span = declarator.name.span;
                let used: Vec<&Text> = declarator.values().flat_map(Expr::names).collect();
                if self.is_before(ADDRESSES_SINCE) && !used.is_empty() {
                    self.push(declarator.name.text.to_string(), ADDRESSES, span);
                }
                if self.is_below(CALLS) && used.iter().any(|&name| functions.contains(name))
                    || self.is_below(KERNELS) && used.iter().any(|&name| kernels.contains(name))
                {
                    self.push(declarator.name.text.to_string(), TARGET, span);
                }
            }
        }
    }

    /// Checks the parameters and results of a function, and the features that its instructions may use.
    fn function(&mut self, module: &Module, function: &Function) {
        let name = &function.name.text;
        let is_kernel = function.kind == FunctionKind::Entry;
        if is_kernel && function.parameters.is_some() && self.is_before(PARAMETERS_SINCE) {
            self.push(name.to_string(), LIST, function.span);
        }
        let mut passed = function.results.iter().chain(&function.parameters).flatten();
        let in_memory = passed.any(|declaration| declaration.space() == Some(StateSpace::Param));
        if !is_kernel && in_memory && self.is_below(CALLS) {
            self.push(name.to_string(), TARGET, function.span);
        }
        if !function.statements().any(|statement| matches!(statement, Statement::Instruction(_))) {
            return;
        }
        if self.is_before(ADDRESSES_SINCE) {
            self.push(name.to_string(), EARLIER, function.span);
        } else if self.is_below(CALLS) || self.is_below(KERNELS) && uses_kernel(module, function) {
            self.push(name.to_string(), TARGET, function.span);
        }
    }
}

fn names(module: &Module, is_wanted: impl Fn(&Function) -> bool) -> BTreeSet<&Text> {
    module.functions().filter(|function| is_wanted(function)).map(|function| &function.name.text).collect()
}

/// Whether an instruction of a function names a kernel.
fn uses_kernel(module: &Module, function: &Function) -> bool {
    struct KernelUse<'m> {
        kernels: BTreeSet<&'m Text>,
        found: bool,
    }
    impl<'m> Visit<'m> for KernelUse<'m> {
        fn name(&mut self, name: &'m Text, role: Role) {
            self.found |= role == Role::Use && self.kernels.contains(name);
        }
    }
    let kernels = names(module, |function| function.kind == FunctionKind::Entry);
    let mut used = KernelUse { kernels, found: false };
    for statement in function.statements() {
        if let Statement::Instruction(instruction) = statement {
            used.instruction(instruction);
        }
    }
    used.found
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::parse;

    use super::*;

    /// Returns the parts of a program with this header that the header may lack.
    fn parts(version: &str, target: &str, text: &str) -> Vec<String> {
        let text = format!(".version {version}\n.target {target}\n.address_size 64\n{text}\n");
        later_than(&parse(&text).unwrap()).into_iter().map(|part| part.part).collect()
    }

    #[test]
    fn features_are_undecided_before_their_first_target() {
        let call = ".func (.param .u32 r) f(.param .u32 p) { ret; }";
        let kernel = ".entry k() { ret; }\n.global .u64 t = k;";
        let of_kernel = ".entry j() { ret; }\n.entry k() { .reg .u64 r; mov.u64 r, j; ret; }";
        for (text, part, first) in [
            (".global .f16x2 x;", ".f16x2", "sm_53"),
            (".func (.reg .b32 o) f(.reg .f16x2 i) { mov.b32 o, i; ret; }", ".f16x2", "sm_53"),
            (".entry k() { .reg .f16x2 r; }", ".f16x2", "sm_53"),
            (".global .b128 x;", ".b128", "sm_70"),
            (call, "f", "sm_20"),
            (".func f() { ret; }\n.global .u64 t = f;", "t", "sm_20"),
            (".global .u32 g;\n.global .u64 t = generic(g);", "generic()", "sm_20"),
            (kernel, "t", "sm_35"),
            (of_kernel, "k", "sm_35"),
        ] {
            let below = |target: &str| if target == "sm_20" { "sm_13" } else { "sm_30" };
            assert!(parts("8.3", below(first), text).contains(&part.to_owned()), "{text}");
            assert_eq!(parts("8.3", first, text), [""; 0], "{text}");
            assert_eq!(parts("8.3", "sm_90a", text), [""; 0], "{text}");
        }
        // Features of every target are decided for the first target too.
        assert_eq!(parts("8.3", "sm_10", ".global .u32 a = 1;\n.shared .f32 s[4];"), [""; 0]);
        assert_eq!(parts("8.3", "sm_10", ".global .f16 h;\n.global .u32 g;\n.global .u64 p = g;"), [""; 0]);
    }

    #[test]
    fn features_are_undecided_before_their_first_version() {
        let address = ".global .u32 g;\n.global .u64 t = g;";
        assert_eq!(parts("2.0", "sm_20", address), ["t"]);
        assert_eq!(parts("2.1", "sm_20", address), [""; 0]);
        let kernel = ".entry k(.param .u32 p) { }";
        assert_eq!(parts("1.3", "sm_13", kernel), ["k"]);
        assert_eq!(parts("1.4", "sm_13", kernel), [""; 0]);
        assert_eq!(parts("8.2", "sm_90", ".global .b128 x;"), [".b128"]);
        assert_eq!(parts("3.0", "sm_20", ".weak .func f() { }"), [".weak"]);
    }
}
