//! Instructions on which the lanes of a warp meet to exchange values: `shfl`, `vote`, `match` and `redux` (9.7.9, 9.7.14).

use ptxsmith_syntax::{Expr, Opcode, Operand, ScalarType};

use super::super::{
    form::Form,
    judged::destinations,
    memory::Cell,
    names::{Body, Names},
};
use super::{FORM, Flow, Frame, Machine};
use crate::{
    step::Ruled,
    value::{low_bits, sign_extended},
};

/// The values that a lane gives, and then what it gets.
#[derive(Clone, Debug, Default)]
pub(super) enum Meeting {
    #[default]
    None,
    Given(Given),
    /// The result for each destination.
    Got([Cell; 2]),
}

/// The values that a lane gives.
#[derive(Clone, Debug)]
pub(super) struct Given {
    exchange: Exchange,
    /// The source, and the other operands before the mask; `None` where one is not known.
    values: Option<Vec<u64>>,
    /// The lanes that take part.
    mask: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    Shuffle(Source),
    Vote(Vote),
    MatchAny,
    MatchAll,
    Reduce(Reduction, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
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
pub(in super::super) fn has_meeting(body: &Body<'_>) -> bool {
    body.lines.iter().any(|line| is_meeting(line.instruction.opcode))
}

/// Returns what an instruction exchanges; `None` if it is not modelled.
fn exchange(form: &Form<'_>) -> Option<Exchange> {
    let is_word = |ty: &ScalarType| matches!(ty, ScalarType::B32 | ScalarType::B64);
    let signed = form.ty == Some(ScalarType::S32);
    let is_number = signed || form.ty == Some(ScalarType::U32);
    let is_bits = form.ty == Some(ScalarType::B32);
    if form.space.is_some() || form.lanes.is_some() {
        return None;
    }
    Some(match (form.opcode, form.others.as_slice(), form.ty) {
        (Opcode::Shfl, [".sync", ".up"], Some(ScalarType::B32)) => Exchange::Shuffle(Source::Up),
        (Opcode::Shfl, [".sync", ".down"], Some(ScalarType::B32)) => Exchange::Shuffle(Source::Down),
        (Opcode::Shfl, [".sync", ".bfly"], Some(ScalarType::B32)) => Exchange::Shuffle(Source::Butterfly),
        (Opcode::Shfl, [".sync", ".idx"], Some(ScalarType::B32)) => Exchange::Shuffle(Source::Index),
        (Opcode::Vote, [".sync", ".all"], Some(ScalarType::Pred)) => Exchange::Vote(Vote::All),
        (Opcode::Vote, [".sync", ".any"], Some(ScalarType::Pred)) => Exchange::Vote(Vote::Any),
        (Opcode::Vote, [".sync", ".uni"], Some(ScalarType::Pred)) => Exchange::Vote(Vote::Uniform),
        (Opcode::Vote, [".sync", ".ballot"], Some(ScalarType::B32)) => Exchange::Vote(Vote::Ballot),
        (Opcode::Match, [".any", ".sync"], Some(ty)) if is_word(&ty) => Exchange::MatchAny,
        (Opcode::Match, [".all", ".sync"], Some(ty)) if is_word(&ty) => Exchange::MatchAll,
        (Opcode::Redux, [".sync", ".add"], _) if is_number => Exchange::Reduce(Reduction::Add, signed),
        (Opcode::Redux, [".sync", ".min"], _) if is_number => Exchange::Reduce(Reduction::Least, signed),
        (Opcode::Redux, [".sync", ".max"], _) if is_number => Exchange::Reduce(Reduction::Greatest, signed),
        (Opcode::Redux, [".sync", ".and"], _) if is_bits => Exchange::Reduce(Reduction::And, false),
        (Opcode::Redux, [".sync", ".or"], _) if is_bits => Exchange::Reduce(Reduction::Or, false),
        (Opcode::Redux, [".sync", ".xor"], _) if is_bits => Exchange::Reduce(Reduction::Xor, false),
        _ => return None,
    })
}

impl<'m> Machine<'m, '_> {
    /// Gives the values of a lane, or sets its destinations if the lanes have met.
    pub(super) fn meet(&mut self, frame: &mut Frame<'m>, form: &Form<'m>, names: &Names) -> Ruled<Flow> {
        let exchange = exchange(form).ok_or(FORM)?;
        let Some(numbers) = self.numbers.as_mut().filter(|numbers| numbers.phase.is_some()) else {
            return Err(FORM);
        };
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        let Operand::Value(to) = to else { return Err(FORM) };
        match std::mem::take(&mut numbers.meeting) {
            Meeting::Got(cells) => {
                let types = match exchange {
                    Exchange::Vote(Vote::Ballot) | Exchange::Shuffle(_) | Exchange::Reduce(..) => {
                        ScalarType::B32
                    }
                    Exchange::Vote(_) => ScalarType::Pred,
                    Exchange::MatchAny | Exchange::MatchAll => ScalarType::B32,
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
                    numbers.meeting = Meeting::Given(given);
                }
                Ok(Flow::Meet)
            }
        }
    }

    fn given(
        &mut self,
        frame: &Frame<'m>,
        (exchange, form): (Exchange, &Form<'m>),
        (to, sources): (&Expr, &[Operand]),
        names: &Names,
    ) -> Ruled<Given> {
        let has_two = matches!(exchange, Exchange::Shuffle(_) | Exchange::MatchAll);
        let (values, mask) = match (exchange, sources) {
            (Exchange::Shuffle(_), [a, b, c, mask]) => {
                let types = [(a, ScalarType::B32), (b, ScalarType::U32), (c, ScalarType::U32)];
                let cells = types.into_iter().map(|(operand, ty)| self.value(frame, operand, ty, names));
                (cells.collect::<Ruled<Vec<Cell>>>()?, mask)
            }
            (Exchange::Vote(_), [condition, mask]) => {
                let truth = self.predicate(frame, form.opcode, condition, names)?;
                (vec![truth.map_or(Cell::Unknown, |truth| Cell::Bits(truth.into()))], mask)
            }
            (Exchange::MatchAny | Exchange::MatchAll | Exchange::Reduce(..), [a, mask]) => {
                (vec![self.value(frame, a, form.ty.ok_or(FORM)?, names)?], mask)
            }
            _ => return Err(FORM),
        };
        if destinations(to).len() > 1 + usize::from(has_two) {
            return Err(FORM);
        }
        let bits = |cell: &Cell| if let Cell::Bits(bits) = cell { Some(*bits) } else { None };
        let mask = bits(&self.value(frame, mask, ScalarType::B32, names)?);
        let values = values.iter().map(bits).collect();
        Ok(Given { exchange, values, mask: mask.map(|mask| mask as u32) })
    }
}

/// Returns what each lane gets, for what each gives; `None` if they do not meet on one instruction, or not all of them do.
pub(super) fn met(given: &[&Given]) -> Option<Vec<[Cell; 2]>> {
    let exchange = given.first()?.exchange;
    let all = if given.len() >= 32 { u32::MAX } else { (1 << given.len()) - 1 };
    let meets = |own: &&Given| own.exchange == exchange && own.mask.is_some_and(|mask| mask & all == all);
    if !given.iter().all(meets) {
        return None;
    }
    let first: Option<Vec<u64>> = given.iter().map(|own| own.values.as_ref()?.first().copied()).collect();
    let lanes = 0..given.len();
    let of_lane = |lane: usize| match exchange {
        Exchange::Shuffle(source) => shuffled(source, lane, given),
        exchange => {
            first.as_ref().map_or([Cell::Unknown, Cell::Unknown], |first| common(exchange, lane, first, all))
        }
    };
    Some(lanes.map(of_lane).collect())
}

/// 9.7.9.6: the value of another lane, and whether there is one in the segment.
fn shuffled(source: Source, lane: usize, given: &[&Given]) -> [Cell; 2] {
    let Some(&[_, b, c]) = given[lane].values.as_deref() else { return [Cell::Unknown, Cell::Unknown] };
    let (lane, b, clamp, segment) = (lane as i64, b as i64 & 31, c as i64 & 31, c as i64 >> 8 & 31);
    let (most, least) = (lane & segment | clamp & !segment, lane & segment);
    let from = match source {
        Source::Up => lane - b,
        Source::Down => lane + b,
        Source::Butterfly => lane ^ b,
        Source::Index => least | b & !segment,
    };
    let is_inside = if source == Source::Up { from >= most } else { from <= most };
    let from = if is_inside { from } else { lane };
    let other = usize::try_from(from).ok().and_then(|from| given.get(from)?.values.as_ref()?.first());
    [other.map_or(Cell::Unknown, |&value| Cell::Bits(value)), Cell::Bits(is_inside.into())]
}

/// Returns what a lane gets of a vote, a comparison or a reduction.
fn common(exchange: Exchange, lane: usize, values: &[u64], all: u32) -> [Cell; 2] {
    let where_equal = |value: u64| -> u64 {
        values.iter().enumerate().filter(|(_, own)| **own == value).map(|(lane, _)| 1 << lane).sum()
    };
    let is_uniform = values.iter().all(|value| *value == values[0]);
    let truths =
        |of: fn(bool, bool) -> bool| values.iter().map(|value| *value != 0).reduce(of).unwrap_or(false);
    let (result, also) = match exchange {
        Exchange::Vote(Vote::All) => (truths(|a, b| a && b).into(), false),
        Exchange::Vote(Vote::Any) => (truths(|a, b| a || b).into(), false),
        Exchange::Vote(Vote::Uniform) => (is_uniform.into(), false),
        Exchange::Vote(Vote::Ballot) => (where_equal(1), false),
        Exchange::MatchAny => (where_equal(values[lane]), false),
        Exchange::MatchAll => (if is_uniform { all.into() } else { 0 }, is_uniform),
        Exchange::Reduce(reduction, signed) => (reduced(reduction, signed, values), false),
        Exchange::Shuffle(_) => return [Cell::Unknown, Cell::Unknown],
    };
    [Cell::Bits(result), Cell::Bits(also.into())]
}

fn reduced(reduction: Reduction, signed: bool, values: &[u64]) -> u64 {
    let key = |value: &u64| if signed { sign_extended(ScalarType::S32, *value) } else { *value as i64 };
    let values = values.iter().copied();
    let result = match reduction {
        Reduction::Add => values.reduce(u64::wrapping_add),
        Reduction::Least => values.min_by_key(key),
        Reduction::Greatest => values.max_by_key(key),
        Reduction::And => values.reduce(|a, b| a & b),
        Reduction::Or => values.reduce(|a, b| a | b),
        Reduction::Xor => values.reduce(|a, b| a ^ b),
    };
    low_bits(ScalarType::U32, result.unwrap_or(0))
}
