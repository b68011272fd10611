//! Compiles many cases at once, and finds out the result for each.

use std::collections::BTreeMap;

use super::{Compiler, CompilerError, Complaint, Cut, Reported};
use crate::language::Standard;

/// Returns the compiler's results for these cases. Each case is one line.
///
/// Compiles all cases in one unit first. If the run ends early, compiles each half of the unit, until the
/// failing case is alone. If ordinary errors may hide violations of the rule, compiles the unit again without
/// the lines with such errors.
pub fn show(
    compiler: &dyn Compiler,
    standard: Standard,
    lines: &[&str],
) -> Result<Vec<Reported>, CompilerError> {
    let mut batch = CaseBatch {
        lines,
        reported: vec![Reported::Accepted; lines.len()],
        waiting: vec![(0..lines.len()).collect()],
    };
    while let Some(part) = batch.waiting.pop() {
        if part.is_empty() {
            continue;
        }
        let unit: Vec<&str> = part.iter().map(|&index| lines[index]).collect();
        let output = compiler.compile(standard, &unit, false)?;
        if let Some(cut) = output.cut_short {
            batch.split_or_report(&part, || reported_alone(&cut, &output.complaints));
            continue;
        }
        let Errors { ordinary, has_unplaced } = batch.enter_complaints(&part, &output.complaints);
        if has_unplaced && ordinary.is_empty() {
            batch.split_or_report(&part, || Reported::IllFormed("an error without a line".to_owned()));
        } else if !ordinary.is_empty() && compiler.is_blinded_by_ordinary_errors() {
            let rest = part.into_iter().filter(|index| !ordinary.contains(index)).collect();
            batch.waiting.push(rest);
        }
    }
    Ok(batch.reported)
}

/// The cases, known by their indices.
struct CaseBatch<'a> {
    lines: &'a [&'a str],
    reported: Vec<Reported>,
    /// The units that are still to be compiled.
    waiting: Vec<Vec<usize>>,
}

/// The errors of a unit that are not violations of the rule.
#[derive(Default)]
struct Errors {
    /// The cases with ordinary errors.
    ordinary: Vec<usize>,
    /// Whether an ordinary error belongs to no case.
    has_unplaced: bool,
}

impl CaseBatch<'_> {
    /// Splits a unit into halves. If the unit is a single case, enters this result instead.
    fn split_or_report(&mut self, part: &[usize], reported: impl FnOnce() -> Reported) {
        if let [index] = part {
            self.reported[*index] = reported();
        } else {
            let (left, right) = part.split_at(part.len() / 2);
            self.waiting.extend([right.to_vec(), left.to_vec()]);
        }
    }

    /// Enters the errors of a unit as results of its cases.
    fn enter_complaints(&mut self, part: &[usize], complaints: &[Complaint]) -> Errors {
        let by_number: BTreeMap<&str, usize> =
            part.iter().filter_map(|&index| Some((namespace_number(self.lines[index])?, index))).collect();
        let mut errors = Errors::default();
        for complaint in complaints {
            // cicc may report a default member initializer many lines off, but names the right variable.
            let named = variable_numbers(&complaint.message).next();
            let named = named.and_then(|number| by_number.get(number)).copied();
            let Some(index) = named.or_else(|| part.get(complaint.line?).copied()) else {
                errors.has_unplaced |= !complaint.is_of_rule;
                continue;
            };
            if !complaint.is_of_rule {
                self.reported[index] = Reported::IllFormed(complaint.message.clone());
                errors.ordinary.push(index);
            } else if self.reported[index] == Reported::Accepted {
                self.reported[index] = Reported::Refused(complaint.message.clone());
            }
        }
        errors
    }
}

/// Returns the number in the name of a case's namespace, such as `u12`. The line begins with the namespace.
fn namespace_number(line: &str) -> Option<&str> {
    line.strip_prefix("namespace u")?.split_once(' ').map(|(number, _)| number)
}

/// Returns the numbers in a text's names of cases' variables, such as `v12_`.
pub(crate) fn variable_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('v').filter_map(|(place, _)| {
        let rest = &text[place + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest[digits..].starts_with('_')).then(|| &rest[..digits])
    })
}

/// Returns the result for a case from a run that compiled nothing else and ended early.
fn reported_alone(cut: &Cut, complaints: &[Complaint]) -> Reported {
    let reason = match cut {
        Cut::TimedOut => return Reported::TimedOut,
        Cut::Crashed(reason) => reason,
    };
    // A crash matters more than a correct message before it.
    match complaints.iter().find(|complaint| complaint.is_of_rule) {
        Some(complaint) => Reported::Crashed(format!("{reason} (after: {})", complaint.message)),
        None => Reported::Crashed(reason.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::{CompilerDescription, CompilerOutput};
    use std::sync::Mutex;

    /// Rejects lines with `bad`, crashes on `crash`, and reports only lines with `oops` if there are any.
    struct FakeCompiler {
        description: CompilerDescription,
        runs: Mutex<usize>,
    }

    impl Compiler for FakeCompiler {
        fn description(&self) -> &CompilerDescription {
            &self.description
        }

        fn compile(
            &self,
            _standard: Standard,
            lines: &[&str],
            _ptx: bool,
        ) -> Result<CompilerOutput, CompilerError> {
            *self.runs.lock().unwrap() += 1;
            let has = |what: &str| lines.iter().any(|line| line.contains(what));
            if has("crash") {
                let cut_short = Some(Cut::Crashed("boom".to_owned()));
                return Ok(CompilerOutput { complaints: vec![], cut_short, ptx: None });
            }
            let (what, is_of_rule) = if has("oops") { ("oops", false) } else { ("bad", true) };
            let failing = lines.iter().enumerate().filter(|(_, line)| line.contains(what));
            let complaints = failing
                .map(|(line, _)| Complaint { line: Some(line), message: "m".to_owned(), is_of_rule })
                .collect();
            Ok(CompilerOutput { complaints, cut_short: None, ptx: None })
        }

        fn ptx_command(&self, _standard: Standard) -> String {
            String::new()
        }

        fn is_blinded_by_ordinary_errors(&self) -> bool {
            true
        }
    }

    #[test]
    fn hidden_errors_are_found_and_the_case_that_crashes_is_compiled_alone() {
        let description =
            CompilerDescription { id: "fake".into(), name: "cicc", version: "1".into(), lineage: "test" };
        let fake = FakeCompiler { description, runs: Mutex::new(0) };
        let lines = ["good", "bad", "oops", "good", "crash", "bad", "good"];
        let reported = show(&fake, Standard::Cxx17, &lines).unwrap();
        let short: String = reported
            .iter()
            .map(|reported| match reported {
                Reported::Accepted => 'a',
                Reported::Refused(_) => 'r',
                Reported::IllFormed(_) => 'i',
                Reported::Crashed(_) => 'c',
                Reported::TimedOut => 't',
            })
            .collect();
        assert_eq!(short, "ariacra");
        assert!(*fake.runs.lock().unwrap() < 12);
    }
}
