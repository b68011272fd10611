//! NVIDIA's toolchain releases on this machine: which exist, where they are, and how to install them.
//!
//! ptxas is NVIDIA's program, under its own licence. It is not part of ptxsmith; it is installed by name on
//! the user's machine, from the wheels that NVIDIA publishes on PyPI ([`RELEASES`]). Only wheels for Linux on
//! x86-64 are supported. After the installation everything works offline.

mod debian;
mod fetch;
mod install;
mod pip;
mod record;
mod releases;
mod tools;

use std::env;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

pub use fetch::InstallError;
pub use record::{Damaged, Verified};
pub use releases::{DEFAULT, RELEASES, Release, UnknownRelease, max_ptx};
pub use tools::{Installable, PackageSource, TOOLS, Tool, ToolKind, UnknownInstallable, UnknownTool, Wheel};

/// The environment variable that names the cache directory.
pub const CACHE_VARIABLE: &str = "PTXSMITH_CACHE";

/// The installation directory, with one folder for each release (`bin/ptxas` and the licence) or tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchains {
    root: PathBuf,
}

/// A release, installed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseStatus {
    /// The release.
    pub release: &'static Release,
    /// Path of its ptxas, if it is installed.
    pub path: Option<PathBuf>,
}

/// Where a ptxas was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtxasOrigin {
    /// Installed by name.
    Installed(&'static Release),
    /// `$CUDA_HOME/bin`.
    CudaHome,
    /// `$CUDA_PATH/bin`.
    CudaPath,
    /// A directory in `$PATH`.
    Path,
}

impl std::fmt::Display for PtxasOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PtxasOrigin::Installed(release) => write!(f, "installed release {release}"),
            PtxasOrigin::CudaHome => f.write_str("CUDA_HOME"),
            PtxasOrigin::CudaPath => f.write_str("CUDA_PATH"),
            PtxasOrigin::Path => f.write_str("PATH"),
        }
    }
}

/// A ptxas on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPtxas {
    /// The program.
    pub path: PathBuf,
    /// The place where ptxas was found.
    pub origin: PtxasOrigin,
}

/// There is no home directory for the cache.
#[derive(Debug, thiserror::Error)]
#[error("no home directory: set {CACHE_VARIABLE} to a directory for installed releases")]
pub struct NoHome;

impl Toolchains {
    /// Returns the user's default directory: `$PTXSMITH_CACHE/toolchains`, else `ptxsmith/toolchains` in the
    /// user's cache directory (`$XDG_CACHE_HOME`, by default `~/.cache`).
    pub fn for_user() -> Result<Self, NoHome> {
        let cache = match env::var_os(CACHE_VARIABLE) {
            Some(cache) if !cache.is_empty() => PathBuf::from(cache),
            _ => etcetera::base_strategy::Xdg::new().map_err(|_| NoHome)?.cache_dir().join("ptxsmith"),
        };
        Ok(Toolchains::at(cache.join("toolchains")))
    }

    /// Uses this directory, which need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Toolchains { root: root.into() }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the ptxas of a release, if it is installed.
    pub fn path(&self, release: &Release) -> Option<PathBuf> {
        self.tool_path(&Tool::from(release))
    }

    /// Returns the program or library of a tool, if it is installed.
    pub fn tool_path(&self, tool: &Tool) -> Option<PathBuf> {
        let path = self.root.join(tool.folder()).join(tool.place());
        path.is_file().then_some(path)
    }

    /// Lists every known release, oldest first.
    pub fn list(&self) -> Vec<ReleaseStatus> {
        RELEASES.iter().map(|release| ReleaseStatus { release, path: self.path(release) }).collect()
    }

    /// Finds the default ptxas, for a user who names none. The first of:
    ///
    /// 1. release [`DEFAULT`], installed here;
    /// 2. `$CUDA_HOME/bin/ptxas`;
    /// 3. `$CUDA_PATH/bin/ptxas`;
    /// 4. `ptxas` in `$PATH`;
    /// 5. the newest other release that is installed here.
    ///
    /// Runs nothing: a file that is not a ptxas is detected when it is opened.
    pub fn find_default(&self) -> Option<LocalPtxas> {
        let in_path = which::which("ptxas").ok();
        self.find_among(directory_in("CUDA_HOME"), directory_in("CUDA_PATH"), in_path)
    }

    fn find_among(
        &self,
        cuda_home: Option<PathBuf>,
        cuda_path: Option<PathBuf>,
        in_path: Option<PathBuf>,
    ) -> Option<LocalPtxas> {
        let default = Release::find(DEFAULT).ok();
        default
            .and_then(|release| self.installed(release))
            .or_else(|| LocalPtxas::in_directory(cuda_home?, PtxasOrigin::CudaHome))
            .or_else(|| LocalPtxas::in_directory(cuda_path?, PtxasOrigin::CudaPath))
            .or_else(|| Some(LocalPtxas { path: in_path?, origin: PtxasOrigin::Path }))
            .or_else(|| RELEASES.iter().rev().find_map(|release| self.installed(release)))
    }

    fn installed(&self, release: &'static Release) -> Option<LocalPtxas> {
        Some(LocalPtxas { path: self.path(release)?, origin: PtxasOrigin::Installed(release) })
    }
}

impl LocalPtxas {
    /// Looks for `bin/ptxas` in a directory of CUDA.
    fn in_directory(cuda: PathBuf, origin: PtxasOrigin) -> Option<LocalPtxas> {
        let path = cuda.join("bin/ptxas");
        path.is_file().then_some(LocalPtxas { path, origin })
    }
}

/// Returns the directory that an environment variable names, if it is set and not empty.
fn directory_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Finds the default ptxas as [`Toolchains::find_default`] does, among the user's own releases.
pub fn find_default() -> Option<LocalPtxas> {
    // Without a home directory there is no cache, but there may still be a ptxas.
    Toolchains::for_user().unwrap_or_else(|NoHome| Toolchains::at("/nonexistent")).find_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn touch(path: PathBuf) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let toolchains = Toolchains::at("/nonexistent");
        assert_eq!(toolchains.find_among(None, Some("/nonexistent".into()), None), None);
        assert!(toolchains.list().iter().all(|listed| listed.path.is_none()));
        assert_eq!(toolchains.list().len(), RELEASES.len());
    }

    #[test]
    fn the_order_is_default_release_then_cuda_then_path_then_any_release() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path().join("toolchains"));
        let find = || {
            let at = |name: &str| Some(directory.path().join(name));
            let in_path = at("path/ptxas").filter(|path| path.is_file());
            toolchains.find_among(at("home"), at("cuda"), in_path).unwrap().origin
        };
        let release = |name: &str| Release::find(name).unwrap();
        touch(toolchains.root().join("12.0.76/bin/ptxas"));
        touch(toolchains.root().join("12.9.86/bin/ptxas"));
        assert_eq!(find(), PtxasOrigin::Installed(release("12.9")));
        touch(directory.path().join("path/ptxas"));
        assert_eq!(find(), PtxasOrigin::Path);
        touch(directory.path().join("cuda/bin/ptxas"));
        assert_eq!(find(), PtxasOrigin::CudaPath);
        touch(directory.path().join("home/bin/ptxas"));
        assert_eq!(find(), PtxasOrigin::CudaHome);
        let default = release(DEFAULT);
        touch(toolchains.root().join(default.version).join("bin/ptxas"));
        assert_eq!(find(), PtxasOrigin::Installed(default));
    }
}
