//! Judges how a linker links programs of several modules, in every order of the modules.
//!
//! The variables of the linked program must be as the specification says ([`ptxsmith_oracle::linking`]). In
//! addition, whether a program is linked must not depend on the order of its modules.

mod compare;
mod listed;
mod reads;
mod symptom;

use std::collections::BTreeMap;

use ptxsmith_oracle::linking::{self, CombinedDeclarations};
use ptxsmith_oracle::{Clause, Rules};
use ptxsmith_subject::{Error, INTERNAL_ERROR, Observation, Outcome, Request, Stage, Subject};
use ptxsmith_syntax::Module;

use crate::verdict::Class;

pub use compare::compare;
pub use listed::{LINKER_DEVIATIONS, LinkerDeviation};
pub use reads::READ;
pub use symptom::{ANOTHER_OFFSET, NO_ADDRESS, NO_ADDRESS_OR_OFFSET};

/// A deviation in a linked program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkDifference {
    /// The class of the deviation.
    pub class: Class,
    /// The variable or kernel; empty if the difference concerns the whole program.
    pub name: String,
    /// The clauses that it violates. Empty for a crash, for variables that overlap, and for differences
    /// between orders.
    pub clauses: Vec<Clause>,
    /// The expected result, for reports.
    pub expected: String,
    /// The observed result, for reports.
    pub actual: String,
    /// Distinguishes causes within one class.
    pub symptom: Symptom,
}

/// A description of a difference without names and numbers of the program, so that equal causes compare
/// equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symptom {
    /// The fault, such as `initial value`.
    pub what: String,
    /// The linkage of the symbol that a wrong address names; for other faults, the linkage of the variable.
    pub linkage: String,
    /// Whether it occurs only if some modules are first linked to a relocatable object.
    pub needs_a_stage: bool,
}

impl Symptom {
    fn new(what: impl Into<String>) -> Symptom {
        Symptom { what: what.into(), ..Symptom::default() }
    }
}

/// The result of the comparison of one linked program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkComparison {
    /// The deviations.
    pub differences: Vec<LinkDifference>,
    /// The number of variables that were compared.
    pub compared: usize,
    /// The number of variables or programs that were not compared, by reason.
    pub not_compared: BTreeMap<String, usize>,
    /// For each name with several different definitions, the module whose definition the linker chose.
    pub chosen: BTreeMap<String, usize>,
}

impl LinkComparison {
    fn leave(&mut self, reason: &str) {
        *self.not_compared.entry(reason.to_owned()).or_default() += 1;
    }
}

/// The verdict on one program, over all ways to link it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkVerdict {
    /// The deviations, each with the first way that shows it.
    pub differences: Vec<(LinkDifference, LinkPlan)>,
    /// The number of variables that were compared, over all ways.
    pub compared: usize,
    /// The number of variables or programs that were not compared, by reason, over all ways.
    pub not_compared: BTreeMap<String, usize>,
    /// The outcome of each way.
    pub outcomes: Vec<(LinkPlan, Outcome)>,
    /// For each name with several different definitions, the module whose definition the linker chose in each
    /// way.
    pub chosen: BTreeMap<String, Vec<(LinkPlan, usize)>>,
}

/// A way to link modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkPlan {
    /// The indices of the modules, in the order in which they are linked.
    pub order: Vec<usize>,
    /// The part of the order that is first linked to a relocatable object.
    pub stage: Option<Stage>,
}

impl LinkPlan {
    /// Renders the way with these names of the modules: `b.ptx -r(a.ptx c.ptx)`.
    pub fn text(&self, names: &[String]) -> String {
        let mut text = String::new();
        for (place, &module) in self.order.iter().enumerate() {
            let stage = self.stage.filter(|stage| (stage.first..stage.first + stage.count).contains(&place));
            if place > 0 {
                text.push(' ');
            }
            if stage.is_some_and(|stage| stage.first == place) {
                text += "-r(";
            }
            text += &names[module];
            if stage.is_some_and(|stage| stage.first + stage.count == place + 1) {
                text.push(')');
            }
        }
        text
    }
}

/// Returns the ways to link this number of modules: every order of [`orders`], and if `in_stages` is set,
/// each order with all modules but the first or the last one linked to a relocatable object first.
pub fn ways(modules: usize, in_stages: bool) -> Vec<LinkPlan> {
    let orders = orders(modules);
    let whole = orders.iter().map(|order| LinkPlan { order: order.clone(), stage: None });
    let staged = orders.iter().filter(|_| in_stages && modules > 1).flat_map(|order| {
        [0, 1]
            .map(|first| LinkPlan { order: order.clone(), stage: Some(Stage { first, count: modules - 1 }) })
    });
    whole.chain(staged).collect()
}

/// The maximum number of modules that are linked in every order. More modules are linked in the given order
/// and its reverse.
const ALL_ORDERS: usize = 3;

/// Returns the orders in which this number of modules is linked.
pub fn orders(modules: usize) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..modules).collect();
    if modules > ALL_ORDERS {
        return vec![given.clone(), given.into_iter().rev().collect()];
    }
    let mut orders = vec![Vec::new()];
    for _ in 0..modules {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let rest: Vec<usize> = given.iter().copied().filter(|place| !order.contains(place)).collect();
                rest.into_iter().map(move |place| [&order[..], &[place]].concat())
            })
            .collect();
    }
    orders
}

/// A program of several modules.
pub struct Modules<'a> {
    /// The texts of the modules, in the order given.
    pub texts: &'a [String],
    /// The texts, parsed.
    pub modules: &'a [Module],
    /// The target to link for.
    pub target: &'a str,
    /// Whether to link in two stages too, if the subject supports that.
    pub in_stages: bool,
}

impl<'a> Modules<'a> {
    /// Creates a program from texts and the modules that they were parsed to. The target is the first that a
    /// module names, or `sm_80`.
    pub fn new(texts: &'a [String], modules: &'a [Module]) -> Modules<'a> {
        let target = modules.iter().find_map(|module| module.targets().next()).unwrap_or("sm_80");
        Modules { texts, modules, target, in_stages: true }
    }
}

/// Links a program in every way and judges the results.
///
/// # Errors
/// Fails if the specification refuses a module by itself, or the subject could not be run.
pub fn judge_linked(
    subject: &dyn Subject,
    program: &Modules<'_>,
    rules: &Rules,
) -> Result<LinkVerdict, LinkError> {
    let verdict = judge_each_linked(subject, std::slice::from_ref(program), rules)?.pop();
    verdict.expect("there is a verdict on each program").map_err(LinkError::Refused)
}

/// Judges programs as [`judge_linked`] does, but gives all of them to the linker at once, which is faster
/// with some linkers. If the specification refuses a module by itself, the result is the index of that module
/// instead of a verdict.
///
/// # Errors
/// Fails if the subject could not be run.
pub fn judge_each_linked(
    subject: &dyn Subject,
    programs: &[Modules<'_>],
    rules: &Rules,
) -> Result<Vec<Result<LinkVerdict, usize>>, Error> {
    let expected: Vec<Result<CombinedDeclarations, usize>> =
        programs.iter().map(|program| linking::link(program.modules, rules)).collect();
    let mut runs: Vec<LinkRun<'_>> = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        if expected[index].is_err() {
            continue;
        }
        for plan in ways(program.texts.len(), program.in_stages && subject.links_in_stages()) {
            let texts = plan.order.iter().map(|&place| program.texts[place].as_str()).collect();
            runs.push(LinkRun { program: index, plan, texts });
        }
    }
    let requests: Vec<Request<'_>> = runs
        .iter()
        .map(|LinkRun { program, plan, texts }| Request {
            with: &texts[1..],
            stage: plan.stage,
            ..Request::new(texts[0], programs[*program].target)
        })
        .collect();
    let observations = subject.observe_each(&requests)?;
    let mut of_programs: Vec<Vec<(LinkPlan, Observation)>> = programs.iter().map(|_| Vec::new()).collect();
    for (LinkRun { program, plan, .. }, observation) in runs.iter().zip(observations) {
        of_programs[*program].push((plan.clone(), observation));
    }
    let judged = expected.into_iter().zip(of_programs);
    Ok(judged.map(|(expected, seen)| Ok(verdict(&expected?, seen))).collect())
}

/// A run of the linker.
struct LinkRun<'a> {
    /// The index of the program.
    program: usize,
    plan: LinkPlan,
    /// The texts of the modules in the order of the plan.
    texts: Vec<&'a str>,
}

/// Judges the linked programs of all ways.
fn verdict(expected: &CombinedDeclarations, seen: Vec<(LinkPlan, Observation)>) -> LinkVerdict {
    let lacks_a_name = expected.lacks_definition();
    let mut verdict = LinkVerdict::default();
    for (name, reason) in expected.undecided.iter().map(|(_, name, reason)| (name, reason)) {
        let what = if name.is_some() { "a variable" } else { "a module" };
        *verdict.not_compared.entry(format!("{what}: {reason}")).or_default() += 1;
    }
    let mut said = BTreeMap::new();
    for (plan, seen) in seen {
        let LinkComparison { differences, compared, not_compared, chosen } = match seen.outcome {
            Outcome::Accepted => compare(expected, &seen),
            // Some releases end with an internal error if a name has no definition.
            Outcome::Crashed if seen.signal.is_none() && lacks_a_name => {
                let mut compared = LinkComparison::default();
                compared.leave("a name has no definition");
                compared
            }
            _ => not_accepted(&seen),
        };
        let messages = seen.diagnostics.into_iter().map(|diagnostic| diagnostic.message);
        said.entry(seen.outcome).or_insert_with(|| messages.collect::<Vec<_>>().join("; "));
        verdict.compared += compared;
        for (reason, count) in not_compared {
            *verdict.not_compared.entry(reason).or_default() += count;
        }
        for difference in differences {
            verdict.enter(difference, &plan);
        }
        for (name, module) in chosen {
            verdict.chosen.entry(name).or_default().push((plan.clone(), module));
        }
        verdict.outcomes.push((plan, seen.outcome));
    }
    verdict.compare_orders(&said);
    verdict
}

impl LinkVerdict {
    /// Adds a difference unless an earlier way showed it. The ways without a stage come first.
    fn enter(&mut self, difference: LinkDifference, plan: &LinkPlan) {
        let is_known = self.differences.iter().any(|(known, _)| *known == difference);
        let is_alike = self.differences.iter().any(|(known, _)| {
            known.class == difference.class
                && known.name == difference.name
                && known.symptom == difference.symptom
        });
        if is_known || plan.stage.is_some() && is_alike {
            return;
        }
        let symptom = Symptom { needs_a_stage: plan.stage.is_some(), ..difference.symptom.clone() };
        let difference = LinkDifference { symptom, ..difference };
        if self.differences.iter().all(|(known, _)| *known != difference) {
            self.differences.push((difference, plan.clone()));
        }
    }

    /// Returns the first plan with this outcome.
    fn first_plan(&self, outcome: Outcome) -> Option<&LinkPlan> {
        self.outcomes.iter().find(|(_, seen)| *seen == outcome).map(|(plan, _)| plan)
    }

    /// Reports a difference if the modules are linked in some ways and refused in others. The specification
    /// does not say which modules a linker may refuse, so a program that is refused in every way is not
    /// compared.
    fn compare_orders(&mut self, said: &BTreeMap<Outcome, String>) {
        let refused = self.first_plan(Outcome::Refused);
        let (Some(refused), Some(accepted)) = (refused, self.first_plan(Outcome::Accepted)) else { return };
        let message = said.get(&Outcome::Refused).map_or("", String::as_str);
        let needs_a_stage = refused.stage.is_some() || accepted.stage.is_some();
        let difference = LinkDifference {
            class: Class::Inconsistent,
            name: String::new(),
            clauses: Vec::new(),
            expected: "the same for every order of the modules, at once or in two stages".to_owned(),
            actual: format!("linked in another way, but here refused: {message}"),
            symptom: Symptom { needs_a_stage, ..Symptom::new(refusal(message)) },
        };
        self.differences.push((difference, refused.clone()));
    }
}

/// Judges a program that was not linked.
fn not_accepted(seen: &Observation) -> LinkComparison {
    let mut compared = LinkComparison::default();
    let why = seen.reason.clone().unwrap_or_default();
    match seen.outcome {
        Outcome::Crashed | Outcome::TimedOut => {
            let class = if seen.outcome == Outcome::Crashed { Class::Crash } else { Class::Hang };
            let signal = seen.signal.map(|signal| format!("signal {signal}"));
            let actual = signal.unwrap_or(why);
            compared.differences.push(LinkDifference {
                class,
                name: String::new(),
                clauses: Vec::new(),
                expected: "an answer".to_owned(),
                symptom: Symptom::new(if class == Class::Hang {
                    "no end".to_owned()
                } else {
                    crash(&actual)
                }),
                actual,
            });
        }
        Outcome::Refused => compared.leave("the linker refuses the program"),
        _ => drop(compared.not_compared.insert(why, 1)),
    }
    compared
}

/// Classifies a refusal by the words that the messages of all releases share.
fn refusal(message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    let kinds = [("undefined", "an undefined name"), ("multiple definition", "two definitions")];
    kinds.into_iter().find(|(words, _)| message.contains(words)).map_or("refused", |(_, kind)| kind)
}

/// Classifies a crash by the words that the messages of all releases share.
fn crash(message: &str) -> String {
    match message.split_once(MALFORMED) {
        Some((_, what)) => format!("malformed: {}", plain_words(what)),
        None if message.starts_with("signal") => message.to_owned(),
        None => INTERNAL_ERROR.to_owned(),
    }
}

/// The prefix of messages about output that cannot be read.
const MALFORMED: &str = "malformed cubin: ";

/// Keeps the plain words of a message and removes names, numbers and quotations from the program.
fn plain_words(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().filter(|word| is_plain(word)).collect();
    words.join(" ")
}

fn is_plain(word: &str) -> bool {
    word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The reason why a program could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The specification refuses the module with this index by itself.
    #[error("module {} is refused by the specification alone: check it without --link", .0 + 1)]
    Refused(usize),
    /// The subject could not be run.
    #[error(transparent)]
    Subject(#[from] Error),
}

#[cfg(test)]
mod tests;
