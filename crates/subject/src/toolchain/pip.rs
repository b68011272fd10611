//! Fetches wheels with pip, which knows how to download, check and unpack one, and the user's mirrors.

use std::fs;
use std::path::{Path, PathBuf};

use super::fetch::{InstallError, run};
use super::tools::Wheel;
use crate::process::Cancel;

/// A Python with pip.
pub(super) struct Pip(PathBuf);

impl Pip {
    /// The user's.
    pub(super) fn find(work: &Path, cancel: &Cancel) -> Result<Pip, InstallError> {
        let python = which::which("python3").map_err(|_| InstallError::NoPython)?;
        run(&python, &["-m", "pip", "--version"], work, cancel)?.map_err(InstallError::NoPip)?;
        Ok(Pip(python))
    }

    /// Installs these wheels and nothing else into a folder of this directory, which it gives.
    pub(super) fn fetch(
        &self,
        wheels: &[Wheel],
        work: &Path,
        cancel: &Cancel,
    ) -> Result<PathBuf, InstallError> {
        let requirements = work.join("requirements.txt");
        let line =
            |wheel: &Wheel| format!("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256);
        let lines: String = wheels.iter().map(line).collect();
        fs::write(&requirements, lines).map_err(InstallError::file(&requirements))?;
        let args = [
            "-m",
            "pip",
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
            "--target=wheels",
        ];
        let failed = |reason| {
            let names: Vec<String> = wheels.iter().map(Wheel::to_string).collect();
            InstallError::Pip { wheel: names.join(", "), reason }
        };
        run(&self.0, &args, work, cancel)?.map_err(failed)?;
        Ok(work.join("wheels"))
    }
}
