//! Asks a subject whether a program still shows a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use ptxsmith_diff::{
    Class, Judge, JudgeOptions, NotCompared, PartVerdict, Trial, TrialBody, TrialVerdict, Verdict,
};
use ptxsmith_oracle::Trace;
use ptxsmith_reduce::{Answer, Program, Question, together};
use ptxsmith_subject::{Cancel, Error, Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Item, Module, parse};

use super::ReductionError;
use super::cause::{Cause, ExpectedDeviation, choose, difference};
use super::counted::CountingSubject;
use super::machine::{failure_of_machine, full_disk};
use crate::judges;
use crate::subjects::{TestSubject, target_for};

/// Decides whether a program shows the same cause on the same subject.
///
/// It first checks a program without the subject: if the specification's verdict differs, or the explanation
/// of the finding predicts no difference, the answer is no. The remaining programs run on the subject. For a
/// finding with an explanation they run one by one, since the prediction is usually right. Otherwise many run
/// in one module, and the first that shows the finding there runs once more alone. A yes always rests on a
/// run of the program alone.
pub struct SameCause<'a> {
    tested: &'a TestSubject,
    cause: &'a Cause,
    limits: Bounds<'a>,
    /// The number of subject processes started.
    processes: &'a AtomicU64,
    /// The number of programs in the next group. It is small while programs crash the subject, because each
    /// is then found by bisection. It grows once none do, because a large group then settles many at once.
    group: usize,
    /// Other subjects, each with whether it must show a deviation of the same class.
    same_on: Vec<(&'a TestSubject, bool)>,
    /// Other deviations seen on the way, each with the smallest program.
    pub others: BTreeMap<String, Program>,
}

/// The most programs in a group.
const MOST_IN_GROUP: usize = 256;

/// The result of running a program alone.
struct SoloResult {
    answer: Answer,
    others: Vec<String>,
}

impl<'a> SameCause<'a> {
    /// Creates a question about this cause.
    pub fn new(
        tested: &'a TestSubject,
        cause: &'a Cause,
        limits: Bounds<'a>,
        processes: &'a AtomicU64,
    ) -> SameCause<'a> {
        let same_on = Vec::new();
        let others = BTreeMap::new();
        SameCause { tested, cause, limits, processes, group: 1, same_on, others }
    }

    /// Requires from now on that these subjects show a deviation of the same class, or do not, just as they
    /// do for `program` now.
    ///
    /// # Errors
    /// If one of them cannot be run.
    pub fn keep_on(&mut self, same_on: &'a [TestSubject], program: &Program) -> Result<(), ReductionError> {
        for tested in same_on {
            let shows = self.shows_alike(tested, program).map_err(ReductionError::CannotTell)?;
            self.same_on.push((tested, shows));
        }
        Ok(())
    }

    /// Returns true if another subject shows a deviation of the same class.
    fn shows_alike(&self, tested: &TestSubject, program: &Program) -> Result<bool, String> {
        let Some(module) = program.module() else {
            return Err("on other subjects, text that is no PTX to us cannot be compared".to_owned());
        };
        let parts =
            judge(tested, module, program.text(), self.processes).map_err(|error| error.to_string())?;
        match parts.iter().find_map(|part| self.doubt(&part.verdict)) {
            Some(reason) => Err(format!("{}: {reason}", tested.subject.id())),
            None => Ok(parts
                .iter()
                .filter_map(|part| difference(&part.verdict))
                .any(|difference| difference.class == self.cause.class())),
        }
    }

    /// Returns true if the program shows the cause.
    pub fn yes(&mut self, program: &Program) -> bool {
        self.ask(std::slice::from_ref(program)).first() == Some(&Answer::Yes)
    }

    /// Returns a question that is answered by prediction alone, without the subject. The header must stay the
    /// same as in `program`, because it is unknown which headers the subject accepts.
    pub fn prediction(&self, program: &Program) -> PredictedCause<'a> {
        PredictedCause {
            cause: self.cause,
            limits: self.limits,
            header: program.module().map(Module::header),
        }
    }

    fn run_alone(&self, program: &Program) -> SoloResult {
        let read = match program.module() {
            Some(_) => None,
            None => Some(parse(program.text())),
        };
        let module = match (program.module(), &read) {
            (Some(module), _) | (None, Some(Ok(module))) => module,
            _ => return self.unread(program.text()),
        };
        let parts = match judge(self.tested, module, program.text(), self.processes) {
            Ok(parts) => parts,
            Err(error) => {
                return SoloResult { answer: Answer::CannotTell(error.to_string()), others: Vec::new() };
            }
        };
        let doubt = parts.iter().find_map(|part| self.doubt(&part.verdict));
        if let Some(reason) = doubt.or_else(|| full_disk(program.text())) {
            return SoloResult { answer: Answer::CannotTell(reason), others: Vec::new() };
        }
        let is_shown = self.cause.may_be_shown_by(module)
            && parts.iter().any(|part| self.cause.is_shown_by(&part.verdict, part.trace));
        for &(tested, shows) in self.same_on.iter().filter(|_| is_shown) {
            match self.shows_alike(tested, program) {
                Ok(now) if now == shows => {}
                Ok(_) => return SoloResult { answer: Answer::No, others: Vec::new() },
                Err(reason) => return SoloResult { answer: Answer::CannotTell(reason), others: Vec::new() },
            }
        }
        let others = parts.into_iter().filter(|part| !self.cause.is_shown_by(&part.verdict, part.trace));
        let others = others.filter_map(|part| name_of(&part.verdict)).collect();
        SoloResult { answer: is_shown.into(), others }
    }

    /// Runs a program that we cannot parse. Only a crash of the subject can be detected.
    fn unread(&self, text: &str) -> SoloResult {
        let module = Module::default();
        let target = target_for(&module, self.tested.subject.description());
        let answer = match counted(self.tested, self.processes).observe(&Request::new(text, &target)) {
            Err(error) => Answer::CannotTell(error.to_string()),
            Ok(observed) => match class_of(&observed) {
                None => Answer::No,
                Some(class) => match self.doubt_about(class, &observed).or_else(|| full_disk(text)) {
                    Some(reason) => Answer::CannotTell(reason),
                    None => self.cause.is_shown_by_observation(class, &observed).into(),
                },
            },
        };
        SoloResult { answer, others: Vec::new() }
    }

    /// Returns the reason why a verdict says nothing about the program.
    fn doubt(&self, verdict: &Verdict) -> Option<String> {
        match verdict {
            Verdict::NotCompared(NotCompared::Unavailable) => Some("the subject is not available".to_owned()),
            verdict => {
                let difference = difference(verdict)?;
                self.doubt_about(difference.class, &difference.observed)
            }
        }
    }

    /// Returns true if the programs can share a module: all have declarations only, and the same header.
    fn fit_together(&self, programs: &[Program]) -> bool {
        let header = self.batch_header(&programs[0]);
        programs.iter().all(|program| has_only_declarations(program) && self.batch_header(program) == header)
    }

    fn batch_header(&self, program: &Program) -> Option<ptxsmith_diff::Header> {
        program.module().and_then(|module| header_of(self.tested, module))
    }

    fn doubt_about(&self, class: Class, observed: &Observation) -> Option<String> {
        match class {
            Class::Hang if self.cause.class() != Class::Hang => {
                Some(observed.reason.clone().unwrap_or_else(|| "no answer in time".to_owned()))
            }
            Class::Crash | Class::RefusesValid => failure_of_machine(observed),
            _ => None,
        }
    }

    /// Asks about programs one by one; after the first no, as many at a time as there are jobs.
    fn each(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::with_capacity(programs.len());
        let mut width = if self.cause.is_explained() { 1 } else { self.limits.jobs };
        while answers.len() < programs.len() && !self.is_over() {
            let from = answers.len();
            let mut wave = Vec::new();
            let mut to = from;
            while to < programs.len() && wave.len() < width {
                if programs[to].module().is_none_or(|module| self.cause.may_be_shown_by(module)) {
                    wave.push(to);
                }
                to += 1;
            }
            answers.resize(to, Answer::No);
            let results = all_at_once(&wave, |&index| self.run_alone(&programs[index]));
            for (&index, result) in wave.iter().zip(results) {
                answers[index] = result.answer;
                self.record_others(result.others, &programs[index]);
            }
            if answers[from..].contains(&Answer::Yes) {
                break;
            }
            width = self.limits.jobs;
        }
        // The programs that there was no time for.
        if !answers.contains(&Answer::Yes) {
            answers.resize(programs.len(), Answer::CannotTell("there was no time left".to_owned()));
        }
        answers
    }

    fn record_others(&mut self, others: Vec<String>, program: &Program) {
        for other in others {
            let known = self.others.entry(other).or_insert_with(|| program.clone());
            if program.is_smaller_than(known) {
                *known = program.clone();
            }
        }
    }

    /// Asks about the variables of all programs in one module, then alone about the first program that shows
    /// the cause there.
    fn batch(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = vec![Answer::No; programs.len()];
        let mut trials = Vec::new();
        for (index, program) in programs.iter().enumerate() {
            let module = program.module().filter(|module| self.cause.may_be_shown_by(module));
            if let Some(module) = module {
                let declarations = module.items.iter().filter(|item| matches!(item, Item::Variables(_)));
                trials.push(Trial::new(index as u64, TrialBody::Items(declarations.cloned().collect())));
            }
        }
        let Some(first) = trials.first().and_then(|trial| programs[trial.id as usize].module()) else {
            return answers;
        };
        let subject = counted(self.tested, self.processes);
        let Some(header) = header_of(self.tested, first) else { return self.each(programs) };
        let judge = Judge::new(
            &subject,
            self.tested.rules,
            JudgeOptions {
                header,
                form: OutputForm::showing(first),
                recheck_every: 0,
                ..JudgeOptions::default()
            },
        );
        let judged = match judge.batch(&trials) {
            Ok(judged) => judged,
            Err(_) => return self.each(programs),
        };
        for TrialVerdict { id, verdict, .. } in judged {
            let index = id as usize;
            let program = &programs[index];
            // The trace covers all variables of the program. Only a run alone shows whether the deviating
            // variable may be the cause.
            if self.cause.is_shown_by(&verdict, Trace::default()) || self.doubt(&verdict).is_some() {
                let result = self.run_alone(program);
                answers[index] = result.answer;
                self.record_others(result.others, program);
                if answers[index] == Answer::Yes {
                    answers.truncate(index + 1);
                    break;
                }
            } else if let Some(other) = name_of(&verdict) {
                self.record_others(vec![other], program);
            }
        }
        answers
    }

    /// Finds the first program that crashes the subject, running many in one module: if the subject accepts
    /// the module, none of them crashes it.
    fn groups(&mut self, programs: &[Program]) -> Vec<Answer> {
        let possible: Vec<usize> = (0..programs.len())
            .filter(|&index| programs[index].module().is_none_or(|module| self.cause.may_be_shown_by(module)))
            .collect();
        let mut answers = vec![Answer::No; programs.len()];
        let mut from = 0;
        while from < possible.len() && !self.is_over() {
            let to = possible.len().min(from + self.group);
            if let Some(index) = self.first_in(programs, &possible[from..to], &mut answers) {
                self.group = 1;
                answers.truncate(index + 1);
                return answers;
            }
            from = to;
            self.group = MOST_IN_GROUP.min(2 * self.group);
        }
        for &index in possible.iter().skip(from) {
            answers[index] = Answer::CannotTell("there was no time left".to_owned());
        }
        answers
    }

    /// Finds the first program of a group that shows the cause, by bisection.
    fn first_in(&mut self, programs: &[Program], group: &[usize], answers: &mut [Answer]) -> Option<usize> {
        if self.is_over() {
            for &index in group {
                answers[index] = Answer::CannotTell("there was no time left".to_owned());
            }
            return None;
        }
        if let [index] = *group {
            let result = self.run_alone(&programs[index]);
            self.record_others(result.others, &programs[index]);
            answers[index] = result.answer;
            return (answers[index] == Answer::Yes).then_some(index);
        }
        if self.all_live(programs, group) {
            return None;
        }
        let (first, second) = group.split_at(group.len() / 2);
        self.first_in(programs, first, answers).or_else(|| self.first_in(programs, second, answers))
    }

    /// Returns true if the subject accepts all programs of a group in one module. Records the other
    /// deviations that it shows.
    fn all_live(&mut self, programs: &[Program], group: &[usize]) -> bool {
        let modules: Vec<&Module> = group.iter().filter_map(|&index| programs[index].module()).collect();
        let Some(module) = together(&modules).filter(|_| modules.len() == group.len()) else { return false };
        let text = ptxsmith_syntax::print(&module);
        let Ok(parts) = judge(self.tested, &module, &text, self.processes) else { return false };
        let mut differences = parts.iter().filter_map(|part| difference(&part.verdict));
        if differences.any(|difference| !is_of_variable(difference.class)) {
            return false;
        }
        for part in &parts {
            // `t7_x` is the variable `x` of the eighth program.
            let number = part.variable.as_deref().and_then(|name| name.strip_prefix('t')?.split('_').next());
            let nth = number.and_then(|number| number.parse::<usize>().ok());
            if let (Some(&index), Some(other)) = (nth.and_then(|nth| group.get(nth)), name_of(&part.verdict))
            {
                self.record_others(vec![other], &programs[index]);
            }
        }
        true
    }
}

impl Question for SameCause<'_> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        if programs.len() < 3 || self.cause.is_explained() || !self.fit_together(programs) {
            return self.each(programs);
        }
        match self.cause.class() {
            Class::WrongValue | Class::WrongAddress | Class::AcceptsInvalid | Class::RefusesValid => {
                self.batch(programs)
            }
            Class::Crash => self.groups(programs),
            // A layout depends on the other declarations, and a hang uses up the whole time limit.
            _ => self.each(programs),
        }
    }

    fn is_over(&self) -> bool {
        self.limits.are_reached()
    }
}

fn has_only_declarations(program: &Program) -> bool {
    program.module().is_some_and(|module| {
        let mut items = module.items.iter();
        !items.any(|item| matches!(item, Item::Function(_) | Item::Other(_) | Item::Unread(_)))
    })
}

/// Returns true if a deviation of this class is about a variable rather than its module.
fn is_of_variable(class: Class) -> bool {
    matches!(class, Class::WrongValue | Class::WrongAddress | Class::WrongLayout)
}

/// The question whether the explanation of a finding predicts a difference.
pub struct PredictedCause<'a> {
    cause: &'a Cause,
    limits: Bounds<'a>,
    header: Option<Module>,
}

impl Question for PredictedCause<'_> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for program in programs {
            let predicted = program.module().is_some_and(|module| {
                Some(module.header()) == self.header && self.cause.is_predicted_by(module)
            });
            answers.push(predicted.into());
            if predicted {
                break;
            }
        }
        answers
    }

    fn is_over(&self) -> bool {
        self.limits.are_reached()
    }
}

/// Maps all items at the same time.
pub(super) fn all_at_once<T: Sync, R: Send>(items: &[T], convert: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [only] = items {
        return vec![convert(only)];
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = items.iter().map(|item| scope.spawn(|| convert(item))).collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// The resources that a question may use.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The number of processes at a time.
    pub jobs: usize,
    /// The deadline.
    pub until: Option<Instant>,
    /// The request to stop.
    pub cancel: &'a Cancel,
}

impl Bounds<'_> {
    pub(super) fn are_reached(&self) -> bool {
        self.cancel.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

fn counted<'a>(tested: &'a TestSubject, processes: &'a AtomicU64) -> CountingSubject<'a> {
    CountingSubject::new(&*tested.subject, processes)
}

/// Judges a program as it is, and counts the runs of the subject.
pub fn judge(
    tested: &TestSubject,
    module: &Module,
    text: &str,
    processes: &AtomicU64,
) -> Result<Vec<PartVerdict>, Error> {
    let subject = counted(tested, processes);
    Ok(judges::judge(&subject, &tested.rules, module, text)?.parts())
}

/// The deviation to preserve while a program is reduced.
pub struct PreservedDeviation {
    /// The cause.
    pub cause: Cause,
    /// The variable that shows it, if any.
    pub variable: Option<String>,
    /// The names of the other deviations that the program shows.
    pub besides: BTreeSet<String>,
}

/// Returns the deviation to preserve: the expected one, or else the most informative one.
pub fn cause_of(
    tested: &TestSubject,
    text: &str,
    expected: Option<&ExpectedDeviation>,
    processes: &AtomicU64,
) -> Result<PreservedDeviation, ReductionError> {
    let Ok(module) = parse(text) else {
        let request = Request::new(text, "sm_80");
        let observed = counted(tested, processes).observe(&request).map_err(run_failed)?;
        if let Some(reason) = failure_of_machine(&observed).or_else(|| full_disk(text)) {
            return Err(ReductionError::CannotTell(reason));
        }
        let class = class_of(&observed).ok_or(ReductionError::NothingShown)?;
        return match expected {
            Some(expected) if *expected != ExpectedDeviation::Class(class) => {
                Err(ReductionError::NothingShown)
            }
            _ => Ok(PreservedDeviation {
                cause: Cause::from_observation(class, &observed),
                variable: None,
                besides: BTreeSet::new(),
            }),
        };
    };
    let parts = judge(tested, &module, text, processes).map_err(run_failed)?;
    let part = choose(&parts, expected).ok_or(ReductionError::NothingShown)?;
    let deviation = difference(&part.verdict).ok_or(ReductionError::NothingShown)?;
    if let Some(reason) = failure_of_machine(&deviation.observed).or_else(|| full_disk(text)) {
        return Err(ReductionError::CannotTell(reason));
    }
    // A timeout is a finding only if the user expects it, because usually the machine is slow.
    if deviation.class == Class::Hang && expected != Some(&ExpectedDeviation::Class(Class::Hang)) {
        let reason = deviation.observed.reason.clone().unwrap_or_else(|| "no answer in time".to_owned());
        return Err(ReductionError::CannotTell(format!("{reason}; if that is the finding: --expect hang")));
    }
    let cause = Cause::from_part(&module, part, expected).ok_or(ReductionError::NotReproducible)?;
    let preserved = name_of(&part.verdict);
    let names = parts.iter().filter_map(|other| name_of(&other.verdict));
    let besides = names.filter(|name| Some(name) != preserved.as_ref()).collect();
    Ok(PreservedDeviation { cause, variable: deviation.variable.clone(), besides })
}

fn run_failed(error: Error) -> ReductionError {
    if error.is_cancelled() { ReductionError::Interrupted } else { ReductionError::Failed(error) }
}

/// Returns the header of a module for a batch; `None` if it contains more than a batch can reproduce.
fn header_of(tested: &TestSubject, module: &Module) -> Option<ptxsmith_diff::Header> {
    let mut targets = module.targets();
    let target = targets.next()?.to_owned();
    let version = module.version()?;
    if targets.next().is_some() || target_for(module, tested.subject.description()) != target {
        return None;
    }
    Some(ptxsmith_diff::Header {
        version: format!("{}.{}", version.0, version.1),
        target,
        address_size: module.address_size().unwrap_or(32),
    })
}

fn class_of(observed: &Observation) -> Option<Class> {
    match observed.outcome {
        Outcome::Crashed => Some(Class::Crash),
        Outcome::TimedOut => Some(Class::Hang),
        _ => None,
    }
}

/// Names a deviation: by the known deviations that explain it, or else by its class.
fn name_of(verdict: &Verdict) -> Option<String> {
    let Verdict::Deviates(difference) = verdict else { return None };
    Some(match &difference.explanation {
        Some(explanation) if !explanation.is_reading() => explanation.known.join("+"),
        _ => difference.class.name().to_owned(),
    })
}
