//! nvcc's flags, said as those that the table of flags has. What this yields is looked up there like any other flag.

use std::io;
use std::path::Path;

use super::files::read_text;

/// The longest file of options that is read.
const LONGEST: u64 = 1 << 20;

/// Why a file of options cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OptionsFileError {
    /// It is not there, or is no regular file.
    #[error("--options-file {name}: {source}")]
    File {
        /// The file, as the command line names it.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
    /// It cannot be split into arguments.
    #[error("--options-file {name}: {source}")]
    Split {
        /// The file, as the command line names it.
        name: String,
        /// What is wrong.
        source: shell_words::ParseError,
    },
}

/// The arguments with those of nvcc's files of options in their place, as CMake writes them. Such a file names no other: one that does
/// is left to the table of flags, which has no such flag.
pub fn with_options_files(arguments: &[String], directory: &Path) -> Result<Vec<String>, OptionsFileError> {
    let mut all = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let names = match argument.split_once('=') {
            Some(("--options-file" | "-optf", names)) => Some(names),
            None if argument == "--options-file" || argument == "-optf" => rest.next().map(String::as_str),
            _ => None,
        };
        let Some(names) = names else {
            all.push(argument.clone());
            continue;
        };
        for name in names.split(',') {
            all.extend(options_of(name, directory)?);
        }
    }
    Ok(all)
}

fn options_of(name: &str, directory: &Path) -> Result<Vec<String>, OptionsFileError> {
    let text = read_text(&directory.join(name), LONGEST)
        .map_err(|source| OptionsFileError::File { name: name.to_owned(), source })?;
    shell_words::split(&text).map_err(|source| OptionsFileError::Split { name: name.to_owned(), source })
}

/// Whether a command line says that its file is CUDA, whatever its name.
pub fn says_cuda(arguments: &[String]) -> bool {
    let is_language = |name: &str| matches!(name, "cu" | "cuda");
    let mut before = "";
    arguments.iter().any(|argument| {
        let says = match argument.split_once('=') {
            Some(("-x" | "--x", language)) => is_language(language),
            _ => {
                matches!(before, "-x" | "--x") && is_language(argument)
                    || argument == "-xcu"
                    || argument == "-xcuda"
            }
        };
        before = argument;
        says
    })
}

/// The flags that nvcc splits at commas.
const LISTS: [&str; 3] = ["-isystem", "-include", "-I"];

/// A compiler's arguments with nvcc's spellings replaced. What only says how code is made is left as it is, and left out later.
pub fn translate(arguments: &[String]) -> Vec<String> {
    let mut translated = Vec::new();
    let mut defined = Defined::default();
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
                defined.architecture(value);
            }
            "-rdc" | "--relocatable-device-code" => {
                defined.relocatable |= joined.or_else(|| rest.next()) == Some("true");
            }
            "-dc" | "--device-c" => defined.relocatable = true,
            "--expt-relaxed-constexpr" | "-expt-relaxed-constexpr" => defined.relaxed = true,
            "--expt-extended-lambda" | "-expt-extended-lambda" | "--extended-lambda" | "-extended-lambda" => {
                defined.extended = true;
            }
            "-Xcompiler" | "--compiler-options" => {
                let value = joined.or_else(|| rest.next()).unwrap_or_default();
                let values = value.trim_matches(['"', '\'']).split([',', ' ']);
                translated.extend(values.filter(|value| !value.is_empty()).map(str::to_owned));
            }
            // CMake writes these with an equals sign, which clang takes for a part of the path.
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
    translated.extend(defined.flags());
    translated
}

/// A flag that has a list, and the list, which stands behind it or in the next argument.
fn list<'a>(argument: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Option<(&'static str, &'a str)> {
    let flag = LISTS.into_iter().find(|flag| argument.starts_with(flag))?;
    match argument.strip_prefix(flag) {
        Some("") => Some((flag, rest.next()?)),
        // `-include-pch` and the like.
        Some(values) if !values.starts_with('-') => Some((flag, values)),
        _ => None,
    }
}

/// What nvcc defines because of its flags.
#[derive(Default)]
struct Defined {
    architecture: Option<u32>,
    relocatable: bool,
    relaxed: bool,
    extended: bool,
}

impl Defined {
    /// Takes `sm_90a`, `compute_80`, `arch=compute_80,code=[sm_80,compute_80]`. The first architecture counts.
    fn architecture(&mut self, value: &str) {
        let digits = |name: &str| {
            let number = name.split("compute_").nth(1).or_else(|| name.split("sm_").nth(1))?;
            number.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        };
        self.architecture = self.architecture.or_else(|| digits(value));
    }

    fn flags(self) -> impl Iterator<Item = String> {
        let architecture = self.architecture.map(|number| format!("-D__CUDA_ARCH__={number}0"));
        let macros = [
            (self.relocatable, "-D__CUDACC_RDC__"),
            (self.relocatable, "-fgpu-rdc"),
            (self.relaxed, "-D__CUDACC_RELAXED_CONSTEXPR__"),
            (self.extended, "-D__CUDACC_EXTENDED_LAMBDA__"),
        ];
        let macros = macros.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag.to_owned());
        architecture.into_iter().chain(macros)
    }
}

/// Whether the host compiler that a command line names is Microsoft's.
pub fn is_microsoft(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = match argument.split_once('=') {
            Some(("-ccbin" | "--compiler-bindir", value)) => Some(value),
            None if argument == "-ccbin" || argument == "--compiler-bindir" => {
                rest.next().map(String::as_str)
            }
            _ => None,
        };
        let name = value.and_then(|value| value.rsplit(['/', '\\']).next());
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
    fn what_nvccs_flags_define_is_defined_and_spellings_are_clangs() {
        let command = "-isystem=/a -I=b -DX=1 -D=Y -gencode arch=compute_80,code=[sm_80,compute_80] -arch=sm_90a -rdc=true \
                       --expt-relaxed-constexpr --extended-lambda -Xcompiler=-fPIC,-DZ -Xcompiler '-DV -Iw' -isystem c,d -If,g -std c++17 -c a.cu";
        let expected = "-isystem /a -I b -DX=1 -D Y -fPIC -DZ -DV -Iw -isystem c -isystem d -I f -I g -std c++17 -c a.cu \
                        -D__CUDA_ARCH__=800 -D__CUDACC_RDC__ -fgpu-rdc -D__CUDACC_RELAXED_CONSTEXPR__ -D__CUDACC_EXTENDED_LAMBDA__";
        assert_eq!(translate(&split(command)), split(expected));
        assert_eq!(translate(&split("-arch native -rdc false")), Vec::<String>::new());
    }

    #[test]
    fn files_of_options_are_read_where_they_stand() {
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
    fn a_file_of_any_name_is_cuda_where_its_command_line_says_so() {
        for command in ["nvcc -x cu a.cpp", "nvcc -x=cu a.cpp", "clang++ -xcuda a.cpp", "nvcc --x cu a.cpp"] {
            assert!(says_cuda(&split(command)), "{command}");
        }
        for command in ["nvcc -x c++ a.cpp", "g++ cu a.cpp", "nvcc a.cpp -x"] {
            assert!(!says_cuda(&split(command)), "{command}");
        }
    }

    #[test]
    fn the_host_compiler_is_microsofts_where_it_is_called_cl() {
        assert!(is_microsoft(&split("-ccbin 'C:\\VS\\cl.exe'")) && is_microsoft(&split("-ccbin=cl")));
        assert!(!is_microsoft(&split("-ccbin=/usr/bin/clang++ -Icl")));
    }
}
