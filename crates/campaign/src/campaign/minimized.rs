//! Minimized reproducers of new findings.

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

/// The most programs that the subject is asked about for one of them. A limit in time would make reports depend on the
/// machine.
const MOST_OF_ONE: u64 = 1_000;
/// The same for all of a campaign.
const MOST: u64 = 6_000;

/// Shows known findings by the minimized reproducers that the list has of them.
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

/// Makes one finding of all new ones with one cause: each is reduced, up to a number of programs (and to a time where the
/// user gave one), unless it has all that the smallest program of another has; and smallest programs are compared.
pub(super) fn join_new(campaign: &Campaign<'_>, findings: &mut Vec<Found>) -> Result<(), Failure> {
    let mut left_to_reduce = LeftToReduce::of(campaign);
    if left_to_reduce.is_over() {
        return Ok(());
    }
    let is_one = |found: &Found| found.is_new() && !found.is_inconsistent();
    let (mut new, mut rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(is_one);
    // What is put down to a rule has most of what it explains already; of the others short ones have least by chance.
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

/// The programs and the time that are left for reductions.
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

/// Reduces a finding, as far as the budget goes, and returns what its program has that its cause needs. A rule that does not predict what a
/// neighbour shows is taken from the finding.
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
        // The rule is not the cause, so it is not to be kept either.
        rule = None;
        found.put_down_to_no_rule();
    }
}

/// Names causes without a rule by what their reduced programs have. No two have one name.
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

/// Takes causes out, without their rules, whose rule is not the cause of more than it is: of programs that have all that shows
/// them, more deviate as the rule does not predict.
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
        // It was reduced to what the rule predicts.
        found.finding.reduced = None;
        found.put_down_to_no_rule();
    }
    refuted
}

/// An interpretation that seems to be followed here and not there follows from a cause that does the same to its program: what
/// is refused here may be refused for another reason than the interpretation that would refuse it. Or it shows only beside
/// others, or only as it is written, as a cause does.
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

/// Whether the rule that a cause is put down to, where it is to one, predicts another finding.
fn may_be_of_rule(campaign: &Campaign<'_>, cause: &Found, found: &Found) -> bool {
    let Some(rule) = rule_of(&cause.finding) else { return true };
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return true };
    let example = found.finding.example();
    predicts(&[rule], Maker::of(tested.subject.description()), example.program, example.observed)
}

/// Why a finding of a form most likely has this cause: its class is the same, and its program has all that the cause needs, or its
/// reduced program is wrong in the same way. `None` where it has not.
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

/// The first of these causes that a finding has, by place, and why.
fn cause_of(
    campaign: &Campaign<'_>,
    causes: &[(Found, Form)],
    found: &Found,
    form: &Form,
) -> Option<(usize, &'static str)> {
    let mut all = causes.iter().enumerate();
    all.find_map(|(at, (cause, own))| Some((at, same_cause(campaign, cause, own, found, form)?)))
}

/// Adds a cause, or joins it with those that its form shows to be the same.
fn join_same(campaign: &Campaign<'_>, causes: &mut Vec<(Found, Form)>, mut found: Found, form: Form) {
    if let Some((at, because)) = cause_of(campaign, causes, &found, &form) {
        causes[at].0.join(found, because);
        return;
    }
    // What was taken for a cause holds more than it needs, where this one shows with less.
    causes.retain_mut(|(cause, own)| {
        let same = same_cause(campaign, &found, &form, cause, own);
        if let Some(because) = same {
            found.join(std::mem::take(cause), because);
        }
        same.is_none()
    });
    causes.push((found, form));
}

/// What the smallest program of a finding has that its cause needs: something that is not needed is there only because
/// nothing valid is without it, as the type of a float. Another word in its place shows that.
///
/// Also whether a neighbour deviates of which the rule that the finding is put down to does not predict it.
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
    // What a neighbour shows of the same class; `None` where it conforms or cannot be told.
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

/// Reduces a new finding. Returns how many programs the subject was asked about.
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
    // What triage put it down to is kept. The program alone may not show that, where only many together did. What is put
    // down to nothing keeps its class, whatever rules happen to predict it.
    let class = Some(match found.follows {
        // An answer explains it, which others rule out.
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
            // What is not understood is not printed anew, and so not known to conform. Its characters are what there is to
            // leave out.
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
        // What cannot be made smaller is reported as it is.
        Err(_) => Ok(0),
    }
}

/// How many neighbours of a smallest program are asked about for each thing that it has.
const NEIGHBOURS: usize = 3;
/// The same for a rule that it is put down to.
const NEIGHBOURS_OF_RULE: usize = 12;

/// The rule that a finding is put down to.
fn rule_of(finding: &Finding) -> Option<&'static str> {
    finding.kind.rule().and_then(id_of)
}

fn form_of(found: &Found) -> Form {
    let example = found.finding.example();
    Form::of(example.program, example.variable)
}

/// Makes one finding of those of a class that the budget was not enough for, where there are several: mostly more of what was
/// reduced.
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

/// What is wrong only beside other declarations follows from the cause that most others show: one of them has it, and spoils its
/// neighbours.
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

/// Whether a program of one form shows most likely the cause of another. Where the plainest program deviates, all do.
fn shows(cause: &Form, form: &Form) -> bool {
    cause.is_plain() || cause == form || cause.is_within(form)
}

/// Whether the smallest programs of two findings hold one number that is wrong in the same bits: it is the number that matters,
/// and not how it is written. A program for which any number would do holds 0 or 1.
fn has_same_effect(one: &Found, other: &Found) -> bool {
    let effect = wrong_bits(&one.finding);
    effect.is_some() && effect == wrong_bits(&other.finding)
}

/// Whether in the smallest programs of two findings the same is wrong of an address.
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

/// The variable that shows it in the smallest program, and what it should hold.
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

/// What holds of a program that shows a deviation, and what the subject does with it. `None` where it shows none, or
/// not the known one that is asked for.
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
        // What an answer explains that others rule out.
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
