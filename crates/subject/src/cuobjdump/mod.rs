//! A second reader of cubins: through the text that NVIDIA's `cuobjdump -elf` prints.
//!
//! It shares no code with [`crate::cubin`] and knows relocations by their names, so that the two check each other: where
//! they tell different things of one cubin, one of them is wrong. `cargo xtask compare-readers` makes them read thousands.
//! It is no way to observe: one process a cubin costs more than the assembler itself.

mod text;

use std::path::PathBuf;

use crate::lister::{ListError, Lister};
use crate::process::Cancel;
use ptxsmith_model::Variables;

pub use text::{MAX_ZEROS, read, read_within};

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A line that does not have the form that its place in the listing asks for.
    #[error("line {line} is not as expected: {text:?}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// The text lists no cubin, or several.
    #[error("the text lists {0} cubins, not one")]
    NotOneCubin(u32),
    /// What the text says cannot be.
    #[error("the text contradicts itself: {0}")]
    Contradiction(String),
    /// A relocation of a name that this reader does not know.
    #[error("relocation {kind} at {place} is not known to this reader")]
    UnknownRelocation {
        /// Its name.
        kind: String,
        /// Its section and offset.
        place: String,
    },
    /// A variable in a section that this reader does not know.
    #[error("variable `{symbol}` is in section {section}, which is not known to this reader")]
    UnknownSection {
        /// The variable.
        symbol: String,
        /// The section and its kind.
        section: String,
    },
    /// More storage than [`MAX_ZEROS`].
    #[error("with variable `{0}` there is more storage than this reader takes")]
    TooLarge(String),
}

/// Why a cubin could not be read with cuobjdump.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not list it.
    #[error(transparent)]
    List(#[from] ListError),
    /// The program printed what this reader cannot read.
    #[error("cannot read what cuobjdump printed: {0}")]
    Text(#[from] TextError),
}

/// The program `cuobjdump`.
#[derive(Clone, Debug)]
pub struct Cuobjdump(Lister);

impl Cuobjdump {
    /// The program at this path.
    pub fn new(program: impl Into<PathBuf>, cancel: Cancel) -> Self {
        Cuobjdump(Lister::new(program.into(), "-elf", cancel))
    }

    /// Every variable of a cubin with its bytes and addresses, by name.
    pub fn read(&self, cubin: &[u8]) -> Result<Variables, Error> {
        Ok(read(&self.list(cubin)?)?)
    }

    /// What the program prints of a cubin.
    pub fn list(&self, cubin: &[u8]) -> Result<String, ListError> {
        self.0.list(cubin)
    }
}

#[cfg(test)]
mod tests;
