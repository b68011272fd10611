//! Configurations for different ends.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::{
    config::{Config, Odds},
    grammar::productions,
    weights::Weights,
};

impl<'a> Arbitrary<'a> for Config {
    /// The default knobs, some of them lowered and some productions switched off: nothing adds to the programs made.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Config> {
        Config::default().featuring(u)
    }
}

impl Config {
    /// This configuration with knobs lowered and productions switched off: nothing adds to the programs made.
    pub(crate) fn featuring(&self, u: &mut Unstructured<'_>) -> Result<Config> {
        let mut config = self.drawn(u)?;
        for production in productions() {
            if u.arbitrary::<u8>()? < 32 {
                config.weights.set(production, 0);
            }
        }
        Ok(config)
    }

    /// The default knobs for campaigns of millions of expressions. What ptxas dies of, or reads no further at, costs a run of
    /// its own, which is as much time as thousands of others; and so does what a module has no room for in `.const`.
    /// Expressions have ten nodes on average.
    pub fn bulk() -> Config {
        let mut weights = Weights::default();
        let mut set = |production: &str, weight| {
            weights.set_by_name(production, weight).expect("the grammar has this production");
        };
        // So that those of a task fit into one module's `.const`.
        set("space/global", 9);
        // Of what is computed with a NaN the text tells nothing, so that it is hardly ever compared.
        for (literal, weight) in [
            ("boundary-decimal", 50),
            ("decimal", 60),
            ("boundary-double", 30),
            ("double", 20),
            ("near-halfway", 30),
        ] {
            set(&format!("float-literal/{literal}"), weight);
        }
        set("f64-value/float", 120);
        let seldom = Odds::new(1, 400_000);
        Config {
            weights,
            division_by_zero: seldom,
            unguarded_divisor: Odds::new(1, 10_000),
            quotient_overflow: seldom,
            huge_literal: seldom,
            float_out_of_range: seldom,
            denormal_decimal: seldom,
            float_ternary: seldom,
            wide_shift: Odds::new(1, 64),
            unguarded_shift: Odds::new(1, 32),
            odd_spacing: Odds::new(1, 1_000),
            max_nodes: 32,
            shared_numbers: 4_000,
            ..Config::default()
        }
    }

    /// The default knobs without what an implementation may refuse or die of, so that large batches get through whole:
    /// no risky construct is made on purpose, and no divisor is zero by chance.
    pub fn calm() -> Config {
        Config {
            division_by_zero: Odds::NEVER,
            unguarded_divisor: Odds::NEVER,
            quotient_overflow: Odds::NEVER,
            huge_literal: Odds::NEVER,
            float_out_of_range: Odds::NEVER,
            denormal_decimal: Odds::NEVER,
            float_ternary: Odds::NEVER,
            dimension_expression: Odds::NEVER,
            incomplete_vector: Odds::NEVER,
            odd_address: Odds::NEVER,
            self_reference: Odds::NEVER,
            forward_reference: Odds::NEVER,
            address_in_word: Odds::NEVER,
            masked_word: Odds::NEVER,
            ..Config::default()
        }
    }
}
