//! Minimizes the reproducers of new findings and joins findings with the same cause.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::{Class, Difference, Implementation, Verdict, id_of, predicts};
use ptxsmith_model::{Answers, Finding, FindingKind, Reduced};
use ptxsmith_oracle::{Interpretation, Rules, Validity, predict};
use ptxsmith_reduce::Program;
use ptxsmith_syntax::{Module, parse};

use super::Campaign;
use super::again::{REPEATED, RepeatedRuns, run_again};
use super::file::clauses_of;
use crate::failure::{Failure, of_subject};
use crate::features::{ProgramFeatures, neighbours, with_number};
use crate::judges::judge;
use crate::ledger::PendingFinding;
use crate::pool;
use crate::reducing::{ExpectedDeviation, ReductionBudget, ReductionError, ReductionGoal, reduce_finding};
use crate::subjects::TestSubject;

/// The most programs to run for one reproducer, and for all. A time limit would make reports depend on the machine.
const MOST_OF_ONE: u64 = 1_000;
const MOST: u64 = 6_000;

/// A new finding with the features that its cause needs. No other finding has the same cause.
type DistinctCause = (PendingFinding, ProgramFeatures);

/// Replaces the examples of known findings by the minimized reproducers in the list of known deviations.
pub(super) fn show_known_minimized(
    campaign: &Campaign<'_>,
    findings: &mut [PendingFinding],
) -> Result<(), Failure> {
    let mut listed: Vec<(usize, &TestSubject, &KnownDeviation)> = Vec::new();
    for (index, found) in findings.iter().enumerate() {
        let known = KNOWN.iter().find(|known| FindingKind::Known(known.id.to_owned()) == found.finding.kind);
        if let (Some(known), Some(tested)) = (known, campaign.tested(&found.finding.subjects[0])) {
            listed.push((index, tested, known));
        }
    }
    let answered = pool::map(campaign.session, &listed, |(_, tested, known)| {
        answers(tested, known.example, Some(known.id))
    })?;
    for ((index, _, known), answers) in listed.iter().zip(answered) {
        let Some(answers) = answers.flatten() else { continue };
        let tokens = Program::parse(known.example).map_or(0, |program| program.size().tokens as u64);
        let program = known.example.to_owned();
        findings[*index].finding.reduced = Some(Reduced { program, tokens, answers: Some(answers) });
    }
    Ok(())
}

/// Joins new findings that have the same cause. Reduces each one within a limit of programs (and of time, if
/// the user set one), unless it has all features of another's reproducer, and compares the reproducers.
pub(super) fn join_new(campaign: &Campaign<'_>, findings: &mut Vec<PendingFinding>) -> Result<(), Failure> {
    let mut quota = ReductionQuota::new(campaign);
    if quota.is_over() {
        return Ok(());
    }
    let (mut new, mut rest): (Vec<PendingFinding>, Vec<PendingFinding>) =
        findings.drain(..).partition(|found| found.is_new() && !found.is_inconsistent());
    // Handle findings with a known rule first: they absorb most duplicates. Then the shortest first, because
    // short programs contain the least noise.
    new.sort_by_key(|found| (ExpectedDeviation::from_kind(&found.finding.kind).is_none(), found.order()));
    let mut causes: Vec<DistinctCause> = Vec::new();
    let mut pending = VecDeque::from(new);
    let mut are_named = true;
    while let Some(mut found) = pending.pop_front() {
        let is_named = ExpectedDeviation::from_kind(&found.finding.kind).is_some();
        if are_named && !is_named {
            are_named = false;
            pending.push_front(found);
            let refuted = remove_refuted_rules(campaign, &mut causes, pending.make_contiguous());
            pending.extend(refuted);
            pending.make_contiguous().sort_by_key(PendingFinding::order);
            continue;
        }
        let features = features_of(&found);
        if !is_named && let Some((index, because)) = cause_of(campaign, &causes, &found, &features) {
            causes[index].0.join(found, because);
            continue;
        }
        let features = reduced_features(campaign, &mut found, &mut quota)?;
        if found.is_inconsistent() {
            rest.push(found);
        } else {
            join_same(campaign, &mut causes, found, features);
        }
    }
    join_mixed(campaign, &mut causes, &mut rest)?;
    join_neighbours(&mut causes, &mut rest);
    join_unreduced(&mut causes);
    name_causes(&mut causes);
    causes.sort_by_key(|(found, _)| Reverse(found.finding.count));
    findings.extend(causes.into_iter().map(|(found, _)| found).chain(rest));
    super::again::join_inconsistent(findings);
    Ok(())
}

/// The number of programs and the time that remain for reductions.
struct ReductionQuota {
    programs: u64,
    until: Option<Instant>,
}

impl ReductionQuota {
    fn new(campaign: &Campaign<'_>) -> ReductionQuota {
        let until = campaign.reduce_for.map(|time| Instant::now() + time);
        let until = until.into_iter().chain(campaign.session.limit.map(|limit| limit.end)).min();
        ReductionQuota { programs: MOST, until }
    }

    fn is_over(&self) -> bool {
        self.programs == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Reduces a finding within the budget and returns the features that its cause needs. Removes the rule from
/// the finding if the rule does not predict the result of a neighbouring program.
fn reduced_features(
    campaign: &Campaign<'_>,
    found: &mut PendingFinding,
    quota: &mut ReductionQuota,
) -> Result<ProgramFeatures, Failure> {
    let mut rule = ExpectedDeviation::from_kind(&found.finding.kind);
    loop {
        if !quota.is_over() && !campaign.session.cancel.is_cancelled() {
            let time = quota.until.map(|until| until.saturating_duration_since(Instant::now()));
            let programs = quota.programs.min(MOST_OF_ONE);
            let used = reduce_new(campaign, found, rule.as_ref(), time, programs)?;
            quota.programs = quota.programs.saturating_sub(used);
        } else {
            found.left_unreduced = found.finding.reduced.is_none();
        }
        if found.is_inconsistent() {
            return Ok(ProgramFeatures::default());
        }
        if found.only_as_written {
            return Ok(ProgramFeatures::as_written(&found.finding.program));
        }
        let (features, is_refuted) = essential(campaign, found)?;
        if !is_refuted {
            return Ok(features);
        }
        // The rule is not the cause, so do not preserve it either.
        rule = None;
        found.remove_rule();
    }
}

/// Names causes without a rule after the features of their reproducers. Each name is unique.
fn name_causes(causes: &mut [DistinctCause]) {
    let mut names = BTreeSet::new();
    for (found, features) in causes {
        if (found.finding.reduced.is_some() || found.only_as_written)
            && ExpectedDeviation::from_kind(&found.finding.kind).is_none()
        {
            found.name_by_features(features);
            let clauses = clauses_of(&found.finding);
            if !clauses.is_empty() {
                found.finding.clauses = clauses;
            }
        }
        while !names.insert(found.finding.id.clone()) {
            found.finding.id += "-other";
        }
    }
}

/// Removes the causes with a rule that explains too little, and returns them without the rule. A rule
/// explains too little if at least as many other programs with the same features deviate in ways that it does
/// not predict as in ways that it does.
fn remove_refuted_rules(
    campaign: &Campaign<'_>,
    causes: &mut Vec<DistinctCause>,
    others: &[PendingFinding],
) -> Vec<PendingFinding> {
    let mut refuted = Vec::new();
    for (mut found, _) in causes.extract_if(.., |cause| explains_too_little(campaign, cause, others)) {
        // The reduction preserved the prediction of the rule, so its result is of no use now.
        found.finding.reduced = None;
        found.remove_rule();
        refuted.push(found);
    }
    refuted
}

/// Returns true if the rule of a cause is to be removed; see [`remove_refuted_rules`].
fn explains_too_little(
    campaign: &Campaign<'_>,
    (cause, needed): &DistinctCause,
    others: &[PendingFinding],
) -> bool {
    let unpredicted = others.iter().filter(|found| {
        cause.finding.class == found.finding.class
            && shows(needed, &features_of(found))
            && !may_be_of_rule(campaign, cause, found)
    });
    unpredicted.map(|found| found.finding.count).sum::<u64>() >= cause.finding.count
}

/// Joins each finding about an interpretation followed only in some trials with a cause that has the same
/// effect on its program: the subject may reject a program for a reason other than the interpretation. Such a
/// finding may also show only beside other declarations, or only as written, just as the cause does.
fn join_mixed(
    campaign: &Campaign<'_>,
    causes: &mut [DistinctCause],
    rest: &mut Vec<PendingFinding>,
) -> Result<(), Failure> {
    for mixed in std::mem::take(rest) {
        let Some(tested) = campaign.tested(&mixed.finding.subjects[0]).filter(|_| mixed.is_mixed()) else {
            rest.push(mixed);
            continue;
        };
        match cause_of_mixed(tested, causes, &mixed)? {
            Some((index, because)) => causes[index].0.join(mixed, because),
            None => rest.push(mixed),
        }
    }
    Ok(())
}

/// Returns the index of the first cause with the same effect as such a finding, with the reason.
fn cause_of_mixed(
    tested: &TestSubject,
    causes: &[DistinctCause],
    mixed: &PendingFinding,
) -> Result<Option<(usize, &'static str)>, Failure> {
    let features = features_of(mixed);
    let outcome = mixed.finding.observed.outcome;
    let has_outcome = |cause: &PendingFinding| cause.finding.example().observed.outcome == outcome;
    let with_features =
        causes.iter().position(|(cause, needed)| has_outcome(cause) && shows(needed, &features));
    if let Some(index) = with_features {
        return Ok(Some((index, "its program has all that the cause needs")));
    }
    if mixed.origin.is_some() {
        return Ok(None);
    }
    let program = &mixed.finding.program;
    let printed = ptxsmith_syntax::print(&parse(program).unwrap_or_default());
    let shows_alone = run_again(tested, &mixed.finding, program, 1)?.reproduced > 0;
    let shows_printed = run_again(tested, &mixed.finding, &printed, 1)?.reproduced > 0;
    if !shows_alone {
        let index = causes.iter().position(|(cause, _)| has_outcome(cause));
        return Ok(index.map(|index| (index, "it shows only beside other declarations")));
    }
    if shows_printed {
        return Ok(None);
    }
    let index = causes.iter().position(|(cause, _)| has_outcome(cause) && cause.only_as_written);
    Ok(index.map(|index| (index, "both show only as the program is written")))
}

/// Returns true if the cause has no rule, or if its rule predicts the other finding.
fn may_be_of_rule(campaign: &Campaign<'_>, cause: &PendingFinding, found: &PendingFinding) -> bool {
    let Some(rule) = rule_of(&cause.finding) else { return true };
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return true };
    let example = found.finding.example();
    predicts(
        &[rule],
        Implementation::from_description(tested.subject.description()),
        example.program,
        example.observed,
    )
}

/// Returns the reason why a finding most likely has this cause: its class is the same, and its program has
/// all features that the cause needs, or its reproducer deviates in the same way. Otherwise returns `None`.
fn same_cause(
    campaign: &Campaign<'_>,
    cause: &PendingFinding,
    needed: &ProgramFeatures,
    found: &PendingFinding,
    features: &ProgramFeatures,
) -> Option<&'static str> {
    if cause.finding.class != found.finding.class {
        None
    } else if shows(needed, features) && may_be_of_rule(campaign, cause, found) {
        Some("its program has all that the cause needs")
    } else if has_same_effect(cause, found) {
        Some("its reduced program holds the same number, wrong in the same bits")
    } else if needed.shares_a_part(features) && has_same_wrong_field(cause, found) {
        Some("its reduced program shares a part, and the same field of an address is wrong")
    } else {
        None
    }
}

/// Returns the index of the first cause that a finding has, with the reason.
fn cause_of(
    campaign: &Campaign<'_>,
    causes: &[DistinctCause],
    found: &PendingFinding,
    features: &ProgramFeatures,
) -> Option<(usize, &'static str)> {
    causes.iter().enumerate().find_map(|(index, (cause, needed))| {
        let because = same_cause(campaign, cause, needed, found, features)?;
        Some((index, because))
    })
}

/// Adds a cause, or joins it with causes that have the same features.
fn join_same(
    campaign: &Campaign<'_>,
    causes: &mut Vec<DistinctCause>,
    mut found: PendingFinding,
    features: ProgramFeatures,
) {
    if let Some((index, because)) = cause_of(campaign, causes, &found, &features) {
        causes[index].0.join(found, because);
        return;
    }
    // An earlier cause has features that it does not need if this one shows with fewer.
    causes.retain_mut(|(cause, needed)| {
        let because = same_cause(campaign, &found, &features, cause, needed);
        if let Some(because) = because {
            found.join(std::mem::take(cause), because);
        }
        because.is_none()
    });
    causes.push((found, features));
}

/// Returns the features of a minimized reproducer that its cause needs. A feature may be present only because
/// no program is valid without it, such as the type of a float. Replacing it by another word reveals that.
///
/// Also returns true if a neighbouring program deviates although the rule of the finding does not predict it.
fn essential(
    campaign: &Campaign<'_>,
    found: &mut PendingFinding,
) -> Result<(ProgramFeatures, bool), Failure> {
    let mut features = features_of(found);
    let Some(Reduced { program, answers: Some(_), .. }) = &found.finding.reduced else {
        return Ok((features, false));
    };
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return Ok((features, false)) };
    let valid = valid_neighbours(program, &found.finding, &tested.rules);
    let mut needless = Vec::new();
    for feature in features.features() {
        let without_feature =
            valid.iter().filter(|(program, _)| !ProgramFeatures::new(program, None).has(&feature));
        for neighbour in without_feature.take(NEIGHBOURS) {
            if neighbour_difference(tested, found, neighbour)?.is_some() {
                needless.push(feature.clone());
                break;
            }
        }
    }
    let mut is_refuted = false;
    if let Some(rule) = rule_of(&found.finding) {
        let maker = Implementation::from_description(tested.subject.description());
        for neighbour in valid.iter().take(NEIGHBOURS_OF_RULE) {
            if let Some(difference) = neighbour_difference(tested, found, neighbour)? {
                is_refuted |= !predicts(&[rule], maker, &neighbour.0, &difference.observed);
            }
        }
    }
    features.without(&needless);
    Ok((features, is_refuted))
}

/// Returns the valid programs that differ from a minimized reproducer in one step. The first one holds the
/// expected number, if the reproducer holds a wrong one.
fn valid_neighbours(program: &str, finding: &Finding, rules: &Rules) -> Vec<(String, Module)> {
    let number = expected_bytes(finding).filter(|(_, bytes)| bytes.len() <= 8);
    let with_expected_number = number.and_then(|(name, bytes)| {
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        with_number(program, &name, value)
    });
    let mut valid = Vec::new();
    for neighbour in with_expected_number.into_iter().chain(neighbours(program)) {
        let Ok(module) = parse(&neighbour) else { continue };
        if predict(&module, rules).validity() == Validity::Valid {
            valid.push((neighbour, module));
        }
    }
    valid
}

/// Returns the difference of the same class in a neighbouring program; `None` if it conforms or the result is
/// unknown. Records the first neighbour that conforms.
fn neighbour_difference(
    tested: &TestSubject,
    found: &mut PendingFinding,
    (program, module): &(String, Module),
) -> Result<Option<Box<Difference>>, Failure> {
    let parts = judge(&*tested.subject, &tested.rules, module, program).map_err(of_subject)?.parts();
    if parts.iter().all(|part| part.verdict == Verdict::Conforms) {
        found.finding.neighbour.get_or_insert_with(|| program.clone());
    }
    Ok(parts.into_iter().find_map(|part| match part.verdict {
        Verdict::Deviates(difference) if difference.class == found.finding.class => Some(difference),
        Verdict::Reads(difference) if found.follows.is_some() => Some(difference),
        _ => None,
    }))
}

/// Reduces a new finding. Returns the number of programs run.
fn reduce_new(
    campaign: &Campaign<'_>,
    found: &mut PendingFinding,
    rule: Option<&ExpectedDeviation>,
    time: Option<Duration>,
    programs: u64,
) -> Result<u64, Failure> {
    let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { return Ok(0) };
    let budget = ReductionBudget { time, programs: Some(programs) };
    let original = found.finding.program.clone();
    let reduce = |expected: Option<&ExpectedDeviation>, as_text: bool| {
        let wanted = ReductionGoal { expected, headed: true, ..ReductionGoal::default() };
        reduce_finding(campaign.session, tested, &original, as_text, wanted, budget, &mut |_, _| {})
    };
    // Preserve the cause that triage found, although the program alone may not show it if only many programs
    // together did. A finding without a cause keeps its class, whatever rules happen to predict it.
    let class = Some(match found.follows {
        // An interpretation explains it, although other verdicts exclude it.
        Some(Interpretation(question, answer)) => ExpectedDeviation::Reading(question, answer),
        None => ExpectedDeviation::Class(found.finding.class),
    });
    let mut shrunk = match reduce(rule.or(class.as_ref()), false) {
        Err(ReductionError::NothingShown) if rule.is_some() => reduce(class.as_ref(), false),
        shrunk => shrunk,
    };
    if matches!(shrunk, Err(ReductionError::OnlyAsText)) {
        found.only_as_written = true;
        match Program::parse(&original).ok() {
            Some(printed) => found.finding.neighbour = Some(printed.text().to_owned()),
            // A program that we cannot parse is not reprinted, so it is unknown whether it conforms then.
            // Only its characters can be removed.
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
        Err(ReductionError::Failed(error)) => Err(error.into()),
        Err(ReductionError::OnlyAsText) => Ok(2),
        Err(ReductionError::NotReproducible) => {
            let RepeatedRuns { reproduced, runs, .. } =
                run_again(tested, &found.finding, &found.finding.program, 2 * REPEATED)?;
            if reproduced < runs {
                found.make_inconsistent(reproduced, runs);
            }
            Ok(runs.into())
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

fn features_of(found: &PendingFinding) -> ProgramFeatures {
    let example = found.finding.example();
    ProgramFeatures::new(example.program, example.variable)
}

/// Joins the findings of each class that the budget did not suffice for, if there are several. Most have the
/// same causes as reduced ones. Findings that could not be reduced for another reason stay as they are.
fn join_unreduced(causes: &mut Vec<DistinctCause>) {
    let mut unreduced: BTreeMap<Class, (PendingFinding, usize)> = BTreeMap::new();
    for (found, _) in causes.extract_if(.., |(found, _)| found.left_unreduced) {
        match unreduced.get_mut(&found.finding.class) {
            Some((first, others)) => {
                first.join(found, "neither was reduced before the budget or the run ended");
                *others += 1;
            }
            None => drop(unreduced.insert(found.finding.class, (found, 0))),
        }
    }
    for (mut found, others) in unreduced.into_values() {
        if others > 0 {
            found.finding.kind = FindingKind::Unexplained;
            found.finding.id = format!("{}-not-reduced", found.finding.class);
            found.finding.title += &format!(", as {others} others that were not reduced");
        }
        causes.push((found, ProgramFeatures::default()));
    }
}

const COMPANY: &str = "it shows only beside other declarations, and most of those show this cause";

/// Joins findings that show only beside other declarations with the most frequent cause: one of those
/// declarations has it and affects its neighbours.
fn join_neighbours(causes: &mut [DistinctCause], rest: &mut Vec<PendingFinding>) {
    rest.retain(|found| {
        let is_cause = |cause: &&mut DistinctCause| {
            found.needs_neighbours()
                && cause.0.finding.example().observed.outcome == found.finding.observed.outcome
                && cause.0.finding.subjects.contains(&found.finding.subjects[0])
        };
        let cause = causes.iter_mut().filter(is_cause).max_by_key(|(cause, _)| cause.finding.count);
        cause.map(|(cause, _)| cause.join(found.clone(), COMPANY)).is_none()
    });
}

/// Returns true if a program with the features `features` most likely shows the cause with the features
/// `cause`. If the plainest program deviates, all programs do.
fn shows(cause: &ProgramFeatures, features: &ProgramFeatures) -> bool {
    cause.is_plain() || cause == features || cause.is_within(features)
}

/// Returns true if two minimized reproducers contain one number that is wrong in the same bits. In that case
/// the number is the cause, not its spelling. If any number would do, the reproducer contains 0 or 1.
fn has_same_effect(one: &PendingFinding, other: &PendingFinding) -> bool {
    let effect = wrong_bits(&one.finding);
    effect.is_some() && effect == wrong_bits(&other.finding)
}

/// Returns true if two minimized reproducers get the same part of an address wrong.
fn has_same_wrong_field(one: &PendingFinding, other: &PendingFinding) -> bool {
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

/// Returns the expected and observed results of a program that shows a deviation. Returns `None` if it shows
/// none, or not the known deviation in question.
fn answers(tested: &TestSubject, program: &str, known: Option<&str>) -> Result<Option<Answers>, Failure> {
    let Ok(module) = parse(program) else { return Ok(None) };
    if !tested.supports_version_of(&module) {
        return Ok(None);
    }
    let parts = match judge(&*tested.subject, &tested.rules, &module, program) {
        Ok(verdicts) => verdicts.parts(),
        Err(error) if error.is_cancelled() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_interpreted = !parts.iter().any(|part| matches!(part.verdict, Verdict::Deviates(_)));
    let deviation = parts.into_iter().find_map(|part| match part.verdict {
        Verdict::Deviates(difference) => {
            let explains = |id| difference.explanation.as_ref().is_some_and(|e| e.known.contains(&id));
            known.is_none_or(explains).then_some(difference)
        }
        // A difference that an interpretation explains, although other verdicts exclude it.
        Verdict::Reads(difference) if is_interpreted && known.is_none() => Some(difference),
        _ => None,
    });
    Ok(deviation.map(|difference| Answers {
        variable: difference.variable,
        expected: difference.expected,
        observed: difference.observed,
    }))
}

#[cfg(test)]
mod tests;
