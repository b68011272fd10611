//! Installs NVIDIA's CUDA C++ compilers from the wheels that NVIDIA publishes on PyPI.
//!
//! They are NVIDIA's, under its own licence: installed on the user's machine, by name, and never part of ptxsmith.
//! Where they go is where `ptxsmith toolchain` puts ptxas: one folder a tool and release.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};
use ptxsmith_subject::toolchain::Toolchains;

/// A package on PyPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "`Package::name` says all")]
pub enum Package {
    Nvvm,
    Nvcc,
    Crt,
    Runtime,
}

impl Package {
    /// Its name on PyPI.
    pub const fn name(self) -> &'static str {
        match self {
            Package::Nvvm => "nvidia-nvvm",
            Package::Nvcc => "nvidia-cuda-nvcc",
            Package::Crt => "nvidia-cuda-crt",
            Package::Runtime => "nvidia-cuda-runtime",
        }
    }
}

/// A wheel for Linux on x86-64, as it was published when this table was written. pip refuses any other file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The package.
    pub package: Package,
    /// Its version.
    pub version: &'static str,
    /// SHA-256 of the file, in hex.
    pub sha256: &'static str,
}

/// Every wheel that is used, by package and age.
#[rustfmt::skip]
pub const WHEELS: &[Wheel] = &[
    Wheel { package: Package::Nvvm, version: "13.0.88", sha256: "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0" },
    Wheel { package: Package::Nvvm, version: "13.1.115", sha256: "6fdf483d85d9903f9cbf84c41d99221a86e0c0511d05de3d237b4ab69c11627e" },
    Wheel { package: Package::Nvvm, version: "13.2.86", sha256: "a9244f3209922d655612c11ebb4117ea1f80983cb2b215c9cccded127282cebc" },
    Wheel { package: Package::Nvvm, version: "13.3.73", sha256: "0e28e0858a3475e11ac67d35301cd5bf82666a1c0dc4ec4e80ceaf3a5fd1dea8" },
    Wheel { package: Package::Nvvm, version: "13.4.92", sha256: "e4c81cb321dd9743bcf871c5e7e8fecd7f05dea607944426e102bdda8d49e137" },
    Wheel { package: Package::Nvvm, version: "13.5.37", sha256: "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070" },
    Wheel { package: Package::Nvcc, version: "13.0.88", sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03" },
    Wheel { package: Package::Nvcc, version: "13.5.37", sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7" },
    Wheel { package: Package::Crt, version: "13.0.88", sha256: "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4" },
    Wheel { package: Package::Crt, version: "13.5.37", sha256: "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29" },
    Wheel { package: Package::Runtime, version: "13.0.88", sha256: "422a38f7c739ecbdd3a4b6ec7ed0a1d74db43d8e9bc26685f3d845638922b178" },
    Wheel { package: Package::Runtime, version: "13.5.37", sha256: "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d" },
];

/// A compiler that is made of wheels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The device front end alone.
    Cicc,
    /// The driver with all that it runs.
    Nvcc,
}

impl Tool {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Cicc => "cicc",
            Tool::Nvcc => "nvcc",
        }
    }

    fn packages(self) -> &'static [Package] {
        match self {
            Tool::Cicc => &[Package::Nvvm],
            Tool::Nvcc => &[Package::Nvcc, Package::Nvvm, Package::Crt, Package::Runtime],
        }
    }

    /// The file that is the tool.
    fn file(self) -> &'static str {
        match self {
            Tool::Cicc => "nvidia/cu13/nvvm/bin/cicc",
            Tool::Nvcc => "nvidia/cu13/bin/nvcc",
        }
    }

    /// The wheels of a release.
    fn wheels(self, version: &str) -> Vec<&'static Wheel> {
        let of = |package: &Package| {
            WHEELS.iter().find(|wheel| wheel.package == *package && wheel.version == version)
        };
        self.packages().iter().filter_map(of).collect()
    }
}

/// The releases of a tool whose wheels are all known, oldest first.
pub fn releases(tool: Tool) -> Vec<&'static str> {
    let versions =
        WHEELS.iter().filter(|wheel| wheel.package == tool.packages()[0]).map(|wheel| wheel.version);
    versions.filter(|version| tool.wheels(version).len() == tool.packages().len()).collect()
}

/// Why a compiler could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The wheels are for another machine.
    #[error("NVIDIA's wheels are used for Linux on x86-64 only")]
    Platform,
    /// There is no Python.
    #[error("python3 with pip is needed to install it, and there is none in PATH")]
    NoPython,
    /// pip gave up.
    #[error("pip cannot install {0}: {1}")]
    Pip(String, String),
    /// The wheels do not hold what they should.
    #[error("the wheels of {0} hold no {1}")]
    Unexpected(String, &'static str),
    /// A program could not be run, or the installation was stopped on request.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The directory of releases cannot be written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// What is to be installed, for messages.
struct Named(Tool, &'static str);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name(), self.1)
    }
}

/// The file that is the tool, where it is installed.
pub fn installed(toolchains: &Toolchains, tool: Tool, version: &str) -> Option<PathBuf> {
    let path = folder(toolchains, tool, version).join(tool.file());
    path.is_file().then_some(path)
}

fn folder(toolchains: &Toolchains, tool: Tool, version: &str) -> PathBuf {
    toolchains.root().join(format!("{}-{version}", tool.name()))
}

/// Installs a tool, unless it is there, and gives the path of the file that it is.
///
/// The folder appears at once when all is done, so a run that is killed leaves no half of one; of two processes that
/// install the same at the same time, one finds the other's.
pub fn install(
    toolchains: &Toolchains,
    tool: Tool,
    version: &'static str,
    cancel: &Cancel,
    progress: &dyn Fn(&str),
) -> Result<PathBuf, InstallError> {
    if let Some(path) = installed(toolchains, tool, version) {
        return Ok(path);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(InstallError::Platform);
    }
    let name = Named(tool, version);
    let python = which::which("python3").map_err(|_| InstallError::NoPython)?;
    let file = |path: &Path| {
        let path = path.to_owned();
        move |source| InstallError::File { path, source }
    };
    let root = toolchains.root();
    fs::create_dir_all(root).map_err(file(root))?;
    let work = tempfile::Builder::new().prefix(".installing-").tempdir_in(root).map_err(file(root))?;
    let lines: String = tool
        .wheels(version)
        .iter()
        .map(|wheel| format!("{}=={} --hash=sha256:{}\n", wheel.package.name(), wheel.version, wheel.sha256))
        .collect();
    let requirements = work.path().join("requirements.txt");
    fs::write(&requirements, lines).map_err(file(&requirements))?;
    progress(&format!("downloading {name}"));
    let args = [
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-input",
        "--disable-pip-version-check",
        "--only-binary=:all:",
        "--no-compile",
        "--no-user",
        "--require-hashes",
        "--requirement=requirements.txt",
        "--target=tree",
    ];
    let invocation = Invocation {
        program: python,
        args: args.iter().map(Into::into).collect(),
        directory: Some(work.path().to_owned()),
        temporary: work.path().to_owned(),
    };
    let limits =
        Limits { time: Duration::from_secs(900), memory: u64::MAX, file: u64::MAX, ..Limits::default() };
    let finished = process::run(&invocation, &limits, cancel)?;
    if finished.end != End::Exited(0) {
        let said = finished.stderr.text();
        let last = said.lines().rev().find(|line| line.starts_with("ERROR:")).or(said.lines().next_back());
        let reason = last.unwrap_or("without a word").trim_start_matches("ERROR: ").to_owned();
        return Err(InstallError::Pip(name.to_string(), reason));
    }
    let tree = work.path().join("tree");
    if !tree.join(tool.file()).is_file() {
        return Err(InstallError::Unexpected(name.to_string(), tool.file()));
    }
    let place = folder(toolchains, tool, version);
    match fs::rename(&tree, &place) {
        Ok(()) => progress(&format!("installed {name} in {}", place.display())),
        // Somebody else was first, and what is there is whole.
        Err(_) if installed(toolchains, tool, version).is_some() => {}
        Err(source) => return Err(InstallError::File { path: place, source }),
    }
    installed(toolchains, tool, version)
        .ok_or_else(|| InstallError::Unexpected(name.to_string(), tool.file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete_and_in_order() {
        let numbers =
            |version: &str| version.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<_>>();
        for pair in WHEELS.windows(2) {
            if pair[0].package == pair[1].package {
                assert!(numbers(pair[0].version) < numbers(pair[1].version));
            }
        }
        assert!(WHEELS.iter().all(|wheel| wheel.sha256.len() == 64));
        let minors: Vec<_> = releases(Tool::Cicc).iter().map(|v| v.rsplit_once('.').unwrap().0).collect();
        assert_eq!(minors, ["13.0", "13.1", "13.2", "13.3", "13.4", "13.5"]);
        assert_eq!(releases(Tool::Nvcc), ["13.0.88", "13.5.37"]);
    }
}
