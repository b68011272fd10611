//! The vector types of CUDA (CUDA C++ Programming Guide, "Built-in Vector Types").

use super::{CxxLiteral, Scalar};

/// A vector with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxVector {
    /// The type of a component.
    pub element: Scalar,
    /// The number of components, at most 4.
    pub length: u32,
    /// The value of the first component. In the others, the index is added to integers.
    pub value: CxxLiteral,
}

/// The component types, each with the name of its vectors.
pub const ELEMENTS: [(Scalar, &str); 9] = [
    (Scalar::SignedChar, "char"),
    (Scalar::UnsignedChar, "uchar"),
    (Scalar::Short, "short"),
    (Scalar::UnsignedShort, "ushort"),
    (Scalar::Int, "int"),
    (Scalar::Unsigned, "uint"),
    (Scalar::UnsignedLongLong, "ulonglong"),
    (Scalar::Float, "float"),
    (Scalar::Double, "double"),
];

/// The names of the components.
pub const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl CxxVector {
    /// Returns the name of the type.
    pub fn name(&self) -> String {
        let stem =
            ELEMENTS.iter().find(|(element, _)| *element == self.element).map_or("int", |(_, stem)| stem);
        format!("{stem}{}", self.length)
    }

    /// Returns the alignment: that of the whole for one, two and four components, at most 16, and that of a
    /// component for three.
    fn align(&self) -> usize {
        let size = self.element.size();
        if self.length == 3 { size } else { (size * self.length as usize).min(16) }
    }

    /// Returns a structure with the layout of this type, for compilers that do not know it.
    pub fn stand_in(&self) -> String {
        let (align, name) = (self.align(), self.name());
        let components = COMPONENTS[..self.length as usize].join(", ");
        format!("struct alignas({align}) {name} {{ {} {components}; }};", self.element.name())
    }

    /// Returns all vector types.
    pub fn all() -> impl Iterator<Item = CxxVector> {
        ELEMENTS.into_iter().flat_map(|(element, _)| {
            (1..=4).map(move |length| CxxVector { element, length, value: CxxLiteral::Integer(5) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_components_have_the_alignment_of_one_and_four_of_eight_bytes_that_of_two() {
        let vector =
            |element, length| CxxVector { element, length, value: CxxLiteral::Integer(0) }.stand_in();
        assert_eq!(vector(Scalar::Float, 3), "struct alignas(4) float3 { float x, y, z; };");
        assert_eq!(vector(Scalar::Double, 4), "struct alignas(16) double4 { double x, y, z, w; };");
    }
}
