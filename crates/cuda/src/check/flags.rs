//! The flags of a compiler's command line that reach clang: those of one table, and no other.
//!
//! A command line comes with a project that is checked, and nothing of it is trusted. A flag that is not in the table is left out:
//! among the others are some that load a plug-in, write files, or read more flags from a file. What the table has says what the
//! text means, and makes clang do no more than read files.

use std::ffi::OsString;

/// How a flag gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// It is the next argument.
    Next,
    /// It stands behind the flag, in the same argument.
    Joined,
    /// Either.
    JoinedOrNext,
    /// It has none.
    None,
}

/// A flag that is passed on.
struct Flag {
    /// As the command line has it.
    name: &'static str,
    value: Value,
    /// As clang has it.
    clang: &'static str,
}

/// All flags that are passed on: those of clang and gcc, and nvcc's own spellings of them. Of two that begin alike the longer one
/// stands first.
const FLAGS: &[Flag] = &[
    flag("-include", Value::Next, "-include"),
    flag("-isystem", Value::JoinedOrNext, "-isystem"),
    flag("-iquote", Value::Next, "-iquote"),
    flag("-I", Value::JoinedOrNext, "-I"),
    flag("-D", Value::JoinedOrNext, "-D"),
    flag("-U", Value::JoinedOrNext, "-U"),
    flag("-fgpu-rdc", Value::None, "-fgpu-rdc"),
    flag("-std=", Value::Joined, "-std="),
    flag("--std=", Value::Joined, "-std="),
    flag("-std", Value::Next, "-std="),
    flag("--std", Value::Next, "-std="),
    flag("--cuda-path=", Value::Joined, "--cuda-path="),
    flag("--include-path=", Value::Joined, "-I"),
    flag("--include-path", Value::Next, "-I"),
    flag("--define-macro=", Value::Joined, "-D"),
    flag("--define-macro", Value::Next, "-D"),
    flag("--undefine-macro=", Value::Joined, "-U"),
    flag("--undefine-macro", Value::Next, "-U"),
    flag("--system-include=", Value::Joined, "-isystem"),
    flag("--system-include", Value::Next, "-isystem"),
    flag("--pre-include=", Value::Joined, "-include"),
    flag("--pre-include", Value::Next, "-include"),
];

impl Flag {
    /// The arguments for clang.
    fn with(&self, value: &str) -> Vec<OsString> {
        match SEPARATE.contains(&self.clang) {
            true => vec![self.clang.into(), value.into()],
            false => vec![format!("{}{value}", self.clang).into()],
        }
    }
}

const fn flag(name: &'static str, value: Value, clang: &'static str) -> Flag {
    Flag { name, value, clang }
}

/// Flags of clang that take their value as an argument of its own only.
const SEPARATE: [&str; 3] = ["-include", "-isystem", "-iquote"];

/// Flags of clang that say nothing of a preprocessed text.
const PREPROCESSING: [&str; 6] = ["-include", "-isystem", "-iquote", "-I", "-D", "-U"];

/// An argument that compilers replace by what is in a file. It is not read, and never shown to clang.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names a file of further flags, which is not read; write them out")]
pub struct ResponseFile(pub String);

/// Fails where an argument would make clang read more arguments from a file. So does a value that stands behind its flag: clang hands
/// both on to the compiler proper as two arguments, and that reads files of arguments once more, plug-ins and outputs included.
///
/// # Errors
/// With the first such argument.
pub fn no_response_file(arguments: &[OsString]) -> Result<(), ResponseFile> {
    let names_one = |argument: &&OsString| {
        let argument = argument.as_encoded_bytes();
        let value = |flag: &Flag| argument.strip_prefix(flag.name.as_bytes());
        argument.starts_with(b"@") || FLAGS.iter().filter_map(value).any(|value| value.starts_with(b"@"))
    };
    match arguments.iter().find(names_one) {
        Some(argument) => Err(ResponseFile(argument.to_string_lossy().into_owned())),
        None => Ok(()),
    }
}

/// Of a compiler's arguments, without its name, those that clang takes too and that say what the text means, and those that are left
/// out although they might.
pub fn portable(arguments: &[String]) -> Result<(Vec<OsString>, Vec<String>), ResponseFile> {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let Some((flag, joined)) = flag_of(argument) else {
            if argument.starts_with('@') {
                return Err(ResponseFile(argument.clone()));
            }
            match meaningless(argument) {
                Some(Value::Next) => drop(arguments.next()),
                None if argument.starts_with('-') && !dropped.contains(argument) => {
                    dropped.push(argument.clone())
                }
                _ => {}
            }
            continue;
        };
        let Some(value) = joined.or_else(|| arguments.next().map(String::as_str)) else { continue };
        kept.extend(flag.with(value));
    }
    no_response_file(&kept)?;
    Ok((kept, dropped))
}

/// The user's own arguments without what only nvcc has and says nothing of the text.
pub fn for_clang(arguments: &[String]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match flag_of(argument) {
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

/// How a flag gets its value that says nothing of the text; none for other flags.
fn meaningless(argument: &str) -> Option<Value> {
    let of_clang = ["-o", "-x", "-MF", "-MT", "-MQ", "--cuda-gpu-arch", "-target", "-arch"];
    let begins = [
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
    match argument.split('=').next() {
        _ if of_clang.contains(&argument) || NVCC_WITH_VALUES.contains(&argument) => Some(Value::Next),
        Some(name) if NVCC.contains(&name) || NVCC_WITH_VALUES.contains(&name) => Some(Value::None),
        _ => begins.iter().any(|begin| argument.starts_with(begin)).then_some(Value::None),
    }
}

/// Flags of nvcc that say nothing of the text, with the value as an argument of its own.
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

/// The others, with the value behind an equals sign or none.
const NVCC: [&str; 34] = [
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
];

/// The flag that an argument is, and its value where that stands behind it.
fn flag_of(argument: &str) -> Option<(&'static Flag, Option<&str>)> {
    FLAGS.iter().find_map(|flag| match (argument.strip_prefix(flag.name)?, flag.value) {
        ("", Value::None) => Some((flag, Some(""))),
        ("", Value::Next | Value::JoinedOrNext) => Some((flag, None)),
        (value, Value::Joined | Value::JoinedOrNext) if !value.is_empty() => Some((flag, Some(value))),
        _ => None,
    })
}

/// The flags without those of the preprocessor, of a text that is preprocessed already.
pub fn without_preprocessing(flags: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        match flag_of(&flag.to_string_lossy()) {
            Some((of, value)) if PREPROCESSING.contains(&of.clang) => {
                if value.is_none() {
                    rest.next();
                }
            }
            _ => kept.push(flag.clone()),
        }
    }
    kept
}

/// The directories whose headers are not the user's.
pub fn system_directories(flags: &[OsString]) -> Vec<String> {
    let mut directories = Vec::new();
    let mut flags = flags.iter().map(|flag| flag.to_string_lossy());
    while let Some(flag) = flags.next() {
        match flag.strip_prefix("-isystem") {
            Some("") => directories.extend(flags.next().map(|path| path.into_owned())),
            Some(path) => directories.push(path.to_owned()),
            None => {}
        }
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(command: &str) -> Result<Vec<OsString>, ResponseFile> {
        portable(&shell_words::split(command).unwrap()).map(|(kept, _)| kept)
    }

    #[test]
    fn flags_that_say_what_the_text_means_are_kept() {
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
    fn what_might_mean_something_and_is_left_out_is_said_and_what_only_nvcc_has_is_not_shown_to_clang() {
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
