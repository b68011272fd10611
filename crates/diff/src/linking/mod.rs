//! Judges how a linker links programs of several modules, in every order of the modules.
//!
//! The variables of the linked program must be as the specification says ([`ptxsmith_oracle::linking`]). In addition, whether a program is
//! linked must not depend on the order of its modules.

mod compare;
mod listed;
mod reads;
mod symptom;

use std::collections::BTreeMap;

use ptxsmith_oracle::linking::{self, Program};
use ptxsmith_oracle::{Clause, Rules};
use ptxsmith_subject::{Error, INTERNAL_ERROR, Observation, Outcome, Request, Stage, Subject};
use ptxsmith_syntax::Module;

use crate::verdict::Class;

pub use compare::compare;
pub use listed::{LISTED, Listed};
pub use reads::READ;
pub use symptom::{ANOTHER_OFFSET, NO_ADDRESS, NO_ADDRESS_OR_OFFSET};

/// A deviation in a linked program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkDifference {
    /// The class of the deviation.
    pub class: Class,
    /// The variable or kernel; empty if the difference concerns the whole program.
    pub name: String,
    /// The clauses that it violates. Empty for a crash, for variables that overlap, and for differences between orders.
    pub clauses: Vec<Clause>,
    /// The expected result, for reports.
    pub expected: String,
    /// The observed result, for reports.
    pub actual: String,
    /// Distinguishes causes within one class.
    pub symptom: Symptom,
}

/// A description of a difference without names and numbers of the program, so that equal causes compare equal.
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
pub struct Compared {
    /// The deviations.
    pub differences: Vec<LinkDifference>,
    /// The number of variables that were compared.
    pub compared: usize,
    /// The number of variables or programs that were not compared, by reason.
    pub not_compared: BTreeMap<String, usize>,
    /// For each name with several different definitions, the module whose definition the linker chose.
    pub chosen: BTreeMap<String, usize>,
}

impl Compared {
    fn leave(&mut self, reason: &str) {
        *self.not_compared.entry(reason.to_owned()).or_default() += 1;
    }
}

/// The verdict on one program, over all ways to link it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkVerdict {
    /// The deviations, each with the first way that shows it.
    pub differences: Vec<(LinkDifference, Way)>,
    /// The number of variables that were compared, over all ways.
    pub compared: usize,
    /// The number of variables or programs that were not compared, by reason, over all ways.
    pub not_compared: BTreeMap<String, usize>,
    /// The outcome of each way.
    pub outcomes: Vec<(Way, Outcome)>,
    /// For each name with several different definitions, the module whose definition the linker chose in each way.
    pub chosen: BTreeMap<String, Vec<(Way, usize)>>,
}

/// A way to link modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The indices of the modules, in the order in which they are linked.
    pub order: Vec<usize>,
    /// The part of the order that is first linked to a relocatable object.
    pub stage: Option<Stage>,
}

impl Way {
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

/// Returns the ways to link this number of modules: every order of [`orders`], and if `in_stages` is set, each order with all modules but
/// the first or the last one linked to a relocatable object first.
pub fn ways(modules: usize, in_stages: bool) -> Vec<Way> {
    let orders = orders(modules);
    let whole = orders.iter().map(|order| Way { order: order.clone(), stage: None });
    let staged = orders.iter().filter(|_| in_stages && modules > 1).flat_map(|order| {
        [0, 1].map(|first| Way { order: order.clone(), stage: Some(Stage { first, count: modules - 1 }) })
    });
    whole.chain(staged).collect()
}

/// The maximum number of modules that are linked in every order. More modules are linked in the given order and its reverse.
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
    /// Creates a program from texts and the modules that they were parsed to. The target is the first that a module names, or `sm_80`.
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

/// Judges programs as [`judge_linked`] does, but gives all of them to the linker at once, which is faster with some linkers. If the
/// specification refuses a module by itself, the result is the index of that module instead of a verdict.
///
/// # Errors
/// Fails if the subject could not be run.
pub fn judge_each_linked(
    subject: &dyn Subject,
    programs: &[Modules<'_>],
    rules: &Rules,
) -> Result<Vec<Result<LinkVerdict, usize>>, Error> {
    let expected: Vec<Result<Program, usize>> =
        programs.iter().map(|program| linking::link(program.modules, rules)).collect();
    let linked = programs.iter().zip(&expected).filter(|(_, expected)| expected.is_ok());
    let ways: Vec<(&Modules<'_>, Way, Vec<&str>)> = linked
        .flat_map(|(program, _)| {
            let ways = ways(program.texts.len(), program.in_stages && subject.links_in_stages());
            ways.into_iter().map(move |way| {
                let texts = way.order.iter().map(|&place| program.texts[place].as_str()).collect();
                (program, way, texts)
            })
        })
        .collect();
    let requests: Vec<Request<'_>> = ways
        .iter()
        .map(|(program, way, texts)| Request {
            with: &texts[1..],
            stage: way.stage,
            ..Request::new(texts[0], program.target)
        })
        .collect();
    let mut seen =
        ways.iter().map(|(program, way, _)| (program, way)).zip(subject.observe_each(&requests)?).peekable();
    let verdicts = programs.iter().zip(expected).map(|(program, expected)| {
        let of_program = std::iter::from_fn(|| {
            seen.next_if(|((other, _), _)| std::ptr::eq(**other, program))
                .map(|((_, way), seen)| (way.clone(), seen))
        });
        Ok(verdict(&expected?, of_program))
    });
    Ok(verdicts.collect())
}

/// Judges the linked programs of all ways.
fn verdict(expected: &Program, seen: impl Iterator<Item = (Way, Observation)>) -> LinkVerdict {
    let lacks_a_name = expected.lacks_definition();
    let mut verdict = LinkVerdict::default();
    for (name, reason) in expected.undecided.iter().map(|(_, name, reason)| (name, reason)) {
        let what = if name.is_some() { "a variable" } else { "a module" };
        *verdict.not_compared.entry(format!("{what}: {reason}")).or_default() += 1;
    }
    let mut said = BTreeMap::new();
    for (way, seen) in seen {
        let Compared { differences, compared, not_compared, chosen } = match seen.outcome {
            Outcome::Accepted => compare(expected, &seen),
            // Some releases end with an internal error if a name has no definition.
            Outcome::Crashed if seen.signal.is_none() && lacks_a_name => {
                let mut compared = Compared::default();
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
            verdict.enter(difference, &way);
        }
        for (name, module) in chosen {
            verdict.chosen.entry(name).or_default().push((way.clone(), module));
        }
        verdict.outcomes.push((way, seen.outcome));
    }
    verdict.compare_orders(&said);
    verdict
}

impl LinkVerdict {
    /// Adds a difference unless an earlier way showed it. The ways without a stage come first.
    fn enter(&mut self, difference: LinkDifference, way: &Way) {
        let is_alike = |known: &LinkDifference| {
            (known.class, &known.name, &known.symptom)
                == (difference.class, &difference.name, &difference.symptom)
        };
        let is_known = self.differences.iter().any(|(known, _)| *known == difference);
        let is_alike_without = self.differences.iter().any(|(known, _)| is_alike(known));
        if is_known || way.stage.is_some() && is_alike_without {
            return;
        }
        let symptom = Symptom { needs_a_stage: way.stage.is_some(), ..difference.symptom.clone() };
        let difference = LinkDifference { symptom, ..difference };
        if self.differences.iter().all(|(known, _)| *known != difference) {
            self.differences.push((difference, way.clone()));
        }
    }

    /// Reports a difference if the modules are linked in some ways and refused in others. The specification does not say which modules a
    /// linker may refuse, so a program that is refused in every way is not compared.
    fn compare_orders(&mut self, said: &BTreeMap<Outcome, String>) {
        let way_of = |outcome| self.outcomes.iter().find(|(_, seen)| *seen == outcome).map(|(way, _)| way);
        let (Some(refused), Some(accepted)) = (way_of(Outcome::Refused), way_of(Outcome::Accepted)) else {
            return;
        };
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
fn not_accepted(seen: &Observation) -> Compared {
    let mut compared = Compared::default();
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
    let is_plain = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    message.split_whitespace().filter(is_plain).collect::<Vec<_>>().join(" ")
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
