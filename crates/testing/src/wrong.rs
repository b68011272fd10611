//! Wrong rules, to be planted into an implementation that otherwise follows the specification.

use ptxsmith_diff::hypothetical_rules::{HYPOTHETICAL_RULES, OPERANDS};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_oracle::{Clause, RefusalClass, Rules};
use ptxsmith_subject::{Observation, Request};
use ptxsmith_syntax::{BinaryOp, StateSpace};

use crate::fakes::observe;

/// A change of the rules.
pub type Change = fn(&mut Rules);

/// A wrong rule.
#[derive(Clone, Copy)]
pub struct WrongRule {
    /// The id, or a description if it has no id.
    pub id: &'static str,
    /// The deviation in one line.
    pub title: &'static str,
    /// The clause that the rule violates, if it is listed with one.
    pub clause: Option<Clause>,
    /// The origin of the rule.
    pub origin: RuleOrigin,
    /// Changes correct rules into the wrong ones.
    pub change: Change,
}

/// The origin of a wrong rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// A triage hypothesis about data.
    Hypothesis,
    /// A triage hypothesis about operands.
    OperandHypothesis,
    /// Not covered by any triage hypothesis, so findings need another name.
    Unsuspected,
    /// Known from real implementations.
    Known,
}

/// Returns every wrong rule, hypotheses first.
pub fn all() -> impl Iterator<Item = WrongRule> {
    let about_data = HYPOTHETICAL_RULES.iter().map(|suspect| (suspect, RuleOrigin::Hypothesis));
    let about_operands = OPERANDS.iter().map(|suspect| (suspect, RuleOrigin::OperandHypothesis));
    let hypotheses = about_data.chain(about_operands).map(|(suspect, origin)| WrongRule {
        id: suspect.id,
        title: suspect.title,
        clause: Some(suspect.clause),
        origin,
        change: suspect.change,
    });
    let unsuspected = UNSUSPECTED.iter().map(|&(title, change)| WrongRule {
        id: title,
        title,
        clause: None,
        origin: RuleOrigin::Unsuspected,
        change,
    });
    let known = KNOWN.iter().filter_map(|known| {
        Some(WrongRule {
            id: known.id,
            title: known.title,
            clause: known.clauses.first().copied(),
            origin: RuleOrigin::Known,
            change: known.change()?,
        })
    });
    hypotheses.chain(unsuspected).chain(known)
}

/// Returns the wrong rules with this origin.
pub fn with_origin(origin: RuleOrigin) -> impl Iterator<Item = WrongRule> {
    all().filter(move |wrong| wrong.origin == origin)
}

/// Returns the wrong rule with this id.
///
/// # Panics
/// If there is none.
pub fn rule(id: &str) -> WrongRule {
    all().find(|wrong| wrong.id == id).unwrap_or_else(|| panic!("no wrong rule is called {id}"))
}

/// Creates an implementation that follows these wrong rules, and otherwise the specification. It does not show
/// the known deviations of a lineage, unlike the implementations of [`fake`](crate::fake).
pub fn follows(ids: &[&str]) -> impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + use<> {
    let mut rules = Rules::default();
    ids.iter().for_each(|id| (rule(id).change)(&mut rules));
    move |request: &Request<'_>| observe(Default::default(), &rules, request)
}

/// Returns the rejections that a faulty implementation may lack: classes in which the default interpretation
/// rejects programs.
pub fn refusals() -> impl Iterator<Item = RefusalClass> {
    const NOT_BY_DEFAULT: [RefusalClass; 2] = [RefusalClass::SignedOverflow, RefusalClass::EmptyList];
    RefusalClass::ALL.into_iter().filter(|class| !NOT_BY_DEFAULT.contains(class))
}

/// Wrong rules that no triage hypothesis covers.
const UNSUSPECTED: [(&str, Change); 26] = [
    ("an offset behind a name is negated", |rules| {
        rules.operands.offset.change(|next, bytes| -next.apply(bytes))
    }),
    ("an offset loses its lowest bit", |rules| {
        rules.operands.offset.change(|next, bytes| next.apply(bytes) & !1)
    }),
    ("an offset stops at 4,095", |rules| {
        rules.operands.offset.change(|next, bytes| next.apply(bytes).min(4_095))
    }),
    ("offsets have 24 bits", |rules| {
        rules.operands.offset_fits.change(|next, value, ty| next.apply(value, ty) && value < 1 << 24);
    }),
    ("offsets may not be negative", |rules| {
        rules.operands.offset_fits.change(|next, value, ty| next.apply(value, ty) && value >= 0);
    }),
    ("offsets may have 64 bits", |rules| rules.operands.offset_fits.change(|_, _, _| true)),
    ("a constant index begins with one", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index - 1, step));
    }),
    ("a negative constant index is zero", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index.max(0), step));
    }),
    ("elements lie at least 4 bytes apart", |rules| {
        rules.operands.element_offset.change(|next, index, step| next.apply(index, step.max(4)));
    }),
    ("elements of 8 bytes lie 4 bytes apart", |rules| {
        rules
            .operands
            .element_offset
            .change(|next, index, step| next.apply(index, if step == 8 { 4 } else { step }));
    }),
    ("an index of 16 bits has no sign", |rules| {
        rules.operands.index.change(|next, ty, bits| match ty.size() {
            Some(2) => (bits & 0xffff) as i64,
            _ => next.apply(ty, bits),
        });
    }),
    ("an index of 32 bits has 16", |rules| {
        rules.operands.index.change(|next, ty, bits| match ty.size() {
            Some(4) => i64::from(bits as i16),
            _ => next.apply(ty, bits),
        });
    }),
    ("an index may not be a difference", |rules| {
        rules.operands.index_operator.change(|next, op| next.apply(op) && op == BinaryOp::Add);
    }),
    (".y names the first element", |rules| {
        rules
            .operands
            .element_named
            .change(|next, letter, count| next.apply(if letter == "y" { "x" } else { letter }, count));
    }),
    ("colours name nothing", |rules| {
        rules.operands.element_named.change(|next, letter, count| {
            next.apply(letter, count).filter(|_| !["r", "g", "b", "a"].contains(&letter))
        });
    }),
    ("a list is cut from the highest part", |rules| {
        rules.operands.part_of_scalar.change(|_, place, count| count - 1 - place);
    }),
    ("a list of four is cut as one of two", |rules| {
        rules.operands.part_of_scalar.change(|next, place, count| next.apply(place, count) % 2);
    }),
    ("a constant is true where its lowest bit is", |rules| {
        rules.operands.predicate.change(|_, _, bits| bits & 1 == 1)
    }),
    ("a constant of more than 32 bits is false", |rules| {
        rules.operands.predicate.change(|next, opcode, bits| next.apply(opcode, bits & 0xffff_ffff));
    }),
    ("constants move no address in .shared", |rules| {
        rules.operands.moved.change(|next, space, bytes| match space {
            StateSpace::Shared => 0,
            _ => next.apply(space, bytes),
        });
    }),
    ("constants move no address in .const", |rules| {
        rules.operands.moved.change(|next, space, bytes| match space {
            StateSpace::Const => 0,
            _ => next.apply(space, bytes),
        });
    }),
    ("a function may stand in any operand", |rules| rules.operands.function_operand.change(|_, _, _| true)),
    ("a function may stand in no operand", |rules| rules.operands.function_operand.change(|_, _, _| false)),
    ("sizes are rounded up to 4 bytes", |rules| {
        rules.layout.size.change(|next, extents, element| next.apply(extents, element).next_multiple_of(4));
    }),
    ("the last dimension of three counts for nothing", |rules| {
        rules
            .layout
            .size
            .change(|next, extents, element| next.apply(&extents[..extents.len().min(2)], element));
    }),
    ("a parameterized name may have a zero before its number", |rules| {
        rules
            .layout
            .numbered
            .change(|next, prefix, number| next.apply(prefix, number.trim_start_matches('0')));
    }),
];
