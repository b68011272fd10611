//! What an entry of the list of known deviations says.

use ptxsmith_oracle::{Clause, Rules, Trace};
use ptxsmith_subject::{Observation, Outcome};

use crate::maker::{Maker, Releases};
use crate::shapes::Shaped;

/// What a deviation does.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Another rule is followed, which gives another value.
    Rule(fn(&mut Rules)),
    /// Another rule is followed, which refuses what the specification takes.
    Refusal(fn(&mut Rules)),
    /// The subject is killed by this signal where the predicate holds.
    Crash {
        /// The signal.
        signal: i32,
        /// Whether an evaluation that rests on this meets it.
        when: fn(&Trace) -> bool,
        /// Whether a module meets it of which nothing is evaluated, since the text does not decide all of it.
        of: fn(&Shaped<'_>) -> bool,
    },
    /// The subject dies of modules of a shape, whatever the text says of them: an implementation may refuse what it does not
    /// understand, but not die of it.
    Death {
        /// How it ends.
        end: End,
        /// Whether a module has the shape.
        of: fn(&Shaped<'_>) -> bool,
    },
    /// The subject takes modules of a shape, which the text refuses by one of the clauses.
    Taken(fn(&Shaped<'_>) -> bool),
    /// The subject refuses modules of a shape, which the text takes.
    Refused(fn(&Shaped<'_>) -> bool),
    /// The subject takes modules of a shape, as the text does, with other values, which nothing predicts.
    Wrong {
        /// Whether a module has the shape.
        of: fn(&Shaped<'_>) -> bool,
        /// Whether in a module the variable or kernel of a name is one with other values.
        at: fn(&Shaped<'_>, &str) -> bool,
    },
}

/// How a subject ends that dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Killed by this signal. Later releases end with an internal error of some of what killed earlier ones.
    Signal(i32),
    /// It tells of an internal error.
    Internal,
    /// Killed by this signal, or it notices and tells of an error of its own.
    Noticed(i32),
    /// Killed by this signal, or it gives no answer in time.
    SignalOrHang(i32),
    /// It gives no answer in time.
    Hang,
    /// It leaves what cannot be read.
    Broken,
    /// It has no memory left, or gives no answer before.
    Exhausted,
}

impl End {
    /// Whether a subject ended so.
    pub fn is_of(self, observation: &Observation) -> bool {
        match self {
            End::Signal(signal) => observation.signal == Some(signal) || End::Internal.is_of(observation),
            End::Internal => observation.is_internal_error(),
            End::Noticed(signal) => End::Signal(signal).is_of(observation) || End::Broken.is_of(observation),
            End::SignalOrHang(signal) => {
                End::Signal(signal).is_of(observation) || End::Hang.is_of(observation)
            }
            End::Hang => observation.outcome == Outcome::TimedOut,
            End::Broken => observation.outcome == Outcome::Crashed && observation.signal.is_none(),
            End::Exhausted => End::Hang.is_of(observation) || End::Broken.is_of(observation),
        }
    }
}

/// A deviation that was reported before.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its stable name.
    pub id: &'static str,
    /// What happens, in a line.
    pub title: &'static str,
    /// The clauses that it breaks.
    pub clauses: &'static [Clause],
    /// The implementations that show it: lineage.
    pub lineage: &'static str,
    /// The releases of them that show it.
    pub releases: Releases,
    /// What it does.
    pub effect: Effect,
    /// The minimized reproducer that shows it, taken by every listed release. A case of the corpus or the specification's
    /// tables, worked out by hand.
    pub example: &'static str,
    /// The day on which it was first seen by this project, `2026-11-21`.
    pub first_seen: &'static str,
}

impl Known {
    /// Whether it is listed for this implementation.
    pub fn is_of(&self, maker: Maker<'_>) -> bool {
        maker.lineage == Some(self.lineage) && self.releases.contain(maker.version)
    }

    /// The other rule that it follows; `None` where it is known by the shape of modules, or is killed.
    pub fn change(&self) -> Option<fn(&mut Rules)> {
        match self.effect {
            Effect::Rule(change) | Effect::Refusal(change) => Some(change),
            Effect::Crash { .. }
            | Effect::Death { .. }
            | Effect::Taken(_)
            | Effect::Refused(_)
            | Effect::Wrong { .. } => None,
        }
    }

    /// The shape of modules by which it is known, where no rule of the specification predicts it.
    pub fn shape(&self) -> Option<fn(&Shaped<'_>) -> bool> {
        match self.effect {
            Effect::Death { of, .. } | Effect::Taken(of) | Effect::Refused(of) | Effect::Wrong { of, .. } => {
                Some(of)
            }
            Effect::Rule(_) | Effect::Refusal(_) | Effect::Crash { .. } => None,
        }
    }

    /// Whether what it does is to kill the subject.
    pub fn kills(&self) -> bool {
        matches!(self.effect, Effect::Crash { .. } | Effect::Death { .. })
    }

    /// Whether to see it takes as much time or memory as a subject may have.
    pub fn exhausts(&self) -> bool {
        matches!(self.effect, Effect::Death { end: End::Hang | End::Exhausted, .. })
    }

    /// Whether an evaluation that rests on this used a clause that the deviation breaks.
    pub fn touches(&self, trace: &Trace) -> bool {
        self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

/// A program in the oldest version that has what it needs, so that every listed release takes it.
macro_rules! example {
    ($version:literal, $text:literal) => {
        example!($version, "sm_80", $text)
    };
    ($version:literal, $target:literal, $text:literal) => {
        concat!(".version ", $version, "\n.target ", $target, "\n.address_size 64\n", $text, "\n")
    };
}

macro_rules! thousand_times {
    ($text:literal) => { thousand_times!(@ten thousand_times!(@ten thousand_times!(@ten $text))) };
    (@ten $text:expr) => { concat!($text, $text, $text, $text, $text, $text, $text, $text, $text, $text) };
}

pub(super) use {example, thousand_times};

#[cfg(test)]
mod tests {
    use ptxsmith_oracle::expect;
    use ptxsmith_subject::INTERNAL_ERROR;

    use super::*;
    use crate::known::KNOWN;

    #[test]
    fn an_end_is_a_signal_an_error_of_its_own_a_death_without_either_or_no_answer() {
        let killed = |signal| Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) };
        let seen = [
            killed(11),
            Observation::because(Outcome::Crashed, INTERNAL_ERROR),
            Observation::new(Outcome::Crashed),
            Observation::new(Outcome::TimedOut),
            Observation::new(Outcome::Refused),
            killed(8),
        ];
        for (end, expected) in [
            (End::Signal(11), [true, true, false, false, false, false]),
            (End::Internal, [false, true, false, false, false, false]),
            (End::Noticed(11), [true, true, true, false, false, false]),
            (End::SignalOrHang(11), [true, true, false, true, false, false]),
            (End::Hang, [false, false, false, true, false, false]),
            (End::Broken, [false, true, true, false, false, false]),
            (End::Exhausted, [false, true, true, true, false, false]),
        ] {
            assert_eq!(seen.each_ref().map(|observed| end.is_of(observed)), expected, "{end:?}");
        }
    }

    #[test]
    fn a_deviation_is_touched_where_one_of_its_clauses_was_used() {
        let touched = |value: &str| {
            let text = format!(".version 7.8\n.target sm_80\n.global .s64 x = {value};\n");
            let trace = expect(&ptxsmith_syntax::parse(&text).unwrap(), &Rules::default()).trace();
            KNOWN.iter().find(|known| known.id == "remainder-unsigned").unwrap().touches(&trace)
        };
        assert!(touched("-9 % 4") && !touched("-9 + 4"));
    }
}
