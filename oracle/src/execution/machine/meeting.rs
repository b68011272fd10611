//! Instructions on which the lanes of a warp meet to exchange values: `shfl`, `vote`, `match` and `redux` (9.7.9, 9.7.14).

use ptxsmith_syntax::{Expr, Opcode, Operand, ScalarType};

use super::super::{
    form::InstructionForm,
    judged::destinations,
    memory::RegisterCell,
    names::{ResolvedFunction, VisibleNames},
};
use super::{CallFrame, FORM, Flow, PtxMachine};
use crate::{
    step::Ruled,
    value::{extended, low_bits},
};

/// The state of a lane at an instruction on which the lanes meet: it gives its values, and then receives the results.
#[derive(Clone, Debug, Default)]
pub(super) enum ExchangeState {
    #[default]
    None,
    Given(LaneInput),
    /// The result for each destination.
    Received([RegisterCell; 2]),
}

/// The values that a lane gives.
#[derive(Clone, Debug)]
pub(super) struct LaneInput {
    exchange: LaneExchange,
    /// The source, and the other operands before the mask; `None` if one of them is unknown.
    values: Option<Vec<u64>>,
    /// The lanes that take part.
    mask: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneExchange {
    Shuffle(ShuffleMode),
    Vote(Vote),
    MatchAny,
    MatchAll,
    Reduce(Reduction, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    Add,
    Least,
    Greatest,
    And,
    Or,
    Xor,
}

/// Whether the lanes of a warp meet on an instruction with this opcode.
pub(super) fn is_meeting(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Shfl | Opcode::Vote | Opcode::Match | Opcode::Redux)
}

/// Whether a kernel has such an instruction.
pub(in super::super) fn has_meeting(body: &ResolvedFunction<'_>) -> bool {
    body.lines.iter().any(|line| is_meeting(line.instruction.opcode))
}

/// Decodes the exchange of an instruction; `None` if it is not modelled.
fn exchange(form: &InstructionForm<'_>) -> Option<LaneExchange> {
    let is_word = matches!(form.ty, Some(ScalarType::B32 | ScalarType::B64));
    let signed = form.ty == Some(ScalarType::S32);
    let is_number = signed || form.ty == Some(ScalarType::U32);
    let is_bits = form.ty == Some(ScalarType::B32);
    if form.space.is_some() || form.lanes.is_some() {
        return None;
    }
    Some(match (form.opcode, form.others.as_slice(), form.ty) {
        (Opcode::Shfl, [".sync", ".up"], Some(ScalarType::B32)) => LaneExchange::Shuffle(ShuffleMode::Up),
        (Opcode::Shfl, [".sync", ".down"], Some(ScalarType::B32)) => LaneExchange::Shuffle(ShuffleMode::Down),
        (Opcode::Shfl, [".sync", ".bfly"], Some(ScalarType::B32)) => {
            LaneExchange::Shuffle(ShuffleMode::Butterfly)
        }
        (Opcode::Shfl, [".sync", ".idx"], Some(ScalarType::B32)) => LaneExchange::Shuffle(ShuffleMode::Index),
        (Opcode::Vote, [".sync", ".all"], Some(ScalarType::Pred)) => LaneExchange::Vote(Vote::All),
        (Opcode::Vote, [".sync", ".any"], Some(ScalarType::Pred)) => LaneExchange::Vote(Vote::Any),
        (Opcode::Vote, [".sync", ".uni"], Some(ScalarType::Pred)) => LaneExchange::Vote(Vote::Uniform),
        (Opcode::Vote, [".sync", ".ballot"], Some(ScalarType::B32)) => LaneExchange::Vote(Vote::Ballot),
        (Opcode::Match, [".any", ".sync"], _) if is_word => LaneExchange::MatchAny,
        (Opcode::Match, [".all", ".sync"], _) if is_word => LaneExchange::MatchAll,
        (Opcode::Redux, [".sync", ".add"], _) if is_number => LaneExchange::Reduce(Reduction::Add, signed),
        (Opcode::Redux, [".sync", ".min"], _) if is_number => LaneExchange::Reduce(Reduction::Least, signed),
        (Opcode::Redux, [".sync", ".max"], _) if is_number => {
            LaneExchange::Reduce(Reduction::Greatest, signed)
        }
        (Opcode::Redux, [".sync", ".and"], _) if is_bits => LaneExchange::Reduce(Reduction::And, false),
        (Opcode::Redux, [".sync", ".or"], _) if is_bits => LaneExchange::Reduce(Reduction::Or, false),
        (Opcode::Redux, [".sync", ".xor"], _) if is_bits => LaneExchange::Reduce(Reduction::Xor, false),
        _ => return None,
    })
}

impl<'m> PtxMachine<'m, '_> {
    /// Gives the values of a lane, or sets its destinations if the lanes have met.
    pub(super) fn meet(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<Flow> {
        let exchange = exchange(form).ok_or(FORM)?;
        let Some(numbers) = self.numbers.as_mut().filter(|numbers| numbers.phase.is_some()) else {
            return Err(FORM);
        };
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        let Operand::Value(to) = to else { return Err(FORM) };
        match std::mem::take(&mut numbers.meeting) {
            ExchangeState::Received(cells) => {
                let types = match exchange {
                    LaneExchange::Vote(Vote::Ballot)
                    | LaneExchange::Shuffle(_)
                    | LaneExchange::Reduce(..) => ScalarType::B32,
                    LaneExchange::Vote(_) => ScalarType::Pred,
                    LaneExchange::MatchAny | LaneExchange::MatchAll => ScalarType::B32,
                };
                for ((to, ty), cell) in destinations(to).into_iter().zip([types, ScalarType::Pred]).zip(cells)
                {
                    self.set(frame, &Operand::Value(to), ty, cell, names)?;
                }
                Ok(Flow::Next)
            }
            _ => {
                let given = self.given(frame, (exchange, form), (to, sources), names)?;
                if let Some(numbers) = &mut self.numbers {
                    numbers.meeting = ExchangeState::Given(given);
                }
                Ok(Flow::Meet)
            }
        }
    }

    fn given(
        &mut self,
        frame: &CallFrame<'m>,
        (exchange, form): (LaneExchange, &InstructionForm<'m>),
        (to, sources): (&Expr, &[Operand]),
        names: &VisibleNames,
    ) -> Ruled<LaneInput> {
        let has_two = matches!(exchange, LaneExchange::Shuffle(_) | LaneExchange::MatchAll);
        let (values, mask) = match (exchange, sources) {
            (LaneExchange::Shuffle(_), [a, b, c, mask]) => {
                let types = [(a, ScalarType::B32), (b, ScalarType::U32), (c, ScalarType::U32)];
                let cells = types.into_iter().map(|(operand, ty)| self.value(frame, operand, ty, names));
                (cells.collect::<Ruled<Vec<RegisterCell>>>()?, mask)
            }
            (LaneExchange::Vote(_), [condition, mask]) => {
                let truth = self.predicate(frame, form.opcode, condition, names)?;
                (vec![truth.map_or(RegisterCell::Unknown, |truth| RegisterCell::Bits(truth.into()))], mask)
            }
            (LaneExchange::MatchAny | LaneExchange::MatchAll | LaneExchange::Reduce(..), [a, mask]) => {
                (vec![self.value(frame, a, form.ty.ok_or(FORM)?, names)?], mask)
            }
            _ => return Err(FORM),
        };
        if destinations(to).len() > 1 + usize::from(has_two) {
            return Err(FORM);
        }
        let mask = self.value(frame, mask, ScalarType::B32, names)?.bits();
        let values = values.iter().map(RegisterCell::bits).collect();
        Ok(LaneInput { exchange, values, mask: mask.map(|mask| mask as u32) })
    }
}

/// Returns the results of each lane for the inputs of all lanes; `None` unless all lanes meet on the same instruction.
pub(super) fn exchanged(inputs: &[&LaneInput]) -> Option<Vec<[RegisterCell; 2]>> {
    let exchange = inputs.first()?.exchange;
    let all = if inputs.len() >= 32 { u32::MAX } else { (1 << inputs.len()) - 1 };
    for input in inputs {
        if input.exchange != exchange || input.mask? & all != all {
            return None;
        }
    }
    let lanes = 0..inputs.len();
    if let LaneExchange::Shuffle(mode) = exchange {
        return Some(lanes.map(|lane| shuffled(mode, lane, inputs)).collect());
    }
    let values = inputs.iter().map(|input| input.values.as_ref()?.first().copied());
    let Some(values) = values.collect::<Option<Vec<u64>>>() else {
        return Some(vec![[RegisterCell::Unknown, RegisterCell::Unknown]; inputs.len()]);
    };
    Some(lanes.map(|lane| common(exchange, lane, &values, all)).collect())
}

/// 9.7.9.6: the value of another lane, and whether there is one in the segment.
fn shuffled(mode: ShuffleMode, lane: usize, inputs: &[&LaneInput]) -> [RegisterCell; 2] {
    let Some(&[_, b, c]) = inputs[lane].values.as_deref() else {
        return [RegisterCell::Unknown, RegisterCell::Unknown];
    };
    let (lane, b, clamp, segment) = (lane as i64, b as i64 & 31, c as i64 & 31, c as i64 >> 8 & 31);
    let (most, least) = (lane & segment | clamp & !segment, lane & segment);
    let from = match mode {
        ShuffleMode::Up => lane - b,
        ShuffleMode::Down => lane + b,
        ShuffleMode::Butterfly => lane ^ b,
        ShuffleMode::Index => least | b & !segment,
    };
    let is_inside = if mode == ShuffleMode::Up { from >= most } else { from <= most };
    let from = if is_inside { from } else { lane };
    let other = usize::try_from(from).ok().and_then(|from| inputs.get(from)?.values.as_ref()?.first());
    [
        other.map_or(RegisterCell::Unknown, |&value| RegisterCell::Bits(value)),
        RegisterCell::Bits(is_inside.into()),
    ]
}

/// Returns the results of a lane for a vote, a comparison or a reduction over the values of all lanes.
fn common(exchange: LaneExchange, lane: usize, values: &[u64], all: u32) -> [RegisterCell; 2] {
    let is_uniform = values.iter().all(|value| *value == values[0]);
    let (result, predicate) = match exchange {
        LaneExchange::Vote(Vote::All) => (values.iter().all(|value| *value != 0).into(), false),
        LaneExchange::Vote(Vote::Any) => (values.iter().any(|value| *value != 0).into(), false),
        LaneExchange::Vote(Vote::Uniform) => (is_uniform.into(), false),
        LaneExchange::Vote(Vote::Ballot) => (lanes_with(1, values), false),
        LaneExchange::MatchAny => (lanes_with(values[lane], values), false),
        LaneExchange::MatchAll => (if is_uniform { all.into() } else { 0 }, is_uniform),
        LaneExchange::Reduce(reduction, signed) => (reduced(reduction, signed, values), false),
        LaneExchange::Shuffle(_) => return [RegisterCell::Unknown, RegisterCell::Unknown],
    };
    [RegisterCell::Bits(result), RegisterCell::Bits(predicate.into())]
}

/// Returns the mask of the lanes with this value.
fn lanes_with(value: u64, values: &[u64]) -> u64 {
    let lanes = values.iter().enumerate().filter(|(_, other)| **other == value);
    lanes.map(|(lane, _)| 1 << lane).sum()
}

fn reduced(reduction: Reduction, signed: bool, values: &[u64]) -> u64 {
    let ty = if signed { ScalarType::S32 } else { ScalarType::U32 };
    let values = values.iter().copied();
    let result = match reduction {
        Reduction::Add => values.reduce(u64::wrapping_add),
        Reduction::Least => values.min_by_key(|&value| extended(ty, value) as i64),
        Reduction::Greatest => values.max_by_key(|&value| extended(ty, value) as i64),
        Reduction::And => values.reduce(|a, b| a & b),
        Reduction::Or => values.reduce(|a, b| a | b),
        Reduction::Xor => values.reduce(|a, b| a ^ b),
    };
    low_bits(ScalarType::U32, result.unwrap_or(0))
}
