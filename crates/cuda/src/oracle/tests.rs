//! Tests the oracle against expectations that were derived by hand from the rule's text.

use super::*;
use crate::language::{Expression, Naming, Spelling, UseForm, VariableDeclaration, VariableType};

/// Returns a case that declares `const int v = 10;` and uses it with this form in a `__device__` function.
fn case(form: &str) -> CudaCase {
    let declaration = VariableDeclaration {
        site: DeclarationSite::Namespace,
        ty: VariableType::Int,
        qualifier: Qualifier::Const,
        annotation: Annotation::None,
        order: InitializerPosition::AtDeclaration,
        spelling: Spelling::Equals,
        access: Naming::Plain,
        kind: "literal",
        initializer: Expression::Integer(10, ""),
        auxiliaries: Vec::new(),
    };
    CudaCase {
        id: 0,
        declaration,
        form: UseForm::find(form).expect("the form is in the table"),
        place: UsePlace::Device,
    }
}

fn with(form: &str, change: impl Fn(&mut CudaCase)) -> CudaCase {
    let mut case = case(form);
    change(&mut case);
    case
}

fn literal(case: &CudaCase) -> UseVerdict {
    judge(case, RuleInterpretations::default()).verdict
}

fn under(case: &CudaCase, question: RuleQuestion) -> UseVerdict {
    judge(case, RuleInterpretations::default().with(question)).verdict
}

fn forbidden(keys: &[Key]) -> UseVerdict {
    UseVerdict::Forbidden(keys.to_vec())
}

/// Judges the uses of the document's example one after the other.
#[test]
fn the_example_of_the_document_has_three_forbidden_uses() {
    assert_eq!(literal(&case("array-bound")), UseVerdict::Allowed);
    let member = with("array-bound", |case| {
        case.declaration.site = DeclarationSite::Member;
        case.declaration.initializer = Expression::Integer(20, "");
    });
    assert_eq!(literal(&member), UseVerdict::Allowed);
    assert_eq!(literal(&case("local")), UseVerdict::Allowed);
    assert_eq!(literal(&CudaCase { form: UseForm::find("local").unwrap(), ..member }), UseVerdict::Allowed);
    let later = with("local", |case| case.declaration.order = InitializerPosition::DefinedAfter);
    assert_eq!(literal(&later), forbidden(&[Key::NotInitialized]));
    assert_eq!(literal(&case("reference")), forbidden(&[Key::Address]));
    assert_eq!(literal(&case("address")), forbidden(&[Key::Address]));
    let float = with("local-const", |case| {
        case.declaration.ty = VariableType::Float;
        case.declaration.initializer = Expression::Floating(5.0, "");
    });
    assert_eq!(literal(&float), UseVerdict::Allowed);
    assert_eq!(under(&float, RuleQuestion::HostCompiler), forbidden(&[Key::InvalidType]));
}

#[test]
fn an_allowed_use_reads_the_value_of_the_initializer() {
    let expectation = judge(&case("value"), RuleInterpretations::default());
    assert_eq!(expectation.value, Some(ConstantValue::Integer(10)));
    assert_eq!(
        expectation.clauses,
        [
            RuleClause::HostVariable,
            RuleClause::Scope,
            RuleClause::Initialized,
            RuleClause::NotVolatile,
            RuleClause::Type
        ]
    );
}

#[test]
fn several_messages_come_in_the_order_of_the_text() {
    let all = with("value", |case| {
        case.declaration.qualifier = Qualifier::ConstVolatile;
        case.declaration.order = InitializerPosition::Elsewhere;
        case.declaration.ty = VariableType::ScopedEnumeration;
        case.declaration.initializer = Expression::Name("E::e1");
    });
    assert_eq!(literal(&all), forbidden(&[Key::NotInitialized, Key::Volatile, Key::InvalidType]));
    let class = with("copy", |case| {
        case.declaration.ty = VariableType::Class;
        case.declaration.initializer =
            Expression::Braces(vec![Expression::Integer(1, ""), Expression::Integer(2, "")]);
    });
    assert_eq!(literal(&class), forbidden(&[Key::InvalidType, Key::Address]));
}

#[test]
fn the_rule_is_silent_on_host_code_and_on_other_variables() {
    let silent = |change: fn(&mut CudaCase)| literal(&with("reference", change));
    assert_eq!(silent(|case| case.place = UsePlace::Host), UseVerdict::Silent(Silence::HostCode));
    assert_eq!(
        silent(|case| case.declaration.annotation = Annotation::Device),
        UseVerdict::Silent(Silence::Annotated)
    );
    assert_eq!(
        silent(|case| case.declaration.site = DeclarationSite::Local),
        UseVerdict::Silent(Silence::Local)
    );
    let mutable = silent(|case| case.declaration.qualifier = Qualifier::None);
    assert_eq!((mutable.refuses(), mutable), (None, UseVerdict::Silent(Silence::NotConst)));
}

#[test]
fn a_temporary_of_another_type_holds_a_value_and_a_const_temporary_a_copy() {
    assert_eq!(literal(&case("temporary-of-other-type")), UseVerdict::Allowed);
    assert_eq!(literal(&case("reference-to-plus")), UseVerdict::Allowed);
    assert_eq!(literal(&case("reference-conditional")), forbidden(&[Key::Address]));
    assert_eq!(literal(&case("conditional-same")), UseVerdict::Allowed);
}

#[test]
fn a_volatile_variable_is_read_even_if_its_value_is_discarded() {
    assert_eq!(literal(&case("statement")), UseVerdict::Allowed);
    let volatile = with("statement", |case| case.declaration.qualifier = Qualifier::ConstVolatile);
    assert_eq!(literal(&volatile), forbidden(&[Key::Volatile]));
}

#[test]
fn each_question_changes_an_answer() {
    let ty = |ty, initializer: Expression| {
        with("value", |case| {
            case.declaration.ty = ty;
            case.declaration.initializer = initializer.clone();
        })
    };
    let double = Expression::Floating(2.0, "");
    let folded = with("value", |case| {
        case.declaration.initializer = Expression::Cast(VariableType::Int, Box::new(Expression::Name("o")));
        case.declaration.auxiliaries = vec![crate::language::Auxiliary::Variable {
            name: "o",
            ty: VariableType::Double,
            qualifier: Qualifier::Const,
            initializer: Some(double.clone()),
        }];
    });
    let array = with("element-value", |case| {
        case.declaration.ty = VariableType::Array;
        case.declaration.initializer = Expression::Braces(vec![Expression::Integer(1, ""); 3]);
    });
    let asked = [
        (
            RuleQuestion::ConstexprVariable,
            with("reference", |c| c.declaration.qualifier = Qualifier::Constexpr),
        ),
        (RuleQuestion::LongDouble, ty(VariableType::LongDouble, double)),
        (RuleQuestion::ExtendedInteger, ty(VariableType::Int128, Expression::Integer(3, ""))),
        (RuleQuestion::Enumeration, ty(VariableType::Enumeration, Expression::Name("e1"))),
        (RuleQuestion::Unevaluated, case("sizeof")),
        (RuleQuestion::Discarded, with("reference", |c| c.place = UsePlace::Discarded)),
        (RuleQuestion::Unreached, with("reference", |c| c.place = UsePlace::DeadBranch)),
        (RuleQuestion::Uncalled, with("reference", |c| c.place = UsePlace::Uncalled)),
        (RuleQuestion::Uninstantiated, with("reference", |c| c.place = UsePlace::Uninstantiated)),
        (RuleQuestion::Elsewhere, with("address-returned", |c| c.place = UsePlace::DefaultArgument)),
        (
            RuleQuestion::DeviceInitializer,
            with("address-returned", |c| c.place = UsePlace::VariableInitializer),
        ),
        (RuleQuestion::Folding, folded),
        (
            RuleQuestion::DiscardedValue,
            with("statement", |c| c.declaration.order = InitializerPosition::DefinedAfter),
        ),
        (RuleQuestion::Transient, case("address-dereferenced")),
        (RuleQuestion::ElementAccess, array),
        (
            RuleQuestion::ClassContext,
            with("value", |c| {
                c.place = UsePlace::OwnMemberBefore;
                c.declaration.site = DeclarationSite::Member;
            }),
        ),
        (
            RuleQuestion::TemplateUse,
            with("value", |c| {
                c.place = UsePlace::Template;
                c.declaration.order = InitializerPosition::BeforeInstantiation;
            }),
        ),
    ];
    for (question, case) in asked {
        assert_ne!(literal(&case), under(&case, question), "{}", question.name());
        assert!(!is_clear(&case, RuleInterpretations::default()), "{}", question.name());
        assert!(
            relevant_interpretations(&case, RuleInterpretations::default())
                .contains(&RuleInterpretations::default().with(question))
        );
    }
}
