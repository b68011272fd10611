//! Target `eval`: the oracle answers every program, deterministically, with the same value in every context, and agrees with
//! the naive evaluator.

use ptxsmith_oracle::{
    Evaluator, Expectation, Interpretation, MAX_BYTES, Readings, Rules, Stop, Stored, Trace, expect,
};
use ptxsmith_syntax::{Expr, Module, NodeKind, ScalarType, VisitMut, parse};

use crate::naive::{self, NaiveAnswer};
use crate::target::{Selection, Target, TargetFailure, text};

/// The target.
pub static EVAL: Target = Target { name: "eval", run, program: text };

/// The largest program, in values, that is checked value by value. Larger programs are only evaluated.
const MOST_VALUES: usize = 64;
/// The number of values per program that are tried in every context.
const IN_CONTEXT: usize = 2;

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let Some(module) = std::str::from_utf8(data).ok().and_then(|text| parse(text).ok()) else {
        return Ok(());
    };
    let selection = Selection::new(data, 3);
    if selection.includes(0) {
        consistent(&module)?;
    }
    // Without a version there is no mask. The oracle then assumes the latest version.
    let version = module.version().unwrap_or((u32::MAX, 0));
    let mut values = values(&module);
    values.truncate(MOST_VALUES);
    if selection.includes(1) {
        for (expr, ty) in selection.some_of(&values) {
            agreement_under(expr, *ty, version, |others| selection.some_of(others))?;
        }
    }
    if selection.includes(2) {
        for (expr, ty) in selection.some_of(&values).iter().take(IN_CONTEXT) {
            in_context(expr, *ty, selection)?;
        }
    }
    Ok(())
}

/// Checks that the oracle is deterministic and that the sizes and alignments of variables are consistent.
fn consistent(module: &Module) -> Result<(), TargetFailure> {
    let rules = Rules::default();
    let first = expect(module, &rules);
    TargetFailure::unless(first == expect(module, &rules), || "two answers for one program".to_owned())?;
    let Expectation::Accepted { variables, .. } = &first else { return Ok(()) };
    for variable in variables {
        // The oracle computes only the layout of the largest variables.
        let is_large = variable.size > MAX_BYTES && variable.bytes.is_empty();
        TargetFailure::unless(variable.has_content() || is_large, || {
            format!("`{}` has {} bytes and size {}", variable.name, variable.bytes.len(), variable.size)
        })?;
        TargetFailure::unless(variable.align.is_power_of_two(), || {
            format!("`{}` aligned to {}", variable.name, variable.align)
        })?;
    }
    Ok(())
}

/// Returns the values in initializers at module scope, with the types that they are converted to. Omits types that cannot have
/// an initializer (5.4.4), and `.b128`, because the naive evaluator is limited to 64 bits.
fn values(module: &Module) -> Vec<(&Expr, ScalarType)> {
    let mut found = Vec::new();
    for declaration in module.declarations() {
        let Some(ty) = declaration.scalar_type() else { continue };
        if matches!(ty, ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 | ScalarType::Pred) {
            continue;
        }
        for declarator in &declaration.declarators {
            found.extend(declarator.values().map(|value| (value, ty)));
        }
    }
    found
}

/// Returns the oracle's answer for the content of a scalar, converted to the naive evaluator's type.
fn answer(expr: &Expr, ty: ScalarType, version: (u32, u32), rules: &Rules, trace: &mut Trace) -> NaiveAnswer {
    let size = ty.bytes().min(8);
    match Evaluator::new(rules, version).store(expr, ty, trace) {
        Ok(Stored::Bits(bits)) => {
            NaiveAnswer::Bits(if size == 8 { bits } else { bits & ((1 << (8 * size)) - 1) })
        }
        Ok(Stored::Wide(_)) => NaiveAnswer::Open,
        Ok(Stored::Address(..)) => NaiveAnswer::Unknown,
        Err(Stop::Refused(_)) => NaiveAnswer::Refused,
        Err(Stop::Unmodelled(_)) => NaiveAnswer::Open,
    }
}

/// Compares the content of a scalar of this type between the oracle and the naive evaluator, under the default interpretation
/// and under every other interpretation of an ambiguity that was met. Returns the number of answers compared.
///
/// # Errors
/// If the answers differ.
pub fn agreement(expr: &Expr, ty: ScalarType, version: (u32, u32)) -> Result<u32, TargetFailure> {
    agreement_under(expr, ty, version, |others| others)
}

/// Like [`agreement`], under a selection of the other interpretations.
fn agreement_under(
    expr: &Expr,
    ty: ScalarType,
    version: (u32, u32),
    some_of: impl Fn(&[Readings]) -> &[Readings],
) -> Result<u32, TargetFailure> {
    let mut trace = Trace::default();
    let mut compared = compare(expr, ty, version, Readings::default(), &mut trace)?;
    let others: Vec<Readings> = (trace.questions.iter())
        .flat_map(|question| (1..question.answers().len()).map(move |answer| (question, answer)))
        .map(|(question, answer)| Readings::default().with(question, answer).unwrap_or_default())
        .collect();
    for readings in some_of(&others) {
        compared += compare(expr, ty, version, *readings, &mut Trace::default())?;
    }
    Ok(compared)
}

fn compare(
    expr: &Expr,
    ty: ScalarType,
    version: (u32, u32),
    readings: Readings,
    trace: &mut Trace,
) -> Result<u32, TargetFailure> {
    let ours = answer(expr, ty, version, &Rules::specification(readings), trace);
    let naive = naive::store(expr, ty, version, &readings);
    if naive == NaiveAnswer::Unknown {
        return Ok(0);
    }
    // If the specification does not cover one part and rejects another, the result depends on which is evaluated first.
    let either = naive == NaiveAnswer::Open && ours == NaiveAnswer::Refused && has_masked_operand(expr);
    TargetFailure::unless(ours == naive || either, || {
        let readings: Vec<String> = (trace.questions.iter())
            .map(|question| Interpretation(question, readings.answer(question)).to_string())
            .collect();
        let readings = readings.join(", ");
        format!(
            "`{expr}` in {ty} is {ours:?} to the oracle, {naive:?} to the naive evaluator, under {readings}"
        )
    })?;
    Ok(1)
}

/// Returns true if a mask is an operand of another operator, which the specification does not cover.
fn has_masked_operand(expr: &Expr) -> bool {
    let inner = &expr.nodes()[..expr.root() as usize];
    inner.iter().any(|node| matches!(node.kind, NodeKind::Mask(..)))
}

/// Checks a constant in scalars, arrays and vectors, in both state spaces: all must hold the same value as the scalar, or be
/// rejected if the scalar is rejected.
fn in_context(expr: &Expr, ty: ScalarType, selection: Selection) -> Result<(), TargetFailure> {
    if expr.nodes().iter().any(|node| matches!(node.kind, NodeKind::Name(_) | NodeKind::Generic(_))) {
        return Ok(());
    }
    let Some(size) = ty.size() else { return Ok(()) };
    let rules = Rules::default();
    let expected = answer(expr, ty, (9, 0), &rules, &mut Trace::default());
    for (name, context) in selection.some_of(contexts(ty)) {
        let found = match expect(&module_of(context, expr, ty), &rules) {
            Expectation::Refused { .. } => NaiveAnswer::Refused,
            Expectation::Unmodelled { .. } => NaiveAnswer::Open,
            Expectation::Accepted { variables, .. } => {
                let bytes = variables.last().map(|variable| &*variable.bytes).unwrap_or_default();
                let last = bytes.rchunks(size as usize).next().unwrap_or_default();
                NaiveAnswer::Bits(last.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
            }
        };
        TargetFailure::unless(found == expected, || {
            format!("`{expr}` in {ty} is {expected:?} as a scalar and {found:?} as {name}")
        })?;
    }
    Ok(())
}

/// A description, and a declaration of a variable of type `#` that holds the constant `v` in its last scalar.
type ConstantContext = (&'static str, &'static str);

/// Scalars, arrays and a vector. The vector comes last, because two elements of the largest type exceed the limit for vectors.
const CONTEXTS: &[ConstantContext] = &[
    ("a .const scalar", ".const # x = v;"),
    ("an element", ".global # x[2] = {v, v};"),
    ("an element of a row", ".const # x[1][2] = {{v, v}};"),
    ("an element of a vector", ".global .v2 # x = {v, v};"),
];

/// Returns the contexts that are valid for a type. Vectors are limited to 16 bytes (5.4.2).
fn contexts(ty: ScalarType) -> &'static [ConstantContext] {
    if ty.size().is_some_and(|size| size <= 8) { CONTEXTS } else { &CONTEXTS[..CONTEXTS.len() - 1] }
}

/// Replaces `v` by a constant.
struct ConstantInsertion<'a>(&'a Expr);

impl VisitMut<'_> for ConstantInsertion<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if *expr == Expr::name("v") {
            *expr = self.0.clone();
        }
    }
}

/// Creates a module with the variable of this context.
fn module_of(context: &str, expr: &Expr, ty: ScalarType) -> Module {
    let text = format!(".version 9.0 .target sm_90 {}", context.replace('#', ty.keyword()));
    let mut module = parse(&text).expect("a text of ours");
    ConstantInsertion(expr).module(&mut module);
    module
}
