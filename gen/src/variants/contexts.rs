//! One constant in more contexts: what initializes a variable initializes another one too, of another shape and in another space.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, Item, Module, Name, NodeKind, ScalarType, Specifier,
    StateSpace, Text, VectorLength, parse_declaration,
};

/// What a variable of a variant holds of what the other program holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Same {
    /// The variable that was added.
    pub variable: Text,
    /// Where in it; `None` where the variable has as many bytes as the other program's variable says in its 8 bytes.
    pub at: Option<u64>,
    /// The variable of the other program, whose first bytes are the same.
    pub of: Text,
    /// How many bytes.
    pub size: u64,
}

/// The most bytes of constants in a program to which more are added: their space is small.
const MOST_CONSTANTS: u64 = 32 << 10;
/// The largest number that becomes a dimension.
const MOST_BYTES: u64 = 4096;

/// Adds variables that are initialized by what initializes another one.
pub(super) fn add(module: &mut Module, fresh: &str, ways: &BTreeMap<u32, u64>, same: &mut Vec<Same>) -> u32 {
    let mut place = 0;
    let room = constants(module) <= MOST_CONSTANTS;
    let mut items = Vec::with_capacity(module.items.len());
    for item in module.items.drain(..) {
        let mut added = Vec::new();
        if let Item::Variables(declaration) = &item {
            for declarator in &declaration.declarators {
                let Some((ty, value)) = constant(declaration, declarator) else { continue };
                if let Some(&way) = ways.get(&place) {
                    let name = format!("{fresh}c{place}");
                    let (text, own) = declared(&name, ty, value, room, way, &declarator.name);
                    added.extend(parse_declaration(&text).ok().map(Item::Variables));
                    same.push(own);
                }
                place += 1;
            }
        }
        items.push(item);
        items.append(&mut added);
    }
    module.items = items;
    place
}

/// The type and the value of a scalar that is initialized by a constant, or of the first element of an array.
fn constant<'d>(declaration: &Declaration, declarator: &'d Declarator) -> Option<(ScalarType, &'d Expr)> {
    let ty = declaration.scalar_type().filter(|ty| ty.size().is_some_and(|size| size <= 8))?;
    let space = declaration.space()?;
    if !matches!(space, StateSpace::Const | StateSpace::Global)
        || declaration.vector().is_some()
        || declaration.specifiers.iter().any(|s| matches!(s, Specifier::Attributes(_) | Specifier::Word(_)))
    {
        return None;
    }
    let value = match (&declarator.initializer, &declarator.dimensions[..]) {
        (Some(Initializer::Value(value)), []) => value,
        (Some(Initializer::List(list)), [_]) => match list.items.first() {
            Some(Initializer::Value(value)) => value,
            _ => return None,
        },
        _ => return None,
    };
    let is_constant = |kind: &NodeKind| !matches!(kind, NodeKind::Name(_) | NodeKind::Generic(_));
    value.nodes().iter().all(|node| is_constant(&node.kind)).then_some((ty, value))
}

/// A declaration, and what the variable holds of another one.
fn declared(name: &str, ty: ScalarType, value: &Expr, room: bool, way: u64, of: &Name) -> (String, Same) {
    let size = ty.bytes();
    let mut text = ptxsmith_syntax::Canonical::default();
    ptxsmith_syntax::print_expr(value, &mut text);
    let (value_text, same) = (text.0, |at| Same { variable: name.into(), at, of: of.text.clone(), size });
    let space = if room && way.is_multiple_of(2) { StateSpace::Const } else { StateSpace::Global };
    let way = way >> 1;
    let is_size = value.as_integer().is_some_and(|value| (1..=MOST_BYTES).contains(&value));
    let vector = VectorLength::V2.keyword();
    match way % 7 {
        0 => (format!("{space} {ty} {name} = {value_text};"), same(Some(0))),
        1 => (format!("{space} {ty} {name}[] = {{{value_text}}};"), same(Some(0))),
        2 => (format!("{space} {ty} {name}[3] = {{{value_text}, {value_text}}};"), same(Some(size))),
        3 => (format!("{space} {vector} {ty} {name} = {{{value_text}, {value_text}}};"), same(Some(size))),
        4 => {
            let text = format!("{space} {ty} {name}[2][1] = {{{{{value_text}}}, {{{value_text}}}}};");
            (text, same(Some(size)))
        }
        5 => (format!("{space} .align 16 {ty} {name} = {value_text};"), same(Some(0))),
        _ if is_size && size == 8 && ty != ScalarType::F64 => {
            (format!(".global .b8 {name}[{value_text}];"), same(None))
        }
        _ => (
            format!(".global {vector} {ty} {name}[1] = {{{{{value_text}, {value_text}}}}};"),
            same(Some(size)),
        ),
    }
}

/// About how many bytes of constants a module declares.
fn constants(module: &Module) -> u64 {
    let of = |declaration: &Declaration, declarator: &Declarator| {
        let list = match &declarator.initializer {
            Some(Initializer::List(list)) => list.items.len() as u64,
            _ => 1,
        };
        let extent = |extent: &Option<Expr>| extent.as_ref().map_or(Some(list), Expr::as_integer);
        let extents = declarator.dimensions.iter().map(|dimension| extent(dimension).unwrap_or(u64::MAX));
        let elements = extents.fold(1, u64::saturating_mul);
        elements.saturating_mul(declaration.vector().map_or(8, |vector| 8 * vector.count()))
    };
    let constants = module.declarations().filter(|one| one.space() == Some(StateSpace::Const));
    let sizes = constants.flat_map(|one| one.declarators.iter().map(move |declarator| of(one, declarator)));
    sizes.fold(0, u64::saturating_add)
}
