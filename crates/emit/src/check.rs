//! Checks a source file of the user: compares the printed globals of a compiler with the result on which the host's
//! compilers agree, and with the values that comments in the source say its kernels read.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::{Compiler, Cut};
use ptxsmith_model::Class;
use ptxsmith_oracle::{Expectation, Kernel, Left, Variable, predict};
use ptxsmith_syntax::parse;

use crate::Error;
use crate::ask::standard;
use crate::host::{Held, Host};
use crate::ir::llc::Llc;
use crate::judge::{Difference, difference_from_host, read_by_kernel, shown};
use crate::judged::{Judged, of_failure};
use crate::source::Global;
use crate::source::leaves::leaves;
use crate::source::print::SLOT;
use crate::witness::{held, rules};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of variables and slots compared.
    pub compared: u64,
    /// The differences.
    pub differences: Vec<Difference>,
    /// The items that were not compared, with the reasons.
    pub not_compared: Vec<String>,
}

/// The prefix of a comment that says what a kernel reads.
const READS: &str = "// reads: ";

/// Returns the comments that say what the kernel of a global reads: `// reads: k0+16 05000000`.
pub fn comments(global: &Global) -> String {
    let all = leaves(global).into_iter().enumerate();
    all.map(|(place, leaf)| format!("{READS}k0+{} {}\n", place * SLOT, shown(&leaf.content))).collect()
}

/// The contents of one such comment.
struct Reads<'t> {
    kernel: &'t str,
    offset: usize,
    content: &'t str,
}

fn read_comment(line: &str) -> Option<Reads<'_>> {
    let (place, content) = line.strip_prefix(READS)?.split_once(' ')?;
    let (kernel, offset) = place.split_once('+')?;
    Some(Reads { kernel, offset: offset.parse().ok()?, content: content.trim() })
}

/// Checks one source file.
///
/// # Errors
/// If a compiler cannot be run.
pub fn check(compiler: &dyn Compiler, host: Option<&Host>, source: &str) -> Result<Checked, Error> {
    let lines: Vec<&str> = source.lines().collect();
    let answer = compiler.compile(standard(compiler), &lines, true)?;
    let mut checked = Checked::default();
    let ptx = match (answer.cut_short, answer.ptx) {
        (Some(cut), _) => {
            checked.compared += 1;
            checked.differences.push(failure(&cut));
            return Ok(checked);
        }
        (None, Some(ptx)) if answer.complaints.is_empty() => ptx,
        _ => {
            let complaint = |one: &ptxsmith_cuda::subjects::Complaint| match one.line {
                Some(line) => format!("line {}: {}", line + 1, one.message),
                None => one.message.clone(),
            };
            checked.not_compared.extend(answer.complaints.iter().map(complaint));
            return Ok(checked);
        }
    };
    if let Some((variables, kernels)) = checked.accepted(&ptx) {
        checked.variables(host, source, &variables)?;
        checked.kernels(source, &kernels);
    }
    Ok(checked)
}

/// Checks one source file of IR against llc for x86-64.
///
/// # Errors
/// If a compiler cannot be run.
pub fn check_ir(llc: &Llc, source: &str) -> Result<Checked, Error> {
    let mut checked = Checked::default();
    let ptx = match llc.ptx(source)? {
        Ok(ptx) => ptx,
        Err(outcome) => {
            match of_failure(0, &outcome) {
                Judged::NotCompared(why) => checked.not_compared.push(why),
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
    let of_host = llc.of_host(source, &names)?;
    checked.against(&of_host, source, &variables, "llc for x86-64 has no such variable");
    Ok(checked)
}

fn failure(cut: &Cut) -> Difference {
    let (class, actual) = match cut {
        Cut::Crashed(why) => (Class::Crash, why.as_str()),
        Cut::TimedOut => (Class::Hang, "no end"),
    };
    difference(class, "the compiler fails", ("the source", "PTX, or an error", actual))
}

fn difference(class: Class, symptom: &str, (place, expected, actual): (&str, &str, &str)) -> Difference {
    Difference {
        class,
        symptom: symptom.to_owned(),
        kind: "",
        place: place.to_owned(),
        expected: expected.to_owned(),
        actual: actual.to_owned(),
    }
}

impl Checked {
    /// Returns the variables and kernels of PTX; notes why there are none.
    fn accepted(&mut self, ptx: &str) -> Option<(Vec<Variable>, Vec<Kernel>)> {
        let prediction = match parse(ptx) {
            Ok(module) => predict(&module, &rules()),
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
    fn variables(&mut self, host: Option<&Host>, source: &str, variables: &[Variable]) -> Result<(), Error> {
        let names: Vec<&str> = variables.iter().map(|variable| &*variable.name).collect();
        let of_host = match host {
            Some(host) => host.variables(source, &names)?,
            None => Err("g++ and clang++ are not both here".to_owned()),
        };
        let of_host = match of_host {
            Ok(of_host) => of_host,
            Err(said) => {
                let first = said.lines().find(|line| line.contains("error")).unwrap_or(&said);
                self.not_compared.push(format!("with the host: {first}"));
                return Ok(());
            }
        };
        self.against(&of_host, source, variables, "g++ and clang do not agree, or have no such variable");
        Ok(())
    }

    /// Compares variables with those of the host.
    fn against(
        &mut self,
        of_host: &BTreeMap<String, Held>,
        source: &str,
        variables: &[Variable],
        otherwise: &str,
    ) {
        // Ignore variables that the compiler added.
        let is_of_source = |variable: &&Variable| variable.has_content() && source.contains(&*variable.name);
        for variable in variables.iter().filter(is_of_source) {
            match of_host.get(&*variable.name) {
                Some(host) => {
                    self.compared += 1;
                    self.differences.extend(difference_from_host(&variable.name, &held(variable), host));
                }
                None => self.not_compared.push(format!("{}: {otherwise}", variable.name)),
            }
        }
    }

    /// Compares the values that kernels read with the comments.
    fn kernels(&mut self, source: &str, kernels: &[Kernel]) {
        for Reads { kernel, offset, content } in source.lines().filter_map(read_comment) {
            let left = kernels.iter().find(|one| one.name == kernel).map(|one| &one.left);
            let size =
                if content.bytes().all(|byte| byte.is_ascii_hexdigit()) { content.len() / 2 } else { 8 };
            let read = match left {
                Some(Left::Output(output)) => {
                    read_by_kernel(output, offset, size).ok_or("a value that is not known")
                }
                Some(Left::Unmodelled(reason)) => Err(*reason),
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
