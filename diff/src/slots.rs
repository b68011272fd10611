//! One constant in many places: whether a subject gives it the same value everywhere.

use std::collections::BTreeMap;

use ptxsmith_subject::Observation;
use ptxsmith_syntax::{Declaration, Item, ScalarType, TypeKind};

fn declarations(items: &[Item]) -> impl Iterator<Item = &Declaration> {
    items
        .iter()
        .filter_map(|item| if let Item::Variables(declaration) = item { Some(declaration) } else { None })
}

/// The first variable whose slot of the constant differs from the slots before it; `None` where all that was seen
/// agrees. Integers agree in the bits that the smaller one has, floats with those of their own size.
pub(crate) fn disagreement(items: &[Item], observation: &Observation) -> Option<String> {
    let mut seen: BTreeMap<bool, BTreeMap<usize, Vec<u8>>> = BTreeMap::new();
    for declaration in declarations(items) {
        let Some(ty) = declaration.scalar_type() else { continue };
        for declarator in &declaration.declarators {
            let variable = observation.variables.get(declarator.name.text.as_str());
            let Some(bytes) = variable.and_then(|variable| variable.bytes.as_ref()) else { continue };
            // Eight bytes of one each are the eight bytes of the constant.
            let bytewise = ty == ScalarType::U8 && !declarator.dimensions.is_empty() && bytes.len() == 8;
            let width = if bytewise { 8 } else { ty.bytes() as usize };
            let Some(slot) = bytes.len().checked_sub(width).map(|from| &bytes[from..]) else { continue };
            let floats = ty.kind() == TypeKind::Float;
            let before = seen.entry(floats).or_default();
            let differs = before.iter().any(|(&size, known)| {
                let common = if floats { if size == width { size } else { 0 } } else { size.min(width) };
                known[..common] != slot[..common]
            });
            if differs {
                return Some(declarator.name.text.to_string());
            }
            before.entry(width).or_insert_with(|| slot.to_vec());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::{Outcome, Variable};
    use ptxsmith_syntax::parse;

    fn disagrees(text: &str, bytes: &[(&str, &[u8])]) -> Option<String> {
        let module = parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap();
        let mut observation = Observation::new(Outcome::Accepted);
        for (name, bytes) in bytes {
            let variable = Variable { bytes: Some(bytes.to_vec()), ..Variable::default() };
            observation.variables.insert((*name).into(), variable);
        }
        disagreement(&module.items, &observation)
    }

    #[test]
    fn the_last_scalars_are_compared_in_the_bits_that_both_have() {
        let text = ".global .s16 a; .global .s32 b[2]; .global .u8 c[8];";
        let c = ("c", &[1, 2, 3, 4, 5, 6, 7, 8][..]);
        let b = ("b", &[9, 9, 9, 9, 1, 2, 3, 4][..]);
        assert_eq!(disagrees(text, &[("a", &[1, 2]), b, c]), None);
        assert_eq!(disagrees(text, &[("a", &[1, 3]), b, c]).as_deref(), Some("b"));
    }

    #[test]
    fn floats_of_different_sizes_are_not_compared() {
        let text = ".global .f32 a; .global .f64 b; .const .f64 c;";
        let (a, b) = (("a", &[1, 2, 3, 4][..]), ("b", &[0; 8][..]));
        assert_eq!(disagrees(text, &[a, b, ("c", &[0; 8])]), None);
        assert_eq!(disagrees(text, &[a, b, ("c", &[1; 8])]).as_deref(), Some("c"));
    }
}
