//! Installs a release with pip, or with apt if only Debian publishes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::debian::Package;
use super::fetch::InstallError;
use super::pip::Pip;
use super::{PackageSource, Release, Tool, Toolchains, Verified, record};
use crate::open::UnavailableKind;
use crate::process::{self, Cancel};
use crate::ptxas;
use crate::regular;

/// Prefix of the folders in which an installation is in progress; the name of the final folder and a unique
/// suffix follow.
const INSTALLING: &str = ".installing-";

impl Toolchains {
    /// Installs a release unless it is present, and returns the path of its ptxas; see
    /// [`Toolchains::install_tool`].
    pub fn install(
        &self,
        release: &Release,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, InstallError> {
        self.install_tool(&Tool::from(release), cancel, progress)
    }

    /// Installs one of NVIDIA's products unless it is present, and returns the path of its program or
    /// library.
    ///
    /// Each package is checked against its hash in [`TOOLS`](super::TOOLS) or [`RELEASES`](super::RELEASES).
    /// Only the files in use and the licence are kept. The folder of the release appears atomically at the
    /// end, so a killed installation leaves no partial release. Several processes may install at the same
    /// time; the second waits for the first. `progress` receives messages for the user.
    pub fn install_tool(
        &self,
        tool: &Tool,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, InstallError> {
        self.install_anew(tool, false, cancel, progress)
    }

    /// Installs as [`install_tool`](Toolchains::install_tool) does. With `repair`, also replaces an installed
    /// file whose hash differs from the one recorded at its installation.
    pub fn install_anew(
        &self,
        tool: &Tool,
        repair: bool,
        cancel: &Cancel,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, InstallError> {
        let place = self.root().join(tool.folder());
        self.remove_leftovers();
        if let Some(path) = self.installed_before(tool, repair)? {
            return Ok(path);
        }
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(InstallError::Platform);
        }
        fs::create_dir_all(self.root()).map_err(InstallError::file(self.root()))?;
        let _lock = self.lock(&tool.folder(), cancel, progress)?;
        // The previous holder of the lock may have installed it.
        if let Some(path) = self.installed_before(tool, repair)? {
            return Ok(path);
        }
        let work = tempfile::Builder::new()
            .prefix(&format!("{INSTALLING}{}-", tool.folder()))
            .tempdir_in(self.root())
            .map_err(InstallError::file(self.root()))?;
        let name = tool.wheel().to_string();
        let unpacked = match tool.source {
            PackageSource::PyPi => {
                let pip = Pip::find(work.path(), cancel)?;
                progress(&format!("downloading {name}"));
                pip.fetch(&tool.wheels(), work.path(), cancel)?
            }
            PackageSource::Debian { suite, version } => {
                progress(&format!("downloading {name}"));
                let package = Package { name: tool.package, version, suite, sha256: tool.sha256 };
                package.fetch(work.path(), cancel)?
            }
        };

        let file = unpacked.join(tool.member);
        if !file.is_file() {
            return Err(unexpected(tool, format!("there is no {}", tool.member)));
        }
        if tool.kind.states_its_version() {
            check_version(tool, &file, cancel)?;
        }
        let kept = if tool.runs_others() {
            unpacked
        } else {
            keep(&unpacked, &file, &work.path().join("kept"), tool.place())?
        };
        let file = kept.join(tool.place());
        record::write(&kept, &file).map_err(InstallError::file(&file))?;
        if place.exists() {
            // The file is missing or differs.
            fs::remove_dir_all(&place).map_err(InstallError::file(&place))?;
        }
        fs::rename(&kept, &place).map_err(InstallError::file(&place))?;
        progress(&format!("installed {name} in {}", place.display()));
        self.tool_path(tool).ok_or_else(|| unexpected(tool, "it is gone again".to_owned()))
    }

    /// Returns the path of a tool that need not be installed. With `repair`, a file that differs from the
    /// installed one does not count.
    fn installed_before(&self, tool: &Tool, repair: bool) -> Result<Option<PathBuf>, InstallError> {
        if repair {
            Ok(self.tool_path(tool).filter(|_| self.verified(tool) == Some(Verified::Same)))
        } else {
            Ok(self.usable(tool)?)
        }
    }

    /// Removes the remains of killed installations. Each installation works in its own folder and holds a
    /// lock while it runs.
    fn remove_leftovers(&self) {
        let entries = fs::read_dir(self.root()).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(INSTALLING)) else { continue };
            let is_left = match rest.rsplit_once('-') {
                Some((folder, _)) => {
                    regular::open_lock(&self.lock_of(folder)).is_ok_and(|lock| lock.try_lock().is_ok())
                }
                // Named as in earlier versions of ptxsmith. No installation takes a day.
                None => entry.metadata().and_then(|of| of.modified()).is_ok_and(|modified| {
                    modified.elapsed().is_ok_and(|age| age > Duration::from_secs(86_400))
                }),
            };
            if is_left {
                // A folder that cannot be removed only wastes space.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn lock_of(&self, folder: &str) -> PathBuf {
        self.root().join(format!(".lock-{folder}"))
    }

    /// Locks one release against other processes. The lock is released when the file is closed, also by a
    /// crash.
    fn lock(&self, folder: &str, cancel: &Cancel, progress: &dyn Fn(&str)) -> Result<File, InstallError> {
        let path = self.lock_of(folder);
        let file = regular::open_lock(&path).map_err(InstallError::file(&path))?;
        let mut has_reported = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                // The file system has no locks: the rename at the end still keeps installations apart.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(file);
                }
                Err(TryLockError::Error(reason)) => return Err(InstallError::File { path, reason }),
                Err(TryLockError::WouldBlock) => {}
            }
            if cancel.is_cancelled() {
                return Err(process::ProcessError::Cancelled(path).into());
            }
            if !has_reported {
                progress(&format!("waiting for another process that installs {folder}"));
                has_reported = true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Checks that the version that a program reports is the version of its package.
fn check_version(tool: &Tool, program: &Path, cancel: &Cancel) -> Result<(), InstallError> {
    let banner = match ptxas::ask(program, "--version", cancel) {
        Err(unavailable) if unavailable.kind == UnavailableKind::Cancelled => {
            return Err(process::ProcessError::Cancelled(program.to_owned()).into());
        }
        answer => answer.map_err(|error| unexpected(tool, error.to_string()))?,
    };
    match ptxas::banner_version(&banner) {
        Some(version) if version == tool.version => Ok(()),
        other => Err(unexpected(tool, format!("it says that it is version {other:?}"))),
    }
}

/// Creates the error for a package that does not hold what it should.
fn unexpected(tool: &Tool, reason: String) -> InstallError {
    InstallError::Unexpected { wheel: tool.wheel().to_string(), reason }
}

/// Moves the files to keep into a folder and returns the folder: the program or library, and the licence
/// under which the user has it.
fn keep(wheel: &Path, file: &Path, kept: &Path, place: &str) -> Result<PathBuf, InstallError> {
    let place = kept.join(place);
    let folder = place.parent().unwrap_or(kept);
    fs::create_dir_all(folder).map_err(InstallError::file(folder))?;
    fs::rename(file, &place).map_err(InstallError::file(file))?;
    let licenses = licenses(wheel).map_err(InstallError::file(wheel))?;
    for license in licenses.iter().filter(|license| license.is_file()) {
        fs::rename(license, kept.join("License.txt")).map_err(InstallError::file(license))?;
    }
    Ok(kept.to_owned())
}

/// Returns the possible locations of licences. A wheel has `X.dist-info/License.txt`, a newer wheel
/// `X.dist-info/licenses/License.txt`, a Debian package `usr/share/doc/PACKAGE/copyright`.
fn licenses(package: &Path) -> io::Result<Vec<PathBuf>> {
    let mut licenses = Vec::new();
    for entry in fs::read_dir(package.join("usr/share/doc")).into_iter().flatten() {
        licenses.push(entry?.path().join("copyright"));
    }
    for entry in fs::read_dir(package)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "dist-info") {
            licenses.extend([path.join("licenses/License.txt"), path.join("License.txt")]);
        }
    }
    Ok(licenses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::ToolKind;

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
    fn a_compiler_of_cuda_is_found_where_it_was_installed_with_all_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let tool = Tool::find(ToolKind::Cicc, "13.5").unwrap();
        let path = directory.path().join("cicc-13.5.37/nvidia/cu13/nvvm/bin/cicc");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let toolchains = Toolchains::at(directory.path());
        let found = toolchains.install_tool(tool, &Cancel::new(), &|_| panic!("nothing to do")).unwrap();
        assert_eq!(found, path);
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
        assert_eq!(keep(&wheel, &wheel.join("a/bin/ptxas"), &kept, "bin/ptxas").unwrap(), kept);
        assert!(kept.join("bin/ptxas").is_file() && kept.join("License.txt").is_file());
        assert_eq!(fs::read_dir(kept.join("bin")).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_installation_left_is_removed_and_what_one_works_in_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path());
        for name in ["12.9.86-AbCdEf", "13.5.37-AbCdEf", "cuobjdump-13.5.37-AbCdEf"] {
            fs::create_dir(directory.path().join(format!("{INSTALLING}{name}"))).unwrap();
        }
        let working = toolchains.lock("cuobjdump-13.5.37", &Cancel::new(), &|_| ()).unwrap();
        toolchains.remove_leftovers();
        let left = || {
            let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().starts_with(INSTALLING)).count()
        };
        assert_eq!(left(), 1);
        drop(working);
        toolchains.remove_leftovers();
        assert_eq!(left(), 0);
    }

    #[test]
    fn a_second_installation_waits_and_can_be_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path());
        let cancel = Cancel::new();
        let first = toolchains.lock("12.9.86", &cancel, &|_| panic!("nothing to wait for")).unwrap();
        let second = toolchains.lock("12.9.86", &cancel, &|_| cancel.cancel());
        assert!(matches!(second, Err(InstallError::Process(process::ProcessError::Cancelled(_)))));
        drop(first);
        assert!(toolchains.lock("12.9.86", &Cancel::new(), &|_| ()).is_ok());
    }
}
