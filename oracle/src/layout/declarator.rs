//! Checks the parts of a declarator: vector type, names, extents, alignment and attributes (5.4).

use ptxsmith_syntax::{
    Attribute, Declaration, Declarator, Expr, Initializer, ScalarType, StateSpace, Text, TypeKind,
    VectorLength,
};

use crate::clause::Clause;
use crate::declaration::DeclarationContext;
use crate::reading::{Question, ZeroDimension};
use crate::refusal::{RefusalClass, Stop};
use crate::step::{Ruled, Step};

use super::{DeclaratorWork, PROPERTY};

impl DeclaratorWork<'_, '_> {
    /// Returns the length of the vector, if the type is a vector (5.4.2).
    pub(super) fn vector(
        &mut self,
        length: Option<VectorLength>,
        declaration: &Declaration,
        scalar: ScalarType,
    ) -> Ruled<Option<u64>> {
        let Some(length) = length else { return Ok(None) };
        let count = length.count();
        if !matches!(count, 2 | 4) {
            return self.refuse(RefusalClass::VectorLength, Clause::VectorOtherLength, declaration.span);
        }
        self.uses(Clause::VectorLength);
        let Some(size) = scalar.size() else {
            return self.refuse(RefusalClass::VectorType, Clause::VectorNoPredicate, declaration.span);
        };
        if count * size > 16 {
            return self.refuse(RefusalClass::VectorSize, Clause::VectorSizeLimit, declaration.span);
        }
        Ok(Some(count))
    }

    /// Checks whether an initializer is allowed at all (5.4.4).
    pub(super) fn initializer_allowed(
        &mut self,
        declarator: &Declarator,
        scalar: ScalarType,
        space: StateSpace,
        is_extern: bool,
    ) -> Ruled<()> {
        let Some(initializer) = &declarator.initializer else { return Ok(()) };
        let span = initializer.span();
        if is_extern {
            return self.refuse(RefusalClass::ExternInitializer, Clause::NoExternInitializer, span);
        }
        if !matches!(space, StateSpace::Global | StateSpace::Const) {
            return self.refuse(RefusalClass::InitializerSpace, Clause::OnlyGlobalConst, span);
        }
        if matches!(scalar, ScalarType::F16 | ScalarType::F16x2) || scalar.kind() == TypeKind::Predicate {
            return self.refuse(RefusalClass::TypeWithoutInitializer, Clause::TypeAllowsInitializer, span);
        }
        self.uses(Clause::OnlyGlobalConst);
        Ok(())
    }

    /// Returns the number of names that a parameterized declarator declares (5.4.6); `None` for a plain name.
    pub(super) fn count(&mut self, declarator: &Declarator) -> Ruled<Option<u64>> {
        let Some(count) = &declarator.count else { return Ok(None) };
        self.uses(Clause::ParameterizedNames);
        if !declarator.dimensions.is_empty() {
            return self.refuse(
                RefusalClass::Parameterized,
                Clause::ParameterizedNoArray,
                declarator.name.span,
            );
        }
        if let Some(initializer) = &declarator.initializer {
            let span = initializer.span();
            return self.refuse(RefusalClass::Parameterized, Clause::ParameterizedNoInitializer, span);
        }
        let rule = (RefusalClass::Parameterized, Clause::ParameterizedNames);
        Ok(Some(self.evaluator.integer(count, rule, &mut self.trace)?.bits))
    }

    /// Returns the names that a declarator declares; unmodelled if the module's budget of names is exceeded.
    pub(super) fn names(&mut self, name: &Text, count: Option<u64>) -> Ruled<Vec<Text>> {
        let Some(count) = count else { return Ok(vec![name.clone()]) };
        let Some(remaining) = self.budget.names.checked_sub(count) else {
            return Err(Stop::Unmodelled("more than 2^16 parameterized names"));
        };
        self.budget.names = remaining;
        if count == 0 {
            return Ok(self.rules.layout.no_names.apply(name).into_iter().collect());
        }
        Ok((0..count).map(|index| format!("{name}{index}").into()).collect())
    }

    /// Returns the extents of an array, outermost first (5.4.3).
    pub(super) fn extents(&mut self, declarator: &Declarator, is_extern: bool) -> Ruled<Vec<u64>> {
        let mut extents = Vec::with_capacity(declarator.dimensions.len());
        for (level, dimension) in declarator.dimensions.iter().enumerate() {
            let extent = match dimension {
                Some(dimension) => self.extent(dimension)?,
                None if level > 0 => {
                    let span = declarator.name.span;
                    return self.refuse(RefusalClass::OmittedDimension, Clause::OnlyFirstOmitted, span);
                }
                None => self.omitted_extent(declarator, is_extern)?,
            };
            extents.push(extent);
        }
        Ok(extents)
    }

    pub(super) fn extent(&mut self, dimension: &Expr) -> Ruled<u64> {
        let rule = (RefusalClass::Dimension, Clause::Dimension);
        let extent = self.evaluator.integer(dimension, rule, &mut self.trace)?;
        let readings = &self.rules.readings;
        let mut step = Step { readings, trace: &mut self.trace, span: dimension.span(), pending: &mut None };
        let extent = self.rules.layout.dimension.apply(&mut step, dimension, extent)?;
        if extent.signed && (extent.bits as i64) < 0 {
            return self.refuse(RefusalClass::Dimension, Clause::Dimension, dimension.span());
        }
        if extent.bits == 0 {
            self.trace.questions.insert(Question::ZeroDimension);
            if self.rules.readings.zero_dimension == ZeroDimension::Refused {
                return self.refuse(RefusalClass::Dimension, Clause::Dimension, dimension.span());
            }
        }
        Ok(extent.bits)
    }

    fn omitted_extent(&mut self, declarator: &Declarator, is_extern: bool) -> Ruled<u64> {
        match &declarator.initializer {
            Some(Initializer::List(list)) if list.items.is_empty() => {
                self.trace.questions.insert(Question::ZeroDimension);
                if self.rules.readings.zero_dimension == ZeroDimension::Refused {
                    return self.refuse(
                        RefusalClass::OmittedDimension,
                        Clause::FirstDimensionOmitted,
                        list.span,
                    );
                }
                Ok(0)
            }
            Some(Initializer::List(list)) => {
                self.uses(Clause::FirstDimensionOmitted);
                Ok(list.items.len() as u64)
            }
            Some(Initializer::Value(value)) => {
                self.refuse(RefusalClass::Nesting, Clause::NestingMatches, value.span())
            }
            Some(Initializer::Property(_)) => Err(Stop::Unmodelled(PROPERTY)),
            None if is_extern => Ok(0),
            None if self.context == DeclarationContext::Parameter => {
                self.leave(false, "a parameter without its first dimension");
                Ok(0)
            }
            None => self.refuse(
                RefusalClass::OmittedDimension,
                Clause::OmittedNeedsInitializer,
                declarator.name.span,
            ),
        }
    }

    /// Returns the alignment that the declaration guarantees (5.4.5).
    pub(super) fn alignment(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        scalar: ScalarType,
        vector: Option<u64>,
    ) -> Ruled<u64> {
        if let Some(count) = declaration.align() {
            let rule = (RefusalClass::Alignment, Clause::AlignPowerOfTwo);
            let align = self.evaluator.integer(count, rule, &mut self.trace)?.bits;
            if !align.is_power_of_two() {
                return self.refuse(RefusalClass::Alignment, Clause::AlignPowerOfTwo, count.span());
            }
            self.uses(Clause::Align);
            if declarator.count.is_some() {
                self.uses(Clause::ParameterizedAlign);
            }
            if !declarator.dimensions.is_empty() {
                self.uses(Clause::AlignArrayStart);
            }
            return Ok(align);
        }
        let size = scalar.bytes().max(1);
        match vector {
            Some(length) => {
                self.uses(Clause::DefaultVector);
                self.uses(Clause::VectorAlignment);
                Ok(size * length)
            }
            None => {
                self.uses(Clause::DefaultScalar);
                Ok(size)
            }
        }
    }

    /// Checks the attributes and their arguments, versions and targets (5.4.7, 5.4.8).
    pub(super) fn attributes(&mut self, declaration: &Declaration, space: StateSpace) -> Ruled<()> {
        for Attribute { name, arguments } in declaration.attributes() {
            self.uses(Clause::AttributeList);
            if self.scope.version < (4, 0) {
                return self.refuse(RefusalClass::Attribute, Clause::AttributeNeeds40, name.span);
            }
            let architecture = self.scope.addressing.architecture.unwrap_or(u32::MAX);
            let rules = match name.text.as_str() {
                ".managed" => [
                    (arguments.is_empty(), Clause::Managed),
                    (architecture >= 30, Clause::ManagedNeedsSm30),
                    (space == StateSpace::Global, Clause::ManagedOnlyGlobal),
                ],
                ".unified" => [
                    (arguments.len() == 2, Clause::Unified),
                    (architecture >= 90, Clause::UnifiedNeedsSm90),
                    (space == StateSpace::Global, Clause::UnifiedOnlyGlobal),
                ],
                _ => return Err(Stop::Unmodelled("an attribute that the specification does not list")),
            };
            for argument in arguments {
                let rule = (RefusalClass::Attribute, Clause::Unified);
                self.evaluator.integer(argument, rule, &mut self.trace)?;
            }
            for (holds, clause) in rules {
                self.uses(clause);
                if !holds {
                    return self.refuse(RefusalClass::Attribute, clause, name.span);
                }
            }
            if name.text == ".unified" && self.scope.version < (8, 0) {
                return Err(Stop::Unmodelled("an attribute that the text dates for functions only"));
            }
        }
        Ok(())
    }
}
