//! What a real ptxas shows, on machines that have one. Elsewhere these tests say that they tested nothing.

use std::path::Path;

use ptxsmith_subject::process::{self, Invocation};
use ptxsmith_subject::{
    Address, Cancel, Limits, Observation, OpenOptions, Outcome, OutputForm, Request, Subject, SubjectSpec,
    cubin, open, parse_spec, toolchain,
};

/// The default ptxas, or a line that says that there is none.
fn default_ptxas(test: &str) -> Option<Box<dyn Subject>> {
    match open(&SubjectSpec::default(), &OpenOptions::default()) {
        Ok(mut subjects) => subjects.pop(),
        Err(unavailable) => {
            eprintln!("NOT TESTED: {test}: {unavailable}");
            None
        }
    }
}

/// Takes a header that every release from 11.8 takes.
fn module(body: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{body}")
}

fn observe(subject: &dyn Subject, body: &str) -> Observation {
    subject.observe(&Request::new(&module(body), "sm_80")).unwrap()
}

const ADDRESSES: &str = "
.global .align 16 .u32 g = 5;
.global .u8 zero[24];
.const .u32 c[4] = {7, 8, 9, 10};
.visible .entry kern() { ret; }
.global .u64 whole[6] = {g, g+8, generic(g), generic(c)+4, c+4, kern};
.global .u8 lanes[4] = {0xff(g), 0xff00(generic(g)+4), 0xff00000000000000(generic(c)), 0xff00(kern)};
.global .u32 narrow[3] = {g, g+4, c+4};
";

#[test]
fn addresses_show_as_documented_in_cubin_relocation() {
    let Some(subject) = default_ptxas("addresses") else { return };
    let observation = observe(&*subject, ADDRESSES);
    assert_eq!(observation.outcome, Outcome::Accepted, "{observation:?}");
    let variables = &observation.variables;
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["c", "g", "lanes", "narrow", "whole", "zero"]);
    assert_eq!(variables["c"].space.as_deref(), Some("const"));
    assert_eq!(variables["zero"].bytes.as_deref(), Some(&[0; 24][..]));
    assert!(variables["g"].align >= Some(16));

    let address = |offset, width, symbol: &str, addend, generic, byte| {
        let symbol = symbol.to_owned();
        Address { offset, width, symbol, addend, generic, byte }
    };
    assert_eq!(
        variables["whole"].addresses.as_deref().unwrap(),
        [
            address(0, 8, "g", 0, None, None),
            address(8, 8, "g", 8, None, None),
            address(16, 8, "g", 0, None, None),
            address(24, 8, "c", 4, Some(true), None),
            address(40, 8, "kern", 0, None, None),
        ]
    );
    let mut bytes = [0; 48];
    bytes[32] = 4;
    assert_eq!(variables["whole"].bytes.as_deref(), Some(&bytes[..]), "c+4 is an offset in the bank");
    assert_eq!(
        variables["lanes"].addresses.as_deref().unwrap(),
        [
            address(0, 1, "g", 0, None, Some(0)),
            address(1, 1, "g", 4, None, Some(1)),
            address(2, 1, "c", 0, Some(true), Some(7)),
            address(3, 1, "kern", 0, None, Some(1)),
        ]
    );
    assert_eq!(
        variables["narrow"].addresses.as_deref().unwrap(),
        [address(0, 8, "g", 0, None, None), address(4, 8, "g", 4, None, None)]
    );
}

#[test]
fn relocatable_output_shows_constants_and_functions_as_addresses() {
    let Ok(subjects) = open(&SubjectSpec::default(), &OpenOptions::default()) else {
        eprintln!("NOT TESTED: relocatable output: no ptxas");
        return;
    };
    let text = module(
        "
        .global .u32 g; .const .u32 c[2] = {1, 2}; .func f() { ret; }
        .global .u64 a[4] = {g, c+4, generic(c), f}; .global .u8 m = 0xff00(c);",
    );
    let request = Request::new(&text, "sm_80").in_form(OutputForm::Relocatable);
    let observation = subjects[0].observe(&request).unwrap();
    assert_eq!(observation.outcome, Outcome::Accepted, "{observation:?}");
    let shown = |name: &str| -> Vec<_> {
        let addresses = observation.variables[name].addresses.iter().flatten();
        addresses.map(|address| (&*address.symbol, address.addend, address.generic, address.byte)).collect()
    };
    let whole =
        [("g", 0, None, None), ("c", 4, Some(false), None), ("c", 0, Some(true), None), ("f", 0, None, None)];
    assert_eq!(shown("a"), whole);
    assert_eq!(shown("m"), [("c", 0, Some(false), Some(1))]);
}

#[test]
fn a_refusal_blames_its_line() {
    let Some(subject) = default_ptxas("refusal") else { return };
    let observation = observe(&*subject, ".global .u32 a = 1;\n.global .u32 a = 2;\n");
    assert_eq!(observation.outcome, Outcome::Refused, "{observation:?}");
    assert_eq!(observation.diagnostics[0].line, Some(5));
    assert!(observation.variables.is_empty());
}

#[test]
fn a_later_isa_and_an_unknown_target_are_unsupported() {
    let Some(subject) = default_ptxas("unsupported") else { return };
    for (version, target) in [("99.0", "sm_80"), ("7.8", "sm_9999")] {
        let ptx = format!(".version {version}\n.target {target}\n.global .u32 a;\n");
        let observation = subject.observe(&Request::new(&ptx, target)).unwrap();
        // 12.0 says so and then dies of a signal: that stays a crash, with what it said.
        let died = observation.outcome == Outcome::Crashed && observation.signal.is_some();
        assert!(died || observation.outcome == Outcome::Unsupported, "{observation:?}");
        assert!(died || observation.reason.is_some());
        assert!(!observation.diagnostics.is_empty());
    }
}

#[test]
fn any_text_is_an_observation() {
    let Some(subject) = default_ptxas("any text") else { return };
    for text in ["", "\0", "é", "\u{feff}.version 7.8", ".version", "/*", &"(".repeat(1000)] {
        let observation = subject.observe(&Request::new(text, "sm_80")).unwrap();
        assert_ne!(observation.outcome, Outcome::Accepted, "{text:?}");
    }
}

#[test]
fn no_truncation_and_no_changed_byte_of_a_real_cubin_panics() {
    let Some(found) = toolchain::find_default() else {
        eprintln!("NOT TESTED: damaged cubins: no ptxas");
        return;
    };
    let bytes = assemble(&found.path, &module(ADDRESSES));
    assert!(cubin::read(&bytes).is_ok());
    for length in 0..bytes.len() {
        let _ = cubin::read(&bytes[..length]);
    }
    for index in 0..bytes.len() {
        for value in [0xff, bytes[index] ^ 1] {
            let mut changed = bytes.clone();
            changed[index] = value;
            let _ = cubin::read(&changed);
        }
    }
}

#[test]
fn a_fork_does_what_a_program_does_that_is_started_anew() {
    let Some(started) = default_ptxas("forks") else { return };
    let options = OpenOptions { start: process::Start::fork(), ..OpenOptions::default() };
    let mut forking = open(&SubjectSpec::default(), &options).unwrap();
    let forking = forking.pop().unwrap();
    let bodies = [
        ADDRESSES,
        ".global .s32 a = 7 / 0;",
        ".global .s64 a = (-9223372036854775807 - 1) / -1;",
        ".global .u32 a = ;",
        "",
        ".global .f32 f[3] = {1.5, 0f3f800000, -2};",
        ".visible .entry k(.param .u64 o) { .reg .u64 %a; ld.param.u64 %a, [o]; st.global.u32 [%a], 5; ret; }",
    ];
    // Again and again, so that one fork follows another of the same server.
    for round in 0..3 {
        for body in bodies {
            assert_eq!(observe(&*forking, body), observe(&*started, body), "round {round}: {body}");
        }
        let targets = ["sm_80", "sm_90"].map(|target| {
            let text = module(".global .u32 a = 5;");
            forking.observe(&Request::new(&text, target)).unwrap()
        });
        assert_eq!(targets[0], targets[1]);
    }
    assert_eq!(forking.note(), None, "it is forked");
    assert_eq!(forking.inconsistencies(), []);
}

#[test]
fn modules_that_are_refused_in_one_run_are_answered_as_each_is_alone() {
    let Some(started) = default_ptxas("refusals in one run") else { return };
    // Where a constant overflows, ptxas complains of the next two as well if they stand in the same file.
    let bodies = [
        ".global .f64 t0_a = 1e-310;",
        ".global .f32 t1_a = (0f3f800000);",
        ".const .u64 t2_a = 18446744073709551617;",
        ".global .u32 t3_a = ;",
        ".visible .global .u32 t4_a = 7 / 0.0;",
        ".global .u32 t5_a[2] = {1, 2, 3};\n.global .u64 t5_b = t5_c;",
        ".global .s64 t6_a = (-9223372036854775807 - 1) / -1;",
        ".global .u32 t7_a = 1.5L;",
        // Of an instruction that it does not come to the end of it gives the modifiers to the next one, in
        // another file.
        ".entry t8_k() { .reg .f32 r; add.rn.f32 r, [[r]]; ret; }",
        ".entry t9_k() { ret; }\n.global .u32 t9_a = t9_c;",
    ];
    let options = OpenOptions { start: process::Start::fork(), ..OpenOptions::default() };
    let forking = open(&SubjectSpec::default(), &options).unwrap().pop().unwrap();
    let texts = bodies.map(module);
    for subject in [&*started, &*forking] {
        for form in [OutputForm::Executable, OutputForm::Relocatable] {
            let requests = texts.each_ref().map(|text| Request::new(text, "sm_80").in_form(form));
            let alone = requests.map(|request| subject.observe(&request).unwrap());
            assert_eq!(subject.observe_each(&requests).unwrap(), alone, "{form:?}");
            let refused = alone.iter().filter(|seen| seen.outcome == Outcome::Refused).count();
            assert_eq!(refused, 7, "{alone:?}");
        }
    }
    assert_eq!(forking.note(), None, "it is forked");
}

#[test]
fn another_option_is_another_subject_of_the_same_release() {
    let Some(plain) = default_ptxas("options") else { return };
    let subject = |options: &str| {
        let path = plain.description().path.clone().unwrap();
        let spec = parse_spec(&format!("ptxas:{path} {options}")).unwrap();
        open(&spec, &OpenOptions::default()).unwrap().pop().unwrap()
    };
    let with_debug = subject("-g");
    assert!(with_debug.id().ends_with("ptxas -g"), "{}", with_debug.id());
    assert_eq!(with_debug.description().version, plain.description().version);
    // What a vector lacks kills the optimizer, where it looks at it.
    let body = ".visible .entry k() { .reg .v2 .u32 v; .reg .u32 c; mov.u32 c, v.z; ret; }";
    assert_eq!(observe(&*plain, body).outcome, Outcome::Crashed);
    for options in ["-O0", "-g"] {
        assert_eq!(observe(&*subject(options), body).outcome, Outcome::Accepted, "{options}");
    }
    assert_eq!(observe(&*with_debug, ADDRESSES).variables, observe(&*plain, ADDRESSES).variables);
}

fn assemble(program: &Path, ptx: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.ptx"), ptx).unwrap();
    let invocation = Invocation {
        program: program.to_owned(),
        args: ["-arch=sm_80", "a.ptx", "-o", "a.cubin"].map(Into::into).into(),
        directory: Some(directory.path().to_owned()),
        temporary: directory.path().to_owned(),
    };
    process::run(&invocation, &Limits::default(), &Cancel::new()).unwrap();
    std::fs::read(directory.path().join("a.cubin")).unwrap()
}

/// A module of 32 bits is assembled as one where a release has that, and is not compared elsewhere.
#[test]
fn addresses_of_32_bits_have_four_bytes_where_a_release_has_them() {
    const NARROW: &str = ".version 7.1\n.target sm_52\n.address_size 32\n.visible .global .u32 g;\n\
        .visible .global .u32 x[2] = {g, 7};\n.visible .global .u64 y[2] = {g, 9};\n";
    for name in ["ptxas@11.7", "ptxas@12.0", "ptxas@12.0 -m32"] {
        match open(&parse_spec(name).unwrap(), &OpenOptions::default()) {
            Err(unavailable) => eprintln!("NOT TESTED: 32 bits: {unavailable}"),
            Ok(subjects) => {
                let seen = subjects[0].observe(&Request::new(NARROW, "sm_52")).unwrap();
                assert_eq!(seen.outcome, Outcome::Accepted, "{name}: {seen:?}");
                let symbol = || "g".to_owned();
                let address =
                    Address { offset: 0, width: 4, symbol: symbol(), addend: 0, generic: None, byte: None };
                for (variable, bytes) in [
                    ("x", &[0, 0, 0, 0, 7, 0, 0, 0][..]),
                    ("y", &[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]),
                ] {
                    let own = &seen.variables[variable];
                    assert_eq!(own.addresses.as_deref(), Some(std::slice::from_ref(&address)), "{name}");
                    assert_eq!(own.bytes.as_deref(), Some(bytes), "{name}");
                }
            }
        }
    }
    let Some(subject) = default_ptxas("no 32 bits") else { return };
    let lacks = subject.observe(&Request::new(NARROW, "sm_75")).unwrap();
    let of_64 = NARROW.replace("_size 32", "_size 64");
    let has = subject.observe(&Request::new(&of_64, "sm_75")).unwrap();
    assert_eq!((lacks.outcome, has.outcome), (Outcome::Unsupported, Outcome::Accepted), "{lacks:?}");
}
