//! What one implementation did with one module: the shape of `ptxsmith.module/1`.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::Text;
use serde::{Deserialize, Serialize};

use crate::reached::Reached;

/// The value of `"schema"` in the JSON form of an [`Observation`].
pub const SCHEMA: &str = "ptxsmith.module/1";

ptxsmith_syntax::every! {
    /// How an implementation answered for a whole module.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Outcome {
        /// The module was taken; [`Observation::variables`] says what it holds.
        Accepted = "accepted",
        /// The module was refused with a diagnostic.
        Refused = "refused",
        /// The implementation says that it lacks this part of the language.
        Unsupported = "unsupported",
        /// The implementation died: a signal, an exit status it does not promise, or output that is no answer.
        Crashed = "crashed",
        /// No answer came within the time limit.
        TimedOut = "timed-out",
        /// There is no implementation to ask (no library, no device, no program).
        Unavailable = "unavailable",
    }
}

/// How bad a diagnostic is, in the implementation's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Informational.
    Info,
    /// The module may still be accepted.
    Warning,
    /// The module is refused; more diagnostics may follow.
    Error,
    /// The module is refused and reading stopped here.
    Fatal,
}

/// One message of an implementation about the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The 1-based line of the module that it blames, where it blames one.
    #[serde(default)]
    pub line: Option<u32>,
    /// The message as printed; untrusted text that may hold control characters.
    pub message: String,
}

/// An address that the implementation left in a variable for a linker or loader to fill in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// Byte offset of the slot within the variable.
    pub offset: u64,
    /// Bytes that are written at the slot.
    pub width: u8,
    /// The variable or function whose address it is.
    pub symbol: String,
    /// Bytes added to the address, as a signed 64-bit integer.
    pub addend: i64,
    /// Whether the generic address is meant; `None` where the implementation cannot tell.
    #[serde(default)]
    pub generic: Option<bool>,
    /// Which byte of the address (0 the lowest) a `mask()` takes; `None` for the whole address.
    #[serde(default)]
    pub byte: Option<u8>,
}

/// One module-scope variable as the implementation placed it. A field is `None` where it cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The state space without its dot: `global`, `const`, `shared` ...
    #[serde(default)]
    pub space: Option<Text>,
    /// Size in bytes.
    #[serde(default)]
    pub size: Option<u64>,
    /// The largest power of two that the placement shows.
    #[serde(default)]
    pub align: Option<u64>,
    /// All bytes in memory order, zero where an address goes.
    #[serde(default, with = "hex_bytes")]
    pub bytes: Option<Vec<u8>>,
    /// The addresses it holds, sorted by offset.
    #[serde(default)]
    pub addresses: Option<Vec<Address>>,
    /// The address that the variable got, for a subject that reads memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// Why the implementation, or our reader, cannot tell what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A variable of a linked program, at its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedVariable {
    /// Its name. Several variables may have one: those that only their modules see.
    pub name: String,
    /// Whether only its module sees it.
    pub is_local: bool,
    /// The section that it lies in.
    pub section: String,
    /// Where in that section.
    pub place: u64,
    /// What it holds.
    pub variable: Variable,
}

/// The variables of a module, by name.
pub type Variables = BTreeMap<Text, Variable>;

impl Variable {
    /// The addresses whose slot ends behind the variable, so that filling it writes over what comes next: one of
    /// eight bytes in a variable of four. Empty where size or addresses are not known.
    pub fn overreaching(&self) -> impl Iterator<Item = &Address> {
        let size = self.size.unwrap_or(u64::MAX);
        let ends_behind =
            move |address: &&Address| address.offset.saturating_add(u64::from(address.width)) > size;
        self.addresses.iter().flatten().filter(ends_behind)
    }
}

/// What a kernel leaves in its output buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Size of the buffer in bytes.
    pub size: u64,
    /// All bytes in memory order, zero where an address goes and where nothing was seen. `None`: nothing was seen.
    #[serde(default, with = "hex_bytes")]
    pub bytes: Option<Vec<u8>>,
    /// For each byte, `ff` where the implementation shows what the kernel leaves there, be it an address, and `00` where it
    /// does not. `None`: all of them, as a device shows them.
    #[serde(default, with = "hex_bytes", skip_serializing_if = "Option::is_none")]
    pub seen: Option<Vec<u8>>,
    /// The addresses of variables and functions in the buffer, sorted by offset. Empty where they were read from memory: then
    /// they are numbers in `bytes`.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Why nothing was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The reason of an implementation that crashed because it was given no more memory.
pub const OUT_OF_MEMORY: &str = "out of memory";

/// The reason of an implementation that ended with a message of an error of its own.
pub const INTERNAL_ERROR: &str = "internal error";

/// The answer of one implementation for one module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Always [`SCHEMA`].
    #[serde(default = "schema")]
    pub schema: String,
    /// How the implementation answered.
    pub outcome: Outcome,
    /// Why there is no answer (`unavailable`, `unsupported`, `crashed` without a signal).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The signal that ended a crashed implementation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Messages in the order printed, also those printed before a crash.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// Every module-scope variable that has storage, by name. Empty unless accepted.
    #[serde(default)]
    pub variables: Variables,
    /// What the kernels that were asked for leave in their output buffers, by name. One of which nothing is known is missing, or says why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, Output>,
    /// What the kernels that were asked for reach, by name ([`Tracing`](crate::Tracing)). No part of the JSON form.
    #[serde(skip)]
    pub reached: BTreeMap<String, Reached>,
    /// The functions that lie where another one does, by name, with one name for all at a place. No part of the JSON form.
    #[serde(skip)]
    pub one_place: BTreeMap<String, String>,
    /// Whether addresses are numbers, because all was read from memory, as the implementation says of itself. No part of the JSON form.
    #[serde(skip)]
    pub from_memory: bool,
    /// The variables of a linked program, in the order of their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<LinkedVariable>,
    /// The places of the bank of constants that the kernels of a linked program read, by kernel, as far as that is known. No part of
    /// the JSON form.
    #[serde(skip)]
    pub constant_reads: BTreeMap<String, BTreeSet<u64>>,
    /// Whether `variables` has every variable of the module that has storage and content, because the implementation
    /// promises so: one that is missing, or that the module does not
    /// declare, is a deviation then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
}

pub(crate) fn schema() -> String {
    SCHEMA.to_owned()
}

/// Nothing was observed.
impl Default for Observation {
    fn default() -> Self {
        Observation::new(Outcome::Unavailable)
    }
}

impl Observation {
    /// An observation with this outcome and nothing else.
    pub fn new(outcome: Outcome) -> Self {
        Observation {
            schema: schema(),
            outcome,
            reason: None,
            signal: None,
            diagnostics: Vec::new(),
            variables: BTreeMap::new(),
            kernels: BTreeMap::new(),
            reached: BTreeMap::new(),
            one_place: BTreeMap::new(),
            from_memory: false,
            linked: Vec::new(),
            constant_reads: BTreeMap::new(),
            complete: false,
        }
    }

    /// Whether two symbols are one address: an address is a place, whatever it is called.
    pub fn is_one_place(&self, one: &str, other: &str) -> bool {
        let place = |name: &str| self.one_place.get(name);
        one == other || place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
    }

    /// Whether the implementation ended with a message that it failed itself.
    pub fn is_internal_error(&self) -> bool {
        self.outcome == Outcome::Crashed
            && self.signal.is_none()
            && self.reason.as_deref() == Some(INTERNAL_ERROR)
    }

    /// An observation with this outcome, and why.
    pub fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Observation { reason: Some(reason.into()), ..Observation::new(outcome) }
    }
}

/// Lower-case hex in JSON, bytes in memory.
mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => to.serialize_some(&hex::encode(bytes)),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        Option::<String>::deserialize(from)?
            .map(|text| hex::decode(text).map_err(D::Error::custom))
            .transpose()
    }
}
