//! Patterns of known deviations: they find what they list however it is written, and nothing that only looks
//! like it.

use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::lint::risks;
use ptxsmith_diff::pattern::Pattern;
use ptxsmith_diff::{Class, Verdict, judge_module};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Description, FnSubject, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::{Gap, Lines, Module, each_token, parse, prefixed, print};
use ptxsmith_testing::NVIDIA;

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// Where lint warns of a deviation.
fn places(known: &KnownDeviation, text: &str) -> Vec<(u32, u32)> {
    let module = parse(text).unwrap_or_else(|error| panic!("{}: {}", known.id, error.render("", text)));
    let own = risks(&module).into_iter().filter(|risk| risk.known.id == known.id);
    let lines = Lines::new(text);
    own.map(|risk| lines.place(risk.span.start)).collect()
}

fn ids(text: &str) -> Vec<&'static str> {
    risks(&parse(text).expect("it parses")).iter().map(|risk| risk.known.id).collect()
}

/// A text with every gap as wide as it may be.
fn spaced(text: &str) -> String {
    let mut wide = String::new();
    for token in each_token(text).map_while(Result::ok) {
        wide += if token.gap == Gap::Joined { "" } else { " /* , */\n\t" };
        wide += &token.text;
    }
    wide + "\n"
}

/// The statements behind the header, with others around them.
fn between(example: &str) -> String {
    let header: String = example.lines().take(3).map(|line| format!("{line}\n")).collect();
    let rest: String = example.lines().skip(3).map(|line| format!("{line}\n")).collect();
    let before =
        ".global .u32 before_it[2] = {1, 2};\n.func before_f() { .reg .b32 r<9>; mov.b32 r8, 1; ret; }\n";
    format!("{header}{before}{rest}.global .u32 behind_it;\n")
}

#[test]
fn a_deviation_is_found_at_its_place_in_other_spacing_and_between_other_code() {
    for known in KNOWN.iter().filter(|known| known.id != "header-crash") {
        let listed = places(known, known.example);
        assert!(!listed.is_empty(), "{}", known.id);
        assert!(listed.iter().all(|place| place.0 > 3), "{}: {listed:?}", known.id);
        let moved = places(known, &between(known.example));
        let expected: Vec<(u32, u32)> = listed.iter().map(|(line, column)| (line + 2, *column)).collect();
        assert_eq!(moved, expected, "{}", known.id);
        // Debug data ends with its line, and so does what no semicolon ends.
        if known.id != "dwarf-without-section-crash" {
            let spaced = spaced(known.example);
            assert_eq!(places(known, &spaced).len(), listed.len(), "{}: {spaced}", known.id);
        }
    }
}

#[test]
fn a_deviation_is_found_under_other_names() {
    // These are about names.
    let named = ["internal-name-shared", "special-register-name-crash", "header-crash"];
    for known in KNOWN.iter().filter(|known| known.pattern.is_some() && !named.contains(&known.id)) {
        let items = prefixed(&parse(known.example).expect("it parses").items, "zz_");
        let text = print(&Module { items });
        assert_eq!(places(known, &text).len(), places(known, known.example).len(), "{}: {text}", known.id);
    }
}

fn kernel(body: &str) -> String {
    format!("{HEADER}.global .u32 a[8];\n.visible .entry k()\n{{\n{body}\nret;\n}}\n")
}

/// `f5` is no name of `f<2>`.
const PREFIX: &str = ".reg .f64 f<2>; .reg .u64 f5; .reg .u32 g; mov.u64 f5, a; ld.global.u32 g, [f5 + 4];";

#[test]
fn a_name_beyond_the_count_of_a_prefix_is_another_name() {
    assert_eq!(ids(&kernel(PREFIX)), [""; 0]);
    let predicate = ".reg .pred p<3>; .reg .u64 p7; .reg .u32 r; mov.u64 p7, 16; ld.global.u32 r, [p7 + 4];";
    assert_eq!(ids(&kernel(predicate)), [""; 0]);
    let float = PREFIX.replace("f<2>", "f<9>").replace(".reg .u64 f5;", "");
    assert_eq!(ids(&kernel(&float)), ["float-register-sum-crash"]);
}

#[test]
fn a_program_that_the_grammar_or_a_rule_refuses_has_no_risk_of_a_crash() {
    let sink = "ld.global.u32 _, [a];";
    assert_eq!(ids(&kernel(sink)), ["sink-load-crash"]);
    assert_eq!(ids(&kernel(&format!("if (n < n - 2) x; {sink}"))), [""; 0]);
    assert_eq!(ids(&format!("{HEADER}.global .s32 b = 1.0;\n.entry k() {{ {sink} }}\n")), [""; 0]);
    // A vector that something has set, or that is computed with, is compiled; a floating-point dividend is
    // refused.
    let lacks = |body: &str| ids(&kernel(&format!(".reg .v2 .u32 v; .reg .u32 r, c; {body}")));
    let both = ["missing-element-crash", "missing-element-accepted"];
    assert_eq!(lacks("mov.u32 c, v.z;"), both);
    assert_eq!(lacks("ld.global.v2.u32 v, [a]; st.global.u32 [a], v.z;"), both);
    for compiled in ["mov.v2.u32 v, {r, r}; mov.u32 c, v.z;", "add.u32 c, v.z, 1;", "mov.u32 v.z, 1;"] {
        assert_eq!(lacks(compiled), both[1..], "{compiled}");
    }
    assert_eq!(ids(&format!("{HEADER}.global .f64 b = 0.0 / 0.0;\n")), [""; 0]);
    assert_eq!(ids(&format!("{HEADER}.global .f64 b = -1.5 / 0;\n")), [""; 0]);
    // What is refused may itself be what crashes.
    assert_eq!(ids(&format!("{HEADER}.global .s32 b = 1 / 0;\n")), ["division-by-zero-crash"]);
}

/// An implementation of NVIDIA's lineage that does this with a text.
fn subject(does: impl Fn(&str) -> Observation + Send + Sync + 'static) -> impl Subject {
    let subject = FnSubject::new("ptxas", move |request: &Request<'_>| does(request.ptx));
    let description = Description {
        lineage: NVIDIA.lineage.map(str::to_owned),
        version: Some("12.0.140".to_owned()),
        ..subject.description().clone()
    };
    subject.described(description)
}

fn killed() -> Observation {
    Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) }
}

fn judged(subject: &dyn Subject, text: &str) -> (Class, Vec<&'static str>, Vec<String>) {
    let module = parse(text).expect("it parses");
    let verdicts = judge_module(subject, &Rules::default(), &module, text, "sm_80").expect("nothing fails");
    let [part] = &verdicts.data[..] else { panic!("{verdicts:?}") };
    let Verdict::Deviates(difference) = &part.verdict else { panic!("{part:?}") };
    let known = difference.explanation.as_ref().map_or_else(Vec::new, |found| found.known.clone());
    (difference.class, known, difference.expected.contains.clone())
}

#[test]
fn a_crash_is_known_only_if_it_disappears_without_the_match() {
    let dies_of = |word: &'static str| {
        subject(move |text| if text.contains(word) { killed() } else { Observation::new(Outcome::Accepted) })
    };
    let none = Vec::new();
    assert_eq!(judged(&dies_of("f5"), &kernel(PREFIX)), (Class::Crash, vec![], none.clone()));
    let sink = kernel("ld.global.u32 _, [a];\nbar.sync 0;");
    assert_eq!(judged(&dies_of("_,"), &sink), (Class::Crash, vec!["sink-load-crash"], none));
    let contains = vec!["sink-load-crash".to_owned()];
    assert_eq!(judged(&dies_of("bar"), &sink), (Class::Crash, vec![], contains));
}

#[test]
fn every_test_of_the_language_holds_of_what_it_says_and_of_nothing_else() {
    let holds = |pattern: &str, text: &str| {
        let text = format!("{HEADER}{text}\n");
        let pattern = Pattern::parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        pattern.is_in(&parse(&text).expect("it parses"))
    };
    let in_kernel = |code: &str| {
        format!(
            ".func f() {{ ret; }} .entry k(.param .u64 q) {{ .reg .v2 .f32 v; .reg .f32 x<3>; .local .b8 l[16]; {code} }}"
        )
    };
    for (pattern, yes, no) in [
        (r#"instruction("ld"|"st" .v2)"#, "st.v2.f32 [l], {x0, x1};", "mov.v2.f32 v, {x0, x1};"),
        (r#"instruction(accumulating)"#, "add.f32 x0, x1, x0;", "add.f32 x0, x1, x1;"),
        (
            r#"instruction(shared)"#,
            "add.f32 x0, x1, x2; add.f32 x1, x0, x2;",
            "add.f32 x0, x1, x2; mov.f32 x2, x1; add.f32 x1, x0, x2;",
        ),
        ("instruction(first(sink))", "frob _, x0;", "frob x0, _;"),
        ("instruction(second(address))", "frob x0, [x1];", "frob [x0], x1;"),
        ("instruction(last(function))", "frob x0, f;", "frob f, x0;"),
        ("instruction(has(register(.v*)))", "frob {v, x0};", "frob {v.x, x0};"),
        ("instruction(has(component(missing)))", "frob v.z;", "frob v.y;"),
        ("instruction(has(register(set)))", "mov.u32 x0, x1;", "ld.global.u32 x0, [l];"),
        ("instruction(has(component(of(register) .x)))", "frob v.x;", "frob l.x;"),
        ("instruction(has(address(begins(variable(.local)))))", "frob [l + 4];", "frob [q + 4];"),
        ("instruction(has(variable(parameter)))", "frob [q];", "frob [l];"),
        ("instruction(has(undeclared))", "frob x3;", "frob x2;"),
        ("instruction(has(special))", "frob %tid;", "frob x0;"),
        ("instruction(has(number(integer unsigned)))", "frob 1U;", "frob 1;"),
        ("instruction(has(number(single)))", "frob 0f00000000;", "frob 0.0;"),
        ("instruction(has(number(beyond)))", "frob 18446744073709551616;", "frob 18446744073709551615;"),
        ("instruction(has(number(power >8)))", "frob 16;", "frob 8;"),
        ("instruction(has(number(low32=1)))", "frob 4294967297;", "frob 2;"),
        ("instruction(has(register(bytes<8)))", "frob x0;", "frob q;"),
        ("instruction(next(address, number))", "frob [l], 1;", "frob [l], x0, 1;"),
        ("instruction(after(address, number))", "frob [l], x0, 1;", "frob 1, [l];"),
        ("instruction(count(>=3, name))", "frob x0, x1, x2;", "frob x0, x1, 2;"),
        ("instruction(has(vector(each(number))))", "frob {1, 2};", "frob {1, x0};"),
        ("instruction(has(operator(\"+\" last(bare(number)))))", "frob x0 + (1);", "frob x0 - (1);"),
        ("directive(\".loc\" has(number(=7)))", ".loc 1 7 0", ".loc 1 8 0"),
        ("unread(next(\"frob\", word))", "frob .b8 {;}", "frob b8 {;}"),
        ("any(has(!ascii))", "frob \"\u{e9}\";", "frob \"e\";"),
        (
            "declaration(.shared has(declarator(!used)))",
            ".shared .u8 s;",
            ".shared .u8 s; st.shared.u8 [s], 1;",
        ),
        ("declaration(body .shared)", ".shared .u8 s;", ".global .u8 s;"),
    ] {
        assert!(holds(pattern, &in_kernel(yes)), "{pattern}: {yes}");
        assert!(!holds(pattern, &in_kernel(no)), "{pattern}: {no}");
    }
    for (pattern, yes, no) in [
        ("declaration(has(declarator(first(numbered))))", ".global .u8 a<2>, a1;", ".global .u8 a<2>, a2;"),
        ("declaration(has(declarator(first(respelled))))", ".global .u8 a<2>, a01;", ".global .u8 a<2>, a1;"),
        ("declaration(has(dimension(!first(any))))", ".global .u8 a[];", ".global .u8 a[1];"),
        ("declaration(has(prefix(first(>=9))))", ".global .u8 a<9>;", ".global .u8 a<8>;"),
        ("declaration(has(declarator(size>=64)))", ".global .u32 a[16];", ".global .u32 a[15];"),
        ("declaration(has(declarator(total>=64)))", ".global .u32 a[8], b[8];", ".global .u32 a[8], b[7];"),
        (
            "declaration(has(property(last(name))))",
            ".global .texref t = {width = f};",
            ".global .texref t = {width = 5};",
        ),
        ("declaration(has(list(first(list))))", ".global .u8 a[1][1] = {{1}};", ".global .u8 a[1] = {1};"),
        (
            "declaration(has(operator(\"/\" last(=0))))",
            ".global .u8 a = 1 / (2 - 2);",
            ".global .u8 a = 1 / 2;",
        ),
        (
            "function(.visible first(variable))",
            ".global .u8 a; .visible .func a() { ret; }",
            ".visible .func a() { ret; }",
        ),
        ("function(kernels>=2)", ".entry a() { ret; } .entry b() { ret; }", ".entry a() { ret; }"),
        (
            "module(version(>=7.8) address_size=64 target(\"sm_8*\") header)",
            ";",
            "\n.target sm_90\n.version 1.0\n#",
        ),
    ] {
        assert!(holds(pattern, yes), "{pattern}: {yes}");
        if !pattern.starts_with("module") {
            assert!(!holds(pattern, no), "{pattern}: {no}");
        }
    }
    for (wrong, place) in
        [("instruction(frob)", 13), ("instruction(has(sink)", 22), ("sink)", 5), ("has(sink)", 0)]
    {
        let error = Pattern::parse(wrong).unwrap_err();
        assert!(place == 0 || error.contains(&format!("character {place}")), "{wrong}: {error}");
    }
}

#[test]
fn a_place_that_several_alternatives_lead_to_is_one_place() {
    let pattern = Pattern::parse("instruction(\"ld\" first(sink)|first(\"_\"))").unwrap();
    let module = parse(".entry k() { ld.global.u32 _, [g]; }").unwrap();
    assert_eq!(pattern.places(&module).len(), 1);
}

#[test]
fn every_part_of_a_number_that_constants_make_0_is_known_to_be_0() {
    let id = "arithmetic-wrong-value-sub-16-setp-gt-16-selp-32";
    let with = |factor: u32| {
        format!(
            "{HEADER}.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p;\n.reg .b16 %h<3>;\n.reg .b32 %r;\n\
             .reg .b64 %d;\nld.param.u64 %d, [p];\nld.global.u32 %r, [%d];\nmul.lo.s32 %r, %r, {factor};\n\
             mov.b32 {{%h0, %h1}}, %r;\nld.global.u16 %h2, [%d+4];\nsub.s16 %h2, %h1, %h2;\n\
             setp.lt.s16 %p, %h2, 32767;\n@%p st.global.u32 [%d], 1;\nret;\n}}\n"
        )
    };
    assert_eq!(ids(&with(0)), [id]);
    assert_eq!(ids(&with(1)), Vec::<&str>::new());
}

#[test]
fn a_register_begins_with_what_the_first_instruction_gives_it() {
    let id = "arithmetic-wrong-value-neg-32-bra";
    let example = KNOWN.iter().find(|known| known.id == id).expect("it is listed").example;
    assert_eq!(ids(example), [id]);
    assert_eq!(ids(&example.replace("2147483647", "2147483646")), Vec::<&str>::new());
    let set_again = example.replace("$L0:", "$L0:\nmov.b32 %r0, 5;");
    assert_eq!(ids(&set_again), [id], "which loops set it again is not looked at");
    let set_before = example.replace("mov.b32 %r0, 2147483647;", "mov.b32 %r0, 5;\nmov.b32 %r0, 2147483647;");
    assert_eq!(ids(&set_before), Vec::<&str>::new());
}
