use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::process::Captured;

fn finished(end: ProcessEnd, stderr: &str) -> Finished {
    let captured = |text: &str| Captured { bytes: text.as_bytes().to_vec(), dropped: 0 };
    Finished { end, stdout: captured(""), stderr: captured(stderr), wall: Duration::ZERO }
}

fn judged(end: ProcessEnd, stderr: &str) -> Observation {
    judge(&finished(end, stderr), None, "", &Limits::default())
}

const DIVISION: &str = "ptxas in.ptx, line 4; error   : Constant expression has division by zero\n";
const ABORTED: &str = "ptxas fatal   : Ptx assembly aborted due to errors\n";

#[test]
fn a_diagnostic_and_a_status_is_a_refusal() {
    let observation = judged(ProcessEnd::Exited(255), &format!("{DIVISION}{ABORTED}"));
    assert_eq!(observation.outcome, Outcome::Refused);
    assert_eq!(observation.diagnostics.len(), 2);
    assert_eq!(observation.diagnostics[0].line, Some(4));
}

#[test]
fn a_signal_is_a_crash_even_after_a_clean_diagnostic() {
    let observation = judged(ProcessEnd::Signalled(8), DIVISION);
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(8)));
    assert_eq!(observation.diagnostics.len(), 1);
}

#[test]
fn a_status_that_stands_for_a_signal_is_a_crash() {
    let observation = judged(ProcessEnd::Exited(136), DIVISION);
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(8)));
    assert_eq!(judged(ProcessEnd::Exited(255), ABORTED).outcome, Outcome::Refused);
}

#[test]
fn failure_without_a_diagnostic_is_a_crash_with_the_last_words() {
    let observation = judged(ProcessEnd::Exited(1), "ptxas warning : so\nterminate called\n");
    assert_eq!(observation.outcome, Outcome::Crashed);
    assert_eq!(
        observation.reason.unwrap(),
        "exit status 1 without a diagnostic; it printed \"terminate called\""
    );
    assert_eq!(observation.diagnostics.len(), 1);
}

#[test]
fn success_without_a_cubin_is_a_crash() {
    let observation = judged(ProcessEnd::Exited(0), "");
    assert_eq!(observation.outcome, Outcome::Crashed);
    assert_eq!(observation.reason.unwrap(), "exit status 0, but no cubin");
}

#[test]
fn success_with_a_broken_cubin_is_a_crash() {
    let observation = judge(&finished(ProcessEnd::Exited(0), ""), Some(b"junk"), "", &Limits::default());
    assert_eq!(observation.outcome, Outcome::Crashed);
    assert!(observation.reason.unwrap().starts_with("exit status 0, but malformed cubin"));
}

#[test]
fn want_of_memory_and_internal_errors_are_crashes() {
    let memory = judged(ProcessEnd::Exited(255), "ptxas fatal   : Memory allocation failure\n");
    assert_eq!((memory.outcome, memory.reason.as_deref()), (Outcome::Crashed, Some("out of memory")));
    let thrown = "terminate called after throwing an instance of 'std::bad_alloc'\n";
    let thrown = judged(ProcessEnd::Signalled(6), thrown);
    assert_eq!((thrown.signal, thrown.reason.as_deref()), (Some(6), Some("out of memory")));
    for message in ["Internal error: Aborting", "(C7907) Internal compiler error."] {
        let internal = judged(ProcessEnd::Exited(255), &format!("ptxas fatal   : {message}\n"));
        assert_eq!(
            (internal.outcome, internal.reason.as_deref()),
            (Outcome::Crashed, Some("internal error"))
        );
    }
}

#[test]
fn the_time_limit_is_an_outcome_of_its_own() {
    let observation = judged(ProcessEnd::TimedOut, "");
    assert_eq!(observation.outcome, Outcome::TimedOut);
    assert_eq!(observation.reason.unwrap(), "no end after 10s");
}

#[test]
fn a_later_isa_in_the_header_is_unsupported_and_a_later_feature_is_refused() {
    let version = "ptxas in.ptx, line 1; fatal   : Unsupported .version 9.5; current version is '7.8'\n";
    let observation = judged(ProcessEnd::Exited(255), &format!("{version}{ABORTED}"));
    assert_eq!(observation.outcome, Outcome::Unsupported);
    assert_eq!(observation.reason.unwrap(), "Unsupported .version 9.5; current version is '7.8'");
    assert_eq!(judged(ProcessEnd::Signalled(11), version).outcome, Outcome::Crashed, "ptxas 12.0 dies of it");
    let feature = "ptxas in.ptx, line 4; error   : Feature 'x' requires PTX ISA .version 8.3 or later\n";
    assert_eq!(judged(ProcessEnd::Exited(255), feature).outcome, Outcome::Refused);
}

#[test]
fn versions_are_read_from_the_banner() {
    let banner = "ptxas: NVIDIA (R) Ptx optimizing assembler\nBuilt on Mon\n\
                  Cuda compilation tools, release 13.5, V13.5.37\nBuild cuda_13.5\n";
    assert_eq!(parse_version(banner).as_deref(), Some("13.5.37"));
    assert_eq!(parse_version("gcc V13.5.37"), None);
    assert_eq!(parse_version("ptxas Very"), None);
}

#[test]
fn targets_are_read_from_the_help() {
    let help = "--gpu-name <gpu name>  (-arch)\n  Allowed values:  'compute_100','sm_100',\n   'lto_90',\
                'sm_90a','sm_90','sm_75'.\n  Default value:  'sm_75'.\n\n--help\n 'sm_1'\n";
    assert_eq!(parse_targets(help), ["sm_75", "sm_90", "sm_90a", "sm_100"]);
    assert_eq!(parse_targets("nothing"), [""; 0]);
}

#[test]
fn a_release_that_is_not_listed_says_which_ptx_it_takes() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("ptxas");
    let script = "#!/bin/sh\ncase $1 in --version) echo ptxas V99.1.2;; --help) echo \"--gpu-name 'sm_80'\";; \
                  --list-version) printf '1.0\\n10.2\\n9.5\\n';; esac\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let ptxas = Ptxas::open("ptxas:new", program, Limits::default(), Cancel::new()).unwrap();
    assert_eq!(ptxas.description().max_ptx.as_deref(), Some("10.2"));
    assert_eq!(greatest_version("ptxas fatal : Unknown option"), None);
}

/// A stand-in for ptxas: a shell script that answers `--version` and `--help`, and runs `body` for a module.
fn stand_in(directory: &Path, body: &str, limits: Limits) -> Ptxas {
    let program = directory.join("ptxas");
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo ptxas V13.5.37; exit;; --help) echo \"--gpu-name 'sm_80'\"; exit;; esac\n\
         {body}\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Ptxas::open("ptxas:stand-in", program, limits, Cancel::new()).unwrap()
}

#[test]
fn the_program_gets_the_module_and_the_target() {
    let directory = tempfile::tempdir().unwrap();
    let body = "echo \"ptxas error : $1 $2 $3 $4 $(cat in.ptx)\" >&2; exit 255";
    let subject = stand_in(directory.path(), body, Limits::default());
    let observation = subject.observe(&Request::new("text; $(rm x) é", "sm_80")).unwrap();
    assert_eq!(observation.outcome, Outcome::Refused);
    assert_eq!(observation.diagnostics[0].message, "-arch=sm_80 in.ptx -o out.cubin text; $(rm x) é");
}

#[test]
fn a_program_that_was_replaced_after_its_hash_was_taken_is_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let body = "echo 'ptxas error : no' >&2; exit 255";
    let subject = stand_in(directory.path(), body, Limits::default());
    let request = Request::new("text", "sm_80");
    assert_eq!(subject.observe(&request).unwrap().outcome, Outcome::Refused);
    let newer = stand_in(directory.path(), &format!("{body} # newer"), Limits::default());
    let message = subject.observe(&request).unwrap_err().to_string();
    assert!(message.contains("changed since its hash was taken"), "{message}");
    assert!(newer.observe(&request).is_ok());
}

#[test]
fn options_of_the_user_are_on_the_command_line_and_in_the_id() {
    let directory = tempfile::tempdir().unwrap();
    let body = "case \"$(cat in.ptx)\" in *text*) echo \"ptxas error : $1 $2 $3 $4\" >&2; exit 255;; esac\n\
        case $2 in -O*) exit 0;; esac; echo \"ptxas fatal : Unknown option '$2'\" >&2; exit 255";
    let subject = stand_in(directory.path(), body, Limits::default());
    let words = |options: &[&str]| options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>();
    // Of a module without statements it would leave a cubin, which a stand-in cannot.
    let refused = subject.clone().giving(&words(&["-x"])).unwrap_err();
    assert_eq!(refused.reason, "it takes no module with these options: Unknown option '-x'");
    assert_eq!(refused.kind, UnavailableKind::NotTheSubject);
    let own = Ptxas {
        description: Description { options: words(&["-O0", "a b"]), ..subject.description.clone() },
        ..subject
    };
    let observation = own.observe(&Request::new("text", "sm_80")).unwrap();
    assert_eq!(observation.diagnostics[0].message, "-arch=sm_80 -O0 a b in.ptx");
}

#[test]
fn what_lies_behind_a_variable_is_no_answer_of_a_fork() {
    let seen = |size, addend| {
        let (width, symbol) = (8, "g".to_owned());
        let address = crate::Address { offset: 4, width, symbol, addend, generic: None, byte: None };
        let variable =
            crate::Variable { size: Some(size), addresses: Some(vec![address]), ..Default::default() };
        let mut seen = Observation::new(Outcome::Accepted);
        seen.variables.insert("x".into(), variable);
        seen
    };
    assert_eq!(reproducible_part(&seen(8, 0x5555_0000_0004)), reproducible_part(&seen(8, 0x7777_0000_0004)));
    assert_ne!(reproducible_part(&seen(8, 0x5555_0000_0004)), reproducible_part(&seen(8, 0x5555_0000_0008)));
    assert_ne!(
        reproducible_part(&seen(12, 0x5555_0000_0004)),
        reproducible_part(&seen(12, 0x7777_0000_0004))
    );
}

#[test]
fn a_description_says_what_the_program_is() {
    let directory = tempfile::tempdir().unwrap();
    let subject = stand_in(directory.path(), "", Limits::default());
    let description = subject.description();
    assert_eq!(description.version.as_deref(), Some("13.5.37"));
    assert_eq!(description.max_ptx.as_deref(), Some("9.5"));
    assert_eq!(description.targets, ["sm_80"]);
    assert_eq!(description.sha256.as_deref().map(str::len), Some(64));
}

#[test]
fn a_program_that_hangs_or_dies_is_an_observation() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    let subject = stand_in(directory.path(), "sleep 100", limits);
    assert_eq!(subject.observe(&Request::new("", "sm_80")).unwrap().outcome, Outcome::TimedOut);
    let other = tempfile::tempdir().unwrap();
    let subject = stand_in(other.path(), "kill -SEGV $$", Limits::default());
    let observation = subject.observe(&Request::new("", "sm_80")).unwrap();
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(11)));
}

#[test]
fn other_programs_are_not_taken_for_ptxas() {
    let open = |program: &str| Ptxas::open("x", program, Limits::default(), Cancel::new()).unwrap_err().kind;
    assert_eq!(open("/bin/true"), UnavailableKind::NotTheSubject);
    assert_eq!(open("/bin/sh"), UnavailableKind::NotTheSubject);
    assert_eq!(open("/nonexistent"), UnavailableKind::NotFound);
}

#[test]
fn a_pipe_a_device_or_a_folder_in_place_of_the_cubin_is_no_cubin() {
    for body in ["mkfifo out.cubin", "ln -s /dev/zero out.cubin", "mkdir out.cubin"] {
        let directory = tempfile::tempdir().unwrap();
        let subject = stand_in(directory.path(), body, Limits::default());
        let observation = subject.observe(&Request::new("// 1", "sm_80")).unwrap();
        assert_eq!(observation.outcome, Outcome::Crashed, "{body}");
    }
}

#[test]
fn a_fork_that_answers_otherwise_is_told_and_is_the_last() {
    let directory = tempfile::tempdir().unwrap();
    let body = "read line < in.ptx; how=started; [ $$ = \"$(sh -c 'echo $PPID')\" ] || how=forked\n\
                echo \"ptxas error : $how\" >&2; exit 255";
    let subject = stand_in(directory.path(), body, Limits::default()).starting(Start::fork());
    let answer = |text: &str| {
        let observation = subject.observe(&Request::new(text, "sm_80")).unwrap();
        observation.diagnostics[0].message.clone()
    };
    let (sampled, others): (Vec<String>, Vec<String>) =
        (0..500).map(|number| format!("// {number}\n")).partition(|text| is_sampled(text));
    assert!((2..30).contains(&sampled.len()), "{} of 500", sampled.len());
    assert_eq!(answer(&others[0]), "forked");
    assert_eq!((subject.inconsistencies(), subject.note()), (Vec::new(), None));
    assert_eq!(answer(&sampled[0]), "started");
    let [inconsistent] = &subject.inconsistencies()[..] else { panic!("{:?}", subject.inconsistencies()) };
    assert_eq!(inconsistent.ptx, sampled[0]);
    let said = [&inconsistent.forked, &inconsistent.started].map(|seen| seen.diagnostics[0].message.as_str());
    assert_eq!(said, ["forked", "started"]);
    assert_eq!(answer(&others[1]), "started");
    assert!(subject.note().unwrap().contains("a fork answered otherwise"));
}

/// Answers for each file by its text: it refuses, dies of, or takes it.
const SEVERAL: &str = "echo run >> log; status=0\n\
    for file in \"$@\"; do case $file in *.ptx) ;; *) continue ;; esac\n\
    [ -f $file ] || { echo \"ptxas fatal   : Input file '$file' could not be opened\" >&2; status=255; continue; }\n\
    case $(cat $file) in\n\
    bad*) echo \"ptxas $file, line 4; error   : $(cat $file)\" >&2; status=255 ;;\n\
    odd*) echo \"ptxas error   : $(cat $file)\" >&2; status=255 ;;\n\
    deadly*) kill -SEGV $$ ;;\n\
    *) printf junk > out.cubin ;;\n\
    esac; done; exit $status";

#[test]
fn modules_that_are_refused_in_one_run_have_the_answers_that_each_has_alone() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let body = SEVERAL.replace("log", &log.display().to_string());
    let subject = stand_in(directory.path(), &body, Limits::default());
    let runs_of = |texts: &[&str]| {
        let requests: Vec<_> = texts.iter().map(|text| Request::new(text, "sm_80")).collect();
        let alone: Vec<_> = requests.iter().map(|request| subject.observe(request).unwrap()).collect();
        fs::write(&log, "").unwrap();
        assert_eq!(subject.observe_each(&requests).unwrap(), alone, "{texts:?}");
        fs::read_to_string(&log).unwrap().lines().count()
    };
    assert_eq!(runs_of(&["bad 1"]), 1);
    assert_eq!(runs_of(&["bad 1", "bad 2", "bad 3"]), 1);
    assert_eq!(runs_of(&["bad 1", "good", "bad 3"]), 2, "what is not refused is shown alone");
    assert_eq!(runs_of(&["good", "good"]), 3);
    assert_eq!(runs_of(&["bad 1", "deadly", "bad 3", "bad 4"]), 5, "one half is well");
    assert_eq!(runs_of(&["bad 1", "odd", "bad 3"]), 4, "an error that names no file is anybody's");
    assert_eq!(runs_of(&["bad 1", "bad ptxas 1.ptx, line 4; error : x"]), 2, "and so is one that is quoted");
    let many: Vec<String> = (0..several::MOST + 2).map(|number| format!("bad {number}")).collect();
    assert_eq!(runs_of(&many.iter().map(String::as_str).collect::<Vec<_>>()), 2);
}

#[test]
fn a_module_is_of_32_bits_unless_it_says_64() {
    for (size, expected) in [(".address_size 32\n", true), (".address_size\t64\n", false), ("", true)] {
        assert_eq!(is_32_bit(&format!(".version 7.8\n.target sm_80\n{size}.global .u32 a;\n")), expected);
    }
    assert!(!is_32_bit("no module"));
    let help = |values| {
        format!("--machine <bits>   (-m)\n  Allowed values for this option:  {values}.\n\n--x\n 32,\n")
    };
    assert!(has_32_bits(&help("32,64")) && !has_32_bits(&help("64")) && !has_32_bits("nothing"));
}

/// The user's own options count as well: none is given twice.
#[test]
fn what_a_module_needs_is_told_to_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let body = "echo \"ptxas error : $*\" >&2; exit 255";
    let wide = stand_in(directory.path(), body, Limits::default());
    let narrow = Ptxas { has_32_bits: true, ..wide.clone() };
    let said = |subject: &Ptxas, bits: u32| {
        let text = format!(".version 7.8\n.target sm_80\n.address_size {bits}\n");
        let seen = subject.observe(&Request::new(&text, "sm_80").in_form(OutputForm::Relocatable)).unwrap();
        seen.diagnostics[0].message.clone()
    };
    let usual = "-arch=sm_80 in.ptx -o out.cubin --compile-only";
    assert_eq!((said(&narrow, 64), said(&wide, 32)), (usual.to_owned(), usual.to_owned()));
    assert_eq!(said(&narrow, 32), "-arch=sm_80 -m32 in.ptx -o out.cubin --compile-only");
    let mut own = narrow;
    own.description.options = vec!["--machine=32".to_owned(), "--compile-only".to_owned()];
    assert!(!own.has_both_forms() && wide.has_both_forms());
    assert_eq!(said(&own, 32), "-arch=sm_80 --machine=32 --compile-only in.ptx -o out.cubin");
}
