//! Selects the flags of a compiler's command line that reach clang: those in one table.
//!
//! A command line comes with the checked project, so none of it is trusted. Flags that are not in the table
//! are left out. Some of them would load a plug-in, write files, or read more flags from a file. The flags in
//! the table affect the meaning of the text, and make clang do no more than read files.

use std::ffi::OsString;

/// The position of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagValue {
    /// In the next argument.
    Next,
    /// In the same argument, behind the flag.
    Joined,
    /// In the same argument or in the next one.
    JoinedOrNext,
    /// There is no value.
    None,
}

/// A flag that reaches clang.
struct PortableFlag {
    /// The spelling on the command line.
    name: &'static str,
    value: FlagValue,
    /// The spelling for clang.
    clang: &'static str,
}

/// All flags that reach clang: those of clang and gcc, and nvcc's own spellings of them. A flag comes before
/// the flags that are prefixes of it.
const FLAGS: &[PortableFlag] = &[
    flag("-include", FlagValue::Next, "-include"),
    flag("-isystem", FlagValue::JoinedOrNext, "-isystem"),
    flag("-iquote", FlagValue::Next, "-iquote"),
    flag("-I", FlagValue::JoinedOrNext, "-I"),
    flag("-D", FlagValue::JoinedOrNext, "-D"),
    flag("-U", FlagValue::JoinedOrNext, "-U"),
    flag("-fgpu-rdc", FlagValue::None, "-fgpu-rdc"),
    flag("-std=", FlagValue::Joined, "-std="),
    flag("--std=", FlagValue::Joined, "-std="),
    flag("-std", FlagValue::Next, "-std="),
    flag("--std", FlagValue::Next, "-std="),
    flag("--cuda-path=", FlagValue::Joined, "--cuda-path="),
    flag("--include-path=", FlagValue::Joined, "-I"),
    flag("--include-path", FlagValue::Next, "-I"),
    flag("--define-macro=", FlagValue::Joined, "-D"),
    flag("--define-macro", FlagValue::Next, "-D"),
    flag("--undefine-macro=", FlagValue::Joined, "-U"),
    flag("--undefine-macro", FlagValue::Next, "-U"),
    flag("--system-include=", FlagValue::Joined, "-isystem"),
    flag("--system-include", FlagValue::Next, "-isystem"),
    flag("--pre-include=", FlagValue::Joined, "-include"),
    flag("--pre-include", FlagValue::Next, "-include"),
];

impl PortableFlag {
    /// Finds the flag that an argument is or begins with, and the value in the same argument. The value is
    /// empty for a flag without one, and `None` if it is the next argument.
    fn find(argument: &str) -> Option<(&'static PortableFlag, Option<&str>)> {
        FLAGS.iter().find_map(|flag| match (argument.strip_prefix(flag.name)?, flag.value) {
            ("", FlagValue::None) => Some((flag, Some(""))),
            ("", FlagValue::Next | FlagValue::JoinedOrNext) => Some((flag, None)),
            (value, FlagValue::Joined | FlagValue::JoinedOrNext) if !value.is_empty() => {
                Some((flag, Some(value)))
            }
            _ => None,
        })
    }

    /// The arguments for clang.
    fn with(&self, value: &str) -> Vec<OsString> {
        if SEPARATE.contains(&self.clang) {
            vec![self.clang.into(), value.into()]
        } else {
            vec![format!("{}{value}", self.clang).into()]
        }
    }
}

const fn flag(name: &'static str, value: FlagValue, clang: &'static str) -> PortableFlag {
    PortableFlag { name, value, clang }
}

/// The flags of clang with a value that must be an argument of its own.
const SEPARATE: [&str; 3] = ["-include", "-isystem", "-iquote"];

/// The flags of clang that have no effect on preprocessed text.
const PREPROCESSING: [&str; 6] = ["-include", "-isystem", "-iquote", "-I", "-D", "-U"];

/// An argument that names a file of further arguments. Such a file is not read, and the argument never
/// reaches clang.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names a file of further flags, which is not read; write them out")]
pub struct ResponseFile(pub String);

/// Checks that no argument would make clang read more arguments from a file.
///
/// A value that is joined to its flag is checked too: clang passes flag and value to the compiler proper as
/// two arguments, and that replaces arguments by files once more, which could bring plug-ins and output
/// files.
///
/// # Errors
/// Fails with the first such argument.
pub fn no_response_file(arguments: &[OsString]) -> Result<(), ResponseFile> {
    match arguments.iter().find(|argument| names_response_file(argument.as_encoded_bytes())) {
        Some(argument) => Err(ResponseFile(argument.to_string_lossy().into_owned())),
        None => Ok(()),
    }
}

fn names_response_file(argument: &[u8]) -> bool {
    let mut values = FLAGS.iter().filter_map(|flag| argument.strip_prefix(flag.name.as_bytes()));
    argument.starts_with(b"@") || values.any(|value| value.starts_with(b"@"))
}

/// Splits a compiler's arguments, without its name, into flags for clang and flags that are left out although
/// they might affect the meaning of the text. Other arguments are in neither list.
pub fn portable(arguments: &[String]) -> Result<(Vec<OsString>, Vec<String>), ResponseFile> {
    let mut kept = Vec::new();
    let mut dropped = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if let Some((flag, joined)) = PortableFlag::find(argument) {
            let Some(value) = joined.or_else(|| arguments.next().map(String::as_str)) else { continue };
            kept.extend(flag.with(value));
            continue;
        }
        if argument.starts_with('@') {
            return Err(ResponseFile(argument.clone()));
        }
        match value_if_meaningless(argument) {
            Some(FlagValue::Next) => drop(arguments.next()),
            None if argument.starts_with('-') && !dropped.contains(argument) => {
                dropped.push(argument.clone())
            }
            _ => {}
        }
    }
    no_response_file(&kept)?;
    Ok((kept, dropped))
}

/// Returns the user's own arguments for clang. Leaves out flags of nvcc that do not affect the meaning of the
/// text.
pub fn for_clang(arguments: &[String]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match PortableFlag::find(argument) {
            Some((flag, joined)) => {
                let Some(value) = joined.or_else(|| arguments.next().map(String::as_str)) else { continue };
                kept.extend(flag.with(value));
            }
            None if NVCC_WITH_VALUES.contains(&&argument[..]) => drop(arguments.next()),
            None if NVCC.iter().any(|name| argument.split('=').next() == Some(name)) => {}
            _ => kept.push(argument.into()),
        }
    }
    kept
}

/// Returns the position of the value of a flag that does not affect the meaning of the text; `None` for other
/// flags.
fn value_if_meaningless(argument: &str) -> Option<FlagValue> {
    if MEANINGLESS_WITH_VALUES.contains(&argument) || NVCC_WITH_VALUES.contains(&argument) {
        return Some(FlagValue::Next);
    }
    let name = argument.split('=').next().unwrap_or_default();
    let is_meaningless = NVCC.contains(&name)
        || NVCC_WITH_VALUES.contains(&name)
        || MEANINGLESS.iter().any(|prefix| argument.starts_with(prefix));
    is_meaningless.then_some(FlagValue::None)
}

/// Flags of clang and gcc that do not affect the meaning of the text, with the value as an argument of its
/// own.
const MEANINGLESS_WITH_VALUES: [&str; 8] =
    ["-o", "-x", "-MF", "-MT", "-MQ", "--cuda-gpu-arch", "-target", "-arch"];

/// Prefixes of the other flags of clang and gcc that do not affect the meaning of the text.
const MEANINGLESS: [&str; 23] = [
    "-O",
    "-g",
    "-W",
    "-w",
    "-M",
    "-m64",
    "-mtune=",
    "-march=",
    "-fPI",
    "-fpi",
    "-fvis",
    "-c",
    "-pipe",
    "-x",
    "-dc",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-pthread",
    "--cuda-gpu-arch=",
    "--offload-arch=",
];

/// Flags of nvcc that do not affect the meaning of the text, with the value as an argument of its own.
const NVCC_WITH_VALUES: [&str; 22] = [
    "-Xptxas",
    "--ptxas-options",
    "-Xcudafe",
    "--cudafe-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xlinker",
    "--linker-options",
    "-Xarchive",
    "-ccbin",
    "--compiler-bindir",
    "-maxrregcount",
    "--maxrregcount",
    "-t",
    "--threads",
    "-cudart",
    "--cudart",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-warn",
    "-diag-error",
    "-default-stream",
];

/// Other flags of nvcc that do not affect the meaning of the text, without a value or with one behind an
/// equals sign.
const NVCC: [&str; 40] = [
    "-forward-unknown-to-host-compiler",
    "--forward-unknown-to-host-compiler",
    "-forward-unknown-opts",
    "--forward-unknown-opts",
    "-lineinfo",
    "--generate-line-info",
    "-G",
    "--device-debug",
    "-use_fast_math",
    "--use_fast_math",
    "-ftz",
    "--ftz",
    "-prec-div",
    "--prec-div",
    "-prec-sqrt",
    "--prec-sqrt",
    "-fmad",
    "--fmad",
    "-keep",
    "--keep",
    "-restrict",
    "--restrict",
    "-dlink",
    "--device-link",
    "-dlto",
    "-extra-device-vectorization",
    "--extra-device-vectorization",
    "--threads",
    "--default-stream",
    "-source-in-ptx",
    "--source-in-ptx",
    "-res-usage",
    "--resource-usage",
    "--compile",
    "-ptx",
    "--ptx",
    "-cubin",
    "--cubin",
    "-fatbin",
    "--fatbin",
];

/// Returns the flags without those of the preprocessor, for text that is already preprocessed.
pub fn without_preprocessing(flags: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        match PortableFlag::find(&flag.to_string_lossy()) {
            Some((portable, joined)) if PREPROCESSING.contains(&portable.clang) => {
                if joined.is_none() {
                    rest.next();
                }
            }
            _ => kept.push(flag.clone()),
        }
    }
    kept
}

/// Returns the directories that the flags call system directories.
pub fn system_directories(flags: &[OsString]) -> Vec<String> {
    values("-isystem", flags)
}

/// Returns the directories in which headers are searched, apart from the compiler's own.
pub fn include_directories(flags: &[OsString]) -> Vec<String> {
    [values("-I", flags), values("-isystem", flags)].concat()
}

/// Returns the values of a flag in clang's spelling, which may be joined to it.
fn values(name: &str, flags: &[OsString]) -> Vec<String> {
    let mut values = Vec::new();
    let mut flags = flags.iter().map(|flag| flag.to_string_lossy());
    while let Some(flag) = flags.next() {
        match flag.strip_prefix(name) {
            Some("") => values.extend(flags.next().map(|value| value.into_owned())),
            Some(value) => values.push(value.to_owned()),
            None => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(command: &str) -> Result<Vec<OsString>, ResponseFile> {
        portable(&shell_words::split(command).unwrap()).map(|(kept, _)| kept)
    }

    #[test]
    fn flags_that_affect_the_meaning_of_the_text_are_kept() {
        let command = "-Iinclude -I other -DX=1 --define-macro Y -isystem /opt/x -std=c++14 -arch=sm_80 \
                       -Xcompiler -Wall --generate-code=arch=compute_80,code=sm_80 -O3 -c a.cu -o a.o \
                       --pre-include=p.h --std c++17";
        let kept = kept(command).unwrap();
        assert_eq!(
            kept,
            [
                "-Iinclude",
                "-Iother",
                "-DX=1",
                "-DY",
                "-isystem",
                "/opt/x",
                "-std=c++14",
                "-include",
                "p.h",
                "-std=c++17"
            ]
        );
        assert_eq!(system_directories(&kept), ["/opt/x"]);
    }

    #[test]
    fn flags_that_run_code_write_files_or_read_flags_never_reach_clang() {
        for command in [
            "-fplugin=/x/evil.so",
            "-Xclang -load -Xclang /x/evil.so",
            "-fpass-plugin=evil.so",
            "-o victim",
            "-MD -MF victim",
            "--config evil.cfg",
            "-save-temps",
            "-ivfsoverlay evil",
            "-fmodule-map-file=evil",
            "-B/evil",
            "-I",
        ] {
            assert_eq!(kept(command).unwrap(), Vec::<OsString>::new(), "{command}");
        }
    }

    #[test]
    fn flags_that_might_matter_are_listed_as_dropped_and_flags_of_nvcc_alone_never_reach_clang() {
        let split = |command: &str| shell_words::split(command).unwrap();
        let command =
            "-O3 -fopenmp -Xptxas -v -o a.o -fno-rtti --use_fast_math -maxrregcount=32 -t 0 -c a.cu -fopenmp";
        assert_eq!(portable(&split(command)).unwrap().1, ["-fopenmp", "-fno-rtti"]);
        let kept = for_clang(&split(
            "-Iinc -Xptxas -v -fopenmp --use_fast_math -Xclang -x --include-path b -std c++20",
        ));
        assert_eq!(kept, ["-Iinc", "-fopenmp", "-Xclang", "-x", "-Ib", "-std=c++20"]);
    }

    #[test]
    fn a_file_of_flags_is_an_error_wherever_it_is_named() {
        for command in ["-DX @flags", "-isystem @flags", "-include @flags", "-iquote @flags", "@flags"] {
            assert_eq!(kept(command), Err(ResponseFile("@flags".to_owned())), "{command}");
        }
        for command in ["-I@flags", "-I @flags", "--include-path=@flags", "--include-path @flags"] {
            assert_eq!(kept(command), Err(ResponseFile("-I@flags".to_owned())), "{command}");
        }
        for command in ["-D@flags", "-U @flags", "-isystem@flags", "--cuda-path=@flags", "-std=@flags"] {
            assert!(kept(command).is_err(), "{command}");
        }
        // Arguments of the user's own reach clang as they are.
        for flag in ["-I@flags", "-include@flags", "-iquote@flags"] {
            assert!(no_response_file(&[flag.into()]).is_err(), "{flag}");
        }
        // Further behind, the character names no file.
        assert_eq!(kept("-Illvm@15/include -DX=@y").unwrap(), ["-Illvm@15/include", "-DX=@y"]);
    }
}
