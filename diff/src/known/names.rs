//! Known deviations of names: numbered ones, and one name for two things.

use ptxsmith_oracle::{Clause, rules::Numbered};

use super::entry::{Effect, End, Known, example};
use crate::maker::Releases;
use crate::shapes::names as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "numbered-prefix-refused",
        title: "the names that PREFIX<N> declares are not found where the prefix ends in a digit",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| rules.layout.numbered.change(digit_free_prefix)),
        example: example!("7.7", ".global .u32 a1<2>;\n.global .u64 x = a10;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "padded-number-accepted",
        title: "a name that PREFIX<N> declares is found with zeros in front of its number, and its symbol has them",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.numbered.change(without_zeros)),
        example: example!("7.7", ".global .u32 a<2>;\n.global .u64 x = a01;"),
        first_seen: "2026-11-22",
    },
    Known {
        id: "number-modulo-2-32-accepted",
        title: "the number of a name that PREFIX<N> declares is taken modulo 2^32, and its symbol has all digits",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.numbered.change(modulo)),
        example: example!("7.7", ".global .u32 a<3>;\n.global .u64 x = a4294967297;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "count-of-zero-declares",
        title: "PREFIX<0> makes a variable PREFIX<, though it declares none",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.layout.no_names.change(|_, prefix| Some(format!("{prefix}<").into()));
        }),
        example: example!("7.7", ".global .u32 a<0>;"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "internal-name-shared",
        title: "a variable of the module named as the compiler names one of a body, $__x__5, is that one too",
        clauses: &[Clause::ConstantInInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Wrong { of: shapes::internal_name, at: shapes::internal_name_at },
        example: example!("7.7", ".global .u32 $__x__5 = 5;\n.func f() { .global .u32 x = 7; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "variable-and-function-crash",
        title: "a function that others see, under the name of a variable, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::variable_and_function },
        example: example!("7.7", ".visible .global .u32 x;\n.visible .func x() { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "prototype-name-crash",
        title: "a .callprototype or .calltargets under the name of a register or variable kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::prototype_name },
        example: example!("7.7", ".visible .entry k() { .reg .u32 x; x: .callprototype _ (); ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "nested-function-crash",
        title: "a function in the body of another, under the name of a register, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::nested_function },
        example: example!("7.7", ".func f() { .reg .u32 x<3>; .func x1() { ret; } ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "special-register-name-crash",
        title: "a function or kernel that others see, under the name of a special register, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::special_register_name },
        example: example!("7.7", ".visible .entry %clock() { ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "numbered-names-memory",
        title: "millions of numbered names take all memory or time",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::too_many_names },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r<2147483647>; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "padded-number-refused",
        title: "a name of its own is refused that differs by zeros before its number from one of PREFIX<N>",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refused(shapes::padded_number_declared),
        example: example!("7.7", ".visible .entry k() { .reg .u32 x<2>; .reg .u32 x01; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "non-ascii-crash",
        title: "a character beyond ASCII outside of comments kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("12.3", "12.6"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::non_ascii },
        example: example!("7.7", ".pragma \"\u{e9}\";"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "repeated-number-crash",
        title: "a variable in memory under a name that PREFIX<N> declared before kills the compiler (SIGSEGV)",
        clauses: &[Clause::ParameterizedNames],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.6"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::numbered_declared_again },
        example: example!("7.7", ".global .u32 x<2>;\n.global .u32 x1;"),
        first_seen: "2026-11-24",
    },
];

fn digit_free_prefix(next: &Numbered, prefix: &str, digits: &str) -> Option<u64> {
    next.apply(prefix, digits).filter(|_| !prefix.ends_with(|c: char| c.is_ascii_digit()))
}

fn without_zeros(next: &Numbered, prefix: &str, digits: &str) -> Option<u64> {
    match digits.trim_start_matches('0') {
        "" => next.apply(prefix, "0"),
        plain => next.apply(prefix, plain),
    }
}

fn modulo(next: &Numbered, prefix: &str, digits: &str) -> Option<u64> {
    let (zeros, plain) = digits.split_at(digits.len() - digits.trim_start_matches('0').len());
    let digit = |number: u32, digit: u8| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    match plain {
        "" => next.apply(prefix, digits),
        plain => next.apply(prefix, &format!("{zeros}{}", plain.bytes().fold(0, digit))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Rules;

    #[test]
    fn a_number_is_taken_modulo_2_32_with_its_zeros() {
        let mut rules = Rules::default();
        rules.layout.numbered.change(modulo);
        let of = |digits| rules.layout.numbered.apply("a", digits);
        assert_eq!(
            ["1", "4294967297", "18446744073709551617", "0"].map(of),
            [Some(1), Some(1), Some(1), Some(0)]
        );
        assert_eq!(["4294967299", "01", "04294967297", "00"].map(of), [Some(3), None, None, None]);
        let with_zeros = rules.with(|rules| rules.layout.numbered.change(without_zeros));
        assert_eq!(with_zeros.layout.numbered.apply("a", "04294967297"), Some(1));
    }
}
