//! The text that an editor shows for the variable or constant under the pointer.

use anstream::adapter::strip_str;
use ptxsmith_campaign::input::InputProgram;
use ptxsmith_oracle::{
    Clause, Evaluator, Expectation, Integer, RefusalClass, Rules, Stored, Trace, Variable, predict,
};
use ptxsmith_syntax::{Declaration, Expr, ScalarType, TypeKind};

use super::eval;

/// Returns the Markdown text for a byte offset in a program, or `None` if there is nothing to show.
pub(super) fn hovered(program: &InputProgram, offset: u32) -> Option<String> {
    constant(program, offset).or_else(|| variable(program, offset))
}

/// Returns the value and type of the constant expression around a byte offset.
fn constant(program: &InputProgram, offset: u32) -> Option<String> {
    let (declaration, expr) = program.module.declarations().find_map(|declaration| {
        let initializers =
            declaration.declarators.iter().filter_map(|declarator| declarator.initializer.as_ref());
        let mut values = initializers.flat_map(|initializer| initializer.values());
        let expr = values.find(|expr| (expr.span().start..expr.span().end).contains(&offset))?;
        Some((declaration, expr))
    })?;
    if expr.has_names() {
        return None;
    }
    let written = program.text.get(expr.span().start as usize..expr.span().end as usize)?;
    let rules = Rules::default();
    let version = program.module.version()?;
    let mut evaluator = Evaluator::new(&rules, version);
    let mut trace = Trace::default();
    let value = value_of(&mut evaluator, expr, &mut trace)?;
    let stored = stored(&mut evaluator, declaration, expr, &mut trace).unwrap_or_default();
    let clauses = trace.clauses.iter().map(|clause| format!("- {}: {}\n", clause.id(), clause.summary()));
    Some(format!("`{written}` is {value}{stored}\n\n{}", clauses.collect::<String>()))
}

/// Returns the value and type of a constant before it is converted to the type of the variable.
fn value_of(evaluator: &mut Evaluator<'_>, expr: &Expr, trace: &mut Trace) -> Option<String> {
    let no_integer = (RefusalClass::ValueKind, Clause::ConstantInInitializer);
    match evaluator.integer(expr, no_integer, trace) {
        Ok(Integer { bits, signed: true }) => Some(format!("{} of `.s64`", bits as i64)),
        Ok(Integer { bits, signed: false }) => Some(format!("{bits} of `.u64`")),
        Err(_) => match evaluator.store(expr, ScalarType::F64, trace) {
            Ok(Stored::Bits(bits)) => Some(format!("{:?} of `.f64`", f64::from_bits(bits))),
            _ => None,
        },
    }
}

/// Returns the bits that a variable of this declaration stores for the constant.
fn stored(
    evaluator: &mut Evaluator<'_>,
    declaration: &Declaration,
    expr: &Expr,
    trace: &mut Trace,
) -> Option<String> {
    let ty = declaration.scalar_type().filter(|ty| ty.kind() != TypeKind::Predicate)?;
    let Ok(Stored::Bits(bits)) = evaluator.store(expr, ty, trace) else { return None };
    let digits = 2 * ty.bytes() as usize;
    let low = bits & u64::MAX.checked_shr(64 - 4 * digits as u32).unwrap_or_default();
    Some(format!("; stored in `{}`: `0x{low:0digits$x}`", ty.keyword()))
}

/// Returns the output of `eval` for the variable named at a byte offset.
fn variable(program: &InputProgram, offset: u32) -> Option<String> {
    let name = name_at(&program.text, offset as usize)?;
    let rules = Rules::default();
    let mut prediction = predict(&program.module, &rules);
    let Expectation::Accepted { variables, unmodelled, .. } = &mut prediction.data else { return None };
    variables.retain(|variable: &Variable| variable.name == *name);
    unmodelled.clear();
    if variables.is_empty() {
        return None;
    }
    prediction.kernels.clear();
    prediction.undecided.clear();
    let text = eval::text(program, &prediction, &rules, false, true).ok()?;
    Some(format!("```text\n{}```\n", strip_str(&text)))
}

/// Returns the name around a byte offset.
fn name_at(text: &str, offset: usize) -> Option<&str> {
    let (before, behind) = text.split_at_checked(offset)?;
    let start = before.rfind(|c| !is_part_of_name(c)).map_or(0, |index| index + 1);
    let end = offset + behind.find(|c| !is_part_of_name(c)).unwrap_or(behind.len());
    text.get(start..end).filter(|name| !name.is_empty())
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}
