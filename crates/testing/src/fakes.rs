//! Fake subjects, made from the oracle with modified rules.

use ptxsmith_diff::known::{Effect, End, KNOWN, Known, matching, with_known};
use ptxsmith_diff::pattern::Place;
use ptxsmith_diff::{Body, Maker, Trial};
use ptxsmith_gen::{self as generate, Coverage, Focus, Generator};
use ptxsmith_oracle::{Expectation, Kernel, Left, Rules, Way, accesses_anywhere, execute, expect};
use ptxsmith_subject::{
    Address, Description, Diagnostic, FnSubject, INTERNAL_ERROR, Observation, Outcome, Output, Reach,
    Reached, Request, Severity, Space, Subject, Variable,
};
use ptxsmith_syntax::{Lines, StateSpace, parse};

/// The latest release of ptxas.
pub const NVIDIA: Maker<'static> = Maker { lineage: Some("nvidia"), version: Some("13.5.37") };

/// Returns a generated case with the focus on expressions.
pub fn expression(generator: &Generator, seed: u64, index: u64) -> Trial {
    let case = generator.case(Focus::Expressions, seed, index, &mut Coverage::new());
    let generate::Body::Expression { ty, space, expr } = case.body else {
        panic!("an expression is asked for")
    };
    Trial { id: index, body: Body::Expression { ty, space, expr }, spacing: case.spacing }
}

/// Returns the rules that an implementation follows, as far as its deviations are known.
pub fn known_rules(maker: Maker<'_>) -> Rules {
    with_known(&Rules::default(), maker)
}

/// Returns the observation of an implementation that follows `rules` and has the known crashes, rejections and other
/// pattern-based deviations of `maker`.
pub fn observe(maker: Maker<'_>, rules: &Rules, request: &Request<'_>) -> Observation {
    let module = parse(request.ptx).expect("modules that are shown parse");
    let listed: Vec<(&Known, Vec<Place>)> =
        matching(KNOWN.iter().filter(|known| known.is_of(maker)), &module).collect();
    let is_matched = |known: &Known| listed.iter().any(|(own, _)| own.id == known.id);
    let expected = expect(&module, rules);
    if let Expectation::Accepted { trace, .. } | Expectation::Refused { trace, .. } = &expected {
        let dies = KNOWN.iter().filter(|known| known.is_of(maker)).find_map(|known| match known.effect {
            Effect::Crash { signal, when } if when(trace) => Some(End::Signal(signal)),
            Effect::Death { end } if is_matched(known) => Some(end),
            _ => None,
        });
        match dies {
            Some(End::Signal(signal) | End::Noticed(signal) | End::SignalOrHang(signal)) => {
                return Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) };
            }
            Some(End::Internal) => return Observation::because(Outcome::Crashed, INTERNAL_ERROR),
            Some(End::Broken) => return Observation::new(Outcome::Crashed),
            Some(End::Hang | End::Exhausted) => return Observation::new(Outcome::TimedOut),
            None => {}
        }
        let by_pattern = || listed.iter().map(|(known, _)| *known);
        if by_pattern().any(|known| matches!(known.effect, Effect::Refused)) {
            return Observation::new(Outcome::Refused);
        }
        let takes = |known: &Known| matches!(known.effect, Effect::Taken);
        if matches!(expected, Expectation::Refused { .. }) && by_pattern().any(takes) {
            return Observation::new(Outcome::Accepted);
        }
    }
    match expected {
        Expectation::Accepted { variables, .. } => {
            let mut observation = Observation::new(Outcome::Accepted);
            if !request.launch.is_empty() {
                let kernels = execute(&module, &variables, rules);
                observation.kernels = kernels.into_iter().filter_map(left).collect();
            }
            let wrong = |name: &str| {
                let wrong = listed.iter().filter(|(known, _)| matches!(known.effect, Effect::Wrong));
                wrong.into_iter().any(|(_, places)| places.iter().any(|place| place.holds(name)))
            };
            for mut v in variables {
                if wrong(&v.name) {
                    v.bytes.iter_mut().for_each(|byte| *byte = !*byte);
                }
                let variable = Variable {
                    space: Some(v.space.name().into()),
                    size: Some(v.size),
                    align: Some(v.align),
                    addresses: Some(v.addresses.iter().map(address).collect()),
                    bytes: Some(v.bytes),
                    ..Variable::default()
                };
                observation.variables.insert(v.name.clone(), variable);
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

fn address(a: &ptxsmith_oracle::Address) -> Address {
    Address {
        offset: a.offset,
        width: a.width,
        symbol: a.symbol.to_string(),
        addend: a.addend,
        generic: Some(a.generic),
        byte: a.byte,
    }
}

/// Returns the observation of a conforming implementation.
pub fn right(request: &Request<'_>) -> Observation {
    observe(Maker::default(), &Rules::default(), request)
}

/// Returns the name and output of a kernel, or `None` if the oracle cannot predict the output.
fn left(kernel: Kernel) -> Option<(String, Output)> {
    let Left::Output(left) = kernel.left else { return None };
    let output = Output {
        size: left.bytes.len() as u64,
        bytes: Some(left.bytes),
        seen: None,
        addresses: left.addresses.iter().map(address).collect(),
        reason: None,
    };
    Some((kernel.name.to_string(), output))
}

/// Returns the memory accesses of the requested kernels, in code that follows `rules`.
pub fn reached(rules: &Rules, request: &Request<'_>) -> impl Iterator<Item = (String, Reached)> {
    let module = parse(request.ptx).unwrap();
    let Expectation::Accepted { variables, .. } = expect(&module, rules) else { panic!("{}", request.ptx) };
    let kernels = accesses_anywhere(&module, &variables, rules);
    let asked = |name: &str| request.trace.iter().any(|asked| asked.kernel == name);
    kernels.into_iter().filter(move |kernel| asked(&kernel.name)).map(|kernel| {
        let own = kernel.reached.unwrap();
        let reach = |access: &ptxsmith_oracle::Access| Reach {
            instruction: "ACCESS".to_owned(),
            reads: access.way != Way::Write,
            writes: access.way != Way::Read,
            width: access.width,
            place: access.place.ok().map(|(own, at)| (space(own), at)),
            certain: true,
        };
        let reached = Reached {
            reaches: own.accesses.iter().map(reach).collect(),
            written: own.written.iter().map(|(&(own, at), &byte)| ((space(own), at), byte)).collect(),
            ..Reached::default()
        };
        (kernel.name.to_string(), reached)
    })
}

fn space(space: StateSpace) -> Space {
    match space {
        StateSpace::Global => Space::Global,
        StateSpace::Const => Space::Const,
        StateSpace::Shared => Space::Shared,
        StateSpace::Local => Space::Local,
        _ => panic!("{space:?}"),
    }
}

/// Creates an implementation with the identity of `maker` that follows `rules`.
pub fn fake(maker: Maker<'static>, rules: Rules) -> impl Subject {
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
    let described = subject.description().clone();
    let description = Description { lineage: Some("nvidia".into()), values: Some(true), ..described };
    subject.described(description)
}
