//! The entries of the list of known deviations.

use ptxsmith_oracle::{Clause, Rules, Trace};
use ptxsmith_subject::{Description, Observation, Outcome};
use ptxsmith_syntax::Module;

use crate::implementation::{Implementation, Releases};
use crate::pattern::{MatchedPlace, Pattern};

/// The change of the rules that a listed deviation makes, if it makes one.
#[derive(Clone, Copy)]
pub(super) enum RuleChange {
    /// The subject follows another rule.
    Rule(fn(&mut Rules)),
    /// The subject crashes on an evaluation with a trace that meets this condition.
    Crash(fn(&Trace) -> bool),
}

/// The effect of a deviation.
#[derive(Clone, Copy)]
pub enum Effect {
    /// The subject follows another rule, which gives another value.
    Rule(fn(&mut Rules)),
    /// The subject follows another rule, which rejects programs that are valid under the specification.
    RefusalRule(fn(&mut Rules)),
    /// A rule predicts that the subject is killed by this signal. A module that the specification does not
    /// decide is not evaluated; for it, the pattern predicts the crash.
    CrashRule {
        /// The signal.
        signal: i32,
        /// Returns true if an evaluation with this trace crashes the subject.
        when: fn(&Trace) -> bool,
    },
    /// The subject crashes or hangs on modules that match the pattern, valid or not: an implementation may
    /// reject a program that it does not understand, but must not crash.
    CrashPattern {
        /// How the subject terminates.
        end: Termination,
    },
    /// The subject accepts modules that match the pattern and that one of the clauses rejects.
    AcceptsInvalid,
    /// The subject rejects modules that match the pattern and are valid.
    RefusesValid,
    /// The subject accepts modules that match the pattern, as it should, but gives other values to the
    /// variables that the matched statements declare, or to results of kernels.
    WrongValue,
}

/// How a subject terminates when it crashes or hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Killed by this signal. For some programs that kill earlier releases, later releases report an internal
    /// error instead; that counts as well.
    Signal(i32),
    /// It reports an internal error.
    InternalError,
    /// Killed by this signal, or it reports an error of its own.
    SignalOrInternal(i32),
    /// Killed by this signal, or it does not answer in time.
    SignalOrHang(i32),
    /// It does not answer in time.
    Hang,
    /// It writes output that cannot be read.
    UnreadableOutput,
    /// It runs out of memory, or does not answer before that.
    OutOfMemory,
}

impl Termination {
    /// The names of the terminations without a signal.
    const NAMES: [(&str, Termination); 4] = [
        ("internal-error", Termination::InternalError),
        ("hang", Termination::Hang),
        ("unreadable", Termination::UnreadableOutput),
        ("out-of-memory", Termination::OutOfMemory),
    ];

    /// Returns the termination with this name: `SIGSEGV`, `SIGFPE or hang`, `internal-error`.
    pub fn from_name(name: &str) -> Option<Termination> {
        match name.split_once(" or ") {
            Some((first, "hang")) => signal(first).map(Termination::SignalOrHang),
            Some((first, "internal-error")) => signal(first).map(Termination::SignalOrInternal),
            Some(_) => None,
            None => {
                let without_signal = Termination::NAMES.into_iter().find(|(known, _)| *known == name);
                without_signal.map(|(_, end)| end).or_else(|| signal(name).map(Termination::Signal))
            }
        }
    }

    /// Returns true if a subject terminated like this.
    pub fn matches(self, observation: &Observation) -> bool {
        match self {
            Termination::Signal(signal) => {
                observation.signal == Some(signal) || Termination::InternalError.matches(observation)
            }
            Termination::InternalError => observation.is_internal_error(),
            Termination::SignalOrInternal(signal) => {
                Termination::Signal(signal).matches(observation)
                    || Termination::UnreadableOutput.matches(observation)
            }
            Termination::SignalOrHang(signal) => {
                Termination::Signal(signal).matches(observation) || Termination::Hang.matches(observation)
            }
            Termination::Hang => observation.outcome == Outcome::TimedOut,
            Termination::UnreadableOutput => {
                observation.outcome == Outcome::Crashed && observation.signal.is_none()
            }
            Termination::OutOfMemory => {
                Termination::Hang.matches(observation) || Termination::UnreadableOutput.matches(observation)
            }
        }
    }
}

/// Returns the number of a signal: `SIGSEGV`, or `SIG` and a number.
fn signal(name: &str) -> Option<i32> {
    match name {
        "SIGABRT" => Some(6),
        "SIGFPE" => Some(8),
        "SIGSEGV" => Some(11),
        other => other.strip_prefix("SIG")?.parse().ok(),
    }
}

/// A deviation that was reported before: a file of `corpus/deviations` or of a user's list.
#[derive(Clone, Copy)]
pub struct KnownDeviation {
    /// Stable id: the name of the file.
    pub id: &'static str,
    /// The names of entries that were merged into this one.
    pub also: &'static [&'static str],
    /// The deviation in one line.
    pub title: &'static str,
    /// The clauses that it breaks.
    pub clauses: &'static [Clause],
    /// The lineage of the implementations that show it.
    pub lineage: &'static str,
    /// The releases of that lineage that show it.
    pub releases: Releases,
    /// The effect on the subject.
    pub effect: Effect,
    /// Matches the constructs that show it, if no rule of the specification predicts them.
    pub pattern: Option<&'static Pattern>,
    /// Matches further constructs that may show it, such as instructions that were not tried. The subject
    /// decides whether such a match is the reason, and lint does not warn about it.
    pub wider: Option<&'static Pattern>,
    /// The text that replaces the matched part when a match is tested for being the reason. Without it, the
    /// matched statement is left out.
    pub instead: Option<&'static str>,
    /// The minimized reproducer: a case of the corpus or of the specification's tables, worked out by hand.
    /// Every listed release accepts it, unless it crashes.
    pub example: &'static str,
    /// The day on which this project first saw it, such as `2026-11-21`.
    pub first_seen: &'static str,
    /// The consequences for people who emit PTX, as Markdown.
    pub means: &'static str,
    /// The work-around, as Markdown.
    pub work_around: &'static str,
    /// How it was found, as Markdown.
    pub found: &'static str,
}

impl KnownDeviation {
    /// Returns true if it is listed for this implementation.
    pub fn is_listed_for(&self, implementation: Implementation<'_>) -> bool {
        implementation.lineage == Some(self.lineage) && self.releases.contains(implementation.version)
    }

    /// Returns true if a release that does not show it refutes the entry. Listed releases are those of a
    /// compiler without user options. The other entry points to NVIDIA's compiler (nvJitLink, nvlink,
    /// drivers) reach its faults in other ways or not at all.
    pub fn is_refuted_by(&self, subject: &Description) -> bool {
        subject.options.is_empty() && (self.lineage != "nvidia" || subject.name == "ptxas")
    }

    /// Returns true if this is its id or was one.
    pub fn is_called(&self, id: &str) -> bool {
        self.id == id || self.also.contains(&id)
    }

    /// Returns the rule that the subject follows; `None` for a crash and for a deviation that is known by its
    /// pattern.
    pub fn change(&self) -> Option<fn(&mut Rules)> {
        match self.effect {
            Effect::Rule(change) | Effect::RefusalRule(change) => Some(change),
            Effect::CrashRule { .. }
            | Effect::CrashPattern { .. }
            | Effect::AcceptsInvalid
            | Effect::RefusesValid
            | Effect::WrongValue => None,
        }
    }

    /// Returns true if it is known by its pattern, because no rule of the specification predicts it.
    pub fn is_by_pattern(&self) -> bool {
        matches!(
            self.effect,
            Effect::CrashPattern { .. } | Effect::AcceptsInvalid | Effect::RefusesValid | Effect::WrongValue
        )
    }

    /// Returns the pattern that matches wherever the deviation may show.
    pub fn widest(&self) -> Option<&'static Pattern> {
        self.wider.or(self.pattern)
    }

    /// Returns the places of a module that match its pattern.
    pub fn places(&self, module: &Module) -> Vec<MatchedPlace> {
        self.pattern.map_or_else(Vec::new, |pattern| pattern.places(module))
    }

    /// Returns true if a module matches its pattern.
    pub fn matches(&self, module: &Module) -> bool {
        self.pattern.is_some_and(|pattern| pattern.is_in(module))
    }

    /// Returns how a subject terminates, for a crash or hang.
    pub fn end(&self) -> Option<Termination> {
        match self.effect {
            Effect::CrashRule { signal, .. } => Some(Termination::Signal(signal)),
            Effect::CrashPattern { end } => Some(end),
            _ => None,
        }
    }

    /// Returns true if it crashes or hangs the subject.
    pub fn crashes_or_hangs(&self) -> bool {
        matches!(self.effect, Effect::CrashRule { .. } | Effect::CrashPattern { .. })
    }

    /// Returns true if showing it takes as much time or memory as a subject may have.
    pub fn exhausts(&self) -> bool {
        matches!(self.effect, Effect::CrashPattern { end: Termination::Hang | Termination::OutOfMemory, .. })
    }

    /// Returns true if an evaluation with this trace used a clause that the deviation breaks. A deviation
    /// without clauses may concern any evaluation.
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
            (Termination::Signal(11), [true, true, false, false, false, false]),
            (Termination::InternalError, [false, true, false, false, false, false]),
            (Termination::SignalOrInternal(11), [true, true, true, false, false, false]),
            (Termination::SignalOrHang(11), [true, true, false, true, false, false]),
            (Termination::Hang, [false, false, false, true, false, false]),
            (Termination::UnreadableOutput, [false, true, true, false, false, false]),
            (Termination::OutOfMemory, [false, true, true, true, false, false]),
        ] {
            assert_eq!(seen.each_ref().map(|observed| end.matches(observed)), expected, "{end:?}");
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
        assert!(KnownDeviation { lineage: "toy", ..*known }.is_refuted_by(&subject("toy", &[])));
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
