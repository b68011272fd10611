//! Collects the results of a campaign for one compiler and derives its findings.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::CompilerDescription;

use crate::EmitError;
use crate::judge::{DifferenceSymptom, SourceDifference};
use crate::judged::{GlobalResult, Tester};
use crate::listed::find;
use crate::reduce::{DifferenceExample, reduce};
use crate::shape::slug;
use crate::source::TestGlobal;

/// The maximum number of globals with the same symptom that are reduced; further globals are only counted.
const MOST_EXAMPLES: usize = 5;

/// The maximum number of those that look like a known deviation before they are reduced.
const MOST_LISTED: usize = 2;

/// The results for one compiler.
#[derive(Clone, Debug)]
pub struct ResultLedger<S> {
    /// The number of globals compared.
    pub compared: u64,
    /// The number of compared globals that agree with the source.
    pub conform: u64,
    /// The number of globals not compared, by reason.
    pub not_compared: BTreeMap<String, u64>,
    /// The number of compared globals for which a description was missing, by description and reason.
    pub unavailable: BTreeMap<String, u64>,
    /// The symptoms seen, by symptom and kind of scalar.
    symptoms: BTreeMap<(DifferenceSymptom, &'static str), SymptomOccurrences<S>>,
}

/// The occurrences of a symptom.
#[derive(Clone, Debug)]
struct SymptomOccurrences<S> {
    count: u64,
    /// Some globals that show it, the first ones first.
    examples: Vec<(ExampleRank, DifferenceExample<S>)>,
}

/// Which globals are reduced first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ExampleRank {
    /// Whether a known deviation may explain it. It would hide a cause that is not listed.
    is_listed: bool,
    /// The length of the source: short ones are reduced faster.
    length: usize,
    number: u64,
}

impl<S> SymptomOccurrences<S> {
    fn add(&mut self, other: SymptomOccurrences<S>) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|(rank, _)| *rank);
        let mut listed = 0;
        self.examples.retain(|(rank, _)| {
            listed += usize::from(rank.is_listed);
            !rank.is_listed || listed <= MOST_LISTED
        });
        self.examples.truncate(MOST_EXAMPLES);
    }
}

/// The globals with one shape and one symptom.
#[derive(Clone, Debug)]
pub struct EmitFinding<S> {
    /// The symptom.
    pub symptom: DifferenceSymptom,
    /// The shape of the reduced global.
    pub shape: String,
    /// The number of reduced globals with this shape and symptom.
    pub count: u64,
    /// The reduced global.
    pub global: S,
    /// The difference that it shows.
    pub difference: SourceDifference,
}

impl<S> EmitFinding<S> {
    /// Returns the id: the class and the shape. If the compiler fails, the cause says more than the shape and
    /// takes its place.
    pub fn id(&self) -> String {
        let DifferenceSymptom { class, what } = &self.symptom;
        let about = match class {
            // A signal says less than the shape.
            ptxsmith_model::Class::Crash | ptxsmith_model::Class::Hang if !what.contains("signal") => what,
            _ => &self.shape,
        };
        let mut id = format!("emit-{}-{}", class.name(), slug(about));
        id.truncate(100);
        id.trim_end_matches('-').to_owned()
    }
}

impl<S> Default for ResultLedger<S> {
    fn default() -> ResultLedger<S> {
        ResultLedger {
            compared: 0,
            conform: 0,
            not_compared: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            symptoms: BTreeMap::new(),
        }
    }
}

impl<S> Default for SymptomOccurrences<S> {
    fn default() -> SymptomOccurrences<S> {
        SymptomOccurrences { count: 0, examples: Vec::new() }
    }
}

impl<S: TestGlobal> ResultLedger<S> {
    /// Records the result for a global of this compiler.
    pub fn enter(&mut self, global: &S, judged: &GlobalResult, description: &CompilerDescription) {
        match judged {
            GlobalResult::NotCompared(why) => *self.not_compared.entry(why.clone()).or_default() += 1,
            GlobalResult::Compared(verdict) => {
                self.compared += 1;
                for witness in &verdict.unavailable {
                    *self.unavailable.entry(witness.clone()).or_default() += 1;
                }
            }
            GlobalResult::Failed(_) => self.compared += 1,
        }
        if let Some(difference) = judged.difference() {
            let example = DifferenceExample { global: global.clone(), difference: difference.clone() };
            let rank = ExampleRank {
                is_listed: find(&difference.symptom(), &global.shape(), description).is_some(),
                length: global.text().len(),
                number: global.number(),
            };
            let examples = vec![(rank, example)];
            let occurrences = self.symptoms.entry((difference.symptom(), difference.kind)).or_default();
            occurrences.add(SymptomOccurrences { count: 1, examples });
        } else if matches!(judged, GlobalResult::Compared(_)) {
            self.conform += 1;
        }
    }

    /// Adds the results of another ledger.
    pub fn merge(&mut self, other: ResultLedger<S>) {
        self.compared += other.compared;
        self.conform += other.conform;
        for (why, count) in other.not_compared {
            *self.not_compared.entry(why).or_default() += count;
        }
        for (why, count) in other.unavailable {
            *self.unavailable.entry(why).or_default() += count;
        }
        for (key, occurrences) in other.symptoms {
            self.symptoms.entry(key).or_default().add(occurrences);
        }
    }

    /// Returns the number of symptoms seen.
    pub fn symptoms(&self) -> usize {
        self.symptoms.len()
    }

    /// Reduces the examples and returns the findings. Examples with the same symptom and shape are one
    /// finding.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    pub fn findings<T: Tester<Global = S>>(
        &self,
        tester: &T,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<EmitFinding<S>>, EmitError> {
        let occurrences = self.symptoms.values().flat_map(|occurrences| &occurrences.examples);
        let mut examples: Vec<DifferenceExample<S>> =
            occurrences.map(|(_, example)| example.clone()).collect();
        reduce(tester, &mut examples, is_over)?;
        let mut found: BTreeMap<(DifferenceSymptom, String), EmitFinding<S>> = BTreeMap::new();
        for DifferenceExample { global, difference } in examples {
            let (symptom, shape) = (difference.symptom(), global.shape());
            let entry = found.entry((symptom.clone(), shape.clone()));
            entry.or_insert_with(|| EmitFinding { symptom, shape, count: 0, global, difference }).count += 1;
        }
        Ok(found.into_values().collect())
    }
}
