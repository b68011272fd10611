//! The forms of instructions: one row for several types, with what each operand is.

use std::sync::LazyLock;

/// The values that an operand is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandSlot {
    /// A value of a type.
    Value(IntegerType),
    /// The number of a bit, or a count of bits: boundaries at and beyond this width.
    Bits(u32),
    /// A divisor of a type.
    Divisor(IntegerType),
    /// Four selectors of bytes.
    Selectors,
    /// The two bits that choose within a mode.
    Choice,
    /// A table of eight bits.
    Table,
    Predicate,
    /// A word in a register, with a suffix that selects parts of it.
    Part(&'static str),
    /// A place in the output, of eight bytes.
    Place,
    /// No operand: the result of an instruction that sets no register.
    Nothing,
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntegerType {
    pub bits: u32,
    pub signed: bool,
}

/// One instruction without its operands.
#[derive(Clone, Debug)]
pub(super) struct ArithmeticForm {
    pub opcode: String,
    /// The destination: a value, a predicate, a part of a word, or nothing.
    pub result: OperandSlot,
    pub sources: Vec<OperandSlot>,
}

/// The first of the targets with instructions on packed halves: `sm_90`.
const PACKED_SINCE: usize = 2;

const INTEGERS: &str = "u16 s16 u32 s32 u64 s64";
const SIGNED: &str = "s16 s32 s64";
const HALVES_AND_WORDS: &str = "u16 s16 u32 s32";
const WORDS: &str = "u32 s32";
const LONG: &str = "u32 s32 u64 s64";
const BITS: &str = "b16 b32 b64";
const LONG_BITS: &str = "b32 b64";
const SHIFTED: &str = "b16 b32 b64 u16 s16 u32 s32 u64 s64";

/// Opcodes with `%` for the type, the types, and the operands: `t` of the type, `d` of twice its width, `w` of 32 bits, `i` a signed
/// one, `c` bits, `v` a divisor, `s` selectors, `m` a choice, `l` a table, `p` a predicate,
/// `a` a place, `x` a word in a register, `n` nothing.
const ROWS: &[(&str, &str, &str)] = &[
    ("add.% sub.% mul.lo.% mul.hi.% min.% max.%", INTEGERS, "ttt"),
    ("add.sat.% sub.sat.%", "s32", "ttt"),
    ("mul.wide.%", HALVES_AND_WORDS, "dtt"),
    ("mad.lo.% mad.hi.% sad.%", INTEGERS, "tttt"),
    ("mad.wide.%", HALVES_AND_WORDS, "dttd"),
    ("mad.hi.sat.%", "s32", "tttt"),
    ("mul24.lo.% mul24.hi.%", WORDS, "ttt"),
    ("mad24.lo.% mad24.hi.%", WORDS, "tttt"),
    ("div.% rem.%", LONG, "ttv"),
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
    ("vshl.u32.%.u32.clamp vshl.u32.%.u32.wrap vshr.%.%.u32.clamp", WORDS, "ttw"),
    ("vshr.%.%.u32.wrap.add", WORDS, "ttwt"),
    ("vmad.%.%.% vmad.%.%.%.sat vmad.%.%.%.sat.shr7 vmad.%.%.%.po.shr15", "s32", "tttt"),
    ("vmad.%.%.%", "u32", "tttt"),
    ("vset.%.%.lt vset.%.u32.ge", WORDS, "wtt"),
    ("vset.u32.%.le.add", WORDS, "wttw"),
    ("atom.global.add.% atom.global.min.% atom.global.max.%", "u32 s32 u64", "tat"),
    ("red.global.add.% red.global.min.% red.global.max.%", "u32 s32 u64", "nat"),
    ("atom.global.and.% atom.global.or.% atom.global.xor.% atom.global.exch.%", LONG_BITS, "tat"),
    ("red.global.and.% red.global.or.% red.global.xor.%", LONG_BITS, "nat"),
    ("atom.global.cas.%", LONG_BITS, "tatt"),
    ("atom.global.inc.% atom.global.dec.%", "u32", "tat"),
];

/// The rows of the targets from [`PACKED_SINCE`] on.
const PACKED: &[(&str, &str, &str)] =
    &[("add.%x2 min.%x2 max.%x2", "u16 s16", "xxx"), ("min.relu.%x2 max.relu.%x2", "s16", "xxx")];

/// Types of the result and the sources of a video instruction on words.
const VIDEO_TYPES: [&str; 4] = ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.s32"];
/// Further modifiers of a video instruction, the suffixes of its operands, and whether it has a third source. No row sets
/// `.h1` or saturates, and unsigned results are not combined with a third source by `.max`: ptxas has listed deviations
/// there, which would hide others.
const VIDEO: [(&str, [&str; 3], bool); 5] = [
    ("", ["", "", ""], false),
    ("", ["", ".b1", ".h1"], false),
    (".add", ["", ".h0", ".b3"], true),
    (".max", ["", "", ".b2"], true),
    ("", [".b2", "", ""], true),
];
/// The same for instructions on several parts of words, with the number of parts first.
const SEVERAL: [(u32, &str, [&str; 3]); 8] = [
    (2, "", ["", "", ""]),
    (2, ".sat", ["", ".h01", ""]),
    (2, ".add", ["", "", ".h12"]),
    (2, "", [".h1", "", ""]),
    (4, "", ["", "", ""]),
    (4, ".sat", ["", "", ".b0426"]),
    (4, ".add", ["", "", ""]),
    (4, ".sat", [".b20", ".b3120", ""]),
];

/// The types of conversions.
const CONVERTED: &str = "u8 s8 u16 s16 u32 s32 u64 s64";

/// All forms. Forms that some targets lack come last.
static FORMS: LazyLock<Vec<ArithmeticForm>> = LazyLock::new(|| {
    let mut forms = Vec::new();
    for (opcodes, types, operands) in ROWS {
        for opcode in opcodes.split(' ') {
            forms.extend(types.split(' ').map(|ty| form(opcode, ty, operands)));
        }
    }
    forms.extend(video());
    for into in CONVERTED.split(' ') {
        for of in CONVERTED.split(' ') {
            // Nothing saturates where every value fits.
            let saturations: &[&str] =
                if IntegerType::of(into).holds(IntegerType::of(of)) { &[""] } else { &["", ".sat"] };
            for saturation in saturations {
                let opcode = format!("cvt{saturation}.{into}.{of}");
                let (result, source) =
                    (OperandSlot::Value(IntegerType::of(into)), OperandSlot::Value(IntegerType::of(of)));
                forms.push(ArithmeticForm { opcode, result, sources: vec![source] });
            }
        }
    }
    for (opcodes, types, operands) in PACKED {
        for opcode in opcodes.split(' ') {
            forms.extend(types.split(' ').map(|ty| form(opcode, ty, operands)));
        }
    }
    forms
});

/// Returns the forms that a target has.
pub(super) fn forms(target: usize) -> &'static [ArithmeticForm] {
    if target >= PACKED_SINCE {
        return &FORMS;
    }
    let packed = FORMS.iter().filter(|form| form.opcode.ends_with("x2")).count();
    &FORMS[..FORMS.len() - packed]
}

/// Video instructions, each with some of the suffixes and modifiers.
fn video() -> Vec<ArithmeticForm> {
    let mut forms = Vec::new();
    for name in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"] {
        for types in VIDEO_TYPES {
            for (how, [to, a, b], has_third) in VIDEO {
                if how == ".max" && types.starts_with('u') {
                    continue;
                }
                let mut sources = vec![word_part(a), word_part(b)];
                sources.extend(has_third.then(|| word_part("")));
                let opcode = format!("{name}.{types}{how}");
                forms.push(ArithmeticForm { opcode, result: word_part(to), sources });
            }
        }
    }
    for name in ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"] {
        for ty in ["u32", "s32"] {
            for (count, how, suffixes) in SEVERAL {
                forms.push(form_on_parts(format!("{name}{count}.{ty}.{ty}.{ty}{how}"), suffixes));
            }
        }
    }
    for how in ["2.u32.u32.lt", "2.s32.s32.ge.add", "4.s32.s32.le", "4.u32.u32.ne.add"] {
        forms.push(form_on_parts(format!("vset{how}"), ["", "", ""]));
    }
    forms
}

/// Returns the operand for a part of a word, or for a whole word without a suffix.
fn word_part(suffix: &'static str) -> OperandSlot {
    match suffix {
        "" => OperandSlot::Value(IntegerType::of("u32")),
        suffix => OperandSlot::Part(suffix),
    }
}

/// Returns the form of an instruction on several parts of words. Its operands are registers: a constant has no parts.
fn form_on_parts(opcode: String, [to, a, b]: [&'static str; 3]) -> ArithmeticForm {
    let sources = [a, b, ""].map(OperandSlot::Part).to_vec();
    ArithmeticForm { opcode, result: OperandSlot::Part(to), sources }
}

/// Opcodes that compilers combine with each other, one group a row.
const RELATED: [&str; 6] = [
    "add sub neg abs sad mul mad mul24 mad24 min max not",
    "shl shr shf bfe bfi bmsk szext brev prmt mul mad cvt and",
    "min max abs neg cvt add sub sad setp selp",
    "set setp selp slct cnot not sub neg vset",
    "and or xor not lop3 cnot prmt popc clz bfind brev bmsk",
    "cvt prmt bfe szext shr shl mul add",
];

impl ArithmeticForm {
    /// Returns the opcode without its modifiers.
    fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Whether compilers often combine this instruction with another.
    pub fn is_related(&self, other: &ArithmeticForm) -> bool {
        let has = |group: &str, name: &str| group.split(' ').any(|member| member == name);
        RELATED.iter().any(|group| has(group, self.name()) && has(group, other.name()))
    }
}

impl IntegerType {
    /// Parses a type: `u32`, `s64`, `b16`.
    pub fn of(name: &str) -> IntegerType {
        IntegerType { bits: name[1..].parse().unwrap_or(32), signed: name.starts_with('s') }
    }

    /// Whether the type has every value of another type.
    pub fn holds(self, other: IntegerType) -> bool {
        match (self.signed, other.signed) {
            (false, true) => false,
            (true, false) => self.bits > other.bits,
            _ => self.bits >= other.bits,
        }
    }

    /// Returns the width in bits of the smallest register that holds a value of the type.
    pub fn register(self) -> u32 {
        self.bits.max(16)
    }
}

/// Returns the form of a row for this type; `operands` has a letter for each operand, see [`ROWS`].
fn form(opcode: &str, type_name: &str, operands: &str) -> ArithmeticForm {
    let ty = IntegerType::of(type_name);
    let mut slots = operands.chars().map(|letter| match letter {
        't' => OperandSlot::Value(ty),
        'd' => OperandSlot::Value(IntegerType { bits: 2 * ty.bits, ..ty }),
        'w' => OperandSlot::Value(IntegerType::of("u32")),
        'i' => OperandSlot::Value(IntegerType::of("s32")),
        'c' => OperandSlot::Bits(ty.bits),
        'v' => OperandSlot::Divisor(ty),
        's' => OperandSlot::Selectors,
        'm' => OperandSlot::Choice,
        'l' => OperandSlot::Table,
        'a' => OperandSlot::Place,
        'x' => OperandSlot::Part(""),
        'n' => OperandSlot::Nothing,
        _ => OperandSlot::Predicate,
    });
    let result = slots.next().unwrap_or(OperandSlot::Predicate);
    ArithmeticForm { opcode: opcode.replace('%', type_name), result, sources: slots.collect() }
}
