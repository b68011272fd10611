//! Runs campaigns of programs with several modules, to test linkers.
//!
//! Each subject links each program in every order of its modules. The result is compared with the
//! specification ([`ptxsmith_diff::linking`]). Differences with the same class and symptom are one finding,
//! and its shortest program is reduced.

pub(crate) mod drift;
mod reduction;
mod title;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use ptxsmith_diff::linking::{
    ANOTHER_OFFSET, LINKER_DEVIATIONS, LinkDifference, LinkPlan, LinkVerdict, LinkerDeviation, Modules,
    NO_ADDRESS, NO_ADDRESS_OR_OFFSET, Symptom, judge_each_linked,
};
use ptxsmith_gen::linking::modules;
use ptxsmith_model::{
    Class, ComparedResults, FindingKind, LinkedProgram, Observation, Outcome as Answer, ProgramVerdict,
    ReleaseVerdict, Status,
};
use ptxsmith_oracle::linking::link;
use ptxsmith_oracle::{Rules, Validity};
use ptxsmith_report::{Finding, folder, reproduce, severity};
use ptxsmith_subject::{Description, Stage, SubjectSpec, parse_spec};
use ptxsmith_syntax::{Module, parse};

use crate::campaign::{Campaign, CampaignOutcome};
use crate::failure::{Failure, of_subject};
use crate::files;
use crate::ledger::slug;
use crate::pool::{self, Budget, Completion, each, lock_of};
use crate::session::Session;
use crate::store::ExistingCampaign;
use crate::subjects::{TestSubject, open_subjects};
use crate::tally::{self, Tally};
use crate::texts::TextOptions;

/// The properties that all differences of a finding share.
type Key = (Class, Symptom);

/// One program in this many is also linked in two stages, which takes three times as long.
const STAGED: u64 = 8;
/// The number of programs that a linker is shown at once. A linker that lists the code of all of them in one
/// run needs a tenth of the time.
const TOGETHER: u64 = 16;
/// The number of programs if neither a number nor a time is given.
const CASES: u64 = 1_000;
/// The linker to test if none is named.
const DEFAULT: &str = "nvlink@13.5";

/// A program that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeviatingLink {
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

/// All occurrences of a symptom.
struct SymptomOccurrences {
    count: u64,
    subjects: BTreeSet<usize>,
    shortest: DeviatingLink,
}

type Symptoms = BTreeMap<Key, SymptomOccurrences>;

/// The results of the campaign so far.
#[derive(Default)]
struct LinkResults {
    /// The occurrences of listed deviations, by index in [`LINKER_DEVIATIONS`].
    known: BTreeMap<usize, SymptomOccurrences>,
    /// The occurrences of deviations that are not listed for their subject.
    symptoms: Symptoms,
    /// The tallies by index of the subject.
    tallies: Vec<Tally>,
}

/// Links programs generated from the session's seed, and reduces and reports the differences.
///
/// # Errors
/// If no subject can be opened, one cannot link modules, or this machine or our code fails.
pub fn run(session: &Session, options: &TextOptions) -> Result<CampaignOutcome, Failure> {
    let default = [parse_spec(DEFAULT).expect("it is a subject")];
    let specs = if options.subjects.is_empty() { &default[..] } else { &options.subjects };
    run_on(session, options, open_linkers(session, specs, options.timeout)?)
}

/// Like [`run`], with subjects that are open already.
///
/// # Errors
/// If this machine or our code fails.
pub fn run_on(
    session: &Session,
    options: &TextOptions,
    subjects: Vec<TestSubject>,
) -> Result<CampaignOutcome, Failure> {
    let earlier = if options.replace { ExistingCampaign::Replace } else { ExistingCampaign::Refuse };
    let campaign =
        Campaign::new(session, "linking", "programs", subjects, Some(options.out.clone()), earlier)?;
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let budget =
        Budget { tasks: cases.map(|cases| cases.div_ceil(TOGETHER)), units: cases, ..Budget::default() };
    let tallies = vec![Tally::default(); campaign.subjects.len()];
    let seen = Mutex::new(LinkResults { tallies, ..LinkResults::default() });
    let ended = each(session, budget, campaign.unit, |task, work| {
        let numbers = task * TOGETHER..cases.unwrap_or(u64::MAX).min((task + 1) * TOGETHER);
        judge_programs(&campaign.subjects, session.seed, numbers.clone(), &seen)?;
        work.done(numbers.end - numbers.start);
        work.say(format!("{} symptoms", lock_of(&seen).symptoms.len()));
        Ok(())
    })?;
    let seen = seen.into_inner().expect("a panic ends the program");
    let symptoms = of_any_linkage(seen.symptoms);
    let mut findings: Vec<LinkedFinding> = seen
        .known
        .iter()
        .map(|(&place, gathered)| known(&campaign, &LINKER_DEVIATIONS[place], gathered))
        .collect();
    match ended {
        Completion::All => findings.extend(new_and_gone(&campaign, &symptoms, options.reduce)?),
        // After an interruption, report the results so far.
        Completion::Interrupted => {
            findings.extend(symptoms.iter().map(|(key, gathered)| unreduced(&campaign, key, gathered)));
        }
    };
    let ended = if session.cancel.is_cancelled() { Completion::Interrupted } else { ended };
    let is_interrupted = ended == Completion::Interrupted && !session.cancel.is_late();
    let mut report = campaign.report(&[], ended == Completion::All);
    tally::enter(&mut report, &seen.tallies);
    for (finding, modules) in findings {
        report.findings.push(write_finding(&options.out, finding, &modules)?);
    }
    report.findings.sort_by_key(severity::order);
    session.expected.mark(&mut report);
    campaign.write_report(&report)?;
    Ok(CampaignOutcome { report, earlier: 0, interrupted: is_interrupted, resumable: false, left_out: false })
}

/// Opens linkers.
///
/// # Errors
/// If a subject cannot link modules, or is not available.
pub fn open_linkers(
    session: &Session,
    specs: &[SubjectSpec],
    timeout: Option<Duration>,
) -> Result<Vec<TestSubject>, Failure> {
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
    fn parse(texts: Vec<String>, in_stages: bool) -> Option<LinkedCase> {
        let modules = texts.iter().map(|text| parse(text)).collect::<Result<_, _>>().ok()?;
        Some(LinkedCase { texts, modules, in_stages })
    }
}

/// Whether the program of this number is also linked in two stages.
fn is_staged(number: u64) -> bool {
    number.is_multiple_of(STAGED)
}

/// Links programs with a subject in every order. Returns `None` for a program with a module that is invalid
/// on its own.
fn link_each(tested: &TestSubject, programs: &[LinkedCase]) -> Result<Vec<Option<LinkVerdict>>, Failure> {
    let programs: Vec<Modules<'_>> = programs
        .iter()
        .map(|program| Modules {
            in_stages: program.in_stages,
            ..Modules::new(&program.texts, &program.modules)
        })
        .collect();
    let verdicts = judge_each_linked(&*tested.subject, &programs, &tested.rules).map_err(of_subject)?;
    Ok(verdicts.into_iter().map(Result::ok).collect())
}

/// Links programs with every subject.
fn judge_programs(
    subjects: &[TestSubject],
    seed: u64,
    numbers: Range<u64>,
    seen: &Mutex<LinkResults>,
) -> Result<(), Failure> {
    let count = numbers.end - numbers.start;
    let made = numbers
        .filter_map(|number| Some((number, LinkedCase::parse(modules(seed, number), is_staged(number))?)));
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

/// Links a program in every order and returns the verdict; `None` if one of its modules is invalid on its
/// own.
fn verdict(tested: &TestSubject, texts: &[String], in_stages: bool) -> Result<Option<LinkVerdict>, Failure> {
    let Some(program) = LinkedCase::parse(texts.to_vec(), in_stages) else { return Ok(None) };
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

impl LinkResults {
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
            let shortest = DeviatingLink { bytes, number, subject, difference, texts, stage: way.stage };
            let occurrence = SymptomOccurrences { count: 1, subjects: BTreeSet::from([subject]), shortest };
            match listed {
                Some(place) => join(&mut self.known, place, occurrence),
                None => join(&mut self.symptoms, key, occurrence),
            }
        }
    }
}

/// Returns the index in [`LINKER_DEVIATIONS`] of the deviation that a difference belongs to; `None` if none is listed
/// for the linker.
fn listed(difference: &LinkDifference, linker: &Description) -> Option<usize> {
    let symptom = &difference.symptom;
    // For a variable at place 0 a lost offset looks like a lost address.
    let what = if symptom.what == NO_ADDRESS_OR_OFFSET { NO_ADDRESS } else { &*symptom.what };
    let id = id_of(difference.class, &Symptom { what: what.to_owned(), ..symptom.clone() });
    LINKER_DEVIATIONS.iter().position(|listed| listed.is_called(&id) && listed.is_listed_for(linker))
}

/// Merges an occurrence with earlier ones of the same symptom.
fn join<K: Ord>(symptoms: &mut BTreeMap<K, SymptomOccurrences>, key: K, more: SymptomOccurrences) {
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

/// Merges symptoms that differ only in the linkage of a referenced name, if they show with three or more
/// linkages: such a deviation is not about linkage. Symptoms with only two linkages stay separate.
fn of_any_linkage(symptoms: Symptoms) -> Symptoms {
    let mut linkages: BTreeMap<Key, usize> = BTreeMap::new();
    for key in symptoms.keys().filter(|(_, symptom)| !symptom.linkage.is_empty()) {
        *linkages.entry(without_linkage(key)).or_default() += 1;
    }
    let mut joined: Symptoms = BTreeMap::new();
    for (key, gathered) in symptoms {
        let general_key = without_linkage(&key);
        let shows_with_any = linkages.get(&general_key).is_some_and(|count| *count >= ANY_LINKAGE);
        join(&mut joined, if shows_with_any { general_key } else { key }, gathered);
    }
    join_ambiguous(&mut joined);
    joined
}

fn without_linkage((class, symptom): &Key) -> Key {
    (*class, Symptom { linkage: String::new(), ..symptom.clone() })
}

/// Merges symptoms that may be either a lost address or a lost offset with a symptom that is clearly one of
/// these, if there is any.
fn join_ambiguous(joined: &mut Symptoms) {
    let ambiguous: Vec<Key> =
        joined.keys().filter(|(_, symptom)| symptom.what == NO_ADDRESS_OR_OFFSET).cloned().collect();
    for key in ambiguous {
        let mut keys = joined.keys();
        let clear = keys.find(|(_, symptom)| [NO_ADDRESS, ANOTHER_OFFSET].contains(&&*symptom.what));
        let Some(clear) = clear.cloned() else { continue };
        let (Some(more), Some(gathered)) = (joined.remove(&key), joined.get_mut(&clear)) else { continue };
        gathered.count += more.count;
        gathered.subjects.extend(more.subjects);
    }
}

/// A finding with its modules, in the order that shows it.
type LinkedFinding = (Finding, Vec<String>);

/// Returns the finding of a listed deviation, with its shortest program.
fn known(campaign: &Campaign<'_>, listed: &LinkerDeviation, gathered: &SymptomOccurrences) -> LinkedFinding {
    let (finding, texts) = unreduced(campaign, &key(&gathered.shortest.difference), gathered);
    let finding = Finding {
        id: listed.id.to_owned(),
        status: Status::Known,
        kind: FindingKind::Known(listed.id.to_owned()),
        title: listed.title.to_owned(),
        ..finding
    };
    (finding, texts)
}

/// Returns new findings, reduced as far as time permits, and those of listed deviations that no longer
/// reproduce.
fn new_and_gone(
    campaign: &Campaign<'_>,
    symptoms: &Symptoms,
    limit: Option<Duration>,
) -> Result<Vec<LinkedFinding>, Failure> {
    let budget = reduction::LinkReductionBudget::new(campaign.session, limit);
    let symptoms: Vec<(&Key, &SymptomOccurrences)> = symptoms.iter().collect();
    let found = pool::map(campaign.session, &symptoms, |(key, gathered)| {
        match reduced(campaign, key, gathered, &budget) {
            Err(Failure::Interrupted) => Ok(unreduced(campaign, key, gathered)),
            reduced => reduced,
        }
    })?;
    let mut findings: Vec<LinkedFinding> = Vec::new();
    for (found, (key, gathered)) in found.into_iter().zip(&symptoms) {
        findings.push(found.unwrap_or_else(|| unreduced(campaign, key, gathered)));
    }
    match gone(&campaign.subjects) {
        Err(Failure::Interrupted) => {}
        gone => findings.extend(gone?),
    }
    Ok(findings)
}

/// Returns the ids of the subjects with these indices.
fn subject_ids(campaign: &Campaign<'_>, indices: impl IntoIterator<Item = usize>) -> Vec<String> {
    indices.into_iter().map(|index| campaign.subjects[index].subject.id().to_owned()).collect()
}

/// Returns the finding for a symptom with its shortest program, as it was linked.
fn unreduced(campaign: &Campaign<'_>, (_, symptom): &Key, gathered: &SymptomOccurrences) -> LinkedFinding {
    let finding = Finding {
        count: gathered.count,
        subjects: subject_ids(campaign, gathered.subjects.iter().copied()),
        ..finding_of(&gathered.shortest, symptom, campaign.seed)
    };
    (finding, gathered.shortest.texts.clone())
}

/// Returns the finding with a reduced program, and the result of each subject for it.
fn reduced(
    campaign: &Campaign<'_>,
    (_, symptom): &Key,
    gathered: &SymptomOccurrences,
    budget: &reduction::LinkReductionBudget<'_>,
) -> Result<LinkedFinding, Failure> {
    let example = &gathered.shortest;
    let reduced = reduction::reduce_example(&campaign.subjects[example.subject], example, budget)?;
    let releases = releases(&campaign.subjects, &reduced)?;
    // The reduced program may not show the difference on all subjects that show some program of the finding.
    let deviates = ProgramVerdict::Deviates(reduced.difference.class);
    let deviating = (0..releases.len()).filter(|&index| releases[index].verdict == deviates);
    let mut subjects = subject_ids(campaign, deviating);
    if subjects.is_empty() {
        subjects = subject_ids(campaign, gathered.subjects.iter().copied());
    }
    let finding =
        Finding { count: gathered.count, subjects, releases, ..finding_of(&reduced, symptom, campaign.seed) };
    Ok((finding, reduced.texts))
}

/// Returns the listed deviations that no longer reproduce on a subject for which they are listed.
fn gone(subjects: &[TestSubject]) -> Result<Vec<(Finding, Vec<String>)>, Failure> {
    let mut gone = Vec::new();
    for listed in LINKER_DEVIATIONS.iter() {
        let texts: Vec<String> = listed.modules.iter().map(|(text, _)| (*text).to_owned()).collect();
        let mut without = Vec::new();
        for tested in
            subjects.iter().filter(|tested| listed.is_always_listed_for(tested.subject.description()))
        {
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
fn shows(tested: &TestSubject, texts: &[String], class: Class) -> Result<bool, Failure> {
    let verdict = verdict(tested, texts, true)?.unwrap_or_default();
    Ok(verdict.differences.iter().any(|(difference, _)| difference.class == class))
}

fn gone_from(listed: &LinkerDeviation, subjects: Vec<String>, texts: &[String]) -> Finding {
    let edit = format!(
        "in corpus/deviations/linking/{}.ptx let `releases` leave out {}; remove the files where none is \
         left",
        listed.id,
        subjects.join(", ")
    );
    Finding {
        id: format!("gone-{}", listed.id),
        status: Status::Gone,
        kind: FindingKind::Fixed(listed.id.to_owned()),
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
fn releases(subjects: &[TestSubject], example: &DeviatingLink) -> Result<Vec<ReleaseVerdict>, Failure> {
    subjects.iter().map(|tested| release_verdict(tested, example)).collect()
}

fn release_verdict(tested: &TestSubject, example: &DeviatingLink) -> Result<ReleaseVerdict, Failure> {
    let class = example.difference.class;
    let verdict = verdict(tested, &example.texts, true)?.unwrap_or_default();
    let classes: BTreeSet<Class> =
        verdict.differences.iter().map(|(difference, _)| difference.class).collect();
    let is_linked = verdict.outcomes.iter().any(|(_, outcome)| *outcome == Answer::Accepted);
    let verdict = match classes.first() {
        _ if classes.contains(&class) => ProgramVerdict::Deviates(class),
        Some(other) => ProgramVerdict::Deviates(*other),
        None if is_linked => ProgramVerdict::Conforms,
        None => ProgramVerdict::NotCompared(Answer::Refused.to_string()),
    };
    let description = tested.subject.description();
    Ok(ReleaseVerdict {
        subject: description.id.clone(),
        version: description.version.clone().unwrap_or_default(),
        verdict,
    })
}

/// Returns the id of the findings of a symptom.
fn id_of(class: Class, Symptom { what, linkage, needs_a_stage }: &Symptom) -> String {
    let stage = if *needs_a_stage { "staged" } else { "" };
    slug(format!("linking {} {what} {linkage} {stage}", class.name()).trim_end())
}

fn finding_of(example: &DeviatingLink, symptom: &Symptom, seed: u64) -> Finding {
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
        kind: FindingKind::Unexplained,
        class: *class,
        clauses: clauses.iter().map(|clause| clause.id().to_owned()).collect(),
        title: title::title(&example.difference, symptom),
        program: example.texts.first().cloned().unwrap_or_default(),
        variable: (!name.is_empty()).then(|| name.clone()),
        observed: Observation::new(outcome),
        linked: Some(LinkedProgram {
            modules: example.texts.iter().skip(1).cloned().collect(),
            way: example.stage.map(|stage| numbered_way(example.texts.len(), stage)).unwrap_or_default(),
        }),
        comparison: Some(ComparedResults {
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
    LinkPlan { order: (0..modules).collect(), stage: Some(stage) }.text(&numbers)
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
    let file = format!("{}/{}", folder::FINDINGS, names[0]);
    let subjects: String = finding
        .subjects
        .iter()
        .map(|subject| format!(" --subject {}", shell_words::quote(subject)))
        .collect();
    finding.repeat = format!("ptxsmith check --link {file}{subjects}");
    finding.file = Some(file);
    finding.validity = validity(texts).name().to_owned();
    finding.reproduce = reproduce::command(&finding);
    Ok(finding)
}

/// Returns the specification's verdict on the modules together. Modules that contradict each other are
/// undecided.
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
