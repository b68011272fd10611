//! The generator: a configuration, made ready for use.

use arbitrary::Unstructured;
use ptxsmith_syntax::{Declaration, Expr, Item, ScalarType, StateSpace};

use crate::{
    config::Config,
    contexts,
    coverage::Coverage,
    draft::{Draft, Form, Tables},
    grammar::{GRAMMAR, Nonterminal, ProductionId},
    sampler::Sampler,
    shares::{closed, enabled, least_nodes, shares},
    stream::case_bytes,
};

/// Makes programs from bytes, as a configuration says.
///
/// The tables that follow from the configuration are computed once, here, so one generator serves any number of
/// cases and threads. It has no state: the same bytes give the same program.
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
    /// A generator for this configuration.
    pub fn new(config: Config) -> Generator {
        let (least, closed) = (least_nodes(&config), closed(&config));
        let sampler = Sampler::new(|of, room| shares(&config, of, room, &least, &closed));
        let mut numbers = 0;
        let forms = GRAMMAR.iter().map(|production| {
            let before = numbers;
            numbers += u8::from(matches!(production.form, Form::Number(..)));
            (production.form, before)
        });
        let forms = forms.collect();
        Generator { tables: Tables { config, sampler, least, forms } }
    }

    /// The generator of a feature set that a number draws: some productions are off, and some numbers lower. In what is left
    /// combinations occur that one set of odds hardly ever makes (swarm testing).
    pub fn featuring(&self, seed: u64, number: u64) -> Generator {
        let mut bytes = [0; 1024];
        // Not those of a case.
        case_bytes(!seed, number, &mut bytes);
        let config = self.config().featuring(&mut Unstructured::new(&bytes));
        Generator::new(config.unwrap_or_else(|_| self.config().clone()))
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.tables.config
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Whether the configuration leaves a production in the grammar. One that it leaves may still be out of reach.
    pub fn enables(&self, production: ProductionId) -> bool {
        enabled(self.config(), production)
    }

    /// An expression that is a value of this type: integers for the integer types, floats for the float types, and
    /// for bit-size types either. With no bytes left it is a single literal, zero.
    ///
    /// # Panics
    /// For `.f16`, `.f16x2` and `.pred`, which take no initial value (5.4.4).
    pub fn expression(&self, ty: ScalarType, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(values_of(ty), u, coverage)
    }

    /// A type, a state space and an expression that is a value of that type, whose numbers may be those of other cases.
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

    /// An integer expression of any value.
    pub fn integer(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(Nonterminal::Integer, u, coverage)
    }

    /// A float expression of any value.
    pub fn float(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.root(Nonterminal::Float, u, coverage)
    }

    /// A declaration statement. Its names are not used twice: their number is in each. With no bytes left it is one
    /// `.global` variable without an initial value.
    pub fn declaration(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Declaration {
        self.drafted(u, coverage, |draft| draft.declaration())
    }

    /// Statements of which some hold addresses of what others declare: variables, functions and kernels.
    pub fn addresses(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Vec<Item> {
        self.drafted(u, coverage, |draft| draft.group())
    }

    /// One kernel, `k0`, and what it uses: it writes what its operands mean into the buffer that its one parameter points
    /// to.
    pub fn kernel(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Vec<Item> {
        self.drafted(u, coverage, |draft| draft.kernel())
    }

    /// Declarations that all hold one constant: in the last scalar of each variable, or, of eight bytes, in all.
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

    /// What is made of the next bytes.
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

/// The nonterminal of the values of a type that takes initial values.
///
/// # Panics
/// Where the type takes none.
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
