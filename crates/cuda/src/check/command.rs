//! How a file is compiled: flags from `compile_commands.json`, and headers that stand in for NVIDIA's.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::flags::{ResponseFile, portable};
use super::nvcc;

/// A compilation database.
#[derive(Debug)]
pub struct CompileCommands {
    entries: Vec<Entry>,
    base: PathBuf,
    /// Which entry is the first of a file, by its path as it is written and by its path without links.
    by_file: HashMap<PathBuf, usize>,
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
        let text =
            read_text(&path).map_err(|source| CompileCommandsError::File { path: path.clone(), source })?;
        let entries: Vec<Entry> = serde_json::from_str(&text)
            .map_err(|source| CompileCommandsError::Format { path: path.clone(), source })?;
        let base = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut commands = CompileCommands { entries, base, by_file: HashMap::new() };
        for (number, entry) in commands.entries.iter().enumerate() {
            let full = commands.base.join(&entry.directory).join(&entry.file);
            if let Ok(real) = fs::canonicalize(&full) {
                commands.by_file.entry(real).or_insert(number);
            }
            commands.by_file.entry(full).or_insert(number);
        }
        Ok(commands)
    }

    /// The files that it names that look like CUDA.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_cuda = |entry: &&Entry| entry.file.extension().is_some_and(|extension| extension == "cu");
        self.entries.iter().filter(is_cuda).map(|entry| self.full(entry)).collect()
    }

    fn full(&self, entry: &Entry) -> PathBuf {
        self.base.join(&entry.directory).join(&entry.file)
    }

    /// How a file is compiled; `None` of a file that is not in the database.
    pub fn flags(&self, file: &Path) -> Result<Option<Command>, CommandError> {
        let real = || fs::canonicalize(file).ok().and_then(|real| self.by_file.get(&real));
        let Some(&entry) = self.by_file.get(file).or_else(real) else { return Ok(None) };
        let entry = &self.entries[entry];
        let arguments = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => shell_words::split(command)?,
            (None, None) => Vec::new(),
        };
        let directory = self.base.join(&entry.directory);
        let has_nul = directory.as_os_str().as_encoded_bytes().contains(&0);
        if has_nul || arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(CommandError::Nul);
        }
        let arguments = arguments.get(1..).unwrap_or_default();
        let (flags, microsoft) = (portable(&nvcc::translate(arguments))?, nvcc::is_microsoft(arguments));
        Ok(Some(Command { directory, flags, microsoft }))
    }
}

/// How a file is compiled.
#[derive(Debug)]
pub struct Command {
    /// Where.
    pub directory: PathBuf,
    /// The flags that clang understands and that matter to the text's meaning.
    pub flags: Vec<OsString>,
    /// Whether the host compiler that it names is Microsoft's.
    pub microsoft: bool,
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
    /// It reads flags from a file.
    #[error("its command line: {0}")]
    ResponseFile(#[from] ResponseFile),
}

/// The longest file that is read here.
const LONGEST: u64 = 256 << 20;

/// The text of a regular file of some size: what else can be behind a path may have no end, or make us wait for ever.
pub fn read_text(path: &Path) -> io::Result<String> {
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    if !fs::metadata(path)?.is_file() {
        return Err(invalid("it is no regular file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST { Err(invalid("it is larger than 256 MiB")) } else { Ok(text) }
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
