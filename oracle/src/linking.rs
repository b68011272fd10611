//! Links several modules into one program: which declarations refer to the same variable, and what it must contain
//! (5.4.1, 5.4.4, 5.4.5).
//!
//! The specification at hand describes single modules. It still decides three things about a linked program: the
//! alignments of all declarations hold for the variable in the program; its initial contents come from one of its
//! definitions; an address in an initializer refers to the variable or function that has this name in the program. It
//! leaves open which of several definitions is chosen.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{
    Declaration, Declarator, Function, FunctionKind, Item, Linkage, Module, Role, StateSpace, Text, Visit,
};

use crate::expectation::{Expectation, Variable};
use crate::layout::{DeclarationScope, DeclaratorLayout, expect};
use crate::refusal::Stop;
use crate::rules::Rules;

/// The combined declarations of several modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CombinedDeclarations {
    /// The variables that modules share, by name.
    pub shared: BTreeMap<Text, Vec<ModuleDeclaration>>,
    /// The variables visible only in their own module.
    pub local: Vec<(Text, ModuleDeclaration)>,
    /// The kernels that name no functions and declare no constants.
    pub kernels: Vec<KernelReferences>,
    /// The parts that are not judged: the index of the module, the name if there is one, and the reason.
    pub undecided: Vec<(usize, Option<Text>, &'static str)>,
}

/// A kernel and the names that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReferences {
    /// The name of the kernel.
    pub name: Text,
    /// Every name used in its body.
    pub names: BTreeSet<Text>,
}

impl KernelReferences {
    /// Returns the function as a kernel. `None` if it is not a kernel, names functions, or declares constants (which
    /// are visible nowhere else).
    fn new(function: &Function, module: &Module) -> Option<KernelReferences> {
        if function.kind != FunctionKind::Entry {
            return None;
        }
        let mut body = KernelBody::default();
        body.function(function);
        let names_function = module
            .items
            .iter()
            .any(|item| matches!(item, Item::Function(function) if body.names.contains(&function.name.text)));
        let is_followed = !body.declares_constants && !names_function;
        is_followed.then(|| KernelReferences { name: function.name.text.clone(), names: body.names })
    }
}

#[derive(Default)]
struct KernelBody {
    names: BTreeSet<Text>,
    declares_constants: bool,
}

impl<'m> Visit<'m> for KernelBody {
    fn name(&mut self, name: &'m Text, role: Role) {
        if role == Role::Use {
            self.names.insert(name.clone());
        }
    }

    fn declaration(&mut self, declaration: &'m Declaration) {
        self.declares_constants |= declaration.space() == Some(StateSpace::Const);
        declaration.declarators.iter().for_each(|declarator| self.declarator(declarator));
    }
}

/// One module's declaration of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDeclaration {
    /// The index of the module.
    pub module: usize,
    /// The linking directive; `None` for a variable visible only in its module.
    pub linkage: Option<Linkage>,
    /// The state space.
    pub space: StateSpace,
    /// The size in bytes; 0 if the declaration of an array omits it.
    pub size: u64,
    /// The alignment that the declaration requires.
    pub align: u64,
    /// The initial contents, if this is a definition in `.global` or `.const`.
    pub content: Option<Variable>,
    /// Whether the declaration has an initializer.
    pub has_initial_value: bool,
}

impl ModuleDeclaration {
    /// Whether the declaration allocates the variable.
    pub fn is_definition(&self) -> bool {
        self.linkage != Some(Linkage::Extern)
    }

    /// Whether the specification allows no second definition beside this one: it is neither weak, nor common without an
    /// initializer.
    pub fn is_strong(&self) -> bool {
        match self.linkage {
            Some(Linkage::Visible) => true,
            Some(Linkage::Common) => self.has_initial_value,
            _ => false,
        }
    }
}

/// Combines the declarations of these modules. `Err` holds the index of the first module that the specification rejects
/// by itself.
pub fn link(modules: &[Module], rules: &Rules) -> Result<CombinedDeclarations, usize> {
    let mut program = CombinedDeclarations::default();
    for (place, module) in modules.iter().enumerate() {
        let mut contents: BTreeMap<Text, Variable> = match expect(module, rules) {
            Expectation::Refused { .. } => return Err(place),
            Expectation::Unmodelled { reason, .. } => {
                program.undecided.push((place, None, reason));
                BTreeMap::new()
            }
            Expectation::Accepted { variables, unmodelled, .. } => {
                for undecided in unmodelled {
                    let name = undecided.part.trim_start_matches("variable ").into();
                    program.undecided.push((place, Some(name), undecided.reason));
                }
                variables.into_iter().map(|variable| (variable.name.clone(), variable)).collect()
            }
        };
        let scope = DeclarationScope::new(module, rules);
        for item in &module.items {
            let declaration = match item {
                Item::Variables(declaration) => declaration,
                Item::Function(function) => {
                    program.kernels.extend(KernelReferences::new(function, module));
                    continue;
                }
                _ => continue,
            };
            for declarator in &declaration.declarators {
                let content = contents.remove(&declarator.name.text);
                match declared(place, declaration, declarator, &scope, rules, content) {
                    Ok(declared) => program.add(declarator.name.text.clone(), declared),
                    Err(reason) => {
                        program.undecided.push((place, Some(declarator.name.text.clone()), reason))
                    }
                }
            }
        }
    }
    Ok(program)
}

fn declared(
    module: usize,
    declaration: &Declaration,
    declarator: &Declarator,
    scope: &DeclarationScope,
    rules: &Rules,
    content: Option<Variable>,
) -> Result<ModuleDeclaration, &'static str> {
    let linkage = declaration.linkage().next();
    let layout = DeclaratorLayout::new(declaration, declarator, scope, rules).map_err(|stop| match stop {
        Stop::Unmodelled(reason) => reason,
        Stop::Refused(_) => "it is refused alone",
    })?;
    if layout.count.is_some() {
        return Err("a parameterized name: the specification does not say how it is linked");
    }
    let (space, size, align) = (layout.space, layout.shape.size(rules), layout.align);
    let has_content = matches!(space, StateSpace::Global | StateSpace::Const);
    if has_content && content.is_none() && linkage != Some(Linkage::Extern) {
        return Err("its content is not judged");
    }
    let has_initial_value = declarator.initializer.is_some();
    Ok(ModuleDeclaration { module, linkage, space, size, align, content, has_initial_value })
}

impl CombinedDeclarations {
    /// Whether some declared variable has no definition in any module.
    pub fn lacks_definition(&self) -> bool {
        self.shared.values().any(|declared| !declared.iter().any(ModuleDeclaration::is_definition))
    }

    /// Why the specification does not decide the result of linking: a variable has two strong definitions
    /// ([`ModuleDeclaration::is_strong`]), or modules declare it in different state spaces. `None`: no
    /// contradiction.
    pub fn contradiction(&self) -> Option<&'static str> {
        for declared in self.shared.values() {
            if declared.iter().filter(|declaration| declaration.is_strong()).count() > 1 {
                return Some("a variable with two definitions, neither weak nor common");
            }
            if declared.iter().any(|declaration| declaration.space != declared[0].space) {
                return Some("a variable that modules declare in different state spaces");
            }
        }
        None
    }

    /// Returns the state space of a variable; `None` for a function or an unknown name.
    pub fn space_of(&self, name: &str) -> Option<StateSpace> {
        let shared = self.shared.get(name).into_iter().flatten();
        let local = self.local.iter().filter(|(local, _)| local == name).map(|(_, declared)| declared);
        shared.chain(local).next().map(|declared| declared.space)
    }

    fn add(&mut self, name: Text, declared: ModuleDeclaration) {
        match declared.linkage {
            Some(_) => self.shared.entry(name).or_default().push(declared),
            None => self.local.push((name, declared)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    fn linked(texts: &[&str]) -> Result<CombinedDeclarations, usize> {
        let parse = |text: &&str| ptxsmith_syntax::parse(&format!("{HEADER}{text}")).unwrap();
        link(&texts.iter().map(parse).collect::<Vec<_>>(), &Rules::default())
    }

    #[test]
    fn every_declaration_of_a_name_speaks_of_one_variable() {
        let program = linked(&[
            ".common .global .align 4 .u32 c[4];",
            ".common .global .align 64 .u32 c[4]; .global .u8 own = 3;",
            ".extern .global .u32 c[];",
        ])
        .unwrap();
        let sizes: Vec<u64> = program.shared["c"].iter().map(|declared| declared.size).collect();
        assert_eq!(sizes, [16, 16, 0]);
        let alignments: Vec<u64> = program.shared["c"].iter().map(|declared| declared.align).collect();
        assert_eq!(alignments, [4, 64, 4]);
        let definitions = program.shared["c"].iter().filter(|declared| declared.is_definition());
        assert_eq!(definitions.count(), 2);
        assert_eq!(program.local[0].1.content.as_ref().unwrap().bytes, [3]);
    }

    #[test]
    fn a_module_that_is_refused_alone_is_named() {
        assert_eq!(linked(&[".global .u8 a;", ".extern .global .u8 b = 1;"]), Err(1));
    }
}
