//! The output of ptxas.

use ptxsmith_model::{Diagnostic, INTERNAL_ERROR, OUT_OF_MEMORY, Severity};

/// Parses the output of ptxas into its diagnostics, in order, and all other lines.
///
/// Forms seen from 11.7 to 13.5, the last for a message without a line number:
///
/// ```text
/// ptxas in.ptx, line 4; fatal   : Constant expression has division by zero
/// ptxas fatal   : Ptx assembly aborted due to errors
/// ```
///
/// Messages can quote the module, so the parser relies on nothing but the shape of a message's first line.
pub(crate) fn parse(text: &str) -> (Vec<Diagnostic>, Vec<&str>) {
    let (diagnostics, other) = parse_files(text);
    (diagnostics.into_iter().map(|(_, diagnostic)| diagnostic).collect(), other)
}

/// Parses as [`parse`] does, and returns with each diagnostic the name of its file.
pub(crate) fn parse_files(text: &str) -> (Vec<(Option<&str>, Diagnostic)>, Vec<&str>) {
    let mut diagnostics = Vec::new();
    let mut other = Vec::new();
    for line in text.lines() {
        match diagnostic(line) {
            Some(diagnostic) => diagnostics.push(diagnostic),
            None if line.trim().is_empty() => {}
            None => other.push(line),
        }
    }
    (diagnostics, other)
}

const SEVERITIES: [(&str, Severity); 4] = [
    ("fatal", Severity::Fatal),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("info", Severity::Info),
];

fn diagnostic(text: &str) -> Option<(Option<&str>, Diagnostic)> {
    let rest = text.strip_prefix("ptxas ")?.trim_start();
    if let Some((severity, message)) = severity_and_message(rest) {
        return Some((None, Diagnostic { severity, line: None, message }));
    }
    let (file, rest) = rest.split_once(", line ")?;
    let (line, rest) = rest.split_once(';')?;
    let line = line.trim().parse().ok()?;
    let (severity, message) = severity_and_message(rest.trim_start())?;
    Some((Some(file), Diagnostic { severity, line: Some(line), message }))
}

pub(crate) fn severity_and_message(text: &str) -> Option<(Severity, String)> {
    let (word, message) = text.split_once(':')?;
    let (_, severity) = SEVERITIES.iter().find(|(name, _)| *name == word.trim_end())?;
    Some((*severity, message.trim().to_owned()))
}

/// Whether a message says that this release does not support the module's header: its `.version`, its target,
/// the combination of the two, or its `.address_size`. Also true if the release cannot produce the requested
/// output: relocatable output needs PTX 3.1 or later.
///
/// False for a feature newer than the module's own `.version`: the language requires its rejection. Also
/// false for a target newer than that `.version` if the module names the target; a target that the module
/// does not name is the nearest one that this release supports.
pub(crate) fn is_unsupported(message: &str, ptx: &str) -> bool {
    let lacks_both = message.split_once(" does not support .target ");
    message.starts_with("Unsupported .version")
        || message.starts_with("SM version specified by .target is higher than default SM version assumed")
        || (message.starts_with("Value '") && message.contains("is not defined for option 'gpu-name'"))
        || message.starts_with("'Compile only(-c)' requires PTX ISA .version")
        // A 64-bit module gets this message too, when it uses a 32-bit register as an address.
        || message == "32-Bit compilation is no longer supported" && !ptx.contains(".address_size 64")
        || message.starts_with("32-Bit ABI") && message.contains("is not supported on sm_")
        || lacks_both
            .is_some_and(|(version, target)| version.starts_with("PTX .version") && !ptx.contains(target))
}

/// Whether a message says that a file is missing.
pub(crate) fn is_missing_file(message: &str) -> bool {
    message.starts_with("Input file '") && message.ends_with("' could not be opened")
}

/// Returns the part of a message that reports a failure of the assembler itself, if it does.
pub(crate) fn own_failure(message: &str) -> Option<&'static str> {
    // Some messages begin with a number: `(C7907) Internal compiler error.`
    let numbered = message.strip_prefix("(C").and_then(|message| message.split_once(") "));
    let message = numbered.map_or(message, |(_, message)| message);
    if message.starts_with("Memory allocation failure") || message.contains("std::bad_alloc") {
        return Some(OUT_OF_MEMORY);
    }
    if message.starts_with("Internal compiler error") || message.starts_with("Internal error") {
        return Some(INTERNAL_ERROR);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_one(text: &str) -> Diagnostic {
        let (mut diagnostics, other) = parse(text);
        assert_eq!((diagnostics.len(), other.len()), (1, 0), "{text}");
        diagnostics.remove(0)
    }

    #[test]
    fn a_message_about_a_line_keeps_the_line() {
        let diagnostic =
            parse_one("ptxas in.ptx, line 4; fatal   : Constant expression has division by zero\n");
        assert_eq!(diagnostic.severity, Severity::Fatal);
        assert_eq!(diagnostic.line, Some(4));
        assert_eq!(diagnostic.message, "Constant expression has division by zero");
        assert_eq!(parse_one("ptxas in.ptx, line 12; error   : a: b; c").message, "a: b; c");
        assert_eq!(parse_one("ptxas in.ptx, line 12; warning : w").severity, Severity::Warning);
    }

    #[test]
    fn a_message_about_no_line_has_none() {
        let aborted = parse_one("ptxas fatal   : Ptx assembly aborted due to errors");
        assert_eq!((aborted.severity, aborted.line), (Severity::Fatal, None));
        assert_eq!(parse_one("ptxas info    : Disabling: all").message, "Disabling: all");
        assert_eq!(
            parse_one("ptxas warning :  64 Bit, line 3; error : x").message,
            "64 Bit, line 3; error : x"
        );
    }

    #[test]
    fn other_output_is_kept_apart() {
        let (diagnostics, other) =
            parse("ptxas hello\n\nterminate called\nptxas in.ptx, line x; error : y\n");
        assert_eq!(diagnostics, []);
        assert_eq!(other, ["ptxas hello", "terminate called", "ptxas in.ptx, line x; error : y"]);
    }

    #[test]
    fn only_the_header_can_be_unsupported() {
        for message in [
            "Unsupported .version 9.5; current version is '7.8'",
            "SM version specified by .target is higher than default SM version assumed",
            "Value 'sm_50' is not defined for option 'gpu-name'",
            "32-Bit compilation is no longer supported",
            "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures.",
        ] {
            assert!(is_unsupported(message, ""), "{message}");
        }
        assert!(!is_unsupported("32-Bit compilation is no longer supported", ".address_size 64"));
        assert!(!is_unsupported("Feature '.b128' requires PTX ISA .version 8.3 or later", ""));
        assert!(!is_unsupported("Feature 'x' requires .target sm_90 or higher", ""));
    }

    #[test]
    fn a_target_that_the_module_does_not_name_is_unsupported_and_one_that_it_names_is_refused() {
        let message = "PTX .version 3.1 does not support .target sm_75";
        assert!(is_unsupported(message, ".version 3.1\n.target sm_35\n"));
        assert!(!is_unsupported(message, ".version 3.1\n.target sm_75\n"));
    }

    #[test]
    fn relocatable_output_that_a_module_is_too_old_for_is_unsupported() {
        assert!(is_unsupported("'Compile only(-c)' requires PTX ISA .version 3.1 or later", ""));
    }
}
