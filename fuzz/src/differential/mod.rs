//! Target `differential`: bytes make many declarations, which real implementations assemble in processes of their own, and
//! which are judged as in a campaign.
//!
//! What an implementation does stops nothing: a crash, a hang or a wrong value is a finding in the store, whether it is
//! listed or new. The target fails only where our own code or machine does.

mod store;

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use ptxsmith_diff::{Body, Header, Judge, Ledger, Options, Status, Trial, Verdict};
use ptxsmith_gen::{Config, Coverage, Generator, stream::SplitMix64};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{OpenOptions, Subject, open, parse_spec, worker::Workers};
use ptxsmith_syntax::{Item, ScalarType, Spacing, StateSpace};

use crate::target::{Failure, Target};
use store::Store;

/// The target.
pub static DIFFERENTIAL: Target = Target { name: "differential", run, program };

/// Names the implementations, as `--subject` does, with commas between. Default: `ptxas`.
pub const SUBJECTS: &str = "PTXSMITH_FUZZ_SUBJECT";
/// Names the folder of the findings. Default: `fuzz/artifacts/differential/findings`.
pub const STORE: &str = "PTXSMITH_FUZZ_STORE";
/// Names the program `ptxsmith`, which is the worker of `nvjitlink@`. Default: `ptxsmith`, found in `PATH`.
pub const PROGRAM: &str = "PTXSMITH";

/// How often it is told how far we are.
const TELL: Duration = Duration::from_secs(10);
/// The least length of an input that the mutator makes: assembling many declarations costs little more than one.
const LEAST_BYTES: usize = 16 * 1024;

static GENERATORS: LazyLock<[Generator; 2]> =
    LazyLock::new(|| [Generator::new(Config::calm()), Generator::default()]);

const TYPES: [ScalarType; 14] = [
    ScalarType::S64,
    ScalarType::U64,
    ScalarType::B64,
    ScalarType::S32,
    ScalarType::U32,
    ScalarType::B32,
    ScalarType::S16,
    ScalarType::U16,
    ScalarType::B16,
    ScalarType::S8,
    ScalarType::U8,
    ScalarType::B8,
    ScalarType::F64,
    ScalarType::F32,
];

/// What these bytes stand for, and whether it holds addresses of functions and constants, which show in relocatable output
/// only. The first byte says which, and whether hazards are made on purpose; each trial begins with a byte that
/// says what it is.
pub fn trials(data: &[u8]) -> (Vec<Trial>, bool) {
    let mut u = Unstructured::new(data);
    let mut coverage = Coverage::new();
    let first: u8 = u.arbitrary().unwrap_or(0);
    let (generator, relocatable) = (&GENERATORS[usize::from(first & 1)], first % 16 >= 14);
    let mut trials: Vec<Trial> = Vec::new();
    while !u.is_empty() {
        let what: u8 = u.arbitrary().unwrap_or(0);
        let body = if relocatable {
            Body::Items(generator.addresses(&mut u, &mut coverage))
        } else {
            match what % 8 {
                0..=4 => {
                    let ty = TYPES[usize::from(what / 8) % TYPES.len()];
                    let space = if what >= 240 { StateSpace::Const } else { StateSpace::Global };
                    Body::Expression { ty, space, expr: generator.expression(ty, &mut u, &mut coverage) }
                }
                5 | 6 => Body::Items(vec![Item::Variables(generator.declaration(&mut u, &mut coverage))]),
                _ => Body::Seats(generator.seats(&mut u, &mut coverage)),
            }
        };
        trials.push(Trial { id: trials.len() as u64, body, spacing: Spacing::Canonical });
    }
    (trials, relocatable)
}

/// All trials in one text, for people: the names of one may be those of another.
fn program(data: &[u8]) -> Option<String> {
    let header = Header::default();
    let texts = trials(data).0.into_iter().map(|trial| trial.text(&header));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// One implementation, the judges of its two forms of output, and what was found.
struct Tested {
    id: String,
    judges: [Judge<'static>; 2],
    ledger: Ledger,
}

/// What lasts from one input to the next.
pub struct Differential {
    tested: Vec<Tested>,
    store: Store,
    judged: u64,
    since: Instant,
    told: Instant,
}

impl Differential {
    /// Judges implementations, each given for executable and for relocatable output, and keeps what is found in a folder.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(subjects: Vec<[Box<dyn Subject>; 2]>, store: PathBuf) -> io::Result<Differential> {
        let tested = subjects.into_iter().map(|both| {
            let id = both[0].id().to_owned();
            // They live as long as the process does.
            let judges = both.map(|subject| {
                let subject: &'static dyn Subject = Box::leak(subject);
                Judge::new(subject, Rules::default(), Options::default())
            });
            Tested { id, judges, ledger: Ledger::default() }
        });
        let (tested, now) = (tested.collect(), Instant::now());
        Ok(Differential { tested, store: Store::open(store)?, judged: 0, since: now, told: now })
    }

    /// Those that the environment names.
    fn of_environment() -> Result<Differential, String> {
        let named = std::env::var(SUBJECTS).unwrap_or_else(|_| "ptxas".to_owned());
        let program = std::env::var_os(PROGRAM).map_or_else(|| PathBuf::from("ptxsmith"), PathBuf::from);
        let mut subjects = Vec::new();
        for name in named.split(',') {
            let spec = parse_spec(name.trim()).map_err(|error| format!("{SUBJECTS}: {error}"))?;
            let opened = |relocatable| {
                let workers = Some(Workers { program: program.clone(), args: vec!["worker".to_owned()] });
                open(&spec, &OpenOptions { relocatable, workers, ..OpenOptions::default() })
                    .map_err(|error| format!("{SUBJECTS}: {spec}: {error}"))
            };
            subjects.extend(opened(false)?.into_iter().zip(opened(true)?).map(<[_; 2]>::from));
        }
        let store = std::env::var_os(STORE).map_or_else(
            || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts/differential/findings"),
            PathBuf::from,
        );
        Differential::new(subjects, store).map_err(|error| format!("{STORE}: {error}"))
    }

    /// How many declarations were judged so far, by any of the implementations.
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// Judges what these bytes stand for.
    ///
    /// # Errors
    /// If our machine or code fails; whatever an implementation does is none.
    pub fn judge(&mut self, data: &[u8]) -> Result<(), Failure> {
        let (trials, relocatable) = trials(data);
        let header = Header::default();
        // Each implementation runs in processes of its own, so all at once.
        let judged: Vec<_> = thread::scope(|scope| {
            let trials = &trials;
            let ask = |tested: &mut Tested| tested.judges[usize::from(relocatable)].batch(trials);
            let asked: Vec<_> =
                self.tested.iter_mut().map(|tested| scope.spawn(move || ask(tested))).collect();
            asked.into_iter().map(|asked| asked.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        for (tested, judged) in self.tested.iter_mut().zip(judged) {
            let ours = |error| Failure(format!("{}: our machine or code failed: {error}", tested.id));
            let judged = judged.map_err(ours)?;
            for (trial, judged) in trials.iter().zip(judged) {
                if !matches!(judged.verdict, Verdict::NotCompared(_)) {
                    self.judged += declarations(trial);
                }
                if let Some(finding) = tested.ledger.enter(trial, judged, &header) {
                    let known = finding.status == Status::Known;
                    let kept =
                        self.store.keep(&finding, &tested.id).map_err(|error| Failure(error.to_string()))?;
                    if kept {
                        let status = if known { "known" } else { "NEW" };
                        let after = self.since.elapsed().as_secs();
                        eprintln!(
                            "differential: {status} {} in {} after {after} s: {}",
                            finding.id, tested.id, finding.title
                        );
                    }
                }
            }
        }
        if self.told.elapsed() > TELL {
            self.told = Instant::now();
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

/// How many variables a trial declares.
fn declarations(trial: &Trial) -> u64 {
    let of =
        |item: &Item| if let Item::Variables(declaration) = item { declaration.declarators.len() } else { 0 };
    trial.body.items().map_or(1, |items| items.iter().map(of).sum()) as u64
}

fn run(data: &[u8]) -> Result<(), Failure> {
    static STATE: LazyLock<Mutex<Result<Differential, String>>> =
        LazyLock::new(|| Mutex::new(Differential::of_environment()));
    match &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner) {
        Ok(state) => state.judge(data),
        Err(error) => Err(Failure(error.clone())),
    }
}

/// The mutator of libFuzzer: what it makes is long, since a run of an implementation on many declarations costs little more
/// than one on a single declaration. Returns the new size.
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
        // Also what libFuzzer begins with, a line break, which would choose the calm generator for ever.
        random.fill(&mut data[..least]);
        least
    } else if !seed.is_multiple_of(8) {
        // All behind some place anew: what is in front leads where coverage has led before, and the time goes into programs
        // that nobody has seen. Bytes that differ in one place are judged the same for all but one declaration.
        let start = if seed % 4 == 1 { 0 } else { random.next_u64() as usize % size };
        random.fill(&mut data[start..size]);
        size
    } else {
        size
    };
    bytes(data, size, most)
}
