use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Address, FnSubject, LinkedVariable, Observation, Outcome, Request, Variable};

use super::*;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn variable(name: &str, section: &str, place: u64, align: u64, bytes: &[u8]) -> LinkedVariable {
    LinkedVariable {
        name: name.to_owned(),
        is_local: false,
        section: section.to_owned(),
        place,
        variable: Variable {
            size: Some(bytes.len() as u64),
            align: Some(align),
            bytes: Some(bytes.to_vec()),
            addresses: Some(Vec::new()),
            ..Variable::default()
        },
    }
}

/// The verdict on modules, where a linker gives this answer to their texts in each order.
fn judged(texts: &[&str], answer: impl Fn(&[&str]) -> Observation + Send + Sync) -> LinkVerdict {
    let texts: Vec<String> = texts.iter().map(|text| format!("{HEADER}{text}")).collect();
    let modules: Vec<Module> = texts.iter().map(|text| ptxsmith_syntax::parse(text).unwrap()).collect();
    let subject = FnSubject::new("linker", move |request: &Request<'_>| {
        let all: Vec<&str> = std::iter::once(request.ptx)
            .chain(request.with.iter().copied())
            .map(|text| &text[HEADER.len()..])
            .collect();
        answer(&all)
    });
    let program = Modules { texts: &texts, modules: &modules, target: "sm_80" };
    judge_linked(&subject, &program, &Rules::default()).unwrap()
}

fn linked(variables: Vec<LinkedVariable>) -> Observation {
    Observation { linked: variables, ..Observation::new(Outcome::Accepted) }
}

#[test]
fn all_orders_of_three_modules_are_linked_and_two_of_four() {
    assert_eq!(orders(2), [vec![0, 1], vec![1, 0]]);
    assert_eq!(orders(3).len(), 6);
    assert_eq!(orders(4), [vec![0, 1, 2, 3], vec![3, 2, 1, 0]]);
}

#[test]
fn the_alignment_of_every_declaration_holds() {
    let texts = [".common .global .align 4 .u32 c;", ".common .global .align 64 .u32 c;"];
    let verdict = judged(&texts, |_| linked(vec![variable("c", ".nv.global", 4, 4, &[0; 4])]));
    assert_eq!(verdict.differences.len(), 1);
    assert_eq!(verdict.differences[0].0.clauses, [Clause::Align]);
    let right = judged(&texts, |_| linked(vec![variable("c", ".nv.global", 64, 64, &[0; 4])]));
    assert_eq!((right.differences.len(), right.compared), (0, 2));
}

#[test]
fn an_address_without_a_relocation_is_wrong_in_the_order_that_shows_it() {
    let weak = ".weak .const .u32 x = 1;";
    let table = ".weak .const .u32 x = 2; .visible .const .u64 q[2] = {generic(x), 7};";
    let verdict = judged(&[weak, table], |order| {
        let mut q = variable("q", ".nv.constant3", 8, 8, &[0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        if order[0] == table {
            q.variable.addresses = Some(vec![Address {
                offset: 0,
                width: 8,
                symbol: "x".to_owned(),
                addend: 0,
                generic: Some(true),
                byte: None,
            }]);
        }
        let x = if order[0] == table { 2 } else { 1 };
        linked(vec![variable("x", ".nv.constant3", 0, 4, &[x, 0, 0, 0]), q])
    });
    let [(difference, order)] = &verdict.differences[..] else { panic!("{:?}", verdict.differences) };
    assert_eq!((difference.class, difference.name.as_str()), (Class::WrongAddress, "q"));
    assert_eq!(order, &[0, 1]);
    assert_eq!(verdict.chosen["x"], [(vec![0, 1], 0), (vec![1, 0], 1)]);
}

#[test]
fn the_place_of_a_constant_stands_for_its_address() {
    let texts = [".visible .const .u64 q = x + 4; .extern .const .u32 x[2];", ".visible .const .u32 x[2];"];
    let at = |number: u8| {
        let mut bytes = [0; 8];
        bytes[0] = number;
        move |_: &[&str]| {
            linked(vec![
                variable("x", ".nv.constant3", 16, 4, &[0; 8]),
                variable("q", ".nv.constant3", 24, 8, &bytes),
            ])
        }
    };
    assert_eq!(judged(&texts, at(20)).differences, []);
    let wrong = |number| {
        let difference = judged(&texts, at(number)).differences.remove(0).0;
        (difference.class, difference.symptom.what)
    };
    assert_eq!(wrong(16), (Class::WrongAddress, ANOTHER_OFFSET.to_owned()));
    assert_eq!(wrong(0), (Class::WrongAddress, NO_ADDRESS.to_owned()));
    assert_eq!(wrong(40).1, "another place");
}

#[test]
fn variables_that_share_bytes_are_wrong() {
    let texts = [".visible .global .u32 a = 1;", ".visible .global .u32 b = 1;"];
    let both = |_: &[&str]| {
        linked(vec![
            variable("a", ".nv.global.init", 0, 4, &[1, 0, 0, 0]),
            variable("b", ".nv.global.init", 0, 4, &[1, 0, 0, 0]),
        ])
    };
    assert_eq!(judged(&texts, both).differences[0].0.class, Class::WrongLayout);
}

#[test]
fn whether_modules_are_linked_does_not_depend_on_their_order() {
    let texts = [".visible .global .u32 a = 1;", ".extern .global .u32 a;"];
    let one_way = |order: &[&str]| match order[0].starts_with(".visible") {
        true => linked(vec![variable("a", ".nv.global.init", 0, 4, &[1, 0, 0, 0])]),
        false => Observation::new(Outcome::Refused),
    };
    let verdict = judged(&texts, one_way);
    assert_eq!(verdict.differences[0].0.class, Class::Inconsistent);
    let never = judged(&texts, |_| Observation::new(Outcome::Refused));
    assert_eq!((never.differences.len(), never.compared), (0, 0));
    assert_eq!(never.not_compared["the linker refuses the program"], 2);
}

#[test]
fn a_definition_that_is_longer_than_the_variable_is_not_compared() {
    let texts = [".weak .const .u64 q[2] = {1, generic(q)};", ".weak .const .u64 q[1] = {1};"];
    let short = |_: &[&str]| linked(vec![variable("q", ".nv.constant3", 0, 8, &[1, 0, 0, 0, 0, 0, 0, 0])]);
    let verdict = judged(&texts, short);
    assert_eq!((verdict.differences.len(), verdict.compared), (0, 0));
}

#[test]
fn of_two_local_variables_of_one_name_each_has_its_own_value() {
    let texts = [".global .u8 own = 1;", ".global .u8 own = 2;"];
    let with = |values: &'static [u8]| {
        move |_: &[&str]| {
            let own = |(place, value): (u64, &u8)| LinkedVariable {
                is_local: true,
                ..variable("own", ".nv.global.init", place, 1, &[*value])
            };
            linked((0..).zip(values).map(own).collect())
        }
    };
    assert_eq!(judged(&texts, with(&[1, 2])).differences, []);
    assert_eq!(judged(&texts, with(&[1, 1])).differences[0].0.class, Class::WrongValue);
    // One that nothing uses may be left out.
    assert_eq!(judged(&texts, with(&[2])).differences, []);
}

#[test]
fn modules_that_contradict_each_other_are_not_compared() {
    let wrong = |_: &[&str]| linked(vec![variable("a", ".nv.global.init", 0, 4, &[9, 0, 0, 0])]);
    let compared = |other: &str| judged(&[".visible .global .u32 a = 1;", other], wrong).compared;
    assert_eq!(compared(".visible .global .u32 a = 1;"), 0);
    assert_eq!(compared(".common .global .u32 a = 1;"), 0);
    assert_eq!(compared(".extern .const .u32 a;"), 0);
    assert_eq!(compared(".weak .global .u32 a = 1;"), 2);
    assert_eq!(compared(".common .global .u32 a;"), 2);
}

#[test]
fn an_internal_error_says_nothing_where_a_name_has_no_definition() {
    let ends = |_: &[&str]| Observation::new(Outcome::Crashed);
    let differences = |other: &str| judged(&[".extern .global .u32 a;", other], ends).differences.len();
    assert_eq!(differences(".extern .global .u32 a;"), 0);
    assert_eq!(differences(".visible .global .u32 a;"), 1);
}
