//! What compilers print, taken apart.

use ptxsmith_subject::process::{End, Finished};

use super::{Complaint, Cut, UNIT};

/// Errors in the way of NVIDIA's front end: `unit.cu(12): error: ...`, also with a number: `error #20096: ...`.
pub fn nvidia(text: &str) -> Vec<Complaint> {
    let complaint = |line: &str| {
        let (place, message) = split_error(line)?;
        let number = place.strip_suffix(')').and_then(|place| place.rsplit_once('('));
        let number = match number {
            Some((file, number)) if file.ends_with(UNIT) => number.parse::<usize>().ok(),
            _ => None,
        };
        let is_of_rule =
            message.starts_with("identifier ") && message.ends_with("is undefined in device code");
        Some(Complaint { line: number?.checked_sub(1), message: message.to_owned(), is_of_rule })
    };
    text.lines().filter_map(complaint).collect()
}

/// The place and the message of a line that tells an error.
fn split_error(line: &str) -> Option<(&str, &str)> {
    let (place, rest) = line.split_once(": error")?;
    let (_number, message) = rest.split_once(": ")?;
    Some((place, message.trim()))
}

/// Errors in clang's way: `unit.cu:12:34: error: ...`. What it tells of a variable's own line is about the variable:
/// cases are one line, so that comes to the same.
pub fn clang(text: &str) -> Vec<Complaint> {
    let complaint = |line: &str| {
        let (place, message) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
        let mut numbers = place.strip_prefix(UNIT)?.strip_prefix(':')?.split(':');
        let number = numbers.next()?.parse::<usize>().ok()?;
        // It makes device copies of constants; where that fails, it says so of the copy.
        let is_of_rule = message.starts_with("reference to __host__ variable")
            || message.starts_with("dynamic initialization is not supported for __device__");
        Some(Complaint { line: number.checked_sub(1), message: message.to_owned(), is_of_rule })
    };
    text.lines().filter_map(complaint).collect()
}

/// What a compiler writes in the line that names the cause where it fails.
const CAUSES: [&str; 6] = [
    "Assertion `",
    "UNREACHABLE executed",
    "LLVM ERROR",
    "error in backend",
    "Internal Compiler Error",
    "internal error",
];

/// How a run of a compiler without errors of a source was cut short, if it was.
pub fn cut_short(finished: &Finished, said: &str) -> Option<Cut> {
    cut(finished, said, &[])
}

/// How a run was cut short, if it was: by a signal, by the time, or by an end that no error explains.
pub fn cut(finished: &Finished, said: &str, complaints: &[Complaint]) -> Option<Cut> {
    let last =
        || said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("without a word").to_owned();
    let find = |words: &[&str]| said.lines().find(|line| words.iter().any(|word| line.contains(word)));
    let internal = find(&CAUSES).or_else(|| find(&["PLEASE submit a bug report"])).map(str::to_owned);
    match finished.end {
        End::TimedOut => Some(Cut::TimedOut),
        End::Signalled(signal) => Some(Cut::Crashed(internal.unwrap_or_else(|| format!("signal {signal}")))),
        End::Exited(_) if internal.is_some() => internal.map(Cut::Crashed),
        End::Exited(0) => None,
        End::Exited(status) if status >= 128 => Some(Cut::Crashed(format!("exit status {status}"))),
        End::Exited(_) if !complaints.is_empty() => None,
        End::Exited(status) => Some(Cut::Crashed(format!("exit status {status}: {}", last()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidias_errors_are_told_apart_by_their_words() {
        let text = "unit.cu(3): error: identifier \"u1::v1_\" is undefined in device code\n\n\
                    unit.cu(1): warning: variable \"x\" was declared but never referenced\n\
                    unit.cu(12): error #20: identifier \"zz\" is undefined\n\
                    2 errors detected in the compilation of \"unit.cu\".\n";
        let complaints = nvidia(text);
        let reported: Vec<_> = complaints.iter().map(|c| (c.line, c.is_of_rule)).collect();
        assert_eq!(reported, [(Some(2), true), (Some(11), false)]);
    }

    #[test]
    fn clangs_errors_are_told_apart_by_their_words() {
        let text = "unit.cu:7:89: error: reference to __host__ variable 'z' in __device__ function\n\
                    ... code ...\nunit.cu:6:18: note: const variable cannot be emitted\n\
                    unit.cu:9:1: error: unknown type name 'q'\n2 errors generated.\n";
        let reported: Vec<_> = clang(text).iter().map(|c| (c.line, c.is_of_rule)).collect();
        assert_eq!(reported, [(Some(6), true), (Some(8), false)]);
    }
}
