//! `ptxsmith drift`: what changed between releases of one compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use indicatif::HumanCount;
use ptxsmith_diff::{Header, Must, Trial, Verdict};
use ptxsmith_gen::{Coverage, Focus};
use ptxsmith_oracle::{Clause, ClauseSet};
use ptxsmith_subject::{SubjectSpec, parse_spec};
use ptxsmith_syntax::{Item, Module, print};
use serde::Serialize;

use super::{Context, make_directory, write_whole};
use crate::args;
use crate::campaign::{Budget, Ended, Tested, each, open_subjects};
use crate::cases::Cases;
use crate::console::{self, BOLD};
use crate::exit::{Exit, Failure};
use crate::input::{self, Program};
use crate::judges::{Judges, parts_of};

/// The value of `"schema"`.
const SCHEMA: &str = "ptxsmith.drift/1";
/// How many generated cases are judged at a time.
const BATCH: u64 = 1_000;
/// The most lines of an example that are shown.
const MOST_LINES: usize = 6;

/// What one release does with one program: a set of facts, each of which may come or go by itself.
type Facts = BTreeSet<String>;

/// A program and what each release does with it.
struct Tried {
    program: String,
    /// Without the header, for a person.
    shown: String,
    clauses: ClauseSet,
    /// By place of the subject; `None` where nothing was compared.
    facts: Vec<Option<Facts>>,
}

/// Something that programs show from one release on, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Change {
    /// The last release of the old behaviour.
    from: String,
    /// The first release of the new one.
    to: String,
    /// What was seen before and is not now.
    before: Vec<String>,
    /// What is seen now and was not before.
    after: Vec<String>,
    /// How many programs show it.
    count: u64,
    /// The clauses that the shortest of them rests on.
    clauses: Vec<&'static str>,
    /// The shortest of them.
    program: String,
    #[serde(skip)]
    shown: String,
}

#[derive(Serialize)]
struct Drift<'a> {
    schema: &'static str,
    ptxsmith: &'static str,
    seed: u64,
    releases: Vec<&'a str>,
    programs: usize,
    changes: &'a [Change],
}

/// Compares releases on the corpus and on fresh cases.
pub fn run(context: &Context, args: &args::Drift) -> Result<Exit, Failure> {
    let specs = match (&args.from, &args.to) {
        (Some(from), Some(to)) => vec![release(from)?, release(to)?],
        _ if args.all => vec![release("all")?],
        _ => {
            return Err(Failure::BadInput(
                "say what to compare: --from RELEASE --to RELEASE, or --all for every installed release"
                    .to_owned(),
            ));
        }
    };
    let mut subjects = open_subjects(context, &specs, None)?;
    if subjects.len() < 2 {
        return Err(Failure::NoSubject(
            "fewer than two releases are installed: `ptxsmith toolchain install 12.0 13.5` installs two"
                .to_owned(),
        ));
    }
    // One header for all, so that what a later version brings is no change of a release.
    let header = oldest(&subjects);
    subjects.iter_mut().for_each(|tested| tested.header = header.clone());
    let mut tried = corpus(context, args, &subjects)?;
    tried.extend(generated(context, args, &subjects, &header)?);
    if context.cancel.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    let releases: Vec<&str> = subjects.iter().map(|tested| tested.subject.id()).collect();
    let changes = changes(&tried, &releases);
    let text = page(&changes, &releases, tried.len());
    context.console.print(&text)?;
    if let Some(out) = &args.out {
        make_directory(out)?;
        let drift = Drift {
            schema: SCHEMA,
            ptxsmith: env!("CARGO_PKG_VERSION"),
            seed: context.seed,
            releases: releases.clone(),
            programs: tried.len(),
            changes: &changes,
        };
        let mut json = serde_json::to_string_pretty(&drift)?;
        json.push('\n');
        write_whole(&out.join("drift.json"), json.as_bytes())?;
        write_whole(&out.join("drift.md"), markdown(&changes, &releases, tried.len()).as_bytes())?;
    }
    let compared = tried.iter().any(|tried| tried.facts.iter().flatten().count() > 1);
    Ok(if compared { Exit::Success } else { Exit::NothingCompared })
}

fn release(name: &str) -> Result<SubjectSpec, Failure> {
    let name = name.strip_prefix("ptxas@").unwrap_or(name);
    parse_spec(&format!("ptxas@{name}")).map_err(|error| Failure::BadInput(error.to_string()))
}

fn oldest(subjects: &[Tested]) -> Header {
    let headers = subjects.iter().map(|tested| tested.header.clone());
    headers.min_by_key(Header::version).unwrap_or_default()
}

/// The facts of a verdict; `None` where nothing was compared.
fn facts(verdict: &Verdict, must: Option<Must>) -> Option<Facts> {
    let one = |fact: &str| Some(Facts::from([fact.to_owned()]));
    match verdict {
        Verdict::NotCompared(_) => None,
        Verdict::Conforms | Verdict::ConformsByOutcome if must == Some(Must::Refuse) => {
            one("refused, as it must be")
        }
        Verdict::Conforms | Verdict::ConformsByOutcome => one("conforms"),
        Verdict::Reads(difference) | Verdict::Deviates(difference) => match &difference.explanation {
            Some(explanation) => {
                let known = explanation.deviations().map(|known| format!("deviation {}", known.id));
                let readings = explanation.readings.iter().map(|&(question, answer)| {
                    format!("reading {}={}", question.name(), question.answers()[answer])
                });
                Some(known.chain(readings).collect())
            }
            None => {
                let suspected = difference.suspected.iter().flatten().flatten().next();
                match suspected.and_then(|set| set.first()) {
                    Some(rule) => one(&format!("{} as under the wrong rule {rule}", difference.class.name())),
                    None => one(difference.class.name()),
                }
            }
        },
    }
}

/// The files of the corpus, each variable a program of its own in what is compared.
fn corpus(context: &Context, args: &args::Drift, subjects: &[Tested]) -> Result<Vec<Tried>, Failure> {
    let default = Path::new("corpus");
    let paths = match &args.corpus[..] {
        [] if default.is_dir() => vec![default.to_owned()],
        paths => paths.to_vec(),
    };
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let files = input::files(&paths)?;
    let tried: Mutex<BTreeMap<(u64, String), Tried>> = Mutex::default();
    let count = files.len() as u64;
    let budget = Budget { tasks: Some(count), units: Some(count), ..Budget::default() };
    let ended = each(
        context,
        budget,
        "files",
        || (),
        |(), number, work| {
            work.done(1);
            // What is no PTX to us cannot be judged, in no release.
            let Ok(Program { text, module, .. }) = Program::read(&files[number as usize]) else {
                return Ok(());
            };
            for (place, tested) in subjects.iter().enumerate() {
                if !tested.takes_version_of(&module) {
                    continue;
                }
                let parts = parts_of(tested, &module, &text)?;
                let mut all = tried.lock().expect("a panic ends the program");
                for part in parts {
                    // A program that one release refuses has one part there, and one for each variable elsewhere.
                    let own = all.entry((number, String::new())).or_insert_with(|| Tried {
                        program: text.clone(),
                        shown: without_header(&module),
                        clauses: ClauseSet::EMPTY,
                        facts: vec![None; subjects.len()],
                    });
                    own.clauses = own.clauses.union(part.trace.clauses);
                    if let Some(facts) = facts(&part.verdict, part.must) {
                        own.facts[place].get_or_insert_default().extend(facts);
                    }
                }
            }
            Ok(())
        },
    )?;
    let mut tried: Vec<Tried> = tried.into_inner().expect("a panic ends the program").into_values().collect();
    for facts in tried.iter_mut().flat_map(|tried| tried.facts.iter_mut().flatten()) {
        plain_is_silent(facts);
    }
    if ended == Ended::Interrupted { Err(Failure::Interrupted) } else { Ok(tried) }
}

/// That something conforms says nothing beside something that does not.
fn plain_is_silent(facts: &mut Facts) {
    if facts.len() > 1 {
        facts.remove("conforms");
    }
}

fn generated(
    context: &Context,
    args: &args::Drift,
    subjects: &[Tested],
    header: &Header,
) -> Result<Vec<Tried>, Failure> {
    let cases = Cases::drawn(context.seed, Focus::Mixed, None);
    let tried: Mutex<BTreeMap<u64, Tried>> = Mutex::default();
    let tasks = args.cases.div_ceil(BATCH);
    let budget = Budget { tasks: Some(tasks), units: Some(args.cases), ..Budget::default() };
    let ended = each(
        context,
        budget,
        "cases",
        || (),
        |(), task, work| {
            let range = task * BATCH..((task + 1) * BATCH).min(args.cases);
            let made: Vec<_> = range.map(|index| cases.made(index, false, &mut Coverage::new())).collect();
            for (place, tested) in subjects.iter().enumerate() {
                // Those of the task before have seen what fell to their thread, which another run would deal out otherwise.
                for placed in Judges::of(tested).verdicts(&made, header)? {
                    let entry = placed.entry(&made, header);
                    let Some(facts) = facts(&entry.judged.verdict, entry.judged.must) else { continue };
                    let mut all = tried.lock().expect("a panic ends the program");
                    let own = all
                        .entry(entry.trial.id)
                        .or_insert_with(|| of_trial(entry.trial, entry.header, subjects));
                    own.clauses = own.clauses.union(entry.judged.trace.clauses);
                    let known = own.facts[place].get_or_insert_default();
                    known.extend(facts);
                    plain_is_silent(known);
                }
            }
            work.done(made.len() as u64);
            Ok(())
        },
    )?;
    let tried = tried.into_inner().expect("a panic ends the program").into_values().collect();
    if ended == Ended::Interrupted { Err(Failure::Interrupted) } else { Ok(tried) }
}

fn of_trial(trial: &Trial, header: &Header, subjects: &[Tested]) -> Tried {
    Tried {
        program: trial.text(header),
        shown: without_header(&trial.module(header)),
        clauses: ClauseSet::EMPTY,
        facts: vec![None; subjects.len()],
    }
}

fn without_header(module: &Module) -> String {
    let header = |item: &&Item| matches!(item, Item::Version(_) | Item::Target(_) | Item::AddressSize(_));
    print(&Module { items: module.items.iter().filter(|item| !header(item)).cloned().collect() })
}

/// What changed from each release to the next one in which the same program was compared.
fn changes(tried: &[Tried], releases: &[&str]) -> Vec<Change> {
    /// From which release to which, and the facts that go and come.
    type Key = (usize, usize, Vec<String>, Vec<String>);
    let mut found: BTreeMap<Key, (u64, &Tried)> = BTreeMap::new();
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
    let change = |((from, to, before, after), (count, tried)): (_, (u64, &Tried))| {
        let (from, to): (usize, usize) = (from, to);
        Change {
            from: releases[from].to_owned(),
            to: releases[to].to_owned(),
            before,
            after,
            count,
            clauses: tried.clauses.iter().map(Clause::id).collect(),
            program: tried.program.clone(),
            shown: tried.shown.clone(),
        }
    };
    found.into_iter().map(change).collect()
}

fn told(facts: &[String]) -> String {
    if facts.is_empty() { "the rest of what it does".to_owned() } else { facts.join(", ") }
}

fn page(changes: &[Change], releases: &[&str], programs: usize) -> String {
    let mut out = String::new();
    let mut at = ("", "");
    for change in changes {
        if (change.from.as_str(), change.to.as_str()) != at {
            at = (&change.from, &change.to);
            let _ = writeln!(
                out,
                "{BOLD}{} -> {}{BOLD:#}",
                console::line(&change.from),
                console::line(&change.to)
            );
        }
        let times = if change.count == 1 { "program" } else { "programs" };
        let _ = writeln!(
            out,
            "  {}  ->  {}  ({} {times})",
            told(&change.before),
            told(&change.after),
            HumanCount(change.count)
        );
        for line in change.shown.lines().take(MOST_LINES) {
            let _ = writeln!(out, "      {}", console::line(line));
        }
    }
    let _ = writeln!(
        out,
        "{} {} between {} releases, on {} programs",
        changes.len(),
        if changes.len() == 1 { "change" } else { "changes" },
        releases.len(),
        HumanCount(programs as u64),
    );
    out
}

fn markdown(changes: &[Change], releases: &[&str], programs: usize) -> String {
    let mut out = format!(
        "# What changed from {} to {}\n\n{programs} programs in {} releases.\n\n",
        releases.first().unwrap_or(&""),
        releases.last().unwrap_or(&""),
        releases.len()
    );
    out.push_str("| last release | first release | before | after | programs | shortest |\n");
    out.push_str("| --- | --- | --- | --- | ---: | --- |\n");
    for change in changes {
        let program: Vec<&str> = change.shown.lines().take(MOST_LINES).collect();
        let program = program.join(" ").replace('`', "'").replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | `{program}` |",
            change.from,
            change.to,
            told(&change.before),
            told(&change.after),
            change.count
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(shown: &str, facts: &[Option<&str>]) -> Tried {
        let facts = facts.iter().map(|fact| fact.map(|fact| Facts::from([fact.to_owned()])));
        Tried {
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
        let changes = changes(&all, &["1.0", "1.1", "2.0"]);
        let [change] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((change.from.as_str(), change.to.as_str()), ("1.1", "2.0"));
        assert_eq!((&change.before[..], &change.after[..]), (&["crash".into()][..], &["refused".into()][..]));
        assert_eq!((change.count, change.shown.as_str()), (2, "short"));
    }

    #[test]
    fn a_release_in_which_nothing_was_compared_is_passed_over() {
        let all = [tried("p", &[Some("a"), None, Some("b")])];
        let changes = changes(&all, &["1.0", "1.1", "2.0"]);
        assert_eq!((changes[0].from.as_str(), changes[0].to.as_str()), ("1.0", "2.0"));
    }

    #[test]
    fn only_what_comes_or_goes_is_told() {
        let mut both = tried("p", &[Some("a"), Some("a")]);
        both.facts[0].as_mut().unwrap().insert("b".into());
        let changes = changes(&[both], &["1.0", "1.1"]);
        assert_eq!((&changes[0].before[..], &changes[0].after[..]), (&["b".into()][..], &[][..]));
    }
}
