//! Makers of declarations: types, dimensions and initializers.

use ptxsmith_syntax::{
    Attribute, BinaryOp, Declaration, Declarator, Expr, Initializer, Linkage, Name, Radix, ScalarType, Span,
    Specifier, StateSpace, Text, VectorLength,
};

use crate::{
    draft::Draft,
    nonterminal::Nonterminal,
    number::{add_signed, integer_text},
    scope::AddressableSymbol,
};

/// The specifiers that the variables of a statement share.
pub(crate) struct Specifiers {
    pub linkage: Option<Linkage>,
    pub space: StateSpace,
    pub align: Option<Expr>,
    pub attribute: Option<Attribute>,
    pub vector: Option<VectorLength>,
    pub ty: ScalarType,
}

impl Specifiers {
    /// Creates the statement, with the specifiers in the order that the specification's examples use.
    pub fn declare(self, declarators: Vec<Declarator>) -> Declaration {
        let mut specifiers = Vec::with_capacity(6);
        specifiers.extend(self.linkage.map(Specifier::Linkage));
        specifiers.push(Specifier::Space(self.space, None));
        specifiers.extend(self.align.map(Specifier::Align));
        specifiers.extend(self.attribute.map(|attribute| Specifier::Attributes(vec![attribute])));
        specifiers.extend(self.vector.map(Specifier::Vector));
        specifiers.push(Specifier::Type(self.ty));
        Declaration { specifiers, declarators, span: Span::NONE }
    }
}

/// The content of an array element, or of a variable that is not an array.
#[derive(Clone, Copy)]
pub(crate) struct ElementContent {
    vector: Option<VectorLength>,
    /// The nonterminal for the value of each scalar.
    values: Nonterminal,
}

impl ElementContent {
    /// Returns the number of scalars: the vector length, or 1.
    fn lanes(self) -> u64 {
        lanes(self.vector)
    }
}

fn lanes(vector: Option<VectorLength>) -> u64 {
    vector.map_or(1, VectorLength::count)
}

// Specifiers, shared by the variables of a statement

fn alignment(d: &mut Draft<'_, '_>) -> u64 {
    1 << d.below(d.config().max_align_log2.min(62) as usize + 1)
}

pub(crate) fn align_decimal(d: &mut Draft<'_, '_>) -> Option<Expr> {
    let count = alignment(d);
    Some(Expr::number(integer_text(count, Radix::Decimal, false, 0)))
}

pub(crate) fn align_spelled(d: &mut Draft<'_, '_>) -> Option<Expr> {
    let count = alignment(d);
    Some(d.expression(|d| add_signed(d, count)))
}

/// Chooses a vector length for this type; `None` for a scalar.
pub(crate) fn vector(d: &mut Draft<'_, '_>, ty: ScalarType) -> Option<VectorLength> {
    // Four elements of 64 bits would exceed the limit of 128 bits for a vector.
    match ty.size() {
        Some(9..) => None,
        Some(5..=8) => d.long_vector(),
        _ => d.short_vector(),
    }
}

/// Chooses the number of variables in a statement: usually one.
fn variables(d: &mut Draft<'_, '_>) -> usize {
    let most = d.config().max_declarators.clamp(1, 256) as usize;
    if most > 1 && d.byte() >= 208 { 1 + d.below(most) } else { 1 }
}

/// Returns the nonterminal for the values of a type that can have an initializer.
fn values_of(ty: ScalarType) -> Nonterminal {
    Nonterminal::value_of(ty).expect("only types that take initial values come here")
}

pub(crate) fn defined(d: &mut Draft<'_, '_>) -> Declaration {
    // Variables without initial values come first where the bytes run out, so the rest costs no byte before them.
    let (linkage, space, align, ty) = (d.linkage(), d.space(), d.align(), d.ty(Nonterminal::Type));
    let specifiers = Specifiers { linkage, space, align, attribute: None, vector: vector(d, ty), ty };
    let variables = (0..variables(d)).map(|_| d.variable(&specifiers, values_of(ty))).collect();
    specifiers.declare(variables)
}

pub(crate) fn zero(d: &mut Draft<'_, '_>) -> Declaration {
    let linkage = d.linkage();
    undefined(d, linkage)
}

pub(crate) fn external(d: &mut Draft<'_, '_>) -> Declaration {
    undefined(d, Some(Linkage::Extern))
}

fn undefined(d: &mut Draft<'_, '_>, linkage: Option<Linkage>) -> Declaration {
    let (space, align, ty) = (d.space(), d.align(), d.ty(Nonterminal::AnyType));
    let specifiers = Specifiers { linkage, space, align, attribute: None, vector: vector(d, ty), ty };
    let variables = (0..variables(d)).map(|_| variable_zero(d, &specifiers)).collect();
    specifiers.declare(variables)
}

pub(crate) fn shared(d: &mut Draft<'_, '_>) -> Declaration {
    let (align, ty) = (d.align(), d.ty(Nonterminal::AnyType));
    let (linkage, space, vector) = (None, StateSpace::Shared, vector(d, ty));
    let specifiers = Specifiers { linkage, space, align, attribute: None, vector, ty };
    let variable = variable_zero(d, &specifiers);
    specifiers.declare(vec![variable])
}

/// Generates `NAME<COUNT>`: a single variable, neither an array nor initialized.
pub(crate) fn parameterized(d: &mut Draft<'_, '_>) -> Declaration {
    let (space, align, ty) = (d.space(), d.align(), d.ty(Nonterminal::AnyType));
    let name = d.new_name();
    let count = 1 + d.below(5) as u64;
    let spelled = d.expression(|d| add_signed(d, count));
    let number = d.below(count as usize);
    let symbol = AddressableSymbol { name: Text::from(format!("{name}{number}")), function: false };
    d.scope.symbols.push(symbol);
    let variable =
        Declarator { name: Name::new(name), count: Some(spelled), dimensions: Vec::new(), initializer: None };
    Specifiers { linkage: None, space, align, attribute: None, vector: None, ty }.declare(vec![variable])
}

fn attributed(d: &mut Draft<'_, '_>, attribute: Attribute) -> Declaration {
    let (linkage, align, ty) = (d.linkage(), d.align(), d.ty(Nonterminal::Type));
    // Both attributes are valid in `.global` only.
    let (space, attribute, vector) = (StateSpace::Global, Some(attribute), vector(d, ty));
    let specifiers = Specifiers { linkage, space, align, attribute, vector, ty };
    let variable = d.variable(&specifiers, values_of(ty));
    specifiers.declare(vec![variable])
}

pub(crate) fn managed(d: &mut Draft<'_, '_>) -> Declaration {
    attributed(d, Attribute { name: Name::new(".managed"), arguments: Vec::new() })
}

pub(crate) fn unified(d: &mut Draft<'_, '_>) -> Declaration {
    let arguments = (0..2).map(|_| d.expression(|d| d.make(Nonterminal::Literal, 1))).collect();
    attributed(d, Attribute { name: Name::new(".unified"), arguments })
}

// Variables

/// Creates a variable and makes its name available to later initializers.
fn variable(
    d: &mut Draft<'_, '_>,
    space: StateSpace,
    name: Text,
    dimensions: Vec<Option<Expr>>,
    initializer: Option<Initializer>,
) -> Declarator {
    if matches!(space, StateSpace::Global | StateSpace::Const) {
        d.scope.symbols.push(AddressableSymbol { name: name.clone(), function: false });
    }
    Declarator { name: Name::new(name), count: None, dimensions, initializer }
}

/// Creates the name of a variable before its initializer is generated.
fn own_name(d: &mut Draft<'_, '_>) -> Text {
    let name = d.new_name();
    d.scope.own = name.clone();
    name
}

pub(crate) fn variable_zero(d: &mut Draft<'_, '_>, specifiers: &Specifiers) -> Declarator {
    let name = d.new_name();
    let is_array = d.byte() >= 128 && d.config().max_dimensions > 0;
    let dimensions = if is_array { dimensions(d, specifiers).0 } else { Vec::new() };
    variable(d, specifiers.space, name, dimensions, None)
}

pub(crate) fn variable_single(
    d: &mut Draft<'_, '_>,
    specifiers: &Specifiers,
    values: Nonterminal,
) -> Declarator {
    let name = own_name(d);
    let most = d.config().max_nodes;
    let initializer = entry(d, ElementContent { vector: specifiers.vector, values }, most);
    variable(d, specifiers.space, name, Vec::new(), Some(initializer))
}

pub(crate) fn variable_array(
    d: &mut Draft<'_, '_>,
    specifiers: &Specifiers,
    values: Nonterminal,
) -> Declarator {
    let name = own_name(d);
    let (dimensions, extents) = dimensions(d, specifiers);
    let initializer = d.list(ElementContent { vector: specifiers.vector, values }, &extents);
    variable(d, specifiers.space, name, dimensions, Some(initializer))
}

pub(crate) fn variable_first_omitted(
    d: &mut Draft<'_, '_>,
    specifiers: &Specifiers,
    values: Nonterminal,
) -> Declarator {
    let name = own_name(d);
    let (mut dimensions, extents) = dimensions(d, specifiers);
    dimensions[0] = None;
    let initializer = d.counted_list(ElementContent { vector: specifiers.vector, values }, &extents);
    variable(d, specifiers.space, name, dimensions, Some(initializer))
}

/// Generates the dimensions of an array. Returns them as written, and their extents, outermost first.
fn dimensions(d: &mut Draft<'_, '_>, specifiers: &Specifiers) -> (Vec<Option<Expr>>, Vec<u64>) {
    let rank = d.rank();
    let mut room = (d.config().max_elements / lanes(specifiers.vector)).max(1);
    let (mut dimensions, mut extents) = (Vec::with_capacity(rank), Vec::with_capacity(rank));
    for _ in 0..rank {
        let most = d.config().max_extent.clamp(1, room).min(256);
        let is_long = rank == 1 && d.happens(d.config().long_array);
        // Half of the extents are small, because packing errors then show in a few bytes.
        let extent = match d.byte() {
            _ if is_long => 1 + d.below(room.min(64) as usize) as u64,
            0..=127 => d.pick(&[1, 2, 2, 3]).min(most),
            _ => 1 + d.below(most as usize) as u64,
        };
        room /= extent;
        extents.push(extent);
        dimensions.push(Some(d.expression(|d| d.extent(extent))));
    }
    (dimensions, extents)
}

// Extents

pub(crate) fn extent_literal(d: &mut Draft<'_, '_>, extent: u64) {
    add_signed(d, extent);
}

fn infix(d: &mut Draft<'_, '_>, left: u64, op: BinaryOp, right: u64) {
    add_signed(d, left);
    add_signed(d, right);
    d.infix(op);
}

pub(crate) fn extent_sum(d: &mut Draft<'_, '_>, extent: u64) {
    infix(d, extent - 1, BinaryOp::Add, 1);
}

pub(crate) fn extent_difference(d: &mut Draft<'_, '_>, extent: u64) {
    infix(d, extent + 3, BinaryOp::Sub, 3);
}

/// Adds `WARP_SZ / n` if that can equal the extent, otherwise `WARP_SZ - n`.
pub(crate) fn extent_warp_size(d: &mut Draft<'_, '_>, extent: u64) {
    d.warp_size();
    let (op, right) = match extent {
        0..=32 if 32 % extent == 0 => (BinaryOp::Div, 32 / extent),
        0..=32 => (BinaryOp::Sub, 32 - extent),
        _ => (BinaryOp::Add, extent - 32),
    };
    add_signed(d, right);
    d.infix(op);
}

pub(crate) fn extent_ternary(d: &mut Draft<'_, '_>, extent: u64) {
    let condition = u64::from(d.byte() & 1);
    add_signed(d, condition);
    add_signed(d, if condition == 1 { extent } else { 0 });
    add_signed(d, if condition == 1 { 0 } else { extent });
    d.ternary();
}

// Initializers

pub(crate) fn list_full(d: &mut Draft<'_, '_>, element: ElementContent, extents: &[u64]) -> Initializer {
    entries(d, element, extents, extents[0])
}

/// Generates a list with at least one entry but fewer than the extent, unless the extent is 1.
pub(crate) fn list_short(d: &mut Draft<'_, '_>, element: ElementContent, extents: &[u64]) -> Initializer {
    let most = (extents[0] - 1).clamp(1, 256);
    let count = 1 + d.below(most as usize) as u64;
    entries(d, element, extents, count)
}

pub(crate) fn list_empty(d: &mut Draft<'_, '_>, element: ElementContent, extents: &[u64]) -> Initializer {
    entries(d, element, extents, 0)
}

/// Generates a list of `count` entries. `extents[0]` is the dimension of the list itself.
fn entries(d: &mut Draft<'_, '_>, element: ElementContent, extents: &[u64], count: u64) -> Initializer {
    let most = d.config().max_element_nodes;
    let entries = (0..count).map(|_| match &extents[1..] {
        [] => entry(d, element, most),
        inner => d.list(element, inner),
    });
    Initializer::list(entries.collect())
}

/// Generates the initializer of an element or of a variable that is not an array: a value, or a list for a vector.
fn entry(d: &mut Draft<'_, '_>, element: ElementContent, most_nodes: u32) -> Initializer {
    if element.vector.is_some() { d.lanes(element) } else { value(d, element.values, most_nodes) }
}

pub(crate) fn lanes_full(d: &mut Draft<'_, '_>, element: ElementContent) -> Initializer {
    list_of_lanes(d, element, element.lanes())
}

pub(crate) fn lanes_short(d: &mut Draft<'_, '_>, element: ElementContent) -> Initializer {
    let count = d.below(element.lanes() as usize) as u64;
    list_of_lanes(d, element, count)
}

fn list_of_lanes(d: &mut Draft<'_, '_>, element: ElementContent, count: u64) -> Initializer {
    let most = d.config().max_element_nodes;
    Initializer::list((0..count).map(|_| value(d, element.values, most)).collect())
}

/// Generates a value of this nonterminal: usually a single literal.
fn value(d: &mut Draft<'_, '_>, of: Nonterminal, most_nodes: u32) -> Initializer {
    let room = match d.byte() {
        0..=127 => 1,
        byte => 1 + (((u32::from(byte) - 128) * most_nodes.clamp(1, 1 << 16)) >> 7),
    };
    Initializer::Value(d.expression(|d| d.make(of, room)))
}
