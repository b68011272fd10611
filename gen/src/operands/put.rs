//! Building blocks of probes: adding instructions, registers and names to a kernel.

use std::fmt::Display;

use ptxsmith_syntax::ScalarType;

use super::KernelText;

/// Adds instructions and labels to a kernel. After the kernel, accepts the arguments of `format!`.
macro_rules! put {
    ($kernel:expr, $($text:tt)+) => {{
        let text = format!($($text)+);
        $kernel.body += &text;
    }};
}
pub(super) use put;

/// Returns the name prefix of the registers of a type. Each type has its own, so that one parameterized name declares them all.
fn prefix(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::U64 => "q",
        ScalarType::S64 => "qs",
        ScalarType::B64 => "qb",
        ScalarType::U32 => "r",
        ScalarType::S32 => "rs",
        ScalarType::B32 => "rb",
        ScalarType::U16 => "h",
        ScalarType::S16 => "hs",
        ScalarType::B16 => "hb",
        ScalarType::F32 => "fl",
        ScalarType::F64 => "fd",
        ScalarType::Pred => "p",
        // Values of these types are held in registers of another type, or never in registers.
        ScalarType::U8 | ScalarType::S8 | ScalarType::B8 => "x",
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 => "x",
    }
}

/// Returns the type of the registers that hold values of a type. 8-bit values are held in 16-bit registers.
fn held_in(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::U8 => ScalarType::U16,
        ScalarType::S8 => ScalarType::S16,
        ScalarType::B8 => ScalarType::B16,
        ty => {
            assert!(ty.size() != Some(1), "a register has 16 bits or more");
            ty
        }
    }
}

impl KernelText {
    /// Returns a new register for values of a type.
    pub(super) fn register(&mut self, ty: ScalarType) -> String {
        let ty = held_in(ty);
        let (_, count) = self.registers.entry(prefix(ty)).or_insert((ty, 0));
        *count += 1;
        format!("{}{}{}", self.sigil, prefix(ty), *count - 1)
    }

    /// Moves `value` into a new register and returns the register.
    pub(super) fn held(&mut self, ty: ScalarType, value: impl Display) -> String {
        let register = self.register(ty);
        put!(self, "mov{} {register}, {value};", held_in(ty));
        register
    }

    /// Declares a vector register with `lanes` elements and returns its name.
    pub(super) fn vector(&mut self, ty: ScalarType, lanes: u64) -> String {
        let name = format!("{}w{}", self.sigil, self.vectors.len());
        self.vectors.push(format!(".reg .v{lanes} {} {name};", held_in(ty)));
        name
    }

    /// Returns a new name, unique in this kernel: the prefix and a number.
    pub(super) fn named(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named - 1)
    }

    /// Writes a register of this type to the output buffer, at the next aligned offset.
    pub(super) fn show(&mut self, ty: ScalarType, register: &str) {
        let ty = held_in(ty);
        let size = ty.bytes();
        let at = self.out.next_multiple_of(size);
        self.out = at + size;
        let to = offset(&pointer(self.sigil), at);
        put!(self, "st.global{ty} {to}, {register};");
    }

    /// Moves an operand into a register with `mov` and writes it to the output buffer.
    pub(super) fn show_value(&mut self, ty: ScalarType, value: impl Display) {
        let register = self.held(ty, value);
        self.show(ty, &register);
    }

    /// Writes registers to the output buffer in order.
    pub(super) fn show_all(&mut self, ty: ScalarType, registers: &[String]) {
        registers.iter().for_each(|register| self.show(ty, register));
    }
}

/// Returns the register that points to the output buffer.
pub(super) fn pointer(sigil: &str) -> String {
    format!("{sigil}o")
}

/// Returns the address `bytes` bytes past a name: `[x]` or `[x + 4]`.
pub(super) fn offset(name: &str, bytes: u64) -> String {
    if bytes == 0 { format!("[{name}]") } else { format!("[{name} + {bytes}]") }
}
