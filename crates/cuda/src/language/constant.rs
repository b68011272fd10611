//! Evaluates initializers, and decides which of them are constant expressions.
//!
//! Follows C++17 ([expr.const]): a `const` variable of integral or enumeration type with a constant
//! initializer may be read in a constant expression. A variable of floating-point type must be `constexpr`
//! for that. Initializers that are not constant expressions are split in two: a compiler may still be able to
//! fold them, or only running the program gives their value.

use super::declaration::{Auxiliary, Qualifier, VariableDeclaration};
use super::expression::{ConstantValue, Expression, Operator};
use super::types::{Category, VariableType};

/// Whether an initializer is a constant expression, with its value if it can be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constness {
    /// A constant expression.
    Constant(ConstantValue),
    /// Not a constant expression, but its value follows from the program's text, so a compiler may fold it.
    Folded(ConstantValue),
    /// Not a constant expression; its value is known only at run time.
    RunTime,
}

impl Constness {
    /// The value, if it can be computed.
    pub fn value(self) -> Option<ConstantValue> {
        match self {
            Constness::Constant(value) | Constness::Folded(value) => Some(value),
            Constness::RunTime => None,
        }
    }

    fn and(
        self,
        other: Constness,
        combine: impl Fn(ConstantValue, ConstantValue) -> Option<ConstantValue>,
    ) -> Constness {
        let (Some(left), Some(right)) = (self.value(), other.value()) else { return Constness::RunTime };
        let Some(value) = combine(left, right) else { return Constness::RunTime };
        match (self, other) {
            (Constness::Constant(_), Constness::Constant(_)) => Constness::Constant(value),
            _ => Constness::Folded(value),
        }
    }

    fn map(self, change: impl Fn(ConstantValue) -> Option<ConstantValue>) -> Constness {
        self.and(Constness::Constant(ConstantValue::Other), |value, _| change(value))
    }
}

/// Evaluates the initializer of the declared variable. The value is converted to the variable's type.
pub fn evaluate(declaration: &VariableDeclaration) -> Constness {
    let scope = InitializerEvaluator { auxiliaries: &declaration.auxiliaries, argument: None };
    scope.evaluate(&declaration.initializer).map(|value| convert(value, declaration.ty))
}

/// Whether C++ allows the variable to be read in a constant expression, provided that its definition comes
/// before.
pub fn is_usable(declaration: &VariableDeclaration) -> bool {
    let constant = matches!(evaluate(declaration), Constness::Constant(_));
    constant && readable(declaration.qualifier, declaration.ty)
}

fn readable(qualifier: Qualifier, ty: VariableType) -> bool {
    match qualifier {
        Qualifier::Constexpr => true,
        Qualifier::Const => ty.is_integral() || matches!(ty.category(), Category::Enumeration { .. }),
        Qualifier::ConstVolatile | Qualifier::None => false,
    }
}

/// Evaluates expressions that may name these auxiliary declarations.
struct InitializerEvaluator<'a> {
    auxiliaries: &'a [Auxiliary],
    /// The value of parameter `a` while the body of a function is evaluated.
    argument: Option<ConstantValue>,
}

impl InitializerEvaluator<'_> {
    fn evaluate(&self, expression: &Expression) -> Constness {
        use Constness::{Constant, RunTime};
        match expression {
            Expression::Integer(value, _) => Constant(ConstantValue::Integer(*value)),
            Expression::Floating(value, _) => Constant(ConstantValue::Floating(*value)),
            Expression::Boolean(value) => Constant(ConstantValue::Integer((*value).into())),
            Expression::SizeOf(ty) => Constant(ConstantValue::Integer(size_of(*ty))),
            Expression::Null | Expression::AddressOf(_) | Expression::Text(_) => {
                Constant(ConstantValue::Other)
            }
            Expression::Negated(inner) => self.evaluate(inner).map(|value| {
                Some(match value {
                    ConstantValue::Integer(value) => ConstantValue::Integer(-value),
                    ConstantValue::Floating(value) => ConstantValue::Floating(-value),
                    ConstantValue::Other => return None,
                })
            }),
            Expression::Cast(ty, inner) => self.evaluate(inner).map(|value| convert(value, *ty)),
            Expression::Binary(operator, left, right) => {
                self.evaluate(left).and(self.evaluate(right), |left, right| apply(*operator, left, right))
            }
            Expression::Conditional(condition, then, otherwise) => {
                let condition = self.evaluate(condition);
                let chosen = match condition.value() {
                    Some(ConstantValue::Integer(0)) => self.evaluate(otherwise),
                    Some(ConstantValue::Integer(_)) => self.evaluate(then),
                    _ => return RunTime,
                };
                condition.and(chosen, |_, chosen| Some(chosen))
            }
            Expression::Braces(parts) => match &parts[..] {
                [] => Constant(ConstantValue::Integer(0)),
                [only] => self.evaluate(only),
                parts => parts.iter().fold(Constant(ConstantValue::Other), |all, part| {
                    all.and(self.evaluate(part), |_, _| Some(ConstantValue::Other))
                }),
            },
            Expression::Name(name) => self.evaluate_name(name),
            Expression::Call(name, arguments) => self.evaluate_call(name, arguments),
        }
    }

    /// Evaluates the parameter `a`, an auxiliary variable or an enumerator.
    fn evaluate_name(&self, name: &str) -> Constness {
        use Constness::{Constant, Folded, RunTime};
        if name == "a" {
            return self.argument.map_or(RunTime, Constant);
        }
        match self.find(name) {
            Some(Auxiliary::Enumerator(_, value)) => Constant(ConstantValue::Integer(*value)),
            // Reading a variable of type `std::nullptr_t` does not access the object. Versions of C++ differ
            // on whether the read is a constant expression.
            Some(Auxiliary::Variable { ty: VariableType::NullPointer, qualifier, .. })
                if *qualifier != Qualifier::Constexpr =>
            {
                Folded(ConstantValue::Other)
            }
            Some(Auxiliary::Variable { ty, qualifier, initializer: Some(initializer), .. }) => {
                let value = self.evaluate(initializer).map(|value| convert(value, *ty));
                match (value, qualifier) {
                    (_, Qualifier::None | Qualifier::ConstVolatile) => RunTime,
                    (Constant(value), _) if !readable(*qualifier, *ty) => Folded(value),
                    (value, _) => value,
                }
            }
            _ => enumerator(name).map_or(RunTime, |value| Constant(ConstantValue::Integer(value))),
        }
    }

    /// Evaluates a call of an auxiliary function.
    fn evaluate_call(&self, name: &str, arguments: &[Expression]) -> Constness {
        use Constness::{Constant, Folded, RunTime};
        let Some(Auxiliary::Function { constexpr, body: Some(body), result, .. }) = self.find(name) else {
            return RunTime;
        };
        let argument = arguments.first().map_or(Constant(ConstantValue::Other), |first| self.evaluate(first));
        let inside = InitializerEvaluator { auxiliaries: self.auxiliaries, argument: argument.value() };
        let returned = inside.evaluate(body).map(|value| convert(value, *result));
        match argument.and(returned, |_, returned| Some(returned)) {
            Constant(value) if !constexpr => Folded(value),
            other => other,
        }
    }

    fn find(&self, name: &str) -> Option<&Auxiliary> {
        self.auxiliaries.iter().find(|auxiliary| auxiliary.name() == name)
    }
}

/// The value of an enumerator that [`VariableType::declared`] declares; `None` for other names.
fn enumerator(name: &str) -> Option<i128> {
    match name {
        "e0" | "E::e0" => Some(0),
        "e1" | "E::e1" => Some(5),
        "e2" | "E::e2" => Some(9),
        _ => None,
    }
}

/// Computes an operation; `None` on division by zero and if an integer result does not fit in `int`. Cases do
/// all integer arithmetic in `int`, and an expression that overflows is not a constant expression.
fn apply(operator: Operator, left: ConstantValue, right: ConstantValue) -> Option<ConstantValue> {
    Some(match (left, right) {
        (ConstantValue::Integer(left), ConstantValue::Integer(right)) => {
            let result = match operator {
                Operator::Add => left.checked_add(right)?,
                Operator::Subtract => left.checked_sub(right)?,
                Operator::Multiply => left.checked_mul(right)?,
                Operator::Divide => left.checked_div(right)?,
            };
            i32::try_from(result).ok()?;
            ConstantValue::Integer(result)
        }
        (left, right) => {
            let (left, right) = (floating(left)?, floating(right)?);
            ConstantValue::Floating(match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide if right == 0.0 => return None,
                Operator::Divide => left / right,
            })
        }
    })
}

/// Converts a number to `double`; `None` for other values.
fn floating(value: ConstantValue) -> Option<f64> {
    match value {
        ConstantValue::Integer(value) => Some(value as f64),
        ConstantValue::Floating(value) => Some(value),
        ConstantValue::Other => None,
    }
}

/// Reduces an integer to the values of a type with this number of bits.
fn wrap(value: i128, signed: bool, bits: u32) -> i128 {
    let low = value & ((1_i128 << bits) - 1);
    if signed && low >> (bits - 1) & 1 == 1 { low - (1_i128 << bits) } else { low }
}

/// Converts the value to another type, as C++ does.
fn convert(value: ConstantValue, ty: VariableType) -> Option<ConstantValue> {
    Some(match (ty.category(), value) {
        (_, ConstantValue::Other) => ConstantValue::Other,
        (Category::Integral { bits: 1, .. }, ConstantValue::Integer(value)) => {
            ConstantValue::Integer((value != 0).into())
        }
        (Category::Integral { bits: 1, .. }, ConstantValue::Floating(value)) => {
            ConstantValue::Integer((value != 0.0).into())
        }
        (Category::Integral { signed, bits }, ConstantValue::Integer(value)) => {
            ConstantValue::Integer(wrap(value, signed, bits))
        }
        (Category::Integral { .. } | Category::Extended { .. }, ConstantValue::Floating(value)) => {
            ConstantValue::Integer(value as i128)
        }
        (Category::Extended { .. } | Category::Enumeration { .. }, ConstantValue::Integer(value)) => {
            ConstantValue::Integer(value)
        }
        (Category::Floating(_) | Category::LongDouble, ConstantValue::Integer(value)) => {
            ConstantValue::Floating(value as f64)
        }
        (Category::Floating(32), ConstantValue::Floating(value)) => {
            ConstantValue::Floating(f64::from(value as f32))
        }
        (Category::Floating(_) | Category::LongDouble, value) => value,
        _ => ConstantValue::Other,
    })
}

fn size_of(ty: VariableType) -> i128 {
    match ty.category() {
        Category::Integral { bits, .. } => i128::from(bits.div_ceil(8)),
        Category::Floating(bits) => i128::from(bits / 8),
        _ => 16,
    }
}
