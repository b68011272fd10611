//! Tests whether a pattern match of a listed deviation is the reason for the behaviour of a subject.
//!
//! A module may match a listed deviation and still crash for another reason. So the module is shown again
//! without the matched statements, or with the replacement that the entry gives. If the subject behaves the
//! same, the match is not the reason.

use ptxsmith_oracle::{Expectation, Rules, Trace, expect};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Module, parse, print};

use crate::implementation::Implementation;
use crate::known::{Effect, KnownDeviation, Termination, listed_for, matching_by};
use crate::pattern::{MatchedPlace, Pattern};

/// Shows the subject another text in the same way; `None` if that fails.
pub(crate) type ShowText<'a> = &'a dyn Fn(&str) -> Option<Observation>;

/// The maximum number of deviations that are removed one by one.
const MOST_ALONE: usize = 4;

/// A listed deviation that a module matches, and the matching places.
struct DeviationMatch {
    known: &'static KnownDeviation,
    places: Vec<MatchedPlace>,
}

/// Selects one of the patterns of an entry.
type SelectPattern = fn(&KnownDeviation) -> Option<&'static Pattern>;

/// Returns the listed deviations that match the module and have the observed outcome. `trace` belongs to the
/// expectation.
fn matches(
    select: SelectPattern,
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observed: &Observation,
) -> Vec<DeviationMatch> {
    let listed = listed_for(implementation).filter(|known| leads_to(known, trace, observed));
    matching_by(select, listed, module).map(|(known, places)| DeviationMatch { known, places }).collect()
}

/// Returns true if the deviation leads to the observed outcome.
fn leads_to(known: &KnownDeviation, trace: &Trace, observed: &Observation) -> bool {
    match known.effect {
        Effect::CrashPattern { end } => end.matches(observed),
        Effect::CrashRule { signal, .. } => Termination::Signal(signal).matches(observed),
        Effect::RefusesValid => observed.outcome == Outcome::Refused,
        Effect::AcceptsInvalid => observed.outcome == Outcome::Accepted && known.touches(trace),
        Effect::Rule(_) | Effect::RefusalRule(_) | Effect::WrongValue => false,
    }
}

/// Returns the listed deviation that explains the observation by its pattern: one whose match, removed alone
/// (up to [`MOST_ALONE`] are tried) or else together with all others, ends the behaviour. A match on the
/// header is a reason without a test, and so is any match without `show_again`.
pub(crate) fn reason(
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observed: &Observation,
    show_again: Option<ShowText<'_>>,
) -> Option<&'static KnownDeviation> {
    let exact: SelectPattern = |known| known.pattern;
    let Some(show_again) = show_again else {
        let matches = matches(exact, module, trace, implementation, observed);
        return matches.first().map(|matched| matched.known);
    };
    let explained = reason_of(exact, module, trace, implementation, observed, show_again);
    if explained.is_some() {
        return explained;
    }
    let widest = matches(KnownDeviation::widest, module, trace, implementation, observed);
    if widest.iter().all(|matched| matched.known.wider.is_none()) {
        return None;
    }
    reason_of(KnownDeviation::widest, module, trace, implementation, observed, show_again)
}

/// Returns the listed deviation whose match by the selected pattern is the reason for the observation.
fn reason_of(
    select: SelectPattern,
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observed: &Observation,
    show_again: ShowText<'_>,
) -> Option<&'static KnownDeviation> {
    let found = matches(select, module, trace, implementation, observed);
    let first = found.first()?.known;
    // Nothing can be removed from the header.
    let whole = found.iter().find(|matched| matched.places.iter().any(|place| place.is_module));
    if let Some(whole) = whole {
        return Some(whole.known);
    }
    // Spans have to refer to the printed text.
    let text = print(module);
    let module = parse(&text).ok()?;
    let found = matches(select, &module, trace, implementation, observed);
    let single = found
        .iter()
        .take(MOST_ALONE)
        .find(|matched| disappears_without(&text, std::slice::from_ref(*matched), show_again));
    if let Some(single) = single {
        return Some(single.known);
    }
    (found.len() > 1 && disappears_without(&text, &found, show_again)).then_some(first)
}

/// Shows the text without these matches and returns true if the observation no longer shows their deviations.
fn disappears_without(text: &str, matches: &[DeviationMatch], show_again: ShowText<'_>) -> bool {
    let text = without(text, matches);
    let Some(observed) = show_again(&text) else { return false };
    !matches.iter().any(|matched| is_same(matched.known, &text, &observed))
}

/// Returns the ids of the listed deviations that match the module and have the observed outcome but do not
/// explain it.
pub(crate) fn contained(
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observed: &Observation,
) -> Vec<&'static str> {
    matches(KnownDeviation::widest, module, trace, implementation, observed)
        .iter()
        .map(|matched| matched.known.id)
        .collect()
}

/// Returns true if the observation of this text still shows the deviation.
fn is_same(known: &KnownDeviation, text: &str, observed: &Observation) -> bool {
    match known.effect {
        Effect::RefusesValid => observed.outcome == Outcome::Refused && !is_refused(text),
        Effect::AcceptsInvalid => observed.outcome == Outcome::Accepted && is_refused(text),
        _ => known.end().is_some_and(|end| end.matches(observed)),
    }
}

fn is_refused(text: &str) -> bool {
    let module = parse(text).unwrap_or_default();
    matches!(expect(&module, &Rules::default()), Expectation::Refused { .. })
}

/// Returns the text without the matches of a deviation, as [`reason`] shows it.
pub(crate) fn text_without(text: &str, known: &'static KnownDeviation, places: &[MatchedPlace]) -> String {
    without(text, &[DeviationMatch { known, places: places.to_vec() }])
}

/// Returns the text with each match replaced as its entry says, or else by spaces, so that line numbers stay
/// the same.
fn without(text: &str, matches: &[DeviationMatch]) -> String {
    let mut cuts: Vec<(usize, usize, Option<&str>)> = Vec::new();
    for DeviationMatch { known, places } in matches {
        for place in places {
            let span = if known.instead.is_some() { place.span } else { place.statement };
            cuts.push((span.start as usize, span.end as usize, known.instead));
        }
    }
    cuts.sort_unstable();
    let mut rest = String::with_capacity(text.len());
    let mut done = 0;
    for (start, end, instead) in cuts {
        let (Some(before), Some(cut)) = (text.get(done..start), text.get(start..end)) else { continue };
        rest.push_str(before);
        match instead {
            Some(other) => rest.push_str(other),
            None => rest.extend(cut.chars().map(|c| if c == '\n' { c } else { ' ' })),
        }
        done = end;
    }
    rest + text.get(done..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::matching;

    const NVIDIA: Implementation<'static> =
        Implementation { lineage: Some("nvidia"), version: Some("12.0.140") };
    const SINK: &str = ".version 7.8\n.target sm_80\n.entry k() { ld.global.u32 _, [g]; ret; }\n";

    fn killed() -> Observation {
        Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) }
    }

    fn explained(again: ShowText<'_>) -> Option<&'static str> {
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
    fn the_wider_pattern_explains_a_crash_only_if_its_match_is_the_reason() {
        let text =
            ".version 7.8\n.target sm_80\n.entry k() { .reg .v2 .u32 v; mbarrier.init.b64 [8], v.z; ret; }\n";
        let module = parse(text).unwrap();
        let explained = |again: ShowText<'_>| {
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
    fn a_cut_keeps_lines_and_inserts_the_replacement_of_the_entry() {
        let known = listed_for(NVIDIA).find(|known| known.id == "sink-load-crash").unwrap();
        let text = ".entry k() {\nld.global.u32\n_, [g];\nret; }\n";
        let places = known.places(&parse(text).unwrap());
        let cut = without(text, &[DeviationMatch { known, places }]);
        assert_eq!(cut.split_whitespace().collect::<Vec<_>>(), [".entry", "k()", "{", "ret;", "}"]);
        assert_eq!(cut.lines().count(), text.lines().count());
    }
}
