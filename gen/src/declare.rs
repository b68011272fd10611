//! Makers of declarations: types, dimensions, and initial values of every shape.

use ptxsmith_syntax::{
    Attribute, BinaryOp, Declaration, Declarator, Expr, Initializer, Item, Linkage, Name, Span, Specifier,
    StateSpace, Text, VectorLength,
};

use crate::{
    draft::Draft,
    nonterminal::Nonterminal,
    number::{add_signed, integer_text},
    sketch::Symbol,
};

/// The name of the variable at hand.
pub(crate) fn make_name(d: &mut Draft<'_, '_>) -> Name {
    d.make(Nonterminal::Name, 1);
    Name::new(d.sketch.name.clone())
}

/// Takes the declaration at hand, in the order of specifiers that the examples of the text have.
pub(crate) fn take_declaration(d: &mut Draft<'_, '_>) -> Declaration {
    let sketch = &mut **d.sketch;
    let mut specifiers = Vec::with_capacity(6);
    specifiers.extend(sketch.linkage.take().map(Specifier::Linkage));
    specifiers.push(Specifier::Space(d.space, None));
    specifiers.extend(sketch.align.take().map(Specifier::Align));
    specifiers.extend(sketch.attribute.take().map(|attribute| Specifier::Attributes(vec![attribute])));
    specifiers.extend(sketch.vector.take().map(Specifier::Vector));
    specifiers.push(Specifier::Type(d.ty));
    let declarators = std::mem::take(&mut sketch.declarators);
    Declaration { specifiers, declarators, span: Span::NONE }
}

/// The declaration at hand is complete, and another may begin.
pub(crate) fn end_declaration(d: &mut Draft<'_, '_>) {
    let declaration = take_declaration(d);
    d.sketch.items.push(Item::Variables(declaration));
}

// What is said once

pub(crate) fn linkage(d: &mut Draft<'_, '_>, linkage: Linkage) {
    d.sketch.linkage = Some(linkage);
}

pub(crate) fn vector(d: &mut Draft<'_, '_>, length: VectorLength) {
    d.sketch.vector = Some(length);
}

pub(crate) fn rank(d: &mut Draft<'_, '_>, rank: usize) {
    d.sketch.rank = rank;
}

fn alignment(d: &mut Draft<'_, '_>) -> u64 {
    1 << d.below(d.config().max_align_log2.min(62) as usize + 1)
}

pub(crate) fn align_decimal(d: &mut Draft<'_, '_>, _: u32) {
    let count = alignment(d);
    let text = integer_text(count, ptxsmith_syntax::Radix::Decimal, false, 0);
    d.sketch.align = Some(Expr::number(text));
}

pub(crate) fn align_spelled(d: &mut Draft<'_, '_>, _: u32) {
    let count = alignment(d);
    d.sketch.align = Some(d.expression(|d| add_signed(d, count)));
}

/// The specifiers before the type; the type is next.
fn begin(d: &mut Draft<'_, '_>) {
    d.make(Nonterminal::Space, 1);
    d.make(Nonterminal::Align, 1);
}

fn choose_vector(d: &mut Draft<'_, '_>) {
    // Four elements of 64 bits would exceed the 128 bits that a vector may have.
    let size = d.ty.size().unwrap_or(0);
    if size > 8 {
        return;
    }
    let long = size > 4;
    d.make(if long { Nonterminal::LongVector } else { Nonterminal::ShortVector }, 1);
}

/// How many variables the statement has: mostly one.
fn variables(d: &mut Draft<'_, '_>) -> usize {
    let most = d.config().max_declarators.clamp(1, 256) as usize;
    if most > 1 && d.byte() >= 208 { 1 + d.below(most) } else { 1 }
}

pub(crate) fn defined(d: &mut Draft<'_, '_>, _: u32) {
    // Variables without initial values come first where the bytes run out, so the rest costs no byte before them.
    d.make(Nonterminal::Linkage, 1);
    begin(d);
    d.make(Nonterminal::Type, 1);
    choose_vector(d);
    for _ in 0..variables(d) {
        d.make(Nonterminal::Variable, 1);
    }
}

pub(crate) fn zero(d: &mut Draft<'_, '_>, _: u32) {
    d.make(Nonterminal::Linkage, 1);
    undefined(d);
}

pub(crate) fn external(d: &mut Draft<'_, '_>, _: u32) {
    linkage(d, Linkage::Extern);
    undefined(d);
}

fn undefined(d: &mut Draft<'_, '_>) {
    begin(d);
    d.make(Nonterminal::AnyType, 1);
    choose_vector(d);
    for _ in 0..variables(d) {
        variable_zero(d, 1);
    }
}

pub(crate) fn shared(d: &mut Draft<'_, '_>, _: u32) {
    d.make(Nonterminal::Align, 1);
    d.make(Nonterminal::AnyType, 1);
    choose_vector(d);
    d.space = StateSpace::Shared;
    variable_zero(d, 1);
}

/// `NAME<COUNT>`: no array, no initial value, and only one such variable.
pub(crate) fn parameterized(d: &mut Draft<'_, '_>, _: u32) {
    begin(d);
    d.make(Nonterminal::AnyType, 1);
    let name = make_name(d);
    let count = 1 + d.below(5) as u64;
    let spelled = d.expression(|d| add_signed(d, count));
    let number = d.below(count as usize);
    let symbol = Symbol { name: Text::from(format!("{}{number}", name.text)), function: false };
    d.sketch.symbols.push(symbol);
    let declarator = Declarator { name, count: Some(spelled), dimensions: Vec::new(), initializer: None };
    d.sketch.declarators.push(declarator);
}

fn attributed(d: &mut Draft<'_, '_>, attribute: Attribute) {
    d.make(Nonterminal::Linkage, 1);
    d.make(Nonterminal::Align, 1);
    d.make(Nonterminal::Type, 1);
    choose_vector(d);
    // Neither attribute is for another state space.
    d.space = StateSpace::Global;
    d.sketch.attribute = Some(attribute);
    d.make(Nonterminal::Variable, 1);
}

pub(crate) fn managed(d: &mut Draft<'_, '_>, _: u32) {
    attributed(d, Attribute { name: Name::new(".managed"), arguments: Vec::new() });
}

pub(crate) fn unified(d: &mut Draft<'_, '_>, _: u32) {
    let mut argument = || d.expression(|d| d.make(Nonterminal::Literal, 1));
    let arguments = vec![argument(), argument()];
    attributed(d, Attribute { name: Name::new(".unified"), arguments });
}

// Variables

fn declare(
    d: &mut Draft<'_, '_>,
    name: Name,
    dimensions: Vec<Option<Expr>>,
    initializer: Option<Initializer>,
) {
    if matches!(d.space, StateSpace::Global | StateSpace::Const) {
        d.sketch.symbols.push(Symbol { name: name.text.clone(), function: false });
    }
    d.sketch.declarators.push(Declarator { name, count: None, dimensions, initializer });
}

pub(crate) fn variable_zero(d: &mut Draft<'_, '_>, _: u32) {
    let name = make_name(d);
    let dimensions =
        if d.byte() < 128 || d.config().max_dimensions == 0 { Vec::new() } else { dimensions(d) };
    declare(d, name, dimensions, None);
}

pub(crate) fn variable_single(d: &mut Draft<'_, '_>, _: u32) {
    let name = make_name(d);
    d.sketch.extents.clear();
    let most = d.config().max_nodes;
    entry(d, most);
    let initializer = d.sketch.made.take();
    declare(d, name, Vec::new(), initializer);
}

pub(crate) fn variable_array(d: &mut Draft<'_, '_>, _: u32) {
    let name = make_name(d);
    let dimensions = dimensions(d);
    d.sketch.level = 0;
    d.make(Nonterminal::List, 1);
    let initializer = d.sketch.made.take();
    declare(d, name, dimensions, initializer);
}

pub(crate) fn variable_first_omitted(d: &mut Draft<'_, '_>, _: u32) {
    let name = make_name(d);
    let mut dimensions = dimensions(d);
    dimensions[0] = None;
    d.sketch.level = 0;
    d.make(Nonterminal::CountedList, 1);
    let initializer = d.sketch.made.take();
    declare(d, name, dimensions, initializer);
}

fn dimensions(d: &mut Draft<'_, '_>) -> Vec<Option<Expr>> {
    d.make(Nonterminal::Rank, 1);
    let mut room = (d.config().max_elements / d.sketch.lanes()).max(1);
    d.sketch.extents.clear();
    let mut dimensions = Vec::with_capacity(d.sketch.rank);
    for _ in 0..d.sketch.rank {
        let most = d.config().max_extent.clamp(1, room).min(256);
        let is_long = d.sketch.rank == 1 && d.happens(d.config().long_array);
        // Half of the extents are small, where rows are short and packing errors show in few bytes.
        let extent = match d.byte() {
            _ if is_long => 1 + d.below(room.min(64) as usize) as u64,
            0..=127 => d.pick(&[1, 2, 2, 3]).min(most),
            _ => 1 + d.below(most as usize) as u64,
        };
        room /= extent;
        d.sketch.extents.push(extent);
        d.sketch.extent = extent;
        dimensions.push(Some(d.expression(|d| d.make(Nonterminal::Extent, 1))));
    }
    dimensions
}

// Extents

pub(crate) fn extent_literal(d: &mut Draft<'_, '_>, _: u32) {
    let extent = d.sketch.extent;
    add_signed(d, extent);
}

fn infix(d: &mut Draft<'_, '_>, left: u64, op: BinaryOp, right: u64) {
    add_signed(d, left);
    add_signed(d, right);
    d.infix(op);
}

pub(crate) fn extent_sum(d: &mut Draft<'_, '_>, _: u32) {
    let extent = d.sketch.extent;
    infix(d, extent - 1, BinaryOp::Add, 1);
}

pub(crate) fn extent_difference(d: &mut Draft<'_, '_>, _: u32) {
    let extent = d.sketch.extent;
    infix(d, extent + 3, BinaryOp::Sub, 3);
}

/// `WARP_SZ / n` where that can be the extent, and else `WARP_SZ - n`.
pub(crate) fn extent_warp_size(d: &mut Draft<'_, '_>, _: u32) {
    let extent = d.sketch.extent;
    d.warp_size();
    let (op, right) = match extent {
        0..=32 if 32 % extent == 0 => (BinaryOp::Div, 32 / extent),
        0..=32 => (BinaryOp::Sub, 32 - extent),
        _ => (BinaryOp::Add, extent - 32),
    };
    add_signed(d, right);
    d.infix(op);
}

pub(crate) fn extent_ternary(d: &mut Draft<'_, '_>, _: u32) {
    let extent = d.sketch.extent;
    let condition = u64::from(d.byte() & 1);
    add_signed(d, condition);
    add_signed(d, if condition == 1 { extent } else { 0 });
    add_signed(d, if condition == 1 { 0 } else { extent });
    d.ternary();
}

// Initial values

/// The extent of the dimension whose list is at hand.
fn extent(d: &Draft<'_, '_>) -> u64 {
    d.sketch.extents[d.sketch.level]
}

pub(crate) fn list_full(d: &mut Draft<'_, '_>, _: u32) {
    let count = extent(d);
    entries(d, count);
}

/// At least one entry, and fewer than there is room for, unless there is room for one only.
pub(crate) fn list_short(d: &mut Draft<'_, '_>, _: u32) {
    let most = (extent(d) - 1).clamp(1, 256);
    let count = 1 + d.below(most as usize) as u64;
    entries(d, count);
}

pub(crate) fn list_empty(d: &mut Draft<'_, '_>, _: u32) {
    entries(d, 0);
}

/// The first dimension is as large as the list that determines it.
pub(crate) fn list_counted(d: &mut Draft<'_, '_>, room: u32) {
    list_full(d, room);
}

fn entries(d: &mut Draft<'_, '_>, count: u64) {
    let level = d.sketch.level;
    let mut items = Vec::with_capacity(count as usize);
    for _ in 0..count {
        d.sketch.level = level + 1;
        if d.sketch.level < d.sketch.extents.len() {
            d.make(Nonterminal::List, 1);
        } else {
            let most = d.config().max_element_nodes;
            entry(d, most);
        }
        items.extend(d.sketch.made.take());
    }
    d.sketch.level = level;
    d.sketch.made = Some(Initializer::list(items));
}

/// What an element or a variable that is no array holds: a value or the list of a vector.
fn entry(d: &mut Draft<'_, '_>, most_nodes: u32) {
    if d.sketch.vector.is_some() {
        d.make(Nonterminal::Lanes, 1);
    } else {
        value(d, most_nodes);
    }
}

pub(crate) fn lanes_full(d: &mut Draft<'_, '_>, _: u32) {
    let count = d.sketch.lanes();
    lanes(d, count);
}

pub(crate) fn lanes_short(d: &mut Draft<'_, '_>, _: u32) {
    let count = d.below(d.sketch.lanes() as usize) as u64;
    lanes(d, count);
}

fn lanes(d: &mut Draft<'_, '_>, count: u64) {
    let most = d.config().max_element_nodes;
    let items = (0..count).filter_map(|_| {
        value(d, most);
        d.sketch.made.take()
    });
    let items = items.collect();
    d.sketch.made = Some(Initializer::list(items));
}

/// A value of the type at hand: more often than not a single literal.
fn value(d: &mut Draft<'_, '_>, most_nodes: u32) {
    let of = d.sketch.values.or_else(|| Nonterminal::value_of(d.ty));
    let of = of.expect("only types that take initial values come here");
    let room = match d.byte() {
        0..=127 => 1,
        byte => 1 + (((u32::from(byte) - 128) * most_nodes.clamp(1, 1 << 16)) >> 7),
    };
    let expr = d.expression(|d| d.make(of, room));
    d.sketch.made = Some(Initializer::Value(expr));
}
