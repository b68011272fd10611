//! Compiles a program with a subject, as a whole or in parts, and derives the verdicts from the observations.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Expectation, Kernel, Validity, expect, predict};
use ptxsmith_subject::{Diagnostic, Error, OUT_OF_MEMORY, Observation, Outcome, OutputForm, Request};
use ptxsmith_syntax::{Item, Lines, Module, Role, Text, Visit, parse};

use crate::requested;
use crate::verdict::{DerivedModule, NotCompared, Verdict, WhyNotCompared};

use super::data::data_verdicts;
use super::reasons::{contains_start, errors, with_line};
use super::{ModuleVerdicts, ParsedProgram, PartVerdict, ProgramUnderTest, Rejection, kernel_verdict};

/// Observes how the subject compiles each program. Executable and relocatable output have different
/// restrictions: unless the specification refuses the program, the form that the subject accepts counts.
pub(super) fn observe_in_accepted_form(programs: &[ProgramUnderTest<'_>]) -> Result<Vec<Observation>, Error> {
    let first: Vec<(&ProgramUnderTest<'_>, OutputForm)> =
        programs.iter().map(|program| (program, program.form)).collect();
    let mut observed = observe_each(&first)?;
    let mut refused = Vec::new();
    let mut second = Vec::new();
    for (index, &(program, form)) in first.iter().enumerate() {
        if observed[index].outcome == Outcome::Refused && program.prediction.validity() != Validity::Refused {
            refused.push(index);
            second.push((program, other_form(form)));
        }
    }
    for (index, second) in refused.into_iter().zip(observe_each(&second)?) {
        if second.outcome == Outcome::Accepted {
            observed[index] = second;
        }
    }
    Ok(observed)
}

fn other_form(form: OutputForm) -> OutputForm {
    match form {
        OutputForm::Executable => OutputForm::Relocatable,
        OutputForm::Relocatable => OutputForm::Executable,
    }
}

/// Observes how the subject compiles each program in its form; programs may share a run. A program runs alone
/// if other modules of the run could see its symbols. So does a valid program, so that its refusal cannot
/// depend on other programs.
pub(super) fn observe_each(
    programs: &[(&ProgramUnderTest<'_>, OutputForm)],
) -> Result<Vec<Observation>, Error> {
    /// Linkages with which a symbol is visible to other modules.
    const SHARED_LINKAGES: [&str; 4] = [".visible", ".weak", ".extern", ".common"];
    let wanted: Vec<_> = programs
        .iter()
        .map(|(ProgramUnderTest { subject, module, rules, prediction, .. }, _)| {
            requested::variables_of(subject.description(), &prediction.data, module, rules)
        })
        .collect();
    let mut groups: BTreeMap<(&str, OutputForm, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (index, (program, form)) in programs.iter().enumerate() {
        let runs_alone = program.prediction.validity() == Validity::Valid
            || SHARED_LINKAGES.iter().any(|linkage| program.text.contains(linkage));
        groups.entry((program.target, *form, runs_alone.then_some(index))).or_default().push(index);
    }
    let mut observed: Vec<Option<Observation>> = vec![None; programs.len()];
    for ((target, form, _), group) in groups {
        let requests: Vec<Request<'_>> = group
            .iter()
            .map(|&index| Request {
                read: &wanted[index],
                ..Request::new(programs[index].0.text, target).in_form(form)
            })
            .collect();
        let subject = programs[group[0]].0.subject;
        for (index, observation) in group.into_iter().zip(subject.observe_each(&requests)?) {
            observed[index] = Some(observation);
        }
    }
    Ok(observed.into_iter().flatten().collect())
}

impl ProgramUnderTest<'_> {
    /// Judges all parts of the program from an observation.
    pub(super) fn verdicts(&self, observed: &Observation) -> Result<ModuleVerdicts, Error> {
        let ProgramUnderTest { subject, rules, module, text, target, prediction, .. } = *self;
        let data = self.data(observed)?;
        let accepted = observed.outcome == Outcome::Accepted;
        let kernels = if accepted && prediction.kernels.iter().any(Kernel::leaves_output) {
            Some(kernel_verdict(subject, rules, module, text, target)?)
        } else {
            None
        };
        let undecided = if accepted { self.uncompared_bodies(observed) } else { Vec::new() };
        let data = self.by_more_than_outcome(data, kernels.as_ref(), &undecided);
        let refusals = Rejection::from_observation(observed, self.form).into_iter().collect();
        let verdicts = ModuleVerdicts::new(observed.outcome);
        Ok(ModuleVerdicts { data, kernels, undecided, refusals, ..verdicts })
    }

    /// Observes a header alone. The observation is cached, as many programs have the same header.
    fn observe_header(&self, text: &str, module: &Module, form: OutputForm) -> Result<Observation, Error> {
        let key = (text.to_owned(), self.target.to_owned(), form);
        if let Some(known) = self.headers.borrow().get(&key) {
            return Ok(known.clone());
        }
        let observed = self.observe(text, module, form)?;
        self.headers.borrow_mut().insert(key, observed.clone());
        Ok(observed)
    }

    pub(super) fn observe(
        &self,
        text: &str,
        module: &Module,
        form: OutputForm,
    ) -> Result<Observation, Error> {
        let read = requested::variables(self.subject.description(), module, self.rules);
        self.subject.observe(&Request { read: &read, ..Request::new(text, self.target).in_form(form) })
    }

    /// Judges the data, or the program as a whole.
    pub(super) fn data(&self, observed: &Observation) -> Result<Vec<PartVerdict>, Error> {
        let ProgramUnderTest { subject, rules, module, text, target, prediction, .. } = *self;
        let program = ParsedProgram { module, text, target };
        let (validity, outcome) = (prediction.validity(), observed.outcome);
        if validity != Validity::Refused && outcome == Outcome::Refused {
            if let Some(part) = self.header_verdict(observed)? {
                return Ok(vec![part]);
            }
            // In a judged module only a comment can contain such a character, and the syntax tree has no
            // comments.
            if !text.is_ascii() {
                let line = text.lines().position(|line| !line.is_ascii()).map(|before| before as u32 + 1);
                let said = observed.diagnostics.first().map(with_line);
                let why = WhyNotCompared { line, said, ..WhyNotCompared::new("module", BEYOND_ASCII) };
                return Ok(vec![PartVerdict::not_compared(NotCompared::Unmodelled, Some(why))]);
            }
        }
        let mut parts = match (validity, outcome) {
            (Validity::Undecided, Outcome::Refused) => self.isolated(self.blamed(observed), observed)?,
            (Validity::Refused, Outcome::Accepted) if !prediction.undecided.is_empty() => {
                self.isolated(self.refused().into_iter().collect(), observed)?
            }
            (validity, _) if is_exhausted(observed) && text.len() > length_always_compiled(validity) => {
                let parts = data_verdicts(subject, rules, &program, &prediction.data, observed);
                if parts.iter().any(is_explained) { parts } else { self.without_answer(observed)? }
            }
            _ => data_verdicts(subject, rules, &program, &prediction.data, observed),
        };
        let undecided = self.undecided_by_name();
        for part in &mut parts {
            if let (Verdict::NotCompared(reason), None) = (&part.verdict, &part.why) {
                part.why = self
                    .why_not_compared(*reason, part.variable.as_deref(), &undecided, observed)
                    .map(Box::new);
            }
            if validity == Validity::Undecided && part.derived.is_none() {
                part.requirement = None;
            }
        }
        Ok(parts)
    }

    /// Returns that nothing was compared (unsupported) if the subject does not accept the header, which follows
    /// from its messages or from compiling the header alone. Statements below it then show nothing.
    fn header_verdict(&self, observed: &Observation) -> Result<Option<PartVerdict>, Error> {
        if let Some(message) = self.message_about_header(observed) {
            let plain = ptxsmith_syntax::print(&self.module.header()) + PLAINEST;
            let module = parse(&plain).unwrap_or_default();
            let observed_plain = self.observe_header(&plain, &module, self.form)?;
            if observed_plain.outcome != Outcome::Accepted {
                return Ok(Some(header_not_accepted(Some(message))));
            }
        }
        let header = self.module.header();
        let text = ptxsmith_syntax::print(&header);
        if header.items.is_empty() || self.module.items.len() == header.items.len() {
            return Ok(None);
        }
        let observed_alone = self.observe_header(&text, &header, self.form)?;
        if observed_alone.outcome == Outcome::Accepted {
            return Ok(None);
        }
        let first_message = error_messages(&observed_alone).into_iter().next();
        let messages = error_messages(observed);
        // Alone, a header may lack something that the program has, such as debug information. That is no
        // fault of the header.
        if let Some(first) = &first_message
            && !messages.is_empty()
            && !messages.contains(first)
        {
            return Ok(None);
        }
        Ok(Some(header_not_accepted(first_message.or(observed_alone.reason))))
    }

    /// Returns the first error message with a line, if all such messages name lines of the header. Some
    /// subjects check the header only when a statement follows, and then report lines of the header. Others
    /// report no lines.
    fn message_about_header(&self, observed: &Observation) -> Option<String> {
        let first_statement = self.module.items.iter().find(|item| !item.is_header())?.span();
        if !first_statement.is_known() {
            return None;
        }
        let first_line = self.lines.line(first_statement.start);
        let errors: Vec<&Diagnostic> =
            errors(observed).filter(|diagnostic| diagnostic.line.is_some()).collect();
        if errors.iter().any(|error| error.line >= Some(first_line)) {
            return None;
        }
        errors.first().map(|error| with_line(error))
    }

    /// Judges a module that was derived from the program. Each verdict contains that module.
    pub(super) fn derived(&self, module: Module, text: String, observed: &Observation) -> Vec<PartVerdict> {
        let expected = expect(&module, self.rules);
        let program = ParsedProgram { module: &module, text: &text, target: self.target };
        let mut parts = data_verdicts(self.subject, self.rules, &program, &expected, observed);
        let derived = Box::new(DerivedModule { module, text });
        parts.iter_mut().for_each(|part| part.derived = Some(derived.clone()));
        parts
    }

    /// Returns the judged statements on lines that diagnostics name.
    fn blamed(&self, observed: &Observation) -> Vec<usize> {
        let lines: BTreeSet<u32> = observed.diagnostics.iter().filter_map(|d| d.line).collect();
        let mut blamed = Vec::new();
        for (index, item) in self.module.items.iter().enumerate() {
            let span = item.span();
            if span.is_known()
                && lines.range(self.lines.line(span.start)..=self.lines.line(span.end)).next().is_some()
                && self.is_judged(index)
            {
                blamed.push(index);
            }
        }
        blamed
    }

    /// Returns the statement that the specification refuses.
    fn refused(&self) -> Option<usize> {
        let Expectation::Refused { refusal, .. } = &self.prediction.data else { return None };
        self.module.items.iter().position(|item| contains_start(item.span(), refusal.span))
    }

    /// Returns true if a statement is a declaration or function without undecided parts.
    fn is_judged(&self, index: usize) -> bool {
        let item = &self.module.items[index];
        matches!(item, Item::Variables(_) | Item::Function(_))
            && !self.prediction.undecided.iter().any(|part| contains_start(item.span(), part.span))
    }

    /// Judges these statements alone, with everything that they name. Returns that the program was not
    /// compared, followed by the deviations that the statements show alone.
    fn isolated(&self, statements: Vec<usize>, observed: &Observation) -> Result<Vec<PartVerdict>, Error> {
        let not_compared = PartVerdict::not_compared(NotCompared::Unmodelled, None);
        if statements.is_empty() {
            return Ok(vec![not_compared]);
        }
        let kept = self.with_named_statements(statements);
        let items = self
            .module
            .items
            .iter()
            .enumerate()
            .filter(|(index, item)| item.is_header() || kept.contains(index))
            .map(|(_, item)| item.clone())
            .collect();
        let text = ptxsmith_syntax::print(&Module { items });
        let Ok(module) = parse(&text) else { return Ok(vec![not_compared]) };
        let prediction = predict(&module, self.rules);
        if !prediction.undecided.is_empty() {
            return Ok(vec![not_compared]);
        }
        let alone = ProgramUnderTest {
            module: &module,
            text: &text,
            lines: Lines::new(&text),
            prediction: &prediction,
            form: OutputForm::showing(&module),
            ..*self
        };
        let observed_alone = observe_in_accepted_form(std::slice::from_ref(&alone))?.remove(0);
        let mut parts = vec![not_compared];
        if observed_alone.outcome == observed.outcome && alone.header_verdict(&observed_alone)?.is_none() {
            let derived = alone.derived(module.clone(), text.clone(), &observed_alone);
            parts.extend(derived.into_iter().filter(|part| matches!(part.verdict, Verdict::Deviates(_))));
        }
        Ok(parts)
    }

    /// Judges a large program for which the subject ran out of time or memory. The specification does not say
    /// how much code generation may need. If parts of the program are undecided, the judged statements need
    /// neither time nor memory, and are compiled alone.
    fn without_answer(&self, observed: &Observation) -> Result<Vec<PartVerdict>, Error> {
        let count = self.module.items.len();
        let judged = if count <= MOST_ISOLATED && self.prediction.validity() == Validity::Undecided {
            (0..count).filter(|&index| self.is_judged(index)).collect()
        } else {
            Vec::new()
        };
        let mut parts = self.isolated(judged, observed)?;
        for part in parts.iter_mut().filter(|part| part.derived.is_none()) {
            let reason = observed.reason.as_deref().unwrap_or(NO_END);
            part.verdict = Verdict::NotCompared(NotCompared::Unobserved);
            part.why = Some(Box::new(WhyNotCompared::new("module", format!("{reason}, of a large program"))));
        }
        Ok(parts)
    }

    /// Returns these statements and everything that they name, directly or indirectly.
    fn with_named_statements(&self, statements: Vec<usize>) -> BTreeSet<usize> {
        let mut kept = BTreeSet::new();
        let mut pending = statements;
        while let Some(index) = pending.pop() {
            if !kept.insert(index) {
                continue;
            }
            let mut used = UsedNames(BTreeSet::new());
            used.item(&self.module.items[index]);
            for (other, item) in self.module.items.iter().enumerate() {
                if !kept.contains(&other) && used.0.iter().any(|name| item.may_declare(name)) {
                    pending.push(other);
                }
            }
        }
        kept
    }

    /// Removes the verdict that rests on the acceptance of a program without variables, if more than that was
    /// compared. If a part is undecided, acceptance shows nothing, because a refusal would be just as
    /// correct.
    pub(super) fn by_more_than_outcome(
        &self,
        mut data: Vec<PartVerdict>,
        kernels: Option<&PartVerdict>,
        undecided: &[PartVerdict],
    ) -> Vec<PartVerdict> {
        let Expectation::Accepted { variables, .. } = &self.prediction.data else { return data };
        if !variables.is_empty() || !data.iter().any(|part| part.verdict == Verdict::ConformsByOutcome) {
            return data;
        }
        let may_be_refused = self.prediction.validity() == Validity::Undecided;
        let has_undecided =
            undecided.iter().any(|part| part.verdict == Verdict::NotCompared(NotCompared::Unmodelled));
        if kernels.is_some_and(PartVerdict::is_compared) || may_be_refused && has_undecided {
            data.retain(|part| part.verdict != Verdict::ConformsByOutcome);
        } else if may_be_refused && let Some(first) = self.prediction.undecided.first() {
            let why = self.why_undecided("module".to_owned(), first);
            data = vec![PartVerdict::not_compared(NotCompared::Unmodelled, Some(why))];
        }
        data
    }
}

fn header_not_accepted(message: Option<String>) -> PartVerdict {
    let why = WhyNotCompared { said: message, ..WhyNotCompared::new("header", HEADER) };
    PartVerdict::not_compared(NotCompared::Unsupported, Some(why))
}

fn error_messages(observed: &Observation) -> Vec<String> {
    errors(observed).map(|error| error.message.clone()).collect()
}

/// Returns true if the part deviates and something listed explains it.
fn is_explained(part: &PartVerdict) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if difference.explanation.is_some())
}

/// A statement that every implementation accepts under a header that it accepts.
const PLAINEST: &str = ".global .u32 a;\n";

/// Returns the length in bytes up to which the subject must answer for any program. It is greater if nothing
/// is undecided, because then no instructions are hard to compile.
fn length_always_compiled(validity: Validity) -> usize {
    if validity == Validity::Undecided { 1 << 14 } else { 1 << 16 }
}

/// Returns true if a subject was stopped because it used up its time or memory.
fn is_exhausted(observed: &Observation) -> bool {
    match observed.outcome {
        Outcome::TimedOut => true,
        Outcome::Crashed => observed.reason.as_deref() == Some(OUT_OF_MEMORY),
        _ => false,
    }
}

/// The maximum number of statements of a program for compiling the judged ones alone if the program gets no
/// answer.
const MOST_ISOLATED: usize = 1 << 10;
const NO_END: &str = "no end in time";
const HEADER: &str = "the subject does not accept the header";
/// The reason why a program that is refused and contains such a character, in a comment, is not compared
/// (unmodelled): the specification does not say which characters comments may contain.
const BEYOND_ASCII: &str = "characters beyond ASCII, about which the specification says nothing";

/// Collects the names that a statement uses.
struct UsedNames<'m>(BTreeSet<&'m Text>);

impl<'m> Visit<'m> for UsedNames<'m> {
    fn name(&mut self, name: &'m Text, role: Role) {
        if role == Role::Use {
            self.0.insert(name);
        }
    }
}
