//! Determines the output of kernels from generated code, without a device.
//!
//! `nvdisasm` lists the code of relocatable output with symbolic relocations. A small machine executes it on
//! one thread, over numbers; addresses are recovered by running it under several layouts. It is not an
//! emulator: it supports the code that ptxas generates for a handful of PTX instructions, and if a kernel
//! contains anything else, its output counts as unknown. Every value that it reports is exact: a value that
//! depends on anything unknown is reported as unknown.

mod constants;
mod exchange;
mod layouts;
mod listing;
mod machine;
mod modifiers;
mod operand;
mod operation;
mod recent;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::cubin::{code_sections, is_32_bit};
use crate::lister::{ListError, Lister};
use crate::process::{Cancel, Start};
use crate::subject::{Launch, Memory};
use crate::toolchain::{Tool, ToolKind, Toolchains};
use layouts::AddressLayout;
use listing::CodeListing;
use machine::{FixedAddresses, SassMachine};
use ptxsmith_model::{Output, Reached, Space, Tracing, Variables};
use recent::Recent;

/// The program `nvdisasm`, in one release or several, because each release supports only the targets of its
/// time.
#[derive(Clone, Debug)]
pub struct Disassembler(Vec<DisassemblerRelease>);

/// One release of nvdisasm.
#[derive(Clone, Debug)]
struct DisassemblerRelease {
    lister: Lister,
    /// The targets that it supports, queried on first use; assumed to be all if it does not list them.
    targets: Arc<OnceLock<Vec<String>>>,
    recent: Arc<Recent>,
}

impl DisassemblerRelease {
    fn list(&self, cubin: &[u8]) -> Result<CodeListing, ListError> {
        let text = self.lister.list(cubin)?;
        let sections = code_sections(cubin).into_iter();
        let sizes = sections.map(|(name, code)| (name, code.len() as u64)).collect();
        Ok(CodeListing::read(&text, &sizes))
    }

    /// Whether it supports this target.
    fn knows(&self, target: &str) -> bool {
        let known =
            self.targets.get_or_init(|| self.lister.help().map_or_else(Vec::new, |help| targets(&help)));
        known.is_empty() || known.iter().any(|known| known == target)
    }
}

/// Parses the targets in the output of `--help`, written as `'SM80'`.
fn targets(help: &str) -> Vec<String> {
    let quoted = help.split('\'').filter_map(|word| word.strip_prefix("SM"));
    quoted
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .map(|rest| format!("sm_{rest}"))
        .collect()
}

impl Disassembler {
    /// Creates a disassembler from the program at this path.
    pub fn new(program: impl Into<PathBuf>, cancel: Cancel) -> Self {
        Disassembler(vec![Disassembler::release(program.into(), cancel)])
    }

    fn release(program: PathBuf, cancel: Cancel) -> DisassemblerRelease {
        // `-ndf` disables data flow analysis, which is not used here and takes as long as everything else.
        DisassemblerRelease {
            lister: Lister::new(program, "-ndf", cancel),
            targets: Arc::default(),
            recent: Arc::default(),
        }
    }

    /// Finds the newest installed release; the one in `$PATH` serves targets that it does not support.
    pub fn find(toolchains: Option<&Toolchains>, cancel: &Cancel) -> Option<Self> {
        let installed =
            toolchains.and_then(|toolchains| toolchains.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
        let programs = installed.into_iter().chain(which::which("nvdisasm").ok());
        let releases: Vec<DisassemblerRelease> =
            programs.map(|program| Disassembler::release(program, cancel.clone())).collect();
        (!releases.is_empty()).then_some(Disassembler(releases))
    }

    /// Returns the disassembler with another way to start the program for each cubin.
    pub fn starting(self, start: Start) -> Self {
        let mut releases = self.0;
        for release in &mut releases {
            release.lister = release.lister.clone().starting(start.clone());
        }
        Disassembler(releases)
    }

    /// Returns the listing of a cubin for this target; the inner error says why it is not available.
    fn list(&self, cubin: &[u8], target: &str) -> Result<Result<Arc<CodeListing>, String>, ListError> {
        if is_32_bit(cubin) {
            return Ok(Err("how code holds addresses of 32 bits is not modelled".to_owned()));
        }
        let Some(release) = self.0.iter().find(|release| release.knows(target)) else {
            return Ok(Err(format!("no nvdisasm that is here knows {target}")));
        };
        match release.recent.listing(cubin, || release.list(cubin)) {
            Ok(listing) => Ok(Ok(listing)),
            // The cubin or nvdisasm is at fault; continue without a listing.
            Err(error @ ListError::Refused(..)) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Returns the offsets in the constant bank that each kernel of each linked cubin reads, without kernels
    /// that compute an offset. The code of all cubins is listed in one run: most of the time of nvdisasm does
    /// not depend on how much it lists.
    pub fn constant_reads(
        &self,
        cubins: &[&[u8]],
        target: &str,
    ) -> Result<Vec<BTreeMap<String, BTreeSet<u64>>>, ListError> {
        let without = vec![BTreeMap::new(); cubins.len()];
        let Some(release) = self.0.iter().find(|release| release.knows(target)) else { return Ok(without) };
        let code: Vec<BTreeMap<String, &[u8]>> = cubins.iter().map(|cubin| code_sections(cubin)).collect();
        let distinct: BTreeSet<&[u8]> = code.iter().flat_map(BTreeMap::values).copied().collect();
        if distinct.is_empty() {
            return Ok(without);
        }
        let all: Vec<u8> = distinct.iter().copied().flatten().copied().collect();
        let architecture = target.replace("sm_", "SM");
        let text = match release.lister.list_with(&["-b", &architecture], &all) {
            Ok(text) => text,
            // One of them may be at fault.
            Err(ListError::Refused(..)) if cubins.len() > 1 => {
                let alone = cubins.chunks(1).map(|cubin| self.constant_reads(cubin, target));
                return Ok(alone.collect::<Result<Vec<_>, _>>()?.concat());
            }
            // The code or nvdisasm is at fault; continue without a listing.
            Err(ListError::Refused(..)) => return Ok(without),
            Err(error) => return Err(error),
        };
        let reads = constants::constant_reads(&text, &distinct);
        let mut by_cubin = Vec::with_capacity(cubins.len());
        for sections in &code {
            let known = sections.iter().filter_map(|(section, code)| {
                Some((section.strip_prefix(".text.")?.to_owned(), reads.get(code)?.clone()))
            });
            by_cubin.push(known.collect());
        }
        Ok(by_cubin)
    }

    /// Returns what each kernel of a cubin reaches over the given numbers, by kernel name. `variables` are
    /// the other contents of the cubin.
    pub fn trace(
        &self,
        cubin: &[u8],
        target: &str,
        variables: &Variables,
        tracings: &[Tracing],
    ) -> Result<BTreeMap<String, Reached>, ListError> {
        let listing = self.list(cubin, target)?;
        let mut by_kernel = BTreeMap::new();
        for tracing in tracings {
            let machine = listing.as_ref().map_err(String::clone).and_then(|listing| {
                SassMachine::new(listing, variables, tracing, FixedAddresses::default())
                    .map_err(|lost| lost.0)
            });
            let reached = match machine {
                Ok(machine) => machine.run().0,
                Err(reason) => Reached { lost: Some(reason), ..Reached::default() },
            };
            by_kernel.insert(tracing.kernel.clone(), reached);
        }
        Ok(by_kernel)
    }

    /// Returns the memory after each run, in order. A run is an error if any part of the kernel's code cannot
    /// be followed.
    pub fn compute(
        &self,
        cubin: &[u8],
        target: &str,
        variables: &Variables,
        runs: &[Tracing],
    ) -> Result<Vec<Result<Memory, String>>, ListError> {
        let listing = self.list(cubin, target)?;
        let memories = runs.iter().map(|run| {
            let listing = listing.as_ref().map_err(String::clone)?;
            memory_after(listing, variables, run)
        });
        Ok(memories.collect())
    }

    /// Returns the output buffers of kernels of a cubin, by kernel name. `variables` are the other contents
    /// of the cubin.
    pub fn observe(
        &self,
        cubin: &[u8],
        target: &str,
        variables: &Variables,
        launches: &[Launch],
    ) -> Result<BTreeMap<String, Output>, ListError> {
        let listing = self.list(cubin, target)?;
        let mut layouts = listing.as_ref().map(|listing| AddressLayout::create_all(listing, variables));
        let mut by_kernel = BTreeMap::new();
        for launch in launches {
            let output = match &mut layouts {
                Ok(layouts) => layouts::observe(layouts, launch),
                Err(reason) => Err(reason.clone()),
            };
            let output = output.unwrap_or_else(|reason| Output {
                size: launch.out,
                reason: Some(reason),
                ..Output::default()
            });
            by_kernel.insert(launch.kernel.clone(), output);
        }
        Ok(by_kernel)
    }
}

/// Runs a kernel over numbers and returns the memory that it leaves.
fn memory_after(listing: &CodeListing, variables: &Variables, run: &Tracing) -> Result<Memory, String> {
    let machine =
        SassMachine::new(listing, variables, run, FixedAddresses::default()).map_err(|lost| lost.0)?;
    let (reached, skipped) = machine.run();
    match skipped.or(reached.lost) {
        Some(why) => Err(why),
        None => known_bytes(reached.written).ok_or_else(|| "it stores a value that is not known".to_owned()),
    }
}

/// Returns the bytes that were written outside `.local`, if all of them are known.
fn known_bytes(written: BTreeMap<(Space, u64), Option<u8>>) -> Option<Memory> {
    let shared = written.into_iter().filter(|((space, _), _)| *space != Space::Local);
    shared.map(|(place, byte)| Some((place, byte?))).collect()
}

#[cfg(test)]
mod tests;
