//! Serializes clauses, open questions and interpretations by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{Clause, ClauseSet, Interpretation, Question};

/// Serializes a type as its name, also as a map key; an unknown name is an error that names the kind of thing expected.
macro_rules! by_name {
    ($type:ty, $what:literal, $name:expr, $from:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&$name(*self))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let name = String::deserialize(deserializer)?;
                $from(&name).ok_or_else(|| D::Error::custom(format_args!("there is no {} `{name}`", $what)))
            }
        }
    };
}

by_name!(Clause, "clause", Clause::id, Clause::from_id);
by_name!(Question, "question", Question::name, Question::from_name);
by_name!(Interpretation, "answer to a question", std::convert::identity, Interpretation::from_name);

/// Serializes as the list of the clauses' names.
impl Serialize for ClauseSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for ClauseSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClauseSet, D::Error> {
        Ok(Vec::<Clause>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_are_written_and_read_and_others_refused() {
        let set: ClauseSet = [Clause::Addition, Clause::LiteralOctal].into_iter().collect();
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(text, r#"["4.5.1/literal-octal","4.5.5/addition"]"#);
        assert_eq!(serde_json::from_str::<ClauseSet>(&text).unwrap(), set);
        let counts = BTreeMap::from([(Interpretation(Question::ShiftCount, 1), 3)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, r#"{"shift-count=modulo":3}"#);
        assert_eq!(serde_json::from_str::<BTreeMap<Interpretation, u8>>(&text).unwrap(), counts);
        for none in ["shift-count=modul", "shift-count", "=modulo", ""] {
            assert_eq!(Interpretation::from_name(none), None, "{none}");
        }
        let error = serde_json::from_str::<Clause>(r#""4.5.5/add""#).unwrap_err().to_string();
        assert!(error.contains("there is no clause `4.5.5/add`"), "{error}");
    }
}
