//! Writes initial values: which element each value initializes, and which addresses are allowed (5.4.4).

use ptxsmith_syntax::{Expr, Initializer, NameLookup, NodeKind, Text};

use crate::clause::Clause;
use crate::expectation::Address;
use crate::reading::{EmptyList, ForwardReference, IncompleteVector, Question, SelfReference, TrailingComma};
use crate::refusal::{RefusalClass, Stop};
use crate::step::{Placement, Ruled, Step, Stored};
use crate::undecided::ALIAS;
use crate::value;

use super::scope::{DeclaratorPlace, DeclaredSymbol, find};
use super::shape::VariableShape;
use super::{DeclaratorWork, PROPERTY, REPEATED};
use crate::validity::SEVERAL;

impl DeclaratorWork<'_, '_> {
    /// Places the values of an initializer, one level of braces after the other (5.4.4). The recursion is as deep as
    /// the braces; the parser limits their nesting.
    pub(super) fn fill(
        &mut self,
        shape: &VariableShape,
        level: usize,
        start: u64,
        initializer: &Initializer,
        memory: &mut VariableImage<'_>,
    ) -> Ruled<()> {
        match initializer {
            Initializer::Property(_) => Err(Stop::Unmodelled(PROPERTY)),
            Initializer::Value(value) if level == shape.levels() => self.scalar(shape, start, value, memory),
            Initializer::Value(value) => {
                self.refuse(RefusalClass::Nesting, Clause::NestingMatches, value.span())
            }
            Initializer::List(list) if level == shape.levels() => {
                self.refuse(RefusalClass::ScalarList, Clause::ScalarSingleValue, list.span)
            }
            Initializer::List(list) => {
                let extent = shape.extent(level);
                let count = list.items.len() as u64;
                if count > extent {
                    return self.refuse(
                        RefusalClass::TooManyElements,
                        Clause::TooManyElements,
                        list.items[extent as usize].span(),
                    );
                }
                if list.trailing_comma {
                    self.trace.questions.insert(Question::TrailingComma);
                    if self.rules.readings.trailing_comma == TrailingComma::Refused {
                        return self.refuse(RefusalClass::TrailingComma, Clause::NestingMatches, list.span);
                    }
                }
                self.incomplete(shape, level, count, list.span)?;
                let stride = shape.stride(level).unwrap_or(0);
                for (index, item) in list.items.iter().enumerate() {
                    let at = Placement { start, stride, index: index as u64, written: self.written };
                    self.fill(shape, level + 1, self.rules.layout.place.apply(at), item, memory)?;
                }
                Ok(())
            }
        }
    }

    /// Checks a list with fewer values than elements, and records the clauses and questions.
    fn incomplete(
        &mut self,
        shape: &VariableShape,
        level: usize,
        count: u64,
        span: ptxsmith_syntax::Span,
    ) -> Ruled<()> {
        self.uses(Clause::NestingMatches);
        if shape.is_vector_level(level) {
            self.uses(Clause::VectorList);
        }
        if count == shape.extent(level) {
            return Ok(());
        }
        if shape.is_vector_level(level) {
            self.trace.questions.insert(Question::IncompleteVector);
            if self.rules.readings.incomplete_vector == IncompleteVector::Refused {
                return self.refuse(RefusalClass::TooFewElements, Clause::VectorList, span);
            }
        }
        if count == 0 {
            self.uses(Clause::EmptyList);
            self.trace.questions.insert(Question::EmptyList);
            if self.rules.readings.empty_list == EmptyList::Refused {
                return self.refuse(RefusalClass::EmptyList, Clause::EmptyList, span);
            }
        }
        self.uses(if level == 0 { Clause::IncompleteOuter } else { Clause::IncompleteInner });
        Ok(())
    }

    pub(super) fn scalar(
        &mut self,
        shape: &VariableShape,
        position: u64,
        value: &Expr,
        memory: &mut VariableImage<'_>,
    ) -> Ruled<()> {
        let stored = self.evaluator.store(value, shape.scalar, &mut self.trace)?;
        let (offset, width) = ((position * shape.scalar_size) as usize, shape.scalar_size as usize);
        self.written += 1;
        // Only a changed rule places a scalar outside of the variable. Such a scalar cannot be observed, so it is
        // dropped.
        if offset + width > memory.bytes.len() {
            return Ok(());
        }
        match stored {
            Stored::Bits(bits) => {
                memory.bytes[offset..offset + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            }
            Stored::Wide(bits) => {
                memory.bytes[offset..offset + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            }
            Stored::Address(address, byte) => {
                let NodeKind::Name(name) = value.kind(address.name) else {
                    return Err(Stop::Unmodelled("an address without a name"));
                };
                let generic = self.symbol(name, address, byte, value)?;
                let slot = self.rules.layout.slot_of.apply(width as u64, byte, self.scope.addressing);
                // Most variables that hold an address hold exactly one.
                if memory.addresses.is_empty() {
                    memory.addresses.reserve_exact(1);
                }
                memory.addresses.push(Address {
                    offset: offset as u64,
                    width: slot.width as u8,
                    addend_bits: slot.addend_bits,
                    symbol: name.clone(),
                    addend: address.addend,
                    generic,
                    byte,
                });
            }
        }
        Ok(())
    }

    /// Checks whether the address of a name may be taken (5.4.4). Returns whether the stored address is generic.
    pub(super) fn symbol(
        &mut self,
        name: &Text,
        address: value::AddressValue,
        byte: Option<u8>,
        value: &Expr,
    ) -> Ruled<bool> {
        let span = value.span();
        if self.scope.aliases.contains(name) {
            return Err(Stop::Unmodelled(ALIAS));
        }
        let found = find(&self.scope.names, name, self.rules);
        if let NameLookup::Numbered(..) | NameLookup::OtherNumber = found {
            self.uses(Clause::ParameterizedNames);
        }
        let Some(&DeclaredSymbol { symbol, at }) = found.declared() else {
            if self.scope.unread {
                return Err(Stop::Unmodelled("a name that a statement which is not understood may declare"));
            }
            return self.refuse(RefusalClass::UnknownName, Clause::VariableAddress, span);
        };
        if self.scope.repeated.contains(name) {
            return Err(Stop::Unmodelled(REPEATED));
        }
        let hides = at.0 == self.place.0 && at > self.place && self.scope.hiding.contains(name);
        if hides || self.scope.several.contains(name) {
            return Err(Stop::Unmodelled(SEVERAL));
        }
        self.declared(at, span)?;
        let readings = &self.rules.readings;
        let mut step = Step { readings, trace: &mut self.trace, span, pending: &mut None };
        self.rules.layout.address_of.apply(&mut step, self.scope.version, symbol, address, byte)
    }

    /// Checks whether an initializer may refer to the declaration at this place. References to itself or ahead are open
    /// questions.
    pub(super) fn declared(&mut self, at: DeclaratorPlace, span: ptxsmith_syntax::Span) -> Ruled<()> {
        let readings = self.rules.readings;
        let in_front = at.0 == self.place.0 && (1..self.place.1).contains(&at.1);
        let (question, refused) = if at.0 < self.place.0 || in_front {
            return Ok(());
        } else if at <= self.place {
            (Question::SelfReference, readings.self_reference == SelfReference::Refused)
        } else {
            (Question::ForwardReference, readings.forward_reference == ForwardReference::Refused)
        };
        self.trace.questions.insert(question);
        if refused {
            return self.refuse(RefusalClass::UnknownName, Clause::VariableAddress, span);
        }
        Ok(())
    }
}

pub(super) struct VariableImage<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) addresses: &'a mut Vec<Address>,
}
