//! How often compilers emit what a case is about: measured on PTX that they emitted, which is compiled in.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use ptxsmith_oracle::{Clause, Rules, predict};

use crate::case::Case;

static EMITTED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/emitted");

/// How many of the programs that compilers emitted rest on each clause.
pub struct Emitted {
    programs: usize,
    by_clause: BTreeMap<Clause, usize>,
}

impl Emitted {
    /// Counts them.
    pub fn count() -> Emitted {
        let texts = EMITTED.files().filter_map(|file| file.contents_utf8());
        let modules: Vec<_> = texts.filter_map(|text| ptxsmith_syntax::parse(text).ok()).collect();
        let mut by_clause = BTreeMap::new();
        for module in &modules {
            for clause in predict(module, &Rules::default()).trace().clauses.iter() {
                *by_clause.entry(clause).or_default() += 1;
            }
        }
        Emitted { programs: modules.len(), by_clause }
    }

    /// How many there are.
    pub fn programs(&self) -> usize {
        self.programs
    }

    /// The number of programs that rest on the rarest clause that an accepted case rests on. 0 means that no compiler whose PTX
    /// was looked at emits the form; what is refused, no compiler should emit.
    pub fn of(&self, case: &Case) -> usize {
        if case.is_refused() {
            return 0;
        }
        let clauses = predict(&case.module, &Rules::default()).trace().clauses;
        clauses.iter().map(|clause| self.by_clause.get(&clause).copied().unwrap_or(0)).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Source;

    #[test]
    fn what_compilers_emit_is_told_from_what_they_do_not() {
        let emitted = Emitted::count();
        assert!(emitted.programs() >= 16);
        let of = |declaration: &str| {
            let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{declaration}\n");
            emitted.of(&Case::new("x".into(), Source::Hand, ptxsmith_syntax::parse(&text).unwrap()))
        };
        assert!(of(".visible .global .align 4 .b8 x[4] = {1, 2, 3, 4};") > 3);
        assert_eq!(of(".global .s64 x = 7 % 3;"), 0);
        assert_eq!(of(".global .s32 x = 1.0;"), 0);
    }
}
