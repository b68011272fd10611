//! Target `serve`: any reply of an implementation is either a valid observation or ignored, and a wrong reply never gets the
//! verdict that the implementation conforms.

use std::sync::LazyLock;

use ptxsmith_diff::{Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules, Variable, expect};
use ptxsmith_subject::{FnSubject, Observation, Outcome, Request, serve};
use ptxsmith_syntax::{Module, parse};

use crate::target::{Target, TargetFailure, no_program};

/// The target.
pub static SERVE: Target = Target { name: "serve", run, program: no_program };

/// The number of the request that inputs are replies to.
pub const QUESTION: u64 = 1;
/// The module in the request.
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

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let Ok(observation) = serve::read_answer(data, QUESTION) else { return Ok(()) };
    kept(&observation)?;
    let (module, variables) = &*EXPECTED;
    let subject = FnSubject::new("hostile", |_: &Request<'_>| observation.clone());
    let parts = judge_data(&subject, &Rules::default(), module, MODULE, "sm_80")
        .map_err(|error| TargetFailure(format!("a reply is taken for a failure of ours: {error}")))?;
    TargetFailure::unless(!parts.is_empty(), || "a reply without a verdict".to_owned())?;
    for part in &parts {
        let conforms = matches!(part.verdict, Verdict::Conforms);
        if conforms {
            TargetFailure::unless(observation.outcome == Outcome::Accepted, || {
                format!("{:?} conforms", observation.outcome)
            })?;
        }
        if let (true, Some(name)) = (conforms, &part.variable) {
            let expected = variables.iter().find(|variable| variable.name == name.as_str());
            let seen = observation.variables.get(name.as_str());
            let (Some(expected), Some(seen)) = (expected, seen) else {
                return Err(TargetFailure(format!("`{name}` conforms, and was not shown")));
            };
            // Bytes that were read from memory contain addresses as numbers, so they may differ.
            let same =
                seen.bytes.as_ref().is_none_or(|bytes| *bytes == expected.bytes) || seen.base.is_some();
            TargetFailure::unless(same, || format!("`{name}` conforms with {:?}", seen.bytes))?;
        }
    }
    Ok(())
}

/// Checks that an observation survives serialization, as in the state of a campaign.
fn kept(observation: &Observation) -> Result<(), TargetFailure> {
    let text = serde_json::to_vec(observation)
        .map_err(|error| TargetFailure(format!("cannot be written: {error}")))?;
    let again: Observation = serde_json::from_slice(&text)
        .map_err(|error| TargetFailure(format!("cannot be read again: {error}")))?;
    TargetFailure::unless(again == *observation, || "read again, it is another observation".to_owned())
}
