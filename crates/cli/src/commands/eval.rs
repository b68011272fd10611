//! `ptxsmith eval`: prints the contents of a module's variables and the output of its kernels, according to
//! the specification.

use std::borrow::Borrow;

use askama::Template;
use ptxsmith_campaign::input::{InputProgram, excerpt};
use ptxsmith_oracle::{
    Address, Expectation, Interpretation, KernelOutcome, Output, Prediction, Readings, Refusal, Rules, Trace,
    Undecided, Validity, Variable, WrittenScalar, hex, predict_over,
};
use ptxsmith_report::harmless::line;
use ptxsmith_report::values::{self, AddressSlot, DeclaredTypes, VariableType};
use ptxsmith_syntax::Lines;

use super::{CommandContext, given_answers};
use crate::args::{self, ExpectedValidity};
use crate::console::{BAD, BOLD, END, NOTE};
use crate::exit::{Exit, Failure};
use ptxsmith_report::harmless;

/// The maximum number of bytes of a variable in the text output; JSON contains all of them.
const MOST_BYTES: usize = 256;

/// The maximum number of values of a kernel's output in the text output; JSON contains all of them.
const MOST_VALUES: usize = 64;

/// Evaluates a module and prints the result. A rejection by the specification is a valid result, not an
/// error.
pub fn run(context: &CommandContext, args: &args::EvalArgs) -> Result<Exit, Failure> {
    let program = InputProgram::read(&args.file)?;
    let rules = Rules::answered(given_answers(&args.interpretations)?);
    let input = args.input.as_ref().map(|input| input.0.as_slice());
    let prediction = predict_over(&program.module, &rules, input);
    context.console.print(&text(&program, &prediction, &rules, args.json, args.clauses)?)?;
    let Some(expect) = args.expect else { return Ok(Exit::Success) };
    let exit = as_expected(&prediction, expect);
    if exit == Exit::NothingCompared {
        context.console.stderr(&not_decided(&program, &prediction));
    }
    Ok(exit)
}

/// Formats the result as JSON or as text.
pub(super) fn text(
    program: &InputProgram,
    prediction: &Prediction,
    rules: &Rules,
    json: bool,
    with_clauses: bool,
) -> Result<String, Failure> {
    let readings = rules.readings;
    if json {
        let json = prediction.to_json(&program.text, &readings);
        return Ok(harmless::json(serde_json::to_string_pretty(&json)?) + "\n");
    }
    let shapes = DeclaredTypes::new(&program.module);
    let lines = Lines::new(&program.text);
    let mut page = EvalPage { program, lines, prediction, readings, shapes, with_clauses }.render()?;
    // Truncate in place: the page of a large program is about thirty times as long as the program.
    page.truncate(page.trim_end().len());
    Ok(page + "\n")
}

/// Compares the result with `--expect` and returns the exit status.
fn as_expected(prediction: &Prediction, expect: ExpectedValidity) -> Exit {
    let accepted = match &prediction.data {
        Expectation::Refused { .. } => Some(false),
        Expectation::Accepted { unmodelled, .. } => unmodelled.is_empty().then_some(true),
        Expectation::Unmodelled { .. } => None,
    };
    let holds = match expect {
        ExpectedValidity::Accepted => accepted,
        // A program of undecided validity may be rejected.
        ExpectedValidity::Refused => match prediction.validity() {
            Validity::Refused => Some(true),
            Validity::Valid => Some(false),
            Validity::Undecided => None,
        },
        ExpectedValidity::Valid => match prediction.validity() {
            Validity::Valid => Some(true),
            Validity::Refused => Some(false),
            Validity::Undecided => None,
        },
    };
    match holds {
        Some(true) => Exit::Success,
        Some(false) => Exit::Deviation,
        None => Exit::NothingCompared,
    }
}

/// Lists the parts of undecided validity, one per line.
pub(super) fn not_decided(program: &InputProgram, prediction: &Prediction) -> String {
    const MOST: usize = 10;
    let parts = &prediction.undecided;
    let lines = Lines::new(&program.text);
    let name = line(&program.name);
    let mut text = String::new();
    for part in parts.iter().take(MOST) {
        let place = line_of(&lines, part).map(|line| format!(":{line}")).unwrap_or_default();
        let reason = part.explained();
        text += &format!("{name}{place}: not decided: {}: {}\n", line(&part.part), line(&reason));
    }
    if parts.len() > MOST {
        text += &format!("{name}: not decided: {} more; --json has all\n", parts.len() - MOST);
    }
    text
}

/// The text output.
#[derive(Template)]
#[template(path = "eval.txt")]
struct EvalPage<'a> {
    program: &'a InputProgram,
    lines: Lines<'a>,
    prediction: &'a Prediction,
    readings: Readings,
    shapes: DeclaredTypes<'a>,
    with_clauses: bool,
}

fn shape(shapes: &DeclaredTypes<'_>, variable: &Variable) -> Option<VariableType> {
    shapes.variable(&variable.name, variable.size)
}

fn place(lines: &Lines<'_>, refusal: &Refusal) -> (u32, u32) {
    lines.place(refusal.span.start)
}

/// Returns the line of an undecided part, if it is known.
fn line_of(lines: &Lines<'_>, part: &Undecided) -> Option<u32> {
    let place = part.place();
    place.is_known().then(|| lines.line(place.start))
}

pub(super) fn slots(variable: &Variable) -> Vec<AddressSlot> {
    let mut slots = Vec::new();
    for address in &variable.addresses {
        slots.push(AddressSlot { offset: address.offset, text: address_text(address) });
    }
    slots
}

fn address_text(address: &Address) -> String {
    values::address(&address.symbol, address.addend, address.generic, address.byte)
}

pub(super) fn bytes(bytes: &[u8]) -> String {
    let (shown, hidden) = bytes.split_at(bytes.len().min(MOST_BYTES));
    let more = if hidden.is_empty() {
        String::new()
    } else {
        format!("... ({} more; --json has all)", hidden.len())
    };
    grouped(shown) + &more
}

/// Formats bytes as hexadecimal digits, in groups of four bytes.
fn grouped(bytes: &[u8]) -> String {
    bytes.chunks(4).map(hex).collect::<Vec<_>>().join(" ")
}

/// Formats a scalar of an output buffer: as an address, or as a number in decimal and hexadecimal.
fn held(output: &Output, &WrittenScalar { offset, width, .. }: &WrittenScalar) -> String {
    let exact = output
        .addresses
        .iter()
        .find(|address| address.offset == offset as u64 && usize::from(address.width) == width);
    if let Some(address) = exact {
        return address_text(address);
    }
    let range = offset..offset + width;
    let holds_address = output.addresses.iter().any(|address| range.contains(&(address.offset as usize)));
    if holds_address || !output.known[range.clone()].iter().all(|&known| known) {
        return "not known".to_owned();
    }
    let number = output.bytes[range].iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    format!("{number} ({number:#x})")
}

fn clauses(trace: &Trace) -> String {
    let width = trace.clauses.iter().map(|clause| clause.id().len()).max().unwrap_or(0);
    below("clauses", trace.clauses.iter().map(|clause| format!("{clause:width$}  {}", clause.summary())))
}

fn questions(trace: &Trace, readings: &Readings) -> String {
    let assumptions = trace.questions.iter().map(|question| {
        let answer = readings.answer(question);
        format!("{}  {}", Interpretation(question, answer), question.summaries()[answer])
    });
    below("assuming", assumptions)
}

/// Formats lines as a block, with the heading in front of the first line.
fn below(heading: &str, lines: impl Iterator<Item = String>) -> String {
    let headings = std::iter::once(heading).chain(std::iter::repeat(""));
    headings.zip(lines).map(|(heading, line)| format!("  {heading:<8} {line}\n")).collect()
}

pub(super) fn bytes_of(count: impl Borrow<u64>) -> String {
    match *count.borrow() {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}
