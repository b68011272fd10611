//! Target `serve`: whatever an implementation replies, it is an observation or none, and a wrong reply is never taken for
//! agreement.

use std::sync::LazyLock;

use ptxsmith_diff::{Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules, Variable, expect};
use ptxsmith_subject::{FnSubject, Observation, Outcome, Request, serve};
use ptxsmith_syntax::{Module, parse};

use crate::target::{Failure, Target, no_program};

/// The target.
pub static SERVE: Target = Target { name: "serve", run, program: no_program };

/// The question that inputs are replies to: its number, and the module that it is about.
pub const QUESTION: u64 = 1;
/// The module of the question.
pub const MODULE: &str = ".version 7.8
.target sm_80
.address_size 64
.global .u32 a = 5;
.const .align 8 .u8 b[8] = {1, 2};
.global .u64 p[2] = {a, generic(b) + 4};
";

static EXPECTED: LazyLock<(Module, Vec<Variable>)> = LazyLock::new(|| {
    let module = parse(MODULE).expect("the module is PTX");
    let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
        panic!("the specification takes the module")
    };
    (module, variables)
});

fn run(data: &[u8]) -> Result<(), Failure> {
    let Ok(observation) = serve::read_answer(data, QUESTION) else { return Ok(()) };
    kept(&observation)?;
    let (module, variables) = &*EXPECTED;
    let subject = FnSubject::new("hostile", |_: &Request<'_>| observation.clone());
    let parts = judge_data(&subject, &Rules::default(), module, MODULE, "sm_80")
        .map_err(|error| Failure(format!("a reply is taken for a failure of ours: {error}")))?;
    Failure::unless(!parts.is_empty(), || "a reply without a verdict".to_owned())?;
    for part in &parts {
        let conforms = matches!(part.verdict, Verdict::Conforms);
        if conforms {
            Failure::unless(observation.outcome == Outcome::Accepted, || {
                format!("{:?} conforms", observation.outcome)
            })?;
        }
        if let (true, Some(name)) = (conforms, &part.variable) {
            let expected = variables.iter().find(|variable| variable.name == name.as_str());
            let seen = observation.variables.get(name.as_str());
            let (Some(expected), Some(seen)) = (expected, seen) else {
                return Err(Failure(format!("`{name}` conforms, and was not shown")));
            };
            // What is read from memory holds addresses as numbers.
            let same =
                seen.bytes.as_ref().is_none_or(|bytes| *bytes == expected.bytes) || seen.base.is_some();
            Failure::unless(same, || format!("`{name}` conforms with {:?}", seen.bytes))?;
        }
    }
    Ok(())
}

/// An observation is kept in a campaign's state, and read again.
fn kept(observation: &Observation) -> Result<(), Failure> {
    let text =
        serde_json::to_vec(observation).map_err(|error| Failure(format!("cannot be written: {error}")))?;
    let again: Observation =
        serde_json::from_slice(&text).map_err(|error| Failure(format!("cannot be read again: {error}")))?;
    Failure::unless(again == *observation, || "read again, it is another observation".to_owned())
}
