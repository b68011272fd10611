//! Repeats the examples of findings, each alone.
//!
//! An example was judged among thousands of other cases, and the subject's result carries traces of them: the placement
//! of variables, or the diagnostics that followed. Which cases were together depends on the number of threads. Reports
//! must show what the command that reproduces the finding shows.

use std::cmp::Ordering;

use ptxsmith_diff::{Class, Difference, NotCompared, Part, Verdict};
use ptxsmith_model::{Finding, Kind};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Expr, Initializer, InitializerList, Item};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::{Found, Name, quote};
use crate::pool;
use crate::subjects::Tested;

/// The most findings to repeat. A subject that is always wrong has a finding for each case.
const MOST: usize = 1_000;
/// The number of times to repeat a new finding.
pub(super) const REPEATED: u32 = 5;

/// The results of a repeated example.
pub(super) struct Again {
    /// The observation that shows the same deviation.
    pub same: Option<Observation>,
    /// The number of times that it reproduced ...
    pub came: u32,
    /// ... out of this many repetitions.
    pub shown: u32,
}

/// Replaces the observations of generated examples by those of each example alone, if they show the same deviation. Joins
/// new findings that do not reproduce into one. Stops at Ctrl-C.
pub(super) fn observe_again(campaign: &Campaign<'_>, findings: &mut Vec<Found>) -> Result<(), Failure> {
    let some_need_company = findings.iter().any(Found::is_of_company);
    show_in_arrays(campaign, findings)?;
    // Do not repeat kernel results. A layout finding is about placement itself, and results that vary for a reason other
    // than the run are not about a single program.
    let generated = |found: &Found| {
        let Found { finding, origin, .. } = found;
        let by_chance =
            finding.class == Class::WrongLayout || found.is_inconsistent() && !found.is_about_runs();
        origin.is_none() && !by_chance && finding.observed.kernels.is_empty()
    };
    let examples: Vec<(usize, &Tested, &str)> = (findings.iter().enumerate())
        .filter(|(_, found)| generated(found))
        .filter_map(|(nth, found)| {
            Some((nth, campaign.tested(&found.finding.subjects[0])?, &*found.finding.program))
        })
        .take(MOST)
        .collect();
    let alone = pool::map(campaign.session, &examples, |&(nth, tested, program)| {
        // Listed deviations are known to reproduce.
        let times = if findings[nth].is_new() { REPEATED } else { 1 };
        shown_again(tested, &findings[nth].finding, program, times)
    })?;
    let of: Vec<usize> = examples.iter().map(|(nth, ..)| *nth).collect();
    for (nth, alone) in of.into_iter().zip(alone) {
        let (found, Some(Again { same, came, shown })) = (&mut findings[nth], alone) else { continue };
        if came < shown && found.is_new() {
            found.changes_its_answer(came, shown);
            // In a module with very many cases, only some are repeated with the same neighbours.
            if came == 0 && some_need_company {
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

/// Shows expressions in an array of their own if they deviate as an array element but conform alone. An expression is
/// judged as one element of a long array; a short one is often enough, and then the finding is like any other.
fn show_in_arrays(campaign: &Campaign<'_>, findings: &mut [Found]) -> Result<(), Failure> {
    let in_company =
        |found: &&mut Found| found.is_about_runs() && found.finding.observed.outcome != Outcome::TimedOut;
    let of_company: Vec<&mut Found> = findings.iter_mut().filter(in_company).take(MOST_IN_ARRAYS).collect();
    for found in of_company {
        let Some(tested) = campaign.tested(&found.finding.subjects[0]) else { continue };
        for text in LENGTHS.iter().filter_map(|length| in_array(&found.finding.program, *length)) {
            let module = ptxsmith_syntax::parse(&text).unwrap_or_default();
            let parts = judge(&*tested.subject, &module, &text).map_err(of_subject)?.parts();
            let shown = parts.into_iter().find_map(|part| match part.verdict {
                Verdict::Deviates(difference) if difference.explanation.is_none() => {
                    Some((difference, part.trace.clauses))
                }
                _ => None,
            });
            if let Some((difference, clauses)) = shown {
                let name = Name::unexplained(&difference, clauses);
                let (trial, count) = (found.trial, found.finding.count);
                let subjects = std::mem::take(&mut found.finding.subjects);
                *found = Found::new(name, &difference, text, trial, found.order().0);
                (found.finding.count, found.finding.subjects) = (count, subjects);
                break;
            }
        }
    }
    Ok(())
}

/// Joins all programs whose results do not reproduce alone into one finding, because their contents are not the cause.
/// Joins programs that always deviate beside the same other declarations into another.
pub(super) fn join_inconsistent(findings: &mut Vec<Found>) {
    let (joined, rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(Found::is_about_runs);
    *findings = rest;
    let (mut of_company, mut of_runs): (Vec<Found>, Vec<Found>) =
        joined.into_iter().partition(Found::is_of_company);
    // If results vary for programs alone, they also vary beside others, and some reproduce there by chance.
    if of_runs.iter().any(|found| found.came_again.0 > 0) {
        for mut found in of_company.drain(..) {
            found.finding.expected.company = Some(false);
            of_runs.push(found);
        }
    }
    // Count the original deviation of each, too.
    let sum = |of: fn(&Found) -> u32| of_runs.iter().map(|found| 1 + of(found)).sum::<u32>();
    let (wrong, shown) = (sum(|found| found.came_again.0), sum(|found| found.came_again.1));
    let changing =
        format!("answers change from run to run: {wrong} of {shown} to the same programs were wrong");
    let in_company =
        "the answer is wrong beside other declarations of the module, and right alone".to_owned();
    for (joined, id, title) in [
        (of_runs, Class::Inconsistent.name().to_owned(), changing),
        (of_company, format!("{}-company", Class::Inconsistent.name()), in_company),
    ] {
        let Some(mut found) = joined_in_one(joined) else { continue };
        found = found.named(Name { id, kind: Kind::Runs, title, clauses: Vec::new() });
        if !found.is_of_company() {
            found.came_again = (wrong.saturating_sub(1), shown.saturating_sub(1));
        }
        findings.insert(0, found);
    }
}

/// Adds the program text that diagnostics quote to the titles of rejections.
pub(super) fn quote_examples(findings: &mut [Found]) {
    for Found { finding, .. } in findings {
        let observed = finding.example().observed.clone();
        quote(&mut finding.title, &observed);
    }
}

/// Returns the shortest of some findings, with the sum of their counts.
fn joined_in_one(mut joined: Vec<Found>) -> Option<Found> {
    joined.sort_by(|a, b| if a.is_shorter_than(b) { Ordering::Less } else { Ordering::Greater });
    joined.into_iter().reduce(|mut all, found| {
        all.join(found, "its answer did not come again");
        all
    })
}

/// The most findings to show in arrays, and the lengths of these arrays.
const MOST_IN_ARRAYS: usize = 50;
const LENGTHS: [usize; 3] = [1, 2, 64];

/// Returns the program of one initialized scalar as an array in which each element has the same value.
fn in_array(program: &str, length: usize) -> Option<String> {
    let mut module = ptxsmith_syntax::parse(program).ok()?;
    let mut all = module.items.iter_mut().filter_map(|item| match item {
        Item::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let (Some(declaration), None) = (all.next(), all.next()) else { return None };
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
pub(super) fn shown_again(
    tested: &Tested,
    finding: &Finding,
    program: &str,
    times: u32,
) -> Result<Again, Failure> {
    let module = ptxsmith_syntax::parse(program).unwrap_or_default();
    let mut again = Again { same: None, came: 0, shown: 0 };
    for _ in 0..times {
        let parts = judge(&*tested.subject, &module, program).map_err(of_subject)?.parts();
        // When shards are merged, the subject may be missing on this machine.
        let absent = |part: &Part| part.verdict == Verdict::NotCompared(NotCompared::Unavailable);
        if parts.iter().any(absent) {
            break;
        }
        // A single timeout means nothing.
        if finding.class != Class::Hang && parts.iter().any(|part| is_of(part, Class::Hang)) {
            continue;
        }
        // An invalid program is compared only together with its valid counterpart.
        if parts.iter().all(|part| matches!(part.verdict, Verdict::NotCompared(_))) {
            continue;
        }
        again.shown += 1;
        // For a program alone, an interpretation may explain the same result.
        let shown = parts.into_iter().find_map(|part| match part.verdict {
            Verdict::Deviates(difference) | Verdict::Reads(difference) => {
                is_same_as(&difference, finding).then_some(difference.observed)
            }
            _ => None,
        });
        again.came += u32::from(shown.is_some());
        again.same = again.same.or(shown);
    }
    Ok(again)
}

fn is_of(part: &Part, class: Class) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if difference.class == class)
}

/// Returns true if a difference is the one of a finding. Ignores the placement of variables, which depends on the other
/// declarations.
fn is_same_as(alone: &Difference, finding: &Finding) -> bool {
    let shown = |observation: &Observation| {
        let variable = observation.variables.get(finding.variable.as_deref()?)?;
        Some((variable.space.clone(), variable.size, variable.bytes.clone(), variable.addresses.clone()))
    };
    let (seen, before) = (&alone.observed, &finding.observed);
    let is_class =
        alone.class == finding.class || finding.class == Class::Inconsistent || alone.explanation.is_some();
    is_class && (seen.outcome, seen.signal) == (before.outcome, before.signal) && shown(seen) == shown(before)
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
            let alone = Difference { variable, ..Difference::of(class, Expected::default(), seen) };
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
    fn octal(id: &str) -> Found {
        found(id, Class::WrongValue, OCTAL, Some("a"), seen(follows(&["octal-as-decimal"]), OCTAL))
    }

    /// Returns a finding whose result is wrong only beside other declarations.
    fn of_company(declarations: &str, observed: Observation) -> Found {
        let mut found = found("in-company", Class::Inconsistent, declarations, Some("a"), observed);
        found.finding.expected.company = Some(true);
        found
    }

    /// Repeats findings on a subject with this behaviour and returns the result.
    fn shown(
        observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
        mut findings: Vec<Found>,
    ) -> Vec<Found> {
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
        mixed.finding.kind = Kind::Interpretation("x".to_owned());
        let findings = shown(right, vec![octal("x"), listed.clone(), mixed.clone(), octal("y")]);
        let [joined, rest @ ..] = &findings[..] else { panic!() };
        assert_eq!(rest, [listed, mixed]);
        let finding = &joined.finding;
        assert_eq!((&*finding.id, finding.class.name(), finding.count), ("inconsistent", "inconsistent", 2));
        // Each deviated when it was found and conformed when repeated.
        let shown = 2 * (1 + REPEATED);
        let title = format!("answers change from run to run: 2 of {shown} to the same programs were wrong");
        assert_eq!(finding.title, title);
        assert_eq!(joined.came_again, (1, shown - 1));
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
        assert!(joined.is_of_company());
    }

    #[test]
    fn where_answers_change_alone_they_do_beside_others_too() {
        let calls = AtomicU64::new(0);
        let does = follows(&["octal-as-decimal"]);
        // Findings that need other declarations run first: at most one program for each array, and the program alone.
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
        assert!(joined.came_again.0 > 1 && joined.came_again.0 < joined.came_again.1);
        assert!(!joined.is_of_company());
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
