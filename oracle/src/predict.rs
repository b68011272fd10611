//! Predicts a whole module under a table of rules: its data and the output of its kernels.

use ptxsmith_model::{ModuleAnswer, UnmodelledPart};
use ptxsmith_syntax::Module;

use crate::{
    execution::{Kernel, KernelOutcome, execute_over},
    expectation::{Expectation, basis},
    layout::expect,
    reading::Readings,
    rules::Rules,
    step::Trace,
    undecided::{self, Undecided, Validity},
    validity::undecided,
};

/// The prediction for a module under a table of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The contents of its variables, or why the module is refused.
    pub data: Expectation,
    /// The outputs of its kernels; empty unless the module is accepted.
    pub kernels: Vec<Kernel>,
    /// The parts that the specification at hand does not decide, in source order.
    pub undecided: Vec<Undecided>,
}

/// Predicts a module under these rules: combines [`expect`] and [`crate::execute`].
pub fn predict(module: &Module, rules: &Rules) -> Prediction {
    predict_over(module, rules, None)
}

/// Like [`predict`], but kernels may also have two parameters: the address of a buffer with this input, then the
/// address of the output.
pub fn predict_over(module: &Module, rules: &Rules, input: Option<&[u8]>) -> Prediction {
    let prediction = contents(module, rules, input);
    Prediction { undecided: undecided(module, rules, &prediction.data), ..prediction }
}

/// Like [`predict`], but does not look for undecided parts. That takes a third of the time, and a comparison under
/// other rules does not need it.
pub fn predict_contents(module: &Module, rules: &Rules) -> Prediction {
    contents(module, rules, None)
}

fn contents(module: &Module, rules: &Rules, input: Option<&[u8]>) -> Prediction {
    let data = expect(module, rules);
    let kernels = match &data {
        Expectation::Accepted { variables, .. } => execute_over(module, variables, rules, input),
        Expectation::Refused { .. } | Expectation::Unmodelled { .. } => Vec::new(),
    };
    Prediction { data, kernels, undecided: Vec::new() }
}

impl Prediction {
    /// Returns the validity of the module.
    pub fn validity(&self) -> Validity {
        match &self.data {
            Expectation::Refused { .. } => Validity::Refused,
            _ if self.undecided.is_empty() => Validity::Valid,
            _ => Validity::Undecided,
        }
    }

    /// Returns the clauses and questions that the prediction rests on.
    pub fn trace(&self) -> Trace {
        self.kernels.iter().fold(self.data.trace(), |trace, kernel| trace.union(kernel.trace))
    }

    /// Whether no implementation can satisfy both predictions. If this one has no rule for the module, its data counts
    /// as equal.
    pub fn differs_from(&self, other: &Prediction) -> bool {
        let has_other_data = match (&self.data, &other.data) {
            (Expectation::Accepted { variables: a, .. }, Expectation::Accepted { variables: b, .. }) => {
                a.len() != b.len() || a.iter().zip(b).any(|(a, b)| !a.has_same_contents(b))
            }
            (Expectation::Refused { refusal: a, .. }, Expectation::Refused { refusal: b, .. }) => {
                a.class != b.class
            }
            (Expectation::Unmodelled { .. }, _) => false,
            _ => true,
        };
        has_other_data || !self.outcomes().eq(other.outcomes())
    }

    fn outcomes(&self) -> impl Iterator<Item = &KernelOutcome> {
        self.kernels.iter().map(|kernel| &kernel.outcome)
    }

    /// Converts the prediction for reports; see [`Expectation::answer`]. Unmodelled kernels are listed among the
    /// unmodelled parts with their reason.
    pub fn answer(&self, text: &str, readings: &Readings) -> ModuleAnswer {
        let mut answer = self.data.answer(text, readings);
        for kernel in &self.kernels {
            let name = kernel.name.to_string();
            match &kernel.outcome {
                KernelOutcome::Output(output) => {
                    answer.kernels.insert(name.clone(), output.answer());
                    answer.kernel_bases.insert(name, basis(&kernel.trace, readings));
                }
                KernelOutcome::Unmodelled(reason) => answer.unmodelled.push(UnmodelledPart {
                    variable: None,
                    kernel: Some(name),
                    reason: (*reason).to_owned(),
                }),
            }
        }
        answer.is_valid = Some(self.validity() == Validity::Valid);
        answer.undecided = undecided::answer(&self.undecided, text);
        answer
    }

    /// Returns the [answer](Prediction::answer) as `ptxsmith.module/1`. A module without kernels has no `"kernels"`.
    pub fn to_json(&self, text: &str, readings: &Readings) -> serde_json::Value {
        self.answer(text, readings).into()
    }
}
