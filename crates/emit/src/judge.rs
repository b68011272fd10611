//! Judges one global: compares its source with the three descriptions of it in the PTX, and with the result on which the
//! host's compilers agree.

use ptxsmith_model::Class;
use ptxsmith_oracle::{Address, Output};

use crate::host::Held;
use crate::source::Global;
use crate::source::leaves::{Content, Leaf, leaves};
use crate::source::print::SLOT;
use crate::witness::{Read, Testimony};

/// The end of the symptom of a difference that is based on the host's compilers.
pub const OF_HOST: &str = "is not that of g++ and clang";

/// A difference between the source and the PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The class of the deviation.
    pub class: Class,
    /// The effect, in words without names and numbers. Differences with the same cause have the same symptom.
    pub symptom: String,
    /// The kind of the scalar that differs, if one does.
    pub kind: &'static str,
    /// The place in the source.
    pub place: String,
    /// The value that the source specifies.
    pub expected: String,
    /// The value in the PTX.
    pub actual: String,
}

/// The properties that differences with the same cause share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symptom {
    /// The class of the deviation.
    pub class: Class,
    /// The effect, in words without names and numbers.
    pub what: String,
}

impl Difference {
    /// Returns the properties shared with differences of the same cause.
    pub fn symptom(&self) -> Symptom {
        Symptom { class: self.class, what: self.symptom.clone() }
    }
}

/// The verdict on a global.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first difference from the source.
    pub difference: Option<Difference>,
    /// The descriptions that were not available, with the reasons.
    pub unheard: Vec<String>,
    /// Whether anything was compared.
    pub is_judged: bool,
}

/// The result of comparing one description of a scalar with the source.
enum Heard {
    /// The description says nothing about the scalar.
    Nothing,
    /// It agrees with the source.
    Right,
    /// It differs and has this value.
    Wrong(String),
}

/// Judges one global.
pub fn judge(global: &Global, testimony: &Testimony, host: Option<&Held>) -> Verdict {
    let read = match testimony {
        Testimony::Read(read) => read,
        Testimony::Refused(why) => {
            let difference = Difference {
                class: Class::WrongValue,
                symptom: format!("the specification refuses the PTX: {why}"),
                kind: "",
                place: format!("g{}", global.number),
                expected: "PTX that the specification accepts".to_owned(),
                actual: why.clone(),
            };
            return Verdict { difference: Some(difference), is_judged: true, ..Verdict::default() };
        }
        Testimony::Silent(why) => {
            return Verdict { unheard: vec![format!("oracle: {why}")], ..Verdict::default() };
        }
    };
    let mut verdict = Verdict::default();
    if let Err(reason) = &read.output {
        verdict.unheard.push(format!("kernel: {reason}"));
    }
    if read.layout.is_none() {
        verdict.unheard.push("layout: it is not printed".to_owned());
    }
    if host.is_none() {
        verdict.unheard.push("host: g++ and clang do not agree".to_owned());
    }
    let leaves = leaves(global);
    verdict.is_judged = host.is_some() || read.layout.is_some() || hears_a_scalar(&leaves, read);
    verdict.difference = scalar_difference(&leaves, read)
        .or_else(|| misaligned(global, read))
        .or_else(|| size_difference(global, read))
        .or_else(|| host_difference(global, read, host?));
    verdict.is_judged |= verdict.difference.is_some();
    verdict
}

/// Returns true if the kernel or the printed offsets describe at least one scalar.
fn hears_a_scalar(leaves: &[Leaf], read: &Read) -> bool {
    let is_loaded = |(place, leaf): (usize, &Leaf)| {
        let output = read.output.as_ref().ok();
        output.is_some_and(|output| !matches!(heard_of_kernel(leaf, output, place * SLOT), Heard::Nothing))
    };
    leaves.iter().enumerate().any(is_loaded) || offsets(leaves, read).iter().any(Option::is_some)
}

/// Returns the first scalar whose value or offset in the PTX differs from the source.
fn scalar_difference(leaves: &[Leaf], read: &Read) -> Option<Difference> {
    let offsets = offsets(leaves, read);
    leaves.iter().enumerate().find_map(|(place, leaf)| {
        let loaded = match &read.output {
            Ok(output) => heard_of_kernel(leaf, output, place * SLOT),
            Err(_) => Heard::Nothing,
        };
        let stored = match offsets.get(place).copied().flatten() {
            Some(offset) => heard_of_bytes(leaf, read, offset),
            None => Heard::Nothing,
        };
        let (class, symptom, actual) = match (loaded, stored) {
            (Heard::Wrong(actual), Heard::Right) => (
                Class::WrongLayout,
                "the kernel reads another place than the one that holds the value",
                actual,
            ),
            (Heard::Right, Heard::Wrong(actual)) => {
                (Class::WrongLayout, "offsetof names another place than the one that holds the value", actual)
            }
            (Heard::Wrong(actual), _) => (class_of(leaf), "the kernel reads another value", actual),
            (Heard::Nothing, Heard::Wrong(actual)) => (class_of(leaf), "another value is printed", actual),
            _ => return None,
        };
        Some(Difference {
            class,
            symptom: symptom.to_owned(),
            kind: leaf.kind,
            place: leaf.path.clone(),
            expected: shown(&leaf.content),
            actual,
        })
    })
}

fn class_of(leaf: &Leaf) -> Class {
    match leaf.content {
        Content::Address(..) => Class::WrongAddress,
        Content::Bytes(_) => Class::WrongValue,
    }
}

/// Returns the printed offset of each scalar.
fn offsets(leaves: &[Leaf], read: &Read) -> Vec<Option<u64>> {
    let mut printed = read.layout.iter().flatten().skip(2).copied();
    leaves
        .iter()
        .map(|leaf| {
            // All ones mean that the compiler does not know the offset.
            leaf.member.as_ref().and_then(|_| printed.next()).filter(|offset| *offset != u64::MAX)
        })
        .collect()
}

/// Formats the contents of a slot in a kernel's output for reports; `None` if unknown.
pub fn read_by_kernel(output: &Output, at: usize, size: usize) -> Option<String> {
    let slot = at..at + size;
    let bytes = output.bytes.get(slot.clone())?;
    if !output.known[slot.clone()].iter().all(|&known| known) {
        return None;
    }
    Some(shown_slot(bytes, &output.addresses, at))
}

/// Formats the contents of a slot in a variable or an output for reports.
fn shown_slot(bytes: &[u8], addresses: &[Address], at: usize) -> String {
    let slot = at..at + bytes.len();
    let mut inside = addresses.iter().filter(|address| slot.contains(&(address.offset as usize)));
    match (inside.next(), inside.next()) {
        (None, _) => hex(bytes),
        (Some(one), None) if one.offset as usize == at && usize::from(one.width) == bytes.len() => {
            shown_address(&one.symbol, one.addend)
        }
        (Some(one), _) => format!("a part of {}", shown_address(&one.symbol, one.addend)),
    }
}

/// Compares the value that the kernel reads from a scalar.
fn heard_of_kernel(leaf: &Leaf, output: &Output, at: usize) -> Heard {
    match read_by_kernel(output, at, leaf.content.size()) {
        None => Heard::Nothing,
        Some(read) if read == shown(&leaf.content) => Heard::Right,
        Some(read) => Heard::Wrong(read),
    }
}

/// Compares the value printed at the offset of a scalar.
fn heard_of_bytes(leaf: &Leaf, read: &Read, offset: u64) -> Heard {
    let slot = offset as usize..offset as usize + leaf.content.size();
    let Some(bytes) = read.held.bytes.get(slot.clone()) else {
        return Heard::Wrong("a place behind the end of the variable".to_owned());
    };
    let printed = shown_slot(bytes, &read.addresses, slot.start);
    if printed == shown(&leaf.content) { Heard::Right } else { Heard::Wrong(printed) }
}

/// Formats the value of a scalar for reports.
pub fn shown(content: &Content) -> String {
    match content {
        Content::Bytes(bytes) => hex(bytes),
        Content::Address(symbol, addend) => shown_address(symbol, *addend),
    }
}

/// Formats an address. Generic addresses look the same: pointers refer to variables in `.global`, where the generic
/// address is equal.
fn shown_address(symbol: &str, addend: i64) -> String {
    if addend == 0 { symbol.to_owned() } else { format!("{symbol}{addend:+}") }
}

fn hex(bytes: &[u8]) -> String {
    ptxsmith_oracle::hex(bytes)
}

/// Returns a difference if the kernel reads at addresses that its own instructions do not allow. The source accesses
/// every member through its class, so the compiler knows its alignment.
fn misaligned(global: &Global, read: &Read) -> Option<Difference> {
    let reason = read.output.as_ref().err().filter(|reason| reason.contains("aligned"))?;
    Some(Difference {
        class: Class::WrongLayout,
        symptom: "the kernel reads at a place that is not aligned for it".to_owned(),
        kind: "",
        place: format!("k{}", global.number),
        expected: "accesses that are aligned".to_owned(),
        actual: reason.clone(),
    })
}

/// Compares the size and the alignment of the variable with the printed ones.
fn size_difference(global: &Global, read: &Read) -> Option<Difference> {
    let [size, align, ..] = read.layout.as_deref()? else { return None };
    let difference = |symptom: &str, expected: u64, actual: u64| Difference {
        class: Class::WrongLayout,
        symptom: symptom.to_owned(),
        kind: "",
        place: format!("g{}", global.number),
        expected: format!("{expected} bytes"),
        actual: format!("{actual} bytes"),
    };
    let seen = read.held.bytes.len() as u64;
    if seen != *size {
        return Some(difference("the variable has another size than sizeof says", *size, seen));
    }
    (read.align < *align)
        .then(|| difference("the variable is less aligned than alignof says", *align, read.align))
}

/// Compares the variable with the result of g++ and clang.
fn host_difference(global: &Global, read: &Read, host: &Held) -> Option<Difference> {
    difference_from_host(&format!("g{}", global.number), &read.held, host)
}

/// Describes how a variable differs from the result of g++ and clang.
pub fn difference_from_host(name: &str, printed: &Held, host: &Held) -> Option<Difference> {
    if printed == host {
        return None;
    }
    let what = if printed.bytes.len() == host.bytes.len() { "layout" } else { "size" };
    Some(Difference {
        class: Class::WrongLayout,
        symptom: format!("the {what} {OF_HOST}"),
        kind: "",
        place: name.to_owned(),
        expected: held(host),
        actual: held(printed),
    })
}

fn held(held: &Held) -> String {
    let addresses = held.addresses.iter();
    let addresses =
        addresses.map(|(at, symbol, addend)| format!(", at {at} {}", shown_address(symbol, *addend)));
    hex(&held.bytes) + &addresses.collect::<String>()
}
