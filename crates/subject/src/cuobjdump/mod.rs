//! A second reader of cubins, which parses the output of NVIDIA's `cuobjdump -elf`.
//!
//! It shares no code with [`crate::cubin`] and identifies relocations by name, so that the two check each
//! other: if they disagree on a cubin, one of them is wrong. `cargo xtask compare-readers` compares them on
//! thousands of cubins. It is too slow to observe with: one process for each cubin costs more than the
//! assembler itself.

mod text;

use std::path::PathBuf;

use crate::lister::{ListError, Lister};
use crate::process::Cancel;
use ptxsmith_model::Variables;

pub use text::{MAX_ZEROS, read, read_within};

/// Why a listing could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A line does not have the form expected at its position in the listing.
    #[error("line {line} is not as expected: {text:?}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// The listing contains no cubin, or several.
    #[error("the text lists {0} cubins, not one")]
    NotOneCubin(u32),
    /// The listing contradicts itself.
    #[error("the text contradicts itself: {0}")]
    Contradiction(String),
    /// A relocation has a name that this reader does not support.
    #[error("relocation {kind} at {place} is not known to this reader")]
    UnknownRelocation {
        /// Name of the relocation.
        kind: String,
        /// Section and offset of the relocation.
        place: String,
    },
    /// A variable is in a section that this reader does not support.
    #[error("variable `{symbol}` is in section {section}, which is not known to this reader")]
    UnknownSection {
        /// Name of the variable.
        symbol: String,
        /// The section and its type.
        section: String,
    },
    /// The variables need more than [`MAX_ZEROS`] bytes of storage.
    #[error("with variable `{0}` there is more storage than this reader takes")]
    TooLarge(String),
}

/// Why a cubin could not be read with cuobjdump.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CuobjdumpError {
    /// The program could not list the cubin.
    #[error(transparent)]
    List(#[from] ListError),
    /// The program's output could not be parsed.
    #[error("cannot read what cuobjdump printed: {0}")]
    Text(#[from] TextError),
}

/// The program `cuobjdump`.
#[derive(Clone, Debug)]
pub struct Cuobjdump(Lister);

impl Cuobjdump {
    /// Creates a reader that uses the program at this path.
    pub fn new(program: impl Into<PathBuf>, cancel: Cancel) -> Self {
        Cuobjdump(Lister::new(program.into(), "-elf", cancel))
    }

    /// Reads every variable of a cubin with its bytes and addresses, by name.
    pub fn read(&self, cubin: &[u8]) -> Result<Variables, CuobjdumpError> {
        Ok(read(&self.list(cubin)?)?)
    }

    /// Returns the program's listing of a cubin.
    pub fn list(&self, cubin: &[u8]) -> Result<String, ListError> {
        self.0.list(cubin)
    }
}

#[cfg(test)]
mod tests;
