//! Minimizes the reproducers of new findings and joins findings with the same cause.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use ptxsmith_diff::known::{KNOWN, Known};
use ptxsmith_diff::{Class, Difference, Maker, Verdict, id_of, predicts};
use ptxsmith_model::{Answers, Finding, Kind, Reduced};
use ptxsmith_oracle::{Interpretation, Rules, Validity, predict};
use ptxsmith_reduce::Program;
use ptxsmith_syntax::{Module, parse};

use super::Campaign;
use super::again::{Again, REPEATED, shown_again};
use super::file::clauses_of;
use crate::failure::{Failure, of_subject};
use crate::form::{Form, neighbours, with_number};
use crate::judges::judge;
use crate::ledger::Found;
use crate::pool;
use crate::reducing::{Budget, Expected, Reluctance, Wanted, reduce_finding};
use crate::subjects::Tested;

/// The most programs to run for one reproducer. A time limit would make reports depend on the machine.
const MOST_OF_ONE: u64 = 1_000;
/// The same limit for a whole campaign.
const MOST: u64 = 6_000;

/// Replaces the examples of known findings by the minimized reproducers in the list of known deviations.
pub(super) fn show_known_minimized(campaign: &Campaign<'_>, findings: &mut [Found]) -> Result<(), Failure> {
    let listed: Vec<(usize, &Tested, &Known)> = (findings.iter().enumerate())
        .filter_map(|(nth, found)| {
            let known = KNOWN.iter().find(|known| Kind::Known(known.id.to_owned()) == found.finding.kind)?;
            Some((nth, campaign.tested(&found.finding.subjects[0])?, known))
        })
        .collect();
    let answered = pool::map(campaign.session, &listed, |(_, tested, known)| {
        answers(tested, known.example, Some(known.id))
    })?;
    for ((nth, _, known), answers) in listed.iter().zip(answered) {
        let Some(answers) = answers.flatten() else { continue };
        let tokens = Program::parse(known.example).map_or(0, |program| program.size().tokens as u64);
        let program = known.example.to_owned();
        findings[*nth].finding.reduced = Some(Reduced { program, tokens, answers: Some(answers) });
    }
    Ok(())
}

/// Joins new findings that have the same cause. Reduces each one within a limit of programs (and of time, if the user set
/// one), unless it has all features of another's reproducer, and compares the reproducers.
pub(super) fn join_new(campaign: &Campaign<'_>, findings: &mut Vec<Found>) -> Result<(), Failure> {
    let mut left_to_reduce = LeftToReduce::of(campaign);
    if left_to_reduce.is_over() {
        return Ok(());
    }
    let is_one = |found: &Found| found.is_new() && !found.is_inconsistent();
    let (mut new, mut rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(is_one);
    // Handle findings with a known rule first: they absorb most duplicates. Then the shortest first, because short
    // programs contain the least noise.
    new.sort_by_key(|found| (Expected::of_kind(&found.finding.kind).is_none(), found.order()));
    let mut causes: Vec<(Found, Form)> = Vec::new();
    let mut left = VecDeque::from(new);
    let mut are_named = true;
    while let Some(mut found) = left.pop_front() {
        let is_named = Expected::of_kind(&found.finding.kind).is_some();
        if are_named && !is_named {
            are_named = false;
            left.push_front(found);
            let refuted = take_back_rules(campaign, &mut causes, left.make_contiguous());
            left.extend(refuted);
            left.make_contiguous().sort_by_key(Found::order);
            continue;
        }
        let form = form_of(&found);
        if !is_named && let Some((at, because)) = cause_of(campaign, &causes, &found, &form) {
            causes[at].0.join(found, because);
            continue;
        }
        let form = reduced_form(campaign, &mut found, &mut left_to_reduce)?;
        match found.is_inconsistent() {
            true => rest.push(found),
            false => join_same(campaign, &mut causes, found, form),
        }
    }
    join_mixed(campaign, &mut causes, &mut rest)?;
    join_company(&mut causes, &mut rest);
    join_left(&mut causes);
    name_causes(&mut causes);
    causes.sort_by_key(|(found, _)| Reverse(found.finding.count));
    findings.extend(causes.into_iter().map(|(found, _)| found).chain(rest));
    super::again::join_inconsistent(findings);
    Ok(())
}

/// The programs and the time left for reductions.
struct LeftToReduce {
    programs: u64,
    until: Option<Instant>,
}

impl LeftToReduce {
    fn of(campaign: &Campaign<'_>) -> LeftToReduce {
        let until = campaign.reduce_for.map(|time| Instant::now() + time);
        let until = until.into_iter().chain(campaign.session.limit.map(|limit| limit.end)).min();
        LeftToReduce { programs: MOST, until }
    }

    fn is_over(&self) -> bool {
        self.programs == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Reduces a finding within the budget and returns the features that its cause needs. Removes the rule from the finding
/// if the rule does not predict the result of a neighbouring program.
fn reduced_form(
    campaign: &Campaign<'_>,
    found: &mut Found,
    left: &mut LeftToReduce,
) -> Result<Form, Failure> {
    let mut rule = Expected::of_kind(&found.finding.kind);
    loop {
        if !left.is_over() && !campaign.session.cancel.is_cancelled() {
            let time = left.until.map(|until| until.saturating_duration_since(Instant::now()));
            let programs = left.programs.min(MOST_OF_ONE);
            let asked = reduce_new(campaign, found, rule.as_ref(), time, programs)?;
            left.programs = left.programs.saturating_sub(asked);
        }
        if found.is_inconsistent() {
            return Ok(Form::default());
        }
        if found.only_as_written {
            return Ok(Form::as_written(&found.finding.program));
        }
        let (form, is_refuted) = essential(campaign, found)?;
        if !is_refuted {
            return Ok(form);
        }
        // The rule is not the cause, so do not preserve it either.
        rule = None;
        found.put_down_to_no_rule();
    }
}

/// Names causes without a rule after the features of their reproducers. Each name is unique.
fn name_causes(causes: &mut [(Found, Form)]) {
    let mut named = BTreeSet::new();
    for (found, form) in causes {
        if (found.finding.reduced.is_some() || found.only_as_written)
            && Expected::of_kind(&found.finding.kind).is_none()
        {
            found.name_by_form(form);
            let own = clauses_of(&found.finding);
            if !own.is_empty() {
                found.finding.clauses = own;
            }
        }
        while !named.insert(found.finding.id.clone()) {
            found.finding.id += "-other";
        }
    }
}

/// Removes causes whose rule explains too little, and returns them without the rule: among other programs with the same
/// features, at least as many deviate in a way that the rule does not predict as the cause has found.
fn take_back_rules(campaign: &Campaign<'_>, causes: &mut Vec<(Found, Form)>, others: &[Found]) -> Vec<Found> {
    let is_refuted = |(cause, own): &mut (Found, Form)| {
        let unpredicted = others.iter().filter(|found| {
            cause.finding.class == found.finding.class
                && shows(own, &form_of(found))
                && !may_be_of_rule(campaign, cause, found)
        });
        unpredicted.map(|found| found.finding.count).sum::<u64>() >= cause.finding.count
    };
    let mut refuted: Vec<Found> = causes.extract_if(.., is_refuted).map(|(found, _)| found).collect();
    for found in &mut refuted {
        // The reduction preserved the prediction of the rule, so its result is of no use now.
        found.finding.reduced = None;
        found.put_down_to_no_rule();
    }
    refuted
}

/// Joins each finding about an interpretation followed only in some trials with a cause that has the same effect on its
/// program: the subject may reject a program for a reason other than the interpretation. Such a finding may also show
/// only beside other declarations, or only as written, just as the cause does.
fn join_mixed(
    campaign: &Campaign<'_>,
    causes: &mut [(Found, Form)],
    rest: &mut Vec<Found>,
) -> Result<(), Failure> {
    for mixed in std::mem::take(rest) {
        let Some(tested) = campaign.tested(&mixed.finding.subjects[0]).filter(|_| mixed.is_mixed()) else {
            rest.push(mixed);
            continue;
        };
        let (form, outcome) = (form_of(&mixed), mixed.finding.observed.outcome);
        let is_alike = |cause: &Found| cause.finding.example().observed.outcome == outcome;
        let mut cause = causes.iter().position(|(cause, own)| is_alike(cause) && shows(own, &form));
        let mut because = "its program has all that the cause needs";
        if cause.is_none() && mixed.origin.is_none() {
            let program = &mixed.finding.program;
            let printed = ptxsmith_syntax::print(&parse(program).unwrap_or_default());
            let comes =
                |program: &str| Ok::<_, Failure>(shown_again(tested, &mixed.finding, program, 1)?.came > 0);
            let (alone, anew) = (comes(program)?, comes(&printed)?);
            (cause, because) = match (alone, anew) {
                (true, false) => {
                    let as_written = |(cause, _): &(Found, Form)| is_alike(cause) && cause.only_as_written;
                    (causes.iter().position(as_written), "both show only as the program is written")
                }
                (false, _) => {
                    let alike = |(cause, _): &(Found, Form)| is_alike(cause);
                    (causes.iter().position(alike), "it shows only beside other declarations")
                }
                (true, true) => (None, because),
            };
        }
        match cause {
            Some(at) => causes[at].0.join(mixed, because),
            None => rest.push(mixed),
        }
    }
    Ok(())
}

/// Returns true if the cause has no rule, or if its rule predicts the other finding.
fn may_be_of_rule(campaign: &Campaign<'_>, cause: &Found, found: &Found) -> bool {
    let Some(rule) = rule_of(&cause.finding) else { return true };
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return true };
    let example = found.finding.example();
    predicts(&[rule], Maker::of(tested.subject.description()), example.program, example.observed)
}

/// Returns the reason why a finding most likely has this cause: its class is the same, and its program has all features
/// that the cause needs, or its reproducer deviates in the same way. Otherwise returns `None`.
fn same_cause(
    campaign: &Campaign<'_>,
    cause: &Found,
    own: &Form,
    found: &Found,
    form: &Form,
) -> Option<&'static str> {
    if cause.finding.class != found.finding.class {
        None
    } else if shows(own, form) && may_be_of_rule(campaign, cause, found) {
        Some("its program has all that the cause needs")
    } else if has_same_effect(cause, found) {
        Some("its reduced program holds the same number, wrong in the same bits")
    } else if own.shares_a_part(form) && has_same_wrong_field(cause, found) {
        Some("its reduced program shares a part, and the same field of an address is wrong")
    } else {
        None
    }
}

/// Returns the index of the first cause that a finding has, with the reason.
fn cause_of(
    campaign: &Campaign<'_>,
    causes: &[(Found, Form)],
    found: &Found,
    form: &Form,
) -> Option<(usize, &'static str)> {
    let mut all = causes.iter().enumerate();
    all.find_map(|(at, (cause, own))| Some((at, same_cause(campaign, cause, own, found, form)?)))
}

/// Adds a cause, or joins it with causes that have the same features.
fn join_same(campaign: &Campaign<'_>, causes: &mut Vec<(Found, Form)>, mut found: Found, form: Form) {
    if let Some((at, because)) = cause_of(campaign, causes, &found, &form) {
        causes[at].0.join(found, because);
        return;
    }
    // An earlier cause has features that it does not need if this one shows with fewer.
    causes.retain_mut(|(cause, own)| {
        let same = same_cause(campaign, &found, &form, cause, own);
        if let Some(because) = same {
            found.join(std::mem::take(cause), because);
        }
        same.is_none()
    });
    causes.push((found, form));
}

/// Returns the features of a minimized reproducer that its cause needs. A feature may be present only because no program
/// is valid without it, such as the type of a float. Replacing it by another word reveals that.
///
/// Also returns true if a neighbouring program deviates although the rule of the finding does not predict it.
fn essential(campaign: &Campaign<'_>, found: &mut Found) -> Result<(Form, bool), Failure> {
    let mut form = form_of(found);
    let Some(Reduced { program, answers: Some(_), .. }) = &found.finding.reduced else {
        return Ok((form, false));
    };
    let (Some(tested), program) = (campaign.tested(&found.finding.subjects[0]), program.clone()) else {
        return Ok((form, false));
    };
    let rule = rule_of(&found.finding);
    let maker = Maker::of(tested.subject.description());
    let number = expected_bytes(&found.finding).filter(|(_, bytes)| bytes.len() <= 8);
    let number = number.and_then(|(name, bytes)| {
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        with_number(&program, &name, value)
    });
    let valid = number.into_iter().chain(neighbours(&program)).filter_map(|other| {
        let module = parse(&other).ok()?;
        (predict(&module, &Rules::default()).validity() == Validity::Valid).then_some((other, module))
    });
    let valid: Vec<(String, Module)> = valid.collect();
    // Returns the difference of the same class in a neighbouring program; `None` if it conforms or the result is unknown.
    let mut shown = |(other, module): &(String, Module)| {
        let parts = judge(&*tested.subject, module, other).map_err(of_subject)?.parts();
        if parts.iter().all(|part| part.verdict == Verdict::Conforms) {
            found.finding.neighbour.get_or_insert_with(|| other.clone());
        }
        Ok::<_, Failure>(parts.into_iter().find_map(|part| match part.verdict {
            Verdict::Deviates(difference) if difference.class == found.finding.class => Some(difference),
            Verdict::Reads(difference) if found.follows.is_some() => Some(difference),
            _ => None,
        }))
    };
    let mut needless = Vec::new();
    for feature in form.features() {
        let lacks = |(other, _): &&(String, Module)| !Form::of(other, None).has(&feature);
        for other in valid.iter().filter(lacks).take(NEIGHBOURS) {
            if shown(other)?.is_some() {
                needless.push(feature.clone());
                break;
            }
        }
    }
    let mut is_refuted = false;
    if let Some(rule) = rule {
        for other in valid.iter().take(NEIGHBOURS_OF_RULE) {
            let unpredicted = |shown: Box<Difference>| !predicts(&[rule], maker, &other.0, &shown.observed);
            is_refuted |= shown(other)?.is_some_and(unpredicted);
        }
    }
    form.without(&needless);
    Ok((form, is_refuted))
}

/// Reduces a new finding. Returns the number of programs run.
fn reduce_new(
    campaign: &Campaign<'_>,
    found: &mut Found,
    rule: Option<&Expected>,
    time: Option<Duration>,
    programs: u64,
) -> Result<u64, Failure> {
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return Ok(0) };
    let budget = Budget { time, programs: Some(programs) };
    let original = found.finding.program.clone();
    let reduce = |expected: Option<&Expected>, as_text: bool| {
        let wanted = Wanted { expected, headed: true, ..Wanted::default() };
        reduce_finding(campaign.session, tested, &original, as_text, wanted, budget, &mut |_, _| {})
    };
    // Preserve the cause that triage found, although the program alone may not show it if only many programs together
    // did. A finding without a cause keeps its class, whatever rules happen to predict it.
    let class = Some(match found.follows {
        // An interpretation explains it, although other verdicts exclude it.
        Some(Interpretation(question, answer)) => Expected::Reading(question, answer),
        None => Expected::Class(found.finding.class),
    });
    let mut shrunk = match reduce(rule.or(class.as_ref()), false) {
        Err(Reluctance::NothingShown) if rule.is_some() => reduce(class.as_ref(), false),
        shrunk => shrunk,
    };
    if matches!(shrunk, Err(Reluctance::OnlyAsText)) {
        found.only_as_written = true;
        match Program::parse(&original).ok() {
            Some(printed) => found.finding.neighbour = Some(printed.text().to_owned()),
            // A program that we cannot parse is not reprinted, so it is unknown whether it conforms then. Only its
            // characters can be removed.
            None => shrunk = reduce(class.as_ref(), true),
        }
    }
    match shrunk {
        Ok(shrunk) => {
            let program = shrunk.reduced.program;
            found.finding.reduced = Some(Reduced {
                answers: answers(tested, program.text(), None)?,
                program: program.text().to_owned(),
                tokens: program.size().tokens as u64,
            });
            Ok(shrunk.reduced.asked)
        }
        Err(Reluctance::Failed(error)) => Err(error.into()),
        Err(Reluctance::OnlyAsText) => Ok(2),
        Err(Reluctance::NotReproducible) => {
            let Again { came, shown, .. } =
                shown_again(tested, &found.finding, &found.finding.program, 2 * REPEATED)?;
            if came < shown {
                found.changes_its_answer(came, shown);
            }
            Ok(shown.into())
        }
        // A finding that cannot be reduced is reported as it is.
        Err(_) => Ok(0),
    }
}

/// The number of neighbouring programs to run for each feature of a minimized reproducer.
const NEIGHBOURS: usize = 3;
/// The same for the rule of a finding.
const NEIGHBOURS_OF_RULE: usize = 12;

/// Returns the wrong rule that is the hypothesis for a finding.
fn rule_of(finding: &Finding) -> Option<&'static str> {
    finding.kind.rule().and_then(id_of)
}

fn form_of(found: &Found) -> Form {
    let example = found.finding.example();
    Form::of(example.program, example.variable)
}

/// Joins the findings of each class that the budget did not suffice for, if there are several. Most have the same causes
/// as reduced ones.
fn join_left(causes: &mut Vec<(Found, Form)>) {
    let is_left = |found: &Found| found.finding.reduced.is_none() && !found.only_as_written;
    let mut left: BTreeMap<Class, (Found, usize)> = BTreeMap::new();
    for (found, _) in causes.extract_if(.., |(found, _)| is_left(found)) {
        match left.get_mut(&found.finding.class) {
            Some((first, others)) => {
                first.join(found, "neither was reduced: the budget of reductions was used up");
                *others += 1;
            }
            None => drop(left.insert(found.finding.class, (found, 0))),
        }
    }
    for (mut found, others) in left.into_values() {
        if others > 0 {
            found.finding.kind = Kind::Unexplained;
            found.finding.id = format!("{}-not-reduced", found.finding.class);
            found.finding.title += &format!(", as {others} others that were not reduced");
        }
        causes.push((found, Form::default()));
    }
}

const COMPANY: &str = "it shows only beside other declarations, and most of those show this cause";

/// Joins findings that show only beside other declarations with the most frequent cause: one of those declarations has it
/// and affects its neighbours.
fn join_company(causes: &mut [(Found, Form)], rest: &mut Vec<Found>) {
    rest.retain(|found| {
        let is_cause = |cause: &&mut (Found, Form)| {
            found.is_of_company()
                && cause.0.finding.example().observed.outcome == found.finding.observed.outcome
                && cause.0.finding.subjects.contains(&found.finding.subjects[0])
        };
        let cause = causes.iter_mut().filter(is_cause).max_by_key(|(cause, _)| cause.finding.count);
        cause.map(|(cause, _)| cause.join(found.clone(), COMPANY)).is_none()
    });
}

/// Returns true if a program with the features `form` most likely shows the cause with the features `cause`. If the
/// plainest program deviates, all programs do.
fn shows(cause: &Form, form: &Form) -> bool {
    cause.is_plain() || cause == form || cause.is_within(form)
}

/// Returns true if two minimized reproducers contain one number that is wrong in the same bits. In that case the number
/// is the cause, not its spelling. If any number would do, the reproducer contains 0 or 1.
fn has_same_effect(one: &Found, other: &Found) -> bool {
    let effect = wrong_bits(&one.finding);
    effect.is_some() && effect == wrong_bits(&other.finding)
}

/// Returns true if two minimized reproducers get the same part of an address wrong.
fn has_same_wrong_field(one: &Found, other: &Found) -> bool {
    let field = wrong_field(&one.finding);
    field.is_some() && field == wrong_field(&other.finding)
}

fn wrong_field(finding: &Finding) -> Option<&'static str> {
    let answers = finding.reduced.as_ref()?.answers.as_ref()?;
    let name = answers.variable.as_deref()?;
    let expected = answers.expected.variable(name)?.addresses.as_ref()?;
    let seen = answers.observed.variables.get(name)?.addresses.as_ref()?;
    if expected.len() != seen.len() {
        return Some("count");
    }
    let (expected, seen) = expected.iter().zip(seen).find(|(expected, seen)| expected != seen)?;
    let fields = [
        ("symbol", expected.symbol != seen.symbol),
        ("addend", expected.addend != seen.addend),
        ("generic", expected.generic != seen.generic),
        ("byte", expected.byte != seen.byte),
    ];
    fields.into_iter().find(|(_, differs)| *differs).map(|(field, _)| field)
}

/// Returns the variable that deviates in the minimized reproducer, with the bytes that it should hold.
fn expected_bytes(finding: &Finding) -> Option<(String, Vec<u8>)> {
    let answers = finding.reduced.as_ref()?.answers.as_ref()?;
    let name = answers.variable.clone()?;
    let bytes = answers.expected.variable(&name)?.bytes.clone()?;
    Some((name, bytes))
}

fn wrong_bits(finding: &Finding) -> Option<Vec<u8>> {
    let (name, expected) = expected_bytes(finding)?;
    let seen = finding.example().observed.variables.get(name.as_str())?.bytes.as_ref()?;
    let (first, rest) = expected.split_first()?;
    let is_any = *first < 2 && rest.iter().all(|byte| *byte == 0);
    let is_one = expected.len() == seen.len() && expected.len() <= 8;
    (is_one && !is_any).then(|| expected.iter().zip(seen).map(|(a, b)| a ^ b).collect())
}

/// Returns the expected and observed results of a program that shows a deviation. Returns `None` if it shows none, or not
/// the known deviation in question.
fn answers(tested: &Tested, program: &str, known: Option<&str>) -> Result<Option<Answers>, Failure> {
    let Ok(module) = parse(program) else { return Ok(None) };
    if !tested.takes_version_of(&module) {
        return Ok(None);
    }
    let parts = match judge(&*tested.subject, &module, program) {
        Ok(verdicts) => verdicts.parts(),
        Err(error) if error.is_cancelled() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_interpreted = !parts.iter().any(|part| matches!(part.verdict, Verdict::Deviates(_)));
    let shown = parts.into_iter().find_map(|part| match part.verdict {
        Verdict::Deviates(difference) => {
            let explains = |id| difference.explanation.as_ref().is_some_and(|e| e.known.contains(&id));
            known.is_none_or(explains).then_some(difference)
        }
        // A difference that an interpretation explains, although other verdicts exclude it.
        Verdict::Reads(difference) if is_interpreted && known.is_none() => Some(difference),
        _ => None,
    });
    Ok(shown.map(|difference| Answers {
        variable: difference.variable,
        expected: difference.expected,
        observed: difference.observed,
    }))
}

#[cfg(test)]
mod tests;
