//! Checks a program against the expectations in its leading comments. See `corpus/README.md`.

use ptxsmith_syntax::{Module, parse};

use crate::{
    Clause, ClauseSet, Expectation, Kernel, KernelOutcome, Observed, Question, Readings, Rules, Variable,
    execute, expect, hex,
};

/// The annotations of a corpus program.
#[derive(Debug)]
struct Annotations {
    clauses: Vec<String>,
    expected: AnnotatedOutcome,
    /// The `variable` and `address` lines, verbatim.
    variables: Vec<String>,
    /// The `kernel` and `kernel-address` lines, verbatim.
    kernels: Vec<String>,
    readings: Vec<(String, String)>,
    counterpart: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum AnnotatedOutcome {
    Accepted,
    Refused(String),
    Unmodelled,
}

impl Annotations {
    /// Parses the leading comments. Unknown keys, a missing expectation and missing clauses are errors.
    fn read(text: &str) -> Result<Annotations, String> {
        let mut clauses = Vec::new();
        let mut expected = None;
        let mut variables = Vec::new();
        let mut kernels = Vec::new();
        let mut readings = Vec::new();
        let mut counterpart = None;
        for line in text.lines().map_while(|line| line.strip_prefix("//")) {
            let (key, value) =
                line.trim().split_once(": ").ok_or_else(|| format!("`{line}` is no `key: value`"))?;
            match key {
                "clause" => clauses.extend(value.split(", ").map(str::to_owned)),
                "expect" => {
                    expected = Some(match value.split_once(' ') {
                        Some(("refused", class)) => AnnotatedOutcome::Refused(class.to_owned()),
                        None if value == "accepted" => AnnotatedOutcome::Accepted,
                        None if value == "unmodelled" => AnnotatedOutcome::Unmodelled,
                        _ => return Err(format!("no expectation `{value}`")),
                    });
                }
                "variable" | "address" => variables.push(format!("{key}: {value}")),
                "kernel" | "kernel-address" => kernels.push(format!("{key}: {value}")),
                "reading" => {
                    let (question, answer) = value.split_once('=').ok_or("`reading` is QUESTION=ANSWER")?;
                    readings.push((question.to_owned(), answer.to_owned()));
                }
                "twin" => counterpart = Some(value.to_owned()),
                "note" => {}
                _ => return Err(format!("unknown key `{key}`")),
            }
        }
        if clauses.is_empty() {
            return Err("no clause".into());
        }
        let expected = expected.ok_or("no expectation")?;
        Ok(Annotations { clauses, expected, variables, kernels, readings, counterpart })
    }
}

fn readings(annotations: &Annotations) -> Result<Readings, String> {
    annotations.readings.iter().try_fold(Readings::default(), |readings, (question, answer)| {
        let question = Question::from_name(question).ok_or_else(|| format!("no question {question}"))?;
        let at = question.answers().iter().position(|a| a == answer);
        at.and_then(|at| readings.with(question, at)).ok_or_else(|| format!("no answer {answer}"))
    })
}

/// Formats the required contents of a variable: a `variable` line, and an `address` line for each address.
fn describe(v: &Variable) -> Vec<String> {
    let bytes = if v.has_content() { format!(" bytes={}", hex(&v.bytes)) } else { String::new() };
    let mut lines = vec![format!("variable: {} size={} align={}{bytes}", v.name, v.size, v.align)];
    lines.extend(v.addresses.iter().map(|a| {
        let byte = a.byte.map_or(String::new(), |byte| format!(" byte={byte}"));
        format!(
            "address: {} offset={} width={} symbol={} addend={} generic={}{byte}",
            v.name, a.offset, a.width, a.symbol, a.addend, a.generic
        )
    }));
    lines
}

/// Formats the output of a kernel, with `..` for each unknown byte.
fn describe_kernel(kernel: &Kernel) -> Vec<String> {
    let name = &kernel.name;
    match &kernel.outcome {
        KernelOutcome::Unmodelled(_) => vec![format!("kernel: {name} unmodelled")],
        KernelOutcome::Output(output) => {
            let known = output.bytes.iter().zip(&output.known);
            let bytes: String =
                known.map(|(&byte, &known)| if known { hex([byte]) } else { "..".to_owned() }).collect();
            let mut lines = vec![format!("kernel: {name} bytes={bytes}")];
            lines.extend(output.addresses.iter().map(|a| {
                format!(
                    "kernel-address: {name} offset={} width={} symbol={} addend={} generic={}",
                    a.offset, a.width, a.symbol, a.addend, a.generic
                )
            }));
            lines
        }
    }
}

/// Returns the name in a `kernel` or `kernel-address` line.
fn kernel_name(line: &str) -> &str {
    line.split(' ').nth(1).unwrap_or("")
}

/// Checks the annotated kernels: each must leave the annotated output. Returns the clauses that they use.
fn check_kernels(
    annotations: &Annotations,
    module: &Module,
    variables: &[Variable],
    rules: &Rules,
) -> Result<ClauseSet, String> {
    let kernels = execute(module, variables, rules);
    let mut used = ClauseSet::EMPTY;
    for kernel in &kernels {
        let annotated: Vec<&String> =
            annotations.kernels.iter().filter(|line| kernel_name(line) == kernel.name).collect();
        if annotated.is_empty() {
            continue;
        }
        used = used.union(kernel.trace.clauses);
        let predicted = describe_kernel(kernel);
        if annotated.iter().copied().ne(&predicted) {
            return Err(format!("expected\n{annotated:#?}\ngot {:?}\n{predicted:#?}", kernel.outcome));
        }
    }
    for name in annotations.kernels.iter().map(|line| kernel_name(line)) {
        if !kernels.iter().any(|kernel| kernel.name == name) {
            return Err(format!("no kernel {name}"));
        }
    }
    Ok(used)
}

/// Checks that a program matches its leading comments. `counterpart` loads the file named by the key `twin`, which lies
/// beside the program.
///
/// ```
/// let case = "// clause: 5.4.4/value-kind\n// expect: accepted\n// variable: x size=4 align=4 bytes=05000000\n\
///             .version 7.8\n.target sm_80\n.global .s32 x = 4;\n";
/// let error = ptxsmith_oracle::verify_comments(case, |_| Err("there is none".into())).unwrap_err();
/// assert!(error.contains("bytes=05000000") && error.contains("bytes=04000000"));
/// ```
///
/// # Errors
/// Describes the mismatch, or the mistake in the comments.
pub fn verify_comments(
    text: &str,
    counterpart: impl Fn(&str) -> Result<String, String>,
) -> Result<(), String> {
    let annotations = Annotations::read(text)?;
    for clause in &annotations.clauses {
        Clause::from_id(clause).ok_or_else(|| format!("no clause {clause}"))?;
    }
    if let Some(name) = &annotations.counterpart {
        let text = counterpart(name).map_err(|error| format!("twin {name}: {error}"))?;
        if Annotations::read(&text)?.expected != AnnotatedOutcome::Accepted {
            return Err("the valid counterpart of a refused program is an accepted one".into());
        }
    }
    let module = parse(text).map_err(|error| error.render("", text))?;
    let expectation = expect(&module, &Rules::specification(readings(&annotations)?));
    match (&annotations.expected, &expectation) {
        (AnnotatedOutcome::Accepted, Expectation::Accepted { variables, unmodelled, .. }) => {
            if let Some(first) = unmodelled.first() {
                return Err(format!("{} is unmodelled: {}", first.part, first.reason));
            }
            let mut predicted: Vec<String> = variables.iter().flat_map(describe).collect();
            let mut annotated = annotations.variables.clone();
            predicted.sort();
            annotated.sort();
            if predicted != annotated {
                return Err(format!("expected\n{}\ngot\n{}", annotated.join("\n"), predicted.join("\n")));
            }
            let rules = Rules::specification(readings(&annotations)?);
            let executed = check_kernels(&annotations, &module, variables, &rules)?;
            let used = variables.iter().fold(executed, |set, v| set.union(v.trace.clauses));
            if variables.is_empty() && annotations.kernels.is_empty() {
                return Ok(());
            }
            check_clauses(&annotations, used)
        }
        (AnnotatedOutcome::Refused(class), Expectation::Refused { refusal, .. }) => {
            if refusal.class.name() != class {
                return Err(format!("refused as {}, expected {class}", refusal.class.name()));
            }
            if !annotations.clauses.iter().any(|id| id == refusal.clause.id()) {
                return Err(format!("refused by {}, which is not named", refusal.clause.id()));
            }
            Ok(())
        }
        (AnnotatedOutcome::Unmodelled, Expectation::Unmodelled { .. }) => Ok(()),
        (AnnotatedOutcome::Unmodelled, Expectation::Accepted { unmodelled, .. })
            if !unmodelled.is_empty() =>
        {
            Ok(())
        }
        (expected, actual) => Err(format!("expected {expected:?}, got {actual:?}")),
    }
}

/// Checks that the oracle used every clause that a case names, except clauses that the data cannot show (a refusal, in
/// its valid counterpart; an instruction, without an annotated kernel): these are named for readers only.
fn check_clauses(annotations: &Annotations, used: ClauseSet) -> Result<(), String> {
    for clause in annotations.clauses.iter().filter_map(|id| Clause::from_id(id)) {
        let is_shown = match clause.observed() {
            Observed::Value | Observed::Layout | Observed::Address => true,
            Observed::Instruction => !annotations.kernels.is_empty(),
            _ => false,
        };
        if is_shown && !used.contains(clause) {
            return Err(format!("the answer does not rest on {}", clause.id()));
        }
    }
    Ok(())
}
