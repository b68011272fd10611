//! Target `parse`: the parser accepts or rejects any text without a panic, in time proportional to its length. An accepted
//! program is printed and parses back to the same program.

use std::time::{Duration, Instant};

use ptxsmith_syntax::{parse, print};

use crate::target::{Failure, Target, text};

/// The target.
pub static PARSE: Target = Target { name: "parse", run, program: text };

/// The time limit for parsing, per byte of input. `AT_LEAST` is the minimum for any input. A hundred times the time that a slow
/// machine needs with the address sanitizer; a quadratic parser exceeds it by far on inputs of a megabyte.
const PER_BYTE: Duration = Duration::from_micros(20);
const AT_LEAST: Duration = Duration::from_secs(2);

fn run(data: &[u8]) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(data);
    let started = Instant::now();
    let parsed = parse(&text);
    let limit = AT_LEAST + PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
    let taken = started.elapsed();
    Failure::unless(taken <= limit, || format!("{} bytes took {taken:?}", text.len()))?;
    match parsed {
        Err(error) => {
            let (start, end) = (error.span.start as usize, error.span.end as usize);
            Failure::unless(text.get(start..end).is_some(), || {
                format!("an error at {start}..{end}, outside the text")
            })?;
            let rendered = error.render("a.ptx", &text);
            Failure::unless(rendered.len() < 2000, || format!("a message of {} bytes", rendered.len()))?;
            let acts = |c: char| c.is_control() && c != '\n';
            Failure::unless(!rendered.contains(acts), || {
                format!("a message with control characters: {rendered:?}")
            })
        }
        Ok(module) => {
            let printed = print(&module);
            let again = parse(&printed).map_err(|error| {
                Failure(format!("what is printed does not parse: {}", error.render("", &printed)))
            })?;
            Failure::unless(again == module, || format!("what is printed is another program:\n{printed}"))?;
            Failure::unless(print(&again) == printed, || format!("printed in two ways:\n{printed}"))
        }
    }
}
