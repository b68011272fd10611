//! The flags that files are compiled with, from `compile_commands.json` and from the user.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::{LONGEST, read_text};
use super::flags::{ResponseFile, for_clang, no_response_file, portable};
use super::nvcc::{self, OptionsFileError};

/// A compilation database, as CMake and other build systems write it.
#[derive(Debug)]
pub struct CompilationDatabase {
    entries: Vec<DatabaseEntry>,
    /// The directory of the database. Relative directories in entries are relative to it.
    base: PathBuf,
    /// The indices of a file's entries, both by its path in the database and by its path without links.
    by_file: HashMap<PathBuf, Vec<usize>>,
}

/// One command of the database.
#[derive(Debug, Deserialize)]
struct DatabaseEntry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
}

/// An error that makes a compilation database unusable.
#[derive(Debug, thiserror::Error)]
pub enum CompilationDatabaseError {
    /// The database cannot be read.
    #[error("{}: {source}", .path.display())]
    File {
        /// The path of the database.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a compilation database.
    #[error("{}: no compilation database: {source}", .path.display())]
    Format {
        /// The path of the database.
        path: PathBuf,
        /// The error in the JSON text.
        source: serde_json::Error,
    },
}

impl CompilationDatabase {
    /// Reads a database. If `path` is a directory, reads the `compile_commands.json` in it.
    pub fn read(path: &Path) -> Result<Self, CompilationDatabaseError> {
        let path = if path.is_dir() { path.join("compile_commands.json") } else { path.to_owned() };
        let text = read_text(&path, LONGEST)
            .map_err(|source| CompilationDatabaseError::File { path: path.clone(), source })?;
        let entries: Vec<DatabaseEntry> = serde_json::from_str(&text)
            .map_err(|source| CompilationDatabaseError::Format { path: path.clone(), source })?;
        let base = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut database = CompilationDatabase { entries, base, by_file: HashMap::new() };
        for (number, entry) in database.entries.iter().enumerate() {
            let path = entry.file_path(&database.base);
            if let Some(canonical) = fs::canonicalize(&path).ok().filter(|canonical| *canonical != path) {
                database.by_file.entry(canonical).or_default().push(number);
            }
            database.by_file.entry(path).or_default().push(number);
        }
        Ok(database)
    }

    /// Returns the CUDA files in the database, each once. A file is CUDA by its name or by a flag of its
    /// command.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut seen = HashSet::new();
        for entry in self.entries.iter().filter(|entry| entry.is_cuda()) {
            let file = entry.file_path(&self.base);
            if seen.insert(file.clone()) {
                files.push(file);
            }
        }
        files
    }

    /// Returns the different commands that compile a file; empty if the file is not in the database.
    pub fn commands(&self, file: &Path) -> Result<Vec<CompileCommand>, CompileCommandError> {
        let mut commands: Vec<CompileCommand> = Vec::new();
        for &index in self.entries_of(file) {
            let command = self.command(&self.entries[index])?;
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        Ok(commands)
    }

    /// Returns the indices of a file's entries.
    fn entries_of(&self, file: &Path) -> &[usize] {
        if let Some(indices) = self.by_file.get(file) {
            return indices;
        }
        let canonical = fs::canonicalize(file).ok();
        canonical.and_then(|canonical| self.by_file.get(&canonical)).map_or(&[][..], Vec::as_slice)
    }

    fn command(&self, entry: &DatabaseEntry) -> Result<CompileCommand, CompileCommandError> {
        let arguments = entry.arguments()?;
        let directory = self.base.join(&entry.directory);
        let arguments = nvcc::with_options_files(arguments.get(1..).unwrap_or_default(), &directory)?;
        let has_nul = directory.as_os_str().as_encoded_bytes().contains(&0);
        if has_nul || arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(CompileCommandError::Nul);
        }
        let (flags, dropped) = portable(&nvcc::translate(&arguments))?;
        Ok(CompileCommand { directory, flags, dropped, microsoft: nvcc::is_microsoft(&arguments) })
    }
}

impl DatabaseEntry {
    /// The path of the file, for a database in the directory `base`.
    fn file_path(&self, base: &Path) -> PathBuf {
        base.join(&self.directory).join(&self.file)
    }

    fn is_cuda(&self) -> bool {
        self.file.extension().is_some_and(|extension| extension == "cu")
            || self.arguments().is_ok_and(|arguments| nvcc::is_cuda(&arguments))
    }

    /// The command line, including the compiler's name.
    fn arguments(&self) -> Result<Vec<String>, shell_words::ParseError> {
        match (&self.arguments, &self.command) {
            (Some(arguments), _) => Ok(arguments.clone()),
            (None, Some(command)) => shell_words::split(command),
            (None, None) => Ok(Vec::new()),
        }
    }
}

/// A command that compiles a file, reduced to the parts that matter to the checker.
#[derive(Debug, PartialEq, Eq)]
pub struct CompileCommand {
    /// The working directory.
    pub directory: PathBuf,
    /// The flags that affect the meaning of the text, as clang spells them.
    pub flags: Vec<OsString>,
    /// Other flags that might affect the meaning of the text, and are left out.
    pub dropped: Vec<String>,
    /// Whether the command names Microsoft's compiler as the host compiler.
    pub microsoft: bool,
}

/// Translates the flags that the user gives for clang. Spellings of nvcc become those of clang. A file of
/// options of nvcc is replaced by its portable flags.
///
/// # Errors
/// Fails if a file of options cannot be read, or if a flag would make clang read more flags from a file.
pub fn user_flags(flags: &[OsString]) -> Result<Vec<OsString>, CompileCommandError> {
    no_response_file(flags)?;
    let texts: Option<Vec<String>> = flags.iter().map(|flag| flag.to_str().map(str::to_owned)).collect();
    let Some(texts) = texts else { return Ok(flags.to_vec()) };
    let mut kept = Vec::new();
    let mut rest = &texts[..];
    while let Some(index) = rest.iter().position(|flag| nvcc::names_options_file(flag)) {
        let length = if rest[index].contains('=') { 1 } else { 2 };
        let end = (index + length).min(rest.len());
        kept.extend(for_clang(&nvcc::translate(&rest[..index])));
        let options = nvcc::with_options_files(&rest[index..end], Path::new("."))?;
        kept.extend(portable(&nvcc::translate(&options))?.0);
        rest = &rest[end..];
    }
    kept.extend(for_clang(&nvcc::translate(rest)));
    no_response_file(&kept)?;
    Ok(kept)
}

/// An error that makes a command of a compilation database unusable.
#[derive(Debug, thiserror::Error)]
pub enum CompileCommandError {
    /// The command line cannot be split into arguments.
    #[error("its command line cannot be split into arguments: {0}")]
    Split(#[from] shell_words::ParseError),
    /// An argument or the directory contains a NUL character.
    #[error("its command line has a NUL character")]
    Nul,
    /// An argument would make clang read more flags from a file.
    #[error("its command line: {0}")]
    ResponseFile(#[from] ResponseFile),
    /// A file of options cannot be read.
    #[error("its command line: {0}")]
    OptionsFile(#[from] OptionsFileError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_flags_for_nvcc_become_clangs_and_a_file_of_options_adds_only_portable_ones() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("o.rsp");
        fs::write(&file, "-DY -fplugin=evil.so -isystem=/a,/b").unwrap();
        let translated = |flags: &[&str]| user_flags(&flags.iter().map(OsString::from).collect::<Vec<_>>());
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
        assert_eq!(translated(&flags).unwrap(), expected);
        assert!(translated(&["-Xcompiler", "@flags"]).is_err() && translated(&["@flags"]).is_err());
    }

    /// As CMake writes it for nvcc, with Makefiles.
    #[test]
    fn a_database_of_cmake_has_its_cuda_files_with_each_of_their_commands() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("build")).unwrap();
        fs::write(root.join("build/includes_CUDA.rsp"), "-I/src/inc -isystem /src/third\n").unwrap();
        let entry = |command: &str, file: &str| {
            let file = format!("../src/{file}");
            serde_json::json!({ "directory": "build", "command": command, "file": file })
        };
        let nvcc = "/usr/bin/nvcc -DWIDTH=3 --options-file includes_CUDA.rsp";
        let entries = [
            entry(&format!("{nvcc} -x cu -c ../src/a.cu -o a.o"), "a.cu"),
            entry(&format!("{nvcc} -DTWICE -x cu -c ../src/a.cu -o a2.o"), "a.cu"),
            entry(&format!("{nvcc} -x cu -c ../src/b.cpp -o b.o"), "b.cpp"),
            entry("/usr/bin/c++ -c ../src/c.cpp", "c.cpp"),
        ];
        fs::write(root.join("compile_commands.json"), serde_json::to_string(&entries).unwrap()).unwrap();
        let database = CompilationDatabase::read(root).unwrap();
        let file = |name: &str| root.join("build").join("../src").join(name);
        assert_eq!(database.files(), [file("a.cu"), file("b.cpp")]);
        let flags = |name: &str| -> Vec<Vec<OsString>> {
            database.commands(&file(name)).unwrap().into_iter().map(|command| command.flags).collect()
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
        assert!(database.commands(&file("d.cu")).unwrap().is_empty());
    }
}
