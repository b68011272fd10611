//! Compares releases of a compiler and finds the changes between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use ptxsmith_diff::{
    Difference, Explanation, Header, NotCompared, PartVerdict, Requirement, Trial, Verdict, known,
};
use ptxsmith_gen::{Coverage, Focus};
use ptxsmith_oracle::{Clause, ClauseSet, Interpretation, Rules, Validity, predict};
use ptxsmith_subject::{Outcome, SubjectSpec};
use ptxsmith_syntax::{Module, print};
use serde::Serialize;

use crate::cases::Cases;
use crate::failure::{Failure, of_subject};
use crate::input::InputProgram;
use crate::judges::{judge, verdicts};
use crate::linking;
use crate::pool::{Budget, Completion, each};
use crate::session::Session;
use crate::subjects::{TestSubject, open_subjects};

/// The value of `"schema"`.
const SCHEMA: &str = "ptxsmith.drift/1";
/// The prefix of the fact that a program shows a known deviation.
pub const KNOWN: &str = "deviation ";
/// The number of generated cases to judge at a time.
const BATCH: u64 = 1_000;

/// The behaviour of a release on a program: a set of facts that may appear or disappear independently.
pub(crate) type Facts = BTreeSet<String>;

/// A program and the behaviour of each release on it.
pub(crate) struct TriedProgram {
    pub program: String,
    /// The program without its header, for people.
    pub shown: String,
    pub clauses: ClauseSet,
    /// The facts by index of the subject; `None` if nothing was compared.
    pub facts: Vec<Option<Facts>>,
}

/// A behaviour that begins or ends with a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ReleaseChange {
    /// The last release with the old behaviour.
    pub from: String,
    /// The first release with the new behaviour.
    pub to: String,
    /// The facts that disappeared.
    pub before: Vec<String>,
    /// The facts that appeared.
    pub after: Vec<String>,
    /// The number of programs that show the change.
    pub count: u64,
    /// The clauses on which the shortest of these programs depends.
    pub clauses: Vec<&'static str>,
    /// The shortest of these programs.
    pub program: String,
    /// The shortest program without its header, for people.
    #[serde(skip)]
    pub shown: String,
}

/// The changes between releases. Serialized as JSON, the contents of `drift.json`.
#[derive(Serialize)]
pub struct Drift {
    schema: &'static str,
    ptxsmith: &'static str,
    seed: u64,
    /// The releases, oldest first.
    pub releases: Vec<String>,
    /// The number of programs tried.
    pub programs: usize,
    /// The number of programs that at least one release did not compare.
    pub not_compared: usize,
    /// The changes.
    pub changes: Vec<ReleaseChange>,
    /// Whether any program was compared in two releases.
    #[serde(skip)]
    pub compared: bool,
}

/// The options of a comparison.
pub struct DriftOptions {
    /// The releases: two, or all that are installed.
    pub releases: Vec<SubjectSpec>,
    /// Programs to try besides the generated ones.
    pub corpus: Vec<InputProgram>,
    /// The number of generated cases to try, or of programs of several modules for linkers.
    pub cases: Option<u64>,
}

/// The number of cases that are generated for assemblers by default.
const CASES: u64 = 6_000;
/// The number of programs of several modules that are generated for linkers by default.
const LINKED: u64 = 1_000;

/// Compares releases on the corpus and on generated cases; linkers, on programs of several modules instead.
///
/// # Errors
/// If fewer than two releases are available, the work is stopped, or this machine or our code fails.
pub fn drift(session: &Session, options: &DriftOptions) -> Result<Drift, Failure> {
    let mut subjects = match open_subjects(session, &options.releases, None) {
        // Every installed release was requested, and none is installed.
        Err(Failure::NoSubject(_)) if options.releases.len() == 1 => Vec::new(),
        opened => opened?,
    };
    if subjects.len() < 2 {
        return Err(Failure::NoSubject(
            "fewer than two releases are installed: `ptxsmith toolchain install 12.0 13.5` installs two"
                .to_owned(),
        ));
    }
    let tried = match subjects.iter().filter(|tested| tested.subject.links()).count() {
        0 => assembled(session, options, &mut subjects)?,
        count if count == subjects.len() => {
            linking::drift::linked(session, options.cases.unwrap_or(LINKED), &subjects)?
        }
        _ => return Err(Failure::BadInput("a linker is compared with linkers only".to_owned())),
    };
    if session.cancel.is_cancelled() && !session.cancel.is_late() {
        return Err(Failure::Interrupted);
    }
    let releases: Vec<String> = subjects.iter().map(|tested| tested.subject.id().to_owned()).collect();
    Ok(Drift {
        schema: SCHEMA,
        ptxsmith: env!("CARGO_PKG_VERSION"),
        seed: session.seed,
        changes: changes(&tried, &releases),
        not_compared: tried.iter().filter(|tried| tried.facts.iter().any(Option::is_none)).count(),
        releases,
        programs: tried.len(),
        compared: tried.iter().any(|tried| tried.facts.iter().flatten().count() > 1),
    })
}

/// Shows assemblers the corpus and generated cases.
fn assembled(
    session: &Session,
    options: &DriftOptions,
    subjects: &mut [TestSubject],
) -> Result<Vec<TriedProgram>, Failure> {
    // Use the same header for all releases, so that features of a later PTX version do not show up as
    // changes.
    let header = oldest(subjects);
    subjects.iter_mut().for_each(|tested| tested.header = header.clone());
    let mut tried = judged(session, &options.corpus, subjects)?;
    tried.extend(generated(session, options.cases.unwrap_or(CASES), subjects, &header)?);
    Ok(tried)
}

fn oldest(subjects: &[TestSubject]) -> Header {
    let headers = subjects.iter().map(|tested| tested.header.clone());
    headers.min_by_key(Header::version).unwrap_or_default()
}

/// Returns the facts of a verdict; `None` if nothing was compared.
fn facts(verdict: &Verdict, requirement: Option<Requirement>) -> Option<Facts> {
    let fact = match verdict {
        Verdict::NotCompared(_) => return None,
        Verdict::Conforms | Verdict::ConformsByOutcome if requirement == Some(Requirement::Refuse) => {
            "refused, as it must be".to_owned()
        }
        Verdict::Conforms | Verdict::ConformsByOutcome => "conforms".to_owned(),
        Verdict::Reads(difference) | Verdict::Deviates(difference) => match &difference.explanation {
            Some(explanation) => return Some(facts_of_explanation(explanation)),
            None => fact_without_explanation(difference),
        },
    };
    Some(Facts::from([fact]))
}

fn facts_of_explanation(explanation: &Explanation) -> Facts {
    let mut facts: Facts = explanation.deviations().map(|known| format!("{KNOWN}{}", known.id)).collect();
    for &(question, answer) in &explanation.readings {
        facts.insert(format!("reading {}", Interpretation(question, answer)));
    }
    facts
}

fn fact_without_explanation(difference: &Difference) -> String {
    let class = difference.class.name();
    let suspected = difference.suspected.iter().flatten().flatten().next();
    match suspected.and_then(|set| set.first()) {
        Some(rule) => format!("{class} as under the wrong rule {rule}"),
        None => class.to_owned(),
    }
}

/// Returns the fact that a program is accepted or rejected as a whole, for programs that the specification
/// does not decide. This may change between releases too.
fn fact_of_outcome(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Accepted | Outcome::Refused => Some(format!("{}, which is not specified", outcome.name())),
        _ => None,
    }
}

/// Returns the facts of a program as it stands; `None` if nothing was compared.
fn facts_of(
    tested: &TestSubject,
    module: &Module,
    text: &str,
) -> Result<(Option<Facts>, ClauseSet), Failure> {
    let judged = judge(&*tested.subject, &tested.rules, module, text).map_err(of_subject)?;
    let outcome = judged.outcome;
    let mut all = Facts::new();
    let mut clauses = ClauseSet::EMPTY;
    let parts = judged.parts();
    for part in &parts {
        clauses = clauses.union(part.trace.clauses);
        all.extend(facts(&part.verdict, part.requirement).into_iter().flatten());
    }
    let validity = predict(module, &Rules::default()).validity();
    if validity == Validity::Undecided && parts.iter().all(was_run) {
        all.extend(fact_of_outcome(outcome));
    }
    remove_plain_fact(&mut all);
    Ok(((!all.is_empty()).then_some(all), clauses))
}

/// Returns true if the subject ran the program that a verdict is about.
fn was_run(part: &PartVerdict) -> bool {
    !matches!(part.verdict, Verdict::NotCompared(NotCompared::Unsupported | NotCompared::Unavailable))
}

/// Returns the reproducers of the listed deviations, except the ones that use up all time or memory.
///
/// # Errors
/// If one of them is no module, which a test of the list rules out.
pub fn reproducers() -> Result<Vec<InputProgram>, Failure> {
    let listed = known::KNOWN.iter().filter(|known| known.lineage == "nvidia" && !known.exhausts());
    listed.map(|known| InputProgram::parse(known.id.to_owned(), known.example.to_owned())).collect()
}

/// Runs each release on the programs.
fn judged(
    session: &Session,
    programs: &[InputProgram],
    subjects: &[TestSubject],
) -> Result<Vec<TriedProgram>, Failure> {
    let tried: Mutex<BTreeMap<u64, TriedProgram>> = Mutex::default();
    let count = programs.len() as u64;
    let budget = Budget { tasks: Some(count), units: Some(count), ..Budget::default() };
    let ended = each(session, budget, "files", |number, work| {
        work.done(1);
        let InputProgram { text, module, .. } = &programs[number as usize];
        for (place, tested) in subjects.iter().enumerate() {
            if !tested.supports_version_of(module) {
                continue;
            }
            let (facts, clauses) = facts_of(tested, module, text)?;
            let mut all = tried.lock().expect("a panic ends the program");
            let program = all.entry(number).or_insert_with(|| TriedProgram {
                program: text.clone(),
                shown: print(&module.without_header()),
                clauses: ClauseSet::EMPTY,
                facts: vec![None; subjects.len()],
            });
            program.clauses = program.clauses.union(clauses);
            program.facts[place] = facts;
        }
        Ok(())
    })?;
    let tried = tried.into_inner().expect("a panic ends the program").into_values().collect();
    if ended == Completion::Interrupted { Err(Failure::Interrupted) } else { Ok(tried) }
}

/// Removes the fact that something conforms if there are other facts.
fn remove_plain_fact(facts: &mut Facts) {
    if facts.len() > 1 {
        facts.remove("conforms");
    }
}

fn generated(
    session: &Session,
    cases: u64,
    subjects: &[TestSubject],
    header: &Header,
) -> Result<Vec<TriedProgram>, Failure> {
    let source = Cases::drawn(session.seed, Focus::Mixed, None);
    let tried: Mutex<BTreeMap<u64, TriedProgram>> = Mutex::default();
    let tasks = cases.div_ceil(BATCH);
    let budget = Budget { tasks: Some(tasks), units: Some(cases), ..Budget::default() };
    let ended = each(session, budget, "cases", |task, work| {
        let range = task * BATCH..((task + 1) * BATCH).min(cases);
        let made: Vec<_> = range.map(|index| source.made(index, false, &mut Coverage::new())).collect();
        for (place, tested) in subjects.iter().enumerate() {
            for placed in verdicts(tested, &made, header)? {
                let entry = placed.entry(&made, header);
                let facts = match entry.judged.verdict {
                    // In a batch it would not be run.
                    Verdict::NotCompared(NotCompared::Unmodelled) => {
                        let module = entry.trial.module(entry.header);
                        facts_of(tested, &module, &entry.trial.text(entry.header))?.0
                    }
                    _ => facts(&entry.judged.verdict, entry.judged.requirement),
                };
                let mut all = tried.lock().expect("a panic ends the program");
                let program = all
                    .entry(entry.trial.id)
                    .or_insert_with(|| of_trial(entry.trial, entry.header, subjects));
                program.clauses = program.clauses.union(entry.judged.trace.clauses);
                if let Some(facts) = facts {
                    let known = program.facts[place].get_or_insert_default();
                    known.extend(facts);
                    remove_plain_fact(known);
                }
            }
        }
        work.done(made.len() as u64);
        Ok(())
    })?;
    let tried = tried.into_inner().expect("a panic ends the program").into_values().collect();
    if ended == Completion::Interrupted { Err(Failure::Interrupted) } else { Ok(tried) }
}

fn of_trial(trial: &Trial, header: &Header, subjects: &[TestSubject]) -> TriedProgram {
    TriedProgram {
        program: trial.text(header),
        shown: print(&trial.module(header).without_header()),
        clauses: ClauseSet::EMPTY,
        facts: vec![None; subjects.len()],
    }
}

/// Returns the changes from each release to the next one that compared the same program.
fn changes(tried: &[TriedProgram], releases: &[String]) -> Vec<ReleaseChange> {
    /// The old and the new release, with the facts that disappear and appear.
    type Key = (usize, usize, Vec<String>, Vec<String>);
    let mut found: BTreeMap<Key, (u64, &TriedProgram)> = BTreeMap::new();
    for tried in tried {
        let seen = tried.facts.iter().enumerate().filter_map(|(place, facts)| Some((place, facts.as_ref()?)));
        let seen: Vec<(usize, &Facts)> = seen.collect();
        for pair in seen.windows(2) {
            let [(from, before), (to, after)] = pair else { continue };
            let gone: Vec<String> = before.difference(after).cloned().collect();
            let come: Vec<String> = after.difference(before).cloned().collect();
            if gone.is_empty() && come.is_empty() {
                continue;
            }
            let (count, shortest) = found.entry((*from, *to, gone, come)).or_insert((0, tried));
            *count += 1;
            if (tried.shown.len(), &tried.shown) < (shortest.shown.len(), &shortest.shown) {
                *shortest = tried;
            }
        }
    }
    let mut changes = Vec::new();
    for ((from, to, before, after), (count, shortest)) in found {
        changes.push(ReleaseChange {
            from: releases[from].clone(),
            to: releases[to].clone(),
            before,
            after,
            count,
            clauses: shortest.clauses.iter().map(Clause::id).collect(),
            program: shortest.program.clone(),
            shown: shortest.shown.clone(),
        });
    }
    changes
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::Class;
    use ptxsmith_model::Expected;
    use ptxsmith_oracle::Question;
    use ptxsmith_subject::Observation;

    use super::*;

    fn tried(shown: &str, facts: &[Option<&str>]) -> TriedProgram {
        let facts = facts.iter().map(|fact| fact.map(|fact| Facts::from([fact.to_owned()])));
        TriedProgram {
            program: shown.into(),
            shown: shown.into(),
            clauses: ClauseSet::EMPTY,
            facts: facts.collect(),
        }
    }

    #[test]
    fn a_change_is_told_once_with_its_shortest_program_and_its_first_release() {
        let all = [
            tried("long program", &[Some("crash"), Some("crash"), Some("refused")]),
            tried("short", &[Some("crash"), Some("crash"), Some("refused")]),
            tried("same", &[Some("conforms"), Some("conforms"), Some("conforms")]),
        ];
        let changes = changes(&all, &["1.0", "1.1", "2.0"].map(str::to_owned));
        let [change] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((change.from.as_str(), change.to.as_str()), ("1.1", "2.0"));
        assert_eq!((&change.before[..], &change.after[..]), (&["crash".into()][..], &["refused".into()][..]));
        assert_eq!((change.count, change.shown.as_str()), (2, "short"));
    }

    #[test]
    fn a_release_in_which_nothing_was_compared_is_passed_over() {
        let all = [tried("p", &[Some("a"), None, Some("b")])];
        let changes = changes(&all, &["1.0", "1.1", "2.0"].map(str::to_owned));
        assert_eq!((changes[0].from.as_str(), changes[0].to.as_str()), ("1.0", "2.0"));
    }

    #[test]
    fn only_what_comes_or_goes_is_told() {
        let mut both = tried("p", &[Some("a"), Some("a")]);
        both.facts[0].as_mut().unwrap().insert("b".into());
        let changes = changes(&[both], &["1.0", "1.1"].map(str::to_owned));
        assert_eq!((&changes[0].before[..], &changes[0].after[..]), (&["b".into()][..], &[][..]));
    }

    #[test]
    fn the_facts_of_a_verdict_name_what_explains_it() {
        let difference = |explanation, suspected| {
            let (expected, observed) = (Expected::default(), Observation::new(Outcome::Accepted));
            let difference = Difference::new(Class::WrongValue, expected, observed);
            Box::new(Difference { explanation, suspected, ..difference })
        };
        let known = || Explanation { known: vec!["single-bits-raw-in-f64"], ..Explanation::default() };
        let read = || Explanation { readings: vec![(Question::ALL[0], 1)], ..Explanation::default() };
        let reading = format!("reading {}", Interpretation(Question::ALL[0], 1));
        let set = vec![vec!["warp-size-64"]];
        for (verdict, requirement, expected) in [
            (Verdict::NotCompared(NotCompared::Unobserved), None, None),
            (Verdict::Conforms, Some(Requirement::Refuse), Some("refused, as it must be")),
            (Verdict::ConformsByOutcome, Some(Requirement::Refuse), Some("refused, as it must be")),
            (Verdict::Conforms, Some(Requirement::Accept), Some("conforms")),
            (Verdict::ConformsByOutcome, None, Some("conforms")),
            (
                Verdict::Deviates(difference(Some(known()), None)),
                None,
                Some("deviation single-bits-raw-in-f64"),
            ),
            (Verdict::Reads(difference(Some(read()), None)), None, Some(&*reading)),
            (
                Verdict::Deviates(difference(None, Some(vec![set]))),
                None,
                Some("wrong-value as under the wrong rule warp-size-64"),
            ),
            (Verdict::Deviates(difference(None, None)), None, Some("wrong-value")),
        ] {
            let told = format!("{verdict:?}");
            let expected = expected.map(|fact| Facts::from([fact.to_owned()]));
            assert_eq!(facts(&verdict, requirement), expected, "{told}");
        }
    }

    #[test]
    fn that_something_conforms_is_told_where_nothing_else_is() {
        let left = |all: &[&str]| {
            let mut facts = all.iter().map(|&fact| fact.to_owned()).collect();
            remove_plain_fact(&mut facts);
            facts.into_iter().collect::<Vec<_>>().join(", ")
        };
        assert_eq!(left(&["conforms"]), "conforms");
        assert_eq!(left(&["conforms", "crash"]), "crash");
        assert_eq!(left(&["crash", "hang"]), "crash, hang");
        assert_eq!(left(&[]), "");
    }
}
