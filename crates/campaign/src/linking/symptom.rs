//! Differences that look alike before any program is reduced.

use std::collections::BTreeSet;

use ptxsmith_model::Class;
use ptxsmith_syntax::{Declarator, Item, Module, Role, Specifier, Text, Visit, parse};

use super::Example;
use crate::ledger::quoteless;

/// What a difference looks like: its class, how the modules declare what it is about, and, where a linker refuses or crashes, its words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Symptom {
    /// The class of the difference.
    pub(crate) class: Class,
    /// The linkages, spaces and initial values with which modules declare the variable, without their order.
    declared: BTreeSet<String>,
    /// The same of what its initializers name.
    named: BTreeSet<String>,
    /// What was seen, without names and numbers.
    pub(crate) words: String,
}

impl Symptom {
    pub(crate) fn of(example: &Example) -> Symptom {
        let modules: Vec<Module> = example.texts.iter().filter_map(|text| parse(text).ok()).collect();
        let name = &example.difference.name;
        let named = modules.iter().flat_map(|module| named_by(module, name));
        let named: BTreeSet<String> = named.collect();
        Symptom {
            class: example.difference.class,
            declared: declarations(&modules, name),
            named: named.iter().flat_map(|name| declarations(&modules, name)).collect(),
            words: words(example.difference.class, &example.difference.actual),
        }
    }
}

/// What was seen, as far as it tells causes apart: messages without names and numbers; of bytes and addresses nothing.
pub(crate) fn words(class: Class, actual: &str) -> String {
    match class {
        Class::Crash | Class::Hang | Class::Inconsistent => {
            let is_word = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            let plain = quoteless(actual);
            plain.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
        }
        Class::WrongLayout if actual.contains("where `") => "shares bytes".to_owned(),
        Class::WrongLayout if actual.contains("aligned") => "alignment".to_owned(),
        _ => String::new(),
    }
}

/// How modules declare a name.
fn declarations(modules: &[Module], name: &str) -> BTreeSet<String> {
    let items = modules.iter().flat_map(|module| &module.items);
    items.filter_map(|item| declaration(item, name)).collect()
}

fn declaration(item: &Item, name: &str) -> Option<String> {
    match item {
        Item::Variables(declaration) => {
            let declarator =
                declaration.declarators.iter().find(|declarator| declarator.name.text.as_str() == name)?;
            let linkage = declaration.linkage().next().map_or("", |linkage| linkage.keyword());
            let space = declaration.space().map_or("", |space| space.name());
            let value = if declarator.initializer.is_some() { " with a value" } else { "" };
            Some(format!("{linkage} {space}{value}"))
        }
        Item::Function(function) if function.name.text.as_str() == name => {
            let linkage = function.before.iter().find_map(|specifier| match specifier {
                Specifier::Linkage(linkage) => Some(linkage.keyword()),
                _ => None,
            });
            Some(format!("{} function", linkage.unwrap_or_default()))
        }
        _ => None,
    }
}

/// The names in the initializer of a variable.
fn named_by(module: &Module, name: &str) -> Vec<String> {
    let mut uses = Uses(Vec::new());
    for item in &module.items {
        let Item::Variables(declaration) = item else { continue };
        let has_name = |declarator: &&Declarator| declarator.name.text.as_str() == name;
        let initializers =
            declaration.declarators.iter().filter(has_name).filter_map(|one| one.initializer.as_ref());
        initializers.for_each(|initializer| uses.initializer(initializer));
    }
    uses.0
}

/// The names that are used.
struct Uses(Vec<String>);

impl<'m> Visit<'m> for Uses {
    fn name(&mut self, name: &'m Text, role: Role) {
        if role == Role::Use {
            self.0.push(name.to_string());
        }
    }
}
