//! The least header.

use ptxsmith_syntax::{Item, Module, Name};

use super::{Edit, edit};
use crate::program::Program;

/// Versions of PTX, ascending: the first of each major number, and those that brought something to declarations.
const VERSIONS: [&str; 17] = [
    "1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "7.1", "7.3", "7.8", "8.0", "8.3", "8.6", "8.7", "8.8",
    "9.0", "9.3",
];

/// Targets, ascending: the first of each generation.
const TARGETS: [&str; 10] =
    ["sm_10", "sm_20", "sm_30", "sm_50", "sm_60", "sm_70", "sm_80", "sm_90", "sm_100", "sm_120"];

/// The least version with the least target, no `.address_size`; then each alone, the target without its options, each
/// lesser version with the least target that it may need, and each lesser target.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let Some(module) = program.module() else { return Vec::new() };
    let mut edits = vec![
        edit(|module| {
            without_address_size(module);
            set(module, VERSIONS[0], TARGETS[0])
        }),
        edit(without_address_size),
        edit(|module| {
            let names = targets(module)?;
            (names.len() > 1).then(|| names.truncate(1))
        }),
        edit(|module| set(module, VERSIONS[0], TARGETS[0])),
    ];
    let lesser = |known: &'static [&'static str], own: Option<(u32, u32)>| {
        let number = |text: &str| number(text).unwrap_or_default();
        known.iter().copied().take_while(move |known| own.is_some_and(|own| number(known) < own))
    };
    let own = targets_of(module).and_then(|names| number(&names.first()?.text));
    for version in lesser(&VERSIONS, module.version()) {
        edits.push(edit(move |module| set_version(module, version)));
    }
    for target in lesser(&TARGETS, own) {
        edits.push(edit(move |module| set_target(module, target)));
    }
    edits
}

/// `7.8` and `sm_80a` as numbers that can be compared.
fn number(text: &str) -> Option<(u32, u32)> {
    if let Some(target) = text.strip_prefix("sm_") {
        return Some((target.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?, 0));
    }
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn without_address_size(module: &mut Module) -> Option<()> {
    let before = module.items.len();
    module.items.retain(|item| !matches!(item, Item::AddressSize(_)));
    (module.items.len() < before).then_some(())
}

fn targets(module: &mut Module) -> Option<&mut Vec<Name>> {
    module.items.iter_mut().find_map(|item| if let Item::Target(names) = item { Some(names) } else { None })
}

fn targets_of(module: &Module) -> Option<&Vec<Name>> {
    module.items.iter().find_map(|item| if let Item::Target(names) = item { Some(names) } else { None })
}

fn set(module: &mut Module, version: &str, target: &str) -> Option<()> {
    set_version(module, version)?;
    set_target(module, target)
}

fn set_version(module: &mut Module, version: &str) -> Option<()> {
    let declared = module.items.iter_mut().find_map(|item| match item {
        Item::Version(declared) => Some(declared),
        _ => None,
    });
    *declared? = Name::new(version);
    Some(())
}

fn set_target(module: &mut Module, target: &str) -> Option<()> {
    *targets(module)?.first_mut()? = Name::new(target);
    Some(())
}
