//! The result of an implementation for a module, in the shape of `ptxsmith.module/1`.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::Text;
use serde::{Deserialize, Serialize};

use crate::reached::Reached;

/// The value of `"schema"` in the JSON form of an [`Observation`].
pub const SCHEMA: &str = "ptxsmith.module/1";

ptxsmith_syntax::every! {
    /// The kind of result for a whole module.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Outcome {
        /// The implementation accepts the module; [`Observation::variables`] has its contents.
        Accepted = "accepted",
        /// The implementation rejects the module with a diagnostic.
        Refused = "refused",
        /// The implementation reports that it does not support this part of the language.
        Unsupported = "unsupported",
        /// The implementation crashed: a signal, an undocumented exit status, or invalid output.
        Crashed = "crashed",
        /// The implementation gave no result within the time limit.
        TimedOut = "timed-out",
        /// The implementation cannot be run (no library, no device, no program).
        Unavailable = "unavailable",
    }
}

/// The severity of a diagnostic, as the implementation states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Informational.
    Info,
    /// The module may still be accepted.
    Warning,
    /// The module is rejected; more diagnostics may follow.
    Error,
    /// The module is rejected, and the implementation stopped reading here.
    Fatal,
}

/// A message of an implementation about a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The 1-based line of the module to which the message refers, if it names one.
    #[serde(default)]
    pub line: Option<u32>,
    /// The message as printed: untrusted text that may contain control characters.
    pub message: String,
}

/// An address that the implementation left in a variable, for a linker or loader to fill in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// Byte offset of the slot within the variable.
    pub offset: u64,
    /// Size of the slot in bytes.
    pub width: u8,
    /// The variable or function to which the address refers.
    pub symbol: String,
    /// Bytes added to the address, as a signed 64-bit integer.
    pub addend: i64,
    /// Whether it is a generic address; `None` if the implementation does not show this.
    #[serde(default)]
    pub generic: Option<bool>,
    /// The byte of the address that a `mask()` selects (0 is the lowest); `None` for the whole address.
    #[serde(default)]
    pub byte: Option<u8>,
}

/// A module-scope variable as the implementation placed it. A field is `None` if the implementation does not
/// show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The state space without its dot: `global`, `const`, `shared` ...
    #[serde(default)]
    pub space: Option<Text>,
    /// Size in bytes.
    #[serde(default)]
    pub size: Option<u64>,
    /// The alignment that the placement of the variable shows, a power of two. It may exceed the declared
    /// alignment.
    #[serde(default)]
    pub align: Option<u64>,
    /// All bytes in memory order, zero in the slots of addresses.
    #[serde(default, with = "hex_bytes")]
    pub bytes: Option<Vec<u8>>,
    /// The addresses in the variable, sorted by offset.
    #[serde(default)]
    pub addresses: Option<Vec<Address>>,
    /// The address of the variable, for a subject that reads memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// The reason why the contents are unknown to the implementation or to our reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A variable of a linked program, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedVariable {
    /// The name. Several variables can have the same name if they are local to their modules.
    pub name: String,
    /// Whether the variable is visible only in its module.
    pub is_local: bool,
    /// The section that contains it.
    pub section: String,
    /// The offset in the section.
    pub place: u64,
    /// The contents.
    pub variable: Variable,
}

/// The variables of a module, by name.
pub type Variables = BTreeMap<Text, Variable>;

impl Variable {
    /// Returns the addresses whose slot ends beyond the variable, so that filling the slot overwrites the
    /// memory behind it: for example an eight-byte address in a four-byte variable. Empty if the size or the
    /// addresses are unknown.
    pub fn overreaching(&self) -> impl Iterator<Item = &Address> {
        let size = self.size.unwrap_or(u64::MAX);
        let ends_behind =
            move |address: &&Address| address.offset.saturating_add(u64::from(address.width)) > size;
        self.addresses.iter().flatten().filter(ends_behind)
    }
}

/// The contents of a kernel's output buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Size of the buffer in bytes.
    pub size: u64,
    /// All bytes in memory order, zero in the slots of addresses and for bytes that were not seen. `None` if
    /// nothing was seen.
    #[serde(default, with = "hex_bytes")]
    pub bytes: Option<Vec<u8>>,
    /// A mask over the bytes: `ff` if the implementation shows the value, including an address, and `00` if
    /// not. `None` if all bytes are shown, as on a device.
    #[serde(default, with = "hex_bytes", skip_serializing_if = "Option::is_none")]
    pub seen: Option<Vec<u8>>,
    /// The addresses of variables and functions in the buffer, sorted by offset. Empty if the buffer was read
    /// from memory: then addresses are numbers in `bytes`.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// The reason why nothing was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The value of [`Observation::reason`] for an implementation that crashed because it ran out of memory.
pub const OUT_OF_MEMORY: &str = "out of memory";

/// The value of [`Observation::reason`] for an implementation that reported an internal error.
pub const INTERNAL_ERROR: &str = "internal error";

/// The result of an implementation for a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Always [`SCHEMA`].
    #[serde(default = "schema")]
    pub schema: String,
    /// The kind of result.
    pub outcome: Outcome,
    /// The reason why there is no result (`unavailable`, `unsupported`, `crashed` without a signal).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The signal that ended a crashed implementation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The messages in the order printed, including those before a crash.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// The module-scope variables that have storage, by name. Empty unless the module was accepted.
    #[serde(default)]
    pub variables: Variables,
    /// The output buffers of the requested kernels, by name. A kernel about which nothing is known is missing
    /// or has a reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, Output>,
    /// The memory accesses of the requested kernels, by name ([`Tracing`](crate::Tracing)). Not part of the
    /// JSON form.
    #[serde(skip)]
    pub reached: BTreeMap<String, Reached>,
    /// Functions at the same address: maps the name of each to one name that they share. Not part of the JSON
    /// form.
    #[serde(skip)]
    pub one_place: BTreeMap<String, String>,
    /// Whether addresses are plain numbers because the implementation declares that it reads memory. Not part
    /// of the JSON form.
    #[serde(skip)]
    pub from_memory: bool,
    /// The variables of a linked program, in the order of their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<LinkedVariable>,
    /// The offsets in the constant bank that each kernel of a linked program reads, as far as they are known.
    /// Not part of the JSON form.
    #[serde(skip)]
    pub constant_reads: BTreeMap<String, BTreeSet<u64>>,
    /// Whether the implementation promises that `variables` contains every variable of the module with
    /// storage and contents. Then a missing variable, or one that the module does not declare, is a
    /// deviation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
}

pub(crate) fn schema() -> String {
    SCHEMA.to_owned()
}

/// Stands for a module that was not given to any implementation.
impl Default for Observation {
    fn default() -> Self {
        Observation::new(Outcome::Unavailable)
    }
}

impl Observation {
    /// Creates an observation with this outcome and nothing else.
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

    /// Returns true if two symbols have the same address: functions can be different symbols at one place.
    pub fn is_one_place(&self, first: &str, second: &str) -> bool {
        if first == second {
            return true;
        }
        let place = self.one_place.get(first);
        place.is_some() && place == self.one_place.get(second)
    }

    /// Returns true if the implementation reported an internal error of its own.
    pub fn is_internal_error(&self) -> bool {
        self.outcome == Outcome::Crashed
            && self.signal.is_none()
            && self.reason.as_deref() == Some(INTERNAL_ERROR)
    }

    /// Creates an observation with this outcome and its reason.
    pub fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Observation { reason: Some(reason.into()), ..Observation::new(outcome) }
    }
}

/// Serializes bytes as lower-case hex.
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
