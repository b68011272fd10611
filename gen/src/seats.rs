//! One constant in every place where it may stand.

use ptxsmith_syntax::{
    Assemble, Declaration, Declarator, Expr, Initializer, Item, Name, ScalarType, Span, Specifier,
    StateSpace, TreeBuilder, VectorLength,
};

use ScalarType as T;
use StateSpace::{Const, Global};

/// Where the constant stands: the last scalar of a variable of this form, all others being zero.
#[derive(Clone, Copy)]
enum Form {
    Scalar,
    Vector,
    /// An array of these extents.
    Array(&'static [u64]),
    ArrayOfVectors,
    /// Eight bytes, each of which a mask takes of the constant.
    Masks,
}

use Form::{Array, ArrayOfVectors, Masks, Scalar, Vector};

const INTEGER_SEATS: &[(StateSpace, ScalarType, Form)] = &[
    (Global, T::S64, Scalar),
    (Global, T::U64, Scalar),
    (Global, T::B64, Scalar),
    (Global, T::S32, Scalar),
    (Global, T::U32, Scalar),
    (Global, T::B32, Scalar),
    (Global, T::S16, Scalar),
    (Global, T::U16, Scalar),
    (Global, T::B16, Scalar),
    (Global, T::S8, Scalar),
    (Global, T::U8, Scalar),
    (Global, T::B8, Scalar),
    (Const, T::S64, Scalar),
    (Const, T::U32, Scalar),
    (Global, T::U64, Array(&[2])),
    (Const, T::S16, Array(&[2])),
    (Global, T::S64, Array(&[2, 2])),
    (Global, T::B8, Array(&[2, 1, 2])),
    (Global, T::U64, Vector),
    (Const, T::S32, Vector),
    (Global, T::S64, ArrayOfVectors),
    (Global, T::U8, Masks),
];

const FLOAT_SEATS: &[(StateSpace, ScalarType, Form)] = &[
    (Global, T::F64, Scalar),
    (Global, T::F32, Scalar),
    (Const, T::F64, Scalar),
    (Const, T::F32, Scalar),
    (Global, T::F64, Array(&[2])),
    (Global, T::F32, Array(&[2, 2])),
    (Global, T::F64, Vector),
    (Global, T::F32, Vector),
    (Const, T::F64, ArrayOfVectors),
];

/// Declarations of variables whose last scalar, or whose eight bytes, are this constant.
pub(crate) fn seats(constant: &Expr, float: bool, masks: bool) -> Vec<Item> {
    let table = if float { FLOAT_SEATS } else { INTEGER_SEATS };
    let usable = table.iter().filter(|(.., form)| masks || !matches!(form, Masks));
    let declaration = |(number, &(space, ty, form)): (usize, &(StateSpace, ScalarType, Form))| {
        let mut specifiers = vec![Specifier::Space(space, None)];
        if matches!(form, Vector | ArrayOfVectors) {
            specifiers.push(Specifier::Vector(VectorLength::V2));
        }
        specifiers.push(Specifier::Type(ty));
        let zero = Expr::number(if float { "0.0" } else { "0" });
        let extents: &[u64] = match form {
            Scalar | Vector => &[],
            Array(extents) => extents,
            ArrayOfVectors => &[2],
            Masks => &[8],
        };
        let initializer = match form {
            Scalar => Initializer::Value(constant.clone()),
            Vector => last_of(&[2], constant, &zero),
            Array(extents) => last_of(extents, constant, &zero),
            ArrayOfVectors => last_of(&[2, 2], constant, &zero),
            Masks => Initializer::list((0..8).map(|byte| masked(constant, byte)).collect()),
        };
        let dimensions = extents.iter().map(|extent| Some(Expr::number(extent.to_string()))).collect();
        let name = Name::new(format!("v{number}"));
        let declarators = vec![Declarator { name, count: None, dimensions, initializer: Some(initializer) }];
        Item::Variables(Declaration { specifiers, declarators, span: Span::NONE })
    };
    usable.enumerate().map(declaration).collect()
}

/// Lists of these extents, full of zeros but for the last entry.
fn last_of(extents: &[u64], constant: &Expr, zero: &Expr) -> Initializer {
    let [extent, inner @ ..] = extents else { return Initializer::Value(constant.clone()) };
    let entry = |index| last_of(inner, if index + 1 == *extent { constant } else { zero }, zero);
    Initializer::list((0..*extent).map(entry).collect())
}

fn masked(constant: &Expr, byte: u32) -> Initializer {
    let mask = format!("{:#x}", 0xff_u64 << (8 * byte));
    let mut tree = TreeBuilder::default();
    tree.graft(constant);
    tree.mask(&mask);
    Initializer::Value(tree.take())
}
