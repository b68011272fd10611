//! What an implementation under test is to the rest of ptxsmith.

use std::collections::BTreeMap;

use ptxsmith_syntax::Module;
use serde::{Deserialize, Serialize};

use crate::process;
use crate::unanswered::Unanswered;
use ptxsmith_model::{Observation, OutputForm, Space, Tracing};

/// The value of `"schema"` in the JSON form of a [`Description`].
pub const DESCRIPTION_SCHEMA: &str = "ptxsmith.subject/1";

/// A variable that the caller wants to know about, for implementations that cannot list theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Its name.
    pub name: String,
    /// Its state space without the dot.
    pub space: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A kernel that the caller wants to be run once the module is accepted, by an implementation that can run any.
///
/// The kernel has one parameter, `.param .u64`: the address of an output buffer in global memory. It is run on one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Its name.
    pub kernel: String,
    /// The bytes of its output buffer, which are zero before it runs.
    pub out: u64,
}

/// One module to show to an implementation.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The text of the module.
    pub ptx: &'a str,
    /// The target to assemble for, usually that of the module: `sm_80`.
    pub target: &'a str,
    /// The variables of interest. An implementation that lists its variables reports all of them regardless.
    pub read: &'a [Read],
    /// The kernels to run; [`Observation::kernels`] tells what they leave. One that cannot run kernels reports what it can
    /// tell without.
    pub launch: &'a [Launch],
    /// The kernels to run over numbers; [`Observation::reached`] tells what they reach, where the implementation shows its code.
    pub trace: &'a [Tracing],
    /// The form of output. An implementation that has only one makes that.
    pub form: OutputForm,
    /// Further modules, which a linker links behind this one, in this order. Other implementations look at the first one alone.
    pub with: &'a [&'a str],
    /// The modules that are linked to one relocatable object first, where the implementation can ([`Subject::links_in_stages`]).
    pub stage: Option<Stage>,
}

/// Neighbouring modules of a request that are linked to one relocatable object first, as `nvlink -r` does. The object takes their
/// place among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage {
    /// The place of the first one in the order of the modules.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

impl<'a> Request<'a> {
    /// A request for an executable that names neither variables nor kernels.
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

    /// The same, in the form that shows all that the variables of this module hold, of which `ptx` is the text.
    pub fn showing(module: &Module, ptx: &'a str, target: &'a str) -> Self {
        Request::new(ptx, target).in_form(OutputForm::showing(module))
    }

    /// The same, in this form.
    pub fn in_form(self, form: OutputForm) -> Self {
        Request { form, ..self }
    }

    /// The same, for these kernels.
    pub fn launching(self, launch: &'a [Launch]) -> Self {
        Request { launch, ..self }
    }
}

/// What is known of an implementation. A field is `None` where the implementation does not say.
///
/// The JSON form is what `CMD --describe` answers (with `"schema"`, [`DESCRIPTION_SCHEMA`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// How the user calls it: `ptxas@13.5`, `exec:mine --flag`. Empty in the answer to `--describe`.
    #[serde(default)]
    pub id: String,
    /// Its name: `ptxas`.
    #[serde(default)]
    pub name: String,
    /// Its version: `13.5.37`.
    #[serde(default)]
    pub version: Option<String>,
    /// Implementations of one lineage share code, and count as one vote in a summary.
    #[serde(default)]
    pub lineage: Option<String>,
    /// The highest `.version` that it takes: `9.5`.
    #[serde(default)]
    pub max_ptx: Option<String>,
    /// The targets that it takes: `sm_80`. Empty where it does not say.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Whether it reports addresses as relocations; `false` if it reads them back from memory.
    #[serde(default)]
    pub relocations: Option<bool>,
    /// Whether it tells what variables hold; `false` if it only accepts and refuses, as a parser does.
    #[serde(default)]
    pub values: Option<bool>,
    /// Whether it reports all variables of a module by itself; else it is told which there are ([`Request::read`]).
    #[serde(default)]
    pub lists: Option<bool>,
    /// The options that the user gives it: with others it is another subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The program, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// SHA-256 of the program, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What it runs on, as names and values: `device`, `compute capability`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
}

impl Description {
    /// Whether it reads addresses back from memory, where they are numbers.
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
/// - Whatever the implementation under test does is an [`Observation`]: a refusal, a crash, a hang, output that makes
///   no sense. A crash keeps the signal and the diagnostics printed before it.
/// - `Err` must only mean that this machine or our code failed: a full disk, a program that cannot be started. Never turn
///   such a failure into an observation: it would be held against the implementation. What our reader of results does
///   not know is none: it leaves a variable without bytes, with the reason.
/// - A request must not influence another: no state that outlives it, no files left behind.
/// - It must end: code that may hang runs in another process under a time limit, and a raised
///   [`Cancel`](crate::Cancel) ends it with [`Error::is_cancelled`].
/// - It must not panic for any text, which may hold any character, and be long.
/// - What the implementation cannot tell is `None` in the observation, never a guess.
pub trait Subject: Send + Sync {
    /// How the user calls it; unique among the subjects of a run.
    fn id(&self) -> &str {
        &self.description().id
    }

    /// What is known of it.
    fn description(&self) -> &Description;

    /// Shows it one module and reports what came out.
    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error>;

    /// Reports of each of some modules what [`observe`](Subject::observe) does; in fewer runs, where that can be. Each will
    /// probably be refused, and no two have a name in common.
    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        requests.iter().map(|request| self.observe(request)).collect()
    }

    /// Shows a user's own program a first, known module: `None` where its answer can be used, or where the implementation is
    /// none of the user's. It must end soon, whatever the program does.
    fn probe(&self) -> Result<Option<Unanswered>, Error> {
        Ok(None)
    }

    /// The modules on which it answered otherwise when it was started in another way. Empty unless it compares.
    fn inconsistencies(&self) -> Vec<Inconsistent> {
        Vec::new()
    }

    /// Shows it a module and runs the code that it generates over numbers ([`Request::trace`], which may name a kernel often), on a
    /// device or as it is shown.
    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let request = Request { trace: &[], ..*request };
        Ok(Calculation { observation: self.observe(&request)?, left: Vec::new() })
    }

    /// Whether it shows the code that it generates, so that it can tell what kernels reach ([`Request::trace`]).
    fn shows_code(&self) -> bool {
        false
    }

    /// Whether it tells what kernels leave that are run over numbers ([`Subject::compute`]).
    fn computes(&self) -> bool {
        self.shows_code()
    }

    /// Whether it makes executable and relocatable output as it is asked to, which refuse different things: where a program of a
    /// user's is judged, it is shown in both.
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

    /// What a user should know of how it was run.
    fn note(&self) -> Option<String> {
        None
    }
}

/// What an implementation made of a module whose kernels were run over numbers.
#[derive(Clone, Debug, Default)]
pub struct Calculation {
    /// What it did with the module.
    pub observation: Observation,
    /// What each run left in memory, or why that is not known. Empty where no code was shown.
    pub left: Vec<Result<Memory, String>>,
}

/// Bytes by their state space and place.
pub type Memory = BTreeMap<(Space, u64), u8>;

/// A module on which an implementation answered in one way when it was forked and in another when it was started anew
/// ([`Start`](crate::process::Start)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistent {
    /// The module.
    pub ptx: String,
    /// The target that it was assembled for.
    pub target: String,
    /// What the fork did.
    pub forked: Observation,
    /// What the program did that was started anew.
    pub started: Observation,
}

/// Why a module could not be shown to an implementation: this machine or our code failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be run, or the run was cancelled.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// A file of ours could not be written or read.
    #[error("cannot {doing}: {source}")]
    File {
        /// What failed, with the file's name.
        doing: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A worker process of ours failed, not what it works with.
    #[error("the worker of {subject} failed: {failure}")]
    Worker {
        /// Whose worker.
        subject: String,
        /// What it said.
        failure: String,
    },
    /// Generated code could not be read.
    #[error(transparent)]
    Disassembler(#[from] crate::lister::ListError),
}

impl Error {
    /// Whether nothing failed: the run was stopped on request.
    pub fn is_cancelled(&self) -> bool {
        use crate::lister::ListError::Process;
        matches!(
            self,
            Error::Process(process::Error::Cancelled(_))
                | Error::Disassembler(Process(process::Error::Cancelled(_)))
        )
    }
}

/// A subject made of a function, to drive the tests of whatever uses subjects.
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
    /// A subject of this name that answers with this function.
    pub fn new(id: impl Into<String>, observe: F) -> Self {
        let id = id.into();
        let description =
            Description { name: id.clone(), id, relocations: Some(true), ..Description::default() };
        FnSubject { description, both_forms: false, observe }
    }

    /// The same subject, which makes executable and relocatable output as it is asked to.
    pub fn of_both_forms(self) -> Self {
        FnSubject { both_forms: true, ..self }
    }

    /// The same subject, described otherwise.
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
