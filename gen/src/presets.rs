//! Configurations for different purposes.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::{
    config::{Config, Odds},
    grammar::productions,
    weights::Weights,
};

impl<'a> Arbitrary<'a> for Config {
    /// Draws a configuration from the default one. Only lowers knobs and disables productions, so it adds no programs.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Config> {
        Config::default().featuring(u)
    }
}

impl Config {
    /// Returns this configuration with some knobs lowered and some productions disabled. The result adds no programs.
    pub(crate) fn featuring(&self, u: &mut Unstructured<'_>) -> Result<Config> {
        let mut config = self.drawn(u)?;
        for production in productions() {
            if u.arbitrary::<u8>()? < 32 {
                config.weights.set(production, 0);
            }
        }
        Ok(config)
    }

    /// Returns a configuration for campaigns of millions of expressions, with ten nodes per expression on average.
    ///
    /// Constructs that make ptxas crash or stop are rare: such an expression needs a run of its own, which costs as much time as
    /// thousands of others. So does an expression that does not fit into a module's `.const` space, so most are in `.global`.
    pub fn bulk() -> Config {
        let mut weights = Weights::default();
        for (production, weight) in [
            // The `.const` variables of a task then fit into one module.
            ("space/global", 9),
            // The specification does not define results of operations on NaNs, so they can hardly ever be compared. Prefer
            // other floats.
            ("float-literal/boundary-decimal", 50),
            ("float-literal/decimal", 60),
            ("float-literal/boundary-double", 30),
            ("float-literal/double", 20),
            ("float-literal/near-halfway", 30),
            ("f64-value/float", 120),
        ] {
            weights.set_by_name(production, weight).expect("the grammar has this production");
        }
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

    /// Returns the default configuration without constructs that implementations reject or crash on, so that large batches are
    /// accepted as a whole. No risky construct is generated on purpose, and no divisor is zero by chance.
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
