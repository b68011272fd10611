//! Fetches wheels with pip, which downloads, checks and unpacks them and respects the user's mirrors.

use std::fs;
use std::path::{Path, PathBuf};

use super::fetch::{InstallError, run};
use super::tools::Wheel;
use crate::process::Cancel;

/// A Python with pip.
pub(super) struct Pip(PathBuf);

impl Pip {
    /// Finds the user's Python.
    pub(super) fn find(work: &Path, cancel: &Cancel) -> Result<Pip, InstallError> {
        let python = which::which("python3").map_err(|_| InstallError::NoPython)?;
        run(&python, &["-m", "pip", "--version"], work, cancel)?.map_err(InstallError::NoPip)?;
        Ok(Pip(python))
    }

    /// Installs exactly these wheels into a folder of this directory, and returns the folder.
    pub(super) fn fetch(
        &self,
        wheels: &[Wheel],
        work: &Path,
        cancel: &Cancel,
    ) -> Result<PathBuf, InstallError> {
        let requirements = work.join("requirements.txt");
        let lines: String = wheels
            .iter()
            .map(|wheel| format!("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256))
            .collect();
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
            // Override the user's setting, which conflicts with --target.
            "--no-user",
            "--require-hashes",
            "--requirement=requirements.txt",
            "--target=wheels",
        ];
        match run(&self.0, &args, work, cancel)? {
            Ok(()) => Ok(work.join("wheels")),
            Err(reason) => {
                let names: Vec<String> = wheels.iter().map(Wheel::to_string).collect();
                Err(InstallError::Pip { wheel: names.join(", "), reason })
            }
        }
    }
}
