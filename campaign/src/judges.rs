//! Judging cases, each under the header and in the form that it needs.

use std::collections::BTreeMap;
use std::ops::Range;

use ptxsmith_diff::{
    Again, Body, Fate, Header, Judge, Judged, KernelJudge, NotCompared, Options, Part, Sifted, Trial,
    Verdict, gone, judge_program,
};
use ptxsmith_oracle::{QuestionSet, Rules};
use ptxsmith_subject::{Error, OutputForm, Subject};
use ptxsmith_syntax::{Assemble, Item, Module, ScalarType, StateSpace};

use crate::cases::Made;
use crate::failure::Failure;
use crate::subjects::{Tested, target_for};

/// How a trial is shown: under which header, and in which form of output.
type Lane = (Header, OutputForm);

/// The judges of one subject, one a lane, made when they are first needed.
#[derive(Clone)]
pub struct Judges<'a> {
    tested: &'a Tested,
    lanes: BTreeMap<Lane, Judge<'a>>,
    kernels: BTreeMap<Header, KernelJudge<'a>>,
}

/// A trial of a lane: of which case, and whether it is the twin of that.
struct Place<'m> {
    case: usize,
    is_twin: bool,
    trial: &'m Trial,
}

/// A verdict on a trial, and the header under which it was shown.
pub struct Entry<'t> {
    /// The trial.
    pub trial: &'t Trial,
    /// Its header.
    pub header: &'t Header,
    /// The verdict.
    pub judged: Judged,
}

/// A verdict, and on what of the cases that were judged together.
pub struct Placed {
    /// Which of the cases.
    case: usize,
    /// Whether it is on the twin of that.
    is_twin: bool,
    /// The verdict.
    judged: Judged,
}

impl Placed {
    /// The verdict.
    pub fn judged(&self) -> &Judged {
        &self.judged
    }

    /// The verdict on a trial of these cases, which were judged with this usual header.
    pub fn entry<'m>(self, made: &'m [Made], usual: &'m Header) -> Entry<'m> {
        let (trial, header) = made[self.case].shown(self.is_twin, usual);
        Entry { trial, header, judged: self.judged }
    }
}

impl<'a> Judges<'a> {
    /// The judges of a subject, none made yet.
    pub fn of(tested: &'a Tested) -> Judges<'a> {
        Judges { tested, lanes: BTreeMap::new(), kernels: BTreeMap::new() }
    }

    /// Judges cases; the verdicts come in their order, the one on a twin behind that on its case.
    pub fn verdicts(&mut self, made: &[Made], usual: &Header) -> Result<Vec<Placed>, Failure> {
        let mut lanes: BTreeMap<(&Header, OutputForm, bool), Vec<Place<'_>>> = BTreeMap::new();
        // Nearly all cases go one way.
        let mut most = Vec::with_capacity(made.len());
        for (case, one) in made.iter().enumerate() {
            for is_twin in [false, true].into_iter().take(1 + usize::from(one.twin.is_some())) {
                let (trial, header) = one.shown(is_twin, usual);
                let place = Place { case, is_twin, trial };
                if std::ptr::eq(header, usual)
                    && !is_twin
                    && one.form == OutputForm::Executable
                    && !one.kernel
                {
                    most.push(place);
                } else {
                    lanes.entry((header, one.form, one.kernel)).or_default().push(place);
                }
            }
        }
        if !most.is_empty() {
            lanes.entry((usual, OutputForm::Executable, false)).or_default().extend(most);
        }
        let mut all: Vec<Placed> = Vec::with_capacity(made.len());
        for ((header, form, kernel), places) in lanes {
            let trials: Vec<&Trial> = places.iter().map(|place| place.trial).collect();
            let judged = self.judged(header, (form, kernel), &trials)?;
            let place = |(Place { case, is_twin, .. }, judged)| Placed { case, is_twin, judged };
            all.extend(places.into_iter().zip(judged).map(place));
        }
        all.sort_unstable_by_key(|placed| (placed.case, placed.is_twin));
        for pair in all.chunk_by_mut(|one, next| one.case == next.case) {
            let [Placed { judged: broken, case, .. }, Placed { judged: twin, .. }] = pair else { continue };
            // A refusal shows something only where what differs in one thing is taken. A crash always does.
            let died = broken.fate() == Some(Fate::Died);
            if twin.fate() == Some(Fate::Accepted) {
                let (trial, header) = made[*case].shown(false, usual);
                broken.confirm(trial, header);
            } else if !died {
                broken.verdict = Verdict::NotCompared(NotCompared::TwinRefused);
            }
        }
        // A twin is no case of its own; but a deviation is one wherever it shows.
        all.retain(|placed| !placed.is_twin || matches!(placed.judged.verdict, Verdict::Deviates(_)));
        Ok(all)
    }

    /// Sifts expressions under this header, which the subject has to take: see [`Judge::sift`].
    pub fn sift(
        &mut self,
        header: &Header,
        cases: Range<u64>,
        contested: QuestionSet,
        make: impl FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
    ) -> Result<Sifted, Failure> {
        self.judge(header, OutputForm::Executable).sift(cases, contested, make).map_err(of_subject)
    }

    /// The judge of expressions and declarations under this header.
    fn judge(&mut self, header: &Header, form: OutputForm) -> &mut Judge<'a> {
        let lane = (header.clone(), form);
        if !self.lanes.contains_key(&lane) {
            let options = Options { header: header.clone(), form, ..Options::default() };
            let judge = Judge::new(&*self.tested.subject, Rules::default(), options);
            let judge = match self.lanes.values().next() {
                Some(other) => judge.familiar_as(other),
                None => judge,
            };
            self.lanes.insert(lane.clone(), judge);
        }
        self.lanes.get_mut(&lane).expect("it was there, or is now")
    }

    fn judged(
        &mut self,
        header: &Header,
        (form, kernel): (OutputForm, bool),
        trials: &[&Trial],
    ) -> Result<Vec<Judged>, Failure> {
        if !self.tested.takes(header) {
            let unsupported = |trial: &&Trial| {
                let verdict = Verdict::NotCompared(NotCompared::Unsupported);
                Judged::new(trial.id, verdict, None, Default::default())
            };
            return Ok(trials.iter().map(unsupported).collect());
        }
        let tested = self.tested;
        if kernel {
            let judge = self.kernels.entry(header.clone()).or_insert_with(|| {
                let options = Options { header: header.clone(), ..Options::default() };
                KernelJudge::new(&*tested.subject, Rules::default(), options)
            });
            return judge.batch(trials).map_err(of_subject);
        }
        self.judge(header, form).batch(trials).map_err(of_subject)
    }
}

/// A run of a subject that did not come to an end: ours, or stopped by Ctrl-C.
pub fn of_subject(error: Error) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}

/// The verdicts on a program that exists already, for the target that it names or the nearest one that the subject has: on
/// its variables, or on it as a whole, and, where it is taken, on what its kernels leave. Whoever judges a program asks
/// here.
///
/// # Errors
/// Only where our machine or code fails.
pub fn parts_of(tested: &Tested, module: &Module, text: &str) -> Result<Vec<Part>, Error> {
    Ok(judge(&*tested.subject, &trial_of(0, module), module, text)?.into_parts())
}

/// The verdicts on a program that exists already.
pub struct ProgramVerdicts {
    /// Those on its variables, or on it as a whole.
    pub parts: Vec<Part>,
    /// That on what its kernels leave, and the header under which they were shown.
    pub kernels: Option<(Judged, Header)>,
}

impl ProgramVerdicts {
    /// All of them.
    pub fn into_parts(self) -> Vec<Part> {
        let of_kernels =
            |(Judged { verdict, must, trace, .. }, _)| Part { variable: None, verdict, must, trace };
        self.parts.into_iter().chain(self.kernels.map(of_kernels)).collect()
    }
}

/// Judges a program that exists already, whose statements `trial` holds, and, where it is taken, what its kernels leave.
///
/// # Errors
/// Only where our machine or code fails.
pub fn judge(
    subject: &dyn Subject,
    trial: &Trial,
    module: &Module,
    text: &str,
) -> Result<ProgramVerdicts, Error> {
    let target = target_for(module, subject.description());
    let parts = judge_program(subject, &Rules::default(), module, text, &target)?;
    let kernels = match taken(&parts) {
        true => left_by_kernels(subject, trial, module, &target)?,
        false => None,
    };
    Ok(ProgramVerdicts { parts, kernels })
}

/// The declarations and functions of a program, as the ledger keeps them.
pub fn trial_of(id: u64, module: &Module) -> Trial {
    let items = module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
    Trial::new(id, Body::Items(items.cloned().collect()))
}

/// Whether a program was taken, so that its kernels can be looked at.
pub fn taken(parts: &[Part]) -> bool {
    let whole = |part: &&Part| part.variable.is_none();
    parts
        .iter()
        .filter(whole)
        .all(|part| matches!(part.verdict, Verdict::Conforms | Verdict::ConformsByOutcome))
}

/// The verdict on what the kernels of a program leave in their output buffers, and the header under which they were
/// shown; `None` where the program has none that can be run, or nothing is seen of them. `trial` holds the statements of
/// the program.
///
/// # Errors
/// Only where our machine or code fails.
fn left_by_kernels(
    subject: &dyn Subject,
    trial: &Trial,
    module: &Module,
    target: &str,
) -> Result<Option<(Judged, Header)>, Error> {
    let Some(header) = gone::header_of_kernels(module) else { return Ok(None) };
    let header = Header { address_size: module.address_size().unwrap_or(32), ..header };
    let options = Options { header: header.clone(), target: Some(target.to_owned()), ..Options::default() };
    let mut judge = KernelJudge::new(subject, Rules::default(), options);
    let judged = judge.batch(std::slice::from_ref(trial))?;
    let told = judged.into_iter().find(|judged| !matches!(judged.verdict, Verdict::NotCompared(_)));
    Ok(told.map(|judged| (judged, header)))
}
