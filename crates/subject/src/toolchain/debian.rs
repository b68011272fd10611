//! Fetches a Debian package with apt, which finds, downloads and authenticates it and respects the user's proxies.
//!
//! apt works in a private directory: it changes nothing in the system and needs no privileges.

use std::fs;
use std::path::{Path, PathBuf};

use super::fetch::{self, InstallError};
use crate::process::Cancel;
use crate::ptxas;

/// The keyring that authenticates Debian's package list.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A Debian package.
pub(super) struct Package {
    pub name: &'static str,
    pub version: &'static str,
    /// The Debian release that contains it.
    pub suite: &'static str,
    pub sha256: &'static str,
}

impl Package {
    /// Downloads the package and unpacks it into a folder of this directory.
    pub(super) fn fetch(&self, work: &Path, cancel: &Cancel) -> Result<PathBuf, InstallError> {
        let failed = |reason: String| InstallError::Apt {
            package: format!("{} {}", self.name, self.version),
            suite: self.suite,
            reason,
        };
        if !Path::new(KEYRING).is_file() {
            return Err(failed(format!(
                "there is no {KEYRING}, which Debian and its package for others has"
            )));
        }
        let config = self.configuration(work)?;
        let run = |program: &str, args: &[&str]| -> Result<(), InstallError> {
            let program =
                which::which(program).map_err(|_| failed(format!("there is no {program} in PATH")))?;
            fetch::run(&program, args, work, cancel)?.map_err(failed)
        };
        let config = config.to_string_lossy();
        run("apt-get", &["-c", &config, "--quiet", "update"])?;
        let wanted = format!("{}={}", self.name, self.version);
        run("apt-get", &["-c", &config, "--quiet", "download", &wanted])?;
        let file = self.downloaded(work)?.ok_or_else(|| failed("apt-get left no file".to_owned()))?;
        let sha256 = ptxas::sha256(&file).map_err(InstallError::file(&file))?;
        if sha256 != self.sha256 {
            return Err(failed(format!("its hash is {sha256}, not {}", self.sha256)));
        }
        let unpacked = work.join("package");
        run("dpkg-deb", &["--extract", &file.to_string_lossy(), &unpacked.to_string_lossy()])?;
        Ok(unpacked)
    }

    /// Writes a configuration that confines apt to this directory.
    fn configuration(&self, work: &Path) -> Result<PathBuf, InstallError> {
        let write = |name: &str, text: String| {
            let path = work.join(name);
            fs::write(&path, text).map_err(InstallError::file(&path)).map(|()| path)
        };
        for folder in ["lists/partial", "cache/archives/partial"] {
            let path = work.join(folder);
            fs::create_dir_all(&path).map_err(InstallError::file(&path))?;
        }
        let source =
            format!("deb [signed-by={KEYRING}] http://deb.debian.org/debian {} non-free\n", self.suite);
        let sources = write("sources.list", source)?;
        let work = work.display();
        write(
            "apt.conf",
            format!(
                "Dir::Etc::sourcelist \"{}\";\nDir::Etc::sourceparts \"/dev/null\";\nDir::State::lists \"{work}/lists\";\n\
                 Dir::Cache \"{work}/cache\";\nDir::State::status \"/dev/null\";\n",
                sources.display()
            ),
        )
    }

    /// Returns the downloaded file.
    fn downloaded(&self, work: &Path) -> Result<Option<PathBuf>, InstallError> {
        let entries = fs::read_dir(work).map_err(InstallError::file(work))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "deb");
        Ok(paths.into_iter().find(is_package))
    }
}
