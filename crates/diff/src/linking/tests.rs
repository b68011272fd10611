use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ptxsmith_oracle::Rules;
use ptxsmith_subject::{
    Address, Description, FnSubject, LinkedVariable, Observation, Outcome, Request, Variable,
};

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

/// Judges modules with a linker that answers as `answer` does, given the texts in the order of the way.
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
    let program = Modules { texts: &texts, modules: &modules, target: "sm_80", in_stages: true };
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

/// The way that links all modules at once, in this order.
fn whole<const N: usize>(order: [usize; N]) -> LinkPlan {
    LinkPlan { order: order.to_vec(), stage: None }
}

#[test]
fn a_stage_links_all_modules_but_the_first_or_the_last_one_before() {
    let names = ["a", "b", "c"].map(str::to_owned);
    let text = |way: &LinkPlan| way.text(&names);
    let pairs: Vec<String> = ways(2, true).iter().map(text).collect();
    assert_eq!(pairs, ["a b", "b a", "-r(a) b", "a -r(b)", "-r(b) a", "b -r(a)"]);
    assert_eq!(ways(2, false), [whole([0, 1]), whole([1, 0])]);
    let three: Vec<String> = ways(3, true).iter().map(text).collect();
    assert_eq!(three.len(), 18);
    assert_eq!(three[6..8], ["-r(a b) c", "a -r(b c)"]);
}

#[test]
fn a_difference_in_two_stages_alone_has_its_own_symptom() {
    let texts = [".visible .global .u8 a = 3;".to_owned(), ".visible .global .u8 b = 4;".to_owned()];
    let texts = texts.map(|text| HEADER.to_owned() + &text);
    let modules: Vec<Module> = texts.iter().map(|text| ptxsmith_syntax::parse(text).unwrap()).collect();
    let linker = InStages(|request: &Request<'_>| {
        let a = if request.stage.is_some() { 7 } else { 3 };
        let section = ".nv.global.init";
        linked(vec![variable("a", section, 0, 1, &[a]), variable("b", section, 1, 1, &[4])])
    });
    let program = Modules { texts: &texts, modules: &modules, target: "sm_80", in_stages: true };
    let verdict = judge_linked(&linker, &program, &Rules::default()).unwrap();
    let [(difference, way)] = &verdict.differences[..] else { panic!("{:?}", verdict.differences) };
    assert_eq!((difference.class, difference.name.as_str()), (Class::WrongValue, "a"));
    assert!(difference.symptom.needs_a_stage);
    assert_eq!(way.stage, Some(Stage { first: 0, count: 1 }));
}

/// A linker that supports linking in stages.
struct InStages<F>(F);

impl<F: Fn(&Request<'_>) -> Observation + Send + Sync> Subject for InStages<F> {
    fn description(&self) -> &Description {
        static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::default);
        &DESCRIPTION
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        Ok(self.0(request))
    }

    fn links_in_stages(&self) -> bool {
        true
    }
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
    assert_eq!(order, &whole([0, 1]));
    assert_eq!(verdict.chosen["x"], [(whole([0, 1]), 0), (whole([1, 0]), 1)]);
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
    // A linker may omit a local variable that nothing uses.
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

#[test]
fn a_kernel_reads_the_constants_that_it_names() {
    let kernel = ".visible .const .u32 b[3] = {1}; .visible .entry k(.param .u64 o) { .reg .u64 p; .reg .u32 r; \
                  ld.param.u64 p, [o]; ld.const.u32 r, [b+4]; st.global.u32 [p], r; ret; }";
    let texts = [".visible .const .u32 a[2] = {7};", kernel];
    let reads = |place: u64| {
        judged(&texts, move |_| {
            let a = variable("a", ".nv.constant3", 0, 4, &[7, 0, 0, 0, 0, 0, 0, 0]);
            let b = variable("b", ".nv.constant3", 8, 4, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            Observation {
                constant_reads: BTreeMap::from([("k".to_owned(), BTreeSet::from([place]))]),
                ..linked(vec![a, b])
            }
        })
    };
    assert_eq!(reads(12).differences.len(), 0);
    let verdict = reads(4);
    let [(difference, _)] = &verdict.differences[..] else { panic!("{:?}", verdict.differences) };
    assert_eq!((difference.class, difference.name.as_str()), (Class::WrongAddress, "k"));
    assert_eq!(difference.actual, "reads 0x4 of the bank, which is `a`");
    assert_eq!(difference.symptom.what, READ);
}
