//! Reduces globals that show a difference, many at a time: each step compiles the variants of all globals
//! together.

use std::collections::BTreeMap;

use crate::EmitError;
use crate::judge::{HOST_DIFFERENCE, SourceDifference};
use crate::judged::{GlobalResult, Tester};
use crate::source::TestGlobal;

/// The maximum number of variants of a global to try at once.
const MOST_VARIANTS: usize = 48;

/// The maximum number of globals to compile at once.
const UNIT: usize = 400;

/// A global that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceExample<S> {
    /// The global.
    pub global: S,
    /// The difference.
    pub difference: SourceDifference,
}

/// Reduces the examples as far as they still show their differences. If `is_over` returns true or the run is
/// stopped, leaves them as they are.
///
/// # Errors
/// If a compiler cannot be run.
pub fn reduce<T: Tester>(
    tester: &T,
    examples: &mut [DifferenceExample<T::Global>],
    is_over: &dyn Fn() -> bool,
) -> Result<(), EmitError> {
    let mut active: Vec<Progress> = (0..examples.len()).map(|place| Progress { place, tried: 0 }).collect();
    while !active.is_empty() {
        let mut still_active = Vec::new();
        // A variant on which the compiler fails would end it for all others.
        let (failures, others): (Vec<Progress>, Vec<Progress>) =
            active.iter().partition(|progress| examples[progress.place].difference.is_failure());
        for part in failures.chunks(1).chain(others.chunks(UNIT / MOST_VARIANTS)) {
            if is_over() {
                return Ok(());
            }
            match step(tester, examples, part) {
                Ok(next) => still_active.extend(next),
                Err(error) if error.is_cancelled() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        active = still_active;
    }
    Ok(())
}

/// An example that may become smaller.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// The index of the example.
    place: usize,
    /// The number of its variants that do not show the difference, the smallest first.
    tried: usize,
}

/// Tries the next variants of each of these examples. Returns those that may become smaller still.
fn step<T: Tester>(
    tester: &T,
    examples: &mut [DifferenceExample<T::Global>],
    active: &[Progress],
) -> Result<Vec<Progress>, EmitError> {
    let mut variants: Vec<T::Global> = Vec::new();
    let mut origins: Vec<usize> = Vec::new();
    let mut left = Vec::new();
    for &Progress { place, tried } in active {
        let all = by_size(&examples[place].global);
        let end = all.len().min(tried + MOST_VARIANTS);
        if end < all.len() {
            left.push(Progress { place, tried: end });
        }
        for variant in &all[tried.min(end)..end] {
            origins.push(place);
            variants.push(variant.numbered(variants.len() as u64));
        }
    }
    // Run the host's compilers only if a difference is based on them.
    let mut differences = active.iter().map(|progress| &examples[progress.place].difference);
    let host_difference =
        differences.clone().find(|difference| difference.symptom.ends_with(HOST_DIFFERENCE));
    let sought = host_difference.or_else(|| differences.next());
    let results = tester.judge(&variants.iter().collect::<Vec<_>>(), sought)?;
    let mut next: BTreeMap<usize, (&T::Global, &SourceDifference)> = BTreeMap::new();
    for (global, &place) in variants.iter().zip(&origins) {
        let difference = results.get(&global.number()).and_then(GlobalResult::difference);
        let symptom = examples[place].difference.symptom();
        if let Some(difference) = difference.filter(|difference| difference.symptom() == symptom) {
            // The smallest variants come first.
            next.entry(place).or_insert((global, difference));
        }
    }
    for (&place, &(global, difference)) in &next {
        examples[place] = DifferenceExample { global: global.clone(), difference: difference.clone() };
    }
    left.retain(|progress| !next.contains_key(&progress.place));
    left.extend(next.into_keys().map(|place| Progress { place, tried: 0 }));
    Ok(left)
}

/// Returns the variants of a global, the smallest first.
fn by_size<S: TestGlobal>(global: &S) -> Vec<S> {
    let mut variants = global.variants();
    variants.sort_by_cached_key(|variant| variant.text().len());
    variants
}

#[cfg(test)]
mod tests {
    use ptxsmith_cuda::subjects::CompilerDescription;
    use ptxsmith_model::Class;

    use super::*;
    use crate::source::{
        CxxClass, CxxGlobal, CxxLiteral, CxxType, GlobalSpecifier, Initialization, Member, MemorySpace,
        Scalar,
    };

    /// A compiler that misprints each class with the members 0, 10 and 19.
    struct ThreeMembers(CompilerDescription);

    impl Tester for ThreeMembers {
        type Global = CxxGlobal;

        fn description(&self) -> &CompilerDescription {
            &self.0
        }

        fn judge(
            &self,
            globals: &[&CxxGlobal],
            _sought: Option<&SourceDifference>,
        ) -> Result<BTreeMap<u64, GlobalResult>, EmitError> {
            let misprinted = globals.iter().filter(|global| {
                let has = |id| members(global).contains(&id);
                has(0) && has(10) && has(19)
            });
            Ok(misprinted.map(|global| (global.number, GlobalResult::Failed(difference()))).collect())
        }

        fn ptx(&self, _globals: &[&CxxGlobal]) -> Result<Option<String>, EmitError> {
            Ok(None)
        }

        fn ptx_command(&self) -> String {
            String::new()
        }
    }

    fn members(global: &CxxGlobal) -> Vec<u32> {
        let CxxType::Class(class) = &global.ty else { return Vec::new() };
        class.members.iter().map(|member| member.id).collect()
    }

    fn difference() -> SourceDifference {
        SourceDifference {
            class: Class::WrongValue,
            symptom: "misprinted".to_owned(),
            kind: "",
            place: "g0".to_owned(),
            expected: String::new(),
            actual: String::new(),
        }
    }

    #[test]
    fn members_that_matter_and_lie_apart_are_all_that_remain() {
        let member = |id| Member::new(id, CxxType::Scalar(Scalar::Int, CxxLiteral::Integer(5)));
        let global = CxxGlobal {
            number: 0,
            space: MemorySpace::Device,
            form: GlobalSpecifier::Plain,
            initialization: Initialization::Listed,
            ty: CxxType::Class(CxxClass::new(0, (0..20).map(member).collect())),
        };
        let mut examples = [DifferenceExample { global, difference: difference() }];
        let description = CompilerDescription {
            id: "cicc@13.5".to_owned(),
            name: "cicc",
            version: String::new(),
            lineage: "nvidia",
        };
        reduce(&ThreeMembers(description), &mut examples, &|| false).unwrap();
        assert_eq!(members(&examples[0].global), [0, 10, 19]);
    }
}
