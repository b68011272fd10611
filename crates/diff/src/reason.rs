//! Whether what matches the pattern of a listed deviation is the reason for what a subject did.
//!
//! A module may hold what is listed and die of something else. So it is shown again without the matched statements, or with what the
//! entry gives in place of the matched part: if the subject does the same, the match does not explain it.

use ptxsmith_oracle::{Expectation, Rules, Trace, expect};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Module, parse, print};

use crate::known::{Effect, End, Known, listed_for, matching};
use crate::maker::Maker;
use crate::pattern::Place;

/// Shows the subject another text in the same way; `None` if that fails.
pub(crate) type Again<'a> = &'a dyn Fn(&str) -> Option<Observation>;

/// The most deviations that are tried one by one.
const MOST_ALONE: usize = 4;

/// A listed deviation that a module matches, and where.
struct Match {
    known: &'static Known,
    places: Vec<Place>,
}

/// The listed deviations that a module matches and that end as was observed. `trace` is what its refusal rests on.
fn matches(module: &Module, trace: &Trace, maker: Maker<'_>, observed: &Observation) -> Vec<Match> {
    let listed = listed_for(maker).filter(|known| does(known, trace, observed));
    matching(listed, module).map(|(known, places)| Match { known, places }).collect()
}

/// Whether a subject that shows this deviation ends so.
fn does(known: &Known, trace: &Trace, observed: &Observation) -> bool {
    match known.effect {
        Effect::Death { end } => end.is_of(observed),
        Effect::Crash { signal, .. } => End::Signal(signal).is_of(observed),
        Effect::Refused => observed.outcome == Outcome::Refused,
        Effect::Taken => observed.outcome == Outcome::Accepted && known.touches(trace),
        Effect::Rule(_) | Effect::Refusal(_) | Effect::Wrong => false,
    }
}

/// The listed deviation that explains by its pattern what was observed of a module. Where nothing can be shown `again`, a match is enough.
pub(crate) fn reason(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
    again: Option<Again<'_>>,
) -> Option<&'static Known> {
    let found = matches(module, trace, maker, observed);
    let first = found.first()?.known;
    let Some(again) = again else { return Some(first) };
    // Of the header nothing can be left out.
    if let Some(whole) = found.iter().find(|one| one.places.iter().any(|place| place.is_module)) {
        return Some(whole.known);
    }
    // Places are those of a text that was parsed.
    let text = print(module);
    let module = parse(&text).ok()?;
    let found = matches(&module, trace, maker, observed);
    let goes = |left_out: &[Match]| {
        let text = without(&text, left_out);
        again(&text).is_some_and(|other| !left_out.iter().any(|one| is_same(one.known, &text, &other)))
    };
    let alone = found.iter().take(MOST_ALONE).find(|one| goes(std::slice::from_ref(*one)));
    alone.map(|one| one.known).or_else(|| (found.len() > 1 && goes(&found)).then_some(first))
}

/// The ids of the listed deviations that a module matches and that do not explain what was observed.
pub(crate) fn contained(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observed: &Observation,
) -> Vec<&'static str> {
    matches(module, trace, maker, observed).iter().map(|one| one.known.id).collect()
}

/// Whether a subject that does this with a text still shows a deviation.
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

/// A text without what matches the pattern of a deviation, as [`reason`] shows it again.
pub(crate) fn text_without(text: &str, known: &'static Known, places: &[Place]) -> String {
    without(text, &[Match { known, places: places.to_vec() }])
}

/// A text without the matched statements, its lines where they are; or with what an entry gives in place of what it matches.
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
    fn a_cut_keeps_lines_and_puts_in_what_the_entry_gives() {
        let known = listed_for(NVIDIA).find(|known| known.id == "sink-load-crash").unwrap();
        let text = ".entry k() {\nld.global.u32\n_, [g];\nret; }\n";
        let places = known.places(&parse(text).unwrap());
        let cut = without(text, &[Match { known, places }]);
        assert_eq!(cut.split_whitespace().collect::<Vec<_>>(), [".entry", "k()", "{", "ret;", "}"]);
        assert_eq!(cut.lines().count(), text.lines().count());
    }
}
