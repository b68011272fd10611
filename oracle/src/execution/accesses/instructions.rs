//! What instructions without memory do with numbers.

use ptxsmith_syntax::{Opcode, Operand, ScalarType, StateSpace, TypeKind};

use crate::execution::form::Form;
use crate::execution::instructions::{calculated, compared, result_type, source_type};
use crate::execution::names::{Line, Names};
use crate::value::{extended, low_bits};

use super::Run;
use super::setting::WINDOWS;

impl<'m> Run<'m, '_> {
    /// Executes an instruction; `None` where what it sets is not known.
    pub(super) fn step(&mut self, line: &Line<'m>) -> Result<Option<()>, &'static str> {
        let form = Form::of(line.instruction);
        let names = &line.names;
        match form.opcode {
            Opcode::Ld | Opcode::St => return self.memory(line, &form).map(Some),
            _ => {}
        }
        Ok(match form.opcode {
            Opcode::Mov => self.mov(&form, names),
            Opcode::Cvta => self.cvta(&form, names),
            Opcode::Cvt => self.cvt(&form, names),
            Opcode::Setp => self.setp(&form, names),
            Opcode::Selp => self.selp(&form, names),
            _ => self.arithmetic(&form, names),
        })
    }

    pub(super) fn mov(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([to, from], Some(ty), None) = (form.operands, form.ty, form.lanes) else { return None };
        let bits = 8 * ty.size().filter(|&size| size <= 8)? as u32;
        let part_of = |count: usize| {
            let bits = bits / count as u32;
            let mask = u64::MAX >> (64 - bits);
            (bits, mask)
        };
        match (to, from) {
            (Operand::Vector(parts), from) => {
                let value = self.value(from, ty, names);
                let (width, mask) = part_of(parts.len());
                for (nth, part) in parts.iter().enumerate() {
                    self.set_bits(part, value.map(|value| value >> (width * nth as u32) & mask), names)?;
                }
                Some(())
            }
            (to, Operand::Vector(parts)) => {
                let (width, mask) = part_of(parts.len());
                let mut value = Some(0);
                for (nth, part) in parts.iter().enumerate() {
                    let part = self.bits_of(part, names).map(|part| (part & mask) << (width * nth as u32));
                    value = value.zip(part).map(|(a, b)| a | b);
                }
                self.set(to, ty, value, names)
            }
            (to, from) => {
                let value = self.value(from, ty, names);
                self.set(to, ty, value, names)
            }
        }
    }

    fn cvta(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([to, from], Some(ty), Some(space)) = (form.operands, form.ty, form.space) else { return None };
        let value = self.value(from, ty, names);
        let window = WINDOWS.iter().find(|(own, _)| *own == space).map(|&(_, start)| start);
        let value = match (window, form.others.contains(&".to")) {
            (None, _) if space == StateSpace::Global => value,
            (None, _) => None,
            (Some(start), false) => value.map(|value| value.wrapping_add(start)),
            (Some(start), true) => value.map(|value| value.wrapping_sub(start)),
        };
        self.set(to, ty, value, names)
    }

    fn cvt(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let [to, from] = form.operands else { return None };
        let ([into], of) = (form.others.as_slice(), form.ty?) else { return None };
        let into = ScalarType::from_keyword(into)?;
        if !is_number(into) || !is_number(of) || form.space.is_some() {
            return None;
        }
        let value = self.value(from, of, names).map(|value| low_bits(into, extended(of, value)));
        self.set(to, into, value, names)
    }

    fn setp(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([compare], [to, a, b], ty) = (form.others.as_slice(), form.operands, form.ty?) else {
            return None;
        };
        if !is_integer(ty) {
            return None;
        }
        let (a, b) = (self.value(a, ty, names)?, self.value(b, ty, names)?);
        let result = compared(compare, ty, a, b)?;
        self.set_bits(to, Some(u64::from(result)), names)
    }

    fn selp(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let (ty, [to, a, b, condition]) = (form.ty?, form.operands) else { return None };
        let chosen = if self.bits_of(condition, names)? != 0 { a } else { b };
        let value = self.value(chosen, ty, names);
        self.set(to, ty, value, names)
    }

    fn arithmetic(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ty = form.ty.filter(|&ty| is_integer(ty))?;
        let (to, sources) = form.operands.split_first()?;
        let read = |(nth, source)| self.value(source, source_type(form, ty, nth)?, names);
        let values: Vec<u64> = sources.iter().enumerate().map(read).collect::<Option<_>>()?;
        let result = calculated(form, ty, &values)?;
        self.set(to, result_type(form, ty)?, Some(result), names)
    }
}

fn is_number(ty: ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned) && ty.size().is_some_and(|size| size <= 8)
}

fn is_integer(ty: ScalarType) -> bool {
    is_number(ty) || ty.kind() == TypeKind::Bits && ty.size().is_some_and(|size| size <= 8)
}
