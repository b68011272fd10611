//! Shapes of declarations: dimensions, sizes, alignment, directives.

use ptxsmith_oracle::declares_no_name;
use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Item, Module, Node, NodeKind, ScalarType, Specifier, StateSpace,
    Statement, Text,
};

use super::words::{SPACES, Shaped, integer, is_name, wrapped};

/// What stands before the alignment of what a parameter points to.
const POINTER: Text = Text::const_new(".ptr");

/// `.maxntid` or `.reqntid` with a number whose low 32 bits are all ones.
pub fn ntid_overflow(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        let at = words.iter().position(|word| [".maxntid", ".reqntid"].contains(&&**word));
        let numbers = at.into_iter().flat_map(|at| &words[at + 1..]);
        let mut numbers = numbers.take_while(|word| *word == "," || integer(word).is_some());
        numbers.any(|word| integer(word).is_some_and(|number| number as u32 == u32::MAX))
    })
}

/// `.abi_preserve` with a number far beyond the registers that there are.
pub fn preserved_beyond(module: &Shaped<'_>) -> bool {
    module
        .words()
        .has(|[word, number]| word == ".abi_preserve" && integer(number).is_some_and(|number| number > 400))
}

/// `.abi_preserve` or `.abi_preserve_control` with a number of hundreds of millions.
pub fn preserved_control_beyond(module: &Shaped<'_>) -> bool {
    const WORDS: [&str; 2] = [".abi_preserve", ".abi_preserve_control"];
    let is_huge = |number: &str| integer(number).is_some_and(|number| number >= 1 << 26);
    module.words().has(|[word, number]| WORDS.contains(&word) && is_huge(number))
}

/// A header that begins with anything else, without a `.version` up to 8.0, or without an architecture.
pub fn header_of_another(module: &Shaped<'_>) -> bool {
    let is_known = |version: (u32, u32)| ((1, 0)..=(8, 0)).contains(&version);
    let begins = matches!(module.items.first(), Some(Item::Version(_) | Item::Target(_)));
    !begins
        || !module.version().is_some_and(is_known)
        || !module.targets().any(|target| target.starts_with("sm_"))
}

/// An array of a type that instructions have and variables do not, whose first dimension is given by a number or by a list of lists;
/// or a scalar of some of them, without a value.
pub fn instruction_type_array(module: &Shaped<'_>) -> bool {
    const TYPES: [&str; 12] = [
        ".e4m3", ".e5m2", ".e4m3x2", ".e5m2x2", ".e2m1x2", ".e2m3x2", ".e3m2x2", ".ue8m0x2", ".s2f6x2",
        ".u16x2", ".s16x2", ".f32x2",
    ];
    // Of these 12.0 to 12.6 die as scalars too.
    const SCALARS: [&str; 3] = [".e4m3", ".e5m2", ".f32x2"];
    // Instructions name these types too.
    let declares =
        |own: &&[Text]| own[0].starts_with('.') && own.iter().any(|word| SPACES.contains(&&**word));
    module.words().statements().filter(declares).any(|own| {
        let has_value = own.iter().any(|word| word == "=");
        let scalar = own.windows(2).any(|pair| SCALARS.contains(&&*pair[0]) && is_name(&pair[1]));
        if scalar && !has_value {
            return true;
        }
        let lists = own.windows(2).any(|pair| pair[0] == "{" && pair[1] == "{");
        own.windows(4).any(|run| TYPES.contains(&&*run[0]) && run[2] == "[" && (run[3] != "]" || lists))
    })
}

/// A variable that is aligned at a power of two of 2^28 or more.
pub fn huge_alignment(module: &Shaped<'_>) -> bool {
    let is_huge = |number: &str| integer(number).is_some_and(|n| n >= 1 << 28 && n.is_power_of_two());
    module.words().has(|[word, number]| word == ".align" && is_huge(number))
}

/// The declarations in bodies.
pub(super) fn inner_declarations(module: &Module) -> impl Iterator<Item = &Declaration> {
    let inner = module.functions().flat_map(|function| function.statements());
    inner.filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    })
}

/// A function with `.local` variables of 2^26 bytes or more in all.
pub fn huge_local(module: &Shaped<'_>) -> bool {
    module.functions().any(|function| {
        let own = function.statements().filter_map(|statement| match statement {
            Statement::Variables(declaration) if declaration.space() == Some(StateSpace::Local) => {
                Some(declaration)
            }
            _ => None,
        });
        own.flat_map(sizes).fold(0, |all: u128, (_, size)| all.saturating_add(size)) >> 26 != 0
    })
}

/// A declaration with hundreds of dimensions.
pub fn many_dimensions(module: &Shaped<'_>) -> bool {
    let inner = inner_declarations(module);
    let passed = module.functions().flat_map(|f| f.results.iter().chain(&f.parameters)).flatten();
    let mut all = module.declarations().chain(inner).chain(passed).flat_map(|own| &own.declarators);
    all.any(|declarator| declarator.dimensions.len() >= 500)
}

/// Old debug data without a section: `@@DWARF` and another directive than `.section`.
pub fn data_without_section(module: &Shaped<'_>) -> bool {
    module.words().has(|[mark, word]| {
        mark.trim_start_matches('@') == "DWARF" && word.starts_with('.') && word != ".section"
    })
}

/// A declaration without a name.
pub fn nameless(module: &Shaped<'_>) -> bool {
    module.items.iter().any(|item| matches!(item, Item::Unread(unread) if declares_no_name(unread)))
}

/// `.align` given twice in one declaration.
pub fn alignment_twice(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|own| {
        own.split(|word| ["(", ",", ")"].contains(&&**word))
            .any(|part| part.iter().filter(|word| *word == ".align").count() > 1)
    })
}

/// Variables in `.global`, of bodies too, that take 2^32 bytes or more together, as their sizes are counted ([`size_in_bits`]).
pub fn section_of_32_bits(module: &Shaped<'_>) -> bool {
    let all = module.declarations().chain(inner_declarations(module));
    let global = all.filter(|declaration| declaration.space() == Some(StateSpace::Global));
    let counted = |declaration: &Declaration| {
        let element = element_size(declaration);
        let each = declaration.declarators.iter().map(move |declarator| {
            let counts = declarator.dimensions.iter().flatten().map(|count| written(count).unwrap_or(1));
            size_in_bits(&counts.collect::<Vec<u64>>(), element)
        });
        each.fold(0, u64::saturating_add)
    };
    global.map(counted).fold(0, u64::saturating_add) >> 32 != 0
}

/// A dimension that is one number, modulo 2^64.
fn written(count: &Expr) -> Option<u64> {
    match count.nodes() {
        [Node { kind: NodeKind::Number(text), .. }] => wrapped(text),
        _ => None,
    }
}

/// Bytes of an array, where its bits are counted in 64 bits, and those of what its outermost dimension is of in 32, with a sign.
pub fn size_in_bits(extents: &[u64], element: u64) -> u64 {
    let Some((&outermost, inner)) = extents.split_first() else { return element };
    let row = |bits: i64, &extent: &u64| i64::from(bits.wrapping_mul(extent as i64) as i32);
    let bits = inner.iter().rev().fold(8 * element as i64, row);
    (bits as u64).wrapping_mul(outermost) / 8
}

/// Bytes of what a declaration has arrays of: a scalar, or a vector.
fn element_size(declaration: &Declaration) -> u64 {
    let lanes = declaration.specifiers.iter().find_map(|word| match word {
        Specifier::Vector(length) => Some(length.count()),
        _ => None,
    });
    declaration.scalar_type().map_or(0, ScalarType::bytes) * lanes.unwrap_or(1)
}

/// The variables of a declaration and their sizes in bytes, as far as dimensions are numbers.
pub(super) fn sizes(declaration: &Declaration) -> impl Iterator<Item = (&Declarator, u128)> {
    let size = u128::from(element_size(declaration));
    declaration.declarators.iter().map(move |declarator| {
        let counts = declarator.dimensions.iter().flatten().map(|count| count.as_integer().unwrap_or(1));
        (declarator, counts.fold(size, |size, count| size.saturating_mul(count.into())))
    })
}

/// An alignment behind the type of a parameter, and not that of what a `.ptr` points to.
pub fn alignment_last(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        words.split(|word| ["(", ",", ")"].contains(&&**word)).any(|own| {
            let align = own.iter().position(|word| word == ".align");
            let ty = own.iter().position(|word| ScalarType::from_keyword(word).is_some());
            own.first().is_some_and(|word| word == ".param")
                && matches!((align, ty), (Some(align), Some(ty)) if ty < align && !own[..align].contains(&POINTER))
        })
    })
}

/// An alignment before the state space.
pub fn alignment_first(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        let align = words.iter().position(|word| word == ".align");
        let space = words.iter().position(|word| SPACES.contains(&&**word));
        matches!((align, space), (Some(align), Some(space)) if align < space)
    })
}

/// A `.local` variable that is aligned at 2^24 or more.
pub fn local_alignment(module: &Shaped<'_>) -> bool {
    module.words().has(|[space, word, number]| {
        space == ".local" && word == ".align" && integer(number).is_some_and(|align| align >= 1 << 24)
    })
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn a_number_of_threads_overflows_in_any_of_its_places_and_in_no_other_directive() {
        let of = |directives: &str| ntid_overflow(&module(&format!(".entry k() {directives} {{ ret; }}")));
        assert!(of(".maxntid 4294967295") && of(".reqntid 1, 1, 4294967295") && of(".reqntid 8589934591"));
        assert!(!of(".maxntid 4294967294") && !of(".maxntid 1, 2, 3 .minnctapersm 4294967295"));
        assert!(!of(".minnctapersm 4294967295"));
    }

    #[test]
    fn only_old_debug_data_without_a_section_counts() {
        let of = |text: &str| data_without_section(&module(text));
        assert!(of("@@DWARF .b8 1") && of(".entry k() { ret; } @@DWARF .4byte 1"));
        assert!(!of("@@DWARF .section .debug_info, \"\", @progbits") && !of(".global .u32 DWARF;"));
    }

    #[test]
    fn a_header_begins_with_a_version_and_has_an_architecture() {
        let of = |text: &str| header_of_another(&ptxsmith_syntax::parse(text).unwrap().into());
        assert!(of("") && of(".version 8.1\n.target sm_80\n") && of(".version 7.8\n.target debug\n"));
        assert!(
            of(".version\n.version 7.8\n.target sm_80\n")
                && of(".global .u64 a;\n.version 7.8\n.target sm_80\n")
        );
        assert!(!of(".version 7.8\n.target sm_80\n.global .u64 a;") && !of(".target sm_80\n.version 7.8\n"));
    }

    #[test]
    fn a_kernel_with_64_mib_of_local_variables_has_many() {
        let of = |text: &str| huge_local(&module(text));
        assert!(of(".entry k() { .local .u8 x[67108864]; ret; }"));
        assert!(of(".entry k() { .local .u64 x[4194304]; { .local .u64 y[4194304]; } ret; }"));
        assert!(!of(".entry k() { .local .u8 x[67108863]; ret; }") && !of(".global .u8 x[67108864];"));
    }

    #[test]
    fn an_array_of_a_type_of_instructions_has_a_dimension_or_a_list_of_lists() {
        let of = |text: &str| instruction_type_array(&module(text));
        assert!(of(".global .e4m3x2 a[] = {{}};") && of(".global .u16x2 a[1];") && of(".global .e4m3 a;"));
        assert!(
            !of(".global .e4m3x2 a[] = {1};")
                && !of(".global .e4m3x2 a[];")
                && !of(".global .b8 a[] = {{}};")
        );
        assert!(!of(".entry k() { .reg .b64 r; add.rn.f32x2 r, r, r; ret; }"));
    }

    #[test]
    fn variables_of_bodies_lie_in_the_section_of_32_bits_too() {
        let of = |text: &str| section_of_32_bits(&module(text));
        assert!(
            of(".global .u32 x[1073741824];") && of(".entry k() { { .global .u32 x[1073741824]; } ret; }")
        );
        assert!(!of(".entry k() { .global .u32 x[1073741823]; .shared .u32 y[1073741824]; ret; }"));
    }

    #[test]
    fn there_are_400_registers_to_preserve_and_alignments_below_2_24() {
        let preserves = |count: u32| preserved_beyond(&module(&format!(".func f() .abi_preserve {count};")));
        assert!(preserves(401) && !preserves(400));
        let of = |align: u32| {
            local_alignment(&module(&format!(".entry k() {{ .local .align {align} .b8 x[8]; ret; }}")))
        };
        assert!(of(1 << 24) && !of(1 << 23));
    }

    #[test]
    fn an_instruction_that_names_a_space_and_a_type_declares_nothing() {
        assert!(!instruction_type_array(&module(".entry k() { .reg .b64 r; ld.global.f32x2 r, [r]; ret; }")));
    }

    #[test]
    fn what_lies_in_shared_memory_is_not_local() {
        assert!(!huge_local(&module(".entry k() { .shared .u8 x[67108864]; ret; }")));
    }
}
