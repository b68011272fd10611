//! Known deviations of names: numbered ones, and one name for two things.

use ptxsmith_oracle::rules::Numbered;

use super::entry::RuleChange;

/// The rules that listed deviations follow, and the crashes that rules predict, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    ("numbered-prefix-refused", RuleChange::Rule(|rules| rules.layout.numbered.change(digit_free_prefix))),
    ("padded-number-accepted", RuleChange::Rule(|rules| rules.layout.numbered.change(without_zeros))),
    ("number-modulo-2-32-accepted", RuleChange::Rule(|rules| rules.layout.numbered.change(modulo))),
    (
        "count-of-zero-declares",
        RuleChange::Rule(|rules| {
            rules.layout.no_names.change(|_, prefix| Some(format!("{prefix}<").into()));
        }),
    ),
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
    if plain.is_empty() {
        return next.apply(prefix, digits);
    }
    let mut number: u32 = 0;
    for digit in plain.bytes() {
        number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    }
    next.apply(prefix, &format!("{zeros}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Rules;

    #[test]
    fn a_number_is_read_modulo_2_32_and_keeps_its_zeros() {
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
