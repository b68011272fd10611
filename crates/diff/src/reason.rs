//! Tests whether a pattern match of a listed deviation is the reason for the behaviour of a subject.
//!
//! A module may match a listed deviation and still crash for another reason. So the module is shown again without the
//! matched statements, or with the replacement that the entry gives. If the subject behaves the same, the match is
//! not the reason.

use ptxsmith_oracle::{Expectation, Rules, Trace, expect};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Module, parse, print};

use crate::known::{Effect, End, Known, listed_for, matching_by};
use crate::maker::Maker;
use crate::pattern::{Pattern, Place};

/// Shows the subject another text in the same way; `None` if that fails.
pub(crate) type Again<'a> = &'a dyn Fn(&str) -> Option<Observation>;

/// The maximum number of deviations that are removed one by one.
const MOST_ALONE: usize = 4;

/// A listed deviation that a module matches, and the matching places.
struct Match {
    known: &'static Known,
    places: Vec<Place>,
}

/// Selects one of the patterns of an entry.
type Select = fn(&Known) -> Option<&'static Pattern>;

/// Returns the listed deviations that match the module and have the observed outcome. `trace` belongs to the
/// expectation.
fn matches(
    select: Select,
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
) -> Vec<Match> {
    let listed = listed_for(maker).filter(|known| does(known, trace, observed));
    matching_by(select, listed, module).map(|(known, places)| Match { known, places }).collect()
}

/// Returns true if the deviation leads to the observed outcome.
fn does(known: &Known, trace: &Trace, observed: &Observation) -> bool {
    match known.effect {
        Effect::Death { end } => end.is_of(observed),
        Effect::Crash { signal, .. } => End::Signal(signal).is_of(observed),
        Effect::Refused => observed.outcome == Outcome::Refused,
        Effect::Taken => observed.outcome == Outcome::Accepted && known.touches(trace),
        Effect::Rule(_) | Effect::Refusal(_) | Effect::Wrong => false,
    }
}

/// Returns the listed deviation that explains the observation of a module by its pattern. Without `again`, a match is
/// sufficient.
pub(crate) fn reason(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
    again: Option<Again<'_>>,
) -> Option<&'static Known> {
    let exact: Select = |known| known.pattern;
    let Some(again) = again else {
        return matches(exact, module, trace, maker, observed).first().map(|one| one.known);
    };
    let explained = |select| reason_of(select, module, trace, maker, observed, again);
    explained(exact).or_else(|| {
        let widest = matches(Known::widest, module, trace, maker, observed);
        widest.iter().any(|one| one.known.wider.is_some()).then(|| explained(Known::widest))?
    })
}

/// Returns the listed deviation whose match by the selected pattern is the reason for the observation.
fn reason_of(
    select: Select,
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
    again: Again<'_>,
) -> Option<&'static Known> {
    let found = matches(select, module, trace, maker, observed);
    let first = found.first()?.known;
    // Nothing can be removed from the header.
    if let Some(whole) = found.iter().find(|one| one.places.iter().any(|place| place.is_module)) {
        return Some(whole.known);
    }
    // Spans have to refer to the printed text.
    let text = print(module);
    let module = parse(&text).ok()?;
    let found = matches(select, &module, trace, maker, observed);
    let goes = |left_out: &[Match]| {
        let text = without(&text, left_out);
        again(&text).is_some_and(|other| !left_out.iter().any(|one| is_same(one.known, &text, &other)))
    };
    let alone = found.iter().take(MOST_ALONE).find(|one| goes(std::slice::from_ref(*one)));
    alone.map(|one| one.known).or_else(|| (found.len() > 1 && goes(&found)).then_some(first))
}

/// Returns the ids of the listed deviations that match the module and have the observed outcome but do not explain
/// it.
pub(crate) fn contained(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
) -> Vec<&'static str> {
    matches(Known::widest, module, trace, maker, observed).iter().map(|one| one.known.id).collect()
}

/// Returns true if the observation of this text still shows the deviation.
fn is_same(known: &Known, text: &str, observed: &Observation) -> bool {
    let is_refused = || {
        let module = parse(text).unwrap_or_default();
        matches!(expect(&module, &Rules::default()), Expectation::Refused { .. })
    };
    match known.effect {
        Effect::Refused => observed.outcome == Outcome::Refused && !is_refused(),
        Effect::Taken => observed.outcome == Outcome::Accepted && is_refused(),
        _ => known.end().is_some_and(|end| end.is_of(observed)),
    }
}

/// Returns the text without the matches of a deviation, as [`reason`] shows it.
pub(crate) fn text_without(text: &str, known: &'static Known, places: &[Place]) -> String {
    without(text, &[Match { known, places: places.to_vec() }])
}

/// Returns the text with each match replaced as its entry says, or else by spaces, so that line numbers stay the
/// same.
fn without(text: &str, matches: &[Match]) -> String {
    let mut cuts: Vec<(usize, usize, Option<&str>)> = Vec::new();
    for one in matches {
        for place in &one.places {
            let span = if one.known.instead.is_some() { place.span } else { place.statement };
            cuts.push((span.start as usize, span.end as usize, one.known.instead));
        }
    }
    cuts.sort_unstable();
    let (mut left, mut done) = (String::with_capacity(text.len()), 0);
    for (start, end, instead) in cuts {
        let (Some(before), Some(cut)) = (text.get(done..start), text.get(start..end)) else { continue };
        left.push_str(before);
        match instead {
            Some(other) => left.push_str(other),
            None => left.extend(cut.chars().map(|c| if c == '\n' { c } else { ' ' })),
        }
        done = end;
    }
    left + text.get(done..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::matching;

    const NVIDIA: Maker<'static> = Maker { lineage: Some("nvidia"), version: Some("12.0.140") };
    const SINK: &str = ".version 7.8\n.target sm_80\n.entry k() { ld.global.u32 _, [g]; ret; }\n";

    fn killed() -> Observation {
        Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) }
    }

    fn explained(again: Again<'_>) -> Option<&'static str> {
        let module = parse(SINK).unwrap();
        reason(&module, &Trace::default(), NVIDIA, &killed(), Some(again)).map(|known| known.id)
    }

    #[test]
    fn a_match_explains_a_crash_that_does_not_happen_without_it() {
        let dies_of_sinks = |text: &str| match text.contains('_') && text.contains("ld.global") {
            true => Some(killed()),
            false => Some(Observation::new(Outcome::Accepted)),
        };
        assert_eq!(explained(&dies_of_sinks), Some("sink-load-crash"));
        assert_eq!(explained(&|_| Some(killed())), None, "it dies of something else");
        let module = parse(SINK).unwrap();
        let contained = contained(&module, &Trace::default(), NVIDIA, &killed());
        assert_eq!(contained, ["sink-load-crash"]);
    }

    #[test]
    fn the_wider_pattern_of_an_entry_explains_what_its_pattern_does_not_match_if_it_is_the_reason() {
        let text =
            ".version 7.8\n.target sm_80\n.entry k() { .reg .v2 .u32 v; mbarrier.init.b64 [8], v.z; ret; }\n";
        let module = parse(text).unwrap();
        let explained = |again: Again<'_>| {
            reason(&module, &Trace::default(), NVIDIA, &killed(), Some(again)).map(|known| known.id)
        };
        let crashes_of_missing_elements = |text: &str| match text.contains("v.z") {
            true => Some(killed()),
            false => Some(Observation::new(Outcome::Accepted)),
        };
        assert_eq!(explained(&crashes_of_missing_elements), Some("missing-element-crash"));
        assert_eq!(explained(&|_| Some(killed())), None);
        assert_eq!(reason(&module, &Trace::default(), NVIDIA, &killed(), None).map(|known| known.id), None);
        assert!(matching(listed_for(NVIDIA), &module).all(|(known, _)| known.id != "missing-element-crash"));
    }

    #[test]
    fn a_cut_keeps_lines_and_puts_in_what_the_entry_gives() {
        let known = listed_for(NVIDIA).find(|known| known.id == "sink-load-crash").unwrap();
        let text = ".entry k() {\nld.global.u32\n_, [g];\nret; }\n";
        let places = known.places(&parse(text).unwrap());
        let cut = without(text, &[Match { known, places }]);
        assert_eq!(cut.split_whitespace().collect::<Vec<_>>(), [".entry", "k()", "{", "ret;", "}"]);
        assert_eq!(cut.lines().count(), text.lines().count());
    }
}
