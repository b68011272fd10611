//! Collects the results of a campaign for one compiler and derives its findings.

use std::collections::BTreeMap;

use crate::Error;
use crate::judge::{Difference, Symptom};
use crate::judged::{Judged, Tester};
use crate::reduce::{Example, reduce};
use crate::shape::slug;
use crate::source::Source;

/// The most globals of one symptom to reduce; further ones are only counted.
const MOST_EXAMPLES: usize = 5;

/// The results for one compiler.
#[derive(Clone, Debug)]
pub struct Ledger<S> {
    /// The number of globals compared.
    pub compared: u64,
    /// The number of compared globals that agree with the source.
    pub conform: u64,
    /// The number of globals not compared, by reason.
    pub not_compared: BTreeMap<String, u64>,
    /// The number of compared globals for which a description was missing, by description and reason.
    pub unheard: BTreeMap<String, u64>,
    /// The symptoms seen, by symptom and kind of scalar.
    symptoms: BTreeMap<(Symptom, &'static str), Seen<S>>,
}

/// The occurrences of one symptom.
#[derive(Clone, Debug)]
struct Seen<S> {
    count: u64,
    /// The shortest globals that show it, the shortest first.
    examples: Vec<(usize, u64, Example<S>)>,
}

impl<S> Seen<S> {
    fn add(&mut self, other: Seen<S>) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|(length, number, _)| (*length, *number));
        self.examples.truncate(MOST_EXAMPLES);
    }
}

/// The globals with one shape and one symptom.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The symptom.
    pub symptom: Symptom,
    /// The shape of the reduced global.
    pub shape: String,
    /// The number of reduced globals with this shape and symptom.
    pub count: u64,
    /// The reduced global.
    pub global: S,
    /// The difference that it shows.
    pub difference: Difference,
}

impl<S> Found<S> {
    /// Returns the id: the class and the shape. If the compiler fails, the cause says more than the shape and takes its
    /// place.
    pub fn id(&self) -> String {
        let Symptom { class, what } = &self.symptom;
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

impl<S> Default for Ledger<S> {
    fn default() -> Ledger<S> {
        Ledger {
            compared: 0,
            conform: 0,
            not_compared: BTreeMap::new(),
            unheard: BTreeMap::new(),
            symptoms: BTreeMap::new(),
        }
    }
}

impl<S> Default for Seen<S> {
    fn default() -> Seen<S> {
        Seen { count: 0, examples: Vec::new() }
    }
}

impl<S: Source> Ledger<S> {
    /// Records the result for a global.
    pub fn enter(&mut self, global: &S, judged: &Judged) {
        match judged {
            Judged::NotCompared(why) => *self.not_compared.entry(why.clone()).or_default() += 1,
            Judged::Compared(verdict) => {
                self.compared += 1;
                for witness in &verdict.unheard {
                    *self.unheard.entry(witness.clone()).or_default() += 1;
                }
            }
            Judged::Failed(_) => self.compared += 1,
        }
        if let Some(difference) = judged.difference() {
            let example = Example { global: global.clone(), difference: difference.clone() };
            let examples = vec![(global.text().len(), global.number(), example)];
            let seen = self.symptoms.entry((difference.symptom(), difference.kind)).or_default();
            seen.add(Seen { count: 1, examples });
        } else if matches!(judged, Judged::Compared(_)) {
            self.conform += 1;
        }
    }

    /// Adds the results of another ledger.
    pub fn merge(&mut self, other: Ledger<S>) {
        self.compared += other.compared;
        self.conform += other.conform;
        for (why, count) in other.not_compared {
            *self.not_compared.entry(why).or_default() += count;
        }
        for (why, count) in other.unheard {
            *self.unheard.entry(why).or_default() += count;
        }
        for (key, seen) in other.symptoms {
            self.symptoms.entry(key).or_default().add(seen);
        }
    }

    /// Returns the number of symptoms seen.
    pub fn symptoms(&self) -> usize {
        self.symptoms.len()
    }

    /// Reduces the examples and returns the findings. Examples with the same symptom and shape are one finding.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    pub fn findings<T: Tester<Source = S>>(
        &self,
        tester: &T,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<Found<S>>, Error> {
        let seen = self.symptoms.values().flat_map(|seen| &seen.examples);
        let mut examples: Vec<Example<S>> = seen.map(|(.., example)| example.clone()).collect();
        reduce(tester, &mut examples, is_over)?;
        let mut found: BTreeMap<(Symptom, String), Found<S>> = BTreeMap::new();
        for Example { global, difference } in examples {
            let (symptom, shape) = (difference.symptom(), global.shape());
            let entry = found.entry((symptom.clone(), shape.clone()));
            entry.or_insert_with(|| Found { symptom, shape, count: 0, global, difference }).count += 1;
        }
        Ok(found.into_values().collect())
    }
}
