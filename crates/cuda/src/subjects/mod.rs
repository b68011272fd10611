//! Compilers: what each can and cannot tell, and how cases are shown to it.
//!
//! | subject | tells | does not tell |
//! | --- | --- | --- |
//! | `cicc` | the rule, line by line; the PTX of what it accepts | what an ordinary C++ error in the same unit hides |
//! | `nvcc` | the same, with NVIDIA's own headers and preprocessing | the same |
//! | `nvrtc` | the same as `nvcc`, as a library | the same |
//! | `clang` | uses that it cannot emit code for; ordinary C++ errors | the rule: it gives constants device copies |

mod batch;
mod cicc;
mod clang;
mod messages;
mod nvcc;
mod nvrtc;
mod open;
mod program;
pub mod ptx;

use ptxsmith_subject::{process, ptxas::LINEAGE};

use crate::language::Standard;

pub use batch::show;
pub(crate) use batch::variables;
pub(crate) use clang::FLAGS as CLANG_FLAGS;
pub use messages::cut_short;
pub(crate) use open::clang_version;
pub use open::{OpenError, Options, Spec, find_clang, open, parse_spec};

/// What is known of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// As it was asked for, with the release: `cicc@13.5`.
    pub id: String,
    /// Which compiler: `cicc`, `nvcc`, `nvrtc` or `clang`.
    pub name: &'static str,
    /// Its version, as it states it or as it was installed.
    pub version: String,
    /// Who built it: compilers of one lineage count as one vote.
    pub lineage: &'static str,
}

/// One error of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The line of the unit, from 0; `None` where it names none.
    pub line: Option<usize>,
    /// What it says.
    pub message: String,
    /// Whether it is what this compiler says where it keeps a host variable out of device code.
    pub is_of_rule: bool,
}

/// What one run of a compiler over one unit gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its errors, in its order.
    pub complaints: Vec<Complaint>,
    /// Why the run did not come to its end: an internal error, a signal, the time limit.
    pub cut_short: Option<Cut>,
    /// The PTX, where it was asked for and made.
    pub ptx: Option<String>,
}

/// How a run was cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The compiler failed.
    Crashed(String),
    /// It was killed at the time limit.
    TimedOut,
}

/// What a compiler says of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// It takes it.
    Accepted,
    /// It refuses it for the rule's sake.
    Refused(String),
    /// It refuses it as ordinary C++: the case, or the compiler, is not what we think.
    IllFormed(String),
    /// It fails on it.
    Crashed(String),
    /// It hangs on it.
    TimedOut,
}

/// A compiler that cases are shown to. Implementations must run whatever may fail in another process.
pub trait Compiler: Send + Sync {
    /// What is known of it.
    fn description(&self) -> &Description;

    /// Whether it knows this version of the language.
    fn takes(&self, _standard: Standard) -> bool {
        true
    }

    /// Compiles a unit: the prelude that declares the annotations, and these lines. With `ptx` it also makes PTX that
    /// keeps every device function.
    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool) -> Result<Answer, Error>;

    /// Whether an ordinary error of C++ keeps it from telling errors of the rule, as NVIDIA's front end is kept.
    fn is_blinded_by_ordinary_errors(&self) -> bool {
        self.description().lineage == LINEAGE
    }

    /// Whether it makes PTX.
    fn makes_ptx(&self) -> bool {
        self.description().lineage == LINEAGE
    }
}

/// Why a compiler could not be asked: this machine or our code, never the compiler.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process could not be run, or was stopped on request.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// A file of ours could not be written or read.
    #[error("cannot {doing}: {source}")]
    File {
        /// What.
        doing: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The preprocessor that feeds `cicc` failed on our own text.
    #[error("the preprocessor failed: {0}")]
    Preprocessor(String),
}

impl Error {
    /// Whether the run was stopped on request.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Error::Process(process::Error::Cancelled(_)))
    }
}

/// What a unit begins with where no header of CUDA is read.
pub const PRELUDE: &str = "\
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
";

/// The name under which compilers know a unit. Not shorter: cicc knows its input by a name of some length.
const UNIT: &str = "unit.cu";
