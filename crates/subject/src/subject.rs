//! The interface between ptxsmith and an implementation under test.

use std::collections::BTreeMap;

use ptxsmith_syntax::Module;
use serde::{Deserialize, Serialize};

use crate::process;
use crate::unanswered::Unanswered;
use ptxsmith_model::{Observation, OutputForm, Space, Tracing};

/// The value of `"schema"` in the JSON form of a [`Description`].
pub const DESCRIPTION_SCHEMA: &str = "ptxsmith.subject/1";

/// A variable to report, for implementations that cannot list the variables of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedVariable {
    /// Name of the variable.
    pub name: String,
    /// State space without the dot.
    pub space: String,
    /// Size in bytes.
    pub size: u64,
}

/// A kernel to run once the module is accepted, by an implementation that can run kernels.
///
/// The kernel has one parameter, `.param .u64`: the address of an output buffer in global memory. It runs on
/// one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: String,
    /// Size of its output buffer in bytes. The buffer is zero before the kernel runs.
    pub out: u64,
}

/// One module to show to an implementation.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The source text of the module.
    pub ptx: &'a str,
    /// The target to assemble for, usually the module's own `.target`: `sm_80`.
    pub target: &'a str,
    /// The variables of interest. An implementation that lists its variables reports all of them regardless.
    pub read: &'a [RequestedVariable],
    /// The kernels to run; [`Observation::kernels`] holds their output. An implementation that cannot run
    /// kernels reports what it can determine without running them.
    pub launch: &'a [Launch],
    /// The kernels to run over numbers. [`Observation::reached`] reports what they reach, if the
    /// implementation shows its code.
    pub trace: &'a [Tracing],
    /// The form of output. An implementation that produces only one form ignores this.
    pub form: OutputForm,
    /// Further modules, which a linker links after this one, in this order. Other implementations look at the
    /// first module only.
    pub with: &'a [&'a str],
    /// The modules to link into one relocatable object first, if the implementation can
    /// ([`Subject::links_in_stages`]).
    pub stage: Option<Stage>,
}

/// Neighbouring modules of a request that are linked to one relocatable object first, as `nvlink -r` does.
/// The object replaces them in the order of the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage {
    /// Index of the first module of the stage.
    pub first: usize,
    /// Number of modules in the stage.
    pub count: usize,
}

impl<'a> Request<'a> {
    /// Creates a request for an executable that names neither variables nor kernels.
    pub fn new(ptx: &'a str, target: &'a str) -> Self {
        Request {
            ptx,
            target,
            read: &[],
            launch: &[],
            trace: &[],
            form: OutputForm::Executable,
            with: &[],
            stage: None,
        }
    }

    /// Creates a request in the output form that shows the contents of all variables of `module`, whose
    /// source text is `ptx`.
    pub fn showing(module: &Module, ptx: &'a str, target: &'a str) -> Self {
        Request::new(ptx, target).in_form(OutputForm::showing(module))
    }

    /// Returns the request with the output form replaced.
    pub fn in_form(self, form: OutputForm) -> Self {
        Request { form, ..self }
    }

    /// Returns the request with the kernels to run replaced.
    pub fn launching(self, launch: &'a [Launch]) -> Self {
        Request { launch, ..self }
    }
}

/// Description of an implementation. A field is `None` if the implementation does not report it.
///
/// The JSON form is the answer to `CMD --describe` (with `"schema"`, [`DESCRIPTION_SCHEMA`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The user's notation for the subject: `ptxas@13.5`, `exec:mine --flag`. Empty in the answer to
    /// `--describe`.
    #[serde(default)]
    pub id: String,
    /// Name of the implementation: `ptxas`.
    #[serde(default)]
    pub name: String,
    /// Version of the implementation: `13.5.37`.
    #[serde(default)]
    pub version: Option<String>,
    /// Implementations of one lineage share code and count as one vote in a summary.
    #[serde(default)]
    pub lineage: Option<String>,
    /// The highest `.version` that it accepts: `9.5`.
    #[serde(default)]
    pub max_ptx: Option<String>,
    /// The targets that it accepts: `sm_80`. Empty if it does not report them.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Whether it reports addresses as relocations; `false` if it reads them back from memory.
    #[serde(default)]
    pub relocations: Option<bool>,
    /// Whether it reports the contents of variables; `false` if it only accepts and rejects, as a parser
    /// does.
    #[serde(default)]
    pub values: Option<bool>,
    /// Whether it lists all variables of a module by itself. If not, the request names them
    /// ([`Request::read`]).
    #[serde(default)]
    pub lists: Option<bool>,
    /// The options that the user adds. The same implementation with other options is another subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Path of the program, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// SHA-256 of the program, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The machine that it runs on, as names and values: `device`, `compute capability`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
}

impl Description {
    /// Whether addresses are read back from memory, where they are plain numbers.
    pub fn reads_memory(&self) -> bool {
        self.relocations == Some(false)
    }
}

/// One implementation under test.
///
/// Several threads may call [`observe`](Subject::observe) at once.
///
/// # For implementors
///
/// - Everything that the implementation under test does is an [`Observation`]: a rejection, a crash, a hang,
///   output that makes no sense. A crash keeps the signal and the diagnostics printed before it.
/// - `Err` must only mean that this machine or our code failed: a full disk, a program that cannot be
///   started. Never turn such a failure into an observation: it would be held against the implementation. A
///   result that our reader does not support is no failure either: report the variable without bytes and give
///   the reason.
/// - A request must not influence another: no state that outlives it, no files left behind.
/// - A request must end: run code that may hang in another process under a time limit. A raised
///   [`Cancel`](crate::Cancel) ends the request with [`Error::is_cancelled`].
/// - It must not panic for any source text. The text may be long and may contain any character.
/// - Report what the implementation cannot determine as `None` in the observation, never as a guess.
pub trait Subject: Send + Sync {
    /// Returns the user's notation for the subject, unique among the subjects of a run.
    fn id(&self) -> &str {
        &self.description().id
    }

    /// Returns the description of the subject.
    fn description(&self) -> &Description;

    /// Shows the subject one module and reports the result.
    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error>;

    /// Observes several modules, each as [`observe`](Subject::observe) does, in fewer runs if possible. The
    /// caller expects most of the modules to be rejected and guarantees that no two of them have a name in
    /// common. Programs of several modules ([`Request::with`]) may have names in common.
    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        requests.iter().map(|request| self.observe(request)).collect()
    }

    /// Shows a user's own program a first, known module. Returns `None` if its answer can be used, or if the
    /// implementation is not the user's own. Must end soon, whatever the program does.
    fn probe(&self) -> Result<Option<Unanswered>, Error> {
        Ok(None)
    }

    /// Returns the modules that gave different results in a forked process and in a newly started one. Empty
    /// unless the subject compares the two.
    fn inconsistencies(&self) -> Vec<Inconsistency> {
        Vec::new()
    }

    /// Shows the subject a module and runs the generated code over numbers ([`Request::trace`], which may
    /// name a kernel several times), on a device or by interpreting the listing of the code.
    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let request = Request { trace: &[], ..*request };
        Ok(Calculation { observation: self.observe(&request)?, left: Vec::new() })
    }

    /// Whether the subject shows the code that it generates, so that it can report what kernels reach
    /// ([`Request::trace`]).
    fn shows_code(&self) -> bool {
        false
    }

    /// Whether the subject reports the memory that kernels leave after running over numbers
    /// ([`Subject::compute`]).
    fn computes(&self) -> bool {
        self.shows_code()
    }

    /// Whether the subject can produce both executable and relocatable output. The two reject different
    /// programs, so a user's program is checked in both forms.
    fn has_both_forms(&self) -> bool {
        false
    }

    /// Whether it links several modules ([`Request::with`]).
    fn links(&self) -> bool {
        false
    }

    /// Whether it can link some modules to a relocatable object first ([`Request::stage`]).
    fn links_in_stages(&self) -> bool {
        false
    }

    /// Returns a note for the user about how the subject was run.
    fn note(&self) -> Option<String> {
        None
    }
}

/// The result of running the kernels of a module over numbers.
#[derive(Clone, Debug, Default)]
pub struct Calculation {
    /// The observation of the module itself.
    pub observation: Observation,
    /// Memory contents after each run, or why they are not known. Empty if no code was shown.
    pub left: Vec<Result<Memory, String>>,
}

/// Memory contents, one byte for each state space and address.
pub type Memory = BTreeMap<(Space, u64), u8>;

/// A module for which a forked process and a newly started one gave different results
/// ([`Start`](crate::process::Start)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The module.
    pub ptx: String,
    /// The target that the module was assembled for.
    pub target: String,
    /// Result of the forked process.
    pub forked: Observation,
    /// Result of the newly started process.
    pub started: Observation,
}

/// Why a module could not be shown to an implementation: this machine or our code failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be run, or the run was cancelled.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// A file of ours could not be written or read.
    #[error("cannot {doing}: {source}")]
    File {
        /// The operation that failed, with the file's name.
        doing: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// One of our worker processes failed, as opposed to the library that it runs.
    #[error("the worker of {subject} failed: {failure}")]
    Worker {
        /// Id of the worker's subject.
        subject: String,
        /// Message of the worker.
        failure: String,
    },
    /// Generated code could not be read.
    #[error(transparent)]
    Disassembler(#[from] crate::lister::ListError),
}

impl Error {
    /// Whether the run was cancelled, so that nothing failed.
    pub fn is_cancelled(&self) -> bool {
        use crate::lister::ListError::Process;
        matches!(
            self,
            Error::Process(process::ProcessError::Cancelled(_))
                | Error::Disassembler(Process(process::ProcessError::Cancelled(_)))
        )
    }
}

/// A subject backed by a function, for tests of code that uses subjects.
///
/// ```
/// use ptxsmith_subject::{FnSubject, Observation, Outcome, Request, Subject};
///
/// let subject = FnSubject::new("fake", |request: &Request<'_>| {
///     Observation::new(if request.ptx.contains("bad") { Outcome::Refused } else { Outcome::Accepted })
/// });
/// let observation = subject.observe(&Request::new("bad", "sm_80"))?;
/// assert_eq!(observation.outcome, Outcome::Refused);
/// # Ok::<(), ptxsmith_subject::Error>(())
/// ```
pub struct FnSubject<F> {
    description: Description,
    both_forms: bool,
    observe: F,
}

impl<F: Fn(&Request<'_>) -> Observation + Send + Sync> FnSubject<F> {
    /// Creates a subject with this name that answers with this function.
    pub fn new(id: impl Into<String>, observe: F) -> Self {
        let id = id.into();
        let description =
            Description { name: id.clone(), id, relocations: Some(true), ..Description::default() };
        FnSubject { description, both_forms: false, observe }
    }

    /// Returns the subject with support for both executable and relocatable output.
    pub fn with_both_forms(self) -> Self {
        FnSubject { both_forms: true, ..self }
    }

    /// Returns the subject with another description.
    pub fn described(self, description: Description) -> Self {
        FnSubject { description, ..self }
    }
}

impl<F: Fn(&Request<'_>) -> Observation + Send + Sync> Subject for FnSubject<F> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        Ok((self.observe)(request))
    }

    fn has_both_forms(&self) -> bool {
        self.both_forms
    }
}
