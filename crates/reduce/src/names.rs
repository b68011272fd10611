//! Finds the statements that declare and use each name, so that no candidate uses a name without its
//! declaration.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{self as syntax, Item, Module, NameLookup, Role, Text, Visit, numbered};

/// The names that statements declare and use. Scopes are ignored: a name that any function declares counts as
/// declared. So the reducer may keep too much, but never too little.
#[derive(Debug, Default)]
pub(crate) struct ModuleNames {
    declared: syntax::Names<Text>,
    mentioned: BTreeSet<Text>,
}

/// The degree to which a name is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DeclarationDegree {
    Undeclared,
    /// Only as a parameterized name that does not cover its number (5.4.6).
    WithoutNumber,
    Declared,
}

impl<'m> Visit<'m> for ModuleNames {
    fn name(&mut self, name: &'m Text, role: Role) {
        self.declared.declare_by_role(name, role, name.clone());
        if role == Role::Use {
            self.mentioned.insert(name.clone());
        }
    }
}

impl ModuleNames {
    pub(crate) fn from_module(module: &Module) -> ModuleNames {
        let mut names = ModuleNames::default();
        names.module(module);
        names
    }

    pub(crate) fn from_item(item: &Item) -> ModuleNames {
        let mut names = ModuleNames::default();
        names.item(item);
        names
    }

    /// Returns true if `smaller` uses a name that `self` declares and `smaller` does not.
    pub(crate) fn loses_declaration_in(&self, smaller: &ModuleNames) -> bool {
        smaller.mentioned.iter().any(|name| smaller.degree(name) < self.degree(name))
    }

    /// Returns true if a name occurs anywhere in the module.
    pub(crate) fn contains(&self, name: &Text) -> bool {
        self.mentioned.contains(name) || self.degree(name) > DeclarationDegree::Undeclared
    }

    /// Returns the used names that belong to a parameterized name, in order.
    pub(crate) fn mentioned_with_prefix(&self, prefix: &Text) -> impl Iterator<Item = &Text> {
        self.mentioned.iter().filter(move |name| {
            let found = self.declared.find(name, |_, digits| numbered(digits));
            matches!(found, NameLookup::Numbered(written, _) if written == prefix)
        })
    }

    fn degree(&self, name: &str) -> DeclarationDegree {
        match self.declared.find(name, |_, digits| numbered(digits)) {
            NameLookup::Plain(_) | NameLookup::Numbered(..) => DeclarationDegree::Declared,
            NameLookup::OtherNumber => DeclarationDegree::WithoutNumber,
            NameLookup::Nothing => DeclarationDegree::Undeclared,
        }
    }
}

/// The dependencies between the statements of a module.
pub(crate) struct Dependencies {
    /// For each statement, the statements that declare the names it uses.
    needs: Vec<BTreeSet<usize>>,
    /// For each statement, the statements that use the names it declares.
    needed_by: Vec<BTreeSet<usize>>,
}

impl Dependencies {
    pub(crate) fn new(module: &Module) -> Dependencies {
        let names: Vec<ModuleNames> = module.items.iter().map(ModuleNames::from_item).collect();
        // Names declared inside a function are visible only there, so only declarations at module scope
        // count.
        let mut outer: syntax::Names<&Text> = syntax::Names::default();
        let mut declaring: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        for (index, item) in module.items.iter().enumerate() {
            for (name, role) in item.declared() {
                outer.declare_by_role(name, role, name);
                declaring.entry(name).or_default().push(index);
            }
        }
        let mut needs = vec![BTreeSet::new(); names.len()];
        let mut needed_by = vec![BTreeSet::new(); names.len()];
        for (user, names) in names.iter().enumerate() {
            for name in &names.mentioned {
                if names.degree(name) == DeclarationDegree::Declared {
                    continue;
                }
                for candidate in outer.candidates(name) {
                    for &declarer in declaring.get(candidate.declared).into_iter().flatten() {
                        needs[user].insert(declarer);
                        needed_by[declarer].insert(user);
                    }
                }
            }
        }
        Dependencies { needs, needed_by }
    }

    /// Returns these statements and all their dependencies.
    pub(crate) fn with_dependencies(&self, statements: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needs, statements)
    }

    /// Returns these statements and everything that depends on them.
    pub(crate) fn with_dependents(&self, statements: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needed_by, statements)
    }
}

/// Returns everything that these statements lead to along the edges, themselves included.
fn closure(edges: &[BTreeSet<usize>], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = from.into_iter().collect();
    while let Some(index) = open.pop() {
        if reached.insert(index) {
            open.extend(&edges[index]);
        }
    }
    reached
}

/// Returns the part of a module that declares these names, with all its dependencies and the header; `None`
/// if no statement declares any of the names. A declaration of several variables is kept whole.
///
/// A caller that knows which variable shows the deviation can start reducing from its slice.
pub fn slice(module: &Module, names: &[&str]) -> Option<Module> {
    let declaring: Vec<usize> = (0..module.items.len())
        .filter(|&index| names.iter().any(|name| module.items[index].may_declare(name)))
        .collect();
    if declaring.is_empty() {
        return None;
    }
    let kept = Dependencies::new(module).with_dependencies(declaring);
    let items = module
        .items
        .iter()
        .enumerate()
        .filter(|(index, item)| item.is_header() || kept.contains(index))
        .map(|(_, item)| item.clone())
        .collect();
    Some(Module { items })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{parse, print};

    #[test]
    fn a_slice_holds_what_is_needed_and_the_header() {
        let module = parse(
            ".version 7.8 .global .b8 a; .global .b64 b = a; .global .b64 c = generic(b) + 4; .global .b8 d; \
             .func f() { ld.global.u64 %r1, [c+8]; ret; } .global .b64 e = f;",
        )
        .unwrap();
        let lines = |names: &[&str]| print(&slice(&module, names).unwrap()).lines().count();
        assert_eq!(lines(&["d"]), 2);
        assert_eq!(lines(&["c"]), 4);
        assert_eq!(print(&slice(&module, &["e"]).unwrap()).matches("ld.global.u64").count(), 1);
        assert_eq!(print(&slice(&module, &["e"]).unwrap()).matches(" .b8 d").count(), 0);
        assert_eq!(slice(&module, &["z"]), None);
    }

    #[test]
    fn functions_with_registers_of_one_name_do_not_need_each_other() {
        let module = parse(
            ".func f() { .reg .b32 %r<2>; mov.u32 %r1, 0; } .func g() { .reg .b32 %r<2>; mov.u32 %r1, 1; call f; }",
        )
        .unwrap();
        let needs = Dependencies::new(&module);
        assert_eq!(needs.with_dependencies([0]), BTreeSet::from([0]));
        assert_eq!(needs.with_dependencies([1]), BTreeSet::from([0, 1]));
        assert_eq!(needs.with_dependents([0]), BTreeSet::from([0, 1]));
    }

    #[test]
    fn a_parameterized_name_declares_its_numbered_ones() {
        let whole = ModuleNames::from_module(&parse(".global .b8 a<4>; .global .b64 b = a3;").unwrap());
        assert!(
            whole.loses_declaration_in(&ModuleNames::from_module(&parse(".global .b64 b = a3;").unwrap()))
        );
        assert!(whole.loses_declaration_in(&ModuleNames::from_module(
            &parse(".global .b8 a<3>; .global .b64 c = a3;").unwrap()
        )));
        assert!(!whole.loses_declaration_in(&ModuleNames::from_module(
            &parse(".global .b8 a<4>; .global .b64 c = a3;").unwrap()
        )));
        assert!(
            !whole.loses_declaration_in(&ModuleNames::from_module(
                &parse(".global .b64 b = unknown;").unwrap()
            ))
        );
    }

    #[test]
    fn the_prefix_of_a_numbered_name_may_end_in_a_digit() {
        let module =
            parse(".global .b8 a1<3>; .global .b8 a<9>; .global .b64 b = a12; .global .b64 c = a19;")
                .unwrap();
        let mut without = module.clone();
        without.items.remove(0);
        assert!(ModuleNames::from_module(&module).loses_declaration_in(&ModuleNames::from_module(&without)));
        let needs = Dependencies::new(&module);
        assert!(needs.with_dependencies([2]).contains(&0) && needs.with_dependents([0]).contains(&2));
        assert!(slice(&module, &["a12"]).is_some_and(|slice| slice.items.contains(&module.items[0])));
        // Without both declarations, `a12` is not declared at all.
        without.items.remove(0);
        assert!(ModuleNames::from_module(&module).loses_declaration_in(&ModuleNames::from_module(&without)));
    }
}
