//! Initial values from source to PTX: do compilers print what the source says?
//!
//! [`generate`] makes globals of C++ ([`source`]) whose scalars have known values. A compiler prints them as PTX, with their layout and a kernel
//! that reads each scalar ([`ask`]); [`witness`] is what the oracle reads of that PTX, [`host`] what the host's compilers make of the same
//! source, and [`judge`] the verdict.

pub mod ask;
pub mod check;
pub mod generate;
pub mod host;
pub mod judge;
pub mod judged;
pub mod ledger;
pub mod listed;
pub mod reduce;
pub mod shape;
pub mod source;
mod variants;
pub mod witness;

/// Why something could not be asked: this machine or our code, never a compiler.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A compiler of CUDA.
    #[error(transparent)]
    Compiler(#[from] ptxsmith_cuda::subjects::Error),
    /// A compiler of the host.
    #[error(transparent)]
    Process(#[from] ptxsmith_subject::process::Error),
    /// The directory of a run.
    #[error("cannot use a directory for one run: {0}")]
    Directory(std::io::Error),
}

impl Error {
    /// Whether the run was stopped on request.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Error::Compiler(error) => error.is_cancelled(),
            Error::Process(error) => matches!(error, ptxsmith_subject::process::Error::Cancelled(_)),
            Error::Directory(_) => false,
        }
    }
}
