//! Fake subjects, made from the oracle with modified rules.

use ptxsmith_diff::known::{Effect, KNOWN, KnownDeviation, Termination, matching, with_known};
use ptxsmith_diff::pattern::MatchedPlace;
use ptxsmith_diff::{Implementation, Trial, TrialBody};
use ptxsmith_gen::{self as generate, Coverage, Focus, Generator};
use ptxsmith_oracle::{
    AccessKind, Expectation, Kernel, KernelOutcome, MemoryAccess, Rules, Trace, accesses_anywhere, execute,
    expect,
};
use ptxsmith_subject::{
    Address, Description, Diagnostic, FnSubject, INTERNAL_ERROR, Observation, Outcome, Output, Reach,
    Reached, Request, Severity, Space, Subject, Variable,
};
use ptxsmith_syntax::{Lines, StateSpace, parse};

/// The latest release of ptxas.
pub const NVIDIA: Implementation<'static> =
    Implementation { lineage: Some("nvidia"), version: Some("13.5.37") };

/// Returns a generated case with the focus on expressions.
pub fn expression(generator: &Generator, seed: u64, index: u64) -> Trial {
    let case = generator.case(Focus::Expressions, seed, index, &mut Coverage::new());
    let generate::Body::Expression { ty, space, expr } = case.body else {
        panic!("an expression is asked for")
    };
    Trial { id: index, body: TrialBody::Expression { ty, space, expr }, spacing: case.spacing }
}

/// Returns the rules that an implementation follows, as far as its deviations are known.
pub fn known_rules(maker: Implementation<'_>) -> Rules {
    with_known(&Rules::default(), maker)
}

/// Returns the observation of an implementation that follows `rules` and has the known crashes, rejections
/// and other pattern-based deviations of `maker`.
pub fn observe(maker: Implementation<'_>, rules: &Rules, request: &Request<'_>) -> Observation {
    let module = parse(request.ptx).expect("modules that are shown parse");
    let matched: Vec<(&KnownDeviation, Vec<MatchedPlace>)> =
        matching(KNOWN.iter().filter(|known| known.is_listed_for(maker)), &module).collect();
    let expected = expect(&module, rules);
    if let Expectation::Accepted { trace, .. } | Expectation::Refused { trace, .. } = &expected {
        if let Some(end) = known_end(maker, trace, &matched) {
            return ended(end);
        }
        if matched.iter().any(|(known, _)| matches!(known.effect, Effect::RefusesValid)) {
            return Observation::new(Outcome::Refused);
        }
        if matches!(expected, Expectation::Refused { .. })
            && matched.iter().any(|(known, _)| matches!(known.effect, Effect::AcceptsInvalid))
        {
            return Observation::new(Outcome::Accepted);
        }
    }
    match expected {
        Expectation::Accepted { variables, .. } => {
            let mut observation = Observation::new(Outcome::Accepted);
            if !request.launch.is_empty() {
                let kernels = execute(&module, &variables, rules);
                observation.kernels = kernels.into_iter().filter_map(kernel_output).collect();
            }
            for variable in variables {
                let name = variable.name.clone();
                let is_wrong = has_wrong_value(&matched, &name);
                observation.variables.insert(name, observed_variable(variable, is_wrong));
            }
            observation
        }
        Expectation::Refused { refusal, .. } => {
            let mut observation = Observation::new(Outcome::Refused);
            observation.diagnostics.push(Diagnostic {
                severity: Severity::Fatal,
                line: Some(Lines::new(request.ptx).line(refusal.span.start)),
                message: refusal.class.summary().into(),
            });
            observation
        }
        Expectation::Unmodelled { reason, .. } => Observation::because(Outcome::Unsupported, reason),
    }
}

/// Returns how the first known deviation that applies ends the process, if any does.
fn known_end(
    maker: Implementation<'_>,
    trace: &Trace,
    matched: &[(&KnownDeviation, Vec<MatchedPlace>)],
) -> Option<Termination> {
    KNOWN.iter().filter(|known| known.is_listed_for(maker)).find_map(|known| match known.effect {
        Effect::CrashRule { signal, when } if when(trace) => Some(Termination::Signal(signal)),
        Effect::CrashPattern { end } if matched.iter().any(|(other, _)| other.id == known.id) => Some(end),
        _ => None,
    })
}

fn ended(end: Termination) -> Observation {
    match end {
        Termination::Signal(signal)
        | Termination::SignalOrInternal(signal)
        | Termination::SignalOrHang(signal) => {
            Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) }
        }
        Termination::InternalError => Observation::because(Outcome::Crashed, INTERNAL_ERROR),
        Termination::UnreadableOutput => Observation::new(Outcome::Crashed),
        Termination::Hang | Termination::OutOfMemory => Observation::new(Outcome::TimedOut),
    }
}

/// Whether a known deviation changes the value of the variable with this name.
fn has_wrong_value(matched: &[(&KnownDeviation, Vec<MatchedPlace>)], name: &str) -> bool {
    let mut wrong = matched.iter().filter(|(known, _)| matches!(known.effect, Effect::WrongValue));
    wrong.any(|(_, places)| places.iter().any(|place| place.holds(name)))
}

/// Converts an expected variable to an observed one. A wrong one has all bits inverted.
fn observed_variable(variable: ptxsmith_oracle::Variable, is_wrong: bool) -> Variable {
    let mut bytes = variable.bytes;
    if is_wrong {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }
    Variable {
        space: Some(variable.space.name().into()),
        size: Some(variable.size),
        align: Some(variable.align),
        addresses: Some(variable.addresses.iter().map(observed_address).collect()),
        bytes: Some(bytes),
        ..Variable::default()
    }
}

fn observed_address(address: &ptxsmith_oracle::Address) -> Address {
    Address {
        offset: address.offset,
        width: address.width,
        symbol: address.symbol.to_string(),
        addend: address.addend,
        generic: Some(address.generic),
        byte: address.byte,
    }
}

/// Returns the observation of a conforming implementation.
pub fn right(request: &Request<'_>) -> Observation {
    observe(Implementation::default(), &Rules::default(), request)
}

/// Returns the name and output of a kernel, or `None` if the oracle cannot predict the output.
fn kernel_output(kernel: Kernel) -> Option<(String, Output)> {
    let KernelOutcome::Output(memory) = kernel.outcome else { return None };
    let output = Output {
        size: memory.bytes.len() as u64,
        bytes: Some(memory.bytes),
        seen: None,
        addresses: memory.addresses.iter().map(observed_address).collect(),
        reason: None,
    };
    Some((kernel.name.to_string(), output))
}

/// Returns the memory accesses of the requested kernels, in code that follows `rules`.
pub fn reached(rules: &Rules, request: &Request<'_>) -> impl Iterator<Item = (String, Reached)> {
    let module = parse(request.ptx).unwrap();
    let Expectation::Accepted { variables, .. } = expect(&module, rules) else { panic!("{}", request.ptx) };
    let mut kernels = accesses_anywhere(&module, &variables, rules);
    kernels.retain(|kernel| request.trace.iter().any(|requested| requested.kernel == *kernel.name));
    kernels.into_iter().map(|kernel| {
        let expected = kernel.reached.unwrap();
        let written = expected.written.iter();
        let reached = Reached {
            reaches: expected.accesses.iter().map(observed_access).collect(),
            written: written
                .map(|(&(space, offset), &byte)| ((observed_space(space), offset), byte))
                .collect(),
            ..Reached::default()
        };
        (kernel.name.to_string(), reached)
    })
}

fn observed_access(access: &MemoryAccess) -> Reach {
    Reach {
        instruction: "ACCESS".to_owned(),
        reads: access.way != AccessKind::Write,
        writes: access.way != AccessKind::Read,
        width: access.width,
        place: access.place.ok().map(|(space, offset)| (observed_space(space), offset)),
        certain: true,
    }
}

fn observed_space(space: StateSpace) -> Space {
    match space {
        StateSpace::Global => Space::Global,
        StateSpace::Const => Space::Const,
        StateSpace::Shared => Space::Shared,
        StateSpace::Local => Space::Local,
        _ => panic!("{space:?}"),
    }
}

/// Creates an implementation with the identity of `maker` that follows `rules`.
pub fn fake(maker: Implementation<'static>, rules: Rules) -> impl Subject {
    let subject = FnSubject::new("fake", move |request: &Request<'_>| observe(maker, &rules, request));
    let description = Description {
        lineage: maker.lineage.map(str::to_owned),
        version: maker.version.map(str::to_owned),
        ..subject.description().clone()
    };
    subject.described(description)
}

/// Creates a subject of the lineage for which known deviations are listed.
pub fn of_lineage<F: Fn(&Request<'_>) -> Observation + Send + Sync>(observe: F) -> FnSubject<F> {
    let subject = FnSubject::new("fake", observe);
    let description = subject.description().clone();
    subject.described(Description { lineage: Some("nvidia".into()), values: Some(true), ..description })
}
