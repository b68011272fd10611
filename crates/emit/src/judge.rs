//! Judges one global: compares its source with the three descriptions of it in the PTX, and with the result
//! on which the host's compilers agree.

use ptxsmith_model::Class;
use ptxsmith_oracle::{Address, Output};

use crate::host::{VariableContents, string_name};
use crate::source::CxxGlobal;
use crate::source::leaves::{Content, CxxLeaf, leaves};
use crate::source::print::SLOT;
use crate::witness::{EvaluatedGlobal, Testimony};

/// The end of the symptom of a difference that is based on the host's compilers.
pub const HOST_DIFFERENCE: &str = "is not that of g++ and clang";

/// A difference between the source and the PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceDifference {
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

impl SourceDifference {
    /// Whether the compiler itself failed.
    pub fn is_failure(&self) -> bool {
        matches!(self.class, Class::Crash | Class::Hang)
    }

    /// Returns a difference in a size or an alignment, in bytes.
    pub(crate) fn of_layout(symptom: &str, place: String, expected: u64, actual: u64) -> SourceDifference {
        SourceDifference {
            class: Class::WrongLayout,
            symptom: symptom.to_owned(),
            kind: "",
            place,
            expected: format!("{expected} bytes"),
            actual: format!("{actual} bytes"),
        }
    }
}

/// The properties that differences with the same cause share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferenceSymptom {
    /// The class of the deviation.
    pub class: Class,
    /// The effect, in words without names and numbers.
    pub what: String,
}

impl SourceDifference {
    /// Returns the properties shared with differences of the same cause.
    pub fn symptom(&self) -> DifferenceSymptom {
        DifferenceSymptom { class: self.class, what: self.symptom.clone() }
    }
}

/// The verdict on a global.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalVerdict {
    /// The first difference from the source.
    pub difference: Option<SourceDifference>,
    /// The descriptions that were not available, with the reasons.
    pub unavailable: Vec<String>,
    /// Whether anything was compared.
    pub is_judged: bool,
}

/// The result of comparing one description of a scalar with the source.
enum ScalarComparison {
    /// The description says nothing about the scalar.
    Nothing,
    /// It agrees with the source.
    Right,
    /// It differs and has this value.
    Wrong(String),
}

/// Judges one global. PTX that the specification refuses is a wrong value; PTX without a rule is not judged.
/// A description that is missing is recorded, and the others still judge. If none says anything, the global
/// counts as not compared, for the reasons recorded.
pub fn judge(global: &CxxGlobal, testimony: &Testimony, host: Option<&VariableContents>) -> GlobalVerdict {
    let read = match testimony {
        Testimony::Read(read) => read,
        Testimony::Refused(why) => {
            let difference = SourceDifference {
                class: Class::WrongValue,
                symptom: format!("the specification refuses the PTX: {why}"),
                kind: "",
                place: format!("g{}", global.number),
                expected: "PTX that the specification accepts".to_owned(),
                actual: why.clone(),
            };
            return GlobalVerdict {
                difference: Some(difference),
                is_judged: true,
                ..GlobalVerdict::default()
            };
        }
        Testimony::Silent(why) => {
            return GlobalVerdict { unavailable: vec![format!("oracle: {why}")], ..GlobalVerdict::default() };
        }
    };
    let mut verdict = GlobalVerdict::default();
    if let Err(reason) = &read.output {
        verdict.unavailable.push(format!("kernel: {reason}"));
    }
    if read.layout.is_none() {
        verdict.unavailable.push("layout: it is not printed".to_owned());
    }
    if host.is_none() {
        verdict.unavailable.push("host: g++ and clang do not agree".to_owned());
    }
    let leaves = leaves(global);
    verdict.is_judged = host.is_some() || read.layout.is_some() || describes_scalar(&leaves, read);
    verdict.difference = scalar_difference(&leaves, read)
        .or_else(|| misaligned(global, read))
        .or_else(|| size_difference(global, read))
        .or_else(|| host_difference(global, read, host?));
    verdict.is_judged |= verdict.difference.is_some();
    verdict
}

/// Returns true if the kernel or the printed offsets describe at least one scalar.
fn describes_scalar(leaves: &[CxxLeaf], read: &EvaluatedGlobal) -> bool {
    let is_loaded = read.output.as_ref().is_ok_and(|output| {
        leaves.iter().enumerate().any(|(place, leaf)| {
            !matches!(compare_loaded(leaf, output, place * SLOT), ScalarComparison::Nothing)
        })
    });
    is_loaded || offsets(leaves, read).iter().any(Option::is_some)
}

/// Finds the first scalar that differs from the source. If it is right where one of kernel and printed offset
/// looks and wrong where the other does, the layout is wrong; otherwise the value, or the address of a scalar
/// that is one.
fn scalar_difference(leaves: &[CxxLeaf], read: &EvaluatedGlobal) -> Option<SourceDifference> {
    let offsets = offsets(leaves, read);
    leaves.iter().enumerate().find_map(|(place, leaf)| {
        let loaded = match &read.output {
            Ok(output) => compare_loaded(leaf, output, place * SLOT),
            Err(_) => ScalarComparison::Nothing,
        };
        let stored = match offsets.get(place).copied().flatten() {
            Some(offset) => compare_printed(leaf, read, offset),
            None => ScalarComparison::Nothing,
        };
        let (class, symptom, actual) = match (loaded, stored) {
            (ScalarComparison::Wrong(actual), ScalarComparison::Right) => (
                Class::WrongLayout,
                "the kernel reads another place than the one that holds the value",
                actual,
            ),
            (ScalarComparison::Right, ScalarComparison::Wrong(actual)) => {
                (Class::WrongLayout, "offsetof names another place than the one that holds the value", actual)
            }
            (ScalarComparison::Wrong(actual), _) => {
                (class_of(leaf), "the kernel reads another value", actual)
            }
            (ScalarComparison::Nothing, ScalarComparison::Wrong(actual)) => {
                (class_of(leaf), "another value is printed", actual)
            }
            _ => return None,
        };
        Some(SourceDifference {
            class,
            symptom: symptom.to_owned(),
            kind: leaf.kind,
            place: leaf.path.clone(),
            expected: format_content(&leaf.content),
            actual,
        })
    })
}

fn class_of(leaf: &CxxLeaf) -> Class {
    match leaf.content {
        Content::Address(..) | Content::Method(..) | Content::String(_) => Class::WrongAddress,
        Content::Bytes(_) => Class::WrongValue,
    }
}

/// Returns the printed offset of each scalar.
fn offsets(leaves: &[CxxLeaf], read: &EvaluatedGlobal) -> Vec<Option<u64>> {
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
    Some(format_slot(bytes, &output.addresses, at))
}

/// Formats the contents of a slot in a variable or an output for reports.
fn format_slot(bytes: &[u8], addresses: &[Address], at: usize) -> String {
    let slot = at..at + bytes.len();
    let mut inside = addresses.iter().filter(|address| slot.contains(&(address.offset as usize)));
    match (inside.next(), inside.next()) {
        (None, _) => hex(bytes),
        (Some(one), None) if one.offset as usize == at && usize::from(one.width) == bytes.len() => {
            format_address(&one.symbol, one.addend)
        }
        // A pointer to a member function.
        (Some(one), None) if one.offset as usize == at && one.width == 8 && bytes.len() == 16 => {
            format!("{} {}", format_address(&one.symbol, one.addend), hex(&bytes[8..]))
        }
        (Some(one), _) => format!("a part of {}", format_address(&one.symbol, one.addend)),
    }
}

/// Compares the value that the kernel reads from a scalar.
fn compare_loaded(leaf: &CxxLeaf, output: &Output, at: usize) -> ScalarComparison {
    match read_by_kernel(output, at, leaf.content.size()) {
        None => ScalarComparison::Nothing,
        Some(read) if read == format_content(&leaf.content) => ScalarComparison::Right,
        Some(read) => ScalarComparison::Wrong(read),
    }
}

/// Compares the value printed at the offset of a scalar.
fn compare_printed(leaf: &CxxLeaf, read: &EvaluatedGlobal, offset: u64) -> ScalarComparison {
    let slot = offset as usize..offset as usize + leaf.content.size();
    let Some(bytes) = read.contents.bytes.get(slot.clone()) else {
        return ScalarComparison::Wrong("a place behind the end of the variable".to_owned());
    };
    let printed = format_slot(bytes, &read.addresses, slot.start);
    if printed == format_content(&leaf.content) {
        ScalarComparison::Right
    } else {
        ScalarComparison::Wrong(printed)
    }
}

/// Formats the value of a scalar for reports.
pub fn format_content(content: &Content) -> String {
    match content {
        Content::Bytes(bytes) => hex(bytes),
        Content::Address(symbol, addend) => format_address(symbol, *addend),
        Content::Method(symbol, added) => format!("{symbol} {}", hex(&added.to_le_bytes())),
        Content::String(text) => string_name(text.as_bytes()),
    }
}

/// Formats an address. Generic addresses look the same: pointers refer to variables in `.global`, where the
/// generic address is equal.
fn format_address(symbol: &str, addend: i64) -> String {
    if addend == 0 { symbol.to_owned() } else { format!("{symbol}{addend:+}") }
}

fn hex(bytes: &[u8]) -> String {
    ptxsmith_oracle::hex(bytes)
}

/// Returns a difference if the kernel reads at addresses that its own instructions do not allow. The source
/// accesses every member through its class, so the compiler knows its alignment.
fn misaligned(global: &CxxGlobal, read: &EvaluatedGlobal) -> Option<SourceDifference> {
    let reason = read.output.as_ref().err().filter(|reason| reason.contains("aligned"))?;
    Some(SourceDifference {
        class: Class::WrongLayout,
        symptom: "the kernel reads at a place that is not aligned for it".to_owned(),
        kind: "",
        place: format!("k{}", global.number),
        expected: "accesses that are aligned".to_owned(),
        actual: reason.clone(),
    })
}

/// Compares the size and the alignment of the variable with the printed ones.
fn size_difference(global: &CxxGlobal, read: &EvaluatedGlobal) -> Option<SourceDifference> {
    let [size, align, ..] = read.layout.as_deref()? else { return None };
    let printed_size = read.contents.bytes.len() as u64;
    let (symptom, expected, actual) = if printed_size < *size {
        ("the variable is smaller than sizeof says", *size, printed_size)
    } else if printed_size > *size {
        ("the variable is larger than sizeof says", *size, printed_size)
    } else if read.align < *align {
        ("the variable is less aligned than alignof says", *align, read.align)
    } else {
        return None;
    };
    Some(SourceDifference::of_layout(symptom, format!("g{}", global.number), expected, actual))
}

/// Compares the variable with the result of g++ and clang.
fn host_difference(
    global: &CxxGlobal,
    read: &EvaluatedGlobal,
    host: &VariableContents,
) -> Option<SourceDifference> {
    difference_from_host(&format!("g{}", global.number), &read.contents, host)
}

/// Describes how a variable differs from the result of g++ and clang.
pub fn difference_from_host(
    name: &str,
    printed: &VariableContents,
    host: &VariableContents,
) -> Option<SourceDifference> {
    if printed.agrees_with(host) {
        return None;
    }
    let what = if printed.bytes.len() == host.bytes.len() { "layout" } else { "size" };
    Some(SourceDifference {
        class: Class::WrongLayout,
        symptom: format!("the {what} {HOST_DIFFERENCE}"),
        kind: "",
        place: name.to_owned(),
        expected: format_contents(host),
        actual: format_contents(printed),
    })
}

fn format_contents(contents: &VariableContents) -> String {
    let addresses = contents
        .addresses
        .iter()
        .map(|(at, symbol, addend)| format!(", at {at} {}", format_address(symbol, *addend)));
    hex(&contents.bytes) + &addresses.collect::<String>()
}
