//! Repeats the examples of findings, each alone.
//!
//! An example was judged among thousands of other cases, and the subject's result carries traces of them: the
//! placement of variables, or the diagnostics that followed. Which cases were together depends on the number
//! of threads. Reports must show what the command that reproduces the finding shows.

use std::cmp::Ordering;

use ptxsmith_diff::{Class, Difference, NotCompared, PartVerdict, Verdict};
use ptxsmith_model::{Finding, FindingKind};
use ptxsmith_subject::{Observation, Outcome, Variable};
use ptxsmith_syntax::{Expr, Initializer, InitializerList, Item};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::{FindingName, PendingFinding, quote};
use crate::pool;
use crate::subjects::TestSubject;

/// The most findings to repeat. A subject that is always wrong has a finding for each case.
const MOST: usize = 1_000;
/// The number of times to repeat a new finding.
pub(super) const REPEATED: u32 = 5;

/// The results of a repeated example.
pub(super) struct RepeatedRuns {
    /// The observation that shows the same deviation.
    pub same: Option<Observation>,
    /// The number of runs that reproduced the deviation.
    pub reproduced: u32,
    /// The number of runs with a result.
    pub runs: u32,
}

/// Repeats generated examples alone, new ones [`REPEATED`] times and listed ones once, and reports what they
/// show alone. A new finding that does not show in every run becomes inconsistent; all of these are joined.
/// Those that never show alone are joined apart, if some findings need other declarations beside them. Stops
/// at Ctrl-C.
pub(super) fn observe_again(
    campaign: &Campaign<'_>,
    findings: &mut Vec<PendingFinding>,
) -> Result<(), Failure> {
    let some_need_company = findings.iter().any(PendingFinding::needs_neighbours);
    show_in_arrays(campaign, findings)?;
    let mut examples: Vec<(usize, &TestSubject)> = Vec::new();
    for (index, found) in findings.iter().enumerate().filter(|(_, found)| is_repeatable(found)) {
        examples.extend(campaign.tested(&found.finding.subjects[0]).map(|tested| (index, tested)));
    }
    examples.truncate(MOST);
    let repeated = pool::map(campaign.session, &examples, |&(index, tested)| {
        let found = &findings[index];
        // Listed deviations are known to reproduce.
        let times = if found.is_new() { REPEATED } else { 1 };
        run_again(tested, &found.finding, &found.finding.program, times)
    })?;
    for ((index, _), result) in examples.into_iter().zip(repeated) {
        let Some(RepeatedRuns { same, reproduced, runs }) = result else { continue };
        let found = &mut findings[index];
        if reproduced < runs && found.is_new() {
            found.make_inconsistent(reproduced, runs);
            // In a module with very many cases, only some are repeated with the same neighbours.
            if reproduced == 0 && some_need_company {
                found.finding.expected.company = Some(true);
            }
        } else if let Some(same) = same {
            found.finding.observed = same;
        }
        // The finding was not repeated, or the listed deviation shows only beside other declarations.
    }
    join_inconsistent(findings);
    Ok(())
}

/// Returns true if the example of a finding is to be repeated alone: it is generated, and its deviation
/// should reproduce.
fn is_repeatable(found: &PendingFinding) -> bool {
    let PendingFinding { finding, origin, .. } = found;
    // Do not repeat kernel results. A layout finding is about placement itself, and results that vary for a
    // reason other than the run are not about a single program.
    let by_chance = finding.class == Class::WrongLayout || found.is_inconsistent() && !found.is_about_runs();
    origin.is_none() && !by_chance && finding.observed.kernels.is_empty()
}

/// Shows expressions in an array of their own if they deviate as an array element but conform alone. An
/// expression is judged as one element of a long array; a short one is often enough, and then the finding is
/// like any other.
fn show_in_arrays(campaign: &Campaign<'_>, findings: &mut [PendingFinding]) -> Result<(), Failure> {
    let varying = findings
        .iter_mut()
        .filter(|found| found.is_about_runs() && found.finding.observed.outcome != Outcome::TimedOut);
    for found in varying.take(MOST_IN_ARRAYS) {
        let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { continue };
        for text in LENGTHS.iter().filter_map(|length| in_array(&found.finding.program, *length)) {
            let module = ptxsmith_syntax::parse(&text).unwrap_or_default();
            let parts = judge(&*tested.subject, &tested.rules, &module, &text).map_err(of_subject)?.parts();
            let deviation = parts.into_iter().find_map(|part| match part.verdict {
                Verdict::Deviates(difference) if difference.explanation.is_none() => {
                    Some((difference, part.trace.clauses))
                }
                _ => None,
            });
            if let Some((difference, clauses)) = deviation {
                let name = FindingName::unexplained(&difference, clauses);
                let count = found.finding.count;
                let subjects = std::mem::take(&mut found.finding.subjects);
                *found = PendingFinding::new(name, &difference, text, found.trial, found.order().0);
                found.finding.count = count;
                found.finding.subjects = subjects;
                break;
            }
        }
    }
    Ok(())
}

/// Joins all programs with results that do not reproduce alone into one finding, because their contents are
/// not the cause. Joins programs that always deviate beside the same other declarations into another.
pub(super) fn join_inconsistent(findings: &mut Vec<PendingFinding>) {
    let (joined, rest): (Vec<PendingFinding>, Vec<PendingFinding>) =
        findings.drain(..).partition(PendingFinding::is_about_runs);
    *findings = rest;
    let (mut of_company, mut of_runs): (Vec<PendingFinding>, Vec<PendingFinding>) =
        joined.into_iter().partition(PendingFinding::needs_neighbours);
    // If results vary for programs alone, they also vary beside others, and some reproduce there by chance.
    if of_runs.iter().any(|found| found.reproduced > 0) {
        for mut found in of_company.drain(..) {
            found.finding.expected.company = Some(false);
            of_runs.push(found);
        }
    }
    // Count the original deviation of each, too.
    let wrong: u32 = of_runs.iter().map(|found| 1 + found.reproduced).sum();
    let runs: u32 = of_runs.iter().map(|found| 1 + found.runs).sum();
    let changing =
        format!("answers change from run to run: {wrong} of {runs} to the same programs were wrong");
    let in_company =
        "the answer is wrong beside other declarations of the module, and right alone".to_owned();
    for (joined, id, title, because) in [
        (of_runs, Class::Inconsistent.name().to_owned(), changing, "its answer did not come again"),
        (
            of_company,
            format!("{}-company", Class::Inconsistent.name()),
            in_company,
            "it, too, is wrong beside other declarations and right alone",
        ),
    ] {
        let Some(mut found) = joined_in_one(joined, because) else { continue };
        found = found.named(FindingName { id, kind: FindingKind::Runs, title, clauses: Vec::new() });
        if !found.needs_neighbours() {
            found.reproduced = wrong.saturating_sub(1);
            found.runs = runs.saturating_sub(1);
        }
        findings.insert(0, found);
    }
}

/// Adds the program text that diagnostics quote to the titles of rejections.
pub(super) fn quote_examples(findings: &mut [PendingFinding]) {
    for PendingFinding { finding, .. } in findings {
        let observed = finding.example().observed.clone();
        quote(&mut finding.title, &observed);
    }
}

/// Returns the shortest of some findings, with the sum of their counts.
fn joined_in_one(mut joined: Vec<PendingFinding>, because: &str) -> Option<PendingFinding> {
    joined.sort_by(|a, b| if a.is_shorter_than(b) { Ordering::Less } else { Ordering::Greater });
    joined.into_iter().reduce(|mut sum, found| {
        sum.join(found, because);
        sum
    })
}

/// The most findings to show in arrays, and the lengths of these arrays.
const MOST_IN_ARRAYS: usize = 50;
const LENGTHS: [usize; 3] = [1, 2, 64];

/// Returns a program with one initialized scalar as a program with an array of this scalar.
fn in_array(program: &str, length: usize) -> Option<String> {
    let mut module = ptxsmith_syntax::parse(program).ok()?;
    let mut declarations = module.items.iter_mut().filter_map(|item| match item {
        Item::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let (Some(declaration), None) = (declarations.next(), declarations.next()) else { return None };
    let [declarator] = &mut declaration.declarators[..] else { return None };
    let value = declarator.initializer.take()?;
    if !declarator.dimensions.is_empty() || !matches!(value, Initializer::Value(_)) {
        return None;
    }
    declarator.dimensions = vec![Some(Expr::number(length.to_string()))];
    let list = InitializerList { items: vec![value; length], ..InitializerList::default() };
    declarator.initializer = Some(Initializer::List(list));
    Some(ptxsmith_syntax::print(&module))
}

/// Runs the program of a finding alone several times.
pub(super) fn run_again(
    tested: &TestSubject,
    finding: &Finding,
    program: &str,
    times: u32,
) -> Result<RepeatedRuns, Failure> {
    let module = ptxsmith_syntax::parse(program).unwrap_or_default();
    let mut results = RepeatedRuns { same: None, reproduced: 0, runs: 0 };
    for _ in 0..times {
        let parts = judge(&*tested.subject, &tested.rules, &module, program).map_err(of_subject)?.parts();
        // When shards are merged, the subject may be missing on this machine.
        if parts.iter().any(|part| part.verdict == Verdict::NotCompared(NotCompared::Unavailable)) {
            break;
        }
        // A single timeout means nothing.
        if finding.class != Class::Hang && parts.iter().any(|part| has_class(part, Class::Hang)) {
            continue;
        }
        // An invalid program is compared only together with its valid counterpart.
        if parts.iter().all(|part| matches!(part.verdict, Verdict::NotCompared(_))) {
            continue;
        }
        results.runs += 1;
        // For a program alone, an interpretation may explain the same result.
        let same = parts.into_iter().find_map(|part| match part.verdict {
            Verdict::Deviates(difference) | Verdict::Reads(difference) => {
                is_same_as(&difference, finding).then_some(difference.observed)
            }
            _ => None,
        });
        results.reproduced += u32::from(same.is_some());
        results.same = results.same.or(same);
    }
    Ok(results)
}

fn has_class(part: &PartVerdict, class: Class) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if difference.class == class)
}

/// Returns true if a difference is that of a finding. Ignores the placement of variables, which depends on
/// the other declarations.
fn is_same_as(alone: &Difference, finding: &Finding) -> bool {
    let observed = &alone.observed;
    let before = &finding.observed;
    let is_class =
        alone.class == finding.class || finding.class == Class::Inconsistent || alone.explanation.is_some();
    is_class
        && (observed.outcome, observed.signal) == (before.outcome, before.signal)
        && variable_of(observed, finding) == variable_of(before, finding)
}

/// Returns an observation of the variable of a finding, without its placement.
fn variable_of(observation: &Observation, finding: &Finding) -> Option<Variable> {
    let Variable { space, size, bytes, addresses, .. } =
        observation.variables.get(finding.variable.as_deref()?)?.clone();
    Some(Variable { space, size, bytes, addresses, ..Variable::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_model::{Expected, Status};
    use ptxsmith_subject::Variable;

    #[test]
    fn a_scalar_with_a_value_stands_in_an_array_and_nothing_else_does() {
        let header = ".version 7.8\n.target sm_80\n";
        let array = in_array(&format!("{header}.const .s8 x = 1 + 2;\n"), 2).unwrap();
        assert!(array.ends_with(".const .s8 x[2] = {1 + 2, 1 + 2};\n"), "{array}");
        for other in [
            ".global .s8 x;",
            ".global .s8 x[1] = {1};",
            ".global .s8 x = 1, y = 2;",
            ".global .s8 x = 1; .global .s8 y;",
        ] {
            assert_eq!(in_array(&format!("{header}{other}\n"), 2), None, "{other}");
        }
    }

    #[test]
    fn another_placement_is_the_same_deviation_and_other_bytes_are_not() {
        let observed = |align, byte| {
            let mut observation = Observation::new(Outcome::Accepted);
            let variable = Variable { align: Some(align), bytes: Some(vec![byte]), ..Variable::default() };
            observation.variables.insert("x".into(), variable);
            observation
        };
        let is_same = |class, seen, before| {
            let variable = Some("x".to_owned());
            let alone = Difference { variable, ..Difference::new(class, Expected::default(), seen) };
            let finding = Finding {
                class: Class::WrongValue,
                variable: Some("x".to_owned()),
                observed: before,
                ..Finding::default()
            };
            is_same_as(&alone, &finding)
        };
        let wrong = Class::WrongValue;
        assert!(is_same(wrong, observed(4, 1), observed(256, 1)));
        assert!(!is_same(wrong, observed(4, 1), observed(4, 2)));
        assert!(!is_same(Class::Crash, Observation::new(Outcome::Crashed), observed(4, 1)));
        assert!(!is_same(Class::WrongLayout, observed(4, 1), observed(4, 1)));
    }

    use std::sync::atomic::{AtomicU64, Ordering as Order};

    use ptxsmith_testing::right;
    use ptxsmith_testing::wrong::follows;

    use crate::campaign::fake::{campaign, found, program, seen, session, tested};
    use ptxsmith_subject::Request;

    const OCTAL: &str = ".global .s32 a = 010;";

    /// Returns the finding of an octal number evaluated as a decimal one.
    fn octal(id: &str) -> PendingFinding {
        found(id, Class::WrongValue, OCTAL, Some("a"), seen(follows(&["octal-as-decimal"]), OCTAL))
    }

    /// Returns a finding whose result is wrong only beside other declarations.
    fn of_company(declarations: &str, observed: Observation) -> PendingFinding {
        let mut found = found("in-company", Class::Inconsistent, declarations, Some("a"), observed);
        found.finding.expected.company = Some(true);
        found
    }

    /// Repeats findings on a subject with this behaviour and returns the result.
    fn shown(
        observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
        mut findings: Vec<PendingFinding>,
    ) -> Vec<PendingFinding> {
        let session = session();
        observe_again(&campaign(&session, vec![tested("a", observe)]), &mut findings).unwrap();
        findings
    }

    #[test]
    fn what_is_reported_is_what_an_example_shows_alone() {
        let mut beside = octal("x");
        let alone = beside.finding.observed.clone();
        beside.finding.observed.variables.get_mut("a").unwrap().align = Some(256);
        let [shown] = &shown(follows(&["octal-as-decimal"]), vec![beside])[..] else { panic!() };
        assert_eq!(shown.finding.observed, alone);
        assert_eq!((&*shown.finding.id, shown.finding.class.name()), ("x", "wrong-value"));
    }

    #[test]
    fn new_answers_that_do_not_come_again_are_one_finding_and_what_is_listed_stays() {
        let mut listed = octal("listed");
        listed.finding.status = Status::Known;
        let mut mixed = found("mixed-x", Class::Inconsistent, OCTAL, Some("a"), seen(right, OCTAL));
        mixed.finding.kind = FindingKind::Interpretation("x".to_owned());
        let findings = shown(right, vec![octal("x"), listed.clone(), mixed.clone(), octal("y")]);
        let [joined, rest @ ..] = &findings[..] else { panic!() };
        assert_eq!(rest, [listed, mixed]);
        let finding = &joined.finding;
        assert_eq!((&*finding.id, finding.class.name(), finding.count), ("inconsistent", "inconsistent", 2));
        // Each deviated when it was found and conformed when repeated.
        let shown = 2 * (1 + REPEATED);
        let title = format!("answers change from run to run: 2 of {shown} to the same programs were wrong");
        assert_eq!(finding.title, title);
        assert_eq!((joined.reproduced, joined.runs), (1, shown - 1));
        assert_eq!((finding.status, finding.clauses.len()), (Status::New, 0));
    }

    #[test]
    fn an_answer_that_is_late_for_once_says_nothing() {
        let calls = AtomicU64::new(0);
        let does = follows(&["octal-as-decimal"]);
        let late_once = move |request: &Request<'_>| match calls.fetch_add(1, Order::Relaxed) {
            0 => Observation::new(Outcome::TimedOut),
            _ => does(request),
        };
        let [shown] = &shown(late_once, vec![octal("x")])[..] else { panic!() };
        assert_eq!(shown.finding.class, Class::WrongValue);
    }

    #[test]
    fn what_is_right_alone_is_of_company_where_others_are() {
        let findings = shown(right, vec![of_company(OCTAL, seen(right, OCTAL)), octal("x")]);
        let [joined] = &findings[..] else { panic!("{findings:#?}") };
        assert_eq!((&*joined.finding.id, joined.finding.count), ("inconsistent-company", 2));
        assert_eq!(
            joined.finding.title,
            "the answer is wrong beside other declarations of the module, and right alone"
        );
        assert!(joined.needs_neighbours());
    }

    #[test]
    fn where_answers_change_alone_they_do_beside_others_too() {
        let calls = AtomicU64::new(0);
        let does = follows(&["octal-as-decimal"]);
        // Findings that need other declarations run first: at most one program for each array, and the
        // program alone.
        let changes = move |request: &Request<'_>| match request.ptx.contains(" b ") {
            true if calls.fetch_add(1, Order::Relaxed) < 2 => does(request),
            _ => right(request),
        };
        let declaration = ".global .s32 b = 010;";
        let of_runs = found(
            "x",
            Class::WrongValue,
            declaration,
            Some("b"),
            seen(follows(&["octal-as-decimal"]), declaration),
        );
        let findings = shown(changes, vec![of_company(OCTAL, seen(right, OCTAL)), of_runs]);
        let [joined] = &findings[..] else { panic!("{findings:#?}") };
        assert_eq!((&*joined.finding.id, joined.finding.count), ("inconsistent", 2));
        assert!(joined.reproduced > 1 && joined.reproduced < joined.runs);
        assert!(!joined.needs_neighbours());
    }

    #[test]
    fn what_an_array_shows_alone_is_no_matter_of_company() {
        let wrong_in_arrays = |request: &Request<'_>| {
            let mut seen = right(request);
            if let Some(a) = seen.variables.get_mut("a")
                && a.size > Some(4)
            {
                a.bytes.iter_mut().flatten().for_each(|byte| *byte ^= 1);
            }
            seen
        };
        let declaration = ".global .s32 a = 5;";
        let own = || of_company(declaration, seen(right, declaration));
        let findings = shown(wrong_in_arrays, vec![own()]);
        let [array] = &findings[..] else { panic!("{findings:#?}") };
        assert_eq!(array.finding.class, Class::WrongValue);
        assert_eq!(array.finding.program, program(".global .s32 a[2] = {5, 5};"));
        assert_eq!(array.finding.subjects, ["a"]);
        // A subject that never answers uses up the whole time limit, each time.
        let mut late = own();
        late.finding.observed = Observation::new(Outcome::TimedOut);
        let findings = shown(wrong_in_arrays, vec![late]);
        assert_eq!(findings[0].finding.program, program(declaration));
    }
}
