//! What operands hold.

use ptxsmith_syntax::{Name, NodeKind, Operand, ScalarType, StateSpace};

use crate::evaluate::Evaluator;
use crate::execution::names::{Meaning, Names};
use crate::step::Stored;
use crate::value::{extended, low_bits};

use super::{Run, Value};

impl<'m> Run<'m, '_> {
    pub(super) fn forget_name(&mut self, name: &str, names: &Names) {
        if let Some(Meaning::Register(register)) = names.find(name, self.reader.rules) {
            self.registers.of_mut(register).fill(None);
        }
    }

    /// What an instruction that is not modelled sets is not known.
    pub(super) fn forget(&mut self, operand: Option<&Operand>, names: &Names) {
        match operand {
            Some(Operand::Value(expr)) => {
                for node in expr.nodes() {
                    if let NodeKind::Name(name) = &node.kind {
                        self.forget_name(name, names);
                    }
                }
            }
            Some(Operand::Component(name, _)) => self.forget_name(&name.text, names),
            Some(Operand::Vector(parts) | Operand::List(parts)) => {
                parts.iter().for_each(|part| self.forget(Some(part), names));
            }
            Some(Operand::Address(_) | Operand::Element(..)) | None => {}
        }
    }

    /// The bits of a register, or of an element of one.
    pub(super) fn bits_of(&self, operand: &Operand, names: &Names) -> Value {
        let (name, suffix) = match operand {
            Operand::Value(expr) => (expr.as_name()?, None),
            Operand::Component(name, suffix) => (name.clone(), Some(suffix)),
            _ => return None,
        };
        match names.find(&name.text, self.reader.rules) {
            Some(Meaning::Register(register)) => {
                let lane = match suffix {
                    None if register.lanes == 1 => 0,
                    None => return None,
                    Some(suffix) => lane(suffix)?,
                };
                *self.registers.of(register).get(lane)?
            }
            Some(_) => None,
            None => {
                let name =
                    format!("{}{}", name.text.strip_prefix('%')?, suffix.map_or("", |suffix| &suffix.text));
                self.reached.setting.specials.get(name.as_str()).copied().map(u64::from)
            }
        }
    }

    /// The value of a source operand: a register, a special register, a constant, the address of a variable.
    pub(super) fn value(&mut self, operand: &Operand, ty: ScalarType, names: &Names) -> Value {
        if let Operand::Element(name, index) = operand {
            let address = self.reader.element(name, index, names).ok()?;
            let (number, own) = self.number_of(&address).ok()?;
            return (own != Some(StateSpace::Param)).then(|| low_bits(ty, number));
        }
        let Operand::Value(expr) = operand else {
            return self.bits_of(operand, names).map(|bits| low_bits(ty, bits));
        };
        if let NodeKind::Name(first) = expr.kind(expr.first(expr.root())) {
            return match names.find(first, self.reader.rules) {
                Some(Meaning::Variable(variable)) if variable.space != StateSpace::Param => {
                    let address = self.reader.address(expr, names).ok()?;
                    self.place_of(&variable).map(|place| place.wrapping_add(address.offset as u64))
                }
                _ => self.bits_of(operand, names).map(|bits| low_bits(ty, bits)),
            };
        }
        let mut evaluator = Evaluator::new(self.reader.rules, self.reader.version);
        match evaluator.store(expr, ty, &mut self.values) {
            Ok(Stored::Bits(bits)) => Some(low_bits(ty, bits)),
            _ => None,
        }
    }

    /// Sets a register to a value of a type, extended to what it holds.
    pub(super) fn set(&mut self, to: &Operand, ty: ScalarType, value: Value, names: &Names) -> Option<()> {
        self.set_bits(to, value.map(|value| extended(ty, value)), names)
    }

    pub(super) fn set_bits(&mut self, to: &Operand, value: Value, names: &Names) -> Option<()> {
        let (name, suffix) = match to {
            Operand::Value(expr) => (expr.as_name()?, None),
            Operand::Component(name, suffix) => (name.clone(), Some(suffix)),
            _ => return None,
        };
        if name.text == "_" {
            return Some(());
        }
        let Some(Meaning::Register(register)) = names.find(&name.text, self.reader.rules) else {
            return None;
        };
        let lane = suffix.map_or(Some(0), lane)?;
        let value = value.map(|value| match register.ty {
            ScalarType::Pred => value & 1,
            ty => low_bits(ty, value),
        });
        *self.registers.of_mut(register).get_mut(lane)? = value;
        Some(())
    }
}

/// Which element a suffix names.
fn lane(suffix: &Name) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|lane| suffix.text.trim_start_matches('.') == *lane)
}
