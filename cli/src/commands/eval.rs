//! `ptxsmith eval`: what the specification says that a module holds, and what its kernels leave.

use std::fmt::Write as _;

use ptxsmith_campaign::input::{self, Program};
use ptxsmith_oracle::{
    Address, Expectation, Interpretation, Kernel, Left, Output, Prediction, Readings, Refusal, Rules, Trace,
    Undecided, Validity, Variable, Written, hex, predict,
};
use ptxsmith_report::harmless::line;
use ptxsmith_report::values::{self, Shapes, Slot};
use ptxsmith_syntax::line_column;

use super::Context;
use crate::args::{self, Expect};
use crate::console::{BAD, BOLD, NOTE};
use crate::exit::{Exit, Failure};

/// The most bytes that people are shown of a variable; JSON has all.
const MOST_BYTES: usize = 256;

/// The most values that people are shown of what a kernel leaves; JSON has all.
const MOST_VALUES: usize = 64;

/// Evaluates a module and prints the answer. A refusal by the specification is an answer.
pub fn run(context: &Context, args: &args::Eval) -> Result<Exit, Failure> {
    let program = Program::read(&args.file)?;
    let rules = Rules::specification(readings(&args.readings)?);
    let prediction = predict(&program.module, &rules);
    let text = if args.json {
        serde_json::to_string_pretty(&prediction.to_json(&program.text, &rules.readings))? + "\n"
    } else {
        describe(&program, &prediction, &rules.readings)
    };
    context.console.print(&text)?;
    Ok(args.expect.map_or(Exit::Success, |expect| as_expected(&prediction, expect)))
}

/// The status that says whether the answer is the one expected.
fn as_expected(prediction: &Prediction, expect: Expect) -> Exit {
    let accepted = match &prediction.data {
        Expectation::Refused { .. } => Some(false),
        Expectation::Accepted { unmodelled, .. } => unmodelled.is_empty().then_some(true),
        Expectation::Unmodelled { .. } => None,
    };
    let holds = match expect {
        Expect::Accepted => accepted,
        // What is not decided may be refused.
        Expect::Refused => match prediction.validity() {
            Validity::Refused => Some(true),
            Validity::Valid => Some(false),
            Validity::Undecided => None,
        },
        Expect::Valid => match prediction.validity() {
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

fn readings(chosen: &[(ptxsmith_oracle::Question, usize)]) -> Result<Readings, Failure> {
    let mut readings = Readings::default();
    let mut answered = Vec::new();
    for &(question, answer) in chosen {
        if answered.contains(&question) {
            return Err(Failure::BadInput(format!("--reading answers `{}` twice", question.name())));
        }
        answered.push(question);
        readings = readings.with(question, answer).unwrap_or(readings);
    }
    Ok(readings)
}

fn describe(program: &Program, prediction: &Prediction, readings: &Readings) -> String {
    let mut out = String::new();
    match &prediction.data {
        Expectation::Accepted { variables, unmodelled, .. } => {
            let shapes = Shapes::new(&program.module);
            for variable in variables {
                describe_variable(&mut out, &shapes, variable, readings);
            }
            for Undecided { part, reason, .. } in unmodelled {
                let part = line(part);
                let _ = writeln!(out, "{BOLD}{part}{BOLD:#}: {NOTE}unmodelled{NOTE:#}: {reason}\n");
            }
            if variables.is_empty() && unmodelled.is_empty() {
                out.push_str("accepted, and no variable in .global or .const\n\n");
            }
            for kernel in &prediction.kernels {
                describe_kernel(&mut out, kernel, readings);
            }
        }
        Expectation::Refused { refusal, trace } => {
            describe_refusal(&mut out, program, refusal, trace, readings);
        }
        Expectation::Unmodelled { reason, .. } => {
            let _ = writeln!(out, "{NOTE}unmodelled{NOTE:#}: {reason}");
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn describe_variable(out: &mut String, shapes: &Shapes<'_>, variable: &Variable, readings: &Readings) {
    let shape = shapes.of(&variable.name, variable.size);
    let ty = shape.as_ref().map_or_else(String::new, |shape| format!(" {}", shape.type_text()));
    let (name, space) = (&variable.name, variable.space.keyword());
    let _ = writeln!(
        out,
        "{BOLD}{name}{BOLD:#}: {space}{ty}, {}, aligned to {}",
        bytes_of(variable.size),
        variable.align
    );
    let slots: Vec<Slot> = (variable.addresses.iter())
        .map(|a| Slot { offset: a.offset, text: values::address(&a.symbol, a.addend, a.generic, a.byte) })
        .collect();
    if let Some(shape) = &shape {
        let _ = writeln!(out, "  value    {}", shape.values(&variable.bytes, &slots));
    }
    let (shown, hidden) = variable.bytes.split_at(variable.bytes.len().min(MOST_BYTES));
    let _ = write!(out, "  bytes    {}", hex(shown));
    if !hidden.is_empty() {
        let _ = write!(out, "... ({} more; --json has all)", hidden.len());
    }
    out.push('\n');
    for (slot, address) in slots.iter().zip(&variable.addresses) {
        let _ = writeln!(
            out,
            "  address  offset {}, {}: {}",
            slot.offset,
            bytes_of(address.width.into()),
            slot.text
        );
    }
    describe_trace(out, &variable.trace, readings);
    out.push('\n');
}

fn describe_kernel(out: &mut String, kernel: &Kernel, readings: &Readings) {
    let name = &kernel.name;
    let output = match &kernel.left {
        Left::Output(output) => output,
        Left::Unmodelled(reason) => {
            let _ = writeln!(out, "{BOLD}{name}{BOLD:#}: kernel, {NOTE}unmodelled{NOTE:#}: {reason}\n");
            return;
        }
    };
    let size = output.bytes.len();
    let _ = match size {
        0 => writeln!(out, "{BOLD}{name}{BOLD:#}: kernel, writes nothing to its output buffer"),
        _ => writeln!(
            out,
            "{BOLD}{name}{BOLD:#}: kernel, leaves {} in its output buffer",
            bytes_of(size as u64)
        ),
    };
    for (nth, &Written { offset, width, .. }) in output.slots.iter().take(MOST_VALUES).enumerate() {
        let heading = if nth == 0 { "leaves" } else { "" };
        let held = held(output, offset, width);
        let _ = writeln!(out, "  {heading:<8} offset {offset}, {}: {held}", bytes_of(width as u64));
    }
    if let Some(more) = output.slots.len().checked_sub(MOST_VALUES).filter(|&more| more > 0) {
        let _ = writeln!(out, "           ... ({more} more; --json has all)");
    }
    describe_trace(out, &kernel.trace, readings);
    out.push('\n');
}

/// What a scalar of an output buffer holds, as people write it: an address, or the number in both its bases.
fn held(output: &Output, offset: usize, width: usize) -> String {
    let is_here = |address: &&Address| address.offset == offset as u64 && usize::from(address.width) == width;
    if let Some(a) = output.addresses.iter().find(is_here) {
        return values::address(&a.symbol, a.addend, a.generic, a.byte);
    }
    let range = offset..offset + width;
    let inside = |address: &Address| range.contains(&(address.offset as usize));
    if !output.known[range.clone()].iter().all(|&known| known) || output.addresses.iter().any(inside) {
        return "not known".to_owned();
    }
    let number = output.bytes[range].iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    format!("{number} ({number:#x})")
}

fn describe_refusal(
    out: &mut String,
    program: &Program,
    refusal: &Refusal,
    trace: &Trace,
    readings: &Readings,
) {
    let (line, column) = line_column(&program.text, refusal.span.start);
    let _ = writeln!(
        out,
        "{BAD}refused{BAD:#} by the specification: {} ({})",
        refusal.class.summary(),
        refusal.class.name()
    );
    let _ = writeln!(out, "  at       {}:{line}:{column}", program.name);
    for line in input::excerpt(&program.text, refusal.span).lines() {
        let _ = writeln!(out, "           {line}");
    }
    let _ = writeln!(out, "  clause   {}: {}", refusal.clause, refusal.clause.summary());
    let mut rest = *trace;
    rest.clauses = Default::default();
    describe_trace(out, &rest, readings);
}

fn describe_trace(out: &mut String, trace: &Trace, readings: &Readings) {
    let width = trace.clauses.iter().map(|clause| clause.id().len()).max().unwrap_or(0);
    for (nth, clause) in trace.clauses.iter().enumerate() {
        let heading = if nth == 0 { "clauses" } else { "" };
        let _ = writeln!(out, "  {heading:<8} {:width$}  {}", clause.id(), clause.summary());
    }
    for (nth, question) in trace.questions.iter().enumerate() {
        let heading = if nth == 0 { "readings" } else { "" };
        let answer = readings.answer(question);
        let interpretation = Interpretation(question, answer);
        let _ = writeln!(out, "  {heading:<8} {interpretation}  {}", question.summaries()[answer]);
    }
}

fn bytes_of(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}
