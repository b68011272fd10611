//! Displays the bytes of a variable as values of its type.

use std::fmt::Write as _;

use ptxsmith_oracle::{Clause, Evaluator, RefusalClass, Rules, Trace};
use ptxsmith_syntax::{Declaration, Declarator, Expr, Module, Names, ScalarType, TypeKind};

/// The maximum number of elements that are displayed.
const MOST_ELEMENTS: usize = 64;
/// The maximum nesting that is displayed.
const MOST_LEVELS: usize = 256;

/// The type of a variable according to its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableType {
    scalar: ScalarType,
    vector: Option<u64>,
    /// The dimensions of the array, outermost first.
    extents: Vec<u64>,
}

/// An address in a variable, as the oracle and subjects both describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressSlot {
    /// Byte offset within the variable.
    pub offset: u64,
    /// The address in PTX syntax; see [`address`].
    pub text: String,
}

/// Formats an address in PTX syntax.
pub fn address(symbol: &str, addend: i64, generic: bool, byte: Option<u8>) -> String {
    let mut text = symbol.to_owned();
    if addend != 0 {
        let sign = if addend < 0 { '-' } else { '+' };
        let _ = write!(text, "{sign}{}", addend.unsigned_abs());
    }
    if generic {
        text = format!("generic({text})");
    }
    match byte {
        // A subject may report any number, but addresses have at most eight bytes.
        Some(byte @ 0..8) => format!("mask(0x{:X}, {text})", 0xff_u64 << (8 * byte)),
        Some(byte) => format!("byte {byte} of {text}"),
        None => text,
    }
}

/// The declarations at module scope, by name.
pub struct DeclaredTypes<'m> {
    names: Names<(&'m Declaration, &'m Declarator)>,
    version: (u32, u32),
}

impl<'m> DeclaredTypes<'m> {
    /// Collects the declarations of a module.
    pub fn new(module: &'m Module) -> DeclaredTypes<'m> {
        let mut names = Names::default();
        for declaration in module.declarations() {
            for declarator in &declaration.declarators {
                names.declare_by_role(&declarator.name.text, declarator.role(), (declaration, declarator));
            }
        }
        DeclaredTypes { names, version: module.version().unwrap_or((u32::MAX, 0)) }
    }

    /// Returns the type of the module-scope variable with this name and size, or `None` if its declaration
    /// does not determine it.
    pub fn variable(&self, name: &str, size: u64) -> Option<VariableType> {
        // A subject may report a numbered name with leading zeros, although the declared names have none.
        let &(declaration, declarator) = self.names.find(name, |_, digits| digits.parse().ok()).declared()?;
        let rules = Rules::default();
        let scalar = declaration.scalar_type()?;
        let vector = declaration.vector().map(|length| length.count());
        let mut evaluator = Evaluator::new(&rules, self.version);
        let mut given_size = scalar.size()? * vector.unwrap_or(1);
        let mut extents = Vec::new();
        for dimension in &declarator.dimensions {
            let extent = match dimension {
                Some(expr) => Some(extent(&mut evaluator, expr)?),
                None => None,
            };
            given_size = given_size.checked_mul(extent.unwrap_or(1))?;
            extents.push(extent);
        }
        // Only the first dimension can be omitted; it follows from the size.
        let extents = extents.into_iter().map(|extent| extent.or_else(|| size.checked_div(given_size)));
        Some(VariableType { scalar, vector, extents: extents.collect::<Option<_>>()? })
    }
}

fn extent(evaluator: &mut Evaluator<'_>, expr: &Expr) -> Option<u64> {
    let rule = (RefusalClass::Dimension, Clause::Dimension);
    Some(evaluator.integer(expr, rule, &mut Trace::default()).ok()?.bits)
}

impl VariableType {
    /// Returns the type as a declaration writes it before and after the name, without the name: `.v2
    /// .s32[3][2]`.
    pub fn type_text(&self) -> String {
        let mut text = String::new();
        if let Some(vector) = self.vector {
            let _ = write!(text, ".v{vector} ");
        }
        text.push_str(self.scalar.keyword());
        for extent in &self.extents {
            let _ = write!(text, "[{extent}]");
        }
        text
    }

    /// Formats the values as an initializer with nested braces; if there are many, only the first ones.
    pub fn values(&self, bytes: &[u8], slots: &[AddressSlot]) -> String {
        if self.extents.len() > MOST_LEVELS {
            return "...".to_owned();
        }
        let mut writer = ValueWriter { ty: self, bytes, slots, remaining: MOST_ELEMENTS, out: String::new() };
        writer.level(0, 0);
        writer.out
    }

    fn extent(&self, level: usize) -> Option<u64> {
        self.extents.get(level).copied().or_else(|| self.vector.filter(|_| level == self.extents.len()))
    }

    /// Returns the size in bytes of an entry at this level.
    fn stride(&self, level: usize) -> u64 {
        let below: u64 = (level + 1..).map_while(|level| self.extent(level)).product();
        below * self.scalar.bytes().max(1)
    }
}

struct ValueWriter<'a> {
    ty: &'a VariableType,
    bytes: &'a [u8],
    slots: &'a [AddressSlot],
    /// The number of elements that may still be written.
    remaining: usize,
    out: String,
}

impl ValueWriter<'_> {
    fn level(&mut self, level: usize, offset: u64) {
        let Some(extent) = self.ty.extent(level) else { return self.scalar(offset) };
        let stride = self.ty.stride(level);
        self.out.push('{');
        for index in 0..extent {
            if index > 0 {
                self.out.push_str(", ");
            }
            if self.remaining == 0 {
                self.out.push_str("...");
                break;
            }
            self.level(level + 1, offset + index * stride);
        }
        self.out.push('}');
    }

    fn scalar(&mut self, offset: u64) {
        self.remaining = self.remaining.saturating_sub(1);
        if let Some(slot) = self.slots.iter().find(|slot| slot.offset == offset) {
            return self.out.push_str(&slot.text);
        }
        let width = self.ty.scalar.bytes().max(1) as usize;
        // A subject may report fewer bytes than the type has.
        let text = match self.bytes.get(offset as usize..offset as usize + width) {
            Some(bytes) => scalar(self.ty.scalar, bytes),
            None => "?".to_owned(),
        };
        self.out.push_str(&text);
    }
}

/// Formats one value: integers in decimal, floating-point values in the shortest form with the same bits, and
/// all other types in hexadecimal.
fn scalar(ty: ScalarType, bytes: &[u8]) -> String {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u128::from_le_bytes(wide);
    let unused = 128 - 8 * bytes.len() as u32;
    match (ty.kind(), ty) {
        (TypeKind::Signed, _) => (((bits << unused) as i128) >> unused).to_string(),
        (TypeKind::Unsigned, _) => bits.to_string(),
        (_, ScalarType::F32) => {
            float(f32::from_bits(bits as u32).into(), format!("{:?}", f32::from_bits(bits as u32)), bits)
        }
        (_, ScalarType::F64) => {
            float(f64::from_bits(bits as u64), format!("{:?}", f64::from_bits(bits as u64)), bits)
        }
        _ => format!("0x{bits:0width$x}", width = 2 * bytes.len()),
    }
}

/// Formats a floating-point value. Infinities and NaNs have no literal, so their bits are appended.
fn float(value: f64, text: String, bits: u128) -> String {
    if value.is_finite() { text } else { format!("{text}(0x{bits:x})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable_type(declaration: &str, size: u64) -> VariableType {
        let module =
            ptxsmith_syntax::parse(&format!(".version 8.0\n.target sm_80\n{declaration}\n")).unwrap();
        DeclaredTypes::new(&module).variable("x", size).unwrap()
    }

    #[test]
    fn values_are_nested_as_the_type_is() {
        let bytes: Vec<u8> = (1..=6_i32).flat_map(i32::to_le_bytes).collect();
        let array = variable_type(".global .s32 x[3][2];", 24);
        assert_eq!(array.type_text(), ".s32[3][2]");
        assert_eq!(array.values(&bytes, &[]), "{{1, 2}, {3, 4}, {5, 6}}");
        let vectors = variable_type(".global .v2 .s32 x[] = {{1, 2}, {3, 4}, {5, 6}};", 24);
        assert_eq!(vectors.type_text(), ".v2 .s32[3]");
        assert_eq!(vectors.values(&bytes, &[]), "{{1, 2}, {3, 4}, {5, 6}}");
        assert_eq!(variable_type(".global .s32 x;", 4).values(&[0xff; 4], &[]), "-1");
        let numbered = ptxsmith_syntax::parse(".global .u8 x<2>, x1<3>; .global .u16 y<9>;").unwrap();
        let type_of =
            |name| DeclaredTypes::new(&numbered).variable(name, 1).map(|variable| variable.type_text());
        assert_eq!(
            ["x1", "x12", "x01", "y8"].map(type_of),
            [".u8", ".u8", ".u8", ".u16"].map(|ty| Some(ty.into()))
        );
        assert_eq!(["x", "x2", "z0"].map(type_of), [const { None }; 3]);
    }

    #[test]
    fn every_kind_of_value_is_readable() {
        assert_eq!(scalar(ScalarType::U64, &[0xff; 8]), "18446744073709551615");
        assert_eq!(scalar(ScalarType::S8, &[0x80]), "-128");
        assert_eq!(scalar(ScalarType::F32, &0.33_f32.to_le_bytes()), "0.33");
        assert_eq!(scalar(ScalarType::F32, &f32::INFINITY.to_le_bytes()), "inf(0x7f800000)");
        assert_eq!(scalar(ScalarType::F64, &(-0.0_f64).to_le_bytes()), "-0.0");
        assert_eq!(scalar(ScalarType::B16, &[0x34, 0x12]), "0x1234");
        assert_eq!(scalar(ScalarType::B128, &[1; 16]), "0x01010101010101010101010101010101");
    }

    #[test]
    fn an_address_is_shown_in_its_slot() {
        let slots = [AddressSlot { offset: 8, text: address("bar", 4, true, None) }];
        assert_eq!(variable_type(".global .u64 x[2];", 16).values(&[0; 16], &slots), "{0, generic(bar+4)}");
        assert_eq!(address("f", -8, false, Some(1)), "mask(0xFF00, f-8)");
        assert_eq!(address("f", i64::MIN, false, Some(9)), "byte 9 of f-9223372036854775808");
    }

    #[test]
    fn many_values_are_cut_and_missing_bytes_are_marked() {
        let deep = format!(".global .u8 x{};", "[1]".repeat(1 << 20));
        assert_eq!(variable_type(&deep, 1).values(&[0], &[]), "...");
        let text = variable_type(".global .u8 x[100000];", 100_000).values(&[0; 100_000], &[]);
        assert!(text.ends_with(", 0, ...}") && text.len() < 300, "{text}");
        assert_eq!(variable_type(".global .u16 x[2];", 4).values(&[1, 0], &[]), "{1, ?}");
    }
}
