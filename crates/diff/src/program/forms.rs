//! Judges a program in each form of output that a subject makes: the verdicts in executable form, and those
//! that the relocatable form adds.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_model::ExpectedAnswer;
use ptxsmith_oracle::{Kernel, Validity};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Severity};
use ptxsmith_syntax::holders_of_addresses;

use super::compiling::observe_each;
use super::{ModuleVerdicts, PartVerdict, ProgramUnderTest, Rejection, kernel_verdict};
use crate::verdict::{Class, NotCompared, Verdict, WhyNotCompared};

/// The reason for a program that is refused only as an executable. The specification does not say what an
/// executable needs.
const LINKED: &str =
    "it is refused where it is linked at once, and the specification does not say what that needs";
const AS_NUMBER: &str = "an executable holds the address of a function or of a .const variable as a number";

impl ProgramUnderTest<'_> {
    /// Judges all parts of the program in both forms of output. A refusal counts only if no form is accepted;
    /// a deviation that one form alone shows counts for that form.
    pub(super) fn in_both_forms(&self) -> Result<ModuleVerdicts, Error> {
        let forms = [OutputForm::Executable, OutputForm::Relocatable];
        let observed = observe_each(&forms.map(|form| (self, form)))?;
        let Ok([mut executable, relocatable]) = <[Observation; 2]>::try_from(observed) else {
            unreachable!("an observation of each")
        };
        self.hide_addresses_as_numbers(&mut executable);
        let accepted = [&executable, &relocatable]
            .into_iter()
            .find(|observation| observation.outcome == Outcome::Accepted);
        let refusal_counts = accepted.is_none() || self.prediction.validity() == Validity::Refused;
        // A program that needs a linker is judged in relocatable form, which the subject cannot make for it.
        let needs_linker = executable.outcome == Outcome::Refused
            && relocatable.outcome == Outcome::Unsupported
            && OutputForm::showing(self.module) == OutputForm::Relocatable;
        let mut data = if needs_linker {
            self.data_in_form(OutputForm::Relocatable, &relocatable, refusal_counts)?
        } else {
            self.data_in_form(OutputForm::Executable, &executable, refusal_counts)?
        };
        self.name_form(&mut data, OutputForm::Executable);
        let adds_nothing = match relocatable.outcome {
            // A second refusal, or a refusal of the form that was not asked for.
            Outcome::Refused => executable.outcome == Outcome::Refused || !refusal_counts,
            // The subject cannot make this form.
            Outcome::Unsupported | Outcome::Unavailable => true,
            _ => false,
        };
        let mut added = Vec::new();
        if !adds_nothing {
            let other = self.data_in_form(OutputForm::Relocatable, &relocatable, refusal_counts)?;
            added = take_added(&mut data, other);
        }
        self.name_form(&mut added, OutputForm::Relocatable);
        let ProgramUnderTest { subject, rules, module, text, target, prediction, .. } = *self;
        let kernels = if relocatable.outcome == Outcome::Accepted
            && prediction.kernels.iter().any(Kernel::leaves_output)
        {
            Some(kernel_verdict(subject, rules, module, text, target)?)
        } else {
            None
        };
        let undecided = accepted.map_or_else(Vec::new, |observation| self.uncompared_bodies(observation));
        let data = self.by_more_than_outcome(data, kernels.as_ref(), &undecided);
        let refusals = [&executable, &relocatable]
            .into_iter()
            .zip(forms)
            .filter_map(|(observed, form)| Rejection::from_observation(observed, form))
            .collect();
        let outcome = if accepted.is_some() { Outcome::Accepted } else { executable.outcome };
        Ok(ModuleVerdicts { data, added, kernels, undecided, refusals, ..ModuleVerdicts::new(outcome) })
    }

    /// Judges the data in a form of output. A refusal that does not count, because the other form is
    /// accepted, is no verdict on the program.
    fn data_in_form(
        &self,
        form: OutputForm,
        observed: &Observation,
        refusal_counts: bool,
    ) -> Result<Vec<PartVerdict>, Error> {
        if observed.outcome == Outcome::Refused && !refusal_counts {
            return Ok(vec![self.refused_in_one_form(observed)]);
        }
        ProgramUnderTest { form, lines: self.lines.clone(), ..*self }.data(observed)
    }

    /// Marks variables with addresses of functions or constants as unobserved: in an executable, such an
    /// address cannot be distinguished from a number. Relocatable output shows it.
    fn hide_addresses_as_numbers(&self, executable: &mut Observation) {
        for declarator in holders_of_addresses(self.module, true, true) {
            if let Some(seen) = executable.variables.get_mut(declarator.name.text.as_str()) {
                (seen.bytes, seen.addresses) = (None, None);
                seen.reason = Some(AS_NUMBER.to_owned());
            }
        }
    }

    /// Adds the form of output to each deviation, unless it is the form in which the program's variables are
    /// usually shown.
    fn name_form(&self, parts: &mut [PartVerdict], form: OutputForm) {
        if OutputForm::showing(self.module) == form {
            return;
        }
        for part in parts.iter_mut().filter(|part| part.derived.is_none()) {
            if let Verdict::Deviates(difference) | Verdict::Reads(difference) = &mut part.verdict
                && difference.expected.answer != ExpectedAnswer::Unsaid
            {
                difference.expected.form = Some(form);
            }
        }
    }

    /// Returns the part for a program that is refused in one form and accepted in the other.
    fn refused_in_one_form(&self, observed: &Observation) -> PartVerdict {
        let rejection = Rejection::from_observation(observed, OutputForm::Executable);
        let mut why = WhyNotCompared::new("module", LINKED);
        if let Some(rejection) = rejection {
            why.line = rejection.line;
            why.said = Some(rejection.said);
        }
        PartVerdict::not_compared(NotCompared::Unmodelled, Some(why))
    }
}

impl Rejection {
    /// Returns the rejection of a program in a form of output, with the first error; `None` if the subject
    /// did not reject it.
    pub(super) fn from_observation(observed: &Observation, form: OutputForm) -> Option<Rejection> {
        if observed.outcome != Outcome::Refused {
            return None;
        }
        let first = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error);
        let said = first.map(|first| first.message.clone()).or(observed.reason.clone());
        let said = said.unwrap_or_else(|| "the subject does not say why".to_owned());
        Some(Rejection { form, line: first.and_then(|first| first.line), said })
    }
}

/// Returns the verdicts in the other form that add to those in the first: on parts that were not compared in
/// the first, and deviations that it did not show. Removes from `first` the parts that are compared now.
fn take_added(first: &mut Vec<PartVerdict>, other: Vec<PartVerdict>) -> Vec<PartVerdict> {
    let mut by_variable: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, part) in first.iter().enumerate() {
        by_variable.entry(part.variable.clone()).or_default().push(index);
    }
    let mut superseded = BTreeSet::new();
    let mut added = Vec::new();
    for part in other {
        let same_variable: Vec<usize> = by_variable.get(&part.variable).cloned().unwrap_or_default();
        let adds = match deviation_class(&part) {
            Some(class) => same_variable.iter().all(|&index| deviation_class(&first[index]) != Some(class)),
            None if part.is_compared() => same_variable.iter().all(|&index| !first[index].is_compared()),
            None => same_variable.is_empty() && part.variable.is_some(),
        };
        if !adds {
            continue;
        }
        if part.variable.is_some() && part.is_compared() {
            superseded.extend(same_variable.into_iter().filter(|&index| !first[index].is_compared()));
        }
        added.push(part);
    }
    let mut index = 0;
    first.retain(|_| {
        index += 1;
        !superseded.contains(&(index - 1))
    });
    added
}

fn deviation_class(part: &PartVerdict) -> Option<Class> {
    match &part.verdict {
        Verdict::Deviates(difference) => Some(difference.class),
        _ => None,
    }
}
