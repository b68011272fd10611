//! Parses the messages of compilers.

use ptxsmith_subject::process::{Finished, ProcessEnd};

use super::{Complaint, Cut, UNIT};

/// Parses errors of NVIDIA's front end: `unit.cu(12): error: ...`, also with a number: `error #20096: ...`. An
/// error is about the rule if it has the wording of the rule's messages; others are ordinary C++ errors.
pub fn nvidia(text: &str) -> Vec<Complaint> {
    text.lines().filter_map(nvidia_complaint).collect()
}

fn nvidia_complaint(line: &str) -> Option<Complaint> {
    let (place, rest) = line.split_once(": error")?;
    let (_error_number, message) = rest.split_once(": ")?;
    let message = message.trim();
    let (file, number) = place.strip_suffix(')')?.rsplit_once('(')?;
    if !file.ends_with(UNIT) {
        return None;
    }
    let number: usize = number.parse().ok()?;
    let is_of_rule = message.starts_with("identifier ") && message.ends_with("is undefined in device code");
    Some(Complaint { line: number.checked_sub(1), message: message.to_owned(), is_of_rule })
}

/// Parses errors of clang: `unit.cu:12:34: error: ...`. The line may be that of the variable's declaration,
/// which is the same as that of the use.
pub fn clang(text: &str) -> Vec<Complaint> {
    text.lines().filter_map(clang_complaint).collect()
}

fn clang_complaint(line: &str) -> Option<Complaint> {
    let (place, message) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    let mut numbers = place.strip_prefix(UNIT)?.strip_prefix(':')?.split(':');
    let number = numbers.next()?.parse::<usize>().ok()?;
    // clang gives constants device copies. The second message is about a copy that cannot be initialized.
    let is_of_rule = message.starts_with("reference to __host__ variable")
        || message.starts_with("dynamic initialization is not supported for __device__");
    Some(Complaint { line: number.checked_sub(1), message: message.to_owned(), is_of_rule })
}

/// Words that are in the line with the cause of a crash.
const CRASH_WORDS: [&str; 6] = [
    "Assertion `",
    "UNREACHABLE executed",
    "LLVM ERROR",
    "error in backend",
    "Internal Compiler Error",
    "internal error",
];

/// Returns the reason why a run ended early, if it did. `text` is the output of the run, without errors in
/// the source.
pub fn cut_short(finished: &Finished, text: &str) -> Option<Cut> {
    cut(finished, text, &[])
}

/// Returns the reason why a run ended early, if it did: a signal, the time limit, an internal error, or an
/// exit status that no error in the source explains.
pub fn cut(finished: &Finished, text: &str, complaints: &[Complaint]) -> Option<Cut> {
    let internal = line_with(text, &CRASH_WORDS).or_else(|| line_with(text, &["PLEASE submit a bug report"]));
    match finished.end {
        ProcessEnd::TimedOut => Some(Cut::TimedOut),
        ProcessEnd::Signalled(signal) => {
            Some(Cut::Crashed(internal.map_or_else(|| format!("signal {signal}"), str::to_owned)))
        }
        ProcessEnd::Exited(_) if internal.is_some() => internal.map(|line| Cut::Crashed(line.to_owned())),
        ProcessEnd::Exited(0) => None,
        ProcessEnd::Exited(status) if status >= 128 => Some(Cut::Crashed(format!("exit status {status}"))),
        ProcessEnd::Exited(_) if !complaints.is_empty() => None,
        ProcessEnd::Exited(status) => {
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("without a word");
            Some(Cut::Crashed(format!("exit status {status}: {last}")))
        }
    }
}

/// Returns the first line that contains one of these words.
fn line_with<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let start = words.iter().filter_map(|word| text.find(word)).min()?;
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    text[line..].lines().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_in_nvidias_errors_are_recognized_by_their_words() {
        let text = "unit.cu(3): error: identifier \"u1::v1_\" is undefined in device code\n\n\
                    unit.cu(1): warning: variable \"x\" was declared but never referenced\n\
                    unit.cu(12): error #20: identifier \"zz\" is undefined\n\
                    2 errors detected in the compilation of \"unit.cu\".\n";
        let complaints = nvidia(text);
        let reported: Vec<_> = complaints.iter().map(|c| (c.line, c.is_of_rule)).collect();
        assert_eq!(reported, [(Some(2), true), (Some(11), false)]);
    }

    #[test]
    fn violations_in_clangs_errors_are_recognized_by_their_words() {
        let text = "unit.cu:7:89: error: reference to __host__ variable 'z' in __device__ function\n\
                    ... code ...\nunit.cu:6:18: note: const variable cannot be emitted\n\
                    unit.cu:9:1: error: unknown type name 'q'\n2 errors generated.\n";
        let reported: Vec<_> = clang(text).iter().map(|c| (c.line, c.is_of_rule)).collect();
        assert_eq!(reported, [(Some(6), true), (Some(8), false)]);
    }
}
