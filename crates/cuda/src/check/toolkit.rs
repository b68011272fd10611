//! What clang needs with NVIDIA's headers beyond `--cuda-path`.

use std::ffi::OsString;
use std::path::Path;

/// Without the toolkit's library clang does not say which release's way to launch kernels to look for.
pub const FOR_ITS_RELEASE: [&str; 2] = ["-Xclang", "-target-sdk-version=12.0"];

/// The macros that headers of CUDA 13.2 and later use before they define them where clang's own headers include them.
pub const MACROS: [&str; 1] = ["-D_NV_RSQRT_SPECIFIER="];

/// Whether a release of clang leaves it to others to define those macros.
pub fn needs_macros(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 22)
}

/// The toolkits that flags name.
pub fn roots(flags: &[OsString]) -> Vec<String> {
    let root = |flag: &OsString| Some(flag.to_string_lossy().strip_prefix("--cuda-path=")?.to_owned());
    flags.iter().filter_map(root).collect()
}

/// The directory of libraries of headers in CUDA 13, which nvcc searches by itself. Paths are relative to `directory`.
pub fn flags(flags: &[OsString], directory: &Path) -> Vec<OsString> {
    let libraries = roots(flags).into_iter().map(|root| Path::new(&root).join("include/cccl"));
    let libraries = libraries.filter(|library| directory.join(library).is_dir());
    libraries.flat_map(|library| ["-isystem".into(), library.into_os_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_toolkit_are_found_where_it_has_them_in_a_directory_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("cuda13/include/cccl")).unwrap();
        std::fs::create_dir_all(directory.path().join("cuda12/include/cuda")).unwrap();
        let found = |root: &str| flags(&[format!("--cuda-path={root}").into()], directory.path());
        assert_eq!(found("cuda13"), ["-isystem", "cuda13/include/cccl"]);
        assert_eq!(found("cuda12"), [""; 0]);
        assert_eq!([needs_macros("19.1.7"), needs_macros("22.1.8"), needs_macros("")], [true, false, false]);
    }
}
