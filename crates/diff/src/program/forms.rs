//! Judges a program in each form of output that a subject makes: the verdicts in the form of the subject as named, and those that the other
//! form adds.

use ptxsmith_model::ExpectedAnswer;
use ptxsmith_oracle::{Kernel, Validity};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Severity};
use ptxsmith_syntax::holders_of_addresses;

use super::shown::{Shown, observe_each};
use super::{ModuleVerdicts, Part, Refusal, of_kernels};
use crate::verdict::{Class, NotCompared, Verdict, Why};

/// Executable output is first: it is the form that users get.
const FORMS: [OutputForm; 2] = [OutputForm::Executable, OutputForm::Relocatable];
/// The reason for a program that is refused only as an executable: the specification does not say what an executable needs.
const LINKED: &str = "it is refused where it is linked at once, and the texts do not say what that needs";
const AS_NUMBER: &str = "an executable holds the address of a function or of a .const variable as a number";

impl Shown<'_> {
    /// Judges all parts of the program in both forms of output. A refusal counts only if no form is accepted; a deviation that one form
    /// alone shows counts for that form.
    pub(super) fn in_both_forms(&self) -> Result<ModuleVerdicts, Error> {
        let observed = observe_each(&FORMS.map(|form| (self, form)))?;
        let Ok([mut executable, relocatable]) = <[Observation; 2]>::try_from(observed) else {
            unreachable!("an observation of each")
        };
        self.leave_numbers(&mut executable);
        let refusals = [&executable, &relocatable].into_iter().zip(FORMS);
        let refusals = refusals.filter_map(|(observed, form)| Refusal::of(observed, form)).collect();
        let is = |observed: &Observation, outcome| observed.outcome == outcome;
        let taken = is(&executable, Outcome::Accepted) || is(&relocatable, Outcome::Accepted);
        let counts = !taken || self.prediction.validity() == Validity::Refused;
        let of = |observed: &Observation, form| match observed.outcome {
            Outcome::Refused if !counts => Ok(vec![self.refused_in_one(observed)]),
            _ => Shown { form, lines: self.lines.clone(), ..*self }.data(observed),
        };
        let is_unsupported = is(&relocatable, Outcome::Unsupported) && is(&executable, Outcome::Refused);
        let mut data = match is_unsupported && OutputForm::showing(self.module) == OutputForm::Relocatable {
            // The program needs a linker, so it is judged in relocatable form, which the subject cannot make for it.
            true => of(&relocatable, FORMS[1])?,
            false => of(&executable, FORMS[0])?,
        };
        self.name_form(&mut data, FORMS[0]);
        let adds_nothing = match relocatable.outcome {
            // A second refusal, or a refusal of the form that was not asked for.
            Outcome::Refused => is(&executable, Outcome::Refused) || !counts,
            // The subject cannot make this form.
            Outcome::Unsupported | Outcome::Unavailable => true,
            _ => false,
        };
        let mut added = match adds_nothing {
            true => Vec::new(),
            false => added(&mut data, of(&relocatable, FORMS[1])?),
        };
        self.name_form(&mut added, FORMS[1]);
        let Shown { subject, rules, module, text, target, prediction, .. } = *self;
        let listed =
            is(&relocatable, Outcome::Accepted) && prediction.kernels.iter().any(Kernel::leaves_output);
        let kernels = listed.then(|| of_kernels(subject, rules, module, text, target)).transpose()?;
        let accepted = [&executable, &relocatable].into_iter().find(|seen| is(seen, Outcome::Accepted));
        let undecided = accepted.map_or_else(Vec::new, |seen| self.of_bodies(seen));
        let data = self.by_more_than_outcome(data, kernels.as_ref(), &undecided);
        let outcome = if accepted.is_some() { Outcome::Accepted } else { executable.outcome };
        Ok(ModuleVerdicts { data, added, kernels, undecided, refusals, ..ModuleVerdicts::of(outcome) })
    }

    /// Marks the variables that contain such addresses as unobserved: in an executable, the address cannot be distinguished from a number.
    /// Relocatable output shows it.
    fn leave_numbers(&self, executable: &mut Observation) {
        for declarator in holders_of_addresses(self.module, true, true) {
            if let Some(seen) = executable.variables.get_mut(declarator.name.text.as_str()) {
                (seen.bytes, seen.addresses) = (None, None);
                seen.reason = Some(AS_NUMBER.to_owned());
            }
        }
    }

    /// Adds the form of output to each deviation, unless it is the form in which the program's variables are usually shown.
    fn name_form(&self, parts: &mut [Part], form: OutputForm) {
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
    fn refused_in_one(&self, observed: &Observation) -> Part {
        let refusal = Refusal::of(observed, FORMS[0]);
        let (line, said) = refusal.map_or((None, None), |refusal| (refusal.line, Some(refusal.said)));
        let why = Why { part: "module".into(), line, reason: LINKED.into(), detail: None, said };
        Part::not_compared(NotCompared::Unmodelled, Some(why))
    }
}

impl Refusal {
    /// Returns the refusal of a program in a form of output, with the first error; `None` if the subject did not refuse it.
    pub(super) fn of(observed: &Observation, form: OutputForm) -> Option<Refusal> {
        if observed.outcome != Outcome::Refused {
            return None;
        }
        let first = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error);
        let said = first.map(|first| first.message.clone()).or(observed.reason.clone());
        let said = said.unwrap_or_else(|| "the subject does not say why".to_owned());
        Some(Refusal { form, line: first.and_then(|first| first.line), said })
    }
}

/// Returns the verdicts in the other form that add to those in the first: on parts that were not compared in the first, and deviations that
/// it did not show. Removes from `first` the parts that are compared now.
fn added(first: &mut Vec<Part>, other: Vec<Part>) -> Vec<Part> {
    let is_compared = |part: &Part| !matches!(part.verdict, Verdict::NotCompared(_));
    let class = |part: &Part| -> Option<Class> {
        match &part.verdict {
            Verdict::Deviates(difference) => Some(difference.class),
            _ => None,
        }
    };
    let mut places: std::collections::BTreeMap<_, Vec<usize>> = Default::default();
    for (at, part) in first.iter().enumerate() {
        places.entry(part.variable.clone()).or_default().push(at);
    }
    let mut superseded = std::collections::BTreeSet::new();
    let mut added = Vec::new();
    for part in other {
        let own: Vec<usize> = places.get(&part.variable).cloned().unwrap_or_default();
        let adds = match class(&part) {
            Some(class_of_it) => own.iter().all(|&at| class(&first[at]) != Some(class_of_it)),
            None if is_compared(&part) => own.iter().all(|&at| !is_compared(&first[at])),
            None => own.is_empty() && part.variable.is_some(),
        };
        if adds {
            if part.variable.is_some() && is_compared(&part) {
                superseded.extend(own.into_iter().filter(|&at| !is_compared(&first[at])));
            }
            added.push(part);
        }
    }
    let mut at = 0;
    first.retain(|_| {
        at += 1;
        !superseded.contains(&(at - 1))
    });
    added
}
