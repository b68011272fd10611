//! Installs a release through pip, which knows how to download, check and unpack a wheel, and the user's mirrors; what is
//! published by Debian alone, through apt.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::debian::Package;
use super::{Release, Source, Tool, ToolKind, Toolchains};
use crate::process::{self, Cancel, End, Invocation, Limits};
use crate::ptxas;

/// Why a release could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The wheels are for another machine.
    #[error(
        "NVIDIA's wheels are used for Linux on x86-64 only: elsewhere name a ptxas by its path, `ptxas:/path`"
    )]
    Platform,
    /// There is no Python.
    #[error("python3 is needed to install a release, and there is none in PATH")]
    NoPython,
    /// There is a Python without pip.
    #[error("python3 -m pip is needed to install a release, and does not run: {0}")]
    NoPip(String),
    /// pip gave up.
    #[error("pip cannot install {wheel}: {reason}")]
    Pip {
        /// What was to be installed: package and version.
        wheel: String,
        /// pip's last error line.
        reason: String,
    },
    /// apt gave up.
    #[error("apt cannot fetch {package} from Debian {suite}: {reason}")]
    Apt {
        /// What was to be fetched: package and version.
        package: String,
        /// The release of Debian.
        suite: &'static str,
        /// Its last error line.
        reason: String,
    },
    /// The wheel was installed, but what it holds is not what was asked for.
    #[error("{wheel} is not as expected: {reason}")]
    Unexpected {
        /// What was installed: package and version.
        wheel: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program could not be run, or the installation was cancelled.
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

impl InstallError {
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> InstallError {
        let path = path.to_owned();
        move |source| InstallError::File { path: path.clone(), source }
    }
}

/// For pip and apt: no limit but on time. A package has some 40 MB.
pub(super) fn limits() -> Limits {
    Limits { time: Duration::from_secs(900), memory: u64::MAX, file: u64::MAX, ..Limits::default() }
}

/// One file of one package, and where it goes.
struct Wheel {
    source: Source,
    package: &'static str,
    version: &'static str,
    sha256: &'static str,
    /// The file's path in the wheel.
    member: &'static str,
    /// The folder, among those of other releases.
    folder: String,
    /// The file's path in that folder.
    place: &'static str,
}

impl Wheel {
    fn of_release(release: &'static Release) -> Wheel {
        Wheel {
            source: Source::PyPi,
            package: release.package,
            version: release.version,
            sha256: release.sha256,
            member: release.ptxas,
            folder: release.version.to_owned(),
            place: "bin/ptxas",
        }
    }

    fn of_tool(tool: &'static Tool) -> Wheel {
        Wheel {
            source: tool.source,
            package: tool.package,
            version: tool.version,
            sha256: tool.sha256,
            member: tool.member,
            folder: tool_folder(tool),
            place: tool.kind.place(),
        }
    }

    fn name(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    fn unexpected(&self, reason: String) -> InstallError {
        InstallError::Unexpected { wheel: self.name(), reason }
    }

    /// What a program of the wheel says its version is must be the wheel's.
    fn check_version(
        &self,
        program: &Path,
        version_in: fn(&str) -> Option<String>,
        cancel: &Cancel,
    ) -> Result<(), InstallError> {
        let banner = match ptxas::ask(program, "--version", cancel) {
            Err(ptxas::OpenError::Process(error)) if matches!(error, process::Error::Cancelled(_)) => {
                return Err(error.into());
            }
            answer => answer.map_err(|error| self.unexpected(error.to_string()))?,
        };
        match version_in(&banner) {
            Some(version) if version == self.version => Ok(()),
            other => Err(self.unexpected(format!("it says that it is version {other:?}"))),
        }
    }
}

/// The folder of a tool among those of releases.
pub(super) fn tool_folder(tool: &Tool) -> String {
    format!("{}-{}", tool.kind.name(), tool.version)
}

impl Toolchains {
    /// Installs a release, unless it is there, and gives the path of its ptxas.
    ///
    /// pip checks the wheel against the hash in [`RELEASES`](super::RELEASES). Only ptxas and the licence are kept.
    /// The folder of the release appears at once when all is done: a run that is killed leaves no half of one. Several
    /// processes may install at the same time; the second waits for the first. `progress` is told what happens, in
    /// sentences for people.
    pub fn install(
        &self,
        release: &'static Release,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, InstallError> {
        let wheel = Wheel::of_release(release);
        self.install_wheel(&wheel, cancel, progress, &|program| {
            wheel.check_version(program, ptxas::parse_version, cancel)
        })
    }

    /// Installs another product of NVIDIA's in the same way, and gives the path of its program or library.
    pub fn install_tool(
        &self,
        tool: &'static Tool,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, InstallError> {
        let wheel = Wheel::of_tool(tool);
        self.install_wheel(&wheel, cancel, progress, &|file| match tool.kind {
            ToolKind::Cuobjdump | ToolKind::Nvdisasm => {
                wheel.check_version(file, ptxas::banner_version, cancel)
            }
            // A library tells its version to those who load it.
            ToolKind::NvJitLink | ToolKind::PtxJit => Ok(()),
        })
    }

    fn install_wheel(
        &self,
        wheel: &Wheel,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
        check: &dyn Fn(&Path) -> Result<(), InstallError>,
    ) -> Result<PathBuf, InstallError> {
        let place = self.root().join(&wheel.folder);
        let there = || Some(place.join(wheel.place)).filter(|path| path.is_file());
        if let Some(path) = there() {
            return Ok(path);
        }
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(InstallError::Platform);
        }
        fs::create_dir_all(self.root()).map_err(InstallError::file(self.root()))?;
        let _lock = self.lock(&wheel.folder, cancel, progress)?;
        // Whoever had the lock may have installed it.
        if let Some(path) = there() {
            return Ok(path);
        }
        let work = tempfile::Builder::new()
            .prefix(".installing-")
            .tempdir_in(self.root())
            .map_err(InstallError::file(self.root()))?;
        let downloading = || progress(&format!("downloading {}", wheel.name()));
        let unpacked = match wheel.source {
            Source::PyPi => {
                let python = which::which("python3").map_err(|_| InstallError::NoPython)?;
                let pip = Pip { python, work: work.path(), cancel };
                pip.check()?;
                downloading();
                pip.install(wheel)?
            }
            Source::Debian { suite, version } => {
                downloading();
                let package = Package { name: wheel.package, version, suite, sha256: wheel.sha256 };
                package.fetch(work.path(), cancel)?
            }
        };

        let file = unpacked.join(wheel.member);
        if !file.is_file() {
            return Err(wheel.unexpected(format!("there is no {}", wheel.member)));
        }
        check(&file)?;

        let kept = work.path().join("kept");
        keep(&unpacked, &file, &kept.join(wheel.place), &kept)?;
        if place.exists() {
            // Without the file, or it would have been found: what is left of a folder that somebody took apart.
            fs::remove_dir_all(&place).map_err(InstallError::file(&place))?;
        }
        fs::rename(&kept, &place).map_err(InstallError::file(&place))?;
        progress(&format!("installed {} in {}", wheel.name(), place.display()));
        there().ok_or_else(|| wheel.unexpected("it is gone again".to_owned()))
    }

    /// A lock on one release among processes; given back when the file is closed, also by a crash.
    fn lock(&self, folder: &str, cancel: &Cancel, progress: &dyn Fn(&str)) -> Result<File, InstallError> {
        let path = self.root().join(format!(".lock-{folder}"));
        let file = File::create(&path).map_err(InstallError::file(&path))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                // A file system without locks: the rename at the end still keeps installations apart.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(file);
                }
                Err(TryLockError::Error(source)) => return Err(InstallError::File { path, source }),
                Err(TryLockError::WouldBlock) => {}
            }
            if cancel.is_cancelled() {
                return Err(process::Error::Cancelled(path).into());
            }
            if !told {
                progress(&format!("waiting for another process that installs {folder}"));
                told = true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

struct Pip<'a> {
    python: PathBuf,
    work: &'a Path,
    cancel: &'a Cancel,
}

impl Pip<'_> {
    fn run(&self, args: &[&str]) -> Result<process::Finished, InstallError> {
        let mut all = vec!["-m".into(), "pip".into()];
        all.extend(args.iter().map(Into::into));
        let invocation = Invocation {
            program: self.python.clone(),
            args: all,
            directory: Some(self.work.to_owned()),
            temporary: self.work.to_owned(),
        };
        Ok(process::run(&invocation, &limits(), self.cancel)?)
    }

    fn check(&self) -> Result<(), InstallError> {
        let finished = self.run(&["--version"])?;
        if finished.end == End::Exited(0) {
            return Ok(());
        }
        Err(InstallError::NoPip(last_error(&finished)))
    }

    /// Installs the wheel alone and gives the directory that holds what was in it.
    fn install(&self, wheel: &Wheel) -> Result<PathBuf, InstallError> {
        let requirements = self.work.join("requirements.txt");
        let line = format!("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256);
        fs::write(&requirements, line).map_err(InstallError::file(&requirements))?;
        let finished = self.run(&[
            "install",
            "--no-deps",
            "--no-input",
            "--disable-pip-version-check",
            "--only-binary=:all:",
            "--no-compile",
            // A setting of the user that does not go with --target.
            "--no-user",
            "--require-hashes",
            "--requirement=requirements.txt",
            "--target=wheel",
        ])?;
        if finished.end == End::Exited(0) {
            return Ok(self.work.join("wheel"));
        }
        Err(InstallError::Pip { wheel: wheel.name(), reason: last_error(&finished) })
    }
}

/// The last error of pip or apt, or whatever it said last.
pub(super) fn last_error(finished: &process::Finished) -> String {
    if finished.end == End::TimedOut {
        return format!("no end after {:?}", limits().time);
    }
    let text = finished.stderr.text();
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // "No matching distribution found" is what pip says last when it could not reach the index: then the cause is in
    // the warning before it.
    let network = lines().rfind(|line| line.contains("connection broken by"));
    let error = lines().rfind(|line| line.starts_with("ERROR:") || line.starts_with("E:"));
    let said = match (network, error) {
        (Some(network), Some(error)) if error.contains("No matching distribution") => Some(network),
        (_, error) => error.or_else(|| lines().next_back()),
    };
    let said = said.map(|line| {
        line.trim_start_matches("ERROR:").trim_start_matches("E:").trim_start_matches("WARNING:").trim()
    });
    said.map_or_else(|| format!("{:?} without a word", finished.end), str::to_owned)
}

/// Moves what is worth keeping: the file, and the licence under which the user has it.
fn keep(wheel: &Path, file: &Path, place: &Path, kept: &Path) -> Result<(), InstallError> {
    let folder = place.parent().unwrap_or(kept);
    fs::create_dir_all(folder).map_err(InstallError::file(folder))?;
    fs::rename(file, place).map_err(InstallError::file(file))?;
    // `X.dist-info/License.txt`, in newer wheels `X.dist-info/licenses/License.txt`.
    let directories = || -> io::Result<Vec<PathBuf>> {
        let mut directories = Vec::new();
        for entry in fs::read_dir(wheel)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "dist-info") {
                directories.extend([path.join("licenses"), path]);
            }
        }
        Ok(directories)
    };
    // Debian's: `usr/share/doc/PACKAGE/copyright`.
    for entry in fs::read_dir(wheel.join("usr/share/doc")).into_iter().flatten().flatten() {
        let license = entry.path().join("copyright");
        if license.is_file() {
            fs::rename(&license, kept.join("License.txt")).map_err(InstallError::file(&license))?;
        }
    }
    for directory in directories().map_err(InstallError::file(wheel))? {
        let license = directory.join("License.txt");
        if license.is_file() {
            fs::rename(&license, kept.join("License.txt")).map_err(InstallError::file(&license))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Captured;

    fn failed(stderr: &str) -> process::Finished {
        process::Finished {
            end: End::Exited(1),
            stdout: Captured::default(),
            stderr: Captured { bytes: stderr.into(), dropped: 0 },
            wall: Duration::ZERO,
        }
    }

    #[test]
    fn an_error_is_one_line_of_what_pip_said() {
        let text = "WARNING: something\nERROR: first\nERROR: Hashes differ\n\nnotice\n";
        assert_eq!(last_error(&failed(text)), "Hashes differ");
        assert_eq!(
            last_error(&failed("/usr/bin/python3: No module named pip\n")),
            "/usr/bin/python3: No module named pip"
        );
        assert_eq!(last_error(&failed("")), "Exited(1) without a word");
    }

    #[test]
    fn without_a_network_the_cause_is_told() {
        let text = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(x)': /simple/\n\
                    ERROR: Could not find a version that satisfies the requirement x\n\
                    ERROR: No matching distribution found for x\n";
        assert_eq!(
            last_error(&failed(text)),
            "Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(x)': /simple/"
        );
    }

    #[test]
    fn an_installed_release_is_not_installed_again() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path());
        let release = Release::find("12.9").unwrap();
        fs::create_dir_all(directory.path().join("12.9.86/bin")).unwrap();
        fs::write(directory.path().join("12.9.86/bin/ptxas"), "").unwrap();
        let path = toolchains.install(release, &Cancel::new(), &|_| panic!("nothing to do")).unwrap();
        assert_eq!(path, directory.path().join("12.9.86/bin/ptxas"));
    }

    #[test]
    fn a_wheel_is_reduced_to_the_program_and_its_licence() {
        let directory = tempfile::tempdir().unwrap();
        let wheel = directory.path().join("wheel");
        for path in ["a/bin/ptxas", "a/bin/nvcc", "x.dist-info/licenses/License.txt"] {
            let path = wheel.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let kept = directory.path().join("kept");
        keep(&wheel, &wheel.join("a/bin/ptxas"), &kept.join("bin/ptxas"), &kept).unwrap();
        assert!(kept.join("bin/ptxas").is_file() && kept.join("License.txt").is_file());
        assert_eq!(fs::read_dir(kept.join("bin")).unwrap().count(), 1);
    }

    #[test]
    fn a_second_installation_waits_and_can_be_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path());
        let cancel = Cancel::new();
        let first = toolchains.lock("12.9.86", &cancel, &|_| panic!("nobody to wait for")).unwrap();
        let second = toolchains.lock("12.9.86", &cancel, &|_| cancel.cancel());
        assert!(matches!(second, Err(InstallError::Process(process::Error::Cancelled(_)))));
        drop(first);
        assert!(toolchains.lock("12.9.86", &Cancel::new(), &|_| ()).is_ok());
    }
}
