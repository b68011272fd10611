//! Runs campaigns of programs with several modules, to test linkers.
//!
//! Each subject links each program in every order of its modules. The result is compared with the specification
//! ([`ptxsmith_diff::linking`]). Differences with the same class and symptom are one finding, whose shortest program is
//! reduced.

pub(crate) mod drift;
mod reduction;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use ptxsmith_diff::linking::{
    ANOTHER_OFFSET, LISTED, LinkDifference, LinkVerdict, Listed, Modules, NO_ADDRESS, NO_ADDRESS_OR_OFFSET,
    READ, Symptom, Way, judge_each_linked,
};
use ptxsmith_gen::linking::modules;
use ptxsmith_model::{
    Class, Comparison, Kind, LinkedProgram, Observation, Outcome as Answer, ProgramVerdict, ReleaseVerdict,
    Status,
};
use ptxsmith_oracle::linking::link;
use ptxsmith_oracle::{Rules, Validity};
use ptxsmith_report::{Finding, folder, reproduce, severity};
use ptxsmith_subject::{Description, Stage, SubjectSpec, parse_spec};
use ptxsmith_syntax::{Module, parse};

use crate::campaign::{Campaign, Outcome};
use crate::failure::{Failure, of_subject};
use crate::files;
use crate::ledger::slug;
use crate::pool::{self, Budget, Ended, each, lock_of};
use crate::session::Session;
use crate::store::Earlier;
use crate::subjects::{Tested, open_subjects};
use crate::tally::{self, Tally};
use crate::texts::Options;

/// The properties that the differences of one finding share.
type Key = (Class, Symptom);

/// One program in this many is also linked in two stages, which takes three times as long.
const STAGED: u64 = 8;
/// The number of programs that a linker is shown at once. A linker that lists the code of all of them in one run needs a tenth of
/// the time.
const TOGETHER: u64 = 16;
/// The number of programs if neither a number nor a time is given.
const CASES: u64 = 1_000;
/// The linker to test if none is named.
const DEFAULT: &str = "nvlink@13.5";

/// A program that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Example {
    /// The total size of the modules in bytes; smaller examples are better.
    bytes: usize,
    /// The number of the program.
    number: u64,
    /// The index of the subject.
    subject: usize,
    /// The modules, in the order that shows the difference.
    texts: Vec<String>,
    /// The modules that are linked to a relocatable object first.
    stage: Option<Stage>,
    difference: LinkDifference,
}

/// All occurrences of one symptom.
struct Gathered {
    count: u64,
    subjects: BTreeSet<usize>,
    shortest: Example,
}

type Symptoms = BTreeMap<Key, Gathered>;

/// The results of the campaign so far.
#[derive(Default)]
struct Seen {
    /// The occurrences of listed deviations, by index in [`LISTED`].
    known: BTreeMap<usize, Gathered>,
    /// The occurrences of deviations that are not listed for their subject.
    symptoms: Symptoms,
    /// The tallies by index of the subject.
    tallies: Vec<Tally>,
}

/// Links programs generated from the session's seed, and reduces and reports the differences.
///
/// # Errors
/// If no subject can be opened, one cannot link modules, or this machine or our code fails.
pub fn run(session: &Session, options: &Options) -> Result<Outcome, Failure> {
    let default = [parse_spec(DEFAULT).expect("it is a subject")];
    let specs = if options.subjects.is_empty() { &default[..] } else { &options.subjects };
    run_on(session, options, open_linkers(session, specs, options.timeout)?)
}

/// Like [`run`], with subjects that are open already.
///
/// # Errors
/// If this machine or our code fails.
pub fn run_on(session: &Session, options: &Options, subjects: Vec<Tested>) -> Result<Outcome, Failure> {
    let earlier = if options.replace { Earlier::Replace } else { Earlier::Refuse };
    let campaign =
        Campaign::new(session, "linking", "programs", subjects, Some(options.out.clone()), earlier)?;
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let budget =
        Budget { tasks: cases.map(|cases| cases.div_ceil(TOGETHER)), units: cases, ..Budget::default() };
    let tallies = vec![Tally::default(); campaign.subjects.len()];
    let seen = Mutex::new(Seen { tallies, ..Seen::default() });
    let ended = each(session, budget, campaign.unit, |task, work| {
        let numbers = task * TOGETHER..cases.unwrap_or(u64::MAX).min((task + 1) * TOGETHER);
        judge_programs(&campaign.subjects, session.seed, numbers.clone(), &seen)?;
        work.done(numbers.end - numbers.start);
        work.say(format!("{} symptoms", lock_of(&seen).symptoms.len()));
        Ok(())
    })?;
    let seen = seen.into_inner().expect("a panic ends the program");
    let symptoms = of_any_linkage(seen.symptoms);
    let mut findings: Vec<Found> =
        seen.known.iter().map(|(&place, gathered)| known(&campaign, &LISTED[place], gathered)).collect();
    match ended {
        Ended::All => findings.extend(new_and_gone(&campaign, &symptoms, options.reduce)?),
        // After an interruption, report the results so far.
        Ended::Interrupted => {
            findings.extend(symptoms.iter().map(|(key, gathered)| unreduced(&campaign, key, gathered)));
        }
    };
    let ended = if session.cancel.is_cancelled() { Ended::Interrupted } else { ended };
    let is_interrupted = ended == Ended::Interrupted && !session.cancel.is_late();
    let mut report = campaign.report(&[], ended == Ended::All);
    tally::enter(&mut report, &seen.tallies);
    for (finding, modules) in findings {
        report.findings.push(write_finding(&options.out, finding, &modules)?);
    }
    report.findings.sort_by_key(severity::order);
    session.expected.mark(&mut report);
    campaign.write_report(&report)?;
    Ok(Outcome { report, earlier: 0, interrupted: is_interrupted, resumable: false, left_out: false })
}

/// Opens linkers.
///
/// # Errors
/// If a subject cannot link modules, or is not available.
pub fn open_linkers(
    session: &Session,
    specs: &[SubjectSpec],
    timeout: Option<Duration>,
) -> Result<Vec<Tested>, Failure> {
    let subjects = open_subjects(session, specs, timeout)?;
    match subjects.iter().find(|tested| !tested.subject.links()) {
        None => Ok(subjects),
        Some(other) => Err(Failure::BadInput(format!(
            "{} links no modules; nvlink@RELEASE and nvjitlink@RELEASE do",
            other.subject.id()
        ))),
    }
}

/// A program of several modules.
struct LinkedCase {
    texts: Vec<String>,
    modules: Vec<Module>,
    /// Whether it is also linked in two stages.
    in_stages: bool,
}

impl LinkedCase {
    /// Parses the modules; `None` if one of them is not PTX.
    fn of(texts: Vec<String>, in_stages: bool) -> Option<LinkedCase> {
        let modules = texts.iter().map(|text| parse(text)).collect::<Result<_, _>>().ok()?;
        Some(LinkedCase { texts, modules, in_stages })
    }
}

/// Whether the program of this number is also linked in two stages.
fn is_staged(number: u64) -> bool {
    number.is_multiple_of(STAGED)
}

/// Links programs with a subject in every order. Returns `None` for a program with a module that is invalid on its own.
fn link_each(tested: &Tested, programs: &[LinkedCase]) -> Result<Vec<Option<LinkVerdict>>, Failure> {
    let programs: Vec<Modules<'_>> = programs
        .iter()
        .map(|program| Modules {
            in_stages: program.in_stages,
            ..Modules::new(&program.texts, &program.modules)
        })
        .collect();
    let verdicts = judge_each_linked(&*tested.subject, &programs, &Rules::default()).map_err(of_subject)?;
    Ok(verdicts.into_iter().map(Result::ok).collect())
}

/// Links programs with every subject.
fn judge_programs(
    subjects: &[Tested],
    seed: u64,
    numbers: Range<u64>,
    seen: &Mutex<Seen>,
) -> Result<(), Failure> {
    let count = numbers.end - numbers.start;
    let made = numbers
        .filter_map(|number| Some((number, LinkedCase::of(modules(seed, number), is_staged(number))?)));
    let (numbers, programs): (Vec<u64>, Vec<LinkedCase>) = made.unzip();
    for (subject, tested) in subjects.iter().enumerate() {
        let verdicts = link_each(tested, &programs)?;
        let mut seen = lock_of(seen);
        let refused = count - verdicts.iter().flatten().count() as u64;
        seen.tallies[subject].leave(REFUSED_ALONE, refused);
        for ((number, program), verdict) in numbers.iter().zip(&programs).zip(verdicts) {
            if let Some(verdict) = verdict {
                seen.enter_verdict((subject, tested.subject.description()), *number, &program.texts, verdict);
            }
        }
    }
    Ok(())
}

/// The reason for not linking a program.
const REFUSED_ALONE: &str = "the specification refuses a module";

/// Links a program in every order and returns the verdict; `None` if one of its modules is invalid on its own.
fn verdict(tested: &Tested, texts: &[String], in_stages: bool) -> Result<Option<LinkVerdict>, Failure> {
    let Some(program) = LinkedCase::of(texts.to_vec(), in_stages) else { return Ok(None) };
    Ok(link_each(tested, &[program])?.pop().flatten())
}

/// Counts the comparisons of a program over all ways of linking it.
fn count(tally: &mut Tally, verdict: &LinkVerdict) {
    tally.compared += verdict.compared as u64;
    let deviating = verdict.differences.iter().filter(|(difference, _)| !difference.name.is_empty());
    tally.deviate += deviating.count() as u64;
    for (reason, count) in &verdict.not_compared {
        tally.leave(reason, *count as u64);
    }
}

impl Seen {
    /// Counts what a subject made of a program, and keeps its differences.
    fn enter_verdict(
        &mut self,
        (subject, description): (usize, &Description),
        number: u64,
        texts: &[String],
        verdict: LinkVerdict,
    ) {
        count(&mut self.tallies[subject], &verdict);
        for (difference, way) in verdict.differences {
            let texts: Vec<String> = way.order.iter().map(|&place| texts[place].clone()).collect();
            let bytes = texts.iter().map(String::len).sum();
            let listed = listed(&difference, description);
            let key = key(&difference);
            let shortest = Example { bytes, number, subject, difference, texts, stage: way.stage };
            let occurrence = Gathered { count: 1, subjects: BTreeSet::from([subject]), shortest };
            match listed {
                Some(place) => join(&mut self.known, place, occurrence),
                None => join(&mut self.symptoms, key, occurrence),
            }
        }
    }
}

/// Returns the index in [`LISTED`] of the deviation that a difference belongs to; `None` if none is listed for the linker.
fn listed(difference: &LinkDifference, linker: &Description) -> Option<usize> {
    let id = id_of(difference.class, &difference.symptom);
    LISTED.iter().position(|listed| listed.is_called(&id) && listed.is_of(linker))
}

/// Merges an occurrence with earlier ones of the same symptom.
fn join<K: Ord>(symptoms: &mut BTreeMap<K, Gathered>, key: K, more: Gathered) {
    let Some(gathered) = symptoms.get_mut(&key) else {
        symptoms.insert(key, more);
        return;
    };
    gathered.count += more.count;
    gathered.subjects.extend(more.subjects);
    if more.shortest < gathered.shortest {
        gathered.shortest = more.shortest;
    }
}

fn key(difference: &LinkDifference) -> Key {
    (difference.class, difference.symptom.clone())
}

/// A deviation that shows with this many linkages is not about linkage.
const ANY_LINKAGE: usize = 3;

/// Merges symptoms that differ only in the linkage of a referenced name, if they show with three or more linkages: such a
/// deviation is not about linkage. Symptoms with only two linkages stay separate.
fn of_any_linkage(symptoms: Symptoms) -> Symptoms {
    let without_linkage =
        |(class, symptom): &Key| (*class, Symptom { linkage: String::new(), ..symptom.clone() });
    let mut linkages: BTreeMap<Key, usize> = BTreeMap::new();
    for key in symptoms.keys().filter(|(_, symptom)| !symptom.linkage.is_empty()) {
        *linkages.entry(without_linkage(key)).or_default() += 1;
    }
    let mut joined: Symptoms = BTreeMap::new();
    for (key, gathered) in symptoms {
        let of_any = without_linkage(&key);
        let is_of_any = linkages.get(&of_any).is_some_and(|count| *count >= ANY_LINKAGE);
        join(&mut joined, if is_of_any { of_any } else { key }, gathered);
    }
    join_ambiguous(&mut joined);
    joined
}

/// Merges symptoms that may be either a lost address or a lost offset with a symptom that is clearly one of these, if
/// there is any.
fn join_ambiguous(joined: &mut Symptoms) {
    let is_ambiguous = |(_, symptom): &Key| symptom.what == NO_ADDRESS_OR_OFFSET;
    for key in joined.keys().filter(|key| is_ambiguous(key)).cloned().collect::<Vec<_>>() {
        let is_clear = |(_, symptom): &Key| [NO_ADDRESS, ANOTHER_OFFSET].contains(&&*symptom.what);
        let Some(clear) = joined.keys().find(|key| is_clear(key)).cloned() else { continue };
        let (Some(more), Some(gathered)) = (joined.remove(&key), joined.get_mut(&clear)) else { continue };
        gathered.count += more.count;
        gathered.subjects.extend(more.subjects);
    }
}

/// A finding with its modules, in the order that shows it.
type Found = (Finding, Vec<String>);

/// Returns the finding of a listed deviation, with its shortest program.
fn known(campaign: &Campaign<'_>, listed: &Listed, gathered: &Gathered) -> Found {
    let (finding, texts) = unreduced(campaign, &key(&gathered.shortest.difference), gathered);
    let finding = Finding {
        id: listed.id.to_owned(),
        status: Status::Known,
        kind: Kind::Known(listed.id.to_owned()),
        title: listed.title.to_owned(),
        ..finding
    };
    (finding, texts)
}

/// Returns new findings, reduced as far as time permits, and those of listed deviations that no longer reproduce.
fn new_and_gone(
    campaign: &Campaign<'_>,
    symptoms: &Symptoms,
    limit: Option<Duration>,
) -> Result<Vec<Found>, Failure> {
    let budget = reduction::Budget::new(campaign.session, limit);
    let symptoms: Vec<(&Key, &Gathered)> = symptoms.iter().collect();
    let found = pool::map(campaign.session, &symptoms, |(key, gathered)| {
        match reduced(campaign, key, gathered, &budget) {
            Err(Failure::Interrupted) => Ok(unreduced(campaign, key, gathered)),
            reduced => reduced,
        }
    })?;
    let or_unreduced = |(found, (key, gathered)): (Option<Found>, &(&Key, &Gathered))| {
        found.unwrap_or_else(|| unreduced(campaign, key, gathered))
    };
    let mut found: Vec<Found> = found.into_iter().zip(&symptoms).map(or_unreduced).collect();
    match gone(&campaign.subjects) {
        Err(Failure::Interrupted) => {}
        gone => found.extend(gone?),
    }
    Ok(found)
}

/// Returns the finding for a symptom with its shortest program, as it was linked.
fn unreduced(campaign: &Campaign<'_>, (_, symptom): &Key, gathered: &Gathered) -> Found {
    let id = |&place: &usize| campaign.subjects[place].subject.id().to_owned();
    let finding = Finding {
        count: gathered.count,
        subjects: gathered.subjects.iter().map(id).collect(),
        ..finding_of(&gathered.shortest, symptom, campaign.seed)
    };
    (finding, gathered.shortest.texts.clone())
}

/// Returns the finding with a reduced program, and the result of each subject for it.
fn reduced(
    campaign: &Campaign<'_>,
    (_, symptom): &Key,
    gathered: &Gathered,
    budget: &reduction::Budget<'_>,
) -> Result<Found, Failure> {
    let example = &gathered.shortest;
    let reduced = reduction::reduce_example(&campaign.subjects[example.subject], example, budget)?;
    let releases = releases(&campaign.subjects, &reduced)?;
    let id = |place: usize| campaign.subjects[place].subject.id().to_owned();
    // The reduced program may not show the difference on all subjects that show some program of the finding.
    let shown = ProgramVerdict::Deviates(reduced.difference.class);
    let shows = |place: &usize| releases[*place].verdict == shown;
    let mut showing: Vec<String> = (0..releases.len()).filter(shows).map(id).collect();
    if showing.is_empty() {
        showing = gathered.subjects.iter().copied().map(id).collect();
    }
    let finding = Finding {
        count: gathered.count,
        subjects: showing,
        releases,
        ..finding_of(&reduced, symptom, campaign.seed)
    };
    Ok((finding, reduced.texts))
}

/// Returns the listed deviations that no longer reproduce on a subject for which they are listed.
fn gone(subjects: &[Tested]) -> Result<Vec<(Finding, Vec<String>)>, Failure> {
    let mut gone = Vec::new();
    for listed in LISTED.iter() {
        let texts: Vec<String> = listed.modules.iter().map(|(text, _)| (*text).to_owned()).collect();
        let mut without = Vec::new();
        for tested in subjects.iter().filter(|tested| listed.is_always_of(tested.subject.description())) {
            if !shows(tested, &texts, listed.class)? {
                without.push(tested.subject.id().to_owned());
            }
        }
        if !without.is_empty() {
            gone.push((gone_from(listed, without, &texts), texts));
        }
    }
    Ok(gone)
}

/// Returns true if a linker shows a difference of this class in a program.
fn shows(tested: &Tested, texts: &[String], class: Class) -> Result<bool, Failure> {
    let verdict = verdict(tested, texts, true)?.unwrap_or_default();
    Ok(verdict.differences.iter().any(|(difference, _)| difference.class == class))
}

fn gone_from(listed: &Listed, subjects: Vec<String>, texts: &[String]) -> Finding {
    let edit = format!(
        "in corpus/deviations/linking/{}.ptx let `releases` leave out {}; remove the files where none is left",
        listed.id,
        subjects.join(", ")
    );
    Finding {
        id: format!("gone-{}", listed.id),
        status: Status::Gone,
        kind: Kind::Fixed(listed.id.to_owned()),
        class: listed.class,
        title: format!("no longer shown: {}", listed.title),
        count: subjects.len() as u64,
        subjects,
        program: texts[0].clone(),
        linked: Some(LinkedProgram { modules: texts[1..].to_vec(), ..LinkedProgram::default() }),
        edit: Some(edit),
        ..Finding::default()
    }
}

/// Returns the result of each subject for a program, over every order of its modules.
fn releases(subjects: &[Tested], example: &Example) -> Result<Vec<ReleaseVerdict>, Failure> {
    let class = example.difference.class;
    let of = |tested: &Tested| {
        let verdict = verdict(tested, &example.texts, true)?.unwrap_or_default();
        let classes: BTreeSet<Class> =
            verdict.differences.iter().map(|(difference, _)| difference.class).collect();
        let is_linked = verdict.outcomes.iter().any(|(_, outcome)| *outcome == Answer::Accepted);
        let description = tested.subject.description();
        let verdict = match classes.first() {
            _ if classes.contains(&class) => ProgramVerdict::Deviates(class),
            Some(other) => ProgramVerdict::Deviates(*other),
            None if is_linked => ProgramVerdict::Conforms,
            None => ProgramVerdict::NotCompared(Answer::Refused.to_string()),
        };
        Ok(ReleaseVerdict {
            subject: description.id.clone(),
            version: description.version.clone().unwrap_or_default(),
            verdict,
        })
    };
    subjects.iter().map(of).collect()
}

/// Returns the id of the findings of a symptom.
fn id_of(class: Class, Symptom { what, linkage, needs_a_stage }: &Symptom) -> String {
    let stage = if *needs_a_stage { "staged" } else { "" };
    slug(format!("linking {} {what} {linkage} {stage}", class.name()).trim_end())
}

fn finding_of(example: &Example, symptom: &Symptom, seed: u64) -> Finding {
    let LinkDifference { class, name, clauses, expected, actual, .. } = &example.difference;
    let outcome = match class {
        Class::Crash => Answer::Crashed,
        Class::Hang => Answer::TimedOut,
        Class::Inconsistent => Answer::Refused,
        _ => Answer::Accepted,
    };
    Finding {
        id: id_of(*class, symptom),
        status: Status::New,
        kind: Kind::Unexplained,
        class: *class,
        clauses: clauses.iter().map(|clause| clause.id().to_owned()).collect(),
        title: title(&example.difference, symptom),
        program: example.texts.first().cloned().unwrap_or_default(),
        variable: (!name.is_empty()).then(|| name.clone()),
        observed: Observation::new(outcome),
        linked: Some(LinkedProgram {
            modules: example.texts.iter().skip(1).cloned().collect(),
            way: example.stage.map(|stage| numbered_way(example.texts.len(), stage)).unwrap_or_default(),
        }),
        comparison: Some(Comparison {
            expected: expected.clone(),
            actual: actual.clone(),
            found_by: format!("seed {seed}, program {}", example.number),
        }),
        ..Finding::default()
    }
}

/// Describes a way of linking by numbers of modules, in the order of the finding: `1 -r(2)`.
fn numbered_way(modules: usize, stage: Stage) -> String {
    let numbers: Vec<String> = (1..=modules).map(|number| number.to_string()).collect();
    Way { order: (0..modules).collect(), stage: Some(stage) }.text(&numbers)
}

fn title(difference: &LinkDifference, symptom: &Symptom) -> String {
    let title = title_of_whole(difference, symptom);
    if symptom.needs_a_stage { format!("{title}, in a link of two stages") } else { title }
}

/// Returns the title of a finding that shows if all modules are linked at once.
fn title_of_whole(difference: &LinkDifference, Symptom { what, linkage, .. }: &Symptom) -> String {
    let LinkDifference { class, actual, .. } = difference;
    let variable = if linkage.is_empty() { "variable" } else { linkage };
    match class {
        Class::WrongAddress if what == READ => {
            "a kernel reads constants at another place than the variables that it names".to_owned()
        }
        Class::WrongAddress if linkage.is_empty() => format!("an initializer, linked, holds {what}"),
        Class::WrongAddress => {
            format!("an initializer, linked, holds {what} where its module declares a {linkage}")
        }
        Class::WrongValue => {
            format!("a {variable} does not hold the initial value of any of its definitions")
        }
        Class::WrongLayout if what.starts_with("alignment") => format!("the {what} declarations is lost"),
        Class::WrongLayout => format!("a {variable} lies {actual}"),
        Class::Inconsistent => format!("the order of the modules decides whether they are linked: {what}"),
        Class::Crash => format!("the linker crashes: {actual}"),
        Class::Hang => "the linker does not end".to_owned(),
        _ => actual.clone(),
    }
}

/// Writes each module of a finding as a file that an assembler accepts. The first file names the others.
fn write_finding(out: &std::path::Path, mut finding: Finding, texts: &[String]) -> Result<Finding, Failure> {
    let directory = files::make_findings(out)?;
    let origin =
        finding.comparison.as_ref().map(|comparison| comparison.found_by.clone()).unwrap_or_default();
    let names: Vec<String> = (0..texts.len()).map(|place| module_name(&finding.id, place)).collect();
    for (place, (name, text)) in names.iter().zip(texts).enumerate() {
        let mut comments = String::new();
        if place == 0 {
            comments.extend(names[1..].iter().map(|other| format!("// link: {other}\n")));
            comments += &format!("// note: {}: {}\n", finding.class, finding.title);
        }
        comments += &files::provenance(&origin);
        files::write_whole(&directory.join(name), (comments + text).as_bytes())?;
    }
    let file = |name: &String| format!("{}/{name}", folder::FINDINGS);
    finding.file = Some(file(&names[0]));
    let subjects: String = finding
        .subjects
        .iter()
        .map(|subject| format!(" --subject {}", shell_words::quote(subject)))
        .collect();
    finding.repeat = format!("ptxsmith check --link {}{subjects}", file(&names[0]));
    finding.validity = validity(texts).name().to_owned();
    finding.reproduce = reproduce::command(&finding);
    Ok(finding)
}

/// Returns the specification's verdict on the modules together. Modules that contradict each other are undecided.
fn validity(texts: &[String]) -> Validity {
    let modules: Result<Vec<Module>, _> = texts.iter().map(|text| parse(text)).collect();
    let Ok(modules) = modules else { return Validity::Undecided };
    match link(&modules, &Rules::default()) {
        Ok(program) if program.contradiction().is_none() && program.undecided.is_empty() => Validity::Valid,
        Ok(_) => Validity::Undecided,
        Err(_) => Validity::Refused,
    }
}

/// Returns the file name of a module of a finding.
fn module_name(id: &str, place: usize) -> String {
    match place {
        0 => format!("{id}.ptx"),
        place => format!("{id}.{}.ptx", place + 1),
    }
}
