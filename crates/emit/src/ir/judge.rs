//! Judges what llc prints for a global of IR: by the rules of its data layout, where llc for x86-64 confirms
//! them.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::CompilerDescription;
use ptxsmith_model::Class;
use ptxsmith_oracle::Address;

use super::LlvmGlobal;
use super::layout::{HeldContents, LargestAlignment, LeafValue, LlvmLayout};
use super::llc::{Llc, LlcOutcome};
use super::print::module;
use crate::EmitError;
use crate::ask::CompilationOutcome;
use crate::host::VariableContents;
use crate::judge::{GlobalVerdict, SourceDifference};
use crate::judged::{GlobalResult, Tester, failure_result};
use crate::witness::Testimony;

impl Tester for Llc {
    type Global = LlvmGlobal;

    fn description(&self) -> &CompilerDescription {
        &self.description
    }

    fn judge(
        &self,
        globals: &[&LlvmGlobal],
        _: Option<&SourceDifference>,
    ) -> Result<BTreeMap<u64, GlobalResult>, EmitError> {
        let outcomes = self.outcomes(globals)?;
        let held = self.host_contents(globals)?;
        let judged = globals.iter().filter_map(|global| {
            let LlcOutcome { outcome, declaration } = outcomes.get(&global.number)?;
            let mut result = self.judge_outcome(global, outcome, held.get(&global.number));
            if let GlobalResult::Compared(GlobalVerdict { difference: Some(difference), .. }) = &mut result {
                difference.actual += &format!(" in {declaration}");
            }
            Some((global.number, result))
        });
        Ok(judged.collect())
    }

    fn ptx(&self, globals: &[&LlvmGlobal]) -> Result<Option<String>, EmitError> {
        Ok(Llc::ptx(self, &module(globals))?.ok())
    }

    fn ptx_command(&self) -> String {
        Llc::ptx_command(self)
    }
}

/// The largest alignment of an integer on x86-64.
const HOST_ALIGNMENT: LargestAlignment = LargestAlignment(16);

impl Llc {
    /// Judges one global under the alignment of 256-bit integers in this release: 16 up to 19, 32 from 22 on.
    /// In 20 and 21 it is not known, so a global whose layout depends on it is not compared.
    fn judge_outcome(
        &self,
        global: &LlvmGlobal,
        outcome: &CompilationOutcome,
        host: Option<&VariableContents>,
    ) -> GlobalResult {
        let major = self.description.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let layout = LargestAlignment(16).layout(global);
        match major {
            Some(20 | 21) | None if layout != LargestAlignment(32).layout(global) => {
                GlobalResult::NotCompared(
                    "the alignment of integers of 256 bits in this release is not known".to_owned(),
                )
            }
            Some(22..) => judge_outcome(global, outcome, host, &LargestAlignment(32).layout(global)),
            _ => judge_outcome(global, outcome, host, &layout),
        }
    }
}

/// Returns what a variable of the host holds.
fn host_held(host: &VariableContents) -> HeldContents<'_> {
    let addresses = host.addresses.iter().map(|(offset, symbol, addend)| Address {
        offset: *offset,
        width: 8,
        symbol: symbol.as_str().into(),
        addend: *addend,
        generic: false,
        byte: None,
        addend_bits: 64,
    });
    HeldContents { bytes: &host.bytes, addresses: addresses.collect(), tells_generic: false }
}

fn judge_outcome(
    global: &LlvmGlobal,
    outcome: &CompilationOutcome,
    host: Option<&VariableContents>,
    layout: &LlvmLayout,
) -> GlobalResult {
    let testimony = match outcome {
        CompilationOutcome::Printed(testimony) => testimony,
        failure => return failure_result(global.number, failure),
    };
    // The host confirms our rules with its own alignment.
    let host_layout = HOST_ALIGNMENT.layout(&global.for_host());
    match host {
        None => {
            return GlobalResult::NotCompared(
                "there is no llc 18 or later for x86-64, or it fails".to_owned(),
            );
        }
        Some(host)
            if host.bytes.len() as u64 != host_layout.size
                || host_layout.difference(&host_held(host)).is_some() =>
        {
            return GlobalResult::NotCompared("our layout and that of llc for x86-64 differ".to_owned());
        }
        Some(_) => {}
    }
    let difference = match testimony {
        Testimony::Silent(why) => return GlobalResult::NotCompared(format!("oracle: {why}")),
        Testimony::Refused(why) => Some(SourceDifference {
            class: Class::WrongValue,
            symptom: format!("the specification refuses the PTX: {why}"),
            kind: "",
            place: format!("g{}", global.number),
            expected: "PTX that the specification accepts".to_owned(),
            actual: why.clone(),
        }),
        Testimony::Read(read) => {
            let held = HeldContents {
                bytes: &read.contents.bytes,
                addresses: read.addresses.clone(),
                tells_generic: true,
            };
            difference(global, layout, &held, read.align)
        }
    };
    GlobalResult::Compared(GlobalVerdict { difference, is_judged: true, ..GlobalVerdict::default() })
}

fn difference(
    global: &LlvmGlobal,
    layout: &LlvmLayout,
    held: &HeldContents<'_>,
    align: u64,
) -> Option<SourceDifference> {
    let place = format!("g{}", global.number);
    if let Some((leaf, actual)) = layout.difference(held) {
        let is_address = matches!(leaf.value, LeafValue::Address(_));
        return Some(SourceDifference {
            class: if is_address { Class::WrongAddress } else { Class::WrongValue },
            symptom: "another value is printed".to_owned(),
            kind: leaf.kind,
            place: format!("{place}+{}", leaf.offset),
            expected: leaf.to_text(true),
            actual,
        });
    }
    let size = held.bytes.len() as u64;
    let (symptom, expected, actual) = if size < layout.size {
        ("the variable is smaller than its type", layout.size, size)
    } else if align < layout.align {
        ("the variable is less aligned than its type", layout.align, align)
    } else {
        return None;
    };
    Some(SourceDifference::of_layout(symptom, place, expected, actual))
}
