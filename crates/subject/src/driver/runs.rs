//! Kernels that run on the device over numbers: the parent process gives each pointer an area of memory; the
//! worker fills the areas, runs the kernels and reads the areas back.
//!
//! Variables and pointers have other addresses on the device than in the numbers. Pointer parameters are
//! therefore replaced, and a kernel may access only memory near a pointer. Everything runs twice with
//! different fill bytes: a byte that differs between the two runs was not written, or depends on memory that
//! was not set.

use std::collections::{BTreeMap, HashMap};

use ptxsmith_driver::{CallError, DriverContext, LoadedModule};
use serde::{Deserialize, Serialize};

use crate::subject::Memory;
use ptxsmith_model::{Space, Tracing};

/// Number of bytes that a kernel may access before a pointer, and from it on.
const BEFORE: u64 = 256;
const BEHIND: u64 = 1024;
const AREA: u64 = BEFORE + BEHIND;
/// Fill bytes for memory that was not set, one for each of the two runs.
const FILLINGS: [u8; 2] = [0xa5, 0x5a];

/// One run of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KernelRun {
    kernel: String,
    /// The parameter bytes as they are passed, each parameter at its alignment.
    #[serde(with = "hex")]
    parameters: Vec<u8>,
    /// Offset of each pointer among the parameters, and its target address in the numbers.
    pointers: Vec<(usize, u64)>,
    /// Initial memory, as contiguous segments.
    memory: Vec<Segment>,
}

/// Bytes of memory from an address on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    at: u64,
    #[serde(with = "hex")]
    bytes: Vec<u8>,
}

/// Memory after a run where the run wrote, or why it is not known.
pub(crate) type WrittenMemory = Result<Vec<Segment>, String>;

/// Converts a tracing to a run on the device; the error says why it cannot run there.
pub(super) fn run(tracing: &Tracing) -> Result<KernelRun, String> {
    let mut parameters = Vec::new();
    let mut pointers = Vec::new();
    for (align, bytes) in &tracing.parameters {
        parameters.resize(parameters.len().next_multiple_of((*align).max(1) as usize), 0);
        if let Ok(bytes) = <[u8; 8]>::try_from(&bytes[..]) {
            pointers.push((parameters.len(), u64::from_le_bytes(bytes)));
        }
        parameters.extend(bytes);
    }
    let mut memory: Vec<Segment> = Vec::new();
    for (&(space, at), bytes) in &tracing.memory {
        let bytes: Option<Vec<u8>> = bytes.iter().copied().collect();
        let bytes = bytes.ok_or("it reads what is not known")?;
        let is_near_pointer = pointers.iter().any(|&(_, pointer)| {
            offset(pointer, at).is_some_and(|offset| offset + bytes.len() as u64 <= AREA)
        });
        if space != Space::Global || !is_near_pointer {
            return Err("it reads memory that no parameter points to".to_owned());
        }
        match memory.last_mut().filter(|last| last.at + last.bytes.len() as u64 == at) {
            Some(last) => last.bytes.extend(bytes),
            None => memory.push(Segment { at, bytes }),
        }
    }
    Ok(KernelRun { kernel: tracing.kernel.clone(), parameters, pointers, memory })
}

/// Returns the offset of address `at` in the area of a pointer, if it is inside.
fn offset(pointer: u64, at: u64) -> Option<u64> {
    at.checked_sub(pointer.wrapping_sub(BEFORE)).filter(|offset| *offset < AREA)
}

/// Converts the memory that a run left to single bytes by address.
pub(crate) fn memory(left: WrittenMemory) -> Result<Memory, String> {
    let mut memory = Memory::new();
    for Segment { at, bytes } in left? {
        memory.extend((at..).zip(bytes).map(|(address, byte)| ((Space::Global, address), byte)));
    }
    Ok(memory)
}

/// The memory areas of a run, contiguous.
struct Areas {
    pointers: Vec<u64>,
    before: Vec<u8>,
    is_set: Vec<bool>,
}

impl Areas {
    fn new(run: &KernelRun, filling: u8) -> Areas {
        let pointers: Vec<u64> = run.pointers.iter().map(|(_, pointer)| *pointer).collect();
        let size = pointers.len() * AREA as usize;
        let mut areas = Areas { before: vec![filling; size], is_set: vec![false; size], pointers };
        for segment in &run.memory {
            for (at, byte) in (segment.at..).zip(&segment.bytes) {
                for (nth, pointer) in areas.pointers.iter().enumerate() {
                    if let Some(offset) = offset(*pointer, at) {
                        let place = nth * AREA as usize + offset as usize;
                        (areas.before[place], areas.is_set[place]) = (*byte, true);
                    }
                }
            }
        }
        areas
    }

    /// Returns the address in the numbers of a byte of the areas.
    fn address_of(&self, place: usize) -> u64 {
        let (nth, offset) = (place / AREA as usize, place as u64 % AREA);
        self.pointers[nth].wrapping_sub(BEFORE).wrapping_add(offset)
    }
}

/// Runs kernels of a module, each over its own memory.
///
/// # Errors
/// The device reports one error for all kernels: a kernel that fails makes the others fail.
pub(super) fn run_all(
    context: &DriverContext<'_>,
    module: &LoadedModule<'_>,
    runs: &[KernelRun],
) -> Result<Vec<WrittenMemory>, CallError> {
    let mut functions = HashMap::new();
    for run in runs {
        if !functions.contains_key(run.kernel.as_str()) {
            functions.insert(run.kernel.as_str(), module.function(&run.kernel)?);
        }
    }
    let mut afters = Vec::new();
    for filling in FILLINGS {
        let areas: Vec<Areas> = runs.iter().map(|run| Areas::new(run, filling)).collect();
        let all: Vec<u8> = areas.iter().flat_map(|areas| &areas.before).copied().collect();
        let buffer = context.allocate(all.len().max(1))?;
        context.write(buffer.address(), &all)?;
        let mut start = buffer.address();
        for run in runs {
            let mut parameters = run.parameters.clone();
            for (nth, (place, _)) in run.pointers.iter().enumerate() {
                let pointer = start + nth as u64 * AREA + BEFORE;
                parameters[*place..place + 8].copy_from_slice(&pointer.to_le_bytes());
            }
            if let Some(Some(function)) = functions.get(run.kernel.as_str()) {
                function.launch(&parameters)?;
            }
            start += run.pointers.len() as u64 * AREA;
        }
        context.synchronize()?;
        afters.push((areas, context.read(buffer.address(), all.len())?));
    }
    let [first, second] = &afters[..] else { unreachable!("one for each filling") };
    let mut memories = Vec::with_capacity(runs.len());
    let mut start = 0;
    for (nth, run) in runs.iter().enumerate() {
        let end = start + run.pointers.len() * AREA as usize;
        memories.push(match functions.get(run.kernel.as_str()) {
            Some(Some(_)) => {
                written_segments([first, second].map(|(areas, after)| (&areas[nth], &after[start..end])))
            }
            _ => Err("the module shows no kernel of this name".to_owned()),
        });
        start = end;
    }
    Ok(memories)
}

/// Returns the bytes that were written: equal in both runs and different from the initial fill. Bytes that
/// were set initially are always included, whether written or not.
fn written_segments([(areas, first), (others, second)]: [(&Areas, &[u8]); 2]) -> WrittenMemory {
    let mut by_place = BTreeMap::new();
    for place in 0..first.len() {
        let is_changed = first[place] != areas.before[place] || second[place] != others.before[place];
        if !is_changed && !areas.is_set[place] {
            continue;
        }
        if first[place] != second[place] {
            return Err("what it leaves depends on memory that was not set".to_owned());
        }
        by_place.insert(areas.address_of(place), first[place]);
    }
    let mut segments: Vec<Segment> = Vec::new();
    for (at, byte) in by_place {
        match segments.last_mut().filter(|last| last.at + last.bytes.len() as u64 == at) {
            Some(last) => last.bytes.push(byte),
            None => segments.push(Segment { at, bytes: vec![byte] }),
        }
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracing(memory: &[(u64, u8)]) -> Tracing {
        let pointer = |at: u64| (8, at.to_le_bytes().to_vec());
        Tracing {
            kernel: "k".to_owned(),
            parameters: vec![pointer(0x10_0000), (4, vec![7, 0, 0, 0]), pointer(0x20_0000)],
            memory: memory.iter().map(|&(at, byte)| ((Space::Global, at), vec![Some(byte)])).collect(),
            ..Tracing::default()
        }
    }

    #[test]
    fn parameters_are_laid_out_and_pointers_found() {
        let run = run(&tracing(&[(0x20_0000, 1), (0x20_0001, 2), (0x20_0009, 3)])).unwrap();
        assert_eq!((run.parameters.len(), &run.pointers[..]), (24, &[(0, 0x10_0000), (16, 0x20_0000)][..]));
        assert_eq!(run.parameters[8..12], [7, 0, 0, 0]);
        let segment = |at, bytes: &[u8]| Segment { at, bytes: bytes.to_vec() };
        assert_eq!(run.memory, [segment(0x20_0000, &[1, 2]), segment(0x20_0009, &[3])]);
    }

    #[test]
    fn what_no_pointer_reaches_is_not_run() {
        for far in [0x10_0000 - BEFORE - 1, 0x20_0000 + BEHIND, 0] {
            run(&tracing(&[(far, 1)])).unwrap_err();
        }
        run(&tracing(&[(0x10_0000 - BEFORE, 1), (0x20_0000 + BEHIND - 1, 1)])).unwrap();
    }

    #[test]
    fn what_both_runs_leave_alike_was_written() {
        let run = run(&tracing(&[(0x20_0000, 1)])).unwrap();
        let both = FILLINGS.map(|filling| Areas::new(&run, filling));
        let afters = |change: &dyn Fn(&mut [u8], u8)| {
            [0, 1].map(|nth| {
                let mut after = both[nth].before.clone();
                change(&mut after, FILLINGS[nth]);
                after
            })
        };
        let left = |change: &dyn Fn(&mut [u8], u8)| {
            let [first, second] = afters(change);
            memory(written_segments([(&both[0], &first), (&both[1], &second)]))
        };
        let (out, input) = (BEFORE as usize, (AREA + BEFORE) as usize);
        let one = |at, byte| Ok(Memory::from([((Space::Global, at), byte), ((Space::Global, 0x20_0000), 1)]));
        assert_eq!(left(&|_, _| ()), one(0x20_0000, 1));
        // A written byte that equals one of the fill bytes is detected, and so is one that replaces an
        // initial byte.
        assert_eq!(left(&|after, _| after[out + 3] = 0xa5), one(0x10_0003, 0xa5));
        assert_eq!(left(&|after, _| after[input] = 9), Ok(Memory::from([((Space::Global, 0x20_0000), 9)])));
        left(&|after, filling| after[out] = filling ^ 1).unwrap_err();
    }
}
