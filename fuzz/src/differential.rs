//! Target `differential`: generates many declarations from bytes, runs real implementations on them in separate
//! processes, and judges the results as in a campaign.
//!
//! A crash, a hang or a wrong value of an implementation is recorded as a finding in the folder, listed or new, and does not
//! stop the target. The target fails only if ptxsmith or the machine fails.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use ptxsmith_campaign::Session;
use ptxsmith_campaign::campaign::Campaign;
use ptxsmith_campaign::cases::GeneratedCase;
use ptxsmith_campaign::judges::{JudgedTrial, verdicts};
use ptxsmith_campaign::session::Events;
use ptxsmith_campaign::store::ExistingCampaign;
use ptxsmith_campaign::subjects::{TestSubject, open_subjects};
use ptxsmith_diff::{Header, Trial, TrialBody, Verdict};
use ptxsmith_gen::{Config, Coverage, Generator, stream::SplitMix64};
use ptxsmith_report::{Finding, Status};
use ptxsmith_subject::{Cancel, OutputForm, Subject, parse_spec, process::Start, worker::Workers};
use ptxsmith_syntax::{Item, ScalarType, Spacing, StateSpace, TypeKind};

use crate::target::{Target, TargetFailure};

/// The target.
pub static DIFFERENTIAL: Target = Target { name: "differential", run, program };

/// Names the implementations, as `--subject` does, with commas between. Default: `ptxas`.
pub const SUBJECTS: &str = "PTXSMITH_FUZZ_SUBJECT";
/// Names the folder of report and findings. Default: `fuzz/artifacts/differential`.
pub const STORE: &str = "PTXSMITH_FUZZ_STORE";
/// Names the program `ptxsmith`, which is the worker of `nvjitlink@`. Default: `ptxsmith`, found in `PATH`.
pub const PROGRAM: &str = "PTXSMITH";

/// The interval between progress messages.
const MESSAGE_INTERVAL: Duration = Duration::from_secs(10);
/// The minimum length of mutated inputs. Assembling many declarations costs little more than assembling one.
const LEAST_BYTES: usize = 16 * 1024;

static GENERATORS: LazyLock<[Generator; 2]> =
    LazyLock::new(|| [Generator::new(Config::calm()), Generator::default()]);

const TYPES: [ScalarType; ScalarType::count(TypeKind::OF_VALUES)] =
    ScalarType::with_values(TypeKind::OF_VALUES);

/// Decodes bytes into trials and the form of output that shows their results. The first byte selects the form of output and
/// whether risky constructs are generated on purpose. Each trial begins with a byte that selects its kind.
pub fn trials(data: &[u8]) -> (Vec<Trial>, OutputForm) {
    let mut u = Unstructured::new(data);
    let mut coverage = Coverage::new();
    let first: u8 = u.arbitrary().unwrap_or(0);
    let generator = &GENERATORS[usize::from(first & 1)];
    let form = if first % 16 >= 14 { OutputForm::Relocatable } else { OutputForm::Executable };
    let mut trials: Vec<Trial> = Vec::new();
    while !u.is_empty() {
        let what: u8 = u.arbitrary().unwrap_or(0);
        let body = if form == OutputForm::Relocatable {
            TrialBody::Items(generator.addresses(&mut u, &mut coverage))
        } else {
            match what % 8 {
                0..=4 => {
                    let ty = TYPES[usize::from(what / 8) % TYPES.len()];
                    let space = if what >= 240 { StateSpace::Const } else { StateSpace::Global };
                    TrialBody::Expression { ty, space, expr: generator.expression(ty, &mut u, &mut coverage) }
                }
                5 | 6 => {
                    TrialBody::Items(vec![Item::Variables(generator.declaration(&mut u, &mut coverage))])
                }
                _ => TrialBody::Contexts(generator.contexts(&mut u, &mut coverage)),
            }
        };
        trials.push(Trial { id: trials.len() as u64, body, spacing: Spacing::Canonical });
    }
    (trials, form)
}

/// Prints all trials together for human readers. Names may repeat between trials.
fn program(data: &[u8]) -> Option<String> {
    let header = Header::default();
    let texts = trials(data).0.into_iter().map(|trial| trial.text(&header));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The state kept between inputs.
pub struct Differential {
    campaign: &'static Campaign<'static>,
    judged: u64,
    since: Instant,
    last_message: Instant,
}

/// Reports each finding once.
struct FindingLog {
    since: Instant,
}

impl Events for FindingLog {
    fn found(&self, finding: &Finding) {
        let status = if finding.status == Status::Known { "known" } else { "NEW" };
        let after = self.since.elapsed().as_secs();
        eprintln!(
            "differential: {status} {} in {} after {after} s: {}",
            finding.id, finding.subjects[0], finding.title
        );
    }
}

impl Differential {
    /// Creates the state to judge these implementations, with findings stored in `folder`.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(subjects: Vec<Box<dyn Subject>>, folder: PathBuf) -> Result<Differential, TargetFailure> {
        let subjects = subjects.into_iter().map(TestSubject::new).collect();
        Differential::of(Box::leak(Box::new(session(None))), subjects, folder)
    }

    fn of(
        session: &'static Session,
        subjects: Vec<TestSubject>,
        folder: PathBuf,
    ) -> Result<Differential, TargetFailure> {
        let campaign =
            Campaign::new(session, "fuzz", "declarations", subjects, Some(folder), ExistingCampaign::Share)
                .map_err(failure)?;
        // Leaked on purpose: the campaign lives as long as the process.
        let campaign: &'static Campaign<'static> = Box::leak(Box::new(campaign));
        let now = Instant::now();
        Ok(Differential { campaign, judged: 0, since: now, last_message: now })
    }

    /// Creates the state for the implementations and folder named by the environment.
    fn of_environment() -> Result<Differential, TargetFailure> {
        let named = std::env::var(SUBJECTS).unwrap_or_else(|_| "ptxas".to_owned());
        let specs = named.split(',').map(|name| parse_spec(name.trim()));
        let specs = specs.collect::<Result<Vec<_>, _>>();
        let specs = specs.map_err(|error| TargetFailure(format!("{SUBJECTS}: {error}")))?;
        let program = std::env::var_os(PROGRAM).map_or_else(|| PathBuf::from("ptxsmith"), PathBuf::from);
        let workers = Workers { program, args: vec!["worker".to_owned()] };
        let session = Box::leak(Box::new(session(Some(workers))));
        let folder = std::env::var_os(STORE).map_or_else(
            || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts/differential"),
            PathBuf::from,
        );
        Differential::of(session, open_subjects(session, &specs, None).map_err(failure)?, folder)
    }

    /// Returns the number of declarations judged so far, over all implementations.
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// Judges the trials that these bytes encode.
    ///
    /// # Errors
    /// If ptxsmith or the machine fails. Misbehaviour of an implementation is not an error.
    pub fn judge(&mut self, data: &[u8]) -> Result<(), TargetFailure> {
        let (trials, form) = trials(data);
        let made: Vec<GeneratedCase> =
            trials.into_iter().map(|trial| GeneratedCase::new(trial, form)).collect();
        // Run the implementations in parallel, since each has its own processes.
        let subjects = &self.campaign.subjects;
        let judged: Vec<_> = thread::scope(|scope| {
            let made = &made;
            let mut threads = Vec::new();
            for tested in subjects {
                threads.push(scope.spawn(move || verdicts(tested, made, &tested.header)));
            }
            let results = threads.into_iter().map(|thread| thread.join());
            results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        for (tested, judged) in subjects.iter().zip(judged) {
            let judged = judged.map_err(failure)?.into_iter();
            let entries: Vec<JudgedTrial<'_>> =
                judged.map(|placed| placed.entry(&made, &tested.header)).collect();
            for entry in &entries {
                if !matches!(entry.judged.verdict, Verdict::NotCompared(_)) {
                    self.judged += declarations(entry.trial);
                }
            }
            self.campaign.enter(tested, entries, None).map_err(failure)?;
        }
        if self.last_message.elapsed() > MESSAGE_INTERVAL {
            self.last_message = Instant::now();
            let seconds = self.since.elapsed().as_secs_f64();
            let a_minute = self.judged as f64 / seconds * 60.0;
            eprintln!(
                "differential: {} declarations judged in {seconds:.0} s, {a_minute:.0} a minute",
                self.judged
            );
        }
        Ok(())
    }
}

/// Creates the session of a campaign that judges one input at a time.
fn session(workers: Option<Workers>) -> Session {
    Session {
        command_line: Vec::new(),
        jobs: NonZeroUsize::MIN,
        seed: 0,
        cancel: Cancel::new(),
        libcuda: None,
        start: Start::fork(),
        workers,
        limit: None,
        events: Box::new(FindingLog { since: Instant::now() }),
        expected: Default::default(),
        known: Vec::new(),
        answers: Vec::new(),
    }
}

/// Converts a failure of ptxsmith or the machine.
fn failure(failure: ptxsmith_campaign::Failure) -> TargetFailure {
    use ptxsmith_campaign::Failure as Campaign;
    TargetFailure(match failure {
        Campaign::BadInput(message) | Campaign::Rendered(message) | Campaign::NoSubject(message) => message,
        Campaign::Harness(error) => format!("our machine or code failed: {error:#}"),
        Campaign::Interrupted => "interrupted".to_owned(),
    })
}

/// Returns the number of variables that a trial declares.
fn declarations(trial: &Trial) -> u64 {
    let of =
        |item: &Item| if let Item::Variables(declaration) = item { declaration.declarators.len() } else { 0 };
    trial.body.items().map_or(1, |items| items.iter().map(of).sum()) as u64
}

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    static STATE: LazyLock<Mutex<Result<Differential, TargetFailure>>> =
        LazyLock::new(|| Mutex::new(Differential::of_environment()));
    match &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner) {
        Ok(state) => state.judge(data),
        Err(error) => Err(error.clone()),
    }
}

/// The libFuzzer mutator. It produces long inputs, because running an implementation on many declarations costs little more
/// than on one. Returns the new size.
pub fn long_bytes(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    bytes: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = SplitMix64::new(seed.into());
    let least = LEAST_BYTES.min(most);
    let size = if size < least {
        // This includes libFuzzer's initial input, a line break, which would otherwise always select the calm generator.
        random.fill(&mut data[..least]);
        least
    } else if !seed.is_multiple_of(8) {
        // Replace all bytes after a random position. The prefix keeps the input where coverage has led before, and the rest
        // gives new programs. A change of a single byte would change only one declaration.
        let start = if seed % 4 == 1 { 0 } else { random.next_u64() as usize % size };
        random.fill(&mut data[start..size]);
        size
    } else {
        size
    };
    bytes(data, size, most)
}
