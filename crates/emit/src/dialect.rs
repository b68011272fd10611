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
    /// Whether it knows `_Float16` and `__bf16`, which only clang has in device code.
    pub has_halves: bool,
}

impl Dialect {
    /// Returns the language of a compiler.
    pub fn of(compiler: &dyn Compiler) -> Dialect {
        let name = compiler.description().name;
        let has_managed = !matches!(name, "clang" | "gcc");
        Dialect { standard: standard(compiler), has_managed, has_halves: name == "clang" }
    }

    /// Returns a global in this language. What the language lacks is spelled without it: members without their
    /// names, the initialized member of a union first, bit fields by the initializer of the object, `char8_t` as
    /// `unsigned char`, `_Float16` and `__bf16` as `float`.
    pub fn fitted(self, mut global: CxxGlobal) -> CxxGlobal {
        if global.space == MemorySpace::Managed && !self.has_managed {
            global.space = MemorySpace::Device;
        }
        if self.standard == Standard::Cxx17 {
            without_names(&mut global.ty);
            replace(&mut global.ty, Scalar::Char8, Scalar::UnsignedChar);
        }
        if !self.has_halves {
            replace(&mut global.ty, Scalar::Half, Scalar::Float);
            replace(&mut global.ty, Scalar::Bfloat, Scalar::Float);
        }
        global
    }
}

/// Replaces a scalar type wherever it stands in a type.
fn replace(ty: &mut CxxType, lacking: Scalar, other: Scalar) {
    let scalar = match ty {
        CxxType::Scalar(scalar, _) => scalar,
        CxxType::Text(text) => &mut text.scalar,
        CxxType::Array(array) => return replace(&mut array.element, lacking, other),
        CxxType::Class(class) => return replace_in_class(class, lacking, other),
        CxxType::Pointer(_) | CxxType::Vector(_) => return,
    };
    if *scalar == lacking {
        *scalar = other;
    }
}

fn replace_in_class(class: &mut CxxClass, lacking: Scalar, other: Scalar) {
    class.bases.iter_mut().for_each(|base| replace_in_class(base, lacking, other));
    class.members.iter_mut().for_each(|member| replace(&mut member.ty, lacking, other));
}

fn without_names(ty: &mut CxxType) {
    match ty {
        CxxType::Array(array) => without_names(&mut array.element),
        CxxType::Class(class) => without_names_in_class(class),
        CxxType::Scalar(..) | CxxType::Text(_) | CxxType::Pointer(_) | CxxType::Vector(_) => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::GlobalGenerator;
    use crate::source::print::declaration;

    #[test]
    fn globals_for_the_older_language_have_no_designators() {
        let old = Dialect { standard: Standard::Cxx17, has_managed: false, has_halves: false };
        let new = Dialect { standard: Standard::Cxx20, has_managed: true, has_halves: true };
        let mut designated = 0;
        for number in 0..2000 {
            let global = GlobalGenerator::new(5).global(number);
            assert_eq!(new.fitted(global.clone()), global);
            designated += usize::from(declaration(&global).contains(".m"));
            let text = declaration(&old.fitted(global));
            let lacking = ["{.m", ", .m", "char8_t", "__managed__", "_Float16", "__bf16"];
            assert!(!lacking.iter().any(|word| text.contains(word)), "{text}");
        }
        assert!(designated > 20);
    }
}
