use std::path::Path;
use std::thread;

use super::child::{LARGE_PAGES, TUNABLES};
use super::*;

fn shell(script: &str, limits: &Limits) -> Finished {
    shell_until(&Start::Spawn, script, limits, &Cancel::new()).unwrap()
}

/// What comes of a script in a shell that is started, and in one that is forked. `$$` in it is the shell that
/// waits, and so are variables of the environment.
fn both(script: &str, limits: &Limits) -> [Finished; 2] {
    let run = |start| shell_until(&start, script, limits, &Cancel::new()).unwrap();
    [run(Start::Spawn), run(Start::fork())]
}

fn shell_until(
    start: &Start,
    script: &str,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Finished, ProcessError> {
    let directory = scratch(0).unwrap();
    std::fs::write(directory.path().join("in"), script).unwrap();
    let invocation = Invocation {
        program: "/bin/sh".into(),
        args: vec!["in".into()],
        directory: Some(directory.path().into()),
        temporary: directory.path().into(),
    };
    let (finished, forked) = start.run(&invocation, "in", limits, cancel)?;
    assert_eq!(forked, matches!(start, Start::Fork(_)));
    Ok(finished)
}

fn brief() -> Limits {
    Limits { time: Duration::from_millis(300), ..Limits::default() }
}

#[test]
fn status_and_both_streams_are_reported() {
    for finished in both("echo out; echo err >&2; exit 7", &Limits::default()) {
        assert_eq!(finished.end, ProcessEnd::Exited(7));
        assert_eq!(finished.stdout.text(), "out\n");
        assert_eq!(finished.stderr.text(), "err\n");
    }
}

#[test]
fn a_signal_is_told_from_a_status() {
    for finished in both("sh -c 'kill -FPE $PPID'", &Limits::default()) {
        assert_eq!(finished.end, ProcessEnd::Signalled(8));
    }
}

#[test]
fn memory_comes_in_large_pages_unless_the_user_says_otherwise() {
    let expected = std::env::var(TUNABLES).unwrap_or_else(|_| LARGE_PAGES.to_owned());
    let seen = shell("echo $GLIBC_TUNABLES", &Limits::default());
    assert_eq!(seen.stdout.text().trim_end(), expected);
}

#[test]
fn standard_input_is_empty() {
    for finished in both("cat; echo done", &Limits::default()) {
        assert_eq!(finished.stdout.text(), "done\n");
    }
}

#[test]
fn the_child_starts_in_its_own_directory() {
    let finished = shell("pwd; echo $TMPDIR", &Limits::default());
    let text = finished.stdout.text();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains("ptxsmith-"), "{lines:?}");
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn a_child_that_sleeps_is_stopped_at_the_limit() {
    for finished in both("echo before; sleep 100", &brief()) {
        assert_eq!(finished.end, ProcessEnd::TimedOut);
        assert_eq!(finished.stdout.text(), "before\n");
        assert!(finished.wall < Duration::from_secs(5));
    }
}

#[test]
fn a_child_that_ignores_signals_is_stopped_at_the_limit() {
    for finished in both("trap '' TERM INT HUP; while :; do sleep 0.01; done", &brief()) {
        assert_eq!(finished.end, ProcessEnd::TimedOut);
    }
}

#[test]
fn a_grandchild_that_holds_the_pipe_does_not_delay_the_answer_and_dies() {
    for finished in both("sleep 100 & echo $!", &Limits::default()) {
        assert_eq!(finished.end, ProcessEnd::Exited(0));
        assert!(finished.wall < Duration::from_secs(5));
        let pid: i32 = finished.stdout.text().trim().parse().unwrap();
        // Killed; its new parent may take a moment to reap it.
        let gone = (0..200).any(|_| {
            thread::sleep(Duration::from_millis(10));
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
        assert!(gone, "the grandchild {pid} is still running");
    }
}

#[test]
fn output_beyond_the_cap_is_read_and_counted() {
    let limits = Limits { output: 1000, ..Limits::default() };
    for finished in both("head -c 100000000 /dev/zero; head -c 5 /dev/zero >&2; exit 3", &limits) {
        assert_eq!(finished.end, ProcessEnd::Exited(3));
        assert_eq!(finished.stdout.bytes.len(), 1000);
        assert_eq!(finished.stdout.dropped, 100_000_000 - 1000);
        assert_eq!(finished.stderr, Captured { bytes: vec![0; 5], dropped: 0 });
    }
}

#[test]
fn closed_pipes_do_not_end_the_run() {
    for finished in both("exec >&- 2>&-; sleep 0.05; exit 4", &Limits::default()) {
        assert_eq!(finished.end, ProcessEnd::Exited(4));
    }
}

#[test]
fn memory_beyond_the_limit_is_not_given() {
    // The sleep outlasts the moment between start and limit.
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let script = "sleep 0.02; dd if=/dev/zero of=/dev/null bs=200M count=1";
    for finished in both(script, &limits) {
        assert_ne!(finished.end, ProcessEnd::Exited(0), "{}", finished.stderr.text());
        assert_ne!(finished.end, ProcessEnd::TimedOut);
    }
    assert_eq!(shell(script, &Limits::default()).end, ProcessEnd::Exited(0));
}

#[test]
fn a_file_beyond_the_limit_is_not_written() {
    let limits = Limits { file: 1 << 20, ..Limits::default() };
    for finished in both("sleep 0.02; exec head -c 2000000 /dev/zero > file", &limits) {
        // SIGXFSZ
        assert_eq!(finished.end, ProcessEnd::Signalled(25));
    }
}

#[test]
fn the_cancel_flag_stops_a_child_at_once() {
    for start in [Start::Spawn, Start::fork()] {
        let cancel = Cancel::new();
        let other = cancel.clone();
        let started = Instant::now();
        let thread = thread::spawn(move || shell_until(&start, "sleep 100", &Limits::default(), &other));
        thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        assert!(matches!(thread.join().unwrap(), Err(ProcessError::Cancelled(_))));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn one_server_is_forked_again_and_again() {
    let start = Start::fork();
    let server = |script: &str| shell_until(&start, script, &Limits::default(), &Cancel::new()).unwrap();
    // `$$` is the shell that waits.
    let first = server("echo $$; exit 1").stdout.text().into_owned();
    for status in 0..10 {
        let again = server(&format!("echo $$; exit {status}"));
        assert_eq!((again.end, again.stdout.text().as_ref()), (ProcessEnd::Exited(status), first.as_str()));
    }
    start.give_up(Path::new("/bin/sh"), "a test");
    assert_eq!(start.why_not(Path::new("/bin/sh")).as_deref(), Some("a test"));
}

#[test]
fn a_server_that_was_killed_is_made_anew() {
    let start = Start::fork();
    let run = |script: &str| shell_until(&start, script, &Limits::default(), &Cancel::new());
    let first = run("echo $$").unwrap().stdout.text().trim().to_owned();
    let killed = std::process::Command::new("kill").args(["-KILL", &first]).status().unwrap();
    assert!(killed.success());
    let second = run("echo $$").unwrap();
    assert_eq!(second.end, ProcessEnd::Exited(0));
    assert_ne!(second.stdout.text().trim(), first);
}

#[test]
fn a_run_whose_server_is_killed_is_done_again() {
    // The fork kills the shell that waits, which ends both; started anew, it is that shell's parent that is
    // asked about.
    let script = "[ $$ = \"$(sh -c 'echo $PPID')\" ] || kill -KILL $$; sleep 0.2; echo survived";
    let run = |start: &Start| {
        let directory = scratch(0).unwrap();
        std::fs::write(directory.path().join("in"), script).unwrap();
        let invocation = Invocation {
            program: "/bin/sh".into(),
            args: vec!["in".into()],
            directory: Some(directory.path().into()),
            temporary: directory.path().into(),
        };
        start.run(&invocation, "in", &Limits::default(), &Cancel::new()).unwrap()
    };
    let (finished, forked) = run(&Start::fork());
    assert_eq!((finished.stdout.text().as_ref(), forked), ("survived\n", false));
}

#[test]
fn a_program_that_opens_nothing_is_started_anew_and_that_is_told() {
    let directory = scratch(0).unwrap();
    let invocation = Invocation {
        program: "/bin/true".into(),
        args: vec!["in".into()],
        directory: Some(directory.path().into()),
        temporary: directory.path().into(),
    };
    let start = Start::fork();
    for _ in 0..2 {
        let (finished, forked) = start.run(&invocation, "in", &Limits::default(), &Cancel::new()).unwrap();
        assert_eq!((finished.end, forked), (ProcessEnd::Exited(0), false));
    }
    let why = start.why_not(Path::new("/bin/true"));
    assert_eq!(why.as_deref(), Some("it ended, or cannot be preloaded"));
}

#[test]
fn a_program_that_ends_early_with_some_arguments_is_forked_with_others() {
    let start = Start::fork();
    let run = |args: &[&str]| {
        let directory = scratch(0).unwrap();
        std::fs::write(directory.path().join("in"), "echo read").unwrap();
        let invocation = Invocation {
            program: "/bin/sh".into(),
            args: args.iter().map(Into::into).collect(),
            directory: Some(directory.path().into()),
            temporary: directory.path().into(),
        };
        let (finished, forked) = start.run(&invocation, "in", &Limits::default(), &Cancel::new()).unwrap();
        (finished.stdout.text().into_owned(), forked)
    };
    assert_eq!(run(&["-c", "echo early", "in"]), ("early\n".to_owned(), false));
    assert!(start.why_not(Path::new("/bin/sh")).is_some());
    assert_eq!(run(&["in"]), ("read\n".to_owned(), true));
    assert_eq!(run(&["-c", "echo early", "in"]), ("early\n".to_owned(), false));
    assert_eq!(start.why_not(Path::new("/bin/sh")), None);
}

#[test]
fn a_program_that_cannot_start_is_a_typed_error_that_names_it() {
    let directory = scratch(0).unwrap();
    let try_run = |program: &Path| {
        let invocation = Invocation {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            temporary: directory.path().into(),
        };
        run(&invocation, &Limits::default(), &Cancel::new()).unwrap_err()
    };
    let missing = try_run(Path::new("/nonexistent/ptxas"));
    assert!(matches!(missing, ProcessError::NotFound(_)));
    assert_eq!(missing.to_string(), "/nonexistent/ptxas: no such program");

    let text = directory.path().join("text");
    std::fs::write(&text, "\0\0\0\0").unwrap();
    assert!(matches!(try_run(&text), ProcessError::NotExecutable(_)));

    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(try_run(&text), ProcessError::WrongFormat(_)));
}

#[test]
fn a_missing_directory_is_not_blamed_on_the_program() {
    let invocation = Invocation {
        program: "/bin/sh".into(),
        args: Vec::new(),
        directory: Some("/nonexistent".into()),
        temporary: "/tmp".into(),
    };
    let error = run(&invocation, &Limits::default(), &Cancel::new()).unwrap_err();
    assert!(matches!(error, ProcessError::Machine { doing: "enter its directory", .. }), "{error}");
}

#[test]
fn a_text_of_many_mebibytes_has_more_time() {
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    let seconds = |bytes: usize| limits.for_text(bytes).time.as_secs();
    assert_eq!([seconds(0), seconds((1 << 20) - 1), seconds(1 << 20), seconds(31 << 20)], [10, 10, 20, 320]);
    assert_eq!(Limits { time: limits.time, ..limits.for_text(usize::MAX) }, limits);
}

#[test]
fn a_deadline_raises_the_flag_and_another_one_takes_its_place() {
    let (cancel, now) = (Cancel::new(), Instant::now());
    let clone = cancel.clone();
    assert!(!cancel.is_cancelled() && !cancel.is_late());
    clone.cancel_at(now);
    assert!(cancel.is_cancelled() && cancel.is_late());
    clone.cancel_at(now + Duration::from_secs(3_600));
    assert!(!cancel.is_cancelled() && !cancel.is_late());
    // Who asks for an end is not late, whatever the time.
    clone.cancel();
    clone.cancel_at(now);
    assert!(cancel.is_cancelled() && !cancel.is_late());
}

#[test]
fn a_users_program_has_its_limits_from_the_start() {
    let directory = scratch(0).unwrap();
    let program = directory.path().join("program");
    let limited = |text: &str| {
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let limits = Limits { memory: 1 << 30, file: 1 << 20, ..Limits::default() };
        let invocation = Invocation {
            program: program.clone(),
            args: vec!["a b".into()],
            directory: None,
            temporary: directory.path().into(),
        };
        run(&invocation.limited_from_start(&limits), &limits, &Cancel::new())
    };
    let finished = limited("#!/bin/sh\nulimit -v; ulimit -f; echo \"$1\"\n").unwrap();
    assert_eq!(finished.stdout.text(), "1048576\n2048\na b\n");
    let error = limited("echo no interpreter is named\n").unwrap_err();
    assert!(matches!(error, ProcessError::WrongFormat(_)), "{error}");
}
