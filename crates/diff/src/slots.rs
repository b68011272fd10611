//! Tests whether a subject gives one constant the same value in many places.

use std::collections::BTreeMap;

use ptxsmith_subject::Observation;
use ptxsmith_syntax::{Declaration, Item, ScalarType, TypeKind};

fn declarations(items: &[Item]) -> impl Iterator<Item = &Declaration> {
    items
        .iter()
        .filter_map(|item| if let Item::Variables(declaration) = item { Some(declaration) } else { None })
}

/// The result of comparing the observed slots of a constant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SlotComparison {
    /// The slot of this variable differs from an earlier one.
    Differ(String),
    /// All comparable slots agree, and there are at least two.
    Agree,
    /// No two slots are comparable.
    Apart,
}

/// Compares the slots of a constant. Integers are compared in the low bytes that both have, floats with
/// floats of the same size.
pub(crate) fn compare(items: &[Item], observation: &Observation) -> SlotComparison {
    let mut compared = false;
    let mut seen: BTreeMap<bool, BTreeMap<usize, Vec<u8>>> = BTreeMap::new();
    for declaration in declarations(items) {
        let Some(ty) = declaration.scalar_type() else { continue };
        for declarator in &declaration.declarators {
            let variable = observation.variables.get(declarator.name.text.as_str());
            let Some(bytes) = variable.and_then(|variable| variable.bytes.as_ref()) else { continue };
            // Such an array holds the eight bytes of the constant, one in each element.
            let bytewise = ty == ScalarType::U8 && !declarator.dimensions.is_empty() && bytes.len() == 8;
            let width = if bytewise { 8 } else { ty.bytes() as usize };
            let Some(slot) = bytes.len().checked_sub(width).map(|from| &bytes[from..]) else { continue };
            let floats = ty.kind() == TypeKind::Float;
            let before = seen.entry(floats).or_default();
            for (&size, known) in before.iter().filter(|(size, _)| !floats || **size == width) {
                let common = size.min(width);
                compared |= common > 0;
                if known[..common] != slot[..common] {
                    return SlotComparison::Differ(declarator.name.text.to_string());
                }
            }
            before.entry(width).or_insert_with(|| slot.to_vec());
        }
    }
    if compared { SlotComparison::Agree } else { SlotComparison::Apart }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::{Outcome, Variable};
    use ptxsmith_syntax::parse;

    fn compared(text: &str, bytes: &[(&str, &[u8])]) -> SlotComparison {
        let module = parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap();
        let mut observation = Observation::new(Outcome::Accepted);
        for (name, bytes) in bytes {
            let variable = Variable { bytes: Some(bytes.to_vec()), ..Variable::default() };
            observation.variables.insert((*name).into(), variable);
        }
        compare(&module.items, &observation)
    }

    #[test]
    fn the_last_scalars_are_compared_in_the_bits_that_both_have() {
        let text = ".global .s16 a; .global .s32 b[2]; .global .u8 c[8];";
        let c = ("c", &[1, 2, 3, 4, 5, 6, 7, 8][..]);
        let b = ("b", &[9, 9, 9, 9, 1, 2, 3, 4][..]);
        assert_eq!(compared(text, &[("a", &[1, 2]), b, c]), SlotComparison::Agree);
        assert_eq!(compared(text, &[("a", &[1, 3]), b, c]), SlotComparison::Differ("b".to_owned()));
        assert_eq!(compared(text, &[b]), SlotComparison::Apart);
        assert_eq!(compared(text, &[]), SlotComparison::Apart);
    }

    #[test]
    fn floats_of_different_sizes_are_not_compared() {
        let text = ".global .f32 a; .global .f64 b; .const .f64 c;";
        let (a, b) = (("a", &[1, 2, 3, 4][..]), ("b", &[0; 8][..]));
        assert_eq!(compared(text, &[a, b, ("c", &[0; 8])]), SlotComparison::Agree);
        assert_eq!(compared(text, &[a, b, ("c", &[1; 8])]), SlotComparison::Differ("c".to_owned()));
        assert_eq!(compared(text, &[a, b]), SlotComparison::Apart);
    }
}
