//! What was expected and what was seen, in lines for people.

use ptxsmith_oracle::hex;
use ptxsmith_subject::{Outcome, Severity};
use ptxsmith_syntax::Module;

use super::Found;
use crate::console::line;
use crate::values::{Shape, Slot, address};

/// The most bytes of a variable that are shown.
const MOST_BYTES: usize = 48;
/// The most variables that are shown of a program that no single one of is at fault.
const MOST_VARIABLES: usize = 3;

/// What the specification says.
pub fn expected(found: &Found) -> Vec<String> {
    let expected = &found.finding.example.difference.expected;
    if let Some(class) = expected["refusal"]["class"].as_str() {
        let summary = expected["refusal"]["summary"].as_str().unwrap_or("");
        return vec![format!("refused: {summary} ({class})")];
    }
    let module = ptxsmith_syntax::parse(&found.program).unwrap_or_default();
    let variables = expected["variables"].as_object();
    lines_of(
        found,
        variables.into_iter().flatten().map(|(name, variable)| {
            let bytes = variable["bytes"].as_str().unwrap_or("").to_owned();
            let slots = variable["addresses"].as_array().into_iter().flatten().map(|a| {
                let text = address(
                    a["symbol"].as_str().unwrap_or("?"),
                    a["addend"].as_i64().unwrap_or(0),
                    a["generic"].as_bool().unwrap_or(false),
                    a["byte"].as_u64().map(|byte| byte as u8),
                );
                Slot { offset: a["offset"].as_u64().unwrap_or(0), text }
            });
            let layout = (variable["size"].as_u64(), variable["align"].as_u64(), variable["space"].as_str());
            one(&module, name, layout, Some(bytes), slots.collect())
        }),
    )
}

/// What the subject did.
pub fn observed(found: &Found) -> Vec<String> {
    let observed = &found.finding.example.difference.observed;
    let mut lines = match observed.outcome {
        Outcome::Accepted => {
            let module = ptxsmith_syntax::parse(&found.program).unwrap_or_default();
            return lines_of(
                found,
                observed.variables.iter().map(|(name, seen)| {
                    let slots = seen.addresses.iter().flatten().map(|a| Slot {
                        offset: a.offset,
                        text: address(&a.symbol, a.addend, a.generic.unwrap_or(false), a.byte),
                    });
                    let layout = (seen.size, seen.align, seen.space.as_deref());
                    one(&module, name, layout, seen.bytes.as_deref().map(hex), slots.collect())
                }),
            );
        }
        Outcome::Refused => vec!["refused".to_owned()],
        Outcome::Unsupported => vec!["not supported".to_owned()],
        Outcome::Crashed => vec![match observed.signal {
            Some(signal) => format!("killed by signal {signal}{}", name_of(signal)),
            None => "died".to_owned(),
        }],
        Outcome::TimedOut => vec!["no answer in time".to_owned()],
        Outcome::Unavailable => vec!["not available".to_owned()],
    };
    if let Some(reason) = &observed.reason {
        lines[0] = format!("{}: {}", lines[0], line(reason));
    }
    let errors = observed.diagnostics.iter().filter(|diagnostic| diagnostic.severity >= Severity::Error);
    lines.extend(errors.take(2).map(|diagnostic| match diagnostic.line {
        Some(number) => format!("line {number}: {}", line(&diagnostic.message)),
        None => line(&diagnostic.message).into_owned(),
    }));
    lines
}

/// The lines of the variable at fault; without one, of the first few.
fn lines_of(found: &Found, variables: impl Iterator<Item = (String, String)>) -> Vec<String> {
    match &found.finding.example.difference.variable {
        Some(guilty) => variables.filter(|(name, _)| name == guilty).map(|(_, line)| line).collect(),
        None => {
            let all: Vec<String> = variables.map(|(_, line)| line).collect();
            let hidden = all.len().saturating_sub(MOST_VARIABLES);
            let mut shown: Vec<String> = all.into_iter().take(MOST_VARIABLES).collect();
            if shown.is_empty() {
                shown.push("accepted".to_owned());
            }
            if hidden > 0 {
                shown.push(format!("and {hidden} more"));
            }
            shown
        }
    }
}

type Layout<'a> = (Option<u64>, Option<u64>, Option<&'a str>);

/// A variable as its name and a line: `x = 0500000000000000 (5)`, with its layout where that is what differs.
fn one(
    module: &Module,
    name: &str,
    (size, align, space): Layout<'_>,
    bytes: Option<String>,
    slots: Vec<Slot>,
) -> (String, String) {
    let or = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let layout = format!("[{} size {} align {}]", space.unwrap_or("?"), or(size), or(align));
    let shown = line(name);
    let Some(bytes) = bytes else { return (name.to_owned(), format!("{shown}: bytes not shown {layout}")) };
    let raw: Vec<u8> = (0..bytes.len() / 2)
        .filter_map(|at| u8::from_str_radix(bytes.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    let value = Shape::of(module, name, raw.len() as u64).map(|shape| shape.values(&raw, &slots));
    let cut = match bytes.get(..2 * MOST_BYTES) {
        Some(first) if bytes.len() > 2 * MOST_BYTES => format!("{first}..."),
        _ => bytes,
    };
    let value = value.map_or_else(String::new, |value| format!("  = {value}"));
    (name.to_owned(), format!("{shown}: {cut}{value}  {layout}"))
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
