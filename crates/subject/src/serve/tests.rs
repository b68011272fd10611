use std::time::{Duration, Instant};

use super::*;

/// A subject that is a Python script with `question()` (the next one, as a dictionary) and
/// `answer(id, outcome)`.
fn python(script: &str, limits: Limits) -> Serve {
    let prelude = "import json, os, signal, sys, time\n\
        if sys.argv[-1] == '--describe': sys.exit(1)\n\
        def question():\n    line = sys.stdin.readline()\n    return json.loads(line) if line else sys.exit(0)\n\
        def answer(id, outcome='refused'):\n    \
            print(json.dumps({'id': id, 'observation': {'outcome': outcome, 'reason': str(os.getpid())}}), flush=True)\n";
    let text = format!("python3 -c {}", shell_words::quote(&format!("{prelude}{script}")));
    let options = OpenOptions { limits, ..OpenOptions::default() };
    Serve::open(&CommandLine::parse(&text).unwrap(), &options).unwrap()
}

/// Long enough for a busy machine to start a Python.
fn patient() -> Limits {
    Limits { time: Duration::from_secs(60), ..Limits::default() }
}

/// As short as a hang can be told from a busy machine.
fn brief() -> Limits {
    Limits { time: Duration::from_secs(8), ..Limits::default() }
}

fn ask(subject: &Serve, ptx: &str) -> Observation {
    subject.observe(&Request::new(ptx, "sm_80")).unwrap()
}

/// What happens to a module named `bad`, with good ones before and after; each good one must be answered.
fn bad(script: &str) -> Observation {
    bad_within(script, patient())
}

fn bad_within(script: &str, limits: Limits) -> Observation {
    let subject = python(
        &format!(
            "while True:\n    q = question()\n    if q['ptx'] == 'bad':\n        {script}\n    else: answer(q['id'])\n"
        ),
        limits,
    );
    for _ in 0..2 {
        assert_eq!(ask(&subject, "good").outcome, Outcome::Refused, "{script}");
    }
    let observation = ask(&subject, "bad");
    for _ in 0..2 {
        assert_eq!(ask(&subject, "good").outcome, Outcome::Refused, "after {script}");
    }
    observation
}

#[test]
fn one_process_answers_many_modules() {
    let subject = python("while True: answer(question()['id'])", patient());
    let first = ask(&subject, "a");
    assert_eq!(first.outcome, Outcome::Refused);
    for _ in 0..50 {
        assert_eq!(ask(&subject, "b"), first, "the reason is the process's number");
    }
    assert!(subject.id().starts_with("serve:python3 -c "));
}

#[test]
fn the_question_is_as_the_contract_has_it() {
    let subject = python(
        "q = question()\nassert list(q) == ['id', 'ptx', 'target', 'read'], q\n\
         assert q['read'] == [{'name': 'V', 'space': 'global', 'size': 16}], q\n\
         assert (q['ptx'], q['target']) == ('two\\nlines\\u00e9\"', 'sm_90'), q\nanswer(q['id'], 'accepted')",
        patient(),
    );
    let read = [RequestedVariable { name: "V".into(), space: "global".into(), size: 16 }];
    let request = Request { read: &read, ..Request::new("two\nlinesé\"", "sm_90") };
    let observation = subject.observe(&request).unwrap();
    assert_eq!(observation.outcome, Outcome::Accepted, "{observation:?}");
}

#[test]
fn a_death_belongs_to_the_module_that_it_was_on() {
    let observation = bad("os.kill(os.getpid(), signal.SIGFPE)");
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(8)), "{observation:?}");
    let observation = bad("print('last words', file=sys.stderr, flush=True); os._exit(3)");
    assert_eq!(observation.reason.as_deref(), Some("it ended with exit status 3; it printed \"last words\""));
    let observation = bad("os._exit(139)");
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(11)));
    let observation = bad("os.close(1); time.sleep(100)");
    assert_eq!((observation.outcome, observation.signal), (Outcome::Crashed, Some(9)), "{observation:?}");
}

#[test]
fn a_death_between_two_modules_belongs_to_neither() {
    let subject = python("answer(question()['id'])", patient());
    for _ in 0..5 {
        assert_eq!(ask(&subject, "a").outcome, Outcome::Refused);
        // It ends by itself, at some moment after its answer.
        std::thread::sleep(Duration::from_millis(150));
    }
}

#[test]
fn silence_is_timed_out_whatever_came_before() {
    for script in ["time.sleep(100)", "sys.stdout.write('{\"id\": 3, '); sys.stdout.flush(); time.sleep(100)"]
    {
        let started = Instant::now();
        assert_eq!(bad_within(script, brief()).outcome, Outcome::TimedOut, "{script}");
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn what_is_no_answer_is_a_crash_that_says_why() {
    for (script, reason) in [
        ("print('garbage', flush=True)", "its output is no answer: expected value"),
        ("print('', flush=True)", "its output is no answer: EOF"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()", "its output is no answer: "),
        ("answer(q['id'] + 1)", "its output is no answer: its id is not that of the request"),
        ("answer(-1)", "its output is no answer: invalid value"),
        ("answer(q['id'], 'wonderful')", "its output is no answer: unknown variant `wonderful`"),
        ("print(json.dumps({'id': q['id']}), flush=True)", "its output is no answer: it has no observation"),
        (
            "print(json.dumps({'id': q['id'], 'failure': 'x'}), flush=True)",
            "its output is no answer: it has no observation",
        ),
        ("sys.stdout.write('{\"id\": 3'); sys.stdout.flush(); os._exit(0)", "it ended with exit status 0"),
    ] {
        let observation = bad(script);
        assert_eq!(observation.outcome, Outcome::Crashed, "{script}");
        assert!(observation.reason.as_ref().unwrap().starts_with(reason), "{script}: {observation:?}");
    }
}

#[test]
fn who_goes_on_talking_is_started_again_and_its_talk_does_no_harm() {
    let observation = bad("answer(q['id']); answer(q['id']); time.sleep(0.2)");
    assert_eq!(observation.outcome, Outcome::Refused);
    let subject = python(
        "while True:\n    q = question()\n    answer(q['id']); print('chatter', flush=True)",
        patient(),
    );
    for _ in 0..5 {
        assert_eq!(ask(&subject, "a").outcome, Outcome::Refused);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn two_gigabytes_are_a_crash_and_are_not_kept() {
    let subject = python(
        "q = question()\nblock = b'x' * (1 << 20)\n\
         for _ in range(2048): sys.stdout.buffer.write(block)\nsys.stdout.flush()",
        Limits { time: Duration::from_secs(60), ..Limits::default() },
    );
    let subject = Serve { limits: Limits { output: 1 << 20, ..subject.limits.clone() }, ..subject };
    let observation = ask(&subject, "a");
    assert_eq!(observation.outcome, Outcome::Crashed);
    assert!(observation.reason.unwrap().starts_with("an answer of more than 1048576 bytes"));
}

#[test]
fn a_flood_of_errors_does_not_stop_an_answer() {
    let observation = bad("sys.stderr.write('x' * (8 << 20)); sys.stderr.flush(); answer(q['id'])");
    assert_eq!(observation.outcome, Outcome::Refused);
}

#[test]
fn a_module_that_is_not_read_does_not_hang_us() {
    let subject = python("time.sleep(100)", brief());
    // More than a pipe holds; a larger one has more time.
    let large = "x".repeat(1 << 18);
    assert_eq!(ask(&subject, &large).outcome, Outcome::TimedOut);
    let subject = python("os.close(0); time.sleep(0.1); os._exit(5)", patient());
    assert_eq!(ask(&subject, &large).outcome, Outcome::Crashed);
}

#[test]
fn a_subject_that_dies_at_random_gets_the_right_verdict_for_each_module() {
    // Dies before it reads, after it read, in the middle of an answer, or after it, as the module says.
    let subject = python(
        "while True:\n    q = question()\n    do = q['ptx']\n    if do == 'die': os.kill(os.getpid(), signal.SIGSEGV)\n    \
         if do == 'half': sys.stdout.write('{\"id\"'); sys.stdout.flush(); os._exit(0)\n    answer(q['id'])\n    \
         if do == 'after': os._exit(0)\n",
        patient(),
    );
    let mut state = 1u64;
    for _ in 0..120 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let what = ["die", "half", "after", "live", "live"][(state >> 33) as usize % 5];
        let observation = ask(&subject, what);
        let expected = if what == "die" || what == "half" { Outcome::Crashed } else { Outcome::Refused };
        if what == "after" {
            std::thread::sleep(Duration::from_millis(30));
        }
        assert_eq!(observation.outcome, expected, "{what}: {observation:?}");
    }
}

#[test]
fn threads_that_ask_at_once_have_a_process_each() {
    let subject =
        python("while True:\n    q = question()\n    time.sleep(0.2)\n    answer(q['id'])", patient());
    let started = Instant::now();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&subject, "a"))).collect();
        let mut processes: Vec<_> =
            asking.into_iter().map(|thread| thread.join().unwrap().reason.unwrap()).collect();
        processes.sort();
        processes.dedup();
        assert_eq!(processes.len(), 4);
    });
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_raised_flag_stops_the_wait() {
    let subject = python("time.sleep(100)", patient());
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| subject.observe(&Request::new("", "sm_80")));
        std::thread::sleep(Duration::from_millis(300));
        subject.cancel.cancel();
        assert!(asking.join().unwrap().unwrap_err().is_cancelled());
    });
}

#[test]
fn a_worker_of_ours_is_asked_again_where_its_past_may_be_to_blame() {
    // Each process dies on its third question.
    let script = "import json, os, sys\nfor n, line in enumerate(sys.stdin):\n    \
        if n == 2: os.abort()\n    \
        print(json.dumps({'id': json.loads(line)['id'], 'observation': {'outcome': 'refused', 'reason': str(n)}}), flush=True)\n";
    let worker = |questions| {
        let args = vec!["-c".to_owned(), script.to_owned()];
        Serve::own_worker(
            which::which("python3").unwrap(),
            args,
            patient(),
            Cancel::new(),
            Description::default(),
            questions,
        )
    };
    let subject = worker(100);
    let reasons: Vec<_> = (0..6).map(|_| ask(&subject, "a").reason.unwrap()).collect();
    assert_eq!(reasons, ["0", "1", "0", "1", "0", "1"]);
    // Asked once a process, it never dies.
    let subject = worker(1);
    let reasons: Vec<_> = (0..3).map(|_| ask(&subject, "a").reason.unwrap()).collect();
    assert_eq!(reasons, ["0", "0", "0"]);
}

#[test]
fn a_worker_of_ours_that_answers_that_its_library_crashed_is_not_kept() {
    let script = "import json, sys\nfor n, line in enumerate(sys.stdin):\n    \
        q = json.loads(line)\n    \
        print(json.dumps({'id': q['id'], 'observation': {'outcome': q['ptx'], 'reason': str(n)}}), flush=True)\n";
    let args = vec!["-c".to_owned(), script.to_owned()];
    let program = which::which("python3").unwrap();
    let subject = Serve::own_worker(program, args, patient(), Cancel::new(), Description::default(), 100);
    let waiting = || subject.waiting.lock().unwrap().len();
    for _ in 0..3 {
        ask(&subject, "refused");
        assert_eq!(waiting(), 1);
        assert_eq!(ask(&subject, "crashed").outcome, Outcome::Crashed);
        assert_eq!(waiting(), 0);
    }
}

#[test]
fn a_failure_of_our_own_worker_is_no_observation() {
    let script = "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'failure': 'so'}), flush=True)\n";
    let args = vec!["-c".to_owned(), script.to_owned()];
    let program = which::which("python3").unwrap();
    let subject = Serve::own_worker(program, args, patient(), Cancel::new(), Description::default(), 10);
    let error = subject.observe(&Request::new("", "sm_80")).unwrap_err();
    assert!(error.to_string().ends_with("failed: so"), "{error}");
}
