//! State spaces, types, linkage and opcodes: the closed vocabularies.

/// Defines an enum of keywords, with its table and the conversions from and to the spelling.
macro_rules! keywords {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        $crate::every! {
            $(#[$meta])*
            #[expect(missing_docs, reason = "the names are those of the keywords")]
            pub enum $name { $($variant),+ }
        }

        impl $name {
            /// Returns the spelling; for a directive with its leading dot.
            pub const fn keyword(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// Returns the keyword with this spelling.
            pub fn from_keyword(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.keyword())
            }
        }
    };
}

keywords! {
    /// A state space (5.1) that a declaration can name.
    StateSpace {
        Reg = ".reg",
        Sreg = ".sreg",
        Const = ".const",
        Global = ".global",
        Local = ".local",
        Param = ".param",
        Shared = ".shared",
        Tex = ".tex",
    }
}

impl StateSpace {
    /// Returns the name without its dot, as in reports.
    pub fn name(self) -> &'static str {
        &self.keyword()[1..]
    }
}

keywords! {
    /// A fundamental type (5.2).
    ScalarType {
        S8 = ".s8",
        S16 = ".s16",
        S32 = ".s32",
        S64 = ".s64",
        U8 = ".u8",
        U16 = ".u16",
        U32 = ".u32",
        U64 = ".u64",
        F16 = ".f16",
        F16x2 = ".f16x2",
        F32 = ".f32",
        F64 = ".f64",
        B8 = ".b8",
        B16 = ".b16",
        B32 = ".b32",
        B64 = ".b64",
        B128 = ".b128",
        Pred = ".pred",
    }
}

/// The kind of values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// `.sN`
    Signed,
    /// `.uN`
    Unsigned,
    /// `.fN`, `.f16x2`
    Float,
    /// `.bN`
    Bits,
    /// `.pred`
    Predicate,
}

impl TypeKind {
    /// The kinds of the types that may take an initial value (5.4.4).
    pub const OF_VALUES: &[TypeKind] =
        &[TypeKind::Signed, TypeKind::Unsigned, TypeKind::Bits, TypeKind::Float];
}

impl ScalarType {
    /// Returns the size in bytes; `None` for predicates, which have no storage.
    #[inline]
    pub const fn size(self) -> Option<u64> {
        Some(match self {
            ScalarType::S8 | ScalarType::U8 | ScalarType::B8 => 1,
            ScalarType::S16 | ScalarType::U16 | ScalarType::B16 | ScalarType::F16 => 2,
            ScalarType::S32 | ScalarType::U32 | ScalarType::B32 | ScalarType::F32 | ScalarType::F16x2 => 4,
            ScalarType::S64 | ScalarType::U64 | ScalarType::B64 | ScalarType::F64 => 8,
            ScalarType::B128 => 16,
            ScalarType::Pred => return None,
        })
    }

    /// Returns the size in bytes; zero for predicates, which have no storage.
    #[inline]
    pub const fn bytes(self) -> u64 {
        match self.size() {
            Some(size) => size,
            None => 0,
        }
    }

    /// Returns true if the specification defines initializers of this type (5.4.4). It excludes `.f16`, `.f16x2` and `.pred`,
    /// and has no constants of 128 bits.
    pub const fn takes_value(self) -> bool {
        match self {
            ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64 => true,
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => true,
            ScalarType::B8 | ScalarType::B16 | ScalarType::B32 | ScalarType::B64 => true,
            ScalarType::F32 | ScalarType::F64 => true,
            ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 | ScalarType::Pred => false,
        }
    }

    /// Returns the number of types of these kinds that can have an initializer.
    pub const fn count(kinds: &[TypeKind]) -> usize {
        let (mut count, mut at) = (0, 0);
        while at < ScalarType::ALL.len() {
            let (ty, mut kind) = (ScalarType::ALL[at], 0);
            while kind < kinds.len() {
                if ty.takes_value() && ty.kind() as u8 == kinds[kind] as u8 {
                    count += 1;
                }
                kind += 1;
            }
            at += 1;
        }
        count
    }

    /// Returns the types of these kinds that can have an initializer, widest first; types of equal size in the order of kinds.
    ///
    /// # Panics
    /// If `N` is not their [`count`](ScalarType::count). For a constant, this is a compile error.
    pub const fn with_values<const N: usize>(kinds: &[TypeKind]) -> [ScalarType; N] {
        assert!(N == ScalarType::count(kinds), "the types of these kinds are not so many");
        let (mut found, mut count, mut size) = ([ScalarType::S64; N], 0, 8);
        while size > 0 {
            let mut kind = 0;
            while kind < kinds.len() {
                let mut at = 0;
                while at < ScalarType::ALL.len() {
                    let ty = ScalarType::ALL[at];
                    if ty.takes_value() && ty.bytes() == size && ty.kind() as u8 == kinds[kind] as u8 {
                        found[count] = ty;
                        count += 1;
                    }
                    at += 1;
                }
                kind += 1;
            }
            size /= 2;
        }
        assert!(count == N, "a type is wider than 8 bytes, or has a size between powers of two");
        found
    }

    /// Returns the kind of values of the type.
    pub const fn kind(self) -> TypeKind {
        match self {
            ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64 => TypeKind::Signed,
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => TypeKind::Unsigned,
            ScalarType::F16 | ScalarType::F16x2 | ScalarType::F32 | ScalarType::F64 => TypeKind::Float,
            ScalarType::B8 | ScalarType::B16 | ScalarType::B32 | ScalarType::B64 | ScalarType::B128 => {
                TypeKind::Bits
            }
            ScalarType::Pred => TypeKind::Predicate,
        }
    }
}

keywords! {
    /// An opaque type for textures, samplers and surfaces (5.3).
    OpaqueType {
        Texref = ".texref",
        Samplerref = ".samplerref",
        Surfref = ".surfref",
    }
}

keywords! {
    /// The length of a vector type (5.4.2), including lengths that the specification does not allow.
    VectorLength {
        V2 = ".v2",
        V3 = ".v3",
        V4 = ".v4",
        V8 = ".v8",
    }
}

impl VectorLength {
    /// Returns the number of elements.
    pub const fn count(self) -> u64 {
        match self {
            VectorLength::V2 => 2,
            VectorLength::V3 => 3,
            VectorLength::V4 => 4,
            VectorLength::V8 => 8,
        }
    }
}

keywords! {
    /// A linking directive.
    Linkage {
        Extern = ".extern",
        Visible = ".visible",
        Weak = ".weak",
        Common = ".common",
    }
}

keywords! {
    /// An opcode that is parsed as an [`Instruction`](crate::Instruction). Other opcodes are kept as tokens.
    Opcode {
        Abs = "abs",
        Add = "add",
        Addc = "addc",
        And = "and",
        Atom = "atom",
        Bfe = "bfe",
        Bfi = "bfi",
        Bfind = "bfind",
        Bmsk = "bmsk",
        Bra = "bra",
        Brev = "brev",
        Brkpt = "brkpt",
        Brx = "brx",
        Call = "call",
        Clz = "clz",
        Cnot = "cnot",
        Cvt = "cvt",
        Cvta = "cvta",
        Div = "div",
        Dp2a = "dp2a",
        Dp4a = "dp4a",
        Exit = "exit",
        Fns = "fns",
        Ld = "ld",
        Lop3 = "lop3",
        Mad = "mad",
        Mad24 = "mad24",
        Madc = "madc",
        Match = "match",
        Max = "max",
        Min = "min",
        Mov = "mov",
        Mul = "mul",
        Mul24 = "mul24",
        Neg = "neg",
        Not = "not",
        Or = "or",
        Popc = "popc",
        Prmt = "prmt",
        Red = "red",
        Redux = "redux",
        Rem = "rem",
        Ret = "ret",
        Sad = "sad",
        Selp = "selp",
        Set = "set",
        Setp = "setp",
        Shf = "shf",
        Shfl = "shfl",
        Shl = "shl",
        Shr = "shr",
        Slct = "slct",
        St = "st",
        Sub = "sub",
        Subc = "subc",
        Szext = "szext",
        Trap = "trap",
        Vabsdiff = "vabsdiff",
        Vabsdiff2 = "vabsdiff2",
        Vabsdiff4 = "vabsdiff4",
        Vadd = "vadd",
        Vadd2 = "vadd2",
        Vadd4 = "vadd4",
        Vavrg2 = "vavrg2",
        Vavrg4 = "vavrg4",
        Vmad = "vmad",
        Vmax = "vmax",
        Vmax2 = "vmax2",
        Vmax4 = "vmax4",
        Vmin = "vmin",
        Vmin2 = "vmin2",
        Vmin4 = "vmin4",
        Vote = "vote",
        Vset = "vset",
        Vset2 = "vset2",
        Vset4 = "vset4",
        Vshl = "vshl",
        Vshr = "vshr",
        Vsub = "vsub",
        Vsub2 = "vsub2",
        Vsub4 = "vsub4",
        Xor = "xor",
    }
}
