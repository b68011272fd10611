//! The command lines with which clang preprocesses and reads one file.

use std::ffi::OsString;
use std::io;
use std::path::{self, Path, PathBuf};

use ptxsmith_subject::process::Invocation;

use super::source::FileOrigin;
use super::{CheckError, CheckOptions, ReportFilter, clang_version, flags, headers, toolkit};

/// Flags of both runs. Some of clang's warnings are errors by default, and nvcc has none of them.
const COMMON: [&str; 4] =
    ["-Wno-everything", "-Qunused-arguments", "-ferror-limit=0", "-fno-caret-diagnostics"];

/// The runs of clang for one file.
pub struct ClangRuns {
    /// Preprocesses the file.
    pub preprocessing: Invocation,
    /// Checks the syntax of the preprocessed file. The last two arguments are `--` and that file.
    pub reading: Invocation,
    /// The path of the preprocessed file, to be written before `reading` is run.
    pub preprocessed: PathBuf,
}

impl ClangRuns {
    /// Prepares the runs, and writes the headers that they need into `directory`.
    pub fn new(file: &Path, options: &CheckOptions, directory: &Path) -> Result<Self, CheckError> {
        let mut common: Vec<OsString> = crate::subjects::CLANG_FLAGS.iter().map(OsString::from).collect();
        common.extend(COMMON.iter().map(OsString::from));
        if !options.flags.iter().any(|flag| flag.to_string_lossy().starts_with("-std=")) {
            // The default of nvcc with g++ as its host compiler.
            common.push("-std=gnu++17".into());
        }
        let mut preprocessing = common.clone();
        if options.flags.iter().any(|flag| flag.to_string_lossy().starts_with("--cuda-path")) {
            preprocessing.retain(|arg| arg != "-nocudainc");
            preprocessing.extend(with_nvidias_headers(options, directory)?);
            common.extend(toolkit::FOR_ITS_RELEASE.map(OsString::from));
        } else {
            headers::write_headers(directory).map_err(CheckError::while_doing("write a header for clang"))?;
            preprocessing.extend(["-isystem".into(), directory.as_os_str().to_owned()]);
            preprocessing.extend(["-include".into(), directory.join("cuda_runtime.h").into_os_string()]);
        }
        preprocessing.extend(options.flags.iter().cloned());
        // With Microsoft's extensions, macros in pragmas are expanded.
        preprocessing.extend(["-E".into(), "-fms-extensions".into(), "--".into(), file_argument(file)]);
        let preprocessed = directory.join("preprocessed.cu");
        let mut reading = common;
        reading.extend(flags::without_preprocessing(&options.flags));
        let path = preprocessed.as_os_str().to_owned();
        reading.extend(["-undef".into(), "-fsyntax-only".into(), "--".into(), path]);
        Ok(ClangRuns {
            preprocessing: invocation(options, preprocessing, directory),
            reading: invocation(options, reading, directory),
            preprocessed,
        })
    }
}

/// Returns the flags for a file that is preprocessed with NVIDIA's own headers.
fn with_nvidias_headers(options: &CheckOptions, directory: &Path) -> Result<Vec<OsString>, CheckError> {
    let roots = toolkit::roots(&options.flags).into_iter();
    let toolkits: Result<Vec<PathBuf>, io::Error> =
        roots.map(|root| path::absolute(options.path_of(&root))).collect();
    toolkits
        .and_then(|toolkits| headers::write_headers_beside(&toolkits, directory))
        .map_err(CheckError::while_doing("write a header for clang"))?;
    let mut args: Vec<OsString> = vec!["-iquote".into(), directory.join("quoted").into()];
    args.extend(["-idirafter".into(), directory.join("absent").into()]);
    args.extend(["-include".into(), directory.join("nvcc.h").into()]);
    args.extend(toolkit::flags(&options.flags, &options.directory));
    let version = clang_version(&options.clang, &options.cancel);
    if version.is_ok_and(|version| toolkit::needs_macros(&version)) {
        args.extend(toolkit::MACROS.map(OsString::from));
    }
    Ok(args)
}

fn invocation(options: &CheckOptions, args: Vec<OsString>, temporary: &Path) -> Invocation {
    Invocation {
        program: options.clang.clone(),
        args,
        directory: Some(options.directory.clone()),
        temporary: temporary.to_owned(),
    }
}

/// Returns a file's name as an argument that clang treats neither as a flag nor as a file of more arguments.
/// A path may begin with `@` or `-` although its last part does not.
fn file_argument(file: &Path) -> OsString {
    match file.as_os_str().as_encoded_bytes() {
        [b'@' | b'-', ..] => Path::new(".").join(file).into_os_string(),
        _ => file.as_os_str().to_owned(),
    }
}

/// Decides the origin of files by their names.
pub struct FileOrigins<'a> {
    filter: &'a ReportFilter,
    /// The directory of the headers that we write for clang.
    scratch: String,
    /// The directories of CUDA toolkits that flags name.
    toolkits: Vec<String>,
    /// The directories that flags call system directories.
    libraries: Vec<String>,
}

impl<'a> FileOrigins<'a> {
    /// Creates the rules for these options. `scratch` is the directory of the headers that we write for
    /// clang.
    pub fn new(options: &'a CheckOptions, scratch: &Path) -> Self {
        FileOrigins {
            filter: &options.filter,
            scratch: scratch.to_string_lossy().into_owned(),
            toolkits: toolkit::roots(&options.flags),
            libraries: flags::system_directories(&options.flags),
        }
    }

    /// Returns the origin of a file that clang calls by this name.
    pub fn origin(&self, name: &str) -> FileOrigin {
        if name.starts_with(&self.scratch) || name.starts_with('<') {
            FileOrigin::Compiler
        } else if self.filter.names(name) {
            FileOrigin::Project
        } else if name.contains("/lib/clang/") || is_below(&self.toolkits, name) {
            FileOrigin::Compiler
        } else if name.starts_with("/usr/") || is_below(&self.libraries, name) {
            FileOrigin::Library
        } else {
            FileOrigin::Project
        }
    }
}

fn is_below(directories: &[String], name: &str) -> bool {
    directories.iter().any(|directory| name.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_see_the_macros_of_nvcc_behind_nvidias_headers_and_before_headers_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let flags = ["--cuda-path=/opt/cuda", "-include", "mine.h"].map(OsString::from).to_vec();
        let options = CheckOptions { flags, ..CheckOptions::new("no-clang".into()) };
        let runs = ClangRuns::new(Path::new("a.cu"), &options, directory.path()).unwrap();
        let included: Vec<&OsString> = runs
            .preprocessing
            .args
            .windows(2)
            .filter(|pair| pair[0] == "-include")
            .map(|pair| &pair[1])
            .collect();
        assert_eq!(included, [directory.path().join("nvcc.h").as_os_str(), "mine.h".as_ref()]);
        let macros = std::fs::read_to_string(included[0]).unwrap();
        assert!(
            macros.contains("#define __NVCC__") && macros.contains("#define __CUDACC_VER_MAJOR__"),
            "{macros}"
        );
    }
}
