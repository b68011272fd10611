//! The forms of instructions: one row for several types, with what each operand is.

use std::sync::LazyLock;

/// What an operand is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A value of a type.
    Value(Type),
    /// The number of a bit, or a count of bits: boundaries at and beyond this width.
    Bits(u32),
    /// A divisor of a type.
    Divisor(Type),
    /// Four selectors of bytes.
    Selectors,
    /// The two bits that choose within a mode.
    Choice,
    /// A table of eight bits.
    Table,
    Predicate,
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub bits: u32,
    pub signed: bool,
}

/// One instruction without its operands.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub opcode: String,
    /// The destination: a value or a predicate.
    pub result: Slot,
    pub sources: Vec<Slot>,
}

const INTEGERS: &str = "u16 s16 u32 s32 u64 s64";
const SIGNED: &str = "s16 s32 s64";
const HALVES_AND_WORDS: &str = "u16 s16 u32 s32";
const WORDS: &str = "u32 s32";
const LONG: &str = "u32 s32 u64 s64";
const BITS: &str = "b16 b32 b64";
const LONG_BITS: &str = "b32 b64";
const SHIFTED: &str = "b16 b32 b64 u16 s16 u32 s32 u64 s64";

/// Opcodes with `%` for the type, the types, and the operands: `t` of the type, `d` of twice its width, `w` of 32 bits, `i` a signed
/// one, `c` bits, `v` a divisor, `s` selectors, `m` a choice, `l` a table, `p` a predicate.
const ROWS: &[(&str, &str, &str)] = &[
    ("add.% sub.% mul.lo.% mul.hi.% min.% max.%", INTEGERS, "ttt"),
    ("add.sat.% sub.sat.%", "s32", "ttt"),
    ("mul.wide.%", HALVES_AND_WORDS, "dtt"),
    ("mad.lo.% mad.hi.% sad.%", INTEGERS, "tttt"),
    ("mad.wide.%", HALVES_AND_WORDS, "dttd"),
    ("mad.hi.sat.%", "s32", "tttt"),
    ("mul24.lo.% mul24.hi.%", WORDS, "ttt"),
    ("mad24.lo.% mad24.hi.%", WORDS, "tttt"),
    ("div.% rem.%", "u32", "ttv"),
    ("abs.% neg.%", SIGNED, "tt"),
    ("and.% or.% xor.%", BITS, "ttt"),
    ("not.% cnot.%", BITS, "tt"),
    ("shl.%", BITS, "ttc"),
    ("shr.%", SHIFTED, "ttc"),
    ("shf.l.wrap.% shf.l.clamp.% shf.r.wrap.% shf.r.clamp.%", "b32", "tttc"),
    ("bfe.%", LONG, "ttcc"),
    ("bfi.%", LONG_BITS, "tttcc"),
    ("bfind.% bfind.shiftamt.%", LONG, "wt"),
    ("clz.% popc.%", LONG_BITS, "wt"),
    ("brev.%", LONG_BITS, "tt"),
    ("bmsk.clamp.% bmsk.wrap.%", "b32", "tcc"),
    ("szext.clamp.% szext.wrap.%", WORDS, "ttc"),
    ("prmt.%", "b32", "ttts"),
    ("prmt.%.f4e prmt.%.b4e prmt.%.rc8 prmt.%.ecl prmt.%.ecr prmt.%.rc16", "b32", "tttm"),
    ("lop3.%", "b32", "ttttl"),
    ("dp4a.u32.% dp4a.s32.% dp2a.lo.u32.% dp2a.lo.s32.% dp2a.hi.u32.% dp2a.hi.s32.%", WORDS, "wwww"),
    ("selp.%", BITS, "tttp"),
    ("slct.%.s32", BITS, "ttti"),
    ("setp.lt.% setp.le.% setp.gt.% setp.ge.% setp.eq.% setp.ne.%", INTEGERS, "ptt"),
    ("setp.lo.% setp.ls.% setp.hi.% setp.hs.%", "u16 u32 u64", "ptt"),
    ("setp.lt.and.% setp.ge.or.% setp.ne.xor.%", INTEGERS, "pttp"),
    ("set.lt.u32.% set.ge.s32.% set.ne.u32.%", INTEGERS, "wtt"),
];

/// The types of conversions.
const CONVERTED: &str = "u8 s8 u16 s16 u32 s32 u64 s64";

/// Every form.
pub(super) static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let mut forms = Vec::new();
    for (opcodes, types, operands) in ROWS {
        for opcode in opcodes.split(' ') {
            forms.extend(types.split(' ').map(|ty| form(opcode, ty, operands)));
        }
    }
    for into in CONVERTED.split(' ') {
        for of in CONVERTED.split(' ') {
            // Nothing saturates where every value fits.
            let saturations: &[&str] = if Type::of(into).holds(Type::of(of)) { &[""] } else { &["", ".sat"] };
            for saturation in saturations {
                let opcode = format!("cvt{saturation}.{into}.{of}");
                let (result, source) = (Slot::Value(Type::of(into)), Slot::Value(Type::of(of)));
                forms.push(Form { opcode, result, sources: vec![source] });
            }
        }
    }
    forms
});

impl Type {
    /// `u32`, `s64`, `b16`
    fn of(name: &str) -> Type {
        Type { bits: name[1..].parse().unwrap_or(32), signed: name.starts_with('s') }
    }

    /// Whether it has every value of another type.
    fn holds(self, other: Type) -> bool {
        match (self.signed, other.signed) {
            (false, true) => false,
            (true, false) => self.bits > other.bits,
            _ => self.bits >= other.bits,
        }
    }

    /// The bits of a register that holds a value of it at least.
    pub fn register(self) -> u32 {
        self.bits.max(16)
    }
}

fn form(opcode: &str, ty: &str, operands: &str) -> Form {
    let own = Type::of(ty);
    let slot = |letter: char| match letter {
        't' => Slot::Value(own),
        'd' => Slot::Value(Type { bits: 2 * own.bits, ..own }),
        'w' => Slot::Value(Type::of("u32")),
        'i' => Slot::Value(Type::of("s32")),
        'c' => Slot::Bits(own.bits),
        'v' => Slot::Divisor(own),
        's' => Slot::Selectors,
        'm' => Slot::Choice,
        'l' => Slot::Table,
        _ => Slot::Predicate,
    };
    let mut slots = operands.chars().map(slot);
    let result = slots.next().unwrap_or(Slot::Predicate);
    Form { opcode: opcode.replace('%', ty), result, sources: slots.collect() }
}
