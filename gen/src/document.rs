//! Prints the grammar.

use std::fmt::Write as _;

use crate::{
    draft::Expansion,
    generator::Generator,
    grammar::{Nonterminal, Production, Weight, productions},
};

impl Generator {
    /// Prints the grammar under this configuration: each nonterminal, followed by one line per production with its name, its
    /// weight (or its share, if a knob sets it), its clause and its form. Disabled productions are omitted. `...` marks a form
    /// that its listed parts do not describe completely.
    pub fn grammar(&self) -> String {
        let mut text = String::new();
        for of in Nonterminal::ALL {
            let _ = writeln!(text, "{}:", of.name());
            for id in productions().filter(|&id| id.get().of == of && self.enables(id)) {
                let production = id.get();
                let weight = match production.weight {
                    Weight::Of(_) => self.config().weights.get(id).to_string(),
                    Weight::Odds(odds) => {
                        let odds = odds(self.config());
                        format!("{}/{}", odds.hits, odds.of)
                    }
                };
                let form = form(production);
                let _ = writeln!(
                    text,
                    "    {:<34} {weight:>7}  {:<38} {form}",
                    production.name, production.clause
                );
            }
        }
        text
    }
}

fn form(production: &Production) -> String {
    match production.form {
        Expansion::Same(a) => a.name().to_owned(),
        Expansion::Paren(a) => format!("( {} )", a.name()),
        Expansion::Prefix(op, a) => format!("{} {}", op.symbol(), a.name()),
        Expansion::Cast(cast, a) => format!("{} {}", cast.symbol(), a.name()),
        Expansion::Infix(op, a, b) => format!("{} {} {}", a.name(), op.symbol(), b.name()),
        Expansion::Ternary(a, b, c) => format!("{} ? {} : {}", a.name(), b.name(), c.name()),
        Expansion::Made(..) | Expansion::Number(..) | Expansion::Piece(..) => {
            let parts = production.parts().map(|part| format!("{} ", part.name()));
            parts.collect::<String>() + "..."
        }
        Expansion::Type(ty) => ty.keyword().to_owned(),
        Expansion::Space(space) => space.keyword().to_owned(),
        Expansion::Choice(_) => "...".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn the_grammar_shows_every_production_that_is_not_switched_off() {
        let everything = Config { unified: true, b128: true, operands: true, ..Config::default() };
        let all = Generator::new(everything).grammar();
        for id in productions() {
            assert!(all.contains(&format!(" {} ", id.get().name)), "{}", id.get().name);
        }
        let calm = Generator::new(Config::calm()).grammar();
        assert!(!calm.contains("divisor/zero") && calm.contains("divisor/literal"));
    }

    #[test]
    fn operators_are_shown_as_they_are_written() {
        let text = Generator::default().grammar();
        assert!(text.contains("integer << shift-count") && text.contains("truth ? signed : unsigned"));
    }
}
