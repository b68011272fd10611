//! Lists of initial values that say the same (5.4.3, 5.4.4): what an array's list leaves out is zero, and its first dimension is the
//! number of its elements.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, InitializerList, Module, Number, ScalarType, TypeKind,
    VisitMut, read_number,
};

/// The most elements that are added to a list.
const MOST: u64 = 4096;

/// What the lists of a variable are like.
#[derive(Clone)]
struct Shape {
    /// The extents of the array, outermost first; the first may be left out.
    extents: Vec<Option<u64>>,
    /// How many elements a vector has, where the elements are vectors.
    vector: Option<u64>,
    ty: ScalarType,
}

impl Shape {
    /// That of an array, if its lists nest as its dimensions do, none of them is too long, and all vectors are complete.
    fn of(declaration: &Declaration, declarator: &Declarator) -> Option<Shape> {
        let ty = declaration.scalar_type().filter(|ty| ty.kind() != TypeKind::Predicate)?;
        let extent = |dimension: &Option<Expr>| match dimension {
            None => Some(None),
            Some(extent) => extent.as_integer().map(Some),
        };
        let extents: Vec<Option<u64>> = declarator.dimensions.iter().map(extent).collect::<Option<_>>()?;
        let (_, inner) = extents.split_first()?;
        let vector = declaration.vector().map(|length| length.count());
        let shape = Shape { vector, ty, extents: extents.clone() };
        let Some(Initializer::List(list)) = &declarator.initializer else { return None };
        (inner.iter().all(Option::is_some) && shape.fits(list, 0)).then_some(shape)
    }

    fn fits(&self, list: &InitializerList, level: usize) -> bool {
        let Some(extent) = self.extents.get(level) else {
            return self.vector == Some(list.items.len() as u64)
                && list.items.iter().all(|item| matches!(item, Initializer::Value(_)));
        };
        let is_deeper = level + 1 < self.extents.len() || self.vector.is_some();
        extent.is_none_or(|extent| list.items.len() as u64 <= extent)
            && !list.items.is_empty()
            && list.items.iter().all(|item| match item {
                Initializer::Value(_) => !is_deeper,
                Initializer::List(list) => is_deeper && self.fits(list, level + 1),
                Initializer::Property(_) => false,
            })
    }

    /// An element below this level that is zero.
    fn zero(&self, level: usize) -> Initializer {
        let number = || {
            let text = if self.ty.kind() == TypeKind::Float { "0.0" } else { "0" };
            Initializer::Value(Expr::number(text))
        };
        match (level + 1 < self.extents.len(), self.vector) {
            (true, _) => Initializer::list(vec![self.zero(level + 1)]),
            (false, Some(count)) => Initializer::list((0..count).map(|_| number()).collect()),
            (false, None) => number(),
        }
    }

    fn is_zero(&self, item: &Initializer) -> bool {
        match item {
            Initializer::List(list) => list.items.iter().all(|item| self.is_zero(item)),
            Initializer::Property(_) => false,
            Initializer::Value(value) => {
                let [node] = value.nodes() else { return false };
                let ptxsmith_syntax::NodeKind::Number(text) = &node.kind else { return false };
                match read_number(text) {
                    Some(Number::Integer { value, .. }) => {
                        value == Some(0) && self.ty.kind() != TypeKind::Float
                    }
                    Some(Number::Float(value)) => value == 0.0 && self.ty.kind() == TypeKind::Float,
                    Some(Number::DoubleBits(bits)) => bits == 0 && self.ty.kind() == TypeKind::Float,
                    Some(Number::SingleBits(bits)) => bits == 0 && self.ty == ScalarType::F32,
                    None => false,
                }
            }
        }
    }
}

/// Does something with each declarator of an array that has lists.
struct Arrays<F>(F);

impl<F: FnMut(&mut Declarator, Shape)> VisitMut<'_> for Arrays<F> {
    fn declaration(&mut self, declaration: &mut Declaration) {
        for at in 0..declaration.declarators.len() {
            if let Some(shape) = Shape::of(declaration, &declaration.declarators[at]) {
                (self.0)(&mut declaration.declarators[at], shape);
            }
        }
    }
}

/// Adds zeros to the ends of lists of arrays, and leaves them out.
pub(super) fn fill(module: &mut Module, ways: &BTreeMap<u32, u64>) -> u32 {
    let mut place = 0;
    Arrays(|declarator: &mut Declarator, shape: Shape| {
        if let Some(Initializer::List(list)) = &mut declarator.initializer {
            fill_list(list, &shape, 0, &mut place, ways);
        }
    })
    .module(module);
    place
}

fn fill_list(
    list: &mut InitializerList,
    shape: &Shape,
    level: usize,
    place: &mut u32,
    ways: &BTreeMap<u32, u64>,
) {
    if level + 1 < shape.extents.len() {
        for item in &mut list.items {
            if let Initializer::List(inner) = item {
                fill_list(inner, shape, level + 1, place, ways);
            }
        }
    }
    let Some(extent) = shape.extents[level] else { return };
    let zeros = list.items.iter().rev().take_while(|item| shape.is_zero(item)).count();
    // An empty list is an open question.
    let shorter = zeros.min(list.items.len() - 1) as u64;
    let longer = (extent - list.items.len() as u64).min(MOST);
    if shorter + longer == 0 {
        return;
    }
    if let Some(&way) = ways.get(place) {
        // All of them as often as some.
        let amount = |most: u64| if way.is_multiple_of(2) { most } else { 1 + (way >> 2) % most };
        if longer == 0 || shorter > 0 && way & 2 == 0 {
            list.items.truncate(list.items.len() - amount(shorter) as usize);
        } else {
            list.items.extend((0..amount(longer)).map(|_| shape.zero(level)));
        }
    }
    *place += 1;
}

/// Writes first dimensions that are left out, and leaves out those that are the number of elements.
pub(super) fn first_dimension(module: &mut Module, ways: &BTreeMap<u32, u64>) -> u32 {
    let mut place = 0;
    Arrays(|declarator: &mut Declarator, shape: Shape| {
        let Some(Initializer::List(list)) = &declarator.initializer else { return };
        let own = list.items.len() as u64;
        if ways.contains_key(&place) {
            match shape.extents[0] {
                None => declarator.dimensions[0] = Some(Expr::number(own.to_string())),
                Some(extent) if extent == own => declarator.dimensions[0] = None,
                Some(_) => {}
            }
        }
        place += 1;
    })
    .module(module);
    place
}
