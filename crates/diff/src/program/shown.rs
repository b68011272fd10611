//! Compiles a program with a subject, as a whole or in parts, and derives the verdicts from the observations.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Expectation, Kernel, Left, Prediction, Rules, Undecided, Validity, expect, predict};
use ptxsmith_subject::{
    Diagnostic, Error, OUT_OF_MEMORY, Observation, Outcome, OutputForm, Request, Severity, Subject,
};
use ptxsmith_syntax::{
    Function, FunctionKind, Item, Lines, Module, Name, Role, Span, StateSpace, Statement, Text, Visit, parse,
};

use crate::compare::shows_no_values;
use crate::read;
use crate::verdict::{Derived, NotCompared, Verdict, Why};

use super::data::of_data;
use super::{ModuleVerdicts, Part, Refusal, ToJudge, of_kernels};

/// Observes how the subject compiles each program. Executable and relocatable output have different restrictions: unless the specification
/// refuses the program, the form that the subject accepts counts.
pub(super) fn observed_of(shown: &[Shown<'_>]) -> Result<Vec<Observation>, Error> {
    let first: Vec<(&Shown<'_>, OutputForm)> = shown.iter().map(|shown| (shown, shown.form)).collect();
    let mut observed = observe_each(&first)?;
    let may_be_taken = |(at, shown): &(usize, &Shown<'_>)| {
        observed[*at].outcome == Outcome::Refused && shown.prediction.validity() != Validity::Refused
    };
    let places: Vec<usize> = shown.iter().enumerate().filter(may_be_taken).map(|(at, _)| at).collect();
    let other = |at: &usize| match first[*at] {
        (shown, OutputForm::Executable) => (shown, OutputForm::Relocatable),
        (shown, OutputForm::Relocatable) => (shown, OutputForm::Executable),
    };
    let second = observe_each(&places.iter().map(other).collect::<Vec<_>>())?;
    for (at, second) in places.into_iter().zip(second) {
        if second.outcome == Outcome::Accepted {
            observed[at] = second;
        }
    }
    Ok(observed)
}

/// Observes how the subject compiles each program in its form; programs may share a run. A program runs alone if other modules of the run
/// could see its symbols. So does a valid program, so that its refusal cannot depend on other programs.
pub(super) fn observe_each(shown: &[(&Shown<'_>, OutputForm)]) -> Result<Vec<Observation>, Error> {
    const SEEN: [&str; 4] = [".visible", ".weak", ".extern", ".common"];
    let wanted: Vec<_> = shown
        .iter()
        .map(|(Shown { subject, module, rules, prediction, .. }, _)| {
            read::wanted_of(subject.description(), &prediction.data, module, rules)
        })
        .collect();
    let mut groups: BTreeMap<(&str, OutputForm, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (at, (shown, form)) in shown.iter().enumerate() {
        let is_valid = shown.prediction.validity() == Validity::Valid;
        let alone = (is_valid || SEEN.iter().any(|word| shown.text.contains(word))).then_some(at);
        groups.entry((shown.target, *form, alone)).or_default().push(at);
    }
    let mut observed: Vec<Option<Observation>> = vec![None; shown.len()];
    for ((target, form, _), places) in groups {
        let request = |&at: &usize| Request {
            read: &wanted[at],
            ..Request::new(shown[at].0.text, target).in_form(form)
        };
        let requests: Vec<Request<'_>> = places.iter().map(request).collect();
        let subject = shown[places[0]].0.subject;
        for (at, one) in places.into_iter().zip(subject.observe_each(&requests)?) {
            observed[at] = Some(one);
        }
    }
    Ok(observed.into_iter().flatten().collect())
}

/// A program with everything that is needed to compile and judge it.
pub(super) struct Shown<'a> {
    pub(super) subject: &'a dyn Subject,
    pub(super) rules: &'a Rules,
    pub(super) module: &'a Module,
    pub(super) text: &'a str,
    pub(super) lines: Lines<'a>,
    pub(super) target: &'a str,
    pub(super) prediction: &'a Prediction,
    /// The form of output that is requested first, and for parts of the program.
    pub(super) form: OutputForm,
    /// The observations of headers alone, by text, target and form of output.
    pub(super) headers: &'a RefCell<BTreeMap<(String, String, OutputForm), Observation>>,
}

impl Shown<'_> {
    /// Judges all parts of the program from an observation.
    pub(super) fn verdicts(&self, observed: &Observation) -> Result<ModuleVerdicts, Error> {
        let Shown { subject, rules, module, text, target, prediction, .. } = *self;
        let data = self.data(observed)?;
        let accepted = observed.outcome == Outcome::Accepted;
        let kernels = match accepted && prediction.kernels.iter().any(Kernel::leaves_output) {
            true => Some(of_kernels(subject, rules, module, text, target)?),
            false => None,
        };
        let undecided = if accepted { self.of_bodies(observed) } else { Vec::new() };
        let data = self.by_more_than_outcome(data, kernels.as_ref(), &undecided);
        let refusals = Refusal::of(observed, self.form).into_iter().collect();
        let (added, outcome) = (Vec::new(), observed.outcome);
        Ok(ModuleVerdicts { data, added, kernels, undecided, refusals, ..ModuleVerdicts::of(outcome) })
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
        let read = read::wanted(self.subject.description(), module, self.rules);
        self.subject.observe(&Request { read: &read, ..Request::new(text, self.target).in_form(form) })
    }

    /// Judges the data, or the program as a whole.
    pub(super) fn data(&self, observed: &Observation) -> Result<Vec<Part>, Error> {
        let Shown { subject, rules, module, text, target, prediction, .. } = *self;
        let program = ToJudge { module, text, target };
        let judged = || of_data(subject, rules, &program, &prediction.data, observed);
        let (validity, outcome) = (prediction.validity(), observed.outcome);
        let accuses = validity != Validity::Refused && outcome == Outcome::Refused;
        if accuses && let Some(parts) = self.of_header(observed)? {
            return Ok(parts);
        }
        // In a judged module only a comment can contain such a character, and the syntax tree has no comments.
        if accuses && !text.is_ascii() {
            let line = text.lines().position(|line| !line.is_ascii()).map(|before| before as u32 + 1);
            let said = observed.diagnostics.first().map(with_line);
            let why = Why { part: "module".into(), line, reason: BEYOND_ASCII.into(), detail: None, said };
            return Ok(vec![Part::not_compared(NotCompared::Unmodelled, Some(why))]);
        }
        let mut parts = match (validity, outcome) {
            (Validity::Undecided, Outcome::Refused) => self.isolated(self.blamed(observed), observed)?,
            (Validity::Refused, Outcome::Accepted) if !prediction.undecided.is_empty() => {
                self.isolated(self.refused(), observed)?
            }
            (validity, _) if is_exhausted(observed) && text.len() > ends_within(validity) => {
                let listed = judged();
                let is_known =
                    |part: &Part| matches!(&part.verdict, Verdict::Deviates(d) if d.explanation.is_some());
                if listed.iter().any(is_known) { listed } else { self.without_answer(observed)? }
            }
            _ => judged(),
        };
        let undecided = self.undecided();
        for part in &mut parts {
            if let (Verdict::NotCompared(reason), None) = (&part.verdict, &part.why) {
                part.why = self.why(*reason, part.variable.as_deref(), &undecided, observed).map(Box::new);
            }
            if validity == Validity::Undecided && part.derived.is_none() {
                part.must = None;
            }
        }
        Ok(parts)
    }

    /// Returns a verdict on the header if the subject does not accept it, which follows from its messages or from compiling the header
    /// alone. Nothing can then be said about the statements below.
    fn of_header(&self, observed: &Observation) -> Result<Option<Vec<Part>>, Error> {
        let not_taken = |said: Option<String>| {
            let why = Why { part: "header".into(), line: None, reason: HEADER.into(), detail: None, said };
            vec![Part::not_compared(NotCompared::Unsupported, Some(why))]
        };
        // Some subjects check the header only when a statement follows, and then report lines of the header. Others report no lines.
        let begins = self.module.items.iter().find(|item| !item.is_header()).map(Item::span);
        if let Some(begins) = begins.filter(|span| span.is_known()) {
            let first = self.lines.line(begins.start);
            let errors = observed.diagnostics.iter().filter(|d| d.severity >= Severity::Error);
            let mut placed = errors.filter_map(|error| Some((error.line?, error))).peekable();
            let said = placed.peek().map(|(_, error)| with_line(error));
            if said.is_some() && placed.all(|(line, _)| line < first) {
                let plain = ptxsmith_syntax::print(&self.module.header()) + PLAINEST;
                let module = parse(&plain).unwrap_or_default();
                let plain = self.observe_header(&plain, &module, self.form)?;
                if plain.outcome != Outcome::Accepted {
                    return Ok(Some(not_taken(said)));
                }
            }
        }
        let header = self.module.header();
        let text = ptxsmith_syntax::print(&header);
        if header.items.is_empty() || self.module.items.len() == header.items.len() {
            return Ok(None);
        }
        let alone = self.observe_header(&text, &header, self.form)?;
        if alone.outcome == Outcome::Accepted {
            return Ok(None);
        }
        let messages = |observed: &Observation| -> Vec<String> {
            let errors = observed.diagnostics.iter().filter(|d| d.severity >= Severity::Error);
            errors.map(|error| error.message.clone()).collect()
        };
        let (own, of_all) = (messages(&alone), messages(observed));
        // Alone, a header may lack something that the program has, such as debug information. That is no fault of the header.
        if own.first().is_some_and(|first| !of_all.is_empty() && !of_all.contains(first)) {
            return Ok(None);
        }
        Ok(Some(not_taken(own.into_iter().next().or(alone.reason))))
    }

    /// Judges a module that was derived from the program. Each verdict contains that module.
    pub(super) fn derived(&self, module: Module, text: String, observed: &Observation) -> Vec<Part> {
        let expected = expect(&module, self.rules);
        let program = ToJudge { module: &module, text: &text, target: self.target };
        let mut parts = of_data(self.subject, self.rules, &program, &expected, observed);
        let derived = Box::new(Derived { module, text });
        parts.iter_mut().for_each(|part| part.derived = Some(derived.clone()));
        parts
    }

    /// Returns the judged statements on lines that diagnostics name.
    fn blamed(&self, observed: &Observation) -> Vec<usize> {
        let lines: BTreeSet<u32> = observed.diagnostics.iter().filter_map(|d| d.line).collect();
        let spans = self.module.items.iter().map(Item::span).enumerate();
        spans
            .filter(|(at, span)| {
                span.is_known()
                    && lines.range(self.lines.line(span.start)..=self.lines.line(span.end)).next().is_some()
                    && self.is_judged(*at)
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns the statement that the specification refuses.
    fn refused(&self) -> Vec<usize> {
        let Expectation::Refused { refusal, .. } = &self.prediction.data else { return Vec::new() };
        let holds = |item: &Item| {
            let span = item.span();
            span.start <= refusal.span.start && refusal.span.start < span.end
        };
        self.module.items.iter().position(holds).into_iter().collect()
    }

    /// Whether a statement is a declaration or function without undecided parts.
    fn is_judged(&self, at: usize) -> bool {
        let item = &self.module.items[at];
        let span = item.span();
        let inside = |part: &Undecided| span.start <= part.span.start && part.span.start < span.end;
        matches!(item, Item::Variables(_) | Item::Function(_))
            && !self.prediction.undecided.iter().any(inside)
    }

    /// Judges these statements alone, with everything that they name. Returns that the program was not compared, followed by the deviations
    /// that the statements show alone.
    fn isolated(&self, of: Vec<usize>, observed: &Observation) -> Result<Vec<Part>, Error> {
        let not_compared = Part::not_compared(NotCompared::Unmodelled, None);
        let Some(kept) = (!of.is_empty()).then(|| self.with_what_they_name(of)) else {
            return Ok(vec![not_compared]);
        };
        let keep =
            |(at, item): (usize, &Item)| (item.is_header() || kept.contains(&at)).then(|| item.clone());
        let items = self.module.items.iter().enumerate().filter_map(keep).collect();
        let text = ptxsmith_syntax::print(&Module { items });
        let Ok(module) = parse(&text) else { return Ok(vec![not_compared]) };
        let prediction = predict(&module, self.rules);
        let (form, lines) = (OutputForm::showing(&module), Lines::new(&text));
        let alone = Shown { module: &module, text: &text, lines, prediction: &prediction, form, ..*self };
        if !prediction.undecided.is_empty() {
            return Ok(vec![not_compared]);
        }
        let again = observed_of(std::slice::from_ref(&alone))?.remove(0);
        let mut parts = vec![not_compared];
        if again.outcome == observed.outcome && alone.of_header(&again)?.is_none() {
            let found = alone.derived(module.clone(), text.clone(), &again);
            parts.extend(found.into_iter().filter(|part| matches!(part.verdict, Verdict::Deviates(_))));
        }
        Ok(parts)
    }

    /// Judges a large program for which the subject ran out of time or memory. The specification does not say how much code generation may
    /// need. If parts of the program are undecided, the judged statements need neither time nor memory, and are compiled alone.
    fn without_answer(&self, observed: &Observation) -> Result<Vec<Part>, Error> {
        let count = self.module.items.len();
        let asks = count <= MOST_ISOLATED && self.prediction.validity() == Validity::Undecided;
        let judged = (0..count).filter(|&at| asks && self.is_judged(at)).collect();
        let mut parts = self.isolated(judged, observed)?;
        for part in parts.iter_mut().filter(|part| part.derived.is_none()) {
            let reason = observed.reason.as_deref().unwrap_or(NO_END);
            let reason = format!("{reason}, of a large program");
            part.verdict = Verdict::NotCompared(NotCompared::Unobserved);
            let part_of = "module".to_owned();
            part.why = Some(Box::new(Why { part: part_of, line: None, reason, detail: None, said: None }));
        }
        Ok(parts)
    }

    /// Returns these statements and everything that they name, directly or indirectly.
    fn with_what_they_name(&self, of: Vec<usize>) -> BTreeSet<usize> {
        let (mut kept, mut left) = (BTreeSet::new(), of);
        while let Some(at) = left.pop() {
            if !kept.insert(at) {
                continue;
            }
            let mut used = Used(BTreeSet::new());
            used.item(&self.module.items[at]);
            for (other, item) in self.module.items.iter().enumerate() {
                if !kept.contains(&other) && used.0.iter().any(|name| item.may_declare(name)) {
                    left.push(other);
                }
            }
        }
        kept
    }

    /// Groups the undecided parts by name; the key `None` has all of them.
    fn undecided(&self) -> BTreeMap<Option<&str>, Vec<&Undecided>> {
        let mut by_name: BTreeMap<Option<&str>, Vec<&Undecided>> = BTreeMap::new();
        for part in &self.prediction.undecided {
            by_name.entry(Some(&part.part)).or_default().push(part);
            by_name.entry(None).or_default().push(part);
        }
        by_name
    }

    /// Returns the reason why a part was not compared.
    fn why(
        &self,
        reason: NotCompared,
        variable: Option<&str>,
        undecided: &BTreeMap<Option<&str>, Vec<&Undecided>>,
        observed: &Observation,
    ) -> Option<Why> {
        let diagnostic = observed.diagnostics.iter().find(|d| d.severity >= Severity::Error);
        let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric() || "_$%".contains(c));
        let part = variable.map_or("module".to_owned(), |name| match is_name(name) {
            true => format!("variable {name}"),
            false => format!("statement {name}"),
        });
        match reason {
            NotCompared::Unmodelled => {
                let parts = undecided.get(&variable)?;
                let blamed = match (parts.as_slice(), diagnostic.and_then(|d| d.line)) {
                    ([_, _, ..], Some(line)) => self.on_line(parts, line),
                    _ => None,
                };
                let said = diagnostic.map(with_line).or(observed.reason.clone());
                let because = self.because(part, blamed.or(parts.first().copied())?);
                Some(Why { said: said.filter(|_| variable.is_none()), ..because })
            }
            NotCompared::Unobserved => {
                let seen = variable.and_then(|name| observed.variables.get(name));
                let reason = seen.and_then(|seen| seen.reason.clone());
                let reason = reason.unwrap_or_else(|| "the subject does not show it".to_owned());
                Some(Why { part, line: None, reason, detail: None, said: None })
            }
            _ => {
                let line = diagnostic.and_then(|d| d.line);
                let said = diagnostic.map(|d| d.message.clone()).or(observed.reason.clone());
                let reason = said.unwrap_or_else(|| "the subject does not say why".to_owned());
                Some(Why { part, line, reason, detail: None, said: None })
            }
        }
    }

    /// Returns the first undecided part on a line. The line that the subject reports shows which of several parts it refuses.
    fn on_line<'u>(&self, parts: &[&'u Undecided], line: u32) -> Option<&'u Undecided> {
        let lines = |span: Span| self.lines.line(span.start)..=self.lines.line(span.end.saturating_sub(1));
        let starts = parts.iter().find(|part| part.span.is_known() && *lines(part.span).start() == line);
        let holds = || parts.iter().find(|part| part.span.is_known() && lines(part.span).contains(&line));
        // In a directive or an instruction, the first word is marked as undecided, and the subject may report a later line of the
        // statement.
        let around = || {
            let statements = self.module.items.iter().flat_map(|item| match item {
                Item::Function(function) => function.statements().filter_map(tokens).collect(),
                item => vec![item.span()],
            });
            let on_line: Vec<Span> =
                statements.filter(|span| span.is_known() && lines(*span).contains(&line)).collect();
            let is_in =
                |span: &Span, part: &Undecided| span.start <= part.span.start && part.span.start < span.end;
            parts.iter().find(|part| part.span.is_known() && on_line.iter().any(|span| is_in(span, part)))
        };
        starts.or_else(holds).or_else(around).copied()
    }

    /// Returns the reason for a part that the specification does not decide.
    fn because(&self, part: String, undecided: &Undecided) -> Why {
        let place = undecided.place();
        let line = place.is_known().then(|| self.lines.line(place.start));
        let part = if part == "module" { undecided.part.clone() } else { part };
        let detail = undecided.error.as_ref().map(|error| error.to_string());
        Why { part, line, reason: undecided.reason.to_owned(), detail, said: None }
    }

    /// Removes the verdict that rests on the acceptance of a program without variables, if more than that was compared. If a part is
    /// undecided, acceptance shows nothing, because a refusal would be just as correct.
    pub(super) fn by_more_than_outcome(
        &self,
        mut data: Vec<Part>,
        kernels: Option<&Part>,
        undecided: &[Part],
    ) -> Vec<Part> {
        let Expectation::Accepted { variables, .. } = &self.prediction.data else { return data };
        if !variables.is_empty() || !data.iter().any(|part| part.verdict == Verdict::ConformsByOutcome) {
            return data;
        }
        let is_compared = |part: &Part| !matches!(part.verdict, Verdict::NotCompared(_));
        let is_undecided = |part: &Part| part.verdict == Verdict::NotCompared(NotCompared::Unmodelled);
        let may_be_refused = self.prediction.validity() == Validity::Undecided;
        if kernels.is_some_and(is_compared) || may_be_refused && undecided.iter().any(is_undecided) {
            data.retain(|part| part.verdict != Verdict::ConformsByOutcome);
        } else if may_be_refused && let Some(first) = self.prediction.undecided.first() {
            let why = self.because("module".to_owned(), first);
            data = vec![Part::not_compared(NotCompared::Unmodelled, Some(why))];
        }
        data
    }

    /// Returns the parts that are not compared: function bodies that the specification does not decide, with the reason, and variables of
    /// bodies with an initial value. The latter are not shown, because each implementation chooses names for them.
    pub(super) fn of_bodies(&self, observed: &Observation) -> Vec<Part> {
        let mut undecided: Vec<&Undecided> = self.prediction.undecided.iter().collect();
        undecided.sort_by_key(|part| part.span.start);
        let kernels: BTreeMap<&Text, &Kernel> =
            self.prediction.kernels.iter().map(|kernel| (&kernel.name, kernel)).collect();
        let silent = shows_no_values(self.subject, observed);
        let mut parts = Vec::new();
        for function in self.module.functions().filter(|function| function.body.is_some()) {
            let begins = undecided.partition_point(|part| part.span.start <= function.span.start);
            let first = undecided.get(begins).filter(|part| part.span.start < function.span.end);
            let name = &function.name;
            let is_kernel = function.kind == FunctionKind::Entry;
            let why = match (kernels.get(&name.text).map(|kernel| &kernel.left), first) {
                (Some(Left::Output(_)), _) | (None, None) => None,
                (_, Some(first)) => {
                    let kind = if is_kernel { "kernel" } else { "function" };
                    Some(self.because(format!("{kind} {}", name.text), first))
                }
                (Some(Left::Unmodelled(reason)), None) => {
                    let line = Some(self.lines.line(name.span.start));
                    let part = format!("kernel {}", name.text);
                    Some(Why { part, line, reason: (*reason).to_owned(), detail: None, said: None })
                }
            };
            parts.extend(why.map(|why| Part::not_compared(NotCompared::Unmodelled, Some(why))));
            if !silent {
                parts.extend(initialized(function).map(|variable| {
                    let line = Some(self.lines.line(variable.span.start));
                    let part = format!("variable {} of {}", variable.text, name.text);
                    let why = Why { part, line, reason: IN_BODY.to_owned(), detail: None, said: None };
                    Part::not_compared(NotCompared::Unobserved, Some(why))
                }));
            }
        }
        parts
    }
}

/// Formats a message of a subject, with its line if it has one.
fn with_line(diagnostic: &Diagnostic) -> String {
    match diagnostic.line {
        Some(line) => format!("line {line}: {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Returns the variables with an initial value that a body declares.
fn initialized(function: &Function) -> impl Iterator<Item = &Name> {
    let declarations = function.statements().filter_map(|own| match own {
        Statement::Variables(declaration) if declaration.space() != Some(StateSpace::Reg) => {
            Some(declaration)
        }
        _ => None,
    });
    let declarators = declarations.flat_map(|declaration| &declaration.declarators);
    declarators.filter(|declarator| declarator.initializer.is_some()).map(|declarator| &declarator.name)
}

const IN_BODY: &str = "a variable of a body, under a name that the implementation makes up";
/// Returns the span of a statement that is kept as tokens, from its first to its last word.
fn tokens(statement: &Statement) -> Option<Span> {
    let Statement::Tokens(tokens) = statement else { return None };
    Some(Span { end: tokens.last()?.span.end, ..tokens.first()?.span })
}

/// A statement that every implementation accepts under a header that it accepts.
const PLAINEST: &str = ".global .u32 a;\n";
/// The size in bytes up to which any program must get an answer. It is larger if nothing is undecided: then no
/// instructions are hard to compile.
fn ends_within(validity: Validity) -> usize {
    if validity == Validity::Undecided { 1 << 14 } else { 1 << 16 }
}

/// Whether a subject was stopped because it used up its time or memory.
fn is_exhausted(observed: &Observation) -> bool {
    match observed.outcome {
        Outcome::TimedOut => true,
        Outcome::Crashed => observed.reason.as_deref() == Some(OUT_OF_MEMORY),
        _ => false,
    }
}

/// The maximum number of statements of a program whose judged statements are compiled alone if the program gets no answer.
const MOST_ISOLATED: usize = 1 << 10;
const NO_END: &str = "no end in time";
const HEADER: &str = "the subject does not take the header";
/// The specification does not say which characters comments may contain.
const BEYOND_ASCII: &str = "characters beyond ASCII, of which the texts do not speak";

/// Collects the names that a statement uses.
struct Used<'m>(BTreeSet<&'m Text>);

impl<'m> Visit<'m> for Used<'m> {
    fn name(&mut self, name: &'m Text, role: Role) {
        if role == Role::Use {
            self.0.insert(name);
        }
    }
}
