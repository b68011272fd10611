//! Known deviations of the addresses in instructions: indices, offsets, the contents of the brackets.

use ptxsmith_syntax::{BinaryOp, StateSpace, TypeKind};

use super::entry::RuleChange;

/// The rules that listed deviations follow, and the crashes that rules predict, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    (
        "negative-index-unsigned",
        RuleChange::Rule(|rules| {
            rules.operands.element_offset.change(|next, index, step| {
                let offset = next.apply(index, step)?;
                Some(i64::from(offset as u32))
            });
            rules.operands.indexed_offset.change(|next, ty, index, constant, step| {
                let offset = next.apply(ty, index, constant, step)?;
                Some(i64::from(offset as u32))
            });
        }),
    ),
    (
        "incomplete-array-unscaled",
        RuleChange::Rule(|rules| {
            let step = &mut rules.operands.element_step;
            step.change(|next, is_sized, bytes| if is_sized { next.apply(is_sized, bytes) } else { 1 });
        }),
    ),
    (
        "narrow-index-constant",
        RuleChange::Rule(|rules| {
            rules.operands.indexed_offset.change(|next, ty, index, constant, step| {
                let constant = match (ty.size(), ty.kind()) {
                    (Some(1), TypeKind::Signed) => i64::from(constant as i8),
                    (Some(2), TypeKind::Signed) => i64::from(constant as i16),
                    (Some(1), _) => i64::from(constant as u8),
                    (Some(2), _) => i64::from(constant as u16),
                    _ => constant,
                };
                next.apply(ty, index, constant, step)
            });
        }),
    ),
    ("wide-offset-accepted", RuleChange::Rule(|rules| rules.operands.offset_fits.change(|_, _, _| true))),
    (
        "local-address-in-32-bits",
        RuleChange::Rule(|rules| {
            rules.operands.moved.change(|next, space, bytes| {
                let bytes = if space == StateSpace::Local { i64::from(bytes as i32) } else { bytes };
                next.apply(space, bytes)
            });
            let outside = &mut rules.operands.outside;
            outside.change(|next, space| if space == StateSpace::Local { Ok(()) } else { next.apply(space) });
        }),
    ),
    (
        "subtracted-index-refused",
        RuleChange::Rule(|rules| {
            rules.operands.index_operator.change(|next, op| op != BinaryOp::Sub && next.apply(op));
        }),
    ),
];
