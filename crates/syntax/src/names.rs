//! Scopes and name lookup, including parameterized names: `r<12>` declares `r0` to `r11` (5.4.6).
//!
//! Each scope is a [`Names`]. An inner scope refers to the outer scope and hides its declarations of the same name.

use std::{collections::BTreeMap, ops::Bound, rc::Rc};

use crate::{
    Text,
    expr::Expr,
    tree::{Declarator, Item, Module, Specifier},
    types::{Linkage, StateSpace},
    visit::{Role, Visit},
};

/// The names declared in one scope, with a value of type `T` for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names<T> {
    plain: BTreeMap<Text, T>,
    /// Parameterized names by prefix, with the count.
    numbered: BTreeMap<Text, (T, u64)>,
    outer: Option<Rc<Names<T>>>,
}

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names { plain: BTreeMap::new(), numbered: BTreeMap::new(), outer: None }
    }
}

/// The result of looking up a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLookup<'a, T> {
    /// The name is declared as written.
    Plain(&'a T),
    /// The name is a declared prefix followed by this number, which is below the count.
    Numbered(&'a T, u64),
    /// The name is a declared prefix followed by digits, but not one of the declared names.
    OtherNumber,
    /// The name is not declared.
    Nothing,
}

impl<'a, T> NameLookup<'a, T> {
    /// Returns the declaration, if the name is declared.
    pub fn declared(self) -> Option<&'a T> {
        match self {
            NameLookup::Plain(declared) | NameLookup::Numbered(declared, _) => Some(declared),
            NameLookup::OtherNumber | NameLookup::Nothing => None,
        }
    }
}

/// A declaration that a name may refer to.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a, T> {
    /// The value stored for the declaration.
    pub declared: &'a T,
    /// The length in bytes of the part that the declaration writes: the whole name, or the prefix of a parameterized name.
    pub written: usize,
    /// The count of a parameterized name; `None` for a plain name.
    pub count: Option<u64>,
}

impl<T> Names<T> {
    /// Creates an empty scope inside another.
    pub fn within(outer: Rc<Names<T>>) -> Names<T> {
        Names { outer: Some(outer), ..Names::default() }
    }

    /// Returns true if declaring `name` with this role would collide with a declaration of the same scope. Ignores outer scopes.
    pub fn declares(&self, name: &str, role: Role) -> bool {
        match role {
            Role::Prefix(count) => {
                self.numbered.contains_key(name)
                    || self.numbers(name, count).next().is_some()
                    || self.overlaps(name, count)
            }
            Role::Variable | Role::Function | Role::Label | Role::Use => {
                self.find_here(name, |_, digits| numbered(digits)).declared().is_some()
            }
        }
    }

    /// Returns the plain names of this scope that `prefix<count>` would declare too.
    fn numbers(&self, prefix: &str, count: u64) -> impl Iterator<Item = &Text> {
        let after =
            self.plain.range::<str, _>((Bound::Included(prefix), Bound::Unbounded)).map(|(name, _)| name);
        let with_prefix = after.map_while(move |name| Some((name, name.strip_prefix(prefix)?)));
        with_prefix.filter(move |(_, number)| is_number_below(count, number)).map(|(name, _)| name)
    }

    /// Returns true if a parameterized name of this scope shares a name with `prefix<count>` although the prefixes differ:
    /// `r<12>` and `r1<3>` both declare `r10` and `r11`.
    fn overlaps(&self, prefix: &str, count: u64) -> bool {
        let digits = prefix.bytes().rev().take_while(u8::is_ascii_digit).count();
        let mut shorter = (prefix.len() - digits..prefix.len()).filter_map(|at| {
            let (_, others) = self.numbered.get(&prefix[..at])?;
            Some((&prefix[at..], *others))
        });
        let behind = (Bound::Excluded(prefix), Bound::Unbounded);
        let mut longer = self
            .numbered
            .range::<str, _>(behind)
            .map_while(|(name, (_, others))| Some((name.strip_prefix(prefix)?, *others)));
        shorter.any(|(digits, others)| shares_a_name(digits, count, others))
            || longer.any(|(digits, others)| shares_a_name(digits, others, count))
    }

    /// Declares a name and replaces an earlier declaration of it.
    pub fn declare(&mut self, name: Text, declared: T) {
        self.plain.insert(name, declared);
    }

    /// Declares a name unless this scope already declares it.
    pub fn declare_new(&mut self, name: Text, declared: T) {
        self.plain.entry(name).or_insert(declared);
    }

    /// Declares `count` names with a prefix. Replaces an earlier declaration of the prefix, and removes the plain names that
    /// the new names equal.
    pub fn declare_numbered(&mut self, prefix: Text, declared: T, count: u64) {
        let hidden: Vec<Text> = self.numbers(&prefix, count).cloned().collect();
        hidden.iter().for_each(|name| drop(self.plain.remove(name)));
        self.numbered.insert(prefix, (declared, count));
    }

    /// Declares a name according to its role, with the count that the role carries. A use declares nothing.
    pub fn declare_by_role(&mut self, name: &Text, role: Role, declared: T) {
        match role {
            Role::Prefix(count) => self.declare_numbered(name.clone(), declared, count),
            Role::Variable | Role::Function | Role::Label => self.declare(name.clone(), declared),
            Role::Use => {}
        }
    }

    /// Returns the declarations of this scope that a name may refer to, without checking the number against the count: the
    /// plain name first, then parameterized names, shortest prefix first. `r12` may be in `r<13>` or in `r1<3>`.
    pub fn candidates<'a>(&'a self, name: &str) -> impl Iterator<Item = Candidate<'a, T>> {
        let whole = name.len();
        let plain = self.plain.get(name).map(|declared| Candidate { declared, written: whole, count: None });
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let numbered = (whole - digits..whole).filter_map(move |written| {
            let (declared, count) = self.numbered.get(&name[..written])?;
            Some(Candidate { declared, written, count: Some(*count) })
        });
        plain.into_iter().chain(numbered)
    }

    /// Looks up a name in this scope and the outer ones. `number` converts a prefix and digits to a number; the name is
    /// declared if the number is below the count (5.4.6). For the specification's rule, pass [`numbered`] of the digits.
    pub fn find(&self, name: &str, number: impl Fn(&str, &str) -> Option<u64>) -> NameLookup<'_, T> {
        let (mut scope, mut found) = (Some(self), NameLookup::Nothing);
        while let Some(names) = scope {
            match names.find_here(name, &number) {
                NameLookup::Nothing => {}
                NameLookup::OtherNumber => found = NameLookup::OtherNumber,
                declared => return declared,
            }
            scope = names.outer.as_deref();
        }
        found
    }

    fn find_here(&self, name: &str, number: impl Fn(&str, &str) -> Option<u64>) -> NameLookup<'_, T> {
        let (mut found, mut plain) = (NameLookup::Nothing, None);
        for Candidate { declared, written, count } in self.candidates(name) {
            let Some(count) = count else {
                plain = Some(declared);
                continue;
            };
            let (prefix, digits) = name.split_at(written);
            match number(prefix, digits).filter(|&nth| nth < count) {
                // A plain name hides a numbered one only if they are equal under the specification's rule. If they are equal
                // only under the caller's rule, that rule identifies the two, and the numbered one is returned.
                Some(nth) if plain.is_none() || !is_number_below(count, digits) => {
                    return NameLookup::Numbered(declared, nth);
                }
                Some(_) => {}
                None => found = NameLookup::OtherNumber,
            }
        }
        plain.map_or(found, NameLookup::Plain)
    }
}

impl Item {
    /// Returns true if the statement may declare this name at module scope. Ignores the count of a parameterized name.
    pub fn may_declare(&self, name: &str) -> bool {
        let mut names = Names::default();
        self.declared().for_each(|(declared, role)| names.declare_by_role(declared, role, ()));
        names.candidates(name).next().is_some()
    }
}

/// Parses the number in a parameterized name. Returns `None` for leading zeros: `r<12>` declares `r1` but not `r01` (5.4.6).
pub fn numbered(digits: &str) -> Option<u64> {
    let is_printed = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_printed)
}

fn is_number_below(count: u64, digits: &str) -> bool {
    numbered(digits).is_some_and(|nth| nth < count)
}

/// Returns true if `prefix<shorter>` and a longer `prefixDIGITS<longer>` share a name. It suffices to check the first name
/// of the longer prefix, because it has the smallest number.
fn shares_a_name(digits: &str, longer: u64, shorter: u64) -> bool {
    longer > 0
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && is_number_below(shorter, &format!("{digits}0"))
}

/// Collects the names that the statements declare in any scope, each with the name as its declaration writes it.
pub fn declared(items: &[Item]) -> Names<Text> {
    struct DeclaredNames(Names<Text>);
    impl<'m> Visit<'m> for DeclaredNames {
        fn name(&mut self, name: &'m Text, role: Role) {
            self.0.declare_by_role(name, role, name.clone());
        }
    }
    let mut declared = DeclaredNames(Names::default());
    items.iter().for_each(|item| declared.item(item));
    declared.0
}

/// Returns the module variables with initializers that use the address of a function (if `functions`) or of a `.const`
/// variable (if `constants`), in source order.
///
/// In an executable, such an address may look like a plain number that only a loader can recognize as an address.
pub fn holders_of_addresses(
    module: &Module,
    functions: bool,
    constants: bool,
) -> impl Iterator<Item = &Declarator> {
    let mut names = Names::default();
    for item in &module.items {
        let is_wanted = match item {
            Item::Function(_) => functions,
            Item::Variables(declaration) => constants && declaration.space() == Some(StateSpace::Const),
            _ => false,
        };
        item.declared().filter(|_| is_wanted).for_each(|(name, role)| names.declare_by_role(name, role, ()));
    }
    module.declarators().filter(move |declarator| {
        let mut used = declarator.values().flat_map(Expr::names);
        used.any(|name| names.candidates(name).next().is_some())
    })
}

/// Returns true if only relocatable output shows the whole module: an initializer uses the address of a function or of a
/// `.const` variable, a declaration is `.unified`, or a function is `.extern`.
pub fn needs_relocatable_form(module: &Module) -> bool {
    struct UnifiedAttribute(bool);
    impl<'m> Visit<'m> for UnifiedAttribute {
        fn specifier(&mut self, specifier: &'m Specifier) {
            if let Specifier::Attributes(list) = specifier {
                self.0 |= list.iter().any(|attribute| attribute.name.text == ".unified");
            }
        }
    }
    let mut unified = UnifiedAttribute(false);
    unified.module(module);
    let is_extern = Specifier::Linkage(Linkage::Extern);
    unified.0
        || module.functions().any(|function| function.before.contains(&is_extern))
        || holders_of_addresses(module, true, true).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn found(names: &Names<char>, name: &str) -> Option<(char, u64)> {
        match names.find(name, |_, digits| numbered(digits)) {
            NameLookup::Numbered(&declared, number) => Some((declared, number)),
            NameLookup::Plain(_) | NameLookup::OtherNumber | NameLookup::Nothing => None,
        }
    }

    #[test]
    fn the_numbers_below_the_count_are_names_as_they_are_printed() {
        let mut names = Names::default();
        names.declare_numbered("r".into(), 'a', 12);
        assert_eq!(found(&names, "r0"), Some(('a', 0)));
        assert_eq!(found(&names, "r11"), Some(('a', 11)));
        for other in ["r12", "r01", "r00", "r", "s1", "r1x", "r18446744073709551617"] {
            assert_eq!(found(&names, other), None, "{other}");
        }
    }

    #[test]
    fn a_name_may_be_of_a_prefix_that_ends_in_a_digit() {
        let mut names = Names::default();
        names.declare_numbered("r1".into(), 'b', 3);
        assert_eq!(found(&names, "r12"), Some(('b', 2)));
        names.declare_numbered("r".into(), 'a', 13);
        assert_eq!(found(&names, "r12"), Some(('a', 12)), "the shorter prefix first");
        assert_eq!(found(&names, "r102"), None);
        names.declare("r12".into(), 'c');
        let candidates: String = names.candidates("r12").map(|candidate| candidate.declared).collect();
        assert_eq!(candidates, "cab");
    }

    #[test]
    fn numbered_names_of_an_inner_scope_hide_plain_ones_of_the_outer() {
        let mut names = Names::default();
        for name in ["r", "r1", "r01", "r2", "r3", "ra1"] {
            names.declare(name.into(), 'o');
        }
        names.declare_numbered("r".into(), 'i', 3);
        let of = |name| names.find(name, |_, digits| numbered(digits)).declared().copied();
        assert_eq!(["r0", "r1", "r2"].map(of), [Some('i'); 3]);
        assert_eq!(["r", "r01", "r3", "ra1"].map(of), [Some('o'); 4]);
        names.declare("r1".into(), 'x');
        assert_eq!(names.find("r1", |_, digits| digits.parse().ok()), NameLookup::Plain(&'x'));
    }

    #[test]
    fn an_inner_scope_hides_only_the_names_that_it_declares() {
        let mut outer = Names::default();
        outer.declare_numbered("r".into(), 'o', 13);
        outer.declare("p".into(), 'o');
        let mut inner = Names::within(Rc::new(outer));
        inner.declare_numbered("r1".into(), 'i', 3);
        inner.declare("r5".into(), 'i');
        let of = |name| inner.find(name, |_, digits| numbered(digits)).declared().copied();
        assert_eq!(["r12", "r5", "r6", "p"].map(of), [Some('i'), Some('i'), Some('o'), Some('o')]);
        assert_eq!(inner.find("r13", |_, digits| digits.parse().ok()), NameLookup::OtherNumber);
    }

    #[test]
    fn a_scope_reports_repeated_declarations() {
        let mut names = Names::default();
        names.declare("a1".into(), ());
        names.declare_numbered("r".into(), (), 3);
        let twice = |name, role| names.declares(name, role);
        assert!(twice("a1", Role::Variable) && twice("r2", Role::Label) && twice("a", Role::Prefix(2)));
        assert!(twice("r", Role::Prefix(1)));
        names.declare_numbered("s".into(), (), 12);
        names.declare_numbered("t1".into(), (), 3);
        let twice = |name, role| names.declares(name, role);
        assert!(twice("s1", Role::Prefix(1)) && twice("t", Role::Prefix(11)), "s10, t10");
        for (name, count) in [("s2", 9), ("s0", 9), ("s1", 0), ("t", 10), ("sa", 99)] {
            assert!(!twice(name, Role::Prefix(count)), "{name}<{count}>");
        }
        assert!(!twice("a", Role::Variable) && !twice("r3", Role::Variable) && !twice("a", Role::Prefix(1)));
        let inner = Names::within(Rc::new(names));
        assert!(!inner.declares("a1", Role::Variable));
    }

    #[test]
    fn a_number_that_is_not_declared_differs_from_a_name_that_is_not() {
        let mut names = Names::default();
        names.declare_numbered("r".into(), 'a', 2);
        names.declare("p".into(), 'b');
        let find = |name| names.find(name, |_, digits| numbered(digits));
        assert_eq!(find("r2"), NameLookup::OtherNumber);
        assert_eq!(find("r01"), NameLookup::OtherNumber);
        assert_eq!(find("s2"), NameLookup::Nothing);
        assert_eq!(find("r"), NameLookup::Nothing);
        assert_eq!(find("p"), NameLookup::Plain(&'b'));
        assert_eq!(find("p1"), NameLookup::Nothing);
    }

    #[test]
    fn holders_of_addresses_of_functions_and_constants_are_known() {
        let text = ".const .u32 c, n<3>, m1<1+2>; .global .u32 g; .visible .func f() { ret; } .global .u64 plain = g; \
            .global .u64 of_c[2] = {0, generic(c) + 4}; .global .u64 of_f = f; .global .u64 of_n = n2, of_m = m12;";
        let module = parse(text).unwrap();
        let holders = |functions, constants| -> Vec<_> {
            holders_of_addresses(&module, functions, constants).map(|d| d.name.text.as_str()).collect()
        };
        assert_eq!(holders(false, true), ["of_c", "of_n", "of_m"]);
        assert_eq!(holders(true, false), ["of_f"]);
        assert!(holders(false, false).is_empty());
    }

    #[test]
    fn addresses_of_code_and_constants_and_unified_variables_need_relocatable_output() {
        let needs = |text: &str| needs_relocatable_form(&parse(text).unwrap());
        assert!(needs(".const .u32 c; .global .u64 x[2] = {0, generic(c) + 4};"));
        assert!(needs(".const .u32 c<5>; .global .u64 x = c3;"));
        assert!(needs(".visible .func f() { ret; } .global .u64 x = f;"));
        assert!(needs(".global .attribute(.unified(1, 2)) .u32 x = 1;"));
        assert!(needs(".func .attribute(.unified(1, 2)) f() { ret; }"));
        assert!(needs(".extern .func f(); .global .u32 x = 1;"));
        assert!(!needs(".const .u32 c = 1; .global .u32 g; .global .u64 x = generic(g);"));
    }
}
