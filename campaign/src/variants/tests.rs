use ptxsmith_diff::Explanation;
use ptxsmith_subject::Variable;

use super::*;

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn module(declarations: &str) -> Module {
    parse(&format!("{HEADER}{declarations}")).unwrap()
}

/// A program that is accepted, with variables that hold these bytes, or of which nothing else is told.
fn showing(variables: &[(&str, Option<&[u8]>)]) -> Observation {
    let mut seen = Observation::new(Outcome::Accepted);
    for &(name, bytes) in variables {
        let bytes = bytes.map(<[u8]>::to_vec);
        seen.variables.insert(name.into(), Variable { bytes, ..Variable::default() });
    }
    seen
}

/// A variant under other names, in which `q0_copy` holds from an offset on what `a` holds in the other program.
fn renamed(at: Option<u64>) -> Variant {
    let variants = Variants::new(module(".global .u32 a = 1, b = 2;\n"));
    let mut variant = variants.make(&[Edit { kind: Kind::Names, place: 0, way: 0 }]);
    assert_eq!(&*variant.original("q0_a"), "a");
    variant.same.push(Same { variable: "q0_copy".into(), at, of: "a".into(), size: 2 });
    variant
}

fn pair(differs: Differs, at: Option<u64>, after: Observation) -> Pair {
    let module = module(".global .u32 a = 1, b = 2;\n");
    Pair {
        text: print(&module),
        module,
        seen: showing(&[("a", Some(&[1, 2, 3, 4])), ("b", Some(&[5, 6, 7, 8]))]),
        variant: renamed(at),
        variant_seen: after,
        differs,
    }
}

fn part(variable: Option<&str>, verdict: Verdict) -> Part {
    Part {
        variable: variable.map(Text::from),
        verdict,
        must: None,
        trace: Trace::default(),
        operands: Default::default(),
        excluded: Vec::new(),
        why: None,
        derived: None,
    }
}

fn deviates(class: Class, explanation: Option<Explanation>) -> Verdict {
    Verdict::Deviates(Box::new(Difference {
        class,
        variable: None,
        expected: serde_json::Value::Null,
        observed: Observation::new(Outcome::Accepted),
        explanation,
        suspected: None,
    }))
}

#[test]
fn a_number_tells_of_which_file_it_is_which_variant_it_is_and_to_whom_it_was_shown() {
    let number = number_of(3, 41, 2);
    assert_eq!(number, 0x4000_0300_0000_2902);
    assert_eq!(nth_variant(number), Some(42));
    assert_eq!(nth_variant(number_of(0, 0, 0)), Some(1));
    for none in [0, 41 << 8, 1 << 61, 1 << 63, u64::MAX] {
        assert_eq!(nth_variant(none), None, "{none:x}");
    }
}

#[test]
fn what_a_variable_needs_is_what_it_names_and_what_that_names() {
    let all = module(
        ".global .u32 a = 1;\n.global .u32 b = 2;\n.global .u64 c = a;\n.global .u64 d = c;\n.global .u64 e[] = {d, b};\n",
    );
    let declared = |wanted: &str| {
        let needed = needed(&all, |name| name == wanted)?;
        assert_eq!(needed.version(), all.version(), "the header is kept");
        let names = needed.items.iter().flat_map(|item| item.declared().map(|(name, _)| name.to_string()));
        Some(names.collect::<Vec<_>>().join(" "))
    };
    for (wanted, names) in [("a", "a"), ("c", "a c"), ("d", "a c d"), ("e", "a b c d e")] {
        assert_eq!(declared(wanted).as_deref(), Some(names));
    }
    assert_eq!(declared("f"), None);
}

#[test]
fn what_is_known_of_a_variable_explains_what_differs_in_it_under_each_of_its_names() {
    let known = || deviates(Class::WrongValue, Some(Explanation::default()));
    let in_variable = |name: &str| Differs::Variable(name.into());
    // What is known of, in what the two differ, and whether it explains that: known of the program, and of its variant.
    for (variable, differs, of_program, of_variant) in [
        (None, Differs::Outcome, true, true),
        (Some("a"), Differs::Outcome, true, true),
        (None, in_variable("a"), true, true),
        (Some("a"), in_variable("a"), true, true),
        (Some("b"), in_variable("a"), false, false),
        (Some("q0_a"), in_variable("a"), false, true),
        (Some("q0_b"), in_variable("a"), false, false),
        (Some("q0_copy"), in_variable("q0_copy"), true, true),
        (Some("a"), in_variable("q0_copy"), true, true),
        (Some("b"), in_variable("q0_copy"), false, false),
    ] {
        let told = format!("{variable:?} {differs:?}");
        let pair = pair(differs, Some(0), showing(&[]));
        for (of, explained) in [(false, of_program), (true, of_variant)] {
            assert_eq!(explains(&part(variable, known()), &pair, of), explained, "{told} {of}");
        }
        for unknown in [
            Verdict::Conforms,
            deviates(Class::WrongValue, None),
            Verdict::NotCompared(NotCompared::Unmodelled),
        ] {
            assert!(!explains(&part(variable, unknown), &pair, true), "{told}");
        }
    }
}

#[test]
fn only_a_crash_or_a_hang_is_a_death() {
    for class in Class::ALL {
        let dies = matches!(class, Class::Crash | Class::Hang);
        assert_eq!(died(&part(None, deviates(class, None))), dies, "{class:?}");
    }
    assert!(!died(&part(None, Verdict::Conforms)));
}

#[test]
fn a_variable_that_is_missing_or_added_with_other_bytes_is_a_difference() {
    let before = showing(&[("a", Some(&[1, 2, 3, 4])), ("b", None), ("$__made_up", Some(&[1]))]);
    let own: (&str, Option<&[u8]>) = ("q0_a", Some(&[1, 2, 3, 4]));
    let differs = |name: &str| Some(Differs::Variable(name.into()));
    for (after, expected) in [
        (showing(&[own]), None),
        (showing(&[own, ("q0_copy", Some(&[0, 1, 2]))]), None),
        (showing(&[own, ("q0_copy", None)]), None),
        (showing(&[own, ("q0_copy", Some(&[1, 2, 0]))]), differs("q0_copy")),
        (showing(&[("q0_b", None)]), differs("a")),
        (showing(&[("q0_a", Some(&[1, 2, 3, 5]))]), differs("a")),
        (Observation::new(Outcome::Refused), Some(Differs::Outcome)),
        (Observation::new(Outcome::Unsupported), None),
    ] {
        assert_eq!(in_what(&renamed(Some(1)), &before, &after), expected, "{after:?}");
    }
    // Two that are refused show no variables, and none is missing.
    let mut refused = before.clone();
    refused.outcome = Outcome::Refused;
    assert_eq!(in_what(&renamed(Some(1)), &refused, &Observation::new(Outcome::Refused)), None);
}

#[test]
fn an_added_variable_holds_the_first_bytes_at_its_place_or_is_as_large_as_they_say() {
    let before = showing(&[("a", Some(&[4, 1, 9, 9]))]);
    let of = |at| Same { variable: "copy".into(), at, of: "a".into(), size: 2 };
    for (at, bytes, expected) in [
        (0, &[4, 1, 7][..], true),
        (0, &[1, 4], false),
        (1, &[7, 4, 1], true),
        (2, &[4, 1, 4, 1], true),
        (2, &[4, 1, 4], false),
    ] {
        assert_eq!(
            holds(&of(Some(at)), &before, &showing(&[("copy", Some(bytes))])),
            expected,
            "{at} {bytes:?}"
        );
    }
    // Two bytes, the low one first: 4 + 256.
    for (size, expected) in [(Some(260), true), (Some(1025), false), (Some(4), false), (None, true)] {
        let mut after = Observation::new(Outcome::Accepted);
        after.variables.insert("copy".into(), Variable { size, ..Variable::default() });
        assert_eq!(holds(&of(None), &before, &after), expected, "{size:?}");
    }
    assert!(holds(&of(Some(0)), &before, &showing(&[])));
    assert!(holds(&of(Some(0)), &showing(&[("a", None)]), &showing(&[("copy", Some(&[7, 7]))])));
}

#[test]
fn what_is_expected_of_a_variant_is_what_the_other_program_holds() {
    let after = || showing(&[("q0_a", Some(&[1, 2, 3, 4])), ("q0_copy", Some(&[9, 8, 7, 6]))]);
    let bytes = |json: &serde_json::Value, name: &str| json["variables"][name]["bytes"].clone();
    let own = expected(&pair(Differs::Variable("b".into()), Some(1), after()), &["names", "contexts"]);
    assert_eq!((bytes(&own, "a"), bytes(&own, "b")), ("01020304".into(), "05060708".into()));
    assert_eq!(bytes(&own, "q0_copy"), serde_json::Value::Null);
    assert_eq!(own["edits"], serde_json::json!(["names", "contexts"]));
    assert_eq!(own["outcome"], "accepted");
    // What was added holds two bytes of the first variable from its second byte on.
    let added = expected(&pair(Differs::Variable("q0_copy".into()), Some(1), after()), &["contexts"]);
    assert_eq!((bytes(&added, "a"), bytes(&added, "q0_copy")), ("01020304".into(), "09010206".into()));
}
