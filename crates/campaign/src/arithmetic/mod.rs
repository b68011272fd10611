//! Runs campaigns of kernels with integer arithmetic, to test whether generated code computes the results in the PTX
//! manual.
//!
//! Many kernels are compiled in one module. A rejected module is split until a single kernel remains. Differences are
//! reduced, and kernels that reduce to the same opcodes are one finding.

mod kernel;
mod reduction;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict, WrongResult, cause};
use ptxsmith_diff::gone::class_of as class_of_listed;
use ptxsmith_diff::known::{KNOWN, Known, Maker};
use ptxsmith_gen::arithmetic::{TARGETS, forms, module};
use ptxsmith_model::{
    Class, Comparison, Kind, Observation, Outcome as Answer, ProgramVerdict, ReleaseVerdict, Status,
};
use ptxsmith_oracle::{INPUTS, Rules, Validity};
use ptxsmith_report::{Finding, folder, reproduce, severity};
use ptxsmith_subject::{SubjectSpec, parse_spec};
use ptxsmith_syntax::parse;

use crate::campaign::{Campaign, Outcome};
use crate::failure::{Failure, of_subject};
use crate::files;
use crate::ledger::slug;
use crate::pool::{Budget, Ended, each, lock_of};
use crate::session::Session;
use crate::store::Earlier;
use crate::subjects::{Tested, open_subjects};
use crate::tally::{self, Tally};
use crate::texts::Options;
use kernel::Kernel;

/// The number of kernels if neither a number nor a time is given.
const CASES: u64 = 20_000;
/// The number of kernels in a module; compilers and disassemblers take long to start.
const TOGETHER: u64 = 256;
/// The subjects to test if none are named.
const DEFAULT: [&str; 2] = ["ptxas@13.5", "ptxas@13.5 -O0"];
/// The most kernels to reduce if no time is set.
const MOST_REDUCED: usize = 300;

/// A kernel that a subject compiles incorrectly.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Example {
    kernel: Kernel,
    number: u64,
    /// The index of the subject.
    subject: usize,
    /// The index of the target.
    target: usize,
    class: Class,
    wrong: Option<WrongResult>,
    /// The message of a subject that failed.
    said: String,
}

#[derive(Default)]
struct Seen {
    examples: Vec<Example>,
    /// The tallies by index of the subject.
    tallies: Vec<Tally>,
}

/// Compares kernels generated from the session's seed, and reduces and reports the differences.
///
/// # Errors
/// If no subject can be opened, one neither shows code nor runs kernels, or this machine or our code fails.
pub fn run(session: &Session, options: &Options) -> Result<Outcome, Failure> {
    let default: Vec<SubjectSpec> =
        DEFAULT.iter().map(|text| parse_spec(text).expect("it is a subject")).collect();
    let specs = if options.subjects.is_empty() { &default[..] } else { &options.subjects };
    let subjects = open_subjects(session, specs, options.timeout)?;
    match subjects.iter().find(|tested| !tested.subject.computes()) {
        None => run_on(session, options, subjects),
        Some(other) => Err(Failure::BadInput(format!(
            "{} neither shows code nor runs kernels; ptxas@RELEASE does, where nvdisasm is installed, and so does driver",
            other.subject.id()
        ))),
    }
}

/// Like [`run`], with subjects that are open already.
///
/// # Errors
/// If this machine or our code fails.
pub fn run_on(session: &Session, options: &Options, subjects: Vec<Tested>) -> Result<Outcome, Failure> {
    let earlier = if options.replace { Earlier::Replace } else { Earlier::Refuse };
    let campaign =
        Campaign::new(session, "arithmetic", "kernels", subjects, Some(options.out.clone()), earlier)?;
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let budget =
        Budget { tasks: cases.map(|cases| cases.div_ceil(TOGETHER)), units: cases, ..Budget::default() };
    let tallies = vec![Tally::default(); campaign.subjects.len()];
    let seen = Mutex::new(Seen { tallies, ..Seen::default() });
    let ended = each(session, budget, campaign.unit, |task, work| {
        let numbers = TOGETHER * task..cases.unwrap_or(u64::MAX).min(TOGETHER * (task + 1));
        judge_kernels(&campaign, numbers.clone(), task as usize, &seen)?;
        work.done(numbers.end - numbers.start);
        work.say(format!("{} deviate", lock_of(&seen).examples.len()));
        Ok(())
    })?;
    let Seen { mut examples, tallies } = seen.into_inner().expect("a panic ends the program");
    examples.sort_by_key(|example| (example.kernel.size(), example.number, example.subject));
    let unreduced = || examples.iter().map(|example| (example.clone(), 1)).collect();
    let reduced = match ended {
        // If interrupted during the reduction, report the results so far.
        Ended::All => match reduction::reduce_all(&campaign, examples.clone(), options.reduce) {
            Err(Failure::Interrupted) => unreduced(),
            reduced => reduced?,
        },
        Ended::Interrupted => unreduced(),
    };
    let is_interrupted = ended == Ended::Interrupted && !session.cancel.is_late();
    let mut report = campaign.report(&[], ended == Ended::All);
    tally::enter(&mut report, &tallies);
    for finding in findings(&campaign, reduced)? {
        report.findings.push(write_finding(&options.out, finding)?);
    }
    report.findings.sort_by_key(severity::order);
    session.expected.mark(&mut report);
    campaign.write_report(&report)?;
    Ok(Outcome { report, earlier: 0, interrupted: is_interrupted, resumable: false, left_out: false })
}

/// Kernels with their names, and their expected results.
type NamedKernels = (Vec<(String, Kernel)>, Calculations);

/// Compiles the kernels with these numbers with every subject.
fn judge_kernels(
    campaign: &Campaign<'_>,
    numbers: std::ops::Range<u64>,
    task: usize,
    seen: &Mutex<Seen>,
) -> Result<(), Failure> {
    // The expected results do not depend on the target, so compute them once for the targets with the same kernels.
    let mut made: BTreeMap<usize, Option<NamedKernels>> = BTreeMap::new();
    for (subject, tested) in campaign.subjects.iter().enumerate() {
        let Some(target) = target_of(tested, task) else { continue };
        let made = made.entry(forms(target)).or_insert_with(|| {
            let text = module(campaign.seed, numbers.clone(), target);
            Some((Kernel::all(&text), calculations(&text)?))
        });
        let Some((kernels, calculations)) = made else { continue };
        let mut pending = vec![(0..kernels.len(), Some(&*calculations))];
        while let Some((range, whole)) = pending.pop() {
            let text = text_of(&kernels[range.clone()], target);
            let own = if whole.is_none() { self::calculations(&text) } else { None };
            let Some(calculations) = whole.or(own.as_ref()) else { continue };
            let judged =
                calculations.judge(&*tested.subject, &text, TARGETS[target].0).map_err(of_subject)?;
            let outcome = judged.observation.outcome;
            if outcome != Answer::Accepted && range.len() > 1 {
                let middle = range.start + range.len() / 2;
                pending.extend([(range.start..middle, None), (middle..range.end, None)]);
                continue;
            }
            let mut seen = lock_of(seen);
            let example = |at: usize, class, wrong, said| Example {
                kernel: kernels[at].1.clone(),
                number: numbers.start + at as u64,
                subject,
                target,
                class,
                wrong,
                said,
            };
            if outcome != Answer::Accepted {
                let said = said(&judged.observation);
                match class_of(outcome) {
                    Some(class) => {
                        seen.tallies[subject].compared += 1;
                        seen.tallies[subject].deviate += 1;
                        seen.examples.push(example(range.start, class, None, said));
                    }
                    None => seen.tallies[subject].leave(said, 1),
                }
            }
            // The verdicts are in the order of the names: k10 comes before k9.
            let mut verdicts: BTreeMap<String, KernelVerdict> = judged.kernels.into_iter().collect();
            for at in range.clone() {
                let Some(verdict) = verdicts.remove(&kernels[at].0) else { continue };
                let tally = &mut seen.tallies[subject];
                match verdict {
                    KernelVerdict::Agrees => tally.compared += 1,
                    KernelVerdict::NotFollowed(why) => tally.leave(cause(&why), 1),
                    KernelVerdict::Differs(wrong) => {
                        tally.compared += 1;
                        tally.deviate += 1;
                        seen.examples.push(example(at, Class::WrongValue, Some(wrong), String::new()));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the class of a compiler failure.
fn class_of(outcome: Answer) -> Option<Class> {
    match outcome {
        Answer::Crashed => Some(Class::Crash),
        Answer::TimedOut => Some(Class::Hang),
        _ => None,
    }
}

/// Returns the message of a subject that does not accept a module.
fn said(observation: &Observation) -> String {
    let diagnostic = observation.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    let said = diagnostic.or_else(|| observation.reason.clone());
    said.unwrap_or_else(|| format!("the kernel is {}", observation.outcome))
}

/// Returns the expected results of kernels for the standard inputs.
fn calculations(text: &str) -> Option<Calculations> {
    Calculations::new(parse(text).ok()?, &Rules::default(), INPUTS)
}

/// Prints kernels as a module for a target, under their own names.
fn text_of(kernels: &[(String, Kernel)], target: usize) -> String {
    let (target, version) = TARGETS[target];
    let header = format!(".version {version}\n.target {target}\n.address_size 64\n");
    kernels.iter().fold(header, |text, (name, kernel)| text + &kernel.text(name))
}

/// Returns the target of a task. The targets of a subject take turns.
fn target_of(tested: &Tested, task: usize) -> Option<usize> {
    let description = tested.subject.description();
    let has = |target: &usize| description.targets.iter().any(|known| known == TARGETS[*target].0);
    let targets: Vec<usize> = (0..TARGETS.len()).filter(has).collect();
    (!targets.is_empty()).then(|| targets[task % targets.len()])
}

/// Builds the findings. Kernels with the same class that reduce to the same opcodes, or that one listed deviation covers,
/// are one finding.
fn findings(campaign: &Campaign<'_>, reduced: Vec<(Example, u64)>) -> Result<Vec<Finding>, Failure> {
    let mut shortest: BTreeMap<String, (Example, u64, BTreeSet<usize>)> = BTreeMap::new();
    for (example, count) in reduced {
        let subject = example.subject;
        let id = slug(&format!("arithmetic {} {}", example.class.name(), example.kernel.form()));
        let id = listed(&example).map_or(id, |known| known.id.to_owned());
        let (shown, all, subjects) =
            shortest.entry(id).or_insert_with(|| (example.clone(), 0, BTreeSet::new()));
        *all += count;
        subjects.insert(subject);
        if example.kernel.size() < shown.kernel.size() {
            *shown = example;
        }
    }
    let mut found = Vec::new();
    for (id, (example, count, shows)) in shortest {
        let releases = match releases(campaign, &example) {
            // If interrupted while the subjects run again, report the results so far.
            Err(Failure::Interrupted) => Vec::new(),
            releases => releases?,
        };
        let own_id = |place: usize| campaign.subjects[place].subject.id().to_owned();
        let deviates = |place: usize| {
            releases.get(place).is_some_and(|release| matches!(release.verdict, ProgramVerdict::Deviates(_)))
        };
        if !releases.is_empty() && !(0..releases.len()).any(deviates) {
            let note =
                format!("`{}` differed {count} times and not again; it is no finding", example.kernel.form());
            campaign.session.events.note(&note);
            continue;
        }
        let subjects: Vec<String> = (0..campaign.subjects.len())
            .filter(|&place| deviates(place) || shows.contains(&place))
            .map(own_id)
            .collect();
        let finding = Finding { id, count, subjects, releases, ..finding_of(&example, campaign.seed) };
        found.push(known_where_listed(finding, &campaign.subjects));
    }
    Ok(found)
}

/// Returns the listed deviation of the same class whose pattern a kernel matches.
fn listed(example: &Example) -> Option<&'static Known> {
    let module = parse(&text_of(&[("k".to_owned(), example.kernel.clone())], example.target)).ok()?;
    KNOWN.iter().find(|known| class_of_listed(known, &module) == example.class && known.matches(&module))
}

/// Returns the result of each subject for the kernel of a finding.
fn releases(campaign: &Campaign<'_>, example: &Example) -> Result<Vec<ReleaseVerdict>, Failure> {
    let of = |tested: &Tested| {
        let description = tested.subject.description();
        let has = |target: usize| description.targets.iter().any(|known| known == TARGETS[target].0);
        let likely = (0..TARGETS.len()).filter(|&target| forms(target) == forms(example.target));
        let target = [example.target].into_iter().chain(likely).find(|&target| has(target));
        let verdict = match target {
            None => ProgramVerdict::NotCompared("it has none of the targets".to_owned()),
            Some(target) => match reduction::shown(tested, &example.kernel, target)? {
                Some((class, _)) => ProgramVerdict::Deviates(class),
                None => ProgramVerdict::Conforms,
            },
        };
        Ok(ReleaseVerdict {
            subject: description.id.clone(),
            version: description.version.clone().unwrap_or_default(),
            verdict,
        })
    };
    campaign.subjects.iter().map(of).collect()
}

fn finding_of(example: &Example, seed: u64) -> Finding {
    let form = example.kernel.form();
    let text = text_of(&[("k".to_owned(), example.kernel.clone())], example.target);
    let (title, expected, actual) = match &example.wrong {
        Some(WrongResult { inputs, expected, stored, .. }) => (
            format!("`{form}` computes another value"),
            format!("{expected}, where {inputs}"),
            stored.clone(),
        ),
        None => (format!("`{form}`: {}", example.said), "code".to_owned(), example.said.clone()),
    };
    let outcome = match example.class {
        Class::Crash => Answer::Crashed,
        Class::Hang => Answer::TimedOut,
        _ => Answer::Accepted,
    };
    Finding {
        status: Status::New,
        kind: Kind::Unexplained,
        class: example.class,
        title,
        program: text,
        observed: Observation::new(outcome),
        repeat: format!("ptxsmith run --focus arithmetic --seed {seed} --cases {}", example.number + 1),
        validity: Validity::Valid.name().to_owned(),
        comparison: Some(Comparison {
            expected,
            actual,
            found_by: format!("seed {seed}, kernel {}", example.number),
        }),
        ..Finding::default()
    }
}

/// Turns the finding into a known one, if the deviation is listed for every subject that shows it.
fn known_where_listed(finding: Finding, subjects: &[Tested]) -> Finding {
    let Some(listed) = KNOWN.iter().find(|known| known.id == finding.id) else { return finding };
    let shows = |tested: &&Tested| finding.subjects.iter().any(|id| id == tested.subject.id());
    let is_listed = |tested: &Tested| listed.is_of(Maker::of(tested.subject.description()));
    match subjects.iter().filter(shows).all(is_listed) {
        true => Finding {
            status: Status::Known,
            kind: Kind::Known(listed.id.to_owned()),
            title: listed.title.to_owned(),
            ..finding
        },
        false => finding,
    }
}

/// Writes the kernel of a finding to a file.
fn write_finding(out: &std::path::Path, mut finding: Finding) -> Result<Finding, Failure> {
    let directory = files::make_findings(out)?;
    let name = format!("{}.ptx", finding.id);
    let mut text = format!("// note: {}: {}\n", finding.class, finding.title);
    if let Some(Comparison { expected, actual, found_by }) = &finding.comparison {
        text += &files::provenance(found_by);
        text += &format!("// note: expected {expected}\n// note: seen {actual}\n");
    }
    files::write_whole(&directory.join(&name), (text + &finding.program).as_bytes())?;
    let file = format!("{}/{name}", folder::FINDINGS);
    let subjects: String = finding
        .subjects
        .iter()
        .map(|subject| format!(" --subject {}", shell_words::quote(subject)))
        .collect();
    finding.repeat += &subjects;
    finding.file = Some(file);
    finding.reproduce = reproduce::command(&finding);
    Ok(finding)
}

/// Returns the end of the time for reduction.
fn end_of(session: &Session, limit: Option<Duration>) -> Option<Instant> {
    let of_session = session.limit.map(|limit| limit.reduction_ends());
    let own = limit.map(|limit| Instant::now() + limit);
    own.into_iter().chain(of_session).min()
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::{Calculation, Description, Error, Memory, Request, Subject};

    use super::*;
    use crate::campaign::fake::session;

    /// A subject whose kernel `k9` leaves nothing, and whose other kernels cannot be followed.
    struct LeavesNothing(Description);

    impl Subject for LeavesNothing {
        fn description(&self) -> &Description {
            &self.0
        }

        fn observe(&self, _: &Request<'_>) -> Result<Observation, Error> {
            Ok(Observation::new(Answer::Accepted))
        }

        fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
            let left = request.trace.iter().map(|run| match run.kernel == "k9" {
                true => Ok(Memory::new()),
                false => Err("nothing is known of it".to_owned()),
            });
            Ok(Calculation { observation: self.observe(request)?, left: left.collect() })
        }

        fn shows_code(&self) -> bool {
            true
        }
    }

    #[test]
    fn the_kernel_that_is_wrong_is_the_one_with_the_number_in_its_name() {
        let targets = vec!["sm_75".to_owned()];
        let description = Description { id: "fake".to_owned(), targets, ..Description::default() };
        let tested = Tested::new(Box::new(LeavesNothing(description)));
        let session = session();
        let campaign =
            Campaign::new(&session, "arithmetic", "kernels", vec![tested], None, Earlier::Refuse).unwrap();
        let seen = Mutex::new(Seen { tallies: vec![Tally::default()], ..Seen::default() });
        judge_kernels(&campaign, 0..12, 0, &seen).unwrap();
        let examples = seen.into_inner().unwrap().examples;
        assert_eq!(examples.iter().map(|example| example.number).collect::<Vec<_>>(), [9]);
    }
}
