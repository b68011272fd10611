//! Tests initial values from CUDA C++ or LLVM's IR to PTX: does a compiler print the values that the source
//! specifies?
//!
//! [`generate`] creates C++ globals ([`source`]) that consist of scalars with known values. A compiler prints
//! them as PTX, with their layout and a kernel that reads each scalar ([`ask`]). [`witness`] extracts the
//! values from the PTX with the oracle, [`host`] compiles the same source with the host's compilers, and
//! [`judge`] compares the results. [`ir`] does so for LLVM's IR: its own layout takes the place of the
//! kernel, and llc for x86-64 that of the host's compilers.

pub mod ask;
pub mod check;
pub mod dialect;
pub mod gcc;
pub mod generate;
pub mod host;
pub mod ir;
pub mod judge;
pub mod judged;
pub mod ledger;
pub mod listed;
mod literals;
pub mod reduce;
pub mod shape;
pub mod source;
mod variants;
pub mod witness;

/// A failure of this machine or our code, never of the compiler under test.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A CUDA compiler could not be run.
    #[error(transparent)]
    Compiler(#[from] ptxsmith_cuda::subjects::CompilerError),
    /// A host compiler could not be run.
    #[error(transparent)]
    Process(#[from] ptxsmith_subject::process::ProcessError),
    /// The directory of a run could not be used.
    #[error("cannot use a directory for one run: {0}")]
    Directory(std::io::Error),
}

impl EmitError {
    /// Returns true if the run was stopped on request.
    pub fn is_cancelled(&self) -> bool {
        match self {
            EmitError::Compiler(error) => error.is_cancelled(),
            EmitError::Process(error) => {
                matches!(error, ptxsmith_subject::process::ProcessError::Cancelled(_))
            }
            EmitError::Directory(_) => false,
        }
    }
}
