//! The generator: a configuration and the tables computed from it.

use arbitrary::Unstructured;
use ptxsmith_syntax::{Declaration, Expr, Item, ScalarType, StateSpace};

use crate::{
    config::Config,
    contexts,
    coverage::Coverage,
    draft::{Draft, Expansion, Tables},
    grammar::{GRAMMAR, Nonterminal, ProductionId},
    sampler::Sampler,
    shares::{closed, enabled, least_nodes, shares},
    stream::case_bytes,
};

/// Generates programs from bytes under a configuration.
///
/// The constructor computes the tables for the configuration once, so a generator can be shared by many cases and
/// threads. It has no mutable state: equal bytes give equal programs.
#[derive(Clone, Debug)]
pub struct Generator {
    tables: Tables,
}

impl Default for Generator {
    fn default() -> Generator {
        Generator::new(Config::default())
    }
}

impl Generator {
    /// Creates a generator for a configuration.
    pub fn new(config: Config) -> Generator {
        let (least, closed) = (least_nodes(&config), closed(&config));
        let sampler = Sampler::new(|of, room| shares(&config, of, room, &least, &closed));
        let mut numbers = 0;
        let forms = GRAMMAR.iter().map(|production| {
            let before = numbers;
            numbers += u8::from(matches!(production.form, Expansion::Number(..)));
            (production.form, before)
        });
        let forms = forms.collect();
        Generator { tables: Tables { config, sampler, least, forms } }
    }

    /// Returns a generator with a random feature set, drawn from `seed` and `number`: some productions are disabled and some
    /// limits are lower. The remaining features then combine in ways that a single set of odds rarely produces (swarm testing).
    pub fn featuring(&self, seed: u64, number: u64) -> Generator {
        let mut bytes = [0; 1024];
        // Invert the seed so that the bytes differ from those used for a case.
        case_bytes(!seed, number, &mut bytes);
        let config = self.config().featuring(&mut Unstructured::new(&bytes));
        Generator::new(config.unwrap_or_else(|_| self.config().clone()))
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.tables.config
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns true if the configuration enables a production. An enabled production may still be unreachable.
    pub fn enables(&self, production: ProductionId) -> bool {
        enabled(self.config(), production)
    }

    /// Generates an expression for a value of this type: integers for integer types, floats for float types, and either for
    /// bit-size types. Without bytes it is the literal zero.
    ///
    /// # Panics
    /// For `.f16`, `.f16x2` and `.pred`, which cannot have an initializer (5.4.4).
    pub fn expression(&self, ty: ScalarType, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(values_of(ty), u, coverage)
    }

    /// Generates a type, a state space and an expression with this type. Its numbers may come from a pool shared with other cases.
    pub(crate) fn in_context(
        &self,
        u: &mut Unstructured<'_>,
        pool: Option<(u64, u64)>,
        coverage: &mut Coverage,
    ) -> (ScalarType, StateSpace, Expr) {
        self.drafted(u, coverage, |draft| {
            let (ty, space) = draft.context();
            let room = draft.room();
            draft.pool = pool;
            let expr = draft.expression(|draft| draft.make(values_of(ty), room));
            (ty, space, expr)
        })
    }

    /// Generates an integer expression of any value.
    pub fn integer(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(Nonterminal::Integer, u, coverage)
    }

    /// Generates a float expression of any value.
    pub fn float(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(Nonterminal::Float, u, coverage)
    }

    /// Generates a declaration statement. Each name contains a number, which makes it unique. Without bytes the statement
    /// declares a single `.global` variable without an initializer.
    pub fn declaration(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Declaration {
        self.drafted(u, coverage, |draft| draft.declaration())
    }

    /// Generates statements in which some initializers use addresses of the variables, functions and kernels declared by others.
    pub fn addresses(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Vec<Item> {
        self.drafted(u, coverage, |draft| draft.group())
    }

    /// Generates a kernel `k0` and the declarations it uses. The kernel has one parameter, the address of an output buffer,
    /// and stores the values of its operands there.
    pub fn kernel(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Vec<Item> {
        self.drafted(u, coverage, |draft| draft.kernel())
    }

    /// Generates declarations that use the same constant in many contexts: as the last scalar of each variable, and, for an
    /// integer with masks enabled, byte by byte in an array of eight bytes.
    pub fn contexts(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Vec<Item> {
        let float = self.config().floats && self.drafted(u, coverage, |draft| draft.byte()) >= 192;
        let constant = if float { self.float(u, coverage) } else { self.integer(u, coverage) };
        contexts::contexts(&constant, float, self.config().masks)
    }

    fn root(&self, of: Nonterminal, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.drafted(u, coverage, |draft| {
            let room = draft.room();
            draft.expression(|draft| draft.make(of, room))
        })
    }

    /// Runs `make` on a draft over the next bytes.
    pub(crate) fn drafted<T>(
        &self,
        u: &mut Unstructured<'_>,
        coverage: &mut Coverage,
        make: impl FnOnce(&mut Draft<'_, '_>) -> T,
    ) -> T {
        let mut draft = Draft::new(&self.tables, u.peek_bytes(u.len()).unwrap_or_default(), coverage);
        let made = make(&mut draft);
        let left = draft.bytes.len();
        u.bytes(u.len() - left).expect("no more bytes were used than there were");
        made
    }
}

/// Returns the nonterminal for values of a type.
///
/// # Panics
/// If the type cannot have an initializer.
fn values_of(ty: ScalarType) -> Nonterminal {
    Nonterminal::value_of(ty).expect("the type takes an initial value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Odds,
        grammar::{Production, productions},
        sampler::ROOMS,
    };

    #[test]
    fn byte_zero_chooses_the_first_production_of_each_nonterminal_that_has_a_weight() {
        let generator = Generator::default();
        for of in Nonterminal::ALL {
            let chosen = generator.tables.sampler.choose(of, 0, || 0);
            let first = productions().find(|id| id.get().of == of).unwrap();
            assert_eq!(chosen.get().name, first.get().name);
        }
    }

    #[test]
    fn odds_of_a_risky_construct_are_kept_within_a_fifth() {
        let config = Config { division_by_zero: Odds::new(1, 1000), ..Config::default() };
        let generator = Generator::new(config);
        let zero = Production::by_name("divisor/zero").unwrap();
        let mut hits = 0;
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let mut bytes = [first, second].into_iter();
                let byte = || bytes.next().unwrap();
                hits += u32::from(generator.tables.sampler.choose(Nonterminal::Divisor, 10, byte) == zero);
            }
        }
        assert!((52..=79).contains(&hits), "{hits} of 65536");
    }

    #[test]
    fn odds_of_never_switch_a_production_off() {
        let generator = Generator::new(Config { division_by_zero: Odds::NEVER, ..Config::default() });
        assert!(!generator.enables(Production::by_name("divisor/zero").unwrap()));
    }

    #[test]
    fn every_configuration_leaves_each_nonterminal_a_choice() {
        use arbitrary::Arbitrary;
        for seed in 0..200 {
            let mut bytes = [0; 512];
            case_bytes(seed, 0, &mut bytes);
            let generator = Generator::new(Config::arbitrary(&mut Unstructured::new(&bytes)).unwrap());
            for of in Nonterminal::ALL {
                for room in ROOMS {
                    assert_eq!(generator.tables.sampler.choose(of, room, || 200).get().of, of);
                }
            }
        }
    }
}
