//! How a file is compiled: flags from `compile_commands.json`, and headers that stand in for NVIDIA's.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A compilation database.
#[derive(Debug)]
pub struct CompileCommands {
    entries: Vec<Entry>,
    base: PathBuf,
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
        let text = fs::read_to_string(&path)
            .map_err(|source| CompileCommandsError::File { path: path.clone(), source })?;
        let entries = serde_json::from_str(&text)
            .map_err(|source| CompileCommandsError::Format { path: path.clone(), source })?;
        let base = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(CompileCommands { entries, base })
    }

    /// The files that it names that look like CUDA.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_cuda = |entry: &&Entry| entry.file.extension().is_some_and(|extension| extension == "cu");
        self.entries.iter().filter(is_cuda).map(|entry| self.full(entry)).collect()
    }

    fn full(&self, entry: &Entry) -> PathBuf {
        self.base.join(&entry.directory).join(&entry.file)
    }

    /// The directory and those flags of a file that clang understands and that matter to its meaning.
    pub fn flags(&self, file: &Path) -> Option<(PathBuf, Vec<OsString>)> {
        let wanted = fs::canonicalize(file).ok();
        let entry = self.entries.iter().find(|entry| {
            let full = self.full(entry);
            full == file || (wanted.is_some() && fs::canonicalize(full).ok() == wanted)
        })?;
        let arguments = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => shell_words::split(command).ok()?,
            (None, None) => Vec::new(),
        };
        Some((self.base.join(&entry.directory), portable(&arguments)))
    }
}

/// Of a compiler's arguments, those that clang takes too and that say what the text means.
fn portable(arguments: &[String]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        let with_value = ["-I", "-isystem", "-iquote", "-D", "-U", "-include"];
        // nvcc's own spellings.
        let argument = match argument.as_str() {
            "--include-path" => "-I",
            "--define-macro" => "-D",
            "--undefine-macro" => "-U",
            "--system-include" => "-isystem",
            "--pre-include" => "-include",
            other => other,
        };
        if with_value.contains(&argument) {
            if let Some(value) = arguments.next() {
                kept.extend([argument.into(), value.into()]);
            }
        } else if ["-I", "-D", "-U", "-isystem", "-std=", "--std=", "--cuda-path"]
            .iter()
            .any(|prefix| argument.starts_with(prefix))
        {
            kept.push(argument.replace("--std=", "-std=").into());
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

/// Writes the headers that stand in for NVIDIA's: enough of the runtime's declarations for kernels to be understood.
pub fn write_headers(directory: &Path) -> io::Result<()> {
    fs::write(directory.join("cuda_runtime.h"), RUNTIME)?;
    for name in
        ["cuda.h", "cuda_runtime_api.h", "device_launch_parameters.h", "math_constants.h", "vector_types.h"]
    {
        fs::write(directory.join(name), "#include \"cuda_runtime.h\"\n")?;
    }
    Ok(())
}

/// Declarations of the CUDA runtime that sources of kernels use, written down from its documentation.
const RUNTIME: &str = include_str!("runtime.h");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_say_what_the_text_means_are_kept() {
        let arguments = "nvcc -Iinclude -I other -DX=1 --define-macro Y -isystem /opt/x -std=c++14 -arch=sm_80 \
                         -Xcompiler -Wall --generate-code=arch=compute_80,code=sm_80 -O3 -c a.cu -o a.o";
        let arguments = shell_words::split(arguments).unwrap();
        let kept: Vec<_> = portable(&arguments).into_iter().map(|flag| flag.into_string().unwrap()).collect();
        assert_eq!(
            kept,
            ["-Iinclude", "-I", "other", "-DX=1", "-D", "Y", "-isystem", "/opt/x", "-std=c++14"]
        );
        assert_eq!(system_directories(&portable(&arguments)), ["/opt/x"]);
    }
}
