//! How a file is compiled: flags from `compile_commands.json`, and headers that stand in for NVIDIA's.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::{LONGEST, read_text};
use super::flags::{ResponseFile, for_clang, no_response_file, portable};
use super::nvcc::{self, OptionsFileError};

/// A compilation database.
#[derive(Debug)]
pub struct CompileCommands {
    entries: Vec<Entry>,
    base: PathBuf,
    /// The entries of a file, by its path as it is written and by its path without links.
    by_file: HashMap<PathBuf, Vec<usize>>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
}

/// Why a compilation database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CompileCommandsError {
    /// It cannot be read.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is not what it should be.
    #[error("{}: no compilation database: {source}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl CompileCommands {
    /// Reads `compile_commands.json`, or the one in a directory.
    pub fn read(path: &Path) -> Result<Self, CompileCommandsError> {
        let path = if path.is_dir() { path.join("compile_commands.json") } else { path.to_owned() };
        let text = read_text(&path, LONGEST)
            .map_err(|source| CompileCommandsError::File { path: path.clone(), source })?;
        let entries: Vec<Entry> = serde_json::from_str(&text)
            .map_err(|source| CompileCommandsError::Format { path: path.clone(), source })?;
        let base = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut commands = CompileCommands { entries, base, by_file: HashMap::new() };
        for (number, entry) in commands.entries.iter().enumerate() {
            let full = commands.base.join(&entry.directory).join(&entry.file);
            if let Some(real) = fs::canonicalize(&full).ok().filter(|real| *real != full) {
                commands.by_file.entry(real).or_default().push(number);
            }
            commands.by_file.entry(full).or_default().push(number);
        }
        Ok(commands)
    }

    /// The CUDA files that it names, by their names or by what their command lines say, each once.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_cuda = |entry: &&Entry| {
            entry.file.extension().is_some_and(|extension| extension == "cu")
                || entry.arguments().is_ok_and(|arguments| nvcc::says_cuda(&arguments))
        };
        let mut files: Vec<PathBuf> = Vec::new();
        let mut seen = HashSet::new();
        for entry in self.entries.iter().filter(is_cuda) {
            let file = self.full(entry);
            if seen.insert(file.clone()) {
                files.push(file);
            }
        }
        files
    }

    fn full(&self, entry: &Entry) -> PathBuf {
        self.base.join(&entry.directory).join(&entry.file)
    }

    /// The ways in which a file is compiled, each once; none for a file that is not in the database.
    pub fn commands(&self, file: &Path) -> Result<Vec<Command>, CommandError> {
        let real = || fs::canonicalize(file).ok().and_then(|real| self.by_file.get(&real));
        let entries = self.by_file.get(file).or_else(real).map_or(&[][..], Vec::as_slice);
        let mut commands: Vec<Command> = Vec::new();
        for &entry in entries {
            let command = self.command(&self.entries[entry])?;
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        Ok(commands)
    }

    fn command(&self, entry: &Entry) -> Result<Command, CommandError> {
        let arguments = entry.arguments()?;
        let directory = self.base.join(&entry.directory);
        let arguments = nvcc::with_options_files(arguments.get(1..).unwrap_or_default(), &directory)?;
        let has_nul = directory.as_os_str().as_encoded_bytes().contains(&0);
        if has_nul || arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(CommandError::Nul);
        }
        let (flags, dropped) = portable(&nvcc::translate(&arguments))?;
        Ok(Command { directory, flags, dropped, microsoft: nvcc::is_microsoft(&arguments) })
    }
}

impl Entry {
    /// The command line, the compiler's name included.
    fn arguments(&self) -> Result<Vec<String>, shell_words::ParseError> {
        match (&self.arguments, &self.command) {
            (Some(arguments), _) => Ok(arguments.clone()),
            (None, Some(command)) => shell_words::split(command),
            (None, None) => Ok(Vec::new()),
        }
    }
}

/// How a file is compiled.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Where.
    pub directory: PathBuf,
    /// The flags that clang understands and that matter to the text's meaning.
    pub flags: Vec<OsString>,
    /// Flags that are left out although they might matter.
    pub dropped: Vec<String>,
    /// Whether the host compiler that it names is Microsoft's.
    pub microsoft: bool,
}

/// The user's own flags as clang takes them: nvcc's are translated, and of its files of options the flags of the table are taken.
///
/// # Errors
/// If such a file cannot be read, or a flag would make clang read more flags from a file.
pub fn own_flags(flags: &[OsString]) -> Result<Vec<OsString>, CommandError> {
    no_response_file(flags)?;
    let Some(own) = flags.iter().map(|flag| flag.to_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    else {
        return Ok(flags.to_vec());
    };
    let is_of_file = |flag: &&String| matches!(flag.split('=').next(), Some("--options-file" | "-optf"));
    let mut kept = Vec::new();
    let mut rest = &own[..];
    while let Some(at) = rest.iter().position(|flag| is_of_file(&flag)) {
        let end = (at + if rest[at].contains('=') { 1 } else { 2 }).min(rest.len());
        kept.extend(for_clang(&nvcc::translate(&rest[..at])));
        let options = nvcc::with_options_files(&rest[at..end], Path::new("."))?;
        kept.extend(portable(&nvcc::translate(&options))?.0);
        rest = &rest[end..];
    }
    kept.extend(for_clang(&nvcc::translate(rest)));
    no_response_file(&kept)?;
    Ok(kept)
}

/// Why the command line of a file in a compilation database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It is no command line.
    #[error("its command line cannot be split into arguments: {0}")]
    Split(#[from] shell_words::ParseError),
    /// No argument and no directory can hold this.
    #[error("its command line has a NUL character")]
    Nul,
    /// It reads flags from a file in a way that nvcc does not have.
    #[error("its command line: {0}")]
    ResponseFile(#[from] ResponseFile),
    /// A file of options that it names cannot be read.
    #[error("its command line: {0}")]
    OptionsFile(#[from] OptionsFileError),
}

/// Writes the headers that stand in for NVIDIA's: enough of the runtime's declarations for programs to be understood.
pub fn write_headers(directory: &Path) -> io::Result<()> {
    for (name, text) in HEADERS {
        fs::write(directory.join(name), text)?;
    }
    for name in SAME {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, "#include \"cuda_runtime.h\"\n")?;
    }
    Ok(())
}

/// Writes empty headers for those that clang's own ones include and NVIDIA's wheels of the runtime lack.
pub fn write_absent_headers(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let names = ["curand_mtgp32_kernel.h", "texture_fetch_functions.h", "texture_indirect_functions.h"];
    names.iter().try_for_each(|name| fs::write(directory.join(name), ""))
}

/// Declarations of the CUDA runtime that programs use, written down from its documentation.
const HEADERS: [(&str, &str); 22] = [
    ("cuda_fp4.h", include_str!("runtime/cuda_fp4.h")),
    ("cuda_fp8.h", include_str!("runtime/cuda_fp8.h")),
    ("cublas_v2.h", include_str!("runtime/cublas_v2.h")),
    ("cublas.h", "#include \"cublas_v2.h\"\n"),
    ("cublasLt.h", "#include \"cublas_v2.h\"\n"),
    ("cuComplex.h", include_str!("runtime/cuComplex.h")),
    ("cufft.h", include_str!("runtime/cufft.h")),
    ("cufftXt.h", "#include \"cufft.h\"\n"),
    ("cusparse.h", include_str!("runtime/cusparse.h")),
    ("cusparse_v2.h", "#include \"cusparse.h\"\n"),
    ("cusolver_common.h", include_str!("runtime/cusolver_common.h")),
    ("cusolverDn.h", "#include \"cusolver_common.h\"\n"),
    ("cusolverSp.h", "#include \"cusolver_common.h\"\n"),
    ("library_types.h", include_str!("runtime/library_types.h")),
    ("cuda_runtime.h", include_str!("runtime/runtime.h")),
    ("ptxsmith_api.h", include_str!("runtime/api.h")),
    ("ptxsmith_device.h", include_str!("runtime/device.h")),
    ("cooperative_groups.h", include_str!("runtime/cooperative_groups.h")),
    ("cuda_fp16.h", include_str!("runtime/cuda_fp16.h")),
    ("cuda_bf16.h", "#include \"cuda_fp16.h\"\n"),
    ("curand_kernel.h", include_str!("runtime/curand_kernel.h")),
    ("curand.h", "#include \"curand_kernel.h\"\n"),
];

/// Headers of the runtime that add nothing.
const SAME: [&str; 33] = [
    "cuda.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math_constants.h",
    "vector_types.h",
    "vector_functions.h",
    "device_functions.h",
    "math_functions.h",
    "device_atomic_functions.h",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "driver_types.h",
    "builtin_types.h",
    "host_defines.h",
    "crt/host_defines.h",
    "crt/device_functions.h",
    "crt/math_functions.h",
    "texture_types.h",
    "cuda_texture_types.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "surface_types.h",
    "surface_functions.h",
    "channel_descriptor.h",
    "cuda_profiler_api.h",
    "cuda_device_runtime_api.h",
    "cuda_pipeline.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/memcpy_async.h",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvccs_flags_of_the_users_own_are_clangs_and_a_file_of_options_brings_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("o.rsp");
        fs::write(&file, "-DY -fplugin=evil.so -isystem=/a,/b").unwrap();
        let own = |flags: &[&str]| own_flags(&flags.iter().map(OsString::from).collect::<Vec<_>>());
        let file = file.to_str().unwrap();
        let flags =
            ["-Xcompiler", "-DX -Iy", "-rdc=true", "--options-file", file, "-fno-rtti", "-arch=sm_90"];
        let expected = [
            "-DX",
            "-Iy",
            "-D__CUDACC_RDC__",
            "-fgpu-rdc",
            "-DY",
            "-isystem",
            "/a",
            "-isystem",
            "/b",
            "-fno-rtti",
            "-D__CUDA_ARCH__=900",
        ];
        assert_eq!(own(&flags).unwrap(), expected);
        assert!(own(&["-Xcompiler", "@flags"]).is_err() && own(&["@flags"]).is_err());
    }

    /// As CMake writes it for nvcc, with Makefiles.
    #[test]
    fn a_database_of_cmake_names_its_cuda_files_with_each_of_their_ways() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("build")).unwrap();
        fs::write(root.join("build/includes_CUDA.rsp"), "-I/src/inc -isystem /src/third\n").unwrap();
        let entry = |command: &str, file: &str| serde_json::json!({ "directory": "build", "command": command, "file": format!("../src/{file}") });
        let nvcc = "/usr/bin/nvcc -DWIDTH=3 --options-file includes_CUDA.rsp";
        let entries = [
            entry(&format!("{nvcc} -x cu -c ../src/a.cu -o a.o"), "a.cu"),
            entry(&format!("{nvcc} -DTWICE -x cu -c ../src/a.cu -o a2.o"), "a.cu"),
            entry(&format!("{nvcc} -x cu -c ../src/b.cpp -o b.o"), "b.cpp"),
            entry("/usr/bin/c++ -c ../src/c.cpp", "c.cpp"),
        ];
        fs::write(root.join("compile_commands.json"), serde_json::to_string(&entries).unwrap()).unwrap();
        let commands = CompileCommands::read(root).unwrap();
        let file = |name: &str| root.join("build").join("../src").join(name);
        assert_eq!(commands.files(), [file("a.cu"), file("b.cpp")]);
        let flags = |name: &str| -> Vec<Vec<OsString>> {
            commands.commands(&file(name)).unwrap().into_iter().map(|command| command.flags).collect()
        };
        let included = ["-I/src/inc", "-isystem", "/src/third"];
        assert_eq!(
            flags("a.cu"),
            [
                [&["-DWIDTH=3"], &included[..]].concat(),
                [&["-DWIDTH=3"], &included[..], &["-DTWICE"]].concat()
            ]
        );
        assert_eq!(flags("b.cpp"), [[&["-DWIDTH=3"], &included[..]].concat()]);
        assert!(commands.commands(&file("d.cu")).unwrap().is_empty());
    }
}
