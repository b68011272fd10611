//! Translates flags of nvcc into those of clang and gcc. The table in [`flags`](super::flags) then decides
//! which of them reach clang.

use std::io;
use std::path::Path;

use super::files::read_text;

/// The size limit of a file of options, in bytes.
const LONGEST: u64 = 1 << 20;

/// An error in a file of options.
#[derive(Debug, thiserror::Error)]
pub enum OptionsFileError {
    /// The file does not exist, or is not a regular file.
    #[error("--options-file {name}: {source}")]
    File {
        /// The file as the command line names it.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The text cannot be split into arguments.
    #[error("--options-file {name}: {source}")]
    Split {
        /// The file as the command line names it.
        name: String,
        /// The error in the text.
        source: shell_words::ParseError,
    },
}

/// Whether an argument is nvcc's flag for a file of options, with or without the name of the file.
pub fn names_options_file(argument: &str) -> bool {
    matches!(argument.split('=').next(), Some("--options-file" | "-optf"))
}

/// Replaces nvcc's files of options, which CMake writes, by their contents.
///
/// A file of options cannot name another one: its arguments are returned as they are, and the table of flags
/// leaves out a flag for a file of options.
pub fn with_options_files(arguments: &[String], directory: &Path) -> Result<Vec<String>, OptionsFileError> {
    let mut expanded = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let names = match argument.split_once('=') {
            _ if !names_options_file(argument) => None,
            Some((_, names)) => Some(names),
            None => rest.next().map(String::as_str),
        };
        let Some(names) = names else {
            expanded.push(argument.clone());
            continue;
        };
        for name in names.split(',') {
            expanded.extend(read_options(name, directory)?);
        }
    }
    Ok(expanded)
}

fn read_options(name: &str, directory: &Path) -> Result<Vec<String>, OptionsFileError> {
    let text = read_text(&directory.join(name), LONGEST)
        .map_err(|source| OptionsFileError::File { name: name.to_owned(), source })?;
    shell_words::split(&text).map_err(|source| OptionsFileError::Split { name: name.to_owned(), source })
}

/// Whether a flag of the command line sets the language to CUDA.
pub fn is_cuda(arguments: &[String]) -> bool {
    let mut before = "";
    for argument in arguments {
        let language: &str = match argument.split_once('=') {
            Some(("-x" | "--x", language)) => language,
            _ if argument.starts_with("-x") => &argument[2..],
            _ if matches!(before, "-x" | "--x") => argument,
            _ => "",
        };
        if matches!(language, "cu" | "cuda") {
            return true;
        }
        before = argument;
    }
    false
}

/// The flags with values that nvcc splits at commas.
const LISTS: [&str; 3] = ["-isystem", "-include", "-I"];

/// Translates a compiler's arguments. Keeps flags that only affect code generation; they are left out later.
pub fn translate(arguments: &[String]) -> Vec<String> {
    let mut translated = Vec::new();
    let mut macros = ImpliedMacros::default();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
        match name {
            "-arch" | "--gpu-architecture" | "-gencode" | "--generate-code" => {
                let value = joined.or_else(|| rest.next()).unwrap_or_default();
                // `-gencode=arch=compute_80,code=sm_80` and `-arch=sm_80`.
                macros.set_architecture(value);
            }
            "-rdc" | "--relocatable-device-code" => {
                macros.relocatable |= joined.or_else(|| rest.next()) == Some("true");
            }
            "-dc" | "--device-c" => macros.relocatable = true,
            "--expt-relaxed-constexpr" | "-expt-relaxed-constexpr" => macros.relaxed = true,
            "--expt-extended-lambda" | "-expt-extended-lambda" | "--extended-lambda" | "-extended-lambda" => {
                macros.extended = true;
            }
            "-Xcompiler" | "--compiler-options" => {
                let value = joined.or_else(|| rest.next()).unwrap_or_default();
                let values = value.trim_matches(['"', '\'']).split([',', ' ']);
                translated.extend(values.filter(|value| !value.is_empty()).map(str::to_owned));
            }
            // CMake writes these with an equals sign, which clang would treat as a part of the path.
            "-isystem" | "-I" | "-D" | "-U" | "-include" if joined.is_some() => {
                let values = joined.unwrap_or_default();
                let is_list = LISTS.contains(&name);
                let split = values.split(|c: char| is_list && c == ',');
                translated.extend(split.flat_map(|value| [name.to_owned(), value.to_owned()]));
            }
            _ => match list(argument, &mut rest) {
                Some((flag, values)) => {
                    translated
                        .extend(values.split(',').flat_map(|value| [flag.to_owned(), value.to_owned()]));
                }
                None => translated.push(argument.to_owned()),
            },
        }
    }
    translated.extend(macros.flags());
    translated
}

/// Returns a flag with a list and the list itself, which is in the same argument or in the next one.
fn list<'a>(argument: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Option<(&'static str, &'a str)> {
    let flag = LISTS.into_iter().find(|flag| argument.starts_with(flag))?;
    match argument.strip_prefix(flag) {
        Some("") => Some((flag, rest.next()?)),
        // `-include-pch` and the like.
        Some(values) if !values.starts_with('-') => Some((flag, values)),
        _ => None,
    }
}

/// The macros that nvcc defines because of its flags.
#[derive(Default)]
struct ImpliedMacros {
    architecture: Option<u32>,
    relocatable: bool,
    relaxed: bool,
    extended: bool,
}

impl ImpliedMacros {
    /// Sets the architecture, unless an earlier flag has set it. `value` is, for example, `sm_90a`,
    /// `compute_80` or `arch=compute_80,code=[sm_80,compute_80]`.
    fn set_architecture(&mut self, value: &str) {
        self.architecture = self.architecture.or_else(|| architecture_number(value));
    }

    fn flags(self) -> Vec<String> {
        let mut flags: Vec<String> = Vec::new();
        flags.extend(self.architecture.map(|number| format!("-D__CUDA_ARCH__={number}0")));
        for (is_on, flag) in [
            (self.relocatable, "-D__CUDACC_RDC__"),
            (self.relocatable, "-fgpu-rdc"),
            (self.relaxed, "-D__CUDACC_RELAXED_CONSTEXPR__"),
            (self.extended, "-D__CUDACC_EXTENDED_LAMBDA__"),
        ] {
            if is_on {
                flags.push(flag.to_owned());
            }
        }
        flags
    }
}

/// Returns the number of the first virtual architecture, or else of the first real one.
fn architecture_number(value: &str) -> Option<u32> {
    let number = value.split("compute_").nth(1).or_else(|| value.split("sm_").nth(1))?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Whether a command line names Microsoft's compiler as the host compiler.
pub fn is_microsoft(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let compiler = match argument.split_once('=') {
            Some(("-ccbin" | "--compiler-bindir", value)) => Some(value),
            None if argument == "-ccbin" || argument == "--compiler-bindir" => {
                rest.next().map(String::as_str)
            }
            _ => None,
        };
        let name = compiler.and_then(|compiler| compiler.rsplit(['/', '\\']).next());
        if name.is_some_and(|name| name.eq_ignore_ascii_case("cl") || name.eq_ignore_ascii_case("cl.exe")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(command: &str) -> Vec<String> {
        shell_words::split(command).unwrap()
    }

    #[test]
    fn flags_of_nvcc_become_macros_and_spellings_of_clang() {
        let command = "-isystem=/a -I=b -DX=1 -D=Y -gencode arch=compute_80,code=[sm_80,compute_80] -arch=sm_90a -rdc=true \
                       --expt-relaxed-constexpr --extended-lambda -Xcompiler=-fPIC,-DZ -Xcompiler '-DV -Iw' -isystem c,d -If,g -std c++17 -c a.cu";
        let expected = "-isystem /a -I b -DX=1 -D Y -fPIC -DZ -DV -Iw -isystem c -isystem d -I f -I g -std c++17 -c a.cu \
                        -D__CUDA_ARCH__=800 -D__CUDACC_RDC__ -fgpu-rdc -D__CUDACC_RELAXED_CONSTEXPR__ -D__CUDACC_EXTENDED_LAMBDA__";
        assert_eq!(translate(&split(command)), split(expected));
        assert_eq!(translate(&split("-arch native -rdc false")), Vec::<String>::new());
    }

    #[test]
    fn files_of_options_are_replaced_by_their_contents_in_place() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.rsp"), "-I/inc -isystem \"/a b\" --options-file b.rsp")
            .unwrap();
        let read = |command: &str| with_options_files(&split(command), directory.path());
        let expected = ["-DX", "-I/inc", "-isystem", "/a b", "--options-file", "b.rsp", "-c"];
        assert_eq!(read("-DX --options-file a.rsp -c").unwrap(), expected);
        assert_eq!(read("-DX -optf=a.rsp -c").unwrap(), expected);
        assert!(matches!(read("--options-file b.rsp"), Err(OptionsFileError::File { .. })));
        assert!(matches!(read("--options-file ."), Err(OptionsFileError::File { .. })));
    }

    #[test]
    fn a_file_of_any_name_is_cuda_if_its_command_line_says_so() {
        for command in ["nvcc -x cu a.cpp", "nvcc -x=cu a.cpp", "clang++ -xcuda a.cpp", "nvcc --x cu a.cpp"] {
            assert!(is_cuda(&split(command)), "{command}");
        }
        for command in ["nvcc -x c++ a.cpp", "g++ cu a.cpp", "nvcc a.cpp -x"] {
            assert!(!is_cuda(&split(command)), "{command}");
        }
    }

    #[test]
    fn the_host_compiler_is_microsofts_if_it_is_called_cl() {
        assert!(is_microsoft(&split("-ccbin 'C:\\VS\\cl.exe'")) && is_microsoft(&split("-ccbin=cl")));
        assert!(!is_microsoft(&split("-ccbin=/usr/bin/clang++ -Icl")));
    }
}
