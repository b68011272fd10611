//! `ptxsmith eval`: what the specification says that a module holds.

use std::fmt::Write as _;

use ptxsmith_oracle::{Expectation, Readings, Refusal, Rules, Trace, Variable, expect, hex};
use ptxsmith_syntax::line_column;

use super::Context;
use crate::args;
use crate::console::{BAD, BOLD, NOTE};
use crate::exit::{Exit, Failure};
use crate::input::{self, Program};
use ptxsmith_report::values::{self, Shape, Slot};

/// The most bytes that people are shown of a variable; JSON has all.
const MOST_BYTES: usize = 256;

/// Evaluates a module and prints the answer. A refusal by the specification is an answer.
pub fn run(context: &Context, args: &args::Eval) -> Result<Exit, Failure> {
    let program = Program::read(&args.file)?;
    let rules = Rules::specification(readings(&args.readings)?);
    let expectation = expect(&program.module, &rules);
    let text = if args.json {
        let json = expectation.to_json(&program.text, &rules.readings);
        serde_json::to_string_pretty(&json)? + "\n"
    } else {
        describe(&program, &expectation, &rules.readings)
    };
    context.console.print(&text)?;
    Ok(Exit::Success)
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

fn describe(program: &Program, expectation: &Expectation, readings: &Readings) -> String {
    let mut out = String::new();
    match expectation {
        Expectation::Accepted { variables, unmodelled, .. } => {
            for variable in variables {
                describe_variable(&mut out, program, variable, readings);
            }
            for (name, reason) in unmodelled {
                let _ = writeln!(out, "{BOLD}{name}{BOLD:#}: {NOTE}unmodelled{NOTE:#}: {reason}\n");
            }
            if variables.is_empty() && unmodelled.is_empty() {
                out.push_str("accepted, and no variable in .global or .const\n");
            }
        }
        Expectation::Refused { refusal, trace } => {
            describe_refusal(&mut out, program, refusal, trace, readings);
        }
        Expectation::Unmodelled { reason } => {
            let _ = writeln!(out, "{NOTE}unmodelled{NOTE:#}: {reason}");
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn describe_variable(out: &mut String, program: &Program, variable: &Variable, readings: &Readings) {
    let shape = Shape::of(&program.module, &variable.name, variable.size);
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
        let _ = writeln!(
            out,
            "  {heading:<8} {}={}  {}",
            question.name(),
            question.answers()[answer],
            question.summaries()[answer]
        );
    }
}

fn bytes_of(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}
