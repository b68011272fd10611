//! Generated programs by number, as trials.

use ptxsmith_diff::{Body, Trial};
use ptxsmith_gen::{Case, Config, Coverage, Focus, Generator};

/// The cases of one seed. Any of them can be made without the others, on any thread.
pub struct Cases {
    generator: Generator,
    focus: Focus,
    seed: u64,
}

impl Cases {
    /// The cases of this seed.
    pub fn new(seed: u64, focus: Focus) -> Cases {
        Cases { generator: Generator::new(Config::default()), focus, seed }
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
