//! Judging what kernels reach, with a subject whose code does as the oracle says under other rules.

use ptxsmith_diff::{Class, CodeCounts, Verdict, judge_operands};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Description, Error, Observation, Outcome, Request, Subject, Variable};
use ptxsmith_syntax::parse;

struct Follows {
    description: Description,
    rules: Rules,
}

impl Subject for Follows {
    fn description(&self) -> &Description {
        &self.description
    }

    fn shows_code(&self) -> bool {
        true
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut observation = Observation::new(Outcome::Accepted);
        observation.reached.extend(ptxsmith_testing::reached(&self.rules, request));
        Ok(observation)
    }
}

/// The verdict on a kernel with this at module scope and in its body, where `%p` is its parameter.
fn verdict(scope: &str, body: &str, change: impl Fn(&mut Rules)) -> Verdict {
    judged(scope, body, change).1.expect("the kernel is compared")
}

/// As [`verdict`], where there is one, with what was compared.
fn judged(scope: &str, body: &str, change: impl Fn(&mut Rules)) -> (CodeCounts, Option<Verdict>) {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n{scope}\n.visible .entry k(.param .u64 P)\n{{\n\
         .reg .b64 %p, %q;\n.reg .b32 %r;\n.reg .s32 %i;\nld.param.u64 %p, [P];\n{body}\nret;\n}}\n"
    );
    let maker = ptxsmith_testing::NVIDIA;
    let description = Description {
        lineage: maker.lineage.map(str::to_owned),
        version: maker.version.map(str::to_owned),
        ..Description::default()
    };
    let mut rules = Rules::default();
    change(&mut rules);
    let module = parse(&text).unwrap();
    let subject = Follows { description, rules };
    let (operands, part) = judge_operands(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
    (operands, part.map(|part| part.verdict))
}

fn known(verdict: &Verdict) -> Vec<&'static str> {
    let Verdict::Deviates(difference) = verdict else { panic!("{verdict:?}") };
    difference.explanation.as_ref().map(|found| found.known.clone()).unwrap_or_default()
}

#[test]
fn memory_operands_of_a_program_with_addresses_of_32_bits_are_not_compared() {
    let subject = Follows { description: Description::default(), rules: Rules::default() };
    let compared = |size: u32| {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size {size}\n.global .u32 a;\n.visible .entry k()\n{{\n\
             .reg .b32 %r;\nld.global.u32 %r, [a];\nst.global.u32 [a], %r;\nret;\n}}\n"
        );
        let module = parse(&text).unwrap();
        let (operands, part) = judge_operands(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
        (operands.compared, part.map(|part| part.verdict))
    };
    assert_eq!(compared(64), (2, Some(Verdict::Conforms)));
    assert_eq!(compared(32), (0, None));
}

#[test]
fn bytes_and_places_that_listed_rules_predict_are_known() {
    let listed = |rules: &mut Rules| *rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
    let bits = "mov.f64 %q, 0f3FC00000;\nst.global.f64 [%p], %q;";
    assert_eq!(known(&verdict("", bits, listed)), ["single-bits-raw-in-f64"]);
    assert_eq!(verdict("", bits, |_| ()), Verdict::Conforms);
    let index = "ld.global.u32 %r, a[-2];\nst.global.u32 [%p], %r;";
    assert_eq!(known(&verdict(".global .u32 a[4];", index, listed)), ["negative-index-unsigned"]);
    // Far behind the array, and from there a few bytes further.
    let register = "mov.s32 %i, -1;\nmov.u64 %q, a[%i];\nld.global.u32 %r, [%q+8];\nst.global.u32 [%p], %r;";
    assert_eq!(known(&verdict(".global .u32 a[4];", register, listed)), ["negative-index-unsigned"]);
    let narrow =
        ".reg .u16 %h;\nld.global.u16 %h, [%p];\nld.global.u32 %r, a[%h + -1];\nst.global.u32 [%p], %r;";
    assert_eq!(known(&verdict(".global .u32 a[100000];", narrow, listed)), ["narrow-index-constant"]);
}

#[test]
fn elements_of_an_array_without_a_size_are_known_to_count_bytes() {
    let listed = |rules: &mut Rules| *rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
    let stored = "mov.u32 %r, a[2];\nst.global.u32 [%p], %r;";
    let loaded = "mov.u32 %r, %tid.x;\nand.b32 %r, %r, 12;\nld.shared.u8 %r, a[%r];\nst.global.u32 [%p], %r;";
    for body in [stored, loaded] {
        let incomplete = verdict(".extern .shared .u32 a[];", body, listed);
        assert_eq!(known(&incomplete), ["incomplete-array-unscaled"], "{body}");
        if body == stored {
            let Verdict::Deviates(difference) = &incomplete else { panic!("{incomplete:?}") };
            let (first, rest) = difference.expected.accesses().split_first().unwrap();
            assert!(rest.is_empty(), "bytes of one number are one difference: {rest:?}");
            let told = |text: &str, place: &str| {
                let begins = text.starts_with("sets 4 bytes at the pointer in parameter 0 to 0x10000");
                assert!(begins && text.ends_with(place), "{text}");
            };
            told(&first.expected, "8 (a +8)");
            told(&first.seen, "2 (a +2)");
        }
        assert_eq!(verdict(".extern .shared .u32 a[100];", body, listed), Verdict::Conforms, "{body}");
    }
}

#[test]
fn code_that_follows_listed_rules_may_access_undefined_places() {
    let listed = |rules: &mut Rules| *rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
    let misaligned = "ld.const.u32 %r, a[2];\nst.global.u32 [%p], %r;";
    assert_eq!(
        known(&verdict(".extern .const .u32 a[];", misaligned, listed)),
        ["incomplete-array-unscaled"]
    );
    let outside = ".reg .u8 %h;\nmov.u32 %r, 3;\ncvt.u8.u32 %h, %r;\nld.const.u32 %r, a[%h + -1];\nst.global.u32 [%p], %r;";
    assert_eq!(known(&verdict(".const .u32 a[8];", outside, listed)), ["narrow-index-constant"]);
}

#[test]
fn an_unexplained_difference_names_the_access_and_both_places() {
    let body = "ld.global.u32 %r, [a+4];\nst.global.u32 [%p], %r;";
    let other = |rules: &mut Rules| rules.operands.offset.change(|next, bytes| next.apply(bytes) * 2);
    let found = verdict(".global .u32 a[4];", body, other);
    let Verdict::Deviates(difference) = &found else { panic!("{found:?}") };
    assert_eq!((difference.class, &difference.explanation), (Class::WrongAddress, &None));
    let first = &difference.expected.accesses()[0];
    assert_eq!((&*first.kernel, first.line), ("k", Some(11)));
    assert_eq!(first.expected, "reads 4 bytes at a +4");
    assert_eq!(first.seen, "ACCESS reads 4 bytes at a +8");
}

#[test]
fn accesses_of_local_are_not_compared_and_hide_nothing_else() {
    let body =
        ".local .u32 l[4];\nst.local.u32 [l+4], 7;\nld.local.u32 %r, [l+4];\nst.global.u32 [%p+8], %r;";
    let (operands, found) = judged("", body, |_| ());
    assert_eq!(found, Some(Verdict::Conforms));
    let local = operands.not_compared.get("a variable in .local, which the implementation lays out");
    assert_eq!((operands.compared, operands.removed, local), (1, 0, Some(&2)));
    // What the text reads in .local is known: a byte of .global that the code alone reads is astray.
    let read = "\nld.global.u32 %r, [a+4];\nst.global.u32 [%p], %r;";
    let nearer = |rules: &mut Rules| rules.operands.offset.change(|next, bytes| next.apply(bytes) - 4);
    let found = verdict(".global .u32 a[4];", &(body.replace("+8", "+4") + read), nearer);
    let Verdict::Deviates(difference) = &found else { panic!("{found:?}") };
    let seen: Vec<_> = difference.expected.accesses().iter().map(|one| &*one.seen).collect();
    assert!(seen.contains(&"ACCESS reads 4 bytes at a"), "{seen:?}");
}

#[test]
fn the_first_bytes_of_const_are_a_variable_s() {
    let nearer = |rules: &mut Rules| rules.operands.offset.change(|next, bytes| next.apply(bytes) - 4);
    let found = verdict(".const .u32 a[4];", "ld.const.u32 %r, [a+4];\nst.global.u32 [%p+4], %r;", nearer);
    let Verdict::Deviates(difference) = &found else { panic!("{found:?}") };
    let read = difference.expected.accesses().iter().find(|one| one.line == Some(11));
    assert_eq!(read.map(|read| &*read.seen), Some("ACCESS reads 4 bytes at a"));
}

#[test]
fn a_wrong_value_is_of_the_access_that_covers_it() {
    let body = "mov.f64 %q, 0f3FC00000;\nst.global.f64 [%p+8], %q;\nst.global.u32 [%p], 1;";
    let found = verdict("", body, |rules| *rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA));
    assert_eq!(known(&found), ["single-bits-raw-in-f64"]);
    let Verdict::Deviates(difference) = &found else { panic!("{found:?}") };
    let first = &difference.expected.accesses()[0];
    assert_eq!(first.line, Some(12));
    let place = "sets 8 bytes at the pointer in parameter 0 +8 to ";
    assert!(first.expected.starts_with(place), "{first:?}");
}

/// Does as the text says, with these variables, and these symbols in the code of each kernel for its variable
/// of this name.
struct Names {
    follows: Follows,
    variable: &'static str,
    symbols: [&'static str; 2],
    held: Vec<(&'static str, Vec<u8>)>,
}

impl Subject for Names {
    fn description(&self) -> &Description {
        self.follows.description()
    }

    fn shows_code(&self) -> bool {
        true
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut observation = self.follows.observe(request)?;
        for ((kernel, reached), symbol) in observation.reached.iter_mut().zip(self.symbols) {
            let tracing = request.trace.iter().find(|asked| asked.kernel == *kernel).unwrap();
            let found = tracing.own.find(self.variable, |_, digits| digits.parse().ok());
            let place = match found {
                ptxsmith_syntax::NameLookup::Numbered((at, apart), nth) => at + nth * apart,
                found => found.declared().unwrap().0,
            };
            reached.symbols.insert((symbol.to_owned(), place));
        }
        for (name, bytes) in &self.held {
            let variable = Variable {
                space: Some("global".into()),
                size: Some(bytes.len() as u64),
                bytes: Some(bytes.clone()),
                addresses: Some(Vec::new()),
                ..Variable::default()
            };
            observation.variables.insert((*name).into(), variable);
        }
        Ok(observation)
    }
}

/// What goes astray in two kernels that declare this each, by class, what is expected, and what is seen.
fn misplaced(
    declared: [&str; 2],
    variable: &'static str,
    symbols: [&'static str; 2],
    held: &[(&'static str, &[u8])],
) -> Vec<(String, String, String)> {
    let kernel = |name: &str, declared: &str| {
        format!(
            ".visible .entry {name}(.param .u64 P) {{ {declared} .reg .u64 p; .reg .u32 r; ld.param.u64 p, [P]; \
             ld.global.u32 r, [{variable}]; st.global.u32 [p], r; ret; }}\n"
        )
    };
    let kernels = kernel("k1", declared[0]) + &kernel("k2", declared[1]);
    let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{kernels}");
    let follows = Follows { description: Description::default(), rules: Rules::default() };
    let held = held.iter().map(|&(name, bytes)| (name, bytes.to_vec())).collect();
    let subject = Names { follows, variable, symbols, held };
    let module = parse(&text).unwrap();
    let (operands, part) = judge_operands(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
    assert_eq!(operands.compared, 4);
    match part.unwrap().verdict {
        Verdict::Conforms => Vec::new(),
        Verdict::Deviates(difference) => {
            assert_eq!(difference.explanation, None);
            let all = difference.expected.accesses().iter();
            all.map(|one| (one.class.to_string(), one.expected.clone(), one.seen.clone())).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// 5.4.1: each declaration has storage of its own, of the size and with the initial value that it says
/// (5.4.4, 5.4.6).
#[test]
fn a_variable_of_a_function_has_a_place_a_size_and_a_value_of_its_own() {
    let sizes = [".global .u32 s<3>;", ".global .u64 s<3>;"];
    let found = misplaced(sizes, "s1", ["s1", "s1"], &[("s1", &[0; 4])]);
    let told =
        |class: &str, expected: &str, seen: &str| (class.to_owned(), expected.to_owned(), seen.to_owned());
    let shared = told("wrong-layout", "has a variable s1 of its own", "s1, which is s1 of k1 as well");
    let size = told("wrong-layout", "has a variable s1 of 8 bytes", "s1 of 4 bytes");
    assert_eq!(found, [size.clone(), shared]);
    let own = [("s1", &[0; 4][..]), ("other", &[0; 8])];
    assert_eq!(misplaced(sizes, "s1", ["s1", "other"], &own), []);
    let small = misplaced(sizes, "s1", ["other", "s1"], &own);
    assert_eq!(small, [told("wrong-layout", "has a variable s1 of 4 bytes", "other of 8 bytes"), size]);
    let values = [".global .u32 v = 5;", ".global .u32 v = 6;"];
    let found = misplaced(values, "v", ["$__v__4", "$__v__4"], &[("$__v__4", &[6, 0, 0, 0])]);
    let expected = "has a variable v that holds 05000000 at first";
    assert_eq!(found[0], told("wrong-value", expected, "$__v__4 holds 06000000"));
    assert_eq!((found.len(), &*found[1].1), (2, "has a variable v of its own"));
    let both = [("$__v__4", &[5, 0, 0, 0][..]), ("$__v__5", &[6, 0, 0, 0])];
    assert_eq!(misplaced(values, "v", ["$__v__4", "$__v__5"], &both), []);
}
