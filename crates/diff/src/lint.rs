//! Finds the places of a program that listed implementations handle differently from the specification,
//! without running any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use ptxsmith_oracle::{Expectation, Kernel, Prediction, Rules, Trace, Variable, predict_contents};
use ptxsmith_syntax::{Item, Module, Span};

use crate::known::{Effect, KNOWN, KnownDeviation};
use crate::pattern::{MatchedPlace, Matches, Pattern, matches_of};

/// A place that some releases handle differently from the specification.
#[derive(Clone)]
pub struct Risk {
    /// The listed deviation.
    pub known: &'static KnownDeviation,
    /// The place where the deviation shows.
    pub span: Span,
}

/// Returns the places of a module that listed deviations affect, in source order.
///
/// A listed rule affects a module if its prediction is not the prediction of the specification. A pattern
/// affects the places that it matches. It does not affect places that a compiler never reaches because it
/// rejects another part of the module.
///
/// ```
/// use ptxsmith_diff::lint::risks;
/// let module = ptxsmith_syntax::parse(".version 7.8\n.target sm_80\n.global .s32 x[2][2] = {{1}, {3}};\n").unwrap();
/// assert_eq!(risks(&module)[0].known.id, "incomplete-rows-packed");
/// ```
pub fn risks(module: &Module) -> Vec<Risk> {
    let spec = predict_contents(module, &Rules::default());
    let places = DeclaredPlaces::new(module);
    let with_pattern: Vec<(&str, &Pattern)> =
        KNOWN.iter().filter_map(|known| Some((known.id, known.pattern?))).collect();
    let patterns: Vec<&Pattern> = with_pattern.iter().map(|(_, pattern)| *pattern).collect();
    let Matches { places: matched, first_unread } = matches_of(module, &patterns);
    let ids = with_pattern.into_iter().map(|(id, _)| id);
    let matched: BTreeMap<&str, Vec<MatchedPlace>> = ids.zip(matched).collect();
    let reached = ReachedParts::new(first_unread, &spec);
    let depends_on_rules = !agrees_with_all_rules(module, &spec, &places);
    let mut risks = Vec::new();
    for known in KNOWN.iter() {
        let mut spans = match known.effect {
            Effect::Rule(change) | Effect::RefusalRule(change)
                if depends_on_rules && known.touches(&spec.trace()) =>
            {
                differing(&spec, &predict_contents(module, &Rules::default().with(change)), &places)
            }
            Effect::CrashRule { when, .. } => crashing(&spec, when, &places),
            _ => Vec::new(),
        };
        if spans.is_empty() {
            let matched = matched.get(known.id).into_iter().flatten();
            let counted = matched.filter(|place| reached.has(place) && !is_evaluated(known, place, &spec));
            spans.extend(counted.map(|place| place.span));
        }
        spans.dedup_by_key(|span| (span.start, span.end));
        risks.extend(spans.into_iter().map(|span| Risk { known, span }));
    }
    risks.sort_by_key(|risk| risk.span.start);
    risks
}

/// Returns true if a crash at this place is found by evaluation, not by the pattern.
fn is_evaluated(known: &KnownDeviation, place: &MatchedPlace, spec: &Prediction) -> bool {
    matches!(known.effect, Effect::CrashRule { .. })
        && !matches!(spec.data, Expectation::Unmodelled { .. })
        && !place.is_unread
        && !place.in_body
}

/// Returns true if a module keeps its meaning when all listed rules change at once. This holds for most
/// modules, and one evaluation then replaces one per rule.
fn agrees_with_all_rules(module: &Module, spec: &Prediction, places: &DeclaredPlaces<'_>) -> bool {
    let mut changed = Rules::default();
    for change in KNOWN.iter().filter_map(KnownDeviation::change) {
        change(&mut changed);
    }
    let other = predict_contents(module, &changed);
    discriminant(&other.data) == discriminant(&spec.data) && differing(spec, &other, places).is_empty()
}

/// The parts of a module that a compiler reaches: it stops at a syntax error and generates no code for a
/// module that it rejects.
struct ReachedParts {
    /// The first statement that the parser does not understand.
    unread: Option<Span>,
    /// The place that the specification rejects.
    refused: Option<Span>,
}

impl ReachedParts {
    fn new(unread: Option<Span>, spec: &Prediction) -> ReachedParts {
        let refused = match &spec.data {
            Expectation::Refused { refusal, .. } => Some(refusal.span),
            _ => None,
        };
        ReachedParts { unread, refused }
    }

    fn has(&self, place: &MatchedPlace) -> bool {
        let contains = |span: Span| place.statement.start <= span.start && span.end <= place.statement.end;
        place.is_module || self.unread.is_none_or(contains) && self.refused.is_none_or(contains)
    }
}

/// The places where variables and functions are declared, by name.
struct DeclaredPlaces<'m> {
    module: &'m Module,
    exact: BTreeMap<&'m str, Span>,
}

impl<'m> DeclaredPlaces<'m> {
    fn new(module: &'m Module) -> DeclaredPlaces<'m> {
        let variables = module
            .declarations()
            .flat_map(|declaration| &declaration.declarators)
            .filter(|declarator| declarator.count.is_none())
            .map(|declarator| &declarator.name);
        let functions = module.functions().map(|function| &function.name);
        let exact = variables.chain(functions).map(|name| (name.text.as_str(), name.span)).collect();
        DeclaredPlaces { module, exact }
    }

    /// Returns the place of the first statement that declares a prefix of this name.
    fn of_prefix(&self, name: &str) -> Span {
        self.module
            .items
            .iter()
            .find(|item| item.declared().any(|(declared, _)| name.starts_with(declared.as_str())))
            .map_or(Span::NONE, Item::span)
    }

    fn of_name(&self, name: &str) -> Span {
        if let Some(&span) = self.exact.get(name) {
            return span;
        }
        // The name may be one of a `PREFIX<N>`.
        self.module.items.iter().find(|item| item.may_declare(name)).map_or(Span::NONE, Item::span)
    }
}

/// Returns the places where two predictions differ, including variables and kernels that only one of them
/// has.
fn differing(spec: &Prediction, other: &Prediction, places: &DeclaredPlaces<'_>) -> Vec<Span> {
    match (&spec.data, &other.data) {
        (Expectation::Accepted { variables, .. }, Expectation::Accepted { variables: others, .. }) => {
            let mut spans = differing_variables(variables, others, places);
            let other_kernels: BTreeMap<&str, &Kernel> =
                other.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel)).collect();
            for kernel in &spec.kernels {
                let other = other_kernels.get(kernel.name.as_str());
                if other.is_none_or(|other| other.outcome != kernel.outcome) {
                    spans.push(places.of_name(&kernel.name));
                }
            }
            let names: BTreeSet<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
            let added: BTreeSet<&str> = others
                .iter()
                .map(|variable| variable.name.as_str())
                .filter(|name| !names.contains(name))
                .collect();
            spans.extend(added.into_iter().map(|name| places.of_prefix(name)));
            spans
        }
        // Only one of the two rejects the module; its place is known.
        (_, Expectation::Refused { refusal, .. }) if !is_refused(spec) => vec![refusal.span],
        (Expectation::Refused { refusal, .. }, _) if !is_refused(other) => vec![refusal.span],
        _ => Vec::new(),
    }
}

/// Returns the places of variables that `others` lacks or gives another layout or content.
fn differing_variables(
    variables: &[Variable],
    others: &[Variable],
    places: &DeclaredPlaces<'_>,
) -> Vec<Span> {
    let others: BTreeMap<&str, &Variable> =
        others.iter().map(|variable| (variable.name.as_str(), variable)).collect();
    variables
        .iter()
        .filter(|variable| {
            others.get(variable.name.as_str()).is_none_or(|other| !is_same_variable(variable, other))
        })
        .map(|variable| places.of_name(&variable.name))
        .collect()
}

fn is_same_variable(variable: &Variable, other: &Variable) -> bool {
    variable.size == other.size
        && variable.align == other.align
        && variable.space == other.space
        && variable.bytes == other.bytes
        && variable.addresses == other.addresses
}

fn is_refused(prediction: &Prediction) -> bool {
    matches!(prediction.data, Expectation::Refused { .. })
}

/// Returns the places of the parts that crash the subject when they are evaluated.
fn crashing(spec: &Prediction, when: fn(&Trace) -> bool, places: &DeclaredPlaces<'_>) -> Vec<Span> {
    match &spec.data {
        Expectation::Accepted { variables, .. } => {
            let variables = variables.iter().filter(|variable| when(&variable.trace));
            let kernels = spec.kernels.iter().filter(|kernel| when(&kernel.trace));
            let names = variables.map(|variable| &variable.name).chain(kernels.map(|kernel| &kernel.name));
            names.map(|name| places.of_name(name)).collect()
        }
        Expectation::Refused { refusal, trace } if when(trace) => vec![refusal.span],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{Lines, parse};

    fn found(text: &str) -> Vec<(&'static str, (u32, u32))> {
        let (risks, lines) = (risks(&parse(text).unwrap()), Lines::new(text));
        risks.iter().map(|risk| (risk.known.id, lines.place(risk.span.start))).collect()
    }

    #[test]
    fn every_listed_deviation_is_met_in_its_own_example() {
        for known in KNOWN.iter() {
            let met = risks(&parse(known.example).unwrap());
            assert!(met.iter().any(|risk| risk.known.id == known.id), "{}", known.id);
            let nowhere: Vec<_> =
                met.iter().filter(|risk| risk.span.end == 0).map(|risk| risk.known.id).collect();
            assert!(nowhere.is_empty(), "{}: {nowhere:?}", known.id);
        }
    }

    #[test]
    fn a_program_that_both_refuse_is_no_risk_and_a_crash_is_placed_where_it_is_refused() {
        let rows = ".version 7.8\n.target sm_80\n.global .s32 a[2][2] = {{1}, {3}}";
        assert_eq!(found(&format!("{rows};\n")), [("incomplete-rows-packed", (3, 14))]);
        assert_eq!(found(&format!("{rows};\n.global .s32 b = 1.0;\n")), []);
        let zero = ".version 7.8\n.target sm_80\n.global .s32 a = 1;\n.global .s32 b = 1 / 0;\n";
        assert_eq!(found(zero), [("division-by-zero-crash", (4, 18))]);
        let overflow =
            zero.replace("1 / 0", "1").replace(".s32 b = 1", ".s64 b = (-9223372036854775807 - 1) / -1");
        assert_eq!(found(&overflow), [("quotient-overflow-crash", (4, 14))]);
    }

    #[test]
    fn a_place_is_the_name_that_is_declared_there() {
        let text = "\
.version 7.8
.target sm_80
.global .s32 whole[2][2] = {{1, 2}, {3, 4}};
.global .s32 a, rows[2][2] = {{1}, {3}};
.const .f64 raw = 0f3f800000;
";
        assert_eq!(found(text), [("incomplete-rows-packed", (4, 17)), ("single-bits-raw-in-f64", (5, 13))]);
    }

    #[test]
    fn a_program_without_risk_gets_no_warning() {
        let text = ".version 7.8\n.target sm_80\n.global .s64 x[2] = {1 ? -1 : 0, 7 % 3};\n.global .u64 p = generic(x);\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn a_narrow_address_is_a_risk_where_addresses_have_64_bits() {
        let text = |bits: u32| {
            format!(
                ".version 6.0\n.target sm_30\n.address_size {bits}\n.global .u32 g;\n.global .u32 x = g;\n"
            )
        };
        assert_eq!(found(&text(64)), [("address-always-8-bytes", (5, 14))]);
        assert_eq!(found(&text(32)), []);
    }

    #[test]
    fn a_header_with_a_shape_is_one_place() {
        let text = ".version 8.5\n.target sm_80\n.global .s32 a;\n.global .s32 b;\n";
        assert_eq!(found(text), [("header-crash", (1, 10))]);
    }

    /// Typical output of a compiler; everything in it is accepted.
    #[test]
    fn ordinary_kernels_are_not_warned_of() {
        let text = "\
.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 value) get(.param .b64 from) { .reg .pred %r1; .reg .b32 %r2; ret; }
.visible .entry k(.param .u64 .ptr .align 4 p, .param .u32 n) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r2, [%rd1+4];
    mov.u32 %r1, %tid.x;
$L1:
    .loc 1 5 0
    {
        .param .b64 passed;
        .param .b32 given;
        st.param.b64 [passed], %rd1;
        call (given), get, (passed);
        ld.param.b32 %r3, [given];
    }
    st.global.u32 [%rd1], %r3;
    ret;
}
";
        assert_eq!(found(text), []);
    }
}
