//! Runs a kernel on the lanes of a warp. Each lane is a thread of its own from one barrier to the next; what depends on
//! the order of the lanes is not predicted.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::{
    memory::RegisterCell,
    names::{RegisterFile, ResolvedFunction, ResolvedModule},
    operand::OperandReader,
    setting::warp,
};
use super::meeting::{ExchangeState, LaneInput, exchanged};
use super::numbers::{Numbers, reason_of};
use super::phase::{MemoryPlace, SharedBytes, has_barrier, is_shared};
use super::{CallFrame, FunctionExit, NumericRun, PtxMachine, RunConditions};
use crate::expectation;

/// Reason: lanes reach the same bytes with nothing between them, and at least one writes.
pub(in super::super) const RACE: &str = "lanes that reach the same bytes in an order that is not known";
const BARRIER: &str = "a barrier that only some of the threads reach";

/// One lane, and whether it has ended.
struct Lane<'m, 'r> {
    machine: PtxMachine<'m, 'r>,
    frame: CallFrame<'m>,
    ended: bool,
}

impl<'m, 'r> PtxMachine<'m, 'r> {
    /// Runs a kernel over numbers on a warp. The result covers all lanes.
    pub fn over_lanes(
        program: &'m ResolvedModule<'m>,
        body: &'m ResolvedFunction<'m>,
        reader: OperandReader<'r>,
        variables: &'m [expectation::Variable],
        how: RunConditions,
    ) -> NumericRun {
        let (threads, specials, is_whole) = warp(body.directives);
        if !is_whole && has_barrier(body) {
            return Err("a barrier of more threads than one warp has");
        }
        let mut first = PtxMachine::prepared(program, body, reader, variables, how)?;
        let numbers = first.numbers.as_mut().ok_or(super::judged::FORM)?;
        let shared = &mut numbers.reached.setting.specials;
        shared.retain(|name, _| !specials[0].contains_key(name));
        shared.extend([("ntid.x", threads[0]), ("ntid.y", threads[1]), ("ntid.z", threads[2])]);
        numbers.phase = Some(Box::default());
        numbers.reached.setting.lanes.clone_from(&specials);
        let mut lanes: Vec<Lane<'m, 'r>> = Vec::new();
        for nth in 0..specials.len() as u32 {
            let mut machine = first.clone();
            if let Some(numbers) = &mut machine.numbers {
                numbers.lane = nth;
            }
            lanes.push(Lane { machine, frame: CallFrame::new(body, 0), ended: false });
        }
        let mut memory = Rc::new(SharedBytes::new());
        while lanes.iter().any(|lane| !lane.ended) {
            // All wait at one barrier, or none does.
            let place = lanes[0].frame.at;
            if lanes.iter().any(|lane| lane.ended || lane.frame.at != place) {
                return Err(BARRIER);
            }
            for lane in &mut lanes {
                lane.machine.run_lane(&mut lane.frame).map(|ended| lane.ended = ended).map_err(reason_of)?;
            }
            // Where lanes only exchange values, the memory of each stays as it is.
            if !exchange(&mut lanes)? {
                join(&mut lanes, &mut memory)?;
            }
        }
        let mut lanes = lanes.into_iter().map(|lane| (lane.machine.numbers, lane.machine.reader.trace));
        let (Some(Numbers { mut reached, mut values, .. }), mut trace) = lanes.next().ok_or(BARRIER)? else {
            return Err(super::judged::FORM);
        };
        for (numbers, lane_trace) in lanes {
            let Some(numbers) = numbers else { continue };
            reached.accesses.extend(numbers.reached.accesses);
            reached.setting.memory.extend(numbers.reached.setting.memory);
            trace = trace.union(lane_trace);
            values = values.union(numbers.values);
        }
        reached.written = Rc::unwrap_or_clone(memory);
        Ok((reached, [trace, values]))
    }
}

impl<'m> PtxMachine<'m, '_> {
    /// Runs a lane until it waits or ends. Returns whether it has ended.
    fn run_lane(&mut self, frame: &mut CallFrame<'m>) -> crate::step::Ruled<bool> {
        Ok(!matches!(self.run(frame)?, FunctionExit::Waits))
    }
}

/// Exchanges the values of lanes that meet on an instruction. Returns false if they wait at a barrier or have ended.
fn exchange(lanes: &mut [Lane<'_, '_>]) -> Result<bool, &'static str> {
    let given: Vec<&LaneInput> = lanes
        .iter()
        .filter_map(|lane| match &lane.machine.numbers.as_ref()?.meeting {
            ExchangeState::Given(given) => Some(given),
            _ => None,
        })
        .collect();
    if given.is_empty() {
        return Ok(false);
    }
    let place = lanes[0].frame.at;
    let is_common = given.len() == lanes.len() && lanes.iter().all(|lane| lane.frame.at == place);
    let results = is_common.then(|| exchanged(&given)).flatten().ok_or(BARRIER)?;
    for (lane, cells) in lanes.iter_mut().zip(results) {
        if let Some(numbers) = &mut lane.machine.numbers {
            numbers.meeting = ExchangeState::Received(cells);
        }
    }
    Ok(true)
}

/// Adds to the memory that the lanes share the bytes that they wrote since the last barrier.
fn join(lanes: &mut [Lane<'_, '_>], memory: &mut Rc<SharedBytes>) -> Result<(), &'static str> {
    let mut written: BTreeMap<MemoryPlace, (u64, Option<u8>)> = BTreeMap::new();
    let all =
        || lanes.iter().enumerate().filter_map(|(nth, lane)| Some((nth, lane.machine.numbers.as_ref()?)));
    for (nth, numbers) in all() {
        for &place in numbers.phase.iter().flat_map(|phase| &phase.written) {
            let byte = numbers.reached.written.get(&place).copied().flatten();
            let (by, held) = written.entry(place).or_insert((0, byte));
            if *by != 0 && (*held != byte || byte.is_none()) {
                return Err(RACE);
            }
            *by |= 1 << nth;
        }
    }
    for (nth, numbers) in all() {
        let mut read = numbers.phase.iter().flat_map(|phase| &phase.read);
        if read.any(|place| written.get(place).is_some_and(|(by, _)| by & !(1 << nth) != 0)) {
            return Err(RACE);
        }
    }
    for numbers in lanes.iter_mut().filter_map(|lane| lane.machine.numbers.as_mut()) {
        numbers.common = Rc::default();
        numbers.reached.written.retain(|(space, _), _| !is_shared(*space));
        numbers.phase = Some(Box::default());
    }
    Rc::make_mut(memory).extend(written.into_iter().map(|(place, (_, byte))| (place, byte)));
    for numbers in lanes.iter_mut().filter_map(|lane| lane.machine.numbers.as_mut()) {
        numbers.common = memory.clone();
    }
    Ok(())
}

impl<'m> CallFrame<'m> {
    /// Returns the start of a function, where no register is set.
    pub fn new(body: &'m ResolvedFunction<'m>, call: u32) -> CallFrame<'m> {
        CallFrame {
            body,
            call,
            registers: RegisterFile::new(RegisterCell::Unknown),
            carry: None,
            at: 0,
            is_past: false,
        }
    }
}
