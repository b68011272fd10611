//! Tests the oracle against expectations that were derived by hand from the rule's text.

use super::*;
use crate::language::{Access, Declaration, Expression, Form, Spelling, Type};

/// Returns a case that declares `const int v = 10;` and uses it with this form in a `__device__` function.
fn case(form: &str) -> Case {
    let declaration = Declaration {
        site: Site::Namespace,
        ty: Type::Int,
        qualifier: Qualifier::Const,
        annotation: Annotation::None,
        order: Order::AtDeclaration,
        spelling: Spelling::Equals,
        access: Access::Plain,
        kind: "literal",
        initializer: Expression::Integer(10, ""),
        auxiliaries: Vec::new(),
    };
    Case {
        id: 0,
        declaration,
        form: Form::find(form).expect("the form is in the table"),
        place: Place::Device,
    }
}

fn with(form: &str, change: impl Fn(&mut Case)) -> Case {
    let mut case = case(form);
    change(&mut case);
    case
}

fn literal(case: &Case) -> Verdict {
    judge(case, Readings::default()).verdict
}

fn under(case: &Case, question: Question) -> Verdict {
    judge(case, Readings::default().with(question)).verdict
}

fn forbidden(keys: &[Key]) -> Verdict {
    Verdict::Forbidden(keys.to_vec())
}

/// Judges the uses of the document's example one after the other.
#[test]
fn the_example_of_the_document_has_three_forbidden_uses() {
    assert_eq!(literal(&case("array-bound")), Verdict::Allowed);
    let member = with("array-bound", |case| {
        case.declaration.site = Site::Member;
        case.declaration.initializer = Expression::Integer(20, "");
    });
    assert_eq!(literal(&member), Verdict::Allowed);
    assert_eq!(literal(&case("local")), Verdict::Allowed);
    assert_eq!(literal(&Case { form: Form::find("local").unwrap(), ..member }), Verdict::Allowed);
    let later = with("local", |case| case.declaration.order = Order::DefinedAfter);
    assert_eq!(literal(&later), forbidden(&[Key::NotInitialized]));
    assert_eq!(literal(&case("reference")), forbidden(&[Key::Address]));
    assert_eq!(literal(&case("address")), forbidden(&[Key::Address]));
    let float = with("local-const", |case| {
        case.declaration.ty = Type::Float;
        case.declaration.initializer = Expression::Floating(5.0, "");
    });
    assert_eq!(literal(&float), Verdict::Allowed);
    assert_eq!(under(&float, Question::HostCompiler), forbidden(&[Key::InvalidType]));
}

#[test]
fn an_allowed_use_reads_the_value_of_the_initializer() {
    let expectation = judge(&case("value"), Readings::default());
    assert_eq!(expectation.value, Some(Value::Integer(10)));
    assert_eq!(
        expectation.clauses,
        [Clause::HostVariable, Clause::Scope, Clause::Initialized, Clause::NotVolatile, Clause::Type]
    );
}

#[test]
fn several_messages_come_in_the_order_of_the_text() {
    let all = with("value", |case| {
        case.declaration.qualifier = Qualifier::ConstVolatile;
        case.declaration.order = Order::Elsewhere;
        case.declaration.ty = Type::ScopedEnumeration;
        case.declaration.initializer = Expression::Name("E::e1");
    });
    assert_eq!(literal(&all), forbidden(&[Key::NotInitialized, Key::Volatile, Key::InvalidType]));
    let class = with("copy", |case| {
        case.declaration.ty = Type::Class;
        case.declaration.initializer =
            Expression::Braces(vec![Expression::Integer(1, ""), Expression::Integer(2, "")]);
    });
    assert_eq!(literal(&class), forbidden(&[Key::InvalidType, Key::Address]));
}

#[test]
fn the_rule_is_silent_on_host_code_and_on_other_variables() {
    let silent = |change: fn(&mut Case)| literal(&with("reference", change));
    assert_eq!(silent(|case| case.place = Place::Host), Verdict::Silent(Silence::HostCode));
    assert_eq!(
        silent(|case| case.declaration.annotation = Annotation::Device),
        Verdict::Silent(Silence::Annotated)
    );
    assert_eq!(silent(|case| case.declaration.site = Site::Local), Verdict::Silent(Silence::Local));
    let mutable = silent(|case| case.declaration.qualifier = Qualifier::None);
    assert_eq!((mutable.refuses(), mutable), (None, Verdict::Silent(Silence::NotConst)));
}

#[test]
fn a_temporary_of_another_type_holds_a_value_and_a_const_temporary_a_copy() {
    assert_eq!(literal(&case("temporary-of-other-type")), Verdict::Allowed);
    assert_eq!(literal(&case("reference-to-plus")), Verdict::Allowed);
    assert_eq!(literal(&case("reference-conditional")), forbidden(&[Key::Address]));
    assert_eq!(literal(&case("conditional-same")), Verdict::Allowed);
}

#[test]
fn a_volatile_variable_is_read_also_where_its_value_is_thrown_away() {
    assert_eq!(literal(&case("statement")), Verdict::Allowed);
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
        case.declaration.initializer = Expression::Cast(Type::Int, Box::new(Expression::Name("o")));
        case.declaration.auxiliaries = vec![crate::language::Auxiliary::Variable {
            name: "o",
            ty: Type::Double,
            qualifier: Qualifier::Const,
            initializer: Some(double.clone()),
        }];
    });
    let array = with("element-value", |case| {
        case.declaration.ty = Type::Array;
        case.declaration.initializer = Expression::Braces(vec![Expression::Integer(1, ""); 3]);
    });
    let asked = [
        (Question::ConstexprVariable, with("reference", |c| c.declaration.qualifier = Qualifier::Constexpr)),
        (Question::LongDouble, ty(Type::LongDouble, double)),
        (Question::ExtendedInteger, ty(Type::Int128, Expression::Integer(3, ""))),
        (Question::Enumeration, ty(Type::Enumeration, Expression::Name("e1"))),
        (Question::Unevaluated, case("sizeof")),
        (Question::Discarded, with("reference", |c| c.place = Place::Discarded)),
        (Question::Unreached, with("reference", |c| c.place = Place::DeadBranch)),
        (Question::Uncalled, with("reference", |c| c.place = Place::Uncalled)),
        (Question::Uninstantiated, with("reference", |c| c.place = Place::Uninstantiated)),
        (Question::Elsewhere, with("address-returned", |c| c.place = Place::DefaultArgument)),
        (Question::DeviceInitializer, with("address-returned", |c| c.place = Place::VariableInitializer)),
        (Question::Folding, folded),
        (Question::DiscardedValue, with("statement", |c| c.declaration.order = Order::DefinedAfter)),
        (Question::Transient, case("address-dereferenced")),
        (Question::ElementAccess, array),
        (
            Question::ClassContext,
            with("value", |c| {
                c.place = Place::OwnMemberBefore;
                c.declaration.site = Site::Member;
            }),
        ),
        (
            Question::TemplateUse,
            with("value", |c| {
                c.place = Place::Template;
                c.declaration.order = Order::BeforeInstantiation;
            }),
        ),
    ];
    for (question, case) in asked {
        assert_ne!(literal(&case), under(&case, question), "{}", question.name());
        assert!(!is_clear(&case, Readings::default()), "{}", question.name());
        assert!(readings_met(&case, Readings::default()).contains(&Readings::default().with(question)));
    }
}
