//! Target `parse`: the parser accepts or rejects any text without a panic, in time proportional to its length. An accepted
//! program is printed and parses back to the same program.

use std::time::{Duration, Instant};

use ptxsmith_syntax::{parse, print};

use crate::target::{Target, TargetFailure, text};

/// The target.
pub static PARSE: Target = Target { name: "parse", run, program: text };

/// The time limit for parsing, per byte of input. `AT_LEAST` is the minimum for any input. A hundred times the time that a slow
/// machine needs with the address sanitizer; a quadratic parser exceeds it by far on inputs of a megabyte.
const PER_BYTE: Duration = Duration::from_micros(20);
const AT_LEAST: Duration = Duration::from_secs(2);

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let text = String::from_utf8_lossy(data);
    let started = Instant::now();
    let parsed = parse(&text);
    let limit = AT_LEAST + PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
    let taken = started.elapsed();
    TargetFailure::unless(taken <= limit, || format!("{} bytes took {taken:?}", text.len()))?;
    match parsed {
        Err(error) => {
            let (start, end) = (error.span.start as usize, error.span.end as usize);
            TargetFailure::unless(text.get(start..end).is_some(), || {
                format!("an error at {start}..{end}, outside the text")
            })?;
            let rendered = error.render("a.ptx", &text);
            TargetFailure::unless(rendered.len() < 2000, || {
                format!("a message of {} bytes", rendered.len())
            })?;
            TargetFailure::unless(!rendered.contains(|c: char| c.is_control() && c != '\n'), || {
                format!("a message with control characters: {rendered:?}")
            })
        }
        Ok(module) => {
            let printed = print(&module);
            let again = parse(&printed).map_err(|error| {
                TargetFailure(format!("what is printed does not parse: {}", error.render("", &printed)))
            })?;
            TargetFailure::unless(again == module, || {
                format!("what is printed is another program:\n{printed}")
            })?;
            TargetFailure::unless(print(&again) == printed, || format!("printed in two ways:\n{printed}"))
        }
    }
}
