//! Runs campaigns of kernels with integer arithmetic, to test whether generated code computes the results in
//! the PTX manual.
//!
//! Many kernels are compiled in one module. A rejected module is split until a single kernel remains.
//! Differences are reduced, and kernels that reduce to the same opcodes are one finding.

mod kernel;
mod reduction;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict, WrongResult, cause};
use ptxsmith_diff::gone::class_of as class_of_listed;
use ptxsmith_diff::known::{Implementation, KNOWN, KnownDeviation};
use ptxsmith_diff::pattern::Pattern;
use ptxsmith_gen::arithmetic::{TARGETS, forms, module};
use ptxsmith_model::{
    Class, ComparedResults, FindingKind, Observation, Outcome as Answer, ProgramVerdict, ReleaseVerdict,
    Status,
};
use ptxsmith_oracle::{INPUTS, Rules, Validity};
use ptxsmith_report::{Finding, folder, reproduce, severity};
use ptxsmith_subject::{SubjectSpec, parse_spec};
use ptxsmith_syntax::parse;

use crate::campaign::{Campaign, CampaignOutcome};
use crate::failure::{Failure, of_subject};
use crate::files;
use crate::ledger::slug;
use crate::pool::{Budget, Completion, each, lock_of};
use crate::session::Session;
use crate::store::ExistingCampaign;
use crate::subjects::{TestSubject, open_subjects};
use crate::tally::{self, Tally};
use crate::texts::TextOptions;
use kernel::KernelText;

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
struct MiscompiledKernel {
    kernel: KernelText,
    number: u64,
    /// The index of the subject.
    subject: usize,
    /// The index of the target.
    target: usize,
    class: Class,
    wrong: Option<WrongResult>,
    /// The message of a subject that failed.
    message: String,
}

#[derive(Default)]
struct ArithmeticResults {
    examples: Vec<MiscompiledKernel>,
    /// The tallies by index of the subject.
    tallies: Vec<Tally>,
}

/// Compares kernels generated from the session's seed, and reduces and reports the differences.
///
/// # Errors
/// If no subject can be opened, one neither shows code nor runs kernels, or this machine or our code fails.
pub fn run(session: &Session, options: &TextOptions) -> Result<CampaignOutcome, Failure> {
    let default: Vec<SubjectSpec> =
        DEFAULT.iter().map(|text| parse_spec(text).expect("it is a subject")).collect();
    let specs = if options.subjects.is_empty() { &default[..] } else { &options.subjects };
    let subjects = open_subjects(session, specs, options.timeout)?;
    match subjects.iter().find(|tested| !tested.subject.computes()) {
        None => run_on(session, options, subjects),
        Some(other) => Err(Failure::BadInput(format!(
            "{} neither shows code nor runs kernels; ptxas@RELEASE does, where nvdisasm is installed, and so \
             does driver",
            other.subject.id()
        ))),
    }
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
        Campaign::new(session, "arithmetic", "kernels", subjects, Some(options.out.clone()), earlier)?;
    let cases = options.cases.or((!options.unlimited).then_some(CASES));
    let budget =
        Budget { tasks: cases.map(|cases| cases.div_ceil(TOGETHER)), units: cases, ..Budget::default() };
    let tallies = vec![Tally::default(); campaign.subjects.len()];
    let seen = Mutex::new(ArithmeticResults { tallies, ..ArithmeticResults::default() });
    let ended = each(session, budget, campaign.unit, |task, work| {
        let numbers = TOGETHER * task..cases.unwrap_or(u64::MAX).min(TOGETHER * (task + 1));
        judge_kernels(&campaign, numbers.clone(), task as usize, &seen)?;
        work.done(numbers.end - numbers.start);
        work.say(format!("{} deviate", lock_of(&seen).examples.len()));
        Ok(())
    })?;
    let ArithmeticResults { mut examples, tallies } = seen.into_inner().expect("a panic ends the program");
    examples.sort_by_key(|example| (example.kernel.size(), example.number, example.subject));
    let mut reduced: Vec<(MiscompiledKernel, u64)> =
        examples.iter().map(|example| (example.clone(), 1)).collect();
    if ended == Completion::All {
        match reduction::reduce_all(&campaign, examples, options.reduce) {
            // If interrupted during the reduction, report the results so far.
            Err(Failure::Interrupted) => {}
            all => reduced = all?,
        }
    }
    let is_interrupted = ended == Completion::Interrupted && !session.cancel.is_late();
    let mut report = campaign.report(&[], ended == Completion::All);
    tally::enter(&mut report, &tallies);
    for finding in findings(&campaign, reduced)? {
        report.findings.push(write_finding(&options.out, finding)?);
    }
    report.findings.sort_by_key(severity::order);
    session.expected.mark(&mut report);
    campaign.write_report(&report)?;
    Ok(CampaignOutcome { report, earlier: 0, interrupted: is_interrupted, resumable: false, left_out: false })
}

/// Kernels with their names, and their expected results.
type NamedKernels = (Vec<(String, KernelText)>, Calculations);

/// Compiles the kernels with these numbers with every subject.
fn judge_kernels(
    campaign: &Campaign<'_>,
    numbers: std::ops::Range<u64>,
    task: usize,
    seen: &Mutex<ArithmeticResults>,
) -> Result<(), Failure> {
    // The expected results do not depend on the target, so compute them once for the targets with the same
    // kernels.
    let mut made: BTreeMap<usize, Option<NamedKernels>> = BTreeMap::new();
    for (subject, tested) in campaign.subjects.iter().enumerate() {
        let Some(target) = target_of(tested, task) else { continue };
        let kernels = made.entry(forms(target)).or_insert_with(|| {
            let text = module(campaign.seed, numbers.clone(), target);
            Some((KernelText::all(&text), calculations(&text)?))
        });
        if let Some((kernels, calculations)) = kernels {
            let batch = KernelBatch { kernels, first: numbers.start, subject, target };
            batch.judge(tested, calculations, seen)?;
        }
    }
    Ok(())
}

/// Kernels that one subject compiles for one target.
struct KernelBatch<'k> {
    /// The kernels with their names.
    kernels: &'k [(String, KernelText)],
    /// The number of the first kernel.
    first: u64,
    /// The index of the subject.
    subject: usize,
    /// The index of the target.
    target: usize,
}

impl KernelBatch<'_> {
    /// Compiles the kernels in one module. Splits a module that is not accepted until a single kernel
    /// remains.
    fn judge(
        &self,
        tested: &TestSubject,
        calculations: &Calculations,
        seen: &Mutex<ArithmeticResults>,
    ) -> Result<(), Failure> {
        let mut pending = vec![(0..self.kernels.len(), Some(calculations))];
        while let Some((range, whole)) = pending.pop() {
            let text = text_of(&self.kernels[range.clone()], self.target);
            let of_part = if whole.is_none() { self::calculations(&text) } else { None };
            let Some(calculations) = whole.or(of_part.as_ref()) else { continue };
            let target = TARGETS[self.target].0;
            let judged = calculations.judge(&*tested.subject, &text, target).map_err(of_subject)?;
            if judged.observation.outcome != Answer::Accepted && range.len() > 1 {
                let middle = range.start + range.len() / 2;
                pending.extend([(range.start..middle, None), (middle..range.end, None)]);
                continue;
            }
            let mut seen = lock_of(seen);
            self.enter_failure(range.start, &judged.observation, &mut seen);
            // The verdicts are in the order of the names: k10 comes before k9.
            let mut verdicts: BTreeMap<String, KernelVerdict> = judged.kernels.into_iter().collect();
            for index in range {
                if let Some(verdict) = verdicts.remove(&self.kernels[index].0) {
                    self.enter_verdict(index, verdict, &mut seen);
                }
            }
        }
        Ok(())
    }

    /// Records that a subject does not accept a kernel, if that is so.
    fn enter_failure(&self, index: usize, observation: &Observation, seen: &mut ArithmeticResults) {
        if observation.outcome == Answer::Accepted {
            return;
        }
        let message = message_of(observation);
        let tally = &mut seen.tallies[self.subject];
        match class_of(observation.outcome) {
            Some(class) => {
                tally.compared += 1;
                tally.deviate += 1;
                seen.examples.push(MiscompiledKernel { class, message, ..self.example(index) });
            }
            None => tally.leave(message, 1),
        }
    }

    fn enter_verdict(&self, index: usize, verdict: KernelVerdict, seen: &mut ArithmeticResults) {
        let tally = &mut seen.tallies[self.subject];
        match verdict {
            KernelVerdict::Agrees => tally.compared += 1,
            KernelVerdict::NotFollowed(why) => tally.leave(cause(&why), 1),
            KernelVerdict::Differs(wrong) => {
                tally.compared += 1;
                tally.deviate += 1;
                seen.examples.push(MiscompiledKernel { wrong: Some(wrong), ..self.example(index) });
            }
        }
    }

    /// Returns the kernel with this index as one with a wrong result.
    fn example(&self, index: usize) -> MiscompiledKernel {
        MiscompiledKernel {
            kernel: self.kernels[index].1.clone(),
            number: self.first + index as u64,
            subject: self.subject,
            target: self.target,
            class: Class::WrongValue,
            wrong: None,
            message: String::new(),
        }
    }
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
fn message_of(observation: &Observation) -> String {
    let diagnostic = observation.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    let message = diagnostic.or_else(|| observation.reason.clone());
    message.unwrap_or_else(|| format!("the kernel is {}", observation.outcome))
}

/// Returns the expected results of kernels for the standard inputs.
fn calculations(text: &str) -> Option<Calculations> {
    Calculations::new(parse(text).ok()?, &Rules::default(), INPUTS)
}

/// Prints kernels as a module for a target, under their own names.
fn text_of(kernels: &[(String, KernelText)], target: usize) -> String {
    let (target, version) = TARGETS[target];
    let header = format!(".version {version}\n.target {target}\n.address_size 64\n");
    kernels.iter().fold(header, |text, (name, kernel)| text + &kernel.text(name))
}

/// Returns the target of a task. The targets of a subject take turns.
fn target_of(tested: &TestSubject, task: usize) -> Option<usize> {
    let targets: Vec<usize> = (0..TARGETS.len()).filter(|&target| has_target(tested, target)).collect();
    (!targets.is_empty()).then(|| targets[task % targets.len()])
}

/// Returns true if a subject declares support for the target with this index.
fn has_target(tested: &TestSubject, target: usize) -> bool {
    tested.subject.description().targets.iter().any(|known| known == TARGETS[target].0)
}

/// Builds the findings. Kernels with the same class that reduce to the same opcodes, or that one listed
/// deviation covers, are one finding.
fn findings(
    campaign: &Campaign<'_>,
    reduced: Vec<(MiscompiledKernel, u64)>,
) -> Result<Vec<Finding>, Failure> {
    let mut shortest: BTreeMap<String, (MiscompiledKernel, u64, BTreeSet<usize>)> = BTreeMap::new();
    for (example, count) in reduced {
        let subject = example.subject;
        let id = slug(&format!("arithmetic {} {}", example.class.name(), example.kernel.form()));
        let id = listed(campaign, &example, KnownDeviation::widest).map_or(id, |known| known.id.to_owned());
        let (best, total, subjects) =
            shortest.entry(id).or_insert_with(|| (example.clone(), 0, BTreeSet::new()));
        *total += count;
        subjects.insert(subject);
        if example.kernel.size() < best.kernel.size() {
            *best = example;
        }
    }
    let mut findings = Vec::new();
    for (id, (example, count, shows)) in shortest {
        let releases = match releases(campaign, &example) {
            // If interrupted while the subjects run again, report the results so far.
            Err(Failure::Interrupted) => Vec::new(),
            releases => releases?,
        };
        // One that deviates in another way, such as by a crash, does not show the finding.
        let deviation = ProgramVerdict::Deviates(example.class);
        let deviates: Vec<bool> = releases.iter().map(|release| release.verdict == deviation).collect();
        if !releases.is_empty() && !deviates.contains(&true) {
            let note =
                format!("`{}` differed {count} times and not again; it is no finding", example.kernel.form());
            campaign.session.events.note(&note);
            continue;
        }
        let subjects: Vec<String> = (campaign.subjects.iter().enumerate())
            .filter(|(index, _)| deviates.get(*index) == Some(&true) || shows.contains(index))
            .map(|(_, tested)| tested.subject.id().to_owned())
            .collect();
        let finding = Finding { id, count, subjects, releases, ..finding_of(&example, campaign.seed) };
        findings.push(known_where_listed(finding, &campaign.subjects));
    }
    Ok(findings)
}

/// Returns the deviation of the same class that is listed for the subject and whose selected pattern matches a
/// kernel.
fn listed(
    campaign: &Campaign<'_>,
    example: &MiscompiledKernel,
    select: fn(&KnownDeviation) -> Option<&'static Pattern>,
) -> Option<&'static KnownDeviation> {
    let module = parse(&text_of(&[("k".to_owned(), example.kernel.clone())], example.target)).ok()?;
    let subject = campaign.subjects[example.subject].subject.description();
    KNOWN.iter().find(|known| {
        class_of_listed(known, &module) == example.class
            && known.is_listed_for(Implementation::from_description(subject))
            && select(known).is_some_and(|pattern| pattern.is_in(&module))
    })
}

/// Returns the result of each subject for the kernel of a finding.
fn releases(campaign: &Campaign<'_>, example: &MiscompiledKernel) -> Result<Vec<ReleaseVerdict>, Failure> {
    campaign.subjects.iter().map(|tested| release_verdict(tested, example)).collect()
}

/// Returns the result of a subject for a kernel, for the target of the kernel or another one with the same
/// kernels.
fn release_verdict(tested: &TestSubject, example: &MiscompiledKernel) -> Result<ReleaseVerdict, Failure> {
    let likely = (0..TARGETS.len()).filter(|&target| forms(target) == forms(example.target));
    let mut targets = [example.target].into_iter().chain(likely);
    let verdict = match targets.find(|&target| has_target(tested, target)) {
        None => ProgramVerdict::NotCompared("it has none of the targets".to_owned()),
        Some(target) => match reduction::deviation_of(tested, &example.kernel, target)? {
            Some((class, _)) => ProgramVerdict::Deviates(class),
            None => ProgramVerdict::Conforms,
        },
    };
    let description = tested.subject.description();
    Ok(ReleaseVerdict {
        subject: description.id.clone(),
        version: description.version.clone().unwrap_or_default(),
        verdict,
    })
}

fn finding_of(example: &MiscompiledKernel, seed: u64) -> Finding {
    let form = example.kernel.form();
    let text = text_of(&[("k".to_owned(), example.kernel.clone())], example.target);
    let (title, expected, actual) = match &example.wrong {
        Some(WrongResult { inputs, expected, stored, .. }) => (
            format!("`{form}` computes another value"),
            format!("{expected}, where {inputs}"),
            stored.clone(),
        ),
        None => (format!("`{form}`: {}", example.message), "code".to_owned(), example.message.clone()),
    };
    let outcome = match example.class {
        Class::Crash => Answer::Crashed,
        Class::Hang => Answer::TimedOut,
        _ => Answer::Accepted,
    };
    Finding {
        status: Status::New,
        kind: FindingKind::Unexplained,
        class: example.class,
        title,
        program: text,
        observed: Observation::new(outcome),
        repeat: format!("ptxsmith run --focus arithmetic --seed {seed} --cases {}", example.number + 1),
        validity: Validity::Valid.name().to_owned(),
        comparison: Some(ComparedResults {
            expected,
            actual,
            found_by: format!("seed {seed}, kernel {}", example.number),
        }),
        ..Finding::default()
    }
}

/// Turns the finding into a known one, if the deviation is listed for every subject that shows it.
fn known_where_listed(finding: Finding, subjects: &[TestSubject]) -> Finding {
    let Some(listed) = KNOWN.iter().find(|known| known.id == finding.id) else { return finding };
    let mut showing =
        subjects.iter().filter(|tested| finding.subjects.iter().any(|id| id == tested.subject.id()));
    if !showing
        .all(|tested| listed.is_listed_for(Implementation::from_description(tested.subject.description())))
    {
        return finding;
    }
    Finding {
        status: Status::Known,
        kind: FindingKind::Known(listed.id.to_owned()),
        title: listed.title.to_owned(),
        ..finding
    }
}

/// Writes the kernel of a finding to a file.
fn write_finding(out: &std::path::Path, mut finding: Finding) -> Result<Finding, Failure> {
    let directory = files::make_findings(out)?;
    let name = format!("{}.ptx", finding.id);
    let mut text = format!("// note: {}: {}\n", finding.class, finding.title);
    if let Some(ComparedResults { expected, actual, found_by }) = &finding.comparison {
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
    let of_option = limit.map(|limit| Instant::now() + limit);
    of_option.into_iter().chain(of_session).min()
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
        let tested = TestSubject::new(Box::new(LeavesNothing(description)));
        let session = session();
        let campaign =
            Campaign::new(&session, "arithmetic", "kernels", vec![tested], None, ExistingCampaign::Refuse)
                .unwrap();
        let seen =
            Mutex::new(ArithmeticResults { tallies: vec![Tally::default()], ..ArithmeticResults::default() });
        judge_kernels(&campaign, 0..12, 0, &seen).unwrap();
        let examples = seen.into_inner().unwrap().examples;
        assert_eq!(examples.iter().map(|example| example.number).collect::<Vec<_>>(), [9]);
    }
}
