//! The compilers under test. Each compiles units of many cases, one case a line.
//!
//! | subject | shows | does not show |
//! | --- | --- | --- |
//! | `cicc` | violations of the rule, by line; PTX of accepted cases | violations in a unit with ordinary C++ errors |
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
pub(crate) use batch::variable_numbers;
pub(crate) use clang::FLAGS as CLANG_FLAGS;
pub use messages::cut_short;
pub(crate) use open::clang_version;
pub use open::{CompilerSpec, OpenError, SubjectOptions, find_clang, open, parse_spec};

/// The identity of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerDescription {
    /// The specification that selects the compiler, with the release: `cicc@13.5`.
    pub id: String,
    /// The name of the program: `cicc`, `nvcc`, `nvrtc` or `clang`.
    pub name: &'static str,
    /// The version that the compiler states, or that was installed.
    pub version: String,
    /// The origin of the code. The compilers of one lineage are not independent of each other.
    pub lineage: &'static str,
}

/// An error that a compiler reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The line of the unit, from 0; `None` if the error names no line.
    pub line: Option<usize>,
    /// The text of the error.
    pub message: String,
    /// Whether this compiler reports a violation of the rule in such words.
    pub is_of_rule: bool,
}

/// The output of a compiler for a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerOutput {
    /// The errors, in the order of the output.
    pub complaints: Vec<Complaint>,
    /// The reason why the run ended early, if it did.
    pub cut_short: Option<Cut>,
    /// The PTX, if it was requested and produced.
    pub ptx: Option<String>,
}

/// The reason why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The compiler crashed: an internal error or a signal.
    Crashed(String),
    /// The compiler was stopped at the time limit.
    TimedOut,
}

/// The result for one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The compiler accepts the case.
    Accepted,
    /// The compiler rejects the case because of the rule.
    Refused(String),
    /// The compiler rejects the case as invalid C++. The case or our model of the compiler is wrong.
    IllFormed(String),
    /// The compiler crashes.
    Crashed(String),
    /// The compiler exceeds the time limit.
    TimedOut,
}

/// A compiler that compiles cases. Implementations must run everything that may crash in another process.
pub trait Compiler: Send + Sync {
    /// The identity of the compiler.
    fn description(&self) -> &CompilerDescription;

    /// Whether the compiler supports this version of C++.
    fn supports(&self, _standard: Standard) -> bool {
        true
    }

    /// Compiles a unit: the declarations of the annotations, and these lines. With `ptx`, also generates PTX
    /// with all device functions.
    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool)
    -> Result<CompilerOutput, CompilerError>;

    /// Returns the command of a shell that prints the PTX of a unit; `{source}` stands for its file. A variable of
    /// the environment names the compiler: `NVCC`, `NVRTC` (its library), `CLANG` or `GXX`. The command of NVRTC
    /// needs `nvrtc.py`, which bundles of findings have.
    fn ptx_command(&self, standard: Standard) -> String;

    /// Whether an ordinary C++ error in a unit hides violations of the rule. That is so for NVIDIA's front
    /// end.
    fn is_blinded_by_ordinary_errors(&self) -> bool {
        self.description().lineage == LINEAGE
    }

    /// Whether the compiler knows `__builtin_offsetof`. If not, [`compile`](Compiler::compile) replaces it by a
    /// number with all bits set.
    fn knows_offsets(&self) -> bool {
        true
    }

    /// Whether the compiler can generate PTX that shows how the rule was applied.
    fn makes_ptx(&self) -> bool {
        self.description().lineage == LINEAGE
    }
}

/// An error of this machine or of our code that prevents a run. Errors of the compiler are no errors here.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// The process could not be run, or was stopped on request.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// A file or directory of ours could not be created.
    #[error("cannot {doing}: {source}")]
    File {
        /// The failed action, as a verb phrase.
        doing: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The preprocessor for `cicc` failed on our own text.
    #[error("the preprocessor failed: {0}")]
    Preprocessor(String),
}

impl CompilerError {
    /// Whether the run was stopped on request.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, CompilerError::Process(process::ProcessError::Cancelled(_)))
    }
}

/// The beginning of a unit for compilers that read no header of CUDA.
pub const PRELUDE: &str = "\
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((managed))
";

/// The name of a unit in messages. cicc does not accept a much shorter name for its input.
const UNIT: &str = "unit.cu";
