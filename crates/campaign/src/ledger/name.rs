//! Names of findings. They are stable across runs, shards and orders of the cases.

use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::{Class, Difference, hypothesis};
use ptxsmith_model::{ExpectedAnswer, FindingKind};
use ptxsmith_oracle::{Clause, ClauseSet, Observed};
use ptxsmith_subject::{Observation, Outcome};

/// The longest message to show in a title with the program text that it quotes.
const LONGEST_QUOTED: usize = 120;

/// The name and description of a finding.
#[derive(Default)]
pub struct FindingName {
    /// The stable name.
    pub id: String,
    /// The subject matter of the finding.
    pub kind: FindingKind,
    /// The effect, in one line.
    pub title: String,
    /// The clauses that it violates.
    pub clauses: Vec<Clause>,
}

impl FindingName {
    /// Names a listed deviation.
    pub fn known(known: &KnownDeviation) -> FindingName {
        FindingName {
            id: known.id.to_owned(),
            kind: FindingKind::Known(known.id.to_owned()),
            title: known.title.to_owned(),
            clauses: known.clauses.to_vec(),
        }
    }

    /// Names a difference after the wrong rule that predicts it.
    pub fn lead(id: &str) -> FindingName {
        let (title, clauses) = hypothesis::description_of(id).unwrap_or_default();
        let is_listed = KNOWN.iter().any(|known| known.id == id);
        let rule = id.to_owned();
        let (id, kind) = if is_listed {
            (format!("unlisted-{id}"), FindingKind::Unlisted(rule))
        } else {
            (rule.clone(), FindingKind::Hypothesis(rule))
        };
        FindingName { id, kind, title, clauses: clauses.to_vec() }
    }

    /// Names a difference without an explanation after the clauses on which the trial depends, since nothing
    /// else is known to group by.
    pub fn unexplained(difference: &Difference, clauses: ClauseSet) -> FindingName {
        let class = difference.class;
        // The result of a kernel depends on more than the operand under test, such as types and literals.
        // Keep only the clauses about operands.
        let of_kernel = difference.variable.is_none() && !difference.observed.kernels.is_empty();
        let clauses = if of_kernel { of_operands(clauses) } else { clauses };
        let is_astray = matches!(difference.expected.answer, ExpectedAnswer::Accesses(_));
        let refusal = difference.expected.refusal();
        let title = match (class, &difference.observed) {
            (Class::Crash, seen) => match seen.signal {
                Some(signal) => format!("the subject is killed by signal {signal}"),
                None => format!("the subject dies: {}", seen.reason.as_deref().unwrap_or("no reason given")),
            },
            (Class::RefusesValid, seen) => {
                debug_assert_eq!(seen.outcome, Outcome::Refused);
                refused(&quoteless(first_message(seen).unwrap_or("no message")))
            }
            (Class::AcceptsInvalid, _) => {
                let class = refusal.map_or("invalid", |refusal| &refusal.class);
                format!("an invalid program is accepted: {class}")
            }
            (Class::WrongValue, _) if is_astray => "a kernel stores other bytes".to_owned(),
            (Class::WrongAddress, _) if is_astray => "a kernel reads or writes other memory".to_owned(),
            (class, _) => effect(class, of_kernel).to_owned(),
        };
        let key = match class {
            Class::Crash | Class::AcceptsInvalid => slug(&title),
            // The same message may have many causes, so add the clauses.
            Class::RefusesValid => slug(&format!("{title} {}", ids(clauses))),
            // Chapters of the manual on instructions are not in the list of clauses.
            Class::WrongValue if is_astray && clauses.is_empty() => {
                let wrong = difference.expected.accesses();
                let opcodes = wrong.iter().flat_map(|access| &access.opcodes).map(String::as_str);
                let kernels = wrong.iter().map(|access| &*access.kernel);
                slug(&format!("computed {}", opcodes.chain(kernels).collect::<Vec<_>>().join(" ")))
            }
            _ => slug(&ids(clauses)),
        };
        let title = mark_quotations(&title);
        let violated = refusal.and_then(|refusal| Clause::from_id(refusal.basis.clauses.first()?));
        let clauses = match violated {
            Some(clause) => vec![clause],
            None => clauses.iter().collect(),
        };
        FindingName { id: format!("{}-{key}", class.name()), kind: FindingKind::Unexplained, title, clauses }
    }
}

/// Describes a class of deviation of a variable or a kernel.
pub fn effect(class: Class, of_kernel: bool) -> &'static str {
    match class {
        Class::WrongValue if of_kernel => "a kernel leaves other bytes",
        Class::WrongAddress if of_kernel => "a kernel leaves another address",
        Class::WrongValue => "a variable holds other bytes",
        Class::WrongAddress => "a variable holds another address",
        Class::WrongLayout => "a variable has another size, alignment or space",
        Class::Inconsistent => "the answer depends on the company of the program",
        Class::Hang => "the subject gives no answer in time",
        Class::Crash => "the subject dies",
        Class::RefusesValid => "a valid program is refused",
        Class::AcceptsInvalid => "an invalid program is accepted",
        Class::Memory => "the subject exhausts its memory",
        Class::Other => "the subject deviates",
    }
}

fn ids(clauses: ClauseSet) -> String {
    clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(" ")
}

/// Returns those clauses that only instructions can show, except the one that nearly every instruction shows.
/// If none remain, returns all.
fn of_operands(clauses: ClauseSet) -> ClauseSet {
    let of_instructions: ClauseSet = clauses
        .iter()
        .filter(|&clause| clause.observed() == Observed::Instruction && clause != Clause::ConstantAsOperand)
        .collect();
    if of_instructions.is_empty() { clauses } else { of_instructions }
}

/// Returns the title of a rejection of a valid program.
fn refused(message: &str) -> String {
    format!("a valid program is refused: {message}")
}

/// Returns the first diagnostic of a rejection.
fn first_message(observation: &Observation) -> Option<&str> {
    observation.diagnostics.first().map(|diagnostic| diagnostic.message.as_str())
}

/// Puts the program text that a short message quotes into the title of a rejection. `observed` must come from
/// the program as shown, because names differ in a batch. The id of the finding does not change, so that
/// equal findings keep one id.
pub fn quote(title: &mut String, observed: &Observation) {
    let Some(message) = first_message(observed) else { return };
    let general = mark_quotations(&refused(&quoteless(message)));
    if message.len() <= LONGEST_QUOTED
        && let Some(before) = title.strip_suffix(&general)
    {
        *title = before.to_owned() + &refused(message);
    }
}

/// Removes quoted program text from a message.
pub fn quoteless(message: &str) -> String {
    let mut quoted = false;
    let kept = message.chars().filter(|&c| {
        let keep = !quoted || c == '\'';
        quoted ^= c == '\'';
        keep
    });
    placeless(&kept.collect::<String>())
}

/// Removes free-standing numbers from a message. They are mostly line numbers, which would make each
/// rejection a separate finding. Keeps `sm_35` and `3.1`.
fn placeless(message: &str) -> String {
    let mut text = String::new();
    for word in message.split_inclusive(|c: char| !is_part_of_name(c)) {
        let name = word.trim_end_matches(|c: char| !is_part_of_name(c) || c == '.');
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push('N');
            text.push_str(&word[name.len()..]);
        } else {
            text.push_str(word);
        }
    }
    text
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_.$%".contains(c)
}

/// Marks removed quotations as `'...'` in a title.
fn mark_quotations(title: &str) -> String {
    title.replace("''", "'...'")
}

/// Joins the words of a text in lower case with hyphens. Cuts a long text and adds a hash that is the same in
/// every build.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.len() <= 60 {
        return slug.to_owned();
    }
    // FNV-1a: the name must be the same in every build, which the standard hasher does not promise.
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    format!("{}-{:08x}", &slug[..40].trim_end_matches('-'), hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_model::Expected;
    use ptxsmith_subject::{Diagnostic, Severity};

    #[test]
    fn a_message_is_the_same_wherever_in_the_program_it_is_about() {
        let span = |at| format!("parsing error at Span {{ start: {at}, end: {} }}: found 'x{at}'.", at + 1);
        assert_eq!(quoteless(&span(9)), "parsing error at Span { start: N, end: N }: found ''.");
        assert_eq!(quoteless(&span(9)), quoteless(&span(1234)));
        assert_eq!(quoteless("trailing input at offset 335."), "trailing input at offset N.");
    }

    #[test]
    fn a_title_quotes_what_the_message_about_the_shown_program_quotes() {
        let refusing = |message: &str| {
            let error = Diagnostic { severity: Severity::Error, line: Some(4), message: message.to_owned() };
            Observation { diagnostics: vec![error], ..Observation::new(Outcome::Refused) }
        };
        let seen = refusing("Unknown symbol 't3_x'");
        let difference = Difference::new(Class::RefusesValid, Expected::default(), seen);
        let FindingName { id, mut title, .. } = FindingName::unexplained(&difference, ClauseSet::EMPTY);
        assert_eq!(id, "refuses-valid-a-valid-program-is-refused-unknown-symbol");
        assert_eq!(title, "a valid program is refused: Unknown symbol '...'");
        quote(&mut title, &refusing("Parsing error near 'x'"));
        quote(&mut title, &refusing(&format!("Unknown symbol '{}'", "x".repeat(200))));
        assert_eq!(title, "a valid program is refused: Unknown symbol '...'");
        quote(&mut title, &refusing("Unknown symbol 'x'"));
        assert_eq!(title, "a valid program is refused: Unknown symbol 'x'");
    }

    #[test]
    fn versions_and_targets_are_no_places() {
        let message = "Feature '.b128' requires .target sm_70 and .version 8.3 or later";
        assert_eq!(quoteless(message), message.replace(".b128", ""));
    }

    #[test]
    fn what_nothing_explains_is_called_by_its_class_and_by_what_it_shows() {
        use serde_json::{Value, json};
        let signal = |signal| Observation { signal, ..Observation::new(Outcome::Crashed) };
        let accepted = || Observation::new(Outcome::Accepted);
        let refusal = json!({ "refusal": { "class": "shift", "clauses": ["4.5.1/warp-size"] } });
        let astray = json!({ "astray": [] });
        let usual = "4-5-4-unary-plus-4-5-4-unary-minus";
        for (class, expected, observed, id, title) in [
            (
                Class::Crash,
                Value::Null,
                signal(Some(11)),
                "crash-the-subject-is-killed-by-signal-11".to_owned(),
                "the subject is killed by signal 11",
            ),
            (
                Class::Crash,
                Value::Null,
                signal(None),
                "crash-the-subject-dies-no-reason-given".to_owned(),
                "the subject dies: no reason given",
            ),
            (
                Class::AcceptsInvalid,
                refusal,
                accepted(),
                "accepts-invalid-an-invalid-program-is-accepted-shift".to_owned(),
                "an invalid program is accepted: shift",
            ),
            (
                Class::Inconsistent,
                Value::Null,
                accepted(),
                format!("inconsistent-{usual}"),
                "the answer depends on the company of the program",
            ),
            (
                Class::WrongValue,
                astray.clone(),
                accepted(),
                format!("wrong-value-{usual}"),
                "a kernel stores other bytes",
            ),
            (
                Class::WrongAddress,
                astray,
                accepted(),
                format!("wrong-address-{usual}"),
                "a kernel reads or writes other memory",
            ),
            (
                Class::WrongValue,
                Value::Null,
                accepted(),
                format!("wrong-value-{usual}"),
                "a variable holds other bytes",
            ),
            (
                Class::Hang,
                Value::Null,
                Observation::new(Outcome::TimedOut),
                format!("hang-{usual}"),
                "the subject gives no answer in time",
            ),
        ] {
            let expected: Expected = serde_json::from_value(expected).unwrap();
            let is_refused = expected.refusal().is_some();
            let variable = Some("x".to_owned());
            let difference = Difference { variable, ..Difference::new(class, expected, observed) };
            let name = FindingName::unexplained(&difference, [Clause::UnaryPlus, Clause::UnaryMinus].into());
            assert_eq!((name.id, &*name.title, name.kind), (id, title, FindingKind::Unexplained));
            let rests_on =
                if is_refused { vec![Clause::WarpSize] } else { vec![Clause::UnaryPlus, Clause::UnaryMinus] };
            assert_eq!(name.clauses, rests_on, "{class:?}");
        }
    }

    #[test]
    fn kernels_of_one_name_that_compute_with_other_instructions_are_two_findings() {
        let id = |opcodes: &[&str]| {
            let access = ptxsmith_model::AccessDifference {
                kernel: "k".to_owned(),
                class: Class::WrongValue,
                line: None,
                expected: String::new(),
                seen: String::new(),
                opcodes: opcodes.iter().map(|&opcode| opcode.to_owned()).collect(),
            };
            let expected = Expected::of_accesses(vec![access]);
            let difference =
                Difference::new(Class::WrongValue, expected, Observation::new(Outcome::Accepted));
            FindingName::unexplained(&difference, ClauseSet::EMPTY).id
        };
        assert_eq!(id(&["add.s32", "add.sat.s32"]), "wrong-value-computed-add-s32-add-sat-s32-k");
        assert_eq!(id(&["prmt.b32"]), "wrong-value-computed-prmt-b32-k");
        assert_eq!(id(&[]), "wrong-value-computed-k");
    }

    #[test]
    fn what_a_kernel_leaves_is_called_by_the_clauses_that_only_instructions_show() {
        use Clause::{ConstantAsOperand, PredicateConstant, UnaryPlus};
        for (clauses, own) in [
            (vec![ConstantAsOperand, PredicateConstant, UnaryPlus], vec![PredicateConstant]),
            (vec![ConstantAsOperand, UnaryPlus], vec![ConstantAsOperand, UnaryPlus]),
            (vec![UnaryPlus], vec![UnaryPlus]),
        ] {
            let clauses = clauses.into_iter().collect();
            assert_eq!(of_operands(clauses).iter().collect::<Vec<_>>(), own);
        }
        assert_eq!(effect(Class::WrongAddress, true), "a kernel leaves another address");
        assert_eq!(effect(Class::WrongAddress, false), "a variable holds another address");
    }
}
