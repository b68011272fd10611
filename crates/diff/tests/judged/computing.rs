//! What kernels of a user's module compute is a part of the verdict on it.

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_diff::lint::risks;
use ptxsmith_diff::pattern::Pattern;
use ptxsmith_diff::{Class, ModuleVerdicts, Verdict, judge_module};
use ptxsmith_oracle::{Expectation, Rules, expect, predict_results};
use ptxsmith_subject::{
    Calculation, Description, Error, Memory, Observation, Outcome, Request, Space, Subject,
};
use ptxsmith_syntax::{StateSpace, parse};

/// Computes what the manual says, and something else in kernels whose text this holds of.
struct Computes {
    description: Description,
    shows_code: bool,
    is_wrong: fn(&str) -> bool,
}

fn computes(is_wrong: fn(&str) -> bool) -> Computes {
    let [id, name, lineage] = ["ptxas@13.5", "ptxas", "nvidia"].map(str::to_owned);
    let version = Some("13.5.37".to_owned());
    let description = Description { id, name, version, lineage: Some(lineage), ..Description::default() };
    Computes { description, shows_code: true, is_wrong }
}

impl Subject for Computes {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, _: &Request<'_>) -> Result<Observation, Error> {
        Ok(Observation::new(Outcome::Accepted))
    }

    fn shows_code(&self) -> bool {
        self.shows_code
    }

    fn computes(&self) -> bool {
        true
    }

    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let module = parse(request.ptx).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        let kernels = predict_results(&module, &variables, &Rules::default(), 32);
        let left = request.trace.iter().map(|run| {
            let kernel = kernels.iter().find(|kernel| kernel.name == run.kernel.as_str()).unwrap();
            let input = run.junk.unwrap() as usize - 1;
            let written = &kernel.runs.as_ref().unwrap()[input].as_ref().unwrap().written;
            let text = request.ptx.split(".entry ").find(|text| text.starts_with(&run.kernel)).unwrap();
            let change = if (self.is_wrong)(text) && input == 4 { 1 } else { 0 };
            let byte = |(&(_, at), byte): (&(StateSpace, u64), &Option<u8>)| {
                ((Space::Global, at), byte.unwrap_or(0).wrapping_sub(change))
            };
            Ok::<Memory, String>(written.iter().map(byte).collect())
        });
        Ok(Calculation { observation: Observation::new(Outcome::Accepted), left: left.collect() })
    }
}

/// A module of kernels that each leave `%r2`, made of the first parameter in `%r1`.
fn module(kernels: &[(&str, &str)]) -> String {
    let kernel = |(name, body): &(&str, &str)| {
        format!(
            ".visible .entry {name}(.param .u32 n, .param .u64 out)\n{{\n.reg .pred %p;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
             ld.param.u32 %r1, [n];\nld.param.u64 %rd1, [out];\n{body}\nst.global.u32 [%rd1], %r2;\nret;\n}}\n"
        )
    };
    format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n{}",
        kernels.iter().map(kernel).collect::<String>()
    )
}

fn judged(subject: &Computes, text: &str) -> ModuleVerdicts {
    judge_module(subject, &Rules::default(), &parse(text).unwrap(), text, "sm_80").unwrap()
}

/// Class, what was expected and seen of the kernel, and the listed deviations, of each difference.
fn differences(verdicts: &ModuleVerdicts) -> Vec<(Class, String, Vec<&'static str>)> {
    let of = |verdict: &Verdict| {
        let Verdict::Deviates(difference) = verdict else { return None };
        let [one] = difference.expected.accesses() else { panic!("{difference:?}") };
        let told = format!("{}: {}; {}", one.kernel, one.expected, one.seen);
        let known = difference.explanation.as_ref().map_or(Vec::new(), |found| found.known.clone());
        Some((difference.class, told, known))
    };
    verdicts.computed.iter().filter_map(|part| of(&part.verdict)).collect()
}

const SUM: &str = "add.s32 %r3, %r1, 5;\nadd.sat.s32 %r2, %r3, 7;";
const LISTED: &str = "arithmetic-wrong-value-add-32-add-sat-32";

#[test]
fn a_kernel_that_computes_something_else_is_a_difference_with_one_input() {
    let text = module(&[("one", "mul.lo.u32 %r2, %r1, 3;"), ("two", "add.u32 %r2, %r1, 1;")]);
    let verdicts = judged(&computes(|text| text.contains("mul.lo")), &text);
    // 3 * 0x7fffffff is 0x17ffffffd.
    let told = "one: leaves 0x7ffffffd, where parameter 0 = 0x7fffffff; leaves 0x7efefefc".to_owned();
    assert_eq!(differences(&verdicts), [(Class::WrongValue, told, vec![])]);
    // Loads, stores and moves are not what may be wrong.
    let Verdict::Deviates(difference) = &verdicts.computed[0].verdict else { panic!() };
    assert_eq!(difference.expected.accesses()[0].opcodes, ["mul.lo.u32"]);
    let counts = verdicts.computed_kernels.unwrap();
    assert_eq!((counts.compared, counts.not_compared.len()), (2, 0));
    // What was followed to its end is not undecided.
    assert!(verdicts.undecided.is_empty(), "{:?}", verdicts.undecided);
    let right = judged(&computes(|_| false), &text);
    assert!(differences(&right).is_empty() && right.computed[0].verdict == Verdict::Conforms);
}

#[test]
fn a_listed_deviation_explains_only_results_that_are_right_without_it() {
    let text = module(&[("k", SUM)]);
    let known = |is_wrong| differences(&judged(&computes(is_wrong), &text)).remove(0).2;
    assert_eq!(known(|text| text.contains("add.sat")), [LISTED]);
    // The store behind it leaves nothing that is known without it, so it has to be another kernel that goes
    // on being wrong.
    let both = module(&[("k", &format!("{SUM}\nst.global.u32 [%rd1+4], %r1;"))]);
    let wrong = differences(&judged(&computes(|_| true), &both)).remove(0).2;
    assert_eq!(wrong, Vec::<&str>::new(), "it is wrong without what is listed");
}

#[test]
fn kernels_that_are_not_followed_are_counted_with_the_reason() {
    let text = module(&[
        ("tid", "mov.u32 %r2, %tid.x;"),
        ("place", "cvt.u32.u64 %r2, %rd1;"),
        ("texture", "istypep.texref %p1, %rd1;"),
        ("unset", "mov.b32 %r2, %r5;"),
        ("sum", "add.u32 %r2, %r1, 1;"),
    ]);
    let reasons = |shows_code| {
        let verdicts = judged(&Computes { shows_code, ..computes(|text| !text.starts_with("sum")) }, &text);
        let counts = verdicts.computed_kernels.clone().unwrap();
        (counts.compared, counts.not_compared.into_iter().collect::<Vec<_>>(), differences(&verdicts).len())
    };
    let [undone, video] =
        ["a kernel that leaves nothing that is known", "an instruction that is not modelled"]
            .map(str::to_owned);
    let place =
        "a kernel that leaves something else on another thread or where memory lies elsewhere".to_owned();
    assert_eq!(reasons(true), (3, vec![(undone.clone(), 1), (video.clone(), 1)], 2));
    assert_eq!(reasons(false), (1, vec![(undone, 1), (place, 2), (video, 1)], 0));
}

#[test]
fn every_listed_deviation_of_arithmetic_has_a_kernel_that_is_computed() {
    let listed: Vec<_> = KNOWN.iter().filter(|known| known.id.starts_with("arithmetic-")).collect();
    assert!(listed.len() >= 4);
    for known in listed {
        let module = parse(known.example).unwrap();
        assert!(!Calculations::new(module.clone(), &Rules::default(), 8).unwrap().is_empty(), "{}", known.id);
        let warned: Vec<&str> = risks(&module).iter().map(|risk| risk.known.id).collect();
        assert!(warned.contains(&known.id), "lint says nothing of {}", known.id);
    }
}

#[test]
fn a_pattern_leads_from_a_register_to_the_instruction_that_sets_it() {
    let listed = KNOWN.iter().find(|known| known.id == LISTED).unwrap();
    let matches = |body: &str| listed.matches(&parse(&module(&[("k", body)])).unwrap());
    assert!(matches(SUM));
    assert!(matches("sub.u32 %r3, %r1, 5;\nmul.lo.u32 %r4, %r1, %r1;\nsub.sat.s32 %r2, %r3, -7;"));
    assert!(matches("mov.u32 %r4, 5;\nadd.s32 %r3, %r1, %r4;\nadd.sat.s32 %r2, 7, %r3;"));
    assert!(!matches("add.s32 %r3, %r1, %r1;\nadd.sat.s32 %r2, %r3, 7;"), "no number");
    assert!(!matches("add.s32 %r3, %r1, 5;\nsub.sat.s32 %r2, 7, %r3;"), "the other way round");
    assert!(!matches("add.s32 %r3, %r1, 5;\nmov.u32 %r3, %r1;\nadd.sat.s32 %r2, %r3, 7;"), "it is set anew");
    let twice = "mov.u32 %r3, %r1;\nadd.s32 %r3, %r1, 5;\nL:\nadd.sat.s32 %r2, %r3, 7;";
    assert!(!matches(twice), "a label stands between");
    assert!(matches("add.s32 %r3, %r1, 5;\nL:\nadd.sat.s32 %r2, %r3, 7;"), "nothing else sets it");
    assert!(!matches("add.s32 %r2, %r1, 5;\nadd.sat.s32 %r2, %r1, 7;"), "it is only written");
    assert!(
        !matches("add.s32 %r3, %r1, 5;\nmov.u32 %r2, 7;\nadd.sat.s32 %r2, %r3, %r1;"),
        "so is its number"
    );
    let chain = "add.u32 %r1, %r1, 1;\n".repeat(50_000);
    let pattern = Pattern::parse("instruction(\"add\" second(from(instruction(\"sub\"))))").unwrap();
    assert!(!pattern.is_in(&parse(&module(&[("k", &chain)])).unwrap()), "a long chain");
    assert!(matches(&(chain + SUM)), "behind a long chain");
}

/// Asserts that a pattern matches kernels with these bodies before `last`, and none with the others.
fn assert_matches(pattern: &str, last: &str, matching: &[&str], others: &[&str]) {
    let pattern = Pattern::parse(pattern).unwrap();
    let is_in = |body: &str| pattern.is_in(&parse(&module(&[("k", &format!("{body}\n{last}"))])).unwrap());
    for body in matching {
        assert!(is_in(body), "{body}");
    }
    for body in others {
        assert!(!is_in(body), "{body}");
    }
}

#[test]
fn a_pattern_knows_the_number_that_instructions_compute_from_constants() {
    let constant = [
        "mov.b32 %r3, 0;",
        "mov.b32 %r4, 7;\nmul.lo.u32 %r4, %r4, 3;\nsub.s32 %r3, %r4, 21;",
        "mov.b32 %r4, -256;\ncvt.u32.u8 %r3, %r4;",
        "xor.b32 %r3, %r1, %r1;",
        "set.lt.u32.s32 %r3, %r1, %r1;",
        "setp.ge.s32 %p1, %r1, %r1;\nselp.b32 %r3, 0, %r1, %p1;",
        "and.b32 %r3, %r1, 0;",
        "mov.b64 {%r3, %r4}, 0;",
        "shl.b32 %r3, %r1, 32;",
        "not.b32 %r4, 0;\nor.b32 %r4, %r1, %r4;\nadd.u32 %r3, %r4, 1;",
    ];
    let unknown = [
        "mov.b32 %r3, 1;",
        "mov.b64 {%r3, %r4}, 1;",
        "mov.b32 %r3, 0;\ncall (%r3), f, (%r1);",
        "cvt.s8.s32 %r4, -1;\nsub.s32 %r3, %r4, 255;",
        "set.ge.u32.s32 %r3, %r1, %r1;",
        "set.lt.u32.f32 %r3, %r1, %r1;",
        "setp.gt.s32 %p1, %r1, 5;\nselp.b32 %r3, 0, 1, %p1;",
        "sub.f32 %r3, %r1, %r1;",
        "mov.b32 %r3, %r1;",
        "and.b32 %r3, %r1, 1;",
        "shl.b32 %r3, %r1, 31;",
        "shr.s32 %r3, %r1, 32;",
        "shl.b32 %r3, %r1, %r4;",
        "mul.hi.s32 %r3, %r1, -1;",
        "min.s32 %r3, %r1, 0;",
        "div.u32 %r3, 5, 0;",
        "mov.b32 %r3, %r1;\nmov.b32 %r3, 0;\nL:",
        "mov.b32 %r3, %r1;\n@%p1 mov.b32 %r3, 0;",
    ];
    assert_matches("instruction(\"add\" last(known(=0)))", "add.u32 %r2, %r1, %r3;", &constant, &unknown);
}

#[test]
fn a_pattern_knows_what_a_branch_has_found_equal_to_a_constant() {
    let equal = [
        "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;",
        "setp.eq.u32 %p1, %r1, 7;\n@!%p1 bra L;",
        "mov.b32 %r3, 7;\nsetp.ne.u32 %p1, %r3, %r1;\n@!%p1 bra M;\nbra L;\nM:",
    ];
    let unknown = [
        "setp.ne.u32 %p1, %r1, 7;",
        "setp.eq.u32 %p1, %r1, 7;\n@%p1 bra L;",
        "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra M;\nbra L;\nM:",
        "setp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;",
        "setp.ne.u32 %p1, %r1, %r3;\n@%p1 bra L;",
        "setp.ne.u32 %p1, %r3, 7;\n@%p1 bra L;",
        // It is set, before the branch or behind it.
        "setp.ne.u32 %p1, %r1, 7;\nadd.u32 %r1, %r1, 1;\n@%p1 bra L;",
        "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;\nadd.u32 %r1, %r1, 1;",
        // Others come by the label.
        "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;\nM:",
        "setp.ne.u32 %p1, %r1, 7;\n@!%p1 bra M;\nadd.u32 %r3, %r3, 1;\nM:",
        "setp.ne.u32 %p1, %r1, 7;\n@!%p1 bra M;\n@%p2 bra M;\nbra L;\nM:",
        // The predicate is another one, or is not always set.
        "setp.ne.u32 %p2|%p1, %r1, 7;\n@%p1 bra L;",
        "@%p2 setp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;",
    ];
    assert_matches("instruction(\"not\" last(equated))", "not.b32 %r2, %r1;\nL:", &equal, &unknown);
}

/// Runs kernels and leaves memory as it was.
struct LeavesMemory(Computes);

impl Subject for LeavesMemory {
    fn description(&self) -> &Description {
        self.0.description()
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        self.0.observe(request)
    }

    fn computes(&self) -> bool {
        true
    }

    fn shows_code(&self) -> bool {
        true
    }

    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        let left = request.trace.iter().map(|_| Ok(Memory::new())).collect();
        Ok(Calculation { observation: Observation::new(Outcome::Accepted), left })
    }
}

#[test]
fn a_store_of_what_is_there_already_may_be_left_out_and_no_other() {
    let text = module(&[
        ("changed", "ld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;"),
        ("same", "ld.global.u32 %r2, [%rd1];"),
    ]);
    let calculations = Calculations::new(parse(&text).unwrap(), &Rules::default(), 9).unwrap();
    let judged = calculations.judge(&LeavesMemory(computes(|_| false)), &text, "sm_80").unwrap();
    let differs: Vec<bool> =
        judged.kernels.iter().map(|(_, verdict)| matches!(verdict, KernelVerdict::Differs(_))).collect();
    assert_eq!(differs, [true, false], "{:?}", judged.kernels);
}
