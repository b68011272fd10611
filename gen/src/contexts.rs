//! Declarations that use one constant in every valid context.

use ptxsmith_syntax::{Expr, Item};

use crate::written::items;

/// Declarations with the constant as `@`. All other scalars are zero.
const INTEGER_CONTEXTS: &[&str] = &[
    ".global .s64 # = @;",
    ".global .u64 # = @;",
    ".global .b64 # = @;",
    ".global .s32 # = @;",
    ".global .u32 # = @;",
    ".global .b32 # = @;",
    ".global .s16 # = @;",
    ".global .u16 # = @;",
    ".global .b16 # = @;",
    ".global .s8 # = @;",
    ".global .u8 # = @;",
    ".global .b8 # = @;",
    ".const .s64 # = @;",
    ".const .u32 # = @;",
    ".global .u64 #[2] = {0, @};",
    ".const .s16 #[2] = {0, @};",
    ".global .s64 #[2][2] = {{0, 0}, {0, @}};",
    ".global .b8 #[2][1][2] = {{{0, 0}}, {{0, @}}};",
    ".global .v2 .u64 # = {0, @};",
    ".const .v2 .s32 # = {0, @};",
    ".global .v2 .s64 #[2] = {{0, 0}, {0, @}};",
];

/// An array of eight bytes. Each mask selects one byte of the constant.
const MASKS: &str = ".global .u8 #[8] = {0xff(@), 0xff00(@), 0xff0000(@), 0xff000000(@), 0xff00000000(@),
    0xff0000000000(@), 0xff000000000000(@), 0xff00000000000000(@)};";

const FLOAT_CONTEXTS: &[&str] = &[
    ".global .f64 # = @;",
    ".global .f32 # = @;",
    ".const .f64 # = @;",
    ".const .f32 # = @;",
    ".global .f64 #[2] = {0.0, @};",
    ".global .f32 #[2][2] = {{0.0, 0.0}, {0.0, @}};",
    ".global .v2 .f64 # = {0.0, @};",
    ".global .v2 .f32 # = {0.0, @};",
    ".const .v2 .f64 #[2] = {{0.0, 0.0}, {0.0, @}};",
];

/// Returns declarations with the constant as the last scalar, and, if `masks`, byte by byte for an integer constant.
pub(crate) fn contexts(constant: &Expr, float: bool, masks: bool) -> Vec<Item> {
    let constant = constant.to_string();
    let contexts = if float { FLOAT_CONTEXTS } else { INTEGER_CONTEXTS };
    let all = contexts.iter().chain((masks && !float).then_some(&MASKS)).enumerate();
    let text = all.map(|(nth, context)| context.replace('#', &format!("v{nth}")).replace('@', &constant));
    items(&text.collect::<String>())
}
