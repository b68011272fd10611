//! Compiles the headers at the beginning of a file once: each run of clang loads them, and none dumps them.
//!
//! A file that includes a library is nearly all headers, and clang takes most of its time to print their trees.
//! clang prints nothing of what a precompiled header holds, so the variables there are unknown. Where the tree of
//! the rest names one that may matter, or a template of the project may bind one to a reference, the file is read
//! again as a whole. What remains unjudged: a constant of a library that is of an enumeration, as an argument of a
//! template or a bound of an array, which the tree does not show.

use std::fs;
use std::path::Path;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};

use super::CheckError;
use super::source::PreprocessedText;

/// Headers with fewer bytes are not worth a run of clang.
const SHORTEST: usize = 256 << 10;

/// Compiles the headers before the project's first line of code, and hides them in the text. Returns the run that
/// loads them and reads the rest; `None` if they are short, or clang does not accept them alone.
///
/// `reading` checks the syntax of `file`, beside which files are written; its last two arguments are `--` and that
/// file.
pub fn headers(
    reading: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    source: &mut PreprocessedText,
    file: &Path,
) -> Result<Option<Invocation>, CheckError> {
    let end = source.end_of_headers();
    if end < SHORTEST {
        return Ok(None);
    }
    let (headers, compiled) = (file.with_file_name("headers.cu"), file.with_file_name("headers.pch"));
    fs::write(&headers, &source.written()[..end])
        .map_err(CheckError::while_doing("write a file for clang"))?;
    let mut compiling = reading.clone();
    compiling.args.pop();
    compiling.args.push(headers.into_os_string());
    let emit = ["-fpch-instantiate-templates", "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang"];
    compiling.args.splice(0..0, emit.iter().map(Into::into).chain([compiled.clone().into_os_string()]));
    let finished = process::run_reading(&compiling, limits, cancel, |_| ())?;
    if finished.end != ProcessEnd::Exited(0) || !compiled.exists() {
        return Ok(None);
    }
    source.hide_before(end);
    let mut reading = reading.clone();
    let load = ["-Xclang", "-include-pch", "-Xclang"];
    reading.args.splice(0..0, load.iter().map(Into::into).chain([compiled.into_os_string()]));
    Ok(Some(reading))
}

#[cfg(test)]
mod tests {
    use super::super::source::FileOrigin;
    use super::super::{CheckOptions, dump, find_clang};
    use super::*;

    /// Returns the names of the declarations that clang dumps of this text, and whether headers were compiled
    /// beforehand. `lib.h` is a header of a library.
    fn dumped(text: &str) -> Option<(Vec<String>, bool)> {
        let Ok(clang) = find_clang() else {
            eprintln!("NOT TESTED: headers that are compiled beforehand: clang is not in PATH");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("preprocessed.cu");
        let origin = |file: &str| if file == "lib.h" { FileOrigin::Library } else { FileOrigin::Project };
        let mut source = PreprocessedText::read(text, &origin);
        let (limits, cancel) = (CheckOptions::new(clang.clone()).limits(), Cancel::new());
        let flags = ["-x", "c++", "-fsyntax-only", "--"].map(Into::into);
        let mut run = Invocation {
            program: clang,
            args: flags.into_iter().chain([file.clone().into_os_string()]).collect(),
            directory: None,
            temporary: directory.path().to_owned(),
        };
        if let Some(reading) = headers(&run, &limits, &cancel, &mut source, &file).unwrap() {
            run = reading;
        }
        fs::write(&file, source.written()).unwrap();
        run.args.splice(0..0, ["-Xclang".into(), "-ast-dump=json".into()]);
        let dump = dump::run(&run, &limits, &cancel, &source).unwrap();
        assert_eq!((&dump.errors[..], &dump.incomplete), (&[][..], &None));
        let names = dump.declarations.into_iter().map(|node| node.name);
        Some((names.filter(|name| !name.starts_with("__")).collect(), source.hides_headers()))
    }

    #[test]
    fn long_headers_before_the_code_are_compiled_and_those_behind_and_short_ones_are_read() {
        let long = |name: &str| {
            let lines = (0..SHORTEST / 16).map(|n| format!("extern int {name}{n};\n"));
            format!("# 1 \"lib.h\" 1\n{}const int {name} = 3;\n", lines.collect::<String>())
        };
        let own = |line: u32, name: &str| format!("# {line} \"a.cu\" 2\nint {name} = 1 + here;\n");
        let begin = "# 1 \"a.cu\"\n\n";
        let text = format!("{begin}{}{}", long("here"), own(3, "mine"));
        let Some((names, is_compiled)) = dumped(&text) else { return };
        assert_eq!((names, is_compiled), (vec!["mine".to_owned()], true));
        let text = format!("{begin}int here = 2;\n{}{}", long("there"), own(4, "mine"));
        let (names, is_compiled) = dumped(&text).unwrap();
        assert_eq!((names, is_compiled), (vec!["here".to_owned(), "mine".to_owned()], false));
        // A header that opens a bracket for the code behind it is not accepted alone.
        let text = format!("{begin}{}namespace n {{\n{}}}\n", long("here"), own(3, "mine"));
        let (names, is_compiled) = dumped(&text).unwrap();
        assert_eq!((names, is_compiled), (vec!["here".to_owned(), "mine".to_owned()], false));
    }
}
