//! Fetches a Debian package with apt, which finds, downloads and authenticates it and respects the user's
//! proxies.
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
        if !Path::new(KEYRING).is_file() {
            let reason = format!("there is no {KEYRING}, which Debian and its package for others has");
            return Err(self.failure(reason));
        }
        let config = self.configuration(work)?;
        let config = config.to_string_lossy();
        self.run("apt-get", &["-c", &config, "--quiet", "update"], work, cancel)?;
        let wanted = format!("{}={}", self.name, self.version);
        self.run("apt-get", &["-c", &config, "--quiet", "download", &wanted], work, cancel)?;
        let file = self.downloaded(work)?.ok_or_else(|| self.failure("apt-get left no file".to_owned()))?;
        let sha256 = ptxas::sha256(&file).map_err(InstallError::file(&file))?;
        if sha256 != self.sha256 {
            return Err(self.failure(format!("its hash is {sha256}, not {}", self.sha256)));
        }
        let unpacked = work.join("package");
        let args = ["--extract", &file.to_string_lossy(), &unpacked.to_string_lossy()];
        self.run("dpkg-deb", &args, work, cancel)?;
        Ok(unpacked)
    }

    fn run(&self, program: &str, args: &[&str], work: &Path, cancel: &Cancel) -> Result<(), InstallError> {
        let program =
            which::which(program).map_err(|_| self.failure(format!("there is no {program} in PATH")))?;
        fetch::run(&program, args, work, cancel)?.map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: String) -> InstallError {
        let package = format!("{} {}", self.name, self.version);
        InstallError::Apt { package, suite: self.suite, reason }
    }

    /// Writes a configuration that confines apt to this directory.
    fn configuration(&self, work: &Path) -> Result<PathBuf, InstallError> {
        for folder in ["lists/partial", "cache/archives/partial"] {
            let path = work.join(folder);
            fs::create_dir_all(&path).map_err(InstallError::file(&path))?;
        }
        let source =
            format!("deb [signed-by={KEYRING}] http://deb.debian.org/debian {} non-free\n", self.suite);
        let sources = work.join("sources.list");
        fs::write(&sources, source).map_err(InstallError::file(&sources))?;
        let (lists, cache) = (work.join("lists"), work.join("cache"));
        let settings = [
            ("Dir::Etc::sourcelist", &*sources),
            ("Dir::Etc::sourceparts", Path::new("/dev/null")),
            ("Dir::State::lists", &lists),
            ("Dir::Cache", &cache),
            ("Dir::State::status", Path::new("/dev/null")),
        ];
        let lines = settings.map(|(name, path)| format!("{name} \"{}\";\n", path.display()));
        let config = work.join("apt.conf");
        fs::write(&config, lines.concat()).map_err(InstallError::file(&config))?;
        Ok(config)
    }

    /// Returns the downloaded file.
    fn downloaded(&self, work: &Path) -> Result<Option<PathBuf>, InstallError> {
        let entries = fs::read_dir(work).map_err(InstallError::file(work))?;
        let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(paths.find(|path| path.extension().is_some_and(|extension| extension == "deb")))
    }
}
