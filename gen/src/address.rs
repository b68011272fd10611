//! Makers of addresses: the targets, the variables that hold the addresses, and the address expressions.

use ptxsmith_syntax::{BinaryOp, Item, ScalarType, StateSpace, Text, UnaryOp, precedence};

use crate::{
    declare::{Specifiers, vector},
    draft::Draft,
    nonterminal::Nonterminal,
    number::integer_text,
    scope::AddressableSymbol,
    written,
};

// Groups of declarations

/// Generates declarations and functions, followed by variables that hold their addresses.
pub(crate) fn group(d: &mut Draft<'_, '_>) -> Vec<Item> {
    let (targets, holders) = targets_and_holders(d);
    [targets, holders].concat()
}

/// Generates the variables that hold addresses before the targets (forward references).
pub(crate) fn group_forward(d: &mut Draft<'_, '_>) -> Vec<Item> {
    let (targets, holders) = targets_and_holders(d);
    [holders, targets].concat()
}

fn targets_and_holders(d: &mut Draft<'_, '_>) -> (Vec<Item>, Vec<Item>) {
    let targets = (0..1 + d.below(3)).flat_map(|_| d.target()).collect();
    let holders = (0..1 + d.below(2)).map(|_| d.holder()).collect();
    let is_fenced = d.below(FENCED) == FENCED - 1;
    (targets, if is_fenced { fenced(holders) } else { holders })
}

/// One in this many groups has sentinels around the variables that hold addresses.
const FENCED: usize = 4;

/// Adds a sentinel variable before and after each variable. A sentinel has the same state space and alignment, so that the
/// implementation places it next to the variable, and known bytes, so that a write past the variable is visible.
fn fenced(variables: Vec<Item>) -> Vec<Item> {
    let mut items = Vec::with_capacity(3 * variables.len());
    for (number, variable) in variables.into_iter().enumerate() {
        let before = sentinel(&variable, &format!("fence{number}a"));
        let behind = sentinel(&variable, &format!("fence{number}b"));
        items.extend(before);
        items.push(variable);
        items.extend(behind);
    }
    items
}

/// Returns a sentinel variable for a variable.
fn sentinel(variable: &Item, name: &str) -> Vec<Item> {
    let Item::Variables(declaration) = variable else { return Vec::new() };
    let space = declaration.space().unwrap_or(StateSpace::Global).keyword();
    let align = declaration.scalar_type().map_or(1, ScalarType::bytes).clamp(1, 8);
    let bytes = vec!["0xa5"; align as usize].join(", ");
    written::items(&format!("{space} .align {align} .b8 {name}[{align}] = {{{bytes}}};"))
}

// Targets of addresses

pub(crate) fn target_declared(d: &mut Draft<'_, '_>) -> Vec<Item> {
    vec![Item::Variables(d.declaration())]
}

pub(crate) fn target_function(d: &mut Draft<'_, '_>, kind: &str) -> Vec<Item> {
    let name = d.new_name();
    let items = written::items(&format!("{kind} {name}() {{ ret; }}"));
    d.scope.symbols.push(AddressableSymbol { name, function: true });
    items
}

// Variables that hold addresses

fn holder(d: &mut Draft<'_, '_>, ty: ScalarType, values: Nonterminal) -> Item {
    let (linkage, space, align) = (d.linkage(), d.space(), d.align());
    let vector = vector(d, ty);
    let specifiers = Specifiers { linkage, space, align, attribute: None, vector, ty };
    let variable = d.variable(&specifiers, values);
    Item::Variables(specifiers.declare(vec![variable]))
}

pub(crate) fn holder_word_64(d: &mut Draft<'_, '_>) -> Item {
    holder(d, ScalarType::U64, Nonterminal::AddressValue)
}

pub(crate) fn holder_word_32(d: &mut Draft<'_, '_>) -> Item {
    holder(d, ScalarType::U32, Nonterminal::AddressValue)
}

pub(crate) fn holder_byte(d: &mut Draft<'_, '_>) -> Item {
    holder(d, ScalarType::U8, Nonterminal::MaskedValue)
}

// Addresses

/// Chooses a declared function or variable. If no such symbol is declared, chooses a symbol of the other kind, or else the
/// variable under construction.
fn symbol(d: &mut Draft<'_, '_>, function: bool) -> (Text, bool) {
    let functions = d.scope.symbols.iter().filter(|symbol| symbol.function).count();
    let variables = d.scope.symbols.len() - functions;
    let wanted = if function { functions > 0 } else { variables == 0 && functions > 0 };
    let among = if wanted { functions } else { variables };
    if among == 0 {
        return (d.scope.own.clone(), false);
    }
    let chosen = d.below(among.min(256));
    let chosen = d.scope.symbols.iter().filter(|s| s.function == wanted).nth(chosen);
    chosen.map_or((d.scope.own.clone(), false), |symbol| (symbol.name.clone(), symbol.function))
}

/// Adds a name. Returns true for a function, because an offset to a function address is invalid.
fn name_of(d: &mut Draft<'_, '_>, function: bool) -> bool {
    let (name, is_function) = symbol(d, function);
    d.name(&name);
    is_function
}

pub(crate) fn name(d: &mut Draft<'_, '_>, _: u32) {
    name_of(d, false);
}

pub(crate) fn function(d: &mut Draft<'_, '_>, _: u32) {
    name_of(d, true);
}

/// Adds an offset to the last operand.
fn plus_offset(d: &mut Draft<'_, '_>) {
    d.make(Nonterminal::Offset, 3);
    d.bind(BinaryOp::Add.precedence() + 1);
    d.infix(BinaryOp::Add);
}

pub(crate) fn offset(d: &mut Draft<'_, '_>, _: u32) {
    if !name_of(d, false) {
        plus_offset(d);
    }
}

/// Adds `generic(var)`. Returns false if there is no variable.
fn generic_of_name(d: &mut Draft<'_, '_>) -> bool {
    let is_function = name_of(d, false);
    if !is_function {
        d.generic();
    }
    !is_function
}

pub(crate) fn generic(d: &mut Draft<'_, '_>, _: u32) {
    generic_of_name(d);
}

pub(crate) fn generic_offset(d: &mut Draft<'_, '_>, _: u32) {
    if generic_of_name(d) {
        plus_offset(d);
    }
}

/// Adds an address with an offset in two parts: `var + 1 + 3`.
pub(crate) fn offset_twice(d: &mut Draft<'_, '_>, _: u32) {
    if !name_of(d, false) {
        plus_offset(d);
        plus_offset(d);
    }
}

// Forms that the specification does not mention

pub(crate) fn own_name(d: &mut Draft<'_, '_>, _: u32) {
    let name = d.scope.own.clone();
    d.name(&name);
}

pub(crate) fn subtracted(d: &mut Draft<'_, '_>, _: u32) {
    if !name_of(d, false) {
        d.make(Nonterminal::Literal, 1);
        d.infix(BinaryOp::Sub);
    }
}

pub(crate) fn offset_first(d: &mut Draft<'_, '_>, _: u32) {
    d.make(Nonterminal::Literal, 1);
    let (name, _) = symbol(d, false);
    d.name(&name);
    d.infix(BinaryOp::Add);
}

pub(crate) fn offset_in_generic(d: &mut Draft<'_, '_>, _: u32) {
    if !name_of(d, false) {
        plus_offset(d);
        d.generic();
    }
}

pub(crate) fn parenthesized(d: &mut Draft<'_, '_>, _: u32) {
    name_of(d, false);
    d.paren();
}

pub(crate) fn function_offset(d: &mut Draft<'_, '_>, _: u32) {
    name_of(d, true);
    plus_offset(d);
}

pub(crate) fn generic_function(d: &mut Draft<'_, '_>, _: u32) {
    name_of(d, true);
    d.generic();
}

// Offsets

pub(crate) fn offset_negative(d: &mut Draft<'_, '_>, _: u32) {
    d.make(Nonterminal::Literal, 1);
    d.bind(precedence::UNARY);
    d.unary(UnaryOp::Minus);
}

pub(crate) fn offset_expression(d: &mut Draft<'_, '_>, _: u32) {
    d.operand_alone(Nonterminal::Integer, 5);
    d.paren();
}

// Masks

/// Adds `mask(...)` around an expression of this nonterminal. The mask selects one byte of eight.
fn mask(d: &mut Draft<'_, '_>, of: Nonterminal, room: u32) {
    let byte = d.mask_byte();
    let radix = d.radix();
    let detail = if d.config().odd_spellings { d.byte() } else { 0 };
    let mask = integer_text(0xff << (8 * byte), radix, false, detail);
    d.operand_alone(of, room);
    d.mask(&mask);
}

pub(crate) fn masked_address(d: &mut Draft<'_, '_>, _: u32) {
    // A mask cannot select bytes of a function address.
    let variable = d.scope.symbols.iter().any(|symbol| !symbol.function);
    mask(d, if variable { Nonterminal::Address } else { Nonterminal::Literal }, 4);
}

pub(crate) fn masked_constant(d: &mut Draft<'_, '_>, _: u32) {
    mask(d, Nonterminal::Integer, 5);
}

// Names

/// Creates a unique name: the prefix `before`, a number and the suffix `behind`.
fn number(d: &mut Draft<'_, '_>, before: &str, behind: &str) -> Text {
    let number = d.scope.named;
    d.scope.named += 1;
    Text::from(format!("{before}{number}{behind}"))
}

pub(crate) fn name_plain(d: &mut Draft<'_, '_>) -> Text {
    number(d, "v", "")
}

pub(crate) fn name_sigil(d: &mut Draft<'_, '_>, sigil: &str) -> Text {
    number(d, sigil, "")
}

/// Creates a name with every character class that is allowed after the first character.
pub(crate) fn name_symbols(d: &mut Draft<'_, '_>) -> Text {
    number(d, "Z_$", "$_zA9_")
}

/// Creates a name that starts like a keyword, a suffix or a number.
pub(crate) fn name_like_a_word(d: &mut Draft<'_, '_>) -> Text {
    let word = d.pick(&["e", "U", "x", "f", "generic", "WARP_SZ", "global", "s64", "mask"]);
    number(d, word, "_")
}

pub(crate) fn name_long(d: &mut Draft<'_, '_>) -> Text {
    let length = 1 + 4 * d.byte() as usize;
    number(d, &"long".repeat(length.min(256)), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{Module, parse, print};

    #[test]
    fn a_fenced_variable_stands_between_two_sentinels_of_its_space_and_alignment() {
        let items = fenced(parse(".const .u32 x = 7;").unwrap().items);
        let expected = ".const .align 4 .b8 fence0a[4] = {0xa5, 0xa5, 0xa5, 0xa5};\n\
                        .const .u32 x = 7;\n\
                        .const .align 4 .b8 fence0b[4] = {0xa5, 0xa5, 0xa5, 0xa5};\n";
        assert_eq!(print(&Module { items }), expected);
    }
}
