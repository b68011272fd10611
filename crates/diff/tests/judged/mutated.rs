//! Whatever counts as compared entered a comparison that can fail: a subject that does as the specification
//! says, and is then changed in one thing that it shows, gets another verdict, or that thing was not counted.

use std::path::{Path, PathBuf};

use ptxsmith_diff::{
    CodeCounts, Judge, JudgeOptions, PartVerdict, Requirement, Trial, TrialBody, TrialVerdict, Verdict,
    judge_module, judge_operands,
};
use ptxsmith_gen::{self as generate, Coverage, Focus, Generator, Header};
use ptxsmith_oracle::{AccessKind, Expectation, KernelOutcome, Rules, accesses, expect, predict};
use ptxsmith_subject::{
    Address, Description, Error, FnSubject, Observation, Outcome, Output, Reached, Request, Space, Subject,
    Variable,
};
use ptxsmith_syntax::{Module, StateSpace, parse};
use ptxsmith_testing::is_whole;

/// A change of one thing that is observed, with its name.
type Change<T> = (String, Box<dyn Fn(&mut T) + Sync>);

/// Applies a change to the part of an observation that it concerns.
type Apply<'a, T> = dyn Fn(&mut Observation, &dyn Fn(&mut T)) + Sync + 'a;

/// A subject that does as the specification says, changed by a mutation.
struct Changed<'m> {
    description: Description,
    change: &'m (dyn Fn(&mut Observation) + Sync),
}

impl<'m> Changed<'m> {
    fn by(change: &'m (dyn Fn(&mut Observation) + Sync)) -> Changed<'m> {
        Changed { description: Description { values: Some(true), ..Description::default() }, change }
    }
}

impl Subject for Changed<'_> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn shows_code(&self) -> bool {
        true
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut observed = ptxsmith_testing::right(request);
        if observed.outcome == Outcome::Unsupported {
            observed = Observation::new(Outcome::Accepted);
        }
        if !request.trace.is_empty() {
            observed.reached.extend(ptxsmith_testing::reached(&Rules::default(), request));
        }
        (self.change)(&mut observed);
        Ok(observed)
    }
}

/// All verdicts on a program.
struct Verdicts {
    parts: Vec<PartVerdict>,
    operands: CodeCounts,
    reached: Option<PartVerdict>,
}

fn judged(program: &Program, change: &(dyn Fn(&mut Observation) + Sync)) -> Verdicts {
    let subject = Changed::by(change);
    let Program { module, text, .. } = program;
    let rules = Rules::default();
    let parts = judge_module(&subject, &rules, module, text, "sm_90").expect("nothing of ours fails").parts();
    let (operands, reached) = judge_operands(&subject, &rules, module, text, "sm_90").unwrap();
    Verdicts { parts, operands, reached }
}

struct Program {
    name: String,
    text: String,
    module: Module,
}

fn is_compared(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::NotCompared(_))
}

/// That what is wrong is seen: a verdict of its own kind, not that nothing was compared.
fn is_noticed(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Deviates(_) | Verdict::Reads(_))
}

/// The programs of the corpus, one in so many of them, from somewhere on.
fn corpus(every: usize, from: usize) -> Vec<Program> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![corpus];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the corpus is there") {
            let path = entry.expect("the corpus can be listed").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|own| own == "ptx") => paths.push(path),
                false => {}
            }
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let module = parse(&text).ok()?;
        Some(Program { name: path.display().to_string(), text, module })
    };
    paths.iter().skip(from).step_by(every).filter_map(read).collect()
}

/// Generated programs of a focus.
fn generated(focus: Focus, count: u64) -> Vec<Program> {
    let header = Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() };
    let generator = Generator::default();
    let program = |index| {
        let case = generator.case(focus, 11, index, &mut Coverage::new());
        if matches!(case.body, generate::Body::Negative(_)) {
            return None;
        }
        let text = ptxsmith_syntax::print(&case.module(&header));
        let module = parse(&text).ok()?;
        Some(Program { name: format!("{focus:?} {index}"), text, module })
    };
    (0..count).filter_map(program).collect()
}

/// How many of the programs of a whole run there is one of otherwise.
fn one_of() -> usize {
    if is_whole() { 1 } else { 3 }
}

fn programs() -> Vec<Program> {
    let mut all = corpus(9 * one_of(), 4);
    for (focus, count) in [(Focus::Mixed, 40), (Focus::Initializers, 30), (Focus::Addresses, 30)] {
        all.extend(generated(focus, count / one_of() as u64));
    }
    all
}

/// Some places of so many, first and last among them.
fn some(count: usize) -> Vec<usize> {
    let mut places: Vec<usize> =
        if count <= 16 { (0..count).collect() } else { vec![0, 1, count / 2, count - 2, count - 1] };
    places.dedup();
    places
}

/// What may be changed of a variable that this was seen of.
fn changes_of(variable: &Variable) -> Vec<Change<Variable>> {
    let mut changes: Vec<Change<Variable>> = vec![
        ("size".into(), Box::new(|own| *own.size.as_mut().unwrap() += 1)),
        ("space".into(), Box::new(|own| own.space = Some("elsewhere".into()))),
    ];
    for at in some(variable.bytes.as_ref().map_or(0, Vec::len)) {
        changes.push((format!("byte {at}"), Box::new(move |own| own.bytes.as_mut().unwrap()[at] ^= 0x55)));
    }
    for at in some(variable.addresses.as_ref().map_or(0, Vec::len)) {
        let mut add = |what: &str, change: fn(&mut Address)| {
            let change = move |own: &mut Variable| change(&mut own.addresses.as_mut().unwrap()[at]);
            changes.push((format!("{what} of address {at}"), Box::new(change)));
        };
        add("symbol", |address| address.symbol.push('x'));
        add("addend", |address| address.addend ^= 1);
        add("offset", |address| address.offset += 1);
        add("width", |address| address.width = 3);
        add("generic", |address| address.generic = address.generic.map(|generic| !generic));
        add("byte", |address| address.byte = address.byte.map_or(Some(0), |byte| Some(byte ^ 1)));
        let remove = move |own: &mut Variable| drop(own.addresses.as_mut().unwrap().remove(at));
        changes.push((format!("no address {at}"), Box::new(remove)));
    }
    let more = |own: &mut Variable| {
        let address =
            Address { offset: 0, width: 8, symbol: "x".into(), addend: 0, generic: None, byte: None };
        own.addresses.as_mut().unwrap().push(address);
    };
    // One that is too large has no content to be compared.
    if variable.bytes.as_ref().is_some_and(|bytes| !bytes.is_empty()) {
        changes.push(("one more address".into(), Box::new(more)));
    }
    changes
}

/// What the subject shows of a program, where that is judged.
fn shown(program: &Program) -> Observation {
    let request = Request::showing(&program.module, &program.text, "sm_90");
    Changed::by(&|_| ()).observe(&request).unwrap()
}

/// Asserts that the verdict on this part of a program tells each of these changes of it, and counts them.
fn noticed<T>(
    program: &Program,
    name: &str,
    changes: Vec<Change<T>>,
    apply: &Apply<T>,
    verdict: &dyn Fn(&Verdicts) -> Option<Verdict>,
) -> usize {
    for (what, change) in &changes {
        let verdict = verdict(&judged(program, &|observed| apply(observed, change)));
        let Program { name: of, text, .. } = program;
        assert!(verdict.as_ref().is_some_and(is_noticed), "{of}: {what} of {name}: {verdict:?}\n{text}");
    }
    changes.len()
}

fn of_kernels(verdicts: &Verdicts) -> Option<&PartVerdict> {
    verdicts.parts.iter().find(|part| part.operands.total > 0)
}

#[test]
fn every_byte_and_address_of_a_variable_that_is_compared_decides_its_verdict() {
    let (mut mutations, mut variables) = (0, 0);
    for program in programs() {
        let before = judged(&program, &|_| ());
        assert!(before.parts.iter().all(|part| !is_noticed(&part.verdict)), "{}", program.name);
        for (name, seen) in &shown(&program).variables {
            let own = |verdicts: &Verdicts| {
                let own = verdicts.parts.iter().find(|part| part.variable.as_ref() == Some(name));
                own.map(|part| part.verdict.clone())
            };
            let Some(Verdict::Conforms) = own(&before) else { continue };
            variables += 1;
            let variable = |observed: &mut Observation, change: &dyn Fn(&mut Variable)| {
                observed.variables.get_mut(name).map(change);
            };
            mutations += noticed(&program, name, changes_of(seen), &variable, &own);
        }
    }
    assert!(one_of() * mutations > 1_500 && one_of() * variables > 200, "{mutations} of {variables}");
}

/// What may be changed of a buffer in which this is predicted: all that is known of it, and what lies
/// between.
fn changes_of_output(left: &ptxsmith_oracle::Output) -> Vec<Change<Output>> {
    let mut changes: Vec<Change<Output>> = Vec::new();
    let in_address = |at: usize| {
        left.addresses
            .iter()
            .any(|own| (own.offset..own.offset + u64::from(own.width)).contains(&(at as u64)))
    };
    let is_counted = |at: usize| {
        let mut slots =
            left.slots.iter().filter(|slot| (slot.offset..slot.offset + slot.width).contains(&at));
        slots.all(|slot| left.known[slot.offset..slot.offset + slot.width].iter().all(|&known| known))
    };
    for at in (0..left.bytes.len()).filter(|&at| is_counted(at) && !in_address(at)) {
        changes.push((format!("byte {at}"), Box::new(move |own| own.bytes.as_mut().unwrap()[at] ^= 0x55)));
    }
    for at in (0..left.addresses.len()).filter(|&at| is_counted(left.addresses[at].offset as usize)) {
        let mut add = |what: &str, change: fn(&mut Address)| {
            let change = move |own: &mut Output| change(&mut own.addresses[at]);
            changes.push((format!("{what} of address {at}"), Box::new(change)));
        };
        add("symbol", |address| address.symbol.push('x'));
        add("addend", |address| address.addend ^= 1);
        add("offset", |address| address.offset += 1);
        add("width", |address| address.width = 3);
        add("generic", |address| address.generic = address.generic.map(|generic| !generic));
        changes.push((format!("no address {at}"), Box::new(move |own| drop(own.addresses.remove(at)))));
    }
    changes
}

fn kernel_programs() -> Vec<Program> {
    let mut all = corpus(1, 0);
    all.retain(|program| program.name.contains("/6.4"));
    all.extend(generated(Focus::Operands, 25));
    all.into_iter().step_by(one_of()).collect()
}

#[test]
fn every_byte_and_address_of_an_output_buffer_that_is_compared_decides_the_verdict_on_the_kernels() {
    let (mut mutations, mut compared) = (0, 0);
    for program in kernel_programs() {
        let before = judged(&program, &|_| ());
        let Some(before) = of_kernels(&before) else { continue };
        assert!(!is_noticed(&before.verdict), "{}: {:?}", program.name, before.verdict);
        if !is_compared(&before.verdict) {
            assert_eq!(before.operands.seen, 0, "{}: it counts as seen", program.name);
            assert!(before.why.is_some(), "{}: {:?}", program.name, before.verdict);
            continue;
        }
        assert_eq!(before.operands.seen, before.operands.total);
        compared += 1;
        for kernel in predict(&program.module, &Rules::default()).kernels {
            let KernelOutcome::Output(left) = &kernel.outcome else { continue };
            let name = kernel.name.as_str();
            let output = |observed: &mut Observation, change: &dyn Fn(&mut Output)| {
                observed.kernels.get_mut(name).map(change);
            };
            let verdict = |after: &Verdicts| of_kernels(after).map(|part| part.verdict.clone());
            mutations += noticed(&program, name, changes_of_output(left), &output, &verdict);
        }
    }
    assert!(one_of() * mutations > 500 && one_of() * compared > 40, "{mutations} of {compared}");
}

/// What may be changed of what a kernel reaches whose text does this: the place of each access, and each byte
/// that is left in `.global`.
fn changes_of_reached(own: &ptxsmith_oracle::MemoryEffects) -> Vec<Change<Reached>> {
    let mut changes: Vec<Change<Reached>> = Vec::new();
    let more = |writes: bool| {
        own.accesses.iter().any(|access| (access.way != AccessKind::Read) == writes && access.place.is_err())
    };
    for (at, access) in own.accesses.iter().enumerate() {
        let Ok((space, _)) = access.place else { continue };
        // What has to be written is missed, whatever else is written.
        let is_missed = access.way == AccessKind::Write && space == StateSpace::Global && !access.idle;
        if space == StateSpace::Local || more(access.way != AccessKind::Read) && !is_missed {
            continue;
        }
        let moved = move |own: &mut Reached| {
            let place = own.reaches[at].place.as_mut().unwrap();
            place.1 += 1 << 24;
        };
        changes.push((format!("place {at}"), Box::new(moved)));
    }
    for (&(space, at), byte) in &own.written {
        if space == StateSpace::Global && byte.is_some() && !more(true) {
            let change = move |own: &mut Reached| {
                let byte = own.written.get_mut(&(Space::Global, at)).unwrap();
                *byte = byte.map(|byte| byte ^ 0x55);
            };
            changes.push((format!("what is left at {at:#x}"), Box::new(change)));
        }
    }
    changes
}

#[test]
fn every_memory_operand_that_is_compared_goes_astray_where_its_place_is_another() {
    let (mut mutations, mut compared) = (0, 0);
    for program in kernel_programs() {
        let Expectation::Accepted { variables, .. } = expect(&program.module, &Rules::default()) else {
            continue;
        };
        let before = judged(&program, &|_| ());
        assert!(
            before.reached.as_ref().is_none_or(|part| part.verdict == Verdict::Conforms),
            "{}",
            program.name
        );
        let kernels = accesses(&program.module, &variables, &Rules::default());
        let mut may_fail = 0;
        for kernel in &kernels {
            let Ok(own) = &kernel.reached else { continue };
            if !kernel.trace.questions.is_empty() {
                continue;
            }
            let (name, changes) = (kernel.name.as_str(), changes_of_reached(own));
            may_fail += changes.iter().filter(|(what, _)| what.starts_with("place")).count() as u64;
            let reached = |observed: &mut Observation, change: &dyn Fn(&mut Reached)| {
                observed.reached.get_mut(name).map(change);
            };
            let verdict = |after: &Verdicts| after.reached.as_ref().map(|part| part.verdict.clone());
            mutations += noticed(&program, name, changes, &reached, &verdict);
        }
        compared += before.operands.compared;
        assert!(before.operands.compared <= may_fail, "{}: {:?}, {may_fail}", program.name, before.operands);
    }
    assert!(one_of() * mutations > 200 && one_of() as u64 * compared > 100, "{mutations} of {compared}");
}

/// Where nothing of a program is compared but whether it is taken, the other answer is a deviation.
#[test]
fn an_outcome_that_is_compared_decides_the_verdict_on_the_program() {
    let mut mutations = 0;
    for program in programs().into_iter().chain(kernel_programs()) {
        let before = judged(&program, &|_| ()).parts;
        let is_whole = |part: &PartVerdict| {
            let by_outcome =
                part.verdict == Verdict::ConformsByOutcome || part.requirement == Some(Requirement::Refuse);
            by_outcome && is_compared(&part.verdict)
        };
        // Where a statement is refused and another one undecided, the refused one is shown alone, which the other
        // answer below is not for.
        let is_decided = predict(&program.module, &Rules::default()).undecided.is_empty();
        if !is_decided || !before.iter().any(is_whole) {
            continue;
        }
        mutations += 1;
        let other = FnSubject::new("other", |request: &Request<'_>| {
            let observed = ptxsmith_testing::right(request);
            match observed.outcome {
                // Of a header alone nothing is said.
                _ if request.ptx != program.text => observed,
                Outcome::Refused => Observation::new(Outcome::Accepted),
                _ => Observation::new(Outcome::Refused),
            }
        });
        let after = judge_module(&other, &Rules::default(), &program.module, &program.text, "sm_90").unwrap();
        let after = after.parts();
        assert!(after.iter().any(|part| is_noticed(&part.verdict)), "{}: {after:?}", program.name);
    }
    assert!(one_of() * mutations > 20, "{mutations}");
}

/// The verdict on a generated case as one of a campaign, alone.
fn of_trial(trial: &Trial, launch: bool, change: &(dyn Fn(&mut Observation) + Sync)) -> TrialVerdict {
    let header = Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() };
    let options = JudgeOptions { header, launch, recheck_every: 0, ..JudgeOptions::default() };
    let subject = Changed::by(change);
    Judge::new(&subject, Rules::default(), options).batch(&[trial]).unwrap().remove(0)
}

#[test]
fn every_byte_of_a_case_that_conforms_decides_its_verdict() {
    let generator = Generator::default();
    let mut mutations = 0;
    for (focus, count) in [(Focus::Mixed, 60), (Focus::Expressions, 30), (Focus::Operands, 40)] {
        let launch = focus == Focus::Operands;
        for index in 0..count {
            let case = generator.case(focus, 12, index, &mut Coverage::new());
            let body = match case.body {
                generate::Body::Expression { ty, space, expr } => TrialBody::Expression { ty, space, expr },
                generate::Body::Items(items) | generate::Body::Kernel(items) => TrialBody::Items(items),
                generate::Body::Contexts(items) => TrialBody::Contexts(items),
                generate::Body::Negative(_) => continue,
            };
            let trial = Trial::new(index, body);
            let seen = std::sync::Mutex::new(None);
            let before = of_trial(&trial, launch, &|observed| *seen.lock().unwrap() = Some(observed.clone()));
            let counted = before.operands;
            if before.verdict != Verdict::Conforms {
                assert!(!is_noticed(&before.verdict), "{focus:?} {index}: {:?}", before.verdict);
                assert_eq!(counted.seen, 0);
                continue;
            }
            let Some(Observation { outcome: Outcome::Accepted, variables, .. }) = seen.into_inner().unwrap()
            else {
                continue;
            };
            if before.requirement.is_none() || launch {
                continue;
            }
            for (name, variable) in variables {
                for at in some(variable.bytes.map_or(0, |bytes| bytes.len())) {
                    mutations += 1;
                    let after = of_trial(&trial, launch, &|observed| {
                        if let Some(own) = observed.variables.get_mut(&name) {
                            own.bytes.as_mut().unwrap()[at] ^= 0x55;
                        }
                    });
                    assert!(
                        is_noticed(&after.verdict),
                        "{focus:?} {index}: byte {at} of {name}: {:?}",
                        after.verdict
                    );
                }
            }
        }
    }
    assert!(mutations > 300, "{mutations}");
}
