//! Judges cases, each under the header and in the output form that it needs.

use std::collections::BTreeMap;
use std::ops::Range;

use ptxsmith_diff::{
    BulkVerdicts, Generation, Header, Judge, JudgeOptions, ModuleVerdicts, NotCompared, Trial, TrialBody,
    TrialOutcome, TrialVerdict, Verdict, judge_in_bulk, judge_module,
};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Error, Outcome, OutputForm, Subject};
use ptxsmith_syntax::{Assemble, Item, Module, ScalarType, StateSpace};

use crate::cases::GeneratedCase;
use crate::failure::{Failure, of_subject};
use crate::subjects::{TestSubject, target_for};

/// A trial in a group with one header and form: its case, and whether it is the valid counterpart.
struct GroupedTrial<'m> {
    case: usize,
    is_counterpart: bool,
    trial: &'m Trial,
}

/// A verdict on a trial, with the header used.
pub struct JudgedTrial<'t> {
    /// The trial.
    pub trial: &'t Trial,
    /// The header used.
    pub header: &'t Header,
    /// The verdict.
    pub judged: TrialVerdict,
}

/// A verdict, with the position of its case among those judged together.
pub struct CaseVerdict {
    /// The index of the case.
    case: usize,
    /// Whether the verdict is on the valid counterpart of the case.
    is_counterpart: bool,
    /// The verdict.
    judged: TrialVerdict,
}

impl CaseVerdict {
    /// Returns the verdict.
    pub fn judged(&self) -> &TrialVerdict {
        &self.judged
    }

    /// Attaches the trial and the header to the verdict. `made` and `usual` must be those passed to
    /// [`verdicts`].
    pub fn entry<'m>(self, made: &'m [GeneratedCase], usual: &'m Header) -> JudgedTrial<'m> {
        let (trial, header) = made[self.case].trial_and_header(self.is_counterpart, usual);
        JudgedTrial { trial, header, judged: self.judged }
    }
}

/// The output form of trials, and whether they are kernels.
type TrialForm = (OutputForm, bool);

/// The form of nearly all cases.
const USUAL: TrialForm = (OutputForm::Executable, false);

/// Judges cases for a subject, in their order. An invalid program whose counterpart is not accepted is not
/// compared, unless it crashes the subject. A counterpart is no case of its own: only its deviations are
/// returned, after its case.
pub fn verdicts(
    tested: &TestSubject,
    made: &[GeneratedCase],
    usual: &Header,
) -> Result<Vec<CaseVerdict>, Failure> {
    let mut groups: BTreeMap<(&Header, TrialForm), Vec<GroupedTrial<'_>>> = BTreeMap::new();
    // Nearly all cases have the usual header and form, so collect them without a look-up.
    let mut most = Vec::with_capacity(made.len());
    for (case, generated) in made.iter().enumerate() {
        for is_counterpart in [false, true].into_iter().take(1 + usize::from(generated.counterpart.is_some()))
        {
            let (trial, header) = generated.trial_and_header(is_counterpart, usual);
            let place = GroupedTrial { case, is_counterpart, trial };
            let form = (generated.form, generated.kernel);
            if std::ptr::eq(header, usual) && !is_counterpart && form == USUAL {
                most.push(place);
            } else {
                groups.entry((header, form)).or_default().push(place);
            }
        }
    }
    if !most.is_empty() {
        groups.entry((usual, USUAL)).or_default().extend(most);
    }
    let mut all: Vec<CaseVerdict> = Vec::with_capacity(made.len());
    for ((header, form), group) in groups {
        let trials: Vec<&Trial> = group.iter().map(|grouped| grouped.trial).collect();
        let verdicts = judged(tested, header, form, &trials)?;
        for (GroupedTrial { case, is_counterpart, .. }, judged) in group.into_iter().zip(verdicts) {
            all.push(CaseVerdict { case, is_counterpart, judged });
        }
    }
    all.sort_unstable_by_key(|placed| (placed.case, placed.is_counterpart));
    for pair in all.chunk_by_mut(|one, next| one.case == next.case) {
        let [CaseVerdict { judged: broken, case, .. }, CaseVerdict { judged: counterpart, .. }] = pair else {
            continue;
        };
        // A rejection is significant only if the subject accepts the valid counterpart, which differs in one
        // thing. A crash always is.
        let crashed = broken.outcome() == Some(TrialOutcome::Crashed);
        if counterpart.outcome() == Some(TrialOutcome::Accepted) {
            let (trial, header) = made[*case].trial_and_header(false, usual);
            broken.confirm(trial, header, &tested.rules);
        } else if !crashed {
            broken.verdict = Verdict::NotCompared(NotCompared::CounterpartRefused);
        }
    }
    // A valid counterpart is not counted as a case, but a deviation that it shows is kept.
    all.retain(|placed| !placed.is_counterpart || matches!(placed.judged.verdict, Verdict::Deviates(_)));
    Ok(all)
}

/// Judges trials in one module under this header. Returns, by index, the verdicts on the values of variables
/// and on the results of kernels. Omits trials that are rejected, crash, or differ without a listed
/// explanation: the caller must judge those one by one.
pub fn together(
    tested: &TestSubject,
    header: &Header,
    trials: &[&Trial],
) -> Result<BTreeMap<usize, [TrialVerdict; 2]>, Failure> {
    let data = judged(tested, header, USUAL, trials)?;
    let kernels = judged(tested, header, (OutputForm::Relocatable, true), trials)?;
    let pairs = data.into_iter().zip(kernels).map(<[TrialVerdict; 2]>::from).enumerate();
    Ok(pairs.filter(|(_, pair)| pair.iter().all(is_final)).collect())
}

/// Returns true if a verdict from a module with other trials needs no run of the trial alone.
fn is_final(judged: &TrialVerdict) -> bool {
    match &judged.verdict {
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(NotCompared::Unobserved) => {
            true
        }
        Verdict::Deviates(difference) | Verdict::Reads(difference) => {
            difference.explanation.is_some() && difference.observed.outcome == Outcome::Accepted
        }
        Verdict::NotCompared(_) => false,
    }
}

/// Judges expressions on the fast path under this header, which the subject must accept; see [`judge_in_bulk`].
pub fn bulk(
    tested: &TestSubject,
    header: &Header,
    cases: Range<u64>,
    make: impl FnMut(u64, Generation, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
) -> Result<BulkVerdicts, Failure> {
    judge_in_bulk(&judge_of(tested, header, USUAL)?, cases, make).map_err(of_subject)
}

/// Creates the judge for trials under this header.
fn judge_of<'t>(
    tested: &'t TestSubject,
    header: &Header,
    (form, launch): TrialForm,
) -> Result<Judge<'t>, Failure> {
    let options = JudgeOptions { header: header.clone(), form, launch, ..JudgeOptions::default() };
    Ok(Judge::new(&*tested.subject, tested.rules, options).with_profile(tested.profile()?))
}

fn judged(
    tested: &TestSubject,
    header: &Header,
    form: TrialForm,
    trials: &[&Trial],
) -> Result<Vec<TrialVerdict>, Failure> {
    if tested.supports(header) {
        return judge_of(tested, header, form)?.batch(trials).map_err(of_subject);
    }
    let mut unsupported = Vec::with_capacity(trials.len());
    for trial in trials {
        let verdict = Verdict::NotCompared(NotCompared::Unsupported);
        unsupported.push(TrialVerdict::new(trial.id, verdict, None, Default::default()));
    }
    Ok(unsupported)
}

/// Judges a program as it stands, for the target that it names or the nearest one that the subject supports;
/// see [`judge_module`].
///
/// # Errors
/// Only if this machine or our code fails.
pub fn judge(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
) -> Result<ModuleVerdicts, Error> {
    let target = target_for(module, subject.description());
    judge_module(subject, rules, module, text, &target)
}

/// Returns the declarations and functions of a program, as the ledger stores them.
pub fn trial_of(id: u64, module: &Module) -> Trial {
    Trial::new(id, TrialBody::Items(module.items.iter().filter(|item| is_kept(item)).cloned().collect()))
}

/// Like [`trial_of`], but consumes the program.
pub fn trial_made_of(id: u64, mut module: Module) -> Trial {
    module.items.retain(is_kept);
    Trial::new(id, TrialBody::Items(module.items))
}

fn is_kept(item: &Item) -> bool {
    matches!(item, Item::Variables(_) | Item::Function(_))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use ptxsmith_oracle::Question;
    use ptxsmith_subject::{FnSubject, Observation, Request};
    use ptxsmith_syntax::parse;

    use super::*;
    use crate::pool::lock_of;

    const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

    fn trial(id: u64, declarations: &str) -> Trial {
        trial_made_of(id, parse(&format!("{HEADER}{declarations}")).unwrap())
    }

    fn tested(observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static) -> TestSubject {
        let tested = TestSubject::new(Box::new(FnSubject::new("fake", observe)));
        tested.profile().unwrap();
        tested
    }

    #[test]
    fn each_trial_is_shown_under_its_header_in_its_form_and_kernels_are_run() {
        type Shown = (String, String, OutputForm, usize);
        let shown: Arc<Mutex<Vec<Shown>>> = Arc::default();
        let log = Arc::clone(&shown);
        let tested = tested(move |request| {
            let version = request.ptx.lines().next().unwrap_or_default().to_owned();
            let named = ["one", "two", "three", "four"].iter().filter(|name| request.ptx.contains(*name));
            let named = named.copied().collect::<Vec<_>>().join(" ");
            lock_of(&log).push((version, named, request.form, request.launch.len()));
            Observation::new(Outcome::Accepted)
        });
        lock_of(&shown).clear();
        let usual = Header::default();
        let later = Header { version: "8.3".into(), ..Header::default() };
        let kernel = ".visible .entry four(.param .u64 out) { .reg .u64 p; ld.param.u64 p, [out]; \
                      cvta.to.global.u64 p, p; st.global.u32 [p], 7; ret; }";
        let of = |id, text| GeneratedCase::new(trial(id, text), OutputForm::Executable);
        let made = [
            of(0, ".global .u32 one = 1;"),
            GeneratedCase { header: Some(later), ..of(1, ".global .u32 two = 2;") },
            GeneratedCase { form: OutputForm::Relocatable, ..of(2, ".global .u32 three = 3;") },
            GeneratedCase { form: OutputForm::Relocatable, kernel: true, ..of(3, kernel) },
        ];
        let placed = verdicts(&tested, &made, &usual).unwrap();
        let ids: Vec<u64> = placed.iter().map(|placed| placed.judged().id).collect();
        assert_eq!(ids, [0, 1, 2, 3]);
        let shown = std::mem::take(&mut *lock_of(&shown));
        for (version, name, form, launched) in [
            (".version 7.8", "one", OutputForm::Executable, 0),
            (".version 8.3", "two", OutputForm::Executable, 0),
            (".version 7.8", "three", OutputForm::Relocatable, 0),
            (".version 7.8", "four", OutputForm::Relocatable, 1),
        ] {
            let own: Vec<&Shown> = shown.iter().filter(|(_, named, ..)| named.contains(name)).collect();
            assert!(!own.is_empty(), "{name}: {shown:?}");
            for (own_version, named, own_form, own_launched) in own {
                assert_eq!((&**own_version, &**named), (version, name), "{shown:?}");
                assert_eq!((*own_form, *own_launched), (form, launched), "{name}");
            }
        }
    }

    #[test]
    fn a_refusal_shows_something_only_where_the_valid_counterpart_is_taken() {
        use Outcome::{Accepted, Crashed, Refused};
        let counterpart_refused = "not compared: twin-refused";
        // The outcomes of the program and its counterpart, and the verdicts: on the program, and on the
        // counterpart if that deviates.
        for (broken, counterpart, expected) in [
            (Refused, Accepted, &["conforms"][..]),
            // As if the subject followed another interpretation.
            (Accepted, Accepted, &["reads"]),
            (Crashed, Accepted, &["crash"]),
            (Refused, Refused, &[counterpart_refused, "counterpart: refuses-valid"]),
            (Accepted, Refused, &[counterpart_refused, "counterpart: refuses-valid"]),
            (Crashed, Refused, &["crash", "counterpart: refuses-valid"]),
            (Refused, Crashed, &[counterpart_refused, "counterpart: crash"]),
        ] {
            let tested = tested(move |request| {
                Observation::new(if request.ptx.contains("broken") {
                    broken
                } else if request.ptx.contains("counterpart") {
                    counterpart
                } else {
                    Accepted
                })
            });
            // The default interpretation of an open question does not allow subtracting an offset.
            let invalid = trial(7, ".global .u32 b; .global .u64 broken = b - 4;");
            let valid = trial(7, ".global .u32 b; .global .u64 counterpart = b + 4;");
            let made = [
                GeneratedCase {
                    counterpart: Some(Box::new((valid, None))),
                    ..GeneratedCase::new(invalid, OutputForm::Relocatable)
                },
                GeneratedCase::new(trial(8, ".global .u32 other;"), OutputForm::Executable),
            ];
            let usual = Header::default();
            let placed = verdicts(&tested, &made, &usual).unwrap();
            let confirmed: Vec<_> = placed.iter().filter_map(|placed| placed.judged().confirms).collect();
            let entries: Vec<JudgedTrial<'_>> =
                placed.into_iter().map(|placed| placed.entry(&made, &usual)).collect();
            let told: Vec<String> = entries
                .iter()
                .filter(|entry| entry.judged.id == 7)
                .map(|entry| {
                    let verdict = match &entry.judged.verdict {
                        Verdict::Conforms | Verdict::ConformsByOutcome => "conforms".to_owned(),
                        Verdict::Deviates(difference) => difference.class.name().to_owned(),
                        Verdict::NotCompared(reason) => format!("not compared: {}", reason.name()),
                        Verdict::Reads(_) => "reads".to_owned(),
                    };
                    let shown = entry.trial.text(entry.header);
                    if shown.contains("counterpart") { format!("counterpart: {verdict}") } else { verdict }
                })
                .collect();
            assert_eq!(told, expected, "{broken:?} {counterpart:?}");
            assert_eq!(entries.last().unwrap().judged.id, 8);
            // If the counterpart is accepted, the rejection shows the interpretation.
            let shows = (broken, counterpart) == (Refused, Accepted);
            assert_eq!(
                confirmed,
                shows.then_some(Question::AddressSubtraction).into_iter().collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_header_that_a_subject_does_not_take_is_not_shown_to_it() {
        let described = ptxsmith_subject::Description {
            id: "old".to_owned(),
            max_ptx: Some("8.0".to_owned()),
            ..Default::default()
        };
        let subject = FnSubject::new("old", |request: &Request<'_>| {
            assert!(!request.ptx.contains("later"), "{}", request.ptx);
            Observation::new(Outcome::Accepted)
        });
        let tested = TestSubject::new(Box::new(subject.described(described)));
        let later = Header { version: "8.3".into(), ..Header::default() };
        let made = [GeneratedCase {
            header: Some(later),
            ..GeneratedCase::new(trial(0, ".global .u32 later;"), OutputForm::Executable)
        }];
        let placed = verdicts(&tested, &made, &Header::default()).unwrap();
        assert_eq!(placed[0].judged().verdict, Verdict::NotCompared(NotCompared::Unsupported));
    }

    #[test]
    fn of_a_module_its_declarations_and_functions_are_kept() {
        let text = format!("{HEADER}.file 1 \"a.cu\"\n.global .u32 a;\n.visible .entry k() {{ ret; }}\n");
        let module = parse(&text).unwrap();
        for trial in [trial_of(5, &module), trial_made_of(5, module.clone())] {
            assert_eq!(trial.id, 5);
            let items = trial.body.items().unwrap();
            assert!(matches!(items, [Item::Variables(_), Item::Function(_)]), "{items:?}");
        }
    }

    #[test]
    fn memory_operands_that_no_code_shows_are_counted_as_not_compared() {
        let subject = FnSubject::new("fake", |_: &Request<'_>| Observation::new(Outcome::Accepted));
        let kernel =
            ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [a]; st.global.u32 [a+4], r; ret; }";
        let text = format!("{HEADER}.global .u32 a[2];\n{kernel}\n");
        let judged = judge(&subject, &Rules::default(), &parse(&text).unwrap(), &text).unwrap();
        let counted = judged.memory_operands.unwrap();
        assert_eq!((counted.compared, counted.removed), (0, 0));
        assert_eq!(counted.not_compared.values().sum::<u64>(), 2, "{counted:?}");
        assert!(judged.accesses.is_none());
    }
}
