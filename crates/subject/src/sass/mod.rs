//! What kernels leave in their output buffers, read from generated code, without a device.
//!
//! `nvdisasm` prints the code of relocatable output with its relocations by name. A small machine executes it on one
//! thread, over the variables that the cubin holds, with addresses as symbols. It is no emulator: it knows what ptxas
//! makes of a handful of PTX instructions, and where something else comes, nothing of that kernel was seen. What it
//! claims to see is exact: a value that depends on anything that is not known is not seen.

mod listing;
mod machine;
mod operation;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::cubin::{code_sizes, is_of_32_bits};
use crate::lister::{ListError, Lister};
use crate::process::{Cancel, Start};
use crate::subject::Launch;
use crate::toolchain::{Tool, ToolKind, Toolchains};
use listing::Listing;
use machine::{Byte, Machine};
use ptxsmith_model::{Address, Output, Variables};
use ptxsmith_model::{Reached, Tracing};
use value::{Root, Symbol, Wide, Word, wide};

/// The program `nvdisasm`, of one release or several: each knows the targets of its time.
#[derive(Clone, Debug)]
pub struct Disassembler(Vec<Release>);

/// One release of it.
#[derive(Clone, Debug)]
struct Release {
    lister: Lister,
    /// The targets that it knows, once it was asked; all where it does not say.
    targets: Arc<OnceLock<Vec<String>>>,
}

impl Release {
    /// Whether it knows this target.
    fn knows(&self, target: &str) -> bool {
        let known =
            self.targets.get_or_init(|| self.lister.help().map_or_else(Vec::new, |help| targets(&help)));
        known.is_empty() || known.iter().any(|known| known == target)
    }
}

/// The targets that `--help` lists, as `'SM80'`.
fn targets(help: &str) -> Vec<String> {
    let quoted = help.split('\'').filter_map(|word| word.strip_prefix("SM"));
    quoted
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .map(|rest| format!("sm_{rest}"))
        .collect()
}

impl Disassembler {
    /// The program at this path.
    pub fn new(program: impl Into<PathBuf>, cancel: Cancel) -> Self {
        Disassembler(vec![Disassembler::release(program.into(), cancel)])
    }

    fn release(program: PathBuf, cancel: Cancel) -> Release {
        // The analysis of data flow takes as long as all else, and is not used here.
        Release { lister: Lister::new(program, "-ndf", cancel), targets: Arc::default() }
    }

    /// The newest that is installed, and the one in `$PATH` for what that does not know.
    pub fn find(toolchains: Option<&Toolchains>, cancel: &Cancel) -> Option<Self> {
        let installed =
            toolchains.and_then(|toolchains| toolchains.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
        let programs = installed.into_iter().chain(which::which("nvdisasm").ok());
        let releases: Vec<Release> =
            programs.map(|program| Disassembler::release(program, cancel.clone())).collect();
        (!releases.is_empty()).then_some(Disassembler(releases))
    }

    /// The same, started in this way for each cubin.
    pub fn starting(self, start: Start) -> Self {
        let starting = |one: Release| Release { lister: one.lister.starting(start.clone()), ..one };
        Disassembler(self.0.into_iter().map(starting).collect())
    }

    /// What code a cubin for this target has, or why that cannot be seen.
    fn list(&self, cubin: &[u8], target: &str) -> Result<Result<Listing, String>, ListError> {
        if is_of_32_bits(cubin) {
            return Ok(Err("how code holds addresses of 32 bits is not modelled".to_owned()));
        }
        let Some(release) = self.0.iter().find(|release| release.knows(target)) else {
            return Ok(Err(format!("no nvdisasm that is here knows {target}")));
        };
        match release.lister.list(cubin) {
            Ok(text) => Ok(Ok(Listing::read(&text, &code_sizes(cubin)))),
            // It is the cubin's fault, or the program's, and no reason to end.
            Err(error @ ListError::Refused(..)) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// What kernels of a cubin for this target reach over these numbers, by name. `variables` is what the cubin holds otherwise.
    pub fn trace(
        &self,
        cubin: &[u8],
        target: &str,
        variables: &Variables,
        tracings: &[Tracing],
    ) -> Result<BTreeMap<String, Reached>, ListError> {
        let listing = self.list(cubin, target)?;
        let reached = |tracing: &Tracing| {
            let machine = listing.as_ref().map_err(String::clone).and_then(|listing| {
                Machine::new(listing, variables, &tracing.kernel, Some(tracing)).map_err(|lost| lost.0)
            });
            let lost = |lost| Reached { lost: Some(lost), ..Reached::default() };
            (tracing.kernel.clone(), machine.map_or_else(lost, |machine| machine.trace(&tracing.kernel)))
        };
        Ok(tracings.iter().map(reached).collect())
    }

    /// What kernels of a cubin for this target leave in their output buffers, by name. `variables` is what the cubin holds otherwise.
    pub fn observe(
        &self,
        cubin: &[u8],
        target: &str,
        variables: &Variables,
        launches: &[Launch],
    ) -> Result<BTreeMap<String, Output>, ListError> {
        let listing = self.list(cubin, target)?;
        let seen = |launch: &Launch| {
            let seen = listing.as_ref().map_err(String::clone);
            let seen = seen.and_then(|listing| execute(listing, variables, launch));
            let unseen = |reason| Output { size: launch.out, reason: Some(reason), ..Output::default() };
            (launch.kernel.clone(), seen.unwrap_or_else(unseen))
        };
        Ok(launches.iter().map(seen).collect())
    }
}

fn execute(listing: &Listing, variables: &Variables, launch: &Launch) -> Result<Output, String> {
    let machine = Machine::new(listing, variables, &launch.kernel, None).map_err(|lost| lost.0)?;
    let memory = machine.run(&launch.kernel).map_err(|lost| lost.0)?;
    let Ok(size) = usize::try_from(launch.out) else { return Err("a buffer of that size".to_owned()) };
    if memory.keys().any(|&at| at < 0 || at as u64 >= launch.out) {
        return Err("it writes outside of its buffer".to_owned());
    }
    Ok(output(&memory, size))
}

/// The buffer as it was left: numbers, and addresses where two halves of one lie side by side.
fn output(memory: &BTreeMap<i64, Byte>, size: usize) -> Output {
    let zero = Byte { word: Word::Known(0), nth: 0 };
    let at = |at: usize| memory.get(&(at as i64)).unwrap_or(&zero);
    let word = |start: usize| {
        let bytes = (0..4).map(|nth| (start + nth < size).then(|| at(start + nth)));
        let whole = bytes.enumerate().all(|(nth, byte)| {
            byte.is_some_and(|byte| usize::from(byte.nth) == nth && byte.word == at(start).word)
        });
        whole.then(|| at(start).word.clone())
    };
    let (mut bytes, mut seen, mut addresses) = (vec![0; size], vec![0; size], Vec::new());
    let mut here = 0;
    while here < size {
        if let Some(value) = machine::value(at(here)) {
            (bytes[here], seen[here]) = (value, 0xff);
            here += 1;
            continue;
        }
        let low = word(here);
        let found = match (&low, word(here + 4)) {
            (Some(low @ Word::Low(_)), Some(high)) => match wide(low, &high) {
                Wide::Address(symbol) if !symbol.is_small() => Some((symbol, 8)),
                _ => None,
            },
            _ => None,
        };
        let found = found.or_else(|| match low {
            Some(Word::Low(symbol)) if symbol.is_small() => Some((symbol, 4)),
            _ => None,
        });
        let Some((address, width)) = found
            .and_then(|(symbol, width)| Some((address(&symbol, here as u64, width)?, usize::from(width))))
        else {
            here += 1;
            continue;
        };
        seen[here..here + width].fill(0xff);
        addresses.push(address);
        here += width;
    }
    Output { size: size as u64, bytes: Some(bytes), seen: Some(seen), addresses, reason: None }
}

fn address(symbol: &Symbol, offset: u64, width: u8) -> Option<Address> {
    let (name, generic) = match &symbol.root {
        Root::Variable { name, .. } => (name, symbol.root.small().map(|_| symbol.generic)),
        Root::Function(name) => (name, None),
        Root::Output | Root::Stack | Root::Zero(_) | Root::Window(_) => return None,
    };
    Some(Address { offset, width, symbol: name.to_string(), addend: symbol.addend, generic, byte: None })
}

#[cfg(test)]
mod tests;
