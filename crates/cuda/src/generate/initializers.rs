//! The kinds of initializer that give a variable its value.

use super::CaseDraw;
use crate::language::{Auxiliary, Category, Expression, Operator, Qualifier, VariableType};

/// The names of all kinds of initializer. The first is the simplest.
pub const KINDS: &[&str] = &[
    "literal",
    "other-constant",
    "other-constexpr",
    "chain",
    "constexpr-call",
    "constexpr-call-of-constant",
    "sizeof",
    "conditional",
    "arithmetic",
    "enumerator",
    "cast-of-floating",
    "empty-braces",
    "through-const-floating",
    "inline-call",
    "run-time-call",
    "run-time-variable",
    "mutable-variable",
    "volatile-constant",
    "constant-defined-elsewhere",
    "constexpr-call-of-run-time",
    "division-by-zero",
];

/// Draws an initializer of this kind for a variable of this type, with the declarations that the initializer
/// names.
///
/// Returns `None` if the type has no initializer of this kind.
pub fn initializer(
    kind: &str,
    ty: VariableType,
    draw: &mut CaseDraw,
) -> Option<(Expression, Vec<Auxiliary>)> {
    if ty.is_arithmetic() { arithmetic(kind, ty, draw) } else { other(kind, ty, draw) }
}

fn boxed(expression: Expression) -> Box<Expression> {
    Box::new(expression)
}

fn int(value: i128) -> Expression {
    Expression::Integer(value, "")
}

fn variable(
    name: &'static str,
    ty: VariableType,
    qualifier: Qualifier,
    initializer: Option<Expression>,
) -> Auxiliary {
    Auxiliary::Variable { name, ty, qualifier, initializer }
}

fn function(
    name: &'static str,
    result: VariableType,
    constexpr: bool,
    body: Option<Expression>,
) -> Auxiliary {
    Auxiliary::Function { name, result, constexpr, body }
}

fn name(name: &'static str) -> Expression {
    Expression::Name(name)
}

fn call(function: &'static str, argument: Expression) -> Expression {
    Expression::Call(function, vec![argument])
}

fn twice(operand: Expression) -> Expression {
    Expression::Binary(Operator::Multiply, boxed(operand), boxed(int(2)))
}

/// Draws a small positive number that is suitable as an array bound.
fn small(draw: &mut CaseDraw) -> i128 {
    *draw.choose(&[10, 2, 3, 5, 7, 8, 16, 20, 30, 31])
}

fn literal(ty: VariableType, draw: &mut CaseDraw) -> Expression {
    match ty.category() {
        Category::Integral { bits: 1, .. } => Expression::Boolean(*draw.choose(&[true, true, false])),
        Category::Integral { signed, bits } => {
            let most = if signed { (1_i128 << (bits - 1)) - 1 } else { (1_i128 << bits) - 1 };
            let (suffix, most) = match (bits, signed) {
                (64, true) => ("LL", most),
                (64, false) => ("ULL", most),
                (32, false) => ("u", most),
                _ => ("", most),
            };
            match draw.below(8) {
                0..=4 => int(small(draw)),
                5 => Expression::Integer(most, suffix),
                6 if signed => Expression::Negated(boxed(int(small(draw)))),
                6 => Expression::Integer(most - 1, suffix),
                _ => int(0),
            }
        }
        Category::Extended { .. } => int(small(draw)),
        Category::LongDouble => Expression::Floating(*draw.choose(&[5.0, 0.5, 1024.0]), "L"),
        Category::Floating(bits) => {
            let value = *draw.choose(&[5.0, 0.5, 3.0, 1024.0, 0.0, 1.25]);
            let suffix = if bits == 32 { *draw.choose(&["", "f"]) } else { "" };
            match draw.below(4) {
                // Negative zero is excluded because `$V + 0` has a different value, positive zero.
                3 if value != 0.0 => Expression::Negated(boxed(Expression::Floating(value, suffix))),
                _ => Expression::Floating(value, suffix),
            }
        }
        _ => Expression::Braces(Vec::new()),
    }
}

/// Draws an initializer of an arithmetic type.
fn arithmetic(kind: &str, ty: VariableType, draw: &mut CaseDraw) -> Option<(Expression, Vec<Auxiliary>)> {
    use Qualifier::{Const, ConstVolatile, Constexpr, None as Mutable};
    let n = int(small(draw));
    Some(match kind {
        "literal" => (literal(ty, draw), vec![]),
        "other-constant" => (name("o"), vec![variable("o", VariableType::Int, Const, Some(n))]),
        "other-constexpr" => (name("o"), vec![variable("o", ty, Constexpr, Some(n))]),
        "chain" => {
            let auxiliaries = vec![
                variable("o1", VariableType::Short, Const, Some(n)),
                variable("o2", VariableType::Int, Const, Some(name("o1"))),
                variable("o3", VariableType::Long, Constexpr, Some(name("o2"))),
            ];
            (Expression::Cast(ty, boxed(name("o3"))), auxiliaries)
        }
        "constexpr-call" => {
            (call("f0", n), vec![function("f0", VariableType::Int, true, Some(twice(name("a"))))])
        }
        "constexpr-call-of-constant" => {
            let auxiliaries = vec![
                variable("o", VariableType::Int, Const, Some(n)),
                function("f0", ty, true, Some(name("a"))),
            ];
            (call("f0", name("o")), auxiliaries)
        }
        "sizeof" => (
            Expression::SizeOf(*draw.choose(&[VariableType::Int, VariableType::Double, VariableType::Short])),
            vec![],
        ),
        "conditional" => {
            let condition = Expression::Boolean(*draw.choose(&[true, false]));
            (Expression::Conditional(boxed(condition), boxed(n), boxed(int(6))), vec![])
        }
        "arithmetic" => (twice(n), vec![]),
        "enumerator" => (name("q0"), vec![Auxiliary::Enumerator("q0", small(draw))]),
        "cast-of-floating" => (Expression::Cast(ty, boxed(Expression::Floating(7.5, ""))), vec![]),
        "empty-braces" => (Expression::Braces(Vec::new()), vec![]),
        "through-const-floating" => {
            let auxiliaries =
                vec![variable("o", VariableType::Double, Const, Some(Expression::Floating(4.0, "")))];
            (Expression::Cast(ty, boxed(twice(name("o")))), auxiliaries)
        }
        "inline-call" => {
            (call("f0", n), vec![function("f0", VariableType::Int, false, Some(twice(name("a"))))])
        }
        "run-time-call" => (call("f0", n), vec![function("f0", ty, false, None)]),
        "run-time-variable" => (name("g0"), vec![variable("g0", ty, Mutable, None)]),
        "mutable-variable" => (name("g0"), vec![variable("g0", ty, Mutable, Some(n))]),
        "volatile-constant" => (name("o"), vec![variable("o", VariableType::Int, ConstVolatile, Some(n))]),
        "constant-defined-elsewhere" => (name("o"), vec![variable("o", ty, Const, None)]),
        "constexpr-call-of-run-time" => {
            let auxiliaries = vec![
                variable("g0", VariableType::Int, Mutable, None),
                function("f0", ty, true, Some(name("a"))),
            ];
            (call("f0", name("g0")), auxiliaries)
        }
        "division-by-zero" => {
            let auxiliaries = vec![variable("o", VariableType::Int, Const, Some(int(0)))];
            (Expression::Binary(Operator::Divide, boxed(n), boxed(name("o"))), auxiliaries)
        }
        _ => return None,
    })
}

/// Draws a list in braces for a class, a union or an array, with this first element. `None` for other types.
fn braces(ty: VariableType, first: Expression, draw: &mut CaseDraw) -> Option<Expression> {
    let count = match ty {
        VariableType::Class => 2,
        VariableType::Union => 1,
        VariableType::Array => 3,
        _ => return None,
    };
    let mut elements = vec![first];
    elements.resize_with(count, || int(small(draw)));
    Some(Expression::Braces(elements))
}

/// Draws a constant of a type that is not arithmetic.
fn other_constant(ty: VariableType, draw: &mut CaseDraw) -> Expression {
    match ty {
        VariableType::Enumeration => name(["e1", "e2", "e0"][draw.below(3)]),
        VariableType::ScopedEnumeration => name(["E::e1", "E::e2", "E::e0"][draw.below(3)]),
        VariableType::Pointer if draw.below(2) == 0 => Expression::AddressOf("pointee"),
        VariableType::FunctionPointer if draw.below(2) == 0 => Expression::AddressOf("function"),
        VariableType::MemberPointer if draw.below(2) == 0 => Expression::AddressOf("M0::x"),
        VariableType::Pointer
        | VariableType::FunctionPointer
        | VariableType::MemberPointer
        | VariableType::NullPointer => Expression::Null,
        VariableType::CharArray => Expression::Text("abc"),
        _ => braces(ty, int(4), draw).expect("a class or an array"),
    }
}

/// Draws an initializer of a type that is not arithmetic.
fn other(kind: &str, ty: VariableType, draw: &mut CaseDraw) -> Option<(Expression, Vec<Auxiliary>)> {
    use Qualifier::{Const, ConstVolatile, Constexpr, None as Mutable};
    let enumeration = matches!(ty.category(), Category::Enumeration { .. });
    Some(match kind {
        "literal" => (other_constant(ty, draw), vec![]),
        "other-constant" if enumeration => {
            (name("o"), vec![variable("o", ty, Const, Some(other_constant(ty, draw)))])
        }
        "other-constant" => {
            (braces(ty, name("o"), draw)?, vec![variable("o", VariableType::Int, Const, Some(int(6)))])
        }
        "other-constexpr" if ty.is_scalar() => {
            (name("o"), vec![variable("o", ty, Constexpr, Some(other_constant(ty, draw)))])
        }
        "constexpr-call" if !ty.is_scalar() => {
            let body = twice(name("a"));
            (
                braces(ty, call("f0", int(small(draw))), draw)?,
                vec![function("f0", VariableType::Int, true, Some(body))],
            )
        }
        "cast-of-floating" if enumeration => (Expression::Cast(ty, boxed(int(5))), vec![]),
        "empty-braces" => (Expression::Braces(Vec::new()), vec![]),
        "run-time-call" if ty.is_scalar() => (call("f0", int(1)), vec![function("f0", ty, false, None)]),
        "run-time-call" => {
            (braces(ty, call("f0", int(1)), draw)?, vec![function("f0", VariableType::Int, false, None)])
        }
        "run-time-variable" if ty.is_scalar() => (name("g0"), vec![variable("g0", ty, Mutable, None)]),
        "volatile-constant" if ty.is_scalar() && ty != VariableType::NullPointer => {
            (name("o"), vec![variable("o", ty, ConstVolatile, Some(other_constant(ty, draw)))])
        }
        "run-time-variable" => {
            (braces(ty, name("g0"), draw)?, vec![variable("g0", VariableType::Int, Mutable, None)])
        }
        _ => return None,
    })
}
