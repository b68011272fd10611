//! Opens ptxas by the names that users write.

use std::path::Path;

use super::Ptxas;
use crate::open::{OpenOptions, Opened, Unavailable, UnavailableKind, single_subject};
use crate::sass::Disassembler;
use crate::toolchain::{self, DEFAULT, PtxasOrigin, Release, ReleaseStatus, Tool};

impl Ptxas {
    /// Opens the program at this path as the subject called `id`.
    pub(crate) fn open_at(id: String, path: &Path, options: &OpenOptions<'_>) -> Result<Ptxas, Unavailable> {
        let ptxas = Ptxas::open(id, path, options.limits.clone(), options.cancel.clone())?;
        let disassembler = Disassembler::find(options.toolchains().ok().as_ref(), &options.cancel);
        ptxas.disassembling(disassembler).starting(options.start.clone()).giving(&options.added_options)
    }

    /// Opens a release by name; it is installed if it is missing and the options allow that.
    pub(crate) fn open_release(
        release: &'static Release,
        options: &OpenOptions<'_>,
    ) -> Result<Ptxas, Unavailable> {
        let toolchains = options.toolchains()?;
        let name = release.name();
        let path = options.installed(
            &toolchains,
            &Tool::from(release),
            || format!("release {name} is not installed: ptxsmith toolchain install {name}"),
            || toolchains.install(release, &options.cancel, options.progress),
        )?;
        Ptxas::open_at(format!("ptxas@{name}"), &path, options)
    }

    /// Opens the default release, for a user who names none
    /// ([`Toolchains::find_default`](crate::toolchain::Toolchains)).
    pub(crate) fn open_default(options: &OpenOptions<'_>) -> Result<Ptxas, Unavailable> {
        let found = match &options.toolchains {
            Some(toolchains) => toolchains.find_default(),
            None => toolchain::find_default(),
        };
        match found {
            Some(found) => match found.origin {
                PtxasOrigin::Installed(release) => Ptxas::open_release(release, options),
                PtxasOrigin::CudaHome | PtxasOrigin::CudaPath | PtxasOrigin::Path => {
                    Ptxas::open_at(format!("ptxas:{}", found.path.display()), &found.path, options)
                }
            },
            None if options.install => {
                let default = Release::find(DEFAULT)
                    .map_err(|error| Unavailable::new(UnavailableKind::NotFound, error.to_string()))?;
                Ptxas::open_release(default, options)
            }
            None => Err(Unavailable::new(
                UnavailableKind::NotInstalled,
                format!(
                    "no ptxas is installed, nor in CUDA_HOME, CUDA_PATH or PATH: \
                     ptxsmith toolchain install {DEFAULT}"
                ),
            )),
        }
    }

    /// Opens every installed release, oldest first.
    pub(crate) fn open_every_release(options: &OpenOptions<'_>) -> Opened {
        let mut installed = options.toolchains()?.list();
        installed.retain(|listed| listed.path.is_some());
        if installed.is_empty() {
            let reason = format!("no release is installed: ptxsmith toolchain install {DEFAULT}");
            return Err(Unavailable::new(UnavailableKind::NotInstalled, reason));
        }
        // Each of these hashes a program of some 40 MB.
        std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(installed.len());
            for ReleaseStatus { release, .. } in &installed {
                threads.push(scope.spawn(move || single_subject(Ptxas::open_release(release, options))));
            }
            let mut subjects = Vec::with_capacity(threads.len());
            for thread in threads {
                let opened = thread.join().unwrap_or_else(|_| {
                    Err(Unavailable::new(UnavailableKind::Machine, "opening it panicked"))
                });
                subjects.extend(opened?);
            }
            Ok(subjects)
        })
    }
}
