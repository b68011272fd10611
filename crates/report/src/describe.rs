//! Describes expected and actual results in lines for people.

use ptxsmith_model::{AccessDifference, Class};
use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_oracle::hex;
use ptxsmith_subject::{Observation, Outcome, Output, Severity, Variable, Variables};
use ptxsmith_syntax::Text;

use crate::Finding;
use crate::harmless::{cut, line};
use crate::reproduce::is_malformed;
use crate::values::{Shapes, Slot, address};

/// The maximum number of bytes of a variable that are shown.
const MOST_BYTES: usize = 48;
/// The maximum number of characters of a message that are shown. The report contains the whole message.
const MOST_CHARACTERS: usize = 2_000;
/// The size in bytes up to which a difference between variables is visible without help.
const SHORT: usize = 16;
/// The maximum number of addresses of a variable that are shown one by one.
const MOST_ADDRESSES: usize = 4;
/// The maximum number of variables that are shown if no single variable shows the deviation.
const MOST_VARIABLES: usize = 3;
/// The maximum number of addresses of a variable that are examined one by one.
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "the page shows them"))]
pub(crate) const MOST_SLOTS: usize = 4_096;

/// The expected result of a program that the specification leaves undecided.
const AN_ANSWER: &str =
    "an answer: the specification at hand does not decide whether it is accepted or refused";

/// The same in general terms, for bug reports.
const ANY_ANSWER: &str =
    "a compiled program, or a diagnostic and an exit status other than 0; not the end of the compiler";

const ACCEPTED: &str = "accepted";

/// Returns the line of the program that the specification's rejection or the subject's first error refers to.
pub fn blamed_line(finding: &Finding) -> Option<usize> {
    let example = finding.example();
    let refused = example.expected.refusal().map(|refusal| refusal.line).filter(|line| *line > 0);
    let errors = example.observed.diagnostics.iter().filter(|said| said.severity >= Severity::Error);
    let said = || errors.filter_map(|said| said.line).next();
    refused.or_else(said).and_then(|line| usize::try_from(line).ok())
}

/// Describes the expected result, for readers who know ptxsmith's names of clauses.
pub fn expected(finding: &Finding) -> Vec<String> {
    let mut lines = expected_of(finding, AN_ANSWER);
    if let Some(refusal) = finding.example().expected.refusal() {
        lines[0] += &format!(" ({})", refusal.class);
    }
    lines
}

/// Describes the expected result for readers who do not know ptxsmith, as in a bug report.
pub(crate) fn expected_in_words(finding: &Finding) -> Vec<String> {
    let mut lines = expected_of(finding, ANY_ANSWER);
    if is_malformed(finding.example().observed) {
        lines = vec!["compiled, with output that can be read".to_owned()];
    }
    if finding.class == Class::RefusesValid && lines != [ACCEPTED] {
        lines.insert(0, ACCEPTED.to_owned());
    }
    lines
}

fn expected_of(finding: &Finding, undecided: &str) -> Vec<String> {
    if let Some(comparison) = &finding.comparison {
        return vec![line(&comparison.expected).into_owned()];
    }
    let expected = finding.example().expected;
    if let Some(refusal) = expected.refusal() {
        return vec![format!("refused: {}", refusal.summary)];
    }
    if let Some(first) = expected.accesses().first() {
        return vec![access(first, &first.expected)];
    }
    let died = matches!(finding.class, Class::Crash | Class::Hang);
    if expected.is_unmodelled() && (died || expected.variables().is_empty()) {
        return vec![undecided.to_owned()];
    }
    let failing = failing_kernels(expected.kernels(), &finding.example().observed.kernels);
    if !failing.is_empty() {
        return kernels(expected.kernels(), &failing);
    }
    variables(finding, expected.variables())
}

/// Describes the result of the subject, and lists the deviations that the program contains but that do not explain it.
pub fn observed(finding: &Finding) -> Vec<String> {
    let contains = finding.example().expected.contains.iter();
    let notes = contains.map(|id| format!("contains {id}, which does not explain it"));
    done(finding).into_iter().chain(notes).collect()
}

fn done(finding: &Finding) -> Vec<String> {
    if let Some(comparison) = &finding.comparison {
        let way = finding.linked.as_ref().map(|linked| &linked.way).filter(|way| !way.is_empty());
        let way = way.map(|way| format!("linked as {way}: ")).unwrap_or_default();
        return vec![line(&(way + &comparison.actual)).into_owned()];
    }
    let observed = finding.example().observed;
    if observed.outcome == Outcome::Accepted {
        let expected = finding.example().expected;
        if let Some(first) = expected.accesses().first() {
            return vec![access(first, &first.seen)];
        }
        let failing = failing_kernels(expected.kernels(), &observed.kernels);
        if !failing.is_empty() {
            return kernels(&observed.kernels, &failing);
        }
        let mut lines = variables(finding, &observed.variables);
        lines.extend(first_difference(finding));
        return lines;
    }
    outcome(observed)
}

/// Describes an outcome without contents, with the first error that was printed. Later errors are often consequences of the first.
pub fn outcome(observed: &Observation) -> Vec<String> {
    let mut did = match (observed.outcome, observed.signal) {
        (Outcome::Accepted, _) => ACCEPTED.to_owned(),
        (Outcome::Refused, _) => "refused".to_owned(),
        (Outcome::Unsupported, _) => "not supported".to_owned(),
        (Outcome::Crashed, Some(signal)) => format!("killed by signal {signal}{}", name_of(signal)),
        (Outcome::Crashed, None) => "died".to_owned(),
        (Outcome::TimedOut, _) => "no answer in time".to_owned(),
        (Outcome::Unavailable, _) => "not available".to_owned(),
    };
    if let Some(reason) = &observed.reason {
        let _ = write!(did, ": {}", line(&cut(reason, MOST_CHARACTERS)));
    }
    let error = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error);
    let error = error.map(|diagnostic| match diagnostic.line {
        Some(number) => format!("line {number}: {}", line(&cut(&diagnostic.message, MOST_CHARACTERS))),
        None => line(&cut(&diagnostic.message, MOST_CHARACTERS)).into_owned(),
    });
    [did].into_iter().chain(error).collect()
}

/// Describes the result of the subject for a bug report, with the exit status that a shell shows.
pub(crate) fn observed_in_words(finding: &Finding) -> Vec<String> {
    let observed = finding.example().observed;
    let mut lines = self::observed(finding);
    match (observed.outcome, observed.signal) {
        (Outcome::Accepted, _) if finding.class == Class::AcceptsInvalid => {
            let said = if observed.diagnostics.is_empty() { ", nothing printed" } else { "" };
            // For a program that should be rejected, variables that are zero contain no information.
            let tells = |variable: &Variable| {
                let bytes = variable.bytes.iter().flatten().any(|&byte| byte != 0);
                bytes || variable.addresses.as_ref().is_some_and(|all| !all.is_empty())
            };
            let told = |line: &String| {
                let mut all = observed.variables.iter();
                all.any(|(name, variable)| line.starts_with(&format!("{name}: ")) && tells(variable))
            };
            lines.retain(told);
            lines.insert(0, format!("{ACCEPTED}: exit status 0{said}"));
        }
        (Outcome::Crashed, None) if is_malformed(observed) => {
            lines[0] = lines[0].trim_start_matches("died: ").to_owned();
        }
        (Outcome::Crashed, Some(signal)) => lines[0] += &format!("; exit status {} in a shell", 128 + signal),
        _ => {}
    }
    lines
}

/// Describes an access that differs: `k, line 7: reads 4 bytes at a +8`.
fn access(access: &AccessDifference, said: &str) -> String {
    let kernel = line(&access.kernel);
    match access.line {
        Some(number) => format!("{kernel}, line {number}: {}", line(said)),
        None => format!("{kernel}: {}", line(said)),
    }
}

/// Whether this byte of an output is known.
fn is_seen(output: &Output, at: usize) -> bool {
    output.seen.as_ref().is_none_or(|seen| seen.get(at).is_some_and(|&seen| seen != 0))
}

/// Returns the kernels whose known output differs from the expected one.
fn failing_kernels(expected: &BTreeMap<String, Output>, seen: &BTreeMap<String, Output>) -> Vec<String> {
    let differs = |(name, own): (&String, &Output)| {
        let other = seen.get(name)?;
        let (bytes, others) = (own.bytes.as_ref()?, other.bytes.as_ref()?);
        let known = |at: &usize| is_seen(own, *at) && is_seen(other, *at);
        let mut known = (0..bytes.len().min(others.len())).filter(known);
        (known.any(|at| bytes[at] != others[at]) || own.addresses != other.addresses).then(|| name.clone())
    };
    expected.iter().filter_map(differs).collect()
}

/// Describes outputs: `k0 leaves: 8dc2..83`, with dots for unknown bytes, followed by the addresses.
fn kernels(outputs: &BTreeMap<String, Output>, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, output) in outputs.iter().filter(|(name, _)| names.contains(name)).take(MOST_VARIABLES) {
        let mut text = format!("{} leaves: ", line(name));
        for (at, byte) in output.bytes.iter().flatten().take(MOST_BYTES).enumerate() {
            let _ = if is_seen(output, at) { write!(text, "{byte:02x}") } else { write!(text, "..") };
        }
        for a in output.addresses.iter().take(MOST_ADDRESSES) {
            let shown = address(&a.symbol, a.addend, a.generic.unwrap_or(false), a.byte);
            let _ = write!(text, ", {} at {}", line(&shown), a.offset);
        }
        lines.push(text);
    }
    lines
}

/// Describes the position of the first difference in a long variable.
fn first_difference(finding: &Finding) -> Option<String> {
    let name = finding.example().variable?;
    let expected = finding.example().expected.variable(name)?.bytes.as_ref()?;
    let seen = finding.example().observed.variables.get(name)?.bytes.as_ref()?;
    let at = expected.iter().zip(seen).position(|(expected, seen)| expected != seen)?;
    (expected.len() > SHORT).then(|| format!("different from byte {at} on"))
}

/// Describes the variable that shows the deviation, or else the first few variables.
fn variables(finding: &Finding, variables: &Variables) -> Vec<String> {
    let shown = |(name, variable): (&Text, &Variable)| describe(finding, name, variable);
    if let Some(failing) = finding.example().variable {
        return match variables.get_key_value(failing) {
            Some(failing) => shown(failing),
            None => vec![format!("{}: not there", line(failing))],
        };
    }
    let mut lines: Vec<String> = variables.iter().take(MOST_VARIABLES).flat_map(shown).collect();
    if lines.is_empty() {
        lines.push(ACCEPTED.to_owned());
    }
    let left_out = finding.example().expected.variables_left_out;
    let more = variables.len().saturating_sub(MOST_VARIABLES) as u64 + left_out;
    if more > 0 {
        lines.push(format!("and {more} more variables"));
    }
    lines
}

/// Describes a variable: `x: 05000000  = 5`, with its layout or addresses if those differ.
fn describe(finding: &Finding, name: &str, variable: &Variable) -> Vec<String> {
    let mut text = format!("{}: ", line(name));
    let slots: Vec<Slot> = (variable.addresses.iter().flatten())
        .map(|a| Slot {
            offset: a.offset,
            text: line(&address(&a.symbol, a.addend, a.generic.unwrap_or(false), a.byte)).into_owned(),
        })
        .collect();
    match &variable.bytes {
        Some(bytes) => {
            text.push_str(&hex(&bytes[..bytes.len().min(MOST_BYTES)]));
            if bytes.len() > MOST_BYTES {
                text.push_str("...");
            }
            let module = ptxsmith_syntax::parse(finding.example().program).unwrap_or_default();
            let shape = Shapes::new(&module).of(name, bytes.len() as u64);
            // A variable with a wrong size has no value that can be compared.
            let size = finding.example().expected.variable(name).and_then(|expected| expected.size);
            let is_whole = size.is_none_or(|size| size == bytes.len() as u64);
            if let Some(shape) = shape.filter(|_| is_whole) {
                let _ = write!(text, "  = {}", shape.values(bytes, &slots));
            }
        }
        None => text.push_str("bytes not shown"),
    }
    if finding.class == Class::WrongLayout {
        let or = |value: Option<u64>| match value {
            None => "?".to_owned(),
            // The maximum stands for all larger values, too.
            Some(u64::MAX) => "at least 2^64 - 1".to_owned(),
            Some(value) => value.to_string(),
        };
        let space = line(variable.space.as_deref().unwrap_or("?"));
        let _ = write!(text, "  (.{space}, size {}, align {})", or(variable.size), or(variable.align));
    }
    let mut lines = vec![text];
    if finding.class == Class::WrongAddress {
        let addresses = variable.addresses.iter().flatten().zip(&slots).take(MOST_ADDRESSES);
        lines.extend(addresses.map(|(address, slot)| {
            let unknown = if address.generic.is_none() { ", generic or not" } else { "" };
            format!("{} bytes at offset {}: {}{unknown}", address.width, address.offset, slot.text)
        }));
        if slots.len() > MOST_ADDRESSES {
            lines.push(format!("and {} more addresses", slots.len() - MOST_ADDRESSES));
        }
    }
    lines
}

fn name_of(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        24 => " (SIGXCPU)",
        25 => " (SIGXFSZ)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_model::Expected;
    use serde_json::Value;

    fn read(json: Value) -> Expected {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn where_a_kernel_reaches_other_memory_both_places_are_shown() {
        let first = serde_json::json!({
            "kernel": "k", "class": "wrong-address", "line": 7,
            "expected": "reads 4 bytes at a +8", "seen": "LDG reads 4 bytes at a +2",
        });
        let observed = Observation::new(Outcome::Accepted);
        let expected = read(serde_json::json!({ "astray": [first] }));
        let finding = Finding { expected, observed, ..Finding::default() };
        assert_eq!(super::expected(&finding), ["k, line 7: reads 4 bytes at a +8"]);
        assert_eq!(super::observed(&finding), ["k, line 7: LDG reads 4 bytes at a +2"]);
    }

    fn words(class: &str, expected: Value, observed: Observation) -> (Vec<String>, Vec<String>) {
        let (class, expected) = (Class::from_name(class).unwrap(), read(expected));
        let finding = Finding { class, expected, observed, ..Finding::default() };
        (expected_in_words(&finding), observed_in_words(&finding))
    }

    #[test]
    fn a_bug_report_has_statuses_and_no_words_of_ours() {
        let refused = serde_json::json!({"outcome": "refused", "refusal": {"class": "nesting", "summary": "a list is missing"}});
        let variable = |byte| Variable { bytes: Some(vec![byte]), ..Variable::default() };
        let variables = [("zero".into(), variable(0)), ("x".into(), variable(7))].into_iter().collect();
        let taken = Observation { variables, ..Observation::new(Outcome::Accepted) };
        let (expected, observed) = words("accepts-invalid", refused, taken);
        assert_eq!(expected, ["refused: a list is missing"]);
        assert_eq!(observed, ["accepted: exit status 0, nothing printed", "x: 07"]);

        let undecided = serde_json::json!({"outcome": "unmodelled"});
        let killed = Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        let (expected, observed) = words("crash", undecided, killed);
        assert_eq!(expected, [ANY_ANSWER]);
        assert_eq!(observed, ["killed by signal 11 (SIGSEGV); exit status 139 in a shell"]);

        let accepted = serde_json::json!({"outcome": "accepted", "variables": {}});
        let broken =
            Observation::because(Outcome::Crashed, "exit status 0, but it cannot be read".to_owned());
        let (expected, observed) = words("crash", accepted, broken);
        assert_eq!(expected, ["compiled, with output that can be read"]);
        assert_eq!(observed, ["exit status 0, but it cannot be read"]);
    }

    #[test]
    fn of_an_undecided_program_that_kills_the_subject_an_answer_is_expected() {
        let expected_of = |class: Class, outcome: &str| {
            expected(&Finding {
                class,
                expected: read(serde_json::json!({ "outcome": outcome, "variables": {} })),
                ..Finding::default()
            })
        };
        for class in [Class::Crash, Class::Hang] {
            assert_eq!(expected_of(class, "unmodelled"), [AN_ANSWER]);
            assert_eq!(expected_of(class, "accepted"), ["accepted"]);
        }
        assert_eq!(expected_of(Class::Inconsistent, "unmodelled"), [AN_ANSWER]);
    }
}
