//! Judging a program as it is: a file of a user's, or of the corpus.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{
    Expectation, Kernel, Left, Prediction, Rules, Trace, Undecided, Validity, Variable, expect, predict,
};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Request, Severity, Subject};
use ptxsmith_syntax::{Header, Item, Module, Role, Text, Visit, line_column, parse};

use crate::{
    accesses,
    compare::{Mismatch, compare, shows_no_values, undeclared},
    explain::{explain, explain_crash, explain_shape, explain_variables},
    explanation::{Alternatives, Explanation},
    judge::{Judge, Options},
    lead::{alternatives, crash_alternatives},
    maker::Maker,
    read,
    trial::{Body, Trial},
    verdict::{Class, Derived, Difference, Judged, MemoryOperands, Must, NotCompared, Share, Verdict, Why},
};

/// The verdict on one variable of a program, on its kernels, or on the program as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The variable; `None` for kernels and for the program as a whole.
    pub variable: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the specification does with the program; `None` where it does not decide.
    pub must: Option<Must>,
    /// What the expectation rests on.
    pub trace: Trace,
    /// What was seen of the results of operands.
    pub operands: Share,
    /// Why it was not compared, where that is known.
    pub why: Option<Why>,
    /// The module that the verdict is about, where that is one that was derived from the program: a text that is not the
    /// user's accuses only itself.
    pub derived: Option<Box<Derived>>,
}

impl Part {
    /// The verdict as one on a trial of this number.
    pub fn judged(self, id: u64) -> Judged {
        Judged {
            operands: self.operands,
            why: self.why,
            ..Judged::new(id, self.verdict, self.must, self.trace)
        }
    }

    fn not_compared(reason: NotCompared, why: Option<Why>) -> Part {
        let (trace, operands) = (Trace::default(), Share::default());
        Part {
            variable: None,
            verdict: Verdict::NotCompared(reason),
            must: None,
            trace,
            operands,
            why,
            derived: None,
        }
    }
}

/// The verdicts on a program.
#[derive(Clone, Debug)]
pub struct ModuleVerdicts {
    /// Those on its variables; where it is refused or the subject dies, that on the program as a whole.
    pub data: Vec<Part>,
    /// That on what its kernels leave; `None` where it is not accepted, or has none that can be run.
    pub kernels: Option<Part>,
    /// The kernels of which nothing can be said, of a program that is accepted.
    pub undecided: Vec<Part>,
}

impl ModuleVerdicts {
    /// All verdicts.
    pub fn parts(self) -> Vec<Part> {
        self.data.into_iter().chain(self.kernels).chain(self.undecided).collect()
    }
}

/// Shows a program to a subject and judges all of it: every variable, or, where the program is refused or the subject
/// dies, the program as a whole; and what its kernels leave. `text` is what `module` was parsed from, and is shown as it is;
/// `target` is passed to the subject.
///
/// A refusal counts only where every part of the program is judged, the subject takes the header, and no other form of output is
/// taken. Of a program with undecided parts the judged ones that are blamed are shown alone.
///
/// # Errors
/// Only where our machine or code fails; whatever the subject does is a verdict.
pub fn judge_module(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<ModuleVerdicts, Error> {
    let program = ToJudge { module, text, target };
    let verdicts = judge_modules(subject, rules, &[program])?;
    Ok(verdicts.into_iter().next().expect("verdicts on each program"))
}

/// A program that is to be judged as it is: see [`judge_module`].
#[derive(Clone, Copy, Debug)]
pub struct ToJudge<'a> {
    /// What the text was parsed into.
    pub module: &'a Module,
    /// The text, which is shown as it is.
    pub text: &'a str,
    /// What is passed to the subject.
    pub target: &'a str,
}

/// The verdicts of [`judge_module`] on each of many programs, with fewer runs of the subject where most of them are refused.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_modules(
    subject: &dyn Subject,
    rules: &Rules,
    programs: &[ToJudge<'_>],
) -> Result<Vec<ModuleVerdicts>, Error> {
    let predictions: Vec<Prediction> =
        programs.iter().map(|program| predict(program.module, rules)).collect();
    let headers = RefCell::default();
    let shown = |(program, prediction)| {
        let &ToJudge { module, text, target } = program;
        Shown { subject, rules, module, text, target, prediction, headers: &headers }
    };
    let shown: Vec<Shown<'_>> = programs.iter().zip(&predictions).map(shown).collect();
    let observed = observed_of(&shown)?;
    shown.iter().zip(observed).map(|(shown, observed)| shown.verdicts(&observed)).collect()
}

/// What the subject does with each program. Executable and relocatable output refuse different things: where the text does not
/// refuse a program, the form that is taken counts.
fn observed_of(shown: &[Shown<'_>]) -> Result<Vec<Observation>, Error> {
    let first: Vec<(&Shown<'_>, OutputForm)> =
        shown.iter().map(|shown| (shown, OutputForm::showing(shown.module))).collect();
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

/// What the subject does with each program in its form. What other modules of the same run may see is shown alone, and so is what
/// has to be taken: no refusal of that rests on a run with other programs.
fn observe_each(shown: &[(&Shown<'_>, OutputForm)]) -> Result<Vec<Observation>, Error> {
    const SEEN: [&str; 4] = [".visible", ".weak", ".extern", ".common"];
    let wanted: Vec<_> = shown
        .iter()
        .map(|(shown, _)| read::wanted(shown.subject.description(), shown.module, shown.rules))
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

/// A program as a subject is shown it.
struct Shown<'a> {
    subject: &'a dyn Subject,
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    target: &'a str,
    prediction: &'a Prediction,
    /// What the subject did with headers alone.
    headers: &'a RefCell<BTreeMap<(String, String, OutputForm), Observation>>,
}

impl Shown<'_> {
    /// The verdicts on all parts, from what the subject did.
    fn verdicts(&self, observed: &Observation) -> Result<ModuleVerdicts, Error> {
        let Shown { subject, rules, module, text, target, prediction, .. } = *self;
        let data = self.data(observed)?;
        let accepted = observed.outcome == Outcome::Accepted;
        let runs = |kernel: &Kernel| matches!(&kernel.left, Left::Output(left) if !left.bytes.is_empty());
        let kernels = match accepted && prediction.kernels.iter().any(runs) {
            true => Some(of_kernels(subject, rules, module, text, target)?),
            false => None,
        };
        let undecided = match accepted {
            true => prediction.kernels.iter().filter_map(|kernel| self.undecided(kernel)).collect(),
            false => Vec::new(),
        };
        Ok(ModuleVerdicts { data, kernels, undecided })
    }

    /// What the subject does with a header, which many programs may have.
    fn observe_header(&self, text: &str, module: &Module, form: OutputForm) -> Result<Observation, Error> {
        let key = (text.to_owned(), self.target.to_owned(), form);
        if let Some(known) = self.headers.borrow().get(&key) {
            return Ok(known.clone());
        }
        let observed = self.observe(text, module, form)?;
        self.headers.borrow_mut().insert(key, observed.clone());
        Ok(observed)
    }

    fn observe(&self, text: &str, module: &Module, form: OutputForm) -> Result<Observation, Error> {
        let read = read::wanted(self.subject.description(), module, self.rules);
        self.subject.observe(&Request { read: &read, ..Request::new(text, self.target).in_form(form) })
    }

    /// The verdicts on the data, or on the program as a whole.
    fn data(&self, observed: &Observation) -> Result<Vec<Part>, Error> {
        let Shown { subject, rules, module, text, prediction, .. } = *self;
        let judged = || of_data(subject, rules, module, text, &prediction.data, observed);
        let (validity, outcome) = (prediction.validity(), observed.outcome);
        let accuses = validity != Validity::Refused && outcome == Outcome::Refused;
        if accuses && let Some(parts) = self.of_header(observed)? {
            return Ok(parts);
        }
        let mut parts = match (validity, outcome) {
            (Validity::Undecided, Outcome::Refused) => self.isolated(self.blamed(observed), observed)?,
            (Validity::Refused, Outcome::Accepted) if !prediction.undecided.is_empty() => {
                self.isolated(self.refused(), observed)?
            }
            _ => judged(),
        };
        for part in &mut parts {
            if let (Verdict::NotCompared(reason), None) = (&part.verdict, &part.why) {
                part.why = self.why(*reason, part.variable.as_deref(), observed);
            }
            if validity == Validity::Undecided && part.derived.is_none() {
                part.must = None;
            }
        }
        Ok(parts)
    }

    /// What the subject says of the header, or does with it alone, where it does not take it: then nothing can be said of what
    /// stands below.
    fn of_header(&self, observed: &Observation) -> Result<Option<Vec<Part>>, Error> {
        let not_taken = |said: Option<String>| {
            let why = Why { part: "header".into(), line: None, reason: HEADER.into(), said };
            vec![Part::not_compared(NotCompared::Unsupported, Some(why))]
        };
        // Some look at it only when a statement follows, and complain about its lines then. Some count no lines.
        let begins = self.module.items.iter().find(|item| !item.is_header()).map(Item::span);
        if let Some(begins) = begins.filter(|span| span.is_known()) {
            let first = line_column(self.text, begins.start).0;
            let errors = observed.diagnostics.iter().filter(|d| d.severity >= Severity::Error);
            let mut placed = errors.filter_map(|error| Some((error.line?, &error.message))).peekable();
            let said = placed.peek().map(|(_, message)| (*message).clone());
            if said.is_some() && placed.all(|(line, _)| line < first) {
                let plain = ptxsmith_syntax::print(&self.module.header()) + PLAINEST;
                let module = parse(&plain).unwrap_or_default();
                let plain = self.observe_header(&plain, &module, OutputForm::showing(self.module))?;
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
        let alone = self.observe_header(&text, &header, OutputForm::showing(self.module))?;
        if alone.outcome == Outcome::Accepted {
            return Ok(None);
        }
        let said = alone.diagnostics.iter().map(|d| d.message.clone()).next().or(alone.reason.clone());
        Ok(Some(not_taken(said)))
    }

    /// The verdicts on a derived module, which they show.
    fn derived(&self, module: Module, text: String, observed: &Observation) -> Vec<Part> {
        let expected = expect(&module, self.rules);
        let mut parts = of_data(self.subject, self.rules, &module, &text, &expected, observed);
        let derived = Box::new(Derived { module, text });
        parts.iter_mut().for_each(|part| part.derived = Some(derived.clone()));
        parts
    }

    /// The judged statements that a diagnostic blames.
    fn blamed(&self, observed: &Observation) -> Vec<usize> {
        let lines: BTreeSet<u32> = observed.diagnostics.iter().filter_map(|d| d.line).collect();
        let line = |at: u32| line_column(self.text, at).0;
        let spans = self.module.items.iter().map(Item::span).enumerate();
        spans
            .filter(|(at, span)| {
                span.is_known()
                    && lines.range(line(span.start)..=line(span.end)).next().is_some()
                    && self.is_judged(*at)
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// The statement that the specification refuses.
    fn refused(&self) -> Vec<usize> {
        let Expectation::Refused { refusal, .. } = &self.prediction.data else { return Vec::new() };
        let holds = |item: &Item| {
            let span = item.span();
            span.start <= refusal.span.start && refusal.span.start < span.end
        };
        self.module.items.iter().position(holds).into_iter().collect()
    }

    /// Whether nothing in a statement is undecided.
    fn is_judged(&self, at: usize) -> bool {
        let item = &self.module.items[at];
        let span = item.span();
        let inside = |part: &Undecided| span.start <= part.span.start && part.span.start < span.end;
        matches!(item, Item::Variables(_) | Item::Function(_))
            && !self.prediction.undecided.iter().any(inside)
    }

    /// The verdict on these statements alone, with what they name: a deviation where they show one, and else that nothing was
    /// compared.
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
        let alone = Shown { module: &module, text: &text, prediction: &prediction, ..*self };
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

    /// These statements, and all that they name.
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

    /// Why a part was not compared.
    fn why(&self, reason: NotCompared, variable: Option<&str>, observed: &Observation) -> Option<Why> {
        let diagnostic = observed.diagnostics.iter().find(|d| d.severity >= Severity::Error);
        let said = diagnostic.map(|d| d.message.clone()).or(observed.reason.clone());
        let part = variable.map_or("module".to_owned(), |name| format!("variable {name}"));
        match reason {
            NotCompared::Unmodelled => {
                let own = |undecided: &&Undecided| variable.is_none_or(|name| undecided.part == name);
                let first = self.prediction.undecided.iter().find(own)?;
                Some(Why { said: said.filter(|_| variable.is_none()), ..self.because(part, first) })
            }
            NotCompared::Unobserved => {
                let seen = variable.and_then(|name| observed.variables.get(name));
                let reason = seen.and_then(|seen| seen.reason.clone());
                let reason = reason.unwrap_or_else(|| "the subject does not show it".to_owned());
                Some(Why { part, line: None, reason, said: None })
            }
            _ => {
                let line = diagnostic.and_then(|d| d.line);
                let reason = said.unwrap_or_else(|| "the subject does not say why".to_owned());
                Some(Why { part, line, reason, said: None })
            }
        }
    }

    /// That the text does not decide this.
    fn because(&self, part: String, undecided: &Undecided) -> Why {
        let known = undecided.span.is_known();
        let line = known.then(|| line_column(self.text, undecided.span.start).0);
        let part = if part == "module" { undecided.part.clone() } else { part };
        Why { part, line, reason: undecided.reason.to_owned(), said: None }
    }

    /// That nothing can be said of a kernel, and why.
    fn undecided(&self, kernel: &Kernel) -> Option<Part> {
        let Left::Unmodelled(reason) = kernel.left else { return None };
        let function = self.module.functions().find(|f| f.name.text == kernel.name && f.body.is_some())?;
        let inside =
            |part: &&Undecided| function.span.start <= part.span.start && part.span.start < function.span.end;
        let part = format!("kernel {}", kernel.name);
        let why = match self.prediction.undecided.iter().find(inside) {
            Some(first) => self.because(part, first),
            None => {
                let line = Some(line_column(self.text, function.name.span.start).0);
                Why { part, line, reason: reason.to_owned(), said: None }
            }
        };
        Some(Part::not_compared(NotCompared::Unmodelled, Some(why)))
    }
}

/// What every implementation takes under a header that it takes.
const PLAINEST: &str = ".global .u32 a;\n";
const HEADER: &str = "the subject does not take the header";

/// The names that a statement uses.
struct Used<'m>(BTreeSet<&'m Text>);

impl<'m> Visit<'m> for Used<'m> {
    fn name(&mut self, name: &'m Text, role: Role) {
        if role == Role::Use {
            self.0.insert(name);
        }
    }
}

/// As [`judge_module`], without its kernels: for what shows or expects data alone.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Vec<Part>, Error> {
    let observed = observe(subject, rules, module, text, target)?;
    Ok(of_data(subject, rules, module, text, &expect(module, rules), &observed))
}

/// Compares what the kernels of a program reach in memory with what the subject's code reaches: how many operands were compared, and
/// the verdict on all of them, where there are any. Nothing is compared where the program is not accepted.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_operands(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<(MemoryOperands, Option<Part>), Error> {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return Ok(Default::default()) };
    let kernels = ptxsmith_oracle::accesses(module, variables, rules);
    // How code holds addresses of 32 bits is not modelled.
    let shown = subject.shows_code() && module.address_size() != Some(32);
    let trace = if shown { accesses::tracings(&kernels) } else { Vec::new() };
    let request = Request::new(text, target).in_form(OutputForm::Relocatable);
    let observed = match trace.is_empty() {
        true => Observation::new(Outcome::Unavailable),
        false => subject.observe(&Request { trace: &trace, ..request })?,
    };
    let (operands, astray) = accesses::compare(&kernels, &observed);
    let verdict = match astray.first() {
        None if operands.compared == 0 => return Ok((operands, None)),
        None => Verdict::Conforms,
        Some(first) => Verdict::Deviates(Box::new(Difference {
            class: first.class,
            variable: None,
            expected: serde_json::json!({ "astray": astray }),
            observed,
            explanation: None,
            // No plausible wrong rule is known of it.
            suspected: Some(vec![Alternatives::default()]),
        })),
    };
    let trace = kernels.iter().fold(Trace::default(), |trace, kernel| trace.union(kernel.trace));
    let (must, share) = (Must::of(&expected), Share::default());
    Ok((
        operands,
        Some(Part { variable: None, verdict, must, trace, operands: share, why: None, derived: None }),
    ))
}

/// What a subject does with a program as it is, in the form of output that shows its variables.
///
/// # Errors
/// Only where our machine or code fails.
pub fn observe(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Observation, Error> {
    let read = read::wanted(subject.description(), module, rules);
    subject.observe(&Request { read: &read, ..Request::showing(module, text, target) })
}

/// The verdict on what the kernels of a program leave.
fn of_kernels(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Part, Error> {
    let items = module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
    let trial = Trial::new(0, Body::Items(items.cloned().collect()));
    let options = Options {
        header: Header::of(module),
        target: Some(target.to_owned()),
        launch: true,
        ..Options::default()
    };
    let Judged { verdict, must, trace, operands, .. } =
        Judge::new(subject, *rules, options).text(&trial, text)?;
    Ok(Part { variable: None, verdict, must, trace, operands, why: None, derived: None })
}

fn of_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    expected: &Expectation,
    observed: &Observation,
) -> Vec<Part> {
    let silent = shows_no_values(subject, observed);
    let program =
        Program { rules, module, text, expected, observed, maker: Maker::of(subject.description()), silent };
    let not_compared = |reason| vec![program.whole(Verdict::NotCompared(reason))];
    match (expected, observed.outcome) {
        (_, Outcome::Unsupported) => not_compared(NotCompared::Unsupported),
        (_, Outcome::Unavailable) => not_compared(NotCompared::Unavailable),
        (_, Outcome::Crashed) => vec![program.deviates(Class::Crash)],
        (_, Outcome::TimedOut) => vec![program.deviates(Class::Hang)],
        (Expectation::Unmodelled { .. }, _) => not_compared(NotCompared::Unmodelled),
        (Expectation::Refused { .. }, Outcome::Refused) => vec![program.whole(Verdict::Conforms)],
        (Expectation::Refused { .. }, Outcome::Accepted) => vec![program.deviates(Class::AcceptsInvalid)],
        (Expectation::Accepted { .. }, Outcome::Refused) => vec![program.deviates(Class::RefusesValid)],
        // Of a program without variables there is nothing else to show.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty() && (silent || variables.is_empty()) =>
        {
            vec![program.whole(Verdict::ConformsByOutcome)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let not_modelled = unmodelled.iter().map(|one| Part {
                variable: Some(one.part.clone()),
                ..Part::not_compared(NotCompared::Unmodelled, None)
            });
            let extra = undeclared(&module.items, observed).map(|name| program.undeclared(name));
            variables
                .iter()
                .map(|variable| program.variable(variable))
                .chain(not_modelled)
                .chain(extra)
                .collect()
        }
    }
}

struct Program<'a> {
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    expected: &'a Expectation,
    observed: &'a Observation,
    maker: Maker<'a>,
    /// Whether the subject accepts without showing values.
    silent: bool,
}

impl Program<'_> {
    fn whole(&self, verdict: Verdict) -> Part {
        self.part(None, verdict, self.expected.trace())
    }

    fn part(&self, variable: Option<String>, verdict: Verdict, trace: Trace) -> Part {
        let (must, operands) = (Must::of(self.expected), Share::default());
        Part { variable, verdict, must, trace, operands, why: None, derived: None }
    }

    /// A deviation of the program as a whole, explained by a reading or a known deviation where one predicts it.
    fn deviates(&self, class: Class) -> Part {
        let trace = self.expected.trace();
        let whole = |rules: &Rules| {
            let expected = expect(self.module, rules);
            let agrees = match (&expected, self.observed.outcome) {
                (Expectation::Refused { .. }, Outcome::Refused) => true,
                (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                    let agree = || compare(variables, self.observed).is_none();
                    unmodelled.is_empty() && (self.silent || agree())
                }
                _ => false,
            };
            (agrees, expected.trace())
        };
        let shape = || explain_shape(self.module, &trace, self.maker, self.observed);
        let explanation = match class {
            Class::Hang => shape(),
            Class::Crash => {
                let rests_on = |rules: &Rules| expect(self.module, rules).trace();
                explain_crash(&trace, self.rules, self.maker, self.observed, rests_on).or_else(shape)
            }
            _ => explain(&trace, self.rules, self.maker, whole)
                .or_else(|| {
                    let taken = self.observed.outcome == Outcome::Accepted;
                    let data = |rules: &Rules| expect(self.module, rules);
                    taken.then(|| explain_variables(self.rules, self.maker, data, self.observed)).flatten()
                })
                .or_else(shape),
        };
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            (None, Class::Crash) => Some(vec![crash_alternatives(&trace, self.maker, self.observed)]),
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.maker, whole)]),
        };
        // A program that declares nothing rests on what its kernels do.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        self.part(None, self.difference(class, None, explanation, suspected), rests_on)
    }

    /// A variable that is shown and not declared: nothing listed predicts that.
    fn undeclared(&self, name: String) -> Part {
        let difference = self.difference(Class::WrongLayout, Some(name.clone()), None, Some(Vec::new()));
        self.part(Some(name), difference, self.expected.trace())
    }

    fn variable(&self, variable: &Variable) -> Part {
        let agreement = |variable: &Variable| compare(std::slice::from_ref(variable), self.observed);
        let verdict = match agreement(variable) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let own = |rules: &Rules| {
                    let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
                        return (false, Trace::default());
                    };
                    let own = variables.iter().find(|own| own.name == variable.name);
                    own.map_or((false, Trace::default()), |own| (agreement(own).is_none(), own.trace))
                };
                let explanation = explain(&variable.trace, self.rules, self.maker, own);
                let suspected = explanation
                    .is_none()
                    .then(|| vec![alternatives(&variable.trace, self.rules, self.maker, own)]);
                self.difference(class, Some(name), explanation, suspected)
            }
        };
        self.part(Some(variable.name.to_string()), verdict, variable.trace)
    }

    fn difference(
        &self,
        class: Class,
        variable: Option<String>,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let difference = Box::new(Difference {
            class,
            variable,
            expected: self.expected.to_json(self.text, &self.rules.readings),
            observed: self.observed.clone(),
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }
}
