//! Generated programs by number: what the generator makes, as trials.

use crate::args::Focus;
use ptxsmith_diff::{Body, Trial};

/// The cases of one seed.
pub struct Cases {
    seed: u64,
    focus: Focus,
}
impl Cases {
    pub fn new(seed: u64, focus: Focus) -> Cases {
        Cases { seed, focus }
    }
    pub fn trial(&self, index: u64) -> Trial {
        let e = ptxsmith_syntax::parse_expr(&format!("{} + {index} / {}", self.seed, index % 50)).unwrap();
        let _ = self.focus;
        Trial {
            id: index,
            body: Body::Expression {
                ty: ptxsmith_syntax::ScalarType::S64,
                space: ptxsmith_syntax::StateSpace::Global,
                expr: e,
            },
        }
    }
}
