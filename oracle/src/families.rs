//! Parameterized names (5.4.6): a common prefix and a count declare that many.

use std::collections::BTreeMap;

use ptxsmith_syntax::Text;

/// What is declared under each common prefix, and how many names that is.
#[derive(Clone, Debug)]
pub(crate) struct Families<T>(BTreeMap<Text, (T, u64)>);

impl<T> Default for Families<T> {
    fn default() -> Families<T> {
        Families(BTreeMap::new())
    }
}

/// What looking a name up came to.
pub(crate) enum Sought<'a, T> {
    /// This is declared, and the name is of this number.
    Found(&'a T, u64),
    /// It is a prefix and a number, but not one of the names that are declared.
    OtherNumber,
    /// It has nothing to do with parameterized names.
    Nothing,
}

impl<T> Families<T> {
    /// Declares `count` names; a prefix that was there before is hidden.
    pub fn insert(&mut self, prefix: Text, declared: T, count: u64) {
        self.0.insert(prefix, (declared, count));
    }

    /// Looks a name up. `is_one` is the rule that says whether a prefix and a number below the count make a name
    /// ([`Rules::numbered`](crate::Rules::numbered)).
    pub fn find(&self, name: &str, is_one: impl Fn(&str, &str) -> bool) -> Sought<'_, T> {
        let mut sought = Sought::Nothing;
        // `r12` may be number 12 of `r<13>` or number 2 of `r1<3>`.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        for at in name.len() - digits..name.len() {
            let (prefix, digits) = name.split_at(at);
            let Some((declared, count)) = self.0.get(prefix) else { continue };
            match digits.parse() {
                Ok(number) if number < *count && is_one(prefix, digits) => {
                    return Sought::Found(declared, number);
                }
                _ => sought = Sought::OtherNumber,
            }
        }
        sought
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::numbered;

    fn found(families: &Families<char>, name: &str) -> Option<(char, u64)> {
        match families.find(name, numbered) {
            Sought::Found(&declared, number) => Some((declared, number)),
            Sought::OtherNumber | Sought::Nothing => None,
        }
    }

    #[test]
    fn the_numbers_below_the_count_are_names_as_they_are_printed() {
        let mut families = Families::default();
        families.insert("r".into(), 'a', 12);
        assert_eq!(found(&families, "r0"), Some(('a', 0)));
        assert_eq!(found(&families, "r11"), Some(('a', 11)));
        for other in ["r12", "r01", "r00", "r", "s1", "r1x", "r18446744073709551617"] {
            assert_eq!(found(&families, other), None, "{other}");
        }
    }

    #[test]
    fn a_name_may_be_of_a_prefix_that_ends_in_a_digit() {
        let mut families = Families::default();
        families.insert("r1".into(), 'b', 3);
        assert_eq!(found(&families, "r12"), Some(('b', 2)));
        families.insert("r".into(), 'a', 13);
        assert_eq!(found(&families, "r12"), Some(('a', 12)), "the shorter prefix first");
        assert_eq!(found(&families, "r102"), None);
    }

    #[test]
    fn whether_a_family_was_considered_is_told() {
        let mut families = Families::default();
        families.insert("r".into(), 'a', 2);
        assert!(matches!(families.find("r2", numbered), Sought::OtherNumber));
        assert!(matches!(families.find("r01", numbered), Sought::OtherNumber));
        assert!(matches!(families.find("s2", numbered), Sought::Nothing));
        assert!(matches!(families.find("r", numbered), Sought::Nothing));
    }
}
