//! Judging cases, each under the header and in the form that it needs.

use std::collections::BTreeMap;
use std::ops::Range;

use ptxsmith_diff::{
    Again, Body, BulkVerdicts, Fate, Header, Judge, Judged, MemoryOperands, ModuleVerdicts, NotCompared,
    Options, Part, Trial, Verdict, judge_module, judge_operands,
};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Error, Outcome, OutputForm, Subject};
use ptxsmith_syntax::{Assemble, Item, Module, ScalarType, StateSpace};

use crate::cases::Made;
use crate::failure::{Failure, of_subject};
use crate::subjects::{Tested, target_for};

/// A trial of a lane: of which case, and whether it is the valid counterpart of that.
struct Place<'m> {
    case: usize,
    is_counterpart: bool,
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
    /// Whether it is on the valid counterpart of that.
    is_counterpart: bool,
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
        let (trial, header) = made[self.case].shown(self.is_counterpart, usual);
        Entry { trial, header, judged: self.judged }
    }
}

/// In which form of output trials are shown, and whether they are kernels.
type Form = (OutputForm, bool);

/// That of nearly all cases.
const USUAL: Form = (OutputForm::Executable, false);

/// Judges cases for a subject; the verdicts come in their order, the one on a valid counterpart behind that on its case.
pub fn verdicts(tested: &Tested, made: &[Made], usual: &Header) -> Result<Vec<Placed>, Failure> {
    let mut lanes: BTreeMap<(&Header, Form), Vec<Place<'_>>> = BTreeMap::new();
    // Nearly all cases go one way.
    let mut most = Vec::with_capacity(made.len());
    for (case, one) in made.iter().enumerate() {
        for is_counterpart in [false, true].into_iter().take(1 + usize::from(one.counterpart.is_some())) {
            let (trial, header) = one.shown(is_counterpart, usual);
            let place = Place { case, is_counterpart, trial };
            let form = (one.form, one.kernel);
            if std::ptr::eq(header, usual) && !is_counterpart && form == USUAL {
                most.push(place);
            } else {
                lanes.entry((header, form)).or_default().push(place);
            }
        }
    }
    if !most.is_empty() {
        lanes.entry((usual, USUAL)).or_default().extend(most);
    }
    let mut all: Vec<Placed> = Vec::with_capacity(made.len());
    for ((header, form), places) in lanes {
        let trials: Vec<&Trial> = places.iter().map(|place| place.trial).collect();
        let judged = judged(tested, header, form, &trials)?;
        let place = |(Place { case, is_counterpart, .. }, judged)| Placed { case, is_counterpart, judged };
        all.extend(places.into_iter().zip(judged).map(place));
    }
    all.sort_unstable_by_key(|placed| (placed.case, placed.is_counterpart));
    for pair in all.chunk_by_mut(|one, next| one.case == next.case) {
        let [Placed { judged: broken, case, .. }, Placed { judged: counterpart, .. }] = pair else {
            continue;
        };
        // A refusal shows something only where what differs in one thing is taken. A crash always does.
        let died = broken.fate() == Some(Fate::Died);
        if counterpart.fate() == Some(Fate::Accepted) {
            let (trial, header) = made[*case].shown(false, usual);
            broken.confirm(trial, header);
        } else if !died {
            broken.verdict = Verdict::NotCompared(NotCompared::CounterpartRefused);
        }
    }
    // A valid counterpart is no case of its own; but a deviation is one wherever it shows.
    all.retain(|placed| !placed.is_counterpart || matches!(placed.judged.verdict, Verdict::Deviates(_)));
    Ok(all)
}

/// The verdicts on trials under this header that are accepted beside each other, on what their variables hold and on what their kernels
/// leave, by place. Those that are refused or die, or differ in a way that nothing listed predicts, are left to be judged each by itself.
pub fn together(
    tested: &Tested,
    header: &Header,
    trials: &[&Trial],
) -> Result<BTreeMap<usize, [Judged; 2]>, Failure> {
    let data = judged(tested, header, USUAL, trials)?;
    let kernels = judged(tested, header, (OutputForm::Relocatable, true), trials)?;
    let both = data.into_iter().zip(kernels).map(<[Judged; 2]>::from).enumerate();
    let stands = |judged: &Judged| match &judged.verdict {
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(NotCompared::Unobserved) => {
            true
        }
        Verdict::Deviates(difference) | Verdict::Reads(difference) => {
            difference.explanation.is_some() && difference.observed.outcome == Outcome::Accepted
        }
        Verdict::NotCompared(_) => false,
    };
    Ok(both.filter(|(_, both)| both.iter().all(stands)).collect())
}

/// Judges expressions in bulk under this header, which the subject has to take: see [`Judge::bulk`].
pub fn bulk(
    tested: &Tested,
    header: &Header,
    cases: Range<u64>,
    make: impl FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
) -> Result<BulkVerdicts, Failure> {
    judge_of(tested, header, USUAL)?.bulk(cases, make).map_err(of_subject)
}

/// The judge of trials under this header.
fn judge_of<'t>(tested: &'t Tested, header: &Header, (form, launch): Form) -> Result<Judge<'t>, Failure> {
    let options = Options { header: header.clone(), form, launch, ..Options::default() };
    Ok(Judge::new(&*tested.subject, Rules::default(), options).knowing(tested.profile()?))
}

fn judged(tested: &Tested, header: &Header, form: Form, trials: &[&Trial]) -> Result<Vec<Judged>, Failure> {
    if !tested.takes(header) {
        let unsupported = |trial: &&Trial| {
            let verdict = Verdict::NotCompared(NotCompared::Unsupported);
            Judged::new(trial.id, verdict, None, Default::default())
        };
        return Ok(trials.iter().map(unsupported).collect());
    }
    judge_of(tested, header, form)?.batch(trials).map_err(of_subject)
}

/// The verdicts on a program that exists already, for the target that it names or the nearest one that the subject has.
///
/// # Errors
/// Only where our machine or code fails.
pub fn judge(subject: &dyn Subject, module: &Module, text: &str) -> Result<ModuleVerdicts, Error> {
    let target = target_for(module, subject.description());
    judge_module(subject, &Rules::default(), module, text, &target)
}

/// How many memory operands of a program's kernels were compared, and the verdict on them.
///
/// # Errors
/// Only where our machine or code fails.
pub fn operands(
    subject: &dyn Subject,
    module: &Module,
    text: &str,
) -> Result<(MemoryOperands, Option<Part>), Error> {
    let target = target_for(module, subject.description());
    judge_operands(subject, &Rules::default(), module, text, &target)
}

/// The declarations and functions of a program, as the ledger keeps them.
pub fn trial_of(id: u64, module: &Module) -> Trial {
    Trial::new(id, Body::Items(module.items.iter().filter(|item| is_kept(item)).cloned().collect()))
}

/// The same, of a program that is not needed any more.
pub fn trial_made_of(id: u64, mut module: Module) -> Trial {
    module.items.retain(is_kept);
    Trial::new(id, Body::Items(module.items))
}

fn is_kept(item: &Item) -> bool {
    matches!(item, Item::Variables(_) | Item::Function(_))
}
