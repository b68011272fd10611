//! Shapes of declarations: dimensions, sizes, alignment, directives.

use ptxsmith_oracle::declares_no_name;
use ptxsmith_syntax::{Declaration, Declarator, Item, Module, ScalarType, Specifier, Statement};

use super::words::{SPACES, Words, integer};

/// `.maxntid` or `.reqntid` with a number whose low 32 bits are all ones.
pub fn ntid_overflow(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let at = words.iter().position(|word| [".maxntid", ".reqntid"].contains(&&**word));
        let numbers = at.into_iter().flat_map(|at| &words[at + 1..]);
        let mut numbers = numbers.take_while(|word| *word == "," || integer(word).is_some());
        numbers.any(|word| integer(word).is_some_and(|number| number as u32 == u32::MAX))
    })
}

/// A variable that is aligned at a power of two of 2^28 or more.
pub fn huge_alignment(module: &Module) -> bool {
    let is_huge = |number: &str| integer(number).is_some_and(|n| n >= 1 << 28 && n.is_power_of_two());
    Words::of(module).has(|[word, number]| word == ".align" && is_huge(number))
}

/// A declaration with hundreds of dimensions.
pub fn many_dimensions(module: &Module) -> bool {
    let inner = module.functions().flat_map(|function| function.statements());
    let inner = inner.filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let passed = module.functions().flat_map(|f| f.results.iter().chain(&f.parameters)).flatten();
    let mut all = module.declarations().chain(inner).chain(passed).flat_map(|own| &own.declarators);
    all.any(|declarator| declarator.dimensions.len() >= 500)
}

/// A declaration without a name.
pub fn nameless(module: &Module) -> bool {
    module.items.iter().any(|item| matches!(item, Item::Unread(unread) if declares_no_name(unread)))
}

/// `.align` given twice in one declaration.
pub fn alignment_twice(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|own| {
        own.split(|word| ["(", ",", ")"].contains(&&**word))
            .any(|part| part.iter().filter(|word| *word == ".align").count() > 1)
    })
}

/// A variable of 2^31 bytes or more, or one whose rows have 2^31 bits or more.
pub fn size_of_32_bits(module: &Module) -> bool {
    let is_wide = |(declarator, size): (&Declarator, u128)| {
        let rows = declarator.dimensions.first().and_then(Option::as_ref).and_then(|rows| rows.as_integer());
        let row =
            rows.filter(|_| declarator.dimensions.len() > 1).map_or(0, |rows| size / u128::from(rows.max(1)));
        size >> 31 != 0 || row >> 28 != 0
    };
    module.declarations().flat_map(sizes).any(is_wide)
}

/// The variables of a declaration and their sizes in bytes, as far as dimensions are numbers.
pub(super) fn sizes(declaration: &Declaration) -> impl Iterator<Item = (&Declarator, u128)> {
    let lanes = declaration.specifiers.iter().find_map(|word| match word {
        Specifier::Vector(length) => Some(u128::from(length.count())),
        _ => None,
    });
    let scalar = declaration.scalar_type().map_or(0, ScalarType::bytes);
    let size = u128::from(scalar) * lanes.unwrap_or(1);
    declaration.declarators.iter().map(move |declarator| {
        let counts = declarator.dimensions.iter().flatten().map(|count| count.as_integer().unwrap_or(1));
        (declarator, counts.fold(size, |size, count| size.saturating_mul(count.into())))
    })
}

/// An alignment behind the type of a parameter.
pub fn alignment_last(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        words.split(|word| ["(", ",", ")"].contains(&&**word)).any(|own| {
            let align = own.iter().position(|word| word == ".align");
            let ty = own.iter().position(|word| ScalarType::from_keyword(word).is_some());
            own.first().is_some_and(|word| word == ".param")
                && matches!((align, ty), (Some(align), Some(ty)) if ty < align)
        })
    })
}

/// An alignment before the state space.
pub fn alignment_first(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let align = words.iter().position(|word| word == ".align");
        let space = words.iter().position(|word| SPACES.contains(&&**word));
        matches!((align, space), (Some(align), Some(space)) if align < space)
    })
}

/// A `.local` variable that is aligned at 2^24 or more.
pub fn local_alignment(module: &Module) -> bool {
    Words::of(module).has(|[space, word, number]| {
        space == ".local" && word == ".align" && integer(number).is_some_and(|align| align >= 1 << 24)
    })
}
