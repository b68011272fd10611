//! Shows many cases at once and finds out what is said of each.

use std::collections::BTreeMap;

use super::{Compiler, Complaint, Cut, Error, Reported};
use crate::language::Standard;

/// What the compiler says of each of these cases, each being one line.
///
/// A unit that ends early, or in which ordinary errors may hide others, says too little: lines with ordinary errors are
/// taken out and the rest is shown again; a unit that is cut short is split in halves until the failing line stands
/// alone.
pub fn show(compiler: &dyn Compiler, standard: Standard, lines: &[&str]) -> Result<Vec<Reported>, Error> {
    let mut reported = vec![Reported::Accepted; lines.len()];
    let mut waiting: Vec<Vec<usize>> = vec![(0..lines.len()).collect()];
    while let Some(part) = waiting.pop() {
        if part.is_empty() {
            continue;
        }
        let text: Vec<&str> = part.iter().map(|&index| lines[index]).collect();
        let answer = compiler.compile(standard, &text, false)?;
        if let Some(cut) = answer.cut_short {
            match part[..] {
                [only] => reported[only] = alone(&cut, &answer.complaints),
                _ => {
                    let (left, right) = part.split_at(part.len() / 2);
                    waiting.extend([right.to_vec(), left.to_vec()]);
                }
            }
            continue;
        }
        let named: BTreeMap<&str, usize> =
            part.iter().filter_map(|&index| Some((namespace(lines[index])?, index))).collect();
        let mut ordinary: Vec<usize> = Vec::new();
        let mut unplaced = false;
        for complaint in &answer.complaints {
            // cicc places what a default member initializer does wrong many lines off. What it names is right.
            let by_name = || named.get(variables(&complaint.message).next()?).copied();
            let by_line = || part.get(complaint.line?).copied();
            let Some(index) = by_name().or_else(by_line) else {
                unplaced |= !complaint.is_of_rule;
                continue;
            };
            if complaint.is_of_rule {
                if reported[index] == Reported::Accepted {
                    reported[index] = Reported::Refused(complaint.message.clone());
                }
            } else {
                reported[index] = Reported::IllFormed(complaint.message.clone());
                ordinary.push(index);
            }
        }
        if unplaced && ordinary.is_empty() {
            match part[..] {
                [only] => reported[only] = Reported::IllFormed("an error without a line".to_owned()),
                _ => {
                    let (left, right) = part.split_at(part.len() / 2);
                    waiting.extend([right.to_vec(), left.to_vec()]);
                }
            }
        } else if !ordinary.is_empty() && compiler.is_blinded_by_ordinary_errors() {
            let rest = part.into_iter().filter(|index| !ordinary.contains(index)).collect();
            waiting.push(rest);
        }
    }
    Ok(reported)
}

/// The number in the name of a case's namespace, `u12`, which its line begins with.
fn namespace(line: &str) -> Option<&str> {
    line.strip_prefix("namespace u")?.split_once(' ').map(|(number, _)| number)
}

/// The numbers in the names of cases' variables, `v12_`, that a text names.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('v').filter_map(|(place, _)| {
        let rest = &text[place + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest[digits..].starts_with('_')).then(|| &rest[..digits])
    })
}

/// What is said of a case that a run which shows nothing else is cut short by.
fn alone(cut: &Cut, complaints: &[Complaint]) -> Reported {
    match cut {
        Cut::TimedOut => Reported::TimedOut,
        Cut::Crashed(reason) => match complaints.iter().find(|complaint| complaint.is_of_rule) {
            // It said what the rule asks for before it failed; the failure is the greater news.
            Some(complaint) => Reported::Crashed(format!("{reason} (after: {})", complaint.message)),
            None => Reported::Crashed(reason.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::{Answer, Description};
    use std::sync::Mutex;

    /// Refuses lines with `bad`, dies of `die`, hides everything else behind `oops`.
    struct Fake {
        description: Description,
        runs: Mutex<usize>,
    }

    impl Compiler for Fake {
        fn description(&self) -> &Description {
            &self.description
        }

        fn compile(&self, _standard: Standard, lines: &[&str], _ptx: bool) -> Result<Answer, Error> {
            *self.runs.lock().unwrap() += 1;
            let has = |what: &str| lines.iter().any(|line| line.contains(what));
            if has("die") {
                let cut_short = Some(Cut::Crashed("boom".to_owned()));
                return Ok(Answer { complaints: vec![], cut_short, ptx: None });
            }
            let (what, is_of_rule) = if has("oops") { ("oops", false) } else { ("bad", true) };
            let failing = lines.iter().enumerate().filter(|(_, line)| line.contains(what));
            let complaints = failing
                .map(|(line, _)| Complaint { line: Some(line), message: "m".to_owned(), is_of_rule })
                .collect();
            Ok(Answer { complaints, cut_short: None, ptx: None })
        }

        fn is_blinded_by_ordinary_errors(&self) -> bool {
            true
        }
    }

    #[test]
    fn hidden_errors_are_found_and_the_case_that_crashes_is_shown_alone() {
        let description =
            Description { id: "fake".into(), name: "cicc", version: "1".into(), lineage: "test" };
        let fake = Fake { description, runs: Mutex::new(0) };
        let lines = ["good", "bad", "oops", "good", "die", "bad", "good"];
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
