//! What an entry of the list of known deviations says.

use ptxsmith_oracle::{Clause, Rules, Trace};
use ptxsmith_subject::{Description, Observation, Outcome};
use ptxsmith_syntax::Module;

use crate::maker::{Maker, Releases};
use crate::pattern::{Pattern, Place};

/// What a listed deviation changes in the rules, where it changes something.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// Another rule is followed.
    Rule(fn(&mut Rules)),
    /// What rests on an evaluation of which this holds kills the subject.
    Crash(fn(&Trace) -> bool),
}

/// What a deviation does.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Another rule is followed, which gives another value.
    Rule(fn(&mut Rules)),
    /// Another rule is followed, which refuses what the specification takes.
    Refusal(fn(&mut Rules)),
    /// The subject is killed by this signal where a rule predicts it. Of a module that the text does not decide, nothing is evaluated: there
    /// the pattern says it.
    Crash {
        /// The signal.
        signal: i32,
        /// Whether an evaluation that rests on this meets it.
        when: fn(&Trace) -> bool,
    },
    /// The subject dies of modules that match the pattern, whatever the text says of them: an implementation may refuse what it does not
    /// understand, but not die of it.
    Death {
        /// How it ends.
        end: End,
    },
    /// The subject accepts modules that match the pattern, which the text refuses by one of the clauses.
    Taken,
    /// The subject refuses modules that match the pattern, which the text accepts.
    Refused,
    /// The subject accepts modules that match the pattern, as the text does, with other values in what the matched statements
    /// declare or in kernels.
    Wrong,
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
    /// The names of the ends without a signal.
    const NAMES: [(&str, End); 4] = [
        ("internal-error", End::Internal),
        ("hang", End::Hang),
        ("unreadable", End::Broken),
        ("out-of-memory", End::Exhausted),
    ];

    /// What has this name: `SIGSEGV`, `SIGFPE or hang`, `internal-error`.
    pub fn from_name(name: &str) -> Option<End> {
        let signal = |name: &str| match name {
            "SIGABRT" => Some(6),
            "SIGFPE" => Some(8),
            "SIGSEGV" => Some(11),
            other => other.strip_prefix("SIG")?.parse().ok(),
        };
        match name.split_once(" or ") {
            Some((first, "hang")) => signal(first).map(End::SignalOrHang),
            Some((first, "internal-error")) => signal(first).map(End::Noticed),
            Some(_) => None,
            None => {
                let named = End::NAMES.into_iter().find(|(own, _)| *own == name);
                named.map(|(_, end)| end).or_else(|| signal(name).map(End::Signal))
            }
        }
    }

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

/// A deviation that was reported before: a file of `corpus/deviations`, or of a list of the user's own.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its stable name.
    pub id: &'static str,
    /// The names of entries that it was merged from.
    pub also: &'static [&'static str],
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
    /// What in a module shows it, where no rule of the specification says it.
    pub pattern: Option<&'static Pattern>,
    /// Where else it may show, such as in instructions that were not tried. The subject decides whether a match of this is the reason, and
    /// lint does not warn of it.
    pub wider: Option<&'static Pattern>,
    /// What to put in place of the matched part to see whether it is the reason; the matched statement is left out where this
    /// says nothing.
    pub instead: Option<&'static str>,
    /// The minimized reproducer that shows it, accepted by every listed release if it does not die of it. A case of the
    /// corpus or the specification's tables, worked out by hand.
    pub example: &'static str,
    /// The day on which it was first seen by this project, `2026-11-21`.
    pub first_seen: &'static str,
    /// What it means for people who emit PTX, as Markdown.
    pub means: &'static str,
    /// What avoids it, as Markdown.
    pub work_around: &'static str,
    /// How it was found, as Markdown.
    pub found: &'static str,
}

impl Known {
    /// Whether it is listed for this implementation.
    pub fn is_of(&self, maker: Maker<'_>) -> bool {
        maker.lineage == Some(self.lineage) && self.releases.contain(maker.version)
    }

    /// Whether a release that does not show it refutes the entry. Releases are those of a compiler without options of the user; the
    /// other entry points to NVIDIA's compiler (nvJitLink, nvlink, drivers) reach its faults in other ways or not at all.
    pub fn is_refuted_by(&self, subject: &Description) -> bool {
        subject.options.is_empty() && (self.lineage != "nvidia" || subject.name == "ptxas")
    }

    /// Whether this is its name, or was one.
    pub fn is_called(&self, id: &str) -> bool {
        self.id == id || self.also.contains(&id)
    }

    /// The other rule that it follows; `None` where it is known by its pattern, or dies.
    pub fn change(&self) -> Option<fn(&mut Rules)> {
        match self.effect {
            Effect::Rule(change) | Effect::Refusal(change) => Some(change),
            Effect::Crash { .. } | Effect::Death { .. } | Effect::Taken | Effect::Refused | Effect::Wrong => {
                None
            }
        }
    }

    /// Whether it is known by its pattern, since no rule of the specification predicts it.
    pub fn is_by_pattern(&self) -> bool {
        matches!(self.effect, Effect::Death { .. } | Effect::Taken | Effect::Refused | Effect::Wrong)
    }

    /// The pattern that matches wherever the deviation may show.
    pub(crate) fn widest(&self) -> Option<&'static Pattern> {
        self.wider.or(self.pattern)
    }

    /// The places of a module that match its pattern.
    pub fn places(&self, module: &Module) -> Vec<Place> {
        self.pattern.map_or_else(Vec::new, |pattern| pattern.places(module))
    }

    /// Whether a module matches its pattern.
    pub fn matches(&self, module: &Module) -> bool {
        self.pattern.is_some_and(|pattern| pattern.is_in(module))
    }

    /// How a subject ends of it, where it dies.
    pub fn end(&self) -> Option<End> {
        match self.effect {
            Effect::Crash { signal, .. } => Some(End::Signal(signal)),
            Effect::Death { end } => Some(end),
            _ => None,
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

    /// Whether an evaluation that rests on this used a clause that the deviation breaks. One that names no clause may be of any.
    pub fn touches(&self, trace: &Trace) -> bool {
        self.clauses.is_empty() || self.clauses.iter().any(|&clause| trace.clauses.contains(clause))
    }
}

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
    fn an_entry_is_refuted_by_the_assembler_alone_and_without_options() {
        let subject = |name: &str, options: &[&str]| Description {
            name: name.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..Description::default()
        };
        let known = KNOWN.iter().find(|known| known.lineage == "nvidia").unwrap();
        assert!(known.is_refuted_by(&subject("ptxas", &[])));
        assert!(!known.is_refuted_by(&subject("ptxas", &["-O0"])));
        assert!(!known.is_refuted_by(&subject("nvlink", &[])));
        assert!(Known { lineage: "toy", ..*known }.is_refuted_by(&subject("toy", &[])));
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
