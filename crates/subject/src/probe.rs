//! The first module shown to a user's own program, before any of its answers are judged: it checks that the
//! program speaks the protocol.
//!
//! A mistake in the command or in an adapter affects every answer. Without this check it would appear only at
//! the end of a campaign, as many crashes or as nothing compared.

use serde_json::Value;

use crate::subject::{Description, Request, RequestedVariable};
use crate::unanswered::Unanswered;
use crate::version::Version;
use ptxsmith_model::{Observation, Outcome, SCHEMA};

/// Name of the variable in the probe module.
const VARIABLE: &str = "ptxsmith_probe";
/// Maximum number of characters of an answer that are quoted.
const QUOTED: usize = 600;

/// The probe module, with a header that the implementation accepts. Its variable is 0x04030201, so that each
/// byte shows its own place.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Source text of the module.
    pub ptx: String,
    target: String,
    read: [RequestedVariable; 1],
}

impl Probe {
    /// Creates the probe for an implementation with this description.
    pub fn new(description: &Description) -> Probe {
        const NEWEST: &str = "7.8";
        let version = match description.max_ptx.as_deref() {
            Some(max)
                if Version::parse_ptx(max).is_some_and(|max| Some(max) < Version::parse_ptx(NEWEST)) =>
            {
                max
            }
            _ => NEWEST,
        };
        let target = match description.targets.first() {
            Some(first) if !description.targets.iter().any(|target| target == "sm_80") => first.clone(),
            _ => "sm_80".to_owned(),
        };
        Probe {
            ptx: format!(
                ".version {version}\n.target {target}\n.address_size 64\n\
                 .global .u32 {VARIABLE} = 67305985;\n"
            ),
            target,
            read: [RequestedVariable { name: VARIABLE.into(), space: "global".into(), size: 4 }],
        }
    }

    /// Returns the request that shows the module.
    pub fn request(&self) -> Request<'_> {
        Request { read: &self.read, ..Request::new(&self.ptx, &self.target) }
    }

    /// Returns a correct answer.
    pub fn expected(&self) -> String {
        format!(
            "{{\"schema\": \"{SCHEMA}\", \"outcome\": \"accepted\", \"variables\": {{\"{VARIABLE}\": \
             {{\"space\": \"global\", \"size\": 4, \"bytes\": \"01020304\", \"addresses\": []}}}}}}"
        )
    }

    /// Returns the fault in an answer to the probe: a crash, a time-out or a misspelled field. `printed` is
    /// the raw output. Acceptance and rejection are both valid answers, and a wrong value is left to the
    /// judge.
    pub fn fault(&self, observation: &Observation, printed: &[u8]) -> Option<String> {
        let reason = observation.reason.as_deref().unwrap_or_default();
        match observation.outcome {
            Outcome::Refused | Outcome::Unsupported => None,
            Outcome::Accepted => misnamed(observation, printed),
            Outcome::TimedOut => Some(format!("{reason}; is the output flushed?")),
            Outcome::Unavailable => Some(format!("it says that it is unavailable: {reason}")),
            Outcome::Crashed => Some(reason.to_owned()),
        }
    }

    /// Builds the report for the user.
    pub fn unanswered(&self, reason: String, sent: String, received: &[u8], expected: String) -> Unanswered {
        let received = String::from_utf8_lossy(received);
        let mut quoted: String = received.chars().take(QUOTED).collect();
        if quoted.len() < received.len() {
            quoted.push_str(" ...");
        }
        Unanswered { reason, sent, received: quoted, expected }
    }
}

/// Finds a field that an accepting answer spells differently from the protocol. Unknown fields are ignored,
/// so values in a misspelled field would never be seen.
fn misnamed(observation: &Observation, printed: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(printed).ok()?;
    let answer = answer.get("observation").unwrap_or(&answer);
    if let Some(other) = instead_of("variables", answer, OBSERVATION) {
        return Some(format!("it has `{other}`, which the protocol does not know, and no `variables`"));
    }
    if observation.variables.is_empty() {
        return None;
    }
    let Some(variable) = answer.get("variables").and_then(|variables| variables.get(VARIABLE)) else {
        let names: Vec<String> =
            observation.variables.keys().take(3).map(|name| format!("`{name}`")).collect();
        return Some(format!(
            "its variables are {}, and the program declares `{VARIABLE}`",
            names.join(", ")
        ));
    };
    if let Some(other) = instead_of("bytes", variable, FIELDS) {
        return Some(format!("the variable has `{other}`, which the protocol does not know, and no `bytes`"));
    }
    (variable.get("bytes")?.as_str()? == "04030201").then(|| {
        "its bytes are in reverse order: `bytes` begins with the byte at the lowest address, and PTX is \
         little-endian"
            .to_owned()
    })
}

/// The fields of an observation in the protocol, except `variables`.
const OBSERVATION: &[&str] = &["schema", "outcome", "reason", "signal", "diagnostics", "kernels", "complete"];
/// The fields of a variable in the protocol, except `bytes`.
const FIELDS: &[&str] = &["space", "size", "align", "addresses", "base", "reason"];

/// Returns an unknown field of an object that lacks the known field `wanted`.
fn instead_of<'a>(wanted: &str, object: &'a Value, others: &[&str]) -> Option<&'a str> {
    let fields = object.as_object().filter(|fields| !fields.contains_key(wanted))?;
    fields.keys().map(String::as_str).find(|field| !others.contains(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_one_that_the_implementation_says_it_takes() {
        let described = |max: Option<&str>, targets: &[&str]| {
            let targets = targets.iter().map(|&target| target.to_owned()).collect();
            let description =
                Description { max_ptx: max.map(str::to_owned), targets, ..Description::default() };
            let probe = Probe::new(&description);
            assert_eq!(probe.request().target, probe.target);
            let header: Vec<&str> = probe.ptx.lines().take(2).collect();
            header.join(" ")
        };
        assert_eq!(described(None, &[]), ".version 7.8 .target sm_80");
        assert_eq!(described(Some("9.5"), &["sm_75", "sm_80"]), ".version 7.8 .target sm_80");
        assert_eq!(described(Some("6.0"), &["sm_35", "sm_70"]), ".version 6.0 .target sm_35");
        assert_eq!(described(Some("a word"), &[]), ".version 7.8 .target sm_80");
    }

    #[test]
    fn what_names_things_otherwise_is_at_fault_and_what_knows_less_is_not() {
        let probe = Probe::new(&Description::default());
        let fault = |printed: &str| {
            let observation: Observation = serde_json::from_str(printed).unwrap();
            probe.fault(&observation, printed.as_bytes())
        };
        for fine in [
            &probe.expected(),
            r#"{"outcome": "refused"}"#,
            r#"{"outcome": "unsupported", "reason": "no data"}"#,
            r#"{"outcome": "accepted"}"#,
            r#"{"outcome": "accepted", "variables": {}, "seconds": 3}"#,
            // A wrong or unknown value is still a valid answer.
            r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"bytes": "00"}}}"#,
            r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"reason": "none"}, "more": {}}}"#,
        ] {
            assert_eq!(fault(fine), None, "{fine}");
        }
        for (wrong, reason) in [
            (r#"{"outcome": "accepted", "vars": {}}"#, "it has `vars`, which"),
            (r#"{"outcome": "accepted", "variables": {"a": {}}}"#, "its variables are `a`, and the program"),
            (
                r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"size": 4, "hex": "01"}}}"#,
                "the variable has `hex`, which",
            ),
            (
                r#"{"outcome": "unavailable", "reason": "no device"}"#,
                "it says that it is unavailable: no device",
            ),
            (r#"{"outcome": "crashed", "reason": "killed"}"#, "killed"),
        ] {
            let found = fault(wrong).unwrap();
            assert!(found.starts_with(reason), "{found}");
        }
    }
}
