//! Known deviations of declarations: dimensions and sizes, alignment, directives.

use ptxsmith_oracle::{Clause, Integer, RefusalClass, Ruled, Step, Stop, rules::Dimension};
use ptxsmith_syntax::Expr;

use super::entry::{Effect, End, Known, example, thousand_times};
use crate::maker::Releases;
use crate::shapes::declarations as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "dimension-expression-refused",
        title: "a dimension that is more than one literal is refused, though it may be any constant expression",
        clauses: &[Clause::Dimension],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.layout.dimension.change(dimension_expression_refused)),
        example: example!("7.7", ".global .u8 x[1 + 1];"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "ntid-overflow-crash",
        title: "a .maxntid or .reqntid of 2^32 - 1 kills the compiler (SIGFPE)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(8), of: shapes::ntid_overflow },
        example: example!("7.7", ".visible .entry k() .maxntid 4294967295 { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "preserved-registers-crash",
        title: ".abi_preserve with a number of hundreds kills the compiler (SIGFPE), or takes all time",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("13.0"),
        effect: Effect::Death { end: End::SignalOrHang(8), of: shapes::preserved_beyond },
        example: example!("9.0", ".func f() .abi_preserve 1024 { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "preserved-control-exhausted",
        title: ".abi_preserve_control of hundreds of millions takes 16 bytes of memory for each",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("13.0"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::preserved_control_beyond },
        example: example!("9.0", ".func f() .abi_preserve_control 2147483647 { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "instruction-type-array-crash",
        title: "an array of a type of instructions, such as .e4m3x2, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.8"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::instruction_type_array },
        example: example!("7.8", ".global .e4m3x2 x[4];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "header-crash",
        title: "a .version that is later than 8.0, or none, kills the compiler (SIGSEGV) behind its message",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("12.0", "12.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::header_of_another },
        example: example!("8.1", ".global .u32 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "huge-alignment-hang",
        title: "an alignment of 2^28 or more can leave the compiler without an end",
        clauses: &[Clause::AlignPowerOfTwo],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Hang, of: shapes::huge_alignment },
        example: example!("7.7", ".global .align 2147483648 .u8 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "local-alignment-crash",
        title: "a .local variable with a very large alignment (2^26 and more) kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::local_alignment },
        example: example!("7.7", ".visible .entry k() { .local .align 134217728 .u8 x; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "size-in-32-bits",
        title: "the size of a section of 2^32 bytes or more is kept in 32 bits, so that the cubin is malformed",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Broken, of: shapes::section_of_32_bits },
        example: example!("7.7", ".global .u64 x[2147483648];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "size-modulo-2-64",
        title: "a variable is counted in bits modulo 2^64, a row of it modulo 2^32, and gets too little memory",
        clauses: &[Clause::ArraySize],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.layout.size.change(|_, extents, element| shapes::size_in_bits(extents, element))
        }),
        example: example!("7.7", ".global .u8 x[4][536870913];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "huge-local-memory",
        title: "a .local variable of a kernel takes nine to fifty times its size of memory",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.6"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::huge_local },
        example: example!("7.7", ".entry k() { .local .u8 x[1073741824]; ret; }"),
        first_seen: "2026-11-25",
    },
    Known {
        id: "many-dimensions-hang",
        title: "the time that thousands of dimensions take grows with their cube",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Hang, of: shapes::many_dimensions },
        example: concat!(
            ".version 7.7\n.target sm_80\n.address_size 64\n.global .u32 x",
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            thousand_times!("[1]"),
            ";\n"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-first-accepted",
        title: ".align is taken before the state space",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::alignment_first),
        example: example!("7.7", ".align 8 .global .u32 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "dwarf-without-section-crash",
        title: "data of @@DWARF outside of a section kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::data_without_section },
        example: example!("7.7", "@@DWARF .b8 1;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "nameless-declaration-accepted",
        title: "a declaration is taken that names no variable",
        clauses: &[Clause::Named],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::nameless),
        example: example!("7.7", ".global .u32;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-twice-accepted",
        title: "a second .align is taken in one declaration",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::alignment_twice),
        example: example!("7.7", ".global .align 4 .align 16 .u32 x;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "alignment-last-accepted",
        title: ".align is taken behind the type of a kernel's parameter",
        clauses: &[Clause::AlignPlace],
        lineage: "nvidia",
        releases: Releases::from("12.9"),
        effect: Effect::Taken(shapes::alignment_last),
        example: example!("7.7", ".visible .entry k(.param .u32 .align 8 x) { ret; }"),
        first_seen: "2026-11-24",
    },
];

fn dimension_expression_refused(
    next: &Dimension,
    step: &mut Step<'_>,
    dimension: &Expr,
    value: Integer,
) -> Ruled<Integer> {
    if dimension.nodes().len() > 1 {
        return Err(Stop::refused(RefusalClass::Dimension, Clause::Dimension, step.span));
    }
    next.apply(step, dimension, value)
}
