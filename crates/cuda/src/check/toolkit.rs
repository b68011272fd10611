//! Flags that clang needs in addition to `--cuda-path` to use NVIDIA's headers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names a release of CUDA. clang cannot find the release itself without the toolkit's library, and would
/// look for an old function that launches kernels.
pub const FOR_ITS_RELEASE: [&str; 2] = ["-Xclang", "-target-sdk-version=12.0"];

/// Definitions of macros that headers of CUDA 13.2 and later use too early when clang's own headers include
/// them.
pub const MACROS: [&str; 1] = ["-D_NV_RSQRT_SPECIFIER="];

/// Whether this release of clang does not define those macros itself.
pub fn needs_macros(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 22)
}

/// Returns the directories of the toolkits that flags name.
pub fn roots(flags: &[OsString]) -> Vec<String> {
    flags
        .iter()
        .filter_map(|flag| Some(flag.to_string_lossy().strip_prefix("--cuda-path=")?.to_owned()))
        .collect()
}

/// Returns flags for the directory of header libraries in CUDA 13, which nvcc searches without a flag.
/// Relative paths are relative to `directory`.
pub fn flags(flags: &[OsString], directory: &Path) -> Vec<OsString> {
    let libraries = roots(flags).into_iter().map(|root| Path::new(&root).join("include/cccl"));
    let libraries = libraries.filter(|library| directory.join(library).is_dir());
    libraries.flat_map(|library| ["-isystem".into(), library.into_os_string()]).collect()
}

/// Returns the end of a sentence about errors, for flags that search NVIDIA's headers without naming their
/// toolkit; empty otherwise.
pub fn hint(flags: &[OsString], directory: &Path) -> String {
    let mut searched = super::flags::include_directories(flags).into_iter().map(PathBuf::from);
    let toolkit = searched.find(|searched| directory.join(searched).join("cuda_runtime.h").is_file());
    match toolkit.as_deref().and_then(Path::parent) {
        Some(root) if roots(flags).is_empty() => {
            format!("; with `--cuda-path={}` it would use NVIDIA's headers", root.display())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_libraries_of_a_toolkit_are_found_if_they_have_a_directory_of_their_own_and_its_root_by_the_search()
     {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("cuda13/include/cccl")).unwrap();
        std::fs::create_dir_all(directory.path().join("cuda12/include/cuda")).unwrap();
        let found = |root: &str| flags(&[format!("--cuda-path={root}").into()], directory.path());
        assert_eq!(found("cuda13"), ["-isystem", "cuda13/include/cccl"]);
        assert_eq!(found("cuda12"), [""; 0]);
        std::fs::write(directory.path().join("cuda12/include/cuda_runtime.h"), "").unwrap();
        let hint =
            |flags: &str| hint(&flags.split(' ').map(OsString::from).collect::<Vec<_>>(), directory.path());
        assert_eq!(
            hint("-Ia -isystem cuda12/include"),
            "; with `--cuda-path=cuda12` it would use NVIDIA's headers"
        );
        assert_eq!(hint("-I cuda12/include --cuda-path=x"), "");
        assert_eq!(hint("-Icuda13/include"), "");
        assert_eq!([needs_macros("19.1.7"), needs_macros("22.1.8"), needs_macros("")], [true, false, false]);
    }
}
