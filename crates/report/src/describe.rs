//! Describes expected and actual results in lines for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_model::{AccessDifference, Class};
use ptxsmith_oracle::hex;
use ptxsmith_subject::{Address, Observation, Outcome, Output, Severity, Variable, Variables};

use crate::Finding;
use crate::harmless::{cut, line};
use crate::reproduce::is_malformed;
use crate::values::{self, AddressSlot, DeclaredTypes};

/// The maximum number of bytes of a variable that are shown.
const MOST_BYTES: usize = 48;
/// The maximum number of characters of a message that are shown. The report contains the whole message.
const MOST_CHARACTERS: usize = 2_000;
/// The size in bytes up to which a difference between variables is visible without help.
const MOST_BYTES_SEEN_AT_ONCE: usize = 16;
/// The maximum number of addresses of a variable that are shown one by one.
const MOST_ADDRESSES: usize = 4;
/// The maximum number of variables that are shown if no single variable shows the deviation.
const MOST_VARIABLES: usize = 3;
/// The maximum number of addresses of a variable that are examined one by one.
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "the page shows them"))]
pub(crate) const MOST_SLOTS: usize = 4_096;

/// The expected result of a program that the specification leaves undecided.
const UNDECIDED: &str =
    "an answer: the specification at hand does not decide whether it is accepted or refused";

/// The same in general terms, for bug reports.
const UNDECIDED_IN_WORDS: &str =
    "a compiled program, or a diagnostic and an exit status other than 0; not the end of the compiler";

const ACCEPTED: &str = "accepted";

/// Returns the line of the program that the specification's rejection or the subject's first error refers to.
pub fn blamed_line(finding: &Finding) -> Option<usize> {
    let example = finding.example();
    let refused = example.expected.refusal().map(|refusal| refusal.line).filter(|line| *line > 0);
    let diagnostics = example.observed.diagnostics.iter();
    let mut errors = diagnostics.filter(|diagnostic| diagnostic.severity >= Severity::Error);
    let line = refused.or_else(|| errors.find_map(|error| error.line))?;
    usize::try_from(line).ok()
}

/// Describes the expected result, for readers who know ptxsmith's names of clauses.
pub fn expected(finding: &Finding) -> Vec<String> {
    let mut lines = expected_lines(finding, UNDECIDED);
    if let Some(refusal) = finding.example().expected.refusal() {
        lines[0] += &format!(" ({})", refusal.class);
    }
    lines
}

/// Describes the expected result for readers who do not know ptxsmith, as in a bug report.
pub(crate) fn expected_in_words(finding: &Finding) -> Vec<String> {
    let mut lines = expected_lines(finding, UNDECIDED_IN_WORDS);
    if is_malformed(finding.example().observed) {
        lines = vec!["compiled, with output that can be read".to_owned()];
    }
    if finding.class == Class::RefusesValid && lines != [ACCEPTED] {
        lines.insert(0, ACCEPTED.to_owned());
    }
    lines
}

fn expected_lines(finding: &Finding, undecided: &str) -> Vec<String> {
    if let Some(comparison) = &finding.comparison {
        return vec![line(&comparison.expected).into_owned()];
    }
    let expected = finding.example().expected;
    if let Some(refusal) = expected.refusal() {
        return vec![format!("refused: {}", refusal.summary)];
    }
    if let Some(first) = expected.accesses().first() {
        return vec![describe_access(first, &first.expected)];
    }
    let is_crash = matches!(finding.class, Class::Crash | Class::Hang);
    if expected.is_unmodelled() && (is_crash || expected.variables().is_empty()) {
        return vec![undecided.to_owned()];
    }
    let failing = failing_kernels(expected.kernels(), &finding.example().observed.kernels);
    if !failing.is_empty() {
        return describe_kernels(expected.kernels(), &failing);
    }
    describe_variables(finding, expected.variables())
}

/// Describes the result of the subject, and lists the deviations that the program contains but that do not
/// explain it.
pub fn observed(finding: &Finding) -> Vec<String> {
    let contains = finding.example().expected.contains.iter();
    let notes = contains.map(|id| format!("contains {id}, which does not explain it"));
    observed_lines(finding).into_iter().chain(notes).collect()
}

fn observed_lines(finding: &Finding) -> Vec<String> {
    if let Some(comparison) = &finding.comparison {
        let text = match &finding.linked {
            Some(linked) if !linked.way.is_empty() => {
                format!("linked as {}: {}", linked.way, comparison.actual)
            }
            _ => comparison.actual.clone(),
        };
        return vec![line(&text).into_owned()];
    }
    let observed = finding.example().observed;
    if observed.outcome == Outcome::Accepted {
        let expected = finding.example().expected;
        if let Some(first) = expected.accesses().first() {
            return vec![describe_access(first, &first.seen)];
        }
        let failing = failing_kernels(expected.kernels(), &observed.kernels);
        if !failing.is_empty() {
            return describe_kernels(&observed.kernels, &failing);
        }
        let mut lines = describe_variables(finding, &observed.variables);
        lines.extend(first_difference(finding));
        return lines;
    }
    outcome(observed)
}

/// Describes an outcome without contents, with the first error that was printed. Later errors are often
/// consequences of the first.
pub fn outcome(observed: &Observation) -> Vec<String> {
    let mut outcome = match (observed.outcome, observed.signal) {
        (Outcome::Accepted, _) => ACCEPTED.to_owned(),
        (Outcome::Refused, _) => "refused".to_owned(),
        (Outcome::Unsupported, _) => "not supported".to_owned(),
        (Outcome::Crashed, Some(signal)) => format!("killed by signal {signal}{}", signal_name(signal)),
        (Outcome::Crashed, None) => "died".to_owned(),
        (Outcome::TimedOut, _) => "no answer in time".to_owned(),
        (Outcome::Unavailable, _) => "not available".to_owned(),
    };
    if let Some(reason) = &observed.reason {
        let _ = write!(outcome, ": {}", line(&cut(reason, MOST_CHARACTERS)));
    }
    let error = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error);
    let error = error.map(|diagnostic| {
        let message = cut(&diagnostic.message, MOST_CHARACTERS);
        match diagnostic.line {
            Some(number) => format!("line {number}: {}", line(&message)),
            None => line(&message).into_owned(),
        }
    });
    [outcome].into_iter().chain(error).collect()
}

/// Describes the result of the subject for a bug report, with the exit status that a shell shows.
pub(crate) fn observed_in_words(finding: &Finding) -> Vec<String> {
    let observed = finding.example().observed;
    let mut lines = self::observed(finding);
    match (observed.outcome, observed.signal) {
        (Outcome::Accepted, _) if finding.class == Class::AcceptsInvalid => {
            let output = if observed.diagnostics.is_empty() { ", nothing printed" } else { "" };
            // For a program that should be rejected, variables that are zero contain no information.
            let names: Vec<String> = observed
                .variables
                .iter()
                .filter(|(_, variable)| has_contents(variable))
                .map(|(name, _)| format!("{name}: "))
                .collect();
            lines.retain(|line| names.iter().any(|name| line.starts_with(name)));
            lines.insert(0, format!("{ACCEPTED}: exit status 0{output}"));
        }
        (Outcome::Crashed, None) if is_malformed(observed) => {
            lines[0] = lines[0].trim_start_matches("died: ").to_owned();
        }
        (Outcome::Crashed, Some(signal)) => lines[0] += &format!("; exit status {} in a shell", 128 + signal),
        _ => {}
    }
    lines
}

/// Whether a variable has a byte other than zero, or an address.
fn has_contents(variable: &Variable) -> bool {
    variable.bytes.iter().flatten().any(|&byte| byte != 0)
        || variable.addresses.iter().flatten().next().is_some()
}

/// Describes an access that differs: `k, line 7: reads 4 bytes at a +8`.
fn describe_access(access: &AccessDifference, action: &str) -> String {
    let kernel = line(&access.kernel);
    match access.line {
        Some(number) => format!("{kernel}, line {number}: {}", line(action)),
        None => format!("{kernel}: {}", line(action)),
    }
}

/// Whether this byte of an output is known.
fn is_seen(output: &Output, index: usize) -> bool {
    output.seen.as_ref().is_none_or(|seen| seen.get(index).is_some_and(|&seen| seen != 0))
}

/// Returns the kernels with a known output that differs from the expected one.
fn failing_kernels(expected: &BTreeMap<String, Output>, seen: &BTreeMap<String, Output>) -> Vec<String> {
    let common = expected.iter().filter_map(|(name, output)| Some((name, output, seen.get(name)?)));
    let failing = common.filter(|(_, expected, seen)| outputs_differ(expected, seen));
    failing.map(|(name, ..)| name.clone()).collect()
}

/// Whether two outputs differ in a byte that both know, or in their addresses. False if the bytes of either
/// output are unknown.
fn outputs_differ(output: &Output, other: &Output) -> bool {
    let (Some(bytes), Some(other_bytes)) = (&output.bytes, &other.bytes) else { return false };
    let pairs = bytes.iter().zip(other_bytes).enumerate();
    let mut known = pairs.filter(|(index, _)| is_seen(output, *index) && is_seen(other, *index));
    known.any(|(_, (byte, other))| byte != other) || output.addresses != other.addresses
}

/// Describes outputs: `k0 leaves: 8dc2..83`, with dots for unknown bytes, followed by the addresses.
fn describe_kernels(outputs: &BTreeMap<String, Output>, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, output) in outputs.iter().filter(|(name, _)| names.contains(name)).take(MOST_VARIABLES) {
        let mut text = format!("{} leaves: ", line(name));
        for (index, byte) in output.bytes.iter().flatten().take(MOST_BYTES).enumerate() {
            let _ = if is_seen(output, index) { write!(text, "{byte:02x}") } else { write!(text, "..") };
        }
        for address in output.addresses.iter().take(MOST_ADDRESSES) {
            let _ = write!(text, ", {} at {}", address_text(address), address.offset);
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
    let index = expected.iter().zip(seen).position(|(expected, seen)| expected != seen)?;
    (expected.len() > MOST_BYTES_SEEN_AT_ONCE).then(|| format!("different from byte {index} on"))
}

/// Describes the variable that shows the deviation, or else the first few variables.
fn describe_variables(finding: &Finding, variables: &Variables) -> Vec<String> {
    if let Some(failing) = finding.example().variable {
        return match variables.get(failing) {
            Some(variable) => describe_variable(finding, failing, variable),
            None => vec![format!("{}: not there", line(failing))],
        };
    }
    let shown = variables.iter().take(MOST_VARIABLES);
    let mut lines: Vec<String> =
        shown.flat_map(|(name, variable)| describe_variable(finding, name, variable)).collect();
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
fn describe_variable(finding: &Finding, name: &str, variable: &Variable) -> Vec<String> {
    let mut text = format!("{}: ", line(name));
    let addresses = variable.addresses.iter().flatten();
    let slots: Vec<AddressSlot> = addresses
        .map(|address| AddressSlot { offset: address.offset, text: address_text(address) })
        .collect();
    match &variable.bytes {
        Some(bytes) => text.push_str(&describe_bytes(finding, name, bytes, &slots)),
        None => text.push_str("bytes not shown"),
    }
    if finding.class == Class::WrongLayout {
        let space = line(variable.space.as_deref().unwrap_or("?"));
        let size = layout_number(variable.size);
        let align = layout_number(variable.align);
        let _ = write!(text, "  (.{space}, size {size}, align {align})");
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

/// Describes the bytes of a variable: `05000000  = 5`.
fn describe_bytes(finding: &Finding, name: &str, bytes: &[u8], slots: &[AddressSlot]) -> String {
    let mut text = hex(&bytes[..bytes.len().min(MOST_BYTES)]);
    if bytes.len() > MOST_BYTES {
        text.push_str("...");
    }
    let size = bytes.len() as u64;
    let expected_size = finding.example().expected.variable(name).and_then(|expected| expected.size);
    if expected_size.is_some_and(|expected| expected != size) {
        // A variable with a wrong size has no value that can be compared.
        return text;
    }
    let module = ptxsmith_syntax::parse(finding.example().program).unwrap_or_default();
    if let Some(variable) = DeclaredTypes::new(&module).variable(name, size) {
        let _ = write!(text, "  = {}", variable.values(bytes, slots));
    }
    text
}

/// Formats an address in PTX syntax, escaped for one line.
pub(crate) fn address_text(address: &Address) -> String {
    let Address { symbol, addend, generic, byte, .. } = address;
    line(&values::address(symbol, *addend, generic.unwrap_or(false), *byte)).into_owned()
}

/// Formats a size or an alignment.
fn layout_number(value: Option<u64>) -> String {
    match value {
        None => "?".to_owned(),
        // The maximum stands for all larger values, too.
        Some(u64::MAX) => "at least 2^64 - 1".to_owned(),
        Some(value) => value.to_string(),
    }
}

fn signal_name(signal: i32) -> &'static str {
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
    fn both_places_of_a_wrong_access_are_shown() {
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
        let class = Class::from_name(class).unwrap();
        let expected = read(expected);
        let finding = Finding { class, expected, observed, ..Finding::default() };
        (expected_in_words(&finding), observed_in_words(&finding))
    }

    #[test]
    fn a_bug_report_has_exit_statuses_and_no_names_of_clauses() {
        let refused = serde_json::json!({"outcome": "refused", "refusal": {"class": "nesting", "summary": "a list is missing"}});
        let variable = |byte| Variable { bytes: Some(vec![byte]), ..Variable::default() };
        let variables = [("zero".into(), variable(0)), ("x".into(), variable(7))].into_iter().collect();
        let accepted = Observation { variables, ..Observation::new(Outcome::Accepted) };
        let (expected, observed) = words("accepts-invalid", refused, accepted);
        assert_eq!(expected, ["refused: a list is missing"]);
        assert_eq!(observed, ["accepted: exit status 0, nothing printed", "x: 07"]);

        let undecided = serde_json::json!({"outcome": "unmodelled"});
        let killed = Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        let (expected, observed) = words("crash", undecided, killed);
        assert_eq!(expected, [UNDECIDED_IN_WORDS]);
        assert_eq!(observed, ["killed by signal 11 (SIGSEGV); exit status 139 in a shell"]);

        let accepted = serde_json::json!({"outcome": "accepted", "variables": {}});
        let broken =
            Observation::because(Outcome::Crashed, "exit status 0, but it cannot be read".to_owned());
        let (expected, observed) = words("crash", accepted, broken);
        assert_eq!(expected, ["compiled, with output that can be read"]);
        assert_eq!(observed, ["exit status 0, but it cannot be read"]);
    }

    #[test]
    fn an_undecided_program_must_not_crash_the_subject() {
        let expected_of = |class: Class, outcome: &str| {
            expected(&Finding {
                class,
                expected: read(serde_json::json!({ "outcome": outcome, "variables": {} })),
                ..Finding::default()
            })
        };
        for class in [Class::Crash, Class::Hang] {
            assert_eq!(expected_of(class, "unmodelled"), [UNDECIDED]);
            assert_eq!(expected_of(class, "accepted"), ["accepted"]);
        }
        assert_eq!(expected_of(Class::Inconsistent, "unmodelled"), [UNDECIDED]);
    }
}
