//! The constructs of CUDA C++ that a compiler lacks, and what takes their place in the globals shown to it.

use ptxsmith_cuda::language::Standard;
use ptxsmith_cuda::subjects::Compiler;

use crate::ask::standard;
use crate::source::{CxxClass, CxxGlobal, CxxType, MemorySpace, Scalar};

/// The language of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The language version. C++17 has no designated initializers, no default initializers of bit
    /// fields, and no `char8_t`.
    pub standard: Standard,
    /// Whether it knows `__managed__`, which clang has for HIP only, and GCC not at all.
    pub has_managed: bool,
}

impl Dialect {
    /// Returns the language of a compiler.
    pub fn of(compiler: &dyn Compiler) -> Dialect {
        let has_managed = !matches!(compiler.description().name, "clang" | "gcc");
        Dialect { standard: standard(compiler), has_managed }
    }

    /// Returns a global in this language. What the language lacks is spelled without it: members without their
    /// names, the initialized member of a union first, bit fields by the initializer of the object, `char8_t` as
    /// `unsigned char`.
    pub fn fitted(self, mut global: CxxGlobal) -> CxxGlobal {
        if global.space == MemorySpace::Managed && !self.has_managed {
            global.space = MemorySpace::Device;
        }
        if self.standard == Standard::Cxx17 {
            without_names(&mut global.ty);
        }
        global
    }
}

fn without_names(ty: &mut CxxType) {
    match ty {
        CxxType::Scalar(scalar, _) => *scalar = without_char8(*scalar),
        CxxType::Text(text) => text.scalar = without_char8(text.scalar),
        CxxType::Array(array) => without_names(&mut array.element),
        CxxType::Class(class) => without_names_in_class(class),
        CxxType::Pointer(_) | CxxType::Vector(_) => {}
    }
}

fn without_names_in_class(class: &mut CxxClass) {
    class.is_designated = false;
    if class.members.iter().any(|member| member.width.is_some()) {
        class.has_defaults = false;
    }
    if class.is_union && class.active > 0 {
        class.members.swap(0, class.active);
        class.active = 0;
    }
    class.bases.iter_mut().for_each(without_names_in_class);
    class.members.iter_mut().for_each(|member| without_names(&mut member.ty));
}

fn without_char8(scalar: Scalar) -> Scalar {
    if scalar == Scalar::Char8 { Scalar::UnsignedChar } else { scalar }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::GlobalGenerator;
    use crate::source::print::declaration;

    #[test]
    fn globals_for_the_older_language_have_no_designators() {
        let old = Dialect { standard: Standard::Cxx17, has_managed: false };
        let new = Dialect { standard: Standard::Cxx20, has_managed: true };
        let mut designated = 0;
        for number in 0..2000 {
            let global = GlobalGenerator::new(5).global(number);
            assert_eq!(new.fitted(global.clone()), global);
            designated += usize::from(declaration(&global).contains(".m"));
            let text = declaration(&old.fitted(global));
            let has_designator = text.contains("{.m") || text.contains(", .m");
            assert!(!has_designator && !text.contains("char8_t") && !text.contains("__managed__"), "{text}");
        }
        assert!(designated > 20);
    }
}
