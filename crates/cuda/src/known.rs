//! The known deviations of compilers from the rule. Each entry describes a family of cases, the cause, and
//! the releases that show the deviation.
//!
//! A compiler need not deviate on every case of a family, because whether it folds an expression depends on
//! the surrounding code. But if a run compares many cases of a family and all conform, the entry is out of
//! date ([`RuleLedger::gone`](crate::compare::RuleLedger::gone)).

use ptxsmith_subject::version::Releases;

use crate::language::{
    Category, CudaCase, DeclarationSite, Expression, InitializerPosition, Naming, Qualifier, UseStep,
    VariableDeclaration, VariableType,
    constant::{self, Constness},
};
use crate::oracle::{UseExpectation, UseVerdict, judge, relevant_interpretations};
use crate::reading::RuleInterpretations;
use crate::rule::{Key, RuleClause};
use crate::subjects::CompilerDescription;

/// The way in which a compiler deviates from the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviationEffect {
    /// Accepts a use that the rule forbids.
    Accepts,
    /// Rejects a use that the rule allows or does not apply to.
    Refuses,
    /// Crashes or hangs.
    Fails,
}

/// A known deviation.
pub struct CudaDeviation {
    /// Stable name, printed in reports.
    pub id: &'static str,
    /// One-line description of the cases or of the deviation.
    pub title: &'static str,
    /// The cause in the compiler, or what the compiler does instead.
    pub reason: &'static str,
    /// The clauses of the rule that the compiler violates.
    pub clauses: &'static [RuleClause],
    /// The compilers that show the deviation, by [`CompilerDescription::name`].
    pub compilers: &'static [&'static str],
    /// The releases that show the deviation, from the first to the last that were examined.
    pub releases: Releases,
    /// The way in which the compiler deviates.
    pub effect: DeviationEffect,
    /// Whether a case with this expectation belongs to the family.
    pub is_about: fn(&CudaCase, &UseExpectation) -> bool,
}

impl CudaDeviation {
    /// Whether the entry applies to this compiler and release.
    pub fn covers(&self, subject: &CompilerDescription) -> bool {
        self.compilers.contains(&subject.name) && self.releases.contains(Some(&subject.version))
    }
}

/// Returns a known deviation of `subject` that has this effect and covers the case.
///
/// The case may belong to the deviation's family under any interpretation, not only under `base`.
pub fn find(
    case: &CudaCase,
    effect: DeviationEffect,
    subject: &CompilerDescription,
    base: RuleInterpretations,
) -> Option<&'static CudaDeviation> {
    relevant_interpretations(case, base).into_iter().find_map(|interpretations| {
        let expectation = judge(case, interpretations);
        KNOWN.iter().find(|known| {
            known.covers(subject) && known.effect == effect && (known.is_about)(case, &expectation)
        })
    })
}

/// Returns the known deviation of `subject` that covers the case with this expectation, regardless of the
/// effect.
pub fn family(
    case: &CudaCase,
    expectation: &UseExpectation,
    subject: &CompilerDescription,
) -> Option<&'static CudaDeviation> {
    KNOWN.iter().find(|known| known.covers(subject) && (known.is_about)(case, expectation))
}

const NVIDIA: &[&str] = &["cicc", "nvcc"];

/// All known deviations. Where several match a case, the first is used.
pub const KNOWN: &[CudaDeviation] = &[
    CudaDeviation {
        id: "null-pointers-are-read",
        title: "a variable of type std::nullptr_t is read",
        reason: "reading one gives a null pointer without touching the variable, so none is needed on the \
                 device",
        clauses: &[RuleClause::Type],
        compilers: &["cicc", "nvcc", "clang"],
        releases: Releases::between("11.8", "22.1"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            case.declaration.ty == VariableType::NullPointer
                && forbidden(expectation).is_some_and(|keys| keys.contains(&Key::InvalidType))
        },
    },
    CudaDeviation {
        id: "cicc-folds-other-types",
        title: "the value of a constant of another type than the built-in arithmetic ones is used",
        reason: "the front end replaces what it can evaluate at compile time, whatever its type: members of \
                 classes and unions, elements of arrays, pointers",
        clauses: &[RuleClause::Type],
        compilers: NVIDIA,
        releases: Releases::between("11.8", "13.5"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            forbidden(expectation).is_some_and(|keys| keys[0] == Key::InvalidType) && is_evaluable(case)
        },
    },
    CudaDeviation {
        id: "cicc-folds-address-comparisons",
        title: "the address of a host variable is compared with a null pointer",
        reason: "the front end knows the answer, and the address is gone",
        clauses: &[RuleClause::NoReference],
        compilers: NVIDIA,
        releases: Releases::between("11.8", "13.5"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            is_address(expectation) && matches!(case.form.name, "address-compared" | "reference-compared")
        },
    },
    CudaDeviation {
        id: "cicc-ignores-unused-template-arguments",
        title: "a host variable is a template argument for a reference that the template does not use",
        reason: "only code that refers to the variable is looked at, and there is none",
        clauses: &[RuleClause::NoReference],
        compilers: NVIDIA,
        releases: Releases::between("11.8", "13.5"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            is_address(expectation) && case.form.name == "template-reference-argument-unused"
        },
    },
    CudaDeviation {
        id: "cicc-folds-through-addresses",
        title: "a constant is read through a reference or a pointer to it",
        reason: "the whole expression, calls of constexpr functions and lambdas included, is evaluated at \
                 compile time, and the address is gone",
        clauses: &[RuleClause::NoReference],
        compilers: NVIDIA,
        releases: Releases::between("11.8", "13.5"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            // `const_cast` removes `volatile` together with `const`.
            let is_const_cast = case.form.name == "const-cast" && has_computable_value(&case.declaration);
            let evaluable = is_evaluable(case) || is_const_cast;
            is_address(expectation) && evaluable && !case.form.result.contains('*')
        },
    },
    CudaDeviation {
        id: "cicc-forgets-volatile-members",
        title: "a volatile static member, named through an object, is an expression whose value is thrown \
                away",
        reason: "C++ reads it there ([expr.context]); the front end does not",
        clauses: &[RuleClause::NotVolatile],
        compilers: NVIDIA,
        releases: Releases::between("11.8", "13.5"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            case.declaration.qualifier == Qualifier::ConstVolatile
                && case.declaration.access == Naming::ThroughObject
                && case.form.steps.contains(&UseStep::Discard)
                && forbidden(expectation).is_some()
        },
    },
    CudaDeviation {
        id: "cicc-dies-of-static-members-in-requirements",
        title: "a static member, named through an object, stands in a requirement of a template",
        reason: "the front end dies of a signal",
        clauses: &[RuleClause::Scope],
        compilers: NVIDIA,
        releases: Releases::between("12.4", "13.5"),
        effect: DeviationEffect::Fails,
        is_about: |case, _| {
            case.form.name.starts_with("requires-") && case.declaration.access == Naming::ThroughObject
        },
    },
    CudaDeviation {
        id: "clang-copies-constants",
        title: "a constant of the host is used in device code in a way that needs an object",
        reason: "clang makes a __constant__ copy of every const variable that a constant initializes, and \
                 device code uses that: references, addresses, volatile reads and values of any type",
        clauses: &[RuleClause::NotVolatile, RuleClause::Type, RuleClause::NoReference],
        compilers: &["clang"],
        releases: Releases::between("14.0", "22.1"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            let constant =
                has_computable_value(&case.declaration) || case.declaration.ty == VariableType::NullPointer;
            constant && forbidden(expectation).is_some_and(|keys| keys[0] != Key::NotInitialized)
        },
    },
    CudaDeviation {
        id: "clang-ignores-unused-template-arguments",
        title: "a variable that no constant initializes is a template argument for a reference that the \
                template does not use",
        reason: "only code that refers to the variable is looked at, and there is none",
        clauses: &[RuleClause::NoReference],
        compilers: &["clang"],
        releases: Releases::between("15.0", "22.1"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            is_address(expectation)
                && case.form.name == "template-reference-argument-unused"
                && !has_computable_value(&case.declaration)
        },
    },
    CudaDeviation {
        id: "clang-skips-initializers-in-local-classes",
        title: "a default member initializer of a class in a function uses a variable that no constant \
                initializes",
        reason: "releases before 16 do not look into it",
        clauses: &[RuleClause::Initialized],
        compilers: &["clang"],
        releases: Releases::between("14.0", "15.0"),
        effect: DeviationEffect::Accepts,
        is_about: |case, expectation| {
            case.form.name == "local-member-initializer"
                && forbidden(expectation).is_some_and(|keys| keys[0] == Key::NotInitialized)
        },
    },
    CudaDeviation {
        id: "clang-copies-pointers-to-the-host",
        title: "a constant pointer to a host object is refused, also where only the host uses it",
        reason: "clang makes a __constant__ copy of it, whose initializer is no constant on the device",
        clauses: &[RuleClause::Scope],
        compilers: &["clang"],
        releases: Releases::between("14.0", "22.1"),
        effect: DeviationEffect::Refuses,
        is_about: |case, _| {
            matches!(case.declaration.ty.category(), Category::Pointer)
                && matches!(case.declaration.initializer, Expression::AddressOf(_) | Expression::Name(_))
        },
    },
    CudaDeviation {
        id: "clang-misses-later-definitions",
        title: "a constant is refused that is declared first and defined before the use",
        reason: "clang asks the first declaration for the initializer, or has not instantiated it yet",
        clauses: &[RuleClause::Initialized],
        compilers: &["clang"],
        releases: Releases::between("14.0", "22.1"),
        effect: DeviationEffect::Refuses,
        is_about: |case, _| {
            case.declaration.order == InitializerPosition::DefinedBefore
                || (case.declaration.site == DeclarationSite::TemplateOutOfClass
                    && case.declaration.order != InitializerPosition::Elsewhere)
        },
    },
];

/// The messages of a forbidden use; `None` for other uses.
fn forbidden(expectation: &UseExpectation) -> Option<&[Key]> {
    match &expectation.verdict {
        UseVerdict::Forbidden(keys) => Some(keys),
        _ => None,
    }
}

fn is_address(expectation: &UseExpectation) -> bool {
    forbidden(expectation).is_some_and(|keys| keys[0] == Key::Address)
}

/// Whether a compiler can evaluate a read of the variable at the use.
fn is_evaluable(case: &CudaCase) -> bool {
    let declaration = &case.declaration;
    declaration.qualifier != Qualifier::ConstVolatile
        && matches!(
            declaration.order,
            InitializerPosition::AtDeclaration
                | InitializerPosition::DefinedBefore
                | InitializerPosition::BeforeInstantiation
                | InitializerPosition::DefinedAfter
        )
        && has_computable_value(declaration)
}

/// Whether the value of the variable is known before the program runs.
fn has_computable_value(declaration: &VariableDeclaration) -> bool {
    !matches!(constant::evaluate(declaration), Constness::RunTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_covers_all_its_patches_and_no_later_one() {
        let subject = |version: &str| CompilerDescription {
            id: "cicc".to_owned(),
            name: "cicc",
            version: version.to_owned(),
            lineage: "nvidia",
        };
        let known = &KNOWN[1];
        assert!(known.covers(&subject("13.0.48")) && known.covers(&subject("13.5.37")));
        assert!(!known.covers(&subject("13.6.1")) && !known.covers(&subject("11.7.99")));
        let clang = CompilerDescription { name: "clang", version: "14.0.6".to_owned(), ..subject("") };
        assert!(
            KNOWN.iter().any(|known| known.id.starts_with("clang") && known.covers(&clang))
                && !known.covers(&clang)
        );
    }

    #[test]
    fn ids_are_unique() {
        let ids: std::collections::BTreeSet<_> = KNOWN.iter().map(|known| known.id).collect();
        assert_eq!(ids.len(), KNOWN.len());
    }
}
