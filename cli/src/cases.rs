//! Generated programs by number, as trials.

use ptxsmith_diff::{Body, Trial};
use ptxsmith_gen::{Case, Config, Coverage, Focus, Generator, Odds};

/// The cases of one seed. Any of them can be made without the others, on any thread.
pub struct Cases {
    generator: Generator,
    focus: Focus,
    seed: u64,
}

/// The default knobs, with less of what a subject may refuse altogether: a refusal hides the answers of all other cases
/// in its module, so each costs a run of its own.
fn config() -> Config {
    Config { float_ternary: Odds::new(1, 500), ..Config::default() }
}

impl Cases {
    /// The cases of this seed.
    pub fn new(seed: u64, focus: Focus) -> Cases {
        Cases { generator: Generator::new(config()), focus, seed }
    }

    /// One case as the generator makes it.
    pub fn case(&self, index: u64, coverage: &mut Coverage) -> Case {
        self.generator.case(self.focus, self.seed, index, coverage)
    }

    /// One case as it is judged.
    pub fn trial(&self, index: u64, coverage: &mut Coverage) -> Trial {
        let body = match self.case(index, coverage).body {
            ptxsmith_gen::Body::Expression { ty, space, expr } => Body::Expression { ty, space, expr },
            ptxsmith_gen::Body::Declaration(declaration) => Body::Declarations(vec![declaration]),
        };
        Trial { id: index, body }
    }
}
