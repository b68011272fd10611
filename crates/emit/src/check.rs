//! Checks a source file of the user: compares the printed globals of a compiler with the result on which the
//! host's compilers agree, and with the values that comments in the source say its kernels read.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::{Compiler, Cut};
use ptxsmith_model::Class;
use ptxsmith_oracle::{Expectation, Kernel, KernelOutcome, Variable};
use ptxsmith_syntax::parse;

use crate::EmitError;
use crate::ask::standard;
use crate::host::{Host, VariableContents};
use crate::ir::llc::Llc;
use crate::judge::{SourceDifference, difference_from_host, format_content, read_by_kernel};
use crate::judged::{GlobalResult, failure_result};
use crate::source::CxxGlobal;
use crate::source::leaves::leaves;
use crate::source::print::SLOT;
use crate::witness::{predict_with_strings, variable_contents};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    /// The number of variables and slots compared.
    pub compared: u64,
    /// The differences.
    pub differences: Vec<SourceDifference>,
    /// The items that were not compared, with the reasons.
    pub not_compared: Vec<String>,
}

/// The prefix of a comment that says what a kernel reads.
const READS: &str = "// reads: ";

/// Returns the comments that say what the kernel of a global reads: `// reads: k0+16 05000000`.
pub fn comments(global: &CxxGlobal) -> String {
    let mut comments = String::new();
    for (index, leaf) in leaves(global).iter().enumerate() {
        comments += &format!("{READS}k0+{} {}\n", index * SLOT, format_content(&leaf.content));
    }
    comments
}

/// A comment that says which value a kernel reads into a slot of its output.
struct ReadComment<'t> {
    kernel: &'t str,
    offset: usize,
    content: &'t str,
}

fn read_comment(line: &str) -> Option<ReadComment<'_>> {
    let (place, content) = line.strip_prefix(READS)?.split_once(' ')?;
    let (kernel, offset) = place.split_once('+')?;
    Some(ReadComment { kernel, offset: offset.parse().ok()?, content: content.trim() })
}

/// Checks one source file.
///
/// # Errors
/// If a compiler cannot be run.
pub fn check(compiler: &dyn Compiler, host: Option<&Host>, source: &str) -> Result<CheckResult, EmitError> {
    let lines: Vec<&str> = source.lines().collect();
    let answer = compiler.compile(standard(compiler), &lines, true)?;
    let mut checked = CheckResult::default();
    let ptx = match (answer.cut_short, answer.ptx) {
        (Some(cut), _) => {
            checked.compared += 1;
            checked.differences.push(failure(&cut));
            return Ok(checked);
        }
        (None, Some(ptx)) if answer.complaints.is_empty() => ptx,
        _ => {
            for complaint in answer.complaints {
                checked.not_compared.push(match complaint.line {
                    Some(line) => format!("line {}: {}", line + 1, complaint.message),
                    None => complaint.message,
                });
            }
            return Ok(checked);
        }
    };
    if let Some((mut variables, kernels)) = checked.accepted(&ptx) {
        if !compiler.knows_offsets() && source.contains("__builtin_offsetof") {
            checked.leave_out_offsets(&mut variables);
        }
        checked.variables(host, source, &variables)?;
        checked.kernels(source, &kernels);
    }
    Ok(checked)
}

/// Checks one source file of IR against llc for x86-64.
///
/// # Errors
/// If a compiler cannot be run.
pub fn check_ir(llc: &Llc, source: &str) -> Result<CheckResult, EmitError> {
    let mut checked = CheckResult::default();
    let ptx = match llc.ptx(source)? {
        Ok(ptx) => ptx,
        Err(outcome) => {
            match failure_result(0, &outcome) {
                GlobalResult::NotCompared(why) => checked.not_compared.push(why),
                failed => {
                    checked.compared += 1;
                    checked.differences.extend(failed.difference().cloned());
                }
            }
            return Ok(checked);
        }
    };
    let Some(variables) = checked.accepted(&ptx).map(|(variables, _)| variables) else { return Ok(checked) };
    let names: Vec<String> = variables.iter().map(|variable| variable.name.to_string()).collect();
    let expected = llc.host_variables(source, &names)?;
    checked.compare_variables(&expected, source, &variables, "llc for x86-64 has no such variable");
    Ok(checked)
}

fn failure(cut: &Cut) -> SourceDifference {
    let (class, actual) = match cut {
        Cut::Crashed(why) => (Class::Crash, why.as_str()),
        Cut::TimedOut => (Class::Hang, "no end"),
    };
    difference(class, "the compiler fails", ("the source", "PTX, or an error", actual))
}

fn difference(
    class: Class,
    symptom: &str,
    (place, expected, actual): (&str, &str, &str),
) -> SourceDifference {
    SourceDifference {
        class,
        symptom: symptom.to_owned(),
        kind: "",
        place: place.to_owned(),
        expected: expected.to_owned(),
        actual: actual.to_owned(),
    }
}

impl CheckResult {
    /// Leaves out the variables with a number that stands for an offset unknown to the compiler.
    fn leave_out_offsets(&mut self, variables: &mut Vec<Variable>) {
        let is_unknown =
            |variable: &mut Variable| variable.bytes.windows(8).any(|number| number == [0xff; 8]);
        for variable in variables.extract_if(.., is_unknown) {
            self.not_compared
                .push(format!("{}: the compiler does not know __builtin_offsetof", variable.name));
        }
    }

    /// Returns the variables and kernels of PTX; notes why there are none.
    fn accepted(&mut self, ptx: &str) -> Option<(Vec<Variable>, Vec<Kernel>)> {
        let prediction = match parse(ptx) {
            Ok(module) => predict_with_strings(&module),
            Err(error) => {
                self.not_compared.push(format!("the PTX cannot be read: {}", error.render("", ptx)));
                return None;
            }
        };
        match prediction.data {
            Expectation::Accepted { variables, .. } => return Some((variables, prediction.kernels)),
            Expectation::Refused { refusal, .. } => {
                self.compared += 1;
                let summary = refusal.class.summary();
                self.differences.push(difference(
                    Class::WrongValue,
                    "the specification refuses the PTX",
                    ("the PTX", "PTX that the specification accepts", summary),
                ));
            }
            Expectation::Unmodelled { reason, .. } => self.not_compared.push(format!("the PTX: {reason}")),
        }
        None
    }

    /// Compares variables with the result of the host's compilers.
    fn variables(
        &mut self,
        host: Option<&Host>,
        source: &str,
        variables: &[Variable],
    ) -> Result<(), EmitError> {
        let names: Vec<&str> = variables.iter().map(|variable| &*variable.name).collect();
        let expected = match host {
            Some(host) => host.variables(source, &names)?,
            None => Err("g++ and clang++ are not both here".to_owned()),
        };
        let expected = match expected {
            Ok(expected) => expected,
            Err(messages) => {
                let first = messages.lines().find(|line| line.contains("error")).unwrap_or(&messages);
                self.not_compared.push(format!("with the host: {first}"));
                return Ok(());
            }
        };
        let missing = "g++ and clang do not agree, or have no such variable";
        self.compare_variables(&expected, source, variables, missing);
        Ok(())
    }

    /// Compares variables with those of the host.
    fn compare_variables(
        &mut self,
        expected: &BTreeMap<String, VariableContents>,
        source: &str,
        variables: &[Variable],
        missing: &str,
    ) {
        for variable in variables {
            // Ignore variables that the compiler added.
            if !variable.has_content() || !source.contains(&*variable.name) {
                continue;
            }
            match expected.get(&*variable.name) {
                Some(host) => {
                    self.compared += 1;
                    self.differences.extend(difference_from_host(
                        &variable.name,
                        &variable_contents(variable, variables),
                        host,
                    ));
                }
                None => self.not_compared.push(format!("{}: {missing}", variable.name)),
            }
        }
    }

    /// Compares the values that kernels read with the comments.
    fn kernels(&mut self, source: &str, kernels: &[Kernel]) {
        for ReadComment { kernel, offset, content } in source.lines().filter_map(read_comment) {
            let left = kernels.iter().find(|other| other.name == kernel).map(|kernel| &kernel.outcome);
            let size = match content.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                true => content.len() / 2,
                false if content.contains(' ') => 16,
                false => 8,
            };
            let read = match left {
                Some(KernelOutcome::Output(output)) => {
                    read_by_kernel(output, offset, size).ok_or("a value that is not known")
                }
                Some(KernelOutcome::Unmodelled(reason)) => Err(*reason),
                None => Err("there is no such kernel"),
            };
            match read {
                Err(reason) => self.not_compared.push(format!("{kernel}+{offset}: {reason}")),
                Ok(read) => {
                    self.compared += 1;
                    if read != content {
                        let what = (&*format!("{kernel}+{offset}"), content, &*read);
                        self.differences.push(difference(
                            Class::WrongValue,
                            "the kernel reads another value",
                            what,
                        ));
                    }
                }
            }
        }
    }
}
