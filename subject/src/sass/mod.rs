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
use std::path::{Path, PathBuf};

use crate::cubin::code_sizes;
use crate::lister::{ListError, Lister};
use crate::observation::{Address, Output, Variables};
use crate::process::{Cancel, Start};
use crate::reached::{Reached, Tracing};
use crate::subject::Launch;
use crate::toolchain::{Tool, ToolKind, Toolchains};
use listing::Listing;
use machine::{Byte, Machine};
use value::{Root, Symbol, Wide, Word, wide};

/// The program `nvdisasm`.
#[derive(Clone, Debug)]
pub struct Disassembler(Lister);

impl Disassembler {
    /// The program at this path.
    pub fn new(program: impl Into<PathBuf>, cancel: Cancel) -> Self {
        // The analysis of data flow takes as long as all else, and is not used here.
        Disassembler(Lister::new(program.into(), "-ndf", cancel))
    }

    /// The newest that is installed, else the one in `$PATH`.
    pub fn find(toolchains: Option<&Toolchains>, cancel: &Cancel) -> Option<Self> {
        let installed =
            toolchains.and_then(|toolchains| toolchains.usable(Tool::newest(ToolKind::Nvdisasm)?).ok()?);
        let program = installed.or_else(|| which::which("nvdisasm").ok())?;
        Some(Disassembler::new(program, cancel.clone()))
    }

    /// The same, started in this way for each cubin.
    pub fn starting(self, start: Start) -> Self {
        Disassembler(self.0.starting(start))
    }

    /// The program.
    pub fn program(&self) -> &Path {
        self.0.program()
    }

    /// What kernels of a cubin reach over these numbers, by name. `variables` is what the cubin holds otherwise.
    pub fn trace(
        &self,
        cubin: &[u8],
        variables: &Variables,
        tracings: &[Tracing],
    ) -> Result<BTreeMap<String, Reached>, ListError> {
        let listing = match self.0.list(cubin) {
            Ok(text) => Ok(Listing::read(&text, &code_sizes(cubin))),
            Err(error @ ListError::Refused(..)) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        let reached = |tracing: &Tracing| {
            let machine = listing.as_ref().map_err(String::clone).and_then(|listing| {
                Machine::new(listing, variables, &tracing.kernel, Some(tracing)).map_err(|lost| lost.0)
            });
            let lost = |lost| Reached { lost: Some(lost), ..Reached::default() };
            (tracing.kernel.clone(), machine.map_or_else(lost, |machine| machine.trace(&tracing.kernel)))
        };
        Ok(tracings.iter().map(reached).collect())
    }

    /// What kernels of a cubin leave in their output buffers, by name. `variables` is what the cubin holds otherwise.
    pub fn observe(
        &self,
        cubin: &[u8],
        variables: &Variables,
        launches: &[Launch],
    ) -> Result<BTreeMap<String, Output>, ListError> {
        let listing = match self.0.list(cubin) {
            Ok(text) => Ok(Listing::read(&text, &code_sizes(cubin))),
            // It is the cubin's fault, or the program's, and no reason to end.
            Err(error @ ListError::Refused(..)) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
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
