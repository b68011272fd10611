//! Judges programs of several modules: what a linker makes of them, in every order of the modules.
//!
//! Beside what the specification says of the variables ([`ptxsmith_oracle::linking`]), the order of the modules must not decide
//! whether they are linked.

mod compare;

use std::collections::BTreeMap;

use ptxsmith_oracle::{Clause, Rules, linking};
use ptxsmith_subject::{Error, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::{Linkage, Module};

use crate::verdict::Class;

pub use compare::compare;

/// A deviation in a linked program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkDifference {
    /// What kind of deviation it is.
    pub class: Class,
    /// The variable; empty where it is about the whole program.
    pub name: String,
    /// The clause that it breaks; `None` for a crash and for what depends on the order.
    pub clause: Option<Clause>,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub actual: String,
}

/// What is to be said of a linked program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The deviations.
    pub differences: Vec<LinkDifference>,
    /// How many variables were compared.
    pub compared: usize,
    /// What was not compared, by reason.
    pub not_compared: BTreeMap<String, usize>,
    /// The module whose definition the program has, of each name that has several.
    pub chosen: BTreeMap<String, usize>,
}

/// The verdict on one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkVerdict {
    /// The deviations, each with the first order of the modules that shows it.
    pub differences: Vec<(LinkDifference, Vec<usize>)>,
    /// How many variables were compared, in all orders.
    pub compared: usize,
    /// What was not compared, by reason, in all orders.
    pub not_compared: BTreeMap<String, usize>,
    /// What the subject did, by order.
    pub outcomes: Vec<(Vec<usize>, Outcome)>,
    /// By name, whose definition the program has in each order.
    pub chosen: BTreeMap<String, Vec<(Vec<usize>, usize)>>,
}

/// Programs of so many modules are linked in every order; others as they stand, and from the last to the first.
const ALL_ORDERS: usize = 3;

/// The orders in which so many modules are linked.
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
    /// The texts, in the order given.
    pub texts: &'a [String],
    /// The same, parsed.
    pub modules: &'a [Module],
    /// The target to link for.
    pub target: &'a str,
}

/// Shows a program to a linker in every order and judges what it makes of it; `Err(Ok(place))` for a module that the
/// specification refuses alone.
pub fn judge_linked(
    subject: &dyn Subject,
    program: &Modules<'_>,
    rules: &Rules,
) -> Result<LinkVerdict, LinkError> {
    let expected = linking::link(program.modules, rules).map_err(LinkError::Refused)?;
    let mut verdict = LinkVerdict::default();
    for (name, reason) in expected.undecided.iter().map(|(_, name, reason)| (name, reason)) {
        let what = if name.is_some() { "a variable" } else { "a module" };
        *verdict.not_compared.entry(format!("{what}: {reason}")).or_default() += 1;
    }
    let mut said = BTreeMap::new();
    for order in orders(program.texts.len()) {
        let texts: Vec<&str> = order.iter().map(|&place| program.texts[place].as_str()).collect();
        let request = Request { with: &texts[1..], ..Request::new(texts[0], program.target) };
        let seen = subject.observe(&request)?;
        let Compared { differences, compared, not_compared, chosen } = match seen.outcome {
            Outcome::Accepted => compare(&expected, &seen.linked),
            _ => not_accepted(&seen),
        };
        let messages = seen.diagnostics.into_iter().map(|diagnostic| diagnostic.message);
        said.entry(seen.outcome).or_insert_with(|| messages.collect::<Vec<_>>().join("; "));
        verdict.compared += compared;
        for (reason, count) in not_compared {
            *verdict.not_compared.entry(reason).or_default() += count;
        }
        for difference in differences {
            if verdict.differences.iter().all(|(known, _)| *known != difference) {
                verdict.differences.push((difference, order.clone()));
            }
        }
        for (name, module) in chosen {
            verdict.chosen.entry(name).or_default().push((order.clone(), module));
        }
        verdict.outcomes.push((order, seen.outcome));
    }
    verdict.compare_orders(&expected, &said);
    Ok(verdict)
}

impl LinkVerdict {
    /// Whether the modules are linked must not depend on their order, nor be denied to a program whose declarations agree.
    fn compare_orders(&mut self, expected: &linking::Program, said: &BTreeMap<Outcome, String>) {
        let order_of =
            |outcome| self.outcomes.iter().find(|(_, seen)| *seen == outcome).map(|(order, _)| order.clone());
        let Some(refused) = order_of(Outcome::Refused) else { return };
        let message = said.get(&Outcome::Refused).cloned().unwrap_or_default();
        if order_of(Outcome::Accepted).is_some() {
            let expected = "the same for every order of the modules".to_owned();
            let actual = format!("linked in another order, but here refused: {message}");
            let difference = LinkDifference {
                class: Class::Inconsistent,
                name: String::new(),
                clause: None,
                expected,
                actual,
            };
            self.differences.push((difference, refused));
        } else if disagreement(expected).is_none() {
            let difference = LinkDifference {
                class: Class::RefusesValid,
                name: String::new(),
                clause: Some(Clause::StateSpace),
                expected: "linked: each name has one definition, and all declarations of it agree".to_owned(),
                actual: format!("refused: {message}"),
            };
            self.differences.push((difference, refused));
        }
    }
}

/// Why a linker may refuse these modules, of which the specification at hand does not speak.
fn disagreement(program: &linking::Program) -> Option<&'static str> {
    if !program.undecided.is_empty() {
        return Some("a part is not judged");
    }
    program.shared.values().find_map(|declared| {
        let definitions = declared.iter().filter(|declared| declared.is_definition());
        let strong = definitions.clone().filter(|declared| declared.linkage == Some(Linkage::Visible));
        let first = &declared[0];
        let sizes = declared.iter().map(|declared| declared.size).filter(|&size| size != 0);
        let is_of_one_size = sizes.clone().max() == sizes.min();
        match () {
            () if definitions.clone().count() == 0 => Some("a name that no module defines"),
            () if definitions.count() > 1 && strong.count() > 0 => Some("a name with several definitions"),
            () if declared.iter().any(|other| other.space != first.space) => Some("state spaces that differ"),
            () if !is_of_one_size => Some("sizes that differ"),
            () => None,
        }
    })
}

/// What is to be said of a program that is not linked.
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
                clause: None,
                expected: "an answer".to_owned(),
                actual,
            });
        }
        Outcome::Refused => compared.leave("the linker refuses the program"),
        _ => drop(compared.not_compared.insert(why, 1)),
    }
    compared
}

/// Why a program could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The specification refuses the module of this place alone.
    #[error("module {} is refused by the specification alone: check it without --link", .0 + 1)]
    Refused(usize),
    /// The subject could not be asked.
    #[error(transparent)]
    Subject(#[from] Error),
}

#[cfg(test)]
mod tests;
