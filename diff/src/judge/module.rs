//! Modules of many trials: how they are composed, and what of an observation belongs to which trial.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_subject::{Diagnostic, Observation, Outcome, Severity, Variable};
use ptxsmith_syntax::{
    Canonical, Header, Module, ScalarType, Spacing, StateSpace, prefixed, print, with_prefix, without_prefix,
};

use super::{Answer, HEADER_LINES, Judgement, Predicted, judge};
use crate::{
    compare::unseen,
    seats,
    trial::{ALONE, Body},
};

/// Where a trial went in a batch.
pub(super) enum Seat {
    /// In an array of the module, by number, so many bytes from its start.
    Element {
        array: usize,
        offset: u64,
        width: usize,
    },
    Names {
        prefix: String,
    },
}

/// A module of many trials.
pub(super) struct Batch {
    pub text: String,
    pub seats: Vec<Seat>,
    /// The names of its arrays of trials.
    arrays: Vec<String>,
    /// The 1-based line on which each trial starts, ascending.
    lines: Vec<(u32, usize)>,
}

impl Batch {
    /// What was observed of each array of trials.
    pub fn arrays<'o>(&self, observation: &'o Observation) -> Vec<Option<&'o Variable>> {
        self.arrays.iter().map(|name| observation.variables.get(name)).collect()
    }
}

/// The constant bank holds this much; a module that declares more in `.const` is refused by every implementation.
pub(crate) const CONST_BYTES: u64 = 60_000;

/// The most trials with variables of their own in one module: ptxas takes more than twice as long for twice as many.
const NAMED_TOGETHER: usize = 250;

/// Groups that fit into one module each: what `.const` holds is limited, and so is how many names are worth while.
pub(super) fn groups(predicted: &[Predicted<'_>], all: Vec<usize>) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let (mut used, mut named) = (0, 0);
    for at in all {
        let need = const_need(&predicted[at]);
        let names = usize::from(predicted[at].trial.body.items().is_some());
        let full = used + need > CONST_BYTES && need > 0 || named + names > NAMED_TOGETHER;
        if full && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            (used, named) = (0, 0);
        }
        used += need;
        named += names;
        group.push(at);
    }
    groups.push(group);
    groups
}

fn const_need(p: &Predicted<'_>) -> u64 {
    match (&p.trial.body, &p.answer) {
        (Body::Expression { ty, space: StateSpace::Const, .. }, _) => ty.size().unwrap_or(0),
        (Body::Items(_) | Body::Seats(_), Answer::Variables(variables)) => {
            let in_const = variables.iter().filter(|v| v.space == StateSpace::Const);
            in_const.map(|v| v.size + v.align).sum()
        }
        _ => 0,
    }
}

pub(super) fn compose(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = Canonical(print(&header.module([])));
    // What an expression takes on average, so that the text does not move while it grows.
    text.0.reserve(48 * group.len());
    let mut line = 1 + text.0.bytes().filter(|&b| b == b'\n').count() as u32;
    let mut seats: Vec<Option<Seat>> = group.iter().map(|_| None).collect();
    let mut lines = Vec::with_capacity(group.len());
    let mut arrays: BTreeMap<(StateSpace, ScalarType), Vec<usize>> = BTreeMap::new();
    for (place, &at) in group.iter().enumerate() {
        match &predicted[at].trial.body {
            Body::Expression { ty, space, .. } => arrays.entry((*space, *ty)).or_default().push(place),
            Body::Items(items) | Body::Seats(items) => {
                let prefix = format!("t{place}_");
                lines.push((line, place));
                let items = prefixed(items, &prefix);
                let before = text.0.len();
                text.0.push_str(&predicted[at].trial.spacing.print(&Module { items }));
                line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                seats[place] = Some(Seat::Names { prefix });
            }
        }
    }
    let mut names = Vec::with_capacity(arrays.len());
    for ((space, ty), places) in arrays {
        let array = format!("e{}{}", space.name(), &ty.keyword()[1..]);
        let width = ty.size().unwrap_or(0);
        let _ = writeln!(text.0, "{} {} {array}[{}] = {{", space.keyword(), ty.keyword(), places.len());
        line += 1;
        for (index, &place) in places.iter().enumerate() {
            lines.push((line, place));
            let trial = predicted[group[place]].trial;
            if let Body::Expression { expr, .. } = &trial.body {
                let before = text.0.len();
                trial.spacing.print_expr(expr, &mut text);
                if trial.spacing != Spacing::Canonical {
                    line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                }
            }
            text.0.push_str(if index + 1 == places.len() { "\n" } else { ",\n" });
            line += 1;
            let offset = index as u64 * width;
            let array = names.len();
            seats[place] = Some(Seat::Element { array, offset, width: width as usize });
        }
        names.push(array);
        text.0.push_str("};\n");
        line += 1;
    }
    Batch { text: text.0, seats: seats.into_iter().flatten().collect(), arrays: names, lines }
}

/// What a batch shows of a trial.
pub(super) enum Seated {
    Agrees,
    Unobserved,
    /// An expression that has these bits instead, and no address.
    Holds(u64, Observation),
    /// The part of the observation that belongs to the trial, as if it had stood alone.
    Differs(Observation),
}

/// What a batch shows of one trial, and how many of its variables it does not show.
pub(super) fn seated(
    predicted: &Predicted<'_>,
    seat: &Seat,
    arrays: &[Option<&Variable>],
    observation: &Observation,
) -> (Seated, u32) {
    let answer = &predicted.answer;
    match (answer, seat) {
        (Answer::Bits(_) | Answer::Refused, Seat::Element { array, offset, width }) => {
            let expected = if let Answer::Bits(bits) = answer { Some(*bits) } else { None };
            (arrays[*array].map_or(Seated::Unobserved, |seen| element(expected, seen, *offset, *width)), 0)
        }
        (Answer::Variables(variables), Seat::Names { prefix }) => {
            let names = variables.iter().map(|variable| variable.name.as_str());
            let alone = seen_alone(names, prefix, observation);
            let unseen = unseen(variables, &alone.variables);
            let seated = match judge(answer, &alone) {
                Judgement::Agrees => Seated::Agrees,
                Judgement::Unobserved => Seated::Unobserved,
                Judgement::Differs(..) => Seated::Differs(alone),
            };
            (seated, unseen)
        }
        (Answer::Unmodelled, Seat::Names { prefix }) => {
            let items = predicted.trial.body.items().unwrap_or(&[]);
            let alone = seen_alone(seats::names(items), prefix, observation);
            let seated = match seats::disagreement(items, &alone) {
                None => Seated::Agrees,
                Some(_) => Seated::Differs(alone),
            };
            (seated, 0)
        }
        _ => (Seated::Unobserved, 0),
    }
}

/// One element of an array of many trials. Nothing is expected of one that should have been refused.
fn element(expected: Option<u64>, seen: &Variable, offset: u64, width: usize) -> Seated {
    let (from, to) = (offset as usize, offset as usize + width);
    let Some(bytes) = seen.bytes.as_ref().and_then(|bytes| bytes.get(from..to)) else {
        return Seated::Unobserved;
    };
    let bits = little_endian(bytes);
    let own = offset..to as u64;
    let addressed = seen.addresses.iter().flatten().any(|address| own.contains(&address.offset));
    if expected == Some(bits) && !addressed {
        return Seated::Agrees;
    }
    let variable = Variable {
        space: seen.space.clone(),
        size: Some(width as u64),
        align: None,
        bytes: Some(bytes.to_vec()),
        addresses: Some(Vec::new()),
        base: None,
    };
    let mut alone = Observation::new(Outcome::Accepted);
    alone.variables.insert(ALONE.to_owned(), variable);
    if addressed { Seated::Differs(alone) } else { Seated::Holds(bits, alone) }
}

/// The number that at most eight bytes are, the lowest first.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// What was seen of these variables, as if they had stood alone.
fn seen_alone<'n>(
    names: impl Iterator<Item = &'n str>,
    prefix: &str,
    observation: &Observation,
) -> Observation {
    let mut alone = Observation::new(Outcome::Accepted);
    for name in names {
        let Some(seen) = observation.variables.get(with_prefix(name, prefix).as_str()) else { continue };
        let mut seen = seen.clone();
        for address in seen.addresses.iter_mut().flatten() {
            if let Some(symbol) = without_prefix(&address.symbol, prefix) {
                address.symbol = symbol.to_string();
            }
        }
        alone.variables.insert(name.to_owned(), seen);
    }
    alone
}

/// The first complaint about each trial of a batch that was refused.
pub(super) fn complaints(batch: &Batch, count: usize, observation: &Observation) -> Vec<Option<Diagnostic>> {
    let mut complaints = vec![None; count];
    if observation.outcome == Outcome::Refused {
        for error in observation.diagnostics.iter().filter(|d| d.severity >= Severity::Error) {
            let Some(line) = error.line else { continue };
            let behind = batch.lines.partition_point(|&(start, _)| start <= line);
            if let Some(&(start, place)) = behind.checked_sub(1).and_then(|at| batch.lines.get(at)) {
                let line = Some(line - start + 1 + HEADER_LINES);
                complaints[place].get_or_insert(Diagnostic { line, ..error.clone() });
            }
        }
    }
    complaints
}

/// The trials on whose lines the subject complains, and the others.
pub(super) fn split_blamed(
    batch: &Batch,
    group: &[usize],
    observation: &Observation,
) -> (Vec<usize>, Vec<usize>) {
    let complaints = complaints(batch, group.len(), observation);
    let (guilty, rest): (Vec<_>, Vec<_>) = group.iter().zip(complaints).partition(|(_, c)| c.is_some());
    let trials = |these: Vec<(&usize, Option<Diagnostic>)>| these.into_iter().map(|(&at, _)| at).collect();
    (trials(guilty), trials(rest))
}

/// A module in which every trial is a statement of its own with an innocent one behind it, so that a complaint about
/// the line behind a trial is still about the trial.
pub(super) fn compose_apart(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = print(&header.module([]));
    let mut line = 1 + HEADER_LINES;
    let mut lines = Vec::with_capacity(group.len());
    for (place, &at) in group.iter().enumerate() {
        lines.push((line, place));
        let trial = predicted[at].trial;
        let items = prefixed(&trial.items(), &format!("t{place}_"));
        let before = text.len();
        text.push_str(&trial.spacing.print(&Module { items }));
        let _ = writeln!(text, ".global .u8 z{place};");
        line += text[before..].bytes().filter(|&b| b == b'\n').count() as u32;
    }
    Batch { text, seats: Vec::new(), arrays: Vec::new(), lines }
}
